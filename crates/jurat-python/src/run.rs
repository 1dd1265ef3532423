//! Runs that are over, read back from their files.

use std::fs::File;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use arrow_array::{RecordBatch, RecordBatchIterator, RecordBatchReader};
use jurat::format::{FORMATS, Format};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList};

use crate::arrow;
use crate::error::{named, raised, usage};
use crate::results::LongTexts;
use crate::value::{Object, dict};

/// A run that is over.
#[pyclass(frozen, module = "jurat._jurat")]
pub(crate) struct Run(Mutex<jurat::Run>);

/// The result of each task of each case, as a stream of Arrow.
#[pyclass(frozen, module = "jurat._jurat")]
pub(crate) struct Table {
    run: PathBuf,
    is_detailed: bool,
    texts: LongTexts,
}

/// The same as an iterator over parts, each a stream of one batch. The run is opened once.
#[pyclass(frozen, module = "jurat._jurat")]
pub(crate) struct Parts(Mutex<Box<dyn RecordBatchReader + Send>>);

/// The results of some cases.
#[pyclass(frozen, module = "jurat._jurat")]
pub(crate) struct Part(RecordBatch);

impl Run {
    pub(crate) fn new(run: jurat::Run) -> Run {
        Run(Mutex::new(run))
    }

    fn run(&self) -> MutexGuard<'_, jurat::Run> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is read from it while other threads of Python run.
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
        self.run().conclusion().name()
    }

    /// The numbers of the whole run.
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let run = self.run();
        let cases = run.case_counts();
        Ok(dict!(py,
            counts: counts(py, run.counts())?,
            cases: dict!(py,
                total: cases.total(),
                passed: cases.passed,
                failed: cases.failed,
                measured: cases.measured,
                not_judged: cases.not_judged,
                not_run: cases.not_run,
                error: cases.error,
            ),
            suite: &run.report().suite,
            pass_rate: run.pass_rate(),
            interval: run.interval().map(|it| (it.low, it.high)),
            missed: run.missed(),
            decision: &run.decision().sentence,
            stopped: run.stopped().map(jurat::StopReason::name),
            cost_usd: run.cost_usd(),
            tokens: (run.usage().input, run.usage().output),
            answers: run.answers(),
        ))
    }

    /// Each task over all cases: a list of dicts.
    fn task_totals<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let total = |it: &jurat::TaskTotal| {
            Ok(dict!(py,
                task: &it.id,
                kind: &it.kind,
                passed: it.counts.passed,
                failed: it.counts.failed,
                measured: it.counts.measured,
                skipped: it.counts.skipped,
                error: it.counts.errored,
                pass_rate: it.counts.pass_rate(),
                interval: it.interval().map(|it| (it.low, it.high)),
                is_counted: it.is_counted(),
            ))
        };
        self.run().task_totals().iter().map(total).collect()
    }

    /// Some cases with the results of their tasks, from a place on: a list of dicts.
    fn cases<'py>(&self, py: Python<'py>, start: u64, n: u64) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let cases =
            self.read(py, |run| run.cases_from(start..start.saturating_add(n)).collect::<Result<Vec<_>, _>>())?;
        cases.iter().map(|it| case(py, it)).collect()
    }

    /// The first case with this id; `None` when there is none.
    fn case<'py>(&self, py: Python<'py>, id: &str) -> PyResult<Option<Bound<'py, PyDict>>> {
        let cases = self.read(py, |run| run.cases_of(id))?;
        cases.first().map(|it| case(py, it)).transpose()
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
        PyList::new(py, rows.into_iter().map(Object))
    }

    /// Writes it to a file.
    fn export(&self, py: Python<'_>, format: &str, path: PathBuf) -> PyResult<()> {
        let Some(format) = Format::named(format) else {
            let known = Format::names(|_| true);
            return Err(usage(py, format!("there is no format `{format}`; there are {known}")));
        };
        let shown = path.display().to_string();
        let file = File::create(&path)
            .map_err(|error| named(py, "WriteError", format!("`{shown}` cannot be written: {error}")))?;
        self.read(py, |run| run.export(format, &file))
    }

    /// The groups of cases that `group_by` makes: a list of dicts.
    fn slices<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let slice = |it: &jurat::SliceTotal| {
            let (counts, pass_rate) = (counts(py, it.counts)?, it.counts.pass_rate());
            Ok(dict!(py, path: &it.path, value: it.value.as_deref(), counts: counts, pass_rate: pass_rate))
        };
        self.run().report().slices.iter().map(slice).collect()
    }

    /// What was asked of whom: a list of dicts.
    fn subjects<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let subject = |it: &jurat::SubjectTotal| {
            Ok(dict!(py,
                subject: it.subject.as_deref(),
                prompt: it.prompt.as_deref(),
                counts: counts(py, it.counts)?,
                pass_rate: it.counts.pass_rate(),
                cost_usd: it.cost_usd,
                tokens: (it.usage.input, it.usage.output),
                seconds: it.latency.map(|it| it.as_secs_f64()),
            ))
        };
        self.run().report().subjects.iter().map(subject).collect()
    }

    /// When it began, in seconds since 1970, and how many seconds it took.
    fn times(&self) -> (f64, f64) {
        let run = self.run();
        let observed = &run.report().observed;
        (observed.started_at_ms as f64 / 1e3, observed.wall.as_secs_f64())
    }

    /// The result of each task of each case, as a stream of Arrow.
    #[pyo3(signature = (is_detailed, has_views = false))]
    fn arrow(&self, is_detailed: bool, has_views: bool) -> Table {
        let texts = if has_views { LongTexts::Views } else { LongTexts::Offsets };
        Table { run: self.run().path(), is_detailed, texts }
    }

    /// The same, a part of the cases at a time.
    fn parts(&self, py: Python<'_>, is_detailed: bool) -> PyResult<Parts> {
        let run = self.run().path();
        Ok(Parts(Mutex::new(arrow::reader(py, &run, is_detailed, LongTexts::Views)?)))
    }
}

#[pymethods]
impl Table {
    /// Arrow lets a stream have another schema than the one that is asked for: who reads it converts it.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        arrow::stream(py, &self.run, self.is_detailed, self.texts)
    }
}

impl Parts {
    fn reader(&self) -> MutexGuard<'_, Box<dyn RecordBatchReader + Send>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Parts {
    /// A part without cases, which has the columns.
    fn empty(&self) -> Part {
        Part(RecordBatch::new_empty(self.reader().schema()))
    }

    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Part>> {
        let batch = py.detach(|| self.reader().next()).transpose();
        batch.map(|it| it.map(Part)).map_err(|error| named(py, "ReadError", error.to_string()))
    }
}

#[pymethods]
impl Part {
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let batches = RecordBatchIterator::new([Ok(self.0.clone())], self.0.schema());
        arrow::capsule(py, Box::new(batches))
    }
}

/// The names of the formats that runs are exported in.
#[pyfunction]
pub(crate) fn formats() -> Vec<&'static str> {
    FORMATS.iter().map(|it| it.name).collect()
}

/// The format that the name of a file says.
#[pyfunction]
pub(crate) fn format_of_file(path: PathBuf) -> Option<&'static str> {
    Format::of_file(&path).map(|it| it.name)
}

/// The newest runs of the project that a directory belongs to: a list of dicts.
#[pyfunction]
pub(crate) fn list_runs(py: Python<'_>, directory: PathBuf, most: usize) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let listed = py.detach(|| jurat::Run::list(directory, most)).map_err(|error| raised(py, &error))?;
    let entry = |it: &jurat::RunEntry| {
        Ok(dict!(py,
            id: &it.id,
            path: &it.file,
            suite: &it.suite,
            started: it.started_at_ms.map(|it| it as f64 / 1e3),
            cases: it.cases,
            pass_rate: it.pass_rate,
            condition: it.condition.name(),
        ))
    };
    listed.0.iter().map(entry).collect()
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

/// How many tasks ended how.
fn counts<'py>(py: Python<'py>, counts: jurat::Counts) -> PyResult<Bound<'py, PyDict>> {
    Ok(dict!(py,
        passed: counts.passed,
        failed: counts.failed,
        measured: counts.measured,
        skipped: counts.skipped,
        error: counts.errored,
        not_run: counts.not_run,
    ))
}

/// A case, with the results of its tasks.
fn case<'py>(py: Python<'py>, case: &jurat::Case) -> PyResult<Bound<'py, PyDict>> {
    Ok(dict!(py,
        id: case.id(),
        verdict: case.verdict().name(),
        subject: case.subject(),
        prompt: case.prompt(),
        replicate: case.replicate(),
        seconds: case.took().as_secs_f64(),
        cost_usd: case.cost_usd(),
        counts: counts(py, case.counts())?,
        pass_rate: case.counts().pass_rate(),
        execution: case.execution().map(|it| Object(it.value().clone())),
        tasks: case.tasks().map(|it| task(py, &it)).collect::<PyResult<Vec<_>>>()?,
    ))
}

/// The result of a task of a case.
fn task<'py>(py: Python<'py>, task: &jurat::TaskResult<'_>) -> PyResult<Bound<'py, PyDict>> {
    Ok(dict!(py,
        id: task.id(),
        kind: task.kind(),
        is_counted: task.is_counted(),
        verdict: task.verdict().name(),
        message: task.message(),
        expected: task.expected().map(Object),
        actual: task.actual().map(Object),
        reply: task.reply().map(Object),
        label: task.label(),
        score: task.score(),
        explanation: task.explanation(),
        cost_usd: task.cost_usd(),
        seconds: task.latency().map(|it| it.as_secs_f64()),
        requests: task.n_requests(),
        outputs: task.outputs().iter().map(|it| output(py, it)).collect::<PyResult<Vec<_>>>()?,
    ))
}

/// The result of an output of a task.
fn output<'py>(py: Python<'py>, output: &jurat::OutputReport) -> PyResult<Bound<'py, PyDict>> {
    Ok(dict!(py,
        id: &output.name,
        verdict: output.verdict().name(),
        message: &output.message,
        label: output.label.as_deref(),
        score: output.score,
        explanation: output.explanation.as_deref(),
    ))
}
