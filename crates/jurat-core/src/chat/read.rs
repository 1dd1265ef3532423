//! What models are asked, as authors write it: text with `${path}`, a Jinja template, a file with either, or messages.
//!
//! ```yaml
//! prompt: "Answer ${question}"
//! prompt: { jinja: "{% for it in context %}{{ it }}{% endfor %}" }
//! prompt: { file: ask.j2 }
//! messages:
//!   - { role: system, content: Be brief. }
//!   - { each: examples, messages: [{ role: user, content: "${example.question}" }, { role: assistant, content: "${example.answer}" }] }
//!   - { role: user, content: [{ text: "${question}" }, { image: "${picture}" }] }
//! ```

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jurat_format::codes;
use jurat_format::field::{Defaulted, Field};
use jurat_format::fields::Fields;
use jurat_format::form::{DefaultValue, Form, Object};
use jurat_format::problem::Problem;
use jurat_format::reader::Reading;
use jurat_format::shape::{self, Shape, Tree};
use jurat_format::value::{
    Content as NodeContent, FieldPath, Node, Span, Spanned, Step, Val, Value, parse_json, shown_within,
};
use jurat_format::yaml;

use super::{Chat, Content, Items, PROMPT_CACHE, Source, Speaker, Turn, is_url, remote};
use crate::effect::MediaKind;
use crate::prompt::read::{FILE, JINJA, PROMPT, of_object, plain, prompt, two_of};
use crate::prompt::text::{PromptRead, PromptText};
use crate::prompt::{self, file_text};

/// What a model is asked, and where it stands.
#[derive(Debug, Clone)]
pub struct ChatText {
    pub chat: Chat,
    pub span: Span,
    /// What it reads, with the places.
    pub reads: Vec<PromptRead>,
    /// The file as it was written, when all of it is in one.
    pub file: Option<String>,
    /// The files that it sends for every case, relative to its home.
    pub files: Vec<Spanned<String>>,
}

const MESSAGES_KEY: Field<Tree> =
    Field::optional("messages", shape::tree(MESSAGES_FORM), "the messages of a conversation, in place of one prompt");

static CHAT: Object = Object { what: "a prompt", keys: &[FILE.key, JINJA.key, MESSAGES_KEY.key] };

pub(crate) const FORM: Form = Form::Either(&[Form::Text, Form::Object(&CHAT)]);

/// What a model is asked: a prompt, or the messages of a conversation.
pub(crate) const SHAPE: Shape<ChatText> = Shape::new(FORM, chat);

/// The messages of a conversation.
pub(crate) const MESSAGES: Field<ChatText> = Field::optional(
    "messages",
    Shape::new(MESSAGES_FORM, messages),
    "the messages of a conversation, in place of `prompt`: few-shot examples, earlier turns, images",
);

const MESSAGES_FORM: Form = Form::List(&Form::Object(&MESSAGE));

const ROLE: Field<Speaker> = Field::optional("role", shape::choice(), "who says the message");

const CONTENT: Field<Tree> =
    Field::optional("content", shape::tree(CONTENT_FORM), "what the message says: a prompt, or a list of parts");

const EACH: Field<Tree> = Field::optional(
    "each",
    shape::tree(EACH_FORM),
    "repeats `messages` for each item of a list: the path of a list in the row, the items themselves, or `{file: …}` with rows of its own (`.jsonl`, `.json`, `.yaml`)",
);

const AS: Field<Spanned<String>> =
    Field::optional("as", shape::ID, "the name of the item in `messages`").printed_default(DefaultValue::Name(EXAMPLE));

const EXAMPLE: &str = "example";

const INNER: Field<Tree> = Field::optional("messages", shape::tree(INNER_FORM), "the text for each item");

const FROM: Field<Spanned<FieldPath>> = Field::optional(
    "from",
    shape::PATH,
    "the path of messages in the row: a list of objects with `role` and `content`",
);

const CACHE: Defaulted<bool> = Field::optional(
    PROMPT_CACHE,
    shape::BOOLEAN,
    "marks the end of what is the same in many requests, so that Anthropic and Bedrock cache it; other providers find out by themselves",
)
.default(false);

const INNER_FORM: Form = Form::List(&Form::Object(&INNER_MESSAGE));

const EACH_FORM: Form = Form::Either(&[Form::Path, Form::Object(&EXAMPLES), Form::List(&Form::Any)]);

const EXAMPLES_FILE: Field<Spanned<String>> = Field::required(
    "file",
    shape::TEXT,
    "a file of rows (`.jsonl`, `.json` or `.yaml`), relative to the file that names it",
);

static EXAMPLES: Object = Object { what: "a file of examples", keys: &[EXAMPLES_FILE.key] };

static MESSAGE: Object =
    Object { what: "a message", keys: &[ROLE.key, CONTENT.key, EACH.key, AS.key, INNER.key, FROM.key, CACHE.key] };

static INNER_MESSAGE: Object = Object { what: "a message of an example", keys: &[ROLE.key, CONTENT.key] };

const CONTENT_FORM: Form = Form::Either(&[Form::Text, Form::Object(&PROMPT), Form::List(&Form::Object(&PART))]);

const TEXT: Field<PromptText> = Field::optional("text", prompt::SHAPE, "a text: a prompt of its own");

const IMAGE: Field<PromptText> = Field::optional("image", prompt::SHAPE, SOURCE_DOC);

const AUDIO: Field<PromptText> = Field::optional("audio", prompt::SHAPE, "audio: written as for `image`");

const PDF: Field<PromptText> = Field::optional("pdf", prompt::SHAPE, "a PDF document: written as for `image`");

const SOURCE_DOC: &str = "an image: `${path}` of a value that is a path beside the rows, a `data:` URL, or an object with `path` or `data`; or a path beside the definition";

static PART: Object = Object { what: "a part of a message", keys: &[TEXT.key, IMAGE.key, AUDIO.key, PDF.key] };

/// Reads what a model is asked: a prompt, or `{messages: …}`.
fn chat(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<ChatText> {
    if node.entries().is_none() {
        return prompt(reading, what, node).map(ChatText::from);
    }
    let fields = CHAT.fields(reading, node)?;
    let Some(list) = fields.node(&MESSAGES_KEY) else { return of_object(reading, &fields).map(ChatText::from) };
    if fields.key_span(&FILE).or(fields.key_span(&JINJA)).is_some() {
        reading.problem(two_of(&fields, "messages", "file"));
        return None;
    }
    messages(reading, "`messages`", list)
}

impl From<PromptText> for ChatText {
    fn from(text: PromptText) -> ChatText {
        let PromptText { prompt, span, reads, file } = text;
        ChatText { chat: Chat::of(prompt), span, reads, file, files: Vec::new() }
    }
}

/// Reads the messages of a conversation.
fn messages(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<ChatText> {
    let items = reading.list(what, "a list of messages", node);
    if items.is_empty() {
        if matches!(node.content, NodeContent::List(_)) {
            let problem = Problem::new(&codes::WRONG_VALUE, format!("{what} must not be empty"));
            reading.problem(
                problem.at(node.span, "no message").help("for example `- { role: user, content: \"${question}\" }`"),
            );
        }
        return None;
    }
    let n_before = reading.n_errors();
    let mut found = Messages { reads: Vec::new(), files: Vec::new(), home: reading.beside(node.span, "") };
    let turns: Vec<Turn> = items.iter().flat_map(|it| found.turns(reading, it)).collect();
    if reading.n_errors() > n_before {
        return None;
    }
    Some(ChatText {
        chat: Chat { turns, home: found.home },
        span: node.span,
        reads: found.reads,
        file: None,
        files: found.files,
    })
}

/// Messages that are being read.
struct Messages {
    reads: Vec<PromptRead>,
    files: Vec<Spanned<String>>,
    home: PathBuf,
}

impl Messages {
    /// What an item of the list is, with a mark after it where a provider may cache to it.
    fn turns(&mut self, reading: &mut Reading<'_>, node: &Node<'_>) -> Vec<Turn> {
        let Some(fields) = MESSAGE.fields(reading, node) else { return Vec::new() };
        let mark = fields.value(reading, &CACHE).then_some(Turn::Cached);
        self.turn(reading, &fields, node).into_iter().chain(mark).collect()
    }

    fn turn(&mut self, reading: &mut Reading<'_>, fields: &Fields<'_, '_>, node: &Node<'_>) -> Option<Turn> {
        let kinds = [(ROLE.key, "role"), (EACH.key, "each"), (FROM.key, "from")];
        let named: Vec<&str> =
            kinds.iter().filter(|(key, _)| fields.key_span(key).is_some()).map(|(_, name)| *name).collect();
        match named.as_slice() {
            ["role"] => self.said(reading, fields),
            ["each"] => self.each(reading, fields),
            ["from"] => {
                let path = fields.read(reading, &FROM)?;
                self.reads.push(PromptRead { path: path.value.clone(), span: path.span, is_optional: false });
                Some(Turn::From(path.value))
            }
            [] if kinds.iter().any(|(key, _)| fields.may_mean(key)) => None,
            _ => {
                let message = "a message has either `role` and `content`, or `each` and `messages`, or `from`";
                reading.problem(
                    Problem::new(&codes::CONFLICT, message)
                        .at(node.span, "this one")
                        .help("for example `{ role: user, content: \"${question}\" }`"),
                );
                None
            }
        }
    }

    fn said(&mut self, reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<Turn> {
        let speaker = fields.read(reading, &ROLE);
        let Some(node) = fields.node(&CONTENT) else {
            if !fields.may_mean(&CONTENT) {
                reading.problem(fields.missing(&CONTENT));
            }
            return None;
        };
        let content = match &node.content {
            NodeContent::List(parts) => parts.iter().filter_map(|it| self.part(reading, it)).collect(),
            _ => vec![self.text(reading, "`content`", node)?],
        };
        let speaker = speaker?;
        if speaker != Speaker::User && content.iter().any(|it| matches!(it, Content::Media(..))) {
            let message = format!("a message of `{}` has text alone", speaker.name());
            reading.problem(
                Problem::new(&codes::CONFLICT, message)
                    .at(node.span, "more than text")
                    .help("images, audio and documents belong into messages of `user`"),
            );
            return None;
        }
        Some(Turn::Said { speaker, content })
    }

    fn text(&mut self, reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<Content> {
        let text = prompt(reading, what, node)?;
        self.reads.extend(text.reads);
        Some(Content::Text(text.prompt))
    }

    fn part(&mut self, reading: &mut Reading<'_>, node: &Node<'_>) -> Option<Content> {
        let fields = PART.fields(reading, node)?;
        let kinds = [
            (TEXT, None),
            (IMAGE, Some(MediaKind::Image)),
            (AUDIO, Some(MediaKind::Audio)),
            (PDF, Some(MediaKind::Pdf)),
        ];
        let named: Vec<_> =
            kinds.iter().filter_map(|(field, kind)| Some((fields.node(&field)?, field, *kind))).collect();
        match named.as_slice() {
            [(node, _, None)] => self.text(reading, "`text`", node),
            [(node, field, Some(kind))] => self.media(reading, &format!("`{}`", field.key.name), *kind, node),
            [] if kinds.iter().any(|(field, _)| fields.may_mean(field)) => None,
            _ => {
                let message = "a part of a message is either `text`, `image`, `audio` or `pdf`";
                reading.problem(Problem::new(&codes::CONFLICT, message).at(node.span, "this part"));
                None
            }
        }
    }

    /// Where an image comes from: a value of the row when that is all that is written, else a path.
    fn media(&mut self, reading: &mut Reading<'_>, what: &str, kind: MediaKind, node: &Node<'_>) -> Option<Content> {
        // The name of a file is what is meant here.
        let written = match node.as_str() {
            Some(text) => plain(reading, Spanned::new(text.to_owned(), node.span), None),
            None => prompt(reading, what, node)?,
        };
        self.reads.extend(written.reads.iter().cloned());
        if is_url(written.prompt.text()) {
            reading.problem(
                Problem::new(&codes::WRONG_VALUE, remote(kind, written.prompt.text())).at(node.span, "an address"),
            );
            return None;
        }
        let source = match written.prompt.holes() {
            [only] if !written.prompt.is_template() && only.range == (0..written.prompt.text().len()) => {
                Source::Value(only.path.clone())
            }
            _ => Source::Written(written.prompt),
        };
        if let Source::Written(path) = &source
            && path.holes().is_empty()
            && !path.text().starts_with("data:")
        {
            self.files.push(Spanned::new(path.text().to_owned(), node.span));
        }
        Some(Content::Media(kind, source))
    }

    fn each(&mut self, reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<Turn> {
        let name = fields.read(reading, &AS).map_or_else(|| EXAMPLE.to_owned(), |it| it.value);
        let node = fields.node(&EACH)?;
        let items = self.items(reading, node);
        let Some(list) = fields.node(&INNER) else {
            if !fields.may_mean(&INNER) {
                reading.problem(fields.missing(&INNER));
            }
            return None;
        };
        let inner_items = reading.list("`messages`", "a list of messages", list);
        let mut inner = Messages { reads: Vec::new(), files: Vec::new(), home: self.home.clone() };
        let turns: Vec<Turn> = inner_items
            .iter()
            .filter_map(|it| {
                let fields = INNER_MESSAGE.fields(reading, it)?;
                if fields.key_span(&ROLE).is_none() {
                    if !fields.may_mean(&ROLE) {
                        reading.problem(fields.missing(&ROLE));
                    }
                    return None;
                }
                inner.said(reading, &fields)
            })
            .collect();
        let items = items?;
        self.files.extend(inner.files);
        self.take_reads(reading, inner.reads, &items, &name);
        Some(Turn::Each { items, name, turns })
    }

    fn items(&mut self, reading: &mut Reading<'_>, node: &Node<'_>) -> Option<Items> {
        if node.entries().is_some() {
            let fields = EXAMPLES.fields(reading, node)?;
            let file = fields.read(reading, &EXAMPLES_FILE)?;
            return Some(Items::Rows(Arc::new(rows(reading, &file)?)));
        }
        if let NodeContent::List(items) = &node.content {
            return Some(Items::Rows(Arc::new(items.iter().map(|it| it.to_val().into_owned()).collect())));
        }
        let path = reading.path("`each`", node)?;
        self.reads.push(PromptRead { path: path.value.clone(), span: path.span, is_optional: false });
        Some(Items::Path(path.value))
    }

    /// What messages of an example read: members of the item in the list that it comes from, everything else of the row.
    fn take_reads(&mut self, reading: &mut Reading<'_>, reads: Vec<PromptRead>, items: &Items, name: &str) {
        for read in reads {
            if read.path.root() != Some(name) {
                self.reads.push(read);
                continue;
            }
            let rest = read.path.rest();
            match items {
                Items::Path(path) => {
                    let steps = path.steps().iter().cloned().chain([Step::Each]).chain(rest.steps().iter().cloned());
                    self.reads.push(PromptRead { path: FieldPath::of(steps), ..read });
                }
                Items::Rows(rows)
                    if !read.is_optional && !rows.is_empty() && rows.iter().all(|it| rest.find(it).is_err()) =>
                {
                    let has = rows
                        .first()
                        .and_then(Val::as_map)
                        .map(|it| it.iter().map(|(key, _)| key).collect::<Vec<_>>().join(", "));
                    let problem = Problem::new(&codes::UNKNOWN_NAME, format!("no example has `{rest}`"))
                        .at(read.span, "read here");
                    reading.problem(
                        problem
                            .help(format!("the first example has {}", has.unwrap_or_else(|| "no members".to_owned()))),
                    );
                }
                Items::Rows(_) => {}
            }
        }
    }
}

/// The rows of a file of examples.
fn rows(reading: &mut Reading<'_>, file: &Spanned<String>) -> Option<Vec<Value>> {
    let text = file_text(reading, file)?;
    let ending = Path::new(&file.value).extension().and_then(|it| it.to_str()).unwrap_or_default().to_owned();
    let read = match ending.as_str() {
        "jsonl" | "ndjson" => lines(&text.value),
        "json" => parse_json(&text.value).map_err(|error| error.to_string()).and_then(|it| list(it.value.into_owned())),
        "yaml" | "yml" => {
            let mut problems = Vec::new();
            let tree = yaml::read_tree(&text.value, text.span.source, false, &mut problems);
            problems.into_iter().for_each(|it| reading.problem(it));
            list(tree?.to_val().into_owned())
        }
        _ => Err("a file of examples ends in `.jsonl`, `.json` or `.yaml`".to_owned()),
    };
    match read {
        Ok(rows) => Some(rows),
        Err(reason) => {
            let message = format!("the examples in `{}` cannot be read: {reason}", file.value);
            reading.problem(Problem::new(&codes::WRONG_VALUE, message).at(file.span, "named here"));
            None
        }
    }
}

fn lines(text: &str) -> Result<Vec<Value>, String> {
    let lines = (1..).zip(text.lines()).filter(|(_, it)| !it.trim().is_empty());
    lines
        .map(|(number, it)| {
            parse_json(it).map(|it| it.value.into_owned()).map_err(|error| format!("line {number}: {error}"))
        })
        .collect()
}

fn list(value: Value) -> Result<Vec<Value>, String> {
    match value {
        Val::List(items) => Ok(items),
        other => Err(format!("it must be a list, not {}", shown_within(&other, 40))),
    }
}
