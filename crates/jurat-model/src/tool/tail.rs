//! The last of what a program wrote to its standard error.

use std::sync::{Mutex, PoisonError};

/// The most bytes that are stored.
const MOST_BYTES: usize = 4096;

/// The last bytes that were written, whatever came before them.
#[derive(Debug, Default)]
pub(super) struct Tail(Mutex<Vec<u8>>);

impl Tail {
    pub(super) fn push(&self, bytes: &[u8]) {
        let mut stored = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        stored.extend_from_slice(bytes);
        let n_over = stored.len().saturating_sub(MOST_BYTES);
        stored.drain(..n_over);
    }

    /// What is stored, without the space around it. A line that was cut at its front is left out, unless there is no other.
    pub(super) fn text(&self) -> String {
        let stored = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let whole_lines = match stored.iter().position(|it| *it == b'\n') {
            Some(end) if stored.len() == MOST_BYTES && stored[end + 1..].iter().any(|it| !it.is_ascii_whitespace()) => {
                &stored[end + 1..]
            }
            _ => stored.as_slice(),
        };
        String::from_utf8_lossy(whole_lines).trim().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_whole_lines_are_stored() {
        let tail = Tail::default();
        assert_eq!(tail.text(), "");
        tail.push(b"first\nsec");
        tail.push(b"ond\n");
        assert_eq!(tail.text(), "first\nsecond");
        for number in 0..2000 {
            tail.push(format!("line {number}\n").as_bytes());
        }
        let text = tail.text();
        assert!(text.len() <= MOST_BYTES && text.starts_with("line ") && text.ends_with("line 1999"), "{text}");
        tail.push(&[b'x'; 3 * MOST_BYTES]);
        assert_eq!(tail.text(), "x".repeat(MOST_BYTES));
        tail.push("ä".repeat(MOST_BYTES).as_bytes());
        assert!(tail.text().ends_with("ää"));
    }
}
