//! The graph of a plan as SVG.

use std::io::{self, Write};
use std::iter;

use unicode_width::UnicodeWidthStr;

use super::PlanReport;
use super::graph::{Arrow, Block, Graph};
use crate::layout::{Layout, Point, Rows, Slot};
use crate::scenario;
use crate::svg;
use crate::svg::{
    BOX_HEIGHT, Drawing, LETTER, Lead, PADDING, SMALL_LETTER, Station, TALL_BOX, boxed, downwards, linked, way,
    write_document,
};

/// What a page adds to the box of a task: a line below its kind, and where the box leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoxMark {
    pub words: String,
    pub link: String,
}

/// What a page adds to the graph of a plan.
pub struct PlanMarks<'m> {
    /// To the box of a task, by its id.
    pub task: &'m dyn Fn(&str) -> Option<BoxMark>,
    /// To the arrow from a task to one that waits for it: what it is called, and where it leads.
    pub arrow: &'m dyn Fn(&str, &str) -> Option<BoxMark>,
}

impl PlanMarks<'_> {
    const NONE: PlanMarks<'static> = PlanMarks { task: &|_| None, arrow: &|_, _| None };

    /// Where an arrow leads. One from the question to the subject leads nowhere.
    fn lead(&self, graph: &Graph, arrow: &Arrow) -> Option<Lead> {
        let task = |ix: usize| graph.blocks[ix].task.as_deref();
        let BoxMark { words, link } = (self.arrow)(task(arrow.from)?, task(arrow.to)?)?;
        Some(Lead { link, name: Some(words) })
    }
}

/// Writes the graph of a plan as SVG, and below it those of its scenarios. An arrow out of a gate is broken: it is followed only when the
/// gate passes.
pub fn write_svg(out: &mut dyn Write, plan: &PlanReport) -> io::Result<()> {
    let style = if plan.scenarios.is_empty() { "" } else { scenario::STYLE };
    // Without tasks there is nothing to draw but conversations.
    let of_tasks = (plan.stages.len() + plan.scenarios.len() == 0 || !plan.stages.is_empty())
        .then(|| tasks(plan, &PlanMarks::NONE));
    let drawings: Vec<Drawing> = of_tasks.into_iter().chain(plan.scenarios.iter().map(scenario::drawing)).collect();
    write_document(out, &plan.suite, &drawings, style)
}

/// Writes the graph of the tasks of a plan as a part of a page, which adds marks.
pub fn write_fragment(out: &mut dyn Write, plan: &PlanReport, marks: &PlanMarks<'_>) -> io::Result<()> {
    svg::write_fragment(out, "the graph of tasks", &tasks(plan, marks))
}

fn tasks(plan: &PlanReport, added: &PlanMarks<'_>) -> Drawing {
    let graph = Graph::of(plan);
    let marks: Vec<Option<BoxMark>> = graph.blocks.iter().map(|it| (added.task)(it.task.as_deref()?)).collect();
    let height = if marks.iter().any(Option::is_some) { TALL_BOX } else { BOX_HEIGHT };
    let widths: Vec<f64> = graph.blocks.iter().zip(&marks).map(|(it, mark)| width(it, mark.as_ref())).collect();
    let slots: Vec<Slot> =
        graph.blocks.iter().zip(&widths).map(|(it, width)| Slot { layer: it.layer, width: *width }).collect();
    let arrows: Vec<(usize, usize)> = graph.arrows.iter().map(|it| (it.from, it.to)).collect();
    let n_layers = slots.iter().map(|it| it.layer + 1).max().unwrap_or(0);
    let layout = Layout::of(&slots, &arrows, &Rows::even(n_layers, height));
    let mut body = String::new();
    for (arrow, bends) in graph.arrows.iter().zip(&layout.bends) {
        let class = if arrow.is_gated { "arrow gated" } else { "arrow" };
        // A bend is as high as a box, so that the arrow passes its row upright.
        let (from, to) = (layout.blocks[arrow.from], layout.blocks[arrow.to]);
        let stations = iter::once(from).chain(bends.iter().map(|(at, _)| *at)).chain([to]);
        let stations: Vec<Station> = stations.map(|at| Station { at, height, has_words: false }).collect();
        body += &way(class, &downwards(&stations), added.lead(&graph, arrow));
    }
    for (((it, mark), width), at) in graph.blocks.iter().zip(&marks).zip(&widths).zip(&layout.blocks) {
        body += &rendered(it, mark.as_ref(), (*width, height), *at);
    }
    Drawing { title: None, width: layout.width, height: layout.height, body }
}

/// As wide as its longest line.
fn width(it: &Block, mark: Option<&BoxMark>) -> f64 {
    let small = it.about.width().max(mark.map_or(0, |it| it.words.width()));
    (it.name.width() as f64 * LETTER).max(small as f64 * SMALL_LETTER) + 2.0 * PADDING
}

fn rendered(it: &Block, mark: Option<&BoxMark>, size: (f64, f64), at: Point) -> String {
    let gate = if it.is_gate { " gate" } else { "" };
    let class = format!("box {}{gate}", it.shape.name());
    let words = mark.map_or("", |it| &*it.words);
    let lines = [("name", &*it.name), ("about", &*it.about), ("count", words)];
    linked(mark.map(|it| &*it.link), boxed(&class, at, size, it.description.as_deref(), &lines))
}
