//! Whatever stands in a report, each format stays what it is: nothing that a model wrote gets out of its place.
//!
//! Properties try the same inputs in every run, so that a change fails for its own reasons. `PROPTEST_RNG_SEED=7` tries others,
//! `PROPTEST_CASES=10000` more.

use jurat_core::report::{CaseReport, RunReport, SliceTotal, TaskReport, TaskTotal, TaskVerdict};
use jurat_format::value::{Map, Val, Value, parse_json};
use jurat_report::{Scope, TerminalOptions, TerminalWriter, visible};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, RngSeed};
use quick_xml::events::Event;
use quick_xml::{Reader, XmlVersion};

use crate::documents::document;
use crate::sample;

/// How properties are tried. What fails becomes a test of its own rather than a file of seeds.
pub(crate) fn laws() -> Config {
    let config = Config { failure_persistence: None, ..Config::default() };
    match config.rng_seed {
        RngSeed::Random => Config { rng_seed: RngSeed::Fixed(1), ..config },
        RngSeed::Fixed(_) => config,
    }
}

/// Texts that some format takes for its own.
const NASTY: &[&str] = &[
    "",
    " ",
    "=1+1",
    "+x",
    "-x",
    "-5",
    "-1.5e3",
    "@x",
    "\t",
    "\r",
    "\n",
    "\r\n",
    "\"",
    "\"\"",
    "'",
    ",",
    ";",
    "|",
    "||",
    "`",
    "```",
    "<",
    "</code>",
    "</details>",
    "<!--",
    "<script>",
    "&",
    "&amp;",
    "&#124;",
    "&lt;",
    "]]>",
    "<![CDATA[",
    "\\",
    "\\|",
    "\\`",
    "*",
    "_",
    "[a](b)",
    "#",
    "$$",
    "\u{0}",
    "\u{1b}[31m",
    "\u{7f}",
    "\u{85}",
    "\u{202e}",
    "\u{2028}",
    "\u{feff}",
    "\u{fffe}",
    "\u{ffff}",
    "\u{10ffff}",
    "日本語",
    "😀",
    "--",
    "-->",
    "/>",
    "{",
    "}",
    "{{",
    "%",
    "\\n",
    "\\u0000",
    "null",
    "–",
];

/// Any text, most of it short and hostile.
pub(crate) fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => select(NASTY).prop_map(str::to_owned),
        3 => vec(select(NASTY), 2..5).prop_map(|it| it.concat()),
        2 => vec(any::<char>(), 0..12).prop_map(|it| it.into_iter().collect()),
        1 => "[a-z ]{0,20}",
    ]
}

/// Any value, those included that only YAML can write.
pub(crate) fn value() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(Val::Null),
        any::<bool>().prop_map(Val::Bool),
        any::<i64>().prop_map(Val::I),
        any::<f64>().prop_map(Val::F),
        "-?[1-9][0-9]{20,30}".prop_map(|it| Val::Big(it.into())),
        text().prop_map(Val::from),
    ];
    scalar.prop_recursive(3, 12, 3, |inner| {
        let map = vec((text(), inner.clone()), 0..3).prop_map(|it| Val::Map(it.into_iter().collect::<Map<'static>>()));
        prop_oneof![vec(inner, 0..3).prop_map(Val::List), map]
    })
}

fn verdict() -> impl Strategy<Value = TaskVerdict> {
    select(TaskVerdict::NAMED.map(|(_, it)| it).to_vec())
}

/// A case with every text and value taken from anywhere.
fn case() -> impl Strategy<Value = CaseReport> {
    let texts = (text(), text(), text(), text());
    let values = (proptest::option::of(value()), proptest::option::of(value()), proptest::option::of(any::<f64>()));
    let task = (0..4_usize, verdict(), texts, values);
    let tasks = vec(task, 0..3).prop_map(|tasks| {
        let task = |(task, verdict, (label, explanation, message, _), (expected, actual, score))| TaskReport {
            expected,
            actual,
            label: Some(label),
            score,
            explanation: Some(explanation),
            message,
            ..TaskReport::new(task, verdict)
        };
        tasks.into_iter().map(task).collect()
    });
    let verdicts: Vec<_> = sample::run().cases.each().map(|(verdict, _)| verdict).into();
    (text(), text(), text(), select(verdicts), tasks).prop_map(|(id, prompt, subject, verdict, tasks)| CaseReport {
        prompt: Some(prompt),
        subject: Some(subject),
        tasks,
        ..CaseReport::new(id, verdict)
    })
}

/// A run whose own texts come from anywhere.
fn run() -> impl Strategy<Value = RunReport> {
    (vec(text(), 4), text(), text(), text(), text()).prop_map(|(ids, suite, description, fault, slice)| {
        let mut run = sample::run();
        for (task, id) in run.tasks.iter_mut().zip(ids) {
            *task = TaskTotal { path: Some(id.clone()), operator: Some(id.clone()), id, ..task.clone() };
        }
        run.slices.push(SliceTotal {
            path: slice.clone(),
            value: Some(slice),
            counts: run.counts,
            independence: run.independence,
        });
        run.observed.notes.push(description.clone());
        RunReport { suite, description: Some(description), fault: Some(fault), ..run }
    })
}

/// What a value is in JSON: what only YAML can write stands as text.
fn in_json(value: &Value) -> Value {
    match value {
        Val::F(number) if !number.is_finite() => Val::from(value.to_string()),
        Val::List(items) => items.iter().map(in_json).collect(),
        Val::Map(map) => Val::Map(map.iter().map(|(key, it)| (key.to_owned(), in_json(it))).collect()),
        other => other.clone(),
    }
}

proptest! {
    #![proptest_config(laws())]

    #[test]
    fn json_parses_and_values_are_whole(run in run(), cases in vec(case(), 0..3)) {
        let text = document("json", &run, &cases, Scope::Everything);
        prop_assert!(!text.trim_end().chars().any(|it| it.is_control() && it != '\n'), "{text:?}");
        let read = parse_json(&text).map_err(|error| TestCaseError::fail(format!("{error}: {text}")))?;
        let results = read.value.get("results").expect("there are results");
        prop_assert_eq!(results.get("suite").and_then(Val::as_str), Some(&*run.suite));
        let read_cases = results.get("cases").and_then(Val::as_list).expect("there are cases");
        prop_assert_eq!(read_cases.len(), cases.len());
        for (read, case) in read_cases.iter().zip(&cases) {
            prop_assert_eq!(read.get("id").and_then(Val::as_str), Some(&*case.id));
            for (read, task) in read.get("tasks").and_then(Val::as_list).expect("there are tasks").iter().zip(&case.tasks) {
                let actual = task.actual.as_ref().map(in_json);
                prop_assert_eq!(read.get("actual").map(|it| it.clone().into_owned()), actual);
            }
        }
    }

    #[test]
    fn json_lines_are_lines_of_json(run in run(), case in case()) {
        let text = document("jsonl", &run, std::slice::from_ref(&case), Scope::ResultsOnly);
        // A case that no task applies to has a line, too.
        prop_assert_eq!(text.lines().count(), case.tasks.len().max(1));
        for (line, task) in text.lines().zip(&case.tasks) {
            let read = parse_json(line).map_err(|error| TestCaseError::fail(format!("{error}: {line}")))?.value;
            prop_assert_eq!(read.get("record").and_then(Val::as_str), Some(&*case.id));
            let expected = task.expected.as_ref().map_or(Val::Null, in_json);
            prop_assert_eq!(read.get("expected").cloned().map(Val::into_owned), Some(expected));
        }
    }

    #[test]
    fn csv_reads_back_cell_by_cell(run in run(), case in case()) {
        let text = document("csv", &run, std::slice::from_ref(&case), Scope::ResultsOnly);
        let mut reader = csv::ReaderBuilder::new().flexible(false).from_reader(text.as_bytes());
        let names = reader.headers().expect("there is a header").clone();
        let rows: Vec<csv::StringRecord> = reader.records().collect::<Result<_, _>>().expect("rows are whole");
        prop_assert_eq!(rows.len(), case.tasks.len().max(1));
        for (row, task) in rows.iter().zip(&case.tasks) {
            let cell = |name: &str| &row[names.iter().position(|it| it == name).expect("the column is there")];
            for (name, text) in [
                ("record", &case.id),
                ("task", &run.tasks[task.task].id),
                ("label", task.label.as_ref().expect("it has one")),
                ("explanation", task.explanation.as_ref().expect("it has one")),
                ("message", &task.message),
            ] {
                holds_text(cell(name), text)?;
            }
            match &task.actual {
                None => prop_assert_eq!(cell("actual"), ""),
                Some(Val::Str(text)) => holds_text(cell("actual"), text)?,
                Some(value) => {
                    let read = parse_json(cell("actual")).expect("values that are not text are JSON").value;
                    prop_assert_eq!(read.into_owned(), in_json(value));
                }
            }
        }
    }

    #[test]
    fn xml_is_well_formed(run in run(), cases in vec(case(), 0..3)) {
        let text = document("junit", &run, &cases, Scope::Everything);
        let classes = well_formed(&text).map_err(|error| TestCaseError::fail(format!("{error}: {text}")))?;
        let ids: Vec<String> = cases.iter().map(|it| visible(&it.id).replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")).collect();
        for class in classes.iter().filter(|it| !it.ends_with(".thresholds") && !it.ends_with(".run")) {
            prop_assert!(ids.iter().any(|id| class.contains(&**id)), "{class:?}");
        }
    }

    #[test]
    fn markdown_has_no_markup_but_ours(run in run(), cases in vec(case(), 0..3)) {
        let text = document("markdown", &run, &cases, Scope::Everything);
        let ours = ["<code>", "</code>", "<details>", "</details>", "<summary>", "</summary>"];
        let rest = ours.iter().fold(text.clone(), |it, tag| it.replace(tag, ""));
        prop_assert!(!rest.contains(['<', '>', '`']), "{rest}");
        prop_assert_eq!(text.matches("<code>").count(), text.matches("</code>").count());
        prop_assert!(text.matches("<details>").count() <= 1);
        // Every row of a table has as many cells as its header, and no line outside of tables has any.
        let mut n_bars = 0;
        for line in text.lines() {
            let bars = line.matches('|').count();
            if !line.starts_with('|') {
                n_bars = 0;
                prop_assert_eq!(bars, 0, "{}", line);
            } else if n_bars == 0 {
                n_bars = bars;
            } else {
                prop_assert_eq!(bars, n_bars, "{}", line);
            }
        }
        for (at, _) in text.match_indices(['*', '_', '[', '@', '$']) {
            let is_ours = text[at..].starts_with("**") || text[..at].ends_with('*');
            prop_assert!(is_ours || text[..at].ends_with('\\'), "{}", &text[at..]);
        }
    }

    #[test]
    fn nothing_that_a_terminal_obeys_is_left(run in run(), cases in vec(case(), 0..3)) {
        for format in ["terminal", "markdown", "junit", "csv", "json", "jsonl"] {
            let text = document(format, &run, &cases, Scope::Everything);
            let seen = text.replace('\n', "");
            let seen = if matches!(format, "csv" | "junit") { seen.replace('\t', "") } else { seen };
            let shown = jurat_report::visible_line(&seen);
            prop_assert_eq!(&*shown, &*seen, "{}", format);
        }
        // What belongs to a case is indented below its name.
        let options = TerminalOptions {
            tasks: true,
            totals: false,
            is_full: true,
            most_cases: 100,
            n_selected: Some(cases.len() as u64),
            ..TerminalOptions::default()
        };
        let text = sample::written(&cases, |out, cases| cases(&mut TerminalWriter::new(out, &run, options)));
        let is_name = |it: &&str| !it.is_empty() && !it.starts_with(' ');
        prop_assert_eq!(text.lines().filter(is_name).count(), cases.len());
    }
}

/// A cell shows its text, with an apostrophe in front where the text looks like a formula and is no number.
fn holds_text(cell: &str, text: &str) -> Result<(), TestCaseError> {
    let shown = visible(text);
    if text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']) && text.parse::<f64>().is_err() {
        prop_assert_eq!(cell, format!("'{shown}"));
    } else {
        prop_assert_eq!(cell, &*shown);
    }
    Ok(())
}

/// Reads XML to its end and returns the attribute `classname` of every test case.
fn well_formed(text: &str) -> Result<Vec<String>, Box<dyn std::error::Error>> {
    let mut reader = Reader::from_str(text);
    let config = reader.config_mut();
    config.check_end_names = true;
    config.expand_empty_elements = true;
    let mut classes = Vec::new();
    let mut depth = 0;
    loop {
        match reader.read_event()? {
            Event::Start(tag) => {
                depth += 1;
                for attribute in tag.attributes() {
                    let attribute = attribute?;
                    let value = attribute.normalized_value(XmlVersion::Explicit1_0)?;
                    if value.chars().any(|it| !is_xml(it)) {
                        return Err(format!("{value:?} holds what XML cannot").into());
                    }
                    if attribute.key.as_ref() == "classname" {
                        classes.push(value.into_owned());
                    }
                }
            }
            Event::End(_) => depth -= 1,
            Event::Text(inside) if inside.xml_content(XmlVersion::Explicit1_0).chars().any(|it| !is_xml(it)) => {
                return Err("a text holds what XML cannot".into());
            }
            Event::Eof if depth == 0 => return Ok(classes),
            Event::Eof => return Err("a tag is left open".into()),
            _ => {}
        }
    }
}

/// What XML 1.0 calls a character.
fn is_xml(it: char) -> bool {
    matches!(it, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
}
