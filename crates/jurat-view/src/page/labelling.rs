//! What people say about a task of a case: buttons with their keys, a note, and what was said before.

use maud::{Markup, html};

use crate::part::text::{excerpt, line, lines};
use crate::route::Route;

/// What is shown of the labels of one task of one case.
#[derive(Debug)]
pub(crate) struct Labelling {
    /// What can be said, in the order of the keys; empty where a score is given.
    pub(crate) choices: Vec<String>,
    pub(crate) takes_score: bool,
    /// What the person who looks at the page has said.
    pub(crate) own: Option<String>,
    pub(crate) note: String,
    pub(crate) said: Vec<Said>,
    pub(crate) annotator: String,
    pub(crate) can_write: bool,
    /// The name of the file that labels go to.
    pub(crate) file: String,
    /// Lines of it that cannot be read.
    pub(crate) n_problems: usize,
    /// What is sent with every label, as JSON.
    pub(crate) sent: String,
    /// Where to go on after a label, in a queue.
    pub(crate) queue: Option<Queued>,
}

/// Where a queue goes on.
#[derive(Debug)]
pub(crate) struct Queued {
    pub(crate) next: Route,
}

/// What one person said.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) annotator: String,
    pub(crate) word: String,
    pub(crate) note: String,
    pub(crate) at: Option<String>,
    pub(crate) is_current: bool,
    pub(crate) disagrees: bool,
    pub(crate) is_own: bool,
    pub(crate) is_blind: bool,
}

/// The number of choices that have a key; the key after them is for being unsure.
const MOST_KEYS: usize = 8;

/// The labels of a case. `more` follows them, such as a link to the queue.
pub(crate) fn section(it: &Labelling, more: &Markup) -> Markup {
    html! {
        section.labels aria-labelledby="labels" data-labels=(it.sent) data-next=[it.queue.as_ref().map(|it| it.next.to_string())] {
            h3 id="labels" { "What people say" }
            @if it.can_write { (form(it)) }
            (list(it))
            p.hint {
                @if it.can_write { "Labels of " strong { (line(&it.annotator)) } " are added to " code { (line(&it.file)) } "." }
                @if it.n_problems > 0 { " " (it.n_problems) " lines of it cannot be read: see " code { "jurat calibrate" } "." }
                (more)
            }
        }
    }
}

fn form(it: &Labelling) -> Markup {
    html! {
        noscript { p.hint { "Labels are given with script." } }
        div.choices role="group" aria-label="Your label" {
            @if it.takes_score {
                label { "Score " input type="number" step="any" name="score" value=[it.own.as_deref().filter(|it| *it != "unsure")]; }
                button type="button" data-score="" { "Save" }
            }
            @for (ix, choice) in it.choices.iter().enumerate() { (button(it, ix, choice)) }
            button type="button" data-state="unsure" data-key=(it.choices.len().min(MOST_KEYS) + 1) aria-pressed=(pressed(it, "unsure")) {
                kbd { (it.choices.len().min(MOST_KEYS) + 1) } " unsure"
            }
            @if it.own.is_some() { button type="button" data-state="removed" data-key="0" { kbd { "0" } " take back" } }
        }
        label.note-field { "Note " input type="text" name="note" value=(it.note) maxlength="2000" autocomplete="off"; }
        p.hint data-answer="" role="status" {}
    }
}

fn button(it: &Labelling, ix: usize, choice: &str) -> Markup {
    let key = (ix < MOST_KEYS).then_some(ix + 1);
    html! {
        button type="button" data-label=(choice) data-key=[key] aria-pressed=(pressed(it, choice)) {
            @if let Some(key) = key { kbd { (key) } " " } (excerpt(choice, 40))
        }
    }
}

fn pressed(it: &Labelling, choice: &str) -> &'static str {
    if it.own.as_deref() == Some(choice) { "true" } else { "false" }
}

fn list(it: &Labelling) -> Markup {
    html! {
        @if it.said.is_empty() {
            p.hint { "No label yet." }
        } @else {
            ul.said {
                @for said in &it.said {
                    li class=[(!said.is_current).then_some("other")] {
                        strong { (line(&said.annotator)) } @if said.is_own { " (you)" } ": " span.tag { (line(&said.word)) }
                        @if said.disagrees { " " span.mark.disagrees { "≠ the judge says otherwise" } }
                        @if !said.is_current { " " span.hint { "of another answer; does not count" } }
                        @if said.is_blind { " " span.hint { "given without seeing the judge" } }
                        @if let Some(at) = &said.at { " " time datetime=(at) { (line(at)) } }
                        @if !said.note.is_empty() { p { (lines(&said.note)) } }
                    }
                }
            }
        }
    }
}
