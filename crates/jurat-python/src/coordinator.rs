//! What leases one budget and one set of limits to many processes.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use jurat::shards::{Limits, coordinate};
use pyo3::prelude::*;

use crate::error::{raised, usage};

/// A coordinator that answers, until it is closed.
#[pyclass(frozen, module = "jurat._jurat")]
pub(crate) struct Coordinator(Mutex<Option<jurat::shards::Coordinator>>);

/// What all processes together may spend and do, as Python says it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Given {
    budget_usd: Option<f64>,
    budget_tokens: Option<u64>,
    budget_calls: Option<u64>,
    concurrency: Option<u32>,
    rpm: Option<u64>,
    tpm: Option<u64>,
}

#[pymethods]
impl Coordinator {
    #[new]
    fn new(py: Python<'_>, given: Given, listen: &str, file: PathBuf, token: String) -> PyResult<Coordinator> {
        let Given { budget_usd, budget_tokens, budget_calls, concurrency, rpm, tpm } = given;
        if budget_usd.is_some_and(|it| !it.is_finite() || it < 0.0) {
            return Err(usage(py, "`budget_usd` is an amount of dollars".to_owned()));
        }
        if concurrency == Some(0) {
            return Err(usage(py, "`concurrency` is at least 1".to_owned()));
        }
        let nano_usd = budget_usd.map(|it| (it * 1e9).floor() as u64);
        let limits = Limits { nano_usd, tokens: budget_tokens, calls: budget_calls, concurrency, rpm, tpm };
        let address = listen.parse::<SocketAddr>();
        let address = address.map_err(|_| usage(py, format!("`listen` is an address with a port, not `{listen}`")))?;
        let started = py.detach(|| coordinate(limits, address, file, token));
        started.map(|it| Coordinator(Mutex::new(Some(it)))).map_err(|error| raised(py, &error))
    }

    /// Where it is reached.
    fn url(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, jurat::shards::Coordinator::url)
    }

    /// Everything that it knows, as JSON.
    fn state(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |it| it.state().to_string())
    }

    /// Leases nothing more.
    fn stop(&self, py: Python<'_>) -> PyResult<()> {
        let stopped = self.with(py, |it| it.stop().map_err(|error| error.to_string()))?;
        stopped.map_err(|error| usage(py, error))
    }

    fn close(&self, py: Python<'_>) {
        py.detach(|| drop(self.0.lock().unwrap_or_else(PoisonError::into_inner).take()));
    }
}

impl Coordinator {
    fn with<T: Send>(&self, py: Python<'_>, take: impl FnOnce(&jurat::shards::Coordinator) -> T + Send) -> PyResult<T> {
        let taken = py.detach(|| self.0.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(take));
        taken.ok_or_else(|| usage(py, "the coordinator is closed".to_owned()))
    }
}
