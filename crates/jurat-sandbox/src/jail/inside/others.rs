//! The system's programs as users other than root may read them.
//!
//! Where jurat runs as root, the program is the owner of root's files, and could read those that are for root alone. So it is shown mounts on which they belong to nobody
//! (`MOUNT_ATTR_IDMAP`): the permissions for others apply, and no file has to be looked at for that. Only root of the machine can make such mounts, so they are made before
//! its namespaces are left. Where the kernel or a file system does not have them, everything is shown as it is.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::CWD;
use rustix::mount::OpenTreeFlags;
use rustix::pipe::PipeFlags;
use rustix::process::{Pid, Signal, WaitOptions};
use rustix::thread::UnshareFlags;

use super::namespaces::{copy, leave};
use super::root::{Attributes, SYSTEM};
use crate::worker::parent;

/// The owner of root's files on these mounts: `nobody`, by its usual number.
const IDS: &str = "0 65534 1\n1 1 65533\n";

/// A folder of the system, and a mount of it.
pub(super) type Shown = (PathBuf, OwnedFd);

/// The folders of the system with `nobody` as the owner of root's files. None where that is not needed or cannot be had.
pub(super) fn system() -> Vec<Shown> {
    if !is_root_of_machine() {
        return Vec::new();
    }
    let Ok(namespace) = namespace() else { return Vec::new() };
    let folders = SYSTEM.into_iter().filter(|it| Path::new(it).symlink_metadata().is_ok_and(|it| it.is_dir()));
    folders.filter_map(|it| Some((PathBuf::from(it), tree(it, &namespace).ok()?))).collect()
}

fn is_root_of_machine() -> bool {
    let map = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    let numbers: Vec<&str> = map.split_whitespace().collect();
    rustix::process::geteuid().is_root() && numbers == ["0", "0", "4294967295"]
}

fn tree(folder: &str, namespace: &OwnedFd) -> io::Result<OwnedFd> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_RECURSIVE;
    let tree = rustix::mount::open_tree(CWD, folder, flags)?;
    Attributes::READ_ONLY.set_with(tree.as_fd(), Some(namespace))?;
    Ok(tree)
}

/// A user namespace in which root's number stands for `nobody`. It takes a process to make one, and none to hold it.
fn namespace() -> io::Result<OwnedFd> {
    let (ready, begun) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
    let own = std::process::id();
    let Some(process) = copy()? else {
        let made = parent::end_with(own).and_then(|()| leave(UnshareFlags::NEWUSER));
        let said = made.and_then(|()| Ok(rustix::io::write(&begun, &[1])?));
        // Nothing but the end of its parent or a signal ends it, unless it has nothing to wait for.
        while said.is_ok() {
            rustix::event::pause();
        }
        std::process::exit(1);
    };
    drop(begun);
    let opened = mapped(process, &ready);
    rustix::process::kill_process(process, Signal::KILL).unwrap_or_default();
    rustix::process::waitpid(Some(process), WaitOptions::empty()).map(drop).unwrap_or_default();
    opened
}

/// Waits until a process has its namespace, writes its map of users, and opens it.
fn mapped(process: Pid, ready: &OwnedFd) -> io::Result<OwnedFd> {
    if rustix::io::read(ready, &mut [0; 1])? != 1 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let of = |name: &str| format!("/proc/{}/{name}", process.as_raw_nonzero());
    fs::write(of("uid_map"), IDS)?;
    fs::write(of("gid_map"), IDS)?;
    Ok(File::open(of("ns/user"))?.into())
}
