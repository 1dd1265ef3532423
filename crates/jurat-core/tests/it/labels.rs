//! Sheets and logs of labels: what is read from them, what is wrong with them, and that what is written reads back the same.

use jurat_core::label::{JudgeSaid, Label, SheetRow, Standing, State, read_labels, standing, write_sheet};
use jurat_format::problem::{Problem, Problems};
use jurat_format::source::Sources;
use jurat_format::value::{SourceId, Val};
use proptest::prelude::*;

use crate::laws;

/// What a file says, and what is wrong with it: each problem with its line and column.
fn read(text: &str) -> (Standing, Vec<String>) {
    let mut problems = Problems::default();
    let labels = read_labels(text, SourceId(0), &mut problems);
    let standing = standing(labels, &mut problems);
    let mut sources = Sources::default();
    sources.add("labels", text);
    let shown = |it: &Problem| {
        let place = sources.position(it.labels[0].span).0;
        format!("{}:{}: {}; {}", place.line, place.column, it.message, it.help.join("; "))
    };
    (standing, problems.into_vec().iter().map(shown).collect())
}

#[track_caller]
fn counts(text: &str, expected: [u64; 4]) {
    let (found, problems) = read(text);
    assert_eq!(problems, [""; 0]);
    assert_eq!([found.given.len() as u64, found.n_empty, found.n_unsure, found.n_removed], expected, "{found:?}");
}

#[track_caller]
fn problem(text: &str, expected: &str) {
    let (_, problems) = read(text);
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(problems[0].starts_with(expected), "{}", problems[0]);
}

#[test]
fn a_sheet_may_be_filled_in_by_several_people() {
    counts("case,label,annotator\nr1,pass,ada\nr1,fail,grace\nr2,,\n", [2, 1, 0, 0]);
    counts("\u{feff}Case,Label\r\nr1,pass\r\n", [1, 0, 0, 0]);
    counts("case,score\nr1,4.5\n", [1, 0, 0, 0]);
    let (found, _) = read("case,label,reviewer\n\"a, b\",pass,x\n");
    assert_eq!(found.given[0].value.case, "a, b");
    assert_eq!(found.given[0].value.others, [("reviewer".to_owned(), Val::from("x"))]);
}

#[test]
fn of_a_log_the_last_line_of_an_annotator_counts() {
    let line = |at: &str, state: &str, label: &str, who: &str| {
        format!("{{\"at\":\"{at}\",\"case\":\"r1\",\"annotator\":\"{who}\",\"state\":\"{state}\",\"label\":{label}}}\n")
    };
    let first = line("2026-11-16T20:00:00Z", "given", "\"fail\"", "ada");
    counts(&(first.clone() + &line("2026-11-16T20:01:00Z", "given", "\"pass\"", "ada")), [1, 0, 0, 0]);
    let (found, _) = read(&(first.clone() + &line("2026-11-16T20:01:00Z", "given", "\"pass\"", "ada")));
    assert_eq!(found.given[0].value.label.as_deref(), Some("pass"));
    counts(&(first.clone() + &line("2026-11-16T20:01:00Z", "removed", "null", "ada")), [0, 0, 0, 1]);
    counts(&(first.clone() + &line("2026-11-16T20:01:00Z", "unsure", "null", "grace")), [1, 0, 1, 0]);
    // Another answer is another thing to label.
    let other = first.replace("\"case\"", "\"evidence\":\"9f\",\"case\"");
    counts(&(first + &other), [2, 0, 0, 0]);
}

#[test]
fn what_is_wrong_is_reported_with_its_place() {
    problem("case,label\nr1,pass\nr1,fail\n", "3:1: an annotator without a name labelled `r1` twice; remove one");
    problem("id,label\nr1,pass\n", "1:1: the sheet has no column `case`; begin with the names of the columns");
    problem("case;label\nr1;pass\n", "1:1: the sheet has no column `case`; separate cells by commas");
    problem("case,annotator\nr1,ada\n", "1:1: the sheet has neither a column `label` nor `score`");
    problem("case,label,label\nr1,pass,fail\n", "1:12: the column `label` is there twice");
    problem("case,label\nr1,pass,extra\n", "2:1: the line has 3 cells, and there are 2 columns; put cells");
    problem("case,label\n,pass\n", "2:1: the line does not say which case it labels");
    problem("case,label\nr1,\"pass\n", "2:4: a quote opens and is not closed");
    problem("case,label,weight\nr1,pass,-2\n", "2:9: `weight` must be a number above 0, not `-2`");
    problem(
        "case,label,replicate\nr1,pass,0\n",
        "2:9: `replicate` must be the number of a repetition, from 1, not `0`",
    );
    problem("", "1:1: the sheet is empty");
    problem("{\"case\":\"r1\",\"label\":\"pass\"}\n{\"case\":\n", "2:8: the line is not JSON");
    problem("{\"case\":\"r1\"}\n", "1:1: the line has neither `label` nor `score`");
    problem("{\"label\":\"pass\"}\n", "1:1: the line does not say which case");
    problem("{\"case\":\"r1\",\"label\":[1]}\n", "1:22: `label` must be text, not a list");
    problem(
        "{\"case\":\"r1\",\"label\":\"x\",\"state\":\"maybe\"}\n",
        "1:34: `state` must be `given`, `unsure` or `removed`",
    );
    problem("{\"version\":2,\"case\":\"r1\",\"label\":\"x\"}\n", "1:12: labels of version 2 cannot be read");
    // What can be read beside it is read.
    let (found, problems) = read("case,label\n,pass\nr2,fail\n");
    assert_eq!((found.given.len(), problems.len()), (1, 1));
}

fn text() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["r1", "a, b", "say \"hi\"", "=1+1", "'x", "two\nlines", "ü", "-3", "pass", "\ttab"])
        .prop_map(str::to_owned)
}

fn label() -> impl Strategy<Value = Label> {
    let names = (text(), prop::option::of(text()), prop::option::of(text()), prop::option::of(text()));
    let numbers = (prop::option::of(1_u32..9), prop::option::of(-5.0..5.0_f64), prop::option::of(0.5..9.0_f64));
    let rest = (prop::option::of(any::<bool>()), prop::option::of(text()), any::<bool>());
    (names, numbers, rest).prop_map(|(names, (replicate, score, weight), (blind, at, is_known))| Label {
        at,
        annotator: names.1,
        case: names.0,
        task: names.2,
        replicate,
        state: State::Given,
        label: Some(names.3.unwrap_or_else(|| "pass".to_owned())),
        score,
        weight,
        blind,
        judge: is_known.then(|| JudgeSaid { verdict: Some("failed".to_owned()), label: None }),
        others: vec![("tool".to_owned(), Val::from("v1")), ("n".to_owned(), Val::from(3))],
        ..Label::default()
    })
}

proptest! {
    #![proptest_config(laws())]

    #[test]
    fn a_line_of_a_log_reads_back_the_same(label in label()) {
        let mut problems = Problems::default();
        let line = label.to_json_line() + "\n";
        let found = read_labels(&line, SourceId(0), &mut problems);
        prop_assert_eq!(problems.n_errors(), 0);
        prop_assert_eq!(&found[0].value, &label);
        prop_assert_eq!(found[0].value.to_json_line() + "\n", line);
    }

    #[test]
    fn a_sheet_reads_back_the_same(labels in prop::collection::vec(label(), 1..5)) {
        let bare = |it: &Label| Label {
            // Sheets have no such columns, and cells without the spaces around them.
            at: None, blind: None, judge: None, others: Vec::new(),
            case: it.case.trim().to_owned(),
            annotator: it.annotator.as_ref().map(|it| it.trim().to_owned()),
            task: it.task.as_ref().map(|it| it.trim().to_owned()),
            label: it.label.as_ref().map(|it| it.trim().to_owned()),
            ..it.clone()
        };
        let labels: Vec<Label> = labels.iter().map(bare).collect();
        let rows: Vec<SheetRow> = labels.iter().map(|it| SheetRow { label: it.clone(), ..SheetRow::default() }).collect();
        let mut problems = Problems::default();
        let found = read_labels(&write_sheet(&rows, false), SourceId(0), &mut problems);
        prop_assert_eq!(problems.into_vec(), Vec::<Problem>::new());
        prop_assert_eq!(found.into_iter().map(|it| it.value).collect::<Vec<Label>>(), labels);
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "[a-c,\"{}:\\n\\r=' 0-9;ü]{0,60}") {
        read(&text);
        read(&format!("case,label\n{text}"));
        read(&format!("{{{text}"));
    }
}
