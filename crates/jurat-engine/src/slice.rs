//! Groups of cases that a summary counts by themselves, and the names under which run files have them.

use std::fmt;

use jurat_format::value::{Val, parse_json};

/// A group of cases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Slice {
    /// The cases with one value at a path of `group_by`; `None` for those that have none.
    Group { path: String, value: Option<String> },
    /// The cases that one subject was asked with one prompt.
    Subject { prompt: String, subject: String },
}

impl Slice {
    /// Reads the name of a slice.
    pub(crate) fn parse(name: &str) -> Option<Slice> {
        let name = parse_json(name).ok()?.value;
        let text = |it: &Val<'_>| it.as_str().map(str::to_owned);
        match name.as_list()? {
            [kind, path, value] if kind.as_str() == Some("group") => {
                Some(Slice::Group { path: text(path)?, value: text(value) })
            }
            [kind, prompt, subject] if kind.as_str() == Some("subject") => {
                Some(Slice::Subject { prompt: text(prompt)?, subject: text(subject)? })
            }
            _ => None,
        }
    }
}

impl fmt::Display for Slice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: [Val<'_>; 3] = match self {
            Slice::Group { path, value } => {
                ["group".into(), path.as_str().into(), value.as_deref().map_or(Val::Null, Val::from)]
            }
            Slice::Subject { prompt, subject } => ["subject".into(), prompt.as_str().into(), subject.as_str().into()],
        };
        f.write_str(&Val::List(parts.into()).to_json())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_reads_back() {
        let group = |value: Option<&str>| Slice::Group { path: "a.b".to_owned(), value: value.map(str::to_owned) };
        let subject = Slice::Subject { prompt: "\"short\"".to_owned(), subject: "openai/x".to_owned() };
        for slice in [group(Some("x\n")), group(Some("")), group(None), subject] {
            assert_eq!(Slice::parse(&slice.to_string()), Some(slice));
        }
        assert_eq!(Slice::parse("[\"else\",1,2]"), None);
    }
}
