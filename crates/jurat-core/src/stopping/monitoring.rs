//! All conditions of a run, until it knows enough.

use super::claim::Step;
use super::estimate::Estimate;
use super::monitor::{Decision, Monitor, Rule};
use super::rules::StopWhen;
use crate::gate::GateVerdict;
use crate::statistics::Confidence;

/// A condition that is monitored.
#[derive(Debug, Clone)]
pub struct Monitored {
    /// Reported, and without influence on when the run ends.
    pub advisory: bool,
    pub monitor: Monitor,
}

/// What one step of the finished prefix says.
#[derive(Debug, Clone, PartialEq)]
pub struct RowSteps {
    /// The share of its cases that passed; `None` where there was nothing to judge.
    pub cases: Option<Step>,
    /// What it says about each condition; `None` for one that it does not belong to.
    pub conditions: Vec<Option<Step>>,
    /// Whether a condition that counts, such as "no new failures", is breached by it.
    pub is_breach: bool,
}

/// The conditions of a run and its pass rate, fed with the steps of the finished prefix.
#[derive(Debug, Clone)]
pub struct Monitoring {
    rules: StopWhen,
    conditions: Vec<Monitored>,
    /// Whether the policy has conditions that only the last row decides.
    waits_for_end: bool,
    estimate: Estimate,
    steps: u64,
    ended: Option<Rule>,
}

impl Monitoring {
    /// `waits_for_end` says that there are conditions that no evidence decides early: such a run ends early only when it fails.
    pub fn new(rules: StopWhen, conditions: Vec<Monitored>, waits_for_end: bool, confidence: Confidence) -> Monitoring {
        Monitoring { rules, conditions, waits_for_end, estimate: Estimate::new(confidence), steps: 0, ended: None }
    }

    /// Takes in the next step of the finished prefix, and says what ends the run, if something does. After that nothing changes any more.
    pub fn add(&mut self, step: &RowSteps) -> Option<Rule> {
        if self.ended.is_some() {
            return self.ended;
        }
        self.steps += 1;
        if let Some(Step::Share(share)) = step.cases {
            self.estimate.add(share);
        }
        for (condition, step) in self.conditions.iter_mut().zip(&step.conditions) {
            if let Some(step) = step {
                condition.monitor.add(*step);
            }
        }
        self.ended = if step.is_breach && self.rules.fail {
            Some(Rule::Certain(GateVerdict::Fail))
        } else {
            self.decided().or_else(|| self.known())
        };
        self.ended
    }

    /// What the conditions say, once each is decided: one that fails fails all, and one that was given up leaves all undecided.
    fn decided(&self) -> Option<Rule> {
        let own = || self.conditions.iter().filter(|it| !it.advisory).map(|it| it.monitor.decision());
        if own().next().is_none() || own().any(|it| it.is_none()) {
            return None;
        }
        let rules = || own().flatten().map(|it: Decision| it.rule);
        let has = |verdict: GateVerdict| rules().find(|it| it.verdict() == verdict);
        if let Some(rule) = has(GateVerdict::Fail) {
            return Some(rule).filter(|_| self.rules.fail);
        }
        if let Some(rule) = has(GateVerdict::Undecided) {
            return Some(rule).filter(|_| self.rules.hopeless);
        }
        has(GateVerdict::Pass).filter(|_| self.rules.pass && !self.waits_for_end)
    }

    fn known(&self) -> Option<Rule> {
        self.rules.width.filter(|it| self.estimate.is_within(*it)).map(|_| Rule::Width)
    }

    /// How many steps were looked at.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// What ended the run.
    pub fn ended(&self) -> Option<Rule> {
        self.ended
    }

    pub fn conditions(&self) -> &[Monitored] {
        &self.conditions
    }

    /// The pass rate of the steps that were looked at.
    pub fn estimate(&self) -> &Estimate {
        &self.estimate
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stopping::{Claim, Risk};

    fn monitored(least: f64, advisory: bool) -> Monitored {
        let claim = Claim::Rate { least, expected: None };
        Monitored { advisory, monitor: Monitor::new(claim, Risk { monitor: 0.05, end: None }) }
    }

    /// After how many rows that all pass a run ends, and by which rule.
    fn ended(rules: &str, conditions: Vec<Monitored>, waits: bool, value: f64) -> Option<(Rule, u64)> {
        let rules = rules.parse().expect("there are such rules");
        let steps = vec![Some(Step::share(value)); conditions.len()];
        let row = RowSteps { cases: Some(Step::share(value)), conditions: steps, is_breach: false };
        let mut all = Monitoring::new(rules, conditions, waits, Confidence::USUAL);
        (0..500).find_map(|_| all.add(&row)).map(|it| (it, all.steps()))
    }

    #[test]
    fn a_run_ends_when_each_condition_is_decided() {
        let both = || vec![monitored(0.5, false), monitored(0.9, false)];
        let one = ended("decided", vec![monitored(0.9, false)], false, 1.0);
        assert_eq!(ended("decided", both(), false, 1.0), one);
        assert_eq!(one.map(|it| it.0), Some(Rule::Pass));
        assert_eq!(
            ended("decided", vec![monitored(0.5, false), monitored(0.99, true)], false, 1.0).map(|it| it.1),
            Some(10)
        );
    }

    #[test]
    fn a_run_ends_only_by_the_rules_that_were_named() {
        let one = || vec![monitored(0.5, false)];
        assert_eq!(ended("fail", one(), false, 1.0), None);
        assert_eq!(ended("pass", one(), false, 0.0), None);
        assert_eq!(ended("fail", one(), false, 0.0), Some((Rule::Fail, 10)));
        assert_eq!(ended("decided", one(), true, 1.0), None, "the rest of the policy is decided at the end");
        assert_eq!(ended("decided", one(), true, 0.0), Some((Rule::Fail, 10)));
        assert_eq!(ended("width=0.1", Vec::new(), false, 1.0).map(|it| it.0), Some(Rule::Width));
        assert_eq!(ended("decided", Vec::new(), false, 1.0), None, "nothing is to be decided");
    }

    #[test]
    fn one_that_fails_fails_all_and_one_that_is_breached_does_so_at_once() {
        let rules = "decided".parse().expect("there are such rules");
        let mut all =
            Monitoring::new(rules, vec![monitored(0.5, false), monitored(0.5, false)], false, Confidence::USUAL);
        let step = |value: f64| Some(Step::share(value));
        let row = RowSteps { cases: Some(Step::share(0.0)), conditions: vec![step(1.0), step(0.0)], is_breach: false };
        assert_eq!((0..100).find_map(|_| all.add(&row)), Some(Rule::Fail));
        let mut all = Monitoring::new(rules, vec![monitored(0.5, false)], true, Confidence::USUAL);
        let breach = RowSteps { cases: Some(Step::share(0.0)), conditions: vec![step(1.0)], is_breach: true };
        assert_eq!(all.add(&breach), Some(Rule::Certain(GateVerdict::Fail)));
    }
}
