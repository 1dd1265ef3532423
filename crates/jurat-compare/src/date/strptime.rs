//! # Dates by format
//!
//! Reads what `datetime.strptime` of Python 3.11 reads, with names in English. The points that
//! surprise people:
//!
//! - Whitespace in a format stands for one or more characters of any whitespace.
//! - Letters match in either case, also those outside directives.
//! - A directive takes as much as it can and gives back only if the rest of the *format* would
//!   not match. Text left over after the format is not a date.
//! - `%d`, `%m`, `%H` and their like accept one digit; `%Y` wants four and `%y` two.
//! - `%y` turns over at 69, where the free form does at 76. Each is as its Python counterpart.
//! - `%Z` accepts `UTC` and `GMT` and says nothing; only `%z` gives an offset. Python also accepts
//!   the names of the machine's own zone.
//! - A weekday counts only together with a week number.
//!
//! Absent parts come from [`REFERENCE`], where Python has 1 January 1900.
//! The date is worked out as in 1900 all the same and moved by a century, so 29 February without a
//! year is not a date, as in Python.
//!
//! Left out: digits other than ASCII, and text longer than 256 bytes.

use std::fmt;

use jiff::civil::{Date, Time};
use jiff::{SignedDuration, ToSpan};
use regex::Regex;

use super::moment::{LONGEST, MONTHS, Missing, Moment, REFERENCE, WEEKDAYS, abbreviation, is_space};

/// A `strptime` format, parsed once: as in Python, a regular expression with a group for each directive.
#[derive(Debug, Clone)]
pub(super) struct DateFormat {
    pattern: Regex,
    /// The letters of the directives, in the order of their groups.
    directives: Vec<char>,
}

/// Formats are equal when they read the same.
impl PartialEq for DateFormat {
    fn eq(&self, other: &DateFormat) -> bool {
        self.pattern.as_str() == other.pattern.as_str()
    }
}

/// Why a format can never read a date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FormatProblem {
    /// The letter after `%` is not one that Python reads.
    UnknownDirective(char),
    /// The format ends in `%`.
    StrayPercent,
    /// A directive stands twice, perhaps inside `%c`, `%x` or `%X`.
    Repeated(char),
    /// `%G` stands without `%V` and a weekday, or `%j` beside it.
    IsoYearAlone,
    /// `%V` stands without `%G`.
    IsoWeekAlone,
    /// The format is longer than any date.
    TooLong,
}

impl DateFormat {
    /// Reads a format, accounting for every character.
    pub(super) fn parse(format: &str) -> Result<DateFormat, FormatProblem> {
        if format.len() > LONGEST {
            return Err(FormatProblem::TooLong);
        }
        let (mut pattern, mut directives) = (String::from("^(?i)"), Vec::new());
        translate(format, &mut pattern, &mut directives)?;
        let pattern = Regex::new(&pattern).map_err(|_| FormatProblem::TooLong)?;
        let format = DateFormat { pattern, directives };
        format.check_iso_week()?;
        Ok(format)
    }

    /// Reads a date written in this format and nothing else.
    pub(super) fn read(&self, text: &str) -> Option<Moment> {
        let found = Some(text).filter(|it| it.len() <= LONGEST).and_then(|it| self.pattern.captures(it))?;
        // The first way to match counts, also where another one would have taken all of the text.
        if found.get(0)?.end() != text.len() {
            return None;
        }
        let fields =
            self.directives.iter().zip(found.iter().skip(1)).filter_map(|(it, part)| Some((*it, part?.as_str())));
        Parts::gather(&fields.collect::<Vec<_>>())?.moment()
    }

    fn has(&self, letters: &str) -> bool {
        self.directives.iter().any(|it| letters.contains(*it))
    }

    /// Python finds these when it reads a date; no date gets past them.
    fn check_iso_week(&self) -> Result<(), FormatProblem> {
        if !self.has("Yy") && self.has("G") {
            let is_whole = self.has("V") && self.has("Aawu") && !self.has("j");
            return is_whole.then_some(()).ok_or(FormatProblem::IsoYearAlone);
        }
        if self.has("V") && !self.has("UW") {
            return Err(FormatProblem::IsoWeekAlone);
        }
        Ok(())
    }
}

impl fmt::Display for FormatProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FormatProblem::UnknownDirective(letter) => {
                write!(f, "unknown directive `%{letter}`; accepted are `%%`")?;
                "cxX"
                    .chars()
                    .chain(DIRECTIVES.iter().map(|(letter, _)| *letter))
                    .try_for_each(|it| write!(f, ", `%{it}`"))
            }
            FormatProblem::StrayPercent => f.write_str("stray `%` at the end; write `%%` for a percent sign"),
            FormatProblem::Repeated(letter) => write!(f, "directive `%{letter}` stands twice"),
            FormatProblem::IsoYearAlone => {
                f.write_str("`%G` needs `%V` and one of `%A`, `%a`, `%u`, `%w`, and no `%j` beside it")
            }
            FormatProblem::IsoWeekAlone => {
                f.write_str("`%V` needs `%G` and one of `%A`, `%a`, `%u`, `%w`, and no `%Y` or `%y`")
            }
            FormatProblem::TooLong => write!(f, "format is longer than {LONGEST} bytes"),
        }
    }
}

impl std::error::Error for FormatProblem {}

/// Every directive with a value, and how it is written; `NAMES` stands for names that are listed elsewhere. Of several ways the first that fits counts.
const DIRECTIVES: &[(char, &str)] = &[
    ('a', NAMES),
    ('A', NAMES),
    ('b', NAMES),
    ('B', NAMES),
    // The C library pads the day with a space, and so `%c` must accept one.
    ('d', "0[1-9]|[12][0-9]|3[01]|[1-9]| [1-9]"),
    ('f', "[0-9]{1,6}"),
    ('G', "[0-9]{4}"),
    ('H', "[01][0-9]|2[0-3]|[0-9]"),
    ('I', "0[1-9]|1[0-2]|[1-9]"),
    ('j', "00[1-9]|0[1-9][0-9]|[12][0-9]{2}|3[0-5][0-9]|36[0-6]|0[1-9]|[1-9][0-9]|[1-9]"),
    ('m', "0[1-9]|1[0-2]|[1-9]"),
    ('M', "[0-5][0-9]|[0-9]"),
    ('p', "am|pm"),
    ('S', "[0-5][0-9]|6[01]|[0-9]"),
    ('U', "[0-4][0-9]|5[0-3]|[0-9]"),
    ('u', "[1-7]"),
    // Week 0 is accepted, but not written `00`.
    ('V', "0[1-9]|[1-4][0-9]|5[0-3]|[0-9]"),
    ('w', "[0-6]"),
    ('W', "[0-4][0-9]|5[0-3]|[0-9]"),
    ('y', "[0-9]{2}"),
    ('Y', "[0-9]{4}"),
    // `+0130`, `+01:30`, `+01:30:15.25`, `Z`.
    ('z', r"[+-][0-9]{2}:?[0-5][0-9](?::?[0-5][0-9](?:\.[0-9]{1,6})?)?|(?-i:Z)"),
    ('Z', "utc|gmt"),
];

const NAMES: &str = "";

/// Adds what a format means to a regular expression.
fn translate(format: &str, pattern: &mut String, directives: &mut Vec<char>) -> Result<(), FormatProblem> {
    let mut characters = format.chars().peekable();
    while let Some(character) = characters.next() {
        if is_space(character) {
            while characters.next_if(|it| is_space(*it)).is_some() {}
            pattern.push_str(r"[\s\x1c-\x1f]+");
            continue;
        }
        if character != '%' {
            pattern.push_str(&regex::escape(character.encode_utf8(&mut [0; 4])));
            continue;
        }
        match characters.next().ok_or(FormatProblem::StrayPercent)? {
            '%' => pattern.push('%'),
            'c' => translate("%a %b %d %H:%M:%S %Y", pattern, directives)?,
            'x' => translate("%m/%d/%y", pattern, directives)?,
            'X' => translate("%H:%M:%S", pattern, directives)?,
            letter => {
                let known = DIRECTIVES.iter().find(|(it, _)| *it == letter);
                let (_, written) = known.ok_or(FormatProblem::UnknownDirective(letter))?;
                if directives.contains(&letter) {
                    return Err(FormatProblem::Repeated(letter));
                }
                directives.push(letter);
                let names = match letter {
                    'a' => WEEKDAYS.map(abbreviation).join("|"),
                    'A' => WEEKDAYS.join("|"),
                    'b' => MONTHS.map(abbreviation).join("|"),
                    'B' => MONTHS.join("|"),
                    _ => String::new(),
                };
                pattern.extend(["(", written, &names, ")"]);
            }
        }
    }
    Ok(())
}

/// What the directives said. The later wins where two say the same, as `%m` and `%b` can.
#[derive(Default)]
struct Parts {
    year: Option<i16>,
    iso_year: Option<i16>,
    month: Option<i8>,
    day: Option<i8>,
    day_of_year: Option<i32>,
    week: Option<Week>,
    iso_week: Option<i32>,
    weekday: Option<i32>,
    hour: i8,
    minute: i8,
    second: i8,
    nanosecond: i32,
    offset: Option<SignedDuration>,
}

/// A week of the year. Week 1 begins with the year's first Sunday or Monday.
#[derive(Clone, Copy)]
enum Week {
    FromSunday(i32),
    FromMonday(i32),
}

impl Parts {
    fn gather(found: &[(char, &str)]) -> Option<Parts> {
        let mut parts = Parts::default();
        let is_afternoon = found.iter().any(|(letter, text)| *letter == 'p' && text.eq_ignore_ascii_case("pm"));
        for (letter, text) in found {
            match letter {
                'Y' => parts.year = Some(text.parse().ok()?),
                'y' => {
                    let short: i16 = text.parse().ok()?;
                    parts.year = Some(short + if short <= 68 { 2000 } else { 1900 });
                }
                'G' => parts.iso_year = Some(text.parse().ok()?),
                'm' => parts.month = Some(text.parse().ok()?),
                'b' | 'B' => parts.month = Some(place(&MONTHS, text)? + 1),
                'd' => parts.day = Some(text.trim_start().parse().ok()?),
                'j' => parts.day_of_year = Some(text.parse().ok()?),
                'U' => parts.week = Some(Week::FromSunday(text.parse().ok()?)),
                'W' => parts.week = Some(Week::FromMonday(text.parse().ok()?)),
                'V' => parts.iso_week = Some(text.parse().ok()?),
                'a' | 'A' => parts.weekday = Some(place(&WEEKDAYS, text)?.into()),
                'u' => parts.weekday = Some(text.parse::<i32>().ok()? - 1),
                'w' => parts.weekday = Some((text.parse::<i32>().ok()? + 6) % 7),
                'H' => parts.hour = text.parse().ok()?,
                'I' => parts.hour = text.parse::<i8>().ok()? % 12 + if is_afternoon { 12 } else { 0 },
                'M' => parts.minute = text.parse().ok()?,
                'S' => parts.second = text.parse().ok()?,
                'f' => parts.nanosecond = nanoseconds(text)?,
                'z' => parts.offset = Some(offset(text)?),
                // The half of the day is looked at above, and the name of a zone says nothing.
                _ => {}
            }
        }
        Some(parts)
    }

    fn moment(self) -> Option<Moment> {
        let time = Time::new(self.hour, self.minute, self.second, self.nanosecond).ok()?;
        let (date, missing) = self.date()?;
        Moment::new(date, time, self.offset, missing)
    }

    fn date(&self) -> Option<(Date, Missing)> {
        if let (None, Some(year), Some(week), Some(weekday)) = (self.week, self.iso_year, self.iso_week, self.weekday) {
            return Some((iso_date(year, week, weekday)?, Missing::default()));
        }
        // Without a year Python counts in 1900, or in 1904 if the parts name a day that 1900
        // lacks, and then calls the year 1900.
        let is_leap_day = self.month == Some(2) && self.day == Some(29);
        let year = self.year.unwrap_or(if is_leap_day { 1904 } else { 1900 });
        let day_of_year = match (self.day_of_year, self.week, self.weekday) {
            (Some(day), ..) => Some(day),
            (None, Some(week), Some(weekday)) => Some(week.day_of_year(year, weekday)?),
            _ => None,
        };
        let counted = match day_of_year {
            Some(day) => nth_day(year, day)?,
            None => Date::new(year, self.month.unwrap_or(1), self.day.unwrap_or(1)).ok()?,
        };
        let date = match self.year {
            Some(_) => counted,
            None if is_leap_day => moved_to_reference(counted.with().year(1900).build().ok()?)?,
            None => moved_to_reference(counted)?,
        };
        let missing = Missing {
            year: self.year.is_none(),
            month: day_of_year.is_none() && self.month.is_none(),
            day: day_of_year.is_none() && self.day.is_none(),
        };
        Some((date, missing))
    }
}

impl Week {
    fn day_of_year(self, year: i16, weekday: i32) -> Option<i32> {
        let new_year = Date::new(year, 1, 1).ok()?.weekday();
        let (week, first, weekday) = match self {
            Week::FromSunday(week) => (week, new_year.to_sunday_zero_offset(), (weekday + 1) % 7),
            Week::FromMonday(week) => (week, new_year.to_monday_zero_offset(), weekday),
        };
        let week_of_new_year = i32::from(first == 0);
        // In a year that begins with week 1 Python takes week 0 for the same week.
        let n_weeks_later = (week - week_of_new_year).max(0);
        Some(1 - i32::from(first) + 7 * n_weeks_later + weekday)
    }
}

fn iso_date(iso_year: i16, iso_week: i32, weekday: i32) -> Option<Date> {
    // Week 1 holds 4 January. Python lets weeks 0 and 53 run over into the years beside.
    let fourth = Date::new(iso_year, 1, 4).ok()?.weekday();
    let monday_of_week_1 = 4 - i32::from(fourth.to_monday_zero_offset());
    nth_day(iso_year, monday_of_week_1 + 7 * (iso_week - 1) + weekday)
}

/// Returns the nth day of a year, which may lie in another year.
fn nth_day(year: i16, day: i32) -> Option<Date> {
    Date::new(year, 1, 1).ok()?.checked_add((day - 1).days()).ok()
}

/// Moves a date that Python filled from 1900 to the year that we fill from.
fn moved_to_reference(date: Date) -> Option<Date> {
    date.with().year(date.year() - 1900 + REFERENCE.year()).build().ok()
}

/// Returns the place of a name, whole or abbreviated.
fn place(names: &[&'static str], text: &str) -> Option<i8> {
    let first = text.get(..3)?;
    let at = names.iter().position(|it| first.eq_ignore_ascii_case(abbreviation(it)))?;
    i8::try_from(at).ok()
}

fn nanoseconds(fraction: &str) -> Option<i32> {
    format!("{fraction:0<9}").parse().ok()
}

fn offset(text: &str) -> Option<SignedDuration> {
    if text == "Z" {
        return Some(SignedDuration::ZERO);
    }
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits: String = whole.chars().filter(char::is_ascii_digit).collect();
    // Two colons or none: `+01:3015` would be half one style and half the other.
    if digits.len() == 6 && whole.matches(':').count() == 1 {
        return None;
    }
    let part = |at: usize| digits.get(at..at + 2).map_or(Some(0), |it| it.parse::<i64>().ok());
    let seconds = (part(0)? * 60 + part(2)?) * 60 + part(4)?;
    let ahead = SignedDuration::new(seconds, nanoseconds(fraction)?);
    Some(if whole.starts_with('-') { -ahead } else { ahead })
}

#[cfg(test)]
mod tests {
    use super::super::moment::shown::shown;
    use super::*;

    #[track_caller]
    fn reads(format: &str, text: &str, moment: &str) {
        let read = DateFormat::parse(format).expect("format is sound").read(text);
        assert_eq!(shown(read), moment, "{format:?} {text:?}");
    }

    #[track_caller]
    fn refuses(format: &str, message: &str) {
        let problem = DateFormat::parse(format).expect_err("format is unsound");
        assert_eq!(problem.to_string(), message);
    }

    #[test]
    fn numbers_take_what_they_can() {
        reads("%Y-%m-%d", "2016-04-11", "2016-04-11T00:00:00");
        reads("%Y-%m-%d", "2016-4-1", "2016-04-01T00:00:00");
        reads("%Y-%m-%d", "16-04-11", "not a date");
        reads("%Y-%m-%d", "2016-02-30", "not a date");
        reads("%Y-%m-%d", "2016-04-11 ", "not a date");
        reads("%Y-%m-%d", "0000-04-11", "not a date");
        reads("%d/%m/%y", "11/04/68", "2068-04-11T00:00:00");
        reads("%d/%m/%y", "11/04/69", "1969-04-11T00:00:00");
        reads("%m%d", "111", "2000-11-01T00:00:00 -y");
        reads("%m%d", "1", "not a date");
        reads("%d", "123", "not a date");
        reads("%Y%j", "2016060", "2016-02-29T00:00:00");
        reads("%Y%j", "2015366", "2016-01-01T00:00:00");
        reads("%H%M%S", "10301", "2000-01-01T10:30:01 -y -m -d");
        reads("%S", "61", "not a date");
        reads("%S.%f", "15.25", "2000-01-01T00:00:15.25 -y -m -d");
        reads("%Y %d", "2016  1", "2016-01-01T00:00:00 -m");
    }

    #[test]
    fn names_in_either_case() {
        reads("%d %B %Y", "11 APRIL 2016", "2016-04-11T00:00:00");
        reads("%d %b %Y", "11 april 2016", "not a date");
        reads("%A, %d %b", "Monday, 11 apr", "2000-04-11T00:00:00 -y");
        reads("%a", "Fri", "2000-01-01T00:00:00 -y -m -d");
        reads("%I:%M %p", "12:30 am", "2000-01-01T00:30:00 -y -m -d");
        reads("%I %p", "12 Pm", "2000-01-01T12:00:00 -y -m -d");
        reads("%H %p", "10 pm", "2000-01-01T10:00:00 -y -m -d");
        reads("%I", "12", "2000-01-01T00:00:00 -y -m -d");
        reads("%m %b", "3 Apr", "2000-04-01T00:00:00 -y -d");
    }

    #[test]
    fn whitespace_and_literals() {
        reads("%Y %m", "2016 \t04", "2016-04-01T00:00:00 -d");
        reads("%Y %m", "201604", "not a date");
        reads("%Yt%m", "2016T04", "2016-04-01T00:00:00 -d");
        reads("%d%%", "11%", "2000-01-11T00:00:00 -y -m");
        reads("%Y年%m月", "2016年04月", "2016-04-01T00:00:00 -d");
        reads("", "", "2000-01-01T00:00:00 -y -m -d");
        reads("(%Y).", "(2016).", "2016-01-01T00:00:00 -m -d");
    }

    #[test]
    fn offsets_and_zones() {
        reads("%H:%M%z", "10:30+0200", "2000-01-01T10:30:00 +7200s -y -m -d");
        reads("%H:%M%z", "10:30-05:30:15.5", "2000-01-01T10:30:00 -19815.5s -y -m -d");
        reads("%H:%M%z", "10:30Z", "2000-01-01T10:30:00 +0s -y -m -d");
        reads("%H:%M%z", "10:30z", "not a date");
        reads("%H:%M%z", "10:30+01:0203", "not a date");
        reads("%H:%M%z", "10:30+24:00", "not a date");
        reads("%H:%M %Z", "10:30 utc", "2000-01-01T10:30:00 -y -m -d");
        reads("%H:%M %Z", "10:30 EST", "not a date");
    }

    #[test]
    fn weeks() {
        reads("%Y %U %w", "2016 15 1", "2016-04-11T00:00:00");
        reads("%Y %W %a", "2016 15 Mon", "2016-04-11T00:00:00");
        reads("%Y %W %u", "2016 0 1", "2015-12-28T00:00:00");
        reads("%Y %W", "2016 15", "2016-01-01T00:00:00 -m -d");
        reads("%G-W%V-%u", "2016-W15-1", "2016-04-11T00:00:00");
        reads("%G-W%V-%u", "2015-W53-5", "2016-01-01T00:00:00");
        reads("%G-W%V-%u", "2016-W53-7", "2017-01-08T00:00:00");
        reads("%G %V %u", "2016 0 1", "2015-12-28T00:00:00");
        reads("%G-W%V-%u", "2016-W00-1", "not a date");
    }

    #[test]
    fn parts_left_out() {
        reads("%m/%d", "04/11", "2000-04-11T00:00:00 -y");
        reads("%m/%d", "02/29", "not a date");
        reads("%j", "60", "2000-03-01T00:00:00 -y");
        reads("%H:%M", "10:30", "2000-01-01T10:30:00 -y -m -d");
        reads("%c", "Mon Apr 11 10:30:15 2016", "2016-04-11T10:30:15");
        reads("%x %X", "04/11/16 10:30:15", "2016-04-11T10:30:15");
    }

    #[test]
    fn a_format_that_reads_nothing_is_a_problem() {
        refuses(
            "%Y-%q",
            "unknown directive `%q`; accepted are `%%`, `%c`, `%x`, `%X`, `%a`, `%A`, `%b`, `%B`, \
             `%d`, `%f`, `%G`, `%H`, `%I`, `%j`, `%m`, `%M`, `%p`, `%S`, `%U`, `%u`, `%V`, `%w`, \
             `%W`, `%y`, `%Y`, `%z`, `%Z`",
        );
        refuses("%Y-%", "stray `%` at the end; write `%%` for a percent sign");
        refuses("%c %Y", "directive `%Y` stands twice");
        let iso_year = "`%G` needs `%V` and one of `%A`, `%a`, `%u`, `%w`, and no `%j` beside it";
        refuses("%G", iso_year);
        refuses("%G %V %u %j", iso_year);
        let iso_week = "`%V` needs `%G` and one of `%A`, `%a`, `%u`, `%w`, and no `%Y` or `%y`";
        refuses("%V %u", iso_week);
        refuses("%Y %V %u", iso_week);
        refuses(&"-".repeat(LONGEST + 1), "format is longer than 256 bytes");
    }

    #[test]
    fn the_search_stays_short() {
        // One digit or more for each directive makes more ways than could be tried.
        let digits = "%f%H%M%S%d%m%I%j%U%W%V%w%u%y%Y%G";
        let format = DateFormat::parse(digits).expect("format is sound");
        assert_eq!(format.read(&"1".repeat(LONGEST)), None);
        assert_eq!(format.read(&format!("{}x", "1".repeat(20))), None);
    }
}
