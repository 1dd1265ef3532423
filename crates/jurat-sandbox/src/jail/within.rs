//! Folders and files inside a folder that a program could write.
//!
//! A path is resolved one name at a time, from a descriptor, and no link is followed: a link that a program left would lead somewhere else. What is in the way was left by the
//! program and is removed.

use std::ffi::OsStr;
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::path::{Component, Path};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags};
use rustix::io::Errno;

/// Writes a file below a folder that a program could write. The path is relative and stays below.
///
/// # Errors
/// When the path leads elsewhere, a folder that is not empty has the name of the file, or the system refuses.
pub fn write_within(folder: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let folder = rustix::fs::openat(CWD, folder, FOLDER, Mode::empty())?;
    let folder = folder_within(folder, path.parent().unwrap_or(Path::new("")))?;
    clear(&folder, name)?;
    std::fs::File::from(new_file(&folder, name)?).write_all(bytes)
}

/// A folder below another one. Folders that are missing are made.
pub(super) fn folder_within(folder: OwnedFd, path: &Path) -> io::Result<OwnedFd> {
    let mut at = folder;
    for part in path.components() {
        let Component::Normal(name) = part else { return Err(io::ErrorKind::InvalidInput.into()) };
        if kind_of(&at, name)? != Some(FileType::Directory) {
            clear(&at, name)?;
            rustix::fs::mkdirat(&at, name, Mode::from_raw_mode(0o755))?;
        }
        at = rustix::fs::openat(&at, name, FOLDER, Mode::empty())?;
    }
    Ok(at)
}

/// A file that did not exist.
pub(super) fn new_file(at: &OwnedFd, name: &OsStr) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(at, name, flags, Mode::from_raw_mode(0o644))
}

/// What has a name, if anything has.
pub(super) fn kind_of(at: &OwnedFd, name: &OsStr) -> rustix::io::Result<Option<FileType>> {
    match rustix::fs::statat(at, name, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => Ok(None),
        found => Ok(Some(FileType::from_raw_mode(found?.st_mode))),
    }
}

/// Removes what has a name, if anything has. A folder that is not empty stays, which is an error.
pub(super) fn clear(at: &OwnedFd, name: &OsStr) -> rustix::io::Result<()> {
    match kind_of(at, name)? {
        None => Ok(()),
        Some(FileType::Directory) => rustix::fs::unlinkat(at, name, AtFlags::REMOVEDIR),
        Some(_) => rustix::fs::unlinkat(at, name, AtFlags::empty()),
    }
}

/// A folder, to continue from. Where the system supports it, it need not be readable.
#[cfg(target_os = "linux")]
const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
#[cfg(not(target_os = "linux"))]
const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_link_on_the_way_is_replaced_and_not_followed() {
        let (home, victim) = (tempfile::tempdir().expect("there is room"), tempfile::tempdir().expect("there is room"));
        symlink(victim.path(), home.path().join(".agent")).expect("links can be made");
        fs::create_dir(home.path().join("real")).expect("folders can be made");
        symlink(victim.path().join("made"), home.path().join("real/settings")).expect("links can be made");
        for path in [".agent/settings", "real/settings"] {
            write_within(home.path(), Path::new(path), b"ours").expect("it can be written");
            assert_eq!(fs::read_to_string(home.path().join(path)).expect("it is there"), "ours");
        }
        assert_eq!(fs::read_dir(victim.path()).expect("it is there").count(), 0);
        for path in ["../out", "/out", ""] {
            assert!(write_within(home.path(), Path::new(path), b"ours").is_err(), "{path}");
        }
    }
}
