//! Scenarios: conversations with a subject along a graph.
//!
//! A node asks, an edge says where to continue, and criteria look at the whole afterwards.
//!
//! * [`definition`]: what a scenario is, frozen;
//! * [`when`]: conditions as they are written; [`write`](mod@write): scenarios written back; [`structure`]: whether it is sound; [`builder`]: built step by step;
//! * [`state`]: what is known between two turns; [`mod@route`]: where a conversation continues;
//! * [`conversation`]: what was said, and what the next turn is sent of it;
//! * [`compiled`]: a scenario compiled to run; [`traversal`]: one in progress; [`execution`]: what happened, as evidence.

pub mod builder;
pub mod compiled;
mod contradiction;
pub mod conversation;
pub mod definition;
pub mod execution;
pub mod route;
pub mod state;
pub mod structure;
pub(crate) mod text;
pub mod traversal;
pub mod when;
pub(crate) mod write;

pub use builder::{BuildError, BuildErrors, ScenarioBuilder};
pub use compiled::{CompiledNode, CompiledScenario, NotCompiled};
pub use definition::{
    Condition, Criterion, END, Edge, Example, Handover, ModelOverride, Node, Question, Scenario, StateCheck,
    StateUpdate, Target,
};
pub use execution::{End, Execution, Status, TurnRecord};
pub use route::{CompiledEdge, Route, Tested, route};
pub use state::{State, StatePath};
pub use structure::{Absence, Flaw};
pub use traversal::{GivenTurn, Traversal};

pub use crate::effect::{CallResult as Answer, Callable, Function};
pub use crate::evidence::failure::{FailureCategory, TurnFailure};
pub use crate::tool::{ToolFilter, ToolName};
