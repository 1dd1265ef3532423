//! What each kind of check takes, read into its rule.

use jurat_compare::Assertion;
use jurat_format::choice::{Choice, names};
use jurat_format::choices;
use jurat_format::codes;
use jurat_format::fields::Fields;
use jurat_format::form::Key;
use jurat_format::problem::Problem;
use jurat_format::reader::Reading;
use jurat_format::shape;
use jurat_format::value::{Content, FieldPath, Node, Spanned, Val, shown_within};

use super::super::comparison::{self, OPERATOR, TaskComparison};
use super::super::output::Output;
use super::{
    ARGUMENTS, ARTIFACT_ID, ARTIFACT_TYPE, CALL, COMPARED, CONTAINS, CONTAINS_ALL, CONTAINS_ANY, EXACT, EXCEPT,
    EXIT_STATUS_CODE, HOOK_CALLABLE, HOOK_IMPORT, HOOK_PATH, MAX, MAX_CALLS, MIN, MIN_CALLS, N_CALLS, OF, OUTPUT, PATH,
    RELATIVE_PATH, RESPONSE, RUN_STATUS, SCHEMA, STATUS, TEXT, TOOL, TOOLS, URI, WHICH, WORKSPACE,
};
use crate::artifact::is_identifier;
use crate::check::{CallPattern, ContentRule, Figure, Glob, Hook, HookCode, Place, Rule};
use crate::judge::ReplySchema;

choices! {
    /// How a call ended.
    #[derive(Clone, Copy, PartialEq)]
    pub(super) enum CallStatus {
        Success = "success",
        Error = "error",
    }
}

/// A count of tokens, by the name that a run has it under.
#[derive(Clone, Copy)]
pub(super) struct TokenCount(&'static str);

const TOKEN_COUNTS: [(&str, TokenCount); 6] = [
    ("input", TokenCount("input_tokens")),
    ("output", TokenCount("output_tokens")),
    ("total", TokenCount("total_tokens")),
    ("reasoning", TokenCount("reasoning_tokens")),
    ("cached_input", TokenCount("cached_input_tokens")),
    ("cache_write", TokenCount("cache_write_tokens")),
];

impl Choice for TokenCount {
    const NAMED: &'static [(&'static str, TokenCount)] = &TOKEN_COUNTS;
    const NAMES: &'static [&'static str] = &names(&TOKEN_COUNTS);
}

pub(super) fn missing(reading: &mut Reading<'_>, fields: &Fields<'_, '_>, message: &str, help: &str) {
    if [PATH.key, WORKSPACE.key, OPERATOR, SCHEMA.key].iter().any(|it| fields.may_mean(it)) {
        return;
    }
    let problem = Problem::new(&codes::MISSING_KEY, message).at(fields.span, "here");
    reading.problem(problem.help(help));
}

pub(super) fn conflict(reading: &mut Reading<'_>, fields: &Fields<'_, '_>, (first, second): (&Key, &Key), help: &str) {
    let at = |key: &Key| fields.key_span(key).unwrap_or(fields.span);
    let message = format!("a check has either `{}` or `{}`, not both", first.name, second.name);
    let problem = Problem::new(&codes::CONFLICT, message).at(at(second), "and this").at(at(first), "this");
    reading.problem(problem.help(help));
}

/// A path with a character that no path has.
fn no_path(what: &str, node: &Node<'_>) -> Option<Problem> {
    node.as_str().filter(|it| it.contains('\0'))?;
    let message = format!("{what} has a NUL character in it, which no path has");
    Some(Problem::new(&codes::WRONG_VALUE, message).at(node.span, "names nothing").help("take out `\\0`"))
}

/// `path` or `workspace`.
pub(super) fn place(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<Place> {
    for key in [PATH.key, WORKSPACE.key] {
        if let Some(problem) = fields.node(&key).and_then(|it| no_path(&key.quoted(), it)) {
            reading.problem(problem);
            return None;
        }
    }
    match (fields.node(&PATH.key), fields.node(&WORKSPACE.key)) {
        (Some(_), None) => fields.read(reading, &PATH).map(Place::Host),
        (None, Some(_)) => {
            let text = fields.read(reading, &WORKSPACE)?;
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
                (&PATH.key, &WORKSPACE.key),
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

pub(super) fn response(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<FieldPath> {
    fields.read(reading, &RESPONSE).map(|it| it.value)
}

pub(super) fn tool_call_count(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<Rule> {
    let response = response(reading, fields);
    Some(Rule::ToolCallCount { expected: fields.read(reading, &N_CALLS)?, response })
}

pub(super) fn file_contains(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<Rule> {
    let place = place(reading, fields);
    let text = fields.read(reading, &TEXT);
    Some(Rule::FileContains { place: place?, text: text? })
}

pub(super) fn status_is(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<Rule> {
    fields.read(reading, &RUN_STATUS).map(Rule::StatusIs)
}

pub(super) fn exit_status(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<Rule> {
    fields.read(reading, &EXIT_STATUS_CODE).map(Rule::ExitStatus)
}

pub(super) fn output_artifact_present(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<Rule> {
    let fields_of_artifacts = [&ARTIFACT_TYPE, &ARTIFACT_ID, &URI];
    let [artifact_type, artifact_id, uri] = fields_of_artifacts.map(|it| fields.read(reading, it));
    if !fields_of_artifacts.iter().any(|it| fields.node(&it.key).is_some() || fields.may_mean(*it)) {
        let message = "`output_artifact_present` needs `artifact_type`, `artifact_id` or `uri`";
        let problem = Problem::new(&codes::MISSING_KEY, message).at(fields.span, "which one?");
        reading.problem(problem.help("for example `artifact_type: openclaw_key_output`"));
        return None;
    }
    let not_identifier = |key: &Key| {
        let node = fields.node(key)?;
        let text = node.as_str().filter(|it| !is_identifier(it))?;
        let shown = shown_within(&Val::from(text), 40);
        let message = format!("no run has an artifact whose `{}` is {shown}", key.name);
        let problem = Problem::new(&codes::WRONG_VALUE, message).at(node.span, "never there");
        Some(problem.help("it has lower-case letters, digits, `_` and `-`, such as `codex_key_output`; a file is checked with `workspace_file_present`"))
    };
    let wrong: Vec<Problem> = [ARTIFACT_TYPE.key, ARTIFACT_ID.key].iter().filter_map(not_identifier).collect();
    wrong.into_iter().for_each(|it| reading.problem(it));
    Some(Rule::OutputArtifactPresent { artifact_type, artifact_id, uri })
}

pub(super) fn workspace_file_present(
    reading: &mut Reading<'_>,
    fields: &Fields<'_, '_>,
    runner: Option<&'static str>,
) -> Option<Rule> {
    let path = fields.read(reading, &RELATIVE_PATH);
    let plain = path.as_ref().map(|it| it.value.replace('\\', "/").trim_start_matches('/').to_owned());
    if let Some((path, plain)) = path.as_ref().zip(plain.as_deref()) {
        refuse_no_file(reading, path, plain);
    }
    reading.problems_of(fields.node(&RELATIVE_PATH.key).and_then(|it| no_path(&RELATIVE_PATH.key.quoted(), it)));
    let exactly = fields.read(reading, &CONTAINS);
    let (all, any) = (fields.read(reading, &CONTAINS_ALL), fields.read(reading, &CONTAINS_ANY));
    for other in [CONTAINS_ALL.key, CONTAINS_ANY.key] {
        if fields.node(&CONTAINS.key).is_some() && fields.node(&other).is_some() {
            let help = "`contains` matches letter by letter, the others without regard to case and accents";
            conflict(reading, fields, (&CONTAINS.key, &other), help);
        }
    }
    let content = match (exactly, all, any) {
        (Some(text), ..) => ContentRule::Exactly(text),
        (None, None, None) => ContentRule::Any,
        (None, all, any) => {
            ContentRule::Folded { all: all.unwrap_or_default(), any: any.filter(|it: &Vec<String>| !it.is_empty()) }
        }
    };
    Some(Rule::WorkspaceFilePresent { relative_path: plain?, content, runner })
}

/// Refuses a path that cannot be that of a file in the workspace: `/`, `out/`, `../x`.
fn refuse_no_file(reading: &mut Reading<'_>, path: &Spanned<String>, plain: &str) {
    let last = plain.rsplit('/').next().unwrap_or_default();
    let (message, label) = match last {
        _ if path.value.is_empty() => ("`relative_path` must not be empty".to_owned(), "empty"),
        _ if plain.split('/').any(|it| it == "..") => {
            let message =
                format!("`relative_path` must be a path inside the workspace, and `{}` leads out of it", path.value);
            (message, "never there")
        }
        "" | "." => (format!("`relative_path` must name a file, and `{}` names none", path.value), "no file"),
        _ => return,
    };
    let problem = Problem::new(&codes::WRONG_VALUE, message).at(path.span, label);
    reading.problem(problem.help("for example `relative_path: report.md`"));
}

/// A comparison that must be there.
fn compared(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<Assertion> {
    comparison::read(reading, fields).as_ref().and_then(TaskComparison::assertion)
}

pub(super) fn final_response(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<Rule> {
    let n_before = reading.n_errors();
    let assertion = compared(reading, fields);
    if assertion.is_none() && reading.n_errors() == n_before {
        missing(reading, fields, "`final_response` needs an `operator`", "for example `operator: contains`");
    }
    assertion.map(Rule::FinalResponse)
}

pub(super) fn file_matches(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<Rule> {
    let n_before = reading.n_errors();
    let place = place(reading, fields);
    let assertion = compared(reading, fields);
    let schema = fields.read(reading, &SCHEMA).and_then(|it| file_schema(reading, &it));
    if assertion.is_none() && schema.is_none() && reading.n_errors() == n_before {
        let message = "`file_matches` needs an `operator` or a `schema`";
        missing(reading, fields, message, "for example `operator: contains` with an `expected_value`");
    }
    Some(Rule::FileMatches { place: place?, assertion, schema })
}

fn file_schema(reading: &mut Reading<'_>, Output { schema, span, .. }: &Output) -> Option<Box<ReplySchema>> {
    match ReplySchema::compile(schema) {
        Ok(schema) => Some(Box::new(schema)),
        Err(reason) => {
            let message = format!("`schema` is not a JSON Schema: {reason}");
            reading.problem(Problem::new(&codes::BAD_SCHEMA, message).at(*span, "here"));
            None
        }
    }
}

fn calls(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> CallPattern {
    CallPattern {
        tools: fields.read(reading, &TOOL).unwrap_or_default(),
        arguments: fields.read(reading, &ARGUMENTS).unwrap_or_default(),
        is_error: fields.read(reading, &STATUS).map(|it| it == CallStatus::Error),
        output: fields.read(reading, &OUTPUT).unwrap_or_default(),
    }
}

pub(super) fn tools(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<Vec<String>> {
    match node.as_list() {
        Some(_) => (shape::STRINGS.read)(reading, what, node),
        None => (shape::STRING.read)(reading, what, node).map(|it| vec![it]),
    }
}

/// Comparisons, or paths with what they equal.
pub(super) fn arguments(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<Vec<Assertion>> {
    match &node.content {
        Content::List(_) => outputs(reading, what, node),
        Content::Map(entries) => {
            let mut assertions = Vec::new();
            for entry in entries {
                let path = Node { span: entry.key_span, content: Content::Scalar(Val::Str(entry.key.clone())) };
                let Some(path) = reading.path(&format!("a path in {what}"), &path) else { continue };
                assertions.extend(TaskComparison::equal(path, &entry.value).and_then(|it| it.assertion()));
            }
            Some(assertions)
        }
        Content::Scalar(_) => {
            reading.wrong_type(what, "comparisons, or paths and the values that they equal", node);
            None
        }
    }
}

/// A comparison, or several.
pub(super) fn outputs(reading: &mut Reading<'_>, _: &str, node: &Node<'_>) -> Option<Vec<Assertion>> {
    let items = node.as_list().unwrap_or(std::slice::from_ref(node));
    Some(items.iter().filter_map(|it| comparison_of(reading, it)).collect())
}

fn comparison_of(reading: &mut Reading<'_>, node: &Node<'_>) -> Option<Assertion> {
    let fields = COMPARED.fields(reading, node)?;
    let n_before = reading.n_errors();
    let assertion = compared(reading, &fields);
    if assertion.is_none() && reading.n_errors() == n_before {
        missing(reading, &fields, "a comparison needs an `operator`", "for example `operator: contains`");
    }
    assertion
}

/// How many matching calls there must be at least, when no number is given.
pub(super) const USUAL_MIN: u64 = 1;

pub(super) fn tool_called(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<Rule> {
    let calls = calls(reading, fields);
    let (min, max) = (fields.read(reading, &MIN_CALLS), fields.read(reading, &MAX_CALLS));
    // Who says only how often at most means that never is fine too.
    let min = min.unwrap_or(if max == Some(0) { 0 } else { USUAL_MIN });
    if let Some(max) = max.filter(|it| *it < min) {
        let message = format!("`max` is {max}, which is less than `min`, {min}");
        let at = fields.key_span(&MAX_CALLS).unwrap_or(fields.span);
        reading
            .problem(Problem::new(&codes::WRONG_VALUE, message).at(at, "never passes").help("`min` is 1 unless said"));
    }
    Some(Rule::ToolCalled { calls, min, max, response: response(reading, fields) })
}

pub(super) fn tool_not_called(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<Rule> {
    Some(Rule::ToolCalled { calls: calls(reading, fields), min: 0, max: Some(0), response: response(reading, fields) })
}

pub(super) fn tool_order(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<Rule> {
    let items = fields.node(&TOOLS).map(|it| reading.list(&TOOLS.quoted(), "a list of tools", it))?;
    let mut patterns = Vec::new();
    for item in items {
        match item.as_str() {
            Some(name) => patterns.push(CallPattern { tools: vec![name.to_owned()], ..CallPattern::default() }),
            None => {
                let Some(call) = CALL.fields(reading, item) else { continue };
                patterns.push(calls(reading, &call));
            }
        }
    }
    let is_exact = fields.value(reading, &EXACT);
    Some(Rule::ToolOrder { calls: patterns, is_exact, response: response(reading, fields) })
}

pub(super) fn tool_result(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<Rule> {
    let all = calls(reading, fields);
    let which = fields.value(reading, &WHICH);
    if all.is_error.is_none()
        && all.output.is_empty()
        && ![STATUS.key, OUTPUT.key].iter().any(|it| fields.node(it).is_some() || fields.may_mean(it))
    {
        let problem = Problem::new(&codes::MISSING_KEY, "`tool_result` needs `status` or `output`");
        reading.problem(problem.at(fields.span, "says nothing of the results").help("for example `status: success`"));
    }
    let result = CallPattern { is_error: all.is_error, output: all.output, ..CallPattern::default() };
    let calls = CallPattern { tools: all.tools, arguments: all.arguments, ..CallPattern::default() };
    Some(Rule::ToolResult { calls, result, which, response: response(reading, fields) })
}

pub(super) fn workspace_unchanged(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<Rule> {
    let written = fields.read(reading, &EXCEPT).unwrap_or_default();
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

pub(super) fn tokens(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<Rule> {
    let TokenCount(of) = fields.value(reading, &OF);
    bounds(reading, fields, Figure::Tokens(of))
}

pub(super) fn bounds(reading: &mut Reading<'_>, fields: &Fields<'_, '_>, figure: Figure) -> Option<Rule> {
    let (min, max) = (fields.read(reading, &MIN), fields.read(reading, &MAX));
    if ![MIN.key, MAX.key].iter().any(|it| fields.node(it).is_some() || fields.may_mean(it)) {
        let problem =
            Problem::new(&codes::MISSING_KEY, "a bound needs `min` or `max`").at(fields.span, "always passes");
        reading.problem(problem.help("for example `max: 0.5`"));
    }
    if let (Some(min), Some(max)) = (min, max)
        && max < min
    {
        let message = format!("`max` is {max}, which is less than `min`, {min}");
        let at = fields.key_span(&MAX).unwrap_or(fields.span);
        reading.problem(Problem::new(&codes::WRONG_VALUE, message).at(at, "never passes"));
    }
    Some(Rule::Within { figure, min, max })
}

pub(super) fn hook(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<Hook> {
    let (path, import) = (fields.read(reading, &HOOK_PATH), fields.read(reading, &HOOK_IMPORT));
    let callable_name = fields.read(reading, &HOOK_CALLABLE);
    if let Some(name) = callable_name.as_ref().filter(|it| it.value.is_empty()) {
        let problem = Problem::new(&codes::WRONG_VALUE, "`callable_name` must not be empty").at(name.span, "empty");
        reading.problem(problem.help("it is the name of a function"));
    }
    let code = match (path, import) {
        (Some(path), None) => HookCode::Path(path),
        (None, Some(module)) => HookCode::Import(module),
        (Some(_), Some(_)) => {
            conflict(reading, fields, (&HOOK_PATH.key, &HOOK_IMPORT.key), "`path` is a file, `import_path` a module");
            return None;
        }
        (None, None) => {
            if fields.node(&HOOK_PATH.key).is_none()
                && fields.node(&HOOK_IMPORT.key).is_none()
                && !fields.may_mean(&HOOK_IMPORT)
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
