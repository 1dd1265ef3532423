//! Proof that problems are not a list of favourites: every key of every example is renamed, dropped or retyped, every name
//! misspelt, and nearly always a problem touches the place that was changed.
//!
//! Some changes leave a valid suite that means something else, and no check can find that: an optional key dropped, a free name
//! that is not referred to. Those are no mutants. What is required, and what refers to what, is decided here from the text
//! alone, not by asking the reader.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;

use jurat_compare::find;
use jurat_format::value::{Content, Node, SourceId, parse_json};
use jurat_format::yaml::read_tree;

use crate::command::path_with_agents;

/// A change to a definition, and the lines that a problem about it should touch.
pub(crate) struct Mutant {
    pub(crate) what: String,
    pub(crate) text: String,
    /// In the changed text.
    touched: Range<usize>,
}

#[test]
fn problems_touch_what_was_changed() {
    let examples = examples();
    assert!(examples.len() >= 3, "the examples are gone: {examples:?}");
    let (mut n_mutants, mut survivors) = (0, Vec::new());
    for example in examples {
        let text = fs::read_to_string(&example).unwrap();
        let folder = copied(example.parent().unwrap());
        let suite = folder.path().join("suite.yaml");
        assert_eq!(touched_lines(&suite), Vec::<Range<usize>>::new(), "{} is not clean", example.display());
        for mutant in mutants(&text) {
            n_mutants += 1;
            fs::write(&suite, &mutant.text).unwrap();
            let lines = lines_of(&mutant.text, &mutant.touched);
            if !touched_lines(&suite).iter().any(|it| it.start < lines.end && lines.start < it.end) {
                survivors.push(format!("{}: {}", example.display(), mutant.what));
            }
        }
    }
    assert!(n_mutants > 300, "only {n_mutants} mutants");
    let share = 1.0 - survivors.len() as f64 / n_mutants as f64;
    println!("{n_mutants} mutants, {:.1} % found; not found:\n{}", share * 100.0, survivors.join("\n"));
    assert!(share >= 0.98, "{:.1} % of {n_mutants} found; not found:\n{}", share * 100.0, survivors.join("\n"));
}

pub(crate) fn examples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut suites: Vec<PathBuf> = fs::read_dir(folder)
        .expect("the examples")
        .map(|it| it.expect("an example").path().join("suite.yaml"))
        .collect();
    suites.retain(|it| it.is_file());
    suites.sort();
    suites
}

fn copied(folder: &Path) -> tempfile::TempDir {
    fn copy(from: &Path, to: &Path) {
        for entry in fs::read_dir(from).expect("a folder").map(|it| it.expect("a file")) {
            let to = to.join(entry.file_name());
            if entry.path().is_dir() {
                fs::create_dir(&to).expect("a new folder");
                copy(&entry.path(), &to);
            } else {
                fs::copy(entry.path(), to).expect("a copy");
            }
        }
    }
    let copied = tempfile::tempdir().expect("a temporary folder");
    copy(folder, copied.path());
    copied
}

/// The lines of `suite.yaml` that the problems of a suite point at.
fn touched_lines(suite: &Path) -> Vec<Range<usize>> {
    let output = Command::new(env!("CARGO_BIN_EXE_jurat"))
        .args(["check", "--json"])
        .arg(suite)
        .env("PATH", path_with_agents())
        .envs(["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"].map(|it| (it, "sk-test")))
        .output()
        .expect("the command runs");
    let json = String::from_utf8(output.stdout).expect("JSON is text");
    let report = parse_json(&json).unwrap_or_else(|error| panic!("{error}: {json}")).value;
    let problems = report.get("problems").and_then(|it| it.as_list()).expect("a list of problems");
    let labels = problems.iter().flat_map(|it| it.get("labels").and_then(|it| it.as_list()).unwrap_or(&[]));
    let in_suite =
        labels.filter(|it| it.get("file").and_then(|it| it.as_str()).is_some_and(|it| it.ends_with("suite.yaml")));
    let line = |label: &jurat_format::value::Val<'_>, key: &str| {
        label.get(key).and_then(jurat_format::value::Val::as_f64).expect("a line") as usize
    };
    in_suite.map(|it| line(it, "line")..line(it, "end_line") + 1).collect()
}

fn lines_of(text: &str, bytes: &Range<usize>) -> Range<usize> {
    let line = |at: usize| text[..at.min(text.len())].matches('\n').count() + 1;
    line(bytes.start)..line(bytes.end) + 1
}

pub(crate) fn mutants(text: &str) -> Vec<Mutant> {
    let mut problems = Vec::new();
    let root = read_tree(text, SourceId(0), false, &mut problems).expect("an example is YAML");
    let mut walk = Walk { text, root: &root, mutants: Vec::new() };
    walk.node(&root, "");
    walk.names();
    walk.mutants
}

struct Walk<'t> {
    text: &'t str,
    root: &'t Node<'static>,
    mutants: Vec<Mutant>,
}

impl Walk<'_> {
    /// Replaces bytes; a problem should touch the replacement, or `about` when there is nothing left to touch.
    fn replace(&mut self, what: String, bytes: Range<usize>, with: &str, about: Option<Range<usize>>) {
        let text = format!("{}{with}{}", &self.text[..bytes.start], &self.text[bytes.end..]);
        let shift = |at: usize| if at >= bytes.end { at + with.len() - bytes.len() } else { at };
        let touched = about.map_or(bytes.start..bytes.start + with.len().max(1), |it| shift(it.start)..shift(it.end));
        self.mutants.push(Mutant { what, text, touched });
    }

    /// Renames, retypes and drops every key below an object; `place` is the path of keys that leads to it.
    fn node(&mut self, node: &Node<'static>, place: &str) {
        if let Some(items) = node.as_list() {
            items.iter().for_each(|item| self.node(item, place));
        }
        for entry in node.entries().unwrap_or(&[]) {
            let here = format!("{place}.{}", entry.key);
            // Rows, and what a comparison is given, are data: any key and any type may stand there.
            if here == ".records" && entry.value.as_list().is_some() || here.ends_with("expected_value.") {
                continue;
            }
            let is_free_name = matches!(
                place,
                ".models" | ".records.types" | ".thresholds.tasks" | ".tasks.operator.normalize.mapping"
            ) || is_output_field(place);
            if !is_free_name {
                self.replace(format!("rename {here}"), entry.key_span.range(), &format!("{}_x", entry.key), None);
            }
            self.retype(&here, node, entry);
            if self.is_required(&here, node) {
                self.drop(&here, node, entry);
            }
            if !here.ends_with(".expected_value") {
                self.node(&entry.value, &here);
            }
        }
    }

    fn retype(&mut self, here: &str, object: &Node<'static>, entry: &jurat_format::value::Entry<'static>) {
        let with = match &entry.value.content {
            Content::Scalar(_) => "{ zz: [1] }",
            Content::List(_) | Content::Map(_) => "17",
        };
        // Equality with what each case supplies, and free text about it, may be anything.
        let compares_anything = here.ends_with(".expected_value") && self.context_supplies(object);
        if !compares_anything {
            let value = entry.value.span.range();
            // A block starts on a line of its own; the replacement stands right after the key.
            let start = if self.text[entry.key_span.range().end..value.start].contains('\n') {
                entry.key_span.range().end + 1
            } else {
                value.start
            };
            let with = if start < value.start || self.text[..start].ends_with(':') {
                format!(" {with}")
            } else {
                with.to_owned()
            };
            let (bytes, about) = (start..value.end, entry.key_span.range().start..start + 1);
            self.replace(format!("retype {here}"), bytes, &with, Some(about));
        }
    }

    fn context_supplies(&self, object: &Node<'static>) -> bool {
        let path = object.get("field_path").and_then(Node::as_str).unwrap_or_default();
        path.contains("@json")
    }

    fn drop(&mut self, here: &str, object: &Node<'static>, entry: &jurat_format::value::Entry<'static>) {
        let (start, end) = (entry.key_span.range().start, entry.value.span.range().end);
        let is_flow = self.text[object.span.range().start..].starts_with('{');
        let bytes = if is_flow {
            let end = end + self.text[end..].find(|it: char| it != ',' && it != ' ').unwrap_or(0);
            start..end
        } else {
            // The rest of the line goes too; the first key of an item leaves its dash.
            let line = self.text[..start].rfind('\n').map_or(0, |it| it + 1);
            let is_first = self.text[line..start].contains('-');
            let end = end + self.text[end..].find('\n').map_or(0, |it| it + 1);
            let next = end + self.text[end..].find(|it: char| it != ' ').unwrap_or(0);
            if is_first { start..next } else { line..end }
        };
        // An object that lost its only key is gone; what is left is the key that held it, on the line before.
        let about = object.span.range();
        let is_only = object.entries().is_some_and(|it| it.len() == 1);
        let from = if is_only { self.text[..about.start].trim_end().len() - 1 } else { about.start };
        self.replace(format!("drop {here}"), bytes, "", Some(from..about.end));
    }

    /// Whether a suite without this key is wrong, or means something that another part of it contradicts.
    fn is_required(&self, here: &str, object: &Node<'static>) -> bool {
        let text = |key: &str| object.get(key).and_then(Node::as_str);
        match here.rsplit('.').next().unwrap_or_default() {
            "records" | "tasks" if here.matches('.').count() == 1 => true,
            "id" if here.contains(".tasks") => true,
            "path" | "prompt" | "file" | "type" => true,
            "operator" => object.get("judge").is_none(),
            "expected_value" => {
                let operator = object.get("operator");
                let name =
                    operator.and_then(Node::as_str).or(operator.and_then(|it| it.get("type")).and_then(Node::as_str));
                name.and_then(|it| find(it).first().map(|it| it.operand.is_required())).unwrap_or(false)
            }
            "substrings" | "pattern" | "cutoff" | "margin" | "tolerance" => true,
            "output" => text("field_path").is_some() || object.get("prompt").is_some(),
            "depends_on" => {
                let dependencies = object.get("depends_on").and_then(Node::as_list).unwrap_or(&[]);
                let read = object
                    .get("assert")
                    .and_then(|it| it.get("field_path"))
                    .and_then(Node::as_str)
                    .or(text("field_path"));
                dependencies
                    .iter()
                    .filter_map(Node::as_str)
                    .any(|id| read.is_some_and(|it| it.starts_with(&format!("{id}."))))
            }
            _ => false,
        }
    }

    /// Misspells every reference to a name, and every name that something refers to.
    fn names(&mut self) {
        let tasks = self.root.get("tasks").and_then(Node::as_list).unwrap_or(&[]);
        for task in tasks {
            for reference in task.get("depends_on").and_then(Node::as_list).unwrap_or(&[]) {
                self.misspell("depends_on", reference.span.range());
            }
            let id = task.get("id").expect("a task has an id");
            if self.is_referred_to(id.as_str().unwrap_or_default()) {
                self.misspell("id", id.span.range());
            }
            for path in
                [task.get("field_path"), task.get("assert").and_then(|it| it.get("field_path"))].into_iter().flatten()
            {
                let first = path.as_str().unwrap_or_default().split('.').next().unwrap_or_default().len();
                let span = path.span.range();
                self.misspell("the first name of field_path", span.start..span.start + first);
            }
            let fields = task.get("judge").and_then(|it| it.get("output")).and_then(Node::entries).unwrap_or(&[]);
            for field in fields {
                if self.is_read(id.as_str().unwrap_or_default(), task, &field.key) {
                    self.misspell("an output field", field.key_span.range());
                }
            }
        }
        for role in self.root.get("models").and_then(Node::entries).unwrap_or(&[]) {
            self.misspell("a role", role.key_span.range());
        }
        let thresholds =
            self.root.get("thresholds").and_then(|it| it.get("tasks")).and_then(Node::entries).unwrap_or(&[]);
        for threshold in thresholds {
            self.misspell("a threshold", threshold.key_span.range());
        }
    }

    /// Leaves out a letter in the middle.
    fn misspell(&mut self, what: &str, bytes: Range<usize>) {
        let name = &self.text[bytes.clone()];
        let middle = name.len() / 2;
        let misspelt = format!("{}{}", &name[..middle], &name[middle + 1..]);
        self.replace(format!("misspell {what} `{name}`"), bytes, &misspelt, None);
    }

    fn is_referred_to(&self, id: &str) -> bool {
        let tasks = self.root.get("tasks").and_then(Node::as_list).unwrap_or(&[]);
        let depends = |it: &Node<'static>| {
            it.get("depends_on").and_then(Node::as_list).is_some_and(|it| it.iter().any(|it| it.as_str() == Some(id)))
        };
        tasks.iter().any(depends)
    }

    fn is_read(&self, id: &str, judge: &Node<'static>, field: &str) -> bool {
        let tasks = self.root.get("tasks").and_then(Node::as_list).unwrap_or(&[]);
        let path = |it: &Node<'static>| {
            it.get("field_path")
                .or(it.get("assert").and_then(|it| it.get("field_path")))
                .and_then(Node::as_str)
                .map(str::to_owned)
        };
        path(judge).as_deref() == Some(field) || tasks.iter().filter_map(path).any(|it| it == format!("{id}.{field}"))
    }
}

fn is_output_field(place: &str) -> bool {
    place.contains(".output")
}
