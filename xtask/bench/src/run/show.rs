//! Reading a large run: its summary, one case, and the cases that a task failed.

use super::figure::{Figure, Target, Unit, grouped};
use super::yardstick::Data;
use super::{Kit, Lines};
use crate::rounds::least;
use chores::chore::Failure;

/// The most seconds.
const MOST_S: f64 = 0.5;

const ROUNDS: usize = 5;

/// A task of the suite.
const TASK: &str = "says_when";

pub(super) fn measure(kit: &Kit, lines: &mut Lines) {
    let n_rows = if kit.is_quick { 100_000 } else { 1_000_000 };
    let name = format!("run of {} records", grouped(n_rows));
    let data = match recorded(kit, n_rows, &name) {
        Ok(data) => data,
        Err(failure) => return lines.add(&name, Err(failure)),
    };
    let views: [(&str, &[&str], &str); 3] = [
        ("summary", &[], TASK),
        ("one case", &["--case", &data.middle], &data.middle),
        ("failures of a task", &["--task", TASK, "--verdict", "failed"], TASK),
    ];
    for (view, words, shown) in views {
        let name = format!("{name}: {view}, least of {ROUNDS}");
        let seconds: Result<Vec<f64>, Failure> = (0..ROUNDS).map(|_| seconds(kit, &data, words, shown)).collect();
        let figure = |it: Vec<f64>| Figure::new(&name, least(&it), Unit::Seconds).target(Target::AtMost(MOST_S));
        lines.add(&name, seconds.map(|it| vec![figure(it)]));
    }
}

/// Runs a suite over rows of which a tenth fails, and leaves its run file.
fn recorded(kit: &Kit, n_rows: u64, name: &str) -> Result<Data, Failure> {
    eprintln!("{name}: running it");
    let data = kit.yardstick.records(kit.scratch.directory("shown")?, "nested", n_rows, 10)?;
    if kit.jurat.judge(&kit.yardstick, &data)?.is_stored {
        Ok(data)
    } else {
        Err(Failure::new("there is no run file: this jurat stored nothing"))
    }
}

/// How long one view takes. It must show this text, or it did something else.
fn seconds(kit: &Kit, data: &Data, words: &[&str], shown: &str) -> Result<f64, Failure> {
    let cost = kit.jurat.show(&kit.yardstick, &data.directory, words)?;
    if cost.said()?.contains(shown) {
        Ok(cost.wall.as_secs_f64())
    } else {
        Err(Failure::new(format!("`jurat show latest {}` does not show `{shown}`", words.join(" "))))
    }
}
