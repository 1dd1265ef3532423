//! `docs/reference/commands.md`: what it shows is what the commands write, and every verb is in it.

use std::fs;
use std::path::PathBuf;

use crate::command::{Folder, root};
use crate::console::checked;

fn page() -> PathBuf {
    root().join("docs/reference/commands.md")
}

#[test]
fn the_page_shows_what_the_commands_write() {
    let n_commands = checked(&page(), &[]).len();
    assert!(n_commands > 15, "only {n_commands} commands");
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

/// The verb of a line of the help; continuation lines are indented further.
pub(crate) fn verb(line: &str) -> Option<&str> {
    line.strip_prefix("  ").filter(|it| !it.starts_with(' ')).and_then(|it| it.split(' ').next())
}
