//! `cost_usd`, `tokens`, `turns` and `duration_seconds`: what the run took, within bounds.

use std::sync::Arc;

use jurat_compare::{Inapplicable, Mismatch};
use jurat_format::choice::{Choice, names};
use jurat_format::codes;
use jurat_format::field::{Defaulted, Field};
use jurat_format::fields::Fields;
use jurat_format::problem::Problem;
use jurat_format::reader::Reading;
use jurat_format::shape;
use jurat_format::value::{Val, shown};

use super::decision::{Decided, cannot_tell, member, mismatch};
use super::{Rule, Seen, kind};

const MIN: Field<f64> = Field::optional("min", shape::AMOUNT, "the minimum").or_null();
const MAX: Field<f64> = Field::optional("max", shape::AMOUNT, "the maximum").or_null();
const OF: Defaulted<TokenCount> =
    Field::optional("of", shape::choice(), "which tokens").or_null().default_choice("total");

kind! {
    COST_USD = "cost_usd": "passes if the cost of the run, in dollars, is within the bounds",
    keys: [MIN.key, MAX.key],
    read: |reading, it| bounds(reading, it, Metric::CostUsd),
    dimensions: ["efficiency"],
}

kind! {
    TOKENS = "tokens": "passes if the number of tokens is within the bounds",
    keys: [OF.key, MIN.key, MAX.key],
    read: tokens,
    dimensions: ["efficiency"],
}

kind! {
    TURNS = "turns": "passes if the number of messages of the agent is within the bounds",
    keys: [MIN.key, MAX.key],
    read: |reading, it| bounds(reading, it, Metric::Turns),
    dimensions: ["efficiency"],
    note: "What the runner counted as `runner_metadata.turns`, else the messages of the assistant.",
}

kind! {
    DURATION_SECONDS = "duration_seconds": "passes if the duration of the run, in seconds, is within the bounds",
    keys: [MIN.key, MAX.key],
    read: |reading, it| bounds(reading, it, Metric::DurationSeconds),
    dimensions: ["efficiency"],
}

/// A metric of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Metric {
    CostUsd,
    /// Tokens, by their name in the artifact.
    Tokens(&'static str),
    /// How often the agent spoke.
    Turns,
    /// How long it took.
    DurationSeconds,
}

/// A count of tokens, by the name that a run has it under.
#[derive(Clone, Copy)]
struct TokenCount(&'static str);

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

/// Whether a metric of the run is within bounds.
#[derive(Debug)]
struct Within {
    metric: Metric,
    min: Option<f64>,
    max: Option<f64>,
}

impl Rule for Within {
    fn decide(&self, evidence: &Val<'_>, _: &[Seen]) -> Decided {
        within(evidence, self.metric, self.min, self.max)
    }
}

fn tokens(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<Arc<dyn Rule>> {
    let TokenCount(of) = fields.value(reading, &OF);
    bounds(reading, fields, Metric::Tokens(of))
}

fn bounds(reading: &mut Reading<'_>, fields: &Fields<'_, '_>, metric: Metric) -> Option<Arc<dyn Rule>> {
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
    Some(Arc::new(Within { metric, min, max }))
}

fn within(evidence: &Val<'_>, metric: Metric, min: Option<f64>, max: Option<f64>) -> Decided {
    let (name, found) = match metric {
        // A question to a model has its metrics on the top level.
        Metric::CostUsd => {
            ("dollars", member(evidence, &["usage", "cost_usd"]).or_else(|it| evidence.get("cost_usd").ok_or(it))?)
        }
        Metric::Tokens(name) => {
            let of_run = member(evidence, &["usage", "normalized", name]);
            ("tokens", of_run.or_else(|it| evidence.get("usage").and_then(|it| it.get(name)).ok_or(it))?)
        }
        Metric::DurationSeconds => ("seconds", member(evidence, &["timing", "duration_seconds"])?),
        Metric::Turns => {
            return turns(evidence).map(|n| bounded("turns", n as f64, n.to_string(), min, max));
        }
    };
    let Some(number) = found.as_f64() else {
        return Err(cannot_tell(format!("{} is no number of {name}", shown(found))));
    };
    Ok(bounded(name, number, found.to_string(), min, max))
}

fn bounded(name: &str, number: f64, found: String, min: Option<f64>, max: Option<f64>) -> Option<Mismatch> {
    if min.is_none_or(|it| number >= it) && max.is_none_or(|it| number <= it) {
        return None;
    }
    let expected = match (min, max) {
        (Some(min), Some(max)) => format!("{min} to {max} {name}"),
        (Some(min), None) => format!("at least {min} {name}"),
        (None, Some(max)) => format!("at most {max} {name}"),
        (None, None) => name.to_owned(),
    };
    Some(mismatch(expected, found))
}

/// How often the agent spoke: what its runner counted, else the messages of the trace that are its own.
fn turns(evidence: &Val<'_>) -> Result<u64, Inapplicable> {
    if let Some(Val::I(counted)) = evidence.get("runner_metadata").and_then(|it| it.get("turns")) {
        return u64::try_from(*counted).map_err(|_| cannot_tell("`runner_metadata.turns` is below 0"));
    }
    let trace = member(evidence, &["trace"])?.as_list().unwrap_or(&[]);
    let has = |it: &Val<'_>, key: &str, wanted: &str| it.get(key).and_then(Val::as_str) == Some(wanted);
    let is_own = |it: &&Val<'_>| has(it, "event_type", "message") && has(it, "role", "assistant");
    Ok(trace.iter().filter(is_own).count() as u64)
}
