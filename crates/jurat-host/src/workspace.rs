//! Workspaces: a fresh copy of a template for each run, a look at everything in it before and after, and what is stored of it.
//!
//! What stands in a workspace after a run was written by an agent, so nothing here follows a link out of it, opens anything but plain files, or goes deeper and
//! reads more than it should.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use jurat_core::agent::{FileKind, Followed, Walked, WalkedFile, Workspace, followed, plain_relative_path};
use jurat_core::check::MOST_TEXT;
use ring::digest::{Context, SHA256};

/// How many files and directories are looked at.
const MOST_FILES: usize = 100_000;

const DEEPEST: usize = 64;

/// How many bytes are hashed for one look: a few seconds of work. Versions of files beyond that are compared by size and time.
const MOST_HASHED: u64 = 2 << 30;

/// Files that are larger than this and for the most part holes cost nothing to make, and are not hashed.
const LARGEST_HOLE: u64 = 64 << 20;

/// How many bytes of text are stored of what a run made.
const MOST_NEW_TEXT: u64 = 16 << 20;

/// How many of what was there before.
const MOST_OLD_TEXT: u64 = 2 << 20;

/// Directories that hold what can be made again, or what a version control needs: they are copied from templates, and not looked at.
const PASSED_OVER: [&str; 3] = [".git", "__pycache__", "node_modules"];

fn is_passed_over(name: &str) -> bool {
    PASSED_OVER.contains(&name) || name.starts_with(".venv")
}

/// Copies a template. Links are copied as links when they stay in the template, and refused when they lead out of it.
pub fn copy_template(template: &Path, workspace: &Path) -> io::Result<()> {
    let root = fs::canonicalize(template)?;
    if !root.is_dir() {
        return Err(io::Error::new(io::ErrorKind::NotADirectory, "a template is a directory"));
    }
    copy_below(&root, &root, workspace, 0)
}

fn copy_below(root: &Path, from: &Path, to: &Path, depth: usize) -> io::Result<()> {
    if depth > DEEPEST {
        return Err(io::Error::other(format!("`{}` is too deep for a template", from.display())));
    }
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (path, name) = (entry.path(), entry.file_name());
        let kind = entry.file_type()?;
        let target = to.join(&name);
        if kind.is_symlink() {
            copy_link(root, &path, &target)?;
        } else if kind.is_dir() {
            copy_below(root, &path, &target, depth + 1)?;
        } else if kind.is_file() {
            fs::copy(&path, &target)?;
        } else {
            let message =
                format!("`{}` is neither a file nor a directory; a template has nothing else", path.display());
            return Err(io::Error::other(message));
        }
    }
    Ok(())
}

#[cfg(unix)]
fn copy_link(root: &Path, link: &Path, to: &Path) -> io::Result<()> {
    let leads = fs::read_link(link)?;
    let stays = leads.is_relative() && fs::canonicalize(link).is_ok_and(|it| it.starts_with(root));
    if !stays {
        let message = format!("the link `{}` leads out of the template", link.display());
        return Err(io::Error::other(message));
    }
    std::os::unix::fs::symlink(leads, to)
}

#[cfg(not(unix))]
fn copy_link(_: &Path, link: &Path, _: &Path) -> io::Result<()> {
    Err(io::Error::other(format!("the link `{}` cannot be copied here", link.display())))
}

/// Looks at everything in a directory.
pub fn walk(directory: &Path) -> io::Result<Walked> {
    let mut walk = Walk { walked: Walked::default(), hashed: 0 };
    walk.below(directory, "", 0)?;
    Ok(walk.walked)
}

struct Walk {
    walked: Walked,
    hashed: u64,
}

impl Walk {
    fn below(&mut self, directory: &Path, prefix: &str, depth: usize) -> io::Result<()> {
        if depth > DEEPEST {
            self.walked.is_cut = true;
            return Ok(());
        }
        let entries = match fs::read_dir(directory) {
            Ok(entries) => entries,
            Err(error) if depth == 0 => return Err(error),
            // A directory that cannot be read is not looked into.
            Err(_) => {
                self.walked.is_cut = true;
                return Ok(());
            }
        };
        for entry in entries {
            let Ok(entry) = entry else { continue };
            let name = entry.file_name().to_string_lossy().into_owned();
            if self.walked.files.len() >= MOST_FILES {
                self.walked.is_cut = true;
                return Ok(());
            }
            if is_passed_over(&name) {
                continue;
            }
            let path = if prefix.is_empty() { name } else { format!("{prefix}/{name}") };
            let Ok(metadata) = fs::symlink_metadata(entry.path()) else { continue };
            let file = self.file(&entry.path(), &metadata);
            let is_directory = file.kind == FileKind::Directory;
            self.walked.files.insert(path.clone(), file);
            if is_directory {
                self.below(&entry.path(), &path, depth + 1)?;
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &Path, metadata: &fs::Metadata) -> WalkedFile {
        let kind = match metadata.file_type() {
            it if it.is_symlink() => FileKind::Link,
            it if it.is_dir() => FileKind::Directory,
            it if it.is_file() => FileKind::File,
            _ => FileKind::Other,
        };
        let is_file = kind == FileKind::File;
        let hash = if is_file { self.hash(path, metadata) } else { None };
        let is_hashed = hash.is_some();
        let digest = hash.unwrap_or_else(|| match kind {
            FileKind::File => version(metadata),
            FileKind::Link => fs::read_link(path).map(|it| it.to_string_lossy().into_owned()).unwrap_or_default(),
            FileKind::Directory | FileKind::Other => String::new(),
        });
        let size = if is_file { metadata.len() } else { 0 };
        WalkedFile { kind, size, is_executable: is_file && is_executable(metadata), digest, is_hashed }
    }

    /// The hash of a file, when it may be had for the price.
    fn hash(&mut self, path: &Path, metadata: &fs::Metadata) -> Option<String> {
        let size = metadata.len();
        if self.hashed.saturating_add(size) > MOST_HASHED || is_hollow(metadata) {
            return None;
        }
        self.hashed += size;
        sha256(path).ok()
    }
}

/// What distinguishes versions of a file that is not hashed.
fn version(metadata: &fs::Metadata) -> String {
    let modified = metadata.modified().ok().and_then(|it| it.duration_since(SystemTime::UNIX_EPOCH).ok());
    format!("{} bytes of {}", metadata.len(), modified.unwrap_or_default().as_nanos())
}

/// Whether a large file takes much less room than it has bytes.
#[cfg(unix)]
fn is_hollow(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    metadata.len() > LARGEST_HOLE && metadata.blocks().saturating_mul(512) < metadata.len() / 2
}

#[cfg(not(unix))]
fn is_hollow(_: &fs::Metadata) -> bool {
    false
}

#[cfg(unix)]
fn is_executable(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    metadata.permissions().mode() & 0o100 != 0
}

#[cfg(not(unix))]
fn is_executable(_: &fs::Metadata) -> bool {
    false
}

/// The SHA-256 of a file, in hexadecimal digits.
pub fn sha256(path: &Path) -> io::Result<String> {
    let mut file = open_plain(path)?;
    let mut context = Context::new(&SHA256);
    let mut buffer = vec![0; 64 << 10];
    loop {
        match file.read(&mut buffer)? {
            0 => break,
            n => context.update(&buffer[..n]),
        }
    }
    Ok(context.finish().as_ref().iter().map(|it| format!("{it:02x}")).collect())
}

/// Opens a file that is one: no link, no pipe that would block the reader.
fn open_plain(path: &Path) -> io::Result<File> {
    let not_plain = || io::Error::other("it is no plain file");
    if !fs::symlink_metadata(path)?.is_file() {
        return Err(not_plain());
    }
    let file = open_without_following(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(not_plain()) }
}

#[cfg(unix)]
fn open_without_following(path: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags, open};
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(File::from(open(path, flags, Mode::empty())?))
}

#[cfg(not(unix))]
fn open_without_following(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// Compares two looks at a workspace, and reads the texts that are stored of it.
pub fn compare(workspace: &Path, before: &Walked, after: Walked) -> Workspace {
    let mut compared = Workspace::between(before, after);
    let new: BTreeSet<&str> = compared.added.iter().chain(&compared.changed).map(String::as_str).collect();
    let (mut new_text, mut old_text) = (0_u64, 0_u64);
    let mut texts = BTreeMap::new();
    for path in compared.worth_reading() {
        let is_new = new.contains(path);
        let (read, most) = if is_new { (&mut new_text, MOST_NEW_TEXT) } else { (&mut old_text, MOST_OLD_TEXT) };
        if *read >= most {
            continue;
        }
        if let Ok(Some((text, is_cut))) = text(&workspace.join(path)) {
            *read += text.len() as u64;
            texts.insert(path.to_owned(), (text, is_cut));
        }
    }
    compared.texts = texts;
    compared
}

/// The text of a file as far as it is stored, and whether there is more; `None` when it is not text.
fn text(path: &Path) -> io::Result<Option<(String, bool)>> {
    let mut bytes = Vec::new();
    open_plain(path)?.take(MOST_TEXT + 1).read_to_end(&mut bytes)?;
    let is_cut = bytes.len() as u64 > MOST_TEXT;
    bytes.truncate(MOST_TEXT as usize);
    let valid = match std::str::from_utf8(&bytes) {
        Ok(text) => text.len(),
        Err(error) if is_cut && error.error_len().is_none() => error.valid_up_to(),
        Err(_) => return Ok(None),
    };
    bytes.truncate(valid);
    Ok(String::from_utf8(bytes).ok().map(|it| (it, is_cut)))
}

/// A key output that was stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredFile {
    /// Where it is now, relative to where it is stored.
    pub path: PathBuf,
    pub size: u64,
    /// Its SHA-256.
    pub sha256: String,
}

/// A folder that programs worked in.
#[derive(Debug, Clone, Copy)]
pub struct Root<'r> {
    /// Where it is on the machine.
    pub folder: &'r Path,
    /// What the programs called it.
    pub seen: &'r str,
}

/// Copies a file of a workspace to where it is stored, or returns why not. Links are followed within the workspace, and never out of it.
pub fn keep(root: Root<'_>, path: &str, into: &Path, most: u64) -> Result<StoredFile, String> {
    let (relative, at) = below(root, path)?;
    let file = open_plain(&at).map_err(|error| error.to_string())?;
    let size = file.metadata().map_err(|error| error.to_string())?.len();
    if size > most {
        return Err(format!("it has {size} bytes, and at most {most} are stored"));
    }
    let target = into.join(&relative);
    let copied = (|| {
        fs::create_dir_all(target.parent().unwrap_or(into))?;
        io::copy(&mut file.take(most), &mut File::create(&target)?)?;
        sha256(&target)
    })();
    let sha256 = copied.map_err(|error| format!("it cannot be stored: {error}"))?;
    Ok(StoredFile { path: PathBuf::from(relative), size, sha256 })
}

/// The names in a folder of a workspace, in order; none when it is not there, or a link leads out of the workspace.
pub fn names(root: Root<'_>, path: &str) -> Vec<String> {
    let Ok((_, at)) = below(root, path) else { return Vec::new() };
    let entries = fs::read_dir(at).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.filter_map(|it| it.file_name().into_string().ok()).collect();
    names.sort_unstable();
    names
}

/// Where a path below a folder is, as it is written and on the machine; or why it is not looked at.
fn below(root: Root<'_>, path: &str) -> Result<(String, PathBuf), String> {
    let relative = plain_relative_path(path).ok_or("it would leave the workspace")?;
    let target = |path: &str| fs::read_link(root.folder.join(path)).ok().map(|it| it.to_string_lossy().into_owned());
    let at = match followed(&relative, root.seen, target) {
        Followed::Inside(at) => root.folder.join(at),
        Followed::Outside => {
            return Err("a link in its path leads out of the workspace, where it is not followed".to_owned());
        }
        Followed::Nowhere => return Err("the links in its path form a cycle".to_owned()),
    };
    match fs::symlink_metadata(&at) {
        Ok(_) => Ok((relative, at)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err("it is not there".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}
