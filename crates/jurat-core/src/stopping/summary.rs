//! What there is to say about a run that stopped because enough was known.

use super::monitor::Rule;
use crate::gate::GateVerdict;
use crate::statistics::Interval;

/// Why a run stopped, and what it knew by then.
#[derive(Debug, Clone, PartialEq)]
pub struct StoppedEarly {
    pub rule: Rule,
    /// What a step is: `case` or `cluster`.
    pub unit: &'static str,
    /// How many steps of the finished prefix were looked at, and how many there are in all.
    pub rows: u64,
    pub of: u64,
    /// How many of them passed, where one may pass in part.
    pub passed: f64,
    /// The confidence of the sequence.
    pub confidence: f64,
    /// The confidence sequence of the pass rate, which holds however often it is looked at.
    pub sequence: Option<Interval>,
    /// The run that it was compared with while it ran.
    pub base_run: Option<String>,
    pub conditions: Vec<StoppedCondition>,
}

/// A condition that was monitored.
#[derive(Debug, Clone, PartialEq)]
pub struct StoppedCondition {
    pub id: String,
    /// `at_least`, `not_worse` or `better`.
    pub kind: String,
    /// What it selects, in words; empty for the case as a whole.
    pub selector: String,
    pub is_score: bool,
    pub bound: f64,
    pub confidence: f64,
    /// The risk of the monitor, and that of the look at the end.
    pub alpha: f64,
    pub end_alpha: Option<f64>,
    pub rows: u64,
    pub of: u64,
    pub rule: Option<Rule>,
    /// ln of the evidence that decided it.
    pub ln_e: Option<f64>,
    /// A p value of failing that holds at every time.
    pub p_fail: Option<f64>,
    pub sequence: Option<Interval>,
}

impl StoppedEarly {
    /// The condition that ended the run.
    pub fn deciding(&self) -> Option<&StoppedCondition> {
        self.conditions.iter().find(|it| it.rule == Some(self.rule))
    }

    /// `stopped after 148 of 500 cases: 144 of them passed, and with 95 % confidence the pass rate is at least 90 %`
    pub fn sentence(&self) -> String {
        let shown = self.shown();
        let passed =
            if self.passed.fract() == 0.0 { format!("{}", self.passed) } else { format!("{:.1}", self.passed) };
        let of = if self.of == 1 { self.unit.to_owned() } else { format!("{}s", self.unit) };
        format!("stopped after {} of {} {of}: {passed} of them passed, and {shown}", self.rows, self.of)
    }

    fn shown(&self) -> String {
        let conditions: Vec<String> = self.conditions.iter().filter_map(StoppedCondition::shown).collect();
        match (self.rule, self.sequence) {
            (Rule::Width, Some(Interval { low, high })) => {
                let (confidence, low, high) = (percent(self.confidence), exact(low), exact(high));
                format!("with {confidence} confidence the pass rate is between {low} and {high}")
            }
            (Rule::Certain(GateVerdict::Fail), _) if conditions.is_empty() => {
                "a condition on each case has failed".to_owned()
            }
            _ => conditions.join("; "),
        }
    }
}

impl StoppedCondition {
    /// What was shown, without a number that was not.
    fn shown(&self) -> Option<String> {
        let (id, rule) = (&self.id, self.rule?);
        Some(match rule {
            Rule::Certain(verdict) => {
                format!("`{id}` would {} whatever the remaining cases were", verdict.name())
            }
            Rule::Hopeless => format!("`{id}` will hardly pass"),
            Rule::Width => return None,
            Rule::Pass | Rule::Fail => {
                format!("with {} confidence {}", percent(self.confidence), self.claim(rule == Rule::Pass))
            }
        })
    }

    fn claim(&self, holds: bool) -> String {
        let of = if self.selector.is_empty() { String::new() } else { format!(" of {}", self.selector) };
        let amount = |it: f64| if self.is_score { format!("{it:.2}") } else { format!("{:.1} points", it * 100.0) };
        let what = if self.is_score { "score" } else { "pass rate" };
        match (self.kind.as_str(), holds) {
            ("at_least", true) => format!("the pass rate{of} is at least {}", percent(self.bound)),
            ("at_least", false) => format!("the pass rate{of} is below {}", percent(self.bound)),
            ("not_worse", true) => format!("the {what}{of} is at most {} worse than that of BASE", amount(-self.bound)),
            ("not_worse", false) => {
                format!("the {what}{of} is more than {} worse than that of BASE", amount(-self.bound))
            }
            (_, true) => format!("the {what}{of} is more than {} better than that of BASE", amount(self.bound)),
            (_, false) => format!("the {what}{of} is not {} better than that of BASE", amount(self.bound)),
        }
    }
}

/// `90 %`, `92.5 %`
fn percent(share: f64) -> String {
    let percent = (share * 1000.0).round() / 10.0;
    format!("{percent} %")
}

/// `91.0 %`
fn exact(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn condition(id: &str, kind: &str, bound: f64, rule: Rule) -> StoppedCondition {
        StoppedCondition {
            id: id.to_owned(),
            kind: kind.to_owned(),
            selector: String::new(),
            is_score: false,
            bound,
            confidence: 0.95,
            alpha: 0.05,
            end_alpha: None,
            rows: 148,
            of: 500,
            rule: Some(rule),
            ln_e: Some(3.1),
            p_fail: None,
            sequence: None,
        }
    }

    #[track_caller]
    fn says(rule: Rule, conditions: Vec<StoppedCondition>, expected: &str) {
        let sequence = Some(Interval { low: 0.9104, high: 0.9904 });
        let (unit, rows, of, passed) = ("case", 148, 500, 144.0);
        let stopped =
            StoppedEarly { rule, unit, rows, of, passed, confidence: 0.95, sequence, base_run: None, conditions };
        assert_eq!(stopped.sentence(), format!("stopped after 148 of 500 cases: 144 of them passed, and {expected}"));
    }

    #[test]
    fn a_run_says_what_was_shown_and_nothing_more() {
        let rate = |rule| vec![condition("rate", "at_least", 0.9, rule)];
        says(Rule::Pass, rate(Rule::Pass), "with 95 % confidence the pass rate is at least 90 %");
        says(Rule::Fail, rate(Rule::Fail), "with 95 % confidence the pass rate is below 90 %");
        says(Rule::Hopeless, rate(Rule::Hopeless), "`rate` will hardly pass");
        let certain = Rule::Certain(GateVerdict::Fail);
        says(certain, rate(certain), "`rate` would fail whatever the remaining cases were");
        says(certain, Vec::new(), "a condition on each case has failed");
        says(Rule::Width, Vec::new(), "with 95 % confidence the pass rate is between 91.0 % and 99.0 %");
        let worse = condition("quality", "not_worse", -0.03, Rule::Pass);
        let tone =
            StoppedCondition { selector: "task tone".to_owned(), ..condition("tone", "better", 0.0, Rule::Pass) };
        says(
            Rule::Pass,
            vec![worse, tone],
            "with 95 % confidence the pass rate is at most 3.0 points worse than that of BASE; \
             with 95 % confidence the pass rate of task tone is more than 0.0 points better than that of BASE",
        );
    }
}
