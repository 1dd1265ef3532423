//! What an agent asked its model, as the proxy between them recorded it.

use std::time::Duration;

use jurat_format::value::{Value, parse_json};
use jurat_report::{counted, duration, grouped};
use maud::{Markup, html};

use super::case::CasePage;
use crate::part::text::{line, sentence};
use crate::part::time::moment;
use crate::part::value;
use crate::route::Route;

/// How many requests a page has.
pub(crate) const REQUESTS: usize = 25;

/// The requests of an agent, as far as they stand on a page.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    /// Those from [`crate::route::Look::asked`] on.
    pub(crate) exchanges: Vec<Exchange>,
    /// How many there are.
    pub(crate) n: u64,
    /// The place of their file among the files of the agent.
    pub(crate) file: u32,
}

/// A request and its reply. What is not known is absent.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Exchange {
    pub(crate) at_ms: u64,
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) model: Option<String>,
    pub(crate) request: String,
    pub(crate) status: Option<u64>,
    pub(crate) reply: String,
    pub(crate) error: Option<String>,
    pub(crate) took: Option<Duration>,
    /// Input and output.
    pub(crate) tokens: Option<(u64, u64)>,
}

pub(super) fn section(page: &CasePage, it: &Asked) -> Markup {
    let file = page.output(it.file);
    let from = page.route.look.asked.min(it.n);
    html! {
        h3 id="asked" { "Requests to its model" }
        p.hint { (counted(it.n, "request")) " passed the proxy. " a href=(file) download="" { "All of them as JSON lines" } }
        ol.exchanges { @for (exchange, number) in it.exchanges.iter().zip(from + 1..) { (one(number, exchange, &file)) } }
        @if it.n > REQUESTS as u64 { (pages(page, it, from)) }
    }
}

fn pages(page: &CasePage, it: &Asked, from: u64) -> Markup {
    let (step, end) = (REQUESTS as u64, from + it.exchanges.len() as u64);
    html! {
        nav.pager aria-label="Requests" {
            @if from > 0 { a href={ (page.at_asked(from.saturating_sub(step))) "#asked" } { "‹ earlier requests" } }
            span { (grouped((from + 1).min(it.n))) "–" (grouped(end)) " of " (grouped(it.n)) }
            @if end < it.n { a href={ (page.at_asked(end)) "#asked" } { "later requests ›" } }
        }
    }
}

fn one(number: u64, it: &Exchange, file: &Route) -> Markup {
    let is_good = it.status.is_some_and(|it| it < 400) && it.error.is_none();
    html! {
        li.event data-row="" value=(number) {
            details.exchange {
                summary {
                    code { (line(&it.method)) " " (line(&it.path)) }
                    @if let Some(model) = &it.model { " · " (line(model)) }
                    " · " @match it.status { Some(status) if is_good => (status), Some(status) => span.badge.error { "! " (status) }, None => span.badge.error { "! no reply" } }
                    @if let Some((input, output)) = it.tokens { " · " (grouped(input)) " + " (grouped(output)) " tokens" }
                    @if let Some(took) = it.took { " · " (duration(took)) }
                }
                p.about { (moment(it.at_ms)) }
                h4 { "request" }
                (body(&it.request, file))
                h4 { "reply" }
                (body(&it.reply, file))
            }
            @if let Some(error) = &it.error { p.note { (sentence(error)) } }
        }
    }
}

/// A body: JSON with its lines, anything else as it is.
fn body(text: &str, file: &Route) -> Markup {
    match parse_json(text) {
        _ if text.is_empty() => html! { p.none { "empty" } },
        Ok(parsed) => value::value(&parsed.value, file),
        Err(_) => value::value(&Value::from(text.to_owned()), file),
    }
}
