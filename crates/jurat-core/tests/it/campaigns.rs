//! Suites, cases and profiles of another program, read as they are.

use std::path::Path;

use jurat_core::plan::{Plan, Samples};
use jurat_core::suite::load;
use jurat_format::problem::Severity;

use crate::InMemory;

fn case(id: &str, tags: &str, more: &str) -> String {
    format!(
        "schema_version: 1
case_id: {id}
runner: {{ type: llm_probe{more} }}
input: {{ messages: [{{ role: user, content: Do {id}. }}] }}
deterministic_checks: [{{ check_id: said, declarative: {{ kind: final_response_present }} }}]
tags: [{tags}]
"
    )
}

/// What is loaded from a campaign with this suite and this run profile: the cases, and what is said about it.
fn loaded(suite: &str, profile: &str, more: &str) -> (Vec<String>, Vec<String>, jurat_core::suite::Suite) {
    let campaign = "campaign:
  suite: suites/s.yaml
  cases: [cases/c/test.yaml, cases/a/test.yaml, cases/b/test.yaml]
  run_profile: run_profiles/p.yaml
";
    let suite = format!(
        "schema_version: 1\nsuite_id: s\nmodels: [{{ model_id: m, provider: vendor, model_name: large }}]\n{suite}"
    );
    let profile = format!("schema_version: 1\nrun_profile_id: p\n{profile}");
    let (a, b, c) = (case("a", "x", more), case("b", "x, y", ""), case("c", "z", ""));
    let files = [
        ("campaign.yaml", campaign),
        ("suites/s.yaml", &suite),
        ("run_profiles/p.yaml", &profile),
        ("cases/a/test.yaml", &a),
        ("cases/b/test.yaml", &b),
        ("cases/c/test.yaml", &c),
    ];
    let loaded = load(Path::new("campaign.yaml"), &InMemory(&files));
    let ids = loaded.suite.cases.iter().map(|it| it.id.value.clone()).collect();
    let mark = |it: Severity| if it == Severity::Error { "error" } else { "warning" };
    let problems = loaded.problems.iter().map(|it| format!("{}: {}", mark(it.severity()), it.message)).collect();
    (ids, problems, loaded.suite)
}

#[track_caller]
fn selects(selection: &str, ids: &[&str]) {
    let (found, problems, suite) = loaded(&format!("case_selection: {{ {selection} }}\n"), "", "");
    assert_eq!(
        (found.as_slice(), problems.as_slice()),
        (ids.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>().as_slice(), &[][..])
    );
    assert!(Plan::build(&suite, &Samples::default()).is_ok());
}

#[test]
fn cases_are_selected_by_id_and_tag() {
    selects("", &["a", "b", "c"]);
    selects("include_tags: [x]", &["a", "b"]);
    selects("include_tags: [x], exclude_tags: [y]", &["a"]);
    selects("include_case_ids: [c]", &["c"]);
    selects("include_case_ids: [c], include_tags: [y]", &["b", "c"]);
    // What is named is in, whatever excludes it.
    selects("include_case_ids: [b], exclude_case_ids: [b], exclude_tags: [y]", &["b"]);
    selects("exclude_case_ids: [a], exclude_tags: [z]", &["b"]);
    let (_, problems, _) = loaded("case_selection: { exclude_case_ids: [d] }", "", "");
    assert_eq!(problems, ["error: there is no case `d`"]);
}

#[test]
fn models_are_asked_as_the_program_asks_them() {
    let overrides = "runner_defaults: { temperature: 0.5, max_tokens: 10, max_turns: 3 }\nmodel_overrides: { m: { temperature: 1 } }\nexecution_policy: { run_repetitions: 4 }\n";
    let (_, problems, suite) = loaded("", overrides, ", timeout_seconds: 90");
    assert!(problems.is_empty(), "{problems:?}");
    let subject = &suite.models[0];
    assert_eq!(
        (subject.name.value.as_str(), subject.models[0].model.value.as_str()),
        ("subject", "openai/vendor/large")
    );
    let settings: Vec<String> =
        subject.models[0].settings.written.iter().map(|(key, it)| format!("{key}={}", it.value)).collect();
    let asked = [
        "max_tokens=10",
        "temperature=1",
        "base_url=\"https://openrouter.ai/api/v1\"",
        "api_key_env=\"OPENROUTER_API_KEY\"",
    ];
    assert_eq!(settings, asked);
    assert_eq!(suite.repeat, Some(4));
    let limits =
        |ix: usize| suite.cases[ix].resolve(&suite).map(|it| (it.agent.limits.turns, it.agent.limits.time.as_secs()));
    assert_eq!((limits(0), limits(1)), (Some((Some(3), 90)), Some((Some(3), 600))));
}

#[test]
fn keys_without_a_counterpart_are_reported() {
    let (ids, problems, _) =
        loaded("", "execution_policy: { max_concurrency: 2, fail_fast: true }", ", temperature: 1");
    assert_eq!(ids, ["a", "b", "c"]);
    let shown = [
        "warning: `max_concurrency` of a run profile is not used",
        "warning: `fail_fast` of a run profile is not used",
        "warning: `temperature` of a runner is not used",
    ];
    assert_eq!(problems, shown);
    let (_, problems, _) = loaded("cases: []", "", "");
    assert_eq!(problems, ["error: the suite of a campaign has no key `cases`"]);
}

/// What is loaded of a case of an agent with these parts of a configuration: the agent's own, and what is said about it.
fn with_agent(openclaw: &str) -> (Vec<String>, Option<jurat_core::agent::AgentCase>) {
    let campaign = "campaign: { suite: s.yaml, cases: [cases/a/test.yaml], agents: [agents/clerk/agent.yaml] }\n";
    let suite = "schema_version: 1
suite_id: s
models: [{ model_id: m, requested_model: vendor/large, primary_params: { max_tokens: 900, reasoning: high } }]
openclaw: { agent_assignments: [{ agent_id: clerk, case_selection: { include_case_ids: [a] } }] }
";
    let case = case("a", "x", "").replace("llm_probe", "openclaw");
    let agent = format!("schema_version: 1\nagent_id: clerk\nopenclaw: {openclaw}\n");
    let files = [
        ("campaign.yaml", campaign),
        ("s.yaml", suite),
        ("cases/a/test.yaml", &case),
        ("agents/clerk/agent.yaml", &agent),
    ];
    let loaded = load(Path::new("campaign.yaml"), &InMemory(&files));
    let problems = loaded.problems.iter().map(|it| it.message.clone()).collect();
    (problems, loaded.suite.cases.first().and_then(|it| it.resolve(&loaded.suite)))
}

#[test]
fn parts_of_a_configuration_are_given_to_the_agent() {
    let (problems, case) = with_agent(
        "{ agents_defaults: { timezone: UTC, sandbox: docker }, agent: { prompt: You are a clerk. },
           model_defaults: { fallbacks: [], primary_params: { temperature: 0.1 } }, identity: {} }",
    );
    // `reasoning` is no setting of a model.
    assert_eq!(problems, ["`reasoning` of `primary_params` of a model is not used"]);
    let case = case.expect("it can be run");
    assert!(case.workspace.is_some_and(|it| it.ends_with("agents/clerk/workspace")));
    let config = &case.agent.config;
    let json = |it: &jurat_format::value::Map<'static>| jurat_format::value::Val::Map(it.clone()).to_json();
    assert_eq!(json(&config.defaults), r#"{"timezone":"UTC","sandbox":"docker"}"#);
    assert_eq!(json(&config.agent), r#"{"prompt":"You are a clerk."}"#);
    assert_eq!(json(&config.params), r#"{"temperature":0.1}"#);
}

#[test]
fn parts_of_a_configuration_never_name_a_model() {
    for (parts, problem) in [
        ("{ agents_defaults: { model: m } }", "`model` does not stand in a part of a configuration"),
        ("{ agent: { primary_model: m } }", "`primary_model` does not stand in a part of a configuration"),
        ("{ model_defaults: { fallbacks: [m] } }", "an agent has no models to fall back on"),
        ("{ identity: { name: C } }", "`identity` of an agent is not used"),
        ("{ model_defaults: { aliases: { a: b } } }", "`aliases` of `model_defaults` is not used"),
    ] {
        let (problems, _) = with_agent(parts);
        assert!(problems.iter().any(|it| it == problem), "{parts}: {problems:?}");
    }
}
