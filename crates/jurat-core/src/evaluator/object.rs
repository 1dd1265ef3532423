//! A value as code returned it, before anybody asks what it means.
//!
//! JSON has no infinities, no difference between `1` and `1.0`, no tuples, sets or bytes. Messages show what an author returned as
//! they wrote it, so it is stored as it was.

use std::fmt;

use jurat_format::value::{Map, Val, Value, python};

/// A value as code returned it.
#[derive(Debug, Clone, PartialEq)]
pub enum Object {
    /// Nothing: `None`, `null`, `undefined`.
    None,
    /// `True` or `False`.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// An integer that does not fit 64 bits: its digits, without leading zeros.
    BigInt(Box<str>),
    /// A number with a point; infinities and NaN too.
    Float(f64),
    /// Text.
    Str(String),
    List(Vec<Object>),
    Tuple(Vec<Object>),
    /// A set, in the order in which it was reported.
    Set(Vec<Object>),
    Bytes(Vec<u8>),
    /// A complex number.
    Complex {
        re: f64,
        im: f64,
    },
    /// A dict, in the order of its items. Keys may be anything.
    Dict(Vec<(Object, Object)>),
    /// Anything else: the name of its type, and what `repr` says of it.
    Other {
        /// The name of its type.
        type_name: String,
        /// What `repr` says.
        repr: String,
    },
}

impl Object {
    /// It as data: tuples and sets are lists. What is no data is returned in words.
    pub fn to_data(&self) -> Result<Value, String> {
        let list =
            |items: &[Object]| items.iter().map(Object::to_data).collect::<Result<Vec<Value>, _>>().map(Val::List);
        match self {
            Object::None => Ok(Val::Null),
            Object::Bool(value) => Ok(Val::Bool(*value)),
            Object::Int(number) => Ok(Val::I(*number)),
            Object::BigInt(digits) => Ok(digits.parse().map_or_else(|_| Val::Big(digits.to_string().into()), Val::U)),
            Object::Float(number) if number.is_finite() => Ok(Val::F(*number)),
            Object::Str(text) => Ok(Val::from(text.clone())),
            Object::List(items) | Object::Tuple(items) | Object::Set(items) => list(items),
            Object::Dict(pairs) => {
                let member = |(key, value): &(Object, Object)| match key.as_str() {
                    Some(key) => Ok((key.to_owned(), value.to_data()?)),
                    None => Err(format!("the key {key} is not text")),
                };
                pairs.iter().map(member).collect::<Result<Map<'static>, String>>().map(Val::Map)
            }
            Object::Float(_) | Object::Bytes(_) | Object::Complex { .. } | Object::Other { .. } => {
                Err(format!("{self} is no data"))
            }
        }
    }

    /// An integer of any size from its decimal digits; `None` when they are not digits.
    pub fn integer(digits: &str) -> Option<Object> {
        let unsigned = digits.strip_prefix(['-', '+']).unwrap_or(digits);
        if unsigned.is_empty() || !unsigned.bytes().all(|it| it.is_ascii_digit()) {
            return None;
        }
        if let Ok(number) = digits.parse() {
            return Some(Object::Int(number));
        }
        // What does not fit is not zero, so a digit is left.
        let sign = if digits.starts_with('-') { "-" } else { "" };
        Some(Object::BigInt(format!("{sign}{}", unsigned.trim_start_matches('0')).into()))
    }

    /// The name of its type, as Python has it.
    pub fn type_name(&self) -> &str {
        match self {
            Object::None => "NoneType",
            Object::Bool(_) => "bool",
            Object::Int(_) | Object::BigInt(_) => "int",
            Object::Float(_) => "float",
            Object::Str(_) => "str",
            Object::List(_) => "list",
            Object::Tuple(_) => "tuple",
            Object::Set(_) => "set",
            Object::Bytes(_) => "bytes",
            Object::Complex { .. } => "complex",
            Object::Dict(_) => "dict",
            Object::Other { type_name, .. } => type_name,
        }
    }

    /// The number as a double, when it is one; an integer beyond doubles is `None` too. A truth value is no number.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Object::Int(number) => Some(*number as f64),
            Object::BigInt(digits) => digits.parse().ok().filter(|it: &f64| it.is_finite()),
            Object::Float(number) => Some(*number),
            _ => None,
        }
    }

    /// Whether it is a number.
    pub fn is_number(&self) -> bool {
        matches!(self, Object::Int(_) | Object::BigInt(_) | Object::Float(_))
    }

    /// The text, when it is text.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Object::Str(text) => Some(text),
            _ => None,
        }
    }

    /// The value under a key, when this is a dict that has it.
    pub fn get(&self, key: &str) -> Option<&Object> {
        let Object::Dict(items) = self else { return None };
        items.iter().rev().find(|(name, _)| name.as_str() == Some(key)).map(|(_, value)| value)
    }
}

/// A plain value, as a function of the embedding program returns it.
impl From<&Val<'_>> for Object {
    fn from(value: &Val<'_>) -> Object {
        match value {
            Val::Null => Object::None,
            Val::Bool(value) => Object::Bool(*value),
            Val::I(number) => Object::Int(*number),
            Val::U(number) => Object::BigInt(number.to_string().into()),
            Val::F(number) => Object::Float(*number),
            Val::Big(digits) => {
                Object::integer(digits).unwrap_or_else(|| Object::Float(value.as_f64().unwrap_or(f64::NAN)))
            }
            Val::Str(text) => Object::Str(text.clone().into_owned()),
            Val::List(items) => Object::List(items.iter().map(Object::from).collect()),
            Val::Map(map) => Object::Dict(
                map.iter().map(|(key, value)| (Object::Str(key.to_owned()), Object::from(value))).collect(),
            ),
        }
    }
}

impl From<&str> for Object {
    fn from(text: &str) -> Object {
        Object::Str(text.to_owned())
    }
}

impl From<String> for Object {
    fn from(text: String) -> Object {
        Object::Str(text)
    }
}

impl From<f64> for Object {
    fn from(number: f64) -> Object {
        Object::Float(number)
    }
}

impl From<i64> for Object {
    fn from(number: i64) -> Object {
        Object::Int(number)
    }
}

impl From<bool> for Object {
    fn from(value: bool) -> Object {
        Object::Bool(value)
    }
}

/// `repr(value)`, as Python writes it.
impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Object::None => f.write_str("None"),
            Object::Bool(true) => f.write_str("True"),
            Object::Bool(false) => f.write_str("False"),
            Object::Int(number) => write!(f, "{number}"),
            Object::BigInt(digits) => f.write_str(digits),
            Object::Float(number) => f.write_str(&python::float_text(*number)),
            Object::Str(text) => f.write_str(&python::quoted(text)),
            Object::List(items) => write_items(f, "[", items, "]"),
            Object::Tuple(items) if items.len() == 1 => write_items(f, "(", items, ",)"),
            Object::Tuple(items) => write_items(f, "(", items, ")"),
            Object::Set(items) if items.is_empty() => f.write_str("set()"),
            Object::Set(items) => write_items(f, "{", items, "}"),
            Object::Bytes(bytes) => write_bytes(f, bytes),
            Object::Complex { re, im } => write_complex(f, *re, *im),
            Object::Dict(items) => {
                f.write_str("{")?;
                for (ix, (key, value)) in items.iter().enumerate() {
                    write!(f, "{}{key}: {value}", if ix == 0 { "" } else { ", " })?;
                }
                f.write_str("}")
            }
            Object::Other { repr, .. } => f.write_str(repr),
        }
    }
}

fn write_items(f: &mut fmt::Formatter<'_>, open: &str, items: &[Object], close: &str) -> fmt::Result {
    f.write_str(open)?;
    for (ix, item) in items.iter().enumerate() {
        write!(f, "{}{item}", if ix == 0 { "" } else { ", " })?;
    }
    f.write_str(close)
}

fn write_bytes(f: &mut fmt::Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    let quote = if bytes.contains(&b'\'') && !bytes.contains(&b'"') { '"' } else { '\'' };
    write!(f, "b{quote}")?;
    for byte in bytes {
        match byte {
            b'\\' => f.write_str("\\\\")?,
            b'\n' => f.write_str("\\n")?,
            b'\r' => f.write_str("\\r")?,
            b'\t' => f.write_str("\\t")?,
            b' '..=b'~' if char::from(*byte) == quote => write!(f, "\\{quote}")?,
            b' '..=b'~' => write!(f, "{}", char::from(*byte))?,
            other => write!(f, "\\x{other:02x}")?,
        }
    }
    write!(f, "{quote}")
}

/// The parts of a complex number are written without `.0`, and a real part of zero is left out.
fn write_complex(f: &mut fmt::Formatter<'_>, re: f64, im: f64) -> fmt::Result {
    let part = |number: f64| {
        let text = python::float_text(number);
        text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
    };
    if re == 0.0 && re.is_sign_positive() {
        return write!(f, "{}j", part(im));
    }
    let im = part(im);
    let plus = if im.starts_with('-') { "" } else { "+" };
    write!(f, "({}{plus}{im}j)", part(re))
}
