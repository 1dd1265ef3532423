//! `jurat compare`: two or more runs, case by case.

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use jurat::calibration;
use jurat::contrast::{CompareOptions, Comparison, Confidence, Dimension, ScoreTest, compare, compare_by};
use jurat_format::value::FieldPath;
use jurat_report::comparison::{ComparisonOptions, write_json, write_markdown, write_text};

use crate::exit::Exit;
use crate::failure::{Failure, Stopped, exit_unless_nothing};
use crate::format::style;
use crate::progress::window;

/// Compares runs case by case: which cases changed, and whether the difference is more than chance
///
/// Cases are paired by the id of their row. What could not be paired or judged is counted and bounded. A difference is always NEW − BASE. Nothing is drawn at
/// random: the same runs give the same output.
#[derive(Args)]
pub(crate) struct Compare {
    /// The run that others are compared with: a file, the beginning of its name, or `latest`; `RUN@subject=NAME` is a part of it
    base: String,
    /// The runs that are compared with it
    #[arg(required_unless_present = "by")]
    new: Vec<String>,
    /// Compare the prompts or the subjects of one run
    #[arg(long, value_enum, value_name = "WHAT", conflicts_with_all = ["new", "unpaired"])]
    by: Option<By>,
    /// With `--by`, the prompt or subject that is BASE [default: the first of the suite]
    #[arg(long = "base", value_name = "NAME", requires = "by")]
    base_name: Option<String>,
    #[command(flatten)]
    options: ComparisonArguments,
    /// List all cases that changed
    #[arg(long)]
    all: bool,
    /// Leave out p values
    #[arg(long)]
    plain: bool,
    /// Write only what a replay reproduces byte for byte
    #[arg(long)]
    results_only: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t = ComparisonFormat::Text)]
    format: ComparisonFormat,
    /// Short for `--format json`
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

/// How sides are compared.
#[derive(Args)]
pub(crate) struct ComparisonArguments {
    /// The confidence of intervals
    #[arg(long, value_name = "SHARE", default_value = "0.95", value_parser = confidence)]
    confidence: Confidence,
    /// The path of what rows share, such as a document [default: `cluster_by` of the suite]
    #[arg(long, value_name = "PATH", value_parser = path)]
    cluster: Option<FieldPath>,
    /// Compare the sides as independent samples, for runs that share no cases
    #[arg(long)]
    unpaired: bool,
    /// Also compare rows that have the same id and other content
    #[arg(long)]
    include_changed: bool,
    /// What may differ all the same
    #[arg(long, value_name = "WHAT", value_parser = ["suite"])]
    allow: Vec<String>,
    /// Compare three and more runs on the cases that all of them have
    #[arg(long)]
    common: bool,
    /// A calibration of a judge, by which differences are corrected; may be repeated [default: those of the project]
    #[arg(long, value_name = "FILE")]
    calibration: Vec<PathBuf>,
    /// The test of scores
    #[arg(long, value_enum, value_name = "TEST", default_value_t = Test::SignFlip)]
    test: Test,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq)]
enum By {
    Prompt,
    Subject,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq)]
enum Test {
    /// Every way in which the signs of the differences could have fallen
    SignFlip,
    /// Wilcoxon's signed ranks
    Wilcoxon,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq)]
enum ComparisonFormat {
    /// Text for people
    Text,
    /// JSON for programs
    Json,
    /// Markdown for pull requests
    Markdown,
}

/// A share between 0 and 1.
pub(crate) fn confidence(text: &str) -> Result<Confidence, String> {
    let level: f64 = text.parse().map_err(|_| "a confidence is a number such as 0.95".to_owned())?;
    Confidence::new(level).ok_or_else(|| "a confidence lies between 0 and 1, such as 0.95".to_owned())
}

fn path(text: &str) -> Result<FieldPath, String> {
    FieldPath::parse(text).map_err(|it| it.message)
}

impl ComparisonArguments {
    fn options(&self, listed: usize, described: usize) -> Result<CompareOptions, jurat::Error> {
        Ok(CompareOptions {
            confidence: self.confidence,
            unpaired: self.unpaired,
            include_changed: self.include_changed,
            allow: self.allow.clone(),
            cluster: self.cluster.clone(),
            score_test: match self.test {
                Test::SignFlip => ScoreTest::SignFlip,
                Test::Wilcoxon => ScoreTest::Wilcoxon,
            },
            common: self.common,
            listed,
            described,
            calibrations: calibration::open(&self.calibration)?,
            ..CompareOptions::default()
        })
    }
}

/// How many changed cases are listed in each direction.
const MOST_CASES: usize = 10;
/// The same in Markdown.
const MOST_MARKDOWN_CASES: usize = 20;

impl Compare {
    pub(crate) fn run(&self) -> Exit {
        let written = self.compared().map_err(Stopped::from).and_then(|it| Ok(self.write(&it)?));
        exit_unless_nothing(written.map(|()| Exit::Good))
    }

    fn compared(&self) -> Result<Comparison, jurat::Error> {
        let most = self.most_cases();
        // A program that reads JSON gets every case that changed; what was answered, of the first.
        let listed = if self.format() == ComparisonFormat::Json { usize::MAX } else { most };
        let options = self.options.options(listed, most)?;
        let dimension = self.by.map(|it| match it {
            By::Prompt => Dimension::Prompt,
            By::Subject => Dimension::Subject,
        });
        match dimension {
            Some(dimension) => compare_by(".", &self.base, dimension, self.base_name.as_deref(), &options),
            None => compare(".", std::iter::once(&self.base).chain(&self.new), &options),
        }
    }

    fn format(&self) -> ComparisonFormat {
        if self.json { ComparisonFormat::Json } else { self.format }
    }

    fn most_cases(&self) -> usize {
        match self.format() {
            _ if self.all => usize::MAX,
            ComparisonFormat::Markdown => MOST_MARKDOWN_CASES,
            ComparisonFormat::Text | ComparisonFormat::Json => MOST_CASES,
        }
    }

    fn write(&self, comparison: &Comparison) -> Result<(), Failure> {
        let mut out = BufWriter::new(io::stdout().lock());
        let options =
            ComparisonOptions { most_cases: self.most_cases(), is_plain: self.plain, results_only: self.results_only };
        match self.format() {
            ComparisonFormat::Text => write_text(&mut out, comparison, options, style(&io::stdout()), window())?,
            ComparisonFormat::Json => write_json(&mut out, comparison, self.results_only)?,
            ComparisonFormat::Markdown => write_markdown(&mut out, comparison)?,
        }
        out.flush()?;
        Ok(())
    }
}
