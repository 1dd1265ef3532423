//! What people see.

use jurat_format::problem::Problem;
use jurat_format::source::Sources;
use jurat_format::value::{SourceId, Span};
use jurat_report::{MAX_PROBLEMS, Style, write_problems, write_summary};

use proptest::prelude::*;

use crate::{UNKNOWN_FIELD, UNKNOWN_KEY};

const SUPPORT: &str = "tasks:\n  - id: accurate\n    field_path: expert.acuracy\n    operator: exists\n";

#[test]
fn a_problem_names_the_place_and_the_remedy() {
    let (sources, id) = one("support.yaml", SUPPORT);
    let problem = Problem::new(&UNKNOWN_FIELD, "`expert` never produces `acuracy`")
        .at(find(&sources, id, "expert.acuracy"), "read here")
        .help("`expert` produces accuracy, reason, suitable; did you mean `accuracy`?");
    insta::assert_snapshot!(plain(&sources, &[problem]), @r#"
    warning[plan::unknown_field]: `expert` never produces `acuracy`
     --> support.yaml:3:17
      |
    3 |     field_path: expert.acuracy
      |                 ^^^^^^^^^^^^^^ read here
      |
      = help: `expert` produces accuracy, reason, suitable; did you mean `accuracy`?
    "#);
}

#[test]
fn other_places_explain_the_first() {
    let (sources, id) = one("support.yaml", SUPPORT);
    let problem = Problem::new(&UNKNOWN_KEY, "two places")
        .at(find(&sources, id, "operator"), "this one")
        .at(find(&sources, id, "accurate"), "because of this")
        .at(find(&sources, id, "exists"), "")
        .help("first remedy")
        .help("second remedy,\nin two lines");
    insta::assert_snapshot!(plain(&sources, &[problem]), @r#"
    error[suite::unknown_key]: two places
     --> support.yaml:4:5
      |
    2 |   - id: accurate
      |         -------- because of this
    3 |     field_path: expert.acuracy
    4 |     operator: exists
      |     ^^^^^^^^  ------
      |     |
      |     this one
      |
      = help: first remedy
      = help: second remedy,
              in two lines
    "#);
}

#[test]
fn another_file_gets_its_own_excerpt() {
    let mut sources = Sources::default();
    let main = sources.add("suite.yaml", "include: [more.yaml]\ntasks:\n  - id: tone\n");
    let more = sources.add("more.yaml", "# shared\n\ntasks:\n  - id: tone\n");
    let problem = Problem::new(&UNKNOWN_KEY, "`tone` is defined twice")
        .at(find(&sources, more, "tone"), "defined again")
        .at(find(&sources, main, "tone"), "first defined here");
    insta::assert_snapshot!(plain(&sources, &[problem]), @r#"
    error[suite::unknown_key]: `tone` is defined twice
     --> more.yaml:4:9
      |
    4 |   - id: tone
      |         ^^^^ defined again
      |
     ::: suite.yaml:3:9
      |
    3 |   - id: tone
      |         ---- first defined here
    "#);
}

#[test]
fn a_problem_without_a_place_is_its_sentence() {
    let problems = [
        Problem::new(&UNKNOWN_KEY, "there is no suite here").help("write `jurat.yaml`, or name a file"),
        Problem::new(&UNKNOWN_KEY, "no remedy either"),
    ];
    insta::assert_snapshot!(plain(&Sources::default(), &problems), @r#"
    error[suite::unknown_key]: there is no suite here
     |
     = help: write `jurat.yaml`, or name a file

    error[suite::unknown_key]: no remedy either
    "#);
}

#[test]
fn a_short_block_is_rendered_whole_and_a_long_one_by_its_first_line() {
    let (sources, id) = one("a.yaml", "tasks:\n  - id: a\n    operator: is\n    on: x\n\nend: 1\n");
    let block = Span::new(id, 11..sources.get(id).unwrap().text.find("end").unwrap());
    insta::assert_snapshot!(plain(&sources, &[Problem::new(&UNKNOWN_KEY, "a short block").at(block, "this task")]), @r#"
    error[suite::unknown_key]: a short block
     --> a.yaml:2:5
      |
    2 |     - id: a
      |  _____^
    3 | |     operator: is
    4 | |     on: x
      | |_________^ this task
    "#);

    let text = format!("tasks:\n  - id: a\n{}", "    key: value\n".repeat(6));
    let (sources, id) = one("a.yaml", &text);
    let block = Span::new(id, 11..text.len());
    insta::assert_snapshot!(plain(&sources, &[Problem::new(&UNKNOWN_KEY, "a long block").at(block, "this task")]), @r#"
    error[suite::unknown_key]: a long block
     --> a.yaml:2:5
      |
    2 |   - id: a
      |     ^^^^^ this task
    "#);
}

#[test]
fn line_endings_tabs_and_wide_characters_keep_their_columns() {
    let (sources, id) = one("crlf.yaml", "a: 1\r\nkéy\t日本: wrong\r\nb: 2\r\n");
    let problems = [
        Problem::new(&UNKNOWN_KEY, "a word").at(find(&sources, id, "wrong"), "here"),
        Problem::new(&UNKNOWN_KEY, "the line ending").at(find(&sources, id, "\r\n"), "here"),
        Problem::new(&UNKNOWN_KEY, "with its line ending").at(find(&sources, id, "b: 2\r\n"), "here"),
    ];
    insta::assert_snapshot!(plain(&sources, &problems), @r#"
    error[suite::unknown_key]: the line ending
     --> crlf.yaml:1:5
      |
    1 |   a: 1
      |  _____^
    2 | | kéy    日本: wrong
      | |_^ here

    error[suite::unknown_key]: a word
     --> crlf.yaml:2:9
      |
    2 | kéy    日本: wrong
      |              ^^^^^ here

    error[suite::unknown_key]: with its line ending
     --> crlf.yaml:3:1
      |
    3 | b: 2
      | ^^^^ here
    "#);
}

#[test]
fn empty_spans_and_the_end_of_the_file_have_a_place() {
    let (sources, id) = one("a.yaml", "a: 1\n");
    let at = |range| Problem::new(&UNKNOWN_KEY, "here").at(Span::new(id, range), "nothing");
    insta::assert_snapshot!(plain(&sources, &[at(0..0), at(4..4), at(5..5), at(70..90)]), @r#"
    error[suite::unknown_key]: here
     --> a.yaml:1:1
      |
    1 | a: 1
      | ^ nothing

    error[suite::unknown_key]: here
     --> a.yaml:1:5
      |
    1 | a: 1
      |     ^ nothing

    error[suite::unknown_key]: here
     --> a.yaml:2:1
      |
    2 |
      | ^ nothing

    error[suite::unknown_key]: here
     --> a.yaml:2:1
      |
    2 |
      | ^ nothing
    "#);

    let (sources, id) = one("no-newline.yaml", "a: 1");
    insta::assert_snapshot!(plain(&sources, &[Problem::new(&UNKNOWN_KEY, "here").at(Span::new(id, 4..4), "")]), @r#"
    error[suite::unknown_key]: here
     --> no-newline.yaml:1:5
      |
    1 | a: 1
      |     ^
    "#);
}

#[test]
fn a_file_that_could_not_be_read_is_named() {
    let mut sources = Sources::default();
    let main = sources.add("suite.yaml", "include: [more.yaml]\n");
    let more = sources.add("more.yaml", "");
    let problem = Problem::new(&UNKNOWN_KEY, "not text")
        .at(Span::new(more, 0..0), "is not UTF-8")
        .at(find(&sources, main, "more.yaml"), "included here")
        .at(Span::new(SourceId(9), 0..0), "no such source")
        .help("save it as UTF-8");
    insta::assert_snapshot!(plain(&sources, &[problem]), @r#"
    error[suite::unknown_key]: not text
     --> more.yaml
      = note: is not UTF-8
      |
     ::: suite.yaml:1:11
      |
    1 | include: [more.yaml]
      |           --------- included here
      |
      = help: save it as UTF-8
    "#);
}

#[test]
fn nothing_hostile_reaches_the_terminal() {
    let hostile = "\x1b]0;owned\x07\u{9b}2J\u{202e}\u{2066}\r\x08";
    let (sources, id) = one(&format!("{hostile}\n.yaml"), &format!("a: 1\nkey{hostile}: wrong\nb: 2\n"));
    let problem = Problem::new(&UNKNOWN_KEY, format!("message {hostile}"))
        .at(find(&sources, id, "wrong"), format!("label {hostile}\nerror: posing"))
        .at(find(&sources, id, "2\n"), "")
        .help(format!("help {hostile}"));
    insta::assert_snapshot!(plain(&sources, std::slice::from_ref(&problem)), @r#"
    error[suite::unknown_key]: message ␛]0;owned␇�2J��␍␈
     --> ␛]0;owned␇�2J��␍␈␊.yaml:2:23
      |
    2 | key␛]0;owned␇�2J��␍␈: wrong
      |                       ^^^^^ label ␛]0;owned␇�2J��␍␈␊error: posing
    3 | b: 2
      |    -
      |
      = help: help ␛]0;owned␇�2J��␍␈
    "#);

    // In colour the only escapes are colours.
    let coloured = text(&sources, &[problem], Style::Colour);
    assert!(coloured.contains("\x1b["), "{coloured:?}");
    for after in coloured.split('\x1b').skip(1) {
        let end = after.find(|it: char| !it.is_ascii_digit() && !matches!(it, '[' | ';'));
        assert_eq!(end.map(|end| &after[end..=end]), Some("m"), "{after:?}");
    }
    assert!(!coloured.contains(['\x07', '\u{9b}', '\u{202e}', '\u{2066}', '\r', '\x08']), "{coloured:?}");
}

#[test]
fn a_long_line_is_cut_around_the_place() {
    let line = format!("{{\"{}\": wrong, \"{}\": 1}}", "a".repeat(100_000), "b".repeat(100_000));
    let (sources, id) = one("long.json", &line);
    insta::assert_snapshot!(plain(&sources, &[Problem::new(&UNKNOWN_KEY, "far right").at(find(&sources, id, "wrong"), "here")]), @r#"
    error[suite::unknown_key]: far right
     --> long.json:1:100006
      |
    1 | ...aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa": wrong, "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb...
      |                                                                ^^^^^ here
    "#);

    let whole = Problem::new(&UNKNOWN_KEY, "all of it")
        .at(Span::new(id, 0..line.len()), "this object")
        .at(find(&sources, id, "wrong"), "because of this");
    let text = plain(&sources, &[whole]);
    assert!(text.len() < 2_000, "{} bytes", text.len());
    assert!(text.contains("::: long.json:1:100006"), "{text}");
}

/// Rendering takes as long as what is rendered, not as long as what was written: otherwise this test would not end.
#[test]
fn many_long_problems_in_a_long_line_give_bounded_text() {
    let (sources, id) = one("long.json", &"[1],".repeat(500_000));
    let problem = |ix: usize| {
        Problem::new(&UNKNOWN_KEY, "m".repeat(100_000)).at(Span::new(id, ix * 200..ix * 200 + 3), "l".repeat(100_000))
    };
    let problems: Vec<Problem> = (0..2_000).map(problem).collect();
    let text = plain(&sources, &problems);
    assert!(text.len() < MAX_PROBLEMS * 10_000, "{} bytes", text.len());
}

#[test]
fn a_place_too_far_right_is_named() {
    let (sources, id) = one("huge.json", &"[1],".repeat(500_000));
    let at = |at| Span::new(id, at..at + 3);
    let problem = Problem::new(&UNKNOWN_KEY, "far out").at(at(1_999_996), "here").at(at(0), "not there");
    insta::assert_snapshot!(plain(&sources, &[problem]), @r#"
    error[suite::unknown_key]: far out
     --> huge.json:1:1999997
      = note: here
      |
     ::: huge.json:1:1
      |
    1 | [1],[1],[1],[1],[1],[1],[1],[1],[1],[1],[1],[1],[1],[1],[1],[1],[1],[1],[1],[1],[1],[1],[1],[1],[1],[1],[1],[1],[1],[1],[1],[1],[1],[...
      | --- not there
    "#);
}

#[test]
fn problems_come_in_the_order_of_the_files() {
    let mut sources = Sources::default();
    let first = sources.add("first.yaml", "a\nb\n");
    let second = sources.add("second.yaml", "a\n");
    let problems = [
        Problem::new(&UNKNOWN_KEY, "4").at(Span::new(second, 0..1), ""),
        Problem::new(&UNKNOWN_KEY, "3").at(Span::new(first, 2..3), ""),
        Problem::new(&UNKNOWN_FIELD, "2").at(Span::new(first, 0..1), ""),
        Problem::new(&UNKNOWN_KEY, "1"),
    ];
    let text = plain(&sources, &problems);
    let titles: Vec<&str> = text.lines().filter(|it| it.contains("]: ")).collect();
    assert_eq!(
        titles,
        [
            "error[suite::unknown_key]: 1",
            "warning[plan::unknown_field]: 2",
            "error[suite::unknown_key]: 3",
            "error[suite::unknown_key]: 4"
        ]
    );
}

#[test]
fn beyond_the_cap_problems_are_counted_and_errors_are_shown() {
    let mut problems: Vec<Problem> =
        (0..MAX_PROBLEMS).map(|ix| Problem::new(&UNKNOWN_FIELD, format!("warning {ix}"))).collect();
    problems.push(Problem::new(&UNKNOWN_KEY, "the error"));
    let text = plain(&Sources::default(), &problems);
    assert!(
        text.ends_with(
            "warning[plan::unknown_field]: warning 98\n\nerror[suite::unknown_key]: the error\n\nand 1 more problem\n\n"
        ),
        "{text}"
    );
}

#[test]
fn many_places_are_counted() {
    let (sources, id) = one("a.yaml", "abcdefghijklmnop\n");
    let problem = (0..16).fold(Problem::new(&UNKNOWN_KEY, "everywhere"), |it, at| it.at(Span::new(id, at..at + 1), ""));
    insta::assert_snapshot!(plain(&sources, &[problem]), @r#"
    error[suite::unknown_key]: everywhere
     --> a.yaml:1:1
      |
    1 | abcdefghijklmnop
      | ^-----------
      |
      = note: and 4 more places
    "#);
}

#[test]
fn the_summary_counts() {
    let error = || Problem::new(&UNKNOWN_KEY, "");
    let warning = || Problem::new(&UNKNOWN_FIELD, "");
    summed(&[error(), warning(), error()], Style::Plain, "2 errors, 1 warning\n");
    summed(&[error()], Style::Plain, "1 error\n");
    summed(&[warning(), warning()], Style::Plain, "2 warnings\n");
    summed(&[], Style::Plain, "no problems\n");
    summed(&[error()], Style::Colour, "\x1b[1m\x1b[91m1 error\x1b[0m\n");
}

proptest! {
    #[test]
    fn any_text_and_any_span_can_be_rendered(
        text in "[a é日\u{301}\t\r\n\x1b\u{9b}\u{202e}]{0,40}|(a{80,200}\n?){0,8}",
        spans in prop::collection::vec((0_usize..900, 0_usize..900), 0..6),
    ) {
        let (sources, id) = one("a.yaml", &text);
        let problem = spans.iter().fold(Problem::new(&UNKNOWN_KEY, &*text), |problem, (start, length)| {
            problem.at(Span::new(id, *start..start + length), &*text)
        });
        let rendered = plain(&sources, &[problem.help(&*text)]);
        let hazard = rendered.find(|it: char| (it.is_control() && !matches!(it, '\n' | '\t')) || it == '\u{202e}');
        prop_assert_eq!(hazard, None);
    }
}

fn one(path: &str, text: &str) -> (Sources, SourceId) {
    let mut sources = Sources::default();
    let id = sources.add(path, text);
    (sources, id)
}

fn find(sources: &Sources, id: SourceId, written: &str) -> Span {
    let start = sources.get(id).and_then(|it| it.text.find(written)).expect("the text holds it");
    Span::new(id, start..start + written.len())
}

fn plain(sources: &Sources, problems: &[Problem]) -> String {
    text(sources, problems, Style::Plain)
}

fn text(sources: &Sources, problems: &[Problem], style: Style) -> String {
    let mut out = Vec::new();
    write_problems(&mut out, problems, sources, style).expect("memory takes everything");
    String::from_utf8(out).expect("what is rendered is text")
}

#[track_caller]
fn summed(problems: &[Problem], style: Style, expected: &str) {
    let mut out = Vec::new();
    write_summary(&mut out, problems, style).expect("memory takes everything");
    assert_eq!(String::from_utf8(out).expect("what is rendered is text"), expected);
}
