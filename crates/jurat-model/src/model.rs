//! A model that can be asked.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use http::HeaderMap;
use http::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_TYPE, HeaderName, HeaderValue, USER_AGENT};
use jurat_core::effect::Endpoint;
use jurat_format::source::{Files, ReadError};
use jurat_format::value::Val;

use crate::codec::Codec;
use crate::exec::{self, Exec, ExecError};
use crate::function::{self, Called};
use crate::key::{Key, KeyCommand, account};
use crate::price::Price;
use crate::provider::{ResolveError, ResolvedModel};
use crate::script::{Script, ScriptError};
use crate::transport::http::Http;
use crate::transport::secret::Secrets;
use crate::transport::{BatchApi, Target};

/// The largest script that is read.
const MAX_SCRIPT: u64 = 256 << 20;

/// A model that can be asked.
pub struct Model {
    pub(crate) endpoint: Endpoint,
    pub(crate) price: Option<Price>,
    pub(crate) rpm: Option<u64>,
    pub(crate) tpm: Option<u64>,
    pub(crate) max_tokens: Option<u64>,
    /// How long a request may take, when not as long as any other.
    pub(crate) timeout: Option<Duration>,
    /// The variable that holds its key.
    pub(crate) key_env: Option<String>,
    /// How requests are sent to it in batches, where that is possible.
    pub(crate) batch: Option<BatchApi>,
    /// Whom it shares a lane with.
    pub(crate) lane: [u8; 32],
    pub(crate) kind: Kind,
}

/// How it is asked.
#[derive(Debug)]
pub(crate) enum Kind {
    Http(Box<Http>),
    Script(Script),
    Exec(Exec),
    Function(Called),
}

/// Why a model cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Its key or another variable is missing.
    #[error(transparent)]
    Resolve(#[from] ResolveError),
    /// A header would have a value that no header can have.
    #[error("the header `{header}` of `{model}` cannot be sent: its variable holds characters that no header can have")]
    Header { model: String, header: String },
    /// The key would be no header.
    #[error("the key in `{variable}` cannot be sent: it holds characters that no header can have")]
    Key { variable: String },
    /// The codec or the address is not one that this version knows.
    #[error("`{model}` cannot be asked: there is no `{what}`")]
    Unknown { model: String, what: String },
    /// The script cannot be had.
    #[error("the script `{file}` cannot be opened: {reason}")]
    NoScript { file: String, reason: ReadError },
    /// The script is not text.
    #[error("the script `{file}` cannot be read: it is not UTF-8 text")]
    NotText { file: String },
    /// The script cannot be read.
    #[error("the script `{file}` cannot be read: {error}")]
    BadScript {
        file: String,
        #[source]
        error: ScriptError,
    },
    /// A function that the program does not have.
    #[error(
        "`{model}` is a function of the program that runs the suite, and this program has none of that name; to ask \
         another model, give the role one"
    )]
    NoFunction { model: String },
    /// The command cannot be read.
    #[error(transparent)]
    Exec(#[from] ExecError),
}

impl Model {
    /// Opens a model. Scripts and programs are looked for in `folder`; keys and headers are taken from `env` now. Functions are opened
    /// by [`Model::call`].
    pub fn open(
        resolved: ResolvedModel,
        folder: &Path,
        files: &dyn Files,
        env: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Model, OpenError> {
        resolved.has_what_it_needs(env)?;
        let signs = resolved.needs_account();
        let ResolvedModel { name, mut endpoint, key_env, key_command, key_header, region, .. } = resolved;
        let ResolvedModel { price, rpm, tpm, timeout, batch, .. } = resolved;
        let mut lane = blake3::Hasher::new();
        for text in [&endpoint.codec, &endpoint.address] {
            lane.update(&(text.len() as u64).to_le_bytes());
            lane.update(text.as_bytes());
        }
        let kind = match endpoint.codec.as_str() {
            codec if codec == crate::script::PROVIDER.name => {
                let (script, digest) = script(folder, &endpoint.model, files)?;
                lane.update(digest.as_bytes());
                // Responses are stored under what the script says, not under its name.
                endpoint.settings.push(("script".to_owned(), Val::from(digest.to_hex().to_string())));
                Kind::Script(script)
            }
            codec if codec == exec::PROVIDER.name => Kind::Exec(Exec::new(&endpoint.address, folder)?),
            codec if codec == function::PROVIDER.name => return Err(OpenError::NoFunction { model: name }),
            codec => {
                let unknown = |what: &str| OpenError::Unknown { model: name.clone(), what: what.to_owned() };
                let codec = Codec::named(codec).ok_or_else(|| unknown(codec))?;
                let mut in_query = Secrets::default();
                let (address, _) = filled(&endpoint.address, env, &mut in_query);
                let target = Target::read(&address).ok_or_else(|| unknown(&endpoint.address))?;
                let key = key_env.clone().map(|variable| (env(&variable).unwrap_or_default(), variable));
                let usual = codec.headers().iter().copied().find(|(_, it)| it.contains("${key}"));
                let header = key_header.or(usual);
                let (headers, secrets) = headers(&name, codec, header, &endpoint, key.as_ref(), env)?;
                let mut secrets = secrets.and(in_query);
                lane.update(key.map_or_else(String::new, |(key, _)| key).as_bytes());
                let region = region.unwrap_or_default();
                let key = match key_command {
                    Some(command) => {
                        lane.update(command.as_bytes());
                        let refused = |_| unknown(&command);
                        let header = header.unwrap_or(("authorization", "Bearer ${key}"));
                        Key::Command(Box::new(KeyCommand::new(&command, folder, header, region).map_err(refused)?))
                    }
                    None if signs => signing(env, region, &mut secrets),
                    None => Key::InHeaders,
                };
                Kind::Http(Box::new(Http { codec, target, headers, secrets, key }))
            }
        };
        let max_tokens = max_tokens(&endpoint);
        let lane = *lane.finalize().as_bytes();
        Ok(Model { endpoint, price, rpm, tpm, max_tokens, timeout, key_env, batch, lane, kind })
    }

    /// The endpoint, with everything that decides what is sent.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    pub fn price(&self) -> Option<&Price> {
        self.price.as_ref()
    }

    /// The most tokens of a reply.
    pub fn max_tokens(&self) -> Option<u64> {
        self.max_tokens
    }

    /// Whether its answers depend on the order in which it is asked: those of a script with lines that answer a limited number of times, and those
    /// of a function that says so.
    pub fn is_sequential(&self) -> bool {
        match &self.kind {
            Kind::Script(script) => script.is_sequential(),
            Kind::Function(called) => called.is_sequential(),
            Kind::Http(_) | Kind::Exec(_) => false,
        }
    }

    /// The host that is asked over the network.
    pub(crate) fn host(&self) -> Option<&str> {
        match &self.kind {
            Kind::Http(http) => Some(http.target.host_and_port()),
            Kind::Script(_) | Kind::Exec(_) | Kind::Function(_) => None,
        }
    }

    /// Whether it is an application of the author's own.
    pub fn is_application(&self) -> bool {
        matches!(&self.kind, Kind::Http(http) if http.codec == Codec::APPLICATION)
    }

    /// Whether it remembers conversations, so that what it answers depends on what it was asked before.
    pub fn has_sessions(&self) -> bool {
        matches!(&self.kind, Kind::Http(http) if http.codec.has_sessions(&self.endpoint))
    }

    /// Whether requests can be sent to it in batches, at half the price.
    pub fn has_batches(&self) -> bool {
        self.batch.is_some()
    }

    /// Whether it is on this machine, so that asking it costs nothing.
    pub fn is_local(&self) -> bool {
        !matches!(self.kind, Kind::Http(_))
    }
}

/// The most tokens that an endpoint may write.
pub(crate) fn max_tokens(endpoint: &Endpoint) -> Option<u64> {
    // An embedding is no text: nothing is written.
    if Codec::named(&endpoint.codec).is_some_and(Codec::embeds) {
        return Some(0);
    }
    match endpoint.setting("max_tokens") {
        Some(Val::I(number)) => u64::try_from(*number).ok(),
        _ => None,
    }
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Model").field("endpoint", &self.endpoint).field("price", &self.price).finish_non_exhaustive()
    }
}

fn script(folder: &Path, file: &str, files: &dyn Files) -> Result<(Script, blake3::Hash), OpenError> {
    let file = file.to_owned();
    let bytes = match files.read(&folder.join(&file), MAX_SCRIPT) {
        Ok(bytes) => bytes,
        Err(reason) => return Err(OpenError::NoScript { file, reason }),
    };
    let digest = blake3::hash(&bytes);
    let Ok(text) = String::from_utf8(bytes) else { return Err(OpenError::NotText { file }) };
    match Script::parse(text.trim_start_matches('\u{feff}')) {
        Ok(script) => Ok((script, digest)),
        Err(error) => Err(OpenError::BadScript { file, error }),
    }
}

/// The headers of every request, and what in them is secret.
fn headers(
    model: &str,
    codec: Codec,
    key_header: Option<(&'static str, &'static str)>,
    endpoint: &Endpoint,
    key: Option<&(String, String)>,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<(HeaderMap, Secrets), OpenError> {
    let mut headers = HeaderMap::new();
    let mut secrets = Secrets::default();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(ACCEPT, HeaderValue::from_static("*/*"));
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    headers.insert(USER_AGENT, HeaderValue::from_static(concat!("jurat/", env!("CARGO_PKG_VERSION"))));
    let of_codec = codec.headers().iter().copied().filter(|(_, it)| !it.contains("${key}"));
    for (name, template) in key_header.into_iter().chain(of_codec) {
        let value = match (template.contains("${key}"), key) {
            (false, _) => HeaderValue::from_static(template),
            (true, None) => continue,
            (true, Some((key, variable))) => {
                secrets.add(key);
                let value = HeaderValue::try_from(template.replace("${key}", key));
                let mut value = value.map_err(|_| OpenError::Key { variable: variable.clone() })?;
                value.set_sensitive(true);
                value
            }
        };
        headers.insert(HeaderName::from_static(name), value);
    }
    for (name, template) in &endpoint.headers {
        let refused = || OpenError::Header { model: model.to_owned(), header: name.clone() };
        let (text, is_secret) = filled(template, env, &mut secrets);
        let mut value = HeaderValue::try_from(text).map_err(|_| refused())?;
        value.set_sensitive(is_secret);
        headers.insert(HeaderName::try_from(name).map_err(|_| refused())?, value);
    }
    Ok((headers, secrets))
}

/// The keys of an AWS account, which sign requests.
fn signing(env: &dyn Fn(&str) -> Option<String>, region: String, secrets: &mut Secrets) -> Key {
    let variable = |name: &str| env(name).unwrap_or_default();
    let (id, secret) = (variable("AWS_ACCESS_KEY_ID"), variable("AWS_SECRET_ACCESS_KEY"));
    let token = env("AWS_SESSION_TOKEN").filter(|it| !it.is_empty());
    [Some(&secret), token.as_ref()].into_iter().flatten().for_each(|it| secrets.add(it));
    Key::Account { credentials: account(&id, &secret, token.as_deref()), region }
}

/// A text with its variables filled in, and whether there were any.
pub(crate) fn filled(template: &str, env: &dyn Fn(&str) -> Option<String>, secrets: &mut Secrets) -> (String, bool) {
    let mut text = String::new();
    let mut rest = template;
    let mut is_secret = false;
    while let Some((before, name, after)) =
        rest.split_once("${").and_then(|(before, it)| it.split_once('}').map(|(name, after)| (before, name, after)))
    {
        let value = env(name).unwrap_or_default();
        secrets.add(&value);
        is_secret = true;
        text.push_str(before);
        text.push_str(&value);
        rest = after;
    }
    text.push_str(rest);
    (text, is_secret)
}
