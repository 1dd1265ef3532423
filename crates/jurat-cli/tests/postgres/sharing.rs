//! Projects that share a journal.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};

use jurat_testkit::{Endpoint, Reply, Script};
use serde_json::Value;

use crate::command::{Ended, Folder, ended, root};
use crate::console::checked;
use crate::server::{PASSWORD, Server};

const ROWS: usize = 40;

/// A project of the team: rows, a judge at an endpoint, and the shared journal of a server.
struct Project {
    folder: Folder,
    shared: String,
}

impl Project {
    fn new(endpoint: &Endpoint, shared: &str) -> Project {
        let suite = "\
suite: shared
records: rows.jsonl
models: { judge: { model: openai/judge, shared: true } }
tasks: [{ id: tone, judge: { prompt: 'tone of ${answer}' }, operator: contains, expected_value: fine }]
";
        let rows: String =
            (0..ROWS).map(|it| format!("{{\"id\": \"r{it:02}\", \"answer\": \"answer {it:02}\"}}\n")).collect();
        let keys = format!("OPENAI_BASE_URL={}\nOPENAI_API_KEY=sk-of-the-project\n", endpoint.url());
        let folder = Folder::with("jurat.yaml", suite).and("rows.jsonl", rows).and(".env", keys);
        Project { folder, shared: shared.to_owned() }
    }

    fn command(&self, arguments: &[&str]) -> std::process::Command {
        let mut command = self.folder.command();
        command.args(arguments).env("JURAT_SHARED_JOURNAL", &self.shared).env("PGPASSWORD", PASSWORD);
        command
    }

    fn jurat(&self, arguments: &[&str]) -> Ended {
        ended(&mut self.command(arguments))
    }

    /// Runs the suite, which passes, and returns its results and what else was written.
    #[track_caller]
    fn run(&self, arguments: &[&str]) -> (String, String) {
        let words: Vec<&str> =
            ["run", "--quiet", "--results-only", "--json"].iter().chain(arguments).copied().collect();
        let Ended { code, stdout, stderr } = self.jurat(&words);
        assert_eq!(code, Some(0), "{stderr}");
        (stdout, stderr)
    }

    /// The answers of its journal, by their keys and times.
    fn answers(&self) -> Vec<String> {
        let journal = self.folder.path().join(".jurat/journal.db");
        let journal = rusqlite::Connection::open(journal).expect("the project has a journal");
        let mut select = journal.prepare("SELECT lower(hex(key)) || ' ' || at_ms FROM answer").expect("it has answers");
        let answers = select.query_map([], |row| row.get(0)).expect("they can be read");
        answers.collect::<Result<_, _>>().expect("they can be read")
    }

    /// How many answers the journal of the project has.
    fn n_answers(&self) -> u64 {
        let stats = self.jurat(&["journal", "--json"]).stdout;
        serde_json::from_str::<Value>(&stats).expect("JSON")["answers"].as_u64().expect("a number")
    }
}

fn endpoint() -> Endpoint {
    Endpoint::start(Script::new().reply(Reply::text("fine")))
}

fn n_of(server: &Server) -> String {
    server.sql("SELECT count(*) FROM jurat_answer")
}

#[test]
fn what_one_has_paid_for_the_others_use() {
    let (server, endpoint) = (Server::start(), endpoint());
    let (ours, theirs) = (Project::new(&endpoint, &server.url()), Project::new(&endpoint, &server.url()));
    let (results, said) = ours.run(&[]);
    assert_eq!((said.as_str(), endpoint.stats().answers, n_of(&server)), ("", 40, "40".to_owned()));
    assert_eq!(theirs.run(&[]), (results, String::new()));
    assert_eq!(
        (endpoint.stats().answers, theirs.n_answers()),
        (40, 40),
        "nothing is paid twice, and the project has it now"
    );
    assert_eq!(n_of(&server), "40", "what was read is not sent back");
    // `--fresh` asks again, and what is new is shared.
    theirs.run(&["--fresh"]);
    assert_eq!((endpoint.stats().answers, n_of(&server)), (80, "80".to_owned()));
}

#[test]
fn models_on_this_machine_are_shared_only_where_their_author_says_so() {
    let (server, ours, theirs) = (Server::start(), endpoint(), endpoint());
    let project = |endpoint: &Endpoint| {
        let project = Project::new(endpoint, &server.url());
        let suite = fs::read_to_string(project.folder.path().join("jurat.yaml")).expect("a suite");
        let folder = project.folder.and("jurat.yaml", suite.replace("shared: true", "shared: false"));
        Project { folder, ..project }
    };
    let shared = Project::new(&ours, &server.url());
    shared.run(&[]);
    // The same address and the same name, and for all that is known another model.
    let apart = project(&ours);
    assert_eq!((apart.run(&[]).1.as_str(), ours.stats().answers), ("", 80), "nothing is looked up");
    assert_eq!(apart.jurat(&["journal", "push"]).stdout, "0 responses sent, 0 known\n");
    let unmarked = project(&theirs);
    let suite = fs::read_to_string(unmarked.folder.path().join("jurat.yaml")).expect("a suite");
    let folder = unmarked.folder.and("jurat.yaml", suite.replace(", shared: false", ""));
    let unmarked = Project { folder, shared: unmarked.shared };
    let (_, said) = unmarked.run(&[]);
    assert!(
        said.starts_with("note: responses of `openai/judge` are not shared") && said.lines().count() == 1,
        "{said}"
    );
    assert_eq!((theirs.stats().answers, n_of(&server)), (40, "40".to_owned()), "only what is shared is there");
}

#[test]
fn a_server_is_reached_over_its_socket() {
    let (server, endpoint) = (Server::start(), endpoint());
    Project::new(&endpoint, &server.url_of_socket()).run(&[]);
    let (_, said) = Project::new(&endpoint, &server.url()).run(&[]);
    assert_eq!((said.as_str(), endpoint.stats().answers, n_of(&server)), ("", 40, "40".to_owned()));
}

#[test]
fn processes_of_one_run_share_it_too() {
    let (server, endpoint) = (Server::start(), endpoint());
    let (ours, theirs) = (Project::new(&endpoint, &server.url()), Project::new(&endpoint, &server.url()));
    ours.run(&["--engine", "local:2"]);
    assert_eq!((endpoint.stats().answers, n_of(&server)), (40, "40".to_owned()));
    theirs.run(&["--engine", "local:2"]);
    assert_eq!(endpoint.stats().answers, 40);
}

#[test]
fn a_server_that_is_not_there_is_one_warning_and_gets_its_answers_later() {
    let (mut server, endpoint) = (Server::start(), endpoint());
    let project = Project::new(&endpoint, &server.url());
    server.kill();
    let (_, said) = project.run(&[]);
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.starts_with("warning: the shared journal at `127.0.0.1:"), "{said}");
    assert!(said.trim_end().ends_with("are sent by a later run or by `jurat journal push`"), "{said}");
    let refused = project.jurat(&["journal", "push"]);
    assert!(refused.code == Some(2) && refused.stderr.contains("cannot be used"), "{refused:?}");
    server.begin();
    assert_eq!(project.jurat(&["journal", "push"]).stdout, "40 responses sent, 0 known\n");
    assert_eq!(project.jurat(&["journal", "push"]).stdout, "0 responses sent, 0 known\n");
    assert_eq!(n_of(&server), "40");
}

#[test]
fn a_server_that_is_killed_in_the_middle_stops_nothing_and_loses_nothing() {
    let mut server = Server::start();
    let endpoint = Endpoint::start(Script::new().reply(Reply::text("fine")).held());
    let project = Project::new(&endpoint, &server.url());
    let mut command = project.command(&["run", "--quiet", "-j", "4"]);
    let running = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts");
    endpoint.release(12);
    endpoint.wait_until(|it| it.answers >= 12);
    server.kill();
    endpoint.release_all();
    let ended = running.wait_with_output().expect("it ends");
    let said = String::from_utf8(ended.stderr).expect("text");
    assert_eq!((ended.status.code(), endpoint.stats().answers), (Some(0), 40), "{said}");
    // A lookup may have been under way.
    assert!(said.lines().all(|it| it.starts_with("warning: ") && it.contains("the shared journal")), "{said}");
    assert!(said.contains("were not sent to the shared journal"), "{said}");
    server.begin();
    let (_, said) = project.run(&[]);
    assert_eq!(
        (said.as_str(), n_of(&server), endpoint.stats().answers),
        ("", "40".to_owned(), 40),
        "the next run sends the rest"
    );
}

#[test]
fn many_who_come_at_once_find_each_their_tables_and_lose_nothing() {
    let (server, endpoint) = (Server::start(), endpoint());
    let projects: Vec<Project> = (0..6).map(|_| Project::new(&endpoint, &server.url())).collect();
    let start = |it: &Project| {
        it.command(&["run", "--quiet"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts")
    };
    let running: Vec<Child> = projects.iter().map(start).collect();
    let codes: Vec<Option<i32>> = running.into_iter().map(|mut it| it.wait().expect("it ends").code()).collect();
    assert_eq!(codes, [Some(0); 6]);
    // One that did not reach a busy server in time has its answers, and sends them now.
    assert!(projects.iter().all(|it| it.jurat(&["journal", "push"]).code == Some(0)));
    assert_eq!(server.sql("SELECT count(DISTINCT key) FROM jurat_answer"), "40");
    // Two who are given the same in the same millisecond have one answer there.
    let there = server.sql("SELECT encode(key, 'hex') || ' ' || at_ms FROM jurat_answer");
    let there: BTreeSet<&str> = there.lines().collect();
    let paid: BTreeSet<String> = projects.iter().flat_map(Project::answers).collect();
    assert!(paid.iter().all(|it| there.contains(it.as_str())), "all that was paid for is there");
    assert_eq!(there.len(), paid.len(), "and nothing else");
    assert_eq!(server.sql("SELECT count(*) FROM jurat_journal"), "3", "the tables were made once");
}

#[test]
fn one_who_may_only_read_reads() {
    let (server, endpoint) = (Server::start(), endpoint());
    Project::new(&endpoint, &server.url()).run(&[]);
    server.sql(&format!("CREATE ROLE bob LOGIN PASSWORD '{PASSWORD}'"));
    server.sql("GRANT SELECT ON jurat_answer, jurat_journal TO bob");
    let reader = Project::new(&endpoint, &server.url_of("bob", "127.0.0.1"));
    assert_eq!((reader.run(&[]).1.as_str(), endpoint.stats().answers), ("", 40));
    let (_, said) = reader.run(&["--fresh"]);
    assert!(said.starts_with("warning: 40 responses were not sent to the shared journal: permission denied"), "{said}");
}

#[test]
fn tables_of_a_later_version_are_left_alone() {
    let (server, endpoint) = (Server::start(), endpoint());
    Project::new(&endpoint, &server.url()).run(&[]);
    server.sql("UPDATE jurat_journal SET value = '2' WHERE key = 'min_reader'");
    let (_, said) = Project::new(&endpoint, &server.url()).run(&[]);
    assert!(said.contains("a later version of jurat made its tables; use that version or a later one"), "{said}");
    assert_eq!((endpoint.stats().answers, n_of(&server)), (80, "40".to_owned()));
}

#[test]
fn certificates_are_checked() {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).expect("a certificate");
    let (server, endpoint) = (Server::with_tls(&made.cert.pem(), &made.signing_key.serialize_pem()), endpoint());
    let url = format!("{}?sslmode=require", server.url_of("ann", "localhost"));
    let project = Project::new(&endpoint, &url);
    let (_, said) = project.run(&[]);
    assert!(said.contains("cannot be used") && said.to_lowercase().contains("certificate"), "{said}");
    let trusted = project.folder.path().join("trusted.pem");
    fs::write(&trusted, made.cert.pem()).expect("files can be written");
    let mut command = project.command(&["journal", "push"]);
    assert_eq!(ended(command.env("SSL_CERT_FILE", trusted)).stdout, "40 responses sent, 0 known\n");
}

#[test]
fn the_password_is_written_nowhere() {
    let (server, endpoint) = (Server::start(), endpoint());
    let project = Project::new(&endpoint, &server.url());
    let given = ended(project.folder.command().args(["run", "--shared-journal", &server.url()]));
    assert_eq!(given.code, Some(2));
    assert!(given.stderr.contains("give the password in `PGPASSWORD`"), "{}", given.stderr);
    let (results, said) = project.run(&[]);
    let explained = project.jurat(&["explain", "latest", "r01"]);
    let texts = [given.stderr, results, said, explained.stdout, explained.stderr];
    assert!(texts.iter().all(|it| !it.contains(PASSWORD)));
    assert!(files(project.folder.path()).iter().all(|it| !contains(it, PASSWORD.as_bytes())));
    // An option in place of the variable, and its password from the other one.
    let theirs = Project::new(&endpoint, "none");
    theirs.run(&["--shared-journal", &server.url_of("ann", "127.0.0.1")]);
    assert_eq!(endpoint.stats().answers, 40);
}

/// The bytes of all files below a folder.
fn files(folder: &Path) -> Vec<Vec<u8>> {
    let entries = fs::read_dir(folder).expect("a folder").map(|it| it.expect("an entry").path());
    entries.flat_map(|it| if it.is_dir() { files(&it) } else { vec![fs::read(&it).expect("a file")] }).collect()
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|it| it == part)
}

#[test]
fn the_guide_shows_what_the_commands_write() {
    let server = Server::start();
    let page = root().join("docs/guides/share-answers.md");
    // The guide names a server by this variable, as its reader does.
    let commands = checked(&page, &[("JURAT_SHARED_JOURNAL", &server.url())]);
    assert!(commands.len() > 5, "it runs little");
}
