//! The list of runs.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::time::{Duration, Instant};

use jurat_core::report::RunCondition;
use jurat_engine::view::{RunListing, RunView, listed_interval};
use jurat_report::runs::write_json;
use jurat_store::RunName;

use super::{Answer, Failure, Shared, Work};
use crate::library::Meant;
use crate::page::runs::{self, Previous, RunFacts, RunRow, RunsPage, Trend};
use crate::route;

/// How many runs a page has.
const PAGE: usize = 50;

/// How many runs are opened to fill a page that shows only some of them.
const MOST_OPENED: usize = 500;

/// How many older runs are opened to find what those of a page are compared with.
const MOST_OLDER: usize = 100;

/// How many pass rates a line has.
const MOST_RATES: usize = 20;

/// How long suites of runs are read for one page. Those that are not reached are read for the next one.
const READING_TIME: Duration = Duration::from_millis(500);

/// The runs of at most this many cases are read for their conclusions; larger ones say it on their own pages.
const MOST_CASES: u64 = 100_000;

pub(super) fn answer(work: &Work<'_>, list: &route::Runs) -> Result<Answer, Failure> {
    let names = work.shared.library.runs().map_err(Failure::Unreadable)?;
    let Walked { rows, next, trends } = walk(work.shared, &names, list);
    let entries: Vec<_> = rows.iter().map(|it| it.listing.entry.clone()).collect();
    let page = RunsPage { list: list.clone(), rows, trends, n_runs: names.len(), next };
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

/// What a page of the list has, from the newest run to the oldest.
#[derive(Default)]
struct Walked {
    rows: Vec<RunRow>,
    /// Where the next page begins.
    next: Option<u64>,
    trends: Vec<Trend>,
}

fn walk(shared: &Shared, names: &[RunName], list: &route::Runs) -> Walked {
    let start = Instant::now();
    let (mut walked, mut older) = (Walked::default(), Older::default());
    let (mut n_opened, mut n_older) = (0, 0);
    for (ix, name) in names.iter().enumerate().skip(usize::try_from(list.from).unwrap_or(usize::MAX)) {
        let is_full = walked.rows.len() == PAGE || n_opened == MOST_OPENED;
        if is_full {
            walked.next.get_or_insert(ix as u64);
            n_older += 1;
        }
        if n_older > MOST_OLDER || (is_full && !older.is_wanted()) {
            break;
        }
        if name.never_began() {
            continue;
        }
        n_opened += 1;
        let listing = shared.listing(name);
        older.meet(&mut walked.rows, name, &listing);
        if !is_full && is_meant(list, &listing) {
            older.expect(walked.rows.len(), &listing);
            let facts = if start.elapsed() < READING_TIME { shared.facts(&listing) } else { RunFacts::default() };
            walked.rows.push(RunRow { id: name.id.clone(), listing, facts, previous: None, is_base: false });
        }
    }
    mark_bases(shared, &mut walked.rows);
    walked.trends = older.trends();
    walked
}

/// What rows wait for while older runs are met.
#[derive(Default)]
struct Older {
    /// The rows without a run before them, by the hash of their suite.
    waiting: HashMap<String, Vec<usize>>,
    /// Pass rates of the suites on the page, the newest first.
    rates: BTreeMap<String, Vec<f64>>,
}

impl Older {
    fn expect(&mut self, row: usize, listing: &RunListing) {
        if !listing.suite_hash.is_empty() {
            self.waiting.entry(listing.suite_hash.clone()).or_default().push(row);
        }
        let rates = self.rates.entry(listing.entry.suite.clone()).or_default();
        if let Some(rate) = finished_rate(listing).filter(|_| rates.is_empty()) {
            rates.push(rate);
        }
    }

    /// Takes in a run that is older than all before it.
    fn meet(&mut self, rows: &mut [RunRow], name: &RunName, listing: &RunListing) {
        let Some(pass_rate) = finished_rate(listing) else { return };
        for row in self.waiting.remove(&listing.suite_hash).unwrap_or_default() {
            rows[row].previous = Some(Previous { id: name.id.clone(), pass_rate });
        }
        if let Some(rates) = self.rates.get_mut(&listing.entry.suite).filter(|it| it.len() < MOST_RATES) {
            rates.push(pass_rate);
        }
    }

    fn is_wanted(&self) -> bool {
        self.waiting.values().any(|it| !it.is_empty())
    }

    /// Lines of suites that ran more than once.
    fn trends(self) -> Vec<Trend> {
        let several = self.rates.into_iter().filter(|(_, it)| it.len() > 1);
        several.map(|(suite, rates)| Trend { suite, rates: rates.into_iter().rev().collect() }).collect()
    }
}

fn finished_rate(listing: &RunListing) -> Option<f64> {
    listing.entry.pass_rate.filter(|_| listing.entry.condition == RunCondition::Done)
}

/// Marks the runs that the gates of others name as their base.
fn mark_bases(shared: &Shared, rows: &mut [RunRow]) {
    let mut bases: Vec<String> = rows.iter().filter_map(|it| it.facts.base.clone()).collect();
    bases.sort_unstable();
    bases.dedup();
    for base in bases {
        let id = match shared.library.find(&base) {
            Ok(Meant::Run(found)) => found.id,
            Ok(Meant::Id(id)) => id,
            _ => continue,
        };
        rows.iter_mut().filter(|it| it.id == id).for_each(|it| it.is_base = true);
    }
}

/// The run before one, for its overview.
pub(super) fn previous(shared: &Shared, id: &str, suite_hash: &str) -> Option<Previous> {
    let names = shared.library.runs().ok()?;
    let after = names.iter().skip_while(|it| it.id != id).skip(1).filter(|it| !it.never_began()).take(MOST_OLDER);
    after.into_iter().find_map(|name| {
        let listing = shared.listing(name);
        let pass_rate = finished_rate(&listing).filter(|_| listing.suite_hash == suite_hash)?;
        Some(Previous { id: name.id.clone(), pass_rate })
    })
}

/// The first page of the list, for events.
pub(super) fn newest(shared: &Shared) -> Vec<RunRow> {
    let names = shared.library.runs().unwrap_or_default();
    walk(shared, &names, &route::Runs::default()).rows
}

/// Reads a run that has ended.
pub(super) fn facts(listing: &RunListing, path: &Path) -> RunFacts {
    let interval = || listed_interval(listing, path);
    if listing.entry.cases.unwrap_or_default() > MOST_CASES {
        return RunFacts { interval: interval(), ..RunFacts::default() };
    }
    let Ok(view) = RunView::open(path) else { return RunFacts { interval: interval(), ..RunFacts::default() } };
    RunFacts {
        interval: interval(),
        conclusion: view.report().ok().map(|it| it.decision.conclusion),
        subjects: subjects(&view),
        base: view.suite().gates.as_ref().and_then(|it| it.base.as_ref()).map(|it| it.value.clone()),
    }
}

/// Who was asked: the models of variants, else those of the suite, else its agents.
fn subjects(view: &RunView) -> Vec<String> {
    let mut names: Vec<String> = view.head().variants.iter().map(|it| it.subject.clone()).collect();
    names.retain(|it| !it.is_empty());
    if let Some(ask) = view.plan().ask.as_ref().filter(|_| names.is_empty()) {
        let roles = &view.suite().models;
        names = ask
            .models
            .iter()
            .flat_map(|name| {
                let role = roles.iter().find(|it| it.name.value == *name);
                role.map_or_else(
                    || vec![name.clone()],
                    |it| it.models.iter().map(|it| it.model.value.clone()).collect(),
                )
            })
            .collect();
    }
    if names.is_empty() {
        names = view.suite().agents.iter().map(|it| it.name.value.clone()).collect();
    }
    let mut seen = std::collections::HashSet::new();
    names.retain(|it| seen.insert(it.clone()));
    names
}

fn is_meant(list: &route::Runs, listing: &RunListing) -> bool {
    let entry = &listing.entry;
    let text = list.q.to_lowercase();
    let has_text = text.is_empty() || [&entry.id, &entry.suite].iter().any(|it| it.to_lowercase().contains(&text));
    has_text && list.suite.as_ref().is_none_or(|it| *it == entry.suite)
}
