//! The names of cases, and which case a name means.

use std::path::Path;

use jurat_core::plan::{CaseIx, CaseSource};
use jurat_format::problem::{listed_all, nearest};
use jurat_store::run::{CaseIdentity, RowPlace, StoredCase};

use super::{ExplainError, RunView, ViewError};

/// How many cases are named when the one that is asked for is not there.
const EXAMPLES: usize = 5;

impl RunView {
    /// What a case is called: its id, or the file and the number of its row.
    pub fn name_of(&self, case: &CaseIdentity) -> String {
        self.named(&case.id, case.has_own_id, case.place)
    }

    /// The same for a case that was read whole.
    pub fn case_name(&self, case: &StoredCase) -> String {
        self.named(&case.id, case.has_own_id, case.row.place)
    }

    fn named(&self, id: &str, is_own: bool, place: RowPlace) -> String {
        let row = if is_own { None } else { self.row_name(place) };
        row.unwrap_or_else(|| id.to_owned())
    }

    /// `records.jsonl:17`
    fn row_name(&self, place: RowPlace) -> Option<String> {
        Some(format!("{}:{}", self.source_name(place.source)?, place.number))
    }

    /// The file of some rows as people call it: by its name alone, unless another file has the same.
    fn source_name(&self, source: u32) -> Option<String> {
        let written = self.written(source)?;
        let name = file_name(&written);
        let n_same = (0..self.n_sources()).filter_map(|it| self.written(it)).filter(|it| file_name(it) == name).count();
        Some(if n_same > 1 { written } else { name.to_owned() })
    }

    /// A source as its author wrote it; `stdin` for standard input, `rows` for what a program gave.
    fn written(&self, source: u32) -> Option<String> {
        let name = self.reader.head().sources.get(source as usize)?.name.replace('`', "");
        Some(match name.as_str() {
            "standard input" => "stdin".to_owned(),
            "the given rows" => "rows".to_owned(),
            _ => name,
        })
    }

    fn n_sources(&self) -> u32 {
        self.reader.head().sources.len() as u32
    }

    /// The cases that a name means: an id, the file and number of a row, or the beginning of exactly one id.
    pub fn known_cases(&self, name: &str) -> Result<Vec<StoredCase>, ExplainError> {
        let cases = self.cases_named(name)?;
        if !cases.is_empty() {
            return Ok(cases);
        }
        match self.beginning_with(name)?.as_slice() {
            [] => Err(self.no_case(name)?),
            [one] => Ok(self.cases_of(one)?),
            several => Err(ExplainError::SeveralCases {
                case: name.to_owned(),
                cases: listed_all(several.iter().map(String::as_str)),
            }),
        }
    }

    /// The cases with exactly this name: an id, or the file and number of a row. None when there are none.
    pub fn cases_named(&self, name: &str) -> Result<Vec<StoredCase>, ViewError> {
        let cases = self.cases_of(name)?;
        if !cases.is_empty() {
            return Ok(cases);
        }
        self.row_named(name)?.map_or(Ok(Vec::new()), |it| self.cases_of_row(it))
    }

    /// A case of the row with this file and number.
    fn row_named(&self, name: &str) -> Result<Option<CaseIx>, ViewError> {
        let Some((file, number)) = name.rsplit_once(':') else { return Ok(None) };
        let Ok(number) = number.parse::<u64>() else { return Ok(None) };
        let is_meant = |source: &u32| {
            let written = self.written(*source).unwrap_or_default();
            written == file || file_name(&written) == file || file_name(&written) == file_name(file)
        };
        let Some(source) = (0..self.n_sources()).find(is_meant) else { return Ok(None) };
        if let Some(case) = self.likely_case(source, number)? {
            return Ok(Some(case));
        }
        for case in self.reader.identities() {
            let case = case?;
            if (case.place.source, case.place.number) == (source, number) {
                return Ok(Some(case.case_ix));
            }
        }
        Ok(None)
    }

    /// The case that stands where a row of this number would, in a run of all rows of one source, if it is one of that row. Looking there first
    /// spares reading all others.
    fn likely_case(&self, source: u32, number: u64) -> Result<Option<CaseIx>, ViewError> {
        let Some(row) = number.checked_sub(1) else { return Ok(None) };
        let case_ix = self.layout().case(CaseSource::Row(row), 0);
        let place = self.reader.case(case_ix)?.map(|it| (it.row.place.source, it.row.place.number));
        Ok(Some(case_ix).filter(|_| place == Some((source, number))))
    }

    /// All cases of the row that a case is of.
    fn cases_of_row(&self, case: CaseIx) -> Result<Vec<StoredCase>, ViewError> {
        let n_variants = self.reader.head().n_variants();
        Ok(self.reader.cases(n_variants.cases(n_variants.place(case))).collect::<Result<_, _>>()?)
    }

    /// The first ids that begin like this, each once.
    fn beginning_with(&self, beginning: &str) -> Result<Vec<String>, ViewError> {
        let mut found: Vec<String> = Vec::new();
        for case in self.reader.identities() {
            let case = case?;
            if !beginning.is_empty() && case.id.starts_with(beginning) && found.last() != Some(&case.id) {
                found.push(case.id);
                if found.len() == EXAMPLES {
                    break;
                }
            }
        }
        Ok(found)
    }

    /// That there is no such case: in which run, and which ones it has.
    fn no_case(&self, name: &str) -> Result<ExplainError, ViewError> {
        let mut names: Vec<String> = Vec::new();
        // Looking at the first cases is enough for a hint.
        for case in self.reader.identities().take(1000) {
            let name = self.name_of(&case?);
            if names.last() != Some(&name) {
                names.push(name);
            }
        }
        let near = nearest(name, names.iter().map(String::as_str)).map(str::to_owned);
        let shown = listed_all(names.iter().take(EXAMPLES).map(String::as_str));
        let has = match names.len() {
            0 => "it has no cases".to_owned(),
            n if n <= EXAMPLES => format!("it has {shown}"),
            _ => format!("its first cases are {shown}"),
        };
        Ok(ExplainError::NoCase { case: name.to_owned(), run: self.reader.head().id.clone(), has, near })
    }
}

fn file_name(path: &str) -> &str {
    Path::new(path).file_name().and_then(|it| it.to_str()).unwrap_or(path)
}
