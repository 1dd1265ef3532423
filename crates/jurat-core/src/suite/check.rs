//! `check`: a deterministic check of an agent's run, and `deterministic_checks`, where other programs keep theirs.
//!
//! ```yaml
//! check: { kind: file_exists, workspace: report.md }
//! check: { kind: tool_called, tool: search, arguments: { query: refund }, max: 3 }
//! ```

mod entry;
mod rule;

use jurat_compare::Assertion;
use jurat_format::codes;
use jurat_format::field::{Defaulted, Field};
use jurat_format::fields::Fields;
use jurat_format::form::{DefaultValue, Form, Key, Object};
use jurat_format::problem::{Problem, listed};
use jurat_format::reader::Reading;
use jurat_format::shape::{self, Shape};
use jurat_format::value::{FieldPath, Node, Spanned, Value};

use super::comparison;
use super::output::{self, Output};
use crate::artifact::RunStatus;
use crate::check::{Check, Figure, Rule, Which};

pub(crate) use entry::ENTRIES;
pub(super) use entry::read_entry;
use rule::{
    CallStatus, TokenCount, arguments, bounds, exit_status, file_contains, file_matches, final_response, hook,
    output_artifact_present, outputs, place, status_is, tokens, tool_call_count, tool_called, tool_not_called,
    tool_order, tool_result, tools, workspace_file_present, workspace_unchanged,
};

/// A kind of check: what it is called, what it takes, how it is read.
struct Kind {
    name: &'static str,
    object: Object,
    read: fn(&mut Reading<'_>, &Fields<'_, '_>) -> Option<Rule>,
}

static COMPARED: Object = Object { what: "a comparison", keys: &comparison::KEYS };
const COMPARISON: Form = Form::Object(&COMPARED);
const COMPARISONS: Form = Form::List(&COMPARISON);

const KIND: &str = "kind";

const TOOL: Field<Vec<String>> =
    Field::optional("tool", Shape::new(shape::TEXT_OR_TEXTS, tools), "the tool, or several of which any matches")
        .default_words("every tool")
        .or_null();
const ARGUMENTS: Field<Vec<Assertion>> = Field::optional(
    "arguments",
    Shape::new(const { Form::Either(&[COMPARISONS, Form::Map(&Form::Any)]) }, arguments),
    "what the arguments must be: a list of comparisons, or path → value that it equals",
)
.or_null();
const STATUS: Field<CallStatus> = Field::optional("status", shape::choice(), "how the call must have ended").or_null();
const OUTPUT: Field<Vec<Assertion>> = Field::optional(
    "output",
    Shape::new(const { Form::Either(&[COMPARISON, COMPARISONS]) }, outputs),
    "what the call must have returned: a comparison, or several",
)
.or_null();
const RESPONSE: Field<Spanned<FieldPath>> = Field::optional(
    "response_path",
    shape::PATH,
    "the path of a recorded response of OpenAI, Anthropic or Gemini, which is checked in place of the run",
)
.or_null();
const PATH: Field<String> =
    Field::optional("path", shape::STRING, "a path on the host, relative to this file").or_null();
const WORKSPACE: Field<Spanned<String>> =
    Field::optional("workspace", shape::TEXT, "a path in the workspace of the run").or_null();
const MIN: Field<f64> = Field::optional("min", shape::AMOUNT, "the minimum").or_null();
const MAX: Field<f64> = Field::optional("max", shape::AMOUNT, "the maximum").or_null();
const RELATIVE_PATH: Field<Spanned<String>> =
    Field::required("relative_path", shape::TEXT, "the end of its path in the workspace, by whole path components");
const CONTAINS: Field<String> =
    Field::optional("contains", shape::STRING, "a text that it contains, compared exactly").or_null();
const CONTAINS_ALL: Field<Vec<String>> =
    Field::optional("contains_all", shape::STRINGS, "texts that it contains, all of them, ignoring case and accents")
        .or_null();
const CONTAINS_ANY: Field<Vec<String>> = Field::optional(
    "contains_any",
    shape::STRINGS,
    "texts of which it contains at least one, ignoring case and accents",
)
.or_null();
const HOOK_PATH: Field<String> =
    Field::optional("path", shape::STRING, "a Python file, relative to this one").or_null();
const HOOK_IMPORT: Field<String> = Field::optional("import_path", shape::STRING, "a Python module to import").or_null();
const HOOK_CALLABLE: Field<Spanned<String>> =
    Field::required("callable_name", shape::TEXT, "the function that decides");
const N_CALLS: Field<u64> =
    Field::required("expected", shape::large_count::<0>(), "the number of calls").or(&["count"]);
const MIN_CALLS: Field<u64> = Field::optional("min", shape::large_count::<0>(), "the minimum number of matching calls")
    .printed_default(DefaultValue::Integer(rule::USUAL_MIN as i64))
    .or_null();
const MAX_CALLS: Field<u64> = Field::optional("max", shape::large_count::<0>(), "the maximum number of matching calls")
    .default_words("no maximum")
    .or_null();
const TOOLS: Key = Key::required(
    "tools",
    const { Form::List(&Form::Either(&[Form::Text, Form::Object(&CALL)])) },
    "the calls: names of tools, or objects",
);
const EXACT: Defaulted<bool> =
    Field::optional("exact", shape::BOOLEAN, "whether no other calls may be between them").or_null().default(false);
const WHICH: Defaulted<Which> =
    Field::optional("which", shape::choice(), "which of the results must be so").or_null().default_choice("every");
const TEXT: Field<String> = Field::required("text", shape::STRING, "the text, compared exactly");
const SCHEMA: Field<Output> =
    Field::optional("schema", output::SHAPE, "what the file must hold as JSON: fields in short form, or a JSON Schema")
        .or_null();
const RUN_STATUS: Field<RunStatus> = Field::required("expected", shape::choice(), "the status").or(&["status"]);
const EXIT_STATUS_CODE: Field<i64> = Field::required("expected", shape::integer::<{ i64::MIN }>(), "the exit status");
const ARTIFACT_TYPE: Field<String> = Field::optional("artifact_type", shape::STRING, "its type").or_null();
const ARTIFACT_ID: Field<String> = Field::optional("artifact_id", shape::STRING, "its id").or_null();
const URI: Field<String> = Field::optional("uri", shape::STRING, "its URI").or_null();
const EXCEPT: Field<Vec<Spanned<String>>> =
    Field::optional("except", shape::TEXTS, "patterns of paths that may differ: `*`, `**`, `?`, `[…]`").or_null();
const OF: Defaulted<TokenCount> =
    Field::optional("of", shape::choice(), "which tokens").or_null().default_choice("total");

static CALL: Object = Object { what: "a call", keys: &[TOOL.key, ARGUMENTS.key, STATUS.key, OUTPUT.key] };

static HOOK: Object = Object { what: "a hook", keys: &[HOOK_PATH.key, HOOK_IMPORT.key, HOOK_CALLABLE.key] };

/// Declares a kind: its name, its meaning, its keys and its reader.
macro_rules! kind {
    ($constant:ident, $name:literal, $doc:literal, [$($key:expr),* $(,)?], $read:expr $(,)?) => {
        static $constant: Kind = Kind {
            name: $name,
            object: Object {
                what: concat!("a check `", $name, "`"),
                keys: &[Key::required(KIND, Form::Choice(&[$name]), $doc) $(, $key)*],
            },
            read: $read,
        };
    };
}

kind!(FINAL_RESPONSE_PRESENT, "final_response_present", "passes if the run has a final response", [], |_, _| Some(
    Rule::FinalResponsePresent
));
kind!(
    FINAL_RESPONSE,
    "final_response",
    "passes if the final response passes a comparison",
    [comparison::KEYS[0], comparison::KEYS[1], comparison::KEYS[2], comparison::KEYS[3], comparison::KEYS[4]],
    final_response
);
kind!(
    TOOL_CALL_COUNT,
    "tool_call_count",
    "passes if exactly this number of tool calls was made",
    [N_CALLS.key, RESPONSE.key],
    tool_call_count
);
kind!(
    TOOL_CALLED,
    "tool_called",
    "passes if the number of matching calls is within the bounds",
    [TOOL.key, ARGUMENTS.key, STATUS.key, OUTPUT.key, MIN_CALLS.key, MAX_CALLS.key, RESPONSE.key],
    tool_called
);
kind!(
    TOOL_NOT_CALLED,
    "tool_not_called",
    "passes if no matching call was made",
    [TOOL.key, ARGUMENTS.key, STATUS.key, OUTPUT.key, RESPONSE.key],
    tool_not_called
);
kind!(
    TOOL_ORDER,
    "tool_order",
    "passes if matching calls were made in this order",
    [TOOLS, EXACT.key, RESPONSE.key],
    tool_order
);
kind!(
    TOOL_RESULT,
    "tool_result",
    "passes if the results of matching calls are as `status` and `output` require",
    [TOOL.key, ARGUMENTS.key, STATUS.key, OUTPUT.key, WHICH.key, RESPONSE.key],
    tool_result
);
kind!(FILE_EXISTS, "file_exists", "passes if the path is a file", [PATH.key, WORKSPACE.key], |reading, it| place(
    reading, it
)
.map(Rule::FileExists));
kind!(
    PATH_EXISTS,
    "path_exists",
    "passes if the path is a file or a directory",
    [PATH.key, WORKSPACE.key],
    |reading, it| place(reading, it).map(Rule::PathExists)
);
kind!(
    FILE_CONTAINS,
    "file_contains",
    "passes if the file exists and contains the text",
    [PATH.key, WORKSPACE.key, TEXT.key],
    file_contains
);
kind!(
    FILE_MATCHES,
    "file_matches",
    "passes if the file exists and its text passes a comparison, or fits a JSON Schema",
    [
        PATH.key,
        WORKSPACE.key,
        comparison::KEYS[0],
        comparison::KEYS[1],
        comparison::KEYS[2],
        comparison::KEYS[3],
        comparison::KEYS[4],
        SCHEMA.key
    ],
    file_matches
);
kind!(STATUS_IS, "status_is", "passes if the run ended with this status", [RUN_STATUS.key], status_is);
kind!(
    EXIT_STATUS,
    "exit_status",
    "passes if the agent's program ended with this exit status",
    [EXIT_STATUS_CODE.key],
    exit_status
);
kind!(
    OUTPUT_ARTIFACT_PRESENT,
    "output_artifact_present",
    "passes if the run lists a matching output artifact",
    [ARTIFACT_TYPE.key, ARTIFACT_ID.key, URI.key],
    output_artifact_present
);
kind!(
    OPENCLAW_WORKSPACE_FILE_PRESENT,
    "openclaw_workspace_file_present",
    "passes if an output artifact of an OpenClaw run is this file",
    [RELATIVE_PATH.key, CONTAINS.key, CONTAINS_ALL.key, CONTAINS_ANY.key],
    |reading, it| workspace_file_present(reading, it, Some("openclaw"))
);
kind!(
    WORKSPACE_FILE_PRESENT,
    "workspace_file_present",
    "passes if an output artifact of the run is this file",
    [RELATIVE_PATH.key, CONTAINS.key, CONTAINS_ALL.key, CONTAINS_ANY.key],
    |reading, it| workspace_file_present(reading, it, None)
);
kind!(
    WORKSPACE_UNCHANGED,
    "workspace_unchanged",
    "passes if the run added, changed and removed nothing in its workspace",
    [EXCEPT.key],
    workspace_unchanged
);
kind!(
    COST_USD,
    "cost_usd",
    "passes if the cost of the run, in dollars, is within the bounds",
    [MIN.key, MAX.key],
    |reading, it| bounds(reading, it, Figure::CostUsd)
);
kind!(TOKENS, "tokens", "passes if the number of tokens is within the bounds", [OF.key, MIN.key, MAX.key], tokens);
kind!(
    TURNS,
    "turns",
    "passes if the number of messages of the agent is within the bounds",
    [MIN.key, MAX.key],
    |reading, it| bounds(reading, it, Figure::Turns)
);
kind!(
    DURATION_SECONDS,
    "duration_seconds",
    "passes if the duration of the run, in seconds, is within the bounds",
    [MIN.key, MAX.key],
    |reading, it| bounds(reading, it, Figure::DurationSeconds)
);
kind!(
    HOOK_KIND,
    "hook",
    "passes if the author's Python function says so",
    [HOOK_PATH.key, HOOK_IMPORT.key, HOOK_CALLABLE.key],
    |reading, it| hook(reading, it).map(Rule::Hook)
);

static KINDS: [&Kind; 22] = [
    &FINAL_RESPONSE_PRESENT,
    &TOOL_CALL_COUNT,
    &FILE_EXISTS,
    &FILE_CONTAINS,
    &PATH_EXISTS,
    &STATUS_IS,
    &OUTPUT_ARTIFACT_PRESENT,
    &OPENCLAW_WORKSPACE_FILE_PRESENT,
    &WORKSPACE_FILE_PRESENT,
    &FINAL_RESPONSE,
    &TOOL_CALLED,
    &TOOL_NOT_CALLED,
    &TOOL_ORDER,
    &TOOL_RESULT,
    &FILE_MATCHES,
    &WORKSPACE_UNCHANGED,
    &COST_USD,
    &TOKENS,
    &TURNS,
    &DURATION_SECONDS,
    &EXIT_STATUS,
    &HOOK_KIND,
];

static FORMS: [Form; KINDS.len()] = {
    let mut forms = [Form::Any; KINDS.len()];
    let mut ix = 0;
    while ix < forms.len() {
        forms[ix] = Form::Object(&KINDS[ix].object);
        ix += 1;
    }
    forms
};

pub(super) const SHAPE: Shape<Check> = Shape::new(Form::Defined("check"), read);

/// The JSON Schema of a check, from the tables that read it.
pub(super) fn schema() -> Value {
    Form::Either(&FORMS).schema()
}

/// The objects that checks are made of, one per kind.
pub(super) fn objects() -> impl Iterator<Item = &'static Object> {
    KINDS.iter().map(|it| &it.object)
}

/// The names of all kinds of check.
pub fn kinds() -> impl Iterator<Item = &'static str> {
    KINDS.iter().map(|it| it.name)
}

fn read(reading: &mut Reading<'_>, _: &str, node: &Node<'_>) -> Option<Check> {
    if node.entries().is_none() {
        reading.wrong_type("`check`", "an object such as `{ kind: file_exists, workspace: report.md }`", node);
        return None;
    }
    let Some(name) = node.get(KIND) else {
        let problem = Problem::new(&codes::MISSING_KEY, "a check needs `kind`").at(node.span, "checks what?");
        reading.problem(problem.help(format!("kinds are {}", listed(KINDS.iter().map(|it| it.name)))));
        return None;
    };
    let names: Vec<(&str, usize)> = KINDS.iter().enumerate().map(|(ix, it)| (it.name, ix)).collect();
    let kind = KINDS[reading.choice("`kind`", &names, name)?];
    let n_before = reading.n_errors();
    let fields = kind.object.fields(reading, node)?;
    let rule = (kind.read)(reading, &fields);
    let rule = rule.filter(|_| reading.n_errors() == n_before)?;
    Some(Check { rule, written: node.to_val().into_owned(), source: reading.source(node.span) })
}
