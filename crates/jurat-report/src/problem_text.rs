//! Problems as people read them: the sentence, the lines it is about, and the remedy.
//!
//! ```text
//! warning[plan::unknown_field]: `expert` never produces `acuracy`
//!  --> support.yaml:3:17
//!   |
//! 3 |     field_path: expert.acuracy
//!   |                 ^^^^^^^^^^^^^^ read here
//!   |
//!   = help: `expert` produces accuracy, reason, suitable; did you mean `accuracy`?
//! ```
//!
//! `annotate-snippets` renders. It is given only text that is short and safe to show (`excerpt`, `visible`), because not
//! all of what it is given it cleans, and how long it takes depends on how much that is.

use std::borrow::Cow;
use std::io::{self, Write};

use annotate_snippets::{AnnotationKind, Element, Group, Level, Origin, Snippet};
use jurat_format::problem::{Problem, Severity};
use jurat_format::source::Sources;

use crate::excerpt::{Excerpt, Shown, named, shown};
use crate::lines::Lines;
use crate::order::{count, most_pressing};
use crate::style::Style;
use crate::visible::{visible, visible_line};
use crate::words::counted;

/// How many problems are rendered; the rest are counted. Errors come before warnings.
pub const MAX_PROBLEMS: usize = 100;

/// How many places of one problem are rendered.
const MAX_LABELS: usize = 12;

/// How many bytes of a message, a label or a remedy are rendered.
const TEXT_ROOM: usize = 2000;

/// Renders problems in the order in which they stand in the sources, each followed by an empty line.
///
/// ```
/// use jurat_format::problem::{Code, Problem, Severity};
/// use jurat_format::source::Sources;
/// use jurat_format::value::Span;
/// use jurat_report::{Style, write_problems};
///
/// static UNKNOWN_KEY: Code = Code { name: "suite::unknown_key", severity: Severity::Error, summary: "an unknown key" };
///
/// let mut sources = Sources::default();
/// let source = sources.add("support.yaml", "sute: support\n");
/// let problem = Problem::new(&UNKNOWN_KEY, "`sute` is not a key of a suite")
///     .at(Span::new(source, 0..4), "")
///     .did_you_mean("sute", ["suite"]);
///
/// let mut text = Vec::new();
/// write_problems(&mut text, &[problem], &sources, Style::Plain)?;
/// assert_eq!(String::from_utf8_lossy(&text), "\
/// error[suite::unknown_key]: `sute` is not a key of a suite
///  --> support.yaml:1:1
///   |
/// 1 | sute: support
///   | ^^^^
///   |
///   = help: did you mean `suite`?
///
/// ");
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn write_problems(out: &mut dyn Write, problems: &[Problem], sources: &Sources, style: Style) -> io::Result<()> {
    let texts = Lines::of_all(sources);
    let renderer = style.renderer();
    let shown = most_pressing(problems, MAX_PROBLEMS);
    for problem in &shown {
        writeln!(out, "{}\n", renderer.render(&[group(problem, &texts)]))?;
    }
    match problems.len() - shown.len() {
        0 => Ok(()),
        hidden => writeln!(out, "and {}\n", counted(hidden as u64, "more problem")),
    }
}

/// Writes the line that ends a list of problems: `2 errors, 1 warning`.
pub fn write_summary(out: &mut dyn Write, problems: &[Problem], style: Style) -> io::Result<()> {
    let part = |severity: Severity| match count(problems, severity) {
        0 => None,
        n => Some(style.marked(severity, &counted(n as u64, &severity.to_string()))),
    };
    let parts: Vec<String> = [Severity::Error, Severity::Warning].into_iter().filter_map(part).collect();
    writeln!(out, "{}", if parts.is_empty() { "no problems".to_owned() } else { parts.join(", ") })
}

fn group<'p>(problem: &'p Problem, texts: &[Lines<'_>]) -> Group<'p> {
    let level = match problem.severity() {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let (labels, others) = problem.labels.split_at(problem.labels.len().min(MAX_LABELS));
    let mut group = Group::with_title(level.primary_title(message(&problem.message)).id(problem.code.name));
    let shown = if problem.is_secret { named(labels, texts) } else { shown(labels, texts) };
    for shown in shown {
        group = group.elements(elements(shown));
    }
    if !others.is_empty() {
        group = group.element(Level::NOTE.message(format!("and {}", counted(others.len() as u64, "more place"))));
    }
    group.elements(problem.help.iter().map(|help| Level::HELP.message(message(help))))
}

fn elements(shown: Shown<'_>) -> Vec<Element<'_>> {
    match shown {
        Shown::Rendered(excerpt) => vec![snippet(excerpt)],
        Shown::Named { path, position, text } => {
            let origin = match position {
                Some(at) => Origin::path(path).line(at.line).char_column(at.column),
                None => Origin::path(path),
            };
            let note = (!text.is_empty()).then(|| Level::NOTE.message(label(text)).into());
            std::iter::once(origin.into()).chain(note).collect()
        }
    }
}

fn snippet(excerpt: Excerpt<'_>) -> Element<'_> {
    let annotations = excerpt.marks.into_iter().map(|mark| {
        let kind = if mark.main { AnnotationKind::Primary } else { AnnotationKind::Context };
        kind.span(mark.range).label((!mark.text.is_empty()).then(|| label(mark.text)))
    });
    Snippet::source(excerpt.text).path(excerpt.path).line_start(excerpt.first_line).annotations(annotations).into()
}

/// A message or a remedy. It may have several lines: the renderer indents them, so none can pose as a line of its own.
fn message(text: &str) -> Cow<'_, str> {
    cut(text, visible)
}

/// What is said about a place, on one line.
fn label(text: &str) -> Cow<'_, str> {
    cut(text, visible_line)
}

fn cut(text: &str, visible: fn(&str) -> Cow<'_, str>) -> Cow<'_, str> {
    match text.floor_char_boundary(TEXT_ROOM) {
        end if end < text.len() => Cow::Owned(format!("{}…", visible(&text[..end]))),
        _ => visible(text),
    }
}
