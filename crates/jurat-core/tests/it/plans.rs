//! What a plan holds, from what an author wrote.

use std::path::Path;

use jurat_core::judge::ReplyForm;
use jurat_core::plan::{Plan, Samples};
use jurat_core::suite::load;

use crate::InMemory;

/// The plan of a suite without errors.
#[track_caller]
fn plan(text: &str) -> Plan {
    let files = [("suite.yaml", text), ("prompt.md", "Read ${text}.\n")];
    let loaded = load(Path::new("suite.yaml"), &InMemory(&files));
    assert_eq!(loaded.problems, [], "{text}");
    let samples = Samples { rows: Vec::new(), is_partial: true };
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
    let prompts: Vec<String> = ask.prompts.iter().map(|(name, it)| format!("{name}={:?}", it.text())).collect();
    let form = match ask.form {
        ReplyForm::Text => "text",
        ReplyForm::Json => "json",
        ReplyForm::Schema(_) => "schema",
    };
    let system = ask.system.as_ref().map_or("", |it| it.text());
    let told = format!("{} of {}; {system:?} {form} {}", prompts.join(" "), ask.models.join(" "), ask.max_retries);
    assert_eq!(told, expected);
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
}

#[test]
fn without_an_ask_rows_are_read_in_part() {
    let plan = plan("records: [{ text: x }]\ntasks: [{ id: said, field_path: text, operator: is_string }]\n");
    assert!(plan.ask.is_none() && !plan.footprint.is_all());
}
