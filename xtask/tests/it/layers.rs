//! Which crate may depend on which.
//!
//! ```text
//! format ← compare ← core ← {host, import, report, model, sandbox, store} ← postgres ← engine ← view ← jurat ← cli ← python
//! ```
//!
//! The engine does not know what writes its reports, and the command knows the engine and what is below it through `jurat` alone, although their
//! layers would allow more.

use std::process::Command;

use serde_json::{Value, json};

use crate::repository;

/// The crates from the inside out. A crate may depend on crates of lower layers only, so those of one layer do not know
/// each other. That holds for tests and build scripts as well.
const LAYERS: &[&[&str]] = &[
    &["jurat-format"],
    &["jurat-compare"],
    &["jurat-core"],
    &["jurat-host", "jurat-import", "jurat-model", "jurat-report", "jurat-sandbox", "jurat-store", TESTKIT],
    &["jurat-postgres"],
    &["jurat-engine"],
    &["jurat-view"],
    &["jurat"],
    &["jurat-cli"],
    // The Python package has the command besides.
    &["jurat-python"],
    &["xtask", "yardstick"],
    &["xtask-bench", "xtask-conformance", "xtask-reference", "xtask-simulation"],
];

/// Crates that depend on fewer than their layer would allow: the crates that each does not know, and why. Tests may.
const APART: &[(&str, &[&str], &str)] = &[
    ("jurat-engine", &["jurat-report"], "reports are data of `jurat-core`; `jurat` writes them"),
    (
        "jurat-cli",
        &[
            "jurat-compare",
            "jurat-engine",
            "jurat-host",
            "jurat-import",
            "jurat-model",
            "jurat-postgres",
            "jurat-sandbox",
            "jurat-store",
        ],
        "the command is built on `jurat`",
    ),
];

/// Serves the tests of every other crate, whatever its layer, and is part of none.
const TESTKIT: &str = "jurat-testkit";

#[test]
fn dependencies_point_inward() {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["metadata", "--no-deps", "--format-version", "1"]).current_dir(repository::root());
    let output = cargo.output().expect("cargo starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo metadata is JSON");
    let complaints = complaints(&metadata);
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

/// What is wrong with the crates of a workspace, as `cargo metadata` describes them.
fn complaints(metadata: &Value) -> Vec<String> {
    let packages = metadata["packages"].as_array().expect("cargo metadata lists packages");
    let names: Vec<&str> = packages.iter().map(|it| text(it, "name")).collect();
    let mut complaints = Vec::new();
    for package in packages {
        let name = text(package, "name");
        let Some(layer) = layer(name) else {
            complaints.push(format!("`{name}` has no layer: add it to LAYERS in xtask/tests/it/layers.rs"));
            continue;
        };
        let dependencies = package["dependencies"].as_array().expect("a package lists its dependencies");
        for dependency in dependencies.iter().filter(|it| names.contains(&text(it, "name"))) {
            complaints.extend(complaint(name, layer, text(dependency, "name"), dependency["kind"].as_str()));
        }
    }
    complaints
}

/// What is wrong with one dependency. The kind is `None` for an ordinary one, else `dev` or `build`.
fn complaint(name: &str, own: usize, dependency: &str, kind: Option<&str>) -> Option<String> {
    if dependency == TESTKIT {
        return (kind != Some("dev")).then(|| format!("`{name}` may depend on `{TESTKIT}` in [dev-dependencies] only"));
    }
    let apart = APART.iter().find(|(it, others, _)| *it == name && others.contains(&dependency));
    if let Some((.., reason)) = apart.filter(|_| kind.is_none()) {
        return Some(format!("`{name}` may not depend on `{dependency}`: {reason}"));
    }
    // A dependency without a layer gets its own complaint.
    let theirs = layer(dependency)?;
    let place = if theirs == own { "the same layer" } else { "a layer further out" };
    (theirs >= own).then(|| format!("`{name}` may not depend on `{dependency}`, which is in {place}"))
}

fn layer(name: &str) -> Option<usize> {
    LAYERS.iter().position(|it| it.contains(&name))
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().expect("names are text")
}

/// Each dependency is `name` or `name kind`.
#[track_caller]
fn workspace(packages: &[(&str, &[&str])], expected: &[&str]) {
    let dependency = |it: &&str| {
        let mut words = it.split(' ');
        json!({ "name": words.next(), "kind": words.next() })
    };
    let package = |(name, dependencies): &(&str, &[&str])| json!({ "name": name, "dependencies": dependencies.iter().map(dependency).collect::<Vec<_>>() });
    let metadata = json!({ "packages": packages.iter().map(package).collect::<Vec<_>>() });
    assert_eq!(complaints(&metadata), expected);
}

#[test]
fn inward_is_fine() {
    workspace(
        &[
            ("jurat-core", &["serde", "jurat-testkit dev"]),
            ("jurat-report", &["jurat-core"]),
            ("jurat-engine", &["jurat-core", "jurat-store", "jurat-testkit dev"]),
            ("jurat-cli", &["jurat-core", "jurat-report"]),
            ("jurat-testkit", &["jurat-core"]),
        ],
        &[],
    );
}

#[test]
fn outward_and_sideways_are_named() {
    workspace(
        &[("jurat-core", &["jurat-report"]), ("jurat-report", &[])],
        &["`jurat-core` may not depend on `jurat-report`, which is in a layer further out"],
    );
    workspace(
        &[("jurat-report", &["jurat-store dev"]), ("jurat-store", &[])],
        &["`jurat-report` may not depend on `jurat-store`, which is in the same layer"],
    );
}

#[test]
fn crates_that_stay_apart_are_named() {
    workspace(
        &[("jurat-engine", &["jurat-report"]), ("jurat-report", &[])],
        &["`jurat-engine` may not depend on `jurat-report`: reports are data of `jurat-core`; `jurat` writes them"],
    );
    workspace(
        &[("jurat-cli", &["jurat", "jurat-engine"]), ("jurat", &[]), ("jurat-engine", &[])],
        &["`jurat-cli` may not depend on `jurat-engine`: the command is built on `jurat`"],
    );
    workspace(&[("jurat-cli", &["jurat", "jurat-store dev"]), ("jurat", &[]), ("jurat-store", &[])], &[]);
}

#[test]
fn the_testkit_is_for_tests() {
    workspace(
        &[("jurat-engine", &["jurat-testkit"]), ("jurat-testkit", &[])],
        &["`jurat-engine` may depend on `jurat-testkit` in [dev-dependencies] only"],
    );
}

#[test]
fn a_new_crate_needs_a_layer() {
    workspace(&[("jurat-viewer", &[])], &["`jurat-viewer` has no layer: add it to LAYERS in xtask/tests/it/layers.rs"]);
}
