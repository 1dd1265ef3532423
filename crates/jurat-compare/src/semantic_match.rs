//! `SemanticMatch`: near in meaning. A marker: it takes a model to decide, so a comparison alone answers with an error.

use jurat_format::value::{Kinds, Val, Value};

use super::judgement::{Fault, Inapplicable, Parameters, Test};
use super::{Entry, Operand, Param};

pub(super) const ENTRIES: &[Entry] = &[Entry {
    name: "SemanticMatch",
    summary: "is near the operand in meaning; cannot be decided by a comparison, so it is always an error",
    operand: Operand::Any,
    passes: Kinds::NONE,
    params: &[Param::optional("threshold", Param::NUMBER, "0.85", "how near, from 0 to 1")],
    example: "{ id: same_meaning, field_path: answer, operator: semantic_match, expected_value: It is raining }",
    read: |args| Ok(Operator { threshold: args.number("threshold")?.unwrap_or(0.85) }.into()),
    ..Entry::PRIMITIVE
}];

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Operator {
    threshold: f64,
}

#[derive(Debug, Clone)]
pub(super) struct Comparison;

impl Operator {
    pub(super) fn bind(&self, _: Val<'_>) -> Result<Comparison, Inapplicable> {
        Ok(Comparison)
    }
}

impl Parameters for Operator {
    fn parameters(&self) -> Vec<(&'static str, Value)> {
        vec![("threshold", Val::F(self.threshold))]
    }
}

impl Test for Comparison {
    fn holds(&self, _: &Val<'_>) -> Result<bool, Inapplicable> {
        let reason = "`semantic_match` needs a model to decide".to_owned();
        Err(Inapplicable { fault: Fault::Unsupported, reason })
    }

    fn expected(&self) -> String {
        "the same meaning".to_owned()
    }

    fn flaw(&self) -> Option<String> {
        Some("a comparison does not compare meanings; use a judge instead".to_owned())
    }
}
