//! Where something stands in what the author wrote.

use std::ops::Range;

/// Names one text among those a definition was read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct SourceId(pub u32);

/// A range of bytes in one source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Span {
    /// The text it points into.
    pub source: SourceId,
    pub start: u32,
    /// The byte after the last.
    pub end: u32,
}

impl Span {
    /// The span of `range` in `source`; positions past 4 GiB are clamped, definitions are far smaller.
    pub fn new(source: SourceId, range: Range<usize>) -> Span {
        let clamp = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Span { source, start: clamp(range.start), end: clamp(range.end.max(range.start)) }
    }

    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// The part of this span that `within` (counted from its start) covers.
    pub fn part(self, within: Range<usize>) -> Span {
        let start = (self.range().start + within.start).min(self.range().end);
        let end = (self.range().start + within.end).min(self.range().end);
        Span::new(self.source, start..end.max(start))
    }
}

/// Something read from a definition, with its place. Two are equal when what they hold is equal, wherever they stand.
#[derive(Debug, Clone, Copy)]
pub struct Spanned<T> {
    pub value: T,
    pub span: Span,
}

impl<T> Spanned<T> {
    /// Puts a value at its place.
    pub fn new(value: T, span: Span) -> Spanned<T> {
        Spanned { value, span }
    }

    /// The same place with another value.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Spanned<U> {
        Spanned { value: change(self.value), span: self.span }
    }
}

impl<T: PartialEq> PartialEq for Spanned<T> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl<T: Eq> Eq for Spanned<T> {}
