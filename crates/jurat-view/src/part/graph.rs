//! Graphs of tasks and of conversations, drawn by `jurat-report`, with classes in place of styles. Boxes are links.

use jurat_core::report::plan::PlanReport;
use jurat_core::report::scenario::ScenarioGraph;
use jurat_core::report::transcript::Transcript;
use jurat_core::report::{RunReport, TaskTotal};
use jurat_engine::view::query::{quoted_name, quoted_value};
use jurat_report::grouped;
use jurat_report::plan::BoxMark;
use jurat_report::scenario::{NodeMarks, write_graph_fragment};
use maud::{Markup, PreEscaped, html};

use crate::route::Route;

/// A graph with how often each part was taken, as the run says. Its nodes lead to the conversations.
pub(crate) fn drawing(run: &str, graph: &ScenarioGraph) -> Markup {
    let cases = Route::cases(run, format!("id:{}", quoted_value(&graph.name))).to_string();
    drawn(graph, &NodeMarks { chosen: None, link: &|_| Some(cases.clone()) })
}

/// The way of one conversation along its graph: edges have the turns after which they were taken, the node of the chosen turn is marked, and nodes lead to
/// their first turns, which `at_turn` addresses.
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
    drawn(&own, &NodeMarks { chosen, link: &first_turn })
}

fn drawn(graph: &ScenarioGraph, marks: &NodeMarks<'_>) -> Markup {
    let mut out = Vec::new();
    // Writing to memory cannot fail.
    let _ = write_graph_fragment(&mut out, graph, marks);
    html! { div.graph { (PreEscaped(String::from_utf8_lossy(&out).into_owned())) } }
}

/// The graph of the tasks of a plan, each with how often it ended how, and leading to the cases where it did not pass.
pub(crate) fn plan(run: &str, plan: &PlanReport, report: &RunReport) -> Markup {
    let marking = |id: &str| {
        let task = report.tasks.iter().find(|it| it.id == id)?;
        Some(BoxMark { words: counts(task), link: Route::cases(run, query(task)).to_string() })
    };
    let mut out = Vec::new();
    // Writing to memory cannot fail.
    let _ = jurat_report::plan::write_fragment(&mut out, plan, &marking);
    html! { div.graph { (PreEscaped(String::from_utf8_lossy(&out).into_owned())) } }
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
