//! The author's code, and how it is run.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use jurat_format::field::{Defaulted, Field};
use jurat_format::fields::Fields;
use jurat_format::form::{Form, Key, Object};
use jurat_format::problem::{Problem, listed, nearest};
use jurat_format::reader::Reading;
use jurat_format::shape::Shape;
use jurat_format::source::Sources;
use jurat_format::value::{Content, Node, Span, Val};
use jurat_format::{codes, duration};

use crate::evaluator::definition::{DETERMINISTIC, ENTRY, ISOLATION, LANGUAGE, LIMITS, PYTHON, SOURCE};
use crate::evaluator::{
    Code, Language, Limits, Signature, SignatureError, SignatureErrorKind, Source, python_signature,
};

/// The author's code and where it stands.
#[derive(Debug, Clone)]
pub struct EvaluatorCode {
    /// The code, and how it is run.
    pub code: Arc<Code>,
    /// What its function takes, when that can be read without running it.
    pub signature: Option<Signature>,
    /// The place of its text.
    pub span: Span,
}

/// The function that is called unless the author names another.
pub(crate) const USUAL_ENTRY: &str = "evaluate";

const TIMEOUT: Defaulted<Duration> = Field::optional("timeout", duration::SHAPE, "timeout of one call")
    .default_seconds(Limits::DEFAULT.timeout.as_secs());
const MEMORY: Defaulted<u64> = Field::optional(
    "memory",
    Shape::new(Form::Either(&[Form::Text, Form::Integer(1)]), read_memory),
    "memory of its process, such as `512MiB`",
)
.default_bytes(Limits::DEFAULT.memory);

static CALL_LIMITS: Object = Object { what: "`limits` of an evaluator", keys: &[TIMEOUT.key, MEMORY.key] };

/// Limits of one call.
pub(crate) const LIMITS_SHAPE: Shape<Limits> = Shape::new(Form::Object(&CALL_LIMITS), read_limits);

/// The languages that sources are written in.
const LANGUAGES: [Language; 3] = [Language::Python, Language::TypeScript, Language::JavaScript];

/// The keys that make no sense without code.
pub(crate) const OF_CODE: [Key; 6] =
    [LANGUAGE.key, ENTRY.key, LIMITS.key, DETERMINISTIC.key, ISOLATION.key, PYTHON.key];

pub(crate) fn read(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<EvaluatorCode> {
    let (text, file) = fields.read(reading, &SOURCE)?;
    let named = LANGUAGES.map(|it| (it.name(), it));
    let said = fields.node(&LANGUAGE).and_then(|it| reading.choice(&LANGUAGE.quoted(), &named, it));
    let by_name = file.as_deref().and_then(|it| it.rsplit_once('.')).and_then(|(_, ending)| match ending {
        "py" => Some(Language::Python),
        "ts" | "mts" => Some(Language::TypeScript),
        "js" | "mjs" => Some(Language::JavaScript),
        _ => None,
    });
    let language = said.or(by_name).unwrap_or(Language::Python);
    let entry = fields.read(reading, &ENTRY);
    let entry = entry.unwrap_or_else(|| USUAL_ENTRY.to_owned());
    let limits = fields.read(reading, &LIMITS).unwrap_or(Limits::DEFAULT);
    let is_deterministic = fields.read(reading, &DETERMINISTIC);
    let isolation = fields.value(reading, &ISOLATION);
    let python = fields.read(reading, &PYTHON);
    let source = Source { language, text: text.value.as_str().into(), entry: entry.into() };
    let signature = match language {
        Language::Python => python_signature(&source.text, &source.entry),
        // Read once the whole suite is: see `read_script_signatures`.
        Language::TypeScript | Language::JavaScript | Language::Rust => Ok(None),
    };
    let signature = signature.unwrap_or_else(|error| {
        reading.problem(unusable(&reading.sources, text.span, &source, error));
        None
    });
    let code = Code { source, limits, isolation, is_deterministic: is_deterministic.unwrap_or(true), python };
    Some(EvaluatorCode { code: Arc::new(code), signature, span: text.span })
}

/// Code that cannot be called, at the place in the author's text.
pub fn unusable_code(sources: &Sources, code: &EvaluatorCode, error: SignatureError) -> Problem {
    unusable(sources, code.span, &code.code.source, error)
}

/// Code whose function cannot be found, at the place in the author's text. `span` is where that text stands.
fn unusable(sources: &Sources, span: Span, source: &Source, error: SignatureError) -> Problem {
    let Source { language, text, entry } = source;
    let code = match error.kind {
        SignatureErrorKind::Syntax => &codes::BAD_CODE,
        SignatureErrorKind::NoFunction => &codes::NO_FUNCTION,
        SignatureErrorKind::NotCallable => &codes::BAD_CODE,
    };
    let span = place(sources, span, text, error.at.clone());
    let problem = Problem::new(code, error.message)
        .at(span, if error.kind == SignatureErrorKind::NoFunction { "this code" } else { "here" });
    match error.kind {
        SignatureErrorKind::NoFunction => match nearest(entry, error.functions.iter().map(String::as_str)) {
            Some(near) => problem.help(format!("did you mean `entry: {near}`?")),
            None if error.functions.is_empty() && language.is_script() => {
                problem.help(format!("add `export function {entry}({{ output, reference }}) {{ … }}`"))
            }
            None if error.functions.is_empty() => problem.help(format!("add `def {entry}(output, reference):`")),
            None => problem
                .help(format!("it has {}; name one with `entry`", listed(error.functions.iter().map(String::as_str)))),
        },
        SignatureErrorKind::NotCallable => problem.help("drop the `/`"),
        SignatureErrorKind::Syntax => problem,
    }
}

/// The place of a part of the code. A block of YAML is indented, so its lines are looked for one by one.
fn place(sources: &Sources, span: Span, text: &str, part: Range<usize>) -> Span {
    let written = sources.text(span);
    if let Some(at) = written.find(text).filter(|_| !text.is_empty()) {
        return span.part(at + part.start..at + part.end.max(part.start + 1));
    }
    let start = part.start.min(text.len());
    let line_start = text[..start].rfind('\n').map_or(0, |it| it + 1);
    let n_line = text[..line_start].matches('\n').count();
    let line_end = text[start..].find('\n').map_or(text.len(), |it| start + it);
    let line = &text[line_start..line_end];
    // The first line of a block is the one behind its mark.
    let block_lines = written.split_inclusive('\n').skip(usize::from(written.starts_with(['|', '>'])));
    let mut offset =
        if written.starts_with(['|', '>']) { written.find('\n').map_or(written.len(), |it| it + 1) } else { 0 };
    for (ix, candidate) in block_lines.enumerate() {
        if ix == n_line
            && let Some(column) = candidate.find(line)
        {
            let from = offset + column + (start - line_start);
            let to = (from + (part.end.min(line_end).max(start) - start)).max(from + 1);
            return span.part(from..to);
        }
        offset += candidate.len();
    }
    span
}

fn read_limits(reading: &mut Reading<'_>, _: &str, node: &Node<'_>) -> Option<Limits> {
    let fields = CALL_LIMITS.fields(reading, node)?;
    Some(Limits { timeout: fields.value(reading, &TIMEOUT), memory: fields.value(reading, &MEMORY) })
}

/// The units of memory, longest name first where one ends in another.
const UNITS: [(&str, u64); 3] = [("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)];

fn read_memory(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<u64> {
    let bytes = match &node.content {
        Content::Scalar(Val::I(bytes)) => u64::try_from(*bytes).ok(),
        Content::Scalar(Val::Str(text)) => UNITS.iter().find_map(|(name, unit)| {
            let number: u64 = text.strip_suffix(name)?.trim_end().parse().ok()?;
            number.checked_mul(*unit)
        }),
        _ => None,
    };
    let bytes = bytes.filter(|it| *it > 0);
    if bytes.is_none() {
        let message = format!("{what} must be an amount of memory, not {}", node.phrase());
        let problem = Problem::new(&codes::WRONG_VALUE, message).at(node.span, "no amount of memory");
        reading.problem(
            problem.help("write a whole number and `KiB`, `MiB` or `GiB`, for example `512MiB`, or a number of bytes"),
        );
    }
    bytes
}
