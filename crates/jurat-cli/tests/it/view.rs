//! `jurat view`: who is answered, and with what.

use crate::command::Folder;
use crate::viewer::Viewer;

const SUITE: &str = r#"
suite: greetings
records: { path: rows.jsonl }
tasks:
  - { id: greets, field_path: reply, operator: starts_with, expected_value: Hello }
  - { id: short, field_path: reply, operator: has_length_less_than, expected_value: 12 }
"#;

const ROWS: &str = r#"{"id": "r1", "reply": "Hello Ada"}
{"id": "r2", "reply": "Bye"}
{"id": "r3", "reply": "Hello <b>you</b>"}
"#;

/// A folder with a run in it, and the id of the run.
fn folder_with_run() -> (Folder, String) {
    let folder = Folder::with("suite.yaml", SUITE).and("rows.jsonl", ROWS);
    let ended = folder.jurat(&["run", "suite.yaml"]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let list = folder.jurat(&["show", "--list", "--json"]).stdout;
    let list: serde_json::Value = serde_json::from_str(&list).expect("the list is JSON");
    let id = list["runs"][0]["run_id"].as_str().expect("there is a run").to_owned();
    (folder, id)
}

#[test]
fn the_address_opens_and_the_key_leaves_it() {
    let (folder, id) = folder_with_run();
    let viewer = Viewer::start(&folder, &["latest"]);
    assert_eq!(viewer.first, format!("/runs/{id}"));
    let opened = viewer.ask("GET", &format!("{}?key={}", viewer.first, viewer.key), &[]);
    assert_eq!(opened.status, 303);
    assert_eq!(opened.header("location"), Some(format!("/runs/{}", id.to_lowercase()).as_str()));
    let cookie = opened.header("set-cookie").unwrap();
    let cookie = cookie.split(';').next().unwrap();
    let page = viewer.ask("GET", &viewer.first, &[("Cookie", cookie)]);
    assert_eq!(page.status, 200);
    assert!(page.body.contains("<title>greetings · jurat</title>"), "{}", page.body);
    assert_eq!(viewer.interrupt(), Some(0));
}

#[test]
fn without_the_key_nothing_is_named() {
    let (folder, id) = folder_with_run();
    let viewer = Viewer::start(&folder, &[]);
    let asset = viewer.page("/");
    let asset = asset.split('"').find(|it| it.starts_with("/assets/app-")).unwrap().to_owned();
    for path in ["/", "/.json", "/compare", "/events", "/labels", "/nowhere", &format!("/runs/{id}"), "/runs/latest"] {
        for headers in [&[][..], &[("Cookie", "jurat=1")], &[("Authorization", "Bearer 00")]] {
            let refused = viewer.ask("GET", path, headers);
            assert_eq!(refused.status, 401, "{path}");
            assert!(!refused.body.contains("greetings") && refused.body.contains("jurat view"), "{}", refused.body);
        }
        let wrong = viewer.ask("GET", &format!("{path}?key=00"), &[]);
        assert_eq!(wrong.status, 401, "{path}");
    }
    assert_eq!(viewer.ask("GET", &asset, &[]).status, 200);
}

#[test]
fn other_hosts_get_nothing() {
    let (folder, _) = folder_with_run();
    let viewer = Viewer::start(&folder, &[]);
    let bearer = format!("Bearer {}", viewer.key);
    for host in ["evil.example", &format!("127.0.0.1.evil.example:{}", viewer.port), "127.0.0.1:1"] {
        let refused = viewer.ask("GET", "/", &[("Host", host), ("Authorization", &bearer)]);
        assert_eq!((refused.status, refused.body.as_str()), (421, "this server does not answer for that host\n"));
    }
    let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/json"), ("X-Jurat", "1")];
    let crossed = viewer.ask("POST", "/labels", &[&headers[..], &[("Sec-Fetch-Site", "cross-site")]].concat());
    assert_eq!(crossed.status, 403, "{crossed:?}");
}

#[test]
fn every_response_has_the_headers_that_protect() {
    let (folder, id) = folder_with_run();
    let viewer = Viewer::start(&folder, &[]);
    let bearer = format!("Bearer {}", viewer.key);
    let page = viewer.page("/");
    let asset = page.split('"').find(|it| it.starts_with("/assets/app-")).unwrap();
    for (method, path) in [
        ("GET", "/"),
        ("HEAD", "/"),
        ("GET", "/nowhere"),
        ("GET", &format!("/runs/{id}.json")),
        ("PUT", "/"),
        ("GET", asset),
    ] {
        let response = viewer.ask(method, path, &[("Authorization", &bearer)]);
        assert_eq!(response.header("x-content-type-options"), Some("nosniff"), "{path}");
        assert_eq!(response.header("referrer-policy"), Some("no-referrer"));
        assert_eq!(response.header("cross-origin-opener-policy"), Some("same-origin"));
        assert_eq!(response.header("cross-origin-resource-policy"), Some("same-origin"));
        let policy = response.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
        let stored = if path == asset { "public, max-age=31536000, immutable" } else { "no-store" };
        assert_eq!(response.header("cache-control"), Some(stored), "{path}");
        assert_eq!(response.body.is_empty(), method == "HEAD");
    }
}

#[test]
fn a_run_is_found_by_parts_of_its_name() {
    let (folder, id) = folder_with_run();
    let viewer = Viewer::start(&folder, &[]);
    let last = id.rsplit('_').next().unwrap();
    for name in ["latest", last, &id[..12]] {
        let moved = viewer.get(&format!("/runs/{name}.json?a=b"));
        assert_eq!(
            (moved.status, moved.header("location")),
            (307, Some(format!("/runs/{}.json", id.to_lowercase()).as_str()))
        );
    }
    let near = viewer.get(&format!("/runs/{id}x"));
    assert_eq!(near.status, 404);
    assert!(near.body.contains(&format!("href=\"/runs/{id}\"")), "{}", near.body);
    // A name is never a path.
    assert_eq!(viewer.get("/runs/..%2F..%2Fsuite.yaml").status, 404);
    assert_eq!(viewer.get(&format!("/runs/.jurat%2Fruns%2F{id}.jurat")).status, 404);
}

#[test]
fn data_is_that_of_the_command() {
    let (folder, id) = folder_with_run();
    let viewer = Viewer::start(&folder, &[]);
    let printed: serde_json::Value = serde_json::from_str(&folder.jurat(&["show", "--list", "--json"]).stdout).unwrap();
    let (shown, said) = (&viewer.data("/.json")["runs"][0], &printed["runs"][0]);
    for member in ["run_id", "suite", "cases", "pass_rate", "state"] {
        assert_eq!(shown[member], said[member]);
    }
    let mut printed: serde_json::Value = serde_json::from_str(&folder.jurat(&["show", "--json"]).stdout).unwrap();
    let mut shown = viewer.data(&format!("/runs/{id}.json"));
    for report in [&mut printed, &mut shown] {
        report["results"]["cases"] = serde_json::Value::Null;
        report["observed"]["file"] = serde_json::Value::Null;
    }
    assert_eq!(shown, printed);
}
