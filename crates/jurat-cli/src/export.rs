//! `jurat export`: a run for other programs.

use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::PathBuf;

use clap::Args;
use jurat::format::{EFFECTS, Format, Holds, JSON, PARQUET};
use jurat_format::problem::listed;

use crate::exit::Exit;
use crate::failure::{Failure, exit};
use crate::rendered_run::note_missing_rows;
use crate::results_file::{ColumnsOption, format_parser};
use crate::run_name::{LATEST, run_named};

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
    /// Write only the cases that a query finds, for formats that list cases: `verdict:failed -group:lang=de`
    #[arg(long = "where", value_name = "QUERY", allow_hyphen_values = true, conflicts_with = "cases")]
    query: Option<String>,
    /// Output format [default: by the extension of the file]
    #[arg(long, value_name = "FORMAT", value_parser = format_parser())]
    to: Option<&'static Format>,
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
        exit(self.export())
    }

    fn export(&self) -> Result<Exit, Failure> {
        let format = self.format()?;
        if *format == PARQUET && self.output.is_none() && io::stdout().is_terminal() {
            return Err(Failure::Reason("Parquet is not for terminals; write it to a file with `-o FILE`".to_owned()));
        }
        if format.holds == Holds::Run && (self.query.is_some() || !self.cases.is_empty()) {
            let others = Format::names(|it| it.holds != Holds::Run);
            let option = if self.query.is_some() { "--where" } else { "--case" };
            let reason = format!("`{}` is about the whole run; `{option}` is for {others}", format.name);
            return Err(Failure::Reason(reason));
        }
        let run = run_named(&self.run)?;
        let mut export = self.columns.export(&run, self.results_only)?;
        if !self.cases.is_empty() {
            export = export.cases(&self.cases)?;
        }
        if let Some(query) = &self.query {
            export = export.found_by(query)?;
        }
        if let Some(fault) = &run.report().fault {
            writeln!(io::stderr(), "not all cases are here: {}", jurat_report::visible_line(fault))?;
        }
        match &self.output {
            None => export.write(format, BufWriter::new(io::stdout()))?,
            Some(path) => export.write_file(format, path)?,
        }
        note_missing_rows(run.view())?;
        Ok(Exit::Good)
    }

    /// The format that was named, or that the name of the file says.
    fn format(&self) -> Result<&'static Format, Failure> {
        let named = self.to.or(self.effects.then_some(&EFFECTS)).or(self.json.then_some(&JSON));
        named.or_else(|| self.output.as_deref().and_then(Format::of_file)).ok_or_else(|| {
            let names = listed(jurat::format::FORMATS.iter().map(|it| it.name));
            Failure::Reason(format!("name a format with `--to`: {names}"))
        })
    }
}
