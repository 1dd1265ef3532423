//! The archive with the command: one folder with the program, its licences, what changed, and completions of shells.

use std::fs;
use std::path::Path;
use std::process::Command;

use chores::chore::Failure;
use chores::program;
use chores::python::TRIPLE;

use super::cannot;

/// What lies in the archive beside the program, by its place in the repository.
const BESIDE: [&str; 4] = ["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"];

const SHELLS: [&str; 3] = ["bash", "fish", "zsh"];

/// Packs the program into the folder of the release.
pub(super) fn write(command: &Path, version: &str, folder: &Path) -> Result<(), Failure> {
    let name = format!("jurat-{version}");
    let content = folder.join(&name);
    let completions = content.join("completions");
    fs::create_dir_all(&completions).map_err(|error| cannot("make", &completions, &error))?;
    copy(command, &content.join("jurat"))?;
    for file in BESIDE {
        copy(&program::root().join(file), &content.join(file))?;
    }
    for shell in SHELLS {
        let text = program::output(Command::new(command).args(["completions", shell]))?;
        let to = completions.join(format!("jurat.{shell}"));
        fs::write(&to, text).map_err(|error| cannot("write", &to, &error))?;
    }
    pack(&name, &format!("{name}-{TRIPLE}.tar.gz"), folder)?;
    fs::remove_dir_all(&content).map_err(|error| cannot("remove", &content, &error))
}

fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    fs::copy(from, to).map(drop).map_err(|error| cannot("copy", from, &error))
}

/// Equal content makes equal bytes: names are sorted, and neither times nor users of this machine are in it.
fn pack(content: &str, archive: &str, folder: &Path) -> Result<(), Failure> {
    let mut tar = Command::new("tar");
    tar.args([
        "--sort=name",
        "--mtime=@0",
        "--owner=0",
        "--group=0",
        "--numeric-owner",
        "--use-compress-program=gzip -9n",
    ]);
    program::run(tar.args(["--create", "--file", archive, content]).current_dir(folder))
}
