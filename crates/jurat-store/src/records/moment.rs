//! Dates, times and moments as text, in the way of ISO 8601: `2016-04-11`, `09:30:00`, `2016-04-11T09:30:00.250`.
//!
//! Seconds have as many digits after the point as needed, in groups of three. `None` is what no calendar has.

use arrow_array::temporal_conversions::{
    date32_to_datetime, date64_to_datetime, time32ms_to_time, time32s_to_time, time64ns_to_time, time64us_to_time,
    timestamp_ms_to_datetime, timestamp_ns_to_datetime, timestamp_s_to_datetime, timestamp_us_to_datetime,
};

pub(super) fn date(days: i32) -> Option<String> {
    date32_to_datetime(days).map(|it| format!("{:?}", it.date()))
}

/// The day on which a moment lies: the format has whole days, and writers that store a time with them are not refused.
pub(super) fn date_of_milliseconds(since_1970: i64) -> Option<String> {
    date64_to_datetime(since_1970).map(|it| format!("{:?}", it.date()))
}

pub(super) fn time_of_seconds(time: i32) -> Option<String> {
    time32s_to_time(time).map(|it| format!("{it:?}"))
}

pub(super) fn time_of_milliseconds(time: i32) -> Option<String> {
    time32ms_to_time(time).map(|it| format!("{it:?}"))
}

pub(super) fn time_of_microseconds(time: i64) -> Option<String> {
    time64us_to_time(time).map(|it| format!("{it:?}"))
}

pub(super) fn time_of_nanoseconds(time: i64) -> Option<String> {
    time64ns_to_time(time).map(|it| format!("{it:?}"))
}

pub(super) fn of_seconds(since_1970: i64) -> Option<String> {
    timestamp_s_to_datetime(since_1970).map(|it| format!("{it:?}"))
}

pub(super) fn of_milliseconds(since_1970: i64) -> Option<String> {
    timestamp_ms_to_datetime(since_1970).map(|it| format!("{it:?}"))
}

pub(super) fn of_microseconds(since_1970: i64) -> Option<String> {
    timestamp_us_to_datetime(since_1970).map(|it| format!("{it:?}"))
}

pub(super) fn of_nanoseconds(since_1970: i64) -> Option<String> {
    timestamp_ns_to_datetime(since_1970).map(|it| format!("{it:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_in_iso_8601() {
        assert_eq!(date(0).as_deref(), Some("1970-01-01"));
        assert_eq!(date(-719_162).as_deref(), Some("0001-01-01"));
        assert_eq!(date(i32::MAX), None);
        assert_eq!(time_of_milliseconds(34_200_000).as_deref(), Some("09:30:00"));
        assert_eq!(time_of_microseconds(34_200_250_000).as_deref(), Some("09:30:00.250"));
        assert_eq!(time_of_nanoseconds(1).as_deref(), Some("00:00:00.000000001"));
        assert_eq!(time_of_microseconds(-1), None);
        assert_eq!(date_of_milliseconds(-1).as_deref(), Some("1969-12-31"));
        assert_eq!(time_of_seconds(34_200).as_deref(), Some("09:30:00"));
        assert_eq!(of_seconds(1_460_367_000).as_deref(), Some("2016-04-11T09:30:00"));
        assert_eq!(of_seconds(i64::MAX), None);
        assert_eq!(of_milliseconds(1_460_367_000_000).as_deref(), Some("2016-04-11T09:30:00"));
        assert_eq!(of_microseconds(-1).as_deref(), Some("1969-12-31T23:59:59.999999"));
        assert_eq!(of_nanoseconds(i64::MAX).as_deref(), Some("2262-04-11T23:47:16.854775807"));
        assert_eq!(of_milliseconds(i64::MAX), None);
    }
}
