//! A definition from its files: what is named, what that includes, all problems at once.

use std::path::{Component, Path, PathBuf};

use jurat_format::codes;
use jurat_format::problem::{Problem, Problems};
use jurat_format::reader::Reading;
use jurat_format::source::{Files, Sources};
use jurat_format::value::{Node, SourceId, Span};
use jurat_format::yaml::read_tree;

use super::{Suite, calls, cases, head, sections};
use crate::compat::karenina::scenario as stored;
use crate::evaluator::{Scripts, Unread};
use crate::gate::policy::{self, Policy};
use crate::{foreign, text_file};

use text_file::at;

/// How many files a definition may have.
const MAX_FILES: usize = 256;

/// The result of reading a definition.
#[derive(Debug)]
pub struct Loaded {
    /// The definition, as far as it could be read; with problems it may lack parts.
    pub suite: Suite,
    /// The texts it was read from.
    pub sources: Sources,
    /// Everything that is wrong with it.
    pub problems: Vec<Problem>,
}

/// Reads a definition and what it includes. The parameters of functions of TypeScript and JavaScript are not read.
pub fn load(path: &Path, files: &dyn Files) -> Loaded {
    load_with(path, files, &Unread)
}

/// Reads a definition and what it includes, with a reader for the scripts in it.
pub fn load_with(path: &Path, files: &dyn Files, scripts: &dyn Scripts) -> Loaded {
    let mut loading = Loading {
        reading: Reading { problems: Problems::default(), sources: Sources::default(), files },
        suite: Suite::default(),
        open: Vec::new(),
        done: Vec::new(),
    };
    loading.file(path, None);
    let Loading { mut reading, mut suite, .. } = loading;
    calls::read_script_signatures(&mut suite, &mut reading, scripts);
    calls::join(&mut suite, &mut reading);
    cases::join_evaluation(&mut suite);
    calls::join_groups(&mut suite);
    Loaded { suite, sources: reading.sources, problems: reading.problems.into_vec() }
}

/// Reads a file with a policy: the object that stands under `gates` in a suite, alone or under that key.
pub fn load_policy(path: &Path, files: &dyn Files) -> (Option<Policy>, Sources, Vec<Problem>) {
    let mut reading = Reading { problems: Problems::default(), sources: Sources::default(), files };
    let mut policy = None;
    if let Some(text) = text_file::read(&mut reading, path, None) {
        let source = reading.sources.add(path, text);
        let text = reading.sources.get(source).map(|it| it.text.clone()).unwrap_or_default();
        let mut problems = Vec::new();
        let node = read_tree(&text, source, false, &mut problems);
        reading.problems.extend(problems);
        if let Some(node) = &node {
            policy::read(&mut reading, &mut policy, node.get("gates").unwrap_or(node));
        }
    }
    (policy, reading.sources, reading.problems.into_vec())
}

struct Loading<'f> {
    reading: Reading<'f>,
    suite: Suite,
    /// The files that are being read, each included by the one before it.
    open: Vec<PathBuf>,
    done: Vec<PathBuf>,
}

impl Loading<'_> {
    fn file(&mut self, path: &Path, named_at: Option<Span>) {
        let path = tidy(path);
        if self.open.contains(&path) {
            self.reading.problem(include_cycle(&self.open, &path, named_at));
            return;
        }
        // A file that is included along two ways counts once.
        if self.done.contains(&path) {
            return;
        }
        if self.done.len() + self.open.len() >= MAX_FILES {
            let problem = Problem::new(&codes::TOO_LARGE, format!("a definition of more than {MAX_FILES} files"));
            self.reading.problem(at(problem, named_at, "one too many"));
            return;
        }
        let Some(text) = text_file::read(&mut self.reading, &path, named_at) else {
            self.suite.lost.add_file();
            return;
        };
        if self.open.is_empty() && is_data(&path) {
            self.reading.problem(rows_for_a_suite(&path));
            self.suite.lost.add_file();
            return;
        }
        let source = self.reading.sources.add(&path, text);
        self.open.push(path.clone());
        self.read(source, &path);
        self.open.pop();
        self.done.push(path);
    }

    fn read(&mut self, source: SourceId, path: &Path) {
        let is_json =
            path.extension().is_some_and(|it| it.eq_ignore_ascii_case("json") || it.eq_ignore_ascii_case("jsonld"));
        let text = self.reading.sources.get(source).map(|it| it.text.clone()).unwrap_or_default();
        let mut problems = Vec::new();
        let node = match text.trim() {
            "" => None,
            _ => read_tree(&text, source, is_json, &mut problems),
        };
        let is_broken = node.is_none() && !problems.is_empty();
        self.reading.problems.extend(problems);
        let is_main = self.open.len() == 1;
        let Some(node) = node else {
            if is_broken {
                self.suite.lost.add_file();
            } else if is_main {
                // Nothing, or nothing but comments. As an included file that is no trouble.
                self.suite.lost.add_file();
                let problem =
                    Problem::new(&codes::NO_TASKS, "an empty definition").at(Span::new(source, 0..0), "nothing here");
                self.reading.problem(problem.help("start with `suite: NAME`, then `records` and `tasks`"));
            }
            return;
        };
        if self.stored(&node, is_main) {
            return;
        }
        if let Some(problem) = foreign::other_configuration(&node) {
            self.reading.problem(problem);
            self.suite.lost.add_file();
            return;
        }
        let Some(fields) = sections::SUITE.fields(&mut self.reading, &node) else {
            self.suite.lost.add_file();
            return;
        };
        // What is included comes first, so that a file reads like a library followed by its use.
        for file in fields.read(&mut self.reading, &head::INCLUDE).unwrap_or_default() {
            let path = self.reading.beside(file.span, &file.value);
            self.file(&path, Some(file.span));
        }
        sections::read(&mut self.reading, &fields, &mut self.suite, is_main);
    }
}

impl Loading<'_> {
    /// Reads a file that another program has written. Answers whether it is such a file.
    fn stored(&mut self, node: &Node<'_>, is_main: bool) -> bool {
        let Some(file) = stored::stored_file(&mut self.reading, node) else { return false };
        if is_main {
            (self.suite.head, self.suite.name) = (file.head, file.name);
        }
        if file.scenarios.is_empty() {
            self.suite.lost.add_file();
        }
        for scenario in file.scenarios {
            cases::add_scenario(&mut self.reading, &mut self.suite, None, scenario);
        }
        true
    }
}

/// Whether a file holds rows, by its name.
fn is_data(path: &Path) -> bool {
    let extension = path.extension().and_then(|it| it.to_str()).unwrap_or_default();
    ["jsonl", "ndjson", "csv", "tsv", "tab", "parquet", "xlsx", "arrow", "feather"]
        .iter()
        .any(|it| extension.eq_ignore_ascii_case(it))
}

fn rows_for_a_suite(path: &Path) -> Problem {
    let message = format!("`{}` holds rows, and a suite is needed here", path.display());
    let name = path.file_name().unwrap_or_default().display();
    let problem = Problem::new(&codes::NOT_READABLE, message);
    problem.help(format!(
        "write a suite (YAML) with `records: {name}` and `tasks`, and name that file; `jurat init` makes an example"
    ))
}

fn include_cycle(open: &[PathBuf], path: &Path, named_at: Option<Span>) -> Problem {
    let from = open.iter().position(|it| it == path).unwrap_or(0);
    if open[from..].len() == 1 {
        let problem = Problem::new(&codes::INCLUDE_CYCLE, format!("`{}` includes itself", path.display()));
        return at(problem, named_at, "the file that this stands in").help("drop it");
    }
    let names: Vec<String> =
        open[from..].iter().map(PathBuf::as_path).chain([path]).map(|it| format!("`{}`", it.display())).collect();
    let problem = Problem::new(&codes::INCLUDE_CYCLE, format!("files include each other: {}", names.join(" → ")));
    at(problem, named_at, "closes the circle").help("move what both need into a third file")
}

/// `a/./b/../c` → `a/c`, without asking the file system: two names of one file are found, links are not followed.
fn tidy(path: &Path) -> PathBuf {
    let mut tidy = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if matches!(tidy.components().next_back(), Some(Component::Normal(_))) => {
                tidy.pop();
            }
            part => tidy.push(part),
        }
    }
    if tidy.as_os_str().is_empty() { PathBuf::from(".") } else { tidy }
}
