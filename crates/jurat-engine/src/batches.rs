//! Batches of rows judged without a run: for programs that have their rows as Arrow, and something that distributes them.
//!
//! Cases are judged by the lanes that judge them in a run, and handed to the caller instead of a file. Nothing is opened unless something is asked. Rows are
//! known by their own id or by their content, whatever batch they are in, so equal rows have equal ids: numbers that distinguish them would depend on how
//! the rows were cut into batches. A row that cannot be judged is a case with an error, and never the end of its batch.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::num::NonZeroU64;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use arrow_array::RecordBatch;
use jurat_core::case::CaseState;
use jurat_core::judge::Marks;
use jurat_core::plan::{CaseIx, CaseName, Plan, TaskIx};
use jurat_core::report::{CaseReport, TaskReport, TaskTotal};
use jurat_core::suite::{Records, Task};
use jurat_core::verdict::{CaseVerdict, Verdict};
use jurat_format::problem::Problem;
use jurat_format::value::{FieldPath, Span, Spanned, Step, Val};
use jurat_model::Proxies;
use jurat_store::journal::{AnswerStore, AnswerWriter, Journal};
use jurat_store::records::{BatchRows, RowAt, RowId};
use jurat_store::run::{BlockBuilder, CaseTaken, Variant};
use xxhash_rust::xxh3::xxh3_128;

use crate::allowance::Leases;
use crate::breaker::Breaker;
use crate::case_source::OpenCase;
use crate::case_store::{CaseSink, CaseStore, Done, TakeDone, place};
use crate::effect_lane::{AT_A_TIME, EffectLane};
use crate::effects::{Effects, Happened, OutcomeAt, OutcomeLog, Shares, Source};
use crate::evaluators::{Evaluators, Workers};
use crate::launch::{supervisor, unusable_evaluator};
use crate::performers::Performers;
use crate::record_lane::RecordLane;
use crate::requirements::{Met, Place, require, require_roles};
use crate::roles::main_folder;
use crate::rows::{BatchRow, REFUSED, Rows, id_text};
use crate::run::{WINDOW, not_before};
use crate::tally::{Taken, Tally};
use crate::task_report::{completed, concluded, message, with_outcomes};
use crate::variants::{Asked, variants_of};
use crate::{
    Budget, Conditions, Definition, LaunchError, Perform as _, Progress, Resources, Roles, RunError, RunOptions, Stop,
    now_ms,
};

/// What is the same for all batches of a suite.
#[derive(Debug)]
pub struct BatchPlan {
    plan: Plan,
    records: Vec<Records>,
    variants: Vec<Variant>,
    asked: Vec<Asked>,
}

impl BatchPlan {
    /// The plan of a definition whose rows are given. `id` is the column that names rows, in place of where the definition looks. Keys of models need
    /// not be there yet.
    pub fn new(
        definition: Definition<'_>,
        options: &RunOptions,
        id: Option<&str>,
        env: &dyn Fn(&str) -> Option<String>,
    ) -> Result<BatchPlan, LaunchError> {
        let (mut plan, mut records) = (definition.plan.clone(), definition.suite.records.clone());
        if let Some(id) = id {
            let path = FieldPath::of([Step::Key(id.into())]);
            plan.footprint.add(&path);
            records.iter_mut().for_each(|it| it.id = Some(Spanned::new(path.clone(), Span::default())));
        }
        let repeat = options.repeat.or(definition.suite.repeat).unwrap_or(1);
        if repeat > 1 && !plan.asks_subjects() {
            return Err(LaunchError::NothingToRepeat);
        }
        Roles::are_asked(&plan, &options.models)?;
        let subjects = match plan.asks_subjects() {
            true => require_roles(definition, &options.models, env).map_err(unready)?.subjects,
            false => Vec::new(),
        };
        let (variants, asked) = variants_of(&plan, &subjects, repeat);
        Ok(BatchPlan { plan, records, variants, asked })
    }

    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// What each row is made into; empty when a row is one case.
    pub fn variants(&self) -> &[Variant] {
        &self.variants
    }

    /// Whether the column with this name is read to know a row by.
    fn names_rows(&self, column: &str) -> bool {
        match self.records.first().and_then(|it| it.id.as_ref()) {
            Some(path) => path.value.root() == Some(column),
            None => jurat_store::records::ID_KEYS.contains(&column),
        }
    }
}

fn unready(problems: Vec<Problem>) -> LaunchError {
    LaunchError::Unready(problems.into_iter().map(Problem::as_error).collect())
}

/// The tasks of a definition as tables name them, without counts.
pub fn task_totals(definition: Definition<'_>) -> Vec<TaskTotal> {
    let total = |(task, stage): (&Task, usize)| TaskTotal {
        id: task.id.value.clone(),
        kind: task.kind.name().to_owned(),
        gate: task.gate,
        stage,
        path: task.path_text(),
        operator: task.operator_name(),
        ..TaskTotal::default()
    };
    definition.suite.tasks.iter().zip(definition.plan.stage_numbers()).map(total).collect()
}

/// A case of a batch that is done.
pub struct JudgedCase<'c> {
    /// Its place among the cases of the batch.
    pub case_ix: CaseIx,
    /// The row of the batch that it is from, from 0.
    pub row: usize,
    pub id: Cow<'c, str>,
    /// Which of the cases of its row it is, where there are several.
    pub variant: Option<&'c Variant>,
    pub verdict: CaseVerdict,
    pub state: &'c CaseState<'c>,
    /// What its answers took.
    pub taken: CaseTaken,
    pub took: Duration,
    /// Whether cases are run several times, so that their numbers distinguish them.
    is_repeated: bool,
    plan: &'c Plan,
    tasks: &'c [Task],
    happened: Vec<OutcomeAt>,
}

/// Takes the cases of a batch, in the order in which they are done.
pub type TakeCase<'t> = dyn Fn(&JudgedCase<'_>) + Sync + 't;

impl JudgedCase<'_> {
    /// Why it could not be judged, where no task of it says so; else empty.
    pub fn message(&self) -> String {
        self.state.fault_without_task().map(|it| message(self.plan, it)).unwrap_or_default()
    }

    /// What is reported of a task; nothing when it is not for this case.
    pub fn task(&self, task: TaskIx) -> Option<TaskReport> {
        let verdict = &self.state.result(task)?.verdict;
        let report = completed(concluded(self.plan, task, verdict), self.plan, &self.tasks[task.index()], self.state);
        Some(with_outcomes(report, self.happened.iter().map(|(site, outcome, reused)| (*site, outcome, *reused))))
    }

    /// The label, the score and the explanation that the judge or evaluator of a task gave.
    pub fn marks(&self, task: TaskIx) -> Option<Marks> {
        self.state.marks(task)
    }

    /// Everything that is reported of it.
    pub fn report(&self) -> CaseReport {
        let named = |it: &String| (!it.is_empty()).then(|| it.clone());
        CaseReport {
            prompt: self.variant.and_then(|it| named(&it.prompt)),
            subject: self.variant.and_then(|it| named(&it.subject)),
            replicate: self.variant.filter(|_| self.is_repeated).map(|it| it.replicate + 1),
            message: self.message(),
            counts: self.state.counts(),
            took: self.took,
            tasks: self.plan.task_ixs().filter_map(|it| self.task(it)).collect(),
            ..CaseReport::new(self.id.as_ref(), self.verdict)
        }
    }
}

/// A definition over batches.
#[derive(Clone, Copy)]
pub struct Batches<'b> {
    pub definition: Definition<'b>,
    pub batch: &'b BatchPlan,
}

impl<'b> Batches<'b> {
    /// Judges the rows of a batch, for a plan that asks nothing. A batch that is stopped is not judged to its end.
    pub fn judge(self, rows: &RecordBatch, stop: &Stop, take: &TakeCase<'_>) -> Result<(), RunError> {
        let (happened, progress) = (Happened::default(), Progress::default());
        let caller = Caller { batches: self, happened: &happened, take };
        let tally = self.tally();
        let store = self.store(&caller, &tally, stop, &progress);
        let _entered = stop.evaluations().enter();
        self.read(rows, store, &Rows::of(&self.batch.records)).map(drop)
    }

    fn tally(self) -> Tally {
        let BatchPlan { plan, variants, .. } = self.batch;
        Tally::new(plan.tasks.len(), variants.len(), plan.layout(variants.len()), Taken::default())
    }

    fn store<'s>(
        self,
        caller: &'s Caller<'_>,
        tally: &'s Tally,
        stop: &'s Stop,
        progress: &'s Progress,
    ) -> CaseStore<'s>
    where
        'b: 's,
    {
        let BatchPlan { plan, variants, .. } = self.batch;
        CaseStore {
            plan,
            layout: plan.layout(variants.len()),
            variants,
            tally,
            keep_all: false,
            sink: CaseSink::Caller(caller),
            progress,
            stop,
            fail_fast: false,
            watch: None,
        }
    }

    /// Judges what can be judged at once, and returns the cases that have something to ask, in order.
    fn read(self, rows: &RecordBatch, store: CaseStore<'_>, named: &Rows<'_>) -> Result<Vec<OpenCase>, RunError> {
        let lane = RecordLane {
            rows: named,
            store,
            open: None,
            hand: usize::MAX,
            ids: None,
            only: None,
            rerun: None,
            defined: Mutex::default(),
            unseen: None,
        };
        let mut block = BlockBuilder::new(store.plan.tasks.len(), store.layout.n_variants());
        let (mut texts, mut opened) = (RowTexts::of(self.batch, rows)?, Vec::new());
        for ix in 0..rows.num_rows() {
            if store.stop.reason().is_some() {
                break;
            }
            if let Some(text) = texts.part(ix)
                && lane.part_of_row(&mut block, batch_row(ix, &at(ix, text), text))?
            {
                continue;
            }
            let text = texts.whole(ix)?;
            let at = at(ix, text);
            match lane.whole_row(&mut block, &mut opened, batch_row(ix, &at, text)) {
                Err(RunError::Id { error, .. }) => {
                    unnamed(&store, &mut block, (ix, &at, text), &Verdict::error(error.to_string()));
                }
                done => done?,
            }
        }
        Ok(opened)
    }
}

/// Puts the cases of a row that has no usable id: it is known by its content.
fn unnamed(store: &CaseStore<'_>, block: &mut BlockBuilder, (ix, at, text): (usize, &RowAt, &str), verdict: &Verdict) {
    let id = RowId::Content(xxh3_128(text.as_bytes()));
    let name = CaseName::of_row("", Vec::new());
    let state = CaseState::without_evidence(store.plan, &name, verdict);
    for (_, case_ix) in store.layout.cases(store.layout.of_row(ix as u64)) {
        let (id, base, took) = (&id, &Val::Null, Duration::ZERO);
        store.put(block, &Done { case_ix, id, place: place(at), text, base, state: &state, took });
    }
}

fn batch_row<'r>(ix: usize, at: &'r RowAt, text: &'r str) -> BatchRow<'r> {
    BatchRow { place: ix as u64, turn: None, at, text, columns: None }
}

/// Where a row of a batch is. Its text is the whole buffer.
fn at(ix: usize, text: &str) -> RowAt {
    let number = ix as u64 + 1;
    RowAt { range: 0..u32::try_from(text.len()).unwrap_or(u32::MAX), source: 0, number, line: number, offset: None }
}

/// The JSON of the rows of a batch: of the columns that the plan reads, and of all when that is not enough.
struct RowTexts<'t> {
    rows: &'t RecordBatch,
    /// The columns that the plan reads; `None` when rows are needed whole: by a task, or because their text is their name.
    read: Option<BatchRows>,
    all: Option<BatchRows>,
    json: String,
}

impl<'t> RowTexts<'t> {
    fn of(batch: &BatchPlan, rows: &'t RecordBatch) -> Result<RowTexts<'t>, RunError> {
        let BatchPlan { plan, .. } = batch;
        let has_ids = rows.schema_ref().fields().iter().any(|it| batch.names_rows(it.name()));
        let is_part_enough = has_ids && !plan.asks() && !plan.footprint.is_all() && !plan.narrows();
        let read = is_part_enough.then(|| BatchRows::of(rows, |it| plan.footprint.reads_member(it))).transpose()?;
        Ok(RowTexts { rows, read, all: None, json: String::new() })
    }

    /// The part of a row that the plan reads; nothing when it needs the whole row.
    fn part(&mut self, ix: usize) -> Option<&str> {
        let read = self.read.as_ref()?;
        written(&mut self.json, |json| read.write(ix, json)).is_none().then_some(self.json.as_str())
    }

    /// A whole row. What JSON has no form for is left out where the plan does not read it; else its case is an error that says so.
    fn whole(&mut self, ix: usize) -> Result<&str, RunError> {
        let all = match self.all.take() {
            Some(all) => all,
            None if self.read.is_some() => BatchRows::of_writable(self.rows)?,
            None => BatchRows::of(self.rows, |_| true)?,
        };
        let odd = written(&mut self.json, |json| all.write(ix, json));
        self.all = Some(all);
        if let Some(odd) = odd {
            let reason = format!("the row cannot be judged: {odd}");
            // No row that a program writes has its first member twice, which is how the engine knows one that could not be written.
            let refused = format!("{}:{}", Val::from(REFUSED).to_json(), Val::from(&*reason).to_json());
            let comma = if self.json == "{}" { "" } else { "," };
            self.json.replace_range(..1, &format!("{{{refused},{refused}{comma}"));
        }
        Ok(&self.json)
    }
}

/// Writes into the buffer, which was empty or held another row.
fn written(json: &mut String, write: impl FnOnce(&mut Vec<u8>) -> Option<String>) -> Option<String> {
    let mut bytes = std::mem::take(json).into_bytes();
    bytes.clear();
    let odd = write(&mut bytes);
    *json = String::from_utf8(bytes).expect("JSON of texts is text");
    odd
}

/// Hands cases to the caller that has them judged.
struct Caller<'c> {
    batches: Batches<'c>,
    happened: &'c Happened,
    take: &'c TakeCase<'c>,
}

impl TakeDone for Caller<'_> {
    fn take(&self, done: &Done<'_>, taken: Option<CaseTaken>) {
        let BatchPlan { plan, variants, .. } = self.batches.batch;
        let variant = plan.layout(variants.len()).variant(done.case_ix);
        (self.take)(&JudgedCase {
            case_ix: done.case_ix,
            row: usize::try_from(done.place.number - 1).unwrap_or(usize::MAX),
            id: id_text(done.id),
            variant: variant.and_then(|it| variants.get(it)),
            verdict: done.state.verdict().unwrap_or(CaseVerdict::Error),
            state: done.state,
            taken: taken.unwrap_or_default(),
            took: done.took,
            is_repeated: variants.iter().any(|it| it.replicate > 0),
            plan,
            tasks: &self.batches.definition.suite.tasks,
            happened: self.happened.take(done.case_ix),
        });
    }
}

/// A definition over batches, with everything that it asks ready. Connections and limits are those of all batches together.
pub struct AskingBatches<'b> {
    batches: Batches<'b>,
    performers: Performers,
    concurrency: usize,
    keep_going: bool,
    journal: Option<Journal>,
    answers: Option<RefCell<AnswerWriter>>,
    /// What a coordinator leases to this process.
    leases: Option<Arc<Leases>>,
    not_before_ms: Option<u64>,
    runtime: tokio::runtime::Runtime,
    progress: Progress,
}

impl<'b> AskingBatches<'b> {
    /// Makes ready what the plan asks, or says everything that is missing. `journal` is a file of answers that are used, and added to.
    pub fn open(
        batches: Batches<'b>,
        options: &RunOptions,
        resources: &Resources<'_>,
        journal: Option<&Path>,
    ) -> Result<AskingBatches<'b>, LaunchError> {
        let Definition { suite, sources, .. } = batches.definition;
        let definition = Definition { plan: &batches.batch.plan, ..batches.definition };
        let transport =
            options.transport(Proxies::from_environment(resources.env), supervisor(resources.worker.as_ref()));
        let conditions = Conditions {
            models: &options.models,
            unsafe_code: options.unsafe_code,
            unsafe_host: options.unsafe_host,
            resources,
        };
        let place = Place {
            programs: transport.concurrency,
            calls: transport.concurrency,
            proxies: transport.proxies.clone(),
            supervisor: transport.supervisor.clone(),
            ..Place::default()
        };
        let Met { roles, models, tools, agents } = require(definition, &conditions, place).map_err(unready)?;
        let leases = options.leases.clone();
        let limits = leases.as_ref().map_or_else(|| options.budget(), |it| it.budget_limits());
        roles.allow(&limits)?;
        let budget = match &leases {
            Some(leases) => leases.start().map_err(RunError::from)?,
            None => Arc::new(Budget::new(limits)),
        };
        let concurrency = transport.concurrency;
        let performers = Performers::new((models, agents, tools), &suite.tools, resources.env, transport, budget);
        let workers = Workers { program: resources.worker.clone(), is_unsafe: options.unsafe_code };
        let evaluators = Evaluators::open(definition.plan, &main_folder(sources), &workers, resources.evaluators)
            .map_err(|error| unusable_evaluator(definition, error))?;
        let journal = journal.map(Journal::open).transpose()?;
        let answers = journal.as_ref().map(Journal::answers).transpose()?.map(RefCell::new);
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_all().max_io_events_per_tick(AT_A_TIME).build().map_err(RunError::from)?;
        let now = now_ms();
        Ok(AskingBatches {
            batches,
            performers: performers.with(evaluators),
            concurrency,
            keep_going: options.keep_going,
            journal,
            answers,
            leases,
            not_before_ms: not_before(options.fresh, options.max_age, now, now),
            runtime,
            progress: Progress::default(),
        })
    }

    /// Judges the rows of a batch. What is not asked any more when it is stopped is `not_run`.
    pub fn judge(&self, rows: &RecordBatch, stop: &Stop, take: &TakeCase<'_>) -> Result<(), RunError> {
        let (batches, happened) = (self.batches, Happened::default());
        let caller = Caller { batches, happened: &happened, take };
        let (tally, named) = (batches.tally(), Rows::of(&batches.batch.records));
        let store = batches.store(&caller, &tally, stop, &self.progress);
        let _entered = stop.evaluations().enter();
        let opened = batches.read(rows, store, &named)?;
        let effects = Effects {
            plan: store.plan,
            source: Source::World {
                perform: &self.performers,
                log: None,
                journal: self.journal.as_ref().map(AnswerStore::from),
                shared: None,
                not_before_ms: self.not_before_ms,
            },
            log: OutcomeLog::Batch { answers: self.answers.as_ref(), happened: &happened },
            stop,
            progress: &self.progress,
            tally: &tally,
            now_ms: &now_ms,
            breaker: Breaker::new(stop, self.keep_going),
            abreast: NonZeroU64::new(2 * self.concurrency as u64)
                .filter(|_| self.concurrency > 1)
                .unwrap_or(NonZeroU64::MIN),
            in_flight: RefCell::new(HashMap::new()),
            activity: crate::Activity::default(),
            // A batch is no run: what the journal has, it did not pay for.
            shares: Shares::since(u64::MAX),
        };
        let most_open = if self.performers.is_sequential() { 1 } else { self.concurrency.saturating_mul(2).max(64) };
        let lane = EffectLane {
            rows: &named,
            effects: &effects,
            store,
            asked: &batches.batch.asked,
            most_open,
            window: WINDOW.max(4 * self.concurrency as u64),
            block: RefCell::new(BlockBuilder::new(store.plan.tasks.len(), store.layout.n_variants())),
            only: None,
            home: None,
            agent_files: Path::new(""),
            own_tools: Some(&self.performers),
        };
        self.runtime.block_on(async {
            let (open, arriving) = tokio::sync::mpsc::channel(1);
            open.send(opened).await.map_err(|_| RunError::WriterGone)?;
            drop(open);
            lane.run(arriving).await
        })?;
        // The next batch may be a while, and other processes may need what is left.
        self.leases.as_ref().map_or(Ok(()), |it| Ok(it.rest()?))
    }

    /// What went wrong with requests since this was called last, in words.
    pub fn take_notes(&self) -> Vec<String> {
        self.progress.take_notes()
    }
}
