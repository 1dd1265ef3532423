//! One case: its tasks, the one that is explained, and the evidence below.

use std::rc::Rc;
use std::time::Duration;

use jurat_core::report::explanation::Explanation;
use jurat_core::report::scenario::ScenarioGraph;
use jurat_core::report::transcript::Transcript;
use jurat_core::suite::Gate;
use jurat_engine::view::Code;
use jurat_engine::view::query::{Sort, Spent};
use jurat_format::value::Value;
use jurat_report::{counted, duration, grouped, money, score, visible_line};
use maud::{Markup, html};

use super::asked::Asked;
use super::labelling::{self, Labelling};
use super::shell::RunLinks;
use super::{Section, Shell, agent, explained, transcript};
use crate::part::text::{excerpt, line, sentence};
use crate::part::value;
use crate::part::verdict::{badge, of_code};
use crate::route::{Address, Case, Cases, EvidenceForm, Form, Label, Look, Output, Route, RunPage, Text, VariantName};

/// The part of a case that is its row, in addresses of whole values.
pub(crate) const ROW: &str = "row";

/// Where a case is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Viewer,
    /// A file, which has no other pages.
    File,
    /// The same, without what a replay does not reproduce.
    FileOfResults,
}

/// What the page shows.
#[derive(Debug)]
pub(crate) struct CasePage {
    pub(crate) place: Place,
    /// The id of the run in addresses.
    pub(crate) run: String,
    pub(crate) suite: String,
    pub(crate) route: Case,
    pub(crate) name: String,
    pub(crate) code: Code,
    /// Why it could not be judged, where no task says so.
    pub(crate) message: String,
    pub(crate) took: Option<Duration>,
    pub(crate) spent: Option<Spent>,
    /// The cases of its row, when there are several.
    pub(crate) replicates: Vec<Replicate>,
    /// Its place in the query that led here; nothing where that is not known.
    pub(crate) neighbours: Option<Neighbours>,
    pub(crate) tasks: Vec<TaskLine>,
    pub(crate) explained: Option<Explanation>,
    pub(crate) graph: Option<ScenarioGraph>,
    pub(crate) transcript: Option<Transcript>,
    /// What people say about the task that is explained.
    pub(crate) labelling: Option<Labelling>,
    pub(crate) agent: Option<Rc<Value>>,
    /// What that agent asked its model, where the proxy recorded it.
    pub(crate) asked: Option<Asked>,
    /// The row, or why it is not there.
    pub(crate) row: Result<Rc<Value>, String>,
}

#[derive(Debug)]
pub(crate) struct Replicate {
    pub(crate) variant: VariantName,
    pub(crate) code: Code,
    pub(crate) is_own: bool,
}

#[derive(Debug)]
pub(crate) struct Neighbours {
    /// From 1.
    pub(crate) place: u64,
    pub(crate) of: u64,
    pub(crate) before: Option<Case>,
    pub(crate) after: Option<Case>,
    /// The nearest cases that failed or could not be judged, where those are not the neighbours.
    pub(crate) failing_before: Option<Case>,
    pub(crate) failing_after: Option<Case>,
}

#[derive(Debug)]
pub(crate) struct TaskLine {
    pub(crate) ix: u32,
    pub(crate) id: String,
    pub(crate) gate: Gate,
    /// How deep it stands in the tree of tasks.
    pub(crate) depth: usize,
    pub(crate) code: Code,
    /// The task that it was skipped because of.
    pub(crate) because: Option<String>,
    pub(crate) label: Option<String>,
    pub(crate) score: Option<f64>,
}

impl CasePage {
    fn at(&self, case: Case) -> Route {
        Route::Run { run: self.run.clone(), page: RunPage::Case(case) }
    }

    /// This page with another task chosen.
    pub(crate) fn at_task(&self, id: &str) -> Route {
        self.at(Case { task: Some(id.to_owned()), turn: None, ..self.route.clone() })
    }

    pub(crate) fn at_turn(&self, turn: u32) -> Route {
        self.at(Case { turn: Some(turn), ..self.route.clone() })
    }

    pub(crate) fn at_event(&self, from: u64) -> Route {
        self.at(Case { from, ..self.route.clone() })
    }

    /// Only the events of one kind or tool.
    pub(crate) fn at_events_of(&self, only: Option<&str>) -> Route {
        self.at(Case { only: only.map(str::to_owned), from: 0, ..self.route.clone() })
    }

    fn look(&self, look: Look) -> Route {
        self.at(Case { look, ..self.route.clone() })
    }

    /// The evidence in another form.
    fn at_evidence(&self, evidence: EvidenceForm) -> Route {
        self.look(Look { evidence, ..self.route.look })
    }

    /// Changed files side by side, or in line.
    pub(crate) fn at_sides(&self, is_side_by_side: bool) -> Route {
        self.look(Look { is_side_by_side, ..self.route.look })
    }

    /// Other requests of its agent.
    pub(crate) fn at_asked(&self, asked: u64) -> Route {
        self.look(Look { asked, ..self.route.look })
    }

    /// Where a file of its agent is.
    pub(crate) fn output(&self, ix: u32) -> Route {
        let output = Output { id: self.route.id.clone(), variant: self.route.variant.clone(), ix };
        Route::Run { run: self.run.clone(), page: RunPage::Output(output) }
    }

    /// Where a value of this case is whole.
    pub(crate) fn whole(&self, part: &str) -> Route {
        let text = Text { id: self.route.id.clone(), variant: self.route.variant.clone(), part: part.to_owned() };
        Route::Run { run: self.run.clone(), page: RunPage::Text(text) }
    }
}

/// What a task rests on, in a file.
pub(crate) fn task_in_file(page: &CasePage, it: &Explanation) -> Markup {
    explained::section(page, it)
}

/// A conversation and what an agent did, in a file.
pub(crate) fn evidence_in_file(page: &CasePage) -> Markup {
    html! {
        @if let Some(it) = &page.transcript { (transcript::section(page, it, page.graph.as_ref())) }
        @if let Some(it) = &page.agent { (agent::section(page, it)) }
    }
}

pub(crate) fn page(page: &CasePage) -> Markup {
    let Case { q, sort, descending, .. } = &page.route;
    let cases = Cases { q: q.clone(), sort: sort.clone(), descending: *descending, ..Cases::default() };
    let list = Route::Run { run: page.run.clone(), page: RunPage::Cases(cases) };
    let shell = Shell {
        title: format!("{} of {}", page.name, page.suite),
        run: Some(RunLinks { id: &page.run, suite: &page.suite, section: Section::Cases }),
        steps: vec![("cases".to_owned(), Some(list)), (page.name.clone(), None)],
        data: Some(Address { route: page.at(page.route.clone()), form: Form::Json }),
    };
    shell.page(&html! {
        (neighbours(page))
        (head(page))
        (replicates(page))
        @if let Some(it) = &page.transcript { (transcript::section(page, it, page.graph.as_ref())) }
        @if let Some(it) = &page.agent { (agent::section(page, it)) }
        @if !page.tasks.is_empty() {
            div.split.case {
                (task_tree(page))
                div.results {
                    @if let Some(it) = &page.explained { (explained::section(page, it)) }
                    @if let Some(it) = &page.labelling { (labelling::section(it, &queue_link(page))) }
                }
            }
        }
        (evidence(page))
    })
}

fn queue_link(page: &CasePage) -> Markup {
    let task = page.explained.as_ref().map(|it| it.task.clone());
    let queue = RunPage::Label(Label { task, blind: true, ..Label::default() });
    html! { " " a href=(Route::Run { run: page.run.clone(), page: queue }) { "Label a sample of this task" } }
}

fn neighbours(page: &CasePage) -> Markup {
    html! {
        @if let Some(it) = &page.neighbours {
            nav.pager.near aria-label="Neighbouring cases" {
                @if let Some(before) = &it.failing_before { a.failing href=(page.at(Case { task: None, ..before.clone() })) title=(visible_line(&before.id)) { "« previous failing" } }
                @if let Some(before) = &it.before { a href=(page.at(before.clone())) rel="prev" { "‹ " (excerpt(&before.id, 24)) } }
                span {
                    (grouped(it.place)) " of " (grouped(it.of))
                    @if !page.route.q.is_empty() { " in " code { (excerpt(&page.route.q, 60)) } }
                    @if page.route.sort != Sort::Input { ", by " (line(&page.route.sort.to_string())) }
                }
                @if let Some(after) = &it.after { a href=(page.at(after.clone())) rel="next" { (excerpt(&after.id, 24)) " ›" } }
                @if let Some(after) = &it.failing_after { a.failing href=(page.at(Case { task: None, ..after.clone() })) title=(visible_line(&after.id)) { "next failing »" } }
            }
        }
    }
}

fn head(page: &CasePage) -> Markup {
    html! {
        div.head {
            h1 { (line(&page.name)) }
            p.about {
                (badge(of_code(page.code)))
                (super::cases::variant(&page.route.variant))
                @if let Some(took) = page.took { " · " (duration(took)) }
                @if let Some(spent) = page.spent.as_ref().filter(|it| it.answers > 0) {
                    @if let Some(cost) = spent.cost_usd() { " · " (money(cost)) }
                    " · " (counted(u64::from(spent.answers), "response")) ", " (spent.reused) " reused"
                    " · " (counted(spent.tokens, "token"))
                }
            }
        }
        @if !page.message.is_empty() { p.note { (sentence(&page.message)) } }
    }
}

fn replicates(page: &CasePage) -> Markup {
    html! {
        @if !page.replicates.is_empty() {
            nav.chips aria-label="Variants and repetitions of this row" {
                @for it in &page.replicates {
                    @let look = of_code(it.code);
                    a class={ "chip " (look.class) } href=(page.at(Case { variant: it.variant.clone(), turn: None, from: 0, ..page.route.clone() })) aria-current=[it.is_own.then_some("true")] {
                        span.glyph { (look.glyph) span.hidden { " " (look.word) } }
                        (super::cases::variant(&it.variant))
                    }
                }
            }
        }
    }
}

fn task_tree(page: &CasePage) -> Markup {
    let chosen = page.explained.as_ref().map(|it| it.task.as_str());
    html! {
        nav.tasks aria-label="Tasks" {
            h2 { "Tasks" }
            ul {
                @for task in &page.tasks { (task_line(page, task, chosen == Some(task.id.as_str()))) }
            }
        }
    }
}

fn task_line(page: &CasePage, task: &TaskLine, is_chosen: bool) -> Markup {
    let look = of_code(task.code);
    html! {
        li class={ "depth-" (task.depth.min(6)) " " (look.class) } data-row="" {
            a.open href=(page.at_task(&task.id)) aria-current=[is_chosen.then_some("true")] {
                span.glyph aria-hidden="true" { (look.glyph) }
                span.name { (line(&task.id)) }
                span.hidden { " " (look.word) }
                @if task.gate.routes() { " " span.tag { "gate" } }
                @if let Some(label) = &task.label { " " span.mark { (excerpt(label, 24)) } }
                @if let Some(number) = task.score { " " span.mark { (score(number)) } }
            }
            @if let Some(because) = &task.because {
                span.because { "skipped: see " a href=(page.at_task(because)) { (line(because)) } }
            }
        }
    }
}

fn evidence(page: &CasePage) -> Markup {
    html! {
        section aria-labelledby="evidence" {
            h2 id="evidence" { "Evidence" }
            @match &page.row {
                Err(reason) => p.note { (sentence(reason)) },
                Ok(row) => {
                    (evidence_forms(page))
                    @match row.as_map() {
                        Some(members) if page.route.look.evidence != EvidenceForm::Json => {
                            dl.members {
                                @for (key, member) in members.iter() {
                                    dt { (line(key)) }
                                    dd { (evidence_value(page, member)) }
                                }
                            }
                        },
                        _ => (evidence_value(page, row)),
                    }
                    p { a href=(page.whole(ROW)) { "The whole row as JSON" } }
                },
            }
        }
    }
}

/// The forms that evidence has, each a link.
fn evidence_forms(page: &CasePage) -> Markup {
    html! {
        nav.chips aria-label="Forms of the evidence" {
            @for form in EvidenceForm::ALL {
                a.chip href={ (page.at_evidence(form)) "#evidence" } aria-current=[(form == page.route.look.evidence).then_some("true")] { (form.word()) }
            }
        }
    }
}

fn evidence_value(page: &CasePage, it: &Value) -> Markup {
    let whole = page.whole(ROW);
    match (page.route.look.evidence, it.as_str()) {
        (EvidenceForm::Tree, _) => value::tree(it, &whole),
        (EvidenceForm::Markdown, Some(text)) => value::rendered(text, &whole),
        (EvidenceForm::Text, Some(text)) => value::text(text, &whole),
        (EvidenceForm::Json | EvidenceForm::Text | EvidenceForm::Markdown, _) => value::json(it, &whole),
    }
}
