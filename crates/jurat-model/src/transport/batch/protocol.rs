//! What the batch interfaces of providers have in common, as pure functions: requests are written and replies are read here, nothing is sent.
//!
//! A protocol is one `static` in a file of its own. The requests of a batch are named by their keys (64 hexadecimal digits), which both providers take as
//! `custom_id`: results belong to requests by name, never by their order.

use serde::Deserialize;

use super::{anthropic, openai};
use crate::codec::WireRequest;

/// A batch interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BatchApi {
    OpenAi,
    Anthropic,
}

impl BatchApi {
    pub(super) fn protocol(self) -> &'static Protocol {
        match self {
            BatchApi::OpenAi => &openai::PROTOCOL,
            BatchApi::Anthropic => &anthropic::PROTOCOL,
        }
    }
}

/// How a provider is sent batches and asked about them.
pub(super) struct Protocol {
    /// The most requests of a batch.
    pub(super) most_requests: usize,
    /// The most bytes of a batch.
    pub(super) most_bytes: usize,
    /// Appends a request to those of a batch.
    pub(super) add: fn(&mut Vec<u8>, &Item<'_>),
    /// Where the requests are a file, what uploads it.
    pub(super) upload: Option<fn(&[u8]) -> WireRequest>,
    pub(super) create: fn(&Submission<'_>) -> WireRequest,
    pub(super) status: fn(&str) -> WireRequest,
    pub(super) read_status: fn(&[u8]) -> Result<Status, String>,
    /// One line of the results: the key of a request, and what became of it.
    pub(super) read_line: fn(&[u8]) -> Result<NamedResult<'_>, String>,
    pub(super) list: fn() -> WireRequest,
    /// The batches among those listed that a submission may have made, the likeliest first.
    pub(super) find: fn(&[u8], &Submission<'_>) -> Result<Vec<String>, String>,
}

/// The key of a request, and what became of it.
pub(super) type NamedResult<'l> = (String, ItemResult<'l>);

/// One request of a batch.
pub(super) struct Item<'i> {
    pub(super) key: &'i str,
    /// Where the request would be sent by itself.
    pub(super) path: &'i str,
    pub(super) body: &'i [u8],
}

/// A batch that is made.
pub(super) struct Submission<'s> {
    /// The name that the batch has in the project, which providers store where they can.
    pub(super) token: &'s str,
    /// Where its requests would be sent by themselves.
    pub(super) path: &'s str,
    pub(super) n_requests: usize,
    /// The requests, as they were [added](Protocol::add).
    pub(super) requests: &'s [u8],
    /// The file that they were uploaded as.
    pub(super) file: &'s str,
}

/// How far a batch is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Status {
    InProgress {
        n_done: u64,
    },
    /// Its results are at these paths.
    Ended {
        results: Vec<String>,
        /// Why a request may have no result.
        lacking: Lacking,
    },
    /// None of its requests was processed.
    Refused {
        message: String,
        /// Whether the account has too much in its queue: a smaller batch may be accepted, or the same one later.
        is_too_much: bool,
    },
}

/// Why a request of a batch that ended has no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lacking {
    /// The provider gives no reason.
    Lost,
    Expired,
    Cancelled,
}

/// What became of a request.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ItemResult<'l> {
    Response {
        status: u16,
        request_id: Option<String>,
        body: &'l [u8],
    },
    /// An error in the envelope of the provider.
    Error(&'l [u8]),
    None(Lacking),
}

/// The id of a file or of a batch.
pub(super) fn read_id(body: &[u8]) -> Result<String, String> {
    #[derive(Deserialize)]
    struct Named {
        id: String,
    }
    read::<Named>(body).map(|it| it.id)
}

pub(super) fn read<'b, T: Deserialize<'b>>(body: &'b [u8]) -> Result<T, String> {
    serde_json::from_slice(body).map_err(|error| format!("it is not what the interface promises: {error}"))
}

pub(super) fn get(path: String) -> WireRequest {
    WireRequest { method: "GET", path, content_type: None, body: Vec::new() }
}
