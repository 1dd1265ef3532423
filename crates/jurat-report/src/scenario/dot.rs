//! Graphs of scenarios as DOT.

use std::io::{self, Write};

use jurat_core::report::scenario::ScenarioGraph;

use super::sketch::Sketch;
use crate::plan::dot::escaped;

/// Writes graphs as one DOT graph of this name.
pub fn write_graphs_dot(out: &mut dyn Write, name: &str, graphs: &[ScenarioGraph]) -> io::Result<()> {
    writeln!(out, "digraph \"{}\" {{", escaped(name))?;
    writeln!(out, "  node [shape=box, style=rounded, fontname=\"sans-serif\"];")?;
    write_dot_parts(out, graphs)?;
    writeln!(out, "}}")
}

/// Writes graphs as parts of another, each in a frame of its own.
pub(crate) fn write_dot_parts(out: &mut dyn Write, graphs: &[ScenarioGraph]) -> io::Result<()> {
    for (n, graph) in graphs.iter().enumerate() {
        let sketch = Sketch::of(graph);
        writeln!(out, "  subgraph cluster_{n} {{")?;
        writeln!(out, "    label=\"{}\";", escaped(&sketch.title))?;
        for (ix, it) in sketch.boxes.iter().enumerate() {
            let lines = [&it.name, &it.question, &it.who].into_iter().filter(|it| !it.is_empty());
            let lines: Vec<String> = lines.map(|it| escaped(it)).collect();
            let shape = if it.is_entry { ", shape=ellipse" } else { "" };
            let untaken = if it.is_untaken { ", color=gray, fontcolor=gray" } else { "" };
            let tooltip =
                it.description.as_ref().map_or_else(String::new, |it| format!(", tooltip=\"{}\"", escaped(it)));
            writeln!(out, "    s{n}n{ix} [label=\"{}\"{shape}{untaken}{tooltip}];", lines.join("\\n"))?;
        }
        if sketch.has_end() {
            writeln!(out, "    s{n}end [label=\"end\", shape=doublecircle];")?;
        }
        for it in &sketch.arrows {
            let to = it.to.map_or_else(|| format!("s{n}end"), |to| format!("s{n}n{to}"));
            let style = [
                (!it.label.is_empty()).then(|| format!("label=\"{}\"", escaped(&it.label))),
                it.is_fallback.then(|| "style=dashed".to_owned()),
                it.is_untaken.then(|| "color=gray, fontcolor=gray".to_owned()),
            ];
            let style: Vec<String> = style.into_iter().flatten().collect();
            let style = if style.is_empty() { String::new() } else { format!(" [{}]", style.join(", ")) };
            writeln!(out, "    s{n}n{} -> {to}{style};", it.from)?;
        }
        writeln!(out, "  }}")?;
    }
    Ok(())
}
