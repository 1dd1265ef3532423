//! TypeScript and JavaScript, read without running them.

use crate::{Refused, Signature};

pub(crate) fn javascript(_: &str, _: &str) -> Result<(String, Option<Signature>), Refused> {
    Err(Refused::Interpreter("only Python is run".to_owned()))
}

pub(crate) fn blanked(_: &str, _: &str) -> Result<(String, Option<Signature>), Refused> {
    Err(Refused::Interpreter("only Python is run".to_owned()))
}
