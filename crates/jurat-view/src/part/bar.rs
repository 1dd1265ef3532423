//! Bars as inline SVG: shares that add up to a whole, and rates with their intervals. Classes alone say how they look, because pages may not hold styles.

use jurat_core::statistics::Interval;
use jurat_report::{grouped, rate, visible_line};
use maud::{Markup, html};

use super::verdict::Look;
use crate::route::Route;

/// How wide a drawing is in its own units; the page stretches it.
const WIDTH: f64 = 100.0;

/// A part of a stacked bar: how it looks, how many there are, and where they are listed.
pub(crate) struct Part {
    pub(crate) look: Look,
    pub(crate) n: u64,
    pub(crate) route: Option<Route>,
}

/// Parts of a whole beside each other, with their numbers in words below.
pub(crate) fn stacked(label: &str, parts: &[Part]) -> Markup {
    let parts: Vec<&Part> = parts.iter().filter(|it| it.n > 0).collect();
    let total: u64 = parts.iter().map(|it| it.n).sum();
    html! {
        div.stacked {
            (strip(label, &parts, total))
            ul.legend {
                @for part in &parts {
                    li class=(part.look.class) {
                        @match &part.route {
                            Some(route) => a href=(route) { (words(part)) },
                            None => (words(part)),
                        }
                    }
                }
            }
        }
    }
}

/// The bar alone, for tables: its numbers stand beside it.
pub(crate) fn slim(label: &str, parts: &[Part]) -> Markup {
    let parts: Vec<&Part> = parts.iter().filter(|it| it.n > 0).collect();
    let total: u64 = parts.iter().map(|it| it.n).sum();
    strip(label, &parts, total)
}

fn words(part: &Part) -> Markup {
    html! { span.glyph aria-hidden="true" { (part.look.glyph) } " " strong { (grouped(part.n)) } " " (part.look.word) }
}

fn strip(label: &str, parts: &[&Part], total: u64) -> Markup {
    let said: Vec<String> = parts.iter().map(|it| format!("{} {}", grouped(it.n), it.look.word)).collect();
    let mut left = 0.0;
    let placed: Vec<(f64, f64, &str)> = parts
        .iter()
        .map(|part| {
            let width = WIDTH * part.n as f64 / total.max(1) as f64;
            let x = left;
            left += width;
            (x, width, part.look.class)
        })
        .collect();
    html! {
        svg.strip viewBox="0 0 100 10" preserveAspectRatio="none" role="img" aria-label={ (visible_line(label)) ": " (said.join(", ")) } {
            rect.ground x="0" y="0" width="100" height="10" {}
            @for (x, width, class) in placed {
                rect class={ "fill " (class) } x=(place(x)) y="0" width=(place(width)) height="10" {}
            }
        }
    }
}

/// A rate from 0 to 1 as a point on a line, with its interval.
pub(crate) fn interval(label: &str, value: Option<f64>, interval: Option<Interval>) -> Markup {
    let Some(value) = value else { return html! { span.none { "–" } } };
    let said = match interval {
        Some(it) => format!("{label}: {}, 95 % interval {}", rate(Some(value)), jurat_report::interval(Some(it))),
        None => format!("{label}: {}", rate(Some(value))),
    };
    html! {
        svg.interval viewBox="0 0 100 12" preserveAspectRatio="none" role="img" aria-label=(visible_line(&said)) {
            rect.ground x="0" y="5.5" width="100" height="1" {}
            @if let Some(it) = interval {
                rect.range x=(place(100.0 * it.low)) y="3.5" width=(place((100.0 * (it.high - it.low)).max(0.6))) height="5" rx="1" {}
            }
            rect.point x=(place((100.0 * value - 0.8).clamp(0.0, 98.4))) y="1" width="1.6" height="10" rx="0.5" {}
        }
    }
}

/// To a hundredth, so that the text of a page does not depend on the last digits of a sum.
pub(crate) fn place(number: f64) -> f64 {
    (number * 100.0).round() / 100.0 + 0.0
}
