//! `cargo xtask generate`: files that are made from the program, so that they say what it does.
//!
//! A generated file is an entry of [`FILES`] and is not edited by hand. Pages with tables of keys are written by hand and
//! have generated parts: see [`keys`]. A test fails when something is stale.

mod builtins;
mod checks;
mod comparisons;
mod judges;
mod keys;
mod runners;

use std::fs;
use std::process::ExitCode;

use chores::chore::{self, Arguments, Failure};
use chores::program;
use jurat_core::suite::schema::suite_schema;
use jurat_format::codes;
use jurat_format::problem::Code;
use jurat_report::pretty_json;

use self::builtins::builtin_reference;
use self::checks::check_reference;
use self::comparisons::comparison_reference;
use self::judges::judge_reference;
use self::keys::Reference;

fn main() -> ExitCode {
    chore::only(run)
}

/// A file of the repository, and what makes its text.
struct Generated {
    path: &'static str,
    make: fn() -> String,
}

const FILES: &[Generated] = &[
    Generated { path: "docs/problems/README.md", make: problem_index },
    Generated { path: "docs/reference/builtin-evaluators.md", make: builtin_reference },
    Generated { path: "docs/reference/checks.md", make: check_reference },
    Generated { path: "docs/reference/comparisons.md", make: comparison_reference },
    Generated { path: "docs/reference/judges.md", make: judge_reference },
    Generated { path: "xtask/agents.txt", make: runners::installed },
    Generated { path: "docs/reference/suite.schema.json", make: || pretty_json(&suite_schema()) + "\n" },
];

fn run(arguments: Arguments) -> Result<(), Failure> {
    arguments.finish()?;
    for (path, text) in stale() {
        let file = program::root().join(&path);
        let written = file.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&file, text));
        written.map_err(|error| Failure::new(format!("cannot write `{path}`: {error}")))?;
        eprintln!("wrote {path}");
    }
    Ok(())
}

/// The files that differ from what is made now, with their new texts.
fn stale() -> Vec<(String, String)> {
    let whole = FILES.iter().map(|it| (it.path.to_owned(), (it.make)()));
    let made = whole.chain(pages_with_keys());
    made.filter(|(path, text)| fs::read_to_string(program::root().join(path)).ok().as_ref() != Some(text)).collect()
}

/// The pages with tables of keys, with their new texts.
fn pages_with_keys() -> Vec<(String, String)> {
    let pages = keys::pages();
    let reference = Reference::of(&pages);
    let by_hand = pages.into_iter().filter(|(path, _)| FILES.iter().all(|it| it.path != path));
    let filled = |path: &str, text: &str| runners::filled(keys::filled(path, text, &reference));
    by_hand.map(|(path, text)| (path.clone(), filled(&path, &text))).collect()
}

/// The table of all problem codes, with a link to the page of each.
fn problem_index() -> String {
    let mut text = "<!-- Made by `cargo xtask generate`. -->\n\n\
                    # Problems\n\n\
                    Everything that `jurat check` can report about a suite. An *error* means that nothing runs until it is \
                    fixed; a *warning* is printed and\nthe run continues, unless `--strict` makes it an error. A *note* depends on \
                    the machine and its environment: `check` mentions it, and `run` refuses.\nA code never changes its name or its \
                    meaning.\n\n\
                    | code | severity | what it is |\n|---|---|---|\n"
        .to_owned();
    for Code { name, severity, summary } in codes::ALL {
        let page = name.replace("::", "/");
        text += &format!("| [`{name}`]({page}.md) | {severity} | {summary} |\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_files_are_up_to_date() {
        let paths: Vec<String> = stale().into_iter().map(|(path, _)| path).collect();
        assert!(paths.is_empty(), "stale: {paths:?}; run `cargo xtask generate` and commit what it writes");
    }

    #[test]
    fn every_code_is_in_the_index_with_its_page() {
        let index = problem_index();
        let line = "| [`file::not_found`](file/not_found.md) | error | a file that is not there, or cannot be opened |";
        assert!(index.lines().any(|it| it == line), "{index}");
        assert_eq!(index.lines().filter(|it| it.starts_with("| [`")).count(), codes::ALL.len());
    }
}
