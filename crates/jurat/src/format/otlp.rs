//! Traces as OTLP in JSON: one span for each case, in the conventions of OpenTelemetry for generative AI, with an event for each task.
//!
//! The event is `gen_ai.evaluation.result`. Ids follow from the run and the case, so that the same results give the same spans. A file is one request,
//! which any collector takes at `/v1/traces`.

use std::io::{self, Write};

use jurat_core::report::{CaseReport, RunReport, TaskReport};
use jurat_core::verdict::CaseVerdict;
use jurat_format::value::{Val, Value};
use jurat_report::{CaseWriter, Scope};

use super::interchange::{
    Items, asked_and_answered, count, explanation, number, object, plain, run_id, score, started, text,
};
use super::{Format, Holds};
use crate::Error;

/// Spans for collectors and viewers of traces.
pub static OTLP: Format = Format {
    name: "otlp",
    extensions: &[],
    title: Some("OTLP"),
    help: "A span for each case with its results as events, for OpenTelemetry (OTLP in JSON)",
    holds: Holds::Cases,
    write: |export, mut out| {
        export.write_cases(&mut Traces::new(&mut out, export.report(), export.scope()).map_err(Error::Write)?)
    },
};

struct Traces<'r> {
    out: &'r mut dyn Write,
    run: &'r RunReport,
    scope: Scope,
    items: Items,
}

impl<'r> Traces<'r> {
    fn new(out: &'r mut dyn Write, run: &'r RunReport, scope: Scope) -> io::Result<Traces<'r>> {
        let resource = attributes([
            ("service.name", text(run.suite.clone())),
            ("jurat.run.id", text(run_id(run, scope))),
            ("jurat.suite.hash", text(run.suite_hash.clone())),
        ]);
        let about = object([("attributes", Some(resource))]);
        let by = object([("name", text("jurat")), ("version", text(env!("CARGO_PKG_VERSION")))]);
        let (about, by) = (about.to_json(), by.to_json());
        write!(out, "{{\"resourceSpans\":[{{\"resource\":{about},\"scopeSpans\":[{{\"scope\":{by},\"spans\":[")?;
        Ok(Traces { out, run, scope, items: Items::default() })
    }

    fn span(&self, case: &CaseReport) -> Value {
        let (input, output) = asked_and_answered(case);
        let variant = [case.prompt.as_deref(), case.subject.as_deref()].map(Option::unwrap_or_default).join("\n");
        let name = format!("{}\n{}\n{variant}\n{}", run_id(self.run, self.scope), case.id, case.replicate.unwrap_or(1));
        let hash = blake3::hash(name.as_bytes()).to_hex();
        let start = started(self.run, self.scope).as_nanosecond().max(0);
        let took = if self.scope == Scope::ResultsOnly { 0 } else { case.took.as_nanos() as i128 };
        let end = start + took;
        let usage = case.usage;
        let attributes = attributes([
            ("gen_ai.operation.name", text("chat")),
            ("gen_ai.request.model", case.subject.clone().and_then(text)),
            ("gen_ai.input.messages", input.as_ref().and_then(|it| text(messages("user", it)))),
            ("gen_ai.output.messages", output.as_ref().and_then(|it| text(messages("assistant", it)))),
            ("gen_ai.usage.input_tokens", usage.as_ref().and_then(|it| count(it.input))),
            ("gen_ai.usage.output_tokens", usage.as_ref().and_then(|it| count(it.output))),
            ("jurat.case.id", text(case.id.clone())),
            ("jurat.case.verdict", text(case.verdict.name())),
            ("jurat.case.replicate", case.replicate.and_then(|it| count(u64::from(it)))),
            ("jurat.prompt", case.prompt.clone().and_then(text)),
            ("jurat.cost_usd", case.cost_usd.and_then(number)),
        ]);
        // A failed task is no error of the span: the subject answered.
        let code = if matches!(case.verdict, CaseVerdict::Error) { 2 } else { 1 };
        let message = Some(case.message.clone()).filter(|it| !it.is_empty()).and_then(text);
        object([
            ("traceId", text(&hash[..32])),
            ("spanId", text(&hash[32..48])),
            ("name", text(format!("case {}", case.id))),
            ("kind", count(1)),
            ("startTimeUnixNano", text(start.to_string())),
            ("endTimeUnixNano", text(end.to_string())),
            ("attributes", Some(attributes)),
            ("events", Some(case.tasks.iter().map(|it| self.event(it, end)).collect())),
            ("status", Some(object([("code", count(code)), ("message", message)]))),
        ])
    }

    fn event(&self, task: &TaskReport, at: i128) -> Value {
        let attributes = attributes([
            ("gen_ai.evaluation.name", text(self.run.tasks[task.task].id.clone())),
            ("gen_ai.evaluation.score.value", score(task).and_then(number)),
            (
                "gen_ai.evaluation.score.label",
                text(task.label.clone().unwrap_or_else(|| task.verdict.name().to_owned())),
            ),
            ("gen_ai.evaluation.explanation", explanation(task).and_then(text)),
            ("jurat.task.verdict", text(task.verdict.name())),
        ]);
        object([
            ("timeUnixNano", text(at.to_string())),
            ("name", text("gen_ai.evaluation.result")),
            ("attributes", Some(attributes)),
        ])
    }
}

impl CaseWriter for Traces<'_> {
    fn case(&mut self, case: &CaseReport) -> io::Result<()> {
        let span = self.span(case);
        self.items.write(self.out, &span)
    }

    fn end(&mut self) -> io::Result<()> {
        writeln!(self.out, "\n]}}]}}]}}")?;
        self.out.flush()
    }
}

/// One message with one part of text, as the conventions write it into an attribute.
fn messages(role: &str, content: &Value) -> String {
    let part = object([("type", text("text")), ("content", text(plain(content)))]);
    let message = object([("role", text(role)), ("parts", Some(Val::List(vec![part])))]);
    Val::List(vec![message]).to_json()
}

/// Attributes as OTLP has them: keys with typed values.
fn attributes<const N: usize>(pairs: [(&'static str, Option<Value>); N]) -> Value {
    let typed = |value: Value| match value {
        Val::I(_) | Val::U(_) => object([("intValue", text(value.to_json()))]),
        Val::F(_) => object([("doubleValue", Some(value))]),
        Val::Bool(_) => object([("boolValue", Some(value))]),
        other => object([("stringValue", text(plain(&other)))]),
    };
    let there = pairs.into_iter().filter_map(|(key, value)| Some((key, typed(value?))));
    there.map(|(key, value)| object([("key", text(key)), ("value", Some(value))])).collect()
}
