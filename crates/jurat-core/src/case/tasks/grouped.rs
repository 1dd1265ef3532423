//! Groups of tasks: one verdict of several.
//!
//! What is not known of a member, because it could not be judged, is taken for the worst and for the best. Where both give the same, the group is decided; where
//! they do not, it is an error, or not run when a member was not.

use jurat_compare::Mismatch;
use jurat_format::value::{Val, Value, shown};

use super::CaseState;
use super::task::TaskState;
use crate::judge::TaskResult;
use crate::plan::{PlannedGroup, PlannedTask};
use crate::suite::GroupRule;
use crate::verdict::{SkipReason, StopReason, Verdict};

/// What a member gives.
enum Given {
    /// What it counts, from 0 (it failed) to 1 (it passed), or a number that was measured.
    Known(f64),
    /// It could not be judged.
    Unknown(String),
    NotRun(StopReason),
    /// It says nothing: it is not for this case, or a gate was closed.
    Absent(Option<SkipReason>),
}

/// The members that say something: id, weight and what each gives.
type Counted<'c> = Vec<(&'c str, f64, Given)>;

/// The verdict of a group, once its members are done.
pub(super) fn decided(case: &CaseState<'_>, group: &PlannedGroup, task: &PlannedTask) -> TaskState {
    let given = group.members.iter().map(|(ix, weight)| {
        let id = case.plan.tasks[ix.index()].id.as_str();
        (id, *weight, given(case.result(*ix)))
    });
    let (absent, counted): (Counted<'_>, Counted<'_>) = given.partition(|(.., it)| matches!(it, Given::Absent(_)));
    if counted.is_empty() {
        return TaskState::failed("none of its tasks says anything about this case");
    }
    if let GroupRule::AtLeast(n) = group.rule
        && let Some(too_few) = too_few(n, &counted, &absent)
    {
        return too_few;
    }
    let (worst, best) = (group.rule.value(&counted, 0.0), group.rule.value(&counted, 1.0));
    if group.rule.passes(worst, &counted) != group.rule.passes(best, &counted) {
        return undecided(&counted);
    }
    let is_passed = group.rule.passes(worst, &counted);
    let output = output(group.rule, is_passed, worst, &counted);
    let verdict = match &task.then {
        Some(assertion) => assertion.judge_reply(&output, jurat_format::value::Context::of(case.base)).into(),
        None if is_passed => Verdict::Passed,
        None => Verdict::Failed(Box::new(mismatch(group.rule, worst, &counted))),
    };
    TaskState::Done(TaskResult { verdict, output: Some(output), said: Vec::new() })
}

/// How a group ends that needs more tasks than say something about a case. It fails only where the members that failed
/// are more than the others could make up for.
fn too_few(n: u32, counted: &Counted<'_>, absent: &Counted<'_>) -> Option<TaskState> {
    let best = GroupRule::AtLeast(n).value(counted, 1.0);
    if best >= f64::from(n) || best + (absent.len() as f64) < f64::from(n) {
        return None;
    }
    let skipped = absent.iter().find_map(|(.., it)| if let Given::Absent(reason) = it { *reason } else { None });
    Some(match skipped {
        Some(reason) => TaskState::ended(Verdict::Skipped(reason)),
        None => {
            let are = if counted.len() == 1 { "is" } else { "are" };
            TaskState::failed(format!("{n} of its tasks have to pass, and only {} {are} for this case", counted.len()))
        }
    })
}

fn given(result: Option<&TaskResult>) -> Given {
    let Some(result) = result else { return Given::Absent(None) };
    match &result.verdict {
        Verdict::Passed => Given::Known(1.0),
        Verdict::Failed(_) => Given::Known(0.0),
        Verdict::Measured => match result.output.as_ref().and_then(number) {
            Some(number) => Given::Known(number),
            None => Given::Unknown("it measures no number".to_owned()),
        },
        Verdict::Error(fault) => Given::Unknown(fault.0.clone()),
        Verdict::Skipped(reason @ SkipReason::GateFailed(_)) => Given::Absent(Some(*reason)),
        Verdict::Skipped(SkipReason::Errored(_)) => Given::Unknown("what it needs could not be judged".to_owned()),
        Verdict::NotRun(reason) => Given::NotRun(*reason),
    }
}

/// A number that was measured: itself, or the `score` of what was said.
fn number(output: &Value) -> Option<f64> {
    match output {
        Val::Map(_) => number(output.get("score")?),
        Val::Bool(truth) => Some(f64::from(u8::from(*truth))),
        other => other.as_f64(),
    }
}

impl GroupRule {
    /// How many pass, or their weighted mean, with this value for what is not known.
    fn value(self, counted: &Counted<'_>, unknown: f64) -> f64 {
        let known = |it: &Given| if let Given::Known(number) = it { *number } else { unknown };
        match self {
            GroupRule::All | GroupRule::Any | GroupRule::AtLeast(_) => {
                counted.iter().filter(|(.., it)| known(it) >= 1.0).count() as f64
            }
            GroupRule::Threshold(_) => {
                let total: f64 = counted.iter().map(|(_, weight, _)| weight).sum();
                let sum: f64 = counted.iter().map(|(_, weight, it)| weight * known(it)).sum();
                if total == 0.0 { 0.0 } else { sum / total }
            }
        }
    }

    fn passes(self, value: f64, counted: &Counted<'_>) -> bool {
        match self {
            GroupRule::All => value >= counted.len() as f64,
            GroupRule::Any => value >= 1.0,
            GroupRule::AtLeast(n) => value >= f64::from(n),
            // The mean of weights such as 0.1 is not exact.
            GroupRule::Threshold(threshold) => value >= threshold - 1e-9,
        }
    }

    fn words(self, counted: &Counted<'_>) -> String {
        match self {
            GroupRule::All => format!("all of {}", names(counted.iter())),
            GroupRule::Any => format!("one of {}", names(counted.iter())),
            GroupRule::AtLeast(n) => format!("at least {n} of {}", names(counted.iter())),
            GroupRule::Threshold(threshold) => {
                format!("a weighted mean of at least {threshold} of {}", names(counted.iter()))
            }
        }
    }
}

/// Names the members that could not be judged.
fn undecided(counted: &Counted<'_>) -> TaskState {
    let stopped = counted.iter().find_map(|(.., it)| if let Given::NotRun(reason) = it { Some(*reason) } else { None });
    if let Some(reason) = stopped {
        return TaskState::ended(Verdict::NotRun(reason));
    }
    let reasons = counted.iter().filter_map(|(id, _, it)| match it {
        Given::Unknown(reason) => Some(format!("`{id}`: {reason}")),
        _ => None,
    });
    let reasons: Vec<String> = reasons.collect();
    TaskState::failed(format!("it depends on what could not be judged: {}", reasons.join("; ")))
}

/// What tasks that depend on it see: whether it passed, how many did or the mean, and what each gives.
fn output(rule: GroupRule, is_passed: bool, value: f64, counted: &Counted<'_>) -> Value {
    let members = counted.iter().map(|(id, _, it)| {
        let given = if let Given::Known(number) = it { Val::F(*number) } else { Val::Null };
        ((*id).to_owned(), given)
    });
    let value = if matches!(rule, GroupRule::Threshold(_)) { Val::F(value) } else { Val::I(value as i64) };
    let members: jurat_format::value::Map<'static> = members.collect();
    Val::Map([("passed", Val::Bool(is_passed)), ("score", value), ("members", Val::Map(members))].into_iter().collect())
}

fn mismatch(rule: GroupRule, value: f64, counted: &Counted<'_>) -> Mismatch {
    let found = match rule {
        GroupRule::Threshold(_) => {
            let given = counted.iter().map(|(id, _, it)| match it {
                Given::Known(number) => format!("`{id}` {}", shown(&Val::F(*number))),
                _ => format!("`{id}` unknown"),
            });
            let rounded = (value * 1000.0).round() / 1000.0;
            format!("{} ({})", shown(&Val::F(rounded)), given.collect::<Vec<_>>().join(", "))
        }
        _ => {
            let is_passed = |it: &&(&str, f64, Given)| matches!(it.2, Given::Known(number) if number >= 1.0);
            let passed: Vec<_> = counted.iter().filter(is_passed).collect();
            let failed: Vec<_> = counted.iter().filter(|it| !is_passed(it)).collect();
            match (passed.is_empty(), failed.is_empty()) {
                (true, _) => format!("that none passed: {}", names(failed.into_iter())),
                (false, true) => format!("that only {} passed", names(passed.into_iter())),
                (false, false) => {
                    format!("that {} passed and {} did not", names(passed.into_iter()), names(failed.into_iter()))
                }
            }
        }
    };
    Mismatch { expected: rule.words(counted), found }
}

fn names<'c>(counted: impl Iterator<Item = &'c (&'c str, f64, Given)>) -> String {
    counted.map(|(id, ..)| format!("`{id}`")).collect::<Vec<_>>().join(", ")
}
