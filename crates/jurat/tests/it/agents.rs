//! Agents, cases and checks built in Rust are those that YAML says; campaigns of another program are loaded as they are.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use jurat::check::{self, Call, Check, Rule, Which, in_workspace};
use jurat::compare::{contains, equals, greater_than, starts_with};
use jurat::{Agent, AgentCase, Error, Profiles, Suite};
use jurat_core::check::KINDS;
use jurat_core::suite::TaskKind;
use serde_json::json;

/// Every rule with what YAML says for it.
fn rules() -> Vec<(Rule, &'static str)> {
    let search = || Call::of("search").argument("query", contains("refund")).status("success").output(equals("x"));
    vec![
        (check::final_response_present(), "kind: final_response_present"),
        (check::final_response(contains("a")), "kind: final_response, operator: contains, expected_value: a"),
        (
            check::final_response_at("@json.total", greater_than(3)),
            "kind: final_response, field_path: '@json.total', operator: greater_than, expected_value: 3",
        ),
        (check::tool_call_count(3), "kind: tool_call_count, expected: 3"),
        (check::tool_called("search"), "kind: tool_called, tool: search"),
        (
            check::tool_called(search()).at_least(1).at_most(3).in_response("answer"),
            "kind: tool_called, tool: search, status: success, min: 1, max: 3, response_path: answer, \
             arguments: [{ field_path: query, operator: contains, expected_value: refund }], \
             output: [{ operator: equals, expected_value: x }]",
        ),
        (check::tool_not_called(Call::of_any(["a", "b"])), "kind: tool_not_called, tool: [a, b]"),
        (check::tool_not_called(Call::of_every_tool()), "kind: tool_not_called"),
        (check::tool_order(["a", "b"]).exact(), "kind: tool_order, tools: [a, b], exact: true"),
        (
            check::tool_order([Call::of("a"), Call::of("b").status("error")]),
            "kind: tool_order, tools: [a, { tool: b, status: error }]",
        ),
        (
            check::tool_result(Call::of("a").status("success"), Which::Last),
            "kind: tool_result, tool: a, status: success, which: last",
        ),
        (check::status_is("success"), "kind: status_is, expected: success"),
        (check::exit_status(-1), "kind: exit_status, expected: -1"),
        (check::file_exists("a.md"), "kind: file_exists, path: a.md"),
        (check::path_exists(in_workspace("a")), "kind: path_exists, workspace: a"),
        (check::file_contains(in_workspace("a"), "t"), "kind: file_contains, workspace: a, text: t"),
        (
            check::file_matches(in_workspace("a"), starts_with("#")),
            "kind: file_matches, workspace: a, operator: starts_with, expected_value: '#'",
        ),
        (
            check::file_matches_at("a", "@json.n", equals(1)),
            "kind: file_matches, path: a, field_path: '@json.n', operator: equals, expected_value: 1",
        ),
        (check::file_fits("a", json!({ "total": "number" })), "kind: file_matches, path: a, schema: { total: number }"),
        (
            check::output_artifact_present().artifact_type("t").artifact_id("i").uri("file:a"),
            "kind: output_artifact_present, artifact_type: t, artifact_id: i, uri: 'file:a'",
        ),
        (
            check::workspace_file_present("a").contains("t"),
            "kind: workspace_file_present, relative_path: a, contains: t",
        ),
        (
            check::openclaw_workspace_file_present("a").contains_all(["x", "y"]).contains_any(["z"]),
            "kind: openclaw_workspace_file_present, relative_path: a, contains_all: [x, y], contains_any: [z]",
        ),
        (check::workspace_unchanged().except(["out/"]), "kind: workspace_unchanged, except: [out/]"),
        (check::cost_usd(0.1..=0.5), "kind: cost_usd, min: 0.1, max: 0.5"),
        (check::costs_at_most(0.5), "kind: cost_usd, max: 0.5"),
        (check::duration_seconds(1.0..), "kind: duration_seconds, min: 1.0"),
        (check::lasts_at_most(60.0), "kind: duration_seconds, max: 60.0"),
        (check::tokens(..=20_000), "kind: tokens, max: 20000"),
        (check::tokens_of("input", 5..10), "kind: tokens, of: input, min: 5, max: 9"),
        (check::turns(..=5), "kind: turns, max: 5"),
        (check::hook("hooks.py", "decide"), "kind: hook, path: hooks.py, callable_name: decide"),
        (check::hook_in_module("hooks", "decide"), "kind: hook, import_path: hooks, callable_name: decide"),
    ]
}

#[test]
fn every_kind_of_check_says_what_yaml_says() {
    let mut kinds = BTreeSet::new();
    for (nth, (rule, yaml)) in rules().into_iter().enumerate() {
        let head = "suite: s\nagents: { kept: { runner: recorded } }\ncases: [{ id: c, artifact: run.json }]\n";
        let written = format!(
            "{head}security_policy: {{ allow_local_python_hooks: true }}\ntasks: [{{ id: t{nth}, check: {{ {yaml} }} }}]\n"
        );
        let built = Suite::builder("s")
            .agent(Agent::recorded("kept"))
            .case(AgentCase::recorded("c", "run.json"))
            .define(json!({ "security_policy": { "allow_local_python_hooks": true } }))
            .task(Check::new(format!("t{nth}"), rule))
            .build();
        let read = Suite::from_yaml(&written, ".").unwrap_or_else(|error| panic!("{yaml}: {error}"));
        let built = built.unwrap_or_else(|error| panic!("{yaml}: {error}"));
        assert_eq!(rule_of(&built), rule_of(&read), "{}", built.definition());
        kinds.insert(yaml.split([':', ',']).nth(1).expect("it begins with its kind").trim().to_owned());
    }
    let all: BTreeSet<String> = KINDS.iter().map(|it| it.name.to_owned()).collect();
    assert_eq!(kinds, all, "every kind has a builder");
}

/// What the only check of a suite asks, in all detail.
fn rule_of(suite: &Suite) -> String {
    let loaded = jurat_core::suite::load(Path::new("s.yaml"), &Text(suite.definition().to_owned()));
    match loaded.suite.tasks.first().map(|it| &it.kind) {
        Some(TaskKind::Check(check)) => format!("{check:?}"),
        other => panic!("{other:?}"),
    }
}

/// One text as a file.
struct Text(String);

impl jurat_format::source::Files for Text {
    fn read(&self, _: &Path, _: u64) -> Result<Vec<u8>, jurat_format::source::ReadError> {
        Ok(self.0.clone().into_bytes())
    }
}

#[test]
fn agents_and_cases_are_written_as_yaml_has_them() {
    let directory = tempfile::tempdir().expect("there is room for files");
    for folder in ["desk", "lib"] {
        std::fs::create_dir(directory.path().join(folder)).expect("folders can be made");
    }
    std::fs::write(directory.path().join("notes.txt"), "notes").expect("files can be written");
    let suite = Suite::builder("s")
        .directory(directory.path())
        .model("subject", "openai/some")
        .agent(
            Agent::command("mine", ["python3", "./agent.py"])
                .model("subject")
                .env("LANG", "C")
                .read_only(["lib"])
                .reaching(["example.com"])
                .time(Duration::from_secs(90))
                .requests(40)
                .cost_usd(0.5),
        )
        .agent(Agent::run_by("bare", "llm_probe").tools(["read_file"]).turns(4).tokens(1000))
        .case(
            AgentCase::new("one", "Do it.")
                .agent("mine")
                .system("Be brief.")
                .attachments(["notes.txt"])
                .workspace("desk")
                .key_outputs(["report.md"])
                .expects("It is true")
                .hopes("It is short")
                .tags(["t"])
                .metadata(json!({ "k": 1 }))
                .task(Check::new("ended", check::status_is("success"))),
        )
        .case(AgentCase::of_turns("two", ["First.", "Second."]).agent("bare"))
        .task(Check::new("said", check::final_response_present()).on_cases())
        .define(json!({ "evaluation": {} }))
        .model("judge", "openai/judge")
        .build()
        .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(
        suite.definition().split_once("agents:").map(|(_, it)| format!("agents:{it}")).unwrap_or_default(),
        "\
agents:
  mine:
    command: [python3, \"./agent.py\"]
    model: subject
    read_only: [lib]
    network:
      allow: [\"example.com\"]
    env:
      LANG: C
    limits:
      time: 90.0
      requests: 40
      cost_usd: 0.5
  bare:
    runner: llm_probe
    tools: [read_file]
    limits:
      turns: 4
      tokens: 1000
cases:
  - id: one
    task: \"Do it.\"
    agent: mine
    system: \"Be brief.\"
    attachments: [\"notes.txt\"]
    workspace: desk
    key_outputs: [\"report.md\"]
    tags: [t]
    metadata:
      k: 1
    expectations:
      hard_expectations: [\"It is true\"]
      soft_expectations: [\"It is short\"]
    tasks:
      - id: ended
        check:
          kind: status_is
          expected: success
  - id: two
    turns: [\"First.\", \"Second.\"]
    agent: bare
tasks:
  - id: said
    \"on\": cases
    check:
      kind: final_response_present
"
    );
    let twice = Suite::builder("s").agent(Agent::recorded("a")).agent(Agent::recorded("a")).build();
    assert!(matches!(twice, Err(Error::Usage(message)) if message.contains("two agents are called `a`")));
}

#[test]
fn a_campaign_is_loaded_with_its_profiles() {
    let peer = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/agents-peer");
    let suite = peer.join("configs/suites/geography.yaml");
    let profiles = Profiles { run: Some("twice".to_owned()), evaluation: Some("strict".to_owned()) };
    let loaded = Suite::load_with(&suite, profiles).unwrap_or_else(|error| panic!("{error}"));
    assert!(loaded.stages().concat().contains(&"evaluation"), "{:?}", loaded.stages());
    let bare = Suite::load(&suite).unwrap_or_else(|error| panic!("{error}"));
    assert!(!bare.stages().concat().contains(&"evaluation"), "profiles may be left out");
    let case = Suite::load(peer.join("configs/cases/capital/test.yaml")).unwrap_or_else(|error| panic!("{error}"));
    assert!(!case.stages().is_empty(), "a case may be alone");
    let missing = Suite::load_with(&suite, Profiles { run: Some("thrice".to_owned()), ..Profiles::default() });
    assert!(matches!(missing, Err(Error::Usage(message)) if message.contains("there is no run profile `thrice`")));
}
