//! XML, as far as it is written here: tags, attributes, and text that can be in them.

use std::fmt::Display;

use crate::visible::visible;

/// A tag and its attributes.
pub(crate) struct Tag {
    text: String,
}

impl Tag {
    pub(crate) fn new(name: &str) -> Tag {
        Tag { text: format!("<{name}") }
    }

    /// The same with an attribute.
    pub(crate) fn with(mut self, name: &str, value: impl Display) -> Tag {
        // As they are, a reader would take line feeds and tabs in an attribute for spaces.
        let value = escaped(&value.to_string()).replace('\n', "&#10;").replace('\t', "&#9;");
        self.text.push_str(&format!(" {name}=\"{value}\""));
        self
    }

    pub(crate) fn open(&self) -> String {
        format!("{}>", self.text)
    }

    pub(crate) fn empty(&self) -> String {
        format!("{}/>", self.text)
    }
}

/// The text as XML holds it. Characters that XML or a terminal cannot bear are made visible.
pub(crate) fn escaped(text: &str) -> String {
    let mut xml = String::with_capacity(text.len());
    for it in visible(text).chars() {
        match it {
            '&' => xml.push_str("&amp;"),
            '<' => xml.push_str("&lt;"),
            '>' => xml.push_str("&gt;"),
            '"' => xml.push_str("&quot;"),
            '\u{fffe}' | '\u{ffff}' => xml.push(char::REPLACEMENT_CHARACTER),
            it => xml.push(it),
        }
    }
    xml
}
