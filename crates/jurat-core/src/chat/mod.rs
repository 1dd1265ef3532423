//! What a model is asked, before a context fills it: messages with texts, images, audio and documents, examples that are repeated for each item of a list,
//! and messages that a row brings along.
//!
//! Filling is pure. A file that a row names is asked for first ([`Unbound::Files`]), as an effect whose outcome says what the file is: a replay
//! needs no files, and verdicts follow from what was recorded.

mod read;

pub use read::ChatText;
pub(crate) use read::{FORM, MESSAGES, SHAPE};

use std::path::PathBuf;
use std::sync::Arc;

use jurat_format::choices;
use jurat_format::value::{Context, FieldPath, Map, Val, Value, shown_within};

use crate::effect::{FileBase, FileRef, FoundFiles, Media, MediaKind, Message, Part, file_name};
use crate::prompt::Prompt;

/// What a model is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Chat {
    pub turns: Vec<Turn>,
    /// The directory that written paths begin in.
    pub home: PathBuf,
}

/// An element of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub enum Turn {
    /// A message.
    Said { speaker: Speaker, content: Vec<Content> },
    /// Messages for each item of a list, which is seen under a name.
    Each { items: Items, name: String, turns: Vec<Turn> },
    /// Messages of the row, as `{role, content}`.
    From(FieldPath),
    /// A mark after the messages before it: the provider may cache everything up to here.
    Cached,
}

choices! {
    /// Who says a message.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Speaker {
        System = "system",
        User = "user",
        Assistant = "assistant",
    }
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    Text(Prompt),
    Media(MediaKind, Source),
}

/// Where an image, audio or a document comes from.
#[derive(Debug, Clone, PartialEq)]
pub enum Source {
    /// A value of the context: a path beside the rows, a `data:` URL, an object, or a list of these.
    Value(FieldPath),
    /// A path beside the definition, written with placeholders.
    Written(Prompt),
}

/// The items that messages are repeated for.
#[derive(Debug, Clone, PartialEq)]
pub enum Items {
    Path(FieldPath),
    /// The rows of a file, which was read with the definition.
    Rows(Arc<Vec<Value>>),
}

/// Why a context does not fill a conversation.
#[derive(Debug, Clone, PartialEq)]
pub enum Unbound {
    /// Files have to be read first.
    Files(Vec<FileRef>),
    /// It cannot, in words.
    Fault(String),
}

impl From<String> for Unbound {
    fn from(reason: String) -> Unbound {
        Unbound::Fault(reason)
    }
}

impl Chat {
    /// A single message of the user.
    pub fn of(prompt: Prompt) -> Chat {
        let content = vec![Content::Text(prompt)];
        Chat { turns: vec![Turn::Said { speaker: Speaker::User, content }], home: PathBuf::new() }
    }

    /// The messages after those that are there, and the places of those that a provider may cache to, given what is known of files.
    pub fn bind(
        &self,
        messages: Vec<Message>,
        context: Context<'_>,
        files: &FoundFiles,
    ) -> Result<(Vec<Message>, Vec<u32>), Unbound> {
        let n_before = messages.len();
        let mut binding = Binding { files, needed: Vec::new(), messages, cached: Vec::new() };
        binding.turns(&self.turns, context)?;
        if !binding.needed.is_empty() {
            return Err(Unbound::Files(binding.needed));
        }
        if binding.messages.len() == n_before {
            return Err(Unbound::Fault("there is no message to send".to_owned()));
        }
        Ok((binding.messages, binding.cached))
    }

    /// Whether a message says that a provider may cache what ends with it.
    pub fn is_cached(&self) -> bool {
        self.turns.contains(&Turn::Cached)
    }

    /// It as an author may write it, without a file for texts and examples.
    pub fn written(&self) -> Value {
        match self.turns.as_slice() {
            [Turn::Said { speaker: Speaker::User, content }] if let [Content::Text(prompt)] = content.as_slice() => {
                prompt.written()
            }
            turns => object([("messages", written_turns(turns))]),
        }
    }

    /// It in one text, for what compares definitions: a prompt as it is, anything else as JSON.
    pub fn text(&self) -> String {
        match self.written() {
            Val::Str(text) => text.into_owned(),
            other => other.to_json(),
        }
    }

    /// The texts in it, in their order.
    pub fn prompts(&self) -> Vec<&Prompt> {
        let mut prompts = Vec::new();
        texts(&self.turns, &mut prompts);
        prompts
    }

    /// Whether how much it says depends on more than the values of its placeholders: lists, templates, files.
    pub fn is_open_ended(&self) -> bool {
        let is_plain = |it: &Turn| {
            *it == Turn::Cached
                || matches!(it, Turn::Said { content, .. } if content.iter().all(|it| matches!(it, Content::Text(_))))
        };
        !self.turns.iter().all(is_plain) || self.prompts().iter().any(|it| it.is_template())
    }
}

fn texts<'c>(turns: &'c [Turn], prompts: &mut Vec<&'c Prompt>) {
    for turn in turns {
        match turn {
            Turn::Said { content, .. } => prompts.extend(content.iter().filter_map(|it| match it {
                Content::Text(prompt) | Content::Media(_, Source::Written(prompt)) => Some(prompt),
                Content::Media(_, Source::Value(_)) => None,
            })),
            Turn::Each { turns, .. } => texts(turns, prompts),
            Turn::From(_) | Turn::Cached => {}
        }
    }
}

fn object<const N: usize>(members: [(&'static str, Value); N]) -> Value {
    Val::Map(members.into_iter().collect())
}

/// The name of the mark of a message that a provider may cache to.
pub(crate) const PROMPT_CACHE: &str = "prompt_cache";

fn written_turns(turns: &[Turn]) -> Value {
    let mut written: Vec<Value> = Vec::with_capacity(turns.len());
    for turn in turns {
        match (turn, written.last_mut()) {
            (Turn::Cached, Some(Val::Map(message))) => {
                message.insert(PROMPT_CACHE.into(), Val::Bool(true));
            }
            (turn, _) => written.push(written_turn(turn)),
        }
    }
    Val::List(written)
}

fn written_turn(turn: &Turn) -> Value {
    match turn {
        Turn::Said { speaker, content } => {
            let content = match content.as_slice() {
                [Content::Text(prompt)] => prompt.written(),
                parts => parts.iter().map(written_part).collect(),
            };
            object([("role", Val::from(speaker.name())), ("content", content)])
        }
        Turn::Each { items, name, turns } => {
            let items = match items {
                Items::Path(path) => Val::from(path.to_string()),
                Items::Rows(rows) => Val::List(rows.to_vec()),
            };
            let messages = written_turns(turns);
            object([("each", items), ("as", Val::from(name.clone())), ("messages", messages)])
        }
        Turn::From(path) => object([("from", Val::from(path.to_string()))]),
        Turn::Cached => Val::Null,
    }
}

fn written_part(content: &Content) -> Value {
    match content {
        Content::Text(prompt) => object([("text", prompt.written())]),
        Content::Media(kind, Source::Value(path)) => object([(kind.name(), Val::from(format!("${{{path}}}")))]),
        Content::Media(kind, Source::Written(prompt)) => object([(kind.name(), prompt.written())]),
    }
}

struct Binding<'f> {
    files: &'f FoundFiles,
    needed: Vec<FileRef>,
    messages: Vec<Message>,
    /// The places of messages that a provider may cache to.
    cached: Vec<u32>,
}

impl Binding<'_> {
    fn turns(&mut self, turns: &[Turn], context: Context<'_>) -> Result<(), Unbound> {
        turns.iter().try_for_each(|it| self.turn(it, context))
    }

    fn turn(&mut self, turn: &Turn, context: Context<'_>) -> Result<(), Unbound> {
        match turn {
            Turn::Said { speaker, content } => {
                let mut parts = Vec::with_capacity(content.len());
                for it in content {
                    self.part(&mut parts, it, context)?;
                }
                self.messages.push(message(*speaker, parts)?);
                Ok(())
            }
            Turn::Each { items, name, turns } => self.each(items, name, turns, context),
            Turn::From(path) => self.of_row(path, context),
            Turn::Cached => {
                let last = self.messages.len().checked_sub(1).and_then(|it| u32::try_from(it).ok());
                self.cached.extend(last.filter(|it| !self.cached.contains(it)));
                Ok(())
            }
        }
    }

    fn each(&mut self, items: &Items, name: &str, turns: &[Turn], context: Context<'_>) -> Result<(), Unbound> {
        let found;
        let items: &[Val<'_>] = match items {
            Items::Rows(rows) => rows,
            Items::Path(path) => {
                found = value(context, path)?;
                found
                    .as_list()
                    .ok_or_else(|| format!("`{path}` must be a list of examples, not {}", shown_within(&found, 40)))?
            }
        };
        for item in items {
            let outputs: Vec<(&str, &Val<'_>)> =
                std::iter::once((name, item)).chain(context.outputs.iter().copied()).collect();
            self.turns(turns, Context { base: context.base, outputs: &outputs })?;
        }
        Ok(())
    }

    /// Messages that the row has as they were sent to a model: `{role, content}`, the content a text or a list of parts.
    fn of_row(&mut self, path: &FieldPath, context: Context<'_>) -> Result<(), Unbound> {
        let found = value(context, path)?;
        let wanted = || format!("`{path}` must be a list of messages with `role` and `content`");
        for item in found.as_list().ok_or_else(wanted)? {
            let role = item.get("role").and_then(Val::as_str).ok_or_else(wanted)?;
            let speaker = Speaker::named(role)
                .ok_or_else(|| format!("`{path}` has a message of `{role}`; it may be system, user or assistant"))?;
            let mut parts = Vec::new();
            match item.get("content").ok_or_else(wanted)? {
                Val::Str(text) => parts.push(Part::Text(text.clone().into_owned())),
                Val::List(items) => items.iter().try_for_each(|it| self.part_of_row(&mut parts, it, path))?,
                _ => return Err(wanted().into()),
            }
            self.messages.push(message(speaker, parts)?);
        }
        Ok(())
    }

    fn part_of_row(&mut self, parts: &mut Vec<Part>, part: &Val<'_>, path: &FieldPath) -> Result<(), Unbound> {
        if let Some(text) = part.get("text").and_then(Val::as_str) {
            parts.push(Part::Text(text.to_owned()));
            return Ok(());
        }
        let named = MediaKind::NAMED.iter().find_map(|(key, kind)| Some((*kind, part.get(key)?)));
        let image = || Some((MediaKind::Image, part.get("image_url")?.get("url")?));
        let (kind, value) = named.or_else(image).ok_or_else(|| {
            format!(
                "a part of a message in `{path}` has `text`, `image`, `audio` or `pdf`, not {}",
                shown_within(part, 60)
            )
        })?;
        self.media(parts, kind, value)
    }

    fn part(&mut self, parts: &mut Vec<Part>, content: &Content, context: Context<'_>) -> Result<(), Unbound> {
        match content {
            Content::Text(prompt) => {
                parts.push(Part::Text(prompt.bound(context)?));
                Ok(())
            }
            Content::Media(kind, Source::Value(path)) => {
                let found = value(context, path)?;
                self.media(parts, *kind, &found)
            }
            Content::Media(kind, Source::Written(prompt)) => {
                let path = prompt.bound(context)?;
                self.located(parts, *kind, &path, FileBase::Definition)
            }
        }
    }

    /// What a value stands for: a path or a `data:` URL, an object that has one of these, or several.
    fn media(&mut self, parts: &mut Vec<Part>, kind: MediaKind, value: &Val<'_>) -> Result<(), Unbound> {
        match value {
            Val::Str(text) => self.located(parts, kind, text, FileBase::Rows),
            Val::List(items) => items.iter().try_for_each(|it| self.media(parts, kind, it)),
            Val::Map(members) => self.described(parts, kind, members),
            other => Err(unusable(kind, other)),
        }
    }

    fn described(&mut self, parts: &mut Vec<Part>, kind: MediaKind, members: &Map<'_>) -> Result<(), Unbound> {
        let text = |key: &str| members.get(key).and_then(Val::as_str);
        let name = text("name").or_else(|| text("path")).map(file_name);
        if let Some(data) = text("data").or_else(|| text("bytes")) {
            let media = match data.strip_prefix("data:") {
                Some(rest) => of_data_url(kind, rest, name)?,
                None => Media::of_base64(kind, data, name)
                    .map_err(|error| format!("{} of the row cannot be sent: {error}", kind.words()))?,
            };
            parts.push(Part::Media(media));
            return Ok(());
        }
        match text("path").or_else(|| text("url")) {
            Some(path) => self.located(parts, kind, path, FileBase::Rows),
            None => Err(unusable(kind, &Val::Map(members.clone()))),
        }
    }

    fn located(&mut self, parts: &mut Vec<Part>, kind: MediaKind, text: &str, base: FileBase) -> Result<(), Unbound> {
        if let Some(rest) = text.strip_prefix("data:") {
            parts.push(Part::Media(of_data_url(kind, rest, None)?));
            return Ok(());
        }
        if is_url(text) {
            return Err(Unbound::Fault(remote(kind, text)));
        }
        let file = FileRef { kind, path: text.to_owned(), base };
        match self.files.iter().find(|(it, _)| *it == file) {
            Some((_, Ok(media))) => parts.push(Part::Media(media.clone())),
            Some((_, Err(reason))) => return Err(Unbound::Fault(format!("`{text}` cannot be sent: {reason}"))),
            None if self.needed.contains(&file) => {}
            None => self.needed.push(file),
        }
        Ok(())
    }
}

/// Whether a text is an address that would have to be fetched.
pub(crate) fn is_url(text: &str) -> bool {
    ["http://", "https://", "ftp://", "s3://", "gs://"].iter().any(|it| text.starts_with(it))
}

/// Why an address is refused.
pub(crate) fn remote(kind: MediaKind, url: &str) -> String {
    let url = shown_within(&Val::from(url), 80);
    format!("{} is named by the address {url}, and jurat fetches nothing: download it and name the file", kind.words())
}

fn of_data_url(kind: MediaKind, rest: &str, name: Option<String>) -> Result<Media, String> {
    let data = rest.split_once(";base64,").map(|(_, it)| it);
    let data =
        data.ok_or_else(|| "a `data:` URL must have its bytes as base64: `data:image/png;base64,…`".to_owned())?;
    Media::of_base64(kind, data, name).map_err(|error| format!("{} of the row cannot be sent: {error}", kind.words()))
}

fn unusable(kind: MediaKind, value: &Val<'_>) -> Unbound {
    let found = shown_within(value, 60);
    Unbound::Fault(format!(
        "{} is a path, a `data:` URL, or an object with `path` or `data`, not {found}",
        kind.words()
    ))
}

fn message(speaker: Speaker, parts: Vec<Part>) -> Result<Message, String> {
    let is_text = parts.iter().all(|it| matches!(it, Part::Text(_)));
    match (speaker, is_text) {
        (Speaker::User, _) => Ok(Message::of_parts(parts)),
        (_, false) => {
            Err(format!("only messages of the user have images, audio or documents, not those of {}", speaker.name()))
        }
        (_, true) => {
            let Message::User(text) = Message::of_parts(parts) else { return Err("a message has no text".to_owned()) };
            Ok(if speaker == Speaker::System { Message::System(text) } else { Message::assistant(text) })
        }
    }
}

fn value<'c>(context: Context<'c>, path: &FieldPath) -> Result<std::borrow::Cow<'c, Val<'c>>, String> {
    context.find(path).map_err(|missing| format!("the prompt needs `{path}`: {}", missing.explain(path)))
}
