//! Settings, what was counted in each, and the bars that it must keep.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{fmt, thread};

/// Something that is simulated in several settings.
#[derive(Debug)]
pub struct Study {
    /// The heading of its table.
    pub title: &'static str,
    /// What the table says, in Markdown.
    pub about: &'static str,
    /// What settings differ in.
    pub settings: &'static [&'static str],
    /// What is counted. Names that begin alike stand together.
    pub counted: &'static [&'static str],
    pub rows: fn(Scale) -> Vec<Row>,
}

/// How much is simulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scale {
    /// Comparisons of each setting.
    pub draws: u64,
    /// Settings with more cases are left out.
    pub most_cases: u64,
}

impl Scale {
    /// What the published tables have.
    pub const FULL: Scale = Scale { draws: 20_000, most_cases: u64::MAX };
}

impl Study {
    pub fn table(&'static self, scale: Scale) -> Table {
        Table { study: self, draws: scale.draws, rows: (self.rows)(scale) }
    }
}

/// What was counted in one setting.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    pub setting: Vec<String>,
    pub shares: Vec<Option<Share>>,
}

/// A share of the draws, and what it must keep.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share {
    pub value: f64,
    /// What the method promises.
    pub nominal: Option<Bar>,
    /// What it is held to: less, where a method is known to fall short.
    pub bar: Option<Bar>,
}

impl Share {
    pub fn promised(self, nominal: Bar) -> Share {
        Share { nominal: Some(nominal), ..self }
    }

    pub fn held_to(self, bar: Bar) -> Share {
        Share { bar: Some(bar), ..self }
    }

    /// Whether it falls short of what the method promises, by more than the draws explain.
    pub fn falls_short(&self, draws: u64) -> bool {
        self.nominal.is_some_and(|it| !it.is_met(self.value, draws))
    }
}

/// What a share must keep.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bar {
    AtLeast(f64),
    /// Up to what the draws themselves may add by chance: three standard errors.
    AtMost(f64),
}

impl fmt::Display for Bar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bar::AtLeast(bar) => write!(f, "at least {:.1} %", bar * 100.0),
            Bar::AtMost(bar) => write!(f, "at most {:.1} %", bar * 100.0),
        }
    }
}

/// The interval of 95 % holds what it is about, but for what whole numbers do.
pub const HELD: Bar = Bar::AtLeast(0.94);

/// False alarms, and bad changes that pass.
pub const ALARMS: Bar = Bar::AtMost(0.05);

impl Bar {
    /// Whether a share of some draws keeps it. With fewer draws than are enough, four standard errors are allowed for.
    fn is_met(self, value: f64, draws: u64) -> bool {
        let error = |bar: f64| (bar * (1.0 - bar) / draws as f64).sqrt();
        let is_few = draws < Scale::FULL.draws;
        match self {
            Bar::AtLeast(bar) => value >= bar - if is_few { 4.0 * error(bar) } else { 0.0 },
            Bar::AtMost(bar) => value <= bar + if is_few { 4.0 } else { 3.0 } * error(bar),
        }
    }
}

/// Counts in how many of the draws something was the case.
#[derive(Debug, Clone, Copy, Default)]
pub struct Counter {
    hits: u64,
    draws: u64,
}

impl Counter {
    pub fn add(&mut self, hit: bool) {
        self.hits += u64::from(hit);
        self.draws += 1;
    }

    pub fn share(&self) -> Share {
        Share { value: self.hits as f64 / self.draws.max(1) as f64, nominal: None, bar: None }
    }
}

/// The rows of a study.
#[derive(Debug)]
pub struct Table {
    pub study: &'static Study,
    pub draws: u64,
    pub rows: Vec<Row>,
}

impl Table {
    /// The shares that miss their bars, in words.
    pub fn misses(&self) -> Vec<String> {
        let mut misses = Vec::new();
        for row in &self.rows {
            for (name, share) in self.study.counted.iter().zip(&row.shares) {
                let Some(Share { value, bar: Some(bar), .. }) = share else { continue };
                if !bar.is_met(*value, self.draws) {
                    let setting = row.setting.join(", ");
                    misses.push(format!(
                        "{}: {setting}: {name}: {:.2} %, {bar} wanted",
                        self.study.title,
                        value * 100.0
                    ));
                }
            }
        }
        misses
    }
}

/// A row for each setting, on all processors. Each setting has a stream of its own, so the result does not depend on who computes it.
pub fn rows<S: Sync>(settings: &[S], row: impl Fn(&S) -> Row + Sync) -> Vec<Row> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    let work = || {
        while let Some((ix, setting)) =
            Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|it| Some((it, settings.get(it)?)))
        {
            let row = row(setting);
            done.lock().expect("no setting panics").push((ix, row));
        }
    };
    thread::scope(|scope| {
        let n = thread::available_parallelism().map_or(1, usize::from);
        (0..n).for_each(|_| drop(scope.spawn(work)));
    });
    let mut done = done.into_inner().expect("no setting panics");
    done.sort_by_key(|it| it.0);
    done.into_iter().map(|it| it.1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_allows_for_what_the_draws_add() {
        assert!(Bar::AtMost(0.05).is_met(0.0546, Scale::FULL.draws));
        assert!(!Bar::AtMost(0.05).is_met(0.0547, Scale::FULL.draws));
        assert!(!Bar::AtLeast(0.94).is_met(0.9399, Scale::FULL.draws));
        assert!(Bar::AtLeast(0.94).is_met(0.91, 1_000));
        assert!(!Bar::AtLeast(0.94).is_met(0.90, 1_000));
    }

    #[test]
    fn rows_stand_in_the_order_of_their_settings() {
        let row = |it: &u64| Row { setting: vec![it.to_string()], shares: Vec::new() };
        let settings: Vec<u64> = (0..50).collect();
        let found: Vec<String> = rows(&settings, row).into_iter().flat_map(|it| it.setting).collect();
        assert_eq!(found, settings.iter().map(ToString::to_string).collect::<Vec<_>>());
    }
}
