//! `docs/reference/judges.md`: every ready judge, and the keys of judge files, made from the definitions that the program has.

use std::fmt::Write;

use jurat_core::judge::{READY, Ready};
use jurat_core::suite::judge_file::{INPUT, JUDGE_FILE, STEP};
use jurat_core::suite::{ExpectedValue, JudgeFile, TaskComparison};
use jurat_format::form::Object;
use jurat_format::value::Value;

const INTRODUCTION: &str = "# Ready judges

<!-- Made from the program by `cargo xtask generate`; change `crates/jurat-core/judges/` or `xtask/reference/src/judges.rs` instead. -->

Judges that come with the program: prompts, schemas and labelled sets, as data. A suite uses one by its name; the model is the role `judge`, or the one that `model`, `panel` and `repeat` say, as for [any judge](suites.md).

```yaml
suite: answers
models: { judge: openai/gpt-5-mini }
records:
  - question: Is the pool open on Mondays?
    output: Yes, from 9 to 20.
    context: [On weekdays the pool opens at 9 and closes at 20.]
    gold: { text: Yes }
tasks:
  - { id: grounded, judge: { use: faithfulness } }
  - { id: right, judge: { use: correctness, with: { reference: gold.text } } }
  - { id: kind, judge: { rubric: \"It apologises and offers a next step.\" } }
```

* **Inputs.** A judge sees the inputs that it declares and nothing else of the case. Each is looked for under its usual names; `with` says otherwise: a path, `{value: …}`, or `{text: …}` with placeholders. `jurat check` names inputs that no sample row has. A case without a required input is an error, not a failure.
* **Result.** The reply has a reason and a label or grades; `score` and other values are computed from it, not by the model. A task passes as the table of the judge says, unless it has a comparison of its own: `field_path: score`, `operator: greater_than_or_equal`, `expected_value: 0.9`.
* **Several questions.** Some judges ask more than once about a case: claims first and then a verdict for each, or the same question in both orders. Each question is a request of its own, cached and retried like any other; `max_retries` counts for each. Questions that do not depend on each other are asked at the same time.
* **`rubric`** is the short form of the judge `rubric`, with your criterion in it.

`jurat judges` lists them, `jurat judges show NAME` prints one, and `jurat judges eject NAME` writes it and its labelled set into files of yours: `judge: { use: { file: judges/NAME.yaml } }`. A run stores the text of the judges that it used, so that a later version of the program shows it as it was.

";

/// The page of ready judges.
pub(crate) fn judge_reference() -> String {
    let mut page = INTRODUCTION.to_owned();
    page += "| judge | judges | needs |\n|---|---|---|\n";
    for ready in READY {
        let judge = read(ready);
        let needs: Vec<String> =
            judge.inputs.iter().filter(|it| it.default.is_none()).map(|it| format!("`{}`", it.name)).collect();
        let _ = writeln!(page, "| [`{0}`](#{0}) | {1} | {2} |", ready.name, judge.description, needs.join(", "));
    }
    page += AGREEMENT;
    page += include_str!("../../../crates/jurat-core/judges/agreement.md");
    page += "\n## Judge files\n\nA judge file is YAML or JSON with these keys. Ready judges are such files.\n\n";
    page += &keys(&JUDGE_FILE);
    page += "\nAn input:\n\n";
    page += &keys(&INPUT);
    page += "\nA step:\n\n";
    page += &keys(&STEP);
    page += "\nExpressions are [CEL](expressions.md) over the inputs and the replies of steps by their names; with one question the reply is called `reply`.\n";
    READY.iter().for_each(|it| page += &section(it));
    page
}

const AGREEMENT: &str = "
## Labelled sets and agreement

Every judge has a labelled set of at least 40 cases, written for it, with the label, the reason for it, and near misses on both sides. How well *your* model judges is measured with it:

```console
$ jurat judges eject faithfulness
$ cat > agreement.yaml <<END
suite: agreement
models: { judge: openai/gpt-5-mini }
records: { path: judges/faithfulness.jsonl, id: case }
tasks: [{ id: judged, judge: { use: faithfulness } }]
END
$ jurat run agreement.yaml
$ jurat calibrate --labels judges/faithfulness.jsonl
```

In a checkout, `cargo xtask judges PROVIDER/MODEL [NAME...]` does this for all of them. ";

fn read(ready: &Ready) -> JudgeFile {
    JudgeFile::ready(ready).unwrap_or_else(|problems| panic!("{}: {problems:?}", ready.name))
}

fn keys(object: &Object) -> String {
    let mut table = String::from("| key | default | meaning |\n|---|---|---|\n");
    for key in object.keys {
        let default = match (key.required, &key.default) {
            (true, _) => "required".to_owned(),
            (false, default) => default.as_ref().map(ToString::to_string).unwrap_or_default(),
        };
        let _ = writeln!(table, "| `{}` | {default} | {} |", key.name, key.doc);
    }
    table
}

fn section(ready: &Ready) -> String {
    let judge = read(ready);
    let mut page = format!("\n## `{}`\n\n", ready.name);
    let _ = writeln!(page, "{}.\n\n{}", capitalised(&judge.description), judge.about.trim_end());
    page += "\n| input | looked for at | when absent | what it is |\n|---|---|---|---|\n";
    for input in &judge.inputs {
        let from: Vec<String> = input.from.iter().map(|it| format!("`{it}`")).collect();
        let absent = input.default.as_ref().map_or_else(|| "error".to_owned(), |it| format!("`{it}`"));
        let _ = writeln!(page, "| `{}` | {} | {absent} | {} |", input.name, from.join(", "), input.about);
    }
    let fields: Vec<String> = names(&judge).map(|it| format!("`{it}`")).collect();
    let questions = match judge.steps.len() {
        1 => "one question".to_owned(),
        n => format!("{n} questions"),
    };
    let n_cases = ready.cases.lines().count();
    let _ = writeln!(
        page,
        "\nAsks {questions} about a case. Result: {}. Passes when {}. Labelled set: {n_cases} cases.\n\nRests on:\n",
        fields.join(", "),
        judge.passes.as_ref().map(compared).unwrap_or_default()
    );
    judge.sources.iter().for_each(|it| page += &format!("* {it}\n"));
    page
}

/// The members of its result.
fn names(judge: &JudgeFile) -> impl Iterator<Item = &str> {
    let properties = judge.output.schema.get("properties").and_then(|it| it.as_map());
    properties.into_iter().flat_map(jurat_format::value::Map::keys)
}

fn compared(comparison: &TaskComparison) -> String {
    let path = comparison.path.as_ref().map(|it| it.value.to_string()).unwrap_or_default();
    let operator = comparison.operator.value.entry().snake_case();
    let expected = match comparison.expected.as_ref().map(|it| &it.value) {
        Some(ExpectedValue::Literal(value)) => shown(value),
        Some(ExpectedValue::Path(path)) => format!("${{{path}}}"),
        Some(ExpectedValue::Filled(filled)) => shown(&filled.written),
        None => String::new(),
    };
    format!("`{path}` `{operator}` `{expected}`")
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_json(), str::to_owned)
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|it| it.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
