//! Gates: whether a run may pass, by a policy that compares it with another.
//!
//! ```
//! use jurat::gate::{GateOptions, GateVerdict, gate};
//! use jurat::{RunOptions, Suite};
//!
//! # let directory = tempfile::tempdir()?;
//! let suite = "
//! suite: invoices
//! records: [{ id: a, status: paid }, { id: b, status: paid }]
//! tasks: [{ id: paid, field_path: status, operator: equals, expected_value: paid }]
//! gates: { conditions: [{ id: all, all_pass: true }, { id: rate, at_least: 0.9 }] }
//! ";
//! Suite::from_yaml(suite, directory.path())?.run(RunOptions::in_directory(directory.path()))?;
//!
//! let report = gate(directory.path(), "latest", &GateOptions::default())?;
//! // Two cases that pass do not show that nine of ten would.
//! let verdicts: Vec<GateVerdict> = report.conditions.iter().map(|it| it.verdict).collect();
//! assert_eq!(verdicts, [GateVerdict::Pass, GateVerdict::Undecided]);
//! assert_eq!(report.verdict, GateVerdict::Undecided);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::path::{Path, PathBuf};

use jurat_core::gate::Policy;
use jurat_core::suite::load_policy;
use jurat_engine::contrast::{CompareOptions, ComparedSide, gate as gate_sides, rehearse as rehearse_run};
use jurat_format::source::{Files, ReadError};
use jurat_store::Disk;

pub use jurat_core::gate::{Bounds, ConditionReport, GateReport, GateVerdict, More, Rehearsal};

use crate::calibration;
use crate::contrast::{SideName, calibrated, error};
use crate::{Error, Problems, Run};

/// What a gate compares with, and by which policy.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GateOptions {
    /// The run that it is compared with, in place of the policy's.
    pub base: Option<SideName>,
    /// The conditions, in place of `gates` of the suite.
    pub policy: Option<PolicySource>,
    /// Files of calibrations, in place of those of the project.
    pub calibrations: Vec<PathBuf>,
}

/// Where the conditions of a gate come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PolicySource {
    /// A YAML file.
    File(PathBuf),
    /// The text that such a file would have.
    Text(String),
}

/// How many changed cases are described.
const DESCRIBED: usize = 20;

/// Decides whether a run may pass. Names are looked up in the project that a directory belongs to.
pub fn gate(directory: impl AsRef<Path>, new: impl Into<SideName>, options: &GateOptions) -> Result<GateReport, Error> {
    let directory = directory.as_ref();
    let (file, selection) = new.into().found(directory)?;
    let policy = policy(&file, options)?;
    let named = || policy.base.as_ref().map(|it| SideName::from(it.value.as_str()));
    let base = options.base.clone().or_else(named).map(|it| it.open(directory)).transpose()?;
    let new = ComparedSide::open(&file, &selection).map_err(error)?;
    let compare = compare_options(directory, &policy, options)?;
    gate_sides(base.as_ref(), &new, &policy, &compare).map_err(error)
}

/// Splits the repetitions of a run into halves in up to 200 ways, and says how often its gate passes with no change at all.
pub fn rehearse(directory: impl AsRef<Path>, run: &str, options: &GateOptions) -> Result<Rehearsal, Error> {
    let directory = directory.as_ref();
    let file = Run::find_file(directory, run)?;
    let policy = policy(&file, options)?;
    let compare = compare_options(directory, &policy, options)?;
    let found = rehearse_run(&file, &policy, &compare).map_err(error)?;
    found.ok_or_else(|| {
        Error::Usage(format!("`{run}` cannot be rehearsed: each case needs at least 2 repetitions (`--repeat`)"))
    })
}

fn compare_options(directory: &Path, policy: &Policy, options: &GateOptions) -> Result<CompareOptions, Error> {
    let compare = CompareOptions {
        allow: policy.allow.clone(),
        listed: DESCRIBED,
        described: DESCRIBED,
        calibrations: calibration::open(&options.calibrations)?,
        ..CompareOptions::default()
    };
    Ok(calibrated(directory, &compare))
}

/// The policy that was given, or that of the suite that was run.
fn policy(run: &Path, options: &GateOptions) -> Result<Policy, Error> {
    let (policy, sources, problems) = match &options.policy {
        Some(PolicySource::File(file)) => load_policy(file, &Disk),
        Some(PolicySource::Text(text)) => load_policy(Path::new("<policy>"), &OneText(text)),
        None => return policy_of_suite(run),
    };
    let problems = Problems::new(problems, sources);
    match policy {
        Some(policy) if !problems.has_errors() => Ok(policy),
        _ => Err(Error::Suite(problems)),
    }
}

fn policy_of_suite(run: &Path) -> Result<Policy, Error> {
    let run = Run::open(run)?;
    run.view().suite().gates.clone().ok_or_else(|| {
        let reason = "the suite of this run has no `gates`; write conditions there, or give a policy";
        Error::Usage(reason.to_owned())
    })
}

/// A text in place of a file.
struct OneText<'t>(&'t str);

impl Files for OneText<'_> {
    fn read(&self, _: &Path, _: u64) -> Result<Vec<u8>, ReadError> {
        Ok(self.0.as_bytes().to_vec())
    }
}
