//! Graphs of conversations, drawn by `jurat-report`, with classes in place of styles.

use jurat_core::report::scenario::ScenarioGraph;
use jurat_core::report::transcript::Transcript;
use jurat_report::scenario::{write_graph_fragment, write_path_fragment};
use maud::{Markup, PreEscaped, html};

/// A graph with how often each part was taken, as the run says.
pub(crate) fn drawing(graph: &ScenarioGraph) -> Markup {
    let mut out = Vec::new();
    // Writing to memory cannot fail.
    let _ = write_graph_fragment(&mut out, graph);
    html! { div.graph { (PreEscaped(String::from_utf8_lossy(&out).into_owned())) } }
}

/// The way of one conversation along its graph, the node of the chosen turn marked.
pub(crate) fn conversation(graph: &ScenarioGraph, transcript: &Transcript, turn: Option<u32>) -> Markup {
    let mut own = graph.clone();
    own.nodes.iter_mut().for_each(|it| it.visits = Some(0));
    own.edges.iter_mut().for_each(|it| it.taken = Some(0));
    for turn in &transcript.turns {
        if let Some(node) = own.nodes.iter_mut().find(|it| it.id == turn.node) {
            *node.visits.get_or_insert(0) += 1;
        }
        if let Some(edge) = turn.taken.as_ref().and_then(|it| own.edges.get_mut(it.edge)) {
            *edge.taken.get_or_insert(0) += 1;
        }
    }
    let chosen = turn.and_then(|it| transcript.turns.get(it.checked_sub(1)? as usize));
    let chosen = chosen.and_then(|turn| own.nodes.iter().position(|it| it.id == turn.node));
    let mut out = Vec::new();
    // Writing to memory cannot fail.
    let _ = write_path_fragment(&mut out, &own, chosen);
    html! { div.graph { (PreEscaped(String::from_utf8_lossy(&out).into_owned())) } }
}

/// The graph of the tasks of a plan.
pub(crate) fn plan(plan: &jurat_core::report::plan::PlanReport) -> Markup {
    let mut out = Vec::new();
    // Writing to memory cannot fail.
    let _ = jurat_report::plan::write_fragment(&mut out, plan);
    html! { div.graph { (PreEscaped(String::from_utf8_lossy(&out).into_owned())) } }
}
