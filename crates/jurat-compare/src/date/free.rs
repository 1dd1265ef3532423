//! # Dates in free form
//!
//! Reads what `dateutil.parser.parse` 2.9 reads, to the same date: ISO forms, packed digits,
//! month names, ordinals, `11/04/2016`, clocks with am and pm, `10h30m`, offsets and `UTC`. An
//! ambiguous `04/11/2016` is month first, and day first only when the first number cannot be a
//! month. The rules are loose on purpose, because that is what authors who come from Python
//! expect: words such as `at`, `of` and `th` are skipped, but an unknown word makes the text
//! something other than a date.
//!
//! Where dateutil asks today's calendar, this reader has a fixed answer:
//!
//! - Absent parts come from [`REFERENCE`] and are marked in [`Moment::missing`].
//! - A two-digit year is the one nearest to 2026: 00 to 75 are 20xx, 76 to 99 are 19xx.
//! - A weekday without a day of the month moves to its first occurrence on or after the date
//!   filled in, so `Friday` is 7 January 2000 with year, month and day all missing. It equals
//!   another `Friday` and differs from `Monday`, and that is all it is good for. Beside a day of
//!   the month a weekday is decoration and may be wrong.
//! - Of zone names only UTC, GMT and Z have a meaning. Any other (`EST`) is read and dropped, even
//!   if it is the machine's own zone.
//!
//! Known differences: a NUL character is not skipped, and text longer than 256 bytes is not
//! read. An offset of a day or more, which dateutil reads and Python then cannot compare, is
//! not a date. A number with a point and one letter at the very end (`10:30.Z`), on which dateutil
//! trips, is read as it is anywhere else.

mod calendar;
mod clock;
mod token;

use jiff::civil::{Date, Weekday};
use jiff::{SignedDuration, ToSpan};

use self::calendar::{Calendar, nearest_year};
use self::clock::{Clock, Unit};
use self::token::{Number, Token, floor, tokens, with_ascii_digits};
use super::moment::{LONGEST, Missing, Moment, REFERENCE};

/// Reads a date in free form, as `dateutil.parser.parse` does.
pub(super) fn read_free(text: &str) -> Option<Moment> {
    if text.len() > LONGEST {
        return None;
    }
    let text = with_ascii_digits(text);
    let tokens = tokens(&text);
    let mut reader = Reader {
        tokens: &tokens,
        at: 0,
        calendar: Calendar::default(),
        weekday: None,
        clock: Clock::default(),
        zone: Zone::default(),
    };
    while reader.at < tokens.len() {
        reader.step()?;
    }
    reader.moment()
}

/// What has been understood so far, and what is still to be read.
struct Reader<'t> {
    tokens: &'t [Token<'t>],
    at: usize,
    calendar: Calendar,
    weekday: Option<Weekday>,
    clock: Clock,
    zone: Zone,
}

impl<'t> Reader<'t> {
    /// Reads one token and those that belong to it.
    fn step(&mut self) -> Option<()> {
        let (token, rest) = self.tokens.get(self.at..)?.split_first()?;
        self.at += 1;
        match token {
            Token::Number(number) => self.number(*number, rest),
            Token::Word(word) => self.word(word, rest),
            Token::Mark('+') if self.clock.hour.is_some() => self.offset(1, rest),
            Token::Mark('-') if self.clock.hour.is_some() => self.offset(-1, rest),
            Token::Mark(_) | Token::Space => token.is_filler().then_some(()),
        }
    }

    /// A number means what its length and its neighbours say, the most specific first.
    fn number(&mut self, number: Number<'t>, rest: &'t [Token<'t>]) -> Option<()> {
        let awaits_clock = self.calendar.is_full() && self.clock.hour.is_none();
        match number.written_len() {
            2 | 4 if awaits_clock && !rest.first().is_some_and(Token::continues_clock) => {
                return self.clock.unpack(number);
            }
            6 if self.calendar.is_empty() => return self.packed_date(number.digits()?, 2),
            6 => return self.clock.unpack(number),
            _ if number.whole.len() == 6 => return self.clock.unpack(number),
            8 => return self.packed_date(number.digits()?, 4),
            12 | 14 => {
                let (date, clock) = number.digits()?.split_at_checked(8)?;
                self.packed_date(date, 4)?;
                return self.clock.unpack(Number::read(clock)?);
            }
            _ => {}
        }
        if let Some((unit, n_used)) = self.unit_of_number(rest) {
            self.at += n_used;
            // A number after seconds has no unit left to take; it is read and dropped.
            if let Some(unit) = unit {
                self.clock.set(unit, number);
            }
            return Some(());
        }
        match rest {
            [Token::Mark(':'), minute, rest @ ..] => self.colon_clock(number, *minute, rest),
            [separator @ Token::Mark('-' | '/' | '.'), rest @ ..] => self.separated_date(number, *separator, rest),
            [next, after, ..] if next.is_filler() && after.half().is_some() => {
                self.at += 2;
                self.clock.hour = after.half().map(|half| half.hour(number.floor()));
                Some(())
            }
            [next, ..] if !next.is_filler() => self.glued(number, *next),
            // Alone, or with a skipped word after it: the "th" in "11th".
            _ => {
                self.at += 1;
                self.calendar.push_value(number.floor())
            }
        }
    }

    /// `160411` or `20160411`.
    fn packed_date(&mut self, digits: &str, year_len: usize) -> Option<()> {
        let (year, month_day) = digits.split_at_checked(year_len)?;
        let (month, day) = month_day.split_at_checked(2)?;
        [year, month, day].into_iter().try_for_each(|it| self.calendar.push_digits(it))
    }

    /// Finds the unit of a number from `h`, `m` or `s` beside it, and how many tokens that uses.
    ///
    /// A unit before the number says it by one step: the 30 in `10h30` is minutes.
    fn unit_of_number(&self, rest: &[Token<'_>]) -> Option<(Option<Unit>, usize)> {
        let before = |n_back: usize| self.tokens.get(self.at.checked_sub(n_back)?);
        match rest {
            [label, ..] if label.unit().is_some() => return Some((label.unit(), 1)),
            [Token::Space, label, ..] if label.unit().is_some() => {
                return Some((label.unit(), 2));
            }
            _ => {}
        }
        let label = match (before(3), before(2)) {
            (_, Some(label)) if label.unit().is_some() => label,
            (Some(label), Some(Token::Space)) if rest.is_empty() => label,
            _ => return None,
        };
        Some((label.unit()?.finer(), 0))
    }

    /// `10:30`, `10:30.5`, `10:30:15.25`.
    fn colon_clock(&mut self, hour: Number<'_>, minute: Token<'_>, rest: &[Token<'_>]) -> Option<()> {
        self.at += 2;
        self.clock.hour = Some(hour.floor());
        self.clock.set(Unit::Minute, minute.number()?);
        if let [Token::Mark(':'), second, ..] = rest {
            self.at += 2;
            self.clock.set(Unit::Second, second.number()?);
        }
        Some(())
    }

    /// `11/04/2016`, `2016-04`, `11-Apr-2016`, and a number with a separator after it.
    fn separated_date(&mut self, number: Number<'_>, separator: Token<'_>, rest: &[Token<'t>]) -> Option<()> {
        self.at += 1;
        self.calendar.push_digits(number.digits()?)?;
        match rest {
            [] => return Some(()),
            [next, ..] if next.is_filler() => return Some(()),
            [next, ..] => self.calendar.push_token(*next)?,
        }
        self.at += 1;
        match rest {
            [_, next, ..] if *next != separator => Some(()),
            [_] | [] => Some(()),
            [_, _, after @ ..] => {
                self.at += 2;
                self.calendar.push_token(*after.first()?)
            }
        }
    }

    /// A number with something other than a skipped word right after it: `10pm`, `11April`.
    fn glued(&mut self, number: Number<'_>, next: Token<'_>) -> Option<()> {
        match next.half() {
            Some(half) if number.floor() < 24 => {
                self.at += 1;
                self.clock.hour = Some(half.hour(number.floor()));
                Some(())
            }
            _ if self.calendar.could_be_day(number.floor()) => self.calendar.push_value(number.floor()),
            _ => None,
        }
    }

    fn word(&mut self, word: &str, rest: &[Token<'t>]) -> Option<()> {
        let token = Token::Word(word);
        if ["nan", "inf", "infinity"].iter().any(|it| it.eq_ignore_ascii_case(word)) {
            // Python takes these for numbers, and no number for a date. Without this rule NAN
            // would pass for the name of a zone.
            return None;
        }
        if let Some(weekday) = token.weekday() {
            self.weekday = Some(weekday);
        } else if let Some(month) = token.month() {
            self.named_month(month, rest)?;
        } else if let Some(half) = token.half() {
            let hour = self.clock.hour.filter(|it| *it <= 12)?;
            self.clock.hour = Some(half.hour(hour));
        } else if let Some(name) = ZoneName::read(word)
            && self.awaits_zone()
        {
            self.named_zone(name, rest)?;
        } else if !token.is_filler() {
            return None;
        }
        Some(())
    }

    /// `April`, `Apr-11-2016`, `April of 2016`.
    fn named_month(&mut self, month: u32, rest: &[Token<'t>]) -> Option<()> {
        self.calendar.push_month(month)?;
        match rest {
            [separator @ Token::Mark('-' | '/'), rest @ ..] => {
                self.at += 2;
                self.calendar.push_digits(rest.first()?.digits()?)?;
                if let [_, next, after @ ..] = rest
                    && next == separator
                {
                    self.at += 2;
                    self.calendar.push_digits(after.first()?.digits()?)?;
                }
            }
            [Token::Space, Token::Word(of), Token::Space, year, ..] if of.eq_ignore_ascii_case("of") => {
                self.at += 4;
                // What follows "of" is a year or it is nothing: dateutil drops any other token.
                if let Some(digits) = year.digits() {
                    self.calendar.push_year(nearest_year(floor(digits)))?;
                }
            }
            _ => {}
        }
        Some(())
    }

    fn awaits_zone(&self) -> bool {
        self.clock.hour.is_some() && self.zone.name.is_none() && self.zone.offset.is_none()
    }

    /// `UTC`, `EST`, `GMT+3`.
    fn named_zone(&mut self, name: ZoneName, rest: &[Token<'t>]) -> Option<()> {
        let (sign, rest) = match rest {
            [Token::Mark('+'), rest @ ..] => (1, rest),
            [Token::Mark('-'), rest @ ..] => (-1, rest),
            _ => {
                self.zone.name = Some(name);
                return Some(());
            }
        };
        self.at += 1;
        // GMT+3 is not GMT, while EST+3 is still some zone.
        self.zone.name = (name != ZoneName::Utc).then_some(name);
        // As in POSIX, GMT+3 names a clock that needs three hours more to show GMT.
        self.offset(-sign, rest)
    }

    /// `+0300`, `-03:00`, `+3`, each with perhaps ` (EST)` after it.
    fn offset(&mut self, sign: i64, rest: &[Token<'t>]) -> Option<()> {
        let hours = rest.first()?.number()?;
        let (hours, minutes, n_used) = match (hours.written_len(), rest) {
            (4, _) => {
                let (hours, minutes) = hours.digits()?.split_at_checked(2)?;
                (hours, minutes, 1)
            }
            (_, [_, Token::Mark(':'), minutes, ..]) => (hours.digits()?, minutes.digits()?, 3),
            (1 | 2, _) => (hours.digits()?, "0", 1),
            _ => return None,
        };
        self.at += n_used;
        let minutes = i64::from(floor(hours)) * 60 + i64::from(floor(minutes));
        self.zone.offset = Some(SignedDuration::from_secs(sign * minutes * 60));

        if let Some([gap, Token::Mark('('), Token::Word(word), Token::Mark(')'), ..]) = rest.get(n_used..)
            && gap.is_filler()
            && self.zone.name.is_none()
            && word.len() >= 3
            && let Some(name) = ZoneName::read(word)
        {
            self.zone.name = Some(name);
            self.at += 4;
        }
        Some(())
    }

    /// Puts the parts together, if there are any and the calendar has such a day.
    fn moment(self) -> Option<Moment> {
        if self.calendar.is_empty() && self.weekday.is_none() && self.clock.is_empty() {
            return None;
        }
        let [year, month, day] = self.calendar.year_month_day();
        let mut date = Date::new(
            year.map_or(Some(REFERENCE.year()), |it| i16::try_from(it).ok())?,
            month.map_or(Some(REFERENCE.month()), |it| i8::try_from(it).ok())?,
            day.map_or(Some(REFERENCE.day()), |it| i8::try_from(it).ok())?,
        )
        .ok()?;
        if let (Some(weekday), None) = (self.weekday, day) {
            date = date.checked_add(date.weekday().until(weekday).days()).ok()?;
        }
        let missing = Missing { year: year.is_none(), month: month.is_none(), day: day.is_none() };
        Moment::new(date, self.clock.time()?, self.zone.offset(), missing)
    }
}

/// What was said about the clock's distance from UTC.
#[derive(Default)]
struct Zone {
    name: Option<ZoneName>,
    offset: Option<SignedDuration>,
}

impl Zone {
    /// The name UTC outweighs an offset beside it.
    fn offset(&self) -> Option<SignedDuration> {
        match self.name {
            Some(ZoneName::Utc) => Some(SignedDuration::ZERO),
            Some(ZoneName::Unknown) | None => self.offset,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ZoneName {
    Utc,
    Unknown,
}

impl ZoneName {
    fn read(word: &str) -> Option<ZoneName> {
        let is_short_capitals = word.len() <= 5 && word.bytes().all(|it| it.is_ascii_uppercase());
        match word {
            "UTC" | "GMT" | "Z" | "z" => Some(ZoneName::Utc),
            _ => is_short_capitals.then_some(ZoneName::Unknown),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::moment::shown::shown;
    use super::*;

    #[track_caller]
    fn reads(text: &str, moment: &str) {
        assert_eq!(shown(read_free(text)), moment, "{text:?}");
    }

    #[test]
    fn iso_forms_and_packed_digits() {
        reads("2016-04-11", "2016-04-11T00:00:00");
        reads("2016-04-11T10:30:15", "2016-04-11T10:30:15");
        reads("2016-04-11 10:30:15.25", "2016-04-11T10:30:15.25");
        reads("2016-04-11t10:30:15,25Z", "2016-04-11T10:30:15.25 +0s");
        reads("20160411", "2016-04-11T00:00:00");
        reads("20160411T103000", "2016-04-11T10:30:00");
        reads("20160411T1030", "2016-04-11T10:30:00");
        reads("20160411T10", "2016-04-11T10:00:00");
        reads("201604111030", "2016-04-11T10:30:00");
        reads("20160411103015", "2016-04-11T10:30:15");
        reads("160411", "2011-04-16T00:00:00");
        reads("160411T103015.5", "2011-04-16T10:30:15.5");
        reads("2016-04", "2016-04-01T00:00:00 -d");
        reads("2016", "2016-01-01T00:00:00 -m -d");
        reads("0005-04-11", "0005-04-11T00:00:00");
    }

    #[test]
    fn the_month_comes_first_unless_it_cannot() {
        reads("04/11/2016", "2016-04-11T00:00:00");
        reads("11/04/2016", "2016-11-04T00:00:00");
        reads("13/04/2016", "2016-04-13T00:00:00");
        reads("04/13/2016", "2016-04-13T00:00:00");
        reads("13/13/2016", "not a date");
        reads("04.11.2016", "2016-04-11T00:00:00");
        reads("2016/04/11", "2016-04-11T00:00:00");
        reads("04-11", "2000-04-11T00:00:00 -y");
        reads("13-04", "not a date");
        reads("04/2016", "2016-04-01T00:00:00 -d");
        reads("99-04-11", "1999-04-11T00:00:00");
        reads("31", "2000-01-31T00:00:00 -y -m");
        reads("32", "2032-01-01T00:00:00 -m -d");
        reads("12 13", "2000-12-13T00:00:00 -y");
        reads("5 4 3 2", "not a date");
    }

    #[test]
    fn names_and_ordinals() {
        reads("11 Apr 2016", "2016-04-11T00:00:00");
        reads("April 11, 2016", "2016-04-11T00:00:00");
        reads("11-APR-2016", "2016-04-11T00:00:00");
        reads("Apr-11-2016", "2016-04-11T00:00:00");
        reads("Apr/11", "2000-04-11T00:00:00 -y");
        reads("11april2016", "2016-04-11T00:00:00");
        reads("Sept. 3rd, 2012", "2012-09-03T00:00:00");
        reads("the 4th of July", "not a date");
        reads("3rd of May 2001", "2001-05-03T00:00:00");
        reads("April of 16", "2016-04-01T00:00:00 -d");
        reads("April 2016", "2016-04-01T00:00:00 -d");
        reads("2016 11 April", "2016-04-11T00:00:00");
        reads("Mon, 11 Apr 2016", "2016-04-11T00:00:00");
        reads("10 April 2016 AD", "2016-04-10T00:00:00");
        reads("Apr Apr 2016", "not a date");
        reads("11 Avril 2016", "not a date");
    }

    #[test]
    fn two_digit_years_lie_near_2026() {
        reads("4/11/16", "2016-04-11T00:00:00");
        reads("4/11/75", "2075-04-11T00:00:00");
        reads("4/11/76", "1976-04-11T00:00:00");
        reads("April '96", "1996-04-01T00:00:00 -d");
        reads("Wed, July 10, '96", "1996-07-10T00:00:00");
    }

    #[test]
    fn clocks() {
        reads("10:30", "2000-01-01T10:30:00 -y -m -d");
        reads("10:30:15.1234567", "2000-01-01T10:30:15.123456 -y -m -d");
        reads("10:30.5", "2000-01-01T10:30:30 -y -m -d");
        reads("10pm", "2000-01-01T22:00:00 -y -m -d");
        reads("10 p.m.", "2000-01-01T22:00:00 -y -m -d");
        reads("12 am", "2000-01-01T00:00:00 -y -m -d");
        reads("12:30 AM", "2000-01-01T00:30:00 -y -m -d");
        reads("13:30 pm", "not a date");
        reads("13 pm", "2000-01-01T13:00:00 -y -m -d");
        reads("pm", "not a date");
        reads("10h30m15s", "2000-01-01T10:30:15 -y -m -d");
        reads("10h30", "2000-01-01T10:30:00 -y -m -d");
        reads("10.5h", "2000-01-01T10:30:00 -y -m -d");
        reads("30 minutes", "2000-01-01T00:30:00 -y -m -d");
        reads("10 hours 30 minutes 15.5 seconds", "2000-01-01T10:30:15.5 -y -m -d");
        reads("24:00", "not a date");
        reads("10:60", "not a date");
        reads("10:30:60", "not a date");
        reads("10:30:15:20", "not a date");
        reads("July 4, 1976 12:01:02am", "1976-07-04T00:01:02");
    }

    #[test]
    fn offsets_and_zone_names() {
        reads("2016-04-11T10:30Z", "2016-04-11T10:30:00 +0s");
        reads("2016-04-11 10:30 UTC", "2016-04-11T10:30:00 +0s");
        reads("2016-04-11 10:30 gmt", "not a date");
        reads("2016-04-11 10:30 EST", "2016-04-11T10:30:00");
        reads("2016-04-11 10:30 EASTERN", "not a date");
        reads("10:30+02:00", "2000-01-01T10:30:00 +7200s -y -m -d");
        reads("10:30 -0530", "2000-01-01T10:30:00 -19800s -y -m -d");
        reads("10:30-5", "2000-01-01T10:30:00 -18000s -y -m -d");
        reads("10:30 GMT+3", "2000-01-01T10:30:00 -10800s -y -m -d");
        reads("10:30 EST+3", "2000-01-01T10:30:00 -10800s -y -m -d");
        reads("10:30 UTC +3", "2000-01-01T10:30:00 +0s -y -m -d");
        reads("10:30 -0300 (BRST)", "2000-01-01T10:30:00 -10800s -y -m -d");
        reads("10:30 +24:00", "not a date");
        reads("10:30 +123", "not a date");
        reads("2016-04-11 NAN", "not a date");
        reads("10:30 NAN", "not a date");
    }

    #[test]
    fn a_lone_weekday_keeps_its_difference() {
        reads("Friday", "2000-01-07T00:00:00 -y -m -d");
        reads("sat", "2000-01-01T00:00:00 -y -m -d");
        reads("Friday 10:30", "2000-01-07T10:30:00 -y -m -d");
        reads("Friday April 2016", "2016-04-01T00:00:00 -d");
        reads("Friday, 11 April 2016", "2016-04-11T00:00:00");
    }

    #[test]
    fn what_is_not_a_date() {
        reads("", "not a date");
        reads(" ", "not a date");
        reads("-", "not a date");
        reads("and", "not a date");
        reads("today", "not a date");
        reads("n/a", "not a date");
        reads("2016-02-30", "not a date");
        reads("2015-02-29", "not a date");
        reads("2016-13-01", "not a date");
        reads("0000-01-01", "not a date");
        reads("2016-04-11 x", "not a date");
        reads("2016-04-11T", "2016-04-11T00:00:00");
        reads("10000-01-01", "not a date");
        reads("nan", "not a date");
        reads("1460370600", "not a date");
        reads("12,5.3", "not a date");
        reads("é", "not a date");
    }

    #[test]
    fn where_dateutil_trips() {
        reads("10:30.Z", "2000-01-01T10:30:00 +0s -y -m -d");
        reads("18.m", "2000-01-18T00:00:00 -y -m");
    }

    #[test]
    fn digits_of_any_script() {
        reads("２０１６-０４-１１", "2016-04-11T00:00:00");
        reads("۲۰۱۶/۰۴/۱۱", "2016-04-11T00:00:00");
        reads("11²", "not a date");
    }

    #[test]
    fn long_text_is_not_a_date() {
        reads(&format!("2016-04-11{}", " ".repeat(LONGEST - 10)), "2016-04-11T00:00:00");
        reads(&format!("2016-04-11{}", " ".repeat(LONGEST - 9)), "not a date");
        reads(&"9".repeat(LONGEST), "not a date");
        reads(&format!("0.{}h", "9".repeat(LONGEST - 3)), "2000-01-01T00:59:00 -y -m -d");
    }

    #[test]
    fn any_three_pieces_are_read_or_refused() {
        let pieces = "2016|10:|30|.|,|-|+|/|(|T|am|Apr|of|EST|h| |é|年|\u{0}|\u{1f600}";
        let pieces: Vec<&str> = pieces.split('|').collect();
        for first in &pieces {
            for second in &pieces {
                for third in &pieces {
                    let moment = read_free(&[*first, *second, *third].concat());
                    assert!(moment.is_none_or(|it| it.date().year() >= 1));
                }
            }
        }
    }
}
