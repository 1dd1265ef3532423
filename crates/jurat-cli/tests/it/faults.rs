//! Faults of endpoints, judges, budgets and definitions, wherever they strike: none of them decides about a subject, in a run, when it is replayed and when it is
//! read back.

use jurat_format::value::{Val, Value, parse_json};

use crate::command::{Folder, ended};

/// What cannot be had from a model, as scripts say it.
const GONE: [&str; 7] = ["reset", "cut", "timeout", "truncate", "status:401", "status:429", "status:503"];

/// A conversation of three turns with these outcomes.
fn conversation(first: &str, outcomes: &str) -> String {
    format!(
        "
suite: it
models: {{ subject: script/subject.jsonl, parser: script/parser.jsonl }}
scenarios:
  it:
    entry: a
    nodes:
      a: {{ question: QA{first} }}
      b: {{ question: QB }}
      c: {{ question: QC }}
    edges: [a -> b, b -> c]
    outcomes:
{outcomes}"
    )
}

const GATED: &str = "      - { name: over, check: { status_is: completed }, condition: true }
      - { name: said, check: { last_turn: { raw_response: ok } }, depends_on: [over] }
";

/// The exit code of a run, and the verdicts of its only case and of its tasks.
#[track_caller]
fn judged(suite: &str, scripts: &[(&str, &str)], arguments: &[&str]) -> (Option<i32>, String, Vec<String>) {
    let folder = scripts.iter().fold(Folder::with("suite.yaml", suite), |it, (name, text)| it.and(name, text));
    let run = |more: &[&str]| {
        let ended = folder.jurat(&[&["run", "suite.yaml", "--json", "--quiet"], more].concat());
        (ended.code, verdicts(&ended.stdout).unwrap_or_else(|| panic!("{}{}\n{suite}", ended.stdout, ended.stderr)))
    };
    let (code, (case, tasks)) = run(arguments);
    let replayed = run(&["--replay", "latest"]);
    assert_eq!(replayed, (code, (case.clone(), tasks.clone())), "a replay says the same\n{suite}");
    let shown = folder.jurat(&["show", "--json"]);
    assert_eq!(verdicts(&shown.stdout).map(|it| it.0).as_ref(), Some(&case), "{}\n{suite}", shown.stdout);
    (code, case, tasks)
}

/// The verdict of the only case in results, and those of its tasks.
fn verdicts(results: &str) -> Option<(String, Vec<String>)> {
    let results: Value = parse_json(results).ok()?.value.into_owned();
    let case = results.get("results")?.get("cases")?.as_list()?.first()?.clone();
    let word = |it: &Val<'_>| it.get("verdict").and_then(Val::as_str).unwrap_or_default().to_owned();
    let tasks = case.get("tasks").and_then(Val::as_list).unwrap_or_default();
    Some((word(&case), tasks.iter().map(word).collect()))
}

#[track_caller]
fn undecided(suite: &str, scripts: &[(&str, &str)], arguments: &[&str]) {
    let (code, case, tasks) = judged(suite, scripts, arguments);
    assert_eq!((code, case.as_str()), (Some(3), "error"), "{tasks:?}\n{suite}\n{scripts:?}");
}

const FINE: &str = "{\"reply\": \"ok\", \"times\": \"*\"}\n";

fn fails(at: &str, fault: &str) -> String {
    format!("{{\"match\": {{\"contains\": \"{at}\"}}, \"fault\": \"{fault}\", \"times\": \"*\"}}\n{FINE}")
}

fn says(reply: &str) -> String {
    format!("{}\n", Val::Map([("reply", Val::from(reply)), ("times", Val::from("*"))].into_iter().collect()).to_json())
}

#[test]
fn an_endpoint_that_is_gone_is_not_hidden_by_a_gate() {
    for fault in GONE {
        for turn in ["QA", "QB", "QC"] {
            undecided(&conversation("", GATED), &[("subject.jsonl", &fails(turn, fault)), ("parser.jsonl", FINE)], &[]);
        }
    }
}

#[test]
fn no_outcome_makes_a_verdict_of_an_endpoint_that_is_gone() {
    for check in [
        "status_is: error",
        "not: { status_is: completed }",
        "any_of: [{ status_is: error }, { turn_count_gte: 9 }]",
        "at_least_n: { n: 1, of: [{ status_is: completed }, { status_is: error }] }",
        "count_turns: { eq: 2 }",
        "first_turn: { raw_response: ok }",
        "count_turns: { node: c, eq: 0 }",
        "cel: \"result.status in ['completed', 'error']\"",
        "result: { terminal_failure.category: connection }",
    ] {
        let outcomes = format!("      - {{ name: it, check: {{ {check} }} }}\n");
        let scripts = [("subject.jsonl", fails("QB", "reset")), ("parser.jsonl", FINE.to_owned())];
        let scripts = scripts.each_ref().map(|(name, text)| (*name, text.as_str()));
        undecided(&conversation("", &outcomes), &scripts, &[]);
    }
}

#[test]
fn a_failing_parser_or_rater_decides_nothing() {
    let read = ", template: { n: { type: integer, description: n, ground_truth: 1 } }";
    let rated = ", rubric: [{ name: clear, kind: boolean, description: is it clear }]";
    let faults = GONE.iter().map(|it| fails("", it));
    let replies =
        ["", " \n", "perhaps", "null", "{\"n\": 1, \"n\": 2}", "{\"n\": \"1\"}", "{\"clear\": null}"].map(says);
    for parser in faults.chain(replies) {
        for first in [read, rated] {
            let scripts = [("subject.jsonl", FINE), ("parser.jsonl", parser.as_str())];
            undecided(&conversation(first, GATED), &scripts, &[]);
        }
    }
}

#[test]
fn mistakes_of_authors_do_not_decide() {
    for update in ["turn", "{\"n\": accumulated.n + 1}", "{\"n\": 1 / 0}", "parsed.missing"] {
        let suite = conversation(&format!(", state_update: {{ cel: '{update}' }}"), GATED);
        undecided(&suite, &[("subject.jsonl", FINE), ("parser.jsonl", FINE)], &[]);
    }
    for check in ["result.history[7].raw_response == \"a\"", "result.terminal_failure.category == \"x\""] {
        let outcomes = format!("      - {{ name: it, check: {{ not: {{ cel: '{check}' }} }} }}\n");
        undecided(&conversation("", &outcomes), &[("subject.jsonl", FINE), ("parser.jsonl", FINE)], &[]);
    }
}

#[test]
fn a_budget_in_the_middle_leaves_a_conversation_not_run() {
    for outcomes in [GATED, "      - { name: over, check: { status_is: completed }, condition: true }\n"] {
        let suite = conversation("", outcomes);
        let folder = Folder::with("suite.yaml", &suite).and("subject.jsonl", FINE).and("parser.jsonl", FINE);
        let ended = folder.jurat(&["run", "suite.yaml", "--json", "--quiet", "--budget-calls", "2"]);
        let case = verdicts(&ended.stdout).map(|it| it.0);
        assert_eq!((ended.code, case.as_deref()), (Some(4), Some("not_run")), "{}{}", ended.stdout, ended.stderr);
        let resumed = folder.jurat(&["run", "suite.yaml", "--quiet", "--budget-calls", "9"]);
        assert!(resumed.code != Some(4) && resumed.code != Some(3), "{}{}", resumed.stdout, resumed.stderr);
    }
}

/// Judges with and without `output`, on one row.
const JUDGED: &str = "
suite: it
models: { judge: script/judge.jsonl }
records: [{ id: r, a: x, want: true }]
tasks:
  - { id: field, judge: { prompt: 'p ${a}', output: { score: number }, max_retries: 1 }, field_path: score, operator: greater_than, expected_value: 3 }
  - { id: read, judge: { prompt: 'p ${a}', max_retries: 1 }, field_path: score, operator: greater_than, expected_value: 3 }
  - { id: number, judge: { prompt: 'p ${a}', max_retries: 1 }, operator: greater_than, expected_value: 3 }
  - { id: boolean, judge: { prompt: 'p ${a}', max_retries: 1 }, operator: equals, expected_value: true }
  - { id: other, judge: { prompt: 'p ${a}', max_retries: 1 }, operator: not_equal, expected_value: true }
  - { id: by_row, judge: { prompt: 'p ${a}', max_retries: 1 }, operator: not_equal, expected_value: '${want}' }
  - { id: mean, judge: { prompt: 'p ${a}', max_retries: 1, repeat: 2, aggregate: mean }, operator: equals, expected_value: 4 }
";

#[test]
fn a_reply_of_any_other_shape_is_an_error_of_its_task() {
    for (reply, verdicts) in [
        ("", "error error error error error error error"),
        (" \n\t", "error error error error error error error"),
        ("null", "error error error error error error error"),
        ("four", "error error error error error error error"),
        ("{\"score\": 4", "error error error error error error error"),
        ("{\"score\": 1, \"score\": 9}", "error error error error error error error"),
        ("{\"score\": 4, \"x\": [{\"a\": 1, \"a\": 2}]}", "error error error error error error error"),
        ("{\"score\": null}", "error error error error error error error"),
        ("{\"score\": \"4\"}", "error error error error error error error"),
        ("[4]", "error error error error error error error"),
        ("\"4\"", "error error error error error error error"),
        ("<html>502</html>", "error error error error error error error"),
        ("{\"score\": 4}", "passed passed error error error error error"),
        (" 4\n", "error error passed error error error passed"),
        ("true", "error error error passed failed failed error"),
    ] {
        let (_, _, tasks) = judged(JUDGED, &[("judge.jsonl", &says(reply))], &[]);
        assert_eq!(tasks.join(" "), verdicts, "{reply}");
    }
}

#[test]
fn one_slot_without_a_reply_leaves_a_panel_undecided() {
    for aggregate in ["majority", "all", "any", "mean", "median"] {
        for reply in ["", "null", "{\"n\": 1, \"n\": 1}", "{\"n\": "] {
            let suite = format!(
                "
suite: it
models: {{ one: script/one.jsonl, two: script/two.jsonl, three: script/three.jsonl }}
records: [{{ id: r, a: x }}]
tasks: [{{ id: it, judge: {{ prompt: 'p ${{a}}', panel: [one, two, three], aggregate: {aggregate}, output: {{ n: number }}, max_retries: 0 }}, field_path: n, operator: equals, expected_value: 1 }}]
"
            );
            let one = says("{\"n\": 1}");
            undecided(&suite, &[("one.jsonl", &one), ("two.jsonl", &says(reply)), ("three.jsonl", &one)], &[]);
        }
    }
}

#[test]
fn a_row_whose_subject_is_gone_is_an_error_whatever_its_tasks_are() {
    let suite = |tasks: &str| {
        format!(
            "
suite: it
models: {{ subject: script/subject.jsonl }}
records: [{{ id: r, a: x }}]
ask: {{ prompt: 'p ${{a}}' }}
tasks: [{tasks}]
"
        )
    };
    for fault in GONE {
        for tasks in [
            "{ id: g, field_path: output, operator: is_not_empty, condition: true }",
            "{ id: t, field_path: output, operator: exists, expected_value: false }",
            "{ id: a, field_path: a, operator: equals, expected_value: x }",
        ] {
            undecided(&suite(tasks), &[("subject.jsonl", &fails("", fault))], &[]);
        }
    }
}

/// What an engine of containers says when it, or the program in its image, cannot be started is no failure of the agent.
#[test]
fn an_engine_that_cannot_run_its_image_is_an_error() {
    use std::os::unix::fs::PermissionsExt as _;
    let suite = "suite: boxed\nagents: { a: { command: [agent], sandbox: { container: { image: x, engine: docker } } } }\n\
                 cases: [{ id: c, task: x }]\ntasks: [{ id: st, check: { kind: status_is, expected: success } }]\n";
    for (status, words) in [
        (125, "`docker` could not run the image `x`: no daemon answers"),
        (126, "the program cannot be invoked in the image `x`: no daemon answers"),
        (127, "there is no such program in the image `x`: no daemon answers"),
    ] {
        let engine = format!("#!/bin/sh\necho no daemon answers >&2\nexit {status}\n");
        let folder = Folder::with("suite.yaml", suite).and("bin/docker", engine);
        let program = folder.path().join("bin/docker");
        std::fs::set_permissions(program, std::fs::Permissions::from_mode(0o755)).expect("modes can be set");
        let search = std::env::var_os("PATH").unwrap_or_default();
        let folders = [folder.path().join("bin")].into_iter().chain(std::env::split_paths(&search));
        let search = std::env::join_paths(folders).expect("paths can be joined");
        let ended = ended(folder.command().args(["run", "suite.yaml", "-q"]).env("PATH", search));
        assert_eq!(ended.code, Some(3), "{ended:?}");
        let words = format!("the agent could not be started: {words}");
        assert!(ended.stdout.contains(&words), "{words}\n{ended:?}");
    }
}

/// A label that a boolean became is a boolean to the tasks that read it, too.
#[test]
fn a_task_that_reads_the_label_of_an_evaluator_takes_a_boolean_as_it_is_spelled() {
    let suite = "
suite: it
records: [{ id: r, output: It is due. }]
evaluators: { paid: { source: \"def evaluate(output):\\n    return 'paid' in output\\n\" } }
tasks:
  - { id: flag, evaluate: paid }
  - { id: boolean, depends_on: [flag], field_path: flag.label, operator: equals, expected_value: false }
  - { id: spelled, depends_on: [flag], field_path: flag.label, operator: equals, expected_value: 'false' }
  - { id: python, depends_on: [flag], field_path: flag.label, operator: equals, expected_value: 'False' }
  - { id: other, depends_on: [flag], field_path: flag.label, operator: not_equal, expected_value: false }
  - { id: truth, depends_on: [flag], field_path: flag.label, operator: boolean_match, expected_value: true }
";
    let (_, _, tasks) = judged(suite, &[], &[]);
    assert_eq!(tasks.join(" "), "measured passed passed passed failed failed");
}
