//! Whether the statistics of jurat keep their promises, on synthetic comparisons whose truth is known.
//!
//! An interval of 95 % promises to hold the truth in 95 of 100 comparisons, a gate promises to let at most 5 of 100 bad changes pass. Whether they do depends on
//! how many cases there are, on how often they pass and on what they share, and no formula says it for all of them. So comparisons are drawn at random, with seeds that
//! are fixed, and counted; what other products compute from the same draws stands beside it.
//!
//! * [`random`]: numbers from a seed;
//! * [`table`]: settings, shares, and the bars that they must keep;
//! * [`methods`]: what other products compute;
//! * [`rates`], [`paired`], [`clustered`], [`gates`], [`judged`], [`stopping`]: the studies;
//! * [`page`]: `docs/statistics.md`, which holds their tables.
//!
//! The chore draws 20,000 comparisons for each setting. The tests of this package draw fewer, with wider bars, so that a broken method fails them as well.

pub mod clustered;
pub mod gates;
pub mod judged;
pub mod methods;
pub mod page;
pub mod paired;
pub mod random;
pub mod rates;
pub mod stopping;
pub mod table;

use table::{Scale, Study, Table};

/// All studies, in the order of the page.
pub const STUDIES: &[&Study] = &[
    &rates::STUDY,
    &paired::STUDY,
    &clustered::REPEATED,
    &clustered::CLUSTERS,
    &gates::STUDY,
    &gates::CHANGES,
    &judged::STUDY,
    &stopping::SAVED,
    &stopping::ORDERS,
];

/// The tables of all studies.
pub fn tables(scale: Scale) -> Vec<Table> {
    STUDIES.iter().map(|it| it.table(scale)).collect()
}
