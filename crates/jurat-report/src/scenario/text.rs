//! Graphs of scenarios for people: each node with its question, below it the next nodes and their conditions.

use std::io::{self, Write};

use jurat_core::report::scenario::{GraphEdge, ScenarioGraph};

use super::sketch::{bounds, common_who, condition, ends_without_edge, times, who};
use crate::Style;
use crate::style::Meaning;
use crate::words::{counted, cut};

/// How much of a text is shown.
const ROOM: usize = 100;

/// How many graphs are shown; as JSON and in drawings all are.
const MOST: usize = 20;

/// Writes graphs as text, one after the other.
pub fn write_graphs(out: &mut dyn Write, graphs: &[ScenarioGraph], style: Style) -> io::Result<()> {
    for (ix, graph) in graphs.iter().take(MOST).enumerate() {
        if ix > 0 {
            writeln!(out)?;
        }
        write_one(out, graph, style)?;
    }
    match graphs.len().saturating_sub(MOST) {
        0 => Ok(()),
        n => writeln!(out, "\n… and {}", counted(n as u64, "more scenario")),
    }
}

fn write_one(out: &mut dyn Write, graph: &ScenarioGraph, style: Style) -> io::Result<()> {
    let name = style.meant(Meaning::Name, &cut(&graph.name, ROOM));
    let (nodes, edges) = (counted(graph.nodes.len() as u64, "node"), counted(graph.edges.len() as u64, "edge"));
    writeln!(out, "{name}: {nodes}, {edges}; {}", bounds(graph))?;
    if let Some(description) = &graph.description {
        writeln!(out, "{}", cut(description, ROOM))?;
    }
    let common = common_who(graph);
    if let Some(common) = common.as_ref().filter(|it| !it.is_empty()) {
        writeln!(out, "{}", cut(common, ROOM))?;
    }
    for (ix, node) in graph.nodes.iter().enumerate() {
        let entry = if ix == graph.entry { "> " } else { "  " };
        let name = style.meant(Meaning::Name, &cut(&node.id, ROOM));
        let visits = node.visits.map_or_else(String::new, |it| format!(" {}", counts(it, style)));
        writeln!(out, "{entry}{name}{visits}: {}", cut(&node.question, ROOM))?;
        let who = who(node);
        if common.is_none() && !who.is_empty() {
            writeln!(out, "    {}", cut(&who, ROOM))?;
        }
        let ways: Vec<String> = graph.edges_of(ix).map(|it| way(graph, it, style)).collect();
        let end = ends_without_edge(graph, ix).then(|| "no edge left → end".to_owned());
        let n_ways = ways.len() + usize::from(end.is_some());
        for (n, way) in ways.iter().chain(&end).enumerate() {
            writeln!(out, "    {} {way}", if n + 1 == n_ways { "└─" } else { "├─" })?;
        }
    }
    Ok(())
}

fn way(graph: &ScenarioGraph, edge: &GraphEdge, style: Style) -> String {
    let condition = condition(graph, edge).map_or_else(String::new, |it| format!("{} ", cut(&it, ROOM)));
    let to = match edge.to {
        Some(ix) => cut(graph.node_id(ix), ROOM),
        None => "end".to_owned(),
    };
    let handover = edge.handover.as_ref().map_or_else(String::new, |it| format!(", hands over {}", cut(it, ROOM)));
    let taken = edge.taken.map_or_else(String::new, |it| format!(" {}", counts(it, style)));
    format!("{condition}→ {to}{handover}{taken}")
}

/// What was never taken stands out.
fn counts(n: u64, style: Style) -> String {
    let times = times(n);
    if n == 0 { style.meant(Meaning::Unknown, &times) } else { times }
}
