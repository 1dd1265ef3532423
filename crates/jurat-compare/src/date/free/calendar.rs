//! # Which number is the year
//!
//! Holds the numbers of a date in the order written, with what is certain about them, and decides
//! at the end which is year, month and day.

use jiff::civil::Date;

use super::token::{Token, floor};

/// The numbers that may be year, month or day, in the order written.
#[derive(Default)]
pub(super) struct Calendar {
    values: Vec<u32>,
    /// Which of them must be the year, because it has more than two digits.
    year_at: Option<usize>,
    /// Which of them was written as a month's name.
    month_at: Option<usize>,
}

#[derive(Clone, Copy)]
enum Part {
    Year,
    Month,
    Day,
}

impl Calendar {
    pub(super) fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    pub(super) fn is_full(&self) -> bool {
        self.values.len() == 3
    }

    fn push(&mut self, value: u32) -> Option<()> {
        (!self.is_full()).then(|| self.values.push(value))
    }

    pub(super) fn push_year(&mut self, year: u32) -> Option<()> {
        let is_first = self.year_at.replace(self.values.len()).is_none();
        is_first.then(|| self.push(year))?
    }

    pub(super) fn push_month(&mut self, month: u32) -> Option<()> {
        let is_first = self.month_at.replace(self.values.len()).is_none();
        is_first.then(|| self.push(month))?
    }

    /// Inside a date the width counts: `005` is the year 5.
    pub(super) fn push_digits(&mut self, digits: &str) -> Option<()> {
        if digits.len() > 2 { self.push_year(floor(digits)) } else { self.push(floor(digits)) }
    }

    /// Standing alone only the value counts: `005` is a day.
    pub(super) fn push_value(&mut self, value: u32) -> Option<()> {
        if value > 100 { self.push_year(value) } else { self.push(value) }
    }

    pub(super) fn push_token(&mut self, token: Token<'_>) -> Option<()> {
        match token.month() {
            Some(month) => self.push_month(month),
            None => self.push_digits(token.digits()?),
        }
    }

    pub(super) fn could_be_day(&self, value: u32) -> bool {
        let written = |at: Option<usize>| at.and_then(|it| self.values.get(it)).copied();
        let days = match written(self.month_at) {
            None => 31,
            // In a year not yet known February may have 29 days.
            Some(month) => days_in_month(written(self.year_at).unwrap_or(2000), month).unwrap_or(0),
        };
        (1..=days).contains(&value)
    }

    pub(super) fn year_month_day(&self) -> [Option<u32>; 3] {
        let [mut year, mut month, mut day] = [None; 3];
        for (value, part) in self.values.iter().zip(self.order()) {
            match part {
                Part::Year => year = Some(*value),
                Part::Month => month = Some(*value),
                Part::Day => day = Some(*value),
            }
        }
        // A written century holds for the whole date, so the year 5 in `0005-04-11` stays 5.
        if self.year_at.is_none() {
            year = year.map(nearest_year);
        }
        [year, month, day]
    }

    /// Says which value is which: by what is certain, then by size, then by custom.
    fn order(&self) -> &'static [Part] {
        use Part::{Day, Month, Year};
        let no_day = |value: u32| value > 31;
        match (self.values.as_slice(), self.year_at, self.month_at) {
            ([_], Some(_), _) => &[Year],
            ([_], _, Some(_)) => &[Month],
            ([only], ..) if no_day(*only) => &[Year],
            ([_], ..) => &[Day],

            ([_, _], Some(0), Some(_)) => &[Year, Month],
            ([_, _], Some(_), Some(_)) => &[Month, Year],
            ([_, other], _, Some(0)) if no_day(*other) => &[Month, Year],
            ([_, _], _, Some(0)) => &[Month, Day],
            ([other, _], _, Some(_)) if no_day(*other) => &[Year, Month],
            ([_, _], _, Some(_)) => &[Day, Month],
            ([first, _], ..) if no_day(*first) => &[Year, Month],
            ([_, second], ..) if no_day(*second) => &[Month, Year],
            ([_, _], ..) => &[Month, Day],

            ([_, _, _], Some(0), Some(1)) => &[Year, Month, Day],
            ([_, _, _], Some(0), Some(_)) => &[Year, Day, Month],
            ([_, _, _], Some(1), Some(0)) => &[Month, Year, Day],
            ([_, _, _], Some(1), Some(_)) => &[Day, Year, Month],
            ([_, _, _], Some(_), Some(0)) => &[Month, Day, Year],
            ([_, _, _], Some(_), Some(_)) => &[Day, Month, Year],
            ([_, second, _], _, Some(0)) if no_day(*second) => &[Month, Year, Day],
            ([_, _, _], _, Some(0)) => &[Month, Day, Year],
            ([first, _, _], _, Some(1)) if no_day(*first) => &[Year, Month, Day],
            ([_, _, _], _, Some(1)) => &[Day, Month, Year],
            ([_, second, _], _, Some(_)) if no_day(*second) => &[Day, Year, Month],
            ([_, _, _], _, Some(_)) => &[Year, Day, Month],
            ([_, _, _], Some(0), _) => &[Year, Month, Day],
            ([first, _, _], ..) if no_day(*first) => &[Year, Month, Day],
            ([first, _, _], ..) if *first > 12 => &[Day, Month, Year],
            ([_, _, _], ..) => &[Month, Day, Year],
            _ => &[],
        }
    }
}

/// Returns the year that two digits stand for; a longer one stays.
pub(super) fn nearest_year(year: u32) -> u32 {
    match year {
        0..=75 => 2000 + year,
        76..=99 => 1900 + year,
        _ => year,
    }
}

fn days_in_month(year: u32, month: u32) -> Option<u32> {
    // The calendar repeats every 400 years, and any year may be written.
    let like_year = i16::try_from(2000 + year % 400).ok()?;
    let first = Date::new(like_year, i8::try_from(month).ok()?, 1).ok()?;
    u32::try_from(first.days_in_month()).ok()
}
