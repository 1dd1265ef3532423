//! `jurat export`: a run for other programs.

use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::PathBuf;

use clap::Args;
use jurat::format::{EFFECTS, Format, HTML, Holds, JSON, PARQUET, PageOptions};
use jurat_format::problem::listed;
use jurat_format::value::FieldPath;

use crate::exit::Exit;
use crate::failure::{Failure, exit};
use crate::rendered_run::note_missing_rows;
use crate::results_file::{ColumnsOption, format_parser};
use crate::run_name::{LATEST, run_file, run_named};

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
    /// Write only the cases that a query finds, for formats that list cases and for `html`: `verdict:failed -group:lang=de`
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
    #[command(flatten)]
    page: PageArguments,
}

/// What a page holds.
#[derive(Args)]
struct PageArguments {
    /// With `--to html`: give the details of at most N cases; errors come first, then failures [default: 5000]
    #[arg(long = "cases", value_name = "N")]
    most_cases: Option<usize>,
    /// With `--to html`: the largest size of the file, such as `10MiB` [default: 25MiB]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    max_size: Option<u64>,
    /// With `--to html`: leave out what rows have at this path, wherever its text stands; may be repeated
    #[arg(long, value_name = "PATH", value_parser = path)]
    omit: Vec<FieldPath>,
    /// With `--to html`: compare with this run, which is BASE
    #[arg(long, value_name = "RUN")]
    with: Option<String>,
}

impl PageArguments {
    fn is_given(&self) -> bool {
        self.most_cases.is_some() || self.max_size.is_some() || !self.omit.is_empty() || self.with.is_some()
    }

    fn options(&self) -> Result<PageOptions, Failure> {
        let default = PageOptions::default();
        Ok(PageOptions {
            cases: self.most_cases.unwrap_or(default.cases),
            max_bytes: self.max_size.unwrap_or(default.max_bytes),
            omit: self.omit.clone(),
            with: self.with.as_deref().map(run_file).transpose()?,
            ..default
        })
    }
}

fn path(text: &str) -> Result<FieldPath, String> {
    FieldPath::parse(text).map_err(|it| it.message)
}

/// `25MiB`, `500kB`, `1000000`
fn size(text: &str) -> Result<u64, String> {
    let at = text.find(|it: char| !it.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(at);
    let units = [("", 1), ("B", 1), ("kB", 1_000), ("MB", 1_000_000), ("GB", 1_000_000_000)];
    let binary = [("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)];
    let unit = units.into_iter().chain(binary).find(|it| it.0 == unit.trim());
    let size = number.parse().ok().zip(unit).and_then(|(number, (_, unit)): (u64, _)| number.checked_mul(unit));
    size.ok_or_else(|| "a size is a number with `kB`, `MB`, `KiB` or `MiB` behind it, such as `25MiB`".to_owned())
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
        let is_for_others = self.query.is_some() && *format != HTML;
        if format.holds == Holds::Run && (is_for_others || !self.cases.is_empty()) {
            let others = Format::names(|it| it.holds != Holds::Run || is_for_others && *it == HTML);
            let option = if is_for_others { "--where" } else { "--case" };
            let reason = format!("`{}` is about the whole run; `{option}` is for {others}", format.name);
            return Err(Failure::Reason(reason));
        }
        if *format != HTML && self.page.is_given() {
            let reason = "`--cases`, `--max-size`, `--omit` and `--with` are for `html`; `--case` names cases";
            return Err(Failure::Reason(reason.to_owned()));
        }
        let run = run_named(&self.run)?;
        let mut export = self.columns.export(&run, self.results_only)?.page(self.page.options()?);
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
