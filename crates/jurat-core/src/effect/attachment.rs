//! Files that are sent with a request: which are needed, and what was found of them.
//!
//! Reading them is an effect of its own. Its outcome has what each file is, and the digest of its bytes; the bytes go with it to the store, once.

use jurat_format::choices;
use jurat_format::value::{Val, Value};

use super::{Media, MediaDigest, MediaKind};

/// A file that a request needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRef {
    pub kind: MediaKind,
    pub path: String,
    pub base: FileBase,
}

choices! {
    /// Where the path of a file begins.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum FileBase {
        /// In the directory of the rows.
        Rows = "rows",
        /// In the directory of the definition.
        Definition = "definition",
    }
}

/// What is known of files: what each is, or why it cannot be sent.
pub type FoundFiles = [(FileRef, Result<Media, String>)];

/// A path without its folders.
pub fn file_name(path: &str) -> String {
    path.rsplit(['/', '\\']).next().unwrap_or(path).to_owned()
}

impl FileRef {
    pub fn to_value(&self) -> Value {
        let members = [
            ("kind", Val::from(self.kind.name())),
            ("path", Val::from(self.path.clone())),
            ("base", Val::from(self.base.name())),
        ];
        Val::Map(members.into_iter().collect())
    }

    pub fn from_value(value: &Val<'_>) -> Option<FileRef> {
        let text = |key: &str| value.get(key).and_then(Val::as_str);
        let (kind, base) = (MediaKind::named(text("kind")?)?, FileBase::named(text("base")?)?);
        Some(FileRef { kind, path: text("path")?.to_owned(), base })
    }
}

/// What was found of a file, as it is stored: what it is, or why it cannot be sent.
pub fn found_to_value(found: &Result<Media, String>) -> Value {
    let members: Vec<(&str, Val<'static>)> = match found {
        Ok(media) => vec![
            ("media_type", Val::from(media.media_type.clone())),
            ("digest", Val::from(media.digest.to_string())),
            ("bytes", Val::from(media.n_bytes)),
        ],
        Err(reason) => vec![("error", Val::from(reason.clone()))],
    };
    Val::Map(members.into_iter().collect())
}

/// What was found of files, as it was stored.
pub fn files_found(files: &[FileRef], found: &Val<'_>) -> Option<Vec<(FileRef, Result<Media, String>)>> {
    let found = found.as_list()?;
    files.iter().zip(found).map(|(file, found)| Some((file.clone(), of_found(file, found)?))).collect()
}

fn of_found(file: &FileRef, found: &Val<'_>) -> Option<Result<Media, String>> {
    if let Some(reason) = found.get("error").and_then(Val::as_str) {
        return Some(Err(reason.to_owned()));
    }
    let media_type = found.get("media_type").and_then(Val::as_str)?;
    let digest = MediaDigest::parse(found.get("digest").and_then(Val::as_str)?)?;
    let n_bytes = match found.get("bytes") {
        Some(Val::I(number)) => u64::try_from(*number).ok()?,
        _ => return None,
    };
    Some(Ok(Media::stored(file.kind, media_type, digest, n_bytes, Some(file_name(&file.path)))))
}
