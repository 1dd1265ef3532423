//! The `evaluators` of a suite: the author's code or a built-in, and what it puts out.

mod code;
mod function;
mod outputs;

use std::sync::Arc;

use jurat_format::codes;
use jurat_format::field::{DESCRIPTION, Defaulted, Field};
use jurat_format::fields::Fields;
use jurat_format::form::{DefaultValue, Form, Key, Object};
use jurat_format::problem::{Problem, listed};
use jurat_format::reader::Reading;
use jurat_format::shape::{self, Tree};
use jurat_format::value::{Content, Node, Span, Spanned, Val, shown_within};

use super::builtin::{self, Builtin};
use super::{HostFunction, Isolation, Language, Limits, OutputConfig, OutputKind, Signature};
use crate::prompt;
use crate::section::lost::Part;
use crate::section::named::{Named, NamedSection};
use crate::section::{Heading, Section};

pub use code::{EvaluatorCode, unusable_code};

#[derive(Debug, Clone)]
pub struct Evaluator {
    pub name: Spanned<String>,
    pub description: Option<String>,
    pub kind: EvaluatorKind,
    /// What it puts out, in the author's words; may be empty.
    pub outputs: Vec<OutputConfig>,
    /// Whether a boolean that it returns is the verdict of a task that compares nothing.
    pub judges: bool,
    /// Whether errors were found in it.
    pub(crate) is_flawed: bool,
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

#[derive(Debug, Clone)]
pub enum EvaluatorKind {
    /// The author's code.
    Code(EvaluatorCode),
    /// A function of the program that runs the suite.
    Function(Arc<HostFunction>),
    Builtin(Box<Builtin>),
}

const SOURCE: Field<(Spanned<String>, Option<String>)> =
    Field::optional("source", prompt::TEXT_OR_FILE, "the code: text, or `{file: …}`");
const LANGUAGE: Field<Tree> = Field::optional(
    "language",
    shape::tree(shape::choice::<Language>().form),
    "the language of the code; `rust` for a function of the program that runs the suite",
)
.default_words("by the file's name, else `python`");
const ENTRY: Field<String> = Field::optional("entry", shape::STRING, "the function that is called")
    .printed_default(DefaultValue::Name(code::USUAL_ENTRY));
const OUTPUTS: Field<Vec<OutputConfig>> =
    Field::optional("outputs", outputs::SHAPE, "what it returns").default_words("anything");
const JUDGES: Defaulted<bool> = Field::optional(
    "judges",
    shape::BOOLEAN,
    "whether a boolean that it returns is a verdict, in tasks without a comparison: `true` passed, `false` failed",
)
.default(false);
const LIMITS: Field<Limits> = Field::optional("limits", code::LIMITS_SHAPE, "limits of one call");
const DETERMINISTIC: Field<bool> = Field::optional(
    "deterministic",
    shape::BOOLEAN,
    "whether equal arguments always give the same result, so that results are reused from the cache",
)
.default_words("`true` for code, `false` for `call`");
const ISOLATION: Defaulted<Isolation> = Field::optional(
    "isolation",
    shape::choice(),
    "`process`: calls share a worker process; `fork`: each call has its own",
)
.default_choice("process");
const PYTHON: Field<String> = Field::optional(
    "python",
    shape::STRING,
    "the Python interpreter or virtual environment that runs it: a path relative to the suite, or a program on `PATH`",
)
.default_words("`python3` on `PATH`");
const CALL: Field<Spanned<String>> =
    Field::optional("call", shape::TEXT, "a function of the program that runs the suite, by its name");
const PARAMETERS: Field<Vec<Spanned<String>>> = Field::optional(
    "parameters",
    shape::TEXTS,
    "parameters of a function of the program: `name?` has a default, `**` takes everything else",
)
.default_words("the common names");
const BUILTIN: Field<Tree> = Field::optional(
    "builtin",
    shape::tree(Form::Defined("builtin")),
    "a built-in evaluator: its name, or `{name: {parameters}}`",
);

static EVALUATOR: Object = Object {
    what: "an evaluator",
    keys: &[
        DESCRIPTION.key,
        SOURCE.key,
        LANGUAGE.key,
        ENTRY.key,
        OUTPUTS.key,
        JUDGES.key,
        LIMITS.key,
        DETERMINISTIC.key,
        ISOLATION.key,
        PYTHON.key,
        CALL.key,
        PARAMETERS.key,
        BUILTIN.key,
    ],
};

pub(crate) const FORM: Form = Form::Map(&Form::Object(&EVALUATOR));

pub(crate) const SECTION: Section<Vec<Evaluator>> = Heading::new(
    "evaluators",
    FORM,
    "evaluators by name: your code, or built-in ones such as BLEU",
    &[Part::Evaluator],
)
.read(|reading, lost, known, at| BY_NAME.read(reading, (lost, known), ("evaluators", at.node), read));

const BY_NAME: NamedSection = NamedSection {
    part: Part::Evaluator,
    name: "a name in `evaluators`",
    what: "evaluator",
    needs: "an object of names",
};

impl Named for Evaluator {
    fn name(&self) -> &Spanned<String> {
        &self.name
    }
}

pub(crate) fn read(reading: &mut Reading<'_>, name: Spanned<String>, node: &Node<'_>) -> Option<Evaluator> {
    let n_before = reading.n_errors();
    let fields = EVALUATOR.fields(reading, node)?;
    let description = fields.read(reading, &DESCRIPTION);
    let outputs = fields.read(reading, &OUTPUTS).unwrap_or_default();
    let judges = fields.value(reading, &JUDGES);
    let kind = read_kind(reading, &name, &fields, &outputs);
    let is_flawed = reading.n_errors() > n_before;
    Some(Evaluator { name, description, kind: kind?, outputs, judges, is_flawed })
}

/// What runs: exactly one of code, a function and a built-in.
fn read_kind(
    reading: &mut Reading<'_>,
    name: &Spanned<String>,
    fields: &Fields<'_, '_>,
    outputs: &[OutputConfig],
) -> Option<EvaluatorKind> {
    let kinds = [SOURCE.key, CALL.key, BUILTIN.key];
    let said: Vec<Span> = kinds.iter().filter_map(|it| fields.key_span(it)).collect();
    if let [first, second, ..] = said.as_slice() {
        let message = "an evaluator is either code, a function of the program or a built-in, not several of them";
        let problem = Problem::new(&codes::CONFLICT, message).at(*second, "and this");
        reading.problem(problem.at(*first, "this").help("make two evaluators of it"));
        return None;
    }
    if fields.key_span(&SOURCE).is_some() {
        foreign(reading, fields, "code", "for functions of the program only", &function::OWN);
        return code::read(reading, fields).map(EvaluatorKind::Code);
    }
    if fields.key_span(&CALL).is_some() {
        foreign(reading, fields, "a function of the program", "for code only", &function::FOREIGN);
        return function::read(reading, fields).map(|it| EvaluatorKind::Function(Arc::new(it)));
    }
    if let Some(node) = fields.node(&BUILTIN) {
        foreign(reading, fields, "a built-in", "for code only", &code::OF_CODE);
        foreign(reading, fields, "a built-in", "for functions of the program only", &function::OWN);
        foreign(reading, fields, "a built-in", "for what may return a boolean", &[JUDGES.key]);
        return read_builtin(reading, node, outputs).map(|it| EvaluatorKind::Builtin(Box::new(it)));
    }
    if !kinds.iter().any(|it| fields.may_mean(it)) {
        let problem = Problem::new(&codes::MISSING_KEY, "an evaluator needs `source`, `builtin` or `call`");
        let problem = problem.at(name.span, "runs nothing");
        reading.problem(problem.help("for example `builtin: exact_match`, or `source: {file: check.py}`"));
    }
    None
}

/// Notes a key that makes no sense for what runs.
fn foreign(reading: &mut Reading<'_>, fields: &Fields<'_, '_>, what: &str, whose: &str, keys: &[Key]) {
    if let Some((key, span)) = keys.iter().find_map(|it| Some((it, fields.key_span(it)?))) {
        let problem = Problem::new(&codes::CONFLICT, format!("{what} has no `{}`", key.name));
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
