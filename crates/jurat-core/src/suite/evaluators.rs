//! The `evaluators` of a suite: the author's code or a built-in, and what it puts out.

use std::sync::Arc;

use super::codes;
use super::duration;
use super::form::{Form, Key, Keys};
use super::judging;
use super::problem::{Problem, listed, nearest};
use super::reader::{Fields, Reading};
use super::task::{Evaluate, Gate, Selection, Task, TaskKind};
use super::write::Members;
use super::{Suite, same_id};
use crate::evaluator::binding::{self, Origin};
use crate::evaluator::builtin::{self, Builtin};
use crate::evaluator::{
    Code, Direction, Isolation, LabelValue, Language, Limits, OutputConfig, OutputKind, Signature, SignatureError,
    SignatureErrorKind, Source, check_names, python_signature,
};
use crate::value::{Content, FieldPath, Map, Node, Span, Spanned, Val, Value, shown_within};

/// An evaluator.
#[derive(Debug, Clone)]
pub struct Evaluator {
    /// Its name.
    pub name: Spanned<String>,
    /// What it is for.
    pub description: Option<String>,
    /// What it runs.
    pub kind: EvaluatorKind,
    /// What it puts out, in the author's words; may be empty.
    pub outputs: Vec<OutputConfig>,
    /// Whether errors were found in it.
    pub(crate) is_flawed: bool,
}

/// Two evaluators are equal wherever they stand.
impl PartialEq for Evaluator {
    fn eq(&self, other: &Self) -> bool {
        let Evaluator { name, description, kind, outputs, .. } = self;
        (name, description, kind, outputs) == (&other.name, &other.description, &other.kind, &other.outputs)
    }
}

impl Evaluator {
    /// What it puts out: what the author says, else what a built-in says of itself. Code without outputs has none.
    pub fn configs(&self) -> Vec<OutputConfig> {
        match &self.kind {
            EvaluatorKind::Builtin(builtin) if self.outputs.is_empty() => vec![builtin.output()],
            _ => self.outputs.clone(),
        }
    }

    /// What its function takes, when that is known.
    pub fn signature(&self) -> Option<&Signature> {
        match &self.kind {
            EvaluatorKind::Code(code) => code.signature.as_ref(),
            EvaluatorKind::Builtin(_) => None,
        }
    }
}

/// What an evaluator runs.
#[derive(Debug, Clone, PartialEq)]
pub enum EvaluatorKind {
    /// The author's code.
    Code(EvaluatorCode),
    /// A built-in.
    Builtin(Box<Builtin>),
}

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
pub(super) const ENTRY: &str = "evaluate";

const MEMORY: Form = Form::Either(&[Form::Text, Form::Integer(1)]);

static LIMITS: Keys = Keys {
    what: "`limits`",
    keys: &[
        Key::optional("timeout", duration::FORM, "how long one call may take; 30s unless said"),
        Key::optional("memory", MEMORY, "how much memory its process may have, for example `512MiB`; 1GiB unless said"),
    ],
};

static VALUE: Keys = Keys {
    what: "a label",
    keys: &[
        Key::required("label", Form::Text, "the label that is returned"),
        Key::optional("score", Form::Number(f64::NEG_INFINITY, f64::INFINITY), "the score that goes with it"),
    ],
};

const NUMBER: Form = Form::Number(f64::NEG_INFINITY, f64::INFINITY);

static OUTPUT: Keys = Keys {
    what: "an output",
    keys: &[
        Key::required("name", Form::Text, "its name; with several outputs, results are called `{evaluator}.{name}`"),
        Key::optional(
            "type",
            Form::Choice(&["categorical", "continuous", "freeform"]),
            "what may be returned; `categorical` with `values`, else `continuous`, unless said",
        ),
        Key::optional("description", Form::Text, "what it says; shown in reports"),
        Key::optional(
            "optimization_direction",
            Form::Choice(&["maximize", "minimize", "none", "MAXIMIZE", "MINIMIZE", "NONE"]),
            "which scores are better",
        )
        .or(&["direction"]),
        Key::optional("values", Form::List(&Form::Object(&VALUE)), "the labels of a categorical output"),
        Key::optional("lower_bound", NUMBER, "the least score"),
        Key::optional("upper_bound", NUMBER, "the greatest score"),
        Key::optional("thresholds", Form::List(&NUMBER), "scores of a free output at which something changes"),
    ],
};

static EVALUATOR: Keys = Keys {
    what: "an evaluator",
    keys: &[
        Key::optional("description", Form::Text, "what it is for; shown in reports"),
        Key::optional("source", judging::PROMPT, "the code: text, or `{file: …}`"),
        Key::optional(
            "language",
            Form::Choice(&["python", "typescript", "javascript"]),
            "the language of the code; by the file's name, else `python`, unless said",
        ),
        Key::optional("entry", Form::Text, "the function that is called; `evaluate` unless said"),
        Key::optional("outputs", Form::List(&Form::Object(&OUTPUT)), "what it puts out; anything unless said"),
        Key::optional("limits", Form::Object(&LIMITS), "what one call may use"),
        Key::optional(
            "deterministic",
            Form::Boolean,
            "whether equal arguments always come to the same, so that results are used again; `true` unless said",
        ),
        Key::optional(
            "isolation",
            Form::Choice(&["process", "fork"]),
            "whether calls share a process, or each has its own; `process` unless said",
        ),
        Key::optional("python", Form::Text, "the interpreter or the virtual environment that runs it"),
        Key::optional("builtin", Form::Builtin, "a built-in evaluator: its name, or `{name: {parameters}}`"),
    ],
};

pub(super) const FORM: Form = Form::Map(&Form::Object(&EVALUATOR));

/// Reads the section, keeping evaluators whose names are not taken.
pub(super) fn read(reading: &mut Reading<'_>, suite: &mut Suite, node: &Node<'_>) {
    let Some(entries) = node.entries() else {
        suite.lost.evaluators = true;
        reading.wrong_type("`evaluators`", "an object of names", node);
        return;
    };
    for entry in entries {
        let key = Node { span: entry.key_span, content: Content::Scalar(Val::Str(entry.key.clone())) };
        let name = super::task::read_id(reading, "a name in `evaluators`", &key);
        let evaluator = name.clone().and_then(|name| read_one(reading, name, &entry.value));
        let Some(evaluator) = evaluator else {
            suite.lost.evaluator_names.push(entry.key.clone().into_owned());
            continue;
        };
        match suite.evaluators.iter().find(|it| it.name.value == evaluator.name.value) {
            Some(earlier) => {
                let message = format!("the evaluator `{}` is defined twice", evaluator.name.value);
                let problem = Problem::new(&codes::CONFLICT, message).at(evaluator.name.span, "again here");
                reading.problem(problem.at(earlier.name.span, "first here").help("keep one of them"));
            }
            None => suite.evaluators.push(evaluator),
        }
    }
}

fn read_one(reading: &mut Reading<'_>, name: Spanned<String>, node: &Node<'_>) -> Option<Evaluator> {
    let n_before = reading.n_errors();
    let fields = Fields::read(reading, &EVALUATOR, node)?;
    let description = fields.get("description").and_then(|it| reading.text("`description`", it)).map(|it| it.value);
    let outputs = fields.get("outputs").map(|it| read_outputs(reading, it)).unwrap_or_default();
    let kind = match (fields.get("source"), fields.get("builtin")) {
        (Some(_), Some(_)) => {
            let message = "an evaluator is either code or a built-in, not both";
            let at = |name: &str| fields.key_span(name).unwrap_or(fields.span);
            let problem = Problem::new(&codes::CONFLICT, message).at(at("builtin"), "and this");
            reading.problem(problem.at(at("source"), "this").help("make two evaluators of it"));
            None
        }
        (Some(source), None) => read_code(reading, &fields, source).map(EvaluatorKind::Code),
        (None, Some(node)) => {
            if let Some((key, span)) = OF_CODE.iter().find_map(|it| Some((*it, fields.key_span(it)?))) {
                let problem = Problem::new(&codes::CONFLICT, format!("a built-in has no `{key}`"));
                reading.problem(problem.at(span, "for code only").help("drop it"));
            }
            read_builtin(reading, node, &outputs).map(|it| EvaluatorKind::Builtin(Box::new(it)))
        }
        (None, None) => {
            if !fields.may_mean("source") && !fields.may_mean("builtin") {
                let problem = Problem::new(&codes::MISSING_KEY, "an evaluator needs `source` or `builtin`");
                let problem = problem.at(name.span, "runs nothing");
                reading.problem(problem.help("for example `builtin: exact_match`, or `source: {file: check.py}`"));
            }
            None
        }
    };
    let is_flawed = reading.n_errors() > n_before;
    Some(Evaluator { name, description, kind: kind?, outputs, is_flawed })
}

/// The keys that make no sense without code.
const OF_CODE: [&str; 6] = ["language", "entry", "limits", "deterministic", "isolation", "python"];

fn read_code(reading: &mut Reading<'_>, fields: &Fields<'_, '_>, node: &Node<'_>) -> Option<EvaluatorCode> {
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
    let signature = match language {
        Language::Python => match python_signature(&text.value, &entry) {
            Ok(signature) => signature,
            Err(error) => {
                reading.problem(unusable(reading, &text, &entry, error));
                None
            }
        },
        Language::TypeScript | Language::JavaScript => None,
    };
    let source = Source { language, text: text.value.into(), entry: entry.into() };
    let code = Code {
        source,
        limits,
        isolation: isolation.unwrap_or_default(),
        is_deterministic: is_deterministic.unwrap_or(true),
        python,
    };
    Some(EvaluatorCode { code: Arc::new(code), file, signature, span: text.span })
}

/// Code without a signature, at the place in the author's text.
fn unusable(reading: &Reading<'_>, text: &Spanned<String>, entry: &str, error: SignatureError) -> Problem {
    let code = match error.kind {
        SignatureErrorKind::Syntax => &codes::BAD_CODE,
        SignatureErrorKind::NoFunction => &codes::NO_FUNCTION,
        SignatureErrorKind::NotCallable => &codes::BAD_CODE,
    };
    let span = place(reading, text, error.at.clone());
    let problem = Problem::new(code, error.message)
        .at(span, if error.kind == SignatureErrorKind::NoFunction { "this code" } else { "here" });
    match error.kind {
        SignatureErrorKind::NoFunction => match nearest(entry, error.functions.iter().map(String::as_str)) {
            Some(near) => problem.help(format!("did you mean `entry: {near}`?")),
            None if error.functions.is_empty() => problem.help(format!("add `def {entry}(output, reference):`")),
            None => problem
                .help(format!("it has {}; name one with `entry`", listed(error.functions.iter().map(String::as_str)))),
        },
        SignatureErrorKind::NotCallable => problem.help("drop the `/`"),
        SignatureErrorKind::Syntax => problem,
    }
}

/// The place of a part of the code. A block of YAML is indented, so its lines are looked for one by one.
pub(super) fn place(reading: &Reading<'_>, text: &Spanned<String>, part: std::ops::Range<usize>) -> Span {
    let written = reading.sources.text(text.span);
    if written.contains(text.value.as_str()) {
        return reading.part_of_text(text.span, &text.value, part);
    }
    let start = part.start.min(text.value.len());
    let line_start = text.value[..start].rfind('\n').map_or(0, |it| it + 1);
    let n_line = text.value[..line_start].matches('\n').count();
    let line_end = text.value[start..].find('\n').map_or(text.value.len(), |it| start + it);
    let line = &text.value[line_start..line_end];
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
            return text.span.part(from..to);
        }
        offset += candidate.len();
    }
    text.span
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
pub(super) fn written_memory(bytes: u64) -> Value {
    let unit = UNITS.iter().rev().find(|(_, unit)| bytes.is_multiple_of(*unit));
    unit.map_or_else(|| Val::from(bytes), |(name, unit)| Val::from(format!("{}{name}", bytes / unit)))
}

fn read_outputs(reading: &mut Reading<'_>, node: &Node<'_>) -> Vec<OutputConfig> {
    let mut outputs: Vec<OutputConfig> = Vec::new();
    for item in reading.list("`outputs`", "a list of outputs", node) {
        let Some(output) = read_output(reading, item) else { continue };
        outputs.push(output);
        if let Err(bad) = check_names(&outputs) {
            let span = item.get("name").map_or(item.span, |it| it.span);
            let problem = Problem::new(&codes::BAD_OUTPUT, bad.message).at(span, "again here");
            reading.problem(problem.help("give one of them another name"));
            outputs.pop();
        }
    }
    outputs
}

const ANY_NUMBER: (f64, f64) = (f64::MIN, f64::MAX);

fn read_output(reading: &mut Reading<'_>, node: &Node<'_>) -> Option<OutputConfig> {
    const TYPES: [(&str, Type); 3] =
        [("categorical", Type::Categorical), ("continuous", Type::Continuous), ("freeform", Type::Freeform)];
    let fields = Fields::read(reading, &OUTPUT, node)?;
    let name = fields.get("name").and_then(|it| reading.text("`name`", it));
    let description = fields.get("description").and_then(|it| reading.text("`description`", it)).map(|it| it.value);
    let direction = fields.get("optimization_direction").and_then(|it| read_direction(reading, it));
    let said = fields.get("type").map(|it| reading.choice("`type`", &TYPES, it));
    let kind = match said {
        Some(kind) => kind?,
        None if fields.get("values").is_some() => Type::Categorical,
        None => Type::Continuous,
    };
    let foreign: &[&str] = match kind {
        Type::Categorical => &["lower_bound", "upper_bound", "thresholds"],
        Type::Continuous => &["values", "thresholds"],
        Type::Freeform => &["values"],
    };
    if let Some((key, span)) = foreign.iter().find_map(|it| Some((*it, fields.key_span(it)?))) {
        let kind = TYPES.iter().find(|(_, it)| *it == kind).map_or("", |(name, _)| *name);
        let problem = Problem::new(&codes::CONFLICT, format!("a {kind} output has no `{key}`"));
        reading.problem(problem.at(span, "for other outputs").help("drop it, or change `type`"));
    }
    let mut bound = |key: &str| fields.get(key).and_then(|it| reading.number(&format!("`{key}`"), ANY_NUMBER, it));
    let (lower_bound, upper_bound) = (bound("lower_bound"), bound("upper_bound"));
    let kind = match kind {
        Type::Categorical => {
            let Some(values) = fields.get("values") else {
                let problem = Problem::new(&codes::MISSING_KEY, "a categorical output needs `values`");
                let problem = problem.at(fields.span, "without labels");
                reading
                    .problem(problem.help("for example `values: [{label: pass, score: 1}, {label: fail, score: 0}]`"));
                return None;
            };
            let n_before = reading.n_errors();
            let values = read_values(reading, values);
            if reading.n_errors() > n_before {
                return None;
            }
            OutputKind::Categorical(values)
        }
        Type::Continuous => OutputKind::Continuous { lower_bound, upper_bound },
        Type::Freeform => {
            let thresholds = fields.get("thresholds").map(|it| {
                let items = reading.list("`thresholds`", "a list of numbers", it);
                items.iter().filter_map(|it| reading.number("a threshold", ANY_NUMBER, it)).collect()
            });
            OutputKind::Freeform { lower_bound, upper_bound, thresholds: thresholds.unwrap_or_default() }
        }
    };
    let output = OutputConfig { name: name?.value, description, direction, kind };
    match output.check() {
        Ok(()) => Some(output),
        Err(bad) => {
            reading.problem(Problem::new(&codes::BAD_OUTPUT, bad.message).at(node.span, "this output"));
            None
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Type {
    Categorical,
    Continuous,
    Freeform,
}

/// A direction in small or capital letters.
fn read_direction(reading: &mut Reading<'_>, node: &Node<'_>) -> Option<Direction> {
    let [a, b, c] = Direction::NAMED;
    let capital = [("MAXIMIZE", a.1), ("MINIMIZE", b.1), ("NONE", c.1)];
    let is_capital = node.as_str().is_some_and(|it| capital.iter().any(|(name, _)| *name == it));
    reading.choice("`optimization_direction`", if is_capital { &capital } else { &Direction::NAMED }, node)
}

fn read_values(reading: &mut Reading<'_>, node: &Node<'_>) -> Vec<LabelValue> {
    let mut values = Vec::new();
    for item in reading.list("`values`", "a list of labels", node) {
        let Some(fields) = Fields::read(reading, &VALUE, item) else { continue };
        let label = fields.get("label").and_then(|it| reading.text("`label`", it));
        let score = fields.get("score").and_then(|it| reading.number("`score`", ANY_NUMBER, it));
        values.extend(label.map(|label| LabelValue { label: label.value, score }));
    }
    values
}

fn read_builtin(reading: &mut Reading<'_>, node: &Node<'_>, outputs: &[OutputConfig]) -> Option<Builtin> {
    let (name, settings) = match (&node.content, node.entries()) {
        (Content::Scalar(Val::Str(name)), _) => (Spanned::new(name.clone().into_owned(), node.span), None),
        (_, Some([only])) => (Spanned::new(only.key.clone().into_owned(), only.key_span), Some(&only.value)),
        _ => {
            reading.wrong_type("`builtin`", "a name, or `{name: {parameters}}`", node);
            return None;
        }
    };
    let Some(entry) = builtin::entry(&name.value) else {
        let names = || builtin::ENTRIES.iter().map(|it| it.name);
        let message = format!("there is no built-in evaluator {}", shown_within(&Val::from(name.value.as_str()), 40));
        let problem = Problem::new(&codes::WRONG_VALUE, message).at(name.span, "none of these");
        let problem = problem.did_you_mean(&name.value, names());
        reading.problem(problem.help(format!("there are {}", listed(names()))));
        return None;
    };
    let value = settings.map_or(Val::Map(Default::default()), |it| it.to_val().into_owned());
    if settings.is_some_and(|it| it.entries().is_none()) {
        reading.wrong_type(&format!("the parameters of `{}`", entry.name), "an object", settings.unwrap_or(node));
        return None;
    }
    if outputs.len() > 1 {
        let problem =
            Problem::new(&codes::BAD_OUTPUT, format!("`{}` has one output, not {}", entry.name, outputs.len()));
        reading.problem(problem.at(name.span, "this built-in").help("make several evaluators of it"));
    }
    if let (builtin::Gives::Hit { .. }, [OutputConfig { kind: OutputKind::Categorical(values), .. }]) =
        (entry.gives, outputs)
        && values.len() != 2
    {
        let message = format!("`{}` says yes or no, so its output has two labels, not {}", entry.name, values.len());
        let problem = Problem::new(&codes::BAD_OUTPUT, message).at(name.span, "this built-in");
        reading.problem(problem.help("the first label is for yes, the second for no"));
    }
    match Builtin::new(entry, value) {
        Ok(builtin) => Some(builtin),
        Err(bad) => {
            let member = bad.name.as_deref().and_then(|it| settings?.get(it));
            let span = member.map_or(name.span, |it| it.span);
            reading.problem(
                Problem::new(&codes::WRONG_VALUE, bad.message)
                    .at(span, if bad.name.is_some() { "this parameter" } else { "without it" }),
            );
            None
        }
    }
}

/// Joins tasks and evaluators, once everything is read: each `evaluate` gets its arguments, and an evaluator that no task names gets a task of its
/// own name.
pub(super) fn join(suite: &mut Suite, reading: &mut Reading<'_>) {
    let named = |suite: &Suite, name: &str| {
        suite.tasks.iter().any(|it| matches!(&it.kind, TaskKind::Evaluate(it) if it.evaluator.value == name))
    };
    let unnamed: Vec<Task> =
        suite.evaluators.iter().filter(|it| !named(suite, &it.name.value)).map(task_of_its_own).collect();
    // A file that is lost may have had the task that names it.
    if !suite.lost.tasks {
        suite.tasks.extend(unnamed);
    }
    let Suite { tasks, evaluators, lost, .. } = suite;
    for task in tasks {
        let TaskKind::Evaluate(evaluate) = &mut task.kind else { continue };
        let name = &evaluate.evaluator;
        match evaluators.iter().find(|it| it.name.value == name.value) {
            Some(evaluator) => {
                bind(reading, evaluate, evaluator);
                task.is_flawed |= evaluator.is_flawed;
            }
            None if lost.has_evaluator(&name.value) => task.is_flawed = true,
            None => {
                task.is_flawed = true;
                reading.problem(unknown_evaluator(name, evaluators));
            }
        }
    }
}

fn task_of_its_own(evaluator: &Evaluator) -> Task {
    let evaluate = Evaluate { evaluator: evaluator.name.clone(), with: Vec::new(), bindings: Vec::new() };
    Task {
        id: evaluator.name.clone(),
        description: evaluator.description.clone(),
        kind: TaskKind::Evaluate(Box::new(evaluate)),
        comparison: None,
        depends_on: Vec::new(),
        gate: Gate::None,
        on: Selection::All,
        scope: None,
        tags: Vec::new(),
        dimensions: Vec::new(),
        span: evaluator.name.span,
        is_flawed: evaluator.is_flawed,
    }
}

fn bind(reading: &mut Reading<'_>, evaluate: &mut Evaluate, evaluator: &Evaluator) {
    let with: Vec<(String, Origin)> =
        evaluate.with.iter().map(|(name, it)| (name.value.clone(), it.value.clone())).collect();
    let known: Option<Vec<&str>> = match &evaluator.kind {
        EvaluatorKind::Builtin(builtin) => Some(builtin.entry.inputs.to_vec()),
        EvaluatorKind::Code(_) => evaluator
            .signature()
            .filter(|it| !it.takes_others)
            .map(|it| it.parameters.iter().map(|it| it.name.as_str()).collect()),
    };
    if let Some(known) = known {
        for (name, _) in evaluate.with.iter().filter(|(name, _)| !known.contains(&name.value.as_str())) {
            reading.problem(unknown_parameter(name, evaluator, &known));
        }
    }
    evaluate.bindings = match &evaluator.kind {
        EvaluatorKind::Code(code) => binding::bindings(code.signature.as_ref(), &with),
        EvaluatorKind::Builtin(builtin) => {
            let by_name = |name: &&'static str| match with.iter().find(|(it, _)| it == name) {
                Some((_, from)) => {
                    binding::Binding { parameter: (*name).to_owned(), from: from.clone(), is_required: true }
                }
                None => binding::Binding::by_name(name, true),
            };
            builtin.entry.inputs.iter().map(by_name).collect()
        }
    };
}

fn unknown_parameter(name: &Spanned<String>, evaluator: &Evaluator, known: &[&str]) -> Problem {
    let message = format!("`{}` has no parameter `{}`", evaluator.name.value, name.value);
    let problem = Problem::new(&codes::UNKNOWN_PARAMETER, message).at(name.span, "unknown parameter");
    let problem = match known {
        [] => problem.help("it has no parameters"),
        known => problem
            .did_you_mean(&name.value, known.iter().copied())
            .help(format!("it has {}", listed(known.iter().copied()))),
    };
    problem.at(evaluator.name.span, "this evaluator")
}

fn unknown_evaluator(name: &Spanned<String>, evaluators: &[Evaluator]) -> Problem {
    let message = format!("there is no evaluator `{}`", name.value);
    let problem = Problem::new(&codes::UNKNOWN_EVALUATOR, message).at(name.span, "unknown evaluator");
    let names = || evaluators.iter().map(|it| it.name.value.as_str());
    match nearest(&name.value, names()) {
        Some(near) => problem.help(format!("did you mean `{near}`?")),
        None if evaluators.is_empty() => match builtin::ENTRIES.iter().any(|it| same_id(it.name, &name.value)) {
            true => problem.help(format!("define it under `evaluators`: `{0}: {{builtin: {0}}}`", name.value)),
            false => problem.help("evaluators are defined under `evaluators`"),
        },
        None => problem.help(format!("there are {}", listed(names()))),
    }
}

/// Reads what stands under `with`: a text is a path, anything else a value; `{value: …}` is a value, whatever it is.
pub(super) fn read_with(reading: &mut Reading<'_>, node: &Node<'_>) -> Vec<(Spanned<String>, Spanned<Origin>)> {
    let Some(entries) = node.entries() else {
        reading.wrong_type("`with`", "an object of parameters", node);
        return Vec::new();
    };
    let mut with = Vec::with_capacity(entries.len());
    for entry in entries {
        let name = Spanned::new(entry.key.clone().into_owned(), entry.key_span);
        let node = &entry.value;
        let origin = match (&node.content, node.entries()) {
            (Content::Scalar(Val::Str(_)), _) => {
                let path = reading.path(&format!("`{}` in `with`", entry.key), node);
                path.map(|it: Spanned<FieldPath>| Origin::Path(it.value))
            }
            (_, Some([only])) if only.key == "value" => Some(Origin::Literal(only.value.to_val().into_owned())),
            (_, Some(_)) => {
                reading.wrong_type(&format!("`{}` in `with`", entry.key), "a path, a value or `{value: …}`", node);
                None
            }
            _ => Some(Origin::Literal(node.to_val().into_owned())),
        };
        with.extend(origin.map(|it| (name, Spanned::new(it, node.span))));
    }
    with
}

/// An evaluator, as it is read.
pub(super) fn written(evaluator: &Evaluator) -> Value {
    let mut map = Members::default();
    map.text("description", evaluator.description.as_ref());
    match &evaluator.kind {
        EvaluatorKind::Builtin(builtin) => {
            let is_plain = builtin.settings.as_map().is_none_or(Map::is_empty);
            let name = builtin.entry.name;
            let with_parameters = || Val::Map([(name, builtin.settings.clone())].into_iter().collect());
            map.put("builtin", if is_plain { Val::from(name) } else { with_parameters() });
        }
        EvaluatorKind::Code(EvaluatorCode { code, file, .. }) => {
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
    }
    map.list("outputs", evaluator.outputs.iter().map(written_output));
    Val::Map(map.0)
}

fn written_output(output: &OutputConfig) -> Value {
    let mut map = Members::default();
    map.text("name", Some(&output.name));
    map.text("description", output.description.as_ref());
    if let Some(direction) = output.direction {
        map.put("optimization_direction", Val::from(direction.name()));
    }
    let bounds = |map: &mut Members, lower: Option<f64>, upper: Option<f64>| {
        for (key, bound) in [("lower_bound", lower), ("upper_bound", upper)] {
            if let Some(bound) = bound {
                map.put(key, Val::F(bound));
            }
        }
    };
    match &output.kind {
        OutputKind::Categorical(values) => {
            map.put("type", Val::from("categorical"));
            map.list(
                "values",
                values.iter().map(|it| {
                    let score = it.score.map(|it| ("score", Val::F(it)));
                    Val::Map([("label", Val::from(it.label.clone()))].into_iter().chain(score).collect())
                }),
            );
        }
        OutputKind::Continuous { lower_bound, upper_bound } => {
            map.put("type", Val::from("continuous"));
            bounds(&mut map, *lower_bound, *upper_bound);
        }
        OutputKind::Freeform { lower_bound, upper_bound, thresholds } => {
            map.put("type", Val::from("freeform"));
            bounds(&mut map, *lower_bound, *upper_bound);
            map.list("thresholds", thresholds.iter().map(|it| Val::F(*it)));
        }
    }
    Val::Map(map.0)
}

/// Where an argument comes from, as it is read.
pub(super) fn written_origin(origin: &Origin) -> Value {
    match origin {
        Origin::Path(path) => Val::from(path.to_string()),
        Origin::Literal(value @ (Val::Str(_) | Val::Map(_))) => {
            Val::Map([("value", value.clone())].into_iter().collect())
        }
        Origin::Literal(value) => value.clone(),
        // Names that are not said are not written.
        Origin::Common(_) | Origin::Key(_) => Val::Null,
    }
}
