//! The graph of a plan as DOT, which Graphviz draws.

use std::io::{self, Write};

use super::PlanReport;
use super::graph::{Arrow, Graph, Shape};
use crate::scenario;
use crate::visible::visible_line;

/// Writes the graph of a plan as DOT, and those of its scenarios beside it.
pub fn write_dot(out: &mut dyn Write, plan: &PlanReport) -> io::Result<()> {
    let graph = Graph::of(plan);
    writeln!(out, "digraph \"{}\" {{", escaped(&plan.suite))?;
    writeln!(out, "  node [shape=box, style=rounded, fontname=\"sans-serif\"];")?;
    for (ix, it) in graph.blocks.iter().enumerate() {
        let shape = match it.shape {
            Shape::Asking => ", shape=ellipse",
            Shape::Judge => ", shape=hexagon, style=\"\"",
            Shape::Other => "",
        };
        let about = if it.about.is_empty() { String::new() } else { format!("\\n{}", escaped(&it.about)) };
        let tooltip = it.description.as_ref().map_or_else(String::new, |it| format!(", tooltip=\"{}\"", escaped(it)));
        writeln!(out, "  n{ix} [label=\"{}{about}\"{shape}{tooltip}];", escaped(&it.name))?;
    }
    for Arrow { from, to, is_gated } in &graph.arrows {
        let label = if *is_gated { " [style=dashed, label=\"passed\"]" } else { "" };
        writeln!(out, "  n{from} -> n{to}{label};")?;
    }
    let n_layers = graph.blocks.iter().map(|it| it.layer + 1).max().unwrap_or(0);
    for layer in 0..n_layers {
        let row = graph.blocks.iter().enumerate().filter(|(_, it)| it.layer == layer);
        let row: Vec<String> = row.map(|(ix, _)| format!("n{ix};")).collect();
        writeln!(out, "  {{ rank=same; {} }}", row.join(" "))?;
    }
    scenario::write_dot_parts(out, &plan.scenarios)?;
    writeln!(out, "}}")
}

/// The text inside of quotes. Graphviz reads backslashes and the entities of HTML there.
pub(crate) fn escaped(text: &str) -> String {
    visible_line(text).replace('&', "&amp;").replace('\\', "&#92;").replace('"', "\\\"")
}
