//! A definition as every command reads it before running it: with a look at the first rows of its data.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use jurat_core::evidence::run;
use jurat_core::plan::{self, Plan, Samples, prevents_plan};
use jurat_core::scenario::Scenario;
use jurat_core::suite::{
    Loaded, Records, RowFile, RowSource, Suite, bad_row, directory_of_rows, file_without_rows, load_with, unreadable,
    unusable_code,
};
use jurat_format::codes;
use jurat_format::problem::{Problem, Severity};
use jurat_format::source::{Files, Sources};
use jurat_format::value::{Span, Val, Value};
use jurat_sandbox::Program;
use jurat_store::records::{
    Ids, RowAt, RowId, RowLimits, RowNames, RowsError, RowsFault, SampleError, SampleLimits, read_all_within, row_id,
    sample_of,
};
use jurat_store::{Campaign, CampaignError, Disk, Profiles};

use crate::agents::recorded_artifact;
use crate::requirements::missing;
use crate::roles::main_folder;
use crate::{Conditions, Definition, evaluators, scripts};

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
    /// `None` when something stands in the way, even of replaying a recording of it.
    pub plan: Option<Plan>,
}

impl Examined {
    /// Reads a definition and finds everything that is wrong with it. Its texts come from `files`, its rows from disk.
    pub fn read(file: &Path, files: &dyn Files) -> Examined {
        Examined::with_code(file, files, &[])
    }

    /// Reads a definition from disk, or a suite of another program with the cases and profiles that belong to it.
    pub fn open(file: &Path, profiles: &Profiles) -> Result<Examined, CampaignError> {
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
        problems.extend(unreadable_artifacts(&suite));
        let (plan, found) = match problems.iter().any(prevents_plan) {
            true => (None, plan::examine(&suite, &samples)),
            false => match Plan::build(&suite, &samples) {
                Ok((plan, problems)) => (Some(plan), problems),
                Err(problems) => (None, problems),
            },
        };
        problems.extend(found);
        Examined { file: file.to_owned(), suite, sources, problems, samples, plan }
    }

    /// Has the interpreters that would run the code of its evaluators parse it, where there are such. Nothing of it is run.
    pub fn parse_code(&mut self, worker: Program) {
        let folder = main_folder(&self.sources);
        let wrong = evaluators::parsed(&self.suite, &folder, worker);
        self.problems.extend(wrong.into_iter().map(|(code, error)| unusable_code(&self.sources, &code, error)));
    }

    /// Looks whether everything is there that a run needs, as the run itself does. Nothing that the suite names is started, and nothing is sent.
    pub fn require(&mut self, conditions: &Conditions<'_>) {
        let Some(plan) = self.plan.as_ref().filter(|_| !self.has_errors()) else { return };
        let definition = Definition { suite: &self.suite, sources: &self.sources, plan };
        let missing = missing(definition, conditions);
        // Planning only warned about roles without a model, because one may be given when the suite is run. Now it is known whether it is.
        self.problems.retain(|it| it.code.name != codes::NO_MODEL.name);
        self.problems.extend(
            missing.into_iter().map(|it| if it.code.name == codes::NO_MODEL.name { it.as_error() } else { it }),
        );
    }

    /// Whether anything stands in the way of running it.
    pub fn has_errors(&self) -> bool {
        self.problems.iter().any(|it| it.severity() == Severity::Error)
    }
}

/// The first rows of each source. Standard input cannot be looked at now, and makes the sample partial.
fn sampled(suite: &Suite, problems: &mut Vec<Problem>) -> Samples {
    let mut samples = Samples { ids: Some(BTreeSet::new()), ..Samples::default() };
    let mut known = KnownIds::of(&suite.records);
    let mut sources = 0..;
    for records in &suite.records {
        match &records.from {
            RowSource::StandardInput | RowSource::Program => {
                sources.next();
                samples.is_partial = true;
                samples.ids = None;
            }
            RowSource::Inline(rows) => {
                let source = sources.next().unwrap_or_default();
                for (number, row) in (1..).zip(rows) {
                    let wrong = known.wrong_id(records, &row.value, source, number);
                    problems.extend(wrong.map(|why| bad_row(row.span, &why)));
                    add_id(&mut samples.ids, records, &row.value);
                    let (seen, wrong) = seen(records, row.value.clone());
                    problems.extend(wrong.map(|why| bad_artifact(row.span, &why)));
                    samples.rows.push(seen);
                }
                problems.extend(rows.first().and_then(|it| reading_problem(records, records.from.clone(), it.span)));
            }
            RowSource::Files(files) => {
                for file in files {
                    let source = sources.next().unwrap_or_default();
                    let rows = file_sample(records, file, &mut samples, problems);
                    rows.iter().for_each(|it| add_id(&mut samples.ids, records, it));
                    let wrong = (1..).zip(&rows).find_map(|(number, row)| known.wrong_id(records, row, source, number));
                    problems.extend(wrong.map(|why| bad_row(file.written.span, &why)));
                    let (rows, wrong): (Vec<Value>, Vec<_>) = rows.into_iter().map(|it| seen(records, it)).unzip();
                    samples.rows.extend(rows);
                    let wrong = (1..).zip(wrong).find_map(|(number, why)| Some((number, why?)));
                    let name = |number| known.names.row(source, number);
                    problems.extend(
                        wrong.map(|(number, why)| bad_artifact(file.written.span, &format!("{}: {why}", name(number)))),
                    );
                }
            }
        }
    }
    samples
}

/// What stops a run that reads the first rows of a source.
fn reading_problem(records: &Records, from: RowSource, whole: Span) -> Option<Problem> {
    let section = Records { from, ..records.clone() };
    let limits = RowLimits { chunk: 16 << 10, ..RowLimits::default() };
    let (mut n_rows, most) = (0, SampleLimits::default().rows);
    let read = read_all_within(std::slice::from_ref(&section), &mut std::io::empty(), limits, &mut |chunk| {
        n_rows += chunk.rows.len();
        if n_rows >= most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    Some(wrong_rows(records, whole, &read.err()?))
}

/// A problem of rows, at the place that it is about.
fn wrong_rows(records: &Records, whole: Span, error: &RowsError) -> Problem {
    let place = match (&error.fault, &records.from) {
        (RowsFault::NoColumn { column, .. } | RowsFault::Cell { column, .. }, _) => {
            records.types.iter().find(|(it, _)| it.value == *column).map(|(it, _)| it.span)
        }
        (RowsFault::NotJson { row, .. }, RowSource::Inline(rows)) => {
            usize::try_from(*row).ok().and_then(|it| rows.get(it - 1)).map(|it| it.span)
        }
        _ => None,
    };
    bad_row(place.unwrap_or(whole), &error.to_string())
}

/// Notes the id of a row; without an id of its own, what it is called is not known to authors.
fn add_id(ids: &mut Option<BTreeSet<String>>, records: &Records, row: &Value) {
    match (row_id(row, records.id.as_ref().map(|it| &it.value), ""), ids.as_mut()) {
        (Ok(RowId::Given(id)), Some(ids)) => drop(ids.insert(id.into_owned())),
        _ => *ids = None,
    }
}

fn file_sample(records: &Records, file: &RowFile, samples: &mut Samples, problems: &mut Vec<Problem>) -> Vec<Value> {
    let RowFile { written, path } = file;
    let limits = SampleLimits::default();
    let as_run_reads = || reading_problem(records, RowSource::Files(vec![file.clone()]), written.span);
    let error = match sample_of(records, path, limits) {
        Ok(sample) => {
            if let Some(row) = sample.repeated_key {
                let why = format!("{}: row {row} has a key twice, of which only the last would be read", written.value);
                problems.push(bad_row(written.span, &why));
            }
            if sample.rows.is_empty() {
                problems.push(file_without_rows(written.span, &written.value));
            }
            samples.ids = samples.ids.take().filter(|_| !sample.more);
            // Rows that are too long to look into are not too long to run.
            let is_cut = sample.more && sample.rows.len() < limits.rows;
            problems.extend(match sample.fault {
                Some(fault) => {
                    let from = format!("`{}`", written.value);
                    Some(wrong_rows(records, written.span, &RowsError { from, fault }))
                }
                None => is_cut.then(as_run_reads).flatten(),
            });
            return sample.rows;
        }
        Err(error) => error,
    };
    samples.is_partial = true;
    samples.ids = None;
    if matches!(error, SampleError::RowTooLong { .. }) {
        problems.extend(as_run_reads());
        return Vec::new();
    }
    if path.is_dir() {
        problems.push(directory_of_rows(written.span, &written.value));
        return Vec::new();
    }
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

/// What tasks see of a row, and why a row that should be the run of an agent is none.
fn seen(records: &Records, row: Value) -> (Value, Option<String>) {
    if !records.is_runs {
        return (records.with_defaults(row).into_owned(), None);
    }
    match run::evidence(row.borrowed()).map(Val::into_owned) {
        Ok(seen) => (seen, None),
        Err(why) => (row, Some(why)),
    }
}

/// The artifacts of cases that are no run artifacts. As many are read as rows of a file, and no more of each; one that is not there is for
/// [`crate::requirements`] to report.
fn unreadable_artifacts(suite: &Suite) -> Vec<Problem> {
    let SampleLimits { rows, bytes } = SampleLimits::default();
    let artifacts = suite.cases.iter().filter_map(|it| it.artifact.as_ref());
    let is_small = |it: &Path| std::fs::metadata(it).is_ok_and(|it| it.is_file() && it.len() <= bytes);
    let read = artifacts.take(rows).filter(|it| is_small(&it.value));
    read.filter_map(|it| Some(bad_artifact(it.span, &recorded_artifact(&it.value).err()?))).collect()
}

fn bad_artifact(span: Span, why: &str) -> Problem {
    Problem::new(&codes::BAD_ARTIFACT, why).at(span, "its case will be an error")
}
