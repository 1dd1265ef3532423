//! Whether a run passed, and by which rule.
//!
//! A pure function of what was counted: the thresholds of the suite where it has some, else the rule that nothing counted may fail. Every rule
//! that was applied is returned with what it wanted and what it found, so that reports need not guess why a run ended as it did.

use jurat_format::choices;
use jurat_format::id::same_id;

use super::{Bound, CaseCounts, Counts, Statistic, StopReason, TaskThreshold, Thresholds, Tolerance};

choices! {
    /// How a run ended, in one word. When several apply, the one that says most about how far the others can be trusted.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub enum Conclusion {
        /// Something was judged, and all of it is good enough.
        Passed = "passed",
        /// Something counted failed, or a threshold was missed.
        Failed = "failed",
        /// Something could not be judged.
        Undecided = "undecided",
        /// A budget or a time limit came first, or the run did not reach its end for another reason.
        Limited = "limited",
        /// Nothing was selected, or nothing could be judged.
        #[default]
        Nothing = "nothing",
        /// Ctrl-C.
        Interrupted = "interrupted",
    }
}

/// Whether a run passed, and why.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Decision {
    pub conclusion: Conclusion,
    pub sentence: String,
    /// The rules that were applied.
    pub rules: Vec<Rule>,
    /// What a reader of the conclusion must know beside it: tasks that failed and that no threshold is about.
    pub notes: Vec<String>,
}

/// A rule that was applied to a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// Where it stands below `thresholds`, such as `tasks.tone.pass_rate`; `failures` and `errors` apply where the suite says nothing else.
    pub name: String,
    /// Whether the suite says it.
    pub is_written: bool,
    pub bound: Bound,
    /// What was found; nothing where there was nothing to count.
    pub found: Option<f64>,
    pub standing: RuleStanding,
    /// All of this in words.
    pub sentence: String,
}

/// Whether a rule is met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleStanding {
    Met,
    /// It is not.
    Missed,
    /// What it is about is not known.
    Unknown,
}

/// What was counted in a run.
#[derive(Debug, Clone, Default)]
pub struct Metrics<'f> {
    pub cases: CaseCounts,
    /// All counted tasks of all cases.
    pub counts: Counts,
    pub tasks: Vec<TaskMetrics<'f>>,
    /// What all answers cost, as far as that is known.
    pub cost_usd: Option<f64>,
    /// How many answers have no known cost.
    pub n_unpriced: u64,
    /// How long the subject took for each case, in seconds.
    pub latency: Sample,
    /// What came before the end.
    pub stopped: Option<StopReason>,
    /// What stopped it, in words.
    pub stopped_by: Option<&'f str>,
    /// Why cases are missing although nothing stopped the run, in words: it was killed, or is still in progress.
    pub missing: Option<&'f str>,
}

/// What was counted of one task.
#[derive(Debug, Clone)]
pub struct TaskMetrics<'f> {
    pub id: &'f str,
    /// The scenario that it is for alone, where that has to be said.
    pub scenario: Option<&'f str>,
    /// Whether it counts: gates that only route do not.
    pub is_counted: bool,
    /// How often it ended how.
    pub counts: Counts,
    pub scores: Sample,
}

/// The requested statistics of many numbers.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sample {
    /// How many numbers there are.
    pub n: u64,
    pub values: Vec<(Statistic, f64)>,
}

impl Sample {
    pub fn get(&self, statistic: Statistic) -> Option<f64> {
        self.values.iter().find(|(it, _)| *it == statistic).map(|(_, value)| *value)
    }
}

impl Decision {
    pub fn of(thresholds: &Thresholds, metrics: &Metrics<'_>) -> Decision {
        let rules = if metrics.cases.total() == 0 { Vec::new() } else { rules(thresholds, metrics) };
        let conclusion = conclusion(&rules, metrics);
        let sentence = sentence(conclusion, &rules, metrics);
        Decision { conclusion, sentence, rules, notes: left_out(thresholds, metrics) }
    }

    /// The thresholds of the suite that were not reached, in words.
    pub fn missed(&self) -> impl Iterator<Item = &str> {
        let is_missed = |it: &&Rule| it.is_written && it.standing != RuleStanding::Met;
        self.rules.iter().filter(is_missed).map(|it| it.sentence.as_str())
    }
}

/// The rules that apply, in the order in which people look at them.
fn rules(thresholds: &Thresholds, metrics: &Metrics<'_>) -> Vec<Rule> {
    let mut rules: Vec<Rule> = errors(thresholds, metrics).into_iter().collect();
    if !thresholds.judge_quality() && metrics.counts.passed + metrics.counts.failed > 0 {
        rules.push(failures(metrics));
    }
    rules.extend(thresholds.pass_rate.map(|least| pass_rate(thresholds, metrics, least)));
    rules.extend(thresholds.cases.map(|least| case_rate(metrics, least)));
    for threshold in &thresholds.tasks {
        // Scenarios may have outcomes of the same name.
        for task in metrics.tasks.iter().filter(|it| same_id(it.id, &threshold.task.value)) {
            rules.extend(of_task(threshold, task));
        }
    }
    rules.extend(thresholds.cost.total.map(|most| cost("total", "total cost", metrics, 1, most)));
    let n_cases = metrics.cases.total();
    rules.extend(thresholds.cost.per_case.map(|most| cost("per_case", "mean cost per case", metrics, n_cases, most)));
    for (statistic, most) in thresholds.latency.iter().flat_map(|it| &it.value) {
        rules.push(latency(metrics, *statistic, most.as_secs_f64()));
    }
    rules
}

fn conclusion(rules: &[Rule], metrics: &Metrics<'_>) -> Conclusion {
    let Metrics { cases, counts, stopped, missing, .. } = metrics;
    let is_limited =
        cases.not_run > 0 || missing.is_some() || matches!(stopped, Some(StopReason::Budget | StopReason::Deadline));
    let has_missed =
        |is_error: bool| rules.iter().any(|it| it.standing == RuleStanding::Missed && it.is_about_errors() == is_error);
    match stopped {
        Some(StopReason::Interrupted) => Conclusion::Interrupted,
        Some(StopReason::EndpointFault) => Conclusion::Undecided,
        it if is_limited && *it != Some(StopReason::FailFast) => Conclusion::Limited,
        _ if has_missed(true) => Conclusion::Undecided,
        _ if has_missed(false) => Conclusion::Failed,
        _ if rules.iter().any(|it| it.standing == RuleStanding::Unknown) => Conclusion::Undecided,
        _ if counts.passed + counts.failed == 0 && rules.iter().all(Rule::is_about_errors) => Conclusion::Nothing,
        _ => Conclusion::Passed,
    }
}

impl Rule {
    fn is_about_errors(&self) -> bool {
        matches!(&*self.name, "max_errors" | "errors")
    }
}

fn sentence(conclusion: Conclusion, rules: &[Rule], metrics: &Metrics<'_>) -> String {
    let Metrics { cases, stopped, .. } = metrics;
    let not_run =
        if cases.not_run > 0 { format!("; {} not run", of_cases(cases.not_run, cases)) } else { String::new() };
    match conclusion {
        Conclusion::Passed => format!("passed: {}", met(rules)),
        Conclusion::Failed if *stopped == Some(StopReason::FailFast) && cases.not_run > 0 => {
            format!("failed: {}{not_run}, because the run stops at the first failure", missed(rules, false))
        }
        Conclusion::Failed => format!("failed: {}", missed(rules, false)),
        Conclusion::Undecided if *stopped == Some(StopReason::EndpointFault) => {
            format!("stopped: {}{not_run}", metrics.stopped_by.unwrap_or("an endpoint fails every request"))
        }
        Conclusion::Undecided => {
            let is_unknown = |it: &&Rule| it.standing == RuleStanding::Unknown;
            let has_errors = rules.iter().any(|it| it.is_about_errors() && it.standing == RuleStanding::Missed);
            let unknown = rules.iter().find(is_unknown).filter(|_| !has_errors);
            format!("undecided: {}", unknown.map_or_else(|| missed(rules, true), |it| it.sentence.clone()))
        }
        Conclusion::Limited => match metrics.missing {
            Some(why) => format!("incomplete: not all cases are here: {why}"),
            None => format!("incomplete: {}{not_run}", limit_words(*stopped)),
        },
        Conclusion::Nothing if cases.total() == 0 => "nothing was judged: no case was selected".to_owned(),
        Conclusion::Nothing => "nothing was judged: no task passed or failed, and no threshold applies".to_owned(),
        Conclusion::Interrupted => format!("interrupted before all cases were judged{not_run}"),
    }
}

fn limit_words(stopped: Option<StopReason>) -> &'static str {
    match stopped {
        Some(StopReason::Deadline) => "the time limit was reached",
        // A request is not made unless the most that it may take fits, so something may be left.
        _ => "the rest of the budget does not cover the next request",
    }
}

fn met(rules: &[Rule]) -> String {
    let written: Vec<&Rule> = rules.iter().filter(|it| it.is_written).collect();
    match written.as_slice() {
        [] => rules.last().map_or_else(String::new, |it| it.sentence.clone()),
        [only] if only.is_about_errors() => rules.last().map_or_else(String::new, |it| it.sentence.clone()),
        [only] => only.sentence.clone(),
        several => {
            let shown: Vec<&str> = several.iter().take(MOST_MET).map(|it| it.sentence.as_str()).collect();
            let more = match several.len() - shown.len() {
                0 => String::new(),
                more => format!("; and {more} more"),
            };
            format!("all {} thresholds are met: {}{more}", several.len(), shown.join("; "))
        }
    }
}

/// How many thresholds that are met are named in a sentence. Reports have them all.
const MOST_MET: usize = 3;

fn missed(rules: &[Rule], is_error: bool) -> String {
    let mut missed = rules.iter().filter(|it| it.standing == RuleStanding::Missed && it.is_about_errors() == is_error);
    let first = missed.next().map_or_else(String::new, |it| it.sentence.clone());
    match missed.count() {
        0 => first,
        1 => format!("{first}; 1 more threshold was missed"),
        more => format!("{first}; {more} more thresholds were missed"),
    }
}

/// How many tasks that no threshold is about have a note of their own.
const MOST_LEFT_OUT: usize = 5;

/// The tasks that failed and that no threshold is about. One on a single task takes the place of the rule that nothing may fail, so the failures of
/// all others decide nothing.
fn left_out(thresholds: &Thresholds, metrics: &Metrics<'_>) -> Vec<String> {
    if !thresholds.leave_out_tasks() {
        return Vec::new();
    }
    let is_left_out = |it: &&TaskMetrics<'_>| it.is_counted && it.counts.failed > 0 && !thresholds.names(it.id);
    let tasks: Vec<&TaskMetrics<'_>> = metrics.tasks.iter().filter(is_left_out).collect();
    let mut notes: Vec<String> = tasks.iter().take(MOST_LEFT_OUT).map(|it| note_of_failures(it)).collect();
    match tasks.len() - notes.len() {
        0 => {}
        1 => notes.push("no threshold applies to 1 more task, which failed".to_owned()),
        more => notes.push(format!("no threshold applies to {more} more tasks, which failed")),
    }
    notes
}

fn note_of_failures(task: &TaskMetrics<'_>) -> String {
    let Counts { passed, failed, .. } = task.counts;
    format!("no threshold applies to {}, which failed in {failed} of {}", task.name(), counted(passed + failed, "case"))
}

impl TaskMetrics<'_> {
    /// Its id, and the scenario where that has to be said.
    fn name(&self) -> String {
        let scenario = self.scenario.map_or_else(String::new, |it| format!(" of `{it}`"));
        format!("`{}`{scenario}", self.id)
    }
}

/// How many cases may end with an error.
fn errors(thresholds: &Thresholds, metrics: &Metrics<'_>) -> Option<Rule> {
    let (n, total) = (metrics.cases.error, metrics.cases.total());
    let ended = format!("{} ended with an error", of_cases(n, &metrics.cases));
    let share = n as f64 / total.max(1) as f64;
    let (name, bound, found, sentence) = match thresholds.max_errors {
        None if n == 0 => return None,
        None => ("errors", Bound::at_most(0.0), n as f64, ended.clone()),
        Some(Tolerance::Count(most)) => {
            ("max_errors", Bound::at_most(most as f64), n as f64, format!("{ended}, at most {most} allowed"))
        }
        Some(Tolerance::Percent(most)) => {
            let sentence = format!("{ended} ({}), at most {most} % allowed", percent(share, None));
            ("max_errors", Bound::at_most(most / 100.0), share, sentence)
        }
    };
    // The share that is allowed is written in percent: dividing by 100 must not refuse the number itself.
    let is_met = match thresholds.max_errors {
        Some(Tolerance::Percent(most)) => n as f64 * 100.0 <= most * total as f64,
        _ => bound.holds(found),
    };
    // Errors are tolerated beside what was judged. Without a case that was judged, a pass rate would blame the subject for them.
    let is_all = n == total;
    let sentence = if is_met && is_all { format!("{ended}, so nothing was judged") } else { sentence };
    let standing = if is_met && !is_all { RuleStanding::Met } else { RuleStanding::Missed };
    let is_written = thresholds.max_errors.is_some();
    Some(Rule { name: name.to_owned(), is_written, bound, found: Some(found), standing, sentence })
}

/// Where the suite does not say how good results must be, nothing may fail.
fn failures(metrics: &Metrics<'_>) -> Rule {
    let Counts { passed, failed, .. } = metrics.counts;
    let judged = passed + failed;
    let sentence = match failed {
        0 => format!("{passed} of {judged} counted task results passed"),
        _ => {
            let cases = of_cases(metrics.cases.failed, &metrics.cases);
            format!("{failed} of {judged} counted task results failed, in {cases}")
        }
    };
    let standing = if failed == 0 { RuleStanding::Met } else { RuleStanding::Missed };
    let (name, found) = ("failures".to_owned(), Some(failed as f64));
    Rule { name, is_written: false, bound: Bound::at_most(0.0), found, standing, sentence }
}

fn pass_rate(thresholds: &Thresholds, metrics: &Metrics<'_>, least: f64) -> Rule {
    if thresholds.weights.is_empty() {
        return rate("pass_rate", "pass rate over tasks", &metrics.counts, least);
    }
    let (mut passed, mut judged) = (0.0, 0.0);
    for task in metrics.tasks.iter().filter(|it| it.is_counted) {
        let own = thresholds.weights.iter().rev().find(|(id, _)| same_id(&id.value, task.id));
        let weight = own.map_or(1.0, |(_, it)| *it);
        passed += weight * task.counts.passed as f64;
        judged += weight * (task.counts.passed + task.counts.failed) as f64;
    }
    let found = (judged > 0.0).then(|| passed / judged);
    let what = "weighted pass rate over tasks";
    compared(
        Asked { name: "pass_rate", what, nothing: "nothing was judged" },
        found,
        "",
        Bound::at_least(least),
        Unit::Share,
    )
}

fn case_rate(metrics: &Metrics<'_>, least: f64) -> Rule {
    let counts = Counts { passed: metrics.cases.passed, failed: metrics.cases.failed, ..Counts::default() };
    rate("cases", "pass rate over cases", &counts, least)
}

fn rate(name: &str, what: &str, counts: &Counts, least: f64) -> Rule {
    let of = format!(" ({} of {})", counts.passed, counts.passed + counts.failed);
    let asked = Asked { name, what, nothing: "nothing was judged" };
    compared(asked, counts.pass_rate(), &of, Bound::at_least(least), Unit::Share)
}

fn of_task<'r>(threshold: &'r TaskThreshold, task: &'r TaskMetrics<'_>) -> impl Iterator<Item = Rule> + 'r {
    let shown = task.name();
    let path = format!("tasks.{}", task.id);
    let own = threshold.pass_rate;
    let own =
        own.map(|least| rate(&format!("{path}.pass_rate"), &format!("pass rate of {shown}"), &task.counts, least));
    let scores = threshold.score.iter().map(move |(statistic, bound)| {
        let statistic = statistic.value;
        let (name, what) = (format!("{path}.{statistic}"), format!("{statistic} score of {shown}"));
        let of = format!(" ({})", counted(task.scores.n, "score"));
        let asked = Asked { name: &name, what: &what, nothing: "there is no score" };
        compared(asked, task.scores.get(statistic), &of, *bound, Unit::Score)
    });
    own.into_iter().chain(scores)
}

fn cost(key: &str, what: &str, metrics: &Metrics<'_>, among: u64, most: f64) -> Rule {
    let known = metrics.cost_usd.unwrap_or(0.0) / among.max(1) as f64;
    let (name, bound) = (format!("cost_usd.{key}"), Bound::at_most(most));
    if metrics.n_unpriced == 0 || !bound.holds(known) {
        return compared(Asked { name: &name, what, nothing: "" }, Some(known), "", bound, Unit::Dollars);
    }
    let unpriced = counted(metrics.n_unpriced, "answer");
    let sentence = format!("{what} is not known: {unpriced} without a price, {}", wanted(bound, Unit::Dollars, None));
    Rule { name, is_written: true, bound, found: None, standing: RuleStanding::Unknown, sentence }
}

fn latency(metrics: &Metrics<'_>, statistic: Statistic, most: f64) -> Rule {
    let (name, what) = (format!("latency.{statistic}"), format!("{statistic} latency"));
    let of = format!(" ({})", counted(metrics.latency.n, "case"));
    let asked = Asked { name: &name, what: &what, nothing: "the subject answered nothing" };
    compared(asked, metrics.latency.get(statistic), &of, Bound::at_most(most), Unit::Seconds)
}

/// What a rule is about.
#[derive(Clone, Copy)]
struct Asked<'a> {
    name: &'a str,
    what: &'a str,
    /// Why there may be no value.
    nothing: &'a str,
}

/// The unit of a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    Share,
    Score,
    Dollars,
    Seconds,
}

/// Compares a metric. What has no value reaches no threshold.
fn compared(asked: Asked<'_>, found: Option<f64>, of: &str, bound: Bound, unit: Unit) -> Rule {
    let Asked { name, what, nothing } = asked;
    let is_met = found.is_some_and(|it| bound.holds(it));
    let sentence = match found {
        Some(found) => {
            let apart = (!is_met).then_some(bound);
            format!(
                "{what} is {}{of}, {}",
                shown(found, unit, apart),
                wanted(bound, unit, Some(found).filter(|_| !is_met))
            )
        }
        None => format!("{what}: {nothing}, {}", wanted(bound, unit, None)),
    };
    let standing = if is_met { RuleStanding::Met } else { RuleStanding::Missed };
    Rule { name: name.to_owned(), is_written: true, bound, found, standing, sentence }
}

fn wanted(bound: Bound, unit: Unit, found: Option<f64>) -> String {
    let apart = found.map(|it| Bound { at_least: Some(it), at_most: Some(it) });
    let end = |it: f64| shown(it, unit, apart);
    match bound {
        Bound { at_least: Some(least), at_most: None } => format!("at least {} required", end(least)),
        Bound { at_least: None, at_most: Some(most) } => format!("at most {} allowed", end(most)),
        Bound { at_least: Some(least), at_most: Some(most) } => {
            format!("at least {} and at most {} required", end(least), end(most))
        }
        Bound { at_least: None, at_most: None } => "any is good enough".to_owned(),
    }
}

/// A value in words, with as many places as distinguish it from the ends of a bound that it misses.
fn shown(number: f64, unit: Unit, apart: Option<Bound>) -> String {
    let others: Vec<f64> = apart.iter().flat_map(|it| [it.at_least, it.at_most]).flatten().collect();
    let written = |number: f64, places: usize| match unit {
        Unit::Share => format!("{:.places$} %", number * 100.0),
        Unit::Score => trimmed(&format!("{number:.places$}")).to_owned(),
        Unit::Dollars => format!("${number:.places$}"),
        Unit::Seconds => format!("{} s", trimmed(&format!("{number:.places$}"))),
    };
    let least = match unit {
        Unit::Share => 1,
        Unit::Score | Unit::Seconds => 3,
        Unit::Dollars => {
            if number < 0.01 {
                6
            } else {
                2
            }
        }
    };
    let is_apart =
        |places: &usize| others.iter().all(|it| it == &number || written(*it, *places) != written(number, *places));
    written(number, (least..least + 6).find(is_apart).unwrap_or(least + 6))
}

fn trimmed(number: &str) -> &str {
    if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number }
}

fn percent(share: f64, apart: Option<Bound>) -> String {
    shown(share, Unit::Share, apart)
}

fn of_cases(n: u64, cases: &CaseCounts) -> String {
    format!("{n} of {} cases", cases.total())
}

fn counted(n: u64, thing: &str) -> String {
    format!("{n} {thing}{}", if n == 1 { "" } else { "s" })
}
