//! The modules of a crate depend on each other in one direction only.
//!
//! A module is a file or a folder right under `src`. Its references to others are the paths that start with `crate::`, and those that
//! start with `super::` in a file right under `src`. `lib.rs` is the list of modules, and no module itself: a name that it passes on is that of
//! the module it comes from.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::repository;
use crate::tokens::{Role, paths, tokens};

/// The crates whose modules form no cycle.
const CRATES: [&str; 8] = [
    "crates/jurat-format",
    "crates/jurat-compare",
    "crates/jurat-core",
    "crates/jurat-host",
    "crates/jurat-store",
    "crates/jurat-postgres",
    "crates/jurat-engine",
    "crates/jurat-cli",
];

type References = BTreeMap<String, BTreeSet<String>>;

#[derive(Default)]
struct Modules {
    references: References,
    /// The module that each name of the crate comes from.
    passed_on: BTreeMap<String, String>,
}

#[test]
fn modules_form_no_cycle() {
    for name in CRATES {
        let source = Path::new(name).join("src");
        let mut modules = Modules::default();
        for file in repository::rust_files(&[&source.to_string_lossy()]) {
            let text = fs::read_to_string(repository::root().join(&file)).expect("source files are readable text");
            modules.add(file.strip_prefix(&source).expect("it was found there"), &text);
        }
        assert_eq!(cycle(&modules.resolved()), None, "modules of {name} depend on each other");
    }
}

impl Modules {
    /// Adds the references of one file to those of its module.
    fn add(&mut self, file: &Path, text: &str) {
        let depth = file.components().count();
        let first = file.components().next().expect("a file has a name").as_os_str().to_string_lossy();
        let module = first.strip_suffix(".rs").unwrap_or(&first);
        let tokens = tokens(text);
        if module == "lib" {
            self.passed_on.extend(paths(&tokens).into_iter().filter_map(|path| match path.segments.as_slice() {
                [module, .., name] if path.role == Role::Imported => Some(((*name).to_owned(), (*module).to_owned())),
                _ => None,
            }));
            return;
        }
        let named = paths(&tokens).into_iter().filter_map(|path| match path.segments.as_slice() {
            ["crate", name, ..] => Some((*name).to_owned()),
            ["super", name, ..] if depth == 1 => Some((*name).to_owned()),
            _ => None,
        });
        self.references.entry(module.to_owned()).or_default().extend(named);
    }

    /// The modules that each module refers to, by their own names or by what the crate passes on.
    fn resolved(self) -> References {
        let module_of = |name: &String| match self.references.contains_key(name) {
            true => Some(name.clone()),
            false => self.passed_on.get(name).cloned(),
        };
        let others = |module: &String, names: &BTreeSet<String>| -> BTreeSet<String> {
            names.iter().filter_map(module_of).filter(|it| it != module).collect()
        };
        self.references.iter().map(|(module, names)| (module.clone(), others(module, names))).collect()
    }
}

/// A cycle, as the names along it.
fn cycle(modules: &References) -> Option<Vec<String>> {
    modules.keys().find_map(|name| back_to(modules, name, &mut vec![name.clone()], &mut BTreeSet::new()))
}

fn back_to(
    modules: &References,
    start: &str,
    way: &mut Vec<String>,
    seen: &mut BTreeSet<String>,
) -> Option<Vec<String>> {
    let here = way.last().expect("the way starts somewhere").clone();
    for next in modules.get(&here).into_iter().flatten() {
        if next == start {
            return Some([way.as_slice(), std::slice::from_ref(next)].concat());
        }
        if seen.insert(next.clone()) {
            way.push(next.clone());
            if let Some(found) = back_to(modules, start, way, seen) {
                return Some(found);
            }
            way.pop();
        }
    }
    None
}

#[test]
fn a_cycle_is_found() {
    let crate_of = |files: &[(&str, &str)]| {
        let mut modules = Modules::default();
        files.iter().for_each(|(file, text)| modules.add(Path::new(file), text));
        cycle(&modules.resolved()).map(|it| it.join(" → "))
    };
    assert_eq!(crate_of(&[("a.rs", "use crate::b::B;"), ("b.rs", "use std::fmt;")]), None);
    assert_eq!(
        crate_of(&[("a.rs", "use super::b::B;"), ("b.rs", "type T = crate::a::A;")]).as_deref(),
        Some("a → b → a")
    );
    let folders = [
        ("a/mod.rs", "use crate::{c, b::B};"),
        ("a/x.rs", "use super::b::Own;"),
        ("c.rs", "use crate::a::A;"),
        ("b.rs", ""),
    ];
    assert_eq!(crate_of(&folders).as_deref(), Some("a → c → a"));
    let passed_on = [("lib.rs", "pub use b::{B, C};"), ("a.rs", "pub fn a(_: crate::C) {}"), ("b.rs", "use crate::a;")];
    assert_eq!(crate_of(&passed_on).as_deref(), Some("a → b → a"));
}
