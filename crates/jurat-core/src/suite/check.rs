//! `check`: a deterministic check of an agent's run, and `deterministic_checks`, where other programs keep theirs.
//!
//! ```yaml
//! check: { kind: file_exists, workspace: report.md }
//! check: { kind: tool_called, tool: search, arguments: { query: refund }, max: 3 }
//! ```

use super::codes;
use super::comparison::{self, TaskComparison};
use super::form::{Form, Key, Keys};
use super::output::{self, Output};
use super::problem::{Problem, listed};
use super::reader::{Fields, Reading};
use super::task::{Gate, KEYS_OF_OUTCOMES, Selection, Task, TaskKind, read_gate, read_ids};
use crate::artifact::{RunStatus, is_identifier};
use crate::check::{CallPattern, Check, ContentRule, Figure, Glob, Hook, HookCode, Place, Rule, Which};
use crate::compare::Assertion;
use crate::judge::ReplySchema;
use crate::value::{Content, FieldPath, Map, Node, Spanned, Val, Value, shown_within};

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
    "the tool, or several of which any will do; every tool unless said",
);
const ARGUMENTS: Key = Key::optional(
    "arguments",
    Form::Either(&[COMPARISONS, Form::Map(&Form::Any)]),
    "what the arguments must be: comparisons, or paths and the values that they equal",
);
const STATUS: Key = Key::optional("status", Form::Choice(&["success", "error"]), "how the call must have ended");
const OUTPUT: Key = Key::optional(
    "output",
    Form::Either(&[COMPARISON, COMPARISONS]),
    "what must have come back: a comparison, or several",
);
const RESPONSE: Key = Key::optional(
    "response_path",
    Form::Path,
    "where a recorded response of OpenAI, Anthropic or Gemini stands, to look at instead of the run",
);
const PATH: Key = Key::optional("path", Form::Text, "a path on the host, relative to this file");
const WORKSPACE: Key = Key::optional("workspace", Form::Text, "a path in the workspace of the run");
const MIN: Key = Key::optional("min", Form::Number(0.0, f64::INFINITY), "the least that will do");
const MAX: Key = Key::optional("max", Form::Number(0.0, f64::INFINITY), "the most that will do");
const RELATIVE_PATH: Key = Key::required("relative_path", Form::Text, "the end of its path in the workspace");
const CONTAINS: Key = Key::optional("contains", Form::Text, "what it contains, letter by letter");
const CONTAINS_ALL: Key =
    Key::optional("contains_all", Form::List(&Form::Text), "what it contains, without regard to case and accents");
const CONTAINS_ANY: Key = Key::optional(
    "contains_any",
    Form::List(&Form::Text),
    "of which it contains one, without regard to case and accents",
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

keys!(FINAL_RESPONSE_PRESENT, "final_response_present", "passes if the run said something at its end");
keys!(
    FINAL_RESPONSE,
    "final_response",
    "passes if what the run said at its end passes a comparison",
    comparison::KEYS[0],
    comparison::KEYS[1],
    comparison::KEYS[2],
    comparison::KEYS[3],
    comparison::KEYS[4],
);
keys!(
    TOOL_CALL_COUNT,
    "tool_call_count",
    "passes if tools were called exactly so often",
    Key::required("expected", Form::Integer(0), "how often").or(&["count"]),
    RESPONSE,
);
keys!(
    TOOL_CALLED,
    "tool_called",
    "passes if such a call was made, and not less or more often than said",
    TOOL,
    ARGUMENTS,
    STATUS,
    OUTPUT,
    Key::optional("min", Form::Integer(0), "how often at least; once unless said"),
    Key::optional("max", Form::Integer(0), "how often at most"),
    RESPONSE,
);
keys!(TOOL_NOT_CALLED, "tool_not_called", "passes if no such call was made", TOOL, ARGUMENTS, STATUS, OUTPUT, RESPONSE,);
keys!(
    TOOL_ORDER,
    "tool_order",
    "passes if such calls were made in this order",
    Key::required(
        "tools",
        Form::List(&Form::Either(&[Form::Text, Form::Object(&CALL)])),
        "the calls: names of tools, or more about them",
    ),
    Key::optional("exact", Form::Boolean, "whether there may be no other calls; there may unless said"),
    RESPONSE,
);
keys!(
    TOOL_RESULT,
    "tool_result",
    "passes if what such calls gave back is as said",
    TOOL,
    ARGUMENTS,
    STATUS,
    OUTPUT,
    Key::optional(
        "which",
        Form::Choice(&["every", "any", "first", "last"]),
        "which of the results it is said of; every one unless said",
    ),
    RESPONSE,
);
keys!(FILE_EXISTS, "file_exists", "passes if the path is a file", PATH, WORKSPACE);
keys!(PATH_EXISTS, "path_exists", "passes if the path is a file or a directory", PATH, WORKSPACE);
keys!(
    FILE_CONTAINS,
    "file_contains",
    "passes if the file is there and contains the text",
    PATH,
    WORKSPACE,
    Key::required("text", Form::Text, "the text, letter by letter"),
);
keys!(
    FILE_MATCHES,
    "file_matches",
    "passes if the file is there and its text passes a comparison, or fits a JSON Schema",
    PATH,
    WORKSPACE,
    comparison::KEYS[0],
    comparison::KEYS[1],
    comparison::KEYS[2],
    comparison::KEYS[3],
    comparison::KEYS[4],
    Key::optional("schema", Form::Output, "what the file holds as JSON: fields in short form, or a JSON Schema"),
);
keys!(
    STATUS_IS,
    "status_is",
    "passes if the run ended so",
    Key::required(
        "expected",
        Form::Choice(&["success", "failed", "timed_out", "invalid", "provider_error"]),
        "how it must have ended",
    )
    .or(&["status"]),
);
keys!(
    EXIT_STATUS,
    "exit_status",
    "passes if the program that ran ended with this number",
    Key::required("expected", Form::Integer(i64::MIN), "the number"),
);
keys!(
    OUTPUT_ARTIFACT_PRESENT,
    "output_artifact_present",
    "passes if the run lists such an output artifact",
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
    "passes if an output artifact of the run is this file, whoever ran it",
    RELATIVE_PATH,
    CONTAINS,
    CONTAINS_ALL,
    CONTAINS_ANY,
);
keys!(
    WORKSPACE_UNCHANGED,
    "workspace_unchanged",
    "passes if the run added, changed and removed nothing in its workspace",
    Key::optional("except", Form::List(&Form::Text), "patterns of paths that may be different: `*`, `**`, `?`, `[…]`"),
);
keys!(COST_USD, "cost_usd", "passes if the run cost no less and no more dollars", MIN, MAX);
keys!(
    TOKENS,
    "tokens",
    "passes if the run took no fewer and no more tokens",
    Key::optional(
        "of",
        Form::Choice(&["input", "output", "total", "reasoning", "cached_input", "cache_write"]),
        "which tokens; all unless said",
    ),
    MIN,
    MAX,
);
keys!(TURNS, "turns", "passes if the agent spoke no less and no more often", MIN, MAX);
keys!(DURATION_SECONDS, "duration_seconds", "passes if the run took no fewer and no more seconds", MIN, MAX);
keys!(HOOK_KIND, "hook", "passes if the author's code says so", HOOK_PATH, HOOK_IMPORT, HOOK_CALLABLE);

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
pub(super) const FORM: Form = Form::Check;

/// The JSON Schema of a check, from the tables that read it.
pub(super) fn schema() -> Value {
    Form::Either(&FORMS).schema()
}

/// What every kind of check is called, what it passes on, and the keys that it takes.
pub fn kinds() -> impl Iterator<Item = (&'static str, &'static str, Vec<(&'static str, bool, &'static str)>)> {
    KINDS.iter().map(|it| {
        let own = it.keys.keys.iter().filter(|key| key.name != "kind");
        let doc = it.keys.find("kind").map_or("", |it| it.doc);
        (it.name, doc, own.map(|key| (key.name, key.required, key.doc)).collect())
    })
}

/// Reads a check.
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

fn some_text(reading: &mut Reading<'_>, fields: &Fields<'_, '_>, name: &str) -> Option<String> {
    fields.given(name).and_then(|it| reading.text(&format!("`{name}`"), it)).map(|it| it.value)
}

fn count(reading: &mut Reading<'_>, fields: &Fields<'_, '_>, name: &str) -> Option<u64> {
    let number = fields.given(name).and_then(|it| reading.integer(&format!("`{name}`"), 0, it))?;
    u64::try_from(number).ok()
}

fn missing(reading: &mut Reading<'_>, fields: &Fields<'_, '_>, message: &str, help: &str) {
    if ["path", "workspace", "operator", "schema"].iter().any(|it| fields.may_mean(it)) {
        return;
    }
    let problem = Problem::new(&codes::MISSING_KEY, message).at(fields.span, "here");
    reading.problem(problem.help(help));
}

fn conflict(reading: &mut Reading<'_>, fields: &Fields<'_, '_>, (first, second): (&str, &str), help: &str) {
    let at = |name: &str| fields.key_span(name).unwrap_or(fields.span);
    let message = format!("a check has either `{first}` or `{second}`, not both");
    let problem = Problem::new(&codes::CONFLICT, message).at(at(second), "and this").at(at(first), "this");
    reading.problem(problem.help(help));
}

/// `path` or `workspace`.
fn place(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<Place> {
    match (fields.given("path"), fields.given("workspace")) {
        (Some(path), None) => reading.text("`path`", path).map(|it| Place::Host(it.value)),
        (None, Some(path)) => {
            let text = reading.text("`workspace`", path)?;
            let plain = text.value.replace('\\', "/");
            let leads_out = plain.starts_with('/') || plain.split('/').any(|it| it == "..");
            if leads_out || plain.split('/').all(|it| it.is_empty() || it == ".") {
                let shown = shown_within(&Val::from(text.value.as_str()), 40);
                let message = format!("`workspace` must be a path inside the workspace, not {shown}");
                let problem = Problem::new(&codes::WRONG_VALUE, message).at(text.span, "leads elsewhere");
                reading.problem(problem.help("it is relative to the workspace; `path` is on the host"));
                return None;
            }
            let names: Vec<&str> = plain.split('/').filter(|it| !it.is_empty() && *it != ".").collect();
            Some(Place::Workspace(names.join("/")))
        }
        (Some(_), Some(_)) => {
            conflict(
                reading,
                fields,
                ("path", "workspace"),
                "`path` is on the host, `workspace` in the run's workspace",
            );
            None
        }
        (None, None) => {
            missing(
                reading,
                fields,
                "a check of a file needs `path` or `workspace`",
                "for example `workspace: report.md`",
            );
            None
        }
    }
}

fn response(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<FieldPath> {
    fields.given("response_path").and_then(|it| reading.path("`response_path`", it)).map(|it| it.value)
}

fn tool_call_count(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<Rule> {
    let response = response(reading, fields);
    if fields.get("expected").is_some() && fields.given("expected").is_none() {
        reading.wrong_type("`expected`", "a whole number of at least 0", fields.get("expected")?);
    }
    Some(Rule::ToolCallCount { expected: count(reading, fields, "expected")?, response })
}

fn file_contains(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<Rule> {
    let place = place(reading, fields);
    let text = fields.get("text").and_then(|it| reading.text("`text`", it)).map(|it| it.value);
    Some(Rule::FileContains { place: place?, text: text? })
}

fn status_is(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<Rule> {
    let status = fields.get("expected").and_then(|it| reading.choice("`expected`", &RunStatus::NAMED, it))?;
    Some(Rule::StatusIs(status))
}

fn exit_status(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<Rule> {
    fields.get("expected").and_then(|it| reading.integer("`expected`", i64::MIN, it)).map(Rule::ExitStatus)
}

fn output_artifact_present(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<Rule> {
    let names = ["artifact_type", "artifact_id", "uri"];
    let [artifact_type, artifact_id, uri] = names.map(|it| some_text(reading, fields, it));
    if !names.iter().any(|it| fields.given(it).is_some() || fields.may_mean(it)) {
        let message = "`output_artifact_present` needs `artifact_type`, `artifact_id` or `uri`";
        let problem = Problem::new(&codes::MISSING_KEY, message).at(fields.span, "which one?");
        reading.problem(problem.help("for example `artifact_type: openclaw_key_output`"));
        return None;
    }
    Some(Rule::OutputArtifactPresent { artifact_type, artifact_id, uri })
}

fn workspace_file_present(
    reading: &mut Reading<'_>,
    fields: &Fields<'_, '_>,
    runner: Option<&'static str>,
) -> Option<Rule> {
    let path = fields.get("relative_path").and_then(|it| reading.text("`relative_path`", it));
    if let Some(path) = path.as_ref().filter(|it| it.value.is_empty()) {
        let problem = Problem::new(&codes::WRONG_VALUE, "`relative_path` must not be empty").at(path.span, "empty");
        reading.problem(problem.help("for example `relative_path: report.md`"));
    }
    let exactly = some_text(reading, fields, "contains");
    let mut terms = |name: &str| fields.given(name).map(|it| texts(reading, name, it));
    let (all, any) = (terms("contains_all"), terms("contains_any"));
    for other in ["contains_all", "contains_any"] {
        if fields.given("contains").is_some() && fields.given(other).is_some() {
            let help = "`contains` matches letter by letter, the others without regard to case and accents";
            conflict(reading, fields, ("contains", other), help);
        }
    }
    let content = match (exactly, all, any) {
        (Some(text), ..) => ContentRule::Exactly(text),
        (None, None, None) => ContentRule::Any,
        (None, all, any) => {
            ContentRule::Folded { all: all.unwrap_or_default(), any: any.filter(|it: &Vec<String>| !it.is_empty()) }
        }
    };
    let relative_path = path?.value.replace('\\', "/").trim_start_matches('/').to_owned();
    Some(Rule::WorkspaceFilePresent { relative_path, content, runner })
}

fn texts(reading: &mut Reading<'_>, name: &str, node: &Node<'_>) -> Vec<String> {
    reading.texts(&format!("`{name}`"), node).into_iter().map(|it| it.value).collect()
}

/// A comparison that must be there.
fn compared(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<Assertion> {
    comparison::read(reading, fields).as_ref().and_then(TaskComparison::assertion)
}

fn final_response(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<Rule> {
    let n_before = reading.n_errors();
    let assertion = compared(reading, fields);
    if assertion.is_none() && reading.n_errors() == n_before {
        missing(reading, fields, "`final_response` needs an `operator`", "for example `operator: contains`");
    }
    assertion.map(Rule::FinalResponse)
}

fn file_matches(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<Rule> {
    let n_before = reading.n_errors();
    let place = place(reading, fields);
    let assertion = compared(reading, fields);
    let schema = fields.given("schema").and_then(|it| file_schema(reading, it));
    if assertion.is_none() && schema.is_none() && reading.n_errors() == n_before {
        let message = "`file_matches` needs an `operator` or a `schema`";
        missing(reading, fields, message, "for example `operator: contains` with an `expected_value`");
    }
    Some(Rule::FileMatches { place: place?, assertion, schema })
}

fn file_schema(reading: &mut Reading<'_>, node: &Node<'_>) -> Option<Box<ReplySchema>> {
    let Output { schema, span, .. } = output::read(reading, node)?;
    match ReplySchema::compile(&schema) {
        Ok(schema) => Some(Box::new(schema)),
        Err(reason) => {
            let message = format!("`schema` is not a JSON Schema: {reason}");
            reading.problem(Problem::new(&codes::BAD_SCHEMA, message).at(span, "here"));
            None
        }
    }
}

/// Which calls are meant.
fn calls(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> CallPattern {
    let tools = fields.given("tool").map(|it| match it.as_list() {
        Some(_) => texts(reading, "tool", it),
        None => reading.text("`tool`", it).map(|it| it.value).into_iter().collect(),
    });
    let statuses = [("success", false), ("error", true)];
    CallPattern {
        tools: tools.unwrap_or_default(),
        arguments: fields.given("arguments").map(|it| arguments(reading, it)).unwrap_or_default(),
        is_error: fields.given("status").and_then(|it| reading.choice("`status`", &statuses, it)),
        output: fields.given("output").map(|it| outputs(reading, it)).unwrap_or_default(),
    }
}

/// Comparisons, or paths with what they equal.
fn arguments(reading: &mut Reading<'_>, node: &Node<'_>) -> Vec<Assertion> {
    match &node.content {
        Content::List(items) => items.iter().filter_map(|it| comparison_of(reading, it)).collect(),
        Content::Map(entries) => {
            let mut assertions = Vec::new();
            for entry in entries {
                let path = Node { span: entry.key_span, content: Content::Scalar(Val::Str(entry.key.clone())) };
                let Some(path) = reading.path("a path in `arguments`", &path) else { continue };
                assertions.extend(TaskComparison::equal(path, &entry.value).and_then(|it| it.assertion()));
            }
            assertions
        }
        Content::Scalar(_) => {
            reading.wrong_type("`arguments`", "comparisons, or paths and the values that they equal", node);
            Vec::new()
        }
    }
}

fn outputs(reading: &mut Reading<'_>, node: &Node<'_>) -> Vec<Assertion> {
    let items = node.as_list().unwrap_or(std::slice::from_ref(node));
    items.iter().filter_map(|it| comparison_of(reading, it)).collect()
}

fn comparison_of(reading: &mut Reading<'_>, node: &Node<'_>) -> Option<Assertion> {
    let fields = Fields::read(reading, &COMPARED, node)?;
    let n_before = reading.n_errors();
    let assertion = compared(reading, &fields);
    if assertion.is_none() && reading.n_errors() == n_before {
        missing(reading, &fields, "a comparison needs an `operator`", "for example `operator: contains`");
    }
    assertion
}

fn tool_called(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<Rule> {
    let calls = calls(reading, fields);
    let (min, max) = (count(reading, fields, "min"), count(reading, fields, "max"));
    // Who says only how often at most means that never is fine too.
    let min = min.unwrap_or(if max == Some(0) { 0 } else { 1 });
    if let Some(max) = max.filter(|it| *it < min) {
        let message = format!("`max` is {max}, which is less than `min`, {min}");
        let at = fields.key_span("max").unwrap_or(fields.span);
        reading
            .problem(Problem::new(&codes::WRONG_VALUE, message).at(at, "never passes").help("`min` is 1 unless said"));
    }
    Some(Rule::ToolCalled { calls, min, max, response: response(reading, fields) })
}

fn tool_not_called(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<Rule> {
    Some(Rule::ToolCalled { calls: calls(reading, fields), min: 0, max: Some(0), response: response(reading, fields) })
}

fn tool_order(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<Rule> {
    let items = fields.get("tools").map(|it| reading.list("`tools`", "a list of tools", it))?;
    let mut patterns = Vec::new();
    for item in items {
        match item.as_str() {
            Some(name) => patterns.push(CallPattern { tools: vec![name.to_owned()], ..CallPattern::default() }),
            None => {
                let Some(call) = Fields::read(reading, &CALL, item) else { continue };
                patterns.push(calls(reading, &call));
            }
        }
    }
    let is_exact = fields.given("exact").and_then(|it| reading.boolean("`exact`", it)).unwrap_or(false);
    Some(Rule::ToolOrder { calls: patterns, is_exact, response: response(reading, fields) })
}

fn tool_result(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<Rule> {
    let all = calls(reading, fields);
    let which = fields.given("which").and_then(|it| reading.choice("`which`", &Which::NAMED, it));
    if all.is_error.is_none()
        && all.output.is_empty()
        && !["status", "output"].iter().any(|it| fields.given(it).is_some() || fields.may_mean(it))
    {
        let problem = Problem::new(&codes::MISSING_KEY, "`tool_result` needs `status` or `output`");
        reading.problem(problem.at(fields.span, "says nothing of the results").help("for example `status: success`"));
    }
    let result = CallPattern { is_error: all.is_error, output: all.output, ..CallPattern::default() };
    let calls = CallPattern { tools: all.tools, arguments: all.arguments, ..CallPattern::default() };
    Some(Rule::ToolResult { calls, result, which: which.unwrap_or(Which::Every), response: response(reading, fields) })
}

fn workspace_unchanged(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<Rule> {
    let written = fields.given("except").map(|it| reading.texts("`except`", it)).unwrap_or_default();
    let mut except = Vec::new();
    for Spanned { value, span } in written {
        match Glob::parse(&value) {
            Ok(glob) => except.push(glob),
            Err(reason) => {
                let message = format!("`{value}` is not a pattern of paths: {reason}");
                reading.problem(Problem::new(&codes::BAD_PATTERN, message).at(span, "here"));
            }
        }
    }
    Some(Rule::WorkspaceUnchanged { except })
}

fn tokens(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<Rule> {
    const NAMED: [(&str, &str); 6] = [
        ("total", "total_tokens"),
        ("input", "input_tokens"),
        ("output", "output_tokens"),
        ("reasoning", "reasoning_tokens"),
        ("cached_input", "cached_input_tokens"),
        ("cache_write", "cache_write_tokens"),
    ];
    let of = fields.given("of").and_then(|it| reading.choice("`of`", &NAMED, it)).unwrap_or("total_tokens");
    bounds(reading, fields, Figure::Tokens(of))
}

fn bounds(reading: &mut Reading<'_>, fields: &Fields<'_, '_>, figure: Figure) -> Option<Rule> {
    let mut bound =
        |name: &str| fields.given(name).and_then(|it| reading.number(&format!("`{name}`"), (0.0, f64::INFINITY), it));
    let (min, max) = (bound("min"), bound("max"));
    if !["min", "max"].iter().any(|it| fields.given(it).is_some() || fields.may_mean(it)) {
        let problem =
            Problem::new(&codes::MISSING_KEY, "a bound needs `min` or `max`").at(fields.span, "always passes");
        reading.problem(problem.help("for example `max: 0.5`"));
    }
    if let (Some(min), Some(max)) = (min, max)
        && max < min
    {
        let message = format!("`max` is {max}, which is less than `min`, {min}");
        let at = fields.key_span("max").unwrap_or(fields.span);
        reading.problem(Problem::new(&codes::WRONG_VALUE, message).at(at, "never passes"));
    }
    Some(Rule::Within { figure, min, max })
}

fn hook(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<Hook> {
    let (path, import) = (some_text(reading, fields, "path"), some_text(reading, fields, "import_path"));
    let callable_name = fields.get("callable_name").and_then(|it| reading.text("`callable_name`", it));
    if let Some(name) = callable_name.as_ref().filter(|it| it.value.is_empty()) {
        let problem = Problem::new(&codes::WRONG_VALUE, "`callable_name` must not be empty").at(name.span, "empty");
        reading.problem(problem.help("it is the name of a function"));
    }
    let code = match (path, import) {
        (Some(path), None) => HookCode::Path(path),
        (None, Some(module)) => HookCode::Import(module),
        (Some(_), Some(_)) => {
            conflict(reading, fields, ("path", "import_path"), "`path` is a file, `import_path` a module");
            return None;
        }
        (None, None) => {
            if fields.given("path").is_none()
                && fields.given("import_path").is_none()
                && !fields.may_mean("import_path")
            {
                missing(
                    reading,
                    fields,
                    "a hook needs `path` or `import_path`",
                    "for example `path: checks/report.py`",
                );
            }
            return None;
        }
    };
    Some(Hook { code, callable_name: callable_name?.value })
}

/// One entry of `deterministic_checks`.
static ENTRY: Keys = Keys {
    what: "a deterministic check",
    keys: &[
        Key::required("check_id", Form::Text, "its name: lower-case letters, digits, `_` and `-`"),
        Key::DESCRIPTION,
        Key::optional("dimensions", Form::List(&Form::Text), "what it says something about"),
        Key::optional("declarative", FORM, "what it checks"),
        Key::optional("hook", Form::Object(&HOOK), "the author's code that decides").or(&["python_hook"]),
        KEYS_OF_OUTCOMES[0],
        KEYS_OF_OUTCOMES[1],
        KEYS_OF_OUTCOMES[2],
    ],
};

/// The shape of `deterministic_checks`.
pub(super) const ENTRIES: Form = Form::List(&Form::Object(&ENTRY));

/// Reads an entry of `deterministic_checks` as a task; the id of one that cannot be read, when that at least is known.
pub(super) fn read_entry(reading: &mut Reading<'_>, node: &Node<'_>) -> Result<Task, Option<String>> {
    let n_before = reading.n_errors();
    let fields = Fields::read(reading, &ENTRY, node).ok_or(None)?;
    let id = fields.get("check_id").and_then(|it| check_id(reading, it));
    let description = fields.given("description").and_then(|it| reading.text("`description`", it)).map(|it| it.value);
    let dimensions =
        fields.given("dimensions").map(|it| distinct(reading.texts("`dimensions`", it))).unwrap_or_default();
    let check = entry_check(reading, &fields);
    let depends_on = fields.get("depends_on").map(|it| read_ids(reading, it)).unwrap_or_default();
    let gate: Gate = read_gate(reading, &fields);
    let (id, check) = match (id, check) {
        (Some(id), Some(check)) => (id, check),
        (id, _) => return Err(id.map(|it| it.value)),
    };
    Ok(Task {
        id,
        description,
        kind: TaskKind::Check(Box::new(check)),
        comparison: None,
        depends_on,
        gate,
        on: Selection::All,
        scope: None,
        tags: Vec::new(),
        dimensions,
        span: node.span,
        is_flawed: reading.n_errors() > n_before,
    })
}

/// Each dimension once, by name.
fn distinct(mut names: Vec<Spanned<String>>) -> Vec<Spanned<String>> {
    names.sort_by(|left, right| left.value.cmp(&right.value));
    names.dedup_by(|left, right| left.value == right.value);
    names
}

fn check_id(reading: &mut Reading<'_>, node: &Node<'_>) -> Option<Spanned<String>> {
    let text = reading.text("`check_id`", node)?;
    if !is_identifier(&text.value) {
        let message = format!("`check_id`: {} is not an id", shown_within(&Val::from(text.value.as_str()), 40));
        let problem = Problem::new(&codes::BAD_ID, message).at(text.span, "lower-case letters, digits, `_` and `-`");
        let repaired = super::id::repaired(&text.value).to_ascii_lowercase();
        reading.problem(problem.help(format!("for example `{}`", repaired.trim_start_matches(['_', '-']))));
        return None;
    }
    Some(text)
}

fn entry_check(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<Check> {
    match (fields.given("declarative"), fields.given("hook")) {
        (Some(node), None) => read(reading, node),
        (None, Some(node)) => {
            let inner = Fields::read(reading, &HOOK, node)?;
            let hook = hook(reading, &inner)?;
            let own = hook.to_value();
            let own = own.as_map().into_iter().flat_map(Map::iter).map(|(key, it)| (key.to_owned(), it.clone()));
            let written = [("kind".to_owned(), Val::from("hook"))].into_iter().chain(own);
            let written: Value = Val::Map(written.collect::<Map<'static>>());
            Some(Check { rule: Rule::Hook(hook), written, source: reading.source(node.span) })
        }
        (Some(_), Some(_)) => {
            conflict(reading, fields, ("declarative", "hook"), "make two checks of it");
            None
        }
        (None, None) => {
            if !["declarative", "hook"].iter().any(|it| fields.may_mean(it)) {
                let problem = Problem::new(&codes::MISSING_KEY, "a deterministic check needs `declarative` or `hook`");
                let problem = problem.at(fields.head(), "checks what?");
                reading.problem(problem.help("for example `declarative: { kind: final_response_present }`"));
            }
            None
        }
    }
}
