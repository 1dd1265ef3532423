//! What a value is compared with, where each case fills it: `"due: ${amount}"`, a list or an object with placeholders in it, `{jinja: …}`, or `{literal: …}`, which is not filled.

use jurat_compare::Fill;
use jurat_format::reader::Reading;
use jurat_format::value::{Content, Context, FieldPath, Map, Node, Spanned, Val, Value};

use crate::prompt::Prompt;
use crate::prompt::text::template;

/// A value that each case fills.
#[derive(Debug, Clone, PartialEq)]
pub struct FilledValue {
    part: Part,
    /// The value as it is written.
    pub written: Value,
    /// What it cannot do without, with the places.
    pub reads: Vec<Spanned<FieldPath>>,
}

#[derive(Debug, Clone, PartialEq)]
enum Part {
    Value(Value),
    /// `{literal: …}`: a value with `${` in it that is meant as it is.
    Literal(Value),
    /// `${path}` alone: the value itself.
    Path(FieldPath),
    /// A text with placeholders.
    Text(Prompt),
    List(Vec<Part>),
    Map(Vec<(String, Part)>),
}

impl FilledValue {
    /// The value of a node that has placeholders; `Ok(None)` when it has none, `Err` when a template in it cannot be read, which is noted.
    pub(crate) fn read(reading: &mut Reading<'_>, node: &Node<'_>) -> Result<Option<FilledValue>, ()> {
        let mut reads = Vec::new();
        let part = part(reading, node, &mut reads)?;
        let is_filled = !matches!(part, Part::Value(_));
        Ok(is_filled.then(|| FilledValue { part, written: node.to_val().into_owned(), reads }))
    }
}

impl Fill for FilledValue {
    fn fill(&self, context: Context<'_>) -> Result<Value, String> {
        self.part.fill(context)
    }
}

impl Part {
    fn fill(&self, context: Context<'_>) -> Result<Value, String> {
        match self {
            Part::Value(value) | Part::Literal(value) => Ok(value.clone()),
            Part::Path(path) => match context.find(path) {
                Ok(found) => Ok(found.into_owned().into_owned()),
                Err(missing) => Err(format!("`{path}` finds nothing: {}", missing.explain(path))),
            },
            Part::Text(prompt) => prompt.bound(context).map(Val::from),
            Part::List(parts) => {
                parts.iter().map(|it| it.fill(context)).collect::<Result<Vec<Value>, _>>().map(Val::List)
            }
            Part::Map(members) => {
                let filled = members.iter().map(|(key, it)| Ok((key.clone(), it.fill(context)?)));
                filled.collect::<Result<Map<'static>, String>>().map(Val::Map)
            }
        }
    }
}

/// What becomes of a node. One without placeholders is the value that it is.
fn part(reading: &mut Reading<'_>, node: &Node<'_>, reads: &mut Vec<Spanned<FieldPath>>) -> Result<Part, ()> {
    let whole = || Part::Value(node.to_val().into_owned());
    match &node.content {
        Content::List(items) => {
            let parts = items.iter().map(|it| part(reading, it, reads)).collect::<Result<Vec<Part>, ()>>()?;
            let is_filled = parts.iter().any(|it| !matches!(it, Part::Value(_)));
            Ok(if is_filled { Part::List(parts) } else { whole() })
        }
        Content::Map(entries) => {
            if let [only] = entries.as_slice() {
                match (&*only.key, only.value.as_str()) {
                    ("jinja", Some(text)) => {
                        return jinja(reading, Spanned::new(text.to_owned(), only.value.span), reads);
                    }
                    ("literal", _) => return Ok(Part::Literal(only.value.to_val().into_owned())),
                    _ => {}
                }
            }
            let members = entries.iter().map(|it| Ok((it.key.clone().into_owned(), part(reading, &it.value, reads)?)));
            let members = members.collect::<Result<Vec<(String, Part)>, ()>>()?;
            let is_filled = members.iter().any(|(_, it)| !matches!(it, Part::Value(_)));
            Ok(if is_filled { Part::Map(members) } else { whole() })
        }
        Content::Scalar(value) => {
            let prompt = Prompt::parse(value.as_str().unwrap_or_default());
            if prompt.holes().is_empty() {
                return Ok(whole());
            }
            let places = reading.places(node.span, prompt.holes().iter().map(|it| &prompt.text()[it.range.clone()]));
            reads.extend(prompt.holes().iter().zip(places).map(|(hole, at)| Spanned::new(hole.path.clone(), at)));
            Ok(match prompt.holes() {
                [only] if only.range == (0..prompt.text().len()) => Part::Path(only.path.clone()),
                _ => Part::Text(prompt),
            })
        }
    }
}

fn jinja(reading: &mut Reading<'_>, text: Spanned<String>, reads: &mut Vec<Spanned<FieldPath>>) -> Result<Part, ()> {
    let read = template(reading, text, None).ok_or(())?;
    let needed = read.reads.into_iter().filter(|it| !it.is_optional);
    reads.extend(needed.map(|it| Spanned::new(it.path, it.span)));
    Ok(Part::Text(read.prompt))
}
