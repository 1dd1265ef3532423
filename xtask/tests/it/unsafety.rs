//! `unsafe` stands in `jurat-sandbox` and nowhere else.
//!
//! The lint of the workspace says so too. A crate can leave the lint out of its manifest without anybody noticing; it
//! cannot leave this out.

use crate::repository;
use crate::tokens::tokens;

const MAY: &str = "crates/jurat-sandbox";

#[test]
fn only_the_sandbox_is_unsafe() {
    let mut files = repository::rust_files(repository::RUST);
    files.retain(|it| !it.starts_with(MAY));
    repository::check(&files, complaints);
}

fn complaints(text: &str) -> Vec<String> {
    let found = tokens(text).into_iter().filter(|it| it.text == "unsafe");
    found.map(|it| format!("{}: `unsafe` belongs into {MAY}", it.line)).collect()
}

#[test]
fn the_word_counts_only_as_code() {
    assert_eq!(complaints("fn f() {\n    unsafe { g() }\n}"), ["2: `unsafe` belongs into crates/jurat-sandbox"]);
    assert_eq!(complaints("#[unsafe(no_mangle)]").len(), 1);
    assert_eq!(complaints("#![forbid(unsafe_code)] // unsafe\nlet x = \"unsafe\";"), Vec::<String>::new());
}
