//! `jurat journal` and `jurat pack`: what is stored, and its upkeep.

use std::fs;

use jurat_testkit::{Endpoint, Reply, Script, When};

use crate::command::{Folder, ended};
use crate::stored::{greetings, greetings_run, refused, said, steady};

/// A key that must not be found anywhere.
const KEY: &str = "sk-must-not-be-kept-0123456789";

/// Two rows judged by a model that is asked over the network.
fn paid(endpoint: &Endpoint) -> Folder {
    let suite = format!(
        "suite: paid\nrecords: [{{ id: a, n: 1 }}, {{ id: b, n: 2 }}]\n\
         models: {{ judge: {{ model: openai/small, base_url: '{}', api_key_env: PAID_KEY }} }}\n\
         tasks:\n  - {{ id: tone, judge: {{ prompt: 'Rate ${{n}}' }}, operator: contains, expected_value: fine }}\n",
        endpoint.url()
    );
    let folder = Folder::with("suite.yaml", suite);
    let run = ended(folder.command().args(["run", "suite.yaml"]).env("PAID_KEY", KEY));
    assert_eq!(run.code, Some(0), "{run:?}");
    folder
}

fn endpoint() -> Endpoint {
    Endpoint::start(Script::new().reply(Reply::text("fine")))
}

/// What a command says, with numbers of bytes left open: they are SQLite's.
fn counted(folder: &Folder, arguments: &[&str]) -> String {
    let text = said(folder, arguments);
    let is_figure = |it: &str| it.parse::<f64>().is_ok();
    let line = |line: &str| {
        let mut words: Vec<&str> = line.split(' ').collect();
        for ix in 1..words.len() {
            if words[ix] == "B" && is_figure(words[ix - 1]) {
                words[ix - 1] = "N";
            }
        }
        words.join(" ") + "\n"
    };
    text.lines().map(line).collect()
}

#[test]
fn a_journal_is_counted_by_model_and_cleaned_on_command() {
    let endpoint = endpoint();
    let folder = paid(&endpoint);
    assert_eq!(
        counted(&folder, &["journal"]),
        "model answers size oldest newest\nsmall 2 N B WHEN WHEN\n\n2 answers, SIZE in .jurat/journal.db\n"
    );
    assert_eq!(counted(&folder, &["journal", "stats"]), counted(&folder, &["journal"]));
    let json = said(&folder, &["journal", "--json"]);
    assert!(json.starts_with("{\"version\":1,\"file\":\".jurat/journal.db\",\"file_bytes\":"), "{json}");
    assert!(json.contains("\"answers\":2,\"models\":[{\"model\":\"small\",\"answers\":2,"), "{json}");
    for (arguments, message) in [
        (vec!["--model", "large"], "the journal has no answers of `large`; it has those of `small`"),
        (vec!["--all"], "this removes all of 2 answers, and runs will pay for them again; add `--yes` if you mean it"),
    ] {
        assert_eq!(
            refused(&folder, &[&["journal", "clean"], arguments.as_slice()].concat()),
            format!("error: {message}")
        );
    }
    assert_eq!(said(&folder, &["journal", "clean", "--older-than", "1h"]), "0 answers removed, 2 answers left\n");
    assert_eq!(
        said(&folder, &["journal", "clean", "--model", "small", "--json"]),
        "{\"version\":1,\"removed\":2,\"left\":0,\"is_smaller\":true}\n"
    );
    // What is gone is asked again.
    assert_eq!(endpoint.stats().requests, 2);
    ended(folder.command().args(["run", "suite.yaml"]).env("PAID_KEY", KEY));
    assert_eq!(endpoint.stats().requests, 4);
    assert_eq!(said(&folder, &["journal", "clean", "--all", "--yes"]), "2 answers removed, 0 answers left\n");
}

#[test]
fn a_model_is_cleaned_by_the_name_that_suites_have_for_it() {
    let endpoint = endpoint();
    let folder = paid(&endpoint);
    assert_eq!(
        refused(&folder, &["journal", "clean", "--model", "openai/large"]),
        "error: the journal has no answers of `openai/large`; it has those of `small`"
    );
    assert_eq!(said(&folder, &["journal", "clean", "--model", "openai/small"]), "2 answers removed, 0 answers left\n");
}

/// A judge that replies so that it cannot be read, and then as it should.
#[test]
fn a_reply_that_cannot_be_used_is_asked_for_again() {
    for unusable in [Reply::text(""), Reply::text("I think so."), Reply::text("{\"ok\": tr").cut_off()] {
        let script = Script::new().rule(When::First(1), |_| true, unusable);
        let endpoint = Endpoint::start(script.reply(Reply::text("{\"ok\": true}")));
        let suite = format!(
            "suite: paid\nrecords: [{{ id: a, n: 1 }}]\n\
             models: {{ judge: {{ model: openai/small, base_url: '{}', api_key_env: PAID_KEY }} }}\n\
             tasks:\n  - {{ id: tone, judge: {{ prompt: 'Rate ${{n}}', output: {{ ok: boolean }}, max_retries: 0 }}, field_path: ok, operator: equals, expected_value: true }}\n",
            endpoint.url()
        );
        let folder = Folder::with("suite.yaml", suite);
        let run = || ended(folder.command().args(["run", "suite.yaml"]).env("PAID_KEY", KEY));
        let (first, second, third) = (run(), run(), run());
        assert_eq!((first.code, second.code, third.code), (Some(3), Some(0), Some(0)), "{first:?}{second:?}");
        // What could be used is used again.
        assert_eq!(endpoint.stats().requests, 2);
    }
}

#[test]
fn looking_makes_no_journal() {
    let folder = Folder::empty();
    let none = "this project has no journal yet; it is made when a run asks a model\n";
    assert_eq!(said(&folder, &["journal"]), none);
    assert_eq!(
        said(&folder, &["journal", "--json"]),
        "{\"version\":1,\"file\":\"\",\"file_bytes\":0,\"answers\":0,\"models\":[]}\n"
    );
    assert_eq!(
        refused(&folder, &["journal", "clean", "--all", "--yes"]),
        "error: this project has no journal: there is nothing to remove"
    );
    assert!(!folder.path().join(".jurat").exists());
}

/// The address of a shared journal where no server listens.
const NOWHERE: &str = "postgresql://ann@127.0.0.1:1/answers";

#[test]
fn processes_of_one_run_say_once_what_is_wrong_with_the_shared_journal() {
    let endpoint = endpoint();
    let folder = paid(&endpoint);
    let mut command = folder.command();
    command.args(["run", "suite.yaml", "--quiet", "--fresh", "--engine", "local:2"]);
    let run = ended(command.envs([("PAID_KEY", KEY), ("JURAT_SHARED_JOURNAL", NOWHERE)]));
    assert_eq!((run.code, endpoint.stats().requests), (Some(0), 4), "{run:?}");
    let lines: Vec<&str> = run.stderr.lines().collect();
    let [note, warning] = lines.as_slice() else { panic!("{}", run.stderr) };
    assert_eq!(
        *note,
        "note: responses of `openai/small` are not shared, because it is on this machine; where its address and name are the same model for the whole team, \
         give it `shared: true`"
    );
    assert!(warning.starts_with("warning: the shared journal at `127.0.0.1:1/answers` cannot be used: "), "{warning}");
}

#[test]
fn a_model_that_its_author_shares_is_not_noted() {
    let endpoint = endpoint();
    let folder = paid(&endpoint);
    let suite = fs::read_to_string(folder.path().join("suite.yaml")).expect("a suite");
    let folder = folder.and("suite.yaml", suite.replace("api_key_env", "shared: true, api_key_env"));
    let mut command = folder.command();
    let run = ended(
        command.args(["run", "suite.yaml", "--quiet"]).envs([("PAID_KEY", KEY), ("JURAT_SHARED_JOURNAL", NOWHERE)]),
    );
    assert_eq!((run.code, endpoint.stats().requests), (Some(0), 2), "what was asked for before is not asked again");
    assert!(run.stderr.starts_with("warning: ") && run.stderr.lines().count() == 1, "{}", run.stderr);
}

#[test]
fn pushing_takes_no_password_as_an_argument_and_any_variable() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    let endpoint = endpoint();
    let folder = paid(&endpoint);
    let push = |address: &str| {
        let mut command = folder.command();
        let pushed = ended(command.args(["journal", "push", address]).env("NOT_TEXT", OsStr::from_bytes(b"\xff")));
        assert_eq!((pushed.code, pushed.stdout.as_str()), (Some(2), ""), "{}", pushed.stderr);
        pushed.stderr
    };
    assert_eq!(
        push("postgresql://ann:s3cret@127.0.0.1:1/answers"),
        "error: the given address of the shared journal has a password, which every user of this machine could read; give the password in `PGPASSWORD`, or the whole \
         address in `JURAT_SHARED_JOURNAL`\n"
    );
    let unreachable = push(NOWHERE);
    assert!(
        unreachable.starts_with("error: the shared journal at `127.0.0.1:1/answers` cannot be used: "),
        "{unreachable}"
    );
}

#[test]
fn a_packed_run_needs_no_other_file() {
    let folder = greetings_run();
    let before = folder.jurat(&["show", "--tasks", "--results-only"]).stdout;
    assert_eq!(
        said(&folder, &["pack", "latest"]),
        "2 rows copied, 104 B: .jurat/runs/greetings_RUN.jurat needs no other file\n"
    );
    fs::remove_file(folder.path().join("rows.jsonl")).expect("files can be removed");
    assert_eq!(folder.jurat(&["show", "--tasks", "--results-only"]).stdout, before);
    assert_eq!(
        said(&folder, &["pack", "latest", "--json"]),
        "{\"version\":1,\"file\":\".jurat/runs/greetings_RUN.jurat\",\"rows\":0,\"bytes\":0}\n"
    );
}

#[test]
fn a_run_whose_rows_changed_is_not_packed() {
    let folder = greetings_run().and("rows.jsonl", "{}\n");
    assert_eq!(
        refused(&folder, &["pack", "latest"]),
        "error: `rows.jsonl` changed since this run; put back the file as it was, or run again"
    );
    let other = greetings();
    assert!(steady(&other, &other.jurat(&["pack", "latest"]).stderr).starts_with("error: there is no run `latest`"));
}
