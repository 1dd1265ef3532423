//! Why an engine refused a pattern, in words its author can use.
//!
//! The engines' own messages are drawings of several lines, or speak of their options. What is
//! left is the reason, and the place when it is known.

use std::ops::Range;

use fancy_regex::{CompileError, ParseError};
use regex_syntax::ast::{ErrorKind, Span};

use super::PatternError;

const TOO_LARGE: &str = "the pattern is too large once its repeats are written out";
const TOO_DEEP: &str = "groups are nested too deep";

/// What stands between a pattern and the linear engine.
pub(super) enum Refusal {
    /// Look-around or back-references, and nothing else up to there.
    NeedsBacktracking,
    Wrong(PatternError),
}

impl Refusal {
    pub(super) fn of_linear(error: &regex::Error, text: &str) -> Refusal {
        // `regex` only has its rendered form, so its parser is asked again for reason and place.
        let (message, at) = match regex_syntax::Parser::new().parse(text) {
            Err(regex_syntax::Error::Parse(parse)) => match parse.kind() {
                ErrorKind::UnsupportedBackreference | ErrorKind::UnsupportedLookAround => {
                    return Refusal::NeedsBacktracking;
                }
                // The linear engine has no words for references by name.
                ErrorKind::FlagUnrecognized | ErrorKind::EscapeUnrecognized
                    if is_named_reference(text, parse.span()) =>
                {
                    return Refusal::NeedsBacktracking;
                }
                kind => (kind.to_string(), Some(bytes(parse.span()))),
            },
            Err(regex_syntax::Error::Translate(translate)) => {
                (translate.kind().to_string(), Some(bytes(translate.span())))
            }
            _ => match error {
                regex::Error::CompiledTooBig(_) => (TOO_LARGE.to_owned(), None),
                other => (other.to_string(), None),
            },
        };
        Refusal::Wrong(PatternError { message, at })
    }
}

/// Says why `fancy-regex` refused a pattern.
pub(super) fn of_backtracking(error: &fancy_regex::Error, text: &str) -> PatternError {
    match error {
        fancy_regex::Error::ParseError(position, ParseError::RecursionExceeded) => {
            PatternError { message: TOO_DEEP.to_owned(), at: character_at(*position, text) }
        }
        fancy_regex::Error::ParseError(position, reason) => {
            let message = fragment(&reason.to_string());
            PatternError { message, at: character_at(*position, text) }
        }
        fancy_regex::Error::CompileError(reason) => PatternError { message: compile_reason(reason), at: None },
        other => PatternError { message: fragment(&other.to_string()), at: None },
    }
}

/// Whether the parser stumbled over `(?P=name)` or `\k<name>`.
fn is_named_reference(text: &str, stumbled: &Span) -> bool {
    let rest = text.get(stumbled.start.offset..).unwrap_or_default();
    rest.starts_with("P=") || rest.starts_with(r"\k<")
}

fn compile_reason(reason: &CompileError) -> String {
    match reason {
        CompileError::PatternTooComplex => TOO_LARGE.to_owned(),
        CompileError::InnerError(inner) if inner.size_limit().is_some() => TOO_LARGE.to_owned(),
        CompileError::InnerError(inner) => match inner.syntax_error() {
            Some(regex_syntax::Error::Parse(parse)) => parse.kind().to_string(),
            Some(regex_syntax::Error::Translate(translate)) => translate.kind().to_string(),
            _ => fragment(&inner.to_string()),
        },
        other => fragment(&other.to_string()),
    }
}

/// The first line of a message, starting in lower case.
fn fragment(message: &str) -> String {
    let line = message.lines().next().unwrap_or_default();
    let mut chars = line.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

fn character_at(position: usize, text: &str) -> Option<Range<usize>> {
    let rest = text.get(position..)?;
    Some(position..position + rest.chars().next().map_or(0, char::len_utf8))
}

fn bytes(span: &Span) -> Range<usize> {
    span.start.offset..span.end.offset
}
