//! # A date and time as it was written
//!
//! Both readers, free form and by format, end in a [`Moment`]. People leave parts out ("April 11",
//! "10:30"), and Python fills them from today, or from 1900, so that one text means different
//! dates on different days. Here every absent part comes from one fixed day, 1 January 2000, and
//! the moment remembers which parts those were. The year is a leap year and the day exists in
//! every month, so that "Feb 29" is a date and filling never moves one.
//!
//! Nothing here looks at a clock or knows a time zone by name: an offset is a distance from UTC
//! that was written down.

use jiff::SignedDuration;
use jiff::civil::{Date, DateTime, Time, date};

/// Where the year, month and day come from when they are not written.
pub(super) const REFERENCE: Date = date(2000, 1, 1);

/// A date and time as it was written, with the parts that were left out.
///
/// Two moments are equal when clock, offset and missing parts all are. Whether they are the same
/// instant is another question, which [`Moment::since`] answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Moment {
    /// The local clock time; an absent time of day is midnight.
    pub when: DateTime,
    /// How far that clock was ahead of UTC, if the writer said.
    pub offset: Option<SignedDuration>,
    /// Which parts of the date come from [`REFERENCE`].
    pub missing: Missing,
}

/// The parts of a date that were not written.
///
/// The time of day is not among them: `2016-04-11` and `2016-04-11 00:00` are the same moment, as
/// they are in Python.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Missing {
    pub year: bool,
    pub month: bool,
    pub day: bool,
}

impl Moment {
    /// Makes a moment if Python could hold it: years 1 to 9999, offsets shorter than a day.
    pub(super) fn new(date: Date, time: Time, offset: Option<SignedDuration>, missing: Missing) -> Option<Moment> {
        let whole_day = SignedDuration::from_hours(24);
        let holds = date.year() >= 1 && offset.is_none_or(|it| it.abs() < whole_day);
        holds.then(|| Moment { when: date.to_datetime(time), offset, missing })
    }

    /// Returns the calendar date, as the writer saw it.
    pub(super) fn date(&self) -> Date {
        self.when.date()
    }

    /// Returns how much later this moment is than another one.
    ///
    /// There is no answer when only one of them says its offset, or when they leave out different
    /// parts: the distance from "April 11" to "11 April 2016" would be a fact about the filling.
    pub(super) fn since(&self, other: &Moment) -> Option<SignedDuration> {
        if self.missing != other.missing {
            return None;
        }
        let clocks_apart = match (self.offset, other.offset) {
            (None, None) => SignedDuration::ZERO,
            (Some(ours), Some(theirs)) => theirs.checked_sub(ours)?,
            _ => return None,
        };
        self.when.duration_since(other.when).checked_add(clocks_apart)
    }
}

/// The longest text worth reading as a date, in bytes; real ones are a tenth of it.
pub(super) const LONGEST: usize = 256;

/// English month names; the first three letters are the abbreviation.
pub(super) const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// English weekday names from Monday; the first three letters are the abbreviation.
pub(super) const WEEKDAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// Returns the part of a name that serves as its abbreviation.
pub(super) fn abbreviation(name: &'static str) -> &'static str {
    name.get(..3).unwrap_or(name)
}

/// Returns whether Python counts the character as whitespace.
pub(super) fn is_space(character: char) -> bool {
    // The four information separators are white to Python and not to Unicode.
    character.is_whitespace() || ('\x1c'..='\x1f').contains(&character)
}

#[cfg(test)]
pub(super) mod shown {
    use super::{Missing, Moment};

    /// Writes a moment on one line: `2016-04-11T10:30:00 +3600s`, `-` for each missing part.
    pub(crate) fn shown(moment: Option<Moment>) -> String {
        let Some(moment) = moment else {
            return "not a date".to_owned();
        };
        let Missing { year, month, day } = moment.missing;
        let left_out: String = [(year, " -y"), (month, " -m"), (day, " -d")]
            .into_iter()
            .filter_map(|(is_missing, mark)| is_missing.then_some(mark))
            .collect();
        let offset = moment.offset.map(|it| format!(" {:+}s", it.as_secs_f64())).unwrap_or_default();
        format!("{}{offset}{left_out}", moment.when)
    }
}

#[cfg(test)]
mod tests {
    use super::super::free::read_free;

    #[track_caller]
    fn distance(later: &str, earlier: &str, seconds: Option<i64>) {
        let [later, earlier] = [later, earlier].map(|it| read_free(it).expect("reads as a date"));
        assert_eq!(later.since(&earlier).map(|it| it.as_secs()), seconds);
        assert_eq!(earlier.since(&later).map(|it| it.as_secs()), seconds.map(|it| -it), "the way back is as long");
    }

    #[test]
    fn distance_is_measured_between_instants() {
        distance("2016-04-12", "2016-04-11", Some(86_400));
        distance("2016-04-11 00:00", "2016-04-11", Some(0));
        distance("10:30", "10:29:58", Some(2));
        distance("2016-04-11T10:30Z", "2016-04-11T12:30+02:00", Some(0));
        distance("2016-04-11T10:30-05:00", "2016-04-11T10:30Z", Some(18_000));
        distance("9999-12-31", "0001-01-01", Some(315_537_811_200));
    }

    #[test]
    fn distance_needs_the_same_parts() {
        distance("2016-04-11T10:30Z", "2016-04-11T10:30", None);
        distance("April 11", "2016-04-11", None);
        distance("April 2016", "2016-04-11", None);
        distance("Friday", "2016-04-11", None);
    }
}
