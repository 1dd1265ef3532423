//! The tests of a configuration: where they stand, their variables and assertions.

use jurat_format::value::{Map, Node, Val, Value};

use super::places::{Places, ending, is_pattern};
use super::{csv_tests, groups};
use crate::document::{Object, beginning, maybe_json, text, text_at};
use crate::report::Report;

/// An assertion as it is written, and where.
#[derive(Debug, Clone)]
pub(super) struct Spec {
    pub(super) at: String,
    pub(super) value: Value,
}

/// A test, or `defaultTest`.
#[derive(Debug, Clone, Default)]
pub(super) struct Test {
    pub(super) at: String,
    pub(super) description: Option<String>,
    /// The variables; one with a list stands for several tests.
    pub(super) vars: Object,
    pub(super) assertions: Vec<Spec>,
    pub(super) options: Object,
    pub(super) metadata: Option<Value>,
    /// What the weighted mean of its assertions has to reach, in place of each of them passing.
    pub(super) threshold: Option<f64>,
}

/// Keys of a test that are read or noted.
const KNOWN: [&str; 7] = ["description", "vars", "assert", "options", "metadata", "type", "threshold"];

/// Keys of a test that have no counterpart, and why.
pub(super) const NOT_HERE: [(&str, &str); 6] = [
    ("assertScoringFunction", "jurat has no score of a case"),
    ("provider", "jurat asks every model about every row"),
    ("providers", "jurat asks every model about every row"),
    ("prompts", "jurat asks every prompt about every row"),
    ("providerOutput", "import the results of promptfoo to judge recorded answers"),
    ("strategy", "red-team strategies are not taken over"),
];

/// `defaultTest`, or what stands for it.
pub(super) fn default_test(places: &mut Places<'_>, node: Option<&Node<'_>>, report: &mut Report) -> Test {
    let Some(node) = node else { return Test::default() };
    let Some(reference) = node.as_str() else { return test(places, node, report) };
    let at = places.at(node.span);
    let tree = places.text(reference).and_then(|(path, text)| places.tree(&path, &text));
    match tree {
        Ok(tree) => test(places, &tree, report),
        Err(why) => {
            report.dropped(&at, "`defaultTest`", why);
            Test::default()
        }
    }
}

/// The tests of a list, or of the files that stand in place of it.
pub(super) fn tests(places: &mut Places<'_>, node: &Node<'_>, report: &mut Report) -> Vec<Test> {
    let at = places.at(node.span);
    if let Some(reference) = node.as_str() {
        return of_files(places, reference, &at, report);
    }
    let Some(items) = node.as_list() else {
        report.dropped(&at, "`tests`", "tests that code or a service makes are not read");
        return Vec::new();
    };
    let mut found = Vec::new();
    for item in items {
        match item.as_str() {
            Some(reference) => found.extend(of_files(places, reference, &places.at(item.span), report)),
            None if item.get("path").is_some() && item.get("vars").is_none() => {
                report.dropped(&places.at(item.span), "tests", "tests that code makes are not read");
            }
            None => found.push(test(places, item, report)),
        }
    }
    found
}

fn of_files(places: &mut Places<'_>, reference: &str, at: &str, report: &mut Report) -> Vec<Test> {
    let what = format!("tests of `{}`", beginning(reference));
    let files = match is_pattern(reference) {
        true => places.matching(reference),
        false => Ok(vec![reference.to_owned()]),
    };
    let mut found = Vec::new();
    for file in files.unwrap_or_else(|why| {
        report.dropped(at, &what, why);
        Vec::new()
    }) {
        match of_file(places, &file, report) {
            Ok(tests) => found.extend(tests),
            Err(why) => report.dropped(at, &what, why),
        }
    }
    found
}

fn of_file(places: &mut Places<'_>, file: &str, report: &mut Report) -> Result<Vec<Test>, String> {
    if file.starts_with("http://") || file.starts_with("https://") || file.starts_with("huggingface://") {
        return Err("nothing is fetched while importing".to_owned());
    }
    match ending(file).as_str() {
        "csv" => {
            let (path, text) = places.text(file)?;
            csv_tests::tests(&path, &text, report)
        }
        "json" | "yaml" | "yml" => {
            let (path, text) = places.text(file)?;
            let tree = places.tree(&path, &text)?;
            Ok(tests(places, &tree, report))
        }
        "jsonl" => {
            let (path, text) = places.text(file)?;
            let mut found = Vec::new();
            for line in text.lines().filter(|it| !it.trim().is_empty()) {
                let tree = places.tree(&format!("{path}.json"), line)?;
                found.push(test(places, &tree, report));
            }
            Ok(found)
        }
        "xlsx" | "xls" => Err("spreadsheets are not read here; save the sheet as CSV".to_owned()),
        "js" | "ts" | "py" | "mjs" | "cjs" => Err("it is code, which is not run while importing".to_owned()),
        _ => Err("its ending says no format of tests".to_owned()),
    }
}

/// One test.
pub(super) fn test(places: &mut Places<'_>, node: &Node<'_>, report: &mut Report) -> Test {
    let at = places.at(node.span);
    let Some(entries) = node.entries() else {
        report.dropped(&at, "a test", "it is no object");
        return Test { at, ..Test::default() };
    };
    for entry in entries.iter().filter(|it| !KNOWN.contains(&&*it.key)) {
        let why =
            NOT_HERE.iter().find(|(key, _)| *key == entry.key).map_or("not known to the importer", |(_, why)| why);
        report.dropped(&places.at(entry.key_span), format!("`{}` of a test", entry.key), why);
    }
    let vars = node.get("vars").map(|it| vars(places, it, report)).unwrap_or_default();
    let assertions = node.get("assert").map(|it| specs(places, it)).unwrap_or_default();
    let value = node.to_val().into_owned();
    let map_at = |key: &str| value.get(key).and_then(Val::as_map).cloned();
    Test {
        description: text_at(&value, "description").map(str::to_owned),
        vars,
        assertions,
        options: map_at("options").map(Object::from).unwrap_or_default(),
        metadata: map_at("metadata").map(Val::Map),
        threshold: groups::threshold(value.get("threshold")),
        at,
    }
}

/// The assertions of a list, with their places.
pub(super) fn specs(places: &Places<'_>, node: &Node<'_>) -> Vec<Spec> {
    let items = node.as_list().unwrap_or(std::slice::from_ref(node));
    items.iter().map(|it| Spec { at: places.at(it.span), value: it.to_val().into_owned() }).collect()
}

/// The variables of a test. Those in files are read.
fn vars(places: &mut Places<'_>, node: &Node<'_>, report: &mut Report) -> Object {
    let Some(entries) = node.entries() else { return of_var_files(places, node, report) };
    let mut vars = Object::new();
    for entry in entries {
        let at = places.at(entry.key_span);
        match resolved(places, entry.value.to_val().into_owned()) {
            Ok(value) => vars.put(&entry.key, value),
            Err(why) => report.dropped(&at, format!("variable `{}`", entry.key), why),
        }
    }
    vars
}

/// Variables in files of their own: objects in YAML or JSON.
fn of_var_files(places: &mut Places<'_>, node: &Node<'_>, report: &mut Report) -> Object {
    let mut vars = Object::new();
    let items = node.as_list().unwrap_or(std::slice::from_ref(node));
    for item in items {
        let at = places.at(item.span);
        let Some(reference) = item.as_str() else {
            report.dropped(&at, "variables", "they are no object");
            continue;
        };
        let files = if is_pattern(reference) { places.matching(reference) } else { Ok(vec![reference.to_owned()]) };
        let read = |places: &mut Places<'_>, file: &String| {
            let (path, text) = places.text(file)?;
            places.tree(&path, &text)
        };
        match files.and_then(|it| it.iter().map(|it| read(places, it)).collect::<Result<Vec<_>, _>>()) {
            Err(why) => report.dropped(&at, format!("variables of `{}`", beginning(reference)), why),
            Ok(trees) => {
                for entry in trees.iter().flat_map(|it| it.entries().unwrap_or_default()) {
                    vars.put(&entry.key, entry.value.to_val().into_owned());
                }
            }
        }
    }
    vars
}

/// A value whose references to files are replaced by what is in them.
fn resolved(places: &mut Places<'_>, value: Value) -> Result<Value, String> {
    match &value {
        Val::Str(it) if it.starts_with("file://") => in_file(places, it),
        Val::Str(it) if it.starts_with("package:") || it.starts_with("exec:") => Err("it is code".to_owned()),
        Val::List(items) => items.iter().map(|it| resolved(places, it.clone())).collect(),
        _ => Ok(value),
    }
}

fn in_file(places: &mut Places<'_>, reference: &str) -> Result<Value, String> {
    if is_pattern(reference) {
        let files = places.matching(reference)?;
        return files.iter().map(|it| in_file(places, it)).collect();
    }
    match ending(reference).as_str() {
        "txt" | "md" | "csv" | "html" | "xml" | "tsv" => Ok(text(places.text(reference)?.1.trim_end())),
        "json" => Ok(maybe_json(&places.text(reference)?.1)),
        "yaml" | "yml" => {
            let (path, content) = places.text(reference)?;
            Ok(places.tree(&path, &content)?.into_val().into_owned())
        }
        ending => Err(format!("files that end in `.{ending}` are not read")),
    }
}

/// Variables, with lists written out: one object for each combination, the first list changing slowest.
pub(super) fn combinations(vars: &Object) -> Vec<Map<'static>> {
    let mut all: Vec<Map<'static>> = vec![Map::default()];
    for (key, value) in vars.members() {
        let values = match value {
            // Promptfoo looks at the first item alone: a list that begins with a text stands for several tests, any other is one value.
            Val::List(items) if matches!(items.first(), Some(Val::Str(_))) => items.clone(),
            other => vec![other.clone()],
        };
        let longer = all.iter().flat_map(|map| {
            values.iter().map(|it| {
                let mut map = map.clone();
                map.insert(key.to_owned().into(), it.clone());
                map
            })
        });
        all = longer.take(MAX_COMBINATIONS).collect();
    }
    all
}

/// The most rows that one test becomes: ten lists of ten values would be more than a computer can hold.
pub(super) const MAX_COMBINATIONS: usize = 10_000;
