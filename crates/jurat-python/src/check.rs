//! Deterministic checks over the run of an agent, in whichever program it ran.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use jurat_compare::Judgement;
use jurat_core::check::Check;
use jurat_core::evidence::run;
use jurat_core::plan::{Samples, examine};
use jurat_core::suite::{Task, TaskKind, load};
use jurat_format::problem::Severity;
use jurat_format::source::{Files, ReadError};
use jurat_format::value::{Map, Val};
use jurat_host::HostFiles;
use jurat_host::hook::{self, Ender, HookCall};
use jurat_sandbox::worker;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::command::WORKER;
use crate::error::named;
use crate::json;
use crate::value::dict;

/// Runs checks, as suites have them, over a run artifact: a list of dicts. Paths are relative to `base_dir`; `python` is the interpreter of hooks; those of
/// the checks in `called_elsewhere` are called by the caller.
#[pyfunction]
pub(crate) fn run_checks<'py>(
    py: Python<'py>,
    artifact: &Bound<'_, PyAny>,
    checks: &Bound<'_, PyList>,
    base_dir: PathBuf,
    allow_hooks: bool,
    python: PathBuf,
    called_elsewhere: Vec<String>,
) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let tasks = tasks(py, checks, &base_dir)?;
    let artifact = json::value(artifact)?;
    let evidence = run::evidence(artifact).map_err(|it| named(py, "DataError", format!("the run artifact: {it}")))?;
    let host_files = |check: &Check| HostFiles { definition: check.home().to_owned(), run: base_dir.clone() };
    let mut results = Vec::new();
    for task in &tasks {
        let TaskKind::Check(check) = &task.kind else { continue };
        let (passed, message) = py.detach(|| match check.hook() {
            Some(_) if called_elsewhere.contains(&task.id.value) => (None, String::new()),
            Some(_) if !allow_hooks => (None, DISABLED.to_owned()),
            Some(hook) => {
                let call = HookCall {
                    hook: hook.clone(),
                    artifact: evidence.to_json(),
                    check_id: task.id.value.clone(),
                    description: task.description.clone(),
                    source: check.source.clone(),
                    python: python.clone().into_os_string(),
                    supervisor: supervisor(&python),
                    time_limit: hook::TIME_LIMIT,
                };
                match hook::call(&call, &Ender::new()) {
                    Ok(answer) => (Some(answer.passed), answer.message.unwrap_or_default()),
                    Err(error) => (None, error),
                }
            }
            None => match check.run(&evidence, &host_files(check)) {
                Judgement::Passed => (Some(true), String::new()),
                Judgement::Failed(mismatch) => (Some(false), mismatch.to_string()),
                Judgement::Error(error) => (None, error.to_string()),
            },
        });
        let named: Vec<&str> = task.dimensions.iter().map(|it| it.value.as_str()).collect();
        let dimensions = if named.is_empty() { check.default_dimensions().to_vec() } else { named };
        results.push(dict!(py,
            check_id: &task.id.value,
            kind: check.kind(),
            dimensions: dimensions,
            passed: passed,
            message: message,
        ));
    }
    Ok(results)
}

/// What starts a hook and ends it with this process: an interpreter with this package. Without the path of this interpreter there is none.
fn supervisor(python: &Path) -> Vec<OsString> {
    if !cfg!(target_os = "linux") || !python.is_absolute() {
        return Vec::new();
    }
    let words = WORKER.into_iter().chain([worker::WORD, worker::SUPERVISE]).map(OsString::from);
    [python.as_os_str().to_owned()].into_iter().chain(words).collect()
}

const DISABLED: &str = "python hooks are disabled: set `allow_local_python_hooks` in the security policy to run them";

/// The checks as tasks of a suite that has nothing else.
fn tasks(py: Python<'_>, checks: &Bound<'_, PyList>, base_dir: &Path) -> PyResult<Vec<Task>> {
    let members = [
        ("suite", Val::from("checks")),
        ("records", [Val::Map([("id", Val::from("run"))].into_iter().collect())].into_iter().collect()),
        ("deterministic_checks", json::value(checks)?),
    ];
    let suite = Val::Map(members.into_iter().collect::<Map<'_>>());
    let loaded = load(&base_dir.join("checks.json"), &Memory(suite.to_json()));
    let problems = loaded.problems.iter().cloned().chain(examine(&loaded.suite, &Samples::default()));
    let errors: Vec<_> = problems.filter(|it| it.severity() == Severity::Error).collect();
    if errors.is_empty() {
        return Ok(loaded.suite.tasks);
    }
    let messages: Vec<String> = errors.iter().map(|it| it.message.clone()).collect();
    Err(named(py, "SuiteError", messages.join("\n")))
}

/// A definition that is in no file.
struct Memory(String);

impl Files for Memory {
    fn read(&self, _: &Path, _: u64) -> Result<Vec<u8>, ReadError> {
        Ok(self.0.clone().into_bytes())
    }
}
