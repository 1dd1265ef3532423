//! The evidence of a scenario: what [`crate::scenario::Execution`] says of itself.

use jurat_format::value::{Value, parse_json};

/// The names that the evidence of a scenario has.
pub const KEYS: [&str; 10] = [
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
];

/// The JSON Schema of the evidence. What answers were read as, what they were rated with and what is accumulated is for its author to say.
pub fn schema() -> Value {
    let schema = r#"{
        "type": "object",
        "properties": {
            "scenario_id": {"type": "string", "description": "the name of the scenario"},
            "status": {"enum": ["completed", "limit_reached", "timeout", "error"], "description": "how it ended"},
            "path": {"type": "array", "items": {"type": "string"}, "description": "the nodes, in the order they were visited"},
            "turn_count": {"type": "integer", "minimum": 0, "description": "how many turns there were"},
            "history": {
                "type": "array",
                "description": "the turns",
                "items": {
                    "type": "object",
                    "properties": {
                        "node_id": {"type": "string", "description": "the node"},
                        "question_text": {"type": "string", "description": "its question"},
                        "sent": {"type": "string", "description": "what was sent, when that differs"},
                        "raw_response": {"type": ["string", "null"], "description": "the answer"},
                        "parsed": {"type": "object", "description": "what was read from it"},
                        "verify_result": {"type": ["boolean", "null"], "description": "whether it is right; null when nobody could tell"},
                        "score": {"type": "number", "description": "how much of it is right"},
                        "judged_by": {"type": "string", "description": "who or what told"},
                        "fields": {"description": "what was found, field by field"},
                        "rubric": {"type": "object", "description": "what traits it was rated with"},
                        "rubric_errors": {"type": "object", "description": "why traits could not be rated"},
                        "failure": {
                            "type": "object",
                            "description": "how the turn failed, when it did",
                            "properties": {
                                "category": {"type": "string"},
                                "stage": {"type": "string"},
                                "reason": {"type": "string"}
                            },
                            "required": ["category", "stage", "reason"],
                            "additionalProperties": false
                        },
                        "usage": {
                            "type": "object",
                            "description": "tokens of the subject, when its provider says how many",
                            "properties": {
                                "input_tokens": {"type": "integer", "minimum": 0},
                                "output_tokens": {"type": "integer", "minimum": 0},
                                "total_tokens": {"type": "integer", "minimum": 0}
                            },
                            "required": ["input_tokens", "output_tokens", "total_tokens"],
                            "additionalProperties": false
                        },
                        "cost_usd": {"type": "number", "minimum": 0, "description": "what the subject cost, when its price is known"},
                        "tool_calls": {
                            "type": "array",
                            "description": "the tools that were called",
                            "items": {
                                "type": "object",
                                "properties": {
                                    "server": {"type": "string"},
                                    "tool": {"type": "string"},
                                    "arguments": {},
                                    "output": {"type": "string"},
                                    "is_error": {"type": "boolean"}
                                },
                                "required": ["tool", "arguments"],
                                "additionalProperties": false
                            }
                        },
                        "update_error": {"type": "string", "description": "why the state was not updated"},
                        "route": {
                            "type": "object",
                            "description": "where it went on, and why",
                            "properties": {
                                "edge": {"type": "integer", "minimum": 0},
                                "to": {"type": "string"},
                                "tested": {"type": "array", "items": {"type": "object"}}
                            },
                            "additionalProperties": false
                        }
                    },
                    "required": ["node_id", "question_text", "raw_response", "parsed", "verify_result", "rubric"],
                    "additionalProperties": false
                }
            },
            "final_state": {
                "type": "object",
                "description": "what was known in the end",
                "properties": {
                    "turn": {"type": "integer", "minimum": 0},
                    "current_node": {"type": "string"},
                    "verify_result": {"type": ["boolean", "null"]},
                    "parsed": {"type": "object"},
                    "node_visits": {"type": "object"},
                    "accumulated": {},
                    "node_results": {"type": "object"}
                },
                "required": ["turn", "current_node", "verify_result", "parsed", "node_visits", "accumulated", "node_results"],
                "additionalProperties": false
            },
            "outcome_results": {"type": "object", "description": "what criteria came to, by name"},
            "outcome_errors": {"type": "object", "description": "why criteria could not be decided, by name"},
            "terminal_failure": {
                "type": ["object", "null"],
                "description": "the failure that ended it",
                "properties": {
                    "node_id": {"type": "string"},
                    "category": {"type": "string"},
                    "stage": {"type": "string"},
                    "reason": {"type": "string"}
                },
                "required": ["node_id", "category", "stage", "reason"],
                "additionalProperties": false
            },
            "replicate": {"type": "integer", "minimum": 1, "description": "which repetition it is"}
        },
        "required": ["scenario_id", "status", "path", "turn_count", "history", "final_state", "outcome_results", "terminal_failure", "replicate"],
        "additionalProperties": false
    }"#;
    parse_json(schema).expect("the schema is JSON").value.into_owned()
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
