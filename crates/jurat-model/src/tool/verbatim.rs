//! What servers wrote, word for word.
//!
//! `rmcp` reads results into `serde_json`'s values, which sort the members of objects and round long numbers. The order of a schema's
//! properties changes what a model writes, so the text of every result is stored beside it until the request that it answers has taken it.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rmcp::model::RequestId;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::queue::Queue;

/// The texts of results that no request has taken yet.
#[derive(Debug, Default)]
pub(super) struct Verbatim {
    texts: Mutex<Texts>,
    /// The calls that results are waited for.
    pub(super) queue: Queue,
}

#[derive(Debug, Default)]
struct Texts {
    results: HashMap<RequestId, Box<RawValue>>,
    /// Requests that were given up, and whose results have not come.
    unwanted: HashSet<RequestId>,
}

/// The part of a message that is looked at.
#[derive(Deserialize)]
struct ResponseWire<'d> {
    id: Option<RequestId>,
    #[serde(borrow)]
    result: Option<&'d RawValue>,
    #[serde(borrow)]
    error: Option<&'d RawValue>,
}

impl Verbatim {
    /// Looks at a message; only results are stored.
    pub(super) fn note(&self, message: &str) {
        let Ok(ResponseWire { id: Some(id), result, error }) = serde_json::from_str(message) else { return };
        if result.or(error).is_none() {
            return;
        }
        let mut texts = self.lock();
        if texts.unwanted.remove(&id) {
            drop(texts);
            self.queue.answered(&id);
        } else if let Some(result) = result {
            texts.results.insert(id, result.to_owned());
        }
    }

    /// The result of a request.
    pub(super) fn take(&self, id: &RequestId) -> Option<Box<RawValue>> {
        self.lock().results.remove(id)
    }

    /// The result of this request will not be taken.
    pub(super) fn forget(&self, id: &RequestId) {
        let mut texts = self.lock();
        if texts.results.remove(id).is_none() {
            texts.unwanted.insert(id.clone());
        }
    }

    fn lock(&self) -> MutexGuard<'_, Texts> {
        self.texts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_stored_as_they_were_written_until_they_are_taken_or_forgotten() {
        let verbatim = Verbatim::default();
        let id = RequestId::Number;
        verbatim.note(r#"{"jsonrpc":"2.0","id":1,"result":{"b": 1.0,  "a": 123456789012345678901234567890}}"#);
        verbatim.note(r#"{"jsonrpc":"2.0","id":2,"error":{"code":1,"message":"no"}}"#);
        verbatim.note(r#"{"jsonrpc":"2.0","method":"notifications/progress"}"#);
        verbatim.note("not JSON");
        let taken = verbatim.take(&id(1)).map(|it| it.get().to_owned());
        assert_eq!(taken.as_deref(), Some(r#"{"b": 1.0,  "a": 123456789012345678901234567890}"#));
        assert!(verbatim.take(&id(1)).is_none() && verbatim.take(&id(2)).is_none());
        verbatim.forget(&id(3));
        verbatim.note(r#"{"id":3,"result":{}}"#);
        assert!(verbatim.take(&id(3)).is_none());
        verbatim.note(r#"{"id":4,"result":{}}"#);
        verbatim.forget(&id(4));
        let texts = verbatim.lock();
        assert!(texts.results.is_empty() && texts.unwanted.is_empty(), "{texts:?}");
    }
}
