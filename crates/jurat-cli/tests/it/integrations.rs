//! What other systems run: the action, the template and the hook are YAML, and every line with `jurat` in them is one that the command takes.

use std::fs;

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
