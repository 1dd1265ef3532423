//! A run as people read it in a terminal: a table of cases, one of their tasks, totals, and a few closing lines.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::time::Duration;

use jurat_core::verdict::{CaseVerdict, Counts};

use crate::Style;
use crate::case_writer::{CaseWriter, Scope};
use crate::columns::total;
use crate::model::{
    CaseReport, DimensionTotal, OutputReport, RunReport, TaskReport, TaskTotal, TaskVerdict, gate_name, interval,
};
use crate::style::Meaning;
use crate::table::{Cell, Column, ROOM, Table};
use crate::visible::visible_line;
use crate::words;

/// How many cases are shown one by one unless somebody says otherwise.
pub const MOST_CASES: usize = 100;

/// What is drawn, and for which window.
#[derive(Debug, Clone, Copy)]
pub struct TerminalOptions {
    /// Whether meanings are shown in colour.
    pub style: Style,
    /// How wide the window is; nothing when it is none, as in a file.
    pub width: Option<usize>,
    /// How much is told.
    pub scope: Scope,
    /// Whether there is a table of cases.
    pub cases: bool,
    /// Whether there is a table of the tasks of these cases.
    pub tasks: bool,
    /// Whether there are tables and lines about the run as a whole.
    pub totals: bool,
    /// How many cases are shown. When a run has more, those that passed are passed over.
    pub most_cases: usize,
    /// How many cases somebody selected to be shown; nothing when nobody did. Of a selection, none is passed over.
    pub n_selected: Option<u64>,
}

impl Default for TerminalOptions {
    fn default() -> TerminalOptions {
        TerminalOptions {
            style: Style::Plain,
            width: None,
            scope: Scope::Everything,
            cases: true,
            tasks: false,
            totals: true,
            most_cases: MOST_CASES,
            n_selected: None,
        }
    }
}

/// Writes a run as tables.
///
/// ```
/// use jurat_core::verdict::{CaseVerdict, Counts};
/// use jurat_report::model::{CaseReport, RunReport, TaskTotal};
/// use jurat_report::{CaseWriter, Scope, TerminalOptions, TerminalWriter};
///
/// let counts = Counts { passed: 1, ..Counts::default() };
/// let task = TaskTotal { id: "polite".to_owned(), counts, ..TaskTotal::default() };
/// let mut run = RunReport { suite: "support".to_owned(), tasks: vec![task], counts, ..RunReport::default() };
/// run.cases.add(CaseVerdict::Passed);
///
/// let mut text = Vec::new();
/// let options = TerminalOptions { scope: Scope::ResultsOnly, ..TerminalOptions::default() };
/// let mut writer = TerminalWriter::new(&mut text, &run, options);
/// writer.case(&CaseReport { counts, ..CaseReport::new("r1", CaseVerdict::Passed) })?;
/// writer.end()?;
/// assert_eq!(String::from_utf8_lossy(&text), "\
/// record  total  passed  failed  skipped  error  pass rate
/// r1          1       1       0        0      0    100.0 %
///
/// task    passed  failed  measured  skipped  error  pass rate  95 % interval
/// polite       1       0         0        0      0    100.0 %   20.7–100.0 %
///
/// 1 case: 1 passed
/// ");
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct TerminalWriter<'r> {
    out: &'r mut dyn Write,
    run: &'r RunReport,
    options: TerminalOptions,
    cases: Table,
    tasks: Table,
}

impl<'r> TerminalWriter<'r> {
    /// Begins a run.
    pub fn new(out: &'r mut dyn Write, run: &'r RunReport, options: TerminalOptions) -> TerminalWriter<'r> {
        let figures = ["total", "passed", "failed", "skipped", "error", "not run", "pass rate", "duration"];
        let cases = variant_columns(run).into_iter().chain(figures.map(Column::figure));
        let tasks = variant_columns(run).into_iter().chain(task_columns());
        TerminalWriter { out, run, options, cases: Table::new(cases.collect()), tasks: Table::new(tasks.collect()) }
    }

    /// Whether cases that passed are not shown.
    fn passes_over(&self) -> bool {
        self.options.n_selected.is_none() && self.run.cases.total() > self.options.most_cases as u64
    }

    fn drawn(&self, table: &Table) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        table.write(&mut text, self.options.style, self.options.width)?;
        Ok(text)
    }

    fn n_cases(&self) -> u64 {
        self.options.n_selected.unwrap_or_else(|| self.run.cases.total())
    }

    fn drawn_cases(&self) -> io::Result<Vec<u8>> {
        if self.passes_over() && self.run.cases.passed == self.n_cases() {
            let all = words::counted(self.n_cases(), "case");
            return Ok(format!("all of {all} passed; of many, only those that did not are shown\n").into_bytes());
        }
        let mut text = self.drawn(&self.cases)?;
        self.write_hidden(&mut text)?;
        Ok(text)
    }

    fn drawn_tasks(&self) -> io::Result<Vec<u8>> {
        let mut text = self.drawn(&self.tasks)?;
        // Said once, under the table of cases where there is one.
        if !self.options.cases {
            self.write_hidden(&mut text)?;
        }
        Ok(text)
    }

    /// How many cases are not shown.
    fn write_hidden(&self, text: &mut Vec<u8>) -> io::Result<()> {
        let hidden = self.n_cases().saturating_sub(self.cases.len() as u64);
        let more = words::counted(hidden, "more case");
        match hidden {
            0 => Ok(()),
            _ if self.passes_over() => {
                writeln!(text, "… and {more}; of many, only those that did not pass are shown")
            }
            _ => writeln!(text, "… and {more}"),
        }
    }
}

impl CaseWriter for TerminalWriter<'_> {
    fn case(&mut self, case: &CaseReport) -> io::Result<()> {
        let is_passed_over = self.passes_over() && case.verdict == CaseVerdict::Passed;
        if is_passed_over || !self.wants_more() {
            return Ok(());
        }
        self.cases.push(variant(case).into_iter().chain(case_figures(case, self.options.scope)));
        if self.options.tasks {
            for task in &case.tasks {
                let total = total(self.run, case, task)?;
                self.tasks.push(variant(case).into_iter().chain(task_cells(total, task)));
                for output in &task.outputs {
                    self.tasks.push(variant(case).into_iter().chain(output_cells(total, output)));
                }
            }
        }
        Ok(())
    }

    fn end(&mut self) -> io::Result<()> {
        let mut sections = Vec::new();
        if self.options.cases {
            sections.push(self.drawn_cases()?);
        }
        if self.options.tasks && !(self.tasks.is_empty() && self.passes_over()) {
            sections.push(self.drawn_tasks()?);
        }
        if self.options.totals {
            for table in [totals(self.run), dimensions(self.run), slices(self.run), subjects(self.run)] {
                if !table.is_empty() {
                    sections.push(self.drawn(&table)?);
                }
            }
            for (table, n_more, what) in [scenarios(self.run), unexercised(self.run)] {
                if !table.is_empty() {
                    let mut section = self.drawn(&table)?;
                    if n_more > 0 {
                        writeln!(section, "… and {}", words::counted(n_more, what))?;
                    }
                    sections.push(section);
                }
            }
            let mut closing = Vec::new();
            write_closing(&mut closing, self.run, self.options.scope)?;
            sections.push(closing);
        }
        self.out.write_all(&sections.join(&b"\n"[..]))?;
        self.out.flush()
    }

    fn wants_more(&self) -> bool {
        (self.options.cases || self.options.tasks) && self.cases.len() < self.options.most_cases
    }
}

/// What tells cases of one row from each other is shown where it does.
fn variant_columns(run: &RunReport) -> [Column; 4] {
    let prompts: BTreeSet<&Option<String>> = run.subjects.iter().map(|it| &it.prompt).collect();
    let subjects: BTreeSet<&Option<String>> = run.subjects.iter().map(|it| &it.subject).collect();
    [
        // What is talked to is no record, and neither is what an agent is given.
        Column::text(if run.scenarios.is_empty() && !run.has_agents { "record" } else { "case" }),
        Column::text("prompt").where_different(prompts.len() > 1),
        Column::text("subject").where_different(subjects.len() > 1),
        Column::figure("replicate").where_different(run.repeat > 1),
    ]
}

/// What is the same for all cases can be spared: it stands in the plan.
fn task_columns() -> [Column; 12] {
    [
        Column::text("task"),
        Column::word("kind").spare(),
        Column::word("gate").spare(),
        Column::figure("stage").spare(),
        Column::word("verdict"),
        Column::text("path").spare(),
        Column::text("operator").spare(),
        Column::text("expected"),
        Column::text("actual"),
        Column::text("label").spare(),
        Column::figure("score").spare(),
        Column::message("message"),
    ]
}

fn variant(case: &CaseReport) -> [Cell; 4] {
    [
        Cell::text(&case.id),
        Cell::text(case.prompt.as_deref().unwrap_or_default()),
        Cell::text(case.subject.as_deref().unwrap_or_default()),
        case.replicate.map_or_else(Cell::default, |it| Cell::from(u64::from(it))),
    ]
}

fn case_figures(case: &CaseReport, scope: Scope) -> [Cell; 8] {
    let counts = &case.counts;
    let took = if scope.has_observed() { words::duration(case.took) } else { String::new() };
    [
        Cell::from(counts.total()),
        Cell::from(counts.passed),
        failed(counts),
        Cell::from(counts.skipped),
        errored(counts),
        not_run(counts),
        Cell::from(words::rate(counts.pass_rate())),
        Cell::from(took),
    ]
}

fn task_cells(total: &TaskTotal, task: &TaskReport) -> [Cell; 12] {
    let verdict = Cell::from(task.verdict.name().replace('_', " "));
    let verdict = match task.verdict {
        TaskVerdict::Passed => verdict.meaning(Meaning::Good, true),
        TaskVerdict::Failed => verdict.meaning(Meaning::Bad, true),
        TaskVerdict::Error => verdict.meaning(Meaning::Unknown, true),
        TaskVerdict::Measured | TaskVerdict::Skipped | TaskVerdict::NotRun => verdict,
    };
    // A judge's own words are the best there is to say about a verdict that needs no reason of ours.
    let message = if task.message.is_empty() { task.explanation.as_deref().unwrap_or_default() } else { &task.message };
    [
        Cell::text(&total.id),
        Cell::text(&total.kind),
        Cell::from(gate_name(total.gate).to_owned()),
        Cell::from(total.stage as u64),
        verdict,
        Cell::text(total.path.as_deref().unwrap_or_default()),
        Cell::text(total.operator.as_deref().unwrap_or_default()),
        Cell::from(task.expected.as_ref().map_or_else(String::new, |it| words::value(it, ROOM))),
        Cell::from(task.actual.as_ref().map_or_else(String::new, |it| words::value(it, ROOM))),
        Cell::text(task.label.as_deref().unwrap_or_default()),
        Cell::from(task.score.map_or_else(String::new, words::score)),
        Cell::message(message),
    ]
}

/// One output of an evaluator, behind the task that runs it.
fn output_cells(total: &TaskTotal, output: &OutputReport) -> [Cell; 12] {
    let is_error = output.verdict() == TaskVerdict::Error;
    let verdict = Cell::from(output.verdict().name().to_owned());
    let verdict = if is_error { verdict.meaning(Meaning::Unknown, true) } else { verdict };
    let message = if is_error { &output.message } else { output.explanation.as_deref().unwrap_or_default() };
    [
        Cell::text(&output.name),
        Cell::from("output".to_owned()),
        Cell::default(),
        Cell::from(total.stage as u64),
        verdict,
        Cell::default(),
        Cell::default(),
        Cell::default(),
        Cell::default(),
        Cell::text(output.label.as_deref().unwrap_or_default()),
        Cell::from(output.score.map_or_else(String::new, words::score)),
        Cell::message(message),
    ]
}

fn totals(run: &RunReport) -> Table {
    let more = [Column::figure("mean score").spare(), Column::text("labels").spare()];
    // Several scenarios may have outcomes of the same name.
    let is_told_apart = run.scenarios.len() > 1;
    let names = [Column::text("task"), Column::text("scenario")];
    let mut table = Table::new(names.into_iter().chain(count_columns()).chain(more).collect());
    for task in &run.tasks {
        let scenario = task.scenario.as_deref().filter(|_| is_told_apart).unwrap_or_default();
        let score = task.score.map_or_else(String::new, |it| words::score(it.mean));
        let labels: Vec<String> = task.labels.iter().map(|(label, n)| format!("{label} {n}")).collect();
        let more = [Cell::from(score), Cell::text(&labels.join(", "))];
        table.push(
            [Cell::text(&task.id), Cell::text(scenario)].into_iter().chain(count_cells(&task.counts)).chain(more),
        );
    }
    table
}

/// What tasks say about each dimension.
fn dimensions(run: &RunReport) -> Table {
    let is_judged = run.dimensions.iter().any(|it| it.judged.is_some());
    let judged = is_judged.then(|| [Column::figure("judged"), Column::figure("95 % interval")]).into_iter().flatten();
    let names = [Column::text("dimension"), Column::figure(if is_judged { "checks" } else { "score" })];
    let mut table = Table::new(names.into_iter().chain(judged).chain(count_columns()).collect());
    for it in &run.dimensions {
        let score = Cell::from(it.score().map_or_else(String::new, |it| format!("{it:.1}")));
        let (mean, interval) = judged_words(it);
        let judged = is_judged.then(|| [Cell::from(mean), Cell::from(interval)]).into_iter().flatten();
        table.push([Cell::text(&it.name), score].into_iter().chain(judged).chain(count_cells(&it.counts)));
    }
    table
}

/// The mean of what judges said about a dimension, and its interval.
pub(crate) fn judged_words(dimension: &DimensionTotal) -> (String, String) {
    let mean = dimension.judged.map_or_else(String::new, |it| format!("{:.1}", it.mean));
    let interval = dimension.judged.and_then(|it| it.interval);
    (mean, interval.map_or_else(String::new, |it| format!("{:.1} to {:.1}", it.low, it.high)))
}

fn slices(run: &RunReport) -> Table {
    let mut table = Table::new([Column::text("slice")].into_iter().chain(count_columns()).collect());
    for slice in &run.slices {
        let name = format!("{} = {}", slice.path, slice.value.as_deref().unwrap_or("(nothing)"));
        table.push([Cell::text(&name)].into_iter().chain(count_cells(&slice.counts)));
    }
    table
}

/// Prompts and models beside each other, where there is something to compare.
fn subjects(run: &RunReport) -> Table {
    let names = [Column::text("prompt"), Column::text("subject"), Column::figure("cases")];
    let mut table = Table::new(names.into_iter().chain(count_columns()).chain([Column::figure("cost")]).collect());
    for it in run.subjects.iter().filter(|_| run.subjects.len() > 1) {
        let names = [it.prompt.as_deref(), it.subject.as_deref()].map(|it| Cell::text(it.unwrap_or_default()));
        let cost = Cell::from(it.cost_usd.map_or_else(String::new, words::money));
        let cases = Cell::from(it.cases.total());
        table.push(names.into_iter().chain([cases]).chain(count_cells(&it.counts)).chain([cost]));
    }
    table
}

/// How conversations went, scenario by scenario, how many more there are, and what they are called.
fn scenarios(run: &RunReport) -> (Table, u64, &'static str) {
    let mut table = Table::new(vec![
        Column::text("scenario"),
        Column::figure("cases"),
        Column::figure("completed"),
        Column::figure("limit reached"),
        Column::figure("timeout"),
        Column::figure("error"),
        Column::figure("not run"),
        Column::figure("turns verified"),
        Column::figure("turns min/mean/max"),
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

/// What no conversation came to.
fn unexercised(run: &RunReport) -> (Table, u64, &'static str) {
    let mut table = Table::new(vec![Column::text("scenario"), Column::message("not exercised")]);
    let all =
        run.scenarios.iter().flat_map(|it| it.unexercised_words().into_iter().map(move |what| (&it.graph.name, what)));
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
    ["passed", "failed", "measured", "skipped", "error", "not run", "pass rate", "95 % interval"].map(Column::figure)
}

fn count_cells(counts: &Counts) -> [Cell; 8] {
    [
        Cell::from(counts.passed),
        failed(counts),
        Cell::from(counts.measured),
        Cell::from(counts.skipped),
        errored(counts),
        not_run(counts),
        Cell::from(words::rate(counts.pass_rate())),
        Cell::from(words::interval(interval(counts))),
    ]
}

fn failed(counts: &Counts) -> Cell {
    Cell::from(counts.failed).meaning(Meaning::Bad, counts.failed > 0)
}

fn errored(counts: &Counts) -> Cell {
    Cell::from(counts.errored).meaning(Meaning::Unknown, counts.errored > 0)
}

/// A column that most runs do without.
fn not_run(counts: &Counts) -> Cell {
    if counts.not_run == 0 { Cell::default() } else { Cell::from(counts.not_run).meaning(Meaning::Unknown, true) }
}

fn write_closing(out: &mut dyn Write, run: &RunReport, scope: Scope) -> io::Result<()> {
    let ended = run.cases.each().into_iter().filter(|(_, n)| *n > 0);
    let ended: Vec<String> =
        ended.map(|(verdict, n)| format!("{} {}", words::grouped(n), verdict.name().replace('_', " "))).collect();
    let cases = words::counted(run.cases.total(), "case");
    writeln!(out, "{cases}{}{}", if ended.is_empty() { "" } else { ": " }, ended.join(", "))?;
    if let Some(line) = words::unconcluded(run) {
        writeln!(out, "{line}")?;
    }
    let spent = spent(run, scope);
    if !spent.is_empty() {
        writeln!(out, "{}", spent.join(", "))?;
    }
    if scope.has_observed() {
        write_answers(out, run)?;
    }
    if let Some(reason) = run.stopped {
        let reason = reason.name().replace('_', " ");
        writeln!(out, "stopped before the end ({reason}): not all cases were judged")?;
    }
    if let Some(fault) = &run.fault {
        writeln!(out, "not all cases are here: {}", visible_line(fault))?;
    }
    // The first that is missed mostly stands in the sentence that follows.
    for missed in run.decision.missed().filter(|it| !run.decision.sentence.contains(it)) {
        writeln!(out, "threshold missed: {}", visible_line(missed))?;
    }
    if !run.decision.sentence.is_empty() {
        writeln!(out, "{}", visible_line(&run.decision.sentence))?;
    }
    if scope.has_observed() {
        for note in &run.observed.notes {
            writeln!(out, "note: {}", visible_line(note))?;
        }
        if !run.observed.file.is_empty() {
            writeln!(out, "kept in {}", visible_line(&run.observed.file))?;
        }
    }
    Ok(())
}

/// Money, tokens and time, as far as there are any.
fn spent(run: &RunReport, scope: Scope) -> Vec<String> {
    let mut spent = Vec::new();
    let unpriced = words::counted(run.n_unpriced, "answer");
    match run.cost_usd {
        Some(cost) if run.n_unpriced > 0 => {
            spent.push(format!("cost {} and {unpriced} of unknown price", words::money(cost)));
        }
        Some(cost) => spent.push(format!("cost {}", words::money(cost))),
        None if run.n_unpriced > 0 => spent.push(format!("cost of {unpriced} not known")),
        None => {}
    }
    if run.usage.total() > 0 {
        spent.push(words::tokens(&run.usage));
    }
    if scope.has_observed() && run.observed.wall > Duration::ZERO {
        spent.push(words::duration(run.observed.wall));
    }
    spent
}

/// Where the answers came from.
fn write_answers(out: &mut dyn Write, run: &RunReport) -> io::Result<()> {
    let observed = &run.observed;
    if let Some(run) = &observed.replay_of {
        writeln!(out, "replay of {}", visible_line(run))?;
    }
    if observed.unsafe_code {
        writeln!(out, "code of authors was allowed to run unprotected (`--unsafe-code`)")?;
    }
    if observed.resumed {
        writeln!(out, "resumed: an earlier run had left the rest undone")?;
    }
    if observed.n_answers + observed.n_tool_calls == 0 {
        return Ok(());
    }
    let reused = |n: u64| if n > 0 { format!(", {} of them reused", words::grouped(n)) } else { String::new() };
    let mut line = words::counted(observed.n_answers, "answer");
    if observed.n_reused > 0 {
        line += &reused(observed.n_reused);
        if let Some(oldest) = observed.oldest_reused_ms {
            let age = Duration::from_millis(observed.started_at_ms.saturating_sub(oldest));
            line += &format!(", the oldest {} old", words::span(age));
        }
    }
    if observed.n_tool_calls > 0 {
        line += &format!(", {}", words::counted(observed.n_tool_calls, "tool call"));
        line += &reused(observed.n_reused_tool_calls);
    }
    if observed.n_requests > 0 {
        line += &format!("; {}", words::counted(observed.n_requests, "request"));
    }
    if observed.n_failed_requests > 0 {
        line += &format!(", {} failed", words::grouped(observed.n_failed_requests));
    }
    if !observed.served_by.is_empty() {
        let served_by: Vec<String> = observed.served_by.iter().map(|it| words::cut(it, ROOM)).collect();
        line += &format!("; served by {}", served_by.join(", "));
    }
    writeln!(out, "{line}")
}
