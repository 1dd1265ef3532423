//! Where inputs come from, as it stands in digests that are stored: in baselines and calibrations.
//!
//! The text is that of the first versions, so that what they stored is still found equal. It names nothing by the names of this program: those may
//! change, and a digest may not.

use std::fmt::{self, Display, Write};
use std::ops::Range;

use jurat_format::value::{FieldPath, Step, Val};

use super::binding::{Binding, Origin};
use crate::prompt::{Hole, Prompt};

/// An input and its default, as digests have them.
pub fn input(binding: &Binding, default: Option<&Val<'_>>) -> String {
    let mut text = String::new();
    write_input(&mut text, binding, default).expect("a text takes everything that is written");
    text
}

fn write_input(out: &mut String, binding: &Binding, default: Option<&Val<'_>>) -> fmt::Result {
    write!(out, "Binding {{ parameter: {:?}, from: ", binding.parameter)?;
    write_origin(out, &binding.from)?;
    write!(out, ", is_required: {} }} ", binding.is_required)?;
    match default {
        None => out.write_str("None"),
        Some(value) => {
            out.write_str("Some(")?;
            write_value(out, value)?;
            out.write_char(')')
        }
    }
}

fn write_origin(out: &mut String, from: &Origin) -> fmt::Result {
    let name = match from {
        Origin::Path(_) => "Path(",
        Origin::Literal(_) => "Literal(",
        Origin::Common(_) => "Common(",
        Origin::Key(_) => "Key(",
        Origin::First(_) => "First(",
        Origin::Text(_) => "Text(",
    };
    out.write_str(name)?;
    match from {
        Origin::Path(path) | Origin::Key(path) => write_path(out, path)?,
        Origin::Literal(value) => write_value(out, value)?,
        Origin::Common(paths) | Origin::First(paths) => write_list(out, paths, write_path)?,
        Origin::Text(prompt) => write_prompt(out, prompt)?,
    }
    out.write_char(')')
}

fn write_path(out: &mut String, path: &FieldPath) -> fmt::Result {
    out.write_str("FieldPath(")?;
    write_list(out, path.steps(), |out, step| match step {
        Step::Key(key) => write!(out, "Key({key:?})"),
        Step::Index(ix) => write!(out, "Index({ix})"),
        Step::Each => out.write_str("Each"),
        Step::Json => out.write_str("Json"),
    })?;
    out.write_char(')')
}

fn write_prompt(out: &mut String, prompt: &Prompt) -> fmt::Result {
    write!(out, "Prompt {{ text: {:?}, holes: ", prompt.text())?;
    write_list(out, prompt.holes(), |out, Hole { path, range, is_optional }| {
        out.write_str("Hole { path: ")?;
        write_path(out, path)?;
        write!(out, ", range: {}, is_optional: {is_optional} }}", Bytes(range))
    })?;
    match prompt.is_template() {
        true => out.write_str(", syntax: Jinja(Template) }"),
        false => {
            out.write_str(", syntax: Placeholders { literals: ")?;
            write_list(out, prompt.literals(), |out, it| write!(out, "{}", Bytes(it)))?;
            out.write_str(" } }")
        }
    }
}

fn write_value(out: &mut String, value: &Val<'_>) -> fmt::Result {
    match value {
        Val::Null => out.write_str("Null"),
        Val::Bool(it) => write!(out, "Bool({it})"),
        Val::I(it) => write!(out, "I({it})"),
        Val::U(it) => write!(out, "U({it})"),
        // `Display` has no fraction for whole numbers, and no exponent.
        Val::F(it) => write!(out, "F({it:?})"),
        Val::Big(it) => write!(out, "Big({it:?})"),
        Val::Str(it) => write!(out, "Str({it:?})"),
        Val::List(items) => {
            out.write_str("List(")?;
            write_list(out, items, write_value)?;
            out.write_char(')')
        }
        Val::Map(members) => {
            out.write_str("Map(Map(")?;
            let members: Vec<(&str, &Val<'_>)> = members.iter().collect();
            write_list(out, &members, |out, (key, value)| {
                write!(out, "({key:?}, ")?;
                write_value(out, value)?;
                out.write_char(')')
            })?;
            out.write_str("))")
        }
    }
}

fn write_list<T>(out: &mut String, items: &[T], write: impl Fn(&mut String, &T) -> fmt::Result) -> fmt::Result {
    out.write_char('[')?;
    for (ix, item) in items.iter().enumerate() {
        out.write_str(if ix > 0 { ", " } else { "" })?;
        write(out, item)?;
    }
    out.write_char(']')
}

/// `3..10`
struct Bytes<'r>(&'r Range<usize>);

impl Display for Bytes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.0.start, self.0.end)
    }
}

#[cfg(test)]
mod tests {
    use jurat_format::value::parse_json;

    use super::*;

    #[track_caller]
    fn stored(from: Origin, default: Option<&str>, expected: &str) {
        let binding = Binding { parameter: "in \"put".to_owned(), from, is_required: default.is_none() };
        let default = default.map(|it| parse_json(it).expect("it is JSON").value.into_owned());
        assert_eq!(input(&binding, default.as_ref()), expected);
    }

    fn path(text: &str) -> FieldPath {
        FieldPath::parse(text).expect("it is a path")
    }

    #[test]
    fn an_input_is_stored_as_the_first_versions_stored_it() {
        stored(
            Origin::First(vec![path("a.b[-1]"), path("c[*]")]),
            None,
            r#"Binding { parameter: "in \"put", from: First([FieldPath([Key("a"), Key("b"), Index(-1)]), FieldPath([Key("c"), Each])]), is_required: true } None"#,
        );
        stored(
            Origin::Key(path("k")),
            Some(r#"{"n":null,"l":[1,1.5,2.0,true,"ä\n"],"big":18446744073709551615,"more":99999999999999999999}"#),
            r#"Binding { parameter: "in \"put", from: Key(FieldPath([Key("k")])), is_required: false } Some(Map(Map([("n", Null), ("l", List([I(1), F(1.5), F(2.0), Bool(true), Str("ä\n")])), ("big", U(18446744073709551615)), ("more", Big("99999999999999999999"))])))"#,
        );
        stored(
            Origin::Text(Box::new(Prompt::parse("say ${a.b} $${c} ${ no }"))),
            None,
            r#"Binding { parameter: "in \"put", from: Text(Prompt { text: "say ${a.b} $${c} ${ no }", holes: [Hole { path: FieldPath([Key("a"), Key("b")]), range: 4..10, is_optional: false }, Hole { path: FieldPath([Key("c")]), range: 12..16, is_optional: false }], syntax: Placeholders { literals: [17..24] } }), is_required: true } None"#,
        );
    }
}
