//! The dimensions of checks, and the score of each.

use jurat_format::form::Form;
use jurat_format::value::Spanned;

use crate::section::lost::Part;
use crate::section::{Heading, Section};
use crate::verdict::Verdict;

/// The usual dimensions. Suites may declare more.
pub const DIMENSIONS: [&str; 6] = ["task", "process", "autonomy", "closeness", "efficiency", "spark"];

pub(crate) const SECTION: Section<Vec<Spanned<String>>> = Heading::new(
    "dimensions",
    Form::List(&Form::Id),
    "names of dimensions beyond the built-in ones",
    &[Part::Dimension],
)
.read(|reading, lost, known, at| {
    let n_before = reading.n_errors();
    let items = reading.list("`dimensions`", "a list of names", at.node);
    let names: Vec<_> = items.iter().filter_map(|it| reading.id("a dimension", it)).collect();
    lost.add_if(reading.n_errors() > n_before, &[Part::Dimension]);
    known.extend(names);
});

/// The score of one dimension.
#[derive(Debug, Clone, PartialEq)]
pub struct DimensionScore {
    pub name: String,
    pub passed: u32,
    pub failed: u32,
    /// How many could not be decided. They are no part of the score.
    pub errored: u32,
}

impl DimensionScore {
    /// From 0 to 10: the share of those decided that passed. `None` when none was.
    pub fn score(&self) -> Option<f64> {
        let decided = self.passed + self.failed;
        (decided > 0).then(|| 10.0 * f64::from(self.passed) / f64::from(decided))
    }
}

/// The scores of all dimensions that any check names: the usual ones first, in their order, then the others by name.
pub fn dimension_scores<'c>(checks: impl IntoIterator<Item = (&'c [String], &'c Verdict)>) -> Vec<DimensionScore> {
    let mut scores: Vec<DimensionScore> = Vec::new();
    for (dimensions, verdict) in checks {
        for name in dimensions {
            let ix = scores.iter().position(|it| it.name == *name).unwrap_or_else(|| {
                scores.push(DimensionScore { name: name.clone(), passed: 0, failed: 0, errored: 0 });
                scores.len() - 1
            });
            let score = &mut scores[ix];
            match verdict {
                Verdict::Passed => score.passed += 1,
                Verdict::Failed(_) => score.failed += 1,
                Verdict::Error(_) => score.errored += 1,
                Verdict::Measured | Verdict::Skipped(_) | Verdict::NotRun(_) => {}
            }
        }
    }
    let rank = |name: &str| DIMENSIONS.iter().position(|it| *it == name).unwrap_or(DIMENSIONS.len());
    scores.sort_by(|left, right| (rank(&left.name), &left.name).cmp(&(rank(&right.name), &right.name)));
    scores
}
