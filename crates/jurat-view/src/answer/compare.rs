//! Runs side by side.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use http::StatusCode;
use jurat_core::contrast::Comparison;
use jurat_engine::contrast::{CompareError, CompareOptions, ComparedSide, FindError, Selection, compare};
use jurat_report::comparison::write_json;

use super::{Answer, Failure, Kind, Work, absent};
use crate::changes::Compared;
use crate::library::Meant;
use crate::page::compare::{self as compare_page, ComparePage};
use crate::route::{self, Address, Form, Route};

/// How many sides are compared at a time.
const MOST_SIDES: usize = 6;
/// How many comparisons stay in memory, for further pages of them, and how many units the older of them may have: some twenty bytes each.
const REMEMBERED: usize = 4;
const REMEMBERED_UNITS: usize = 2_000_000;

/// Comparisons that were made before.
#[derive(Debug, Default)]
pub(crate) struct Comparisons(Mutex<VecDeque<(Identity, Arc<Compared>)>>);

/// What a comparison was made of: each side, and the state of its file.
type Identity = Vec<(String, Option<(u64, SystemTime)>)>;

/// A side of a comparison, found.
pub(super) struct FoundSide {
    pub(super) selection: Selection,
    pub(super) path: PathBuf,
}

pub(super) fn answer(work: &Work<'_>, wanted: &route::Compare) -> Result<Answer, Failure> {
    let sides = match sides(work, &wanted.base, &wanted.new)? {
        Sides::Found(sides) => sides,
        Sides::Elsewhere(base, new) => {
            let route = Route::Compare(route::Compare { base, new, ..wanted.clone() });
            let address = Address { route, form: work.form };
            return Ok(Answer::redirect(StatusCode::TEMPORARY_REDIRECT, address.to_string()));
        }
    };
    if sides.len() < 2 {
        return Ok(Answer::page(StatusCode::OK, &compare_page::choose(wanted)));
    }
    let opened = sides.iter().map(|it| ComparedSide::open(&it.path, &it.selection)).collect::<Result<Vec<_>, _>>()?;
    if work.form == Form::Json {
        let comparison = compare(&opened, &CompareOptions::default())?;
        return Ok(Answer::new(StatusCode::OK, Kind::Json, json(&comparison)));
    }
    let compared = work.shared.comparisons.made(&sides, &opened)?;
    let comparison = &compared.comparison;
    match compared.listed(&opened, &wanted.q, wanted.from) {
        Ok(listed) => {
            let page = ComparePage { wanted: wanted.clone(), comparison, listed: &listed, is_served: true };
            Ok(Answer::page(StatusCode::OK, &compare_page::page(&page)))
        }
        Err(FindError::Query(problem)) => {
            Ok(Answer::page(StatusCode::BAD_REQUEST, &compare_page::problem(wanted, comparison, &problem)))
        }
        Err(FindError::Compare(error)) => Err(error.into()),
    }
}

/// The comparison as `jurat compare --json` has it.
fn json(comparison: &Comparison) -> String {
    let mut out = Vec::new();
    // Writing to memory cannot fail.
    let _ = write_json(&mut out, comparison, false);
    String::from_utf8_lossy(&out).into_owned()
}

impl Comparisons {
    fn made(&self, sides: &[FoundSide], opened: &[ComparedSide]) -> Result<Arc<Compared>, CompareError> {
        let state = |it: &FoundSide| std::fs::metadata(&it.path).and_then(|it| Ok((it.len(), it.modified()?))).ok();
        let identity: Identity = sides.iter().map(|it| (it.selection.to_string(), state(it))).collect();
        let known = |all: &VecDeque<(Identity, Arc<Compared>)>| {
            all.iter().find(|it| it.0 == identity).map(|it| Arc::clone(&it.1))
        };
        if let Some(found) = known(&self.0.lock().unwrap_or_else(PoisonError::into_inner)) {
            return Ok(found);
        }
        let made = Arc::new(Compared::made(opened)?);
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.push_back((identity, Arc::clone(&made)));
        let is_too_much = |all: &VecDeque<(Identity, Arc<Compared>)>| {
            all.iter().map(|it| it.1.n_units()).sum::<usize>() > REMEMBERED_UNITS
        };
        while all.len() > 1 && (all.len() > REMEMBERED || is_too_much(&all)) {
            all.pop_front();
        }
        Ok(made)
    }
}

/// The sides that an address names.
pub(super) enum Sides {
    Found(Vec<FoundSide>),
    /// Some of them are written shorter than their ids: BASE and NEWs with whole ids.
    Elsewhere(String, Vec<String>),
}

pub(super) fn sides(work: &Work<'_>, base: &str, new: &[String]) -> Result<Sides, Failure> {
    let named: Vec<&str> =
        std::iter::once(base).chain(new.iter().map(String::as_str)).filter(|it| !it.is_empty()).collect();
    if named.len() > MOST_SIDES {
        return Err(Failure::Bad(format!("at most {MOST_SIDES} runs are compared at a time")));
    }
    let mut is_whole = true;
    let mut sides = Vec::new();
    for side in named {
        let mut selection = Selection::parse(side).map_err(|it| Failure::Bad(it.to_string()))?;
        let found = match work.shared.library.find(&selection.run).map_err(Failure::Unreadable)? {
            Meant::Run(found) => found,
            Meant::Id(id) => {
                is_whole = false;
                selection.run.clone_from(&id);
                match work.shared.library.find(&id).map_err(Failure::Unreadable)? {
                    Meant::Run(found) => found,
                    _ => return Err(absent()),
                }
            }
            Meant::Several(ids) => return Err(not_one(&format!("several runs begin with `{}`", selection.run), ids)),
            Meant::Unknown(near) => {
                return Err(not_one(&format!("there is no run `{}`", selection.run), near.into_iter().collect()));
            }
        };
        sides.push(FoundSide { selection, path: found.path });
    }
    if is_whole {
        return Ok(Sides::Found(sides));
    }
    let mut names = sides.iter().map(|it| it.selection.to_string());
    Ok(Sides::Elsewhere(names.next().unwrap_or_default(), names.collect()))
}

fn not_one(reason: &str, ids: Vec<String>) -> Failure {
    Failure::NotFound {
        reason: reason.to_owned(),
        meant: ids.into_iter().map(|it| (it.clone(), Route::overview(&it))).collect(),
    }
}

impl From<CompareError> for Failure {
    fn from(error: CompareError) -> Failure {
        match error {
            CompareError::View(error) => error.into(),
            error => Failure::Bad(error.to_string()),
        }
    }
}
