//! Links of the viewer: each leads to what its words name, in runs whose rows have several cases, whose errors have several causes, and whose groups are many.

use serde_json::{Value, json};

use crate::command::Folder;
use crate::viewer::Viewer;

/// A folder with these rows, and replies of a subject and a judge.
fn folder(suite: &str, rows: &[Value], replies: &[Value]) -> Folder {
    let lines = |all: &[Value]| all.iter().map(|it| format!("{it}\n")).collect::<String>();
    Folder::with("suite.yaml", suite).and("rows.jsonl", lines(rows)).and("replies.jsonl", lines(replies))
}

fn shown(folder: &Folder, arguments: &[&str]) -> (Viewer, String) {
    let ended = folder.jurat(&[&["run", "suite.yaml"][..], arguments].concat());
    assert!(matches!(ended.code, Some(0..=3)), "{ended:?}");
    let viewer = Viewer::start(folder, &[]);
    let id = viewer.data("/.json")["runs"][0]["run_id"].as_str().expect("there is a run").to_owned();
    (viewer, format!("/runs/{id}"))
}

/// The addresses of links of a page that lead to cases.
fn links(page: &str, prefix: &str) -> Vec<String> {
    let links = page.split("href=\"").skip(1).filter_map(|it| it.split('"').next());
    links.filter(|it| it.starts_with(prefix)).map(|it| it.replace("&amp;", "&")).collect()
}

const VARIANTS: &str = "suite: variants
records: rows.jsonl
models: { subject: script/replies.jsonl }
ask: { prompts: { short: 'Say ${word}.', long: 'Please say ${word}.' } }
tasks:
  - { id: says_it, field_path: output, operator: contains, expected_value: '${word}' }
";

/// One row is asked in two ways, three times each; only the long way flips.
fn variants() -> Folder {
    let replies = [
        json!({ "match": { "contains": "Please" }, "reply": "no" }),
        json!({ "match": { "contains": "Please" }, "reply": "yes", "times": "*" }),
        json!({ "reply": "yes", "usage": { "input": 5, "output": 1 }, "times": "*" }),
    ];
    folder(VARIANTS, &[json!({ "id": "r1", "word": "yes" })], &replies)
}

#[test]
fn cases_of_one_row_have_links_of_their_own() {
    let folder = variants();
    let (viewer, run) = shown(&folder, &["--repeat", "3", "-j", "1"]);
    let slowest = links(&viewer.page(&format!("{run}/cost")), &format!("{run}/cases/r1?"));
    let mut own: Vec<&String> =
        slowest.iter().filter(|it| it.contains("prompt=") && it.contains("replicate=")).collect();
    own.sort();
    own.dedup();
    assert_eq!(own.len(), 6, "each of the six cases: {slowest:?}");
    // The row that flips is that of the long prompt, and so is where its name leads.
    let flaky = links(&viewer.page(&format!("{run}/flaky")), &format!("{run}/cases/r1"));
    assert!(!flaky.is_empty() && flaky.iter().all(|it| it.contains("prompt=long")), "{flaky:?}");
}

#[test]
fn two_prompts_of_one_row_are_compared_by_themselves() {
    let folder = variants();
    let (_, run) = shown(&folder, &["--fresh"]);
    let answers = "{\"reply\":\"no\",\"times\":\"*\"}\n";
    std::fs::write(folder.path().join("replies.jsonl"), answers).expect("it can be written");
    let (viewer, later) = shown(&folder, &["--fresh"]);
    let [base, new] = [&run, &later].map(|it| it.trim_start_matches("/runs/"));
    let page = viewer.page(&format!("/compare?base={base}&new={new}&q=change:same,regression"));
    let mut cases = links(&page, "/compare/cases/r1");
    cases.dedup();
    // The regression comes first.
    assert_eq!(cases.len(), 2, "{cases:?}");
    for (link, prompt) in cases.iter().zip(["short", "long"]) {
        let data = viewer.data(&link.replacen("r1?", "r1.json?", 1));
        let of_link = data["cases"].as_array().expect("there are cases");
        assert_eq!((of_link.len(), &of_link[0]["prompt"]), (1, &json!(prompt)), "{link}");
    }
}

#[test]
fn each_cause_of_errors_leads_to_its_own_cases() {
    let suite = "suite: causes
records: rows.jsonl
models: { judge: script/replies.jsonl }
tasks:
  - { id: fine, judge: { prompt: 'Is this fine? ${answer}' }, operator: contains, expected_value: 'yes' }
";
    let rows: Vec<Value> = (0..9)
        .zip(["good", "slow", "denied"].iter().cycle())
        .map(|(ix, it)| json!({ "id": format!("r{ix}"), "answer": it }))
        .collect();
    let replies = [
        json!({ "match": { "contains": "slow" }, "fault": "status:400", "message": "the endpoint is down", "times": "*" }),
        json!({ "match": { "contains": "denied" }, "fault": "status:403", "message": "no access", "times": "*" }),
        json!({ "reply": "yes", "times": "*" }),
    ];
    let folder = folder(suite, &rows, &replies);
    let (viewer, run) = shown(&folder, &["--keep-going"]);
    let causes: Vec<String> = links(&viewer.page(&run), &format!("{run}/cases?q=verdict:error"))
        .into_iter()
        .filter(|it| it.contains("why:"))
        .collect();
    assert_eq!(causes.len(), 2, "{causes:?}");
    let mut found: Vec<Vec<String>> = causes
        .iter()
        .map(|link| {
            let data = viewer.data(&link.replacen("cases?", "cases.json?", 1));
            let cases = data["cases"].as_array().expect("cases are listed");
            cases.iter().filter_map(|it| Some(it["id"].as_str()?.to_owned())).collect()
        })
        .collect();
    found.sort();
    assert_eq!(found, [["r1", "r4", "r7"], ["r2", "r5", "r8"]]);
}

#[test]
fn very_many_slices_come_in_pages_that_say_so() {
    let suite = "suite: grouped
records: rows.jsonl
group_by: [user]
tasks:
  - { id: fine, field_path: answer, operator: contains, expected_value: 'yes' }
";
    let rows: Vec<Value> =
        (0..450).map(|ix| json!({ "id": format!("r{ix}"), "user": format!("u{ix}"), "answer": if ix % 9 == 0 { "no" } else { "yes" } })).collect();
    let folder = folder(suite, &rows, &[]);
    let (viewer, run) = shown(&folder, &[]);
    let overview = viewer.page(&run);
    assert_eq!(links(&overview, &format!("{run}/cases?q=group:user")).len(), 200);
    assert!(overview.contains("The 200 with the worst lower bound, of 450 slices."), "{overview}");
    let data = viewer.data(&format!("{run}.json"));
    assert_eq!(data["slices_left_out"], 250);
    assert_eq!(data["results"]["slices"].as_array().map(Vec::len), Some(200));
    let mut all: Vec<String> = Vec::new();
    for (from, n) in [(0, 200), (200, 200), (400, 50)] {
        let page = viewer.page(&format!("{run}/slices?from={from}"));
        let found = links(&page, &format!("{run}/cases?q=group:user"));
        assert_eq!(found.len(), n, "from {from}");
        assert!(page.contains(&format!("{}–{} of 450 slices", from + 1, from + n)), "{page}");
        let listed = viewer.data(&format!("{run}/slices.json?from={from}"));
        assert_eq!((listed["slices"].as_array().map(Vec::len), &listed["found"]), (Some(n), &json!(450)));
        all.extend(found);
    }
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 450);
}

const SUBJECTS: &str = "suite: subjects
records: rows.jsonl
models: { subject: [script/replies.jsonl, script/steady.jsonl] }
ask: { prompt: 'Say ${word}.' }
tasks:
  - { id: says_it, field_path: output, operator: contains, expected_value: '${word}' }
";

#[test]
fn flaky_rows_are_counted_and_chosen_by_subject() {
    let yes = json!({ "reply": "yes", "times": "*" });
    let rows = ["r1", "r2"].map(|id| json!({ "id": id, "word": "yes" }));
    let folder = folder(SUBJECTS, &rows, &[json!({ "match": { "case": "r2" }, "reply": "no" }), yes.clone()])
        .and("steady.jsonl", format!("{yes}\n"));
    let (viewer, run) = shown(&folder, &["--repeat", "3", "-j", "1"]);
    let page = viewer.page(&format!("{run}/flaky"));
    let chosen = links(&page, &format!("{run}/flaky?subject="));
    assert_eq!(chosen.len(), 1, "only the subject that flips: {page}");
    let of_subject = viewer.page(&chosen[0]);
    assert_eq!(of_subject.matches("<tr data-row").count(), 1, "{of_subject}");
    let other = chosen[0].replace("replies.jsonl", "steady.jsonl");
    assert!(!viewer.page(&other).contains("<tr data-row"), "the other subject has none");
    assert_eq!(viewer.get(&format!("{run}/flaky?subject=unknown")).status, 404);
}

#[test]
fn what_responses_cost_is_shown_by_purpose() {
    let folder = crate::view_pages::example("scenarios/sycophancy");
    let viewer = Viewer::start(&folder, &[]);
    let id = viewer.data("/.json")["runs"][0]["run_id"].as_str().expect("there is a run").to_owned();
    let cost = viewer.data(&format!("/runs/{id}/cost.json"));
    let sum = |lines: &Value, of: &str| -> f64 {
        lines.as_array().expect("there are lines").iter().map(|it| it[of].as_f64().unwrap_or_default()).sum()
    };
    let names: Vec<&str> =
        cost["purposes"].as_array().expect("lines").iter().filter_map(|it| it["name"].as_str()).collect();
    assert_eq!(names, ["subject", "parser"], "{cost}");
    for of in ["responses", "tokens", "cost_usd", "requests"] {
        let (purposes, tasks) = (sum(&cost["purposes"], of), sum(&cost["tasks"], of));
        assert!(purposes > 0.0 || of == "requests", "{of}: {cost}");
        assert!((purposes - tasks).abs() < 1e-9, "{of}: {purposes} is {tasks}: {cost}");
    }
}
