//! A run cut into shards, which any number of processes run in any order, and which are merged into one run with the results of one process.
//!
//! ```
//! use jurat::shards::{MergeOptions, PartSize, ShardEnd, Shards};
//! use jurat::{Assertion, Run, RunOptions, Suite, compare::equals};
//! use serde_json::json;
//!
//! # let directory = tempfile::tempdir()?;
//! # let directory = directory.path();
//! let suite = Suite::builder("invoices")
//!     .record(json!({ "id": "r1", "status": "paid" }))
//!     .record(json!({ "id": "r2", "status": "open" }))
//!     .task(Assertion::new("paid", "status", equals("paid")))
//!     .build()?;
//! let out = directory.join("parts");
//! let shards = Shards::plan(&suite, &RunOptions::new(), PartSize::Rows(1), &out)?;
//! assert_eq!(shards.n(), 2);
//! // Anywhere, in any order, any number of times:
//! for ix in [1, 0, 1] {
//!     let started = Shards::open(&out)?.start(ix, RunOptions::in_directory(directory), |_| ())?;
//!     if let Some(started) = started {
//!         assert!(matches!(started.wait()?, ShardEnd::Done { .. }));
//!     }
//! }
//! let run = Run::open(shards.merge(&MergeOptions::default())?.path)?;
//! assert_eq!(run.pass_rate(), Some(0.5));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod driver_lock;

use std::collections::hash_map::RandomState;
use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher, Hasher};
use std::io::{self, Read as _, Write as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jurat_core::verdict::StopReason;
use jurat_engine::Examined;
use jurat_engine::allowance::{CaseNumbers, CoordinatorOptions, LeaseError, Leases, ShardProgress, ShardReport};
use jurat_engine::shards::{
    self as engine, Answers, MARK_OF_WORK, MergeOptions as Merging, ShardError, ShardPlan, ShardState,
};
use jurat_store::Project;
use jurat_store::run::{RunReader, discard};

use crate::suite::Code;
use crate::{CaseCounts, Error, Note, RunOptions, Running, Suite, Watch};

pub use self::driver_lock::DriverLock;
pub use jurat_engine::allowance::{BadShare, Coordinator, Limits, Share, Standing};
pub use jurat_engine::shards::{Merged, not_for_shards};
pub use jurat_store::records::PartSize;

/// A directory with a plan of shards, and the shards that were run.
#[derive(Debug)]
pub struct Shards {
    out: PathBuf,
    plan: ShardPlan,
}

/// How shards are merged.
#[derive(Debug, Clone, Default)]
pub struct MergeOptions {
    /// The file of the run; `run.jurat` beside the plan when it is not named.
    pub target: Option<PathBuf>,
    /// Whether shards may be missing. The run then says that it is not complete.
    pub partial: bool,
    /// How many rows there must be.
    pub expect_rows: Option<u64>,
}

/// What a shard may spend and do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Allowance {
    /// What its own options say; no budget.
    Own,
    /// A fixed part of budgets, requests in flight and rates.
    Share(Share),
    /// What a coordinator at this address leases.
    Coordinator(String),
}

/// The variable with the token of a coordinator.
const TOKEN: &str = "JURAT_COORDINATOR_TOKEN";

fn given_token() -> Option<String> {
    std::env::var(TOKEN).ok().filter(|it| !it.is_empty())
}

/// A name that no other process has.
fn worker() -> String {
    let random = RandomState::new().build_hasher().finish();
    format!("{}-{random:016x}", std::process::id())
}

/// Reaches a coordinator that leases to processes which judge batches.
pub(crate) fn leases_of_batches(url: &str) -> Result<Leases, Error> {
    let token = given_token().ok_or_else(|| {
        Error::Usage(format!("`{TOKEN}` is not set on this worker; it is what a coordinator knows its processes by"))
    })?;
    Leases::connect(url, &token, worker(), "", 0).map_err(unleased)
}

/// Starts what leases budget and limits to all processes that have the token: those that judge batches, and those that run shards of any plan. What it leases is in a file, so that it can be started again; it
/// ends when it is dropped.
pub fn coordinate(
    limits: Limits,
    listen: SocketAddr,
    file: impl Into<PathBuf>,
    token: impl Into<String>,
) -> Result<Coordinator, Error> {
    let (file, token) = (file.into(), token.into());
    let (plan, n_shards, now_ms) = (String::new(), 0, jurat_engine::now_ms as fn() -> u64);
    Coordinator::start(CoordinatorOptions { listen, limits, file, token, plan, n_shards, now_ms })
        .map_err(|error| Error::Run(Box::new(error)))
}

impl Shards {
    /// Cuts the rows of a suite, and writes the plan with copies of the suite to a directory. A directory that has the same plan stays as it is.
    pub fn plan(suite: &Suite, options: &RunOptions, size: PartSize, out: impl Into<PathBuf>) -> Result<Shards, Error> {
        let plan = ShardPlan::make(suite.definition_to_run(), options, size, Answers::Own).map_err(wrong)?;
        Shards::written(suite, plan, out.into())
    }

    /// The same for shards that are run by processes of this machine: they share the journal of the project. Without a directory, one in the project is
    /// taken, the same for the same suite, data and options.
    pub fn plan_here(
        suite: &Suite,
        options: &RunOptions,
        size: PartSize,
        out: Option<PathBuf>,
    ) -> Result<Shards, Error> {
        let plan = ShardPlan::make(suite.definition_to_run(), options, size, Answers::Journal).map_err(wrong)?;
        let out = match out {
            Some(out) => out,
            None => project(&options.directory)?.root().join("parts").join(&plan.hash[..16]),
        };
        Shards::written(suite, plan, out)
    }

    fn written(suite: &Suite, plan: ShardPlan, out: PathBuf) -> Result<Shards, Error> {
        let plan = plan.write(suite.definition_to_run(), &out).map_err(wrong)?;
        Ok(Shards { out, plan })
    }

    /// Opens a directory with a plan. One that another version made is refused.
    pub fn open(out: impl Into<PathBuf>) -> Result<Shards, Error> {
        let out = out.into();
        let plan = ShardPlan::read(&out).map_err(wrong)?;
        Ok(Shards { out, plan })
    }

    /// The directory.
    pub fn directory(&self) -> &Path {
        &self.out
    }

    /// What names the plan by its content.
    pub fn hash(&self) -> &str {
        &self.plan.hash
    }

    /// How many shards there are.
    pub fn n(&self) -> usize {
        self.plan.n_shards()
    }

    /// The shards that were not run yet, those that take longest first.
    pub fn open_shards(&self) -> Result<Vec<u32>, Error> {
        let mut open = Vec::new();
        for ix in 0..self.n() as u32 {
            if self.plan.state(&self.out, ix).map_err(wrong)? == ShardState::Missing {
                open.push(ix);
            }
        }
        open.sort_by_key(|ix| (std::cmp::Reverse(self.plan.weight(*ix)), *ix));
        Ok(open)
    }

    /// Starts a shard; nothing is started when it is done. The options that change results are those of the plan.
    pub fn start(
        &self,
        ix: u32,
        options: RunOptions,
        note: impl FnMut(Note) + Send + 'static,
    ) -> Result<Option<RunningShard>, Error> {
        self.start_with(ix, options, Allowance::Own, note)
    }

    /// The same with an allowance: budgets and limits are for all shards, and this is one of them.
    pub fn start_with(
        &self,
        ix: u32,
        mut options: RunOptions,
        allowance: Allowance,
        note: impl FnMut(Note) + Send + 'static,
    ) -> Result<Option<RunningShard>, Error> {
        if self.plan.state(&self.out, ix).map_err(wrong)? == ShardState::Done {
            return Ok(None);
        }
        let mut names = not_for_shards(&options);
        if matches!(allowance, Allowance::Share(_)) {
            names.retain(|it| !it.starts_with("--budget"));
        }
        if !names.is_empty() {
            return Err(wrong(ShardError::Options { names }));
        }
        let suite = self.suite()?;
        self.plan.set(&mut options);
        match allowance {
            Allowance::Own => {}
            Allowance::Share(share) => options.take_share(share).map_err(|it| Error::Usage(it.to_string()))?,
            Allowance::Coordinator(url) => options.leases = Some(Arc::new(self.leases(&url, ix)?)),
        }
        let leases = options.leases.clone();
        let work = self.work_file(ix);
        options.shard = Some(self.plan.job(&self.out, ix, work.clone()).map_err(wrong)?);
        let running = Running::start(&suite, options, note, || ())?;
        let file = ShardPlan::shard_file(&self.out, ix);
        Ok(Some(RunningShard { ix, running, work, file, leases }))
    }

    /// Reaches a coordinator, and tells it that a shard begins.
    fn leases(&self, url: &str, ix: u32) -> Result<Leases, Error> {
        let leases = Leases::connect(url, &self.token()?, worker(), &self.plan.hash, ix).map_err(unleased)?;
        leases.report(&report(&leases, ix, ShardProgress::Begun, CaseCounts::default())).map_err(unleased)?;
        Ok(leases)
    }

    /// Starts what leases budget and limits to the processes that run the shards. It writes down what it leases, so that it can be started again; it ends when it is dropped.
    pub fn coordinate(&self, limits: Limits, listen: SocketAddr) -> Result<Coordinator, Error> {
        let options = CoordinatorOptions {
            listen,
            limits,
            file: self.out.join("coordinator.jsonl"),
            token: self.make_token()?,
            plan: self.plan.hash.clone(),
            n_shards: self.n(),
            now_ms: jurat_engine::now_ms,
        };
        Coordinator::start(options).map_err(|error| Error::Run(Box::new(error)))
    }

    /// The file with what requests to the coordinator must have. `JURAT_COORDINATOR_TOKEN` in the environment takes its place.
    pub fn token_file(&self) -> PathBuf {
        self.out.join("coordinator.token")
    }

    fn token(&self) -> Result<String, Error> {
        if let Some(token) = given_token() {
            return Ok(token);
        }
        let path = self.token_file();
        let read = fs::read_to_string(&path).map(|it| it.trim().to_owned());
        read.map_err(|error| {
            let path = path.display();
            Error::Usage(format!("the token of the coordinator is not in `{path}` ({error}); set `{TOKEN}` to it"))
        })
    }

    /// The token, made when there is none.
    fn make_token(&self) -> Result<String, Error> {
        let path = self.token_file();
        if given_token().is_some() || path.exists() {
            return self.token();
        }
        let failed = |error: io::Error| Error::Run(Box::new(ShardError::Io { path: path.clone(), source: error }));
        let mut bytes = [0; 16];
        File::open("/dev/urandom").and_then(|mut it| it.read_exact(&mut bytes)).map_err(|_| {
            Error::Usage(format!("this system has no random numbers for a token; set `{TOKEN}` to a secret text"))
        })?;
        let token: String = bytes.iter().map(|it| format!("{it:02x}")).collect();
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(&path).and_then(|mut it| writeln!(it, "{token}")).map_err(failed)?;
        Ok(token)
    }

    /// The suite as it was planned. Data that changed since is refused.
    fn suite(&self) -> Result<Suite, Error> {
        let copied = self.plan.definition(&self.out).map_err(wrong)?;
        let examined = Examined::read(&copied.main, &copied);
        let suite = Suite::compiled(examined, Code::default())?;
        self.plan.check(suite.definition_to_run(), &self.out).map_err(wrong)?;
        Ok(suite)
    }

    /// Where a shard is written. While another process writes it, this one writes its own.
    fn work_file(&self, ix: u32) -> PathBuf {
        let work = self.plan.work_file(&self.out, ix);
        let is_taken = work.exists() && RunReader::open(&work).is_ok_and(|it| it.is_being_written());
        if is_taken { work.with_file_name(format!("{MARK_OF_WORK}{ix:05}-{}.jurat", std::process::id())) } else { work }
    }

    /// Claims the directory for a process that runs all shards. Another that does so is refused; with `take_over`, one of another machine that was silent for a minute is taken for dead.
    pub fn lock(&self, take_over: bool) -> Result<DriverLock, Error> {
        driver_lock::lock(&self.out, take_over)
    }

    /// Makes one run from the shards.
    pub fn merge(&self, options: &MergeOptions) -> Result<Merged, Error> {
        let target = options.target.clone().unwrap_or_else(|| self.out.join("run.jurat"));
        let id = target.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let merging = Merging { id, partial: options.partial, expect_rows: options.expect_rows, home: None };
        engine::merge(&self.plan, &self.out, &target, &merging).map_err(wrong)
    }

    /// Whether a directory has a plan of shards.
    pub fn is_in(directory: &Path) -> bool {
        ShardPlan::is_in(directory)
    }

    /// One run from the shards that are done, which says so when some are missing: `run.jurat` where all are there, else `partial.jurat`. Nothing is written where no shard was
    /// added since the last time.
    pub fn merge_so_far(&self) -> Result<Merged, Error> {
        let is_whole = self.open_shards()?.is_empty();
        let target = (!is_whole).then(|| self.out.join("partial.jurat"));
        self.merge(&MergeOptions { target, partial: !is_whole, expect_rows: None })
    }

    /// Makes one run of the project that a directory belongs to, and removes the shards.
    pub fn merge_into_project(self, directory: &Path) -> Result<Merged, Error> {
        let project = project(directory)?;
        let random = u64::from_str_radix(&self.plan.hash[..16], 16).unwrap_or_default();
        let run = project.new_run(&self.plan.suite, jurat_engine::now_ms(), random);
        let home = project.root().parent().map(Path::to_owned);
        let merging = Merging { id: run.id, home, ..Merging::default() };
        let merged = engine::merge(&self.plan, &self.out, &run.path, &merging).map_err(wrong)?;
        // What is left of them does no harm.
        let _ = fs::remove_dir_all(&self.out);
        Ok(merged)
    }
}

/// A shard in progress.
#[derive(Debug)]
pub struct RunningShard {
    ix: u32,
    running: Running,
    work: PathBuf,
    file: PathBuf,
    leases: Option<Arc<Leases>>,
}

/// How a shard ended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ShardEnd {
    /// It is written.
    Done {
        /// How many of its cases ended how.
        cases: CaseCounts,
    },
    /// Something came before its end. What was answered is stored, and the next attempt resumes it.
    Stopped(StopReason),
}

impl RunningShard {
    /// Watches and stops it while another thread waits for it.
    pub fn watch(&self) -> Watch {
        self.running.watch()
    }

    /// Waits for its end. It gets its name when it is whole.
    pub fn wait(self) -> Result<ShardEnd, Error> {
        let RunningShard { ix, running, work, file, leases } = self;
        let ended = ended(ix, running, &work, &file);
        if let Some(leases) = leases {
            let (state, cases) = match &ended {
                Ok(ShardEnd::Done { cases }) => (ShardProgress::Done, *cases),
                Ok(ShardEnd::Stopped(_)) => (ShardProgress::Begun, CaseCounts::default()),
                Err(_) => (ShardProgress::Failed, CaseCounts::default()),
            };
            let finished = leases.finish(&report(&leases, ix, state, cases)).map_err(unleased);
            // A shard that is done needs no coordinator any more.
            if !matches!(ended, Ok(ShardEnd::Done { .. })) {
                finished?;
            }
        }
        ended
    }
}

fn ended(ix: u32, running: Running, work: &Path, file: &Path) -> Result<ShardEnd, Error> {
    let run = running.wait()?;
    if let Some(reason) = run.stopped() {
        return Ok(ShardEnd::Stopped(reason));
    }
    let cases = run.report().cases;
    drop(run);
    place(ix, work, file).map_err(wrong)?;
    Ok(ShardEnd::Done { cases })
}

fn report(leases: &Leases, shard: u32, state: ShardProgress, cases: CaseCounts) -> ShardReport {
    let CaseCounts { passed, failed, error, not_run, measured, not_judged } = cases;
    let cases = CaseNumbers { passed, failed, error, not_run, other: measured + not_judged };
    ShardReport { worker: leases.worker().to_owned(), shard, state, cases }
}

fn unleased(error: LeaseError) -> Error {
    Error::Run(Box::new(error))
}

/// Gives a whole shard its name. Of several that were run at the same time, and must be equal, the first stays.
fn place(ix: u32, work: &Path, file: &Path) -> Result<(), ShardError> {
    if file.exists() {
        let difference = RunReader::open(file)?.difference(&RunReader::open(work)?)?;
        return match difference {
            None => {
                discard(work);
                Ok(())
            }
            Some(difference) => {
                Err(ShardError::Unequal { ix, difference, first: file.to_owned(), second: work.to_owned() })
            }
        };
    }
    let of = |path: &Path| {
        let path = path.to_owned();
        move |source| ShardError::Io { path: path.clone(), source }
    };
    if work.parent() == file.parent() {
        return fs::rename(work, file).map_err(of(file));
    }
    // A name of its own, because another machine may do the same.
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let copy = file.with_file_name(format!("{MARK_OF_WORK}copy-{}-{name}", std::process::id()));
    fs::copy(work, &copy).map_err(of(&copy))?;
    File::open(&copy).and_then(|it| it.sync_all()).map_err(of(&copy))?;
    fs::rename(&copy, file).map_err(of(file))?;
    discard(work);
    Ok(())
}

fn project(directory: &Path) -> Result<Project, Error> {
    let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    Project::find_or_create(directory).map_err(|error| Error::Run(Box::new(error)))
}

pub(crate) fn wrong(error: ShardError) -> Error {
    match error {
        ShardError::File(error) => Error::Read(Box::new(error)),
        ShardError::Io { .. } => Error::Run(Box::new(error)),
        error => Error::Usage(error.to_string()),
    }
}
