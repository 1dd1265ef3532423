//! `jurat check`: everything that can be known about a suite before spending anything on it.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use jurat::{Checked, Problems};
use jurat_format::problem::{Problem, Severity};
use jurat_format::source::Sources;

use crate::definition::{self, ProfileOptions};
use crate::exit::Exit;
use crate::failure::print_reason;
use crate::failure::without_notes;
use crate::format::{Format, FormatOption, style};
use crate::run_arguments::{OfCheck, RunArguments};

/// Reports all problems of suites, without running them
///
/// Reads the definition, what it includes, its prompts, and up to 100 sample rows of its data, and looks for the models, scripts, programs, files and
/// the sandbox that a run needs. Nothing that the suite names is started, and nothing is sent. A key that is not set or a missing sandbox is a note: the suite may be run elsewhere.
#[derive(Args)]
pub(crate) struct Check {
    /// The suites [default: jurat.yaml]
    files: Vec<PathBuf>,
    #[command(flatten)]
    profiles: ProfileOptions,
    #[command(flatten)]
    options: RunArguments<OfCheck>,
    /// Treat warnings as errors
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    format: FormatOption,
}

impl Check {
    pub(crate) fn run(&self) -> Exit {
        let default = [PathBuf::from(definition::DEFAULT)];
        let files = if self.files.is_empty() { &default[..] } else { &self.files };
        let checked: Option<Vec<(PathBuf, Checked)>> = files.iter().map(|it| self.checked(it)).collect();
        let Some(checked) = checked else { return Exit::Wrong };
        let printed = match self.format.get() {
            Format::Text => self.print_text(&checked),
            Format::Json => print_json(&checked),
        };
        match printed {
            // A reader that goes away early is no failure of ours; anything else about output is.
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Exit::Wrong,
            _ if checked.iter().all(|(_, it)| self.accepts(&it.problems())) => Exit::Good,
            _ => Exit::Wrong,
        }
    }

    /// A suite with everything that is wrong with it, on this machine.
    fn checked(&self, file: &Path) -> Option<(PathBuf, Checked)> {
        let mut checked = definition::read(file, &self.profiles)?;
        checked.parse_code();
        let required = checked.require(&self.options.options());
        required.map_err(|error| print_reason(&error.to_string())).ok()?;
        Some((file.to_owned(), checked))
    }

    /// Whether a suite would run.
    fn accepts(&self, problems: &Problems) -> bool {
        match problems.as_slice().iter().map(Problem::severity).min() {
            None | Some(Severity::Note) => true,
            Some(Severity::Warning) => !self.strict,
            Some(Severity::Error) => false,
        }
    }

    fn print_text(&self, checked: &[(PathBuf, Checked)]) -> io::Result<()> {
        let mut out = io::stderr().lock();
        let style = style(&out);
        let mut all = Vec::new();
        for (_, it) in checked {
            let problems = without_notes(&it.problems());
            jurat_report::write_problems(&mut out, &problems, it.problems().sources(), style)?;
            all.extend(problems);
        }
        if !all.is_empty() {
            jurat_report::write_summary(&mut out, &all, style)?;
        }
        let mut out = io::stdout().lock();
        for (file, it) in checked.iter().filter(|(_, it)| self.accepts(&it.problems())) {
            let file = file.display().to_string();
            writeln!(out, "{}: {}, ready to run", jurat_report::visible_line(&file), it.contents())?;
            write_notes(&mut out, &it.problems())?;
        }
        Ok(())
    }
}

/// What `run` would refuse on this machine as it is now.
fn write_notes(out: &mut dyn Write, problems: &Problems) -> io::Result<()> {
    for note in problems.as_slice().iter().filter(|it| it.severity() == Severity::Note) {
        let place = note.labels.first().and_then(|it| {
            let (start, _) = problems.sources().position(it.span);
            let path = problems.sources().get(it.span.source)?.path.display().to_string();
            Some(format!(" ({path}:{}:{})", start.line, start.column))
        });
        let line = format!("{}{}", note.message, place.unwrap_or_default());
        writeln!(out, "  note: {}", jurat_report::visible_line(&line))?;
    }
    Ok(())
}

/// One JSON object for all files: places name their file.
fn print_json(checked: &[(PathBuf, Checked)]) -> io::Result<()> {
    let problems: Vec<Problems> = checked.iter().map(|(_, it)| it.problems()).collect();
    let problems: Vec<(&[Problem], &Sources)> = problems.iter().map(|it| (it.as_slice(), it.sources())).collect();
    writeln!(io::stdout().lock(), "{}", jurat_report::problems_json(&problems))
}
