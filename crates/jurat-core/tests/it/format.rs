//! The reader and the JSON Schema agree, and every key that is accepted is read.
//!
//! Suites of the repository are changed in every place, one change at a time, and both are asked about the result.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use jsonschema::Validator;
use jurat_core::suite::load;
use jurat_core::suite::schema::suite_schema;
use jurat_format::problem::Severity;
use jurat_format::source::{Files, ReadError};
use jurat_format::value::{SourceId, Val, Value};
use jurat_format::yaml::read_tree;
use regex::Regex;

/// A suite whose text is not that of its file; other files are those of its folder.
struct Changed<'t> {
    path: &'t Path,
    text: String,
}

impl Files for Changed<'_> {
    fn read(&self, path: &Path, _: u64) -> Result<Vec<u8>, ReadError> {
        if path == self.path {
            return Ok(self.text.clone().into_bytes());
        }
        fs::read(path).map_err(|_| ReadError::NotFound)
    }
}

/// A step into a value.
#[derive(Clone)]
enum Step {
    Key(String),
    Item(usize),
}

fn suites() -> Vec<(PathBuf, Value)> {
    // Names of files are tidied before they are read.
    let root = fs::canonicalize(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")).expect("the repository");
    let folders = ["examples", "tests/cases", "tests/problems"].map(|it| root.join(it));
    let mut files: Vec<PathBuf> = folders
        .iter()
        .flat_map(|it| fs::read_dir(it).expect("the folder is there"))
        .map(|it| it.expect("it can be listed").path().join("suite.yaml"))
        .filter(|it| it.is_file())
        .collect();
    files.sort();
    files.into_iter().filter_map(|it| read(&it).map(|value| (it, value))).collect()
}

/// What a file holds, when it is YAML that JSON can say too.
fn read(path: &Path) -> Option<Value> {
    let text = fs::read_to_string(path).ok()?;
    let mut problems = Vec::new();
    let node = read_tree(&text, SourceId(0), false, &mut problems)?;
    let value = node.to_val().into_owned();
    let is_json = serde_json::from_str::<serde_json::Value>(&value.to_json()).is_ok();
    (problems.is_empty() && value.as_map().is_some() && is_json).then_some(value)
}

/// Every place of a value but the root.
fn places(value: &Value, at: &mut Vec<Step>, found: &mut Vec<Vec<Step>>) {
    let members: Vec<(Step, &Value)> = match value {
        Val::Map(map) => map.iter().map(|(key, it)| (Step::Key(key.to_owned()), it)).collect(),
        Val::List(items) => items.iter().enumerate().map(|(ix, it)| (Step::Item(ix), it)).collect(),
        _ => Vec::new(),
    };
    for (step, member) in members {
        at.push(step);
        found.push(at.clone());
        places(member, at, found);
        at.pop();
    }
}

/// A value with something else in one place, or without it.
fn changed(value: &Value, at: &[Step], new: Option<&Value>) -> Value {
    let [step, rest @ ..] = at else { return new.cloned().unwrap_or(Val::Null) };
    let member = |it: &Value| if rest.is_empty() { new.cloned() } else { Some(changed(it, rest, new)) };
    match (value, step) {
        (Val::Map(map), Step::Key(key)) => Val::Map(
            map.iter()
                .filter_map(|(name, it)| Some((name.to_owned(), if name == key { member(it)? } else { it.clone() })))
                .collect(),
        ),
        (Val::List(items), Step::Item(ix)) => Val::List(
            items
                .iter()
                .enumerate()
                .filter_map(|(at, it)| if at == *ix { member(it) } else { Some(it.clone()) })
                .collect(),
        ),
        (other, _) => other.clone(),
    }
}

fn shown(at: &[Step]) -> String {
    let steps = at.iter().map(|it| match it {
        Step::Key(key) => key.clone(),
        Step::Item(ix) => ix.to_string(),
    });
    steps.collect::<Vec<_>>().join(".")
}

fn validator() -> Validator {
    let schema = serde_json::from_str(&suite_schema().to_json()).expect("the schema is JSON");
    jsonschema::draft202012::new(&schema).expect("the schema is one")
}

/// How a suite is read: its debug form without places, what is wrong with it, and whether that keeps it from being used.
fn loaded(path: &Path, value: &Value, spans: &Regex) -> (String, Vec<String>, bool) {
    let loaded = load(path, &Changed { path, text: value.to_json() });
    let is_refused = loaded.problems.iter().any(|it| it.severity() == Severity::Error);
    let problems = loaded.problems.iter().map(|it| format!("{}: {}", it.code.name, it.message)).collect();
    (spans.replace_all(&format!("{:?}", loaded.suite), "").into_owned(), problems, is_refused)
}

fn spans() -> Regex {
    Regex::new(r"Span \{ source: SourceId\(\d+\), start: \d+, end: \d+ \}").expect("a pattern")
}

#[test]
fn the_schema_accepts_what_the_reader_accepts() {
    let (validator, spans) = (validator(), spans());
    let values = [Val::Null, Val::Bool(true), Val::I(7), Val::F(-1.5), Val::from("text"), Val::List(Vec::new())];
    let (mut n_accepted, mut wrong) = (0, BTreeSet::new());
    for (path, suite) in suites() {
        let (mut all, mut n) = (Vec::new(), 0);
        places(&suite, &mut Vec::new(), &mut all);
        for at in &all {
            // One value in each place, and each value in some places.
            n += 1;
            let new = values.get(n % (values.len() + 1));
            let mutant = changed(&suite, at, new);
            let (_, _, is_refused) = loaded(&path, &mutant, &spans);
            if is_refused {
                continue;
            }
            n_accepted += 1;
            let json = serde_json::from_str(&mutant.to_json()).expect("it is JSON");
            if let Some(error) = validator.iter_errors(&json).next() {
                let folder = path.parent().and_then(Path::file_name).unwrap_or_default().display().to_string();
                wrong.insert(format!("{folder}: {} as {new:?}: {} at {}", shown(at), error, error.instance_path()));
            }
        }
    }
    assert!(n_accepted > 1000, "only {n_accepted} of the changed suites are accepted");
    assert!(wrong.is_empty(), "{} of {n_accepted}: {wrong:#?}", wrong.len());
}

#[test]
fn every_key_that_is_accepted_is_read() {
    let spans = spans();
    let (mut n_keys, mut unread) = (0, BTreeSet::new());
    for (path, suite) in suites() {
        let (whole, problems, is_refused) = loaded(&path, &suite, &spans);
        if is_refused {
            continue;
        }
        let mut all = Vec::new();
        places(&suite, &mut Vec::new(), &mut all);
        for at in all.iter().filter(|it| matches!(it.last(), Some(Step::Key(_)))) {
            n_keys += 1;
            // A key may say what holds without it; another value is noticed then.
            let makes_no_difference = |new: Option<&Value>| {
                let (read, others, _) = loaded(&path, &changed(&suite, at, new), &spans);
                read == whole && others == problems
            };
            if [None, Some(&Val::I(7)), Some(&Val::from("text"))].into_iter().all(makes_no_difference) {
                let folder = path.parent().and_then(Path::file_name).unwrap_or_default().display().to_string();
                unread.insert(format!("{folder}: {}", shown(at)));
            }
        }
    }
    assert!(n_keys > 500, "only {n_keys} keys");
    assert!(unread.is_empty(), "{} of {n_keys}: {unread:#?}", unread.len());
}
