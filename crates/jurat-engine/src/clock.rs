//! How long a conversation has taken, and whether that is too long.
//!
//! What counts is the time in which something is done for it. While everything that it asks waits for a place among the requests of others, its
//! clock stands still: otherwise the concurrency of a run, and not the subject, would decide which conversations take too long.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jurat_core::effect::{Fault, FaultKind, Outcome};
use tokio::sync::Notify;
use tokio::time::Instant;

/// The wall clock, in milliseconds since 1970.
pub fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// The clock of one conversation.
#[derive(Debug)]
pub(crate) struct Clock {
    /// How long a turn may take.
    turn: Option<Duration>,
    /// How long the whole may take.
    case: Option<Duration>,
    hands: Mutex<Hands>,
    changed: Notify,
}

#[derive(Debug)]
struct Hands {
    /// Requests that wait for a place.
    n_waiting: u32,
    /// Requests that are under way.
    n_doing: u32,
    in_turn: Duration,
    in_case: Duration,
    /// Up to when the time is counted.
    counted: Instant,
}

impl Hands {
    fn runs(&self) -> bool {
        self.n_doing > 0 || self.n_waiting == 0
    }

    fn count(&mut self) {
        let now = Instant::now();
        if self.runs() {
            let since = now.duration_since(self.counted);
            self.in_turn += since;
            self.in_case += since;
        }
        self.counted = now;
    }
}

/// A request of a conversation, from when it is to be made until it is dropped.
#[derive(Debug)]
pub(crate) struct Asked<'c> {
    clock: &'c Clock,
    is_sent: std::sync::atomic::AtomicBool,
}

/// What took too long.
struct Limit {
    kind: FaultKind,
    limit: Duration,
    left: Duration,
}

impl Clock {
    /// A clock that starts now.
    pub(crate) fn start(turn: Option<Duration>, case: Option<Duration>) -> Clock {
        let hands = Hands {
            n_waiting: 0,
            n_doing: 0,
            in_turn: Duration::ZERO,
            in_case: Duration::ZERO,
            counted: Instant::now(),
        };
        Clock { turn, case, hands: Mutex::new(hands), changed: Notify::new() }
    }

    pub(crate) fn next_turn(&self) {
        self.change(|hands| hands.in_turn = Duration::ZERO);
    }

    /// Something is to be asked: it waits until it is [sent](Asked::sent).
    pub(crate) fn asks(&self) -> Asked<'_> {
        self.change(|hands| hands.n_waiting += 1);
        Asked { clock: self, is_sent: false.into() }
    }

    /// What is left of the time; `None` when there is no limit.
    pub(crate) fn left(&self) -> Option<Duration> {
        self.limit().map(|it| it.left)
    }

    /// That it took too long, when it did.
    pub(crate) fn fault(&self) -> Option<Outcome> {
        let Limit { kind, limit, left } = self.limit()?;
        let what = if kind == FaultKind::CaseDeadline { "scenario" } else { "turn" };
        let fault = || Fault::new(kind, format!("the {what} took longer than {limit:?}"), 1);
        left.is_zero().then(|| Outcome::Fault(Box::new(fault())))
    }

    /// Waits until it takes too long; for ever when there is no limit.
    pub(crate) async fn over(&self) -> Outcome {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if let Some(fault) = self.fault() {
                return fault;
            }
            match self.left().filter(|_| self.hands().runs()) {
                Some(left) => tokio::select! {
                    () = tokio::time::sleep(left) => {}
                    () = changed => {}
                },
                None => changed.await,
            }
        }
    }

    /// The limit that comes first.
    fn limit(&self) -> Option<Limit> {
        let (in_turn, in_case) = {
            let mut hands = self.hands();
            hands.count();
            (hands.in_turn, hands.in_case)
        };
        let limit = |limit: Option<Duration>, used, kind| {
            limit.map(|limit| Limit { kind, limit, left: limit.saturating_sub(used) })
        };
        let of_turn = limit(self.turn, in_turn, FaultKind::TurnDeadline);
        let of_case = limit(self.case, in_case, FaultKind::CaseDeadline);
        match (of_turn, of_case) {
            (Some(turn), Some(case)) => Some(if turn.left < case.left { turn } else { case }),
            (turn, case) => turn.or(case),
        }
    }

    fn change(&self, change: impl FnOnce(&mut Hands)) {
        let mut hands = self.hands();
        hands.count();
        change(&mut hands);
        drop(hands);
        self.changed.notify_waiters();
    }

    fn hands(&self) -> MutexGuard<'_, Hands> {
        self.hands.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Asked<'_> {
    pub(crate) fn sent(&self) {
        if !self.is_sent.swap(true, std::sync::atomic::Ordering::Relaxed) {
            self.clock.change(|hands| {
                hands.n_waiting -= 1;
                hands.n_doing += 1;
            });
        }
    }
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        let is_sent = *self.is_sent.get_mut();
        self.clock.change(|hands| if is_sent { hands.n_doing -= 1 } else { hands.n_waiting -= 1 });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn kind(outcome: &Outcome) -> FaultKind {
        match outcome {
            Outcome::Fault(fault) => fault.kind,
            other => panic!("{other:?}"),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_turn_and_a_scenario_have_their_times() {
        let clock = Clock::start(Some(2 * SECOND), Some(3 * SECOND));
        let asked = clock.asks();
        asked.sent();
        let started = Instant::now();
        assert_eq!(kind(&clock.over().await), FaultKind::TurnDeadline);
        assert_eq!(started.elapsed().as_secs(), 2);
        clock.next_turn();
        assert_eq!(kind(&clock.over().await), FaultKind::CaseDeadline);
        assert_eq!(started.elapsed().as_secs(), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn the_clock_stands_still_while_all_that_is_asked_waits() {
        let clock = Clock::start(Some(2 * SECOND), None);
        let (first, second) = (clock.asks(), clock.asks());
        tokio::time::sleep(60 * SECOND).await;
        assert_eq!(clock.left(), Some(2 * SECOND));
        first.sent();
        tokio::time::sleep(SECOND).await;
        drop(first);
        tokio::time::sleep(60 * SECOND).await;
        assert_eq!(clock.left(), Some(SECOND), "the second one waits");
        let started = Instant::now();
        let sent = async {
            tokio::time::sleep(5 * SECOND).await;
            second.sent();
            std::future::pending::<()>().await;
        };
        let outcome = tokio::select! {
            outcome = clock.over() => outcome,
            () = sent => unreachable!("it waits for ever"),
        };
        assert_eq!((kind(&outcome), started.elapsed().as_secs()), (FaultKind::TurnDeadline, 6));
    }

    #[tokio::test(start_paused = true)]
    async fn without_limits_it_never_rings() {
        let clock = Clock::start(None, None);
        let _asked = clock.asks();
        assert!(tokio::time::timeout(3600 * SECOND, clock.over()).await.is_err());
        assert_eq!(clock.left(), None);
    }
}
