//! `jurat import`: what other tools store, as suites, rows and runs.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use jurat::import::{By, Class, Entry, Imported, KINDS, Kind, Options, Totals, Unfinished};
use jurat::{Checked, Profiles};
use jurat_format::codes;
use jurat_format::problem::{Problem, Severity};
use jurat_format::value::{Val, Value};
use jurat_report::visible_line;

use crate::exit::Exit;
use crate::failure::without_notes;
use crate::failure::{Failure, exit};
use crate::format::{Format, FormatOption, style};

/// Reads configurations, traces and logs of other tools into suites, rows and runs
///
/// Prints what is approximate and what was dropped, with its line and the reason; `import.json` lists everything. Nothing of the source is run, and
/// nothing is fetched. Without `-o` nothing is written. Existing files are never overwritten.
///
/// Exit codes: 0 when everything was taken over exactly, 1 when something is approximate or was dropped, 2 when the source cannot be read.
#[derive(Args)]
pub(crate) struct Import {
    /// What to import: files, or a directory with them
    #[arg(required = true, value_name = "SOURCE")]
    sources: Vec<PathBuf>,
    /// The kind of the source [default: by its content]
    #[arg(long, value_name = "KIND", value_parser = PossibleValuesParser::new(KINDS.iter().map(|it| it.name)))]
    from: Option<String>,
    /// Directory to write to; created if it does not exist
    #[arg(long, short, value_name = "DIR")]
    output: Option<PathBuf>,
    /// What does not make the exit code 1
    #[arg(long, value_enum, value_name = "CLASS", value_delimiter = ',')]
    accept: Vec<Accept>,
    /// List what was taken over exactly, too
    #[arg(long)]
    all: bool,
    /// The name of the suite [default: that of the source]
    #[arg(long)]
    name: Option<String>,
    /// What is one run, in traces
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = ByOption::Trace)]
    by: ByOption,
    /// What is made of traces without an end
    #[arg(long, value_enum, value_name = "STATUS", default_value_t = UnfinishedOption::Dropped)]
    unfinished: UnfinishedOption,
    #[command(flatten)]
    format: FormatOption,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq)]
enum ByOption {
    /// A trace
    Trace,
    /// The outermost span of an agent
    Agent,
    /// All traces of a session
    Session,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq)]
enum UnfinishedOption {
    /// They are dropped
    Dropped,
    /// They are runs that ran out of time
    #[value(name = "timed_out")]
    TimedOut,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq)]
enum Accept {
    /// What is nearly the same
    Approximate,
    /// What was dropped
    Dropped,
}

impl Import {
    pub(crate) fn run(&self) -> Exit {
        exit(self.import())
    }

    fn import(&self) -> Result<Exit, Failure> {
        let options = Options { name: self.name.clone(), by: self.by.into(), unfinished: self.unfinished.into() };
        let imported = jurat::import::import(&self.sources, self.kind(), &options).map_err(|it| it.to_string())?;
        let written = match &self.output {
            None => Vec::new(),
            Some(directory) => jurat::import::write(&imported, directory).map_err(|it| it.to_string())?,
        };
        match self.format.get() {
            Format::Text => self.print_text(&imported, &written)?,
            Format::Json => print_json(&imported, &written)?,
        }
        let suite = written.iter().find(|it| it.ends_with("suite.yaml"));
        let is_sound = suite.map_or(Ok(true), |it| self.check(it))?;
        Ok(if is_sound { self.exit_of(&imported.report.totals()) } else { Exit::Wrong })
    }

    fn kind(&self) -> Option<&'static Kind> {
        let name = self.from.as_deref()?;
        KINDS.iter().copied().find(|it| it.name == name)
    }

    fn exit_of(&self, totals: &Totals) -> Exit {
        let is_fine = |n: usize, accept: Accept| n == 0 || self.accept.contains(&accept);
        match is_fine(totals.approximate, Accept::Approximate) && is_fine(totals.dropped, Accept::Dropped) {
            true => Exit::Good,
            false => Exit::Failed,
        }
    }

    fn print_text(&self, imported: &Imported, written: &[PathBuf]) -> io::Result<()> {
        let mut out = io::stdout().lock();
        writeln!(out, "{}: {}", imported.kind.help, imported.summary)?;
        let listed = imported.report.entries.iter().filter(|it| self.all || it.class != Class::Exact);
        let listed: Vec<&Entry> = listed.collect();
        let width = listed.iter().map(|it| it.at.chars().count()).max().unwrap_or_default();
        for entry in listed {
            let line = format!("  {:width$}  {:11}  {}", entry.at, entry.class.name(), sentence(entry));
            writeln!(out, "{}", visible_line(&line))?;
        }
        let Totals { exact, approximate, dropped } = imported.report.totals();
        writeln!(out, "{exact} exact, {approximate} approximate, {dropped} dropped")?;
        for path in written {
            writeln!(out, "wrote {}", visible_line(&path.display().to_string()))?;
        }
        if written.is_empty() {
            writeln!(out, "nothing was written; `-o DIR` says where to")?;
        }
        Ok(())
    }

    /// Whether `check` accepts what was written; prints what it finds. A role that the source leaves open is filled when the suite runs.
    fn check(&self, suite: &Path) -> Result<bool, Failure> {
        let mut checked = Checked::read(suite, &Profiles::default())?;
        checked.parse_code();
        let problems = checked.problems();
        let is_open = |it: &Problem| *it.code == codes::NO_MODEL;
        let found = without_notes(&problems).into_iter().filter(|it| !is_open(it)).collect::<Vec<_>>();
        let is_sound = found.iter().all(|it| it.severity() != Severity::Error);
        if self.format.get() == Format::Text {
            let style = style(&io::stderr());
            jurat_report::write_problems(&mut io::stderr().lock(), &found, problems.sources(), style)?;
            if is_sound {
                self.print_next(suite, &checked.contents(), problems.as_slice().iter().filter(|it| is_open(it)))?;
            }
        }
        Ok(is_sound)
    }

    fn print_next<'p>(&self, suite: &Path, contents: &str, open: impl Iterator<Item = &'p Problem>) -> io::Result<()> {
        let mut out = io::stdout().lock();
        writeln!(out, "{}: {contents}, ready to run", visible_line(&suite.display().to_string()))?;
        for problem in open {
            let help = problem.help.first().map(|it| format!("; {it}")).unwrap_or_default();
            writeln!(out, "  open: {}", visible_line(&format!("{}{help}", problem.message)))?;
        }
        Ok(())
    }
}

impl From<ByOption> for By {
    fn from(by: ByOption) -> By {
        match by {
            ByOption::Trace => By::Trace,
            ByOption::Agent => By::Agent,
            ByOption::Session => By::Session,
        }
    }
}

impl From<UnfinishedOption> for Unfinished {
    fn from(unfinished: UnfinishedOption) -> Unfinished {
        match unfinished {
            UnfinishedOption::Dropped => Unfinished::Dropped,
            UnfinishedOption::TimedOut => Unfinished::TimedOut,
        }
    }
}

/// "assertion `icontains` → task `icontains`: why"
fn sentence(entry: &Entry) -> String {
    let mut line = entry.what.clone();
    if let Some(into) = &entry.into {
        line += &format!(" → {into}");
    }
    if let Some(why) = &entry.why {
        line += &format!(": {why}");
    }
    line
}

fn print_json(imported: &Imported, written: &[PathBuf]) -> io::Result<()> {
    let files: Value = written.iter().map(|it| Val::from(it.display().to_string())).collect();
    let about = [
        ("version", Val::I(1)),
        ("kind", Val::from(imported.kind.name)),
        ("summary", Val::from(imported.summary.clone())),
        ("files", files),
    ];
    writeln!(io::stdout().lock(), "{}", imported.report.to_json(about.into_iter().collect()))
}
