//! What functions of TypeScript and JavaScript take, according to the interpreters that will run them.

use std::ops::Range;

use jurat_core::evaluator::{Language, Parameter, Scripts, Signature, SignatureError, SignatureErrorKind, Source};
use jurat_sandbox::{Refused, typescript};

/// The reader of scripts that every definition is read with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Read;

impl Scripts for Read {
    fn signature(&self, source: &Source) -> Result<Option<Signature>, SignatureError> {
        let Source { language, text, entry } = source;
        let language = match language {
            Language::Python | Language::Rust => return Ok(None),
            Language::TypeScript => jurat_sandbox::Language::TypeScript,
            Language::JavaScript => jurat_sandbox::Language::JavaScript,
        };
        let found = typescript::signature(text, entry, language).map_err(|refused| wrong(text, refused))?;
        Ok(found.map(|it| signature(text, it)))
    }
}

/// Why code is refused, at its place in the text.
pub(crate) fn wrong(text: &str, refused: Refused) -> SignatureError {
    let first_line = 0..text.find('\n').unwrap_or(text.len());
    match refused {
        Refused::NoFunction { ref functions, .. } => SignatureError {
            kind: SignatureErrorKind::NoFunction,
            message: refused.to_string(),
            at: first_line,
            functions: functions.clone(),
        },
        Refused::Source { message, line, column } => {
            let at = line.map_or(first_line, |line| place(text, line, column.unwrap_or(1), 1));
            SignatureError { kind: SignatureErrorKind::Syntax, message, at, functions: Vec::new() }
        }
        other => SignatureError {
            kind: SignatureErrorKind::Syntax,
            message: other.to_string(),
            at: first_line,
            functions: Vec::new(),
        },
    }
}

fn signature(text: &str, found: jurat_sandbox::Signature) -> Signature {
    let parameter = |it: jurat_sandbox::Parameter| Parameter {
        at: place(text, it.line, it.column, it.name.chars().count()),
        name: it.name,
        is_required: it.is_required,
    };
    Signature {
        takes_others: found.is_open,
        is_async: false,
        at: place(text, found.line, 1, usize::MAX),
        parameters: found.parameters.into_iter().map(parameter).collect(),
    }
}

/// A number of characters from a line and a column, both from 1, within the line.
fn place(text: &str, line: u32, column: u32, n_characters: usize) -> Range<usize> {
    let line_start = text.split_inclusive('\n').take(line.saturating_sub(1) as usize).map(str::len).sum::<usize>();
    let rest = text.get(line_start..).unwrap_or_default();
    let line = rest.split('\n').next().unwrap_or_default();
    let at = |n: usize| line.char_indices().nth(n).map_or(line.len(), |(at, _)| at);
    // What is missing at the end of a line is shown at its last character.
    let first = (column.saturating_sub(1) as usize).min(line.chars().count().saturating_sub(1));
    line_start + at(first)..line_start + at(first.saturating_add(n_characters))
}
