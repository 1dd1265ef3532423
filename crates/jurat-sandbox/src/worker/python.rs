//! Becoming a Python interpreter.
//!
//! Everything is given up before the interpreter starts, so nothing depends on what it does: the program that it runs (`shim.py`) only compiles, calls
//! and writes values down.

use std::os::fd::AsRawFd as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::frame;
use crate::interpreter::{Packages, Start};
use crate::orders::Orders;
use crate::worker::{Channel, harden};

const SHIM: &str = include_str!("shim.py");

/// What an interpreter finds in its environment. Text is UTF-8 and sets have the same order every time; libraries that start a thread for each
/// processor are asked not to.
const ENVIRONMENT: [(&str, &str); 6] = [
    ("LC_ALL", "C.UTF-8"),
    ("MKL_NUM_THREADS", "1"),
    ("OMP_NUM_THREADS", "1"),
    ("OPENBLAS_NUM_THREADS", "1"),
    ("PYTHONHASHSEED", "0"),
    ("TZ", "UTC"),
];

/// Does not return unless something is in the way.
pub(super) fn become_interpreter(
    channel: &mut Channel,
    orders: &Orders,
    executable: &Path,
    readable: &[PathBuf],
    start: &Start,
) -> Result<(), Vec<String>> {
    let mut command = Command::new(executable);
    command.args(["-s", "-B", "-X", "utf8"]);
    if let Start::Located { .. } = start {
        command.arg("-S");
    }
    command.args(["-c", SHIM]);
    command.args([channel.requests.as_raw_fd().to_string(), channel.replies.as_raw_fd().to_string()]);
    if let Start::Located { path, prefix, exec_prefix } = start {
        command.args([prefix, exec_prefix]).args(path);
    }
    command.envs(ENVIRONMENT);
    harden_and_start(channel, orders, readable, command)
}

/// Has an interpreter say where its packages are. Does not return unless something is in the way.
pub(super) fn answer_as_interpreter(
    channel: &mut Channel,
    orders: &Orders,
    executable: &Path,
    readable: &[PathBuf],
    packages: Packages,
) -> Result<(), Vec<String>> {
    let mut command = Command::new(executable);
    command.args(packages.options()).arg(channel.replies.as_raw_fd().to_string()).env_clear();
    harden_and_start(channel, orders, readable, command)
}

fn harden_and_start(
    channel: &mut Channel,
    orders: &Orders,
    readable: &[PathBuf],
    mut command: Command,
) -> Result<(), Vec<String>> {
    let executable = PathBuf::from(command.get_program());
    let executable = executable.as_path();
    let place = harden::Place { executable: Some(executable), readable };
    let in_force = harden::give_up(channel, orders, &place)?;
    let report = serde_json::to_vec(&in_force).map_err(|it| vec![it.to_string()])?;
    channel.say(frame::HARDENED, &report).map_err(|it| vec![it.to_string()])?;
    let error = command.exec();
    Err(vec![format!("`{}` cannot be started: {error}", executable.display())])
}
