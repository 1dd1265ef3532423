//! The pages of `jurat view`: each is there, each has its data, no link is dead, and nothing that data says becomes markup.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::command::{Folder, root};
use crate::viewer::Viewer;

/// A copy of an example, run from its recording.
pub(crate) fn example(name: &str) -> Folder {
    let folder = Folder::empty();
    copy(&root().join("examples").join(name), folder.path());
    let ended = folder.jurat(&["run", "suite.yaml", "--replay", "effects.jsonl"]);
    assert!(matches!(ended.code, Some(0 | 1)), "{ended:?}");
    folder
}

pub(crate) fn copy(from: &std::path::Path, to: &std::path::Path) {
    for entry in std::fs::read_dir(from).expect("examples can be listed") {
        let entry = entry.expect("examples can be listed");
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            if entry.file_name() != ".jurat" {
                std::fs::create_dir_all(&target).expect("folders can be made");
                copy(&entry.path(), &target);
            }
        } else {
            std::fs::copy(entry.path(), target).expect("files can be copied");
        }
    }
}

/// All addresses of this server that a page leads to.
fn links(page: &str) -> BTreeSet<String> {
    let parts = page.split("href=\"").skip(1).filter_map(|it| it.split('"').next());
    parts.filter(|it| it.starts_with('/')).map(|it| it.replace("&amp;", "&")).collect()
}

/// Follows links from the first page, at most this many, and returns what was seen.
fn crawl(viewer: &Viewer, most: usize) -> Vec<(String, String)> {
    let (mut open, mut seen, mut pages) = (vec!["/".to_owned()], BTreeSet::new(), Vec::new());
    while let Some(path) = open.pop() {
        if pages.len() == most || !seen.insert(path.clone()) {
            continue;
        }
        let response = viewer.get(&path);
        // What is compared is made by another part.
        if path.starts_with("/compare") {
            continue;
        }
        assert_eq!(response.status, 200, "{path}: {}", response.body);
        if response.header("content-type").is_some_and(|it| it.starts_with("text/html")) {
            open.extend(links(&response.body));
        } else if path.contains(".json") && !path.contains("/text") {
            let data: Value = serde_json::from_str(&response.body).unwrap_or_else(|error| panic!("{path}: {error}"));
            assert!(data["version"].is_u64(), "{path}");
        }
        pages.push((path, response.body));
    }
    pages
}

#[test]
fn every_link_leads_somewhere_and_every_page_has_its_data() {
    for name in ["appliances", "scenarios/sycophancy"] {
        let folder = example(name);
        let viewer = Viewer::start(&folder, &[]);
        let pages = crawl(&viewer, 150);
        assert!(pages.len() > 40, "{name}: only {} pages", pages.len());
        for (path, page) in &pages {
            assert!(!page.contains(" style=") && !page.contains("<style") && !page.contains(" onclick"), "{path}");
            if page.starts_with("<!DOCTYPE") {
                assert_eq!(page.matches("<h1").count(), 1, "{path}");
            }
        }
    }
}

#[test]
fn a_case_shows_what_explain_knows() {
    let folder = example("appliances");
    let viewer = Viewer::start(&folder, &[]);
    let id = viewer.data("/.json")["runs"][0]["run_id"].as_str().expect("there is a run").to_owned();
    let page = viewer.page(&format!("/runs/{id}/cases/oven-smoke?task=kitchen_expert&q=verdict:failed"));
    for text in [
        "expected true, found false",
        "In the words of the judge",
        "1 of 4 in",
        "is_kitchen",
        "Schema of the answer",
        "from the log",
    ] {
        assert!(page.contains(text), "{text}");
    }
    // A skipped task names its gate and leads to it.
    assert!(page.contains("skipped: see <a href=\"/runs/"), "{page}");
    let explained: Value =
        serde_json::from_str(&folder.jurat(&["explain", "oven-smoke", "kitchen_expert", "--json"]).stdout)
            .expect("it is JSON");
    let shown = viewer.data(&format!("/runs/{id}/cases/oven-smoke.json"));
    let tasks = shown["tasks"].as_array().expect("tasks are listed");
    assert!(tasks.contains(&explained), "{tasks:?}");
    let missing = viewer.get(&format!("/runs/{id}/cases/nothing"));
    assert_eq!(missing.status, 404);
}

#[test]
fn a_conversation_stands_beside_its_graph() {
    let folder = example("scenarios/sycophancy");
    let viewer = Viewer::start(&folder, &[]);
    let id = viewer.data("/.json")["runs"][0]["run_id"].as_str().expect("there is a run").to_owned();
    let cases = viewer.data(&format!("/runs/{id}/cases.json"));
    let case = cases["cases"][0]["id"].as_str().expect("there is a case").to_owned();
    let page = viewer.page(&format!("/runs/{id}/cases/{case}?turn=1"));
    for text in ["Conversation", "Turn 1", "<svg class=\"drawing\"", "aria-current=\"true\"", "Outcomes"] {
        assert!(page.contains(text), "{text}: {page}");
    }
    let graph = viewer.page(&format!("/runs/{id}/graph"));
    assert!(graph.contains("<svg class=\"drawing\""), "{graph}");
}

/// Texts that would become markup, script or another order if they were not escaped.
const HOSTILE: [&str; 9] = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "' onmouseover='alert(1)",
    "</title></head><body onload=alert(1)>",
    "<svg/onload=alert(1)>",
    "javascript:alert(1)",
    "&lt;b&gt;&amp;",
    "\u{202e}gnp.exe\u{200b}",
    "a\u{1b}[31m\r\nb\u{0}c",
];

#[test]
fn hostile_texts_stay_texts_on_every_page() {
    let mut rows = String::new();
    for (ix, text) in HOSTILE.iter().enumerate() {
        let text = serde_json::to_string(text).expect("a text is JSON");
        rows += &format!("{{\"id\": {text}, \"kind\": {text}, \"reply\": {text}, \"n\": {ix}}}\n");
    }
    let name = "<script>alert(2)</script>";
    let suite = serde_json::json!({
        "suite": name,
        "description": "<img src=x onerror=alert(3)>",
        "records": { "path": "rows.jsonl" },
        "group_by": ["kind"],
        "tasks": [
            { "id": "says_hi", "description": name, "field_path": "reply", "operator": "contains", "expected_value": "<i>hi</i>" },
            { "id": "number", "field_path": "reply", "operator": "greater_than", "expected_value": 3 },
        ],
    });
    let folder = Folder::with("suite.json", suite.to_string()).and("rows.jsonl", rows);
    let ended = folder.jurat(&["run", "suite.json"]);
    assert!(ended.code.is_some_and(|it| it != 2), "{ended:?}");
    let viewer = Viewer::start(&folder, &[]);
    let pages = crawl(&viewer, 150);
    assert!(pages.len() > 40, "only {} pages", pages.len());
    for (path, page) in pages.iter().filter(|(_, it)| it.starts_with("<!DOCTYPE")) {
        let lower = page.to_lowercase();
        for tag in ["<script>", "<img", "<svg/", "<b>", "<i>hi", "<body onload", "href=\"javascript:"] {
            assert!(!lower.contains(tag), "{path}: {tag}");
        }
        assert_eq!(lower.matches("<script").count(), 2, "{path}");
        // What the reader wrote into a field stays as it is.
        let shown: Vec<&str> =
            page.split(" value=\"").map(|it| it.split_once('"').map_or(it, |(_, rest)| rest)).collect();
        let shown = format!("{}{}", page.split(" value=\"").next().unwrap_or_default(), shown[1..].concat());
        let hazard = shown.find(['\u{202e}', '\u{1b}', '\u{0}', '\u{200b}']);
        assert_eq!(hazard.map(|at| &shown[at.saturating_sub(90)..at]), None, "{path}");
    }
}
