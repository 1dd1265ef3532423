//! `jurat export`: a run for other programs.

use std::collections::BTreeMap;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::PathBuf;

use clap::Args;
use jurat_engine::view::RunView;
use jurat_report::Scope;
use jurat_store::run::StoredCase;

use crate::drawing::note_missing_rows;
use crate::exit::Exit;
use crate::failure::{Failure, told};
use crate::results_file::{ColumnsOption, Results, To};
use crate::run_name::{LATEST, run_file};

/// Writes a run to a file for other programs: a table, a JUnit report, a summary or a recording
///
/// JSON lines, CSV and Parquet have a row for each task of each case, with the data that was judged. Effects are the requests and responses of
/// models, one per line, for `jurat run --replay FILE`. None of them holds keys, because runs do not.
#[derive(Args)]
pub(crate) struct Export {
    /// The run: a file, the beginning of its name, or `latest`
    #[arg(default_value = LATEST)]
    run: String,
    /// Write only this case, for formats that list cases: its id, the beginning of it, or `FILE:ROW`; may be repeated
    #[arg(long = "case", value_name = "CASE")]
    cases: Vec<String>,
    /// Output format [default: by the extension of the file]
    #[arg(long, value_enum, value_name = "FORMAT")]
    to: Option<To>,
    /// Short for `--to effects`
    #[arg(long, conflicts_with_all = ["to", "json"])]
    effects: bool,
    /// Short for `--to json`
    #[arg(long, conflicts_with = "to")]
    json: bool,
    /// Output file [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    columns: ColumnsOption,
    /// Write only what a replay reproduces byte for byte
    #[arg(long)]
    results_only: bool,
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
        self.can_be_part(to)?;
        let view = RunView::open(&run_file(&self.run)?)?;
        let only = self.only(&view)?;
        let report = view.report()?;
        if let Some(fault) = &report.fault {
            writeln!(io::stderr(), "not all cases are here: {}", jurat_report::visible_line(fault))?;
        }
        let scope = if self.results_only { Scope::ResultsOnly } else { Scope::Everything };
        let results = Results { view: &view, report: &report, only: only.as_deref(), scope, columns: &self.columns };
        match &self.output {
            None => results.write(to, Box::new(BufWriter::new(io::stdout())))?,
            Some(path) => results.write_file(to, path)?,
        }
        note_missing_rows(&view)?;
        Ok(Exit::Good)
    }

    /// Whether the format can hold some of the cases alone. The totals of the others are about the whole run.
    fn can_be_part(&self, to: To) -> Result<(), Failure> {
        let name = match to {
            To::Junit => "junit",
            To::Markdown => "markdown",
            To::Jsonl | To::Csv | To::Parquet | To::Json | To::Effects => return Ok(()),
        };
        if self.cases.is_empty() {
            return Ok(());
        }
        Err(Failure::Reason(format!(
            "`{name}` is about the whole run; `--case` is for `jsonl`, `csv`, `parquet`, `json` and `effects`"
        )))
    }

    /// The cases that are named, in the order of the run; nothing when none is.
    fn only(&self, view: &RunView) -> Result<Option<Vec<StoredCase>>, Failure> {
        if self.cases.is_empty() {
            return Ok(None);
        }
        let mut only = BTreeMap::new();
        for name in &self.cases {
            only.extend(view.known_cases(name)?.into_iter().map(|it| (it.case_ix, it)));
        }
        Ok(Some(only.into_values().collect()))
    }

    /// The format that was named, or that the name of the file says.
    fn to(&self) -> Result<To, Failure> {
        let said = self.to.or(self.effects.then_some(To::Effects)).or(self.json.then_some(To::Json));
        said.or_else(|| self.output.as_deref().and_then(To::of_name)).ok_or_else(|| {
            Failure::Reason(
                "name a format with `--to`: `jsonl`, `csv`, `parquet`, `junit`, `markdown`, `json` or `effects`"
                    .to_owned(),
            )
        })
    }
}
