//! A run in one line, for lists of runs: from its file alone, without reading its suite again.

use std::path::Path;

use jurat_core::report::{RunCondition, RunEntry};
use jurat_core::suite::Gate;
use jurat_store::RunName;
use jurat_store::run::{Column, Ended, RunFileError, RunReader, StoredSummary};

use super::totals;

/// A run as a list of runs shows it. A file that cannot be read is listed with the reason.
pub fn listed(name: &RunName) -> RunEntry {
    entry(&name.path).unwrap_or_else(|error| RunEntry {
        id: name.id.clone(),
        file: name.path.display().to_string(),
        suite: String::new(),
        started_at_ms: None,
        cases: None,
        pass_rate: None,
        condition: RunCondition::Unreadable(error.to_string()),
    })
}

fn entry(path: &Path) -> Result<RunEntry, RunFileError> {
    let reader = RunReader::open(path)?;
    let summary = reader.summary()?;
    let whole: Vec<&StoredSummary> = summary.iter().filter(|it| it.slice.is_empty()).collect();
    let head = reader.head();
    let gates: Vec<Gate> = head.tasks.iter().map(|it| Gate::named(&it.gate).unwrap_or_default()).collect();
    let cases = whole.iter().find(|it| it.column == Column::CASE).map_or(0, |it| it.counts.iter().sum());
    let counts = totals::counts(&gates, &whole);
    let ended = reader.state()?.finish.map(|it| it.ended);
    let condition = match (ended, totals::stopped(ended, &counts, &totals::cases(&whole))) {
        (_, Some(reason)) => RunCondition::Stopped(reason),
        (None, _) if reader.is_being_written() => RunCondition::Running,
        (None, _) => RunCondition::Killed,
        (Some(Ended::Failed | Ended::DuplicateIds), _) => RunCondition::Failed,
        (Some(Ended::Done | Ended::Stopped(_)), _) => RunCondition::Done,
    };
    Ok(RunEntry {
        id: head.id.clone(),
        file: path.display().to_string(),
        suite: head.suite.clone(),
        started_at_ms: Some(head.created_at_ms),
        cases: Some(cases),
        pass_rate: counts.pass_rate(),
        condition,
    })
}
