//! One case of several runs: what was answered and how it was judged, beside each other, and why it changed.

use jurat_core::contrast::{Cause, Circumstances};
use jurat_core::report::{CaseReport, TaskVerdict};
use jurat_core::verdict::CaseVerdict;
use jurat_report::counted;
use maud::{Markup, html};

use super::Shell;
use super::shell::short_id;
use crate::part::diff;
use crate::part::text::{line, lines, sentence};
use crate::part::verdict;
use crate::route::{Case, Compare, CompareCase, Route, RunPage, VariantName};

/// What the page shows.
#[derive(Debug)]
pub(crate) struct CompareCasePage {
    pub(crate) wanted: CompareCase,
    /// The case in each of its variants and repetitions.
    pub(crate) variants: Vec<Variant>,
    /// How many of them are not shown.
    pub(crate) n_left_out: usize,
}

/// One variant or repetition of the case on every side.
#[derive(Debug)]
pub(crate) struct Variant {
    /// Prompt, subject and number of the repetition.
    pub(crate) key: (Option<String>, Option<String>, Option<u32>),
    pub(crate) sides: Vec<Option<SideCase>>,
}

/// The case on one side.
#[derive(Debug)]
pub(crate) struct SideCase {
    pub(crate) run: String,
    pub(crate) report: CaseReport,
    /// What was answered.
    pub(crate) evidence: Option<String>,
    pub(crate) tasks: Vec<TaskCase>,
}

/// A task of the case on one side.
#[derive(Debug)]
pub(crate) struct TaskCase {
    pub(crate) id: String,
    /// What distinguishes its definition.
    pub(crate) definition: String,
    pub(crate) verdict: TaskVerdict,
    pub(crate) message: String,
    /// Why, in the words of the judge or evaluator.
    pub(crate) said: Option<String>,
    pub(crate) replies: Vec<String>,
}

impl Variant {
    /// Why the last side ended otherwise than the first. Nothing when it did not.
    pub(crate) fn causes(&self) -> Vec<Cause> {
        let (Some(Some(base)), Some(Some(new))) = (self.sides.first(), self.sides.last()) else { return Vec::new() };
        let changed: Vec<(&TaskCase, &TaskCase)> = base
            .tasks
            .iter()
            .filter_map(|was| Some((was, new.tasks.iter().find(|it| it.id == was.id)?)))
            .filter(|(was, now)| was.verdict != now.verdict)
            .collect();
        if changed.is_empty() {
            return Vec::new();
        }
        let is_judged = |it: &SideCase| matches!(it.report.verdict, CaseVerdict::Passed | CaseVerdict::Failed);
        let circumstances = Circumstances {
            judged: [is_judged(base), is_judged(new)],
            // The answers alone, as for the list of changed cases: the digest of the evidence covers the question too, and prompts may differ.
            same_answer: base.evidence.as_ref().zip(new.evidence.as_ref()).map(|(was, now)| was == now),
            is_redefined: changed.iter().any(|(was, now)| was.definition != now.definition),
        };
        circumstances.causes()
    }
}

pub(crate) fn page(page: &CompareCasePage) -> Markup {
    let CompareCase { id, base, new, .. } = &page.wanted;
    let back = Route::Compare(Compare { base: base.clone(), new: new.clone(), ..Compare::default() });
    let data = Some(Route::CompareCase(page.wanted.clone()).json());
    let steps = vec![("compare".to_owned(), Some(back)), (id.clone(), None)];
    let shell = Shell { title: format!("{id} compared"), run: None, steps, data };
    shell.page(&html! {
        div.head { h1 { (line(id)) " " span.soft { "compared" } } }
        @for variant in &page.variants { (variant_part(page, variant)) }
        @if page.n_left_out > 0 { p.note { (counted(page.n_left_out as u64, "further variant or repetition")) " of this case, not shown here" } }
    })
}

fn variant_part(page: &CompareCasePage, variant: &Variant) -> Markup {
    let (prompt, subject, replicate) = &variant.key;
    let causes = variant.causes();
    html! {
        section.contrast {
            @if page.variants.len() > 1 {
                h2 {
                    @for it in [prompt, subject].into_iter().flatten() { (line(it)) " " }
                    @if let Some(n) = replicate { "repetition " (n) }
                }
            }
            @if !causes.is_empty() {
                p.sentence { "Why it changed: " @for (ix, cause) in causes.iter().enumerate() { @if ix > 0 { "; " } (cause_words(*cause)) } "." }
            }
            div.beside { @for (ix, side) in variant.sides.iter().enumerate() { (side_card(&page.wanted, ix, side.as_ref())) } }
            (answers(variant))
            (tasks(variant))
        }
    }
}

fn cause_words(cause: Cause) -> Markup {
    let words = match cause {
        Cause::Evidence => "the answer is another one",
        Cause::Definition => "a task that ended otherwise is defined otherwise",
        Cause::Judge => "the answer is the same, and it was judged otherwise",
        Cause::Fault => "one side could not be judged",
    };
    html! { strong { (cause.name()) } " (" (words) ")" }
}

fn side_card(wanted: &CompareCase, ix: usize, side: Option<&SideCase>) -> Markup {
    let name = if ix == 0 { "BASE" } else { "NEW" };
    html! {
        div.card {
            span.tag { (name) @if wanted.new.len() > 1 && ix > 0 { " " (ix) } }
            @match side {
                Some(side) => {
                    " " a href=(case_route(wanted, side)) { code { (line(short_id(&side.run))) } }
                    " " (verdict::word(side.report.verdict.name()))
                    @if !side.report.message.is_empty() { p { (sentence(&side.report.message)) } }
                }
                None => { " " span.none { "has no such case" } }
            }
        }
    }
}

/// The case in its own run.
fn case_route(wanted: &CompareCase, side: &SideCase) -> Route {
    let CaseReport { prompt, subject, replicate, .. } = &side.report;
    let variant = VariantName { prompt: prompt.clone(), subject: subject.clone(), replicate: *replicate };
    Route::Run {
        run: side.run.clone(),
        page: RunPage::Case(Case { id: wanted.id.clone(), variant, ..Case::default() }),
    }
}

fn answers(variant: &Variant) -> Markup {
    let texts: Vec<Option<&String>> =
        variant.sides.iter().map(|it| it.as_ref().and_then(|it| it.evidence.as_ref())).collect();
    let Some((Some(base), rest)) = texts.split_first() else { return html! {} };
    html! {
        h3 { "Answer" }
        @for new in rest.iter().flatten() {
            @if new == base { p.about { "The same on both sides." } pre { (lines(base)) } } @else { (diff::whole(base, new)) }
        }
    }
}

fn tasks(variant: &Variant) -> Markup {
    let mut ids: Vec<&str> = Vec::new();
    for task in variant.sides.iter().flatten().flat_map(|it| &it.tasks) {
        if !ids.contains(&task.id.as_str()) {
            ids.push(&task.id);
        }
    }
    let of = |side: &'_ Option<SideCase>, id: &str| {
        side.as_ref().and_then(|it| it.tasks.iter().find(|it| it.id == id).map(|it| it.verdict))
    };
    let is_changed = |id: &str| variant.sides.iter().any(|it| of(it, id) != of(&variant.sides[0], id));
    // What changed comes first; the order of the suite is kept otherwise.
    ids.sort_by_key(|it| !is_changed(it));
    html! {
        h3 { "Tasks" }
        @for id in ids {
            div.card.task {
                h4 { (line(id)) @if is_changed(id) { " " span.tag { "changed" } } }
                div.beside { @for side in &variant.sides { (task_side(side.as_ref().and_then(|it| it.tasks.iter().find(|it| it.id == id)))) } }
            }
        }
    }
}

fn task_side(task: Option<&TaskCase>) -> Markup {
    let Some(task) = task else { return html! { div { span.none { "not for this case" } } } };
    html! {
        div {
            (verdict::word(task.verdict.name()))
            @if !task.message.is_empty() { p { (sentence(&task.message)) } }
            @if let Some(said) = &task.said { p.soft { (lines(said)) } }
            @for reply in &task.replies { pre { (lines(reply)) } }
        }
    }
}
