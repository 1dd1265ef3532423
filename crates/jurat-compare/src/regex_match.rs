//! `RegexMatch`: the text matches an expression of Python's `re`, anywhere in it.

use jurat_format::problem::listed_all;
use jurat_format::value::{Val, Value, python, shown};

use super::args::CompiledPattern;
use super::judgement::{Inapplicable, Parameters, Test};
use super::pattern::{Pattern, PythonFlags};
use super::{ArgError, Args, Entry, Operand, Param, Rule};

pub(super) const ENTRIES: &[Entry] = &[Entry {
    name: "RegexMatch",
    summary: "has a match of the pattern in it, by the rules of Python's `re.search`",
    operand: Operand::Ignored,
    params: &[
        Param::required("pattern", Param::TEXT, "the regular expression"),
        Param::optional(
            "flags",
            r#"{"type": "array", "items": {"enum": ["IGNORECASE", "I", "MULTILINE", "M", "DOTALL", "S", "VERBOSE", "X", "ASCII", "A", "UNICODE", "U"]}}"#,
            "[]",
            "names of `re` flags",
        ),
    ],
    example: r"{ id: cites_trial, field_path: trial, operator: { type: RegexMatch, pattern: 'NCT\d{8}' } }",
    read,
    ..Entry::PRIMITIVE
}];

fn read(args: &mut Args<'_, '_>) -> Result<Rule, ArgError> {
    let names = args.texts("flags")?.unwrap_or_default();
    let mut flags = PythonFlags::default();
    for name in &names {
        match PythonFlags::from_name(name) {
            Some(flag) => flags = flags | flag,
            None => {
                let span = args.take("flags").map_or(args.span(), |it| it.span);
                let known = listed_all(PythonFlags::NAMES.iter().map(|(name, _)| *name).filter(|it| it.len() > 1));
                args.flaw(span, format!("there is no flag `{name}` in Python's `re`; there are {known}"));
            }
        }
    }
    let pattern = args.pattern(|text| Pattern::python(text, flags))?;
    Ok(Operator { pattern, flags: names }.into())
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Operator {
    pattern: CompiledPattern,
    flags: Vec<String>,
}

#[derive(Debug, Clone)]
pub(super) struct Comparison {
    pattern: Pattern,
}

impl Operator {
    pub(super) fn bind(&self, _: Val<'_>) -> Result<Comparison, Inapplicable> {
        Ok(Comparison { pattern: self.pattern.program()?.clone() })
    }
}

impl Parameters for Operator {
    fn parameters(&self) -> Vec<(&'static str, Value)> {
        let flags = self.flags.iter().map(|it| Val::from(it.clone())).collect();
        vec![("pattern", Val::from(self.pattern.source.clone())), ("flags", flags)]
    }
}

impl Test for Comparison {
    fn holds(&self, value: &Val<'_>) -> Result<bool, Inapplicable> {
        self.pattern.is_match(&python::str(value)).map_err(Inapplicable::from)
    }

    fn expected(&self) -> String {
        format!("text that matches {}", shown(&Val::from(self.pattern.as_str())))
    }
}
