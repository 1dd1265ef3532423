//! What requests take of a budget that others spend from, too: set aside before they are passed on, settled when their reply is known.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use serde_json::value::RawValue;

use super::serve::Shared;
use super::{Operation, Spent, Upstream};
use crate::codec::is_openai;
use crate::transport::{Bound, Meter, Settled};

/// A budget that several share.
#[derive(Clone)]
pub struct SharedMeter(pub Arc<dyn Meter>);

impl fmt::Debug for SharedMeter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SharedMeter")
    }
}

/// What is set aside for an exchange. It is settled whatever happens: where nobody says what became of it, the whole bound may be owed.
#[derive(Debug)]
pub(super) struct SetAside {
    shared: Arc<Shared>,
    exchange: usize,
}

impl Drop for SetAside {
    fn drop(&mut self) {
        self.shared.settle(self.exchange, Settled::Unknown);
    }
}

impl Shared {
    /// Waits for room in the budget, and takes it. The request is made to say how much may be written, where it does not.
    pub(super) async fn set_aside(
        self: &Arc<Shared>,
        exchange: usize,
        operation: &Operation,
        body: &mut Bytes,
    ) -> Result<Option<SetAside>, Spent> {
        let Some(SharedMeter(meter)) = &self.options.meter else { return Ok(None) };
        let (most, address) = match &self.options.upstream {
            Upstream::Model(model) => (model.max_tokens, model.endpoint.address.as_str()),
            Upstream::Answer(_) | Upstream::Nobody => (None, ""),
        };
        let output_tokens = bounded(operation, body, most, address);
        let bound = Bound { input_tokens: body.len() as u64, output_tokens, price: self.price() };
        loop {
            let settled = meter.settled();
            match meter.reserve(&bound) {
                Ok(Some(reservation)) => {
                    self.state().set_aside.insert(exchange, reservation);
                    return Ok(Some(SetAside { shared: Arc::clone(self), exchange }));
                }
                Ok(None) => settled.await,
                Err(_) => return Err(self.gone(Spent::Budget)),
            }
        }
    }

    /// Settles what was set aside for an exchange, once.
    pub(super) fn settle(&self, exchange: usize, settled: Settled) {
        let Some(reservation) = self.state().set_aside.remove(&exchange) else { return };
        if let Some(SharedMeter(meter)) = &self.options.meter {
            meter.settle(reservation, settled);
        }
    }
}

type Members = BTreeMap<String, Box<RawValue>>;

/// How many tokens may be written in reply to a request. One that does not say is made to say `most`.
fn bounded(operation: &Operation, body: &mut Bytes, most: Option<u64>, address: &str) -> Option<u64> {
    let Ok(mut members) = serde_json::from_slice::<Members>(body) else { return most };
    let (names, several): (&[&str], &str) = match operation {
        Operation::Chat if is_openai(address) => (&["max_completion_tokens", "max_tokens"], "n"),
        Operation::Chat => (&["max_tokens", "max_completion_tokens"], "n"),
        Operation::Responses => (&["max_output_tokens"], ""),
        Operation::Messages => (&["max_tokens"], ""),
        Operation::Generate { .. } => (&["maxOutputTokens"], "candidateCount"),
        Operation::CountMessages | Operation::CountGenerate { .. } | Operation::Models => return Some(0),
    };
    let is_inner = matches!(operation, Operation::Generate { .. });
    let mut inner: Members = match members.get("generationConfig").filter(|_| is_inner) {
        Some(inner) => serde_json::from_str(inner.get()).unwrap_or_default(),
        None => Members::new(),
    };
    let settings = if is_inner { &mut inner } else { &mut members };
    let number = |settings: &Members, name: &str| settings.get(name).and_then(|it| it.get().parse::<u64>().ok());
    let n_replies = number(settings, several).unwrap_or(1).max(1);
    let own = names.iter().filter_map(|it| number(settings, it)).max();
    if own.is_none()
        && let Some(most) = most
        && let Ok(most) = serde_json::value::to_raw_value(&most)
    {
        settings.insert(names[0].to_owned(), most);
        if is_inner && let Ok(inner) = serde_json::value::to_raw_value(&inner) {
            members.insert("generationConfig".to_owned(), inner);
        }
        if let Ok(changed) = serde_json::to_vec(&members) {
            *body = Bytes::from(changed);
        }
    }
    Some(own.or(most)?.saturating_mul(n_replies))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn becomes(operation: &Operation, body: &'static str, changed: &str, most: u64) {
        let mut bytes = Bytes::from(body);
        assert_eq!(bounded(operation, &mut bytes, Some(50), "https://host.example/v1"), Some(most));
        assert_eq!(String::from_utf8_lossy(&bytes), changed);
    }

    #[test]
    fn a_request_says_how_much_may_be_written() {
        becomes(&Operation::Chat, r#"{"a":1}"#, r#"{"a":1,"max_tokens":50}"#, 50);
        becomes(&Operation::Chat, r#"{"max_completion_tokens":7,"n":3}"#, r#"{"max_completion_tokens":7,"n":3}"#, 21);
        becomes(&Operation::Responses, "{}", r#"{"max_output_tokens":50}"#, 50);
        becomes(&Operation::Messages, r#"{"max_tokens":4096}"#, r#"{"max_tokens":4096}"#, 4096);
        let generate = Operation::Generate { model: "g".to_owned(), is_streamed: false };
        becomes(&generate, "{}", r#"{"generationConfig":{"maxOutputTokens":50}}"#, 50);
        let own = r#"{"generationConfig":{"maxOutputTokens":9,"candidateCount":2}}"#;
        becomes(&generate, own, own, 18);
        becomes(&Operation::Chat, "no JSON", "no JSON", 50);
    }

    #[test]
    fn a_model_without_a_bound_has_none() {
        let mut body = Bytes::from("{}");
        assert_eq!(bounded(&Operation::Chat, &mut body, None, ""), None);
        assert_eq!(&body[..], b"{}");
    }
}
