//! Programs that end with jurat.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::Duration;

use tokio::io::{AsyncBufRead, AsyncBufReadExt as _};
use tokio::process::{Child, Command};

/// What starts programs, and ends each with everything that it started when jurat ends, in whatever way. Its last argument is followed by the id of this process, the
/// folder, the program and the program's arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Supervisor {
    pub program: PathBuf,
    pub arguments: Vec<String>,
}

/// A program to be started.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Launched<'l> {
    pub(crate) program: &'l Path,
    pub(crate) arguments: &'l [String],
    /// Where it starts; an empty path is the current folder.
    pub(crate) folder: &'l Path,
    /// Where a program without a slash is looked for.
    pub(crate) search: Option<&'l OsStr>,
}

impl Launched<'_> {
    /// The command that starts it. Ctrl-C in a terminal is for jurat, which lets requests in flight finish.
    pub(crate) fn command(self, supervisor: Option<&Supervisor>) -> io::Result<Command> {
        let mut command = match supervisor {
            Some(supervisor) => self.supervised(supervisor)?,
            None => self.direct(),
        };
        #[cfg(unix)]
        command.process_group(0);
        Ok(command)
    }

    fn direct(self) -> Command {
        let mut command = Command::new(self.program);
        command.args(self.arguments).kill_on_drop(true);
        if !self.folder.as_os_str().is_empty() {
            command.current_dir(self.folder);
        }
        command
    }

    fn supervised(self, supervisor: &Supervisor) -> io::Result<Command> {
        let folder = if self.folder.as_os_str().is_empty() { Path::new(".") } else { self.folder };
        let folder = std::path::absolute(folder)?;
        folder.metadata()?;
        // The supervisor would find out as well, but can say so on standard error only.
        self.find()?;
        let mut command = Command::new(&supervisor.program);
        command.args(&supervisor.arguments).arg(std::process::id().to_string()).arg(folder);
        command.arg(self.program).args(self.arguments).current_dir("/");
        Ok(command)
    }

    /// Looks for the program as the system would.
    pub(crate) fn find(self) -> io::Result<()> {
        if self.program.components().count() > 1 || self.program.is_absolute() {
            return is_program(self.program);
        }
        let search = self.search.map_or_else(|| OsString::from("/bin:/usr/bin"), OsStr::to_owned);
        let found = std::env::split_paths(&search).map(|it| is_program(&it.join(self.program)));
        found
            .reduce(|first, next| if first.is_ok() { first } else { next })
            .unwrap_or(Err(io::ErrorKind::NotFound.into()))
    }
}

fn is_program(path: &Path) -> io::Result<()> {
    let is_file = path.metadata()?.is_file();
    #[cfg(unix)]
    rustix::fs::access(path, rustix::fs::Access::EXEC_OK)?;
    if is_file { Ok(()) } else { Err(io::ErrorKind::PermissionDenied.into()) }
}

/// How long a program that closed its output has to end, so that its status can be reported.
pub(crate) const TO_END: Duration = Duration::from_secs(3);

/// A program with everything that it started itself. All of it ends when this is dropped, unless the program has ended before.
#[derive(Debug)]
pub(crate) struct Started {
    pub(crate) child: Child,
    /// Whether the child is a supervisor, which ends the program when it is asked to.
    is_supervised: bool,
}

impl Started {
    pub(crate) fn new(child: Child, supervisor: Option<&Supervisor>) -> Started {
        Started { child, is_supervised: supervisor.is_some() }
    }

    /// How a program that closed its output ended; `None` when it does not end.
    pub(crate) async fn ended(&mut self) -> Option<ExitStatus> {
        tokio::time::timeout(TO_END, self.child.wait()).await.ok()?.ok()
    }

    pub(crate) fn kill(&mut self) {
        // Once it was waited for, its number may be another's.
        #[cfg(unix)]
        if let Some(id) = self.child.id().and_then(|it| i32::try_from(it).ok()).and_then(rustix::process::Pid::from_raw)
        {
            use rustix::process::{Signal, kill_process, kill_process_group};
            let killed =
                if self.is_supervised { kill_process(id, Signal::TERM) } else { kill_process_group(id, Signal::KILL) };
            // What is gone has ended, which is what is wanted.
            killed.unwrap_or_default();
        }
        #[cfg(not(unix))]
        self.child.start_kill().unwrap_or_default();
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The longest line of a program that is read.
pub(crate) const MAX_LINE: usize = 64 << 20;

/// Reads to the next line end, and whether there was a line. What was read stays in `line` when this is dropped.
pub(crate) async fn read_line(output: &mut (impl AsyncBufRead + Unpin), line: &mut Vec<u8>) -> Result<bool, String> {
    loop {
        let available = output.fill_buf().await.map_err(|it| format!("cannot be read: {it}"))?;
        if available.is_empty() {
            // A line without its end was cut, and is no message.
            return Ok(false);
        }
        let end = available.iter().position(|it| *it == b'\n');
        let n_taken = end.map_or(available.len(), |it| it + 1);
        if line.len() + n_taken > MAX_LINE {
            return Err(format!("wrote a line of more than {} MiB", MAX_LINE >> 20));
        }
        line.extend_from_slice(&available[..n_taken]);
        output.consume(n_taken);
        if end.is_some() {
            return Ok(true);
        }
    }
}
