//! Which request is sent next: one lane for each endpoint and key.
//!
//! A lane admits a limited number of requests at once (the limit), and of requests and tokens a minute, and none while the provider asked to wait.
//! The first in order (oldest case first, then arrival) is sent first; only the first one of each model watches the clock, the others
//! wait until they are first. A place is taken at the moment a request is sent, so none is held while its request waits for something else, and a
//! waiting future that is dropped leaves no trace.
//!
//! The limit starts at its ceiling. It shrinks to 0.7 of itself when the provider says it is too much, once for all the requests that
//! were under way at that time, and grows by one after as many successes as it has places.
//!
//! Connections that are open and idle wait here too: a request takes one of them before it opens another, and gives it back in the
//! same moment as its place. So there are never more connections than places.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use tokio::time::{Instant, Sleep, sleep_until};

use super::connection::Wire;
use super::window::Window;

/// One endpoint with one key.
#[derive(Debug)]
pub(super) struct Lane {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    ceiling: usize,
    limit: f64,
    n_inside: usize,
    /// Successes since the limit last changed.
    n_good: usize,
    shrunk_at: Option<Instant>,
    paused_until: Option<Instant>,
    /// One for each model, which have limits of their own.
    queues: Vec<Queue>,
    n_arrived: u64,
    idle: Vec<Wire>,
}

#[derive(Debug)]
struct Queue {
    model: String,
    requests: Option<Window>,
    tokens: Option<Window>,
    waiting: BTreeMap<Ticket, Waiting>,
}

/// The place in the order: priority, then arrival.
type Ticket = (u64, u64);

#[derive(Debug)]
struct Waiting {
    waker: Waker,
    n_tokens: u64,
}

enum May {
    Go,
    /// When another request leaves.
    WhenFree,
    At(Instant),
}

/// How a request ended, as far as the limit is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// It was answered.
    Good,
    /// The provider has too much to do.
    TooMuch,
    /// Neither.
    Else,
}

impl Lane {
    pub(super) fn new(ceiling: usize) -> Arc<Lane> {
        let ceiling = ceiling.max(1);
        Arc::new(Lane {
            state: Mutex::new(State {
                ceiling,
                limit: ceiling as f64,
                n_inside: 0,
                n_good: 0,
                shrunk_at: None,
                paused_until: None,
                queues: Vec::new(),
                n_arrived: 0,
                idle: Vec::new(),
            }),
        })
    }

    /// The queue of a model. Where two roles give one model different limits, the lower ones hold.
    pub(super) fn queue(&self, model: &str, rpm: Option<u64>, tpm: Option<u64>) -> usize {
        let mut state = self.lock();
        if let Some(ix) = state.queues.iter().position(|it| it.model == model) {
            let queue = &mut state.queues[ix];
            lower(&mut queue.requests, rpm);
            lower(&mut queue.tokens, tpm);
            return ix;
        }
        let (requests, tokens) = (rpm.map(Window::new), tpm.map(Window::new));
        state.queues.push(Queue { model: model.to_owned(), requests, tokens, waiting: BTreeMap::new() });
        state.queues.len() - 1
    }

    pub(super) fn enter(self: &Arc<Lane>, queue: usize, priority: u64, n_tokens: u64) -> Enter {
        Enter { lane: Arc::clone(self), queue, priority, n_tokens, ticket: None, sleep: None }
    }

    /// Admits no request until then. A pause is never made shorter.
    pub(super) fn pause_until(&self, until: Instant) {
        let mut state = self.lock();
        state.paused_until = Some(state.paused_until.map_or(until, |it| it.max(until)));
    }

    pub(super) fn idle_wire(&self) -> Option<Wire> {
        let mut state = self.lock();
        while let Some(wire) = state.idle.pop() {
            if !wire.is_closed() {
                return Some(wire);
            }
        }
        None
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn lower(window: &mut Option<Window>, limit: Option<u64>) {
    match (window, limit) {
        (Some(window), Some(limit)) => window.lower(limit),
        (window @ None, Some(limit)) => *window = Some(Window::new(limit)),
        (_, None) => {}
    }
}

impl State {
    fn may_go(&mut self, queue: usize, n_tokens: u64, now: Instant) -> May {
        if let Some(until) = self.paused_until {
            if now < until {
                return May::At(until);
            }
            self.paused_until = None;
        }
        if self.n_inside >= self.n_places() {
            return May::WhenFree;
        }
        let queue = &mut self.queues[queue];
        let requests = queue.requests.as_mut().and_then(|it| it.wait(now, 1));
        let tokens = queue.tokens.as_mut().and_then(|it| it.wait(now, n_tokens));
        requests.max(tokens).map_or(May::Go, May::At)
    }

    fn n_places(&self) -> usize {
        // The limit is between 1 and the ceiling.
        self.limit as usize
    }

    /// Whether a request of another queue is before this one and may be sent.
    fn is_behind_another(&mut self, queue: usize, ticket: Ticket, now: Instant) -> bool {
        (0..self.queues.len()).any(|other| {
            let Some((first, waiting)) = self.queues[other].waiting.first_key_value() else { return false };
            if other == queue || *first > ticket {
                return false;
            }
            let (n_tokens, waker) = (waiting.n_tokens, waiting.waker.clone());
            let goes = matches!(self.may_go(other, n_tokens, now), May::Go);
            if goes {
                waker.wake();
            }
            goes
        })
    }

    /// Wakes the first one of each model.
    fn wake(&self) {
        for queue in &self.queues {
            if let Some((_, waiting)) = queue.waiting.first_key_value() {
                waiting.waker.wake_by_ref();
            }
        }
    }
}

/// Waits for a place.
#[must_use]
pub(super) struct Enter {
    lane: Arc<Lane>,
    queue: usize,
    priority: u64,
    n_tokens: u64,
    ticket: Option<Ticket>,
    sleep: Option<Pin<Box<Sleep>>>,
}

impl Future for Enter {
    type Output = Place;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Place> {
        let this = self.get_mut();
        loop {
            let now = Instant::now();
            let mut state = this.lane.lock();
            let ticket = *this.ticket.get_or_insert_with(|| {
                state.n_arrived += 1;
                (this.priority, state.n_arrived)
            });
            let waiting = &mut state.queues[this.queue].waiting;
            let entry = waiting
                .entry(ticket)
                .or_insert_with(|| Waiting { waker: context.waker().clone(), n_tokens: this.n_tokens });
            entry.waker.clone_from(context.waker());
            if waiting.first_key_value().is_some_and(|(first, _)| *first != ticket) {
                return Poll::Pending;
            }
            match state.may_go(this.queue, this.n_tokens, now) {
                May::WhenFree => return Poll::Pending,
                May::Go if state.is_behind_another(this.queue, ticket, now) => return Poll::Pending,
                May::Go => {
                    state.queues[this.queue].waiting.remove(&ticket);
                    this.ticket = None;
                    state.n_inside += 1;
                    let queue = &mut state.queues[this.queue];
                    let taking = queue.tokens.as_mut().map(|it| it.take(now, this.n_tokens));
                    if let Some(requests) = &mut queue.requests {
                        requests.take(now, 1);
                    }
                    if state.n_inside < state.n_places() {
                        state.wake();
                    }
                    let lane = Arc::clone(&this.lane);
                    return Poll::Ready(Place { lane, queue: this.queue, taking, since: now, is_left: false });
                }
                May::At(until) => {
                    drop(state);
                    let sleep = this.sleep.get_or_insert_with(|| Box::pin(sleep_until(until)));
                    if sleep.deadline() != until {
                        sleep.as_mut().reset(until);
                    }
                    if sleep.as_mut().poll(context).is_pending() {
                        return Poll::Pending;
                    }
                }
            }
        }
    }
}

impl Drop for Enter {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket {
            let mut state = self.lane.lock();
            state.queues[self.queue].waiting.remove(&ticket);
            state.wake();
        }
    }
}

/// A place, given back when it is dropped.
#[derive(Debug)]
pub(super) struct Place {
    lane: Arc<Lane>,
    queue: usize,
    /// The taking of tokens, which can be corrected.
    taking: Option<u64>,
    since: Instant,
    is_left: bool,
}

impl Place {
    /// Gives the place back, with the connection when it can be used again.
    pub(super) fn leave(mut self, wire: Option<Wire>, ending: Ending, n_tokens: Option<u64>) {
        let mut state = self.lane.lock();
        state.idle.extend(wire);
        if let (Some(taking), Some(n_tokens)) = (self.taking, n_tokens)
            && let Some(tokens) = &mut state.queues[self.queue].tokens
        {
            tokens.correct(taking, n_tokens);
        }
        match ending {
            Ending::Good => {
                state.n_good += 1;
                if state.n_good >= state.n_places() {
                    state.n_good = 0;
                    state.limit = (state.limit + 1.0).min(state.ceiling as f64);
                }
            }
            // What was under way when the limit shrank says nothing about the new one.
            Ending::TooMuch if state.shrunk_at.is_none_or(|it| self.since >= it) => {
                state.limit = (state.limit * 0.7).max(1.0);
                state.n_good = 0;
                state.shrunk_at = Some(Instant::now());
            }
            Ending::TooMuch | Ending::Else => {}
        }
        state.n_inside -= 1;
        state.wake();
        drop(state);
        self.is_left = true;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if !self.is_left {
            let mut state = self.lane.lock();
            state.n_inside -= 1;
            state.wake();
        }
    }
}
