//! A moment as text: the same everywhere, whatever the reader's clock says.

use jiff::Timestamp;

/// Milliseconds since 1970 as `2026-11-15T18:04:05.123Z`.
pub fn instant(ms: u64) -> String {
    let moment = i64::try_from(ms).ok().and_then(|it| Timestamp::from_millisecond(it).ok());
    // Beyond what a calendar holds, the number says as much.
    moment.map_or_else(|| ms.to_string(), |it| format!("{it:.3}"))
}

/// The same without fractions: `2026-11-15T18:04:05Z`.
pub fn to_the_second(ms: u64) -> String {
    let text = instant(ms);
    text.split_once('.').map_or_else(|| text.clone(), |(seconds, _)| format!("{seconds}Z"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_in_universal_time() {
        assert_eq!(instant(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(instant(1_794_765_845_123), "2026-11-15T18:04:05.123Z");
        assert_eq!(instant(u64::MAX), "18446744073709551615");
        assert_eq!(to_the_second(1_794_765_845_123), "2026-11-15T18:04:05Z");
        assert_eq!(to_the_second(u64::MAX), "18446744073709551615");
    }
}
