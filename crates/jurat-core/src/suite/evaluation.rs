//! `evaluation`: judges that score runs of agents, and what is expected of a case.
//!
//! ```yaml
//! evaluation:
//!   judges:
//!     - { judge_id: careful, model: judge }
//!   judge_runs:
//!     - { judge_run_id: first, judge_id: careful, repetitions: 3 }
//!   aggregation: { method: median, pass_threshold: 0.7 }
//! ```
//!
//! It becomes one task, which waits for every deterministic check of its case.

use super::form::{Form, Key, Keys};
use super::judging::MAX_RETRIES;
use super::models::{Model, Role, is_provider_and_model};
use super::problem::{Problem, listed_all};
use super::reader::{Fields, Reading};
use super::task::{KEYS_OF_OUTCOMES, read_id, read_ids};
use super::{CaseKind, Gate, Selection, Suite, Task, TaskKind, codes};
use crate::evaluation::{
    Anchor, Criterion, Expectation, Expectations, Limits, Method, OnFailedCheck, Rubric, SYSTEM, Scale,
};
use crate::value::{Map, Node, Span, Spanned, Val, Value};

/// An evaluation as it was written.
#[derive(Debug, Clone)]
pub struct EvaluationText {
    /// The id of its task.
    pub id: Spanned<String>,
    /// What it is for.
    pub description: Option<String>,
    /// Who is asked, and how often: roles, or `provider/model`. Empty for the role `judge`, once.
    pub runs: Vec<JudgeRun>,
    /// What judges are told to be.
    pub system: String,
    /// What they score; all dimensions when empty.
    pub dimensions: Vec<Spanned<String>>,
    /// How several replies become one.
    pub method: Method,
    /// The least share of the scale that passes.
    pub pass_threshold: Option<f64>,
    /// What a failed check does.
    pub on_failed_check: OnFailedCheck,
    /// Examples of what scores mean.
    pub anchors: Vec<Anchor>,
    /// How much of the evidence is shown.
    pub limits: Limits,
    /// What is expected of cases that do not say it themselves.
    pub expectations: Expectations,
    /// What scores mean in cases that do not say it themselves.
    pub rubric: Option<Rubric>,
    /// The tasks whose gates it obeys, beside the checks that it waits for anyway.
    pub depends_on: Vec<Spanned<String>>,
    /// How many more requests one judgement may take.
    pub max_retries: u32,
    /// Where it stands.
    pub span: Span,
    /// Whether errors were found in it.
    pub is_flawed: bool,
    /// Roles that judges of it brought along.
    pub(super) own_roles: Vec<String>,
    written: Value,
}

/// A judge that is asked, and how often.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgeRun {
    /// The judge's name.
    pub judge: String,
    /// Who is asked.
    pub model: Spanned<String>,
    /// How often.
    pub repetitions: u32,
}

/// Two are equal when they are written alike.
impl PartialEq for EvaluationText {
    fn eq(&self, other: &Self) -> bool {
        self.written == other.written
    }
}

impl EvaluationText {
    /// As it was written.
    pub(super) fn to_value(&self) -> Value {
        self.written.clone()
    }
}

/// The id of the task, unless its author names it.
const ID: &str = "evaluation";

static JUDGE: Keys = Keys {
    what: "a judge of an evaluation",
    keys: &[
        Key::required("judge_id", Form::Text, "its name"),
        Key::optional("type", Form::Text, "what it is: `llm`, or `llm_probe`"),
        Key::optional(
            "model",
            Form::Text,
            "a role under `models`, or `provider/model`; the role of its own name unless said",
        )
        .or(&["judge_model", "model_id"]),
        Key::optional(
            "request_options",
            Form::Map(&Form::Any),
            "settings of a `provider/model`: `temperature`, `max_tokens` and others as the provider has them",
        ),
    ],
};

static JUDGE_RUN: Keys = Keys {
    what: "a run of a judge",
    keys: &[
        Key::optional("judge_run_id", Form::Text, "its name"),
        Key::required("judge_id", Form::Text, "one of `judges`"),
        Key::optional("repetitions", Form::Integer(1), "how often it is asked; once unless said"),
        Key::optional("sample_size", Form::Integer(1), "not used: every case is judged"),
    ],
};

static AGGREGATION: Keys = Keys {
    what: "`aggregation`",
    keys: &[
        Key::optional(
            "method",
            Form::Choice(&["median", "mean", "majority_vote", "all_pass"]),
            "how several replies become one; `median` unless said",
        ),
        Key::optional(
            "pass_threshold",
            Form::Number(0.0, 1.0),
            "the least share of the scale that passes; without it the evaluation measures",
        ),
    ],
};

static REFERENCE: Keys = Keys {
    what: "an anchor",
    keys: &[
        Key::optional("anchor_id", Form::Text, "its name"),
        Key::optional("label", Form::Text, "what it stands for, such as `a 3`"),
        Key::required("text", Form::Text, "the example"),
    ],
};

static ANCHORS: Keys = Keys {
    what: "`anchors`",
    keys: &[
        Key::optional("enabled", Form::Boolean, "whether judges see them; they do unless said"),
        Key::optional("references", Form::List(&Form::Object(&REFERENCE)), "examples of what scores mean"),
    ],
};

static CAP: Keys = Keys {
    what: "a cap",
    keys: &[Key::required("cap", Form::Number(f64::NEG_INFINITY, f64::INFINITY), "the highest score that is left")],
};

static POLICY: Keys = Keys {
    what: "`policy`",
    keys: &[Key::optional(
        "on_failed_check",
        Form::Either(&[Form::Choice(&["none", "fail"]), Form::Object(&CAP)]),
        "what a failed check does to its dimensions: nothing, `{cap: 4}`, or `fail`; nothing unless said",
    )],
};

static LIMITS: Keys = Keys {
    what: "`limits` of an evaluation",
    keys: &[
        Key::optional("text", Form::Integer(100), "characters of one text of the evidence; 8000 unless said"),
        Key::optional("whole", Form::Integer(100), "characters of all events, and of all files; 120000 unless said"),
    ],
};

static SECURITY: Keys = Keys {
    what: "`security_policy`",
    keys: &[
        Key::optional("allow_local_python_hooks", Form::Boolean, "whether hooks may run the author's Python"),
        Key::optional("network_access", Form::Text, "not used: agents say it, with `network`"),
        Key::optional("redact_secrets", Form::Boolean, "not used: values of variables are kept nowhere"),
    ],
};

static EXPECTATION: Keys = Keys {
    what: "an expectation",
    keys: &[
        Key::required("text", Form::Text, "what is expected"),
        Key::optional("weight", Form::Number(0.0, f64::INFINITY), "how much it matters beside others; 1 unless said"),
        Key::METADATA,
    ],
};

const EXPECTED: Form = Form::List(&Form::Either(&[Form::Text, Form::Object(&EXPECTATION)]));

static EXPECTATIONS: Keys = Keys {
    what: "`expectations`",
    keys: &[
        Key::optional("hard_expectations", EXPECTED, "what must be met").or(&["hard"]),
        Key::optional("soft_expectations", EXPECTED, "what should be met").or(&["soft"]),
    ],
};

static SCALE: Keys = Keys {
    what: "`scale`",
    keys: &[
        Key::optional("min", Form::Number(f64::NEG_INFINITY, f64::INFINITY), "the worst score; 0 unless said"),
        Key::optional("max", Form::Number(f64::NEG_INFINITY, f64::INFINITY), "the best score; 10 unless said"),
        Key::optional("anchors", Form::Map(&Form::Text), "what some of the scores mean"),
    ],
};

static CRITERION: Keys = Keys {
    what: "a criterion",
    keys: &[
        Key::required("name", Form::Text, "what is looked at"),
        Key::required("what_good_looks_like", Form::Text, "what good looks like"),
        Key::required("what_bad_looks_like", Form::Text, "what bad looks like"),
    ],
};

static RUBRIC: Keys = Keys {
    what: "the rubric of a case",
    keys: &[
        Key::optional("version", Form::Any, "which version of it this is"),
        Key::optional("scale", Form::Object(&SCALE), "what scores are between; 0 and 10 unless said"),
        Key::optional("criteria", Form::List(&Form::Object(&CRITERION)), "what is looked at"),
        Key::optional("scoring_instructions", Form::Text, "how scores are given"),
    ],
};

pub(super) const EXPECTATIONS_FORM: Form = Form::Object(&EXPECTATIONS);
pub(super) const RUBRIC_FORM: Form = Form::Object(&RUBRIC);

static EVALUATION: Keys = Keys {
    what: "`evaluation`",
    keys: &[
        Key::optional("id", Form::Id, "the id of its task; `evaluation` unless said"),
        Key::DESCRIPTION.or(&["title"]),
        Key::optional(
            "judges",
            Form::List(&Form::Either(&[Form::Text, Form::Object(&JUDGE)])),
            "who judges: roles, or judges with names; the role `judge` unless said",
        ),
        Key::optional(
            "judge_runs",
            Form::List(&Form::Object(&JUDGE_RUN)),
            "which of them are asked, and how often; each once unless said",
        ),
        Key::optional("aggregation", Form::Object(&AGGREGATION), "how several replies become one, and what passes"),
        Key::optional("policy", Form::Object(&POLICY), "what failed checks do to scores; nothing unless said"),
        Key::optional("dimensions", Form::List(&Form::Text), "what is scored; all dimensions unless said"),
        Key::optional("judge_system_prompt", Form::Text, "what judges are told to be"),
        Key::optional("judge_system_prompt_path", Form::Text, "the file that says it"),
        Key::optional("anchors", Form::Object(&ANCHORS), "examples of what scores mean"),
        Key::optional("expectations", EXPECTATIONS_FORM, "what is expected of cases that do not say it themselves"),
        Key::optional("rubric", RUBRIC_FORM, "what scores mean in cases that do not say it themselves"),
        Key::optional("limits", Form::Object(&LIMITS), "how much of the evidence judges see"),
        Key::optional("max_retries", Form::Integer(0), "how many more requests one judgement may take; 3 unless said"),
        KEYS_OF_OUTCOMES[0],
        Key::optional("security_policy", Form::Object(&SECURITY), "what code may run"),
        Key::optional("schema_version", Form::Integer(1), "the version of the form, which is 1"),
        Key::optional("evaluation_profile_id", Form::Text, "what the profile is called"),
        Key::METADATA,
    ],
};

pub(super) const FORM: Form = Form::Object(&EVALUATION);

/// Reads the section.
pub(super) fn read(reading: &mut Reading<'_>, suite: &mut Suite, node: &Node<'_>, key_span: Span, is_main: bool) {
    let n_before = reading.n_errors();
    let Some(fields) = Fields::read(reading, &EVALUATION, node) else {
        suite.lost.tasks = true;
        return;
    };
    if let Some(first) = &suite.evaluation {
        let problem = Problem::new(&codes::CONFLICT, "a suite has one `evaluation`").at(key_span, "again here");
        let problem = problem.at(first.span, "first here");
        reading.problem(problem.help("keep one of them; several judges stand in one"));
        return;
    }
    let id = fields.get("id").map(|it| read_id(reading, "`id`", it));
    let id = id.unwrap_or_else(|| Some(Spanned::new(ID.to_owned(), key_span)));
    let description = text(reading, &fields, "description");
    let n_roles = suite.models.len();
    let runs = runs(reading, suite, &fields);
    let own_roles = suite.models[n_roles..].iter().map(|it| it.name.value.clone()).collect();
    let system = system(reading, &fields);
    let (method, pass_threshold) = aggregation(reading, &fields, runs.iter().map(|it| it.repetitions).sum());
    let on_failed_check = policy(reading, &fields);
    let dimensions = fields.given("dimensions").map(|it| reading.texts("`dimensions`", it)).unwrap_or_default();
    let anchors = anchors(reading, &fields);
    let expectations = fields.given("expectations").and_then(|it| expectations(reading, it)).unwrap_or_default();
    let rubric = fields.given("rubric").and_then(|it| rubric(reading, it));
    let limits = limits(reading, &fields);
    let max_retries = fields.given("max_retries").and_then(|it| reading.count("`max_retries`", 0, it));
    let depends_on = fields.given("depends_on").map(|it| read_ids(reading, it)).unwrap_or_default();
    security(reading, suite, &fields, is_main);
    let Some(id) = id else {
        suite.lost.tasks = true;
        return;
    };
    suite.evaluation = Some(Box::new(EvaluationText {
        id,
        description,
        runs,
        system,
        dimensions,
        method,
        pass_threshold,
        on_failed_check,
        anchors,
        limits,
        expectations,
        rubric,
        depends_on,
        max_retries: max_retries.unwrap_or(MAX_RETRIES),
        span: key_span,
        is_flawed: reading.n_errors() > n_before,
        own_roles,
        written: node.to_val().into_owned(),
    }));
}

/// Makes a task of the evaluation, once everything is read.
pub(super) fn join(suite: &mut Suite) {
    let Some(evaluation) = &suite.evaluation else { return };
    let has_runs = suite.records.iter().any(|it| it.is_runs);
    let has_others = !suite.scenarios.is_empty() || suite.records.iter().any(|it| !it.is_runs);
    let on = match (suite.cases.is_empty(), has_runs) {
        (true, true) => Selection::Kind(CaseKind::Records),
        // What is all there is needs no `on` in tasks that look at it.
        (false, _) if !has_others => Selection::All,
        _ => Selection::Kind(CaseKind::Cases),
    };
    suite.tasks.push(Task {
        id: evaluation.id.clone(),
        description: evaluation.description.clone(),
        kind: TaskKind::Evaluation {
            decides: evaluation.pass_threshold.is_some() || evaluation.on_failed_check == OnFailedCheck::Fail,
        },
        comparison: None,
        depends_on: evaluation.depends_on.clone(),
        gate: Gate::None,
        on,
        scope: None,
        tags: Vec::new(),
        dimensions: evaluation.dimensions.clone(),
        span: evaluation.span,
        is_flawed: evaluation.is_flawed,
    });
}

fn text(reading: &mut Reading<'_>, fields: &Fields<'_, '_>, name: &str) -> Option<String> {
    fields.given(name).and_then(|it| reading.text(&format!("`{name}`"), it)).map(|it| it.value)
}

/// The judges that are asked. Each that brings settings of its own becomes a role of its name.
fn runs(reading: &mut Reading<'_>, suite: &mut Suite, fields: &Fields<'_, '_>) -> Vec<JudgeRun> {
    let mut judges: Vec<(Spanned<String>, Spanned<String>)> = Vec::new();
    if let Some(node) = fields.given("judges") {
        for item in reading.list("`judges`", "a list of judges", node) {
            let Some((id, model)) = judge(reading, suite, item) else { continue };
            if let Some((first, _)) = judges.iter().find(|(it, _)| it.value == id.value) {
                let problem = Problem::new(&codes::DUPLICATE_ID, format!("two judges are called `{}`", id.value));
                let problem = problem.at(id.span, "again here").at(first.span, "first here");
                reading.problem(problem.help("give one of them another `judge_id`, or use `repetitions`"));
                continue;
            }
            judges.push((id, model));
        }
    }
    let Some(node) = fields.given("judge_runs") else {
        let once = |(id, model): (Spanned<String>, _)| JudgeRun { judge: id.value, model, repetitions: 1 };
        return judges.into_iter().map(once).collect();
    };
    let mut runs: Vec<JudgeRun> = Vec::new();
    for item in reading.list("`judge_runs`", "a list of runs of judges", node) {
        let Some(fields) = Fields::read(reading, &JUDGE_RUN, item) else { continue };
        let repetitions = fields.given("repetitions").and_then(|it| reading.count("`repetitions`", 1, it));
        if let Some(span) = fields.key_span("sample_size").filter(|_| fields.given("sample_size").is_some()) {
            let problem = Problem::new(&codes::UNUSED_SETTING, "`sample_size` is not used: every case is judged");
            reading.problem(problem.at(span, "not used").help("`--limit` and `--tag` select cases"));
        }
        let Some(id) = fields.get("judge_id").and_then(|it| reading.text("`judge_id`", it)) else { continue };
        match judges.iter().find(|(it, _)| it.value == id.value) {
            Some((_, model)) => {
                // Several runs of one judge go on counting, so that each of them is a question of its own.
                runs.push(JudgeRun { judge: id.value, model: model.clone(), repetitions: repetitions.unwrap_or(1) });
            }
            None => {
                let message = format!("there is no judge `{}`", id.value);
                let problem = Problem::new(&codes::WRONG_VALUE, message).at(id.span, "unknown judge");
                let names = || judges.iter().map(|(it, _)| it.value.as_str());
                let problem = problem.did_you_mean(&id.value, names());
                reading.problem(match judges.is_empty() {
                    true => problem.help("`judges` has none"),
                    false => problem.help(format!("`judges` has {}", listed_all(names()))),
                });
            }
        }
    }
    runs
}

/// A judge: its name, and who is asked.
fn judge(reading: &mut Reading<'_>, suite: &mut Suite, node: &Node<'_>) -> Option<(Spanned<String>, Spanned<String>)> {
    if node.entries().is_none() {
        let role = reading.text("a judge", node)?;
        return Some((role.clone(), role));
    }
    let fields = Fields::read(reading, &JUDGE, node)?;
    let id = fields.get("judge_id").and_then(|it| reading.text("`judge_id`", it));
    let model = fields.given("model").and_then(|it| reading.text("`model`", it));
    let kind = fields.given("type").and_then(|it| reading.text("`type`", it));
    if let Some(kind) = kind.filter(|it| !KINDS.contains(&it.value.as_str())) {
        let message = format!("a judge of the type `{}` cannot be asked", kind.value);
        let problem = Problem::new(&codes::NOT_SUPPORTED, message).at(kind.span, "unknown type");
        reading.problem(problem.help("judges are models: drop `type`, or write `llm`"));
    }
    let id = id?;
    let model = model.unwrap_or_else(|| id.clone());
    let options = fields.given("request_options").filter(|it| it.entries().is_none_or(|it| !it.is_empty()));
    let Some(options) = options else { return Some((id, model)) };
    let Some(entries) = options.entries() else {
        reading.wrong_type("`request_options`", "an object", options);
        return None;
    };
    if !is_provider_and_model(&model.value) {
        let message = format!("`request_options` are for a `provider/model`, and `{}` is a role", model.value);
        let problem = Problem::new(&codes::CONFLICT, message).at(options.span, "whose?");
        reading.problem(problem.help(format!("put them into `models: {{ {}: {{ … }} }}`", model.value)));
        return None;
    }
    let mut settings: Vec<(&'static str, Value)> = Vec::new();
    let mut extra: Map<'static> = Map::default();
    for entry in entries {
        if RESERVED.contains(&&*entry.key) {
            let message = format!("`{}` is not for `request_options`: jurat says it", entry.key);
            reading.problem(Problem::new(&codes::WRONG_VALUE, message).at(entry.key_span, "drop it"));
            continue;
        }
        let value = entry.value.to_val().into_owned();
        match SETTINGS.iter().find(|it| **it == &*entry.key) {
            Some(name) => settings.push((name, value)),
            None => {
                extra.insert(entry.key.clone().into_owned().into(), value);
            }
        }
    }
    if !extra.is_empty() {
        settings.push(("extra", Val::Map(extra)));
    }
    if let Some(earlier) = suite.models.iter().find(|it| it.name.value == id.value) {
        let message = format!("the judge `{}` has settings of its own, and so has the role", id.value);
        let problem = Problem::new(&codes::CONFLICT, message).at(id.span, "this judge").at(earlier.name.span, "a role");
        reading.problem(problem.help("rename one of them"));
        return None;
    }
    suite.models.push(Role { name: id.clone(), models: vec![Model { model, settings }] });
    Some((id.clone(), id))
}

/// What judges may call themselves.
const KINDS: [&str; 4] = ["llm", "llm_probe", "llm_judge", "model"];
/// Settings of models that have names of their own.
const SETTINGS: [&str; 6] = ["temperature", "top_p", "max_tokens", "seed", "base_url", "api_key_env"];
/// Members of requests that are not the author's.
const RESERVED: [&str; 5] = ["model", "messages", "stream", "tools", "response_format"];

/// What judges are told to be. Lines of a text in the definition, or in a file that is no Markdown, are one paragraph.
fn system(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> String {
    let inline = text(reading, fields, "judge_system_prompt").map(|it| joined(&it)).filter(|it| !it.is_empty());
    let path = fields.given("judge_system_prompt_path");
    let path =
        path.and_then(|it| reading.text("`judge_system_prompt_path`", it)).filter(|it| !it.value.trim().is_empty());
    match (inline, path) {
        (Some(_), Some(path)) => {
            let message = "`judge_system_prompt` and `judge_system_prompt_path` say the same";
            let problem = Problem::new(&codes::CONFLICT, message).at(path.span, "and this");
            let at = fields.key_span("judge_system_prompt").unwrap_or(fields.span);
            reading.problem(problem.at(at, "this").help("keep one of them"));
            SYSTEM.to_owned()
        }
        (Some(inline), None) => inline,
        (None, Some(path)) => {
            let file = reading.beside(path.span, &path.value);
            let Some(text) = super::load::read_text(reading, &file, Some(path.span)) else { return SYSTEM.to_owned() };
            reading.sources.add(&file, text.clone());
            let is_markdown = file.extension().is_some_and(|it| it.eq_ignore_ascii_case("md"));
            let text = if is_markdown { text.replace("\r\n", "\n").trim().to_owned() } else { joined(&text) };
            if text.is_empty() {
                let problem = Problem::new(&codes::WRONG_VALUE, "the system prompt of judges is empty");
                reading.problem(problem.at(path.span, "this file").help("drop the key, and jurat's own is used"));
            }
            text
        }
        (None, None) => SYSTEM.to_owned(),
    }
}

fn joined(text: &str) -> String {
    text.lines().map(str::trim).filter(|it| !it.is_empty()).collect::<Vec<_>>().join(" ")
}

fn aggregation(reading: &mut Reading<'_>, fields: &Fields<'_, '_>, n_replies: u32) -> (Method, Option<f64>) {
    let Some(node) = fields.given("aggregation") else { return (Method::default(), None) };
    let Some(inner) = Fields::read(reading, &AGGREGATION, node) else { return (Method::default(), None) };
    let method = inner.given("method").and_then(|it| reading.choice("`method`", &Method::NAMED, it));
    let threshold = inner.given("pass_threshold");
    let least = threshold.and_then(|it| reading.number("`pass_threshold`", (0.0, 1.0), it));
    let method = method.unwrap_or_default();
    let at = inner.key_span("method").unwrap_or(inner.span);
    if matches!(method, Method::MajorityVote | Method::AllPass) && threshold.is_none() {
        let message = format!("`{}` counts replies that pass, and nothing says when one does", method.name());
        let problem = Problem::new(&codes::MISSING_KEY, message).at(at, "needs a `pass_threshold`");
        reading.problem(problem.help("for example `pass_threshold: 0.7`, which is 7 of 10"));
    }
    if method == Method::MajorityVote && n_replies > 0 && n_replies.is_multiple_of(2) {
        let message = format!("{n_replies} replies may be divided, and `majority_vote` cannot tell then");
        let problem = Problem::new(&codes::UNUSED_SETTING, message).at(at, "an even number of votes");
        reading.problem(problem.help("ask an odd number of times"));
    }
    (method, least)
}

fn policy(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> OnFailedCheck {
    let inner = fields.given("policy").and_then(|it| Fields::read(reading, &POLICY, it));
    let Some(node) = inner.as_ref().and_then(|it| it.given("on_failed_check")) else { return OnFailedCheck::Nothing };
    if node.entries().is_some() {
        let cap = Fields::read(reading, &CAP, node);
        let any = (f64::NEG_INFINITY, f64::INFINITY);
        let most = cap.as_ref().and_then(|it| it.get("cap")).and_then(|it| reading.number("`cap`", any, it));
        return most.map_or(OnFailedCheck::Nothing, OnFailedCheck::Cap);
    }
    let named = [("none", OnFailedCheck::Nothing), ("fail", OnFailedCheck::Fail)];
    reading.choice("`on_failed_check`", &named, node).unwrap_or_default()
}

fn anchors(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Vec<Anchor> {
    let Some(inner) = fields.given("anchors").and_then(|it| Fields::read(reading, &ANCHORS, it)) else {
        return Vec::new();
    };
    let is_on = inner.given("enabled").and_then(|it| reading.boolean("`enabled`", it)).unwrap_or(true);
    let items = inner.given("references").map(|it| reading.list("`references`", "a list of anchors", it));
    let mut anchors = Vec::new();
    for item in items.unwrap_or_default() {
        let Some(fields) = Fields::read(reading, &REFERENCE, item) else { continue };
        let label = text(reading, &fields, "label").or_else(|| text(reading, &fields, "anchor_id"));
        let Some(text) = text(reading, &fields, "text") else { continue };
        anchors.push(Anchor { label: label.unwrap_or_else(|| "example".to_owned()), text });
    }
    if is_on { anchors } else { Vec::new() }
}

fn limits(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Limits {
    let mut limits = Limits::default();
    let Some(inner) = fields.given("limits").and_then(|it| Fields::read(reading, &LIMITS, it)) else { return limits };
    let mut count = |name: &str, default: usize| {
        let count = inner.given(name).and_then(|it| reading.count(&format!("`{name}`"), 100, it));
        count.map_or(default, |it| it as usize)
    };
    limits.text = count("text", limits.text);
    limits.whole = count("whole", limits.whole);
    limits
}

/// What the profile says about code, and what of it means nothing here.
fn security(reading: &mut Reading<'_>, suite: &mut Suite, fields: &Fields<'_, '_>, is_main: bool) {
    let Some(inner) = fields.given("security_policy").and_then(|it| Fields::read(reading, &SECURITY, it)) else {
        return;
    };
    let allows = inner.given("allow_local_python_hooks");
    let allows = allows.and_then(|it| reading.boolean("`allow_local_python_hooks`", it)).unwrap_or(false);
    // A library that is included must not allow what the suite does not.
    suite.allows_hooks |= allows && is_main;
    let unused = [
        ("network_access", "what an agent sees of the network is said by `network` of the agent or the case"),
        ("redact_secrets", "values of variables that are passed to agents and providers are kept nowhere"),
    ];
    for (name, instead) in unused {
        if let Some(span) = inner.key_span(name).filter(|_| inner.given(name).is_some()) {
            let problem = Problem::new(&codes::UNUSED_SETTING, format!("`{name}` changes nothing"));
            reading.problem(problem.at(span, "not used").help(instead));
        }
    }
}

/// Reads what is expected of a case.
pub(super) fn expectations(reading: &mut Reading<'_>, node: &Node<'_>) -> Option<Expectations> {
    let fields = Fields::read(reading, &EXPECTATIONS, node)?;
    let mut of = |name: &str| {
        let items = fields.given(name).map(|it| reading.list(&format!("`{name}`"), "a list of expectations", it));
        items.unwrap_or_default().iter().filter_map(|it| expectation(reading, it)).collect()
    };
    Some(Expectations { hard: of("hard_expectations"), soft: of("soft_expectations") })
}

fn expectation(reading: &mut Reading<'_>, node: &Node<'_>) -> Option<Expectation> {
    let metadata = || Val::Map(Map::default());
    if node.entries().is_none() {
        let text = reading.text("an expectation", node)?.value;
        return Some(Expectation { text, weight: 1.0, metadata: metadata() });
    }
    let fields = Fields::read(reading, &EXPECTATION, node)?;
    let weight = fields.given("weight").and_then(|it| reading.number("`weight`", (0.0, f64::INFINITY), it));
    let kept = fields.given("metadata").map(|it| it.to_val().into_owned());
    let text = fields.get("text").and_then(|it| reading.text("`text`", it))?.value;
    Some(Expectation { text, weight: weight.unwrap_or(1.0), metadata: kept.unwrap_or_else(metadata) })
}

/// Reads what scores mean in a case.
pub(super) fn rubric(reading: &mut Reading<'_>, node: &Node<'_>) -> Option<Rubric> {
    let fields = Fields::read(reading, &RUBRIC, node)?;
    let version = fields.given("version").map(|it| it.to_val().into_owned());
    let scale = fields.given("scale").and_then(|it| scale(reading, it)).unwrap_or_default();
    let items = fields.given("criteria").map(|it| reading.list("`criteria`", "a list of criteria", it));
    let mut criteria = Vec::new();
    for item in items.unwrap_or_default() {
        let Some(fields) = Fields::read(reading, &CRITERION, item) else { continue };
        let mut words = |name: &str| {
            let text = fields.get(name).and_then(|it| reading.text(&format!("`{name}`"), it))?;
            if text.value.trim().is_empty() {
                let problem = Problem::new(&codes::WRONG_VALUE, format!("`{name}` must not be empty"));
                reading.problem(problem.at(text.span, "empty"));
            }
            Some(text.value)
        };
        let (name, good, bad) = (words("name"), words("what_good_looks_like"), words("what_bad_looks_like"));
        if let (Some(name), Some(good), Some(bad)) = (name, good, bad) {
            criteria.push(Criterion { name, good, bad });
        }
    }
    let scoring_instructions = text(reading, &fields, "scoring_instructions");
    Some(Rubric { version, scale, criteria, scoring_instructions })
}

fn scale(reading: &mut Reading<'_>, node: &Node<'_>) -> Option<Scale> {
    let fields = Fields::read(reading, &SCALE, node)?;
    let default = Scale::default();
    let mut end = |name: &str, default: f64| {
        let any = (f64::NEG_INFINITY, f64::INFINITY);
        fields.given(name).and_then(|it| reading.number(&format!("`{name}`"), any, it)).unwrap_or(default)
    };
    let (min, max) = (end("min", default.min), end("max", default.max));
    if max <= min || !(max - min).is_finite() {
        let problem = Problem::new(&codes::WRONG_VALUE, format!("a scale from {min} to {max} has no scores"));
        let at = fields.key_span("max").unwrap_or(fields.span);
        reading.problem(problem.at(at, "must be more than `min`"));
        return None;
    }
    let mut anchors = Vec::new();
    if let Some(node) = fields.given("anchors") {
        let Some(entries) = node.entries() else {
            reading.wrong_type("`anchors` of a scale", "an object of scores and what they mean", node);
            return None;
        };
        for entry in entries {
            if let Some(text) = reading.text(&format!("the anchor of `{}`", entry.key), &entry.value) {
                anchors.push((entry.key.clone().into_owned(), text.value));
            }
        }
    }
    Some(Scale { min, max, anchors })
}
