//! What requests take of a budget that others spend from, too: set aside before they are passed on, settled when their reply is known.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;

use super::members::{Bounds, Members, Places};
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

/// Why nothing is set aside for a request, which is then not passed on.
#[derive(Debug)]
pub(super) enum Unreserved {
    /// A limit was reached.
    Spent(Spent),
    /// What it may cost cannot be read, in words.
    Unreadable(String),
}

/// What is set aside for an exchange. It is settled whatever happens: where its cost is not known, the whole bound may be owed.
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
    ) -> Result<Option<SetAside>, Unreserved> {
        let Some(SharedMeter(meter)) = &self.options.meter else { return Ok(None) };
        let (most, address) = match &self.options.upstream {
            Upstream::Model(model) => (model.max_tokens, model.endpoint.address.as_str()),
            Upstream::Answer(_) | Upstream::NoModel => (None, ""),
        };
        let output_tokens = bounded(operation, body, most, address).map_err(Unreserved::Unreadable)?;
        let bound = Bound { input_tokens: body.len() as u64, output_tokens, price: self.price() };
        loop {
            let settled = meter.settled();
            match meter.reserve(&bound) {
                Ok(Some(reservation)) => {
                    self.state().set_aside.insert(exchange, reservation);
                    return Ok(Some(SetAside { shared: Arc::clone(self), exchange }));
                }
                Ok(None) => settled.await,
                Err(_) => return Err(Unreserved::Spent(self.gone(Spent::Budget))),
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

/// How many tokens may be written in reply to a request. One that does not say is made to say `most`.
fn bounded(operation: &Operation, body: &mut Bytes, most: Option<u64>, address: &str) -> Result<Option<u64>, String> {
    let Some(places) = Places::of(operation, is_openai(address)) else { return Ok(Some(0)) };
    let mut members = Members::read(body)?;
    let Bounds { tokens, n_replies } = places.read(&members)?;
    if tokens.is_none()
        && let Some(most) = most
    {
        places.write(&mut members, most)?;
        *body = members.to_bytes();
    }
    Ok(tokens.or(most).map(|it| it.saturating_mul(n_replies)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn becomes(operation: &Operation, body: &'static str, changed: &str, most: u64) {
        let mut bytes = Bytes::from(body);
        assert_eq!(bounded(operation, &mut bytes, Some(50), "https://host.example/v1"), Ok(Some(most)));
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
        let mut snake = Bytes::from(r#"{"generationConfig":{"max_output_tokens":9}}"#);
        let refused = bounded(&generate, &mut snake, Some(50), "");
        assert_eq!(refused, Err("`max_output_tokens` must be written `maxOutputTokens`".to_owned()));
        becomes(&Operation::Chat, r#"{"max_tokens":null}"#, r#"{"max_tokens":50}"#, 50);
    }

    #[test]
    fn a_model_without_a_bound_has_none() {
        let mut body = Bytes::from("{}");
        assert_eq!(bounded(&Operation::Chat, &mut body, None, ""), Ok(None));
        assert_eq!(&body[..], b"{}");
    }
}
