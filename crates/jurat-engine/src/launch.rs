//! From a definition to a run: models made ready, an interrupted run found, the file begun.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jurat_compare::expression::ExpressionError;
use jurat_core::effect::ModelRequest;
use jurat_core::effect::wire::request_json;
use jurat_core::stopping::StopWhen;
use jurat_core::suite::{EvaluatorKind, Records, Suite, unusable_code};
use jurat_format::problem::{Problem, listed_all};
use jurat_model::{BatchOptions, Batches, Proxies, Supervisor, Toolbox, TransportOptions};
use jurat_postgres::Address;
use jurat_sandbox::worker::SUPERVISE;
use jurat_sandbox::{Program, Refused};
use jurat_store::DatabaseError;
use jurat_store::Project;
use jurat_store::journal::{AnswerStore, Journal, Segments, SharedError};
use jurat_store::run::{
    Document, Resumes, RunFileError, RunHead, RunReader, SourceFile, SourceHead, TaskHead, Variant, WriteError,
    unfinished,
};

use crate::agents::{AGENT_FILES, Agents};
use crate::allowance::BadShare;
use crate::clock::now_ms;
use crate::definition::{Definition, documents, source_heads, suite_hash};
use crate::evaluators::{Evaluators, Workers};
use crate::job::{Job, Mode, Target};
use crate::models::{Models, OpenModels};
use crate::options::RecordedOptions;
use crate::performers::Performers;
use crate::requirements::{Met, Place, require, require_roles};
use crate::roles::main_folder;
use crate::run::{Ran, run};
use crate::shard::Answers;
use crate::sharing::{BadSharedJournal, Ended as SharedEnded, Sharing, shared_address};
use crate::stopping::{CERTAIN, StopWatch, Wanted, watch};
use crate::stopping_record::StoppingRecord;
use crate::variants::variants_of;
use crate::{
    Budget, Conditions, EvaluatorError, ModelError, Progress, RecordingError, Rerun, RerunError, Resources, Roles,
    RunError, RunOptions, Selection, Stop, StopError, open_recording, scripts,
};

/// The world a run is in.
pub struct World<'w> {
    pub project: &'w Project,
    pub resources: Resources<'w>,
    /// Rows may come from here.
    pub stdin: &'w mut (dyn Read + Send),
    /// What the name of the run ends in is made from it.
    pub random: u64,
}

/// A run that is over.
#[derive(Debug)]
pub struct Launched {
    pub ran: Ran,
    /// Whether it resumed one that was interrupted.
    pub resumed: bool,
    /// What became of the shared journal, where there is one.
    pub shared: Option<SharedEnded>,
}

/// Why a definition could not be run.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// A model cannot be asked.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// An evaluator cannot be run.
    #[error(transparent)]
    Evaluator(#[from] EvaluatorError),
    #[error(
        "the journal is damaged, and was set aside as `{}`; run the command again: answers that only it had are asked again",
        aside.display()
    )]
    JournalSetAside { aside: PathBuf },
    /// Something that it needs is not there. The texts that the places are in are those of the definition.
    #[error("{}", messages(.0))]
    Unready(Vec<Problem>),
    /// The recording that is replayed cannot be read.
    #[error(transparent)]
    Recording(#[from] RecordingError),
    /// The cases of an earlier run that are run again cannot be found.
    #[error(transparent)]
    Rerun(#[from] RerunError),
    #[error("`--filter`: {0}")]
    Filter(#[from] ExpressionError),
    /// The part of a rate that the process has is nothing.
    #[error(transparent)]
    Share(#[from] BadShare),
    /// The journal of the team has no usable address.
    #[error(transparent)]
    SharedJournal(#[from] BadSharedJournal),
    /// It cannot be stopped when enough is known.
    #[error(transparent)]
    Stop(#[from] StopError),
    /// The run failed.
    #[error(transparent)]
    Run(#[from] RunError),
    #[error(
        "`--batch` sends requests in batches to models of `openai`, `openai-responses` and `anthropic`, and this suite asks none of them: it \
         asks {models}"
    )]
    NoBatches { models: String },
    #[error("batches cannot be recorded in `{}`: {source}", directory.display())]
    Batches { directory: PathBuf, source: io::Error },
    /// Repeating what is already there changes nothing.
    #[error(
        "`--repeat` asks the subject several times, and this suite asks no subject: its answers are recorded. To ask a \
         judge several times, give it `repeat`"
    )]
    NothingToRepeat,
}

fn messages(problems: &[Problem]) -> String {
    let messages: Vec<&str> = problems.iter().map(|it| it.message.as_str()).collect();
    messages.join("; ")
}

impl From<RunFileError> for LaunchError {
    fn from(error: RunFileError) -> LaunchError {
        LaunchError::Run(error.into())
    }
}

impl From<DatabaseError> for LaunchError {
    fn from(error: DatabaseError) -> LaunchError {
        LaunchError::Run(error.into())
    }
}

/// A run that has a file, before its first case.
#[derive(Debug, Clone)]
pub struct Beginning<'b> {
    pub path: &'b Path,
    /// Whether it resumes one that was interrupted.
    pub is_resumed: bool,
    /// Where the journal is now, if it was damaged.
    pub set_aside: Option<&'b Path>,
    /// The models whose requests are sent by themselves, although batches were wanted.
    pub unbatched: Vec<String>,
    /// The models whose responses the shared journal does not have, because they are on this machine.
    pub unshared: Vec<String>,
    /// The shared journal that cannot be reached, and why.
    pub unreachable: Option<(String, SharedError)>,
    /// Whether batches were wanted and cases run one after the other, so that each batch has the requests of one case.
    pub batches_one_case: bool,
}

/// Called when a run begins.
pub type Begun<'b> = &'b mut dyn FnMut(Beginning<'_>);

pub fn launch(
    definition: Definition<'_>,
    options: &RunOptions,
    world: &mut World<'_>,
    stop: &Stop,
    progress: &Progress,
    begun: Begun<'_>,
) -> Result<Launched, LaunchError> {
    let Definition { suite, sources, plan } = definition;
    let repeat = options.repeat.or(suite.repeat).unwrap_or(1);
    if repeat > 1 && !plan.asks_subjects() {
        return Err(LaunchError::NothingToRepeat);
    }
    let recording = options.replay.as_deref().map(|it| open_recording(it, world.project)).transpose()?;
    let selection = options.selection(rerun(definition, options, world.project)?)?;
    Roles::are_asked(plan, &options.models)?;
    let supervisor = supervisor(world.resources.worker.as_ref());
    let transport = options.transport(Proxies::from_environment(world.resources.env), supervisor);
    let (roles, ready) = prepared(definition, options, &transport, world)?;
    let limits = options.leases.as_ref().map_or_else(|| options.budget(), |it| it.budget_limits());
    if ready.is_some() {
        roles.allow(&limits)?;
    }
    let shared_at = if ready.is_some() && plan.asks() { shared_journal(options, world)? } else { None };
    let (variants, asked) = variants_of(plan, &roles.subjects, repeat);
    let recorded = RecordedOptions::new(options, repeat, selection.rerun.as_ref());
    let given = options.rows_digest.as_deref();
    let mut head = head(definition, &recorded, world, &roles, variants.clone(), given);
    let resumes = if options.resume_decided { Resumes::Decided } else { Resumes::Unfinished };
    let resumed = match (&options.shard, &recording) {
        (Some(shard), _) => shard.resumed()?,
        (None, None) if can_resume(&suite.records, options) => {
            unfinished(&world.project.runs_directory(), &head.resume_key, resumes)?
        }
        _ => None,
    };
    let earlier = match (&resumed, &recording) {
        (Some(path), _) => StoppingRecord::of(RunReader::open(path)?.head()),
        (None, Some(recording)) => recording.stopping(),
        (None, None) => None,
    };
    let watch = watched(definition, options, world, &variants, &selection, earlier.as_ref())?;
    if let Some(watch) = &watch {
        head.seed = watch.design().seed;
        head.documents.push(watch.design().document());
    }
    if let Some(shard) = &options.shard {
        (head.id, head.resume_key) = (format!("{:05}", shard.ix), shard.resume_key());
        head.sources = all_sources(definition, None);
    }
    let own = options.shard.as_ref().map(|it| it.file.clone());
    let path =
        resumed.clone().or(own).unwrap_or_else(|| world.project.runs_directory().join(format!("{}.jurat", head.id)));
    let target = if resumed.is_some() { Target::Resume(&path) } else { Target::New(&path, &head) };
    let asks = plan.asks();
    let concurrency = transport.concurrency;
    let (performers, answers) = match ready {
        None => (None, PaidAnswers::default()),
        Some(ready) => {
            let budget = match &options.leases {
                Some(leases) => leases.start().map_err(RunError::from)?,
                None => Arc::new(Budget::new(limits)),
            };
            if let Some(shard) = options.shard.as_ref().filter(|_| options.share.is_some()) {
                shard.charge_earlier(&budget).map_err(RunError::from)?;
            }
            let performers = Performers::new(ready, &suite.tools, world.resources.env, transport, budget);
            let workers = Workers { program: world.resources.worker.clone(), is_unsafe: options.unsafe_code };
            let evaluators = Evaluators::open(plan, &main_folder(sources), &workers, world.resources.evaluators);
            let mut performers = performers.with(evaluators.map_err(|error| unusable_evaluator(definition, error))?);
            if let Some(options) = options.batches(&world.project.root().join(BATCHES)) {
                performers.models = in_batches(performers.models, options)?;
            }
            let answers = if asks { PaidAnswers::open(options, world.project)? } else { PaidAnswers::default() };
            (Some(performers), answers)
        }
    };
    let shown = shared_at.as_ref().map(ToString::to_string);
    let mut sharing = answers.journal.as_ref().zip(shared_at).map(|(journal, address)| Sharing::open(address, journal));
    let unreachable = shown.zip(sharing.as_mut().and_then(|it| it.1.take()));
    let models = performers.as_ref().map(|it| &it.models);
    let mode = match (&recording, &performers) {
        (Some(recording), _) => Mode::Replay(&**recording, &roles),
        (None, Some(performers)) => {
            let (journal, shared) = (answers.store(), sharing.as_ref().map(|it| &it.0));
            Mode::Ask { perform: performers, journal, shared, fresh: options.fresh, max_age: options.max_age }
        }
        (None, None) => unreachable!("models are opened for what is not replayed"),
    };
    let unshared = models.filter(|_| sharing.is_some()).map(Models::of_this_machine).unwrap_or_default();
    let unbatched = models.filter(|_| options.batch).map(|it| it.by_batches().1).unwrap_or_default();
    begun(Beginning {
        path: &path,
        is_resumed: resumed.is_some(),
        set_aside: answers.set_aside.as_deref(),
        unbatched: unbatched.into_iter().map(str::to_owned).collect(),
        unshared: unshared.into_iter().map(str::to_owned).collect(),
        unreachable,
        batches_one_case: options.batch && models.is_some_and(Models::is_sequential),
    });
    let job = Job {
        plan,
        records: &suite.records,
        selection: &selection,
        home: world.project.root().parent().unwrap_or(Path::new("")).to_owned(),
        agent_files: world.project.root().join(AGENT_FILES),
        variants,
        asked,
        mode,
        threads: options.threads(),
        concurrency,
        deadline: options.timeout,
        // A gate may pass although a case fails.
        fail_fast: options.fail_fast && !options.gate,
        keep_going: options.keep_going,
        keep_all: options.keep_all,
        durable: options.durable,
        watch,
        shard: options.shard.as_ref(),
    };
    let ran = run(&job, target, world.stdin, stop, progress).map_err(|error| run_failure(world.project, error))?;
    let shared = sharing.map(|it| it.0.end());
    Ok(Launched { ran, resumed: resumed.is_some(), shared })
}

/// The journal that a team shares. A shard that may be run on another machine has none.
fn shared_journal(options: &RunOptions, world: &World<'_>) -> Result<Option<Address>, BadSharedJournal> {
    let is_apart = options.shard.as_ref().is_some_and(|it| it.answers == Answers::Own);
    match (is_apart, &options.shared_journal) {
        (true, Some(_)) => Err(BadSharedJournal::Shard),
        (true, None) => Ok(None),
        (false, given) => shared_address(given.as_deref(), world.resources.env),
    }
}

/// Where paid answers are. A shard that may be run on another machine has segments, any other run the journal of its project.
#[derive(Default)]
struct PaidAnswers {
    journal: Option<Journal>,
    segments: Option<Segments>,
    /// Where the journal is now, if it was damaged.
    set_aside: Option<PathBuf>,
}

impl PaidAnswers {
    fn open(options: &RunOptions, project: &Project) -> Result<PaidAnswers, DatabaseError> {
        if let Some(shard) = options.shard.as_ref().filter(|it| it.answers == Answers::Own) {
            let segments = Some(Segments::open(&shard.segments, &shard.resume_key())?);
            return Ok(PaidAnswers { segments, ..PaidAnswers::default() });
        }
        let (journal, set_aside) = project.usable_journal()?;
        Ok(PaidAnswers { journal: Some(journal), set_aside, segments: None })
    }

    fn store(&self) -> Option<AnswerStore<'_>> {
        let journal = self.journal.as_ref().map(AnswerStore::Journal);
        journal.or(self.segments.as_ref().map(AnswerStore::Segments))
    }
}

/// Whether a run ends as soon as its gate is certain to fail. Rows that come in an order of their own are run to the end: how many there are is not known.
fn is_gated_fast(suite: &Suite, options: &RunOptions) -> bool {
    let is_stream = suite.records.iter().any(|it| it.from.is_stream());
    options.gate && options.fail_fast && suite.gates.is_some() && !is_stream && options.rerun.is_empty()
}

/// What stops a run when enough is known. A resumed run and a replay have the order of the run before them.
fn watched(
    definition: Definition<'_>,
    options: &RunOptions,
    world: &World<'_>,
    variants: &[Variant],
    selection: &Selection,
    earlier: Option<&StoppingRecord>,
) -> Result<Option<StopWatch>, StopError> {
    if options.gate && definition.suite.gates.is_none() {
        return Err(StopError::NoGates);
    }
    let was_certain = options.replay.is_some() && earlier.is_some_and(|it| it.rules == CERTAIN);
    let is_certain = options.stop_when.is_none() && (was_certain || is_gated_fast(definition.suite, options));
    let named = options.stop_when.as_deref().or_else(|| earlier.map(|it| it.rules.as_str()));
    let named = named.filter(|it| *it != CERTAIN);
    let rules = match (named, is_certain) {
        (Some(named), _) => named.parse()?,
        (None, true) => StopWhen { fail: true, ..StopWhen::default() },
        (None, false) => return Ok(None),
    };
    let wanted = Wanted {
        rules,
        is_certain,
        seed: earlier.map(|it| it.seed).or(options.seed).unwrap_or(world.random),
        base: options.base.as_deref().or_else(|| earlier.and_then(|it| it.base.as_deref())),
        earlier,
        variants,
        selection,
    };
    let watch = watch(definition, &wanted, world.project)?;
    // A replay ends as its recording did.
    let continues = options.resume_decided || (options.replay.is_some() && earlier.is_some());
    Ok(Some(if continues { watch.continuing() } else { watch }))
}

/// The cases of an earlier run that alone are run.
fn rerun(definition: Definition<'_>, options: &RunOptions, project: &Project) -> Result<Option<Rerun>, RerunError> {
    if options.rerun.is_empty() {
        return Ok(None);
    }
    let suite = definition.suite.name.as_ref().map_or("suite", |it| it.value.as_str());
    Rerun::find(project, suite, &options.rerun, options.rerun_from.as_deref()).map(Some)
}

/// What starts the programs that models and servers are, so that they end with this process. Elsewhere than on Linux they are started directly.
pub(crate) fn supervisor(worker: Option<&Program>) -> Option<Supervisor> {
    let Program { path, arguments } = worker.filter(|_| cfg!(target_os = "linux"))?;
    let arguments = arguments.iter().cloned().chain([SUPERVISE.to_owned()]).collect();
    Some(Supervisor { program: path.clone(), arguments })
}

/// A journal that turns out to be damaged in the middle of a run is set aside, so that the next run is not stopped by it.
fn run_failure(project: &Project, error: RunError) -> LaunchError {
    let is_of_journal = |it: &DatabaseError| it.is_damage() && it.path() == project.journal_path();
    let is_damaged = match &error {
        RunError::Database(error) | RunError::File(RunFileError::Database(error)) => is_of_journal(error),
        RunError::Write(WriteError::File(error)) => {
            matches!(&**error, RunFileError::Database(error) if is_of_journal(error))
        }
        _ => false,
    };
    match is_damaged.then(|| project.set_damaged_journal_aside()) {
        Some(Ok(Some(aside))) => LaunchError::JournalSetAside { aside },
        _ => error.into(),
    }
}

/// Models whose requests wait for each other and are sent in batches.
fn in_batches(models: Models, options: BatchOptions) -> Result<Models, LaunchError> {
    let (with, without) = models.by_batches();
    if with.is_empty() {
        return Err(LaunchError::NoBatches { models: listed_all(without) });
    }
    let directory = options.directory.clone();
    let batches = Batches::open(options, now_ms());
    Ok(models.in_batches(batches.map_err(|source| LaunchError::Batches { directory, source })?))
}

/// Models, agents and servers that are ready.
type Ready = (OpenModels, Agents, Toolbox);

/// The models of a run, and for one that is no replay everything that it needs, ready.
fn prepared(
    definition: Definition<'_>,
    options: &RunOptions,
    transport: &TransportOptions,
    world: &World<'_>,
) -> Result<(Roles, Option<Ready>), LaunchError> {
    let conditions = Conditions {
        models: &options.models,
        unsafe_code: options.unsafe_code,
        unsafe_host: options.unsafe_host,
        resources: &world.resources,
    };
    let unready = |problems: Vec<Problem>| LaunchError::Unready(problems.into_iter().map(Problem::as_error).collect());
    if options.replay.is_some() {
        let roles = require_roles(definition, conditions.models, world.resources.env);
        return Ok((roles.map_err(unready)?, None));
    }
    if let Some(share) = options.share {
        let roles = require_roles(definition, conditions.models, world.resources.env).map_err(unready)?;
        roles.check_rates(share)?;
    }
    let place = Place {
        share: options.share,
        agent_files: world.project.root().join(AGENT_FILES),
        programs: transport.concurrency.min(options.threads().get()),
        calls: transport.concurrency,
        proxies: transport.proxies.clone(),
        supervisor: transport.supervisor.clone(),
    };
    let Met { roles, models, tools, agents } = require(definition, &conditions, place).map_err(unready)?;
    Ok((roles, Some((models, agents, tools))))
}

/// Code that its interpreter does not take is shown where it stands, as `check` shows it.
pub(crate) fn unusable_evaluator(definition: Definition<'_>, error: EvaluatorError) -> LaunchError {
    let Definition { suite, sources, .. } = definition;
    let EvaluatorError::Refused { evaluator, refused: refused @ Refused::Source { .. } } = error else {
        return error.into();
    };
    let written = suite.evaluators.iter().find(|it| it.name.value == evaluator);
    match written.map(|it| &it.kind) {
        Some(EvaluatorKind::Code(code)) => {
            let wrong = scripts::wrong(&code.code.source.text, refused);
            LaunchError::Unready(vec![unusable_code(sources, code, wrong)])
        }
        _ => EvaluatorError::Refused { evaluator, refused }.into(),
    }
}

/// Where submitted batches are recorded, in the directory of the project.
const BATCHES: &str = "batches";

/// What is known of a run before its first case.
fn head(
    definition: Definition<'_>,
    recorded: &RecordedOptions,
    world: &World<'_>,
    roles: &Roles,
    variants: Vec<Variant>,
    given: Option<&str>,
) -> RunHead {
    let Definition { suite, sources, plan } = definition;
    let mut documents = documents(sources);
    let suite_hash = suite_hash(&documents);
    documents.push(recorded.document());
    let created_at_ms = now_ms();
    let name = suite.name.as_ref().map_or("suite", |it| it.value.as_str());
    let sources = all_sources(definition, Some(world.project));
    let tasks = suite.tasks.iter().zip(plan.stage_numbers()).map(|(task, stage)| TaskHead {
        id: task.id.value.clone(),
        kind: task.kind.name().to_owned(),
        gate: task.gate.name().to_owned(),
        stage: stage as u32,
        path: task.path_text(),
        operator: task.operator_name(),
        expected: task.comparison.as_ref().and_then(jurat_core::suite::TaskComparison::fixed).map(|it| it.expected()),
    });
    let run = world.project.new_run(name, created_at_ms, world.random);
    RunHead {
        id: run.id,
        suite: name.to_owned(),
        resume_key: resume_key(&suite_hash, recorded, roles, &sources, given),
        suite_hash,
        seed: 0,
        created_at_ms,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        documents,
        sources,
        tasks: tasks.collect(),
        variants,
    }
}

/// Where cases come from: rows, then the sections of the definition that have cases.
fn all_sources(definition: Definition<'_>, project: Option<&Project>) -> Vec<SourceHead> {
    let mut sources = source_heads(&definition.suite.records, project);
    sources.extend(definition.plan.case_sections().map(|it| SourceHead { name: it.to_owned(), file: None }));
    sources
}

/// Rows of standard input and of a program are gone when a run is: it cannot be resumed, unless it is known that the same rows are given again.
fn can_resume(records: &[Records], options: &RunOptions) -> bool {
    options.rows_digest.is_some() || !records.iter().any(|it| it.from.is_stream())
}

/// What a later run must share to resume this one: the definition, its options, the models, and the data.
fn resume_key(
    suite_hash: &str,
    options: &RecordedOptions,
    roles: &Roles,
    sources: &[SourceHead],
    given: Option<&str>,
) -> String {
    let mut hasher = blake3::Hasher::new();
    let mut add = |text: &str| {
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    };
    add(suite_hash);
    let Document { body, .. } = options.document();
    add(&String::from_utf8_lossy(&body));
    for role in &roles.models {
        add(&request_json(&role.model.endpoint, &ModelRequest::new(role.role.clone(), Vec::new())));
    }
    for source in sources {
        add(&source.name);
        if let Some(SourceFile { path, size, mtime_ns }) = &source.file {
            add(&format!("{path} {size} {mtime_ns}"));
        }
    }
    if let Some(digest) = given {
        add(digest);
    }
    hasher.finalize().to_hex().to_string()
}
