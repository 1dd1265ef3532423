//! A model as authors write it: `provider/model` and its settings.

pub(crate) mod price_list;
pub(crate) mod role;

use std::time::Duration;

use jurat_format::choices;
use jurat_format::codes;
use jurat_format::duration;
use jurat_format::field::Field;
use jurat_format::form::{DefaultValue, Form, Key, Object};
use jurat_format::problem::Problem;
use jurat_format::reader::Reading;
use jurat_format::shape::{self, Shape};
use jurat_format::value::{Map, Node, Span, Spanned, Val, Value};

use crate::application::{REQUEST, RESPONSE, ReplyPaths, RequestText};
use crate::effect::MOST_LOGPROBS;
use crate::{application, foreign};

/// A model and how it is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// `provider/model`
    pub model: Spanned<String>,
    pub settings: ModelSettings,
}

/// What authors set of a model.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ModelSettings {
    pub base_url: Option<String>,
    pub api_key_env: Option<String>,
    pub api_key_command: Option<String>,
    pub headers: Option<Vec<(String, String)>>,
    pub price: Option<TokenPrice>,
    pub rpm: Option<u64>,
    pub tpm: Option<u64>,
    pub timeout: Option<Duration>,
    /// Whether the journal of a team has its responses.
    pub shared: Option<bool>,
    /// What an application is sent.
    pub request: Option<RequestText>,
    /// Where in the reply of an application things are.
    pub response: Option<Spanned<ReplyPaths>>,
    /// All of them as they were written, those that go into each request included.
    pub written: Vec<(&'static str, Spanned<Value>)>,
}

/// What a million tokens cost, in dollars.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TokenPrice {
    pub input: f64,
    pub output: f64,
    /// Input tokens that are read from the provider's cache; as others where it is not given.
    pub cached: Option<f64>,
    /// Input tokens that are written into the provider's cache; as others where it is not given.
    pub cache_write: Option<f64>,
}

choices! {
    /// How much a model thinks before it answers.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Effort {
        None = "none",
        Minimal = "minimal",
        Low = "low",
        Medium = "medium",
        High = "high",
        XHigh = "xhigh",
        Max = "max",
    }
}

choices! {
    /// A way to send an endpoint the schema of a reply.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Structured {
        /// With the request, to be enforced.
        JsonSchema = "json_schema",
        /// The request asks for any JSON, the prompt says which.
        JsonObject = "json_object",
        /// In the prompt alone.
        Prompt = "prompt",
        /// As the arguments of a tool that must be called.
        Tool = "tool",
    }
}

/// The keys of a price, wherever one is written.
pub(crate) mod price_fields {
    use jurat_format::field::Field;
    use jurat_format::fields::Fields;
    use jurat_format::reader::Reading;
    use jurat_format::shape;

    use super::TokenPrice;

    pub(crate) const INPUT: Field<f64> = Field::required("input", shape::AMOUNT, "dollars per million input tokens");
    pub(crate) const OUTPUT: Field<f64> = Field::required("output", shape::AMOUNT, "dollars per million output tokens");

    pub(crate) const CACHED: Field<f64> = Field::optional(
        "cached",
        shape::AMOUNT,
        "dollars per million input tokens that are read from the provider's cache",
    )
    .default_words("as `input`");
    pub(crate) const CACHE_WRITE: Field<f64> = Field::optional(
        "cache_write",
        shape::AMOUNT,
        "dollars per million input tokens that are written into the provider's cache",
    )
    .default_words("as `input`");

    pub(crate) fn read(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<TokenPrice> {
        let (input, output) = (fields.read(reading, &INPUT), fields.read(reading, &OUTPUT));
        let (cached, cache_write) = (fields.read(reading, &CACHED), fields.read(reading, &CACHE_WRITE));
        let (input, output) = input.zip(output)?;
        Some(TokenPrice { input, output, cached, cache_write })
    }
}

static TOKEN_PRICE: Object = Object {
    what: "a price",
    keys: &[price_fields::INPUT.key, price_fields::OUTPUT.key, price_fields::CACHED.key, price_fields::CACHE_WRITE.key],
};

const EFFORT: Field<Effort> = Field::optional("effort", shape::choice(), "how much the model thinks");
const BUDGET: Field<i64> = Field::optional("budget", shape::integer::<1>(), "maximum number of tokens of reasoning");

static REASONING_OBJECT: Object = Object { what: "reasoning", keys: &[EFFORT.key, BUDGET.key] };

static REASONING_FORMS: [Form; 2] = [EFFORT.key.form, Form::Object(&REASONING_OBJECT)];

const REASONING: Field<()> = Field::optional(
    "reasoning",
    Shape::new(Form::Either(&REASONING_FORMS), reasoning),
    "how much the model thinks before it answers: an effort, or `{ effort }` or `{ budget }`",
)
.default_words("as the provider does");

const PROVIDER_AND_MODEL: Field<Spanned<String>> =
    Field::required("model", Shape::new(Form::Text, provider_and_model), "`provider/model`");
const BASE_URL: Field<String> =
    Field::optional("base_url", SOME_TEXT, "the address of the endpoint").default_words("the provider's usual address");
const API_KEY_ENV: Field<String> =
    Field::optional("api_key_env", SOME_TEXT, "the environment variable that holds the API key")
        .default_words("the provider's usual variable");
const API_KEY_COMMAND: Field<String> =
    Field::optional("api_key_command", SOME_TEXT, "a command that prints the API key, for keys that change");
const HEADERS: Field<Vec<(String, String)>> =
    Field::optional("headers", Shape::new(Form::Map(&Form::Text), headers), "further headers of each request");
const TEMPERATURE: Field<f64> = Field::optional("temperature", shape::AMOUNT, "the sampling temperature");
const TOP_P: Field<f64> =
    Field::optional("top_p", shape::SHARE, "nucleus sampling: the share of probability that is sampled from");
const MAX_TOKENS: Field<i64> =
    Field::optional("max_tokens", shape::integer::<1>(), "maximum number of output tokens of a reply");
const SEED: Field<i64> = Field::optional("seed", shape::integer::<0>(), "the seed of sampling");
const LOGPROBS: Field<i64> = Field::optional(
    "logprobs",
    Shape::new(Form::Integer(0), logprobs),
    "requests the log probability of each token of a reply, with this number of alternatives, 0 to 20",
);
const EXTRA: Field<()> = Field::optional(
    "extra",
    Shape::new(Form::Map(&Form::Any), object),
    "further members of each request, by the provider's names",
);
const PRICE: Field<TokenPrice> = Field::optional(
    "price",
    Shape::new(Form::Object(&TOKEN_PRICE), price),
    "what tokens cost, for budgets and reports",
)
.default_words("that of the file of `prices`, else the built-in price");
const STRUCTURED: Field<Structured> =
    Field::optional("structured", shape::choice(), "how the endpoint is sent the schema of a reply")
        .default_words("as the provider documents it");
const TIMEOUT: Field<Duration> =
    Field::optional("timeout", duration::SHAPE, "how long a request may take, such as `15m`, or a number of seconds")
        .printed_default(DefaultValue::Name("--request-timeout"));
const RPM: Field<u64> = Field::optional("rpm", shape::large_count::<1>(), "rate limit: requests per minute");
const TPM: Field<u64> = Field::optional("tpm", shape::large_count::<1>(), "rate limit: tokens per minute");
const SHARED: Field<bool> = Field::optional(
    "shared",
    shape::BOOLEAN,
    "whether its responses are looked for in the shared journal and sent there: `true` where this address and this name are the same model for the whole team",
)
.default_words("`true`, and `false` for an address on this machine");

/// A setting, and how it is read.
struct Setting {
    key: Key,
    /// Whether it goes into each request.
    is_sent: bool,
    /// Reads it; `None` when that is a problem.
    read: fn(&mut ModelSettings, &mut Reading<'_>, &Node<'_>) -> Option<()>,
}

/// A setting of the endpoint, which has a place of its own.
macro_rules! placed {
    ($field:ident, $place:ident) => {
        Setting {
            key: $field.key,
            is_sent: false,
            read: |settings, reading, node| {
                settings.$place = Some($field.read_node(reading, node)?);
                Some(())
            },
        }
    };
}

/// What an application is sent. It has a place of its own, and is part of the endpoint.
const OF_REQUEST: Setting = Setting {
    key: REQUEST.key,
    is_sent: true,
    read: |settings, reading, node| {
        settings.request = Some(REQUEST.read_node(reading, node)?);
        Some(())
    },
};

const OF_RESPONSE: Setting = Setting {
    key: RESPONSE.key,
    is_sent: true,
    read: |settings, reading, node| {
        settings.response = Some(Spanned::new(RESPONSE.read_node(reading, node)?, node.span));
        Some(())
    },
};

/// A setting that goes into each request as it was written.
macro_rules! sent {
    ($field:ident) => {
        Setting { key: $field.key, is_sent: true, read: |_, reading, node| $field.read_node(reading, node).map(drop) }
    };
}

static SETTINGS: [Setting; 19] = [
    placed!(BASE_URL, base_url),
    placed!(API_KEY_ENV, api_key_env),
    placed!(API_KEY_COMMAND, api_key_command),
    placed!(HEADERS, headers),
    OF_REQUEST,
    OF_RESPONSE,
    sent!(TEMPERATURE),
    sent!(TOP_P),
    sent!(MAX_TOKENS),
    sent!(SEED),
    sent!(REASONING),
    sent!(LOGPROBS),
    sent!(EXTRA),
    placed!(PRICE, price),
    sent!(STRUCTURED),
    placed!(TIMEOUT, timeout),
    placed!(RPM, rpm),
    placed!(TPM, tpm),
    placed!(SHARED, shared),
];

static KEYS: [Key; SETTINGS.len() + 1] = {
    let mut keys = [PROVIDER_AND_MODEL.key; SETTINGS.len() + 1];
    let mut ix = 0;
    while ix < SETTINGS.len() {
        keys[ix + 1] = SETTINGS[ix].key;
        ix += 1;
    }
    keys
};

pub(crate) static MODEL: Object = Object { what: "a model", keys: &KEYS };

/// A model as it is written: its name, or an object.
pub(crate) const FORM: Form = Form::Either(&[Form::Text, Form::Object(&MODEL)]);

impl ModelSettings {
    /// Reads a setting by its name, and answers whether there is one. What it cannot be is a problem.
    pub(crate) fn read(&mut self, reading: &mut Reading<'_>, name: &str, node: &Node<'_>) -> bool {
        let Some(setting) = SETTINGS.iter().find(|it| it.key.name == name) else { return false };
        if (setting.read)(self, reading, node).is_some() {
            self.written.push((setting.key.name, Spanned::new(node.to_val().into_owned(), node.span)));
        }
        true
    }

    /// Adds further members of each request.
    pub(crate) fn add_extra(&mut self, members: Map<'static>, span: Span) {
        self.written.push((EXTRA.key.name, Spanned::new(Val::Map(members), span)));
    }

    /// What decides about an answer: what is asked, and where. Two models that differ in nothing else give one answer to one question.
    pub(crate) fn deciding(&self) -> impl Iterator<Item = (&'static str, &Value)> {
        let around = [API_KEY_ENV.key, API_KEY_COMMAND.key, PRICE.key, TIMEOUT.key, RPM.key, TPM.key];
        let decides = move |name: &str| around.iter().all(|it| it.name != name);
        self.written.iter().filter(move |(name, _)| decides(name)).map(|(name, it)| (*name, &it.value))
    }

    /// What goes into each request.
    pub fn sent(&self) -> impl Iterator<Item = (&'static str, &Value)> {
        let is_sent = |name: &str| SETTINGS.iter().any(|it| it.is_sent && it.key.name == name);
        self.written.iter().filter(move |(name, _)| is_sent(name)).map(|(name, it)| (*name, &it.value))
    }
}

/// Reads the model of a role.
pub(crate) fn read(reading: &mut Reading<'_>, role: &str, node: &Node<'_>) -> Option<Model> {
    let mut settings = ModelSettings::default();
    if node.as_str().is_some() || node.entries().is_none() {
        return Some(Model { model: provider_and_model(reading, role, node)?, settings });
    }
    let fields = MODEL.fields(reading, node)?;
    for Setting { key, .. } in &SETTINGS {
        if let Some(value) = fields.node(key) {
            settings.read(reading, key.name, value);
        }
    }
    if let (Some(request), Some(response)) = (&settings.request, &settings.response) {
        reading.problems_of(application::mismatch(request, response));
    }
    let model = fields.read_as(reading, role, &PROVIDER_AND_MODEL)?;
    Some(Model { model, settings })
}

/// A text that is not empty.
const SOME_TEXT: Shape<String> = Shape::new(Form::Text, |reading, what, node| {
    let text = reading.text(what, node)?;
    if text.value.is_empty() {
        let problem = Problem::new(&codes::WRONG_VALUE, format!("{what} must not be empty")).at(text.span, "empty");
        reading.problem(problem.help("leave it out for the default"));
        return None;
    }
    Some(text.value)
});

fn headers(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<Vec<(String, String)>> {
    let Some(entries) = node.entries() else {
        reading.wrong_type(what, "an object of texts", node);
        return None;
    };
    let header = |reading: &mut Reading<'_>, value| reading.text("a header", value).map(|it| it.value);
    entries.iter().map(|it| Some((it.key.clone().into_owned(), header(reading, &it.value)?))).collect()
}

fn price(reading: &mut Reading<'_>, _: &str, node: &Node<'_>) -> Option<TokenPrice> {
    let fields = TOKEN_PRICE.fields(reading, node)?;
    price_fields::read(reading, &fields)
}

fn reasoning(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<()> {
    if node.entries().is_none() {
        return reading.choice(what, &Effort::NAMED, node).map(drop);
    }
    let fields = REASONING_OBJECT.fields(reading, node)?;
    let (effort, budget) = (fields.read(reading, &EFFORT), fields.read(reading, &BUDGET));
    if effort.is_some() == budget.is_some() {
        let problem = Problem::new(&codes::WRONG_VALUE, format!("{what} must have one of `effort` and `budget`"));
        reading.problem(problem.at(node.span, "here"));
        return None;
    }
    Some(())
}

fn logprobs(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<i64> {
    let count = reading.integer(what, 0, node)?;
    if count > i64::from(MOST_LOGPROBS) {
        let problem = Problem::new(&codes::WRONG_VALUE, format!("{what} is at most {MOST_LOGPROBS}, not {count}"));
        reading.problem(problem.at(node.span, "too many").help("no provider gives more tokens in one place"));
        return None;
    }
    Some(count)
}

fn object(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<()> {
    if node.entries().is_none() {
        reading.wrong_type(what, "an object", node);
    }
    node.entries().map(drop)
}

fn provider_and_model(reading: &mut Reading<'_>, role: &str, node: &Node<'_>) -> Option<Spanned<String>> {
    let Some(text) = node.as_str().map(|it| Spanned::new(it.to_owned(), node.span)) else {
        reading.wrong_type(&format!("the model of `{role}`"), "`provider/model`", node);
        return None;
    };
    // What a variable holds is known when the model is asked.
    if is_provider_and_model(&text.value) || text.value.contains("${") {
        return Some(text);
    }
    let message = format!("the model of `{role}` must be `provider/model`, not `{}`", text.value);
    if let Some(provider) = text.value.strip_suffix('/') {
        let problem = Problem::new(&codes::WRONG_VALUE, message).at(text.span, "without a model");
        reading.problem(problem.help(match provider {
            "exec" => "write the program: for example `exec/./model.sh`".to_owned(),
            "script" => "write the file: for example `script/replies.jsonl`".to_owned(),
            _ => format!("write the name of the model: `{provider}/NAME`"),
        }));
        return None;
    }
    let problem = Problem::new(&codes::WRONG_VALUE, message).at(text.span, "without a provider");
    reading.problem(problem.help(match foreign::model_elsewhere(&text.value) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("for example `openai/{}`", if text.value.is_empty() { "gpt-5-mini" } else { &text.value }),
    }));
    None
}

/// Whether a text names a provider and one of its models.
pub(crate) fn is_provider_and_model(text: &str) -> bool {
    text.split_once('/').is_some_and(|(provider, model)| !provider.is_empty() && !model.is_empty())
}
