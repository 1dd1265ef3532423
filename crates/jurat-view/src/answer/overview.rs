//! The overview of a run.

use jurat_engine::view::RunListing;
use jurat_report::{CaseWriter as _, JsonWriter, Scope};
use jurat_store::RunName;

use super::{Answer, Failure, Shown, Work};
use crate::page::live::is_live;
use crate::page::overview::{self, OverviewPage};

pub(super) fn answer(work: &Work<'_>, shown: &Shown<'_>) -> Result<Answer, Failure> {
    let report = shown.view.report()?;
    let text = |it: &jurat_store::run::Document| Some((it.name.clone(), String::from_utf8(it.body.clone()).ok()?));
    let documents = shown.view.head().documents.iter().filter_map(text).collect();
    let page = OverviewPage { run: shown.id.to_owned(), report, live: live_run(work, shown), documents };
    Ok(Answer::of(work.form, || overview::page(&page), || json(&page)))
}

/// How far a run has come that has not ended.
pub(super) fn live_run(work: &Work<'_>, shown: &Shown<'_>) -> Option<RunListing> {
    let path = shown.view.reader().path().to_owned();
    let listing = work.shared.listing(&RunName { id: shown.id.to_owned(), path });
    Some(listing).filter(|it| is_live(&it.entry.condition))
}

/// The report of the run without its cases, as `jurat show --json` has it.
fn json(page: &OverviewPage) -> String {
    let mut out = Vec::new();
    // Writing to memory cannot fail.
    let _ = JsonWriter::new(&mut out, &page.report, Scope::Everything).and_then(|mut writer| writer.end());
    String::from_utf8_lossy(&out).into_owned()
}
