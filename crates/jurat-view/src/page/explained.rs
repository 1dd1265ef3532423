//! The task that is explained: everything that its verdict rests on.

use jurat_core::effect::{Attempt, Message, PrintedText, ToolCall};
use jurat_core::outcome::Trace;
use jurat_core::report::explanation::{Called, Conversation, Explanation, Operands, Origin, Reply};
use jurat_core::report::gate_name;
use jurat_core::report::transcript::ToolStep;
use jurat_format::value::Value;
use jurat_report::{bytes, counted, duration, grouped, money, pretty_json, score, span};
use maud::{Markup, html};

use super::case::{CasePage, Place};
use crate::part::text::{excerpt, line, lines, sentence};
use crate::part::value;
use crate::part::verdict::{badge, of_task};

pub(super) fn section(page: &CasePage, it: &Explanation) -> Markup {
    let gate = gate_name(it.gate);
    html! {
        section.explained aria-labelledby="task" {
            div.head {
                h2 id="task" { (line(&it.task)) }
                p.about {
                    (badge(of_task(it.verdict))) " " (line(&it.kind))
                    @if !gate.is_empty() { ", " (gate) }
                    ", stage " (it.stage)
                    @if let Some(label) = &it.label { " · label " strong { (line(label)) } }
                    @if let Some(number) = it.score { " · score " strong { (score(number)) } }
                }
            }
            @if let Some(description) = &it.description { p.description { (lines(description)) } }
            @if !it.message.is_empty() { p.sentence { (sentence(&it.message)) } }
            @if let Some(words) = &it.explanation {
                h3 { "In the words of the " @if it.kind == "evaluate" { "evaluator" } @else { "judge" } }
                blockquote { (lines(words)) }
            }
            @if let Some(row) = &it.row {
                p.hint {
                    "Row " @if let Some(number) = row.row { (grouped(number)) " " } "of " (line(&row.file))
                    @if let Some(offset) = row.offset { ", from byte " (grouped(offset)) }
                }
            }
            (gates(page, it))
            @if let Some(operands) = &it.operands { (compared(page, it, operands)) }
            @if let Some(decided) = &it.decided { h3 { "How it was decided" } (trace(decided)) }
            (spread(it))
            @if let Some(called) = &it.called { (code_call(page, it, called)) }
            @for (ix, conversation) in it.conversations.iter().enumerate() { (asked(page, it, ix, conversation)) }
            @if !it.tool_calls.is_empty() { h3 { "Tools that it called" } @for step in &it.tool_calls { (tool(step)) } }
            (context(page, it))
        }
    }
}

fn gates(page: &CasePage, it: &Explanation) -> Markup {
    html! {
        @if !it.gates.is_empty() {
            h3 { "Gates above it, from the top" }
            ul.gates {
                @for step in &it.gates {
                    li {
                        (badge(of_task(step.verdict))) " " a href=(page.at_task(&step.task)) { (line(&step.task)) }
                        @if !step.message.is_empty() { ": " (sentence(&step.message)) }
                    }
                }
            }
        }
    }
}

fn compared(page: &CasePage, explanation: &Explanation, it: &Operands) -> Markup {
    let whole = |part: &str| page.whole(&format!("{part} {}", explanation.task));
    let texts = it.expected.as_ref().and_then(Value::as_str).zip(it.found.as_ref().and_then(Value::as_str));
    html! {
        h3 { "Compared" }
        p { code { (line(it.path.as_deref().unwrap_or("everything"))) } " " strong { (line(&it.operator)) } }
        div.sides {
            @if let Some(expected) = &it.expected { div { h4 { "expected" } (value::value(expected, &whole("expected"))) } }
            div {
                h4 { "found" }
                @match &it.found {
                    Some(found) => (value::value(found, &whole("found"))),
                    None => p.none { "nothing" },
                }
            }
        }
        @if let Some((expected, found)) = texts.filter(|(expected, found)| expected != found && expected.len() + found.len() > 60) {
            details.difference { summary { "Difference" } (value::diff(expected, found)) }
        }
    }
}

/// How an outcome was decided, part by part, with the value at every leaf.
pub(super) fn trace(it: &Trace) -> Markup {
    html! { pre.trace tabindex="0" { (lines(&it.to_string())) } }
}

fn spread(it: &Explanation) -> Markup {
    html! {
        @if it.spread.len() > 1 {
            h3 { "What each judge said" }
            ol.spread { @for said in &it.spread { li { code { (excerpt(&said.to_string(), 400)) } } } }
        }
    }
}

fn code_call(page: &CasePage, explanation: &Explanation, it: &Called) -> Markup {
    let whole = |part: &str| page.whole(&format!("{part} {}", explanation.task));
    html! {
        h3 { "Call of " code { (line(&it.evaluator)) } }
        @if page.place != Place::FileOfResults {
            p.about { (origin("called", it.origin, it.age)) @if let Some(latency) = it.latency { " · " (duration(latency)) } }
        }
        details { summary { "Arguments" } (value::value(&it.arguments, &whole("arguments"))) }
        @if let Some(returned) = &it.returned { h4 { "returned" } (value::value(returned, &whole("returned"))) }
        @if let Some(problem) = &it.problem { h4 { "problem" } pre.problem tabindex="0" { (lines(problem)) } }
        (printed("printed", &it.printed.stdout))
        (printed("printed to standard error", &it.printed.stderr))
    }
}

fn printed(title: &str, it: &PrintedText) -> Markup {
    html! {
        @if !it.is_empty() {
            h4 { (title) }
            @if it.n_dropped > 0 { p.hint { (bytes(it.n_dropped)) " before this were not stored." } }
            pre tabindex="0" { (lines(&it.text)) }
        }
    }
}

/// What was asked of models for one purpose, and what came back.
fn asked(page: &CasePage, explanation: &Explanation, ix: usize, it: &Conversation) -> Markup {
    let whole = |part: String| page.whole(&format!("{part} {}", explanation.task));
    html! {
        section.conversation {
            h3 { "What the " (it.purpose.name()) " was asked" }
            @for (at, message) in it.messages.iter().enumerate() {
                details open[it.messages.len() < 4] {
                    summary { (message.role()) " · " (counted(message.text().chars().count() as u64, "character")) }
                    @if !message.text().is_empty() { (value::text(message.text(), &whole(format!("message.{ix}.{at}")))) }
                    @if let Message::Assistant { tool_calls, .. } = message { (calls(tool_calls)) }
                }
            }
            @if let Some(schema) = &it.schema {
                details { summary { "Schema of the answer" } (value::value(schema, &whole(format!("schema.{ix}")))) }
            }
            @for (at, reply) in it.replies.iter().enumerate() {
                (replied(page, it, reply, &value::text(reply.text.as_deref().unwrap_or_default(), &whole(format!("reply.{ix}.{at}")))))
            }
        }
    }
}

pub(super) fn replied(page: &CasePage, conversation: &Conversation, it: &Reply, text: &Markup) -> Markup {
    let is_all = page.place != Place::FileOfResults;
    let slots = conversation.replies.iter().map(|it| it.slot).max().unwrap_or(1);
    html! {
        article.reply {
            h4 {
                "Reply" @if slots > 1 { " of " (conversation.purpose.name()) " " (it.slot) }
                " · " (line(&it.model))
                @if it.turn > 1 { " · asked " (it.turn) " times" }
            }
            @if is_all {
                p.about { (facts(it)) }
                @for attempt in &it.attempts { (failed_attempt(attempt)) }
            }
            @if it.text.as_ref().is_some_and(|text| !text.is_empty()) { (text) }
            (calls(&it.tool_calls))
            @if let Some(parsed) = &it.parsed { details { summary { "Read as" } pre tabindex="0" { (lines(&pretty_json(parsed))) } } }
            @if let Some(problem) = &it.problem { p.note { (sentence(problem)) } }
        }
    }
}

fn facts(it: &Reply) -> Markup {
    html! {
        (origin("asked", it.origin, it.age))
        @if let Some(model) = &it.served.model { " · served by " (line(model)) }
        @if let Some(latency) = it.latency { " · " (duration(latency)) }
        @if let Some(usage) = &it.usage { " · " (grouped(usage.input)) " + " (grouped(usage.output)) " tokens" }
        @if let Some(cost) = it.cost_usd { " · " (money(cost)) }
        @if let Some(finish) = &it.finish { " · finish " (line(finish)) }
        @if let Some(request) = &it.served.request_id { " · request " (excerpt(request, 40)) }
        @if let Some(fingerprint) = &it.served.fingerprint { " · fingerprint " (excerpt(fingerprint, 40)) }
    }
}

/// Whether an answer was asked for in this run, and how old it is otherwise.
fn origin(word: &str, origin: Origin, age: Option<std::time::Duration>) -> Markup {
    html! {
        @match origin {
            Origin::Live => { (word) " in this run" },
            Origin::Journal => "from the journal",
            Origin::Log => "from the log",
        }
        @if let Some(age) = age { ", " (span(age)) " old" }
    }
}

fn failed_attempt(it: &Attempt) -> Markup {
    html! {
        p.attempt {
            "failed after " (duration(it.took)) " (" (it.kind.name())
            @if let Some(wait) = it.retry_after { ", asked to wait " (duration(wait)) }
            "): " (sentence(&it.message))
        }
    }
}

fn calls(calls: &[ToolCall]) -> Markup {
    html! {
        @for call in calls {
            p.call { "calls " code { (line(&call.name)) } " with " code { (excerpt(&call.arguments.to_string(), 2000)) } }
        }
    }
}

pub(super) fn tool(it: &ToolStep) -> Markup {
    html! {
        details.tool open {
            summary {
                code { @if let Some(server) = &it.server { (line(server)) "/" } (line(&it.tool)) }
                @if it.is_error { " " span.badge.error { "! error" } }
            }
            pre tabindex="0" { (lines(&pretty_json(&it.arguments))) }
            @if let Some(output) = &it.output { h4 { "returned" } pre tabindex="0" { (lines(output)) } }
        }
    }
}

fn context(page: &CasePage, it: &Explanation) -> Markup {
    html! {
        @if !it.seen.is_empty() {
            details {
                summary { "What it could read: " (counted(it.seen.len() as u64, "value")) }
                dl.members {
                    @for (ix, seen) in it.seen.iter().enumerate() {
                        dt { (line(&seen.name)) @if seen.is_output { " " span.tag { "a task" } } }
                        dd { (value::value(&seen.value, &page.whole(&format!("seen.{ix} {}", it.task)))) }
                    }
                }
            }
        }
        @if !it.unseen.is_empty() {
            details {
                summary { "What it could not read" }
                ul { @for unseen in &it.unseen { li { (line(&unseen.name)) ": " (sentence(&unseen.reason)) } } }
            }
        }
    }
}
