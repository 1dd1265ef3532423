//! What an agent did: its events in order, what it made of its workspace, what it used.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jurat_format::value::{Map, Val, Value};
use jurat_report::{bytes, counted, duration, grouped, money, pretty_json, visible_line};
use maud::{Markup, html};

use super::asked;
use super::case::{CasePage, Place, ROW};
use crate::part::bar::place;
use crate::part::diff;
use crate::part::text::{excerpt, line, lines, sentence};
use crate::part::value;

/// How many events a page has.
const EVENTS: usize = 500;

pub(super) fn section(page: &CasePage, evidence: &Value) -> Markup {
    let events = evidence.get("trace").and_then(Val::as_list).unwrap_or_default();
    html! {
        section.agent aria-labelledby="agent" {
            h2 id="agent" { "What the agent did" }
            (facts(evidence))
            (timeline(events))
            (event_list(page, events))
            (workspace(page, evidence))
            @if let Some(it) = &page.asked { (asked::section(page, it)) }
            (logs(page, evidence))
        }
    }
}

fn text<'v>(value: &'v Val<'_>, path: &[&str]) -> Option<&'v str> {
    path.iter().try_fold(value, |value, key| value.get(key))?.as_str()
}

fn number(value: &Val<'_>, path: &[&str]) -> Option<f64> {
    path.iter().try_fold(value, |value, key| value.get(key))?.as_f64()
}

fn facts(evidence: &Value) -> Markup {
    let took = number(evidence, &["timing", "duration_seconds"]);
    let took = took.and_then(|it| std::time::Duration::try_from_secs_f64(it).ok());
    let facts = [
        ("status", text(evidence, &["status"]).map(str::to_owned)),
        ("because", text(evidence, &["error", "message"]).map(str::to_owned)),
        ("runner", text(evidence, &["identity", "runner_type"]).map(str::to_owned)),
        ("program", text(evidence, &["runner_metadata", "program", "version"]).map(str::to_owned)),
        ("model", text(evidence, &["request", "requested_model"]).map(str::to_owned)),
        ("ran in", text(evidence, &["runner_metadata", "place"]).map(str::to_owned)),
        ("took", took.map(duration)),
        ("requests", number(evidence, &["runner_metadata", "requests"]).map(|it| grouped(it as u64))),
        ("input tokens", number(evidence, &["usage", "normalized", "input_tokens"]).map(|it| grouped(it as u64))),
        ("output tokens", number(evidence, &["usage", "normalized", "output_tokens"]).map(|it| grouped(it as u64))),
        ("cost", number(evidence, &["usage", "cost_usd"]).map(money)),
    ];
    html! {
        dl.facts {
            @for (name, fact) in facts {
                @if let Some(fact) = fact { div { dt { (name) } dd { (line(&fact)) } } }
            }
        }
    }
}

/// How many events are drawn.
const MOST_DRAWN: usize = 2_000;

/// The lanes of the drawing, from the top.
const LANES: [&str; 3] = ["messages", "tool calls", "notes"];

fn lane(event: &Value) -> usize {
    match text(event, &["event_type"]).unwrap_or_default() {
        "tool_call" | "tool_result" => 1,
        "model_message" | "final_output" | "message" | "user_message" | "assistant_message" => 0,
        _ => 2,
    }
}

/// Events as marks in lanes: to the scale of time where all of them say when they were, else in their order.
fn timeline(events: &[Value]) -> Markup {
    let drawn = &events[..events.len().min(MOST_DRAWN)];
    let spans = spans(drawn);
    let scaled = spans.as_deref();
    let marks: Vec<(usize, f64, f64, String)> = match scaled {
        Some(spans) => to_scale(drawn, spans),
        None => in_order(drawn),
    };
    html! {
        @if !events.is_empty() {
            figure.timeline {
                svg viewBox="0 0 100 30" preserveAspectRatio="none" role="img" aria-label={ (counted(events.len() as u64, "event")) @if scaled.is_some() { " over time, by kind" } @else { " in order, by kind" } } {
                    @for (lane, x, width, title) in &marks {
                        rect class={ "lane-" (lane) } x=(place(*x)) y=(lane * 10 + 1) width=(place(width.max(0.15))) height="8" { title { (title) } }
                    }
                }
                figcaption {
                    "Rows from the top: " (LANES.join(", ")) ". "
                    @match scaled {
                        Some(spans) => { "To scale: the whole is " (duration(whole(spans))) ". A call lasts until its result, a message from the event before it." },
                        None => "In the order of events: their times are not known.",
                    }
                    @if drawn.len() < events.len() { " The first " (grouped(drawn.len() as u64)) " of " (counted(events.len() as u64, "event")) "." }
                }
            }
        }
    }
}

fn in_order(events: &[Value]) -> Vec<(usize, f64, f64, String)> {
    let width = 100.0 / events.len().max(1) as f64;
    let mark = |(ix, event): (usize, &Value)| (lane(event), ix as f64 * width, width * 0.86, title(ix, event));
    events.iter().enumerate().map(mark).collect()
}

/// What a pointer on a mark shows.
fn title(ix: usize, event: &Value) -> String {
    let kind = text(event, &["event_type"]).unwrap_or("event");
    let tool = text(event, &["tool_name"]).map(|it| format!(" {it}")).unwrap_or_default();
    visible_line(&format!("{}. {kind}{tool}", ix + 1)).into_owned()
}

/// When an event began and ended, in milliseconds; nothing for one that another one includes.
type Span = Option<(i64, i64)>;

/// The spans of events; nothing where one of them does not say when it was, or all were at the same time.
fn spans(events: &[Value]) -> Option<Vec<Span>> {
    let at = |event: &Value| {
        text(event, &["timestamp"])?.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_millisecond)
    };
    let times: Vec<i64> = events.iter().map(at).collect::<Option<_>>()?;
    if times.iter().min() == times.iter().max() {
        return None;
    }
    let call = |event: &Value| text(event, &["call_id"]).map(str::to_owned);
    let is = |event: &Value, kind: &str| text(event, &["event_type"]) == Some(kind);
    let results: BTreeMap<String, i64> = events
        .iter()
        .zip(&times)
        .filter(|(it, _)| is(it, "tool_result"))
        .filter_map(|(it, time)| Some((call(it)?, *time)))
        .collect();
    let called: BTreeSet<String> = events.iter().filter(|it| is(it, "tool_call")).filter_map(call).collect();
    let span = |ix: usize, event: &Value| match lane(event) {
        1 if is(event, "tool_result") && call(event).is_some_and(|it| called.contains(&it)) => None,
        1 => Some((times[ix], call(event).and_then(|it| results.get(&it).copied()).unwrap_or(times[ix]))),
        0 if ix > 0 && text(event, &["role"]) != Some("user") => Some((times[ix - 1], times[ix])),
        _ => Some((times[ix], times[ix])),
    };
    Some(events.iter().enumerate().map(|(ix, event)| span(ix, event)).collect())
}

fn ends(spans: &[Span]) -> (i64, i64) {
    let all = spans.iter().flatten();
    all.fold((i64::MAX, i64::MIN), |(first, last), (start, end)| (first.min(*start), last.max(*end)))
}

fn whole(spans: &[Span]) -> Duration {
    let (first, last) = ends(spans);
    Duration::from_millis(u64::try_from(last - first).unwrap_or(0))
}

fn to_scale(events: &[Value], spans: &[Span]) -> Vec<(usize, f64, f64, String)> {
    let (first, last) = ends(spans);
    let scale = 100.0 / (last - first).max(1) as f64;
    let mark = |ix: usize, event: &Value, start: i64, end: i64| {
        let took = Duration::from_millis(u64::try_from(end - start).unwrap_or(0));
        let title = if took.is_zero() { title(ix, event) } else { format!("{}, {}", title(ix, event), duration(took)) };
        (lane(event), (start - first) as f64 * scale, (end - start).max(0) as f64 * scale, title)
    };
    let marks = events.iter().zip(spans).enumerate();
    marks.filter_map(|(ix, (event, span))| span.map(|(start, end)| mark(ix, event, start, end))).collect()
}

fn event_list(page: &CasePage, events: &[Value]) -> Markup {
    let only = page.route.only.as_deref();
    let is_meant = |event: &Value| only.is_none_or(|it| names(event).any(|name| name == it));
    let shown: Vec<(usize, &Value)> = events.iter().enumerate().filter(|(_, it)| is_meant(it)).collect();
    let from = usize::try_from(page.route.from).unwrap_or(usize::MAX).min(shown.len());
    let end = (from + EVENTS).min(shown.len());
    html! {
        h3 { (counted(events.len() as u64, "event")) }
        @if page.place == Place::Viewer { (event_filter(page, events)) }
        ol.events {
            @for (ix, event) in &shown[from..end] { (one_event(*ix, event)) }
        }
        @if shown.len() > EVENTS && page.place != Place::Viewer {
            p.hint { "The first " (grouped(end as u64)) " of " (counted(shown.len() as u64, "event")) "; the rest is in the run." }
        } @else if shown.len() > EVENTS {
            nav.pager aria-label="Events" {
                @if from > 0 { a href=(page.at_event(from.saturating_sub(EVENTS) as u64)) { "‹ earlier events" } }
                span { (grouped(from as u64 + 1)) "–" (grouped(end as u64)) " of " (grouped(shown.len() as u64)) }
                @if end < shown.len() {
                    a href=(page.at_event(end as u64)) { "later events ›" }
                    a href=(page.at_event(((shown.len() - 1) / EVENTS * EVENTS) as u64)) { "last" }
                }
            }
        }
    }
}

/// What an event is selected by: its kind and its tool.
fn names(event: &Value) -> impl Iterator<Item = &str> {
    [text(event, &["event_type"]), text(event, &["tool_name"])].into_iter().flatten()
}

/// Kinds of events and tools, each a link that shows these alone.
fn event_filter(page: &CasePage, events: &[Value]) -> Markup {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    events.iter().flat_map(names).for_each(|it| *counts.entry(it).or_default() += 1);
    html! {
        @if counts.len() > 1 {
            nav.chips aria-label="Kinds of events and tools" {
                a.chip href=(page.at_events_of(None)) aria-current=[page.route.only.is_none().then_some("true")] { "all" }
                @for (name, n) in &counts {
                    a.chip href=(page.at_events_of(Some(name))) aria-current=[(page.route.only.as_deref() == Some(*name)).then_some("true")] {
                        (excerpt(name, 40)) " " span.n { (grouped(*n)) }
                    }
                }
            }
        }
    }
}

fn one_event(ix: usize, event: &Value) -> Markup {
    let kind = text(event, &["event_type"]).unwrap_or("event");
    let tool = text(event, &["tool_name"]);
    let arguments = event.get("parsed_arguments").or_else(|| event.get("raw_arguments"));
    let content = event.get("content").or_else(|| event.get("output")).or_else(|| event.get("result"));
    html! {
        li.event data-row="" value=(ix + 1) {
            span.tag { (line(kind)) }
            @if let Some(tool) = tool { " " code { (line(tool)) } }
            @if let Some(arguments) = arguments {
                @let printed = arguments.as_str().map_or_else(|| pretty_json(arguments), str::to_owned);
                @if printed.len() > 160 { details { summary { "arguments" } pre tabindex="0" { (lines(&printed)) } } }
                @else { " " code { (line(&printed)) } }
            }
            @if let Some(content) = content {
                @let printed = content.as_str().map_or_else(|| pretty_json(content), str::to_owned);
                @if printed.len() > 600 { details { summary { (excerpt(&printed, 160)) } pre tabindex="0" { (lines(&printed)) } } }
                @else if !printed.is_empty() { pre tabindex="0" { (lines(&printed)) } }
            }
        }
    }
}

/// A file that is shorter is shown at once.
const SHORT_FILE: usize = 2_000;

fn workspace(page: &CasePage, evidence: &Value) -> Markup {
    let changes = evidence.get("workspace").unwrap_or(&Val::Null);
    let lists =
        ["added", "changed", "removed"].map(|key| (key, changes.get(key).and_then(Val::as_list).unwrap_or_default()));
    let files = changes.get("files").and_then(Val::as_map);
    let outputs = evidence.get("output_artifacts").and_then(Val::as_list).unwrap_or_default();
    html! {
        @if lists.iter().any(|(_, it)| !it.is_empty()) {
            h3 id="workspace" { "Workspace" }
            @if page.place == Place::Viewer && has_diff(files) { (diff_forms(page)) }
            ul.files {
                @for (word, paths) in lists {
                    @for path in paths.iter().filter_map(Val::as_str) {
                        @let file = files.and_then(|it| it.get(path));
                        li {
                            span.tag { (word) } " " code { (line(path)) }
                            @if let Some(diff) = file.and_then(|it| text(it, &["diff"])) {
                                details open[diff.len() < SHORT_FILE] { summary { "diff" } (diff::unified(diff, page.route.look.is_side_by_side)) }
                            } @else if let Some(content) = file.and_then(|it| text(it, &["text"])) {
                                details open[content.len() < SHORT_FILE] { summary { "text" } (value::text(content, &page.whole(ROW))) }
                            }
                        }
                    }
                }
            }
        }
        @if !outputs.is_empty() {
            h3 { "Key outputs" }
            ul.files { @for (ix, output) in outputs.iter().enumerate() { li { (key_output(page, ix, output)) } } }
        }
        @if let Some(message) = text(evidence, &["error", "message"]) { p.note { (sentence(message)) } }
    }
}

/// Whether a file has a diff.
fn has_diff(files: Option<&Map<'_>>) -> bool {
    files.is_some_and(|it| it.iter().any(|(_, file)| text(file, &["diff"]).is_some()))
}

/// Whether diffs are in line or side by side, each a link.
fn diff_forms(page: &CasePage) -> Markup {
    let is_side_by_side = page.route.look.is_side_by_side;
    html! {
        nav.chips aria-label="Forms of diffs" {
            a.chip href={ (page.at_sides(false)) "#workspace" } aria-current=[(!is_side_by_side).then_some("true")] { "in line" }
            a.chip href={ (page.at_sides(true)) "#workspace" } aria-current=[is_side_by_side.then_some("true")] { "side by side" }
        }
    }
}

/// What its program printed and wrote down beside its outputs.
fn logs(page: &CasePage, evidence: &Value) -> Markup {
    let n_outputs = evidence.get("output_artifacts").and_then(Val::as_list).map_or(0, <[Value]>::len);
    let logs = evidence.get("runner_metadata").and_then(|it| it.get("logs")).and_then(Val::as_list).unwrap_or_default();
    html! {
        @if !logs.is_empty() {
            h3 { "Logs" }
            ul.files { @for (ix, log) in logs.iter().enumerate() { li { (key_output(page, n_outputs + ix, log)) } } }
        }
    }
}

/// A file that the agent left, as a download where it is stored.
fn key_output(page: &CasePage, ix: usize, output: &Value) -> Markup {
    let name = text(output, &["metadata", "workspace_relative_path"]).or_else(|| text(output, &["uri"]));
    let size = number(output, &["byte_size"]);
    html! {
        span.tag { (line(text(output, &["artifact_type"]).unwrap_or("file"))) } " "
        @match page.place {
            Place::Viewer => a href=(page.output(ix as u32)) download="" { code { (line(name.unwrap_or("file"))) } },
            _ => code { (line(name.unwrap_or("file"))) },
        }
        @if let Some(size) = size { " " span.hint { (bytes(size as u64)) } }
        @if let Some(kind) = text(output, &["media_type"]) { " " span.hint { (line(kind)) } }
    }
}
