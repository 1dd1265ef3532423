//! A run of one record: what every run pays before and after its work.

use std::time::Duration;

use super::figure::{Figure, Reference, Target, Unit};
use super::{Kit, Lines};
use crate::rounds::least;
use chores::chore::Failure;

/// The most milliseconds.
const MOST_MS: f64 = 20.0;

/// Noise only adds, so the least of many is what it takes.
const ROUNDS: usize = 20;

/// What starting and ending takes.
pub(super) struct Startup {
    pub(super) wall: Duration,
    pub(super) cpu: Duration,
}

pub(super) fn measure(kit: &Kit, lines: &mut Lines) {
    lines.add("start-up", figures(kit));
}

/// The least of so many runs of one record.
pub(super) fn startup(kit: &Kit, n_rounds: usize) -> Result<Startup, Failure> {
    let data = kit.yardstick.records(kit.scratch.directory("one")?, "nested", 1, 0)?;
    let mut least = Startup { wall: Duration::MAX, cpu: Duration::MAX };
    for _ in 0..n_rounds {
        let cost = kit.jurat.judge(&kit.yardstick, &data)?.cost;
        least = Startup { wall: least.wall.min(cost.wall), cpu: least.cpu.min(cost.cpu) };
    }
    Ok(least)
}

fn figures(kit: &Kit) -> Result<Vec<Figure>, Failure> {
    let place = kit.scratch.directory("nothing")?;
    let mut nothing = Vec::new();
    let mut ours = Vec::new();
    for _ in 0..ROUNDS {
        nothing.push(kit.yardstick.nothing(&place)?.wall.as_secs_f64() * 1e3);
        ours.push(startup(kit, 1)?.wall.as_secs_f64() * 1e3);
    }
    let (reached, value) = (least(&ours), least(&nothing));
    // How much the longest of the rounds took says nothing here: only the least is used.
    let reference = Reference { name: "empty program".to_owned(), value, ratio: reached / value, noise: None };
    let figure = Figure::new(format!("start-up: one record, least of {ROUNDS}"), reached, Unit::Milliseconds);
    Ok(vec![figure.target(Target::AtMost(MOST_MS)).reference(reference)])
}
