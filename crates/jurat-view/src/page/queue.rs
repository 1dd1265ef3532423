//! One case after the other to label, and at the end how people and the judge agree.

use std::collections::{BTreeMap, BTreeSet};

use jurat_report::{grouped, rate, score, visible_line};
use maud::{Markup, html};

use super::labelling::{self, Labelling};
use super::shell::RunLinks;
use super::{Section, Shell};
use crate::part::text::{line, lines, sentence};
use crate::part::verdict;
use crate::route::{Label, Route, RunPage};

/// What the page shows.
#[derive(Debug)]
pub(crate) struct QueuePage {
    /// The id of the run in addresses.
    pub(crate) run: String,
    pub(crate) suite: String,
    pub(crate) route: Label,
    /// The tasks that could be labelled instead.
    pub(crate) tasks: Vec<String>,
    pub(crate) n: usize,
    /// How many of them the person has labelled.
    pub(crate) n_labelled: usize,
    /// The case that was labelled last: its name, what the person said, and what the judge said.
    pub(crate) before: Option<(String, String, Judged)>,
    pub(crate) case: Option<QueuedCase>,
    /// When all are labelled.
    pub(crate) outcome: Option<Outcome>,
}

#[derive(Debug)]
pub(crate) struct QueuedCase {
    /// Its place in the queue, from 0.
    pub(crate) at: usize,
    pub(crate) name: String,
    pub(crate) input: String,
    pub(crate) output: String,
    pub(crate) labelling: Labelling,
    /// What the judge said, unless it is hidden.
    pub(crate) judged: Option<Judged>,
    /// The page of the case.
    pub(crate) route: Route,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Judged {
    pub(crate) verdict: Option<String>,
    pub(crate) label: Option<String>,
    pub(crate) score: Option<f64>,
    pub(crate) explanation: String,
}

impl Judged {
    /// What it said, in a word.
    pub(crate) fn word(&self) -> String {
        match (self.verdict.as_deref(), &self.label, self.score) {
            (Some("measured") | None, Some(label), _) => label.clone(),
            (Some("measured") | None, None, Some(number)) => score(number),
            (Some(verdict), ..) => verdict.to_owned(),
            (None, None, None) => "–".to_owned(),
        }
    }
}

/// How often people said what, and the judge.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) counts: BTreeMap<(String, String), u64>,
    pub(crate) n_compared: u64,
    pub(crate) n_agree: u64,
}

pub(crate) fn page(page: &QueuePage) -> Markup {
    let task = page.route.task.as_deref().unwrap_or_default();
    let route = Route::Run { run: page.run.clone(), page: RunPage::Label(page.route.clone()) };
    let shell = Shell {
        title: format!("Label {task} of {}", page.suite),
        run: Some(RunLinks { id: &page.run, suite: &page.suite, section: Section::Label }),
        steps: vec![("label".to_owned(), None)],
        data: Some(route.json()),
    };
    shell.page(&html! {
        div.head {
            h1 { "Label " (line(task)) }
            p.about {
                strong { (page.n_labelled) } " of " (page.n) " labelled"
                @if page.route.blind { " · what the judge said is hidden until you have" }
            }
        }
        (controls(page))
        progress max=(page.n.max(1)) value=(page.n_labelled) aria-label="Labelled" {}
        @if let Some((name, said, judged)) = &page.before { (last(name, said, judged)) }
        @if let Some(it) = &page.case { (case(page, it)) }
        @if let Some(it) = &page.outcome { (outcome(page, it)) }
    })
}

/// Which task is labelled.
pub(crate) fn choice(run: &str, suite: &str, route: &Label, tasks: &[String], reason: Option<&str>) -> Markup {
    let at = |task: &str| {
        let page = RunPage::Label(Label { task: Some(task.to_owned()), ..route.clone() });
        Route::Run { run: run.to_owned(), page }
    };
    let own = Route::Run { run: run.to_owned(), page: RunPage::Label(route.clone()) };
    let shell = Shell {
        title: format!("Label cases of {suite}"),
        run: Some(RunLinks { id: run, suite, section: Section::Label }),
        steps: vec![("label".to_owned(), None)],
        data: Some(own.json()),
    };
    shell.page(&html! {
        h1 { "Label cases" }
        @if let Some(reason) = reason { p.note { (sentence(reason)) } }
        p { "Labels say what a person thinks of a case. " code { "jurat calibrate" } " compares them with the judge. Choose what to label:" }
        ul.look { @for task in tasks { li data-row="" { a.open href=(at(task)) { (line(task)) } } } }
        @if tasks.is_empty() { p { "The run has no tasks." } }
    })
}

fn last(name: &str, said: &str, judged: &Judged) -> Markup {
    html! {
        p.note role="status" {
            code { (line(name)) } ": you said " strong { (line(said)) } ", the judge said " strong { (line(&judged.word())) } "."
        }
    }
}

/// What is labelled: a form, so that it works without script.
fn controls(page: &QueuePage) -> Markup {
    let Label { n, seed, blind, .. } = page.route;
    let own = page.route.task.as_deref();
    html! {
        form.queue-of method="get" action=(page.at(Label::default())) aria-label="What is labelled" {
            label { "Task " select name="task" { @for task in &page.tasks { option value=(task) selected[own == Some(task.as_str())] { (visible_line(task)) } } } }
            label { "Cases " input type="number" name="n" value=(n) min="1" max="10000" required; }
            label { "Order " input type="number" name="seed" value=(seed) min="0" required; }
            label { input type="checkbox" name="blind" value="1" checked[blind]; " hide the judge" }
            button type="submit" { "Show" }
        }
    }
}

impl QueuePage {
    fn at(&self, route: Label) -> Route {
        Route::Run { run: self.run.clone(), page: RunPage::Label(route) }
    }

    /// The way on from a case: to the next one, or past one without a label, which comes again behind the others.
    fn onward(&self, it: &QueuedCase) -> Option<(&'static str, Route)> {
        if it.labelling.own.is_some() {
            let route = Label { at: Some(it.at as u32 + 1), after: None, ..self.route.clone() };
            return (it.at + 1 < self.n).then(|| ("next ›", self.at(route)));
        }
        let route = Label { at: None, after: Some(it.at as u32), ..self.route.clone() };
        (self.n_labelled + 1 < self.n).then(|| ("skip ›", self.at(route)))
    }
}

fn case(page: &QueuePage, it: &QueuedCase) -> Markup {
    let at = |place: usize| page.at(Label { at: Some(place as u32), after: None, ..page.route.clone() });
    html! {
        section.queued aria-labelledby="case" {
            h2 id="case" { (it.at + 1) ". " (line(&it.name)) }
            div.sides {
                div { h3 { "Asked" } @if it.input.is_empty() { p.hint { "nothing" } } @else { pre { (lines(&it.input)) } } }
                div { h3 { "Answered" } @if it.output.is_empty() { p.hint { "nothing" } } @else { pre { (lines(&it.output)) } } }
            }
            @if let Some(judged) = &it.judged { (judge(judged)) }
            (labelling::section(&it.labelling, &html! {}))
            nav.pager aria-label="Queue" {
                @if it.at > 0 { a href=(at(it.at - 1)) rel="prev" { "‹ back" } }
                a href=(it.route) { "the whole case" @if it.judged.is_none() { " (shows the judge)" } }
                @if let Some((words, route)) = page.onward(it) { a href=(route) rel="next" { (words) } }
            }
        }
    }
}

fn judge(judged: &Judged) -> Markup {
    html! {
        div.judged {
            h3 { "The judge" }
            p { @match judged.verdict.as_deref() { Some(it) => (verdict::word(it)), None => span.none { "–" } } @if let Some(label) = &judged.label { " " span.tag { (line(label)) } } @if let Some(number) = judged.score { " " span.tag { (score(number)) } } }
            @if !judged.explanation.is_empty() { blockquote { (lines(&judged.explanation)) } }
        }
    }
}

fn outcome(page: &QueuePage, it: &Outcome) -> Markup {
    let people: BTreeSet<&String> = it.counts.keys().map(|it| &it.0).collect();
    let judge: BTreeSet<&String> = it.counts.keys().map(|it| &it.1).collect();
    let agreement = (it.n_compared > 0).then(|| it.n_agree as f64 / it.n_compared as f64);
    let task = page.route.task.as_deref().unwrap_or_default();
    html! {
        section aria-labelledby="agreement" {
            h2 id="agreement" { @if page.n == 0 { "Nothing to label" } @else { "All labelled" } }
            @if page.n > 0 {
                p { "You and the judge agree on " strong { (rate(agreement)) } " of " (grouped(it.n_compared)) "." }
                div.scroll tabindex="0" role="region" aria-label="What people and the judge said" {
                    table.rows {
                        thead { tr { th scope="col" { "You \\ the judge" } @for name in &judge { th.number scope="col" { (line(name)) } } } }
                        tbody {
                            @for name in &people {
                                tr { th scope="row" { (line(name)) } @for other in &judge { td.number { (grouped(it.counts.get(&((*name).clone(), (*other).clone())).copied().unwrap_or_default())) } } }
                            }
                        }
                    }
                }
                p.hint { "Chance agreement, κ and intervals: " code { "jurat calibrate " (line(&page.run)) " --task " (line(task)) " labels.jsonl" } }
            } @else {
                p { "The judge gave no verdict that could be labelled." }
            }
        }
    }
}
