//! Graphs of scenarios as Mermaid.

use std::io::{self, Write};

use jurat_core::report::scenario::ScenarioGraph;

use super::sketch::Sketch;
use crate::plan::mermaid::escaped;

/// Writes graphs as one Mermaid flowchart.
pub fn write_graphs_mermaid(out: &mut dyn Write, graphs: &[ScenarioGraph]) -> io::Result<()> {
    writeln!(out, "flowchart TD")?;
    write_mermaid_parts(out, graphs)
}

/// Writes graphs as parts of a flowchart, each in a frame of its own.
pub(crate) fn write_mermaid_parts(out: &mut dyn Write, graphs: &[ScenarioGraph]) -> io::Result<()> {
    for (n, graph) in graphs.iter().enumerate() {
        let sketch = Sketch::of(graph);
        writeln!(out, "  subgraph s{n}[\"{}\"]", escaped(&sketch.title))?;
        for (ix, it) in sketch.boxes.iter().enumerate() {
            let (open, close) = if it.is_entry { ("([", "])") } else { ("[", "]") };
            let lines = [&it.name, &it.question, &it.who].into_iter().filter(|it| !it.is_empty());
            let lines: Vec<String> = lines.map(|it| escaped(it)).collect();
            writeln!(out, "    s{n}n{ix}{open}\"{}\"{close}", lines.join("<br/>"))?;
        }
        if sketch.has_end() {
            writeln!(out, "    s{n}end(((end)))")?;
        }
        for it in &sketch.arrows {
            let to = it.to.map_or_else(|| format!("s{n}end"), |to| format!("s{n}n{to}"));
            let line = if it.is_fallback { "-.->" } else { "-->" };
            let label = if it.label.is_empty() { String::new() } else { format!("|\"{}\"|", escaped(&it.label)) };
            writeln!(out, "    s{n}n{} {line}{label} {to}", it.from)?;
        }
        writeln!(out, "  end")?;
    }
    Ok(())
}
