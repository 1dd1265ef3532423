//! What is known about a run before its first case, and what is known at its end.

use std::path::Path;
use std::time::Duration;

use jurat_core::plan::VariantCount;
use jurat_core::verdict::StopReason;

/// What is known about a run before its first case.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunHead {
    /// Its name: that of its file without `.jurat`.
    pub id: String,
    /// The name of the suite.
    pub suite: String,
    /// The hash of everything that was written down for it.
    pub suite_hash: String,
    /// What random choices start from.
    pub seed: u64,
    /// When it began, in milliseconds since 1970.
    pub created_at_ms: u64,
    /// The version of jurat that began it.
    pub version: String,
    /// What a later run must share to resume this one.
    pub resume_key: String,
    /// Files as they were written, the plan, prices, options: whatever the run rests on.
    pub documents: Vec<Document>,
    pub sources: Vec<SourceHead>,
    /// The tasks, in the order of the plan.
    pub tasks: Vec<TaskHead>,
    /// What each row is made into; empty when a row is one case.
    pub variants: Vec<Variant>,
}

impl RunHead {
    pub fn n_variants(&self) -> VariantCount {
        VariantCount::of(self.variants.len())
    }
}

/// A text or other bytes under a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    pub name: String,
    pub body: Vec<u8>,
}

/// Where rows come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceHead {
    /// How messages name it, such as `` `records.jsonl` `` or `standard input`.
    pub name: String,
    /// The file, when it is one.
    pub file: Option<SourceFile>,
}

/// A file of rows as it was when the run began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// Where it is: absolute, or relative to the directory of the run file.
    pub path: String,
    /// How many bytes it has.
    pub size: u64,
    /// When it was last changed, in nanoseconds since 1970.
    pub mtime_ns: i64,
}

impl SourceFile {
    /// The file as it is now.
    pub fn look(path: &Path) -> std::io::Result<SourceFile> {
        let metadata = std::fs::metadata(path)?;
        let path = std::path::absolute(path)?.to_string_lossy().into_owned();
        Ok(SourceFile { path, size: metadata.len(), mtime_ns: mtime_ns(&metadata) })
    }
}

/// When a file was last changed, in nanoseconds since 1970; 0 where it is not known.
pub(super) fn mtime_ns(metadata: &std::fs::Metadata) -> i64 {
    use std::time::UNIX_EPOCH;
    let nanoseconds = |it: Duration| i64::try_from(it.as_nanos()).unwrap_or(i64::MAX);
    match metadata.modified().map(|it| it.duration_since(UNIX_EPOCH)) {
        Ok(Ok(after)) => nanoseconds(after),
        Ok(Err(before)) => -nanoseconds(before.duration()),
        Err(_) => 0,
    }
}

/// A task, as far as results need to know it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TaskHead {
    pub id: String,
    /// `assert`, `judge`, …
    pub kind: String,
    /// `condition` or `required` when it is a gate; else empty.
    pub gate: String,
    /// The stage it runs in, counted from 1.
    pub stage: u32,
    pub path: Option<String>,
    /// The operator it compares with.
    pub operator: Option<String>,
    /// What it expects of every case, in words.
    pub expected: Option<String>,
}

/// One of the cases that each row is made into.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Variant {
    /// The name of the prompt; empty when there is one, or none.
    pub prompt: String,
    /// The subject; empty when there is none.
    pub subject: String,
    /// Which repetition, counted from 0.
    pub replicate: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// Every case was taken to its end.
    Done,
    /// Something came before that.
    Stopped(StopReason),
    /// Something went wrong: rows could not be read, a file could not be written.
    Failed,
    /// Two rows hold the same id.
    DuplicateIds,
}

impl Ended {
    /// One word for it, as it is stored.
    pub fn name(self) -> &'static str {
        match self {
            Ended::Done => "done",
            Ended::Stopped(reason) => reason.name(),
            Ended::Failed => "failed",
            Ended::DuplicateIds => "duplicate_ids",
        }
    }

    /// What a word of [`Ended::name`] means.
    pub fn named(word: &str) -> Option<Ended> {
        match word {
            "done" => Some(Ended::Done),
            "failed" => Some(Ended::Failed),
            "duplicate_ids" => Some(Ended::DuplicateIds),
            other => StopReason::named(other).map(Ended::Stopped),
        }
    }
}

/// What is known at the end of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FinishState {
    pub ended: Ended,
    /// Whether the same command should resume it.
    pub resumable: bool,
    /// When, in milliseconds since 1970.
    pub at_ms: u64,
    pub wall: Duration,
}

/// How far a run has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunState {
    /// What is known at its end; `None` when it is in progress, or was killed.
    pub finish: Option<FinishState>,
    /// How many cases are stored.
    pub n_cases: u64,
    /// Whether every row is in the file itself.
    pub self_contained: bool,
}
