//! Requests to the outside, and their outcomes.
//!
//! The core says which requests may be made ([`crate::case::Case::steps`]); the engine makes them and hands each outcome back, after writing it
//! down. An outcome is evidence: the verdict drawn from it can be drawn again tomorrow.
//!
//! * [`Request`]: what is asked of a model ([`ModelRequest`]) or of anything else ([`Action`]);
//! * [`Role`]: the model that a request is for, by its role; [`Endpoint`]: the model that is asked, with everything that decides what is sent;
//! * [`Outcome`]: what became of a request; [`Reuse`]: how far it stands for making the request again;
//! * [`Step`]: a request that may be made now; [`StepSite`]: which request of a case it is; [`Callable`]: code of the embedding program;
//! * [`EffectKey`]: the name of a request by its content, under which outcomes are stored for other runs;
//! * [`wire`]: requests and outcomes as they are stored.

mod action;
mod attachment;
mod callable;
mod endpoint;
mod fault_class;
mod key;
mod logprobs;
mod media;
mod messages;
mod outcome;
mod parts;
mod reasoning;
mod request;
mod reuse;
mod role;
mod schema;
mod site;
mod step;
pub mod wire;

pub use action::{Action, Printed, PrintedText, Ran, Returned};
pub use attachment::{FileBase, FileRef, FoundFiles, file_name, files_found, found_to_value};
pub use callable::{CallResult, Callable, Function};
pub use endpoint::Endpoint;
pub use fault_class::FaultClass;
pub use key::{EffectKey, EndpointKey, KEY_REVISION, PerformerKey};
pub use logprobs::{Candidate, Logprobs, MOST_LOGPROBS, NO_LOGPROBS, TokenLogprob};
pub use media::{MOST_BYTES, Media, MediaDigest, MediaError, MediaKind};
pub use messages::Messages;
pub use outcome::{Answer, Attempt, Fault, FaultKind, Finish, Outcome, Served, Usage};
pub use parts::{Part, Parts};
pub use reasoning::Reasoning;
pub use request::{Message, ModelRequest, Request, Tool, ToolCall, ToolChoice, UsedTool};
pub use reuse::Reuse;
pub use role::Role;
pub use schema::Schema;
pub use site::{Asker, Slot, StepSite, TASK_ATTACH};
pub use step::Step;
