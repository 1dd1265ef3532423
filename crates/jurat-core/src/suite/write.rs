//! A definition written down again: what is read back is equal to what was written. A suite whose `records` came from
//! several files has no form in one file, and is written without them.

use std::borrow::Cow;
use std::fmt::Write;

use jurat_compare::{Operator, WhenMissing};
use jurat_format::value::{Map, Spanned, Val, Value};

use super::ask::{Ask, ONLY};
use super::judging::{Judge, MAX_RETRIES, PromptText};
use super::models::{Model, Role};
use super::records::{Records, RowSource};
use super::task::{Gate, Selection, Task, TaskKind};
use super::{
    AgentCaseText, Aggregate, CaseKind, CellType, ExpectedValue, RowFormat, ServerSpec, Suite, TaskComparison,
    evaluators, scenario, tool_filter, tools,
};
use crate::outcome::format as outcome;
use crate::template::Trait;

pub fn yaml(suite: &Suite) -> String {
    yaml_text(&value(suite))
}

/// A value as YAML, for those who make definitions without a file.
///
/// ```
/// use jurat_core::suite::write::yaml_text;
/// use jurat_format::value::parse_json;
///
/// let value = parse_json(r#"{"suite": "support", "tasks": [{"id": "polite", "operator": "is_not_empty"}]}"#)?;
/// assert_eq!(yaml_text(&value.value), "\
/// suite: support
/// tasks:
///   - id: polite
///     operator: is_not_empty
/// ");
/// # Ok::<(), jurat_format::value::JsonError>(())
/// ```
pub fn yaml_text(value: &Val<'_>) -> String {
    let mut out = String::new();
    write_block(&mut out, value, 0);
    out
}

/// The suite as one value, in the short forms.
pub fn value(suite: &Suite) -> Value {
    let mut map = Members::default();
    map.text("suite", suite.name.as_ref().map(|it| &it.value));
    map.text("description", suite.description.as_ref());
    let of_judges = suite.evaluation.as_ref().map(|it| it.own_roles.as_slice()).unwrap_or_default();
    let models: Vec<&Role> = suite.models.iter().filter(|it| !of_judges.contains(&it.name.value)).collect();
    if !models.is_empty() {
        let roles: Map<'static> = models.into_iter().map(|it| (it.name.value.clone(), role(it))).collect();
        map.put("models", Val::Map(roles));
    }
    if !suite.tools.is_empty() {
        let servers: Map<'static> = suite.tools.iter().map(|it| (it.name.value.clone(), server(it))).collect();
        map.put("tools", Val::Map(servers));
    }
    if let [only] = suite.records.as_slice() {
        map.put("records", records(only));
    }
    if let Some(it) = &suite.ask {
        map.put("ask", ask(it));
    }
    map.texts("dimensions", &suite.dimensions);
    map.list("group_by", suite.group_by.iter().map(|it| Val::from(it.value.to_string())));
    let thresholds = suite.thresholds.to_value();
    if !thresholds.is_empty() {
        map.put("thresholds", Val::Map(thresholds));
    }
    if let Some(evaluation) = &suite.evaluation {
        map.put("evaluation", evaluation.to_value());
    }
    if suite.allows_hooks {
        let allowed = [("allow_local_python_hooks", Val::Bool(true))];
        map.put("security_policy", Val::Map(allowed.into_iter().collect()));
    }
    if !suite.templates.is_empty() {
        let templates: Map<'static> =
            suite.templates.iter().map(|(name, it)| (name.value.clone(), it.to_value())).collect();
        map.put("templates", Val::Map(templates));
    }
    if !suite.rubrics.is_empty() {
        let rubric = |traits: &[Trait]| traits.iter().map(Trait::to_value).collect();
        let rubrics: Map<'static> = suite.rubrics.iter().map(|(name, it)| (name.value.clone(), rubric(it))).collect();
        map.put("rubrics", Val::Map(rubrics));
    }
    if !suite.scenarios.is_empty() {
        map.put("scenarios", scenario::value(&suite.scenarios, &suite.tasks));
    }
    if !suite.evaluators.is_empty() {
        let evaluators: Map<'static> =
            suite.evaluators.iter().map(|it| (it.name.value.clone(), evaluators::written(it))).collect();
        map.put("evaluators", Val::Map(evaluators));
    }
    if !suite.agents.is_empty() {
        let agents: Map<'static> = suite.agents.iter().map(|it| (it.name.value.clone(), it.written.clone())).collect();
        map.put("agents", Val::Map(agents));
    }
    map.list("cases", suite.cases.iter().map(|it| agent_case(it, &suite.tasks)));
    // That of the evaluation is made of its section.
    let is_written = |it: &&Task| it.scope.is_none() && !matches!(it.kind, TaskKind::Evaluation { .. });
    map.list("tasks", suite.tasks.iter().filter(is_written).map(task));
    Val::Map(map.0)
}

/// A case with its tasks.
fn agent_case(case: &AgentCaseText, tasks: &[Task]) -> Value {
    let mut members = Members::default();
    members.put("id", Val::from(case.id.value.clone()));
    for (key, value) in case.written.as_map().into_iter().flat_map(Map::iter) {
        if !matches!(key, "id" | "case_id") {
            members.0.insert(Cow::Owned(key.to_owned()), value.clone());
        }
    }
    members.list("tasks", tasks.iter().filter(|it| it.scope.as_ref() == Some(&case.id)).map(task));
    Val::Map(members.0)
}

/// The members of an object being written.
#[derive(Default)]
pub(super) struct Members(pub(super) Map<'static>);

impl Members {
    pub(super) fn put(&mut self, key: &'static str, value: Value) {
        self.0.insert(Cow::Borrowed(key), value);
    }

    pub(super) fn text(&mut self, key: &'static str, text: Option<&String>) {
        if let Some(text) = text {
            self.put(key, Val::from(text.clone()));
        }
    }

    pub(super) fn list(&mut self, key: &'static str, items: impl Iterator<Item = Value>) {
        let items: Vec<Value> = items.collect();
        if !items.is_empty() {
            self.put(key, Val::List(items));
        }
    }

    fn texts(&mut self, key: &'static str, texts: &[Spanned<String>]) {
        self.list(key, texts.iter().map(|it| Val::from(it.value.clone())));
    }
}

fn name_of<T: PartialEq>(named: &[(&'static str, T)], value: &T) -> Value {
    Val::from(named.iter().find(|(_, it)| it == value).map_or("", |(name, _)| *name))
}

fn role(role: &Role) -> Value {
    match role.models.as_slice() {
        [only] => model(only),
        models => models.iter().map(model).collect(),
    }
}

fn model(model: &Model) -> Value {
    let name = Val::from(model.model.value.clone());
    if model.settings.is_empty() {
        return name;
    }
    let settings = model.settings.iter().map(|(key, it)| (*key, it.value.clone()));
    Val::Map([("model", name)].into_iter().chain(settings).collect())
}

fn server(spec: &ServerSpec) -> Value {
    let mut map = Members(tools::written_reach(&spec.reach));
    if spec.timeout != tools::TIMEOUT {
        map.put("timeout", Val::F(spec.timeout.as_secs_f64()));
    }
    if spec.reuse {
        map.put("reuse", Val::Bool(true));
    }
    if spec.per_case {
        map.put("per_case", Val::Bool(true));
    }
    Val::Map(map.0)
}

fn records(records: &Records) -> Value {
    let from = match &records.from {
        RowSource::StandardInput => Val::from("-"),
        RowSource::Files(files) => match files.as_slice() {
            [only] => Val::from(only.written.value.clone()),
            files => files.iter().map(|it| Val::from(it.written.value.clone())).collect(),
        },
        RowSource::Inline(rows) => return rows.iter().map(|it| it.value.clone()).collect(),
    };
    if records.format.is_none()
        && records.id.is_none()
        && records.types.is_empty()
        && records.tags.is_empty()
        && !records.is_runs
    {
        return from;
    }
    let mut map = Members::default();
    map.put("path", from);
    if let Some(format) = &records.format {
        map.put("format", name_of(&RowFormat::NAMED, format));
    }
    map.text("id", records.id.as_ref().map(|it| it.value.to_string()).as_ref());
    if !records.types.is_empty() {
        let types: Map<'static> =
            records.types.iter().map(|(name, it)| (name.value.clone(), name_of(&CellType::NAMED, it))).collect();
        map.put("types", Val::Map(types));
    }
    map.texts("tags", &records.tags);
    if records.is_runs {
        map.put("as", Val::from("runs"));
    }
    Val::Map(map.0)
}

fn ask(ask: &Ask) -> Value {
    let mut map = Members::default();
    match ask.models.as_slice() {
        [only] => map.put("model", Val::from(only.value.clone())),
        models => map.texts("model", models),
    }
    if let Some(system) = &ask.system {
        map.put("system", prompt(system));
    }
    let prompts = ask.prompts.as_slice();
    let is_list = (1..).zip(prompts).all(|(nth, it): (usize, _)| it.name == nth.to_string());
    match prompts {
        [only] if only.name == ONLY => map.put("prompt", prompt(&only.prompt)),
        _ if is_list => map.list("prompts", prompts.iter().map(|it| prompt(&it.prompt))),
        _ => {
            let named: Map<'static> = prompts.iter().map(|it| (it.name.clone(), prompt(&it.prompt))).collect();
            map.put("prompts", Val::Map(named));
        }
    }
    if let Some(output) = &ask.output {
        map.put("output", output.schema.clone());
    }
    map.texts("tools", &ask.tools);
    if let Some(filter) = tool_filter::written(&ask.tool_filter) {
        map.put("tool_filter", filter);
    }
    if ask.max_retries != MAX_RETRIES {
        map.put("max_retries", Val::I(ask.max_retries.into()));
    }
    Val::Map(map.0)
}

pub(super) fn task(task: &Task) -> Value {
    let mut map = Members::default();
    map.text("id", Some(&task.id.value));
    map.text("description", task.description.as_ref());
    map.texts("depends_on", &task.depends_on);
    match task.gate {
        Gate::None => {}
        Gate::Condition => map.put("condition", Val::Bool(true)),
        Gate::Required => map.put("required", Val::Bool(true)),
    }
    match &task.on {
        Selection::All => {}
        Selection::Kind(kind) => map.put("on", name_of(&CaseKind::NAMED, kind)),
        Selection::Ids(ids) => map.put("on", ids.iter().map(|it| Val::from(it.value.clone())).collect()),
        Selection::Tag(tag) => map.put("on", Val::Map([("tag", Val::from(tag.value.clone()))].into_iter().collect())),
    }
    map.texts("tags", &task.tags);
    map.texts("dimensions", &task.dimensions);
    if let TaskKind::Judge(it) = &task.kind {
        map.put("judge", judge(it));
    }
    if let TaskKind::Outcome(it) = &task.kind {
        map.put("outcome", outcome::write(it));
    }
    if let TaskKind::Evaluate(it) = &task.kind {
        map.text("evaluate", Some(&it.evaluator.value));
        if !it.with.is_empty() {
            let with: Map<'static> = it
                .with
                .iter()
                .map(|(name, from)| (name.value.clone(), evaluators::written_origin(&from.value)))
                .collect();
            map.put("with", Val::Map(with));
        }
    }
    if let TaskKind::Check(it) = &task.kind {
        map.put("check", it.written.clone());
    }
    if let Some(comparison) = &task.comparison {
        compared(&mut map, comparison);
    }
    Val::Map(map.0)
}

fn judge(judge: &Judge) -> Value {
    let mut map = Members::default();
    map.text("model", judge.model.as_ref().map(|it| &it.value));
    if let Some(system) = &judge.system {
        map.put("system", prompt(system));
    }
    map.put("prompt", prompt(&judge.prompt));
    if let Some(output) = &judge.output {
        map.put("output", output.schema.clone());
    }
    if judge.max_retries != MAX_RETRIES {
        map.put("max_retries", Val::I(judge.max_retries.into()));
    }
    map.texts("panel", &judge.panel);
    if judge.repeat != 1 {
        map.put("repeat", Val::I(judge.repeat.into()));
    }
    if let Some(aggregate) = &judge.aggregate {
        map.put("aggregate", name_of(&Aggregate::NAMED, aggregate));
    }
    Val::Map(map.0)
}

fn prompt(prompt: &PromptText) -> Value {
    match &prompt.file {
        Some(file) => Val::Map([("file", Val::from(file.clone()))].into_iter().collect()),
        None => Val::from(prompt.prompt.text().to_owned()),
    }
}

fn compared(map: &mut Members, comparison: &TaskComparison) {
    map.text("field_path", comparison.path.as_ref().map(|it| it.value.to_string()).as_ref());
    if comparison.path.is_none() && !comparison.is_path_forgotten {
        map.put("field_path", Val::Null);
    }
    map.text("item_field_path", comparison.item_path.as_ref().map(|it| it.value.to_string()).as_ref());
    map.put("operator", operator(&comparison.operator.value));
    match comparison.expected.as_ref().map(|it| &it.value) {
        None => {}
        Some(ExpectedValue::Literal(value)) => map.put("expected_value", value.clone()),
        Some(ExpectedValue::Path(path)) => map.put("expected_value", Val::from(format!("${{{path}}}"))),
    }
    if comparison.when_missing == WhenMissing::Fail {
        map.put("missing", Val::from("fail"));
    }
}

pub(crate) fn operator(operator: &Operator) -> Value {
    let parameters = operator.parameters();
    if parameters.is_empty() {
        return Val::from(operator.entry().snake_case());
    }
    let given = parameters.into_iter().filter(|(_, value)| *value != Val::Null);
    Val::Map([("type", Val::from(operator.entry().name))].into_iter().chain(given).collect())
}

/// Objects and lists of them as blocks, everything else as JSON, which YAML reads.
fn write_block(out: &mut String, value: &Val<'_>, depth: usize) {
    let indent = "  ".repeat(depth);
    match value {
        Val::Map(map) if !map.is_empty() => {
            for (key, value) in map.iter() {
                let key = scalar(&Val::from(key));
                let _ = if is_long(&key) {
                    write!(out, "{indent}? {key}\n{indent}:")
                } else {
                    write!(out, "{indent}{key}:")
                };
                write_after(out, value, depth);
            }
        }
        Val::List(items) if items.iter().any(|it| matches!(it, Val::Map(map) if !map.is_empty())) => {
            for item in items {
                let _ = write!(out, "{indent}-");
                match item {
                    Val::Map(map) if !map.is_empty() => {
                        let mut inner = String::new();
                        write_block(&mut inner, item, depth + 1);
                        out.push(' ');
                        out.push_str(inner.trim_start());
                    }
                    other => {
                        let _ = writeln!(out, " {}", scalar(other));
                    }
                }
            }
        }
        other => {
            let _ = writeln!(out, "{indent}{}", scalar(other));
        }
    }
}

fn write_after(out: &mut String, value: &Val<'_>, depth: usize) {
    let is_block = match value {
        Val::Map(map) => !map.is_empty(),
        Val::List(items) => items.iter().any(|it| matches!(it, Val::Map(map) if !map.is_empty())),
        _ => false,
    };
    if is_block {
        out.push('\n');
        write_block(out, value, depth + 1);
    } else {
        let _ = writeln!(out, " {}", scalar(value));
    }
}

/// One line of YAML. A word that could only be text stands as it is; all other text is quoted.
fn scalar(value: &Val<'_>) -> String {
    match value {
        Val::Str(text) if is_plain(text) => text.clone().into_owned(),
        Val::Str(text) => quoted(text),
        Val::List(items) => format!("[{}]", items.iter().map(scalar).collect::<Vec<_>>().join(", ")),
        Val::Map(map) => {
            let member = |(key, value): (&str, &Val<'_>)| {
                let key = scalar(&Val::from(key));
                format!("{}{key}: {}", if is_long(&key) { "? " } else { "" }, scalar(value))
            };
            format!("{{{}}}", map.iter().map(member).collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

/// YAML looks for the `:` after a key in the next 1024 characters only, unless `?` announces the key.
fn is_long(key: &str) -> bool {
    key.len() > 1000
}

fn is_plain(text: &str) -> bool {
    let is_word = jurat_format::id::is_id(text);
    is_word
        && !matches!(
            text.to_ascii_lowercase().as_str(),
            "null" | "true" | "false" | "yes" | "no" | "on" | "off" | "y" | "n"
        )
}

/// Double quotes with escapes that YAML and JSON share; what YAML does not print is escaped.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for it in text.chars() {
        let _ = match it {
            '"' => write!(out, "\\\""),
            '\\' => write!(out, "\\\\"),
            '\n' => write!(out, "\\n"),
            '\t' => write!(out, "\\t"),
            '\r' => write!(out, "\\r"),
            _ if it.is_control()
                || matches!(it, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' | '\u{85}') =>
            {
                write!(out, "\\u{:04x}", u32::from(it))
            }
            _ => write!(out, "{it}"),
        };
    }
    out.push('"');
    out
}
