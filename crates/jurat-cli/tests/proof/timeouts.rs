//! How long turns and scenarios may take: what takes longer is a timeout of its own kind, and waiting for others is not counted.

use std::time::Duration;

use jurat_testkit::{Endpoint, Fault, Script, When};

use crate::project::{Ended, Project};
use crate::replays::assert_replays;

fn suite(limits: &str, edges: &str) -> String {
    format!(
        "
suite: slow
models: {{ subject: openai/subject }}
scenarios:
  slow:
    {limits}
    entry: fast
    nodes: {{ fast: {{ question: A quick one. }}, slow: {{ question: A slow one. }}, late: {{ question: Are you there? }} }}
    edges:
      - {{ from: fast, to: slow }}
{edges}
    outcomes:
      in_time: {{ status_is: completed }}
      too_late: {{ not: {{ status_is: completed }} }}
      failed: {{ status_is: error }}
      n_turns: {{ cel: 'result.turn_count' }}
"
    )
}

const ROUTED: &str =
    "      - { from: slow, to: late, when: { failure.category: timeout } }\n      - { from: slow, to: __end__ }";
const NOT_ROUTED: &str = "      - { from: slow, to: late }";

/// Runs a suite where one question is never answered.
fn run(suite: &str) -> (Project, Ended) {
    let silent = Script::new().fault_if(When::Always, |it| it.prompt == "A slow one.", Fault::Silence);
    let endpoint = Endpoint::start(silent);
    let project = Project::new(suite, "", &endpoint.url());
    let ended = project.results(&["--keep", "all"]);
    drop(endpoint);
    assert_replays(&project, &project.only_run(), &ended, &["--keep", "all"]);
    (project, ended)
}

/// A slow subject cannot be distinguished from a silent endpoint: nothing is judged.
#[track_caller]
fn assert_undecided(ended: &Ended) {
    assert_eq!(ended.code, Some(3), "{} {}", ended.stdout, ended.stderr);
    for task in ["in_time", "too_late", "failed", "n_turns"] {
        let shown = format!("{{\"task\":\"{task}\",\"kind\":\"outcome\",\"stage\":1,\"verdict\":\"error\"");
        assert!(ended.stdout.contains(&shown), "`{task}` is not an error: {} {}", ended.stdout, ended.stderr);
    }
}

#[test]
fn a_turn_that_takes_too_long_can_be_routed() {
    let (project, ended) = run(&suite("turn_timeout: 3s", ROUTED));
    assert_undecided(&ended);
    let explained = project.jurat(&["explain", "slow"]);
    assert!(explained.stdout.contains("Are you there?"), "it continues: {} {}", explained.stdout, explained.stderr);
}

#[test]
fn a_turn_that_takes_too_long_ends_the_scenario_otherwise() {
    let (project, ended) = run(&suite("turn_timeout: 3s", NOT_ROUTED));
    assert_undecided(&ended);
    let explained = project.jurat(&["explain", "slow"]);
    assert!(explained.stdout.contains("the turn took longer than 3s"), "{} {}", explained.stdout, explained.stderr);
    assert!(ended.stdout.contains("raise `turn_timeout` of the scenario"), "{}", ended.stdout);
}

#[test]
fn a_scenario_that_takes_too_long_is_a_timeout_whatever_its_edges_say() {
    for edges in [ROUTED, NOT_ROUTED] {
        let (_, ended) = run(&suite("timeout: 3s", edges));
        assert_undecided(&ended);
        assert!(ended.stdout.contains("the scenario took longer than 3s"), "{}", ended.stdout);
        assert!(ended.stdout.contains("raise `timeout` of the scenario"), "{}", ended.stdout);
    }
}

/// Twenty conversations that share one place: each waits for seconds, and none takes long.
#[test]
fn waiting_for_a_place_is_not_counted() {
    let mut suite = "suite: queue\nmodels: { subject: openai/subject }\nscenarios:\n".to_owned();
    for ix in 1..=20 {
        suite += &format!(
            "  s{ix}: {{ turn_timeout: 4s, timeout: 5s, entry: a, nodes: {{ a: {{ question: '{ix} a' }}, b: {{ question: '{ix} b' }} }}, \
             edges: [{{ from: a, to: b }}], outcomes: {{ in_time: {{ status_is: completed }} }} }}\n"
        );
    }
    let endpoint = Endpoint::start(Script::new().latency(Duration::from_millis(150)));
    let project = Project::new(&suite, "", &endpoint.url());
    let ended = project.results(&["-j", "1"]);
    assert_eq!(ended.code, Some(0), "{} {}", ended.stdout, ended.stderr);
    assert_eq!(endpoint.stats().requests, 40);
}
