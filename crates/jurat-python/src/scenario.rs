//! Scenarios: built step by step, frozen, read back from what Karenina stores.

use std::sync::{Mutex, PoisonError};

use jurat_core::scenario::{self, Callable, Condition, Criterion, Edge, Flaw, Handover, Node, StateUpdate, when};
use jurat_format::value::Val;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;

use crate::error::{named, raised};
use crate::function::function;
use crate::outcome::{self, with_node};
use crate::{json, value};

/// A scenario that is being built.
#[pyclass(frozen, module = "jurat._jurat")]
pub(crate) struct ScenarioBuilder(Mutex<scenario::ScenarioBuilder>);

/// A scenario that is sound.
#[pyclass(frozen, module = "jurat._jurat")]
pub(crate) struct Scenario(scenario::Scenario);

impl Scenario {
    pub(crate) fn definition(&self) -> &scenario::Scenario {
        &self.0
    }
}

/// Code, with its text.
type CodeText = (Py<PyAny>, String);

/// When an edge is taken.
#[derive(FromPyObject)]
pub(crate) enum When<'py> {
    /// When code says so.
    #[pyo3(transparent)]
    Code(CodeText),
    /// A condition in its short or stored form.
    #[pyo3(transparent)]
    Stored(Bound<'py, PyAny>),
}

impl ScenarioBuilder {
    /// Takes a step. One that is wrong is not taken: after the exception everything is as before.
    fn step(&self, py: Python<'_>, step: impl FnOnce(&mut scenario::ScenarioBuilder) -> PyResult<()>) -> PyResult<()> {
        // What is read may run code of the caller's, which may wait for another thread.
        let mut builder = self.0.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
        let mut next = builder.clone();
        step(&mut next)?;
        if let Some(error) = next.errors().first() {
            return Err(wrong(py, error.to_string()));
        }
        *builder = next;
        Ok(())
    }
}

#[pymethods]
impl ScenarioBuilder {
    #[new]
    fn new(name: &str, description: &str) -> ScenarioBuilder {
        let mut builder = scenario::ScenarioBuilder::new(name);
        builder.description(description);
        ScenarioBuilder(Mutex::new(builder))
    }

    /// Adds a node in its stored form; `update` is code for its state.
    #[pyo3(signature = (node_id, node, update = None))]
    fn add_node(
        &self,
        py: Python<'_>,
        node_id: &str,
        node: &Bound<'_, PyAny>,
        update: Option<CodeText>,
    ) -> PyResult<()> {
        let mut node = read_node(py, node_id, node)?;
        if let Some(update) = update {
            node.state_update = Some(StateUpdate::Callable(callable(update)));
        }
        self.step(py, |builder| {
            builder.add_node(node_id, node);
            Ok(())
        })
    }

    /// Adds an edge with what is to it.
    #[pyo3(signature = (source, target, *, when, handover))]
    fn add_edge(
        &self,
        py: Python<'_>,
        source: &str,
        target: &str,
        when: Option<When<'_>>,
        handover: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let mut edge = Edge::new(source, target);
        edge.when = match when {
            Some(When::Code(code)) => Some(Condition::Callable(callable(code))),
            Some(When::Stored(condition)) => read_condition(py, &condition)?,
            None => None,
        };
        edge.handover = handover.map(|it| read_handover(py, it)).transpose()?;
        self.step(py, |builder| {
            builder.add_edge_with(edge);
            Ok(())
        })
    }

    fn set_entry(&self, py: Python<'_>, node_id: &str) -> PyResult<()> {
        self.step(py, |builder| {
            builder.set_entry(node_id);
            Ok(())
        })
    }

    /// Adds an outcome: a check in its stored form, or code.
    #[pyo3(signature = (name, description, *, check = None, evaluate = None))]
    fn add_outcome(
        &self,
        py: Python<'_>,
        name: &str,
        description: &str,
        check: Option<&Bound<'_, PyAny>>,
        evaluate: Option<CodeText>,
    ) -> PyResult<()> {
        let check = check.map(outcome::read).transpose()?;
        let evaluate = evaluate.map(callable);
        let criterion = Criterion { name: name.to_owned(), description: description.to_owned(), check, evaluate };
        self.step(py, |builder| {
            builder.add_outcome_criterion(criterion);
            Ok(())
        })
    }

    /// Sets what the whole scenario has: `system`, `turn_limit`, `tags`, and so on, as suites have it.
    fn set(&self, py: Python<'_>, settings: &Bound<'_, PyAny>) -> PyResult<()> {
        let settings = json::value(settings)?;
        let text = |key: &str| settings.get(key).and_then(Val::as_str).map(str::to_owned);
        let seconds = |key: &str| {
            let seconds = settings.get(key).and_then(Val::as_f64)?;
            std::time::Duration::try_from_secs_f64(seconds).ok()
        };
        let turns = settings.get("turn_limit").and_then(Val::as_f64);
        self.step(py, |builder| {
            if let Some(system) = text("system") {
                builder.system(system);
            }
            if let Some(turns) = turns {
                if turns.fract() != 0.0 || !(1.0..=f64::from(u32::MAX)).contains(&turns) {
                    return Err(wrong(py, format!("`turn_limit` must be a whole number of at least 1, not {turns}")));
                }
                builder.turn_limit(turns as u32);
            }
            if let Some(time) = seconds("turn_timeout") {
                builder.turn_timeout(time);
            }
            if let Some(time) = seconds("timeout") {
                builder.timeout(time);
            }
            for tag in settings.get("tags").and_then(Val::as_list).unwrap_or(&[]).iter().filter_map(Val::as_str) {
                builder.tag(tag);
            }
            let servers = settings.get("tools").and_then(Val::as_list).unwrap_or(&[]);
            let servers: Vec<&str> = servers.iter().filter_map(Val::as_str).collect();
            if !servers.is_empty() {
                builder.tools(servers);
            }
            Ok(())
        })
    }

    /// The scenario, and what is odd about it: pairs of a name and words.
    fn validate(&self, py: Python<'_>) -> PyResult<(Scenario, Vec<(String, String)>)> {
        let builder = self.0.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
        let built = builder.validate().map_err(|errors| wrong(py, errors.to_string()))?;
        let described = |flaw: &Flaw| (flaw.name().to_owned(), flaw.words(&built).to_string());
        let warnings = builder.warnings().iter().map(described).collect();
        Ok((Scenario(built), warnings))
    }
}

#[pymethods]
impl Scenario {
    /// The scenario as Karenina dumps it.
    fn stored<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        value::object(py, &self.0.to_stored())
    }

    /// The scenario as a checkpoint with nothing else.
    fn checkpoint<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        value::object(py, &jurat::scenario::to_checkpoint([&self.0]).into())
    }
}

/// The scenarios of a checkpoint. Text of code is stored and never run.
#[pyfunction]
pub(crate) fn read_checkpoint(py: Python<'_>, text: &str) -> PyResult<Vec<Scenario>> {
    let scenarios = jurat::scenario::from_checkpoint(text).map_err(|error| raised(py, &error))?;
    Ok(scenarios.into_iter().map(Scenario).collect())
}

fn wrong(py: Python<'_>, message: String) -> PyErr {
    named(py, "ScenarioError", message)
}

fn callable((code, text): CodeText) -> Callable {
    Callable { source: Some(text), function: Some(function(code)) }
}

/// A node from its stored form: it is read as part of a scenario that has nothing else.
fn read_node(py: Python<'_>, id: &str, node: &Bound<'_, PyAny>) -> PyResult<Node> {
    let node = json::value(node)?;
    let dump = [
        ("name", Val::from("node")),
        ("nodes", Val::Map([(id.to_owned(), node)].into_iter().collect())),
        ("edges", Val::List(Vec::new())),
        ("entry_node", Val::from(id.to_owned())),
    ];
    let text = Val::Map(dump.into_iter().collect()).to_json();
    let read = jurat::scenario::from_checkpoint(&text).map_err(|error| match &error {
        jurat::Error::Suite(problems) => {
            let messages: Vec<&str> = problems.iter().filter(jurat::Problem::is_error).map(|it| it.message()).collect();
            wrong(py, messages.join("\n"))
        }
        other => raised(py, other),
    })?;
    let node = read.into_iter().next().and_then(|it| it.nodes.into_iter().next());
    node.ok_or_else(|| wrong(py, format!("`{id}` is no node")))
}

fn read_condition(py: Python<'_>, condition: &Bound<'_, PyAny>) -> PyResult<Option<Condition>> {
    let stored = json::value(condition)?;
    let read = with_node(py, &stored, when::read_stored)?;
    read.map_err(|errors| {
        let messages = errors.iter().map(|it| match &it.help {
            Some(help) => format!("{} ({help})", it.message),
            None => it.message.clone(),
        });
        wrong(py, messages.collect::<Vec<_>>().join("\n"))
    })
}

fn read_handover(py: Python<'_>, handover: &Bound<'_, PyAny>) -> PyResult<Handover> {
    if handover.is_callable() {
        let function = Some(function(handover.clone().unbind()));
        return Ok(Handover::Callable(Callable { source: None, function }));
    }
    let name: String = handover.extract()?;
    let known: Vec<&str> = Handover::NAMED.iter().map(|(name, _)| *name).collect();
    Handover::named(&name)
        .ok_or_else(|| wrong(py, format!("there is no handover `{name}`; there are {}", known.join(", "))))
}
