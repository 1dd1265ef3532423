//! Whether a scenario is a sound graph: every flaw at once, each with its place.
//!
//! Errors are what Karenina's `validate` refuses; nothing runs with them. The others are warnings: the scenario runs, and very likely does
//! not do what its author meant. Parts that could not be read are [`Unread`], and are not taken for parts that are empty.

use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt;
use std::sync::Arc;

use jurat_compare::expression::Expression;
use jurat_format::problem::{Severity, listed_all};
use jurat_format::value::Val;

use super::conversation::USER;
use super::state::Place;
use super::{
    Condition, Edge, FailureCategory, Node, Scenario, State, StateCheck, StatePath, StateUpdate, Target, contradiction,
};
use crate::outcome::{Check, Scope, TurnField};
use crate::template::Trait;

/// Something that is wrong with a scenario. Numbers are places among its nodes, edges and outcomes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Flaw {
    /// Nothing says where it starts.
    NoEntry,
    /// It starts with a node that does not exist.
    UnknownEntry,
    /// Two nodes have one id.
    DuplicateNode { node: usize, first: usize },
    /// A node answers under the name of who asks.
    ReservedIdentity { node: usize },
    /// A node asks nothing, or what would be right is an empty text.
    EmptyQuestion { node: usize, part: QuestionPart },
    /// An edge leaves a node that does not exist.
    UnknownSource { edge: usize },
    /// An edge goes to a node that does not exist.
    UnknownTarget { edge: usize },
    /// No way leads to some nodes.
    Unreachable { nodes: Vec<usize> },
    /// A node has edges with conditions, and none without.
    NoFallback { node: usize, edges: Vec<usize> },
    /// A node has more than one edge without a condition. Only the first can be taken.
    SeveralFallbacks {
        node: usize,
        /// Its edges without a condition.
        edges: Vec<usize>,
    },
    /// An edge can never be taken, because another one is taken whenever it could be.
    Shadowed { edge: usize, by: usize },
    /// A conversation that reaches one of these nodes never leaves them: only the turn limit ends the conversation.
    NoWayOut { nodes: Vec<usize> },
    /// A condition looks at something that is never there.
    UnknownField {
        edge: usize,
        /// What it looks at, as it is written.
        field: String,
        /// Why it is never there.
        reason: Absence,
    },
    /// The condition of an edge asks for what cannot be.
    Impossible {
        edge: usize,
        /// What it looks at, as it is written.
        field: String,
    },
    /// An outcome looks at something that none of its turns has.
    UnknownTurnField {
        outcome: usize,
        /// What it looks at, as it is written.
        field: String,
        /// Why it is never there.
        reason: Absence,
    },
    /// A condition asks for a category of failures that does not exist.
    UnknownCategory {
        edge: usize,
        /// The category, as it is written.
        category: String,
    },
    /// Two outcomes have one name, so that the result of the first is lost.
    DuplicateOutcome { outcome: usize, first: usize },
    /// An outcome is about a node that does not exist, or that no way leads to.
    OutcomeWithoutNode {
        outcome: usize,
        /// The node that it names.
        node: String,
        /// Whether there is such a node at all.
        exists: bool,
    },
}

/// A part of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuestionPart {
    /// What is asked.
    Text,
    /// What would be right.
    RawAnswer,
}

/// Why something is never there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Absence {
    /// The state has nothing of this name.
    Nowhere,
    /// There is no such node.
    Node(String),
    /// The answers of these nodes do not have it; they have these fields.
    Field {
        nodes: Vec<String>,
        field: String,
        /// The fields that are read from their answers.
        known: Vec<String>,
    },
    /// No node sets it; nodes set these keys of the accumulated state.
    Unset {
        key: String,
        /// The keys that are set.
        known: Arc<[String]>,
    },
    /// The turns of these nodes are not rated by it; they are rated by these traits.
    Trait {
        nodes: Vec<String>,
        name: String,
        /// The traits that their turns are rated by.
        known: Vec<String>,
    },
}

impl Flaw {
    /// Its name, which never changes.
    pub fn name(&self) -> &'static str {
        match self {
            Flaw::NoEntry => "no_entry",
            Flaw::UnknownEntry => "unknown_entry",
            Flaw::DuplicateNode { .. } => "duplicate_node",
            Flaw::ReservedIdentity { .. } => "reserved_agent_identity",
            Flaw::EmptyQuestion { .. } => "invalid_question",
            Flaw::UnknownSource { .. } => "unknown_edge_source",
            Flaw::UnknownTarget { .. } => "unknown_edge_target",
            Flaw::Unreachable { .. } => "unreachable_nodes",
            Flaw::NoFallback { .. } => "missing_fallback",
            Flaw::SeveralFallbacks { .. } => "multiple_unconditional_edges",
            Flaw::Shadowed { .. } => "shadowed_edge",
            Flaw::NoWayOut { .. } => "no_way_out",
            Flaw::UnknownField { .. } => "unknown_field",
            Flaw::UnknownTurnField { .. } => "unknown_turn_field",
            Flaw::Impossible { .. } => "impossible_condition",
            Flaw::UnknownCategory { .. } => "unknown_category",
            Flaw::DuplicateOutcome { .. } => "duplicate_outcome",
            Flaw::OutcomeWithoutNode { .. } => "outcome_without_node",
        }
    }

    /// Whether it stands in the way of running.
    pub fn severity(&self) -> Severity {
        match self {
            Flaw::SeveralFallbacks { .. }
            | Flaw::Shadowed { .. }
            | Flaw::NoWayOut { .. }
            | Flaw::UnknownField { .. }
            | Flaw::UnknownTurnField { .. }
            | Flaw::Impossible { .. }
            | Flaw::UnknownCategory { .. }
            | Flaw::DuplicateOutcome { .. }
            | Flaw::OutcomeWithoutNode { .. } => Severity::Warning,
            _ => Severity::Error,
        }
    }

    /// The flaw in words, about this scenario.
    pub fn words<'f>(&'f self, scenario: &'f Scenario) -> impl fmt::Display + 'f {
        Words { flaw: self, scenario }
    }
}

/// Parts of a scenario that are not known, by the places of their nodes.
#[derive(Debug, Clone, Default)]
pub struct Unread {
    /// The nodes that may have another template.
    pub templates: HashSet<usize>,
    /// The nodes that may be rated by other traits.
    pub rubrics: HashSet<usize>,
}

/// Every flaw of a scenario: errors in the order in which Karenina looks for them, then warnings.
pub fn flaws(scenario: &Scenario) -> Vec<Flaw> {
    flaws_besides(scenario, &Unread::default())
}

/// Every flaw of a scenario of which some parts are not known.
pub fn flaws_besides(scenario: &Scenario, unread: &Unread) -> Vec<Flaw> {
    let graph = Graph::of(scenario);
    let mut flaws = entry(scenario, &graph);
    flaws.extend(nodes(scenario, &graph));
    flaws.extend(ends(scenario, &graph));
    let reached = graph.reached(scenario);
    flaws.extend(unreachable(&graph, reached.as_deref()));
    flaws.extend(fallbacks(scenario, &graph));
    let shadowed = shadowed(scenario, &graph);
    flaws.extend(shadowed.iter().map(|(edge, by)| Flaw::Shadowed { edge: *edge, by: *by }));
    flaws.extend(no_way_out(scenario, &graph, reached.as_deref(), &shadowed));
    flaws.extend(impossible(scenario));
    let looking = Looking { scenario, graph: &graph, unread, keys: keys_set(scenario) };
    flaws.extend(unknown_fields(&looking));
    flaws.extend(outcomes(scenario, &graph, reached.as_deref()));
    flaws.extend(unknown_turn_fields(&looking, reached.as_deref()));
    flaws
}

/// Who is connected with whom.
struct Graph<'s> {
    /// The place of each id; the first when there are several.
    places: HashMap<&'s str, usize>,
    /// The edges that leave each node, in order.
    leaving: Vec<Vec<usize>>,
    /// The nodes that have edges, in the order of the first of them.
    sources: Vec<usize>,
}

impl<'s> Graph<'s> {
    fn of(scenario: &'s Scenario) -> Graph<'s> {
        let mut places = HashMap::new();
        for (ix, node) in scenario.nodes.iter().enumerate() {
            places.entry(node.id.as_str()).or_insert(ix);
        }
        let mut leaving = vec![Vec::new(); scenario.nodes.len()];
        let mut sources = Vec::new();
        for (ix, edge) in scenario.edges.iter().enumerate() {
            if let Some(&source) = places.get(edge.source.as_str()) {
                if leaving[source].is_empty() {
                    sources.push(source);
                }
                leaving[source].push(ix);
            }
        }
        Graph { places, leaving, sources }
    }

    fn target(&self, edge: &Edge) -> Option<usize> {
        match &edge.target {
            Target::Node(id) => self.places.get(id.as_str()).copied(),
            Target::End => None,
        }
    }

    /// Which nodes some way leads to, whatever conditions it has; `None` when the entry is not known.
    fn reached(&self, scenario: &Scenario) -> Option<Vec<bool>> {
        let entry = *self.places.get(scenario.entry.as_str())?;
        let mut reached = vec![false; scenario.nodes.len()];
        let mut queue = VecDeque::from([entry]);
        while let Some(node) = queue.pop_front() {
            if !std::mem::replace(&mut reached[node], true) {
                let targets = self.leaving[node].iter().filter_map(|it| self.target(&scenario.edges[*it]));
                queue.extend(targets.filter(|it| !reached[*it]));
            }
        }
        Some(reached)
    }
}

fn entry(scenario: &Scenario, graph: &Graph<'_>) -> Vec<Flaw> {
    match scenario.entry.as_str() {
        entry if graph.places.contains_key(entry) => Vec::new(),
        "" => vec![Flaw::NoEntry],
        _ => vec![Flaw::UnknownEntry],
    }
}

fn nodes(scenario: &Scenario, graph: &Graph<'_>) -> Vec<Flaw> {
    let mut flaws = Vec::new();
    for (ix, node) in scenario.nodes.iter().enumerate() {
        flaws.extend(duplicate(graph, ix, node));
        flaws.extend(flaws_of_node(ix, node));
    }
    flaws
}

fn duplicate(graph: &Graph<'_>, ix: usize, node: &Node) -> Option<Flaw> {
    let first = *graph.places.get(node.id.as_str())?;
    (first != ix).then_some(Flaw::DuplicateNode { node: ix, first })
}

/// What is wrong with a node by itself.
pub(super) fn flaws_of_node(ix: usize, node: &Node) -> Vec<Flaw> {
    let mut flaws = Vec::new();
    if node.agent_identity.as_deref() == Some(USER) {
        flaws.push(Flaw::ReservedIdentity { node: ix });
    }
    if node.question.text.is_empty() {
        flaws.push(Flaw::EmptyQuestion { node: ix, part: QuestionPart::Text });
    }
    if node.question.raw_answer.as_deref() == Some("") {
        flaws.push(Flaw::EmptyQuestion { node: ix, part: QuestionPart::RawAnswer });
    }
    flaws
}

fn ends(scenario: &Scenario, graph: &Graph<'_>) -> Vec<Flaw> {
    let mut flaws = Vec::new();
    for (ix, edge) in scenario.edges.iter().enumerate() {
        if !graph.places.contains_key(edge.source.as_str()) {
            flaws.push(Flaw::UnknownSource { edge: ix });
        }
        if edge.target != Target::End && graph.target(edge).is_none() {
            flaws.push(Flaw::UnknownTarget { edge: ix });
        }
    }
    flaws
}

fn unreachable(graph: &Graph<'_>, reached: Option<&[bool]>) -> Option<Flaw> {
    let mut nodes: Vec<usize> =
        graph.places.values().copied().filter(|it| !reached.is_none_or(|all| all[*it])).collect();
    nodes.sort_unstable();
    (!nodes.is_empty()).then_some(Flaw::Unreachable { nodes })
}

fn fallbacks(scenario: &Scenario, graph: &Graph<'_>) -> Vec<Flaw> {
    let fallbacks = |node: usize| -> Vec<usize> {
        graph.leaving[node].iter().copied().filter(|it| scenario.edges[*it].when.is_none()).collect()
    };
    let missing = graph.sources.iter().filter(|node| fallbacks(**node).is_empty());
    let missing = missing.map(|node| Flaw::NoFallback { node: *node, edges: graph.leaving[*node].clone() });
    let several = graph.sources.iter().map(|node| (*node, fallbacks(*node))).filter(|(_, edges)| edges.len() > 1);
    missing.chain(several.map(|(node, edges)| Flaw::SeveralFallbacks { node, edges })).collect()
}

/// How many comparisons of conditions are made at most. No author writes conditions that take more; a program that went wrong might.
const MOST_COMPARISONS: u32 = 1_000_000;

/// Edges with a condition that cannot hold unless that of an earlier one does, and fallbacks behind a condition that always holds; each with
/// the edge that is taken instead.
fn shadowed(scenario: &Scenario, graph: &Graph<'_>) -> Vec<(usize, usize)> {
    let always = Condition::Checks(Vec::new());
    let mut left = MOST_COMPARISONS;
    let mut found = Vec::new();
    for edges in &graph.leaving {
        let conditions: Vec<(usize, &Condition)> =
            edges.iter().filter_map(|it| Some((*it, scenario.edges[*it].when.as_ref()?))).collect();
        for (nth, (edge, condition)) in conditions.iter().enumerate() {
            if left == 0 {
                break;
            }
            let by = conditions[..nth].iter().find(|(_, earlier)| implies(condition, earlier, &mut left));
            found.extend(by.map(|(by, _)| (*edge, *by)));
        }
        let by = conditions.iter().find(|(_, it)| implies(&always, it, &mut left));
        let fallback = edges.iter().find(|it| scenario.edges[**it].when.is_none());
        found.extend(by.zip(fallback).map(|((by, _), edge)| (*edge, *by)));
    }
    found
}

/// Whether one condition holds whenever another does, as far as their parts show.
fn implies(one: &Condition, other: &Condition, left: &mut u32) -> bool {
    if *left == 0 {
        return false;
    }
    *left -= 1;
    if one == other || parts(other).is_some_and(|all| all.iter().all(|it| implies(one, it, left))) {
        return true;
    }
    if parts(one).is_some_and(|all| all.iter().any(|it| implies(it, other, left))) {
        return true;
    }
    match (one, other) {
        (Condition::Any(one), _) if !one.is_empty() => one.iter().all(|it| implies(it, other, left)),
        (_, Condition::Any(other)) => other.iter().any(|it| implies(one, it, left)),
        // Two negations imply each other the other way round.
        (Condition::Not(one), Condition::Not(other)) => implies(other, one, left),
        _ => false,
    }
}

/// The conditions that must all hold; `None` when it is not made of such.
fn parts(condition: &Condition) -> Option<Vec<Condition>> {
    match condition {
        Condition::Checks(checks) => Some(checks.iter().cloned().map(Condition::from).collect()),
        Condition::All(all) => Some(all.clone()),
        _ => None,
    }
}

/// Nodes that are reached, and from which no way leads to an end.
fn no_way_out(
    scenario: &Scenario,
    graph: &Graph<'_>,
    reached: Option<&[bool]>,
    shadowed: &[(usize, usize)],
) -> Option<Flaw> {
    let reached = reached?;
    let later = graph.leaving.iter().flat_map(|edges| {
        let fallbacks = edges.iter().filter(|it| scenario.edges[**it].when.is_none());
        fallbacks.skip(1).copied()
    });
    let never_taken: HashSet<usize> = shadowed.iter().map(|(edge, _)| *edge).chain(later).collect();
    let ways = |node: usize| graph.leaving[node].iter().filter(|it| !never_taken.contains(it));
    // An edge to a node that does not exist is an error of its own, and may have been meant as a way out.
    let ends = |node: usize| {
        let mut ways = ways(node).peekable();
        ways.peek().is_none() || ways.any(|it| graph.target(&scenario.edges[*it]).is_none())
    };
    let mut arriving = vec![Vec::new(); scenario.nodes.len()];
    for node in 0..scenario.nodes.len() {
        for target in ways(node).filter_map(|it| graph.target(&scenario.edges[*it])) {
            arriving[target].push(node);
        }
    }
    let mut gets_out = vec![false; scenario.nodes.len()];
    let mut queue: VecDeque<usize> = (0..scenario.nodes.len()).filter(|it| ends(*it)).collect();
    while let Some(node) = queue.pop_front() {
        if !std::mem::replace(&mut gets_out[node], true) {
            queue.extend(arriving[node].iter().copied().filter(|it| !gets_out[*it]));
        }
    }
    let nodes: Vec<usize> = (0..scenario.nodes.len()).filter(|it| reached[*it] && !gets_out[*it]).collect();
    (!nodes.is_empty()).then_some(Flaw::NoWayOut { nodes })
}

/// Conditions that can never hold, whatever happens.
fn impossible(scenario: &Scenario) -> Vec<Flaw> {
    let mut flaws = Vec::new();
    for (edge, condition) in scenario.edges.iter().enumerate().filter_map(|(ix, it)| Some((ix, it.when.as_ref()?))) {
        let found = contradiction::impossible(condition);
        flaws.extend(found.map(|it| Flaw::Impossible { edge, field: it.field.to_string() }));
        let unknown = condition.checks().into_iter().filter_map(unknown_category);
        flaws.extend(unknown.map(|category| Flaw::UnknownCategory { edge, category }));
    }
    flaws
}

/// The category of failures that a check asks for, if there is no such.
fn unknown_category(check: &StateCheck) -> Option<String> {
    let is_category = matches!(check.field.place(), Place::FailurePart(part) if part == "category");
    let category = check.expected.as_str().filter(|_| is_category)?;
    FailureCategory::is_unknown(&check.verify_with, category).then(|| category.to_owned())
}

fn unknown_fields(looking: &Looking<'_>) -> Vec<Flaw> {
    let Looking { scenario, graph, .. } = looking;
    let mut flaws = Vec::new();
    for (edge, Edge { source, when, .. }) in scenario.edges.iter().enumerate() {
        let Some(condition) = when else { continue };
        let source = graph.places.get(source.as_str()).copied();
        for path in condition.fields() {
            let reason = looking.absence(source, path);
            flaws.extend(reason.map(|reason| Flaw::UnknownField { edge, field: path.to_string(), reason }));
        }
        let names = condition.expressions().into_iter().flat_map(Expression::names);
        let is_known = |it: &str| State::NAMES.contains(&it) && (it != "row" || scenario.over_records);
        let unknown = names.filter(|it| !is_known(it));
        flaws.extend(unknown.map(|it| Flaw::UnknownField { edge, field: it.clone(), reason: Absence::Nowhere }));
        let read = condition.expressions().into_iter().flat_map(|it| it.fields_of("accumulated"));
        let unset = read.filter_map(|key| looking.unset(key).map(|reason| (format!("accumulated.{key}"), reason)));
        flaws.extend(unset.map(|(field, reason)| Flaw::UnknownField { edge, field, reason }));
    }
    flaws
}

/// What outcomes read from answers and ratings, where no turn that they look at has it.
fn unknown_turn_fields(looking: &Looking<'_>, reached: Option<&[bool]>) -> Vec<Flaw> {
    let mut flaws = Vec::new();
    for (outcome, criterion) in looking.scenario.outcomes.iter().enumerate() {
        for (scope, field) in criterion.check.iter().flat_map(Check::fields) {
            let nodes = looking.nodes_of_turns(scope, reached);
            let reason = looking.absence_in_turns(&nodes, field);
            flaws.extend(reason.map(|reason| Flaw::UnknownTurnField { outcome, field: field.to_string(), reason }));
        }
    }
    flaws.dedup();
    flaws
}

/// What conditions and outcomes may find.
struct Looking<'s> {
    scenario: &'s Scenario,
    graph: &'s Graph<'s>,
    unread: &'s Unread,
    /// The keys of the accumulated state that nodes set; `None` when that is not known.
    keys: Option<Arc<[String]>>,
}

/// The keys that the nodes of a scenario set in the accumulated state, if each says so itself.
fn keys_set(scenario: &Scenario) -> Option<Arc<[String]>> {
    let mut keys = Vec::new();
    for update in scenario.nodes.iter().filter_map(|it| it.state_update.as_ref()) {
        match update {
            StateUpdate::Cel(expression) => keys.extend(expression.keys()?.iter().cloned()),
            StateUpdate::Callable(_) => return None,
        }
    }
    keys.sort_unstable();
    keys.dedup();
    Some(keys.into())
}

impl Looking<'_> {
    /// Why a path leads to nothing behind a node, when it is known that it does.
    fn absence(&self, source: Option<usize>, path: &StatePath) -> Option<Absence> {
        match path.place() {
            Place::Nowhere => Some(Absence::Nowhere),
            Place::FailurePart(part) => {
                (!["category", "stage", "reason"].contains(&part.as_str())).then_some(Absence::Nowhere)
            }
            Place::NodeVisits(id) | Place::NodeResult(id) | Place::NodeVerifyResult(id) => self.node(id).err(),
            Place::NodeParsed(id, key) => self.node(id).map_or_else(Some, |it| self.field(&[it], key)),
            Place::NodeRubric(id, name) => self.node(id).map_or_else(Some, |it| self.rating(&[it], name)),
            Place::Parsed(key) => source.and_then(|it| self.field(&[it], key)),
            Place::Accumulated(key) => self.unset(key),
            Place::Row(_) if !self.scenario.over_records => Some(Absence::Nowhere),
            Place::Row(_) | Place::VerifyResult | Place::Turn | Place::CurrentNode | Place::Failure => None,
        }
    }

    /// Why a key of the accumulated state is never there, when it is known that no node sets it.
    fn unset(&self, key: &str) -> Option<Absence> {
        let known = self.keys.as_ref().filter(|it| it.binary_search_by(|it| it.as_str().cmp(key)).is_err())?;
        Some(Absence::Unset { key: key.to_owned(), known: known.clone() })
    }

    fn node(&self, id: &str) -> Result<usize, Absence> {
        self.graph.places.get(id).copied().ok_or_else(|| Absence::Node(id.to_owned()))
    }

    /// The nodes at which the turns of a scope may be. What no way leads to has no turns.
    fn nodes_of_turns(&self, scope: &Scope, reached: Option<&[bool]>) -> Vec<usize> {
        let is_reached = |it: &usize| reached.is_none_or(|all| all[*it]);
        match scope {
            Scope::First | Scope::At(0) => self.node(&self.scenario.entry).into_iter().collect(),
            Scope::Any(nodes) | Scope::All(nodes) if !nodes.names().is_empty() => {
                nodes.names().iter().filter_map(|it| self.node(it).ok()).filter(is_reached).collect()
            }
            _ => (0..self.scenario.nodes.len()).filter(is_reached).collect(),
        }
    }

    /// Why no turn at these nodes has a field, when it is known that none does.
    fn absence_in_turns(&self, nodes: &[usize], field: &TurnField) -> Option<Absence> {
        match field.inner()? {
            ("parsed", name) => self.field(nodes, name),
            ("rubric", name) => self.rating(nodes, name),
            _ => None,
        }
    }

    /// Why the answers of these nodes do not have a field, when it is known that none of them has it.
    fn field(&self, nodes: &[usize], field: &str) -> Option<Absence> {
        let known = known_names(nodes, |it| self.fields_of(it))?;
        let is_known = known.iter().any(|it| it == field);
        (!is_known).then(|| Absence::Field { nodes: self.ids(nodes), field: field.to_owned(), known })
    }

    /// The fields that are read from the answers of a node; `None` when that is not known.
    fn fields_of(&self, node: usize) -> Option<Vec<String>> {
        let is_read = !self.unread.templates.contains(&node);
        let node = &self.scenario.nodes[node];
        match &node.template {
            _ if !is_read => None,
            Some(template) => Some(template.fields().iter().map(|it| it.name.clone()).collect()),
            None if has_foreign_template(node) => None,
            None => Some(node.question.raw_answer.iter().map(|_| "answer".to_owned()).collect()),
        }
    }

    /// Why the turns at these nodes are not rated by a trait, when it is known that none of them is.
    fn rating(&self, nodes: &[usize], name: &str) -> Option<Absence> {
        let known = known_names(nodes, |it| self.traits_of(it))?;
        let is_known = known.iter().any(|it| it == name);
        (!is_known).then(|| Absence::Trait { nodes: self.ids(nodes), name: name.to_owned(), known })
    }

    /// The traits that the turns at a node are rated by; `None` when that is not known.
    fn traits_of(&self, node: usize) -> Option<Vec<String>> {
        let is_read = !self.unread.rubrics.contains(&node);
        let traits = self.scenario.nodes[node].rubric.as_ref().unwrap_or(&self.scenario.rubric);
        is_read.then(|| traits.iter().flat_map(Trait::keys).collect())
    }

    fn ids(&self, nodes: &[usize]) -> Vec<String> {
        nodes.iter().map(|it| self.scenario.nodes[*it].id.clone()).collect()
    }
}

/// The names that some of these nodes have, each once; `None` when there is no node, or one of which it is not known.
fn known_names(nodes: &[usize], names: impl Fn(usize) -> Option<Vec<String>>) -> Option<Vec<String>> {
    let each: Vec<Vec<String>> = nodes.iter().map(|it| names(*it)).collect::<Option<_>>()?;
    let mut known: Vec<String> = Vec::new();
    for name in each.into_iter().flatten() {
        if !known.contains(&name) {
            known.push(name);
        }
    }
    (!nodes.is_empty()).then_some(known)
}

/// Whether a node has a template in a language that jurat does not read.
pub(crate) fn has_foreign_template(node: &Node) -> bool {
    let source = node.question.stored.get("answer_template").and_then(Val::as_str);
    node.template.is_none() && source.is_some_and(|it| !it.trim().is_empty())
}

fn outcomes(scenario: &Scenario, graph: &Graph<'_>, reached: Option<&[bool]>) -> Vec<Flaw> {
    let mut flaws = Vec::new();
    let mut first: HashMap<&str, usize> = HashMap::new();
    for (outcome, criterion) in scenario.outcomes.iter().enumerate() {
        match first.get(criterion.name.as_str()) {
            Some(&first) => flaws.push(Flaw::DuplicateOutcome { outcome, first }),
            None => drop(first.insert(&criterion.name, outcome)),
        }
        let mut named = HashSet::new();
        for node in criterion.check.iter().flat_map(Check::nodes).filter(|it| named.insert(*it)) {
            let place = graph.places.get(node.as_str());
            let is_reached = place.is_some_and(|it| reached.is_none_or(|all| all[*it]));
            if !is_reached {
                flaws.push(Flaw::OutcomeWithoutNode { outcome, node: node.clone(), exists: place.is_some() });
            }
        }
    }
    flaws
}

struct Words<'f> {
    flaw: &'f Flaw,
    scenario: &'f Scenario,
}

impl fmt::Display for Words<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Words { flaw, scenario } = self;
        let id = |node: &usize| scenario.nodes[*node].id.as_str();
        let ids = |nodes: &[usize]| listed_all(nodes.iter().map(id));
        let edge = |edge: &usize| {
            let Edge { source, target, .. } = &scenario.edges[*edge];
            format!("`{source} -> {}`", target.name())
        };
        match flaw {
            Flaw::NoEntry => write!(f, "the scenario does not say which node it starts with"),
            Flaw::UnknownEntry => {
                write!(f, "the scenario starts with `{}`, which is not one of its nodes", scenario.entry)
            }
            Flaw::DuplicateNode { node, .. } => write!(f, "there are two nodes `{}`", id(node)),
            Flaw::ReservedIdentity { node } => {
                write!(f, "the node `{}` cannot answer as `{USER}`, the name of who asks", id(node))
            }
            Flaw::EmptyQuestion { node, part: QuestionPart::Text } => write!(f, "the node `{}` asks nothing", id(node)),
            Flaw::EmptyQuestion { node, part: QuestionPart::RawAnswer } => {
                write!(f, "the `raw_answer` of the node `{}` is empty", id(node))
            }
            Flaw::UnknownSource { edge: ix } => {
                write!(f, "the edge {} leaves `{}`, which is not a node", edge(ix), scenario.edges[*ix].source)
            }
            Flaw::UnknownTarget { edge: ix } => {
                write!(f, "the edge {} goes to `{}`, which is not a node", edge(ix), scenario.edges[*ix].target.name())
            }
            Flaw::Unreachable { nodes } if nodes.len() == 1 => write!(f, "no edge leads to the node {}", ids(nodes)),
            Flaw::Unreachable { nodes } => write!(f, "no way leads to the nodes {}", ids(nodes)),
            Flaw::NoFallback { node, .. } => {
                write!(
                    f,
                    "every edge of the node `{}` has a condition, and no edge applies when none of them holds",
                    id(node)
                )
            }
            Flaw::SeveralFallbacks { node, edges } => {
                write!(
                    f,
                    "the node `{}` has {} edges without a condition; only the first can be taken",
                    id(node),
                    edges.len()
                )
            }
            Flaw::Shadowed { edge: ix, by } => {
                let ends = |ix: &usize| (&scenario.edges[*ix].source, &scenario.edges[*ix].target);
                let other = if ends(ix) == ends(by) { "an earlier one".to_owned() } else { edge(by) };
                write!(f, "the edge {} can never be taken: {other} is taken whenever it could be", edge(ix))
            }
            Flaw::NoWayOut { nodes } if nodes.len() == 1 => {
                write!(f, "no way leads out of the node {}: only the turn limit ends it", ids(nodes))
            }
            Flaw::NoWayOut { nodes } => {
                write!(f, "no way leads out of the nodes {}: only the turn limit ends it", ids(nodes))
            }
            Flaw::UnknownField { field, reason, .. } | Flaw::UnknownTurnField { field, reason, .. } => match reason {
                Absence::Nowhere => write!(f, "there is no `{field}` in the state"),
                Absence::Node(node) => write!(f, "`{field}` is about the node `{node}`, which does not exist"),
                Absence::Field { nodes, field: name, .. } => match nodes.as_slice() {
                    [node] => write!(f, "nothing reads `{name}` from the answers of the node `{node}`"),
                    _ => write!(f, "nothing reads `{name}` from the answers of these nodes"),
                },
                Absence::Trait { nodes, name, .. } => match nodes.as_slice() {
                    [node] => write!(f, "the node `{node}` is not rated by `{name}`"),
                    _ => write!(f, "no turn is rated by `{name}`"),
                },
                Absence::Unset { key, .. } => write!(f, "no node sets `{key}` in the accumulated state"),
            },
            Flaw::Impossible { edge: ix, field } => {
                write!(f, "the edge {} can never be taken: its condition asks of `{field}` what cannot be", edge(ix))
            }
            Flaw::UnknownCategory { category, .. } => write!(f, "there is no failure category `{category}`"),
            Flaw::DuplicateOutcome { outcome, .. } => {
                write!(f, "there are two outcomes `{}`", scenario.outcomes[*outcome].name)
            }
            Flaw::OutcomeWithoutNode { outcome, node, exists } => {
                let name = &scenario.outcomes[*outcome].name;
                match exists {
                    true => write!(f, "the outcome `{name}` is about the node `{node}`, which no way leads to"),
                    false => write!(f, "the outcome `{name}` is about the node `{node}`, which does not exist"),
                }
            }
        }
    }
}
