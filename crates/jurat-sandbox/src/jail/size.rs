//! How much folders hold, whatever is in them.
//!
//! What is looked at belongs to a program that may mean harm and changes while it is looked at. Nothing is followed, nothing is opened but folders, and folders
//! that are deeper than any work needs count as too many.

use std::ffi::CStr;
use std::os::fd::{AsRawFd as _, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags};

use super::Limit;

/// How deep folders may be. Each level costs a descriptor while it is looked at.
const DEPTH: usize = 256;

/// What folders hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Size {
    pub(super) bytes: u64,
    pub(super) files: u64,
}

/// Adds up folders until something is over a limit. What vanishes meanwhile counts nothing.
pub(super) fn excess(folders: &[&Path], bytes: u64, files: u64) -> Option<Limit> {
    let mut size = Size::default();
    for folder in folders {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let Ok(opened) = rustix::fs::openat(CWD, *folder, flags, Mode::empty()) else { continue };
        let over = add(&mut size, opened, bytes, files);
        if over.is_some() {
            return over;
        }
    }
    None
}

fn add(size: &mut Size, folder: OwnedFd, bytes: u64, files: u64) -> Option<Limit> {
    let mut open = vec![Opened { entries: Dir::new(folder).ok()?, _allowed: None }];
    while let (depth, Some(Opened { entries: folder, .. })) = (open.len(), open.last_mut()) {
        let Some(Ok(entry)) = folder.read() else {
            open.pop();
            continue;
        };
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        let Ok(at) = folder.fd() else { continue };
        let Ok(found) = rustix::fs::statat(at, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
        size.files += 1;
        // What is taken on the disk, not how far a file with holes goes.
        size.bytes += u64::try_from(found.st_blocks).unwrap_or(0) * 512;
        if size.bytes > bytes {
            return Some(Limit::Disk);
        }
        if size.files > files {
            return Some(Limit::Files);
        }
        if FileType::from_raw_mode(found.st_mode) != FileType::Directory {
            continue;
        }
        if depth >= DEPTH {
            return Some(Limit::Files);
        }
        if let Some(inner) = Opened::at(at, name) {
            open.push(inner);
        }
    }
    None
}

/// A folder that is being looked at.
struct Opened {
    entries: Dir,
    _allowed: Option<Allowed>,
}

impl Opened {
    /// Opens a folder, also one that its owner may not read: as its owner we may allow that until we have looked.
    fn at(folder: BorrowedFd<'_>, name: &CStr) -> Option<Opened> {
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let inner = rustix::fs::openat(folder, name, flags | OFlags::PATH, Mode::empty()).ok()?;
        let mode = Mode::from_raw_mode(rustix::fs::fstat(&inner).ok()?.st_mode & 0o7777);
        let is_closed = !mode.contains(Mode::RUSR | Mode::XUSR);
        let allowed = is_closed.then(|| Allowed::new(inner.try_clone().ok()?, mode)).flatten();
        let entries = rustix::fs::openat(&inner, c".", flags | OFlags::RDONLY, Mode::empty()).ok()?;
        Some(Opened { entries: Dir::new(entries).ok()?, _allowed: allowed })
    }
}

/// Permission to look into a folder, until it is dropped.
struct Allowed {
    path: String,
    _folder: OwnedFd,
    mode: Mode,
}

impl Allowed {
    fn new(folder: OwnedFd, mode: Mode) -> Option<Allowed> {
        let path = format!("/proc/self/fd/{}", folder.as_raw_fd());
        rustix::fs::chmod(&path, mode | Mode::RWXU).ok()?;
        Some(Allowed { path, _folder: folder, mode })
    }
}

impl Drop for Allowed {
    fn drop(&mut self) {
        // A folder that is gone needs no mode.
        rustix::fs::chmod(&self.path, self.mode).unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn what_is_over_is_named() {
        let folder = tempfile::tempdir().expect("there is room for files");
        std::fs::create_dir(folder.path().join("inner")).expect("folders can be made");
        std::fs::write(folder.path().join("inner/file"), vec![1; 100_000]).expect("files can be written");
        std::os::unix::fs::symlink("/", folder.path().join("out")).expect("links can be made");
        assert_eq!(excess(&[folder.path()], 1 << 20, 10), None);
        assert_eq!(excess(&[folder.path()], 50_000, 10), Some(Limit::Disk));
        assert_eq!(excess(&[folder.path()], 1 << 20, 2), Some(Limit::Files));
        let closed = std::fs::Permissions::from_mode(0o000);
        std::fs::set_permissions(folder.path().join("inner"), closed.clone()).expect("folders can be closed");
        assert_eq!(excess(&[folder.path()], 50_000, 10), Some(Limit::Disk), "what cannot be read counts, too");
        assert_eq!(excess(&[folder.path()], 1 << 20, 10), None);
        let mode = folder.path().join("inner").metadata().expect("it is there").permissions().mode() & 0o777;
        assert_eq!(mode, 0, "it is as it was");
        let deep = ["d"; DEPTH + 10].join("/");
        std::fs::create_dir_all(folder.path().join(deep)).expect("folders can be made");
        assert_eq!(excess(&[folder.path()], 1 << 30, 10_000), Some(Limit::Files));
    }
}
