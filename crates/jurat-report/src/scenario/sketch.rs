//! A graph of a scenario as boxes and arrows, independent of the format.

use jurat_core::report::scenario::{GraphEdge, GraphNode, ScenarioGraph};

use crate::words::{cut, grouped};

/// How much of a question or a condition is shown.
pub(super) const ROOM: usize = 48;

/// Boxes and arrows.
pub(super) struct Sketch {
    pub(super) title: String,
    /// One for each node, in their order.
    pub(super) boxes: Vec<Box>,
    /// One for each edge, in their order, and behind them one for each node that the conversation may end at for want of an edge.
    pub(super) arrows: Vec<Arrow>,
}

/// What stands for a node.
pub(super) struct Box {
    /// Its name, and how often it was taken.
    pub(super) name: String,
    pub(super) question: String,
    /// Who is asked and what with; empty where that is the same for all nodes.
    pub(super) who: String,
    /// What its author says about it.
    pub(super) description: Option<String>,
    pub(super) is_entry: bool,
    pub(super) is_untaken: bool,
}

/// What stands for an edge.
pub(super) struct Arrow {
    /// The place of the edge; `None` where the conversation ends for want of one.
    pub(super) edge: Option<usize>,
    pub(super) from: usize,
    /// `None` for the end.
    pub(super) to: Option<usize>,
    /// When it is taken, what it hands over, how often it was taken; may be empty.
    pub(super) label: String,
    /// Whether it is taken when no other is.
    pub(super) is_fallback: bool,
    pub(super) is_untaken: bool,
}

impl Sketch {
    pub(super) fn of(graph: &ScenarioGraph) -> Sketch {
        let common = common_who(graph);
        let is_common = common.is_some();
        let sketched = |(ix, it): (usize, &GraphNode)| Box {
            name: match it.visits {
                Some(n) => format!("{} · {}", cut(&it.id, ROOM), times(n)),
                None => cut(&it.id, ROOM),
            },
            question: cut(&it.question, ROOM),
            who: if is_common { String::new() } else { cut(&who(it), ROOM) },
            description: it.description.clone(),
            is_entry: ix == graph.entry,
            is_untaken: it.visits == Some(0),
        };
        let n_nodes = graph.nodes.len();
        let known = |(_, it): &(usize, &GraphEdge)| it.from < n_nodes && it.to.is_none_or(|to| to < n_nodes);
        let edges = graph.edges.iter().enumerate().filter(known);
        let mut arrows: Vec<Arrow> = edges.map(|(ix, it)| arrow(graph, ix, it)).collect();
        let ends = (0..n_nodes).filter(|it| ends_without_edge(graph, *it));
        arrows.extend(ends.map(|from| Arrow {
            edge: None,
            from,
            to: None,
            label: "no edge left".to_owned(),
            is_fallback: true,
            is_untaken: false,
        }));
        let about: Vec<String> =
            [Some(bounds(graph)), common.filter(|it| !it.is_empty())].into_iter().flatten().collect();
        Sketch {
            title: format!("{} · {}", cut(&graph.name, ROOM), about.join(" · ")),
            boxes: graph.nodes.iter().enumerate().map(sketched).collect(),
            arrows,
        }
    }

    /// Whether a conversation can reach an end of the graph.
    pub(super) fn has_end(&self) -> bool {
        self.arrows.iter().any(|it| it.to.is_none())
    }
}

fn arrow(graph: &ScenarioGraph, ix: usize, edge: &GraphEdge) -> Arrow {
    let is_fallback = edge.when.is_none() && graph.edges_of(edge.from).count() > 1;
    let parts = [
        condition(graph, edge).map(|it| cut(&it, ROOM)),
        edge.handover.as_ref().map(|it| format!("hands over {}", cut(it, ROOM))),
        if edge.turns.is_empty() { edge.taken.map(times) } else { Some(after_turns(&edge.turns)) },
    ];
    Arrow {
        edge: Some(ix),
        from: edge.from,
        to: edge.to,
        label: parts.into_iter().flatten().collect::<Vec<_>>().join(" · "),
        is_fallback,
        is_untaken: edge.taken == Some(0),
    }
}

/// When an edge is taken, in words; nothing to say of the only one.
pub(super) fn condition(graph: &ScenarioGraph, edge: &GraphEdge) -> Option<String> {
    match &edge.when {
        Some(when) => Some(when.clone()),
        None if graph.edges_of(edge.from).count() > 1 => Some("else".to_owned()),
        None => None,
    }
}

/// Whether the conversation ends at a node when none of its conditions holds.
pub(super) fn ends_without_edge(graph: &ScenarioGraph, node: usize) -> bool {
    graph.edges_of(node).all(|it| it.when.is_some())
}

/// `at most 20 turns, 32 calls`
pub(super) fn bounds(graph: &ScenarioGraph) -> String {
    let turns = crate::words::counted(u64::from(graph.turn_limit), "turn");
    format!("at most {turns}, {}", crate::words::counted(graph.max_calls, "call"))
}

/// Who is asked at every node, and what with, when that is the same.
pub(super) fn common_who(graph: &ScenarioGraph) -> Option<String> {
    let (first, rest) = graph.nodes.split_first()?;
    let common = who(first);
    rest.iter().all(|it| who(it) == common).then_some(common)
}

/// Who is asked at a node, and what with.
pub(super) fn who(node: &GraphNode) -> String {
    let named = |what: &str, names: &[String]| (!names.is_empty()).then(|| format!("{what} {}", names.join(", ")));
    let parts = [
        named("asks", &node.subjects),
        node.parser.as_ref().map(|it| format!("read by {it}")),
        named("tools", &node.tools),
        named("without", &node.tools_removed),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// `after turns 1, 3`
fn after_turns(turns: &[u32]) -> String {
    let numbers: Vec<String> = turns.iter().map(u32::to_string).collect();
    format!("after turn{} {}", if turns.len() == 1 { "" } else { "s" }, numbers.join(", "))
}

/// `7×`
pub(super) fn times(n: u64) -> String {
    format!("{}×", grouped(n))
}
