//! The calls that a server has not answered yet, and how long each may take.
//!
//! A server that works on one call at a time answers a slow one late, and with it all that were sent after it. Those must not fail for it: the time of a call begins when
//! no older one is open any more. A server that answers nothing at all is waited for a few timeouts longer, and then every call has failed.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::model::RequestId;
use tokio::sync::Notify;
use tokio::sync::futures::Notified;
use tokio::time::Instant;

/// For how many further timeouts calls wait behind an older one that took too long.
const MOST_TIMEOUTS: u32 = 4;

/// The open calls of a server.
#[derive(Debug, Default)]
pub(super) struct Queue {
    open: Mutex<Open>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct Open {
    /// In the order in which they were sent.
    calls: Vec<(RequestId, Instant)>,
    /// When the server answered last.
    answered: Option<Instant>,
    /// When a call was first given up since then.
    given_up: Option<Instant>,
}

impl Queue {
    pub(super) fn sent(&self, id: &RequestId) {
        self.lock().calls.push((id.clone(), Instant::now()));
    }

    /// The server answered a call, perhaps one that was given up.
    pub(super) fn answered(&self, id: &RequestId) {
        let mut open = self.lock();
        open.calls.retain(|(it, _)| it != id);
        (open.answered, open.given_up) = (Some(Instant::now()), None);
        drop(open);
        self.changed.notify_waiters();
    }

    /// A call is not waited for any more.
    pub(super) fn give_up(&self, id: &RequestId) {
        let mut open = self.lock();
        open.calls.retain(|(it, _)| it != id);
        open.given_up.get_or_insert_with(Instant::now);
        drop(open);
        self.changed.notify_waiters();
    }

    /// Waits for a call to be answered or given up.
    pub(super) fn changed(&self) -> Notified<'_> {
        self.changed.notified()
    }

    /// Until when a call may take, as far as is known now.
    pub(super) fn deadline(&self, id: &RequestId, timeout: Duration) -> Instant {
        let open = self.lock();
        let sent = open.calls.iter().find(|(it, _)| it == id).map_or_else(Instant::now, |(_, sent)| *sent);
        let begun = |sent: Instant| sent.max(open.answered.unwrap_or(sent));
        let oldest = open.calls.first().filter(|(it, _)| it != id);
        match (oldest, open.given_up.filter(|it| *it > sent)) {
            // Its turn has not come, and may not come soon.
            (_, Some(given_up)) => given_up + timeout * MOST_TIMEOUTS,
            (Some((_, oldest)), None) => begun(*oldest) + timeout * (MOST_TIMEOUTS + 1),
            (None, None) => begun(sent) + timeout,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
