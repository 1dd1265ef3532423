//! Batches of Arrow in, batches of results out, without a run: for programs that have their rows as Arrow and something that distributes them.
//!
//! Verdicts and ids are those of a run. Nothing is stored, unless [`BatchOptions::journal`] says where answers of models go; totals, limits of a whole run
//! and everything else that more than one batch would have to know of are left to the caller.
//!
//! ```
//! use std::ops::ControlFlow;
//! use std::sync::Arc;
//!
//! use arrow_array::{RecordBatch, StringArray};
//! use jurat::batches::{BatchEvaluator, BatchOptions};
//! use jurat::{Assertion, RunOptions, Suite, compare::equals};
//!
//! let suite = Suite::builder("invoices")
//!     .records_at_run()
//!     .task(Assertion::new("paid", "status", equals("paid")))
//!     .build()?;
//! let evaluator = BatchEvaluator::new(&suite, RunOptions::new(), BatchOptions::default())?;
//! let status: StringArray = ["paid", "due"].into_iter().map(Some).collect();
//! let rows = RecordBatch::try_from_iter([("status", Arc::new(status) as _)])?;
//! let results = evaluator.evaluate(&rows, &mut || ControlFlow::Continue(()))?;
//! assert_eq!((results.num_rows(), results.schema()), (2, evaluator.schema(&rows.schema())?));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod cases;
mod session;
mod tasks;

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::{ArrayRef, RecordBatch, UInt32Array};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Schema, SchemaRef};
use arrow_select::take::take;
use jurat_core::report::TaskTotal;
use jurat_engine::batches::{BatchPlan, Batches, JudgedCase, task_totals};
use jurat_engine::{RunError, Stop};
use jurat_format::problem::listed_all;

use self::cases::CaseColumns;
use self::session::{Enter, Session};
use self::tasks::TaskColumns;
use crate::checked::environment;
use crate::error::launch_error;
use crate::{Error, RunOptions, Suite};

/// What a row of the results is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Layout {
    /// A case: a row of the batch, unless the suite asks several models or prompts about it.
    #[default]
    Cases,
    /// A task of a case.
    Tasks,
}

impl Layout {
    /// All of them by their names.
    pub const NAMED: [(&str, Layout); 2] = [("cases", Layout::Cases), ("tasks", Layout::Tasks)];
}

/// Of which tasks the results say what was expected and what was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Keep {
    /// Those that failed, could not be judged, or did not run.
    #[default]
    Failed,
    /// All.
    All,
    /// None.
    Nothing,
}

impl Keep {
    /// All of them by their names.
    pub const NAMED: [(&str, Keep); 3] = [("failed", Keep::Failed), ("all", Keep::All), ("none", Keep::Nothing)];
}

/// What the results of batches are.
#[derive(Debug, Clone, Default)]
pub struct BatchOptions {
    /// What a row of the results is.
    pub layout: Layout,
    /// What is said about tasks.
    pub keep: Keep,
    /// The column that names rows; default: where the suite says, else `id`, `record_id` or `case_id`, else their content.
    pub id: Option<String>,
    /// The columns of rows that results have, too.
    pub carry: Vec<String>,
    /// Whether verdicts are plain text; default: dictionaries.
    pub strings: bool,
    /// A directory of this machine whose journal has paid answers, and takes new ones. Default: none.
    pub journal: Option<PathBuf>,
    /// The address of a coordinator that leases budget, requests in flight and rates to all processes that judge batches. Its token is in `JURAT_COORDINATOR_TOKEN`. Default: none.
    pub coordinator: Option<String>,
}

/// A suite over batches. It can be shared between threads.
pub struct BatchEvaluator {
    suite: Suite,
    plan: Arc<BatchPlan>,
    tasks: Arc<[TaskTotal]>,
    batches: Arc<BatchOptions>,
    /// The options, until what the suite asks is made ready.
    session: Mutex<Opening>,
    enter: Enter,
}

enum Opening {
    /// Nothing was asked yet.
    Waiting(Box<RunOptions>),
    Open(Session),
    /// Only while it is opened.
    Taken,
}

/// How many rows are judged before the caller is asked whether to continue.
const ROWS: usize = 4096;

impl BatchEvaluator {
    /// A suite whose rows are given. Nothing is opened yet, and keys of models need not be there.
    pub fn new(suite: &Suite, options: RunOptions, batches: BatchOptions) -> Result<BatchEvaluator, Error> {
        BatchEvaluator::within(suite, options, batches, || {})
    }

    /// The same, and calls a function first on the thread that asks models; see [`Suite::start_within`].
    pub fn within(
        suite: &Suite,
        options: RunOptions,
        batches: BatchOptions,
        enter: impl Fn() + Send + Sync + 'static,
    ) -> Result<BatchEvaluator, Error> {
        refuse_suite(suite)?;
        refuse_options(&options)?;
        let definition = suite.definition_to_run();
        // Files with variables are looked for only where a model may be named by one.
        let asks_subjects = definition.plan.asks_subjects();
        let env = asks_subjects.then(|| environment(&suite.0.examined, &options.directory, &options)).transpose()?;
        let env = |name: &str| env.as_ref().and_then(|it| it.get(name));
        let plan = BatchPlan::new(definition, &options, batches.id.as_deref(), &env);
        let plan = plan.map_err(|error| launch_error(error, definition.sources))?;
        Ok(BatchEvaluator {
            suite: suite.clone(),
            plan: Arc::new(plan),
            tasks: task_totals(definition).into(),
            batches: Arc::new(batches),
            session: Mutex::new(Opening::Waiting(Box::new(options))),
            enter: Arc::new(enter),
        })
    }

    /// Whether it makes requests.
    pub fn asks(&self) -> bool {
        self.plan.plan().asks()
    }

    /// The columns of the results of rows with these columns, which matter only where some are carried.
    pub fn schema(&self, rows: &Schema) -> Result<SchemaRef, Error> {
        let results = Results::of(&self.plan, &self.tasks, &self.batches).fields();
        let carried = self.carried(rows)?;
        if let Some(twice) = carried.iter().find(|it| results.iter().any(|own| own.name() == it.name())) {
            let message =
                format!("`carry` has `{}`, and the results have a column of that name; rename it", twice.name());
            return Err(Error::Usage(message));
        }
        Ok(Arc::new(Schema::new(results.into_iter().chain(carried).collect::<Vec<_>>())))
    }

    /// Makes ready what the suite asks, and says everything that is missing. The first batch does it otherwise.
    pub fn open(&self) -> Result<(), Error> {
        if self.asks() { self.session().map(drop) } else { Ok(()) }
    }

    /// Judges a batch. `tick` is called several times a second, and may end it: nothing more is asked then, and the batch is an error.
    pub fn evaluate(
        &self,
        rows: &RecordBatch,
        tick: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Result<RecordBatch, Error> {
        let schema = self.schema(rows.schema_ref())?;
        self.named_rows(rows.schema_ref())?;
        let judged = if self.asks() { self.session()?.judge(rows, tick)? } else { self.judge(rows, tick)? };
        judged.with(rows, &self.batches, schema).map_err(|error| Error::Run(Box::new(error)))
    }

    /// Judges rows that ask nothing, on the thread of the caller.
    fn judge(&self, rows: &RecordBatch, tick: &mut dyn FnMut() -> ControlFlow<()>) -> Result<Judged, Error> {
        let results = Mutex::new(Results::of(&self.plan, &self.tasks, &self.batches));
        let batches = Batches { definition: self.suite.definition_to_run(), batch: &self.plan };
        let stop = Stop::new();
        for start in (0..rows.num_rows()).step_by(ROWS) {
            if tick().is_break() {
                return Err(interrupted());
            }
            let part = rows.slice(start, ROWS.min(rows.num_rows() - start));
            let take = |case: &JudgedCase<'_>| {
                results.lock().unwrap_or_else(PoisonError::into_inner).put(case, start);
            };
            batches.judge(&part, &stop, &take).map_err(failure)?;
        }
        Ok(results.into_inner().unwrap_or_else(PoisonError::into_inner).finish())
    }

    /// What asks models. It is opened once.
    fn session(&self) -> Result<Session, Error> {
        let mut opening = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        let options = match std::mem::replace(&mut *opening, Opening::Taken) {
            Opening::Open(session) => {
                *opening = Opening::Open(session.clone());
                return Ok(session);
            }
            Opening::Waiting(options) => options,
            Opening::Taken => unreachable!("it is put back before the lock is given back"),
        };
        let parts = (Arc::clone(&self.plan), Arc::clone(&self.tasks), Arc::clone(&self.batches));
        match Session::open(&self.suite, parts, options, Arc::clone(&self.enter)) {
            Ok(session) => {
                *opening = Opening::Open(session.clone());
                Ok(session)
            }
            // What is missing may be there the next time.
            Err((error, options)) => {
                *opening = Opening::Waiting(options);
                Err(error)
            }
        }
    }

    fn carried(&self, rows: &Schema) -> Result<Vec<FieldRef>, Error> {
        let field = |name: &String| {
            let found = rows.fields().iter().find(|it| it.name() == name);
            found.cloned().ok_or_else(|| no_column("carry", name, rows))
        };
        self.batches.carry.iter().map(field).collect()
    }

    /// Fails when the column that names rows is not there.
    fn named_rows(&self, rows: &Schema) -> Result<(), Error> {
        match &self.batches.id {
            Some(id) if rows.field_with_name(id).is_err() => Err(no_column("id", id, rows)),
            _ => Ok(()),
        }
    }
}

fn no_column(option: &str, name: &str, rows: &Schema) -> Error {
    let has = listed_all(rows.fields().iter().map(|it| it.name().as_str()));
    Error::Usage(format!("`{option}` names the column `{name}`, which the rows do not have; they have {has}"))
}

/// The results of a batch, as they are written.
enum Results<'r> {
    Cases(Box<CaseColumns<'r>>),
    Tasks(TaskColumns<'r>),
}

impl<'r> Results<'r> {
    fn of(plan: &'r BatchPlan, tasks: &'r [TaskTotal], batches: &BatchOptions) -> Results<'r> {
        match batches.layout {
            Layout::Cases => Results::Cases(Box::new(CaseColumns::of(plan, batches))),
            Layout::Tasks => Results::Tasks(TaskColumns::of(tasks, batches.keep)),
        }
    }

    fn fields(&self) -> Vec<FieldRef> {
        match self {
            Results::Cases(columns) => columns.fields(),
            Results::Tasks(columns) => columns.fields(),
        }
    }

    /// Adds a case of a part of the batch that begins at this row.
    fn put(&mut self, case: &JudgedCase<'_>, start: usize) {
        let place = Place { case: start as u64 + case.case_ix.number(), row: (start + case.row) as u32 };
        match self {
            Results::Cases(columns) => columns.put(case, place),
            Results::Tasks(columns) => columns.put(case, place),
        }
    }

    fn finish(self) -> Judged {
        match self {
            Results::Cases(columns) => columns.finish(),
            Results::Tasks(columns) => columns.finish(),
        }
    }
}

/// Where a row of the results belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    /// The number of its case.
    case: u64,
    /// The row of the batch.
    row: u32,
}

/// The columns of a batch in the order in which cases were done.
struct Judged {
    columns: Vec<ArrayRef>,
    places: Vec<Place>,
}

impl Judged {
    /// The batch in the order of its rows, with what is carried.
    fn with(self, rows: &RecordBatch, batches: &BatchOptions, schema: SchemaRef) -> Result<RecordBatch, ArrowError> {
        let Judged { mut columns, mut places } = self;
        if !places.is_sorted() {
            let mut order: Vec<u32> = (0..places.len() as u32).collect();
            order.sort_by_key(|it| places[*it as usize]);
            let order = UInt32Array::from(order);
            columns = columns.iter().map(|it| take(it, &order, None)).collect::<Result<_, _>>()?;
            places.sort();
        }
        let is_same = places.len() == rows.num_rows() && (0..).zip(&places).all(|(ix, it)| it.row == ix);
        let from: UInt32Array = places.iter().map(|it| it.row).collect();
        for name in &batches.carry {
            let column = rows.column_by_name(name).ok_or_else(|| ArrowError::SchemaError(name.clone()))?;
            columns.push(if is_same { Arc::clone(column) } else { take(column, &from, None)? });
        }
        RecordBatch::try_new(schema, columns)
    }
}

fn field(name: &str, kind: DataType) -> FieldRef {
    Arc::new(Field::new(name, kind, true))
}

fn interrupted() -> Error {
    Error::Run("the batch was interrupted".into())
}

fn failure(error: RunError) -> Error {
    match error {
        RunError::Batch(column) => Error::Usage(column.to_string()),
        other => Error::Run(Box::new(other)),
    }
}

fn refuse_suite(suite: &Suite) -> Result<(), Error> {
    if suite.0.examined.has_errors() {
        return Err(Error::Suite(suite.0.warnings.clone()));
    }
    if suite.0.plan.defines_cases() {
        let message = "the suite has scenarios or agents, whose cases are no rows of a batch; run it as a whole, with `jurat run` or `Suite.run`";
        return Err(Error::Usage(message.to_owned()));
    }
    match suite.0.examined.suite.records.as_slice() {
        [only] if only.from.is_stream() => Ok(()),
        _ => {
            let message = "the suite has rows of its own, and a batch gives it others; a suite whose `records` are `-` takes those of batches";
            Err(Error::Usage(message.to_owned()))
        }
    }
}

/// Options of a run as a whole mean nothing where no run is known.
fn refuse_options(options: &RunOptions) -> Result<(), Error> {
    let RunOptions { budget_usd, budget_tokens, budget_calls, .. } = options;
    let budgets = [
        ("budget_usd", budget_usd.is_some()),
        ("budget_tokens", budget_tokens.is_some()),
        ("budget_calls", budget_calls.is_some()),
    ];
    if let Some((name, _)) = budgets.into_iter().find(|(_, is_set)| *is_set) {
        let message = format!(
            "`{name}` would be spent again by every batch and every worker; give it to a coordinator, whose address is the option `coordinator`, \
             or run the suite as shards, each with a `share`"
        );
        return Err(Error::Usage(message));
    }
    let of_runs = [
        ("limit", options.limit.is_some()),
        ("filter", options.filter.is_some()),
        ("tags", !options.tags.is_empty()),
        ("rerun", !options.rerun.is_empty()),
        ("rerun_from", options.rerun_from.is_some()),
        ("timeout", options.timeout.is_some()),
        ("batch", options.batch),
        ("batch_poll", options.batch_poll.is_some()),
        ("fail_fast", options.fail_fast),
        ("gate", options.gate),
        ("stop_when", options.stop_when.is_some()),
        ("base", options.base.is_some()),
        ("seed", options.seed.is_some()),
        ("resume_decided", options.resume_decided),
        ("shared_journal", options.shared_journal.is_some()),
        ("replay", options.replay.is_some()),
        ("keep_all", options.keep_all),
        ("durable", options.durable),
    ];
    match of_runs.into_iter().find(|(_, is_set)| *is_set) {
        Some((name, _)) => Err(Error::Usage(format!(
            "`{name}` is about a run as a whole, and batches are judged each for itself; leave it out"
        ))),
        None => Ok(()),
    }
}
