//! Runs in progress.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use jurat::Watch;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::raised;
use crate::rows::Failed;
use crate::run::Run;
use crate::value::dict;

/// A run in progress, on threads of its own.
#[pyclass(frozen, module = "jurat._jurat")]
pub(crate) struct Running {
    running: Mutex<Option<jurat::Running>>,
    /// The end, once there is one. A signal may come between its being returned and its being looked at, so it can be returned again.
    ended: OnceLock<Ended>,
    watch: Watch,
    failed: Failed,
    notes: Notes,
}

/// What the caller may want to know, until it is taken.
#[derive(Debug, Clone, Default)]
pub(crate) struct Notes(Arc<Mutex<Vec<String>>>);

impl Notes {
    pub(crate) fn add(&self, note: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(note);
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// How a run ended.
type Ended = Result<Py<Run>, PyErr>;

impl Running {
    pub(crate) fn new(running: jurat::Running, failed: Failed, notes: Notes) -> Running {
        let watch = running.watch();
        Running { running: Mutex::new(Some(running)), ended: OnceLock::new(), watch, failed, notes }
    }
}

#[pymethods]
impl Running {
    /// Waits for the end, but no longer than these seconds; `None` when it is not over by then. Other threads of Python run meanwhile.
    fn wait_for(&self, py: Python<'_>, seconds: f64) -> PyResult<Option<Py<Run>>> {
        let time = Duration::try_from_secs_f64(seconds).unwrap_or_default();
        let ended = py.detach(|| {
            let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
            let ended = running.as_mut().and_then(|it| it.wait_for(time));
            if ended.is_some() {
                *running = None;
            }
            ended
        });
        if let Some(ended) = ended {
            let ended = match ended {
                Ok(run) => Py::new(py, Run::new(run)),
                // Rows that could not be read end a run; why is known here alone.
                Err(error) => Err(self.failed.take().unwrap_or_else(|| raised(py, &error))),
            };
            // Only who took the run out of its place comes here.
            let _ = self.ended.set(ended);
        }
        match self.ended.get() {
            None => Ok(None),
            Some(Ok(run)) => Ok(Some(run.clone_ref(py))),
            Some(Err(error)) => Err(error.clone_ref(py)),
        }
    }

    /// Stops it: nothing new is asked, what is in flight is finished; the second time it is dropped.
    fn stop(&self) {
        self.watch.stop();
    }

    /// What is to be known about the run as a whole, and what went wrong with requests, since this was called last: two lists of text.
    fn take_notes(&self) -> (Vec<String>, Vec<String>) {
        (self.notes.take(), self.watch.take_notes())
    }

    /// How far it has come.
    fn progress<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let jurat::Progress { done, failed, errors, requests, in_flight, cost_usd, total, .. } = self.watch.progress();
        Ok(dict!(py,
            done: done,
            failed: failed,
            errors: errors,
            requests: requests,
            in_flight: in_flight,
            cost_usd: cost_usd,
            total: total,
        ))
    }

    /// The same in one line for a window of this width. `total` is how many cases there are, where the caller knows before the run does.
    fn progress_bar(&self, width: usize, total: Option<u64>) -> String {
        let progress = self.watch.progress();
        jurat::Progress { total: progress.total.or(total), ..progress }.bar(width)
    }
}
