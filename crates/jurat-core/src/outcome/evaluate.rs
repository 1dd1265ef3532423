//! What a check comes to over the evidence of a scenario.

use jurat_compare::expression::{Expression, ExpressionError};
use jurat_compare::{Fault, Inapplicable};
use jurat_format::value::{Kind, Map, Val, Value, shown};

use super::check::{
    Aggregation, AggregationKind, Check, CrossTurnCheck, Relation, Scope, Threshold, TurnCheck, TurnTest,
};
use super::words;
use crate::evidence::fault::{unanswered, words as fault_words};

/// Why a check could not be decided.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}: {reason}")]
pub struct OutcomeError {
    /// What kind of reason it is.
    pub fault: Fault,
    /// What could not be decided, in words.
    pub what: String,
    pub reason: String,
}

/// What `outcome_results` keeps of an outcome: a check that could not be decided counts as no.
pub fn stored(outcome: Result<Value, OutcomeError>) -> Value {
    outcome.unwrap_or(Val::Bool(false))
}

impl Check {
    /// What the check comes to: whether it holds; a number for an aggregation without thresholds; any value for an expression.
    ///
    /// ```
    /// use jurat_core::outcome::{count_turns, TurnFilter, last_turn};
    /// use jurat_format::value::{Val, parse_json};
    ///
    /// let text = r#"{"history": [{"verify_result": true}, {"verify_result": false, "parsed": {"n": "many"}}]}"#;
    /// let evidence = parse_json(text)?.value;
    /// let right = count_turns(TurnFilter { verify_result: Some(true), ..TurnFilter::default() });
    /// assert_eq!(right.evaluate(&evidence), Ok(Val::I(1)));
    /// let undecided = last_turn([("parsed.n", 3.into())]).evaluate(&evidence).unwrap_err();
    /// assert_eq!(undecided.to_string(), "`parsed.n` of turn 1: `many` is not a number");
    /// # Ok::<(), jurat_format::value::JsonError>(())
    /// ```
    pub fn evaluate(&self, evidence: &Val<'_>) -> Result<Value, OutcomeError> {
        match self {
            Check::Aggregation(it) => it.evaluate(evidence),
            Check::Cel(expression) => evaluated(expression, "result", evidence).map_err(|it| uncertain(&it)),
            Check::Code(name) => decided(name, evidence),
            other => other.holds(evidence).map(Val::Bool),
        }
    }

    /// Whether the check holds, where a yes or no is needed. A number is none: a bare aggregation inside a composition does not hold, as it
    /// does not where such checks come from.
    pub fn holds(&self, evidence: &Val<'_>) -> Result<bool, OutcomeError> {
        match self {
            Check::Turn(it) => it.holds(evidence),
            Check::Result(it) => {
                let judged = it.wanted.holds(&it.field.find(evidence));
                judged.map_err(|error| OutcomeError::because(format!("`{}`", it.field), error))
            }
            Check::CrossTurn(it) => it.holds(evidence),
            Check::Aggregation(it) => Ok(it.evaluate(evidence)? == Val::Bool(true)),
            Check::AllOf(parts) => {
                for part in parts {
                    if !part.holds(evidence)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Check::AnyOf(parts) => {
                for part in parts {
                    if part.holds(evidence)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Check::AtLeast { n, of } => {
                let mut n_held = 0;
                for part in of {
                    n_held += u64::from(part.holds(evidence)?);
                }
                Ok(n_held >= *n)
            }
            Check::Not(part) => part.holds_not(evidence),
            Check::Cel(expression) => match self.evaluate(evidence)? {
                Val::Bool(holds) => Ok(holds),
                other => Err(not_boolean(expression, &other)),
            },
            Check::Code(_) => match self.evaluate(evidence)? {
                Val::Bool(holds) => Ok(holds),
                other => Err(OutcomeError {
                    fault: Fault::Kind,
                    what: words::head(self),
                    reason: format!("it gives {}, and must give true or false", shown(&other)),
                }),
            },
        }
    }

    /// Whether the check does not hold. The opposite of a number is no yes or no.
    pub(super) fn holds_not(&self, evidence: &Val<'_>) -> Result<bool, OutcomeError> {
        match self {
            Check::Aggregation(it) if it.thresholds.is_empty() => {
                let reason = "it gives a number, and `not` needs a yes or no; add `gte`, `gt`, `lte`, `lt` or `eq`";
                Err(OutcomeError { fault: Fault::Kind, what: words::head(self), reason: reason.to_owned() })
            }
            other => other.holds(evidence).map(|holds| !holds),
        }
    }
}

/// What code has decided, or why it could not.
fn decided(name: &str, evidence: &Val<'_>) -> Result<Value, OutcomeError> {
    let part = |key: &str| evidence.get(key).and_then(|it| it.get(name));
    let undecided = |reason: &str| OutcomeError {
        fault: Fault::Kind,
        what: format!("the code of `{name}`"),
        reason: reason.to_owned(),
    };
    match (part("outcome_errors").and_then(Val::as_str), part("outcome_results")) {
        (Some(reason), _) => Err(undecided(reason)),
        (None, Some(value)) => Ok(value.clone().into_owned()),
        (None, None) => Err(undecided("it was not called")),
    }
}

impl TurnCheck {
    fn holds(&self, evidence: &Val<'_>) -> Result<bool, OutcomeError> {
        let history = history(evidence)?;
        let (nodes, is_any) = match &self.scope {
            Scope::Any(nodes) => (nodes, true),
            Scope::All(nodes) => (nodes, false),
            single => {
                let Some((ix, turn)) = single.single(history) else { return Ok(false) };
                return self.test.holds(ix, turn);
            }
        };
        let mut some = false;
        for (ix, turn) in history.iter().enumerate().filter(|(_, turn)| nodes.has(turn)) {
            if self.test.holds(ix, turn)? == is_any {
                return Ok(is_any);
            }
            some = true;
        }
        // Of no turns at all nothing is true.
        Ok(some && !is_any)
    }
}

impl TurnTest {
    /// Whether the turn at this index is as it must be.
    pub(super) fn holds(&self, ix: usize, turn: &Val<'_>) -> Result<bool, OutcomeError> {
        if let Some(failure) = unanswered(turn).filter(|_| self.looks_at_answer()) {
            let (what, reason) = (words::turn(ix, turn), fault_words(failure));
            return Err(OutcomeError { fault: Fault::Content, what, reason });
        }
        match self {
            TurnTest::Field(field, wanted) => wanted
                .holds(&field.find(turn))
                .map_err(|error| OutcomeError::because(format!("`{field}` of {}", words::turn(ix, turn)), error)),
            TurnTest::Cel(expression) => {
                let value = evaluated(expression, "turn", turn).map_err(|it| uncertain(&it));
                let answer = value.and_then(|it| match it {
                    Val::Bool(holds) => Ok(holds),
                    other => Err(not_boolean(expression, &other)),
                });
                answer.map_err(|it| OutcomeError { what: format!("{} of {}", it.what, words::turn(ix, turn)), ..it })
            }
        }
    }

    /// Whether it looks at the answer, or at what was made of it.
    fn looks_at_answer(&self) -> bool {
        const OF_ANSWER: [&str; 7] =
            ["raw_response", "parsed", "verify_result", "score", "judged_by", "fields", "rubric"];
        match self {
            TurnTest::Field(field, _) => OF_ANSWER.contains(&field.part()),
            TurnTest::Cel(expression) => !expression.source().contains("failure"),
        }
    }
}

impl CrossTurnCheck {
    fn holds(&self, evidence: &Val<'_>) -> Result<bool, OutcomeError> {
        let history = history(evidence)?;
        let (source, target) = (self.source_turn.single(history), self.target_turn.single(history));
        let (Some((_, source)), Some((_, target))) = (source, target) else { return Ok(false) };
        let (source, target) = (self.source_field.find(source), self.target_field.find(target));
        let held = self.comparison.holds_normalised(&self.normalize, &target, &source);
        held.map_err(|error| OutcomeError::because(words::cross(self), error))
    }
}

impl Aggregation {
    fn evaluate(&self, evidence: &Val<'_>) -> Result<Value, OutcomeError> {
        let number = self.number(history(evidence)?);
        Ok(if self.thresholds.is_empty() { Val::I(number) } else { Val::Bool(self.is_within(number)) })
    }

    pub(super) fn number(&self, history: &[Val<'_>]) -> i64 {
        let number = match self.kind {
            AggregationKind::Count => Some(history.iter().filter(|turn| self.filter.has(turn)).count()),
            AggregationKind::FirstIndex => history.iter().position(|turn| self.filter.has(turn)),
        };
        number.map_or(-1, |it| i64::try_from(it).unwrap_or(i64::MAX))
    }

    /// Whether the number is within all thresholds. Where there is no first turn, -1 is no index: only `eq: -1` asks for it, and `lte: 2` must not take it
    /// for an early one.
    pub(super) fn is_within(&self, number: i64) -> bool {
        const NONE: Threshold = Threshold { relation: Relation::Eq, than: -1 };
        let is_nowhere = self.kind == AggregationKind::FirstIndex && number < 0;
        self.thresholds.iter().all(|it| if is_nowhere { it == NONE } else { it.holds(number) })
    }
}

/// The turns of a scenario.
pub(super) fn history<'e, 'v>(evidence: &'e Val<'v>) -> Result<&'e [Val<'v>], OutcomeError> {
    let found = evidence.get("history");
    found.and_then(Val::as_list).ok_or_else(|| {
        let reason = match found.map(Val::kind) {
            None => "there is none: only scenarios have turns".to_owned(),
            Some(kind) => format!("needs {}, found {}", Kind::List.phrase(), kind.phrase()),
        };
        OutcomeError { fault: Fault::Kind, what: "`history`".to_owned(), reason }
    })
}

/// What an expression comes to with this value under this name.
fn evaluated(expression: &Expression, name: &'static str, value: &Val<'_>) -> Result<Value, ExpressionError> {
    expression.evaluate(&Val::Map([(name, value.borrowed())].into_iter().collect::<Map<'_>>()))
}

fn uncertain(error: &ExpressionError) -> OutcomeError {
    OutcomeError { fault: Fault::Content, what: "`cel`".to_owned(), reason: error.to_string() }
}

fn not_boolean(expression: &Expression, value: &Val<'_>) -> OutcomeError {
    let reason = format!("`{}` gives {}, and must give true or false", expression.source(), shown(value));
    OutcomeError { fault: Fault::Kind, what: "`cel`".to_owned(), reason }
}

impl OutcomeError {
    fn because(what: String, inapplicable: Inapplicable) -> OutcomeError {
        OutcomeError { fault: inapplicable.fault, what, reason: inapplicable.reason }
    }
}
