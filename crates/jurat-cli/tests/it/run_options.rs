//! The options of runs: every face has the same, and the reference lists them.

use std::collections::BTreeSet;
use std::fs;

use jurat::{OPTIONS, RunOption, Setting};

use crate::command::{Folder, root};

/// The name of an option on the command line.
fn long(option: &RunOption) -> String {
    option.argument.long.map_or_else(|| option.name.replace('_', "-"), str::to_owned)
}

#[test]
fn the_command_has_every_option() {
    let help = Folder::empty().jurat(&["run", "--help"]).stdout;
    for option in OPTIONS {
        assert!(help.contains(&format!("--{}", long(option))), "`jurat run --help` lacks `--{}`", long(option));
    }
}

#[test]
fn python_has_every_option() {
    let text = fs::read_to_string(root().join("python/jurat/_options.py")).expect("it is there");
    let class = text.split("class RunOptions(").nth(1).expect("the class is there");
    let fields = class.lines().skip(1).take_while(|it| it.is_empty() || it.starts_with("    "));
    let fields = fields.map(str::trim).filter(|it| !it.starts_with("\"\"\""));
    let in_python: BTreeSet<&str> = fields.filter_map(|it| it.split_once(": ")).map(|(name, _)| name).collect();
    let of_python = ["directory", "variables"];
    let expected: BTreeSet<&str> = OPTIONS.iter().map(|it| it.name).chain(of_python).collect();
    let missing: Vec<&&str> = expected.difference(&in_python).collect();
    let unknown: Vec<&&str> = in_python.difference(&expected).collect();
    assert!(missing.is_empty(), "`RunOptions` in python/jurat/_options.py lacks {missing:?}");
    assert!(unknown.is_empty(), "`RunOptions` in python/jurat/_options.py has {unknown:?}, which no run takes");
}

/// `JURAT_BLESS=1` writes the table.
#[test]
fn the_reference_lists_every_option() {
    const START: &str = "<!-- options of a run -->\n";
    const END: &str = "<!-- end of options -->";
    let path = root().join("docs/reference/commands.md");
    let text = fs::read_to_string(&path).expect("the page is there");
    let (before, rest) = text.split_once(START).expect("the table has a place");
    let (_, after) = rest.split_once(END).expect("the table has an end");
    let rows: String = OPTIONS.iter().map(row).collect();
    let made = format!("{before}{START}| option | name | meaning |\n|---|---|---|\n{rows}{END}{after}");
    if std::env::var_os("JURAT_BLESS").is_some() {
        return fs::write(&path, &made).expect("the page can be written");
    }
    assert!(made == text, "the options in docs/reference/commands.md are stale; JURAT_BLESS=1 writes them");
}

fn row(option: &RunOption) -> String {
    let short = option.argument.short.map_or_else(String::new, |it| format!("-{it}, "));
    let value = if matches!(option.setting, Setting::Flag(_)) { "" } else { option.argument.value };
    let argument = format!("{short}--{} {value}", long(option));
    format!("| `{}` | `{}` | {} |\n", argument.trim(), option.name, option.help.trim())
}
