//! One run from all shards of a plan.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jurat_core::plan::TaskIx;
use jurat_store::run::{
    Column, Ended, FinishState, RunHead, RunMerge, RunReader, ShardMark, Shift, SourceFile, SourceHead, discard,
};

use super::ShardError;
use super::plan::{MARK_OF_WORK, ShardPlan};
use crate::definition::RESUMED;
use crate::shard::{MergedFrom, ShardPart};
use crate::tally::{MOST_LABELS, SummaryBodies};

/// How shards are merged.
#[derive(Debug, Clone, Default)]
pub struct MergeOptions {
    /// The name of the run.
    pub id: String,
    /// Whether shards may be missing. The run then says that it is not complete.
    pub partial: bool,
    /// How many rows there must be.
    pub expect_rows: Option<u64>,
    /// The directory below which sources are named relative to the run, so that both can be moved together.
    pub home: Option<PathBuf>,
}

/// A merged run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Merged {
    /// Its file.
    pub path: PathBuf,
    /// How many shards the plan has.
    pub n_shards: usize,
    /// Those that were not run.
    pub missing: Vec<u32>,
    /// How many rows were read, selected or not.
    pub n_rows: u64,
    /// Whether the run was there already, made from the same shards.
    pub was_there: bool,
}

/// Merges the shards of a plan into one run. Written beside its target and renamed, so that there is a whole run or none.
pub fn merge(plan: &ShardPlan, out: &Path, target: &Path, options: &MergeOptions) -> Result<Merged, ShardError> {
    let found = found(plan, out)?;
    let n_shards = plan.n_shards();
    let lacking: Vec<u32> = (0..n_shards as u32).filter(|it| !found.contains_key(it)).collect();
    if !lacking.is_empty() && !options.partial {
        return Err(ShardError::Missing { missing_shards: lacking, n: n_shards });
    }
    let n_rows = found.values().map(|it| it.mark.rows).sum();
    if let Some(expected) = options.expect_rows.filter(|it| *it != n_rows) {
        return Err(ShardError::RowCount { found: n_rows, expected });
    }
    let from = MergedFrom { plan: plan.hash.clone(), shards: n_shards, missing: lacking.clone(), rows: n_rows };
    let merged =
        Merged { path: target.to_owned(), n_shards, missing: lacking, n_rows, was_there: is_there(target, &from) };
    if merged.was_there {
        return Ok(merged);
    }
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let work = target.with_file_name(format!("{MARK_OF_WORK}{name}-{}", std::process::id()));
    discard(&work);
    let written = write(plan, &found, &work, &from, options);
    if written.is_err() {
        discard(&work);
    }
    written?;
    fs::rename(&work, target).map_err(ShardError::io(target))?;
    Ok(merged)
}

/// Whether the target is the run that would be made.
fn is_there(target: &Path, from: &MergedFrom) -> bool {
    let there = RunReader::open(target).ok().and_then(|it| it.merged_from().ok()?);
    there.and_then(|it| serde_json::from_str::<MergedFrom>(&it).ok()).as_ref() == Some(from)
}

/// A shard that was run.
struct Found {
    path: PathBuf,
    mark: ShardMark,
}

/// The shards that were run. Of several runs of one shard, which must be equal, the first by name is taken.
fn found(plan: &ShardPlan, out: &Path) -> Result<BTreeMap<u32, Found>, ShardError> {
    let directory = ShardPlan::shards_directory(out);
    let entries = fs::read_dir(&directory).map_err(ShardError::io(&directory))?;
    let names = entries.filter_map(|it| Some(it.ok()?.path()));
    let is_shard = |it: &PathBuf| {
        let name = it.file_name().unwrap_or_default().to_string_lossy();
        name.ends_with(".jurat") && !name.starts_with(MARK_OF_WORK)
    };
    let mut paths: Vec<PathBuf> = names.filter(is_shard).collect();
    paths.sort();
    let mut found: BTreeMap<u32, Found> = BTreeMap::new();
    for path in paths {
        let reader = RunReader::open(&path)?;
        let mark = reader.shard()?.filter(|it| it.plan == plan.hash && (it.ix as usize) < plan.n_shards());
        let Some(mark) = mark else { return Err(ShardError::Foreign { path }) };
        match found.get(&mark.ix) {
            Some(first) => {
                if let Some(difference) = RunReader::open(&first.path)?.difference(&reader)? {
                    let (ix, first) = (mark.ix, first.path.clone());
                    return Err(ShardError::Unequal { ix, difference, first, second: path });
                }
            }
            None => drop(found.insert(mark.ix, Found { path, mark })),
        }
    }
    if found.is_empty() { Err(ShardError::Nothing) } else { Ok(found) }
}

fn write(
    plan: &ShardPlan,
    found: &BTreeMap<u32, Found>,
    work: &Path,
    from: &MergedFrom,
    options: &MergeOptions,
) -> Result<(), ShardError> {
    let mut times = Times::default();
    let first = found.values().next().ok_or(ShardError::Nothing)?;
    let head = RunReader::open(&first.path)?.head().clone();
    for shard in found.values() {
        times.add(&RunReader::open(&shard.path)?)?;
    }
    let head = merged_head(head, &times, options);
    let mut merge = RunMerge::create(work, &head)?;
    let (mut bodies, mut shift) = (SummaryBodies::new(head.tasks.len()), Shift::default());
    let mut source = None;
    for (ix, shard) in found {
        let part_source = match &plan.shards()[*ix as usize] {
            ShardPart::Rows(part) => Some(part.source),
            ShardPart::Defined { .. } => None,
        };
        if part_source != source {
            (source, shift.rows_of_source) = (part_source, 0);
        }
        let reader = RunReader::open(&shard.path)?;
        merge.add(&reader, shift)?;
        bodies.add(&reader.summary()?);
        shift.rows += shard.mark.rows;
        shift.rows_of_source += shard.mark.rows;
    }
    recount(&mut bodies, work)?;
    let state = FinishState {
        ended: if from.missing.is_empty() { times.ended } else { Ended::Failed },
        resumable: false,
        at_ms: times.ended_at_ms,
        wall: Duration::from_millis(times.ended_at_ms.saturating_sub(times.created_at_ms)),
    };
    let from = serde_json::to_string(from).expect("texts and numbers are JSON");
    Ok(merge.finish(state, &bodies.rows(), &from)?)
}

/// Labels of tasks that gave very many are counted from what is stored, as in one process.
fn recount(bodies: &mut SummaryBodies, work: &Path) -> Result<(), ShardError> {
    let tasks: BTreeSet<TaskIx> = bodies.tasks_with_many_labels();
    if tasks.is_empty() {
        return Ok(());
    }
    let reader = RunReader::open(work)?;
    for task in tasks {
        bodies.recount(task, reader.label_counts(Column::from(task), MOST_LABELS)?);
    }
    Ok(())
}

/// When the shards were run, and how they ended.
struct Times {
    created_at_ms: u64,
    ended_at_ms: u64,
    ended: Ended,
}

impl Default for Times {
    fn default() -> Times {
        Times { created_at_ms: u64::MAX, ended_at_ms: 0, ended: Ended::Done }
    }
}

impl Times {
    fn add(&mut self, shard: &RunReader) -> Result<(), ShardError> {
        self.created_at_ms = self.created_at_ms.min(shard.head().created_at_ms);
        if let Some(finish) = shard.state()?.finish {
            self.ended_at_ms = self.ended_at_ms.max(finish.at_ms);
            if self.ended == Ended::Done {
                self.ended = finish.ended;
            }
        }
        Ok(())
    }
}

fn merged_head(mut head: RunHead, times: &Times, options: &MergeOptions) -> RunHead {
    head.id = options.id.clone();
    head.created_at_ms = times.created_at_ms;
    head.documents.retain(|it| it.name != RESUMED);
    let home = options.home.as_ref().and_then(|it| fs::canonicalize(it).ok());
    if let Some(home) = home {
        head.sources.iter_mut().for_each(|it| make_relative(it, &home));
    }
    head
}

/// A run lies two folders below the directory of its project.
fn make_relative(source: &mut SourceHead, home: &Path) {
    if let Some(SourceFile { path, .. }) = &mut source.file
        && let Ok(below) = Path::new(path.as_str()).strip_prefix(home)
    {
        *path = Path::new("../..").join(below).display().to_string();
    }
}
