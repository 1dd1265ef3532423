//! A run of an agent, from a fresh workspace over its turns to its artifact: one loop for programs, functions and models.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use jurat_core::agent::{
    AgentCase, AgentRun, Ending, Exchanges, Limit, Mechanism, ModelAt, TurnReport, TurnRun, Walked,
};
use jurat_core::artifact::{OutputArtifact, RunArtifact};
use jurat_host::workspace;
use jurat_model::Toolbox;
use jurat_model::proxy::Record;

use super::access::{exchanges, wire_lines};
use super::folders::Folders;
use super::secrets::Secrets;
use super::{AgentEnvironment, Halt, Ready, Request};
use crate::models::Models;

/// A case to run, with everything that it needs.
#[derive(Clone, Copy)]
pub(super) struct Task<'t> {
    pub(super) environment: &'t AgentEnvironment,
    pub(super) ready: &'t Ready,
    pub(super) models: &'t Models,
    pub(super) tools: &'t Toolbox,
    pub(super) request: &'t Request,
}

impl<'t> Task<'t> {
    pub(super) fn case(&self) -> &'t AgentCase {
        &self.ready.case
    }
}

/// Performs the turns of one run.
pub(super) trait Performer: Sized {
    async fn perform(&mut self, turn: Turn<'_>) -> Result<Performed, Halt>;

    /// What is known about the run once its last turn is over.
    async fn finish(self) -> Result<Finished, Halt>;
}

/// A turn to perform.
#[derive(Debug, Clone, Copy)]
pub(super) struct Turn<'t> {
    /// Which turn it is, from 0.
    pub(super) ix: usize,
    pub(super) message: &'t str,
    pub(super) session: &'t str,
    /// The time that the run has left.
    pub(super) left: Duration,
}

/// A turn that was performed.
pub(super) struct Performed {
    pub(super) report: TurnReport,
    pub(super) ending: Ending,
    /// The end of what was printed beside events.
    pub(super) stderr: String,
}

/// What a performer knows about a run besides its turns.
#[derive(Default)]
pub(super) struct Finished {
    /// Where it ran, in one word.
    pub(super) place: &'static str,
    /// The workspace, as the agent saw it.
    pub(super) workspace: String,
    /// The model by its name, and where the agent found it.
    pub(super) model: Option<(String, Option<ModelAt>)>,
    /// The version and the hash of its program.
    pub(super) program: Option<(Option<String>, String)>,
    /// What the proxy recorded.
    pub(super) record: Option<Record>,
    /// The requests to the model, where jurat sent them itself.
    pub(super) asked: Option<Exchanges>,
    pub(super) logs: Vec<OutputArtifact>,
    pub(super) enforced: Vec<(Limit, Mechanism)>,
    pub(super) secrets: Secrets,
    /// The artifact of the whole run, when a function returned one.
    pub(super) artifact: Option<RunArtifact>,
}

/// A run that has its folders.
pub(super) struct Begun {
    pub(super) folders: Arc<Folders>,
    before: Walked,
    at: Instant,
    at_ms: u64,
}

impl Begun {
    /// Makes the folders of a run and its workspace.
    pub(super) async fn new(task: Task<'_>) -> Result<Begun, Halt> {
        let (at, at_ms) = (Instant::now(), crate::now_ms());
        let seed = format!("{} {} {}", task.environment.suite, task.case().id, task.request.replicate);
        let case = Arc::clone(&task.ready.case);
        let made = move || {
            let folders = Folders::make(&seed).map_err(|error| format!("its folders cannot be made: {error}"))?;
            let before = prepared(&case, &folders)?;
            Ok::<_, String>((folders, before))
        };
        let (folders, before) = blocking(made).await??;
        Ok(Begun { folders: Arc::new(folders), before, at, at_ms })
    }

    /// Performs the turns until one fails, and makes the artifact of the run.
    pub(super) async fn run(self, task: Task<'_>, mut performer: impl Performer) -> Result<RunArtifact, Halt> {
        let case = task.case();
        let mut turns = Vec::new();
        let mut session = uuid(&self.folders.name);
        for ix in 0..case.turns.len() {
            let (message, started) = (case.message(ix), Instant::now());
            let left = case.agent.limits.time.saturating_sub(self.at.elapsed());
            let turn = Turn { ix, message: &message, session: &session, left };
            let Performed { report, ending, stderr } = performer.perform(turn).await?;
            session = report.session.clone().unwrap_or(session);
            let is_over = report.fault.is_some() || ending != Ending::Exited(0);
            turns.push(TurnRun { message, report, ending, stderr, took: started.elapsed() });
            if is_over {
                break;
            }
        }
        self.artifact(task, turns, performer.finish().await?).await
    }

    async fn artifact(self, task: Task<'_>, turns: Vec<TurnRun>, mut finished: Finished) -> Result<RunArtifact, Halt> {
        let case = task.case();
        let runner = case.agent.runner;
        if let Some(record) = &finished.record {
            let lines = finished.secrets.scrubbed(wire_lines(record));
            let wire = self.folders.log(runner.name, "wire", "exchanges.jsonl", &lines);
            finished.logs.extend(wire.map_err(|error| format!("what it asked its model cannot be stored: {error}"))?);
        }
        let asked_itself = finished.asked.take();
        let stored = {
            let (folders, case, place) =
                (Arc::clone(&self.folders), Arc::clone(&task.ready.case), task.environment.storage.clone());
            let (before, logs) = (self.before, std::mem::take(&mut finished.logs));
            let (seen, secrets) = (std::mem::take(&mut finished.workspace), finished.secrets.clone());
            blocking(move || folders.store(&place, &case, &before, logs, (&seen, &secrets))).await?
        };
        let mut run = AgentRun {
            case,
            run_id: self.folders.name.clone(),
            suite: &task.environment.suite,
            model: finished.model.as_ref().map(|(name, at)| (name.as_str(), at.as_ref())),
            turns,
            exchanges: finished.record.as_ref().map(exchanges).or(asked_itself),
            stored: stored.map_err(|error| format!("its workspace cannot be looked at: {error}"))?,
            began_ms: self.at_ms,
            ended_ms: crate::now_ms().max(self.at_ms),
            place: finished.place,
            enforced: finished.enforced,
            program: finished.program,
            replicate: task.request.replicate,
        };
        if let Some((failed_calls, record)) =
            runner.program().and_then(|it| it.failed_calls).zip(finished.record.as_ref())
        {
            run.fail_calls(&record.exchanges.iter().flat_map(|it| failed_calls(&it.request.text)).collect());
        }
        Ok(match finished.artifact {
            Some(artifact) => run.completed(artifact),
            None => run.artifact(),
        })
    }
}

/// Puts skills where the program looks for them, makes a workspace and lists its files.
fn prepared(case: &AgentCase, folders: &Folders) -> Result<Walked, String> {
    for (skill, place) in skills(case) {
        let copied = workspace::copy_template(skill, &folders.home.join(place));
        copied.map_err(|error| format!("the skill `{}` cannot be copied: {error}", skill.display()))?;
    }
    if let Some(template) = &case.workspace {
        let copied = workspace::copy_template(template, &folders.workspace);
        copied.map_err(|error| format!("its workspace cannot be made from `{}`: {error}", template.display()))?;
    }
    workspace::walk(&folders.workspace).map_err(|error| format!("its workspace cannot be looked at: {error}"))
}

/// The skills of a case, and where its program looks for each, relative to its home.
fn skills(case: &AgentCase) -> impl Iterator<Item = (&Path, PathBuf)> {
    let place = |skill: &Path| Some(Path::new(case.agent.runner.skills?).join(skill.file_name()?));
    case.agent.skills.iter().filter_map(move |it| Some((it.as_path(), place(it)?)))
}

/// Does work that blocks on a thread of its own, because all cases share one thread.
pub(super) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, String> {
    tokio::task::spawn_blocking(work).await.map_err(|_| "the agent could not be run".to_owned())
}

/// A UUID that is made from a name.
fn uuid(name: &str) -> String {
    let hash = blake3::hash(name.as_bytes()).to_hex();
    format!("{}-{}-4{}-8{}-{}", &hash[..8], &hash[8..12], &hash[13..16], &hash[17..20], &hash[20..32])
}
