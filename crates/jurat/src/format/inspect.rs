//! Logs as Inspect reads them: JSON of version 2, one sample for each case, its tasks as scores.
//!
//! A task that passed has the value `C`, one that failed `I`, as Inspect's own scorers write them; what was measured has its score or label. A case that could
//! not be judged is a sample with an error, which Inspect leaves out of its metrics as we do. A log has one model, so the cases of several variants are refused:
//! their samples would share ids.

use std::io::{self, Write};

use jurat_core::report::{CaseReport, RunReport, TaskReport, TaskTotal, TaskVerdict};
use jurat_core::verdict::CaseVerdict;
use jurat_format::value::{Map, Val, Value};
use jurat_report::{CaseWriter, Scope};

use super::interchange::{Items, asked_and_answered, count, explanation, number, object, plain, run_id, started, text};
use super::{Format, Holds};
use crate::Error;

/// A log for Inspect and its viewer.
pub static INSPECT: Format = Format {
    name: "inspect",
    extensions: &[],
    title: Some("a log of Inspect"),
    help: "A log that Inspect reads (JSON)",
    holds: Holds::Cases,
    write: |export, mut out| {
        let mut chosen = Chosen::new(export.report().tasks.len());
        export.write_cases(&mut chosen)?;
        chosen.check()?;
        export.write_cases(&mut Log::new(&mut out, export.report(), export.scope(), &chosen).map_err(Error::Write)?)
    },
};

/// What is known of the cases before one of them is written.
#[derive(Default)]
struct Chosen {
    /// Models and prompts, in the order in which they were met.
    variants: Vec<(Option<String>, Option<String>)>,
    n_cases: u64,
    n_judged: u64,
    tasks: Vec<Judged>,
}

/// The verdicts of a task about these cases.
#[derive(Default, Clone)]
struct Judged {
    n_passed: u64,
    n_failed: u64,
    n_scores: u64,
    score_sum: f64,
}

impl Chosen {
    fn new(n_tasks: usize) -> Chosen {
        Chosen { tasks: vec![Judged::default(); n_tasks], ..Chosen::default() }
    }

    /// Whether they can be one log.
    fn check(&self) -> Result<(), Error> {
        let [(subject, prompt), _, ..] = self.variants.as_slice() else { return Ok(()) };
        let parts = [("subject", subject), ("prompt", prompt)].map(|(key, it)| Some(format!("{key}:{}", it.as_ref()?)));
        let query: Vec<String> = parts.into_iter().flatten().collect();
        Err(Error::Usage(format!(
            "a log of Inspect has one model, and these cases are of {} variants; choose one, for example `--where '{}'`",
            self.variants.len(),
            query.join(" ")
        )))
    }
}

impl CaseWriter for Chosen {
    fn case(&mut self, case: &CaseReport) -> io::Result<()> {
        let variant = (case.subject.clone(), case.prompt.clone());
        if !self.variants.contains(&variant) {
            self.variants.push(variant);
        }
        self.n_cases += 1;
        self.n_judged += u64::from(!matches!(case.verdict, CaseVerdict::Error | CaseVerdict::NotRun));
        for task in &case.tasks {
            let Some(judged) = self.tasks.get_mut(task.task) else { continue };
            judged.n_passed += u64::from(task.verdict == TaskVerdict::Passed);
            judged.n_failed += u64::from(task.verdict == TaskVerdict::Failed);
            if let Some(score) = task.score {
                judged.n_scores += 1;
                judged.score_sum += score;
            }
        }
        Ok(())
    }

    fn end(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Log<'r> {
    out: &'r mut dyn Write,
    run: &'r RunReport,
    items: Items,
    model: String,
}

impl<'r> Log<'r> {
    fn new(out: &'r mut dyn Write, run: &'r RunReport, scope: Scope, chosen: &Chosen) -> io::Result<Log<'r>> {
        let at = started(run, scope);
        let took = if scope == Scope::ResultsOnly { std::time::Duration::ZERO } else { run.observed.wall };
        let ended = at.checked_add(took).unwrap_or(at);
        let model = chosen.variants.iter().find_map(|(subject, _)| subject.clone());
        let model = model.or_else(|| run.observed.served_by.first().cloned()).unwrap_or_else(|| "none/none".to_owned());
        let id = run_id(run, scope);
        let dataset = object([("name", text(run.suite.clone())), ("samples", count(chosen.n_cases))]);
        let eval = object([
            ("eval_id", text(id.clone())),
            ("run_id", text(id.clone())),
            ("created", text(at.to_string())),
            ("task", text(run.suite.clone())),
            ("task_id", text(id)),
            ("task_version", count(0)),
            ("task_attribs", Some(object([]))),
            ("task_args", Some(object([]))),
            ("dataset", Some(dataset)),
            ("model", text(model.clone())),
            ("model_args", Some(object([]))),
            ("config", Some(object([("epochs", count(u64::from(run.repeat.max(1))))]))),
            ("packages", Some(object([("jurat", text(env!("CARGO_PKG_VERSION")))]))),
            ("scorers", Some(run.tasks.iter().map(|it| object([("name", text(it.id.clone()))])).collect())),
        ]);
        let status = if run.stopped.is_some() || run.fault.is_some() { "cancelled" } else { "success" };
        let stats = object([("started_at", text(at.to_string())), ("completed_at", text(ended.to_string()))]);
        let plan = object([("name", text("jurat")), ("steps", Some(Val::List(Vec::new())))]);
        write!(
            out,
            "{{\"version\":2,\"status\":\"{status}\",\"eval\":{},\"plan\":{},\"results\":{},\"stats\":{},\"samples\":[",
            eval.to_json(),
            plan.to_json(),
            results(run, chosen).to_json(),
            stats.to_json()
        )?;
        Ok(Log { out, run, items: Items::default(), model })
    }

    fn sample(&self, case: &CaseReport) -> Value {
        let (input, output) = asked_and_answered(case);
        let completion = output.as_ref().map_or_else(String::new, plain);
        let asked = input.as_ref().map_or_else(String::new, plain);
        let model = case.subject.clone().unwrap_or_else(|| self.model.clone());
        let user = object([("role", text("user")), ("content", text(asked.clone()))]);
        let assistant = object([
            ("role", text("assistant")),
            ("content", text(completion.clone())),
            ("model", text(model.clone())),
        ]);
        let choice = object([("message", Some(assistant.clone())), ("stop_reason", text("stop"))]);
        let scores = case.tasks.iter().filter_map(|it| Some((self.run.tasks[it.task].id.clone(), score(it)?)));
        let usage = case.usage.as_ref().map(|it| {
            object([
                ("input_tokens", count(it.input)),
                ("output_tokens", count(it.output)),
                ("total_tokens", count(it.input.saturating_add(it.output))),
            ])
        });
        let error = matches!(case.verdict, CaseVerdict::Error).then(|| {
            let of_tasks = case.tasks.iter().map(|it| it.message.as_str());
            let message = [case.message.as_str()].into_iter().chain(of_tasks).find(|it| !it.is_empty());
            object([
                ("message", text(message.unwrap_or("the case could not be judged"))),
                ("traceback", text("")),
                ("traceback_ansi", text("")),
            ])
        });
        object([
            ("id", text(case.id.clone())),
            ("epoch", count(u64::from(case.replicate.unwrap_or(1)))),
            ("input", text(asked)),
            ("target", text(target(case))),
            ("messages", Some(Val::List(vec![user, assistant]))),
            (
                "output",
                Some(object([
                    ("model", text(model.clone())),
                    ("choices", Some(Val::List(vec![choice]))),
                    ("completion", text(completion)),
                ])),
            ),
            ("scores", Some(Val::Map(scores.collect::<Map<'static>>()))),
            (
                "metadata",
                Some(object([("row", case.data.row.clone()), ("prompt", case.prompt.clone().and_then(text))])),
            ),
            ("model_usage", usage.map(|it| Val::Map([(model, it)].into_iter().collect::<Map<'static>>()))),
            ("error", error),
        ])
    }
}

impl CaseWriter for Log<'_> {
    fn case(&mut self, case: &CaseReport) -> io::Result<()> {
        let sample = self.sample(case);
        self.items.write(self.out, &sample)
    }

    fn end(&mut self) -> io::Result<()> {
        writeln!(self.out, "\n]}}")?;
        self.out.flush()
    }
}

/// What a row says the answer should be.
fn target(case: &CaseReport) -> String {
    let row = case.data.row.as_ref();
    let found = ["target", "reference", "expected", "ideal"].iter().find_map(|it| row?.get(it));
    found.map_or_else(String::new, plain)
}

fn score(task: &TaskReport) -> Option<Value> {
    let value = match task.verdict {
        TaskVerdict::Passed => text("C"),
        TaskVerdict::Failed => text("I"),
        TaskVerdict::Measured => task.score.and_then(number).or_else(|| task.label.clone().and_then(text)),
        TaskVerdict::Skipped | TaskVerdict::Error | TaskVerdict::NotRun => None,
    };
    Some(object([
        ("value", Some(value?)),
        ("answer", task.actual.as_ref().map(plain).and_then(text)),
        ("explanation", explanation(task).and_then(text)),
        (
            "metadata",
            Some(object([("score", task.score.and_then(number)), ("label", task.label.clone().and_then(text))])),
        ),
    ]))
}

/// The metrics of each scorer: the share that passed, and the mean of what was measured.
fn results(run: &RunReport, chosen: &Chosen) -> Value {
    let metric = |name: &'static str, value: f64| {
        let metric = object([("name", text(name)), ("value", number(value)), ("params", Some(object([])))]);
        (name, metric)
    };
    let share = |part: f64, whole: u64| (whole > 0).then(|| part / whole as f64);
    let scores = run.tasks.iter().zip(&chosen.tasks).map(|(task, judged): (&TaskTotal, &Judged)| {
        let accuracy = share(judged.n_passed as f64, judged.n_passed + judged.n_failed);
        let accuracy = accuracy.map(|it| metric("accuracy", it));
        let mean = share(judged.score_sum, judged.n_scores).map(|it| metric("mean", it));
        let metrics = accuracy.into_iter().chain(mean).collect::<Map<'static>>();
        object([
            ("name", text(task.id.clone())),
            ("scorer", text(task.id.clone())),
            ("params", Some(object([]))),
            ("metrics", Some(Val::Map(metrics))),
        ])
    });
    object([
        ("total_samples", count(chosen.n_cases)),
        ("completed_samples", count(chosen.n_judged)),
        ("scores", Some(scores.collect())),
    ])
}
