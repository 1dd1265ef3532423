//! The pages of this repository: their links lead somewhere, and they are written in the words of `docs/glossary.md`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::repository::root;

/// The directories and files that hold pages for users.
const PAGES: &[&str] = &["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "docs", "examples"];

/// The Markdown files of [`PAGES`], relative to the root, in order.
fn pages() -> Vec<PathBuf> {
    let mut found = Vec::new();
    PAGES.iter().for_each(|it| collect(&root().join(it), "md", &mut found));
    found.sort();
    assert!(found.len() > 100, "only {} pages: this test looks in the wrong place", found.len());
    found
}

/// The files with this extension at or below a path, relative to the root.
fn collect(path: &Path, extension: &str, found: &mut Vec<PathBuf>) {
    if path.is_dir() {
        let entries = fs::read_dir(path).expect("directories of pages can be listed");
        entries.for_each(|it| collect(&it.expect("pages can be listed").path(), extension, found));
    } else if path.extension().is_some_and(|it| it == extension) {
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

/// The help of the command is what stands in doc comments of its arguments.
#[test]
fn help_is_written_in_the_words_of_the_glossary() {
    let mut files = Vec::new();
    collect(&root().join("crates/jurat-cli/src"), "rs", &mut files);
    let mut found = Vec::new();
    for file in files {
        let text = text(&file);
        for (number, help) in helps(&text) {
            found.extend(
                dialect(&file, help).map(|(word, write)| format!("{}:{number}: `{word}`: {write}", file.display())),
            );
        }
    }
    assert!(found.is_empty(), "\n{}\n", found.join("\n"));
}

/// Doc comments in front of what clap derives from: public fields of options, verbs and their values.
fn helps(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_clap = text.contains("use clap::");
    text.lines().enumerate().filter(move |_| is_clap).filter_map(|(ix, line)| {
        line.trim_start()
            .strip_prefix("/// ")
            .filter(|it| !it.ends_with('.') || it.contains("; "))
            .map(|it| (ix + 1, it))
    })
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
