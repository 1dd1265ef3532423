//! `docs/reference/commands.md`: what it shows is what the commands write.
//!
//! Blocks with `file=NAME` are files of one folder. In blocks of `console` a line that begins with `$ ` is a command, run in that
//! folder one after the other; what follows it is what it writes to standard output. A line `…` stands for the rest.
//! `JURAT_BLESS=1` writes the page anew.

use std::fs;
use std::path::PathBuf;

use crate::command::{Folder, root};
use crate::kept::steady;

fn page() -> PathBuf {
    root().join("docs/reference/commands.md")
}

#[test]
fn the_page_shows_what_the_commands_write() {
    let text = fs::read_to_string(page()).expect("the page is there");
    let mut folder = Folder::empty();
    let (mut blessed, mut wrong, mut n_commands) = (String::new(), Vec::new(), 0);
    for (ix, part) in text.split("```").enumerate() {
        let (info, body) = part.split_once('\n').unwrap_or((part, ""));
        let mut part = part.to_owned();
        if ix % 2 == 1 && info == "console" {
            part = "console\n".to_owned();
            for (command, shown) in commands(body) {
                n_commands += 1;
                let written = written(&folder, command);
                if !is_shown(&folder, shown, &written) {
                    wrong.push(format!("$ jurat {command}\n--- shown:\n{shown}--- written:\n{written}"));
                }
                let kept = if shown.ends_with("…\n") { shown.to_owned() } else { written };
                part += &format!("$ jurat {command}\n{kept}");
            }
        } else if let Some(name) = info.split_once("file=").map(|(_, name)| name).filter(|_| ix % 2 == 1) {
            folder = folder.and(name, body);
        }
        blessed += if ix > 0 { "```" } else { "" };
        blessed += &part;
    }
    assert!(n_commands > 15, "only {n_commands} commands");
    if std::env::var_os("JURAT_BLESS").is_some_and(|it| it == "1") {
        fs::write(page(), blessed).expect("the page can be written");
    } else {
        assert!(
            wrong.is_empty(),
            "{}\nif this is meant: JURAT_BLESS=1 cargo test, then read the diff",
            wrong.join("\n")
        );
    }
}

#[test]
fn every_verb_has_its_section() {
    let text = fs::read_to_string(page()).expect("the page is there");
    let help = Folder::empty().jurat(&["--help"]).stdout;
    let verbs = help.lines().skip_while(|it| *it != "Commands:").skip(1).take_while(|it| !it.is_empty());
    let verbs: Vec<&str> = verbs.filter_map(verb).filter(|it| *it != "help").collect();
    assert!(verbs.len() > 8, "{verbs:?}");
    for verb in verbs {
        assert!(text.contains(&format!("\n## `jurat {verb}`\n")), "`{verb}` has no section");
        assert!(text.contains(&format!("\n$ jurat {verb}")), "`{verb}` has no example");
    }
}

/// The verb of a line of the help; lines that go on with another are indented further.
pub(crate) fn verb(line: &str) -> Option<&str> {
    line.strip_prefix("  ").filter(|it| !it.starts_with(' ')).and_then(|it| it.split(' ').next())
}

/// The commands of a block, each with what is shown of what it writes.
fn commands(block: &str) -> Vec<(&str, &str)> {
    let starts = format!("\n{block}");
    let n = starts.matches("\n$ jurat ").count();
    let mut rest = block;
    let mut commands = Vec::new();
    for _ in 0..n {
        let (command, after) = rest.strip_prefix("$ jurat ").and_then(|it| it.split_once('\n')).expect("a command");
        let end = after.find("$ jurat ").unwrap_or(after.len());
        commands.push((command, &after[..end]));
        rest = &after[end..];
    }
    commands
}

/// What a command writes, without the folder it runs in.
fn written(folder: &Folder, command: &str) -> String {
    let ended = folder.jurat(&command.split(' ').collect::<Vec<_>>());
    assert_eq!(ended.stderr, "", "{command}");
    let place = fs::canonicalize(folder.path()).expect("the folder is there");
    ended.stdout.replace(&format!("{}/", place.display()), "")
}

fn is_shown(folder: &Folder, shown: &str, written: &str) -> bool {
    match shown.strip_suffix("…\n") {
        Some(beginning) => !written.is_empty() && written.starts_with(beginning),
        None => steady(folder, shown) == steady(folder, written),
    }
}
