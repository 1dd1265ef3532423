//! How a suite is run.

use std::collections::BTreeMap;
use std::io::Read;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jurat_engine::{BudgetLimits, RerunOf};
use serde::Serialize;

use crate::Model;
use crate::rows::Lines;

/// How a suite is run: the options of `jurat run`.
///
/// ```
/// use std::time::Duration;
///
/// use jurat::RunOptions;
///
/// RunOptions::new()
///     .model("judge", "openai/gpt-5-mini")
///     .limit(20)
///     .filter("language == 'en'")
///     .budget_usd(0.50)
///     .timeout(Duration::from_secs(600));
/// ```
#[derive(Default)]
pub struct RunOptions {
    pub(crate) directory: PathBuf,
    pub(crate) models: Vec<(String, Model)>,
    pub(crate) variables: BTreeMap<String, String>,
    pub(crate) input: Option<Box<dyn Read + Send>>,
    pub(crate) limit: Option<u64>,
    pub(crate) filter: Option<String>,
    pub(crate) tags: Vec<String>,
    pub(crate) repeat: Option<u32>,
    pub(crate) concurrency: Option<NonZeroUsize>,
    pub(crate) budget: BudgetLimits,
    pub(crate) timeout: Option<Duration>,
    pub(crate) request_timeout: Option<Duration>,
    pub(crate) fail_fast: bool,
    pub(crate) keep_going: bool,
    pub(crate) rerun: Vec<RerunOf>,
    pub(crate) rerun_from: Option<String>,
    pub(crate) fresh: bool,
    pub(crate) max_age: Option<Duration>,
    pub(crate) replay: Option<String>,
    pub(crate) stream: bool,
    pub(crate) keep_all: bool,
    pub(crate) durable: bool,
    pub(crate) unsafe_code: bool,
    pub(crate) unsafe_host: bool,
}

impl RunOptions {
    /// A run in the current directory.
    pub fn new() -> RunOptions {
        RunOptions::default()
    }

    /// A run that belongs to a directory: what is kept is in `.jurat` there, or in the nearest directory above that has one, and a file
    /// `.env` there may hold keys.
    pub fn in_directory(path: impl AsRef<Path>) -> RunOptions {
        RunOptions { directory: path.as_ref().to_owned(), ..RunOptions::default() }
    }

    /// The same, with who plays a role, whatever the suite says. Settings belong to the suite: a model that has some is refused.
    pub fn model(mut self, role: impl Into<String>, model: impl Into<Model>) -> RunOptions {
        self.models.push((role.into(), model.into()));
        self
    }

    /// The same with a variable for keys and headers. It wins over the environment, and is kept nowhere.
    pub fn variable(mut self, name: impl Into<String>, value: impl Into<String>) -> RunOptions {
        self.variables.insert(name.into(), value.into());
        self
    }

    /// The same over these rows, for suites whose [rows are given when they are run](crate::SuiteBuilder::records_at_run). They are
    /// taken one by one as the run goes on.
    ///
    /// ```
    /// use jurat::{Assertion, RunOptions, Suite, compare::less_than};
    /// use serde::Serialize;
    ///
    /// #[derive(Serialize)]
    /// struct Answer {
    ///     id: u32,
    ///     latency_ms: u64,
    /// }
    ///
    /// let quick = Suite::builder("latency")
    ///     .records_at_run()
    ///     .task(Assertion::new("quick", "latency_ms", less_than(500)))
    ///     .build()?;
    /// # let directory = tempfile::tempdir()?;
    /// let answers = (0..1000).map(|id| Answer { id, latency_ms: u64::from(id) });
    /// let run = quick.run(RunOptions::in_directory(directory.path()).rows(answers))?;
    /// assert_eq!(run.pass_rate(), Some(0.5));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn rows<I>(self, rows: I) -> RunOptions
    where
        I: IntoIterator<Item: Serialize>,
        I::IntoIter: Send + 'static,
    {
        self.input(Lines::new(rows.into_iter()))
    }

    /// The same over rows that are read as JSON lines, or as the suite says; for example from standard input.
    pub fn input(mut self, input: impl Read + Send + 'static) -> RunOptions {
        self.input = Some(Box::new(input));
        self
    }

    /// The same over so many rows at most.
    pub fn limit(mut self, n: u64) -> RunOptions {
        self.limit = Some(n);
        self
    }

    /// The same over the rows for which this CEL expression holds; it reads their members, `row`, `id` and `tags`.
    pub fn filter(mut self, expression: impl Into<String>) -> RunOptions {
        self.filter = Some(expression.into());
        self
    }

    /// The same over the rows with one of these tags.
    pub fn tags(mut self, tags: impl IntoIterator<Item: Into<String>>) -> RunOptions {
        self.tags.extend(tags.into_iter().map(Into::into));
        self
    }

    /// The same, but each subject is asked so often.
    pub fn repeat(mut self, n: u32) -> RunOptions {
        self.repeat = Some(n);
        self
    }

    /// The same with so many requests in flight at each endpoint at most; 16 unless said.
    pub fn concurrency(mut self, n: NonZeroUsize) -> RunOptions {
        self.concurrency = Some(n);
        self
    }

    /// The same, spending so many dollars at most.
    pub fn budget_usd(mut self, dollars: f64) -> RunOptions {
        self.budget.usd = Some(dollars);
        self
    }

    /// The same, spending so many tokens at most, read and written.
    pub fn budget_tokens(mut self, n: u64) -> RunOptions {
        self.budget.tokens = Some(n);
        self
    }

    /// The same with so many requests at most.
    pub fn budget_calls(mut self, n: u64) -> RunOptions {
        self.budget.calls = Some(n);
        self
    }

    /// The same, stopped after this time.
    pub fn timeout(mut self, time: Duration) -> RunOptions {
        self.timeout = Some(time);
        self
    }

    /// The same, with how long one request may take; five minutes unless said.
    pub fn request_timeout(mut self, time: Duration) -> RunOptions {
        self.request_timeout = Some(time);
        self
    }

    /// The same, stopped at the first case that fails or cannot be judged.
    pub fn fail_fast(mut self) -> RunOptions {
        self.fail_fast = true;
        self
    }

    /// The same, continued when an endpoint fails every request, because of a wrong key, an unknown model, an unreachable host or an exhausted
    /// quota. By default such a run is stopped after five requests in a row, and can be resumed.
    pub fn keep_going(mut self) -> RunOptions {
        self.keep_going = true;
        self
    }

    /// The same over those cases only that ended so in an earlier run: the latest of the suite, or the one of
    /// [`rerun_from`](RunOptions::rerun_from).
    ///
    /// ```
    /// # use jurat::{Assertion, RerunOf, RunOptions, Suite, compare::equals};
    /// # use serde_json::json;
    /// # let directory = tempfile::tempdir()?;
    /// # let suite = Suite::builder("s")
    /// #     .records([json!({ "id": 1, "answer": "yes" }), json!({ "id": 2, "answer": "no" })])
    /// #     .task(Assertion::new("says_yes", "answer", equals("yes")))
    /// #     .build()?;
    /// let run = suite.run(RunOptions::in_directory(directory.path()))?;
    /// assert_eq!(run.case_counts().total(), 2);
    /// let again = suite.run(RunOptions::in_directory(directory.path()).rerun([RerunOf::Failed]))?;
    /// assert_eq!(again.case_counts().total(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn rerun(mut self, of: impl IntoIterator<Item = RerunOf>) -> RunOptions {
        self.rerun.extend(of);
        self
    }

    /// The same with the run whose cases are run again: its file, or the beginning of its name.
    pub fn rerun_from(mut self, run: impl Into<String>) -> RunOptions {
        self.rerun_from = Some(run.into());
        self
    }

    /// The same, but what earlier runs have asked is asked anew.
    pub fn fresh(mut self) -> RunOptions {
        self.fresh = true;
        self
    }

    /// The same without answers that are older.
    pub fn max_age(mut self, age: Duration) -> RunOptions {
        self.max_age = Some(age);
        self
    }

    /// The same, but nobody is asked: all answers and faults come from a recording. It is a file of effects that ends in `.jsonl`, the file of
    /// a run, the beginning of a run's name, or `latest`.
    ///
    /// ```
    /// # use jurat::{Judge, Model, RunOptions, Suite, compare::equals};
    /// # use serde_json::json;
    /// # let directory = tempfile::tempdir()?;
    /// # let suite = Suite::builder("s")
    /// #     .record(json!({ "answer": "yes" }))
    /// #     .model("judge", Model::function("same", |question| question.prompt().to_owned()))
    /// #     .task(Judge::new("says_yes", "${answer}"))
    /// #     .build()?;
    /// let run = suite.run(RunOptions::in_directory(directory.path()))?;
    /// let again = suite.run(RunOptions::in_directory(directory.path()).replay(run.path()))?;
    /// assert_eq!(again.results_json()?, run.results_json()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn replay(mut self, recording: impl AsRef<Path>) -> RunOptions {
        self.replay = Some(recording.as_ref().display().to_string());
        self
    }

    /// The same, but answers are asked for in pieces, as providers stream them.
    pub fn stream(mut self) -> RunOptions {
        self.stream = true;
        self
    }

    /// The same, but rows that passed are copied into the run, too. Otherwise they stay where they are, in their file.
    pub fn keep_all(mut self) -> RunOptions {
        self.keep_all = true;
        self
    }

    /// The same, but the code of evaluators is run even where the system cannot keep it from files, network and other processes. The run
    /// says so ever after.
    pub fn unsafe_code(mut self) -> RunOptions {
        self.unsafe_code = true;
        self
    }

    /// The same, but agents run on this machine itself, with all of its files and its network, instead of behind walls. The run says so ever
    /// after.
    pub fn unsafe_host(mut self) -> RunOptions {
        self.unsafe_host = true;
        self
    }

    /// The same, waiting for the disk after each answer, so that it survives a power failure, too.
    pub fn durable(mut self) -> RunOptions {
        self.durable = true;
        self
    }
}

/// Variables may be secret: their names are enough.
impl std::fmt::Debug for RunOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunOptions")
            .field("directory", &self.directory)
            .field("models", &self.models)
            .field("variables", &self.variables.keys().collect::<Vec<_>>())
            .field("limit", &self.limit)
            .field("filter", &self.filter)
            .field("replay", &self.replay)
            .finish_non_exhaustive()
    }
}
