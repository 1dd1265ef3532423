//! Configurations of promptfoo: prompts, providers, tests and assertions become a suite with its rows.
//!
//! Each file here is a part of a configuration; `assertion` has a file for each family of assertions. What a configuration leaves to code,
//! services or template logic is dropped, with its line.

mod application;
mod assertion;
mod csv_tests;
mod draft;
mod groups;
mod jinja;
mod pattern;
mod places;
mod prompts;
mod providers;
mod results;
mod suite;
mod template;
mod tests;
mod transform;

use jurat_format::value::{Node, Val, Value};

use crate::input::{Content, Input};
use crate::kind::{Import, ImportError, Kind};

use places::Places;
pub(crate) use results::RESULTS;
use suite::Suite;

pub(crate) static CONFIG: Kind = Kind {
    name: "promptfoo",
    help: "a configuration of promptfoo",
    recognises: |input| tree(input).is_some_and(|it| is_config(&it)),
    read,
};

fn tree(input: &Input) -> Option<Value> {
    match &input.content {
        Content::Json(value, _) => Some(value.clone()),
        Content::Text(text) => {
            let mut problems = Vec::new();
            let source = jurat_format::source::Sources::default().add("", "");
            let tree = jurat_format::yaml::read_tree(text, source, false, &mut problems)?;
            Some(tree.into_val().into_owned())
        }
        _ => None,
    }
}

fn is_config(value: &Value) -> bool {
    let has = |key: &str| value.get(key).is_some();
    let is_result = has("results") || has("evalId");
    let is_suite = has("suite") || has("records") || has("tasks");
    !is_result
        && !is_suite
        && (has("prompts") || has("providers") || has("targets"))
        && (has("tests") || has("scenarios") || has("defaultTest") || has("providers") || has("targets"))
}

/// Top-level keys without a counterpart, and why.
const NOT_HERE: [(&str, &str); 9] = [
    ("redteam", "red-team tests are not taken over"),
    ("derivedMetrics", "jurat computes no metrics from others"),
    ("extensions", "code that changes a run is not run"),
    ("nunjucksFilters", "filters are code"),
    ("env", "jurat takes variables from the environment and from `.env`"),
    ("sharing", "runs of jurat stay on the machine"),
    ("tracing", "import the traces themselves"),
    ("commandLineOptions", "options of `jurat run` are given on its command line"),
    ("evaluateOptions", "options of `jurat run`: `--repeat N`, `-j N`, `--fresh`"),
];

/// Keys that need no counterpart.
const SILENT: [&str; 6] = ["description", "$schema", "version", "tags", "outputPath", "writeLatestResults"];

/// Keys that are read.
const READ: [&str; 7] = ["prompts", "providers", "targets", "tests", "scenarios", "defaultTest", "assertionTemplates"];

fn read(import: &mut Import<'_>) -> Result<(), ImportError> {
    let [input] = import.inputs else {
        let name = import.inputs.get(1).map_or("promptfoo", |it| it.name.as_str());
        return Err(ImportError::unreadable(name, "configurations of promptfoo are imported one at a time"));
    };
    let mut places = Places::new(import.folder);
    let text = input.text().ok_or_else(|| ImportError::unreadable(&input.name, "it is no text"))?;
    let tree = places.tree(&input.name, text).map_err(|why| ImportError::unreadable(&input.name, why))?;
    if tree.entries().is_none() {
        return Err(ImportError::unreadable(&input.name, "a configuration is an object"));
    }
    note_others(&mut places, &tree, import);
    let report = &mut import.report;
    let default = tests::default_test(&mut places, tree.get("defaultTest"), report);
    let around = ["prefix", "suffix"].into_iter().find(|it| default.options.get(it).is_some());
    let prompts = prompts::prompts(&mut places, tree.get("prompts"), &input.name, around, report);
    let mut suite = Suite::new(&mut places, report, default);
    suite.templates = tree.get("assertionTemplates").map(|it| it.to_val().into_owned());
    suite.subjects(tree.get("providers").or_else(|| tree.get("targets")));
    suite.note_default();
    suite.cases(&tree);
    suite.assertions();
    let name = import.options.name.clone().unwrap_or_else(|| stem(&input.name));
    let description = tree.get("description").and_then(Node::as_str).map(str::to_owned);
    let finished = suite.finish(&name, description, &prompts);
    finished.write(import)?;
    Ok(())
}

fn note_others(places: &mut Places<'_>, tree: &Node<'_>, import: &mut Import<'_>) {
    for entry in tree.entries().unwrap_or_default() {
        if SILENT.contains(&&*entry.key) || READ.contains(&&*entry.key) || matches!(entry.value.to_val(), Val::Null) {
            continue;
        }
        let why =
            NOT_HERE.iter().find(|(key, _)| *key == entry.key).map_or("not known to the importer", |(_, why)| why);
        import.report.dropped(&places.at(entry.key_span), format!("`{}`", entry.key), why);
    }
}

fn stem(name: &str) -> String {
    let file = name.rsplit('/').next().unwrap_or(name);
    file.split('.').next().unwrap_or(file).to_owned()
}
