//! The code of evaluators, made ready before anything is asked, and called.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use jurat_core::effect::{Fault, FaultKind, Outcome, Printed, PrintedText, Returned};
use jurat_core::evaluator::{Code, Isolation, Language, SignatureError};
use jurat_core::plan::{Plan, PlannedEvaluate, Runs};
use jurat_core::scenario::Function;
use jurat_core::suite::{Evaluator, EvaluatorCode, EvaluatorKind, Suite};
use jurat_format::value::{Map, Val, Value, parse_json};
use jurat_sandbox::{
    Arguments, CodeRunner as _, Failure, Interpreters, Output, Pool, PoolOptions, Prepared, Program, Refused, Return,
    Source, look_for_interpreter, missing_layers,
};

use crate::HostFunctions;
use crate::host_function::call_here;
use crate::perform::Performer;
use crate::scripts;

/// An evaluator whose code cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum EvaluatorError {
    /// Its code is wrong, or no interpreter here may run it.
    #[error("evaluator `{evaluator}`: {refused}")]
    Refused { evaluator: String, refused: Refused },
    /// A function that this program does not have.
    #[error(
        "evaluator `{evaluator}` is the function `{function}` of the program that runs the suite, and this program has none of \
         that name; run it there, or replay a recording"
    )]
    NoFunction { evaluator: String, function: String },
    /// The program that asks cannot be a worker.
    #[error("evaluator `{evaluator}` is code, and this program has no workers to run it: {why}")]
    NoWorkers { evaluator: String, why: &'static str },
}

impl EvaluatorError {
    fn no_workers(evaluator: &str) -> EvaluatorError {
        let why = "call `jurat::serve_as_worker()` first thing in `main`";
        EvaluatorError::NoWorkers { evaluator: evaluator.to_owned(), why }
    }
}

/// Who runs the code of evaluators, and how carefully.
#[derive(Debug, Clone, Default)]
pub(crate) struct Workers {
    /// What is started as a worker.
    pub(crate) program: Option<Program>,
    /// Whether code is run where the system cannot keep it from everything else.
    pub(crate) is_unsafe: bool,
}

/// The evaluators of a plan.
#[derive(Debug, Default)]
pub(crate) struct Evaluators {
    pool: Option<Pool>,
    /// By the digest of their code.
    ready: BTreeMap<String, Ready>,
    /// Functions of this program, by the same.
    functions: BTreeMap<String, (Function, Performer<'static>)>,
}

#[derive(Debug)]
struct Ready {
    prepared: Prepared,
    performer: Performer<'static>,
}

impl Evaluators {
    /// Makes those of a plan ready. `folder` is where interpreters are looked for that are named by a path. What functions of this program return is in
    /// the form of [`jurat_core::evaluator::transport`].
    pub(crate) fn open(
        plan: &Plan,
        folder: &Path,
        workers: &Workers,
        functions: &HostFunctions,
    ) -> Result<Evaluators, EvaluatorError> {
        let mut evaluators = Evaluators::default();
        for PlannedEvaluate { name, runs, .. } in plan.evaluators() {
            if let Runs::Function(function) = runs {
                let Some(found) = functions.get(&*function.name) else {
                    let function = function.name.to_string();
                    return Err(EvaluatorError::NoFunction { evaluator: name.to_string(), function });
                };
                let performer = Performer::of_actions(Val::from(function.digest()), function.is_deterministic);
                evaluators.functions.insert(function.digest(), (found.clone(), performer));
                continue;
            }
            let Runs::Code(code) = runs else { continue };
            let digest = code.digest();
            if evaluators.ready.contains_key(&digest) {
                continue;
            }
            if evaluators.pool.is_none() {
                let program = workers.program.clone().ok_or_else(|| EvaluatorError::no_workers(name))?;
                let options = PoolOptions { is_unsafe: workers.is_unsafe, ..PoolOptions::of(program) };
                evaluators.pool = Some(Pool::new(options));
            }
            let Some(pool) = &evaluators.pool else { continue };
            let prepared = pool.prepare(source(code, folder)).wait();
            let prepared =
                prepared.map_err(|refused| EvaluatorError::Refused { evaluator: name.to_string(), refused })?;
            let performer = Performer::of_actions(digest_of(&prepared), code.is_deterministic);
            evaluators.ready.insert(digest, Ready { prepared, performer });
        }
        Ok(evaluators)
    }

    /// Who runs the code with a digest.
    pub(crate) fn performer(&self, source: &str) -> Option<&Performer<'static>> {
        let of_function = || self.functions.get(source).map(|(_, performer)| performer);
        self.ready.get(source).map(|it| &it.performer).or_else(of_function)
    }

    pub(crate) async fn call(&self, source: &str, arguments: &Value) -> Outcome {
        if let Some((function, _)) = self.functions.get(source) {
            return call_here(function, arguments).await;
        }
        let fault = |kind, message: String| Outcome::Fault(Box::new(Fault::new(kind, message, 1)));
        let (Some(pool), Some(ready)) = (&self.pool, self.ready.get(source)) else {
            return fault(FaultKind::Unsupported, "no interpreter here runs this code".to_owned());
        };
        let arguments = match Arguments::from_json(arguments.to_json()) {
            Ok(arguments) => arguments,
            Err(error) => return fault(FaultKind::Tool, format!("the arguments cannot be passed: {error}")),
        };
        let started = Instant::now();
        let result = pool.call(&ready.prepared, vec![arguments]).await.pop();
        let returned = |value, is_error, printed| {
            let latency = started.elapsed();
            Outcome::Returned(Box::new(Returned {
                printed,
                ..Returned::new(value, is_error, latency, crate::now_ms())
            }))
        };
        match result {
            Some(Ok(Return { value, stdout, stderr })) => match parse_json(&value) {
                Ok(value) => returned(value.value.into_owned(), false, printed(stdout, stderr)),
                Err(error) => fault(FaultKind::Garbled, format!("what came back is no value: {error}")),
            },
            Some(Err(failure)) => {
                let words = failure.to_string();
                match failure {
                    Failure::Raised { stdout, stderr, .. } | Failure::NotStored { stdout, stderr, .. } => {
                        returned(Val::from(words), true, printed(stdout, stderr))
                    }
                    Failure::Deadline(_) => fault(FaultKind::Timeout, words),
                    _ => fault(FaultKind::Tool, words),
                }
            }
            None => fault(FaultKind::Tool, "nothing came back".to_owned()),
        }
    }
}

/// The evaluators of a plan that cannot be run: functions that are not here, code whose interpreter is not, and code that this machine cannot isolate. Only
/// files and the kernel are looked at.
pub(crate) fn missing(plan: &Plan, folder: &Path, workers: &Workers, functions: &HostFunctions) -> Vec<EvaluatorError> {
    let missing = |PlannedEvaluate { name, runs, .. }: &PlannedEvaluate| match runs {
        Runs::Function(function) if !functions.contains_key(&*function.name) => {
            let function = function.name.to_string();
            Some(EvaluatorError::NoFunction { evaluator: name.to_string(), function })
        }
        Runs::Code(_) if workers.program.is_none() => Some(EvaluatorError::no_workers(name)),
        Runs::Code(code) => {
            let refused = refused(code, folder, workers)?;
            Some(EvaluatorError::Refused { evaluator: name.to_string(), refused })
        }
        _ => None,
    };
    plan.evaluators().filter_map(missing).collect()
}

fn refused(code: &Code, folder: &Path, workers: &Workers) -> Option<Refused> {
    let unprotected = if workers.is_unsafe { Vec::new() } else { missing_layers() };
    if !unprotected.is_empty() {
        return Some(Refused::Unprotected(unprotected));
    }
    let is_python = code.source.language == Language::Python;
    let interpreter = is_python.then(|| look_for_interpreter(source(code, folder).python.as_deref()))?;
    interpreter.err().map(Refused::Interpreter)
}

/// What is wrong with the Python of a suite, as an interpreter of the user sees it. What the suite names as `python` is not started, and neither is what lies
/// in its folder or in the current directory. Where no other interpreter of the same version is found, nothing is reported.
pub(crate) fn parsed(suite: &Suite, folder: &Path, worker: Program) -> Vec<(EvaluatorCode, SignatureError)> {
    let is_open = |it: &&Evaluator| !it.has_errors();
    let codes = suite.evaluators.iter().filter(is_open).filter_map(|it| match &it.kind {
        EvaluatorKind::Code(code) if code.code.source.language == Language::Python => Some(code),
        _ => None,
    });
    let mut pool = None;
    let mut wrong = Vec::new();
    for code in codes {
        let pool = pool.get_or_insert_with(|| {
            let interpreters = Interpreters::OutsideOf(own_folders(folder));
            Pool::new(PoolOptions { n_workers: 1, interpreters, ..PoolOptions::of(worker.clone()) })
        });
        if let Err(refused @ Refused::Source { .. }) = pool.prepare(source(&code.code, folder)).wait() {
            wrong.push((code.clone(), scripts::wrong(&code.code.source.text, refused)));
        }
    }
    wrong
}

/// The folders that an author may have filled: that of the suite, and the current directory.
fn own_folders(folder: &Path) -> Vec<PathBuf> {
    [folder, Path::new(".")].iter().filter_map(|it| std::path::absolute(it).ok()?.canonicalize().ok()).collect()
}

fn printed(stdout: Output, stderr: Output) -> Printed {
    let text = |it: Output| PrintedText { text: it.text, n_dropped: it.n_dropped };
    Printed { stdout: text(stdout), stderr: text(stderr) }
}

fn source(code: &Code, folder: &Path) -> Source {
    let language = match code.source.language {
        Language::TypeScript => jurat_sandbox::Language::TypeScript,
        Language::JavaScript => jurat_sandbox::Language::JavaScript,
        // Sources are never Rust.
        Language::Python | Language::Rust => jurat_sandbox::Language::Python,
    };
    let isolation = match code.isolation {
        Isolation::Process => jurat_sandbox::Isolation::Process,
        Isolation::Fork => jurat_sandbox::Isolation::Fork,
    };
    let limits = jurat_sandbox::Limits {
        deadline: code.limits.timeout,
        memory: code.limits.memory,
        ..jurat_sandbox::Limits::default()
    };
    Source {
        language,
        text: code.source.text.to_string(),
        entry: code.source.entry.to_string(),
        isolation,
        limits,
        python: code.python.as_ref().map(|it| interpreter(it, folder)),
    }
}

/// A bare name is a program of the search path, unless the suite has a virtual environment of that name; a path is relative to the suite.
fn interpreter(named: &str, folder: &Path) -> PathBuf {
    let path = folder.join(named);
    if !named.contains('/') && !path.is_dir() {
        return PathBuf::from(named);
    }
    if folder.as_os_str().is_empty() { Path::new(".").join(path) } else { path }
}

/// What decides the result of a call, beside the code and its arguments.
fn digest_of(prepared: &Prepared) -> Value {
    let interpreter = blake3::hash(prepared.interpreter().as_bytes()).to_hex().to_string();
    let revision = i64::from(jurat_sandbox::worker::REVISION);
    let members: [(&str, Value); 2] = [("interpreter", Val::from(interpreter)), ("worker", Val::from(revision))];
    Val::Map(members.into_iter().collect::<Map<'_>>())
}
