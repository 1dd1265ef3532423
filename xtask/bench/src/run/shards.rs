//! Runs cut into shards: what merging costs, and how much faster several processes are than one.

use std::fs;

use super::figure::{Figure, Reference, Target, Unit, grouped};
use super::yardstick::{Cost, Data};
use super::{Kit, Lines};
use crate::rounds::{least, most, spread};
use chores::chore::Failure;

/// Merging takes at least 300,000 cases a second, and this many megabytes.
const MOST_US: f64 = 1e6 / 300_000.0;
const MOST_MB: f64 = 100.0;

/// Two processes are to be worth at least 1.8.
const MOST_OF_ONE: f64 = 1.0 / 1.8;

const ROUNDS: usize = 3;
const SHARDS: u64 = 8;

pub(super) fn measure(kit: &Kit, lines: &mut Lines) {
    let n_rows = if kit.is_quick { 100_000 } else { 1_000_000 };
    let name = format!("merge of {SHARDS} shards, {} cases", grouped(n_rows));
    lines.add(&name, merging(kit, &name, n_rows));
    let n_rows = if kit.is_quick { 200_000 } else { 10_000_000 };
    let name = format!("two processes, {} records", grouped(n_rows));
    lines.add(&name, processes(kit, &name, n_rows));
}

fn merging(kit: &Kit, name: &str, n_rows: u64) -> Result<Vec<Figure>, Failure> {
    let data = kit.yardstick.records(kit.scratch.directory("merged")?, "nested", n_rows, 10)?;
    kit.jurat.cut(&kit.yardstick, &data, n_rows.div_ceil(SHARDS))?;
    let costs: Vec<Cost> = (0..ROUNDS).map(|_| kit.jurat.merge(&kit.yardstick, &data)).collect::<Result<_, _>>()?;
    let per_case: Vec<f64> = costs.iter().map(|it| it.wall.as_secs_f64() * 1e6 / n_rows as f64).collect();
    let peaks: Vec<f64> = costs.iter().map(|it| it.peak_mb).collect();
    Ok(vec![
        Figure::new(format!("{name}: per case, least of {ROUNDS}"), least(&per_case), Unit::Microseconds)
            .target(Target::AtMost(MOST_US)),
        Figure::new(format!("peak memory: {name}"), most(&peaks), Unit::Megabytes).target(Target::AtMost(MOST_MB)),
    ])
}

/// Rounds of one process and of two take turns, so that both meet the same neighbours.
fn processes(kit: &Kit, name: &str, n_rows: u64) -> Result<Vec<Figure>, Failure> {
    let data = kit.yardstick.records(kit.scratch.directory("processes")?, "nested", n_rows, 10)?;
    let seconds = |n: u64, data: &Data| kit.jurat.on_processes(&kit.yardstick, data, n).map(|it| it.wall.as_secs_f64());
    let (mut one, mut two) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        one.push(seconds(1, &data)?);
        two.push(seconds(2, &data)?);
    }
    let reference = Reference {
        name: "one process".to_owned(),
        value: least(&one),
        ratio: least(&two) / least(&one),
        noise: Some(spread(&one)),
    };
    fs::remove_dir_all(&data.directory).map_err(|error| Failure::new(format!("cannot remove the data: {error}")))?;
    let figure = Figure::new(format!("{name}, least of {ROUNDS}"), least(&two), Unit::Seconds);
    Ok(vec![figure.target(Target::Ratio(MOST_OF_ONE)).reference(reference)])
}
