//! Code of the embedding program, where data does not say enough: a condition, an update of the state, a criterion.
//!
//! A definition keeps the text of such code for people to read. The code itself is there only when the program gives it: loading a
//! definition never runs anything.

use std::fmt;
use std::sync::Arc;

use crate::value::{Val, Value};

/// Code, as far as it is there.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Callable {
    /// What it is called, or what its author wrote; for display.
    pub source: Option<String>,
    /// The code itself.
    pub function: Option<Function>,
}

/// A function of the embedding program: from an object of named values to a value, or why there is none.
#[derive(Clone)]
pub struct Function(Arc<Call>);

type Call = dyn Fn(&Val<'_>) -> Result<Value, String> + Send + Sync;

impl Function {
    /// Wraps a function.
    pub fn new(call: impl Fn(&Val<'_>) -> Result<Value, String> + Send + Sync + 'static) -> Function {
        Function(Arc::new(call))
    }

    /// Calls it.
    pub fn call(&self, names: &Val<'_>) -> Result<Value, String> {
        (self.0)(names)
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
        Arc::ptr_eq(&self.0, &other.0)
    }
}
