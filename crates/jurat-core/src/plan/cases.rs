//! The order of the cases of a run: those of scenarios, those of tasks for agents, those of rows, and of each its variants.
//!
//! Run files have cases by their number, and numbers stay the same whatever is selected. No other module computes with them.

use std::num::NonZeroU64;
use std::ops::Range;

use super::Plan;

/// The place of a case in the order of its run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CaseIx(u64);

impl CaseIx {
    pub const ALL: Range<CaseIx> = CaseIx(0)..CaseIx(u64::MAX);

    /// The case that run files have under this number.
    pub const fn numbered(number: u64) -> CaseIx {
        CaseIx(number)
    }

    /// The number in run files.
    pub const fn number(self) -> u64 {
        self.0
    }

    /// The place in a list that has an entry for each number.
    #[inline]
    pub fn index(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }

    /// All numbers in order, for the entries of such a list.
    pub fn each() -> impl Iterator<Item = CaseIx> + Clone {
        (0..u64::MAX).map(CaseIx)
    }
}

/// Where the evidence of a case comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaseSource {
    /// The row with this index holds it.
    Row(u64),
    /// A model is asked about the row with this index.
    Probe(u64),
    /// The scenario with this index.
    Scenario(usize),
    /// The task for an agent with this index.
    Agent(usize),
}

/// How many numbers each source of cases has: one for each variant, used or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VariantCount(NonZeroU64);

impl VariantCount {
    /// The count for a list of variants. A run without variants has one case for each source.
    pub fn of(n_variants: usize) -> VariantCount {
        VariantCount(NonZeroU64::new(n_variants as u64).unwrap_or(NonZeroU64::MIN))
    }

    /// The place of a case's source among all sources of its run.
    #[inline]
    pub fn place(self, case: CaseIx) -> u64 {
        case.0 / self.0
    }

    #[inline]
    pub fn variant(self, case: CaseIx) -> usize {
        (case.0 % self.0) as usize
    }

    /// A place that a damaged file names may have no number: the last case stands for it, which no run has.
    #[inline]
    pub fn case(self, place: u64, variant: usize) -> CaseIx {
        CaseIx(place.saturating_mul(self.0.get()).saturating_add(variant as u64))
    }

    /// The first case of a source.
    #[inline]
    pub fn first(self, place: u64) -> CaseIx {
        self.case(place, 0)
    }

    /// The numbers of all variants of a source.
    pub fn cases(self, place: u64) -> Range<CaseIx> {
        self.first(place)..self.first(place.saturating_add(1))
    }

    /// A list that has an entry for each case, cut into the entries of each source.
    pub fn by_source<T>(self, entries: &[T]) -> impl Iterator<Item = &[T]> {
        entries.chunks(self.get())
    }

    pub fn get(self) -> usize {
        usize::try_from(self.0.get()).unwrap_or(usize::MAX)
    }
}

/// Which cases a run has, and in which order.
#[derive(Debug, Clone, Copy)]
pub struct CaseLayout {
    n_scenarios: u64,
    n_agent_cases: u64,
    asks_about_rows: bool,
    n_variants: VariantCount,
    /// Scenarios and agents have no prompt of their own, and are run with the variants of the first.
    n_of_first_prompt: usize,
}

impl CaseLayout {
    pub(super) fn of(plan: &Plan, n_variants: usize) -> CaseLayout {
        let n_prompts = plan.ask.as_ref().map_or(1, |it| it.prompts.len().max(1));
        CaseLayout {
            n_scenarios: plan.scenarios.len() as u64,
            n_agent_cases: plan.cases.len() as u64,
            asks_about_rows: plan.ask.is_some(),
            n_variants: VariantCount::of(n_variants),
            n_of_first_prompt: (n_variants / n_prompts).max(1),
        }
    }

    pub fn n_variants(self) -> VariantCount {
        self.n_variants
    }

    pub fn source(self, case: CaseIx) -> CaseSource {
        let place = self.n_variants.place(case);
        match place.checked_sub(self.n_scenarios) {
            None => CaseSource::Scenario(place as usize),
            Some(place) => match place.checked_sub(self.n_agent_cases) {
                None => CaseSource::Agent(place as usize),
                Some(row) => self.of_row(row),
            },
        }
    }

    /// The source that a row is.
    #[inline]
    pub fn of_row(self, row: u64) -> CaseSource {
        if self.asks_about_rows { CaseSource::Probe(row) } else { CaseSource::Row(row) }
    }

    /// Which variant a case is. A row that no model is asked about has none, although scenarios in the same run may have several.
    #[inline]
    pub fn variant(self, case: CaseIx) -> Option<usize> {
        let is_plain_row =
            !self.asks_about_rows && self.n_variants.place(case) >= self.n_scenarios + self.n_agent_cases;
        (!is_plain_row).then(|| self.n_variants.variant(case))
    }

    #[inline]
    pub fn case(self, source: CaseSource, variant: usize) -> CaseIx {
        let place = match source {
            CaseSource::Scenario(ix) => ix as u64,
            CaseSource::Agent(ix) => self.n_scenarios + ix as u64,
            CaseSource::Row(row) | CaseSource::Probe(row) => self.n_scenarios + self.n_agent_cases + row,
        };
        self.n_variants.case(place, variant)
    }

    /// The cases of a source, each with its variant.
    pub fn cases(self, source: CaseSource) -> impl Iterator<Item = (usize, CaseIx)> {
        (0..self.n_cases(source)).map(move |variant| (variant, self.case(source, variant)))
    }

    pub fn n_cases(self, source: CaseSource) -> usize {
        match source {
            CaseSource::Row(_) => 1,
            CaseSource::Probe(_) => self.n_variants.get(),
            CaseSource::Scenario(_) | CaseSource::Agent(_) => self.n_of_first_prompt,
        }
    }

    /// The cases of all scenarios.
    pub fn scenarios(self) -> Range<CaseIx> {
        CaseIx(0)..self.n_variants.first(self.n_scenarios)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn layout() -> impl Strategy<Value = CaseLayout> {
        let counts = (0_u64..4, 0_u64..4, any::<bool>(), 1_usize..4, 0_usize..4);
        counts.prop_map(|(n_scenarios, n_agent_cases, asks_about_rows, n_prompts, n_per_prompt)| CaseLayout {
            n_scenarios,
            n_agent_cases,
            asks_about_rows,
            n_variants: VariantCount::of(n_prompts * n_per_prompt),
            n_of_first_prompt: n_per_prompt.max(1),
        })
    }

    proptest! {
        #[test]
        fn a_number_reads_back_as_source_and_variant(layout in layout(), number in 0_u64..200) {
            let case = CaseIx(number);
            prop_assert_eq!(layout.case(layout.source(case), layout.n_variants().variant(case)), case);
        }

        #[test]
        fn cases_are_numbered_in_the_order_of_their_sources(layout in layout(), n_rows in 0_u64..5) {
            let scenarios = (0..layout.n_scenarios as usize).map(CaseSource::Scenario);
            let agents = (0..layout.n_agent_cases as usize).map(CaseSource::Agent);
            let sources: Vec<CaseSource> = scenarios.chain(agents).chain((0..n_rows).map(|it| layout.of_row(it))).collect();
            let mut last = None;
            for source in sources {
                prop_assert_eq!(layout.cases(source).count(), layout.n_cases(source));
                for (variant, case) in layout.cases(source) {
                    prop_assert!(last < Some(case), "{:?} {:?}", source, variant);
                    prop_assert_eq!(layout.source(case), source);
                    let is_variant = !matches!(source, CaseSource::Row(_));
                    prop_assert_eq!(layout.variant(case), is_variant.then_some(variant));
                    prop_assert_eq!(layout.scenarios().contains(&case), matches!(source, CaseSource::Scenario(_)));
                    last = Some(case);
                }
            }
        }
    }
}
