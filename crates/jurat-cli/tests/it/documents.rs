//! The pages of this repository and the help of the command: links lead somewhere, and the words are those of `docs/glossary.md`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::command::{Folder, root};
use crate::commands::verb;

/// The directories and files that hold pages for users.
const PAGES: &[&str] = &["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "docs", "examples"];

/// The Markdown files of [`PAGES`], relative to the root, in order.
fn pages() -> Vec<PathBuf> {
    let mut found = Vec::new();
    PAGES.iter().for_each(|it| collect(&root().join(it), &mut found));
    found.sort();
    assert!(found.len() > 100, "only {} pages: this test looks in the wrong place", found.len());
    found
}

/// The pages at or below a path, relative to the root.
fn collect(path: &Path, found: &mut Vec<PathBuf>) {
    if path.is_dir() {
        let entries = fs::read_dir(path).expect("directories of pages can be listed");
        entries.for_each(|it| collect(&it.expect("pages can be listed").path(), found));
    } else if path.extension().is_some_and(|it| it == "md") {
        found.push(path.strip_prefix(root()).expect("it was found under the root").to_owned());
    }
}

fn text(page: &Path) -> String {
    fs::read_to_string(root().join(page)).expect("pages are readable text")
}

/// The lines of a page outside of fenced blocks, with their numbers.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_code = false;
    text.lines().enumerate().filter_map(move |(ix, line)| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        (!is_code && !is_fence).then_some((ix + 1, line))
    })
}

#[test]
fn links_lead_to_pages_and_sections() {
    let mut dangling = Vec::new();
    for page in pages() {
        let text = text(&page);
        for (number, line) in prose(&text) {
            let links = line.split("](").skip(1).filter_map(|it| it.split_once(')')).map(|(it, _)| it);
            let local = links.filter(|it| !it.contains("://") && !it.contains(' '));
            let wrong = local.filter(|it| !leads_somewhere(&page, it));
            dangling.extend(wrong.map(|it| format!("{}:{number}: {it}", page.display())));
        }
    }
    assert!(dangling.is_empty(), "\n{}\n", dangling.join("\n"));
}

fn leads_somewhere(page: &Path, link: &str) -> bool {
    let (path, section) = link.split_once('#').map_or((link, None), |(path, section)| (path, Some(section)));
    let folder = page.parent().expect("a page lies in a directory");
    let target = if path.is_empty() { page.to_owned() } else { folder.join(path) };
    let exists = root().join(&target).exists();
    exists
        && section
            .is_none_or(|it| target.extension().is_none_or(|it| it != "md") || sections(&text(&target)).contains(it))
}

/// What can stand after `#` in a link to a page: its headings, as GitHub makes anchors of them, and explicit anchors.
fn sections(text: &str) -> BTreeSet<String> {
    let headings =
        prose(text).filter_map(|(_, line)| line.strip_prefix('#')).map(|it| anchor(it.trim_start_matches('#')));
    let explicit = text.split("<a id=\"").skip(1).filter_map(|it| it.split_once('"')).map(|(it, _)| it.to_owned());
    headings.chain(explicit).collect()
}

fn anchor(heading: &str) -> String {
    let letters = heading.trim().to_lowercase();
    letters
        .chars()
        .filter(|it| it.is_alphanumeric() || " -_".contains(*it))
        .map(|it| if it == ' ' { '-' } else { it })
        .collect()
}

/// `file=NAME` behind a fence is for the test that runs the page; readers do not see it.
#[test]
fn files_that_a_page_shows_are_named_in_its_text() {
    let mut unnamed = Vec::new();
    for page in pages().into_iter().filter(|it| !it.starts_with("docs/problems")) {
        let text = text(&page);
        let parts: Vec<&str> = text.split("```").collect();
        for pair in parts.chunks_exact(2) {
            let info = pair[1].lines().next().unwrap_or_default();
            let name = info.split_once("file=").map(|(_, name)| name);
            let is_unnamed = |it: &&str| !pair[0].contains(&format!("`{it}`"));
            unnamed.extend(name.filter(is_unnamed).map(|it| format!("{}: {it}", page.display())));
        }
    }
    assert!(unnamed.is_empty(), "name these in the text before their block:\n{}\n", unnamed.join("\n"));
}

/// Words of an older dialect, each with what the glossary has instead.
const NOT_WRITTEN: &[(&str, &str)] = &[
    ("anybody", "name the person or the component"),
    ("nobody", "name the component: no model is asked, no request is made"),
    ("somebody", "name the person or the component"),
    ("whoever", "name the person or the component"),
    ("told", "receives, is reported, is printed"),
    ("tells", "reports, prints, says"),
    ("telling", "reporting, printing"),
    ("kept", "stored, saved, recorded"),
    ("came to", "the result, reached"),
    ("comes to", "the result, reaches"),
    ("come to", "the result, reach"),
    ("goes on", "continues, resumes, is in progress"),
    ("gone on with", "resumed"),
    ("unless said", "default: X"),
    ("so many", "N, at most N"),
    ("so often", "N times"),
    ("on its way", "in progress"),
    ("walls", "sandbox, protections"),
    ("plays", "is the model of the role"),
    ("behind walls", "in a sandbox"),
    ("likeness", "similarity"),
    ("mend", "fix"),
    ("mends", "fixes"),
    ("mended", "fixed"),
    ("errand", "turn input"),
    ("last word", "final message"),
    ("the peer", "the product by its name"),
    ("a peer", "the product by its name"),
];

/// Uses that are meant: a page, and a part of the line.
const ALLOWED: &[(&str, &str)] = &[("ARCHITECTURE.md", "`kept`")];

#[test]
fn pages_are_written_in_the_words_of_the_glossary() {
    let mut found = Vec::new();
    for page in pages() {
        let text = text(&page);
        for (number, line) in prose(&text) {
            found.extend(
                dialect(&page, line).map(|(word, write)| format!("{}:{number}: `{word}`: {write}", page.display())),
            );
        }
    }
    assert!(found.is_empty(), "\n{}\n", found.join("\n"));
}

#[test]
fn help_is_written_in_the_words_of_the_glossary() {
    let folder = Folder::empty();
    let all = folder.jurat(&["--help"]).stdout;
    let verbs = all.lines().skip_while(|it| *it != "Commands:").skip(1).take_while(|it| !it.is_empty());
    let verbs: Vec<&str> = verbs.filter_map(verb).filter(|it| *it != "help").collect();
    assert!(verbs.len() > 8, "{verbs:?}");
    let helps = verbs.iter().map(|it| folder.jurat(&[*it, "--help"]).stdout).chain([all.clone()]);
    let found: Vec<String> = helps.flat_map(|help| dialect_of_help(&help)).collect();
    assert!(found.is_empty(), "\n{}\n", found.join("\n"));
}

fn dialect_of_help(help: &str) -> Vec<String> {
    let title = help.lines().next().unwrap_or_default();
    let words = help.lines().flat_map(|line| dialect(Path::new("--help"), line).collect::<Vec<_>>());
    words.map(|(word, write)| format!("{title}: `{word}`: {write}")).collect()
}

#[test]
fn the_first_page_and_every_guide_lead_to_the_glossary() {
    let is_guide = |it: &PathBuf| it.starts_with("docs/guides") || it == Path::new("README.md");
    let without: Vec<PathBuf> =
        pages().into_iter().filter(is_guide).filter(|it| !text(it).contains("glossary.md)")).collect();
    assert!(without.is_empty(), "no link to docs/glossary.md: {without:?}");
}

fn dialect<'l>(page: &'l Path, line: &'l str) -> impl Iterator<Item = (&'static str, &'static str)> + 'l {
    let is_allowed = ALLOWED.iter().any(|(of, part)| page == Path::new(of) && line.contains(part));
    let words = NOT_WRITTEN.iter().copied().filter(move |_| !is_allowed);
    let lower = line.to_lowercase();
    words.filter(move |(word, _)| has_words(&lower, word))
}

/// Whether these words stand in a text, as whole words.
fn has_words(text: &str, words: &str) -> bool {
    let is_letter = |it: char| it.is_alphanumeric() || it == '_' || it == '-';
    text.match_indices(words).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + words.len()..]);
        !before.ends_with(is_letter) && !after.starts_with(is_letter)
    })
}

#[test]
fn words_are_found_as_whole_words() {
    assert!(has_words("it is kept.", "kept"));
    assert!(!has_words("kept-report", "kept"));
    assert!(!has_words("skepticism", "kept"));
    assert!(has_words("what it came to: three", "came to"));
}
