//! `NumericGraded`, `NumericRangeGraded`, `NumericThresholdGraded`: numbers with partial credit for a near miss.
//!
//! Passing is a matter of yes or no as everywhere; the score falls from 1 to 0 over a margin.

use jurat_format::choices;
use jurat_format::value::{Val, Value};

use super::judgement::{Inapplicable, Parameters, Test};
use super::numeric::{Band, Mode, READ_AS_NUMBERS, at_least, at_most, number, within};
use super::{ArgError, Args, Entry, Operand, Param, Rule};

const GRADED: Entry = Entry { passes: READ_AS_NUMBERS, ..Entry::PRIMITIVE };
const MODE_RELATIVE: Param =
    Param::optional("mode", Param::MODE, "\"relative\"", "whether distances are a share of the operand");
const DECAY: Param = Param::optional("decay", Param::DECAY, "\"linear\"", "how the score falls");

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "NumericGraded",
        summary: "is a number near the operand; the score falls to 0 at the cutoff",
        operand: Operand::Numeric,
        params: &[
            Param::required(
                "cutoff",
                r#"{"type": "number", "exclusiveMinimum": 0}"#,
                "the distance at which the score is 0",
            ),
            Param::optional(
                "full_credit",
                r#"{"type": "number", "minimum": 0}"#,
                "null",
                "the distance up to which the score is 1; also what passes",
            ),
            MODE_RELATIVE,
            DECAY,
        ],
        example: "{ id: good_estimate, field_path: estimate, operator: { type: NumericGraded, cutoff: 0.1 }, expected_value: 100 }",
        read: read_near,
        ..GRADED
    },
    Entry {
        name: "NumericRangeGraded",
        summary: "is a number between `min` and `max`; the score falls to 0 over the margin outside",
        operand: Operand::Ignored,
        params: &[
            Param::required("min", Param::NUMBER, "the lowest that passes"),
            Param::required("max", Param::NUMBER, "the highest that passes"),
            Param::required(
                "margin",
                r#"{"type": "number", "exclusiveMinimum": 0}"#,
                "how far outside the score reaches 0",
            ),
            Param::optional(
                "mode",
                Param::MODE,
                "\"absolute\"",
                "whether the margin is a share of the width of the range",
            ),
            DECAY,
            Param::optional("exclusive_min", Param::BOOLEAN, "false", "whether `min` itself fails"),
            Param::optional("exclusive_max", Param::BOOLEAN, "false", "whether `max` itself fails"),
        ],
        example: "{ id: right_dose, field_path: dose, operator: { type: NumericRangeGraded, min: 10, max: 20, margin: 5 } }",
        read: read_range,
        ..GRADED
    },
    Entry {
        name: "NumericThresholdGraded",
        summary: "is a number on the right side of the operand; the score falls to 0 over the margin beyond it",
        operand: Operand::Numeric,
        params: &[
            Param::required("direction", r#"{"enum": ["max", "min"]}"#, "whether the operand is the most or the least"),
            Param::required(
                "margin",
                r#"{"type": "number", "exclusiveMinimum": 0}"#,
                "how far beyond the score reaches 0",
            ),
            MODE_RELATIVE,
            DECAY,
            Param::optional("exclusive", Param::BOOLEAN, "false", "whether the operand itself fails"),
        ],
        example: "{ id: budget, field_path: cost, operator: { type: NumericThresholdGraded, direction: max, margin: 0.5 }, expected_value: 10 }",
        read: read_threshold,
        ..GRADED
    },
];

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Operator {
    Near { cutoff: f64, full_credit: Option<f64>, mode: Mode, decay: Decay },
    Range { band: Band, margin: f64, mode: Mode, decay: Decay },
    Threshold { direction: Direction, margin: f64, mode: Mode, decay: Decay, exclusive: bool },
}

choices! {
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub(super) enum Decay {
        Linear = "linear",
        Quadratic = "quadratic",
    }
}

choices! {
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub(super) enum Direction {
        Max = "max",
        Min = "min",
    }
}

fn read_near(args: &mut Args<'_, '_>) -> Result<Rule, ArgError> {
    let cutoff = positive(args, "cutoff")?;
    let full_credit = args.number("full_credit")?;
    if full_credit.is_some_and(|it| !(0.0..cutoff).contains(&it)) {
        return Err(ArgError::at(args.span(), "`full_credit` must be at least 0 and below `cutoff`".to_owned()));
    }
    Ok(Operator::Near { cutoff, full_credit, mode: Mode::read(args, Mode::Relative)?, decay: Decay::read(args)? }
        .into())
}

fn read_range(args: &mut Args<'_, '_>) -> Result<Rule, ArgError> {
    let (min, max) = (args.required_number("min")?, args.required_number("max")?);
    if min.partial_cmp(&max) != Some(std::cmp::Ordering::Less) {
        return Err(ArgError::at(args.span(), format!("`min` must be below `max`, and {min} is not below {max}")));
    }
    let margin = positive(args, "margin")?;
    let band = Band {
        min: Some(min),
        max: Some(max),
        exclusive_min: args.boolean("exclusive_min")?,
        exclusive_max: args.boolean("exclusive_max")?,
    };
    Ok(Operator::Range { band, margin, mode: Mode::read(args, Mode::Absolute)?, decay: Decay::read(args)? }.into())
}

fn read_threshold(args: &mut Args<'_, '_>) -> Result<Rule, ArgError> {
    let direction =
        args.choice("direction")?.ok_or_else(|| ArgError::at(args.span(), "needs `direction`".to_owned()))?;
    let margin = positive(args, "margin")?;
    let (mode, decay) = (Mode::read(args, Mode::Relative)?, Decay::read(args)?);
    Ok(Operator::Threshold { direction, margin, mode, decay, exclusive: args.boolean("exclusive")? }.into())
}

fn positive(args: &mut Args<'_, '_>, name: &'static str) -> Result<f64, ArgError> {
    let number = args.required_number(name)?;
    if number > 0.0 {
        Ok(number)
    } else {
        Err(ArgError::at(args.span(), format!("`{name}` must be above 0, not {number}")))
    }
}

impl Decay {
    fn read(args: &mut Args<'_, '_>) -> Result<Decay, ArgError> {
        Ok(args.choice("decay")?.unwrap_or(Decay::Linear))
    }

    /// The credit left after `way` of the margin: 1 at its start, 0 at its end.
    fn credit(self, way: f64) -> f64 {
        if way >= 1.0 {
            return 0.0;
        }
        match self {
            Decay::Linear => 1.0 - way,
            Decay::Quadratic => 1.0 - way * way,
        }
    }
}

#[derive(Debug, Clone)]
pub(super) struct Comparison {
    rule: Operator,
    operand: f64,
}

impl Operator {
    pub(super) fn bind(&self, operand: Val<'_>) -> Result<Comparison, Inapplicable> {
        let operand = if let Operator::Range { .. } = self { 0.0 } else { number(&operand)? };
        Ok(Comparison { rule: self.clone(), operand })
    }
}

impl Parameters for Operator {
    fn parameters(&self) -> Vec<(&'static str, Value)> {
        match self {
            Operator::Near { cutoff, full_credit, mode, decay } => vec![
                ("cutoff", Val::F(*cutoff)),
                ("full_credit", full_credit.map_or(Val::Null, Val::F)),
                ("mode", mode.to_value()),
                ("decay", Val::from(decay.name())),
            ],
            Operator::Range { band, margin, mode, decay } => vec![
                ("min", band.min.map_or(Val::Null, Val::F)),
                ("max", band.max.map_or(Val::Null, Val::F)),
                ("margin", Val::F(*margin)),
                ("mode", mode.to_value()),
                ("decay", Val::from(decay.name())),
                ("exclusive_min", Val::Bool(band.exclusive_min)),
                ("exclusive_max", Val::Bool(band.exclusive_max)),
            ],
            Operator::Threshold { direction, margin, mode, decay, exclusive } => vec![
                ("direction", Val::from(direction.name())),
                ("margin", Val::F(*margin)),
                ("mode", mode.to_value()),
                ("decay", Val::from(decay.name())),
                ("exclusive", Val::Bool(*exclusive)),
            ],
        }
    }
}

impl Comparison {
    /// How far beyond the threshold, counted in the wrong direction; 0 or less is fine.
    fn beyond(&self, direction: Direction, found: f64) -> f64 {
        match direction {
            Direction::Max => found - self.operand,
            Direction::Min => self.operand - found,
        }
    }
}

impl Test for Comparison {
    fn holds(&self, value: &Val<'_>) -> Result<bool, Inapplicable> {
        let found = number(value)?;
        Ok(match &self.rule {
            Operator::Near { cutoff, full_credit, mode, .. } => {
                mode.distance(found, self.operand) <= full_credit.unwrap_or(*cutoff)
            }
            Operator::Range { band, .. } => band.contains(found),
            Operator::Threshold { direction, exclusive, .. } => {
                let beyond = self.beyond(*direction, found);
                if *exclusive { beyond < 0.0 } else { beyond <= 0.0 }
            }
        })
    }

    fn expected(&self) -> String {
        let operand = self.operand;
        match &self.rule {
            Operator::Near { cutoff, full_credit, mode, .. } => {
                format!("a number {}", within(full_credit.unwrap_or(*cutoff), *mode, operand))
            }
            Operator::Range { band, .. } => band.phrase(),
            Operator::Threshold { direction: Direction::Max, exclusive, .. } => {
                format!("a number {}", at_most(operand, *exclusive))
            }
            Operator::Threshold { direction: Direction::Min, exclusive, .. } => {
                format!("a number {}", at_least(operand, *exclusive))
            }
        }
    }

    fn score(&self, value: &Val<'_>) -> Result<f64, Inapplicable> {
        let found = number(value)?;
        if found.is_nan() {
            return Ok(f64::NAN);
        }
        Ok(match &self.rule {
            Operator::Near { cutoff, full_credit, mode, decay } => {
                let (distance, full) = (mode.distance(found, self.operand), full_credit.unwrap_or(0.0));
                if distance <= full { 1.0 } else { decay.credit((distance - full) / (cutoff - full)) }
            }
            Operator::Range { band, margin, mode, decay } => {
                let (min, max) = (band.min.unwrap_or(f64::NEG_INFINITY), band.max.unwrap_or(f64::INFINITY));
                let outside = (min - found).max(found - max);
                let margin = if *mode == Mode::Relative { margin * (max - min) } else { *margin };
                if outside <= 0.0 { 1.0 } else { decay.credit(outside / margin) }
            }
            Operator::Threshold { direction, margin, mode, decay, .. } => {
                let beyond = self.beyond(*direction, found);
                let margin = if *mode == Mode::Relative { margin * self.operand.abs() } else { *margin };
                if beyond <= 0.0 {
                    1.0
                } else if margin == 0.0 {
                    0.0
                } else {
                    decay.credit(beyond / margin)
                }
            }
        })
    }
}
