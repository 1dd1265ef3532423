//! A definition as everybody reads it before running it: with a look at the first rows of its data.

use std::path::{Path, PathBuf};

use jurat_core::evidence::run;
use jurat_core::plan::{self, Samples};
use jurat_core::scenario::Scenario;
use jurat_core::suite::problem::{Problem, Severity};
use jurat_core::suite::source::{Files, Sources};
use jurat_core::suite::{
    Loaded, Records, RowFile, RowSource, Suite, bad_row, file_without_rows, load_with, unreadable, unusable_code,
};
use jurat_core::value::{Val, Value};
use jurat_sandbox::Program;
use jurat_store::records::{Ids, RowAt, RowNames, SampleError, SampleLimits, row_id, sample};
use jurat_store::{Campaign, CampaignError, Disk, Profiles};

use crate::models::main_folder;
use crate::{evaluators, scripts};

/// One suite and everything that is wrong with it.
#[derive(Debug)]
pub struct Examined {
    /// The file that was named.
    pub file: PathBuf,
    /// What could be read of it.
    pub suite: Suite,
    /// The texts it was read from.
    pub sources: Sources,
    /// What is wrong with it.
    pub problems: Vec<Problem>,
    /// The first rows of its data.
    pub samples: Samples,
}

impl Examined {
    /// Reads a definition and finds everything that is wrong with it. Its texts come from `files`, its rows from disk.
    pub fn read(file: &Path, files: &dyn Files) -> Examined {
        Examined::with_code(file, files, &[])
    }

    /// Reads a definition from disk, or a suite of another program with the cases and profiles that belong to it.
    pub fn open(file: &Path, profiles: Profiles<'_>) -> Result<Examined, CampaignError> {
        Ok(match Campaign::find(file, profiles)? {
            Some(campaign) => Examined { file: file.to_owned(), ..Examined::read(&campaign.path, &campaign) },
            None => Examined::read(file, &Disk),
        })
    }

    /// The same, with scenarios that the definition was written from: their code goes where the definition has words for it.
    pub fn with_code(file: &Path, files: &dyn Files, scenarios: &[Scenario]) -> Examined {
        let Loaded { mut suite, sources, mut problems } = load_with(file, files, &scripts::Read);
        suite.give_code(scenarios);
        let samples = sampled(&suite, &mut problems);
        problems.extend(plan::examine(&suite, &samples));
        Examined { file: file.to_owned(), suite, sources, problems, samples }
    }

    /// Has the interpreters that would run the code of its evaluators parse it, where there are such. Nothing of it is run.
    pub fn parse_code(&mut self, worker: Program) {
        let folder = main_folder(&self.sources);
        let wrong = evaluators::parsed(&self.suite, &folder, worker);
        self.problems.extend(wrong.into_iter().map(|(code, error)| unusable_code(&self.sources, &code, error)));
    }

    /// Whether anything stands in the way of running it.
    pub fn has_errors(&self) -> bool {
        self.problems.iter().any(|it| it.severity() == Severity::Error)
    }

    /// Whether anything stands in the way of replaying a recording of it: code that was called then need not be here now.
    pub fn has_errors_for_replay(&self) -> bool {
        self.problems.iter().any(|it| it.severity() == Severity::Error && !it.is_missing_code())
    }
}

/// The first rows of each source. Standard input cannot be looked at now, and makes the sample partial.
fn sampled(suite: &Suite, problems: &mut Vec<Problem>) -> Samples {
    let mut samples = Samples::default();
    let mut known = KnownIds::of(&suite.records);
    let mut sources = 0..;
    for records in &suite.records {
        match &records.from {
            RowSource::StandardInput => {
                sources.next();
                samples.is_partial = true;
            }
            RowSource::Inline(rows) => {
                let source = sources.next().unwrap_or_default();
                for (number, row) in (1..).zip(rows) {
                    let wrong = known.wrong_id(records, &row.value, source, number);
                    problems.extend(wrong.map(|why| bad_row(row.span, &why)));
                    samples.rows.push(seen(records, row.value.clone()));
                }
            }
            RowSource::Files(files) => {
                for file in files {
                    let source = sources.next().unwrap_or_default();
                    let rows = file_sample(records, file, &mut samples.is_partial, problems);
                    let wrong = (1..).zip(&rows).find_map(|(number, row)| known.wrong_id(records, row, source, number));
                    problems.extend(wrong.map(|why| bad_row(file.written.span, &why)));
                    samples.rows.extend(rows.into_iter().map(|it| seen(records, it)));
                }
            }
        }
    }
    samples
}

fn file_sample(records: &Records, file: &RowFile, is_partial: &mut bool, problems: &mut Vec<Problem>) -> Vec<Value> {
    let RowFile { written, path } = file;
    let error = match sample(path, records.format.map(Into::into), SampleLimits::default()) {
        Ok(sample) => {
            if sample.rows.is_empty() {
                problems.push(file_without_rows(written.span, &written.value));
            }
            return sample.rows.into_iter().map(|it| typed(records, it)).collect();
        }
        Err(error) => error,
    };
    *is_partial = true;
    let is_missing = matches!(error, SampleError::NotFound);
    problems.push(unreadable(written.span, &written.value, &error.to_string(), is_missing));
    Vec::new()
}

/// The ids of the rows that were looked at so far.
struct KnownIds {
    names: RowNames,
    ids: Ids,
}

impl KnownIds {
    fn of(sections: &[Records]) -> KnownIds {
        let names = RowNames::of_all(sections);
        KnownIds { ids: Ids::new(names.clone()), names }
    }

    /// What a run would say about the id of this row.
    fn wrong_id(&mut self, records: &Records, row: &Value, source: u32, number: u64) -> Option<String> {
        let at = RowAt { range: 0..0, source, number, line: number, offset: None };
        match row_id(row, records.id.as_ref().map(|it| &it.value), &row.to_json()) {
            Err(error) => Some(format!("{}: {error}", self.names.row(source, number))),
            Ok(id) => self.ids.admit(id, &at).err().map(|it| it.to_string()),
        }
    }
}

/// The row with the columns that `types` says are not text.
fn typed(records: &Records, row: Value) -> Value {
    records.types.iter().fold(row, |row, (column, kind)| kind.apply(row, &column.value))
}

/// What tasks see of a row. About a run that is none the run of the suite has more to say.
fn seen(records: &Records, row: Value) -> Value {
    if !records.is_runs {
        return row;
    }
    let seen = run::evidence(row.borrowed()).ok().map(Val::into_owned);
    seen.unwrap_or(row)
}
