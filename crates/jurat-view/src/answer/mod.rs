//! What a request is answered with: one function a page reads what the page needs, and renders it as a page or as data.

mod asked;
mod case;
mod cases;
mod compare;
mod compare_case;
mod cost;
mod flaky;
mod graph;
mod groups;
mod labelling;
pub(crate) mod live;
mod output;
mod overview;
mod queue;
mod runs;
mod slices;
mod table;

pub(crate) use case::{case_page, explained};
pub(crate) use cost::cost_page;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use http::StatusCode;
use jurat_core::report::RunCondition;
use jurat_engine::view::query::ColumnCache;
use jurat_engine::view::{RunListing, RunView, ViewError, listed_interval, listing};
use jurat_store::RunName;
use maud::Markup;

use crate::Library;
use crate::labels::Labels;
use crate::library::Meant;
use crate::page;
use crate::page::live::is_live;
use crate::page::runs::RunFacts;
use crate::percent::JSON;
use crate::route::{Address, BadAddress, Form, Route, RunPage};
use crate::serve::{Cancel, OpenRuns};

/// What all requests share, whichever thread they are worked on by.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) library: Library,
    comparisons: compare::Comparisons,
    pub(crate) columns: Arc<ColumnCache>,
    pub(crate) labels: Labels,
    listings: Mutex<HashMap<PathBuf, (u64, SystemTime, RunListing)>>,
    /// Of runs that have ended.
    facts: Mutex<HashMap<String, RunFacts>>,
    groups: groups::Passes,
}

/// What is sent back.
#[derive(Debug, PartialEq)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) kind: Kind,
    pub(crate) body: Vec<u8>,
    pub(crate) location: Option<String>,
    pub(crate) cookie: Option<String>,
}

/// What a body is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    Html,
    Json,
    /// Text of a run, or of ours.
    Text,
    /// A file of ours, of this type.
    Asset(&'static str),
    /// A file that a run left: saved under this name, never shown.
    Download(String),
}

impl Kind {
    pub(crate) fn content_type(&self) -> &'static str {
        match self {
            Kind::Html => "text/html; charset=utf-8",
            Kind::Json => "application/json; charset=utf-8",
            Kind::Text => "text/plain; charset=utf-8",
            Kind::Asset(it) => it,
            Kind::Download(_) => "application/octet-stream",
        }
    }
}

impl Answer {
    pub(crate) fn new(status: StatusCode, kind: Kind, body: impl Into<Vec<u8>>) -> Answer {
        Answer { status, kind, body: body.into(), location: None, cookie: None }
    }

    pub(crate) fn page(status: StatusCode, page: &Markup) -> Answer {
        Answer::new(status, Kind::Html, page.0.clone())
    }

    pub(crate) fn text(status: StatusCode, text: impl Into<Vec<u8>>) -> Answer {
        Answer::new(status, Kind::Text, text)
    }

    pub(crate) fn asset(content_type: &'static str, body: &'static str) -> Answer {
        Answer::new(StatusCode::OK, Kind::Asset(content_type), body)
    }

    pub(crate) fn redirect(status: StatusCode, location: String) -> Answer {
        Answer { location: Some(location), ..Answer::text(status, "") }
    }

    /// A page, or its data, whichever is wanted.
    fn of(form: Form, page: impl FnOnce() -> Markup, json: impl FnOnce() -> String) -> Answer {
        match form {
            Form::Html => Answer::page(StatusCode::OK, &page()),
            Form::Json => Answer::new(StatusCode::OK, Kind::Json, json()),
        }
    }
}

/// Why a page cannot be shown.
#[derive(Debug)]
pub(crate) enum Failure {
    /// There is no such thing; further addresses may be meant.
    NotFound { reason: String, meant: Vec<(String, Route)> },
    /// What is asked for cannot be meant.
    Bad(String),
    /// The run cannot be read.
    Unreadable(String),
}

impl From<ViewError> for Failure {
    fn from(error: ViewError) -> Failure {
        Failure::Unreadable(error.to_string())
    }
}

impl Failure {
    fn answer(&self, form: Form) -> Answer {
        let (status, reason) = match self {
            Failure::NotFound { reason, .. } => (StatusCode::NOT_FOUND, reason),
            Failure::Bad(reason) => (StatusCode::BAD_REQUEST, reason),
            Failure::Unreadable(reason) => (StatusCode::INTERNAL_SERVER_ERROR, reason),
        };
        if form == Form::Json {
            let body = serde_json::json!({ "version": 1, "error": reason });
            return Answer::new(status, Kind::Json, body.to_string());
        }
        let page = match self {
            Failure::NotFound { reason, meant } => page::error::not_found(reason, meant),
            Failure::Bad(reason) => page::error::bad(reason),
            Failure::Unreadable(reason) => page::error::unreadable(reason),
        };
        Answer::page(status, &page)
    }
}

impl Shared {
    pub(crate) fn new(library: Library, labels: Labels) -> Shared {
        Shared {
            library,
            labels,
            comparisons: compare::Comparisons::default(),
            columns: Arc::default(),
            listings: Mutex::default(),
            facts: Mutex::default(),
            groups: groups::Passes::default(),
        }
    }

    /// What is known of a run once its suite is read. That of a run that has ended is read once.
    fn facts(&self, listing: &RunListing) -> RunFacts {
        let (file, is_live) = (listing.entry.file.clone(), is_live(&listing.entry.condition));
        if is_live {
            let interval = listed_interval(listing, Path::new(&file));
            return RunFacts { interval, ..RunFacts::default() };
        }
        let known = self.facts.lock().unwrap_or_else(PoisonError::into_inner).get(&file).cloned();
        known.unwrap_or_else(|| {
            let facts = runs::facts(listing, Path::new(&file));
            self.facts.lock().unwrap_or_else(PoisonError::into_inner).insert(file, facts.clone());
            facts
        })
    }

    /// A run in one line. What has ended does not change, and is read once.
    pub(crate) fn listing(&self, name: &RunName) -> RunListing {
        let found = std::fs::metadata(&name.path).and_then(|it| Ok((it.len(), it.modified()?))).ok();
        let mut listings = self.listings.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((len, modified, listing)) = listings.get(&name.path)
            && found == Some((*len, *modified))
        {
            return listing.clone();
        }
        drop(listings);
        let listing = listing(name);
        let has_ended = !matches!(listing.entry.condition, RunCondition::Running | RunCondition::Killed);
        if let Some((len, modified)) = found.filter(|_| has_ended) {
            listings = self.listings.lock().unwrap_or_else(PoisonError::into_inner);
            listings.insert(name.path.clone(), (len, modified, listing.clone()));
        }
        listing
    }
}

pub(crate) use labelling::save as save_label;

/// What a request for an address is answered with.
pub(crate) fn answer(shared: &Shared, runs: &mut OpenRuns, cancel: &Cancel, address: &Address) -> Answer {
    let work = Work { shared, cancel, form: address.form };
    let answered = match &address.route {
        Route::Runs(list) => runs::answer(&work, list),
        Route::Run { run, page } => of_run(&work, runs, run, page),
        Route::Compare(wanted) => compare::answer(&work, wanted),
        Route::CompareCase(wanted) => compare_case::answer(&work, runs, wanted),
        Route::Events | Route::Labels | Route::Asset(_) => Err(absent()),
    };
    answered.unwrap_or_else(|failure| failure.answer(address.form))
}

/// What the functions of pages are given.
pub(crate) struct Work<'w> {
    pub(crate) shared: &'w Shared,
    /// Whether the answer is still wanted.
    pub(crate) cancel: &'w Cancel,
    pub(crate) form: Form,
}

/// A run that is shown.
pub(crate) struct Shown<'r> {
    /// The id in addresses.
    pub(crate) id: &'r str,
    pub(crate) view: &'r RunView,
}

fn of_run(work: &Work<'_>, runs: &mut OpenRuns, name: &str, page: &RunPage) -> Result<Answer, Failure> {
    let address = |run: &str| Route::Run { run: run.to_owned(), page: page.clone() };
    let found = match work.shared.library.find(name).map_err(Failure::Unreadable)? {
        Meant::Run(found) => found,
        Meant::Id(id) => {
            let address = Address { route: address(&id), form: work.form };
            return Ok(Answer::redirect(StatusCode::TEMPORARY_REDIRECT, address.to_string()));
        }
        Meant::Several(ids) => {
            let meant = ids.into_iter().map(|it| (it.clone(), address(&it))).collect();
            return Err(Failure::NotFound { reason: format!("several runs begin with `{name}`"), meant });
        }
        Meant::Unknown(near) => {
            let meant = near.into_iter().map(|it| (it.clone(), address(&it))).collect();
            return Err(Failure::NotFound { reason: format!("there is no run `{name}`"), meant });
        }
    };
    let shown = Shown { id: &found.id, view: opened(runs, &found.path)? };
    match page {
        RunPage::Overview => overview::answer(work, &shown),
        RunPage::Cases(route) => cases::answer(work, &shown, route),
        RunPage::Table(route) => table::answer(work, &shown, route),
        RunPage::Case(route) => case::answer(work, &shown, route),
        RunPage::Text(route) => case::text(&shown, route),
        RunPage::Output(route) => output::answer(work, &shown, route),
        RunPage::Graph => graph::answer(work, &shown),
        RunPage::Slices(route) => slices::answer(work, &shown, route),
        RunPage::Cost => cost::answer(work, &shown),
        RunPage::Flaky(route) => flaky::answer(work, &shown, route),
        RunPage::Label(route) => queue::answer(work, &shown, route),
        RunPage::Events => Err(absent()),
    }
}

/// The run with this id, for what names it exactly.
fn found_run(shared: &Shared, id: &str) -> Result<RunName, Failure> {
    match shared.library.find(id).map_err(Failure::Unreadable)? {
        Meant::Run(found) => Ok(found),
        _ => Err(Failure::NotFound { reason: format!("there is no run `{id}`"), meant: Vec::new() }),
    }
}

fn opened<'r>(runs: &'r mut OpenRuns, path: &Path) -> Result<&'r RunView, Failure> {
    Ok(runs.open(path)?)
}

fn absent() -> Failure {
    Failure::NotFound { reason: "there is no page at this address".to_owned(), meant: Vec::new() }
}

/// What an address that cannot be read is answered with, in the form that it asks for.
pub(crate) fn refused(path: &str, error: &BadAddress) -> Answer {
    let form = if path.ends_with(JSON) { Form::Json } else { Form::Html };
    let failure = match error {
        BadAddress::Unknown => Failure::NotFound { reason: error.to_string(), meant: Vec::new() },
        error => Failure::Bad(error.to_string()),
    };
    failure.answer(form)
}
