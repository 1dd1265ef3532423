//! A model as authors write it: `provider/model` and its settings.

use jurat_format::codes;
use jurat_format::duration;
use jurat_format::field::Field;
use jurat_format::form::{DefaultValue, Form, Key, Object};
use jurat_format::problem::Problem;
use jurat_format::reader::Reading;
use jurat_format::shape;
use jurat_format::value::{Node, Spanned, Value};

use crate::foreign;

/// A model and how it is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// `provider/model`
    pub model: Spanned<String>,
    /// Everything else, as it was written.
    pub settings: Vec<(&'static str, Spanned<Value>)>,
}

const ANY_NUMBER: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

/// The ways in which an endpoint can be sent the schema of a reply.
const STRUCTURED: [&str; 4] = ["json_schema", "json_object", "prompt", "tool"];

const INPUT: Field<f64> = Field::required("input", shape::AMOUNT, "dollars per million input tokens");
const OUTPUT: Field<f64> = Field::required("output", shape::AMOUNT, "dollars per million output tokens");

static PRICE: Object = Object { what: "a price", keys: &[INPUT.key, OUTPUT.key] };

const PROVIDER_AND_MODEL: Key = Key::required("model", Form::Text, "`provider/model`");

pub(crate) static MODEL: Object = Object {
    what: "a model",
    keys: &[
        PROVIDER_AND_MODEL,
        Key::optional("base_url", Form::Text, "the address of the endpoint")
            .default_words("the provider's usual address"),
        Key::optional("api_key_env", Form::Text, "the environment variable that holds the API key")
            .default_words("the provider's usual variable"),
        Key::optional("headers", Form::Map(&Form::Text), "further headers of each request"),
        Key::optional("temperature", Form::Number(0.0, f64::INFINITY), "the sampling temperature"),
        Key::optional(
            "top_p",
            Form::Number(0.0, 1.0),
            "nucleus sampling: the share of probability that is sampled from",
        ),
        Key::optional("max_tokens", Form::Integer(1), "maximum number of output tokens of a reply"),
        Key::optional("seed", Form::Integer(0), "the seed of sampling"),
        Key::optional("extra", Form::Map(&Form::Any), "further members of each request, by the provider's names"),
        Key::optional("price", Form::Object(&PRICE), "what tokens cost, for budgets and reports")
            .default_words("the built-in prices"),
        Key::optional("structured", Form::Choice(&STRUCTURED), "how the endpoint is sent the schema of a reply")
            .default_words("as the provider documents it"),
        Key::optional("timeout", duration::FORM, "how long a request may take, such as `15m`, or a number of seconds")
            .default(DefaultValue::Name("--request-timeout")),
        Key::optional("rpm", Form::Integer(1), "rate limit: requests per minute"),
        Key::optional("tpm", Form::Integer(1), "rate limit: tokens per minute"),
    ],
};

/// A model as it is written: its name, or an object.
pub(crate) const FORM: Form = Form::Either(&[Form::Text, Form::Object(&MODEL)]);

/// Reads the model of a role.
pub(crate) fn read(reading: &mut Reading<'_>, role: &str, node: &Node<'_>) -> Option<Model> {
    if node.as_str().is_some() || node.entries().is_none() {
        return Some(Model { model: provider_and_model(reading, role, node)?, settings: Vec::new() });
    }
    let fields = MODEL.fields(reading, node)?;
    let mut settings = Vec::new();
    for key in MODEL.keys.iter().filter(|it| it.name != PROVIDER_AND_MODEL.name) {
        if let Some(value) = fields.node(key)
            && setting_fits(reading, key, value)
        {
            settings.push((key.name, Spanned::new(value.to_val().into_owned(), value.span)));
        }
    }
    Some(Model {
        model: fields.node(&PROVIDER_AND_MODEL).and_then(|it| provider_and_model(reading, role, it))?,
        settings,
    })
}

fn setting_fits(reading: &mut Reading<'_>, key: &Key, node: &Node<'_>) -> bool {
    let what = key.quoted();
    match (key.name, key.form) {
        ("price", _) => {
            let Some(fields) = PRICE.fields(reading, node) else { return false };
            let n_before = reading.n_errors();
            let _ = (fields.read(reading, &INPUT), fields.read(reading, &OUTPUT));
            reading.n_errors() == n_before
        }
        ("timeout", _) => duration::read(reading, &what, node).is_some(),
        (_, Form::Choice(names)) => {
            let names: Vec<(&str, ())> = names.iter().map(|it| (*it, ())).collect();
            reading.choice(&what, &names, node).is_some()
        }
        (_, Form::Text) => reading.text(&what, node).is_some(),
        (_, Form::Integer(least)) => reading.integer(&what, least, node).is_some(),
        (_, Form::Number(least, most)) => {
            reading.number(&what, if least.is_finite() { (least, most) } else { ANY_NUMBER }, node).is_some()
        }
        ("headers", _) => match node.entries() {
            Some(entries) => entries.iter().all(|it| reading.text("a header", &it.value).is_some()),
            None => {
                reading.wrong_type(&what, "an object of texts", node);
                false
            }
        },
        _ if node.entries().is_none() => {
            reading.wrong_type(&what, "an object", node);
            false
        }
        _ => true,
    }
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
