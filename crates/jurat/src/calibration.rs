//! Whether a judge can be trusted: its verdicts against labels of people.
//!
//! ```
//! use jurat::calibration::{CalibrateOptions, calibrate};
//! use jurat::{RunOptions, Suite};
//!
//! # let directory = tempfile::tempdir()?;
//! let suite = "
//! suite: greetings
//! records: [{ id: a, answer: Hello! }, { id: b, answer: Go away }]
//! tasks: [{ id: friendly, field_path: answer, operator: contains, expected_value: Hello }]
//! ";
//! Suite::from_yaml(suite, directory.path())?.run(RunOptions::in_directory(directory.path()))?;
//! let sheet = directory.path().join("labels.csv");
//! std::fs::write(&sheet, "case,label,annotator\na,pass,ada\nb,fail,ada\n")?;
//!
//! let found = calibrate(directory.path(), "latest", &[sheet], &CalibrateOptions::default())?;
//! assert_eq!(found.figures.matrix, [[1.0, 0.0], [0.0, 1.0]]);
//! // Two labels do not show much.
//! assert!(found.figures.agreement.unwrap().interval.unwrap().low < 0.5);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::path::{Path, PathBuf};

use jurat_core::calibration::probed;
use jurat_core::label::{LabelFiles, Standing, load_labels, standing, write_sheet};
use jurat_core::report::CorrectedTotal;
use jurat_engine::calibration::{
    CalibrateError, ProbeError, calibrate as calibrate_run, corrections, probe_suite, sample as sample_run,
};
use jurat_engine::now_ms;
use jurat_store::{Disk, Project, read_calibration};

pub use jurat_core::calibration::{
    Advice, AlphaFigures, AnnotatorFigures, AnnotatorPair, Calibration, Changed, CorrectedRate, CorrectionMethod,
    Design, Drift, Estimate, Figures, Fit, JudgeIdentity, LabelCounts, LabelFigures, MeasureOptions, ProbeKind,
    ProbeResult, RatedCase, Scale, SelfPreference, SlotFigures, SlotPair,
};
pub use jurat_core::statistics::Weights;
pub use jurat_engine::calibration::{CalibrateOptions, SampleOptions};

use crate::run::unreadable;
use crate::{Error, Problems, Run, RunOptions, Suite};

/// Compares the judge of a run with labels in files: CSV or JSON lines. The run is named as everywhere.
///
/// Files with lines that cannot be read are [`Error::Suite`], with every problem and its place.
pub fn calibrate(
    directory: impl AsRef<Path>,
    run: &str,
    labels: &[impl AsRef<Path>],
    options: &CalibrateOptions,
) -> Result<Calibration, Error> {
    let run = Run::find(directory, run)?;
    let mut problems = jurat_format::problem::Problems::default();
    let (standing, files) = read(labels, &mut problems)?;
    let options = CalibrateOptions { now_ms: now_ms(), ..options.clone() };
    let found = calibrate_run(run.view(), &standing, &options, &mut problems).map_err(error)?;
    found.ok_or_else(|| Error::Suite(Problems::new(problems.into_vec(), files.sources)))
}

/// Asks the judge of a calibration once more about the cases that people labelled, with something changed that should not matter, and returns what became of its verdicts.
/// A probe is a run of its own, with its own plan, budget and file.
pub fn probe(
    directory: impl AsRef<Path>,
    run: &str,
    calibration: &Calibration,
    kind: ProbeKind,
    options: RunOptions,
) -> Result<ProbeResult, Error> {
    let run = Run::find(directory.as_ref(), run)?;
    let view = run.view();
    let task = view.task(&calibration.task, &[]).map_err(|it| Error::Usage(it.to_string()))?;
    let mut cases: Vec<String> = calibration.cases.iter().map(|it| it.case.clone()).collect();
    cases.sort_unstable();
    let suite = probe_suite(view, task, kind, &cases).map_err(|error| match error {
        ProbeError::View(error) => unreadable(error),
        ProbeError::Impossible(reason) => {
            Error::Nothing(format!("the probe `{}` is not possible: {reason}", kind.name()))
        }
    })?;
    let options = suite.models.iter().fold(options, |options, (role, model)| options.model(role, model.as_str()));
    // An answer from the cache would be the same answer.
    let options = if kind == ProbeKind::Repeat { options.fresh() } else { options };
    let options = RunOptions { is_probe: true, ..options };
    let asked = Suite::from_yaml(suite.text.as_str(), directory)?.run(options)?;
    let pairs = suite.pairs(asked.view(), &calibration.task).map_err(unreadable)?;
    Ok(probed(kind, &pairs, calibration.confidence()))
}

/// A sheet of cases to label, as CSV, and how many cases are on it. Cases that labels are about already are not on it.
pub fn sample(
    directory: impl AsRef<Path>,
    run: &str,
    labels: &[impl AsRef<Path>],
    options: &SampleOptions,
) -> Result<(String, usize), Error> {
    let run = Run::find(directory, run)?;
    let mut problems = jurat_format::problem::Problems::default();
    let (standing, files) = read(labels, &mut problems)?;
    let (rows, is_scored) = sample_run(run.view(), &standing, options, &mut problems).map_err(error)?;
    if problems.n_errors() > 0 {
        return Err(Error::Suite(Problems::new(problems.into_vec(), files.sources)));
    }
    Ok((write_sheet(&rows, is_scored), rows.len()))
}

/// Stores a calibration in the project that a directory belongs to, so that reports of runs with its judge are corrected by it. Returns its file.
pub fn store(directory: impl AsRef<Path>, calibration: &Calibration) -> Result<PathBuf, Error> {
    let project = Project::find_or_create(directory.as_ref()).map_err(|it| Error::Read(Box::new(it)))?;
    project.calibrations().store(calibration).map_err(|it| Error::Read(Box::new(it)))
}

/// Reads calibrations from files.
pub fn open(paths: &[impl AsRef<Path>]) -> Result<Vec<Calibration>, Error> {
    paths.iter().map(|it| read_calibration(it.as_ref()).map_err(|it| Error::Usage(it.to_string()))).collect()
}

/// The calibrations of the project that a directory belongs to.
pub fn stored(directory: impl AsRef<Path>) -> Vec<Calibration> {
    Project::find(directory.as_ref()).map(|it| it.calibrations().all().0).unwrap_or_default()
}

/// The calibrations of the project that a run's file is in; none for one that lies elsewhere.
pub(crate) fn of_project(run: &Path) -> Vec<Calibration> {
    let runs = run.parent().filter(|it| it.file_name().is_some_and(|it| it == "runs"));
    let project = runs.and_then(Path::parent).and_then(Project::find);
    project.map(|it| it.calibrations().all().0).unwrap_or_default()
}

impl Run {
    /// The pass rates of tasks whose judges were calibrated, as people would have judged.
    pub fn corrected(&self) -> &[CorrectedTotal] {
        &self.report().corrected
    }

    /// The same run, its pass rates corrected by these calibrations rather than by those of its project.
    pub fn with_calibrations(mut self, calibrations: &[Calibration]) -> Run {
        let totals = corrections(self.view(), &self.report().tasks, calibrations);
        self.set_corrected(totals);
        self
    }
}

/// The labels that count.
fn read(
    labels: &[impl AsRef<Path>],
    problems: &mut jurat_format::problem::Problems,
) -> Result<(Standing, LabelFiles), Error> {
    let mut files = load_labels(labels.iter().map(AsRef::as_ref), &Disk, problems);
    let standing = standing(std::mem::take(&mut files.labels), problems);
    if problems.n_errors() > 0 {
        let found = std::mem::take(problems);
        return Err(Error::Suite(Problems::new(found.into_vec(), files.sources)));
    }
    Ok((standing, files))
}

fn error(error: CalibrateError) -> Error {
    match error {
        CalibrateError::View(error) => unreadable(error),
        CalibrateError::NothingLabelled { .. } => Error::Nothing(error.to_string()),
        other => Error::Usage(other.to_string()),
    }
}
