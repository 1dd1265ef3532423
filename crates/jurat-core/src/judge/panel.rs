//! Several judges, one verdict.

use jurat_compare::Assertion;
use jurat_format::choices;
use jurat_format::value::{Context, FieldPath, Map, Step, Val, Value, python, shown};

use super::{End, Marks, PROBABILITIES, SOFT_SCORE, SoftScore};
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

/// How the replies of a task become one.
#[derive(Debug, Clone, Copy)]
pub struct Vote<'v> {
    pub aggregate: Aggregate,
    /// The score that was added to each reply.
    pub soft: Option<&'v SoftScore>,
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
pub fn combine(ends: &[&End], assertion: Option<&Assertion>, vote: Vote<'_>, context: Context<'_>) -> TaskResult {
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
    match (assertion, replies.as_slice()) {
        (None, _) => measured(&replies, vote),
        (_, []) => TaskResult::undecided(Verdict::error("no judge was asked")),
        (Some(assertion), [reply]) => {
            let verdict = Verdict::from(assertion.judge_reply(reply, context));
            TaskResult { verdict, output: Some((*reply).clone()), said: said(&replies, assertion, vote) }
        }
        (Some(assertion), _) => compared(&replies, assertion, vote, context),
    }
}

/// The verdict over several replies.
fn compared(replies: &[&Value], assertion: &Assertion, vote: Vote<'_>, context: Context<'_>) -> TaskResult {
    let judge = |reply: &Value| Verdict::from(assertion.judge_reply(reply, context));
    let said = said(replies, assertion, vote);
    let pooled = |reply: &Value| vote.pooled(reply.clone(), replies, assertion.path.as_ref());
    let middle = |draw| middle(&pooled(replies[0]), &said, assertion, draw).map(|reply| (judge(&reply), reply));
    let decided = match vote.aggregate {
        Aggregate::All => by_verdict(replies, judge, |verdict| matches!(verdict, Verdict::Failed(_)))
            .map(|(verdict, reply)| (verdict, pooled(&reply))),
        Aggregate::Any => by_verdict(replies, judge, |verdict| *verdict == Verdict::Passed)
            .map(|(verdict, reply)| (verdict, pooled(&reply))),
        Aggregate::Majority => majority(replies, &said).map(|reply| (judge(reply), pooled(reply))),
        Aggregate::Mean => middle(mean),
        Aggregate::Median => middle(median),
    };
    match decided {
        Ok((verdict, output)) => TaskResult { verdict, output: Some(output), said },
        Err(reason) => TaskResult { verdict: Verdict::error(reason), output: None, said },
    }
}

impl Vote<'_> {
    /// What two judges agree in, where nothing is compared: the label whose probabilities were asked for, else the label, else the score, else all that
    /// they say. Two judges never have the same probabilities, and seldom the same reasons.
    fn key(self, reply: &Value) -> VoteKey {
        let label = |it: String| VoteKey::Mark(Val::from(it));
        // The soft score of all judges is their mean, so a tie of their labels loses nothing.
        if let Some(place) = self.soft.and_then(|it| it.label_of(reply)) {
            return VoteKey::Whole(Val::F(place as f64));
        }
        let marks = Marks::of(reply, None, false);
        let score = || marks.score.map(|it| VoteKey::Mark(Val::F(it)));
        marks.label.map(label).or_else(score).unwrap_or_else(|| VoteKey::Whole(reply.clone()))
    }

    /// The reply with the soft score and the probabilities of all replies, so that none of them is lost. What is compared stays as it was judged.
    fn pooled(self, reply: Value, replies: &[&Value], compared: Option<&FieldPath>) -> Value {
        let Some(soft) = self.soft.filter(|_| replies.len() > 1) else { return reply };
        let is_compared = |member: &str| compared.and_then(FieldPath::root) == Some(member);
        let numbers =
            |find: &dyn Fn(&Value) -> Option<f64>| replies.iter().filter_map(|it| find(it)).collect::<Vec<_>>();
        let draw = if self.aggregate == Aggregate::Median { median } else { mean };
        let mut scores = numbers(&|it| it.get(SOFT_SCORE)?.as_f64());
        let Val::Map(mut members) = reply else { return reply };
        if !scores.is_empty() && !is_compared(SOFT_SCORE) {
            members.insert(SOFT_SCORE.into(), Val::F(soft.within_range(draw(&mut scores))));
        }
        if !scores.is_empty() && !is_compared(PROBABILITIES) {
            let of_label = |name: &str| mean(&mut numbers(&|it| it.get(PROBABILITIES)?.get(name)?.as_f64()));
            let each = soft.labels().iter().map(|it| (it.name.clone(), Val::F(of_label(&it.name))));
            members.insert(PROBABILITIES.into(), Val::Map(each.collect::<Map<'static>>()));
        }
        Val::Map(members)
    }
}

impl TaskResult {
    fn undecided(verdict: Verdict) -> TaskResult {
        TaskResult { verdict, output: None, said: Vec::new() }
    }
}

/// What a reply is counted by.
#[derive(Debug, Clone, PartialEq)]
enum VoteKey {
    /// A label or a score.
    Mark(Value),
    Whole(Value),
}

/// Nothing is compared: numbers become one where the suite says so, else the reply stands for all that most of them agree with.
fn measured(replies: &[&Value], vote: Vote<'_>) -> TaskResult {
    let said = replies.iter().map(|it| (**it).clone()).collect();
    let decided = match (vote.aggregate, replies) {
        (_, []) => return TaskResult::undecided(Verdict::error("no judge was asked")),
        (_, [reply]) => Ok((*reply).clone()),
        (Aggregate::Mean, _) if vote.soft.is_none() => averaged(replies, mean),
        (Aggregate::Median, _) if vote.soft.is_none() => averaged(replies, median),
        _ => most_common(replies, vote),
    };
    match decided {
        Ok(reply) => {
            let output = Some(vote.pooled(reply, replies, None));
            TaskResult { verdict: Verdict::Measured, output, said }
        }
        Err(reason) => TaskResult { verdict: Verdict::error(reason), output: None, said },
    }
}

/// The first reply that most judges agree with. Replies without a label or a score may differ in their words alone: there the first of them stands for all.
fn most_common(replies: &[&Value], vote: Vote<'_>) -> Result<Value, String> {
    let keys: Vec<VoteKey> = replies.iter().map(|it| vote.key(it)).collect();
    let votes = |key: &VoteKey| keys.iter().filter(|it| *it == key).count();
    let most = keys.iter().map(votes).max().unwrap_or(0);
    let mut winners = (0..keys.len()).filter(|it| votes(&keys[*it]) == most);
    let first = winners.next().unwrap_or(0);
    let is_tie = winners.any(|it| keys[it] != keys[first]);
    let mark = |it: &VoteKey| match it {
        VoteKey::Mark(Val::F(score)) => Some(score.to_string()),
        VoteKey::Mark(label) => Some(shown(label)),
        VoteKey::Whole(_) => None,
    };
    match keys.iter().map(mark).collect::<Option<Vec<String>>>().filter(|_| is_tie) {
        Some(marks) => {
            Err(format!("the judges are divided: {}; `aggregate: mean` makes one number of all", marks.join(", ")))
        }
        None => Ok(replies[first].clone()),
    }
}

/// The first reply with each of its numbers drawn from those of all replies.
fn averaged(replies: &[&Value], draw: fn(&mut [f64]) -> f64) -> Result<Value, String> {
    let of_all = |find: &dyn Fn(&Value) -> Option<f64>| -> Result<Value, String> {
        let number = |(slot, reply): (usize, &&Value)| {
            find(reply).ok_or_else(|| format!("judge {} said {}, which has not all numbers", slot + 1, shown(reply)))
        };
        let mut numbers = replies.iter().enumerate().map(number).collect::<Result<Vec<f64>, String>>()?;
        Ok(Val::F(draw(&mut numbers)))
    };
    match replies[0] {
        Val::Map(members) => {
            let one = |(key, value): (&str, &Value)| match value.as_f64() {
                Some(_) => Ok((key.to_owned(), of_all(&|it| it.get(key)?.as_f64())?)),
                None => Ok((key.to_owned(), value.clone())),
            };
            Ok(Val::Map(members.iter().map(one).collect::<Result<Map<'static>, String>>()?))
        }
        _ => of_all(&Val::as_f64),
    }
}

/// The values that are compared, as far as the replies have them. Where that is a whole reply, what was added to it is no part of it.
fn said(replies: &[&Value], assertion: &Assertion, vote: Vote<'_>) -> Vec<Value> {
    let is_own = |key: &str| vote.soft.is_none() || !matches!(key, SOFT_SCORE | PROBABILITIES);
    let value = |reply: &&Value| match (&assertion.path, reply) {
        (None, Val::Map(members)) => {
            let own = members.iter().filter(|(key, _)| is_own(key));
            Val::Map(own.map(|(key, it)| (key.to_owned(), it.clone())).collect::<Map<'static>>())
        }
        (None, _) => (**reply).clone(),
        (Some(path), _) => path.find(reply).map_or(Val::Null, |it| it.into_owned().into_owned()),
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
