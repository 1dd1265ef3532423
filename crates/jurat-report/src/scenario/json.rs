//! Graphs of scenarios, and what a run made of them, for programs.

use std::io::{self, Write};

use jurat_core::report::scenario::{GraphEdge, GraphNode, OutcomeTotal, ScenarioGraph, ScenarioTotal, Unexercised};

use crate::json::optional;
use crate::json_text::{Members, object, quoted, write_line};

/// The version of this shape. Members may be added without changing it.
const VERSION: u64 = 1;

/// Writes graphs as one JSON object.
pub fn write_graphs_json(out: &mut dyn Write, suite: &str, graphs: &[ScenarioGraph]) -> io::Result<()> {
    write_line(out, |members| {
        members.number("version", VERSION);
        members.text("suite", suite);
        members.objects("scenarios", graphs, write_graph);
    })
}

/// Writes the members of a graph.
pub(crate) fn write_graph(members: &mut Members<'_>, graph: &ScenarioGraph) {
    members.text("scenario", &graph.name);
    optional(graph.description.as_deref(), |it| members.text("description", it));
    members.text("entry", graph.node_id(graph.entry));
    members.number("turn_limit", u64::from(graph.turn_limit));
    members.number("max_calls", graph.max_calls);
    members.objects("nodes", &graph.nodes, write_node);
    members.list("edges", &graph.edges, |text, it| object(text, |members| write_edge(members, graph, it)));
}

/// Writes the members of a graph, and what a run made of it.
pub(crate) fn write_total(members: &mut Members<'_>, total: &ScenarioTotal) {
    write_graph(members, &total.graph);
    members.flag("concluded", total.is_concluded);
    members.number("cases", total.statuses.total());
    members.object("statuses", |it| total.statuses.each().into_iter().for_each(|(name, n)| it.number(name, n)));
    let turns = &total.turns;
    members.object("turns", |it| {
        it.number("total", turns.total);
        it.number("judged", turns.judged);
        it.number("verified", turns.verified);
        optional(turns.mean(), |mean| {
            it.number("least", turns.least);
            it.float("mean", mean);
            it.number("most", turns.most);
        });
    });
    members.objects("outcomes", &total.outcomes, write_outcome);
    members.object("unexercised", |it| write_unexercised(it, &total.unexercised()));
}

fn write_node(members: &mut Members<'_>, node: &GraphNode) {
    members.text("node", &node.id);
    members.text("question", &node.question);
    optional(node.description.as_deref(), |it| members.text("description", it));
    members.texts("subjects", &node.subjects);
    optional(node.parser.as_deref(), |it| members.text("parser", it));
    if !node.tools.is_empty() {
        members.texts("tools", &node.tools);
    }
    if !node.tools_removed.is_empty() {
        members.texts("tools_removed", &node.tools_removed);
    }
    optional(node.visits, |it| members.number("visits", it));
}

fn write_edge(members: &mut Members<'_>, graph: &ScenarioGraph, edge: &GraphEdge) {
    members.text("from", graph.node_id(edge.from));
    members.text("to", graph.target(edge.to));
    optional(edge.when.as_deref(), |it| members.text("when", it));
    optional(edge.handover.as_deref(), |it| members.text("handover", it));
    optional(edge.taken, |it| members.number("taken", it));
}

fn write_outcome(members: &mut Members<'_>, outcome: &OutcomeTotal) {
    members.text("outcome", &outcome.name);
    members.number("true", outcome.held);
    members.number("false", outcome.failed);
    members.number("measured", outcome.measured);
    members.number("error", outcome.error);
}

fn write_unexercised(members: &mut Members<'_>, all: &[Unexercised]) {
    let names = |of: fn(&Unexercised) -> Option<&String>| all.iter().filter_map(of).collect::<Vec<_>>();
    members.texts("nodes", names(|it| if let Unexercised::Node(name) = it { Some(name) } else { None }));
    let edges = all.iter().filter_map(|it| match it {
        Unexercised::Edge { from, to, when } => Some((from, to, when)),
        _ => None,
    });
    members.objects("edges", edges, |it, (from, to, when)| {
        it.text("from", from);
        it.text("to", to);
        optional(when.as_deref(), |when| it.text("when", when));
    });
    let outcomes = |of: fn(&Unexercised) -> Option<&String>| names(of);
    let lists = [
        ("never_true", outcomes(|it| if let Unexercised::NeverTrue(name) = it { Some(name) } else { None })),
        ("never_false", outcomes(|it| if let Unexercised::NeverFalse(name) = it { Some(name) } else { None })),
        ("never_decided", outcomes(|it| if let Unexercised::NeverDecided(name) = it { Some(name) } else { None })),
    ];
    for (key, names) in lists {
        members.list(key, names, |text, name| quoted(text, name));
    }
}
