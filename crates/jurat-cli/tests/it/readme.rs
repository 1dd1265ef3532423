//! What the README shows is what the command does.

use std::fs;
use std::path::Path;

use crate::command::{Folder, root};
use crate::console::is_shown;

/// The fenced blocks of a page with this info string.
fn blocks<'t>(page: &'t str, info: &str) -> Vec<&'t str> {
    let opening = format!("```{info}\n");
    let after = page.match_indices(&opening).map(|(at, _)| &page[at + opening.len()..]);
    after.map(|it| &it[..it.find("```").expect("a block ends")]).collect()
}

#[test]
fn the_readme_shows_what_the_command_does() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let [replayed, compared, contrasted, talked, checked] = blocks(&readme, "text")[..] else {
        panic!("five texts are shown")
    };

    let clone = clone();
    let said = |command: &str| {
        let command = command.trim().strip_prefix("cargo run -- ").expect("a command");
        let ended = clone.jurat(&command.split(' ').collect::<Vec<_>>());
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{command}");
        ended.stdout
    };
    let shows = |command: &str, shown: &str| {
        let written = said(command);
        assert!(is_shown(&clone, shown, &written), "{command}\n{written}");
    };
    let [first, compare, contrast, talk, ..] = blocks(&readme, "sh")[..] else { panic!("four commands are shown") };
    let (replay, explain) = first.split_once('\n').expect("the first block has two commands");
    shows(replay, replayed);
    assert!(said(explain).contains("Cleaner on a hot element"));
    shows(compare, compared);
    shows(contrast, contrasted);
    shows(talk, talked);
    let explain = "cargo run -- explain leap-year";
    assert!(readme.contains(explain));
    assert!(said(explain).contains("steadfast"));

    let rows = fs::read(root().join("examples/appliances/records.jsonl")).unwrap();
    let folder = Folder::with("suite.yaml", blocks(&readme, "yaml")[0]).and("records.jsonl", rows);
    let problems = folder.jurat(&["check", "suite.yaml"]).stderr;
    assert!(problems.starts_with(checked), "{problems}");
}

/// The commands of an example's page work, apart from those that need a key.
#[test]
fn examples_do_what_their_pages_say() {
    for (page, n_commands) in [
        ("examples/appliances/README.md", 3),
        ("examples/scenarios/README.md", 2),
        ("examples/evaluators/README.md", 3),
        ("examples/agents/README.md", 3),
        ("examples/tools/README.md", 2),
    ] {
        let clone = clone();
        let page = fs::read_to_string(root().join(page)).unwrap();
        let lines: Vec<&str> = blocks(&page, "sh").into_iter().flat_map(str::lines).collect();
        let commands: Vec<&str> = lines.into_iter().filter_map(|it| it.strip_prefix("jurat ")).collect();
        assert_eq!(commands.len(), n_commands, "{commands:?}");
        for command in commands {
            let ended = clone.jurat(&command.split(' ').collect::<Vec<_>>());
            assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{command}");
        }
    }
}

/// Every page that the README links to is there.
#[test]
fn links_of_the_readme_lead_somewhere() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let links: Vec<&str> = readme.split("](").skip(1).filter_map(|it| it.split_once(')')).map(|(it, _)| it).collect();
    assert!(links.len() > 8, "{links:?}");
    let dangling: Vec<&&str> = links.iter().filter(|it| !root().join(it).exists()).collect();
    assert!(dangling.is_empty(), "{dangling:?}");
}

/// What a fresh clone has of the examples.
fn clone() -> Folder {
    let mut folder = Folder::empty();
    for file in files(&root().join("examples")) {
        let name = file.strip_prefix(root()).expect("examples lie below the root").display().to_string();
        folder = folder.and(&name, fs::read(&file).expect("examples can be read"));
    }
    folder
}

fn files(directory: &Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(directory).expect("the directory can be listed");
    let paths = entries.map(|it| it.expect("it can be listed").path());
    paths.flat_map(|it| if it.is_dir() { files(&it) } else { vec![it] }).collect()
}
