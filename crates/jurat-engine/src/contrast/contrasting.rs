//! Two sides compared.

use std::collections::{BTreeMap, HashMap, HashSet};

use jurat_core::contrast::provenance::{self, Finding, Note};
use jurat_core::contrast::{
    About, Change, ChangeSide, Clustering, Contrast, Direction, Ending, JudgementLine, LabelLine, Line, PairCounts,
    RateLine, Repetitions, ScoreLine, Standing, TaskChange, adjust, rank_changes, unpaired,
};
use jurat_core::statistics::Tally;
use jurat_format::problem::listed_all;
use jurat_format::value::FieldPath;
use jurat_store::run::{Code, Column as RunColumn, Variant};

use super::pairing::{Column, Rows, clustering};
use super::selection::{Group, Groups, Numbered};
use super::spending::{SpendingLines, UnitCases, reused_cases, same_answer};
use super::table::{Asked, Table, TaskInfo};
use super::{CompareError, CompareOptions};
use crate::view::ViewError;

/// Two sides that are being compared.
pub(super) struct Contrasting<'c> {
    base: &'c dyn Table,
    new: &'c dyn Table,
    places: (usize, usize),
    options: &'c CompareOptions,
    groups: Groups,
    rows: Rows,
    /// The cluster of each shared row.
    clusters: Option<Vec<u32>>,
    cluster_by: Option<String>,
    clustering: Clustering,
    /// Shared rows whose content differs, by their places.
    differing: HashSet<usize>,
    asked: [Asked; 2],
    /// Cases that rest on an answer that a repetition before them rests on.
    dropped: [HashSet<u64>; 2],
    notes: Vec<Note>,
}

/// A pair of units while columns are read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unit {
    /// The place of the shared row, and of the group.
    pub(super) row: usize,
    pub(super) group: usize,
}

/// Some of the pairs of units.
#[derive(Debug, Clone, Default)]
pub(super) struct Part {
    /// The numbers of rows of NEW; all of them when absent.
    pub(super) rows: Option<HashSet<u64>>,
    pub(super) prompt: Option<String>,
    pub(super) subject: Option<String>,
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
        let n_variants = |it: &dyn Table| it.n_variants() as u64;
        let dropped = [
            reused_cases(&asked[0], &groups.groups, true, n_variants(base)),
            reused_cases(&asked[1], &groups.groups, false, n_variants(new)),
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
            differing: HashSet::new(),
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

    /// Whether a pair of units belongs to a part.
    fn is_in(&self, part: &Part, unit: Unit) -> bool {
        let group = &self.groups.groups[unit.group];
        let is = |wanted: &Option<String>, found: &Option<String>, of: &dyn Fn(&Variant) -> String| {
            wanted.as_ref().is_none_or(|wanted| {
                // What is not in the key is the same for all variants of NEW.
                found
                    .as_ref()
                    .map_or_else(|| self.new.variants().iter().all(|it| of(&it.1) == *wanted), |it| it == wanted)
            })
        };
        let row = u64::from(self.rows.shared[unit.row].1);
        part.rows.as_ref().is_none_or(|it| it.contains(&row))
            && is(&part.prompt, &group.prompt, &|it| it.prompt.clone())
            && is(&part.subject, &group.subject, &|it| it.subject.clone())
    }

    /// Does something with each pair of units of a part.
    pub(super) fn each_in(
        &self,
        part: &Part,
        column: RunColumn,
        mut take: impl FnMut(Unit, u32, &Repetitions, &Repetitions),
    ) -> Result<(), CompareError> {
        let of_base = self.base_column(column);
        let codes = self.codes(of_base, column)?;
        self.each(&codes, |unit, base, new| {
            if self.is_in(part, unit) {
                take(unit, self.cluster(unit), base, new);
            }
        });
        Ok(())
    }

    /// The column of BASE for the task that NEW has in a column.
    fn base_column(&self, column: RunColumn) -> RunColumn {
        let Some(task) = self.new.tasks().iter().find(|it| it.column == column) else { return RunColumn::CASE };
        self.base.tasks().iter().find(|it| it.id == task.id).map_or(RunColumn::CASE, |it| it.column)
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

    /// The mean scores of each pair of units of a part, with their clusters.
    pub(super) fn scores_in(&self, part: &Part, column: RunColumn) -> Result<ScoreLine, CompareError> {
        let scores = [self.base.scores(self.base_column(column))?, self.new.scores(column)?];
        let mut line = ScoreLine::new(self.clustering);
        self.each_unit(|unit, cases| {
            if self.is_in(part, unit) {
                line.add(mean_score(&scores[0], cases[0]), mean_score(&scores[1], cases[1]), self.cluster(unit));
            }
        });
        Ok(line)
    }

    /// The line about cases alone.
    pub(super) fn headline(&self) -> Result<Line, CompareError> {
        if self.options.unpaired {
            return self.unpaired_line(About::Cases, RunColumn::CASE, RunColumn::CASE);
        }
        let codes = self.codes(RunColumn::CASE, RunColumn::CASE)?;
        let mut line = RateLine::new(self.clustering);
        self.each(&codes, |unit, base, new| line.add(base, new, self.cluster(unit)));
        Ok(line.finish(About::Cases, self.options.confidence))
    }

    pub(super) fn whole(mut self) -> Result<Contrast, CompareError> {
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
        let mut changes = self.changed_units(&codes);
        let mut unjudged = self.unjudged_units(&codes);
        let slices = self.slice_lines(&codes)?;
        drop(codes);
        let mut judgements = JudgementLine::new(self.n_clusters());
        let (mut tasks, mut scores, mut labels) = (Vec::new(), Vec::new(), Vec::new());
        for (was, now) in self.shared_tasks() {
            let listed = changes.iter_mut().chain(&mut unjudged);
            self.task_line(&was, &now, &mut judgements, listed, &mut tasks)?;
            scores.extend(self.score_line(&was, &now)?);
            labels.extend(self.label_changes(&was, &now)?);
        }
        adjust(&mut tasks.iter_mut().collect::<Vec<_>>(), confidence);
        adjust(&mut scores.iter_mut().collect::<Vec<_>>(), confidence);
        let mut lines = vec![headline, judgements.finish(confidence)];
        lines.retain(|it| it.about == About::Cases || it.pairs > 0);
        lines.extend(tasks.into_iter().chain(scores).chain(slices));
        lines.extend(self.spending(&units));
        self.note_answers(&units);
        let changes = self.described(changes, counts.pairs)?;
        let unjudged = self.named(unjudged)?;
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
            notes: self.notes,
            lines,
            labels,
            changes,
            unjudged,
        })
    }

    /// The clusters of the shared rows, numbered in the order of their keys. Rows without a value are clusters of one.
    fn clusters_by(&self, path: &FieldPath) -> Result<Vec<u32>, CompareError> {
        let side = || self.base.side().name.clone();
        let unknown = || CompareError::ClustersUnknown { side: side(), path: path.to_string() };
        let values = self.base.values(path)?.ok_or_else(unknown)?;
        let mut numbers: HashMap<&str, u32> = HashMap::new();
        let mut next = 0;
        let number = |(row, _): &(u32, u32)| match values.get(&u64::from(*row)) {
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

    /// Finds rows whose content differs, as far as that is known.
    fn compare_rows(&mut self) -> Result<(), CompareError> {
        let (was, now) = (self.base.questions()?, self.new.questions()?);
        let [base, new] = [self.base, self.new].map(Table::n_variants);
        let at = |of: &[u128], row: u32, n: usize| of.get(row as usize * n).copied().unwrap_or_default();
        let mut unchecked = 0;
        for (place, (base_row, new_row)) in self.rows.shared.iter().enumerate() {
            match (at(&was, *base_row, base), at(&now, *new_row, new)) {
                (0, _) | (_, 0) => unchecked += 1,
                (was, now) if was != now => drop(self.differing.insert(place)),
                _ => {}
            }
        }
        let is_by_content = self.base.is_by_content()? && self.new.is_by_content()?;
        if !self.differing.is_empty() {
            self.notes.push(Note::new(Finding::RowDiffers, "", "").about(self.differing.len() as u64));
        }
        if unchecked > 0 && !is_by_content {
            self.notes.push(Note::new(Finding::RowsNotChecked, "", "").about(unchecked));
        }
        Ok(())
    }

    /// Finds judges that others served.
    fn compare_served(&mut self) {
        let [was, now] = &self.asked;
        let mut tasks: Vec<&String> = was.served.keys().filter(|it| now.served.contains_key(*it)).collect();
        tasks.sort_unstable();
        let differing = tasks.into_iter().filter(|it| was.served[*it] != now.served[*it]);
        let note = |task: &String| {
            let words = |it: &Asked| listed_all(it.served[task].iter().map(String::as_str));
            Note::new(Finding::JudgeServedDiffers, words(was), words(now)).of_task(task)
        };
        let found: Vec<Note> = differing.map(note).collect();
        self.notes.extend(found);
    }

    /// The verdicts of a column on both sides.
    fn codes(&self, base: RunColumn, new: RunColumn) -> Result<[Vec<Option<Code>>; 2], ViewError> {
        let mut codes = [self.base.codes(base)?, self.new.codes(new)?];
        for (codes, dropped) in codes.iter_mut().zip(&self.dropped) {
            dropped.iter().filter_map(|it| usize::try_from(*it).ok()).for_each(|case| codes[case] = None);
        }
        Ok(codes)
    }

    /// Does something with each pair of units that both sides have and that ask the same.
    fn each(&self, codes: &[Vec<Option<Code>>; 2], mut take: impl FnMut(Unit, &Repetitions, &Repetitions)) {
        let (base, new) = (Column::new(&codes[0], self.base), Column::new(&codes[1], self.new));
        for (row, (base_row, new_row)) in self.rows.shared.iter().enumerate() {
            if !self.options.include_changed && self.differing.contains(&row) {
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

    /// What is paired with what, and the units that can be compared.
    fn counts(&self, codes: &[Vec<Option<Code>>; 2]) -> (PairCounts, Vec<Unit>) {
        let mut counts = PairCounts {
            key: self.groups.key.iter().map(|it| it.name()).collect(),
            by_content: self.base.is_by_content().unwrap_or(false) && self.new.is_by_content().unwrap_or(false),
            cluster_by: self.cluster_by.clone(),
            ..PairCounts::default()
        };
        let mut transitions = [[0_u64; MIXED + 1]; MIXED + 1];
        let mut units = Vec::new();
        self.each(codes, |unit, base, new| {
            match base.against(new) {
                Standing::Pair => counts.pairs += 1,
                Standing::Unknown => counts.unknown += 1,
                Standing::NotApplicable => counts.not_applicable += 1,
            }
            counts.repeat = [counts.repeat[0].max(base.n()), counts.repeat[1].max(new.n())];
            transitions[word_place(base)][word_place(new)] += 1;
            if !self.asked.iter().all(|it| it.cases.is_empty()) {
                units.push(unit);
            }
        });
        for (was, of_was) in transitions.iter().enumerate() {
            for (now, n) in of_was.iter().enumerate().filter(|it| *it.1 > 0) {
                counts.changes.insert((word_at(was), word_at(now)), *n);
            }
        }
        self.count_others(codes, &mut counts);
        (counts, units)
    }

    /// The units that one side lacks, and those that ask something else.
    fn count_others(&self, codes: &[Vec<Option<Code>>; 2], counts: &mut PairCounts) {
        let (base, new) = (Column::new(&codes[0], self.base), Column::new(&codes[1], self.new));
        for Group { base: of_base, new: of_new, .. } in &self.groups.groups {
            let is_in = |column: &Column<'_>, row: u32, of: &[usize]| column.unit(row, of).n() > 0;
            for (row, (base_row, new_row)) in self.rows.shared.iter().enumerate() {
                match (is_in(&base, *base_row, of_base), is_in(&new, *new_row, of_new)) {
                    (true, true) if self.differing.contains(&row) && self.options.include_changed => {
                        counts.changed_included += 1;
                    }
                    (true, true) if self.differing.contains(&row) => counts.changed += 1,
                    (true, false) => counts.only_in_base += 1,
                    (false, true) => counts.only_in_new += 1,
                    _ => {}
                }
            }
            let alone = |column: &Column<'_>, rows: &[u32], of: &[usize]| {
                rows.iter().filter(|it| is_in(column, **it, of)).count() as u64
            };
            counts.only_in_base += alone(&base, &self.rows.only_base, of_base);
            counts.only_in_new += alone(&new, &self.rows.only_new, of_new);
        }
    }

    /// The tasks that both sides have.
    fn shared_tasks(&self) -> Vec<(TaskInfo, TaskInfo)> {
        let partner = |it: &TaskInfo| self.new.tasks().iter().find(|task| task.id == it.id).cloned();
        self.base.tasks().iter().filter_map(|it| Some((it.clone(), partner(it)?))).collect()
    }

    fn task_line<'u>(
        &self,
        was: &TaskInfo,
        now: &TaskInfo,
        judgements: &mut JudgementLine,
        listed: impl Iterator<Item = &'u mut (Unit, Vec<TaskChange>)>,
        lines: &mut Vec<Line>,
    ) -> Result<(), CompareError> {
        let codes = self.codes(was.column, now.column)?;
        let is_counted = !was.is_condition && !now.is_condition;
        let mut line = RateLine::new(self.clustering);
        self.each(&codes, |unit, base, new| {
            let cluster = self.cluster(unit);
            line.add(base, new, cluster);
            if is_counted {
                judgements.add(base, new, cluster);
            }
        });
        let (base, new) = (Column::new(&codes[0], self.base), Column::new(&codes[1], self.new));
        for (unit, tasks) in listed {
            let ((base_row, new_row), group) = (self.rows.shared[unit.row], &self.groups.groups[unit.group]);
            let (base, new) = (base.unit(base_row, &group.base), new.unit(new_row, &group.new));
            if base.rate() != new.rate() {
                tasks.push(task_change(&was.id, &base, &new));
            }
        }
        let about = About::Task { id: was.id.clone(), is_condition: was.is_condition };
        let line = line.finish(about, self.options.confidence);
        if line.pairs + line.unknown > 0 && (was.judges || now.judges) {
            lines.push(line);
        }
        Ok(())
    }

    fn score_line(&self, was: &TaskInfo, now: &TaskInfo) -> Result<Option<Line>, CompareError> {
        let scores = [self.base.scores(was.column)?, self.new.scores(now.column)?];
        if scores.iter().all(Vec::is_empty) {
            return Ok(None);
        }
        let mut line = ScoreLine::new(self.clustering);
        self.each_unit(|unit, cases| {
            line.add(mean_score(&scores[0], cases[0]), mean_score(&scores[1], cases[1]), self.cluster(unit));
        });
        let line = line.finish(About::Score { task: was.id.clone() }, self.options.confidence, self.options.score_test);
        Ok(Some(line).filter(|it| it.pairs + it.unknown > 0))
    }

    fn label_changes(
        &self,
        was: &TaskInfo,
        now: &TaskInfo,
    ) -> Result<Option<jurat_core::contrast::LabelChanges>, CompareError> {
        if was.judges || now.judges {
            return Ok(None);
        }
        let labels = [self.base.labels(was.column)?, self.new.labels(now.column)?];
        let mut line = LabelLine::default();
        self.each_unit(|_, cases| {
            let first = |side: usize| {
                let of_case = |case: u64| labels[side].get(case as usize).and_then(Option::as_deref);
                cases[side].numbers().find_map(of_case)
            };
            line.add(first(0), first(1));
        });
        Ok(line.finish(&was.id))
    }

    /// Does something with the cases of each pair of units.
    fn each_unit(&self, mut take: impl FnMut(Unit, [UnitCases<'_>; 2])) {
        for row in 0..self.rows.shared.len() {
            if !self.options.include_changed && self.differing.contains(&row) {
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
        let of = |table: &dyn Table, row: u32, variants| UnitCases {
            first: u64::from(row) * table.n_variants() as u64,
            variants,
        };
        [of(self.base, base, group.base.as_slice()), of(self.new, new, group.new.as_slice())]
    }

    /// A line for each value at the paths of `group_by`, over cases. The lines of one path are a family.
    fn slice_lines(&mut self, codes: &[Vec<Option<Code>>; 2]) -> Result<Vec<Line>, CompareError> {
        let mut lines = Vec::new();
        for path in self.base.group_by() {
            let Some(values) = self.base.values(&path)? else {
                let words = format!("`{path}` of some rows of `{}`", self.base.side().name);
                self.notes.push(Note::new(Finding::RowsNotRead, words, ""));
                continue;
            };
            let mut slices: BTreeMap<(bool, Option<&str>), RateLine> = BTreeMap::new();
            self.each(codes, |unit, base, new| {
                let value = values.get(&u64::from(self.rows.shared[unit.row].0)).map(String::as_str);
                let slice = slices.entry((value.is_none(), value)).or_insert_with(|| RateLine::new(self.clustering));
                slice.add(base, new, self.cluster(unit));
            });
            let line = |((_, value), line): (&(bool, Option<&str>), &RateLine)| {
                let about = About::Slice { path: path.to_string(), value: value.map(str::to_owned) };
                line.finish(about, self.options.confidence)
            };
            let mut of_path: Vec<Line> = slices.iter().map(line).collect();
            adjust(&mut of_path.iter_mut().collect::<Vec<_>>(), self.options.confidence);
            lines.extend(of_path);
        }
        Ok(lines)
    }

    fn spending(&self, units: &[Unit]) -> Vec<Line> {
        let mut lines = SpendingLines::default();
        let asked = [&self.asked[0], &self.asked[1]];
        units.iter().for_each(|unit| lines.add(asked, self.cases(*unit), self.cluster(*unit)));
        lines.finish(self.options.confidence)
    }

    /// Says how many pairs rest on the same answers, and how many repetitions count once.
    fn note_answers(&mut self, units: &[Unit]) {
        let asked = [&self.asked[0], &self.asked[1]];
        let of_subjects = units.iter().filter(|it| same_answer(asked, self.cases(**it)) == Some(true)).count();
        let n = of_subjects as u64 + self.same_rows().unwrap_or_default();
        if n > 0 {
            self.notes.push(Note::new(Finding::SameAnswers, "", "").about(n));
        }
        let n_dropped = self.dropped.iter().map(|it| it.len() as u64).sum();
        if n_dropped > 0 {
            self.notes.push(Note::new(Finding::ReusedAcrossRepetitions, "", "").about(n_dropped));
        }
    }

    /// How many shared rows hold the same recorded answer.
    fn same_rows(&self) -> Result<u64, ViewError> {
        let (was, now) = (self.base.recorded()?, self.new.recorded()?);
        let [base, new] = [self.base, self.new].map(Table::n_variants);
        let at = |of: &[u128], row: u32, n: usize| of.get(row as usize * n).copied().filter(|it| *it != 0);
        let is_same = |it: &&(u32, u32)| at(&was, it.0, base).is_some_and(|was| at(&now, it.1, new) == Some(was));
        Ok(self.rows.shared.iter().filter(is_same).count() as u64)
    }

    /// The units whose rate changed.
    fn changed_units(&self, codes: &[Vec<Option<Code>>; 2]) -> Vec<(Unit, Vec<TaskChange>)> {
        let mut changed = Vec::new();
        self.each(codes, |unit, base, new| {
            if base.against(new) == Standing::Pair && base.rate() != new.rate() {
                changed.push((unit, Vec::new()));
            }
        });
        changed
    }

    /// The first units that a side could not judge, in the order of BASE.
    fn unjudged_units(&self, codes: &[Vec<Option<Code>>; 2]) -> Vec<(Unit, Vec<TaskChange>)> {
        let mut found = Vec::new();
        if self.options.most_unjudged > 0 {
            self.each(codes, |unit, base, new| {
                if base.against(new) == Standing::Unknown {
                    found.push((unit, Vec::new()));
                }
            });
        }
        found.sort_unstable_by_key(|it| self.rows.shared[it.0.row].0);
        found.truncate(self.options.most_unjudged);
        found
    }

    /// Units with their names, in the order of BASE.
    fn named(&self, mut units: Vec<(Unit, Vec<TaskChange>)>) -> Result<Vec<Change>, CompareError> {
        let codes = self.codes(RunColumn::CASE, RunColumn::CASE)?;
        units.sort_unstable_by_key(|it| self.rows.shared[it.0.row].0);
        units.into_iter().map(|(unit, tasks)| self.change(unit, tasks, &codes)).collect()
    }

    /// The changes with their names, in order; the first of each direction with what was answered.
    fn described(&self, changed: Vec<(Unit, Vec<TaskChange>)>, n_units: u64) -> Result<Vec<Change>, CompareError> {
        let mut changes = self.named(changed)?;
        rank_changes(&mut changes, n_units);
        for direction in [Direction::Regression, Direction::Fix] {
            let own = changes.iter_mut().filter(|it| it.direction() == direction);
            for change in own.take(self.options.described) {
                let task = change.tasks.first().map(String::as_str);
                self.base.describe(change.base.case_ix, task, &mut change.base)?;
                self.new.describe(change.new.case_ix, task, &mut change.new)?;
            }
        }
        Ok(changes)
    }

    fn change(
        &self,
        unit: Unit,
        tasks: Vec<TaskChange>,
        codes: &[Vec<Option<Code>>; 2],
    ) -> Result<Change, CompareError> {
        let group = &self.groups.groups[unit.group];
        let (base_row, new_row) = self.rows.shared[unit.row];
        let base = Column::new(&codes[0], self.base).unit(base_row, &group.base);
        let new = Column::new(&codes[1], self.new).unit(new_row, &group.new);
        let cases = self.cases(unit);
        let asked = [&self.asked[0], &self.asked[1]];
        let side = |unit: &Repetitions, cases: UnitCases<'_>, codes: &[Option<Code>]| {
            let is = |wanted: Code| move |it: &u64| codes.get(*it as usize).copied().flatten() == Some(wanted);
            // A repetition that failed says more than one that passed.
            let case = cases.numbers().find(is(Code::Failed)).or_else(|| cases.numbers().find(is(Code::Passed)));
            ChangeSide {
                passed: unit.passed(),
                judged: unit.judged(),
                word: unit.word().to_owned(),
                case_ix: case.unwrap_or(cases.first),
                ..ChangeSide::default()
            }
        };
        let base_side = side(&base, cases[0], &codes[0]);
        Ok(Change {
            id: self.base.id(base_side.case_ix)?,
            prompt: group.prompt.clone(),
            subject: group.subject.clone(),
            tasks: tasks.iter().map(|it| it.task.clone()).collect(),
            of_tasks: tasks,
            is_flaky_in_base: base.is_flaky(),
            is_critical: self.base.tags(base_side.case_ix)?.iter().any(|it| it == CRITICAL),
            same_answer: same_answer(asked, cases),
            new: side(&new, cases[1], &codes[1]),
            base: base_side,
            p: None,
            is_likely: false,
        })
    }

    /// Both sides as independent samples.
    fn unpaired(self) -> Result<Contrast, CompareError> {
        let tables = [self.base, self.new];
        if let Some(table) = tables.into_iter().find(|it| it.variants().iter().any(|it| it.1.replicate > 0)) {
            return Err(CompareError::UnpairedRepetitions { side: table.side().name.clone() });
        }
        let mut lines = vec![self.unpaired_line(About::Cases, RunColumn::CASE, RunColumn::CASE)?];
        let mut tasks = Vec::new();
        for (was, now) in self.shared_tasks().iter().filter(|it| it.0.judges) {
            let about = About::Task { id: was.id.clone(), is_condition: was.is_condition };
            tasks.push(self.unpaired_line(about, was.column, now.column)?);
        }
        adjust(&mut tasks.iter_mut().collect::<Vec<_>>(), self.options.confidence);
        lines.extend(tasks);
        let n = |it: &dyn Table| it.side().cases;
        let counts = PairCounts { only_in_base: n(self.base), only_in_new: n(self.new), ..PairCounts::default() };
        Ok(Contrast {
            base: self.places.0,
            new: self.places.1,
            counts,
            notes: self.notes,
            lines,
            labels: Vec::new(),
            changes: Vec::new(),
            unjudged: Vec::new(),
            only_in_base: Vec::new(),
            only_in_new: Vec::new(),
        })
    }

    fn unpaired_line(&self, about: About, base: RunColumn, new: RunColumn) -> Result<Line, CompareError> {
        let codes = self.codes(base, new)?;
        let tally = |table: &dyn Table, codes: &[Option<Code>]| {
            let is_meant = |case: usize| table.variants().iter().any(|it| it.0 == case % table.n_variants());
            let own: Repetitions =
                codes.iter().enumerate().filter(|it| is_meant(it.0)).filter_map(|it| known(*it.1)).collect();
            Tally { passed: own.passed().into(), judged: own.judged().into() }
        };
        let (base, new) = (tally(self.base, &codes[0]), tally(self.new, &codes[1]));
        Ok(unpaired(about, base, new, self.options.confidence))
    }
}

fn task_change(task: &str, base: &Repetitions, new: &Repetitions) -> TaskChange {
    let words = |it: &Repetitions| match it.judged() {
        0 | 1 => it.word().to_owned(),
        n => format!("{}/{n}", it.passed()),
    };
    let direction = match (base.rate(), new.rate()) {
        (Some(was), Some(now)) if now < was => Some(Direction::Regression),
        (Some(_), Some(_)) => Some(Direction::Fix),
        _ => None,
    };
    TaskChange { task: task.to_owned(), was: words(base), now: words(new), direction }
}

/// The mean score of the cases of a unit that have one.
fn mean_score(scores: &[Option<f64>], cases: UnitCases<'_>) -> Option<f64> {
    let of_case = |case: u64| scores.get(case as usize).copied().flatten();
    let known: Vec<f64> = cases.numbers().filter_map(of_case).collect();
    (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
}

/// The tag of cases that come first in every list.
const CRITICAL: &str = "critical";

/// The place of units whose repetitions ended differently, behind those of all words.
const MIXED: usize = Ending::COUNT;

fn word_place(unit: &Repetitions) -> usize {
    unit.only().map_or(MIXED, |it| it as usize)
}

fn word_at(place: usize) -> String {
    Ending::ALL.get(place).map_or("mixed", |it| it.name()).to_owned()
}

fn known(code: Option<Code>) -> Option<Ending> {
    match code? {
        Code::Passed => Some(Ending::Passed),
        Code::Failed => Some(Ending::Failed),
        _ => None,
    }
}

fn fresh(next: &mut u32) -> u32 {
    let number = *next;
    *next += 1;
    number
}
