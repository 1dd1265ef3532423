//! How a run ends: why cases could not be judged, what it spent and what it reused, what was not run, and how variants compare.

use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use jurat_format::value::{Val, Value, parse_json};
use jurat_testkit::{Answer, Endpoint, Reply, Script};

use crate::command::{Ended, Folder, ended};
use crate::stored::steady;

/// A suite whose judge is at an endpoint.
fn judged(endpoint: &Endpoint, n_rows: usize) -> Folder {
    let mut rows = String::new();
    for ix in 0..n_rows {
        let _ = writeln!(rows, "{{\"question\": \"How much is {ix}?\", \"answer\": \"It is {ix}.\"}}");
    }
    let suite = format!(
        "suite: s\nrecords: rows.jsonl\n\
         models: {{ judge: {{ model: openai/m, base_url: '{}', api_key_env: JUDGE_KEY, max_tokens: 100, price: {{ input: 100, output: 100 }} }} }}\n\
         tasks:\n  - {{ id: tone, judge: {{ prompt: 'Rate ${{answer}}', output: {{ ok: boolean }} }}, field_path: ok, operator: equals, expected_value: true }}\n",
        endpoint.url()
    );
    Folder::with("suite.yaml", suite).and("rows.jsonl", rows)
}

fn run(folder: &Folder, arguments: &[&str]) -> Ended {
    let mut command = folder.command();
    ended(command.arg("run").arg("suite.yaml").args(arguments).env("JUDGE_KEY", "sk-0123456789"))
}

fn document(text: &str) -> Value {
    parse_json(text).unwrap_or_else(|error| panic!("{error}: {text}")).value.into_owned()
}

#[test]
fn errors_are_counted_by_their_cause_with_what_to_do() {
    let refused = |request: &jurat_testkit::Request| {
        let id = request.digest();
        let body = format!("{{\"error\": {{\"message\": \"Incorrect API key provided, request req_{id:020}\"}}}}");
        Answer::raw(401, "application/json", body)
    };
    let endpoint = Endpoint::start(Script::answering(refused));
    let folder = judged(&endpoint, 5);
    let ran = run(&folder, &["--keep-going"]);
    let ran = if ran.code == Some(2) { run(&folder, &[]) } else { ran };
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.stdout.contains("\nerrors\n  5 × "), "{}", ran.stdout);
    assert!(ran.stdout.contains("Incorrect API key provided"), "{}", ran.stdout);
    assert!(ran.stdout.contains("role judge, JUDGE_KEY)"), "{}", ran.stdout);
    let place = "in `tone` of rows.jsonl:1, rows.jsonl:2, rows.jsonl:3 and 2 more; check the key in `JUDGE_KEY`\n";
    assert!(ran.stdout.contains(place), "{}", ran.stdout);
    assert!(ran.stdout.contains("spent nothing for 5 requests (5 failed), in "), "{}", ran.stdout);
    assert_eq!(folder.jurat(&["show"]).stdout, ran.stdout);
    let json = document(&folder.jurat(&["show", "--json"]).stdout);
    let results = json.get("results").expect("results");
    let [cause] = results.get("causes").and_then(Val::as_list).expect("causes") else { panic!("{results}") };
    assert_eq!(cause.get("cases"), Some(&Val::I(5)));
    for (key, value) in [("role", "judge"), ("key_env", "JUDGE_KEY"), ("remedy", "check the key in `JUDGE_KEY`")] {
        assert_eq!(cause.get(key).and_then(Val::as_str), Some(value));
    }
    let observed = json.get("observed").expect("what was observed");
    assert_eq!((observed.get("answers"), observed.get("requests")), (Some(&Val::I(0)), Some(&Val::I(5))));
    for format in ["markdown", "junit"] {
        let text = folder.jurat(&["export", "--to", format]).stdout;
        assert!(text.contains("5 × ") && text.contains("Incorrect API key"), "{text}");
    }
    // A replay of the errors has the same causes.
    let results = folder.jurat(&["show", "--results-only"]).stdout;
    assert_eq!(run(&folder, &["--replay", "latest", "--results-only"]).stdout, results);
}

#[test]
fn what_is_reused_costs_nothing_now() {
    let endpoint = Endpoint::start(Script::new().reply(Reply::text("{\"ok\": true}")));
    let folder = judged(&endpoint, 3);
    let first = steady(&folder, &run(&folder, &[]).stdout);
    assert!(first.contains("\nspent $") && first.contains(" for 3 requests with "), "{first}");
    let second = steady(&folder, &run(&folder, &[]).stdout);
    assert!(second.contains("3 of 3 responses reused, the oldest T old, which cost $"), "{second}");
    assert!(!second.contains("spent $"), "{second}");
    let observed = document(&folder.jurat(&["show", "--json"]).stdout);
    let spent = observed.get("observed").and_then(|it| it.get("spent")).expect("what was spent").clone();
    assert_eq!(spent.get("responses"), Some(&Val::I(0)));
}

/// The dollars behind some words.
#[track_caller]
fn dollars_after<'t>(text: &'t str, words: &str) -> &'t str {
    let (_, rest) = text.split_once(words).unwrap_or_else(|| panic!("no `{words}` in {text}"));
    rest.split([' ', '\n', ';']).next().unwrap_or_default()
}

#[test]
fn rows_with_equal_requests_share_one_response() {
    let endpoint = Endpoint::start(Script::new().reply(Reply::text("Yes.")));
    let suite = format!(
        "suite: s\nrecords: rows.jsonl\n\
         models: {{ m: {{ model: openai/m, base_url: '{}', api_key_env: JUDGE_KEY, max_tokens: 100, price: {{ input: 100, output: 100 }} }} }}\n\
         ask: {{ model: m, prompt: 'Is ${{n}} odd?' }}\n\
         tasks: [{{ id: yes, field_path: response, operator: contains, expected_value: 'Yes' }}]\n",
        endpoint.url()
    );
    let folder = Folder::with("suite.yaml", suite).and("rows.jsonl", "{\"n\": 1}\n".repeat(20));
    let first = steady(&folder, &run(&folder, &[]).stdout);
    assert_eq!(endpoint.stats().requests, 1);
    assert!(
        first.contains(" for 1 request with ") && first.contains("19 of 20 responses shared by equal requests"),
        "{first}"
    );
    let note = "note: 19 rows make the same request as a row before and share its response, yet intervals count them as independent";
    assert!(first.replace("\n  ", " ").contains(note), "{first}");
    // What the cache saved is the price of one response, not of twenty.
    let second = steady(&folder, &run(&folder, &[]).stdout);
    assert!(second.contains("1 of 20 responses reused, the oldest T old, which cost $"), "{second}");
    assert!(second.contains("; 19 shared by equal requests"), "{second}");
    assert_eq!(dollars_after(&second, "which cost "), dollars_after(&first, "spent "));
    let json = document(&folder.jurat(&["show", "--json"]).stdout);
    let observed = json.get("observed").expect("what was observed");
    assert_eq!((observed.get("reused"), observed.get("shared")), (Some(&Val::I(1)), Some(&Val::I(19))));
}

/// A run is all of its processes: what the first paid for in vain is in what the second reports.
#[test]
fn a_resumed_run_reports_the_requests_of_all_its_processes() {
    let is_broken = Arc::new(AtomicBool::new(true));
    let broken = Arc::clone(&is_broken);
    let endpoint = Endpoint::start(Script::answering(move |_| match broken.load(Ordering::Relaxed) {
        true => Answer::raw(401, "application/json", "{\"error\": {\"message\": \"no such key\"}}".to_owned()),
        false => Reply::text("{\"ok\": true}").into(),
    }));
    let folder = judged(&endpoint, 30);
    let stopped = run(&folder, &["-j", "1"]);
    assert!(stopped.stdout.contains("the same command resumes this run"), "{}", stopped.stdout);
    let n_failed = endpoint.stats().requests;
    is_broken.store(false, Ordering::Relaxed);
    let resumed = run(&folder, &["-j", "1"]);
    let (n_requests, failed) = (endpoint.stats().requests, format!("{n_failed} failed"));
    assert_eq!(n_requests, n_failed + 30);
    assert!(resumed.stdout.contains(&format!(" for {n_requests} requests ({failed}) with ")), "{}", resumed.stdout);
    // The same again, resumed from what is complete, asks nothing and is another run.
    let again = run(&folder, &["-j", "1"]);
    assert!(again.stdout.contains("30 of 30 responses reused"), "{}", again.stdout);
}

#[test]
fn a_budget_that_is_used_up_leaves_a_run_incomplete() {
    let endpoint = Endpoint::start(Script::new().reply(Reply::text("{\"ok\": true}")));
    let folder = judged(&endpoint, 5);
    let ran = run(&folder, &["--budget-calls", "2", "-j", "1"]);
    assert_eq!(ran.code, Some(4), "{ran:?}");
    assert!(
        ran.stdout
            .contains("incomplete: the rest of the budget does not cover the next request; 3 of 5 cases not run\n"),
        "{}",
        ran.stdout
    );
    assert!(ran.stdout.contains(" for 2 requests with "), "{}", ran.stdout);
    assert!(ran.stdout.contains("\nnext: run it again with a larger budget; "), "{}", ran.stdout);
    let json = folder.jurat(&["show", "--json"]).stdout;
    assert!(json.contains("\"complete\":false,\"stopped\":\"budget\""), "{json}");
    assert!(json.contains("\"answers\":2,\"reused\":0,"), "{json}");
    assert!(steady(&folder, &folder.jurat(&["show", "--list"]).stdout).contains(" stopped (budget)\n"));
}

#[test]
fn variants_are_compared_by_task_and_where_they_disagree() {
    let suite = "suite: s\nrecords: [{ id: a, n: 1 }, { id: b, n: 2 }]\n\
                 models: { careful: script/careful.jsonl, quick: script/quick.jsonl }\n\
                 ask: { model: [careful, quick], prompt: 'Is ${n} odd?' }\n\
                 tasks:\n  - { id: right, field_path: output, operator: equals, expected_value: 'yes' }\n  \
                 - { id: said, field_path: output, operator: is_not_empty }\n";
    let replies = |second: &str| {
        format!(
            "{{\"match\": {{\"contains\": \"1\"}}, \"reply\": \"yes\", \"times\": \"*\"}}\n{{\"reply\": \"{second}\", \"times\": \"*\"}}\n"
        )
    };
    let folder =
        Folder::with("suite.yaml", suite).and("careful.jsonl", replies("yes")).and("quick.jsonl", replies("no"));
    let ran = run(&folder, &["--results-only"]);
    let text = steady(&folder, &ran.stdout);
    assert!(text.starts_with("b [quick]: failed\nprompt Is 2 odd?\nresponse no\n✗ right failed: "), "{text}");
    assert!(
        text.contains("subject cases passed failed pass rate 95 % interval cost\ncareful 2 4 0 100.0 % "),
        "{text}"
    );
    assert!(text.contains("\npass rate of careful quick\nright 100.0 % 50.0 %\nsaid 100.0 % 100.0 %\n"), "{text}");
    assert!(text.contains("\nvariants disagree on careful quick\nb passed failed\n"), "{text}");
    let shown = steady(&folder, &folder.jurat(&["show", "--subject", "quick"]).stdout);
    assert_eq!(
        shown,
        "a [quick]: passed\nprompt Is 1 odd?\nresponse yes\n\nb [quick]: failed\nprompt Is 2 odd?\nresponse no\n\
         ✗ right failed: expected `yes`, found `no`\n"
    );
    let shown = steady(&folder, &folder.jurat(&["show", "--subject", "quick", "--failed"]).stdout);
    assert!(shown.starts_with("b [quick]: failed\n"), "{shown}");
    let unknown = folder.jurat(&["show", "--subject", "slow"]);
    assert!(unknown.stderr.contains(" has no subject `slow`: there are `careful` and `quick`"), "{}", unknown.stderr);
}
