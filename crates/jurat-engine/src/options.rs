//! The options of a run. Each is declared once, in `run_options!`.
//!
//! A declaration gives the field and the builder method of [`RunOptions`] and its row in [`OPTIONS`]. The command makes its arguments from that list,
//! and the Python package reads its keywords by it. The first line of the documentation is the help of the command.

use std::collections::BTreeMap;
use std::fmt;
use std::io::Read;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use jurat_compare::expression::{Expression, ExpressionError};
use jurat_model::{BatchOptions, Function, Proxies, Supervisor, TransportOptions};
use jurat_store::run::{Document, RunHead};
use serde::{Deserialize, Serialize};

use crate::allowance::{BadShare, Leases, Share};
use crate::row_lines::RowLines;
use crate::shard::ShardJob;
use crate::{BudgetLimits, Functions, Rerun, RerunOf, Selection};

/// An option of a run, as the command, Rust and Python have it.
#[derive(Debug)]
pub struct RunOption {
    /// The field, the builder method and the keyword in Python.
    pub name: &'static str,
    /// What it does, in one line.
    pub help: &'static str,
    pub setting: Setting,
    pub argument: Argument,
}

/// An option on the command line.
#[derive(Debug)]
pub struct Argument {
    /// Its name, where that is not the option's own.
    pub long: Option<&'static str>,
    pub short: Option<char>,
    pub alias: Option<&'static str>,
    /// What stands for its value in the help.
    pub value: &'static str,
    pub heading: Option<&'static str>,
    /// Options that it cannot be given with.
    pub conflicts: &'static [&'static str],
    /// The option that it belongs to.
    pub requires: Option<&'static str>,
    /// The verbs beside `run` that take it.
    pub verbs: &'static [&'static str],
}

/// The field of an option, by the type of its values.
#[derive(Debug)]
pub enum Setting {
    Flag(fn(&mut RunOptions) -> &mut bool),
    /// A flag that the command has as a choice between needed rows and all rows.
    Keep(fn(&mut RunOptions) -> &mut bool),
    Count(fn(&mut RunOptions) -> &mut Option<u64>),
    Times(fn(&mut RunOptions) -> &mut Option<u32>),
    AtLeastOne(fn(&mut RunOptions) -> &mut Option<NonZeroUsize>),
    Dollars(fn(&mut RunOptions) -> &mut Option<f64>),
    Time(fn(&mut RunOptions) -> &mut Option<Duration>),
    Text(fn(&mut RunOptions) -> &mut Option<String>),
    /// The name of a run, or a path.
    Recording(fn(&mut RunOptions) -> &mut Option<String>),
    Texts(fn(&mut RunOptions) -> &mut Vec<String>),
    Models(fn(&mut RunOptions) -> &mut Vec<(String, String)>),
    Verdicts(fn(&mut RunOptions) -> &mut Vec<RerunOf>),
}

/// The model that a run gives to a role, instead of the suite's.
pub struct GivenModel {
    /// `provider/model`
    pub spec: String,
    /// The function that `call/NAME` names.
    pub function: Option<(String, Arc<dyn Function>)>,
    /// Whether it has settings, which belong to the suite.
    pub has_settings: bool,
}

impl From<String> for GivenModel {
    fn from(spec: String) -> GivenModel {
        GivenModel { spec, function: None, has_settings: false }
    }
}

impl From<&str> for GivenModel {
    fn from(spec: &str) -> GivenModel {
        GivenModel::from(spec.to_owned())
    }
}

const ARGUMENT: Argument = Argument {
    long: None,
    short: None,
    alias: None,
    value: "",
    heading: None,
    conflicts: &[],
    requires: None,
    verbs: &[],
};
const CASES: Argument = Argument { heading: Some("Which cases"), ..ARGUMENT };
const LIMITS: Argument = Argument { heading: Some("Limits"), ..ARGUMENT };
const CACHE: Argument = Argument { heading: Some("Cache"), ..ARGUMENT };
const OUTPUT: Argument = Argument { heading: Some("Output"), ..ARGUMENT };
const CODE: Argument = Argument { heading: Some("Code"), ..ARGUMENT };

macro_rules! field {
    (Flag) => { bool };
    (Keep) => { bool };
    (Count) => { Option<u64> };
    (Times) => { Option<u32> };
    (AtLeastOne) => { Option<NonZeroUsize> };
    (Dollars) => { Option<f64> };
    (Time) => { Option<Duration> };
    (Text) => { Option<String> };
    (Recording) => { Option<String> };
    (Texts) => { Vec<String> };
    (Models) => { Vec<(String, String)> };
    (Verdicts) => { Vec<RerunOf> };
}

/// The builder method of an option. A model may be a function, so the method for models is written by hand.
macro_rules! method {
    (Flag $name:ident $docs:tt) => { method!(@ $name(), true, $docs); };
    (Keep $name:ident $docs:tt) => { method!(@ $name(), true, $docs); };
    (Count $name:ident $docs:tt) => { method!(@ $name(n: u64), Some(n), $docs); };
    (Times $name:ident $docs:tt) => { method!(@ $name(n: u32), Some(n), $docs); };
    (AtLeastOne $name:ident $docs:tt) => { method!(@ $name(n: NonZeroUsize), Some(n), $docs); };
    (Dollars $name:ident $docs:tt) => { method!(@ $name(dollars: f64), Some(dollars), $docs); };
    (Time $name:ident $docs:tt) => { method!(@ $name(time: Duration), Some(time), $docs); };
    (Text $name:ident $docs:tt) => { method!(@ $name(text: impl Into<String>), Some(text.into()), $docs); };
    (Recording $name:ident $docs:tt) => {
        method!(@ $name(run: impl AsRef<Path>), Some(run.as_ref().display().to_string()), $docs);
    };
    (Texts $name:ident $docs:tt) => {
        method!(@ $name(texts: impl IntoIterator<Item: Into<String>>), texts.into_iter().map(Into::into).collect(), $docs);
    };
    (Verdicts $name:ident $docs:tt) => {
        method!(@ $name(of: impl IntoIterator<Item = RerunOf>), of.into_iter().collect(), $docs);
    };
    (Models $name:ident $docs:tt) => {};
    (@ $name:ident($($argument:ident: $type:ty)?), $value:expr, [$($doc:literal)+]) => {
        $(#[doc = $doc])+
        pub fn $name(mut self $(, $argument: $type)?) -> RunOptions {
            self.$name = $value;
            self
        }
    };
}

macro_rules! first {
    ($first:literal $($rest:literal)*) => {
        $first
    };
}

macro_rules! run_options {
    ($($(#[doc = $doc:literal])+ $name:ident: $kind:ident, $argument:expr;)+) => {
        /// How a suite is run: the options of `jurat run`, where the run is stored, and what it reads.
        ///
        /// ```
        /// use std::time::Duration;
        ///
        /// use jurat_engine::RunOptions;
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
            /// The directory that the run belongs to; empty for the current one.
            pub directory: PathBuf,
            /// Variables for keys and headers, which precede those of the environment. They are not stored.
            pub variables: BTreeMap<String, String>,
            /// Rows, for a suite that has none of its own.
            pub input: Option<Box<dyn Read + Send>>,
            /// What names the rows of `input` by their content; see [`RunOptions::rows_digest`].
            pub rows_digest: Option<String>,
            /// The functions that [`RunOptions::models`] name.
            pub functions: Functions,
            /// The roles whose models were given with settings.
            pub roles_with_settings: Vec<String>,
            /// Whether the run probes a judge, and is stored apart from the runs of suites.
            pub is_probe: bool,
            /// The shard that alone is run.
            pub shard: Option<ShardJob>,
            /// What it may spend and do, where a coordinator decides.
            pub leases: Option<Arc<Leases>>,
            /// The part of rates that the process has; see [`RunOptions::take_share`].
            pub share: Option<Share>,
            $($(#[doc = $doc])+ pub $name: field!($kind),)+
        }

        impl RunOptions {
            $(method!($kind $name [$($doc)+]);)+
        }

        /// Every option that `jurat run`, Rust and Python share.
        pub static OPTIONS: &[RunOption] = &[$(RunOption {
            name: stringify!($name),
            help: first!($($doc)+),
            setting: Setting::$kind(|it| &mut it.$name),
            argument: $argument,
        }),+];
    };
}

run_options! {
    /// Model of a role, as `role=provider/model`; may be repeated
    models: Models, Argument { long: Some("model"), value: "ROLE=MODEL", verbs: &["plan", "check", "shards"], ..ARGUMENT };
    /// Run at most N rows
    limit: Count, Argument { value: "N", verbs: &["plan"], ..CASES };
    /// Run the rows for which this CEL expression is true; it may use their fields, `row`, `id` and `tags`
    filter: Text, Argument { value: "CEL", verbs: &["plan", "shards"], ..CASES };
    /// Run the rows with this tag; may be repeated
    tags: Texts, Argument { long: Some("tag"), value: "TAG", verbs: &["plan", "shards"], ..CASES };
    /// Run only the cases with these verdicts in an earlier run; separate several by commas
    rerun: Verdicts, Argument { value: "VERDICT", conflicts: &["replay"], ..CASES };
    /// The earlier run for `--rerun`: a file or the beginning of its name [default: the latest of this suite]
    rerun_from: Text, Argument { long: Some("from"), value: "RUN", requires: Some("rerun"), ..CASES };
    /// Number of times to run each case [default: 1]
    repeat: Times, Argument { value: "N", verbs: &["plan", "shards"], ..CASES };
    /// Maximum concurrent requests per endpoint; lowered automatically when the provider throttles [default: 16]
    concurrency: AtLeastOne, Argument { short: Some('j'), value: "N", ..LIMITS };
    /// Spend at most this amount in US dollars; a resumed run has the whole amount again
    budget_usd: Dollars, Argument { value: "USD", ..LIMITS };
    /// Use at most N tokens, input and output together; a resumed run has all of them again
    budget_tokens: Count, Argument { value: "N", ..LIMITS };
    /// Make at most N requests; a resumed run has all of them again
    budget_calls: Count, Argument { value: "N", ..LIMITS };
    /// Stop after this time (e.g. `10m`)
    timeout: Time, Argument { value: "TIME", ..LIMITS };
    /// Timeout of one request [default: 5m]
    request_timeout: Time, Argument { value: "TIME", ..LIMITS };
    /// Send requests in batches, at half the price, to providers that have them (OpenAI, Anthropic); a batch may take up to a day
    batch: Flag, Argument { conflicts: &["replay", "stop_when"], verbs: &["plan"], ..LIMITS };
    /// Longest time between two looks at a batch [default: 1m]
    batch_poll: Time, Argument { value: "TIME", requires: Some("batch"), ..LIMITS };
    /// Stop at the first case that fails or ends with an error; with `--gate`, when the gate is certain to fail
    fail_fast: Flag, LIMITS;
    /// Decide whether the run may pass by `gates` of the suite; the exit code of the command is that of `jurat gate`
    gate: Flag, ARGUMENT;
    /// Stop as soon as the answer is known: `decided`, `pass`, `fail` or `hopeless` by the conditions of `gates`, `no-hopeless`, or `width=0.05` for the pass rate; separate several by commas. Rows run in a random order
    stop_when: Text, Argument { value: "RULES", conflicts: &["rerun"], ..LIMITS };
    /// The run that the conditions of `--stop-when` and `--gate` compare with [default: `base` of `gates`]
    base: Text, Argument { value: "RUN", ..LIMITS };
    /// Seed of the random order of `--stop-when` [default: random; the run records it]
    seed: Count, Argument { value: "N", requires: Some("stop_when"), ..LIMITS };
    /// Continue a run that stopped because enough was known, to its last row
    resume_decided: Flag, Argument { requires: Some("stop_when"), ..LIMITS };
    /// Continue when an endpoint fails every request (wrong key, unknown model, unreachable host, exhausted quota) [default: stop after 5 in a row]
    keep_going: Flag, LIMITS;
    /// Ignore cached responses of earlier runs
    fresh: Flag, Argument { alias: Some("no-cache"), conflicts: &["replay"], ..CACHE };
    /// Ignore cached responses older than this (e.g. `7d`)
    max_age: Time, Argument { value: "TIME", conflicts: &["fresh", "replay"], ..CACHE };
    /// Take all responses and errors from a run (a file, the beginning of its name, `latest`) or a file of recorded effects; makes no requests
    replay: Recording, Argument { value: "RUN", ..CACHE };
    /// Use responses of a journal that a team shares, and send it new ones: `postgresql://USER@HOST/DATABASE`, or `none` [default: `JURAT_SHARED_JOURNAL`]
    shared_journal: Text, Argument { value: "URL", conflicts: &["replay"], ..CACHE };
    /// Request streamed responses
    stream: Flag, CACHE;
    /// Which rows to copy into the run file
    ///
    /// Rows that passed are not copied otherwise: they stay in their file.
    keep_all: Keep, Argument { long: Some("keep"), value: "KEEP", verbs: &["shards"], ..OUTPUT };
    /// Wait for the disk after each response, so that it survives a power failure
    durable: Flag, OUTPUT;
    /// Run the code of evaluators even where the system cannot isolate it from files, network and other processes; the run records it
    unsafe_code: Flag, Argument { verbs: &["shards"], ..CODE };
    /// Run agents without a sandbox: with your rights, all files and the network of this machine; the run records it
    unsafe_host: Flag, Argument { verbs: &["shards"], ..CODE };
}

impl RunOptions {
    /// A run in the current directory.
    pub fn new() -> RunOptions {
        RunOptions::default()
    }

    /// A run that belongs to a directory: it is stored in `.jurat` there, or in the nearest directory above that has one, and a file `.env` there may
    /// hold keys.
    pub fn in_directory(path: impl AsRef<Path>) -> RunOptions {
        RunOptions { directory: path.as_ref().to_owned(), ..RunOptions::default() }
    }

    /// Model of a role, instead of the suite's. Settings belong to the suite: a model that has some is refused.
    pub fn model(mut self, role: impl Into<String>, model: impl Into<GivenModel>) -> RunOptions {
        let (role, GivenModel { spec, function, has_settings }) = (role.into(), model.into());
        self.roles_with_settings.extend(has_settings.then(|| role.clone()));
        self.functions.extend(function);
        self.models.push((role, spec));
        self
    }

    /// A variable for keys and headers. It precedes the environment, and is not stored.
    pub fn variable(mut self, name: impl Into<String>, value: impl Into<String>) -> RunOptions {
        self.variables.insert(name.into(), value.into());
        self
    }

    /// Rows, for suites whose rows are given when they are run. They are taken one by one while the run reads them.
    pub fn rows<I>(self, rows: I) -> RunOptions
    where
        I: IntoIterator<Item: Serialize>,
        I::IntoIter: Send + 'static,
    {
        self.input(RowLines::new(rows.into_iter()))
    }

    /// Rows that are read as JSON lines, or as the suite says; for example from standard input.
    pub fn input(mut self, input: impl Read + Send + 'static) -> RunOptions {
        self.input = Some(Box::new(input));
        self
    }

    /// What names the rows of [`input`](RunOptions::input) by their content, such as [`digest_of_rows`](crate::digest_of_rows) makes it. Rows that are given
    /// are gone with their run; with their name, a run that was interrupted is resumed when the same rows are given again.
    pub fn rows_digest(mut self, digest: impl Into<String>) -> RunOptions {
        self.rows_digest = Some(digest.into());
        self
    }

    /// Which rows are run.
    pub fn selection(&self, rerun: Option<Rerun>) -> Result<Selection, ExpressionError> {
        let filter = self.filter.as_deref().map(Expression::compile_condition).transpose()?;
        Ok(Selection { limit: self.limit, filter, tags: self.tags.clone(), rerun })
    }

    /// Divides budgets, requests in flight and rates: what was given is for all processes, and this is one of them.
    pub fn take_share(&mut self, share: Share) -> Result<(), BadShare> {
        self.budget_usd = self.budget_usd.map(|it| share.of_dollars(it));
        self.budget_tokens = self.budget_tokens.map(|it| share.of("`--budget-tokens`", it)).transpose()?;
        self.budget_calls = self.budget_calls.map(|it| share.of("`--budget-calls`", it)).transpose()?;
        self.concurrency = self.concurrency.map(|it| share.of_concurrency(it)).transpose()?;
        self.share = Some(share);
        Ok(())
    }

    pub(crate) fn budget(&self) -> BudgetLimits {
        BudgetLimits { usd: self.budget_usd, tokens: self.budget_tokens, calls: self.budget_calls }
    }

    /// How requests are batched, when they are.
    pub(crate) fn batches(&self, directory: &Path) -> Option<BatchOptions> {
        let options = BatchOptions::new(directory);
        let longest_poll = self.batch_poll.unwrap_or(options.longest_poll);
        self.batch.then_some(BatchOptions { longest_poll, ..options })
    }

    /// How many threads judge.
    pub(crate) fn threads(&self) -> NonZeroUsize {
        let cores = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        self.concurrency.map_or(cores, |it| it.min(cores))
    }

    pub(crate) fn transport(&self, proxies: Proxies, supervisor: Option<Supervisor>) -> TransportOptions {
        let defaults = TransportOptions::default();
        TransportOptions {
            concurrency: self.concurrency.map_or(defaults.concurrency, NonZeroUsize::get),
            request_timeout: self.request_timeout.unwrap_or(defaults.request_timeout),
            stream: self.stream,
            proxies,
            supervisor,
            ..defaults
        }
    }
}

/// Variables may be secret: their names are enough.
impl fmt::Debug for RunOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
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

/// The options that change the result of a run, as its file has them. Keys and other secrets are not among them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct RecordedOptions {
    /// The models that were given to roles.
    pub(crate) models: Vec<(String, String)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    filter: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
    /// The cases of an earlier run that alone were run, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rerun: Option<String>,
    repeat: u32,
    fresh: bool,
    /// The recording that was replayed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) replay_of: Option<String>,
    /// When the run was to stop early.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stop_when: Option<String>,
    /// What it was compared with while it ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    base: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
    /// Whether requests were sent in batches. A run without them does not resume one with them: it would ask for what is being processed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) batch: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) unsafe_code: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) unsafe_host: bool,
}

impl RecordedOptions {
    const NAME: &str = "options.json";

    pub(crate) fn new(options: &RunOptions, repeat: u32, rerun: Option<&Rerun>) -> RecordedOptions {
        RecordedOptions {
            models: options.models.clone(),
            limit: options.limit,
            filter: options.filter.clone(),
            tags: options.tags.clone(),
            rerun: rerun.map(Rerun::words),
            repeat,
            fresh: options.fresh,
            replay_of: options.replay.clone(),
            stop_when: options.stop_when.clone(),
            base: options.base.clone().filter(|_| options.stop_when.is_some()),
            seed: options.seed,
            batch: options.batch,
            unsafe_code: options.unsafe_code,
            unsafe_host: options.unsafe_host,
        }
    }

    /// The options of a run.
    pub(crate) fn of(head: &RunHead) -> RecordedOptions {
        let document = head.documents.iter().find(|it| it.name == Self::NAME);
        document.and_then(|it| serde_json::from_slice(&it.body).ok()).unwrap_or_default()
    }

    /// Why not all rows were run, in words.
    pub(crate) fn selection_words(&self) -> Vec<String> {
        let limit = self.limit.map(|it| format!("`--limit {it}`"));
        let filter = self.filter.as_ref().map(|it| format!("`--filter {it}`"));
        let tags = (!self.tags.is_empty()).then(|| format!("`--tag {}`", self.tags.join(",")));
        limit
            .into_iter()
            .chain(filter)
            .chain(tags)
            .chain(self.rerun.as_ref().map(|it| format!("`--rerun`: {it}")))
            .collect()
    }

    /// The options as a document.
    pub(crate) fn document(&self) -> Document {
        Document { name: Self::NAME.to_owned(), body: serde_json::to_vec(self).expect("texts and numbers are JSON") }
    }
}
