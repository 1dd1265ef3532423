//! Tokens for servers that want one: OAuth without a person, by client credentials or by a refresh token.
//!
//! All sessions of a server share its [`Tokens`]. A token is fetched when it is first needed, again before it expires, and once after the server refused it;
//! requests that need one at the same time wait for the same. Tokens are held in memory alone.
//!
//! * [`discovery`]: where tokens are given, as the server and its authorization server say.

mod discovery;

use std::fmt;
use std::sync::{Mutex as SyncMutex, MutexGuard, PoisonError};
use std::time::Duration;

use ::http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use ::http::{HeaderMap, HeaderValue, Method, StatusCode};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http_body_util::BodyExt as _;
use jurat_format::value::{Val, Value, shown_within};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use tokio::sync::Mutex;
use tokio::time::Instant;

use self::discovery::Place;
use crate::codec::in_path as encoded;
use crate::transport::Target;
use crate::transport::connection::{Dialer, Idle, SendError, seconds, words};
use crate::transport::secret::Secrets;

/// How long finding out where tokens are given, and fetching one, may take.
const TO_FETCH: Duration = Duration::from_secs(30);

/// The longest reply that is read.
const MOST_BYTES: usize = 1 << 20;

/// How much of a reply is shown.
const SHOWN: usize = 200;

/// How long before its end a token is not used any more, at most; one that lasts shortly has a tenth of its time for it.
const MARGIN: Duration = Duration::from_secs(60);

/// The tokens of a server.
pub(super) struct Tokens {
    client: Client,
    /// The address of the server that they are for.
    resource: String,
    known: Mutex<Known>,
    /// Everything that was given, to be hidden where the server repeats it.
    given: SyncMutex<Secrets>,
}

/// What asks for tokens, with its variables filled in.
pub(super) struct Client {
    pub(super) id: String,
    pub(super) secret: Option<SecretString>,
    pub(super) refresh_token: Option<SecretString>,
    pub(super) scope: Option<String>,
}

/// What is known so far.
#[derive(Default)]
struct Known {
    place: Option<Place>,
    token: Option<Token>,
    n_tokens: u64,
    /// The one that came with the last token, where the authorization server gives another each time.
    refresh_token: Option<SecretString>,
}

/// A token as requests have it.
#[derive(Debug, Clone)]
pub(super) struct Token {
    number: u64,
    pub(super) header: HeaderValue,
    good_until: Option<Instant>,
}

impl Token {
    fn is_good(&self) -> bool {
        self.good_until.is_none_or(|it| Instant::now() < it)
    }
}

/// Nothing in it may be seen.
impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tokens").finish_non_exhaustive()
    }
}

#[derive(Deserialize)]
struct TokenWire {
    access_token: Option<String>,
    token_type: Option<String>,
    expires_in: Option<serde_json::Value>,
    refresh_token: Option<String>,
}

#[derive(Deserialize)]
struct ErrorWire {
    error: String,
    error_description: Option<String>,
}

impl Tokens {
    /// Tokens for the server at an address. Where `token_url` is not given, the server is asked where they are given.
    pub(super) fn new(client: Client, url: &str, token_url: Option<&str>) -> Option<Tokens> {
        let resource = url.to_owned();
        let place = match token_url {
            Some(token_url) => Some(Place::written(token_url, &resource)?),
            None => None,
        };
        let known = Mutex::new(Known { place, ..Known::default() });
        Some(Tokens { client, resource, known, given: SyncMutex::default() })
    }

    /// A message without any token.
    pub(super) fn scrubbed(&self, message: String) -> String {
        self.given().scrubbed(message)
    }

    /// What a tool returned, without any token.
    pub(super) fn scrub_value(&self, value: &mut Value) {
        self.given().scrub_value(value);
    }

    fn given(&self) -> MutexGuard<'_, Secrets> {
        self.given.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The token for a request; `None` as long as it is not known where one is given: the server says so when it refuses the request.
    pub(super) async fn current(&self, dialer: &Dialer) -> Result<Option<Token>, String> {
        let mut known = self.known.lock().await;
        if let Some(token) = known.token.as_ref().filter(|it| it.is_good()) {
            return Ok(Some(token.clone()));
        }
        if known.place.is_none() {
            return Ok(None);
        }
        in_time(self.fetch(&mut known, dialer)).await.map(Some)
    }

    /// Another token than the one that the server refused, with what it said about that.
    pub(super) async fn renewed(
        &self,
        dialer: &Dialer,
        refused: Option<&Token>,
        challenge: &str,
    ) -> Result<Token, String> {
        let mut known = self.known.lock().await;
        // Another request has fetched one meanwhile.
        let is_other = |it: &&Token| refused.is_none_or(|refused| it.number != refused.number);
        if let Some(token) = known.token.as_ref().filter(|it| it.is_good()).filter(is_other) {
            return Ok(token.clone());
        }
        in_time(async {
            if known.place.is_none() {
                known.place = Some(discovery::find(dialer, &self.resource, challenge).await?);
            }
            self.fetch(&mut known, dialer).await
        })
        .await
    }

    async fn fetch(&self, known: &mut Known, dialer: &Dialer) -> Result<Token, String> {
        let place = known.place.as_ref().ok_or("it is not known where tokens are given")?;
        let refresh_token = known.refresh_token.as_ref().or(self.client.refresh_token.as_ref());
        let (headers, form) = self.client.request(place, refresh_token);
        let request = Asking { method: Method::POST, path: &place.path, headers, body: Bytes::from(form) };
        let (status, body) = request.send(dialer, &place.target).await?;
        let asked = Instant::now();
        let given = read(status, &body)?;
        let access_token = given.access_token.ok_or("the authorization server returned no `access_token`")?;
        self.given().add(&access_token);
        if let Some(refresh_token) = given.refresh_token {
            self.given().add(&refresh_token);
            known.refresh_token = Some(SecretString::from(refresh_token));
        }
        let mut header = HeaderValue::try_from(format!("Bearer {access_token}"))
            .map_err(|_| "the authorization server returned a token that no header can have")?;
        header.set_sensitive(true);
        known.n_tokens += 1;
        let good_until = given.expires_in.as_ref().and_then(lifetime).and_then(|it| asked.checked_add(it));
        let token = Token { number: known.n_tokens, header, good_until };
        known.token = Some(token.clone());
        Ok(token)
    }
}

impl Client {
    /// The headers and the form that ask for a token.
    fn request(&self, place: &Place, refresh_token: Option<&SecretString>) -> (HeaderMap, String) {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded"));
        let grant = if refresh_token.is_some() { "refresh_token" } else { "client_credentials" };
        let mut fields = vec![("grant_type", grant), ("resource", place.resource.as_str())];
        fields.extend(self.scope.as_deref().map(|it| ("scope", it)));
        fields.extend(refresh_token.map(|it| ("refresh_token", it.expose_secret())));
        match self.secret.as_ref().map(ExposeSecret::expose_secret) {
            Some(secret) if !place.is_secret_in_form => {
                headers.insert(AUTHORIZATION, basic(&self.id, secret));
            }
            secret => {
                fields.push(("client_id", &self.id));
                fields.extend(secret.map(|it| ("client_secret", it)));
            }
        }
        let fields: Vec<String> = fields.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect();
        (headers, fields.join("&"))
    }
}

/// The id and the secret of a client, each encoded first as the standard wants it.
fn basic(id: &str, secret: &str) -> HeaderValue {
    let pair = STANDARD.encode(format!("{}:{}", encoded(id), encoded(secret)));
    let mut header = HeaderValue::try_from(format!("Basic {pair}")).expect("base64 is fit for headers");
    header.set_sensitive(true);
    header
}

/// What an authorization server replied.
fn read(status: StatusCode, body: &[u8]) -> Result<TokenWire, String> {
    let shown = || shown_within(&Val::Str(String::from_utf8_lossy(body)), SHOWN);
    if !status.is_success() {
        let why = match serde_json::from_slice(body) {
            Ok(ErrorWire { error, error_description: Some(words) }) => format!("{error} ({words})"),
            Ok(ErrorWire { error, error_description: None }) => error,
            Err(_) => shown(),
        };
        return Err(format!("the authorization server returned {}: {why}", status.as_u16()));
    }
    let given: TokenWire = serde_json::from_slice(body)
        .map_err(|_| format!("the authorization server returned something else than a token: {}", shown()))?;
    match given.token_type.as_deref() {
        Some(kind) if !kind.eq_ignore_ascii_case("bearer") => {
            Err(format!("the authorization server returned a token of the type `{kind}`, and only `Bearer` is known"))
        }
        _ => Ok(given),
    }
}

/// How long a token is used that expires after this number of seconds, which some servers write as text.
fn lifetime(expires_in: &serde_json::Value) -> Option<Duration> {
    let seconds = expires_in.as_f64().or_else(|| expires_in.as_str()?.parse().ok())?;
    let whole = Duration::try_from_secs_f64(seconds.max(0.0)).ok()?;
    Some(whole.saturating_sub(MARGIN.min(whole / 10)))
}

async fn in_time<T>(work: impl Future<Output = Result<T, String>>) -> Result<T, String> {
    match tokio::time::timeout(TO_FETCH, work).await {
        Ok(done) => done,
        Err(_) => Err(format!("there was no token within {}", seconds(TO_FETCH))),
    }
}

/// A request to a host that is asked rarely, over a connection of its own.
struct Asking<'a> {
    method: Method,
    path: &'a str,
    headers: HeaderMap,
    body: Bytes,
}

impl Asking<'_> {
    async fn send(self, dialer: &Dialer, target: &Target) -> Result<(StatusCode, Vec<u8>), String> {
        let request = dialer.request(target, self.method, self.path.to_owned(), self.headers, self.body)?;
        let sent = Idle::default().send(dialer, target, request).await;
        let (_connection, response) = sent.map_err(|error| match error {
            SendError::NoConnection(error) => format!("no connection to {}: {}", target.shown(), error.message),
            SendError::Closed => format!("{} closed the connection", target.shown()),
            SendError::Ended { message, .. } => format!("the connection to {} ended: {message}", target.shown()),
        })?;
        let status = response.status();
        let (mut all, mut body) = (Vec::new(), response.into_body());
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|it| format!("the connection to {} ended: {}", target.shown(), words(&it)))?;
            all.extend_from_slice(&frame.into_data().unwrap_or_default());
            if all.len() > MOST_BYTES {
                return Err(format!("{} replied with more than {} MiB", target.shown(), MOST_BYTES >> 20));
            }
        }
        Ok((status, all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn reads(status: u16, body: &str, expected: &str) {
        let status = StatusCode::from_u16(status).expect("a status");
        let shown = match read(status, body.as_bytes()) {
            Ok(given) => format!("token {:?}", given.access_token),
            Err(why) => why,
        };
        assert_eq!(shown, expected);
    }

    #[test]
    fn replies_say_what_went_wrong() {
        reads(200, r#"{"access_token": "a", "token_type": "bearer"}"#, r#"token Some("a")"#);
        reads(401, r#"{"error": "invalid_client"}"#, "the authorization server returned 401: invalid_client");
        let described = r#"{"error": "invalid_scope", "error_description": "no such scope"}"#;
        reads(400, described, "the authorization server returned 400: invalid_scope (no such scope)");
        let html = "the authorization server returned something else than a token: `<html></html>`";
        reads(200, "<html></html>", html);
        reads(503, "later", "the authorization server returned 503: `later`");
        let other = "the authorization server returned a token of the type `mac`, and only `Bearer` is known";
        reads(200, r#"{"access_token": "a", "token_type": "mac"}"#, other);
    }

    #[test]
    fn a_token_is_renewed_before_it_expires() {
        let lasts = |json: serde_json::Value| lifetime(&json).map(|it| it.as_secs());
        assert_eq!(lasts(3600.into()), Some(3540));
        assert_eq!(lasts("100".into()), Some(90));
        assert_eq!(lasts(0.into()), Some(0));
        assert_eq!(lasts((-1).into()), Some(0));
        assert_eq!(lasts("soon".into()), None);
    }

    #[test]
    fn a_secret_goes_into_the_header_or_into_the_form() {
        let place = |is_secret_in_form| Place {
            is_secret_in_form,
            ..Place::written("https://a.example/token", "https://s.example/mcp").expect("an address")
        };
        let client = Client {
            id: "me".to_owned(),
            secret: Some(SecretString::from("p:w")),
            refresh_token: None,
            scope: Some("read write".to_owned()),
        };
        let common = "grant_type=client_credentials&resource=https%3A%2F%2Fs.example%2Fmcp&scope=read%20write";
        let (headers, form) = client.request(&place(false), None);
        assert_eq!((headers[AUTHORIZATION].to_str().ok(), form.as_str()), (Some("Basic bWU6cCUzQXc="), common));
        let (headers, form) = client.request(&place(true), None);
        assert_eq!((headers.get(AUTHORIZATION), form), (None, format!("{common}&client_id=me&client_secret=p%3Aw")));
        let public = Client { secret: None, scope: None, ..client };
        let (headers, form) = public.request(&place(false), Some(&SecretString::from("rt")));
        let expected = "grant_type=refresh_token&resource=https%3A%2F%2Fs.example%2Fmcp&refresh_token=rt&client_id=me";
        assert_eq!((headers.get(AUTHORIZATION), form.as_str()), (None, expected));
    }
}
