//! `jurat run`: evaluates a suite and prints what came of it.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::thread;

use clap::Args;
use jurat_core::plan::{Plan, PlannedTask};
use jurat_core::suite::{CaseKind, ExpectedValue, Gate, Selection, Suite, Task, same_id};
use jurat_core::value::{Map, Val, Value};
use jurat_core::verdict::{CaseVerdict, Counts, SkipReason, Verdict};
use jurat_engine::{CaseResult, Models, Options, TaskResult, run};
use jurat_report::{CaseLine, Style, TaskLine, TotalLine};
use jurat_store::Disk;

use crate::check::counted;
use crate::definition::{self, Definition};
use crate::exit::Exit;
use crate::format::{Format, FormatOption, style};

/// Runs a suite over its records and prints the verdicts
///
/// Judges are answered from scripts (`--model judge=script/FILE`): files of canned replies, one JSON object a line.
#[derive(Args)]
pub(crate) struct Run {
    /// The suite
    #[arg(default_value = definition::DEFAULT)]
    file: PathBuf,
    /// Prints what each task of each case came to
    #[arg(long)]
    tasks: bool,
    /// Who plays a role, as `role=provider/model`; may be given several times
    #[arg(long = "model", value_name = "ROLE=MODEL", value_parser = role_and_model)]
    models: Vec<(String, String)>,
    /// Runs so many cases at most
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    /// How many threads judge; as many as there are processors unless said
    #[arg(short = 'j', value_name = "N")]
    threads: Option<NonZeroUsize>,
    #[command(flatten)]
    format: FormatOption,
}

fn role_and_model(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((role, model)) if !role.is_empty() && model.contains('/') => Ok((role.to_owned(), model.to_owned())),
        _ => Err("write `role=provider/model`, for example `judge=script/replies.jsonl`".to_owned()),
    }
}

impl Run {
    pub(crate) fn run(&self) -> Exit {
        let definition = Definition::read(&self.file);
        if print_problems(&definition).is_err() || definition.has_errors() {
            return Exit::Wrong;
        }
        self.evaluate(&definition).unwrap_or_else(|message| {
            let _ = writeln!(io::stderr(), "error: {}", jurat_report::visible_line(&message));
            Exit::Wrong
        })
    }

    fn evaluate(&self, definition: &Definition) -> Result<Exit, String> {
        let suite = &definition.suite;
        let Ok((plan, _)) = Plan::build(suite, &definition.samples) else { return Ok(Exit::Wrong) };
        let [records] = suite.records.as_slice() else {
            return Err("`records` in several files of one suite are not run together by this version".to_owned());
        };
        // Running a task on cases that its author left out would be silently wrong.
        let narrowed = |it: &&Task| !matches!(it.on, Selection::All | Selection::Kind(CaseKind::Records));
        if let Some(task) = suite.tasks.iter().find(narrowed) {
            return Err(format!(
                "`on` of `{}` is not obeyed by this version: leave it out, or make a suite of its own",
                task.id.value
            ));
        }
        let models =
            Models::of(&plan, suite, &definition.sources, &self.models, &Disk).map_err(|error| error.to_string())?;
        let threads = self.threads.or(thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN);
        let is_json = self.format.get() == Format::Json;
        let options = Options { threads, limit: self.limit, details: self.tasks || is_json };
        let mut printer = Printer::new(&plan, suite, self.tasks, is_json);
        let mut written = Ok(());
        let ended = run(&plan, records, &models, options, &mut io::stdin(), &mut |result| {
            written = printer.case(&result);
            if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        let stopped = ended.err().map(|error| error.to_string());
        written = written.and_then(|()| printer.end(stopped.as_deref()));
        match (written, stopped) {
            (_, Some(reason)) => Err(reason),
            (Err(error), _) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.to_string()),
            _ => Ok(printer.exit()),
        }
    }
}

/// Warnings do not stop a run, but nobody should miss them.
fn print_problems(definition: &Definition) -> io::Result<()> {
    let mut out = io::stderr().lock();
    let style = style(&out);
    jurat_report::write_problems(&mut out, &definition.problems, &definition.sources, style)?;
    if definition.problems.is_empty() {
        Ok(())
    } else {
        jurat_report::write_summary(&mut out, &definition.problems, style)
    }
}

/// How many cases are shown one by one. Totals are over all of them.
const MOST_CASES: usize = 100;

/// Takes in results as they come and prints them.
struct Printer<'p> {
    plan: &'p Plan,
    suite: &'p Suite,
    with_tasks: bool,
    is_json: bool,
    style: Style,
    /// The first cases, and the first that did not pass: those are shown when there are many.
    first: Shown,
    not_passed: Shown,
    totals: Vec<Counts>,
    all: Counts,
    /// By path of `group_by` and what was found there.
    slices: BTreeMap<(usize, String), Counts>,
    n_cases: [u64; 6],
}

/// Cases and their tasks, as tables show them.
#[derive(Default)]
struct Shown {
    cases: Vec<CaseLine>,
    tasks: Vec<TaskLine>,
}

impl Shown {
    fn add(&mut self, case: &CaseLine, tasks: &[TaskLine]) {
        self.cases.push(case.clone());
        self.tasks.extend_from_slice(tasks);
    }
}

const VERDICTS: [CaseVerdict; 6] = [
    CaseVerdict::Passed,
    CaseVerdict::Failed,
    CaseVerdict::Error,
    CaseVerdict::NotRun,
    CaseVerdict::Measured,
    CaseVerdict::NotJudged,
];

impl<'p> Printer<'p> {
    fn new(plan: &'p Plan, suite: &'p Suite, with_tasks: bool, is_json: bool) -> Printer<'p> {
        Printer {
            plan,
            suite,
            with_tasks,
            is_json,
            style: style(&io::stdout()),
            first: Shown::default(),
            not_passed: Shown::default(),
            totals: vec![Counts::default(); plan.tasks.len()],
            all: Counts::default(),
            slices: BTreeMap::new(),
            n_cases: [0; 6],
        }
    }

    fn case(&mut self, result: &CaseResult) -> io::Result<()> {
        let is_first = self.n_cases.iter().sum::<u64>() == 0;
        self.all.merge(&result.counts);
        for ((task, total), planned) in result.tasks.iter().zip(&mut self.totals).zip(&self.plan.tasks) {
            // In its own line a gate says how often it was open, though it is not counted in the sum.
            let gate = if planned.gate == Gate::Condition { Gate::None } else { planned.gate };
            total.add(&task.verdict, gate);
        }
        for (ix, group) in result.groups.iter().enumerate() {
            let group = group.clone().unwrap_or_else(|| "(nothing)".to_owned());
            self.slices.entry((ix, group)).or_default().merge(&result.counts);
        }
        if let Some(ix) = VERDICTS.iter().position(|it| *it == result.verdict) {
            self.n_cases[ix] += 1;
        }
        if self.is_json {
            let start = if is_first { "{\"version\":1,\"cases\":[" } else { "," };
            return write!(io::stdout().lock(), "{start}{}", self.case_json(result).to_json());
        }
        let is_shown = self.first.cases.len() < MOST_CASES;
        let is_kept = result.verdict != CaseVerdict::Passed && self.not_passed.cases.len() < MOST_CASES;
        if is_shown || is_kept {
            let case = CaseLine { id: result.id.clone(), counts: result.counts, took: result.took };
            let lines = result.tasks.iter().enumerate().filter(|_| self.with_tasks);
            let lines: Vec<TaskLine> = lines.map(|(ix, task)| self.task_line(&result.id, ix, task)).collect();
            if is_shown {
                self.first.add(&case, &lines);
            }
            if is_kept {
                self.not_passed.add(&case, &lines);
            }
        }
        Ok(())
    }

    /// Prints what is left to say; `stopped` is why not all cases were judged.
    fn end(&self, stopped: Option<&str>) -> io::Result<()> {
        let mut out = io::stdout().lock();
        let n_cases: u64 = self.n_cases.iter().sum();
        if self.is_json {
            let start = if n_cases == 0 { "{\"version\":1,\"cases\":[" } else { "" };
            let slices = self.slice_lines().into_iter().map(|it| (it.task, counts_json(&it.counts)));
            let members: Map<'static> = [
                ("counts", counts_json(&self.all)),
                ("slices", Val::Map(slices.collect())),
                ("missed", self.missed_json()),
                ("complete", Val::Bool(stopped.is_none())),
                ("error", stopped.map_or(Val::Null, |it| Val::from(it.to_owned()))),
            ]
            .into_iter()
            .collect();
            let rest = Val::Map(members).to_json();
            return writeln!(out, "{start}],{}", rest.trim_start_matches('{'));
        }
        let shown = if n_cases > MOST_CASES as u64 { &self.not_passed } else { &self.first };
        jurat_report::write_cases(&mut out, &shown.cases, self.style)?;
        let n_hidden = n_cases - shown.cases.len() as u64;
        if n_hidden > 0 {
            writeln!(out, "… and {n_hidden} more cases; of many, only those that did not pass are shown")?;
        }
        if self.with_tasks {
            writeln!(out)?;
            jurat_report::write_tasks(&mut out, &shown.tasks, self.style)?;
        }
        let totals = self.plan.tasks.iter().zip(&self.totals);
        let totals: Vec<TotalLine> =
            totals.map(|(task, counts)| TotalLine { task: task.id.clone(), counts: *counts }).collect();
        writeln!(out)?;
        jurat_report::write_totals(&mut out, &totals, self.style)?;
        if !self.slices.is_empty() {
            writeln!(out)?;
            jurat_report::write_slices(&mut out, &self.slice_lines(), self.style)?;
        }
        let ended = VERDICTS.iter().zip(self.n_cases).filter(|(_, n)| *n > 0);
        let ended: Vec<String> =
            ended.map(|(verdict, n)| format!("{n} {}", verdict.name().replace('_', " "))).collect();
        let n_cases = counted(usize::try_from(n_cases).unwrap_or(usize::MAX), "case");
        writeln!(out, "\n{n_cases}{}{}", if ended.is_empty() { "" } else { ": " }, ended.join(", "))?;
        if stopped.is_some() {
            writeln!(out, "stopped before the end: not all cases were judged")?;
        }
        for missed in self.missed() {
            writeln!(out, "threshold missed: {missed}")?;
        }
        Ok(())
    }

    fn slice_lines(&self) -> Vec<TotalLine> {
        let line = |((path, group), counts): (&(usize, String), &Counts)| TotalLine {
            task: format!("{} = {group}", self.plan.group_by[*path]),
            counts: *counts,
        };
        self.slices.iter().map(line).collect()
    }

    fn exit(&self) -> Exit {
        let is_undecided = self.n_cases[2] + self.n_cases[3] > 0;
        Exit::of_run(&self.all, is_undecided, &self.suite.thresholds, &self.missed())
    }

    /// The thresholds that were not reached. What was never judged reaches none.
    fn missed(&self) -> Vec<String> {
        let thresholds = &self.suite.thresholds;
        let shown = |rate: Option<f64>| rate.map_or("nothing judged".to_owned(), |it| format!("{it:.3}"));
        let below = |counts: &Counts, least: f64| counts.pass_rate().is_none_or(|it| it < least);
        let whole = thresholds.pass_rate.filter(|it| below(&self.all, *it));
        let whole = whole.map(|least| format!("pass rate {}, at least {least} wanted", shown(self.all.pass_rate())));
        let tasks = thresholds.tasks.iter().filter_map(|(id, least)| {
            let ix = self.plan.tasks.iter().position(|it| same_id(&it.id, &id.value))?;
            let counts = &self.totals[ix];
            below(counts, *least)
                .then(|| format!("`{}` {}, at least {least} wanted", id.value, shown(counts.pass_rate())))
        });
        whole.into_iter().chain(tasks).collect()
    }

    fn missed_json(&self) -> Value {
        self.missed().into_iter().map(Val::from).collect()
    }

    fn task_line(&self, record: &str, ix: usize, result: &TaskResult) -> TaskLine {
        let (planned, task) = (&self.plan.tasks[ix], &self.suite.tasks[ix]);
        let stage =
            self.plan.stages.iter().position(|stage| stage.iter().any(|it| it.index() == ix)).map_or(0, |it| it + 1);
        let (path, operator) = compared(task);
        let (expected, message) = match &result.verdict {
            Verdict::Failed(mismatch) => (mismatch.expected.clone(), mismatch.to_string()),
            verdict => (expected(task), self.message(verdict)),
        };
        TaskLine {
            record: record.to_owned(),
            task: planned.id.clone(),
            kind: task.kind.name(),
            gate: gate_name(planned),
            stage,
            verdict: result.verdict.name(),
            path,
            operator,
            expected,
            actual: result.found.clone().unwrap_or_default(),
            message,
        }
    }

    fn message(&self, verdict: &Verdict) -> String {
        match verdict {
            Verdict::Error(reason) => reason.0.clone(),
            Verdict::Skipped(SkipReason::GateFailed(gate)) => {
                format!("gate `{}` failed", self.plan.tasks[gate.index()].id)
            }
            Verdict::Skipped(SkipReason::Errored(task)) => {
                format!("`{}` could not be judged", self.plan.tasks[task.index()].id)
            }
            _ => String::new(),
        }
    }

    fn case_json(&self, result: &CaseResult) -> Value {
        let task = |(ix, task): (usize, &TaskResult)| {
            let line = self.task_line(&result.id, ix, task);
            let texts = [("task", line.task), ("kind", line.kind.to_owned()), ("gate", line.gate.to_owned())];
            let more = [("verdict", line.verdict.to_owned()), ("path", line.path), ("operator", line.operator)];
            let rest = [("expected", line.expected), ("actual", line.actual), ("message", line.message)];
            let texts = texts.into_iter().chain(more).chain(rest).filter(|(_, it)| !it.is_empty());
            let stage = Val::from(line.stage as u64);
            let members: Map<'static> = texts.map(|(key, it)| (key, Val::from(it))).chain([("stage", stage)]).collect();
            Val::Map(members)
        };
        let members: Map<'static> = [
            ("id", Val::from(result.id.clone())),
            ("verdict", Val::from(result.verdict.name())),
            ("counts", counts_json(&result.counts)),
            ("tasks", result.tasks.iter().enumerate().map(task).collect()),
        ]
        .into_iter()
        .collect();
        Val::Map(members)
    }
}

fn counts_json(counts: &Counts) -> Value {
    let numbers = [
        ("total", counts.total()),
        ("passed", counts.passed),
        ("failed", counts.failed),
        ("measured", counts.measured),
        ("skipped", counts.skipped),
        ("error", counts.errored),
        ("not_run", counts.not_run),
    ];
    let numbers = numbers.into_iter().map(|(key, n)| (key, Val::from(n)));
    let rate = counts.pass_rate().map_or(Val::Null, Val::F);
    Val::Map(numbers.chain([("pass_rate", rate)]).collect())
}

fn gate_name(task: &PlannedTask) -> &'static str {
    match task.gate {
        Gate::None => "",
        Gate::Condition => "gate",
        Gate::Required => "required",
    }
}

fn compared(task: &Task) -> (String, String) {
    let Some(comparison) = &task.comparison else { return Default::default() };
    let path = comparison.path.as_ref().map(|it| it.value.to_string()).unwrap_or_default();
    (path, comparison.operator.value.entry().snake_case())
}

/// What a task that did not fail expected.
fn expected(task: &Task) -> String {
    let Some(comparison) = &task.comparison else { return String::new() };
    match comparison.expected.as_ref().map(|it| &it.value) {
        Some(ExpectedValue::Path(path)) => format!("`${{{path}}}`"),
        _ => comparison.fixed().map(|it| it.expected()).unwrap_or_default(),
    }
}
