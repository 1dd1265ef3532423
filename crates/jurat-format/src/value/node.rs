//! A value with the place of each of its parts: what definitions are read from.

use std::borrow::Cow;
use std::collections::HashMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{JsonError, MAX_DEPTH, Map, SourceId, Span, Val};

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Node<'a> {
    pub span: Span,
    pub content: Content<'a>,
}

/// What a node holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Content<'a> {
    /// Null, a boolean, a number or text.
    Scalar(Val<'a>),
    List(Vec<Node<'a>>),
    /// An object, each key once, in the order it was written.
    Map(Vec<Entry<'a>>),
}

/// One member of an object.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry<'a> {
    pub key: Cow<'a, str>,
    pub key_span: Span,
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

    pub fn is_null(&self) -> bool {
        matches!(self.content, Content::Scalar(Val::Null))
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
    pub key: String,
    pub first: Span,
    pub again: Span,
}

/// Reads JSON with the place of every part, exactly. Answers also which keys came a second time; the last value won.
pub fn json_node(text: &str, source: SourceId) -> Result<(Node<'_>, Vec<RepeatedKey>), JsonError> {
    json_node_within(text, source, usize::MAX)
}

/// Like [`json_node`], for texts that hold at most `max_nodes` values.
pub fn json_node_within(
    text: &str,
    source: SourceId,
    max_nodes: usize,
) -> Result<(Node<'_>, Vec<RepeatedKey>), JsonError> {
    // Once the text is known to be JSON, one walk over it finds every part.
    let raw: &RawValue = serde_json::from_str(text)?;
    let at = raw.get().as_ptr() as usize - text.as_ptr() as usize;
    let mut walk = Walk { text, source, at, n_nodes: 0, max_nodes, repeated: Vec::new() };
    let node = walk.node(0)?;
    Ok((node, walk.repeated))
}

/// A place in a text that is JSON.
struct Walk<'a> {
    text: &'a str,
    source: SourceId,
    at: usize,
    n_nodes: usize,
    max_nodes: usize,
    repeated: Vec<RepeatedKey>,
}

impl<'a> Walk<'a> {
    fn node(&mut self, depth: usize) -> Result<Node<'a>, JsonError> {
        let start = self.at;
        if depth > MAX_DEPTH {
            return Err(self.error(start, format!("nested more than {MAX_DEPTH} deep")));
        }
        self.n_nodes += 1;
        if self.n_nodes > self.max_nodes {
            return Err(self.error(start, format!("more than {} values", self.max_nodes)));
        }
        let content = match self.byte() {
            b'{' => Content::Map(self.entries(depth)?),
            b'[' => Content::List(self.items(depth)?),
            b'"' => Content::Scalar(Val::Str(self.string()?)),
            _ => Content::Scalar(self.word()),
        };
        Ok(Node { span: self.span(start), content })
    }

    fn items(&mut self, depth: usize) -> Result<Vec<Node<'a>>, JsonError> {
        let mut items = Vec::new();
        while self.next_part() {
            items.push(self.node(depth + 1)?);
        }
        Ok(items)
    }

    fn entries(&mut self, depth: usize) -> Result<Vec<Entry<'a>>, JsonError> {
        let mut entries: Vec<Entry<'a>> = Vec::new();
        let mut places = HashMap::new();
        while self.next_part() {
            let start = self.at;
            let key = self.string()?;
            let key_span = self.span(start);
            self.skip(|it| it.is_ascii_whitespace() || it == b':');
            let value = self.node(depth + 1)?;
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

    /// Steps over an opening bracket or a comma to the next part of a list or an object, or over its end.
    fn next_part(&mut self) -> bool {
        let is_end = |it| matches!(it, b']' | b'}');
        self.skip(|it| it.is_ascii_whitespace());
        if !is_end(self.byte()) {
            self.at += 1;
            self.skip(|it| it.is_ascii_whitespace());
        }
        let ended = is_end(self.byte());
        self.at += usize::from(ended);
        !ended
    }

    fn string(&mut self) -> Result<Cow<'a, str>, JsonError> {
        let start = self.at;
        let mut is_escaped = false;
        self.at += 1;
        self.skip(|it| {
            let goes_on = is_escaped || it != b'"';
            is_escaped = !is_escaped && it == b'\\';
            goes_on
        });
        self.at += 1;
        let piece = &self.text[start..self.at];
        match serde_json::from_str(piece) {
            Ok(Text(text)) => Ok(text),
            Err(error) => {
                let JsonError { message, column, .. } = JsonError::from(error);
                Err(self.error(start + column - 1, message))
            }
        }
    }

    /// `null`, `true`, `false` or a number.
    fn word(&mut self) -> Val<'a> {
        let start = self.at;
        self.skip(|it| !it.is_ascii_whitespace() && !matches!(it, b',' | b']' | b'}'));
        match &self.text[start..self.at] {
            "null" => Val::Null,
            "true" => Val::Bool(true),
            "false" => Val::Bool(false),
            digits => number(digits),
        }
    }

    fn byte(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(b'}')
    }

    fn skip(&mut self, mut goes_on: impl FnMut(u8) -> bool) {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += rest.iter().position(|it| !goes_on(*it)).unwrap_or(rest.len());
    }

    fn span(&self, start: usize) -> Span {
        Span::new(self.source, start..self.at)
    }

    fn error(&self, at: usize, message: String) -> JsonError {
        let before = &self.text[..self.text.floor_char_boundary(at)];
        let line = before.bytes().filter(|it| *it == b'\n').count() + 1;
        let column = before.len() - before.rfind('\n').map_or(0, |at| at + 1) + 1;
        JsonError { message, line, column }
    }
}

/// A number as it was written, in the narrowest form that is exact.
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
