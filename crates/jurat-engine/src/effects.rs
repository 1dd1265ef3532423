//! Effects: looked up, made, written down, and only then looked at.
//!
//! Where an outcome is looked for decides what kind of run it is:
//!
//! | | answer in the run's log | fault in the run's log | answer in the journal | else |
//! |---|---|---|---|---|
//! | run, resume | use | ask again | use, and copy into the log | ask |
//! | `--fresh` | use | ask again | use if it was given since this run began | ask |
//! | `--replay` | use | reproduce | never read | "diverged" |
//!
//! What the journal does not have is looked for in the journal of the team, where there is one, before it is asked; the answer goes into the project's own.
//!
//! A shard that has segments uses them in place of the journal, however old they are: all of them are answers of this run.
//!
//! No case sees an outcome before the commit that holds it. For what the journal stores that is the journal's; a copy of what was there before is waited for
//! only when too much is not written yet.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jurat_core::effect::wire::{action_json, outcome_json, read_outcome, request_json};
use jurat_core::effect::{
    Action, Asker, Attempt, EffectKey, Endpoint, Fault, FaultKind, Outcome, Request, Reuse, Slot, StepSite,
};
use jurat_core::plan::{CaseIx, Plan};
use jurat_core::verdict::StopReason;
use jurat_model::Turn;
use jurat_store::journal::{AnswerStore, AnswerWriter, JournalAnswer, ShardAnswer};
use jurat_store::run::RecordedEffect;
use jurat_store::run::{Logged, RunLog, RunWriter};
use tokio::sync::oneshot;

use crate::breaker::Breaker;
use crate::clock::{Asked as ClockAsked, Clock};
use crate::perform::{ActionContext, Activity, Call, Perform};
use crate::recording::{Recorded, Recording};
use crate::sharing::Sharing;
use crate::tally::{Origin, Tally, taken};
use crate::{CaseLabel, Progress, Roles, RunError, Stop};

/// Where outcomes come from.
pub(crate) enum Source<'r> {
    /// The log of this run, the project's journal or the segments of the shard, the world.
    World {
        perform: &'r dyn Perform,
        /// The log of the run that is resumed.
        log: Option<&'r RunLog>,
        journal: Option<AnswerStore<'r>>,
        /// The journal of a team, for what this one does not have.
        shared: Option<&'r Sharing>,
        /// Answers of the journal that are older are not used.
        not_before_ms: Option<u64>,
    },
    /// A recording, and nothing else. The models say who should have been asked.
    Recording(&'r dyn Recording, &'r Roles),
}

/// Where outcomes are written before they are used.
pub(crate) enum OutcomeLog<'r> {
    /// The file of the run, and through it the journal.
    Run(&'r RunWriter),
    /// The journal alone, where there is one: the cases of a batch leave no run.
    Batch { answers: Option<&'r RefCell<AnswerWriter>>, happened: &'r Happened },
}

/// The site of an outcome, itself, and whether it was there before.
pub(crate) type OutcomeAt = (StepSite, Outcome, bool);

/// What happened in the cases of a batch.
#[derive(Debug, Default)]
pub(crate) struct Happened {
    /// Answers by the content of their requests. Without a journal they are all that keeps an equal question of a later case from being asked again.
    answers: Mutex<HashMap<EffectKey, Outcome>>,
    by_case: Mutex<HashMap<CaseIx, Vec<OutcomeAt>>>,
}

impl Happened {
    /// The outcomes of a case that is done.
    pub(crate) fn take(&self, case_ix: CaseIx) -> Vec<OutcomeAt> {
        locked(&self.by_case).remove(&case_ix).unwrap_or_default()
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes effects, one for each site.
pub(crate) struct Effects<'r> {
    pub(crate) plan: &'r Plan,
    pub(crate) source: Source<'r>,
    pub(crate) log: OutcomeLog<'r>,
    pub(crate) stop: &'r Stop,
    pub(crate) progress: &'r Progress,
    pub(crate) tally: &'r Tally,
    pub(crate) now_ms: &'r dyn Fn() -> u64,
    pub(crate) breaker: Breaker<'r>,
    /// How many cases that follow one another take turns at asking; those before them go first.
    pub(crate) abreast: NonZeroU64,
    /// Who else waits for the answer to a question that is in flight.
    pub(crate) in_flight: RefCell<HashMap<EffectKey, Vec<oneshot::Sender<Outcome>>>>,
    pub(crate) activity: Activity,
    pub(crate) shares: Shares,
}

/// Which responses of the journal the run has already. A response that many cases use was paid for once, and must not look as if each of them had saved its price.
#[derive(Debug)]
pub(crate) struct Shares {
    /// When the run began: what was answered since then, it paid for itself.
    began_at_ms: u64,
    /// The first bytes of the keys of older responses that a case used.
    used: RefCell<HashSet<i64>>,
    /// The same of the requests that a resumed run made. The journal is written before the log of the run: of a process that was killed it may have
    /// responses that the log does not.
    paid: Option<RefCell<HashSet<i64>>>,
}

impl Shares {
    pub(crate) fn since(began_at_ms: u64) -> Shares {
        Shares { began_at_ms, used: RefCell::default(), paid: None }
    }

    pub(crate) fn resumed(began_at_ms: u64, paid: impl IntoIterator<Item = EffectKey>) -> Shares {
        let paid = paid.into_iter().map(|it| it.prefix()).collect();
        Shares { paid: Some(RefCell::new(paid)), ..Shares::since(began_at_ms) }
    }

    /// Notes that a resumed run paid for a request; whether that is news.
    fn note_paid(&self, key: &EffectKey) -> bool {
        self.paid.as_ref().is_some_and(|it| it.borrow_mut().insert(key.prefix()))
    }

    /// Who paid for a response that was there, given at this time if that is known.
    fn origin(&self, key: &EffectKey, at_ms: Option<u64>) -> Origin {
        if at_ms.is_some_and(|it| it >= self.began_at_ms) {
            return if self.note_paid(key) { Origin::Paid } else { Origin::Shared };
        }
        if self.used.borrow_mut().insert(key.prefix()) { Origin::Reused } else { Origin::Shared }
    }

    fn origin_of_logged(&self, logged: &Logged, outcome: &Outcome) -> Origin {
        let at_ms = if let Outcome::Answer(answer) = outcome { Some(answer.at_ms) } else { None };
        if logged.reused { self.origin(&logged.key, at_ms) } else { Origin::Logged }
    }
}

/// The most bytes of copies that may wait to be written to the file of a run; more are waited for.
const MOST_COPIES: u64 = 2 << 20;

/// A site of a case.
#[derive(Debug, Clone, Copy)]
pub(crate) struct At<'c> {
    pub(crate) case_ix: CaseIx,
    /// When the case runs: of requests that wait, that of the oldest case is made first.
    pub(crate) turn: u64,
    pub(crate) name: CaseLabel<'c>,
    pub(crate) site: StepSite,
    /// The node of the turn, when it is in a conversation.
    pub(crate) node: Option<&'c str>,
    /// The clock of the conversation that the site is in.
    pub(crate) clock: Option<&'c Clock>,
}

/// Waits until a conversation takes too long; for ever where none is held.
async fn over(clock: Option<&Clock>) -> Outcome {
    match clock {
        Some(clock) => clock.over().await,
        None => std::future::pending().await,
    }
}

/// An outcome before it is written down.
struct Found {
    outcome: Outcome,
    key: EffectKey,
    /// The model that was asked.
    endpoint: Option<Arc<Endpoint>>,
    origin: Origin,
    /// Whether other cases and runs may use what its performer returns.
    is_shared: bool,
    /// How many times the same site ended in a fault before.
    attempt: u32,
    /// Whether this run's own log has it already.
    is_logged: bool,
    /// Whether other cases may wait for it.
    is_awaited: bool,
    /// The outcome as the journal has it, when it comes from there.
    copied: Option<String>,
    /// When it was given, in milliseconds since 1970, where that journal is the team's: this project's is to have it, too.
    of_team: Option<u64>,
}

impl Found {
    fn new(outcome: Outcome, key: EffectKey) -> Found {
        Found {
            outcome,
            key,
            endpoint: None,
            origin: Origin::Paid,
            is_shared: false,
            attempt: 0,
            is_logged: false,
            is_awaited: false,
            copied: None,
            of_team: None,
        }
    }
}

/// A request that is about to be made.
#[derive(Clone, Copy)]
struct Asked<'r> {
    request: &'r Request,
    key: EffectKey,
    not_before_ms: Option<u64>,
    max_requests: u32,
}

/// A request as it is written down.
struct Stored {
    kind: &'static str,
    /// The model, or the name of what else performed it.
    performer: String,
    request: String,
}

impl Stored {
    fn of(request: &Request, endpoint: Option<&Endpoint>) -> Stored {
        let (performer, json) = match (request, endpoint) {
            (Request::Model(request), Some(endpoint)) => (endpoint.model.clone(), request_json(endpoint, request)),
            (Request::Model(request), None) => (String::new(), request_json(&nowhere(), request)),
            (Request::Action(action), _) => (action.performer().to_owned(), action_json(action)),
        };
        Stored { kind: request.kind(), performer, request: json }
    }
}

/// What the log of a run has for a request.
pub(crate) struct LoggedOutcome {
    pub(crate) outcome: Outcome,
    /// The model that was asked.
    pub(crate) asked: String,
    logged: Logged,
}

impl Effects<'_> {
    /// The outcome of a request, written down.
    pub(crate) async fn outcome(
        &self,
        at: At<'_>,
        request: &Request,
        max_requests: u32,
        context: &ActionContext<'_>,
    ) -> Result<Outcome, RunError> {
        let _in_progress = self.activity.outcome();
        let found = match &self.source {
            Source::Recording(recording, roles) => self.replayed(*recording, roles, at, request)?,
            Source::World { .. } => self.found(at, request, max_requests, context).await?,
        };
        let awaited = found.is_awaited.then_some(found.key);
        let written = self.write(at, request, max_requests, found, context).await;
        // Only now: a case that asks the same between an answer and its commit would not find it written down yet.
        let others = awaited.and_then(|key| self.in_flight.borrow_mut().remove(&key)).unwrap_or_default();
        self.activity.n_joined.update(|it| it - others.len());
        if let Ok(outcome) = &written {
            for other in others {
                let _ = other.send(outcome.clone());
            }
        }
        written
    }

    /// To be called now and then: while nothing is looked for, no other process waits for this run's lookups.
    pub(crate) fn rest(&self) -> Result<(), RunError> {
        match &self.source {
            Source::World { journal: Some(journal), .. } => Ok(journal.rest()?),
            _ => Ok(()),
        }
    }

    /// Whether this run resumes one that was interrupted.
    pub(crate) fn has_log(&self) -> bool {
        matches!(self.source, Source::World { log: Some(_), .. })
    }

    /// What this run's own log has at a site, when it is what would be asked now, and whether it was taken over from elsewhere. It is not
    /// [counted](Effects::count_logged).
    pub(crate) fn logged(&self, at: At<'_>, request: &Request) -> Result<Option<LoggedOutcome>, RunError> {
        let Source::World { perform, log: Some(log), .. } = &self.source else { return Ok(None) };
        let Some(logged) = log.get(at.case_ix, at.site)? else { return Ok(None) };
        let Some(performer) = perform.performer(request).filter(|it| request.key(&it.key) == logged.key) else {
            return Ok(None);
        };
        let asked = performer.endpoint.map_or_else(String::new, |it| it.model.clone());
        let outcome = read_outcome(request.kind(), &logged.outcome)?;
        Ok(Some(LoggedOutcome { outcome, asked, logged }))
    }

    fn diverged(&self, at: At<'_>, why: &str) -> Outcome {
        let message = format!("diverged at {}: {why}", place(self.plan, at.site, at.name));
        Outcome::Fault(Box::new(Fault::new(FaultKind::Diverged, message, 0)))
    }

    fn replayed(
        &self,
        recording: &dyn Recording,
        roles: &Roles,
        at: At<'_>,
        request: &Request,
    ) -> Result<Found, RunError> {
        let task = at.site.asker.task().map(|it| self.plan.tasks[it.index()].id.as_str());
        let recorded = recording.outcome(at.case_ix, at.name, task, at.site)?;
        let why = match &recorded {
            None => Some("the recording has nothing there".to_owned()),
            Some(recorded) if !recorded.asked.request.is_same(request) => {
                Some("the recording has another request there".to_owned())
            }
            Some(recorded) => other_model(roles, request, recorded.asked.endpoint.as_deref()),
        };
        let found = match (recorded, why) {
            (Some(Recorded { key, asked, outcome }), None) => {
                Found { endpoint: asked.endpoint, ..Found::new(outcome, key) }
            }
            (_, why) => Found::new(self.diverged(at, &why.unwrap_or_default()), EffectKey([0; 32])),
        };
        Ok(Found { origin: Origin::Reused, ..found })
    }

    /// An interrupted case is begun again: what its tools had done by then may be gone, so only what may be used again is taken from the log.
    async fn found(
        &self,
        at: At<'_>,
        request: &Request,
        max_requests: u32,
        context: &ActionContext<'_>,
    ) -> Result<Found, RunError> {
        let Source::World { perform, log, journal, shared, not_before_ms } = &self.source else {
            unreachable!("a recording is not the world")
        };
        let Some(performer) = perform.performer(request) else {
            return Ok(Found::new(no_model(request), EffectKey([0; 32])));
        };
        let (key, is_shared) = (request.key(&performer.key), performer.is_shared);
        let endpoint = performer.endpoint.filter(|_| matches!(request, Request::Model(_)));
        let found = |outcome, origin, attempt| Found {
            endpoint: endpoint.cloned(),
            origin,
            is_shared,
            attempt,
            ..Found::new(outcome, key)
        };
        let mut attempt = 0;
        if let Some(log) = log
            && let Some(logged) = log.get(at.case_ix, at.site)?
        {
            attempt = logged.attempt + 1;
            // Another request at the same site is the site of another suite: it is asked.
            // A conversation that the performer remembers is begun again as a whole.
            if logged.key == key
                && !(performer.is_stateful && at.site.asker.turn().is_some())
                && let outcome = read_outcome(request.kind(), &logged.outcome)?
                && request.reuse(&outcome, is_shared) >= Reuse::SameRun
            {
                if let Some(journal) = journal {
                    journal.note_use(&key);
                }
                let origin = self.shares.origin_of_logged(&logged, &outcome);
                return Ok(Found { is_logged: true, ..found(outcome, origin, logged.attempt) });
            }
        }
        if let Some(journal) = journal
            && is_shared
            && let Some(ShardAnswer { answer, is_first_use }) = journal.get(&key, *not_before_ms)?
            // An answer that was overwritten is no answer; asking again replaces it.
            && let Ok(outcome) = read_outcome(request.kind(), &answer.outcome)
        {
            // What an earlier attempt at this shard paid for is paid by this run.
            let origin = if is_first_use { Origin::Paid } else { self.shares.origin(&key, Some(answer.at_ms)) };
            return Ok(Found { copied: Some(answer.outcome), ..found(outcome, origin, attempt) });
        }
        if let OutcomeLog::Batch { happened, .. } = &self.log
            && is_shared
            && let Some(outcome) = locked(&happened.answers).get(&key)
        {
            return Ok(found(outcome.clone(), Origin::Shared, attempt));
        }
        if let Some(reason) = self.stop.reason() {
            return Ok(found(Outcome::NotRun(reason), Origin::Paid, attempt));
        }
        // Another case asks the model the same: one answer is enough for both.
        let is_awaited = is_shared && matches!(request, Request::Model(_));
        while is_awaited && let Some(receiver) = self.joined(key) {
            let waiting = at.clock.map(Clock::asks);
            // The case that asked could not write the answer down, and has reported why.
            let outcome = receiver.await.map_err(|_| RunError::WriterGone)?;
            drop(waiting);
            // That the time of another case is over says nothing about this one.
            let is_late = |it: &Fault| matches!(it.kind, FaultKind::TurnDeadline | FaultKind::CaseDeadline);
            if !matches!(&outcome, Outcome::Fault(fault) if is_late(fault)) {
                return Ok(found(outcome, Origin::Shared, attempt));
            }
        }
        if let Some(shared) = shared.filter(|_| is_awaited && performer.is_for_team) {
            if let Some(answer) = self.of_team(shared, at, key, *not_before_ms).await
                && let Ok(outcome) = read_outcome(request.kind(), &answer.outcome)
            {
                let (copied, of_team) = (Some(answer.outcome), Some(answer.at_ms));
                let origin = self.shares.origin(&key, None);
                return Ok(Found { is_awaited, copied, of_team, ..found(outcome, origin, attempt) });
            }
            // It may have been stopped meanwhile.
            if let Some(reason) = self.stop.reason() {
                return Ok(Found { is_awaited, ..found(Outcome::NotRun(reason), Origin::Paid, attempt) });
            }
        }
        let asked = Asked { request, key, not_before_ms: *not_before_ms, max_requests };
        let outcome = self.performed(*perform, at, asked, context).await;
        if let Some(endpoint) = performer.endpoint {
            self.breaker.note(endpoint, &outcome);
        }
        self.shares.note_paid(&key);
        Ok(Found { is_awaited, ..found(outcome, Origin::Paid, attempt) })
    }

    /// What the journal of the team has. A conversation does not pay for it with its time, and a run that is ended does not wait for it.
    async fn of_team(
        &self,
        shared: &Sharing,
        at: At<'_>,
        key: EffectKey,
        not_before_ms: Option<u64>,
    ) -> Option<JournalAnswer> {
        let _waiting = at.clock.map(Clock::asks);
        tokio::select! {
            biased;
            answer = shared.find(key, not_before_ms) => answer,
            _ = self.stop.dropped() => None,
        }
    }

    /// Where the answer to a question comes that is in flight; `None` when it is not, and from now on this one is.
    fn joined(&self, key: EffectKey) -> Option<oneshot::Receiver<Outcome>> {
        let mut in_flight = self.in_flight.borrow_mut();
        match in_flight.get_mut(&key) {
            Some(others) => {
                let (sender, receiver) = oneshot::channel();
                others.push(sender);
                self.activity.n_joined.update(|it| it + 1);
                Some(receiver)
            }
            None => {
                in_flight.insert(key, Vec::new());
                None
            }
        }
    }

    async fn performed(
        &self,
        perform: &dyn Perform,
        at: At<'_>,
        Asked { request, key, not_before_ms, max_requests }: Asked<'_>,
        context: &ActionContext<'_>,
    ) -> Outcome {
        if let Some(fault) = at.clock.and_then(Clock::fault) {
            return fault;
        }
        let log = if let Source::World { log, .. } = &self.source { *log } else { None };
        let filled = context.attachments.as_ref().and_then(|it| it.read.filled(request, log));
        let request = filled.as_ref().unwrap_or(request);
        let asked = at.clock.map(Clock::asks);
        // A request that waits for its turn is not in flight.
        let is_in_flight = AtomicBool::new(false);
        let asks_model = match request {
            Request::Model(_) => true,
            Request::Action(action) => matches!(**action, Action::Run { .. }),
        };
        let sent = || {
            asked.iter().for_each(ClockAsked::sent);
            if asks_model && !is_in_flight.swap(true, Ordering::Relaxed) {
                self.progress.in_flight.fetch_add(1, Ordering::Relaxed);
            }
        };
        let task = at.site.asker.task().map_or("", |it| self.plan.tasks[it.index()].id.as_str());
        let turn = at.site.asker.turn().zip(at.node).map(|(turn, node)| Turn { node, number: turn.saturating_add(1) });
        let (case, stop) = (at.name.id, self.stop);
        let priority = at.turn / self.abreast;
        let (progress, plan, site, name) = (self.progress, self.plan, at.site, at.name);
        let failed = |attempt: &Attempt| {
            progress.note(|| format!("{}: a request failed: {}", place(plan, site, name), attempt.message));
        };
        let call = Call {
            request,
            key: Some(key),
            not_before_ms,
            case,
            task,
            turn,
            priority,
            max_requests,
            stop,
            sent: &sent,
            failed: &failed,
            context,
        };
        if matches!(request, Request::Action(_)) {
            sent();
        }
        let outcome = tokio::select! {
            biased;
            outcome = perform.perform(call) => outcome,
            fault = over(at.clock) => fault,
            reason = self.stop.dropped() => match reason {
                StopReason::Interrupted => {
                    Outcome::Fault(Box::new(Fault::new(FaultKind::Cancelled, "dropped by the second Ctrl-C", 1)))
                }
                reason => Outcome::NotRun(reason),
            },
        };
        self.progress.in_flight.fetch_sub(u64::from(is_in_flight.into_inner()), Ordering::Relaxed);
        if let Outcome::Fault(fault) = &outcome {
            self.progress.note(|| format!("{}: no answer: {}", place(self.plan, at.site, at.name), fault.message));
        }
        let (n_requests, n_failed) = match &outcome {
            Outcome::Answer(answer) => (answer.n_requests, answer.n_requests.saturating_sub(1)),
            Outcome::Fault(fault) if matches!(request, Request::Model(_)) => (fault.n_requests, fault.n_requests),
            Outcome::Fault(_) | Outcome::Returned(_) | Outcome::Ran(_) | Outcome::NotRun(_) => (0, 0),
        };
        self.progress.n_requests.fetch_add(u64::from(n_requests), Ordering::Relaxed);
        self.progress.failed_requests.fetch_add(u64::from(n_failed), Ordering::Relaxed);
        outcome
    }

    /// Writes an outcome down and waits for the commit, unless it is safe already.
    async fn write(
        &self,
        at: At<'_>,
        request: &Request,
        max_requests: u32,
        found: Found,
        context: &ActionContext<'_>,
    ) -> Result<Outcome, RunError> {
        let stored = Stored::of(request, found.endpoint.as_deref());
        let answer = match &found.outcome {
            Outcome::Answer(answer) => Some(answer),
            _ => None,
        };
        self.count(at.case_ix, at.site, &stored.performer, &found.outcome, found.origin);
        self.tally.note_price(&found.outcome, &stored.performer);
        if found.is_logged {
            return Ok(found.outcome);
        }
        let is_new =
            found.origin == Origin::Paid && found.copied.is_none() && matches!(self.source, Source::World { .. });
        let journal = is_new
            && request.reuse(&found.outcome, found.is_shared) == Reuse::OtherRuns
            && !self.is_error(at, &found, max_requests)
            || found.of_team.is_some();
        if let OutcomeLog::Batch { answers, happened } = &self.log {
            if journal {
                locked(&happened.answers).insert(found.key, found.outcome.clone());
            }
            // Without a journal there is nothing to write, and writing costs more than asking a function does.
            if !journal || answers.is_none() {
                return Ok(found.outcome);
            }
        }
        let is_safe = found.copied.is_some() && found.of_team.is_none();
        let effect = RecordedEffect {
            case_ix: at.case_ix,
            site: at.site,
            attempt: found.attempt,
            key: found.key,
            kind: stored.kind.to_owned(),
            model: stored.performer,
            served: answer.and_then(|it| it.served.model.clone()),
            at_ms: found.of_team.or(answer.map(|it| it.at_ms)).unwrap_or_else(|| (self.now_ms)()),
            request: stored.request,
            outcome: found.copied.unwrap_or_else(|| outcome_json(&found.outcome)),
            reused: found.origin.is_reused(),
            journal,
            media: context
                .attachments
                .as_ref()
                .map(|it| it.read.stored_with(request, &found.outcome))
                .unwrap_or_default(),
        };
        let writer = match &self.log {
            OutcomeLog::Run(writer) => writer,
            OutcomeLog::Batch { answers, .. } => {
                if let Some(answers) = answers {
                    answers.borrow_mut().write(&effect)?;
                }
                return Ok(found.outcome);
            }
        };
        if is_safe && writer.bytes_of_copies() < MOST_COPIES {
            writer.copy(effect)?;
            return Ok(found.outcome);
        }
        let (committed, commit) = oneshot::channel();
        let done = Box::new(move |result| {
            let _ = committed.send(result);
        });
        writer.effects(vec![effect], done);
        match commit.await {
            Ok(result) => result?,
            Err(_) => return Err(RunError::WriterGone),
        }
        Ok(found.outcome)
    }

    /// Whether judging ends with an error at an answer. The next run asks for it again; what was asked again in this run stays useful, because another answer
    /// followed from it.
    fn is_error(&self, at: At<'_>, found: &Found, max_requests: u32) -> bool {
        let Outcome::Answer(answer) = &found.outcome else { return false };
        let Some(task) = at.site.asker.task() else {
            let is_wanted = found.endpoint.as_ref().is_some_and(|it| it.setting("logprobs").is_some());
            return is_wanted && answer.lacks_logprobs();
        };
        let task = self.plan.tasks.get(task.index());
        task.is_some_and(|it| it.work.ends_in_error((Some(at.name.id), at.site.slot), answer, max_requests))
    }

    /// Adds an outcome of the log to what the run took, once it is used.
    pub(crate) fn count_logged(&self, case_ix: CaseIx, site: StepSite, found: &LoggedOutcome) {
        let origin = self.shares.origin_of_logged(&found.logged, &found.outcome);
        self.count(case_ix, site, &found.asked, &found.outcome, origin);
    }

    /// Adds an outcome to what the run took; `asked` is who was asked for.
    fn count(&self, case_ix: CaseIx, site: StepSite, asked: &str, outcome: &Outcome, origin: Origin) {
        if origin == Origin::Paid
            && let Some((_, Some(cost))) = taken(outcome)
        {
            self.progress.nano_usd.fetch_add((cost * 1e9).round() as u64, Ordering::Relaxed);
        }
        self.tally.add(case_ix, site, asked, outcome, origin);
        if let OutcomeLog::Batch { happened, .. } = &self.log {
            locked(&happened.by_case).entry(case_ix).or_default().push((site, outcome.clone(), origin.is_reused()));
        }
    }
}

/// Who asks what of whom, for messages.
fn place(plan: &Plan, site: StepSite, name: CaseLabel<'_>) -> String {
    let task = match site.asker {
        Asker::Task(task) => format!("task `{}`", plan.tasks[task.index()].id),
        Asker::Case => return format!("{} of `{name}`", turn_words(site)),
        Asker::Turn(turn) => return format!("turn {} ({}) of `{name}`", turn + 1, turn_words(site)),
    };
    let slot = if site.slot > 0 { format!(", judge {}", site.slot + 1) } else { String::new() };
    let turn = if site.turn > 0 { format!(", asked again {}", site.turn) } else { String::new() };
    format!("{task} of `{name}`{slot}{turn}")
}

/// Who is asked at a site of a turn, or about a row, in words.
fn turn_words(site: StepSite) -> String {
    let number = site.turn + 1;
    match Slot::numbered(site.slot) {
        Some(Slot::Subject) if site.turn == 0 => "the subject".to_owned(),
        Some(Slot::Subject) => format!("the subject, with results of tools, {number}"),
        Some(Slot::Tool) => format!("tool call {number}"),
        Some(Slot::Parser) => "the parser".to_owned(),
        Some(Slot::Update) => "the update of the state".to_owned(),
        Some(Slot::Handover) => "the handover".to_owned(),
        Some(Slot::Edge) => format!("the condition of edge {number}"),
        Some(Slot::Tools) => format!("the tools of server {number}"),
        Some(Slot::Outcome) => format!("criterion {number}"),
        Some(Slot::Attach) => "the files that are sent".to_owned(),
        Some(Slot::Transform) => "the transform of the answer".to_owned(),
        Some(Slot::Rubric(ix)) => format!("rating {}", ix + 1),
        None => format!("slot {}", site.slot),
    }
}

/// Why a recorded outcome is not one of this request: another model was asked.
fn other_model(roles: &Roles, request: &Request, recorded: Option<&Endpoint>) -> Option<String> {
    let (Request::Model(request), Some(recorded)) = (request, recorded) else { return None };
    let model = roles.other_model(&request.model, recorded)?;
    let recorded = &recorded.model;
    Some(format!("the recording asked the model `{recorded}` there, and this definition asks `{model}`"))
}

/// The outcome of a request to a role without a model.
pub(crate) fn no_model(request: &Request) -> Outcome {
    let role = if let Request::Model(request) = request { request.model.to_string() } else { String::new() };
    let message = format!("no model is configured for role `{role}`");
    Outcome::Fault(Box::new(Fault::new(FaultKind::NoAnswer, message, 0)))
}

/// The endpoint of a request that no model was asked.
fn nowhere() -> Endpoint {
    Endpoint {
        codec: "none".to_owned(),
        codec_revision: 0,
        address: String::new(),
        model: String::new(),
        settings: Vec::new(),
        headers: Vec::new(),
        shared: None,
    }
}
