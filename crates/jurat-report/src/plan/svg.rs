//! The graph of a plan as SVG.

use std::io::{self, Write};
use std::iter;

use unicode_width::UnicodeWidthStr;

use super::PlanReport;
use super::graph::{Block, Graph};
use crate::layout::{Layout, Point, Rows, Slot};
use crate::scenario;
use crate::svg;
use crate::svg::{BOX_HEIGHT, Drawing, LETTER, PADDING, SMALL_LETTER, Station, boxed, downwards, write_document};
use crate::xml::Tag;

/// Writes the graph of a plan as SVG, and below it those of its scenarios. An arrow out of a gate is broken: it is followed only when the
/// gate passes.
pub fn write_svg(out: &mut dyn Write, plan: &PlanReport) -> io::Result<()> {
    let style = if plan.scenarios.is_empty() { "" } else { scenario::STYLE };
    // Without tasks there is nothing to draw but conversations.
    let of_tasks = (plan.stages.len() + plan.scenarios.len() == 0 || !plan.stages.is_empty()).then(|| tasks(plan));
    let drawings: Vec<Drawing> = of_tasks.into_iter().chain(plan.scenarios.iter().map(scenario::drawing)).collect();
    write_document(out, &plan.suite, &drawings, style)
}

/// Writes the graph of the tasks of a plan as a part of a page.
pub fn write_fragment(out: &mut dyn Write, plan: &PlanReport) -> io::Result<()> {
    svg::write_fragment(out, "the graph of tasks", &tasks(plan))
}

fn tasks(plan: &PlanReport) -> Drawing {
    let graph = Graph::of(plan);
    let widths: Vec<f64> = graph.blocks.iter().map(width).collect();
    let slots: Vec<Slot> =
        graph.blocks.iter().zip(&widths).map(|(it, width)| Slot { layer: it.layer, width: *width }).collect();
    let arrows: Vec<(usize, usize)> = graph.arrows.iter().map(|it| (it.from, it.to)).collect();
    let n_layers = slots.iter().map(|it| it.layer + 1).max().unwrap_or(0);
    let layout = Layout::of(&slots, &arrows, &Rows::even(n_layers, BOX_HEIGHT));
    let mut body = String::new();
    for (arrow, bends) in graph.arrows.iter().zip(&layout.bends) {
        let class = if arrow.is_gated { "arrow gated" } else { "arrow" };
        // A bend is as high as a box, so that the arrow passes its row upright.
        let (from, to) = (layout.blocks[arrow.from], layout.blocks[arrow.to]);
        let stations = iter::once(from).chain(bends.iter().map(|(at, _)| *at)).chain([to]);
        let stations: Vec<Station> = stations.map(|at| Station { at, height: BOX_HEIGHT, has_words: false }).collect();
        body += &format!("{}\n", Tag::new("path").with("class", class).with("d", downwards(&stations)).empty());
    }
    for ((it, width), at) in graph.blocks.iter().zip(&widths).zip(&layout.blocks) {
        body += &rendered(it, *width, *at);
    }
    Drawing { title: None, width: layout.width, height: layout.height, body }
}

/// As wide as its longer line.
fn width(it: &Block) -> f64 {
    let (name, about) = (it.name.width() as f64 * LETTER, it.about.width() as f64 * SMALL_LETTER);
    name.max(about) + 2.0 * PADDING
}

fn rendered(it: &Block, width: f64, at: Point) -> String {
    let gate = if it.is_gate { " gate" } else { "" };
    let class = format!("box {}{gate}", it.shape.name());
    let lines = [("name", &*it.name), ("about", &*it.about)];
    boxed(&class, at, (width, BOX_HEIGHT), it.description.as_deref(), &lines)
}
