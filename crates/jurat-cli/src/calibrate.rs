//! `jurat calibrate`: whether a judge can be trusted, by labels of people.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use jurat::calibration::{
    CalibrateOptions, Calibration, MeasureOptions, ProbeKind, SampleOptions, Weights, calibrate, open, probe, sample,
    store,
};
use jurat::contrast::Confidence;
use jurat::{Run, RunOptions};
use jurat_report::calibration::{CalibrationOptions, write_markdown, write_text};
use jurat_report::counted;

use crate::compare::confidence;
use crate::exit::Exit;
use crate::failure::{Failure, Stopped, exit_unless_nothing};
use crate::format::style;
use crate::progress::window;
use crate::run_name::LATEST;

/// Compares a judge with people: how far its verdicts can be trusted, and what the pass rate would be if people had judged
///
/// `--sample N -o labels.csv` writes a sheet of cases to label. `--labels labels.csv` compares what people wrote there with what the judge said, and stores the
/// result: later reports of runs with the same judge show a pass rate that is corrected for its errors.
#[derive(Args)]
pub(crate) struct Calibrate {
    /// The run: a file, the beginning of its name, or `latest`
    #[arg(default_value = LATEST)]
    run: String,
    /// Files with labels of people: CSV, JSON lines, or the log of the viewer; may be repeated
    #[arg(long, value_name = "FILE", num_args = 1.., required_unless_present = "sample")]
    labels: Vec<PathBuf>,
    /// The task whose judge is compared [default: the only one that asks a judge]
    #[arg(long, value_name = "TASK")]
    task: Option<String>,
    /// Instead, write a sheet of N cases to label, without those that `--labels` has
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    sample: Option<u64>,
    /// With `--sample`: the number that the choice of cases follows from
    #[arg(long, value_name = "N", default_value_t = 1, requires = "sample")]
    seed: u64,
    /// The labelled cases are a simple random part of the run
    #[arg(long, conflicts_with = "sample")]
    random: bool,
    /// The labels have an order: that of the judge's `enum`
    #[arg(long, conflicts_with = "sample")]
    ordered: bool,
    /// How much neighbouring labels count as agreement, where labels have an order
    #[arg(long, value_enum, value_name = "HOW", default_value_t = By::Quadratic)]
    weights: By,
    /// The half-width that intervals should have, such as 0.05: says how many labels that takes [default: half of what they have]
    #[arg(long, value_name = "SHARE", value_parser = half_width)]
    half_width: Option<f64>,
    /// An earlier calibration: says whether the judge agrees with people as it did then
    #[arg(long, value_name = "FILE", conflicts_with = "sample")]
    against: Option<PathBuf>,
    /// Ask the judge about the labelled cases once more with something changed that should not matter; each is a run of its own, `self` needs none
    #[arg(long, value_enum, value_name = "WHAT", value_delimiter = ',', conflicts_with = "sample")]
    probe: Vec<Probe>,
    /// With `--probe`: spend at most this amount in US dollars on each
    #[arg(long, value_name = "USD", requires = "probe")]
    budget_usd: Option<f64>,
    /// With `--probe`: make at most N requests for each
    #[arg(long, value_name = "N", requires = "probe")]
    budget_calls: Option<u64>,
    /// The confidence of intervals
    #[arg(long, value_name = "SHARE", default_value = "0.95", value_parser = confidence)]
    confidence: Confidence,
    /// Do not store the calibration in the project
    #[arg(long, conflicts_with = "sample")]
    no_store: bool,
    /// List all cases on which judge and people disagree
    #[arg(long, conflicts_with = "sample")]
    all: bool,
    /// Write only what a replay reproduces byte for byte
    #[arg(long)]
    results_only: bool,
    /// The file of the calibration, or with `--sample` of the sheet [default: none, and standard output]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Output format
    #[arg(long, value_enum, default_value_t = CalibrationFormat::Text)]
    format: CalibrationFormat,
    /// Short for `--format json`
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq)]
enum By {
    /// Less with every step between labels
    Linear,
    /// Less with the square of the steps
    Quadratic,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq)]
enum Probe {
    /// The options that the judge chooses from, in reverse
    Order,
    /// Answers with a paragraph more that says nothing
    Verbosity,
    /// Wrong answers of the judge's own provider against those of others; asks nothing
    #[value(name = "self")]
    Own,
    /// The same once more
    Repeat,
}

impl Probe {
    /// What is asked; nothing where the labels say it.
    fn kind(self) -> Option<ProbeKind> {
        match self {
            Probe::Order => Some(ProbeKind::Order),
            Probe::Verbosity => Some(ProbeKind::Verbosity),
            Probe::Own => None,
            Probe::Repeat => Some(ProbeKind::Repeat),
        }
    }
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq)]
enum CalibrationFormat {
    /// Text for people
    Text,
    /// JSON for programs: the calibration file
    Json,
    /// Markdown for pull requests
    Markdown,
}

fn half_width(text: &str) -> Result<f64, String> {
    let found = text.parse::<f64>().ok().filter(|it| *it > 0.0 && *it < 1.0);
    found.ok_or_else(|| "a half-width lies between 0 and 1, such as 0.05".to_owned())
}

impl Calibrate {
    pub(crate) fn run(&self) -> Exit {
        let done = match self.sample {
            Some(n) => self.write_sheet(n as usize),
            None => self.compare(),
        };
        exit_unless_nothing(done.map(|()| Exit::Good))
    }

    fn write_sheet(&self, n: usize) -> Result<(), Stopped> {
        let options = SampleOptions { task: self.task.clone(), n, seed: self.seed };
        let (sheet, n_cases) = sample(".", &self.run, &self.labels, &options)?;
        let Some(path) = &self.output else {
            io::stdout().write_all(sheet.as_bytes())?;
            return Ok(());
        };
        written(path, &sheet)?;
        let cases = counted(n_cases as u64, "case");
        writeln!(io::stderr(), "{cases} to label in `{}`: fill in `label` and `annotator`", path.display())?;
        Ok(())
    }

    fn compare(&self) -> Result<(), Stopped> {
        let earlier = match &self.against {
            Some(path) => open(&[path])?.pop(),
            None => None,
        };
        let measure = MeasureOptions {
            confidence: self.confidence,
            weights: match self.weights {
                By::Linear => Weights::Linear,
                By::Quadratic => Weights::Quadratic,
            },
            is_random: self.random,
            wanted: self.half_width,
        };
        let options = CalibrateOptions {
            task: self.task.clone(),
            is_ordered: self.ordered,
            measure,
            earlier,
            ..CalibrateOptions::default()
        };
        // Probes are runs, too, so that the latest one would be another after the first of them.
        let run = Run::find_file(".", &self.run)?.display().to_string();
        let mut calibration = calibrate(".", &run, &self.labels, &options)?;
        for kind in self.probe.iter().filter_map(|it| it.kind()) {
            match probe(".", &run, &calibration, kind, self.run_options()) {
                Ok(result) => calibration.probes.push(result),
                Err(jurat::Error::Nothing(reason)) => writeln!(io::stderr(), "note: {reason}")?,
                Err(error) => return Err(error.into()),
            }
        }
        if !self.no_store {
            store(".", &calibration)?;
        }
        if let Some(path) = &self.output {
            written(path, &calibration.to_json())?;
        }
        self.write(&calibration)?;
        Ok(())
    }

    fn run_options(&self) -> RunOptions {
        let options = self.budget_usd.into_iter().fold(RunOptions::new(), RunOptions::budget_usd);
        self.budget_calls.into_iter().fold(options, RunOptions::budget_calls)
    }

    fn write(&self, calibration: &Calibration) -> io::Result<()> {
        let mut out = BufWriter::new(io::stdout().lock());
        let most_cases = if self.all { usize::MAX } else { CalibrationOptions::default().most_cases };
        let options = CalibrationOptions { most_cases, results_only: self.results_only };
        match if self.json { CalibrationFormat::Json } else { self.format } {
            CalibrationFormat::Text => write_text(&mut out, calibration, options, style(&io::stdout()), window())?,
            CalibrationFormat::Json if self.results_only => {
                out.write_all(calibration.results_only().to_json().as_bytes())?;
            }
            CalibrationFormat::Json => out.write_all(calibration.to_json().as_bytes())?,
            CalibrationFormat::Markdown => write_markdown(&mut out, calibration)?,
        }
        out.flush()
    }
}

fn written(path: &Path, text: &str) -> Result<(), Failure> {
    fs::write(path, text).map_err(|error| Failure::from(format!("`{}` cannot be written: {error}", path.display())))
}
