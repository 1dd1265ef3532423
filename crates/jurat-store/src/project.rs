//! Where a project keeps its runs and its journal.
//!
//! ```text
//! .jurat/                 for its owner alone, ignored by git
//!   journal.db            paid answers
//!   batches/              batches of requests that were submitted and not collected
//!   runs/2026-11-15T18-04-05_appliance-support_x7k2.jurat
//!   calibrations/appliance-support.tone.json
//!   probes/               runs that asked a judge once more
//! ```

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::calibrations::Calibrations;
use crate::database::DatabaseError;
use crate::journal::Journal;
use crate::run::{began_at_ms, last_at_ms, never_began};

/// The directory `.jurat` of a project.
///
/// ```
/// use jurat_store::Project;
///
/// let directory = tempfile::tempdir()?;
/// let project = Project::find_or_create(directory.path())?;
/// let run = project.new_run("Appliance support", 1_794_765_845_000, 7);
/// assert!(run.id.starts_with("2026-11-15T18-04-05_appliance-support_"));
/// assert_eq!(project.journal()?.report()?.answers(), 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    root: PathBuf,
    /// The directory of runs in it.
    runs: &'static str,
    /// The directory that was found first and is not trusted.
    passed_over: Option<Untrusted>,
}

/// A directory `.jurat` that another user may have filled. Answers that lie there would be taken for those of models, and what runs leave there could be
/// read by others.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` {why}, so it is not used", path.display())]
pub struct Untrusted {
    pub path: PathBuf,
    /// What is wrong with it.
    pub why: &'static str,
}

/// A name for a run that is about to begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunName {
    /// What it is called: its file without `.jurat`.
    pub id: String,
    pub path: PathBuf,
}

impl RunName {
    /// Whether the process that made the file was killed before a run began in it.
    pub fn never_began(&self) -> bool {
        never_began(&self.path)
    }
}

/// What can go wrong with a project.
#[derive(Debug, thiserror::Error)]
pub enum ProjectError {
    /// The directory cannot be used.
    #[error("`{}` cannot be used: {source}; make it writable, or run the command in another directory", path.display())]
    Directory { path: PathBuf, source: io::Error },
    /// The directory of this project is not trusted.
    #[error("{0}; remove it, or make it yours with `chown` and `chmod 700`")]
    Untrusted(Untrusted),
    /// There is no such run.
    #[error("there is no run `{name}`{}", known(newest))]
    NoSuchRun {
        name: String,
        /// The newest run, to have an example.
        newest: Option<String>,
    },
    /// There are several.
    #[error("`{name}` could be {}; say more of its name", listed(candidates))]
    Ambiguous { name: String, candidates: Vec<String> },
}

fn known(newest: &Option<String>) -> String {
    match newest {
        Some(newest) => format!("; name a file, the beginning of a run's name such as `{newest}`, or `latest`"),
        None => "; this project has no runs yet".to_owned(),
    }
}

fn listed(candidates: &[String]) -> String {
    let names: Vec<String> = candidates.iter().map(|it| format!("`{it}`")).collect();
    names.join(" or ")
}

/// The name of the directory.
const DIRECTORY: &str = ".jurat";
/// The directories of runs: of suites, and of probes.
const RUNS: &str = "runs";
const PROBES: &str = "probes";
/// The extension of run files.
const EXTENSION: &str = "jurat";

impl Project {
    /// The project that a directory belongs to: the nearest one above it that has `.jurat`, or itself. A `.jurat` of another user is none.
    pub fn find(directory: &Path) -> Option<Project> {
        let root = nearest(directory)?;
        is_trusted(&root).ok()?;
        Some(Project { root, runs: RUNS, passed_over: None })
    }

    /// The project that a directory belongs to; when there is none, one that begins there.
    pub fn find_or_create(directory: &Path) -> Result<Project, ProjectError> {
        let own = std::path::absolute(directory)
            .map_err(|source| ProjectError::Directory { path: directory.to_owned(), source })?
            .join(DIRECTORY);
        let project = match nearest(directory).map(|root| (is_trusted(&root), root)) {
            Some((Ok(()), root)) => Project { root, runs: RUNS, passed_over: None },
            Some((Err(untrusted), root)) if root == own => return Err(ProjectError::Untrusted(untrusted)),
            Some((Err(untrusted), _)) => Project { root: own, runs: RUNS, passed_over: Some(untrusted) },
            None => Project { root: own, runs: RUNS, passed_over: None },
        };
        let of = |source| ProjectError::Directory { path: project.root.clone(), source };
        make_private(&project.root).and_then(|()| make_private(&project.runs_directory())).map_err(of)?;
        let ignored = project.root.join(".gitignore");
        if !ignored.exists() {
            std::fs::write(ignored, "*\n").map_err(of)?;
        }
        Ok(project)
    }

    /// The directory above that would have been the project, if it were trusted.
    pub fn passed_over(&self) -> Option<&Untrusted> {
        self.passed_over.as_ref()
    }

    /// The directory `.jurat`.
    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn runs_directory(&self) -> PathBuf {
        self.root.join(self.runs)
    }

    /// The same project for runs that probe judges. They have a directory of their own: the latest run is one of a suite.
    pub fn for_probes(self) -> Result<Project, ProjectError> {
        let project = Project { runs: PROBES, ..self };
        let directory = project.runs_directory();
        make_private(&directory).map_err(|source| ProjectError::Directory { path: directory, source })?;
        Ok(project)
    }

    /// The calibrations of judges, a file for each suite and task.
    pub fn calibrations(&self) -> Calibrations {
        Calibrations::new(self.root.join("calibrations"))
    }

    /// The journal, which is made when there is none.
    pub fn journal(&self) -> Result<Journal, DatabaseError> {
        Journal::open(&self.journal_path())
    }

    /// The journal for a run. One that is damaged is set aside under another name, which is returned, and a new one is made.
    pub fn usable_journal(&self) -> Result<(Journal, Option<PathBuf>), DatabaseError> {
        Journal::open_or_set_aside(&self.journal_path())
    }

    /// Sets the journal aside if it is damaged, and returns where it is then.
    pub fn set_damaged_journal_aside(&self) -> Result<Option<PathBuf>, DatabaseError> {
        Journal::set_aside_if_damaged(&self.journal_path())
    }

    /// The file of the journal.
    pub fn journal_path(&self) -> PathBuf {
        self.root.join("journal.db")
    }

    /// A name that no run has yet, for a suite and a time in milliseconds since 1970. The end of it is made from `random`.
    pub fn new_run(&self, suite: &str, at_ms: u64, random: u64) -> RunName {
        let (time, suite) = (file_time(at_ms), file_name(suite));
        let mut numbers = (0..).map(|it| random.wrapping_add(it));
        let free = numbers.find_map(|number| {
            let id = format!("{time}_{suite}_{}", short_name(number));
            let path = self.runs_directory().join(format!("{id}.{EXTENSION}"));
            (!path.exists()).then_some(RunName { id, path })
        });
        free.expect("there are more numbers than files")
    }

    /// The names of all runs, the oldest first.
    pub fn runs(&self) -> Result<Vec<RunName>, ProjectError> {
        let directory = self.runs_directory();
        let of = |source| ProjectError::Directory { path: directory.clone(), source };
        let entries = match std::fs::read_dir(&directory) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            other => other.map_err(of)?,
        };
        let mut runs = Vec::new();
        for entry in entries {
            let path = entry.map_err(of)?.path();
            if path.extension().is_some_and(|it| it == EXTENSION)
                && let Some(id) = path.file_stem().and_then(|it| it.to_str())
            {
                runs.push(RunName { id: id.to_owned(), path });
            }
        }
        // Names begin with a time.
        runs.sort_by(|a, b| a.id.cmp(&b.id));
        for same_second in runs.chunk_by_mut(|a, b| second(a) == second(b)).filter(|it| it.len() > 1) {
            same_second.sort_by_cached_key(|it| began_at_ms(&it.path));
        }
        Ok(runs)
    }

    /// The file of the run that ended last, resumed ones included, among those that are wanted; one that has not ended counts from its
    /// beginning. A run without a single case is none: nothing was selected.
    pub fn latest(&self, is_wanted: &dyn Fn(&Path) -> bool) -> Result<Option<PathBuf>, ProjectError> {
        let modified = |it: &RunName| std::fs::metadata(&it.path).and_then(|it| it.modified()).ok();
        let mut runs: Vec<(Option<SystemTime>, RunName)> =
            self.runs()?.into_iter().map(|it| (modified(&it), it)).collect();
        runs.sort_by(|(a, _), (b, _)| b.cmp(a));
        let mut latest: Option<(u64, PathBuf)> = None;
        for (modified, run) in runs {
            // A file is written when its run ends. Those that were written before cannot have ended after.
            let is_older = |found: u64| modified.is_some_and(|it| ms_of(it).saturating_add(SLACK_MS) < found);
            if latest.as_ref().is_some_and(|(found, _)| is_older(*found)) {
                break;
            }
            let Some(at_ms) = last_at_ms(&run.path) else { continue };
            if latest.as_ref().is_none_or(|(found, _)| at_ms > *found) && is_wanted(&run.path) {
                latest = Some((at_ms, run.path));
            }
        }
        Ok(latest.map(|(_, path)| path))
    }

    /// The file of a run that is named by its path, by the beginning of its name, by the beginning of the last part of its name, or by
    /// `latest`.
    pub fn run(&self, name: &str) -> Result<PathBuf, ProjectError> {
        let mut runs = self.runs()?;
        let newest = runs.last().map(|it| it.id.clone());
        if name == "latest" {
            // Where nothing can be read, the newest file says why.
            let latest = self.latest(&|_| true)?.or_else(|| runs.pop().map(|it| it.path));
            return latest.ok_or_else(|| ProjectError::NoSuchRun { name: name.to_owned(), newest });
        }
        if Path::new(name).is_file() {
            return Ok(name.into());
        }
        let last_part = |id: &str| id.rsplit('_').next().is_some_and(|it| it.starts_with(name));
        runs.retain(|it| !name.is_empty() && (it.id.starts_with(name) || last_part(&it.id)));
        match runs.len() {
            0 => Err(ProjectError::NoSuchRun { name: name.to_owned(), newest }),
            1 => Ok(runs.remove(0).path),
            _ => match runs.iter().position(|it| it.id == name) {
                Some(exact) => Ok(runs.swap_remove(exact).path),
                None => Err(ProjectError::Ambiguous {
                    name: name.to_owned(),
                    candidates: runs.into_iter().map(|it| it.id).collect(),
                }),
            },
        }
    }
}

/// The nearest `.jurat` above a directory, or in it.
fn nearest(directory: &Path) -> Option<PathBuf> {
    let above = std::path::absolute(directory).ok()?;
    above.ancestors().map(|it| it.join(DIRECTORY)).find(|it| it.is_dir())
}

/// Whether only this user can have put something into a directory. Under `sudo` the user is the one who called it, too.
#[cfg(unix)]
fn is_trusted(path: &Path) -> Result<(), Untrusted> {
    use std::os::unix::fs::MetadataExt as _;
    let untrusted = |why| Untrusted { path: path.to_owned(), why };
    let metadata = std::fs::metadata(path).map_err(|_| untrusted("cannot be looked at"))?;
    let user = rustix::process::geteuid().as_raw();
    let caller = || std::env::var("SUDO_UID").ok().and_then(|it| it.parse::<u32>().ok()).filter(|_| user == 0);
    if metadata.uid() != user && Some(metadata.uid()) != caller() {
        return Err(untrusted("belongs to another user"));
    }
    if metadata.mode() & 0o002 != 0 {
        return Err(untrusted("can be written by every user"));
    }
    Ok(())
}

#[cfg(not(unix))]
fn is_trusted(_: &Path) -> Result<(), Untrusted> {
    Ok(())
}

/// How far the clock of a file system may be behind that of the system.
const SLACK_MS: u64 = 2_000;

fn ms_of(time: SystemTime) -> u64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// The second in which a run began, as its name says.
fn second(run: &RunName) -> &str {
    run.id.split('_').next().unwrap_or_default()
}

/// Makes a directory that only its owner may look into.
fn make_private(path: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        other => other,
    }
}

/// A time as part of a file's name, in UTC: `2026-11-15T18-04-05`.
fn file_time(at_ms: u64) -> String {
    let time = jiff::Timestamp::UNIX_EPOCH + Duration::from_millis(at_ms.min(LAST_MS));
    time.strftime("%Y-%m-%dT%H-%M-%S").to_string()
}

/// The last day of the year 9999, which is where calendars end.
const LAST_MS: u64 = 253_402_207_200_000;

/// A suite's name as part of a file's name: letters, digits and hyphens, not too long.
fn file_name(suite: &str) -> String {
    let letter = |it: char| if it.is_alphanumeric() { it.to_ascii_lowercase() } else { '-' };
    let text: String = suite.chars().take(40).map(letter).collect();
    let words: Vec<&str> = text.split('-').filter(|it| !it.is_empty()).collect();
    if words.is_empty() { "suite".to_owned() } else { words.join("-") }
}

/// Four letters or digits that are not mistaken for each other.
fn short_name(number: u64) -> String {
    const LETTERS: &[u8; 32] = b"abcdefghjkmnpqrstuvwxyz023456789";
    // Multiplying spreads numbers that follow each other.
    let spread = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 44;
    (0..4).map(|place| char::from(LETTERS[(spread >> (5 * place) & 31) as usize])).collect()
}
