//! `jurat export`: a run for other programs.

use std::fs::{self, File};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use jurat_engine::view::{Detailed, NOT_PASSED, ParquetWriter, RunView};
use jurat_report::model::RunReport;
use jurat_report::{
    CaseWriter, CsvWriter, JsonLinesWriter, JsonWriter, JunitWriter, MOST_MARKDOWN_CASES, MarkdownWriter, Scope,
};
use jurat_store::run::Column;

use crate::drawing::write_cases;
use crate::exit::Exit;
use crate::failure::{Failure, told};
use crate::run_name::{LATEST, run_file};

/// Writes a run for other programs: as a table, as tests, as a summary or as a recording
///
/// JSON lines, CSV and Parquet have a row for each task of each case. Effects are what models were asked and answered, one a line;
/// `jurat run --replay FILE` takes them. Keys are in none of them, because runs do not hold any.
#[derive(Args)]
pub(crate) struct Export {
    /// The run: a file, the beginning of its name, or `latest`
    #[arg(default_value = LATEST)]
    run: String,
    /// What to write; the name of the file says it, too
    #[arg(long, value_enum, value_name = "FORMAT")]
    to: Option<To>,
    /// Short for `--to effects`
    #[arg(long, conflicts_with_all = ["to", "json"])]
    effects: bool,
    /// Short for `--to json`
    #[arg(long, conflicts_with = "to")]
    json: bool,
    /// Where to write it; to standard output when no file is named
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Writes only what a replay reproduces byte for byte
    #[arg(long)]
    results_only: bool,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq)]
enum To {
    /// A JSON object for each task of each case (`.jsonl`)
    Jsonl,
    /// The same as a table (`.csv`)
    Csv,
    /// The same as a table with types (`.parquet`)
    Parquet,
    /// Tests for continuous integration (`.xml`)
    Junit,
    /// A summary for a pull request (`.md`)
    Markdown,
    /// The whole run as one object (`.json`)
    Json,
    /// What was asked and answered, for replay
    Effects,
}

impl Export {
    pub(crate) fn run(&self) -> Exit {
        told(self.export())
    }

    fn export(&self) -> Result<Exit, Failure> {
        let to = self.to()?;
        if to == To::Parquet && self.output.is_none() && io::stdout().is_terminal() {
            return Err(Failure::Reason("Parquet is not for terminals; write it to a file with `-o FILE`".to_owned()));
        }
        let view = RunView::open(&run_file(&self.run)?)?;
        let report = view.report()?;
        if let Some(fault) = &report.fault {
            writeln!(io::stderr(), "not all cases are here: {}", jurat_report::visible_line(fault))?;
        }
        match &self.output {
            None => self.write(to, &view, &report, Box::new(BufWriter::new(io::stdout())))?,
            Some(path) => self.write_file(to, &view, &report, path)?,
        }
        Ok(Exit::Good)
    }

    /// What is written: what was said, or what the name of the file says.
    fn to(&self) -> Result<To, Failure> {
        let said = self.to.or(self.effects.then_some(To::Effects)).or(self.json.then_some(To::Json));
        let extension = self.output.as_deref().and_then(Path::extension).and_then(|it| it.to_str());
        let by_name = || match extension? {
            "jsonl" | "ndjson" => Some(To::Jsonl),
            "csv" => Some(To::Csv),
            "parquet" => Some(To::Parquet),
            "xml" => Some(To::Junit),
            "md" => Some(To::Markdown),
            "json" => Some(To::Json),
            _ => None,
        };
        said.or_else(by_name).ok_or_else(|| {
            Failure::Reason(
                "say what to write with `--to`: `jsonl`, `csv`, `parquet`, `junit`, `markdown`, `json` or `effects`"
                    .to_owned(),
            )
        })
    }

    /// Writes a file that is there when it is whole, and not before.
    fn write_file(&self, to: To, view: &RunView, report: &RunReport, path: &Path) -> Result<(), Failure> {
        let refused = |error: io::Error| Failure::Reason(format!("`{}` cannot be written: {error}", path.display()));
        // What is no file, such as a pipe, takes what comes.
        let is_file = fs::metadata(path).map_or(true, |it| it.is_file());
        let mut unfinished = path.as_os_str().to_owned();
        unfinished.push(".part");
        let target = if is_file { Path::new(&unfinished) } else { path };
        let file = if is_file { File::create(target) } else { File::options().write(true).open(target) };
        let written = self.write(to, view, report, Box::new(BufWriter::new(file.map_err(refused)?)));
        match written {
            Ok(()) if is_file => fs::rename(target, path).map_err(refused),
            Err(failure) if is_file => {
                // Half a file helps nobody. Whether it can be removed is beside the point.
                let _ = fs::remove_file(target);
                Err(failure)
            }
            other => other,
        }
    }

    fn write(&self, to: To, view: &RunView, report: &RunReport, mut out: Box<dyn Write + Send>) -> Result<(), Failure> {
        let scope = if self.results_only { Scope::ResultsOnly } else { Scope::Everything };
        let mut writer: Box<dyn CaseWriter> = match to {
            To::Effects => return write_effects(view, &mut out),
            To::Parquet => Box::new(ParquetWriter::new(out, report, scope)?),
            To::Jsonl => Box::new(JsonLinesWriter::new(&mut out, report, scope)),
            To::Csv => Box::new(CsvWriter::new(&mut out, report, scope)?),
            To::Junit => Box::new(JunitWriter::new(&mut out, report, scope)?),
            To::Json => Box::new(JsonWriter::new(&mut out, report, scope)?),
            To::Markdown => {
                let mut writer = MarkdownWriter::new(&mut out, report, scope, MOST_MARKDOWN_CASES)?;
                // It shows none that passed.
                write_cases(&mut writer, view.find(Column::CASE, &NOT_PASSED, Detailed::Tasks))?;
                return Ok(());
            }
        };
        write_cases(&mut *writer, view.cases(0..u64::MAX, Detailed::Tasks))?;
        Ok(())
    }
}

fn write_effects(view: &RunView, out: &mut dyn Write) -> Result<(), Failure> {
    for line in view.effect_lines() {
        writeln!(out, "{}", line?.to_json())?;
    }
    Ok(out.flush()?)
}
