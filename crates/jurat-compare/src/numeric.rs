//! `NumericExact`, `NumericTolerance`, `NumericRange`, `NumericMinimum`, `NumericMaximum`: numbers as Python's `float`
//! reads them, from numbers and from text.

use jurat_format::choices;
use jurat_format::value::{Kind, Kinds, Val, Value, python, shown};

use super::judgement::{Fault, Inapplicable, Parameters, Test};
use super::{Entry, Operand, Param};

/// What `float` reads.
pub(super) const READ_AS_NUMBERS: Kinds = Kinds::of(&[Kind::Boolean, Kind::Number, Kind::Text]);

const NUMERIC: Entry = Entry { operand: Operand::Numeric, passes: READ_AS_NUMBERS, ..Entry::PRIMITIVE };
const EXCLUSIVE: &[Param] = &[Param::optional("exclusive", Param::BOOLEAN, "false", "whether the bound itself fails")];

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "NumericExact",
        summary: "is the same number as the operand",
        example: "{ id: patients, field_path: n, operator: numeric_exact, expected_value: 342 }",
        read: |_| Ok(Operator::Exact.into()),
        ..NUMERIC
    },
    Entry {
        name: "NumericTolerance",
        summary: "is a number near the operand",
        params: &[
            Param::required("tolerance", Param::NUMBER, "how far away it may be"),
            Param::optional("mode", Param::MODE, "\"relative\"", "whether the tolerance is a share of the operand"),
        ],
        example: "{ id: right_dose, field_path: dose, operator: { type: NumericTolerance, tolerance: 0.05 }, expected_value: 100 }",
        read: |args| {
            let tolerance = args.required_number("tolerance")?;
            if tolerance < 0.0 {
                let span = args.take("tolerance").map_or(args.span(), |it| it.span);
                args.flaw(span, format!("a tolerance of {tolerance} is below zero, so nothing passes"));
            }
            Ok(Operator::Tolerance { tolerance, mode: Mode::read(args, Mode::Relative)? }.into())
        },
        ..NUMERIC
    },
    Entry {
        name: "NumericRange",
        summary: "is a number between `min` and `max`",
        operand: Operand::Ignored,
        params: &[
            Param::optional("min", Param::NUMBER, "null", "the lowest that passes"),
            Param::optional("max", Param::NUMBER, "null", "the highest that passes"),
            Param::optional("exclusive_min", Param::BOOLEAN, "false", "whether `min` itself fails"),
            Param::optional("exclusive_max", Param::BOOLEAN, "false", "whether `max` itself fails"),
        ],
        example: "{ id: significant, field_path: p_value, operator: { type: NumericRange, min: 0, max: 0.05 } }",
        read: |args| {
            let band = Band {
                min: args.number("min")?,
                max: args.number("max")?,
                exclusive_min: args.boolean("exclusive_min")?,
                exclusive_max: args.boolean("exclusive_max")?,
            };
            if band.min.is_none() && band.max.is_none() {
                args.flaw(args.span(), "needs `min` or `max`: without them every number passes");
            }
            if let (Some(min), Some(max)) = (band.min, band.max)
                && min > max
            {
                let span = args.take("min").map_or(args.span(), |it| it.span);
                args.flaw(span, format!("no number lies between {min} and {max}: the range is reversed"));
            }
            Ok(Operator::Range(band).into())
        },
        ..NUMERIC
    },
    Entry {
        name: "NumericMinimum",
        summary: "is a number no less than the operand",
        params: EXCLUSIVE,
        example: "{ id: adults, field_path: age, operator: numeric_minimum, expected_value: 18 }",
        read: |args| Ok(Operator::Minimum { exclusive: args.boolean("exclusive")? }.into()),
        ..NUMERIC
    },
    Entry {
        name: "NumericMaximum",
        summary: "is a number no greater than the operand",
        params: EXCLUSIVE,
        example: "{ id: cheap, field_path: price, operator: numeric_maximum, expected_value: 100 }",
        read: |args| Ok(Operator::Maximum { exclusive: args.boolean("exclusive")? }.into()),
        ..NUMERIC
    },
];

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Operator {
    Exact,
    Tolerance { tolerance: f64, mode: Mode },
    Range(Band),
    Minimum { exclusive: bool },
    Maximum { exclusive: bool },
}

choices! {
    /// Whether a distance counts as it is or as a share of what it is measured against.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub(super) enum Mode {
        Relative = "relative",
        Absolute = "absolute",
    }
}

impl Mode {
    pub(super) fn read(args: &mut super::Args<'_, '_>, default: Mode) -> Result<Mode, super::ArgError> {
        Ok(args.choice("mode")?.unwrap_or(default))
    }

    pub(crate) fn to_value(self) -> Value {
        Val::from(self.name())
    }

    /// How far `number` is from `reference`. Nothing but zero is near zero in relative terms.
    pub(super) fn distance(self, number: f64, reference: f64) -> f64 {
        let distance = (number - reference).abs();
        match self {
            Mode::Absolute => distance,
            Mode::Relative if reference == 0.0 => {
                if distance == 0.0 {
                    0.0
                } else {
                    f64::INFINITY
                }
            }
            Mode::Relative => distance / reference.abs(),
        }
    }
}

/// A stretch of numbers, open where a bound is missing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Band {
    pub(super) min: Option<f64>,
    pub(super) max: Option<f64>,
    pub(super) exclusive_min: bool,
    pub(super) exclusive_max: bool,
}

impl Band {
    /// Written with what is excluded, as Karenina has it: NaN is below nothing and above nothing, so it passes.
    pub(super) fn contains(&self, number: f64) -> bool {
        let below = self.min.is_some_and(|min| number < min || (self.exclusive_min && number == min));
        let above = self.max.is_some_and(|max| number > max || (self.exclusive_max && number == max));
        !below && !above
    }

    pub(super) fn phrase(&self) -> String {
        let min = self.min.map(|min| at_least(min, self.exclusive_min));
        let max = self.max.map(|max| at_most(max, self.exclusive_max));
        match (self.min, self.max, min, max) {
            (Some(min), Some(max), ..) if !self.exclusive_min && !self.exclusive_max => {
                format!("a number from {min} to {max}")
            }
            (_, _, None, None) => "a number".to_owned(),
            (_, _, min, max) => {
                let bounds: Vec<String> = [min, max].into_iter().flatten().collect();
                format!("a number {}", bounds.join(" and "))
            }
        }
    }
}

/// `of at least 18`
pub(super) fn at_least(bound: f64, exclusive: bool) -> String {
    format!("{} {bound}", if exclusive { "above" } else { "of at least" })
}

/// `of at most 100`
pub(super) fn at_most(bound: f64, exclusive: bool) -> String {
    format!("{} {bound}", if exclusive { "below" } else { "of at most" })
}

/// `within 5% of 100`
pub(super) fn within(tolerance: f64, mode: Mode, reference: f64) -> String {
    match mode {
        Mode::Absolute => format!("within {tolerance} of {reference}"),
        // Rounded, because 0.07 is 7.000000000000001%.
        Mode::Relative => format!("within {}% of {reference}", (tolerance * 1e12).round() / 1e10),
    }
}

#[derive(Debug, Clone)]
pub(super) struct Comparison {
    rule: Operator,
    operand: f64,
}

impl Operator {
    pub(super) fn bind(&self, operand: Val<'_>) -> Result<Comparison, Inapplicable> {
        let operand = if let Operator::Range(_) = self { 0.0 } else { number(&operand)? };
        Ok(Comparison { rule: self.clone(), operand })
    }
}

impl Parameters for Operator {
    fn parameters(&self) -> Vec<(&'static str, Value)> {
        match self {
            Operator::Exact => Vec::new(),
            Operator::Tolerance { tolerance, mode } => {
                vec![("tolerance", Val::F(*tolerance)), ("mode", mode.to_value())]
            }
            Operator::Range(band) => vec![
                ("min", band.min.map_or(Val::Null, Val::F)),
                ("max", band.max.map_or(Val::Null, Val::F)),
                ("exclusive_min", Val::Bool(band.exclusive_min)),
                ("exclusive_max", Val::Bool(band.exclusive_max)),
            ],
            Operator::Minimum { exclusive } | Operator::Maximum { exclusive } => {
                vec![("exclusive", Val::Bool(*exclusive))]
            }
        }
    }
}

/// `float(value)`, with a reason when there is none.
pub(super) fn number(value: &Val<'_>) -> Result<f64, Inapplicable> {
    python::float(value).map_err(|error| {
        let (fault, reason) = match error {
            python::NotAFloat::Kind => (Fault::Kind, format!("needs a number, found {}", shown(value))),
            python::NotAFloat::Text => (Fault::Content, format!("{} is not a number", shown(value))),
            python::NotAFloat::Overflow => (Fault::Overflow, "the number is too large".to_owned()),
        };
        Inapplicable { fault, reason }
    })
}

impl Test for Comparison {
    fn holds(&self, value: &Val<'_>) -> Result<bool, Inapplicable> {
        let found = number(value)?;
        let operand = self.operand;
        Ok(match &self.rule {
            Operator::Exact => found == operand,
            Operator::Tolerance { mode: Mode::Relative, .. } if operand == 0.0 => found == 0.0,
            Operator::Tolerance { tolerance, mode } => mode.distance(found, operand) <= *tolerance,
            Operator::Range(band) => band.contains(found),
            Operator::Minimum { exclusive: false } => found >= operand,
            Operator::Minimum { exclusive: true } => found > operand,
            Operator::Maximum { exclusive: false } => found <= operand,
            Operator::Maximum { exclusive: true } => found < operand,
        })
    }

    fn expected(&self) -> String {
        let operand = self.operand;
        match &self.rule {
            Operator::Exact => format!("the number {operand}"),
            Operator::Tolerance { tolerance, mode } => format!("a number {}", within(*tolerance, *mode, operand)),
            Operator::Range(band) => band.phrase(),
            Operator::Minimum { exclusive } => format!("a number {}", at_least(operand, *exclusive)),
            Operator::Maximum { exclusive } => format!("a number {}", at_most(operand, *exclusive)),
        }
    }
}
