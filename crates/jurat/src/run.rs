//! A run that is over, read back from its file: totals, cases, tasks, and reports of them.

use std::cell::OnceCell;
use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use jurat_core::effect::Usage;
use jurat_core::plan::CaseIx;
use jurat_core::report::{
    CaseCounts, CaseReport, CorrectedTotal, OutputReport, RunEntry, RunReport, TaskReport, TaskTotal, TaskVerdict,
};
use jurat_core::statistics::Interval;
use jurat_core::verdict::{CaseVerdict, Counts, Decision, StopReason};
use jurat_engine::Conclusion;
use jurat_engine::calibration::corrections;
use jurat_engine::view::{Detailed, RunView, StoredOutcome, Variant, ViewError, listed};
use jurat_report::columns::{Column, Datum, columns, rows};
use jurat_report::{Scope, Style, explanation};
use jurat_store::Project;
use jurat_store::run::{CaseRanges, Packed, StoredCase, pack};

use crate::export::{Export, TextOptions, unknown};
use crate::format::{Format, JSON};
use crate::scenario::Execution;
use crate::{Error, Value};

/// A run, and everything that came of it. All of it is in one file, and memory does not grow with the number of cases.
///
/// ```
/// use jurat::{Assertion, CaseVerdict, RunOptions, Suite, TaskVerdict, compare::equals};
/// use serde_json::json;
///
/// let suite = Suite::builder("invoices")
///     .record(json!({ "id": "r1", "status": "paid" }))
///     .record(json!({ "id": "r2", "status": "open" }))
///     .task(Assertion::new("paid", "status", equals("paid")))
///     .build()?;
/// # let directory = tempfile::tempdir()?;
/// let run = suite.run(RunOptions::in_directory(directory.path()))?;
///
/// assert_eq!((run.counts().passed, run.counts().failed, run.pass_rate()), (1, 1, Some(0.5)));
/// for case in run.cases() {
///     let case = case?;
///     if case.verdict() == CaseVerdict::Failed {
///         let paid = case.task("paid").expect("it is a task of the suite");
///         assert_eq!(paid.verdict(), TaskVerdict::Failed);
///         assert_eq!(paid.actual().unwrap().as_str(), Some("open"));
///         assert_eq!(paid.message(), "expected `paid`, found `open`");
///     }
/// }
/// println!("{}", run.table()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Run {
    view: RunView,
    report: RunReport,
    tasks: Arc<[TaskTotal]>,
    /// Which cases it has, once a place among them was asked for.
    ranges: OnceCell<CaseRanges>,
}

impl Run {
    /// Opens a run by its file.
    pub fn open(path: impl AsRef<Path>) -> Result<Run, Error> {
        Run::read(path.as_ref())
    }

    /// Opens a run of the project that a directory belongs to, by its file, by the beginning of its name, or as `latest`.
    ///
    /// ```
    /// # use jurat::{Assertion, Run, RunOptions, Suite, compare::exists};
    /// # use serde_json::json;
    /// # let directory = tempfile::tempdir()?;
    /// # let suite = Suite::builder("s").record(json!({ "a": 1 })).task(Assertion::new("there", "a", exists())).build()?;
    /// let run = suite.run(RunOptions::in_directory(directory.path()))?;
    /// assert_eq!(Run::find(directory.path(), "latest")?.id(), run.id());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn find(directory: impl AsRef<Path>, name: &str) -> Result<Run, Error> {
        Run::open(Run::find_file(directory, name)?)
    }

    /// The file of such a run.
    pub fn find_file(directory: impl AsRef<Path>, name: &str) -> Result<PathBuf, Error> {
        match Project::find(directory.as_ref()) {
            Some(project) => project.run(name).map_err(|error| Error::Read(Box::new(error))),
            None if Path::new(name).is_file() => Ok(name.into()),
            None => Err(Error::Usage(format!(
                "there is no run `{name}`: neither this directory nor one above it has a `.jurat`; `jurat run` makes it"
            ))),
        }
    }

    /// The newest runs of the project that a directory belongs to, and the number of older ones.
    pub fn list(directory: impl AsRef<Path>, most: usize) -> Result<(Vec<RunEntry>, usize), Error> {
        let mut names = match Project::find(directory.as_ref()) {
            Some(project) => project.runs().map_err(|error| Error::Read(Box::new(error)))?,
            None => Vec::new(),
        };
        names.reverse();
        let n_older = names.len().saturating_sub(most);
        names.truncate(names.len() - n_older);
        Ok((names.iter().filter(|it| !it.never_began()).map(listed).collect(), n_older))
    }

    /// Copies all rows of a run into its file, so that it needs no other file.
    pub fn pack(path: impl AsRef<Path>) -> Result<Packed, Error> {
        pack(path.as_ref()).map_err(|error| Error::Read(Box::new(error)))
    }

    pub(crate) fn read(path: &Path) -> Result<Run, Error> {
        let view = RunView::open(path).map_err(unreadable)?;
        let mut report = view.report().map_err(unreadable)?;
        let calibrations = crate::calibration::of_project(path);
        if !calibrations.is_empty() {
            report.corrected = corrections(&view, &report.tasks, &calibrations);
        }
        let tasks = report.tasks.clone().into();
        Ok(Run { view, report, tasks, ranges: OnceCell::new() })
    }

    pub(crate) fn set_corrected(&mut self, totals: Vec<CorrectedTotal>) {
        self.report.corrected = totals;
    }

    /// What it is called.
    pub fn id(&self) -> &str {
        &self.report.observed.run_id
    }

    /// Its file.
    pub fn path(&self) -> PathBuf {
        self.view.reader().path().to_owned()
    }

    /// The report of the whole run, from which every format is written.
    pub fn report(&self) -> &RunReport {
        &self.report
    }

    /// The stored run, for queries beyond those of this type.
    pub fn view(&self) -> &RunView {
        &self.view
    }

    /// The cases of an earlier run that alone were run, in words: `failed of 2026-11-15T18-04-05_support_x7k2`.
    pub fn rerun(&self) -> Option<String> {
        self.view.rerun()
    }

    /// How it ended, in one word: what the exit code of the command says.
    pub fn conclusion(&self) -> Conclusion {
        self.report.decision.conclusion
    }

    /// Whether it passed and why, with every rule that was applied.
    pub fn decision(&self) -> &Decision {
        &self.report.decision
    }

    /// How many tasks ended how, over all cases. Gates that only route are not counted where they were judged.
    pub fn counts(&self) -> Counts {
        self.report.counts
    }

    /// How many cases ended how.
    pub fn case_counts(&self) -> CaseCounts {
        self.report.cases
    }

    /// The share of what was judged that passed; nothing when nothing was judged.
    pub fn pass_rate(&self) -> Option<f64> {
        self.report.counts.pass_rate()
    }

    /// The 95 % interval of the pass rate.
    pub fn interval(&self) -> Option<Interval> {
        self.report.interval()
    }

    /// Each task over all cases, in the order they were written.
    pub fn task_totals(&self) -> &[TaskTotal] {
        &self.tasks
    }

    /// One task over all cases.
    pub fn task_total(&self, id: &str) -> Option<&TaskTotal> {
        self.tasks.iter().find(|it| it.id == id)
    }

    /// The thresholds that were not reached, in words.
    pub fn missed(&self) -> Vec<&str> {
        self.report.decision.missed().collect()
    }

    /// Why it was stopped; nothing when it was not.
    pub fn stopped(&self) -> Option<StopReason> {
        self.report.stopped
    }

    /// The tokens that all answers took.
    pub fn usage(&self) -> Usage {
        self.report.usage
    }

    /// What all answers cost in dollars, as far as that is known.
    pub fn cost_usd(&self) -> Option<f64> {
        self.report.cost_usd
    }

    /// How many answers of models its verdicts rest on, and how many of them were there before it.
    pub fn answers(&self) -> (u64, u64) {
        (self.report.observed.n_answers, self.report.observed.n_reused)
    }

    /// The cases in the order of the rows, read one by one.
    pub fn cases(&self) -> impl Iterator<Item = Result<Case, Error>> + '_ {
        self.stored_cases(CaseIx::ALL)
    }

    /// The cases with these places among those of the run, counted from 0. A run of some rows has no empty places: the first row that
    /// `--filter` selected has place 0.
    ///
    /// ```
    /// # use jurat::{Assertion, RunOptions, Suite, compare::exists};
    /// # use serde_json::json;
    /// # let directory = tempfile::tempdir()?;
    /// # let rows = (0..9).map(|it| json!({ "id": it.to_string(), "a": it }));
    /// # let suite = Suite::builder("s").records(rows).task(Assertion::new("there", "a", exists())).build()?;
    /// # let run = suite.run(RunOptions::in_directory(directory.path()))?;
    /// let ids: Vec<String> = run.cases_from(3..5).map(|it| Ok(it?.id().to_owned())).collect::<Result<_, jurat::Error>>()?;
    /// assert_eq!(ids, ["3", "4"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn cases_from(&self, places: Range<u64>) -> impl Iterator<Item = Result<Case, Error>> + '_ {
        let (range, failed) = match self.range(places) {
            Ok(range) => (range, None),
            Err(error) => (CaseIx::numbered(0)..CaseIx::numbered(0), Some(Err(error))),
        };
        failed.into_iter().chain(self.stored_cases(range))
    }

    fn stored_cases(&self, range: Range<CaseIx>) -> impl Iterator<Item = Result<Case, Error>> + '_ {
        let cases = self.view.reader().cases(range);
        cases.map(|stored| self.read_case(&stored.map_err(|error| unreadable(error.into()))?))
    }

    /// The cases that have these places.
    fn range(&self, places: Range<u64>) -> Result<Range<CaseIx>, Error> {
        if self.ranges.get().is_none() {
            let ranges = self.view.reader().case_ranges().map_err(|error| unreadable(error.into()))?;
            _ = self.ranges.set(ranges);
        }
        Ok(self.ranges.get().expect("it was set above").at(places))
    }

    /// The cases with this id, found by the index of the file: one for each subject, prompt and repetition. None when there are none.
    ///
    /// ```
    /// # use jurat::{Assertion, RunOptions, Suite, compare::exists};
    /// # use serde_json::json;
    /// # let directory = tempfile::tempdir()?;
    /// # let rows = (0..9).map(|it| json!({ "id": it.to_string(), "a": it }));
    /// # let suite = Suite::builder("s").records(rows).task(Assertion::new("there", "a", exists())).build()?;
    /// # let run = suite.run(RunOptions::in_directory(directory.path()))?;
    /// assert_eq!(run.cases_of("7")?.len(), 1);
    /// assert!(run.cases_of("12")?.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn cases_of(&self, id: &str) -> Result<Vec<Case>, Error> {
        let stored = self.view.cases_named(id).map_err(unreadable)?;
        stored.iter().map(|it| self.read_case(it)).collect()
    }

    fn read_case(&self, stored: &StoredCase) -> Result<Case, Error> {
        let report = self.view.case_report(stored, Detailed::Tasks).map_err(unreadable)?;
        let execution = self.view.execution(stored).map_err(unreadable)?.map(Execution::new);
        Ok(Case { report, tasks: Arc::clone(&self.tasks), execution })
    }

    /// Everything that a verdict rests on, in words: operands, the context that the task saw, gates, prompt and answers.
    ///
    /// ```
    /// # use jurat::{Assertion, RunOptions, Suite, compare::equals};
    /// # use serde_json::json;
    /// # let directory = tempfile::tempdir()?;
    /// # let suite = Suite::builder("invoices")
    /// #     .record(json!({ "id": "r2", "status": "open" }))
    /// #     .task(Assertion::new("paid", "status", equals("paid")))
    /// #     .build()?;
    /// let run = suite.run(RunOptions::in_directory(directory.path()))?;
    /// assert!(run.explain("r2", "paid")?.contains("expected `paid`, found `open`"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn explain(&self, case: &str, task: &str) -> Result<String, Error> {
        let tasks = self.view.tasks_named(task).map_err(unknown)?;
        let mut text = Vec::new();
        for case in self.view.known_cases(case).map_err(unknown)? {
            for task in &tasks {
                if let Some(mut explained) = self.view.explain(&case, *task).map_err(unreadable)? {
                    explained.transcript = self.view.transcript(&case).map_err(unreadable)?;
                    explanation::write_text(&mut text, &explained, Style::Plain, None).map_err(Error::Write)?;
                }
            }
        }
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// What subjects answered: each row with what was asked and answered, for another suite to judge.
    ///
    /// ```
    /// # use jurat::{Ask, Assertion, Model, RunOptions, Suite, compare::is_not_empty};
    /// # use serde_json::json;
    /// # let directory = tempfile::tempdir()?;
    /// let asked = Suite::builder("ask")
    ///     .record(json!({ "id": "q1", "question": "Why?" }))
    ///     .model("subject", Model::function("subject", |_| "Because."))
    ///     .ask(Ask::new("${question}"))
    ///     .task(Assertion::new("answered", "output", is_not_empty()))
    ///     .build()?
    ///     .run(RunOptions::in_directory(directory.path()))?;
    ///
    /// let answers = asked.answered().collect::<Result<Vec<_>, _>>()?;
    /// assert_eq!(answers[0].at("output").unwrap().as_str(), Some("Because."));
    /// Suite::builder("judge").records(answers).task(Assertion::new("answered", "output", is_not_empty())).build()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn answered(&self) -> impl Iterator<Item = Result<Value, Error>> + '_ {
        self.view.answered_rows().map(|row| row.map(Value).map_err(unreadable))
    }

    /// The result of each task of each case, in the [columns](Run::columns) of the formats for data, for the cases with these
    /// [places](Run::cases_from). Returns how many cases there were.
    ///
    /// ```
    /// # use jurat::{Assertion, Datum, Run, RunOptions, Suite, compare::exists};
    /// # use serde_json::json;
    /// # let directory = tempfile::tempdir()?;
    /// # let suite = Suite::builder("s").record(json!({ "a": 1 })).task(Assertion::new("there", "a", exists())).build()?;
    /// let run = suite.run(RunOptions::in_directory(directory.path()))?;
    /// let verdict = Run::columns().position(|it| it.name == "verdict").expect("there is one");
    /// let mut verdicts = Vec::new();
    /// run.read_rows(0..100, &mut |row| {
    ///     if let Datum::Text(text) = row[verdict] {
    ///         verdicts.push(text.to_owned());
    ///     }
    /// })?;
    /// assert_eq!(verdicts, ["passed"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read_rows(&self, places: Range<u64>, each: &mut dyn FnMut(&[Datum<'_>])) -> Result<u64, Error> {
        let columns: Vec<&Column> = Run::columns().collect();
        let mut n_cases = 0;
        for case in self.view.cases(self.range(places)?, Detailed::Tasks) {
            let case = case.map_err(unreadable)?;
            n_cases += 1;
            for row in rows(&self.report, &case) {
                let row = row.map_err(Error::Write)?;
                let data: Vec<Datum<'_>> = columns.iter().map(|it| it.read(&row)).collect();
                each(&data);
            }
        }
        Ok(n_cases)
    }

    /// The cases with these [places](Run::cases_from) and the results of their tasks, by what the file alone says: no row is read, and nothing is concluded
    /// again. Returns how many cases there were.
    ///
    /// ```
    /// # use jurat::{Assertion, Run, RunOptions, Suite, compare::exists};
    /// # use serde_json::json;
    /// # let directory = tempfile::tempdir()?;
    /// # let suite = Suite::builder("s").record(json!({ "a": 1 })).task(Assertion::new("there", "a", exists())).build()?;
    /// let run = suite.run(RunOptions::in_directory(directory.path()))?;
    /// let mut verdicts = Vec::new();
    /// run.read_outcomes(0..100, &mut |case| verdicts.extend(case.results().map(|it| it.verdict.name())))?;
    /// assert_eq!(verdicts, ["passed"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read_outcomes(&self, places: Range<u64>, each: &mut dyn FnMut(StoredOutcome<'_>)) -> Result<u64, Error> {
        self.view.read_outcomes(self.range(places)?, each).map_err(unreadable)
    }

    /// The prompts, subjects and repetitions that each row is made into; empty for rows that were answered before.
    pub fn variants(&self) -> &[Variant] {
        &self.view.head().variants
    }

    /// The columns of the formats for data, which have a row for each task of each case.
    pub fn columns() -> impl Iterator<Item = &'static Column> {
        columns(Scope::Everything)
    }

    /// What the command prints: the cases that failed, totals of tasks, and how the run ended.
    pub fn table(&self) -> Result<String, Error> {
        self.text(false)
    }

    /// The same with the result of every task of every case, as `jurat run --tasks` prints it.
    pub fn task_table(&self) -> Result<String, Error> {
        self.text(true)
    }

    fn text(&self, tasks: bool) -> Result<String, Error> {
        let mut text = Vec::new();
        self.to_export().write_text(&mut text, TextOptions { tasks, ..TextOptions::default() })?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// The results as JSON, without anything that depends on the day: a replay gives the same bytes.
    pub fn results_json(&self) -> Result<String, Error> {
        let mut text = Vec::new();
        self.to_export().results_only().write(&JSON, &mut text)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// Writes it in a format for programs.
    ///
    /// ```
    /// # use jurat::{Assertion, RunOptions, Suite, compare::exists, format::JUNIT};
    /// # use serde_json::json;
    /// # let directory = tempfile::tempdir()?;
    /// # let suite = Suite::builder("s").record(json!({ "a": 1 })).task(Assertion::new("there", "a", exists())).build()?;
    /// # let run = suite.run(RunOptions::in_directory(directory.path()))?;
    /// let mut report = Vec::new();
    /// run.export(&JUNIT, &mut report)?;
    /// assert!(report.starts_with(b"<?xml"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn export(&self, format: &Format, out: impl Write + Send) -> Result<(), Error> {
        self.to_export().write(format, out)
    }

    /// The same in parts: some of its cases, or some columns.
    pub fn to_export(&self) -> Export<'_> {
        Export::new(self)
    }
}

pub(crate) fn unreadable(error: ViewError) -> Error {
    Error::Read(Box::new(error))
}

/// One case of a run, with the results of its tasks; see [`Run`].
#[derive(Debug, Clone)]
pub struct Case {
    report: CaseReport,
    tasks: Arc<[TaskTotal]>,
    execution: Option<Execution>,
}

impl Case {
    /// The id of its row, or the name of its scenario.
    pub fn id(&self) -> &str {
        &self.report.id
    }

    /// The prompt that made it, when there are several.
    pub fn prompt(&self) -> Option<&str> {
        self.report.prompt.as_deref()
    }

    /// The model that was asked, when there are several.
    pub fn subject(&self) -> Option<&str> {
        self.report.subject.as_deref()
    }

    /// Which repetition it is, from 1, when there are several.
    pub fn replicate(&self) -> Option<u32> {
        self.report.replicate
    }

    /// What happened, when it is a scenario that was run.
    pub fn execution(&self) -> Option<&Execution> {
        self.execution.as_ref()
    }

    /// How it ended.
    pub fn verdict(&self) -> CaseVerdict {
        self.report.verdict
    }

    /// How many of its tasks ended how.
    pub fn counts(&self) -> Counts {
        self.report.counts
    }

    /// How long it took.
    pub fn took(&self) -> Duration {
        self.report.took
    }

    /// What its answers cost in dollars, as far as that is known.
    pub fn cost_usd(&self) -> Option<f64> {
        self.report.cost_usd
    }

    /// The tasks that are for it, in the order they were written.
    pub fn tasks(&self) -> impl Iterator<Item = TaskResult<'_>> {
        self.report.tasks.iter().map(|report| TaskResult { total: &self.tasks[report.task], report })
    }

    /// The tasks that make it fail: those that count and did not pass. A gate that only routes is none of them.
    pub fn failures(&self) -> impl Iterator<Item = TaskResult<'_>> {
        self.tasks().filter(|it| it.is_counted() && it.verdict() == TaskVerdict::Failed)
    }

    /// One of its tasks.
    pub fn task(&self, id: &str) -> Option<TaskResult<'_>> {
        self.tasks().find(|it| it.id() == id)
    }
}

/// The result of one task of one case; see [`Run`].
#[derive(Debug, Clone, Copy)]
pub struct TaskResult<'c> {
    total: &'c TaskTotal,
    report: &'c TaskReport,
}

impl<'c> TaskResult<'c> {
    /// The id of the task.
    pub fn id(&self) -> &'c str {
        &self.total.id
    }

    /// `assert`, `judge` or `outcome`.
    pub fn kind(&self) -> &'c str {
        &self.total.kind
    }

    /// Whether its verdict counts: that of a gate that only routes does not.
    pub fn is_counted(&self) -> bool {
        self.total.is_counted()
    }

    /// How it ended.
    pub fn verdict(&self) -> TaskVerdict {
        self.report.verdict
    }

    /// Why it failed, was skipped, could not be judged or did not run, in a sentence; else empty.
    pub fn message(&self) -> &'c str {
        &self.report.message
    }

    /// What it expected.
    pub fn expected(&self) -> Option<Value> {
        self.report.expected.clone().map(Value)
    }

    /// What it found.
    pub fn actual(&self) -> Option<Value> {
        self.report.actual.clone().map(Value)
    }

    /// What the judge answered, whole; [`Value::read`] makes it a type of yours. Nothing for a task that asks no model.
    ///
    /// ```
    /// # use jurat::{Judge, Model, Output, Reply, RunOptions, Suite};
    /// # use serde_json::json;
    /// use serde::Deserialize;
    ///
    /// #[derive(Deserialize)]
    /// struct Tone {
    ///     polite: bool,
    ///     reason: String,
    /// }
    ///
    /// # let directory = tempfile::tempdir()?;
    /// # let suite = Suite::builder("s")
    /// #     .record(json!({ "answer": "please" }))
    /// #     .model("judge", Model::function("tone", |_| Reply::json(json!({ "polite": true, "reason": "it asks" }))))
    /// #     .task(Judge::new("tone", "Is this polite? ${answer}").output(Output::new().boolean("polite").text("reason")))
    /// #     .build()?;
    /// # let run = suite.run(RunOptions::in_directory(directory.path()))?;
    /// for case in run.cases() {
    ///     let tone: Tone = case?.task("tone").and_then(|it| it.reply()).expect("a judge answered").read()?;
    ///     assert!(tone.polite, "{}", tone.reason);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn reply(&self) -> Option<Value> {
        self.report.reply.clone().map(Value)
    }

    /// The label that it gave.
    pub fn label(&self) -> Option<&'c str> {
        self.report.label.as_deref()
    }

    /// The score that it gave.
    pub fn score(&self) -> Option<f64> {
        self.report.score
    }

    /// Why it gave them, in the words of the judge or evaluator.
    pub fn explanation(&self) -> Option<&'c str> {
        self.report.explanation.as_deref()
    }

    /// The results of the outputs of an evaluator that has several, or of the dimensions that an evaluation scores.
    pub fn outputs(&self) -> &'c [OutputReport] {
        &self.report.outputs
    }

    /// What its answers cost in dollars, as far as that is known.
    pub fn cost_usd(&self) -> Option<f64> {
        self.report.cost_usd
    }

    /// How long its answers took, as it was recorded with them.
    pub fn latency(&self) -> Option<Duration> {
        self.report.latency
    }

    /// How many requests it took, failed ones included.
    pub fn n_requests(&self) -> u32 {
        self.report.n_requests
    }
}
