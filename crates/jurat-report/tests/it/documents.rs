//! A run in, a document out: what each format looks like, whole.

use jurat_core::report::{CaseReport, OutputReport, RunReport, TaskReport, TaskTotal, TaskVerdict};
use jurat_core::verdict::CaseVerdict;
use jurat_report::columns::columns;
use jurat_report::{
    CaseWriter, CsvWriter, JsonLinesWriter, JsonWriter, JunitWriter, MarkdownWriter, Scope, Style, TerminalOptions,
    TerminalWriter,
};

use crate::sample;

/// What a format makes of a run.
pub(crate) fn document(format: &str, run: &RunReport, cases: &[CaseReport], scope: Scope) -> String {
    let mut out = Vec::new();
    let ended = rendered(format, &mut out, run, cases, scope);
    ended.expect("memory can be written");
    String::from_utf8(out).expect("reports are UTF-8")
}

fn rendered(
    format: &str,
    out: &mut Vec<u8>,
    run: &RunReport,
    cases: &[CaseReport],
    scope: Scope,
) -> std::io::Result<()> {
    let mut writer: Box<dyn CaseWriter + '_> = match format {
        "json" => Box::new(JsonWriter::new(out, run, scope)?),
        "jsonl" => Box::new(JsonLinesWriter::new(out, run, columns(scope).collect())),
        "csv" => Box::new(CsvWriter::new(out, run, columns(scope).collect())?),
        "junit" => Box::new(JunitWriter::new(out, run, scope)?),
        "markdown" => Box::new(MarkdownWriter::new(out, run, scope, 2)?),
        "terminal" => {
            let options = TerminalOptions { scope, tasks: true, most_cases: 100, ..TerminalOptions::default() };
            Box::new(TerminalWriter::new(out, run, options))
        }
        other => panic!("`{other}` is no format"),
    };
    for case in cases {
        writer.case(case)?;
    }
    writer.end()
}

pub(crate) const FORMATS: [&str; 6] = ["json", "jsonl", "csv", "junit", "markdown", "terminal"];

#[test]
fn each_format_says_everything() {
    for format in FORMATS {
        let text = document(format, &sample::run(), &sample::cases(), Scope::Everything);
        insta::assert_snapshot!(format!("everything_as_{format}"), text);
    }
}

#[test]
fn results_alone_do_not_depend_on_the_day() {
    let (run, cases) = (sample::run(), sample::cases());
    let mut other_day = run.clone();
    other_day.observed = jurat_core::report::Observed { run_id: "other".to_owned(), ..Default::default() };
    let mut other_cases = cases.clone();
    for case in &mut other_cases {
        case.took *= 7;
        for task in &mut case.tasks {
            task.n_requests += 1;
            task.reused = !task.reused;
        }
    }
    for format in FORMATS {
        let results = document(format, &run, &cases, Scope::ResultsOnly);
        assert_eq!(results, document(format, &other_day, &other_cases, Scope::ResultsOnly), "{format}");
        let everything = document(format, &run, &cases, Scope::Everything);
        assert_ne!(everything, document(format, &other_day, &other_cases, Scope::Everything), "{format}");
        assert_ne!(everything, results, "{format}");
    }
}

#[test]
fn a_run_without_cases_is_a_whole_document() {
    let run = RunReport { suite: "empty".to_owned(), ..RunReport::default() };
    for format in FORMATS {
        let text = document(format, &run, &[], Scope::ResultsOnly);
        insta::assert_snapshot!(format!("nothing_as_{format}"), text);
    }
}

#[test]
fn a_note_of_the_conclusion_is_in_every_report_of_a_run() {
    let mut run = sample::run();
    run.decision.notes = vec!["no threshold applies to polite".to_owned()];
    for format in ["json", "junit", "markdown", "terminal"] {
        let text = document(format, &run, &sample::cases(), Scope::ResultsOnly);
        assert!(text.contains("no threshold applies to polite"), "{format}: {text}");
    }
}

#[test]
fn a_matrix_names_what_differs() {
    let (run, cases) = sample::matrix();
    insta::assert_snapshot!(document("terminal", &run, &cases, Scope::ResultsOnly));
    insta::assert_snapshot!(document("junit", &run, &cases[..1], Scope::ResultsOnly));
    insta::assert_snapshot!(document("markdown", &run, &cases, Scope::ResultsOnly));
}

#[test]
fn a_run_shows_what_failed_and_counts_the_rest() {
    for width in [None, Some(80), Some(120), Some(200)] {
        let (run, cases) = (sample::run(), sample::cases());
        let options = TerminalOptions { width, ..TerminalOptions::default() };
        let text = sample::written(&cases, |out, cases| cases(&mut TerminalWriter::new(out, &run, options)));
        let name = width.map_or("a_pipe".to_owned(), |it| it.to_string());
        insta::assert_snapshot!(format!("failures_in_{name}"), text);
        // A path that is broken could not be copied, and tables of numbers are not broken at all.
        let is_figures = |it: &&str| it.starts_with("saved in ") || it.ends_with(" %") || it.ends_with("interval");
        let widest = text.lines().filter(|it| !is_figures(it)).map(|it| it.chars().count()).max().unwrap_or(0);
        assert!(width.is_none_or(|it| widest <= it), "{widest}: {text}");
    }
}

#[test]
fn commands_name_a_run_that_is_not_the_latest() {
    let (run, cases) = (RunReport { stopped: None, ..sample::run() }, sample::cases());
    let options = TerminalOptions { most_cases: 0, ..TerminalOptions::default() };
    let mut text = Vec::new();
    let mut writer = TerminalWriter::new(&mut text, &run, options).named("2026-11");
    for case in &cases {
        writer.case(case).unwrap();
    }
    writer.end().unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(text.starts_with("and 1 more case: jurat show 2026-11 --failed\n"), "{text}");
    assert!(text.contains("next: jurat explain r4 is_kitchen --run 2026-11\n"), "{text}");
}

#[test]
fn a_narrow_window_cuts_what_is_long() {
    for width in [80, 120, 160] {
        let (run, cases) = (sample::run(), sample::cases());
        let options = TerminalOptions {
            width: Some(width),
            scope: Scope::ResultsOnly,
            tasks: true,
            most_cases: 100,
            ..TerminalOptions::default()
        };
        let text = sample::written(&cases, |out, cases| cases(&mut TerminalWriter::new(out, &run, options)));
        insta::assert_snapshot!(format!("terminal_of_{width}_columns"), text);
    }
}

#[test]
fn meanings_have_colours() {
    let (run, cases) = (sample::run(), sample::cases());
    let options = TerminalOptions { style: Style::Colour, tasks: true, most_cases: 100, ..TerminalOptions::default() };
    let text = sample::written(&cases, |out, cases| cases(&mut TerminalWriter::new(out, &run, options)));
    for marked in ["\u{1b}[32mpassed\u{1b}[0m", "\u{1b}[31m✗\u{1b}[0m", "\u{1b}[33merror\u{1b}[0m"] {
        assert!(text.contains(marked), "{text}");
    }
    let plain = document("terminal", &run, &cases, Scope::Everything);
    let uncoloured =
        ["32", "31", "33", "1", "0"].iter().fold(text, |it, colour| it.replace(&format!("\u{1b}[{colour}m"), ""));
    assert_eq!(uncoloured, plain);
}

#[test]
fn with_every_task_those_of_many_cases_that_passed_are_left_out() {
    let (mut run, cases) = (sample::run(), sample::cases());
    run.cases.passed = 1_000;
    let options =
        TerminalOptions { scope: Scope::ResultsOnly, tasks: true, most_cases: 1, ..TerminalOptions::default() };
    let mut text = Vec::new();
    let mut writer = TerminalWriter::new(&mut text, &run, options);
    let mut n_taken = 0;
    for case in cases.iter().chain(&cases) {
        if !writer.wants_more() {
            break;
        }
        writer.case(case).unwrap();
        n_taken += 1;
    }
    writer.end().unwrap();
    assert_eq!(n_taken, 3, "the first that did not pass is the third");
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("\nand 1 more case: jurat show --tasks --limit 2\n"), "{text}");
}

#[test]
fn of_a_selection_nothing_is_passed_over() {
    let (mut run, cases) = (sample::run(), sample::cases());
    run.cases.passed = 1_000;
    let options = TerminalOptions {
        scope: Scope::ResultsOnly,
        totals: false,
        most_cases: 1,
        n_selected: Some(2),
        ..TerminalOptions::default()
    };
    let text = sample::written(&cases[..2], |out, cases| cases(&mut TerminalWriter::new(out, &run, options)));
    assert_eq!(text, "r1: passed\n\nand 1 more case: `--limit 2` shows them\n");
}

#[test]
fn a_summary_needs_no_case() {
    let run = sample::run();
    let options = TerminalOptions { cases: false, ..TerminalOptions::default() };
    let mut text = Vec::new();
    let mut writer = TerminalWriter::new(&mut text, &run, options);
    assert!(!writer.wants_more());
    writer.end().unwrap();
    assert!(text.starts_with(b"task               passed "), "{}", String::from_utf8_lossy(&text));
}

#[test]
fn a_verdict_of_another_run_is_an_error() {
    let run = RunReport::default();
    for format in ["json", "jsonl", "csv", "junit", "markdown", "terminal"] {
        let error = rendered(format, &mut Vec::new(), &run, &sample::cases()[2..3], Scope::Everything).unwrap_err();
        assert!(error.to_string().contains("has a verdict for task 0, of which the run has none"), "{error}");
    }
}

#[test]
fn an_evaluator_with_several_outputs_has_a_row_for_each() {
    let task = TaskTotal { id: "safe".to_owned(), kind: "evaluate".to_owned(), stage: 1, ..TaskTotal::default() };
    let run = RunReport { tasks: vec![task], ..RunReport::default() };
    let output = |name: &str, label: Option<&str>, score, message: &str| OutputReport {
        name: name.to_owned(),
        label: label.map(str::to_owned),
        score,
        explanation: label.map(|_| "calm".to_owned()),
        message: message.to_owned(),
    };
    let mut report = TaskReport::new(0, TaskVerdict::Passed);
    report.n_requests = 1;
    report.outputs = vec![
        output("safe.tone", Some("polite"), Some(1.0), ""),
        output("safe.toxicity", None, None, "the score 5.0 is above the upper bound 1.0\nValid shapes:\n  return 0.5"),
    ];
    let case = CaseReport { tasks: vec![report], ..CaseReport::new("a", CaseVerdict::Passed) };
    let text = document("csv", &run, std::slice::from_ref(&case), Scope::Everything);
    let mut reader = csv::ReaderBuilder::new().from_reader(text.as_bytes());
    let headers = reader.headers().expect("there is a first line").clone();
    let rows: Vec<csv::StringRecord> = reader.records().collect::<Result<_, _>>().expect("rows are whole");
    let column = |name: &str| {
        let ix = headers.iter().position(|it| it == name).expect(name);
        rows.iter().map(|it| it[ix].to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(column("task"), ["safe", "safe.tone", "safe.toxicity"]);
    assert_eq!(column("verdict"), ["passed", "measured", "error"]);
    assert_eq!(column("label"), ["", "polite", ""]);
    assert_eq!(column("score"), ["", "1", ""]);
    assert_eq!(column("explanation"), ["", "calm", ""]);
    assert_eq!(column("requests"), ["1", "0", "0"]);
    assert!(column("message")[2].starts_with("the score 5.0 is above"), "{text}");
    let json = document("json", &run, std::slice::from_ref(&case), Scope::ResultsOnly);
    let outputs = r#""outputs":[{"name":"safe.tone","verdict":"measured","label":"polite","score":1.0,"explanation":"calm"},{"name":"safe.toxicity","verdict":"error","message":"#;
    let json: String = json.split_whitespace().collect();
    assert!(json.contains(outputs), "{json}");
    let terminal = document("terminal", &run, &[case], Scope::ResultsOnly);
    let lines: Vec<&str> = terminal.lines().filter(|it| it.contains("safe.")).collect();
    assert!(lines.len() == 2 && lines[0].contains("polite") && lines[1].contains("error"), "{terminal}");
}
