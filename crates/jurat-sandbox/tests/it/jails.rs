//! Programs behind walls, as a run would have them.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jurat_sandbox::jail::{
    Ended, Exit, Forward, Isolation, JailError, Limit, Mechanism, Network, Program, StopFlag, Wall, Walls, probe, run,
};

/// Folders for a program, and walls around them.
pub(crate) struct Place {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) walls: Walls,
}

pub(crate) fn worker() -> jurat_sandbox::Program {
    jurat_sandbox::Program { path: env!("CARGO_BIN_EXE_jurat-worker").into(), arguments: Vec::new() }
}

impl Place {
    pub(crate) fn new(isolation: Isolation) -> Place {
        let folder = tempfile::tempdir().expect("there is room for files");
        let inner = |name: &str| folder.path().join(name);
        for name in ["workspace", "home", "tmp"] {
            std::fs::create_dir(inner(name)).expect("folders can be made");
        }
        let mut walls = Walls::new(worker(), isolation, inner("workspace"), inner("home"), inner("tmp"));
        walls.limits.wall = Duration::from_secs(60);
        Place { folder, walls }
    }

    pub(crate) fn workspace(&self) -> &Path {
        &self.walls.workspace
    }

    pub(crate) fn shell(&self, script: &str) -> Program {
        self.program(&["/bin/sh", "-c", script])
    }

    pub(crate) fn program(&self, argv: &[&str]) -> Program {
        let seen = self.walls.seen();
        let env: BTreeMap<OsString, OsString> = [
            ("PATH".into(), std::env::var_os("PATH").unwrap_or_default()),
            ("HOME".into(), seen.home.into()),
            ("TMPDIR".into(), seen.tmp.into()),
        ]
        .into();
        Program { argv: argv.iter().map(OsString::from).collect(), env, stdin: Vec::new(), work_dir: seen.workspace }
    }
}

/// What came of a program.
pub(crate) struct Came {
    pub(crate) ended: Ended,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

pub(crate) fn try_run(program: &Program, walls: &Walls) -> Result<Came, JailError> {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let ended = run(
        program,
        walls,
        &mut |it: &[u8]| out.extend_from_slice(it),
        &mut |it: &[u8]| err.extend_from_slice(it),
        &StopFlag::new(),
    )?;
    let text = |it: Vec<u8>| String::from_utf8_lossy(&it).into_owned();
    Ok(Came { ended, stdout: text(out), stderr: text(err) })
}

#[track_caller]
pub(crate) fn ran(program: &Program, walls: &Walls) -> Came {
    try_run(program, walls).expect("it can be run")
}

#[track_caller]
fn says(isolation: Isolation, script: &str, stdout: &str) {
    let place = Place::new(isolation);
    let came = ran(&place.shell(script), &place.walls);
    assert_eq!((came.stdout.as_str(), came.ended.exit), (stdout, Exit::Code(0)), "{script}: {}", came.stderr);
}

#[test]
fn a_program_sees_its_folders_and_itself() {
    says(
        Isolation::Namespaces,
        "pwd; echo $HOME; id -u; id -un; hostname; echo $$",
        "/workspace\n/home/agent\n1000\nagent\njurat\n2\n",
    );
    says(
        Isolation::Namespaces,
        "ls /; ls /home",
        "bin\ndev\netc\nhome\nlib\nlib64\nproc\nroot\nrun\nsbin\ntmp\nusr\nvar\nworkspace\nagent\n",
    );
}
