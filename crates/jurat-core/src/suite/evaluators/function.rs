//! Functions of the program that runs a suite. A definition has their names alone, so it can be written down, sent and checked anywhere.

use crate::evaluator::{HostFunction, Language};
use crate::suite::reader::{Fields, Reading};
use crate::suite::write::Members;
use crate::value::{Node, Val};

/// The keys that make no sense for a function of the program: it is not run by others.
pub(super) const FOREIGN: [&str; 4] = ["entry", "limits", "isolation", "python"];

/// The languages that programs are written in.
const LANGUAGES: [(&str, Language); 2] = [("rust", Language::Rust), ("python", Language::Python)];

pub(super) fn read(reading: &mut Reading<'_>, fields: &Fields<'_, '_>, node: &Node<'_>) -> Option<HostFunction> {
    let name = reading.text("`call`", node)?;
    let language = fields.get("language").and_then(|it| reading.choice("`language`", &LANGUAGES, it));
    let is_deterministic = fields.get("deterministic").and_then(|it| reading.boolean("`deterministic`", it));
    Some(HostFunction {
        name: name.value.into(),
        language: language.unwrap_or(Language::Rust),
        // The name says nothing about what the function does in another version of the program.
        is_deterministic: is_deterministic.unwrap_or(false),
    })
}

/// A function, as it is read.
pub(super) fn write(map: &mut Members, function: &HostFunction) {
    map.put("call", Val::from(function.name.to_string()));
    if function.language != Language::Rust {
        map.put("language", Val::from(function.language.name()));
    }
    if function.is_deterministic {
        map.put("deterministic", Val::Bool(true));
    }
}
