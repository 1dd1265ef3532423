//! What a run may spend.
//!
//! A request reserves an upper bound of what it may cost before it is made, and settles what it did cost afterwards. What is spent
//! and what is reserved never exceed the budget together, so nothing is overspent however many requests are in flight. A request
//! that would fit once others have settled waits for them; one that would not fit even then is not made, and the run says so.

use std::pin::Pin;
use std::sync::{Mutex, PoisonError};

use jurat_core::effect::Usage;
use jurat_core::verdict::StopReason;
use jurat_model::{Bound, Meter, Reservation, Settled};
use tokio::sync::Notify;
use tokio::sync::futures::Notified;

/// The most that a run may spend; `None` is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct BudgetLimits {
    pub usd: Option<f64>,
    pub tokens: Option<u64>,
    pub calls: Option<u64>,
}

/// A budget and what became of it.
#[derive(Debug)]
pub struct Budget {
    limits: Amount,
    state: Mutex<State>,
    settled: Notify,
}

#[derive(Debug, Default)]
struct State {
    spent: Amount,
    reserved: Amount,
    is_exhausted: bool,
    /// Whether a request was not made because of it.
    is_refused: bool,
}

/// Money, tokens and calls. Money is counted in whole billionths of a dollar, so that sums do not depend on their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Amount {
    pub(crate) nano_usd: u64,
    pub(crate) tokens: u64,
    pub(crate) calls: u64,
}

/// Whether something may begin: a request, which has to settle what it reserves, or something that makes many requests.
#[derive(Debug, PartialEq, Eq)]
pub enum Admitted<T> {
    /// It may, with this.
    Yes(T),
    /// It may have to wait for others to settle.
    Wait,
    /// It may not.
    No,
}

impl Budget {
    /// A budget of which nothing is spent.
    pub fn new(limits: BudgetLimits) -> Budget {
        let limits = Amount {
            nano_usd: limits.usd.map_or(u64::MAX, rounded_down),
            tokens: limits.tokens.unwrap_or(u64::MAX),
            calls: limits.calls.unwrap_or(u64::MAX),
        };
        Budget { limits, state: Mutex::default(), settled: Notify::new() }
    }

    /// Reserves for one request of at most these tokens and dollars. Without a bound where there is a limit, nothing can be promised;
    /// that is refused before a run begins.
    pub fn reserve(&self, tokens: Option<u64>, usd: Option<f64>) -> Admitted<Amount> {
        let amount = Amount { nano_usd: usd.map_or(0, rounded_up), tokens: tokens.unwrap_or(0), calls: 1 };
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |more: &[Amount]| {
            let all = more.iter().fold(amount, |sum, it| sum.plus(*it));
            all.is_within(self.limits)
        };
        if fits(&[state.spent, state.reserved]) {
            state.reserved = state.reserved.plus(amount);
            Admitted::Yes(amount)
        } else if state.reserved != Amount::default() && fits(&[state.spent]) {
            Admitted::Wait
        } else {
            (state.is_exhausted, state.is_refused) = (true, true);
            Admitted::No
        }
    }

    /// Whether something may begin that takes up to so much, as far as that is known. Of what is not known it needs the least there is; something that makes no
    /// requests of its own (`calls` is zero) needs none. Once a request was refused, nothing that makes many begins. Nothing is reserved.
    pub fn admits(&self, tokens: Option<u64>, usd: Option<f64>, calls: u64) -> Admitted<()> {
        let amount = Amount { nano_usd: usd.map_or(1, rounded_up), tokens: tokens.unwrap_or(1), calls };
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let spent = state.spent.plus(amount);
        if !state.is_refused && spent.plus(state.reserved).is_within(self.limits) {
            Admitted::Yes(())
        } else if !state.is_refused && state.reserved != Amount::default() && spent.is_within(self.limits) {
            Admitted::Wait
        } else {
            state.is_exhausted = true;
            Admitted::No
        }
    }

    /// Counts what was spent without being reserved: an agent made the requests, and reports them afterwards.
    pub fn charge(&self, usage: Usage, usd: Option<f64>) {
        let amount = Amount { nano_usd: usd.map_or(0, rounded_up), tokens: usage.total(), calls: 0 };
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.spent = state.spent.plus(amount);
    }

    pub fn settle(&self, reserved: Amount, settled: Settled) {
        let actual = match settled {
            Settled::Unknown => reserved,
            Settled::Nothing => Amount { calls: reserved.calls, ..Amount::default() },
            Settled::Answer { usage, cost_usd } => Amount {
                nano_usd: cost_usd.map_or(reserved.nano_usd, rounded_up),
                tokens: usage.map_or(reserved.tokens, |it| it.total()),
                calls: reserved.calls,
            },
        };
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.reserved = state.reserved.minus(reserved);
        state.spent = state.spent.plus(actual);
        drop(state);
        self.settled.notify_waiters();
    }

    /// Waits until something settles. It has to be made before [`Budget::reserve`] is asked, or a settlement in between is missed.
    pub fn settled(&self) -> Notified<'_> {
        self.settled.notified()
    }

    /// Whether something was not asked because of it.
    pub fn is_exhausted(&self) -> bool {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).is_exhausted
    }

    /// The dollars, tokens and calls that were spent.
    pub fn spent(&self) -> (f64, u64, u64) {
        let spent = self.state.lock().unwrap_or_else(PoisonError::into_inner).spent;
        (spent.nano_usd as f64 / 1e9, spent.tokens, spent.calls)
    }
}

impl Meter for Budget {
    fn reserve(&self, bound: &Bound) -> Result<Option<Reservation>, StopReason> {
        match Budget::reserve(self, bound.tokens(), bound.usd()) {
            Admitted::Yes(Amount { nano_usd, tokens, .. }) => Ok(Some(Reservation { tokens, nano_usd })),
            Admitted::Wait => Ok(None),
            Admitted::No => Err(StopReason::Budget),
        }
    }

    fn settled(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(Budget::settled(self))
    }

    fn settle(&self, Reservation { tokens, nano_usd }: Reservation, settled: Settled) {
        // A request that was refused, or dropped before it was sent, counts as a call all the same: it is not known which it was.
        Budget::settle(self, Amount { nano_usd, tokens, calls: 1 }, settled);
    }
}

impl Amount {
    fn plus(self, other: Amount) -> Amount {
        Amount {
            nano_usd: self.nano_usd.saturating_add(other.nano_usd),
            tokens: self.tokens.saturating_add(other.tokens),
            calls: self.calls.saturating_add(other.calls),
        }
    }

    fn minus(self, other: Amount) -> Amount {
        Amount {
            nano_usd: self.nano_usd.saturating_sub(other.nano_usd),
            tokens: self.tokens.saturating_sub(other.tokens),
            calls: self.calls.saturating_sub(other.calls),
        }
    }

    fn is_within(self, limits: Amount) -> bool {
        self.nano_usd <= limits.nano_usd && self.tokens <= limits.tokens && self.calls <= limits.calls
    }
}

fn rounded_up(usd: f64) -> u64 {
    (usd * 1e9).ceil() as u64
}

fn rounded_down(usd: f64) -> u64 {
    (usd * 1e9).floor() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A small generator, so that each trial is another and the same every time.
    struct Random(u64);

    impl Random {
        fn below(&mut self, n: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % n
        }
    }

    /// 64 workers whose requests cost at random up to their bound; as many as fit are made, and never more.
    #[test]
    fn nothing_is_overspent() {
        for trial in 0..1_000 {
            let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
            let mut random = Random(trial);
            let limits = BudgetLimits {
                usd: Some(random.below(1_000) as f64 / 1e3),
                tokens: Some(random.below(100_000)),
                calls: (trial % 3 == 0).then(|| random.below(100)),
            };
            let budget = Budget::new(limits);
            let worker = |seed: u64| {
                let budget = &budget;
                async move {
                    let mut random = Random(seed);
                    for _ in 0..4 {
                        let (tokens, usd) = (1 + random.below(2_000), (1 + random.below(1_000)) as f64 / 1e5);
                        let amount = loop {
                            let settled = budget.settled();
                            match budget.reserve(Some(tokens), Some(usd)) {
                                Admitted::Yes(amount) => break amount,
                                Admitted::Wait => settled.await,
                                Admitted::No => return,
                            }
                        };
                        for _ in 0..random.below(4) {
                            tokio::task::yield_now().await;
                        }
                        let share = random.below(101) as f64 / 100.0;
                        let usage = Usage { input: (tokens as f64 * share) as u64, ..Usage::default() };
                        budget.settle(
                            amount,
                            match random.below(5) {
                                0 => Settled::Nothing,
                                1 => Settled::Unknown,
                                _ => Settled::Answer { usage: Some(usage), cost_usd: Some(usd * share) },
                            },
                        );
                    }
                }
            };
            runtime.block_on(futures_util::future::join_all((0..64).map(|ix| worker(trial * 64 + ix))));
            let (usd, tokens, calls) = budget.spent();
            assert!(usd <= limits.usd.unwrap_or(0.0) + 1e-12, "trial {trial}: {usd} of {limits:?}");
            assert!(tokens <= limits.tokens.unwrap_or(0), "trial {trial}: {tokens} of {limits:?}");
            assert!(limits.calls.is_none_or(|most| calls <= most), "trial {trial}: {calls} of {limits:?}");
        }
    }

    #[test]
    fn what_fits_after_others_have_settled_waits_for_them() {
        let budget = Budget::new(BudgetLimits { tokens: Some(100), ..BudgetLimits::default() });
        let Admitted::Yes(first) = budget.reserve(Some(80), None) else { panic!("80 of 100 fit") };
        assert_eq!(budget.reserve(Some(50), None), Admitted::Wait);
        assert_eq!(budget.reserve(Some(101), None), Admitted::No);
        budget.settle(first, Settled::Answer { usage: Some(Usage { input: 10, ..Usage::default() }), cost_usd: None });
        assert!(matches!(budget.reserve(Some(50), None), Admitted::Yes(_)));
        assert_eq!(budget.spent(), (0.0, 10, 1));
    }

    #[test]
    fn what_would_not_fit_does_not_begin() {
        let limits = BudgetLimits { usd: Some(1.0), calls: Some(2), ..BudgetLimits::default() };
        let budget = Budget::new(limits);
        assert_eq!(budget.admits(None, None, 1), Admitted::Yes(()));
        let Admitted::Yes(first) = budget.reserve(None, Some(0.5)) else { panic!("half fits") };
        assert_eq!(budget.admits(None, Some(0.6), 1), Admitted::Wait);
        assert!(!budget.is_exhausted());
        assert_eq!(budget.admits(None, Some(1.1), 1), Admitted::No);
        assert!(budget.is_exhausted());
        budget.settle(first, Settled::Nothing);
        assert_eq!(budget.admits(None, Some(0.6), 1), Admitted::Yes(()));
        assert_eq!(budget.admits(None, Some(0.6), 2), Admitted::No, "one of two calls was made");
        budget.charge(Usage::default(), Some(1.5));
        assert_eq!(budget.admits(None, None, 0), Admitted::No);
        assert_eq!(budget.spent(), (1.5, 0, 1));
        let budget = Budget::new(limits);
        assert_eq!(budget.reserve(None, Some(1.1)), Admitted::No);
        assert_eq!(budget.admits(None, Some(0.1), 1), Admitted::No, "what asked last did not fit any more");
    }
}
