//! `cargo xtask bench scale`: what batches of Arrow cost in one process, beside `jurat run` over the same rows; with `--engines`, what Ray, Spark and Daft add to them, and what segments and leases add
//! to judge calls.
//!
//! What is judged are ratios within one run, and bounds that do not depend on the machine. `work.py` and `engines.py` in `xtask/bench/scale` measure, in CPU time.

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

/// The same for engines.
const LIMITS_OF_ENGINES: [(&str, &str, f64); 5] = [
    ("ray_ratio", "times the CPU of one process in actors of Ray, for a batch of 10,000 rows", 1.05),
    ("spark_ratio", "times the CPU of one process in tasks of Spark", 1.05),
    ("daft_ratio", "times the CPU of one process in Daft", 1.05),
    ("segments_ratio", "times the CPU of a judge call in a run, for one in a shard, which writes segments", 1.05),
    ("leases_ratio", "times the CPU of a judge call in a shard, for one that is leased", 1.05),
];

pub(crate) fn scale(mut arguments: Arguments) -> Result<(), Failure> {
    let n = if arguments.flag("--quick") { 10_000 } else { 100_000_u64 };
    let (wheel, engines) = (arguments.text("--wheel")?, arguments.flag("--engines"));
    arguments.finish()?;
    let wheel = wheel.as_deref().map(Path::new);
    if engines {
        let environment = python::measured_in(python::environment_for_folder("scale", "tests/scale")?, wheel)?;
        let figures = measured(&environment, "engines.py", n)?;
        println!("{n} rows; whole passes with two workers, and what each row and call takes:");
        println!("{}", listed(&figures));
        return within(&figures, &LIMITS_OF_ENGINES);
    }
    let figures = measured(&python::measured(wheel)?, "work.py", n)?;
    println!("{n} rows; streams of 10,000 and of {} rows", 10 * n);
    println!(
        "{:.2} µs CPU for a row in batches, {:.2} µs in a run",
        number(&figures, "row_us")?,
        number(&figures, "run_us")?
    );
    within(&figures, &LIMITS)
}

/// Runs a script, and returns what it reports.
fn measured(environment: &Path, script: &str, n: u64) -> Result<Value, Failure> {
    let script = program::root().join("xtask/bench/scale").join(script);
    let mut python = Command::new(environment.join("bin/python"));
    python.arg(script).arg(n.to_string()).env("JURAT_ENDPOINT", python::endpoint()?);
    read(&program::output(&mut python)?)
}

fn listed(figures: &Value) -> String {
    let members = figures.as_object().into_iter().flatten();
    let lines: Vec<String> =
        members.map(|(name, it)| format!("  {name} {:.2}", it.as_f64().unwrap_or(f64::NAN))).collect();
    lines.join("\n")
}

/// Prints figures beside their limits; an error when one is exceeded.
fn within(figures: &Value, limits: &[(&str, &str, f64)]) -> Result<(), Failure> {
    let mut exceeded = None;
    for (name, what, limit) in limits {
        let figure = number(figures, name)?;
        println!("{figure:.2} {what}, wanted at most {limit}");
        if figure > *limit && exceeded.is_none() {
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
