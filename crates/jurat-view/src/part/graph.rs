//! Graphs of conversations, drawn by `jurat-report`, with classes in place of styles.

use jurat_core::report::scenario::ScenarioGraph;
use jurat_core::report::transcript::Transcript;
use jurat_report::scenario::write_graph_fragment;
use maud::{Markup, PreEscaped, html};

/// A graph with how often each part was taken, as the run says.
pub(crate) fn drawing(graph: &ScenarioGraph) -> Markup {
    let mut out = Vec::new();
    // Writing to memory cannot fail.
    let _ = write_graph_fragment(&mut out, graph);
    html! { div.graph { (PreEscaped(String::from_utf8_lossy(&out).into_owned())) } }
}

/// The way of one conversation along its graph.
pub(crate) fn conversation(graph: &ScenarioGraph, transcript: &Transcript, _turn: Option<u32>) -> Markup {
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
    drawing(&own)
}

/// The graph of the tasks of a plan.
pub(crate) fn plan(plan: &jurat_core::report::plan::PlanReport) -> Markup {
    let mut out = Vec::new();
    // Writing to memory cannot fail.
    let _ = jurat_report::plan::write_fragment(&mut out, plan);
    html! { div.graph { (PreEscaped(String::from_utf8_lossy(&out).into_owned())) } }
}
