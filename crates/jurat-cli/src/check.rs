//! `jurat check`: everything that can be known about a suite before spending anything on it.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use jurat_engine::Examined;
use jurat_format::problem::{Problem, Severity};
use jurat_format::source::Sources;

use crate::asking::role_and_model;
use crate::definition::{self, ProfileOptions};
use crate::exit::Exit;
use crate::format::{Format, FormatOption, style};

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
    /// Model of a role, as `role=provider/model`, as it will be given to `run`; may be repeated
    #[arg(long = "model", value_name = "ROLE=MODEL", value_parser = role_and_model)]
    models: Vec<(String, String)>,
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
        let checked: Option<Vec<Examined>> =
            files.iter().map(|it| definition::read_to_check(it, &self.profiles, &self.models)).collect();
        let Some(checked) = checked else { return Exit::Wrong };
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
    fn accepts(&self, checked: &Examined) -> bool {
        match checked.problems.iter().map(Problem::severity).min() {
            None | Some(Severity::Note) => true,
            Some(Severity::Warning) => !self.strict,
            Some(Severity::Error) => false,
        }
    }

    fn print_text(&self, checked: &[Examined]) -> io::Result<()> {
        let mut out = io::stderr().lock();
        let style = style(&out);
        let mut all = Vec::new();
        for Examined { sources, problems, .. } in checked {
            let problems: Vec<Problem> = problems.iter().filter(|it| !is_note(it)).cloned().collect();
            jurat_report::write_problems(&mut out, &problems, sources, style)?;
            all.extend(problems);
        }
        if !all.is_empty() {
            jurat_report::write_summary(&mut out, &all, style)?;
        }
        let mut out = io::stdout().lock();
        for examined in checked.iter().filter(|it| self.accepts(it)) {
            let Examined { file, suite, samples, .. } = examined;
            let file = file.display().to_string();
            // What a suite has none of is not worth a word; without cases it would not be here.
            let n_scenarios = suite.scenarios.len();
            let scenarios = (n_scenarios > 0).then(|| counted(n_scenarios, "scenario"));
            let n_cases = suite.cases.len();
            let cases = (n_cases > 0).then(|| counted(n_cases, "case"));
            let tasks = Some(counted(suite.tasks.len(), "task"));
            let rows = (!suite.records.is_empty()).then(|| counted(samples.rows.len(), "sample row"));
            let looked_at: Vec<String> = [scenarios, cases, tasks, rows].into_iter().flatten().collect();
            writeln!(out, "{}: {}, ready to run", jurat_report::visible_line(&file), looked_at.join(", "))?;
            write_notes(&mut out, examined)?;
        }
        Ok(())
    }
}

fn is_note(problem: &Problem) -> bool {
    problem.severity() == Severity::Note
}

/// What `run` would refuse on this machine as it is now.
fn write_notes(out: &mut dyn Write, examined: &Examined) -> io::Result<()> {
    for note in examined.problems.iter().filter(|it| is_note(it)) {
        let place = note.labels.first().and_then(|it| {
            let (start, _) = examined.sources.position(it.span);
            let path = examined.sources.get(it.span.source)?.path.display().to_string();
            Some(format!(" ({path}:{}:{})", start.line, start.column))
        });
        let line = format!("{}{}", note.message, place.unwrap_or_default());
        writeln!(out, "  note: {}", jurat_report::visible_line(&line))?;
    }
    Ok(())
}

/// `1 task`, `2 tasks`
pub(crate) fn counted(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// One JSON object for all files: places name their file.
fn print_json(checked: &[Examined]) -> io::Result<()> {
    let checked: Vec<(&[Problem], &Sources)> = checked.iter().map(|it| (it.problems.as_slice(), &it.sources)).collect();
    writeln!(io::stdout().lock(), "{}", jurat_report::problems_json(&checked))
}
