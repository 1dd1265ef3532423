//! Definitions that are ready to run.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use jurat::{OPTIONS, Profiles, RerunOf, RunOption, RunOptions, Setting};
use jurat_format::problem::nearest;
use pyo3::conversion::FromPyObjectOwned;
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::arrow::Batches;
use crate::error::{named, problems, raised, usage};
use crate::function::function;
use crate::lines::{Lines, Source};
use crate::model::model;
use crate::rows::{Failed, Items, Rows};
use crate::running::{Notes, Running};
use crate::scenario::Scenario;
use crate::{desk, evaluator, json};

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
pub(crate) struct Suite(pub(crate) jurat::Suite);

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

    /// What names it by its content.
    #[getter]
    fn digest(&self) -> String {
        self.0.digest()
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
    #[pyo3(signature = (options, *, rows = None, items = "rows", caller = None))]
    fn start(
        &self,
        py: Python<'_>,
        options: &Bound<'_, PyDict>,
        rows: Option<&Bound<'_, PyAny>>,
        items: &str,
        caller: Option<Py<PyAny>>,
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
        let caller = caller.map(Arc::new);
        let notes = Notes::default();
        let noted = notes.clone();
        let running =
            py.detach(|| self.0.start_within(wanted, move |it| noted.add(it.to_string()), || desk::enter(caller)));
        let running = running.map_err(|error| raised(py, &error))?;
        Ok(Running::new(running, failed, notes))
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
#[pyo3(signature = (path, run_profile = None, evaluation_profile = None))]
pub(crate) fn load_suite(
    py: Python<'_>,
    path: PathBuf,
    run_profile: Option<PathBuf>,
    evaluation_profile: Option<PathBuf>,
) -> PyResult<Suite> {
    let named = |it: Option<PathBuf>| it.map(|it| it.display().to_string());
    let profiles = Profiles { run: named(run_profile), evaluation: named(evaluation_profile) };
    py.detach(|| jurat::Suite::load_for_rows(path, profiles)).map(Suite).map_err(|error| raised(py, &error))
}

/// Options by their names.
pub(crate) fn read(options: &Bound<'_, PyDict>) -> PyResult<RunOptions> {
    let mut read = RunOptions::new();
    for (name, value) in options {
        let name = name.cast::<PyString>()?.to_str()?;
        let known = OPTIONS.iter().find(|it| it.name == name);
        match (known, name) {
            _ if value.is_none() => {}
            (Some(option), _) => set(&mut read, option, &value).map_err(|error| misfit(name, error, &value))?,
            (None, "directory") => read.directory = extracted(name, &value)?,
            (None, "variables") => read.variables = extracted(name, &value)?,
            (None, "rows_digest") => read.rows_digest = extracted(name, &value)?,
            (None, _) => return Err(usage(options.py(), unknown(name))),
        }
    }
    if !read.directory.as_os_str().is_empty() && !read.directory.is_dir() {
        let directory = read.directory.display();
        let message =
            format!("`directory` is `{directory}`, which is no directory; runs are stored there, so make it first");
        return Err(named(options.py(), "MissingDirectoryError", message));
    }
    Ok(read)
}

fn extracted<'py, T: FromPyObjectOwned<'py>>(name: &str, value: &Bound<'py, PyAny>) -> PyResult<T> {
    value.extract::<T>().map_err(|error| misfit(name, error.into(), value))
}

/// That an option does not take a value. What our own checks say is clear already.
fn misfit(name: &str, error: PyErr, value: &Bound<'_, PyAny>) -> PyErr {
    let py = value.py();
    if !error.is_instance_of::<PyTypeError>(py) && !error.is_instance_of::<PyOverflowError>(py) {
        return error;
    }
    let given = value.repr().map_or_else(|_| "?".to_owned(), |it| it.to_string());
    PyTypeError::new_err(format!("the option `{name}` does not take {given}: {}", error.value(py)))
}

fn unknown(name: &str) -> String {
    let known = run_options();
    match nearest(name, known.iter().copied()) {
        Some(near) => format!("there is no option `{name}`; did you mean `{near}`?"),
        None => format!("there is no option `{name}`; there are {}", known.join(", ")),
    }
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
