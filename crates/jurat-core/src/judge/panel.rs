//! Several judges, one verdict.

use jurat_compare::Assertion;
use jurat_format::choices;
use jurat_format::value::{Context, FieldPath, Map, Step, Val, Value, python, shown};

use super::End;
use crate::verdict::Verdict;

choices! {
    /// How several answers of judges become one.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Aggregate {
        /// What most of them say.
        Majority = "majority",
        /// The mean of numbers.
        Mean = "mean",
        /// The median of numbers.
        Median = "median",
        /// All must pass.
        All = "all",
        /// One must pass.
        Any = "any",
    }
}

/// What the judges of a task said, and what follows.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskResult {
    pub verdict: Verdict,
    /// What tasks that depend on this one read: one reply that stands for all.
    pub output: Option<Value>,
    /// What each judge said about the value that is compared, in the order of the slots: the spread.
    pub said: Vec<Value>,
}

/// Draws the verdict from the replies of all slots. A slot without a reply leaves the task undecided: leaving it out would
/// change the vote without a word.
pub fn combine(ends: &[&End], assertion: Option<&Assertion>, aggregate: Aggregate, context: Context<'_>) -> TaskResult {
    let mut replies = Vec::with_capacity(ends.len());
    for (slot, end) in ends.iter().enumerate() {
        match end {
            End::Reply(reply) => replies.push(reply),
            End::NotRun(reason) => return TaskResult::undecided(Verdict::NotRun(*reason)),
            End::Fault(fault) => {
                let who = if ends.len() > 1 { format!("judge {}: ", slot + 1) } else { String::new() };
                return TaskResult::undecided(Verdict::error(format!("{who}{}", fault.text())));
            }
        }
    }
    let Some(assertion) = assertion else { return measured(&replies) };
    let judge = |reply: &Value| Verdict::from(assertion.judge_reply(reply, context));
    let Some((first, _)) = replies.split_first() else {
        return TaskResult::undecided(Verdict::error("no judge was asked"));
    };
    if replies.len() == 1 {
        return TaskResult { verdict: judge(first), output: Some((*first).clone()), said: said(&replies, assertion) };
    }
    let said = said(&replies, assertion);
    let decided = match aggregate {
        Aggregate::All => by_verdict(&replies, judge, |verdict| matches!(verdict, Verdict::Failed(_))),
        Aggregate::Any => by_verdict(&replies, judge, |verdict| *verdict == Verdict::Passed),
        Aggregate::Majority => majority(&replies, &said).map(|reply| (judge(reply), reply.clone())),
        Aggregate::Mean => middle(first, &said, assertion, mean).map(|reply| (judge(&reply), reply)),
        Aggregate::Median => middle(first, &said, assertion, median).map(|reply| (judge(&reply), reply)),
    };
    match decided {
        Ok((verdict, output)) => TaskResult { verdict, output: Some(output), said },
        Err(reason) => TaskResult { verdict: Verdict::error(reason), output: None, said },
    }
}

impl TaskResult {
    fn undecided(verdict: Verdict) -> TaskResult {
        TaskResult { verdict, output: None, said: Vec::new() }
    }
}

/// Nothing is compared: the reply that most of them gave stands for all, the first of them when none is more common.
fn measured(replies: &[&Value]) -> TaskResult {
    let votes = |reply: &Value| replies.iter().filter(|it| ***it == *reply).count();
    let common = replies.iter().rev().max_by_key(|it| votes(it)).map(|it| (**it).clone());
    TaskResult { verdict: Verdict::Measured, output: common, said: replies.iter().map(|it| (**it).clone()).collect() }
}

/// The values that are compared, as far as the replies have them.
fn said(replies: &[&Value], assertion: &Assertion) -> Vec<Value> {
    let value = |reply: &&Value| match &assertion.path {
        None => (**reply).clone(),
        Some(path) => path.find(reply).map_or(Val::Null, |it| it.into_owned().into_owned()),
    };
    replies.iter().map(value).collect()
}

/// The first slot whose verdict decides; else the first slot. A slot that cannot be judged leaves it undecided.
fn by_verdict(
    replies: &[&Value],
    judge: impl Fn(&Value) -> Verdict,
    decides: impl Fn(&Verdict) -> bool,
) -> Result<(Verdict, Value), String> {
    let mut verdicts = Vec::with_capacity(replies.len());
    for (slot, reply) in replies.iter().enumerate() {
        match judge(reply) {
            Verdict::Error(reason) => return Err(format!("judge {}: {}", slot + 1, reason.0)),
            verdict => verdicts.push(verdict),
        }
    }
    let slot = verdicts.iter().position(decides).unwrap_or(0);
    Ok((verdicts.swap_remove(slot), replies[slot].clone()))
}

/// The first reply with the value that most judges gave.
fn majority<'r>(replies: &[&'r Value], said: &[Value]) -> Result<&'r Value, String> {
    let votes: Vec<usize> =
        said.iter().map(|it| said.iter().filter(|other| python::equal(it, other)).count()).collect();
    let most = votes.iter().copied().max().unwrap_or(0);
    let winner = votes.iter().position(|it| *it == most).unwrap_or(0);
    let is_tie = votes.iter().zip(said).any(|(n, it)| *n == most && !python::equal(it, &said[winner]));
    if is_tie {
        let said: Vec<String> = said.iter().map(shown).collect();
        return Err(format!("the judges are divided: {}", said.join(", ")));
    }
    Ok(replies[winner])
}

/// The first reply with its compared value replaced by one number drawn from all.
fn middle(first: &Value, said: &[Value], assertion: &Assertion, draw: fn(&mut [f64]) -> f64) -> Result<Value, String> {
    let mut numbers = Vec::with_capacity(said.len());
    for (slot, value) in said.iter().enumerate() {
        numbers.push(
            value.as_f64().ok_or_else(|| format!("judge {} said {}, which is not a number", slot + 1, shown(value)))?,
        );
    }
    let steps = assertion.path.as_ref().map(FieldPath::steps).unwrap_or_default();
    Ok(replaced(first, steps, Val::F(draw(&mut numbers))))
}

fn mean(numbers: &mut [f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len() as f64
}

fn median(numbers: &mut [f64]) -> f64 {
    numbers.sort_unstable_by(f64::total_cmp);
    let half = numbers.len() / 2;
    if numbers.len() % 2 == 1 { numbers[half] } else { f64::midpoint(numbers[half - 1], numbers[half]) }
}

/// A copy with the value at a path replaced. A path that `[*]` or `@json` is part of has no single place: the number stands alone.
fn replaced(value: &Value, steps: &[Step], with: Value) -> Value {
    match (steps.split_first(), value) {
        (Some((Step::Key(key), rest)), Val::Map(map)) => {
            let member = |(name, it): (&str, &Value)| {
                let it = if name == &**key { replaced(it, rest, with.clone()) } else { it.clone() };
                (name.to_owned(), it)
            };
            Val::Map(map.iter().map(member).collect::<Map<'static>>())
        }
        (Some((Step::Index(index), rest)), Val::List(items)) => {
            let at = if *index < 0 { items.len() as i64 + index } else { *index };
            let item =
                |(ix, it): (usize, &Value)| if ix as i64 == at { replaced(it, rest, with.clone()) } else { it.clone() };
            Val::List(items.iter().enumerate().map(item).collect())
        }
        _ => with,
    }
}
