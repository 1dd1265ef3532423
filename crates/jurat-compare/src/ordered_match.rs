//! `OrderedMatch`: lists compared item by item as normalised text. Text is the list of its characters, an object the list
//! of its keys.

use std::borrow::Cow;

use jurat_format::value::{Kind, Kinds, Val, Value, python, shown};

use super::judgement::{Inapplicable, Parameters, Test};
use super::normalise::{self, Normaliser, normalise};
use super::{Entry, Operand, Param};

pub(super) const ENTRIES: &[Entry] = &[Entry {
    name: "OrderedMatch",
    summary: "has the operand's items in the operand's order, once all are normalised",
    operand: Operand::List,
    passes: Kinds::of(&[Kind::Text, Kind::List, Kind::Object]),
    params: &[Param::optional(
        "normalize",
        Param::NORMALIZE,
        r#"["lowercase", "strip"]"#,
        "what is done to each item first, in order",
    )],
    example: "{ id: right_authors, field_path: authors, operator: ordered_match, expected_value: [Smith J, Jones A] }",
    read: |args| Ok(Operator { normalisers: args.normalisers(&Normaliser::USUAL)? }.into()),
    ..Entry::PRIMITIVE
}];

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Operator {
    normalisers: Vec<Normaliser>,
}

#[derive(Debug, Clone)]
pub(super) struct Comparison<'v> {
    normalisers: Vec<Normaliser>,
    wanted: Vec<String>,
    operand: Val<'v>,
}

impl Operator {
    pub(super) fn bind<'v>(&self, operand: Val<'v>) -> Result<Comparison<'v>, Inapplicable> {
        let texts = texts(&operand)?.into_iter().map(|it| normalise(&self.normalisers, it).map(Cow::into_owned));
        Ok(Comparison { normalisers: self.normalisers.clone(), wanted: texts.collect::<Result<_, _>>()?, operand })
    }
}

impl Parameters for Operator {
    fn parameters(&self) -> Vec<(&'static str, Value)> {
        vec![("normalize", normalise::to_value(&self.normalisers))]
    }
}

impl Test for Comparison<'_> {
    fn holds(&self, value: &Val<'_>) -> Result<bool, Inapplicable> {
        let found = texts(value)?;
        if found.len() != self.wanted.len() {
            return Ok(false);
        }
        for (found, wanted) in found.into_iter().zip(&self.wanted) {
            if normalise(&self.normalisers, found)? != *wanted {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Karenina takes text and objects too; in a definition that is a slip.
    fn flaw(&self) -> Option<String> {
        self.operand.as_list().is_none().then(|| Inapplicable::operand("a list", &self.operand).reason)
    }

    fn expected(&self) -> String {
        format!("the sequence {}", shown(&self.operand))
    }
}

fn texts<'v>(value: &'v Val<'_>) -> Result<Vec<Cow<'v, str>>, Inapplicable> {
    match value {
        Val::List(items) => Ok(items.iter().map(python::str).collect()),
        Val::Str(text) => Ok(text.chars().map(|it| Cow::Owned(it.to_string())).collect()),
        Val::Map(map) => Ok(map.keys().map(Cow::Borrowed).collect()),
        other => Err(Inapplicable::kind("a list", other)),
    }
}
