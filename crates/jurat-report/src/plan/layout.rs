//! Where boxes stand and which way arrows take.
//!
//! `rust-sugiyama` orders each row so that few arrows cross and says where everything stands. An arrow over several rows is handed to it
//! as a chain of small boxes, one for each row that it passes, so that nothing stands in its way. The time this takes grows
//! faster than the graph; beyond a size at which nobody reads drawings, rows stay in the order in which they were written.

use rust_sugiyama::configure::{Config, RankingType};
use rust_sugiyama::from_vertices_and_edges;

use super::graph::Graph;

/// A place in a drawing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
}

/// Where everything is.
pub(super) struct Layout {
    /// The middle of each box.
    pub(super) blocks: Vec<Point>,
    /// The points between its ends that each arrow goes through, row by row.
    pub(super) bends: Vec<Vec<Point>>,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// How far boxes stand apart.
const GAP: f64 = 44.0;

/// The room that an arrow takes in a row that it passes.
const BEND: f64 = 12.0;

/// With more boxes than this, rows are not put in order.
const MANY: usize = 600;

/// With more boxes than this, neighbours are not swapped to see whether that saves a crossing: it takes too long.
const SEVERAL: usize = 150;

impl Layout {
    /// A layout for boxes of these widths and one height.
    pub(super) fn of(graph: &Graph, widths: &[f64], height: f64) -> Layout {
        let mut middles: Vec<Slot> =
            graph.blocks.iter().zip(widths).map(|(it, width)| Slot { layer: it.layer, width: *width }).collect();
        let mut edges = Vec::new();
        let mut chains = Vec::new();
        let is_large = middles.len() > MANY;
        for arrow in &graph.arrows {
            let (first, last) = (graph.blocks[arrow.from].layer + 1, graph.blocks[arrow.to].layer);
            let passed = if is_large { last..last } else { first..last };
            let chain: Vec<usize> = passed.map(|layer| added(&mut middles, layer)).collect();
            let stations: Vec<usize> =
                [arrow.from].into_iter().chain(chain.iter().copied()).chain([arrow.to]).collect();
            edges.extend(stations.windows(2).map(|it| (it[0], it[1])));
            chains.push(chain);
        }
        let points = if middles.len() > MANY { in_rows(&middles, height) } else { ordered(&middles, &edges, height) };
        let right = points.iter().zip(&middles).map(|(it, slot)| it.x + slot.width / 2.0).fold(0.0, f64::max);
        let bottom = points.iter().map(|it| it.y + height / 2.0).fold(0.0, f64::max);
        Layout {
            blocks: points[..graph.blocks.len()].to_vec(),
            bends: chains.into_iter().map(|chain| chain.into_iter().map(|it| points[it]).collect()).collect(),
            width: right,
            height: bottom,
        }
    }
}

/// Something that takes room in a row.
struct Slot {
    layer: usize,
    width: f64,
}

fn added(slots: &mut Vec<Slot>, layer: usize) -> usize {
    slots.push(Slot { layer, width: BEND });
    slots.len() - 1
}

/// Rows in an order that crosses few arrows; parts of the graph that nothing joins stand side by side.
fn ordered(slots: &[Slot], edges: &[(usize, usize)], height: f64) -> Vec<Point> {
    let number = |it: usize| u32::try_from(it).unwrap_or(u32::MAX);
    let vertices: Vec<(u32, (f64, f64))> =
        slots.iter().enumerate().map(|(ix, it)| (number(ix), (it.width, height))).collect();
    let edges: Vec<(u32, u32)> = edges.iter().map(|(from, to)| (number(*from), number(*to))).collect();
    let config = Config {
        vertex_spacing: GAP,
        // Rows are stages: what waits for nothing stands in the first.
        ranking_type: RankingType::Up,
        dummy_vertices: false,
        transpose: slots.len() <= SEVERAL,
        ..Config::default()
    };
    let mut points = vec![Point { x: 0.0, y: 0.0 }; slots.len()];
    let mut left = 0.0;
    for (part, _, _) in from_vertices_and_edges(&vertices, &edges, &config) {
        let ends = part.iter().map(|(ix, (x, _))| (x - slots[*ix].width / 2.0, x + slots[*ix].width / 2.0));
        let (first, last) = ends.fold((f64::MAX, f64::MIN), |(low, high), (from, to)| (low.min(from), high.max(to)));
        for (ix, (x, _)) in part {
            points[ix] = Point { x: left + x - first, y: row(slots[ix].layer, height) };
        }
        left += last - first + GAP;
    }
    points
}

/// Rows in the order in which they were written.
fn in_rows(slots: &[Slot], height: f64) -> Vec<Point> {
    let n_rows = slots.iter().map(|it| it.layer + 1).max().unwrap_or(0);
    let mut ends = vec![0.0; n_rows];
    let place = |it: &Slot| {
        let end: &mut f64 = &mut ends[it.layer];
        let x = *end + it.width / 2.0;
        *end += it.width + GAP;
        Point { x, y: row(it.layer, height) }
    };
    slots.iter().map(place).collect()
}

/// The middle of a row.
fn row(layer: usize, height: f64) -> f64 {
    layer as f64 * (height + GAP) + height / 2.0
}
