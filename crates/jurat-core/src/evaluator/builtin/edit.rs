//! `edit_distance` and `edit_similarity`: how many characters have to be put in, taken out or changed to make one text of another.

/// The Levenshtein distance, in characters.
pub fn distance(left: &str, right: &str) -> usize {
    strsim::levenshtein(left, right)
}

/// One minus the distance as a share of the longer text: 1 for equal texts, 0 for texts without anything in common.
pub fn similarity(left: &str, right: &str) -> f64 {
    let longer = left.chars().count().max(right.chars().count());
    if longer == 0 { 1.0 } else { 1.0 - distance(left, right) as f64 / longer as f64 }
}
