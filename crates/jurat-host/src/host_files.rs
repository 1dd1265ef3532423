//! Looking at files for checks: what is at a path, links followed, and never further than a run's own directory where the path
//! comes from the run.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use jurat_core::check::{Base, Files, Look, MOST_SEARCHED, Seen, SeenFile, Wants};

/// Looks at files on this machine.
///
/// ```
/// use jurat_core::check::{Base, Files, Look, Seen, Wants};
/// use jurat_host::HostFiles;
///
/// let host_files = HostFiles { definition: ".".into(), run: ".".into() };
/// let look = Look { path: "no/such/file".to_owned(), base: Base::Definition, wants: Wants::Kind };
/// assert_eq!(host_files.look(&look), Seen::Nothing);
/// ```
#[derive(Debug, Clone)]
pub struct HostFiles {
    /// The directory of the definition.
    pub definition: PathBuf,
    /// The directory of the run, which paths of the run may not lead out of.
    pub run: PathBuf,
}

/// More links than this are a circle.
const MOST_LINKS: usize = 40;

impl Files for HostFiles {
    fn look(&self, look: &Look) -> Seen {
        let base = match look.base {
            Base::Definition => &self.definition,
            Base::Run => &self.run,
        };
        // The directory of a file that is named alone has no name.
        let base = if base.as_os_str().is_empty() { Path::new(".") } else { base.as_path() };
        let path = match resolved(&base.join(&look.path)) {
            Ok(Some(path)) => path,
            Ok(None) => return Seen::Nothing,
            Err(error) => return hidden(&error),
        };
        if look.base == Base::Run && !resolved(base).ok().flatten().is_some_and(|run| path.starts_with(run)) {
            return Seen::Outside;
        }
        match fs::metadata(&path) {
            Ok(it) if it.is_file() => Seen::File(Box::new(file(&path, it.len(), &look.wants))),
            Ok(it) if it.is_dir() => Seen::Directory,
            Ok(_) => Seen::Other,
            Err(error) => hidden(&error),
        }
    }
}

/// A path that cannot exist does not; for any other error the answer is unknown.
fn hidden(error: &io::Error) -> Seen {
    match error.kind() {
        io::ErrorKind::NotFound
        | io::ErrorKind::NotADirectory
        | io::ErrorKind::InvalidInput
        | io::ErrorKind::InvalidFilename => Seen::Nothing,
        _ => Seen::Hidden(error.to_string()),
    }
}

/// The path with links followed and `..` gone. What is not there is taken as it stands, so `missing/../a` is `a`. `None` for links that lead in a circle.
fn resolved(path: &Path) -> io::Result<Option<PathBuf>> {
    let path = std::path::absolute(path)?;
    let mut left: VecDeque<Part> = parts(&path).collect();
    let mut resolved = PathBuf::new();
    let mut n_links = 0;
    while let Some(part) = left.pop_front() {
        match part {
            Part::Root(root) => resolved = PathBuf::from(root),
            Part::Up => drop(resolved.pop()),
            Part::Name(name) => {
                resolved.push(name);
                // What cannot be examined counts as no link; opening it reports why.
                if fs::symlink_metadata(&resolved).is_ok_and(|it| it.is_symlink()) {
                    n_links += 1;
                    if n_links > MOST_LINKS {
                        return Ok(None);
                    }
                    let target = fs::read_link(&resolved)?;
                    resolved.pop();
                    for part in parts(&target).collect::<Vec<_>>().into_iter().rev() {
                        left.push_front(part);
                    }
                }
            }
        }
    }
    Ok(Some(resolved))
}

enum Part {
    Root(OsString),
    Up,
    Name(OsString),
}

fn parts(path: &Path) -> impl Iterator<Item = Part> {
    path.components().filter_map(|it| match it {
        Component::RootDir | Component::Prefix(_) => Some(Part::Root(it.as_os_str().to_owned())),
        Component::ParentDir => Some(Part::Up),
        Component::Normal(name) => Some(Part::Name(name.to_owned())),
        Component::CurDir => None,
    })
}

fn file(path: &Path, size: u64, wants: &Wants) -> SeenFile {
    let shown = path.to_string_lossy().into_owned();
    let Some(most) = wants.most_bytes() else { return SeenFile { path: shown, size, ..SeenFile::default() } };
    if matches!(wants, Wants::Search(_)) && size > MOST_SEARCHED {
        return SeenFile::of_bytes(shown, size, &[], wants);
    }
    let mut bytes = Vec::new();
    match fs::File::open(path).and_then(|it| it.take(most).read_to_end(&mut bytes)) {
        // A file that grew while it was read is as large as what was read of it.
        Ok(_) => SeenFile::of_bytes(shown, size.max(bytes.len() as u64), &bytes, wants),
        Err(error) => SeenFile { path: shown, size, unread: Some(error.to_string()), ..SeenFile::default() },
    }
}
