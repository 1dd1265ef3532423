//! A worker as a program of its own, for programs that do not want to be theirs.

use std::process::ExitCode;

fn main() -> ExitCode {
    jurat_sandbox::worker::main().into()
}
