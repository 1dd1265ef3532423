//! Runs compared with each other, and gates. What is found is handed over as the documents that the command writes, so that both say the same.

use std::io;
use std::path::PathBuf;

use jurat::calibration::open;
use jurat::contrast::{CompareOptions, Confidence, Dimension, ScoreTest, SideName, compare, compare_by};
use jurat::gate::{GateOptions, GateReport, GateVerdict, PolicySource};
use jurat_format::value::FieldPath;
use jurat_report::{Style, comparison, gate};
use pyo3::prelude::*;

use crate::error::{raised, usage};

/// A side: what people write, or the file and the id of an open run.
#[derive(FromPyObject)]
pub(crate) enum Side {
    Text(String),
    Run((PathBuf, String)),
}

impl From<Side> for SideName {
    fn from(side: Side) -> SideName {
        match side {
            Side::Text(text) => SideName::Text(text),
            Side::Run((file, id)) => SideName::Run { file, id },
        }
    }
}

/// How runs are compared: the keywords of `jurat.compare`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Options {
    by: Option<String>,
    base: Option<String>,
    confidence: f64,
    cluster: Option<String>,
    unpaired: bool,
    include_changed: bool,
    allow: Vec<String>,
    common: bool,
    test: String,
    described: usize,
    calibrations: Vec<PathBuf>,
}

/// A report as it is written: JSON, text and Markdown.
type Documents = (String, String, String);

/// Compares the first of some sides with each other one, or the variants of the only one.
#[pyfunction]
pub(crate) fn compare_runs(
    py: Python<'_>,
    directory: PathBuf,
    sides: Vec<Side>,
    options: Options,
) -> PyResult<Documents> {
    let how = how(py, &options)?;
    let dimension = options.by.as_deref().map(|it| dimension(py, it)).transpose()?;
    let sides: Vec<SideName> = sides.into_iter().map(SideName::from).collect();
    let compared = py.detach(|| match (dimension, sides.first()) {
        (Some(dimension), Some(run)) => compare_by(&directory, run.clone(), dimension, options.base.as_deref(), &how),
        _ => compare(&directory, sides.iter().cloned(), &how),
    });
    let found = compared.map_err(|error| raised(py, &error))?;
    let shown = comparison::ComparisonOptions { most_cases: options.described, ..Default::default() };
    Ok((
        text(|out| comparison::write_json(out, &found, false))?,
        text(|out| comparison::write_text(out, &found, shown, Style::Plain, None))?,
        text(|out| comparison::write_markdown(out, &found))?,
    ))
}

fn how(py: Python<'_>, options: &Options) -> PyResult<CompareOptions> {
    let confidence = confidence(py, options.confidence)?;
    let cluster = options.cluster.as_deref().map(FieldPath::parse).transpose();
    let cluster = cluster.map_err(|error| usage(py, format!("`cluster` is no path: {}", error.message)))?;
    let score_test = match options.test.as_str() {
        "sign_flip" => ScoreTest::SignFlip,
        "wilcoxon" => ScoreTest::Wilcoxon,
        other => return Err(usage(py, format!("`test` is `sign_flip` or `wilcoxon`, not `{other}`"))),
    };
    if let Some(other) = options.allow.iter().find(|it| *it != "suite") {
        return Err(usage(py, format!("`allow` may have `suite`, not `{other}`")));
    }
    Ok(CompareOptions {
        confidence,
        unpaired: options.unpaired,
        include_changed: options.include_changed,
        allow: options.allow.clone(),
        cluster,
        score_test,
        common: options.common,
        listed: usize::MAX,
        described: options.described,
        calibrations: open(&options.calibrations).map_err(|error| raised(py, &error))?,
        ..CompareOptions::default()
    })
}

/// The confidence of intervals.
pub(crate) fn confidence(py: Python<'_>, level: f64) -> PyResult<Confidence> {
    let wrong = || usage(py, format!("`confidence` lies between 0 and 1, such as 0.95, not {level}"));
    Confidence::new(level).ok_or_else(wrong)
}

fn dimension(py: Python<'_>, by: &str) -> PyResult<Dimension> {
    match by {
        "prompt" => Ok(Dimension::Prompt),
        "subject" => Ok(Dimension::Subject),
        other => Err(usage(py, format!("`by` is `prompt` or `subject`, not `{other}`"))),
    }
}

/// Decides whether a run may pass. The policy is a file, or the text of one.
#[pyfunction]
#[pyo3(signature = (directory, new, base = None, policy_file = None, policy_text = None))]
pub(crate) fn gate_run(
    py: Python<'_>,
    directory: PathBuf,
    new: Side,
    base: Option<Side>,
    policy_file: Option<PathBuf>,
    policy_text: Option<String>,
) -> PyResult<Documents> {
    let policy = policy_file.map(PolicySource::File).or(policy_text.map(PolicySource::Text));
    let options = GateOptions { base: base.map(SideName::from), policy, ..GateOptions::default() };
    let decided = py.detach(|| jurat::gate::gate(&directory, SideName::from(new), &options));
    let report = decided.map_err(|error| raised(py, &error))?;
    Ok((
        text(|out| gate::write_json(out, &report, exit_code(&report)))?,
        text(|out| gate::write_text(out, &report, Style::Plain, None))?,
        text(|out| gate::write_markdown(out, &report))?,
    ))
}

/// What the command ends with by default.
fn exit_code(report: &GateReport) -> u8 {
    match report.verdict {
        GateVerdict::Pass => 0,
        GateVerdict::Fail => 1,
        GateVerdict::Undecided => 6,
    }
}

/// What a writer writes.
pub(crate) fn text(write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>) -> PyResult<String> {
    let mut written = Vec::new();
    write(&mut written)?;
    Ok(String::from_utf8_lossy(&written).into_owned())
}
