//! An application of the author's own: `http/NAME`.
//!
//! What it is sent and where in its reply things are is data of the definition, two settings of the endpoint: [`Application`]. So they are part of every key and stored with every
//! response. What the definition asks for reaches the application or is refused: a system message, earlier messages or a setting that the request has no placeholder for
//! would be lost without a word.
//!
//! A reply that lacks what a path names is an error, never an empty answer. What the application reports of tools it has called already: they are evidence, and not called again.

use std::borrow::Cow;

use jurat_core::application::{Application, CallPaths, FilledBody, Pieces as Form, ReplyPaths, UsagePaths, plain};
use jurat_core::effect::{
    Endpoint, FaultClass, Finish, Message, ModelRequest, Reasoning, Served, ToolCall, Usage, UsedTool,
};
use jurat_format::value::{FieldPath, Map, Val, Value, parse_json, shown_within};

use super::{
    ApiError, Entry, Events, Failure, Pieces, Reply, Sending, Structured, Unsupported, WireRequest, arguments,
    envelope, media,
};

pub(super) static ENTRY: Entry = Entry {
    name: NAME,
    revision: 1,
    headers: &[],
    encode,
    decode,
    pieces: Some(Pieces {
        is_sse: |endpoint| form(endpoint) != Some(Form::JsonLines),
        events: |it| Box::new(events(it)),
    }),
    embedding: None,
};

/// Its name, as endpoints have it.
pub(super) const NAME: &str = "http_application";

/// The application that an endpoint is.
pub(super) fn of(endpoint: &Endpoint) -> Result<Application, Unsupported> {
    Application::of(endpoint.setting("request"), endpoint.setting("response")).map_err(Unsupported)
}

/// How its replies come in pieces; `None` when they do not.
pub(super) fn form(endpoint: &Endpoint) -> Option<Form> {
    of(endpoint).ok()?.reply.stream
}

/// Whether an endpoint can be asked as it is written, as far as that depends on no request.
pub(super) fn check(endpoint: &Endpoint) -> Result<(), Unsupported> {
    let Application { request, .. } = of(endpoint)?;
    for (name, value) in &endpoint.settings {
        match name.as_str() {
            "request" | "response" => {}
            "structured" => match value.as_str().and_then(Structured::named) {
                Some(Structured::Prompt) | None => {}
                Some(Structured::JsonSchema) if request.reads("output_schema") => {}
                Some(Structured::JsonSchema) => {
                    return Err(Unsupported::new(
                        "`request` has no `${output_schema}`, which `structured: json_schema` sends",
                    ));
                }
                Some(it) => {
                    let message = format!("an application has no `structured: {}`; leave it out", it.name());
                    return Err(Unsupported(message));
                }
            },
            "extra" => return Err(Unsupported::new("an application has no `extra`; write it into `request`")),
            _ if request.reads_setting(name) => {}
            _ => {
                let message =
                    format!("`request` does not send `{name}`; add `${{settings.{name}}}` to it, or leave it out");
                return Err(Unsupported(message));
            }
        }
    }
    Ok(())
}

fn encode(endpoint: &Endpoint, request: &ModelRequest, sending: Sending<'_>) -> Result<WireRequest, Unsupported> {
    super::logprobs::none(endpoint, request, "an application")?;
    check(endpoint)?;
    let application = of(endpoint)?;
    media::need(request, "an application", &[])?;
    nothing_lost(&application, request, sending)?;
    let filled = application.request.filled(&context(endpoint, request, sending)).map_err(Unsupported)?;
    let (content_type, body) = match filled.body {
        FilledBody::None => (None, Vec::new()),
        FilledBody::Json(value) => (Some("application/json"), value.to_json().into_bytes()),
        FilledBody::Form(text) => (Some("application/x-www-form-urlencoded"), text.into_bytes()),
        FilledBody::Text(text) if parse_json(&text).is_ok() => (Some("application/json"), text.into_bytes()),
        FilledBody::Text(text) => (Some("text/plain; charset=utf-8"), text.into_bytes()),
    };
    Ok(WireRequest { method: filled.method.name(), path: filled.path, content_type, body })
}

/// Refuses what the application would not be sent.
fn nothing_lost(application: &Application, request: &ModelRequest, sending: Sending<'_>) -> Result<(), Unsupported> {
    let template = &application.request;
    if !request.tools.is_empty() {
        return Err(Unsupported::new("an application has tools of its own; those of servers cannot be offered to it"));
    }
    if template.reads("messages") {
        return Ok(());
    }
    if request.messages.iter().any(|it| matches!(it, Message::System(_))) && !template.reads("system") {
        return Err(Unsupported::new(
            "there is a system message, and `request` sends neither `${system}` nor `${messages}`",
        ));
    }
    let n_said = request.messages.iter().filter(|it| !matches!(it, Message::System(_))).count();
    if n_said > 1 && (sending.is_first || !application.has_sessions()) {
        return Err(Unsupported(format!(
            "the conversation has {n_said} messages, and `request` sends the last one alone; send `${{messages}}`, or, where the \
             application remembers them, `${{session}}`"
        )));
    }
    Ok(())
}

/// What the texts of a request may read.
fn context(endpoint: &Endpoint, request: &ModelRequest, sending: Sending<'_>) -> Value {
    let last = request.messages.iter().rev().find(|it| it.role() == "user");
    let system: Vec<&str> =
        request.messages.iter().filter(|it| matches!(it, Message::System(_))).map(Message::text).collect();
    let message = |it: &Message| {
        let members = [("role", Val::from(it.role())), ("content", Val::from(it.text().to_owned()))];
        Val::Map(members.into_iter().collect::<Map<'static>>())
    };
    let settings = endpoint.settings.iter().filter(|(name, _)| !matches!(name.as_str(), "request" | "response"));
    let mut context = Map::default();
    let mut put = |name: &'static str, value: Value| context.insert(name.into(), value);
    put("prompt", Val::from(last.map_or("", Message::text).to_owned()));
    put("system", Val::from(system.join("\n\n")));
    put("messages", request.messages.iter().map(message).collect());
    put("model", Val::from(endpoint.model.clone()));
    put("settings", Val::Map(settings.cloned().collect()));
    put("output_schema", request.output.as_ref().map_or(Val::Null, |it| Value::clone(it)));
    if request.row != Val::Null {
        put("row", request.row.clone());
    }
    if let Some(session) = sending.session {
        put("session", Val::from(session.to_owned()));
    }
    Val::Map(context)
}

fn decode(endpoint: &Endpoint, body: &[u8]) -> Result<Reply, Failure> {
    let mut found = events(endpoint);
    found.take_reply(body)?;
    found.into_reply()
}

/// What was found of a reply so far.
#[derive(Debug, Default)]
struct Found {
    paths: ReplyPaths,
    text: Option<String>,
    /// Why there is no text, as far as is known.
    missing: Option<String>,
    reasoning: String,
    finish: Option<String>,
    usage: [Option<u64>; 5],
    cost_usd: Option<f64>,
    used: Vec<UsedTool>,
    session: Option<String>,
    served: Served,
    is_done: bool,
}

fn events(endpoint: &Endpoint) -> Found {
    Found { paths: of(endpoint).map(|it| it.reply).unwrap_or_default(), ..Found::default() }
}

impl Found {
    /// Takes in a whole reply, or an event of one.
    fn take_reply(&mut self, body: &[u8]) -> Result<(), Failure> {
        let text = std::str::from_utf8(body).map_err(|_| Failure::Garbled("the reply is not UTF-8".to_owned()))?;
        if self.paths
            == (ReplyPaths { stream: self.paths.stream, end: self.paths.end.clone(), ..ReplyPaths::default() })
        {
            self.text.get_or_insert_default().push_str(text);
            return Ok(());
        }
        let record = parse_json(text).map_err(|error| {
            Failure::Garbled(format!("the reply is not JSON: {error}; it is {}", envelope::start(body)))
        })?;
        self.note(&record.value, text)
    }

    fn note(&mut self, value: &Val<'_>, whole: &str) -> Result<(), Failure> {
        if let Some(error) = self.paths.error.as_ref().and_then(|it| it.find(value).ok()).filter(|it| is_set(it)) {
            return Err(Failure::Api(reported(&error)));
        }
        match self.paths.text.as_ref().map(|path| (path, path.find(value))) {
            None => self.text.get_or_insert_default().push_str(whole),
            Some((_, Ok(found))) if *found != Val::Null => {
                self.text.get_or_insert_default().push_str(&plain(&found));
            }
            Some((path, found)) => {
                let why = found.err().map_or_else(|| "it is null".to_owned(), |it| it.explain(path));
                self.missing =
                    Some(format!("the reply has no answer at `{path}`: {why}; it is {}", shown_within(value, 100)));
            }
        }
        let found = |path: &Option<FieldPath>| -> Option<Cow<'_, Val<'_>>> {
            path.as_ref().and_then(|it| it.find(value).ok()).filter(|it| **it != Val::Null)
        };
        let text = |path: &Option<FieldPath>| found(path).map(|it| plain(&it));
        let UsagePaths { input, output, cached, cache_write, reasoning } = &self.paths.usage;
        for (count, path) in self.usage.iter_mut().zip([input, output, cached, cache_write, reasoning]) {
            *count = found(path).and_then(|it| count_of(&it)).or(*count);
        }
        self.cost_usd = found(&self.paths.cost_usd).and_then(|it| amount(&it)).or(self.cost_usd);
        self.reasoning.push_str(&text(&self.paths.reasoning).unwrap_or_default());
        self.finish = text(&self.paths.finish).or(self.finish.take());
        self.session = text(&self.paths.session).or(self.session.take());
        self.served.model = text(&self.paths.model).or(self.served.model.take());
        self.served.request_id = text(&self.paths.request_id).or(self.served.request_id.take());
        if let Some(paths) = &self.paths.tool_calls
            && let Ok(calls) = paths.list.find(value)
            && *calls != Val::Null
        {
            let used = used_tools(paths, &calls, self.used.len())?;
            self.used.extend(used);
        }
        Ok(())
    }

    fn into_reply(self) -> Result<Reply, Failure> {
        let Some(text) = self.text else {
            return Err(Failure::Garbled(self.missing.unwrap_or_else(|| "the reply is empty".to_owned())));
        };
        if self.paths.session.is_some() && self.session.is_none() {
            let path = self.paths.session.iter().map(ToString::to_string).collect::<String>();
            return Err(Failure::Garbled(format!("the reply has no session at `{path}`")));
        }
        let [input, output, cached, cache_write, reasoning] = self.usage;
        let of = |it: Option<u64>| it.unwrap_or(0);
        let usage = self.usage.iter().any(Option::is_some).then(|| Usage {
            input: of(input),
            output: of(output),
            cached: of(cached),
            cache_write: of(cache_write),
            reasoning: of(reasoning),
        });
        let finish = match self.finish.as_deref() {
            None => Finish::Stop,
            Some("content_filter" | "refused") => Finish::Refusal,
            // Its tools were called already.
            Some("tool_calls") => Finish::Stop,
            Some(word) => Finish::named(word),
        };
        Ok(Reply {
            text,
            used: self.used,
            reasoning: Reasoning::new(self.reasoning, Val::Null),
            finish,
            usage,
            cost_usd: self.cost_usd,
            served: self.served,
            session: self.session,
            ..Reply::default()
        })
    }
}

impl Events for Found {
    fn take(&mut self, data: &[u8]) -> Result<(), Failure> {
        if self.paths.end.as_ref().is_some_and(|it| it.as_bytes() == data) {
            self.is_done = true;
            return Ok(());
        }
        self.take_reply(data)
    }

    fn has_begun(&self) -> bool {
        self.text.as_ref().is_some_and(|it| !it.is_empty()) || !self.reasoning.is_empty()
    }

    fn finish(self: Box<Self>) -> Result<Reply, Failure> {
        if self.paths.end.is_some() && !self.is_done {
            return Err(Failure::Cut);
        }
        self.into_reply()
    }
}

/// Whether a value at the path of errors means one.
fn is_set(value: &Val<'_>) -> bool {
    match value {
        Val::Null | Val::Bool(false) => false,
        Val::Str(text) => !text.is_empty(),
        Val::List(items) => !items.is_empty(),
        Val::Map(members) => !members.is_empty(),
        _ => true,
    }
}

/// An error that the application reports with a status of success. Whether it would pass is not known, and asking again may do things twice.
fn reported(error: &Val<'_>) -> ApiError {
    let message = error.get("message").map_or_else(|| plain(error), plain);
    let message = shown_within(&Val::from(message), 500).trim_matches('`').to_owned();
    ApiError { status: 200, class: FaultClass::Other, message, retry_after: None, is_final: true }
}

fn count_of(value: &Val<'_>) -> Option<u64> {
    amount(value).filter(|it| it.fract() == 0.0).map(|it| it as u64)
}

/// A number of at least 0, also one that is written as a text.
fn amount(value: &Val<'_>) -> Option<f64> {
    let number = value.as_f64().or_else(|| value.as_str()?.trim().parse().ok());
    number.filter(|it| it.is_finite() && *it >= 0.0)
}

fn used_tools(paths: &CallPaths, calls: &Val<'_>, n_before: usize) -> Result<Vec<UsedTool>, Failure> {
    let garbled = |what: String| Failure::Garbled(format!("the tool calls of the reply cannot be read: {what}"));
    let items = calls.as_list().ok_or_else(|| garbled(format!("`{}` is no list", paths.list)))?;
    let used = |(ix, item): (usize, &Val<'_>)| {
        let part = |path: &FieldPath| path.find(item).ok().filter(|it| **it != Val::Null).map(Cow::into_owned);
        let name = part(&paths.name).ok_or_else(|| garbled(format!("call {} has no `{}`", ix + 1, paths.name)))?;
        let arguments = match part(&paths.arguments) {
            Some(Val::Str(text)) => arguments(&text),
            Some(other) => other.into_owned(),
            None => Val::Map(Map::default()),
        };
        let id = part(&paths.id).map_or_else(|| format!("call_{}", n_before + ix + 1), |it| plain(&it));
        Ok(UsedTool {
            call: ToolCall { id, name: plain(&name), arguments },
            output: part(&paths.output).map(|it| plain(&it)),
            is_error: part(&paths.is_error).is_some_and(|it| is_set(&it)),
        })
    };
    items.iter().enumerate().map(used).collect()
}
