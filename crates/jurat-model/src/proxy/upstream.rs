//! Passing a request on to the provider.

use std::collections::BTreeMap;

use bytes::Bytes;
use http::header::{self, HeaderName, HeaderValue};
use http::{HeaderMap, Method, Response, Uri};
use hyper::body::Incoming;

use super::Operation;
use super::members::{Members, Places};
use super::serve::Shared;
use crate::key::Signable;
use crate::transport::connection::{Connection, SendError};
use crate::transport::http::Http;
use crate::transport::wall_clock;

/// Headers that concern one connection, or that are ours to say.
const OWN: [HeaderName; 16] = [
    header::CONNECTION,
    header::CONTENT_ENCODING,
    header::CONTENT_LENGTH,
    // Requests are JSON in UTF-8, which no other character set may make something else of.
    header::CONTENT_TYPE,
    header::COOKIE,
    header::EXPECT,
    header::FORWARDED,
    header::HOST,
    header::PROXY_AUTHENTICATE,
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    // What is compressed cannot be counted.
    header::ACCEPT_ENCODING,
    HeaderName::from_static("keep-alive"),
];

/// The places where clients put a key.
pub(super) const KEYS: [HeaderName; 4] = [
    header::AUTHORIZATION,
    HeaderName::from_static("x-api-key"),
    HeaderName::from_static("x-goog-api-key"),
    HeaderName::from_static("api-key"),
];

/// What an agent asked, as it is passed on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Passed {
    pub(super) body: Bytes,
    pub(super) requested_model: Option<String>,
    pub(super) is_streamed: bool,
    pub(super) offers_tools: bool,
}

/// Has a request ask the right model, and for its tokens; or says why it is refused. Nothing is passed on that the provider might read differently.
pub(super) fn passed(operation: &Operation, body: &Bytes, model: Option<&str>) -> Result<Passed, String> {
    let requested_model = operation.model().map(str::to_owned);
    if *operation == Operation::Models {
        return Ok(Passed { body: Bytes::new(), requested_model, is_streamed: false, offers_tools: false });
    }
    let mut members = Members::read(body)?;
    if let Some(places) = Places::of(operation, false) {
        places.read(&members)?;
    }
    let is_streamed = matches!(operation, Operation::Generate { is_streamed: true, .. }) || members.is_true("stream");
    let offers_tools = members.has_some("tools");
    if requested_model.is_some() {
        // The path names the model.
        let is_changed = members.remove("model");
        let body = if is_changed { members.to_bytes() } else { body.clone() };
        return Ok(Passed { body, requested_model, is_streamed, offers_tools });
    }
    let requested_model = members.text("model");
    let mut is_changed = false;
    if let Some(model) = model.filter(|it| requested_model.as_deref() != Some(*it)) {
        members.set("model", &model);
        is_changed = true;
    }
    if *operation == Operation::Chat && is_streamed && !members.has("stream_options") {
        members.set("stream_options", &BTreeMap::from([("include_usage", true)]));
        is_changed = true;
    }
    let body = if is_changed { members.to_bytes() } else { body.clone() };
    Ok(Passed { body, requested_model, is_streamed, offers_tools })
}

/// Whether a request carries a key that the proxy gave out, in one of the places where clients put it.
pub(super) fn has_key(key: &str, uri: &Uri, headers: &HeaderMap) -> bool {
    let is_key = |it: &str| same(it.strip_prefix("Bearer ").unwrap_or(it), key);
    let in_headers = KEYS.iter().flat_map(|it| headers.get_all(it)).filter_map(|it| it.to_str().ok()).any(is_key);
    let in_query = uri.query().iter().flat_map(|it| it.split('&')).filter_map(|it| it.strip_prefix("key=")).any(is_key);
    in_headers || in_query
}

/// Compares in the same time wherever they differ, so that a key cannot be guessed byte by byte.
fn same(left: &str, right: &str) -> bool {
    let differing = left.bytes().zip(right.bytes()).fold(0, |all, (left, right)| all | (left ^ right));
    left.len() == right.len() && differing == 0
}

/// A path without a key in it, and the rest of its query.
pub(super) fn without_key(uri: &Uri) -> (String, Option<String>) {
    let query = uri.query().map(|query| {
        let is_key = |it: &&str| !it.starts_with("key=");
        query.split('&').filter(is_key).collect::<Vec<_>>().join("&")
    });
    (uri.path().to_owned(), query.filter(|it| !it.is_empty()))
}

/// The headers of a request to the provider: the agent's own, with the real key in the place of its key.
fn headers(http: &Http, asked: &HeaderMap) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in asked {
        let is_forwarded = name.as_str().starts_with("x-forwarded-") || name.as_str().starts_with("proxy-");
        if !OWN.contains(name) && !KEYS.contains(name) && !is_forwarded {
            headers.append(name, value.clone());
        }
    }
    let key = KEYS.iter().find_map(|it| http.headers.get(it)).and_then(|it| it.to_str().ok());
    let key = key.map(|it| it.strip_prefix("Bearer ").unwrap_or(it));
    for name in KEYS.iter().filter(|it| asked.contains_key(*it)) {
        let value =
            key.map(|key| if *name == header::AUTHORIZATION { format!("Bearer {key}") } else { key.to_owned() });
        if let Some(Ok(mut value)) = value.map(HeaderValue::try_from) {
            value.set_sensitive(true);
            headers.insert(name.clone(), value);
        }
    }
    for (name, value) in &http.headers {
        // What the agent says about its own request is right.
        let is_said = headers.contains_key(name) && !KEYS.contains(name);
        if !is_said {
            headers.insert(name, value.clone());
        }
    }
    headers
}

/// A request without a reply.
#[derive(Debug)]
pub(super) struct Unanswered {
    pub(super) message: String,
    /// Whether the provider may have done the work.
    pub(super) was_sent: bool,
}

impl Unanswered {
    fn sent(message: String) -> Unanswered {
        Unanswered { message, was_sent: true }
    }

    fn unsent(message: String) -> Unanswered {
        Unanswered { message, was_sent: false }
    }
}

impl From<SendError> for Unanswered {
    fn from(error: SendError) -> Unanswered {
        match error {
            SendError::NoConnection(error) => Unanswered::unsent(format!("no connection: {}", error.message)),
            SendError::Closed => Unanswered::unsent("the connection was closed".to_owned()),
            SendError::Ended { message, was_sent } => {
                Unanswered { message: format!("the connection ended: {message}"), was_sent }
            }
        }
    }
}

impl Shared {
    /// Sends a request to the provider and waits for the beginning of its reply.
    pub(super) async fn send(
        &self,
        http: &Http,
        operation: &Operation,
        (method, uri, asked): (Method, &Uri, &HeaderMap),
        model: Option<&str>,
        body: Bytes,
    ) -> Result<(Connection, Response<Incoming>), Unanswered> {
        let mut path = operation.path_at(http.codec, &http.target.base_path, model);
        if let (_, Some(query)) = without_key(uri) {
            path = format!("{path}?{query}");
        }
        path = http.target.with_query(path);
        let mut headers = headers(http, asked);
        let now_ms = wall_clock();
        let issued = http.key.issued(None, now_ms, None).await.map_err(|it| Unanswered::unsent(it.message))?;
        let uri = format!("{}{path}", http.target.shown());
        let signable = Signable { method: method.as_str(), uri: &uri, body: &body, now_ms };
        let authenticated = http.key.authenticate(&mut headers, issued.as_deref(), &signable);
        authenticated.map_err(|it| Unanswered::unsent(it.message))?;
        let request = self.dialer.request(&http.target, method, path, headers, body);
        let request = request.map_err(Unanswered::unsent)?;
        match tokio::time::timeout(self.options.timeout, self.idle.send(&self.dialer, &http.target, request)).await {
            Ok(sent) => sent.map_err(Unanswered::from),
            Err(_) => Err(Unanswered::sent(format!("no reply within {} s", self.options.timeout.as_secs_f64()))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn becomes(operation: &Operation, body: &'static str, changed: &str) {
        let passed = passed(operation, &Bytes::from(body), Some("m")).expect("it can be read");
        assert_eq!(String::from_utf8_lossy(&passed.body), changed);
    }

    #[test]
    fn requests_ask_the_model_of_the_suite_and_for_their_tokens() {
        becomes(&Operation::Messages, r#"{"model":"small","n":1.50}"#, r#"{"model":"m","n":1.50}"#);
        becomes(&Operation::Messages, r#"{ "model": "m" }"#, r#"{ "model": "m" }"#);
        let counted = r#"{"model":"m","stream":true,"stream_options":{"include_usage":true}}"#;
        becomes(&Operation::Chat, r#"{"stream":true,"model":"x"}"#, counted);
        becomes(&Operation::Chat, r#"{"model":"m","stream":false}"#, r#"{"model":"m","stream":false}"#);
        assert!(passed(&Operation::Chat, &Bytes::from("no JSON"), Some("m")).is_err());
        let generate = Operation::Generate { model: "g".to_owned(), is_streamed: true };
        becomes(&generate, r#"{"contents":[]}"#, r#"{"contents":[]}"#);
        becomes(&generate, r#"{"contents":[],"model":"x"}"#, r#"{"contents":[]}"#);
    }

    #[test]
    fn keys_are_not_in_paths() {
        let uri: Uri = "/v1beta/models/g:generateContent?key=secret&alt=sse".parse().expect("it is an address");
        assert_eq!(without_key(&uri), ("/v1beta/models/g:generateContent".to_owned(), Some("alt=sse".to_owned())));
        let uri: Uri = "/x?key=secret".parse().expect("it is an address");
        assert_eq!(without_key(&uri), ("/x".to_owned(), None));
    }
}
