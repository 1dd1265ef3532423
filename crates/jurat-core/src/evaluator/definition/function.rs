//! Functions of the program that runs a suite. A definition has their names alone, so it can be written down, sent and checked anywhere.

use jurat_format::fields::Fields;
use jurat_format::form::Key;
use jurat_format::reader::Reading;
use jurat_format::value::Spanned;

use crate::evaluator::definition::{CALL, DETERMINISTIC, ENTRY, ISOLATION, LANGUAGE, LIMITS, PARAMETERS, PYTHON};
use crate::evaluator::{HostFunction, Language, Parameter, Signature};

/// The keys that make no sense for a function of the program: it is not run by others.
pub(crate) const FOREIGN: [Key; 4] = [ENTRY.key, LIMITS.key, ISOLATION.key, PYTHON.key];

/// The keys that make sense for a function of the program alone.
pub(crate) const OWN: [Key; 1] = [PARAMETERS.key];

/// The languages that programs are written in.
const LANGUAGES: [Language; 2] = [Language::Rust, Language::Python];

pub(crate) fn read(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<HostFunction> {
    let name = fields.read(reading, &CALL)?;
    let language = fields
        .node(&LANGUAGE)
        .and_then(|it| reading.choice(&LANGUAGE.quoted(), &LANGUAGES.map(|it| (it.name(), it)), it));
    let is_deterministic = fields.read(reading, &DETERMINISTIC);
    let parameters = fields.read(reading, &PARAMETERS);
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
