//! Writes scenarios: the graphs along which conversations go, and what a run says about them.
//!
//! [`write_graphs`] is for people, [`write_graphs_json`] for programs; [`write_graphs_mermaid`], [`write_graphs_dot`] and [`write_graphs_svg`] draw the
//! [graphs](jurat_core::report::scenario::ScenarioGraph).

mod dot;
mod json;
mod layers;
mod mermaid;
mod sketch;
mod svg;
mod text;
mod words;

pub(crate) use dot::write_dot_parts;
pub use dot::write_graphs_dot;
pub use json::write_graphs_json;
pub(crate) use json::{write_graph, write_total};
pub use mermaid::write_graphs_mermaid;
pub(crate) use mermaid::write_mermaid_parts;
pub use svg::{GraphMarks, write_graph_fragment, write_graphs_svg};
pub(crate) use svg::{STYLE, drawing};
pub use text::write_graphs;
pub(crate) use words::unexercised;
