//! Normalisers: what is done to text before it is compared.

use std::borrow::Cow;

use jurat_format::value::{Map, Node, Val, Value, python};

use super::{Fault, Inapplicable};

/// One change made to text before it is compared.
#[derive(Debug, Clone, PartialEq)]
pub enum Normaliser {
    /// Lower case, as Unicode has it; no case folding.
    Lowercase,
    /// No space at either end.
    Strip,
    /// Without the 32 punctuation marks of ASCII.
    RemovePunctuation,
    /// Runs of space become one, none at either end.
    CollapseWhitespace,
    /// The whole text replaced, when it is one of these.
    Synonyms(Vec<(String, String)>),
    /// An unknown name: an error when it is used, a flaw where it is written.
    Unknown(String),
}

impl Normaliser {
    const NAMED: [(&'static str, Normaliser); 4] = [
        ("lowercase", Normaliser::Lowercase),
        ("strip", Normaliser::Strip),
        ("remove_punctuation", Normaliser::RemovePunctuation),
        ("collapse_whitespace", Normaliser::CollapseWhitespace),
    ];

    /// What text primitives do by default.
    pub(super) const USUAL: [Normaliser; 2] = [Normaliser::Lowercase, Normaliser::Strip];

    /// Reads a name or `{mapping: {from: to}}`.
    pub fn read(node: &Node<'_>) -> Result<Normaliser, String> {
        if let Some(name) = node.as_str() {
            let known = Self::NAMED.into_iter().find(|(known, _)| *known == name);
            return Ok(known.map_or_else(|| Normaliser::Unknown(name.to_owned()), |(_, it)| it));
        }
        let mapping = node.get("mapping").and_then(Node::entries);
        let pairs = mapping.and_then(|entries| {
            entries.iter().map(|it| Some((it.key.clone().into_owned(), it.value.as_str()?.to_owned()))).collect()
        });
        pairs
            .map(Normaliser::Synonyms)
            .ok_or_else(|| format!("a normaliser is a name or `{{mapping: {{text: text}}}}`, not {}", node.phrase()))
    }

    pub fn flaw(&self) -> Option<String> {
        let Normaliser::Unknown(name) = self else { return None };
        let names = jurat_format::problem::listed_all(Self::NAMED.iter().map(|(name, _)| *name));
        Some(format!("there is no normaliser `{name}`; there are {names}"))
    }

    pub fn name(&self) -> &str {
        match self {
            Normaliser::Unknown(name) => name,
            Normaliser::Synonyms(_) => "synonyms",
            named => Self::NAMED.iter().find(|(_, it)| it == named).map_or("", |(name, _)| name),
        }
    }

    pub fn to_value(&self) -> Value {
        match self {
            Normaliser::Unknown(name) => Val::from(name.clone()),
            Normaliser::Synonyms(pairs) => {
                let mapping: Map<'static> =
                    pairs.iter().map(|(from, to)| (from.clone(), Val::from(to.clone()))).collect();
                Val::Map([("mapping", Val::Map(mapping))].into_iter().collect())
            }
            named => Val::from(named.name().to_owned()),
        }
    }

    fn apply<'t>(&self, text: Cow<'t, str>) -> Result<Cow<'t, str>, Inapplicable> {
        Ok(match self {
            Normaliser::Lowercase => {
                let unchanged = text.is_ascii() && !text.bytes().any(|it| it.is_ascii_uppercase());
                if unchanged { text } else { Cow::Owned(text.to_lowercase()) }
            }
            Normaliser::Strip => match text {
                Cow::Borrowed(text) => Cow::Borrowed(python::strip(text)),
                Cow::Owned(text) => Cow::Owned(python::strip(&text).to_owned()),
            },
            Normaliser::RemovePunctuation => {
                if text.contains(|it: char| it.is_ascii_punctuation()) {
                    Cow::Owned(text.chars().filter(|it| !it.is_ascii_punctuation()).collect())
                } else {
                    text
                }
            }
            Normaliser::CollapseWhitespace => {
                let mut words = python::words(&text);
                let mut collapsed = words.next().unwrap_or_default().to_owned();
                for word in words {
                    collapsed.push(' ');
                    collapsed.push_str(word);
                }
                Cow::Owned(collapsed)
            }
            Normaliser::Synonyms(pairs) => match pairs.iter().find(|(from, _)| *from == *text) {
                Some((_, to)) => Cow::Owned(to.clone()),
                None => text,
            },
            Normaliser::Unknown(name) => {
                return Err(Inapplicable { fault: Fault::Content, reason: format!("there is no normaliser `{name}`") });
            }
        })
    }
}

/// Applies the normalisers in order.
pub fn normalise<'t>(normalisers: &[Normaliser], text: Cow<'t, str>) -> Result<Cow<'t, str>, Inapplicable> {
    normalisers.iter().try_fold(text, |text, normaliser| normaliser.apply(text))
}

/// The stored form of a list of normalisers.
pub fn to_value(normalisers: &[Normaliser]) -> Value {
    normalisers.iter().map(Normaliser::to_value).collect()
}
