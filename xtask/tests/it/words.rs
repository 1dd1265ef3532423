//! Names in code and in tests use the words of `docs/glossary.md`, which people search for.

use crate::repository;
use crate::tokens::tokens;

/// Words that names do not use, each with what to write instead.
const NOT_USED: &[(&str, &str)] = &[
    ("anybody", "name the component"),
    ("ballot", "task result"),
    ("deed", "action"),
    ("doer", "performer"),
    ("errand", "turn input"),
    ("everybody", "name the component"),
    ("glance", "poll interval"),
    ("kept", "saved, stored, recorded; retained for rows"),
    ("likeness", "similarity"),
    ("mend", "fix"),
    ("mended", "fixed"),
    ("nobody", "name the component"),
    ("passage", "routing"),
    ("patience", "timeout"),
    ("purse", "shared budget"),
    ("seat", "slot"),
    ("sight", "view"),
    ("somebody", "name the component"),
    ("surroundings", "environment"),
    ("telling", "reporting, printing, logging"),
    ("tells", "reports, prints, logs"),
    ("told", "reported, printed, logged"),
    ("walls", "sandbox, isolation"),
    ("whoever", "name the component"),
];

#[test]
fn names_use_the_words_of_the_glossary() {
    let files = repository::rust_files(repository::RUST);
    repository::check(&files, complaints);
    let complaints: Vec<String> = files.iter().flat_map(|it| complaints(&it.to_string_lossy())).collect();
    assert!(complaints.is_empty(), "names of files:\n{}\n", complaints.join("\n"));
}

fn complaints(text: &str) -> Vec<String> {
    let complain = |name: &str, line: usize| {
        let (word, instead) = words(name).find_map(|word| NOT_USED.iter().find(|(it, _)| *it == word))?;
        Some(format!("{line}: `{name}`: not `{word}`, but {instead}"))
    };
    tokens(text).iter().filter_map(|it| complain(it.text, it.line)).collect()
}

/// The words of a name in snake case or camel case, in lower case.
fn words(name: &str) -> impl Iterator<Item = String> + '_ {
    name.split('_').flat_map(|part| {
        let is_constant = part.chars().all(|it| !it.is_lowercase());
        let mut words: Vec<String> = Vec::new();
        for letter in part.chars() {
            match words.last_mut() {
                Some(word) if is_constant || !letter.is_uppercase() => word.extend(letter.to_lowercase()),
                _ => words.push(letter.to_lowercase().collect()),
            }
        }
        words
    })
}

#[test]
fn a_name_is_read_word_by_word() {
    assert_eq!(complaints("fn is_mended() {}"), ["1: `is_mended`: not `mended`, but fixed"]);
    assert_eq!(complaints("struct TaskBallot;"), ["1: `TaskBallot`: not `ballot`, but task result"]);
    assert_eq!(complaints("const MAX_PATIENCE: u32 = 1;"), ["1: `MAX_PATIENCE`: not `patience`, but timeout"]);
    assert_eq!(complaints("fn recommend() -> Option<u8> { None } // mended"), [""; 0]);
}
