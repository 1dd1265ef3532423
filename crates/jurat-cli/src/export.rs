//! `jurat export`: a run for other programs.

use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::PathBuf;

use clap::Args;
use jurat_engine::view::RunView;
use jurat_report::Scope;

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
        let view = RunView::open(&run_file(&self.run)?)?;
        let report = view.report()?;
        if let Some(fault) = &report.fault {
            writeln!(io::stderr(), "not all cases are here: {}", jurat_report::visible_line(fault))?;
        }
        let scope = if self.results_only { Scope::ResultsOnly } else { Scope::Everything };
        let results = Results { view: &view, report: &report, scope, columns: &self.columns };
        match &self.output {
            None => results.write(to, Box::new(BufWriter::new(io::stdout())))?,
            Some(path) => results.write_file(to, path)?,
        }
        Ok(Exit::Good)
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
