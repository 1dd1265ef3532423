//! Outcomes: criteria over a whole scenario, decided once its last turn is over.
//!
//! A [`Check`] is a tree: leaves look at turns or at the result, compositions join them. It is decided over the evidence of a scenario, one object with
//! `status`, `path`, `turn_count` and a `history` of turns. Children are asked in the order they were written, and only as far as needed. A check
//! that cannot be decided is an error with its reason; [`stored()`] is the other view, in which an error counts as no.
//!
//! Each kind of check has a file with everything about it, and a line in `nodes!`: [`composition`], [`mod@turn`], [`mod@result`], [`mod@cross_turn`], [`aggregation`],
//! [`expression`], [`code`]. Beside them:
//!
//! * [`node`]: what a kind provides, and the walk that decides a check; [`trace`]: what the walk writes down;
//! * [`wanted`]: what a value must be; [`field`]: the paths that lead into turns and results; [`scope`]: which turns are meant;
//! * `format`: how checks are written in definitions; [`mod@stored`]: the form in which they are stored.
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

pub mod aggregation;
pub mod code;
pub mod composition;
pub mod cross_turn;
pub mod error;
pub mod expression;
pub mod field;
pub(crate) mod format;
pub mod node;
pub mod result;
pub mod scope;
pub mod stored;
pub mod trace;
pub mod turn;
pub mod wanted;

use std::fmt;

use jurat_format::value::{Val, Value};

pub use aggregation::{
    Aggregation, AggregationKind, Threshold, Thresholds, TurnFilter, count_turns, first_match_index,
};
pub use code::Code;
pub use composition::{AtLeast, Joined, Not, Quantifier, all_of, any_of, at_least_n, not};
pub use cross_turn::{CrossComparison, CrossTurnCheck, cross_turn};
pub use error::{OutcomeError, stored};
pub use expression::Cel;
pub use field::{ResultField, TurnField};
use format::WrittenKind;
pub use node::Gives;
use node::{Names, Node, Notes};
pub use result::{ResultCheck, status_is, turn_count_eq, turn_count_gte};
pub use scope::{Nodes, Scope, first_turn_scope, last_turn_scope, turn_at};
use stored::StoredKind;
pub use trace::{Found, Join, Trace, Traced};
pub use turn::{TurnCheck, TurnTest, all_turns, all_turns_of, any_turn, any_turn_of, first_turn, last_turn, turn};
pub use wanted::{Relation, Wanted};

/// Makes [`Check`] of the kinds of outcomes, in the order in which the reference and messages list them.
macro_rules! nodes {
    ($($kind:ident($node:ty),)*) => {
        /// How a criterion is decided.
        #[derive(Debug, Clone, PartialEq)]
        pub enum Check {
            $($kind($node),)*
        }

        $(impl From<$node> for Check {
            fn from(node: $node) -> Check {
                Check::$kind(node)
            }
        })*

        /// The stored forms of all kinds.
        fn stored_kinds() -> impl Iterator<Item = &'static StoredKind> {
            [$(<$node as Node>::STORED),*].into_iter().flatten()
        }

        /// The short forms of all kinds.
        fn written_kinds() -> impl Iterator<Item = &'static WrittenKind> {
            [$(<$node as Node>::WRITTEN),*].into_iter().flatten()
        }

        impl Check {
            fn to_written(&self) -> Option<Value> {
                match self { $(Check::$kind(it) => it.to_written(),)* }
            }

            fn decide(&self, evidence: &Val<'_>, notes: &mut Notes) -> Result<Value, OutcomeError> {
                match self { $(Check::$kind(it) => it.decide(evidence, notes),)* }
            }

            fn words(&self) -> String {
                match self { $(Check::$kind(it) => it.words(),)* }
            }

            fn to_stored_by(&self, names: Names) -> Value {
                match self { $(Check::$kind(it) => it.to_stored(names),)* }
            }

            /// What a check gives when nothing goes wrong.
            pub fn gives(&self) -> Gives {
                match self { $(Check::$kind(it) => it.gives(),)* }
            }

            fn holds_by(&self, value: &Value) -> Result<bool, OutcomeError> {
                match self { $(Check::$kind(it) => it.holds_by(value),)* }
            }

            /// The parts of a composition; none for a leaf.
            pub fn parts(&self) -> &[Check] {
                match self { $(Check::$kind(it) => it.parts(),)* }
            }

            fn own_fields(&self) -> Vec<(&Scope, &TurnField)> {
                match self { $(Check::$kind(it) => it.fields(),)* }
            }

            fn own_nodes(&self) -> &[String] {
                match self { $(Check::$kind(it) => it.nodes(),)* }
            }

            fn join(&self) -> Join {
                match self { $(Check::$kind(it) => it.join(),)* }
            }
        }
    };
}

nodes! {
    Joined(Joined),
    AtLeast(AtLeast),
    Not(Not),
    Turn(TurnCheck),
    Result(ResultCheck),
    CrossTurn(CrossTurnCheck),
    Aggregation(Aggregation),
    Cel(Cel),
    Code(Code),
}

/// The whole check in words, its parts in parentheses.
impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words())?;
        let parts = self.parts();
        if parts.is_empty() {
            return Ok(());
        }
        f.write_str(" (")?;
        for (ix, part) in parts.iter().enumerate() {
            write!(f, "{}{part}", if ix == 0 { "" } else { "; " })?;
        }
        f.write_str(")")
    }
}
