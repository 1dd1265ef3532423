//! A server that is asked in the way of 2024-11-05: one stream of events for everything that it says, and a POST for everything that it is sent.
//!
//! The first event names the address for messages. It must be on the same host: what is sent there has the headers of the definition, which may be secrets.

use std::sync::Arc;

use ::http::Uri;
use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use rmcp::RoleClient;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use sse_stream::{Error as SseError, Sse};

use super::http::{HttpClient, HttpFault};
use super::program::Seen;

/// The connection to a server.
pub(super) struct SseConnection {
    client: HttpClient,
    /// `None` once it is closed.
    events: Option<BoxStream<'static, Result<Sse, SseError>>>,
    /// The path that messages go to.
    path: String,
    seen: Arc<Seen>,
}

impl SseConnection {
    /// Opens the stream, and waits for the address of messages.
    pub(super) async fn open(client: HttpClient, seen: &Arc<Seen>) -> Result<SseConnection, String> {
        let mut events = client.subscribe().await.map_err(|it| it.0)?;
        while let Some(event) = events.next().await {
            let event = event.map_err(|it| format!("its stream cannot be read: {it}"))?;
            if event.event.as_deref() == Some("endpoint") {
                let data = event.data.unwrap_or_default();
                let path = endpoint(&client, data.trim())?;
                return Ok(SseConnection { client, events: Some(events), path, seen: Arc::clone(seen) });
            }
        }
        Err("its stream ended before it named an address for messages".to_owned())
    }

    async fn next_message(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        let events = self.events.as_mut()?;
        loop {
            let event = match events.next().await {
                Some(Ok(event)) => event,
                Some(Err(error)) => {
                    self.seen.ended.get_or_init(|| format!("broke off its stream ({error})"));
                    return None;
                }
                None => {
                    self.seen.ended.get_or_init(|| "closed its stream".to_owned());
                    return None;
                }
            };
            let is_message = event.event.as_deref().is_none_or(|it| it == "message");
            if let Some(message) = event.data.filter(|_| is_message).and_then(|it| serde_json::from_str(&it).ok()) {
                return Some(message);
            }
        }
    }
}

/// The path that messages go to, as the server named it.
fn endpoint(client: &HttpClient, named: &str) -> Result<String, String> {
    let uri = named.parse::<Uri>().ok();
    uri.and_then(|it| client.path_of(&it))
        .ok_or_else(|| format!("it names `{named}` for messages, which is not on its host"))
}

impl Transport<RoleClient> for SseConnection {
    type Error = HttpFault;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), HttpFault>> + Send + 'static {
        let (client, path) = (self.client.clone(), self.path.clone());
        let body = serde_json::to_vec(&message).expect("messages are JSON");
        async move { client.post(path, body).await }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        self.next_message().await
    }

    async fn close(&mut self) -> Result<(), HttpFault> {
        self.events = None;
        Ok(())
    }
}
