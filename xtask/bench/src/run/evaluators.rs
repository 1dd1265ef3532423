//! Code of authors: a cold start, a call alone, a call among others, and many rows through one evaluator.
//!
//! Calls are measured by `crates/jurat-sandbox/benches/calls.rs`, whose workers are the program that is measured; rows by running a suite. Times are of the clock on
//! the wall, because that is what somebody waits for, and only mean something on an idle machine.

use std::path::Path;
use std::process::Command;

use super::figure::{Figure, Reference, Target, Unit, grouped};
use super::jurat::forget;
use super::scratch::write;
use super::{Kit, Lines};
use crate::benchmark;
use chores::chore::Failure;
use chores::program;

/// What calls cost at most, by the words of the benchmark; in microseconds.
const CALLS: [(&str, &str, f64); 5] = [
    ("python", "first result, cold", 150_000.0),
    ("python", "call alone, Process", 150.0),
    ("python", "call of 64, Process", 80.0),
    ("typescript", "first result, cold", 150_000.0),
    ("typescript", "call of 64, Process", 30.0),
];

/// What a row costs where each call has a process, and how many of them are measured.
const SPAWNED: &str = "a process for each call";

/// What a row costs at least in the sandboxes of Phoenix that run on the same machine: 30 ms, four at once.
const PHOENIX_US: f64 = 30_000.0 / 4.0;

pub(super) fn measure(kit: &Kit, lines: &mut Lines) {
    let calls = calls(kit);
    let n_rows = if kit.is_quick { 10_000 } else { 100_000 };
    match calls {
        Ok(calls) => {
            lines.add("calls of evaluators", Ok(call_figures(&calls)));
            lines.add("rows through one evaluator", rows(kit, n_rows, &calls));
        }
        Err(failure) => lines.add("calls of evaluators", Err(failure)),
    }
}

/// Language, what was measured, and microseconds.
type Calls = Vec<(String, String, f64)>;

fn calls(kit: &Kit) -> Result<Calls, Failure> {
    let bench = benchmark("jurat-sandbox", "calls")?;
    eprintln!("evaluators: calls");
    let said = program::output(Command::new(bench).arg("--worker").arg(kit.jurat.path()))?;
    Ok(said.lines().filter_map(read).collect())
}

/// `python<TAB>call of 64, Process<TAB>52.1`
fn read(line: &str) -> Option<(String, String, f64)> {
    let mut parts = line.split('\t');
    let (language, what, time) = (parts.next()?, parts.next()?, parts.next()?);
    Some((language.to_owned(), what.to_owned(), time.parse().ok()?))
}

fn found(calls: &Calls, language: &str, what: &str) -> Option<f64> {
    calls.iter().find(|it| it.0 == language && it.1 == what).map(|it| it.2)
}

fn call_figures(calls: &Calls) -> Vec<Figure> {
    let figure = |(language, what, time): &(String, String, f64)| {
        let figure = Figure::new(format!("evaluators: {language}, {what}"), *time, Unit::Microseconds);
        match CALLS.iter().find(|it| it.0 == language && it.1 == what) {
            Some((_, _, most)) => figure.target(Target::AtMost(*most)),
            None => figure,
        }
    };
    calls.iter().map(figure).collect()
}

/// A suite over many rows, none of which is alike, so that each is a call of its own.
fn rows(kit: &Kit, n_rows: u64, calls: &Calls) -> Result<Vec<Figure>, Failure> {
    let spawned = found(calls, "python", SPAWNED)
        .ok_or_else(|| Failure::new("the benchmark of calls does not say what a process for each costs"))?;
    let directory = kit.scratch.directory("evaluated")?;
    write_rows(&directory, n_rows)?;
    eprintln!("evaluators: {} rows", grouped(n_rows));
    forget(&directory)?;
    let cost = kit.jurat.evaluate(&kit.yardstick, &directory, n_rows)?;
    let per_row = cost.wall.as_secs_f64() * 1e6 / n_rows as f64;
    let name = format!("evaluators: time per row, {} rows of Python", grouped(n_rows));
    let beside = |what: &str, value: f64, most: f64| {
        let reference = Reference { name: what.to_owned(), value, ratio: per_row / value, noise: None };
        Figure::new(name.clone(), per_row, Unit::Microseconds).target(Target::Ratio(most)).reference(reference)
    };
    let ours = beside("a process for each call", spawned, 1.0 / 50.0).note("the run is kept; start-up is in it");
    Ok(vec![ours, beside("Phoenix's local sandboxes at their best", PHOENIX_US, 1.0 / 10.0)])
}

const SUITE: &str = "\
suite: evaluated
records: records.jsonl
evaluators:
  same:
    source: |
      def evaluate(output, reference):
          same = output.strip() == reference.strip()
          return {'label': 'same' if same else 'different', 'score': 1.0 if same else 0.0}
tasks:
  - { id: right, evaluate: same, field_path: label, operator: equals, expected_value: same }
";

fn write_rows(directory: &Path, n_rows: u64) -> Result<(), Failure> {
    let row = |it: u64| {
        format!("{{\"id\":\"r{it}\",\"output\":\" the answer is {it} \",\"reference\":\"the answer is {it}\"}}\n")
    };
    let rows: String = (0..n_rows).map(row).collect();
    write(&directory.join("suite.yaml"), SUITE)?;
    write(&directory.join("records.jsonl"), rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_benchmark_are_understood() {
        let line = "python\tcall of 64, Process\t52.1";
        assert_eq!(read(line), Some(("python".to_owned(), "call of 64, Process".to_owned(), 52.1)));
        assert_eq!(read("warning: something else"), None);
        let figures = call_figures(&vec![read(line).unwrap()]);
        assert_eq!(figures[0].targets, [Target::AtMost(80.0)]);
    }
}
