//! Which rows of two sides are the same, and which of their cases form a unit.

use std::collections::HashSet;

use jurat_core::contrast::{Clustering, Repetitions};
use jurat_core::plan::VariantCount;
use jurat_store::run::{Code, RowKey};

use super::error::CompareError;
use super::selection::Groups;
use super::table::Table;
use crate::view::ViewError;

/// The rows of two sides, by their numbers.
#[derive(Debug, Default)]
pub(super) struct Rows {
    /// Those that both sides have, in the order of their keys: it depends on neither run.
    pub(super) shared: Vec<(u32, u32)>,
    pub(super) only_base: Vec<u32>,
    pub(super) only_new: Vec<u32>,
}

impl Rows {
    /// Joins the rows of two sides by their keys; with `common`, only those whose key is among these.
    pub(super) fn join(
        base: &dyn Table,
        new: &dyn Table,
        common: Option<&HashSet<u128>>,
    ) -> Result<Rows, CompareError> {
        let is_meant = |it: &RowKey| common.is_none_or(|common| common.contains(&it.hash));
        let mut rows = Rows::default();
        let mut of_base = Keys::new(base)?;
        let mut of_new = Keys::new(new)?;
        loop {
            match (of_base.next, of_new.next) {
                (None, None) => return Ok(rows),
                (Some(one), Some(other)) if one.hash == other.hash => {
                    if is_meant(&one) {
                        rows.shared.push((number(one.row)?, number(other.row)?));
                    }
                    of_base.advance()?;
                    of_new.advance()?;
                }
                (Some(one), other) if other.is_none_or(|it| one.hash < it.hash) => {
                    rows.only_base.extend(is_meant(&one).then_some(number(one.row)?));
                    of_base.advance()?;
                }
                (_, Some(other)) => {
                    rows.only_new.extend(is_meant(&other).then_some(number(other.row)?));
                    of_new.advance()?;
                }
                (Some(_), None) => unreachable!("a key without another is before it"),
            }
        }
    }
}

/// The keys that all sides have.
pub(super) fn common_keys(tables: &[&dyn Table]) -> Result<HashSet<u128>, CompareError> {
    let mut common: Option<HashSet<u128>> = None;
    for table in tables {
        let keys = table.keys()?.map(|it| it.map(|it| it.hash)).collect::<Result<HashSet<u128>, ViewError>>()?;
        common = Some(match common {
            None => keys,
            Some(common) => common.intersection(&keys).copied().collect(),
        });
    }
    Ok(common.unwrap_or_default())
}

fn number(row: u64) -> Result<u32, CompareError> {
    u32::try_from(row).map_err(|_| CompareError::TooManyRows)
}

/// The keys of a side, one at a time.
struct Keys<'t> {
    name: String,
    keys: Box<dyn Iterator<Item = Result<RowKey, ViewError>> + 't>,
    next: Option<RowKey>,
}

impl<'t> Keys<'t> {
    fn new(table: &'t dyn Table) -> Result<Keys<'t>, CompareError> {
        let mut keys = Keys { name: table.side().name.clone(), keys: table.keys()?, next: None };
        keys.advance()?;
        Ok(keys)
    }

    fn advance(&mut self) -> Result<(), CompareError> {
        let next = self.keys.next().transpose()?;
        match (self.next, next) {
            (Some(last), Some(next)) if last.hash == next.hash => {
                Err(CompareError::Duplicate { side: self.name.clone(), rows: (last.row + 1, next.row + 1) })
            }
            _ => {
                self.next = next;
                Ok(())
            }
        }
    }
}

/// The codes of one column of a side, and where the cases of a unit are in it.
pub(super) struct Column<'c> {
    codes: &'c [Option<Code>],
    n_variants: VariantCount,
}

impl<'c> Column<'c> {
    pub(super) fn new(codes: &'c [Option<Code>], table: &dyn Table) -> Column<'c> {
        Column { codes, n_variants: table.n_variants() }
    }

    /// How the cases of a unit ended.
    #[inline]
    pub(super) fn unit(&self, row: u32, variants: &[usize]) -> Repetitions {
        let case = |variant: &usize| self.n_variants.case(row.into(), *variant);
        let code = |variant: &usize| self.codes.get(case(variant).index()).copied().flatten();
        variants.iter().filter_map(code).map(Code::ending).collect()
    }
}

/// Whether units of these sides are independent of each other.
pub(super) fn clustering(groups: &Groups, has_clusters: bool) -> Clustering {
    let is_repeated = groups.groups.iter().any(|it| it.base.len() > 1 || it.new.len() > 1);
    match (has_clusters, groups.groups.len() > 1, is_repeated) {
        (true, ..) => Clustering::Clustered,
        (_, true, _) => Clustering::Rows,
        (_, _, true) => Clustering::Repeated,
        _ => Clustering::Single,
    }
}
