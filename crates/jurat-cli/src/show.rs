//! `jurat show`: a run that was made before, as a whole or in part.

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use jurat::view::{Code, Column, StoredCase};
use jurat::view::{ExplainError, RunView};
use jurat::{Export, Run};
use jurat_report::scenario::{
    write_graphs, write_graphs_dot, write_graphs_json, write_graphs_mermaid, write_graphs_svg,
};
use jurat_report::{MOST_CASES, counted, repetition, runs};

use crate::exit::Exit;
use crate::failure::{Failure, exit};
use crate::format::{Format, FormatOption, GraphFormat, style};
use crate::progress::window;
use crate::rendered_run::{self, note_missing_rows};
use crate::run_name::{LATEST, merged_shards};
use crate::variant::VariantOptions;

/// Shows a run: as a whole, one case, or the cases with a certain verdict
///
/// Runs are stored in `.jurat`. A run that is still in progress is shown up to the cases that are complete.
#[derive(Args)]
pub(crate) struct Show {
    /// The run (a file, the beginning of its name, or `latest`), or a case of the latest run
    #[arg(default_value = LATEST)]
    run: String,
    /// Show this case with all its tasks: its id, the beginning of it, or `FILE:ROW`
    #[arg(value_name = "CASE")]
    of_run: Option<String>,
    /// List the runs of this project, the newest first
    #[arg(long, conflicts_with_all = ["run", "case", "task", "verdict", "failed", "tasks", "results_only", "prompt", "subject"])]
    list: bool,
    /// The same as CASE
    #[arg(long, value_name = "CASE", conflicts_with_all = ["verdict", "failed", "of_run", "prompt", "subject"])]
    case: Option<String>,
    /// Show the results of this task
    #[arg(long, value_name = "TASK")]
    task: Option<String>,
    /// Show cases with this verdict; with `--task`, those in which the task has it
    #[arg(long, value_enum)]
    verdict: Option<Verdict>,
    /// Short for `--verdict failed`
    #[arg(long, conflicts_with = "verdict")]
    failed: bool,
    /// Show the cases that a query finds, such as `verdict:failed task:tone=failed -"thank you"`
    #[arg(long = "where", value_name = "QUERY", allow_hyphen_values = true,
          conflicts_with_all = ["list", "of_run", "case", "verdict", "failed", "graph", "flaky", "prompt", "subject"])]
    query: Option<String>,
    #[command(flatten)]
    variant: VariantOptions,
    /// Show the result of every task of every case
    #[arg(long)]
    tasks: bool,
    /// Draw the graphs of the scenarios with how often each node and edge was taken
    #[arg(long, value_name = "HOW", value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "text",
          conflicts_with_all = ["list", "case", "task", "verdict", "failed", "tasks", "limit", "results_only", "prompt", "subject"])]
    graph: Option<GraphFormat>,
    /// List the cases that passed in some repetitions and failed in others, and how likely several attempts pass
    #[arg(long, conflicts_with_all = ["list", "of_run", "case", "task", "verdict", "failed", "tasks", "graph", "results_only", "prompt", "subject"])]
    flaky: bool,
    /// With `--flaky`: how likely this number of attempts pass, in place of one and of all; may be given several times
    #[arg(long, value_name = "N", requires = "flaky", value_parser = clap::value_parser!(u64).range(1..))]
    k: Vec<u64>,
    /// A calibration of a judge, by which pass rates are corrected; may be repeated [default: those of the project]
    #[arg(long, value_name = "FILE")]
    calibration: Vec<PathBuf>,
    /// Show at most this number of cases, or runs
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Show only what a replay reproduces byte for byte
    #[arg(long)]
    results_only: bool,
    #[command(flatten)]
    format: FormatOption,
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

/// Every way in which a case can end.
const OF_CASES: [Code; 6] = [Code::Passed, Code::Failed, Code::Measured, Code::Error, Code::NotRun, Code::NotJudged];

impl Show {
    pub(crate) fn run(&self) -> Exit {
        exit(if self.list { self.list() } else { self.show() })
    }

    fn show(&self) -> Result<Exit, Failure> {
        self.can_be()?;
        let (mut opened, run, case) = self.opened()?;
        if !self.calibration.is_empty() {
            opened = opened.with_calibrations(&jurat::calibration::open(&self.calibration)?);
        }
        let view = opened.view();
        if let Some(format) = self.graph {
            return self.draw_graphs(view, format);
        }
        if self.flaky {
            return self.show_flaky(view);
        }
        self.variant.can_be(view)?;
        let these: Vec<StoredCase> = case.map(|it| view.known_cases(it)).transpose()?.unwrap_or_default();
        let task = self.task.as_deref().map(|it| view.task(it, &these)).transpose()?;
        let column = task.map_or(Column::CASE, Column::from);
        let codes = match (self.verdict(), task) {
            (Some(verdict), _) => Some(verdict.codes()),
            (None, Some(_)) => Some(&OF_TASKS[..]),
            (None, None) if self.variant.is_given() => Some(&OF_CASES[..]),
            (None, None) => None,
        };
        let format = self.format.get();
        let found = self.query.as_deref().map(|it| opened.to_export().found_by(it)).transpose()?;
        if format == Format::Text && found.as_ref().is_some_and(Export::is_empty) {
            writeln!(io::stdout(), "no case of `{}` fits the query", jurat_report::visible_line(&view.head().id))?;
            return Ok(Exit::Good);
        }
        let export = match (found, case, codes) {
            (Some(found), ..) => found,
            (None, Some(_), _) => opened.to_export().these(these),
            (None, None, Some(codes)) if self.variant.is_given() => {
                opened.to_export().of_variant(column, codes, |it| self.variant.is_meant(it))
            }
            (None, None, Some(codes)) if format == Format::Text && view.count(column, codes)? == 0 => {
                writeln!(io::stdout(), "{}", jurat_report::visible_line(&self.none_ended(view, codes)))?;
                return Ok(Exit::Good);
            }
            (None, None, Some(codes)) => opened.to_export().ended(column, codes),
            (None, None, None) => opened.to_export(),
        };
        let export = task.into_iter().fold(export, Export::task);
        let export = self.limit.into_iter().fold(export, Export::most);
        let export = if self.results_only { export.results_only() } else { export };
        rendered_run::print(&export, format, self.tasks, run)?;
        note_missing_rows(view)?;
        Ok(Exit::Good)
    }

    fn verdict(&self) -> Option<Verdict> {
        self.verdict.or(self.failed.then_some(Verdict::Failed))
    }

    /// The run, how commands name it, and the case that is meant. What is no run is looked for among the cases of the latest.
    fn opened(&self) -> Result<(Run, Option<&str>, Option<&str>), Failure> {
        let case = self.case.as_deref().or(self.of_run.as_deref());
        let name = Some(self.run.as_str()).filter(|it| *it != LATEST);
        if let Some(file) = merged_shards(&self.run)? {
            return Ok((Run::open(file)?, name, case));
        }
        let unknown = match Run::find_file(".", &self.run) {
            Ok(file) => return Ok((Run::open(file)?, name, case)),
            Err(unknown) => unknown,
        };
        let latest = Run::find_file(".", LATEST).ok().filter(|_| case.is_none() && self.graph.is_none());
        let Some(run) = latest.map(Run::open).transpose()? else { return Err(unknown.into()) };
        match run.view().known_cases(&self.run) {
            Ok(_) => Ok((run, None, name)),
            Err(several @ ExplainError::SeveralCases { .. }) => Err(several.into()),
            Err(no_case) => Err(Failure::Reason(format!("there is no run `{}`, and {no_case}", self.run))),
        }
    }

    fn show_flaky(&self, view: &RunView) -> Result<Exit, Failure> {
        let Some(repetition) = view.repetition(&self.k)? else {
            return Err(Failure::Reason(
                "the cases of this run were run once each, so none can be flaky; `jurat run --repeat 3` runs each three times".into(),
            ));
        };
        let mut cases = view.flaky()?;
        let n_more = cases.len().saturating_sub(self.limit.unwrap_or(usize::MAX));
        cases.truncate(cases.len() - n_more);
        let mut out = BufWriter::new(io::stdout().lock());
        match self.format.get() {
            Format::Json => repetition::write_json(&mut out, &repetition, &cases)?,
            Format::Text => {
                repetition::write_text(&mut out, &repetition, &cases, style(&io::stdout()), window())?;
                if n_more > 0 {
                    writeln!(out, "… and {} that flip", counted(n_more as u64, "more case"))?;
                }
            }
        }
        out.flush()?;
        Ok(Exit::Good)
    }

    fn draw_graphs(&self, view: &RunView, format: GraphFormat) -> Result<Exit, Failure> {
        if view.plan().all_scenarios().next().is_none() {
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
    fn none_ended(&self, view: &RunView, codes: &[Code]) -> String {
        let word = codes.first().map_or("", |it| it.name());
        let run = &view.head().id;
        match &self.task {
            Some(task) if self.verdict().is_none() => format!("`{task}` applies to no case of `{run}`"),
            Some(task) => format!("no case of `{run}` has `{task}` = {word}"),
            None => format!("no case of `{run}` has the verdict `{word}`"),
        }
    }

    /// Whether cases and tasks can end so.
    fn can_be(&self) -> Result<(), Failure> {
        match (self.verdict(), &self.task) {
            (Some(Verdict::Skipped), None) => Err(Failure::Reason(
                "a case is not skipped as a whole, its tasks are; name the task: `--task TASK --verdict skipped`"
                    .into(),
            )),
            (Some(Verdict::NotJudged), Some(_)) => Err(Failure::Reason(
                "`not_judged` is a verdict of cases, not of tasks; remove `--task`, or filter by `skipped`".into(),
            )),
            _ => Ok(()),
        }
    }

    fn list(&self) -> Result<Exit, Failure> {
        let (entries, n_more) = Run::list(".", self.limit.unwrap_or(MOST_CASES))?;
        let mut out = io::stdout().lock();
        match self.format.get() {
            Format::Json => runs::write_json(&mut out, &entries)?,
            Format::Text if entries.is_empty() && n_more == 0 => {
                writeln!(out, "this project has no runs yet; `jurat run` makes one")?;
            }
            Format::Text => {
                runs::write_text(&mut out, &entries, style(&io::stdout()), window())?;
                if n_more > 0 {
                    writeln!(out, "… and {}", counted(n_more as u64, "older run"))?;
                }
            }
        }
        Ok(Exit::Good)
    }
}
