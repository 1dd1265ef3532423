//! The author's code, and how it is run.

use std::ops::Range;
use std::sync::Arc;

use jurat_format::form::{Form, Key, Keys};
use jurat_format::problem::{Problem, listed, nearest};
use jurat_format::reader::{Fields, Reading};
use jurat_format::source::Sources;
use jurat_format::value::{Content, Node, Span, Val, Value};
use jurat_format::{codes, duration};

use crate::evaluator::{
    Code, Isolation, Language, Limits, Signature, SignatureError, SignatureErrorKind, Source, python_signature,
};
use crate::suite::judging;
use crate::suite::write::Members;

/// The author's code and where it stands.
#[derive(Debug, Clone)]
pub struct EvaluatorCode {
    /// The code, and how it is run.
    pub code: Arc<Code>,
    /// The file as it was written, when it is in one.
    pub file: Option<String>,
    /// What its function takes, when that can be told without running it.
    pub signature: Option<Signature>,
    /// The place of its text.
    pub span: Span,
}

impl PartialEq for EvaluatorCode {
    fn eq(&self, other: &Self) -> bool {
        self.code == other.code && self.file == other.file
    }
}

/// The function that is called unless the author names another.
const ENTRY: &str = "evaluate";

const MEMORY: Form = Form::Either(&[Form::Text, Form::Integer(1)]);

pub(super) static LIMITS: Keys = Keys {
    what: "`limits` of an evaluator",
    keys: &[
        Key::optional("timeout", duration::FORM, "timeout of one call").default("`30s`"),
        Key::optional("memory", MEMORY, "memory of its process, such as `512MiB`").default("`1GiB`"),
    ],
};

/// The keys that make no sense without code.
pub(super) const OF_CODE: [&str; 6] = ["language", "entry", "limits", "deterministic", "isolation", "python"];

pub(super) fn read(reading: &mut Reading<'_>, fields: &Fields<'_, '_>, node: &Node<'_>) -> Option<EvaluatorCode> {
    let (text, file) = judging::text_or_file(reading, "`source`", node)?;
    let said = fields.get("language").and_then(|it| reading.choice("`language`", &Language::NAMED, it));
    let by_name = file.as_deref().and_then(|it| it.rsplit_once('.')).and_then(|(_, ending)| match ending {
        "py" => Some(Language::Python),
        "ts" | "mts" => Some(Language::TypeScript),
        "js" | "mjs" => Some(Language::JavaScript),
        _ => None,
    });
    let language = said.or(by_name).unwrap_or(Language::Python);
    let entry = fields.get("entry").and_then(|it| reading.text("`entry`", it));
    let entry = entry.map_or_else(|| ENTRY.to_owned(), |it| it.value);
    let limits = fields.get("limits").map(|it| read_limits(reading, it)).unwrap_or_default();
    let is_deterministic = fields.get("deterministic").and_then(|it| reading.boolean("`deterministic`", it));
    let isolation = fields.get("isolation").and_then(|it| reading.choice("`isolation`", &Isolation::NAMED, it));
    let python = fields.get("python").and_then(|it| reading.text("`python`", it)).map(|it| it.value);
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
    let code = Code {
        source,
        limits,
        isolation: isolation.unwrap_or_default(),
        is_deterministic: is_deterministic.unwrap_or(true),
        python,
    };
    Some(EvaluatorCode { code: Arc::new(code), file, signature, span: text.span })
}

/// Code that cannot be called, at the place in the author's text.
pub fn unusable_code(sources: &Sources, code: &EvaluatorCode, error: SignatureError) -> Problem {
    unusable(sources, code.span, &code.code.source, error)
}

/// Code whose function cannot be told, at the place in the author's text. `span` is where that text stands.
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

fn read_limits(reading: &mut Reading<'_>, node: &Node<'_>) -> Limits {
    let mut limits = Limits::default();
    let Some(fields) = Fields::read(reading, &LIMITS, node) else { return limits };
    if let Some(timeout) = fields.get("timeout").and_then(|it| duration::read(reading, "`timeout`", it)) {
        limits.timeout = timeout;
    }
    if let Some(memory) = fields.get("memory").and_then(|it| read_memory(reading, it)) {
        limits.memory = memory;
    }
    limits
}

/// The units of memory, longest name first where one ends in another.
const UNITS: [(&str, u64); 3] = [("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)];

fn read_memory(reading: &mut Reading<'_>, node: &Node<'_>) -> Option<u64> {
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
        let message = format!("`memory` must be an amount of memory, not {}", node.phrase());
        let problem = Problem::new(&codes::WRONG_VALUE, message).at(node.span, "no amount of memory");
        reading.problem(
            problem.help("write a whole number and `KiB`, `MiB` or `GiB`, for example `512MiB`, or a number of bytes"),
        );
    }
    bytes
}

/// The shortest way to write an amount of memory.
fn written_memory(bytes: u64) -> Value {
    let unit = UNITS.iter().rev().find(|(_, unit)| bytes.is_multiple_of(*unit));
    unit.map_or_else(|| Val::from(bytes), |(name, unit)| Val::from(format!("{}{name}", bytes / unit)))
}

/// Code, as it is read.
pub(super) fn write(map: &mut Members, EvaluatorCode { code, file, .. }: &EvaluatorCode) {
    let file = file.clone().map(|it| Val::Map([("file", Val::from(it))].into_iter().collect()));
    map.put("source", file.unwrap_or_else(|| Val::from(code.source.text.to_string())));
    map.put("language", Val::from(code.source.language.name()));
    if *code.source.entry != *ENTRY {
        map.put("entry", Val::from(code.source.entry.to_string()));
    }
    if code.limits != Limits::default() {
        let memory = written_memory(code.limits.memory);
        let members = [("timeout", duration::write(code.limits.timeout)), ("memory", memory)];
        map.put("limits", Val::Map(members.into_iter().collect()));
    }
    if !code.is_deterministic {
        map.put("deterministic", Val::Bool(false));
    }
    if code.isolation == Isolation::Fork {
        map.put("isolation", Val::from("fork"));
    }
    map.text("python", code.python.as_ref());
}
