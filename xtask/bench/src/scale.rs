//! `cargo xtask bench scale`: what batches of Arrow cost in one process, beside `jurat run` over the same rows.
//!
//! What is judged are ratios within one run, and bounds that do not depend on the machine. `xtask/bench/scale/work.py` measures, in CPU time.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use chores::chore::{Arguments, Failure};
use chores::{program, python};

/// What is measured, what it is, and its limit.
const LIMITS: [(&str, &str, f64); 5] = [
    ("call_ms", "ms CPU for a batch of one row", 0.3),
    ("row_ratio", "times the CPU of `jurat run` for a row with ten assertions, in batches of 4,096", 1.3),
    ("row_bytes", "bytes of results for a row that passed", 120.0),
    ("memory_mb", "MB at the peak of a process that judges a stream", 150.0),
    ("memory_ratio", "times the memory of a stream of 10,000 rows", 1.1),
];

pub(crate) fn scale(mut arguments: Arguments) -> Result<(), Failure> {
    let n = if arguments.flag("--quick") { 10_000 } else { 100_000_u64 };
    let wheel = arguments.text("--wheel")?;
    arguments.finish()?;
    let environment = python::measured(wheel.as_deref().map(Path::new))?;
    let work = program::root().join("xtask/bench/scale/work.py");
    let output = program::output(Command::new(environment.join("bin/python")).arg(work).arg(n.to_string()))?;
    let figures = read(&output)?;
    println!("{n} rows; streams of 10,000 and of {} rows", 10 * n);
    println!(
        "{:.2} µs CPU for a row in batches, {:.2} µs in a run",
        number(&figures, "row_us")?,
        number(&figures, "run_us")?
    );
    let mut exceeded = None;
    for (name, what, limit) in LIMITS {
        let figure = number(&figures, name)?;
        println!("{figure:.2} {what}, wanted at most {limit}");
        if figure > limit && exceeded.is_none() {
            exceeded = Some(Failure::new(format!("{figure:.2} {what} are more than {limit}")));
        }
    }
    exceeded.map_or(Ok(()), Err)
}

/// The figures in the last line of what the script prints.
fn read(output: &str) -> Result<Value, Failure> {
    let last = output.lines().last().unwrap_or_default();
    serde_json::from_str(last).map_err(|_| Failure::new(format!("`work.py` reported no figures: {output}")))
}

fn number(figures: &Value, name: &str) -> Result<f64, Failure> {
    figures[name].as_f64().ok_or_else(|| Failure::new(format!("`work.py` reported no `{name}`: {figures}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_in_the_last_line() {
        let figures = read("a warning\n{\"call_ms\": 0.25}\n").expect("they are there");
        assert_eq!(number(&figures, "call_ms").expect("it is one"), 0.25);
        assert!(number(&figures, "row_bytes").is_err() && read("nothing").is_err());
    }
}
