//! Any text is a path or is refused, and a path finds the same thing in a whole value and in the projected part of it.
//!
//! The whole input is read as a path; then its first line is read as a path into the JSON that the other lines hold.

#![no_main]

use std::mem::discriminant;

use jurat_format::value::{FieldPath, Projection, parse_json};

libfuzzer_sys::fuzz_target!(|text: &str| {
    prints_and_reads_back(text);
    if let Some((path, json)) = text.split_once('\n') {
        finds_the_same_in_a_projection(path, json);
    }
});

fn prints_and_reads_back(text: &str) {
    let Ok(path) = FieldPath::parse(text) else { return };
    let printed = path.to_string();
    // The canonical spelling may be a little longer than what was written, and so too long to be read.
    if printed.len() <= FieldPath::MAX_BYTES {
        assert_eq!(FieldPath::parse(&printed).as_ref(), Ok(&path), "printed as {printed}");
    }
}

fn finds_the_same_in_a_projection(path: &str, json: &str) {
    let (Ok(path), Ok(whole)) = (FieldPath::parse(path), parse_json(json)) else { return };
    let projection = Projection::of([&path]);
    let part = projection.read(json).expect("a projection reads whatever can be read whole");
    match (path.find(&whole.value), path.find(&part.value)) {
        (Ok(whole), Ok(part)) => assert_eq!(whole, part, "found by {path}"),
        (Err(whole), Err(part)) => {
            assert_eq!(whole.step, part.step, "the step of {path} that found nothing");
            // What it says about its surroundings may differ: a part has fewer keys to list.
            assert_eq!(discriminant(&whole.kind), discriminant(&part.kind), "{whole:?} and {part:?}");
            assert!(!whole.explain(&path).is_empty());
        }
        (whole, part) => panic!("{path} finds {whole:?} in the whole and {part:?} in the part"),
    }
}
