//! Evaluators: code that looks at a case and returns a label, a score, or both.
//!
//! An author's function may return many things; each becomes a [`Triple`] or is rejected with a message that lists what it may return. That
//! takes two stages: what was returned is *extracted* into a triple by its shape alone, and the triple is *validated* against what the
//! evaluator says it puts out. Nothing is guessed on the way: no text is read as a number, no list becomes a label.
//!
//! * [`Object`]: a value as code returned it, with everything that JSON loses;
//! * [`transport`]: how such values travel;
//! * [`OutputConfig`]: what an evaluator puts out;
//! * [`normalise`]: from the one to the other;
//! * [`Call`]: what it takes to run an author's function; [`Signature`]: what the function takes;
//! * [`binding`]: where its arguments come from;
//! * [`builtin`]: evaluators that need no code.
//!
//! Code is not run here.

pub mod binding;
pub mod builtin;
mod call;
pub(crate) mod definition;
mod normalise;
mod object;
mod output;
mod rejection;
mod shapes;
mod signature;
pub mod stored;
pub mod transport;
mod with;

pub use call::{Call, Code, HostFunction, Isolation, Language, Limits, Source};
pub use normalise::{Evaluation, Triple, normalise};
pub use object::Object;
pub use output::{BadConfig, BadConfigKind, Direction, LabelValue, OutputConfig, OutputKind, check_names};
pub use rejection::{Rejection, RejectionKind};
pub use signature::{Parameter, Scripts, Signature, SignatureError, SignatureErrorKind, Unread, python_signature};
pub(crate) use with::read_with;
