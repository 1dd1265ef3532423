//! How a unit ended in all its repetitions, and whether two units can be compared.

/// How a task or a case ended once, as far as comparing goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Ending {
    Passed,
    Failed,
    Measured,
    Skipped,
    Error,
    NotRun,
    /// The task is not for this case.
    Absent,
}

impl Ending {
    pub const COUNT: usize = Ending::ALL.len();

    /// All of them, each at the place of its number.
    pub const ALL: [Ending; 7] = [
        Ending::Passed,
        Ending::Failed,
        Ending::Measured,
        Ending::Skipped,
        Ending::Error,
        Ending::NotRun,
        Ending::Absent,
    ];

    /// One word for it, as reports have it.
    pub fn name(self) -> &'static str {
        match self {
            Ending::Passed => "passed",
            Ending::Failed => "failed",
            Ending::Measured => "measured",
            Ending::Skipped => "skipped",
            Ending::Error => "error",
            Ending::NotRun => "not_run",
            Ending::Absent => "absent",
        }
    }

    /// What a word of [`Ending::name`] means. A case that gates led past everything counts as skipped.
    pub fn named(word: &str) -> Option<Ending> {
        match word {
            "not_judged" => Some(Ending::Skipped),
            word => Ending::ALL.into_iter().find(|it| it.name() == word),
        }
    }
}

/// How a unit ended in all its repetitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Repetitions([u32; Ending::COUNT]);

/// Whether two units can be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Both are known.
    Pair,
    /// At least one of them could not be judged.
    Unknown,
    /// There was nothing to judge on either side.
    NotApplicable,
}

impl Repetitions {
    #[inline]
    pub fn add(&mut self, ending: Ending) {
        self.0[ending as usize] += 1;
    }

    #[inline]
    pub fn count(&self, ending: Ending) -> u32 {
        self.0[ending as usize]
    }

    /// How many repetitions there are. A unit that its side lacks has none.
    #[inline]
    pub fn n(&self) -> u32 {
        self.0.iter().sum()
    }

    #[inline]
    pub fn passed(&self) -> u32 {
        self.count(Ending::Passed)
    }

    /// How many of them passed or failed.
    #[inline]
    pub fn judged(&self) -> u32 {
        self.count(Ending::Passed) + self.count(Ending::Failed)
    }

    /// The share of what was judged that passed.
    #[inline]
    pub fn rate(&self) -> Option<f64> {
        let judged = self.judged();
        (judged > 0).then(|| f64::from(self.passed()) / f64::from(judged))
    }

    /// The rate if all that could not be judged had failed.
    pub fn least(&self) -> f64 {
        f64::from(self.passed()) / f64::from(self.n().max(1))
    }

    /// The rate if all that could not be judged had passed.
    pub fn most(&self) -> f64 {
        let failed = f64::from(self.count(Ending::Failed));
        1.0 - failed / f64::from(self.n().max(1))
    }

    /// Whether it passed at one time and failed at another.
    pub fn is_flaky(&self) -> bool {
        0 < self.passed() && self.passed() < self.judged()
    }

    /// How it ended, in one word; `mixed` when repetitions differ.
    pub fn word(&self) -> &'static str {
        self.only().map_or("mixed", Ending::name)
    }

    /// How all repetitions ended, when they ended alike.
    pub fn only(&self) -> Option<Ending> {
        Ending::ALL.into_iter().find(|it| self.n() > 0 && self.count(*it) == self.n())
    }

    /// Whether this unit of BASE and one of NEW can be compared.
    #[inline]
    pub fn against(&self, new: &Repetitions) -> Standing {
        if self.judged() > 0 && new.judged() > 0 {
            return Standing::Pair;
        }
        let nothing = [Ending::Skipped, Ending::Measured, Ending::Absent];
        let is_alike = self.only().is_some_and(|it| nothing.contains(&it)) && self.only() == new.only();
        if is_alike { Standing::NotApplicable } else { Standing::Unknown }
    }

    /// Whether there is one repetition, and it passed or failed: its rate is the least and the most that it can be.
    #[inline]
    pub(super) fn is_one_judged(&self) -> bool {
        self.judged() == 1 && self.n() == 1
    }
}

impl FromIterator<Ending> for Repetitions {
    fn from_iter<I: IntoIterator<Item = Ending>>(endings: I) -> Repetitions {
        let mut repetitions = Repetitions::default();
        endings.into_iter().for_each(|it| repetitions.add(it));
        repetitions
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn stands(base: &str, new: &str, standing: Standing) {
        let read = |words: &str| words.split(' ').filter_map(Ending::named).collect::<Repetitions>();
        assert_eq!(read(base).against(&read(new)), standing, "{base} against {new}");
        assert_eq!(read(new).against(&read(base)), standing, "{new} against {base}");
    }

    #[test]
    fn only_what_was_judged_on_both_sides_is_a_pair() {
        stands("passed", "failed", Standing::Pair);
        stands("passed error", "failed not_run", Standing::Pair);
        stands("passed", "error", Standing::Unknown);
        stands("error", "error", Standing::Unknown);
        stands("not_run", "passed", Standing::Unknown);
        stands("skipped", "passed", Standing::Unknown);
        stands("measured", "passed", Standing::Unknown);
        stands("skipped", "measured", Standing::Unknown);
        stands("skipped", "not_judged", Standing::NotApplicable);
        stands("measured", "measured", Standing::NotApplicable);
        stands("absent", "absent", Standing::NotApplicable);
    }

    #[test]
    fn what_could_not_be_judged_bounds_a_rate() {
        let unit: Repetitions = [Ending::Passed, Ending::Failed, Ending::Error, Ending::Skipped].into_iter().collect();
        assert_eq!((unit.rate(), unit.least(), unit.most()), (Some(0.5), 0.25, 0.75));
        assert_eq!(unit.word(), "mixed");
        assert!(unit.is_flaky());
    }
}
