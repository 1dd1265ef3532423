//! The schema that editors use accepts what jurat accepts.

use std::fs;
use std::path::Path;
use std::process::Command;

use jsonschema::Validator;
use jurat_compare::{Entry, Origin, entries};
use jurat_format::value::SourceId;
use jurat_format::yaml::read_tree;
use serde_json::Value;

use crate::mutation::examples;

fn schema() -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_jurat")).arg("schema").output().expect("the command runs");
    serde_json::from_slice(&output.stdout).expect("the schema is JSON")
}

fn validator() -> Validator {
    jsonschema::draft202012::new(&schema()).expect("the schema is one")
}

/// YAML as editors see it.
fn tree(text: &str) -> Value {
    let mut problems = Vec::new();
    let node = read_tree(text, SourceId(0), false, &mut problems).expect("YAML");
    assert!(problems.is_empty(), "{problems:?}");
    serde_json::from_str(&node.to_val().to_json()).expect("YAML without infinities is JSON")
}

#[track_caller]
fn accepts(validator: &Validator, text: &str) {
    let errors: Vec<String> =
        validator.iter_errors(&tree(text)).map(|it| format!("{}: {it}", it.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?} in\n{text}");
}

#[test]
fn the_schema_is_a_schema() {
    let schema = schema();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    jsonschema::draft202012::meta::validate(&schema).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn the_schema_in_the_repository_is_the_printed_one() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/suite.schema.json");
    let stored: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    assert!(stored == schema(), "stale: cargo run -q -- schema > {}", file.display());
}

#[test]
fn the_schema_accepts_every_example() {
    let validator = validator();
    for example in examples() {
        accepts(&validator, &fs::read_to_string(example).unwrap());
    }
}

#[test]
fn the_schema_accepts_every_comparison_in_every_spelling() {
    let validator = validator();
    for entry in entries() {
        for task in spellings(entry) {
            accepts(&validator, &format!("records: r.jsonl\ntasks:\n  - {task}\n"));
        }
    }
}

/// The example of a comparison under its two names; a primitive with `type` and without.
fn spellings(entry: &Entry) -> Vec<String> {
    let (name, snake) = (entry.name, entry.snake_case());
    let with_type = format!("{{ type: {name}");
    if entry.origin == Origin::Primitive && entry.example.contains(&with_type) {
        let (before, after) = entry.example.split_once(&with_type).expect("it has a type");
        let (parameters, rest) = after.split_once(" }").expect("it ends");
        let parameters = parameters.trim_start_matches(", ");
        return vec![
            entry.example.to_owned(),
            format!("{before}{{ type: {snake}{after}"),
            format!("{before}{{ {snake}: {{ {parameters} }} }}{rest}"),
        ];
    }
    let named = |name: &str| entry.example.replace(&format!("operator: {snake}"), &format!("operator: {name}"));
    vec![named(&snake), named(name)]
}

#[test]
fn the_schema_refuses_what_jurat_refuses() {
    let validator = validator();
    for text in [
        "tsks: []",
        "tasks: [{ id: 5, operator: is_json }]",
        "tasks: [{ id: a, operator: is_jsn }]",
        "tasks: [{ id: a, operator: { type: NumericRange, mn: 1 } }]",
        "thresholds: { pass_rate: 1.5 }",
    ] {
        assert!(!validator.is_valid(&tree(text)), "{text}");
    }
}

#[test]
fn evidence_has_schemas_too() {
    for (kind, name) in [("record", ""), ("probe", "finish_reason"), ("scenario", "history")] {
        let output = Command::new(env!("CARGO_BIN_EXE_jurat")).args(["schema", "--evidence", kind]).output();
        let schema: Value = serde_json::from_slice(&output.expect("the command runs").stdout).expect("it is JSON");
        jsonschema::draft202012::new(&schema).expect("it is a schema");
        assert!(name.is_empty() || schema["properties"][name].is_object(), "{kind}: {schema}");
    }
}
