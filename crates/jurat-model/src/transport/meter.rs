//! Budgets, as the transport sees them: it asks before each request and reports afterwards what the request cost.
//!
//! What is reserved is an upper bound, so a budget cannot be overspent however many requests are under way. What was never sent is
//! given back; what was sent and never answered stays reserved, because the provider may have done the work.

use std::future::Future;
use std::pin::Pin;

use jurat_core::effect::{Attempt, Usage};
use jurat_core::verdict::StopReason;

use crate::price::{Price, cost};

/// Allows requests and receives what they cost.
pub trait Meter: Send + Sync {
    /// Sets aside what a request may take at most; `None` when there is no room for it until others have settled. Or says why it must not be
    /// made.
    fn reserve(&self, bound: &Bound) -> Result<Option<Reservation>, StopReason>;

    /// Waits until a reservation is settled. It is called before [`Meter::reserve`], so that none is missed in between.
    /// A meter that never makes a request wait needs none.
    fn settled(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(std::future::ready(()))
    }

    /// Waits until nothing new is to be asked, and says why. What was sent before is finished.
    fn closed(&self) -> Pin<Box<dyn Future<Output = StopReason> + Send + '_>> {
        Box::pin(std::future::pending())
    }

    /// A request has its place and is sent. It may come several times for one effect.
    fn sending(&self) {}

    /// A request failed, and may be made again.
    fn failed(&self, _attempt: &Attempt) {}

    /// Takes back a reservation and learns what really happened. It comes once for each reservation, also when the request was dropped.
    fn settle(&self, reserved: Reservation, settled: Settled);
}

/// What a request may take at most.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    /// Tokens read: no token is shorter than a byte.
    pub input_tokens: u64,
    /// Tokens written; `None` when nothing bounds them.
    pub output_tokens: Option<u64>,
    pub price: Option<Price>,
}

impl Bound {
    /// Tokens read and written, when they are bounded.
    pub fn tokens(&self) -> Option<u64> {
        Some(self.input_tokens.saturating_add(self.output_tokens?))
    }

    /// Dollars, when they are bounded.
    pub fn usd(&self) -> Option<f64> {
        let usage = Usage { input: self.input_tokens, output: self.output_tokens?, ..Usage::default() };
        Some(cost(&usage, self.price.as_ref()?))
    }
}

/// What a meter set aside, in its own counting; it gets it back as it gave it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reservation {
    pub tokens: u64,
    pub nano_usd: u64,
}

/// What became of a request that was reserved for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Settled {
    Answer {
        /// What it took, where the provider says.
        usage: Option<Usage>,
        /// What it cost in dollars, where usage and price are known.
        cost_usd: Option<f64>,
    },
    /// It was never sent, or refused with a status: nothing is owed.
    Nothing,
    /// It was sent, and what became of it is not known: the whole bound may be owed.
    Unknown,
}

/// A meter that allows everything.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unmetered;

impl Meter for Unmetered {
    fn reserve(&self, _: &Bound) -> Result<Option<Reservation>, StopReason> {
        Ok(Some(Reservation::default()))
    }

    fn settle(&self, _: Reservation, _: Settled) {}
}

/// A reservation that is settled whatever happens: a request may be dropped at any point.
pub(super) struct Reserved<'m> {
    meter: &'m dyn Meter,
    reservation: Reservation,
    /// What holds if nothing else is said.
    settled: Settled,
}

impl<'m> Reserved<'m> {
    /// Waits for room, and takes it.
    pub(super) async fn new(meter: &'m dyn Meter, bound: &Bound) -> Result<Reserved<'m>, StopReason> {
        loop {
            let settled = meter.settled();
            if let Some(reservation) = meter.reserve(bound)? {
                return Ok(Reserved { meter, reservation, settled: Settled::Nothing });
            }
            settled.await;
        }
    }

    /// From here on the provider may do the work.
    pub(super) fn sending(&mut self) {
        self.settled = Settled::Unknown;
        self.meter.sending();
    }

    pub(super) fn settle(mut self, settled: Settled) {
        self.settled = settled;
    }
}

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        self.meter.settle(self.reservation, self.settled);
    }
}
