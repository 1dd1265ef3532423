//! Checks: what each says about a run, and the laws that hold for them.

use std::path::Path;

use jurat_compare::Mismatch;
use jurat_core::check::{
    Check, Files, Glob, Look, Seen, SeenFile, Wants, dimension_scores, folded, is_blank, uri_path,
};
use jurat_core::evidence::run;
use jurat_core::plan::{Samples, examine};
use jurat_core::suite::{TaskKind, load};
use jurat_core::verdict::Verdict;
use jurat_format::value::{Val, parse_json};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::InMemory;

/// Files by name; the run's directory is `/run`.
struct Tree<'t>(&'t [(&'t str, &'t str)]);

impl Files for Tree<'_> {
    fn look(&self, look: &Look) -> Seen {
        let below = format!("{}/", look.path);
        match self.0.iter().find(|(name, _)| *name == look.path) {
            Some((name, text)) => {
                let bytes = text.as_bytes();
                let read = bytes.get(..look.wants.most_bytes().unwrap_or(0) as usize).unwrap_or(bytes);
                let seen = SeenFile::of_bytes((*name).to_owned(), bytes.len() as u64, read, &look.wants);
                Seen::File(Box::new(seen))
            }
            None if look.path.starts_with("/elsewhere") => Seen::Outside,
            None if self.0.iter().any(|(name, _)| name.starts_with(&below)) => Seen::Directory,
            None => Seen::Nothing,
        }
    }
}

fn check(definition: &str) -> Result<Check, String> {
    let suite = format!("suite: s\nrecords: [{{ a: 1 }}]\ntasks:\n  - {{ id: it, check: {definition} }}\n");
    let loaded = load(Path::new("suite.yaml"), &InMemory(&[("suite.yaml", &suite)]));
    if let Some(problem) = loaded.problems.first() {
        return Err(problem.message.clone());
    }
    match loaded.suite.tasks.first().map(|it| &it.kind) {
        Some(TaskKind::Check(check)) => Ok((**check).clone()),
        other => Err(format!("not a check: {other:?}")),
    }
}

/// A run with these parts besides those that every run has.
fn artifact(parts: &str) -> String {
    let comma = if parts.is_empty() { "" } else { ", " };
    format!(
        "{{\"identity\": {{\"run_id\": \"r\", \"case_id\": \"c\", \"suite_id\": \"s\", \"run_profile_id\": \"p\", \
         \"runner_type\": \"command\"}}, \"status\": \"success\", \"request\": {{\"requested_model\": \"m\"}}{comma}{parts}}}"
    )
}

#[track_caller]
fn of_row(definition: &str, row: &str, files: &[(&str, &str)], expected: &str) {
    let row = parse_json(row).expect("the row is JSON").value;
    let decided = match check(definition) {
        Ok(check) => check.run(&row, &Tree(files)).to_string(),
        Err(problem) => format!("problem: {problem}"),
    };
    assert_eq!(decided, expected, "{definition}");
}

#[track_caller]
fn of_run(definition: &str, parts: &str, expected: &str) {
    with_files(definition, parts, &[], expected);
}

#[track_caller]
fn with_files(definition: &str, parts: &str, files: &[(&str, &str)], expected: &str) {
    let text = artifact(parts);
    let evidence = run::evidence(parse_json(&text).expect("the artifact is JSON").value).expect("it is an artifact");
    of_row(definition, &evidence.to_json(), files, expected);
}

const TRACE: &str = r#""trace": [
    {"sequence": 0, "event_type": "message", "role": "user", "content": "go"},
    {"sequence": 1, "event_type": "tool_call", "call_id": "1", "tool_name": "search", "raw_arguments": "{\"query\": \"refund\", \"n\": 3}"},
    {"sequence": 2, "event_type": "tool_result", "call_id": "1", "status": "success", "output": "two pages"},
    {"sequence": 3, "event_type": "message", "role": "assistant", "content": "looking"},
    {"sequence": 4, "event_type": "tool_call", "call_id": "2", "tool_name": "open", "parsed_arguments": {"page": 1}},
    {"sequence": 5, "event_type": "tool_result", "call_id": "2", "status": "error", "output": "no such page"},
    {"sequence": 6, "event_type": "tool_call", "call_id": "3", "tool_name": "search", "parsed_arguments": {"query": "price"}},
    {"sequence": 7, "event_type": "final_output", "content": "{\"total\": 12}"}]"#;

#[test]
fn what_tools_were_called_with() {
    of_run("{ kind: tool_call_count, expected: 3 }", TRACE, "passed");
    of_run("{ kind: tool_call_count, count: 1 }", TRACE, "failed: expected 1 tool call, found 3 tool calls");
    of_run("{ kind: tool_called, tool: search }", TRACE, "passed");
    of_run("{ kind: tool_called, tool: [close, open] }", TRACE, "passed");
    of_run(
        "{ kind: tool_called, tool: close }",
        TRACE,
        "failed: expected a call of `close`, found `search`, `open`, `search`",
    );
    of_run("{ kind: tool_called, tool: search, arguments: { query: refund } }", TRACE, "passed");
    of_run(
        "{ kind: tool_called, tool: search, arguments: { query: returns } }",
        TRACE,
        "failed: expected a call of `search` with `query` being `returns`, found search({\"query\": \"refund\", \"n\": 3}), search({\"query\": \"price\"})",
    );
    let more =
        "{ kind: tool_called, arguments: [{ field_path: n, operator: greater_than, expected_value: 2 }], max: 1 }";
    of_run(more, TRACE, "passed");
    of_run(
        "{ kind: tool_called, tool: search, max: 1 }",
        TRACE,
        "failed: expected 1 call of `search`, found 2 such calls",
    );
    of_run("{ kind: tool_called, tool: search, min: 2, max: 4 }", TRACE, "passed");
    of_run("{ kind: tool_called, status: error }", TRACE, "passed");
    of_run("{ kind: tool_called, output: { operator: contains, expected_value: pages } }", TRACE, "passed");
    of_run("{ kind: tool_not_called, tool: delete }", TRACE, "passed");
    of_run("{ kind: tool_not_called, tool: open }", TRACE, "failed: expected no call of `open`, found 1 such call");
}

/// Agents have names of their own for tools that do the same.
#[test]
fn kinds_of_tools() {
    let trace = r#""trace": [
        {"sequence": 0, "event_type": "tool_call", "call_id": "1", "tool_name": "Bash", "parsed_arguments": {"command": "make"}},
        {"sequence": 1, "event_type": "tool_call", "call_id": "2", "tool_name": "run_shell_command", "parsed_arguments": {"command": "ls"}},
        {"sequence": 2, "event_type": "tool_call", "call_id": "3", "tool_name": "mcp__tickets__close", "parsed_arguments": {}},
        {"sequence": 3, "event_type": "final_output", "content": "done"}]"#;
    of_run("{ kind: tool_called, tool_kind: shell, min: 2, max: 2 }", trace, "passed");
    of_run("{ kind: tool_called, tool_kind: [web, mcp] }", trace, "passed");
    of_run("{ kind: tool_called, tool_kind: shell, arguments: { command: ls } }", trace, "passed");
    of_run("{ kind: tool_not_called, tool_kind: write }", trace, "passed");
    of_run(
        "{ kind: tool_called, tool_kind: write }",
        trace,
        "failed: expected a call of any tool of the kind `write`, found `Bash`, `run_shell_command`, `mcp__tickets__close`",
    );
    of_run(
        "{ kind: tool_called, tool: Read, tool_kind: shell }",
        trace,
        "failed: expected a call of `Read` of the kind `shell`, found `Bash`, `run_shell_command`, `mcp__tickets__close`",
    );
    of_run("{ kind: tool_order, tools: [{ tool_kind: shell }, { tool_kind: mcp }] }", trace, "passed");
}

#[test]
fn in_which_order() {
    of_run("{ kind: tool_order, tools: [search, open] }", TRACE, "passed");
    of_run("{ kind: tool_order, tools: [search, open, search], exact: true }", TRACE, "passed");
    of_run(
        "{ kind: tool_order, tools: [search, open], exact: true }",
        TRACE,
        "failed: expected exactly `search`, then `open`, found `search`, `open`, `search`",
    );
    of_run("{ kind: tool_order, tools: [open, { tool: search, arguments: { query: price } }] }", TRACE, "passed");
    of_run(
        "{ kind: tool_order, tools: [open, { tool: search, arguments: { query: refund } }] }",
        TRACE,
        "failed: expected `open`, then `search` with `query` being `refund`, found `search`, `open`, `search`",
    );
}

#[test]
fn what_tools_gave_back() {
    of_run("{ kind: tool_result, tool: search, status: success }", TRACE, "passed");
    of_run(
        "{ kind: tool_result, status: success }",
        TRACE,
        "failed: expected every result of any tool that succeeded, found open({\"page\": 1}) gave an error: `no such page`",
    );
    of_run("{ kind: tool_result, status: success, which: any }", TRACE, "passed");
    of_run("{ kind: tool_result, status: success, which: first }", TRACE, "passed");
    of_run("{ kind: tool_result, tool: open, output: { operator: starts_with, expected_value: no } }", TRACE, "passed");
    of_run("{ kind: tool_result, tool: open }", TRACE, "problem: `tool_result` needs `status` or `output`");
}

#[test]
fn what_was_said_at_the_end() {
    of_run("{ kind: final_response_present }", TRACE, "passed");
    of_run("{ kind: final_response, operator: contains, expected_value: total }", TRACE, "passed");
    let total = "{ kind: final_response, field_path: '@json.total', operator: equals, expected_value: 13 }";
    of_run(total, TRACE, "failed: expected 13, found 12");
    of_run(total, "", "failed: expected a final response: 13, found none");
    of_row("{ kind: final_response, operator: contains, expected_value: x }", "{\"output\": \"x\"}", &[], "passed");
    of_row(
        "{ kind: final_response, operator: contains, expected_value: x }",
        "{\"a\": 1}",
        &[],
        "error: the evidence has no `final_response`",
    );
    of_run("{ kind: final_response }", "", "problem: `final_response` needs an `operator`");
}

#[test]
fn what_it_took() {
    let usage = r#""usage": {"cost_usd": 0.5, "normalized": {"total_tokens": 900, "output_tokens": 100}},
        "timing": {"duration_seconds": 4.5}, "runner_metadata": {"exit_status": 3}"#;
    of_run("{ kind: cost_usd, max: 0.5 }", usage, "passed");
    of_run("{ kind: cost_usd, max: 0.4 }", usage, "failed: expected at most 0.4 dollars, found 0.5");
    of_run("{ kind: cost_usd, max: 1 }", "", "error: the evidence has no `usage.cost_usd`");
    of_run("{ kind: tokens, min: 1000 }", usage, "failed: expected at least 1000 tokens, found 900");
    of_run("{ kind: tokens, of: output, max: 100 }", usage, "passed");
    of_run("{ kind: duration_seconds, min: 1, max: 4 }", usage, "failed: expected 1 to 4 seconds, found 4.5");
    of_run("{ kind: turns, max: 1 }", TRACE, "passed");
    of_run("{ kind: turns, min: 2 }", TRACE, "failed: expected at least 2 turns, found 1");
    of_run("{ kind: exit_status, expected: 0 }", usage, "failed: expected exit status 0, found 3");
    of_run("{ kind: tokens }", usage, "problem: a bound needs `min` or `max`");
    of_run("{ kind: turns, min: 3, max: 2 }", usage, "problem: `max` is 2, which is less than `min`, 3");
}

const WORKSPACE: &str = r#""runner_metadata": {"workspace": {"added": ["out/report.md", "tmp/x"], "changed": [], "removed": ["old.txt"],
    "files": {"out/report.md": {"size": 12, "text": "{\"total\": 12}"}, "logo.png": {"size": 9}}}}"#;

#[test]
fn what_is_in_the_workspace() {
    of_run("{ kind: file_exists, workspace: out/report.md }", WORKSPACE, "passed");
    of_run("{ kind: file_exists, workspace: out }", WORKSPACE, "failed: expected a file `out`, found a directory");
    of_run("{ kind: path_exists, workspace: ./out/ }", WORKSPACE, "passed");
    of_run("{ kind: file_contains, workspace: out/report.md, text: total }", WORKSPACE, "passed");
    of_run(
        "{ kind: file_contains, workspace: logo.png, text: x }",
        WORKSPACE,
        "error: the text of `logo.png` was not recorded, or is none",
    );
    let total = "{ kind: file_matches, workspace: out/report.md, field_path: '@json.total', operator: equals, expected_value: 12 }";
    of_run(total, WORKSPACE, "passed");
    of_run("{ kind: file_matches, workspace: out/report.md, schema: { total: integer } }", WORKSPACE, "passed");
    of_run(
        "{ kind: file_matches, workspace: out/report.md, schema: { total: string } }",
        WORKSPACE,
        "failed: expected JSON that fits the schema, found 12 is not of type \"string\" at `/total`",
    );
    of_run("{ kind: workspace_file_present, relative_path: report.md }", WORKSPACE, "passed");
    of_run(
        "{ kind: workspace_file_present, relative_path: port.md }",
        WORKSPACE,
        "failed: expected a workspace file `port.md`, found no such file",
    );
    of_run(
        "{ kind: file_exists, workspace: a.txt }",
        "",
        "error: the run did not record what was in its workspace, and no output artifact is `a.txt`",
    );
    of_run(
        "{ kind: file_exists, workspace: ../a.txt }",
        "",
        "problem: `workspace` must be a path inside the workspace, not `../a.txt`",
    );
}

#[test]
fn what_changed_in_the_workspace() {
    of_run(
        "{ kind: workspace_unchanged }",
        WORKSPACE,
        "failed: expected an unchanged workspace, found `out/report.md` added, `tmp/x` added, `old.txt` removed",
    );
    of_run("{ kind: workspace_unchanged, except: ['out/**', tmp/, '*.txt'] }", WORKSPACE, "passed");
    of_run("{ kind: workspace_unchanged }", "", "error: the evidence has no `workspace.added`");
    of_run(
        "{ kind: workspace_unchanged, except: ['['] }",
        "",
        "problem: `[` is not a pattern of paths: `[` without `]`",
    );
}

const REPORT: &str = r#""output_artifacts": [{"artifact_id": "k1", "artifact_type": "command_key_output",
    "uri": "file:///run/ws/r%C3%A9sum%C3%A9.md"}]"#;

#[test]
fn files_that_a_run_left() {
    let files = [("/run/ws/résumé.md", "Sebastián"), ("notes/a.txt", "one\r\ntwo")];
    let present = |more: &str| format!("{{ kind: workspace_file_present, relative_path: ws/résumé.md{more} }}");
    with_files(&present(""), REPORT, &files, "passed");
    with_files(&present(", contains_all: [sebastian], contains_any: [x, SEB]"), REPORT, &files, "passed");
    with_files(
        &present(", contains: sebastian"),
        REPORT,
        &files,
        "failed: expected a workspace file `ws/résumé.md` with `sebastian`, found a file without that",
    );
    with_files("{ kind: file_exists, workspace: ws/résumé.md }", REPORT, &files, "passed");
    with_files(
        "{ kind: openclaw_workspace_file_present, relative_path: ws/résumé.md }",
        REPORT,
        &files,
        "failed: expected a run of `openclaw`, found one of `command`",
    );
    with_files("{ kind: file_contains, path: notes/a.txt, text: \"one\\ntwo\" }", "", &files, "passed");
    with_files("{ kind: path_exists, path: notes }", "", &files, "passed");
    with_files("{ kind: file_exists, path: notes }", "", &files, "failed: expected a file `notes`, found a directory");
}

#[test]
fn no_check_looks_outside_of_the_run() {
    let outside = REPORT.replace("/run/", "/elsewhere/");
    with_files(
        "{ kind: workspace_file_present, relative_path: ws/résumé.md }",
        &outside,
        &[],
        "error: `file:///elsewhere/ws/r%C3%A9sum%C3%A9.md` leads out of the run's directory, so jurat does not look there",
    );
}

#[test]
fn checks_of_recorded_responses() {
    let row = r#"{"response": {"choices": [{"message": {"role": "assistant", "tool_calls": [
        {"id": "a", "function": {"name": "search", "arguments": "{\"query\": \"refund\"}"}}]}}]}}"#;
    of_row(
        "{ kind: tool_called, tool: search, arguments: { query: refund }, response_path: response }",
        row,
        &[],
        "passed",
    );
    of_row(
        "{ kind: tool_called, tool: search }",
        row,
        &[],
        "error: the evidence has no `tool_calls`; name a recorded response with `response_path`",
    );
    of_row(
        "{ kind: tool_call_count, expected: 0, response_path: reply }",
        row,
        &[],
        "error: `reply` finds nothing: the context has no `reply`; it has response",
    );
}

#[test]
fn dimensions_have_defaults_and_scores() {
    let suite = "suite: s\nrecords: [{ a: 1 }]\ntasks:\n  - { id: a, check: { kind: status_is, expected: success } }\n  - { id: b, check: { kind: status_is, expected: failed }, dimensions: [spark, task] }\n";
    let loaded = load(Path::new("suite.yaml"), &InMemory(&[("suite.yaml", suite)]));
    assert!(examine(&loaded.suite, &Samples::default()).is_empty());
    let (plan, _) = jurat_core::plan::Plan::build(&loaded.suite, &Samples::default()).expect("the suite is sound");
    let dimensions: Vec<&[String]> = plan.tasks.iter().map(|it| it.dimensions.as_slice()).collect();
    let failed = Verdict::Failed(Box::new(Mismatch { expected: String::new(), found: String::new() }));
    let verdicts = [Verdict::Passed, failed];
    let scores = dimension_scores(dimensions.into_iter().zip(&verdicts));
    let shown: Vec<String> = scores.iter().map(|it| format!("{} {:?}", it.name, it.score())).collect();
    assert_eq!(shown, ["task Some(0.0)", "process Some(10.0)", "spark Some(0.0)"]);
}

/// Letters of many kinds, with marks that fold away.
fn letters() -> impl Strategy<Value = String> {
    vec(
        prop_oneof![any::<char>(), prop::sample::select(vec!['á', 'ß', 'İ', 'ﬁ', '\u{301}', 'Σ', '\u{345}', ' '])],
        0..12,
    )
    .prop_map(|it| it.into_iter().collect())
}

proptest! {
    #![proptest_config(crate::laws())]

    #[test]
    fn folding_goes_letter_by_letter(left in letters(), right in letters()) {
        // Marks are put into order across letters, and dropped in whatever order; so nothing depends on neighbours.
        prop_assert_eq!(folded(&format!("{left}{right}")), folded(&left) + &folded(&right));
    }

    #[test]
    fn folding_twice_is_folding_once_but_for_capitals(text in letters()) {
        let once = folded(&text);
        // Capitals that come of a compatibility mapping are the one thing that a second fold would change.
        prop_assume!(!once.chars().any(char::is_uppercase));
        prop_assert_eq!(folded(&once), once);
    }

    #[test]
    fn case_never_matters_to_ascii(text in "[ -~]{0,20}") {
        prop_assert_eq!(folded(&text.to_ascii_uppercase()), folded(&text));
    }

    #[test]
    fn what_is_blank_stays_so_with_more_space(text in letters()) {
        prop_assert_eq!(is_blank(&format!("\u{1c} {text}\n\u{1f}")), is_blank(&text));
    }

    #[test]
    fn a_path_comes_back_from_its_uri(path in "/[ -~é€]{0,20}") {
        let mut uri = "file://".to_owned();
        for byte in path.bytes() {
            uri.push_str(&format!("%{byte:02x}"));
        }
        // The first `/` ends the name of the host, so it is not escaped.
        let uri = uri.replacen("%2f", "/", 1);
        prop_assert_eq!(uri_path(&uri), Some(path));
    }

    #[test]
    fn a_glob_of_plain_names_matches_itself_alone(path in "[a-z]{1,4}(/[a-z]{1,4}){0,3}", other in "[a-z]{1,4}(/[a-z]{1,4}){0,3}") {
        let glob = Glob::parse(&path).expect("plain names are a pattern");
        prop_assert!(glob.matches(&path));
        prop_assert_eq!(glob.matches(&other), path == other);
        prop_assert!(Glob::parse("**").expect("a pattern").matches(&other));
    }

    #[test]
    fn an_order_that_holds_holds_with_more_calls_between(
        wanted in vec(0..4usize, 0..4),
        between in vec(vec(4..8usize, 0..3), 5),
    ) {
        let mut calls: Vec<usize> = Vec::new();
        for (ix, extra) in between.iter().enumerate() {
            calls.extend(extra);
            calls.extend(wanted.get(ix));
        }
        let names = |of: &[usize]| of.iter().map(|it| format!("t{it}")).collect::<Vec<_>>().join(", ");
        let listed = calls.iter().map(|it| format!("{{\"name\": \"t{it}\"}}")).collect::<Vec<_>>().join(", ");
        let evidence = format!("{{\"tool_calls\": [{listed}]}}");
        let decided = |exact: bool, of: &[usize]| {
            let definition = format!("{{ kind: tool_order, tools: [{}], exact: {exact} }}", names(of));
            let row = parse_json(&evidence).expect("JSON").value;
            check(&definition).expect("a check").run(&row, &Tree(&[])).to_string()
        };
        prop_assert_eq!(decided(false, &wanted), "passed");
        prop_assert_eq!(decided(true, &calls), "passed");
        prop_assert_eq!(decided(true, &wanted) == "passed", calls.len() == wanted.len());
        let mut missing = wanted.clone();
        missing.push(9);
        prop_assert_ne!(decided(false, &missing), "passed");
    }

    #[test]
    fn what_was_cut_is_the_beginning(text in "[a-zé€]{0,40}", most in 0..60u64) {
        let bytes = text.as_bytes();
        let read = &bytes[..(most as usize).min(bytes.len())];
        let seen = SeenFile::of_bytes("f".to_owned(), bytes.len() as u64, read, &Wants::Text(most));
        let stored = seen.text.expect("it is text");
        prop_assert!(text.starts_with(&stored) && read.len() - stored.len() < 4);
        prop_assert_eq!(seen.is_cut, read.len() < bytes.len());
    }

    #[test]
    fn evidence_of_evidence_is_the_same(n_calls in 0..4usize, said in "[ a-z]{0,6}") {
        let mut events: Vec<String> = (0..n_calls)
            .map(|ix| format!("{{\"sequence\": {ix}, \"event_type\": \"tool_call\", \"call_id\": \"{ix}\", \"tool_name\": \"t\"}}"))
            .collect();
        events.push(format!("{{\"sequence\": {n_calls}, \"event_type\": \"final_output\", \"content\": \"{said}\"}}"));
        let text = artifact(&format!("\"trace\": [{}]", events.join(", ")));
        let once = run::evidence(parse_json(&text).expect("JSON").value).expect("an artifact");
        let response = if is_blank(&said) { Val::Null } else { Val::from(said.as_str()) };
        prop_assert_eq!(once.get("final_response"), Some(&response));
        let again = run::evidence(once.clone());
        prop_assert_eq!(again.as_ref(), Ok(&once));
    }
}
