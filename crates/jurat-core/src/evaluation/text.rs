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

use jurat_format::choice::names;
use jurat_format::codes;
use jurat_format::field::{self, Defaulted, Field, METADATA};
use jurat_format::fields::Fields;
use jurat_format::form::{DefaultValue, Form, Object};
use jurat_format::problem::Problem;
use jurat_format::reader::Reading;
use jurat_format::shape::{self, Shape, Tree, Unused};
use jurat_format::value::{Node, Span, Spanned};

use super::{Anchor, Expectations, Limits, Method, OnFailedCheck, Rubric};
use crate::check::hook;
use crate::model::role::Role;
use crate::section::lost::{Lost, Part};
use crate::section::{At, Heading};
use crate::task;

use judges::{JUDGE, JUDGE_RUN, runs, system};
pub(crate) use wanted::{EXPECTATIONS_SHAPE, RUBRIC_SHAPE};

/// An evaluation as it was written.
#[derive(Debug, Clone)]
pub struct EvaluationText {
    /// The id of its task.
    pub id: Spanned<String>,
    pub description: Option<String>,
    /// Who is asked, and how often: roles, or `provider/model`. Empty for the role `judge`, once.
    pub runs: Vec<JudgeRun>,
    /// The system prompt of the judges.
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
    /// All of it as it is written, in JSON.
    pub written: String,
    pub span: Span,
    /// Whether errors were found in it.
    pub is_flawed: bool,
}

/// A judge that is asked, and how often.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgeRun {
    pub judge: String,
    pub model: Spanned<String>,
    pub repetitions: u32,
}

/// The id of the task, unless its author names it.
const USUAL_ID: &str = "evaluation";

const METHOD: Defaulted<Method> = Field::optional("method", shape::choice(), "how several replies become one score")
    .or_null()
    .default_choice("median");
const PASS_THRESHOLD: Field<f64> =
    Field::optional("pass_threshold", shape::SHARE, "the minimum share of the scale that passes")
        .or_null()
        .default_words("none: the evaluation is measured");

static AGGREGATION_KEYS: Object = Object { what: "`aggregation`", keys: &[METHOD.key, PASS_THRESHOLD.key] };

const ANCHOR_ID: Field<String> = Field::optional("anchor_id", shape::STRING, "its name").or_null();
const LABEL: Field<String> =
    Field::optional("label", shape::STRING, "the score that it is an example of, such as `a 3`").or_null();
const ANCHOR_TEXT: Field<String> = Field::required("text", shape::STRING, "the example").or_null();

static REFERENCE: Object = Object { what: "an anchor", keys: &[ANCHOR_ID.key, LABEL.key, ANCHOR_TEXT.key] };

const ENABLED: Defaulted<bool> =
    Field::optional("enabled", shape::BOOLEAN, "whether judges see them").or_null().default(true);
const REFERENCES: Field<Vec<Anchor>> = Field::optional(
    "references",
    Shape::new(const { Form::List(&Form::Object(&REFERENCE)) }, references),
    "examples of what scores mean",
)
.or_null();

static ANCHOR_KEYS: Object = Object { what: "`anchors`", keys: &[ENABLED.key, REFERENCES.key] };

const CAP: Field<f64> = Field::required("cap", shape::NUMBER, "the highest score that is possible then");

static CAP_OF_SCORES: Object = Object { what: "a cap", keys: &[CAP.key] };

const ON_FAILED_CHECKS: [(&str, OnFailedCheck); 2] = [("none", OnFailedCheck::Nothing), ("fail", OnFailedCheck::Fail)];

const FAILED_CHECK_NAMES: [&str; 2] = names(&ON_FAILED_CHECKS);

const ON_FAILED_CHECK: Field<OnFailedCheck> = Field::optional(
    "on_failed_check",
    Shape::new(
        const { Form::Either(&[Form::Choice(&FAILED_CHECK_NAMES), Form::Object(&CAP_OF_SCORES)]) },
        on_failed_check,
    ),
    "what a failed check does to the scores of its dimensions: nothing, a cap, or a failed evaluation",
)
.or_null()
.printed_default(DefaultValue::Name(ON_FAILED_CHECKS[0].0));

static POLICY_KEYS: Object = Object { what: "`policy`", keys: &[ON_FAILED_CHECK.key] };

const EVIDENCE: Limits = Limits::DEFAULT;

const MAX_TEXT: Defaulted<u32> =
    Field::optional("text", shape::count::<100>(), "maximum characters of one text of the evidence")
        .or_null()
        .default(EVIDENCE.text as u32);
const MAX_WHOLE: Defaulted<u32> =
    Field::optional("whole", shape::count::<100>(), "maximum characters of all events, and of all files")
        .or_null()
        .default(EVIDENCE.whole as u32);

static EVIDENCE_LIMITS: Object = Object { what: "`limits` of an evaluation", keys: &[MAX_TEXT.key, MAX_WHOLE.key] };

const ALLOW_LOCAL_PYTHON_HOOKS: Defaulted<bool> = hook::HOOKS.or_null().default(false);
const NETWORK_ACCESS: Field<Unused> =
    Field::optional("network_access", shape::unused(Form::Text), "not used; use `network` of the agent").or_null();
const REDACT_SECRETS: Field<Unused> = Field::optional(
    "redact_secrets",
    shape::unused(Form::Boolean),
    "not used; values of environment variables are never stored",
)
.or_null();

static SECURITY: Object = Object {
    what: "`security_policy` of an evaluation",
    keys: &[ALLOW_LOCAL_PYTHON_HOOKS.key, NETWORK_ACCESS.key, REDACT_SECRETS.key],
};

const ID: Field<Spanned<String>> =
    Field::optional("id", shape::ID, "the id of its task").printed_default(DefaultValue::Name(USUAL_ID));
const DESCRIPTION: Field<String> = field::DESCRIPTION.or(&["title"]).or_null();
const DEPENDS_ON: Field<Vec<Spanned<String>>> = task::DEPENDS_ON.or_null();
const JUDGES: Field<Tree> = Field::optional(
    "judges",
    shape::tree(const { Form::List(&Form::Either(&[Form::Text, Form::Object(&JUDGE)])) }),
    "the judges: roles under `models`, or objects",
)
.or_null()
.default_words("the role `judge`");
const JUDGE_RUNS: Field<Tree> = Field::optional(
    "judge_runs",
    shape::tree(const { Form::List(&Form::Object(&JUDGE_RUN)) }),
    "which of the judges are asked, and how many times",
)
.or_null()
.default_words("each judge once");
const AGGREGATION: Field<Tree> = Field::optional(
    "aggregation",
    shape::tree(Form::Object(&AGGREGATION_KEYS)),
    "how several replies become one score, and what passes",
)
.or_null();
const POLICY: Field<OnFailedCheck> =
    Field::optional("policy", Shape::new(Form::Object(&POLICY_KEYS), policy), "what failed checks do to scores")
        .or_null();
const DIMENSIONS: Field<Vec<Spanned<String>>> =
    Field::optional("dimensions", shape::TEXTS, "the dimensions that are scored")
        .or_null()
        .default_words("all dimensions");
const JUDGE_SYSTEM_PROMPT: Field<String> =
    Field::optional("judge_system_prompt", shape::STRING, "the system prompt of the judges").or_null();
const JUDGE_SYSTEM_PROMPT_PATH: Field<Spanned<String>> =
    Field::optional("judge_system_prompt_path", shape::TEXT, "the file that holds the system prompt").or_null();
const ANCHORS: Field<Vec<Anchor>> =
    Field::optional("anchors", Shape::new(Form::Object(&ANCHOR_KEYS), anchors), "examples of what scores mean")
        .or_null();
const EXPECTATIONS: Field<Expectations> =
    Field::optional("expectations", EXPECTATIONS_SHAPE, "expectations for cases that have none of their own").or_null();
const RUBRIC: Field<Rubric> =
    Field::optional("rubric", RUBRIC_SHAPE, "the rubric for cases that have none of their own").or_null();
const LIMITS: Field<Limits> = Field::optional(
    "limits",
    Shape::new(Form::Object(&EVIDENCE_LIMITS), limits),
    "how much of the evidence judges see",
)
.or_null();
const MAX_RETRIES: Defaulted<u32> =
    Field::optional("max_retries", shape::count::<0>(), "retries per judgement").or_null().default(3);
const SECURITY_POLICY: Field<bool> =
    Field::optional("security_policy", Shape::new(Form::Object(&SECURITY), security), "which code may run").or_null();
const SCHEMA_VERSION: Field<Unused> =
    Field::optional("schema_version", shape::unused(Form::Integer(1)), "the version of the format, which is 1")
        .or_null();
const EVALUATION_PROFILE_ID: Field<Unused> =
    Field::optional("evaluation_profile_id", shape::unused(Form::Text), "the name of the profile").or_null();

static EVALUATION: Object = Object {
    what: "`evaluation`",
    keys: &[
        ID.key,
        DESCRIPTION.key,
        JUDGES.key,
        JUDGE_RUNS.key,
        AGGREGATION.key,
        POLICY.key,
        DIMENSIONS.key,
        JUDGE_SYSTEM_PROMPT.key,
        JUDGE_SYSTEM_PROMPT_PATH.key,
        ANCHORS.key,
        EXPECTATIONS.key,
        RUBRIC.key,
        LIMITS.key,
        MAX_RETRIES.key,
        DEPENDS_ON.key,
        SECURITY_POLICY.key,
        SCHEMA_VERSION.key,
        EVALUATION_PROFILE_ID.key,
        METADATA.key,
    ],
};

pub(crate) const HEADING: Heading =
    Heading::new("evaluation", Form::Object(&EVALUATION), "judges that score agent runs by dimension", &[]);

/// What a section gives a definition beside the roles of its judges.
pub(crate) struct Read {
    pub(crate) text: Option<Box<EvaluationText>>,
    /// Whether it allows the author's code.
    pub(crate) allows_hooks: bool,
}

/// Reads the section, of which a definition has one. Judges with settings of their own become roles.
pub(crate) fn read(
    reading: &mut Reading<'_>,
    lost: &mut Lost,
    (known, roles): (Option<&EvaluationText>, &mut Vec<Role>),
    at: &At<'_, '_>,
) -> Option<Read> {
    let At { node, key_span, .. } = *at;
    let n_before = reading.n_errors();
    let Some(fields) = EVALUATION.fields(reading, node) else {
        lost.add(Part::Task, None);
        return None;
    };
    if let Some(first) = known {
        let problem = Problem::new(&codes::CONFLICT, "a suite has one `evaluation`").at(key_span, "again here");
        let problem = problem.at(first.span, "first here");
        reading.problem(problem.help("keep one of them; several judges stand in one"));
        return None;
    }
    let id = match fields.key_span(&ID) {
        Some(_) => fields.read(reading, &ID),
        None => Some(Spanned::new(USUAL_ID.to_owned(), key_span)),
    };
    let description = fields.read(reading, &DESCRIPTION);
    let runs = runs(reading, roles, &fields);
    let system = system(reading, &fields);
    let (method, pass_threshold) = aggregation(reading, &fields, runs.iter().map(|it| it.repetitions).sum());
    let on_failed_check = fields.read(reading, &POLICY).unwrap_or_default();
    let dimensions = fields.read(reading, &DIMENSIONS).unwrap_or_default();
    let anchors = fields.read(reading, &ANCHORS).unwrap_or_default();
    let expectations = fields.read(reading, &EXPECTATIONS).unwrap_or_default();
    let rubric = fields.read(reading, &RUBRIC);
    let limits = fields.read(reading, &LIMITS).unwrap_or(Limits::DEFAULT);
    let max_retries = fields.value(reading, &MAX_RETRIES);
    let depends_on = fields.read(reading, &DEPENDS_ON).unwrap_or_default();
    let allows_hooks = fields.read(reading, &SECURITY_POLICY).unwrap_or_default();
    let Some(id) = id else {
        lost.add(Part::Task, None);
        return Some(Read { text: None, allows_hooks });
    };
    let text = Box::new(EvaluationText {
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
        max_retries,
        written: node.to_val().to_json(),
        span: key_span,
        is_flawed: reading.n_errors() > n_before,
    });
    Some(Read { text: Some(text), allows_hooks })
}

fn aggregation(reading: &mut Reading<'_>, fields: &Fields<'_, '_>, n_replies: u32) -> (Method, Option<f64>) {
    let Some(node) = fields.node(&AGGREGATION) else { return (Method::default(), None) };
    let Some(inner) = AGGREGATION_KEYS.fields(reading, node) else { return (Method::default(), None) };
    let method = inner.value(reading, &METHOD);
    let least = inner.read(reading, &PASS_THRESHOLD);
    let at = inner.key_span(&METHOD).unwrap_or(inner.span);
    if matches!(method, Method::MajorityVote | Method::AllPass) && inner.node(&PASS_THRESHOLD).is_none() {
        let message = format!("`{}` counts replies that pass, and nothing says when one does", method.name());
        let problem = Problem::new(&codes::MISSING_KEY, message).at(at, "needs a `pass_threshold`");
        reading.problem(problem.help("for example `pass_threshold: 0.7`, which is 7 of 10"));
    }
    if method == Method::MajorityVote && n_replies > 0 && n_replies.is_multiple_of(2) {
        let message = format!("{n_replies} replies may be a tie, which `majority_vote` does not decide");
        let problem = Problem::new(&codes::UNUSED_SETTING, message).at(at, "an even number of votes");
        reading.problem(problem.help("ask an odd number of times"));
    }
    (method, least)
}

fn policy(reading: &mut Reading<'_>, _: &str, node: &Node<'_>) -> Option<OnFailedCheck> {
    let fields = POLICY_KEYS.fields(reading, node)?;
    fields.read(reading, &ON_FAILED_CHECK)
}

fn on_failed_check(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<OnFailedCheck> {
    if node.entries().is_some() {
        let fields = CAP_OF_SCORES.fields(reading, node)?;
        return fields.read(reading, &CAP).map(OnFailedCheck::Cap);
    }
    reading.choice(what, &ON_FAILED_CHECKS, node)
}

fn anchors(reading: &mut Reading<'_>, _: &str, node: &Node<'_>) -> Option<Vec<Anchor>> {
    let fields = ANCHOR_KEYS.fields(reading, node)?;
    let is_on = fields.value(reading, &ENABLED);
    fields.read(reading, &REFERENCES).filter(|_| is_on)
}

fn references(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<Vec<Anchor>> {
    let mut anchors = Vec::new();
    for item in reading.list(what, "a list of anchors", node) {
        let Some(fields) = REFERENCE.fields(reading, item) else { continue };
        let label = fields.read(reading, &LABEL).or_else(|| fields.read(reading, &ANCHOR_ID));
        let Some(text) = fields.read(reading, &ANCHOR_TEXT) else { continue };
        anchors.push(Anchor { label: label.unwrap_or_else(|| "example".to_owned()), text });
    }
    Some(anchors)
}

fn limits(reading: &mut Reading<'_>, _: &str, node: &Node<'_>) -> Option<Limits> {
    let fields = EVIDENCE_LIMITS.fields(reading, node)?;
    let (text, whole) = (fields.value(reading, &MAX_TEXT), fields.value(reading, &MAX_WHOLE));
    Some(Limits { text: text as usize, whole: whole as usize })
}

/// Whether the profile allows the author's code. What else it says about code means nothing here.
fn security(reading: &mut Reading<'_>, _: &str, node: &Node<'_>) -> Option<bool> {
    let inner = SECURITY.fields(reading, node)?;
    let allows = inner.value(reading, &ALLOW_LOCAL_PYTHON_HOOKS);
    let unused = [
        (NETWORK_ACCESS, "the network access of an agent is set by `network` of the agent or the case"),
        (REDACT_SECRETS, "values of variables that are passed to agents and providers are not stored"),
    ];
    for (key, instead) in unused {
        if let Some(span) = inner.key_span(&key).filter(|_| inner.node(&key).is_some()) {
            let problem = Problem::new(&codes::UNUSED_SETTING, format!("`{}` changes nothing", key.name()));
            reading.problem(problem.at(span, "not used").help(instead));
        }
    }
    Some(allows)
}
