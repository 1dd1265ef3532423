//! Running the real binary in a folder of its own.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::LazyLock;

use jurat_core::agent::RUNNERS;
use tempfile::TempDir;

/// A folder that lives as long as the test, and is where the command runs.
pub(crate) struct Folder(TempDir);

/// How the command ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Folder {
    /// A folder with nothing in it.
    pub(crate) fn empty() -> Folder {
        Folder(TempDir::new().expect("the system has a place for temporary files"))
    }

    /// A folder with one file.
    pub(crate) fn with(name: &str, content: impl AsRef<[u8]>) -> Folder {
        Folder::empty().and(name, content)
    }

    /// The same folder with one more file.
    pub(crate) fn and(self, name: &str, content: impl AsRef<[u8]>) -> Folder {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().expect("a file lies in a folder")).expect("folders can be made");
        fs::write(path, content).expect("files can be written");
        self
    }

    /// The same folder with one more file of this many bytes, which takes no room on disk.
    pub(crate) fn and_sparse(self, name: &str, n_bytes: u64) -> Folder {
        let file = fs::File::create(self.path().join(name)).expect("files can be made");
        file.set_len(n_bytes).expect("files can be as large as this");
        self
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Runs `jurat` here.
    pub(crate) fn jurat(&self, arguments: &[&str]) -> Ended {
        ended(self.command().args(arguments))
    }

    /// The command, set up to run here, with an environment that does not depend on the user.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_jurat"));
        command.current_dir(self.path());
        for variable in ["NO_COLOR", "OPENAI_API_KEY", "OPENAI_BASE_URL", "GEMINI_API_KEY", "GOOGLE_API_KEY"] {
            command.env_remove(variable);
        }
        command
    }
}

/// Programs that are servers with tools in the documentation.
const SERVERS: [&str; 2] = ["uvx", "node"];

/// A search path that has the programs of agents and of servers with tools, for suites that are only looked at.
pub(crate) fn path_with_agents() -> OsString {
    use std::os::unix::fs::PermissionsExt as _;
    static AGENTS: LazyLock<Folder> = LazyLock::new(|| {
        let programs = RUNNERS.iter().filter_map(|it| it.program()).map(|it| it.name);
        let folder =
            programs.chain(SERVERS).fold(Folder::empty(), |folder, name| folder.and(name, "#!/bin/sh\nexit 9\n"));
        for program in fs::read_dir(folder.path()).expect("it can be listed") {
            let path = program.expect("it can be listed").path();
            fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("modes can be set");
        }
        folder
    });
    let search = std::env::var_os("PATH").unwrap_or_default();
    let folders = [AGENTS.path().to_owned()].into_iter().chain(std::env::split_paths(&search));
    std::env::join_paths(folders).expect("paths can be joined")
}

/// Runs a command to its end.
pub(crate) fn ended(command: &mut Command) -> Ended {
    let Output { status, stdout, stderr } = command.output().expect("the command starts");
    let text = |bytes| String::from_utf8(bytes).expect("the command writes UTF-8");
    Ended { code: status.code(), stdout: text(stdout), stderr: text(stderr) }
}

/// The root of the repository.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the crate lies two levels below the root")
}
