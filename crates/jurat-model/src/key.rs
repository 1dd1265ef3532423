//! Keys that are not the value of a variable: from a command, or as the signature of a request.
//!
//! A command (`api_key_command`) is started for the first request. What it printed is used until it expires, or until the endpoint refuses it; then
//! the command is started again. AWS accounts sign each request instead of sending a key; the signature is made by the vendor's own crate.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use aws_credential_types::Credentials;
use aws_sigv4::http_request::{SignableBody, SignableRequest, SigningSettings, sign};
use aws_sigv4::sign::v4;
use http::{HeaderMap, HeaderName, HeaderValue};
use jurat_core::effect::{FaultClass, FaultKind};
use jurat_format::value::{Val, parse_json};
use tokio::sync::Mutex;

use crate::child::{Launched, Supervisor};
use crate::exec::split;
use crate::transport::Failed;
use crate::transport::secret::Secrets;

/// How long a command may take.
const TIMEOUT: Duration = Duration::from_secs(60);

/// How long before its end a key is replaced, so that none expires between two machines.
const MARGIN_MS: u64 = 60_000;

/// The name of the service that signatures are for.
const SERVICE: &str = "bedrock";

/// Where the key of each request comes from.
#[derive(Debug)]
pub(crate) enum Key {
    /// It is among the headers, or there is none.
    InHeaders,
    /// The keys of an AWS account, which sign.
    Account {
        credentials: Credentials,
        region: String,
    },
    Command(Box<KeyCommand>),
}

/// A command that prints a key.
#[derive(Debug)]
pub(crate) struct KeyCommand {
    words: Vec<String>,
    folder: PathBuf,
    /// The header that a token is sent in, and its text.
    header: (&'static str, &'static str),
    /// The region that requests are signed for when the command prints the keys of an AWS account.
    region: String,
    issued: Mutex<Option<Arc<Issued>>>,
}

/// What a command printed.
#[derive(Debug)]
pub(crate) struct Issued {
    credential: Credential,
    expires_at_ms: Option<u64>,
    pub(crate) secrets: Secrets,
}

#[derive(Debug)]
enum Credential {
    Token(secrecy::SecretString),
    Account(Credentials),
}

/// A request as far as it is authenticated.
pub(crate) struct Signable<'r> {
    pub(crate) method: &'r str,
    /// The whole address.
    pub(crate) uri: &'r str,
    pub(crate) body: &'r [u8],
    pub(crate) now_ms: u64,
}

impl Key {
    /// The key as it stands now; `refused` is one that the endpoint did not take.
    pub(crate) async fn issued(
        &self,
        refused: Option<&Arc<Issued>>,
        now_ms: u64,
        supervisor: Option<&Supervisor>,
    ) -> Result<Option<Arc<Issued>>, Failed> {
        match self {
            Key::Command(command) => command.issued(refused, now_ms, supervisor).await.map(Some),
            Key::InHeaders | Key::Account { .. } => Ok(None),
        }
    }

    /// Adds what authenticates a request to its headers.
    pub(crate) fn authenticate(
        &self,
        headers: &mut HeaderMap,
        issued: Option<&Issued>,
        request: &Signable<'_>,
    ) -> Result<(), Failed> {
        match (self, issued.map(|it| &it.credential)) {
            (Key::Account { credentials, region }, _) => signed(headers, credentials, region, request),
            (Key::Command(command), Some(Credential::Account(credentials))) => {
                signed(headers, credentials, &command.region, request)
            }
            (Key::Command(command), Some(Credential::Token(token))) => command.with_token(headers, token),
            (Key::Command(_) | Key::InHeaders, _) => Ok(()),
        }
    }
}

impl KeyCommand {
    pub(crate) fn new(
        command: &str,
        folder: &Path,
        header: (&'static str, &'static str),
        region: String,
    ) -> Result<KeyCommand, &'static str> {
        let words = split(command)?;
        Ok(KeyCommand { words, folder: folder.to_owned(), header, region, issued: Mutex::default() })
    }

    async fn issued(
        &self,
        refused: Option<&Arc<Issued>>,
        now_ms: u64,
        supervisor: Option<&Supervisor>,
    ) -> Result<Arc<Issued>, Failed> {
        // A second request waits for the first, and takes the key that it got.
        let mut issued = self.issued.lock().await;
        if let Some(issued) =
            issued.as_ref().filter(|it| it.is_good(now_ms) && refused.is_none_or(|no| !Arc::ptr_eq(no, it)))
        {
            return Ok(Arc::clone(issued));
        }
        let printed = self.printed(supervisor).await.map_err(|it| self.failed(&it))?;
        let new = Issued::read(&printed, now_ms).map_err(|it| self.failed(&it))?;
        Ok(Arc::clone(issued.insert(Arc::new(new))))
    }

    async fn printed(&self, supervisor: Option<&Supervisor>) -> Result<String, String> {
        let program = &self.words[0];
        let path = match std::path::absolute(self.folder.join(program)) {
            Ok(path) if program.contains('/') => path,
            _ => PathBuf::from(program),
        };
        let search = std::env::var_os("PATH");
        let launched =
            Launched { program: &path, arguments: &self.words[1..], folder: &self.folder, search: search.as_deref() };
        let mut command = launched.command(supervisor).map_err(|it| format!("cannot be started: {it}"))?;
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        let child = command.spawn().map_err(|it| format!("cannot be started: {it}"))?;
        let output = match tokio::time::timeout(TIMEOUT, child.wait_with_output()).await {
            Ok(output) => output.map_err(|it| format!("cannot be read: {it}"))?,
            Err(_) => return Err(format!("did not end within {} seconds", TIMEOUT.as_secs())),
        };
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            let last = said.lines().rev().find(|it| !it.trim().is_empty());
            return Err(format!(
                "ended with {}{}",
                output.status,
                last.map_or_else(String::new, |it| format!(": {it}"))
            ));
        }
        String::from_utf8(output.stdout).map_err(|_| "printed something that is not UTF-8 text".to_owned())
    }

    fn with_token(&self, headers: &mut HeaderMap, token: &secrecy::SecretString) -> Result<(), Failed> {
        use secrecy::ExposeSecret as _;
        let (name, template) = self.header;
        let value = HeaderValue::try_from(template.replace("${key}", token.expose_secret()));
        let mut value = value.map_err(|_| self.failed("printed characters that no header can have"))?;
        value.set_sensitive(true);
        headers.insert(HeaderName::from_static(name), value);
        Ok(())
    }

    fn failed(&self, what: &str) -> Failed {
        let message = format!("the command `{}` of `api_key_command` {what}", self.words[0]);
        Failed { class: FaultClass::WrongKey, is_final: true, ..Failed::new(FaultKind::Connect, message) }
    }
}

impl Issued {
    fn is_good(&self, now_ms: u64) -> bool {
        self.expires_at_ms.is_none_or(|it| now_ms.saturating_add(MARGIN_MS) < it)
    }

    /// A token as it stands, or an object of JSON with a token, or with the keys of an AWS account. What was printed is not repeated in messages.
    fn read(printed: &str, now_ms: u64) -> Result<Issued, String> {
        let printed = printed.trim();
        if printed.is_empty() {
            return Err("printed nothing".to_owned());
        }
        let mut secrets = Secrets::default();
        if !printed.starts_with('{') {
            secrets.add(printed);
            let credential = Credential::Token(printed.to_owned().into());
            return Ok(Issued { credential, expires_at_ms: None, secrets });
        }
        let document =
            parse_json(printed).map_err(|_| "printed something that is neither a key nor JSON".to_owned())?;
        let object = &document.value;
        let credential = credential(object, &mut secrets).ok_or(
            "printed JSON without a key: `token`, `access_token`, `accessToken`, or `AccessKeyId` and `SecretAccessKey`",
        )?;
        Ok(Issued { credential, expires_at_ms: expiry(object, now_ms), secrets })
    }
}

fn credential(object: &Val<'_>, secrets: &mut Secrets) -> Option<Credential> {
    let text = |name: &str| object.get(name).and_then(Val::as_str).filter(|it| !it.is_empty());
    if let (Some(id), Some(secret)) = (text("AccessKeyId"), text("SecretAccessKey")) {
        let token = text("SessionToken");
        [Some(secret), token].into_iter().flatten().for_each(|it| secrets.add(it));
        return Some(Credential::Account(account(id, secret, token)));
    }
    let token = ["token", "access_token", "accessToken"].into_iter().find_map(text)?;
    secrets.add(token);
    Some(Credential::Token(token.to_owned().into()))
}

/// When a key ends: a number of seconds from now, a time in seconds since 1970, or a date.
fn expiry(object: &Val<'_>, now_ms: u64) -> Option<u64> {
    let seconds = |it: &Val<'_>| match it {
        Val::I(number) => u64::try_from(*number).ok(),
        Val::U(number) => Some(*number),
        Val::F(number) => (*number >= 0.0).then_some(*number as u64),
        Val::Str(text) => text.parse().ok(),
        _ => None,
    };
    if let Some(wait) = object.get("expires_in").and_then(seconds) {
        return Some(now_ms.saturating_add(wait.saturating_mul(1000)));
    }
    let found =
        ["expires_at", "expires_on", "expiry", "Expiration", "expiration"].into_iter().find_map(|it| object.get(it))?;
    let date =
        || found.as_str()?.parse::<jiff::Timestamp>().ok().and_then(|it| u64::try_from(it.as_millisecond()).ok());
    seconds(found).map(|it| it.saturating_mul(1000)).or_else(date)
}

/// The keys of an AWS account.
pub(crate) fn account(id: &str, secret: &str, token: Option<&str>) -> Credentials {
    let keys = Credentials::builder().access_key_id(id).secret_access_key(secret).provider_name("jurat");
    match token {
        Some(token) => keys.session_token(token).build(),
        None => keys.build(),
    }
}

/// Adds the signature of a request to its headers.
fn signed(
    headers: &mut HeaderMap,
    credentials: &Credentials,
    region: &str,
    request: &Signable<'_>,
) -> Result<(), Failed> {
    let failed = |what: String| {
        let message = format!("the request cannot be signed: {what}");
        Failed { is_final: true, ..Failed::new(FaultKind::Unsupported, message) }
    };
    let identity = credentials.clone().into();
    let parameters = v4::SigningParams::builder()
        .identity(&identity)
        .region(region)
        .name(SERVICE)
        .time(SystemTime::UNIX_EPOCH + Duration::from_millis(request.now_ms))
        .settings(SigningSettings::default())
        .build()
        .map_err(|it| failed(it.to_string()))?;
    let no_headers = std::iter::empty::<(&str, &str)>();
    let signable = SignableRequest::new(request.method, request.uri, no_headers, SignableBody::Bytes(request.body));
    let signable = signable.map_err(|it| failed(it.to_string()))?;
    let output = sign(signable, &parameters.into()).map_err(|it| failed(it.to_string()))?;
    let (instructions, _) = output.into_parts();
    let (added, _) = instructions.into_parts();
    for header in added {
        let name = HeaderName::try_from(header.name()).map_err(|it| failed(it.to_string()))?;
        let mut value = HeaderValue::try_from(header.value()).map_err(|it| failed(it.to_string()))?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn read(printed: &str) -> String {
        use secrecy::ExposeSecret as _;
        match Issued::read(printed, 1_000_000) {
            Ok(Issued { credential, expires_at_ms, .. }) => {
                let who = match credential {
                    Credential::Token(token) => token.expose_secret().to_owned(),
                    Credential::Account(it) => format!("{} {:?}", it.access_key_id(), it.session_token()),
                };
                format!("{who} until {expires_at_ms:?}")
            }
            Err(problem) => problem,
        }
    }

    #[test]
    fn a_command_prints_a_token_or_json() {
        for (printed, expected) in [
            ("tok\n", "tok until None"),
            (r#"{"access_token": "a", "expires_in": 60}"#, "a until Some(1060000)"),
            (r#"{"accessToken": "a", "expires_on": 1800000000}"#, "a until Some(1800000000000)"),
            (r#"{"token": "a", "expiry": "2026-11-18T01:00:00Z"}"#, "a until Some(1794963600000)"),
            (
                r#"{"Version": 1, "AccessKeyId": "id", "SecretAccessKey": "s", "SessionToken": "t", "Expiration": "1970-01-01T01:00:00Z"}"#,
                "id Some(\"t\") until Some(3600000)",
            ),
            ("", "printed nothing"),
            ("{", "printed something that is neither a key nor JSON"),
            (
                "{}",
                "printed JSON without a key: `token`, `access_token`, `accessToken`, or `AccessKeyId` and `SecretAccessKey`",
            ),
        ] {
            assert_eq!(read(printed), expected, "{printed}");
        }
    }

    /// The same request, signed by botocore 1.44 at the same time with the same keys.
    #[test]
    fn a_signature_is_the_one_of_the_vendors_client() {
        let mut headers = HeaderMap::new();
        let credentials = account("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", Some("session"));
        let request = Signable {
            method: "POST",
            uri: "https://bedrock-runtime.eu-west-1.amazonaws.com/model/vendor.model-v1%3A0/converse",
            body: b"{}",
            now_ms: 1_800_000_000_000,
        };
        signed(&mut headers, &credentials, "eu-west-1", &request).expect("it can be signed");
        let header = |name: &str| headers.get(name).and_then(|it| it.to_str().ok()).unwrap_or_default().to_owned();
        assert_eq!(header("x-amz-date"), "20270115T080000Z");
        assert_eq!(header("x-amz-security-token"), "session");
        assert_eq!(
            header("authorization"),
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20270115/eu-west-1/bedrock/aws4_request, \
             SignedHeaders=host;x-amz-date;x-amz-security-token, \
             Signature=343937eaa85fe70c88031ad14155481e1f1fb1109b1c1c9da75796dba69a9b47"
        );
    }
}
