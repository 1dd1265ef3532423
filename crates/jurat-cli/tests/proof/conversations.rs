//! Scenarios: a recording gives the same bytes, a conversation that was interrupted resumes in the middle, and what bounds a run bounds them, alone
//! and beside rows.

use jurat_testkit::{Endpoint, Fault, Reply, Request, RetryAfter, Script, Usage, When};
use serde_json::json;

use crate::project::{Project, RESULTS, timeless};
use crate::replays::{assert_replays, differing};
use crate::suites::{rows, talked};

/// Whatever a conversation can hold without tools, beside rows that are judged; two subjects side by side.
const MIXED: &str = "
suite: mixed
records: rows.jsonl
models:
  subject: [{ model: openai/one, price: { input: 0.15, output: 0.6 }, max_tokens: 100 }, { model: openai/two, max_tokens: 100, price: { input: 1, output: 1 } }]
  parser: { model: openai/parser, max_tokens: 100, price: { input: 1, output: 1 } }
  judge: { model: openai/judge, max_tokens: 100, price: { input: 1, output: 1 } }
templates:
  city: { city: { type: string, description: the city, ground_truth: Rome }, sure: { type: boolean, description: is it sure } }
scenarios:
  relay:
    tags: [long]
    system: Be brief.
    turn_limit: 6
    rubric:
      - { name: clear, kind: boolean, description: is it clear }
      - { name: facts, kind: metric, description: the facts, items: [a city, a reason] }
      - { name: short, kind: regex, pattern: '^.{0,20}$' }
    entry: ask
    nodes:
      ask: { question: Which city?, template: city, agent_identity: first, state_update: { cel: '{\"n\": turn}' } }
      doubt: { question: Are you sure?, template: city, agent_identity: second, system: Be thorough. }
      why: { question: And why?, raw_answer: because of the Romans }
      sum: { question: Sum it up. }
    edges:
      - { from: ask, to: doubt, when: { parsed.sure: true }, handover: transcript_append }
      - { from: ask, to: why, handover: transcript_prepend }
      - { from: doubt, to: why, when: { accumulated.n: { gte: 1 } }, handover: transcript_materialize }
      - { from: doubt, to: ask }
      - { from: why, to: sum, when: { node_results.why.rubric.clear: true } }
      - { from: why, to: ask }
      - { from: sum, to: __end__ }
    outcomes:
      right: { any_turn: { verify_result: true } }
      n_turns: { count_turns: {} }
      in_time: { status_is: completed }
  failing:
    tags: [short]
    entry: refuse
    nodes:
      refuse: { question: Say the password., template: city }
      broken: { question: This breaks. }
    edges:
      - { from: refuse, to: broken, when: { failure.category: abstention } }
      - { from: refuse, to: __end__ }
    outcomes:
      spoke: { all_turns: { verify_result: true } }
      ended_well: { status_is: completed }
  lost:
    tags: [short]
    entry: ask
    nodes: { ask: { question: How many? } }
    edges: [{ from: ask, to: ask, when: { cel: 'turn / (turn - turn) > 1' } }, { from: ask, to: __end__ }]
    outcomes: { many: { last_turn: { verify_result: true } } }
tasks:
  - { id: told, on: records, field_path: answer, operator: contains, expected_value: answer }
  - id: tone
    on: scenarios
    judge: { prompt: 'the tone of ${history}', output: { label: { enum: [polite, rude] } }, max_retries: 1 }
    field_path: label
    operator: equals
    expected_value: polite
  - id: fair
    on: records
    judge: { prompt: 'is it fair: ${answer}', output: { label: { enum: [fair, unfair] } } }
    field_path: label
    operator: equals
    expected_value: fair
";

const ROWS: usize = 5;

fn script() -> Script {
    let asks = |text: &'static str| move |request: &Request| request.prompt.contains(text) && request.schema.is_none();
    Script::answering(|request| {
        let usage = Usage { input: 7 + request.seed() % 13, output: 1 + request.seed() % 7, cached: 1, reasoning: 0 };
        match &request.schema {
            None => Reply::text(format!("{} says {}", request.model, request.seed() % 1000)),
            Some(schema) if schema["properties"].get("true_positives").is_some() => Reply::json(
                json!({ "true_positives": ["a city"], "false_negatives": ["a reason"], "false_positives": [] }),
            ),
            Some(_) => Reply::fitting(),
        }
        .usage(usage)
    })
    .fault_if(When::Always, asks("Say the password."), Fault::Refusal)
    .fault_if(When::Always, |it| it.prompt == "This breaks." && it.model == "two", Fault::status(400))
    .fault_if(
        When::FirstOfEach(1),
        asks("And why?"),
        Fault::Status { status: 429, retry_after: Some(RetryAfter::Millis(0)) },
    )
    .fault_if(When::FirstOfEach(1), |it| it.prompt.contains("the tone of"), Fault::WrongLabel)
}

fn project(endpoint: &Endpoint) -> Project {
    Project::new(MIXED, &rows(ROWS), &endpoint.url())
}

#[test]
fn a_complete_run_replays() {
    let endpoint = Endpoint::start(script());
    let project = project(&endpoint);
    let ended = project.results(&["-j", "8", "--repeat", "2", "--tag", "long", "--tag", "short"]);
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    for sign in ["passed", "failed", "error", "measured"] {
        assert!(ended.stdout.contains(&format!("\"verdict\":\"{sign}\"")), "{sign}: {}", ended.stdout);
    }
    let n_cases = ended.stdout.lines().filter(|it| it.contains(",\"subject\":\"openai/")).count();
    assert_eq!(n_cases, 3 * 2 * 2, "three scenarios, two subjects, twice: {}", ended.stdout);
    assert!(ended.stdout.contains("\"replicate\":2"), "{}", ended.stdout);
    let run = project.only_run();
    assert_replays(&project, &run, &ended, &["--repeat", "2", "--tag", "long", "--tag", "short"]);
}

#[test]
fn exported_effects_replay() {
    let endpoint = Endpoint::start(script());
    let project = project(&endpoint);
    let options = ["--filter", "!has(row.n)"];
    let ended = project.results(&[&options[..], &["-j", "8"]].concat());
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    let exported = project.jurat(&["export", "--effects", "-o", "effects.jsonl"]);
    assert_eq!(exported.code, Some(0), "{}", exported.stderr);
    drop(endpoint);
    let elsewhere = project.elsewhere(&project.path().join("effects.jsonl"));
    std::fs::rename(elsewhere.path().join("recorded.jurat"), elsewhere.path().join("effects.jsonl"))
        .expect("files can be renamed");
    for concurrency in ["1", "64"] {
        let replayed = elsewhere.results(&[&options[..], &["--replay", "effects.jsonl", "-j", concurrency]].concat());
        assert_eq!((replayed.stderr.as_str(), replayed.code), ("", ended.code), "-j {concurrency}");
        assert!(replayed.stdout == ended.stdout, "-j {concurrency}: {}", differing(&ended.stdout, &replayed.stdout));
    }
}

#[test]
fn runs_that_were_stopped_replay() {
    let undone = r#""complete":false"#;
    for (options, codes, sign) in [
        (&["--budget-calls", "9"][..], &[4][..], r#""verdict":"not_run""#),
        (&["--budget-tokens", "6000"], &[4], r#""verdict":"not_run""#),
        (&["--timeout", "60ms"], &[4], undone),
        (&["--fail-fast"], &[1, 3], undone),
        (&["--limit", "2"], &[1, 3], r#""complete":true"#),
        (&["--tag", "short"], &[3], r#""complete":true"#),
    ] {
        let endpoint = Endpoint::start(script().latency(std::time::Duration::from_millis(5)));
        let project = project(&endpoint);
        let ended = project.results(&[options, &["-j", "3"]].concat());
        assert!(ended.code.is_some_and(|it| codes.contains(&it)), "{options:?}: {:?} {}", ended.code, ended.stderr);
        assert!(ended.stdout.contains(sign), "{options:?}: {}", ended.stdout);
        drop(endpoint);
        let selection = if options[0].starts_with("--budget") || options[0] == "--timeout" { &[] } else { options };
        assert_replays(&project, &project.only_run(), &ended, selection);
    }
}

/// Rows and scenarios are cases of one id space, and selected alike.
#[test]
fn scenarios_are_selected_like_rows_which_have_no_subject() {
    let ids = |ended: &str| -> Vec<String> {
        let mut ids: Vec<String> =
            ended.split("{\"id\":\"").skip(1).map(|it| it.split('"').next().unwrap_or_default().to_owned()).collect();
        ids.sort();
        ids.dedup();
        ids
    };
    for (options, expected) in [
        (&["--tag", "short"][..], &["failing", "lost"][..]),
        (&["--tag", "short", "--tag", "third"], &["failing", "lost", "r3"]),
        (&["--filter", "id == 'relay' || id == 'r2'"], &["r2", "relay"]),
        (&["--filter", "id == 'lost'"], &["lost"]),
        (&["--limit", "1"], &["relay"]),
        (&["--limit", "4"], &["failing", "lost", "r1", "relay"]),
    ] {
        let endpoint = Endpoint::start(script());
        let project = project(&endpoint);
        let ended = project.results(options);
        let of_row = ended.stdout.lines().find(|it| it.starts_with("{\"id\":\"r"));
        assert!(of_row.is_none_or(|it| it.starts_with("{\"id\":\"relay\"") || !it.contains("subject")), "{of_row:?}");
        assert_eq!(ids(&ended.stdout), expected, "{options:?}: {} {}", ended.stdout, ended.stderr);
    }
}

#[test]
fn no_budget_is_overspent_by_conversations() {
    for calls in [1, 5, 12] {
        let endpoint = Endpoint::start(script());
        let project = project(&endpoint);
        let ended = project.results(&["--budget-calls", &calls.to_string(), "-j", "64"]);
        assert_eq!(ended.code, Some(4), "{}", ended.stderr);
        assert!(endpoint.stats().requests <= calls, "{calls}: {:?}", endpoint.stats());
    }
    // Under the budget of an earlier run nothing is asked again that was answered.
    let endpoint = Endpoint::start(script());
    let project = project(&endpoint);
    project.results(&["--budget-calls", "12", "-j", "4"]);
    let first = endpoint.stats();
    let ended = project.results(&["-j", "4"]);
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    let reference = Endpoint::start(script());
    let undisturbed = Project::new(MIXED, &rows(ROWS), &reference.url()).results(&["-j", "4"]);
    assert_eq!(timeless(&ended.stdout), timeless(&undisturbed.stdout));
    let all = (first.answers, endpoint.stats().answers, reference.stats().answers);
    assert_eq!(all.1, all.2, "each answer is asked for once: {all:?}");
}

/// Kills a run in the middle of its conversations and counts what is asked again.
#[test]
fn a_killed_conversation_resumes_in_the_middle() {
    let suite = talked(3);
    let reference = Endpoint::start(Script::new());
    let undisturbed = Project::new(&suite, "", &reference.url()).results(&["-j", "3"]);
    assert_eq!(undisturbed.code, Some(1), "{} {}", undisturbed.stdout, undisturbed.stderr);
    let n_all = reference.stats().requests;
    for n_answers in [1, 4, 7] {
        let endpoint = Endpoint::start(Script::new().held());
        let project = Project::new(&suite, "", &endpoint.url());
        let mut child = project.start(&[&["-j", "3", "--quiet"], RESULTS].concat());
        endpoint.release(n_answers);
        // All three conversations wait for an answer, unless one is over.
        endpoint.wait_until(|it| it.answers == n_answers as u64 && it.in_flight == 3);
        child.kill().expect("our own child can be killed");
        child.wait().expect("a child that was killed ends");
        endpoint.wait_until(|it| it.in_flight == 0);
        endpoint.release_all();
        let ended = project.results(&["-j", "3"]);
        assert_eq!(ended.code, Some(1), "{}", ended.stderr);
        assert_eq!(timeless(&ended.stdout), timeless(&undisturbed.stdout), "after {n_answers} answers");
        let stats = endpoint.stats();
        // The three that were in flight are asked again. An answer that was sent just before may not have been stored.
        let n_again = stats.requests - n_all;
        assert!((3..=6).contains(&n_again), "after {n_answers} answers: {n_again} asked again, {stats:?}");
        assert!(stats.most_repeats() <= 2, "{stats:?}");
        assert_replays(&project, &project.only_run(), &ended, &[]);
    }
}
