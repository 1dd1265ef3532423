//! Lines that are looked at together, adjusted for each other.

use super::line::Line;
use crate::statistics::{Confidence, Word, benjamini_hochberg};

/// Adjusts the lines of a family for each other: a word is given only where q allows it. A family of one is left alone, and lines without a p
/// value have no part in it.
pub fn adjust(lines: &mut [&mut Line], confidence: Confidence) {
    let mut tested: Vec<&mut &mut Line> = lines.iter_mut().filter(|it| it.p.is_some()).collect();
    if tested.len() < 2 {
        return;
    }
    let p: Vec<f64> = tested.iter().filter_map(|it| it.p).collect();
    for (line, q) in tested.iter_mut().zip(benjamini_hochberg(&p)) {
        line.q = Some(q);
        if q > confidence.alpha() {
            line.word = Word::NotShown;
        }
    }
}
