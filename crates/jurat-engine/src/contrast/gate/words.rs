//! What a condition found, in words.

use jurat_core::contrast::provenance::Note;
use jurat_core::gate::{Bounds, ConditionReport, More};

use crate::contrast::contrasting::LostRows;
use crate::contrast::table::Table;

pub(super) fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "nothing".to_owned(), |it| format!("{:.1} %", it * 100.0))
}

/// `between 75.2 % and 88.1 %`
pub(super) fn range(bounds: Bounds, shown: impl Fn(f64) -> String) -> String {
    match (bounds.low, bounds.high) {
        (Some(low), Some(high)) => format!("between {} and {}", shown(low), shown(high)),
        (Some(low), None) => format!("at least {}", shown(low)),
        (None, Some(high)) => format!("at most {}", shown(high)),
        (None, None) => "too few to say more".to_owned(),
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

/// Which rows of BASE are not compared, and what to do.
pub(super) fn rows_of_base(lost: &LostRows) -> String {
    let LostRows { absent, changed, of, are_answers } = lost;
    if *are_answers {
        return format!(
            "NEW does not have {absent} of {of} rows of BASE: rows without an `id` are paired by their content, so one whose answer changed has no pair; give rows an `id`, or `allow: [rows]`"
        );
    }
    let absent = (*absent > 0).then(|| format!("NEW does not have {absent} of {of} rows of BASE"));
    let changed = (*changed > 0).then(|| format!("{changed} of {of} rows of BASE have another content in NEW"));
    let what: Vec<String> = absent.into_iter().chain(changed).collect();
    format!("{}: run the same rows, or `allow: [rows]`", what.join(", and "))
}

/// Why a condition that holds as observed is undecided.
pub(super) fn unknown_decides(n: u64) -> String {
    format!("{n} could not be judged, and might decide it; `missing: observed` leaves them out")
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
