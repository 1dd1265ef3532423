//! Scenarios: the graphs along which conversations go, and what a run made of them.
//!
//! A [`ScenarioGraph`] is plain data: nodes with their questions, edges with their conditions in words, and, of a run, how often each was
//! taken. [`write_graphs`] tells it to people, [`write_graphs_json`] to programs; [`write_graphs_mermaid`], [`write_graphs_dot`] and
//! [`write_graphs_svg`] draw it. A [`ScenarioTotal`] is what a run says about all conversations along one graph, and [`Unexercised`] what none
//! of them came to.

mod dot;
mod json;
mod layers;
mod mermaid;
mod sketch;
mod svg;
mod text;
mod total;

pub(crate) use dot::write_dot_parts;
pub use dot::write_graphs_dot;
pub use json::write_graphs_json;
pub(crate) use json::{write_graph, write_total};
pub use mermaid::write_graphs_mermaid;
pub(crate) use mermaid::write_mermaid_parts;
pub use svg::write_graphs_svg;
pub(crate) use svg::{STYLE, figure};
pub use text::write_graphs;
pub use total::{OutcomeTotal, ScenarioTotal, StatusCounts, TurnCounts, Unexercised};

/// The graph of a scenario.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ScenarioGraph {
    pub name: String,
    /// What its author says about it.
    pub description: Option<String>,
    /// How many turns it may take.
    pub turn_limit: u32,
    /// How many calls of models one conversation takes at most, those of judges included.
    pub max_calls: u64,
    /// The nodes, in the order they were written.
    pub nodes: Vec<GraphNode>,
    /// The node it starts with.
    pub entry: usize,
    /// The edges, in the order they were written.
    pub edges: Vec<GraphEdge>,
}

/// A node of a graph.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GraphNode {
    pub id: String,
    pub question: String,
    /// What its author says about it.
    pub description: Option<String>,
    pub subjects: Vec<String>,
    /// Who reads and rates answers, when somebody does.
    pub parser: Option<String>,
    /// The servers whose tools may be used.
    pub tools: Vec<String>,
    /// The tools of them that may not: a server, or `server/tool`.
    pub tools_removed: Vec<String>,
    /// How often a run came to it; `None` when this is about no run.
    pub visits: Option<u64>,
}

/// An edge of a graph.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GraphEdge {
    pub from: usize,
    /// The node it goes to; `None` when the conversation ends.
    pub to: Option<usize>,
    /// When it is taken, in words; `None` for the way that is left when no other is.
    pub when: Option<String>,
    /// What the next turn is told of those before it, when it is not simply the conversation.
    pub handover: Option<String>,
    /// How often a run took it; `None` when this is about no run.
    pub taken: Option<u64>,
}

impl ScenarioGraph {
    /// The name of where an edge goes, as definitions have it.
    fn target(&self, to: Option<usize>) -> &str {
        to.map_or(jurat_core::scenario::END, |ix| self.node_id(ix))
    }

    fn node_id(&self, ix: usize) -> &str {
        self.nodes.get(ix).map_or("", |it| it.id.as_str())
    }

    /// The edges that leave a node.
    fn edges_of(&self, node: usize) -> impl Iterator<Item = &GraphEdge> {
        self.edges.iter().filter(move |it| it.from == node)
    }
}
