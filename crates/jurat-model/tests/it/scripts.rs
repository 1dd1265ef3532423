//! Models whose answers are written down beforehand.

use std::time::Duration;

use jurat_core::effect::{EndpointKey, FaultKind, ModelRequest, Outcome, PerformerKey, Request, Role};
use jurat_model::script::Script;
use jurat_model::{Asker, Model, Transport, Turn, Unmetered};

use crate::asking::{ask, options, question, run_paused, script, shown};

/// Asks as a task; the outcome in words.
async fn asked(transport: &Transport, model: &Model, task: &str, prompt: &str) -> String {
    let asker = Asker { case: "c1", task, turn: None, priority: 0 };
    shown(&transport.ask(model, asker, &question(prompt), 3, &Unmetered).await)
}

#[test]
fn the_first_unused_match_answers() {
    let model = script(concat!(
        "{\"match\": {\"task\": \"tone\", \"contains\": \"refund\"}, \"reply\": {\"label\": \"polite\"}}\n\n",
        "{\"match\": {\"regex\": \"^Judge\\\\s\"}, \"reply\": \"second\", \"times\": 2}\n",
        "{\"match\": {\"task\": \"flaky\"}, \"fault\": \"status:500\", \"times\": 2}\n",
        "{\"match\": {\"task\": \"flaky\"}, \"reply\": \"well\"}\n",
        "{\"match\": {\"task\": \"dead\"}, \"fault\": \"status:400\", \"times\": \"*\"}\n",
    ));
    run_paused(async {
        let transport = Transport::new(options());
        for (task, prompt, expected) in [
            ("tone", "Judge the refund", "stop: {\"label\":\"polite\"} after 1"),
            ("tone", "Judge the refund", "stop: second after 1"),
            ("other", "Judge it", "stop: second after 1"),
            ("flaky", "x", "stop: well after 3"),
            ("dead", "x", "status:400 after 1: the model answered with status 400"),
            (
                "tone",
                "Judge it",
                "no_answer after 1: no line of the script answers `tone` for `c1`; the prompt is `Judge it`",
            ),
        ] {
            assert_eq!(asked(&transport, &model, task, prompt).await, expected);
        }
    });
}

/// Several models of one role are numbered, and a line for the role is for each of them.
#[test]
fn a_line_for_a_role_matches_each_of_its_models() {
    let model = script("{\"match\": {\"role\": \"subject\"}, \"reply\": \"yes\", \"times\": \"*\"}");
    run_paused(async {
        let transport = Transport::new(options());
        for (role, expected) in [
            ("subject", "stop: yes after 1"),
            ("subject#1", "stop: yes after 1"),
            ("subject#12", "stop: yes after 1"),
            ("subject#", "no_answer after 1: no line of the script answers `subject#` for `c1`; the prompt is `q`"),
            ("subjects", "no_answer after 1: no line of the script answers `subjects` for `c1`; the prompt is `q`"),
        ] {
            let request = ModelRequest { model: Role::parse(role), ..question("q") };
            let asker = Asker { case: "c1", task: "", turn: None, priority: 0 };
            assert_eq!(shown(&transport.ask(&model, asker, &request, 3, &Unmetered).await), expected);
        }
    });
}

#[test]
fn a_request_of_a_turn_is_named_by_the_turn() {
    let model = script("{\"match\": {\"contains\": \"never asked\"}, \"reply\": \"x\"}");
    run_paused(async {
        let turn = Some(Turn { node: "doubt", number: 2 });
        let asker = Asker { case: "capital", task: "", turn, priority: 0 };
        let request = ModelRequest { model: "parser".into(), ..question("Sure?") };
        assert_eq!(
            shown(&Transport::new(options()).ask(&model, asker, &request, 3, &Unmetered).await),
            "no_answer after 1: no line of the script answers `parser` in turn 2 (node `doubt`) of the scenario \
             `capital`; the prompt is `Sure?`"
        );
    });
}

#[test]
fn faults_are_those_of_a_real_endpoint() {
    run_paused(async {
        for (fault, kind, n_requests) in [
            ("status:429", FaultKind::Status(429), 3),
            ("status:503", FaultKind::Status(503), 3),
            ("status:401", FaultKind::Status(401), 1),
            ("cut", FaultKind::Cut, 3),
            ("truncate", FaultKind::Garbled, 3),
            ("timeout", FaultKind::Timeout, 2),
            ("reset", FaultKind::Cut, 3),
        ] {
            let model = script(&format!(r#"{{"fault": "{fault}", "times": "*"}}"#));
            let asker = Asker { case: "c1", task: "t", turn: None, priority: 0 };
            let transport = Transport::new(options());
            let outcome = transport.ask(&model, asker, &question("q"), 3, &Unmetered).await;
            let Outcome::Fault(found) = outcome else { panic!("{fault}: {outcome:?}") };
            assert_eq!(
                (found.kind, found.n_requests, found.failed.len()),
                (kind, n_requests, n_requests as usize),
                "{fault}"
            );
        }
    });
}

#[test]
fn an_answer_may_have_tools_tokens_and_time() {
    run_paused(async {
        let model = script(concat!(
            "{\"match\": {\"contains\": \"rain\"}, \"tool_calls\": [{\"name\": \"forecast\", \"arguments\": {\"city\": \"Ghent\"}}, ",
            "{\"id\": \"x\", \"name\": \"clock\"}]}\n",
            "{\"match\": {\"contains\": \"slow\"}, \"reply\": \"at last\", \"latency_ms\": 1500, ",
            "\"usage\": {\"input\": 100, \"output\": 20, \"cached\": 50, \"reasoning\": 5}}\n",
            "{\"match\": {\"contains\": \"bomb\"}, \"fault\": \"refusal\", \"reply\": \"I would rather not.\"}\n",
            "{\"match\": {\"contains\": \"silent\"}, \"fault\": \"refusal\"}\n",
            "{\"match\": {\"contains\": \"wait\"}, \"fault\": \"status:429\", \"retry_after\": 2.5}\n",
            "{\"match\": {\"contains\": \"wait\"}, \"reply\": \"now\"}\n",
        ));
        let transport = Transport::new(options());
        let outcome = ask(&transport, &model, &question("rain?")).await;
        assert_eq!(shown(&outcome), "tool_calls:  forecast({\"city\": \"Ghent\"}) clock({}) after 1");
        let Outcome::Answer(answer) = ask(&transport, &model, &question("slow")).await else { panic!("an answer") };
        let usage = answer.usage.expect("usage is reported");
        assert_eq!((usage.input, usage.output, usage.cached, usage.reasoning), (100, 20, 50, 5));
        assert_eq!(answer.latency, Duration::from_millis(1500));
        assert_eq!(shown(&ask(&transport, &model, &question("bomb")).await), "refusal: I would rather not. after 1");
        assert_eq!(shown(&ask(&transport, &model, &question("silent")).await), "refusal:  after 1");
        let started = tokio::time::Instant::now();
        let Outcome::Answer(answer) = ask(&transport, &model, &question("wait")).await else { panic!("an answer") };
        assert_eq!(answer.failed[0].retry_after, Some(Duration::from_millis(2500)));
        assert_eq!(started.elapsed(), Duration::from_millis(2500));
    });
}

#[test]
fn a_script_with_lines_that_wear_out_depends_on_order() {
    let is_sequential = |text: &str| Script::parse(text).unwrap().is_sequential();
    assert!(!is_sequential("{\"reply\": 1, \"times\": \"*\"}\n{\"fault\": \"cut\", \"times\": \"*\"}"));
    assert!(is_sequential("{\"reply\": 1, \"times\": \"*\"}\n{\"reply\": 2}"));
    assert!(script("{\"reply\": 2}").is_sequential());
    assert!(!script("").is_sequential());
}

#[test]
fn answers_are_stored_under_the_text_of_the_script() {
    let key = |lines: &str| {
        let key = EndpointKey::new(script(lines).endpoint());
        Request::from(question("q")).key(&PerformerKey::Endpoint(&key))
    };
    assert_eq!(key("{\"reply\": 1}"), key("{\"reply\": 1}"));
    assert_ne!(key("{\"reply\": 1}"), key("{\"reply\": 2}"));
}

#[test]
fn a_script_that_cannot_be_read_says_where() {
    for (text, message) in [
        ("{}", "line 1: a line needs `reply`, `tool_calls` or `fault`"),
        (
            "\n{\"reply\": 1, \"tims\": 2}",
            "line 2: there is no key `tims`; there are match, reply, tool_calls, usage, finish, reasoning, logprobs, latency_ms, fault, message, retry_after, times",
        ),
        ("{\"reply\": 1, \"times\": 0}", "line 1: `times` is a number of at least 1, or \"*\""),
        (
            "{\"fault\": \"boom\"}",
            "line 1: \"boom\" is no fault; there are \"status:NNN\", \"cut\", \"truncate\", \"timeout\", \"reset\" and \"refusal\"",
        ),
        (
            "{\"fault\": \"status:99\"}",
            "line 1: \"status:99\" is no fault; there are \"status:NNN\", \"cut\", \"truncate\", \"timeout\", \"reset\" and \"refusal\"",
        ),
        ("{\"fault\": \"cut\", \"reply\": 1}", "line 1: a line has either `reply` or `fault`"),
        ("{\"fault\": \"cut\", \"usage\": {}}", "line 1: `usage` is for replies"),
        ("{\"reply\": 1, \"retry_after\": 1}", "line 1: `retry_after` is for faults"),
        ("{\"reply\": 1, \"latency_ms\": -1}", "line 1: `latency_ms` is a number of milliseconds"),
        ("{\"tool_calls\": []}", "line 1: `tool_calls` is a list of objects with `name` and `arguments`"),
        ("{\"tool_calls\": [{\"name\": 1}]}", "line 1: `tool_calls` is a list of objects with `name` and `arguments`"),
        (
            "{\"reply\": 1, \"usage\": {\"input\": -1}}",
            "line 1: `usage` is an object of numbers of tokens: `input`, `output`, `cached`, `reasoning` and `cache_write`",
        ),
        ("{\"match\": {\"regex\": \"(\"}, \"reply\": 1}", "line 1: `(` is not a regular expression"),
        ("[", "line 1: EOF while parsing a list (line 1, column 1)"),
    ] {
        assert_eq!(Script::parse(text).unwrap_err().to_string(), message);
    }
}
