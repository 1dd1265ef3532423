//! Lists of runs, journals and cases in short: values in, text out.

use jurat_core::report::journal::{JournalReport, ModelAnswers};
use jurat_core::report::{RunCondition, RunEntry};
use jurat_core::verdict::StopReason;
use jurat_format::value::parse_json;
use jurat_report::Style;
use jurat_report::explanation::write_brief;
use jurat_report::journal;
use jurat_report::runs::{self};

use crate::sample::{self, HOSTILE};

fn written(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).expect("memory can be written");
    String::from_utf8(out).expect("text is UTF-8")
}

fn entry(id: &str, suite: &str, condition: RunCondition) -> RunEntry {
    RunEntry {
        id: id.to_owned(),
        file: format!(".jurat/runs/{id}.jurat"),
        suite: suite.to_owned(),
        started_at_ms: Some(1_794_765_845_123),
        cases: Some(1_200),
        pass_rate: Some(0.75),
        condition,
    }
}

fn entries() -> [RunEntry; 4] {
    let broken = RunCondition::Unreadable(format!("`a_b` is not a run of jurat{HOSTILE}"));
    [
        entry("2026-11-15T18-04-05_a_x7k2", "a", RunCondition::Done),
        entry("2026-11-15T18-04-04_b_x7k3", HOSTILE, RunCondition::Stopped(StopReason::FailFast)),
        RunEntry { pass_rate: None, ..entry("2026-11-15T18-04-03_c_x7k4", "c", RunCondition::Running) },
        RunEntry { started_at_ms: None, cases: None, pass_rate: None, ..entry("broken", "", broken) },
    ]
}

pub(crate) fn runs_json() -> String {
    written(|out| runs::write_json(out, &entries()))
}

fn journal() -> JournalReport {
    let of = |model: &str, answers, bytes| ModelAnswers {
        model: model.to_owned(),
        answers,
        bytes,
        oldest_ms: 1_794_765_845_123,
        newest_ms: 1_794_765_846_123,
    };
    let models = vec![of("", 1, 900), of("gpt-5-mini", 12_345, 6_700_000), of(HOSTILE, 2, 2_000)];
    JournalReport { file: ".jurat/journal.db".to_owned(), file_bytes: 8_200_000, models }
}

pub(crate) fn journal_json() -> String {
    written(|out| journal::write_json(out, &journal()))
}

#[test]
fn runs_are_a_line_each() {
    let text = |width| written(|out| runs::write_text(out, &entries(), Style::Plain, width));
    insta::assert_snapshot!("runs_as_text", text(None));
    insta::assert_snapshot!("runs_in_a_narrow_window", text(Some(70)));
    assert!(parse_json(&runs_json()).is_ok());
    insta::assert_snapshot!("runs_as_json", runs_json());
}

#[test]
fn a_journal_is_counted_by_model() {
    let text = written(|out| journal::write_text(out, &journal(), Style::Plain, None));
    insta::assert_snapshot!("journal_as_text", text);
    assert!(parse_json(&journal_json()).is_ok());
    insta::assert_snapshot!("journal_as_json", journal_json());
}

#[test]
fn a_case_in_short_says_why() {
    let (run, cases) = (sample::run(), sample::cases());
    for (ix, case) in cases.iter().enumerate() {
        let text = written(|out| write_brief(out, &run, case, Style::Plain, None));
        insta::assert_snapshot!(format!("case_{ix}_in_short"), text);
    }
}
