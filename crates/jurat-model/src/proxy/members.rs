//! The body of a request, read strictly enough that no provider can read it differently.
//!
//! The proxy replaces the model and bounds the tokens. That holds only if the provider finds the same members as the proxy: a body that some
//! parsers accept and others do not, or a member written twice, could name another model than the one that was checked.

use std::collections::BTreeMap;
use std::fmt;

use bytes::Bytes;
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::value::{RawValue, to_raw_value};

use super::Operation;

/// The members of a JSON object. Values stay as they were written; only their order may change.
#[derive(Debug, Default)]
pub(super) struct Members(BTreeMap<String, Box<RawValue>>);

/// The members that decide what a request may cost, in the spelling that the proxy reads.
const GUARDED: [&str; 10] = [
    "model",
    "stream",
    "stream_options",
    "n",
    "max_tokens",
    "max_completion_tokens",
    "max_output_tokens",
    "maxOutputTokens",
    "candidateCount",
    "generationConfig",
];

impl Members {
    /// Reads a body, or says why it is refused.
    pub(super) fn read(body: &[u8]) -> Result<Members, String> {
        serde_json::from_slice(body).map_err(|error| format!("the body is no JSON object that jurat can read: {error}"))
    }

    pub(super) fn text(&self, name: &str) -> Option<String> {
        self.0.get(name).and_then(|it| serde_json::from_str(it.get()).ok())
    }

    pub(super) fn is_true(&self, name: &str) -> bool {
        self.0.get(name).is_some_and(|it| it.get() == "true")
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Whether a list is there and not empty.
    pub(super) fn has_some(&self, name: &str) -> bool {
        self.0.get(name).is_some_and(|it| !matches!(it.get(), "[]" | "null"))
    }

    pub(super) fn set(&mut self, name: &str, value: &impl serde::Serialize) {
        let value = to_raw_value(value).expect("texts, numbers and objects are JSON");
        self.0.insert(name.to_owned(), value);
    }

    /// Removes a member, and says whether it was there.
    pub(super) fn remove(&mut self, name: &str) -> bool {
        self.0.remove(name).is_some()
    }

    /// A member that is an object; an empty one when it is absent.
    pub(super) fn object(&self, name: &str) -> Result<Members, String> {
        match self.0.get(name).map(|it| it.get()) {
            None | Some("null") => Ok(Members::default()),
            Some(json) => Members::read(json.as_bytes()).map_err(|it| format!("`{name}`: {it}")),
        }
    }

    /// A member that counts something. What is no whole number might be read as any number elsewhere.
    pub(super) fn count(&self, name: &str) -> Result<Option<u64>, String> {
        const EXACT: f64 = 9_007_199_254_740_992.0;
        let Some(json) = self.0.get(name).map(|it| it.get()).filter(|it| *it != "null") else { return Ok(None) };
        let whole = |it: &f64| it.fract() == 0.0 && (0.0..EXACT).contains(it);
        let count = json.parse().ok().or_else(|| json.parse().ok().filter(whole).map(|it| it as u64));
        count.map(Some).ok_or_else(|| format!("`{name}` must be a whole number"))
    }

    /// Refuses other spellings of members that count something.
    fn spelled(&self, names: &[&str]) -> Result<(), String> {
        let other = |key: &&String| !names.contains(&key.as_str());
        let meant = |key: &String| names.iter().find(|it| folded(it) == folded(key)).map(|it| (key.clone(), *it));
        match self.0.keys().filter(other).find_map(meant) {
            None => Ok(()),
            Some((key, name)) => Err(format!("`{key}` must be written `{name}`")),
        }
    }

    pub(super) fn to_bytes(&self) -> Bytes {
        Bytes::from(serde_json::to_vec(&self.0).expect("members were JSON"))
    }
}

impl serde::Serialize for Members {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Members, D::Error> {
        deserializer.deserialize_map(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Members;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
        let mut members = BTreeMap::new();
        while let Some((name, value)) = map.next_entry::<String, Box<RawValue>>()? {
            if let Some(guarded) = alike(&name) {
                return Err(A::Error::custom(format_args!("`{name}` must be written `{guarded}`")));
            }
            if let Some(name) = has_lone_surrogate(&value).then_some(&name) {
                return Err(A::Error::custom(format_args!("`{name}` has half of a surrogate pair")));
            }
            if members.insert(name.clone(), value).is_some() {
                return Err(A::Error::custom(format_args!("`{name}` is written twice")));
            }
        }
        Ok(Members(members))
    }
}

/// The guarded member that another spelling might mean: some providers ignore case, and some take `max_output_tokens` for `maxOutputTokens`.
fn alike(name: &str) -> Option<&'static str> {
    if GUARDED.contains(&name) {
        return None;
    }
    let folded = folded(name);
    GUARDED.into_iter().find(|it| self::folded(it) == folded)
}

/// A name without case and underscores. Upper case first, because `ſ` is an `s` only there.
fn folded(name: &str) -> String {
    name.to_uppercase().to_lowercase().replace('_', "")
}

/// Whether a value has an escape that is no character. Parsers differ about what it means.
fn has_lone_surrogate(value: &RawValue) -> bool {
    let json = value.get();
    json.contains("\\u") && serde_json::from_str::<Characters>(json).is_err()
}

/// Reads every text of a value, and stores none.
struct Characters;

impl<'de> Deserialize<'de> for Characters {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Characters, D::Error> {
        serde_json::Value::deserialize(deserializer).map(|_| Characters)
    }
}

/// How many tokens may be written in reply, and where a request says so.
pub(super) struct Bounds {
    /// The bound of one reply.
    pub(super) tokens: Option<u64>,
    pub(super) n_replies: u64,
}

/// Where requests of an operation say how many tokens may be written; what the first name says is understood everywhere.
pub(super) struct Places {
    pub(super) names: &'static [&'static str],
    pub(super) several: &'static str,
    /// The object that they are in.
    pub(super) inside: Option<&'static str>,
}

impl Places {
    /// `None` for requests in reply to which nothing is written.
    pub(super) fn of(operation: &Operation, is_openai: bool) -> Option<Places> {
        let (names, several, inside): (&[&str], _, _) = match operation {
            Operation::Chat if is_openai => (&["max_completion_tokens", "max_tokens"], "n", None),
            Operation::Chat => (&["max_tokens", "max_completion_tokens"], "n", None),
            Operation::Responses => (&["max_output_tokens"], "", None),
            Operation::Messages => (&["max_tokens"], "", None),
            Operation::Generate { .. } => (&["maxOutputTokens"], "candidateCount", Some("generationConfig")),
            Operation::CountMessages | Operation::CountGenerate { .. } | Operation::Models => return None,
        };
        Some(Places { names, several, inside })
    }

    /// Reads what a request says, or why it is refused.
    pub(super) fn read(&self, members: &Members) -> Result<Bounds, String> {
        let inner = self.inside.map(|it| members.object(it)).transpose()?;
        let settings = inner.as_ref().unwrap_or(members);
        settings.spelled(&[self.names, &[self.several]].concat())?;
        let n_replies = settings.count(self.several)?.unwrap_or(1).max(1);
        let counts = self.names.iter().map(|it| settings.count(it));
        let tokens = counts.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().max();
        Ok(Bounds { tokens, n_replies })
    }

    /// Has a request say how many tokens may be written.
    pub(super) fn write(&self, members: &mut Members, tokens: u64) -> Result<(), String> {
        let Some(inside) = self.inside else {
            members.set(self.names[0], &tokens);
            return Ok(());
        };
        let mut inner = members.object(inside)?;
        inner.set(self.names[0], &tokens);
        members.set(inside, &inner);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(body: impl AsRef<[u8]>, why: &str) {
        let error = Members::read(body.as_ref()).expect_err("it is refused");
        assert!(error.contains(why), "{error}");
    }

    #[test]
    fn what_providers_might_read_differently_is_refused() {
        refused("no JSON", "the body is no JSON object that jurat can read");
        refused("[]", "expected an object");
        refused("", "EOF");
        refused("{} {}", "trailing characters");
        refused("\u{feff}{}", "expected value");
        refused(b"{\0\"\0", "key must be a string");
        refused(r#"{"a": NaN}"#, "expected value");
        refused(b"{\"a\": \"\xff\"}", "invalid unicode");
        refused(r#"{"\ud800": 1}"#, "hex escape");
        refused(r#"{"a": ["\ud800"]}"#, "`a` has half of a surrogate pair");
        refused(r#"{"model": "m", "model": "n"}"#, "`model` is written twice");
        refused(r#"{"model": "m", "mod\u0065l": "n"}"#, "`model` is written twice");
        refused(r#"{"Model": "m"}"#, "`Model` must be written `model`");
        refused("{\"max_token\u{17f}\": 1}", "must be written `max_tokens`");
        refused("{\"max_to\u{212a}ens\": 1}", "must be written `max_tokens`");
        refused(r#"{"generation_config": {}}"#, "must be written `generationConfig`");
    }

    #[test]
    fn a_count_is_a_whole_number_or_refused() {
        let count = |json: &str| Members::read(format!(r#"{{"n": {json}}}"#).as_bytes()).unwrap().count("n");
        assert_eq!(count("7"), Ok(Some(7)));
        assert_eq!(count("4096.0"), Ok(Some(4096)));
        assert_eq!(count("1e3"), Ok(Some(1000)));
        assert_eq!(count("null"), Ok(None));
        for other in ["-1", "0.5", "\"9\"", "1e300", "[]", "true"] {
            assert_eq!(count(other), Err("`n` must be a whole number".to_owned()), "{other}");
        }
    }
}
