//! Reading a part answers every path of the part as the whole would.

use std::mem::discriminant;

use jurat_format::value::{FieldPath, Projection, Step, Val, parse_json};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

use crate::arbitrary;

proptest! {
    #![proptest_config(crate::laws())]

    #[test]
    fn a_projection_answers_as_the_whole_does(
        text in arbitrary::document(),
        guessed in vec(arbitrary::likely_path(), 0..4),
        chosen in vec((any::<Index>(), proptest::option::of(arbitrary::likely_path())), 0..4),
    ) {
        let whole = parse_json(&text).map_err(|it| TestCaseError::fail(format!("{it}: {text}")))?;
        let mut known = Vec::new();
        paths_of(&whole.value, &mut Vec::new(), &mut known);
        let derived = chosen.iter().map(|(ix, more)| {
            let rest = more.iter().flat_map(|it| it.steps().iter().cloned());
            FieldPath::of(ix.get(&known).iter().cloned().chain(rest))
        });
        let paths: Vec<FieldPath> = guessed.into_iter().chain(derived).collect();
        let projection = Projection::of(&paths);
        let part = projection.read(&text).map_err(|it| TestCaseError::fail(format!("{it}: {text}")))?;
        for path in &paths {
            match (path.find(&whole.value), path.find(&part.value)) {
                (Ok(whole), Ok(part)) => prop_assert_eq!(whole, part, "{} in {}", path, text),
                (Err(whole), Err(part)) => {
                    prop_assert_eq!(whole.step, part.step, "{} in {}", path, text);
                    // What it says about its context may differ: a part has fewer keys to list.
                    prop_assert_eq!(discriminant(&whole.kind), discriminant(&part.kind), "{} in {}", path, text);
                }
                (whole, part) => prop_assert!(false, "{} finds {:?} or {:?} in {}", path, whole, part, text),
            }
        }
    }

    #[test]
    fn a_printed_document_reads_back_the_same(text in arbitrary::document()) {
        let record = parse_json(&text).map_err(|it| TestCaseError::fail(format!("{it}: {text}")))?;
        let printed = record.value.to_string();
        prop_assert_eq!(parse_json(&printed).map(|it| it.value), Ok(record.value), "{}", printed);
    }
}

/// The steps to every part of a value.
fn paths_of(value: &Val<'_>, steps: &mut Vec<Step>, found: &mut Vec<Vec<Step>>) {
    found.push(steps.clone());
    let mut into = |step: Step, value: &Val<'_>| {
        steps.push(step);
        paths_of(value, steps, found);
        steps.pop();
    };
    match value {
        Val::List(items) => {
            for (ix, item) in items.iter().enumerate() {
                into(Step::Index(i64::try_from(ix).expect("a short list")), item);
                into(Step::Each, item);
            }
        }
        Val::Map(map) => map.iter().for_each(|(key, value)| into(Step::Key(key.into()), value)),
        _ => {}
    }
}
