//! Field paths: how a task says which part of its context it reads.
//!
//! ```text
//! answer                       a member
//! expert.scores[0]             an item, counted from 0
//! turns[-1].text               an item, counted from the end
//! headers["content-type"]      a member with any name
//! documents[*].score           every item: a list of what is found
//! agent_response.@json.answer  the text read as JSON
//! ```
//!
//! A path is parsed once, accounts for every character, and is never guessed at: what is not in this grammar is an error
//! with its place, because a path that reads something else than it says gives wrong verdicts without a word.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use super::{Kind, Val, parse_json};

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FieldPath(Box<[Step]>);

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Step {
    /// The member of an object.
    Key(Box<str>),
    /// The item of a list; a negative number counts from the end.
    Index(i64),
    /// Every item of a list.
    Each,
    /// The text read as JSON.
    Json,
}

/// Why a text is not a path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct PathError {
    /// What kind of mistake it is.
    pub kind: PathErrorKind,
    /// The bytes of the path that are wrong.
    pub at: Range<usize>,
    pub message: String,
    pub help: Option<String>,
}

/// The kinds of mistake in a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathErrorKind {
    /// There is no step in it.
    Empty,
    /// An index that no list can have.
    Index,
    /// Something that the grammar does not have.
    Grammar,
    /// More than [`FieldPath::MAX_BYTES`] or [`FieldPath::MAX_STEPS`].
    TooLong,
}

/// Why a path found nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct Missing {
    /// The step that found nothing, counted from 0.
    pub step: usize,
    pub kind: MissingKind,
}

/// What was there instead of what a path looked for.
#[derive(Debug, Clone, PartialEq)]
pub enum MissingKind {
    /// The object has no such member; these are the ones it has, as far as they were read.
    NoKey(Vec<String>),
    /// A member was looked for in something that is not an object.
    NotAnObject(Kind),
    /// The list has only this many items.
    NoItem(usize),
    /// An item was looked for in something that is not a list.
    NotAList(Kind),
    /// None of the items has the rest of the path.
    NoneOf(usize),
    /// What should be JSON text is of another kind.
    NotText(Kind),
    /// The text is not JSON.
    NotJson(String),
}

impl FieldPath {
    /// No path is longer.
    pub const MAX_BYTES: usize = 4096;
    /// No path has more steps.
    pub const MAX_STEPS: usize = 256;

    /// Parses a path, accounting for every character.
    pub fn parse(text: &str) -> Result<FieldPath, PathError> {
        Parser { text, at: 0 }.path()
    }

    /// Makes a path of its steps.
    pub fn of(steps: impl IntoIterator<Item = Step>) -> FieldPath {
        FieldPath(steps.into_iter().collect())
    }

    #[inline]
    pub fn steps(&self) -> &[Step] {
        &self.0
    }

    /// The name of the first step, when it is a name: what the context must supply.
    #[inline]
    pub fn root(&self) -> Option<&str> {
        match self.0.first() {
            Some(Step::Key(key)) => Some(key),
            _ => None,
        }
    }

    /// The path without its first step.
    pub fn rest(&self) -> FieldPath {
        FieldPath(self.0.iter().skip(1).cloned().collect())
    }

    /// Looks up the path. What is found is borrowed, unless `[*]` or `@json` had to make it.
    #[inline]
    pub fn find<'r, 'v>(&self, value: &'r Val<'v>) -> Result<Cow<'r, Val<'v>>, Missing> {
        find(&self.0, value, 0)
    }

    /// What is there to borrow at the end of the path. `None` says nothing yet: [`find`](Self::find) knows whether it is
    /// missing or has to be made.
    #[inline]
    pub fn reach<'r, 'v>(&self, value: &'r Val<'v>) -> Option<&'r Val<'v>> {
        reach(&self.0, value)
    }

    /// Like [`reach`](Self::reach), leaving out the first `skip` steps.
    #[inline]
    pub fn reach_after<'r, 'v>(&self, skip: usize, value: &'r Val<'v>) -> Option<&'r Val<'v>> {
        reach(&self.0[skip..], value)
    }

    /// Like [`find`](Self::find), leaving out the first `skip` steps.
    pub(crate) fn find_after<'r, 'v>(&self, skip: usize, value: &'r Val<'v>) -> Result<Cow<'r, Val<'v>>, Missing> {
        find(&self.0[skip..], value, skip)
    }

    /// The first `n` steps as text.
    fn prefix(&self, n: usize) -> String {
        FieldPath(self.0[..n.min(self.0.len())].into()).to_string()
    }
}

#[inline]
fn reach<'r, 'v>(steps: &[Step], mut value: &'r Val<'v>) -> Option<&'r Val<'v>> {
    for step in steps {
        value = match (step, value) {
            (Step::Key(key), Val::Map(map)) => map.get(key)?,
            (Step::Index(index), Val::List(items)) => item(items, *index)?,
            _ => return None,
        };
    }
    Some(value)
}

fn find<'r, 'v>(steps: &[Step], mut value: &'r Val<'v>, before: usize) -> Result<Cow<'r, Val<'v>>, Missing> {
    for (ix, step) in steps.iter().enumerate() {
        let missing = |kind| Missing { step: before + ix, kind };
        let rest = &steps[ix + 1..];
        value = match step {
            Step::Key(key) => {
                let map = value.as_map().ok_or_else(|| missing(MissingKind::NotAnObject(value.kind())))?;
                map.get(key).ok_or_else(|| missing(MissingKind::NoKey(map.keys().map(str::to_owned).collect())))?
            }
            Step::Index(index) => {
                let items = value.as_list().ok_or_else(|| missing(MissingKind::NotAList(value.kind())))?;
                item(items, *index).ok_or_else(|| missing(MissingKind::NoItem(items.len())))?
            }
            Step::Each => {
                let items = value.as_list().ok_or_else(|| missing(MissingKind::NotAList(value.kind())))?;
                let found = each(rest, items, before + ix + 1);
                // An empty list holds an honest nothing; items that all lack the rest look like a misspelt path.
                if found.is_empty() && !items.is_empty() {
                    return Err(missing(MissingKind::NoneOf(items.len())));
                }
                return Ok(Cow::Owned(Val::List(found)));
            }
            Step::Json => {
                let inner = read_text(value).map_err(missing)?;
                return find(rest, &inner, before + ix + 1).map(|it| Cow::Owned(it.into_owned()));
            }
        };
    }
    Ok(Cow::Borrowed(value))
}

fn item<'r, 'v>(items: &'r [Val<'v>], index: i64) -> Option<&'r Val<'v>> {
    let ix = if index < 0 {
        items.len().checked_sub(usize::try_from(index.unsigned_abs()).ok()?)?
    } else {
        usize::try_from(index).ok()?
    };
    items.get(ix)
}

/// What the items have; a further `[*]` in the rest adds to the same list.
fn each<'v>(rest: &[Step], items: &[Val<'v>], before: usize) -> Vec<Val<'v>> {
    let nested = rest.contains(&Step::Each);
    let mut all = Vec::new();
    for found in items.iter().filter_map(|it| find(rest, it, before).ok()) {
        match found.into_owned() {
            Val::List(found) if nested => all.extend(found),
            found => all.push(found),
        }
    }
    all
}

fn read_text<'v>(value: &Val<'v>) -> Result<Val<'v>, MissingKind> {
    let not_json = |error: super::JsonError| MissingKind::NotJson(error.to_string());
    match value {
        Val::Str(Cow::Borrowed(text)) => parse_json(text).map(|it| it.value).map_err(not_json),
        Val::Str(Cow::Owned(text)) => parse_json(text).map(|it| it.value.into_owned()).map_err(not_json),
        other => Err(MissingKind::NotText(other.kind())),
    }
}

impl Missing {
    /// What happened, in words; the reader has seen the path.
    pub fn explain(&self, path: &FieldPath) -> String {
        let place = match self.step {
            0 => "the context".to_owned(),
            step => format!("`{}`", path.prefix(step)),
        };
        let wanted = path.0.get(self.step).map(|it| FieldPath(Box::new([it.clone()])).to_string()).unwrap_or_default();
        match &self.kind {
            MissingKind::NoKey(keys) if keys.is_empty() => format!("{place} has no `{wanted}`"),
            MissingKind::NoKey(keys) => {
                let listed: Vec<&str> = keys.iter().map(String::as_str).take(12).collect();
                let more = if keys.len() > 12 { ", …" } else { "" };
                format!("{place} has no `{wanted}`; it has {}{more}", listed.join(", "))
            }
            MissingKind::NotAnObject(kind) => format!("{place} is {}, so it has no `{wanted}`", kind.phrase()),
            MissingKind::NoItem(n) => format!("{place} has no item {wanted}; it has {n}"),
            MissingKind::NotAList(kind) => format!("{place} is {}, so it has no item {wanted}", kind.phrase()),
            MissingKind::NoneOf(n) => format!("none of the {n} items of {place} has the rest of the path"),
            MissingKind::NotText(kind) => format!("{place} is {}, so it cannot be read as JSON text", kind.phrase()),
            MissingKind::NotJson(error) => format!("{place} is not JSON: {error}"),
        }
    }
}

/// The canonical spelling: it parses back to the same path.
impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (ix, step) in self.0.iter().enumerate() {
            let dot = if ix == 0 { "" } else { "." };
            match step {
                Step::Key(key) if is_name(key) => write!(f, "{dot}{key}")?,
                Step::Key(key) => write_quoted(f, key)?,
                Step::Index(index) => write!(f, "[{index}]")?,
                Step::Each => f.write_str("[*]")?,
                Step::Json => write!(f, "{dot}@json")?,
            }
        }
        Ok(())
    }
}

/// `["any key"]`, or `['any "key"']` when that takes fewer escapes: a printed path is never longer than what was parsed, and
/// so it is never too long to be parsed again.
fn write_quoted(f: &mut fmt::Formatter<'_>, key: &str) -> fmt::Result {
    let quote = if key.matches('"').count() > key.matches('\'').count() { '\'' } else { '"' };
    write!(f, "[{quote}")?;
    for it in key.chars() {
        f.write_str(if it == quote || it == '\\' { "\\" } else { "" })?;
        write!(f, "{it}")?;
    }
    write!(f, "{quote}]")
}

fn is_name(key: &str) -> bool {
    name_length(key) == key.len() && !key.is_empty()
}

/// How many bytes at the start of `text` are a name: a letter or `_`, then letters, digits, `_`, and `-` between them.
fn name_length(text: &str) -> usize {
    let mut length = 0;
    for (at, it) in text.char_indices() {
        let fits = match it {
            '_' => true,
            '-' => length > 0 && text[at + 1..].starts_with(in_name),
            _ if length == 0 => it.is_alphabetic(),
            _ => it.is_alphanumeric(),
        };
        if !fits {
            break;
        }
        length = at + it.len_utf8();
    }
    length
}

fn in_name(it: char) -> bool {
    it == '_' || it == '-' || it.is_alphanumeric()
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Parser<'t> {
    fn path(mut self) -> Result<FieldPath, PathError> {
        let whole = 0..self.text.len();
        if self.text.len() > FieldPath::MAX_BYTES {
            let message = format!("a path of {} bytes; {} are the most", self.text.len(), FieldPath::MAX_BYTES);
            return Err(PathError { kind: PathErrorKind::TooLong, at: whole, message, help: None });
        }
        if self.text.chars().all(|it| it == '.' || it.is_whitespace()) || self.text == "[]" {
            let message = "an empty path".to_owned();
            let help = Some("leave `field_path` out to read the whole context".to_owned());
            return Err(PathError { kind: PathErrorKind::Empty, at: whole, message, help });
        }
        let mut steps = Vec::new();
        while self.at < self.text.len() {
            steps.push(self.step(steps.is_empty())?);
            if steps.len() > FieldPath::MAX_STEPS {
                let message = format!("a path of more than {} steps", FieldPath::MAX_STEPS);
                return Err(PathError { kind: PathErrorKind::TooLong, at: whole, message, help: None });
            }
        }
        Ok(FieldPath(steps.into()))
    }

    fn step(&mut self, first: bool) -> Result<Step, PathError> {
        let start = self.at;
        if self.rest().starts_with('[') {
            return self.bracket();
        }
        if self.rest().starts_with('.') {
            if first {
                return Err(self.wrong(start..start + 1, "a path starts with a name or `[`", "drop the leading `.`"));
            }
            self.at += 1;
        } else if !first {
            let end = self.next_char_end();
            return Err(self.unexpected(start..end));
        }
        if self.rest().strip_prefix("@json").is_some_and(|after| !after.starts_with(in_name)) {
            self.at += "@json".len();
            return Ok(Step::Json);
        }
        let length = name_length(self.rest());
        if length == 0 {
            return Err(self.no_name(start));
        }
        let name = &self.rest()[..length];
        self.at += length;
        Ok(Step::Key(name.into()))
    }

    /// Nothing here can start a name: say what was probably meant.
    fn no_name(&self, dot: usize) -> PathError {
        let digits = self.rest().bytes().take_while(u8::is_ascii_digit).count();
        let at = self.at..self.next_char_end().max(self.at + digits);
        match self.rest().chars().next() {
            None => self.wrong(dot..self.at, "a path does not end with `.`", "name what comes after it, or drop it"),
            Some('.') => self.wrong(at, "two `.` with nothing between them", "drop one of them"),
            Some('[') => self.wrong(dot..self.at, "a `.` before `[`", "write `[…]` right after the name"),
            Some(it) if it.is_ascii_digit() => {
                let digits = &self.rest()[..digits];
                let help = format!(
                    "write `[{digits}]` for the item of a list, `[\"{digits}…\"]` for a key that starts with a digit"
                );
                self.wrong(at, "a name does not start with a digit", &help)
            }
            Some('$') if self.rest().starts_with("${") => {
                self.wrong(at, "`$` is not part of a path", "a path stands alone: write it without `${` and `}`")
            }
            Some('$') => self.wrong(at, "`$` is not part of a path", "paths start at the context: drop `$.`"),
            Some('@') => {
                self.wrong(at, "`@json` is the only name with `@`", "write `[\"@…\"]` for a key that starts with `@`")
            }
            Some(_) => self.unexpected(at),
        }
    }

    fn unexpected(&self, at: Range<usize>) -> PathError {
        let found = &self.text[at.clone()];
        let message = format!("`{}` cannot stand here in a path", found.escape_debug());
        self.wrong(at, &message, "quote keys that are not plain names: `[\"any key\"]`")
    }

    fn bracket(&mut self) -> Result<Step, PathError> {
        let start = self.at;
        let inside = &self.rest()[1..];
        if let Some(quote @ ('"' | '\'')) = inside.chars().next() {
            return self.quoted(quote);
        }
        let Some(length) = inside.find(']') else {
            return Err(self.wrong(start..self.text.len(), "`[` without `]`", "close it: `[0]`, `[*]` or `[\"key\"]`"));
        };
        let (inside, at) = (&inside[..length], start..start + length + 2);
        self.at = at.end;
        if inside == "*" {
            return Ok(Step::Each);
        }
        let digits = inside.strip_prefix('-').unwrap_or(inside);
        if digits.is_empty() || !digits.bytes().all(|it| it.is_ascii_digit()) {
            return Err(self.wrong(
                at,
                "between `[` and `]` stands a number, `*` or a quoted key",
                "quote a key: `[\"key\"]`",
            ));
        }
        match inside.parse::<i64>() {
            Ok(0) if inside.starts_with('-') => {
                Err(self.wrong(at, "`-0` counts from neither end", "the last item is `[-1]`"))
            }
            Ok(index) => Ok(Step::Index(index)),
            Err(_) => {
                let message = "the index is larger than any list".to_owned();
                Err(PathError { kind: PathErrorKind::Index, at, message, help: None })
            }
        }
    }

    /// `["any key"]`: a backslash takes the next character as it is.
    fn quoted(&mut self, quote: char) -> Result<Step, PathError> {
        let start = self.at;
        let mut key = String::new();
        let mut chars = self.rest()[2..].char_indices();
        while let Some((at, it)) = chars.next() {
            match it {
                '\\' => key.extend(chars.next().map(|(_, escaped)| escaped)),
                _ if it == quote => {
                    let end = start + 2 + at + quote.len_utf8();
                    if !self.text[end..].starts_with(']') {
                        return Err(self.wrong(start..end, "a quoted key is closed with `]`", "write `[\"key\"]`"));
                    }
                    self.at = end + 1;
                    return Ok(Step::Key(key.into()));
                }
                _ => key.push(it),
            }
        }
        Err(self.wrong(start..self.text.len(), "a quoted key without its closing quote", "write `[\"key\"]`"))
    }

    fn wrong(&self, at: Range<usize>, message: &str, help: &str) -> PathError {
        PathError { kind: PathErrorKind::Grammar, at, message: message.to_owned(), help: Some(help.to_owned()) }
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn next_char_end(&self) -> usize {
        self.at + self.rest().chars().next().map_or(0, char::len_utf8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTEXT: &str = r#"{"user": {"name": "Ada", "tags": ["x", "y"], "user-id": 7, "a.b": 8, "été": 9},
        "items": [{"id": 1, "sub": [1, 2]}, {"id": 2, "sub": []}, {"other": 0}], "empty": [],
        "reply": "{\"answer\": \"yes\", \"n\": [1, 2]}", "none": null, "quote\"d": 5}"#;

    #[track_caller]
    fn found(path: &str, expected: &str) {
        let context = parse_json(CONTEXT).unwrap().value;
        let answer = match FieldPath::parse(path) {
            Err(error) => format!("{}..{} {error}", error.at.start, error.at.end),
            Ok(path) => match path.find(&context) {
                Ok(value) => value.to_string(),
                Err(missing) => missing.explain(&path),
            },
        };
        assert_eq!(answer, expected, "{path}");
    }

    #[test]
    fn paths_find_what_they_say() {
        found("user.name", "\"Ada\"");
        found("user.tags[1]", "\"y\"");
        found("user.tags[-1]", "\"y\"");
        found("user.user-id", "7");
        found("user[\"a.b\"]", "8");
        found("user['a.b']", "8");
        found("user.été", "9");
        found("[\"quote\\\"d\"]", "5");
        found("none", "null");
        found("items[*].id", "[1, 2]");
        found("items[*].sub[*]", "[1, 2]");
        found("empty[*].id", "[]");
        found("reply.@json.answer", "\"yes\"");
        found("reply.@json.n[*]", "[1, 2]");
    }

    #[test]
    fn a_path_that_finds_nothing_says_where_it_stopped() {
        found("usr", "the context has no `usr`; it has user, items, empty, reply, none, quote\"d");
        found("user.name.first", "`user.name` is text, so it has no `first`");
        found("user.tags[2]", "`user.tags` has no item [2]; it has 2");
        found("user.tags[-3]", "`user.tags` has no item [-3]; it has 2");
        found("user[0]", "`user` is an object, so it has no item [0]");
        found("items[*].nothing", "none of the 3 items of `items` has the rest of the path");
        found("user.@json", "`user` is an object, so it cannot be read as JSON text");
        found("user.name.@json", "`user.name` is not JSON: expected value (line 1, column 1)");
    }

    #[test]
    fn what_is_not_a_path_is_an_error_with_its_place() {
        found("", "0..0 an empty path");
        found(" . ", "0..3 an empty path");
        found("user..name", "5..6 two `.` with nothing between them");
        found(".user", "0..1 a path starts with a name or `[`");
        found("user.", "4..5 a path does not end with `.`");
        found("tags.0", "5..6 a name does not start with a digit");
        found("1abc", "0..1 a name does not start with a digit");
        found("$.user", "0..1 `$` is not part of a path");
        found("user name", "4..5 ` ` cannot stand here in a path");
        found("a,b", "1..2 `,` cannot stand here in a path");
        found("a-", "1..2 `-` cannot stand here in a path");
        found("nums[0:2]", "4..9 between `[` and `]` stands a number, `*` or a quoted key");
        found("nums[1", "4..6 `[` without `]`");
        found("nums.[1]", "4..5 a `.` before `[`");
        found("a[99999999999999999999]", "1..23 the index is larger than any list");
        found("a[-0]", "1..5 `-0` counts from neither end");
        found("a[\"b]", "1..5 a quoted key without its closing quote");
    }
}
