//! Scenarios built step by step, conditions in short form, and checkpoints.

use jurat_core::compat::karenina;
use jurat_core::outcome::Check;
use jurat_core::scenario::when::{self, WhenError};
use jurat_core::scenario::{
    BuildError, BuildErrors, Condition, Criterion, Edge, Flaw, Handover, Node as ScenarioNode, Question, Scenario,
    ScenarioBuilder, ToolFilter, ToolName,
};
use jurat_format::value::{Map, Node, Val, Value};

use super::{Answer, compared, object, part, same, text_part, with_node};

pub(super) fn run(case: &Val<'_>) -> Result<Answer, String> {
    let input = part(case, "input")?;
    let got = match text_part(input, "op")? {
        "build" => built(input)?,
        "when" => with_node(part(input, "when")?, |node| stored_condition(karenina::read_condition(node)))?,
        "checkpoint" => match scenario(input)? {
            Ok((scenario, _)) => scenario.to_checkpoint(),
            Err(refused) => refused,
        },
        "criterion" => criterion(input.get("criterion").unwrap_or(input))?,
        other => return Err(format!("there is no operation `{other}`")),
    };
    Ok(compared(case, part(case, "expect")?, &got, same))
}

fn built(input: &Val<'_>) -> Result<Value, String> {
    let (scenario, warnings) = match scenario(input)? {
        Ok(built) => built,
        Err(refused) => return Ok(refused),
    };
    let Val::Map(stored) = scenario.to_stored() else { return Err("a scenario is stored as an object".to_owned()) };
    let edges = stored.get("edges").and_then(Val::as_list).unwrap_or_default();
    let edge = |it: &Value| {
        let keys = ["source", "target", "condition", "handover"];
        Val::Map(keys.into_iter().filter_map(|key| Some((key, it.get(key)?.clone()))).collect::<Map<'static>>())
    };
    let text = |it: &str| Val::from(it.to_owned());
    Ok(object([
        ("ok", Val::Bool(true)),
        ("warnings", warnings.iter().map(|it| Val::from(*it)).collect()),
        ("node_ids", scenario.node_ids().map(text).collect()),
        ("entry_node", text(&scenario.entry)),
        ("edges", edges.iter().map(edge).collect()),
        ("outcomes", scenario.outcomes.iter().map(|it| text(&it.name)).collect()),
    ]))
}

/// The scenario that the steps build and the warnings of the seed; or what refuses it, and where.
pub(super) type Built = Result<(Scenario, Vec<&'static str>), Value>;

pub(super) fn scenario(input: &Val<'_>) -> Result<Built, String> {
    let mut builder = ScenarioBuilder::new(input.get("name").and_then(Val::as_str).unwrap_or("s"));
    builder.description(input.get("description").and_then(Val::as_str).unwrap_or_default());
    for (ix, step) in part(input, "steps")?.as_list().ok_or("`steps` is not a list")?.iter().enumerate() {
        let at = ("step", Val::from(ix as u64));
        let refused = match text_part(step, "do")? {
            "add_node" => {
                builder.add_node(text_part(step, "node_id")?, node(step)?);
                None
            }
            "add_edge" => match edge(step)? {
                Ok(edge) => {
                    builder.add_edge_with(edge);
                    None
                }
                Err(kind) => Some(kind),
            },
            "set_entry" => {
                builder.set_entry(text_part(step, "node_id")?);
                None
            }
            "add_outcome" => match with_node(part(step, "check")?, Check::from_stored)? {
                Ok(check) => {
                    let description = step.get("description").and_then(Val::as_str).unwrap_or_default();
                    let criterion = Criterion::new(text_part(step, "name")?, check).description(description);
                    builder.add_outcome_criterion(criterion);
                    None
                }
                Err(_) => Some("invalid_definition"),
            },
            other => return Err(format!("there is no step `{other}`")),
        };
        if let Some(kind) = refused.or_else(|| builder.errors().iter().map(|it| it.flaw.name()).min_by_key(rank)) {
            return Ok(Err(object([("error", Val::from(kind)), at])));
        }
    }
    Ok(match builder.validate() {
        Err(BuildErrors(errors)) => Err(refused(&builder, &errors)),
        Ok(scenario) => {
            let names = builder.warnings().iter().map(Flaw::name).collect::<Vec<_>>();
            Ok((scenario, names.into_iter().filter(|it| *it == "multiple_unconditional_edges").collect()))
        }
    })
}

/// Of several errors in one step the peer tells the first: a question is made before the node that asks it.
fn rank(kind: &&'static str) -> usize {
    ["invalid_question", "duplicate_node"].iter().position(|it| it == kind).unwrap_or(2)
}

/// The first of the errors, as the peer tells it.
fn refused(builder: &ScenarioBuilder, errors: &[BuildError]) -> Value {
    let Some(BuildError { flaw, .. }) = errors.first() else { return Val::Null };
    let ids = builder.node_ids();
    let mut nodes: Vec<&str> = match flaw {
        Flaw::Unreachable { nodes } => nodes.iter().map(|it| ids[*it]).collect(),
        Flaw::NoFallback { node, .. } => vec![ids[*node]],
        _ => Vec::new(),
    };
    nodes.sort_unstable();
    let head = [("error", Val::from(flaw.name())), ("step", Val::from("validate"))];
    let nodes: Vec<Value> = nodes.into_iter().map(|it| Val::from(it.to_owned())).collect();
    let nodes = (!nodes.is_empty()).then_some(("nodes", Val::List(nodes)));
    Val::Map(head.into_iter().chain(nodes).collect::<Map<'static>>())
}

fn node(step: &Val<'_>) -> Result<ScenarioNode, String> {
    let asked = part(step, "question")?;
    let raw_answer = asked.get("raw_answer").and_then(Val::as_str).unwrap_or("answer");
    let mut question = Question::new(text_part(asked, "question")?, raw_answer);
    // The peer dates questions by the clock; the files were made with it stopped.
    for key in ["date_created", "date_modified"] {
        question.stored.insert(key.into(), Val::from("2026-01-01T00:00:00"));
    }
    let mut node = ScenarioNode::from(question);
    node.agent_identity = step.get("agent_identity").and_then(Val::as_str).map(str::to_owned);
    if let Some(metadata) = step.get("metadata").and_then(Val::as_map) {
        node.metadata = metadata.iter().map(|(key, it)| (key.to_owned(), it.clone().into_owned())).collect();
    }
    if let Some(remove) = step.get("tool_filter").and_then(|it| it.get("remove")).and_then(Val::as_list) {
        let text = |it: &Val<'_>, key: &str| it.get(key).and_then(Val::as_str).map(str::to_owned);
        let tool = |it: &Val<'_>| Some(ToolName { server: text(it, "server")?, tool: text(it, "tool") });
        node.tool_filter = ToolFilter { remove: remove.iter().filter_map(tool).collect() };
    }
    Ok(node)
}

/// An edge, or the kind of error that refuses it.
fn edge(step: &Val<'_>) -> Result<Result<Edge, &'static str>, String> {
    let mut edge = Edge::new(text_part(step, "source")?, text_part(step, "target")?);
    match condition(step)? {
        Ok(condition) => edge.when = condition,
        Err(kind) => return Ok(Err(kind)),
    }
    edge.handover = match step.get("handover") {
        None | Some(Val::Null) => None,
        Some(Val::Str(name)) => match Handover::named(name) {
            Some(handover) => Some(handover),
            None => return Ok(Err("unknown_handover")),
        },
        Some(_) => return Ok(Err("unsupported_handover")),
    };
    Ok(Ok(edge))
}

/// The condition of an edge, short or stored, or the kind of error that refuses it.
pub(super) fn condition(edge: &Val<'_>) -> Result<Result<Option<Condition>, &'static str>, String> {
    match (edge.get("when"), edge.get("condition")) {
        (Some(when), _) => with_node(when, |node| karenina::read_condition(node).map_err(|it| kind(&it))),
        (None, Some(stored)) => with_node(stored, |node| when::read_stored(node).map_err(|_| "invalid_definition")),
        (None, None) => Ok(Ok(None)),
    }
}

fn stored_condition(read: Result<Option<Condition>, Vec<WhenError>>) -> Value {
    match read {
        Ok(condition) => condition.as_ref().map_or(Val::Null, when::write_stored),
        Err(errors) => object([("error", Val::from(kind(&errors)))]),
    }
}

fn kind(errors: &[WhenError]) -> &'static str {
    errors.first().map_or("bad_condition", |it| it.kind.name())
}

fn criterion(written: &Val<'_>) -> Result<Value, String> {
    let text = |key: &str| written.get(key).and_then(Val::as_str).map(|it| Val::from(it.to_owned()));
    let check = match written.get("check") {
        None | Some(Val::Null) => Ok(Val::Null),
        Some(check) => with_node(check, |node: &Node<'_>| Check::from_stored(node).map(|it| it.to_stored()))?,
    };
    let (Some(name), Some(description), Ok(check)) = (text("name"), text("description"), check) else {
        return Ok(object([("error", Val::from("invalid_definition"))]));
    };
    let evaluate_source = text("evaluate_source").unwrap_or(Val::Null);
    Ok(object([("name", name), ("description", description), ("check", check), ("evaluate_source", evaluate_source)]))
}
