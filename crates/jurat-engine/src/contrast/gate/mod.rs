//! The conditions of a gate, measured on runs.

mod amounts;
mod bounds;
mod counts;
mod judges;
mod rehearsal;
mod stopped;
mod words;

use std::collections::{BTreeMap, HashSet};

use jurat_core::contrast::provenance::Note;
use jurat_core::contrast::{About, Clustering, Ending, JudgementLine, RateLine, ScoreTest};
use jurat_core::gate::{
    Bounds, Conclusion, Condition, ConditionReport, Decided, GateReport, GateVerdict, Kind, Measure, Missing, More,
    Policy, Wants, decide, is_decided_as_observed, overall,
};
use jurat_core::statistics::{Confidence, Tally};
use jurat_store::run::Column;

use amounts::Amounts;
use bounds::{RateBounds, bounds_of, p_of_failing, rows_for_difference, rows_for_rate};
pub(crate) use counts::passes;
pub use rehearsal::rehearse;
use words::{
    differs, no_task, percent, range, rows_not_compared, rows_of_base, rows_of_stopped, sentence, task_of,
    unknown_decides, unknown_rows_of_base,
};

use super::contrasting::{Contrasting, Part, SelectedRows};
use super::table::{Amount, Table, TaskInfo};
use super::{CompareError, CompareOptions, ComparedSide};

/// With fewer clusters than this, nothing is decided.
const LEAST_CLUSTERS: u64 = 20;
/// More rows than this will not be found.
const MOST_ROWS: f64 = 1e6;
/// The largest share of the rows of BASE that a comparison of rates may leave out.
const MOST_LOST: f64 = 0.05;

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
    let gating = Gating { own: &own, pair: pair.as_ref(), new, base: base.map(|it| &*it.0), policy, options };
    let mut conditions = Vec::new();
    for condition in gating.expanded() {
        conditions.push(gating.condition(&condition)?);
    }
    let verdict = hold_back(&mut conditions, policy.confidence);
    Ok(GateReport {
        suite: new.side().suite.clone(),
        base: base.map(|it| it.0.side().name.clone()),
        new: new.side().name.clone(),
        confidence: policy.confidence,
        verdict,
        conditions,
        contrast: pair.map(|mut it| it.whole()).transpose()?,
        ignores_missing: policy.missing == Missing::Observed,
    })
}

/// The verdict over all conditions. A failure among many that chance explains is undecided.
fn hold_back(conditions: &mut [ConditionReport], confidence: Confidence) -> GateVerdict {
    let decided = |it: &ConditionReport| Decided { verdict: it.verdict, p_fail: it.p_fail, advisory: it.advisory };
    let found: Vec<Decided> = conditions.iter().map(decided).collect();
    let Conclusion { adjusted, verdicts, verdict: over_all } = overall(&found, confidence.alpha());
    for ((condition, p), verdict) in conditions.iter_mut().zip(adjusted).zip(verdicts) {
        condition.p_fail_adjusted = p;
        if condition.verdict != verdict {
            condition.verdict = verdict;
            condition.reason = "with this many conditions, one of them may fail by chance".to_owned();
            condition.sentence = sentence(condition);
        }
    }
    over_all
}

/// The largest share of the rows of BASE that a condition may leave out: none where each row counts, of the few that it selects, and where a changed answer is
/// another row.
fn most_lost(condition: &Condition, are_answers: bool) -> f64 {
    let counts_each = condition.kind == Kind::NoNewFailures || condition.selector.selects_rows();
    if counts_each || are_answers { 0.0 } else { MOST_LOST }
}

struct Gating<'g> {
    /// NEW beside itself, for what is said of NEW alone.
    own: &'g Contrasting<'g>,
    pair: Option<&'g Contrasting<'g>>,
    new: &'g dyn Table,
    base: Option<&'g dyn Table>,
    policy: &'g Policy,
    options: &'g CompareOptions,
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
    /// How many cases could not be judged or compared.
    unknown: u64,
    /// How many independent judgements a rate is worth, and the standard error of a difference.
    worth: Option<f64>,
    se: Option<f64>,
}

/// The rows of a side that a condition selects, by their numbers.
enum RowSelection {
    All,
    Some(HashSet<u64>),
    /// Some rows of the side cannot be read.
    Unknown,
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
            let is_about_base = condition.kind.needs_base() && !self.is_allowed(condition, "task");
            let of_base = self.only_in_base().filter(|_| is_about_base);
            for task in self.new.tasks().iter().chain(of_base).filter(|it| !it.is_condition && it.judges) {
                conditions.push(condition.on_task(&task.id));
            }
        }
        conditions
    }

    /// The tasks that NEW does not have any more.
    fn only_in_base(&self) -> impl Iterator<Item = &TaskInfo> {
        let of_base = self.base.into_iter().flat_map(Table::tasks);
        of_base.filter(|it| self.new.tasks().iter().all(|new| new.id != it.id))
    }

    /// The tasks that BASE did not have.
    fn only_in_new(&self) -> impl Iterator<Item = &TaskInfo> {
        let is_new = |it: &&TaskInfo| self.base.is_some_and(|base| base.tasks().iter().all(|was| was.id != it.id));
        self.new.tasks().iter().filter(is_new)
    }

    fn condition(&self, condition: &Condition) -> Result<ConditionReport, CompareError> {
        let confidence = condition.confidence.unwrap_or(self.policy.confidence);
        let found = match (self.hindrance(condition)?, self.monitored(condition)) {
            (Some(reason), _) => Found { reason, counted: Some(GateVerdict::Undecided), ..Found::default() },
            (None, Some(stopped)) => self.of_monitored(condition, stopped, confidence)?,
            (None, None) => self.found(condition, confidence)?,
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
        let is_unknown = measure.is_some_and(|it| verdict == GateVerdict::Undecided && is_decided_as_observed(&it));
        if is_unknown && reason.is_empty() {
            reason = unknown_decides(found.unknown);
        }
        let doubt = self.doubt(condition, &found.clusters, verdict, found.counted.is_some());
        // More rows do not help where those that could not be judged decide, or where there are too few clusters.
        let is_too_few = verdict == GateVerdict::Undecided && !is_unknown && doubt.is_none();
        let more = is_too_few.then(|| self.more(found.needed?, found.pairs)).flatten();
        if let Some(why) = doubt {
            (verdict, reason) = (GateVerdict::Undecided, why);
        }
        let left_out = self.not_compared(condition, verdict)? + &self.not_run(verdict);
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
            found_words: found.words + &left_out,
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
                return Ok(Some(no_task(side, &task.value)));
            }
        }
        if let Some(note) = self.differing(condition) {
            return Ok(Some(differs(note, self.base, self.new)));
        }
        if let Some(task) = self.task_of_one_side(condition) {
            return Ok(Some(task));
        }
        self.lost_rows(condition)
    }

    fn is_allowed(&self, condition: &Condition, word: &str) -> bool {
        self.policy.allow.iter().chain(&condition.allow).any(|it| it == word)
    }

    /// A note that makes a condition undecided. Whether a case passes depends on all tasks, so each of them concerns a condition on cases; a task also depends on
    /// what it reads of others.
    fn differing(&self, condition: &Condition) -> Option<&Note> {
        let pair = self.pair.filter(|_| condition.kind.needs_base())?;
        let task = condition.selector.task.as_ref().map(|it| it.value.as_str());
        let is_of_all = task.is_none() && condition.kind.is_of_verdicts();
        let rests_on: Vec<&str> = task.into_iter().chain(task.map_or(Vec::new(), |it| self.new.upstream(it))).collect();
        pair.notes().iter().find(|note| {
            let concerns = is_of_all || note.task.as_deref().is_none_or(|it| rests_on.contains(&it));
            note.finding.hinders().is_some_and(|word| concerns && !self.is_allowed(condition, word))
        })
    }

    /// Why the verdicts of cases do not compare: a task counts on one side only.
    fn task_of_one_side(&self, condition: &Condition) -> Option<String> {
        let is_of_all = condition.selector.task.is_none() && condition.kind.is_of_verdicts();
        if !is_of_all || !condition.kind.needs_base() || self.is_allowed(condition, "task") {
            return None;
        }
        let sides = self.only_in_base().map(|it| (it, "BASE")).chain(self.only_in_new().map(|it| (it, "NEW")));
        let (task, side) = sides.into_iter().find(|it| it.0.judges)?;
        Some(task_of(&task.id, side, self.base))
    }

    /// Why a comparison says nothing: too many rows of BASE are not part of it. Those of a run that stopped because it knew enough were not needed.
    fn lost_rows(&self, condition: &Condition) -> Result<Option<String>, CompareError> {
        let Some(pair) = self.pair.filter(|_| condition.kind.needs_base()) else { return Ok(None) };
        if self.is_allowed(condition, "rows") {
            return Ok(None);
        }
        if self.new.definition().stopped.is_some() {
            return Ok(self.lost_before_the_run(condition));
        }
        let lost = match (self.rows_of(pair.base, condition)?, self.rows_of(self.new, condition)?) {
            // What NEW selects is not known, which the condition itself says.
            (_, RowSelection::Unknown) => return Ok(None),
            (RowSelection::All, _) | (_, RowSelection::All) => pair.lost(None)?,
            (RowSelection::Some(base), RowSelection::Some(new)) => pair.lost(Some(&SelectedRows { base, new }))?,
            (RowSelection::Unknown, _) => {
                let lost = pair.lost(None)?;
                return Ok((lost.n() > 0).then(|| unknown_rows_of_base(&lost)));
            }
        };
        let most = most_lost(condition, lost.are_answers);
        Ok((lost.n() as f64 > most * lost.of as f64).then(|| rows_of_base(&lost, condition)))
    }

    /// That NEW did not run all rows, in words. What is not complete decides nothing, so this is what an option selected.
    fn not_run(&self, verdict: GateVerdict) -> String {
        let partial = self.new.definition().partial.as_ref().filter(|_| verdict != GateVerdict::Undecided);
        partial.map_or_else(String::new, |it| format!(", of a part of the rows ({it})"))
    }

    /// How many rows a decided comparison leaves out, in words.
    fn not_compared(&self, condition: &Condition, verdict: GateVerdict) -> Result<String, CompareError> {
        let is_stopped = self.new.definition().stopped.is_some();
        let pair =
            self.pair.filter(|_| condition.kind.needs_base() && verdict != GateVerdict::Undecided && !is_stopped);
        let lost = pair.map(|it| it.lost(None)).transpose()?.filter(|it| it.n() > 0);
        Ok(lost.map_or_else(String::new, |it| rows_not_compared(&it)))
    }

    /// The same for a run that stopped early: it compared the rows of its data with those of BASE before it began.
    fn lost_before_the_run(&self, condition: &Condition) -> Option<String> {
        let stopping = self.new.stopping()?;
        let is_of_base = self.base.is_some_and(|it| stopping.base_run.as_ref() == Some(&it.side().run_id));
        let lost = stopping.lost_rows.as_ref().filter(|_| is_of_base)?;
        let most = most_lost(condition, lost.are_answers);
        (lost.n as f64 > most * lost.of as f64).then(|| rows_of_stopped(lost))
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
        let is_decided_early = self.is_decided_early(condition);
        let new = Some(self.new).filter(|_| !is_decided_early);
        let sides = self.base.filter(|_| condition.kind.needs_base()).into_iter().chain(new);
        if let Some(side) = sides.map(Table::side).find(|it| !it.is_complete) {
            return Some(format!("the run `{}` is not complete", side.name));
        }
        let few = clusters.filter(|it| self.own.clustering() == Clustering::Clustered && *it < LEAST_CLUSTERS)?;
        Some(format!("there are {few} clusters, and fewer than {LEAST_CLUSTERS} decide nothing"))
    }

    fn found(&self, condition: &Condition, confidence: Confidence) -> Result<Found, CompareError> {
        let found = self.observed(condition, confidence)?;
        Ok(if condition.corrected { self.corrected(condition, found, confidence) } else { found })
    }

    fn observed(&self, condition: &Condition, confidence: Confidence) -> Result<Found, CompareError> {
        let Some(part) = self.part(condition)? else {
            let reason = "the rows that it selects are not known: some cannot be read, because their file was changed or moved since the run";
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
            Kind::Judge(bound) => Ok(self.judge(condition, bound, confidence)),
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
        match self.rows_of(self.new, condition)? {
            RowSelection::All => {}
            RowSelection::Some(rows) => part.rows = Some(rows),
            RowSelection::Unknown => return Ok(None),
        }
        Ok(Some(part))
    }

    /// The rows of a side that a condition selects.
    fn rows_of(&self, side: &dyn Table, condition: &Condition) -> Result<RowSelection, CompareError> {
        let selector = &condition.selector;
        let mut rows = None;
        if let Some((path, value)) = &selector.slice {
            let Some(values) = side.values(&path.value)? else { return Ok(RowSelection::Unknown) };
            rows = Some(values.rows_with(value));
        }
        if let Some(tag) = &selector.tag {
            let Some(tagged) = side.tagged(&tag.value)? else { return Ok(RowSelection::Unknown) };
            rows = Some(match rows {
                Some(rows) => rows.intersection(&tagged).copied().collect(),
                None => tagged,
            });
        }
        Ok(rows.map_or(RowSelection::All, RowSelection::Some))
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
            worth: observed.worth(),
            unknown: n_unknown,
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
        let [_, least, most] =
            worlds.map_or([None; 3], |it| it.map(|it| Some((it.difference, bounds_of(it.interval)))));
        let words = line.difference.map_or_else(|| "nothing could be compared".to_owned(), shown);
        Ok(Found {
            value: line.difference,
            bounds: bounds_of(line.interval),
            least: least.filter(|_| line.unknown > 0),
            most: most.filter(|_| line.unknown > 0),
            p_fail: p_of_failing(&line, bound),
            words: format!("{words}, {}", range(bounds_of(line.interval), shown)),
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
            se: line.standard_error(),
            unknown: line.unknown,
            ..Found::default()
        })
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
