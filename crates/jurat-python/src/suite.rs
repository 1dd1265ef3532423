//! Definitions that are ready to run.

use std::path::PathBuf;
use std::time::Duration;

use jurat::{OPTIONS, RerunOf, RunOption, RunOptions, Setting};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::arrow::Batches;
use crate::error::{problems, raised, usage};
use crate::function::function;
use crate::lines::{Lines, Source};
use crate::model::model;
use crate::rows::{Failed, Items, Rows};
use crate::running::Running;
use crate::scenario::Scenario;
use crate::{evaluator, json};

/// Code that a definition names: callables by their names, and the scenarios that it has besides.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Code<'py> {
    models: Bound<'py, PyDict>,
    evaluators: Bound<'py, PyDict>,
    agents: Bound<'py, PyDict>,
    scenarios: Vec<PyRef<'py, Scenario>>,
}

/// A definition without errors.
#[pyclass(frozen, module = "jurat._jurat")]
pub(crate) struct Suite(jurat::Suite);

#[pymethods]
impl Suite {
    /// A definition as a dict, with the code that it names.
    #[new]
    #[pyo3(signature = (name, definition, *, directory, code))]
    fn new(
        py: Python<'_>,
        name: &str,
        definition: &Bound<'_, PyDict>,
        directory: PathBuf,
        code: Code<'_>,
    ) -> PyResult<Suite> {
        let definition = jurat::Value::from(json::value(definition)?);
        let mut builder = jurat::Suite::builder(name).define(definition).directory(directory);
        for (name, callable) in code.models {
            builder = builder.function(model(name.cast::<PyString>()?.to_str()?, callable.unbind()));
        }
        for (name, callable) in code.evaluators {
            builder = builder.evaluator_function(name.extract::<String>()?, evaluator::function(callable.unbind()));
        }
        for (name, callable) in code.agents {
            builder = builder.agent_function(name.extract::<String>()?, function(callable.unbind()));
        }
        builder = builder.scenarios(code.scenarios.iter().map(|it| it.definition().clone()));
        let built = py.detach(|| builder.build());
        built.map(Suite).map_err(|error| raised(py, &error))
    }

    /// Its name.
    #[getter]
    fn name(&self) -> Option<&str> {
        self.0.name()
    }

    /// Its definition as a file would have it.
    #[getter]
    fn definition(&self) -> &str {
        self.0.definition()
    }

    /// The ids of its tasks, stage by stage.
    #[getter]
    fn stages(&self) -> Vec<Vec<&str>> {
        self.0.stages()
    }

    /// What is odd about it: a list of problems.
    #[getter]
    fn warnings<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        problems(py, self.0.warnings())
    }

    /// The same as text.
    #[getter]
    fn warning_text(&self) -> String {
        if self.0.warnings().is_empty() { String::new() } else { self.0.warnings().to_string() }
    }

    /// What a run would do, in words.
    fn plan(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| self.0.plan()).map_err(|error| raised(py, &error))
    }

    /// The same as a drawing.
    fn plan_svg(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| self.0.plan_svg()).map_err(|error| raised(py, &error))
    }

    /// Begins to run it.
    #[pyo3(signature = (options, *, rows = None, items = "rows"))]
    fn start(
        &self,
        py: Python<'_>,
        options: &Bound<'_, PyDict>,
        rows: Option<&Bound<'_, PyAny>>,
        items: &str,
    ) -> PyResult<Running> {
        let mut wanted = read(options)?;
        let failed = Failed::default();
        if let Some(rows) = rows {
            let given = |items: Items| Rows::of(rows, items, failed.clone()).map(Lines::of);
            wanted = match items {
                "arrow" => wanted.input(Lines::of(Batches::of(rows, failed.clone())?)),
                "records" => wanted.input(given(Items::Records)?),
                "records_with_ids" => wanted.input(given(Items::RecordsWithIds)?),
                _ => wanted.input(given(Items::Rows)?),
            };
        }
        let running = py.detach(|| self.0.start(wanted)).map_err(|error| raised(py, &error))?;
        Ok(Running::new(running, failed))
    }
}

/// What names rows by their content. They are read to their end.
#[pyfunction]
pub(crate) fn rows_digest(py: Python<'_>, rows: &Bound<'_, PyAny>, items: &str) -> PyResult<String> {
    let failed = Failed::default();
    let digest = match items {
        "arrow" => digested(py, Batches::of(rows, failed.clone())?),
        _ => digested(py, Rows::of(rows, Items::Rows, failed.clone())?),
    };
    digest.map_err(|error| failed.take().unwrap_or_else(|| error.into()))
}

fn digested(py: Python<'_>, source: impl Source + Send) -> std::io::Result<String> {
    py.detach(|| jurat::digest_of_rows(Lines::of(source)))
}

/// The names of the options that a run takes.
#[pyfunction]
pub(crate) fn run_options() -> Vec<&'static str> {
    OPTIONS.iter().map(|it| it.name).chain(["directory", "variables"]).collect()
}

/// Reads a definition from a file.
#[pyfunction]
pub(crate) fn load_suite(py: Python<'_>, path: PathBuf) -> PyResult<Suite> {
    py.detach(|| jurat::Suite::load(path)).map(Suite).map_err(|error| raised(py, &error))
}

/// Options by their names.
fn read(options: &Bound<'_, PyDict>) -> PyResult<RunOptions> {
    let mut read = RunOptions::new();
    for (name, value) in options {
        let name = name.cast::<PyString>()?.to_str()?;
        let known = OPTIONS.iter().find(|it| it.name == name);
        match (known, name) {
            _ if value.is_none() => {}
            (Some(option), _) => set(&mut read, option, &value)?,
            (None, "directory") => read.directory = value.extract()?,
            (None, "variables") => read.variables = value.extract()?,
            (None, "rows_digest") => read.rows_digest = value.extract()?,
            (None, _) => return Err(usage(options.py(), format!("there is no option `{name}`"))),
        }
    }
    Ok(read)
}

/// Sets an option to an object of Python. Times are seconds.
fn set(options: &mut RunOptions, option: &RunOption, value: &Bound<'_, PyAny>) -> PyResult<()> {
    match option.setting {
        Setting::Flag(field) | Setting::Keep(field) => *field(options) = value.is_truthy()?,
        Setting::Count(field) => *field(options) = Some(value.extract()?),
        Setting::Times(field) => *field(options) = Some(value.extract()?),
        Setting::AtLeastOne(field) => *field(options) = Some(value.extract()?),
        Setting::Dollars(field) => *field(options) = Some(value.extract()?),
        Setting::Time(field) => {
            let seconds = Duration::try_from_secs_f64(value.extract()?);
            let wrong = |error| usage(value.py(), format!("`{}` is a number of seconds: {error}", option.name));
            *field(options) = Some(seconds.map_err(wrong)?);
        }
        Setting::Text(field) => *field(options) = Some(value.extract()?),
        Setting::Recording(field) => *field(options) = Some(value.extract::<PathBuf>()?.display().to_string()),
        Setting::Texts(field) => *field(options) = value.extract()?,
        Setting::Models(field) => {
            let models = value.cast::<PyDict>()?.iter().map(|(role, model)| Ok((role.extract()?, model.extract()?)));
            *field(options) = models.collect::<PyResult<_>>()?;
        }
        Setting::Verdicts(field) => *field(options) = rerun(value.py(), value)?,
    }
    Ok(())
}

/// Which cases of an earlier run are run again: one word or several.
fn rerun(py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<Vec<RerunOf>> {
    let words = match value.extract::<String>() {
        Ok(word) => vec![word],
        Err(_) => value.extract::<Vec<String>>()?,
    };
    let named = |word: &String| {
        let message = || format!("`rerun` is `failed`, `error` or `not_run`, not `{word}`");
        RerunOf::named(word).ok_or_else(|| usage(py, message()))
    };
    words.iter().map(named).collect()
}
