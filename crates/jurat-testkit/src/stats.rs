//! What an endpoint has seen and done.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// The counts of an endpoint.
///
/// Each request ends in exactly one of `answers`, `errors`, `broken` and `abandoned`; until then it is in flight.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stats {
    pub requests: u64,
    /// Replies with status 200 of which at most the last piece is still to be written; refusals and wrong labels are
    /// among them.
    pub answers: u64,
    /// Complete answers that say that something is wrong.
    pub errors: u64,
    /// Answers that were broken on purpose.
    pub broken: u64,
    /// Requests whose client went away first.
    pub abandoned: u64,
    /// Requests that have no answer yet.
    pub in_flight: u64,
    /// The most that were ever in flight at once.
    pub peak_in_flight: u64,
    /// Connections that were ever opened. One that asks for `/stats` is among them.
    pub connections: u64,
    pub open_connections: u64,
    /// The most that were ever open at once.
    pub peak_connections: u64,
    /// Batches that were made. Each of their requests is counted as one that came by itself is.
    pub batches: u64,
    /// Looks at the status of batches.
    pub polls: u64,
    /// How often each body came, by [digest](crate::Request::digest).
    pub bodies: BTreeMap<u64, u64>,
}

/// How a request ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    Answer,
    Error,
    Broken,
    Abandoned,
}

impl Stats {
    /// Returns how many different bodies came.
    pub fn distinct(&self) -> u64 {
        self.bodies.len() as u64
    }

    /// Returns how often the body came that came most often.
    pub fn most_repeats(&self) -> u64 {
        self.bodies.values().copied().max().unwrap_or(0)
    }

    pub(crate) fn opened(&mut self) {
        self.connections += 1;
        self.open_connections += 1;
        self.peak_connections = self.peak_connections.max(self.open_connections);
    }

    pub(crate) fn closed(&mut self) {
        self.open_connections -= 1;
    }

    /// Takes in a request; returns how often its body has come.
    pub(crate) fn arrived(&mut self, digest: u64) -> u64 {
        self.requests += 1;
        self.in_flight += 1;
        self.peak_in_flight = self.peak_in_flight.max(self.in_flight);
        let repeat = self.bodies.entry(digest).or_default();
        *repeat += 1;
        *repeat
    }

    pub(crate) fn ended(&mut self, ending: Ending) {
        self.in_flight -= 1;
        *match ending {
            Ending::Answer => &mut self.answers,
            Ending::Error => &mut self.errors,
            Ending::Broken => &mut self.broken,
            Ending::Abandoned => &mut self.abandoned,
        } += 1;
    }

    /// Starts counting anew. What is open and in flight still is.
    pub(crate) fn reset(&mut self) {
        let (in_flight, open_connections) = (self.in_flight, self.open_connections);
        *self = Stats {
            in_flight,
            peak_in_flight: in_flight,
            open_connections,
            peak_connections: open_connections,
            ..Stats::default()
        };
    }

    /// The counts, without those of single bodies.
    pub(crate) fn to_json(&self) -> Value {
        json!({
            "requests": self.requests,
            "distinct": self.distinct(),
            "most_repeats": self.most_repeats(),
            "answers": self.answers,
            "errors": self.errors,
            "broken": self.broken,
            "abandoned": self.abandoned,
            "in_flight": self.in_flight,
            "peak_in_flight": self.peak_in_flight,
            "connections": self.connections,
            "open_connections": self.open_connections,
            "peak_connections": self.peak_connections,
            "batches": self.batches,
            "polls": self.polls,
        })
    }

    /// How often each body came.
    pub(crate) fn bodies_to_json(&self) -> Value {
        self.bodies.iter().map(|(digest, n)| (format!("{digest:016x}"), json!(n))).collect()
    }
}
