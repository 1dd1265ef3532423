//! How long a provider asks to wait.

use std::time::Duration;

use jiff::Timestamp;

use super::Received;

/// Reads `retry-after-ms`, or `retry-after` in seconds or as a date. A date is taken from the provider's own clock where the reply
/// has one: ours may be wrong.
pub(super) fn read(received: &Received<'_>) -> Option<Duration> {
    let header = |name: &str| (received.header)(name).map(str::trim);
    if let Some(wait) = header("retry-after-ms").and_then(seconds) {
        return Some(wait / 1000);
    }
    let value = header("retry-after")?;
    seconds(value).or_else(|| {
        let until = date(value)?;
        let now = header("date").and_then(date);
        let now = now.or_else(|| Timestamp::from_millisecond(i64::try_from(received.at_ms).ok()?).ok())?;
        Some(Duration::try_from(until.duration_since(now)).unwrap_or(Duration::ZERO))
    })
}

/// A number of seconds, which may have a fraction.
pub(super) fn seconds(text: &str) -> Option<Duration> {
    let seconds: f64 = text.parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

fn date(text: &str) -> Option<Timestamp> {
    let zoned = jiff::fmt::rfc2822::parse(text).ok()?;
    Some(zoned.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn waits(headers: &'static [(&'static str, &'static str)], millis: Option<u64>) {
        let header = |name: &str| headers.iter().find(|(it, _)| *it == name).map(|(_, value)| *value);
        // Sunday, 6 November 1994, 08:49:37
        let received = Received { status: 429, header: &header, body: b"", at_ms: 784_111_777_000 };
        assert_eq!(read(&received), millis.map(Duration::from_millis));
    }

    #[test]
    fn every_way_to_say_it_is_understood() {
        waits(&[], None);
        waits(&[("retry-after", "2")], Some(2000));
        waits(&[("retry-after", "0.25")], Some(250));
        waits(&[("retry-after", "9"), ("retry-after-ms", "120")], Some(120));
        waits(&[("retry-after", "Sun, 06 Nov 1994 08:49:40 GMT")], Some(3000));
        waits(
            &[("retry-after", "Sun, 06 Nov 1994 08:49:40 GMT"), ("date", "Sun, 06 Nov 1994 08:49:30 GMT")],
            Some(10_000),
        );
        waits(&[("retry-after", "Sun, 06 Nov 1994 08:00:00 GMT")], Some(0));
        waits(&[("retry-after", "-1")], None);
        waits(&[("retry-after", "soon")], None);
    }
}
