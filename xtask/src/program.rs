//! Running other programs, and making sure that they exist.

use std::env;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

use crate::chore::Failure;

/// The root of the repository.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the root of the repository")
}

/// The directory that builds go to: `target`, unless the environment moves it.
pub fn target_directory() -> PathBuf {
    root().join(env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
}

/// The cargo that runs us, in the root of the repository.
pub fn cargo() -> Command {
    let mut cargo = Command::new(own_cargo().unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(root());
    cargo
}

/// The path of the cargo that runs us, if it does.
pub fn own_cargo() -> Option<OsString> {
    env::var_os("CARGO")
}

/// Cargo, building with the features that `cargo test --workspace` has: what is built this way is not compiled twice.
pub fn cargo_as_tested() -> Command {
    let mut cargo = cargo();
    // There are no examples. Asking for them lets the features count that tests turn on in dependencies.
    cargo.args(["build", "--locked", "--workspace", "--examples"]);
    cargo
}

/// Lets cargo build one program; returns its path.
pub fn built(cargo: &mut Command) -> Result<PathBuf, Failure> {
    cargo.args(["--message-format", "json-render-diagnostics"]).stderr(Stdio::inherit());
    let messages = output(cargo)?;
    let executable = messages.lines().rev().find_map(executable);
    executable.ok_or_else(|| Failure::new("cargo built a program and did not print where it is"))
}

/// The program that a message of cargo is about.
fn executable(message: &str) -> Option<PathBuf> {
    let message: serde_json::Value = serde_json::from_str(message).ok()?;
    message["executable"].as_str().map(PathBuf::from)
}

/// The variable `PATH` with these folders before all others.
pub fn path_with(folders: &[PathBuf]) -> Result<OsString, Failure> {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = folders.iter().cloned().chain(env::split_paths(&path));
    env::join_paths(folders).map_err(|error| Failure::new(format!("`PATH` cannot be written: {error}")))
}

/// Runs a command to its end with its output streaming through.
pub fn run(command: &mut Command) -> Result<(), Failure> {
    let status = command.status().map_err(|error| not_started(command, &error))?;
    checked(command, status)
}

/// Starts a command.
pub fn started(command: &mut Command) -> Result<Child, Failure> {
    command.spawn().map_err(|error| not_started(command, &error))
}

/// Fails if a command did not end well.
pub fn checked(command: &Command, status: ExitStatus) -> Result<(), Failure> {
    if status.success() { Ok(()) } else { Err(Failure::new(format!("{} ended with {status}", shown(command)))) }
}

fn not_started(command: &Command, error: &io::Error) -> Failure {
    Failure::new(format!("cannot start {}: {error}", shown(command)))
}

/// Runs a command to its end and returns what it wrote.
pub fn output(command: &mut Command) -> Result<String, Failure> {
    both_outputs(command).map(|(written, _)| written)
}

/// Like [`output`], and what it wrote to standard error.
pub fn both_outputs(command: &mut Command) -> Result<(String, String), Failure> {
    let output = command.output().map_err(|error| not_started(command, &error))?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() {
        Ok((String::from_utf8_lossy(&output.stdout).into_owned(), said))
    } else {
        Err(Failure::new(format!("{} ended with {}: {}", shown(command), output.status, said.trim_end())))
    }
}

/// Makes sure that a system program exists, installing the Debian package of the same name where that is possible.
pub fn ensure(program: &str) -> Result<(), Failure> {
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

/// The command as it would be typed.
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
    fn the_messages_of_cargo_name_programs() {
        let message = r#"{"reason": "compiler-artifact", "executable": "/t/compare-1"}"#;
        assert_eq!(executable(message), Some("/t/compare-1".into()));
        assert_eq!(executable(r#"{"reason": "build-finished", "success": true}"#), None);
    }

    #[test]
    fn a_program_that_exists_is_enough() {
        assert_eq!(ensure("sh"), Ok(()));
        assert!(!exists("no-such-program"));
    }
}
