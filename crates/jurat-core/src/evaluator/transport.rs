//! How values that code returned travel: JSON, with tags for what JSON loses.
//!
//! A number without a point or an exponent is an integer, any other a float. Tags may stand at any depth:
//!
//! | tag | value |
//! |---|---|
//! | `{"$py": "nan" \| "inf" \| "-inf"}` | a float that JSON cannot write |
//! | `{"$py": "int", "value": "123"}` | an integer by its digits |
//! | `{"$py": "tuple" \| "set", "items": […]}` | a tuple, a set |
//! | `{"$py": "bytes", "latin1": "…"}` | bytes, one character for each |
//! | `{"$py": "complex", "re": 1, "im": 2}` | a complex number |
//! | `{"$py": "dict", "items": [[key, value], …]}` | a dict with keys that are not text, or with a key that reads like a tag |
//! | `{"$py": "object", "type": "Reply", "repr": "…"}` | anything else; also text that is not valid Unicode |
//! | `{"$js": "undefined" \| "function" \| "symbol"}` | nothing |
//! | `{"$js": "nan" \| "inf" \| "-inf" \| "-0"}` | such numbers |
//! | `{"$js": "bigint", "value": "123"}` | an integer by its digits |
//! | `{"$js": "date"}` | 2024-01-02T03:04:05 UTC, for files of recorded cases |
//! | `{"$js": "empty-map" \| "empty-set"}` | a `Map` or a `Set`, which JavaScript writes as `{}` |
//!
//! What TypeScript and JavaScript return is read by the rules of `JSON.stringify`: members that are undefined vanish, items that are become null,
//! numbers that are not finite are null, `2.0` is `2`. An evaluator that returns nothing returned null.

use jurat_format::value::{Map, Val, Value};

use super::{Language, Object};

/// What was sent is not in the form of this module.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unreadable(String);

/// The value that was sent.
pub fn read(sent: &Val<'_>, language: Language) -> Result<Object, Unreadable> {
    Ok(object(sent, language)?.unwrap_or(Object::None))
}

/// A value as it is sent: reading it as Python gives the same value.
pub fn write(object: &Object) -> Value {
    let items = |items: &[Object]| Val::List(items.iter().map(write).collect());
    match object {
        Object::None => Val::Null,
        Object::Bool(value) => Val::Bool(*value),
        Object::Int(number) => Val::I(*number),
        Object::BigInt(digits) => digits.parse().map_or_else(|_| Val::Big(digits.to_string().into()), Val::U),
        Object::Float(number) => float(*number),
        Object::Str(text) => Val::from(text.clone()),
        Object::List(list) => items(list),
        Object::Tuple(list) => tagged("tuple", [("items", items(list))]),
        Object::Set(list) => tagged("set", [("items", items(list))]),
        Object::Bytes(bytes) => {
            let latin1: String = bytes.iter().copied().map(char::from).collect();
            tagged("bytes", [("latin1", Val::from(latin1))])
        }
        Object::Complex { re, im } => tagged("complex", [("re", float(*re)), ("im", float(*im))]),
        Object::Other { type_name, repr } => {
            tagged("object", [("type", Val::from(type_name.clone())), ("repr", Val::from(repr.clone()))])
        }
        Object::Dict(pairs) => plain_members(pairs).unwrap_or_else(|| {
            let pairs = pairs.iter().map(|(key, value)| Val::List(vec![write(key), write(value)])).collect();
            tagged("dict", [("items", Val::List(pairs))])
        }),
    }
}

/// The members of a dict that JSON can hold: keys are texts, each once, and none reads like a tag.
fn plain_members(pairs: &[(Object, Object)]) -> Option<Value> {
    let keys: Option<Vec<&str>> = pairs.iter().map(|(key, _)| key.as_str()).collect();
    let keys = keys.filter(|it| !it.iter().any(|it| TAGS.contains(it)))?;
    let members = keys.iter().zip(pairs).map(|(key, (_, value))| ((*key).to_owned().into(), write(value))).collect();
    let (map, is_repeated) = Map::from_pairs(members);
    (!is_repeated).then_some(Val::Map(map))
}

const TAGS: [&str; 2] = ["$py", "$js"];

fn tagged<const N: usize>(tag: &'static str, members: [(&'static str, Value); N]) -> Value {
    Val::Map([("$py", Val::from(tag))].into_iter().chain(members).collect())
}

fn float(number: f64) -> Value {
    match number {
        it if it.is_finite() => Val::F(it),
        it if it.is_nan() => tagged("nan", []),
        it => tagged(if it > 0.0 { "inf" } else { "-inf" }, []),
    }
}

/// The value, or nothing when it vanishes from an object.
fn object(sent: &Val<'_>, language: Language) -> Result<Option<Object>, Unreadable> {
    Ok(Some(match sent {
        Val::Map(map) => match TAGS.into_iter().find_map(|it| Some((it, map.get(it)?))) {
            Some(("$js", tag)) => return script_tag(word(tag)?, map),
            Some((_, tag)) => python_tag(word(tag)?, map, language)?,
            None => {
                let mut items = Vec::with_capacity(map.len());
                for (key, value) in map.iter() {
                    if let Some(value) = object(value, language)? {
                        items.push((Object::Str(key.to_owned()), value));
                    }
                }
                Object::Dict(items)
            }
        },
        Val::List(list) => Object::List(objects(list, language)?),
        number @ (Val::I(_) | Val::U(_) | Val::F(_) | Val::Big(_)) if language.is_script() => {
            script_number(number.as_f64().unwrap_or(f64::NAN))
        }
        other => Object::from(other),
    }))
}

fn objects(list: &[Val<'_>], language: Language) -> Result<Vec<Object>, Unreadable> {
    list.iter().map(|it| read(it, language)).collect()
}

fn python_tag(tag: &str, map: &Map<'_>, language: Language) -> Result<Object, Unreadable> {
    let number = |number: f64| if language.is_script() { script_number(number) } else { Object::Float(number) };
    Ok(match tag {
        "nan" => number(f64::NAN),
        "inf" => number(f64::INFINITY),
        "-inf" => number(f64::NEG_INFINITY),
        "int" => integer(map)?,
        "tuple" => Object::Tuple(objects(items(map)?, language)?),
        "set" => Object::Set(objects(items(map)?, language)?),
        "bytes" => Object::Bytes(latin1(text(map, "latin1")?)?),
        "complex" => Object::Complex { re: part(map, "re")?, im: part(map, "im")? },
        "dict" => Object::Dict(items(map)?.iter().map(|it| pair(it, language)).collect::<Result<_, _>>()?),
        "object" => Object::Other { type_name: text(map, "type")?.to_owned(), repr: text(map, "repr")?.to_owned() },
        other => return Err(unknown_tag("$py", other)),
    })
}

/// What the rules of `JSON.stringify` make of it.
fn script_tag(tag: &str, map: &Map<'_>) -> Result<Option<Object>, Unreadable> {
    Ok(match tag {
        "undefined" | "function" | "symbol" => None,
        // Written as null they would be no score at all, and a mean over the rest would pass.
        "nan" => Some(Object::Float(f64::NAN)),
        "inf" => Some(Object::Float(f64::INFINITY)),
        "-inf" => Some(Object::Float(f64::NEG_INFINITY)),
        "-0" => Some(Object::Int(0)),
        "bigint" => Some(integer(map)?),
        "date" => Some(Object::from("2024-01-02T03:04:05.000Z")),
        "empty-map" | "empty-set" => Some(Object::Dict(Vec::new())),
        other => return Err(unknown_tag("$js", other)),
    })
}

/// Whole numbers below 1e21 are written without a point or an exponent; so a reader takes them for integers.
fn script_number(number: f64) -> Object {
    match number {
        it if !it.is_finite() || it.fract() != 0.0 || it.abs() >= 1e21 => Object::Float(it),
        // `+ 0.0` because minus zero is written as `0`.
        it => Object::integer(&(it + 0.0).to_string()).unwrap_or(Object::Float(it)),
    }
}

fn integer(map: &Map<'_>) -> Result<Object, Unreadable> {
    let digits = text(map, "value")?;
    Object::integer(digits).ok_or_else(|| Unreadable("an integer that is not written in digits".to_owned()))
}

fn pair(sent: &Val<'_>, language: Language) -> Result<(Object, Object), Unreadable> {
    match sent.as_list() {
        Some([key, value]) => Ok((read(key, language)?, read(value, language)?)),
        _ => Err(Unreadable("an item of a dict that is not a key and a value".to_owned())),
    }
}

fn part(map: &Map<'_>, key: &str) -> Result<f64, Unreadable> {
    let value = map.get(key).ok_or_else(|| missing(key))?;
    match object(value, Language::Python)? {
        Some(number) if number.is_number() => number.as_f64().ok_or_else(|| missing(key)),
        _ => Err(missing(key)),
    }
}

fn items<'m, 'v>(map: &'m Map<'v>) -> Result<&'m [Val<'v>], Unreadable> {
    map.get("items").and_then(Val::as_list).ok_or_else(|| missing("items"))
}

fn text<'m>(map: &'m Map<'_>, key: &str) -> Result<&'m str, Unreadable> {
    map.get(key).and_then(Val::as_str).ok_or_else(|| missing(key))
}

fn latin1(text: &str) -> Result<Vec<u8>, Unreadable> {
    let bytes: Option<Vec<u8>> = text.chars().map(|it| u8::try_from(u32::from(it)).ok()).collect();
    bytes.ok_or_else(|| Unreadable("bytes with a character beyond 255".to_owned()))
}

fn word<'v>(tag: &'v Val<'_>) -> Result<&'v str, Unreadable> {
    tag.as_str().ok_or_else(|| Unreadable(format!("a tag that is {} rather than text", tag.kind().phrase())))
}

fn missing(key: &str) -> Unreadable {
    Unreadable(format!("a tagged value without a usable `{key}`"))
}

fn unknown_tag(key: &str, tag: &str) -> Unreadable {
    Unreadable(format!("there is no value `{tag}` under `{key}`"))
}
