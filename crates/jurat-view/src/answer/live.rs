//! What events say about runs that have not ended.

use jurat_core::report::RunCondition;
use jurat_engine::view::RunListing;
use serde_json::json;

use super::{Shared, runs};
use crate::library::Meant;
use crate::page::live::{case_bar, is_live, state};
use crate::page::runs::{RunRow, row_markup};

/// What events are about.
#[derive(Debug, Clone)]
pub(crate) enum About {
    Runs,
    Run(String),
}

/// What an event says about one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct News {
    pub(crate) id: String,
    /// The name of the event.
    pub(crate) event: &'static str,
    pub(crate) data: String,
    /// Whether the run may still change.
    pub(crate) is_live: bool,
}

/// What there is to say now.
pub(crate) fn news(shared: &Shared, about: &About) -> Vec<News> {
    match about {
        About::Run(name) => match shared.library.find(name) {
            Ok(Meant::Run(found)) => vec![of_run(&found.id, &shared.listing(&found))],
            _ => Vec::new(),
        },
        About::Runs => runs::newest(shared).into_iter().map(of_list).collect(),
    }
}

fn of_run(id: &str, listing: &RunListing) -> News {
    let is_live = is_live(&listing.entry.condition);
    let data = json!({
        "state": word(&listing.entry.condition),
        "cases": listing.entry.cases.unwrap_or_default(),
        "done": listing.progress.as_ref().map(|it| it.done),
        "expected": listing.expected_cases,
        "resumed": listing.is_resumed,
        "errors": listing.cases.error,
        "parts": { "state": state(id, listing).0, "cases": case_bar(id, &listing.cases).0 },
    });
    let event = if is_live { "progress" } else { "ended" };
    News { id: id.to_owned(), event, data: data.to_string(), is_live }
}

fn of_list(row: RunRow) -> News {
    let condition = &row.listing.entry.condition;
    let data = json!({ "id": row.id, "state": word(condition), "row": row_markup(&row).0 });
    News { event: "run", data: data.to_string(), is_live: is_live(condition), id: row.id }
}

fn word(condition: &RunCondition) -> &'static str {
    match condition {
        RunCondition::Running => "running",
        RunCondition::Killed => "killed",
        RunCondition::Done => "done",
        RunCondition::Stopped(_) => "stopped",
        RunCondition::Failed => "failed",
        RunCondition::Unreadable(_) => "unreadable",
    }
}
