//! JSON written member by member, so that nothing is built only to be written.
//!
//! Texts are exact. What a terminal would obey is written as an escape, so that the text may be looked at. JSON has no infinities: a
//! number that is not finite is `null`, one inside of a value stands as text, as YAML writes it.

use std::fmt::Write;
use std::io;

use jurat_format::value::Val;

use crate::visible::is_hazard;

/// The members of an object that is being written.
pub(crate) struct Members<'t> {
    text: &'t mut String,
    is_first: bool,
}

/// Writes an object at the end of the text.
pub(crate) fn object(text: &mut String, write: impl FnOnce(&mut Members<'_>)) {
    open_object(text, write);
    text.push('}');
}

/// Writes an object as a line of its own.
pub(crate) fn write_line(out: &mut dyn io::Write, write: impl FnOnce(&mut Members<'_>)) -> io::Result<()> {
    let mut text = String::new();
    object(&mut text, write);
    writeln!(out, "{text}")
}

/// The same, left open for what follows.
pub(crate) fn open_object(text: &mut String, write: impl FnOnce(&mut Members<'_>)) {
    text.push('{');
    write(&mut Members { text, is_first: true });
}

/// Further members of an object that was left open.
pub(crate) fn more_members(text: &mut String, write: impl FnOnce(&mut Members<'_>)) {
    write(&mut Members { text, is_first: false });
}

/// Writes a list of objects at the end of the text.
pub(crate) fn objects<T>(
    text: &mut String,
    items: impl IntoIterator<Item = T>,
    mut write: impl FnMut(&mut Members<'_>, T),
) {
    list(text, items, |text, item| object(text, |members| write(members, item)));
}

fn list<T>(text: &mut String, items: impl IntoIterator<Item = T>, mut write: impl FnMut(&mut String, T)) {
    text.push('[');
    for (ix, item) in items.into_iter().enumerate() {
        if ix > 0 {
            text.push(',');
        }
        write(text, item);
    }
    text.push(']');
}

impl Members<'_> {
    pub(crate) fn text(&mut self, key: &'static str, member: &str) {
        quoted(self.key(key), member);
    }

    pub(crate) fn number(&mut self, key: &'static str, number: u64) {
        // Writing to memory cannot fail.
        let _ = write!(self.key(key), "{number}");
    }

    pub(crate) fn float(&mut self, key: &'static str, number: f64) {
        float(self.key(key), number);
    }

    pub(crate) fn flag(&mut self, key: &'static str, flag: bool) {
        self.key(key).push_str(if flag { "true" } else { "false" });
    }

    pub(crate) fn null(&mut self, key: &'static str) {
        self.key(key).push_str("null");
    }

    pub(crate) fn value(&mut self, key: &'static str, member: &Val<'_>) {
        value(self.key(key), member);
    }

    pub(crate) fn object(&mut self, key: &'static str, write: impl FnOnce(&mut Members<'_>)) {
        object(self.key(key), write);
    }

    /// A list, each item written by `write`.
    pub(crate) fn list<T>(
        &mut self,
        key: &'static str,
        items: impl IntoIterator<Item = T>,
        write: impl FnMut(&mut String, T),
    ) {
        list(self.key(key), items, write);
    }

    /// A list of objects, each written by `write`.
    pub(crate) fn objects<T>(
        &mut self,
        key: &'static str,
        items: impl IntoIterator<Item = T>,
        write: impl FnMut(&mut Members<'_>, T),
    ) {
        objects(self.key(key), items, write);
    }

    /// The same, unless there is nothing in the list.
    pub(crate) fn objects_if_any<'i, T>(
        &mut self,
        key: &'static str,
        items: &'i [T],
        write: impl FnMut(&mut Members<'_>, &'i T),
    ) {
        if !items.is_empty() {
            self.objects(key, items, write);
        }
    }

    /// A member that is written where there is something, and null elsewhere.
    pub(crate) fn or_null<T>(&mut self, key: &'static str, there: Option<T>, write: fn(&mut Self, &'static str, T)) {
        match there {
            Some(it) => write(self, key, it),
            None => self.null(key),
        }
    }

    pub(crate) fn texts<'i>(&mut self, key: &'static str, items: impl IntoIterator<Item = &'i String>) {
        self.list(key, items, |text, item| quoted(text, item));
    }

    /// An object that is left open for what follows.
    pub(crate) fn open_object(&mut self, key: &'static str, write: impl FnOnce(&mut Members<'_>)) {
        open_object(self.key(key), write);
    }

    /// A list that is left open for what follows.
    pub(crate) fn open_list(&mut self, key: &'static str) {
        self.key(key).push('[');
    }

    /// Our own keys need no care.
    fn key(&mut self, key: &'static str) -> &mut String {
        let text = self.next();
        text.push('"');
        text.push_str(key);
        text.push_str("\":");
        text
    }

    fn next(&mut self) -> &mut String {
        if !self.is_first {
            self.text.push(',');
        }
        self.is_first = false;
        self.text
    }
}

/// Writes a value, whole, its members in their order.
pub(crate) fn value(text: &mut String, member: &Val<'_>) {
    match member {
        Val::Null => text.push_str("null"),
        Val::Bool(flag) => text.push_str(if *flag { "true" } else { "false" }),
        Val::F(number) if !number.is_finite() => quoted(text, &member.to_string()),
        Val::I(_) | Val::U(_) | Val::F(_) | Val::Big(_) => text.push_str(&member.to_string()),
        Val::Str(string) => quoted(text, string),
        Val::List(items) => {
            text.push('[');
            for (ix, item) in items.iter().enumerate() {
                if ix > 0 {
                    text.push(',');
                }
                value(text, item);
            }
            text.push(']');
        }
        Val::Map(map) => object(text, |members| {
            for (key, item) in map.iter() {
                quoted(members.next(), key);
                members.text.push(':');
                value(members.text, item);
            }
        }),
    }
}

/// Writes a text in quotes.
pub(crate) fn quoted(text: &mut String, string: &str) {
    text.push('"');
    // Most texts are plain, and most of the time goes into texts.
    if string.bytes().all(|it| matches!(it, b' '..=b'~') && !matches!(it, b'"' | b'\\')) {
        text.push_str(string);
        text.push('"');
        return;
    }
    let mut plain = 0;
    for (at, it) in string.char_indices() {
        if !matches!(it, '"' | '\\') && !is_hazard(it) {
            continue;
        }
        text.push_str(&string[plain..at]);
        plain = at + it.len_utf8();
        match it {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\t' => text.push_str("\\t"),
            '\r' => text.push_str("\\r"),
            _ => escape(text, it),
        }
    }
    text.push_str(&string[plain..]);
    text.push('"');
}

/// Writes a character as an escape.
pub(crate) fn escape(text: &mut String, it: char) {
    text.extend(it.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")));
}

fn float(text: &mut String, number: f64) {
    if number.is_finite() {
        let _ = write!(text, "{number:?}");
    } else {
        text.push_str("null");
    }
}
