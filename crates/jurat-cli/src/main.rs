//! The command `jurat` as a program.

use std::process::ExitCode;

fn main() -> ExitCode {
    // A worker is this program, started anew. That comes before anything else is set up.
    jurat::serve_as_worker();
    make_room_for_files();
    jurat_cli::run(std::env::args_os()).into()
}

/// Has the kernel make room for open files, connections among them, while this program is one thread. Later, each time that its table has
/// to grow everything waits for ten milliseconds or more.
fn make_room_for_files() {
    #[cfg(unix)]
    {
        const FILES: i32 = 1000;
        // Where fewer may be open, the table stays as it is.
        drop(rustix::io::fcntl_dupfd_cloexec(std::io::stderr(), FILES));
    }
}
