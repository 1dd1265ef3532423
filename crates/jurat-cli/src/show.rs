//! `jurat show`: a run that was made before, as a whole or in part.

use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;

use clap::{Args, ValueEnum};
use jurat_engine::view::{RunView, listed};
use jurat_report::scenario::{
    write_graphs, write_graphs_dot, write_graphs_json, write_graphs_mermaid, write_graphs_svg,
};
use jurat_report::{MOST_CASES, Scope, counted, runs};
use jurat_store::Project;
use jurat_store::run::{Code, Column, StoredCase};

use crate::drawing::{CasesShown, Drawing, Part, draw_part};
use crate::exit::Exit;
use crate::failure::{Failure, told};
use crate::format::{Format, FormatOption, style};
use crate::progress::width;
use crate::run_name::{LATEST, run_file};

/// Shows a run: as a whole, one case, or the cases that ended in a certain way
///
/// Runs are kept in `.jurat`. A run that is still going on is shown as far as it has come.
#[derive(Args)]
pub(crate) struct Show {
    /// The run: a file, the beginning of its name, or `latest`
    #[arg(default_value = LATEST)]
    run: String,
    /// Lists the runs of this project, the newest first
    #[arg(long, conflicts_with_all = ["run", "case", "task", "verdict", "tasks", "results_only"])]
    list: bool,
    /// Shows this case and its tasks
    #[arg(long, value_name = "ID", conflicts_with = "verdict")]
    case: Option<String>,
    /// Shows what this task came to
    #[arg(long, value_name = "TASK")]
    task: Option<String>,
    /// Shows the cases that ended so; with `--task`, those in which the task did
    #[arg(long, value_enum)]
    verdict: Option<Verdict>,
    /// Shows what each task of each case came to
    #[arg(long)]
    tasks: bool,
    /// Draws the graphs of the scenarios with how often each node and edge was taken
    #[arg(long, value_name = "HOW", value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "text",
          conflicts_with_all = ["list", "case", "task", "verdict", "tasks", "limit", "results_only"])]
    graph: Option<GraphFormat>,
    /// Shows so many cases, or runs, at most
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Shows only what a replay reproduces byte for byte
    #[arg(long)]
    results_only: bool,
    #[command(flatten)]
    format: FormatOption,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq)]
enum GraphFormat {
    /// For people
    Text,
    /// For programs
    Json,
    /// As Mermaid draws it in Markdown
    Mermaid,
    /// For Graphviz
    Dot,
    /// For browsers
    Svg,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Passed,
    Failed,
    Measured,
    Skipped,
    Error,
    #[value(name = "not_run", alias = "not-run")]
    NotRun,
    #[value(name = "not_judged", alias = "not-judged")]
    NotJudged,
}

impl Verdict {
    /// The codes that the word stands for.
    fn codes(self) -> &'static [Code] {
        match self {
            Verdict::Passed => &[Code::Passed],
            Verdict::Failed => &[Code::Failed],
            Verdict::Measured => &[Code::Measured],
            Verdict::Skipped => &[Code::SkippedByGate, Code::SkippedByError],
            Verdict::Error => &[Code::Error],
            Verdict::NotRun => &[Code::NotRun],
            Verdict::NotJudged => &[Code::NotJudged],
        }
    }
}

/// Every way in which a task can end.
const OF_TASKS: [Code; 7] =
    [Code::Passed, Code::Failed, Code::Measured, Code::SkippedByGate, Code::SkippedByError, Code::Error, Code::NotRun];

impl Show {
    pub(crate) fn run(&self) -> Exit {
        told(if self.list { self.list() } else { self.show() })
    }

    fn show(&self) -> Result<Exit, Failure> {
        self.can_be()?;
        let view = RunView::open(&run_file(&self.run)?)?;
        if let Some(format) = self.graph {
            return self.draw_graphs(&view, format);
        }
        let these: Vec<StoredCase> =
            self.case.as_deref().map(|it| view.known_cases(it)).transpose()?.unwrap_or_default();
        let task = self.task.as_deref().map(|it| view.task(it, &these)).transpose()?;
        let column = task.map_or(Column::CASE, Column::from);
        let cases = match (&self.case, self.verdict, task) {
            (Some(_), _, _) => CasesShown::These(&these),
            (None, Some(verdict), _) => CasesShown::Ended(column, verdict.codes()),
            (None, None, Some(_)) => CasesShown::Ended(column, &OF_TASKS),
            (None, None, None) => CasesShown::All,
        };
        let is_json = self.format.get() == Format::Json;
        if let CasesShown::Ended(column, codes) = cases
            && !is_json
            && view.count(column, codes)? == 0
        {
            writeln!(io::stdout(), "{}", jurat_report::visible_line(&self.none_ended(codes)))?;
            return Ok(Exit::Good);
        }
        let scope = if self.results_only { Scope::ResultsOnly } else { Scope::Everything };
        let drawing = Drawing { is_json, tasks: self.tasks, scope };
        draw_part(&view, &view.report()?, drawing, Part { cases, task, most: self.limit })?;
        Ok(Exit::Good)
    }

    fn draw_graphs(&self, view: &RunView, format: GraphFormat) -> Result<Exit, Failure> {
        if view.plan().scenarios.is_empty() {
            return Err(Failure::Reason(
                "this run has no scenarios; `jurat plan --format mermaid`, `dot` or `svg` draws the tasks of a suite"
                    .into(),
            ));
        }
        let graphs = view.scenario_graphs()?;
        let suite = &view.reader().head().suite;
        let mut out = BufWriter::new(io::stdout().lock());
        let format = if self.format.get() == Format::Json { GraphFormat::Json } else { format };
        match format {
            GraphFormat::Text => write_graphs(&mut out, &graphs, style(&io::stdout()))?,
            GraphFormat::Json => write_graphs_json(&mut out, suite, &graphs)?,
            GraphFormat::Mermaid => write_graphs_mermaid(&mut out, &graphs)?,
            GraphFormat::Dot => write_graphs_dot(&mut out, suite, &graphs)?,
            GraphFormat::Svg => write_graphs_svg(&mut out, suite, &graphs)?,
        }
        out.flush()?;
        Ok(Exit::Good)
    }

    /// That nothing was found, in words.
    fn none_ended(&self, codes: &[Code]) -> String {
        let word = codes.first().map_or("", |it| it.name());
        match &self.task {
            Some(task) if self.verdict.is_none() => format!("`{task}` is for no case"),
            Some(task) => format!("`{task}` ended as `{word}` in no case"),
            None => format!("no case ended as `{word}`"),
        }
    }

    /// Whether cases and tasks can end so.
    fn can_be(&self) -> Result<(), Failure> {
        match (self.verdict, &self.task) {
            (Some(Verdict::Skipped), None) => Err(Failure::Reason(
                "a case is not skipped as a whole, its tasks are; name the task: `--task TASK --verdict skipped`"
                    .into(),
            )),
            (Some(Verdict::NotJudged), Some(_)) => Err(Failure::Reason(
                "`not_judged` is said of cases, not of tasks; leave `--task` out, or look for `skipped`".into(),
            )),
            _ => Ok(()),
        }
    }

    fn list(&self) -> Result<Exit, Failure> {
        let mut names = match Project::find(Path::new(".")) {
            Some(project) => project.runs()?,
            None => Vec::new(),
        };
        names.reverse();
        let n_more = names.len().saturating_sub(self.limit.unwrap_or(MOST_CASES));
        names.truncate(names.len() - n_more);
        let entries: Vec<runs::RunEntry> = names.iter().filter(|it| !it.never_began()).map(listed).collect();
        let mut out = io::stdout().lock();
        match self.format.get() {
            Format::Json => runs::write_json(&mut out, &entries)?,
            Format::Text if entries.is_empty() && n_more == 0 => {
                writeln!(out, "this project has no runs yet; `jurat run` makes one")?;
            }
            Format::Text => {
                let width = if io::stdout().is_terminal() { width() } else { None };
                runs::write_text(&mut out, &entries, style(&io::stdout()), width)?;
                if n_more > 0 {
                    writeln!(out, "… and {}", counted(n_more as u64, "older run"))?;
                }
            }
        }
        Ok(Exit::Good)
    }
}
