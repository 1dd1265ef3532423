//! Runs that are over, read back from their files.

use std::fs::File;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jurat::{Conclusion, Format};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::arrow;
use crate::error::{named, raised, usage};
use crate::value;

/// A run that is over.
#[pyclass(frozen, module = "jurat._jurat")]
pub(crate) struct Run(Mutex<jurat::Run>);

/// What each task of each case came to, as a stream of Arrow.
#[pyclass(frozen, module = "jurat._jurat")]
pub(crate) struct Table(PathBuf);

impl Run {
    pub(crate) fn new(run: jurat::Run) -> Run {
        Run(Mutex::new(run))
    }

    fn run(&self) -> MutexGuard<'_, jurat::Run> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is read from it while other threads of Python go on.
    fn read<T: Send>(
        &self,
        py: Python<'_>,
        read: impl Fn(&jurat::Run) -> Result<T, jurat::Error> + Sync,
    ) -> PyResult<T> {
        py.detach(|| read(&self.run())).map_err(|error| raised(py, &error))
    }
}

#[pymethods]
impl Run {
    #[getter]
    fn id(&self) -> String {
        self.run().id().to_owned()
    }

    #[getter]
    fn path(&self) -> PathBuf {
        self.run().path()
    }

    /// How it ended, in one word.
    #[getter]
    fn conclusion(&self) -> &'static str {
        match self.run().conclusion() {
            Conclusion::Passed => "passed",
            Conclusion::Failed => "failed",
            Conclusion::Undecided => "undecided",
            Conclusion::Limited => "limited",
            Conclusion::Nothing => "nothing",
            Conclusion::Interrupted => "interrupted",
        }
    }

    /// The figures of the whole.
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let run = self.run();
        let dict = PyDict::new(py);
        let counts = run.counts();
        let tasks = PyDict::new(py);
        tasks.set_item("passed", counts.passed)?;
        tasks.set_item("failed", counts.failed)?;
        tasks.set_item("measured", counts.measured)?;
        tasks.set_item("skipped", counts.skipped)?;
        tasks.set_item("error", counts.errored)?;
        tasks.set_item("not_run", counts.not_run)?;
        dict.set_item("counts", tasks)?;
        let cases = run.case_counts();
        let dict_cases = PyDict::new(py);
        dict_cases.set_item("total", cases.total())?;
        dict_cases.set_item("passed", cases.passed)?;
        dict_cases.set_item("failed", cases.failed)?;
        dict_cases.set_item("error", cases.error)?;
        dict.set_item("cases", dict_cases)?;
        dict.set_item("pass_rate", run.pass_rate())?;
        dict.set_item("interval", run.interval().map(|it| (it.low, it.high)))?;
        dict.set_item("missed", run.missed().to_vec())?;
        dict.set_item("stopped", run.stopped().map(jurat::StopReason::name))?;
        dict.set_item("cost_usd", run.cost_usd())?;
        dict.set_item("tokens", (run.usage().input, run.usage().output))?;
        dict.set_item("answers", run.answers())?;
        Ok(dict)
    }

    /// Each task over all cases: a list of dicts.
    fn task_totals<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for total in self.run().task_totals() {
            let dict = PyDict::new(py);
            dict.set_item("task", &total.id)?;
            dict.set_item("kind", &total.kind)?;
            dict.set_item("passed", total.counts.passed)?;
            dict.set_item("failed", total.counts.failed)?;
            dict.set_item("measured", total.counts.measured)?;
            dict.set_item("skipped", total.counts.skipped)?;
            dict.set_item("error", total.counts.errored)?;
            dict.set_item("pass_rate", total.counts.pass_rate())?;
            list.append(dict)?;
        }
        Ok(list)
    }

    /// Some cases with what their tasks came to, from a place on: a list of dicts.
    fn cases<'py>(&self, py: Python<'py>, start: u64, n: u64) -> PyResult<Bound<'py, PyList>> {
        let cases =
            self.read(py, |run| run.cases_from(start..start.saturating_add(n)).collect::<Result<Vec<_>, _>>())?;
        let list = PyList::empty(py);
        for case in &cases {
            list.append(case_dict(py, case)?)?;
        }
        Ok(list)
    }

    fn table(&self, py: Python<'_>, tasks: bool) -> PyResult<String> {
        self.read(py, |run| if tasks { run.task_table() } else { run.table() })
    }

    fn explain(&self, py: Python<'_>, case: &str, task: &str) -> PyResult<String> {
        self.read(py, |run| run.explain(case, task))
    }

    fn results_json(&self, py: Python<'_>) -> PyResult<String> {
        self.read(py, jurat::Run::results_json)
    }

    /// The rows with what subjects answered: a list.
    fn answered<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let rows = self.read(py, |run| run.answered().collect::<Result<Vec<_>, _>>())?;
        let list = PyList::empty(py);
        for row in rows {
            list.append(value::object(py, &row.into())?)?;
        }
        Ok(list)
    }

    /// Writes it to a file.
    fn export(&self, py: Python<'_>, format: &str, path: PathBuf) -> PyResult<()> {
        let format = match format {
            "json" => Format::Json,
            "jsonl" => Format::JsonLines,
            "csv" => Format::Csv,
            "parquet" => Format::Parquet,
            "junit" => Format::Junit,
            "markdown" => Format::Markdown,
            "effects" => Format::Effects,
            other => {
                let known = "json, jsonl, csv, parquet, junit, markdown and effects";
                return Err(usage(py, format!("there is no format `{other}`; there are {known}")));
            }
        };
        let shown = path.display().to_string();
        let file = File::create(&path)
            .map_err(|error| named(py, "WriteError", format!("`{shown}` cannot be written: {error}")))?;
        self.read(py, |run| run.export(format, &file))
    }

    /// What each task of each case came to, as a stream of Arrow.
    fn arrow(&self) -> Table {
        Table(self.run().path())
    }
}

#[pymethods]
impl Table {
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        arrow::stream(py, &self.0, requested_schema)
    }
}

/// Opens a run by its file.
#[pyfunction]
pub(crate) fn open_run(py: Python<'_>, path: PathBuf) -> PyResult<Run> {
    py.detach(|| jurat::Run::open(path)).map(Run::new).map_err(|error| raised(py, &error))
}

/// Opens a run of the project that a directory belongs to.
#[pyfunction]
pub(crate) fn find_run(py: Python<'_>, directory: PathBuf, name: &str) -> PyResult<Run> {
    py.detach(|| jurat::Run::find(directory, name)).map(Run::new).map_err(|error| raised(py, &error))
}

fn case_dict<'py>(py: Python<'py>, case: &jurat::Case) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("id", case.id())?;
    dict.set_item("verdict", case.verdict().name())?;
    dict.set_item("subject", case.subject())?;
    dict.set_item("prompt", case.prompt())?;
    dict.set_item("replicate", case.replicate())?;
    dict.set_item("seconds", case.took().as_secs_f64())?;
    dict.set_item("cost_usd", case.cost_usd())?;
    let counts = case.counts();
    let counted = PyDict::new(py);
    counted.set_item("passed", counts.passed)?;
    counted.set_item("failed", counts.failed)?;
    counted.set_item("measured", counts.measured)?;
    counted.set_item("skipped", counts.skipped)?;
    counted.set_item("error", counts.errored)?;
    counted.set_item("not_run", counts.not_run)?;
    dict.set_item("counts", counted)?;
    dict.set_item("pass_rate", counts.pass_rate())?;
    let execution = case.execution().map(|it| value::object(py, &it.value().clone().into())).transpose()?;
    dict.set_item("execution", execution)?;
    let tasks = PyList::empty(py);
    for task in case.tasks() {
        tasks.append(task_dict(py, task)?)?;
    }
    dict.set_item("tasks", tasks)?;
    Ok(dict)
}

fn task_dict<'py>(py: Python<'py>, task: jurat::TaskResult<'_>) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("id", task.id())?;
    dict.set_item("kind", task.kind())?;
    dict.set_item("is_counted", task.is_counted())?;
    dict.set_item("verdict", task.verdict().name())?;
    dict.set_item("message", task.message())?;
    dict.set_item("expected", value::optional(py, task.expected())?)?;
    dict.set_item("actual", value::optional(py, task.actual())?)?;
    dict.set_item("reply", value::optional(py, task.reply())?)?;
    dict.set_item("label", task.label())?;
    dict.set_item("score", task.score())?;
    dict.set_item("explanation", task.explanation())?;
    dict.set_item("cost_usd", task.cost_usd())?;
    dict.set_item("seconds", task.latency().map(|it| it.as_secs_f64()))?;
    dict.set_item("requests", task.n_requests())?;
    Ok(dict)
}
