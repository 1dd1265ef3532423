//! The model of a role: a model of a provider, a script, a program, or a function of this program.

use std::future::Future;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::time::Duration;

use jurat_core::effect::{Finish, ModelRequest, ToolCall, Usage};
use jurat_engine::GivenModel;
use jurat_format::value::{Val, parse_json};
use jurat_model::codec;
use jurat_model::{Answering, Asker, Function};
use serde::Serialize;

use crate::Value;
use crate::members::{Members, setters};
use crate::value::{Given, given};

/// The model of a role, and its settings.
///
/// ```
/// use jurat::{Model, Reply, Suite};
/// use serde_json::json;
///
/// Suite::builder("support")
///     .model("judge", "gemini/gemini-2.5-flash-lite")
///     .model("expert", Model::new("openai/gpt-5-mini").temperature(0.0).max_tokens(500))
///     .model("canned", "script/replies.jsonl")
///     .model("rules", Model::function("rules", |question| {
///         Reply::json(json!({ "is_polite": question.prompt().contains("please") }))
///     }));
/// ```
#[derive(Clone)]
pub struct Model {
    pub(crate) spec: String,
    settings: Members,
    headers: Members,
    extra: Members,
    pub(crate) function: Option<(String, Arc<dyn Function>)>,
}

/// A run takes the model of a role without its settings, which belong to the suite.
impl From<Model> for GivenModel {
    fn from(model: Model) -> GivenModel {
        GivenModel { has_settings: model.has_settings(), spec: model.spec, function: model.function }
    }
}

impl Model {
    /// The providers that are asked over HTTP, as their names stand before the `/`.
    ///
    /// ```
    /// assert!(jurat::Model::providers().any(|it| it == "openai"));
    /// ```
    pub fn providers() -> impl Iterator<Item = &'static str> {
        jurat_model::provider::http_names()
    }

    /// `provider/model`: one of the [providers](Model::providers) and the name that it has for the model, `script/FILE` or `exec/COMMAND`.
    pub fn new(spec: impl Into<String>) -> Model {
        let spec = spec.into();
        Model {
            spec,
            settings: Members::default(),
            headers: Members::default(),
            extra: Members::default(),
            function: None,
        }
    }

    /// A function of this program. It runs on a thread of its own, so it may block; several questions are asked at once. What it answers is
    /// recorded, so a replay does not call it; other runs do not reuse it.
    ///
    /// Text, a [`Reply`], or a `Result` of either may be returned. An error is a fault of the model: what asked cannot be judged.
    ///
    /// ```
    /// use jurat::{Model, Reply};
    /// use serde_json::json;
    ///
    /// Model::function("length", |question| format!("{} letters", question.prompt().len()));
    /// Model::function("parity", |question| {
    ///     let number: i64 = question.prompt().trim().parse()?;
    ///     Ok::<_, std::num::ParseIntError>(Reply::json(json!({ "even": number % 2 == 0 })))
    /// });
    /// ```
    pub fn function<R: IntoReply>(
        name: impl Into<String>,
        function: impl Fn(&Question) -> R + Send + Sync + 'static,
    ) -> Model {
        Model::called(name.into(), Arc::new(Blocking { function: Arc::new(function), is_sequential: false }))
    }

    /// The same, but questions come one after the other, in the order of the rows: for functions that count, or take from a queue.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicU32, Ordering};
    ///
    /// use jurat::Model;
    ///
    /// let n = AtomicU32::new(0);
    /// Model::function_in_order("counter", move |_| n.fetch_add(1, Ordering::Relaxed).to_string());
    /// ```
    pub fn function_in_order<R: IntoReply>(
        name: impl Into<String>,
        function: impl Fn(&Question) -> R + Send + Sync + 'static,
    ) -> Model {
        Model::called(name.into(), Arc::new(Blocking { function: Arc::new(function), is_sequential: true }))
    }

    /// An asynchronous function of this program. Its futures run on the run's own Tokio runtime, with a clock and sockets.
    ///
    /// ```
    /// use jurat::{Model, Reply};
    ///
    /// Model::async_function("agent", |question| async move {
    ///     // ask an agent of yours …
    ///     Reply::text(format!("you asked: {}", question.prompt()))
    /// });
    /// ```
    pub fn async_function<R: IntoReply, F>(
        name: impl Into<String>,
        function: impl Fn(Question) -> F + Send + Sync + 'static,
    ) -> Model
    where
        F: Future<Output = R> + Send + 'static,
    {
        Model::called(name.into(), Arc::new(Asynchronous(function)))
    }

    fn called(name: String, function: Arc<dyn Function>) -> Model {
        Model { function: Some((name.clone(), function)), ..Model::new(format!("call/{name}")) }
    }

    /// The same with what a million tokens cost in dollars, read and written.
    pub fn price(mut self, input: f64, output: f64) -> Model {
        let mut price = Members::default();
        price.given("input", given(&input));
        price.given("output", given(&output));
        self.settings.object("price", price);
        self
    }

    /// Whether it is more than a name.
    pub(crate) fn has_settings(&self) -> bool {
        ![&self.settings, &self.headers, &self.extra].into_iter().all(Members::is_empty)
    }

    /// The model as it stands under `models`.
    pub(crate) fn given(self) -> Given {
        if !self.has_settings() {
            return Ok(Val::from(self.spec));
        }
        let mut members = Members::default();
        members.put("model", self.spec.clone());
        members.extend(self.settings);
        members.object_if_any("headers", self.headers);
        members.object_if_any("extra", self.extra);
        members.finish(&format!("`{}`", self.spec)).map_err(|error| error.to_string())
    }
}

setters! { Model:
    /// The same with a sampling temperature.
    temperature(temperature: f64) => settings.given("temperature", given(&temperature));

    /// The same, sampled from this share of probability.
    top_p(share: f64) => settings.given("top_p", given(&share));

    /// The same with at most this number of tokens in a reply.
    max_tokens(n: u32) => settings.given("max_tokens", given(&n));

    /// The same with a seed for sampling.
    seed(seed: u32) => settings.given("seed", given(&seed));

    /// The same, asked for the probability of each token of a reply, with this number of other likely tokens in its place, at most 20.
    logprobs(n: u32) => settings.given("logprobs", given(&n));

    /// The same at another address than the provider's own.
    base_url(url: impl Into<String>) => settings.given("base_url", given(&url.into()));

    /// The same, with the environment variable that holds the key.
    api_key_env(name: impl Into<String>) => settings.given("api_key_env", given(&name.into()));

    /// The same, thinking as much as this before it answers: `none`, `minimal`, `low`, `medium`, `high`, `xhigh` or `max`.
    reasoning(effort: &str) => settings.given("reasoning", given(&effort));

    /// The same, with a command that prints the key, for keys that change.
    api_key_command(command: impl Into<String>) => settings.given("api_key_command", given(&command.into()));

    /// The same with one more header; `${NAME}` in it is a variable of the environment.
    header(name: impl Into<String>, value: impl Into<String>) => headers.given(name, Ok(Val::from(value.into())));

    /// The same with one more member of each request, as the provider has it.
    extra(name: impl Into<String>, value: impl Serialize) => extra.given(name, given(&value));

    /// The same with at most this number of requests per minute.
    requests_per_minute(n: u32) => settings.given("rpm", given(&n));

    /// The same with at most this number of tokens per minute.
    tokens_per_minute(n: u32) => settings.given("tpm", given(&n));

    /// The same, with whether the shared journal has its responses: `true` where this address and this name are the same model for the whole team.
    shared(is_shared: bool) => settings.given("shared", given(&is_shared));

    /// The same with as long as this for a request.
    timeout(timeout: Duration) => settings.given("timeout", given(&timeout.as_secs_f64()));

    /// The same with another way to send its endpoint the schema of a reply: `json_schema`, `json_object`, `prompt` or `tool`.
    structured(way: &str) => settings.given("structured", given(&way));
}

impl From<&str> for Model {
    fn from(spec: &str) -> Model {
        Model::new(spec)
    }
}

impl From<String> for Model {
    fn from(spec: String) -> Model {
        Model::new(spec)
    }
}

impl std::fmt::Debug for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Model").field(&self.spec).finish()
    }
}

/// What a function is asked.
///
/// ```
/// use jurat::{Model, Reply};
///
/// Model::function("critic", |question| match question.task() {
///     Some(task) => Reply::text(format!("{task} asks about {}: {}", question.case(), question.prompt())),
///     None => Reply::text("I am the subject"),
/// });
/// ```
#[derive(Debug, Clone)]
pub struct Question {
    case: String,
    task: String,
    request: ModelRequest,
}

impl Question {
    fn of(asker: Asker<'_>, request: &ModelRequest) -> Question {
        Question { case: asker.case.to_owned(), task: asker.task.to_owned(), request: request.clone() }
    }

    /// The id of the case.
    pub fn case(&self) -> &str {
        &self.case
    }

    /// The id of the task that asks; nothing when the case asks its subject.
    pub fn task(&self) -> Option<&str> {
        Some(self.task.as_str()).filter(|it| !it.is_empty())
    }

    /// What is asked: the last message of the user.
    pub fn prompt(&self) -> &str {
        self.said_by("user").last().unwrap_or_default()
    }

    /// The row, where the suite sends it in place of a prompt; see [`Ask::row`](crate::Ask::row).
    pub fn row(&self) -> Option<Value> {
        parse_json(self.prompt()).ok().map(|it| Value(it.value.into_owned()))
    }

    /// The system message.
    pub fn system(&self) -> Option<&str> {
        self.said_by("system").next()
    }

    /// The whole conversation: who says what, in one word and in theirs. It is longer than one question when an invalid answer is asked for
    /// again.
    pub fn messages(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.request.messages.iter().map(|it| (it.role(), it.text()))
    }

    /// The JSON Schema that the answer must have.
    pub fn schema(&self) -> Option<Value> {
        self.request.output.as_deref().cloned().map(Value)
    }

    /// Which repetition of the same question this is, from 0.
    pub fn repetition(&self) -> u32 {
        self.request.repeat
    }

    fn said_by(&self, role: &'static str) -> impl Iterator<Item = &str> {
        self.messages().filter(move |(it, _)| *it == role).map(|(_, text)| text)
    }
}

/// What a function answers.
///
/// ```
/// use jurat::Reply;
/// use serde_json::json;
///
/// Reply::text("It is polite.");
/// Reply::json(json!({ "is_polite": true })).tokens(120, 8);
/// Reply::refusal("I do not judge this.");
/// ```
#[derive(Debug, Clone)]
pub struct Reply(Result<codec::Reply, String>);

impl Reply {
    /// An answer in words.
    pub fn text(text: impl Into<String>) -> Reply {
        Reply(Ok(codec::Reply { text: text.into(), ..codec::Reply::default() }))
    }

    /// An answer as JSON.
    pub fn json(value: impl Serialize) -> Reply {
        match given(&value) {
            Ok(value) => Reply::text(value.to_json()),
            Err(reason) => Reply(Err(format!("the answer cannot be written as JSON: {reason}"))),
        }
    }

    /// A refusal to answer, in words.
    pub fn refusal(text: impl Into<String>) -> Reply {
        Reply(Reply::text(text).0.map(|it| codec::Reply { finish: Finish::Refusal, ..it }))
    }

    /// The same with the tools that it called on the way, by their names and with their arguments; tasks find them under `tool_calls`.
    ///
    /// ```
    /// # use jurat::Reply;
    /// # use serde_json::json;
    /// Reply::text("It is noon.").tool_calls([("clock", json!({ "city": "Lima" }))]);
    /// ```
    pub fn tool_calls<N: Into<String>, A: Serialize>(self, calls: impl IntoIterator<Item = (N, A)>) -> Reply {
        let call = |(nth, (name, arguments)): (usize, (N, A))| {
            let (id, name) = (format!("call-{nth}"), name.into());
            given(&arguments)
                .map(|arguments| ToolCall { id, name, arguments })
                .map_err(|it| format!("the arguments of a tool call: {it}"))
        };
        let calls: Result<Vec<ToolCall>, String> = (1..).zip(calls).map(call).collect();
        Reply(self.0.and_then(|it| Ok(codec::Reply { tool_calls: calls?, ..it })))
    }

    /// The same with the tokens it took, read and written; a [price](Model::price) makes them money.
    pub fn tokens(self, input: u64, output: u64) -> Reply {
        let usage = Some(Usage { input, output, ..Usage::default() });
        Reply(self.0.map(|it| codec::Reply { usage, ..it }))
    }
}

/// What a function may return: text, a [`Reply`], or a `Result` of either.
///
/// ```
/// # use jurat::{IntoReply, Reply};
/// fn takes(answer: impl IntoReply) -> Result<Reply, String> {
///     answer.into_reply()
/// }
/// assert!(takes("yes").is_ok());
/// assert_eq!(takes("x".parse::<u8>().map(|it| it.to_string())).unwrap_err(), "invalid digit found in string");
/// ```
pub trait IntoReply: Send + 'static {
    /// The reply, or why there is none, in words.
    fn into_reply(self) -> Result<Reply, String>;
}

impl IntoReply for Reply {
    fn into_reply(self) -> Result<Reply, String> {
        Ok(self)
    }
}

impl IntoReply for String {
    fn into_reply(self) -> Result<Reply, String> {
        Ok(Reply::text(self))
    }
}

impl IntoReply for &'static str {
    fn into_reply(self) -> Result<Reply, String> {
        Ok(Reply::text(self))
    }
}

impl<T: IntoReply, E: std::fmt::Display + Send + 'static> IntoReply for Result<T, E> {
    fn into_reply(self) -> Result<Reply, String> {
        self.map_err(|error| error.to_string())?.into_reply()
    }
}

fn said(answer: impl IntoReply) -> Result<codec::Reply, String> {
    answer.into_reply()?.0
}

/// A function that may block.
struct Blocking<F> {
    function: Arc<F>,
    is_sequential: bool,
}

impl<R: IntoReply, F: Fn(&Question) -> R + Send + Sync + 'static> Function for Blocking<F> {
    fn answer<'a>(&'a self, asker: Asker<'a>, request: &'a ModelRequest) -> Answering<'a> {
        let (function, question) = (Arc::clone(&self.function), Question::of(asker, request));
        Box::pin(async move {
            match tokio::task::spawn_blocking(move || said(function(&question))).await {
                Ok(answer) => answer,
                // A panic is a mistake of the program, not of a model.
                Err(error) => match error.try_into_panic() {
                    Ok(panic) => resume_unwind(panic),
                    Err(_) => Err("the run ended before the function did".to_owned()),
                },
            }
        })
    }

    fn is_sequential(&self) -> bool {
        self.is_sequential
    }
}

/// A function whose answer is a future.
struct Asynchronous<F>(F);

impl<R: IntoReply, A, F> Function for Asynchronous<F>
where
    A: Future<Output = R> + Send + 'static,
    F: Fn(Question) -> A + Send + Sync + 'static,
{
    fn answer<'a>(&'a self, asker: Asker<'a>, request: &'a ModelRequest) -> Answering<'a> {
        let answer = (self.0)(Question::of(asker, request));
        Box::pin(async move { said(answer.await) })
    }
}
