//! Rubrics, as they are written.
//!
//! ```yaml
//! rubric:
//!   - { name: polite, kind: boolean, description: The answer is polite. }
//!   - { name: depth, kind: score, min: 1, max: 5, description: How thorough the answer is. }
//!   - { name: tone, kind: literal, classes: { cold: distant or curt, warm: friendly } }
//!   - { name: cites, kind: regex, pattern: '\[\d+\]' }
//!   - { name: brief, kind: cel, cel: size(raw_response) < 400 }
//!   - { name: facts, kind: metric, items: [the founding year, the founder], metrics: [recall, f1] }
//! ```
//!
//! The object of lists in which Karenina stores a rubric is read too. What such a list holds that jurat cannot rate by is reported.

use std::collections::HashMap;
use std::sync::Arc;

use super::rating::CLASSES;
use super::{Metric, Rubric, Trait, TraitKind};
use crate::section::lost::Part;
use crate::section::named::NamedSection;
use crate::section::{Heading, Section};

use jurat_compare::expression::Expression;
use jurat_format::choices;
use jurat_format::codes;
use jurat_format::field::{self, Defaulted, Field};
use jurat_format::fields::Fields;
use jurat_format::form::{Form, Key, Object};
use jurat_format::problem::{Problem, listed};
use jurat_format::reader::Reading;
use jurat_format::shape::{self, Shape, Tree};
use jurat_format::value::{Content, Map, Node, Span, Spanned, Val, Value, shown_within};

choices! {
    #[derive(Clone, Copy, PartialEq)]
    enum Kind {
        Boolean = "boolean",
        Score = "score",
        Literal = "literal",
        Regex = "regex",
        Cel = "cel",
        Metric = "metric",
    }
}

/// Any value in the schema, because a stored trait has null for what it has not.
const LIMIT: Shape<i64> = Shape::new(Form::Any, |reading, what, node| match node.content {
    Content::Scalar(Val::I(number)) => Some(number),
    _ => {
        reading.wrong_type(what, "a whole number", node);
        None
    }
});

const NAME: Field<Spanned<String>> = Field::required("name", shape::TEXT, "its name, under which its value is found");
const DESCRIPTION: Field<String> = Field::optional(
    "description",
    shape::STRING,
    "a description for the model that rates; required for kinds that a model rates",
);
const KIND: Field<Kind> =
    Field::optional("kind", shape::choice(), "how it is rated").default_words("by the other keys");
const HIGHER_IS_BETTER: Defaulted<bool> =
    Field::optional("higher_is_better", shape::BOOLEAN, "whether more of it is better; for reports").default(true);
const MIN: Defaulted<i64> =
    Field::optional("min", LIMIT, "the lowest score, for `score`").or(&["min_score"]).default(1);
const MAX: Defaulted<i64> =
    Field::optional("max", LIMIT, "the highest score, for `score`").or(&["max_score"]).default(5);
const NAMED_CLASSES: Field<Tree> = Field::optional(
    "classes",
    shape::tree(Form::Either(&[Form::Map(&Form::Text), Form::List(&Form::Text)])),
    "the classes of a `literal` in order, each with its meaning, or their names alone",
);
const PATTERN: Field<Spanned<String>> =
    Field::optional("pattern", shape::TEXT, "for `regex`: a regular expression, by the rules of Python's `re`");
const CASE_SENSITIVE: Defaulted<bool> =
    Field::optional("case_sensitive", shape::BOOLEAN, "for `regex`: whether upper and lower case differ").default(true);
const INVERT: Defaulted<bool> =
    Field::optional("invert", shape::BOOLEAN, "for `regex`: whether the answer must not match")
        .or(&["invert_result"])
        .default(false);
const CEL: Field<Spanned<String>> = Field::optional(
    "cel",
    shape::TEXT,
    "for `cel`: an expression over `raw_response`, `question`, `parsed` and `verify_result`",
);
const ITEMS: Field<Vec<Spanned<String>>> =
    Field::optional("items", shape::TEXTS, "for `metric`: what the answer should contain").or(&["tp_instructions"]);
const UNWANTED: Field<Vec<Spanned<String>>> =
    Field::optional("unwanted", shape::TEXTS, "for `metric`: what it should not contain").or(&["tn_instructions"]);
const METRICS: Field<Vec<(Metric, Span)>> = Field::optional(
    "metrics",
    Shape::new(const { Form::List(&shape::choice::<Metric>().form) }, read_metrics),
    "for `metric`: what is computed",
)
.default_words("`precision`, `recall` and `f1`");

static TRAIT: Object = Object {
    what: "a trait",
    keys: &[
        NAME.key,
        DESCRIPTION.key,
        KIND.key,
        HIGHER_IS_BETTER.key,
        MIN.key,
        MAX.key,
        NAMED_CLASSES.key,
        PATTERN.key,
        CASE_SENSITIVE.key,
        INVERT.key,
        CEL.key,
        ITEMS.key,
        UNWANTED.key,
        METRICS.key,
    ],
};

/// The keys that belong to one kind only, by the kind.
const OWN_KEYS: [(Kind, &[Key]); 5] = [
    (Kind::Score, &[MIN.key, MAX.key]),
    (Kind::Literal, &[NAMED_CLASSES.key]),
    (Kind::Regex, &[PATTERN.key, CASE_SENSITIVE.key, INVERT.key]),
    (Kind::Cel, &[CEL.key]),
    (Kind::Metric, &[ITEMS.key, UNWANTED.key, METRICS.key]),
];

const LLM_TRAITS: Field<Vec<Placed>> = Field::optional("llm_traits", STORED_TRAITS, "traits that a model rates");
const REGEX_TRAITS: Field<Vec<Placed>> = Field::optional("regex_traits", STORED_TRAITS, "regular expressions");
const METRIC_TRAITS: Field<Vec<Placed>> = Field::optional("metric_traits", STORED_TRAITS, "metrics");
const CALLABLE_TRAITS: Field<Tree> =
    Field::optional("callable_traits", shape::tree(Form::List(&Form::Any)), "code, which is never run");
const AGENTIC_TRAITS: Field<Tree> =
    Field::optional("agentic_traits", shape::tree(Form::List(&Form::Any)), "traits that need an agent; not supported");

/// A trait, and where it stands.
type Placed = (Trait, Span);

const STORED_TRAITS: Shape<Vec<Placed>> = Shape::new(Form::List(&Form::Any), |reading, what, node| {
    let items = reading.list(what, "a list of traits", node);
    Some(items.iter().filter_map(|it| read_trait(reading, &without_stored_only(it))).collect())
});

/// The lists in which a peer stores traits.
static STORED: Object = Object {
    what: "a stored rubric",
    keys: &[LLM_TRAITS.key, REGEX_TRAITS.key, METRIC_TRAITS.key, CALLABLE_TRAITS.key, AGENTIC_TRAITS.key],
};

/// What else a peer keeps with a trait. None of it changes what is asked here.
const STORED_ONLY: [&str; 10] = [
    "summary",
    "evaluation_mode",
    "repeated_extraction",
    "deep_judgment_enabled",
    "deep_judgment_excerpt_enabled",
    "deep_judgment_max_excerpts",
    "deep_judgment_fuzzy_match_threshold",
    "deep_judgment_excerpt_retry_attempts",
    "deep_judgment_search_enabled",
    "include_ground_truth",
];

pub(crate) const SECTION: Section<Vec<(Spanned<String>, Vec<Trait>)>> =
    Heading::new("rubrics", const { Form::Map(&FORM) }, "rubrics that scenarios use by name", &[Part::Rubric])
        .read(|reading, lost, known, at| BY_NAME.read(reading, (lost, known), ("rubrics", at.node), read_named));

const BY_NAME: NamedSection =
    NamedSection { part: Part::Rubric, name: "a name in `rubrics`", what: "rubric", needs: "an object of names" };

pub(crate) const FORM: Form = Form::Either(&[Form::List(&Form::Object(&TRAIT)), Form::Object(&STORED)]);

fn read_named(
    reading: &mut Reading<'_>,
    name: Spanned<String>,
    node: &Node<'_>,
) -> Option<(Spanned<String>, Vec<Trait>)> {
    let traits = read(reading, &format!("`{}`", name.value), node)?;
    Some((name, traits))
}

/// Reads the traits of a rubric.
pub(crate) fn read(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<Vec<Trait>> {
    let n_before = reading.n_errors();
    let traits: Vec<(Trait, Span)> = match &node.content {
        Content::List(items) => items.iter().filter_map(|it| read_trait(reading, it)).collect(),
        Content::Map(_) => read_stored(reading, node)?,
        Content::Scalar(_) => {
            reading.wrong_type(what, "a list of traits", node);
            return None;
        }
    };
    let mut places: HashMap<String, Span> = HashMap::new();
    for (it, span) in &traits {
        for key in it.keys() {
            if let Some(first) = places.get(&key) {
                let problem = Problem::new(&codes::CONFLICT, format!("two traits have values called `{key}`"));
                let problem = problem.at(*span, "again here").at(*first, "first here");
                reading.problem(problem.help("give each trait a name of its own"));
            }
            places.entry(key).or_insert(*span);
        }
    }
    if reading.n_errors() > n_before {
        return None;
    }
    let traits: Vec<Trait> = traits.into_iter().map(|(it, _)| it).collect();
    match Rubric::new(traits.clone()) {
        Ok(_) => Some(traits),
        Err(error) => {
            reading.problem(Problem::new(&codes::WRONG_VALUE, error.to_string()).at(node.span, "in this rubric"));
            None
        }
    }
}

fn read_stored(reading: &mut Reading<'_>, node: &Node<'_>) -> Option<Vec<(Trait, Span)>> {
    let lists = STORED.fields(reading, node)?;
    let mut traits = Vec::new();
    for key in [LLM_TRAITS, REGEX_TRAITS, METRIC_TRAITS] {
        traits.extend(lists.read(reading, &key).unwrap_or_default());
    }
    for (key, why) in [
        (CALLABLE_TRAITS, "stored code is never run; write the rule as `cel`"),
        (AGENTIC_TRAITS, "no agent looks into answers; write the trait as one that a model rates"),
    ] {
        let first = lists.node(&key).and_then(Node::as_list).and_then(<[_]>::first);
        if let Some(first) = first {
            let problem = Problem::new(&codes::NOT_SUPPORTED, format!("`{}` are not supported", key.name()))
                .at(first.span, "the first of them");
            reading.problem(problem.help(why));
        }
    }
    Some(traits)
}

/// A stored trait without what only Karenina reads, and without the nulls that stand for what is absent.
fn without_stored_only<'a>(node: &Node<'a>) -> Node<'a> {
    let Some(entries) = node.entries() else { return node.clone() };
    let is_score = node.get(KIND.key.name).and_then(Node::as_str) == Some(Kind::Score.name());
    let is_limit = |key: &str| matches!(key, "min_score" | "max_score");
    let is_read =
        |key: &str, value: &Node<'_>| !STORED_ONLY.contains(&key) && !value.is_null() && (is_score || !is_limit(key));
    let entries = entries.iter().filter(|it| is_read(&it.key, &it.value)).cloned().collect();
    Node { span: node.span, content: Content::Map(entries) }
}

fn read_trait(reading: &mut Reading<'_>, node: &Node<'_>) -> Option<(Trait, Span)> {
    let n_before = reading.n_errors();
    let keys = TRAIT.fields(reading, node)?;
    let name = keys.read_as(reading, "`name` of a trait", &NAME);
    if let Some(name) = &name
        && name.value.trim().is_empty()
    {
        reading.problem(Problem::new(&codes::WRONG_VALUE, "a trait without a name").at(name.span, "empty"));
    }
    let description = keys.read_as(reading, "`description` of a trait", &DESCRIPTION);
    let higher_is_better = keys.value(reading, &HIGHER_IS_BETTER);
    let kind = kind_of(reading, &keys, node)?;
    for (other, own) in OWN_KEYS.iter().filter(|(it, _)| *it != kind) {
        for key in *own {
            if let Some(span) = keys.key_span(key) {
                let message = format!("`{}` belongs to traits of kind `{}`", key.name, other.name());
                let problem =
                    Problem::new(&codes::CONFLICT, message).at(span, format!("this one is `{}`", kind.name()));
                reading.problem(problem.help("drop it, or change `kind`"));
            }
        }
    }
    let kind = match kind {
        Kind::Boolean => Some(TraitKind::Boolean),
        Kind::Score => read_score(reading, &keys),
        Kind::Literal => read_classes(reading, &keys),
        Kind::Regex => read_regex(reading, &keys),
        Kind::Cel => read_cel(reading, &keys),
        Kind::Metric => read_metric(reading, &keys),
    };
    let name = name?;
    let read = Trait { name: name.value, description: description.unwrap_or_default(), higher_is_better, kind: kind? };
    (reading.n_errors() == n_before).then_some((read, name.span))
}

/// The kind that is written, or the one that the other keys belong to.
fn kind_of(reading: &mut Reading<'_>, keys: &Fields<'_, '_>, node: &Node<'_>) -> Option<Kind> {
    if keys.key_span(&KIND).is_some() {
        return keys.read_as(reading, "`kind` of a trait", &KIND);
    }
    if keys.may_mean(&KIND) {
        return None;
    }
    let own = OWN_KEYS.iter().find(|(_, own)| own.iter().any(|it| keys.key_span(it).is_some()));
    if own.is_none() {
        let problem = Problem::new(&codes::MISSING_KEY, "a trait needs `kind`").at(node.span, "without `kind`");
        reading.problem(problem.help(format!("`kind` is {}", listed(Kind::NAMED.map(|(name, _)| name)))));
    }
    own.map(|(kind, _)| *kind)
}

/// The value of a key that a kind cannot do without.
fn needed<'n, 'a>(reading: &mut Reading<'_>, keys: &Fields<'n, 'a>, key: &impl field::Named) -> Option<&'n Node<'a>> {
    let found = keys.node(key);
    if found.is_none() && !keys.may_mean(key) {
        reading.problem(keys.missing(key));
    }
    found
}

fn read_score(reading: &mut Reading<'_>, keys: &Fields<'_, '_>) -> Option<TraitKind> {
    let n_before = reading.n_errors();
    let min = keys.value_as(reading, "`min` of a trait", &MIN);
    let max = keys.value_as(reading, "`max` of a trait", &MAX);
    if reading.n_errors() > n_before {
        return None;
    }
    if min >= max {
        let span = keys.node(&MAX).or(keys.node(&MIN)).map_or(keys.head(), |it| it.span);
        let problem = Problem::new(&codes::WRONG_VALUE, format!("no scores lie between {min} and {max}"));
        reading.problem(problem.at(span, "no range").help("`min` must be less than `max`"));
        return None;
    }
    Some(TraitKind::Score { min, max })
}

fn read_classes(reading: &mut Reading<'_>, keys: &Fields<'_, '_>) -> Option<TraitKind> {
    let node = needed(reading, keys, &NAMED_CLASSES)?;
    let classes: Vec<(String, String, Span)> = match &node.content {
        Content::Map(entries) => entries
            .iter()
            .filter_map(|it| {
                let meaning = reading.text(&format!("the class `{}`", it.key), &it.value)?;
                Some((it.key.clone().into_owned(), meaning.value, it.key_span))
            })
            .collect(),
        Content::List(_) => reading
            .texts(&NAMED_CLASSES.quoted(), node)
            .into_iter()
            .map(|it| (it.value, String::new(), it.span))
            .collect(),
        Content::Scalar(_) => {
            reading.wrong_type(
                &NAMED_CLASSES.quoted(),
                "an object of names and what they mean, or a list of names",
                node,
            );
            return None;
        }
    };
    let (least, most) = (CLASSES.start(), CLASSES.end());
    let n_classes = node.entries().map_or(classes.len(), <[_]>::len);
    if !CLASSES.contains(&n_classes) {
        let problem =
            Problem::new(&codes::WRONG_VALUE, format!("a trait has {least} to {most} classes, not {n_classes}"));
        reading.problem(problem.at(node.span, "here"));
        return None;
    }
    let mut seen: HashMap<String, Span> = HashMap::new();
    for (name, _, span) in &classes {
        let problem = if name.trim().is_empty() {
            Some(Problem::new(&codes::WRONG_VALUE, "a class without a name").at(*span, "empty"))
        } else {
            let earlier = seen.insert(name.to_lowercase(), *span);
            earlier.map(|earlier| {
                let problem = Problem::new(&codes::REPEATED_KEY, format!("the class `{name}` stands twice"));
                problem.at(*span, "again here").at(earlier, "first here").help("classes differ by more than case")
            })
        };
        if let Some(problem) = problem {
            reading.problem(problem);
            return None;
        }
    }
    Some(TraitKind::Literal { classes: classes.into_iter().map(|(name, meaning, _)| (name, meaning)).collect() })
}

fn read_regex(reading: &mut Reading<'_>, keys: &Fields<'_, '_>) -> Option<TraitKind> {
    let pattern = needed(reading, keys, &PATTERN.key).and_then(|_| keys.read(reading, &PATTERN));
    let case_sensitive = keys.value(reading, &CASE_SENSITIVE);
    let invert = keys.value(reading, &INVERT);
    let pattern = pattern?;
    match TraitKind::regex(&pattern.value, case_sensitive, invert) {
        Ok(kind) => Some(kind),
        Err(error) => {
            let wrong = error.at.clone();
            let span = wrong.map_or(pattern.span, |at| reading.part_of_text(pattern.span, &pattern.value, at));
            let message = format!("`pattern`: not a regular expression: {error}");
            reading.problem(Problem::new(&codes::BAD_PATTERN, message).at(span, "here"));
            None
        }
    }
}

/// The names that expressions of traits read.
const NAMES: [&str; 4] = ["raw_response", "question", "parsed", "verify_result"];

fn read_cel(reading: &mut Reading<'_>, keys: &Fields<'_, '_>) -> Option<TraitKind> {
    let source = needed(reading, keys, &CEL.key).and_then(|_| keys.read(reading, &CEL))?;
    let expression = match Expression::compile(&source.value).and_then(|it| it.must_read(&NAMES)) {
        Ok(expression) => expression,
        Err(error) => {
            reading.problem(Problem::new(&codes::BAD_EXPRESSION, error.to_string()).at(source.span, "here"));
            return None;
        }
    };
    Some(TraitKind::Cel(Arc::new(expression)))
}

fn read_metrics(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<Vec<(Metric, Span)>> {
    let items = reading.list(what, "a list of names", node);
    let metric = |it: &Node<'_>| Some((reading.choice("a metric", &Metric::NAMED, it)?, it.span));
    Some(items.iter().filter_map(metric).collect())
}

fn read_metric(reading: &mut Reading<'_>, keys: &Fields<'_, '_>) -> Option<TraitKind> {
    let n_before = reading.n_errors();
    let node = needed(reading, keys, &ITEMS.key)?;
    let items = keys.read(reading, &ITEMS).unwrap_or_default();
    let unwanted = keys.read(reading, &UNWANTED).unwrap_or_default();
    let usual = || {
        let usual = Metric::NAMED.iter().filter(|(_, it)| !it.needs_unwanted() || !unwanted.is_empty());
        usual.map(|(_, it)| (*it, node.span)).collect()
    };
    let metrics: Vec<(Metric, Span)> = keys.read(reading, &METRICS).unwrap_or_else(usual);
    if reading.n_errors() > n_before {
        return None;
    }
    let mut seen: HashMap<&str, Span> = HashMap::new();
    for it in items.iter().chain(&unwanted) {
        if let Some(first) = seen.insert(&it.value, it.span) {
            let text = shown_within(&Val::from(it.value.as_str()), 40);
            let problem =
                Problem::new(&codes::CONFLICT, format!("{text} stands twice in one trait")).at(it.span, "again here");
            reading.problem(problem.at(first, "first here"));
        }
    }
    for (ix, (metric, span)) in metrics.iter().enumerate() {
        if metrics[..ix].iter().any(|(it, _)| it == metric) {
            reading.problem(
                Problem::new(&codes::CONFLICT, format!("`{metric}` is computed twice")).at(*span, "again here"),
            );
        }
        if metric.needs_unwanted() && unwanted.is_empty() {
            let problem = Problem::new(&codes::MISSING_KEY, format!("`{metric}` needs `unwanted`"))
                .at(*span, "counts what is left out");
            reading.problem(problem.help("list under `unwanted` what an answer should not contain"));
        }
    }
    let metrics_span = keys.node(&METRICS).map_or(node.span, |it| it.span);
    for (what, is_empty, span) in
        [("items", items.is_empty(), node.span), ("metrics", metrics.is_empty(), metrics_span)]
    {
        if is_empty {
            let problem = Problem::new(&codes::WRONG_VALUE, format!("`{what}` of a metric is empty"));
            reading.problem(problem.at(span, "nothing to count"));
        }
    }
    if reading.n_errors() > n_before {
        return None;
    }
    let texts = |list: Vec<Spanned<String>>| list.into_iter().map(|it| it.value).collect();
    let metrics = metrics.into_iter().map(|(it, _)| it).collect();
    Some(TraitKind::Metric { items: texts(items), unwanted: texts(unwanted), metrics })
}

impl Trait {
    /// The trait as it is written in a suite.
    pub fn to_value(&self) -> Value {
        let text = |it: &str| Val::from(it.to_owned());
        let texts = |list: &[String]| list.iter().map(|it| text(it)).collect::<Value>();
        let (kind, own): (&str, Vec<(&'static str, Value)>) = match &self.kind {
            TraitKind::Boolean => ("boolean", Vec::new()),
            TraitKind::Score { min, max } => ("score", vec![("min", Val::I(*min)), ("max", Val::I(*max))]),
            TraitKind::Literal { classes } => {
                let classes: Map<'static> =
                    classes.iter().map(|(name, meaning)| (name.clone(), text(meaning))).collect();
                ("literal", vec![("classes", Val::Map(classes))])
            }
            TraitKind::Regex { pattern, case_sensitive, invert } => {
                let flags = [("case_sensitive", *case_sensitive, true), ("invert", *invert, false)];
                let flags =
                    flags.into_iter().filter(|(_, is, usual)| is != usual).map(|(key, is, _)| (key, Val::Bool(is)));
                ("regex", [("pattern", text(pattern.as_str()))].into_iter().chain(flags).collect())
            }
            TraitKind::Cel(expression) => ("cel", vec![("cel", text(expression.source()))]),
            TraitKind::Metric { items, unwanted, metrics } => {
                let unwanted = (!unwanted.is_empty()).then(|| ("unwanted", texts(unwanted)));
                let metrics = metrics.iter().map(|it| Val::from(it.name())).collect();
                let own = [("items", texts(items))].into_iter().chain(unwanted).chain([("metrics", metrics)]);
                ("metric", own.collect())
            }
        };
        let mut members = vec![("name", text(&self.name)), ("kind", text(kind))];
        if !self.description.is_empty() {
            members.push(("description", text(&self.description)));
        }
        if !self.higher_is_better {
            members.push(("higher_is_better", Val::Bool(false)));
        }
        Val::Map(members.into_iter().chain(own).collect())
    }
}
