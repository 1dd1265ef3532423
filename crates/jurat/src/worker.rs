//! The program that runs the code of evaluators: this one started anew, or another.

use std::path::PathBuf;
use std::process::exit;
use std::sync::{Mutex, PoisonError};

use jurat_sandbox::Program;
use jurat_sandbox::worker::{WORD, main};

/// The program that runs code, once it was set.
static WORKER: Mutex<Option<Program>> = Mutex::new(None);

/// Lets this program run the code of evaluators. To be called first thing in `main`, before any thread is started.
///
/// Code of authors never runs in the program that evaluates: the program starts itself anew, and what is started gives up everything that the code
/// has no business with. There, this function does not return. A run of a suite whose evaluators are Python or TypeScript is refused in a
/// program that has not called it.
pub fn serve_as_worker() {
    set(Program::this().ok());
    if std::env::args_os().nth(1).is_some_and(|it| it == WORD) {
        // What is supervised ends with the code of its program, which callers read.
        exit(main().into());
    }
}

/// Lets another program run the code of evaluators: one that calls [`serve_as_worker`] first thing when it is started with these arguments and one
/// more. For programs that cannot start themselves anew, such as a library inside an interpreter.
///
/// ```
/// jurat::run_code_with("/usr/lib/evaluations/worker", ["--quiet"]);
/// ```
pub fn run_code_with(path: impl Into<PathBuf>, arguments: impl IntoIterator<Item: Into<String>>) {
    let arguments = arguments.into_iter().map(Into::into).chain([WORD.to_owned()]).collect();
    set(Some(Program { path: path.into(), arguments }));
}

/// What is started to run code, when something can be.
pub(crate) fn program() -> Option<Program> {
    WORKER.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

fn set(program: Option<Program>) {
    *WORKER.lock().unwrap_or_else(PoisonError::into_inner) = program;
}
