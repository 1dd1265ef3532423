//! `ask`: each row becomes a question to a model, and what the model answers is what tasks judge.
//!
//! ```yaml
//! ask: { model: subject, system: Answer in one sentence., prompt: "${question}" }
//! ```
//!
//! Several prompts and several models form a matrix: each row is asked with each prompt, and each model is asked. With `tools` the model may call
//! tools of servers before it answers.

use jurat_format::codes;
use jurat_format::form::{Form, Key, Keys};
use jurat_format::problem::Problem;
use jurat_format::reader::{Fields, Reading};
use jurat_format::value::{Content, Entry, Node, Span, Spanned, Val};

use super::judging::{self, MAX_RETRIES, PROMPT, PromptText};
use super::output::{self, Output};
use super::task::read_id;
use super::tool_filter;
use crate::tool::ToolFilter;

/// What is asked about each row, and of whom.
#[derive(Debug, Clone)]
pub struct Ask {
    /// What is asked; more than one form a matrix.
    pub prompts: Vec<AskPrompt>,
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
    pub span: Span,
    /// Whether errors were found in it: what it lacks may be what could not be read.
    pub is_flawed: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct AskPrompt {
    /// What it is called: its key under `prompts`, its number in a list, or `prompt` when it is the only one.
    pub name: String,
    pub prompt: PromptText,
}

/// The role that is asked unless the author says otherwise.
pub(crate) const SUBJECT: &str = "subject";

/// The name of a prompt that is the only one.
pub(super) const ONLY: &str = "prompt";

impl Ask {
    /// The names of those who are asked: roles, or `provider/model`.
    pub fn subjects(&self) -> Vec<&str> {
        match self.models.as_slice() {
            [] => vec![SUBJECT],
            models => models.iter().map(|it| it.value.as_str()).collect(),
        }
    }
}

/// Two are equal wherever they stand.
impl PartialEq for Ask {
    fn eq(&self, other: &Self) -> bool {
        let Ask { prompts, system, models, output, tools, tool_filter, max_retries, .. } = self;
        (prompts, system, models) == (&other.prompts, &other.system, &other.models)
            && (output, max_retries) == (&other.output, &other.max_retries)
            && (tools, tool_filter) == (&other.tools, &other.tool_filter)
    }
}

static ASK: Keys = Keys {
    what: "`ask`",
    keys: &[
        Key::optional(
            "prompt",
            PROMPT,
            "the prompt; `${path}` is replaced by a value of the row. Not together with `prompts`",
        ),
        Key::optional(
            "prompts",
            Form::Either(&[Form::Map(&PROMPT), Form::List(&PROMPT)]),
            "several prompts, by name or as a list; each makes a variant",
        ),
        Key::optional(
            "model",
            Form::Either(&[Form::Text, Form::List(&Form::Text)]),
            "the subject: a role under `models`, `provider/model`, or a list of these; each makes a variant",
        )
        .default("the role `subject`"),
        Key::optional("system", PROMPT, "the system prompt; `${path}` is replaced by a value of the row"),
        Key::optional(
            "output",
            Form::Defined("output"),
            "what the answer must be: fields in short form, or a JSON Schema",
        )
        .default("any text"),
        Key::optional(
            "tools",
            Form::List(&Form::Text),
            "names under `tools` of the servers whose tools the model may use",
        ),
        Key::optional("tool_filter", tool_filter::FORM, "tools that the model may not use"),
        Key::optional("max_retries", Form::Integer(0), "retries per answer when a request fails").default("`3`"),
    ],
};

pub(super) const FORM: Form = Form::Object(&ASK);

/// Reads `ask`, whose key stands at `span`.
pub(super) fn read(reading: &mut Reading<'_>, span: Span, node: &Node<'_>) -> Option<Ask> {
    let n_before = reading.n_errors();
    let fields = Fields::read(reading, &ASK, node)?;
    let prompts = prompts(reading, &fields);
    let system = fields.get("system").and_then(|it| judging::prompt(reading, "`system`", it));
    let models = fields.get("model").map(|it| models(reading, it)).unwrap_or_default();
    let output = fields.get("output").and_then(|it| output::read(reading, it));
    let tools = fields.get("tools").map(|it| reading.texts("`tools`", it)).unwrap_or_default();
    let mut filtered = Vec::new();
    let tool_filter = fields.get("tool_filter").map(|it| tool_filter::read(reading, it, &mut filtered));
    let tool_filter = tool_filter.unwrap_or_default();
    let max_retries = fields.get("max_retries").and_then(|it| reading.count("`max_retries`", 0, it));
    let max_retries = max_retries.unwrap_or(MAX_RETRIES);
    let is_flawed = reading.n_errors() > n_before;
    (!prompts.is_empty()).then_some(Ask {
        prompts,
        system,
        models,
        output,
        tools,
        tool_filter,
        filtered,
        max_retries,
        span,
        is_flawed,
    })
}

fn prompts(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Vec<AskPrompt> {
    let only = fields.get("prompt").and_then(|it| judging::prompt(reading, "`prompt`", it));
    let only = only.map(|prompt| AskPrompt { name: ONLY.to_owned(), prompt });
    let several = fields.get("prompts").map(|it| named_prompts(reading, it));
    match (fields.key_span("prompt"), fields.key_span("prompts")) {
        (Some(prompt), Some(prompts)) => {
            let problem = Problem::new(&codes::CONFLICT, "`ask` has either `prompt` or `prompts`, not both");
            let problem = problem.at(prompts, "and this").at(prompt, "this");
            reading.problem(problem.help("move the one prompt into `prompts`"));
        }
        (None, None) if !fields.may_mean("prompt") && !fields.may_mean("prompts") => {
            let problem = Problem::new(&codes::MISSING_KEY, "`ask` needs `prompt` or `prompts`");
            let problem = problem.at(fields.span, "asks nothing");
            reading.problem(problem.help("for example `prompt: \"${question}\"`"));
        }
        _ => {}
    }
    only.into_iter().chain(several.unwrap_or_default()).collect()
}

/// A map of names and prompts, or a list whose items are called `1`, `2` and so on.
fn named_prompts(reading: &mut Reading<'_>, node: &Node<'_>) -> Vec<AskPrompt> {
    match &node.content {
        Content::Map(entries) if !entries.is_empty() => {
            entries.iter().filter_map(|it| named_prompt(reading, it)).collect()
        }
        Content::List(items) if !items.is_empty() => {
            let item = |(nth, item): (usize, &Node<'_>)| {
                let prompt = judging::prompt(reading, "an item of `prompts`", item)?;
                Some(AskPrompt { name: nth.to_string(), prompt })
            };
            (1..).zip(items).filter_map(item).collect()
        }
        _ => {
            reading.wrong_type("`prompts`", "an object of names and prompts, or a list of prompts", node);
            Vec::new()
        }
    }
}

fn named_prompt(reading: &mut Reading<'_>, entry: &Entry<'_>) -> Option<AskPrompt> {
    // `prompts: {file: p.md}` would be a prompt called `file` that says `p.md`. Nobody means that.
    if entry.key == "file" {
        let problem = Problem::new(&codes::WRONG_VALUE, "a prompt in `prompts` cannot be called `file`");
        let problem = problem.at(entry.key_span, "a name");
        reading.problem(problem.help("write `prompt: {file: …}`, or give it a name: `prompts: {short: {file: …}}`"));
        return None;
    }
    let name = Node { span: entry.key_span, content: Content::Scalar(Val::Str(entry.key.clone())) };
    let name = read_id(reading, "a name in `prompts`", &name)?;
    let prompt = judging::prompt(reading, &format!("`{}`", name.value), &entry.value)?;
    Some(AskPrompt { name: name.value, prompt })
}

fn models(reading: &mut Reading<'_>, node: &Node<'_>) -> Vec<Spanned<String>> {
    match &node.content {
        Content::Scalar(Val::Str(_)) => reading.text("`model`", node).into_iter().collect(),
        Content::List(items) if !items.is_empty() => reading.texts("`model`", node),
        _ => {
            reading.wrong_type("`model`", "a role, `provider/model`, or a list of these", node);
            Vec::new()
        }
    }
}
