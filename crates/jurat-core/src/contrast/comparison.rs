//! Everything that there is to say about two or more sides.

use std::collections::BTreeMap;

use super::change::{Change, ChangeCounts};
use super::labels::LabelChanges;
use super::line::{About, Line};
use super::provenance::Note;
use super::ranking::Ranking;
use crate::statistics::Confidence;

/// A run, or a part of one, that is compared.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Side {
    /// As it was asked for.
    pub name: String,
    pub run_id: String,
    pub suite: String,
    pub suite_hash: String,
    /// The prompt and the subject that were selected.
    pub prompt: Option<String>,
    pub subject: Option<String>,
    pub cases: u64,
    /// Whether the run covers everything it was asked to.
    pub is_complete: bool,
}

/// How many units of two sides are paired with each other, and what became of the others.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PairCounts {
    /// What belongs to the key beside the id of the row: `prompt`, `subject`.
    pub key: Vec<&'static str>,
    /// Whether ids are hashes of content, so that a changed row has no partner.
    pub by_content: bool,
    /// Both judged.
    pub pairs: u64,
    pub unknown: u64,
    pub not_applicable: u64,
    /// Rows with the same id and other content, which are left out.
    pub changed: u64,
    /// The same, compared all the same.
    pub changed_included: u64,
    pub only_in_base: u64,
    pub only_in_new: u64,
    /// How many cases went from one verdict to another, both in words.
    pub changes: BTreeMap<(String, String), u64>,
    pub clusters: u64,
    pub cluster_by: Option<String>,
    /// The most repetitions of a unit on either side.
    pub repeat: [u32; 2],
}

impl PairCounts {
    /// The units that are in both sides.
    pub fn in_both(&self) -> u64 {
        self.pairs + self.unknown + self.not_applicable + self.changed
    }

    /// Every unit of either side.
    pub fn all(&self) -> u64 {
        self.in_both() + self.only_in_base + self.only_in_new
    }

    pub fn is_repeated(&self) -> bool {
        self.repeat.iter().any(|it| *it > 1)
    }
}

/// NEW compared with BASE.
#[derive(Debug, Clone, PartialEq)]
pub struct Contrast {
    /// Their places among the sides.
    pub base: usize,
    pub new: usize,
    pub counts: PairCounts,
    pub notes: Vec<Note>,
    pub lines: Vec<Line>,
    pub labels: Vec<LabelChanges>,
    /// How many units ended otherwise.
    pub n_changes: ChangeCounts,
    /// Those of them that are listed, the worst first.
    pub changes: Vec<Change>,
    /// Units that a side could not judge, as many as were asked for, in the order of BASE.
    pub unjudged: Vec<Change>,
    /// Tasks that one side lacks.
    pub only_in_base: Vec<String>,
    pub only_in_new: Vec<String>,
}

impl Contrast {
    /// The share of cases that passed: the line that the headline is about.
    pub fn headline(&self) -> Option<&Line> {
        self.lines.iter().find(|it| it.about == About::Cases)
    }
}

/// Two or more sides, compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    pub confidence: Confidence,
    /// BASE first.
    pub sides: Vec<Side>,
    pub is_unpaired: bool,
    /// One for each NEW.
    pub contrasts: Vec<Contrast>,
    /// Of three or more sides.
    pub ranking: Option<Ranking>,
}
