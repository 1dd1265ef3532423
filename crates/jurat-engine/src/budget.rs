//! What a run may spend.
//!
//! A request reserves an upper bound of what it may cost before it is made, and settles what it did cost afterwards. What is spent
//! and what is reserved never exceed the budget together, so nothing is overspent however many requests are in flight. A request
//! that would fit once others have settled waits for them; one that would not fit even then is not made, and the run says so.
//!
//! A budget that is [leased](Budget::leased) is a part of one that several processes share. It has what the coordinator granted; a request that does not fit waits until more is
//! granted, or the coordinator says that there is none.

use std::pin::Pin;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jurat_core::effect::{Answer, FaultKind, Usage};
use jurat_core::verdict::StopReason;
use jurat_model::{Bound, Meter, Reservation, Settled};
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;
use tokio::sync::futures::Notified;

/// How long before a lease is renewed, and how much work is leased ahead.
pub(crate) const PERIOD: Duration = Duration::from_secs(2);

/// What a process may spend until it asks again.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Grant {
    pub lease: u64,
    pub amount: Amount,
    pub valid_ms: u64,
    /// How many requests may be in flight; `None` where the process decides.
    pub concurrency: Option<u32>,
}

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
    state: Mutex<State>,
    settled: Notify,
    /// Wakes the thread that leases.
    wanted: Condvar,
}

#[derive(Debug)]
struct State {
    limits: Amount,
    spent: Amount,
    reserved: Amount,
    is_exhausted: bool,
    /// Whether a request was not made because of it.
    is_refused: bool,
    lease: Option<Lease>,
}

/// What is known of a lease, and what became of it.
#[derive(Debug)]
struct Lease {
    /// What was spent before it.
    base: Amount,
    /// What was spent when it was last reported.
    reported: Amount,
    /// Until when requests may begin.
    until: Instant,
    since: Instant,
    /// How many may be in flight.
    concurrency: Option<u32>,
    /// Whether it is being renewed: no request begins meanwhile.
    is_frozen: bool,
    /// What a request needs that waits for more.
    least: Amount,
    /// The most that a request needed.
    largest: Amount,
    n_calls: u64,
    throttled: u64,
    failed: u64,
    /// Whether what is not used is to be given back at once.
    is_resting: bool,
    /// Why nothing more is leased.
    closed: Option<StopReason>,
    is_over: bool,
}

/// What became of a lease, and what is wanted next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct LeaseUse {
    pub(crate) spent: Amount,
    pub(crate) reserved: Amount,
    pub(crate) least: Amount,
    pub(crate) wanted: Amount,
    pub(crate) throttled: u64,
    pub(crate) failed: u64,
}

/// How much a process leases ahead at first: this many requests, or as many as it may have in flight.
const FEWEST_AHEAD: u64 = 16;
/// And at most, so that a fast process leaves something for others.
const MOST_AHEAD: u64 = 1024;

/// Money, tokens and calls. Money is counted in whole billionths of a dollar, so that sums do not depend on their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Amount {
    pub nano_usd: u64,
    pub tokens: u64,
    pub calls: u64,
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
        Budget::with(limits, None)
    }

    /// A part of a budget that several processes share: nothing, until something is granted.
    pub(crate) fn leased() -> Budget {
        let now = Instant::now();
        let lease = Lease {
            base: Amount::default(),
            reported: Amount::default(),
            until: now,
            since: now,
            concurrency: None,
            is_frozen: false,
            least: Amount::default(),
            largest: Amount::default(),
            n_calls: 0,
            throttled: 0,
            failed: 0,
            is_resting: false,
            closed: None,
            is_over: false,
        };
        Budget::with(Amount::default(), Some(lease))
    }

    fn with(limits: Amount, lease: Option<Lease>) -> Budget {
        let (spent, reserved) = (Amount::default(), Amount::default());
        let state = State { limits, spent, reserved, is_exhausted: false, is_refused: false, lease };
        Budget { state: Mutex::new(state), settled: Notify::new(), wanted: Condvar::new() }
    }

    /// Reserves for one request of at most these tokens and dollars. Without a bound where there is a limit, nothing can be promised;
    /// that is refused before a run begins.
    pub fn reserve(&self, tokens: Option<u64>, usd: Option<f64>) -> Admitted<Amount> {
        let amount = Amount { nano_usd: usd.map_or(0, rounded_up), tokens: tokens.unwrap_or(0), calls: 1 };
        let mut state = self.state();
        let admitted = match state.lease {
            None => state.admitted(amount),
            Some(_) => self.admitted_by_lease(&mut state, amount),
        };
        match admitted {
            Admitted::Yes(()) => {
                state.reserved = state.reserved.plus(amount);
                Admitted::Yes(amount)
            }
            Admitted::Wait => Admitted::Wait,
            Admitted::No => {
                (state.is_exhausted, state.is_refused) = (true, true);
                Admitted::No
            }
        }
    }

    /// Whether something of this amount may begin under the lease. If not, more is asked for, which wakes those who wait.
    fn admitted_by_lease(&self, state: &mut State, amount: Amount) -> Admitted<()> {
        let fits = state.spent.plus(state.reserved).plus(amount).is_within(state.limits);
        let in_flight = state.reserved.calls;
        let Some(lease) = &mut state.lease else { return Admitted::No };
        if lease.closed.is_some() {
            return Admitted::No;
        }
        lease.largest = lease.largest.at_least(amount);
        let has_room = lease.concurrency.is_none_or(|it| in_flight < u64::from(it));
        if !lease.is_frozen && has_room && fits && Instant::now() < lease.until {
            lease.n_calls += 1;
            return Admitted::Yes(());
        }
        // What is settled makes room; a lease that is too small does not grow by itself.
        if !fits || lease.concurrency == Some(0) || in_flight == 0 {
            lease.least = lease.least.at_least(amount);
            self.wanted.notify_all();
        }
        Admitted::Wait
    }

    /// Whether something may begin that takes up to so much, as far as that is known. Of what is not known it needs the least there is; something that makes no
    /// requests of its own (`calls` is zero) needs none. Once a request was refused, nothing that makes many begins. Nothing is reserved.
    pub fn admits(&self, tokens: Option<u64>, usd: Option<f64>, calls: u64) -> Admitted<()> {
        let amount = Amount { nano_usd: usd.map_or(1, rounded_up), tokens: tokens.unwrap_or(1), calls };
        let mut state = self.state();
        let admitted = match (&state.lease, state.is_refused) {
            (_, true) => Admitted::No,
            (None, false) => state.admitted(amount),
            (Some(_), false) => self.admitted_by_lease(&mut state, amount),
        };
        state.is_exhausted |= admitted == Admitted::No;
        admitted
    }

    /// Counts what was spent without being reserved: an agent made the requests, and reports them afterwards.
    pub fn charge(&self, usage: Usage, usd: Option<f64>) {
        let amount = Amount { nano_usd: usd.map_or(0, rounded_up), tokens: usage.total(), calls: 0 };
        let mut state = self.state();
        state.spent = state.spent.plus(amount);
    }

    /// Counts an answer that an earlier attempt at the same shard paid for.
    pub(crate) fn charge_answer(&self, answer: &Answer) {
        let (usage, usd) = (answer.usage.unwrap_or_default(), answer.cost_usd);
        let (nano_usd, tokens) = (usd.map_or(0, rounded_up), usage.total());
        let mut state = self.state();
        state.spent = state.spent.plus(Amount { nano_usd, tokens, calls: answer.n_requests.into() });
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
        let mut state = self.state();
        state.reserved = state.reserved.minus(reserved);
        state.spent = state.spent.plus(actual);
        drop(state);
        self.settled.notify_waiters();
    }

    /// Waits until something settles. It has to be made before [`Budget::reserve`] is asked, or a settlement in between is missed.
    pub fn settled(&self) -> Notified<'_> {
        self.settled.notified()
    }

    /// Why something was not asked, if it was because of this.
    pub fn exhausted(&self) -> Option<StopReason> {
        let state = self.state();
        state.is_exhausted.then(|| state.reason())
    }

    /// Waits for a pause and then until more is wanted, but no longer than a period; false when nothing is leased any more.
    pub(crate) fn wait_until_wanted(&self, pause: Duration, period: Duration) -> bool {
        let is_over = |state: &State| state.lease.as_ref().is_none_or(|it| it.is_over);
        let is_idle = |state: &State| {
            let is_satisfied = state
                .lease
                .as_ref()
                .is_some_and(|it| (it.least == Amount::default() && !it.is_resting) || it.closed.is_some());
            !is_over(state) && is_satisfied
        };
        let paused = self.wanted.wait_timeout_while(self.state(), pause, |it| !is_over(it));
        let (state, _) = paused.unwrap_or_else(PoisonError::into_inner);
        let waited = self.wanted.wait_timeout_while(state, period, |it| is_idle(it));
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        !is_over(&state)
    }

    /// What became of the lease. No request begins until it is [renewed](Budget::renew), so that this stays true.
    pub(crate) fn freeze(&self) -> LeaseUse {
        let mut state = self.state();
        let State { spent, reserved, lease, .. } = &mut *state;
        let Some(lease) = lease else { unreachable!("only a budget that is leased is renewed") };
        let used = LeaseUse {
            spent: spent.minus(lease.base),
            reserved: *reserved,
            least: lease.least,
            wanted: lease.wanted(),
            throttled: std::mem::take(&mut lease.throttled),
            failed: std::mem::take(&mut lease.failed),
        };
        (lease.is_frozen, lease.is_resting, lease.reported) = (true, false, *spent);
        used
    }

    /// Takes a new lease in exchange for the one that was reported.
    pub(crate) fn renew(&self, grant: &Grant) {
        let mut state = self.state();
        let State { limits, lease, .. } = &mut *state;
        let Some(lease) = lease else { unreachable!("only a budget that is leased is renewed") };
        *limits = lease.reported.plus(grant.amount);
        let now = Instant::now();
        lease.base = lease.reported;
        (lease.since, lease.until) = (now, now + Duration::from_millis(grant.valid_ms));
        (lease.concurrency, lease.n_calls, lease.least) = (grant.concurrency, 0, Amount::default());
        lease.is_frozen = false;
        drop(state);
        self.settled.notify_waiters();
    }

    /// Says that nothing more is leased, and why. What is in flight is finished.
    pub(crate) fn close(&self, reason: StopReason) {
        if let Some(lease) = &mut self.state().lease {
            lease.closed.get_or_insert(reason);
        }
        self.settled.notify_waiters();
    }

    /// Has what is not used given back now rather than at the next renewal: nothing is asked for a while.
    pub(crate) fn rest(&self) {
        if let Some(lease) = &mut self.state().lease {
            lease.is_resting = true;
        }
        self.wanted.notify_all();
    }

    /// Ends the thread that leases.
    pub(crate) fn end(&self) {
        if let Some(lease) = &mut self.state().lease {
            lease.is_over = true;
        }
        self.wanted.notify_all();
    }

    /// Notes a request that failed, for the coordinator.
    pub(crate) fn note_failure(&self, kind: FaultKind) {
        if let Some(lease) = &mut self.state().lease {
            match kind {
                FaultKind::Status(429 | 503 | 529) => lease.throttled += 1,
                _ => lease.failed += 1,
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The dollars, tokens and calls that were spent.
    pub fn spent(&self) -> (f64, u64, u64) {
        let spent = self.state().spent;
        (spent.nano_usd as f64 / 1e9, spent.tokens, spent.calls)
    }
}

impl State {
    /// Whether something of this amount may begin.
    fn admitted(&self, amount: Amount) -> Admitted<()> {
        let spent = self.spent.plus(amount);
        if spent.plus(self.reserved).is_within(self.limits) {
            Admitted::Yes(())
        } else if self.reserved != Amount::default() && spent.is_within(self.limits) {
            Admitted::Wait
        } else {
            Admitted::No
        }
    }

    /// Why what does not fit is not asked.
    fn reason(&self) -> StopReason {
        self.lease.as_ref().and_then(|it| it.closed).unwrap_or(StopReason::Budget)
    }
}

impl Lease {
    /// Enough for the next two seconds, judging by the last ones.
    fn wanted(&self) -> Amount {
        if self.least == Amount::default() {
            return Amount::default();
        }
        let seconds = self.since.elapsed().as_secs_f64().max(0.05);
        let ahead = (self.n_calls as f64 / seconds * PERIOD.as_secs_f64()) as u64;
        let fewest = self.concurrency.map_or(FEWEST_AHEAD, u64::from).max(1);
        self.largest.times(ahead.clamp(fewest, MOST_AHEAD.max(fewest)))
    }
}

impl Meter for Budget {
    fn reserve(&self, bound: &Bound) -> Result<Option<Reservation>, StopReason> {
        match Budget::reserve(self, bound.tokens(), bound.usd()) {
            Admitted::Yes(Amount { nano_usd, tokens, .. }) => Ok(Some(Reservation { tokens, nano_usd })),
            Admitted::Wait => Ok(None),
            Admitted::No => Err(self.state().reason()),
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
    pub(crate) fn plus(self, other: Amount) -> Amount {
        Amount {
            nano_usd: self.nano_usd.saturating_add(other.nano_usd),
            tokens: self.tokens.saturating_add(other.tokens),
            calls: self.calls.saturating_add(other.calls),
        }
    }

    pub(crate) fn minus(self, other: Amount) -> Amount {
        Amount {
            nano_usd: self.nano_usd.saturating_sub(other.nano_usd),
            tokens: self.tokens.saturating_sub(other.tokens),
            calls: self.calls.saturating_sub(other.calls),
        }
    }

    fn times(self, n: u64) -> Amount {
        Amount {
            nano_usd: self.nano_usd.saturating_mul(n),
            tokens: self.tokens.saturating_mul(n),
            calls: self.calls.saturating_mul(n),
        }
    }

    /// The larger of each.
    pub(crate) fn at_least(self, other: Amount) -> Amount {
        Amount {
            nano_usd: self.nano_usd.max(other.nano_usd),
            tokens: self.tokens.max(other.tokens),
            calls: self.calls.max(other.calls),
        }
    }

    /// The smaller of each.
    pub(crate) fn at_most(self, other: Amount) -> Amount {
        Amount {
            nano_usd: self.nano_usd.min(other.nano_usd),
            tokens: self.tokens.min(other.tokens),
            calls: self.calls.min(other.calls),
        }
    }

    pub(crate) fn is_within(self, limits: Amount) -> bool {
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
        assert_eq!(budget.exhausted(), None);
        assert_eq!(budget.admits(None, Some(1.1), 1), Admitted::No);
        assert_eq!(budget.exhausted(), Some(StopReason::Budget));
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

    #[test]
    fn a_budget_that_is_leased_has_what_was_granted_and_no_more() {
        let tokens = |tokens, calls| Amount { tokens, calls, ..Amount::default() };
        let grant = |amount| Grant { lease: 1, amount, valid_ms: 10_000, concurrency: Some(1) };
        let budget = Budget::leased();
        assert_eq!(budget.reserve(Some(10), None), Admitted::Wait, "nothing is granted yet");
        let wanted = budget.freeze();
        assert_eq!((wanted.least, wanted.spent), (tokens(10, 1), Amount::default()));
        budget.renew(&grant(tokens(20, 2)));
        let Admitted::Yes(first) = budget.reserve(Some(10), None) else { panic!("it was granted") };
        assert_eq!(budget.reserve(Some(10), None), Admitted::Wait, "one may be in flight");
        budget.settle(first, Settled::Answer { usage: Some(Usage { input: 4, ..Usage::default() }), cost_usd: None });
        budget.note_failure(FaultKind::Status(429));
        let used = budget.freeze();
        assert_eq!((used.spent, used.reserved, used.throttled), (tokens(4, 1), Amount::default(), 1));
        assert_eq!(budget.reserve(Some(1), None), Admitted::Wait, "it is being renewed");
        budget.renew(&grant(tokens(5, 1)));
        assert_eq!(budget.reserve(Some(6), None), Admitted::Wait, "it is too small");
        assert!(matches!(budget.reserve(Some(5), None), Admitted::Yes(_)));
        assert_eq!(budget.exhausted(), None);
        budget.close(StopReason::Interrupted);
        assert_eq!(budget.reserve(Some(1), None), Admitted::No);
        assert_eq!(budget.exhausted(), Some(StopReason::Interrupted));
    }
}
