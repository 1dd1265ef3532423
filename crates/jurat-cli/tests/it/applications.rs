//! Applications as subjects and judges: what they are sent, what is read from their replies, and what failures are.

use jurat_testkit::{Answer, Endpoint, Fault, Reply, Script, When};

use crate::command::{Folder, ended};

const TOKEN: &str = "token-of-the-application";

/// A suite whose subject is an application at this address. It takes and answers what chat completions do, so that a scripted endpoint can stand for it.
fn suite(url: &str) -> String {
    format!(
        r#"suite: support
records:
  - {{ id: one, question: "Where is A-17?", language: en }}
  - {{ id: two, question: "Where is A-18?", language: de }}
models:
  subject:
    model: http/support
    base_url: {url}
    headers: {{ authorization: "Bearer ${{APP_TOKEN}}" }}
    request:
      path: /v1/chat/completions
      body: {{ model: "${{model}}", messages: "${{messages}}", user: "${{row.language}}", temperature: 0 }}
    response:
      text: choices[0].message.content
      usage: {{ input: usage.prompt_tokens, output: usage.completion_tokens }}
      model: model
ask: {{ prompt: "${{question}}", max_retries: 2 }}
tasks:
  - {{ id: shipped, field_path: output, operator: contains, expected_value: shipped }}
"#
    )
}

fn folder(endpoint: &Endpoint) -> Folder {
    Folder::with("suite.yaml", suite(&endpoint.url())).and(".env", format!("APP_TOKEN={TOKEN}\n"))
}

#[test]
fn an_application_is_sent_what_its_request_says() {
    let endpoint = Endpoint::start(Script::new().keep_requests().reply(Reply::text("It was shipped.")));
    let folder = folder(&endpoint);
    let run = folder.jurat(&["run", "suite.yaml", "--tasks"]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{}", run.stdout);
    let mut users: Vec<String> = endpoint.requests().iter().map(|it| it.json["user"].to_string()).collect();
    users.sort();
    assert_eq!(users, ["\"de\"", "\"en\""]);
    let sent = &endpoint.requests()[0];
    let token = format!("Bearer {TOKEN}");
    assert!(sent.headers.iter().any(|(name, value)| name == "authorization" && *value == token), "{:?}", sent.headers);
    // The application may have changed since: another run asks it again.
    let again = folder.jurat(&["run", "suite.yaml"]);
    assert_eq!((again.code, endpoint.stats().requests), (Some(0), 4), "{}", again.stdout);
}

#[test]
fn a_secret_of_an_application_is_in_no_file() {
    let echo = Reply::text(format!("It was shipped, {TOKEN}."));
    let endpoint = Endpoint::start(Script::new().reply(echo));
    let folder = folder(&endpoint);
    let run = folder.jurat(&["run", "suite.yaml", "--tasks"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let mut n_files = 0;
    let mut folders = vec![folder.path().join(".jurat")];
    while let Some(within) = folders.pop() {
        for entry in std::fs::read_dir(within).expect("folders can be listed") {
            let path = entry.expect("entries can be read").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            n_files += 1;
            let bytes = std::fs::read(&path).expect("files can be read");
            assert!(!bytes.windows(TOKEN.len()).any(|it| it == TOKEN.as_bytes()), "{}", path.display());
        }
    }
    assert!(n_files > 1 && !run.stdout.contains(TOKEN), "{}", run.stdout);
}

#[test]
fn a_failure_of_an_application_is_an_error_and_is_tried_again() {
    let passing = Script::new().reply(Reply::text("It was shipped.")).fault(When::First(1), Fault::status(503));
    let endpoint = Endpoint::start(passing);
    let run = folder(&endpoint).jurat(&["run", "suite.yaml"]);
    assert_eq!((run.code, endpoint.stats().requests), (Some(0), 3), "{}{}", run.stdout, run.stderr);
    for (status, body, message) in [
        (401, "{\"detail\": \"not allowed\"}", "HTTP 401 from"),
        (200, "{\"choices\": []}", "the reply has no answer at `choices[0].message.content`"),
        (200, "oops", "the reply is not JSON"),
    ] {
        let endpoint = Endpoint::start(Script::answering(move |_| Answer::raw(status, "application/json", body)));
        let run = folder(&endpoint).jurat(&["run", "suite.yaml", "--tasks"]);
        assert_ne!(run.code, Some(0));
        assert!(run.stdout.contains(message) && !run.stdout.contains(": failed"), "{}", run.stdout);
    }
}

#[test]
fn what_an_application_would_not_be_sent_is_refused() {
    let endpoint = Endpoint::start(Script::new().reply(Reply::text("It was shipped.")));
    let text = suite(&endpoint.url()).replace("\"${messages}\"", "[{ role: user, content: \"${prompt}\" }]");
    let with_system = text.replace("ask: { ", "ask: { system: Be brief., ");
    let folder = Folder::with("suite.yaml", with_system).and(".env", format!("APP_TOKEN={TOKEN}\n"));
    let run = folder.jurat(&["run", "suite.yaml", "--tasks"]);
    assert!(run.stdout.contains("there is a system message, and `request` sends neither"), "{}", run.stdout);
    assert_eq!(endpoint.stats().requests, 0);
    let text = suite(&endpoint.url()).replace("    request:\n", "    temperature: 1\n    request:\n");
    let folder = Folder::with("suite.yaml", text);
    let mut command = folder.command();
    let checked = ended(command.args(["check", "suite.yaml"]).env("APP_TOKEN", TOKEN));
    assert_eq!(checked.code, Some(2), "{}", checked.stdout);
    let message = "`request` does not send `temperature`; add `${settings.temperature}` to it, or leave it out";
    assert!(
        checked.stdout.contains(message) || checked.stderr.contains(message),
        "{}{}",
        checked.stdout,
        checked.stderr
    );
}
