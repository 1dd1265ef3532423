//! Terms about conversations: `node:SCENARIO=ID` and `edge:SCENARIO=FROM>TO` find those that came past a node or took an edge.

use jurat_core::report::scenario::ScenarioGraph;
use jurat_format::value::Val;
use jurat_store::run::StoredCase;

use crate::view::scenarios::place;
use crate::view::{RunView, ViewError};

/// A scenario, and the parts of its graph of which a conversation has to have come past one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Visited {
    pub(super) scenario: String,
    pub(super) parts: Vec<Part>,
}

/// A part of a graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    /// By its id.
    Node(String),
    /// By its place.
    Edge(usize),
}

/// The edges of a graph as queries name them, in their order: `ask>check`, and `ask>check#2` for the second of several with these ends.
pub fn edge_names(graph: &ScenarioGraph) -> Vec<String> {
    let ends = |ix: usize| (graph.edges[ix].from, graph.edges[ix].to);
    let name = |ix: usize| {
        let plain = format!("{}>{}", graph.node_id(ends(ix).0), graph.target(ends(ix).1));
        match (0..ix).filter(|it| ends(*it) == ends(ix)).count() {
            0 => plain,
            before => format!("{plain}#{}", before + 1),
        }
    };
    (0..graph.edges.len()).map(name).collect()
}

impl Visited {
    /// Whether a case is a conversation along this graph that came past one of the parts.
    pub(super) fn holds(&self, view: &RunView, case: &StoredCase) -> Result<bool, ViewError> {
        if view.scenario(case).is_none_or(|it| it.scenario.name != self.scenario) {
            return Ok(false);
        }
        let evidence = view.execution(case)?;
        let history = evidence.as_ref().and_then(|it| it.get("history")).and_then(Val::as_list).unwrap_or_default();
        Ok(history.iter().any(|turn| self.parts.iter().any(|it| it.is_in(turn))))
    }
}

impl Part {
    fn is_in(&self, turn: &Val<'_>) -> bool {
        match self {
            Part::Node(id) => turn.get("node_id").and_then(Val::as_str) == Some(id),
            Part::Edge(ix) => turn.get("route").and_then(|it| it.get("edge")).and_then(place) == Some(*ix),
        }
    }
}

#[cfg(test)]
mod tests {
    use jurat_core::report::scenario::{GraphEdge, GraphNode};

    use super::*;

    #[test]
    fn edges_with_the_same_ends_are_numbered() {
        let node = |id: &str| GraphNode { id: id.to_owned(), ..GraphNode::default() };
        let edge = |from: usize, to: Option<usize>| GraphEdge { from, to, ..GraphEdge::default() };
        let edges = vec![edge(0, Some(1)), edge(1, None), edge(0, Some(1))];
        let graph = ScenarioGraph { nodes: vec![node("ask"), node("check")], edges, ..ScenarioGraph::default() };
        let end = graph.target(None);
        assert_eq!(edge_names(&graph), ["ask>check".to_owned(), format!("check>{end}"), "ask>check#2".to_owned()]);
    }
}
