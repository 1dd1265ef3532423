//! Outcomes of a scenario: what is concluded about the whole conversation.
//!
//! ```yaml
//! outcomes:
//!   held: { all_turns: { verify_result: true } }
//! ```
//!
//! An outcome is a task of its scenario alone ([`ScenarioText::outcome_tasks`]), so it may depend on other tasks and be a gate.

use std::collections::HashSet;

use jurat_format::codes;
use jurat_format::field::Field;
use jurat_format::form::{Form, Object};
use jurat_format::problem::Problem;
use jurat_format::reader::Reading;
use jurat_format::shape;
use jurat_format::value::{Content, Entry, Node, Span, Spanned};

use super::ScenarioText;
use crate::outcome::{Check, Code, format as outcome};
use crate::scenario::{Callable, Criterion};
use crate::section::lost::Part;
use crate::task::{CONDITION, DEPENDS_ON, Gate, REQUIRED, Selection, Task, TaskKind, read_gate};

/// Where an outcome stands, and what it has as a task.
#[derive(Debug, Clone, Default)]
pub struct OutcomeText {
    pub name: Span,
    /// Where its check, or the text of its code, stands.
    pub check: Option<Span>,
    /// The same as it is written, in JSON.
    pub written: String,
    /// The tasks whose outputs it reads, and whose gates it obeys.
    pub depends_on: Vec<Spanned<String>>,
    /// Whether it is a gate, and of which kind.
    pub gate: Gate,
    /// Whether errors were found in it.
    pub(crate) is_flawed: bool,
}

const NAME: Field<Spanned<String>> =
    Field::optional("name", shape::TEXT, "its name, when outcomes are a list").or(&["id"]);
const DESCRIPTION: Field<String> =
    Field::optional("description", shape::STRING, "what it asserts; shown in reports").or_null();
const CHECK: Field<Check> = Field::optional("check", outcome::SHAPE, "how it is decided").or_null();
const EVALUATE_SOURCE: Field<Spanned<String>> =
    Field::optional("evaluate_source", shape::TEXT, "source text of code that decides it; shown, never run").or_null();

static OUTCOME: Object = Object {
    what: "an outcome",
    keys: &[NAME.key, DESCRIPTION.key, CHECK.key, EVALUATE_SOURCE.key, DEPENDS_ON.key, CONDITION.key, REQUIRED.key],
};

const ONE: Form = Form::Object(&OUTCOME);

pub(crate) const FORM: Form = Form::Either(&[Form::List(&ONE), Form::Map(&Form::Either(&[outcome::FORM, ONE]))]);

/// Reads the outcomes of a scenario: a list with names, or an object of names and checks.
pub(crate) fn read_all(reading: &mut Reading<'_>, node: &Node<'_>, text: &mut ScenarioText) {
    match &node.content {
        Content::Map(entries) => {
            for Entry { key, key_span, value } in entries {
                let name = Spanned::new(key.clone().into_owned(), *key_span);
                let is_long = [CHECK.key, EVALUATE_SOURCE.key].iter().any(|it| value.get(it.name).is_some());
                match is_long {
                    true => long(reading, Some(name), value, text),
                    false => short(reading, name, value, text),
                }
            }
        }
        Content::List(items) => items.iter().for_each(|item| long(reading, None, item, text)),
        _ => {
            reading.wrong_type("`outcomes`", "a list of outcomes, or an object of names and checks", node);
            text.lost.add(Part::Outcome, None);
        }
    }
}

fn short(reading: &mut Reading<'_>, name: Spanned<String>, node: &Node<'_>, text: &mut ScenarioText) {
    let Some(check) = outcome::read(reading, &format!("the outcome `{}`", name.value), node) else {
        text.lost.add(Part::Outcome, None);
        return;
    };
    text.scenario.outcomes.push(Criterion::new(name.value, check));
    text.outcomes.push(OutcomeText {
        name: name.span,
        check: Some(node.span),
        written: node.to_val().to_json(),
        depends_on: Vec::new(),
        gate: Gate::None,
        is_flawed: false,
    });
}

fn long(reading: &mut Reading<'_>, key: Option<Spanned<String>>, node: &Node<'_>, text: &mut ScenarioText) {
    let n_before = reading.n_errors();
    let Some(fields) = OUTCOME.fields(reading, node) else {
        text.lost.add(Part::Outcome, None);
        return;
    };
    let name = key.or_else(|| match fields.key_span(&NAME) {
        Some(_) => fields.read(reading, &NAME),
        None => {
            if !fields.may_mean(&NAME) {
                let problem = Problem::new(&codes::MISSING_KEY, "an outcome in a list needs `name`");
                reading.problem(problem.at(fields.head(), "without a name").help("its result stands under its name"));
            }
            None
        }
    });
    let description = fields.read(reading, &DESCRIPTION);
    let what = name.as_ref().map_or("an outcome".to_owned(), |it| format!("the outcome `{}`", it.value));
    let check = fields.read_as(reading, &what, &CHECK);
    let source = fields.read(reading, &EVALUATE_SOURCE);
    if fields.node(&CHECK).is_none() && fields.node(&EVALUATE_SOURCE).is_none() && !fields.may_mean(&CHECK) {
        let problem =
            Problem::new(&codes::MISSING_KEY, format!("{what} needs `check`")).at(fields.head(), "decided how?");
        reading.problem(problem.help("for example `check: { all_turns: { verify_result: true } }`"));
    }
    let depends_on = fields.read(reading, &DEPENDS_ON).unwrap_or_default();
    let gate = read_gate(reading, &fields);
    let is_flawed = reading.n_errors() > n_before;
    text.lost.add_if(is_flawed, &[Part::Outcome]);
    let (Some(name), true) = (name, check.is_some() || source.is_some()) else { return };
    let place = fields.node(&CHECK).or(fields.node(&EVALUATE_SOURCE)).map(|it| it.span);
    let written = fields.written(&[&CHECK.key, &EVALUATE_SOURCE.key]);
    text.scenario.outcomes.push(Criterion {
        name: name.value,
        description: description.unwrap_or_default(),
        check,
        evaluate: source.map(|it| Callable::text(it.value)),
    });
    text.outcomes.push(OutcomeText { name: name.span, check: place, written, depends_on, gate, is_flawed });
}

impl ScenarioText {
    /// The outcomes as tasks of this scenario alone, each name once. What code decides is decided with the scenario; its task tells it.
    pub(crate) fn outcome_tasks(&self) -> Vec<Task> {
        let one = |(criterion, text): (&Criterion, &OutcomeText)| {
            let decided_by_code = || Code(criterion.name.clone()).into();
            let check = criterion.check.clone().unwrap_or_else(decided_by_code);
            Task {
                id: Spanned::new(criterion.name.clone(), text.name),
                description: Some(criterion.description.clone()).filter(|it| !it.is_empty()),
                kind: TaskKind::Outcome(Box::new(check)),
                comparison: None,
                transform: None,
                depends_on: text.depends_on.clone(),
                gate: text.gate,
                on: Selection::All,
                scope: Some(self.name.clone()),
                tags: Vec::new(),
                dimensions: Vec::new(),
                written: text.written.clone(),
                span: text.check.unwrap_or(text.name),
                is_flawed: text.is_flawed,
            }
        };
        let mut seen = HashSet::new();
        let outcomes = self.scenario.outcomes.iter().zip(&self.outcomes);
        outcomes.filter(|(it, _)| seen.insert(it.name.as_str())).map(one).collect()
    }
}
