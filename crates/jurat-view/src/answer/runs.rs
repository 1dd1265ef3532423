//! The list of runs. Of all runs only those of one page are opened.

use jurat_engine::view::RunListing;
use jurat_report::runs::write_json;

use super::{Answer, Failure, Work};
use crate::page::runs::{self, RunsPage};
use crate::route;

/// How many runs a page has.
pub(crate) const PAGE: usize = 50;

/// How many runs are opened to fill a page that shows only some of them.
const MOST_OPENED: usize = 500;

pub(super) fn answer(work: &Work<'_>, list: &route::Runs) -> Result<Answer, Failure> {
    let names = work.shared.library.runs().map_err(Failure::Unreadable)?;
    let n_runs = names.len();
    let mut rest = names.iter().enumerate().skip(usize::try_from(list.from).unwrap_or(usize::MAX));
    let (mut listings, mut next) = (Vec::new(), None);
    for (n_opened, (ix, name)) in rest.by_ref().enumerate() {
        if listings.len() == PAGE || n_opened == MOST_OPENED {
            next = Some(ix as u64);
            break;
        }
        if name.never_began() {
            continue;
        }
        let listing = work.shared.listing(name);
        if is_meant(list, &listing) {
            listings.push((name.id.clone(), listing));
        }
    }
    let entries: Vec<_> = listings.iter().map(|(_, it)| it.entry.clone()).collect();
    let rows = listings.into_iter().map(|(id, listing)| work.shared.row(id, listing)).collect();
    let page = RunsPage { list: list.clone(), rows, n_runs, next };
    Ok(Answer::of(
        work.form,
        || runs::page(&page),
        || {
            let mut out = Vec::new();
            // Writing to memory cannot fail.
            let _ = write_json(&mut out, &entries);
            String::from_utf8_lossy(&out).into_owned()
        },
    ))
}

fn is_meant(list: &route::Runs, listing: &RunListing) -> bool {
    let entry = &listing.entry;
    let text = list.q.to_lowercase();
    let has_text = text.is_empty() || [&entry.id, &entry.suite].iter().any(|it| it.to_lowercase().contains(&text));
    has_text && list.suite.as_ref().is_none_or(|it| *it == entry.suite)
}
