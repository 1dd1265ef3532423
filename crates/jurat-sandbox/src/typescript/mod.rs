//! TypeScript and JavaScript, read without running them.
//!
//! What is left of TypeScript when its types are blanked is JavaScript, with every line where it was. Types are not checked. What is more than
//! a type (enums, namespaces, decorators, parameter properties) is refused, because it would have to be translated, and so are modules: there is
//! nothing to import from.

mod blank;
mod function;
mod reading;

use crate::{Language, Refused, Signature};

/// What a function of TypeScript or JavaScript takes. `None` when there is such a name, but what it is shows only when it runs.
///
/// # Errors
/// When the source does not parse, uses what is refused, or has no such name at its top level.
///
/// ```
/// use jurat_sandbox::{Language, typescript};
///
/// let source = "export function evaluate({ output, reference = '' }: { output: string; reference?: string }): number { return 1 }";
/// let signature = typescript::signature(source, "evaluate", Language::TypeScript)?.expect("it is a function");
/// let names: Vec<&str> = signature.parameters.iter().map(|it| it.name.as_str()).collect();
/// assert_eq!(names, ["output", "reference"]);
/// # Ok::<(), jurat_sandbox::Refused>(())
/// ```
pub fn signature(source: &str, entry: &str, language: Language) -> Result<Option<Signature>, Refused> {
    Ok(read(source, entry, language)?.1)
}

/// The JavaScript that a source is, and what its function takes. As a side effect of having no modules, `export` is blanked in JavaScript, too.
pub(crate) fn read(source: &str, entry: &str, language: Language) -> Result<(String, Option<Signature>), Refused> {
    reading::parsed(source, language, |program| {
        let text = blank::blanked(program)?;
        let signature = function::signature(program, entry)?;
        Ok((text, signature))
    })
}
