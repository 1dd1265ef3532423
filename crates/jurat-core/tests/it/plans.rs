//! What a plan holds, from what an author wrote.

use std::path::Path;

use jurat_core::judge::ReplyForm;
use jurat_core::plan::{Asking, CaseName, Plan, Samples, TaskIx, row_tags};
use jurat_core::suite::load;
use jurat_format::value::parse_json;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use crate::InMemory;

/// The plan of a suite without errors.
#[track_caller]
fn plan(text: &str) -> Plan {
    let files = [("suite.yaml", text), ("prompt.md", "Read ${text}.\n")];
    let loaded = load(Path::new("suite.yaml"), &InMemory(&files));
    assert_eq!(loaded.problems, [], "{text}");
    let samples = Samples { is_partial: true, ..Samples::default() };
    Plan::build(&loaded.suite, &samples).unwrap_or_else(|problems| panic!("{problems:?}\n{text}")).0
}

#[track_caller]
fn asks(ask: &str, expected: &str) {
    let text = format!(
        "models: {{ subject: [a/b, c/d], other: e/f }}\nrecords: [{{ text: x }}]\nask: {ask}\n\
         tasks: [{{ id: said, field_path: output, operator: is_string }}]\n"
    );
    let plan = plan(&text);
    assert!(plan.footprint.is_all(), "{text}");
    let ask = plan.ask.expect("an `ask` is planned");
    let text = |asking: &Asking| match asking {
        Asking::Chat(chat) => format!("{:?}", chat.text()),
        Asking::Row => "the row".to_owned(),
        Asking::Talk(scenario) => format!("the scenario {}", scenario.scenario.name),
    };
    let prompts: Vec<String> = ask.prompts.iter().map(|(name, it)| format!("{name}={}", text(it))).collect();
    let form = match ask.form {
        ReplyForm::Text => "text",
        ReplyForm::Json => "json",
        ReplyForm::Schema(_) => "schema",
    };
    let system = ask.system.as_ref().map_or("", |it| it.text());
    let shown = format!("{} of {}; {system:?} {form} {}", prompts.join(" "), ask.models.join(" "), ask.max_retries);
    assert_eq!(shown, expected);
    assert_eq!(ask.output.is_some(), form == "schema");
}

#[test]
fn an_ask_is_prompts_and_models() {
    asks("{ prompt: '${text}' }", r#"prompt="${text}" of subject; "" text 3"#);
    asks(
        "{ prompts: ['${text}', { file: prompt.md }], model: [other, g/h], system: Be brief., max_retries: 0 }",
        r#"1="${text}" 2="Read ${text}.\n" of other g/h; "Be brief." text 0"#,
    );
    asks(
        "{ prompts: { b: '${text}!', a: '${text}?' }, model: g/h, output: { word: string } }",
        r#"b="${text}!" a="${text}?" of g/h; "" schema 3"#,
    );
    asks("{ whole_row: true, model: other }", r#"row=the row of other; "" text 3"#);
}

#[test]
fn without_an_ask_rows_are_read_in_part() {
    let plan = plan("records: [{ text: x }]\ntasks: [{ id: said, field_path: text, operator: is_string }]\n");
    assert!(plan.ask.is_none() && !plan.footprint.is_all());
}

/// Which tasks of a suite apply to a row of it, by their ids.
#[track_caller]
fn applies(tags: &str, tasks: &[&str], (id, row): (&str, &str), expected: &str) {
    let tasks: Vec<String> = tasks
        .iter()
        .enumerate()
        .map(|(ix, on)| format!("  - {{ id: t{ix}, {on}operator: exists, field_path: a }}\n"))
        .collect();
    let plan = plan(&format!("records: {{ path: a.jsonl, tags: [{tags}] }}\ntasks:\n{}", tasks.concat()));
    let row = parse_json(row).expect("a row is JSON").value;
    let part = plan.footprint.read(&row.to_json()).expect("a row is JSON").value.into_owned();
    let tags: Vec<&str> = tags.split_terminator(", ").chain(row_tags(&part)).collect();
    let case = CaseName::of_row(id, tags);
    let applying = plan.tasks.iter().zip(0..).filter(|(_, ix)| plan.applies(TaskIx(*ix), &case));
    assert_eq!(applying.map(|(task, _)| task.id.as_str()).collect::<Vec<_>>().join(" "), expected);
}

#[test]
fn a_task_applies_to_the_cases_it_says() {
    let tasks = ["", "on: records, ", "on: cases, ", "on: [r1, r2], ", "on: { tag: hard }, ", "on: { tag: file }, "];
    applies("", &tasks, ("r1", "{}"), "t0 t1 t3");
    applies("", &tasks, ("r9", r#"{"tags": ["easy", 7, "hard"]}"#), "t0 t1 t4");
    applies("", &tasks, ("R1", r#"{"tags": "hard"}"#), "t0 t1 t4");
    applies("file, other", &tasks, ("r2", r#"{"tags": {"hard": 1}}"#), "t0 t1 t3 t5");
    applies("", &tasks, ("r9", r#"["hard"]"#), "t0 t1");
}

#[test]
fn a_task_that_does_not_exist_applies_nowhere() {
    let plan = plan("records: [{ a: 1 }]\ntasks: [{ id: t, field_path: a, operator: exists }]\n");
    assert!(!plan.applies(TaskIx(1), &CaseName::of_row("r1", Vec::new())));
}

const SELECTIONS: &[&str] =
    &["", "on: records, ", "on: { tag: x }, ", "on: { tag: y }, ", "on: [a], ", "on: [a, b], ", "on: [b, c], "];

proptest! {
    #![proptest_config(crate::laws())]

    #[test]
    fn where_a_task_applies_so_do_its_dependencies(
        tasks in vec((select(SELECTIONS), vec(any::<bool>(), 0..4)), 1..5),
        id in select(&["a", "b", "c"][..]),
        tags in subsequence(vec!["x", "y"], 0..=2),
    ) {
        let mut text = "records: { path: a.jsonl, tags: [x, y] }\ntasks:\n".to_owned();
        for (ix, (on, depends_on)) in tasks.iter().enumerate() {
            let others: Vec<String> =
                depends_on.iter().take(ix).zip(0..).filter(|(it, _)| **it).map(|(_, other): (_, usize)| format!("t{other}")).collect();
            text += &format!("  - {{ id: t{ix}, {on}depends_on: [{}], operator: exists, field_path: a }}\n", others.join(", "));
        }
        let suite = load(Path::new("suite.yaml"), &InMemory(&[("suite.yaml", &text)])).suite;
        let Ok((plan, _)) = Plan::build(&suite, &Samples { is_partial: true, ..Samples::default() }) else { return Ok(()) };
        let case = CaseName::of_row(id, tags);
        for (task, ix) in plan.tasks.iter().zip(0..).filter(|(_, ix)| plan.applies(TaskIx(*ix), &case)) {
            prop_assert!(task.depends_on.iter().all(|it| plan.applies(*it, &case)), "t{} of\n{}", ix, text);
        }
    }
}

/// The range of a task is that of the number that is its score.
#[test]
fn the_range_of_a_score_is_that_of_the_same_number() {
    let output = "output: { grade: { type: integer, minimum: 1, maximum: 5 }, score: { type: integer, minimum: 0, maximum: 9 } }";
    let soft = "soft_score: { field: grade, values: { '1': 0, '2': 1, '3': 2, '4': 3, '5': 4 } }";
    let named = "output: { score: string, grade: { type: integer, minimum: 1, maximum: 5 } }";
    for (judge, path, expected) in [
        (format!("{output}, {soft}"), "grade", Some((0.0, 4.0))),
        (format!("{output}, {soft}"), "score", Some((0.0, 4.0))),
        (format!("{output}, {soft}"), "soft_score", Some((0.0, 4.0))),
        (output.to_owned(), "grade", Some((0.0, 9.0))),
        (named.to_owned(), "grade", Some((1.0, 5.0))),
        (named.to_owned(), "score", None),
    ] {
        let text = format!(
            "models: {{ judge: openai/m }}\nrecords: [{{ id: a }}]\ntasks:\n  \
             - {{ id: t, judge: {{ prompt: '${{id}}', {judge} }}, field_path: {path}, operator: is_not_empty }}\n"
        );
        let loaded = load(Path::new("suite.yaml"), &InMemory(&[("suite.yaml", &text)]));
        assert_eq!(loaded.suite.tasks[0].score_range(), expected, "{text}\n{:?}", loaded.problems);
    }
}
