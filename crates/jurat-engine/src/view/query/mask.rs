//! Which cases: a flag for each number of a case.

/// A flag for each case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mask(Vec<bool>);

impl Mask {
    pub(crate) fn all(n: usize) -> Mask {
        Mask(vec![true; n])
    }

    pub(crate) fn none(n: usize) -> Mask {
        Mask(vec![false; n])
    }

    pub(crate) fn of(flags: impl IntoIterator<Item = bool>) -> Mask {
        Mask(flags.into_iter().collect())
    }

    pub fn has(&self, case: u32) -> bool {
        self.0.get(case as usize).copied().unwrap_or(false)
    }

    pub fn count(&self) -> u64 {
        self.0.iter().map(|it| u64::from(*it)).sum()
    }

    /// The cases from one on, in the order of input.
    pub(crate) fn cases_from(&self, from: u32) -> impl Iterator<Item = u32> + '_ {
        let rest = self.0.get(from as usize..).unwrap_or_default();
        rest.iter().zip(from..).filter(|(it, _)| **it).map(|(_, case)| case)
    }

    /// The cases, in the order of input.
    pub fn cases(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().enumerate().filter(|(_, it)| **it).map(|(ix, _)| ix as u32)
    }

    pub(crate) fn and(mut self, other: &Mask) -> Mask {
        self.0.iter_mut().zip(&other.0).for_each(|(it, other)| *it &= other);
        self
    }

    pub(crate) fn or(mut self, other: &Mask) -> Mask {
        self.0.iter_mut().zip(&other.0).for_each(|(it, other)| *it |= other);
        self
    }

    pub(crate) fn not(mut self) -> Mask {
        self.0.iter_mut().for_each(|it| *it = !*it);
        self
    }
}
