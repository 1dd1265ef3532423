//! What other products store is known in one place of the core.
//!
//! `compat` reads and writes the files of other products. No name outside of it is made of a product's name, except the path that leads
//! into it, and in the core it is the definition as a whole (`suite`) that asks it. Comments may say where a rule comes from.

use std::path::Path;

use crate::repository;
use crate::tokens::{paths, tokens};

/// The products whose files are read.
const PRODUCTS: [&str; 5] = ["karenina", "personal_agent", "personalagent", "scouter", "opsml"];

/// The modules of `compat`.
const MODULES: [&str; 2] = ["karenina", "personal_agent_eval"];

const COMPAT: &str = "crates/jurat-core/src/compat";

/// The only module of the core that may ask `compat`.
const ASKS: &str = "crates/jurat-core/src/suite";

#[test]
fn what_other_products_store_is_known_in_one_place() {
    let files: Vec<_> = repository::rust_files(&["crates"]).into_iter().filter(|it| is_looked_at(it)).collect();
    assert!(files.iter().any(|it| it.starts_with(ASKS)), "this test looks in the wrong place");
    repository::check(&files, names);
    let core: Vec<_> =
        files.into_iter().filter(|it| it.starts_with("crates/jurat-core") && !it.starts_with(ASKS)).collect();
    repository::check(&core, asks);
}

/// Whether a file is source outside of `compat`; tests may name what they test.
fn is_looked_at(file: &Path) -> bool {
    file.components().any(|it| it.as_os_str() == "src") && !file.starts_with(COMPAT)
}

/// Names that are made of a product's name.
fn names(text: &str) -> Vec<String> {
    let is_product = |word: &str| PRODUCTS.iter().any(|it| word.to_lowercase().contains(it));
    let found = paths(&tokens(text)).into_iter().filter_map(|path| {
        let ix = path.segments.iter().position(|it| is_product(it))?;
        let leads_there = match ix {
            // A module that a `use` brought into scope.
            0 => MODULES.contains(&path.segments[0]) && path.segments.len() > 1,
            _ => path.segments[ix - 1] == "compat",
        };
        (!leads_there).then(|| {
            let name = path.segments[ix];
            format!("{}: `{name}` names a product; what it stores is known in `{COMPAT}`", path.line)
        })
    });
    found.collect()
}

/// Paths into `compat`.
fn asks(text: &str) -> Vec<String> {
    let into = |segments: &[&str]| matches!(segments, ["crate", "compat", ..]);
    let found = paths(&tokens(text)).into_iter().filter(|it| into(&it.segments));
    found
        .map(|it| format!("{}: only `suite` asks `compat`, which needs the readers of the concepts", it.line))
        .collect()
}

#[test]
fn names_of_products_are_found() {
    let complains = |text: &str| !names(text).is_empty();
    assert!(complains("fn read_karenina() {}"));
    assert!(complains("const SCOUTER_OPERATORS: u32 = 1;"));
    assert!(complains("use crate::opsml::card;"));
    assert!(complains("let karenina = 1;"));
    assert!(!complains("let read = karenina::checkpoint(scenarios);"));
    assert!(!complains("use crate::compat::karenina::scenario;"));
    assert!(!complains("let read = jurat_core::compat::karenina::checkpoint(scenarios);"));
    assert!(!complains("// as Karenina does\nlet text = \"karenina\";"));
}

#[test]
fn paths_into_compat_are_found() {
    assert!(!asks("use crate::{agent, compat::karenina};").is_empty());
    assert!(asks("use crate::scenario::text;").is_empty());
}
