//! `gates`: what a change must not do.
//!
//! ```yaml
//! gates:
//!   base: baselines/main.jsonl
//!   conditions:
//!     - { id: quality, not_worse: 0.03 }
//!     - { id: answered, task: answered, at_least: 0.9 }
//!     - { id: critical, tag: critical, no_new_failures: true }
//! ```

use std::time::Duration;

use jurat_format::choices;
use jurat_format::codes;
use jurat_format::duration;
use jurat_format::field::{Defaulted, Field};
use jurat_format::fields::Fields;
use jurat_format::form::{Form, Key, Object};
use jurat_format::problem::{Problem, listed};
use jurat_format::reader::Reading;
use jurat_format::shape::{self, Shape};
use jurat_format::value::{FieldPath, Node, Spanned};

use crate::section::{Heading, Section};
use crate::statistics::Confidence;

/// What a change must not do.
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    /// The run or the baseline that NEW is compared with.
    pub base: Option<Spanned<String>>,
    /// One-sided: at most this share of changes that breach a condition pass it.
    pub confidence: Confidence,
    pub missing: Missing,
    /// What may differ between BASE and NEW without making conditions undecided.
    pub allow: Vec<String>,
    pub conditions: Vec<Condition>,
}

impl Default for Policy {
    fn default() -> Policy {
        Policy {
            base: None,
            confidence: Confidence::USUAL,
            missing: Missing::Bound,
            allow: Vec::new(),
            conditions: Vec::new(),
        }
    }
}

choices! {
    /// What is made of cases that could not be judged.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Missing {
        /// A condition must also hold if they had gone the other way.
        Bound = "bound",
        /// They are left out.
        Observed = "observed",
    }
}

choices! {
    /// When a repeated case passes.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum RepetitionRule {
        All = "all",
        Majority = "majority",
        Any = "any",
    }
}

choices! {
    /// What a pass rate is of.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum On {
        Cases = "cases",
        Judgements = "judgements",
    }
}

/// What must hold.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    pub id: Spanned<String>,
    pub kind: Kind,
    pub selector: Selector,
    pub confidence: Option<Confidence>,
    /// Whether it is reported and changes no verdict.
    pub advisory: bool,
    pub allow: Vec<String>,
    pub repetitions: RepetitionRule,
    /// Whether the rate or the difference is corrected for the errors of the judge.
    pub corrected: bool,
    /// What is thought to be so, for runs that stop early.
    pub expect: Option<f64>,
    /// The ends of the scale of a score.
    pub range: Option<(f64, f64)>,
}

impl Condition {
    /// The same condition on one task.
    pub fn on_task(&self, task: &str) -> Condition {
        let mut own = self.clone();
        own.id.value = format!("{}.{task}", self.id.value);
        if let Some(of) = &mut own.selector.task {
            task.clone_into(&mut of.value);
        }
        own
    }
}

/// What is judged, and against what.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// The pass rate of NEW is at least this.
    AtLeast(f64),
    /// NEW is at most this much worse than BASE.
    NotWorse(f64),
    /// NEW is more than this much better than BASE.
    Better(f64),
    /// What a case costs, in dollars.
    Cost(Limit),
    /// The tokens of a case.
    Tokens(Limit),
    /// The mean latency of a case, in milliseconds.
    LatencyMs(Limit),
    LatencyP95Ms(Limit),
    /// No case that passed in BASE fails in NEW.
    NoNewFailures,
    /// All cases pass.
    AllPass,
    /// The share of cases that could not be judged.
    Errors(f64),
    /// The share of cases that passed and failed.
    Flaky(f64),
    /// How far a judge agrees with people, by a calibration.
    Judge(JudgeBound),
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::AtLeast(_) => AT_LEAST.key.name,
            Kind::NotWorse(_) => NOT_WORSE.key.name,
            Kind::Better(_) => BETTER.key.name,
            Kind::Cost(_) => COST.key.name,
            Kind::Tokens(_) => TOKENS.key.name,
            Kind::LatencyMs(_) => LATENCY_MS.key.name,
            Kind::LatencyP95Ms(_) => LATENCY_P95_MS.key.name,
            Kind::NoNewFailures => NO_NEW_FAILURES.key.name,
            Kind::AllPass => ALL_PASS.key.name,
            Kind::Errors(_) => ERRORS.key.name,
            Kind::Flaky(_) => FLAKY.key.name,
            Kind::Judge(_) => JUDGE.key.name,
        }
    }

    /// Whether it is decided by a test, which may err by chance: its p value of failing is adjusted for the number of such conditions.
    pub fn is_tested(self) -> bool {
        !matches!(self, Kind::NoNewFailures | Kind::AllPass | Kind::Errors(_) | Kind::Flaky(_))
    }

    /// Whether it is about how cases ended, rather than what they took.
    pub fn is_of_verdicts(self) -> bool {
        matches!(self, Kind::AtLeast(_) | Kind::NotWorse(_) | Kind::Better(_) | Kind::NoNewFailures | Kind::AllPass)
    }

    /// Whether it compares NEW with BASE.
    pub fn needs_base(self) -> bool {
        match self {
            Kind::NotWorse(_) | Kind::Better(_) | Kind::NoNewFailures => true,
            Kind::Cost(limit) | Kind::Tokens(limit) | Kind::LatencyMs(limit) | Kind::LatencyP95Ms(limit) => {
                limit.of_base
            }
            Kind::AtLeast(_) | Kind::AllPass | Kind::Errors(_) | Kind::Flaky(_) | Kind::Judge(_) => false,
        }
    }
}

choices! {
    /// How agreement of a judge with people is measured.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum AgreementMeasure {
        Kappa = "kappa",
        WeightedKappa = "weighted_kappa",
        Agreement = "agreement",
        Alpha = "alpha",
        Ac1 = "ac1",
        Sensitivity = "sensitivity",
        Specificity = "specificity",
    }
}

/// The least agreement of a judge with people, and how old the calibration may be that says so.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JudgeBound {
    pub measure: AgreementMeasure,
    pub at_least: f64,
    pub max_age: Option<Duration>,
}

/// The most that something may be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limit {
    pub at_most: f64,
    /// Whether it is a multiple of what BASE takes.
    pub of_base: bool,
}

/// Which results a condition looks at.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Selector {
    /// A task, or `*` for each counted one; the case when absent.
    pub task: Option<Spanned<String>>,
    pub on_judgements: bool,
    pub is_score: bool,
    /// The cases with this value at a path.
    pub slice: Option<(Spanned<FieldPath>, String)>,
    pub tag: Option<Spanned<String>>,
    pub prompt: Option<Spanned<String>>,
    pub subject: Option<Spanned<String>>,
}

impl Selector {
    /// Whether it selects some of the rows by what they hold.
    pub fn selects_rows(&self) -> bool {
        self.slice.is_some() || self.tag.is_some()
    }

    /// In words, for reports; empty for all cases.
    pub fn words(&self) -> String {
        let text = |it: &Option<Spanned<String>>| it.as_ref().map(|it| it.value.clone());
        let mut words = Vec::new();
        words.extend(text(&self.task));
        words.extend(self.is_score.then(|| "score".to_owned()));
        words.extend(self.on_judgements.then(|| "judgements".to_owned()));
        words.extend(self.slice.as_ref().map(|(path, value)| format!("{} = {value}", path.value)));
        for (name, value) in [("tag", &self.tag), ("prompt", &self.prompt), ("subject", &self.subject)] {
            words.extend(text(value).map(|it| format!("{name} {it}")));
        }
        words.join(", ")
    }
}

const ID: Field<Spanned<String>> = Field::required("id", shape::TEXT, "its name in reports");
const TASK: Field<Spanned<String>> = Field::optional(
    "task",
    shape::TEXT,
    "the task whose results count, or `\"*\"` for a condition on each counted task",
)
.default_words("the case as a whole");
const ON: Defaulted<On> =
    Field::optional("on", shape::choice(), "what a pass rate is of: cases, or all judgements of counted tasks")
        .default_choice("cases");
const SCORE: Defaulted<bool> =
    Field::optional("score", shape::BOOLEAN, "whether the score of the task is compared rather than its pass rate")
        .default(false);
const SLICE: Field<(Spanned<FieldPath>, String)> = Field::optional(
    "slice",
    Shape::new(Form::Map(&Form::Text), slice),
    "only cases with this value at a path, such as `{ language: de }`",
);
const TAG: Field<Spanned<String>> = Field::optional("tag", shape::TEXT, "only cases with this tag");
const PROMPT: Field<Spanned<String>> = Field::optional("prompt", shape::TEXT, "only cases of this prompt");
const SUBJECT: Field<Spanned<String>> = Field::optional("subject", shape::TEXT, "only cases of this subject");
const CONFIDENCE: Field<f64> = Field::optional(
    "confidence",
    shape::SHARE,
    "one-sided confidence, above 0.5: at most the rest of all changes that breach a condition pass it",
);
const ADVISORY: Defaulted<bool> =
    Field::optional("advisory", shape::BOOLEAN, "whether it is reported and changes no verdict").default(false);
const ALLOW: Field<Vec<String>> = Field::optional(
    "allow",
    shape::STRINGS,
    "what may differ between the runs without making a condition undecided: `suite`, `task`, `judge`, `evaluator`, `rows`",
);
const REPETITIONS: Defaulted<RepetitionRule> =
    Field::optional("repetitions", shape::choice(), "when a repeated case passes, for conditions that count cases")
        .default_choice("all");
const EXPECT: Field<f64> = Field::optional(
    "expect",
    shape::AMOUNT,
    "for `--stop-when`: the pass rate that NEW is thought to have, or with `better` how much better than that it is thought to be",
)
.default_words("the pass rate of BASE");
const RANGE: Field<(f64, f64)> = Field::optional(
    "range",
    Shape::new(const { Form::List(&Form::Number(f64::NEG_INFINITY, f64::INFINITY)) }, range),
    "for `--stop-when`: the ends of the scale of a score, such as `[0, 10]`",
);

const AT_LEAST: Field<f64> = Field::optional("at_least", shape::SHARE, "the least pass rate of NEW");
const NOT_WORSE: Field<f64> = Field::optional(
    "not_worse",
    shape::AMOUNT,
    "how much worse than BASE NEW may be: a share, or a number of the score's unit",
);
const BETTER: Field<f64> = Field::optional("better", shape::AMOUNT, "how much better than BASE NEW must be");
const COST: Field<Limit> =
    Field::optional("cost", LIMIT_SHAPE, "what a case of NEW may cost: dollars, or a multiple of BASE");
const TOKENS: Field<Limit> =
    Field::optional("tokens", LIMIT_SHAPE, "the tokens that a case of NEW may take, or a multiple of BASE");
const LATENCY_MS: Field<Limit> = Field::optional(
    "latency_ms",
    LIMIT_SHAPE,
    "the mean latency of a case of NEW in milliseconds; as a multiple, the median of the cases' ratios",
);
const LATENCY_P95_MS: Field<Limit> = Field::optional(
    "latency_p95_ms",
    LIMIT_SHAPE,
    "the latency in milliseconds that 95 % of the cases of NEW do not exceed",
);
const NO_NEW_FAILURES: Field<bool> =
    Field::optional("no_new_failures", shape::BOOLEAN, "no case that passed in BASE fails in NEW");
const ALL_PASS: Field<bool> = Field::optional("all_pass", shape::BOOLEAN, "all cases pass in NEW");
const ERRORS: Field<f64> =
    Field::optional("errors", SHARE_LIMIT, "the largest share of cases that could not be judged or did not run");
const FLAKY: Field<f64> =
    Field::optional("flaky", SHARE_LIMIT, "the largest share of repeated cases that passed once and failed once");

const JUDGE: Field<Spanned<String>> = Field::optional(
    "judge",
    shape::TEXT,
    "the task whose judge must agree with people, by a calibration; `agreement` says how far",
);
const AGREEMENT: Field<(AgreementMeasure, f64)> = Field::optional(
    "agreement",
    Shape::new(Form::Object(&AGREEMENT_OBJECT), agreement),
    "with `judge`: the least agreement with people",
);
const MAX_AGE: Field<Duration> =
    Field::optional("max_age", duration::SHAPE, "with `judge`: how old the calibration may be, such as `90d`");
const CORRECTED: Defaulted<bool> = Field::optional(
    "corrected",
    shape::BOOLEAN,
    "whether the pass rate of the task is corrected for the errors of its judge, by a calibration",
)
.default(false);

const MEASURE: Defaulted<AgreementMeasure> =
    Field::optional("measure", shape::choice(), "how agreement is measured").default_choice("kappa");
const LEAST_AGREEMENT: Field<f64> = Field::required("at_least", shape::SHARE, "the least value that is accepted");
static AGREEMENT_OBJECT: Object = Object { what: "an agreement", keys: &[MEASURE.key, LEAST_AGREEMENT.key] };

const AT_MOST: Field<f64> = Field::required("at_most", shape::AMOUNT, "the largest value that is accepted");
const OF: Field<String> =
    Field::optional("of", Shape::new(Form::Choice(&["base"]), base), "`base` for a multiple of what BASE takes");

static LIMIT: Object = Object { what: "a limit", keys: &[AT_MOST.key, OF.key] };
const LIMIT_SHAPE: Shape<Limit> = Shape::new(Form::Object(&LIMIT), limit);

const AT_MOST_SHARE: Field<f64> = Field::required("at_most", shape::SHARE, "the largest share that is accepted");
static OF_CASES: Object = Object { what: "a limit of a share", keys: &[AT_MOST_SHARE.key] };
const SHARE_LIMIT: Shape<f64> = Shape::new(Form::Object(&OF_CASES), |reading, _, node| {
    let fields = OF_CASES.fields(reading, node)?;
    fields.read(reading, &AT_MOST_SHARE)
});

/// The keys that say what must hold. A condition has one.
const KINDS: [Key; 12] = [
    AT_LEAST.key,
    NOT_WORSE.key,
    BETTER.key,
    COST.key,
    TOKENS.key,
    LATENCY_MS.key,
    LATENCY_P95_MS.key,
    NO_NEW_FAILURES.key,
    ALL_PASS.key,
    ERRORS.key,
    FLAKY.key,
    JUDGE.key,
];

static CONDITION: Object = Object {
    what: "a condition",
    keys: &[
        ID.key,
        KINDS[0],
        KINDS[1],
        KINDS[2],
        KINDS[3],
        KINDS[4],
        KINDS[5],
        KINDS[6],
        KINDS[7],
        KINDS[8],
        KINDS[9],
        KINDS[10],
        KINDS[11],
        AGREEMENT.key,
        MAX_AGE.key,
        TASK.key,
        ON.key,
        SCORE.key,
        SLICE.key,
        TAG.key,
        PROMPT.key,
        SUBJECT.key,
        CONFIDENCE.key,
        ADVISORY.key,
        ALLOW.key,
        REPETITIONS.key,
        CORRECTED.key,
        EXPECT.key,
        RANGE.key,
    ],
};

const BASE: Field<Spanned<String>> = Field::optional(
    "base",
    shape::TEXT,
    "the run or exported baseline that NEW is compared with; `--base` comes first",
);
const MISSING: Defaulted<Missing> = Field::optional(
    "missing",
    shape::choice(),
    "how cases that could not be judged count: a condition must hold for every verdict that they could have had, or they are left out",
)
.default_choice("bound");
const CONDITIONS: Field<Vec<Condition>> = Field::optional(
    "conditions",
    Shape::new(const { Form::List(&Form::Object(&CONDITION)) }, conditions),
    "what must hold; without any, nothing is decided",
);

pub(crate) static GATES: Object =
    Object { what: "`gates`", keys: &[BASE.key, CONFIDENCE.key, MISSING.key, ALLOW.key, CONDITIONS.key] };

pub(crate) const SECTION: Section<Option<Policy>> =
    Heading::new("gates", Form::Object(&GATES), "what a change must not do, for `jurat gate`", &[])
        .read(|reading, _, gates, at| read(reading, gates, at.node));

/// Reads a policy into that of the files before: conditions are joined, everything else is replaced.
pub(crate) fn read(reading: &mut Reading<'_>, policy: &mut Option<Policy>, node: &Node<'_>) {
    let Some(fields) = GATES.fields(reading, node) else { return };
    let own = policy.get_or_insert_with(Policy::default);
    own.base = fields.read(reading, &BASE).or(own.base.take());
    if let Some(level) = fields.read(reading, &CONFIDENCE) {
        own.confidence = confidence(reading, level, node).unwrap_or(own.confidence);
    }
    own.missing = fields.value(reading, &MISSING);
    own.allow.extend(fields.read(reading, &ALLOW).unwrap_or_default());
    own.conditions.extend(fields.read(reading, &CONDITIONS).unwrap_or_default());
}

/// A confidence that a one-sided bound can have.
fn confidence(reading: &mut Reading<'_>, level: f64, node: &Node<'_>) -> Option<Confidence> {
    let found = Confidence::new(level).filter(|it| it.two_sided().is_some());
    if found.is_none() {
        let message = format!("`confidence` must lie between 0.5 and 1, not be {level}");
        reading
            .problem(Problem::new(&codes::WRONG_VALUE, message).at(node.span, "here").help("write `confidence: 0.95`"));
    }
    found
}

fn conditions(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<Vec<Condition>> {
    let items = reading.list(what, "a list of conditions", node);
    Some(items.iter().filter_map(|it| condition(reading, it)).collect())
}

fn condition(reading: &mut Reading<'_>, node: &Node<'_>) -> Option<Condition> {
    let fields = CONDITION.fields(reading, node)?;
    let id = fields.read(reading, &ID);
    let mut kinds = Vec::new();
    kinds.extend(fields.read(reading, &AT_LEAST).map(Kind::AtLeast));
    kinds.extend(fields.read(reading, &NOT_WORSE).map(Kind::NotWorse));
    kinds.extend(fields.read(reading, &BETTER).map(Kind::Better));
    kinds.extend(fields.read(reading, &COST).map(Kind::Cost));
    kinds.extend(fields.read(reading, &TOKENS).map(Kind::Tokens));
    kinds.extend(fields.read(reading, &LATENCY_MS).map(Kind::LatencyMs));
    kinds.extend(fields.read(reading, &LATENCY_P95_MS).map(Kind::LatencyP95Ms));
    kinds.extend(fields.read(reading, &NO_NEW_FAILURES).filter(|it| *it).map(|_| Kind::NoNewFailures));
    kinds.extend(fields.read(reading, &ALL_PASS).filter(|it| *it).map(|_| Kind::AllPass));
    kinds.extend(fields.read(reading, &ERRORS).map(Kind::Errors));
    kinds.extend(fields.read(reading, &FLAKY).map(Kind::Flaky));
    let judge = fields.read(reading, &JUDGE);
    let (agreement, max_age) = (fields.read(reading, &AGREEMENT), fields.read(reading, &MAX_AGE));
    if judge.is_some() {
        let bound = |(measure, at_least)| Kind::Judge(JudgeBound { measure, at_least, max_age });
        kinds.extend(agreement.map(bound));
    }
    if (judge.is_some() && fields.node(&AGREEMENT).is_none())
        || (judge.is_none() && (agreement.is_some() || max_age.is_some()))
    {
        reading.problem(half_a_judge(node));
        return None;
    }
    let selector = Selector {
        task: judge.or(fields.read(reading, &TASK)),
        on_judgements: fields.value(reading, &ON) == On::Judgements,
        is_score: fields.value(reading, &SCORE),
        slice: fields.read(reading, &SLICE),
        tag: fields.read(reading, &TAG),
        prompt: fields.read(reading, &PROMPT),
        subject: fields.read(reading, &SUBJECT),
    };
    let level = fields.read(reading, &CONFIDENCE);
    let confidence = level.and_then(|it| confidence(reading, it, node));
    let (advisory, repetitions) = (fields.value(reading, &ADVISORY), fields.value(reading, &REPETITIONS));
    let allow = fields.read(reading, &ALLOW).unwrap_or_default();
    let corrected = fields.value(reading, &CORRECTED);
    let (expect, range) = (fields.read(reading, &EXPECT), fields.read(reading, &RANGE));
    if kinds.len() != 1 {
        let has_flaw = KINDS.iter().any(|it| fields.node(it).is_some()) && kinds.is_empty();
        if !has_flaw {
            reading.problem(no_single_kind(node, kinds.len()));
        }
        return None;
    }
    let kind = *kinds.first()?;
    reading_fits(reading, node, kind, &selector, corrected)?;
    margin_fits(reading, &fields, kind, &selector)?;
    Some(Condition { id: id?, kind, selector, confidence, advisory, allow, repetitions, corrected, expect, range })
}

fn half_a_judge(node: &Node<'_>) -> Problem {
    Problem::new(&codes::MISSING_KEY, "a condition on a judge has `judge` and `agreement`")
        .at(node.span, "here")
        .help("write `judge: TASK, agreement: { measure: kappa, at_least: 0.6 }`")
}

fn agreement(reading: &mut Reading<'_>, _: &str, node: &Node<'_>) -> Option<(AgreementMeasure, f64)> {
    let fields = AGREEMENT_OBJECT.fields(reading, node)?;
    let measure = fields.value(reading, &MEASURE);
    Some((measure, fields.read(reading, &LEAST_AGREEMENT)?))
}

fn no_single_kind(node: &Node<'_>, n: usize) -> Problem {
    let message = match n {
        0 => "a condition says what must hold",
        _ => "a condition says one thing that must hold",
    };
    let code = if n == 0 { &codes::MISSING_KEY } else { &codes::CONFLICT };
    let names = listed(KINDS.iter().map(|it| it.name));
    Problem::new(code, message).at(node.span, "here").help(format!("write one of {names}"))
}

/// Whether a selector fits the kind of its condition.
fn reading_fits(
    reading: &mut Reading<'_>,
    node: &Node<'_>,
    kind: Kind,
    selector: &Selector,
    is_corrected: bool,
) -> Option<()> {
    let is_of_rates = matches!(kind, Kind::AtLeast(_) | Kind::NotWorse(_) | Kind::Better(_));
    let message = match kind {
        _ if is_corrected && !is_of_rates => "`corrected` is for pass rates",
        _ if is_corrected && selector.is_score => "`corrected` is for pass rates, not for scores",
        _ if is_corrected && selector.task.is_none() => "`corrected` needs the `task` whose judge was calibrated",
        _ if selector.is_score && !matches!(kind, Kind::NotWorse(_) | Kind::Better(_)) => {
            "`score` is for `not_worse` and `better`"
        }
        _ if selector.is_score && selector.task.is_none() => "`score` needs `task`, the task whose score is compared",
        _ if selector.on_judgements && !is_of_rates => "`on` is for pass rates",
        _ if selector.on_judgements && selector.task.is_some() => "`on: judgements` is about all tasks, not about one",
        Kind::Cost(_) | Kind::Tokens(_) | Kind::LatencyMs(_) | Kind::LatencyP95Ms(_) if selector.task.is_some() => {
            "cost, tokens and latency are of cases, not of a task"
        }
        Kind::LatencyP95Ms(Limit { of_base: true, .. }) => {
            "`latency_p95_ms` has a limit of its own, not one `of: base`"
        }
        _ => return Some(()),
    };
    reading.problem(Problem::new(&codes::CONFLICT, message).at(node.span, "here").help("leave one of them out"));
    None
}

/// Whether a margin is one: pass rates differ by 1 at most, so a margin of 1 or more, meant in points, would decide nothing: `not_worse` would always pass.
fn margin_fits(reading: &mut Reading<'_>, fields: &Fields<'_, '_>, kind: Kind, selector: &Selector) -> Option<()> {
    let (margin, key) = match kind {
        Kind::NotWorse(margin) => (margin, &NOT_WORSE.key),
        Kind::Better(margin) => (margin, &BETTER.key),
        _ => return Some(()),
    };
    if margin < 1.0 || selector.is_score {
        return Some(());
    }
    let message = format!("`{}` is a share of all cases, less than 1, not {margin}", key.name);
    let problem = Problem::new(&codes::WRONG_VALUE, message);
    let problem =
        fields.node(key).map_or(problem.clone(), |it| problem.at(it.span, "a pass rate cannot differ by more"));
    let help = format!(
        "{margin} percentage point{} `{}: {}`; a score has `score: true` and its `task`",
        if margin == 1.0 { " is" } else { "s are" },
        key.name,
        margin / 100.0
    );
    reading.problem(problem.help(help));
    None
}

fn slice(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<(Spanned<FieldPath>, String)> {
    match node.entries() {
        Some([entry]) => {
            let path = FieldPath::parse(&entry.key).ok();
            let value = (shape::STRING.read)(reading, what, &entry.value)?;
            Some((Spanned::new(path?, entry.key_span), value))
        }
        _ => {
            reading.wrong_type(what, "an object with one path and its value, such as `{ language: de }`", node);
            None
        }
    }
}

/// Two numbers, the smaller first.
fn range(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<(f64, f64)> {
    let items = node.as_list().unwrap_or_default();
    let ends: Vec<f64> = items.iter().filter_map(|it| (shape::NUMBER.read)(reading, what, it)).collect();
    match (ends.as_slice(), items.len()) {
        ([low, high], 2) if low < high => Some((*low, *high)),
        (ends, n) if ends.len() < n => None,
        _ => {
            reading.wrong_type(what, "the ends of a scale, such as `[0, 10]`", node);
            None
        }
    }
}

fn base(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<String> {
    let text = (shape::STRING.read)(reading, what, node)?;
    if text != "base" {
        reading.wrong_type(what, "`base`", node);
        return None;
    }
    Some(text)
}

fn limit(reading: &mut Reading<'_>, _: &str, node: &Node<'_>) -> Option<Limit> {
    let fields = LIMIT.fields(reading, node)?;
    let of_base = fields.read(reading, &OF).is_some();
    Some(Limit { at_most: fields.read(reading, &AT_MOST)?, of_base })
}
