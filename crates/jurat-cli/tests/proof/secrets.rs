//! No secret is found in anything that a run leaves behind or prints, whatever the endpoint sends back.

use std::fs;
use std::path::{Path, PathBuf};

use jurat_core::plan::CaseIx;
use jurat_store::journal::Journal;
use jurat_store::run::RunReader;
use jurat_testkit::{Answer, Endpoint, Reply, Request, Script};
use serde_json::json;

use crate::project::{Ended, Project, ended};

/// A key in the environment, one in `.env`, and one in a header.
const SECRETS: [&str; 3] = ["sk-environment-Zk3Qw8", "sk-dotenv-Yp7Rv2Lm4", "token-header-Xn5Tb9Jc1"];

const SUITE: &str = "
suite: secrets
records: rows.jsonl
models:
  judge: { model: openai/judge }
  other: { model: openai/other, api_key_env: TEAM_KEY, headers: { x-team: 'Bearer ${TEAM_TOKEN}' } }
tasks:
  - id: usual
    judge: { prompt: 'usual ${answer}', output: { label: string }, max_retries: 1 }
    field_path: label
    operator: contains
    expected_value: fine
  - id: own
    judge: { model: other, prompt: 'own ${answer}', output: { label: string }, max_retries: 1 }
    field_path: label
    operator: contains
    expected_value: fine
";

/// The ways in which an endpoint may send back what it was sent, by the last word of the prompt.
fn script() -> Script {
    Script::answering(|request: &Request| {
        let key = request.header("authorization").unwrap_or_default();
        let shown = format!("no {key} {}", request.header("x-team").unwrap_or_default());
        let error = |status: u16, message: &str| {
            let body = json!({ "error": { "message": message, "code": shown } }).to_string();
            Answer::raw(status, "application/json", body)
        };
        match request.prompt.rsplit(' ').next().unwrap_or_default() {
            "refused" => error(401, &shown),
            "wrong" => error(400, &shown),
            "busy" => error(429, &shown).header("retry-after-ms", "1"),
            "page" => Answer::raw(502, "text/html", format!("<html>{shown}</html>")),
            "garbled" => Answer::raw(200, "application/json", format!("{{\"{shown}")),
            "other" => Answer::raw(200, "application/json", json!({ "told": shown }).to_string()),
            "said" => Reply::json(json!({ "label": shown })).into(),
            "invalid" => Reply::json(json!({ "wrong": shown })).into(),
            "refusing" => Reply::refusal(shown.as_str()).into(),
            "named" => Answer::from(Reply::json(json!({ "label": "fine" }))).header("x-request-id", shown.as_str()),
            // What is cut short somewhere may be cut in the middle of a secret.
            cut => match cut.parse::<usize>() {
                Ok(n) => Answer::raw(500, "text/plain", format!("{} {shown}", "x".repeat(n))),
                Err(_) => Reply::json(json!({ "label": "fine" })).into(),
            },
        }
    })
}

fn rows() -> String {
    let words =
        ["refused", "wrong", "busy", "page", "garbled", "other", "said", "invalid", "refusing", "named", "fine"];
    let cuts = (0..700).step_by(9).map(|it| it.to_string());
    let words = words.iter().map(|it| (*it).to_owned()).chain(cuts);
    words.map(|it| format!("{{\"id\": \"r-{it}\", \"answer\": \"{it}\"}}\n")).collect()
}

fn project(endpoint: &Endpoint) -> Project {
    let project = Project::new(SUITE, &rows(), &endpoint.url());
    project.write(".env", &format!("TEAM_KEY={}\nexport TEAM_TOKEN=\"{}\"\n", SECRETS[1], SECRETS[2]));
    project
}

fn jurat(project: &Project, arguments: &[&str]) -> Ended {
    ended(project.command(arguments).env("OPENAI_API_KEY", SECRETS[0]))
}

/// Asserts that not even a part of a secret is in a text.
#[track_caller]
fn assert_clean(what: &str, bytes: &[u8]) {
    const PART: usize = 8;
    let text = String::from_utf8_lossy(bytes);
    for secret in SECRETS {
        let parts = (3..=secret.len() - PART).map(|at| &secret[at..at + PART]);
        for part in parts {
            let found = text.find(part).map(|at| text[at..].chars().take(60).collect::<String>());
            assert_eq!(found, None, "{what} holds `{part}`");
        }
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).expect("folders can be listed") {
        let path = entry.expect("files can be listed").path();
        if path.is_dir() {
            files.append(&mut self::files(&path));
        } else {
            files.push(path);
        }
    }
    files
}

/// Looks at every byte that a project has on disk but what its owner put there, and returns the files.
fn assert_clean_disk(project: &Project) -> Vec<String> {
    let mut names = Vec::new();
    for path in files(&project.path().join(".jurat")) {
        // A log may be gone by now.
        if let Ok(bytes) = fs::read(&path) {
            assert_clean(&path.display().to_string(), &bytes);
            names.push(path.file_name().expect("a file has a name").to_string_lossy().into_owned());
        }
    }
    names
}

/// Looks at what is packed in a run.
fn assert_clean_run(run: &Path) {
    let reader = RunReader::open(run).expect("a run can be read");
    for document in &reader.head().documents {
        assert_clean(&document.name, &document.body);
    }
    let mut n_effects = 0;
    for effect in reader.effects() {
        let effect = effect.expect("effects can be read");
        assert_clean("an effect", format!("{effect:?}").as_bytes());
        n_effects += 1;
    }
    assert!(n_effects > 100, "{n_effects}");
    for case in reader.cases(CaseIx::ALL) {
        assert_clean("a case", format!("{:?}", case.expect("cases can be read")).as_bytes());
    }
    assert_clean("the head", format!("{:?} {:?}", reader.head(), reader.summary()).as_bytes());
}

#[test]
fn no_secret_is_left_behind_or_printed() {
    for streamed in [&[][..], &["--stream"]] {
        let endpoint = Endpoint::start(script().keep_requests());
        let project = project(&endpoint);
        let mut printed = String::new();
        let mut run = |arguments: &[&str]| {
            let ended = jurat(&project, arguments);
            let what = format!("`jurat {}`", arguments.join(" "));
            assert_clean(&what, ended.stdout.as_bytes());
            assert_clean(&what, ended.stderr.as_bytes());
            assert!(ended.code.is_some_and(|it| it != 2), "{what}: {}", ended.stderr);
            printed.push_str(&ended.stdout);
        };
        run(&[&["run", "suite.yaml", "--tasks"], streamed].concat());
        run(&[&["run", "suite.yaml", "--json"], streamed].concat());
        run(&["plan", "suite.yaml"]);
        run(&["plan", "suite.yaml", "--json"]);
        run(&["show", "--tasks", "--json"]);
        for format in ["effects", "jsonl", "csv", "junit", "markdown"] {
            run(&["export", "--to", format]);
        }
        run(&["journal", "--json"]);
        for case in ["r-refused", "r-page", "r-garbled", "r-said", "r-invalid", "r-refusing", "r-486"] {
            for task in ["usual", "own"] {
                run(&["explain", case, task]);
                run(&["explain", case, task, "--json"]);
            }
        }
        assert!(printed.contains("[secret]"), "secrets were hidden: {printed}");
        // Otherwise there was nothing to hide.
        let sent: Vec<String> = endpoint.requests().iter().map(|it| format!("{:?}", it.headers)).collect();
        assert!(SECRETS.iter().all(|secret| sent.iter().any(|it| it.contains(secret))));
        assert_clean_disk(&project);
        for run in project.runs() {
            assert_clean_run(&run);
        }
        let journal = Journal::open(&project.journal()).expect("a journal can be opened");
        assert!(journal.report().expect("a journal can be counted").answers() > 0);
    }
}

#[test]
fn no_secret_is_in_the_log_of_a_resumed_run() {
    let endpoint = Endpoint::start(script().held());
    let project = project(&endpoint);
    let mut command = project.command(&["run", "suite.yaml", "-j", "4"]);
    let mut child = command.env("OPENAI_API_KEY", SECRETS[0]).spawn().expect("the command starts");
    endpoint.release(60);
    endpoint.wait_until(|it| it.requests >= 64);
    let names = assert_clean_disk(&project);
    assert!(names.iter().filter(|it| it.ends_with("-wal")).count() == 2, "{names:?}");
    child.kill().expect("our own child can be killed");
    child.wait().expect("a child that was killed ends");
    assert_clean_disk(&project);
}

/// An address may hold a password, too. It would be part of every request that is stored, so it is refused.
#[test]
fn no_password_of_an_address_is_left_behind() {
    let endpoint = Endpoint::start(script());
    let project = project(&endpoint);
    let (secret, port) = (SECRETS[0], endpoint.port());
    for address in [
        format!("http://user:{secret}@127.0.0.1:{port}/v1"),
        format!("http://127.0.0.1:{port}/v1?key={secret}"),
        format!("ftp://user:{secret}@127.0.0.1:{port}/v1"),
    ] {
        let ended = ended(project.command(&["run", "suite.yaml", "--limit", "3"]).env("OPENAI_BASE_URL", address));
        assert_eq!(ended.code, Some(2), "{}", ended.stdout);
        assert!(
            ended.stderr.starts_with("error[run::bad_model]: `base_url` of `openai/judge` must"),
            "{}",
            ended.stderr
        );
        assert_clean("standard error", ended.stderr.as_bytes());
        assert_clean_disk(&project);
    }
    assert_eq!(endpoint.stats().requests, 0);
}
