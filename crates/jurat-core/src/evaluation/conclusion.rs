//! The result of several replies and the checks together.

use jurat_compare::Mismatch;
use jurat_format::value::{Map, Val, Value};

use super::{CheckSeen, Method, OnFailedCheck, Profile, Scale};
use crate::check::{DimensionScore, dimension_scores};
use crate::verdict::Verdict;

/// The result of an evaluation.
#[derive(Debug, Clone, PartialEq)]
pub struct Concluded {
    pub verdict: Verdict,
    /// The scores, as tasks that depend on the evaluation see them.
    pub output: Value,
    /// The overall score of each reply, in the order of the slots.
    pub said: Vec<Value>,
}

/// Draws everything from the replies, which all fit the schema, and the checks of the case.
///
/// The judge's scores are the scores, unless the profile has a policy about checks that failed; the results of checks by themselves stand beside them.
pub fn conclude(profile: &Profile, scale: &Scale, replies: &[&Value], checks: &[CheckSeen<'_>]) -> Concluded {
    let by_checks = dimension_scores(checks.iter().map(|it| (it.dimensions, it.verdict)));
    let overall = Scores::of(replies.iter().map(|it| it.get("overall")), profile.method);
    let mut failed: Vec<String> = Vec::new();
    let mut dimensions: Map<'static> = Map::default();
    for name in &profile.dimensions {
        let part = |it: &&Value| it.get("dimensions").and_then(|it| it.get(name)).cloned();
        let parts: Vec<Option<Value>> = replies.iter().map(part).collect();
        let scores = Scores::of(parts.iter().map(Option::as_ref), profile.method);
        let failing: Vec<&str> = checks
            .iter()
            .filter(|it| matches!(it.verdict, Verdict::Failed(_)) && it.dimensions.contains(name))
            .map(|it| it.id)
            .collect();
        let score = match profile.on_failed_check {
            OnFailedCheck::Cap(most) if !failing.is_empty() => scores.score.min(most),
            OnFailedCheck::Fail if !failing.is_empty() => {
                failed.push(format!("`{name}` failed by {}", joined(&failing)));
                scale.min
            }
            OnFailedCheck::Nothing | OnFailedCheck::Cap(_) | OnFailedCheck::Fail => scores.score,
        };
        let own = by_checks.iter().find(|it| it.name == *name);
        let members = [
            ("score", Val::F(score)),
            ("judge", scores.to_value()),
            ("checks", checked(own, scale)),
            ("evidence", scores.evidence()),
            ("failed_checks", failing.iter().map(|it| Val::from((*it).to_owned())).collect()),
        ];
        dimensions.insert(name.clone().into(), Val::Map(members.into_iter().collect::<Map<'static>>()));
    }
    let mut whole = scores_members(&overall);
    whole.push(("evidence", overall.evidence()));
    let members = [
        ("score", Val::F(overall.score)),
        ("explanation", Val::from(summary(replies))),
        ("scale", object(vec![("min", Val::F(scale.min)), ("max", Val::F(scale.max))])),
        ("method", Val::from(profile.method.name())),
        ("judges", Val::from(replies.len() as u64)),
        ("overall", object(whole)),
        ("dimensions", Val::Map(dimensions)),
        ("warnings", warnings(profile, replies, checks).into_iter().map(Val::from).collect()),
    ];
    Concluded {
        verdict: verdict(profile, scale, &overall, &failed),
        output: Val::Map(members.into_iter().collect::<Map<'static>>()),
        said: overall.all.iter().map(|it| Val::F(*it)).collect(),
    }
}

/// One score as all replies have it.
struct Scores {
    all: Vec<f64>,
    score: f64,
    evidence: Vec<String>,
}

impl Scores {
    fn of<'r>(parts: impl Iterator<Item = Option<&'r Value>>, method: Method) -> Scores {
        let (mut all, mut evidence) = (Vec::new(), Vec::new());
        for part in parts.flatten() {
            all.extend(part.get("score").and_then(Val::as_f64));
            for text in part.get("evidence").and_then(Val::as_list).unwrap_or(&[]).iter().filter_map(Val::as_str) {
                if !evidence.iter().any(|it: &String| it == text) {
                    evidence.push(text.to_owned());
                }
            }
        }
        let score = match method {
            Method::Mean => mean(&all),
            Method::Median | Method::MajorityVote | Method::AllPass => median(&all),
        };
        Scores { all, score, evidence }
    }

    fn to_value(&self) -> Value {
        object(scores_members(self))
    }

    fn evidence(&self) -> Value {
        self.evidence.iter().map(|it| Val::from(it.clone())).collect()
    }

    /// How far they lie apart: the sample's standard deviation, which one reply has none of.
    fn stdev(&self) -> Option<f64> {
        let n = self.all.len();
        let mean = mean(&self.all);
        let squares: f64 = self.all.iter().map(|it| (it - mean) * (it - mean)).sum();
        (n > 1).then(|| (squares / (n - 1) as f64).sqrt())
    }
}

fn scores_members(scores: &Scores) -> Vec<(&'static str, Value)> {
    vec![
        ("score", Val::F(scores.score)),
        ("min", Val::F(scores.all.iter().copied().fold(f64::INFINITY, f64::min))),
        ("max", Val::F(scores.all.iter().copied().fold(f64::NEG_INFINITY, f64::max))),
        ("stdev", scores.stdev().map_or(Val::Null, Val::F)),
    ]
}

fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len().max(1) as f64
}

fn median(numbers: &[f64]) -> f64 {
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let half = sorted.len() / 2;
    match sorted.len() {
        0 => 0.0,
        n if n % 2 == 1 => sorted[half],
        _ => f64::midpoint(sorted[half - 1], sorted[half]),
    }
}

/// The result of the checks of a dimension on the scale of the judge.
fn checked(score: Option<&DimensionScore>, scale: &Scale) -> Value {
    let count = |of: fn(&DimensionScore) -> u32| Val::from(score.map_or(0, of));
    let share = score.and_then(DimensionScore::score).map(|it| it / 10.0);
    object(vec![
        ("score", share.map_or(Val::Null, |it| Val::F(scale.score(it)))),
        ("passed", count(|it| it.passed)),
        ("failed", count(|it| it.failed)),
        ("error", count(|it| it.errored)),
    ])
}

/// The summaries, numbered when there are several.
fn summary(replies: &[&Value]) -> String {
    let said = |it: &&Value| it.get("summary").and_then(Val::as_str).unwrap_or_default().to_owned();
    match replies {
        [only] => said(only),
        several => {
            let lines = (1..).zip(several.iter()).map(|(nth, it): (u32, _)| format!("judge {nth}: {}", said(it)));
            lines.collect::<Vec<_>>().join("\n")
        }
    }
}

/// What a reader of the scores must know.
fn warnings(profile: &Profile, replies: &[&Value], checks: &[CheckSeen<'_>]) -> Vec<String> {
    let mut warnings = Vec::new();
    for check in checks.iter().filter(|it| matches!(it.verdict, Verdict::Error(_)) && !it.dimensions.is_empty()) {
        warnings.push(format!("`{}` could not be decided, and counts in no dimension", check.id));
    }
    for name in &profile.dimensions {
        let part = |it: &&Value| it.get("dimensions").and_then(|it| it.get(name)).cloned();
        let is_bare = |it: &Value| it.get("evidence").and_then(Val::as_list).is_none_or(<[Value]>::is_empty);
        let bare: Vec<String> = (1..)
            .zip(replies)
            .filter(|(_, it)| part(it).as_ref().is_some_and(is_bare))
            .map(|(nth, _): (u32, _)| nth.to_string())
            .collect();
        match bare.as_slice() {
            [] => {}
            _ if replies.len() == 1 => warnings.push(format!("the judge names no evidence for `{name}`")),
            _ => warnings.push(format!("judge {} names no evidence for `{name}`", bare.join(", "))),
        }
    }
    warnings
}

fn verdict(profile: &Profile, scale: &Scale, overall: &Scores, failed: &[String]) -> Verdict {
    if !failed.is_empty() {
        let expected = "no failed check in a dimension".to_owned();
        return Verdict::Failed(Box::new(Mismatch { expected, found: failed.join(", ") }));
    }
    let Some(least) = profile.pass_threshold else { return Verdict::Measured };
    // Halves and thirds are not exact in binary: 7 of 10 reaches 0.7.
    let passes = |score: f64| scale.share(score) >= least - 1e-9;
    let least_score = rounded(scale.score(least));
    let n_passing = overall.all.iter().filter(|it| passes(**it)).count();
    let n = overall.all.len();
    let found = || overall.all.iter().map(|it| rounded(*it)).collect::<Vec<_>>().join(", ");
    let (is_passed, expected, found) = match profile.method {
        Method::Median | Method::Mean => {
            (passes(overall.score), format!("an overall score of at least {least_score}"), rounded(overall.score))
        }
        Method::AllPass => (n_passing == n, format!("at least {least_score} from every judge"), found()),
        Method::MajorityVote if n_passing * 2 == n => {
            return Verdict::error(format!("the judges are divided: {}, and {least_score} passes", found()));
        }
        Method::MajorityVote => (n_passing * 2 > n, format!("at least {least_score} from most judges"), found()),
    };
    if is_passed { Verdict::Passed } else { Verdict::Failed(Box::new(Mismatch { expected, found })) }
}

/// A score as people read it.
fn rounded(score: f64) -> String {
    let text = format!("{score:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn joined(names: &[&str]) -> String {
    names.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ")
}

fn object(members: Vec<(&'static str, Value)>) -> Value {
    Val::Map(members.into_iter().collect::<Map<'static>>())
}
