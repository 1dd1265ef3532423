//! `provider/model`: from what an author wrote to the endpoint that is asked.
//!
//! Everything here is decided by the text, the settings and the environment that are passed in. Keys are looked for, not held: what is
//! resolved names the variable, and a run that could not authenticate ends before anything is asked.

use std::borrow::Cow;
use std::time::Duration;

use jurat_core::effect::Endpoint;
use jurat_core::model::ModelSettings;
use jurat_core::suite::PriceList;
use jurat_format::problem::{listed, listed_all, nearest};
use jurat_format::value::Value;

pub use crate::codec::DEFAULT_MAX_TOKENS;
use crate::codec::{Codec, Unsupported};
use crate::dotenv::objection_to;
use crate::model::filled;
use crate::preset::{PRESETS, Place, Preset};
use crate::price::{self, Price, PriceSource, list_price};
use crate::transport::BatchApi;
use crate::transport::secret::Secrets;
use crate::{exec, function, script};

/// The endpoint that is asked, and what a request to it needs.
#[derive(Debug, Clone, PartialEq)]
pub struct ResolvedModel {
    /// `provider/model`, as it was written.
    pub name: String,
    pub endpoint: Endpoint,
    /// The environment variable that holds the key.
    pub key_env: Option<String>,
    /// The command that prints the key.
    pub key_command: Option<String>,
    /// The header that the key of a variable is sent in, where it is not the usual one of the interface.
    pub(crate) key_header: Option<(&'static str, &'static str)>,
    /// The region that requests are signed for with the keys of an AWS account, where they may be.
    pub(crate) region: Option<String>,
    /// The environment variables that its address was taken from.
    pub address_env: Vec<String>,
    /// What tokens cost: the author's price, else the provider's list price.
    pub price: Option<Price>,
    /// Where that comes from.
    pub price_source: Option<PriceSource>,
    /// The most requests a minute.
    pub rpm: Option<u64>,
    /// The most tokens a minute.
    pub tpm: Option<u64>,
    /// How long a request may take.
    pub timeout: Option<Duration>,
    /// The batch interface of its provider.
    pub(crate) batch: Option<BatchApi>,
}

/// Why a model cannot be asked.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ResolveError {
    /// It is not `provider/model`.
    #[error("`{written}` is not `provider/model`; providers are {}", listed_all(names()))]
    NoProvider { written: String },
    /// There is no such provider.
    #[error("there is no provider `{name}`; providers are {}{}", listed_all(names()), suggestion(name))]
    UnknownProvider {
        /// The provider that was named.
        name: String,
    },
    /// The key is not there.
    #[error(
        "`{model}` needs a key: set {} in the environment, or in a file `.env` beside the suite, above it up to the root of \
         the project, or in the current directory",
        listed(variables.iter().map(String::as_str))
    )]
    MissingKey {
        model: String,
        /// The variables that may hold it.
        variables: Vec<String>,
    },
    /// The address is from a file of the project, the key is not.
    #[error("`{model}` is not asked: {reason}")]
    ForeignKey {
        model: String,
        /// Which file, and what to do.
        reason: String,
    },
    /// The provider has no usual address.
    #[error("`{model}` needs an address: {}write `base_url`", or_variable(variable))]
    NoAddress {
        model: String,
        /// The variable that may hold it; empty when there is none.
        variable: String,
    },
    /// A variable of the usual address holds something that is no part of an address.
    #[error("`{model}` cannot be asked: `{variable}` may hold letters, digits, `-`, `_` and `.` only")]
    BadPart { model: String, variable: String },
    /// A header needs a variable that is not there.
    #[error("the header `{header}` of `{model}` needs `{variable}`: set it in the environment or in a file `.env`")]
    MissingVariable { model: String, header: String, variable: String },
    /// The model or its address needs a variable that is not there.
    #[error("`{setting}: {written}` needs `{variable}`: set it in the environment or in a file `.env`")]
    MissingPlaceholder { setting: &'static str, written: String, variable: String },
    /// A provider without the name of a model.
    #[error("`{written}` names no model; write for example `{example}`")]
    NoName {
        written: String,
        /// A model of this provider.
        example: String,
    },
    /// A setting has a value that it cannot have.
    #[error("`{setting}` of `{model}` {problem}")]
    Setting {
        model: String,
        setting: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The provider has no embeddings.
    #[error("`{model}` cannot be asked for embeddings: its provider has none; models of {} can", listed(embedders()))]
    NoEmbeddings { model: String },
    /// The provider cannot do what the settings ask for.
    #[error("`{model}` cannot be asked like this: {problem}")]
    Unsupported { model: String, problem: Unsupported },
}

/// Resolves `provider/model` with these settings. Its key need not be set: plans, and runs that only use what is recorded, send nothing.
///
/// ```
/// use jurat_core::model::ModelSettings;
/// use jurat_model::provider::describe;
///
/// let model = describe("openai/gpt-5-mini", &ModelSettings::default(), &|_| None)?;
/// assert_eq!(model.endpoint.address, "https://api.openai.com/v1");
/// assert_eq!(model.key_env.as_deref(), Some("OPENAI_API_KEY"));
/// # Ok::<(), jurat_model::provider::ResolveError>(())
/// ```
pub fn describe(
    spec: &str,
    settings: &ModelSettings,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<ResolvedModel, ResolveError> {
    let spec = &*expanded("model", spec, env)?;
    let Some((name, model)) = spec.split_once('/').filter(|(name, _)| !name.is_empty()) else {
        return Err(ResolveError::NoProvider { written: spec.to_owned() });
    };
    let Some(provider) = providers().find(|it| it.names().contains(&name)) else {
        return Err(ResolveError::UnknownProvider { name: name.to_owned() });
    };
    if model.is_empty() {
        return Err(ResolveError::NoName { written: spec.to_owned(), example: provider.example() });
    }
    match provider {
        Provider::Http(preset) => over_http(preset, spec, model, settings, env),
        Provider::Local(local) => local.resolved(spec, model, settings),
    }
}

fn over_http(
    preset: &Preset,
    spec: &str,
    model: &str,
    settings: &ModelSettings,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<ResolvedModel, ResolveError> {
    let refused = |setting: &str, problem: String| ResolveError::Setting {
        model: spec.to_owned(),
        setting: setting.to_owned(),
        problem,
    };
    let headers = headers(settings).map_err(|it| refused("headers", it))?;
    if preset.codec == Codec::APPLICATION && settings.shared == Some(true) {
        return Err(refused("shared", "is for models: responses of applications are not reused".to_owned()));
    }
    let env = |name: &str| env(name).filter(|it| !it.is_empty());
    let Addressed { text, variables: address_env, is_usual } = addressed(preset, spec, settings, &env)?;
    let address = address(preset, spec, model, &text)?;
    let region = preset.is_signed.then(|| region(&address, &env));
    let key = KeySource::of(preset, settings, headers, is_usual, &env).map_err(|it| refused("api_key_command", it))?;
    let host = http::Uri::try_from(&address).ok().and_then(|it| it.host().map(str::to_owned));
    let codec = preset.codec;
    let endpoint = Endpoint {
        codec: codec.name().to_owned(),
        codec_revision: codec.revision(),
        address,
        model: model.to_owned(),
        settings: preset.completed(sent(settings), host.as_deref().unwrap_or_default()),
        headers: headers.to_vec(),
        shared: settings.shared,
    };
    if let Err(problem) = codec.check(&endpoint) {
        return Err(ResolveError::Unsupported { model: spec.to_owned(), problem });
    }
    let list_price = is_usual.then(|| list_price(preset.price_list, model)).flatten();
    Ok(ResolvedModel {
        name: spec.to_owned(),
        endpoint,
        region: region.filter(|_| key.variable.is_none() && !key.is_own),
        key_header: preset.key_header.filter(|_| key.command.is_none()),
        key_env: key.variable,
        key_command: key.command,
        address_env,
        price_source: price_source(settings, list_price.as_ref()),
        price: price(settings).or(list_price),
        rpm: settings.rpm,
        tpm: settings.tpm,
        timeout: settings.timeout,
        batch: preset.batch,
    })
}

/// The address of an endpoint as it was written, with its variables filled in.
struct Addressed {
    text: String,
    /// The variables that it was taken from.
    variables: Vec<String>,
    is_usual: bool,
}

fn addressed(
    preset: &Preset,
    spec: &str,
    settings: &ModelSettings,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<Addressed, ResolveError> {
    let given = |text, variables| Ok(Addressed { text, variables, is_usual: preset.addresses.is_empty() });
    if let Some(base_url) = &settings.base_url {
        return given(expanded_address(base_url, env)?, placeholders(base_url).map(str::to_owned).collect());
    }
    let variable = preset.base_url_env.to_owned();
    if let Some(text) = env(&variable).filter(|_| !variable.is_empty()) {
        return given(text, vec![variable]);
    }
    let is_known = |it: &&&str| placeholders(it).all(|it| env(it).is_some());
    let Some(usual) = preset.addresses.iter().find(is_known).or(preset.addresses.first()) else {
        return Err(ResolveError::NoAddress { model: spec.to_owned(), variable });
    };
    let text = expanded("base_url", usual, env)?.into_owned();
    // A slash or an `@` would make another host of it, which would get the key.
    let is_part = |it: &str| it.bytes().all(|it| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'_' | b'.'));
    if let Some(bad) = placeholders(usual).find(|it| !env(it).is_some_and(|it| is_part(&it))) {
        return Err(ResolveError::BadPart { model: spec.to_owned(), variable: bad.to_owned() });
    }
    let variables = std::iter::once(variable).chain(placeholders(usual).map(str::to_owned)).collect();
    Ok(Addressed { text, variables, is_usual: true })
}

/// The region of an address, else that of the environment.
fn region(address: &str, env: &dyn Fn(&str) -> Option<String>) -> String {
    let host = address.split_once("://").map_or(address, |(_, rest)| rest);
    let named =
        host.strip_prefix("bedrock-runtime.").and_then(|it| it.split_once(".amazonaws.")).map(|(it, _)| it.to_owned());
    named.or_else(|| env("AWS_REGION")).or_else(|| env("AWS_DEFAULT_REGION")).unwrap_or_else(|| "us-east-1".to_owned())
}

/// Where the key of a model comes from.
struct KeySource {
    variable: Option<String>,
    command: Option<String>,
    /// Whether the author's own headers authenticate, and nothing else does.
    is_own: bool,
}

impl KeySource {
    fn of(
        preset: &Preset,
        settings: &ModelSettings,
        headers: &[(String, String)],
        is_usual: bool,
        env: &dyn Fn(&str) -> Option<String>,
    ) -> Result<KeySource, String> {
        let none = KeySource { variable: None, command: None, is_own: false };
        if let Some(command) = &settings.api_key_command {
            if settings.api_key_env.is_some() {
                return Err("and `api_key_env` are two sources of one key; leave one out".to_owned());
            }
            exec::split(command).map_err(|problem| format!("is no command: {problem}"))?;
            return Ok(KeySource { command: Some(command.clone()), ..none });
        }
        if settings.api_key_env.is_some() {
            return Ok(KeySource { variable: settings.api_key_env.clone(), ..none });
        }
        // Beside authentication of the author's own, the usual key would be sent to another party, or be preferred to it.
        if headers.iter().any(|(name, _)| KEY_HEADERS.iter().any(|it| it.eq_ignore_ascii_case(name))) {
            return Ok(KeySource { is_own: true, ..none });
        }
        let found = preset.key_env.iter().find(|it| env(it).is_some()).copied();
        // At another address there may be no key at all.
        let is_needed = is_usual && preset.needs_key && !preset.is_signed;
        let variable = found.or_else(|| preset.key_env.first().copied().filter(|_| is_needed));
        Ok(KeySource { variable: variable.map(str::to_owned), ..none })
    }
}

/// What goes into each request.
fn sent(settings: &ModelSettings) -> Vec<(String, Value)> {
    settings.sent().map(|(name, value)| (name.to_owned(), value.clone())).collect()
}

fn price_source(settings: &ModelSettings, built_in: Option<&Price>) -> Option<PriceSource> {
    let of_suite = settings.price.map(|_| PriceSource::Suite);
    of_suite.or(built_in.map(|_| PriceSource::BuiltIn))
}

fn price(settings: &ModelSettings) -> Option<Price> {
    settings.price.map(Price::from)
}

/// A text with its variables filled in.
fn expanded<'t>(
    setting: &'static str,
    text: &'t str,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<Cow<'t, str>, ResolveError> {
    if !text.contains("${") {
        return Ok(Cow::Borrowed(text));
    }
    let missing = placeholders(text).find(|it| env(it).is_none_or(|it| it.is_empty()));
    if let Some(variable) = missing {
        let (written, variable) = (text.to_owned(), variable.to_owned());
        return Err(ResolveError::MissingPlaceholder { setting, written, variable });
    }
    Ok(Cow::Owned(filled(text, env, &mut Secrets::default()).0))
}

/// An address with its variables filled in, except for those of its query: they may be secrets, and the address is stored with every answer.
fn expanded_address(text: &str, env: &dyn Fn(&str) -> Option<String>) -> Result<String, ResolveError> {
    let (address, query) = match text.find('?') {
        Some(at) => text.split_at(at),
        None => (text, ""),
    };
    Ok(format!("{}{query}", expanded("base_url", address, env)?))
}

/// The variables with the keys that are sent to the address in a variable.
pub(crate) fn keys_sent_to(base_url_env: &str) -> &'static [&'static str] {
    PRESETS.iter().find(|it| it.base_url_env == base_url_env).map_or(&[], |it| it.key_env)
}

/// Whether an address is taken from a variable without being asked to by the suite.
pub(crate) fn is_address(variable: &str) -> bool {
    PRESETS.iter().any(|it| it.base_url_env == variable && !variable.is_empty()) || variable.ends_with("_BASE_URL")
}

/// The names of all providers.
pub fn names() -> impl Iterator<Item = &'static str> {
    providers().map(|it| it.names()[0])
}

/// The names of those that are asked over HTTP.
pub fn http_names() -> impl Iterator<Item = &'static str> {
    PRESETS.iter().map(|it| it.names[0])
}

/// The table of the reference: a row for each provider.
pub fn table() -> String {
    let row = |it: Provider| match it {
        Provider::Http(preset) => preset.row(),
        Provider::Local(local) => format!("| `{}` | {} | | | | |\n", local.name, local.doc),
    };
    let head = "| provider | what it speaks | usual address | key | `structured` | tested against |\n\
                |---|---|---|---|---|---|\n";
    providers().map(row).fold(head.to_owned(), |table, row| table + &row)
}

fn or_variable(variable: &str) -> String {
    match variable {
        "" => String::new(),
        _ => format!("set `{variable}` in the environment or in a file `.env`, or "),
    }
}

fn suggestion(name: &str) -> String {
    nearest(name, names()).map_or_else(String::new, |it| format!("; did you mean `{it}`?"))
}

/// The providers that have embeddings.
fn embedders() -> impl Iterator<Item = &'static str> {
    providers().filter(|it| it.embeds()).map(|it| it.names()[0])
}

impl ResolvedModel {
    /// The same model, asked for embeddings. Scripts, programs and functions answer with a JSON list of vectors.
    ///
    /// # Errors
    /// When its provider has none, or its settings make no sense for them.
    pub fn embedding(mut self) -> Result<ResolvedModel, ResolveError> {
        let Some(codec) = Codec::named(&self.endpoint.codec) else { return Ok(self) };
        let codec = codec.embedding().ok_or_else(|| ResolveError::NoEmbeddings { model: self.name.clone() })?;
        self.endpoint.codec = codec.name().to_owned();
        self.endpoint.codec_revision = codec.revision();
        match codec.check(&self.endpoint) {
            Ok(()) => Ok(self),
            Err(problem) => Err(ResolveError::Unsupported { model: self.name, problem }),
        }
    }

    /// Whether requests can be sent to it in batches, at half the price.
    pub fn has_batches(&self) -> bool {
        self.batch.is_some()
    }

    /// Whether it can be asked for the probabilities of tokens. What scripts, programs and functions have is known when they answer.
    ///
    /// # Errors
    /// When its provider has none, in words.
    pub fn check_logprobs(&self) -> Result<(), Unsupported> {
        Codec::named(&self.endpoint.codec).map_or(Ok(()), |it| it.check_logprobs(&self.endpoint))
    }

    /// The same model with the price that a file has for it, unless the suite gives one.
    pub fn with_prices(mut self, list: Option<&PriceList>) -> ResolvedModel {
        if self.price_source != Some(PriceSource::Suite)
            && let Some(list) = list
            && let Some(price) = price::of_list(list, &self.name)
        {
            let PriceList { file, date, .. } = list;
            self.price_source = Some(PriceSource::File { file: file.clone(), date: date.clone() });
            self.price = Some(price);
        }
        self
    }

    /// Whether it is asked for embeddings.
    pub fn embeds(&self) -> bool {
        Codec::named(&self.endpoint.codec).is_some_and(Codec::embeds)
    }

    /// Whether its key and the variables of its headers are there.
    pub fn has_what_it_needs(&self, env: &dyn Fn(&str) -> Option<String>) -> Result<(), ResolveError> {
        let is_there = |name: &str| env(name).is_some_and(|it| !it.is_empty());
        if let Some(variable) = &self.key_env
            && !is_there(variable)
        {
            let usual = PRESETS.iter().find(|it| it.key_env.contains(&variable.as_str()));
            let variables =
                usual.map_or_else(|| vec![variable.clone()], |it| it.key_env.iter().map(|&it| it.to_owned()).collect());
            return Err(ResolveError::MissingKey { model: self.name.clone(), variables });
        }
        if self.needs_account()
            && let Some(variable) = ACCOUNT.iter().find(|it| !is_there(it))
        {
            let variables = vec!["AWS_BEARER_TOKEN_BEDROCK".to_owned(), (*variable).to_owned()];
            return Err(ResolveError::MissingKey { model: self.name.clone(), variables });
        }
        if let Some(reason) = self.objection(env) {
            return Err(ResolveError::ForeignKey { model: self.name.clone(), reason });
        }
        if let Some(variable) = placeholders(&self.endpoint.address).find(|it| !is_there(it)) {
            let (written, variable) = (self.endpoint.address.clone(), variable.to_owned());
            return Err(ResolveError::MissingPlaceholder { setting: "base_url", written, variable });
        }
        for (header, value) in &self.endpoint.headers {
            if let Some(variable) = placeholders(value).find(|it| !is_there(it)) {
                return Err(ResolveError::MissingVariable {
                    model: self.name.clone(),
                    header: header.clone(),
                    variable: variable.to_owned(),
                });
            }
        }
        Ok(())
    }

    /// Whether requests are signed with the keys of an AWS account rather than sent with a key.
    pub fn is_signed(&self) -> bool {
        self.needs_account()
    }

    /// Whether requests are signed with the keys of an AWS account from the environment.
    pub(crate) fn needs_account(&self) -> bool {
        self.region.is_some() && self.key_command.is_none()
    }

    /// Why the environment does not let a secret be sent to the address, if so.
    fn objection(&self, env: &dyn Fn(&str) -> Option<String>) -> Option<String> {
        let in_headers = self.endpoint.headers.iter().flat_map(|(_, value)| placeholders(value));
        let secrets = self.key_env.as_deref().into_iter().chain(in_headers).chain(placeholders(&self.endpoint.address));
        let secrets: Vec<&str> = secrets.chain(ACCOUNT.into_iter().filter(|_| self.needs_account())).collect();
        let addresses = self.address_env.iter().filter(|it| is_address(it));
        addresses.flat_map(|it| secrets.iter().map(move |secret| objection_to(it, secret))).find_map(|it| env(&it))
    }
}

/// The variables that a header names as `${NAME}`.
pub(crate) fn placeholders(value: &str) -> impl Iterator<Item = &str> {
    value.split("${").skip(1).filter_map(|it| it.split_once('}')).map(|(name, _)| name)
}

/// What is asked for `provider/model`.
#[derive(Clone, Copy)]
enum Provider {
    /// Over HTTP, through a codec.
    Http(&'static Preset),
    /// On this machine.
    Local(&'static Local),
}

/// A script, a program or a function that is asked like a model.
pub(crate) struct Local {
    pub(crate) name: &'static str,
    /// What it is, for the reference.
    pub(crate) doc: &'static str,
    /// What an author may write after the `/`, for messages.
    pub(crate) example: &'static str,
    /// It goes up whenever it is sent something else for equal requests.
    pub(crate) revision: u32,
    /// Whether what is written after the `/` is the address, rather than the model.
    pub(crate) is_address: bool,
}

static LOCALS: [&Local; 3] = [&script::PROVIDER, &exec::PROVIDER, &function::PROVIDER];

/// Every provider, in the order in which errors list them.
fn providers() -> impl Iterator<Item = Provider> {
    PRESETS.iter().map(Provider::Http).chain(LOCALS.iter().map(|it| Provider::Local(it)))
}

impl Provider {
    fn names(self) -> &'static [&'static str] {
        match self {
            Provider::Http(preset) => preset.names,
            Provider::Local(local) => std::slice::from_ref(&local.name),
        }
    }

    /// How a model of this provider is written.
    fn example(self) -> String {
        let model = match self {
            Provider::Http(preset) => preset.example,
            Provider::Local(local) => local.example,
        };
        format!("{}/{model}", self.names()[0])
    }

    fn embeds(self) -> bool {
        match self {
            Provider::Http(preset) => preset.codec.embedding().is_some(),
            Provider::Local(_) => true,
        }
    }
}

impl Local {
    /// A script, a program or a function.
    fn resolved(&self, spec: &str, model: &str, settings: &ModelSettings) -> Result<ResolvedModel, ResolveError> {
        let of_network =
            ["base_url", "api_key_env", "api_key_command", "headers", "structured", "request", "response", "shared"];
        let is_set = |it: &Value| it.as_map().is_none_or(|it| !it.is_empty());
        let mut written = settings.written.iter();
        if let Some((setting, _)) = written.find(|(name, it)| of_network.contains(name) && is_set(&it.value)) {
            return Err(ResolveError::Setting {
                model: spec.to_owned(),
                setting: (*setting).to_owned(),
                problem: "is for models that are asked over the network".to_owned(),
            });
        }
        let (address, model) = if self.is_address { (model, "") } else { ("", model) };
        let endpoint = Endpoint {
            codec: self.name.to_owned(),
            codec_revision: self.revision,
            address: address.to_owned(),
            model: model.to_owned(),
            settings: sent(settings),
            headers: Vec::new(),
            shared: None,
        };
        Ok(ResolvedModel {
            name: spec.to_owned(),
            endpoint,
            key_env: None,
            key_command: None,
            key_header: None,
            region: None,
            address_env: Vec::new(),
            price_source: price_source(settings, None),
            price: price(settings),
            rpm: settings.rpm,
            tpm: settings.tpm,
            timeout: settings.timeout,
            batch: None,
        })
    }
}

/// The address in one form, however it was written: without a slash at the end, with the version where paths do not have it.
fn address(preset: &Preset, spec: &str, model: &str, written: &str) -> Result<String, ResolveError> {
    let (written, query) = match written.split_once('?') {
        Some((before, query)) => (before, Some(query)),
        None => (written, None),
    };
    // A name and a password, or a query, may be secrets; the rest says enough.
    let shown = written.rsplit_once('@').map_or(written, |(_, host)| host);
    let refused = |problem: &str| ResolveError::Setting {
        model: spec.to_owned(),
        setting: "base_url".to_owned(),
        problem: format!("{problem}, not `{shown}`"),
    };
    let text = (preset.complete)(written);
    let text = text.trim();
    let Some((scheme, rest)) = text.split_once("://").filter(|(scheme, _)| matches!(*scheme, "http" | "https")) else {
        return Err(refused("must begin with `http://` or `https://`"));
    };
    let (text, rest) = (text.trim_end_matches('/'), rest.trim_end_matches('/'));
    if rest.is_empty() {
        return Err(refused("must name a host, for example `https://host:8080/v1`"));
    }
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    if authority.contains('@') {
        // It would be stored with every answer.
        return Err(ResolveError::Setting {
            model: spec.to_owned(),
            setting: "base_url".to_owned(),
            problem: "must not hold a password; send it as a header: `headers: { authorization: \"Basic ${NAME}\" }`"
                .to_owned(),
        });
    }
    if port(authority).is_some_and(|it| it.parse::<u16>().is_ok_and(|it| it == 0) || is_too_large(it)) {
        return Err(refused("must have a port from 1 to 65535"));
    }
    let is_uri = http::Uri::try_from(text).is_ok_and(|it| it.host().is_some_and(|it| !it.is_empty()));
    let is_query = |it: &str| http::uri::PathAndQuery::try_from(format!("/?{}", without_placeholders(it))).is_ok();
    if !is_uri || text.contains('#') || query.is_some_and(|it| it.contains('#') || !is_query(it)) {
        return Err(refused("must be an address such as `https://host:8080/v1`"));
    }
    if let Some(name) = query.and_then(written_secret) {
        return Err(ResolveError::Setting {
            model: spec.to_owned(),
            setting: "base_url".to_owned(),
            problem: format!("must not hold a key in its query; name a variable: `{name}=${{NAME}}`"),
        });
    }
    let path = (preset.path)(&Place { path, query, model });
    let slash = if path.is_empty() { "" } else { "/" };
    let query = query.filter(|it| !it.is_empty()).map_or_else(String::new, |it| format!("?{it}"));
    Ok(format!("{scheme}://{authority}{slash}{path}{query}"))
}

/// The port of an authority, as it is written.
fn port(authority: &str) -> Option<&str> {
    authority.rsplit_once(':').map(|(_, port)| port).filter(|it| !it.contains(']'))
}

/// Whether a port is a number that no port has.
fn is_too_large(port: &str) -> bool {
    !port.is_empty() && port.bytes().all(|it| it.is_ascii_digit()) && port.parse::<u16>().is_err()
}

/// Parts of the names of query parameters whose values are secrets.
const SECRET_PARAMETERS: [&str; 5] = ["key", "token", "secret", "password", "credential"];

/// The parameter of a query that holds a secret as it is written. The address is stored with every response, so such a value must be a variable.
fn written_secret(query: &str) -> Option<&str> {
    let parameters = query.split('&').filter_map(|it| it.split_once('='));
    let written = parameters.filter(|(_, value)| !value.is_empty() && placeholders(value).next().is_none());
    written.map(|(name, _)| name).find(|name| {
        let name = name.to_ascii_lowercase();
        SECRET_PARAMETERS.iter().any(|it| name.contains(it))
    })
}

/// A text in which each `${NAME}` is a letter.
fn without_placeholders(text: &str) -> String {
    placeholders(text).fold(text.to_owned(), |text, name| text.replace(&format!("${{{name}}}"), "x"))
}

/// The variables of an AWS account that sign requests.
const ACCOUNT: [&str; 2] = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"];

/// Headers by which requests are authenticated.
const KEY_HEADERS: [&str; 5] = ["authorization", "x-api-key", "x-goog-api-key", "api-key", "ocp-apim-subscription-key"];

/// Headers that belong to the connection.
const OUR_HEADERS: [&str; 5] = ["connection", "content-length", "content-type", "host", "transfer-encoding"];

/// The headers, or what is wrong with one of them.
fn headers(settings: &ModelSettings) -> Result<&[(String, String)], String> {
    let headers = settings.headers.as_deref().unwrap_or_default();
    for (name, text) in headers {
        if http::HeaderName::try_from(name).is_err() {
            return Err(format!("has `{name}`, which is no name of a header"));
        }
        if OUR_HEADERS.iter().any(|it| it.eq_ignore_ascii_case(name)) {
            return Err(format!("has `{name}`, which belongs to the connection"));
        }
        if http::HeaderValue::from_str(text).is_err() {
            return Err(format!("has `{name}` with a value that no header can have"));
        }
    }
    Ok(headers)
}
