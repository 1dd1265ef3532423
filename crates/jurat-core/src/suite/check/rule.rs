//! What each kind of check takes, read into its rule.

use jurat_compare::Assertion;
use jurat_format::codes;
use jurat_format::problem::Problem;
use jurat_format::reader::{Fields, Reading};
use jurat_format::value::{Content, FieldPath, Node, Spanned, Val, shown_within};

use super::super::comparison::{self, TaskComparison};
use super::super::output::{self, Output};
use super::{CALL, COMPARED};
use crate::artifact::{RunStatus, is_identifier};
use crate::check::{CallPattern, ContentRule, Figure, Glob, Hook, HookCode, Place, Rule, Which};
use crate::judge::ReplySchema;

pub(super) fn some_text(reading: &mut Reading<'_>, fields: &Fields<'_, '_>, name: &str) -> Option<String> {
    fields.given(name).and_then(|it| reading.text(&format!("`{name}`"), it)).map(|it| it.value)
}

pub(super) fn count(reading: &mut Reading<'_>, fields: &Fields<'_, '_>, name: &str) -> Option<u64> {
    let number = fields.given(name).and_then(|it| reading.integer(&format!("`{name}`"), 0, it))?;
    u64::try_from(number).ok()
}

pub(super) fn missing(reading: &mut Reading<'_>, fields: &Fields<'_, '_>, message: &str, help: &str) {
    if ["path", "workspace", "operator", "schema"].iter().any(|it| fields.may_mean(it)) {
        return;
    }
    let problem = Problem::new(&codes::MISSING_KEY, message).at(fields.span, "here");
    reading.problem(problem.help(help));
}

pub(super) fn conflict(reading: &mut Reading<'_>, fields: &Fields<'_, '_>, (first, second): (&str, &str), help: &str) {
    let at = |name: &str| fields.key_span(name).unwrap_or(fields.span);
    let message = format!("a check has either `{first}` or `{second}`, not both");
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
    for name in ["path", "workspace"] {
        if let Some(problem) = fields.given(name).and_then(|it| no_path(&format!("`{name}`"), it)) {
            reading.problem(problem);
            return None;
        }
    }
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

pub(super) fn response(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<FieldPath> {
    fields.given("response_path").and_then(|it| reading.path("`response_path`", it)).map(|it| it.value)
}

pub(super) fn tool_call_count(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<Rule> {
    let response = response(reading, fields);
    if fields.get("expected").is_some() && fields.given("expected").is_none() {
        reading.wrong_type("`expected`", "a whole number of at least 0", fields.get("expected")?);
    }
    Some(Rule::ToolCallCount { expected: count(reading, fields, "expected")?, response })
}

pub(super) fn file_contains(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<Rule> {
    let place = place(reading, fields);
    let text = fields.get("text").and_then(|it| reading.text("`text`", it)).map(|it| it.value);
    Some(Rule::FileContains { place: place?, text: text? })
}

pub(super) fn status_is(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<Rule> {
    let status = fields.get("expected").and_then(|it| reading.choice("`expected`", &RunStatus::NAMED, it))?;
    Some(Rule::StatusIs(status))
}

pub(super) fn exit_status(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<Rule> {
    fields.get("expected").and_then(|it| reading.integer("`expected`", i64::MIN, it)).map(Rule::ExitStatus)
}

pub(super) fn output_artifact_present(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<Rule> {
    let names = ["artifact_type", "artifact_id", "uri"];
    let [artifact_type, artifact_id, uri] = names.map(|it| some_text(reading, fields, it));
    if !names.iter().any(|it| fields.given(it).is_some() || fields.may_mean(it)) {
        let message = "`output_artifact_present` needs `artifact_type`, `artifact_id` or `uri`";
        let problem = Problem::new(&codes::MISSING_KEY, message).at(fields.span, "which one?");
        reading.problem(problem.help("for example `artifact_type: openclaw_key_output`"));
        return None;
    }
    let not_identifier = |name: &str| {
        let node = fields.given(name)?;
        let text = node.as_str().filter(|it| !is_identifier(it))?;
        let shown = shown_within(&Val::from(text), 40);
        let message = format!("no run has an artifact whose `{name}` is {shown}");
        let problem = Problem::new(&codes::WRONG_VALUE, message).at(node.span, "never there");
        Some(problem.help("it has lower-case letters, digits, `_` and `-`, such as `codex_key_output`; a file is checked with `workspace_file_present`"))
    };
    let wrong: Vec<Problem> = ["artifact_type", "artifact_id"].into_iter().filter_map(not_identifier).collect();
    wrong.into_iter().for_each(|it| reading.problem(it));
    Some(Rule::OutputArtifactPresent { artifact_type, artifact_id, uri })
}

pub(super) fn workspace_file_present(
    reading: &mut Reading<'_>,
    fields: &Fields<'_, '_>,
    runner: Option<&'static str>,
) -> Option<Rule> {
    let path = fields.get("relative_path").and_then(|it| reading.text("`relative_path`", it));
    let plain = path.as_ref().map(|it| it.value.replace('\\', "/").trim_start_matches('/').to_owned());
    if let Some((path, plain)) = path.as_ref().zip(plain.as_deref()) {
        refuse_no_file(reading, path, plain);
    }
    reading.problems_of(fields.get("relative_path").and_then(|it| no_path("`relative_path`", it)));
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

pub(super) fn texts(reading: &mut Reading<'_>, name: &str, node: &Node<'_>) -> Vec<String> {
    reading.texts(&format!("`{name}`"), node).into_iter().map(|it| it.value).collect()
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

pub(super) fn tool_called(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<Rule> {
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

pub(super) fn tool_not_called(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<Rule> {
    Some(Rule::ToolCalled { calls: calls(reading, fields), min: 0, max: Some(0), response: response(reading, fields) })
}

pub(super) fn tool_order(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<Rule> {
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

pub(super) fn tool_result(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<Rule> {
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

pub(super) fn workspace_unchanged(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<Rule> {
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

pub(super) fn tokens(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<Rule> {
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

pub(super) fn bounds(reading: &mut Reading<'_>, fields: &Fields<'_, '_>, figure: Figure) -> Option<Rule> {
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

pub(super) fn hook(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<Hook> {
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
