//! What is asked of the world, and what came back.
//!
//! The core says which requests may be made ([`crate::case::CaseState::steps`]); somebody at the rim makes them and hands each outcome
//! back, after writing it down. An outcome is evidence: the verdict drawn from it can be drawn again tomorrow.
//!
//! * [`ModelRequest`]: what is asked; [`Endpoint`]: who is asked, with everything that decides what is sent;
//! * [`Deed`]: what is asked of others than models; [`Request`]: either;
//! * [`Outcome`]: what became of it;
//! * [`StepSite`]: which request of a case this is;
//! * [`EffectKey`]: the name of a request by its content, under which answers are kept for other runs;
//! * [`wire`]: requests and outcomes as they are stored.

mod deed;
mod endpoint;
mod fault_class;
mod key;
mod messages;
mod outcome;
mod request;
mod schema;
mod site;
pub mod wire;

pub use deed::{Deed, Printed, PrintedText, Returned};
pub use endpoint::Endpoint;
pub use fault_class::FaultClass;
pub use key::{EffectKey, EndpointKey, KEY_REVISION, deed_key};
pub use messages::Messages;
pub use outcome::{Answer, Attempt, Fault, FaultKind, Finish, Outcome, Served, Usage};
pub use request::{Message, ModelRequest, Request, Tool, ToolCall, ToolChoice};
pub use schema::Schema;
pub(crate) use schema::TYPES;
pub use site::{Asker, Seat, StepSite};
