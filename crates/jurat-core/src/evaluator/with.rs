//! `with`: where arguments of evaluators and inputs of judges come from, as it is written.

use jurat_format::reader::Reading;
use jurat_format::value::{Content, FieldPath, Node, Spanned, Val};

use super::binding::Origin;
use crate::prompt;

/// Reads what stands under `with`: a text is a path, anything else a value; `{value: …}` is a value, whatever it is.
pub(crate) fn read_with(
    reading: &mut Reading<'_>,
    what: &str,
    node: &Node<'_>,
) -> Option<Vec<(Spanned<String>, Spanned<Origin>)>> {
    let Some(entries) = node.entries() else {
        reading.wrong_type(what, "an object of parameters", node);
        return None;
    };
    let mut with = Vec::with_capacity(entries.len());
    for entry in entries {
        let name = Spanned::new(entry.key.clone().into_owned(), entry.key_span);
        let node = &entry.value;
        let origin = match (&node.content, node.entries()) {
            (Content::Scalar(Val::Str(_)), _) => {
                let path = reading.path(&format!("`{}` in `with`", entry.key), node);
                path.map(|it: Spanned<FieldPath>| Origin::Path(it.value))
            }
            (_, Some([only])) if only.key == "value" => Some(Origin::Literal(only.value.to_val().into_owned())),
            (_, Some([only])) if only.key == "text" => {
                let text = prompt::filled(reading, &format!("`text` of `{}`", entry.key), &only.value);
                text.map(|it| Origin::Text(Box::new(it.prompt)))
            }
            (_, Some(_)) => {
                let needs = "a path, a value, `{value: …}` or `{text: …}`";
                reading.wrong_type(&format!("`{}` in `with`", entry.key), needs, node);
                None
            }
            _ => Some(Origin::Literal(node.to_val().into_owned())),
        };
        with.extend(origin.map(|it| (name, Spanned::new(it, node.span))));
    }
    Some(with)
}
