//! Judges: many calls at once of an endpoint that takes its time.
//!
//! The reference is a program that only moves bytes, because on a small machine even that does not reach the ideal. What
//! the endpoint saw is a part of the result: a run that asks more at once than it may is not fast but wrong.

use std::path::Path;
use std::time::Duration;

use super::figure::{Figure, Reference, Target, Unit, grouped};
use super::jurat::forget;
use super::memory::{self, Peaks};
use super::startup::{Startup, startup};
use super::yardstick::{Cost, Endpoint, Tally};
use super::{Kit, Lines};
use crate::rounds::{least, median, ratio, spread};
use chores::chore::Failure;

/// How many calls may be in flight at once.
const AT_ONCE: [u64; 3] = [50, 100, MOST_AT_ONCE];

/// Where it is about memory or about many calls, as many as this at once.
pub(super) const MOST_AT_ONCE: u64 = 500;

/// How many calls each of them gets, one after another.
const CALLS_EACH: u64 = 20;

const LATENCY: Duration = Duration::from_millis(200);

/// The most time, as a multiple of the bare load's.
const MOST_TIME: f64 = 1.05;

/// The most microseconds of CPU that a call may take.
const MOST_US: f64 = 100.0;

/// For the runs that are about memory: 100,000 calls in well under a minute, if the machine keeps up.
const SHORT_LATENCY: Duration = Duration::from_millis(100);

pub(super) fn measure(kit: &Kit, lines: &mut Lines) {
    for at_once in AT_ONCE {
        let name = format!("judges, {at_once} at once");
        lines.add(&name, calls(kit, at_once, &name));
    }
    lines.add("judges: peak memory", memory(kit));
}

/// What pairs of rounds gave.
#[derive(Default)]
struct Pairs {
    /// Seconds, net of start-up.
    ours_s: Vec<f64>,
    bare_s: Vec<f64>,
    /// Microseconds of CPU per call, net of start-up.
    ours_us: Vec<f64>,
    bare_us: Vec<f64>,
    tallies: Vec<Tally>,
}

impl Pairs {
    fn figures(&self, at_once: u64, name: &str) -> Vec<Figure> {
        let bare = |ours: &[f64], bare: &[f64], value: f64| Reference {
            name: "bare load".to_owned(),
            value,
            ratio: ratio(ours, bare),
            noise: Some(spread(bare)),
        };
        let time = bare(&self.ours_s, &self.bare_s, median(self.bare_s.clone()));
        let cpu = bare(&self.ours_us, &self.bare_us, least(&self.bare_us));
        // Of several runs, the one that is furthest from what was asked for.
        let furthest = self.tallies.iter().map(|it| it.peak).max_by_key(|it| it.abs_diff(at_once)).unwrap_or(0);
        let connections = self.tallies.iter().map(|it| it.connections).max().unwrap_or(0);
        vec![
            Figure::new(format!("{name}: time net of start-up"), median(self.ours_s.clone()), Unit::Seconds)
                .target(Target::Ratio(MOST_TIME))
                .reference(time),
            Figure::new(format!("{name}: CPU per call"), least(&self.ours_us), Unit::Microseconds)
                .target(Target::AtMost(MOST_US))
                .reference(cpu),
            Figure::new(format!("{name}: most in flight"), furthest as f64, Unit::Requests)
                .target(Target::Exactly(at_once as f64)),
            Figure::new(format!("{name}: connections"), connections as f64, Unit::Connections)
                .target(Target::AtMost(at_once as f64)),
        ]
    }
}

fn calls(kit: &Kit, at_once: u64, name: &str) -> Result<Vec<Figure>, Failure> {
    let n_rounds = if kit.is_quick { 3 } else { 5 };
    let n_calls = at_once * CALLS_EACH;
    let endpoint = kit.yardstick.endpoint(LATENCY)?;
    let directory = kit.scratch.directory("riddles")?;
    kit.yardstick.questions(&directory, n_calls, &endpoint)?;
    let startup = startup(kit, 5)?;
    let mut pairs = Pairs::default();
    for round in 1..=n_rounds {
        eprintln!("{name}: round {round} of {n_rounds}");
        endpoint.reset()?;
        let load = kit.yardstick.load(&directory, &endpoint, n_calls, at_once)?;
        counted(&endpoint, n_calls, "the bare load")?;
        let (cost, tally) = asked(kit, &directory, &endpoint, n_calls, at_once)?;
        pairs.bare_s.push(load.wall.as_secs_f64());
        pairs.bare_us.push(load.cost.cpu_us() / n_calls as f64);
        pairs.ours_s.push(cost.wall.saturating_sub(startup.wall).as_secs_f64());
        pairs.ours_us.push(cpu_per_call(&cost, &startup, n_calls));
        pairs.tallies.push(tally);
    }
    Ok(pairs.figures(at_once, name))
}

fn cpu_per_call(cost: &Cost, startup: &Startup, n_calls: u64) -> f64 {
    cost.cpu.saturating_sub(startup.cpu).as_secs_f64() * 1e6 / n_calls as f64
}

/// Peak memory of few calls and of many.
fn memory(kit: &Kit) -> Result<Vec<Figure>, Failure> {
    let (few, many) = if kit.is_quick { (1_000, 10_000) } else { (1_000, 100_000) };
    let endpoint = kit.yardstick.endpoint(SHORT_LATENCY)?;
    let peaks_of_few = peaks(kit, &endpoint, few, 3)?;
    let peaks_of_many = peaks(kit, &endpoint, many, 1)?;
    let (few, many) = (Peaks { n: few, rounds: &peaks_of_few }, Peaks { n: many, rounds: &peaks_of_many });
    Ok(vec![memory::figure(&format!("judges, {MOST_AT_ONCE} at once"), &few, &many)])
}

fn peaks(kit: &Kit, endpoint: &Endpoint, n_calls: u64, n_rounds: usize) -> Result<Vec<f64>, Failure> {
    let directory = kit.scratch.directory("riddles")?;
    kit.yardstick.questions(&directory, n_calls, endpoint)?;
    let rounds = (1..=n_rounds).map(|round| {
        eprintln!("peak memory of {} calls: round {round} of {n_rounds}", grouped(n_calls));
        asked(kit, &directory, endpoint, n_calls, MOST_AT_ONCE).map(|(cost, _)| cost.peak_mb)
    });
    rounds.collect()
}

/// Runs jurat as if it had never asked anything, and checks that it asked for every row once.
pub(super) fn asked(
    kit: &Kit,
    directory: &Path,
    endpoint: &Endpoint,
    n_calls: u64,
    at_once: u64,
) -> Result<(Cost, Tally), Failure> {
    forget(directory)?;
    endpoint.reset()?;
    let run = kit.jurat.ask(&kit.yardstick, directory, at_once)?;
    Ok((run.cost, counted(endpoint, n_calls, "`jurat run`")?))
}

/// What the endpoint saw, if that is as many requests as there should be.
pub(super) fn counted(endpoint: &Endpoint, n_calls: u64, who: &str) -> Result<Tally, Failure> {
    let tally = endpoint.tally()?;
    if tally.requests == n_calls {
        Ok(tally)
    } else {
        let requests = grouped(tally.requests);
        Err(Failure::new(format!("{who} made {requests} requests instead of {}", grouped(n_calls))))
    }
}
