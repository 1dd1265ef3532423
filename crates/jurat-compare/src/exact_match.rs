//! `ExactMatch`: the same text after normalising both sides. Other values are compared as Python prints them.

use std::borrow::Cow;

use jurat_format::value::{Val, Value, python, shown};

use super::judgement::{Inapplicable, Parameters, Test};
use super::normalise::{self, Normaliser, normalise};
use super::{Entry, Operand, Param};

pub(super) const ENTRIES: &[Entry] = &[Entry {
    name: "ExactMatch",
    summary: "is the same text as the operand, once both are normalised",
    operand: Operand::Any,
    params: &[Param::optional(
        "normalize",
        Param::NORMALIZE,
        r#"["lowercase", "strip"]"#,
        "what is done to both texts first, in order",
    )],
    example: "{ id: right_gene, field_path: gene, operator: exact_match, expected_value: BCL2 }",
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
    wanted: Cow<'v, str>,
    /// As the author wrote it, for messages.
    operand: Val<'v>,
}

impl Operator {
    pub(super) fn bind<'v>(&self, operand: Val<'v>) -> Result<Comparison<'v>, Inapplicable> {
        let text = match &operand {
            Val::Str(text) => text.clone(),
            other => Cow::Owned(python::repr(other)),
        };
        Ok(Comparison { normalisers: self.normalisers.clone(), wanted: normalise(&self.normalisers, text)?, operand })
    }
}

impl Parameters for Operator {
    fn parameters(&self) -> Vec<(&'static str, Value)> {
        vec![("normalize", normalise::to_value(&self.normalisers))]
    }
}

impl Test for Comparison<'_> {
    fn holds(&self, value: &Val<'_>) -> Result<bool, Inapplicable> {
        Ok(normalise(&self.normalisers, python::str(value))? == self.wanted)
    }

    fn expected(&self) -> String {
        shown(&self.operand)
    }

    fn operand(&self) -> Option<&Val<'_>> {
        Some(&self.operand)
    }
}
