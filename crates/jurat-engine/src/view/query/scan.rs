//! Looking into rows, answers and messages, case by case, for as long as the caller wants.

use jurat_core::effect::Asker;
use jurat_format::value::{Val, parse_json};
use jurat_store::run::{RunFileError, StoredCase};

use super::mask::Mask;
use super::select::case_ix;
use super::term::{Needle, PathTest, RowTest};
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

type Holds<'h> = dyn Fn(u32, &mut dyn FnMut(&RowTest) -> Result<bool, ViewError>) -> Result<bool, ViewError> + 'h;

pub(super) fn scan(
    view: &RunView,
    candidates: &Mask,
    from: u32,
    seeking: &mut dyn Seeking,
    holds: &Holds<'_>,
) -> Result<Scanned, ViewError> {
    let mut scanned = Scanned::default();
    for case in candidates.cases().filter(|it| *it >= from) {
        if seeking.is_enough() {
            scanned.next = Some(case);
            return Ok(scanned);
        }
        let Some(stored) = view.reader().case(case_ix(case))? else { continue };
        let mut looked = Looked { view, case: &stored, row: None };
        let held = holds(case, &mut |test| looked.holds(test));
        match held {
            Ok(true) => seeking.found(case),
            Ok(false) => {}
            Err(ViewError::File(RunFileError::SourceChanged { .. } | RunFileError::SourceUnreadable { .. })) => {
                scanned.unreadable += 1;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(scanned)
}

/// A case that is looked into. Its row is read once.
struct Looked<'l> {
    view: &'l RunView,
    case: &'l StoredCase,
    row: Option<String>,
}

impl Looked<'_> {
    fn row(&mut self) -> Result<&str, ViewError> {
        if self.row.is_none() {
            self.row = Some(self.view.reader().row_text(self.case)?);
        }
        Ok(self.row.as_deref().unwrap_or_default())
    }

    fn holds(&mut self, test: &RowTest) -> Result<bool, ViewError> {
        match test {
            RowTest::Why(needles) => Ok(self.has_reason(needles)),
            RowTest::Text(needles) => Ok(has_text(self.row()?, needles) || self.has_answer(needles)?),
            RowTest::Path { path, test } => {
                let row = parse_json(self.row()?);
                let found = row.as_ref().ok().and_then(|it| path.find(&it.value).ok());
                Ok(found.is_some_and(|it| fits(&it, test)))
            }
        }
    }

    /// Messages, explanations and what was expected and found, where they are stored.
    fn has_reason(&self, needles: &[Needle]) -> bool {
        let texts =
            self.case.details.iter().flat_map(|(_, it)| [&it.message, &it.explanation, &it.found, &it.expected]);
        texts.flatten().any(|text| needles.iter().any(|it| it.is_in(text)))
    }

    /// What the subject answered, where it was asked.
    fn has_answer(&self, needles: &[Needle]) -> Result<bool, ViewError> {
        if self.view.plan().ask.is_none() {
            return Ok(false);
        }
        let effects = self.view.reader().effects_of(self.case.case_ix)?;
        Ok(effects.iter().filter(|it| it.site.asker == Asker::Case).any(|it| has_text(&it.outcome, needles)))
    }
}

/// Whether a string inside of a JSON text has one of the texts. Keys are left out.
fn has_text(json: &str, needles: &[Needle]) -> bool {
    let lower = json.to_ascii_lowercase();
    let mut likely = needles.iter().filter(|it| lower.contains(&it.probe)).peekable();
    if likely.peek().is_none() {
        return false;
    }
    let likely: Vec<&Needle> = likely.collect();
    let Ok(parsed) = parse_json(json) else { return likely.iter().any(|it| it.is_in(json)) };
    in_value(&parsed.value, &likely)
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
            globs.iter().any(|it| it.fits(&text))
        }
    }
}
