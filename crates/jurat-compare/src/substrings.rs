//! `ContainsAny` and `ContainsAll` as primitives: texts given as a parameter, normalised like the value.

use std::borrow::Cow;

use jurat_format::value::{Val, Value, python, shown};

use super::judgement::{Inapplicable, Parameters, Test};
use super::normalise::{self, Normaliser, normalise};
use super::{ArgError, Args, Entry, Operand, Param, Rule};

const SUBSTRINGS: Entry = Entry {
    operand: Operand::Ignored,
    params: &[
        Param::required("substrings", r#"{"type": "array", "items": {"type": "string"}}"#, "the texts to look for"),
        Param::optional("normalize", Param::NORMALIZE, "[]", "what is done to both texts first, in order"),
    ],
    ..Entry::PRIMITIVE
};

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "ContainsAny",
        summary: "has one of the texts in it",
        example: "{ id: names_mechanism, field_path: mechanism, operator: { type: ContainsAny, substrings: [apoptosis, autophagy] } }",
        read: |args| read(args, false),
        ..SUBSTRINGS
    },
    Entry {
        name: "ContainsAll",
        summary: "has all of the texts in it",
        example: "{ id: sound_design, field_path: design, operator: { type: ContainsAll, substrings: [randomized, blind] } }",
        read: |args| read(args, true),
        ..SUBSTRINGS
    },
];

fn read(args: &mut Args<'_, '_>, all: bool) -> Result<Rule, ArgError> {
    Ok(Operator { all, substrings: args.required_texts("substrings")?, normalisers: args.normalisers(&[])? }.into())
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Operator {
    all: bool,
    substrings: Vec<String>,
    normalisers: Vec<Normaliser>,
}

#[derive(Debug, Clone)]
pub(super) struct Comparison {
    all: bool,
    /// As the author wrote them, for messages.
    substrings: Vec<String>,
    parts: Vec<String>,
    normalisers: Vec<Normaliser>,
}

impl Operator {
    pub(super) fn bind(&self, _: Val<'_>) -> Result<Comparison, Inapplicable> {
        let normal = |part: &String| normalise(&self.normalisers, Cow::Borrowed(part)).map(Cow::into_owned);
        let parts = self.substrings.iter().map(normal).collect::<Result<_, _>>()?;
        Ok(Comparison {
            all: self.all,
            substrings: self.substrings.clone(),
            parts,
            normalisers: self.normalisers.clone(),
        })
    }
}

impl Parameters for Operator {
    fn parameters(&self) -> Vec<(&'static str, Value)> {
        let substrings = self.substrings.iter().map(|it| Val::from(it.clone())).collect();
        vec![("substrings", substrings), ("normalize", normalise::to_value(&self.normalisers))]
    }
}

impl Test for Comparison {
    fn holds(&self, value: &Val<'_>) -> Result<bool, Inapplicable> {
        let text = normalise(&self.normalisers, python::str(value))?;
        let mut found = self.parts.iter().map(|part| text.contains(part.as_str()));
        Ok(if self.all { found.all(|it| it) } else { found.any(|it| it) })
    }

    fn expected(&self) -> String {
        let parts: Vec<String> = self.substrings.iter().map(|it| shown(&Val::from(it.as_str()))).collect();
        match (parts.as_slice(), self.all) {
            ([], true) => "any text".to_owned(),
            ([], false) => "text with one of no texts".to_owned(),
            (parts, true) => format!("text with {}", parts.join(" and ")),
            (parts, false) => format!("text with {}", parts.join(" or ")),
        }
    }
}
