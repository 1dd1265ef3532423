//! A run in one line, for lists of runs: from its file alone, without reading its suite again.

use std::path::Path;
use std::time::Duration;

use jurat_core::report::{CaseCounts, RunCondition, RunEntry, interval};
use jurat_core::statistics::Interval;
use jurat_core::suite::Gate;
use jurat_core::verdict::{Counts, StopReason};
use jurat_store::RunName;
use jurat_store::run::{Column, Ended, RunFileError, RunReader, StoredSummary};

use super::independence::independence;
use super::{RunView, totals};
use crate::RunProgress;
use crate::definition::RESUMED;
use crate::tally::Whole;

/// A run in one line, with what a table of runs has room for.
#[derive(Debug, Clone, PartialEq)]
pub struct RunListing {
    pub entry: RunEntry,
    /// The hash of what its suite says.
    pub suite_hash: String,
    /// How often counted tasks ended how.
    pub counts: Counts,
    pub cases: CaseCounts,
    /// What its answers cost, as far as that is known.
    pub cost_usd: Option<f64>,
    /// How many answers have no known cost.
    pub n_unpriced: u64,
    /// How long it took; nothing for one that has not ended.
    pub wall: Option<Duration>,
    /// How many cases it will have, once that is known.
    pub expected_cases: Option<u64>,
    /// How far it has come, while it is in progress.
    pub progress: Option<RunProgress>,
    /// Whether it was resumed.
    pub is_resumed: bool,
}

/// A run as a list of runs shows it. A file that cannot be read is listed with the reason.
pub fn listed(name: &RunName) -> RunEntry {
    listing(name).entry
}

/// The same with more about it.
pub fn listing(name: &RunName) -> RunListing {
    read(&name.path).unwrap_or_else(|error| RunListing {
        entry: RunEntry {
            id: name.id.clone(),
            file: name.path.display().to_string(),
            suite: String::new(),
            started_at_ms: None,
            cases: None,
            pass_rate: None,
            condition: RunCondition::Unreadable(error.to_string()),
        },
        suite_hash: String::new(),
        counts: Counts::default(),
        cases: CaseCounts::default(),
        cost_usd: None,
        n_unpriced: 0,
        wall: None,
        expected_cases: None,
        progress: None,
        is_resumed: false,
    })
}

/// At most this many verdicts are looked at for the interval of one run in a list.
const MOST_VERDICTS: u64 = 500_000;

/// The interval of the pass rate of a run, as its report has it. `None` for a run that is too large to look at in a list, that stopped because of what it saw, or
/// that cannot be read.
pub fn listed_interval(listing: &RunListing, path: &Path) -> Option<Interval> {
    let view = RunView::open(path).ok()?;
    let tasks = view.reader.head().tasks.iter().zip(1..);
    let is_counted = |gate: &str| Gate::named(gate).unwrap_or_default() != Gate::Condition;
    let counted: Vec<Column> = tasks.filter(|(it, _)| is_counted(&it.gate)).map(|(_, ix)| Column(ix)).collect();
    let n_verdicts = listing.entry.cases.unwrap_or_default() * counted.len() as u64;
    let is_decided = matches!(listing.entry.condition, RunCondition::Stopped(StopReason::Decided));
    if n_verdicts > MOST_VERDICTS || is_decided {
        return None;
    }
    interval(&listing.counts, independence(&view, &counted, |_| true).ok()?)
}

fn read(path: &Path) -> Result<RunListing, RunFileError> {
    let reader = RunReader::open(path)?;
    let summary = reader.summary()?;
    let whole: Vec<&StoredSummary> = summary.iter().filter(|it| it.slice.is_empty()).collect();
    let head = reader.head();
    let gates: Vec<Gate> = head.tasks.iter().map(|it| Gate::named(&it.gate).unwrap_or_default()).collect();
    let of_cases = whole.iter().find(|it| it.column == Column::CASE);
    let n_cases = of_cases.map_or(0, |it| it.counts.iter().sum());
    let (counts, cases) = (totals::counts(&gates, &whole), totals::cases(&whole));
    let finish = reader.state()?.finish;
    let ended = finish.map(|it| it.ended);
    let condition = match (ended, totals::stopped(ended, &counts, &cases)) {
        (_, Some(reason)) => RunCondition::Stopped(reason),
        (None, _) if reader.is_being_written() => RunCondition::Running,
        (None, _) => RunCondition::Killed,
        (Some(Ended::Failed | Ended::DuplicateIds), _) => RunCondition::Failed,
        (Some(Ended::Done | Ended::Stopped(_)), _) => RunCondition::Done,
    };
    let entry = RunEntry {
        id: head.id.clone(),
        file: path.display().to_string(),
        suite: head.suite.clone(),
        started_at_ms: Some(head.created_at_ms),
        cases: Some(n_cases),
        pass_rate: counts.pass_rate(),
        condition,
    };
    let taken: Option<Whole> = of_cases.and_then(|it| totals::taken(it));
    let all = taken.map(|it| it.taken.all).unwrap_or_default();
    let progress = reader.progress()?.and_then(|it| serde_json::from_str(&it).ok());
    let is_resumed = head.documents.iter().any(|it| it.name == RESUMED);
    Ok(RunListing {
        expected_cases: reader.expected_cases()?,
        progress,
        is_resumed,
        entry,
        suite_hash: head.suite_hash.clone(),
        counts,
        cases,
        cost_usd: all.cost_usd(),
        n_unpriced: all.unpriced,
        wall: finish.map(|it| it.wall),
    })
}
