//! What the replies of judges without `output` are read as: text, unless something compares them with a number, a boolean, a list or an object, or
//! reads a field of them. Such a reply is read as JSON, and one that is no JSON is asked for again.

use jurat_compare::{Operand, Operator};
use jurat_format::problem::Problem;
use jurat_format::value::{FieldPath, Kind, Kinds, Map, Span, Spanned, Step, Val, Value};

use super::context::reads;
use super::graph::Graph;
use super::judges;
use crate::judge::ReplyForm;
use crate::output::CompiledSchema;
use crate::suite::{Aggregate, ExpectedValue, Suite, Task, TaskComparison, TaskKind};

/// What has to read a reply as JSON.
pub(super) enum Need<'s> {
    /// The comparison of the judge itself, by what its operator needs.
    Value { operator: &'s Spanned<Operator>, kind: Option<Kind> },
    /// Several replies become one number.
    Number,
    /// A field of the reply, for this task at this place.
    Field { reader: &'s Task, path: &'s FieldPath, span: Span },
}

/// Why the replies of each task have to be read as JSON; `None` for what is no judge, for one that has `output`, and where text will do.
pub(super) fn needs<'s>(suite: &'s Suite, graph: &Graph) -> Vec<Option<Need<'s>>> {
    let is_open = |task: &Task| matches!(&task.kind, TaskKind::Judge(judge) if judge.output.is_none());
    let mut needs: Vec<Option<Need<'s>>> =
        suite.tasks.iter().map(|it| is_open(it).then(|| own_need(it)).flatten()).collect();
    for (ix, reader) in suite.tasks.iter().enumerate() {
        for read in reads(reader).paths {
            let judge = read.path.root().and_then(|root| graph.find(ix, root)).filter(|it| graph.depends(ix, *it));
            let Some(judge) = judge.filter(|it| is_open(&suite.tasks[it.index()])) else { continue };
            if needs[judge.index()].is_none() && needs_field(reader, read.path) {
                needs[judge.index()] = Some(Need::Field { reader, path: read.path, span: read.at });
            }
        }
    }
    needs
}

/// What a reply must be to meet a need: of the kind that is compared with, where that is known.
pub(super) fn form(need: &Need<'_>) -> ReplyForm {
    let kind = match need {
        Need::Value { operator, kind } => kind_of_reply(&operator.value, *kind),
        Need::Number => Some(Kind::Number),
        Need::Field { .. } => None,
    };
    let name = match kind {
        Some(Kind::Number) => "number",
        Some(Kind::Boolean) => "boolean",
        Some(Kind::List) => "array",
        Some(Kind::Object) => "object",
        Some(Kind::Text | Kind::Null) | None => return ReplyForm::Json,
    };
    let schema = Val::Map([("type", Val::from(name))].into_iter().collect::<Map<'_>>());
    CompiledSchema::compile(&schema).map_or(ReplyForm::Json, |it| ReplyForm::Schema(Box::new(it)))
}

/// The kind of reply that a comparison can judge. One that is about the kind itself takes any.
fn kind_of_reply(operator: &Operator, operand: Option<Kind>) -> Option<Kind> {
    let entry = operator.entry();
    match entry.operand {
        Operand::Any => operand,
        Operand::Ignored | Operand::Direction => None,
        _ => [Kind::Number, Kind::List].into_iter().find(|it| entry.passes == Kinds::of(&[*it])),
    }
}

/// Whether a task reads a field of a reply, or compares the reply with something else than text.
fn needs_field(reader: &Task, path: &FieldPath) -> bool {
    let compared = reader.comparison.as_ref().filter(|it| reads_at(it, path));
    match path.rest().steps().first() {
        Some(Step::Json) => false,
        Some(_) => true,
        None => compared.is_some_and(needs_value),
    }
}

fn reads_at(comparison: &TaskComparison, path: &FieldPath) -> bool {
    comparison.path.as_ref().is_some_and(|it| it.value == *path)
}

/// What is wrong with leaving out `output`, where text will not do.
pub(super) fn no_output(task: &Task, need: &Need<'_>) -> Problem {
    let id = &task.id.value;
    let compares = |operator: &Operator, kind: Option<Kind>| {
        let kind = kind.map_or("a value", Kind::phrase);
        format!("`{}` compares {kind} with a reply of `{id}`, which may be any text", operator.entry().snake_case())
    };
    let with_path = |field: &str, kind| format!("{}, with `field_path: {field}`", judges::output_help(field, kind));
    let (message, at, help) = match need {
        Need::Value { operator, kind } => {
            let help = with_path("answer", kind_of_reply(&operator.value, *kind));
            (compares(&operator.value, *kind), (operator.span, "compares the reply"), help)
        }
        Need::Number => {
            let message = format!("`aggregate` needs numbers, and a reply of `{id}` may be any text");
            (message, (task.id.span, "asks more than once"), with_path("score", Some(Kind::Number)))
        }
        Need::Field { reader, path, span } => {
            let comparison = reader.comparison.as_ref().filter(|it| reads_at(it, path));
            let operand = comparison.and_then(literal_kind);
            let kind = comparison.and_then(|it| kind_of_reply(&it.operator.value, operand));
            let message = match (comparison, path.rest().root()) {
                (Some(comparison), None) => compares(&comparison.operator.value, operand),
                _ => format!("`{}` reads `{path}` from a reply that need not have it", reader.id.value),
            };
            let help = match path.rest().root() {
                Some(field) => judges::output_help(field, kind),
                None => format!("{}, and read `{path}.answer`", judges::output_help("answer", kind)),
            };
            (message, (*span, "read from the reply"), help)
        }
    };
    judges::no_output(message, at, task, help)
}

fn own_need(task: &Task) -> Option<Need<'_>> {
    let TaskKind::Judge(judge) = &task.kind else { return None };
    let comparison = task.comparison.as_ref().filter(|it| it.path.is_none())?;
    let kind = literal_kind(comparison);
    if needs_value(comparison) || comparison.item_path.is_some() {
        return Some(Need::Value { operator: &comparison.operator, kind });
    }
    matches!(judge.aggregate, Aggregate::Mean | Aggregate::Median).then_some(Need::Number)
}

fn needs_value(comparison: &TaskComparison) -> bool {
    comparison.operator.value.needs_value(literal(comparison))
}

fn literal(comparison: &TaskComparison) -> Option<&Value> {
    match &comparison.expected {
        Some(Spanned { value: ExpectedValue::Literal(value), .. }) => Some(value),
        _ => None,
    }
}

fn literal_kind(comparison: &TaskComparison) -> Option<Kind> {
    literal(comparison).map(Val::kind)
}
