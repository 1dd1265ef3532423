//! The cases of a comparison: those that a query finds, with how they ended before and now, what was answered, and why they changed.

use jurat_core::contrast::{Cause, Change, ChangeKind, Contrast, TaskChange};
use jurat_engine::contrast::{ShownUnit, UnitCounts};
use jurat_report::comparison::phrases;
use jurat_report::{counted, grouped};
use maud::{Markup, html};

use super::ComparePage;
use crate::changes::{Listed, ROWS};
use crate::part::text::{line, sentence};
use crate::part::{diff, query, verdict};
use crate::route::{Compare, CompareCase, Route, VariantName};

/// What a query of a comparison can say.
pub(super) const EXAMPLES: [query::Example; 9] = [
    ("change:regression,fix", "how the case stands to BASE: any of these"),
    (
        "change:unknown,only_base,only_new,changed,same",
        "not judged on a side, on one side alone, another row, no change",
    ),
    ("change:tone=regression", "how a task stands to BASE"),
    ("delta:quality<-0.1", "how far the score of a task moved; its pass rate, where it has no score"),
    ("cause:evidence,definition,judge,fault", "why the case ended otherwise"),
    ("verdict:failed  task:tone=error  cost>0.01", "what a case of NEW is, in the words of the cases of a run"),
    ("id:abc*  group:lang=de  subject:gpt-5  prompt:short", "which cases"),
    ("refund  \"two words\"", "a text in ids"),
    ("-cause:judge  (a OR b)", "not; one of several"),
];

pub(super) fn list(page: &ComparePage<'_>, contrast: &Contrast, listed: &Listed) -> Markup {
    html! {
        div.head {
            h3 id=[page.is_served.then(|| anchor(page, contrast))] { "Cases" @if page.wanted.q.is_empty() { " that changed" } }
            @if page.is_served && page.listed.len() == 1 { (form(&page.wanted, false)) }
        }
        @if page.is_served {
            (chips(page, contrast, &listed.counts))
            @if !page.wanted.q.is_empty() { (query::terms(&listed.terms, |q| with(page, q))) }
        }
        @if listed.n_fitting == 0 {
            p.about { @if !page.wanted.q.is_empty() { "No case fits this query." } @else { "No case changed." } }
        } @else if listed.rows.is_empty() {
            (count(page, listed))
            p.about { "This page is behind the last one. " a href={ (with(page, page.wanted.q.clone())) "#" (anchor(page, contrast)) } { "To the first page" } }
        } @else {
            (count(page, listed))
            div.scroll tabindex="0" role="region" aria-label="Cases compared" {
                table.rows.changes {
                    thead {
                        tr {
                            th scope="col" { "Case" }
                            th scope="col" { "Change" }
                            th scope="col" { "Tasks" }
                            th scope="col" { "Answer" }
                            th scope="col" { "Why" }
                        }
                    }
                    tbody { @for unit in &listed.rows { (row(page, contrast, unit)) } }
                }
            }
            (pager(page, contrast, listed))
        }
    }
}

/// The place of the cases of one NEW in the page.
pub(super) fn anchor(page: &ComparePage<'_>, contrast: &Contrast) -> String {
    if page.listed.len() == 1 { "cases".to_owned() } else { format!("cases-{}", contrast.new) }
}

pub(super) fn form(wanted: &Compare, is_wrong: bool) -> Markup {
    html! {
        form.filter method="get" action="/compare" role="search" {
            input type="hidden" name="base" value=(wanted.base);
            @for new in &wanted.new { input type="hidden" name="new" value=(new); }
            input type="search" name="q" value=(wanted.q) placeholder="change:tone=regression -cause:judge" aria-label="Search the cases" autocomplete="off" autocapitalize="off" spellcheck="false" aria-invalid=[is_wrong.then_some("true")];
        }
    }
}

/// Where a page has the first cases of several NEWs, or of a file.
fn first_ones(page: &ComparePage<'_>, contrast: &Contrast) -> Markup {
    let new = page.wanted.new.get(contrast.new.saturating_sub(1)).cloned();
    let alone = Route::Compare(Compare { new: new.into_iter().collect(), from: 0, ..page.wanted.clone() });
    html! {
        p.hint {
            "The first " (ROWS) ". "
            @if page.is_served { a href={ (alone) "#cases" } { "Compare this run alone with BASE" } " to see all." }
            @else { "Compare this run alone with BASE to see all." }
        }
    }
}

fn with(page: &ComparePage<'_>, q: String) -> Route {
    Route::Compare(Compare { q, from: 0, ..page.wanted.clone() })
}

fn count(page: &ComparePage<'_>, listed: &Listed) -> Markup {
    let changed = listed.counts.kinds.iter().filter(|it| it.0.is_change()).map(|it| it.1).sum();
    let all = listed.counts.kinds.values().sum();
    html! {
        p.about aria-live="polite" {
            (grouped(listed.n_fitting)) " of "
            @if page.wanted.q.is_empty() { (counted(changed, "case")) " that changed or could not be compared" }
            @else { (counted(all, "case")) " of either run" }
        }
    }
}

/// Selections that are one click away, each with its number.
fn chips(page: &ComparePage<'_>, contrast: &Contrast, counts: &UnitCounts) -> Markup {
    let chip = |q: String, words: Markup, n: u64| {
        let is_current = page.wanted.q == q;
        html! { a.chip href={ (with(page, q)) "#" (anchor(page, contrast)) } aria-current=[is_current.then_some("true")] { (words) " " strong { (grouped(n)) } } }
    };
    let changed = counts.kinds.iter().filter(|it| it.0.is_change()).map(|it| it.1).sum();
    html! {
        p.chips {
            (chip(String::new(), html! { "all that changed" }, changed))
            @for (kind, n) in &counts.kinds { (chip(format!("change:{}", kind.name()), html! { (kind_words(*kind)) }, *n)) }
            @for (cause, n) in &counts.causes { (chip(format!("cause:{}", cause.name()), html! { span.soft { "why" } " " (cause.name()) }, *n)) }
        }
    }
}

fn kind_words(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Regression => "regressions",
        ChangeKind::Fix => "fixes",
        ChangeKind::Unknown => "not comparable",
        ChangeKind::OnlyBase => "only in BASE",
        ChangeKind::OnlyNew => "only in NEW",
        ChangeKind::OtherRow => "another row",
        ChangeKind::Same => "same",
    }
}

fn row(page: &ComparePage<'_>, contrast: &Contrast, unit: &ShownUnit) -> Markup {
    let ShownUnit { kind, causes, change } = unit;
    let side = |ix: usize| page.comparison.sides[ix].name.clone();
    let new = vec![side(contrast.new)];
    let variant = VariantName { prompt: change.prompt.clone(), subject: change.subject.clone(), replicate: None };
    let route = Route::CompareCase(CompareCase { id: change.id.clone(), variant, base: side(contrast.base), new });
    let marks = phrases::marks(change);
    html! {
        tr data-row="" {
            th scope="row" {
                a.open href=(route) { (line(&change.id)) }
                @if !phrases::variant(change).is_empty() { " " span.soft { (line(&phrases::variant(change))) } }
            }
            td { (ended(*kind, change)) @if !marks.is_empty() { " " span.tag { (marks) } } }
            td { ul.moves { @for it in change.of_tasks.iter() { li { (task_move(contrast, it)) } } } }
            td.answer { (answer(change)) }
            td { (why(*kind, causes)) }
        }
    }
}

fn ended(kind: ChangeKind, change: &Change) -> Markup {
    match kind {
        ChangeKind::OnlyBase => {
            html! { span.move { (verdict::word(&phrases::verdict(&change.base))) " " span.soft { "only in BASE" } } }
        }
        ChangeKind::OnlyNew => {
            html! { span.move { (verdict::word(&phrases::verdict(&change.new))) " " span.soft { "only in NEW" } } }
        }
        ChangeKind::OtherRow => html! { (moved(change)) " " span.soft { "another row" } },
        ChangeKind::Same if change.base.word == change.new.word => {
            html! { span.move { (verdict::word(&phrases::verdict(&change.new))) " " span.soft { "as before" } } }
        }
        _ => moved(change),
    }
}

fn why(kind: ChangeKind, causes: &[Cause]) -> Markup {
    let names: Vec<&str> = causes.iter().map(|it| it.name()).collect();
    html! {
        @if !kind.is_change() { span.none { "–" } }
        @else if names.is_empty() { span.none { "not known" } }
        @else { (names.join(", ")) }
    }
}

fn task_move(contrast: &Contrast, change: &TaskChange) -> Markup {
    html! {
        (line(&change.task)) @if phrases::is_marked(contrast, &change.task) { "*" } " " (arrow(&change.was, &change.now))
    }
}

fn moved(change: &Change) -> Markup {
    arrow(&phrases::verdict(&change.base), &phrases::verdict(&change.new))
}

/// `✓ passed → ✗ failed`
fn arrow(was: &str, now: &str) -> Markup {
    html! { span.move { (verdict::word(was)) " → " (verdict::word(now)) } }
}

fn answer(change: &Change) -> Markup {
    match (change.base.response(), change.new.response()) {
        (Some(was), Some(now)) if was == now => html! { span.none { "same answer" } },
        (Some(was), Some(now)) => diff::brief(was, now),
        _ => {
            html! { (sentence(if change.new.message().is_empty() { change.base.message() } else { change.new.message() })) }
        }
    }
}

fn pager(page: &ComparePage<'_>, contrast: &Contrast, listed: &Listed) -> Markup {
    if page.listed.len() > 1 || !page.is_served {
        return html! { @if listed.n_fitting > ROWS as u64 { (first_ones(page, contrast)) } };
    }
    let (from, n) = (page.wanted.from, listed.rows.len() as u64);
    let at = |from: u64| Route::Compare(Compare { from, ..page.wanted.clone() });
    html! {
        nav.pager aria-label="Pages" {
            @if from > 0 { a href={ (at(from.saturating_sub(ROWS as u64))) "#cases" } rel="prev" { "Previous" } }
            span { (grouped(from + 1)) "–" (grouped(from + n)) " of " (grouped(listed.n_fitting)) }
            @if from + n < listed.n_fitting { a href={ (at(from + n)) "#cases" } rel="next" { "Next" } }
        }
    }
}
