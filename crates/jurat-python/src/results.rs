//! The results of a run as columns of Arrow, by what its file alone says: no row is read, so a million cases take a second.
//!
//! Texts that are the same in many rows are dictionaries. Those of tasks, verdicts and variants are shared by all batches; so is a column of a batch in which
//! nothing stands.

use std::sync::Arc;

use arrow_array::builder::{Float64Builder, StringBuilder, StringDictionaryBuilder};
use arrow_array::types::{ArrowDictionaryKeyType, Int8Type, Int16Type, Int32Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, DictionaryArray, Float32Array, Int32Array, PrimitiveArray, RecordBatch,
    RecordBatchReader, StringArray, StringViewArray, new_null_array,
};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use jurat::view::{StoredOutcome, StoredResult};
use jurat::{CaseVerdict, TaskVerdict};

/// How many cases are in a batch.
const CASES: u64 = 16_384;

/// How texts are written that differ from row to row.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum LongTexts {
    /// With offsets, which every reader of Arrow knows.
    Offsets,
    /// As views, which is how Polars holds them: it takes them over, and batches without a text share one column of nulls.
    Views,
}

/// The results of a run, as a stream.
pub(crate) struct Results {
    run: jurat::Run,
    schema: SchemaRef,
    known: Known,
    texts: LongTexts,
    nulls: Nulls,
    next: u64,
}

impl LongTexts {
    fn array(self, texts: StringArray) -> ArrayRef {
        match self {
            LongTexts::Offsets => Arc::new(texts),
            LongTexts::Views => Arc::new(StringViewArray::from(&texts)),
        }
    }
}

impl Results {
    pub(crate) fn of(run: jurat::Run, texts: LongTexts) -> Results {
        let known = Known::of(&run);
        Results { run, schema: schema(&known, texts), known, texts, nulls: Nulls::default(), next: 0 }
    }

    /// The columns of some cases; `None` when there are no more.
    fn batch(&mut self) -> Option<Result<RecordBatch, ArrowError>> {
        let mut columns = Columns::default();
        let known = &self.known;
        let read = self.run.read_outcomes(self.next..self.next + CASES, &mut |case| columns.put(known, &case));
        match read {
            Err(error) => Some(Err(ArrowError::ExternalError(Box::new(error)))),
            Ok(0) => None,
            Ok(_) => {
                self.next += CASES;
                let columns = columns.finish(known, self.texts).map(|it| self.nulls.shared(it));
                Some(columns.and_then(|it| RecordBatch::try_new(Arc::clone(&self.schema), it)))
            }
        }
    }
}

impl Iterator for Results {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.batch()
    }
}

impl RecordBatchReader for Results {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

fn dictionary(key: DataType) -> DataType {
    DataType::Dictionary(Box::new(key), Box::new(DataType::Utf8))
}

fn schema(known: &Known, texts: LongTexts) -> SchemaRef {
    let text = if texts == LongTexts::Views { DataType::Utf8View } else { DataType::Utf8 };
    let (small, middle, large) = (dictionary(DataType::Int8), dictionary(DataType::Int16), dictionary(DataType::Int32));
    let columns = [
        ("record", large.clone()),
        ("prompt", middle.clone()),
        ("subject", middle.clone()),
        ("replicate", DataType::Int32),
        ("case_verdict", small.clone()),
        ("task", if known.has_few_tasks() { middle } else { large.clone() }),
        ("kind", small.clone()),
        ("counted", DataType::Boolean),
        ("verdict", small),
        ("label", large),
        ("score", DataType::Float64),
        ("explanation", text.clone()),
        ("message", text),
        // As precise as clocks are, and half as large.
        ("case_seconds", DataType::Float32),
    ];
    Arc::new(Schema::new(columns.map(|(name, kind)| Field::new(name, kind, true)).to_vec()))
}

/// The texts that are known before the first case.
struct Known {
    tasks: Arc<StringArray>,
    kinds: Texts,
    /// The kind of each task, by its place.
    kind_of: Vec<Option<i8>>,
    /// Whether each task is counted.
    is_counted: Vec<bool>,
    prompts: Texts,
    subjects: Texts,
    is_repeated: bool,
    task_verdicts: Arc<StringArray>,
    case_verdicts: Arc<StringArray>,
}

impl Known {
    fn of(run: &jurat::Run) -> Known {
        let tasks = run.task_totals();
        let variants = run.variants();
        let kinds = Texts::of(tasks.iter().map(|it| it.kind.as_str()));
        Known {
            tasks: Arc::new(tasks.iter().map(|it| Some(it.id.as_str())).collect()),
            kind_of: tasks.iter().map(|it| kinds.place(&it.kind).map(|it| it as i8)).collect(),
            kinds,
            is_counted: tasks.iter().map(jurat::TaskTotal::is_counted).collect(),
            prompts: Texts::of(variants.iter().map(|it| it.prompt.as_str())),
            subjects: Texts::of(variants.iter().map(|it| it.subject.as_str())),
            is_repeated: variants.iter().any(|it| it.replicate > 0),
            task_verdicts: Arc::new(TaskVerdict::NAMED.iter().map(|(it, _)| Some(*it)).collect()),
            case_verdicts: Arc::new(CaseVerdict::NAMED.iter().map(|(it, _)| Some(*it)).collect()),
        }
    }
}

impl Known {
    /// Whether small keys are enough for the names of tasks.
    fn has_few_tasks(&self) -> bool {
        i16::try_from(self.tasks.len()).is_ok()
    }
}

/// Keys of few texts.
fn narrow(keys: &[Option<i32>]) -> PrimitiveArray<Int16Type> {
    keys.iter().map(|it| it.map(|it| it as i16)).collect()
}

/// Texts that occur, each once.
struct Texts(Arc<StringArray>);

impl Texts {
    fn of<'t>(texts: impl Iterator<Item = &'t str>) -> Texts {
        let mut found: Vec<&str> = Vec::new();
        for text in texts.filter(|it| !it.is_empty()) {
            if !found.contains(&text) {
                found.push(text);
            }
        }
        Texts(Arc::new(found.into_iter().map(Some).collect()))
    }

    fn place(&self, text: &str) -> Option<i16> {
        self.0.iter().position(|it| it == Some(text)).and_then(|it| i16::try_from(it).ok())
    }
}

/// The columns of a batch, as they are written.
#[derive(Default)]
struct Columns {
    names: StringBuilder,
    n_names: i32,
    /// The last of the names: the variants of a row follow one another.
    last: Option<String>,
    record: Vec<i32>,
    prompt: Vec<Option<i16>>,
    subject: Vec<Option<i16>>,
    replicate: Vec<Option<i32>>,
    case_verdict: Vec<i8>,
    task: Vec<Option<i32>>,
    kind: Vec<Option<i8>>,
    counted: Vec<Option<bool>>,
    verdict: Vec<Option<i8>>,
    label: StringDictionaryBuilder<Int32Type>,
    score: Float64Builder,
    explanation: StringBuilder,
    message: StringBuilder,
    seconds: Vec<f32>,
}

impl Columns {
    fn put(&mut self, known: &Known, case: &StoredOutcome<'_>) {
        let record = self.name(case.name());
        let prompt = case.variant.and_then(|it| known.prompts.place(&it.prompt));
        let subject = case.variant.and_then(|it| known.subjects.place(&it.subject));
        let replicate = case.variant.filter(|_| known.is_repeated).map(|it| it.replicate as i32 + 1);
        let verdict = case.verdict as i8;
        let seconds = case.case.took.unwrap_or_default().as_secs_f32();
        let mut put = |result: Option<StoredResult<'_>>| {
            let result = result.as_ref();
            self.record.push(record);
            self.prompt.push(prompt);
            self.subject.push(subject);
            self.replicate.push(replicate);
            self.case_verdict.push(verdict);
            self.task.push(result.map(|it| it.task.0 as i32));
            self.kind.push(result.and_then(|it| known.kind_of.get(it.task.index()).copied().flatten()));
            self.counted.push(result.and_then(|it| known.is_counted.get(it.task.index()).copied()));
            self.verdict.push(result.map(|it| it.verdict as i8));
            self.label.append_option(result.and_then(|it| it.label));
            self.score.append_option(result.and_then(|it| it.score).filter(|it| it.is_finite()));
            self.explanation.append_option(result.and_then(|it| it.explanation));
            self.message.append_option(result.and_then(|it| it.message.as_deref()));
            self.seconds.push(seconds);
        };
        let mut results = case.results().peekable();
        // A case that no task is for has one row.
        if results.peek().is_none() {
            put(None);
        }
        results.for_each(|it| put(Some(it)));
    }

    /// The place of a name among those of the batch.
    fn name(&mut self, name: String) -> i32 {
        if self.last.as_ref() != Some(&name) {
            self.names.append_value(&name);
            self.n_names += 1;
            self.last = Some(name);
        }
        self.n_names - 1
    }

    fn finish(mut self, known: &Known, long: LongTexts) -> Result<Vec<ArrayRef>, ArrowError> {
        let names: Arc<StringArray> = Arc::new(self.names.finish());
        Ok(vec![
            texts::<Int32Type>(self.record.into(), &names)?,
            texts::<Int16Type>(self.prompt.into(), &known.prompts.0)?,
            texts::<Int16Type>(self.subject.into(), &known.subjects.0)?,
            Arc::new(Int32Array::from(self.replicate)),
            texts::<Int8Type>(self.case_verdict.into(), &known.case_verdicts)?,
            match known.has_few_tasks() {
                true => texts::<Int16Type>(narrow(&self.task), &known.tasks)?,
                false => texts::<Int32Type>(self.task.into(), &known.tasks)?,
            },
            texts::<Int8Type>(self.kind.into(), &known.kinds.0)?,
            Arc::new(BooleanArray::from(self.counted)),
            texts::<Int8Type>(self.verdict.into(), &known.task_verdicts)?,
            Arc::new(self.label.finish()),
            Arc::new(self.score.finish()),
            long.array(self.explanation.finish()),
            long.array(self.message.finish()),
            Arc::new(Float32Array::from(self.seconds)),
        ])
    }
}

fn texts<K: ArrowDictionaryKeyType>(
    keys: PrimitiveArray<K>,
    values: &Arc<StringArray>,
) -> Result<ArrayRef, ArrowError> {
    Ok(Arc::new(DictionaryArray::<K>::try_new(keys, Arc::clone(values) as ArrayRef)?))
}

/// Columns in which nothing stands, by their places: all batches share them.
#[derive(Default)]
struct Nulls(Vec<Option<ArrayRef>>);

impl Nulls {
    fn shared(&mut self, mut columns: Vec<ArrayRef>) -> Vec<ArrayRef> {
        self.0.resize(columns.len(), None);
        for (null, column) in self.0.iter_mut().zip(&mut columns) {
            if column.null_count() < column.len() {
                continue;
            }
            let shared = null.take().filter(|it| it.len() >= column.len());
            let shared = shared.unwrap_or_else(|| new_null_array(column.data_type(), column.len()));
            *column = shared.slice(0, column.len());
            *null = Some(shared);
        }
        columns
    }
}
