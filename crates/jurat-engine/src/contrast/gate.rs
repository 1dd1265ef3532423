//! The conditions of a gate, measured on runs.

use std::collections::BTreeMap;
use std::path::Path;

use jurat_core::contrast::provenance::Note;
use jurat_core::contrast::{
    About, Clustering, Ending, JudgementLine, Line, RateLine, Repetitions, ScoreTest, Standing,
};
use jurat_core::gate::{
    Bounds, Condition, ConditionReport, GateReport, GateVerdict, Kind, Limit, Measure, Missing, More, Policy,
    Rehearsal, RepetitionRule, Wants, decide, overall,
};
use jurat_core::statistics::{
    Clusters, Confidence, Interval, Side, Tally, beta_cdf, clopper_pearson, cluster_mean, effective_rate, more_pairs,
    normal_quantile, quantile_interval, ratio_of_means, rows_needed, student_two_sided, tango_test,
};
use jurat_store::run::Column;

use super::contrasting::{Contrasting, Part};
use super::selection::Selection;
use super::spending::{UnitCases, amounts};
use super::table::{Amount, Table};
use super::{CompareError, CompareOptions, ComparedSide};
use crate::view::RunView;

/// With fewer clusters than this, nothing is decided.
const LEAST_CLUSTERS: u64 = 20;
/// The power with which more rows would decide a condition.
const POWER: f64 = 0.8;
/// More rows than this will not be found.
const MOST_ROWS: f64 = 1e6;

/// Applies a policy to NEW, compared with BASE where there is one.
pub fn gate(
    base: Option<&ComparedSide>,
    new: &ComparedSide,
    policy: &Policy,
    options: &CompareOptions,
) -> Result<GateReport, CompareError> {
    let new = &*new.0;
    let own = Contrasting::new(new, new, (0, 0), options, None)?;
    let pair = base.map(|it| Contrasting::new(&*it.0, new, (0, 1), options, None)).transpose()?;
    let gating = Gating { own: &own, pair: pair.as_ref(), new, base: base.map(|it| &*it.0), policy };
    let mut conditions = Vec::new();
    for condition in gating.expanded() {
        conditions.push(gating.condition(&condition)?);
    }
    hold_back(&mut conditions, policy.confidence);
    Ok(GateReport {
        suite: new.side().suite.clone(),
        base: base.map(|it| it.0.side().name.clone()),
        new: new.side().name.clone(),
        confidence: policy.confidence,
        verdict: GateReport::overall(&conditions),
        conditions,
        contrast: pair.map(Contrasting::whole).transpose()?,
        ignores_missing: policy.missing == Missing::Observed,
    })
}

/// The most ways in which repetitions are split.
const MOST_SPLITS: usize = 200;

/// Splits the repetitions of a run into halves, compares each split with the rest, and says how often the gate passes with no change at all. `None` when there
/// are no repetitions to split.
pub fn rehearse(path: &Path, policy: &Policy, options: &CompareOptions) -> Result<Option<Rehearsal>, CompareError> {
    let view = RunView::open(path)?;
    let repeat = view.head().variants.iter().map(|it| it.replicate + 1).max().unwrap_or(1);
    if repeat < 2 {
        return Ok(None);
    }
    let mut rehearsal = Rehearsal::default();
    let mut failures: BTreeMap<String, u64> = BTreeMap::new();
    for half in halves(repeat, MOST_SPLITS) {
        let rest: Vec<u32> = (0..repeat).filter(|it| !half.contains(it)).collect();
        let side = |replicates: Vec<u32>| {
            let selection = Selection { replicates: Some(replicates), ..Selection::whole(view.head().id.clone()) };
            ComparedSide::open(path, &selection)
        };
        let report = gate(Some(&side(half)?), &side(rest)?, policy, options)?;
        rehearsal.splits += 1;
        *match report.verdict {
            GateVerdict::Pass => &mut rehearsal.passed,
            GateVerdict::Fail => &mut rehearsal.failed,
            GateVerdict::Undecided => &mut rehearsal.undecided,
        } += 1;
        for condition in report.conditions.iter().filter(|it| it.verdict == GateVerdict::Fail && !it.advisory) {
            *failures.entry(condition.id.clone()).or_default() += 1;
        }
    }
    rehearsal.failures = failures.into_iter().collect();
    Ok(Some(rehearsal))
}

/// The first halves of these numbers, in lexicographic order.
fn halves(n: u32, most: usize) -> Vec<Vec<u32>> {
    let size = (n / 2) as usize;
    let mut found: Vec<Vec<u32>> = Vec::new();
    let mut half: Vec<u32> = (0..size as u32).collect();
    while found.len() < most {
        found.push(half.clone());
        // The last number that can still grow; those behind it follow it.
        let Some(at) = (0..size).rev().find(|at| half[*at] < n - (size - at) as u32) else { break };
        half[at] += 1;
        for next in at + 1..size {
            half[next] = half[next - 1] + 1;
        }
    }
    found
}

/// A failure among many that chance explains is undecided.
fn hold_back(conditions: &mut [ConditionReport], confidence: Confidence) {
    let found: Vec<(GateVerdict, Option<f64>)> = conditions.iter().map(|it| (it.verdict, it.p_fail)).collect();
    let (adjusted, verdicts, _) = overall(&found, confidence.alpha());
    for ((condition, p), verdict) in conditions.iter_mut().zip(adjusted).zip(verdicts) {
        condition.p_fail_adjusted = p;
        if condition.verdict != verdict {
            condition.verdict = verdict;
            condition.reason = "with this many conditions, one of them may fail by chance".to_owned();
            condition.sentence = sentence(condition);
        }
    }
}

struct Gating<'g> {
    /// NEW beside itself, for what is said of NEW alone.
    own: &'g Contrasting<'g>,
    pair: Option<&'g Contrasting<'g>>,
    new: &'g dyn Table,
    base: Option<&'g dyn Table>,
    policy: &'g Policy,
}

/// What a condition found.
#[derive(Default)]
struct Found {
    value: Option<f64>,
    bounds: Bounds,
    least: Option<(Option<f64>, Bounds)>,
    most: Option<(Option<f64>, Bounds)>,
    p_fail: Option<f64>,
    /// A verdict that was counted rather than estimated.
    counted: Option<GateVerdict>,
    words: String,
    wanted: f64,
    wanted_words: String,
    reason: String,
    wants: Option<Wants>,
    /// How many units it rests on, and how many rows would decide it.
    pairs: u64,
    needed: Option<Option<f64>>,
    clusters: Option<u64>,
}

impl Gating<'_> {
    /// Conditions on each task are one for each counted task.
    fn expanded(&self) -> Vec<Condition> {
        let mut conditions = Vec::new();
        for condition in &self.policy.conditions {
            let is_all = condition.selector.task.as_ref().is_some_and(|it| it.value == "*");
            if !is_all {
                conditions.push(condition.clone());
                continue;
            }
            for task in self.new.tasks().iter().filter(|it| !it.is_condition && it.judges) {
                let mut own = condition.clone();
                own.id.value = format!("{}.{}", condition.id.value, task.id);
                if let Some(of) = &mut own.selector.task {
                    of.value.clone_from(&task.id);
                }
                conditions.push(own);
            }
        }
        conditions
    }

    fn condition(&self, condition: &Condition) -> Result<ConditionReport, CompareError> {
        let confidence = condition.confidence.unwrap_or(self.policy.confidence);
        let found = match self.hindrance(condition)? {
            Some(reason) => Found { reason, counted: Some(GateVerdict::Undecided), ..Found::default() },
            None => self.found(condition, confidence)?,
        };
        let measure = found.wants.map(|wants| Measure {
            wants,
            bound: found.wanted,
            observed: found.bounds,
            least: found.least.map(|it| it.1).filter(|_| self.policy.missing == Missing::Bound),
            most: found.most.map(|it| it.1).filter(|_| self.policy.missing == Missing::Bound),
        });
        let mut verdict = found.counted.or(measure.as_ref().map(decide)).unwrap_or(GateVerdict::Undecided);
        let mut reason = found.reason;
        if let Some(why) = self.doubt(condition, &found.clusters, verdict, found.counted.is_some()) {
            (verdict, reason) = (GateVerdict::Undecided, why);
        }
        let more = (verdict == GateVerdict::Undecided).then(|| self.more(found.needed?, found.pairs)).flatten();
        let mut report = ConditionReport {
            id: condition.id.value.clone(),
            kind: condition.kind.name(),
            selector: condition.selector.words(),
            verdict,
            advisory: condition.advisory,
            found: found.value,
            bounds: found.bounds,
            wanted: found.wanted,
            p_fail: found.p_fail,
            p_fail_adjusted: None,
            least: found.least.and_then(|it| it.0),
            most: found.most.and_then(|it| it.0),
            found_words: found.words,
            wanted_words: found.wanted_words,
            reason,
            more,
            sentence: String::new(),
        };
        report.sentence = sentence(&report);
        Ok(report)
    }

    /// Why a condition cannot be looked at.
    fn hindrance(&self, condition: &Condition) -> Result<Option<String>, CompareError> {
        if condition.kind.needs_base() && self.pair.is_none() {
            return Ok(Some("it compares with BASE, and there is none: name a run with `--base`".to_owned()));
        }
        if let Some(task) = &condition.selector.task {
            let has = |table: &dyn Table| table.tasks().iter().any(|it| it.id == task.value);
            let lacks = (!has(self.new)).then_some("NEW").or_else(|| {
                let base = self.base.filter(|_| condition.kind.needs_base())?;
                (!has(base)).then_some("BASE")
            });
            if let Some(side) = lacks {
                return Ok(Some(format!("{side} has no task `{}`", task.value)));
            }
        }
        Ok(self.differing(condition).map(|note| differs(note, self.base, self.new)))
    }

    /// A note that makes a condition undecided.
    fn differing(&self, condition: &Condition) -> Option<&Note> {
        let pair = self.pair.filter(|_| condition.kind.needs_base())?;
        let task = condition.selector.task.as_ref().map(|it| it.value.as_str());
        let is_allowed = |word: &str| self.policy.allow.iter().chain(&condition.allow).any(|it| it == word);
        pair.notes().iter().find(|note| {
            let concerns = note.task.is_none() || (task.is_some() && note.task.as_deref() == task);
            note.finding.hinders().is_some_and(|word| concerns && !is_allowed(word))
        })
    }

    /// Why what was found is not to be relied on.
    fn doubt(
        &self,
        condition: &Condition,
        clusters: &Option<u64>,
        verdict: GateVerdict,
        is_counted: bool,
    ) -> Option<String> {
        if verdict == GateVerdict::Undecided || (is_counted && verdict == GateVerdict::Fail) {
            return None;
        }
        let sides = self.base.filter(|_| condition.kind.needs_base()).into_iter().chain([self.new]);
        if let Some(side) = sides.map(Table::side).find(|it| !it.is_complete) {
            return Some(format!("the run `{}` is not complete", side.name));
        }
        let few = clusters.filter(|it| self.own.clustering() == Clustering::Clustered && *it < LEAST_CLUSTERS)?;
        Some(format!("there are {few} clusters, and fewer than {LEAST_CLUSTERS} decide nothing"))
    }

    fn found(&self, condition: &Condition, confidence: Confidence) -> Result<Found, CompareError> {
        let Some(part) = self.part(condition)? else {
            let reason = "the rows that it selects are not known: some cannot be read, because their file has changed since the run";
            return Ok(Found { reason: reason.to_owned(), counted: Some(GateVerdict::Undecided), ..Found::default() });
        };
        match condition.kind {
            Kind::AtLeast(rate) => self.at_least(condition, &part, rate, confidence),
            Kind::NotWorse(margin) => self.difference(condition, &part, -margin, Wants::AtLeast, confidence),
            Kind::Better(gain) => self.difference(condition, &part, gain, Wants::MoreThan, confidence),
            Kind::Cost(limit) => self.amount(&part, limit, confidence, Amounts::Cost),
            Kind::Tokens(limit) => self.amount(&part, limit, confidence, Amounts::Tokens),
            Kind::LatencyMs(limit) => self.amount(&part, limit, confidence, Amounts::Latency),
            Kind::LatencyP95Ms(limit) => self.amount(&part, limit, confidence, Amounts::LatencyP95),
            Kind::NoNewFailures => self.no_new_failures(condition, &part),
            Kind::AllPass => self.all_pass(condition, &part),
            Kind::Errors(most) => self.errors(condition, &part, most),
            Kind::Flaky(most) => self.flaky(condition, &part, most),
        }
    }

    /// The units that a condition looks at; `None` when that cannot be known.
    fn part(&self, condition: &Condition) -> Result<Option<Part>, CompareError> {
        let selector = &condition.selector;
        let mut part = Part {
            rows: None,
            prompt: selector.prompt.as_ref().map(|it| it.value.clone()),
            subject: selector.subject.as_ref().map(|it| it.value.clone()),
        };
        if let Some((path, value)) = &selector.slice {
            let Some(values) = self.new.values(&path.value)? else { return Ok(None) };
            part.rows = Some(values.into_iter().filter(|it| it.1 == *value).map(|it| it.0).collect());
        }
        if let Some(tag) = &selector.tag {
            let Some(tagged) = self.new.tagged(&tag.value)? else { return Ok(None) };
            part.rows = Some(match part.rows {
                Some(rows) => rows.intersection(&tagged).copied().collect(),
                None => tagged,
            });
        }
        Ok(Some(part))
    }

    /// The column of NEW that a condition is about.
    fn column(&self, condition: &Condition) -> Column {
        let task = condition.selector.task.as_ref();
        let of = |id: &str| self.new.tasks().iter().find(|it| it.id == id).map(|it| it.column);
        task.and_then(|it| of(&it.value)).unwrap_or(Column::CASE)
    }

    /// The columns of all counted tasks.
    fn judgement_columns(&self) -> Vec<Column> {
        self.new.tasks().iter().filter(|it| !it.is_condition && it.judges).map(|it| it.column).collect()
    }

    /// A pass rate of NEW, with exact one-sided bounds.
    fn at_least(
        &self,
        condition: &Condition,
        part: &Part,
        rate: f64,
        confidence: Confidence,
    ) -> Result<Found, CompareError> {
        let columns =
            if condition.selector.on_judgements { self.judgement_columns() } else { vec![self.column(condition)] };
        let is_single = self.own.clustering() == Clustering::Single && !condition.selector.on_judgements;
        let mut worlds: [BTreeMap<u32, Tally>; 3] = Default::default();
        let mut n_unknown = 0;
        for column in columns {
            self.own.each_in(part, column, |_, cluster, _, unit| {
                if unit.only().is_some_and(|it| matches!(it, Ending::Skipped | Ending::Measured | Ending::Absent)) {
                    return;
                }
                let (passed, judged) = (u64::from(unit.passed()), u64::from(unit.judged()));
                let unknown = u64::from(unit.n()) - judged;
                n_unknown += unknown;
                let all = [(passed, judged), (passed, judged + unknown), (passed + unknown, judged + unknown)];
                for (world, (passed, judged)) in worlds.iter_mut().zip(all) {
                    let tally = world.entry(cluster).or_default();
                    *tally = Tally { passed: tally.passed + passed, judged: tally.judged + judged };
                }
            })?;
        }
        let [observed, least, most] = worlds.map(|it| RateBounds::of(&it, is_single, confidence));
        let value = observed.rate;
        let unknown = |it: RateBounds| (n_unknown > 0).then_some((it.rate, it.bounds));
        Ok(Found {
            value,
            bounds: observed.bounds,
            least: unknown(least),
            most: unknown(most),
            p_fail: observed.p_fail(rate),
            words: format!("{} passed, {}", percent(value), range(observed.bounds, |it| percent(Some(it)))),
            wanted: rate,
            wanted_words: format!("at least {}", percent(Some(rate))),
            wants: Some(Wants::AtLeast),
            pairs: observed.clusters,
            needed: value.map(|value| rows_for_rate(value, rate, confidence)),
            clusters: Some(observed.clusters),
            ..Found::default()
        })
    }

    /// A difference of pass rates or of scores.
    fn difference(
        &self,
        condition: &Condition,
        part: &Part,
        bound: f64,
        wants: Wants,
        confidence: Confidence,
    ) -> Result<Found, CompareError> {
        let Some(pair) = self.pair else { return Ok(Found::default()) };
        let both = confidence.two_sided().unwrap_or(confidence);
        let is_score = condition.selector.is_score;
        let shown = |it: f64| {
            let text = if is_score { format!("{it:+.2}") } else { format!("{:+.1} points", it * 100.0) };
            text.replace('-', "−")
        };
        let (line, worlds) = if is_score {
            let column = self.column(condition);
            (pair.scores_in(part, column)?.finish(About::Cases, both, ScoreTest::SignFlip), None)
        } else if condition.selector.on_judgements {
            let mut line = JudgementLine::new(pair.n_clusters());
            for column in self.judgement_columns() {
                pair.each_in(part, column, |_, cluster, base, new| line.add(base, new, cluster))?;
            }
            (line.finish(both), None)
        } else {
            let mut line = RateLine::new(pair.clustering());
            pair.each_in(part, self.column(condition), |_, cluster, base, new| line.add(base, new, cluster))?;
            (line.finish(About::Cases, both), Some(line.worlds(both)))
        };
        let bounds = |it: Option<Interval>| Bounds { low: it.map(|it| it.low), high: it.map(|it| it.high) };
        let [_, least, most] = worlds.map_or([None; 3], |it| it.map(|it| Some((it.difference, bounds(it.interval)))));
        let words = line.difference.map_or_else(|| "nothing could be compared".to_owned(), shown);
        Ok(Found {
            value: line.difference,
            bounds: bounds(line.interval),
            least: least.filter(|_| line.unknown > 0),
            most: most.filter(|_| line.unknown > 0),
            p_fail: p_of_failing(&line, bound),
            words: format!("{words}, {}", range(bounds(line.interval), shown)),
            wanted: bound,
            wanted_words: format!(
                "{} {}",
                if wants == Wants::MoreThan { "more than" } else { "at least" },
                shown(bound)
            ),
            wants: Some(wants),
            pairs: line.pairs,
            needed: line.difference.map(|it| rows_for_difference(&line, it, bound, confidence)),
            clusters: line.clusters,
            ..Found::default()
        })
    }

    /// What cases take: a mean or a quantile of NEW, or a ratio.
    fn amount(&self, part: &Part, limit: Limit, confidence: Confidence, what: Amounts) -> Result<Found, CompareError> {
        let both = confidence.two_sided().unwrap_or(confidence);
        let contrasting = if limit.of_base { self.pair } else { Some(self.own) };
        let Some(contrasting) = contrasting else { return Ok(Found::default()) };
        let (mut base, mut new, mut clusters, mut unknown) = (Vec::new(), Vec::new(), Vec::new(), 0);
        let asked = contrasting.asked();
        contrasting.each_in(part, Column::CASE, |unit, cluster, _, _| {
            let cases = contrasting.cases(unit);
            let of = |side: usize| what.of_unit(&amounts(asked[side], cases[side], |it| it.subject));
            match (of(0), of(1)) {
                (Some(was), Some(now)) => {
                    base.push(was);
                    new.push(now);
                    clusters.push(cluster);
                }
                _ => unknown += 1,
            }
        })?;
        if new.is_empty() {
            let reason = format!("{} is not known of any case", what.name());
            return Ok(Found { reason, counted: Some(GateVerdict::Undecided), ..Found::default() });
        }
        let clusters = Clusters::by_key(&clusters);
        let (value, bounds) = match (what, limit.of_base) {
            (Amounts::Latency, true) => {
                let ratios: Vec<f64> = base.iter().zip(&new).filter(|it| *it.0 > 0.0).map(|it| it.1 / it.0).collect();
                of_quantile(&ratios, 0.5, both)
            }
            (_, true) => {
                let found = ratio_of_means(&base, &new, &clusters, both);
                (found.map(|it| it.ratio), bounds_of(found.and_then(|it| it.interval)))
            }
            (Amounts::LatencyP95, false) => of_quantile(&new, 0.95, both),
            (_, false) => {
                let found = cluster_mean(&new, &clusters, both);
                (found.map(|it| it.mean), bounds_of(found.and_then(|it| it.interval)))
            }
        };
        let shown = |it: f64| if limit.of_base { format!("{it:.2} times BASE") } else { what.shown(it) };
        let reason =
            if unknown > 0 { format!("{unknown} cases without a known amount are left out") } else { String::new() };
        Ok(Found {
            value,
            bounds,
            words: format!("{}, {}", value.map_or_else(|| "nothing".to_owned(), shown), range(bounds, shown)),
            wanted: limit.at_most,
            wanted_words: format!("at most {}", shown(limit.at_most)),
            reason,
            wants: Some(Wants::AtMost),
            pairs: new.len() as u64,
            needed: value.map(|value| rows_for_interval(value, bounds, limit.at_most, new.len() as u64, confidence)),
            ..Found::default()
        })
    }

    /// Whether a unit passes, by the rule for repetitions; `None` when that cannot be told.
    fn passes(rule: RepetitionRule, unit: &Repetitions) -> Option<bool> {
        let (passed, failed) = (unit.passed(), unit.count(Ending::Failed));
        let unknown = unit.n() - unit.judged();
        let (least, most) = match rule {
            RepetitionRule::All => (failed == 0 && unknown == 0, failed == 0),
            RepetitionRule::Majority => (passed * 2 > unit.n(), (passed + unknown) * 2 > unit.n()),
            RepetitionRule::Any => (passed > 0, passed + unknown > 0),
        };
        (least == most).then_some(least)
    }

    fn no_new_failures(&self, condition: &Condition, part: &Part) -> Result<Found, CompareError> {
        let Some(pair) = self.pair else { return Ok(Found::default()) };
        let (mut failed, mut n, mut unknown, mut n_selected) = (Vec::new(), 0, 0, 0);
        pair.each_in(part, self.column(condition), |unit, _, base, new| {
            n_selected += 1;
            // A repeated case of BASE that passed at least once is one that can fail anew.
            if base.passed() == 0 || Gating::passes(condition.repetitions, base) == Some(false) {
                return;
            }
            n += 1;
            match Gating::passes(condition.repetitions, new) {
                Some(true) => {}
                Some(false) => failed.push(pair.cases(unit)[1].first_number()),
                None => unknown += 1,
            }
        })?;
        self.counted(&failed, (n, n_selected), unknown, "failed, and passed in BASE", "no new failures")
    }

    fn all_pass(&self, condition: &Condition, part: &Part) -> Result<Found, CompareError> {
        let (mut failed, mut n, mut unknown) = (Vec::new(), 0, 0);
        self.own.each_in(part, self.column(condition), |unit, _, base, new| {
            if base.against(new) == Standing::NotApplicable {
                return;
            }
            n += 1;
            match Gating::passes(condition.repetitions, new) {
                Some(true) => {}
                Some(false) => failed.push(self.own.cases(unit)[1].first_number()),
                None => unknown += 1,
            }
        })?;
        self.counted(&failed, (n, n), unknown, "failed", "all pass")
    }

    fn counted(
        &self,
        failed: &[u64],
        (n, n_selected): (u64, u64),
        unknown: u64,
        words: &str,
        wanted: &str,
    ) -> Result<Found, CompareError> {
        let verdict = match (failed.is_empty(), unknown == 0 && n_selected > 0) {
            (false, _) => GateVerdict::Fail,
            (true, true) => GateVerdict::Pass,
            (true, false) => GateVerdict::Undecided,
        };
        let reason = match verdict {
            GateVerdict::Undecided if n_selected == 0 => "it selects no case".to_owned(),
            GateVerdict::Undecided => format!("{unknown} of {n} cases could not be judged"),
            _ => String::new(),
        };
        const NAMED: usize = 3;
        let mut failed = failed.to_vec();
        failed.sort_unstable();
        let names = failed.iter().take(NAMED).map(|it| self.new.id(*it)).collect::<Result<Vec<_>, _>>()?;
        let more = failed.len().saturating_sub(NAMED);
        let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
        let words = match failed.len() {
            0 => format!("none of {n}"),
            _ => format!("{}{rest} {words}", names.join(", ")),
        };
        let value = Some(failed.len() as f64);
        Ok(Found {
            value,
            counted: Some(verdict),
            words,
            wanted_words: wanted.to_owned(),
            reason,
            pairs: n,
            ..Found::default()
        })
    }

    fn errors(&self, condition: &Condition, part: &Part, most: f64) -> Result<Found, CompareError> {
        let (mut n, mut errors) = (0, 0);
        self.own.each_in(part, self.column(condition), |_, _, _, unit| {
            n += u64::from(unit.n());
            errors += u64::from(unit.count(Ending::Error) + unit.count(Ending::NotRun));
        })?;
        Ok(share_found(errors, n, most))
    }

    fn flaky(&self, condition: &Condition, part: &Part, most: f64) -> Result<Found, CompareError> {
        let (mut n, mut flaky) = (0, 0);
        self.own.each_in(part, self.column(condition), |_, _, _, unit| {
            if unit.judged() > 1 {
                n += 1;
                flaky += u64::from(unit.is_flaky());
            }
        })?;
        let mut found = share_found(flaky, n, most);
        if n == 0 {
            found.reason = "no case was run more than once".to_owned();
        }
        Ok(found)
    }

    /// What the rows that a condition lacks would take.
    fn more(&self, needed: Option<f64>, pairs: u64) -> Option<More> {
        let Some(total) = needed.filter(|it| *it <= MOST_ROWS) else { return Some(More::default()) };
        let total = (total.ceil() as u64).max(pairs + 1);
        let more = total - pairs;
        let asked = self.own.asked()[1];
        let n_cases = asked.cases.len() as u64;
        let sum =
            |of: fn(&Amount) -> f64| asked.cases.values().map(|it| of(&it.subject) + of(&it.judging)).sum::<f64>();
        let per_row = |sum: f64| sum / pairs.max(1) as f64 * more as f64;
        let unpriced = asked.cases.values().any(|it| it.subject.unpriced + it.judging.unpriced > 0);
        Some(More {
            rows: Some((total, more)),
            calls: (n_cases > 0).then(|| per_row(sum(|it| it.answers as f64)).ceil() as u64),
            usd: (n_cases > 0 && !unpriced).then(|| per_row(sum(|it| it.usd))),
        })
    }
}

/// What cases take, as a gate may limit it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Amounts {
    Cost,
    Tokens,
    Latency,
    LatencyP95,
}

impl Amounts {
    /// The mean over the repetitions of a unit; `None` where it is not known.
    fn of_unit(self, amounts: &[Amount]) -> Option<f64> {
        let one = |it: &Amount| match self {
            Amounts::Cost => (it.unpriced == 0).then_some(it.usd),
            Amounts::Tokens => Some((it.input + it.output) as f64),
            Amounts::Latency | Amounts::LatencyP95 => Some(it.seconds * 1e3),
        };
        let known: Vec<f64> = amounts.iter().map(one).collect::<Option<_>>()?;
        (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
    }

    fn name(self) -> &'static str {
        match self {
            Amounts::Cost => "the cost",
            Amounts::Tokens => "the number of tokens",
            Amounts::Latency | Amounts::LatencyP95 => "the latency",
        }
    }

    fn shown(self, amount: f64) -> String {
        match self {
            Amounts::Cost => format!("${amount:.4}"),
            Amounts::Tokens => format!("{amount:.0} tokens"),
            Amounts::Latency | Amounts::LatencyP95 => format!("{amount:.0} ms"),
        }
    }
}

/// A pass rate with exact one-sided bounds.
struct RateBounds {
    rate: Option<f64>,
    bounds: Bounds,
    clusters: u64,
    /// How many passed of how many, as far as they are independent.
    effective: Option<(f64, f64)>,
}

impl RateBounds {
    fn of(clusters: &BTreeMap<u32, Tally>, is_single: bool, confidence: Confidence) -> RateBounds {
        let tallies: Vec<Tally> = clusters.values().copied().filter(|it| it.judged > 0).collect();
        let all = tallies
            .iter()
            .fold(Tally::default(), |sum, it| Tally { passed: sum.passed + it.passed, judged: sum.judged + it.judged });
        let end = |side: Side| match is_single {
            true => clopper_pearson(all.passed as f64, all.judged as f64, confidence, side),
            false => effective_rate(&tallies, confidence, side).and_then(|it| it.interval),
        };
        let effective = match is_single {
            true => Some((all.passed as f64, all.judged as f64)),
            false => {
                let found = effective_rate(&tallies, confidence, Side::Both);
                found.and_then(|it| it.effective.map(|n| (it.rate * n, n)))
            }
        };
        RateBounds {
            rate: all.rate(),
            bounds: Bounds { low: end(Side::Lower).map(|it| it.low), high: end(Side::Upper).map(|it| it.high) },
            clusters: tallies.len() as u64,
            effective,
        }
    }

    /// The probability of as few passes if the rate were the least that is wanted.
    fn p_fail(&self, rate: f64) -> Option<f64> {
        let (passed, n) = self.effective?;
        Some(if passed >= n { 1.0 } else { 1.0 - beta_cdf(passed + 1.0, n - passed, rate) })
    }
}

/// The probability of a difference as small if it were at its bound.
fn p_of_failing(line: &Line, bound: f64) -> Option<f64> {
    if let Some(table) = line.table {
        return tango_test(table, -bound).map(|it| 1.0 - it.p);
    }
    let (difference, se) = line.difference.zip(line.se.filter(|it| *it > 0.0))?;
    let t = (difference - bound) / se;
    let two_sided = student_two_sided(t, line.clusters.unwrap_or(line.pairs).saturating_sub(1).max(1) as f64);
    Some(if t < 0.0 { two_sided / 2.0 } else { 1.0 - two_sided / 2.0 })
}

/// How many rows would decide a rate; `None` when none would.
fn rows_for_rate(value: f64, bound: f64, confidence: Confidence) -> Option<f64> {
    if value > bound {
        return rows_needed(bound, value, confidence, POWER).map(|it| it.rows as f64);
    }
    // That a rate is too low is shown by the mirrored test; its normal form is enough for a number of rows.
    let (c, p) = (normal_quantile(confidence.level()), normal_quantile(POWER));
    let gap = value - bound;
    let reach = c * (bound * (1.0 - bound)).sqrt() + p * (value * (1.0 - value)).sqrt();
    (gap.abs() > 1e-9).then(|| (reach / gap).powi(2))
}

/// How many pairs would decide a difference; `None` when none would.
fn rows_for_difference(line: &Line, value: f64, bound: f64, confidence: Confidence) -> Option<f64> {
    if let Some(table) = line.table {
        return more_pairs(table, -bound, confidence, POWER).map(|it| it.total as f64);
    }
    let reach = normal_quantile(confidence.level()) + normal_quantile(POWER);
    let gap = value - bound;
    let variance = line.se.map(|se| se * se * line.pairs as f64)?;
    (gap.abs() > 1e-9).then(|| (reach / gap).powi(2) * variance)
}

/// The same from an interval.
fn rows_for_interval(value: f64, bounds: Bounds, bound: f64, n: u64, confidence: Confidence) -> Option<f64> {
    let half = (bounds.high? - bounds.low?) / 2.0;
    let se = half / normal_quantile(confidence.level());
    let reach = normal_quantile(confidence.level()) + normal_quantile(POWER);
    let gap = value - bound;
    (gap.abs() > 1e-12).then(|| (reach * se / gap).powi(2) * n as f64)
}

fn share_found(n_found: u64, n: u64, most: f64) -> Found {
    let share = (n > 0).then(|| n_found as f64 / n as f64);
    let verdict = match share {
        None => GateVerdict::Undecided,
        Some(share) if share <= most => GateVerdict::Pass,
        Some(_) => GateVerdict::Fail,
    };
    Found {
        value: share,
        counted: Some(verdict),
        words: format!("{n_found} of {n} ({})", percent(share)),
        wanted: most,
        wanted_words: format!("at most {}", percent(Some(most))),
        reason: if n == 0 { "it selects no case".to_owned() } else { String::new() },
        pairs: n,
        ..Found::default()
    }
}

fn of_quantile(values: &[f64], q: f64, confidence: Confidence) -> (Option<f64>, Bounds) {
    let found = quantile_interval(values, q, confidence);
    let bounds = found.map_or_else(Bounds::default, |it| Bounds { low: it.low, high: it.high });
    (found.map(|it| it.value), bounds)
}

fn bounds_of(interval: Option<Interval>) -> Bounds {
    Bounds { low: interval.map(|it| it.low), high: interval.map(|it| it.high) }
}

fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "nothing".to_owned(), |it| format!("{:.1} %", it * 100.0))
}

/// `between 75.2 % and 88.1 %`
fn range(bounds: Bounds, shown: impl Fn(f64) -> String) -> String {
    match (bounds.low, bounds.high) {
        (Some(low), Some(high)) => format!("between {} and {}", shown(low), shown(high)),
        (Some(low), None) => format!("at least {}", shown(low)),
        (None, Some(high)) => format!("at most {}", shown(high)),
        (None, None) => "too few to say more".to_owned(),
    }
}

/// Why a difference is not the subject's alone, and what to do.
fn differs(note: &Note, base: Option<&dyn Table>, new: &dyn Table) -> String {
    let word = note.finding.hinders().unwrap_or("definition");
    let base = base.map_or("BASE", |it| it.side().name.as_str());
    let suite = &new.side().suite;
    match word {
        "judge" => format!(
            "the judge changed ({} → {}): judge BASE again with `jurat run SUITE --replay {base} --model judge=…`, or `allow: [judge]`",
            note.was, note.now
        ),
        "suite" => format!("BASE is a run of another suite than `{suite}`"),
        word => format!("the {word} changed ({} → {}): run BASE again, or `allow: [{word}]`", note.was, note.now),
    }
}

/// What a condition says, for people who read one line.
fn sentence(condition: &ConditionReport) -> String {
    let ConditionReport { id, found_words, wanted_words, reason, verdict, more, .. } = condition;
    let mut text = format!("{}: `{id}`: ", verdict.name());
    text += &match (found_words.is_empty(), wanted_words.is_empty()) {
        (true, _) => reason.clone(),
        (false, true) => found_words.clone(),
        (false, false) => format!("{found_words}; wanted: {wanted_words}"),
    };
    if !reason.is_empty() && !found_words.is_empty() {
        text += &format!("; {reason}");
    }
    text.push('.');
    text += &more.as_ref().map_or_else(String::new, more_words);
    text
}

fn more_words(more: &More) -> String {
    let Some((total, added)) = more.rows else {
        return " More rows will not decide this: it is at the bound.".to_owned();
    };
    let cost = more.usd.map_or_else(String::new, |it| format!(", about ${it:.2}"));
    let calls = more.calls.map_or_else(String::new, |it| format!(", {it} calls"));
    format!(" About {total} cases in all would decide it ({added} more{calls}{cost}).")
}

impl UnitCases<'_> {
    /// The number of its first case.
    fn first_number(self) -> u64 {
        self.numbers().next().unwrap_or(self.first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_are_halved_in_every_way() {
        assert_eq!(halves(3, 9), [[0], [1], [2]]);
        assert_eq!(halves(4, 9), [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]);
        assert_eq!(halves(20, 200).len(), 200);
    }

    #[test]
    fn more_rows_decide_a_rate_that_is_not_at_its_bound() {
        assert_eq!(rows_for_rate(0.9, 0.9, Confidence::USUAL), None);
        let needed = rows_for_rate(0.95, 0.9, Confidence::USUAL).expect("it is above");
        assert!((150.0..250.0).contains(&needed), "{needed}");
    }
}
