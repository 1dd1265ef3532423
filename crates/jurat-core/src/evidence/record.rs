//! The evidence of a record: its row. One that is no object stands under `value`.

use jurat_format::value::{Value, parse_json};

/// The JSON Schema of the evidence: what rows have is for their author to say.
pub fn schema() -> Value {
    parse_json(include_str!("record.schema.json")).expect("the schema is JSON").value.into_owned()
}
