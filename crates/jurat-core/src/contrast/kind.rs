//! How a unit of NEW stands to that of BASE, in one word.

use jurat_format::choices;

use super::repetitions::{Repetitions, Standing};

choices! {
    /// How a unit, or a task of one, ended in NEW, seen from BASE. Those that readers look at first come first.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub enum ChangeKind {
        /// It passes less often.
        Regression = "regression",
        /// It passes more often.
        Fix = "fix",
        /// At least one side could not be judged.
        Unknown = "unknown",
        /// NEW lacks it.
        OnlyBase = "only_base",
        /// BASE lacks it.
        OnlyNew = "only_new",
        /// Its row has other content in NEW, so that it is not compared.
        OtherRow = "changed",
        /// It ended alike, or there was nothing to judge on either side.
        Same = "same",
    }
}

impl ChangeKind {
    pub fn of(base: &Repetitions, new: &Repetitions) -> ChangeKind {
        match (base.n() > 0, new.n() > 0, base.against(new)) {
            (true, false, _) => ChangeKind::OnlyBase,
            (false, true, _) => ChangeKind::OnlyNew,
            (_, _, Standing::Unknown) => ChangeKind::Unknown,
            (_, _, Standing::NotApplicable) => ChangeKind::Same,
            (_, _, Standing::Pair) if new.rate() < base.rate() => ChangeKind::Regression,
            (_, _, Standing::Pair) if new.rate() > base.rate() => ChangeKind::Fix,
            (_, _, Standing::Pair) => ChangeKind::Same,
        }
    }

    /// Whether it ended otherwise, or may have.
    pub fn is_change(self) -> bool {
        matches!(self, ChangeKind::Regression | ChangeKind::Fix | ChangeKind::Unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Ending;
    use super::*;

    #[track_caller]
    fn stands(base: &str, new: &str, kind: &str) {
        let read = |words: &str| words.split(' ').filter_map(Ending::named).collect::<Repetitions>();
        assert_eq!(ChangeKind::of(&read(base), &read(new)).name(), kind, "{base} against {new}");
    }

    #[test]
    fn every_pair_of_units_has_a_kind() {
        stands("passed", "failed", "regression");
        stands("passed failed", "passed passed", "fix");
        stands("failed", "failed", "same");
        stands("measured", "measured", "same");
        stands("passed", "error", "unknown");
        stands("passed", "", "only_base");
        stands("", "error", "only_new");
    }
}
