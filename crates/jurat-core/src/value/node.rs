//! A value with the place of each of its parts: what definitions are read from.

use std::borrow::Cow;
use std::collections::HashMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{JsonError, MAX_DEPTH, Map, SourceId, Span, Val};

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Node<'a> {
    /// Where it stands.
    pub span: Span,
    /// What it holds.
    pub content: Content<'a>,
}

/// What a node holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Content<'a> {
    /// Null, a boolean, a number or text.
    Scalar(Val<'a>),
    /// A list.
    List(Vec<Node<'a>>),
    /// An object, each key once, in the order it was written.
    Map(Vec<Entry<'a>>),
}

/// One member of an object.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry<'a> {
    /// The key.
    pub key: Cow<'a, str>,
    /// Where the key stands.
    pub key_span: Span,
    /// The value.
    pub value: Node<'a>,
}

impl<'a> Node<'a> {
    /// The value without its places.
    pub fn to_val(&self) -> Val<'a> {
        self.clone().into_val()
    }

    /// The value without its places.
    pub fn into_val(self) -> Val<'a> {
        match self.content {
            Content::Scalar(value) => value,
            Content::List(items) => Val::List(items.into_iter().map(Node::into_val).collect()),
            Content::Map(entries) => {
                Val::Map(entries.into_iter().map(|it| (it.key, it.value.into_val())).collect::<Map<'a>>())
            }
        }
    }

    /// The value of `key`, when this is an object that has it.
    pub fn get(&self, key: &str) -> Option<&Node<'a>> {
        self.entries()?.iter().find(|it| it.key == key).map(|it| &it.value)
    }

    /// The members, when this is an object.
    pub fn entries(&self) -> Option<&[Entry<'a>]> {
        match &self.content {
            Content::Map(entries) => Some(entries),
            _ => None,
        }
    }

    /// The text, when this is text.
    pub fn as_str(&self) -> Option<&str> {
        match &self.content {
            Content::Scalar(value) => value.as_str(),
            _ => None,
        }
    }

    /// The items, when this is a list.
    pub fn as_list(&self) -> Option<&[Node<'a>]> {
        match &self.content {
            Content::List(items) => Some(items),
            _ => None,
        }
    }

    /// The value in words, for messages: a scalar as it is shown, `a list`, `an object`.
    pub fn phrase(&self) -> String {
        match &self.content {
            Content::Scalar(value) => super::shown_within(value, 40),
            Content::List(items) if items.is_empty() => "an empty list".to_owned(),
            Content::List(_) => "a list".to_owned(),
            Content::Map(entries) if entries.is_empty() => "an empty object".to_owned(),
            Content::Map(_) => "an object".to_owned(),
        }
    }
}

/// A key that came a second time in one object.
#[derive(Debug, Clone, PartialEq)]
pub struct RepeatedKey {
    /// The key.
    pub key: String,
    /// Where it came first.
    pub first: Span,
    /// Where it came again.
    pub again: Span,
}

/// Reads JSON with the place of every part, exactly. Answers also which keys came a second time; the last value won.
pub fn json_node(text: &str, source: SourceId) -> Result<(Node<'_>, Vec<RepeatedKey>), JsonError> {
    let raw: &RawValue = serde_json::from_str(text)?;
    let mut reader = Reader { text, source, repeated: Vec::new() };
    let node = reader.node(raw.get(), 0)?;
    Ok((node, reader.repeated))
}

struct Reader<'a> {
    text: &'a str,
    source: SourceId,
    repeated: Vec<RepeatedKey>,
}

impl<'a> Reader<'a> {
    /// Every piece that `serde_json` hands out is a slice of the text, so its address says where it stands.
    fn span(&self, piece: &str) -> Span {
        let start = (piece.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize);
        Span::new(self.source, start..start + piece.len())
    }

    fn node(&mut self, piece: &'a str, depth: usize) -> Result<Node<'a>, JsonError> {
        let span = self.span(piece);
        if depth > MAX_DEPTH {
            return Err(self.error(span, format!("nested more than {MAX_DEPTH} deep")));
        }
        let content = match piece.as_bytes().first() {
            Some(b'{') => Content::Map(self.entries(piece, depth)?),
            Some(b'[') => {
                let items: Vec<&RawValue> = serde_json::from_str(piece).map_err(|it| self.located(span, it))?;
                Content::List(items.into_iter().map(|it| self.node(it.get(), depth + 1)).collect::<Result<_, _>>()?)
            }
            Some(b'"') => {
                let text: Text<'_> = serde_json::from_str(piece).map_err(|it| self.located(span, it))?;
                Content::Scalar(Val::Str(text.0))
            }
            Some(b't') => Content::Scalar(Val::Bool(true)),
            Some(b'f') => Content::Scalar(Val::Bool(false)),
            Some(b'n') => Content::Scalar(Val::Null),
            _ => Content::Scalar(number(piece)),
        };
        Ok(Node { span, content })
    }

    fn entries(&mut self, piece: &'a str, depth: usize) -> Result<Vec<Entry<'a>>, JsonError> {
        let Members(members) = serde_json::from_str(piece).map_err(|it| self.located(self.span(piece), it))?;
        let mut entries: Vec<Entry<'a>> = Vec::with_capacity(members.len());
        let mut places = HashMap::with_capacity(members.len());
        for (raw_key, value) in members {
            let key_span = self.span(raw_key.get());
            let Text(key) = serde_json::from_str(raw_key.get()).map_err(|it| self.located(key_span, it))?;
            let value = self.node(value.get(), depth + 1)?;
            match places.get(&key) {
                None => {
                    places.insert(key.clone(), entries.len());
                    entries.push(Entry { key, key_span, value });
                }
                Some(place) => {
                    let entry: &mut Entry<'a> = &mut entries[*place];
                    self.repeated.push(RepeatedKey { key: key.into_owned(), first: entry.key_span, again: key_span });
                    (entry.key_span, entry.value) = (key_span, value);
                }
            }
        }
        Ok(entries)
    }

    /// An error inside a piece, counted from the start of the whole text.
    fn located(&self, span: Span, error: serde_json::Error) -> JsonError {
        let JsonError { message, line, column } = JsonError::from(error);
        let piece = self.text.get(span.range()).unwrap_or_default();
        let lines_before = piece.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum::<usize>();
        self.error(span.part(lines_before + column - 1..span.range().len()), message)
    }

    fn error(&self, span: Span, message: String) -> JsonError {
        let before = &self.text[..self.text.floor_char_boundary(span.range().start)];
        let line = before.bytes().filter(|it| *it == b'\n').count() + 1;
        let column = before.len() - before.rfind('\n').map_or(0, |at| at + 1) + 1;
        JsonError { message, line, column }
    }
}

/// A number as it was written, in the narrowest form that keeps it exactly.
pub(crate) fn number(text: &str) -> Val<'_> {
    if let Ok(integer) = text.parse::<i64>() {
        // `-0` is the one integer that an integer type cannot hold.
        return if integer == 0 && text.starts_with('-') { Val::F(-0.0) } else { Val::I(integer) };
    }
    if let Ok(integer) = text.parse::<u64>() {
        return Val::from(integer);
    }
    match text.parse::<f64>() {
        Ok(float) if float.is_finite() && text.contains(['.', 'e', 'E']) => Val::F(float),
        _ => Val::Big(Cow::Borrowed(text)),
    }
}

/// Text, borrowed when it holds no escape.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

/// The members of an object in the order they were written, keys and values as they stand.
struct Members<'a>(Vec<(&'a RawValue, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Each;
        impl<'de> serde::de::Visitor<'de> for Each {
            type Value = Members<'de>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Each)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_knows_its_place() {
        let text = "{\"a\\u0062\": [1, \"é\"],\n \"c\": {\"d\": null}}";
        let (node, _) = json_node(text, SourceId(3)).unwrap();
        let entries = node.entries().unwrap();
        let at = |span: Span| &text[span.range()];
        assert_eq!((at(entries[0].key_span), &*entries[0].key), ("\"a\\u0062\"", "ab"));
        assert_eq!(at(entries[0].value.as_list().unwrap()[1].span), "\"é\"");
        assert_eq!(at(node.get("c").unwrap().get("d").unwrap().span), "null");
        assert_eq!(node.span.source, SourceId(3));
    }
}
