//! An assertion: where to look, what to compare, and what a path that finds nothing means.

use std::borrow::Cow;
use std::fmt::Debug;
use std::sync::Arc;

use jurat_format::choices;
use jurat_format::value::{Context, FieldPath, Kind, Missing, Val, Value, parse_json, shown};

use super::exists;
use super::judgement::{Fault, Inapplicable, Judgement, Mismatch};
use super::{Bound, Comparison, Operator};

/// A comparison at a place in a context.
#[derive(Debug, Clone)]
pub struct Assertion {
    /// Where to look; the whole context when absent.
    pub path: Option<FieldPath>,
    /// Where to look inside each item of the list that is found.
    pub item_path: Option<FieldPath>,
    pub expected: Expected,
    /// What a path that finds nothing means.
    pub when_missing: WhenMissing,
}

/// What a value is compared with.
#[derive(Debug, Clone)]
pub enum Expected {
    /// Something written in the definition, compiled when it was read.
    Fixed(Comparison<'static>),
    /// Something that each case supplies, at this path.
    Found(Operator, FieldPath),
    /// Something with placeholders that each case fills.
    Filled(Operator, Arc<dyn Fill>),
}

/// A value with placeholders.
pub trait Fill: Debug + Send + Sync {
    /// The value for a context, or in words what the context does not have.
    fn fill(&self, context: Context<'_>) -> Result<Value, String>;
}

choices! {
    /// What a path that finds nothing means.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum WhenMissing {
        /// A typo and an absent answer look the same, so nothing is judged.
        #[default]
        Error = "error",
        /// The author says that absence is a failure of the subject.
        Fail = "fail",
    }
}

impl Assertion {
    #[inline]
    pub fn judge(&self, context: Context<'_>) -> Judgement {
        match &self.expected {
            Expected::Fixed(comparison) => self.compare(comparison, context),
            Expected::Found(operator, path) => self.compare_with(operator, path, context.find(path), context),
            Expected::Filled(operator, filled) => self.compare_filled(operator, filled.fill(context), context),
        }
    }

    /// Judges a judge's reply: paths lead into the reply, and what is compared with may also come from the task's context.
    pub fn judge_reply(&self, reply: &Val<'_>, context: Context<'_>) -> Judgement {
        let in_reply = Context::of(reply);
        match &self.expected {
            Expected::Fixed(comparison) => self.compare(comparison, in_reply),
            Expected::Found(operator, path) => {
                let operand = in_reply.find(path).or_else(|missing| context.find(path).map_err(|_| missing));
                // Where the operator alone needs a value, the reply was read as JSON before.
                let is_text = self.path.is_none() && matches!(reply, Val::Str(_)) && !operator.needs_value(None);
                if let Some(operand) = operand.as_ref().ok().filter(|it| is_text && operator.needs_value(Some(it))) {
                    return match read_reply(reply, operand.kind()) {
                        Ok(reply) => self.compare_with(operator, path, Ok(Cow::Borrowed(operand)), Context::of(&reply)),
                        Err(inapplicable) => Judgement::Error(Box::new(inapplicable)),
                    };
                }
                self.compare_with(operator, path, operand, in_reply)
            }
            Expected::Filled(operator, filled) => {
                let operand = filled.fill(in_reply).or_else(|reason| filled.fill(context).map_err(|_| reason));
                self.compare_filled(operator, operand, in_reply)
            }
        }
    }

    /// Judges a boolean that an evaluator returned, in the place of its label. It is compared as the author of the comparison spells it: `true`, `True` or
    /// the boolean itself.
    pub fn judge_truth(&self, truth: bool, context: Context<'_>) -> Judgement {
        let compare = |comparison: &Comparison<'_>| comparison.judge(&comparison.spelled(truth));
        match &self.expected {
            Expected::Fixed(comparison) => compare(comparison),
            Expected::Found(operator, path) => match context.find(path) {
                Ok(operand) => match operator.bind(operand.borrowed()) {
                    Ok(comparison) => compare(&comparison),
                    Err(inapplicable) => Judgement::Error(Box::new(inapplicable)),
                },
                Err(missing) => not_found(path, &missing),
            },
            Expected::Filled(operator, filled) => match bound(operator, filled.fill(context)) {
                Ok(comparison) => compare(&comparison),
                Err(inapplicable) => Judgement::Error(Box::new(inapplicable)),
            },
        }
    }

    /// Binds what was filled in, then compares.
    fn compare_filled(&self, operator: &Operator, operand: Result<Value, String>, context: Context<'_>) -> Judgement {
        match bound(operator, operand) {
            Ok(comparison) => self.compare(&comparison, context),
            Err(inapplicable) => Judgement::Error(Box::new(inapplicable)),
        }
    }

    /// Binds what a case supplied, then compares.
    fn compare_with(
        &self,
        operator: &Operator,
        path: &FieldPath,
        operand: Result<Cow<'_, Val<'_>>, Missing>,
        context: Context<'_>,
    ) -> Judgement {
        let operand = match operand {
            Ok(operand) => operand,
            Err(missing) => return not_found(path, &missing),
        };
        match operator.bind(operand.borrowed()) {
            Ok(comparison) => self.compare(&comparison, context),
            Err(inapplicable) => Judgement::Error(Box::new(inapplicable)),
        }
    }

    fn compare(&self, comparison: &Comparison<'_>, context: Context<'_>) -> Judgement {
        let Some(path) = &self.path else { return self.compare_found(comparison, &context.whole()) };
        // Most paths lead to something that is there; only the others need to say more.
        if let Some(found) = context.reach(path) {
            return self.compare_found(comparison, found);
        }
        match context.find(path) {
            Ok(found) => self.compare_found(comparison, &found),
            Err(missing) => self.missing(comparison, path, &missing),
        }
    }

    fn compare_found(&self, comparison: &Comparison<'_>, found: &Val<'_>) -> Judgement {
        match (&self.item_path, found) {
            (Some(item_path), Val::List(items)) => self.compare_each(comparison, item_path, items),
            (Some(item_path), other) => no_items(item_path, other),
            (None, _) => comparison.judge(found),
        }
    }

    fn compare_each(&self, comparison: &Comparison<'_>, item_path: &FieldPath, items: &[Val<'_>]) -> Judgement {
        if items.is_empty() {
            let expected = format!("items, each {}", comparison.expected());
            return Judgement::Failed(Box::new(Mismatch { expected, found: "an empty list".to_owned() }));
        }
        let judge = |item: &Val<'_>| match item_path.find(item) {
            Ok(found) => comparison.judge(&found),
            Err(missing) => self.missing(comparison, item_path, &missing),
        };
        let judged = items.iter().map(judge).enumerate();
        judged.into_iter().find(|(_, it)| *it != Judgement::Passed).map_or(Judgement::Passed, |(ix, it)| it.of_item(ix))
    }

    fn missing(&self, comparison: &Comparison<'_>, path: &FieldPath, missing: &Missing) -> Judgement {
        let existence = match &comparison.bound {
            Bound::Exists(exists) => Some(exists::Comparison::wanted(exists)),
            _ => None,
        };
        match (existence, self.when_missing) {
            (Some(false), _) => Judgement::Passed,
            (None, WhenMissing::Error) => not_found(path, missing),
            (Some(true), _) | (None, WhenMissing::Fail) => {
                let found = format!("nothing: {}", missing.explain(path));
                Judgement::Failed(Box::new(Mismatch { expected: comparison.expected(), found }))
            }
        }
    }
}

/// The comparison with an operand that was filled in.
fn bound(operator: &Operator, operand: Result<Value, String>) -> Result<Comparison<'static>, Inapplicable> {
    let operand =
        operand.map_err(|it| Inapplicable { fault: Fault::Content, reason: format!("`expected_value`: {it}") })?;
    operator.bind(operand)
}

/// A reply that is compared with something else than text, as JSON of that kind.
fn read_reply<'r>(reply: &'r Val<'_>, kind: Kind) -> Result<Val<'r>, Inapplicable> {
    let read = reply.as_str().and_then(|it| parse_json(it.trim()).ok());
    let read = read.filter(|it| !it.repeated_key && it.value.kind() == kind);
    let reason = || {
        let (kind, found) = (kind.phrase(), shown(reply));
        format!("needs a reply that is {kind}, found {found}; say what the judge answers with `output`")
    };
    read.map(|it| it.value).ok_or_else(|| Inapplicable { fault: Fault::Content, reason: reason() })
}

/// Only the author can have said that there are items.
fn no_items(item_path: &FieldPath, found: &Val<'_>) -> Judgement {
    let needs = format!("a list, because `item_field_path: {item_path}` looks inside items");
    Judgement::Error(Box::new(Inapplicable::kind(needs, found)))
}

fn not_found(path: &FieldPath, missing: &Missing) -> Judgement {
    let reason = format!("`{path}` finds nothing: {}", missing.explain(path));
    Judgement::Error(Box::new(Inapplicable { fault: Fault::Content, reason }))
}
