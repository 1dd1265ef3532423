//! Totals in tables: tasks, dimensions, groups of cases, variants and scenarios.

use jurat_core::report::{
    AttemptRate, CaseCounts, DimensionTotal, FlakyCase, Independence, Repetition, RunReport, TaskTotal, interval,
};
use jurat_core::suite::Gate;
use jurat_core::verdict::{CaseVerdict, Counts};

use super::MOST_CASES;
use crate::case_writer::Scope;
use crate::scenario;
use crate::style::Meaning;
use crate::table::{Cell, Column, Table};
use crate::words;

/// Each task over all cases.
pub(super) fn totals(run: &RunReport) -> Table {
    let more = [Column::number("mean score").spare(), Column::text("labels").spare()];
    // Several scenarios may have outcomes of the same name.
    let names_scenarios = run.scenarios.len() > 1;
    let names = [Column::text("task"), Column::text("scenario")];
    let mut table = Table::new(names.into_iter().chain(count_columns()).chain(more).collect());
    let used = Used::of(run.tasks.iter().map(|it| &it.counts));
    for task in &run.tasks {
        let scenario = task.scenario.as_deref().filter(|_| names_scenarios).unwrap_or_default();
        let score = task.score.map_or_else(String::new, |it| words::score(it.mean));
        let labels: Vec<String> = task.labels.iter().map(|(label, n)| format!("{label} {n}")).collect();
        let more = [Cell::from(score), Cell::text(&labels.join(", "))];
        let names = [Cell::text(&task_name(task)), Cell::text(scenario)];
        table.push(names.into_iter().chain(used.cells(&task.counts, task.independence)).chain(more));
    }
    table
}

/// A task, marked where it is a gate: its failures only decide what runs.
fn task_name(task: &TaskTotal) -> String {
    format!("{}{}", task.id, uncounted(task.gate))
}

/// What tasks say about each dimension; what judges say stands beside it where there are any.
pub(super) fn dimensions(run: &RunReport) -> Table {
    let is_judged = run.dimensions.iter().any(|it| it.judged.is_some());
    let judged = [Column::number("judge score"), Column::number("interval of score"), Column::number("check score")];
    let judged = is_judged.then_some(judged).into_iter().flatten();
    let mut table = Table::new([Column::text("dimension")].into_iter().chain(judged).chain(count_columns()).collect());
    let used = Used::of(run.dimensions.iter().map(|it| &it.counts));
    for it in run.dimensions.iter().filter(|_| is_judged || run.names_dimensions) {
        let score = Cell::from(it.score().map_or_else(String::new, |it| format!("{it:.1}")));
        let (mean, interval) = judged_words(it);
        let judged = is_judged.then(|| [Cell::from(mean), Cell::from(interval), score]).into_iter().flatten();
        table.push([Cell::text(&it.name)].into_iter().chain(judged).chain(used.cells(&it.counts, it.independence)));
    }
    table
}

/// The mean of what judges said about a dimension, and its interval.
pub(crate) fn judged_words(dimension: &DimensionTotal) -> (String, String) {
    let mean = dimension.judged.map_or_else(String::new, |it| format!("{:.1}", it.mean));
    let interval = dimension.judged.and_then(|it| it.interval);
    (mean, interval.map_or_else(String::new, |it| format!("{:.1} to {:.1}", it.low, it.high)))
}

pub(super) fn slices(run: &RunReport) -> Table {
    let mut table = Table::new([Column::text("slice")].into_iter().chain(count_columns()).collect());
    let used = Used::of(run.slices.iter().map(|it| &it.counts));
    for slice in &run.slices {
        let name = format!("{} = {}", slice.path, slice.value.as_deref().unwrap_or("(nothing)"));
        table.push([Cell::text(&name)].into_iter().chain(used.cells(&slice.counts, slice.independence)));
    }
    table
}

/// Prompts and subjects under each other, where there is something to compare.
pub(super) fn subjects(run: &RunReport, scope: Scope) -> Table {
    let names = [Column::text("prompt"), Column::text("subject"), Column::number("cases")];
    let more = [Column::number("mean latency"), Column::number("cost")];
    let mut table = Table::new(names.into_iter().chain(count_columns()).chain(more).collect());
    let used = Used::of(run.subjects.iter().map(|it| &it.counts));
    for it in run.subjects.iter().filter(|_| run.subjects.len() > 1) {
        let names = [it.prompt.as_deref(), it.subject.as_deref()].map(|it| Cell::text(it.unwrap_or_default()));
        // Even a script takes another time in every run.
        let latency = it.latency.filter(|_| scope.has_observed());
        let latency = Cell::from(latency.map_or_else(String::new, words::duration));
        let cost = Cell::from(words::short_cost(it.cost_usd, it.n_unpriced).unwrap_or_default());
        let cases = Cell::from(it.cases.total());
        table.push(
            names.into_iter().chain([cases]).chain(used.cells(&it.counts, it.independence)).chain([latency, cost]),
        );
    }
    table
}

/// The pass rate of each task for each prompt and subject, where there are several of both.
pub(super) fn variants(run: &RunReport) -> Table {
    let columns = run.subjects.iter().map(|it| Column::number(words::cut(&it.name(), ROOM_FOR_VARIANTS)));
    let mut table = Table::new([Column::text("pass rate of")].into_iter().chain(columns).collect());
    if run.subjects.len() < 2 || run.tasks.len() < 2 {
        return table;
    }
    for (ix, task) in run.tasks.iter().enumerate() {
        let rate = |counts: Option<&Counts>| Cell::from(words::rate(counts.and_then(Counts::pass_rate)));
        let rates = run.subjects.iter().map(|it| rate(it.tasks.get(ix)));
        table.push([Cell::text(&task_name(task))].into_iter().chain(rates));
    }
    table
}

/// How likely several attempts at a case pass, where cases are repeated.
pub(crate) fn attempts(repetition: Option<&Repetition>) -> Table {
    let columns =
        ["attempts", "one passes", "95 % interval", "all pass", "95 % interval", "too few"].map(Column::number);
    let mut table = Table::new(columns.into_iter().collect());
    for it in repetition.iter().flat_map(|it| &it.attempts) {
        let rate = |rate: Option<AttemptRate>| {
            let interval = words::interval(rate.and_then(|it| it.interval));
            [Cell::from(words::rate(rate.map(|it| it.rate))), Cell::from(interval)]
        };
        let too_few = if it.n_too_few > 0 { Cell::from(it.n_too_few) } else { Cell::default() };
        table.push([Cell::from(it.k)].into_iter().chain(rate(it.any)).chain(rate(it.all)).chain([too_few]));
    }
    table
}

/// The cases that passed in some repetitions and failed in others.
pub(crate) fn flaky(cases: &[FlakyCase]) -> Table {
    let names = [Column::text("flaky case"), Column::text("variant")];
    let numbers = [Column::number("passed"), Column::number("of"), Column::number("95 % interval")];
    let mut table = Table::new(names.into_iter().chain(numbers).chain([Column::text("tasks that flip")]).collect());
    for it in cases {
        table.push([
            Cell::text(&it.case),
            Cell::text(&it.variant),
            Cell::from(it.passed),
            Cell::from(it.judged),
            Cell::from(words::interval(it.interval)),
            Cell::text(&it.tasks.join(", ")),
        ]);
    }
    table
}

/// The first rows on which prompts or subjects end differently, and how many more there are.
pub(super) fn disagreements(run: &RunReport) -> (Table, u64, &'static str) {
    let columns = run.subjects.iter().map(|it| Column::text(words::cut(&it.name(), ROOM_FOR_VARIANTS)));
    let mut table = Table::new([Column::text("variants disagree on")].into_iter().chain(columns).collect());
    for it in &run.disagreements {
        let verdicts = it.verdicts.iter().map(|it| verdicts_cell(it));
        table.push([Cell::text(&it.case)].into_iter().chain(verdicts));
    }
    (table, run.n_disagreements.saturating_sub(run.disagreements.len() as u64), "more case")
}

/// `passed`, or `2 passed, 1 failed` for a case that is repeated.
fn verdicts_cell(verdicts: &[CaseVerdict]) -> Cell {
    let has_failed = verdicts.contains(&CaseVerdict::Failed);
    let name = |it: CaseVerdict| it.name().replace('_', " ");
    let words = match verdicts {
        [only] => name(*only),
        several => {
            let mut counts = CaseCounts::default();
            several.iter().for_each(|it| counts.add(*it));
            let counts = counts.each().into_iter().filter(|(_, n)| *n > 0);
            counts.map(|(it, n)| format!("{n} {}", name(it))).collect::<Vec<_>>().join(", ")
        }
    };
    Cell::from(words).meaning(Meaning::Bad, has_failed)
}

/// How much of the name of a variant is shown.
const ROOM_FOR_VARIANTS: usize = 30;

/// How conversations went, scenario by scenario, how many more there are, and what they are called.
pub(super) fn scenarios(run: &RunReport) -> (Table, u64, &'static str) {
    let mut table = Table::new(vec![
        Column::text("scenario"),
        Column::number("cases"),
        Column::number("completed"),
        Column::number("limit reached"),
        Column::number("timeout"),
        Column::number("error"),
        Column::number("not run"),
        Column::number("turns verified"),
        Column::number("turns min/mean/max"),
    ]);
    for it in run.scenarios.iter().take(MOST_CASES) {
        let statuses = &it.statuses;
        let turns = &it.turns;
        let spread = match turns.mean() {
            Some(mean) => format!("{}/{mean:.1}/{}", turns.least, turns.most),
            None => words::NONE.to_owned(),
        };
        let not_run = if statuses.not_run == 0 { Cell::default() } else { Cell::from(statuses.not_run) };
        table.push([
            Cell::text(&it.graph.name),
            Cell::from(statuses.total()),
            Cell::from(statuses.completed),
            Cell::from(statuses.limit_reached),
            Cell::from(statuses.timeout),
            Cell::from(statuses.error).meaning(Meaning::Unknown, statuses.error > 0),
            not_run.meaning(Meaning::Unknown, statuses.not_run > 0),
            Cell::from(words::part(turns.verified, turns.judged)),
            Cell::from(spread),
        ]);
    }
    (table, run.scenarios.len().saturating_sub(MOST_CASES) as u64, "more scenario")
}

/// What no conversation exercised.
pub(super) fn unexercised(run: &RunReport) -> (Table, u64, &'static str) {
    let mut table = Table::new(vec![Column::text("scenario"), Column::message("not exercised")]);
    let all = run
        .scenarios
        .iter()
        .flat_map(|it| scenario::unexercised(it).into_iter().map(move |what| (&it.graph.name, what)));
    let mut n_more = 0;
    for (name, what) in all {
        if table.len() < MOST_CASES {
            table.push([Cell::text(name), Cell::message(&what)]);
        } else {
            n_more += 1;
        }
    }
    (table, n_more, "more line")
}

fn count_columns() -> [Column; 8] {
    ["passed", "failed", "measured", "skipped", "error", "not run", "pass rate", "95 % interval"].map(Column::number)
}

/// Which of the verdicts that most runs do without there are; columns of the others are left out.
struct Used {
    measured: bool,
    skipped: bool,
    errored: bool,
    not_run: bool,
}

impl Used {
    fn of<'c>(all: impl Iterator<Item = &'c Counts>) -> Used {
        let mut sum = Counts::default();
        all.for_each(|it| sum.merge(it));
        let Counts { measured, skipped, errored, not_run, .. } = sum;
        Used { measured: measured > 0, skipped: skipped > 0, errored: errored > 0, not_run: not_run > 0 }
    }

    fn cells(&self, counts: &Counts, independence: Independence) -> [Cell; 8] {
        let where_used = |n: u64, is_used: bool| if is_used { Cell::from(n) } else { Cell::default() };
        [
            Cell::from(counts.passed),
            Cell::from(counts.failed).meaning(Meaning::Bad, counts.failed > 0),
            where_used(counts.measured, self.measured),
            where_used(counts.skipped, self.skipped),
            where_used(counts.errored, self.errored).meaning(Meaning::Unknown, counts.errored > 0),
            where_used(counts.not_run, self.not_run).meaning(Meaning::Unknown, counts.not_run > 0),
            Cell::from(words::rate(counts.pass_rate())),
            Cell::from(words::interval(interval(counts, independence))),
        ]
    }
}

/// What is said of a task that is not counted itself.
pub(crate) fn uncounted(gate: Gate) -> &'static str {
    match gate {
        Gate::None | Gate::Required => "",
        Gate::Condition => " (gate)",
        Gate::Member => " (member)",
    }
}
