//! A run as JUnit XML, for continuous integration: a suite for the suite, a test case for each counted task of each case, and one for each threshold.
//!
//! A gate that only routes is no test, but one that could not be judged is shown, or its case would look sound; so is a case that could not be judged and has no
//! task. Measured tasks are tests that passed; their scores are properties. A task that did not run is shown as skipped, with the reason; a run that did
//! not reach its end has one more test, which is an error, because a suite of passed and skipped tests is taken for a good one. Characters that XML cannot
//! hold are made visible.

use std::io::{self, Write};
use std::time::Duration;

use jurat_core::report::{CaseReport, RunReport, TaskReport, TaskTotal, TaskVerdict};
use jurat_core::verdict::{CaseVerdict, Conclusion, Rule, RuleStanding};
use jurat_format::value::Value;

use crate::case_writer::{CaseWriter, Scope};
use crate::columns::total;
use crate::instant::instant;
use crate::words::{case_name, cause, value};
use crate::xml::{Tag, escaped};

/// Writes a run as JUnit XML.
pub struct JunitWriter<'r> {
    out: &'r mut dyn Write,
    run: &'r RunReport,
    scope: Scope,
}

/// How much of a value is shown.
const ROOM: usize = 2000;

impl<'r> JunitWriter<'r> {
    /// Begins a run: writes its totals and properties.
    pub fn new(out: &'r mut dyn Write, run: &'r RunReport, scope: Scope) -> io::Result<JunitWriter<'r>> {
        let sums = Sums::of(run);
        let mut head = Tag::new("testsuite").with("name", &run.suite);
        for (name, n) in
            [("tests", sums.tests), ("failures", sums.failures), ("errors", sums.errors), ("skipped", sums.skipped)]
        {
            head = head.with(name, n);
        }
        if scope.has_observed() {
            head = head.with("timestamp", instant(run.observed.started_at_ms));
            head = head.with("time", seconds(run.observed.wall));
        }
        writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  {}", head.open())?;
        writeln!(out, "    <properties>")?;
        for (name, value) in properties(run, scope) {
            writeln!(out, "      {}", property(name, &value))?;
        }
        writeln!(out, "    </properties>")?;
        Ok(JunitWriter { out, run, scope })
    }
}

impl JunitWriter<'_> {
    fn case_without_task(&mut self, case: &CaseReport, class: &str) -> io::Result<()> {
        let mut test = Tag::new("testcase").with("classname", class).with("name", "case");
        if self.scope.has_observed() {
            test = test.with("time", seconds(case.took));
        }
        let message = if case.message.is_empty() { "error" } else { &case.message };
        let error = Tag::new("error").with("message", message).with("type", "case");
        writeln!(self.out, "    {}\n      {}\n    </testcase>", test.open(), error.empty())
    }
}

impl CaseWriter for JunitWriter<'_> {
    fn case(&mut self, case: &CaseReport) -> io::Result<()> {
        let class = format!("{}.{}", self.run.suite, case_name(case));
        if case.tasks.is_empty() && case.verdict == CaseVerdict::Error {
            self.case_without_task(case, &class)?;
        }
        for task in &case.tasks {
            let total = total(self.run, case, task)?;
            if !total.is_counted() && task.verdict != TaskVerdict::Error {
                continue;
            }
            let mut test = Tag::new("testcase").with("classname", &class).with("name", &total.id);
            if self.scope.has_observed() {
                test = test.with("time", seconds(task.latency.unwrap_or_default()));
            }
            let inside: Vec<String> = measures(task).into_iter().chain(ending(total, task)).collect();
            if inside.is_empty() {
                writeln!(self.out, "    {}", test.empty())?;
            } else {
                writeln!(self.out, "    {}\n{}\n    </testcase>", test.open(), inside.join("\n"))?;
            }
        }
        Ok(())
    }

    fn end(&mut self) -> io::Result<()> {
        let class = format!("{}.thresholds", self.run.suite);
        for rule in self.run.decision.rules.iter().filter(|it| it.is_written) {
            let test = Tag::new("testcase").with("classname", &class).with("name", &rule.name);
            match ending_of_rule(rule) {
                Some(ending) => writeln!(self.out, "    {}\n{ending}\n    </testcase>", test.open())?,
                None => writeln!(self.out, "    {}", test.empty())?,
            }
        }
        if is_incomplete(self.run) {
            let class = format!("{}.run", self.run.suite);
            let test = Tag::new("testcase").with("classname", &class).with("name", "complete");
            let error = Tag::new("error").with("message", &self.run.decision.sentence).with("type", "incomplete");
            writeln!(self.out, "    {}\n      {}\n    </testcase>", test.open(), error.empty())?;
        }
        writeln!(self.out, "  </testsuite>\n</testsuites>")?;
        self.out.flush()
    }
}

/// The totals of the tests of a run.
#[derive(Default)]
struct Sums {
    tests: u64,
    failures: u64,
    errors: u64,
    skipped: u64,
}

impl Sums {
    fn of(run: &RunReport) -> Sums {
        let n_cases = run.n_errors_without_task;
        let mut sums = Sums { tests: n_cases, errors: n_cases, ..Sums::default() };
        for task in &run.tasks {
            let counts = &task.counts;
            sums.errors += counts.errored;
            sums.tests += counts.errored;
            if task.is_counted() {
                sums.failures += counts.failed;
                sums.skipped += counts.skipped + counts.not_run;
                sums.tests += counts.passed + counts.failed + counts.measured + counts.skipped + counts.not_run;
            }
        }
        for rule in run.decision.rules.iter().filter(|it| it.is_written) {
            sums.tests += 1;
            sums.failures += u64::from(rule.standing == RuleStanding::Missed);
            sums.errors += u64::from(rule.standing == RuleStanding::Unknown);
        }
        let n_incomplete = u64::from(is_incomplete(run));
        sums.tests += n_incomplete;
        sums.errors += n_incomplete;
        sums
    }
}

/// Whether cases are missing that nothing else in the file accounts for.
fn is_incomplete(run: &RunReport) -> bool {
    matches!(run.decision.conclusion, Conclusion::Limited | Conclusion::Interrupted)
}

/// What JUnit calls the end of a threshold; nothing for one that is met.
fn ending_of_rule(rule: &Rule) -> Option<String> {
    let name = match rule.standing {
        RuleStanding::Met => return None,
        RuleStanding::Missed => "failure",
        RuleStanding::Unknown => "error",
    };
    Some(format!("      {}", Tag::new(name).with("message", &rule.sentence).with("type", "threshold").empty()))
}

fn properties(run: &RunReport, scope: Scope) -> Vec<(&'static str, String)> {
    let mut properties = vec![("suite_hash", run.suite_hash.clone())];
    properties.extend(run.description.iter().map(|it| ("description", it.clone())));
    properties.extend(run.counts.pass_rate().map(|it| ("pass_rate", it.to_string())));
    properties.push(("input_tokens", run.usage.input.to_string()));
    properties.push(("output_tokens", run.usage.output.to_string()));
    properties.extend(run.cost_usd.map(|it| ("cost_usd", it.to_string())));
    properties.extend((run.n_unpriced > 0).then(|| ("unpriced_responses", run.n_unpriced.to_string())));
    properties.push(("conclusion", run.decision.conclusion.name().to_owned()));
    properties.push(("decision", run.decision.sentence.clone()));
    properties.extend(run.causes.iter().map(|it| ("error_cause", format!("{} × {}", it.n_cases, cause(it, ROOM)))));
    properties.extend(run.decision.missed().map(|it| ("threshold_missed", it.to_owned())));
    properties.extend(run.decision.notes.iter().map(|it| ("decision_note", it.clone())));
    properties.extend(run.stopped.map(|it| ("stopped", it.name().to_owned())));
    properties.extend(run.fault.iter().map(|it| ("error", it.clone())));
    if scope.has_observed() {
        properties.push(("run_id", run.observed.run_id.clone()));
        properties.push(("reused_responses", run.observed.n_reused.to_string()));
        properties.extend(run.observed.notes.iter().map(|it| ("note", it.clone())));
    }
    properties
}

/// The label and the score of a task, as properties.
fn measures(task: &TaskReport) -> Option<String> {
    let label = task.label.iter().map(|it| property("label", it));
    let score = task.score.iter().map(|it| property("score", &it.to_string()));
    let lines: Vec<String> = label.chain(score).map(|it| format!("        {it}")).collect();
    (!lines.is_empty()).then(|| format!("      <properties>\n{}\n      </properties>", lines.join("\n")))
}

/// What JUnit calls the end of a task; nothing for one that passed.
fn ending(total: &TaskTotal, task: &TaskReport) -> Option<String> {
    let name = match task.verdict {
        TaskVerdict::Passed | TaskVerdict::Measured => return None,
        TaskVerdict::Failed => "failure",
        TaskVerdict::Error => "error",
        TaskVerdict::Skipped | TaskVerdict::NotRun => "skipped",
    };
    let message = if task.message.is_empty() { task.verdict.name() } else { &task.message };
    let mut tag = Tag::new(name).with("message", message);
    if name == "skipped" {
        return Some(format!("      {}", tag.empty()));
    }
    tag = tag.with("type", total.operator.as_deref().unwrap_or(&total.kind));
    let line = |name: &str, value: Option<String>| value.map(|it| format!("{name}: {}\n", escaped(&it)));
    let shown = |it: &Value| value(it, ROOM);
    let details: String = [
        line("path", total.path.clone()),
        line("expected", task.expected.as_ref().map(shown)),
        line("found", task.actual.as_ref().map(shown)),
        line("explanation", task.explanation.clone()),
    ]
    .into_iter()
    .flatten()
    .collect();
    Some(format!("      {}{}</{name}>", tag.open(), details.trim_end()))
}

fn property(name: &str, value: &str) -> String {
    Tag::new("property").with("name", name).with("value", value).empty()
}

fn seconds(took: Duration) -> String {
    format!("{:.6}", took.as_secs_f64())
}
