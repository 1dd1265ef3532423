//! A query over one run: which cases it finds, in which order.

use jurat_core::plan::CaseIx;
use jurat_store::run::Column;

use super::QueryProblem;
use super::columns::Columns;
use super::mask::Mask;
use super::reading::Reading;
use super::scan::{Holds, Scanned, Seeking};
use super::syntax::{Operator, Written};
use super::term::{Meaning, RowTest, Test};
use crate::view::{RunView, ViewError};

/// A query that was read for one run.
#[derive(Debug, Clone)]
pub struct Query {
    text: String,
    written: Written,
    tree: Tree,
}

/// A query with the meaning of its terms.
#[derive(Debug, Clone, PartialEq)]
enum Tree {
    All(Vec<Tree>),
    Any(Vec<Tree>),
    Not(Box<Tree>),
    /// Decided by columns.
    Cases(Mask),
    Row(RowTest),
}

impl Query {
    /// Reads a query. What is wrong with it is the inner error.
    pub fn parse(text: &str, view: &RunView, columns: &Columns<'_>) -> Result<Result<Query, QueryProblem>, ViewError> {
        let written = match Written::parse(text) {
            Ok(written) => written,
            Err(problem) => return Ok(Err(problem)),
        };
        let meaning = Meaning { reading: Reading { query: text }, view, columns };
        let tree = Tree::of(&written, &meaning)?;
        Ok(tree.map(|tree| Query { text: text.to_owned(), written, tree }))
    }

    /// The query as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The terms that must all hold, each as text, with the query that is left without it.
    pub fn terms(&self) -> Vec<(String, String)> {
        self.written.terms()
    }

    /// Whether rows or messages have to be looked into.
    pub fn looks_into_rows(&self) -> bool {
        self.tree.has_row_tests()
    }

    /// The cases that columns let through; without tests of rows, those that are found.
    pub fn candidates(&self, view: &RunView, columns: &Columns<'_>) -> Result<Mask, ViewError> {
        let there = Mask::of(columns.codes(view, Column::CASE)?.iter().map(Option::is_some));
        let n = view.reader().n_case_numbers()?;
        Ok(there.and(&self.tree.bounds(n).1))
    }

    /// Looks into rows, from a case on, until `seeking` has enough or ran out of time.
    pub fn scan(
        &self,
        view: &RunView,
        candidates: &Mask,
        from: u32,
        seeking: &mut dyn Seeking,
    ) -> Result<Scanned, ViewError> {
        let holds: &Holds<'_> = &|case, look| self.tree.holds(case, look);
        match self.tree.reads_rows() {
            true => super::scan::rows(view, candidates, from, seeking, holds),
            false => super::scan::cases(view, candidates, from, seeking, holds),
        }
    }

    /// All cases that it finds, in the order of input, however long that takes.
    pub fn all(&self, view: &RunView, columns: &Columns<'_>) -> Result<Vec<u32>, ViewError> {
        let candidates = self.candidates(view, columns)?;
        if !self.looks_into_rows() {
            return Ok(candidates.cases().collect());
        }
        let mut found = Vec::new();
        self.scan(view, &candidates, 0, &mut found)?;
        Ok(found)
    }
}

impl Tree {
    fn of(written: &Written, meaning: &Meaning<'_>) -> Result<Result<Tree, QueryProblem>, ViewError> {
        let all = |parts: &[Written]| -> Result<Result<Vec<Tree>, QueryProblem>, ViewError> {
            let mut trees = Vec::new();
            for part in parts {
                match Tree::of(part, meaning)? {
                    Ok(tree) => trees.push(tree),
                    Err(problem) => return Ok(Err(problem)),
                }
            }
            Ok(Ok(trees))
        };
        Ok(match written {
            Written::All(parts) => all(parts)?.map(Tree::All),
            Written::Any(parts) => all(parts)?.map(Tree::Any),
            Written::Not(part) => Tree::of(part, meaning)?.map(|it| Tree::Not(Box::new(it))),
            Written::Term(term) => match meaning.test(term)? {
                Err(problem) => Err(problem),
                Ok(test) => {
                    let numbers = matches!(&test, Test::Column(it) if it.has_bound())
                        || matches!(&test, Test::Row(RowTest::Path { test: super::term::PathTest::Number(_), .. }));
                    let tree = match test {
                        Test::Column(test) => Tree::Cases(test.mask(meaning.view, meaning.columns)?),
                        Test::Row(test) => Tree::Row(test),
                    };
                    // A number knows `!=` itself: what has none is neither equal nor unequal.
                    let is_turned = term.operator == Operator::IsNot && !numbers;
                    Ok(if is_turned { Tree::Not(Box::new(tree)) } else { tree })
                }
            },
        })
    }

    fn has_row_tests(&self) -> bool {
        match self {
            Tree::All(parts) | Tree::Any(parts) => parts.iter().any(Tree::has_row_tests),
            Tree::Not(part) => part.has_row_tests(),
            Tree::Cases(_) => false,
            Tree::Row(_) => true,
        }
    }

    /// Whether a test is about rows themselves, not only about messages and conversations.
    fn reads_rows(&self) -> bool {
        match self {
            Tree::All(parts) | Tree::Any(parts) => parts.iter().any(Tree::reads_rows),
            Tree::Not(part) => part.reads_rows(),
            Tree::Cases(_) | Tree::Row(RowTest::Why(_) | RowTest::Visited(_)) => false,
            Tree::Row(RowTest::Text(_) | RowTest::Path { .. }) => true,
        }
    }

    /// The cases for which it surely holds, and those for which it may, as far as columns say.
    fn bounds(&self, n: usize) -> (Mask, Mask) {
        match self {
            Tree::All(parts) => {
                let start = (Mask::all(n), Mask::all(n));
                parts.iter().map(|it| it.bounds(n)).fold(start, |(low, high), it| (low.and(&it.0), high.and(&it.1)))
            }
            Tree::Any(parts) => {
                let start = (Mask::none(n), Mask::none(n));
                parts.iter().map(|it| it.bounds(n)).fold(start, |(low, high), it| (low.or(&it.0), high.or(&it.1)))
            }
            Tree::Not(part) => {
                let (low, high) = part.bounds(n);
                (high.not(), low.not())
            }
            Tree::Cases(mask) => (mask.clone(), mask.clone()),
            Tree::Row(_) => (Mask::none(n), Mask::all(n)),
        }
    }

    /// Whether it holds for a case; `look` decides what is about its row.
    fn holds(&self, case: u32, look: &mut dyn FnMut(&RowTest) -> Result<bool, ViewError>) -> Result<bool, ViewError> {
        match self {
            Tree::All(parts) => {
                for part in parts {
                    if !part.holds(case, look)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Tree::Any(parts) => {
                for part in parts {
                    if part.holds(case, look)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Tree::Not(part) => Ok(!part.holds(case, look)?),
            Tree::Cases(mask) => Ok(mask.has(case)),
            Tree::Row(test) => look(test),
        }
    }
}

/// The place of a case as the file has it.
pub(super) fn case_ix(case: u32) -> CaseIx {
    CaseIx::numbered(u64::from(case))
}
