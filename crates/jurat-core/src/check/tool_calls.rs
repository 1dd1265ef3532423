//! `tool_call_count`, `tool_called`, `tool_not_called`, `tool_order` and `tool_result`: which tools the run called.

use std::sync::Arc;

use jurat_compare::{Assertion, Inapplicable};
use jurat_format::choices;
use jurat_format::codes;
use jurat_format::field::{Defaulted, Field};
use jurat_format::fields::Fields;
use jurat_format::form::{DefaultValue, Form, Object};
use jurat_format::problem::Problem;
use jurat_format::reader::Reading;
use jurat_format::shape::{self, Shape};
use jurat_format::value::{Content, FieldPath, Node, Spanned, Val, shown_within};

use super::calls::{Call, CallPattern, calls};
use super::decision::{Decided, cannot_tell, mismatch, quoted, times};
use super::read::{COMPARISON, COMPARISONS, comparison_of};
use super::{Rule, Seen, kind};
use crate::comparison::TaskComparison;
use crate::tool_kind::ToolKind;

const TOOL: Field<Vec<String>> =
    Field::optional("tool", Shape::new(shape::TEXT_OR_TEXTS, tools), "the tool, or several of which any matches")
        .default_words("every tool")
        .or_null();
const TOOL_KIND: Field<Vec<ToolKind>> = Field::optional(
    "tool_kind",
    Shape::new(const { Form::Either(&[KIND_NAME, Form::List(&KIND_NAME)]) }, kinds),
    "what the tool does, whatever its agent calls it; or several of which any matches",
)
.default_words("every kind")
.or_null();
const ARGUMENTS: Field<Vec<Assertion>> = Field::optional(
    "arguments",
    Shape::new(const { Form::Either(&[COMPARISONS, Form::Map(&Form::Any)]) }, arguments),
    "what the arguments must be: a list of comparisons, or path → value that it equals",
)
.or_null();
const STATUS: Field<CallStatus> = Field::optional("status", shape::choice(), "how the call must have ended").or_null();
const OUTPUT: Field<Vec<Assertion>> = Field::optional(
    "output",
    Shape::new(const { Form::Either(&[COMPARISON, COMPARISONS]) }, outputs),
    "what the call must have returned: a comparison, or several",
)
.or_null();
const RESPONSE: Field<Spanned<FieldPath>> = Field::optional(
    "response_path",
    shape::PATH,
    "the path of a recorded response of OpenAI, Anthropic or Gemini, which is checked in place of the run",
)
.or_null();
const N_CALLS: Field<u64> =
    Field::required("expected", shape::large_count::<0>(), "the number of calls").or(&["count"]);

const MIN_CALLS: Field<u64> = Field::optional("min", shape::large_count::<0>(), "the minimum number of matching calls")
    .printed_default(DefaultValue::Integer(USUAL_MIN as i64))
    .or_null();
const MAX_CALLS: Field<u64> = Field::optional("max", shape::large_count::<0>(), "the maximum number of matching calls")
    .default_words("no maximum")
    .or_null();
const TOOLS: Field<Vec<CallPattern>> = Field::required(
    "tools",
    Shape::new(const { Form::List(&Form::Either(&[Form::Text, Form::Object(&CALL)])) }, patterns),
    "the calls: names of tools, or objects",
);
const EXACT: Defaulted<bool> =
    Field::optional("exact", shape::BOOLEAN, "whether no other calls may be between them").or_null().default(false);
const WHICH: Defaulted<Which> =
    Field::optional("which", shape::choice(), "which of the results must be so").or_null().default_choice("every");

const KIND_NAME: Form = shape::choice::<ToolKind>().form;

static CALL: Object =
    Object { what: "a call", keys: &[TOOL.key, TOOL_KIND.key, ARGUMENTS.key, STATUS.key, OUTPUT.key] };

choices! {
    /// How a call ended.
    #[derive(Clone, Copy, PartialEq)]
    enum CallStatus {
        Success = "success",
        Error = "error",
    }
}

choices! {
    /// Of which results something must hold.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Which {
        /// Of each, and there must be one.
        Every = "every",
        /// Of one of them.
        Any = "any",
        First = "first",
        Last = "last",
    }
}

kind! {
    TOOL_CALL_COUNT = "tool_call_count": "passes if exactly this number of tool calls was made",
    keys: [N_CALLS.key, RESPONSE.key],
    read: tool_call_count,
    dimensions: ["process", "efficiency"],
    note: "`count` is read for `expected`. Calls are counted, results are not.",
}

kind! {
    TOOL_CALLED = "tool_called": "passes if the number of matching calls is within the bounds",
    keys: [TOOL.key, TOOL_KIND.key, ARGUMENTS.key, STATUS.key, OUTPUT.key, MIN_CALLS.key, MAX_CALLS.key, RESPONSE.key],
    read: tool_called,
    dimensions: ["process"],
    note: "An argument that is missing, or of another kind, does not match.",
}

kind! {
    TOOL_NOT_CALLED = "tool_not_called": "passes if no matching call was made",
    keys: [TOOL.key, TOOL_KIND.key, ARGUMENTS.key, STATUS.key, OUTPUT.key, RESPONSE.key],
    read: tool_not_called,
    dimensions: ["process"],
}

kind! {
    TOOL_ORDER = "tool_order": "passes if matching calls were made in this order",
    keys: [TOOLS.key, EXACT.key, RESPONSE.key],
    read: tool_order,
    dimensions: ["process"],
    note: "Other calls may come between unless it is `exact`.",
}

kind! {
    TOOL_RESULT = "tool_result": "passes if the results of matching calls are as `status` and `output` require",
    keys: [TOOL.key, TOOL_KIND.key, ARGUMENTS.key, STATUS.key, OUTPUT.key, WHICH.key, RESPONSE.key],
    read: tool_result,
    dimensions: ["process"],
    note: "Without any such call it fails. Results that were not recorded cannot be decided.",
}

/// Whether exactly this number of tool calls was made.
#[derive(Debug)]
struct ToolCallCount {
    expected: u64,
    /// The recorded response to look at instead of the run.
    response: Option<FieldPath>,
}

impl Rule for ToolCallCount {
    fn decide(&self, evidence: &Val<'_>, _: &[Seen]) -> Decided {
        let (expected, found) = (self.expected, listed(evidence, self.response.as_ref())?.len() as u64);
        Ok((found != expected).then(|| mismatch(times(expected, "tool call"), times(found, "tool call"))))
    }
}

/// Whether a tool was called, and how often.
#[derive(Debug)]
struct ToolCalled {
    calls: CallPattern,
    min: u64,
    max: Option<u64>,
    response: Option<FieldPath>,
}

impl Rule for ToolCalled {
    fn decide(&self, evidence: &Val<'_>, _: &[Seen]) -> Decided {
        let calls = listed(evidence, self.response.as_ref())?;
        let n_matching = calls.iter().filter(|it| self.calls.matches(it)).count() as u64;
        if n_matching >= self.min && self.max.is_none_or(|it| n_matching <= it) {
            return Ok(None);
        }
        let phrase = self.calls.phrase();
        let expected = match (self.min, self.max) {
            (_, Some(0)) => format!("no call of {phrase}"),
            (min, Some(max)) if min == max => format!("{} of {phrase}", times(min, "call")),
            (0, Some(max)) => format!("at most {} of {phrase}", times(max, "call")),
            (min, Some(max)) => format!("{min} to {} of {phrase}", times(max, "call")),
            (1, None) => format!("a call of {phrase}"),
            (min, None) => format!("at least {} of {phrase}", times(min, "call")),
        };
        // Calls of the right tool with the wrong arguments are what the reader wants to see.
        let near: Vec<String> = calls.iter().filter(|it| self.calls.is_named(it)).take(3).map(Call::shown).collect();
        let found = match (n_matching, near.is_empty()) {
            (0, true) => names(&calls),
            (0, false) => near.join(", "),
            (n, _) => times(n, "such call"),
        };
        Ok(Some(mismatch(expected, found)))
    }
}

/// Whether tools were called in this order.
#[derive(Debug)]
struct ToolOrder {
    /// The calls, one after the other.
    calls: Vec<CallPattern>,
    /// Whether no other call may come before, between or after them.
    is_exact: bool,
    response: Option<FieldPath>,
}

impl Rule for ToolOrder {
    fn decide(&self, evidence: &Val<'_>, _: &[Seen]) -> Decided {
        let calls = listed(evidence, self.response.as_ref())?;
        let mut left = calls.iter();
        let is_in_order = match self.is_exact {
            true => calls.len() == self.calls.len() && self.calls.iter().zip(&calls).all(|(it, call)| it.matches(call)),
            // The earliest call that fits leaves the most for the others.
            false => self.calls.iter().all(|it| left.any(|call| it.matches(call))),
        };
        Ok((!is_in_order).then(|| {
            let order = self.calls.iter().map(CallPattern::phrase).collect::<Vec<_>>().join(", then ");
            mismatch(if self.is_exact { format!("exactly {order}") } else { order }, names(&calls))
        }))
    }
}

/// Whether what tools returned is as it should be.
#[derive(Debug)]
struct ToolResult {
    /// The calls whose results are looked at; its status and output are not.
    calls: CallPattern,
    /// What must hold of them.
    result: CallPattern,
    which: Which,
    response: Option<FieldPath>,
}

impl Rule for ToolResult {
    fn decide(&self, evidence: &Val<'_>, _: &[Seen]) -> Decided {
        let calls = listed(evidence, self.response.as_ref())?;
        let matching: Vec<&Call<'_>> = calls.iter().filter(|it| self.calls.matches(it)).collect();
        let results: Vec<&Call<'_>> =
            matching.iter().copied().filter(|it| it.output.is_some() || it.is_error.is_some()).collect();
        let looked_at: &[&Call<'_>] = match self.which {
            Which::Every | Which::Any => &results,
            Which::First => results.get(..1).unwrap_or(&[]),
            Which::Last => results.last().map_or(&[], std::slice::from_ref),
        };
        let expected = || {
            format!(
                "{} result of {}{}",
                self.which.name(),
                self.calls.phrase(),
                CallPattern { tools: Vec::new(), kinds: Vec::new(), arguments: Vec::new(), ..self.result.clone() }
                    .phrase()
                    .trim_start_matches("any tool")
            )
        };
        if matching.is_empty() {
            return Ok(Some(mismatch(expected(), names(&calls))));
        }
        if results.is_empty() {
            return Err(cannot_tell("the evidence has no results of these calls"));
        }
        let passes = |it: &&&Call<'_>| self.result.matches(it);
        let is_good = match self.which {
            Which::Any => looked_at.iter().any(|it| passes(&it)),
            Which::Every | Which::First | Which::Last => looked_at.iter().all(|it| passes(&it)),
        };
        let first_bad = looked_at.iter().find(|it| !self.result.matches(it));
        Ok(first_bad.filter(|_| !is_good).map(|call| {
            let output = call.output.as_ref().map_or("nothing".to_owned(), |it| shown_within(it, 60));
            let status = if call.is_error == Some(true) { "an error: " } else { "" };
            mismatch(expected(), format!("{} gave {status}{output}", call.shown()))
        }))
    }
}

fn response(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<FieldPath> {
    fields.read(reading, &RESPONSE).map(|it| it.value)
}

fn tool_call_count(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<Arc<dyn Rule>> {
    let response = response(reading, fields);
    Some(Arc::new(ToolCallCount { expected: fields.read(reading, &N_CALLS)?, response }))
}

fn pattern(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> CallPattern {
    CallPattern {
        tools: fields.read(reading, &TOOL).unwrap_or_default(),
        kinds: fields.read(reading, &TOOL_KIND).unwrap_or_default(),
        arguments: fields.read(reading, &ARGUMENTS).unwrap_or_default(),
        is_error: fields.read(reading, &STATUS).map(|it| it == CallStatus::Error),
        output: fields.read(reading, &OUTPUT).unwrap_or_default(),
    }
}

fn tools(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<Vec<String>> {
    match node.as_list() {
        Some(_) => (shape::STRINGS.read)(reading, what, node),
        None => (shape::STRING.read)(reading, what, node).map(|it| vec![it]),
    }
}

fn kinds(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<Vec<ToolKind>> {
    let items = node.as_list().unwrap_or(std::slice::from_ref(node));
    items.iter().map(|it| reading.choice(what, &ToolKind::NAMED, it)).collect()
}

/// Comparisons, or paths with what they equal.
fn arguments(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<Vec<Assertion>> {
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
fn outputs(reading: &mut Reading<'_>, _: &str, node: &Node<'_>) -> Option<Vec<Assertion>> {
    let items = node.as_list().unwrap_or(std::slice::from_ref(node));
    Some(items.iter().filter_map(|it| comparison_of(reading, it)).collect())
}

/// How many matching calls there must be at least, when no number is given.
const USUAL_MIN: u64 = 1;

fn tool_called(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<Arc<dyn Rule>> {
    let calls = pattern(reading, fields);
    let (min, max) = (fields.read(reading, &MIN_CALLS), fields.read(reading, &MAX_CALLS));
    // Who says only how often at most means that never is fine too.
    let min = min.unwrap_or(if max == Some(0) { 0 } else { USUAL_MIN });
    if let Some(max) = max.filter(|it| *it < min) {
        let message = format!("`max` is {max}, which is less than `min`, {min}");
        let at = fields.key_span(&MAX_CALLS).unwrap_or(fields.span);
        reading.problem(Problem::new(&codes::WRONG_VALUE, message).at(at, "never passes").help("default of `min`: 1"));
    }
    Some(Arc::new(ToolCalled { calls, min, max, response: response(reading, fields) }))
}

fn tool_not_called(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<Arc<dyn Rule>> {
    Some(Arc::new(ToolCalled {
        calls: pattern(reading, fields),
        min: 0,
        max: Some(0),
        response: response(reading, fields),
    }))
}

fn tool_order(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<Arc<dyn Rule>> {
    let calls = fields.read(reading, &TOOLS)?;
    let is_exact = fields.value(reading, &EXACT);
    Some(Arc::new(ToolOrder { calls, is_exact, response: response(reading, fields) }))
}

fn patterns(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<Vec<CallPattern>> {
    let mut patterns = Vec::new();
    for item in reading.list(what, "a list of tools", node) {
        match item.as_str() {
            Some(name) => patterns.push(CallPattern { tools: vec![name.to_owned()], ..CallPattern::default() }),
            None => {
                let Some(call) = CALL.fields(reading, item) else { continue };
                patterns.push(pattern(reading, &call));
            }
        }
    }
    Some(patterns)
}

fn tool_result(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<Arc<dyn Rule>> {
    let all = pattern(reading, fields);
    let which = fields.value(reading, &WHICH);
    if all.is_error.is_none()
        && all.output.is_empty()
        && ![STATUS.key, OUTPUT.key].iter().any(|it| fields.node(it).is_some() || fields.may_mean(it))
    {
        let problem = Problem::new(&codes::MISSING_KEY, "`tool_result` needs `status` or `output`");
        reading.problem(problem.at(fields.span, "says nothing of the results").help("for example `status: success`"));
    }
    let result = CallPattern { is_error: all.is_error, output: all.output, ..CallPattern::default() };
    let calls = CallPattern { tools: all.tools, kinds: all.kinds, arguments: all.arguments, ..CallPattern::default() };
    Some(Arc::new(ToolResult { calls, result, which, response: response(reading, fields) }))
}

fn listed<'e>(evidence: &'e Val<'e>, response: Option<&FieldPath>) -> Result<Vec<Call<'e>>, Inapplicable> {
    calls(evidence, response).map_err(cannot_tell)
}

/// Which tools were called, in words.
fn names(calls: &[Call<'_>]) -> String {
    const MOST: usize = 12;
    if calls.is_empty() {
        return "no tool call".to_owned();
    }
    let named = calls.iter().take(MOST).map(|it| quoted(&it.name)).collect::<Vec<_>>().join(", ");
    let more = if calls.len() > MOST { format!(", and {} more", calls.len() - MOST) } else { String::new() };
    format!("{named}{more}")
}
