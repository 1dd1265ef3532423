//! The folders that a run has while it runs, in a place of its own that no other user can look into.
//!
//! They go when the run is over. A process that is killed leaves them behind, so the first run of a process removes those whose process has ended.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::time::{Duration, SystemTime};

use jurat_sandbox::jail::remove_folder;

/// What the names of their places begin with.
const PREFIX: &str = "jurat-agent-";

/// Held by the process whose folders they are, for as long as it lives.
const LOCK: &str = "lock";

/// A place without a lock is one that is being made, unless it is older than this.
const MAKING: Duration = Duration::from_secs(3600);

/// The folders of a run. What is not stored goes with them.
#[derive(Debug)]
pub(super) struct Folders {
    /// What the run is known by.
    pub(super) name: String,
    /// What is to be stored, until it is.
    pub(super) stored: PathBuf,
    pub(super) workspace: PathBuf,
    pub(super) home: PathBuf,
    pub(super) tmp: PathBuf,
    pub(super) sockets: PathBuf,
    root: PathBuf,
    _lock: File,
}

impl Folders {
    /// Makes them. `seed` makes runs at the same moment different.
    pub(super) fn make(seed: &str) -> io::Result<Folders> {
        static SWEPT: Once = Once::new();
        let place = std::env::temp_dir();
        SWEPT.call_once(|| sweep(&place));
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let hash = blake3::hash(format!("{seed} {} {}", now.as_nanos(), std::process::id()).as_bytes()).to_hex();
        // Made anew with a name that cannot be guessed, for this user alone.
        let mut builder = tempfile::Builder::new();
        builder.prefix(PREFIX);
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        let root = builder.tempdir_in(place)?;
        let lock = File::create(root.path().join(LOCK))?;
        // Where files cannot be locked it is never taken for left.
        lock.lock().unwrap_or_default();
        let root = root.keep();
        let folders = Folders {
            name: hash[..16].to_owned(),
            stored: root.join("stored"),
            workspace: root.join("workspace"),
            home: root.join("home"),
            tmp: root.join("tmp"),
            sockets: root.join("s"),
            root,
            _lock: lock,
        };
        for folder in [&folders.stored, &folders.workspace, &folders.home, &folders.tmp, &folders.sockets] {
            fs::create_dir(folder)?;
        }
        Ok(folders)
    }
}

impl Drop for Folders {
    fn drop(&mut self) {
        // Whatever an agent built there, it has ended by now.
        let _ = remove_folder(&self.root);
    }
}

/// Removes places whose process has ended. What cannot be removed stays for the next one to try.
fn sweep(place: &Path) {
    for entry in fs::read_dir(place).into_iter().flatten().flatten() {
        let is_one = entry.file_name().to_str().is_some_and(|it| it.starts_with(PREFIX));
        if is_one && entry.file_type().is_ok_and(|it| it.is_dir()) && is_left(&entry.path()) {
            let _ = remove_folder(&entry.path());
        }
    }
}

/// Whether a place is not used any more.
fn is_left(root: &Path) -> bool {
    match File::open(root.join(LOCK)) {
        Ok(lock) => lock.try_lock().is_ok(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let made = fs::metadata(root).and_then(|it| it.modified());
            made.is_ok_and(|it| it.elapsed().is_ok_and(|it| it > MAKING))
        }
        // That of another user.
        Err(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_whose_process_has_ended_are_swept() {
        let place = tempfile::tempdir().expect("there is room for files");
        let root = |name: &str| {
            let root = place.path().join(name);
            fs::create_dir_all(root.join("workspace/deep")).expect("folders can be made");
            root
        };
        let [left, held, making, other] = ["jurat-agent-1", "jurat-agent-2", "jurat-agent-3", "other"].map(root);
        for root in [&left, &held, &other] {
            File::create(root.join(LOCK)).expect("files can be made");
        }
        let lock = File::open(held.join(LOCK)).expect("it is there");
        lock.lock().expect("it is not locked");
        sweep(place.path());
        assert_eq!([&left, &held, &making, &other].map(|it| it.exists()), [false, true, true, true]);
        drop(lock);
        sweep(place.path());
        assert!(!held.exists());
    }

    #[cfg(unix)]
    #[test]
    fn no_other_user_can_look_into_them() {
        use std::os::unix::fs::PermissionsExt;
        let folders = Folders::make("seed").expect("folders can be made");
        let root = folders.root.clone();
        assert_eq!(fs::metadata(&root).expect("it is there").permissions().mode() & 0o777, 0o700);
        assert!(!is_left(&root));
        drop(folders);
        assert!(!root.exists());
    }
}
