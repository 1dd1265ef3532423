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
use jurat_engine::contrast::{CompareOptions, ComparedSide, Selection, gate as gate_sides, rehearse as rehearse_run};
use jurat_store::Disk;

pub use jurat_core::gate::{Bounds, ConditionReport, GateReport, GateVerdict, More, Rehearsal};

use crate::contrast::error;
use crate::{Error, Problems, Run};

/// What a gate compares with, and by which policy.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GateOptions {
    /// The run that it is compared with, in place of the policy's.
    pub base: Option<String>,
    /// A file with the conditions, in place of `gates` of the suite.
    pub policy: Option<PathBuf>,
}

/// How many changed cases are described.
const DESCRIBED: usize = 20;

/// Decides whether a run of the project that a directory belongs to may pass.
pub fn gate(directory: impl AsRef<Path>, new: &str, options: &GateOptions) -> Result<GateReport, Error> {
    let directory = directory.as_ref();
    let selection = Selection::parse(new).map_err(|it| Error::Usage(it.to_string()))?;
    let file = Run::find_file(directory, &selection.run)?;
    let policy = policy(&file, options)?;
    let base = options.base.as_deref().or(policy.base.as_ref().map(|it| it.value.as_str()));
    let base = base.map(|it| open(directory, it)).transpose()?;
    let new = ComparedSide::open(&file, &selection).map_err(error)?;
    gate_sides(base.as_ref(), &new, &policy, &compare_options(&policy)).map_err(error)
}

/// Splits the repetitions of a run into halves in up to 200 ways, and says how often its gate passes with no change at all.
pub fn rehearse(directory: impl AsRef<Path>, run: &str, options: &GateOptions) -> Result<Rehearsal, Error> {
    let file = Run::find_file(directory.as_ref(), run)?;
    let policy = policy(&file, options)?;
    let found = rehearse_run(&file, &policy, &compare_options(&policy)).map_err(error)?;
    found.ok_or_else(|| {
        Error::Usage(format!("`{run}` cannot be rehearsed: each case needs at least 2 repetitions (`--repeat`)"))
    })
}

fn open(directory: &Path, side: &str) -> Result<ComparedSide, Error> {
    let selection = Selection::parse(side).map_err(|it| Error::Usage(it.to_string()))?;
    let path = Run::find_file(directory, &selection.run)?;
    ComparedSide::open(&path, &selection).map_err(error)
}

fn compare_options(policy: &Policy) -> CompareOptions {
    CompareOptions { allow: policy.allow.clone(), described: DESCRIBED, ..CompareOptions::default() }
}

/// The policy that was named, or that of the suite that was run.
fn policy(run: &Path, options: &GateOptions) -> Result<Policy, Error> {
    let Some(file) = &options.policy else {
        let run = Run::open(run)?;
        return run.view().suite().gates.clone().ok_or_else(|| {
            let reason = "the suite of this run has no `gates`; write conditions there, or name a file with `--policy`";
            Error::Usage(reason.to_owned())
        });
    };
    let (policy, sources, problems) = load_policy(file, &Disk);
    let problems = Problems::new(problems, sources);
    match policy {
        Some(policy) if !problems.has_errors() => Ok(policy),
        _ => Err(Error::Suite(problems)),
    }
}
