//! Endpoints as a user sets them up: `.env` files, variables in models, and what a run says when they fail.

use jurat_testkit::{Endpoint, Fault, Reply, Script, Usage, When};

use crate::command::{Ended, Folder, ended};

const KEY: &str = "sk-of-the-project";

/// A suite with one judge.
fn suite(model: &str) -> String {
    format!(
        "suite: greetings\nrecords: [{{ id: a, answer: Paid. }}]\nmodels: {{ judge: {model} }}\ntasks:\n  - {{ id: tone, judge: {{ prompt: 'Rate ${{answer}}', max_retries: 0 }}, operator: contains, expected_value: polite }}\n"
    )
}

fn polite() -> Endpoint {
    Endpoint::start(Script::new().key(KEY).reply(Reply::text("polite")))
}

fn run(folder: &Folder, variables: &[(&str, &str)]) -> Ended {
    let mut command = folder.command();
    command.args(["run", "suites/greetings/suite.yaml"]).envs(variables.iter().copied());
    ended(&mut command)
}

#[test]
fn keys_are_found_beside_the_suite_and_above_it() {
    for place in ["suites/greetings/.env", "suites/.env", ".env"] {
        let endpoint = polite();
        let variables = format!("OPENAI_BASE_URL={}\nOPENAI_API_KEY=sk-of-the-project\n", endpoint.url());
        let folder = Folder::with("suites/greetings/suite.yaml", suite("openai/m"))
            .and(place, variables)
            .and(".jurat/.gitignore", "*");
        let found = run(&folder, &[]);
        assert_eq!((found.code, found.stderr.as_str()), (Some(0), ""), "{place}: {}", found.stdout);
        assert_eq!(endpoint.stats().requests, 1, "{place}");
    }
    let folder = Folder::with("suites/greetings/suite.yaml", suite("openai/m"));
    let message =
        |files: &str| format!("`openai/m` needs a key: set `OPENAI_API_KEY` in the environment, or in {files}");
    let checked = folder.jurat(&["check", "suites/greetings/suite.yaml"]).stdout;
    assert!(checked.contains(&message("`suites/greetings/.env` or `.env` (")), "{checked}");
    // A run makes a project, up to whose root files are looked for.
    let nowhere = run(&folder, &[]);
    assert_eq!(nowhere.code, Some(2));
    let files = "`suites/greetings/.env`, `suites/.env` or `.env`\n";
    assert!(nowhere.stderr.contains(&message(files)), "{}", nowhere.stderr);
}

#[test]
fn a_project_cannot_send_a_key_of_the_user_elsewhere() {
    let folder = Folder::with("suite.yaml", suite("openai/m"))
        .and(".env", "OPENAI_BASE_URL=http://127.0.0.1:9/v1\nHTTPS_PROXY=x\n");
    let mut command = folder.command();
    // Nothing is asked by a plan.
    let planned = ended(command.args(["plan", "suite.yaml"]).env("OPENAI_API_KEY", "sk-of-the-user"));
    let lines: Vec<&str> = planned.stderr.lines().collect();
    assert_eq!(lines.len(), 2, "{}", planned.stderr);
    assert!(
        lines[0].contains("`OPENAI_BASE_URL` in") && lines[0].contains("is not used: the key in `OPENAI_API_KEY`"),
        "{}",
        lines[0]
    );
    assert!(lines[1].contains("a file of a project chooses no proxy"), "{}", lines[1]);
    assert!(!planned.stdout.contains("127.0.0.1:9"), "{}", planned.stdout);
}

#[test]
fn a_project_cannot_send_another_secret_of_the_user_elsewhere() {
    let judges = [
        ("OPENAI_BASE_URL", "{ model: openai/m, api_key_env: MY_KEY }"),
        ("OPENAI_BASE_URL", "{ model: openai-responses/m, headers: { authorization: 'Bearer ${MY_KEY}' } }"),
        ("ANTHROPIC_BASE_URL", "{ model: anthropic/m, api_key_env: MY_KEY }"),
        ("GOOGLE_GEMINI_BASE_URL", "{ model: gemini/m, api_key_env: MY_KEY }"),
        ("OLLAMA_HOST", "{ model: ollama/m, api_key_env: MY_KEY }"),
        ("OTHER_BASE_URL", "{ model: openai/m, base_url: '${OTHER_BASE_URL}', api_key_env: MY_KEY }"),
    ];
    for (variable, judge) in judges {
        let endpoint = polite();
        let file = format!("{variable}={}\n", endpoint.url());
        let folder = Folder::with("suites/greetings/suite.yaml", suite(judge)).and(".env", &file);
        let refused = run(&folder, &[("MY_KEY", "sk-of-the-user-0123")]);
        assert_eq!((refused.code, endpoint.stats().requests), (Some(2), 0), "{judge}: {}", refused.stderr);
        let reason = "would receive the value of `MY_KEY`, which is not from that file; set both in that file, or";
        assert!(refused.stderr.contains(reason) && refused.stderr.contains(variable), "{judge}: {}", refused.stderr);
        let mut command = folder.command();
        let checked =
            ended(command.args(["check", "suites/greetings/suite.yaml"]).env("MY_KEY", "sk-of-the-user-0123"));
        assert!(checked.stdout.contains(reason) || checked.stderr.contains(reason), "{judge}: {}", checked.stdout);
        let own = Folder::with("suites/greetings/suite.yaml", suite(judge))
            .and(".env", format!("{file}MY_KEY=sk-of-the-project"));
        let asked = run(&own, &[]);
        assert_eq!((asked.code, endpoint.stats().requests), (Some(0), 1), "{judge}: {}{}", asked.stdout, asked.stderr);
    }
}

#[test]
fn models_and_addresses_may_be_variables() {
    let endpoint = polite();
    let suite = suite("{ model: '${JUDGE}', base_url: '${GATEWAY}', api_key_env: GATEWAY_KEY }");
    let folder = Folder::with("suites/greetings/suite.yaml", suite);
    let url = endpoint.url();
    let variables = [("JUDGE", "openai/m"), ("GATEWAY", url.as_str()), ("GATEWAY_KEY", "sk-of-the-project")];
    let found = run(&folder, &variables);
    assert_eq!((found.code, found.stderr.as_str()), (Some(0), ""), "{}", found.stdout);
    let missing = run(&folder, &variables[1..]);
    assert_eq!(missing.code, Some(2));
    assert!(
        missing.stderr.contains("needs `JUDGE`: set it in the environment or in a file `.env`"),
        "{}",
        missing.stderr
    );
}

#[test]
fn a_model_without_a_price_is_named_with_how_to_give_it() {
    let usage = Usage { input: 10, output: 5, cached: 0, reasoning: 0 };
    let endpoint = Endpoint::start(Script::new().key(KEY).reply(Reply::text("polite").usage(usage)));
    let (url, variable) = (endpoint.url(), ("OPENAI_API_KEY", KEY));
    let judged = |price: &str| {
        let suite = suite(&format!("{{ model: openai/m, base_url: '{url}'{price} }}"));
        run(&Folder::with("suites/greetings/suite.yaml", suite), &[variable]).stdout
    };
    let (unknown, known) = (judged(""), judged(", price: { input: 1, output: 2 }"));
    let note =
        "note: the price of `m` is not known; write it into the suite, in dollars for a million tokens, for example";
    assert!(unknown.contains("spent an unknown amount") && unknown.contains(note), "{unknown}");
    assert!(known.contains("spent $0.00002") && !known.contains("note: "), "{known}");
}

#[test]
fn a_fault_names_host_role_and_variable() {
    let endpoint = Endpoint::start(Script::new().fault(When::Always, Fault::status(401)).reply(Reply::text("polite")));
    let url = endpoint.url();
    let folder = Folder::with("suites/greetings/suite.yaml", suite("openai/m"));
    let refused = run(&folder, &[("OPENAI_BASE_URL", &url), ("OPENAI_API_KEY", "sk-wrong-0123456789")]);
    assert_eq!(refused.code, Some(3), "{}", refused.stdout);
    let explained = folder.jurat(&["explain", "a", "tone"]);
    let host = format!("HTTP 401 from 127.0.0.1:{}: ", endpoint.port());
    assert!(
        explained.stdout.contains(&host) && explained.stdout.contains("(role judge, OPENAI_API_KEY)"),
        "{}",
        explained.stdout
    );
}

#[test]
fn responses_that_were_cut_off_are_counted() {
    let suite = "suite: cut\nrecords: [{ id: a, q: Why? }, { id: b, q: How? }]\nmodels: { subject: script/replies.jsonl }\nask: { prompt: '${q}' }\ntasks: [{ id: said, field_path: response, operator: is_not_empty }]\n";
    let replies = "{\"match\": {\"case\": \"a\"}, \"reply\": \"Because\", \"finish\": \"length\"}\n{\"reply\": \"So.\", \"times\": \"*\"}\n";
    let folder = Folder::with("suite.yaml", suite).and("replies.jsonl", replies);
    let text = folder.jurat(&["run", "suite.yaml"]).stdout;
    assert!(text.contains("note: 1 response was cut off at `max_tokens`"), "{text}");
    let json = folder.jurat(&["run", "suite.yaml", "--json"]).stdout;
    assert!(json.contains("\"truncated\":1"), "{json}");
}

#[test]
fn responses_of_a_probe_that_were_cut_off_are_counted() {
    let suite = "suite: cut\nmodels: { subject: script/replies.jsonl }\nagents: { probe: { runner: llm_probe } }\n\
                 cases: [{ id: a, task: Why? }]\ntasks: [{ id: said, field_path: final_response, operator: is_not_empty }]\n";
    let replies = "{\"reply\": \"Because\", \"finish\": \"length\"}\n";
    let folder = Folder::with("suite.yaml", suite).and("replies.jsonl", replies);
    let text = folder.jurat(&["run", "suite.yaml"]).stdout;
    assert!(text.contains("note: 1 response was cut off at `max_tokens`"), "{text}");
}

#[test]
fn a_replay_does_not_take_the_answers_of_another_model() {
    let endpoint = Endpoint::start(Script::new().reply(Reply::text("fine")));
    let suite = |model: &str| {
        let url = endpoint.url();
        format!(
            "suite: one\nrecords: [{{ id: a, n: 1 }}]\n\
             models: {{ judge: {{ model: openai/{model}, base_url: '{url}', api_key_env: A_KEY }} }}\n\
             tasks:\n  - {{ id: tone, judge: {{ prompt: 'Rate ${{n}}' }}, operator: contains, expected_value: fine }}\n"
        )
    };
    let folder = Folder::with("small.yaml", suite("small")).and("large.yaml", suite("large"));
    let run = |arguments: &[&str]| ended(folder.command().args(arguments).env("A_KEY", "sk-0"));
    assert_eq!(run(&["run", "small.yaml", "-q"]).code, Some(0));
    assert_eq!(run(&["run", "small.yaml", "-q", "--replay", "latest"]).code, Some(0));
    let other = run(&["run", "large.yaml", "-q", "--replay", "latest"]);
    let why = "the recording asked the model `small` there, and this definition asks `large`";
    assert!(other.code == Some(3) && other.stdout.contains(why), "{other:?}");
    assert_eq!(endpoint.stats().requests, 1);
}
