//! The graph of a plan as Mermaid, which code hosts draw in Markdown.

use std::io::{self, Write};

use super::PlanReport;
use super::graph::{Arrow, Block, Graph, Shape};
use crate::scenario;
use crate::visible::visible_line;

/// Writes the graph of a plan as Mermaid, and those of its scenarios beside it.
pub fn write_mermaid(out: &mut dyn Write, plan: &PlanReport) -> io::Result<()> {
    let graph = Graph::of(plan);
    writeln!(out, "flowchart TD")?;
    for (ix, it) in graph.blocks.iter().enumerate() {
        let (open, close) = brackets(it);
        let about = if it.about.is_empty() { String::new() } else { format!("<br/>{}", escaped(&it.about)) };
        writeln!(out, "  n{ix}{open}\"{}{about}\"{close}", escaped(&it.name))?;
    }
    for Arrow { from, to, is_gated } in &graph.arrows {
        writeln!(out, "  n{from} {} n{to}", if *is_gated { "-. passed .->" } else { "-->" })?;
    }
    scenario::write_mermaid_parts(out, &plan.scenarios)
}

fn brackets(it: &Block) -> (&'static str, &'static str) {
    match it.shape {
        Shape::Asking => ("([", "])"),
        Shape::Judge => ("{{", "}}"),
        Shape::Other => ("[", "]"),
    }
}

/// The text with everything as a number that Mermaid might read as its own.
pub(crate) fn escaped(text: &str) -> String {
    let mut mermaid = String::new();
    for it in visible_line(text).chars() {
        if it.is_alphanumeric() || matches!(it, ' ' | '_' | '-' | '.' | ',' | '/' | '·' | '…' | '×') {
            mermaid.push(it);
        } else {
            mermaid.push_str(&format!("#{};", u32::from(it)));
        }
    }
    mermaid
}
