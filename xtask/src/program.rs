//! Running other programs, and making sure that they exist.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::chore::Failure;

/// The root of the repository.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the root of the repository")
}

/// The directory that builds go to: `target`, unless the environment moves it.
pub(crate) fn target_directory() -> PathBuf {
    root().join(env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
}

/// The cargo that runs us, in the root of the repository.
pub(crate) fn cargo() -> Command {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(root());
    // On a machine that builds once, incremental state is written and never read.
    if env::var("CI").is_ok_and(|it| it == "true") {
        cargo.env("CARGO_INCREMENTAL", "0");
    }
    cargo
}

/// Runs a command to its end with its output streaming through.
pub(crate) fn run(command: &mut Command) -> Result<(), Failure> {
    let status = command.status().map_err(|error| Failure::new(format!("cannot start {}: {error}", shown(command))))?;
    if status.success() { Ok(()) } else { Err(Failure::new(format!("{} ended with {status}", shown(command)))) }
}

/// Runs a command to its end and returns what it wrote.
pub(crate) fn output(command: &mut Command) -> Result<String, Failure> {
    both_outputs(command).map(|(written, _)| written)
}

/// Like [`output`], with what it said on standard error besides.
pub(crate) fn both_outputs(command: &mut Command) -> Result<(String, String), Failure> {
    let output = command.output().map_err(|error| Failure::new(format!("cannot start {}: {error}", shown(command))))?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() {
        Ok((String::from_utf8_lossy(&output.stdout).into_owned(), said))
    } else {
        Err(Failure::new(format!("{} ended with {}: {}", shown(command), output.status, said.trim_end())))
    }
}

/// Makes sure that a system program exists, installing the Debian package of the same name where that is possible.
pub(crate) fn ensure(program: &str) -> Result<(), Failure> {
    if exists(program) {
        return Ok(());
    }
    if !(exists("apt-get") && is_root()) {
        return Err(Failure::new(format!(
            "`{program}` is needed and not installed; on Debian: `apt-get install {program}`"
        )));
    }
    eprintln!("`{program}` is not installed: installing it");
    let apt_get = |words: &[&str]| run(Command::new("apt-get").args(words).env("DEBIAN_FRONTEND", "noninteractive"));
    // A fresh container has no package lists, so the first attempt may fail for want of them.
    apt_get(&["install", "-y", program])
        .or_else(|_| apt_get(&["update"]).and_then(|()| apt_get(&["install", "-y", program])))
        .map_err(|_| {
            Failure::new(format!("`{program}` is needed and apt-get could not install it; install it by hand"))
        })?;
    if exists(program) {
        Ok(())
    } else {
        Err(Failure::new(format!("the package `{program}` holds no program `{program}`")))
    }
}

fn exists(program: &str) -> bool {
    env::var_os("PATH").is_some_and(|path| env::split_paths(&path).any(|it| it.join(program).is_file()))
}

fn is_root() -> bool {
    output(Command::new("id").arg("-u")).is_ok_and(|it| it.trim() == "0")
}

/// The command as somebody would type it.
fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let words: Vec<_> = std::iter::once(program).chain(command.get_args()).map(|it| it.to_string_lossy()).collect();
    format!("`{}`", words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_command_is_shown_as_it_would_be_typed() {
        let failed = run(Command::new("/bin/sh").args(["-c", "exit 3"]));
        assert_eq!(failed, Err(Failure::new("`sh -c exit 3` ended with exit status: 3")));
    }

    #[test]
    fn a_program_that_exists_is_enough() {
        assert_eq!(ensure("sh"), Ok(()));
        assert!(!exists("no-such-program"));
    }
}
