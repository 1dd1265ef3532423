//! `TraceRegex`, `TraceContains`, `TraceLength`: about the raw text that a model wrote, rather than a value read from it.

use jurat_format::value::{Kind, Kinds, Val, Value, python, shown};

use super::args::CompiledPattern;
use super::judgement::{Inapplicable, Parameters, Test, counted};
use super::pattern::{Pattern, PythonFlags};
use super::{ArgError, Args, Entry, Operand, Param, Rule};

const TRACE: Entry = Entry { operand: Operand::Ignored, passes: Kinds::of(&[Kind::Text]), ..Entry::PRIMITIVE };

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "TraceRegex",
        summary: "is text with a match of the pattern in it, or with a number of matches",
        params: &[
            Param::required("pattern", Param::TEXT, "the regular expression, by the rules of Python's `re`"),
            Param::optional("count_min", Param::INTEGER, "null", "how many matches there must be; 1 when absent"),
        ],
        example: r"{ id: cites, field_path: answer, operator: { type: TraceRegex, pattern: '\[\d+\]', count_min: 2 } }",
        read: read_regex,
        ..TRACE
    },
    Entry {
        name: "TraceContains",
        summary: "is text with the substring in it",
        params: &[Param::required("substring", Param::TEXT, "the text to look for")],
        example: "{ id: caveat, field_path: answer, operator: { type: TraceContains, substring: limitation } }",
        read: |args| Ok(Operator::Contains(args.required_text("substring")?).into()),
        ..TRACE
    },
    Entry {
        name: "TraceLength",
        summary: "is text of such a length, in characters or words",
        params: &[
            Param::optional("min", Param::INTEGER, "null", "the least"),
            Param::optional("max", Param::INTEGER, "null", "the most"),
            Param::optional("unit", r#"{"enum": ["chars", "words"]}"#, "\"chars\"", "what is counted"),
        ],
        example: "{ id: brief, field_path: answer, operator: { type: TraceLength, max: 120, unit: words } }",
        read: read_length,
        ..TRACE
    },
];

fn read_regex(args: &mut Args<'_, '_>) -> Result<Rule, ArgError> {
    let pattern = args.pattern(|text| Pattern::python(text, PythonFlags::default()))?;
    Ok(Operator::Regex { pattern, count_min: args.integer("count_min")? }.into())
}

fn read_length(args: &mut Args<'_, '_>) -> Result<Rule, ArgError> {
    let (min, max) = (args.integer("min")?, args.integer("max")?);
    let unit = args.text("unit")?.unwrap_or_else(|| "chars".to_owned());
    if !matches!(unit.as_str(), "chars" | "words") {
        let span = args.take("unit").map_or(args.span(), |it| it.span);
        args.flaw(span, format!("there is no unit `{unit}`; there are `chars` or `words`"));
    }
    if min.is_none() && max.is_none() {
        args.flaw(args.span(), "needs `min` or `max`: without them every text passes");
    }
    if let (Some(min), Some(max)) = (min, max)
        && min > max
    {
        let span = args.take("min").map_or(args.span(), |it| it.span);
        args.flaw(span, format!("no length lies between {min} and {max}: the range is reversed"));
    }
    Ok(Operator::Length { min, max, unit }.into())
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Operator {
    Regex { pattern: CompiledPattern, count_min: Option<i64> },
    Contains(String),
    Length { min: Option<i64>, max: Option<i64>, unit: String },
}

#[derive(Debug, Clone)]
pub(super) struct Comparison {
    rule: Operator,
}

impl Operator {
    pub(super) fn bind(&self, _: Val<'_>) -> Result<Comparison, Inapplicable> {
        if let Operator::Regex { pattern, .. } = self {
            pattern.program()?;
        }
        Ok(Comparison { rule: self.clone() })
    }
}

impl Parameters for Operator {
    fn parameters(&self) -> Vec<(&'static str, Value)> {
        let number = |it: &Option<i64>| it.map_or(Val::Null, Val::I);
        match self {
            Operator::Regex { pattern, count_min } => {
                vec![("pattern", Val::from(pattern.source.clone())), ("count_min", number(count_min))]
            }
            Operator::Contains(substring) => vec![("substring", Val::from(substring.clone()))],
            Operator::Length { min, max, unit } => {
                vec![("min", number(min)), ("max", number(max)), ("unit", Val::from(unit.clone()))]
            }
        }
    }
}

impl Test for Comparison {
    fn holds(&self, value: &Val<'_>) -> Result<bool, Inapplicable> {
        let text = value.as_str().ok_or_else(|| Inapplicable::kind("text", value))?;
        Ok(match &self.rule {
            Operator::Regex { pattern, count_min } => match usize::try_from(count_min.unwrap_or(1)) {
                Ok(0) | Err(_) => true,
                Ok(1) => pattern.program()?.is_match(text)?,
                Ok(n) => pattern.program()?.count_at_least(text, n)?,
            },
            Operator::Contains(substring) => text.contains(substring.as_str()),
            Operator::Length { min, max, unit } => {
                let length = length(text, unit);
                min.is_none_or(|min| length >= min) && max.is_none_or(|max| length <= max)
            }
        })
    }

    fn expected(&self) -> String {
        let text = |it: &str| shown(&Val::from(it));
        match &self.rule {
            Operator::Regex { pattern, count_min: None | Some(1) } => {
                format!("text that matches {}", text(&pattern.source))
            }
            Operator::Regex { pattern, count_min: Some(n) } => {
                format!("text with at least {n} matches of {}", text(&pattern.source))
            }
            Operator::Contains(substring) => format!("text with {}", text(substring)),
            Operator::Length { min: None, max: None, .. } => "text".to_owned(),
            Operator::Length { min: Some(min), max: None, unit } => {
                format!("text of at least {}", in_units(*min, unit))
            }
            Operator::Length { min: None, max: Some(max), unit } => format!("text of at most {}", in_units(*max, unit)),
            Operator::Length { min: Some(min), max: Some(max), unit } => {
                format!("text of {min} to {}", in_units(*max, unit))
            }
        }
    }

    fn found(&self, value: &Val<'_>) -> String {
        match (&self.rule, value.as_str()) {
            (Operator::Length { unit, .. }, Some(text)) => in_units(length(text, unit), unit),
            _ => shown(value),
        }
    }
}

fn in_units(n: i64, unit: &str) -> String {
    counted(n, if unit == "words" { "word" } else { "character" })
}

fn length(text: &str, unit: &str) -> i64 {
    let n = if unit == "words" { python::words(text).count() } else { text.chars().count() };
    i64::try_from(n).unwrap_or(i64::MAX)
}
