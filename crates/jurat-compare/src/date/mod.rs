//! `DateMatch`, `DateTolerance`, `DateRange`: dates, however they are written.
//!
//! Text is read in free form (`April 11, 2016`, `2016-04-11T10:00Z`, `11/04/2016` month first) or by a `strptime` format.
//! Text that is not a date fails: it is the subject's answer. What is neither text nor a number is an error. Two dates that leave out different parts (`April 2016`
//! against `2016-04-11`) cannot be compared, which is an error: filling in today's day would make the answer depend on
//! when the comparison runs.

mod free;
mod moment;
mod strptime;

use jiff::SignedDuration;
use jurat_format::choices;
use jurat_format::value::{Kind, Kinds, Val, Value, python, shown};

use super::judgement::{Fault, Inapplicable, Parameters, Test, counted};
use super::{ArgError, Args, Entry, Operand, Param, Rule};
use free::read_free;
use moment::Moment;
use strptime::DateFormat;

/// Text, and numbers such as `20160411`.
const READ_AS_DATES: Kinds = Kinds::of(&[Kind::Text, Kind::Number]);
const DATE: Entry = Entry { passes: READ_AS_DATES, ..Entry::PRIMITIVE };

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "DateMatch",
        summary: "is a date on the same day as the operand",
        operand: Operand::Date,
        params: &[Param::optional(
            "format",
            Param::TEXT,
            "null",
            "a `strptime` format that both must have; any form when absent",
        )],
        example: "{ id: approval_date, field_path: approved, operator: date_match, expected_value: 2016-04-11 }",
        read: read_match,
        ..DATE
    },
    Entry {
        name: "DateTolerance",
        summary: "is a date near the operand; the time of day counts",
        operand: Operand::Date,
        params: &[
            Param::required("tolerance", Param::INTEGER, "how far away it may be"),
            Param::optional(
                "unit",
                r#"{"enum": ["days", "hours", "minutes"]}"#,
                "\"days\"",
                "what the tolerance counts",
            ),
        ],
        example: "{ id: soon, field_path: due, operator: { type: DateTolerance, tolerance: 30 }, expected_value: 2016-04-11 }",
        read: read_tolerance,
        ..DATE
    },
    Entry {
        name: "DateRange",
        summary: "is a date between `min` and `max`, both included",
        operand: Operand::Ignored,
        params: &[
            Param::optional("min", Param::TEXT, "null", "the earliest that passes"),
            Param::optional("max", Param::TEXT, "null", "the latest that passes"),
        ],
        example: "{ id: in_2015, field_path: published, operator: { type: DateRange, min: 2015-01-01, max: 2015-12-31 } }",
        read: read_range,
        ..DATE
    },
];

fn read_match(args: &mut Args<'_, '_>) -> Result<Rule, ArgError> {
    let Some(text) = args.text("format")?.filter(|it| !it.is_empty()) else { return Ok(Operator::Match(None).into()) };
    let format = DateFormat::parse(&text).map_err(|problem| problem.to_string());
    if let Err(message) = &format {
        let span = args.take("format").map_or(args.span(), |it| it.span);
        args.flaw(span, format!("not a date format: {message}"));
    }
    Ok(Operator::Match(Some(Format { text, format: format.ok() })).into())
}

fn read_tolerance(args: &mut Args<'_, '_>) -> Result<Rule, ArgError> {
    let span = args.span();
    let tolerance =
        args.integer("tolerance")?.ok_or_else(|| ArgError { span, message: "needs `tolerance`".to_owned() })?;
    let unit = args.choice("unit")?;
    if tolerance < 0 {
        args.flaw(span, format!("a tolerance of {tolerance} is below zero, so nothing passes"));
    }
    Ok(Operator::Tolerance { tolerance, unit: unit.unwrap_or(Unit::Days) }.into())
}

fn read_range(args: &mut Args<'_, '_>) -> Result<Rule, ArgError> {
    let min = read_bound(args, "min")?;
    let max = read_bound(args, "max")?;
    if min.is_none() && max.is_none() {
        args.flaw(args.span(), "needs `min` or `max`: without them every date passes");
    }
    if let (Some(Limit { moment: Some(min), .. }), Some(Limit { moment: Some(max), .. })) = (&min, &max)
        && max.since(min).is_some_and(|it| it.is_negative())
    {
        args.flaw(args.span(), "no date lies between `min` and `max`: the range is reversed");
    }
    Ok(Operator::Range { min, max }.into())
}

/// A bound that is no date is accepted by Karenina, and then nothing passes.
fn read_bound(args: &mut Args<'_, '_>, name: &'static str) -> Result<Option<Limit>, ArgError> {
    let Some(text) = args.text(name)? else { return Ok(None) };
    let moment = read_free(&text);
    if moment.is_none() {
        let span = args.take(name).map_or(args.span(), |it| it.span);
        args.flaw(span, format!("`{text}` is not a date"));
    }
    Ok(Some(Limit { text, moment }))
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Operator {
    Match(Option<Format>),
    Tolerance { tolerance: i64, unit: Unit },
    Range { min: Option<Limit>, max: Option<Limit> },
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Format {
    text: String,
    /// `None` when it is not a format: no text has it.
    format: Option<DateFormat>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Limit {
    text: String,
    /// `None` when it is not a date: nothing passes.
    moment: Option<Moment>,
}

choices! {
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub(super) enum Unit {
        Days = "days",
        Hours = "hours",
        Minutes = "minutes",
    }
}

impl Unit {
    fn one(self) -> &'static str {
        self.name().trim_end_matches('s')
    }

    fn seconds(self) -> i64 {
        match self {
            Unit::Days => 86_400,
            Unit::Hours => 3_600,
            Unit::Minutes => 60,
        }
    }
}

#[derive(Debug, Clone)]
pub(super) struct Comparison<'v> {
    rule: Operator,
    operand: Val<'v>,
    /// The operand as a date; `None` when it is not one, or when the comparison has no operand.
    wanted: Option<Moment>,
}

impl Operator {
    pub(super) fn bind<'v>(&self, operand: Val<'v>) -> Result<Comparison<'v>, Inapplicable> {
        let wanted = match self {
            Operator::Range { .. } => None,
            _ => self.read(&operand),
        };
        Ok(Comparison { rule: self.clone(), operand, wanted })
    }
    fn read(&self, value: &Val<'_>) -> Option<Moment> {
        let text = python::str(value);
        match self {
            Operator::Match(Some(format)) => format.format.as_ref()?.read(&text),
            _ => read_free(&text),
        }
    }
}

impl Parameters for Operator {
    fn parameters(&self) -> Vec<(&'static str, Value)> {
        let text = |it: &Option<Limit>| it.as_ref().map_or(Val::Null, |it| Val::from(it.text.clone()));
        match self {
            Operator::Match(format) => {
                vec![("format", format.as_ref().map_or(Val::Null, |it| Val::from(it.text.clone())))]
            }
            Operator::Tolerance { tolerance, unit } => {
                vec![("tolerance", Val::I(*tolerance)), ("unit", Val::from(unit.name()))]
            }
            Operator::Range { min, max } => vec![("min", text(min)), ("max", text(max))],
        }
    }
}

impl Test for Comparison<'_> {
    fn holds(&self, value: &Val<'_>) -> Result<bool, Inapplicable> {
        if !READ_AS_DATES.contains(value.kind()) {
            return Err(Inapplicable::kind("a date", value));
        }
        let Some(found) = self.rule.read(value) else { return Ok(false) };
        match (&self.rule, &self.wanted) {
            (Operator::Range { min, max }, _) => {
                Ok(not_before(&found, min.as_ref())? && not_after(&found, max.as_ref())?)
            }
            (_, None) => Ok(false),
            (Operator::Match(_), Some(wanted)) => {
                same_parts(&found, wanted)?;
                Ok(found.date() == wanted.date())
            }
            (Operator::Tolerance { tolerance, unit }, Some(wanted)) => {
                same_parts(&found, wanted)?;
                let most = SignedDuration::from_secs(tolerance.saturating_mul(unit.seconds()));
                // One with a zone and one without have no distance; in Karenina that fails.
                Ok(found.since(wanted).is_some_and(|distance| distance.abs() <= most))
            }
        }
    }

    fn expected(&self) -> String {
        let text = |it: &str| shown(&Val::from(it));
        match &self.rule {
            Operator::Match(Some(format)) => {
                format!("the date {} written as {}", shown(&self.operand), text(&format.text))
            }
            Operator::Match(None) => format!("the date {}", shown(&self.operand)),
            Operator::Tolerance { tolerance, unit } => {
                format!("a date within {} of {}", counted(tolerance, unit.one()), shown(&self.operand))
            }
            Operator::Range { min, max } => match (min, max) {
                (None, None) => "a date".to_owned(),
                (Some(min), None) => format!("a date from {} on", text(&min.text)),
                (None, Some(max)) => format!("a date up to {}", text(&max.text)),
                (Some(min), Some(max)) => format!("a date from {} to {}", text(&min.text), text(&max.text)),
            },
        }
    }

    fn found(&self, value: &Val<'_>) -> String {
        match (&self.rule, self.rule.read(value)) {
            (_, Some(_)) => shown(value),
            (Operator::Match(Some(_)), None) => format!("{}, which is not written so", shown(value)),
            (_, None) => format!("{}, which is not a date", shown(value)),
        }
    }

    fn flaw(&self) -> Option<String> {
        let needs_date = !matches!(self.rule, Operator::Range { .. });
        (needs_date && self.wanted.is_none()).then(|| format!("{} is not a date", shown(&self.operand)))
    }
}

fn not_before(found: &Moment, min: Option<&Limit>) -> Result<bool, Inapplicable> {
    within(found, min, |since| !since.is_negative())
}

fn not_after(found: &Moment, max: Option<&Limit>) -> Result<bool, Inapplicable> {
    within(found, max, |since| !since.is_positive())
}

fn within(found: &Moment, limit: Option<&Limit>, fits: impl Fn(SignedDuration) -> bool) -> Result<bool, Inapplicable> {
    match limit {
        None => Ok(true),
        Some(Limit { moment: None, .. }) => Ok(false),
        Some(Limit { moment: Some(limit), .. }) => {
            same_parts(found, limit)?;
            Ok(found.since(limit).is_some_and(fits))
        }
    }
}

fn same_parts(found: &Moment, wanted: &Moment) -> Result<(), Inapplicable> {
    if found.missing == wanted.missing {
        return Ok(());
    }
    let reason = "one date leaves out a year, month or day that the other has, so they cannot be compared".to_owned();
    Err(Inapplicable { fault: Fault::Content, reason })
}
