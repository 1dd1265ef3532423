//! The cases of an earlier run that are run again: those that failed, could not be judged, or were not run.

use std::collections::HashMap;
use std::path::Path;

use jurat_format::choices;
use jurat_store::run::{Code, Column, RunReader, Variant};
use jurat_store::{Project, ProjectError};

use crate::RunError;

choices! {
    /// Which cases of an earlier run are run again.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum RerunOf {
        /// Those that failed.
        Failed = "failed",
        /// Those that could not be judged.
        Error = "error",
        /// Those that were not run.
        NotRun = "not_run",
    }
}

impl RerunOf {
    fn code(self) -> Code {
        match self {
            RerunOf::Failed => Code::Failed,
            RerunOf::Error => Code::Error,
            RerunOf::NotRun => Code::NotRun,
        }
    }
}

/// Cases of an earlier run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rerun {
    /// The run that they are of.
    pub run: String,
    pub of: Vec<RerunOf>,
    /// Their variants, by the id of the row; none where a row is one case.
    rows: HashMap<String, Vec<Variant>>,
}

/// Why cases of an earlier run cannot be found.
#[derive(Debug, thiserror::Error)]
pub enum RerunError {
    /// There is no such run.
    #[error(transparent)]
    Project(#[from] ProjectError),
    /// The run cannot be read.
    #[error(transparent)]
    Run(#[from] RunError),
    /// No run of the suite is there.
    #[error("there is no earlier run of the suite `{0}` whose cases could be run again; name a run with `--from`")]
    NoRun(String),
}

impl From<jurat_store::run::RunFileError> for RerunError {
    fn from(error: jurat_store::run::RunFileError) -> RerunError {
        RerunError::Run(error.into())
    }
}

impl Rerun {
    /// Finds the cases in a run that is named, or in the run of this suite that ended last.
    pub fn find(project: &Project, suite: &str, of: &[RerunOf], from: Option<&str>) -> Result<Rerun, RerunError> {
        match from {
            Some(name) => Ok(Rerun::read(&RunReader::open(&project.run(name)?)?, of)?),
            None => {
                let is_of_suite = |path: &Path| RunReader::open(path).is_ok_and(|it| it.head().suite == suite);
                let path = project.latest(&is_of_suite)?.ok_or_else(|| RerunError::NoRun(suite.to_owned()))?;
                Ok(Rerun::read(&RunReader::open(&path)?, of)?)
            }
        }
    }

    fn read(reader: &RunReader, of: &[RerunOf]) -> Result<Rerun, RunError> {
        let codes: Vec<Code> = of.iter().map(|it| it.code()).collect();
        let mut rows: HashMap<String, Vec<Variant>> = HashMap::new();
        for case_ix in reader.find_any(Column::CASE, &codes) {
            let Some(case) = reader.case(case_ix?)? else { continue };
            let variants = rows.entry(row_id(&case.id).to_owned()).or_default();
            variants.extend(reader.head().variants.get(case.variant).cloned());
        }
        Ok(Rerun { run: reader.head().id.clone(), of: of.to_vec(), rows })
    }

    /// Whether there is no such case.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Whether a row, a scenario or a task for an agent has such a case.
    pub(crate) fn has_row(&self, id: &str) -> bool {
        self.rows.contains_key(id)
    }

    /// Whether a variant of a row is such a case. A variant that the earlier run did not have is.
    pub(crate) fn has(&self, id: &str, variant: Option<&Variant>) -> bool {
        let Some(variants) = self.rows.get(id) else { return false };
        variant.is_none_or(|it| variants.is_empty() || variants.contains(it))
    }

    /// In words: `failed of 2026-11-15T18-04-05_support_x7k2`.
    pub fn words(&self) -> String {
        let of: Vec<&str> = self.of.iter().map(|it| it.name()).collect();
        format!("{} of {}", of.join(", "), self.run)
    }
}

/// The id of a row without the number that distinguishes rows of equal content: what is equal is judged equally.
fn row_id(id: &str) -> &str {
    let is_content = |it: &str| it.len() == 32 && it.bytes().all(|it| it.is_ascii_hexdigit());
    match id.split_once('-') {
        Some((content, number)) if is_content(content) && number.bytes().all(|it| it.is_ascii_digit()) => content,
        _ => id,
    }
}
