//! `cargo xtask conformance FILE...`: recorded behaviour against ours.
//!
//! Each file is one JSON object with a list `cases`; its base name says which area it is for. A case that differs is one
//! line; the last line is the count. Departures are the cases we differ on knowingly, listed with their reasons in
//! `departures.json`, counted as skipped.

mod deterministic_checks;
mod evaluator_returns;
mod field_paths;
mod operators;
mod outcomes;
mod primitives;
mod routing;
mod scenario_validation;
mod statistics;
mod task_graphs;
mod templates;

use std::path::Path;
use std::process::{Command, ExitCode};

use jurat_compare::Fault;
use jurat_format::source::{Files, ReadError};
use jurat_format::value::{SourceId, Val, Value, json_node, parse_json};

use chores::chore::{self, Arguments, Failure};

fn main() -> ExitCode {
    chore::only(run)
}

/// What a case should come to, what it came to, and whether that counts as right.
struct Answer {
    expected: String,
    got: String,
    right: bool,
}

/// Runs the cases of one area.
type Area = fn(&Val<'_>) -> Result<Answer, String>;

const AREAS: &[(&str, Area)] = &[
    ("deterministic_checks", deterministic_checks::run),
    ("evaluator_returns", evaluator_returns::run),
    ("field_paths", field_paths::run),
    ("operators", operators::run),
    ("outcomes", outcomes::run),
    ("primitives", primitives::run),
    ("routing", routing::run),
    ("scenario_validation", scenario_validation::run),
    ("statistics", statistics::run),
    ("task_graphs", task_graphs::run),
    ("templates", templates::run),
];

/// The cases we differ on, by area and name, each with its reason.
const DEPARTURES: &str = include_str!("../departures.json");

#[derive(Default)]
struct Count {
    passed: usize,
    failed: usize,
    skipped: usize,
}

fn run(arguments: Arguments) -> Result<(), Failure> {
    let files = arguments.words();
    if files.is_empty() {
        return Err(Failure::Usage("name at least one file of recorded cases".to_owned()));
    }
    let mut count = Count::default();
    for file in files {
        run_file(Path::new(&file), &mut count).map_err(|message| Failure::Usage(format!("{file}: {message}")))?;
    }
    let skipped = if count.skipped > 0 { format!(", {} skipped", count.skipped) } else { String::new() };
    println!("{} passed, {} failed{skipped}", count.passed, count.failed);
    // The count is the last line, whoever reads it.
    if count.failed == 0 { Ok(()) } else { Err(Failure::Printed(1)) }
}

fn run_file(path: &Path, count: &mut Count) -> Result<(), String> {
    let area = path.file_stem().and_then(|it| it.to_str()).unwrap_or_default();
    let Some((_, run)) = AREAS.iter().find(|(name, _)| *name == area) else {
        let known: Vec<&str> = AREAS.iter().map(|(name, _)| *name).collect();
        return Err(format!("there is no area `{area}`; there are {}", known.join(", ")));
    };
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let file = parse_json(&text).map_err(|error| error.to_string())?.value;
    let cases = file.get("cases").and_then(Val::as_list).ok_or("there is no list `cases`")?;
    for case in cases {
        let name = case.get("name").or_else(|| case.get("id")).and_then(Val::as_str).ok_or("a case without a name")?;
        if departure(area, name) || lacks_python(case) {
            count.skipped += 1;
            continue;
        }
        let answer = run(case).map_err(|message| format!("{name}: {message}"))?;
        if answer.right {
            count.passed += 1;
        } else {
            count.failed += 1;
            println!("{}: {name}: expected {}, got {}", path.display(), answer.expected, answer.got);
        }
    }
    Ok(())
}

/// Whether a case calls Python where there is none.
fn lacks_python(case: &Val<'_>) -> bool {
    let wants = case.get("requires").and_then(Val::as_list).is_some_and(|it| it.contains(&Val::from("python")));
    wants && !Command::new("python3").arg("--version").output().is_ok_and(|it| it.status.success())
}

fn departure(area: &str, name: &str) -> bool {
    let departures = parse_json(DEPARTURES).expect("departures.json is JSON").value;
    departures.get(area).and_then(|area| area.get(name)).is_some()
}

/// The part of a case that must be there.
fn part<'c, 'v>(case: &'c Val<'v>, key: &str) -> Result<&'c Val<'v>, String> {
    case.get(key).ok_or_else(|| format!("there is no `{key}`"))
}

fn text_part<'c>(case: &'c Val<'_>, key: &str) -> Result<&'c str, String> {
    part(case, key)?.as_str().ok_or_else(|| format!("`{key}` is not text"))
}

/// Whether an outcome is the expected one, or one that is accepted too.
fn compared(case: &Val<'_>, expected: &Val<'_>, got: &Value, same: impl Fn(&Val<'_>, &Val<'_>) -> bool) -> Answer {
    let accepted = case.get("accept").and_then(Val::as_list).unwrap_or(&[]);
    let right = same(expected, got) || accepted.iter().any(|it| same(it, got));
    Answer { expected: expected.to_string(), got: got.to_string(), right }
}

/// Whether values agree: numbers by value, objects in any order.
fn same(expected: &Val<'_>, got: &Val<'_>) -> bool {
    agree(expected, got, &|expected, got| expected == got)
}

/// The same, where numbers agree to within 1e-12.
fn nearly_same(expected: &Val<'_>, got: &Val<'_>) -> bool {
    agree(expected, got, &|expected, got| (expected - got).abs() <= 1e-12)
}

fn agree(expected: &Val<'_>, got: &Val<'_>, numbers: &dyn Fn(f64, f64) -> bool) -> bool {
    match (expected, got) {
        (Val::Map(expected), Val::Map(got)) => {
            let has = |(key, value): (&str, &Val<'_>)| got.get(key).is_some_and(|it| agree(value, it, numbers));
            expected.len() == got.len() && expected.iter().all(has)
        }
        (Val::List(expected), Val::List(got)) => {
            expected.len() == got.len() && expected.iter().zip(got).all(|(value, it)| agree(value, it, numbers))
        }
        (expected, got) => match (expected.as_f64(), got.as_f64()) {
            (Some(expected), Some(got)) => numbers(expected, got),
            _ => expected == got,
        },
    }
}

/// What recorded cases call a fault.
fn fault(fault: Fault) -> Value {
    error(match fault {
        Fault::Kind => "type_error",
        Fault::Content => "value_error",
        Fault::Pattern => "regex_error",
        Fault::Overflow => "overflow",
        Fault::Steps => "step_limit",
        Fault::Unsupported => "not_implemented",
    })
}

fn error(kind: &'static str) -> Value {
    object([("error", Val::from(kind))])
}

/// A definition that is in no file.
struct Memory(String);

impl Files for Memory {
    fn read(&self, _: &Path, _: u64) -> Result<Vec<u8>, ReadError> {
        Ok(self.0.clone().into_bytes())
    }
}

/// A value as a node, for the readers that want places.
fn with_node<T>(value: &Val<'_>, read: impl FnOnce(&jurat_format::value::Node<'_>) -> T) -> Result<T, String> {
    let text = value.to_string();
    let (node, _) = json_node(&text, SourceId(0)).map_err(|error| error.to_string())?;
    Ok(read(&node))
}

fn object<const N: usize>(members: [(&'static str, Value); N]) -> Value {
    Val::Map(members.into_iter().collect())
}
