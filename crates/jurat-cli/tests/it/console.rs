//! Pages that show files and commands: what they show is what the commands write.
//!
//! Blocks with `file=NAME` are files of one folder. In blocks of `console` a line that begins with `$ ` is a command, run by a shell in that folder
//! one after the other; what follows it is what it writes. A line `…` stands for any lines. `$ echo $?` is the exit code of the command
//! before it. `JURAT_BLESS=1` writes anew what is wrong on the page.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::command::{Folder, ended};
use crate::stored::steady;

/// Checks a page, and returns its commands. They have these variables besides those of the process.
#[track_caller]
pub(crate) fn checked(page: &Path, variables: &[(&str, &str)]) -> Vec<String> {
    let text = fs::read_to_string(page).expect("the page is there");
    let mut console = Console { folder: Folder::empty(), variables, code: None };
    let (mut blessed, mut wrong, mut ran) = (String::new(), Vec::new(), Vec::new());
    for (ix, part) in text.split("```").enumerate() {
        let (info, body) = part.split_once('\n').unwrap_or((part, ""));
        let mut part = part.to_owned();
        if ix % 2 == 1 && info == "console" {
            part = "console\n".to_owned();
            for (command, shown) in commands(body) {
                let written = console.written(command);
                let is_shown = is_shown(&console.folder, shown, &written);
                if !is_shown {
                    wrong.push(format!("$ {command}\n--- shown:\n{shown}--- written:\n{written}"));
                }
                part += &format!("$ {command}\n{}", if is_shown { shown } else { &written });
                ran.push(command.to_owned());
            }
        } else if let Some(name) = info.split_once("file=").map(|(_, name)| name).filter(|_| ix % 2 == 1) {
            console.folder = console.folder.and(name, body);
        }
        blessed += if ix > 0 { "```" } else { "" };
        blessed += &part;
    }
    if std::env::var_os("JURAT_BLESS").is_some_and(|it| it == "1") {
        fs::write(page, blessed).expect("the page can be written");
    } else {
        let wrong = wrong.join("\n");
        assert!(wrong.is_empty(), "{wrong}\nif this is meant: JURAT_BLESS=1 cargo test, then read the diff");
    }
    ran
}

/// The line that stands for any lines.
const ANY: &str = "…";

/// Where commands run, and how the last of them ended.
struct Console<'v> {
    folder: Folder,
    variables: &'v [(&'v str, &'v str)],
    code: Option<i32>,
}

impl Console<'_> {
    /// What a command writes, without the folder it runs in.
    fn written(&mut self, command: &str) -> String {
        if command == "echo $?" {
            return format!("{}\n", self.code.expect("there is a command before it"));
        }
        let jurat = Path::new(env!("CARGO_BIN_EXE_jurat")).parent().expect("the command lies in a folder");
        let path = std::env::var("PATH").expect("there is a path");
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("( {command} ) 2>&1")]).current_dir(self.folder.path());
        shell.env("PATH", format!("{}:{path}", jurat.display())).env_remove("NO_COLOR");
        shell.envs(self.variables.iter().copied());
        let ended = ended(&mut shell);
        self.code = ended.code;
        let place = fs::canonicalize(self.folder.path()).expect("the folder is there");
        ended.stdout.replace(&format!("{}/", place.display()), "")
    }
}

/// Whether this is what was written, as far as it does not differ from day to day.
pub(crate) fn is_shown(folder: &Folder, shown: &str, written: &str) -> bool {
    let [shown, written] = [shown, written].map(|it| steady(folder, it));
    let mut parts: Vec<&[&str]> = Vec::new();
    let shown: Vec<&str> = shown.lines().collect();
    parts.extend(shown.split(|it| *it == ANY));
    let written: Vec<&str> = written.lines().collect();
    let [first, middle @ .., last] = parts.as_slice() else { return shown == written };
    let Some(mut rest) = written.strip_prefix(*first).and_then(|it| it.strip_suffix(*last)) else { return false };
    for part in middle {
        let Some(at) = (0..=rest.len()).find(|at| rest[*at..].starts_with(part)) else { return false };
        rest = &rest[at + part.len()..];
    }
    true
}

/// The commands of a block, each with what is shown of what it writes.
fn commands(block: &str) -> Vec<(&str, &str)> {
    let mut rest = block;
    let mut commands = Vec::new();
    while let Some((command, after)) = rest.strip_prefix("$ ").and_then(|it| it.split_once('\n')) {
        let end = if after.starts_with("$ ") { 0 } else { after.find("\n$ ").map_or(after.len(), |it| it + 1) };
        commands.push((command, &after[..end]));
        rest = &after[end..];
    }
    assert!(rest.is_empty(), "a block of `console` begins with `$ `: {rest}");
    commands
}

#[test]
fn any_lines_may_be_left_out() {
    let folder = Folder::empty();
    let is_shown = |shown: &str| is_shown(&folder, shown, "a\nb\nc\nd\n");
    for shown in ["a\nb\nc\nd\n", "a\n…\nd\n", "…\nb\nc\n…\n", "a\nb\n…\n", "a\n…\nc\n…\n", "…\n"] {
        assert!(is_shown(shown), "{shown}");
    }
    for shown in ["a\nb\nc\n", "b\n…\n", "…\nc\n", "a\n…\nb\nd\n", "…\nc\n…\nb\n…\n", "a\nb\nc\nd\n…\nd\n"]
    {
        assert!(!is_shown(shown), "{shown}");
    }
}
