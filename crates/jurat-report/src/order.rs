//! The order in which problems are read: from the top of the files to the bottom.

use jurat_format::problem::{Problem, Severity};
use jurat_format::value::SourceId;

/// Where a problem stands among the others. Those about no place in particular come first.
type Place = Option<(SourceId, u32)>;

/// The problems by source, then by where they start; those at one place stay in the order they were found.
pub(crate) fn in_reading_order(problems: &[Problem]) -> Vec<&Problem> {
    let mut ordered: Vec<&Problem> = problems.iter().collect();
    ordered.sort_by_key(|it| place(it));
    ordered
}

/// At most `most` of the problems in reading order. When some must go, warnings go before errors: an author who mends
/// all that is shown should not then meet an error that was there all along.
pub(crate) fn most_pressing(problems: &[Problem], most: usize) -> Vec<&Problem> {
    let mut room_for_warnings = most.saturating_sub(count(problems, Severity::Error));
    let mut pressing = in_reading_order(problems);
    pressing.retain(|it| match it.severity() {
        Severity::Error => true,
        Severity::Warning | Severity::Note if room_for_warnings == 0 => false,
        Severity::Warning | Severity::Note => {
            room_for_warnings -= 1;
            true
        }
    });
    pressing.truncate(most);
    pressing
}

/// How many problems are this bad.
pub(crate) fn count(problems: &[Problem], severity: Severity) -> usize {
    problems.iter().filter(|it| it.severity() == severity).count()
}

fn place(problem: &Problem) -> Place {
    problem.labels.first().map(|it| (it.span.source, it.span.start))
}
