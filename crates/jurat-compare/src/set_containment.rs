//! `SetContainment`: lists compared as sets, with Python's idea of equal: `1`, `1.0` and `true` are one element. Text is
//! the set of its characters, an object the set of its keys.

use std::collections::BTreeSet;

use jurat_format::value::{Kind, Kinds, Val, Value, python, shown};

use super::judgement::{Fault, Inapplicable, Parameters, Test, counted};
use super::{ArgError, Args, Entry, Operand, Param, Rule};

pub(super) const ENTRIES: &[Entry] = &[Entry {
    name: "SetContainment",
    summary: "as a set, equals, is part of, holds or overlaps the operand",
    operand: Operand::List,
    passes: Kinds::of(&[Kind::Text, Kind::List, Kind::Object]),
    params: &[
        Param::optional(
            "mode",
            r#"{"enum": ["exact", "subset", "superset", "overlap"]}"#,
            "\"exact\"",
            "how the two sets must stand to each other",
        ),
        Param::optional(
            "min_overlap",
            Param::INTEGER,
            "null",
            "how many elements must be shared under `overlap`; 1 when absent",
        ),
    ],
    example: "{ id: names_drugs, field_path: drugs, operator: { type: SetContainment, mode: superset }, expected_value: [aspirin] }",
    read,
    ..Entry::PRIMITIVE
}];

fn read(args: &mut Args<'_, '_>) -> Result<Rule, ArgError> {
    let named = args.text("mode")?.unwrap_or_else(|| "exact".to_owned());
    let mode = Mode::NAMED.iter().find(|(name, _)| *name == named).map(|(_, mode)| *mode);
    if mode.is_none() {
        let span = args.take("mode").map_or(args.span(), |it| it.span);
        let modes = jurat_format::problem::listed(Mode::NAMED.iter().map(|(name, _)| *name));
        args.flaw(span, format!("there is no mode `{named}`; there are {modes}"));
    }
    Ok(Operator { named, mode, min_overlap: args.integer("min_overlap")? }.into())
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Operator {
    named: String,
    /// `None` for an unknown mode: an error when it is used.
    mode: Option<Mode>,
    min_overlap: Option<i64>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Mode {
    Exact,
    Subset,
    Superset,
    Overlap,
}

impl Mode {
    const NAMED: [(&'static str, Mode); 4] =
        [("exact", Mode::Exact), ("subset", Mode::Subset), ("superset", Mode::Superset), ("overlap", Mode::Overlap)];
}

#[derive(Debug, Clone)]
pub(super) struct Comparison<'v> {
    mode: Mode,
    min_overlap: Option<i64>,
    wanted: BTreeSet<Element>,
    operand: Val<'v>,
}

impl Operator {
    pub(super) fn bind<'v>(&self, operand: Val<'v>) -> Result<Comparison<'v>, Inapplicable> {
        let wanted = elements(&operand)?;
        let mode = self.mode.ok_or_else(|| Inapplicable::content(format!("there is no mode `{}`", self.named)))?;
        Ok(Comparison { mode, min_overlap: self.min_overlap, wanted, operand })
    }
}

impl Parameters for Operator {
    fn parameters(&self) -> Vec<(&'static str, Value)> {
        vec![("mode", Val::from(self.named.clone())), ("min_overlap", self.min_overlap.map_or(Val::Null, Val::I))]
    }
}

impl Test for Comparison<'_> {
    fn holds(&self, value: &Val<'_>) -> Result<bool, Inapplicable> {
        let found = elements(value)?;
        Ok(match self.mode {
            Mode::Exact => found == self.wanted,
            Mode::Subset => found.is_subset(&self.wanted),
            Mode::Superset => found.is_superset(&self.wanted),
            Mode::Overlap => {
                // Zero means "not given" to Karenina, so it asks for one too.
                let least = self.min_overlap.filter(|it| *it != 0).unwrap_or(1);
                i64::try_from(found.intersection(&self.wanted).count()).unwrap_or(i64::MAX) >= least
            }
        })
    }

    /// Karenina takes text and objects too; in a definition that is a slip.
    fn flaw(&self) -> Option<String> {
        self.operand.as_list().is_none().then(|| Inapplicable::operand("a list", &self.operand).reason)
    }

    fn expected(&self) -> String {
        let wanted = shown(&self.operand);
        match self.mode {
            Mode::Exact => format!("exactly the elements of {wanted}"),
            Mode::Subset => format!("only elements of {wanted}"),
            Mode::Superset => format!("all elements of {wanted}"),
            Mode::Overlap => {
                let least = self.min_overlap.filter(|it| *it != 0).unwrap_or(1);
                format!("at least {} of {wanted}", counted(least, "element"))
            }
        }
    }
}

/// An element by Python's equality.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Element {
    Null,
    Text(String),
    /// The number as an integer where it is one, else as Python prints it: equal numbers have equal texts.
    Number(String),
}

fn elements(value: &Val<'_>) -> Result<BTreeSet<Element>, Inapplicable> {
    match value {
        Val::List(items) => items.iter().map(element).collect(),
        Val::Str(text) => Ok(text.chars().map(|it| Element::Text(it.to_string())).collect()),
        Val::Map(map) => Ok(map.keys().map(|it| Element::Text(it.to_owned())).collect()),
        other => Err(Inapplicable::kind("a list", other)),
    }
}

fn element(value: &Val<'_>) -> Result<Element, Inapplicable> {
    Ok(match value {
        Val::Null => Element::Null,
        Val::Str(text) => Element::Text(text.clone().into_owned()),
        Val::Bool(value) => Element::Number(i64::from(*value).to_string()),
        Val::F(number) if number.fract() == 0.0 => Element::Number(format!("{:.0}", number + 0.0)),
        Val::I(_) | Val::U(_) | Val::F(_) | Val::Big(_) => Element::Number(python::repr(value)),
        Val::List(_) | Val::Map(_) => {
            return Err(Inapplicable {
                fault: Fault::Kind,
                reason: format!("{} cannot be an element of a set", shown(value)),
            });
        }
    })
}
