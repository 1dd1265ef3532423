//! Programs that are their own workers.

use std::process::{ExitCode, exit};
use std::sync::atomic::{AtomicBool, Ordering};

use jurat_sandbox::Program;
use jurat_sandbox::worker::{WORD, main};

/// Whether this program looks whether it is a worker.
static LOOKS: AtomicBool = AtomicBool::new(false);

/// Lets this program run the code of evaluators. To be called first thing in `main`, before any thread is started.
///
/// Code of authors never runs in the program that evaluates: the program starts itself anew, and what is started gives up everything that the code
/// has no business with. There, this function does not return. A run of a suite whose evaluators are Python or TypeScript is refused in a
/// program that has not called it.
pub fn serve_as_worker() {
    LOOKS.store(true, Ordering::Relaxed);
    if std::env::args_os().nth(1).is_some_and(|it| it == WORD) {
        exit(if main() == ExitCode::SUCCESS { 0 } else { 1 });
    }
}

/// What is started to run code, when this program can be.
pub(crate) fn program() -> Option<Program> {
    if LOOKS.load(Ordering::Relaxed) { Program::this().ok() } else { None }
}
