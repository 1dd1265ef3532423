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

/// Counts as columns beside each other, from 0. A column is at most a twelfth as wide as the drawing, so that few of them do not look like a wall.
pub(crate) fn columns(label: &str, counts: &[u64]) -> Markup {
    let most = counts.iter().copied().max().unwrap_or(1).max(1) as f64;
    let step = (WIDTH / counts.len().max(1) as f64).min(WIDTH / 12.0);
    let said: Vec<String> = counts.iter().map(|it| grouped(*it)).collect();
    html! {
        svg.columns viewBox="0 0 100 40" preserveAspectRatio="none" role="img" aria-label={ (visible_line(label)) ": " (said.join(", ")) } {
            rect.ground x="0" y="39" width="100" height="1" {}
            @for (ix, count) in counts.iter().enumerate().filter(|(_, it)| **it > 0) {
                @let height = (39.0 * *count as f64 / most).max(1.0);
                rect.point x=(place(ix as f64 * step)) y=(place(39.0 - height)) width=(place(step * 0.88)) height=(place(height)) {}
            }
        }
    }
}

/// Rates from the oldest to the newest as a line between 0 and 100 %.
pub(crate) fn trend(label: &str, rates: &[f64]) -> Markup {
    let step = WIDTH / rates.len().saturating_sub(1).max(1) as f64;
    let points: Vec<String> = rates
        .iter()
        .enumerate()
        .map(|(ix, it)| format!("{},{}", place(ix as f64 * step), place(19.0 - 18.0 * it)))
        .collect();
    let said: Vec<String> = rates.iter().map(|it| rate(Some(*it))).collect();
    html! {
        svg.trend viewBox="0 0 100 20" preserveAspectRatio="none" role="img" aria-label={ (visible_line(label)) ": " (said.join(", ")) } {
            rect.ground x="0" y="19" width="100" height="0.5" {}
            polyline points=(points.join(" ")) {}
        }
    }
}

/// To a hundredth, so that the text of a page does not depend on the last digits of a sum.
pub(crate) fn place(number: f64) -> f64 {
    (number * 100.0).round() / 100.0 + 0.0
}
