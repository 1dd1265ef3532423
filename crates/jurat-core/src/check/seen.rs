//! Looking at files: what a check wants to know of one, and what was seen there.
//!
//! The core never opens anything. A check says what it would look at ([`Look`]), the engine looks ([`Files`]), and what was seen ([`Seen`])
//! decides. What was seen is stored with the run, so judging again later looks at no disk.

use jurat_format::value::{Map, Val, Value};

/// The most bytes of a file that a check reads and a run stores.
pub const MOST_TEXT: u64 = 512_000;

/// A file that is searched is read whole; one that is larger than this is not.
pub const MOST_SEARCHED: u64 = 256 << 20;

/// What a check wants to know of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Look {
    /// The path, as it was written.
    pub path: String,
    /// What it is relative to.
    pub base: Base,
    /// What is wanted of a file.
    pub wants: Wants,
}

/// What a path is relative to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Base {
    /// The directory of the definition. The author wrote the path, so it may lead anywhere.
    Definition,
    /// The directory of the run. The path comes from the run, so it may not lead out of it, by links neither.
    Run,
}

/// What is wanted of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wants {
    /// What kind of thing it is.
    Kind,
    /// Its text, or the beginning of it.
    Text(u64),
    /// Whether this stands in it, however large it is; and the beginning of its text.
    Search(String),
}

/// What was seen at a path.
#[derive(Debug, Clone, PartialEq)]
pub enum Seen {
    Nothing,
    File(Box<SeenFile>),
    Directory,
    /// Something else: a device, a socket.
    Other,
    /// The path comes from a run and leads out of its directory. It was not looked at.
    Outside,
    /// It could not be looked at, for this reason.
    Hidden(String),
}

/// What was seen of a file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SeenFile {
    /// Where it really is, links followed.
    pub path: String,
    pub size: u64,
    /// The BLAKE3 of what was read of it, when it was read.
    pub hash: Option<String>,
    /// Its text, when it was wanted and is text.
    pub text: Option<String>,
    /// Whether there is more than the text that was recorded.
    pub is_cut: bool,
    /// Whether what was searched for stands in it, when it was searched.
    pub found: Option<bool>,
    /// Why it could not be read, though it is a file.
    pub unread: Option<String>,
}

/// Those who can look.
pub trait Files {
    /// What is at a path.
    fn look(&self, look: &Look) -> Seen;
}

impl Wants {
    /// How many bytes are to be read; `None` when the content does not matter.
    pub fn most_bytes(&self) -> Option<u64> {
        match self {
            Wants::Kind => None,
            Wants::Text(most) => Some(*most),
            Wants::Search(_) => Some(MOST_SEARCHED),
        }
    }
}

impl SeenFile {
    /// A file of which the first [`Wants::most_bytes`] bytes.
    pub fn of_bytes(path: String, size: u64, bytes: &[u8], wants: &Wants) -> SeenFile {
        let mut seen = SeenFile { path, size, ..SeenFile::default() };
        seen.hash = Some(blake3::hash(bytes).to_hex().to_string());
        match wants {
            Wants::Kind => {}
            Wants::Text(_) => {
                seen.is_cut = size > bytes.len() as u64;
                match text_of(bytes, seen.is_cut) {
                    Some(text) => seen.text = Some(text.to_owned()),
                    None => seen.unread = Some(NOT_TEXT.to_owned()),
                }
            }
            Wants::Search(_) if size > MOST_SEARCHED => {
                seen.unread = Some(format!("it has {size} bytes; files of up to {MOST_SEARCHED} are searched"));
            }
            Wants::Search(searched) => match std::str::from_utf8(bytes) {
                Ok(text) => {
                    seen.found = Some(contains(text, searched));
                    seen.is_cut = bytes.len() as u64 > MOST_TEXT;
                    let start = bytes.get(..MOST_TEXT as usize).unwrap_or(bytes);
                    seen.text = text_of(start, seen.is_cut).map(str::to_owned);
                }
                Err(_) => seen.unread = Some(NOT_TEXT.to_owned()),
            },
        }
        seen
    }
}

const NOT_TEXT: &str = "it is not UTF-8 text";

/// The text of bytes; a character that the end cuts through is left out.
fn text_of(bytes: &[u8], is_cut: bool) -> Option<&str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Some(text),
        Err(error) if is_cut && error.error_len().is_none() => std::str::from_utf8(&bytes[..error.valid_up_to()]).ok(),
        Err(_) => None,
    }
}

/// Whether a text stands in another as it is, or once lines end as they do elsewhere.
fn contains(text: &str, searched: &str) -> bool {
    let finder = memchr::memmem::Finder::new(searched);
    finder.find(text.as_bytes()).is_some()
        || (text.contains('\r') && finder.find(text.replace("\r\n", "\n").replace('\r', "\n").as_bytes()).is_some())
}

impl Look {
    /// The look as it is stored.
    pub fn to_value(&self) -> Value {
        let base = match self.base {
            Base::Definition => "definition",
            Base::Run => "run",
        };
        let mut map: Map<'static> =
            [("path", Val::from(self.path.clone())), ("base", Val::from(base))].into_iter().collect();
        match &self.wants {
            Wants::Kind => {}
            Wants::Text(most) => {
                map.insert("most_bytes".into(), Val::from(*most));
            }
            Wants::Search(text) => {
                map.insert("search".into(), Val::from(text.clone()));
            }
        }
        Val::Map(map)
    }

    pub fn from_value(value: &Val<'_>) -> Option<Look> {
        let base = match value.get("base")?.as_str()? {
            "definition" => Base::Definition,
            "run" => Base::Run,
            _ => return None,
        };
        let wants = match (value.get("most_bytes"), value.get("search")) {
            (Some(Val::I(most)), _) => Wants::Text(u64::try_from(*most).ok()?),
            (_, Some(Val::Str(text))) => Wants::Search(text.clone().into_owned()),
            _ => Wants::Kind,
        };
        Some(Look { path: value.get("path")?.as_str()?.to_owned(), base, wants })
    }
}

impl Seen {
    /// What was seen, as it is stored.
    pub fn to_value(&self) -> Value {
        let mut map = Map::default();
        let mut put = |key: &'static str, value: Value| {
            map.insert(key.into(), value);
        };
        match self {
            Seen::Nothing => put("kind", Val::from("nothing")),
            Seen::Directory => put("kind", Val::from("directory")),
            Seen::Other => put("kind", Val::from("other")),
            Seen::Outside => put("kind", Val::from("outside")),
            Seen::Hidden(reason) => {
                put("kind", Val::from("hidden"));
                put("reason", Val::from(reason.clone()));
            }
            Seen::File(file) => {
                put("kind", Val::from("file"));
                put("path", Val::from(file.path.clone()));
                put("size", Val::from(file.size));
                let texts = [("hash", &file.hash), ("text", &file.text), ("unread", &file.unread)];
                for (key, text) in texts {
                    if let Some(text) = text {
                        put(key, Val::from(text.clone()));
                    }
                }
                if file.is_cut {
                    put("is_cut", Val::Bool(true));
                }
                if let Some(found) = file.found {
                    put("found", Val::Bool(found));
                }
            }
        }
        Val::Map(map)
    }

    pub fn from_value(value: &Val<'_>) -> Option<Seen> {
        let text = |key: &str| value.get(key).and_then(Val::as_str).map(str::to_owned);
        Some(match value.get("kind")?.as_str()? {
            "nothing" => Seen::Nothing,
            "directory" => Seen::Directory,
            "other" => Seen::Other,
            "outside" => Seen::Outside,
            "hidden" => Seen::Hidden(text("reason").unwrap_or_default()),
            "file" => Seen::File(Box::new(SeenFile {
                path: text("path")?,
                size: match value.get("size")? {
                    Val::I(size) => u64::try_from(*size).ok()?,
                    Val::U(size) => *size,
                    _ => return None,
                },
                hash: text("hash"),
                text: text("text"),
                is_cut: value.get("is_cut") == Some(&Val::Bool(true)),
                found: match value.get("found") {
                    Some(Val::Bool(found)) => Some(*found),
                    _ => None,
                },
                unread: text("unread"),
            })),
            _ => return None,
        })
    }

    /// The file, when it is one.
    pub fn file(&self) -> Option<&SeenFile> {
        match self {
            Seen::File(file) => Some(file),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(bytes: &[u8], size: u64, wants: Wants) -> SeenFile {
        SeenFile::of_bytes("/f".to_owned(), size, bytes, &wants)
    }

    #[test]
    fn a_cut_through_a_character_loses_that_character_alone() {
        let cut = seen("abcé".as_bytes().get(..4).expect("five bytes"), 5, Wants::Text(4));
        assert_eq!((cut.text.as_deref(), cut.is_cut), (Some("abc"), true));
        let broken = seen(b"ab\xff", 3, Wants::Text(4));
        assert_eq!((broken.text, broken.unread.as_deref()), (None, Some("it is not UTF-8 text")));
    }

    #[test]
    fn lines_end_either_way() {
        let search = |text: &str, searched: &str| {
            seen(text.as_bytes(), text.len() as u64, Wants::Search(searched.to_owned())).found
        };
        assert_eq!(search("one\r\ntwo", "one\ntwo"), Some(true));
        assert_eq!(search("one\rtwo", "one\ntwo"), Some(true));
        assert_eq!(search("one\r\ntwo", "one\r\ntwo"), Some(true));
        assert_eq!(search("one\ntwo", "one\r\ntwo"), Some(false));
        assert_eq!(search("", ""), Some(true));
    }

    #[test]
    fn what_is_stored_reads_back() {
        let file = seen("text".as_bytes(), 4, Wants::Search("ex".to_owned()));
        for seen in [
            Seen::Nothing,
            Seen::Directory,
            Seen::Other,
            Seen::Outside,
            Seen::Hidden("no".to_owned()),
            Seen::File(Box::new(file)),
        ] {
            assert_eq!(Seen::from_value(&seen.to_value()), Some(seen));
        }
        for wants in [Wants::Kind, Wants::Text(9), Wants::Search("x".to_owned())] {
            for base in [Base::Definition, Base::Run] {
                let look = Look { path: "a".to_owned(), base, wants: wants.clone() };
                assert_eq!(Look::from_value(&look.to_value()), Some(look));
            }
        }
    }
}
