//! `ask`: each row becomes a question to a model, and what the model answers is what tasks judge.
//!
//! ```yaml
//! ask: { model: subject, system: Answer in one sentence., prompt: "${question}" }
//! ```
//!
//! Several prompts and several models form a matrix: each row is asked with each prompt, and each model is asked. With `tools` the model may call
//! tools of servers before it answers. With `whole_row` the subject is a program or a function: it is given the row itself.

use jurat_format::codes;
use jurat_format::field::{Defaulted, Field};
use jurat_format::fields::Fields;
use jurat_format::form::{Form, Object};
use jurat_format::problem::Problem;
use jurat_format::reader::Reading;
use jurat_format::shape::{self, Shape};
use jurat_format::value::{Content, Entry, Node, Span, Spanned, Val};

use crate::chat::{self, ChatText, MESSAGES};
use crate::output::{self, Output};
use crate::prompt;
use crate::prompt::text::PromptText;
use crate::section::lost::Part;
use crate::section::{Heading, Section};
use crate::tool::{ToolFilter, filter};
use crate::transform::{self, Transform};

/// What is asked about each row, and of whom.
#[derive(Debug, Clone)]
pub struct Ask {
    /// What is asked; more than one form a matrix. Empty with `whole_row`.
    pub prompts: Vec<AskPrompt>,
    /// Whether the row itself is sent, in place of a prompt.
    pub whole_row: bool,
    pub system: Option<PromptText>,
    /// Roles under `models`, or `provider/model`; more than one form a matrix. The role `subject` when there is none.
    pub models: Vec<Spanned<String>>,
    /// What must be answered; any text when absent.
    pub output: Option<Output>,
    /// The servers whose tools may be used.
    pub tools: Vec<Spanned<String>>,
    /// The tools that may not be used.
    pub tool_filter: ToolFilter,
    /// The servers of which tools are taken away.
    pub filtered: Vec<Spanned<String>>,
    /// How many more requests one answer may take when requests fail. An answer is never asked for again because of what
    /// it says: that is what is evaluated.
    pub max_retries: u32,
    /// What is done to an answer before it is judged.
    pub transform: Option<Transform>,
    pub span: Span,
    /// Whether errors were found in it: what it lacks may be what could not be read.
    pub is_flawed: bool,
}

#[derive(Debug, Clone)]
pub struct AskPrompt {
    /// What it is called: its key under `prompts`, its number in a list, or `prompt` when it is the only one.
    pub name: String,
    pub prompt: ChatText,
}

/// The role that is asked unless the author says otherwise.
pub(crate) const SUBJECT: &str = "subject";

/// The name of a prompt that is the only one.
pub(crate) const ONLY: &str = "prompt";

impl Ask {
    /// The names of those who are asked: roles, or `provider/model`.
    pub fn subjects(&self) -> Vec<&str> {
        match self.models.as_slice() {
            [] => vec![SUBJECT],
            models => models.iter().map(|it| it.value.as_str()).collect(),
        }
    }
}

const PROMPT: Field<ChatText> = Field::optional(
    "prompt",
    chat::SHAPE,
    "the prompt; `${path}` is replaced by a value of the row. Not together with `prompts` or `messages`",
);
const PROMPTS: Field<Vec<AskPrompt>> = Field::optional(
    "prompts",
    Shape::new(const { Form::Either(&[Form::Map(&chat::FORM), Form::List(&chat::FORM)]) }, named_prompts),
    "several prompts, by name or as a list; each makes a variant",
);
const WHOLE_ROW: Defaulted<bool> = Field::optional(
    "whole_row",
    shape::BOOLEAN,
    "sends the row itself, as JSON, in place of a prompt: for a subject that is a program or a function. Its answer is `output`: JSON as a value, else text",
)
.default(false);
const MODEL: Field<Vec<Spanned<String>>> = Field::optional(
    "model",
    Shape::new(shape::TEXT_OR_TEXTS, models),
    "the subject: a role under `models`, `provider/model`, or a list of these; each makes a variant",
)
.default_words("the role `subject`");
const SYSTEM: Field<PromptText> =
    Field::optional("system", prompt::SHAPE, "the system prompt; `${path}` is replaced by a value of the row");
const OUTPUT: Field<Output> =
    Field::optional("output", output::SHAPE, "what the answer must be: fields in short form, or a JSON Schema")
        .default_words("any text");
const TOOLS: Field<Vec<Spanned<String>>> =
    Field::optional("tools", shape::TEXTS, "names under `tools` of the servers whose tools the model may use");
const TOOL_FILTER: Field<(ToolFilter, Vec<Spanned<String>>)> =
    Field::optional("tool_filter", filter::SHAPE, "tools that the model may not use");
const MAX_RETRIES: Defaulted<u32> =
    Field::optional("max_retries", shape::count::<0>(), "retries per answer when a request fails").default(3);

const TRANSFORM: Field<Transform> = Field::optional(
    "transform",
    transform::SHAPE,
    "what is done to the answer before it is judged; the answer itself stays under `original_output`",
);

static ASK: Object = Object {
    what: "`ask`",
    keys: &[
        PROMPT.key,
        MESSAGES.key,
        PROMPTS.key,
        WHOLE_ROW.key,
        MODEL.key,
        SYSTEM.key,
        OUTPUT.key,
        TOOLS.key,
        TOOL_FILTER.key,
        MAX_RETRIES.key,
        TRANSFORM.key,
    ],
};

pub(crate) const SECTION: Section<Option<Ask>> = Heading::new(
    "ask",
    Form::Object(&ASK),
    "asks a model, the subject, about each row; the tasks judge its answers",
    &[Part::Ask],
)
.read(|reading, lost, known, at| {
    let ask = read(reading, at.key_span, at.node);
    lost.add_if(ask.is_none(), &[Part::Ask]);
    match (ask, &*known) {
        (Some(again), Some(first)) => {
            let problem = Problem::new(&codes::CONFLICT, "a suite has one `ask`").at(again.span, "again here");
            let problem = problem.at(first.span, "first here");
            reading.problem(problem.help("keep one of them; several prompts and models stand in one `ask`"));
        }
        (Some(ask), None) => *known = Some(ask),
        (None, _) => {}
    }
});

/// Reads `ask`, whose key stands at `span`.
pub(crate) fn read(reading: &mut Reading<'_>, span: Span, node: &Node<'_>) -> Option<Ask> {
    let n_before = reading.n_errors();
    let fields = ASK.fields(reading, node)?;
    let whole_row = fields.value(reading, &WHOLE_ROW);
    let prompts = if whole_row { without_prompts(reading, &fields) } else { prompts(reading, &fields) };
    let system = fields.read(reading, &SYSTEM);
    let models = fields.read(reading, &MODEL).unwrap_or_default();
    let output = fields.read(reading, &OUTPUT);
    let tools = fields.read(reading, &TOOLS).unwrap_or_default();
    let (tool_filter, filtered) = fields.read(reading, &TOOL_FILTER).unwrap_or_default();
    let max_retries = fields.value(reading, &MAX_RETRIES);
    let transform = fields.read(reading, &TRANSFORM);
    let is_flawed = reading.n_errors() > n_before;
    (whole_row || !prompts.is_empty()).then_some(Ask {
        prompts,
        whole_row,
        system,
        models,
        output,
        tools,
        tool_filter,
        filtered,
        max_retries,
        transform,
        span,
        is_flawed,
    })
}

fn prompts(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Vec<AskPrompt> {
    let only = fields.read(reading, &PROMPT);
    let messages = fields.read(reading, &MESSAGES);
    let only = only.or(messages).map(|prompt| AskPrompt { name: ONLY.to_owned(), prompt });
    let several = fields.read(reading, &PROMPTS);
    let ways = [&PROMPT.key, &MESSAGES.key, &PROMPTS.key];
    let named: Vec<(&str, Span)> = ways.into_iter().filter_map(|it| Some((it.name, fields.key_span(it)?))).collect();
    match named.as_slice() {
        [(first, first_span), (second, second_span), ..] => {
            let message = format!("`ask` has either `{first}` or `{second}`, not both");
            let problem = Problem::new(&codes::CONFLICT, message).at(*second_span, "and this").at(*first_span, "this");
            reading.problem(problem.help(match *second {
                "prompts" => "move the one prompt into `prompts`; messages go there as `{messages: …}`",
                _ => "make the prompt the last message",
            }));
        }
        [] if !ways.into_iter().any(|it| fields.may_mean(it)) => {
            let problem = Problem::new(&codes::MISSING_KEY, "`ask` needs `prompt`, `prompts` or `messages`");
            let problem = problem.at(fields.span, "asks nothing");
            let problem = problem.help("for example `prompt: \"${question}\"`");
            reading.problem(problem.help("for a program that takes the row itself, `whole_row: true`"));
        }
        _ => {}
    }
    only.into_iter().chain(several.unwrap_or_default()).collect()
}

/// With the row itself nothing else is sent: what would be said to a model in words is refused.
fn without_prompts(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Vec<AskPrompt> {
    let others = [&PROMPT.key, &MESSAGES.key, &PROMPTS.key, &SYSTEM.key, &OUTPUT.key, &TOOLS.key, &TOOL_FILTER.key];
    for (name, span) in others.into_iter().filter_map(|it| Some((it.name, fields.key_span(it)?))) {
        let problem = Problem::new(&codes::CONFLICT, format!("`ask` has either `whole_row` or `{name}`, not both"));
        reading.problem(
            problem.at(span, "is for models that are asked in words").help(format!("remove `{name}`, or `whole_row`")),
        );
    }
    Vec::new()
}

/// A map of names and prompts, or a list whose items are called `1`, `2` and so on.
fn named_prompts(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<Vec<AskPrompt>> {
    match &node.content {
        Content::Map(entries) if !entries.is_empty() => {
            Some(entries.iter().filter_map(|it| named_prompt(reading, it)).collect())
        }
        Content::List(items) if !items.is_empty() => {
            let item = |(nth, item): (usize, &Node<'_>)| {
                let prompt = (chat::SHAPE.read)(reading, "an item of `prompts`", item)?;
                Some(AskPrompt { name: nth.to_string(), prompt })
            };
            Some((1..).zip(items).filter_map(item).collect())
        }
        _ => {
            reading.wrong_type(what, "an object of names and prompts, or a list of prompts", node);
            None
        }
    }
}

fn named_prompt(reading: &mut Reading<'_>, entry: &Entry<'_>) -> Option<AskPrompt> {
    // `prompts: {file: p.md}` would be a prompt called `file` that says `p.md`. No author means that.
    if matches!(entry.key.as_ref(), "file" | "jinja" | "messages") {
        let key = &entry.key;
        let problem = Problem::new(&codes::WRONG_VALUE, format!("a prompt in `prompts` cannot be called `{key}`"));
        let problem = problem.at(entry.key_span, "a name");
        let help = format!("write `prompt: {{{key}: …}}`, or give it a name: `prompts: {{short: {{{key}: …}}}}`");
        reading.problem(problem.help(help));
        return None;
    }
    let name = Node { span: entry.key_span, content: Content::Scalar(Val::Str(entry.key.clone())) };
    let name = reading.id("a name in `prompts`", &name)?;
    let prompt = (chat::SHAPE.read)(reading, &format!("`{}`", name.value), &entry.value)?;
    Some(AskPrompt { name: name.value, prompt })
}

fn models(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<Vec<Spanned<String>>> {
    match &node.content {
        Content::Scalar(Val::Str(_)) => Some(reading.text(what, node).into_iter().collect()),
        Content::List(items) if !items.is_empty() => Some(reading.texts(what, node)),
        _ => {
            reading.wrong_type(what, "a role, `provider/model`, or a list of these", node);
            None
        }
    }
}
