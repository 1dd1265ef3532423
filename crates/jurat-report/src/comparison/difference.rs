//! What changed from one text to another, line by line.

use similar::{ChangeTag, TextDiff};

/// A line of a difference.
pub(super) struct DiffLine {
    pub(super) sign: char,
    pub(super) text: String,
}

/// The lines that changed, with how many were left out beyond `most`.
pub(super) fn lines(was: &str, now: &str, most: usize) -> (Vec<DiffLine>, usize) {
    let diff = TextDiff::from_lines(was, now);
    let changed = diff.iter_all_changes().filter_map(|change| {
        let sign = match change.tag() {
            ChangeTag::Delete => '-',
            ChangeTag::Insert => '+',
            ChangeTag::Equal => return None,
        };
        Some(DiffLine { sign, text: change.value().trim_end_matches(['\n', '\r']).to_owned() })
    });
    let mut lines: Vec<DiffLine> = changed.collect();
    let hidden = lines.len().saturating_sub(most);
    lines.truncate(most);
    (lines, hidden)
}
