//! Runs that stop when the answer is known.
//!
//! The rows of such a run are known before the first of them runs ([`RowIndex`]), and run in a random order from the run's seed. As cases finish, lanes hand them
//! to the [`StopWatch`], which takes them in that order, and which closes the run when its conditions are decided. What it was to show and what was decided
//! stands in the run's file ([`StoppingRecord`]).

mod condition;
mod index;
mod watch;

use std::collections::HashSet;

use jurat_core::gate::{Condition, Policy};
use jurat_core::statistics::Confidence;
use jurat_core::stopping::{Monitor, Monitored, Monitoring, Risk, StopWhen, UnknownRule};
use jurat_core::suite::{Suite, Task};
use jurat_format::value::FieldPath;
use jurat_store::run::Variant;
use jurat_store::{Project, ProjectError};

use crate::contrast::{CompareError, ComparedSide, Reference, Selection as SideSelection, groups_alone};
use crate::rows::Selection;
use crate::stopping_record::{ConditionRecord, LostRowsRecord, StoppingRecord};
use crate::view::ViewError;
use crate::{Definition, RunError};

pub(crate) use watch::StopWatch;

use condition::Watched;
use index::{Look, RowIndex};

/// The rule of a run that ends when its gate is certain to fail.
pub(crate) const CERTAIN: &str = "certain";

/// Why a run cannot be watched.
#[derive(Debug, thiserror::Error)]
pub enum StopError {
    #[error("`--stop-when`: {0}")]
    Rule(#[from] UnknownRule),
    #[error(
        "`--stop-when` runs rows in a random order, and rows of standard input or of a program come in theirs; put them into a file"
    )]
    Stream,
    #[error(
        "`--stop-when` and `--rerun` exclude each other: the cases of an earlier run that failed are no random sample"
    )]
    Rerun,
    #[error("a run that may stop early has at most 4,294,967,295 rows")]
    TooManyRows,
    #[error(
        "`--stop-when {rules}` needs conditions: write `gates` with `at_least`, `not_worse` or `better` into the suite, or stop by a width such as `width=0.05`"
    )]
    NoCondition { rules: String },
    #[error("`--gate` needs conditions: write `gates` into the suite")]
    NoGates,
    #[error("condition `{condition}` compares with BASE, and there is none: name a run with `--base`")]
    NoBase { condition: String },
    #[error("condition `{condition}` needs `expect`: how much better NEW is thought to be, beyond `better`")]
    NoExpectation { condition: String },
    #[error(
        "condition `{condition}` needs `range`, the ends of the scale of its score, such as `range: [0, 10]`: the output of its judge has no `minimum` and `maximum`"
    )]
    NoRange { condition: String },
    #[error("{side} has no task `{task}`")]
    NoTask { side: &'static str, task: String },
    #[error("BASE `{base}` is no longer the run that this one was compared with (`{was}`, now `{now}`)")]
    OtherBase { base: String, was: String, now: String },
    #[error(transparent)]
    Compare(#[from] CompareError),
    #[error(transparent)]
    View(#[from] ViewError),
    #[error(transparent)]
    Project(#[from] ProjectError),
    #[error(transparent)]
    Run(#[from] RunError),
}

/// What a run that may stop early is asked for.
pub(crate) struct Wanted<'w> {
    pub(crate) rules: StopWhen,
    /// Whether nothing is bet, and only what is certain ends the run.
    pub(crate) is_certain: bool,
    pub(crate) seed: u64,
    /// The run that it is compared with, in place of the policy's.
    pub(crate) base: Option<&'w str>,
    /// What an earlier part of the run says, when it is resumed or replayed.
    pub(crate) earlier: Option<&'w StoppingRecord>,
    pub(crate) variants: &'w [Variant],
    pub(crate) selection: &'w Selection,
}

/// Reads the rows of a run, and makes ready what watches it.
pub(crate) fn watch(
    definition: Definition<'_>,
    wanted: &Wanted<'_>,
    project: &Project,
) -> Result<StopWatch, StopError> {
    let Definition { suite, plan, .. } = definition;
    if wanted.selection.rerun.is_some() {
        return Err(StopError::Rerun);
    }
    let policy = suite.gates.clone().filter(|_| wanted.rules.has_decisions()).unwrap_or_default();
    let conditions = expanded(suite, &policy);
    let layout = plan.layout(wanted.variants.len());
    let paths: Vec<FieldPath> =
        conditions.iter().filter_map(|it| it.selector.slice.as_ref()).map(|it| it.0.value.clone()).collect();
    let records = &suite.records;
    let look = Look { plan, layout, records, selection: wanted.selection, seed: wanted.seed, paths: &paths };
    let index = RowIndex::read(&look)?;
    let base = reference(&conditions, &policy, wanted, project)?;
    let alone = groups_alone(wanted.variants);
    let groups = base.as_ref().map_or(alone.as_slice(), |it| it.1.groups());
    let mut watched = Vec::new();
    for condition in &conditions {
        let own = Watched::new(suite, condition, policy.confidence, groups, &index, &paths)?;
        let task = condition.selector.task.as_ref().map(|it| it.value.as_str());
        // What BASE has of a task is also what is expected of NEW.
        let has_task = |base: &Reference| task.is_none_or(|it| base.column(it).is_some());
        watched.push(match &base {
            Some((_, base)) if condition.kind.needs_base() || has_task(base) => own.against(base, suite, &index)?,
            _ => own,
        });
    }
    if wanted.rules.has_decisions() && !wanted.is_certain && !watched.iter().any(Watched::is_monitored) {
        return Err(StopError::NoCondition { rules: wanted.rules.to_string() });
    }
    let (monitoring, records) = monitors(&watched, wanted, &index, policy.confidence);
    let design = StoppingRecord {
        rules: if wanted.is_certain { CERTAIN.to_owned() } else { wanted.rules.to_string() },
        seed: wanted.seed,
        base: base.as_ref().map(|it| it.0.clone()),
        base_run: base.as_ref().map(|it| it.1.run_id().to_owned()),
        of: index.order().n_steps() as u64,
        n_rows: index.n_rows() as u64,
        lost_rows: base.as_ref().map(|it| lost_rows(&it.1, &index)).transpose()?,
        confidence: policy.confidence.level(),
        conditions: records,
        ..StoppingRecord::default()
    };
    Ok(StopWatch::new(index, watched, layout, monitoring, design))
}

/// The rows of BASE that no row of the data is the partner of.
fn lost_rows(base: &Reference, index: &RowIndex) -> Result<LostRowsRecord, StopError> {
    let partner = |turn: u32| {
        let row = index.at_turn(turn);
        base.row(row.key, row.question)
    };
    let paired: HashSet<u32> = (0..index.n_rows() as u32).filter_map(partner).collect();
    let (lost, of) = base.without(&paired);
    Ok(LostRowsRecord { n: lost.len() as u64, of, are_answers: base.hold_answers(&lost)? })
}

/// Conditions on each task are one for each counted task.
fn expanded(suite: &Suite, policy: &Policy) -> Vec<Condition> {
    let counted = || suite.tasks.iter().filter(|it| it.gate.is_counted() && it.judges());
    let mut conditions = Vec::new();
    for condition in &policy.conditions {
        match condition.selector.task.as_ref().is_some_and(|it| it.value == "*") {
            true => conditions.extend(counted().map(|it| condition.on_task(&task_name(it)))),
            false => conditions.push(condition.clone()),
        }
    }
    conditions
}

/// The name of a task. Those of scenarios have the scenario before it.
fn task_name(task: &Task) -> String {
    let scope = task.scope.as_ref().map_or_else(String::new, |it| format!("{}.", it.value));
    format!("{scope}{}", task.id.value)
}

/// BASE with its name, where there is one.
fn reference(
    conditions: &[Condition],
    policy: &Policy,
    wanted: &Wanted<'_>,
    project: &Project,
) -> Result<Option<(String, Reference)>, StopError> {
    let named = wanted.base.map(str::to_owned).or_else(|| policy.base.as_ref().map(|it| it.value.clone()));
    let Some(name) = named else {
        let lacking = conditions.iter().find(|it| it.kind.needs_base() && !it.advisory);
        return lacking.map_or(Ok(None), |it| Err(StopError::NoBase { condition: it.id.value.clone() }));
    };
    let selection = SideSelection::parse(&name).map_err(CompareError::from)?;
    let side = ComparedSide::open(&project.run(&selection.run)?, &selection)?;
    let base = Reference::new(side, wanted.variants)?;
    let was = wanted.earlier.and_then(|it| it.base_run.clone());
    match was.filter(|was| was != base.run_id()) {
        Some(was) => Err(StopError::OtherBase { base: name, was, now: base.run_id().to_owned() }),
        None => Ok(Some((name, base))),
    }
}

/// The monitors of a run, and what its file says about each.
fn monitors(
    watched: &[Watched],
    wanted: &Wanted<'_>,
    index: &RowIndex,
    confidence: Confidence,
) -> (Monitoring, Vec<ConditionRecord>) {
    let n_rows = index.n_rows() as u32;
    let (mut monitors, mut records) = (Vec::new(), Vec::new());
    let n_tested = watched.iter().filter(|it| it.kind.is_tested()).count();
    for condition in watched.iter().filter(|it| it.is_monitored()) {
        let Some(claim) = condition.claim(n_rows) else { continue };
        let (risk, of) = condition.risk(claim, n_rows);
        // All of the risk is left for the end, and what is certain of it costs nothing.
        let certain = Risk { monitor: 0.0, end: Some(condition.confidence.alpha()) };
        let risk = if wanted.is_certain { certain } else { risk };
        let mut monitor = Monitor::new(claim, risk).among(n_tested);
        if !wanted.rules.hopeless {
            monitor = monitor.without_hopeless();
        }
        if let Some(look) = condition.look(claim, risk, index) {
            monitor = monitor.with_look(look);
        }
        monitors.push(Monitored { advisory: condition.advisory, monitor });
        records.push(ConditionRecord {
            id: condition.id.clone(),
            kind: condition.kind.name().to_owned(),
            selector: condition.selector.clone(),
            is_score: condition.span.is_some(),
            bound: claim.bound(),
            advisory: condition.advisory,
            confidence: condition.confidence.level(),
            alpha: risk.monitor,
            end_alpha: risk.end,
            of,
            ..ConditionRecord::default()
        });
    }
    let waits_for_end = watched.iter().any(Watched::waits_for_end);
    (Monitoring::new(wanted.rules, monitors, waits_for_end, confidence), records)
}
