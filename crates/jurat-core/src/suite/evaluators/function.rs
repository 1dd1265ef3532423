//! Functions of the program that runs a suite. A definition has their names alone, so it can be written down, sent and checked anywhere.

use jurat_format::reader::{Fields, Reading};
use jurat_format::value::{Node, Spanned, Val};

use crate::evaluator::{HostFunction, Language, Parameter, Signature};
use crate::suite::write::Members;

/// The keys that make no sense for a function of the program: it is not run by others.
pub(super) const FOREIGN: [&str; 4] = ["entry", "limits", "isolation", "python"];

/// The keys that make sense for a function of the program alone.
pub(super) const OWN: [&str; 1] = ["parameters"];

/// The languages that programs are written in.
const LANGUAGES: [(&str, Language); 2] = [("rust", Language::Rust), ("python", Language::Python)];

pub(super) fn read(reading: &mut Reading<'_>, fields: &Fields<'_, '_>, node: &Node<'_>) -> Option<HostFunction> {
    let name = reading.text("`call`", node)?;
    let language = fields.get("language").and_then(|it| reading.choice("`language`", &LANGUAGES, it));
    let is_deterministic = fields.get("deterministic").and_then(|it| reading.boolean("`deterministic`", it));
    let parameters = fields.get("parameters").map(|it| reading.texts("`parameters`", it));
    Some(HostFunction {
        name: name.value.into(),
        language: language.unwrap_or(Language::Rust),
        signature: parameters.map(|it| signature(&it)),
        // The name says nothing about what the function does in another version of the program.
        is_deterministic: is_deterministic.unwrap_or(false),
    })
}

/// What stands behind the name of a parameter that has a default.
const OPTIONAL: char = '?';

/// What stands for all other arguments.
const OTHERS: &str = "**";

fn signature(parameters: &[Spanned<String>]) -> Signature {
    let parameter = |it: &Spanned<String>| {
        let name = it.value.trim_end_matches(OPTIONAL);
        Parameter { name: name.to_owned(), is_required: name.len() == it.value.len(), at: 0..0 }
    };
    Signature {
        parameters: parameters.iter().filter(|it| it.value != OTHERS).map(parameter).collect(),
        takes_others: parameters.iter().any(|it| it.value == OTHERS),
        is_async: false,
        at: 0..0,
    }
}

/// A function, as it is read.
pub(super) fn write(map: &mut Members, function: &HostFunction) {
    map.put("call", Val::from(function.name.to_string()));
    if function.language != Language::Rust {
        map.put("language", Val::from(function.language.name()));
    }
    if let Some(signature) = &function.signature {
        let shown = |it: &Parameter| Val::from(format!("{}{}", it.name, if it.is_required { "" } else { "?" }));
        let others = signature.takes_others.then(|| Val::from(OTHERS));
        map.put("parameters", signature.parameters.iter().map(shown).chain(others).collect());
    }
    if function.is_deterministic {
        map.put("deterministic", Val::Bool(true));
    }
}
