//! A request that may be made now.

use super::{Action, Asker, Callable, Request, Slot, StepSite};

/// A request that may be made now.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    pub site: StepSite,
    pub request: Request,
    /// How many requests it may take.
    pub max_requests: u32,
    /// The code to call, when it is there and this is a call.
    pub callable: Option<Callable>,
}

impl Step {
    pub(crate) fn action(asker: Asker, slot: Slot, turn: u32, action: Action) -> Step {
        let site = StepSite { asker, slot: slot.number(), turn };
        Step { site, request: action.into(), max_requests: 1, callable: None }
    }
}
