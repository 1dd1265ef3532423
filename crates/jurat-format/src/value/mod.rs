//! Values borrowed from their text, where they stand in a file, and the paths that lead to them.
//!
//! [`Val`] is the one value type of jurat: records, replies and operands are all read into it, and every comparison works
//! on it. It borrows from the text it was read from, has exact numbers, and has no opinion about what a value means.
//! [`Node`] is the same thing with positions, for what authors write. [`FieldPath`] leads into either a whole tree or the
//! part of it that a [`Projection`] read. [`python`] holds the few text rules that come from Python.

mod context;
mod json;
mod node;
mod number;
mod path;
mod projection;
pub mod python;
mod show;
mod span;
mod val;

pub use context::Context;
pub use json::{JsonError, MAX_DEPTH, Record, parse_json};
pub use node::json_node_within;
pub use node::{Content, Entry, Node, RepeatedKey, json_node};
pub use number::{compare_numbers, decimal_equal};
pub use path::{FieldPath, Missing, MissingKind, PathError, PathErrorKind, Step};
pub use projection::Projection;
pub use show::{shown, shown_within};
pub use span::{SourceId, Span, Spanned};
pub use val::{Kind, Kinds, Map, Val, Value};
pub use val::{write_json, write_json_text};
