//! Files that are sent with requests: read for a case, named by their digest, and given to the request that sends them.

use std::cell::RefCell;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jurat_core::effect::{
    Action, FileBase, FileRef, MOST_BYTES, Media, MediaDigest, Outcome, Request, Returned, file_name, found_to_value,
};
use jurat_format::value::{Val, Value};
use jurat_store::run::RunLog;

/// Where the files of a case are, and what was read of them.
#[derive(Debug)]
pub struct Attachments<'a> {
    /// The directory of its row.
    pub rows: PathBuf,
    /// The directory of the definition.
    pub definition: PathBuf,
    pub(crate) read: &'a ReadMedia,
}

/// The bytes that were read for a case, as long as it is open.
#[derive(Debug, Default)]
pub(crate) struct ReadMedia(RefCell<Vec<Arc<[u8]>>>);

impl ReadMedia {
    fn add(&self, media: &Media) {
        self.0.borrow_mut().extend(media.bytes().cloned());
    }

    fn find(&self, digest: MediaDigest) -> Option<Arc<[u8]>> {
        self.0.borrow().iter().find(|it| MediaDigest::of(it) == digest).cloned()
    }

    /// A request with the bytes of what it names. Those of a run that is resumed are in its log.
    pub(crate) fn filled(&self, request: &Request, log: Option<&RunLog>) -> Option<Request> {
        let Request::Model(asked) = request else { return None };
        let bytes = |digest| self.find(digest).or_else(|| log?.media(&digest).ok()?.map(Arc::from));
        let filled = asked.messages.with_media(|it| match it.bytes() {
            Some(_) => None,
            None => it.with_bytes(bytes(it.digest)?),
        })?;
        let mut asked = asked.clone();
        asked.messages = filled;
        Some(Request::Model(asked))
    }

    /// The bytes that belong to a request and its outcome, to be stored with them.
    pub(crate) fn stored_with(&self, request: &Request, outcome: &Outcome) -> Vec<(MediaDigest, Arc<[u8]>)> {
        match (request, outcome) {
            (Request::Model(asked), _) => {
                asked.messages.media().filter_map(|it| Some((it.digest, it.bytes()?.clone()))).collect()
            }
            (Request::Action(action), Outcome::Returned(returned)) => match &**action {
                Action::Attach { .. } => digests(&returned.value).filter_map(|it| Some((it, self.find(it)?))).collect(),
                _ => returned.media.iter().filter_map(|it| Some((it.digest, it.bytes()?.clone()))).collect(),
            },
            (Request::Action(_), _) => Vec::new(),
        }
    }
}

fn digests(found: &Value) -> impl Iterator<Item = MediaDigest> {
    let found = found.as_list().unwrap_or(&[]);
    found.iter().filter_map(|it| MediaDigest::parse(it.get("digest").and_then(Val::as_str)?))
}

/// Reads files, and says of each what it is or why it cannot be sent.
pub(crate) fn attached(files: &[FileRef], to: &Attachments<'_>) -> Outcome {
    let started = std::time::Instant::now();
    let value = files.iter().map(|file| {
        let media = media_of(file, to);
        media.iter().for_each(|it| to.read.add(it));
        found_to_value(&media)
    });
    let value = value.collect();
    Outcome::Returned(Box::new(Returned::new(value, false, started.elapsed(), crate::now_ms())))
}

fn media_of(file: &FileRef, to: &Attachments<'_>) -> Result<Media, String> {
    let folder = match file.base {
        FileBase::Rows => &to.rows,
        FileBase::Definition => &to.definition,
    };
    let bytes = bytes_of(&folder.join(&file.path)).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => format!("there is no file `{}` in `{}`", file.path, shown(folder)),
        _ => error.to_string(),
    })?;
    Media::of(file.kind, bytes, Some(file_name(&file.path))).map_err(|error| error.to_string())
}

fn shown(folder: &Path) -> String {
    if folder.as_os_str().is_empty() { ".".to_owned() } else { folder.display().to_string() }
}

/// The bytes of a regular file: a pipe or a device might never end.
fn bytes_of(path: &Path) -> std::io::Result<Vec<u8>> {
    let metadata = std::fs::metadata(path)?;
    if !metadata.is_file() {
        return Err(std::io::Error::other("it is no regular file"));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
