//! A plan of shards: `plan.json`, with copies of the suite beside it.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jurat_core::suite::Records;
use jurat_store::journal::segment_files;
use jurat_store::records::{PartSize, SourcePart, parts};
use jurat_store::run::{RunReader, SourceFile, is_local};
use serde::{Deserialize, Serialize};

use super::{CopiedDefinition, ShardError};
use crate::clock::now_ms;
use crate::definition::{documents, source_heads, suite_hash};
use crate::shard::{Answers, ShardJob, ShardPart};
use crate::{Definition, RunOptions};

const FORMAT: u32 = 1;
const VERSION: &str = env!("CARGO_PKG_VERSION");
const PLAN: &str = "plan.json";
const SUITE: &str = "suite";
const SHARDS: &str = "shards";
const JOURNAL: &str = "journal";

/// What the name of a shard begins with while it is being written.
pub const MARK_OF_WORK: &str = ".";

/// How a suite is cut into shards.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ShardPlan {
    format: u32,
    /// The version of jurat that made it. Others run no shard of it.
    version: String,
    /// The name of the suite.
    pub suite: String,
    suite_hash: String,
    planned_at_ms: u64,
    answers: Answers,
    options: PlannedOptions,
    /// The files of the suite, itself first.
    files: Vec<PlannedFile>,
    sources: Vec<PlannedSource>,
    shards: Vec<ShardPart>,
    /// The hash of all that, except when it was made.
    pub hash: String,
}

/// The options of a run that change its results: they are the same for all shards.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct PlannedOptions {
    models: Vec<(String, String)>,
    filter: Option<String>,
    tags: Vec<String>,
    repeat: Option<u32>,
    keep_all: bool,
    fresh: bool,
    max_age_ms: Option<u64>,
    unsafe_code: bool,
    unsafe_host: bool,
}

/// A file of the suite and its copy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct PlannedFile {
    path: PathBuf,
    /// Relative to the plan.
    copy: PathBuf,
}

/// A source of rows as it was.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct PlannedSource {
    name: String,
    path: Option<String>,
    size: Option<u64>,
    mtime_ns: Option<i64>,
}

/// Whether a shard was run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShardState {
    Missing,
    /// It is there, whole, and of this plan.
    Done,
}

/// The options that were given although shards cannot have them.
pub fn not_for_shards(options: &RunOptions) -> Vec<&'static str> {
    let given = [
        ("--limit", options.limit.is_some()),
        ("--rerun", !options.rerun.is_empty()),
        ("--replay", options.replay.is_some()),
        ("--stop-when", options.stop_when.is_some()),
        ("--fail-fast", options.fail_fast),
        // Processes would gather batches beside each other, which nothing has tried.
        ("--batch", options.batch),
        ("--budget-usd", options.budget_usd.is_some()),
        ("--budget-tokens", options.budget_tokens.is_some()),
        ("--budget-calls", options.budget_calls.is_some()),
    ];
    given.into_iter().filter(|it| it.1).map(|it| it.0).collect()
}

impl ShardPlan {
    /// Whether a directory has a plan.
    pub fn is_in(directory: &Path) -> bool {
        directory.join(PLAN).is_file()
    }

    /// Cuts a suite.
    pub fn make(
        definition: Definition<'_>,
        options: &RunOptions,
        size: PartSize,
        answers: Answers,
    ) -> Result<ShardPlan, ShardError> {
        let names = not_for_shards(options);
        if !names.is_empty() {
            return Err(ShardError::Options { names });
        }
        let Definition { suite, sources, plan } = definition;
        if suite.records.iter().any(|it| it.from.is_stream()) {
            return Err(ShardError::Stream);
        }
        let has_defined = !plan.scenarios.is_empty() || !plan.cases.is_empty();
        let defined = has_defined.then_some(ShardPart::Defined { defined: true });
        let rows = parts(&suite.records, size)?.into_iter().map(ShardPart::Rows);
        let mut made = ShardPlan {
            format: FORMAT,
            version: VERSION.to_owned(),
            suite: suite.name.as_ref().map_or("suite", |it| it.value.as_str()).to_owned(),
            suite_hash: suite_hash(&documents(sources)),
            planned_at_ms: 0,
            answers,
            options: PlannedOptions::of(options),
            files: files(definition),
            sources: planned_sources(&suite.records),
            shards: defined.into_iter().chain(rows).collect(),
            hash: String::new(),
        };
        let bytes = serde_json::to_vec(&made).expect("texts and numbers are JSON");
        made.hash = blake3::hash(&bytes).to_hex().to_string();
        made.planned_at_ms = now_ms();
        Ok(made)
    }

    /// Writes it to a directory, with copies of the suite. A directory that has the same plan already stays as it is.
    pub fn write(&self, definition: Definition<'_>, out: &Path) -> Result<ShardPlan, ShardError> {
        match ShardPlan::read(out) {
            Ok(there) if there.hash == self.hash => return Ok(there),
            Ok(_) | Err(ShardError::BadPlan { .. } | ShardError::Version { .. }) => {
                return Err(ShardError::OtherPlan { out: out.to_owned() });
            }
            Err(ShardError::NoPlan { .. }) => {}
            Err(error) => return Err(error),
        }
        let shards = out.join(SHARDS);
        fs::create_dir_all(&shards).map_err(ShardError::io(&shards))?;
        for (file, (_, text)) in self.files.iter().zip(definition.sources.iter()) {
            let copy = out.join(&file.copy);
            let folder = copy.parent().unwrap_or(out);
            fs::create_dir_all(folder).map_err(ShardError::io(folder))?;
            fs::write(&copy, text.text.as_bytes()).map_err(ShardError::io(&copy))?;
        }
        let json = serde_json::to_string_pretty(self).expect("texts and numbers are JSON");
        // The plan last: a directory that has one has everything else.
        let (path, new) = (out.join(PLAN), out.join(format!("{MARK_OF_WORK}{PLAN}")));
        fs::write(&new, json + "\n").map_err(ShardError::io(&new))?;
        fs::rename(&new, &path).map_err(ShardError::io(&path))?;
        Ok(self.clone())
    }

    /// Reads the plan of a directory. One of another version is refused.
    pub fn read(out: &Path) -> Result<ShardPlan, ShardError> {
        let path = out.join(PLAN);
        let bad = |why: String| ShardError::BadPlan { path: path.clone(), why };
        let bytes = match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(ShardError::NoPlan { out: out.to_owned() });
            }
            other => other.map_err(ShardError::io(&path))?,
        };
        let value: serde_json::Value = serde_json::from_slice(&bytes).map_err(|it| bad(it.to_string()))?;
        let version = value.get("version").and_then(|it| it.as_str()).unwrap_or_default();
        if version != VERSION {
            return Err(ShardError::Version { planned: version.to_owned(), own: VERSION });
        }
        let plan: ShardPlan = serde_json::from_value(value).map_err(|it| bad(it.to_string()))?;
        let hashed = ShardPlan { planned_at_ms: 0, hash: String::new(), ..plan.clone() };
        let hash = blake3::hash(&serde_json::to_vec(&hashed).expect("texts and numbers are JSON"));
        if hash.to_hex().as_str() != plan.hash {
            return Err(bad("it does not match its hash".to_owned()));
        }
        Ok(plan)
    }

    /// How many shards there are.
    pub fn n_shards(&self) -> usize {
        self.shards.len()
    }

    pub fn shards(&self) -> &[ShardPart] {
        &self.shards
    }

    /// How many bytes of its source a shard reads, where that is known: the largest should be run first.
    pub fn weight(&self, ix: u32) -> u64 {
        use jurat_store::records::Extent;
        match self.shards.get(ix as usize) {
            Some(ShardPart::Rows(SourcePart { extent, .. })) => match extent {
                Extent::Lines { bytes, .. } | Extent::Table { bytes, .. } => *bytes,
                Extent::RowGroups { n, .. } | Extent::Rows { n, .. } => *n as u64,
                Extent::Whole {} => u64::MAX,
            },
            // Conversations and agents take longest.
            Some(ShardPart::Defined { .. }) | None => u64::MAX,
        }
    }

    /// Where the run of a shard is while it is written. An attempt that was killed leaves it there, and the next one resumes it.
    pub fn work_file(&self, out: &Path, ix: u32) -> PathBuf {
        let directory = ShardPlan::shards_directory(out);
        let name = format!("{MARK_OF_WORK}{ix:05}.jurat");
        let work = directory.join(&name);
        if is_local(&work) {
            return work;
        }
        // A database is not written over a network; the finished file is copied.
        std::env::temp_dir().join(format!("jurat-{}-{ix:05}.jurat", &self.hash[..16]))
    }

    /// Where the run of a shard is when it is done.
    pub fn shard_file(out: &Path, ix: u32) -> PathBuf {
        out.join(SHARDS).join(format!("{ix:05}.jurat"))
    }

    /// The directory of all shards.
    pub fn shards_directory(out: &Path) -> PathBuf {
        out.join(SHARDS)
    }

    /// Whether a shard was run.
    pub fn state(&self, out: &Path, ix: u32) -> Result<ShardState, ShardError> {
        self.check_ix(ix)?;
        let path = ShardPlan::shard_file(out, ix);
        if !path.exists() {
            return Ok(ShardState::Missing);
        }
        let reader = RunReader::open(&path)?;
        let is_own = reader.shard()?.is_some_and(|it| it.plan == self.hash && it.ix == ix);
        if !is_own || reader.head().version != VERSION {
            return Err(ShardError::Foreign { path });
        }
        Ok(ShardState::Done)
    }

    /// A shard as an option of a run that is written to a file.
    pub fn job(&self, out: &Path, ix: u32, file: PathBuf) -> Result<ShardJob, ShardError> {
        self.check_ix(ix)?;
        let ShardPlan { planned_at_ms, answers, .. } = *self;
        let (plan, part) = (self.hash.clone(), self.shards[ix as usize].clone());
        let segments = out.join(JOURNAL).join(format!("{ix:05}"));
        Ok(ShardJob { ix, plan, part, file, planned_at_ms, answers, segments })
    }

    /// The segments of all shards. A directory that never had a plan is refused; which version made the plan does not matter.
    pub fn segment_files(out: &Path) -> Result<Vec<PathBuf>, ShardError> {
        let directory = out.join(JOURNAL);
        let entries = match fs::read_dir(&directory) {
            Err(_) if !out.join(PLAN).exists() => return Err(ShardError::NoPlan { out: out.to_owned() }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(ShardError::io(&directory))?,
        };
        let shards: io::Result<Vec<PathBuf>> = entries.map(|it| it.map(|it| it.path())).collect();
        let mut shards = shards.map_err(ShardError::io(&directory))?;
        shards.sort();
        let mut files = Vec::new();
        for shard in shards {
            files.extend(segment_files(&shard).map_err(ShardError::io(&shard))?);
        }
        Ok(files)
    }

    fn check_ix(&self, ix: u32) -> Result<(), ShardError> {
        let n = self.shards.len();
        if (ix as usize) < n { Ok(()) } else { Err(ShardError::NoShard { ix, n }) }
    }

    /// The definition of the plan.
    pub fn definition(&self, out: &Path) -> Result<CopiedDefinition, ShardError> {
        let mut texts = HashMap::new();
        for file in &self.files {
            let copy = out.join(&file.copy);
            texts.insert(file.path.clone(), fs::read(&copy).map_err(ShardError::io(&copy))?);
        }
        let main = self.files.first().map(|it| it.path.clone()).unwrap_or_default();
        Ok(CopiedDefinition { main, texts })
    }

    /// Refuses a definition that is not that of the plan, and data that changed since.
    pub fn check(&self, definition: Definition<'_>, out: &Path) -> Result<(), ShardError> {
        if suite_hash(&documents(definition.sources)) != self.suite_hash {
            return Err(ShardError::SuiteChanged { out: out.to_owned() });
        }
        let now = planned_sources(&definition.suite.records);
        let changed = |name: &str| ShardError::DataChanged { name: name.to_owned() };
        match self.sources.iter().zip(&now).find(|(planned, now)| planned != now) {
            Some((planned, _)) => Err(changed(&planned.name)),
            None if self.sources.len() != now.len() => Err(changed("the list of files")),
            None => Ok(()),
        }
    }

    /// Gives a run the options of the plan.
    pub fn set(&self, options: &mut RunOptions) {
        let PlannedOptions { models, filter, tags, repeat, keep_all, fresh, max_age_ms, unsafe_code, unsafe_host } =
            self.options.clone();
        (options.models, options.filter, options.tags, options.repeat) = (models, filter, tags, repeat);
        (options.keep_all, options.fresh) = (keep_all, fresh);
        options.max_age = max_age_ms.map(Duration::from_millis);
        (options.unsafe_code, options.unsafe_host) = (unsafe_code, unsafe_host);
    }
}

impl PlannedOptions {
    fn of(options: &RunOptions) -> PlannedOptions {
        PlannedOptions {
            models: options.models.clone(),
            filter: options.filter.clone(),
            tags: options.tags.clone(),
            repeat: options.repeat,
            keep_all: options.keep_all,
            fresh: options.fresh,
            max_age_ms: options.max_age.map(|it| u64::try_from(it.as_millis()).unwrap_or(u64::MAX)),
            unsafe_code: options.unsafe_code,
            unsafe_host: options.unsafe_host,
        }
    }
}

/// The files of a definition, each with the name of its copy.
fn files(definition: Definition<'_>) -> Vec<PlannedFile> {
    let paths: Vec<PathBuf> = definition.sources.iter().map(|(_, it)| absolute(&it.path)).collect();
    let folder = paths.first().and_then(|it| it.parent()).unwrap_or(Path::new("")).to_owned();
    let copy = |(ix, path): (usize, &PathBuf)| {
        let below = path.strip_prefix(&folder).ok();
        let is_plain = |it: &&Path| it.components().all(|it| matches!(it, std::path::Component::Normal(_)));
        // What is elsewhere gets a number, so that two files of one name do not meet.
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let copy =
            below.filter(is_plain).map_or_else(|| PathBuf::from(format!("elsewhere/{ix}-{name}")), Path::to_owned);
        PlannedFile { path: path.clone(), copy: Path::new(SUITE).join(copy) }
    };
    paths.iter().enumerate().map(copy).collect()
}

/// A file of the definition wherever the command is run. What comes with the program is in no file, and has its name.
fn absolute(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).ok().filter(|_| path.exists());
    absolute.unwrap_or_else(|| path.to_owned())
}

fn planned_sources(records: &[Records]) -> Vec<PlannedSource> {
    let sources = source_heads(records, None).into_iter();
    let planned = sources.map(|it| {
        let (path, size, mtime_ns) = match it.file {
            Some(SourceFile { path, size, mtime_ns }) => (Some(path), Some(size), Some(mtime_ns)),
            None => (None, None, None),
        };
        PlannedSource { name: it.name, path, size, mtime_ns }
    });
    planned.collect()
}
