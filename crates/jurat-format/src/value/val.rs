//! The value type, borrowed from the text it was read from.

use std::borrow::Cow;
use std::fmt;
use std::fmt::Write as _;

/// A JSON-like value. Integers that fit 64 bits are exact, other numbers that do not fit are stored as text.
// A tag of one byte would leave room for the boolean beside it, and moving a value would then copy those seven bytes in
// pieces that overlap what was written: each move waited for memory. A tag as wide as the rest moves in whole words.
#[derive(Debug, Clone, PartialEq)]
#[repr(u64)]
pub enum Val<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// An integer that fits `i64`.
    I(i64),
    /// An integer above `i64::MAX` that fits `u64`; smaller ones are always [`Val::I`].
    U(u64),
    /// A number written with a fraction or an exponent.
    F(f64),
    /// A number that fits none of these, as it was written.
    Big(Cow<'a, str>),
    /// Text.
    Str(Cow<'a, str>),
    List(Vec<Val<'a>>),
    /// An object.
    Map(Map<'a>),
}

/// A value that owns its text.
pub type Value = Val<'static>;

impl<'a> Val<'a> {
    /// The kind of value this is.
    #[inline]
    pub fn kind(&self) -> Kind {
        match self {
            Val::Null => Kind::Null,
            Val::Bool(_) => Kind::Boolean,
            Val::I(_) | Val::U(_) | Val::F(_) | Val::Big(_) => Kind::Number,
            Val::Str(_) => Kind::Text,
            Val::List(_) => Kind::List,
            Val::Map(_) => Kind::Object,
        }
    }

    /// The text, when it is text.
    #[inline]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Val::Str(text) => Some(text),
            _ => None,
        }
    }

    /// The items, when it is a list.
    #[inline]
    pub fn as_list(&self) -> Option<&[Val<'a>]> {
        match self {
            Val::List(items) => Some(items),
            _ => None,
        }
    }

    /// The members, when it is an object.
    #[inline]
    pub fn as_map(&self) -> Option<&Map<'a>> {
        match self {
            Val::Map(map) => Some(map),
            _ => None,
        }
    }

    /// The member called `key`, when this is an object that has it.
    #[inline]
    pub fn get(&self, key: &str) -> Option<&Val<'a>> {
        self.as_map()?.get(key)
    }

    /// The nearest double, when it is a number. A number too large for a double is an infinity.
    #[inline]
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            // The nearest double is what is asked for here; exact comparison is `compare_numbers`.
            Val::I(number) => Some(*number as f64),
            Val::U(number) => Some(*number as f64),
            Val::F(number) => Some(*number),
            Val::Big(text) => text.parse().ok(),
            _ => None,
        }
    }

    /// The value as JSON without any space, as models are sent it.
    pub fn to_json(&self) -> String {
        let mut json = String::new();
        write_json(&mut json, self);
        json
    }

    /// A copy that owns its text.
    pub fn into_owned(self) -> Value {
        match self {
            Val::Null => Val::Null,
            Val::Bool(value) => Val::Bool(value),
            Val::I(number) => Val::I(number),
            Val::U(number) => Val::U(number),
            Val::F(number) => Val::F(number),
            Val::Big(text) => Val::Big(Cow::Owned(text.into_owned())),
            Val::Str(text) => Val::Str(Cow::Owned(text.into_owned())),
            Val::List(items) => Val::List(items.into_iter().map(Val::into_owned).collect()),
            Val::Map(map) => Val::Map(map.into_owned()),
        }
    }

    /// The same value, borrowing its text from `self`. Scalars are free; lists and objects get a new spine.
    pub fn borrowed(&self) -> Val<'_> {
        match self {
            Val::Null => Val::Null,
            Val::Bool(value) => Val::Bool(*value),
            Val::I(number) => Val::I(*number),
            Val::U(number) => Val::U(*number),
            Val::F(number) => Val::F(*number),
            Val::Big(text) => Val::Big(Cow::Borrowed(text)),
            Val::Str(text) => Val::Str(Cow::Borrowed(text)),
            Val::List(items) => Val::List(items.iter().map(Val::borrowed).collect()),
            Val::Map(map) => {
                Val::Map(Map(map.0.iter().map(|(key, value)| (Cow::Borrowed(&**key), value.borrowed())).collect()))
            }
        }
    }
}

impl From<u64> for Val<'_> {
    fn from(number: u64) -> Self {
        i64::try_from(number).map_or(Val::U(number), Val::I)
    }
}

impl From<i64> for Val<'_> {
    fn from(number: i64) -> Self {
        Val::I(number)
    }
}

impl From<i32> for Val<'_> {
    fn from(number: i32) -> Self {
        Val::I(number.into())
    }
}

impl From<u32> for Val<'_> {
    fn from(number: u32) -> Self {
        Val::I(number.into())
    }
}

impl From<f64> for Val<'_> {
    fn from(number: f64) -> Self {
        Val::F(number)
    }
}

impl From<bool> for Val<'_> {
    fn from(value: bool) -> Self {
        Val::Bool(value)
    }
}

impl<'a> From<&'a str> for Val<'a> {
    fn from(text: &'a str) -> Self {
        Val::Str(Cow::Borrowed(text))
    }
}

impl From<String> for Val<'_> {
    fn from(text: String) -> Self {
        Val::Str(Cow::Owned(text))
    }
}

impl<'a> FromIterator<Val<'a>> for Val<'a> {
    fn from_iter<I: IntoIterator<Item = Val<'a>>>(items: I) -> Self {
        Val::List(items.into_iter().collect())
    }
}

/// JSON on one line, with a space after `,` and `:` for people. What JSON cannot write (a YAML `.nan` or `.inf`) is written as YAML writes it.
impl fmt::Display for Val<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Val::Null => f.write_str("null"),
            Val::Bool(value) => write!(f, "{value}"),
            Val::I(number) => write!(f, "{number}"),
            Val::U(number) => write!(f, "{number}"),
            Val::F(number) if number.is_nan() => f.write_str(".nan"),
            Val::F(number) if number.is_infinite() => f.write_str(if *number > 0.0 { ".inf" } else { "-.inf" }),
            Val::F(number) => write!(f, "{number:?}"),
            Val::Big(text) => f.write_str(text),
            Val::Str(text) => write_quoted(f, text),
            Val::List(items) => {
                f.write_str("[")?;
                for (ix, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if ix == 0 { "" } else { ", " })?;
                }
                f.write_str("]")
            }
            Val::Map(map) => {
                f.write_str("{")?;
                for (ix, (key, value)) in map.iter().enumerate() {
                    f.write_str(if ix == 0 { "" } else { ", " })?;
                    write_quoted(f, key)?;
                    write!(f, ": {value}")?;
                }
                f.write_str("}")
            }
        }
    }
}

/// Writes [`Val::to_json`] behind what is there.
pub fn write_json(json: &mut String, value: &Val<'_>) {
    match value {
        Val::List(items) => {
            for (ix, item) in items.iter().enumerate() {
                json.push(if ix == 0 { '[' } else { ',' });
                write_json(json, item);
            }
            json.push_str(if items.is_empty() { "[]" } else { "]" });
        }
        Val::Map(map) => {
            for (ix, (key, item)) in map.iter().enumerate() {
                json.push(if ix == 0 { '{' } else { ',' });
                write_json_text(json, key);
                json.push(':');
                write_json(json, item);
            }
            json.push_str(if map.is_empty() { "{}" } else { "}" });
        }
        Val::Str(text) => write_json_text(json, text),
        scalar => write!(json, "{scalar}").expect("memory can be written to"),
    }
}

/// Writes a text in quotes, with the escapes of JSON.
pub fn write_json_text(json: &mut String, text: &str) {
    json.reserve(text.len() + 2);
    json.push('"');
    let mut rest = text;
    while let Some(ix) = first_escaped(rest.as_bytes()) {
        json.push_str(&rest[..ix]);
        match rest.as_bytes()[ix] {
            b'"' => json.push_str("\\\""),
            b'\\' => json.push_str("\\\\"),
            b'\n' => json.push_str("\\n"),
            b'\r' => json.push_str("\\r"),
            b'\t' => json.push_str("\\t"),
            0x08 => json.push_str("\\b"),
            0x0c => json.push_str("\\f"),
            control => write!(json, "\\u{control:04x}").expect("memory can be written to"),
        }
        rest = &rest[ix + 1..];
    }
    json.push_str(rest);
    json.push('"');
}

/// The place of the first byte that cannot stand in a JSON text as it is. Most texts have few of them, so eight bytes are looked at together.
fn first_escaped(bytes: &[u8]) -> Option<usize> {
    let is_escaped = |byte: &u8| *byte < 0x20 || *byte == b'"' || *byte == b'\\';
    let (words, rest) = bytes.as_chunks::<8>();
    let n_plain = words.iter().take_while(|it| is_plain(u64::from_ne_bytes(**it))).count();
    if n_plain == words.len() {
        let mut word = [b' '; 8];
        word[..rest.len()].copy_from_slice(rest);
        if is_plain(u64::from_ne_bytes(word)) {
            return None;
        }
    }
    let from = n_plain * 8;
    bytes[from..].iter().position(is_escaped).map(|ix| from + ix)
}

/// Whether none of eight bytes is below 0x20, a quote or a backslash. Taking a number from each byte borrows from the highest bit of those that are smaller;
/// a byte is one that is looked for when it differs from that by less than one.
fn is_plain(word: u64) -> bool {
    const EACH: u64 = u64::from_ne_bytes([1; 8]);
    const HIGHEST: u64 = EACH << 7;
    let below = |word: u64, number: u8| word.wrapping_sub(EACH * number as u64) & !word & HIGHEST;
    let equal = |byte: u8| below(word ^ (EACH * byte as u64), 1);
    below(word, 0x20) | equal(b'"') | equal(b'\\') == 0
}

fn write_quoted(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    // A string always serialises.
    f.write_str(&serde_json::to_string(text).map_err(|_| fmt::Error)?)
}

/// An object: its members in the order they were written, each key once.
#[derive(Debug, Clone, Default)]
pub struct Map<'a>(Vec<(Cow<'a, str>, Val<'a>)>);

impl<'a> Map<'a> {
    /// Keys beyond this many are found through a set rather than one by one.
    const FEW: usize = 24;

    /// Makes an object of pairs. A key that comes twice has its first place and its last value; the flag says that one did.
    pub fn from_pairs(mut pairs: Vec<(Cow<'a, str>, Val<'a>)>) -> (Map<'a>, bool) {
        let repeated = if pairs.len() <= Self::FEW {
            (1..pairs.len()).any(|ix| pairs[..ix].iter().any(|(key, _)| same_key(key, &pairs[ix].0)))
        } else {
            let mut seen = std::collections::HashSet::with_capacity(pairs.len());
            !pairs.iter().all(|(key, _)| seen.insert(&**key))
        };
        if repeated {
            let mut place = std::collections::HashMap::with_capacity(pairs.len());
            let mut unique: Vec<(Cow<'a, str>, Val<'a>)> = Vec::with_capacity(pairs.len());
            for (key, value) in pairs {
                match place.get(&key) {
                    Some(&ix) => {
                        let earlier: &mut (Cow<'a, str>, Val<'a>) = &mut unique[ix];
                        earlier.1 = value;
                    }
                    None => {
                        place.insert(key.clone(), unique.len());
                        unique.push((key, value));
                    }
                }
            }
            pairs = unique;
        }
        (Map(pairs), repeated)
    }

    /// An empty object with room for `n` members.
    pub fn with_capacity(n: usize) -> Map<'a> {
        Map(Vec::with_capacity(n))
    }

    /// The value of `key`.
    #[inline]
    pub fn get(&self, key: &str) -> Option<&Val<'a>> {
        self.0.iter().find(|(name, _)| same_key(name, key)).map(|(_, value)| value)
    }

    /// Adds a member whose key is not there yet, which the caller knows, and returns its place, holding null.
    pub(super) fn add(&mut self, key: Cow<'a, str>) -> &mut Val<'a> {
        debug_assert!(self.get(&key).is_none(), "`{key}` comes twice");
        self.0.push((key, Val::Null));
        &mut self.0.last_mut().expect("one was pushed").1
    }

    /// The place of `key`, holding null whether or not it was there, and whether it was.
    pub(super) fn clear(&mut self, key: Cow<'a, str>) -> (&mut Val<'a>, bool) {
        match self.0.iter().position(|(name, _)| same_key(name, &key)) {
            Some(ix) => {
                let place = &mut self.0[ix].1;
                *place = Val::Null;
                (place, true)
            }
            None => (self.add(key), false),
        }
    }

    /// Sets `key`, in its place when it is there. Returns whether it was.
    pub fn insert(&mut self, key: Cow<'a, str>, value: Val<'a>) -> bool {
        match self.0.iter_mut().find(|(name, _)| same_key(name, &key)) {
            Some((_, old)) => {
                *old = value;
                true
            }
            None => {
                self.0.push((key, value));
                false
            }
        }
    }

    /// The members in the order they were written.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Val<'a>)> {
        self.0.iter().map(|(key, value)| (&**key, value))
    }

    /// The keys in the order they were written.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &str> {
        self.0.iter().map(|(key, _)| &**key)
    }

    /// How many members there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no member.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn into_owned(self) -> Map<'static> {
        Map(self.0.into_iter().map(|(key, value)| (Cow::Owned(key.into_owned()), value.into_owned())).collect())
    }
}

impl<'a, K: Into<Cow<'a, str>>> FromIterator<(K, Val<'a>)> for Map<'a> {
    fn from_iter<I: IntoIterator<Item = (K, Val<'a>)>>(pairs: I) -> Self {
        Map::from_pairs(pairs.into_iter().map(|(key, value)| (key.into(), value)).collect()).0
    }
}

/// The members in the order they were written.
impl<'a> IntoIterator for Map<'a> {
    type Item = (Cow<'a, str>, Val<'a>);
    type IntoIter = std::vec::IntoIter<(Cow<'a, str>, Val<'a>)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

/// Whether two keys are the same. Keys are short, and for short text calling the C library costs more than comparing:
/// two words that overlap in the middle cover everything up to 16 bytes.
#[inline]
pub(super) fn same_key(left: &str, right: &str) -> bool {
    fn same_ends<const N: usize>(left: &[u8], right: &[u8]) -> bool {
        left.first_chunk::<N>() == right.first_chunk::<N>() && left.last_chunk::<N>() == right.last_chunk::<N>()
    }
    let (left, right) = (left.as_bytes(), right.as_bytes());
    left.len() == right.len()
        && match left.len() {
            0..4 => left.iter().zip(right).all(|(left, right)| left == right),
            4..8 => same_ends::<4>(left, right),
            8..=16 => same_ends::<8>(left, right),
            _ => left == right,
        }
}

/// Objects are equal when they have equal members, in whatever order.
impl PartialEq for Map<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().all(|(key, value)| other.get(key) == Some(value))
    }
}

/// What kind of value something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Kind {
    /// `null`
    Null = 1,
    /// `true` or `false`
    Boolean = 2,
    /// Any number.
    Number = 4,
    Text = 8,
    List = 16,
    Object = 32,
}

impl Kind {
    /// Every kind, in the order messages list them.
    pub const ALL: [Kind; 6] = [Kind::Null, Kind::Boolean, Kind::Number, Kind::Text, Kind::List, Kind::Object];

    /// The kind in words, with its article.
    pub fn phrase(self) -> &'static str {
        match self {
            Kind::Null => "null",
            Kind::Boolean => "a boolean",
            Kind::Number => "a number",
            Kind::Text => "text",
            Kind::List => "a list",
            Kind::Object => "an object",
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Kinds(u8);

impl Kinds {
    /// No kind.
    pub const NONE: Kinds = Kinds(0);
    /// Every kind.
    pub const ALL: Kinds = Kinds(63);

    /// The set of these kinds.
    pub const fn of(kinds: &[Kind]) -> Kinds {
        let mut bits = 0;
        let mut ix = 0;
        while ix < kinds.len() {
            bits |= kinds[ix] as u8;
            ix += 1;
        }
        Kinds(bits)
    }

    /// Whether `kind` is in the set.
    #[inline]
    pub const fn contains(self, kind: Kind) -> bool {
        self.0 & kind as u8 != 0
    }

    /// What is in either set.
    #[must_use]
    pub const fn union(self, other: Kinds) -> Kinds {
        Kinds(self.0 | other.0)
    }

    /// What is in both sets.
    #[must_use]
    pub const fn intersection(self, other: Kinds) -> Kinds {
        Kinds(self.0 & other.0)
    }

    /// Whether nothing is in the set.
    #[inline]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The kinds in the set.
    pub fn iter(self) -> impl Iterator<Item = Kind> {
        Kind::ALL.into_iter().filter(move |kind| self.contains(*kind))
    }
}

impl fmt::Display for Kinds {
    /// `text or a list`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let phrases: Vec<&str> = self.iter().map(Kind::phrase).collect();
        match phrases.split_last() {
            None => f.write_str("nothing"),
            Some((last, [])) => f.write_str(last),
            Some((last, rest)) => write!(f, "{} or {last}", rest.join(", ")),
        }
    }
}

impl fmt::Debug for Kinds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_escaped_wherever_they_need_it() {
        let long = "fjørd ".repeat(12);
        for n_before in [0, 1, 30, 31, 32, 33, 63, 64, 70] {
            let before = &long[..long.ceil_char_boundary(n_before)];
            for byte in 0..0x80_u8 {
                let text = format!("{before}{}{}{before}", char::from(byte), char::from(byte));
                assert_eq!(Val::from(text.as_str()).to_json(), serde_json::to_string(&text).unwrap());
            }
        }
    }

    #[test]
    fn keys_of_every_length_are_distinguished_at_every_byte() {
        for length in 0..40 {
            let key = "k".repeat(length);
            assert!(same_key(&key, &key.clone()));
            assert!(!same_key(&key, &format!("{key}k")));
            for at in 0..length {
                let mut other = key.clone();
                other.replace_range(at..=at, "x");
                assert!(!same_key(&key, &other), "{other}");
            }
        }
    }
}
