//! What editors read.

use jurat_format::problem::Problem;
use jurat_format::source::Sources;
use jurat_format::value::Span;
use jurat_report::problems_json;

use crate::{UNKNOWN_FIELD, UNKNOWN_KEY};

#[test]
fn every_place_is_in_lines_and_columns() {
    let mut sources = Sources::default();
    let main = sources.add("suite.yaml", "a: 1\r\nkéy: wrong\r\n");
    let more = sources.add("more.yaml", "");
    let problems = [
        Problem::new(&UNKNOWN_FIELD, "later").at(Span::new(more, 0..9), ""),
        Problem::new(&UNKNOWN_KEY, "`kéy` is wrong")
            .at(Span::new(main, 12..17), "here")
            .at(Span::new(main, 0..6), "and here")
            .help("fix it"),
        Problem::new(&UNKNOWN_KEY, "nowhere"),
    ];
    let json = problems_json(&[(&problems, &sources)]).replace("},{", "},\n{");
    insta::assert_snapshot!(json, @r#"
    {"version":1,"problems":[{"code":"suite::unknown_key","severity":"error","message":"nowhere","labels":[],"help":[],"docs":"docs/problems/suite/unknown_key.md"},
    {"code":"suite::unknown_key","severity":"error","message":"`kéy` is wrong","file":"suite.yaml","line":2,"column":6,"end_line":2,"end_column":11,"labels":[{"file":"suite.yaml","line":2,"column":6,"end_line":2,"end_column":11,"text":"here"},
    {"file":"suite.yaml","line":1,"column":1,"end_line":2,"end_column":1,"text":"and here"}],"help":["fix it"],"docs":"docs/problems/suite/unknown_key.md"},
    {"code":"plan::unknown_field","severity":"warning","message":"later","file":"more.yaml","line":1,"column":1,"end_line":1,"end_column":1,"labels":[{"file":"more.yaml","line":1,"column":1,"end_line":1,"end_column":1,"text":""}],"help":[],"docs":"docs/problems/plan/unknown_field.md"}],"errors":2,"warnings":1}
    "#);
}

#[test]
fn hazards_are_escaped_and_texts_are_exact() {
    let message = "\x1b[2J \u{9b} \u{202e} \u{e0041} \u{7f} é";
    let json = problems_json(&[(&[Problem::new(&UNKNOWN_KEY, message)], &Sources::default())]);
    assert!(json.contains(r#""message":"\u001b[2J \u009b \u202e \udb40\udc41 \u007f é""#), "{json}");
    let read: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(read["problems"][0]["message"], message);
}
