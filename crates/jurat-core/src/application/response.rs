//! Where in the reply of an application things are.

use jurat_format::choices;
use jurat_format::codes;
use jurat_format::field::Field;
use jurat_format::form::{Form, Object};
use jurat_format::problem::Problem;
use jurat_format::reader::Reading;
use jurat_format::shape::{self, Shape};
use jurat_format::value::{FieldPath, Node, Spanned, Step};

choices! {
    /// How a reply comes in pieces.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Pieces {
        /// Server-sent events.
        Sse = "sse",
        /// A JSON value a line.
        JsonLines = "json_lines",
    }
}

/// Where in a reply things are.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReplyPaths {
    /// The answer; the whole reply when there is none.
    pub text: Option<FieldPath>,
    /// What is there only when something went wrong.
    pub error: Option<FieldPath>,
    pub finish: Option<FieldPath>,
    pub reasoning: Option<FieldPath>,
    pub usage: UsagePaths,
    pub cost_usd: Option<FieldPath>,
    pub tool_calls: Option<CallPaths>,
    pub session: Option<FieldPath>,
    pub model: Option<FieldPath>,
    pub request_id: Option<FieldPath>,
    pub stream: Option<Pieces>,
    /// The data of the event that ends a reply in pieces.
    pub end: Option<String>,
}

/// Where numbers of tokens are.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct UsagePaths {
    pub input: Option<FieldPath>,
    pub output: Option<FieldPath>,
    pub cached: Option<FieldPath>,
    pub cache_write: Option<FieldPath>,
    pub reasoning: Option<FieldPath>,
}

/// Where the tools are that the application called, and the parts of each.
#[derive(Debug, Clone, PartialEq)]
pub struct CallPaths {
    pub list: FieldPath,
    pub name: FieldPath,
    pub arguments: FieldPath,
    pub output: FieldPath,
    pub id: FieldPath,
    pub is_error: FieldPath,
}

const TEXT: Field<Spanned<FieldPath>> =
    Field::optional("text", shape::PATH, "the answer").default_words("the whole reply, as text");
const ERROR: Field<Spanned<FieldPath>> =
    Field::optional("error", shape::PATH, "a value that only error replies have: the case is an error");
const FINISH: Field<Spanned<FieldPath>> =
    Field::optional("finish", shape::PATH, "why it stopped: `stop`, `length`, `refusal` or another word");
const REASONING: Field<Spanned<FieldPath>> = Field::optional("reasoning", shape::PATH, "what it thought before");
const USAGE: Field<UsagePaths> =
    Field::optional("usage", Shape::new(Form::Object(&USAGE_OBJECT), usage), "numbers of tokens");
const COST: Field<Spanned<FieldPath>> = Field::optional("cost_usd", shape::PATH, "what the answer cost, in dollars");
const TOOL_CALLS: Field<CallPaths> = Field::optional(
    "tool_calls",
    Shape::new(const { Form::Either(&[Form::Path, Form::Object(&CALLS_OBJECT)]) }, calls),
    "the list of tools that it called, or an object that says where each part of a call is",
);
const SESSION: Field<Spanned<FieldPath>> =
    Field::optional("session", shape::PATH, "the id of the session, which the next turn sends back as `${session}`")
        .default_words("jurat makes an id for each conversation");
const MODEL: Field<Spanned<FieldPath>> = Field::optional("model", shape::PATH, "the model that answered");
const REQUEST_ID: Field<Spanned<FieldPath>> =
    Field::optional("request_id", shape::PATH, "the application's id of the request");
const STREAM: Field<Pieces> = Field::optional(
    "stream",
    shape::choice(),
    "how the reply comes in pieces; `text` is then the path of a piece in each event, the others count where they are found",
);
const END: Field<String> = Field::optional("end", shape::STRING, "the data of the event that ends a reply in pieces")
    .default_words("the end of the reply");

pub(crate) static RESPONSE_OBJECT: Object = Object {
    what: "the response of an application",
    keys: &[
        TEXT.key,
        ERROR.key,
        FINISH.key,
        REASONING.key,
        USAGE.key,
        COST.key,
        TOOL_CALLS.key,
        SESSION.key,
        MODEL.key,
        REQUEST_ID.key,
        STREAM.key,
        END.key,
    ],
};

pub(crate) const RESPONSE: Field<ReplyPaths> = Field::optional(
    "response",
    Shape::new(Form::Object(&RESPONSE_OBJECT), response),
    "where in the reply of an application (`http/NAME`) things are, as field paths",
)
.default_words("the whole reply is the answer");

fn response(reading: &mut Reading<'_>, _: &str, node: &Node<'_>) -> Option<ReplyPaths> {
    let n_before = reading.n_errors();
    let fields = RESPONSE_OBJECT.fields(reading, node)?;
    let mut path = |field: &Field<Spanned<FieldPath>>| fields.read(reading, field).map(|it| it.value);
    let paths = ReplyPaths {
        text: path(&TEXT),
        error: path(&ERROR),
        finish: path(&FINISH),
        reasoning: path(&REASONING),
        cost_usd: path(&COST),
        session: path(&SESSION),
        model: path(&MODEL),
        request_id: path(&REQUEST_ID),
        usage: fields.read(reading, &USAGE).unwrap_or_default(),
        tool_calls: fields.read(reading, &TOOL_CALLS),
        stream: fields.read(reading, &STREAM),
        end: fields.read(reading, &END),
    };
    if paths.end.is_some() && fields.node(&STREAM).is_none() {
        let span = fields.key_span(&END).unwrap_or(fields.span);
        let problem = Problem::new(&codes::CONFLICT, "`end` is for a reply in pieces").at(span, "without `stream`");
        reading.problem(problem.help("add `stream: sse` or `stream: json_lines`, or remove `end`"));
    }
    (reading.n_errors() == n_before).then_some(paths)
}

const INPUT: Field<Spanned<FieldPath>> = Field::optional("input", shape::PATH, "input tokens");
const OUTPUT: Field<Spanned<FieldPath>> = Field::optional("output", shape::PATH, "output tokens");
const CACHED: Field<Spanned<FieldPath>> =
    Field::optional("cached", shape::PATH, "of the input tokens, those read from a cache");
const CACHE_WRITE: Field<Spanned<FieldPath>> =
    Field::optional("cache_write", shape::PATH, "of the input tokens, those written into a cache");
const THOUGHT: Field<Spanned<FieldPath>> =
    Field::optional("reasoning", shape::PATH, "of the output tokens, those of reasoning");

pub(crate) static USAGE_OBJECT: Object = Object {
    what: "a place where tokens are counted",
    keys: &[INPUT.key, OUTPUT.key, CACHED.key, CACHE_WRITE.key, THOUGHT.key],
};

fn usage(reading: &mut Reading<'_>, _: &str, node: &Node<'_>) -> Option<UsagePaths> {
    let fields = USAGE_OBJECT.fields(reading, node)?;
    let mut path = |field: &Field<Spanned<FieldPath>>| fields.read(reading, field).map(|it| it.value);
    Some(UsagePaths {
        input: path(&INPUT),
        output: path(&OUTPUT),
        cached: path(&CACHED),
        cache_write: path(&CACHE_WRITE),
        reasoning: path(&THOUGHT),
    })
}

const LIST: Field<Spanned<FieldPath>> = Field::required("list", shape::PATH, "the list of calls in the reply");
const NAME: Field<Spanned<FieldPath>> =
    Field::optional("name", shape::PATH, "the name of the tool, in a call").default_words("`name`");
const ARGUMENTS: Field<Spanned<FieldPath>> =
    Field::optional("arguments", shape::PATH, "what it was called with").default_words("`arguments`");
const CALL_OUTPUT: Field<Spanned<FieldPath>> =
    Field::optional("output", shape::PATH, "what it returned").default_words("`output`");
const ID: Field<Spanned<FieldPath>> = Field::optional("id", shape::PATH, "the id of the call").default_words("`id`");
const IS_ERROR: Field<Spanned<FieldPath>> =
    Field::optional("is_error", shape::PATH, "whether it failed").default_words("`is_error`");

pub(crate) static CALLS_OBJECT: Object = Object {
    what: "a place where called tools are",
    keys: &[LIST.key, NAME.key, ARGUMENTS.key, CALL_OUTPUT.key, ID.key, IS_ERROR.key],
};

fn calls(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<CallPaths> {
    let usual = |name: &str| FieldPath::of([Step::Key(name.into())]);
    let of = |list: FieldPath| CallPaths {
        list,
        name: usual("name"),
        arguments: usual("arguments"),
        output: usual("output"),
        id: usual("id"),
        is_error: usual("is_error"),
    };
    if node.entries().is_none() {
        return reading.path(what, node).map(|it| of(it.value));
    }
    let fields = CALLS_OBJECT.fields(reading, node)?;
    let mut paths = of(fields.read(reading, &LIST)?.value);
    let parts = [
        (&NAME, &mut paths.name),
        (&ARGUMENTS, &mut paths.arguments),
        (&CALL_OUTPUT, &mut paths.output),
        (&ID, &mut paths.id),
        (&IS_ERROR, &mut paths.is_error),
    ];
    for (field, part) in parts {
        if let Some(path) = fields.read(reading, field) {
            *part = path.value;
        }
    }
    Some(paths)
}
