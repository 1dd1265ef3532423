//! One condition, row by row, until it is decided.

use super::certain::Look;
use super::claim::{Bets, Claim, Evidence, Step};
use super::risk::Risk;
use crate::gate::GateVerdict;
use crate::statistics::{Confidence, Interval};

/// Fewer steps than this decide nothing.
pub const LEAST_STEPS: u64 = 10;

/// The evidence against what was expected that is enough to give up: were it so, a run would give up with a probability of at most one tenth.
const HOPELESS: f64 = 10.0;

/// What decided a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// No result of the remaining rows could change the verdict of the end.
    Certain(GateVerdict),
    Pass,
    Fail,
    /// It will hardly pass.
    Hopeless,
    /// The pass rate is known closely enough.
    Width,
}

impl Rule {
    pub const ALL: [Rule; 6] = [
        Rule::Certain(GateVerdict::Pass),
        Rule::Certain(GateVerdict::Fail),
        Rule::Pass,
        Rule::Fail,
        Rule::Hopeless,
        Rule::Width,
    ];

    /// How reports and files write it.
    pub fn name(self) -> &'static str {
        match self {
            Rule::Certain(GateVerdict::Pass) => "certain_pass",
            Rule::Certain(_) => "certain_fail",
            Rule::Pass => "pass",
            Rule::Fail => "fail",
            Rule::Hopeless => "hopeless",
            Rule::Width => "width",
        }
    }

    pub fn named(name: &str) -> Option<Rule> {
        Rule::ALL.into_iter().find(|it| it.name() == name)
    }

    /// What it says about a condition. Giving up decides nothing.
    pub fn verdict(self) -> GateVerdict {
        match self {
            Rule::Certain(verdict) => verdict,
            Rule::Pass => GateVerdict::Pass,
            Rule::Fail => GateVerdict::Fail,
            Rule::Hopeless | Rule::Width => GateVerdict::Undecided,
        }
    }
}

/// That a condition is decided, and after how many steps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Decision {
    pub rule: Rule,
    pub steps: u64,
    /// ln of the evidence that did it; `None` where none was needed.
    pub ln_e: Option<f64>,
}

/// One condition of a run, fed with the steps of its finished prefix.
///
/// ```
/// use jurat_core::statistics::Confidence;
/// use jurat_core::stopping::{Claim, Monitor, Risk, Rule, Step};
///
/// // At least 80 % pass, and 95 % are expected to; there are rows to spare.
/// let claim = Claim::Rate { least: 0.8, expected: Some(0.95) };
/// let mut monitor = Monitor::new(claim, Risk::divide(Confidence::USUAL, 500, Some(50)));
/// let decision = (0..).find_map(|_| monitor.add(Step::share(1.0))).unwrap();
/// assert_eq!((decision.rule, decision.steps), (Rule::Pass, 18));
/// ```
#[derive(Debug, Clone)]
pub struct Monitor {
    bets: Bets,
    risk: Risk,
    gives_up: bool,
    look: Option<Look>,
    steps: u64,
    most_ln_fail: f64,
    /// How many conditions share the risk of failing wrongly.
    n_conditions: usize,
    decision: Option<Decision>,
}

impl Monitor {
    /// A monitor that also gives up when the claim will hardly be shown.
    pub fn new(claim: Claim, risk: Risk) -> Monitor {
        let bets = Bets::on(claim);
        Monitor { bets, risk, gives_up: true, look: None, steps: 0, most_ln_fail: 0.0, n_conditions: 1, decision: None }
    }

    /// The same as one of several conditions of a gate. The gate adjusts the p values of failing for their number, so evidence that is enough for one alone
    /// would end the run with a failure that the gate then holds back. Passing needs no adjustment.
    pub fn among(mut self, n_conditions: usize) -> Monitor {
        self.n_conditions = n_conditions.max(1);
        self
    }

    /// The same, but it never gives up.
    pub fn without_hopeless(mut self) -> Monitor {
        self.gives_up = false;
        self
    }

    /// The same, and it foresees the look at the end.
    pub fn with_look(mut self, look: Look) -> Monitor {
        self.look = Some(look);
        self
    }

    /// Takes in the next step of the finished prefix. What is decided stays decided, and later steps change nothing.
    pub fn add(&mut self, step: Step) -> Option<Decision> {
        if self.decision.is_some() {
            return self.decision;
        }
        self.steps += 1;
        // The end of a run whose rows pass in part is a test that cannot be foreseen row by row.
        self.look.take_if(|_| step.is_partial());
        let certain = self.look.as_mut().and_then(|it| it.add(step)).map(|it| (Rule::Certain(it), None));
        let found = self.bets.add(step).and_then(|it| self.shown(it));
        self.decision = certain.or(found.filter(|_| self.steps >= LEAST_STEPS)).map(|(rule, ln_e)| Decision {
            rule,
            steps: self.steps,
            ln_e,
        });
        self.decision
    }

    fn shown(&mut self, evidence: Evidence) -> Option<(Rule, Option<f64>)> {
        let Evidence { ln_pass, ln_fail, ln_hopeless } = evidence;
        self.most_ln_fail = self.most_ln_fail.max(ln_fail);
        let enough = -self.risk.monitor.ln();
        match ln_hopeless {
            _ if ln_pass >= enough => Some((Rule::Pass, Some(ln_pass))),
            _ if ln_fail >= enough + (self.n_conditions as f64).ln() => Some((Rule::Fail, Some(ln_fail))),
            Some(ln_e) if self.gives_up && ln_e >= HOPELESS.ln() => Some((Rule::Hopeless, Some(ln_e))),
            _ => None,
        }
    }

    pub fn decision(&self) -> Option<Decision> {
        self.decision
    }

    /// How many steps it has looked at.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    pub fn risk(&self) -> Risk {
        self.risk
    }

    /// A p value of failing that holds at every time: one over the most evidence there was.
    pub fn p_fail(&self) -> f64 {
        (-self.most_ln_fail).exp()
    }

    /// The confidence sequence after the last step; `None` before the first.
    pub fn sequence(&self, confidence: Confidence) -> Option<Interval> {
        self.bets.sequence(confidence)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stopping::Range;

    fn usual(claim: Claim) -> Monitor {
        Monitor::new(claim, Risk { monitor: 0.05, end: None })
    }

    /// Feeds a value until something is decided.
    fn fed(mut monitor: Monitor, step: Step, most: u64) -> Option<(Rule, u64)> {
        (0..most).find_map(|_| monitor.add(step)).map(|it| (it.rule, it.steps))
    }

    #[test]
    fn a_rate_is_decided_either_way_or_given_up() {
        let claim = Claim::Rate { least: 0.8, expected: Some(0.95) };
        assert_eq!(fed(usual(claim), Step::share(1.0), 100), Some((Rule::Pass, 18)));
        // Errors count against what would be shown: they never make a rate pass or fail.
        assert_eq!(fed(usual(claim), Step::Share(None), 1000), None);
        assert_eq!(fed(usual(claim), Step::share(0.0), 100), Some((Rule::Fail, LEAST_STEPS)));
        assert_eq!(fed(usual(claim), Step::share(0.8), 1000).map(|it| it.0), Some(Rule::Hopeless));
        assert_eq!(fed(usual(claim).without_hopeless(), Step::share(0.8), 1000), None);
    }

    #[test]
    fn a_difference_is_decided_either_way_or_given_up() {
        let pair = Step::pair;
        assert_eq!(fed(usual(Claim::not_worse(0.1)), pair(1.0, 1.0), 1000), Some((Rule::Pass, 35)));
        // That it will hardly pass is known before that it fails.
        assert_eq!(fed(usual(Claim::not_worse(0.1)), pair(1.0, 0.0), 1000), Some((Rule::Hopeless, 11)));
        let until_the_end = usual(Claim::not_worse(0.1)).without_hopeless();
        assert_eq!(fed(until_the_end, pair(1.0, 0.0), 1000), Some((Rule::Fail, 18)));
        assert_eq!(fed(usual(Claim::not_worse(0.1)), pair(1.0, 0.9), 9000).map(|it| it.0), Some(Rule::Hopeless));
        assert_eq!(fed(usual(Claim::better(0.0, 0.1)), pair(0.0, 1.0), 1000).map(|it| it.0), Some(Rule::Pass));
        let unknown = Step::Pair { base: Some(Range::known(1.0)), new: None };
        assert_eq!(fed(usual(Claim::not_worse(0.1)), unknown, 1000), None);
    }

    #[test]
    fn a_score_is_decided_on_its_own_scale() {
        let pair = Step::pair;
        let claim = Claim::Score { bound: -1.0, gain: 1.0, span: 10.0 };
        assert_eq!(fed(usual(claim), pair(5.0, 8.0), 1000).map(|it| it.0), Some(Rule::Pass));
        assert_eq!(fed(usual(claim).without_hopeless(), pair(8.0, 5.0), 1000).map(|it| it.0), Some(Rule::Fail));
        assert_eq!(fed(usual(claim).without_hopeless(), pair(5.0, 4.0), 1000), None);
    }

    #[test]
    fn a_failure_among_several_conditions_survives_their_adjustment() {
        use crate::gate::{Decided, overall};
        for n in [1, 2, 5] {
            let mut monitor = usual(Claim::Rate { least: 0.9, expected: None }).without_hopeless().among(n);
            let decision =
                (0..1000).find_map(|_| monitor.add(Step::share(0.5))).expect("half pass, and nine of ten should");
            assert_eq!(decision.rule, Rule::Fail);
            let failed = Decided { verdict: GateVerdict::Fail, p_fail: Some(monitor.p_fail()), advisory: false };
            let passed = Decided { verdict: GateVerdict::Pass, p_fail: Some(1.0), advisory: false };
            let conditions: Vec<Decided> = std::iter::once(failed).chain(std::iter::repeat_n(passed, n - 1)).collect();
            assert_eq!(overall(&conditions, 0.05).verdict, GateVerdict::Fail, "{n} conditions");
        }
    }

    #[test]
    fn a_decision_stays() {
        let mut monitor = usual(Claim::Rate { least: 0.8, expected: Some(0.95) });
        let decided = (0..20).find_map(|_| monitor.add(Step::share(1.0)));
        assert_eq!((0..50).filter_map(|_| monitor.add(Step::share(0.0))).last(), decided);
        let sequence = monitor.sequence(Confidence::USUAL).expect("it has seen steps");
        assert!(sequence.low > 0.7 && sequence.high > 0.999, "{sequence:?}");
    }

    #[test]
    fn the_end_is_foreseen_where_rows_pass_or_fail() {
        let claim = Claim::Rate { least: 0.9, expected: None };
        let look = || Look::at_rate(30, 0.9, Confidence::USUAL);
        let failed = Step::share(0.0);
        assert_eq!(fed(usual(claim).with_look(look()), failed, 30), Some((Rule::Certain(GateVerdict::Fail), 7)));
        assert_eq!(fed(usual(claim).with_look(look()), Step::share(0.5), 9), None);
    }
}
