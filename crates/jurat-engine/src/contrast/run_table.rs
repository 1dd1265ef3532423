//! A run as a side of a comparison.

use std::collections::{HashMap, HashSet};
use std::ops::{ControlFlow, Range};

use jurat_core::agent::AgentCase;
use jurat_core::calibration::JudgeParts;
use jurat_core::contrast::provenance::Definition;
use jurat_core::contrast::{ChangeSide, Said, Side};
use jurat_core::effect::wire::read_outcome;
use jurat_core::effect::{Asker, Outcome, Slot};
use jurat_core::plan::{CaseIx, TaskIx, VariantCount};
use jurat_core::report::TaskReport;
use jurat_core::scenario::Scenario;
use jurat_core::suite::Task;
use jurat_format::value::{FieldPath, Val, Value, parse_json};
use jurat_store::run::{Code, Column, Digests, RowKey, RunFileError, StoredEffect, TaskHead, Variant, digest};

use super::definition::{definition, is_complete, task_name};
use super::selection::Selection;
use super::table::{Amount, Asked, CaseAsked, RowTexts, Table, TaskInfo};
use crate::RunError;
use crate::judge_definition::judge_parts;
use crate::stopping_record::StoppingRecord;
use crate::tally::{latency, taken};
use crate::view::query::syntax::WrittenTerm;
use crate::view::query::{QueryProblem, TermCases, cases_of_term};
use crate::view::{Detailed, RunView, ViewError};

/// A run, or some of its variants.
#[derive(Debug)]
pub(super) struct RunTable {
    view: RunView,
    side: Side,
    definition: Definition,
    variants: Vec<(usize, Variant)>,
    tasks: Vec<TaskInfo>,
    stopping: Option<StoppingRecord>,
}

impl RunTable {
    pub(super) fn new(view: RunView, name: &str, selection: &Selection) -> Result<RunTable, ViewError> {
        let definition = definition(&view)?;
        let head = view.head();
        let all = match head.variants.as_slice() {
            [] => vec![Variant::default()],
            variants => variants.to_vec(),
        };
        let variants = all.into_iter().enumerate().filter(|it| selection.is_meant(&it.1)).collect();
        let side = Side {
            name: name.to_owned(),
            run_id: head.id.clone(),
            suite: head.suite.clone(),
            suite_hash: head.suite_hash.clone(),
            prompt: selection.prompt.clone(),
            subject: selection.subject.clone(),
            cases: 0,
            is_complete: is_complete(&view)?,
        };
        let task = |(ix, (head, task)): (usize, (&TaskHead, &Task))| TaskInfo {
            id: task_name(task, head),
            column: Column::from(TaskIx(ix as u32)),
            is_condition: !task.gate.is_counted(),
            judges: view.suite().decides(task),
        };
        let tasks = head.tasks.iter().zip(&view.suite().tasks).enumerate().map(task).collect();
        let stopping = StoppingRecord::of(view.head());
        let mut table = RunTable { side, definition, variants, tasks, stopping, view };
        table.side.cases = table.n_cases()?;
        Ok(table)
    }

    fn n_cases(&self) -> Result<u64, ViewError> {
        if self.variants.len() == self.n_variants().get() {
            return Ok(self.view.reader().state()?.n_cases);
        }
        let codes = self.codes(Column::CASE)?;
        Ok(CaseIx::each().zip(&codes).filter(|(case, code)| code.is_some() && self.has(*case)).count() as u64)
    }

    /// Adds what one effect took to its case.
    fn add_effect(&self, effect: &StoredEffect, asked: &mut Asked) -> Result<(), ViewError> {
        let outcome = read_outcome(&effect.kind, &effect.outcome).map_err(|it| ViewError::Run(RunError::from(it)))?;
        let case = asked.cases.entry(effect.case_ix).or_default();
        let is_subject = is_of_subject(effect);
        if is_subject {
            case.add_answer(effect, &outcome);
        }
        let amount = if effect.site.asker.task().is_some() { &mut case.judging } else { &mut case.subject };
        amount.add(&outcome, is_subject, effect.reused);
        if let (Some(task), Some(served)) = (effect.site.asker.task(), &effect.served) {
            let id = self.tasks.get(task.index()).map_or_else(String::new, |it| it.id.clone());
            let of_task = asked.served.entry(id).or_default();
            if !of_task.contains(served) {
                of_task.push(served.clone());
            }
        }
        Ok(())
    }

    fn row_value(&self, case: CaseIx) -> Result<Option<Val<'static>>, ViewError> {
        let text = self.row_text(case)?;
        Ok(text.and_then(|it| parse_json(&it).map(|it| it.value.into_owned()).ok()))
    }

    /// The row of a case as JSON text, if it can still be read.
    fn row_text(&self, case: CaseIx) -> Result<Option<String>, ViewError> {
        match self.view.reader().row_of(case) {
            Ok(row) => Ok(row.and_then(|it| String::from_utf8(it).ok())),
            Err(RunFileError::SourceChanged { .. } | RunFileError::SourceUnreadable { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// The tags of a scenario or of a case for an agent, by its place.
    fn defined_tags(&self, place: u64) -> Option<&[String]> {
        let plan = self.view.plan();
        let place = usize::try_from(place).ok()?;
        let of_agent = |place: usize| plan.cases.get(place).map(|it| it.tags.as_slice());
        match place.checked_sub(plan.scenarios.len()) {
            None => Some(&plan.scenarios[place].scenario.tags),
            Some(place) => of_agent(place),
        }
    }

    /// The digests of what scenarios and cases for agents ask, in their order.
    fn defined_questions(&self) -> Vec<u128> {
        let plan = self.view.plan();
        let scenarios = plan.scenarios.iter().map(|it| asked_by_scenario(&it.scenario));
        let cases = plan.cases.iter().map(|it| asked_of_agent(it));
        scenarios.chain(cases).map(|it| digest(it.as_bytes())).collect()
    }

    /// Does something with each row, as far as rows can be read. Returns whether all could.
    fn each_row(&self, mut take: impl FnMut(u64, &Val<'_>)) -> Result<bool, ViewError> {
        let (mut last, mut all) = (None, true);
        for case in self.view.reader().identities() {
            let case_ix = case?.case_ix;
            let row = self.n_variants().place(case_ix);
            if last == Some(row) {
                continue;
            }
            last = Some(row);
            match self.row_value(case_ix)? {
                Some(value) => take(row, &value),
                None => all = false,
            }
        }
        Ok(all)
    }
}

impl Table for RunTable {
    fn side(&self) -> &Side {
        &self.side
    }

    fn definition(&self) -> &Definition {
        &self.definition
    }

    fn stopping(&self) -> Option<&StoppingRecord> {
        self.stopping.as_ref()
    }

    fn variants(&self) -> &[(usize, Variant)] {
        &self.variants
    }

    fn n_variants(&self) -> VariantCount {
        self.view.head().n_variants()
    }

    fn n_defined(&self) -> Option<u64> {
        Some((self.view.plan().scenarios.len() + self.view.plan().cases.len()) as u64)
    }

    fn tasks(&self) -> &[TaskInfo] {
        &self.tasks
    }

    fn upstream(&self, task: &str) -> Vec<&str> {
        let plan = self.view.plan();
        let own = self.tasks.iter().position(|it| it.id == task);
        let (mut open, mut found) = (Vec::from_iter(own), Vec::new());
        while let Some(ix) = open.pop() {
            for it in plan.tasks[ix].rests_on().map(TaskIx::index) {
                if !found.contains(&it) {
                    found.push(it);
                    open.push(it);
                }
            }
        }
        found.into_iter().map(|it| self.tasks[it].id.as_str()).collect()
    }

    fn judge_parts(&self, column: Column) -> Option<JudgeParts> {
        column.task().map(|it| judge_parts(&self.view, it).0)
    }

    fn keys<'t>(&'t self) -> Result<Box<dyn Iterator<Item = Result<RowKey, ViewError>> + 't>, ViewError> {
        Ok(Box::new(self.view.reader().row_keys()?.map(|it| it.map_err(ViewError::from))))
    }

    fn is_by_content(&self) -> Result<bool, ViewError> {
        let first = self.view.reader().identities().next().transpose()?;
        Ok(first.is_some_and(|it| !it.has_own_id))
    }

    fn nameless(&self) -> Result<HashSet<u64>, ViewError> {
        let mut rows = HashSet::new();
        for identity in self.view.reader().identities() {
            let identity = identity?;
            if !identity.has_own_id {
                rows.insert(self.n_variants().place(identity.case_ix));
            }
        }
        Ok(rows)
    }

    fn cases_of_term(&self, query: &str, term: &WrittenTerm) -> Result<Result<TermCases, QueryProblem>, ViewError> {
        cases_of_term(&self.view, query, term)
    }

    fn codes(&self, column: Column) -> Result<Vec<Option<Code>>, ViewError> {
        Ok(self.view.reader().codes(column)?)
    }

    fn codes_of(&self, case: CaseIx) -> Result<Vec<Code>, ViewError> {
        Ok(self.view.reader().case(case)?.map(|it| it.codes).unwrap_or_default())
    }

    fn scores(&self, column: Column) -> Result<Vec<Option<f64>>, ViewError> {
        Ok(self.view.reader().scores(column)?)
    }

    fn labels(&self, column: Column) -> Result<Vec<Option<String>>, ViewError> {
        Ok(self.view.reader().labels(column)?)
    }

    fn questions(&self) -> Result<Vec<u128>, ViewError> {
        let which = if self.view.plan().ask.is_some() { Digests::Rows } else { Digests::Questions };
        let mut digests = self.view.reader().digests(which)?.unwrap_or_default();
        let (n_variants, defined) = (self.n_variants(), self.defined_questions());
        digests.resize(digests.len().max(n_variants.first(defined.len() as u64).index()), 0);
        for (place, question) in (0..).zip(defined) {
            let Range { start, end } = n_variants.cases(place);
            digests[start.index()..end.index()].fill(question);
        }
        Ok(digests)
    }

    fn recorded(&self) -> Result<Vec<u128>, ViewError> {
        if self.view.plan().asks_subjects() {
            return Ok(Vec::new());
        }
        Ok(self.view.reader().digests(Digests::Rows)?.unwrap_or_default())
    }

    fn asked(&self) -> Result<Asked, ViewError> {
        let mut asked = Asked::default();
        for effect in self.view.reader().effects() {
            self.add_effect(&effect?, &mut asked)?;
        }
        asked.served.values_mut().for_each(|it| it.sort_unstable());
        Ok(asked)
    }

    fn values(&self, path: &FieldPath) -> Result<Option<RowTexts>, ViewError> {
        if let Some(groups) = self.view.reader().group_texts(&path.to_string())? {
            return Ok(Some(RowTexts::of_cases(groups, self.n_variants())));
        }
        let mut values = HashMap::new();
        let all = self.each_row(|row, value| {
            if let Ok(found) = path.find(value) {
                values.insert(row, found.as_str().map_or_else(|| found.to_string(), str::to_owned));
            }
        })?;
        Ok(all.then(|| values.into_iter().collect()))
    }

    fn tagged(&self, tag: &str) -> Result<Option<HashSet<u64>>, ViewError> {
        let defined = self.view.plan().scenarios.len() + self.view.plan().cases.len();
        let is_tagged = |tags: &[String]| tags.iter().any(|it| it == tag);
        let of_place = |it: &usize| self.defined_tags(*it as u64).is_some_and(is_tagged);
        let mut rows: HashSet<u64> = (0..defined).filter(of_place).map(|it| it as u64).collect();
        let all = self.each_row(|row, value| {
            if is_tagged(&tags_of_row(value)) {
                rows.insert(row);
            }
        })?;
        Ok(all.then_some(rows))
    }

    fn tags(&self, case: CaseIx) -> Result<Vec<String>, ViewError> {
        if let Some(tags) = self.defined_tags(self.n_variants().place(case)) {
            return Ok(tags.to_vec());
        }
        Ok(self.row_value(case)?.map(|it| tags_of_row(&it)).unwrap_or_default())
    }

    fn has_tag(&self, case: CaseIx, tag: &str) -> Result<bool, ViewError> {
        if let Some(tags) = self.defined_tags(self.n_variants().place(case)) {
            return Ok(tags.iter().any(|it| it == tag));
        }
        Ok(self.row_text(case)?.is_some_and(|it| row_has_tag(&it, tag)))
    }

    /// Rows are read many at a time: one by one, those of a comparison of millions take longer than all its figures.
    fn tagged_cases(&self, tag: &str, wanted: &[bool]) -> Result<HashSet<CaseIx>, ViewError> {
        let defined = |case: CaseIx| self.defined_tags(self.n_variants().place(case));
        let is_tagged = |case: &CaseIx| defined(*case).is_some_and(|tags| tags.iter().any(|it| it == tag));
        let cases = CaseIx::each().zip(wanted).filter(|it| *it.1).map(|it| it.0);
        let mut found: HashSet<CaseIx> = cases.take_while(|it| defined(*it).is_some()).filter(is_tagged).collect();
        let is_wanted = |it: CaseIx| wanted.get(it.index()) == Some(&true) && defined(it).is_none();
        self.view.reader().scan_rows(CaseIx::ALL, &is_wanted, &mut |case, row| {
            let text = row.ok().and_then(|it| std::str::from_utf8(it).ok());
            if text.is_some_and(|it| row_has_tag(it, tag)) {
                found.insert(case);
            }
            ControlFlow::Continue(())
        })?;
        Ok(found)
    }

    fn cluster_by(&self) -> Option<FieldPath> {
        self.view.plan().cluster_by.clone()
    }

    fn group_by(&self) -> Vec<FieldPath> {
        self.view.plan().group_by.clone()
    }

    fn id(&self, case: CaseIx) -> Result<String, ViewError> {
        Ok(self.view.reader().identity(case)?.map_or_else(String::new, |it| self.view.name_of(&it)))
    }

    fn row_id(&self, case: CaseIx) -> Result<String, ViewError> {
        Ok(self.view.reader().identity(case)?.map_or_else(String::new, |it| it.id))
    }

    fn each_name(&self, take: &mut dyn FnMut(CaseIx, &str)) -> Result<(), ViewError> {
        for identity in self.view.reader().identities() {
            let identity = identity?;
            take(identity.case_ix, &self.view.name_of(&identity));
        }
        Ok(())
    }

    fn describe(&self, case: CaseIx, task: Option<&str>, side: &mut ChangeSide) -> Result<(), ViewError> {
        let Some(case) = self.view.reader().case(case)? else { return Ok(()) };
        let report = self.view.case_report(&case, Detailed::Tasks)?;
        let is_named = |it: &&TaskReport| task.is_some_and(|id| self.tasks.get(it.task).is_some_and(|it| it.id == id));
        let named = report.tasks.iter().find(is_named);
        let text = |it: &Value| it.as_str().map_or_else(|| it.to_json(), str::to_owned);
        let response = report.data.output.as_ref().or_else(|| named.and_then(|it| it.actual.as_ref())).map(text);
        let message = named.map_or(report.message, |it| it.message.clone());
        side.said = Some(Box::new(Said { response, message }));
        Ok(())
    }
}

/// What a scenario asks, as it would be written. Its description, tags and outcomes ask nothing.
fn asked_by_scenario(scenario: &Scenario) -> String {
    let written = scenario.to_value();
    let asks = ["system", "entry", "turn_limit", "nodes", "edges"].map(|key| (key, written.get(key)));
    let members = asks.into_iter().filter_map(|(key, it)| Some((key.to_owned(), it?.clone())));
    Val::Map(members.collect()).to_json()
}

/// What a case asks an agent.
fn asked_of_agent(case: &AgentCase) -> String {
    let text = |it: &str| Val::from(it.to_owned());
    let attachments = case.attachments.iter().map(|(name, it)| Val::List(vec![text(name), text(it)]));
    let members = [
        ("system", case.system.as_deref().map_or(Val::Null, text)),
        ("turns", case.turns.iter().map(|it| text(it)).collect()),
        ("attachments", attachments.collect()),
    ];
    Val::Map(members.map(|(key, it)| (key.to_owned(), it)).into_iter().collect()).to_json()
}

/// Whether a row has a tag. Most rows of a million have none, and searching a text costs a tenth of parsing it. An escape may spell it.
fn row_has_tag(row: &str, tag: &str) -> bool {
    let may_have = row.contains(tag) || row.contains('\\');
    may_have && parse_json(row).is_ok_and(|it| tags_of_row(&it.value).iter().any(|it| it == tag))
}

/// The tags that a row has.
fn tags_of_row(row: &Val<'_>) -> Vec<String> {
    let text = |it: &Val<'_>| it.as_str().map(str::to_owned);
    match row.as_map().and_then(|it| it.get("tags")) {
        Some(Val::List(tags)) => tags.iter().filter_map(text).collect(),
        Some(one) => text(one).into_iter().collect(),
        None => Vec::new(),
    }
}

/// Whether an effect is an answer of the subject or a run of it.
fn is_of_subject(effect: &StoredEffect) -> bool {
    matches!(effect.site.asker, Asker::Case | Asker::Turn(_)) && Slot::numbered(effect.site.slot) == Some(Slot::Subject)
}

impl CaseAsked {
    fn add_answer(&mut self, effect: &StoredEffect, outcome: &Outcome) {
        let text = match outcome {
            Outcome::Answer(answer) => answer.text.as_str(),
            _ => effect.outcome.as_str(),
        };
        let chained = [&self.answer.to_be_bytes()[..], text.as_bytes()].concat();
        self.answer = digest(&chained);
        // The same key answered at the same moment is the same recorded answer.
        let is_first = self.subject.answers == 0;
        let before = if is_first { Some(0) } else { self.reused };
        self.reused = before.filter(|_| effect.reused).map(|before: u128| {
            digest(&[&before.to_be_bytes()[..], &effect.key.0[..], &effect.at_ms.to_be_bytes()[..]].concat())
        });
    }
}

impl Amount {
    fn add(&mut self, outcome: &Outcome, is_subject: bool, is_reused: bool) {
        let Some((usage, cost_usd)) = taken(outcome) else { return };
        self.answers += 1;
        self.n_reused += u64::from(is_reused);
        self.input += usage.input;
        self.output += usage.output;
        match cost_usd {
            Some(usd) => self.usd += usd,
            None => self.unpriced += 1,
        }
        if is_subject {
            self.seconds += latency(outcome).map_or(0.0, |it| it.as_secs_f64());
        }
    }
}
