//! The command `jurat` as a program.

use std::process::ExitCode;

use jurat_sandbox::{Program, worker};

fn main() -> ExitCode {
    // A worker is this program, started anew. That is nobody's verb, and it comes before anything else is set up.
    if std::env::args_os().nth(1).is_some_and(|it| it == worker::WORD) {
        return worker::main();
    }
    make_room_for_files();
    jurat_cli::run(std::env::args_os(), Program::this().ok()).into()
}

/// Has the kernel make room for so many open files, connections among them, while this program is one thread. Later, each time that its table has
/// to grow everything waits for ten milliseconds or more.
fn make_room_for_files() {
    #[cfg(unix)]
    {
        const FILES: i32 = 1000;
        // Where so many may not be open, the table stays as it is.
        drop(rustix::io::fcntl_dupfd_cloexec(std::io::stderr(), FILES));
    }
}
