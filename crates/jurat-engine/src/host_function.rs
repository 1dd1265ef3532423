//! Functions of the program that runs a suite, called. Those that answer later hold no thread while they do.

use std::collections::BTreeMap;
use std::time::Instant;

use jurat_core::effect::{Outcome, Returned};
use jurat_core::scenario::{Answer, Function};
use jurat_format::value::Value;
use tokio::sync::oneshot;

/// Functions of this program, by the name that definitions have for them: `call: NAME`.
pub type HostFunctions = BTreeMap<String, Function>;

/// Calls a function on this thread: for those that are quick, or answer later.
pub(crate) async fn call_here(function: &Function, arguments: &Value) -> Outcome {
    let started = Instant::now();
    let (answer, answered) = waiting();
    function.call(arguments, answer);
    outcome(answered.await.unwrap_or_else(unanswered), started)
}

/// Calls a function on a thread of its own: while it takes its time, other cases continue. One that answers later needs none.
pub(crate) async fn call_apart(function: &Function, arguments: &Value) -> Outcome {
    if function.is_deferred() {
        return call_here(function, arguments).await;
    }
    let started = Instant::now();
    let (answer, answered) = waiting();
    let (function, arguments) = (function.clone(), arguments.clone());
    let called = tokio::task::spawn_blocking(move || function.call(&arguments, answer)).await;
    // A panic is a mistake of the program, not of the subject.
    if let Err(error) = called
        && let Ok(panic) = error.try_into_panic()
    {
        std::panic::resume_unwind(panic);
    }
    outcome(answered.await.unwrap_or_else(unanswered), started)
}

type Answered = Result<Value, String>;

fn waiting() -> (Answer, oneshot::Receiver<Answered>) {
    let (send, answered) = oneshot::channel();
    // The case that waited may have given up.
    (Box::new(move |answer| drop(send.send(answer))), answered)
}

fn unanswered(_: oneshot::error::RecvError) -> Answered {
    Err("the run ended before the code did".to_owned())
}

fn outcome(answered: Answered, started: Instant) -> Outcome {
    let is_error = answered.is_err();
    let value = answered.unwrap_or_else(Value::from);
    let (latency, at_ms) = (started.elapsed(), crate::now_ms());
    Outcome::Returned(Box::new(Returned::new(value, is_error, latency, at_ms)))
}
