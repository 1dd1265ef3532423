//! Judges compared with people. What is found is handed over as the documents that the command writes, so that both say the same.

use std::path::{Path, PathBuf};

use jurat::RunOptions;
use jurat::calibration::{
    CalibrateOptions, Calibration, MeasureOptions, ProbeKind, SampleOptions, Weights, calibrate, open, probe, sample,
    store,
};
use jurat_report::{Style, calibration};
use pyo3::prelude::*;

use crate::comparison::{confidence, text};
use crate::error::{raised, usage};

/// How a judge is compared with people: the keywords of `jurat.calibrate`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Options {
    task: Option<String>,
    random: bool,
    ordered: bool,
    weights: String,
    half_width: Option<f64>,
    against: Option<PathBuf>,
    probe: Vec<String>,
    budget_usd: Option<f64>,
    budget_calls: Option<u64>,
    confidence: f64,
    store: bool,
}

/// A calibration as it is written: JSON, text and Markdown; and what could not be probed.
type Documents = (String, String, String, Vec<String>);

/// Compares the judge of a run with labels in files.
#[pyfunction]
pub(crate) fn calibrate_run(
    py: Python<'_>,
    directory: PathBuf,
    run: String,
    labels: Vec<PathBuf>,
    options: Options,
) -> PyResult<Documents> {
    let (how, kinds) = (how(py, &options)?, kinds(py, &options)?);
    let found = py.detach(|| calibrated(&directory, &run, &labels, how, &kinds, &options));
    let (found, notes) = found.map_err(|error| raised(py, &error))?;
    let shown = calibration::CalibrationOptions::default();
    Ok((
        found.to_json(),
        text(|out| calibration::write_text(out, &found, shown, Style::Plain, None))?,
        text(|out| calibration::write_markdown(out, &found))?,
        notes,
    ))
}

fn calibrated(
    directory: &Path,
    run: &str,
    labels: &[PathBuf],
    mut how: CalibrateOptions,
    kinds: &[ProbeKind],
    options: &Options,
) -> Result<(Calibration, Vec<String>), jurat::Error> {
    how.earlier = match &options.against {
        Some(path) => open(&[path])?.pop(),
        None => None,
    };
    // Probes are runs, too, so that the latest one would be another after the first of them.
    let run = jurat::Run::find_file(directory, run)?.display().to_string();
    let mut found = calibrate(directory, &run, labels, &how)?;
    let mut notes = Vec::new();
    for kind in kinds {
        match probe(directory, &run, &found, *kind, run_options(directory, options)) {
            Ok(result) => found.probes.push(result),
            Err(jurat::Error::Nothing(reason)) => notes.push(reason),
            Err(error) => return Err(error),
        }
    }
    if options.store {
        store(directory, &found)?;
    }
    Ok((found, notes))
}

fn run_options(directory: &Path, options: &Options) -> RunOptions {
    let how = RunOptions::in_directory(directory);
    let how = options.budget_usd.into_iter().fold(how, RunOptions::budget_usd);
    options.budget_calls.into_iter().fold(how, RunOptions::budget_calls)
}

fn how(py: Python<'_>, options: &Options) -> PyResult<CalibrateOptions> {
    let weights = match options.weights.as_str() {
        "quadratic" => Weights::Quadratic,
        "linear" => Weights::Linear,
        other => return Err(usage(py, format!("`weights` is `quadratic` or `linear`, not `{other}`"))),
    };
    if let Some(wanted) = options.half_width.filter(|it| !(*it > 0.0 && *it < 1.0)) {
        return Err(usage(py, format!("`half_width` lies between 0 and 1, such as 0.05, not {wanted}")));
    }
    let measure = MeasureOptions {
        confidence: confidence(py, options.confidence)?,
        weights,
        is_random: options.random,
        wanted: options.half_width,
    };
    Ok(CalibrateOptions {
        task: options.task.clone(),
        is_ordered: options.ordered,
        measure,
        ..CalibrateOptions::default()
    })
}

fn kinds(py: Python<'_>, options: &Options) -> PyResult<Vec<ProbeKind>> {
    let known = [ProbeKind::Order, ProbeKind::Verbosity, ProbeKind::Repeat];
    let kind = |name: &String| {
        let found = known.into_iter().find(|it| it.name() == name);
        found.ok_or_else(|| usage(py, format!("`probe` may have `order`, `verbosity` and `repeat`, not `{name}`")))
    };
    options.probe.iter().map(kind).collect()
}

/// A sheet of cases to label, as CSV.
#[pyfunction]
pub(crate) fn label_sheet(
    py: Python<'_>,
    directory: PathBuf,
    run: String,
    labels: Vec<PathBuf>,
    task: Option<String>,
    n: usize,
    seed: u64,
) -> PyResult<String> {
    let options = SampleOptions { task, n, seed };
    let made = py.detach(|| sample(&directory, &run, &labels, &options));
    made.map(|it| it.0).map_err(|error| raised(py, &error))
}
