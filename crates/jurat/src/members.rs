//! An object of a definition while it is being written.

use jurat_format::value::{Map, Val};

use crate::Error;
use crate::value::Given;

/// Declares the methods of a builder that each write one thing: `name(arguments) => field.method(values);`.
macro_rules! setters {
    ($kind:ident: $($(#[$doc:meta])* $name:ident($($argument:ident: $type:ty),*) => $field:tt.$method:ident($($value:expr),*);)*) => {
        impl $kind {
            $($(#[$doc])*
            pub fn $name(mut self, $($argument: $type),*) -> $kind {
                self.$field.$method($($value),*);
                self
            })*
        }
    };
}

pub(crate) use setters;

/// The members of an object, in order, and the first of them that could not be written.
#[derive(Debug, Clone, Default)]
pub(crate) struct Members {
    map: Map<'static>,
    failed: Option<(String, String)>,
}

impl Members {
    /// Writes a member; one that is there already is written anew.
    pub(crate) fn put(&mut self, key: &'static str, value: impl Into<Val<'static>>) {
        self.map.insert(key.into(), value.into());
    }

    /// Writes texts as a list, after those that are there already; nothing when there are none.
    pub(crate) fn texts(&mut self, key: &'static str, texts: impl IntoIterator<Item: Into<String>>) {
        let before = self.map.get(key).and_then(Val::as_list).unwrap_or(&[]).to_vec();
        let texts: Vec<Val<'static>> =
            before.into_iter().chain(texts.into_iter().map(|it| Val::from(it.into()))).collect();
        if !texts.is_empty() {
            self.put(key, Val::List(texts));
        }
    }

    /// Adds to a list.
    pub(crate) fn push(&mut self, key: &'static str, value: Val<'static>) {
        let before = self.map.get(key).and_then(Val::as_list).unwrap_or(&[]).to_vec();
        self.put(key, Val::List(before.into_iter().chain([value]).collect()));
    }

    /// Adds an object that was being written to a list.
    pub(crate) fn push_object(&mut self, key: &'static str, members: Members) {
        let Members { map, failed } = members;
        self.push(key, Val::Map(map));
        if let Some((what, reason)) = failed {
            self.fail(what, reason);
        }
    }

    /// The same without a member.
    pub(crate) fn without(self, key: &str) -> Members {
        let map = self.map.into_iter().filter(|(it, _)| it != key).collect();
        Members { map, failed: self.failed }
    }

    /// The member of this name, where it is text and there is no other member.
    pub(crate) fn only_text(&self, key: &str) -> Option<Val<'static>> {
        self.map.get(key).filter(|it| self.map.len() == 1 && it.as_str().is_some()).cloned()
    }

    /// Whether there is such a member.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.map.get(key).is_some()
    }

    /// Writes what the program gave.
    pub(crate) fn given(&mut self, key: impl Into<String>, given: Given) {
        let key = key.into();
        match given {
            Ok(value) => {
                self.map.insert(key.into(), value);
            }
            Err(reason) => self.fail(format!("`{key}`"), reason),
        }
    }

    /// Writes an object that was being written, unless it is empty.
    pub(crate) fn object_if_any(&mut self, key: &'static str, members: Members) {
        if !members.is_empty() {
            self.object(key, members);
        }
    }

    /// Writes a list, unless it is empty.
    pub(crate) fn list_if_any(&mut self, key: &'static str, items: Vec<Val<'static>>) {
        if !items.is_empty() {
            self.put(key, Val::List(items));
        }
    }

    /// Writes an object that was being written.
    pub(crate) fn object(&mut self, key: &'static str, members: Members) {
        let Members { map, failed } = members;
        self.put(key, Val::Map(map));
        if let Some((what, reason)) = failed {
            self.fail(what, reason);
        }
    }

    /// Adds the members of another.
    pub(crate) fn extend(&mut self, other: Members) {
        for (key, value) in other.map {
            self.map.insert(key, value);
        }
        if let Some((what, reason)) = other.failed {
            self.fail(what, reason);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.map.is_empty()
    }

    /// The object as a value; `whose` says what it is.
    pub(crate) fn finish(self, whose: &str) -> Result<Val<'static>, Error> {
        match self.failed {
            None => Ok(Val::Map(self.map)),
            Some((what, reason)) => Err(Error::Value { what: format!("{what} of {whose}"), reason }),
        }
    }

    fn fail(&mut self, what: String, reason: String) {
        self.failed.get_or_insert((what, reason));
    }
}
