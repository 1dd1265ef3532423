//! Where boxes stand and which way arrows take.
//!
//! `rust-sugiyama` orders each row so that few arrows cross and says where everything stands. An arrow over several rows is handed to it
//! as a chain of small boxes, one for each row that it passes, so that nothing stands in its way. The time this takes grows
//! faster than the graph; beyond a size at which drawings are of no use, rows stay in the order in which they were written.

use rust_sugiyama::configure::{Config, RankingType};
use rust_sugiyama::from_vertices_and_edges;

/// A place in a drawing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) y: f64,
}

/// Something that takes room in a row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slot {
    /// Its row, from 0: one more than the last row of all that leads to it.
    pub(crate) layer: usize,
    pub(crate) width: f64,
}

/// How high the rows of a drawing are.
#[derive(Debug, Clone)]
pub(crate) struct Rows {
    heights: Vec<f64>,
    middles: Vec<f64>,
}

impl Rows {
    /// Rows of these heights, so far apart.
    pub(crate) fn new(heights: Vec<f64>, gap: f64) -> Rows {
        let mut top = 0.0;
        let middle = |height: &f64| {
            let middle = top + height / 2.0;
            top += height + gap;
            middle
        };
        Rows { middles: heights.iter().map(middle).collect(), heights }
    }

    pub(crate) fn even(n: usize, height: f64) -> Rows {
        Rows::new(vec![height; n], GAP)
    }

    pub(crate) fn height(&self, layer: usize) -> f64 {
        self.heights.get(layer).copied().unwrap_or(0.0)
    }

    fn middle(&self, layer: usize) -> f64 {
        self.middles.get(layer).copied().unwrap_or(0.0)
    }
}

/// Where everything is.
pub(crate) struct Layout {
    /// The middle of each box.
    pub(crate) blocks: Vec<Point>,
    /// The points between its ends that each arrow goes through, with their rows, one after the other.
    pub(crate) bends: Vec<Vec<(Point, usize)>>,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

/// How far boxes stand apart.
pub(crate) const GAP: f64 = 44.0;

/// The room that an arrow takes in a row that it passes.
pub(crate) const BEND: f64 = 12.0;

/// With more boxes than this, rows are not put in order.
const MANY: usize = 600;

/// With more boxes than this, neighbours are not swapped to see whether that saves a crossing: it takes too long.
const SEVERAL: usize = 150;

impl Layout {
    /// A layout for boxes, with arrows from an earlier row to a later one.
    pub(crate) fn of(boxes: &[Slot], arrows: &[(usize, usize)], rows: &Rows) -> Layout {
        let mut slots: Vec<Slot> = boxes.to_vec();
        let mut edges = Vec::new();
        let mut chains = Vec::new();
        let is_large = slots.len() > MANY;
        for &(from, to) in arrows {
            let (first, last) = (boxes[from].layer + 1, boxes[to].layer);
            let passed = if is_large { last..last } else { first..last };
            let chain: Vec<usize> = passed.map(|layer| added(&mut slots, layer)).collect();
            let stations: Vec<usize> = [from].into_iter().chain(chain.iter().copied()).chain([to]).collect();
            edges.extend(stations.windows(2).map(|it| (it[0], it[1])));
            chains.push(chain);
        }
        let points = if slots.len() > MANY { in_rows(&slots, rows) } else { ordered(&slots, &edges, rows) };
        let right = points.iter().zip(&slots).map(|(it, slot)| it.x + slot.width / 2.0).fold(0.0, f64::max);
        let bottom = points.iter().zip(&slots).map(|(it, slot)| it.y + rows.height(slot.layer) / 2.0);
        let bend = |ix: usize| (points[ix], slots[ix].layer);
        Layout {
            blocks: points[..boxes.len()].to_vec(),
            bends: chains.into_iter().map(|chain| chain.into_iter().map(bend).collect()).collect(),
            width: right,
            height: bottom.fold(0.0, f64::max),
        }
    }
}

fn added(slots: &mut Vec<Slot>, layer: usize) -> usize {
    slots.push(Slot { layer, width: BEND });
    slots.len() - 1
}

/// Rows in an order that crosses few arrows; parts of the graph that nothing joins stand side by side.
fn ordered(slots: &[Slot], edges: &[(usize, usize)], rows: &Rows) -> Vec<Point> {
    let number = |it: usize| u32::try_from(it).unwrap_or(u32::MAX);
    let vertices: Vec<(u32, (f64, f64))> =
        slots.iter().enumerate().map(|(ix, it)| (number(ix), (it.width, rows.height(it.layer)))).collect();
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
            points[ix] = Point { x: left + x - first, y: rows.middle(slots[ix].layer) };
        }
        left += last - first + GAP;
    }
    points
}

/// Rows in the order in which they were written.
fn in_rows(slots: &[Slot], rows: &Rows) -> Vec<Point> {
    let n_rows = slots.iter().map(|it| it.layer + 1).max().unwrap_or(0);
    let mut ends = vec![0.0; n_rows];
    let place = |it: &Slot| {
        let end: &mut f64 = &mut ends[it.layer];
        let x = *end + it.width / 2.0;
        *end += it.width + GAP;
        Point { x, y: rows.middle(it.layer) }
    };
    slots.iter().map(place).collect()
}
