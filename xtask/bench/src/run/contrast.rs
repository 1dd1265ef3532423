//! Two large runs compared case by case, beside a bare join of the same columns; and a gate over two small runs.

use std::fs;
use std::path::PathBuf;

use super::figure::{Figure, Reference, Target, Unit, grouped};
use super::jurat::{run_file, says};
use super::yardstick::{Cost, Data};
use super::{Kit, Lines};
use crate::rounds::{least, most, ratio, spread};
use chores::chore::Failure;

/// The most seconds of processor time, and megabytes.
const MOST_CPU_S: f64 = 2.0;
const MOST_MB: f64 = 128.0;

/// The most milliseconds of a gate.
const MOST_GATE_MS: f64 = 200.0;

/// The percents of rows that fail in BASE and in NEW. What fails in BASE fails in NEW.
const FAILING: [u64; 2] = [10, 25];

const SHAPE: &str = "flat";

const POLICY: &str = "conditions:
  - { id: quality, not_worse: 0.03 }
  - { id: rate, at_least: 0.7 }
  - { id: judgements, on: judgements, not_worse: 0.05 }
  - { id: tasks, task: '*', at_least: 0.5 }
  - { id: faults, errors: { at_most: 0.02 } }
";

pub(super) fn measure(kit: &Kit, lines: &mut Lines) {
    let n_rows = if kit.is_quick { 100_000 } else { 1_000_000 };
    lines.add("two runs compared", compared(kit, n_rows));
    lines.add("a gate over 1,000 cases", gated(kit));
}

/// Two runs over the same ids.
struct Sides {
    data: [Data; 2],
    runs: [PathBuf; 2],
}

impl Sides {
    fn of(kit: &Kit, n_rows: u64) -> Result<Sides, Failure> {
        let data = |side: usize| -> Result<Data, Failure> {
            let directory = kit.scratch.directory(&format!("side-{side}-{n_rows}"))?;
            let data = kit.yardstick.records(directory, SHAPE, n_rows, FAILING[side])?;
            kit.jurat.judge(&kit.yardstick, &data)?;
            Ok(data)
        };
        let data = [data(0)?, data(1)?];
        let run = |it: &Data| {
            run_file(&it.directory).ok_or_else(|| Failure::new("there is no run file: this jurat stored nothing"))
        };
        let runs = [run(&data[0])?, run(&data[1])?];
        Ok(Sides { data, runs })
    }

    fn changed(&self) -> u64 {
        self.data[1].failing - self.data[0].failing
    }

    fn words(&self) -> [String; 2] {
        self.runs.each_ref().map(|it| it.to_string_lossy().into_owned())
    }
}

fn compared(kit: &Kit, n_rows: u64) -> Result<Vec<Figure>, Failure> {
    let rounds = if kit.is_quick { 3 } else { 5 };
    eprintln!("two runs of {} cases: running them", grouped(n_rows));
    let sides = Sides::of(kit, n_rows)?;
    let columns = [kit.yardstick.columns(SHAPE, &sides.data[0])?, kit.yardstick.columns(SHAPE, &sides.data[1])?];
    let (mut text, mut json, mut join) = (Vec::new(), Vec::new(), Vec::new());
    for round in 1..=rounds {
        eprintln!("two runs of {} cases: round {round} of {rounds}", grouped(n_rows));
        let (cost, changed) = kit.yardstick.contrast(&sides.data[0].directory, &columns[0], &columns[1])?;
        if changed != sides.changed() {
            return Err(Failure::new(format!("the bare join counts {changed} changes, not {}", sides.changed())));
        }
        join.push(cost);
        text.push(comparison(kit, &sides, &[])?);
        json.push(comparison(kit, &sides, &["--json"])?);
    }
    let cpu = |of: &[Cost]| of.iter().map(|it| it.cpu.as_secs_f64()).collect::<Vec<f64>>();
    let peak = |of: &[Cost]| most(&of.iter().map(|it| it.peak_mb).collect::<Vec<f64>>());
    let reference = || Reference {
        name: "bare join".to_owned(),
        value: least(&cpu(&join)),
        ratio: ratio(&cpu(&text), &cpu(&join)),
        noise: Some(spread(&cpu(&join))),
    };
    let name = format!("compare two runs of {} cases, {} changed", grouped(n_rows), grouped(sides.changed()));
    Ok(vec![
        Figure::new(format!("CPU: {name}"), least(&cpu(&text)), Unit::Seconds)
            .target(Target::AtMost(MOST_CPU_S))
            .reference(reference()),
        Figure::new(format!("peak memory: {name}"), peak(&text), Unit::Megabytes).target(Target::AtMost(MOST_MB)),
        Figure::new(format!("CPU: {name}, as JSON"), least(&cpu(&json)), Unit::Seconds)
            .target(Target::AtMost(MOST_CPU_S)),
        Figure::new(format!("peak memory: {name}, as JSON"), peak(&json), Unit::Megabytes)
            .target(Target::AtMost(MOST_MB)),
    ])
}

/// Compares, and checks that it found as many changes as there are.
fn comparison(kit: &Kit, sides: &Sides, words: &[&str]) -> Result<Cost, Failure> {
    let [base, new] = sides.words();
    let words: Vec<&str> = [base.as_str(), new.as_str()].into_iter().chain(words.iter().copied()).collect();
    let cost = kit.jurat.compare(&kit.yardstick, &sides.data[1].directory, &words)?;
    match says(&cost, sides.changed())? {
        true => Ok(cost),
        false => Err(Failure::new(format!("`jurat compare` does not report {} changes", sides.changed()))),
    }
}

fn gated(kit: &Kit) -> Result<Vec<Figure>, Failure> {
    const ROUNDS: usize = 20;
    let sides = Sides::of(kit, 1_000)?;
    let [base, new] = sides.words();
    let directory = &sides.data[1].directory;
    let policy = directory.join("policy.yaml");
    fs::write(&policy, POLICY).map_err(|error| Failure::new(format!("cannot write a policy: {error}")))?;
    let words = [new.as_str(), "--base", base.as_str(), "--policy", "policy.yaml"];
    let (mut ours, mut nothing) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        ours.push(kit.jurat.gate(&kit.yardstick, directory, &words)?.wall.as_secs_f64() * 1e3);
        nothing.push(kit.yardstick.nothing(directory)?.wall.as_secs_f64() * 1e3);
    }
    let reference = Reference {
        name: "nothing".to_owned(),
        value: least(&nothing),
        ratio: least(&ours) / least(&nothing),
        noise: Some(spread(&nothing)),
    };
    let name = format!("time: a gate over 1,000 cases, least of {ROUNDS}");
    Ok(vec![
        Figure::new(name, least(&ours), Unit::Milliseconds).target(Target::AtMost(MOST_GATE_MS)).reference(reference),
    ])
}
