//! The comparison of a task: `field_path`, `operator`, `expected_value` and what goes with them.

use std::sync::Arc;

use jurat_compare::pattern::Pattern;
use jurat_compare::{
    Args, Assertion, Comparison, Entry, Expected, Operand, Operator, Origin, WhenMissing, entries, find,
};
use jurat_format::codes;
use jurat_format::field::{Defaulted, Field};
use jurat_format::fields::Fields;
use jurat_format::form::{Form, Key};
use jurat_format::problem::{Problem, listed_all, nearest};
use jurat_format::reader::Reading;
use jurat_format::shape::{self, Tree};
use jurat_format::value::{Content, FieldPath, Node, Span, Spanned, Val, Value};

pub use crate::filled::FilledValue;
use crate::foreign;
use crate::prompt::Prompt;

/// What a task compares, and with what.
#[derive(Debug, Clone)]
pub struct TaskComparison {
    /// Where to look; the whole context, or the whole reply of a judge, when absent.
    pub path: Option<Spanned<FieldPath>>,
    /// Where to look inside each item of a list.
    pub item_path: Option<Spanned<FieldPath>>,
    /// The comparison by name, with its parameters.
    pub operator: Spanned<Operator>,
    pub expected: Option<Spanned<ExpectedValue>>,
    /// What a path that finds nothing means.
    pub when_missing: WhenMissing,
    /// Whether `field_path` is absent, rather than null on purpose.
    pub is_path_forgotten: bool,
}

/// What an author wrote as `expected_value`.
#[derive(Debug, Clone, PartialEq)]
pub enum ExpectedValue {
    /// The value itself.
    Literal(Value),
    /// `${path}`: each case supplies it.
    Path(FieldPath),
    /// A text, a list or an object with placeholders, or a template: each case fills it.
    Filled(Arc<FilledValue>),
}

impl TaskComparison {
    /// What a path leads to equals a value.
    pub(crate) fn equal(path: Spanned<FieldPath>, value: &Node<'_>) -> Option<TaskComparison> {
        let entry = find("equals").into_iter().find(|it| it.origin == Origin::Operator)?;
        let empty = Node { span: value.span, content: Content::Map(Vec::new()) };
        let operator = Operator::read(entry, &mut Args::new(&empty).ok()?).ok()?;
        let expected = ExpectedValue::Literal(value.to_val().into_owned());
        Some(TaskComparison {
            path: Some(path),
            item_path: None,
            operator: Spanned::new(operator, value.span),
            expected: Some(Spanned::new(expected, value.span)),
            when_missing: WhenMissing::Error,
            is_path_forgotten: false,
        })
    }

    /// The comparison ready to judge. `None` when the operand cannot be used, which reading has complained about.
    pub fn assertion(&self) -> Option<Assertion> {
        let expected = match self.expected.as_ref().map(|it| &it.value) {
            Some(ExpectedValue::Path(path)) => Expected::Found(self.operator.value.clone(), path.clone()),
            Some(ExpectedValue::Filled(filled)) => Expected::Filled(self.operator.value.clone(), filled.clone()),
            _ => Expected::Fixed(self.fixed()?),
        };
        Some(Assertion {
            path: self.path.as_ref().map(|it| it.value.clone()),
            item_path: self.item_path.as_ref().map(|it| it.value.clone()),
            expected,
            when_missing: self.when_missing,
        })
    }

    /// The comparison with its literal operand; `None` when each case supplies it.
    pub fn fixed(&self) -> Option<Comparison<'static>> {
        let operand = match self.expected.as_ref().map(|it| &it.value) {
            None => Val::Null,
            Some(ExpectedValue::Literal(value)) => value.clone(),
            Some(ExpectedValue::Path(_) | ExpectedValue::Filled(_)) => return None,
        };
        self.operator.value.bind(operand).ok()
    }
}

const FIELD_PATH: Field<Spanned<FieldPath>> =
    Field::optional("field_path", shape::PATH, "where the value is; in a task with `judge`, a path into the reply")
        .default_words("the whole value")
        .or(&["context_path"])
        .or_null();
const ITEM_FIELD_PATH: Field<Spanned<FieldPath>> =
    Field::optional("item_field_path", shape::PATH, "a path inside each item, when the value is a list")
        .or(&["item_context_path"])
        .or_null();
pub(crate) const OPERATOR: Field<Tree> =
    Field::optional("operator", shape::tree(Form::Defined("operator")), "the comparison to make");
pub(crate) const EXPECTED_VALUE: Field<Tree> = Field::optional(
    "expected_value",
    shape::tree(Form::Any),
    "what to compare with; `${path}` alone is the value at that path, and in a text, a list or an object it is filled in; `{jinja: …}` is a Jinja template",
);
const MISSING: Defaulted<WhenMissing> =
    Field::optional("missing", shape::choice(), "the result when the path finds nothing").default_choice("error");

/// The keys of a comparison; they stand beside the kind of a task, or inside `assert`.
pub(crate) const KEYS: [Key; 5] = [FIELD_PATH.key, ITEM_FIELD_PATH.key, OPERATOR.key, EXPECTED_VALUE.key, MISSING.key];

/// Reads the comparison among the keys of an object; `None` when there is none, or when it cannot be read.
pub(crate) fn read(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<TaskComparison> {
    let (path, item_path) = (fields.read(reading, &FIELD_PATH), fields.read(reading, &ITEM_FIELD_PATH));
    let when_missing = fields.value(reading, &MISSING);
    let Some(node) = fields.node(&OPERATOR) else {
        if fields.may_mean(&OPERATOR) {
            return None;
        }
        for key in &KEYS {
            if let Some(span) = fields.key_span(key) {
                let message = format!("`{}` without `operator`", key.name);
                let problem = Problem::new(&codes::MISSING_KEY, message).at(span, "compared with what?");
                let problem = if fields.head() == span { problem } else { problem.at(fields.head(), "in this task") };
                reading.problem(problem.help("add `operator`, for example `operator: equals`"));
                break;
            }
        }
        return None;
    };
    let operator = operator(reading, node)?;
    let expected = expected(reading, fields, &operator);
    // `field_path: null` says on purpose what a forgotten path would say by accident.
    let is_path_forgotten = fields.key_span(&FIELD_PATH).is_none();
    Some(TaskComparison { is_path_forgotten, path, item_path, operator, expected: expected?, when_missing })
}

/// `equals`, `Equals`, `{type: NumericRange, min: 1}` or `{numeric_range: {min: 1}}`.
pub(crate) fn operator(reading: &mut Reading<'_>, node: &Node<'_>) -> Option<Spanned<Operator>> {
    let empty = Node { span: node.span, content: Content::Map(Vec::new()) };
    let (entry, params) = match &node.content {
        Content::Scalar(Val::Str(name)) => (by_name(reading, name, node.span, Origin::Operator)?, &empty),
        Content::Map(members) => match (node.get("type"), members.as_slice()) {
            (Some(kind), _) => {
                let name = reading.text("`type`", kind)?;
                (by_name(reading, &name.value, name.span, Origin::Primitive)?, node)
            }
            (None, [only]) => (by_name(reading, &only.key, only.key_span, Origin::Primitive)?, &only.value),
            _ => {
                let message = "an operator with parameters needs `type`";
                let problem = Problem::new(&codes::MISSING_KEY, message).at(node.span, "without `type`");
                reading.problem(problem.help("write `{ type: NumericRange, min: 0, max: 1 }`"));
                return None;
            }
        },
        _ => {
            reading.wrong_type("`operator`", "the name of a comparison, or an object with `type`", node);
            return None;
        }
    };
    parameters(reading, entry, params, node.span).map(|it| Spanned::new(it, node.span))
}

/// A name may be an operator and a primitive; with parameters the primitive is meant.
fn by_name(reading: &mut Reading<'_>, name: &str, span: Span, preferred: Origin) -> Option<&'static Entry> {
    let found = find(name);
    let chosen = found.iter().find(|it| it.origin == preferred).or(found.first());
    if chosen.is_none() {
        let names: Vec<String> = entries().map(Entry::snake_case).collect();
        let problem = Problem::new(&codes::UNKNOWN_OPERATOR, format!("there is no operator `{name}`"))
            .at(span, "unknown operator");
        // What is spelled alike may mean the opposite: `not_matches` is not `matches`.
        let alike = names.iter().map(String::as_str).filter(|it| !foreign::is_opposite(name, it));
        reading.problem(match (foreign::advice(name), nearest(name, alike)) {
            (Some(advice), _) => problem.help(advice),
            (None, Some(near)) => problem.help(format!("did you mean `{near}`?")),
            (None, None) => problem.help(format!("there are {}", listed_all(names.iter().map(String::as_str)))),
        });
    }
    chosen.copied()
}

fn parameters(reading: &mut Reading<'_>, entry: &'static Entry, node: &Node<'_>, span: Span) -> Option<Operator> {
    let name = entry.snake_case();
    let mut args = match Args::new(node) {
        Ok(args) => args,
        Err(error) if entry.params.is_empty() => {
            let problem =
                Problem::new(&codes::BAD_OPERAND, format!("`{name}` takes no parameters")).at(error.span, "here");
            reading.problem(
                problem.help(format!("write `operator: {name}`, and what it compares with as `expected_value`")),
            );
            return None;
        }
        Err(error) => {
            reading.problem(bad_operand(&name, &error.message, error.span));
            return None;
        }
    };
    args.allow("type");
    let operator = match Operator::read(entry, &mut args) {
        Ok(operator) => operator,
        Err(error) => {
            let help = entry.params.iter().map(|it| it.name).collect::<Vec<_>>();
            let span = if error.span == node.span { span } else { error.span };
            reading
                .problem(bad_operand(&name, &error.message, span).help(format!("`{name}` takes {}", listed_all(help))));
            return None;
        }
    };
    for flaw in args.flaws() {
        let code = if flaw.message.starts_with("not a regular expression") {
            &codes::BAD_PATTERN
        } else {
            &codes::BAD_OPERAND
        };
        let span = match &flaw.pattern {
            Some((pattern, at)) => reading.part_of_text(flaw.span, pattern, at.clone()),
            None => flaw.span,
        };
        reading.problem(Problem::new(code, format!("`{name}`: {}", flaw.message)).at(span, "here"));
    }
    let unknown: Vec<(String, Span)> = args.unknown().map(|(key, span)| (key.to_owned(), span)).collect();
    for (key, span) in unknown {
        let names = entry.params.iter().map(|it| it.name);
        let problem = Problem::new(&codes::UNKNOWN_KEY, format!("`{name}` has no parameter `{key}`"))
            .at(span, "unknown parameter");
        let listed = listed_all(names.clone());
        reading.problem(problem.did_you_mean(&key, names).help(format!("`{name}` takes {listed}")));
    }
    if !entry.params.iter().any(|it| it.name == "pattern") {
        literal_placeholders(reading, node);
    }
    // A flaw would show again when the operand is tried.
    args.flaws().is_empty().then_some(operator)
}

/// Reads the operand and tries it: what a comparison cannot use is found now, not after the first paid call.
fn expected(
    reading: &mut Reading<'_>,
    fields: &Fields<'_, '_>,
    operator: &Spanned<Operator>,
) -> Option<Option<Spanned<ExpectedValue>>> {
    let entry = operator.value.entry();
    let name = entry.snake_case();
    let Some(node) = fields.node(&EXPECTED_VALUE) else {
        if entry.operand.is_required() {
            let problem = Problem::new(&codes::MISSING_KEY, format!("`{name}` needs `expected_value`"));
            let problem = problem.at(operator.span, format!("compares with {}", entry.operand.phrase()));
            reading.problem(problem.help(format!("add `expected_value`; for example `{}`", entry.example)));
            return None;
        }
        return Some(None);
    };
    if let Some(path) = looked_up(reading, "`expected_value`", node) {
        return Some(Some(Spanned::new(ExpectedValue::Path(path?), node.span)));
    }
    // `${2}` in a pattern is the end of a line, twice.
    let is_pattern = entry.operand == Operand::Pattern && node.as_str().is_some();
    if !is_pattern && let Some(filled) = FilledValue::read(reading, node).ok()? {
        return Some(Some(Spanned::new(ExpectedValue::Filled(Arc::new(filled)), node.span)));
    }
    let value = node.to_val().into_owned();
    let ignored = entry.operand == Operand::Ignored && !matches!(value, Val::Null | Val::Bool(true));
    if ignored {
        let message = format!("`{name}` takes no `expected_value`, so this one changes nothing");
        let problem = Problem::new(&codes::IGNORED_OPERAND, message).at(node.span, "ignored");
        reading.problem(problem.help("drop it, or use the operator that says the opposite"));
    }
    let should_be = format!("should be {}", entry.operand.phrase());
    let flaw = match operator.value.bind(value.borrowed()) {
        Ok(comparison) => {
            let flaw = comparison.flaw().map(|it| (it, "nothing passes"));
            flaw.or_else(|| not_a_number(entry, &value)).map(|(it, label)| (it, label.to_owned()))
        }
        Err(inapplicable) => Some((inapplicable.reason, should_be)),
    };
    if let Some((flaw, label)) = flaw {
        let message = format!("`{name}`: {flaw}");
        reading.problem(match value.as_str() {
            Some(pattern) if entry.operand == Operand::Pattern => {
                let wrong = Pattern::rust(pattern).err().and_then(|it| it.at);
                let span = wrong.map_or(node.span, |at| reading.part_of_text(node.span, pattern, at));
                Problem::new(&codes::BAD_PATTERN, message).at(span, "here")
            }
            text => {
                let problem = Problem::new(&codes::BAD_OPERAND, message)
                    .at(node.span, label)
                    .at(operator.span, "for this operator");
                let is_quoted_number =
                    entry.operand == Operand::Number && text.is_some_and(|it| it.parse::<f64>().is_ok());
                if is_quoted_number { problem.help("drop the quotes") } else { problem }
            }
        });
        return None;
    }
    Some(Some(Spanned::new(ExpectedValue::Literal(value), node.span)))
}

/// The path of a text that is only `${path}`. `Some(None)` when that is not a path, which is noted.
pub(crate) fn looked_up(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<Option<FieldPath>> {
    let text = node.as_str()?;
    let path = text.strip_prefix("${")?.strip_suffix('}').filter(|it| !it.contains("${"))?;
    let error = match FieldPath::parse(path) {
        Ok(path) => return Some(Some(path)),
        Err(error) => error,
    };
    let span = reading.part_of_text(node.span, path, error.at.clone());
    let problem = Problem::new(&codes::BAD_PATH, format!("{what}: {}", error.message)).at(span, "here");
    reading.problem(match (FieldPath::parse(path.trim()), error.help) {
        (Ok(meant), _) => problem.help(format!("write `${{{meant}}}`")),
        (Err(_), Some(help)) if !path.is_empty() => problem.help(help),
        (Err(_), _) => problem.help("`${path}` alone is looked up in the context"),
    });
    Some(None)
}

/// `.nan` equals nothing, not even itself, and is neither less nor more than anything.
fn not_a_number(entry: &Entry, value: &Value) -> Option<(String, &'static str)> {
    let is_number = entry.origin == Origin::Operator || entry.operand == Operand::Numeric;
    let is_found = match entry.name {
        "Equals" | "NotEqual" | "LiteralMatch" => has_nan(value),
        _ => is_number && is_nan(value),
    };
    let label = if entry.name == "NotEqual" { "everything passes" } else { "nothing passes" };
    is_found.then(|| ("`.nan` is not a number, and equals nothing, not even itself".to_owned(), label))
}

fn has_nan(value: &Value) -> bool {
    match value {
        Val::List(items) => items.iter().any(has_nan),
        Val::Map(map) => map.iter().any(|(_, it)| has_nan(it)),
        other => is_nan(other),
    }
}

fn is_nan(value: &Value) -> bool {
    matches!(value, Val::F(number) if number.is_nan())
}

/// Notes every `${path}` that is compared as it is, however deep it stands.
fn literal_placeholders(reading: &mut Reading<'_>, node: &Node<'_>) {
    match &node.content {
        Content::List(items) => items.iter().for_each(|it| literal_placeholders(reading, it)),
        Content::Map(entries) => entries.iter().for_each(|it| literal_placeholders(reading, &it.value)),
        Content::Scalar(value) => {
            let text = value.as_str().unwrap_or_default();
            let Some(hole) = Prompt::parse(text).holes().first().cloned() else { return };
            let written = &text[hole.range.clone()];
            let message = format!("`{written}` is looked up in `expected_value` only, so this is compared as it is");
            let span = reading.part_of_text(node.span, text, hole.range.clone());
            let problem = Problem::new(&codes::LITERAL_PLACEHOLDER, message).at(span, "compared as text");
            reading
                .problem(problem.help("write the value itself, or use an operator that takes it as `expected_value`"));
        }
    }
}

/// Parameters that make no comparison. The message continues from the name (`needs …`), or starts with a parameter's.
fn bad_operand(name: &str, message: &str, span: Span) -> Problem {
    let colon = if message.starts_with('`') { ":" } else { "" };
    Problem::new(&codes::BAD_OPERAND, format!("`{name}`{colon} {message}")).at(span, "here")
}

/// An operator as it is written.
pub(crate) fn operator_value(operator: &Operator) -> Value {
    let parameters = operator.parameters();
    if parameters.is_empty() {
        return Val::from(operator.entry().snake_case());
    }
    let given = parameters.into_iter().filter(|(_, value)| *value != Val::Null);
    Val::Map([("type", Val::from(operator.entry().name))].into_iter().chain(given).collect())
}
