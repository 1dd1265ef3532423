//! The `evaluators` of a suite: the author's code or a built-in, and what it puts out.

mod arguments;
mod code;
mod function;
mod outputs;

use std::sync::Arc;

use jurat_format::codes;
use jurat_format::form::{Form, Key, Keys};
use jurat_format::problem::{Problem, listed};
use jurat_format::reader::{Fields, Reading};
use jurat_format::value::{Content, Map, Node, Spanned, Val, Value, shown_within};

use super::Suite;
use super::judging;
use super::write::Members;
use crate::evaluator::builtin::{self, Builtin};
use crate::evaluator::{HostFunction, OutputConfig, OutputKind, Signature};

pub(super) use arguments::{join, read_script_signatures, read_with, written_origin};
pub use code::{EvaluatorCode, unusable_code};

#[derive(Debug, Clone)]
pub struct Evaluator {
    pub name: Spanned<String>,
    pub description: Option<String>,
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

    /// Whether errors were found in it.
    pub fn has_errors(&self) -> bool {
        self.is_flawed
    }

    /// What its function takes, when that is known.
    pub fn signature(&self) -> Option<&Signature> {
        match &self.kind {
            EvaluatorKind::Code(code) => code.signature.as_ref(),
            EvaluatorKind::Function(function) => function.signature.as_ref(),
            EvaluatorKind::Builtin(_) => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum EvaluatorKind {
    /// The author's code.
    Code(EvaluatorCode),
    /// A function of the program that runs the suite.
    Function(Arc<HostFunction>),
    Builtin(Box<Builtin>),
}

static EVALUATOR: Keys = Keys {
    what: "an evaluator",
    keys: &[
        Key::DESCRIPTION,
        Key::optional("source", judging::PROMPT, "the code: text, or `{file: …}`"),
        Key::optional(
            "language",
            Form::Choice(&["python", "typescript", "javascript", "rust"]),
            "the language of the code; `rust` for a function of the program that runs the suite",
        )
        .default("by the file's name, else `python`"),
        Key::optional("entry", Form::Text, "the function that is called").default("`evaluate`"),
        Key::optional(
            "outputs",
            Form::List(&Form::Object(&outputs::OUTPUT)),
            "what it returns",
        )
        .default("anything"),
        Key::optional("limits", Form::Object(&code::LIMITS), "limits of one call"),
        Key::optional(
            "deterministic",
            Form::Boolean,
            "whether equal arguments always give the same result, so that results are reused from the cache",
        )
        .default("`true` for code, `false` for `call`"),
        Key::optional(
            "isolation",
            Form::Choice(&["process", "fork"]),
            "`process`: calls share a worker process; `fork`: each call has its own",
        )
        .default("`process`"),
        Key::optional("python", Form::Text, "the Python interpreter or virtual environment that runs it: a path relative to the suite, or a program on `PATH`").default("`python3` on `PATH`"),
        Key::optional("call", Form::Text, "a function of the program that runs the suite, by its name"),
        Key::optional(
            "parameters",
            Form::List(&Form::Text),
            "parameters of a function of the program: `name?` has a default, `**` takes everything else",
        )
        .default("the common names"),
        Key::optional("builtin", Form::Defined("builtin"), "a built-in evaluator: its name, or `{name: {parameters}}`"),
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
    let outputs = fields.get("outputs").map(|it| outputs::read(reading, it)).unwrap_or_default();
    let kind = read_kind(reading, &name, &fields, &outputs);
    let is_flawed = reading.n_errors() > n_before;
    Some(Evaluator { name, description, kind: kind?, outputs, is_flawed })
}

/// What runs: exactly one of code, a function and a built-in.
fn read_kind(
    reading: &mut Reading<'_>,
    name: &Spanned<String>,
    fields: &Fields<'_, '_>,
    outputs: &[OutputConfig],
) -> Option<EvaluatorKind> {
    let said: Vec<&str> = KINDS.into_iter().filter(|it| fields.get(it).is_some()).collect();
    match said.as_slice() {
        ["source"] => {
            foreign(reading, fields, "code", "for functions of the program only", &function::OWN);
            code::read(reading, fields, fields.get("source")?).map(EvaluatorKind::Code)
        }
        ["call"] => {
            foreign(reading, fields, "a function of the program", "for code only", &function::FOREIGN);
            function::read(reading, fields, fields.get("call")?).map(|it| EvaluatorKind::Function(Arc::new(it)))
        }
        ["builtin"] => {
            foreign(reading, fields, "a built-in", "for code only", &code::OF_CODE);
            foreign(reading, fields, "a built-in", "for functions of the program only", &function::OWN);
            read_builtin(reading, fields.get("builtin")?, outputs).map(|it| EvaluatorKind::Builtin(Box::new(it)))
        }
        [first, second, ..] => {
            let message = "an evaluator is either code, a function of the program or a built-in, not several of them";
            let at = |name: &str| fields.key_span(name).unwrap_or(fields.span);
            let problem = Problem::new(&codes::CONFLICT, message).at(at(second), "and this");
            reading.problem(problem.at(at(first), "this").help("make two evaluators of it"));
            None
        }
        _ => {
            if !KINDS.into_iter().any(|it| fields.may_mean(it)) {
                let problem = Problem::new(&codes::MISSING_KEY, "an evaluator needs `source`, `builtin` or `call`");
                let problem = problem.at(name.span, "runs nothing");
                reading.problem(problem.help("for example `builtin: exact_match`, or `source: {file: check.py}`"));
            }
            None
        }
    }
}

/// The keys that say what runs.
const KINDS: [&str; 3] = ["source", "call", "builtin"];

/// Notes a key that makes no sense for what runs.
fn foreign(reading: &mut Reading<'_>, fields: &Fields<'_, '_>, what: &str, whose: &str, keys: &[&str]) {
    if let Some((key, span)) = keys.iter().find_map(|it| Some((*it, fields.key_span(it)?))) {
        let problem = Problem::new(&codes::CONFLICT, format!("{what} has no `{key}`"));
        reading.problem(problem.at(span, whose).help("drop it"));
    }
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
        EvaluatorKind::Code(code) => code::write(&mut map, code),
        EvaluatorKind::Function(function) => function::write(&mut map, function),
    }
    map.list("outputs", evaluator.outputs.iter().map(outputs::written));
    Val::Map(map.0)
}
