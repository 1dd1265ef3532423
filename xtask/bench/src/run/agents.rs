//! Agents: what a jail around a program costs.
//!
//! The program does nothing, so what is measured is the jail: beside it, in turn, the command `unshare` makes the same namespaces around the same program.

use std::process::Command;

use super::figure::{Figure, Reference, Target, Unit};
use super::{Kit, Lines};
use crate::benchmark;
use crate::rounds::least;
use chores::chore::Failure;
use chores::program;

/// The most that a jail may cost, over `unshare`.
const MOST: f64 = 1.5;

pub(super) fn measure(kit: &Kit, lines: &mut Lines) {
    lines.add("jail", jail(kit));
}

fn jail(kit: &Kit) -> Result<Vec<Figure>, Failure> {
    let starts = benchmark("jurat-sandbox", "starts")?;
    let n_rounds = if kit.is_quick { 20 } else { 100 };
    let mut command = Command::new(starts);
    // The worker is the command itself, as in a run.
    command.arg(n_rounds.to_string()).arg(kit.jurat.path()).arg("__worker");
    let said = program::output(&mut command)?;
    let mut jails = Vec::new();
    let mut others = Vec::new();
    for line in said.lines() {
        let round: serde_json::Value =
            serde_json::from_str(line).map_err(|error| Failure::new(format!("`starts` said `{line}`: {error}")))?;
        let number = |name: &str| round[name].as_f64().unwrap_or(f64::NAN);
        jails.push(number("jail"));
        others.push(number("unshare"));
    }
    // Noise only adds, and to whoever waits for others the most, so the least of many is what it takes.
    let (reached, value) = (least(&jails), least(&others));
    let reference = Reference { name: "unshare -Urpmn true".to_owned(), value, ratio: reached / value, noise: None };
    let figure = Figure::new(format!("jail: `true` in one, least of {n_rounds}"), reached, Unit::Milliseconds);
    Ok(vec![figure.target(Target::Ratio(MOST)).reference(reference)])
}
