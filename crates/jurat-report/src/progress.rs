//! How far a run has come: one line, updated again and again on a terminal, or written now and then elsewhere.

use std::time::Duration;

use jurat_format::value::Val;
use unicode_width::UnicodeWidthStr;

use crate::table::shortened;
use crate::words::{self, grouped};

/// How far a run has come.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Progress {
    /// Cases that are done.
    pub done: u64,
    /// Of them, those that failed.
    pub failed: u64,
    /// Of them, those that could not be judged.
    pub errors: u64,
    /// Requests that were made.
    pub requests: u64,
    /// Requests that wait for an answer.
    pub in_flight: u64,
    /// What answers cost in dollars, as far as that is known.
    pub cost_usd: f64,
    /// How many cases there are, once that is known.
    pub total: Option<u64>,
    /// The case that all others wait for, when there is one.
    pub slow_case: Option<String>,
    /// What is known of the pass rate, in a run that stops when enough is known.
    pub watched: Option<PassRate>,
    /// The batches that are with their providers, when there are any.
    pub batches: Option<BatchCounts>,
    /// How long it runs by now.
    pub elapsed: Duration,
}

/// A pass rate, and what it lies between at every time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PassRate {
    pub rate: f64,
    pub low: f64,
    pub high: f64,
}

/// Batches of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchCounts {
    pub batches: u64,
    /// Requests that the providers are done with.
    pub done: u64,
    /// All requests in the batches.
    pub requests: u64,
}

/// How many columns the bar takes.
const BAR: usize = 20;

/// How much of the id of a case is shown.
const ROOM: usize = 40;

impl Progress {
    /// One line for a window of this width, as the command shows it: a bar when it is known how many cases there are, what is done, how fast, and how long
    /// the rest will take. It never wraps: what matters least is left out.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use jurat_report::Progress;
    ///
    /// let elapsed = Duration::from_secs(6);
    /// let progress = Progress { done: 30, total: Some(60), failed: 2, elapsed, ..Progress::default() };
    /// assert_eq!(progress.bar(80), "━━━━━━━━━━──────────  50 %  30/60  2 failed  5.0/s  6 s left");
    /// assert_eq!(progress.bar(20), "50 %  30/60");
    /// ```
    pub fn bar(&self, width: usize) -> String {
        let mut parts = self.parts();
        if let Some(total) = self.total {
            let filled = share(self.done, total, BAR as u64);
            let bar = format!("{}{}", "━".repeat(filled), "─".repeat(BAR - filled));
            parts.insert(0, Part { text: bar, importance: 1 });
        }
        while joined(&parts).width() > width && parts.len() > 1 {
            // Of equally unimportant parts the last one goes.
            let least = (0..parts.len()).rev().min_by_key(|it| parts[*it].importance).unwrap_or(0);
            parts.remove(least);
        }
        shortened(&joined(&parts), width)
    }

    /// One line for a log: `50 %, 30/60, 2 failed, …`
    pub fn plain(&self) -> String {
        let parts: Vec<String> = self.parts().into_iter().map(|it| it.text).collect();
        parts.join(", ")
    }

    /// One line of JSON for a program; `event` is `progress` while the run is in progress, and `ended` at its end.
    pub fn json(&self, event: &str) -> String {
        let total = self.total.map_or(Val::Null, Val::from);
        let slow_case = self.slow_case.as_deref().map_or(Val::Null, Val::from);
        let seconds = (self.elapsed.as_secs_f64() * 1e3).round() / 1e3;
        let members = [
            ("version", Val::I(1)),
            ("event", Val::from(event)),
            ("done", self.done.into()),
            ("total", total),
            ("failed", self.failed.into()),
            ("errors", self.errors.into()),
            ("requests", self.requests.into()),
            ("in_flight", self.in_flight.into()),
            ("cost_usd", Val::F(self.cost_usd)),
            ("elapsed_s", Val::F(seconds)),
            ("slow_case", slow_case),
        ];
        Val::Map(members.into_iter().collect()).to_json()
    }

    /// What there is to say, in order.
    fn parts(&self) -> Vec<Part> {
        let done = grouped(self.done);
        let percent = self.total.map(|total| format!("{:>2} %", share(self.done, total, 100)));
        let count =
            self.total.map_or_else(|| words::counted(self.done, "case"), |it| format!("{done}/{}", grouped(it)));
        let failed = (self.failed > 0).then(|| format!("{} failed", grouped(self.failed)));
        let errors = (self.errors > 0).then(|| words::counted(self.errors, "error"));
        let rate = self.done as f64 / self.elapsed.as_secs_f64();
        let rate = Some(rate).filter(|it| *it > 0.0 && it.is_finite());
        let left = self.total.map(|total| total.saturating_sub(self.done)).filter(|it| *it > 0);
        let eta = left.zip(rate).and_then(|(left, rate)| Duration::try_from_secs_f64(left as f64 / rate).ok());
        let eta = eta.map(|it| format!("{} left", words::span(it)));
        let cost = Some(self.cost_usd).filter(|it| *it > 0.0).map(words::money);
        let in_flight = (self.in_flight > 0).then(|| format!("{} in flight", grouped(self.in_flight)));
        let slow = self.slow_case.as_ref().map(|it| format!("waiting for {}", words::cut(it, ROOM)));
        let watched = self.watched.map(|PassRate { rate, low, high }| {
            format!("{:.1} % passed ({:.1}–{:.1})", rate * 100.0, low * 100.0, high * 100.0)
        });
        let batches = self.batches.map(|BatchCounts { batches, done, requests }| {
            let plural = if batches == 1 { "batch" } else { "batches" };
            format!("{} {plural} ({}/{} requests)", grouped(batches), grouped(done), grouped(requests))
        });
        let parts = [
            (percent, 8),
            (Some(count), 9),
            (failed, 7),
            (errors, 7),
            (watched, 5),
            (cost, 6),
            (rate.map(per_second), 4),
            (eta, 5),
            (batches, 6),
            (in_flight, 2),
            (slow, 3),
        ];
        parts.into_iter().filter_map(|(text, importance)| Some(Part { text: text?, importance })).collect()
    }
}

/// Something to say, and how much it matters.
struct Part {
    text: String,
    importance: u8,
}

fn joined(parts: &[Part]) -> String {
    let texts: Vec<&str> = parts.iter().map(|it| &*it.text).collect();
    texts.join("  ")
}

/// How many of `parts` are done; all only when everything is.
fn share(done: u64, total: u64, parts: u64) -> usize {
    let share = u128::from(done.min(total)) * u128::from(parts) / u128::from(total.max(1));
    // An empty run is done.
    let share = if total == 0 { u128::from(parts) } else { share };
    usize::try_from(share).unwrap_or(usize::MAX)
}

/// `1,200/s`, `3.5/s`, `12/min`: always a number with meaning.
fn per_second(rate: f64) -> String {
    match rate {
        it if it >= 10.0 => format!("{}/s", grouped(it.round() as u64)),
        it if it >= 1.0 => format!("{it:.1}/s"),
        it => format!("{:.0}/min", it * 60.0),
    }
}
