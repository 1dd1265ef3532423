//! The evidence of a scenario: what [`crate::scenario::Execution`] says of itself.

use jurat_format::value::{Value, parse_json};

/// The names that the evidence of a scenario has.
pub const KEYS: [&str; 11] = [
    "scenario_id",
    "status",
    "path",
    "turn_count",
    "history",
    "final_state",
    "outcome_results",
    "outcome_errors",
    "terminal_failure",
    "replicate",
    ROW,
];

/// The row that a conversation is about. Its members stand beside it, but for those whose names something else has.
pub const ROW: &str = "row";

/// The JSON Schema of the evidence. What answers were read as, what they were rated with and what is accumulated is for its author to say.
pub fn schema() -> Value {
    parse_json(include_str!("scenario.schema.json")).expect("the schema is JSON").value.into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use jurat_format::value::Val;

    #[test]
    fn the_schema_knows_every_name() {
        let schema = schema();
        let named: Vec<&str> = schema.get("properties").and_then(Val::as_map).expect("properties").keys().collect();
        assert_eq!(named, KEYS);
    }
}
