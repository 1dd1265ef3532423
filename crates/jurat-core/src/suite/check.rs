//! `check`: a deterministic check of an agent's run, and `deterministic_checks`, where other programs keep theirs.
//!
//! ```yaml
//! check: { kind: file_exists, workspace: report.md }
//! check: { kind: tool_called, tool: search, arguments: { query: refund }, max: 3 }
//! ```

mod entry;
mod rule;

use jurat_format::codes;
use jurat_format::form::{Form, Key, Keys};
use jurat_format::problem::{Problem, listed};
use jurat_format::reader::{Fields, Reading};
use jurat_format::value::{Node, Value};

use super::comparison;
use crate::check::{Check, Figure, Rule};

pub(crate) use entry::ENTRIES;
pub(super) use entry::read_entry;
use rule::{
    bounds, exit_status, file_contains, file_matches, final_response, hook, output_artifact_present, place, status_is,
    tokens, tool_call_count, tool_called, tool_not_called, tool_order, tool_result, workspace_file_present,
    workspace_unchanged,
};

/// A kind of check: what it is called, what it takes, how it is read.
struct Kind {
    name: &'static str,
    keys: &'static Keys,
    read: fn(&mut Reading<'_>, &Fields<'_, '_>) -> Option<Rule>,
}

static COMPARED: Keys = Keys { what: "a comparison", keys: &comparison::KEYS };
const COMPARISON: Form = Form::Object(&COMPARED);
const COMPARISONS: Form = Form::List(&COMPARISON);

const TOOL: Key = Key::optional(
    "tool",
    Form::Either(&[Form::Text, Form::List(&Form::Text)]),
    "the tool, or several of which any matches",
)
.default("every tool");
const ARGUMENTS: Key = Key::optional(
    "arguments",
    Form::Either(&[COMPARISONS, Form::Map(&Form::Any)]),
    "what the arguments must be: a list of comparisons, or path → value that it equals",
);
const STATUS: Key = Key::optional("status", Form::Choice(&["success", "error"]), "how the call must have ended");
const OUTPUT: Key = Key::optional(
    "output",
    Form::Either(&[COMPARISON, COMPARISONS]),
    "what the call must have returned: a comparison, or several",
);
const RESPONSE: Key = Key::optional(
    "response_path",
    Form::Path,
    "the path of a recorded response of OpenAI, Anthropic or Gemini, which is checked in place of the run",
);
const PATH: Key = Key::optional("path", Form::Text, "a path on the host, relative to this file");
const WORKSPACE: Key = Key::optional("workspace", Form::Text, "a path in the workspace of the run");
const MIN: Key = Key::optional("min", Form::Number(0.0, f64::INFINITY), "the minimum");
const MAX: Key = Key::optional("max", Form::Number(0.0, f64::INFINITY), "the maximum");
const RELATIVE_PATH: Key =
    Key::required("relative_path", Form::Text, "the end of its path in the workspace, by whole path components");
const CONTAINS: Key = Key::optional("contains", Form::Text, "a text that it contains, compared exactly");
const CONTAINS_ALL: Key = Key::optional(
    "contains_all",
    Form::List(&Form::Text),
    "texts that it contains, all of them, ignoring case and accents",
);
const CONTAINS_ANY: Key = Key::optional(
    "contains_any",
    Form::List(&Form::Text),
    "texts of which it contains at least one, ignoring case and accents",
);
const HOOK_PATH: Key = Key::optional("path", Form::Text, "a Python file, relative to this one");
const HOOK_IMPORT: Key = Key::optional("import_path", Form::Text, "a Python module to import");
const HOOK_CALLABLE: Key = Key::required("callable_name", Form::Text, "the function that decides");

static CALL: Keys = Keys { what: "a call", keys: &[TOOL, ARGUMENTS, STATUS, OUTPUT] };

static HOOK: Keys = Keys { what: "a hook", keys: &[HOOK_PATH, HOOK_IMPORT, HOOK_CALLABLE] };

/// Makes the table of a kind, with the key that names it.
macro_rules! keys {
    ($constant:ident, $name:literal, $doc:literal $(, $key:expr)* $(,)?) => {
        static $constant: Keys = Keys {
            what: concat!("a check `", $name, "`"),
            keys: &[Key::required("kind", Form::Choice(&[$name]), $doc) $(, $key)*],
        };
    };
}

keys!(FINAL_RESPONSE_PRESENT, "final_response_present", "passes if the run has a final response");
keys!(
    FINAL_RESPONSE,
    "final_response",
    "passes if the final response passes a comparison",
    comparison::KEYS[0],
    comparison::KEYS[1],
    comparison::KEYS[2],
    comparison::KEYS[3],
    comparison::KEYS[4],
);
keys!(
    TOOL_CALL_COUNT,
    "tool_call_count",
    "passes if exactly this number of tool calls was made",
    Key::required("expected", Form::Integer(0), "the number of calls").or(&["count"]),
    RESPONSE,
);
keys!(
    TOOL_CALLED,
    "tool_called",
    "passes if the number of matching calls is within the bounds",
    TOOL,
    ARGUMENTS,
    STATUS,
    OUTPUT,
    Key::optional("min", Form::Integer(0), "the minimum number of matching calls").default("`1`"),
    Key::optional("max", Form::Integer(0), "the maximum number of matching calls").default("no maximum"),
    RESPONSE,
);
keys!(
    TOOL_NOT_CALLED,
    "tool_not_called",
    "passes if no matching call was made",
    TOOL,
    ARGUMENTS,
    STATUS,
    OUTPUT,
    RESPONSE,
);
keys!(
    TOOL_ORDER,
    "tool_order",
    "passes if matching calls were made in this order",
    Key::required(
        "tools",
        Form::List(&Form::Either(&[Form::Text, Form::Object(&CALL)])),
        "the calls: names of tools, or objects",
    ),
    Key::optional("exact", Form::Boolean, "whether no other calls may be between them").default("`false`"),
    RESPONSE,
);
keys!(
    TOOL_RESULT,
    "tool_result",
    "passes if the results of matching calls are as `status` and `output` require",
    TOOL,
    ARGUMENTS,
    STATUS,
    OUTPUT,
    Key::optional("which", Form::Choice(&["every", "any", "first", "last"]), "which of the results must be so",)
        .default("`every`"),
    RESPONSE,
);
keys!(FILE_EXISTS, "file_exists", "passes if the path is a file", PATH, WORKSPACE);
keys!(PATH_EXISTS, "path_exists", "passes if the path is a file or a directory", PATH, WORKSPACE);
keys!(
    FILE_CONTAINS,
    "file_contains",
    "passes if the file exists and contains the text",
    PATH,
    WORKSPACE,
    Key::required("text", Form::Text, "the text, compared exactly"),
);
keys!(
    FILE_MATCHES,
    "file_matches",
    "passes if the file exists and its text passes a comparison, or fits a JSON Schema",
    PATH,
    WORKSPACE,
    comparison::KEYS[0],
    comparison::KEYS[1],
    comparison::KEYS[2],
    comparison::KEYS[3],
    comparison::KEYS[4],
    Key::optional(
        "schema",
        Form::Defined("output"),
        "what the file must hold as JSON: fields in short form, or a JSON Schema"
    ),
);
keys!(
    STATUS_IS,
    "status_is",
    "passes if the run ended with this status",
    Key::required(
        "expected",
        Form::Choice(&["success", "failed", "timed_out", "invalid", "provider_error", "refused"]),
        "the status",
    )
    .or(&["status"]),
);
keys!(
    EXIT_STATUS,
    "exit_status",
    "passes if the agent's program ended with this exit status",
    Key::required("expected", Form::Integer(i64::MIN), "the exit status"),
);
keys!(
    OUTPUT_ARTIFACT_PRESENT,
    "output_artifact_present",
    "passes if the run lists a matching output artifact",
    Key::optional("artifact_type", Form::Text, "its type"),
    Key::optional("artifact_id", Form::Text, "its id"),
    Key::optional("uri", Form::Text, "its URI"),
);
keys!(
    OPENCLAW_WORKSPACE_FILE_PRESENT,
    "openclaw_workspace_file_present",
    "passes if an output artifact of an OpenClaw run is this file",
    RELATIVE_PATH,
    CONTAINS,
    CONTAINS_ALL,
    CONTAINS_ANY,
);
keys!(
    WORKSPACE_FILE_PRESENT,
    "workspace_file_present",
    "passes if an output artifact of the run is this file",
    RELATIVE_PATH,
    CONTAINS,
    CONTAINS_ALL,
    CONTAINS_ANY,
);
keys!(
    WORKSPACE_UNCHANGED,
    "workspace_unchanged",
    "passes if the run added, changed and removed nothing in its workspace",
    Key::optional("except", Form::List(&Form::Text), "patterns of paths that may differ: `*`, `**`, `?`, `[…]`"),
);
keys!(COST_USD, "cost_usd", "passes if the cost of the run, in dollars, is within the bounds", MIN, MAX);
keys!(
    TOKENS,
    "tokens",
    "passes if the number of tokens is within the bounds",
    Key::optional(
        "of",
        Form::Choice(&["input", "output", "total", "reasoning", "cached_input", "cache_write"]),
        "which tokens",
    )
    .default("`total`"),
    MIN,
    MAX,
);
keys!(TURNS, "turns", "passes if the number of messages of the agent is within the bounds", MIN, MAX);
keys!(
    DURATION_SECONDS,
    "duration_seconds",
    "passes if the duration of the run, in seconds, is within the bounds",
    MIN,
    MAX
);
keys!(HOOK_KIND, "hook", "passes if the author's Python function says so", HOOK_PATH, HOOK_IMPORT, HOOK_CALLABLE);

static KINDS: [Kind; 22] = [
    Kind {
        name: "final_response_present",
        keys: &FINAL_RESPONSE_PRESENT,
        read: |_, _| Some(Rule::FinalResponsePresent),
    },
    Kind { name: "tool_call_count", keys: &TOOL_CALL_COUNT, read: tool_call_count },
    Kind { name: "file_exists", keys: &FILE_EXISTS, read: |reading, it| place(reading, it).map(Rule::FileExists) },
    Kind { name: "file_contains", keys: &FILE_CONTAINS, read: file_contains },
    Kind { name: "path_exists", keys: &PATH_EXISTS, read: |reading, it| place(reading, it).map(Rule::PathExists) },
    Kind { name: "status_is", keys: &STATUS_IS, read: status_is },
    Kind { name: "output_artifact_present", keys: &OUTPUT_ARTIFACT_PRESENT, read: output_artifact_present },
    Kind {
        name: "openclaw_workspace_file_present",
        keys: &OPENCLAW_WORKSPACE_FILE_PRESENT,
        read: |reading, it| workspace_file_present(reading, it, Some("openclaw")),
    },
    Kind {
        name: "workspace_file_present",
        keys: &WORKSPACE_FILE_PRESENT,
        read: |reading, it| workspace_file_present(reading, it, None),
    },
    Kind { name: "final_response", keys: &FINAL_RESPONSE, read: final_response },
    Kind { name: "tool_called", keys: &TOOL_CALLED, read: tool_called },
    Kind { name: "tool_not_called", keys: &TOOL_NOT_CALLED, read: tool_not_called },
    Kind { name: "tool_order", keys: &TOOL_ORDER, read: tool_order },
    Kind { name: "tool_result", keys: &TOOL_RESULT, read: tool_result },
    Kind { name: "file_matches", keys: &FILE_MATCHES, read: file_matches },
    Kind { name: "workspace_unchanged", keys: &WORKSPACE_UNCHANGED, read: workspace_unchanged },
    Kind { name: "cost_usd", keys: &COST_USD, read: |reading, it| bounds(reading, it, Figure::CostUsd) },
    Kind { name: "tokens", keys: &TOKENS, read: tokens },
    Kind { name: "turns", keys: &TURNS, read: |reading, it| bounds(reading, it, Figure::Turns) },
    Kind {
        name: "duration_seconds",
        keys: &DURATION_SECONDS,
        read: |reading, it| bounds(reading, it, Figure::DurationSeconds),
    },
    Kind { name: "exit_status", keys: &EXIT_STATUS, read: exit_status },
    Kind { name: "hook", keys: &HOOK_KIND, read: |reading, it| hook(reading, it).map(Rule::Hook) },
];

static FORMS: [Form; KINDS.len()] = {
    let mut forms = [Form::Any; KINDS.len()];
    let mut ix = 0;
    while ix < forms.len() {
        forms[ix] = Form::Object(KINDS[ix].keys);
        ix += 1;
    }
    forms
};

/// The shape of a check.
pub(super) const FORM: Form = Form::Defined("check");

/// The JSON Schema of a check, from the tables that read it.
pub(super) fn schema() -> Value {
    Form::Either(&FORMS).schema()
}

/// The objects that checks are made of, one per kind.
pub(super) fn objects() -> impl Iterator<Item = &'static Keys> {
    KINDS.iter().map(|it| it.keys)
}

/// The names of all kinds of check.
pub fn kinds() -> impl Iterator<Item = &'static str> {
    KINDS.iter().map(|it| it.name)
}

pub(super) fn read(reading: &mut Reading<'_>, node: &Node<'_>) -> Option<Check> {
    if node.entries().is_none() {
        reading.wrong_type("`check`", "an object such as `{ kind: file_exists, workspace: report.md }`", node);
        return None;
    }
    let Some(name) = node.get("kind") else {
        let problem = Problem::new(&codes::MISSING_KEY, "a check needs `kind`").at(node.span, "checks what?");
        reading.problem(problem.help(format!("kinds are {}", listed(KINDS.iter().map(|it| it.name)))));
        return None;
    };
    let names: Vec<(&str, usize)> = KINDS.iter().enumerate().map(|(ix, it)| (it.name, ix)).collect();
    let kind = &KINDS[reading.choice("`kind`", &names, name)?];
    let n_before = reading.n_errors();
    let fields = Fields::read(reading, kind.keys, node)?;
    let rule = (kind.read)(reading, &fields);
    let rule = rule.filter(|_| reading.n_errors() == n_before)?;
    Some(Check { rule, written: node.to_val().into_owned(), source: reading.source(node.span) })
}
