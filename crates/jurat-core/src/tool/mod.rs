//! Tools of servers, and models that call them.
//!
//! * [`filter`]: tools that may not be used;
//! * [`offer`]: what servers have, as a model is offered it;
//! * [`listing`]: servers that are asked for their tools;
//! * [`inquiry`]: a model asked until it answers, with what its tools returned in between.
//!
//! Nothing is asked or called here: the engine performs the steps and hands their outcomes back.

pub mod filter;
pub mod inquiry;
pub mod listing;
pub mod offer;

pub(crate) mod server;
pub use filter::{ToolFilter, ToolName};
pub use inquiry::{Conclusion, Dialogue, Inquiry, MOST_ROUNDS, Said, ToolUse};
pub use listing::Listing;
pub use offer::{Offer, ServerTool, offered};

use jurat_format::value::Val;

use crate::effect::{Outcome, Returned};

/// Why something gave nothing, in words.
pub(crate) fn why(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Fault(fault) => fault.message.clone(),
        Outcome::Returned(it) => text(it),
        Outcome::NotRun(_) => "it was not run".to_owned(),
        Outcome::Answer(_) | Outcome::Ran(_) => "a model answered".to_owned(),
    }
}

/// What a tool returned, in words for the model.
fn text(returned: &Returned) -> String {
    match returned.value.get("text").and_then(Val::as_str) {
        Some(text) => text.to_owned(),
        None => returned.value.as_str().map_or_else(|| returned.value.to_json(), str::to_owned),
    }
}

/// How much of what a tool returned a model is shown, in bytes.
const MOST_RESULT: usize = 256 << 10;

/// A text that is not longer than a model is shown, with a line about the rest.
fn bounded(mut text: String) -> String {
    if text.len() > MOST_RESULT {
        let end = text.floor_char_boundary(MOST_RESULT);
        let n_left_out = text.len() - end;
        text.truncate(end);
        text.push_str(&format!("\n[{n_left_out} more bytes were left out: a result may have {MOST_RESULT} bytes]"));
    }
    text
}
