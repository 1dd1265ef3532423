//! What a condition found, in words.

use jurat_core::contrast::provenance::Note;
use jurat_core::gate::{Bounds, Condition, ConditionReport, More};

use crate::contrast::contrasting::LostRows;
use crate::contrast::table::Table;
use crate::stopping_record::LostRowsRecord;

pub(super) fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "nothing".to_owned(), |it| format!("{:.1} %", it * 100.0))
}

/// `between 75.2 % and 88.1 %`
pub(super) fn range(bounds: Bounds, shown: impl Fn(f64) -> String) -> String {
    match (bounds.low, bounds.high) {
        (Some(low), Some(high)) => format!("between {} and {}", shown(low), shown(high)),
        (Some(low), None) => format!("at least {}", shown(low)),
        (None, Some(high)) => format!("at most {}", shown(high)),
        (None, None) => "too few for a conclusion".to_owned(),
    }
}

/// Why a difference is not the subject's alone, and what to do.
pub(super) fn differs(note: &Note, base: Option<&dyn Table>, new: &dyn Table) -> String {
    let word = note.finding.hinders().unwrap_or("definition");
    let base = base.map_or("BASE", |it| it.side().name.as_str());
    let suite = &new.side().suite;
    match word {
        "judge" => format!(
            "the judge changed ({} → {}): judge BASE again with `jurat run SUITE --replay {base} --model judge=…`, or `allow: [judge]`",
            note.was, note.now
        ),
        "suite" => format!("BASE is a run of another suite than `{suite}`"),
        word => format!("the {word} changed ({} → {}): run BASE again, or `allow: [{word}]`", note.was, note.now),
    }
}

/// Why verdicts of cases do not compare, and what to do.
pub(super) fn task_of(task: &str, side: &str, base: Option<&dyn Table>) -> String {
    let base = base.map_or("BASE", |it| it.side().name.as_str());
    format!(
        "only {side} has the task `{task}`, so cases do not pass by the same tasks: judge BASE by this suite with `jurat run SUITE --replay {base}`, name a `task` that both have, or `allow: [task]`"
    )
}

/// A task that a side does not have.
pub(super) fn no_task(side: &str, task: &str) -> String {
    format!("{side} has no task `{task}`; `allow: [task]` leaves such tasks out of `task: \"*\"`")
}

/// Which rows of BASE are not compared, and what to do.
pub(super) fn rows_of_base(lost: &LostRows, condition: &Condition) -> String {
    let LostRows { absent, changed, left, of, are_answers } = lost;
    let rows = match condition.selector.selects_rows() {
        true => format!("{of} rows of BASE that it selects"),
        false => format!("{of} rows of BASE"),
    };
    if *are_answers {
        return format!("NEW does not have {absent} of {rows}: {NAMELESS}");
    }
    let absent = (*absent > 0).then(|| format!("NEW does not have {absent} of {rows}"));
    let changed = (*changed > 0).then(|| format!("{changed} of {rows} have another content in NEW"));
    let left = (*left > 0).then(|| format!("{left} of {rows} do not have its tag or value in NEW"));
    let what: Vec<String> = absent.into_iter().chain(changed).chain(left).collect();
    format!("{}: run the same rows, or `allow: [rows]`", what.join(", and "))
}

/// The rows that a decided comparison leaves out.
pub(super) fn rows_not_compared(lost: &LostRows) -> String {
    let are = if lost.n() == 1 { "is" } else { "are" };
    format!(", and {} of {} rows of BASE {are} not compared", lost.n(), lost.of)
}

/// Why rows without an id are lost, and what to do.
const NAMELESS: &str = "rows without an `id` are paired by their content, so one whose answer changed has no pair; give rows an `id`, or `allow: [rows]`";

/// The rows of BASE that were not in the data of a run that stopped early.
pub(super) fn rows_of_stopped(lost: &LostRowsRecord) -> String {
    let LostRowsRecord { n, of, are_answers } = lost;
    let why = if *are_answers { NAMELESS } else { "run the same rows, or `allow: [rows]`" };
    format!("the data of NEW did not have {n} of {of} rows of BASE, or had another content under their ids: {why}")
}

/// Rows are lost, and whether the condition selects them is not known.
pub(super) fn unknown_rows_of_base(lost: &LostRows) -> String {
    let (n, of) = (lost.n(), lost.of);
    format!(
        "{n} of {of} rows of BASE are not compared, and whether it selects them is not known: some rows of BASE cannot be read, because their file was changed or moved since the run; run the same rows, or `allow: [rows]`"
    )
}

/// Why a condition that holds as observed is undecided.
pub(super) fn unknown_decides(n: u64) -> String {
    let cases = if n == 1 { "1 case".to_owned() } else { format!("{n} cases") };
    format!("{cases} could not be judged, and might decide it; `missing: observed` leaves them out")
}

/// What a condition says, for people who read one line.
pub(super) fn sentence(condition: &ConditionReport) -> String {
    let ConditionReport { id, found_words, wanted_words, reason, verdict, more, .. } = condition;
    let mut text = format!("{}: `{id}`: ", verdict.name());
    text += &match (found_words.is_empty(), wanted_words.is_empty()) {
        (true, _) => reason.clone(),
        (false, true) => found_words.clone(),
        (false, false) => format!("{found_words}; wanted: {wanted_words}"),
    };
    if !reason.is_empty() && !found_words.is_empty() {
        text += &format!("; {reason}");
    }
    text.push('.');
    text += &more.as_ref().map_or_else(String::new, more_words);
    text
}

fn more_words(more: &More) -> String {
    let Some((total, added)) = more.rows else {
        return " More rows will not decide this: it is at the bound.".to_owned();
    };
    let cost = more.usd.map_or_else(String::new, |it| format!(", about ${it:.2}"));
    let calls = more.calls.map_or_else(String::new, |it| format!(", {it} calls"));
    format!(" About {total} cases in all would decide it ({added} more{calls}{cost}).")
}
