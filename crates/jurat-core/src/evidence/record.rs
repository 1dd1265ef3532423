//! The evidence of a record: its row. One that is no object stands under `value`.

use jurat_format::value::{Value, parse_json};

/// The JSON Schema of the evidence: what rows have is for their author to say.
pub fn schema() -> Value {
    let schema = r#"{
        "type": "object",
        "description": "the row; `{\"value\": …}` when it is not an object",
        "additionalProperties": true
    }"#;
    parse_json(schema).expect("the schema is JSON").value.into_owned()
}
