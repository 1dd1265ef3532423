//! The lines of a source, found once, so that a place costs a search rather than a walk from the start of the file.
//!
//! It agrees with `Sources::position`, which is the definition; a test compares them.

use std::ops::Range;
use std::path::Path;

use jurat_format::source::{Position, Source, Sources};
use jurat_format::value::Span;

/// A source and where its lines begin. Lines are counted from 0 here.
pub(crate) struct Lines<'s> {
    pub(crate) path: &'s Path,
    pub(crate) text: &'s str,
    starts: Vec<usize>,
}

impl<'s> Lines<'s> {
    /// The lines of every source, in the order of their ids.
    pub(crate) fn of_all(sources: &'s Sources) -> Vec<Lines<'s>> {
        sources.iter().map(|(_, source)| Lines::of(source)).collect()
    }

    fn of(source: &'s Source) -> Lines<'s> {
        let starts = std::iter::once(0).chain(source.text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Lines { path: &source.path, text: &source.text, starts }
    }

    /// The bytes that a span covers, clamped to the text and off the middle of characters.
    pub(crate) fn covered(&self, span: Span) -> Range<usize> {
        let start = self.text.floor_char_boundary(span.range().start);
        start..self.text.floor_char_boundary(span.range().end).max(start)
    }

    /// The line that byte `at` is on; a line ending is on the line it ends.
    pub(crate) fn line_at(&self, at: usize) -> usize {
        self.starts.partition_point(|start| *start <= at) - 1
    }

    /// The bytes of a line without its ending.
    pub(crate) fn range(&self, line: usize) -> Range<usize> {
        let start = self.starts[line];
        let Some(next) = self.starts.get(line + 1) else { return start..self.text.len() };
        let content = &self.text[start..next - 1];
        start..start + content.strip_suffix('\r').unwrap_or(content).len()
    }

    /// The place for people: line and column from 1, columns in characters.
    pub(crate) fn position(&self, at: usize) -> Position {
        let line = self.line_at(at);
        Position { line: line + 1, column: self.text[self.starts[line]..at].chars().count() + 1 }
    }
}

#[cfg(test)]
mod tests {
    use jurat_format::value::SourceId;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn positions_are_those_of_the_core(text in "[aé日\t\r\n]{0,24}", start in 0_usize..80, length in 0_usize..80) {
            let mut sources = Sources::default();
            let source: SourceId = sources.add("a.yaml", text);
            let span = Span::new(source, start..start + length);
            let lines = &Lines::of_all(&sources)[0];
            let covered = lines.covered(span);
            prop_assert_eq!((lines.position(covered.start), lines.position(covered.end)), sources.position(span));
        }
    }
}
