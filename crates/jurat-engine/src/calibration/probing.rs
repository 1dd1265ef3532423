//! Probes: suites that ask the judge of a run once more, with something changed that should not matter.
//!
//! A probe is a suite of its own, whose rows are the evidence of the run's cases and whose tasks are the judge and what it depends on. So it is planned, budgeted,
//! cached and stored as every run is.

use std::borrow::Cow;

use jurat_core::calibration::{ProbeKind, ProbePair};
use jurat_core::plan::{CaseIx, TaskIx};
use jurat_core::suite::{Judge, Task, TaskKind};
use jurat_format::id::same_id;
use jurat_format::value::{Map, SourceId, Val, Value};
use jurat_format::yaml::read_tree;
use jurat_store::run::{Code, Column, StoredCase};

use crate::CaseLabel;
use crate::options::RecordedOptions;
use crate::view::{RunView, ViewError};

/// A suite that asks a judge once more.
#[derive(Debug, Clone, PartialEq)]
pub struct ProbeSuite {
    /// The suite, as JSON.
    pub text: String,
    /// The models that the run gave to roles.
    pub models: Vec<(String, String)>,
    /// What the judge said in the run, by the id of the row.
    said: Vec<(String, Option<bool>)>,
}

/// Why a probe cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    #[error(transparent)]
    View(#[from] ViewError),
    #[error("{0}")]
    Impossible(&'static str),
}

/// What is appended to answers. It says nothing: only the length changes.
const PARAGRAPH: &str = "To come back to the question: it was read with care, the points that it raises were considered one after the other, and the reply above is what there is to say about them.";

/// The suite of a probe, over the cases with these names.
pub fn probe_suite(view: &RunView, task: TaskIx, kind: ProbeKind, cases: &[String]) -> Result<ProbeSuite, ProbeError> {
    let TaskKind::Judge(judge) = &view.suite().tasks[task.index()].kind else {
        return Err(ProbeError::Impossible("the task asks no judge"));
    };
    if !view.suite().tasks[task.index()].judges() {
        return Err(ProbeError::Impossible("the judge neither passes nor fails"));
    }
    let written = Written::of(view);
    let mut tasks = Vec::new();
    for own in closure(view, task) {
        let mut object = written.task(&view.suite().tasks[own.index()])?;
        if own == task {
            object = with_judge(object, judge, kind)?;
        }
        tasks.push(object);
    }
    let (mut rows, mut said) = (Vec::new(), Vec::new());
    for case in view.reader().cases(CaseIx::ALL) {
        let case = case.map_err(ViewError::from)?;
        let name = CaseLabel { id: &view.case_name(&case), variant: view.variant(case.case_ix) }.to_string();
        if cases.binary_search(&name).is_err() {
            continue;
        }
        rows.push(row(view, &case, &name, kind)?);
        said.push((name, verdict(&case, task)));
    }
    let name = format!("{} (probe {})", view.head().suite, kind.name());
    let mut suite: Vec<(Cow<'static, str>, Value)> = vec![("suite".into(), Val::from(name))];
    suite.extend(written.sections.iter().map(|(key, value)| (Cow::Borrowed(*key), value.clone())));
    suite.push(("records".into(), Val::List(rows)));
    suite.push(("tasks".into(), Val::List(tasks)));
    let text = Val::Map(suite.into_iter().collect::<Map<'static>>()).to_json();
    Ok(ProbeSuite { text, models: RecordedOptions::of(view.head()).models, said })
}

impl ProbeSuite {
    /// What the judge said before and what it says now, in a run of this suite.
    pub fn pairs(&self, probe: &RunView, task: &str) -> Result<Vec<ProbePair>, ViewError> {
        let own = probe.plan().task_ixs().find(|it| same_id(&probe.plan().tasks[it.index()].id, task));
        let mut pairs = Vec::with_capacity(self.said.len());
        for (id, was) in &self.said {
            let case = probe.cases_of(id)?.into_iter().next();
            let now = case.zip(own).and_then(|(case, task)| verdict(&case, task));
            pairs.push(ProbePair { was: *was, now });
        }
        Ok(pairs)
    }
}

fn verdict(case: &StoredCase, task: TaskIx) -> Option<bool> {
    match case.code(Column::from(task)) {
        Code::Passed => Some(true),
        Code::Failed => Some(false),
        _ => None,
    }
}

/// A task and all that it depends on, in the order of the suite.
fn closure(view: &RunView, task: TaskIx) -> Vec<TaskIx> {
    let tasks = &view.suite().tasks;
    let mut needed = vec![task];
    let mut next = 0;
    while next < needed.len() {
        let names = &tasks[needed[next].index()].depends_on;
        let found = view
            .plan()
            .task_ixs()
            .filter(|it| names.iter().any(|name| same_id(&name.value, &tasks[it.index()].id.value)));
        let new: Vec<TaskIx> = found.filter(|it| !needed.contains(it)).collect();
        needed.extend(new);
        next += 1;
    }
    needed.sort_unstable_by_key(|it| it.index());
    needed
}

/// What the author wrote, as far as a probe uses it.
struct Written {
    documents: Vec<Value>,
    sections: Vec<(&'static str, Value)>,
}

/// The sections that judges may rest on.
const SECTIONS: [&str; 3] = ["models", "evaluators", "tools"];

impl Written {
    fn of(view: &RunView) -> Written {
        let texts = view.head().documents.iter().filter(|it| it.name.contains(':'));
        let tree = |body: &[u8]| {
            let text = String::from_utf8_lossy(body);
            read_tree(&text, SourceId(0), false, &mut Vec::new()).map(|it| it.into_val().into_owned())
        };
        let documents: Vec<Value> = texts.filter_map(|it| tree(&it.body)).filter(|it| it.as_map().is_some()).collect();
        let section = |key: &'static str| {
            let members = documents.iter().filter_map(|it| it.get(key)?.as_map());
            let joined: Map<'static> = members
                .flat_map(|it| it.iter().map(|(name, value)| (Cow::Owned(name.to_owned()), value.clone())))
                .collect();
            (!joined.is_empty()).then_some((key, Val::Map(joined)))
        };
        let sections = SECTIONS.into_iter().filter_map(section).collect();
        Written { documents, sections }
    }

    /// The object of a task.
    fn task(&self, task: &Task) -> Result<Value, ProbeError> {
        let lists = self.documents.iter().filter_map(|it| it.get("tasks")?.as_list());
        let is_meant = |it: &&Value| it.get("id").and_then(Val::as_str).is_some_and(|id| same_id(id, &task.id.value));
        let found = lists.flatten().find(is_meant).cloned();
        found.ok_or(ProbeError::Impossible("the definition of the task is not in the run"))
    }
}

/// The task with its prompt as text, so that no file is needed, and with what the probe changes.
fn with_judge(task: Value, judge: &Judge, kind: ProbeKind) -> Result<Value, ProbeError> {
    let written = task.get("judge").cloned().unwrap_or(Val::Null);
    if judge.used.is_some() {
        // A ready judge is named, so that its text is not needed; what it says of options is its own.
        return match (kind, written.get("use").and_then(Val::as_map)) {
            (ProbeKind::Order, _) => Err(ProbeError::Impossible(READY_ORDER)),
            (_, Some(_)) => Err(ProbeError::Impossible(JUDGE_FILE)),
            (_, None) => Ok(task),
        };
    }
    let mut own = set(without(written, "messages"), "prompt", judge.prompt.chat.written());
    if let Some(system) = &judge.system {
        own = set(own, "system", system.prompt.written());
    }
    if kind == ProbeKind::Order {
        let output = judge.output.as_ref().ok_or(ProbeError::Impossible(NO_OPTIONS))?;
        let (reversed, is_changed) = reversed(&output.schema);
        if !is_changed {
            return Err(ProbeError::Impossible(NO_OPTIONS));
        }
        own = set(own, "output", reversed);
    }
    Ok(set(task, "judge", own))
}

const READY_ORDER: &str =
    "the options of a ready judge cannot be put in another order; use the judge `preference`, which asks in both";
const JUDGE_FILE: &str = "the judge is in a judge file, which the run does not name from here";
const NO_OPTIONS: &str = "the judge has no `enum` of options that could be put in another order";

/// A schema with the members of every `enum` in reverse, and whether there is one of at least two.
fn reversed(schema: &Value) -> (Value, bool) {
    match schema {
        Val::Map(map) => {
            let mut is_changed = false;
            let member = |(key, value): (&str, &Value)| {
                let (value, changed) = match value {
                    Val::List(items) if key == "enum" => {
                        (Val::List(items.iter().rev().cloned().collect()), items.len() > 1)
                    }
                    other => reversed(other),
                };
                is_changed |= changed;
                (Cow::Owned(key.to_owned()), value)
            };
            let map: Map<'static> = map.iter().map(member).collect();
            (Val::Map(map), is_changed)
        }
        Val::List(items) => {
            let items: Vec<(Value, bool)> = items.iter().map(reversed).collect();
            let is_changed = items.iter().any(|it| it.1);
            (Val::List(items.into_iter().map(|it| it.0).collect()), is_changed)
        }
        other => (other.clone(), false),
    }
}

/// The evidence of a case as a row.
fn row(view: &RunView, case: &StoredCase, name: &str, kind: ProbeKind) -> Result<Value, ProbeError> {
    let evidence = view.evidence_value(case)?;
    if evidence.as_map().is_none() {
        return Err(ProbeError::Impossible("the evidence of a case is not an object"));
    }
    let evidence = set(evidence, "id", Val::from(name.to_owned()));
    if kind != ProbeKind::Verbosity {
        return Ok(evidence);
    }
    let answer = view.answer_member(&evidence).and_then(|it| Some((it, evidence.get(it)?.as_str()?.to_owned())));
    let (member, text) = answer.ok_or(ProbeError::Impossible("no member of the evidence is known to be the answer"))?;
    Ok(set(evidence, member, Val::from(format!("{text}\n\n{PARAGRAPH}"))))
}

/// An object without one of its members.
fn without(object: Value, key: &str) -> Value {
    match object {
        Val::Map(map) => {
            let others = map.iter().filter(|(name, _)| *name != key);
            let others = others.map(|(name, it)| (Cow::Owned(name.to_owned()), it.clone()));
            Val::Map(others.collect::<Map<'static>>())
        }
        other => other,
    }
}

/// An object with one member replaced or added.
fn set(object: Value, key: &str, value: Value) -> Value {
    let Val::Map(map) = object else { return object };
    let mut members: Vec<(Cow<'static, str>, Value)> =
        map.iter().map(|(name, it)| (Cow::Owned(name.to_owned()), it.clone())).collect();
    match members.iter_mut().find(|it| it.0 == key) {
        Some(member) => member.1 = value,
        None => members.push((Cow::Owned(key.to_owned()), value)),
    }
    Val::Map(members.into_iter().collect::<Map<'static>>())
}
