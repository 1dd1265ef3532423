//! # The time of day
//!
//! Gathers hours, minutes and seconds in whatever way they are written. Nothing is checked until
//! all is read, since a later part may replace an earlier one.

use jiff::civil::Time;

use super::token::{Number, floor};

/// The time of day, part by part; a part read twice has the later value.
#[derive(Default)]
pub(super) struct Clock {
    pub(super) hour: Option<u32>,
    minute: Option<u32>,
    second: Option<u32>,
    microsecond: Option<u32>,
}

impl Clock {
    pub(super) fn is_empty(&self) -> bool {
        [self.hour, self.minute, self.second, self.microsecond] == [None; 4]
    }

    /// `10`, `1030`, `103015`, `103015.25`.
    pub(super) fn unpack(&mut self, number: Number<'_>) -> Option<()> {
        let (hour, rest) = number.whole.split_at_checked(2)?;
        let (minute, second) = rest.split_at_checked(rest.len().min(2))?;
        if number.fraction.is_some() && second.is_empty() {
            return None;
        }
        self.hour = Some(floor(hour));
        if !minute.is_empty() {
            self.minute = Some(floor(minute));
        }
        if !second.is_empty() {
            let whole = second;
            self.set(Unit::Second, Number { whole, ..number });
        }
        Some(())
    }

    pub(super) fn set(&mut self, unit: Unit, number: Number<'_>) {
        let value = Some(number.floor());
        match unit {
            Unit::Hour => {
                self.hour = value;
                self.minute = number.sixtieths().or(self.minute);
            }
            Unit::Minute => {
                self.minute = value;
                self.second = number.sixtieths();
            }
            Unit::Second => {
                self.second = value;
                self.microsecond = Some(number.millionths());
            }
        }
    }

    pub(super) fn time(&self) -> Option<Time> {
        let part = |value: Option<u32>| i8::try_from(value.unwrap_or(0)).ok();
        let nanosecond = i32::try_from(self.microsecond.unwrap_or(0)).ok()? * 1000;
        Time::new(part(self.hour)?, part(self.minute)?, part(self.second)?, nanosecond).ok()
    }
}

/// Before or after noon.
#[derive(Clone, Copy)]
pub(super) enum Half {
    Am,
    Pm,
}

impl Half {
    /// Returns the hour on a 24-hour clock; one that already is stays.
    pub(super) fn hour(self, hour: u32) -> u32 {
        match self {
            Half::Am if hour == 12 => 0,
            Half::Pm if hour < 12 => hour + 12,
            _ => hour,
        }
    }
}

#[derive(Clone, Copy)]
pub(super) enum Unit {
    Hour,
    Minute,
    Second,
}

impl Unit {
    pub(super) fn finer(self) -> Option<Unit> {
        match self {
            Unit::Hour => Some(Unit::Minute),
            Unit::Minute => Some(Unit::Second),
            Unit::Second => None,
        }
    }
}
