//! What errors of the server and of the way to it mean, and what they say.

use std::error::Error;

use jurat_store::journal::SharedError;
use tokio_postgres::error::SqlState;

/// What an error means for the caller.
pub(crate) fn failure(error: &tokio_postgres::Error) -> SharedError {
    let words = words(error);
    match error.code() {
        Some(code) if !may_pass(code) => SharedError::Refused(words),
        _ => SharedError::Unreachable(words),
    }
}

/// Whether the same may succeed later: the server ends or begins, has too many connections, or broke a deadlock.
fn may_pass(code: &SqlState) -> bool {
    ["08", "40", "53", "57"].iter().any(|it| code.code().starts_with(it))
}

/// What the server says, or the innermost of other errors: the outer ones say that something failed, which is known.
pub(crate) fn words(error: &tokio_postgres::Error) -> String {
    if let Some(said) = error.as_db_error() {
        return said.message().to_owned();
    }
    let mut innermost: &dyn Error = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}
