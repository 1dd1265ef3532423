//! Whether a judge can be trusted: what it says against what people say of the same cases.
//!
//! Everything here is a plain function of labels and verdicts; the order in which they are handed in changes nothing. Reading order:
//!
//! * [`Scale`]: what people and the judge choose from; [`Rated`]: a case that both rated; [`gold`]: what people say of it together;
//! * [`choose`]: which cases to label, by strata, from a seed;
//! * [`measure`]: every figure with its interval ([`Figures`]);
//! * [`SlotFigures`]: a judge with itself, and judges with each other;
//! * [`ProbeResult`]: what a judge says when something changes that should not matter;
//! * [`CorrectedRate`]: a pass rate as people would have judged;
//! * [`Calibration`]: all of it as a file, bound to the definition of the judge.

mod choice;
mod correction;
mod drift;
mod estimate;
mod figures;
mod file;
mod probe;
mod rated;
mod scale;
mod slots;

pub use choice::{Candidate, Chosen, choose};
pub use correction::{CorrectedDifference, CorrectedRate, CorrectionMethod, LabelledDifferences};
pub use drift::Drift;
pub use estimate::Estimate;
pub use figures::{
    Advice, AlphaFigures, AnnotatorFigures, AnnotatorPair, Commonest, Figures, LabelFigures, MeasureOptions, measure,
};
pub use file::{Calibration, CalibrationError, Changed, Fit, JudgeIdentity, JudgeParts, LabelCounts, RatedCase};
pub use probe::{ProbeKind, ProbePair, ProbeResult, SelfPreference, probed, self_preference};
pub use rated::{Design, Population, Rated, gold};
pub use scale::{FAIL, Misread, PASS, Scale};
pub use slots::{SlotFigures, SlotPair, slot_figures};
