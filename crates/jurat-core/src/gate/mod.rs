//! Gates: what a change must not do, and whether it does.
//!
//! A [`Policy`] is what an author writes under `gates`. Each of its conditions has three verdicts: it passes, it fails, or there is not enough data to say.
//!
//! * [`policy`]: how it is written;
//! * [`Measure`]: what a condition found, from which [`decide`] concludes;
//! * [`GateReport`]: what there is to say.

mod condition;
pub mod policy;
mod report;

pub use condition::{
    Bounds, Conclusion, Decided, GateVerdict, Measure, Wants, condition_verdict, decide, is_decided_as_observed,
    overall,
};
pub use policy::{AgreementMeasure, Condition, JudgeBound, Kind, Limit, Missing, Policy, RepetitionRule, Selector};
pub use report::{ConditionReport, GateReport, More, Rehearsal};
