//! Reading the parameters of a primitive, with their places.
//!
//! What Karenina refuses is an [`ArgError`]. What it takes in silence though it cannot be meant (an unknown flag, a
//! misspelt normaliser, a bound that is no date) is a [`Flaw`]: the definition reader makes a problem of it, a stored
//! form is read as Karenina reads it.

use std::collections::BTreeSet;
use std::ops::Range;

use jurat_format::choice::Choice;
use jurat_format::value::{Node, Span, Val, python};

use super::normalise::Normaliser;
use super::pattern::Pattern;

/// The parameters of one comparison.
#[derive(Debug)]
pub struct Args<'n, 'a> {
    node: &'n Node<'a>,
    taken: BTreeSet<&'static str>,
    flaws: Vec<Flaw>,
}

/// Parameters that make no comparison.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct ArgError {
    pub span: Span,
    pub message: String,
}

/// A parameter that can be read but cannot be meant.
#[derive(Debug, Clone, PartialEq)]
pub struct Flaw {
    pub span: Span,
    pub message: String,
    /// The pattern there and the bytes of it that are wrong, when it is a pattern and they are known.
    pub pattern: Option<(String, Range<usize>)>,
}

impl ArgError {
    pub(super) fn at(span: Span, message: String) -> ArgError {
        ArgError { span, message }
    }
}

impl<'n, 'a> Args<'n, 'a> {
    /// The parameters that an object holds.
    pub fn new(node: &'n Node<'a>) -> Result<Args<'n, 'a>, ArgError> {
        match node.entries() {
            Some(_) => Ok(Args { node, taken: BTreeSet::new(), flaws: Vec::new() }),
            None => Err(ArgError::at(node.span, format!("needs an object, found {}", node.phrase()))),
        }
    }

    pub fn span(&self) -> Span {
        self.node.span
    }

    /// What was suspicious so far.
    pub fn flaws(&self) -> &[Flaw] {
        &self.flaws
    }

    pub fn flaw(&mut self, span: Span, message: impl Into<String>) {
        self.flaws.push(Flaw { span, message: message.into(), pattern: None });
    }

    /// The parameter, unless it is absent or null.
    pub(super) fn take(&mut self, name: &'static str) -> Option<&'n Node<'a>> {
        self.taken.insert(name);
        self.node.get(name).filter(|it| !matches!(it.content, jurat_format::value::Content::Scalar(Val::Null)))
    }

    fn required(&mut self, name: &'static str) -> Result<&'n Node<'a>, ArgError> {
        let span = self.node.span;
        self.take(name).ok_or_else(|| ArgError::at(span, format!("needs `{name}`")))
    }

    pub(super) fn required_text(&mut self, name: &'static str) -> Result<String, ArgError> {
        let node = self.required(name)?;
        text(name, node)
    }

    pub(super) fn text(&mut self, name: &'static str) -> Result<Option<String>, ArgError> {
        self.take(name).map(|node| text(name, node)).transpose()
    }

    pub(super) fn texts(&mut self, name: &'static str) -> Result<Option<Vec<String>>, ArgError> {
        let Some(node) = self.take(name) else { return Ok(None) };
        let items = node.as_list().ok_or_else(|| wrong(name, "a list of texts", node))?;
        items.iter().map(|item| text(name, item)).collect::<Result<_, _>>().map(Some)
    }

    pub(super) fn required_texts(&mut self, name: &'static str) -> Result<Vec<String>, ArgError> {
        let span = self.node.span;
        self.texts(name)?.ok_or_else(|| ArgError::at(span, format!("needs `{name}`")))
    }

    /// A number; text that reads as one counts, as it does for Karenina.
    pub(super) fn number(&mut self, name: &'static str) -> Result<Option<f64>, ArgError> {
        let Some(node) = self.take(name) else { return Ok(None) };
        python::float(&node.to_val()).map(Some).map_err(|_| wrong(name, "a number", node))
    }

    pub(super) fn required_number(&mut self, name: &'static str) -> Result<f64, ArgError> {
        let span = self.node.span;
        self.number(name)?.ok_or_else(|| ArgError::at(span, format!("needs `{name}`")))
    }

    pub(super) fn integer(&mut self, name: &'static str) -> Result<Option<i64>, ArgError> {
        let Some(number) = self.number(name)? else { return Ok(None) };
        let node = self.node.get(name).unwrap_or(self.node);
        // Within this range every whole double is an integer of 64 bits.
        if number.fract() == 0.0 && number.abs() < 9e15 {
            Ok(Some(number as i64))
        } else {
            Err(wrong(name, "a whole number", node))
        }
    }

    pub(super) fn boolean(&mut self, name: &'static str) -> Result<bool, ArgError> {
        let Some(node) = self.take(name) else { return Ok(false) };
        match node.to_val() {
            Val::Bool(value) => Ok(value),
            Val::I(0) => Ok(false),
            Val::I(1) => Ok(true),
            Val::Str(text) if matches!(text.to_ascii_lowercase().as_str(), "true" | "yes" | "on" | "1" | "t" | "y") => {
                Ok(true)
            }
            Val::Str(text)
                if matches!(text.to_ascii_lowercase().as_str(), "false" | "no" | "off" | "0" | "f" | "n") =>
            {
                Ok(false)
            }
            _ => Err(wrong(name, "`true` or `false`", node)),
        }
    }

    /// One of a few names; `None` when it is absent.
    pub(super) fn choice<T: Choice>(&mut self, name: &'static str) -> Result<Option<T>, ArgError> {
        let Some(node) = self.take(name) else { return Ok(None) };
        let chosen = node.as_str().and_then(|text| T::NAMED.iter().find(|(choice, _)| *choice == text));
        let listed = || jurat_format::problem::listed(T::NAMES.iter().copied());
        chosen.map(|(_, value)| Some(*value)).ok_or_else(|| wrong(name, &listed(), node))
    }

    /// The list of normalisers under `normalize`.
    pub(super) fn normalisers(&mut self, default: &[Normaliser]) -> Result<Vec<Normaliser>, ArgError> {
        let Some(node) = self.take("normalize") else { return Ok(default.to_vec()) };
        let items = node.as_list().ok_or_else(|| wrong("normalize", "a list of normalisers", node))?;
        let mut normalisers = Vec::with_capacity(items.len());
        for item in items {
            let normaliser = Normaliser::read(item).map_err(|message| ArgError::at(item.span, message))?;
            if let Some(message) = normaliser.flaw() {
                self.flaw(item.span, message);
            }
            normalisers.push(normaliser);
        }
        Ok(normalisers)
    }

    /// A regular expression under `pattern`; one that cannot be read is a flaw, and an error each time it is used.
    pub(super) fn pattern(
        &mut self,
        compile: impl FnOnce(&str) -> Result<Pattern, super::pattern::PatternError>,
    ) -> Result<CompiledPattern, ArgError> {
        let node = self.required("pattern")?;
        let source = text("pattern", node)?;
        let program = compile(&source);
        if let Err(error) = &program {
            let message = format!("not a regular expression: {error}");
            let pattern = error.at.clone().map(|at| (source.clone(), at));
            self.flaws.push(Flaw { span: node.span, message, pattern });
        }
        Ok(CompiledPattern { source, program: program.map_err(|error| error.message) })
    }

    /// The keys that no reader asked for, with the places of their names.
    pub fn unknown(&self) -> impl Iterator<Item = (&str, Span)> {
        let entries = self.node.entries().unwrap_or(&[]);
        entries.iter().filter(|it| !self.taken.contains(&*it.key)).map(|it| (&*it.key, it.key_span))
    }

    /// Says that `name` is known here though it is no parameter.
    pub fn allow(&mut self, name: &'static str) {
        self.taken.insert(name);
    }
}

/// A pattern parameter: its text, and the program unless it could not be read.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CompiledPattern {
    pub(super) source: String,
    program: Result<Pattern, String>,
}

impl CompiledPattern {
    pub(super) fn program(&self) -> Result<&Pattern, super::Inapplicable> {
        self.program.as_ref().map_err(|message| super::Inapplicable {
            fault: super::Fault::Pattern,
            reason: format!("not a regular expression: {message}"),
        })
    }
}

fn text(name: &str, node: &Node<'_>) -> Result<String, ArgError> {
    node.as_str().map(str::to_owned).ok_or_else(|| wrong(name, "text", node))
}

fn wrong(name: &str, needs: &str, node: &Node<'_>) -> ArgError {
    ArgError::at(node.span, format!("`{name}` must be {needs}, not {}", node.phrase()))
}
