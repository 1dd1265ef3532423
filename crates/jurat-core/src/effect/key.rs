//! The name of a request by its content.
//!
//! A key is BLAKE3 over a framing of the *logical* request: each field has a tag and a length, JSON stays in the author's order (the order of
//! a schema's properties changes what a model writes), integers are exact, 1 and 1.0 are two values. What decides nothing about the
//! answer is left out: who asks, when, how often it may be tried.
//!
//! Keys are stored for years. Whatever changes here changes [`KEY_REVISION`]; golden keys in the tests see to it.

use std::fmt;

use jurat_format::value::{Val, Value};

use super::{Action, Endpoint, FileRef, Media, Message, ModelRequest, Part, Request, ToolChoice};

/// The revision of the framing.
pub const KEY_REVISION: u32 = 1;

/// The name of a request by its content.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EffectKey(pub [u8; 32]);

impl EffectKey {
    /// The first eight bytes as a number: what indexes look at.
    pub fn prefix(&self) -> i64 {
        let mut first = [0; 8];
        first.copy_from_slice(&self.0[..8]);
        i64::from_be_bytes(first)
    }

    /// The key that 64 hexadecimal digits write.
    pub fn parse(text: &str) -> Option<EffectKey> {
        blake3::Hash::from_hex(text).ok().map(|it| EffectKey(*it.as_bytes()))
    }
}

impl fmt::Display for EffectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for EffectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EffectKey({self})")
    }
}

/// An endpoint with its share of every key computed once.
#[derive(Debug, Clone)]
pub struct EndpointKey(Framing);

impl EndpointKey {
    /// The share of an endpoint.
    pub fn new(endpoint: &Endpoint) -> EndpointKey {
        let mut framing = Framing(Vec::with_capacity(256));
        framing.number(b'R', u64::from(KEY_REVISION));
        framing.text(b'K', "model");
        framing.text(b'C', &endpoint.codec);
        framing.number(b'r', u64::from(endpoint.codec_revision));
        framing.text(b'E', &endpoint.address);
        framing.text(b'M', &endpoint.model);
        framing.number(b'S', endpoint.settings.len() as u64);
        for (name, value) in &endpoint.settings {
            framing.text(b'k', name);
            framing.value(value);
        }
        framing.number(b'H', endpoint.headers.len() as u64);
        for (name, value) in &endpoint.headers {
            // Names of headers have no case.
            framing.text(b'k', &name.to_ascii_lowercase());
            framing.text(b't', value);
        }
        EndpointKey(framing)
    }
}

/// What performs a request, as far as the key of the request depends on it.
#[derive(Debug, Clone)]
pub enum PerformerKey<'p> {
    /// A model.
    Endpoint(&'p EndpointKey),
    /// Anything else, by what decides its results: the definition of a server, without its secrets.
    Digest(Value),
}

impl PerformerKey<'_> {
    /// What decides the results of anything but a model.
    pub fn digest(&self) -> Option<&Value> {
        match self {
            PerformerKey::Endpoint(_) => None,
            PerformerKey::Digest(digest) => Some(digest),
        }
    }
}

impl Request {
    /// The name of the request by its content.
    pub fn key(&self, performer: &PerformerKey<'_>) -> EffectKey {
        let mut framing = Framing(Vec::with_capacity(self.n_framed()));
        match performer {
            PerformerKey::Endpoint(endpoint) => framing.0.extend_from_slice(&endpoint.0.0),
            PerformerKey::Digest(digest) => {
                framing.number(b'R', u64::from(KEY_REVISION));
                framing.text(b'K', self.kind());
                framing.value(digest);
            }
        }
        match self {
            Request::Model(request) => framing.model_request(request),
            Request::Action(action) => framing.action(action),
        }
        framing.key()
    }

    /// About as many bytes as its framing has, so that it is rarely moved.
    fn n_framed(&self) -> usize {
        match self {
            Request::Model(request) => request.messages.iter().map(|it| it.text().len() + 32).sum::<usize>() + 1536,
            Request::Action(_) => 512,
        }
    }
}

fn framed(value: &Value) -> Vec<u8> {
    let mut framing = Framing(Vec::new());
    framing.value(value);
    framing.0
}

/// Fields written one after the other so that no two requests can be written alike. They are gathered before they are hashed: a long conversation is hashed
/// many blocks at a time, which piece by piece it would not be.
#[derive(Debug, Clone)]
struct Framing(Vec<u8>);

impl Framing {
    fn key(&self) -> EffectKey {
        EffectKey(*blake3::hash(&self.0).as_bytes())
    }

    fn tag(&mut self, tag: u8) {
        self.0.push(tag);
    }

    fn number(&mut self, tag: u8, number: u64) {
        let mut frame = [tag; 9];
        frame[1..].copy_from_slice(&number.to_le_bytes());
        self.0.extend_from_slice(&frame);
    }

    fn text(&mut self, tag: u8, text: &str) {
        self.number(tag, text.len() as u64);
        self.0.extend_from_slice(text.as_bytes());
    }

    fn model_request(&mut self, request: &ModelRequest) {
        self.number(b'm', request.messages.len() as u64);
        for message in &request.messages {
            self.message(message);
        }
        match &request.output {
            Some(schema) => self.0.extend_from_slice(schema.framing(framed)),
            None => self.tag(b'-'),
        }
        self.number(b'T', request.tools.len() as u64);
        for tool in &request.tools {
            self.text(b'k', &tool.name);
            match &tool.description {
                Some(text) => self.text(b't', text),
                None => self.tag(b'-'),
            }
            self.value(&tool.parameters);
        }
        match &request.tool_choice {
            ToolChoice::Auto => self.tag(b'a'),
            ToolChoice::None => self.tag(b'0'),
            ToolChoice::Required => self.tag(b'1'),
            ToolChoice::Named(name) => self.text(b'n', name),
        }
        self.number(b'#', u64::from(request.repeat));
        // A request without these has the key that it always had.
        if request.row != Val::Null {
            self.tag(b'w');
            self.value(&request.row);
        }
        if let Some(logprobs) = request.logprobs {
            self.number(b'l', u64::from(logprobs));
        }
    }

    fn action(&mut self, action: &Action) {
        // The name of an evaluator decides nothing: its code does.
        if !matches!(action, Action::Evaluate { .. }) {
            self.text(b'E', action.performer());
        }
        match action {
            Action::ListTools { .. } => {}
            Action::CallTool { tool: name, arguments, .. } | Action::Evaluate { source: name, arguments, .. } => {
                self.text(b'k', name);
                self.value(arguments);
            }
            Action::Call { arguments, .. } => self.value(arguments),
            // The id of a case decides nothing.
            Action::Run { definition, .. } => self.value(definition),
            Action::Attach { files } => self.value(&files.iter().map(FileRef::to_value).collect()),
            Action::Look { .. } | Action::Hook { .. } => self.value(&action.asked_of_host().unwrap_or(Val::Null)),
        }
    }

    fn part(&mut self, part: &Part) {
        match part {
            Part::Text(text) => self.text(b't', text),
            Part::Media(media) => self.media(media),
        }
    }

    /// Bytes by their digest.
    fn media(&mut self, media: &Media) {
        self.text(b'k', media.kind.name());
        self.text(b'y', &media.media_type);
        self.text(b'd', &media.digest.to_string());
        match &media.name {
            Some(name) => self.text(b'n', name),
            None => self.tag(b'-'),
        }
    }

    fn message(&mut self, message: &Message) {
        match message {
            Message::System(text) => self.text(b's', text),
            Message::User(text) => self.text(b'u', text),
            Message::Parts(parts) => {
                self.number(b'p', parts.iter().len() as u64);
                parts.iter().for_each(|it| self.part(it));
            }
            Message::Assistant { text, tool_calls, reasoning } => {
                self.text(b'a', text);
                self.number(b'c', tool_calls.len() as u64);
                for call in tool_calls {
                    self.text(b'i', &call.id);
                    self.text(b'k', &call.name);
                    self.value(&call.arguments);
                }
                // What can only be read is not sent, and a message without it has the key that it always had.
                if let Some(state) = reasoning.as_ref().and_then(|it| it.state()) {
                    self.tag(b'g');
                    self.value(state);
                }
            }
            Message::Tool { call_id, name, text, media, is_error } => {
                self.text(b'i', call_id);
                self.text(b'k', name);
                self.text(if *is_error { b'e' } else { b't' }, text);
                // A result of text alone has the key that it always had.
                if !media.is_empty() {
                    self.number(b'x', media.len() as u64);
                    media.iter().for_each(|it| self.media(it));
                }
            }
        }
    }

    fn value(&mut self, value: &Value) {
        match value {
            Val::Null => self.tag(b'N'),
            Val::Bool(false) => self.tag(b'F'),
            Val::Bool(true) => self.tag(b'Y'),
            Val::I(number) => self.text(b'I', &number.to_string()),
            Val::U(number) => self.text(b'I', &number.to_string()),
            Val::F(number) if number.is_nan() => self.tag(b'?'),
            Val::F(number) => self.number(b'D', number.to_bits()),
            Val::Big(text) => self.text(b'B', text),
            Val::Str(text) => self.text(b'"', text),
            Val::List(items) => {
                self.number(b'[', items.len() as u64);
                items.iter().for_each(|it| self.value(it));
            }
            Val::Map(map) => {
                self.number(b'{', map.len() as u64);
                for (key, value) in map.iter() {
                    self.text(b'k', key);
                    self.value(value);
                }
            }
        }
    }
}
