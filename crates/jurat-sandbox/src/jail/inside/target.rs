//! Where something is mounted: folders and empty files that are made for it when they are missing.
//!
//! Before the root is changed, a link that an earlier program left would lead to the machine. So paths are resolved one part at a time, from a descriptor, and what is
//! returned is a descriptor, too: a name is never looked up a second time.

use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use crate::jail::within::{clear, folder_within, kind_of, new_file};

/// A target in a root that only this process has written. Links of the system are followed as they will be once the root is the root.
pub(super) fn of_system(root: &OwnedFd, path: &Path, is_folder: bool) -> io::Result<OwnedFd> {
    let (above, name) = (path.parent().unwrap_or(Path::new("")), path.file_name().unwrap_or(OsStr::new(".")));
    let mut at = open(root, Path::new("."), FOLDER, ResolveFlags::IN_ROOT)?;
    let mut gone = std::path::PathBuf::new();
    let folders = if is_folder { path } else { above };
    for part in folders.components() {
        gone.push(part);
        at = match open(root, &gone, FOLDER, ResolveFlags::IN_ROOT) {
            Err(Errno::NOENT) => {
                rustix::fs::mkdirat(&at, part.as_os_str(), Mode::from_raw_mode(0o755))?;
                open(root, &gone, FOLDER, ResolveFlags::IN_ROOT)?
            }
            opened => opened?,
        };
    }
    if is_folder {
        return Ok(at);
    }
    match open(root, path, OFlags::PATH, ResolveFlags::IN_ROOT) {
        Err(Errno::NOENT) => Ok(new_file(&at, name)?),
        opened => Ok(opened?),
    }
}

/// A target in a folder that a program could write. What is in the way there, links above all, was left by the program, would be hidden by the mount, and is removed.
pub(super) fn of_program(folder: OwnedFd, path: &Path, is_folder: bool) -> io::Result<OwnedFd> {
    let Some(name) = path.file_name().filter(|_| !is_folder) else { return folder_within(folder, path) };
    let at = folder_within(folder, path.parent().unwrap_or(Path::new("")))?;
    if kind_of(&at, name)? == Some(FileType::RegularFile) {
        return Ok(rustix::fs::openat(&at, name, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?);
    }
    clear(&at, name)?;
    Ok(new_file(&at, name)?)
}

const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY);

fn open(at: &OwnedFd, path: &Path, flags: OFlags, resolve: ResolveFlags) -> rustix::io::Result<OwnedFd> {
    rustix::fs::openat2(at, path, flags | OFlags::CLOEXEC, Mode::empty(), resolve)
}
