//! What is made from a schema follows it.

use jurat_testkit::instance;
use serde_json::{Value, json};

/// The shapes that judges ask for, and those that are easy to get wrong.
fn schemas() -> Vec<Value> {
    let object = |properties: Value| {
        let required: Vec<String> = properties.as_object().into_iter().flatten().map(|it| it.0.clone()).collect();
        json!({
            "type": "object", "properties": properties, "required": required, "additionalProperties": false,
        })
    };
    vec![
        json!({}),
        object(json!({
            "pass": { "type": "boolean" },
            "score": { "type": "integer", "minimum": 1, "maximum": 5 },
            "share": { "type": "number", "minimum": 0, "maximum": 1 },
            "label": { "enum": ["good", "bad", "ugly"] },
            "reason": { "type": "string", "minLength": 8, "maxLength": 8 },
        })),
        object(json!({ "kind": { "const": 7 }, "none": { "type": "null" }, "maybe": { "type": ["null", "string"] } })),
        object(json!({
            "above": { "type": "integer", "exclusiveMinimum": 3 },
            "below": { "type": "integer", "exclusiveMaximum": -3 },
            "even": { "type": "integer", "minimum": 3, "maximum": 9, "multipleOf": 2 },
            "open": { "type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 0.5 },
            "small": { "type": "number", "maximum": -0.5 },
            "one": { "type": "number", "minimum": 0.25, "maximum": 0.25 },
        })),
        object(json!({
            "ticket": { "type": "string", "pattern": "^[A-Z]{3}-\\d+(a|b)?$" },
            "word": { "type": "string", "pattern": "(yes|no) [^\\n]\\.$" },
            "day": { "type": "string", "format": "date" },
            "bare": { "minLength": 2 },
        })),
        json!({ "type": "array", "minItems": 3, "items": { "enum": [1, 2, 3] } }),
        json!({ "type": "array", "minItems": 3, "prefixItems": [{ "type": "string" }], "items": { "type": "integer" } }),
        json!({ "$defs": { "step": object(json!({ "text": { "type": "string" } })) },
                "type": "object",
                "properties": { "steps": { "type": "array", "minItems": 1, "items": { "$ref": "#/$defs/step" } } },
                "required": ["steps"] }),
        json!({ "anyOf": [{ "type": "string" }, { "type": "integer" }] }),
        json!({ "type": "object", "properties": { "a": { "type": "string" } }, "required": ["a"],
                "oneOf": [{ "properties": { "b": { "const": 1 } }, "required": ["b"] },
                          { "properties": { "c": { "const": 2 } }, "required": ["c"] }] }),
        json!({ "allOf": [object_of("a"), object_of("b")] }),
        json!({ "type": "object", "required": ["anything"] }),
    ]
}

fn object_of(name: &str) -> Value {
    json!({ "type": "object", "properties": { name: { "type": "boolean" } }, "required": [name] })
}

#[test]
fn an_instance_follows_its_schema() {
    for schema in schemas() {
        let validator = jsonschema::validator_for(&schema).expect("a schema");
        for seed in 0..50 {
            let value = instance(&schema, seed);
            assert!(validator.is_valid(&value), "{value} is no instance of {schema}");
            assert_eq!(value, instance(&schema, seed));
        }
    }
}

#[test]
fn the_seed_chooses() {
    let schema = json!({ "enum": ["good", "bad"] });
    let said: std::collections::BTreeSet<String> = (0..8).map(|seed| instance(&schema, seed).to_string()).collect();
    assert_eq!(said.len(), 2);
    let gemini = json!({ "type": "OBJECT", "properties": { "n": { "type": "INTEGER" } }, "required": ["n"] });
    assert!(instance(&gemini, 3)["n"].is_i64());
}

#[test]
fn a_schema_without_end_ends() {
    let schema = json!({ "type": "object", "properties": { "next": { "$ref": "#" } }, "required": ["next"] });
    assert!(instance(&schema, 1).is_object());
}
