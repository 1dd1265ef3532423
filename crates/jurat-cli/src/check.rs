//! `jurat check`: everything that can be known about a suite before spending anything on it.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use jurat_core::plan::{self, Samples};
use jurat_core::suite::problem::{Problem, Severity};
use jurat_core::suite::source::Sources;
use jurat_core::suite::{Loaded, Records, RowFormat, RowSource, Suite, load, unreadable};
use jurat_core::value::Value;
use jurat_store::Disk;
use jurat_store::records::{Format as StoredFormat, SampleError, SampleLimits, sample};

use crate::exit::Exit;
use crate::format::{Format, FormatOption, style};

/// Reports everything that is wrong with suites, without running them
///
/// Reads the definition, what it includes, its prompts, and up to 100 sample rows of its data. Nothing is sent anywhere.
#[derive(Args)]
pub(crate) struct Check {
    /// The suites; `jurat.yaml` in the current directory when none is named
    files: Vec<PathBuf>,
    /// Warnings count as errors
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    format: FormatOption,
}

/// The suite that is found by itself.
const DEFAULT: &str = "jurat.yaml";

impl Check {
    pub(crate) fn run(&self) -> Exit {
        let default = [PathBuf::from(DEFAULT)];
        let files = if self.files.is_empty() { &default[..] } else { &self.files };
        let checked: Vec<Checked> = files.iter().map(|it| Checked::of(it)).collect();
        let printed = match self.format.get() {
            Format::Text => self.print_text(&checked),
            Format::Json => print_json(&checked),
        };
        match printed {
            // A reader that goes away early is no failure of ours; anything else about output is.
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Exit::Wrong,
            _ if checked.iter().all(|it| self.accepts(it)) => Exit::Good,
            _ => Exit::Wrong,
        }
    }

    /// Whether a suite would run.
    fn accepts(&self, checked: &Checked) -> bool {
        match checked.problems.iter().map(Problem::severity).min() {
            None => true,
            Some(Severity::Warning) => !self.strict,
            Some(Severity::Error) => false,
        }
    }

    fn print_text(&self, checked: &[Checked]) -> io::Result<()> {
        let mut out = io::stderr().lock();
        let style = style(&out);
        for Checked { sources, problems, .. } in checked {
            jurat_report::write_problems(&mut out, problems, sources, style)?;
        }
        let all: Vec<Problem> = checked.iter().flat_map(|it| &it.problems).cloned().collect();
        if !all.is_empty() {
            jurat_report::write_summary(&mut out, &all, style)?;
        }
        if self.files.is_empty() && checked.iter().any(|it| it.sources.iter().next().is_none()) {
            writeln!(out, "name a suite: `jurat check FILE...`")?;
        }
        let mut out = io::stdout().lock();
        for Checked { file, suite, n_rows, .. } in checked.iter().filter(|it| self.accepts(it)) {
            let file = file.display().to_string();
            let (tasks, rows) = (counted(suite.tasks.len(), "task"), counted(*n_rows, "sample row"));
            writeln!(out, "{}: {tasks}, {rows}, ready to run", jurat_report::visible_line(&file))?;
        }
        Ok(())
    }
}

/// One suite and what is wrong with it.
struct Checked {
    file: PathBuf,
    suite: Suite,
    sources: Sources,
    problems: Vec<Problem>,
    n_rows: usize,
}

impl Checked {
    fn of(file: &Path) -> Checked {
        let Loaded { suite, sources, mut problems } = load(file, &Disk);
        let samples = sampled(&suite, &mut problems);
        problems.extend(plan::examine(&suite, &samples));
        Checked { file: file.to_owned(), suite, sources, problems, n_rows: samples.rows.len() }
    }
}

/// The first rows of each source. What cannot be looked at now (standard input, Parquet) makes the sample partial.
fn sampled(suite: &Suite, problems: &mut Vec<Problem>) -> Samples {
    let mut samples = Samples::default();
    for records in &suite.records {
        match &records.from {
            RowSource::StandardInput => samples.is_partial = true,
            RowSource::Inline(rows) => samples.rows.extend(rows.iter().map(|it| it.value.clone())),
            RowSource::Files(files) => {
                for file in files {
                    match sample(&file.path, records.format.map(stored), SampleLimits::default()) {
                        Ok(sample) => samples.rows.extend(sample.rows.into_iter().map(|it| typed(records, it))),
                        Err(SampleError::Unsupported(_)) => samples.is_partial = true,
                        Err(error) => {
                            samples.is_partial = true;
                            let missing = matches!(error, SampleError::NotFound);
                            problems.push(unreadable(
                                file.written.span,
                                &file.written.value,
                                &error.to_string(),
                                missing,
                            ));
                        }
                    }
                }
            }
        }
    }
    samples
}

fn stored(format: RowFormat) -> StoredFormat {
    match format {
        RowFormat::JsonLines => StoredFormat::JsonLines,
        RowFormat::Json => StoredFormat::Json,
        RowFormat::Csv => StoredFormat::Csv,
        RowFormat::Parquet => StoredFormat::Parquet,
    }
}

/// The row with the columns that `types` says are not text.
fn typed(records: &Records, row: Value) -> Value {
    records.types.iter().fold(row, |row, (column, kind)| kind.apply(row, &column.value))
}

fn counted(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// One JSON object for all files: places name their file.
fn print_json(checked: &[Checked]) -> io::Result<()> {
    let checked: Vec<(&[Problem], &Sources)> = checked.iter().map(|it| (it.problems.as_slice(), &it.sources)).collect();
    writeln!(io::stdout().lock(), "{}", jurat_report::problems_json(&checked))
}
