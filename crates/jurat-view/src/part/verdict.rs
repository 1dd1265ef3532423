//! Verdicts: a glyph and a word, never colour alone.

use jurat_core::report::{RunCondition, TaskVerdict};
use jurat_core::verdict::{CaseVerdict, Conclusion};
use jurat_engine::view::Code;
use maud::{Markup, html};

/// How a verdict looks: its glyph, its class in the style sheet, its word, and its word in queries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Look {
    pub(crate) glyph: &'static str,
    pub(crate) class: &'static str,
    pub(crate) word: &'static str,
    pub(crate) query: &'static str,
}

const PASSED: Look = Look { glyph: "✓", class: "passed", word: "passed", query: "passed" };
const FAILED: Look = Look { glyph: "✗", class: "failed", word: "failed", query: "failed" };
const MEASURED: Look = Look { glyph: "≈", class: "measured", word: "measured", query: "measured" };
const SKIPPED: Look = Look { glyph: "–", class: "skipped", word: "skipped", query: "skipped" };
const ERROR: Look = Look { glyph: "!", class: "error", word: "error", query: "error" };
const NOT_RUN: Look = Look { glyph: "○", class: "not-run", word: "not run", query: "not_run" };
const NOT_JUDGED: Look = Look { glyph: "–", class: "skipped", word: "not judged", query: "not_judged" };

pub(crate) fn of_case(verdict: CaseVerdict) -> Look {
    match verdict {
        CaseVerdict::Passed => PASSED,
        CaseVerdict::Failed => FAILED,
        CaseVerdict::Measured => MEASURED,
        CaseVerdict::Error => ERROR,
        CaseVerdict::NotRun => NOT_RUN,
        CaseVerdict::NotJudged => NOT_JUDGED,
    }
}

pub(crate) fn of_task(verdict: TaskVerdict) -> Look {
    match verdict {
        TaskVerdict::Passed => PASSED,
        TaskVerdict::Failed => FAILED,
        TaskVerdict::Measured => MEASURED,
        TaskVerdict::Skipped => SKIPPED,
        TaskVerdict::Error => ERROR,
        TaskVerdict::NotRun => NOT_RUN,
    }
}

/// Of what a run file has.
pub(crate) fn of_code(code: Code) -> Look {
    match code {
        Code::Passed => PASSED,
        Code::Failed => FAILED,
        Code::Measured => MEASURED,
        Code::SkippedByGate | Code::SkippedByError => SKIPPED,
        Code::Error => ERROR,
        Code::NotRun => NOT_RUN,
        Code::NotJudged | Code::Absent => NOT_JUDGED,
    }
}

/// Glyph and word.
pub(crate) fn badge(look: Look) -> Markup {
    html! { span class={ "badge " (look.class) } { span.glyph aria-hidden="true" { (look.glyph) } " " (look.word) } }
}

/// The result of a run.
pub(crate) fn conclusion(conclusion: Conclusion) -> Markup {
    let look = match conclusion {
        Conclusion::Passed => PASSED,
        Conclusion::Failed => FAILED,
        Conclusion::Undecided => Look { word: "undecided", ..ERROR },
        Conclusion::Limited | Conclusion::Nothing | Conclusion::Interrupted => {
            Look { word: conclusion.name(), ..NOT_RUN }
        }
    };
    badge(look)
}

/// How far a run has come.
pub(crate) fn condition(condition: &RunCondition) -> Markup {
    let class = match condition {
        RunCondition::Done => "done",
        RunCondition::Running => "running",
        RunCondition::Stopped(_) | RunCondition::Failed | RunCondition::Killed | RunCondition::Unreadable(_) => "ended",
    };
    let reason = condition.reason().map(|it| it.replace('_', " "));
    html! {
        span class={ "state " (class) } {
            (condition.name())
            @if let (RunCondition::Stopped(_), Some(reason)) = (condition, &reason) { " (" (reason) ")" }
        }
    }
}

/// A verdict by its word, with its glyph: `✓ passed`. Words without a glyph, such as `2/3`, stay as they are.
pub(crate) fn word(word: &str) -> Markup {
    let known = [PASSED, FAILED, MEASURED, SKIPPED, ERROR, NOT_RUN, NOT_JUDGED];
    match known.into_iter().find(|it| it.query == word) {
        Some(Look { glyph, class, word, .. }) => {
            html! { span class={ "verdict " (class) } { span.glyph aria-hidden="true" { (glyph) } " " (word) } }
        }
        None => html! { span.verdict { (word) } },
    }
}
