//! Looking into rows, answers and messages, case by case, for as long as the caller wants.

use std::ops::ControlFlow;

use jurat_core::effect::Asker;
use jurat_core::plan::CaseIx;
use jurat_format::value::{Val, parse_json};
use jurat_store::run::{RunFileError, StoredCase};

use super::mask::Mask;
use super::operand::Needle;
use super::select::case_ix;
use super::term::{PathTest, RowTest};
use crate::view::{RunView, ViewError};

/// Takes in what is found, and says when to stop.
pub trait Seeking {
    fn found(&mut self, case: u32);

    /// Whether to stop before the next case. It is asked often, and must be quick.
    fn is_enough(&mut self) -> bool {
        false
    }
}

impl Seeking for Vec<u32> {
    fn found(&mut self, case: u32) {
        self.push(case);
    }
}

/// How far a search came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Scanned {
    /// Where it goes on; `None` when it is at its end.
    pub next: Option<u32>,
    /// How many rows could not be read, because their file changed or is gone.
    pub unreadable: u64,
}

pub(super) type Holds<'h> =
    dyn Fn(u32, &mut dyn FnMut(&RowTest) -> Result<bool, ViewError>) -> Result<bool, ViewError> + 'h;

/// Looks into messages, case by case.
pub(super) fn cases(
    view: &RunView,
    candidates: &Mask,
    from: u32,
    seeking: &mut dyn Seeking,
    holds: &Holds<'_>,
) -> Result<Scanned, ViewError> {
    let mut scan = Scan { view, seeking, holds, scanned: Scanned::default() };
    for case in candidates.cases_from(from) {
        if scan.seeking.is_enough() {
            scan.scanned.next = Some(case);
            break;
        }
        scan.look(case, None)?;
    }
    Ok(scan.scanned)
}

/// Looks into rows, many of which are read at once.
pub(super) fn rows(
    view: &RunView,
    candidates: &Mask,
    from: u32,
    seeking: &mut dyn Seeking,
    holds: &Holds<'_>,
) -> Result<Scanned, ViewError> {
    let mut scan = Scan { view, seeking, holds, scanned: Scanned::default() };
    let mut failed = None;
    let is_wanted = |it: CaseIx| u32::try_from(it.number()).is_ok_and(|it| candidates.has(it));
    let range = case_ix(from)..CaseIx::ALL.end;
    view.reader().scan_rows(range, &is_wanted, &mut |it, row| {
        let case = it.number() as u32;
        if scan.seeking.is_enough() {
            scan.scanned.next = Some(case);
            return ControlFlow::Break(());
        }
        match scan.look(case, Some(row)) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                failed = Some(error);
                ControlFlow::Break(())
            }
        }
    })?;
    failed.map_or(Ok(scan.scanned), Err)
}

struct Scan<'s> {
    view: &'s RunView,
    seeking: &'s mut dyn Seeking,
    holds: &'s Holds<'s>,
    scanned: Scanned,
}

impl Scan<'_> {
    fn look(&mut self, case: u32, row: Option<Result<&[u8], RunFileError>>) -> Result<(), ViewError> {
        let mut looked = Looked { view: self.view, case, stored: None, row };
        match (self.holds)(case, &mut |test| looked.holds(test)) {
            Ok(true) => self.seeking.found(case),
            Ok(false) => {}
            Err(ViewError::File(RunFileError::SourceChanged { .. } | RunFileError::SourceUnreadable { .. })) => {
                self.scanned.unreadable += 1;
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

/// A case that is looked into. What is stored about it is read when a test needs it.
struct Looked<'l> {
    view: &'l RunView,
    case: u32,
    stored: Option<StoredCase>,
    /// Its row, or why it cannot be read.
    row: Option<Result<&'l [u8], RunFileError>>,
}

impl Looked<'_> {
    fn row(&mut self) -> Result<&str, ViewError> {
        let name = String::new;
        match self.row.take() {
            Some(Ok(bytes)) => {
                self.row = Some(Ok(bytes));
                Ok(std::str::from_utf8(bytes).map_err(|_| RunFileError::SourceChanged { name: name() })?)
            }
            Some(Err(error)) => Err(error.into()),
            None => Err(RunFileError::SourceChanged { name: name() }.into()),
        }
    }

    fn stored(&mut self) -> Result<Option<&StoredCase>, ViewError> {
        if self.stored.is_none() {
            self.stored = self.view.reader().case(case_ix(self.case))?;
        }
        Ok(self.stored.as_ref())
    }

    fn holds(&mut self, test: &RowTest) -> Result<bool, ViewError> {
        match test {
            RowTest::Visited(visited) => {
                let view = self.view;
                self.stored()?.map_or(Ok(false), |it| visited.holds(view, it))
            }
            RowTest::Why(needles) => Ok(self.stored()?.is_some_and(|it| has_reason(it, needles))),
            RowTest::Text(needles) => Ok(has_text(self.row()?, needles) || self.has_answer(needles)?),
            RowTest::Path { path, test } => {
                let row = parse_json(self.row()?);
                let found = row.as_ref().ok().and_then(|it| path.find(&it.value).ok());
                Ok(found.is_some_and(|it| fits(&it, test)))
            }
        }
    }

    /// What the subject answered, where it was asked.
    fn has_answer(&self, needles: &[Needle]) -> Result<bool, ViewError> {
        if self.view.plan().ask.is_none() {
            return Ok(false);
        }
        let effects = self.view.reader().effects_of(case_ix(self.case))?;
        Ok(effects.iter().filter(|it| it.site.asker == Asker::Case).any(|it| has_said(&it.outcome, needles)))
    }
}

/// Messages, explanations and what was expected and found, where they are stored.
fn has_reason(case: &StoredCase, needles: &[Needle]) -> bool {
    let texts = case.details.iter().flat_map(|(_, it)| [&it.message, &it.explanation, &it.found, &it.expected]);
    texts.flatten().any(|text| needles.iter().any(|it| it.is_in(text)))
}

/// Whether a string inside of a JSON text has one of the texts. Keys are left out.
fn has_text(json: &str, needles: &[Needle]) -> bool {
    let likely = likely(json, needles);
    match parse_json(json) {
        _ if likely.is_empty() => false,
        Ok(parsed) => in_value(&parsed.value, &likely),
        Err(_) => likely.iter().any(|it| it.is_in(json)),
    }
}

/// The members of a stored answer that were said. Others are about it: how likely its tokens were and which could have stood in their place, the model, the time.
const SAID: [&str; 4] = ["text", "reasoning", "tool_calls", "used"];

/// The same for what a stored outcome says: of an answer what was said, of a tool what it returned.
fn has_said(outcome: &str, needles: &[Needle]) -> bool {
    let likely = likely(outcome, needles);
    if likely.is_empty() {
        return false;
    }
    let Ok(parsed) = parse_json(outcome) else { return false };
    let answer = parsed.value.get("answer").into_iter().flat_map(|it| SAID.iter().filter_map(|key| it.get(key)));
    let returned = parsed.value.get("returned").and_then(|it| it.get("value"));
    answer.chain(returned).any(|it| in_value(it, &likely))
}

/// The texts that may be in a JSON text, by a quick look.
fn likely<'n>(json: &str, needles: &'n [Needle]) -> Vec<&'n Needle> {
    needles.iter().filter(|it| it.probe.is_in(json.as_bytes())).collect()
}

fn in_value(value: &Val<'_>, needles: &[&Needle]) -> bool {
    match value {
        Val::Str(text) => needles.iter().any(|it| it.is_in(text)),
        Val::List(items) => items.iter().any(|it| in_value(it, needles)),
        Val::Map(map) => map.iter().any(|(_, it)| in_value(it, needles)),
        Val::Null => false,
        Val::Bool(_) | Val::I(_) | Val::U(_) | Val::F(_) | Val::Big(_) => {
            let text = value.to_string();
            needles.iter().any(|it| it.is_in(&text))
        }
    }
}

fn fits(value: &Val<'_>, test: &PathTest) -> bool {
    match test {
        PathTest::Number(bound) => value.as_f64().is_some_and(|it| bound.holds(it)),
        PathTest::Text(globs) => {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            globs.iter().any(|it| it.fits(&text)) || has_item(value, test)
        }
    }
}

/// Whether an item of a list fits: `row.tags=critical`.
fn has_item(value: &Val<'_>, test: &PathTest) -> bool {
    matches!(value, Val::List(items) if items.iter().any(|it| fits(it, test)))
}
