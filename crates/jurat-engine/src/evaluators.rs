//! The code of evaluators, made ready before anything is asked, and called.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use jurat_core::effect::{Fault, FaultKind, Outcome, Returned};
use jurat_core::evaluator::{Code, Isolation, Language};
use jurat_core::plan::{Plan, PlannedEvaluate, Runs};
use jurat_core::value::{Map, Val, Value, parse_json};
use jurat_sandbox::{
    Arguments, CodeRunner as _, Failure, Pool, PoolOptions, Prepared, Program, Refused, Return, Source,
};

use crate::perform::Doer;

/// An evaluator whose code cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum EvaluatorError {
    /// Its code is wrong, or nobody here may run it.
    #[error("evaluator `{evaluator}`: {refused}")]
    Refused {
        /// The evaluator.
        evaluator: String,
        /// Why.
        refused: Refused,
    },
    /// The program that asks cannot be a worker.
    #[error("evaluator `{evaluator}` is code, and this program has no workers to run it: {why}")]
    NoWorkers {
        /// The evaluator.
        evaluator: String,
        /// What is missing.
        why: &'static str,
    },
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
}

#[derive(Debug)]
struct Ready {
    prepared: Prepared,
    doer: Doer,
}

impl Evaluators {
    /// Makes those of a plan ready. `folder` is where interpreters are looked for that are named by a path.
    pub(crate) fn open(plan: &Plan, folder: &Path, workers: &Workers) -> Result<Evaluators, EvaluatorError> {
        let mut evaluators = Evaluators::default();
        let called = plan.tasks.iter().filter_map(|it| it.evaluate.as_ref());
        for PlannedEvaluate { name, runs, .. } in called {
            let Runs::Code(code) = runs else { continue };
            let digest = code.digest();
            if evaluators.ready.contains_key(&digest) {
                continue;
            }
            if evaluators.pool.is_none() {
                let no_workers = |why| EvaluatorError::NoWorkers { evaluator: name.to_string(), why };
                let program = workers
                    .program
                    .clone()
                    .ok_or_else(|| no_workers("call `jurat::serve_as_worker()` first thing in `main`"))?;
                let options = PoolOptions { is_unsafe: workers.is_unsafe, ..PoolOptions::of(program) };
                evaluators.pool = Some(Pool::new(options));
            }
            let Some(pool) = &evaluators.pool else { continue };
            let prepared = pool.prepare(source(code, folder)).wait();
            let prepared =
                prepared.map_err(|refused| EvaluatorError::Refused { evaluator: name.to_string(), refused })?;
            let doer = Doer { digest: digest_of(&prepared), is_reusable: code.is_deterministic };
            evaluators.ready.insert(digest, Ready { prepared, doer });
        }
        Ok(evaluators)
    }

    /// Who runs the code with a digest.
    pub(crate) fn doer(&self, source: &str) -> Option<&Doer> {
        self.ready.get(source).map(|it| &it.doer)
    }

    /// Calls code.
    pub(crate) async fn call(&self, source: &str, arguments: &Value) -> Outcome {
        let fault = |kind, message: String| Outcome::Fault(Box::new(Fault::new(kind, message, 1)));
        let (Some(pool), Some(ready)) = (&self.pool, self.ready.get(source)) else {
            return fault(FaultKind::Unsupported, "there is nobody here who runs this code".to_owned());
        };
        let arguments = match Arguments::from_json(arguments.to_json()) {
            Ok(arguments) => arguments,
            Err(error) => return fault(FaultKind::Tool, format!("the arguments cannot be passed: {error}")),
        };
        let started = Instant::now();
        let result = pool.call(&ready.prepared, vec![arguments]).await.pop();
        let returned = |value, is_error| {
            let latency = started.elapsed();
            Outcome::Returned(Box::new(Returned { value, is_error, latency, at_ms: crate::now_ms() }))
        };
        match result {
            Some(Ok(Return { value, .. })) => match parse_json(&value) {
                Ok(value) => returned(value.value.into_owned(), false),
                Err(error) => fault(FaultKind::Garbled, format!("what came back is no value: {error}")),
            },
            Some(Err(failure @ (Failure::Raised { .. } | Failure::NotKept(_)))) => {
                returned(Val::from(failure.to_string()), true)
            }
            Some(Err(failure @ Failure::Deadline(_))) => fault(FaultKind::Timeout, failure.to_string()),
            Some(Err(failure)) => fault(FaultKind::Tool, failure.to_string()),
            None => fault(FaultKind::Tool, "nothing came back".to_owned()),
        }
    }
}

fn source(code: &Code, folder: &Path) -> Source {
    let language = match code.source.language {
        Language::Python => jurat_sandbox::Language::Python,
        Language::TypeScript => jurat_sandbox::Language::TypeScript,
        Language::JavaScript => jurat_sandbox::Language::JavaScript,
    };
    let isolation = match code.isolation {
        Isolation::Process => jurat_sandbox::Isolation::Process,
        Isolation::Fork => jurat_sandbox::Isolation::Fork,
    };
    // A bare name is looked for where programs are; a path is one of the suite's.
    let interpreter =
        |named: &String| if named.contains('/') { folder.join(named) } else { PathBuf::from(named.as_str()) };
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
        python: code.python.as_ref().map(interpreter),
    }
}

/// What decides, beside the code and its arguments, what a call comes to.
fn digest_of(prepared: &Prepared) -> Value {
    let interpreter = blake3::hash(prepared.interpreter().as_bytes()).to_hex().to_string();
    let revision = i64::from(jurat_sandbox::worker::REVISION);
    let members: [(&str, Value); 2] = [("interpreter", Val::from(interpreter)), ("worker", Val::from(revision))];
    Val::Map(members.into_iter().collect::<Map<'_>>())
}
