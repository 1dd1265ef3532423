//! `cargo xtask bench scale`: what batches of Arrow cost in one process, beside `jurat run` over the same rows, and what merging costs; with `--engines`, what Ray, Spark and Daft add to them, and what
//! segments and leases add to judge calls; with `--scaling`, what two workers do in the time of one.
//!
//! What is judged are ratios within one run, and bounds that do not depend on the machine. The scripts in `xtask/bench/scale` measure, in CPU time where processors are used.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use chores::chore::{Arguments, Failure};
use chores::{program, python};

/// What is measured, what it is, and its limit.
type Target = (&'static str, &'static str, Limit);

#[derive(Debug, Clone, Copy)]
enum Limit {
    AtMost(f64),
    AtLeast(f64),
}
use Limit::{AtLeast, AtMost};

const TARGETS: [Target; 7] = [
    ("call_ms", "ms CPU for a batch of one row", AtMost(0.3)),
    ("row_ratio", "times the CPU of `jurat run` for a row with ten assertions, in batches of 4,096", AtMost(1.3)),
    ("row_bytes", "bytes of results for a row that passed", AtMost(120.0)),
    ("memory_mb", "MB at the peak of a process that judges a stream", AtMost(150.0)),
    ("memory_ratio", "times the memory of a stream of 10,000 rows", AtMost(1.1)),
    ("merged_per_s", "cases merged in a second of CPU", AtLeast(300_000.0)),
    ("merge_mb", "MB at the peak of a process that merges", AtMost(100.0)),
];

/// The same for engines.
const TARGETS_OF_ENGINES: [Target; 5] = [
    ("ray_ratio", "times the CPU of one process in actors of Ray, for a batch of 10,000 rows", AtMost(1.05)),
    ("spark_ratio", "times the CPU of one process in tasks of Spark", AtMost(1.05)),
    ("daft_ratio", "times the CPU of one process in Daft", AtMost(1.05)),
    (
        "segments_ratio",
        "times the CPU of a judge call in a run, for one in a shard, which writes segments",
        AtMost(1.05),
    ),
    ("leases_ratio", "times the CPU of a judge call in a shard, for one that is leased", AtMost(1.05)),
];

/// The same for more workers.
const TARGETS_OF_SCALING: [Target; 8] = [
    ("ray_calls_speedup", "times as fast with two actors of Ray, for judge calls of 200 ms", AtLeast(1.8)),
    ("spark_calls_speedup", "times as fast with two tasks of Spark, for judge calls of 200 ms", AtLeast(1.8)),
    ("ray_rows_speedup", "times as fast with two actors of Ray on free cores, by the CPU of a row", AtLeast(1.8)),
    ("spark_rows_speedup", "times as fast with two tasks of Spark on free cores, by the CPU of a row", AtLeast(1.8)),
    ("local_rows_speedup", "times as fast with two processes on free cores, by their CPU", AtLeast(1.8)),
    ("calls_ratio", "times the time of one process for two with as many requests in flight", AtMost(1.1)),
    ("lease_cores", "cores for the leases of 1,000 processes", AtMost(1.0)),
    ("lease_p99_ms", "ms until 99 of 100 leases are there", AtMost(50.0)),
];

/// How many calls and rows the longest of the scripts makes.
const CALLS: u64 = 2_000;

pub(crate) fn scale(mut arguments: Arguments) -> Result<(), Failure> {
    let is_quick = arguments.flag("--quick");
    let n = if is_quick { 10_000 } else { 100_000_u64 };
    let wheel = arguments.text("--wheel")?;
    let (engines, scaling) = (arguments.flag("--engines"), arguments.flag("--scaling"));
    arguments.finish()?;
    let wheel = wheel.as_deref().map(Path::new);
    if engines || scaling {
        let environment = python::measured_in(python::environment_for_folder("scale", "tests/scale")?, wheel)?;
        if engines {
            let figures = measured(&environment, "engines.py", n)?;
            println!("{n} rows; whole passes with two workers, and what each row and call takes:");
            println!("{}", listed(&figures));
            within(&figures, &TARGETS_OF_ENGINES)?;
        }
        if scaling {
            let calls = if is_quick { CALLS / 4 } else { CALLS };
            let figures = measured(&environment, "scaling.py", calls)?;
            println!("{calls} judge calls; one worker and more of them:\n{}", listed(&figures));
            within(&figures, &TARGETS_OF_SCALING)?;
        }
        return Ok(());
    }
    let figures = measured(&python::measured(wheel)?, "work.py", n)?;
    println!("{n} rows; streams of 10,000 and of {} rows; {} rows are merged:", 10 * n, 3 * n);
    println!("{}", listed(&figures));
    within(&figures, &TARGETS)
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

/// Prints figures beside their limits; an error when one is not met.
fn within(figures: &Value, targets: &[Target]) -> Result<(), Failure> {
    let mut unmet = None;
    for (name, what, limit) in targets {
        let figure = number(figures, name)?;
        let (is_met, wanted) = match limit {
            AtMost(most) => (figure <= *most, format!("at most {most}")),
            AtLeast(least) => (figure >= *least, format!("at least {least}")),
        };
        println!("{figure:.2} {what}, wanted {wanted}");
        if !is_met && unmet.is_none() {
            unmet = Some(Failure::new(format!("{figure:.2} {what}; wanted {wanted}")));
        }
    }
    unmet.map_or(Ok(()), Err)
}

/// The figures in the last line of what the script prints.
fn read(output: &str) -> Result<Value, Failure> {
    let last = output.lines().last().unwrap_or_default();
    serde_json::from_str(last).map_err(|_| Failure::new(format!("the script reported no figures: {output}")))
}

fn number(figures: &Value, name: &str) -> Result<f64, Failure> {
    figures[name].as_f64().ok_or_else(|| Failure::new(format!("the script reported no `{name}`: {figures}")))
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

    #[test]
    fn a_figure_on_the_wrong_side_of_its_limit_is_an_error() {
        let figures = read("{\"few\": 1, \"many\": 9}").expect("they are there");
        assert!(within(&figures, &[("few", "", AtMost(1.0)), ("many", "", AtLeast(9.0))]).is_ok());
        assert!(within(&figures, &[("many", "", AtMost(8.9))]).is_err());
        assert!(within(&figures, &[("few", "", AtLeast(1.1))]).is_err());
    }
}
