//! Saying no in the words of a provider's interface, so that agents understand.

use jurat_core::agent::Wire;
use serde_json::json;

use super::{Given, Operation};

/// A refusal of this status.
pub(super) fn refusal(operation: Option<&Operation>, status: u16, message: &str) -> Given {
    let body = match operation.and_then(Operation::format) {
        Some(Wire::Anthropic) => {
            let kind = match status {
                429 => "rate_limit_error",
                404 => "not_found_error",
                502 | 504 => "api_error",
                _ => "invalid_request_error",
            };
            json!({ "type": "error", "error": { "type": kind, "message": message } })
        }
        Some(Wire::Gemini) => {
            let word = match status {
                429 => "RESOURCE_EXHAUSTED",
                404 => "NOT_FOUND",
                502 | 504 => "UNAVAILABLE",
                _ => "INVALID_ARGUMENT",
            };
            json!({ "error": { "code": status, "message": message, "status": word } })
        }
        _ => {
            // Clients take this one for final, and other words for a reason to ask again.
            let kind = match status {
                429 => "insufficient_quota",
                502 | 504 => "server_error",
                _ => "invalid_request_error",
            };
            json!({ "error": { "message": message, "type": kind, "param": null, "code": kind } })
        }
    };
    Given { status, ..Given::json(body.to_string()) }
}
