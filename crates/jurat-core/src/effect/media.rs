//! What a message has beside words: images, audio and PDF documents.
//!
//! They are named by the digest of their bytes. Requests are stored with the digest alone, so that a picture which a thousand rows share, or which several judges
//! look at, is stored once; the bytes themselves are needed only where a request is sent. What something is, is read from its first bytes, never from
//! the name of a file: a text file must not be sent to a provider because a row calls it a picture.

use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jurat_format::choices;

choices! {
    /// What a part of a message is, beside text.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum MediaKind {
        Image = "image",
        Audio = "audio",
        Pdf = "pdf",
    }
}

impl MediaKind {
    /// With its article.
    pub fn words(self) -> &'static str {
        match self {
            MediaKind::Image => "an image",
            MediaKind::Audio => "audio",
            MediaKind::Pdf => "a PDF",
        }
    }
}

/// The name of bytes by their content: BLAKE3.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MediaDigest(pub [u8; 32]);

impl MediaDigest {
    pub fn of(bytes: &[u8]) -> MediaDigest {
        MediaDigest(*blake3::hash(bytes).as_bytes())
    }

    /// The digest that 64 hexadecimal digits write.
    pub fn parse(text: &str) -> Option<MediaDigest> {
        blake3::Hash::from_hex(text).ok().map(|it| MediaDigest(*it.as_bytes()))
    }
}

impl fmt::Display for MediaDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for MediaDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MediaDigest({self})")
    }
}

/// An image, audio or a PDF document.
#[derive(Clone)]
pub struct Media {
    pub kind: MediaKind,
    /// `image/png`
    pub media_type: String,
    pub digest: MediaDigest,
    pub n_bytes: u64,
    /// What its file is called, without folders. Some providers show it to the model.
    pub name: Option<String>,
    /// The bytes, where they are at hand: what is read from a store has none.
    bytes: Option<Arc<[u8]>>,
}

/// Why bytes are not the media that they should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MediaError {
    /// They are of no kind that models take.
    #[error("its bytes are no image, audio or PDF")]
    Unknown,
    /// They are something else.
    #[error("it is {found}, not {}", .wanted.words())]
    Other { found: &'static str, wanted: MediaKind },
    #[error("it is empty")]
    Empty,
    #[error("it has {0} bytes, and at most {MOST_BYTES} are sent")]
    TooLarge(u64),
    #[error("it is not base64: {0}")]
    Base64(String),
}

/// The most bytes of one image, audio or document. Providers take less.
pub const MOST_BYTES: u64 = 64 << 20;

impl Media {
    /// Bytes that should be of a kind.
    pub fn of(wanted: MediaKind, bytes: impl Into<Arc<[u8]>>, name: Option<String>) -> Result<Media, MediaError> {
        let bytes = bytes.into();
        let n_bytes = bytes.len() as u64;
        if n_bytes > MOST_BYTES {
            return Err(MediaError::TooLarge(n_bytes));
        }
        let media_type = media_type(&bytes)?;
        match kind_of(media_type) {
            Some(kind) if kind == wanted => {}
            _ => return Err(MediaError::Other { found: media_type, wanted }),
        }
        let digest = MediaDigest::of(&bytes);
        Ok(Media { kind: wanted, media_type: media_type.to_owned(), digest, n_bytes, name, bytes: Some(bytes) })
    }

    /// Base64 that should be of a kind. White space in it is passed over.
    pub fn of_base64(wanted: MediaKind, text: &str, name: Option<String>) -> Result<Media, MediaError> {
        Media::of(wanted, decoded(text)?, name)
    }

    /// Base64 of whatever kind its bytes are.
    pub fn of_any_base64(text: &str, name: Option<String>) -> Result<Media, MediaError> {
        let bytes = decoded(text)?;
        let kind = kind_of(media_type(&bytes)?).ok_or(MediaError::Unknown)?;
        Media::of(kind, bytes, name)
    }

    /// Something whose bytes are elsewhere.
    pub fn stored(kind: MediaKind, media_type: &str, digest: MediaDigest, n_bytes: u64, name: Option<String>) -> Media {
        Media { kind, media_type: media_type.to_owned(), digest, n_bytes, name, bytes: None }
    }

    /// The same with its bytes; `None` when these are others.
    pub fn with_bytes(&self, bytes: Arc<[u8]>) -> Option<Media> {
        (MediaDigest::of(&bytes) == self.digest).then(|| Media { bytes: Some(bytes), ..self.clone() })
    }

    /// The bytes, where they are at hand.
    pub fn bytes(&self) -> Option<&Arc<[u8]>> {
        self.bytes.as_ref()
    }

    /// The bytes as base64, where they are at hand.
    pub fn base64(&self) -> Option<String> {
        self.bytes.as_ref().map(|it| STANDARD.encode(it))
    }

    /// `image/png, 1234 bytes, chart.png`
    pub fn summary(&self) -> String {
        let name = self.name.as_ref().map(|it| format!(", {it}")).unwrap_or_default();
        format!("{}, {} bytes{name}", self.media_type, self.n_bytes)
    }
}

/// What decides about the answer is the same: bytes may be at hand or not.
impl PartialEq for Media {
    fn eq(&self, other: &Media) -> bool {
        let decisive = |it: &Media| (it.kind, it.media_type.clone(), it.digest, it.name.clone());
        decisive(self) == decisive(other)
    }
}

impl fmt::Debug for Media {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Media({} {} {})", self.kind.name(), self.summary(), self.digest)
    }
}

fn decoded(text: &str) -> Result<Vec<u8>, MediaError> {
    let text: String = text.chars().filter(|it| !it.is_ascii_whitespace()).collect();
    STANDARD.decode(text).map_err(|error| MediaError::Base64(error.to_string()))
}

/// What bytes are, by how they begin.
fn media_type(bytes: &[u8]) -> Result<&'static str, MediaError> {
    if bytes.is_empty() {
        return Err(MediaError::Empty);
    }
    let found = infer::get(bytes).ok_or(MediaError::Unknown)?.mime_type();
    Ok(match found {
        "audio/x-wav" => "audio/wav",
        "audio/x-flac" => "audio/flac",
        other => other,
    })
}

fn kind_of(media_type: &str) -> Option<MediaKind> {
    match media_type {
        "application/pdf" => Some(MediaKind::Pdf),
        _ if media_type.starts_with("image/") => Some(MediaKind::Image),
        _ if media_type.starts_with("audio/") => Some(MediaKind::Audio),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PNG: &str =
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

    #[test]
    fn bytes_say_what_they_are() {
        let png = Media::of_base64(MediaKind::Image, PNG, None).unwrap();
        assert_eq!((png.media_type.as_str(), png.n_bytes), ("image/png", 70));
        let read = |wanted, bytes: &[u8]| Media::of(wanted, bytes, None).map(|it| it.media_type);
        assert_eq!(read(MediaKind::Pdf, b"%PDF-1.7\n").unwrap(), "application/pdf");
        assert_eq!(read(MediaKind::Audio, b"RIFF\x24\0\0\0WAVEfmt ").unwrap(), "audio/wav");
        assert_eq!(read(MediaKind::Audio, b"ID3\x04\0\0\0\0\0\0").unwrap(), "audio/mpeg");
    }

    #[test]
    fn what_is_something_else_is_refused() {
        let refused = |wanted, bytes: &[u8]| Media::of(wanted, bytes, None).unwrap_err().to_string();
        assert_eq!(refused(MediaKind::Image, b"root:x:0:0"), "its bytes are no image, audio or PDF");
        assert_eq!(refused(MediaKind::Image, b"%PDF-1.7\n"), "it is application/pdf, not an image");
        assert_eq!(refused(MediaKind::Pdf, b""), "it is empty");
        assert!(
            Media::of_base64(MediaKind::Image, "no!", None).unwrap_err().to_string().starts_with("it is not base64")
        );
    }

    #[test]
    fn base64_of_any_kind_is_what_its_bytes_are() {
        assert_eq!(Media::of_any_base64(PNG, None).unwrap().kind, MediaKind::Image);
        assert_eq!(Media::of_any_base64("JVBERi0xLjcK", None).unwrap().kind, MediaKind::Pdf);
        assert_eq!(Media::of_any_base64("UEsDBAoAAAAAAA==", None), Err(MediaError::Unknown));
        assert_eq!(Media::of_any_base64("", None), Err(MediaError::Empty));
    }

    #[test]
    fn bytes_belong_to_their_digest() {
        let png = Media::of_base64(MediaKind::Image, PNG, None).unwrap();
        let stored = Media::stored(png.kind, &png.media_type, png.digest, png.n_bytes, None);
        assert_eq!(stored, png);
        let bytes = png.bytes().unwrap().clone();
        assert_eq!(stored.with_bytes(bytes).and_then(|it| it.base64()).as_deref(), Some(PNG));
        assert_eq!(stored.with_bytes(Arc::from(&b"other"[..])), None);
    }
}
