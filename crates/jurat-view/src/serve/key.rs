//! The key without which nothing is shown: other users of the machine can reach the port, too.

use std::path::Path;

use ring::rand::{SecureRandom as _, SystemRandom};

/// The file of the key in the directory of the project.
const FILE: &str = "view.key";

/// How many bytes it has.
const LENGTH: usize = 16;

/// 128 bits that are hard to guess.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Key([u8; LENGTH]);

// A key in a log would be a key for its readers.
impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key(…)")
    }
}

impl Key {
    /// The key of a project, made when it has none, so that bookmarks last. Where the file cannot be trusted, and without a project, a key for this process
    /// alone.
    pub(super) fn of_project(root: Option<&Path>) -> Result<Key, String> {
        let stored = root.filter(|it| is_private(it, DIRECTORY_MODE)).and_then(stored);
        stored.map_or_else(Key::new, Ok)
    }

    /// A key that nothing else has.
    pub(super) fn new() -> Result<Key, String> {
        let mut bytes = [0; LENGTH];
        let filled = SystemRandom::new().fill(&mut bytes);
        filled.map_err(|_| "the system has no random numbers, which the key is made of".to_owned())?;
        Ok(Key(bytes))
    }

    /// As it stands in addresses: 32 hexadecimal digits.
    pub(super) fn text(&self) -> String {
        self.0.iter().map(|it| format!("{it:02x}")).collect()
    }

    fn parse(text: &str) -> Option<Key> {
        let text = text.trim();
        let digit = |ix: usize| u8::from_str_radix(text.get(2 * ix..2 * ix + 2)?, 16).ok();
        let bytes: Vec<u8> = (0..LENGTH).map(digit).collect::<Option<_>>()?;
        Some(Key(bytes.try_into().ok()?)).filter(|_| text.len() == 2 * LENGTH)
    }

    /// Whether this is the key. Hashes are compared, which takes the same time whatever differs.
    pub(super) fn opens_with(&self, said: &str) -> bool {
        blake3::hash(said.as_bytes()) == blake3::hash(self.text().as_bytes())
    }

    /// What a browser keeps in place of the key: it opens this port alone.
    pub(super) fn cookie(&self, port: u16) -> String {
        let mut hasher = blake3::Hasher::new_derive_key("jurat 2026-11 viewer cookie");
        hasher.update(&self.0).update(&port.to_le_bytes());
        hasher.finalize().to_hex()[..32].to_owned()
    }

    /// Whether a cookie is that of this key.
    pub(super) fn fits_cookie(&self, port: u16, said: &str) -> bool {
        blake3::hash(said.as_bytes()) == blake3::hash(self.cookie(port).as_bytes())
    }
}

/// Bits of the mode that must not be set: others may not write to the directory, and not read the key.
const DIRECTORY_MODE: u32 = 0o022;
const FILE_MODE: u32 = 0o077;

/// The key in the file; a new one when there is no file yet. `None` when the file is not to be trusted, or cannot be made.
fn stored(root: &Path) -> Option<Key> {
    let path = root.join(FILE);
    if std::fs::symlink_metadata(&path).is_err() {
        let key = Key::new().ok()?;
        return write(&path, &key).ok().map(|()| key).or_else(|| read(&path));
    }
    read(&path)
}

fn read(path: &Path) -> Option<Key> {
    let is_file = std::fs::symlink_metadata(path).is_ok_and(|it| it.is_file());
    Key::parse(&std::fs::read_to_string(path).ok().filter(|_| is_file && is_private(path, FILE_MODE))?)
}

fn write(path: &Path, key: &Key) -> std::io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    std::io::Write::write_all(&mut options.open(path)?, format!("{}\n", key.text()).as_bytes())
}

/// Whether something belongs to this user, and has none of these bits of a mode.
#[cfg(unix)]
fn is_private(path: &Path, mode: u32) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let user = rustix::process::geteuid().as_raw();
    std::fs::metadata(path).is_ok_and(|it| it.uid() == user && it.mode() & mode == 0)
}

#[cfg(not(unix))]
fn is_private(_: &Path, _: u32) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_has_one_key() {
        let folder = tempfile::tempdir().unwrap();
        let key = Key::of_project(Some(folder.path())).unwrap();
        assert_eq!(Key::of_project(Some(folder.path())), Ok(key.clone()));
        assert_ne!(Key::of_project(None), Ok(key.clone()));
        assert_eq!(Key::parse(&key.text()), Some(key.clone()));
        assert!(key.opens_with(&key.text()) && !key.opens_with("") && !key.opens_with(&key.cookie(1)));
        assert!(key.fits_cookie(1, &key.cookie(1)) && !key.fits_cookie(2, &key.cookie(1)));
        assert_eq!(["", "12", "zz", &"0".repeat(33)].map(Key::parse), [None, None, None, None]);
    }

    #[cfg(unix)]
    #[test]
    fn a_key_that_others_can_read_is_not_used() {
        use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
        let folder = tempfile::tempdir().unwrap();
        let key = Key::of_project(Some(folder.path())).unwrap();
        let file = folder.path().join(FILE);
        assert_eq!(std::fs::metadata(&file).unwrap().mode() & 0o777, 0o600);
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
        assert_ne!(Key::of_project(Some(folder.path())), Ok(key.clone()));
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(Key::of_project(Some(folder.path())), Ok(key.clone()));
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
        assert_ne!(Key::of_project(Some(folder.path())), Ok(key));
    }
}
