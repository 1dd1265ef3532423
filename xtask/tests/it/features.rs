//! What the tests compile is compiled once: packages that are built on their own have the features that the whole
//! workspace gives them.

use std::collections::BTreeSet;
use std::process::Command;

use crate::repository;

#[test]
fn the_python_module_is_built_of_what_tests_compile() {
    let module = features(&["--package", "jurat-python", "--features", "as-tested", "--edges", "normal,build"]);
    let tests = features(&["--workspace", "--edges", "normal,build,dev"]);
    let different: Vec<&String> = module.difference(&tests).filter(|it| !it.starts_with("jurat-python ")).collect();
    assert!(
        different.is_empty(),
        "`cargo xtask test` compiles twice what these have other features in: {different:#?}\n\
         add what `cargo test --workspace` has besides to the feature `as-tested` of jurat-python"
    );
}

/// Each package with its features.
fn features(selection: &[&str]) -> BTreeSet<String> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["tree", "--locked", "--prefix", "none", "--format", "{p} {f}"]).args(selection);
    let output = cargo.current_dir(repository::root()).output().expect("cargo starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let tree = String::from_utf8_lossy(&output.stdout).into_owned();
    // A package that was listed before is marked.
    tree.lines().map(|it| it.trim_end_matches(" (*)").to_owned()).collect()
}
