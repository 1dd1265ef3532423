//! What is wrong with the arguments of a command.

use clap::error::{ContextKind, ErrorKind};

/// Prints why arguments cannot be used, or the help that they ask for, and returns the exit code.
pub(crate) fn print(mut error: clap::Error) -> i32 {
    if error.kind() == ErrorKind::UnknownArgument {
        // "to pass `-o` as a value, use `-- -o`": no argument of ours begins with a hyphen.
        let _ = error.remove(ContextKind::Suggested);
    }
    // Where nothing reads the output any more, nothing is lost.
    let _ = error.print();
    error.exit_code()
}
