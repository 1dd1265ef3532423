//! What a fault means for the requests that would follow.
//!
//! [`FaultKind`] is what happened on the wire. The class is what people and the engine act on: whether every further request would meet the
//! same fault, and what to do about it. Two faults of one kind may have different classes: status 429 is a rate limit or an exhausted quota.

use jurat_format::choices;

use super::FaultKind;

choices! {
    /// What a fault means for the requests that would follow.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum FaultClass {
        /// The endpoint does not accept the key, or the key may not do what was asked.
        WrongKey = "wrong_key",
        /// The endpoint has no such model, or nothing at that path.
        UnknownModel = "unknown_model",
        /// No connection could be made, or the address leads elsewhere.
        Unreachable = "unreachable",
        /// The account has no money or quota left.
        ExhaustedQuota = "exhausted_quota",
        /// Too many requests at once.
        RateLimit = "rate_limit",
        /// The endpoint does not take the JSON Schema of the reply.
        RefusedSchema = "refused_schema",
        /// The endpoint rejects this request; another one may be accepted.
        RejectedRequest = "rejected_request",
        /// The endpoint failed, or the connection ended.
        ServerError = "server_error",
        /// No complete response in time.
        Timeout = "timeout",
        /// A response that cannot be read, or is not what a judge must reply.
        InvalidReply = "invalid_reply",
        /// A tool, a program or code failed.
        Tool = "tool",
        /// The run was stopped.
        Stopped = "stopped",
        /// Anything else.
        Other = "other",
    }
}

impl FaultClass {
    /// Whether every further request to the same endpoint would meet it.
    pub fn is_fatal(self) -> bool {
        matches!(
            self,
            FaultClass::WrongKey | FaultClass::UnknownModel | FaultClass::Unreachable | FaultClass::ExhaustedQuota
        )
    }

    /// Whether the same request may succeed later.
    pub fn is_retryable(self) -> bool {
        !matches!(
            self,
            FaultClass::WrongKey
                | FaultClass::UnknownModel
                | FaultClass::ExhaustedQuota
                | FaultClass::RefusedSchema
                | FaultClass::RejectedRequest
        )
    }

    /// What to do about it, as a sentence fragment.
    pub fn remedy(self) -> Option<&'static str> {
        Some(match self {
            FaultClass::WrongKey => "check the API key and what it may access",
            FaultClass::UnknownModel => "check the name of the model and `base_url`",
            FaultClass::Unreachable => "check `base_url`, and that the server is running and can be reached",
            FaultClass::ExhaustedQuota => "check the plan and the balance of the account",
            FaultClass::RateLimit => "lower `--concurrency`, or set `rpm` or `tpm` on the model",
            FaultClass::RefusedSchema => "set `structured: json_object` or `structured: prompt` on the model",
            FaultClass::RejectedRequest => "change what is sent: the settings of the model, or the prompt",
            FaultClass::ServerError => "resume the run later",
            FaultClass::Timeout => "raise `timeout` on the model, or `--request-timeout`",
            FaultClass::InvalidReply => "read the reply with `jurat explain`; `structured` on the model may help",
            FaultClass::Tool | FaultClass::Stopped | FaultClass::Other => return None,
        })
    }
}

impl From<FaultKind> for FaultClass {
    /// The class of a fault of which only the kind is known, as in files of earlier versions.
    fn from(kind: FaultKind) -> FaultClass {
        match kind {
            FaultKind::Status(status) => of_status(status),
            FaultKind::Timeout | FaultKind::TurnDeadline | FaultKind::CaseDeadline => FaultClass::Timeout,
            FaultKind::Connect => FaultClass::Unreachable,
            FaultKind::Cut => FaultClass::ServerError,
            FaultKind::Garbled | FaultKind::Judging => FaultClass::InvalidReply,
            FaultKind::Unsupported => FaultClass::RejectedRequest,
            FaultKind::Tool => FaultClass::Tool,
            FaultKind::Cancelled => FaultClass::Stopped,
            FaultKind::NoAnswer | FaultKind::Diverged => FaultClass::Other,
        }
    }
}

fn of_status(status: u16) -> FaultClass {
    match status {
        401 | 403 | 407 => FaultClass::WrongKey,
        402 => FaultClass::ExhaustedQuota,
        404 => FaultClass::UnknownModel,
        300..=399 | 405 | 410 => FaultClass::Unreachable,
        408 => FaultClass::Timeout,
        429 => FaultClass::RateLimit,
        409 | 500.. => FaultClass::ServerError,
        _ => FaultClass::RejectedRequest,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_word_reads_back() {
        for (_, class) in FaultClass::NAMED {
            assert_eq!(FaultClass::named(class.name()), Some(class));
        }
    }

    #[test]
    fn what_every_further_request_would_meet_is_fatal() {
        for status in [401, 402, 403, 404, 302, 308] {
            assert!(FaultClass::from(FaultKind::Status(status)).is_fatal(), "{status}");
        }
        for status in [400, 408, 409, 422, 429, 500, 503, 529] {
            assert!(!FaultClass::from(FaultKind::Status(status)).is_fatal(), "{status}");
        }
        assert!(FaultClass::from(FaultKind::Connect).is_fatal());
        assert!(!FaultClass::from(FaultKind::Timeout).is_fatal());
    }
}
