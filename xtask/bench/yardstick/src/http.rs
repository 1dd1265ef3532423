//! As much of HTTP/1.1 as an endpoint and a load on one machine need: messages with a `Content-Length`, one after another.

use memchr::memmem;
use thiserror::Error;

/// The first message of a buffer, when all of it is there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Message {
    /// How long the head is, its empty line included.
    pub(crate) head: usize,
    /// How long the whole message is.
    pub(crate) whole: usize,
}

/// What this reader does not understand.
#[derive(Debug, PartialEq, Error)]
pub(crate) enum Unreadable {
    #[error("a message without `Content-Length` was sent in pieces")]
    Chunked,
    #[error("a `Content-Length` is not a number")]
    Length,
}

/// Finds the first message, or nothing as long as a part of it is missing.
pub(crate) fn message(buffer: &[u8]) -> Result<Option<Message>, Unreadable> {
    let Some(end) = memmem::find(buffer, b"\r\n\r\n") else { return Ok(None) };
    let head = end + 4;
    let mut length = 0;
    for line in buffer[..end].split(|it| *it == b'\n') {
        let Some(colon) = line.iter().position(|it| *it == b':') else { continue };
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        if name.eq_ignore_ascii_case(b"content-length") {
            length = number(value).ok_or(Unreadable::Length)?;
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
            return Err(Unreadable::Chunked);
        }
    }
    let whole = head + length;
    Ok((buffer.len() >= whole).then_some(Message { head, whole }))
}

fn number(digits: &[u8]) -> Option<usize> {
    str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn found(text: &str, expected: Result<Option<(usize, usize)>, Unreadable>) {
        assert_eq!(message(text.as_bytes()).map(|it| it.map(|it| (it.head, it.whole))), expected, "{text:?}");
    }

    #[test]
    fn a_message_is_found_when_it_is_whole() {
        found("", Ok(None));
        found("GET /stats HTTP/1.1\r\nhost: x\r\n", Ok(None));
        found("GET /stats HTTP/1.1\r\nhost: x\r\n\r\n", Ok(Some((32, 32))));
        found("POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nab", Ok(None));
        found("POST / HTTP/1.1\r\ncontent-length:3\r\n\r\nabcPOST", Ok(Some((37, 40))));
    }

    #[test]
    fn what_is_not_understood_is_said() {
        found("POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n", Err(Unreadable::Chunked));
        found("POST / HTTP/1.1\r\ncontent-length: -1\r\n\r\n", Err(Unreadable::Length));
    }
}
