//! Two sides compared.
//!
//! Here is what is paired with what, and how units are handed out column by column; what is done with them is in the files beside it.

mod changes;
mod correcting;
mod counts;
mod differing;
mod lines;
mod part;
mod stopped;
mod unpaired;

use std::collections::{HashMap, HashSet};

use jurat_core::contrast::provenance::{self, Finding, Note};
use jurat_core::contrast::{About, Clustering, Contrast, JudgementLine, Line, RateLine, Repetitions, adjust};
use jurat_core::plan::CaseIx;
use jurat_format::value::FieldPath;
use jurat_store::run::{Code, Column as RunColumn, Variant};

pub(super) use changes::{CRITICAL, change_side, task_change};
pub(super) use differing::{LostRows, SelectedRows};
pub(super) use lines::mean_score;
pub(super) use part::Part;

use super::pairing::{Column, Rows, clustering};
use super::selection::{Group, Groups, Numbered};
use super::spending::{UnitCases, reused_cases};
use super::table::{Asked, Table, TaskInfo};
use super::{CompareError, CompareOptions};
use crate::view::ViewError;

/// Two sides that are being compared.
pub(super) struct Contrasting<'c> {
    pub(super) base: &'c dyn Table,
    pub(super) new: &'c dyn Table,
    places: (usize, usize),
    pub(super) options: &'c CompareOptions,
    pub(super) groups: Groups,
    pub(super) rows: Rows,
    /// The cluster of each shared row.
    clusters: Option<Vec<u32>>,
    cluster_by: Option<String>,
    clustering: Clustering,
    /// Whether the content of each shared row differs; empty where none does. It is asked for every row of every column.
    differing: Vec<bool>,
    pub(super) asked: [Asked; 2],
    /// Cases that rest on an answer that a repetition before them rests on.
    pub(super) dropped: [HashSet<CaseIx>; 2],
    notes: Vec<Note>,
}

/// A pair of units while columns are read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unit {
    /// The place of the shared row, and of the group.
    pub(super) row: usize,
    pub(super) group: usize,
}

impl<'c> Contrasting<'c> {
    pub(super) fn new(
        base: &'c dyn Table,
        new: &'c dyn Table,
        places: (usize, usize),
        options: &'c CompareOptions,
        common: Option<&HashSet<u128>>,
    ) -> Result<Contrasting<'c>, CompareError> {
        let notes = provenance::compare(base.definition(), new.definition());
        let is_allowed = options.allow.iter().any(|it| it == "suite");
        if let Some(note) = notes.iter().find(|it| it.finding == Finding::SuiteDiffers && !is_allowed) {
            return Err(CompareError::SuiteDiffers { base: note.was.clone(), new: note.now.clone() });
        }
        let numbered = |it: &'c [(usize, Variant)]| it.iter().map(|it| (it.0, &it.1)).collect::<Vec<Numbered<'c>>>();
        let groups = Groups::of(&numbered(base.variants()), &numbered(new.variants()), &new.side().name)?;
        let rows = Rows::join(base, new, common)?;
        if rows.shared.is_empty() && !options.unpaired {
            let side = |it: &dyn Table| format!("`{}`", it.side().name);
            return Err(CompareError::NothingShared { base: side(base), new: side(new) });
        }
        let cluster_by = options.cluster.clone().or_else(|| base.cluster_by()).or_else(|| new.cluster_by());
        let asked = [base.asked()?, new.asked()?];
        let dropped = [
            reused_cases(&asked[0], &groups.groups, true, base.n_variants()),
            reused_cases(&asked[1], &groups.groups, false, new.n_variants()),
        ];
        let mut contrasting = Contrasting {
            clustering: clustering(&groups, cluster_by.is_some()),
            cluster_by: cluster_by.as_ref().map(ToString::to_string),
            base,
            new,
            places,
            options,
            groups,
            rows,
            clusters: None,
            differing: Vec::new(),
            asked,
            dropped,
            notes,
        };
        if let Some(path) = cluster_by {
            contrasting.clusters = Some(contrasting.clusters_by(&path)?);
        }
        contrasting.compare_rows()?;
        contrasting.compare_served();
        Ok(contrasting)
    }

    /// Whether the content of a shared row differs.
    pub(super) fn differs(&self, row: usize) -> bool {
        self.differing.get(row).copied().unwrap_or(false)
    }

    pub(super) fn clustering(&self) -> Clustering {
        self.clustering
    }

    pub(super) fn asked(&self) -> [&Asked; 2] {
        [&self.asked[0], &self.asked[1]]
    }

    pub(super) fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// The line about cases alone.
    pub(super) fn headline(&self) -> Result<Line, CompareError> {
        if self.options.unpaired {
            return self.unpaired_line(About::Cases, RunColumn::CASE, RunColumn::CASE);
        }
        let codes = self.codes(RunColumn::CASE, RunColumn::CASE)?;
        let mut line = RateLine::new(self.clustering);
        self.each(&codes, |unit, base, new| line.add(base, new, self.cluster(unit)));
        Ok(self.valid(line.finish(About::Cases, self.options.confidence)))
    }

    pub(super) fn whole(&mut self) -> Result<Contrast, CompareError> {
        if self.options.unpaired {
            return self.unpaired();
        }
        let confidence = self.options.confidence;
        let codes = self.codes(RunColumn::CASE, RunColumn::CASE)?;
        let (mut counts, units) = self.counts(&codes);
        let mut cases = RateLine::new(self.clustering);
        self.each(&codes, |unit, base, new| cases.add(base, new, self.cluster(unit)));
        let headline = cases.finish(About::Cases, confidence);
        counts.clusters = headline.clusters.unwrap_or(headline.pairs);
        let (mut changes, mut unjudged) = (self.changed_units(&codes), self.unjudged_units(&codes));
        let slices = self.slice_lines(&codes)?;
        drop(codes);
        let mut judgements = JudgementLine::new(self.n_clusters());
        let (mut tasks, mut scores, mut labels) = (Vec::new(), Vec::new(), Vec::new());
        for (was, now) in self.shared_tasks() {
            self.task_line(&was, &now, &mut judgements, [&mut changes, &mut unjudged], &mut tasks)?;
            scores.extend(self.score_line(&was, &now)?);
            labels.extend(self.label_changes(&was, &now)?);
        }
        adjust(&mut tasks.iter_mut().collect::<Vec<_>>(), confidence);
        self.correct(&mut tasks)?;
        adjust(&mut scores.iter_mut().collect::<Vec<_>>(), confidence);
        let mut lines = vec![headline, judgements.finish(confidence)];
        lines.retain(|it| it.about == About::Cases || it.pairs > 0);
        lines.extend(tasks.into_iter().chain(scores).chain(slices));
        lines.extend(self.spending(&units));
        let lines = lines.into_iter().map(|it| self.valid(it)).collect();
        self.note_answers(&units);
        let (n_changes, changes) = self.described(&changes, counts.pairs)?;
        let unjudged = self.named(&unjudged)?;
        let only = |of: &dyn Table, other: &dyn Table| {
            let is_alone = |it: &&TaskInfo| !other.tasks().iter().any(|task| task.id == it.id);
            of.tasks().iter().filter(is_alone).map(|it| it.id.clone()).collect::<Vec<String>>()
        };
        Ok(Contrast {
            base: self.places.0,
            new: self.places.1,
            counts,
            only_in_base: only(self.base, self.new),
            only_in_new: only(self.new, self.base),
            notes: self.notes.clone(),
            lines,
            labels,
            n_changes,
            changes,
            unjudged,
        })
    }

    /// The clusters of the shared rows, numbered in the order of their keys. Rows without a value are clusters of one.
    fn clusters_by(&self, path: &FieldPath) -> Result<Vec<u32>, CompareError> {
        let side = || self.base.side().name.clone();
        let unknown = || CompareError::ClustersUnknown { side: side(), path: path.to_string() };
        let values = self.base.values(path)?.ok_or_else(unknown)?;
        let mut numbers: HashMap<usize, u32> = HashMap::new();
        let mut next = 0;
        let number = |(row, _): &(u32, u32)| match values.number(u64::from(*row)) {
            Some(value) => *numbers.entry(value).or_insert_with(|| fresh(&mut next)),
            None => fresh(&mut next),
        };
        Ok(self.rows.shared.iter().map(number).collect())
    }

    fn cluster(&self, unit: Unit) -> u32 {
        self.clusters.as_ref().map_or(unit.row as u32, |it| it[unit.row])
    }

    pub(super) fn n_clusters(&self) -> usize {
        match &self.clusters {
            Some(clusters) => clusters.iter().max().map_or(0, |it| *it as usize + 1),
            None => self.rows.shared.len(),
        }
    }

    /// The verdicts of a column on both sides.
    pub(super) fn codes(&self, base: RunColumn, new: RunColumn) -> Result<[Vec<Option<Code>>; 2], ViewError> {
        let mut codes = [self.base.codes(base)?, self.new.codes(new)?];
        for (codes, dropped) in codes.iter_mut().zip(&self.dropped) {
            dropped.iter().for_each(|case| codes[case.index()] = None);
        }
        Ok(codes)
    }

    /// Does something with each pair of units that both sides have and that ask the same.
    fn each(&self, codes: &[Vec<Option<Code>>; 2], mut take: impl FnMut(Unit, &Repetitions, &Repetitions)) {
        let (base, new) = (Column::new(&codes[0], self.base), Column::new(&codes[1], self.new));
        for (row, (base_row, new_row)) in self.rows.shared.iter().enumerate() {
            if !self.options.include_changed && self.differs(row) {
                continue;
            }
            for (group, Group { base: of_base, new: of_new, .. }) in self.groups.groups.iter().enumerate() {
                let (was, now) = (base.unit(*base_row, of_base), new.unit(*new_row, of_new));
                if was.n() > 0 && now.n() > 0 {
                    take(Unit { row, group }, &was, &now);
                }
            }
        }
    }

    /// The tasks that both sides have.
    pub(super) fn shared_tasks(&self) -> Vec<(TaskInfo, TaskInfo)> {
        let partner = |it: &TaskInfo| self.new.tasks().iter().find(|task| task.id == it.id).cloned();
        self.base.tasks().iter().filter_map(|it| Some((it.clone(), partner(it)?))).collect()
    }

    /// Does something with the cases of each pair of units.
    fn each_unit(&self, mut take: impl FnMut(Unit, [UnitCases<'_>; 2])) {
        for row in 0..self.rows.shared.len() {
            if !self.options.include_changed && self.differs(row) {
                continue;
            }
            for group in 0..self.groups.groups.len() {
                let unit = Unit { row, group };
                take(unit, self.cases(unit));
            }
        }
    }

    pub(super) fn cases(&self, unit: Unit) -> [UnitCases<'_>; 2] {
        let ((base, new), group) = (self.rows.shared[unit.row], &self.groups.groups[unit.group]);
        [UnitCases::of(self.base, base, &group.base), UnitCases::of(self.new, new, &group.new)]
    }
}

fn fresh(next: &mut u32) -> u32 {
    let number = *next;
    *next += 1;
    number
}
