//! What changes is asked again, and nothing else.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use jurat_testkit::{Endpoint, Reply, Script};
use serde_json::json;

use crate::project::Project;
use crate::suites::rows;

const ROWS: usize = 6;

/// Ten judges, of which `t6` reads `t5`, `t7` reads `t6`, and `t8` waits for `t5` without reading it.
fn ten_tasks() -> String {
    let mut suite = "suite: ten\nrecords: rows.jsonl\nmodels: { judge: openai/judge }\ntasks:\n".to_owned();
    for n in 1..=10 {
        let (depends_on, reads) = match n {
            6 | 7 => (format!("[t{}]", n - 1), format!(" after ${{t{}.note}}", n - 1)),
            8 => ("[t5]".to_owned(), String::new()),
            _ => ("[]".to_owned(), String::new()),
        };
        let judge = format!("{{ prompt: 't{n} of ${{answer}}{reads}', output: {{ note: string }} }}");
        let _ = writeln!(
            suite,
            "  - {{ id: t{n}, depends_on: {depends_on}, judge: {judge}, field_path: note, operator: contains, expected_value: note }}"
        );
    }
    suite
}

/// An endpoint whose every answer depends on the whole question.
fn endpoint() -> Endpoint {
    let script = Script::answering(|request| Reply::json(json!({ "note": format!("note {:x}", request.seed()) })));
    Endpoint::start(script.keep_requests())
}

/// How often each task has asked since this was looked at last.
fn asked(endpoint: &Endpoint) -> BTreeMap<String, usize> {
    let mut asked = BTreeMap::new();
    for request in endpoint.requests() {
        let task = request.prompt.split(' ').next().unwrap_or_default();
        *asked.entry(task.to_owned()).or_default() += 1;
    }
    endpoint.reset();
    asked
}

fn times(tasks: &[&str], n: usize) -> BTreeMap<String, usize> {
    tasks.iter().map(|it| ((*it).to_owned(), n)).collect()
}

#[test]
fn only_what_changed_and_what_reads_it_is_asked_again() {
    let endpoint = endpoint();
    let suite = ten_tasks();
    let project = Project::new(&suite, &rows(ROWS), &endpoint.url());
    let run = || {
        let ended = project.results(&[]);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        asked(&endpoint)
    };
    let all: Vec<String> = (1..=10).map(|it| format!("t{it}")).collect();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    assert_eq!(run(), times(&all, ROWS));
    assert_eq!(run(), BTreeMap::new(), "nothing changed");

    project.write("suite.yaml", &suite.replace("'t5 of", "'t5 once more of"));
    assert_eq!(run(), times(&["t5", "t6", "t7"], ROWS), "the one that changed, and those that read it");

    project.write("suite.yaml", &suite);
    assert_eq!(run(), BTreeMap::new(), "what was changed back was asked before");

    project.write("suite.yaml", &suite.replace("id: t10, ", "id: t11, description: another name, "));
    assert_eq!(run(), BTreeMap::new(), "a judge is known by what it asks, not by its name");

    project.write("suite.yaml", &suite.replacen("expected_value: note", "expected_value: n", 1));
    assert_eq!(run(), BTreeMap::new(), "what is compared is not asked");

    project.write("suite.yaml", &suite);
    project.write("rows.jsonl", &rows(ROWS + 1).replace("answer 2", "another answer 2"));
    assert_eq!(run(), times(&all, 2), "one row changed, and one is new");
}
