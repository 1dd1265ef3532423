//! Two sides paired by id.

use std::collections::BTreeMap;

use jurat_core::contrast::{About, Clustering, Ending, RateLine, Repetitions};
use jurat_core::statistics::Confidence;
use jurat_format::value::{Val, Value};

use super::input::Input;
use super::output::maybe;
use crate::object;

pub(super) fn call(name: &str, input: &Input<'_, '_>) -> Option<Result<Value, String>> {
    (name == "compare_counts").then(|| compare_counts(*input))
}

fn compare_counts(input: Input<'_, '_>) -> Result<Value, String> {
    let (base, new) = (side(input, "base")?, side(input, "new")?);
    let mut line = RateLine::new(Clustering::Single);
    let mut changes: BTreeMap<String, u64> = BTreeMap::new();
    let shared: Vec<(Ending, Ending)> = base.iter().filter_map(|(id, was)| Some((*was, *new.get(id)?))).collect();
    for (was, now) in &shared {
        line.add(&Repetitions::from_iter([*was]), &Repetitions::from_iter([*now]), 0);
        *changes.entry(format!("{} > {}", was.name(), now.name())).or_default() += 1;
    }
    let found = line.finish(About::Cases, Confidence::USUAL);
    let table = found.table.unwrap_or_default();
    let is_any = found.pairs + found.unknown > 0;
    let changes = changes.into_iter().map(|(change, n)| (change, Val::from(n))).collect();
    Ok(object([
        ("pairs", Val::from(found.pairs)),
        ("both", Val::from(table.both)),
        ("only_base", Val::from(table.only_base)),
        ("only_new", Val::from(table.only_new)),
        ("neither", Val::from(table.neither)),
        ("unknown", Val::from(found.unknown)),
        ("not_applicable", Val::from(found.not_applicable)),
        ("only_in_base", Val::from((base.len() - shared.len()) as u64)),
        ("only_in_new", Val::from((new.len() - shared.len()) as u64)),
        ("changes", Val::Map(changes)),
        ("difference", maybe(found.difference)),
        ("least", maybe(found.least.filter(|_| is_any))),
        ("most", maybe(found.most.filter(|_| is_any))),
    ]))
}

/// How each case of a side ended, by its id.
fn side(input: Input<'_, '_>, key: &str) -> Result<BTreeMap<String, Ending>, String> {
    let mut side = BTreeMap::new();
    for case in input.list(key)? {
        let Some([id, word]) = case.as_list() else { return Err(format!("{case} is not an id with a word")) };
        let ending = word.as_str().and_then(Ending::named).ok_or_else(|| format!("{word} is no verdict"))?;
        if side.insert(id.to_string(), ending).is_some() {
            return Err(format!("{id} is there twice"));
        }
    }
    Ok(side)
}
