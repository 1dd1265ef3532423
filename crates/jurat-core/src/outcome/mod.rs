//! Outcomes: criteria over a whole scenario, decided once its last turn is over.
//!
//! A [`Check`] is a tree: leaves look at turns or at the result, compositions join them. It is decided over the evidence of a scenario, one object with
//! `status`, `path`, `turn_count` and a `history` of turns. Children are asked in the order they were written, and only as far as needed. A check
//! that cannot be decided is an error with its reason; [`stored`] is the other view, in which an error counts as no.
//!
//! * [`check`]: what there is to check; [`field`]: the paths that lead into turns and results;
//! * [`evaluate`]: what a check comes to; [`mod@cross_turn`]: how the values of two turns compare; [`trace`]: the same, told step by step;
//! * [`sugar`]: short ways to make checks; [`words`]: checks in words; [`wire`]: the form in which checks are stored.
//!
//! ```
//! use jurat_core::outcome::{all_of, all_turns, status_is};
//! use jurat_format::value::{Val, parse_json};
//!
//! let evidence = parse_json(
//!     r#"{"status": "completed", "turn_count": 1, "history": [{"node_id": "ask", "verify_result": true}]}"#,
//! )?
//! .value;
//! let held = all_of([status_is("completed"), all_turns([("verify_result", true.into())])]);
//! assert_eq!(held.evaluate(&evidence), Ok(Val::Bool(true)));
//! # Ok::<(), jurat_format::value::JsonError>(())
//! ```

pub mod check;
pub mod cross_turn;
pub mod evaluate;
pub mod field;
pub mod sugar;
pub mod trace;
pub mod wire;
pub mod words;

pub use check::{
    Aggregation, AggregationKind, Check, CrossTurnCheck, Gives, Nodes, Relation, ResultCheck, Scope, Threshold,
    Thresholds, TurnCheck, TurnFilter, TurnTest, Wanted,
};
pub use cross_turn::CrossComparison;
pub use evaluate::{OutcomeError, stored};
pub use field::{ResultField, TurnField};
pub use sugar::{
    all_of, all_turns, all_turns_of, any_of, any_turn, any_turn_of, at_least_n, count_turns, cross_turn,
    first_match_index, first_turn, first_turn_scope, last_turn, last_turn_scope, not, status_is, turn, turn_at,
    turn_count_eq, turn_count_gte,
};
pub use trace::{Found, Trace, Traced};
