//! Takes keys out of a reply that passes in pieces, also a key that is cut by them.

use bytes::Bytes;

use super::events::EventScrubber;
use crate::transport::secret::{HIDDEN, Secrets};

/// Replaces secrets in bytes that come in pieces. The end of a piece that may be the beginning of a secret is held back.
#[derive(Debug)]
pub(super) struct Scrubber {
    /// Looks at the strings of events first, when the reply is a stream of them.
    events: Option<EventScrubber>,
    secrets: Vec<Vec<u8>>,
    held: Vec<u8>,
}

impl Scrubber {
    pub(super) fn new(secrets: &Secrets) -> Scrubber {
        let mut secrets: Vec<Vec<u8>> = secrets.long_enough().map(|it| it.as_bytes().to_vec()).collect();
        // One may be the beginning of another.
        secrets.sort_unstable_by_key(|it| std::cmp::Reverse(it.len()));
        Scrubber { events: None, secrets, held: Vec::new() }
    }

    /// The same for a stream of server-sent events.
    pub(super) fn of_events(secrets: &Secrets) -> Scrubber {
        let scrubber = Scrubber::new(secrets);
        let events = (!scrubber.is_idle()).then(|| EventScrubber::new(secrets.long_enough()));
        Scrubber { events, ..scrubber }
    }

    /// Whether everything passes as it is.
    pub(super) fn is_idle(&self) -> bool {
        self.secrets.is_empty()
    }

    /// Whether everything so far was passed on.
    pub(super) fn holds_nothing(&self) -> bool {
        self.held.is_empty() && self.events.as_ref().is_none_or(EventScrubber::holds_nothing)
    }

    /// What of the bytes so far can be passed on.
    pub(super) fn push(&mut self, bytes: &Bytes) -> Bytes {
        if self.secrets.is_empty() {
            return bytes.clone();
        }
        let mut all = std::mem::take(&mut self.held);
        match &mut self.events {
            None => all.extend_from_slice(bytes),
            Some(events) => all.append(&mut events.push(bytes)),
        }
        let (clean, held) = self.replaced(&all, false);
        self.held = held.to_vec();
        Bytes::from(clean)
    }

    /// What was held back, when nothing more comes.
    pub(super) fn finish(&mut self) -> Bytes {
        let mut held = std::mem::take(&mut self.held);
        if let Some(events) = &mut self.events {
            held.append(&mut events.finish());
        }
        Bytes::from(self.replaced(&held, true).0)
    }

    /// The bytes without secrets, and the rest that may be the beginning of one unless the end was reached.
    fn replaced<'b>(&self, bytes: &'b [u8], is_end: bool) -> (Vec<u8>, &'b [u8]) {
        let (mut clean, mut from, mut at) = (Vec::with_capacity(bytes.len()), 0, 0);
        while at < bytes.len() && (is_end || !self.may_begin(&bytes[at..])) {
            match self.secrets.iter().find(|it| bytes[at..].starts_with(it)) {
                None => at += 1,
                Some(secret) => {
                    clean.extend_from_slice(&bytes[from..at]);
                    clean.extend_from_slice(HIDDEN.as_bytes());
                    at += secret.len();
                    from = at;
                }
            }
        }
        clean.extend_from_slice(&bytes[from..at]);
        (clean, &bytes[at..])
    }

    /// Whether a secret begins with these bytes and is longer.
    fn may_begin(&self, bytes: &[u8]) -> bool {
        self.secrets.iter().any(|it| it.len() > bytes.len() && it.starts_with(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scrubbed(text: &str, n_bytes: usize) -> String {
        let mut secrets = Secrets::default();
        secrets.add("sk-0123456789abc");
        secrets.add("sk-0123456789abcdef");
        let mut scrubber = Scrubber::new(&secrets);
        let mut clean = Vec::new();
        for piece in text.as_bytes().chunks(n_bytes) {
            clean.extend_from_slice(&scrubber.push(&Bytes::copy_from_slice(piece)));
        }
        clean.extend_from_slice(&scrubber.finish());
        String::from_utf8(clean).expect("it was text")
    }

    #[test]
    fn a_key_is_found_however_it_is_cut() {
        let text = "a sk-0123456789abc\" b sk-sk-0123456789abcdefsk-0123456789abcdef ü sk-012345";
        for n_bytes in 1..=text.len() {
            assert_eq!(
                scrubbed(text, n_bytes),
                "a [secret]\" b sk-[secret][secret] ü sk-012345",
                "in pieces of {n_bytes} bytes"
            );
        }
    }
}
