//! Gates and what became of them, for people, for pull requests and for continuous integration.

mod json;
mod junit;
mod markdown;
mod text;

pub use json::write_json;
pub use junit::write_junit;
pub use markdown::write_markdown;
pub use text::{write_rehearsal, write_text};

use jurat_core::gate::{GateReport, GateVerdict};

/// `fail: 1 of 4 conditions failed, 1 is undecided`
pub(crate) fn summary(report: &GateReport) -> String {
    let (failed, n) = report.count(GateVerdict::Fail);
    let (undecided, _) = report.count(GateVerdict::Undecided);
    let are = |n: usize| if n == 1 { "is" } else { "are" };
    let conditions = |n: usize| if n == 1 { "condition" } else { "conditions" };
    let verdict = report.verdict.name();
    match (n, failed, undecided) {
        (0, ..) => format!("{verdict}: there is no condition"),
        (_, 0, 0) => format!("{verdict}: {n} {} {} met", conditions(n), if n == 1 { "is" } else { "are" }),
        (_, 0, undecided) => format!("{verdict}: {undecided} of {n} {} {} undecided", conditions(n), are(undecided)),
        (_, failed, 0) => format!("{verdict}: {failed} of {n} {} failed", conditions(n)),
        (_, failed, undecided) => {
            format!("{verdict}: {failed} of {n} {} failed, {undecided} {} undecided", conditions(n), are(undecided))
        }
    }
}

/// What to think of before more rows are added.
pub(crate) const ADVICE: &str = "adding rows until it passes is not a test: decide on the number first";
