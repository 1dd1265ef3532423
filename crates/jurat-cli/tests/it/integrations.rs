//! What other systems run: the action, the template and the hook are YAML, and every line with `jurat` in them is one that the command takes.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::process::Command;

use jurat_format::value::SourceId;
use jurat_format::yaml::read_tree;

use crate::command::{Folder, root};

const FILES: [&str; 4] = [
    "integrations/github/action.yml",
    "integrations/github/example.yml",
    "integrations/gitlab/jurat.yml",
    ".pre-commit-hooks.yaml",
];

fn text(file: &str) -> String {
    fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

#[test]
fn integrations_are_yaml() {
    for file in FILES {
        let mut problems = Vec::new();
        let tree = read_tree(&text(file), SourceId(0), false, &mut problems);
        assert!(tree.is_some() && problems.is_empty(), "{file}: {problems:?}");
    }
}

/// The arguments of a command line of the shell, with a word in the place of each variable; nothing for a line that does not run the command.
fn arguments(line: &str) -> Option<Vec<String>> {
    let line = line.trim_start_matches([' ', '-']).trim_start_matches("run: ").trim_start_matches("entry: ");
    let line = line.strip_prefix("jurat ")?;
    let line = line.split([';', '|', '>']).next().unwrap_or_default();
    let mut plain = String::new();
    let mut rest = line;
    // `${X:+--base "$X"}` stands for its words when the variable is set.
    while let Some((before, after)) = rest.split_once("${") {
        let (inside, behind) = after.split_once('}').expect("it is closed");
        plain += before;
        plain += inside.split_once(":+").map_or("x", |(_, words)| words);
        rest = behind;
    }
    plain += rest;
    // Arguments that a user adds are not known.
    let known = plain.split_whitespace().filter(|it| !it.ends_with("ARGUMENTS"));
    Some(known.map(|it| it.trim_matches('"').replace('$', "x")).collect())
}

#[test]
fn every_command_line_of_an_integration_is_one_that_the_command_takes() {
    let folder = Folder::empty();
    let mut n_lines = 0;
    for file in FILES {
        for line in text(file).lines() {
            let Some(mut arguments) = arguments(line) else { continue };
            // With `--help` behind them arguments are read and nothing is run.
            arguments.push("--help".to_owned());
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            let ended = folder.jurat(&arguments);
            assert_eq!(ended.code, Some(0), "{file}: {line}\n{}", ended.stderr);
            n_lines += 1;
        }
    }
    assert!(n_lines >= 7, "only {n_lines} lines were found");
    assert_ne!(folder.jurat(&["run", "x", "--quite", "--help"]).code, Some(0), "a wrong argument is noticed");
}

/// The hook looks at every file that is a suite by its name.
#[test]
fn the_hook_finds_suites_by_their_names() {
    let text = text(".pre-commit-hooks.yaml");
    let pattern = text.lines().find_map(|it| it.trim().strip_prefix("files: ")).expect("it has a pattern");
    let pattern = regex::Regex::new(pattern).expect("it is one");
    for file in ["jurat.yaml", "a/jurat.yml", "suite.yaml", "a/b/suite.yml", "prices.jurat.yaml", "a/b.jurat.yml"] {
        assert!(pattern.is_match(file), "{file}");
    }
    for file in ["my-suite.yaml", "jurat.yaml.bak", "a/jurat/x.yaml", ".jurat.yaml", "suite.json"] {
        assert!(!pattern.is_match(file), "{file}");
    }
}

/// What the template of GitLab writes its note with.
fn note_writer() -> String {
    let text = text("integrations/gitlab/jurat.yml");
    let (_, code) = text.split_once("<<'END' || echo \"the note could not be written\"\n").expect("it is there");
    let (code, _) = code.split_once("      END\n").expect("it has an end");
    code.lines().map(|it| format!("{}\n", it.strip_prefix("      ").unwrap_or(it))).collect()
}

/// Answers requests with notes: a full page of others, then one with ours. The methods and paths that were asked for.
fn serve_notes(listener: &TcpListener, mark: &str, n_requests: usize) -> Vec<String> {
    let others: Vec<String> = (0..100).map(|id| format!(r#"{{"id":{id},"body":"hello"}}"#)).collect();
    let pages = [format!("[{}]", others.join(",")), format!(r#"[{{"id":777,"body":"{mark}\nold"}}]"#)];
    let mut asked = Vec::new();
    for stream in listener.incoming().take(n_requests) {
        let mut stream = stream.expect("a connection");
        let (mut head, mut byte) = (Vec::new(), [0]);
        while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).expect("it can be read") > 0 {
            head.push(byte[0]);
        }
        let head = String::from_utf8_lossy(&head).into_owned();
        let length = head.lines().find_map(|it| it.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
        let mut body = vec![0; length.unwrap_or(0)];
        stream.read_exact(&mut body).expect("the body is whole");
        let line = head.lines().next().unwrap_or_default().replace(" HTTP/1.1", "");
        let reply = match (line.starts_with("GET "), line.ends_with("page=1")) {
            (true, true) => pages[0].as_str(),
            (true, false) => pages[1].as_str(),
            _ => "{}",
        };
        asked.push(line);
        let answer = format!("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{reply}", reply.len());
        stream.write_all(answer.as_bytes()).expect("it can be answered");
    }
    asked
}

#[test]
fn the_note_of_gitlab_is_found_behind_a_hundred_others() {
    let folder = Folder::with("note.py", note_writer()).and("jurat-summary.md", "new");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr().expect("it listens");
    let server = std::thread::spawn(move || serve_notes(&listener, "<!-- jurat: jurat.yaml -->", 3));
    let written = Command::new("python3")
        .arg("note.py")
        .current_dir(folder.path())
        .env("JURAT_SUITE", "jurat.yaml")
        .env("JURAT_TOKEN", "t")
        .env("CI_API_V4_URL", format!("http://{address}"))
        .env("CI_PROJECT_ID", "1")
        .env("CI_MERGE_REQUEST_IID", "2")
        .env("no_proxy", "*")
        .output()
        .expect("python3 is there");
    assert!(written.status.success(), "{}", String::from_utf8_lossy(&written.stderr));
    let notes = "/projects/1/merge_requests/2/notes";
    let expected = [
        format!("GET {notes}?per_page=100&page=1"),
        format!("GET {notes}?per_page=100&page=2"),
        format!("PUT {notes}/777"),
    ];
    assert_eq!(server.join().expect("it served"), expected);
}
