//! What bounds a run: which rows, how much, how long, how old; and the exit codes that say so.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use jurat_testkit::{Endpoint, Fault, Reply, Script, Usage, When};
use rusqlite::Connection;
use serde_json::json;

use crate::project::Project;
use crate::random::Random;
use crate::store::Snapshot;
use crate::suites::{ASKED, JUDGED, rows};

const ROWS: usize = 12;

/// Runs a suite with options; returns its exit code and how many requests it made.
#[track_caller]
fn asked(project: &Project, endpoint: &Endpoint, options: &[&str]) -> (i32, u64) {
    endpoint.reset();
    let ended = project.results(options);
    let code = ended.code.expect("no signal ends it");
    assert!(code != 2, "{}", ended.stderr);
    (code, endpoint.stats().requests)
}

#[test]
fn rows_are_selected() {
    for (options, n_rows, code) in [
        (&["--limit", "3"][..], 3, 1),
        (&["--filter", "n > 9"], 3, 1),
        (&["--tag", "third"], 4, 1),
        (&["--tag", "third", "--tag", "other"], 12, 1),
        (&["--tag", "third", "--filter", "id == 'r9' || n == 12", "--limit", "1"], 1, 1),
        // Nothing is selected.
        (&["--limit", "0"], 0, 5),
        (&["--filter", "n > 100"], 0, 5),
        (&["--tag", "none"], 0, 5),
    ] {
        let endpoint = Endpoint::start(Script::new());
        let project = Project::new(JUDGED, &rows(ROWS), &endpoint.url());
        assert_eq!(asked(&project, &endpoint, options), (code, 2 * n_rows), "{options:?}");
    }
}

#[test]
fn subjects_are_asked_as_often_as_repeated() {
    let endpoint = Endpoint::start(Script::new());
    let project = Project::new(ASKED, &rows(ROWS), &endpoint.url());
    // Three answers of the subject for each row; they are equal, so one judgement is enough for them.
    assert_eq!(asked(&project, &endpoint, &["--repeat", "3"]), (1, 3 * 12 + 12));
    assert_eq!(asked(&project, &endpoint, &["--repeat", "2"]), (1, 0), "the first two were asked before");
    assert_eq!(asked(&project, &endpoint, &["--repeat", "4"]), (1, 12), "one more each");
    let project = Project::new(JUDGED, &rows(ROWS), &endpoint.url());
    let ended = project.run(&["--repeat", "2"]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.starts_with("error: `--repeat` asks the subject several times"), "{}", ended.stderr);
}

/// A suite whose judge has a price and a bound.
fn priced() -> String {
    let judge = "{ model: openai/judge, price: { input: 1, output: 2 }, max_tokens: 50 }";
    JUDGED.replace("{ judge: openai/judge }", &format!("{{ judge: {judge} }}"))
}

/// What the endpoint has charged.
#[derive(Default)]
struct Charged {
    tokens: AtomicU64,
    nano_usd: AtomicU64,
}

#[test]
fn no_budget_is_overspent() {
    for trial in 0..12 {
        let mut random = Random::new(trial);
        let charged = Arc::new(Charged::default());
        let seed = random.below(u64::MAX);
        let charging = Arc::clone(&charged);
        let script = Script::answering(move |request| {
            let mut random = Random::new(seed ^ request.seed());
            let usage = Usage {
                input: random.below(request.body.len() as u64 + 1),
                output: random.below(51),
                cached: 0,
                reasoning: 0,
            };
            charging.tokens.fetch_add(usage.input + usage.output, Ordering::Relaxed);
            charging.nano_usd.fetch_add(1000 * usage.input + 2000 * usage.output, Ordering::Relaxed);
            Reply::fitting().usage(usage)
        });
        let latency = (Duration::ZERO, Duration::from_millis(5));
        let endpoint = Endpoint::start(script.latency_between(latency.0, latency.1, seed));
        let project = Project::new(&priced(), &rows(100), &endpoint.url());
        let (tokens, nano_usd, calls) =
            (5_000 + random.below(20_000), 5_000_000 + random.below(25_000_000), 1 + random.below(150));
        let usd = format!("{:.9}", nano_usd as f64 / 1e9);
        let options = match trial % 3 {
            0 => ["--budget-tokens".to_owned(), tokens.to_string()],
            1 => ["--budget-usd".to_owned(), usd],
            _ => ["--budget-calls".to_owned(), calls.to_string()],
        };
        let ended = project.results(&[options[0].as_str(), options[1].as_str(), "-j", "64"]);
        assert_eq!(ended.code, Some(4), "{options:?} {}", ended.stderr);
        let spent = [
            charged.tokens.load(Ordering::Relaxed),
            charged.nano_usd.load(Ordering::Relaxed),
            endpoint.stats().requests,
        ];
        let limit = [tokens, nano_usd, calls];
        let kind = (trial % 3) as usize;
        assert!(spent[kind] <= limit[kind], "{options:?}: {spent:?}");
        // What is left would not have been enough for one more: no request has more than 600 bytes.
        let bound = [650, 600 * 1000 + 50 * 2000, 1][kind];
        assert!(spent[kind] + bound > limit[kind], "{options:?}: {spent:?}, there was room for more");
        let run = Snapshot::of(&project.only_run()).expect("a run is a file");
        assert_eq!(run.number("SELECT count(*) FROM site"), 200, "what was not asked is written down");
    }
}

#[test]
fn a_budget_needs_a_bound_on_each_request() {
    let endpoint = Endpoint::start(Script::new());
    let project = Project::new(JUDGED, &rows(ROWS), &endpoint.url());
    for budget in ["--budget-usd", "--budget-tokens"] {
        let ended = project.run(&[budget, "1"]);
        assert_eq!(ended.code, Some(2));
        assert!(
            ended.stderr.starts_with(&format!("error: `{budget}` cannot be enforced: `openai/judge` has no")),
            "{}",
            ended.stderr
        );
    }
    assert_eq!(endpoint.stats().requests, 0);
}

/// The same command again and again gets there, each time within its budget, and pays for nothing twice.
#[test]
fn what_a_budget_left_undone_is_done_by_the_next_run() {
    let endpoint = Endpoint::start(Script::new());
    let project = Project::new(JUDGED, &rows(ROWS), &endpoint.url());
    let budget = &["--budget-calls", "10", "-j", "64"];
    assert_eq!(asked(&project, &endpoint, budget), (4, 10));
    assert_eq!(asked(&project, &endpoint, budget), (4, 10));
    assert_eq!(asked(&project, &endpoint, budget), (1, 4));
    assert_eq!(asked(&project, &endpoint, budget), (1, 0));
}

#[test]
fn time_runs_out() {
    let endpoint = Endpoint::start(Script::new().held());
    let project = Project::new(JUDGED, &rows(ROWS), &endpoint.url());
    endpoint.release(5);
    let started = Instant::now();
    // Enough to start and to answer five requests on a busy machine.
    let ended = project.results(&["--timeout", "5s", "-j", "4"]);
    assert!((5..65).contains(&started.elapsed().as_secs()), "{:?}", started.elapsed());
    assert_eq!(ended.code, Some(4), "{}", ended.stderr);
    assert!(ended.stdout.contains(r#""stopped":"deadline""#), "{}", ended.stdout);
    assert!(ended.stdout.contains("the time limit came first"), "{}", ended.stdout);
    assert_eq!(endpoint.stats().answers, 5);
    endpoint.release_all();
    // Without the limit it resumes: five are there, and the rest is asked, what was dropped included.
    assert_eq!(asked(&project, &endpoint, &[]), (1, 2 * 12 - 5));
    project.only_run();
}

#[test]
fn one_request_has_a_time_limit() {
    let endpoint = Endpoint::start(Script::new().fault(When::Always, Fault::Silence));
    let suite = JUDGED.replace("output:", "max_retries: 0, output:");
    let project = Project::new(&suite, &rows(2), &endpoint.url());
    let ended = project.results(&["--request-timeout", "200ms"]);
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    assert!(ended.stdout.contains(" within 0.2 s"), "{}", ended.stdout);
}

#[test]
fn the_first_failure_is_the_last() {
    let script = Script::answering(|request| {
        let label = if request.prompt.contains("answer 1") { "rude" } else { "polite" };
        let is_tone = request.prompt.starts_with("tone");
        Reply::json(if is_tone { json!({ "label": label, "score": 1 }) } else { json!({ "label": label }) })
    });
    // That a case failed is known after its commit, which takes a while on a busy machine; until then further requests are made.
    let latency = Duration::from_millis(100);
    let endpoint = Endpoint::start(script.latency(latency));
    let suite =
        JUDGED.replace("expected_value: right", "expected_value: polite").replace("[right, wrong]", "[polite, rude]");
    let project = Project::new(&suite, &rows(60), &endpoint.url());
    let (code, requests) = asked(&project, &endpoint, &["--fail-fast", "-j", "1"]);
    assert_eq!(code, 1);
    assert!(requests < 60, "{requests}");
    assert_eq!(asked(&project, &endpoint, &["-j", "64"]), (1, 120 - requests), "the rest is asked without the option");
    // What cannot be judged is a reason to stop, too.
    let endpoint = Endpoint::start(Script::new().fault(When::Always, Fault::Refusal).latency(latency));
    let project = Project::new(JUDGED, &rows(60), &endpoint.url());
    let (code, requests) = asked(&project, &endpoint, &["--fail-fast", "-j", "1"]);
    assert_eq!(code, 3);
    assert!(requests < 60, "{requests}");
}

#[test]
fn answers_may_be_too_old() {
    let endpoint = Endpoint::start(Script::new());
    let project = Project::new(JUDGED, &rows(ROWS), &endpoint.url());
    let all = 2 * ROWS as u64;
    assert_eq!(asked(&project, &endpoint, &[]), (1, all));
    assert_eq!(asked(&project, &endpoint, &["--fresh"]), (1, all), "`--fresh` asks anew");
    assert_eq!(asked(&project, &endpoint, &["--no-cache"]), (1, all));
    assert_eq!(asked(&project, &endpoint, &["--max-age", "1h"]), (1, 0));
    let journal = Connection::open(project.journal()).expect("there is a journal");
    journal.execute("UPDATE answer SET at_ms = at_ms - 7200000", []).expect("the journal can be changed");
    drop(journal);
    assert_eq!(asked(&project, &endpoint, &["--max-age", "3h"]), (1, 0));
    assert_eq!(asked(&project, &endpoint, &["--max-age", "1h"]), (1, all), "two hours are too old");
    assert_eq!(asked(&project, &endpoint, &["--max-age", "1h"]), (1, 0), "and the new answers are not");
}

#[test]
fn rows_are_retained_on_demand() {
    for (options, is_whole) in [(&["--keep", "needed"][..], false), (&["--keep", "all"], true)] {
        let endpoint = Endpoint::start(Script::new());
        let project = Project::new(JUDGED, &rows(ROWS), &endpoint.url());
        let ended = project.results(options);
        let passed = r#","verdict":"passed","counts""#;
        let line = ended.stdout.lines().find(|it| it.contains(passed)).expect("a case that passed");
        let case = line.trim_start_matches("{\"id\":\"").split('"').next().expect("an id");
        std::fs::remove_file(project.path().join("rows.jsonl")).expect("rows can be removed");
        let explained = project.jurat(&["explain", case, "tone"]);
        if is_whole {
            assert_eq!(explained.code, Some(0), "{}", explained.stderr);
        } else {
            assert_eq!(explained.code, Some(2), "{}", explained.stdout);
            assert!(explained.stderr.contains("rows.jsonl"), "{}", explained.stderr);
        }
    }
}
