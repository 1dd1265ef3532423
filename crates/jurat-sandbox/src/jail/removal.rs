//! Removing what a program left, however it is built.
//!
//! A program can nest folders deeper than any path can name and take its own rights to them away. Folders that are deep are moved up instead of being
//! followed down, so neither the length of paths nor the number of descriptors matters.

use std::io;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags};

/// How deep folders are followed before they are moved up.
const DEPTH: usize = 32;

/// Removes a folder and everything in it. Links are removed, not followed. What is not there is removed already.
///
/// # Errors
/// When something cannot be removed; the rest may be gone.
pub fn remove_folder(path: &Path) -> io::Result<()> {
    let root = match rustix::fs::openat(CWD, path, FOLDER, Mode::empty()) {
        Ok(root) => root,
        Err(rustix::io::Errno::NOENT) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    let mut n_moved = 0;
    // Each round empties what there is and moves up what is deeper; it ends because what is moved up is shallower than before.
    loop {
        let n_before = n_moved;
        empty(root.as_fd(), root.as_fd(), 0, &mut n_moved)?;
        if n_moved == n_before {
            break;
        }
    }
    Ok(rustix::fs::unlinkat(CWD, path, AtFlags::REMOVEDIR)?)
}

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

fn empty(root: BorrowedFd<'_>, folder: BorrowedFd<'_>, depth: usize, n_moved: &mut u64) -> io::Result<()> {
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        let found = match rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) => found,
            Err(rustix::io::Errno::NOENT) => continue,
            Err(error) => return Err(error.into()),
        };
        if FileType::from_raw_mode(found.st_mode) != FileType::Directory {
            rustix::fs::unlinkat(folder, name, AtFlags::empty())?;
            continue;
        }
        // Its owner may have taken the right to look into it away.
        rustix::fs::chmodat(folder, name, Mode::RWXU, AtFlags::empty()).unwrap_or_default();
        if depth >= DEPTH {
            *n_moved += 1;
            rustix::fs::renameat(folder, name, root, format!(".jurat-removal-{n_moved}"))?;
            continue;
        }
        let inner = rustix::fs::openat(folder, name, FOLDER, Mode::empty())?;
        empty(root, inner.as_fd(), depth + 1, n_moved)?;
        // What was moved up meanwhile may have come from here, never gone to here: only the root gets more.
        rustix::fs::unlinkat(folder, name, AtFlags::REMOVEDIR)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_that_no_path_can_name_are_removed() {
        let outside = tempfile::tempdir().expect("there is room for files");
        std::fs::write(outside.path().join("kept"), "kept").expect("files can be written");
        let folder = tempfile::tempdir().expect("there is room for files").keep();
        std::os::unix::fs::symlink(outside.path(), folder.join("out")).expect("links can be made");
        let mut at = rustix::fs::openat(CWD, &folder, FOLDER, Mode::empty()).expect("it is there");
        for _ in 0..3000 {
            rustix::fs::mkdirat(&at, "deeper", Mode::RWXU).expect("folders can be made");
            at = rustix::fs::openat(&at, "deeper", FOLDER, Mode::empty()).expect("it is there");
        }
        drop(at);
        let closed = folder.join("closed");
        std::fs::create_dir_all(closed.join("inner")).expect("folders can be made");
        rustix::fs::chmod(&closed, Mode::empty()).expect("modes can be changed");
        remove_folder(&folder).expect("it can be removed");
        assert!(!folder.exists());
        assert!(outside.path().join("kept").exists());
        remove_folder(&folder).expect("what is gone is removed");
    }
}
