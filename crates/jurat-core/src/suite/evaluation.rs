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

mod judges;
mod wanted;

use jurat_format::codes;
use jurat_format::form::{Form, Key, Keys};
use jurat_format::problem::Problem;
use jurat_format::reader::{Fields, Reading};
use jurat_format::value::{Node, Span, Spanned, Value};

use super::judging::MAX_RETRIES;
use super::task::{KEYS_OF_OUTCOMES, read_id, read_ids};
use super::{CaseKind, Gate, Selection, Suite, Task, TaskKind};
use crate::evaluation::{Anchor, Expectations, Limits, Method, OnFailedCheck, Rubric};

use judges::{JUDGE, JUDGE_RUN, runs, system};
pub(crate) use wanted::{EXPECTATIONS_FORM, RUBRIC_FORM};
pub(super) use wanted::{expectations, rubric};

/// An evaluation as it was written.
#[derive(Debug, Clone)]
pub struct EvaluationText {
    /// The id of its task.
    pub id: Spanned<String>,
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
    pub judge: String,
    pub model: Spanned<String>,
    pub repetitions: u32,
}

/// Two are equal when they are written alike.
impl PartialEq for EvaluationText {
    fn eq(&self, other: &Self) -> bool {
        self.written == other.written
    }
}

impl EvaluationText {
    pub(super) fn to_value(&self) -> Value {
        self.written.clone()
    }
}

/// The id of the task, unless its author names it.
const ID: &str = "evaluation";

static AGGREGATION: Keys = Keys {
    what: "`aggregation`",
    keys: &[
        Key::optional(
            "method",
            Form::Choice(&["median", "mean", "majority_vote", "all_pass"]),
            "how several replies become one score",
        )
        .default("`median`"),
        Key::optional("pass_threshold", Form::Number(0.0, 1.0), "the minimum share of the scale that passes")
            .default("none: the evaluation is measured"),
    ],
};

static REFERENCE: Keys = Keys {
    what: "an anchor",
    keys: &[
        Key::optional("anchor_id", Form::Text, "its name"),
        Key::optional("label", Form::Text, "the score that it is an example of, such as `a 3`"),
        Key::required("text", Form::Text, "the example"),
    ],
};

static ANCHORS: Keys = Keys {
    what: "`anchors`",
    keys: &[
        Key::optional("enabled", Form::Boolean, "whether judges see them").default("`true`"),
        Key::optional("references", Form::List(&Form::Object(&REFERENCE)), "examples of what scores mean"),
    ],
};

static CAP: Keys = Keys {
    what: "a cap",
    keys: &[Key::required(
        "cap",
        Form::Number(f64::NEG_INFINITY, f64::INFINITY),
        "the highest score that is possible then",
    )],
};

static POLICY: Keys = Keys {
    what: "`policy`",
    keys: &[Key::optional(
        "on_failed_check",
        Form::Either(&[Form::Choice(&["none", "fail"]), Form::Object(&CAP)]),
        "what a failed check does to the scores of its dimensions: nothing, a cap, or a failed evaluation",
    )
    .default("`none`")],
};

static LIMITS: Keys = Keys {
    what: "`limits` of an evaluation",
    keys: &[
        Key::optional("text", Form::Integer(100), "maximum characters of one text of the evidence").default("`8000`"),
        Key::optional("whole", Form::Integer(100), "maximum characters of all events, and of all files")
            .default("`120000`"),
    ],
};

static SECURITY: Keys = Keys {
    what: "`security_policy` of an evaluation",
    keys: &[
        Key::optional("allow_local_python_hooks", Form::Boolean, "whether hooks may run the author's Python")
            .default("`false`"),
        Key::optional("network_access", Form::Text, "not used; use `network` of the agent"),
        Key::optional("redact_secrets", Form::Boolean, "not used; values of environment variables are never stored"),
    ],
};

static EVALUATION: Keys = Keys {
    what: "`evaluation`",
    keys: &[
        Key::optional("id", Form::Id, "the id of its task").default("`evaluation`"),
        Key::DESCRIPTION.or(&["title"]),
        Key::optional(
            "judges",
            Form::List(&Form::Either(&[Form::Text, Form::Object(&JUDGE)])),
            "the judges: roles under `models`, or objects",
        )
        .default("the role `judge`"),
        Key::optional(
            "judge_runs",
            Form::List(&Form::Object(&JUDGE_RUN)),
            "which of the judges are asked, and how many times",
        )
        .default("each judge once"),
        Key::optional(
            "aggregation",
            Form::Object(&AGGREGATION),
            "how several replies become one score, and what passes",
        ),
        Key::optional("policy", Form::Object(&POLICY), "what failed checks do to scores"),
        Key::optional("dimensions", Form::List(&Form::Text), "the dimensions that are scored")
            .default("all dimensions"),
        Key::optional("judge_system_prompt", Form::Text, "the system prompt of the judges"),
        Key::optional("judge_system_prompt_path", Form::Text, "the file that holds the system prompt"),
        Key::optional("anchors", Form::Object(&ANCHORS), "examples of what scores mean"),
        Key::optional("expectations", EXPECTATIONS_FORM, "expectations for cases that have none of their own"),
        Key::optional("rubric", RUBRIC_FORM, "the rubric for cases that have none of their own"),
        Key::optional("limits", Form::Object(&LIMITS), "how much of the evidence judges see"),
        Key::optional("max_retries", Form::Integer(0), "retries per judgement").default("`3`"),
        KEYS_OF_OUTCOMES[0],
        Key::optional("security_policy", Form::Object(&SECURITY), "which code may run"),
        Key::optional("schema_version", Form::Integer(1), "the version of the format, which is 1"),
        Key::optional("evaluation_profile_id", Form::Text, "the name of the profile"),
        Key::METADATA,
    ],
};

pub(super) const FORM: Form = Form::Object(&EVALUATION);

pub(crate) fn read(reading: &mut Reading<'_>, suite: &mut Suite, node: &Node<'_>, key_span: Span, is_main: bool) {
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
