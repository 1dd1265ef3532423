//! The sections that add to more than one part of a definition: scenarios, cases of agents, and how these are evaluated.
//!
//! Scenarios and cases of agents stand in the definition under names of their own, which are one space of names, and have tasks of their own.

use std::sync::Arc;

use jurat_format::codes;
use jurat_format::problem::Problem;
use jurat_format::reader::Reading;
use jurat_format::value::{Content, Entry, Node, Spanned};

use super::Suite;
use crate::agent::AgentCase;
use crate::agent::case_text::{self, AgentCaseText, AgentName};
use crate::agent::text::AgentText;
use crate::compat::karenina::scenario as stored;
use crate::evaluation::{OnFailedCheck, text as evaluation};
use crate::section::At;
use crate::section::lost::Part;
use crate::task::{CaseKind, Gate, Selection, Task, TaskKind};

/// Reads `scenarios`: by name, or as a list of scenarios with names.
pub(super) fn scenarios(reading: &mut Reading<'_>, suite: &mut Suite, at: &At<'_, '_>) {
    let what = ("`scenarios`", "an object of names and scenarios, or a list of scenarios");
    each(reading, suite, what, at.node, add_scenario);
}

/// Reads one scenario into the suite. Its name stands in it unless it is given.
pub(super) fn add_scenario(
    reading: &mut Reading<'_>,
    suite: &mut Suite,
    name: Option<Spanned<String>>,
    node: &Node<'_>,
) {
    let read = stored::read(reading, &mut suite.lost, name, node);
    let read = whole(reading, suite, "scenario", |it| &it.name, read);
    suite.scenarios.extend(read);
}

/// Reads `cases`: a list of cases with ids, or cases by id.
pub(super) fn agent_cases(reading: &mut Reading<'_>, suite: &mut Suite, at: &At<'_, '_>) {
    let what = ("`cases`", "a list of cases, or an object of ids and cases");
    each(reading, suite, what, at.node, |reading, suite, id, node| {
        let read = case_text::read(reading, &mut suite.lost, id, node);
        let read = whole(reading, suite, "case", |it| &it.id, read);
        suite.cases.extend(read);
    });
}

/// Reads `evaluation`, whose judges may bring roles.
pub(super) fn evaluation(reading: &mut Reading<'_>, suite: &mut Suite, at: &At<'_, '_>) {
    let Suite { lost, evaluation, models, allows_hooks, .. } = suite;
    let read = evaluation::read(reading, lost, (evaluation.as_deref(), models), at);
    if let Some(read) = read {
        // A library that is included must not allow what the suite does not.
        *allows_hooks |= read.allows_hooks && at.is_main;
        *evaluation = read.text.or(evaluation.take());
    }
}

/// Reads one case into the suite. Its id stands in it unless it is given.
type ReadOne = fn(&mut Reading<'_>, &mut Suite, Option<Spanned<String>>, &Node<'_>);

/// Reads a section: cases by id, or a list of cases with ids.
fn each(reading: &mut Reading<'_>, suite: &mut Suite, (what, needs): (&str, &str), node: &Node<'_>, one: ReadOne) {
    match &node.content {
        Content::Map(entries) => {
            for Entry { key, key_span, value } in entries {
                one(reading, suite, Some(Spanned::new(key.clone().into_owned(), *key_span)), value);
            }
        }
        Content::List(items) => items.iter().for_each(|item| one(reading, suite, None, item)),
        Content::Scalar(_) => {
            reading.wrong_type(what, needs, node);
            suite.lost.add_if(true, &[Part::Case, Part::Task]);
        }
    }
}

/// A case that could be read, and whose id no other has; its tasks are added. Those of a case that cannot be used are dropped with it.
fn whole<T>(
    reading: &mut Reading<'_>,
    suite: &mut Suite,
    what: &str,
    id: fn(&T) -> &Spanned<String>,
    read: Option<(T, Vec<Task>)>,
) -> Option<T> {
    suite.lost.add_if(read.is_none(), &[Part::Case, Part::Task]);
    let (case, tasks) = read.filter(|(it, _)| !is_taken(reading, suite, id(it), what))?;
    suite.tasks.extend(tasks);
    Some(case)
}

/// Whether another case has this id, which is a problem.
fn is_taken(reading: &mut Reading<'_>, suite: &Suite, id: &Spanned<String>, what: &str) -> bool {
    let scenarios = suite.scenarios.iter().map(|it| (&it.name, "scenario"));
    let mut all = scenarios.chain(suite.cases.iter().map(|it| (&it.id, "case")));
    let Some((first, other)) = all.find(|(it, _)| *it == id) else { return false };
    let message = match what == other {
        true => format!("there are two {what}s `{}`", id.value),
        false => format!("a scenario and a case are both called `{}`", id.value),
    };
    let problem = Problem::new(&codes::DUPLICATE_ID, message).at(id.span, "again here").at(first.span, "first here");
    reading.problem(problem.help("rename one of them; scenarios and cases have one space of names"));
    true
}
impl AgentCaseText {
    /// The agent that it is given to, when there is such.
    pub fn agent_in<'s>(&'s self, suite: &'s Suite) -> Option<&'s AgentText> {
        match &self.agent {
            AgentName::Here(agent) => Some(agent),
            AgentName::Named(name) => suite.agents.iter().find(|it| it.name.value == name.value),
            AgentName::Only => match suite.agents.as_slice() {
                [only] => Some(only),
                _ => None,
            },
        }
    }

    /// The case with its agent, and the limits that hold for it.
    pub fn resolve(&self, suite: &Suite) -> Option<AgentCase> {
        let mut agent = self.agent_in(suite)?.agent.clone();
        self.limits.over(&mut agent.limits);
        agent.network = self.network.clone().or(agent.network);
        Some(AgentCase {
            id: self.id.value.clone(),
            description: self.description.clone(),
            agent: Arc::new(agent),
            system: self.system.clone(),
            turns: self.turns.clone(),
            attachments: self.attachments.clone(),
            workspace: self.workspace.clone(),
            key_outputs: self.key_outputs.clone(),
            artifact: self.artifact.as_ref().map(|it| it.value.clone()),
            tags: self.tags.clone(),
            metadata: self.metadata.clone(),
        })
    }
}

/// Makes a task of the evaluation, once everything is read.
pub(super) fn join_evaluation(suite: &mut Suite) {
    let Some(evaluation) = &suite.evaluation else { return };
    let has_runs = suite.records.iter().any(|it| it.is_runs);
    let has_others = !suite.scenarios.is_empty() || suite.records.iter().any(|it| !it.is_runs);
    let on = match (suite.cases.is_empty(), has_runs) {
        (true, true) => Selection::Kind(CaseKind::Records),
        // What is all there is needs no `on` in tasks that look at it.
        (false, _) if !has_others => Selection::All,
        _ => Selection::Kind(CaseKind::Cases),
    };
    suite.tasks.push(Task {
        id: evaluation.id.clone(),
        description: evaluation.description.clone(),
        kind: TaskKind::Evaluation {
            decides: evaluation.pass_threshold.is_some() || evaluation.on_failed_check == OnFailedCheck::Fail,
        },
        comparison: None,
        transform: None,
        depends_on: evaluation.depends_on.clone(),
        gate: Gate::None,
        on,
        scope: None,
        tags: Vec::new(),
        dimensions: evaluation.dimensions.clone(),
        written: evaluation.written.clone(),
        span: evaluation.span,
        is_flawed: evaluation.is_flawed,
    });
}
