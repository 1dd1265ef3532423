//! Stops a run whose endpoint fails every request.
//!
//! A wrong key, an unknown model, an unreachable host or an exhausted quota fails the thousandth request as it failed the first. After a few of
//! them in a row, with no answer from the same endpoint between, nothing new is asked: the rest is `not_run`, and the same command resumes the run.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use jurat_core::effect::{Endpoint, FaultClass, Outcome};
use jurat_core::verdict::StopReason;

use crate::Stop;

/// How many requests to an endpoint must fail in a row.
const FAULTS: u32 = 5;

/// Counts faults that every further request would meet, by endpoint.
pub(crate) struct Breaker<'b> {
    /// `None` when the run is to continue to its end, whatever fails.
    stop: Option<&'b Stop>,
    in_a_row: RefCell<HashMap<*const Endpoint, u32>>,
}

impl<'b> Breaker<'b> {
    pub(crate) fn new(stop: &'b Stop, keep_going: bool) -> Breaker<'b> {
        Breaker { stop: (!keep_going).then_some(stop), in_a_row: RefCell::default() }
    }

    /// Takes in what an endpoint answered, or how the run of an agent ended that asks it, and stops the run when it fails every request.
    pub(crate) fn note(&self, endpoint: &Arc<Endpoint>, outcome: &Outcome) {
        let Some(stop) = self.stop else { return };
        let mut in_a_row = self.in_a_row.borrow_mut();
        match class(outcome) {
            Some(class) if class.is_fatal() => {
                let n = in_a_row.entry(Arc::as_ptr(endpoint)).or_default();
                *n += 1;
                if *n >= FAULTS {
                    stop.close(StopReason::EndpointFault);
                }
            }
            None if has_answered(outcome) => {
                in_a_row.remove(&Arc::as_ptr(endpoint));
            }
            // A fault of another kind says nothing about the next request.
            _ => {}
        }
    }
}

/// What a fault of the endpoint means for further requests; nothing where the endpoint is not known to have failed.
fn class(outcome: &Outcome) -> Option<FaultClass> {
    match outcome {
        Outcome::Fault(fault) => Some(fault.class),
        _ => outcome.endpoint_fault().map(|(class, _)| class),
    }
}

/// Whether the endpoint gave an answer. An agent that failed for reasons of its own may not have got one.
fn has_answered(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::Answer(_) => true,
        Outcome::Ran(ran) => ran.has_succeeded(),
        Outcome::Returned(_) | Outcome::Fault(_) | Outcome::NotRun(_) => false,
    }
}
