//! Comparisons against what is known of the values they will see.

use std::borrow::Cow;

use jurat_compare::{Arrays, Comparison, Entry, Judgement};
use jurat_format::codes;
use jurat_format::problem::{Problem, Problems, listed_plainly};
use jurat_format::value::{Kind, Kinds, Span, Spanned, Step, Val, Value, shown};

use super::Samples;
use super::context::{Known, Source};
use super::shape::{Leads, Shape};
use crate::suite::{CellType, ExpectedValue, Records, RowFile, RowFormat, RowSource, Task, TaskComparison, TaskKind};

pub(super) fn examine(known: Known<'_>, samples: &Samples, problems: &mut Problems) {
    for (ix, task) in known.suite.tasks.iter().enumerate() {
        if let Some(comparison) = &task.comparison
            && let Some(whole) = whole_shape(known, ix, comparison)
        {
            problems.extend(no_items(task, comparison, &whole));
            let compared = compared_part(&whole, comparison).filter(|it| !may_be_boolean(known, ix, it));
            if let Some(shape) = compared
                && let Some(problem) = examine_comparison(task, comparison, &shape)
            {
                let remedy =
                    field_to_compare(comparison, &shape).or_else(|| column_type(known, ix, comparison, samples));
                problems.push(remedy.into_iter().fold(problem, Problem::help));
            }
        }
    }
}

/// `item_field_path` where no value can be a list.
fn no_items(task: &Task, comparison: &TaskComparison, whole: &Shape) -> Option<Problem> {
    let item_path = comparison.item_path.as_ref().filter(|_| whole.item().is_none())?;
    let what = comparison.path.as_ref().map_or_else(|| "the value".to_owned(), |it| format!("`{}`", it.value));
    let message = format!("`item_field_path` looks inside the items of a list, and {what} is {}", whole.kinds);
    let problem = Problem::new(&codes::NEVER_APPLIES, message).at(item_path.span, "looks inside items");
    let place = comparison.path.as_ref().map_or(task.id.span, |it| it.span);
    let problem = problem.at(place, format!("this is {}", whole.kinds));
    if let Leads::Nowhere { .. } = whole.at(item_path.value.steps()) {
        return Some(problem.help("take `item_field_path` out, or name a list in `field_path`"));
    }
    Some(match &comparison.path {
        Some(path) => problem.help(format!("write `field_path: {}.{}`", path.value, item_path.value)),
        None => problem.help(format!("write `field_path: {}`", item_path.value)),
    })
}

/// Whether an evaluator is compared with a boolean, which it may return: the label of one is what its author spells so.
fn may_be_boolean(known: Known<'_>, ix: usize, shape: &Shape) -> bool {
    let task = &known.suite.tasks[ix];
    let Some(comparison) = &task.comparison else { return false };
    let path = comparison.path.as_ref().map(|it| &it.value);
    let is_label = match &task.kind {
        TaskKind::Evaluate(_) => path.is_none_or(|it| it.root() == Some("label")),
        TaskKind::Assert => path.is_some_and(|it| known.is_label_of_evaluator(ix, it)),
        _ => false,
    };
    let literal =
        comparison.expected.as_ref().is_some_and(|it| matches!(it.value, ExpectedValue::Literal(Val::Bool(_))));
    let is_spelled = |it: &Value| matches!(it.as_str(), Some("True" | "False"));
    is_label && literal && shape.values.as_ref().is_none_or(|it| it.iter().any(is_spelled))
}

/// A reply with fields is compared as a whole: the field that could pass.
fn field_to_compare(comparison: &TaskComparison, shape: &Shape) -> Option<String> {
    let entry = comparison.operator.value.entry();
    let may_pass = |name: &&str| match shape.at(&[Step::Key((*name).into())]) {
        Leads::To(field) => may_pass(entry, &field),
        Leads::Nowhere { .. } => false,
    };
    let names = shape.names();
    let field = names.iter().find(|it| may_pass(it)).filter(|_| comparison.path.is_none())?;
    Some(format!("add `field_path: {field}`"))
}

/// Cells of CSV files are text unless `types` says otherwise: the type that all sampled cells of a column have.
fn column_type(known: Known<'_>, ix: usize, comparison: &TaskComparison, samples: &Samples) -> Option<String> {
    let path = &comparison.path.as_ref()?.value;
    let column = path.root().filter(|_| path.rest().steps().is_empty())?;
    let is_column = matches!(known.suite.tasks[ix].kind, TaskKind::Assert) && known.suite.records.iter().any(is_csv);
    let cells: Vec<&str> = samples.rows.iter().filter_map(|it| it.get(column)?.as_str()).collect();
    let fits = |it: &CellType| !cells.is_empty() && cells.iter().all(|cell| it.read(cell.trim()).is_some());
    let found =
        [CellType::Integer, CellType::Number, CellType::Boolean].into_iter().find(fits).filter(|_| is_column)?;
    Some(format!("cells of CSV and TSV files are text: add `types: {{ {column}: {} }}` to `records`", found.name()))
}

fn is_csv(records: &Records) -> bool {
    let has_ending = |it: &RowFile| {
        it.path.extension().is_some_and(|it| ["csv", "tsv", "tab"].iter().any(|ending| it.eq_ignore_ascii_case(ending)))
    };
    let is_named = matches!(&records.from, RowSource::Files(files) if files.iter().any(has_ending));
    records.format.map_or(is_named, |it| matches!(it, RowFormat::Csv | RowFormat::Tsv))
}

/// What is known of the value that a task compares.
pub(super) fn compared_shape<'s>(known: Known<'s>, ix: usize, comparison: &TaskComparison) -> Option<Cow<'s, Shape>> {
    let whole = whole_shape(known, ix, comparison)?;
    match &comparison.item_path {
        None => Some(whole),
        Some(_) => compared_part(&whole, comparison).map(|it| Cow::Owned(it.into_owned())),
    }
}

/// What is known of the part of a value that is compared: the value itself, or a part of each item.
fn compared_part<'s>(whole: &'s Shape, comparison: &TaskComparison) -> Option<Cow<'s, Shape>> {
    let Some(item_path) = &comparison.item_path else { return Some(Cow::Borrowed(whole)) };
    match whole.item()?.at(item_path.value.steps()) {
        Leads::To(shape) => Some(Cow::Owned(shape.into_owned())),
        Leads::Nowhere { .. } => None,
    }
}

/// What is known of the value that `field_path` leads to.
fn whole_shape<'s>(known: Known<'s>, ix: usize, comparison: &TaskComparison) -> Option<Cow<'s, Shape>> {
    let leads = match (&known.suite.tasks[ix].kind, &comparison.path) {
        (
            TaskKind::Judge(_)
            | TaskKind::Outcome(_)
            | TaskKind::Evaluate(_)
            | TaskKind::Check(_)
            | TaskKind::Cel(_)
            | TaskKind::Group(_)
            | TaskKind::Evaluation { .. },
            path,
        ) => {
            let steps = path.as_ref().map(|it| it.value.steps()).unwrap_or_default();
            known.outputs[ix].at(steps)
        }
        (TaskKind::Assert, None) => return None,
        (TaskKind::Assert, Some(path)) => match known.source(ix, &path.value) {
            Source::Output(other) => known.output(other).at(path.value.rest().steps()),
            Source::Base => known.base(ix)?.shape.at(path.value.steps()),
            Source::Stranger(_) | Source::Nothing | Source::Unknown => return None,
        },
    };
    match leads {
        Leads::To(shape) => Some(shape),
        Leads::Nowhere { .. } => None,
    }
}

fn examine_comparison(task: &Task, comparison: &TaskComparison, shape: &Shape) -> Option<Problem> {
    let entry = comparison.operator.value.entry();
    let place = comparison.path.as_ref().map_or(task.id.span, |it| it.span);
    let what = comparison.path.as_ref().map_or_else(|| "the value".to_owned(), |it| format!("`{}`", it.value));
    if !may_pass(entry, shape) {
        let message = format!("`{}` can never pass: {what} is {}", entry.snake_case(), shape.kinds);
        let problem = Problem::new(&codes::NEVER_APPLIES, message)
            .at(comparison.operator.span, format!("passes on {}", passing(entry)));
        return Some(problem.at(place, format!("this is {}", shape.kinds)));
    }
    let fixed = comparison.fixed()?;
    let literal = match &comparison.expected {
        Some(Spanned { value: ExpectedValue::Literal(value), span }) => Some((value, *span)),
        _ => None,
    };
    if let Some((value, span)) = literal
        && let Some(problem) = unexpected_type(entry, value, span, shape, &what)
    {
        return Some(problem.at(place, format!("this is {}", shape.kinds)));
    }
    let domain = domain(shape)?;
    if domain.iter().any(|it| fixed.judge(it) == Judgement::Passed) {
        return None;
    }
    Some(outside(entry, &fixed, literal, &what, &domain, comparison.operator.span).at(place, "compared here"))
}

/// Whether a value of this shape could pass at all.
fn may_pass(entry: &Entry, shape: &Shape) -> bool {
    let items_may = || shape.item().is_none_or(|item| item.kinds.iter().any(|kind| entry.may_pass(kind)));
    shape.kinds.iter().any(|kind| match kind {
        Kind::List if entry.arrays == Arrays::Each && !entry.passes.contains(Kind::List) => items_may(),
        kind => entry.may_pass(kind),
    })
}

fn passing(entry: &Entry) -> Kinds {
    entry.passes
}

/// How many values a comparison is tried on. Larger enums are lists of names; a hint about those is not worth the time.
const MAX_DOMAIN: usize = 1000;

/// The values a shape may have, when they can be counted.
pub(super) fn domain(shape: &Shape) -> Option<Vec<Value>> {
    if let Some(values) = &shape.values {
        return (values.len() <= MAX_DOMAIN).then(|| values.clone());
    }
    (shape.kinds == Kinds::of(&[Kind::Boolean])).then(|| vec![Val::Bool(true), Val::Bool(false)])
}

fn outside(
    entry: &Entry,
    fixed: &Comparison<'_>,
    literal: Option<(&Value, Span)>,
    what: &str,
    domain: &[Value],
    operator: Span,
) -> Problem {
    let values: Vec<String> = domain.iter().map(shown).collect();
    let values: Vec<&str> = values.iter().map(String::as_str).collect();
    let help = format!("{what} is one of {}", listed_plainly(&values));
    match literal {
        Some((value, span)) if entry.name == "Equals" => {
            let problem = Problem::new(&codes::OUTSIDE_ENUM, format!("{what} is never {}", shown(value)))
                .at(span, "not one of its values");
            let texts: Vec<&str> = domain.iter().filter_map(Val::as_str).collect();
            let problem = problem.help(help);
            match value.as_str() {
                Some(text) => problem.did_you_mean(text, texts),
                None => problem,
            }
        }
        _ => {
            let message =
                format!("`{}` can never pass: none of the values is {}", entry.snake_case(), fixed.expected());
            Problem::new(&codes::NEVER_APPLIES, message).at(operator, "passes on none of them").help(help)
        }
    }
}

/// An operand that no value of this shape can equal, or contain.
fn unexpected_type(entry: &Entry, operand: &Value, span: Span, shape: &Shape, what: &str) -> Option<Problem> {
    let item = shape.item();
    let fits = match entry.name {
        "Equals" | "NotEqual" => {
            equals_kind(shape.kinds, operand) || item.is_some_and(|item| equals_kind(item.kinds, operand))
        }
        "Contains" | "NotContains" => {
            let in_text = shape.kinds.contains(Kind::Text) && operand.kind() == Kind::Text;
            in_text || item.is_some_and(|item| item.kinds.contains(operand.kind()))
        }
        "ContainsAll" | "ContainsAny" | "ContainsNone" | "SequenceMatches" if entry.params.is_empty() => {
            let in_text = shape.kinds.contains(Kind::Text) && entry.name == "ContainsAny";
            let wanted = operand.as_list().unwrap_or(&[]);
            in_text
                || wanted.is_empty()
                || item.is_some_and(|item| wanted.iter().any(|it| item.kinds.contains(it.kind())))
        }
        // These compare scalars as text or by value, but no scalar is a list or an object.
        "ExactMatch" | "LiteralMatch" => {
            let is_scalar = |kind| !matches!(kind, Kind::List | Kind::Object);
            is_scalar(operand.kind()) || shape.kinds.contains(operand.kind())
        }
        _ => true,
    };
    (!fits).then(|| {
        let message = format!("{what} is {}, but it is compared with {}", shape.kinds, operand.kind().phrase());
        Problem::new(&codes::UNEXPECTED_TYPE, message).at(span, format!("this is {}", operand.kind().phrase()))
    })
}

/// Whether some value of these kinds could equal the operand; text that reads as a number equals it.
fn equals_kind(kinds: Kinds, operand: &Value) -> bool {
    let reads_as_number = |text: &str| text.parse::<f64>().is_ok();
    kinds.contains(operand.kind())
        || match operand {
            Val::Str(text) => kinds.contains(Kind::Number) && reads_as_number(text),
            number => number.kind() == Kind::Number && kinds.contains(Kind::Text),
        }
}
