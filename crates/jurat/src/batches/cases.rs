//! The layout with one row for each case.

use std::sync::Arc;

use arrow_array::builder::{Float64Builder, ListBuilder, StringBuilder, StructBuilder};
use arrow_array::types::Int8Type;
use arrow_array::{ArrayRef, DictionaryArray, Int8Array, Int32Array, Int64Array, StringArray, StructArray};
use arrow_schema::{DataType, FieldRef, Fields};
use jurat_core::plan::TaskIx;
use jurat_engine::batches::{BatchPlan, JudgedCase};
use jurat_format::value::Value;

use super::{BatchOptions, Judged, Keep, Place, field};
use crate::{CaseVerdict, TaskVerdict};

/// How many tasks of a case ended how.
const COUNTS: [&str; 6] = ["passed", "failed", "measured", "skipped", "error", "not_run"];

/// What the answers of a case took.
const TAKEN: [&str; 7] =
    ["answers", "reused", "requests", "input_tokens", "output_tokens", "cost_nano_usd", "latency_us"];

/// What is said about a task.
const WHY: [&str; 5] = ["task", "message", "expected", "actual", "explanation"];

/// The columns of some cases, as they are written.
pub(super) struct CaseColumns<'p> {
    plan: &'p BatchPlan,
    keep: Keep,
    strings: bool,
    places: Vec<Place>,
    case: StringBuilder,
    prompt: StringBuilder,
    subject: StringBuilder,
    replicate: Vec<i32>,
    verdict: Vec<i8>,
    counts: [Vec<i32>; COUNTS.len()],
    /// The verdict of each task.
    tasks: Vec<Vec<Option<i8>>>,
    /// The tasks that can give labels and scores.
    marked: Vec<TaskIx>,
    labels: Vec<StringBuilder>,
    scores: Vec<Float64Builder>,
    why: ListBuilder<StructBuilder>,
    taken: [Vec<i64>; TAKEN.len()],
}

impl<'p> CaseColumns<'p> {
    pub(super) fn of(plan: &'p BatchPlan, batches: &BatchOptions) -> CaseColumns<'p> {
        let planned = plan.plan();
        let marked: Vec<TaskIx> = planned.task_ixs().filter(|it| planned.tasks[it.index()].work.has_output()).collect();
        CaseColumns {
            plan,
            keep: batches.keep,
            strings: batches.strings,
            places: Vec::new(),
            case: StringBuilder::new(),
            prompt: StringBuilder::new(),
            subject: StringBuilder::new(),
            replicate: Vec::new(),
            verdict: Vec::new(),
            counts: Default::default(),
            tasks: vec![Vec::new(); planned.tasks.len()],
            labels: marked.iter().map(|_| StringBuilder::new()).collect(),
            scores: marked.iter().map(|_| Float64Builder::new()).collect(),
            marked,
            why: ListBuilder::new(StructBuilder::from_fields(why_fields(), 0)).with_field(why_item()),
            taken: Default::default(),
        }
    }

    pub(super) fn fields(&self) -> Vec<FieldRef> {
        let number = |name: &&str| field(name, DataType::Int64);
        let mut fields = vec![field("case", DataType::Utf8)];
        if self.has_variants() {
            let text = |name| field(name, DataType::Utf8);
            fields.extend([text("prompt"), text("subject"), field("replicate", DataType::Int32)]);
        }
        fields.push(field("verdict", self.words()));
        fields.extend(COUNTS.iter().map(|name| field(name, DataType::Int32)));
        fields.push(field("tasks", DataType::Struct(self.task_fields())));
        if !self.marked.is_empty() {
            fields.push(field("labels", DataType::Struct(self.marked_fields(&DataType::Utf8))));
            fields.push(field("scores", DataType::Struct(self.marked_fields(&DataType::Float64))));
        }
        if self.keep != Keep::Nothing {
            fields.push(field("why", DataType::List(why_item())));
        }
        fields.extend(TAKEN.iter().map(number));
        fields
    }

    fn has_variants(&self) -> bool {
        self.plan.variants().len() > 1
    }

    /// The type of verdicts.
    fn words(&self) -> DataType {
        match self.strings {
            true => DataType::Utf8,
            false => DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Utf8)),
        }
    }

    fn task_fields(&self) -> Fields {
        self.plan.plan().tasks.iter().map(|it| field(&it.id, self.words())).collect()
    }

    fn marked_fields(&self, kind: &DataType) -> Fields {
        self.marked.iter().map(|it| field(&self.plan.plan().tasks[it.index()].id, kind.clone())).collect()
    }

    pub(super) fn put(&mut self, case: &JudgedCase<'_>, place: Place) {
        self.places.push(place);
        self.case.append_value(&case.id);
        if self.has_variants() {
            let named = |name: &str| Some(name.to_owned()).filter(|it| !it.is_empty());
            self.prompt.append_option(case.variant.and_then(|it| named(&it.prompt)));
            self.subject.append_option(case.variant.and_then(|it| named(&it.subject)));
            self.replicate.push(case.variant.map_or(1, |it| it.replicate as i32 + 1));
        }
        self.verdict.push(case.verdict as i8);
        let counts = case.state.counts();
        let counts = [counts.passed, counts.failed, counts.measured, counts.skipped, counts.errored, counts.not_run];
        self.counts.iter_mut().zip(counts).for_each(|(column, count)| column.push(count as i32));
        for (column, verdict) in self.tasks.iter_mut().zip(case.state.verdicts()) {
            column.push(verdict.map(|it| TaskVerdict::from(it) as i8));
        }
        self.put_marks(case);
        if self.keep != Keep::Nothing {
            self.put_why(case);
        }
        let taken = &case.taken;
        let taken =
            [taken.answers, taken.reused, taken.requests, taken.input, taken.output, taken.nano_usd, taken.latency_us];
        self.taken.iter_mut().zip(taken).for_each(|(column, it)| column.push(i64::try_from(it).unwrap_or(i64::MAX)));
    }

    fn put_marks(&mut self, case: &JudgedCase<'_>) {
        for (task, (labels, scores)) in self.marked.iter().zip(self.labels.iter_mut().zip(&mut self.scores)) {
            let marks = case.marks(*task).unwrap_or_default();
            labels.append_option(marks.label);
            scores.append_option(marks.score);
        }
    }

    fn put_why(&mut self, case: &JudgedCase<'_>) {
        if case.verdict != CaseVerdict::Passed || self.keep == Keep::All {
            let message = case.message();
            if !message.is_empty() {
                self.put_reason([None, Some(message), None, None, None]);
            }
            for (task, verdict) in self.plan.plan().task_ixs().zip(case.state.verdicts()) {
                let is_wanted = verdict.is_some_and(|it| is_explained(self.keep, TaskVerdict::from(it)));
                if let Some(task) = is_wanted.then(|| case.task(task)).flatten() {
                    let json = |it: Option<Value>| it.map(|it| it.to_json());
                    let id = self.plan.plan().tasks[task.task].id.clone();
                    let message = Some(task.message).filter(|it| !it.is_empty());
                    self.put_reason([Some(id), message, json(task.expected), json(task.actual), task.explanation]);
                }
            }
        }
        self.why.append(true);
    }

    fn put_reason(&mut self, texts: [Option<String>; WHY.len()]) {
        let reason = self.why.values();
        for (ix, text) in texts.into_iter().enumerate() {
            reason.field_builder::<StringBuilder>(ix).expect("every member is text").append_option(text);
        }
        reason.append(true);
    }

    pub(super) fn finish(mut self) -> Judged {
        let (has_variants, task_fields) = (self.has_variants(), self.task_fields());
        let (label_fields, score_fields) =
            (self.marked_fields(&DataType::Utf8), self.marked_fields(&DataType::Float64));
        let words = |keys: Int8Array, names: &Arc<StringArray>| words(keys, names, self.strings);
        let case_names: Arc<StringArray> = Arc::new(CaseVerdict::NAMED.iter().map(|(it, _)| Some(*it)).collect());
        let task_names: Arc<StringArray> = Arc::new(TaskVerdict::NAMED.iter().map(|(it, _)| Some(*it)).collect());
        let n_rows = self.places.len();
        let mut columns: Vec<ArrayRef> = vec![Arc::new(self.case.finish())];
        if has_variants {
            columns.push(Arc::new(self.prompt.finish()));
            columns.push(Arc::new(self.subject.finish()));
            columns.push(Arc::new(Int32Array::from(self.replicate)));
        }
        columns.push(words(self.verdict.into(), &case_names));
        columns.extend(self.counts.map(|it| Arc::new(Int32Array::from(it)) as ArrayRef));
        columns.push(group(task_fields, self.tasks.into_iter().map(|it| words(it.into(), &task_names)), n_rows));
        if !self.marked.is_empty() {
            columns.push(group(label_fields, self.labels.iter_mut().map(|it| Arc::new(it.finish()) as _), n_rows));
            columns.push(group(score_fields, self.scores.iter_mut().map(|it| Arc::new(it.finish()) as _), n_rows));
        }
        if self.keep != Keep::Nothing {
            columns.push(Arc::new(self.why.finish()));
        }
        columns.extend(self.taken.map(|it| Arc::new(Int64Array::from(it)) as ArrayRef));
        Judged { columns, places: self.places }
    }
}

/// Whether results say what a task expected and found.
pub(super) fn is_explained(keep: Keep, verdict: TaskVerdict) -> bool {
    match keep {
        Keep::All => true,
        Keep::Failed => matches!(verdict, TaskVerdict::Failed | TaskVerdict::Error | TaskVerdict::NotRun),
        Keep::Nothing => false,
    }
}

fn why_fields() -> Fields {
    WHY.iter().map(|name| field(name, DataType::Utf8)).collect()
}

fn why_item() -> FieldRef {
    field("item", DataType::Struct(why_fields()))
}

/// Verdicts by their numbers.
fn words(keys: Int8Array, names: &Arc<StringArray>, strings: bool) -> ArrayRef {
    match strings {
        true => Arc::new(keys.iter().map(|it| it.map(|it| names.value(it as usize))).collect::<StringArray>()),
        false => Arc::new(DictionaryArray::<Int8Type>::new(keys, Arc::clone(names) as ArrayRef)),
    }
}

/// Columns as members of one.
fn group(fields: Fields, columns: impl Iterator<Item = ArrayRef>, n_rows: usize) -> ArrayRef {
    let columns: Vec<ArrayRef> = columns.collect();
    match columns.is_empty() {
        true => Arc::new(StructArray::new_empty_fields(n_rows, None)),
        false => Arc::new(StructArray::new(fields, columns, None)),
    }
}
