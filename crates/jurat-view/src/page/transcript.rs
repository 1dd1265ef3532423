//! A conversation beside its graph: what was asked and answered in each turn, which way it went, and why.

use jurat_core::report::scenario::ScenarioGraph;
use jurat_core::report::transcript::{EdgeStep, OutcomeStep, Transcript, Turn};
use jurat_core::scenario::TurnFailure;
use jurat_report::{pretty_json, score};
use maud::{Markup, html};

use super::case::CasePage;
use super::explained::{replied, tool, trace};
use crate::part::graph;
use crate::part::text::{excerpt, line, lines, sentence};
use crate::part::value;

pub(super) fn section(page: &CasePage, it: &Transcript, graph: Option<&ScenarioGraph>) -> Markup {
    html! {
        section.transcript aria-labelledby="conversation" {
            h2 id="conversation" { "Conversation" }
            @if let Some(description) = &it.description { p.description { (lines(description)) } }
            p.about {
                @if let Some(status) = &it.status { "ended: " strong { (line(status)) } " · " }
                (it.turns.len()) " of at most " (it.turn_limit) " turns"
            }
            @if let Some((node, failure)) = &it.failure { p.note { "At " code { (line(node)) } ": " (failed(failure)) } }
            div.split.beside {
                @if let Some(graph) = graph { div.drawing { (graph::conversation(graph, it, page.route.turn, &|turn| page.at_turn(turn))) } }
                ol.turns {
                    @for (ix, turn) in it.turns.iter().enumerate() { (one_turn(page, it, ix, turn)) }
                }
            }
            (outcomes(&it.outcomes))
            @if let Some(state) = &it.final_state {
                details { summary { "State at the end" } pre tabindex="0" { (lines(&pretty_json(state))) } }
            }
        }
    }
}

/// Why a turn failed, and where.
fn failed(failure: &TurnFailure) -> Markup {
    html! { (sentence(&failure.reason)) " " span.tag { (failure.category.name()) } " " span.tag { (line(&failure.stage)) } }
}

fn one_turn(page: &CasePage, it: &Transcript, ix: usize, turn: &Turn) -> Markup {
    let number = ix as u32 + 1;
    let before = ix.checked_sub(1).and_then(|it_ix| it.turns[it_ix].state.as_ref());
    html! {
        li.turn id={ "turn-" (number) } data-row="" aria-current=[(page.route.turn == Some(number)).then_some("true")] {
            h3 {
                a.open href=(page.at_turn(number)) { "Turn " (number) " · " (line(&turn.node)) }
                @match turn.verify_result {
                    Some(true) => { " " span.badge.passed { "✓ right" } },
                    Some(false) => { " " span.badge.failed { "✗ wrong" } },
                    None => {},
                }
                @if let Some(number) = turn.score { " " span.tag { "score " (score(number)) } }
                @if let Some(by) = &turn.judged_by { " " span.tag { "by " (line(by)) } }
            }
            div.said.asked { span.who { "asked" } (lines(&turn.question)) }
            @if let Some(sent) = &turn.sent { details { summary { "Sent as" } pre tabindex="0" { (lines(sent)) } } }
            @if let Some(reply) = &turn.reply { div.said.answered { span.who { "replied" } (lines(reply)) } }
            @for step in &turn.tool_calls { (tool(step)) }
            @if let Some(failure) = &turn.failure { p.note { (failed(failure)) } }
            @if let Some(error) = &turn.update_error { p.note { "The state was not updated: " (sentence(error)) } }
            (fields(turn))
            (routing(turn))
            @if let Some(state) = &turn.state {
                details {
                    summary { "State" @if before.is_some() { ", as it changed" } }
                    @match before {
                        Some(before) => (value::diff(&pretty_json(before), &pretty_json(state))),
                        None => pre tabindex="0" { (lines(&pretty_json(state))) },
                    }
                }
            }
            (requests(page, turn))
        }
    }
}

fn fields(turn: &Turn) -> Markup {
    html! {
        @if !turn.fields.is_empty() || !turn.rubric.is_empty() || !turn.rubric_errors.is_empty() {
            table.rows.fields {
                thead { tr { th scope="col" { "Field" } th scope="col" { "Result" } th scope="col" { "Expected" } th scope="col" { "Found" } } }
                tbody {
                    @for field in &turn.fields {
                        tr {
                            th scope="row" { (line(&field.name)) }
                            td { @match field.result { Some(true) => span.badge.passed { "✓" span.hidden { "right" } }, Some(false) => span.badge.failed { "✗" span.hidden { "wrong" } }, None => span.none { "–" } } }
                            td { @if let Some(expected) = &field.expected { (sentence(expected)) } }
                            td { (sentence(&field.found)) @if let Some(problem) = &field.problem { " (" (sentence(problem)) ")" } }
                        }
                    }
                    @for (name, value) in &turn.rubric {
                        tr { th scope="row" { (line(name)) } td { span.tag { "trait" } } td {} td { code { (excerpt(&value.to_string(), 400)) } } }
                    }
                    @for (name, reason) in &turn.rubric_errors {
                        tr { th scope="row" { (line(name)) } td { span.badge.error { "! error" } } td {} td { (sentence(reason)) } }
                    }
                }
            }
        }
        @if turn.parsed.as_map().is_some_and(|it| it.iter().next().is_some()) {
            details { summary { "Read as" } pre tabindex="0" { (lines(&pretty_json(&turn.parsed))) } }
        }
    }
}

/// The edges that were tested after a turn, and the one that was taken.
fn routing(turn: &Turn) -> Markup {
    html! {
        @if !turn.tested.is_empty() {
            ul.routing {
                @for it in &turn.tested {
                    li {
                        @match &it.held {
                            Ok(true) => span.badge.passed { "✓ held" },
                            Ok(false) => span.badge.skipped { "– did not hold" },
                            Err(reason) => { span.badge.error { "! undecided" } " " (sentence(reason)) },
                        }
                        " " (edge(&it.edge))
                        @for (path, value) in &it.saw { " " span.saw { code { (line(path)) } " is " code { (excerpt(&value.to_string(), 200)) } } }
                    }
                }
            }
        }
        @if let Some(taken) = &turn.taken { p.taken { "→ " (edge(taken)) } }
    }
}

fn edge(it: &EdgeStep) -> Markup {
    html! { "to " code { (line(&it.to)) } @if let Some(when) = &it.when { " when " (sentence(when)) } }
}

fn requests(page: &CasePage, turn: &Turn) -> Markup {
    html! {
        @if !turn.conversations.is_empty() {
            details.requests {
                summary { "Requests of this turn" }
                @for it in &turn.conversations {
                    h4 { (it.purpose.name()) }
                    @for message in &it.messages { p.who { (message.role()) } pre tabindex="0" { (lines(message.text())) } }
                    @for reply in &it.replies {
                        (replied(page, it, reply, &html! { pre tabindex="0" { (lines(reply.text.as_deref().unwrap_or_default())) } }))
                    }
                }
            }
        }
    }
}

fn outcomes(outcomes: &[OutcomeStep]) -> Markup {
    html! {
        @if !outcomes.is_empty() {
            h3 { "Outcomes" }
            ul.outcomes {
                @for it in outcomes {
                    li {
                        @match &it.result {
                            Some(Ok(value)) => code { (excerpt(&value.to_string(), 400)) },
                            Some(Err(reason)) => { span.badge.error { "! error" } " " (sentence(reason)) },
                            None => span.none { "not decided" },
                        }
                        " " strong { (line(&it.name)) }
                        @if let Some(description) = &it.description { " " span.hint { (lines(description)) } }
                        @if let Some(decided) = &it.decided { (trace(decided)) }
                    }
                }
            }
        }
    }
}
