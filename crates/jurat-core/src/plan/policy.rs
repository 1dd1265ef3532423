//! Names and figures in `gates` that the suite does not have. A condition on nothing would stay undecided for ever.

use jurat_format::codes;
use jurat_format::id::same_id;
use jurat_format::problem::{Problem, Problems, listed_all, nearest};
use jurat_format::value::{FieldPath, Spanned};

use super::Samples;
use super::context::{Known, Read, Reader, examine_base};
use super::selection::{known_tags, unknown_tag};
use crate::gate::{Condition, Kind, Selector};
use crate::section::lost::Part;
use crate::suite::{Suite, TaskKind};

pub(super) fn examine(known: Known<'_>, samples: &Samples, problems: &mut Problems) {
    let tags = known_tags(known.suite, samples);
    for condition in known.suite.gates.iter().flat_map(|it| &it.conditions) {
        let Condition { selector: Selector { tag, slice, .. }, .. } = condition;
        if let Some(tag) = tag
            && problems.has_room(&codes::NO_SUCH_CASE)
        {
            problems.extend(tags.as_ref().and_then(|it| unknown_tag(tag, it)));
        }
        if let Some((path, value)) = slice {
            let read = Read::new(&path.value, path.span);
            if let Some(base) = known.bases.and_then(|it| it.of_all(known.suite)) {
                examine_base(known.suite, Reader::Suite, base, &read, problems);
            }
            problems.extend(empty_slice(path, value, samples));
        }
        problems.extend(unmeasured_score(known.suite, condition));
        problems.extend(unmeasured_amount(known.suite, condition));
    }
}

/// A slice with a value that no row has, where all rows are known.
fn empty_slice(path: &Spanned<FieldPath>, value: &str, samples: &Samples) -> Option<Problem> {
    if samples.is_partial || samples.ids.is_none() {
        return None;
    }
    let text = |row: &_| path.value.find(row).ok().map(|it| it.as_str().map_or_else(|| it.to_string(), str::to_owned));
    let mut found: Vec<String> = samples.rows.iter().filter_map(text).collect();
    // About a path that leads nowhere there is more to say.
    if found.is_empty() || found.iter().any(|it| it == value) {
        return None;
    }
    found.sort_unstable();
    found.dedup();
    let message = format!("no row has `{value}` at `{}`", path.value);
    let problem = Problem::new(&codes::NO_SUCH_CASE, message).at(path.span, "selects no case");
    let names = || found.iter().map(String::as_str);
    Some(match nearest(value, names()) {
        Some(near) => problem.help(format!("did you mean `{near}`?")),
        None => problem.help(format!("there are {}", listed_all(names()))),
    })
}

/// A comparison of data passes or fails; only tasks that ask something give scores.
fn unmeasured_score(suite: &Suite, condition: &Condition) -> Option<Problem> {
    let task = condition.selector.task.as_ref().filter(|_| condition.selector.is_score)?;
    let mut tasks = suite.tasks.iter().filter(|it| same_id(&it.id.value, &task.value)).peekable();
    let has_none = tasks.peek().is_some() && tasks.all(|it| matches!(it.kind, TaskKind::Assert));
    has_none.then(|| {
        let message = format!("`{}` has no score to compare", task.value);
        let problem = Problem::new(&codes::UNMEASURED_THRESHOLD, message).at(task.span, "of which score?");
        problem.help("judges, evaluators and outcomes give scores; for the pass rate leave `score` out")
    })
}

/// Recorded answers took what they took: only what a run asks for is counted.
fn unmeasured_amount(suite: &Suite, condition: &Condition) -> Option<Problem> {
    let is_amount =
        matches!(condition.kind, Kind::Cost(_) | Kind::Tokens(_) | Kind::LatencyMs(_) | Kind::LatencyP95Ms(_));
    let asks = suite.ask.is_some() || suite.defines_cases() || suite.lost.any(Part::Ask) || suite.lost.any(Part::Case);
    (is_amount && !asks).then(|| {
        let message = format!("this suite asks no subject, so `{}` is not known of any case", condition.kind.name());
        let problem = Problem::new(&codes::UNMEASURED_THRESHOLD, message).at(condition.id.span, "of which answers?");
        problem.help("the answers are recorded; to judge what your rows have, compare it in a task with `less_than`")
    })
}
