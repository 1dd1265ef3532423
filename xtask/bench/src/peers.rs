//! The Python package beside a peer from PyPI: the same assertions over the same records, in one run.
//!
//! Each is a process of its own, which measures itself in CPU time (`xtask/bench/peers/work.py`); rounds are interleaved, and the least of each counts. What is
//! judged are ratios: the machine has other things to do.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use chores::chore::{Arguments, Failure};
use chores::{program, python};

/// How often each is measured.
const ROUNDS: usize = 3;

/// The goal that needs all records.
const MEMORY: &str = "memory";

/// How often importing is measured, and how long it may take.
const IMPORTS: usize = 10;
const LONGEST_IMPORT_MS: f64 = 40.0;

/// What the package's own face may take (`xtask/bench/peers/native.py`), over a million rows with six assertions: the figure, what it is, and its limit.
const LIMITS: [(&str, &str, f64); 8] = [
    ("arrow_s", "s for a table of pyarrow", 2.0),
    ("arrow_mb", "MB for it", 200.0),
    ("polars_s", "s for a data frame of Polars", 2.0),
    ("polars_mb", "MB for it", 200.0),
    ("lazy_s", "s for a query over a lazy frame of Polars", 2.0),
    ("lazy_mb", "MB for it", 200.0),
    ("case_ms", "ms to read a case by its id", 1.0),
    ("call_us", "µs to call a function with a row, store what it returns and judge it", 500.0),
];

/// Who is measured: the peer first.
const WHO: [&str; 4] = ["scouter", "dicts", "arrow", "jsonl"];

/// What one process output.
#[derive(Debug, Clone, Copy)]
struct Figures {
    building: f64,
    judging: f64,
    memory: f64,
}

/// A goal: what, how many times better than the peer, and how many times it must be.
struct Goal {
    what: &'static str,
    times: f64,
    wanted: f64,
}

pub(crate) fn peers(mut arguments: Arguments) -> Result<(), Failure> {
    let is_quick = arguments.flag("--quick");
    let wheel = arguments.text("--wheel")?;
    let n = if is_quick { 10_000 } else { 100_000 };
    arguments.finish()?;
    let ours = python::measured(wheel.as_deref().map(Path::new))?;
    let theirs = python::environment_of("scouter", &program::root().join("xtask/bench/peers/requirements.txt"))?;
    let mut best: Vec<Option<Figures>> = vec![None; WHO.len()];
    for round in 1..=ROUNDS {
        for (who, best) in WHO.iter().zip(&mut best) {
            eprintln!("round {round} of {ROUNDS}: {who}");
            let environment = if *who == "scouter" { &theirs } else { &ours };
            let figures = measured(environment, who, n)?;
            *best = Some(best.map_or(figures, |it| it.least(figures)));
        }
    }
    let figures: Vec<Figures> = best.into_iter().flatten().collect();
    print!("{}", table(n, &figures));
    let mut goals = goals(&figures);
    // What a process has before it does anything is most of what few records take.
    goals.retain(|it| !is_quick || it.what != MEMORY);
    for Goal { what, times, wanted } in &goals {
        println!("{what}: {times:.1} times, wanted {wanted:.0} times");
    }
    let import_ms = import_ms(&ours)?;
    println!("importing: {import_ms:.0} ms, wanted at most {LONGEST_IMPORT_MS:.0} ms");
    let exceeded = native(&ours, if is_quick { 100_000 } else { 1_000_000 })?;
    match goals.iter().find(|it| it.times < it.wanted) {
        Some(missed) => Err(Failure::new(format!("{} is {:.1} times the peer's", missed.what, missed.times))),
        None if import_ms > LONGEST_IMPORT_MS => Err(Failure::new(format!("importing takes {import_ms:.0} ms"))),
        None => exceeded.map_or(Ok(()), |it| Err(Failure::new(it))),
    }
}

/// Prints what the package's own face takes, and returns the first limit that is exceeded.
fn native(environment: &Path, n: u64) -> Result<Option<String>, Failure> {
    let work = program::root().join("xtask/bench/peers/native.py");
    let output = program::output(Command::new(environment.join("bin/python")).arg(work).arg(n.to_string()))?;
    let wrong = || Failure::new(format!("`native.py` reported no figures: {output}"));
    let figures: Value = serde_json::from_str(output.lines().last().unwrap_or_default()).map_err(|_| wrong())?;
    let mut exceeded = None;
    for (name, what, limit) in LIMITS {
        let figure = figures[name].as_f64().ok_or_else(wrong)?;
        println!("{n} rows: {figure:.2} {what}, wanted at most {limit}");
        if figure > limit && exceeded.is_none() {
            exceeded = Some(format!("{figure:.2} {what} are more than {limit}"));
        }
    }
    Ok(exceeded)
}

/// The CPU time that importing the package takes in a process that has just begun: the least of several.
fn import_ms(environment: &Path) -> Result<f64, Failure> {
    let import = "import time; start = time.process_time(); import jurat; print(1e3 * (time.process_time() - start))";
    let mut least = f64::INFINITY;
    for _ in 0..IMPORTS {
        let output = program::output(Command::new(environment.join("bin/python")).args(["-c", import]))?;
        let took: f64 =
            output.trim().parse().map_err(|_| Failure::new(format!("importing reported no time: {output}")))?;
        least = least.min(took);
    }
    Ok(least)
}

impl Figures {
    fn least(self, other: Figures) -> Figures {
        Figures {
            building: self.building.min(other.building),
            judging: self.judging.min(other.judging),
            memory: self.memory.min(other.memory),
        }
    }
}

fn measured(environment: &Path, who: &str, n: u64) -> Result<Figures, Failure> {
    let work = program::root().join("xtask/bench/peers/work.py");
    let mut python = Command::new(environment.join("bin/python"));
    let output = program::output(python.arg(work).args([who, &n.to_string()]))?;
    let wrong = || Failure::new(format!("`{who}` reported no figures: {output}"));
    let output: Value = serde_json::from_str(output.lines().last().unwrap_or_default()).map_err(|_| wrong())?;
    let figure = |name: &str| output[name].as_f64().ok_or_else(wrong);
    Ok(Figures { building: figure("building_s")?, judging: figure("judging_s")?, memory: figure("memory_bytes")? })
}

fn table(n: u64, figures: &[Figures]) -> String {
    let mut text = format!("{n} records, ten assertions each; CPU time\n");
    for (who, Figures { building, judging, memory }) in WHO.iter().zip(figures) {
        let (per_second, megabytes) = (n as f64 / judging, memory / 1e6);
        text += &format!(
            "{who:>8}: building {building:>7.2} s, judging {judging:>7.2} s = {per_second:>9.0} records/s, {megabytes:>6.0} MB\n"
        );
    }
    text
}

fn goals(figures: &[Figures]) -> Vec<Goal> {
    let [scouter, dicts, arrow, jsonl] = figures else { return Vec::new() };
    let judging = |it: &Figures| scouter.judging / it.judging;
    vec![
        Goal { what: "judging dicts", times: judging(dicts), wanted: 50.0 },
        Goal { what: "judging Arrow", times: judging(arrow), wanted: 100.0 },
        Goal { what: "judging JSON lines", times: judging(jsonl), wanted: 100.0 },
        Goal { what: "building records", times: scouter.building / dicts.building, wanted: 5.0 },
        Goal { what: MEMORY, times: scouter.memory / dicts.memory, wanted: 10.0 },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goals_are_ratios_to_the_peer() {
        let scouter = Figures { building: 10.0, judging: 60.0, memory: 5e9 };
        let ours = Figures { building: 1.0, judging: 0.5, memory: 4e8 };
        let times: Vec<f64> = goals(&[scouter, ours, ours, ours]).iter().map(|it| it.times).collect();
        assert_eq!(times, [120.0, 120.0, 120.0, 10.0, 12.5]);
    }
}
