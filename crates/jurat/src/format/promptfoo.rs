//! Results as promptfoo writes them with `-o results.json`, version 3: one entry for each case, its tasks as component results.

use std::io::{self, Write};

use jurat_core::report::{CaseReport, RunReport, TaskReport, TaskVerdict};
use jurat_core::verdict::CaseVerdict;
use jurat_format::value::{Map, Val, Value};
use jurat_report::{CaseWriter, Scope};

use super::interchange::{
    Items, asked_and_answered, count, explanation, number, object, plain, run_id, score, started, text,
};
use super::{Format, Holds};
use crate::Error;

/// Results for tools around promptfoo.
pub static PROMPTFOO: Format = Format {
    name: "promptfoo",
    extensions: &[],
    title: Some("promptfoo results"),
    help: "Results as promptfoo writes them (JSON)",
    holds: Holds::Cases,
    write: |export, mut out| {
        export.write_cases(&mut Results::new(&mut out, export.report(), export.scope()).map_err(Error::Write)?)
    },
};

struct Results<'r> {
    out: &'r mut dyn Write,
    run: &'r RunReport,
    scope: Scope,
    items: Items,
    /// The columns that were met, in their order: prompts of models. Promptfoo counts each prompt for each provider.
    columns: Vec<Column>,
    /// The rows that were met, in their order.
    rows: Vec<String>,
}

/// A prompt of a model.
#[derive(Clone, PartialEq)]
struct Column {
    prompt: String,
    provider: String,
}

impl<'r> Results<'r> {
    fn new(out: &'r mut dyn Write, run: &'r RunReport, scope: Scope) -> io::Result<Results<'r>> {
        let (id, at) = (Val::from(run_id(run, scope)), Val::from(started(run, scope).to_string()));
        let at = at.to_json();
        write!(out, "{{\"evalId\":{},\"results\":{{\"version\":3,\"timestamp\":{at},\"results\":[", id.to_json())?;
        Ok(Results { out, run, scope, items: Items::default(), columns: Vec::new(), rows: Vec::new() })
    }

    fn entry(&mut self, case: &CaseReport) -> Value {
        let prompt = case.prompt.clone().unwrap_or_else(|| "prompt".to_owned());
        let provider = case.subject.clone().unwrap_or_else(|| self.run.suite.clone());
        let column = Column { prompt: prompt.clone(), provider: provider.clone() };
        let (prompt_ix, test_ix) = (place(&mut self.columns, column), place(&mut self.rows, case.id.clone()));
        let (input, output) = asked_and_answered(case);
        let success = matches!(case.verdict, CaseVerdict::Passed | CaseVerdict::Measured);
        let is_error = matches!(case.verdict, CaseVerdict::Error | CaseVerdict::NotRun);
        let scores: Vec<f64> = case.tasks.iter().filter_map(share).collect();
        let mean = if scores.is_empty() {
            f64::from(u8::from(success))
        } else {
            scores.iter().sum::<f64>() / scores.len() as f64
        };
        let vars = case.data.row.clone().filter(|it| it.as_map().is_some()).unwrap_or_else(|| object([]));
        let raw = input.as_ref().map_or_else(String::new, plain);
        let took = if self.scope == Scope::ResultsOnly { 0 } else { case.took.as_millis() as u64 };
        object([
            ("id", text(case.id.clone())),
            ("promptIdx", count(prompt_ix)),
            ("testIdx", count(test_ix)),
            ("promptId", text(prompt.clone())),
            ("provider", Some(object([("id", text(provider.clone())), ("label", text(provider))]))),
            ("prompt", Some(object([("raw", text(raw)), ("label", text(prompt))]))),
            ("vars", Some(vars.clone())),
            (
                "testCase",
                Some(object([
                    ("description", text(case.id.clone())),
                    ("vars", Some(vars)),
                    ("assert", Some(Val::List(Vec::new()))),
                ])),
            ),
            ("response", Some(object([("output", output)]))),
            ("success", Some(Val::Bool(success))),
            ("score", number(mean)),
            // As promptfoo numbers them: none, an assertion, an error.
            ("failureReason", count(if success { 0 } else { 1 + u64::from(is_error) })),
            ("error", first_message(case).filter(|_| !success).and_then(text)),
            ("latencyMs", count(took)),
            ("cost", case.cost_usd.and_then(number)),
            ("tokenUsage", Some(tokens(case))),
            ("namedScores", Some(self.named_scores(case))),
            ("gradingResult", Some(self.grading(case, success, mean))),
        ])
    }

    fn named_scores(&self, case: &CaseReport) -> Value {
        let named = case.tasks.iter().filter_map(|it| Some((self.run.tasks[it.task].id.clone(), number(score(it)?)?)));
        Val::Map(named.collect::<Map<'static>>())
    }

    fn grading(&self, case: &CaseReport, success: bool, mean: f64) -> Value {
        let component = |it: &TaskReport| {
            let task = &self.run.tasks[it.task];
            let assertion = object([("type", text(format!("jurat:{}", task.kind))), ("metric", text(task.id.clone()))]);
            object([
                ("pass", Some(Val::Bool(matches!(it.verdict, TaskVerdict::Passed | TaskVerdict::Measured)))),
                ("score", share(it).and_then(number)),
                ("reason", text(explanation(it).unwrap_or_else(|| it.verdict.name().to_owned()))),
                ("assertion", Some(assertion)),
            ])
        };
        let reason = first_message(case).unwrap_or_else(|| "all tasks passed".to_owned());
        object([
            ("pass", Some(Val::Bool(success))),
            ("score", number(mean)),
            ("reason", text(reason)),
            ("componentResults", Some(case.tasks.iter().map(component).collect())),
        ])
    }
}

impl CaseWriter for Results<'_> {
    fn case(&mut self, case: &CaseReport) -> io::Result<()> {
        let entry = self.entry(case);
        self.items.write(self.out, &entry)
    }

    fn end(&mut self) -> io::Result<()> {
        let cases = &self.run.cases;
        let stats = object([
            ("successes", count(cases.passed + cases.measured)),
            ("failures", count(cases.failed)),
            ("errors", count(cases.error + cases.not_run)),
        ]);
        // A run does not hold the templates of its prompts, so the name of each stands for it.
        let prompt = |it: &Column| {
            let Column { prompt, provider } = it.clone();
            object([("raw", text(prompt.clone())), ("label", text(prompt)), ("provider", text(provider))])
        };
        let prompts: Value = self.columns.iter().map(prompt).collect();
        let config = object([("description", text(self.run.suite.clone()))]);
        writeln!(
            self.out,
            "\n],\"prompts\":{},\"stats\":{}}},\"config\":{},\"shareableUrl\":null}}",
            prompts.to_json(),
            stats.to_json(),
            config.to_json()
        )?;
        self.out.flush()
    }
}

/// The place of something in a list, at the end if it is new.
fn place<T: PartialEq>(names: &mut Vec<T>, name: T) -> u64 {
    let known = names.iter().position(|it| *it == name);
    known.unwrap_or_else(|| {
        names.push(name);
        names.len() - 1
    }) as u64
}

/// What a task adds to the score of its case, from 0 to 1: a score beyond that is on a scale of its own.
fn share(task: &TaskReport) -> Option<f64> {
    match task.verdict {
        TaskVerdict::Passed => Some(1.0),
        TaskVerdict::Failed => Some(0.0),
        TaskVerdict::Measured => task.score.filter(|it| (0.0..=1.0).contains(it)),
        TaskVerdict::Skipped | TaskVerdict::Error | TaskVerdict::NotRun => None,
    }
}

/// Why a case did not pass, in the words of its first task that says so.
fn first_message(case: &CaseReport) -> Option<String> {
    let of_tasks = case.tasks.iter().map(|it| it.message.as_str());
    [case.message.as_str()].into_iter().chain(of_tasks).find(|it| !it.is_empty()).map(str::to_owned)
}

fn tokens(case: &CaseReport) -> Value {
    let usage = case.usage.unwrap_or_default();
    object([
        ("prompt", count(usage.input)),
        ("completion", count(usage.output)),
        ("total", count(usage.input.saturating_add(usage.output))),
    ])
}
