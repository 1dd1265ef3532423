//! Texts that may stand in files of their own.

use jurat_format::codes;
use jurat_format::field::Field;
use jurat_format::form::{Form, Object};
use jurat_format::problem::Problem;
use jurat_format::reader::Reading;
use jurat_format::shape::{self, Shape};
use jurat_format::source::ReadError;
use jurat_format::value::{Node, Span, Spanned};

use crate::text_file;

/// A text that may stand in a file of its own, and the name of that file.
pub(crate) const TEXT_OR_FILE: Shape<(Spanned<String>, Option<String>)> = Shape::new(FORM, text_or_file);

const FORM: Form = Form::Either(&[Form::Text, Form::Object(&PROMPT_FILE)]);

pub(crate) const NAMED_FILE: Field<Spanned<String>> =
    Field::required("file", shape::TEXT, "the file that holds the text, relative to the file that names it");

pub(crate) static PROMPT_FILE: Object = Object { what: "a text in a file", keys: &[NAMED_FILE.key] };

/// The name of a file where its text was meant: one word that names a file which is there.
pub(crate) fn path_for_text(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<Problem> {
    const LONGEST: usize = 200;
    let name = node.as_str()?;
    let stem = name.rsplit_once('.').filter(|(stem, extension)| !stem.is_empty() && (1..=6).contains(&extension.len()));
    if stem.is_none() || name.len() > LONGEST || name.contains(|it: char| it.is_whitespace() || "${}\0".contains(it)) {
        return None;
    }
    let path = reading.beside(node.span, name);
    // A file that is too large to read is one, too.
    let is_there =
        !matches!(reading.files.read(&path, text_file::MAX_BYTES), Err(ReadError::NotFound | ReadError::Other(_)));
    is_there.then(|| {
        let message = format!("{what} is the text `{name}`, not what the file of that name holds");
        let problem = Problem::new(&codes::PATH_FOR_TEXT, message).at(node.span, "sent as text");
        problem.help(format!("write `{}: {{ file: {name} }}`", what.trim_matches('`')))
    })
}

/// Reads a text that may stand in a file of its own, and the name of that file.
fn text_or_file(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<(Spanned<String>, Option<String>)> {
    if node.entries().is_some() {
        let fields = PROMPT_FILE.fields(reading, node)?;
        let file = fields.read(reading, &NAMED_FILE)?;
        return Some((file_text(reading, &file)?, Some(file.value)));
    }
    let Some(text) = node.as_str() else {
        reading.wrong_type(what, "text, or `{file: …}`", node);
        return None;
    };
    if let Some(problem) = path_for_text(reading, what, node) {
        reading.problem(problem);
        return None;
    }
    Some((Spanned::new(text.to_owned(), node.span), None))
}

/// The text of a file beside the definition; it becomes a source of its own, so that problems can point into it.
pub(crate) fn file_text(reading: &mut Reading<'_>, file: &Spanned<String>) -> Option<Spanned<String>> {
    let path = reading.beside(file.span, &file.value);
    let text = text_file::read(reading, &path, Some(file.span))?;
    let length = text.len();
    let id = reading.sources.add(path, text.clone());
    Some(Spanned::new(text, Span::new(id, 0..length)))
}
