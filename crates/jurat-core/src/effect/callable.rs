//! Code of the embedding program, where data does not say enough: a condition, an update of the state, a criterion.
//!
//! A definition stores the text of such code for people to read. The code itself is there only when the program gives it: loading a
//! definition never runs anything.

use std::fmt;
use std::sync::Arc;

use jurat_format::value::{Val, Value};

/// Code, as far as it is there.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Callable {
    /// What it is called, or what its author wrote; for display.
    pub source: Option<String>,
    pub function: Option<Function>,
}

/// A function of the embedding program: from an object of named values to a value, or why there is none.
#[derive(Clone)]
pub struct Function(Call);

#[derive(Clone)]
enum Call {
    Direct(Arc<Direct>),
    Deferred(Arc<Deferred>),
}

type Direct = dyn Fn(&Val<'_>) -> Result<Value, String> + Send + Sync;
type Deferred = dyn Fn(&Val<'_>, CallResult) + Send + Sync;

/// Takes the result of a call. When it is dropped without having been called, the call has none.
pub type CallResult = Box<dyn FnOnce(Result<Value, String>) + Send>;

impl Function {
    /// Wraps a function that returns its result.
    pub fn new(call: impl Fn(&Val<'_>) -> Result<Value, String> + Send + Sync + 'static) -> Function {
        Function(Call::Direct(Arc::new(call)))
    }

    /// Wraps a function that returns at once and answers later, from wherever it is called: many calls of it can wait at the same time.
    pub fn deferred(call: impl Fn(&Val<'_>, CallResult) + Send + Sync + 'static) -> Function {
        Function(Call::Deferred(Arc::new(call)))
    }

    /// Whether it returns before it has answered.
    pub fn is_deferred(&self) -> bool {
        matches!(self.0, Call::Deferred(_))
    }

    pub fn call(&self, names: &Val<'_>, answer: CallResult) {
        match &self.0 {
            Call::Direct(call) => answer(call(names)),
            Call::Deferred(call) => call(names, answer),
        }
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Function")
    }
}

/// A function is equal to itself.
impl PartialEq for Function {
    fn eq(&self, other: &Function) -> bool {
        match (&self.0, &other.0) {
            (Call::Direct(one), Call::Direct(other)) => Arc::ptr_eq(one, other),
            (Call::Deferred(one), Call::Deferred(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }
}
