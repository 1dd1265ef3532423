//! Values as templates see them, and as they are written.

use std::fmt::{self, Write as _};
use std::sync::Arc;

use jurat_format::value::{Val, write_json_text};
use minijinja::value::{Kwargs, Object, ObjectRepr, ValueKind};
use minijinja::{Error, ErrorKind, Output, Value};

/// A value as templates see it. Numbers are exact.
pub(super) fn of(value: &Val<'_>) -> Value {
    match value {
        Val::Null => Value::from(()),
        Val::Bool(it) => Value::from(*it),
        Val::I(it) => Value::from(*it),
        Val::U(it) => Value::from(*it),
        Val::F(it) => Value::from(*it),
        Val::Big(digits) => match digits.parse::<i128>() {
            Ok(number) => Value::from(number),
            Err(_) => Value::from_object(LongNumber(digits.clone().into_owned())),
        },
        Val::Str(text) => Value::from(text.as_ref()),
        Val::List(items) => items.iter().map(of).collect(),
        Val::Map(members) => Value::from_pairs(members.iter().map(|(key, it)| (key.to_owned(), of(it)))),
    }
}

/// A number that no type has room for. It is written as it was.
#[derive(Debug)]
struct LongNumber(String);

impl Object for LongNumber {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Writes a value into a prompt: text as it is, everything else as JSON.
pub(super) fn write(out: &mut Output<'_>, value: &Value) -> Result<(), Error> {
    let written = match value.as_str() {
        Some(text) => out.write_str(text),
        None => out.write_str(&json_of(value)?),
    };
    written.map_err(|_| Error::new(ErrorKind::WriteFailure, "it is too long"))
}

/// `tojson`: JSON without the escapes that a page would need, with `indent` over several lines.
pub(super) fn to_json(value: &Value, options: Kwargs) -> Result<String, Error> {
    let indent: Option<usize> = options.get("indent")?;
    options.assert_all_used()?;
    let json = json_of(value)?;
    let Some(indent) = indent else { return Ok(json) };
    Ok(indented(&json, indent.min(16)))
}

fn json_of(value: &Value) -> Result<String, Error> {
    let mut json = String::new();
    write_value(&mut json, value)?;
    Ok(json)
}

fn write_value(json: &mut String, value: &Value) -> Result<(), Error> {
    match value.kind() {
        ValueKind::Undefined => return Err(ErrorKind::UndefinedError.into()),
        ValueKind::None => json.push_str("null"),
        ValueKind::Number if value.is_integer() => json.push_str(&value.to_string()),
        ValueKind::Number => match f64::try_from(value.clone()) {
            Ok(number) => json.push_str(&Val::F(number).to_json()),
            Err(_) => json.push_str(&value.to_string()),
        },
        ValueKind::Bool => json.push_str(if value.is_true() { "true" } else { "false" }),
        ValueKind::Seq | ValueKind::Iterable => write_list(json, value)?,
        ValueKind::Map => write_map(json, value)?,
        _ if value.downcast_object_ref::<LongNumber>().is_some() => json.push_str(&value.to_string()),
        _ => match value.as_str() {
            Some(text) => write_json_text(json, text),
            None => write_json_text(json, &value.to_string()),
        },
    }
    Ok(())
}

fn write_list(json: &mut String, list: &Value) -> Result<(), Error> {
    json.push('[');
    for (ix, item) in list.try_iter()?.enumerate() {
        if ix > 0 {
            json.push(',');
        }
        write_value(json, &item)?;
    }
    json.push(']');
    Ok(())
}

fn write_map(json: &mut String, map: &Value) -> Result<(), Error> {
    json.push('{');
    for (ix, key) in map.try_iter()?.enumerate() {
        if ix > 0 {
            json.push(',');
        }
        write_json_text(json, key.as_str().unwrap_or(&key.to_string()));
        json.push(':');
        write_value(json, &map.get_item(&key)?)?;
    }
    json.push('}');
    Ok(())
}

/// JSON over several lines. It is JSON of our own, so quotes and backslashes are all there is to know about texts.
fn indented(json: &str, width: usize) -> String {
    let (mut text, mut depth) = (String::with_capacity(json.len() * 2), 0_usize);
    let (mut is_text, mut is_escaped) = (false, false);
    let mut letters = json.chars().peekable();
    while let Some(letter) = letters.next() {
        if is_text {
            text.push(letter);
            is_text = letter != '"' || is_escaped;
            is_escaped = letter == '\\' && !is_escaped;
            continue;
        }
        let is_empty = matches!((letter, letters.peek()), ('[', Some(']')) | ('{', Some('}')));
        match letter {
            '[' | '{' if is_empty => {
                text.push(letter);
                text.extend(letters.next());
            }
            '[' | '{' => {
                depth += 1;
                text.push(letter);
                new_line(&mut text, depth * width);
            }
            ']' | '}' => {
                depth = depth.saturating_sub(1);
                new_line(&mut text, depth * width);
                text.push(letter);
            }
            ',' => {
                text.push(letter);
                new_line(&mut text, depth * width);
            }
            ':' => text.push_str(": "),
            _ => {
                is_text = letter == '"';
                text.push(letter);
            }
        }
    }
    text
}

fn new_line(text: &mut String, indent: usize) {
    let _ = write!(text, "\n{:indent$}", "");
}
