//! A gate as JUnit XML: a test for each condition.

use std::io::{self, Write};

use jurat_core::gate::{ConditionReport, GateReport, GateVerdict};

use crate::xml::Tag;

/// Writes a gate as JUnit XML. What is undecided is skipped, or an error where that fails the gate.
pub fn write_junit(out: &mut dyn Write, report: &GateReport, undecided_fails: bool) -> io::Result<()> {
    let count = |verdict: GateVerdict| report.conditions.iter().filter(|it| it.verdict == verdict).count();
    let undecided = count(GateVerdict::Undecided);
    let (errors, skipped) = if undecided_fails { (undecided, 0) } else { (0, undecided) };
    let suite = format!("{}.gate", report.suite);
    let head = Tag::new("testsuite")
        .with("name", &suite)
        .with("tests", report.conditions.len())
        .with("failures", count(GateVerdict::Fail))
        .with("errors", errors)
        .with("skipped", skipped);
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  {}", head.open())?;
    for condition in &report.conditions {
        write_test(out, condition, &suite, undecided_fails)?;
    }
    writeln!(out, "  </testsuite>\n</testsuites>")?;
    out.flush()
}

fn write_test(out: &mut dyn Write, condition: &ConditionReport, suite: &str, undecided_fails: bool) -> io::Result<()> {
    let test = Tag::new("testcase").with("classname", suite).with("name", &condition.id);
    let kind = match condition.verdict {
        GateVerdict::Pass => return writeln!(out, "    {}", test.empty()),
        GateVerdict::Fail => "failure",
        GateVerdict::Undecided if undecided_fails => "error",
        GateVerdict::Undecided => "skipped",
    };
    let outcome = Tag::new(kind).with("message", &condition.sentence);
    writeln!(out, "    {}\n      {}\n    </testcase>", test.open(), outcome.empty())
}
