//! A run whose answers are all in the journal but one: how long until that one is asked for.
//!
//! The journal is made by asking for every row once, without latency. Then a row is added, first before all others and
//! then behind them, and the suite is run again.

use std::fs;
use std::path::Path;
use std::time::Duration;

use super::figure::{Figure, Target, Unit, grouped};
use super::judges::{MOST_AT_ONCE, asked, counted};
use super::scratch::write;
use super::yardstick::{Cost, Endpoint};
use super::{Kit, Lines};
use chores::chore::Failure;

/// The most seconds until the first new call.
const MOST_S: f64 = 2.0;

pub(super) fn measure(kit: &Kit, lines: &mut Lines) {
    let n_answers = if kit.is_quick { 100_000 } else { 1_000_000 };
    let name = format!("journal of {} answers", grouped(n_answers));
    lines.add(&name, figures(kit, n_answers, &name));
}

fn figures(kit: &Kit, n_answers: u64, name: &str) -> Result<Vec<Figure>, Failure> {
    let endpoint = kit.yardstick.endpoint(Duration::ZERO)?;
    let directory = kit.scratch.directory("riddles")?;
    kit.yardstick.questions(&directory, n_answers, &endpoint)?;
    eprintln!("{name}: asking for all of them");
    let (first, _) = asked(kit, &directory, &endpoint, n_answers, MOST_AT_ONCE)?;
    let per_answer = |it: &Cost| it.cpu_us() / n_answers as f64;
    let mut figures = vec![
        Figure::new(format!("{name}: CPU per answer that is asked for"), per_answer(&first), Unit::Microseconds)
            .note("start-up is in it; the endpoint has no latency"),
    ];
    let mut peak_mb: f64 = 0.0;
    let records = directory.join("records.jsonl");
    let known = read(&records)?;
    for (place, rows) in [("first", [new_row("before"), known.clone()]), ("last", [known, new_row("behind")])] {
        eprintln!("{name}: a new row comes {place}");
        write(&records, rows.concat())?;
        let (cost, waited) = asked_for_one(kit, &directory, &endpoint)?;
        figures.push(
            Figure::new(format!("{name}: until a new {place} row is asked for"), waited.as_secs_f64(), Unit::Seconds)
                .target(Target::AtMost(MOST_S)),
        );
        peak_mb = peak_mb.max(cost.peak_mb);
        figures.push(Figure::new(
            format!("{name}: CPU per answer that is known, new {place} row"),
            per_answer(&cost),
            Unit::Microseconds,
        ));
    }
    figures.push(Figure::new(format!("{name}: peak memory with all but one known"), peak_mb, Unit::Megabytes));
    Ok(figures)
}

/// Runs jurat with what it knows, and returns how long it took until the endpoint saw the one request.
fn asked_for_one(kit: &Kit, directory: &Path, endpoint: &Endpoint) -> Result<(Cost, Duration), Failure> {
    endpoint.reset()?;
    let run = kit.jurat.ask(&kit.yardstick, directory, MOST_AT_ONCE)?;
    let tally = counted(endpoint, 1, "`jurat run` with a journal")?;
    let seen = tally.first.ok_or_else(|| Failure::new("the endpoint does not say when it was asked"))?;
    let waited = seen.saturating_sub(run.cost.started);
    Ok((run.cost, waited))
}

/// A row that no run has seen, with the end of its line.
fn new_row(id: &str) -> Vec<u8> {
    format!("{{\"id\":\"{id}\",\"question\":\"Which town is {id} all others?\",\"answer\":\"Tromsø, as it is {id} them.\"}}\n")
        .into_bytes()
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(path).map_err(|error| Failure::new(format!("cannot read {}: {error}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_row_is_one_line_of_json() {
        let row = String::from_utf8(new_row("before")).unwrap();
        assert_eq!(row.lines().count(), 1);
        let row: serde_json::Value = serde_json::from_str(&row).unwrap();
        assert_eq!(row["id"], "before");
    }
}
