//! Gates: what they lead to, and whether they can all be open at once.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

use jurat_compare::{Comparison, Judgement};
use jurat_format::codes;
use jurat_format::problem::{Problem, Problems};
use jurat_format::value::{Kind, Kinds, Span, Spanned, Step, Val, Value, compare_numbers};

use super::context::{Known, Source};
use super::types;
use crate::section::lost::Part;
use crate::suite::{ExpectedValue, Gate, Suite, Task, TaskKind};

pub(super) fn examine(known: Known<'_>, problems: &mut Problems) {
    let Known { suite, graph, .. } = known;
    let counted = |it: &Task| it.gate.is_counted() && it.judges();
    let is_lost = suite.lost.any(Part::Task) || suite.tasks.iter().any(|it| it.is_flawed);
    let is_judged = suite.thresholds.judge_scores() || suite.tasks.iter().any(counted);
    if !suite.tasks.is_empty() && !is_lost && !is_judged {
        problems.push(nothing_judged(suite));
    }
    // Names that lead nowhere and cycles come first: nothing follows from half a graph.
    if !graph.is_whole {
        return;
    }
    let mut is_used = vec![false; suite.tasks.len()];
    // An evaluation obeys the gates among the checks that it sees.
    let obeyed = graph.depends_on.iter().chain(&graph.sees).flatten();
    obeyed.for_each(|it| is_used[it.index()] = true);
    let unused = suite.tasks.iter().zip(is_used).filter(|(task, is_used)| task.gate == Gate::Condition && !is_used);
    problems.extend(unused.map(|(task, _)| unused_gate(task)));
    problems.extend(contradictions(known));
}

fn nothing_judged(suite: &Suite) -> Problem {
    let problem = Problem::new(&codes::NOTHING_JUDGED, "no task of this suite can pass or fail");
    let problem = match suite.tasks.first() {
        Some(task) => problem.at(task.id.span, "this and all others only measure or route"),
        None => problem,
    };
    problem.help("give a task an `operator`, or its score a threshold: `thresholds: { tasks: { TASK: { mean: 4 } } }`")
}

fn unused_gate(task: &Task) -> Problem {
    let message = format!("nothing depends on the gate `{}`", task.id.value);
    let problem =
        Problem::new(&codes::UNUSED_GATE, message).at(task.id.span, "decides about nothing, and is not counted");
    problem.help("name it in the `depends_on` of what it should decide about, or drop `condition`")
}

fn never_runs(task: &Task, first: &Task, second: &Task) -> Problem {
    let message =
        format!("`{}` can never run: `{}` and `{}` cannot both pass", task.id.value, first.id.value, second.id.value);
    Problem::new(&codes::NEVER_RUNS, message)
        .at(task.id.span, "waits for both")
        .at(claim_span(first), "must pass")
        .at(claim_span(second), "must pass too")
        .help("let it depend on one of them only, or make two tasks of it")
}

fn claim_span(task: &Task) -> Span {
    let comparison = task.comparison.as_ref();
    comparison.map_or(task.id.span, |it| it.expected.as_ref().map_or(it.operator.span, |it| it.span))
}

/// What a gate that passed says about a value: where the value stands, and what it must be.
struct Claim<'s> {
    gate: usize,
    /// The task whose output it is, or the data.
    of: Option<usize>,
    steps: &'s [Step],
    comparison: Comparison<'static>,
    operator: &'static str,
    operand: Option<Value>,
    domain: Option<Vec<Value>>,
}

impl Claim<'_> {
    fn place(&self) -> (Option<usize>, &[Step]) {
        (self.of, self.steps)
    }
}

/// How many pairs of claims are looked at. Each task adds the pairs that come together at it; a chain of ten thousand gates
/// has fifty million, of which most were generated.
const MAX_PAIRS: usize = 100_000;

/// How many words of 64 bits the sets of gates may take.
const MAX_WORDS: usize = 4 << 20;

/// The tasks at which two gates come together that cannot both pass. What lies behind them never runs either, and is not
/// named.
fn contradictions(known: Known<'_>) -> Vec<Problem> {
    let Known { suite, graph, .. } = known;
    let claims = claims_that_meet(known);
    let n_words = claims.len().div_ceil(64).min(MAX_WORDS / suite.tasks.len().max(1));
    let bit_of: HashMap<usize, usize> =
        claims.iter().enumerate().take(n_words * 64).map(|(bit, claim)| (claim.gate, bit)).collect();
    // Which claims hold when a task runs.
    let mut behind = vec![Bits::default(); suite.tasks.len()];
    let mut pairs = Pairs { claims: &claims, n_left: MAX_PAIRS };
    let mut found: Vec<(usize, usize, usize)> = Vec::new();
    for task in graph.stages.iter().flatten().map(|it| it.index()) {
        let mut held = Bits::default();
        let mut contradiction = None;
        for dependency in graph.depends_on[task].iter().map(|it| it.index()) {
            let mut new = behind[dependency].clone();
            if let Some(gate) = bit_of.get(&dependency) {
                // Everything before a gate holds together with it, for the first time behind it.
                let own = Bits::of(*gate, n_words);
                contradiction = contradiction.or_else(|| pairs.first_contradiction(&own, &new));
                new.add(&own);
            }
            contradiction =
                contradiction.or_else(|| pairs.first_contradiction(&new.without(&held), &held.without(&new)));
            held.add(&new);
        }
        behind[task] = held;
        if let Some((left, right)) = contradiction {
            found.push((task, left.min(right), left.max(right)));
        }
    }
    found.sort_unstable();
    let mut blamed = HashSet::new();
    found.retain(|(_, first, second)| blamed.insert((*first, *second)));
    let task = |ix: usize| &suite.tasks[ix];
    found.iter().map(|(ix, first, second)| never_runs(task(*ix), task(*first), task(*second))).collect()
}

/// The claims of gates about values that another gate makes a claim about too.
fn claims_that_meet(known: Known<'_>) -> Vec<Claim<'_>> {
    let gates = known.suite.tasks.iter().enumerate().filter(|(_, task)| task.gate.routes());
    let claims: Vec<Claim<'_>> = gates.filter_map(|(gate, _)| claim(known, gate)).collect();
    let mut n_about: HashMap<_, usize> = HashMap::new();
    for claim in &claims {
        *n_about.entry(claim.place()).or_default() += 1;
    }
    let meets: Vec<bool> = claims.iter().map(|it| n_about[&it.place()] > 1).collect();
    claims.into_iter().zip(meets).filter_map(|(claim, meets)| meets.then_some(claim)).collect()
}

/// The pairs of claims, up to a limit.
struct Pairs<'c, 's> {
    claims: &'c [Claim<'s>],
    n_left: usize,
}

impl Pairs<'_, '_> {
    /// The gates of the first two claims, one of each set, that cannot both hold.
    fn first_contradiction(&mut self, left: &Bits, right: &Bits) -> Option<(usize, usize)> {
        if self.n_left == 0 {
            return None;
        }
        for first in left.ones().map(|it| &self.claims[it]) {
            for second in right.ones().map(|it| &self.claims[it]) {
                self.n_left = self.n_left.checked_sub(1)?;
                if first.place() == second.place() && exclude_each_other(first, second) {
                    return Some((first.gate, second.gate));
                }
            }
        }
        None
    }
}

/// A set of small numbers.
#[derive(Clone, Default)]
struct Bits(Vec<u64>);

impl Bits {
    fn of(bit: usize, n_words: usize) -> Bits {
        let mut words = vec![0; n_words];
        words[bit / 64] = 1 << (bit % 64);
        Bits(words)
    }

    fn add(&mut self, other: &Bits) {
        self.0.resize(self.0.len().max(other.0.len()), 0);
        self.0.iter_mut().zip(&other.0).for_each(|(word, other)| *word |= other);
    }

    /// What is here and not there.
    fn without(&self, other: &Bits) -> Bits {
        let others = other.0.iter().copied().chain(std::iter::repeat(0));
        Bits(self.0.iter().zip(others).map(|(word, other)| word & !other).collect())
    }

    fn ones(&self) -> impl Iterator<Item = usize> {
        self.0.iter().enumerate().flat_map(|(ix, word)| {
            let rest = std::iter::successors(Some(*word), |rest| (*rest != 0).then(|| rest & (rest - 1)));
            rest.take_while(|rest| *rest != 0).map(move |rest| ix * 64 + rest.trailing_zeros() as usize)
        })
    }
}

/// What a gate claims about the value it compares.
fn claim(known: Known<'_>, gate: usize) -> Option<Claim<'_>> {
    let task = &known.suite.tasks[gate];
    let comparison = task.comparison.as_ref().filter(|it| it.item_path.is_none())?;
    let fixed = comparison.fixed()?;
    let operand = match &comparison.expected {
        Some(Spanned { value: ExpectedValue::Literal(value), .. }) => Some(value.clone()),
        _ => None,
    };
    // What the sample rows look like is no proof.
    let known = Known { bases: None, ..known };
    let steps = comparison.path.as_ref().map(|it| it.value.steps()).unwrap_or_default();
    let (of, steps) = match (&task.kind, &comparison.path) {
        (
            TaskKind::Judge(_)
            | TaskKind::Outcome(_)
            | TaskKind::Evaluate(_)
            | TaskKind::Check(_)
            | TaskKind::Cel(_)
            | TaskKind::Group(_)
            | TaskKind::Evaluation { .. },
            _,
        ) => (Some(gate), steps),
        (TaskKind::Assert, Some(path)) => match known.source(gate, &path.value) {
            Source::Output(other) => (Some(other.index()), &steps[1..]),
            _ => (None, steps),
        },
        (TaskKind::Assert, None) => (None, steps),
    };
    let domain = types::compared_shape(known, gate, comparison).as_deref().and_then(types::domain);
    Some(Claim { gate, of, steps, operator: fixed.entry().name, comparison: fixed, operand, domain })
}

/// Whether no value could satisfy both.
fn exclude_each_other(first: &Claim<'_>, second: &Claim<'_>) -> bool {
    let passes = |claim: &Claim<'_>, value: &Value| claim.comparison.judge(value) == Judgement::Passed;
    if let Some(domain) = first.domain.as_ref().or(second.domain.as_ref()) {
        return !domain.iter().any(|it| passes(first, it) && passes(second, it));
    }
    for (claim, other) in [(first, second), (second, first)] {
        // Equality leaves one value, and the other claim can be asked about it. A list may hold it as an item.
        if let ("Equals", Some(operand)) = (claim.operator, &claim.operand) {
            return !passes(other, operand) && !matches!(operand, Val::List(_));
        }
    }
    let kinds = |claim: &Claim<'_>| claim.comparison.entry().passes;
    let shared = kinds(first).intersection(kinds(second));
    let about_lists = |claim: &Claim<'_>| claim.comparison.entry().may_pass(Kind::List);
    if shared.is_empty() && !(about_lists(first) && about_lists(second)) {
        return true;
    }
    are_opposites(first, second) || (shared == Kinds::of(&[Kind::Number]) && do_not_meet(first, second))
}

/// Pairs of which one is the other's negation, on the same operand.
fn are_opposites(first: &Claim<'_>, second: &Claim<'_>) -> bool {
    const OPPOSITES: [(&str, &str); 4] = [
        ("IsEmpty", "IsNotEmpty"),
        ("Contains", "NotContains"),
        ("InRange", "NotInRange"),
        ("ContainsAll", "ContainsNone"),
    ];
    let named = |left: &str, right: &str| {
        (first.operator, second.operator) == (left, right) || (second.operator, first.operator) == (left, right)
    };
    let no_operand = |claim: &Claim<'_>| claim.operator.starts_with("Is");
    let empty_list = |claim: &Claim<'_>| matches!(&claim.operand, Some(Val::List(items)) if items.is_empty());
    OPPOSITES.iter().any(|(left, right)| named(left, right))
        && (no_operand(first) || first.operand == second.operand)
        && !empty_list(first)
}

/// Whether two claims about numbers leave no number: `less_than 3` and `greater_than 5`.
fn do_not_meet(first: &Claim<'_>, second: &Claim<'_>) -> bool {
    let (Some((low, low_open, high, high_open)), Some(other)) = (interval(first), interval(second)) else {
        return false;
    };
    let apart = |high: &Option<Value>, high_open: bool, low: &Option<Value>, low_open: bool| match (high, low) {
        (Some(high), Some(low)) => match compare_numbers(high, low) {
            Some(Ordering::Less) => true,
            Some(Ordering::Equal) => high_open || low_open,
            _ => false,
        },
        _ => false,
    };
    apart(&high, high_open, &other.0, other.1) || apart(&other.2, other.3, &low, low_open)
}

type Interval = (Option<Value>, bool, Option<Value>, bool);

/// The numbers that pass: lowest, whether it is left out, highest, whether it is left out.
fn interval(claim: &Claim<'_>) -> Option<Interval> {
    let zero = || Some(Val::I(0));
    let operand = || claim.operand.clone().filter(|it| it.kind() == Kind::Number);
    Some(match claim.operator {
        "GreaterThan" => (operand(), true, None, false),
        "GreaterThanOrEqual" => (operand(), false, None, false),
        "LessThan" => (None, false, operand(), true),
        "LessThanOrEqual" => (None, false, operand(), false),
        "IsPositive" => (zero(), true, None, false),
        "IsNegative" => (None, false, zero(), true),
        "IsZero" => (zero(), false, zero(), false),
        "InRange" => match claim.operand.as_ref()?.as_list()? {
            [low, high] => (Some(low.clone()), false, Some(high.clone()), false),
            _ => return None,
        },
        _ => return None,
    })
}
