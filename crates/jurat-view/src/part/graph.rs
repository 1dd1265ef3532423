//! Graphs of tasks and of conversations, drawn by `jurat-report`, with classes in place of styles. Boxes are links.

use std::collections::BTreeMap;

use jurat_core::report::plan::PlanReport;
use jurat_core::report::scenario::ScenarioGraph;
use jurat_core::report::transcript::Transcript;
use jurat_core::report::{RunReport, TaskTotal};
use jurat_engine::view::query::{edge_names, quoted_name, quoted_value};
use jurat_report::plan::{BoxMark, PlanMarks};
use jurat_report::scenario::{GraphMarks, write_graph_fragment};
use jurat_report::{counted, grouped};
use maud::{Markup, PreEscaped, html};

use crate::route::Route;

/// A graph with how often each part was taken, as the run says. Its nodes and edges lead to the conversations that came past them.
pub(crate) fn drawing(run: &str, graph: &ScenarioGraph) -> Markup {
    let names = edge_names(graph);
    let cases = |key: &str, part: &str| {
        let query = format!("{key}:{}={}", quoted_name(&graph.name), quoted_value(part));
        Some(Route::cases(run, query).to_string())
    };
    let marks = GraphMarks {
        chosen: None,
        node: &|ix| cases("node", graph.node_id(ix)),
        edge: &|ix| cases("edge", names.get(ix)?),
    };
    drawn(graph, &marks)
}

/// The way of one conversation along its graph: edges have the turns after which they were taken, the node of the chosen turn is marked, and nodes
/// and edges lead to their first turns, which `at_turn` addresses.
pub(crate) fn conversation(
    graph: &ScenarioGraph,
    transcript: &Transcript,
    turn: Option<u32>,
    at_turn: &dyn Fn(u32) -> Route,
) -> Markup {
    let mut own = graph.clone();
    own.nodes.iter_mut().for_each(|it| it.visits = Some(0));
    own.edges.iter_mut().for_each(|it| it.taken = Some(0));
    for (turn, number) in transcript.turns.iter().zip(1..) {
        if let Some(node) = own.nodes.iter_mut().find(|it| it.id == turn.node) {
            *node.visits.get_or_insert(0) += 1;
        }
        if let Some(edge) = turn.taken.as_ref().and_then(|it| own.edges.get_mut(it.edge)) {
            *edge.taken.get_or_insert(0) += 1;
            edge.turns.push(number);
        }
    }
    let chosen = turn.and_then(|it| transcript.turns.get(it.checked_sub(1)? as usize));
    let chosen = chosen.and_then(|turn| own.nodes.iter().position(|it| it.id == turn.node));
    let first_turn = |node: usize| {
        let ix = transcript.turns.iter().position(|it| it.node == own.nodes[node].id)?;
        Some(at_turn(ix as u32 + 1).to_string())
    };
    let after = |edge: usize| Some(at_turn(*own.edges[edge].turns.first()?).to_string());
    drawn(&own, &GraphMarks { chosen, node: &first_turn, edge: &after })
}

fn drawn(graph: &ScenarioGraph, marks: &GraphMarks<'_>) -> Markup {
    let mut out = Vec::new();
    // Writing to memory cannot fail.
    let _ = write_graph_fragment(&mut out, graph, marks);
    html! { div.graph { (PreEscaped(String::from_utf8_lossy(&out).into_owned())) } }
}

/// In how many cases each task was judged after one that it waits for, by the ids of both.
pub(crate) type Followed = BTreeMap<(String, String), u64>;

/// The graph of the tasks of a plan, each with how often it ended how, and leading to the cases where it did not pass. Arrows lead to the cases in which they
/// were followed.
pub(crate) fn plan(run: &str, plan: &PlanReport, report: &RunReport, followed: &Followed) -> Markup {
    let task = |id: &str| {
        let task = report.tasks.iter().find(|it| it.id == id)?;
        Some(BoxMark { words: counts(task), link: Route::cases(run, query(task)).to_string() })
    };
    let arrow = |from: &str, to: &str| {
        let n = followed.get(&(from.to_owned(), to.to_owned()))?;
        let words = format!("{to} after {from}: {}", counted(*n, "case"));
        Some(BoxMark { words, link: Route::cases(run, following(plan, from, to)).to_string() })
    };
    let mut out = Vec::new();
    // Writing to memory cannot fail.
    let _ = jurat_report::plan::write_fragment(&mut out, plan, &PlanMarks { task: &task, arrow: &arrow });
    html! { div.graph { (PreEscaped(String::from_utf8_lossy(&out).into_owned())) } }
}

/// The cases in which a task was judged after one that it waits for: what follows a gate waits for it to pass.
pub(crate) fn following(plan: &PlanReport, from: &str, to: &str) -> String {
    let is_gate = plan.tasks().any(|it| it.id == from && it.gate.routes());
    let before = if is_gate { "passed" } else { "passed,failed,measured" };
    format!("task:{}={before} task:{}=passed,failed,measured,error", quoted_name(from), quoted_name(to))
}

/// `✓ 6 ✗ 1 – 2`
fn counts(task: &TaskTotal) -> String {
    let it = &task.counts;
    let parts = [("✓", it.passed), ("✗", it.failed), ("≈", it.measured), ("–", it.skipped), ("!", it.errored)];
    let words: Vec<String> =
        parts.iter().filter(|(_, n)| *n > 0).map(|(glyph, n)| format!("{glyph} {}", grouped(*n))).collect();
    if words.is_empty() { "not run".to_owned() } else { words.join("  ") }
}

/// The cases that a reader of the graph looks for: those where the task failed, else where it could not be judged, else where it was judged at all.
fn query(task: &TaskTotal) -> String {
    let counts = &task.counts;
    let verdict = match () {
        () if counts.failed > 0 => "failed",
        () if counts.errored > 0 => "error",
        () if counts.measured > 0 => "measured",
        () if counts.passed > 0 => "passed",
        () => "skipped",
    };
    format!("task:{}={verdict}", quoted_name(&task.id))
}
