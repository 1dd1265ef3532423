//! At most a number of requests or tokens in any minute.
//!
//! The limit holds for every span of 60 seconds, not on average: providers count that way. What was taken by an estimate can be
//! corrected once the truth is known, which frees what was taken too much.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::Instant;

/// How long something counts.
const SPAN: Duration = Duration::from_secs(60);

/// At most a number in any minute.
#[derive(Debug)]
pub(super) struct Window {
    limit: u64,
    used: u64,
    taken: VecDeque<(Instant, u64)>,
    /// How many were taken before the first that is still counted.
    n_gone: u64,
}

impl Window {
    pub(super) fn new(limit: u64) -> Window {
        Window { limit, used: 0, taken: VecDeque::new(), n_gone: 0 }
    }

    /// Makes the limit lower, never higher.
    pub(super) fn lower(&mut self, limit: u64) {
        self.limit = self.limit.min(limit);
    }

    /// When `amount` may be taken, if not now. More than the limit may be taken when nothing else counts: it could never be otherwise.
    pub(super) fn wait(&mut self, now: Instant, amount: u64) -> Option<Instant> {
        while let Some((at, amount)) = self.taken.front()
            && now >= *at + SPAN
        {
            self.used -= amount;
            self.taken.pop_front();
            self.n_gone += 1;
        }
        let mut used = self.used;
        let mut until = None;
        for (at, gone) in &self.taken {
            if used.saturating_add(amount) <= self.limit {
                break;
            }
            used -= gone;
            until = Some(*at + SPAN);
        }
        until
    }

    /// Takes an amount, and says which taking that is.
    pub(super) fn take(&mut self, now: Instant, amount: u64) -> u64 {
        self.used = self.used.saturating_add(amount);
        self.taken.push_back((now, amount));
        self.n_gone + self.taken.len() as u64 - 1
    }

    /// Says what a taking really was.
    pub(super) fn correct(&mut self, taking: u64, amount: u64) {
        let ix = taking.checked_sub(self.n_gone).and_then(|it| usize::try_from(it).ok());
        if let Some((_, taken)) = ix.and_then(|it| self.taken.get_mut(it)) {
            self.used = (self.used - *taken).saturating_add(amount);
            *taken = amount;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn more_than_the_limit_goes_alone() {
        let start = Instant::now();
        let mut window = Window::new(10);
        assert_eq!(window.wait(start, 100), None);
        window.take(start, 100);
        assert_eq!(window.wait(start, 1), Some(start + SPAN));
        assert_eq!(window.wait(start + SPAN, 1), None);
    }

    #[test]
    fn what_was_taken_too_much_is_free_again() {
        let start = Instant::now();
        let mut window = Window::new(10);
        let taking = window.take(start, 9);
        assert_eq!(window.wait(start, 2), Some(start + SPAN));
        window.correct(taking, 3);
        assert_eq!(window.wait(start, 7), None);
        assert_eq!(window.wait(start + SPAN, 10), None);
        window.correct(taking, 50);
        assert_eq!(window.wait(start + SPAN, 10), None);
    }

    proptest! {
        #[test]
        fn no_minute_has_more_than_the_limit(limit in 1u64..40, asks in prop::collection::vec((0u64..20_000, 1u64..10), 1..200)) {
            let start = Instant::now();
            let mut window = Window::new(limit);
            let mut now = start;
            let mut taken: Vec<(Instant, u64)> = Vec::new();
            for (later, amount) in asks {
                now += Duration::from_millis(later);
                let amount = amount.min(limit);
                while let Some(until) = window.wait(now, amount) {
                    prop_assert!(until > now);
                    now = until;
                }
                window.take(now, amount);
                taken.push((now, amount));
                let in_minute: u64 = taken.iter().filter(|(at, _)| *at + SPAN > now).map(|(_, amount)| amount).sum();
                prop_assert!(in_minute <= limit);
            }
        }
    }
}
