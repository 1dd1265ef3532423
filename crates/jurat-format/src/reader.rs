//! Reading an object of a definition: known keys, right types, and a problem for everything else.
//!
//! A reader never stops at the first problem. What cannot be read is `None`, the problem is noted, and reading continues with
//! the next key; the code that needed the value knows that a problem was reported.

use std::path::PathBuf;

use crate::codes;
use crate::id;
use crate::problem::{Problem, Problems, listed};
use crate::source::{Files, Source, Sources};
use crate::value::{Content, FieldPath, Node, Span, Spanned, Val, shown_within};

/// Where problems go while a definition is read, and where its other files come from.
pub struct Reading<'f> {
    pub problems: Problems,
    pub sources: Sources,
    pub files: &'f dyn Files,
}

impl Reading<'_> {
    pub fn problem(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    /// Notes a problem, if there is one.
    pub fn problems_of(&mut self, problem: Option<Problem>) {
        problem.into_iter().for_each(|it| self.problem(it));
    }

    /// How many errors were noted so far. A reader of a part compares it to see whether the part is whole.
    pub fn n_errors(&self) -> usize {
        self.problems.n_errors()
    }

    /// Notes that a value is of the wrong type.
    pub fn wrong_type(&mut self, what: &str, needs: &str, node: &Node<'_>) {
        self.problem(wrong_type(what, needs, node));
    }

    pub fn text(&mut self, what: &str, node: &Node<'_>) -> Option<Spanned<String>> {
        match node.as_str() {
            Some(text) => Some(Spanned::new(text.to_owned(), node.span)),
            None => {
                let problem = wrong_type(what, "text", node);
                self.problem(match &node.content {
                    Content::Scalar(Val::Null) | Content::List(_) | Content::Map(_) => problem,
                    Content::Scalar(value) => problem.help(format!("quote it: '{value}'")),
                });
                None
            }
        }
    }

    pub fn boolean(&mut self, what: &str, node: &Node<'_>) -> Option<bool> {
        match node.content {
            Content::Scalar(Val::Bool(value)) => Some(value),
            _ => {
                self.wrong_type(what, "`true` or `false`", node);
                None
            }
        }
    }

    pub fn integer(&mut self, what: &str, least: i64, node: &Node<'_>) -> Option<i64> {
        match node.content {
            Content::Scalar(Val::I(number)) if number >= least => Some(number),
            Content::Scalar(Val::U(_) | Val::Big(_)) => {
                self.wrong_type(what, &format!("a whole number from {least} to {}", i64::MAX), node);
                None
            }
            _ if least == i64::MIN => {
                self.wrong_type(what, "a whole number", node);
                None
            }
            _ => {
                self.wrong_type(what, &format!("a whole number of at least {least}"), node);
                None
            }
        }
    }

    /// A whole number that counts something.
    pub fn count(&mut self, what: &str, least: u32, node: &Node<'_>) -> Option<u32> {
        let number = self.integer(what, least.into(), node)?;
        let count = u32::try_from(number).ok();
        if count.is_none() {
            self.wrong_type(what, &format!("a whole number from {least} to {}", u32::MAX), node);
        }
        count
    }

    pub fn number(&mut self, what: &str, (least, most): (f64, f64), node: &Node<'_>) -> Option<f64> {
        let number = match &node.content {
            Content::Scalar(value) => value.as_f64(),
            _ => None,
        };
        match number {
            Some(number) if number.is_finite() && (least..=most).contains(&number) => Some(number),
            _ => {
                let needs = match (least.is_finite(), most.is_finite()) {
                    (true, true) => format!("a number from {least} to {most}"),
                    (true, false) => format!("a number of at least {least}"),
                    _ => "a number".to_owned(),
                };
                self.wrong_type(what, &needs, node);
                None
            }
        }
    }

    /// The items of a list.
    pub fn list<'n, 'a>(&mut self, what: &str, needs: &str, node: &'n Node<'a>) -> &'n [Node<'a>] {
        match node.as_list() {
            Some(items) => items,
            None => {
                let problem = wrong_type(what, needs, node);
                self.problem(match &node.content {
                    Content::Scalar(Val::Null) | Content::List(_) | Content::Map(_) => problem,
                    Content::Scalar(value) => problem.help(format!("write `[{value}]` for a list with one item")),
                });
                &[]
            }
        }
    }

    pub fn texts(&mut self, what: &str, node: &Node<'_>) -> Vec<Spanned<String>> {
        let items = self.list(what, "a list of texts", node);
        items.iter().filter_map(|item| self.text(&format!("an item of {what}"), item)).collect()
    }

    /// One of a few names.
    pub fn choice<T: Copy>(&mut self, what: &str, choices: &[(&str, T)], node: &Node<'_>) -> Option<T> {
        let Some(text) = node.as_str() else {
            self.wrong_type(what, &listed(choices.iter().map(|(name, _)| *name)), node);
            return None;
        };
        let chosen = choices.iter().find(|(name, _)| *name == text);
        if chosen.is_none() {
            let names = choices.iter().map(|(name, _)| *name);
            let message =
                format!("{what} must be {}, not {}", listed(names.clone()), shown_within(&Val::from(text), 40));
            let problem = Problem::new(&codes::WRONG_VALUE, message).at(node.span, "none of these");
            self.problem(problem.did_you_mean(text, names));
        }
        chosen.map(|(_, value)| *value)
    }

    pub fn path(&mut self, what: &str, node: &Node<'_>) -> Option<Spanned<FieldPath>> {
        let text = self.text(what, node)?;
        match FieldPath::parse(&text.value) {
            Ok(path) => Some(Spanned::new(path, text.span)),
            Err(error) => {
                let span = self.part_of_text(text.span, &text.value, error.at.clone());
                let mut problem = Problem::new(&codes::BAD_PATH, format!("{what}: {}", error.message)).at(span, "here");
                problem.help.extend(error.help);
                self.problem(problem);
                None
            }
        }
    }

    /// An id, checked letter by letter.
    pub fn id(&mut self, what: &str, node: &Node<'_>) -> Option<Spanned<String>> {
        let Some(text) = node.as_str().map(|it| Spanned::new(it.to_owned(), node.span)) else {
            self.wrong_type(what, "a name such as `polite`", node);
            return None;
        };
        if id::is_id(&text.value) {
            return Some(text);
        }
        let message = format!("{what}: {} is not an id", shown_within(&Val::from(text.value.as_str()), 40));
        let problem =
            Problem::new(&codes::BAD_ID, message).at(text.span, "letters, digits, `_` and `-`; no digit or `-` first");
        let repaired = id::repaired(&text.value);
        self.problem(problem.help(format!("for example `{}`", if repaired == "_" { "polite" } else { &repaired })));
        None
    }

    /// A path as it is meant: relative to the file that holds it.
    pub fn beside(&self, span: Span, written: &str) -> PathBuf {
        let folder = self.sources.get(span.source).map(|Source { path, .. }| path.parent().unwrap_or(path).to_owned());
        folder.unwrap_or_default().join(written)
    }

    /// The file that something stands in.
    pub fn source(&self, span: Span) -> PathBuf {
        self.sources.get(span.source).map(|it| it.path.clone()).unwrap_or_default()
    }

    /// The place of a part of a text, when the text stands in its source as it is; else the place of the whole.
    pub fn part_of_text(&self, span: Span, text: &str, part: std::ops::Range<usize>) -> Span {
        let written = self.sources.text(span);
        match written.find(text).filter(|_| !text.is_empty()) {
            Some(at) => span.part(at + part.start..at + part.end.max(part.start + 1)),
            None => span,
        }
    }

    /// The places of parts of a longer text such as a prompt, in the order they stand. A block of YAML is indented and a
    /// quoted text has escapes, so each is looked for by its own text, behind the one before it.
    pub fn places<'p>(&self, span: Span, parts: impl Iterator<Item = &'p str>) -> Vec<Span> {
        let written = self.sources.text(span);
        let (mut from, mut misses) = (0, 0);
        let place = |part: &'p str| match written[from..].find(part) {
            Some(at) if misses < MAX_MISSES => {
                let start = from + at;
                from = start + part.len();
                span.part(start..from)
            }
            _ => {
                misses += 1;
                // Each miss reads the text to its end, so there cannot be many.
                from = if misses < MAX_MISSES { from } else { written.len() };
                span
            }
        };
        parts.map(place).collect()
    }
}

/// How many parts of a text may not be found before the others are not looked for.
const MAX_MISSES: usize = 16;

fn wrong_type(what: &str, needs: &str, node: &Node<'_>) -> Problem {
    let message = format!("{what} must be {needs}, not {}", node.phrase());
    Problem::new(&codes::WRONG_TYPE, message).at(node.span, format!("should be {needs}"))
}
