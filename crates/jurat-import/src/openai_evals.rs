//! Data of OpenAI evals: samples of the repository, of its API, and as Phoenix exports them.

use jurat_format::value::{Val, Value};

use crate::document::{Object, members, plain, text, text_at};
use crate::identifier;
use crate::kind::{Import, ImportError, Kind, counted};
use crate::report::{NOT_KNOWN, Unused};

pub(crate) static KIND: Kind = Kind {
    name: "openai-evals",
    help: "samples of OpenAI evals",
    recognises: |input| input.json().is_some_and(is_sample),
    read,
};

fn is_sample(value: &Value) -> bool {
    let has = |key: &str| value.get(key).is_some();
    (has("ideal") && (has("input") || has("messages"))) || value.get("item").is_some_and(|it| it.as_map().is_some())
}

fn read(import: &mut Import<'_>) -> Result<(), ImportError> {
    // All rows say together whether there is a suite for them, so they are read twice.
    let (mut is_asked, mut system, mut unused) = (true, false, Unused::default());
    for input in import.inputs {
        for value in input.values() {
            let value = value?.1;
            if !is_sample(&value) {
                continue;
            }
            let row = row("", &value);
            let has = |key: &str| row.get(key).is_some();
            is_asked &= has("question") && has("reference") && !has("output");
            system |= has("system");
        }
    }
    for input in import.inputs {
        for value in input.values() {
            let (line, value) = value?;
            let at = format!("{}:{line}", input.name);
            if !is_sample(&value) {
                import.report.dropped(&at, "a line", "it is no sample: it has neither `ideal` nor `item`");
                continue;
            }
            note_others(&mut unused, &at, &value);
            let id = format!("s{}", import.n_rows() + 1);
            let mut row = row(&id, &value);
            if is_asked && system && row.get("system").is_none() {
                row.put("system", text(""));
            }
            import.report.exact(&at, "a sample", format!("row `{id}`"));
            import.row(&row.into())?;
        }
    }
    unused.report(&mut import.report, "sample", NOT_KNOWN);
    import.summary.push(counted(import.n_rows(), "row"));
    if is_asked {
        import.suite(suite(import.options.name.as_deref(), system));
        import.summary.push(counted(1, "task"));
        let at = import.inputs.first().map_or("", |it| it.name.as_str()).to_owned();
        let why = "the class of the eval is not in its data: the answer must have one of the ideal answers in it, whatever the case";
        import.report.approximate(&at, "`ideal`", "task `has_ideal`", why);
        import.file("evaluators/has_ideal.js", HAS_IDEAL.to_owned());
    }
    import.rows_file("rows.jsonl");
    Ok(())
}

/// Notes the members of a sample that are not in its row.
fn note_others(unused: &mut Unused, at: &str, sample: &Value) {
    unused.note_others(at, sample, &["id", "input", "messages", "ideal", "item", "sample", "choices", "metadata"]);
    let answer = sample.get("sample").filter(|_| sample.get("item").is_some()).unwrap_or(&Val::Null);
    for (key, _) in members(answer).filter(|(key, it)| !matches!(it, Val::Null) && !ANSWER.contains(key)) {
        unused.note(at, &format!("sample.{key}"));
    }
}

/// Members of an answer that are read.
const ANSWER: [&str; 3] = ["output_text", "model", "usage"];

const HAS_IDEAL: &str = include_str!("has_ideal.js");

fn suite(name: Option<&str>, has_system: bool) -> Object {
    let mut ask = Object::new();
    if has_system {
        ask.put("system", text("${system}"));
    }
    let source = Object::new().with("source", Object::new().with("file", text("evaluators/has_ideal.js")));
    let task = Object::new()
        .with("id", text("has_ideal"))
        .with("evaluate", text("has_ideal"))
        .with("field_path", text("label"))
        .with("operator", text("equals"))
        .with("expected_value", text("C"));
    Object::new()
        .with("suite", text(identifier::identity(name.unwrap_or("openai-evals"), "openai-evals")))
        .with("records", text("rows.jsonl"))
        .with("ask", ask.with("prompt", text("${question}")))
        .with("evaluators", Object::new().with("has_ideal", source))
        .with("tasks", Val::List(vec![task.into()]))
}

fn row(id: &str, sample: &Value) -> Object {
    let mut row = Object::new().with("id", text(id));
    if let Some(item) = sample.get("item").and_then(Val::as_map) {
        row.put("item", Val::Map(item.clone()));
        let output = sample.get("sample").and_then(|it| it.get("output_text")).cloned();
        row.put_some("output", output);
        let there = |key: &str| sample.get("sample")?.get(key).filter(|it| !matches!(it, Val::Null)).cloned();
        row.put_some("subject", there("model"));
        row.put_some("usage", there("usage"));
        return row;
    }
    match sample.get("input").or_else(|| sample.get("messages")) {
        Some(Val::List(messages)) => {
            put_chat(&mut row, messages);
        }
        Some(other) => row.put("question", text(plain(other))),
        None => {}
    }
    row.put_some("reference", sample.get("ideal").cloned());
    for key in ["choices", "metadata"] {
        row.put_some(key, sample.get(key).filter(|it| !matches!(it, Val::Null)).cloned());
    }
    row
}

/// A question with its system message; a longer chat stays a list.
fn put_chat(row: &mut Object, messages: &[Value]) {
    let said = |it: &Value| Some((text_at(it, "role")?.to_owned(), text_at(it, "content")?.to_owned()));
    let read: Vec<(String, String)> = messages.iter().filter_map(said).collect();
    let roles: Vec<&str> = read.iter().map(|(role, _)| role.as_str()).collect();
    match roles.as_slice() {
        _ if read.len() < messages.len() => row.put("chat", Val::List(messages.to_vec())),
        ["user"] | ["system"] => row.put("question", text(&read[0].1)),
        ["system", "user"] => {
            row.put("system", text(&read[0].1));
            row.put("question", text(&read[1].1));
        }
        _ => row.put("chat", Val::List(messages.to_vec())),
    }
}
