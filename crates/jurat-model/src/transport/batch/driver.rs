//! Submits batches, polls them and collects their results, several at a time.
//!
//! A batch ends in one of three ways for each of its requests: a reply, a failure that the request may be sent again after, or one that is final. What a
//! provider leaves out is a failure too: no request is without a result when its batch is over.

use std::cell::Cell;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Poll;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use jurat_core::effect::{EffectKey, FaultKind};

use super::ledger::Record;
use super::protocol::{ItemResult, Lacking, Protocol, Status, Submission, read_id};
use super::{Batch, BatchProgress, Batches, Got, Place, QueueName, Stage, State, Waker, gathered};
use crate::codec::{Received, WireRequest, error_in};
use crate::model::{Kind, Model};
use crate::transport::{Failed, Transport, backoff, may_be_repeated};

/// How many requests about a batch may fail one after the other.
const MOST_ATTEMPTS: u32 = 8;

/// The time before the first look at a batch, where the longest is no shorter.
const FIRST_POLL: Duration = Duration::from_secs(5);

/// How long requests wait for others to come. A case that is not done yet may wait for something that takes hours, or for the budget that these hold.
const LINGER: Duration = Duration::from_secs(10);

/// What is to be done with a batch.
struct Work {
    token: String,
    model: Arc<Model>,
    /// Its requests, when it is to be submitted.
    requests: Option<Vec<u8>>,
}

/// A batch with its provider.
struct Carried<'c> {
    batches: &'c Batches,
    transport: &'c Transport,
    model: &'c Model,
    protocol: &'static Protocol,
    token: &'c str,
}

impl Batches {
    /// Makes batches of what waits, submits them and collects their results, for as long as it is polled. `is_idle` says whether every case that is open
    /// waits, given how many requests wait here: no more can come then. `report` is called when something changed.
    pub async fn attend(&self, transport: &Transport, is_idle: &dyn Fn(usize) -> bool, report: &dyn Fn(BatchProgress)) {
        let mut running = FuturesUnordered::new();
        let reported = Cell::new(BatchProgress::default());
        let mut lingering = tokio::time::interval(LINGER);
        lingering.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        poll_fn(|context| {
            self.lock().attending = Some(context.waker().clone());
            loop {
                let due = self.due((transport.options.now_ms)(), is_idle);
                let has_none = due.is_empty();
                running.extend(due.into_iter().map(|work| self.carry(transport, work)));
                let polled = running.poll_next_unpin(context);
                let progress = self.lock().progress();
                if reported.replace(progress) != progress {
                    report(progress);
                }
                let is_late = self.lock().has_queued() && lingering.poll_tick(context).is_ready();
                match polled {
                    _ if is_late => {}
                    Poll::Ready(Some(())) => {}
                    Poll::Ready(None) | Poll::Pending if has_none => return Poll::<()>::Pending,
                    Poll::Ready(None) | Poll::Pending => {}
                }
            }
        })
        .await;
    }

    /// The batches that can be made now, and those of earlier runs that requests wait for.
    fn due(&self, now_ms: u64, is_idle: &dyn Fn(usize) -> bool) -> Vec<Work> {
        let mut state = self.lock();
        let mut due = state.wanted();
        let is_idle = is_idle(state.n_waiting);
        let names: Vec<QueueName> = state.queues.keys().cloned().collect();
        for name in names {
            while state.is_ready(&name, self.options.most_bytes, is_idle) {
                due.extend(state.cut(&name, self.options.most_bytes, now_ms));
            }
        }
        due
    }

    /// Takes a batch to its end.
    async fn carry(&self, transport: &Transport, work: Work) {
        let Some(api) = work.model.batch else { return };
        let carried =
            Carried { batches: self, transport, model: &work.model, protocol: api.protocol(), token: &work.token };
        let id = match (work.requests, carried.record().and_then(|it| it.id)) {
            (Some(requests), _) => carried.submit(&requests).await,
            (None, Some(id)) => Some(id),
            (None, None) => carried.found_again().await,
        };
        if let Some(id) = id {
            carried.collect(&id).await;
        }
    }
}

impl State {
    fn wanted(&mut self) -> Vec<Work> {
        let mut due = Vec::new();
        for (token, batch) in &mut self.batches {
            if let (Stage::Wanted, Some(model)) = (batch.stage, &batch.model) {
                batch.stage = Stage::Running;
                due.push(Work { token: token.clone(), model: Arc::clone(model), requests: None });
            }
        }
        due
    }

    /// Whether a batch is made of a queue: it is full, or nothing more can come.
    fn is_ready(&self, name: &QueueName, most_bytes: usize, is_idle: bool) -> bool {
        let Some(queue) = self.queues.get(name).filter(|it| !it.items.is_empty()) else { return false };
        let is_of = |it: &Batch| it.stage == Stage::Running && it.queue.as_ref() == Some(name);
        if queue.is_alone && self.batches.values().any(is_of) {
            return false;
        }
        let most_bytes = most_bytes.min(queue.api.protocol().most_bytes);
        let is_idle = is_idle || queue.last_came.elapsed() >= LINGER;
        is_idle || queue.items.len() >= queue.most_requests || queue.n_bytes >= most_bytes
    }

    /// Makes a batch of the first requests of a queue; `None` when none of them waits any more.
    fn cut(&mut self, name: &QueueName, most_bytes: usize, now_ms: u64) -> Option<Work> {
        let (keys, requests) = gathered(self, name, most_bytes);
        let model = self.queues.get(name).map(|it| Arc::clone(&it.model)).filter(|_| !keys.is_empty())?;
        self.n_made += 1;
        let token = format!("{now_ms:x}-{:x}-{}", std::process::id(), self.n_made);
        let record = Record {
            token: token.clone(),
            id: None,
            created_at_ms: now_ms,
            model: model.endpoint.model.clone(),
            path: name.2.clone(),
            keys: keys.iter().map(EffectKey::to_string).collect(),
        };
        self.note(&record);
        let batch = Batch {
            record,
            queue: Some(name.clone()),
            model: Some(Arc::clone(&model)),
            stage: Stage::Running,
            n_done: 0,
        };
        self.batches.insert(token.clone(), batch);
        Some(Work { token, model, requests: Some(requests) })
    }

    fn has_queued(&self) -> bool {
        self.queues.values().any(|it| !it.items.is_empty())
    }

    /// The requests of a batch.
    fn keys(&self, token: &str) -> Vec<EffectKey> {
        let keys = self.batches.get(token).map(|it| it.record.keys.as_slice()).unwrap_or_default();
        keys.iter().filter_map(|it| EffectKey::parse(it)).collect()
    }
}

impl Carried<'_> {
    fn record(&self) -> Option<Record> {
        self.batches.lock().batches.get(self.token).map(|it| it.record.clone())
    }

    /// Records the batch and submits it; `None` when that failed, which its requests have as their result.
    async fn submit(&self, requests: &[u8]) -> Option<String> {
        let record = self.record()?;
        if let Err(error) = self.batches.ledger.write(&record) {
            let message = format!("the batch was not submitted, because it cannot be recorded: {error}");
            self.end(&|| Got::Failed(Failed::new(FaultKind::NoAnswer, message.clone())), true);
            return None;
        }
        match self.submitted(&record, requests).await {
            Ok(id) => {
                self.name(record, &id);
                Some(id)
            }
            Err(error) => {
                // It was tried often enough.
                self.end(&|| Got::Failed(Failed { is_final: true, ..repeated(&error) }), true);
                None
            }
        }
    }

    async fn submitted(&self, record: &Record, requests: &[u8]) -> Result<String, Failed> {
        let mut n_failed = 0;
        let mut file = String::new();
        loop {
            let submission = submission(record, requests, &file);
            let error = match self.submit_once(&submission).await {
                Ok(Submitted::File(id)) => {
                    file = id;
                    continue;
                }
                Ok(Submitted::Batch(id)) => return Ok(id),
                Err(error) => error,
            };
            n_failed += 1;
            let Some(wait) = self.pause(&error, n_failed) else { return Err(error) };
            waited(wait).await;
            // The provider may have made it all the same, and would make a second one.
            let may_exist = error.may_cost || matches!(error.kind, FaultKind::Status(500..));
            if may_exist && let Ok(Some(id)) = self.found(&submission).await {
                return Ok(id);
            }
        }
    }

    async fn submit_once(&self, submission: &Submission<'_>) -> Result<Submitted, Failed> {
        match self.protocol.upload.filter(|_| submission.file.is_empty()) {
            Some(upload) => {
                let reply = self.fetched(&upload(submission.requests)).await?;
                read_id(&reply).map(Submitted::File).map_err(|it| self.garbled(&it))
            }
            None => {
                let reply = self.fetched(&(self.protocol.create)(submission)).await?;
                read_id(&reply).map(Submitted::Batch).map_err(|it| self.garbled(&it))
            }
        }
    }

    /// The batch that a submission made whose reply was lost.
    async fn found(&self, submission: &Submission<'_>) -> Result<Option<String>, Failed> {
        let reply = self.fetched(&(self.protocol.list)()).await?;
        let found = (self.protocol.find)(&reply, submission).map_err(|it| self.garbled(&it))?;
        let state = self.batches.lock();
        let is_known = |id: &String| state.batches.values().any(|it| it.record.id.as_ref() == Some(id));
        Ok(found.into_iter().find(|it| !is_known(it)))
    }

    /// The id of a batch that was being submitted when its run was killed. Its requests are sent again when the provider has none.
    async fn found_again(&self) -> Option<String> {
        let record = self.record()?;
        let mut n_failed = 0;
        loop {
            let error = match self.found(&submission(&record, b"", "")).await {
                Ok(Some(id)) => {
                    self.name(record, &id);
                    return Some(id);
                }
                Ok(None) => {
                    self.end(&|| Got::Again, true);
                    return None;
                }
                Err(error) => error,
            };
            n_failed += 1;
            let Some(wait) = self.pause(&error, n_failed) else {
                self.end(&|| Got::Failed(Failed { is_final: true, ..repeated(&error) }), false);
                return None;
            };
            waited(wait).await;
        }
    }

    /// Records the id of the batch. If that cannot be written, the batch is found by its name when the run is resumed.
    fn name(&self, record: Record, id: &str) {
        let record = Record { id: Some(id.to_owned()), ..record };
        let _ = self.batches.ledger.write(&record);
        let mut state = self.batches.lock();
        for key in record.keys.iter().filter_map(|it| EffectKey::parse(it)) {
            if let Some(waiting) = state.waiting.get_mut(&key).filter(|it| it.place == Place::Submitting) {
                waiting.place = Place::InBatch;
                waiting.waker.take().inspect(Waker::wake_by_ref);
            }
        }
        if let Some(batch) = state.batches.get_mut(self.token) {
            batch.record = record;
        }
    }

    /// Polls until the batch has ended, and hands its results on.
    async fn collect(&self, id: &str) {
        match self.ended(id).await {
            Ok(Status::Ended { results, lacking }) => {
                let mut n_garbled = 0;
                for path in &results {
                    if let Err(error) = self.read_results(id, path, &mut n_garbled).await {
                        self.end(&|| Got::Failed(self.uncollected(id, &error)), false);
                        return;
                    }
                }
                self.end(&|| Got::Failed(self.lacking(id, lacking, n_garbled)), true);
            }
            Ok(Status::Refused { is_too_much: true, .. }) if self.halve() => self.end(&|| Got::Again, true),
            Ok(Status::Refused { message, .. }) => {
                let message = format!("the batch `{id}` was refused by {}: {message}", self.host());
                let failed =
                    || Failed { is_final: true, may_cost: false, ..Failed::new(FaultKind::Status(400), &*message) };
                self.end(&|| Got::Failed(failed()), true);
            }
            // The batch of another account, or one that was deleted.
            Err(error) if error.kind == FaultKind::Status(404) => self.end(&|| Got::Again, true),
            Err(error) => self.end(&|| Got::Failed(self.uncollected(id, &error)), false),
            Ok(Status::InProgress { .. }) => {}
        }
    }

    /// The status of the batch once it has ended.
    async fn ended(&self, id: &str) -> Result<Status, Failed> {
        let longest = self.batches.options.longest_poll;
        let mut wait = FIRST_POLL.min(longest);
        let mut n_failed = 0;
        loop {
            match self.status(id).await {
                Ok(Status::InProgress { n_done }) => {
                    n_failed = 0;
                    if let Some(batch) = self.batches.lock().batches.get_mut(self.token) {
                        batch.n_done = n_done;
                    }
                }
                Ok(status) => return Ok(status),
                Err(error) => {
                    n_failed += 1;
                    let Some(pause) = self.pause(&error, n_failed) else { return Err(error) };
                    wait = wait.max(pause);
                }
            }
            waited(wait).await;
            wait = wait.mul_f64(1.5).min(longest);
        }
    }

    async fn status(&self, id: &str) -> Result<Status, Failed> {
        let reply = self.fetched(&(self.protocol.status)(id)).await?;
        (self.protocol.read_status)(&reply).map_err(|it| self.garbled(&it))
    }

    /// Reads the lines of results. When the connection ends in the middle they are read again: what was handed on stays so.
    async fn read_results(&self, id: &str, path: &str, n_garbled: &mut u64) -> Result<(), Failed> {
        let request = super::protocol::get(path.to_owned());
        let mut n_failed = 0;
        loop {
            let (mut rest, mut n_wrong) = (Vec::new(), 0);
            let mut take = |piece: &[u8]| {
                rest.extend_from_slice(piece);
                let Some(end) = rest.iter().rposition(|it| *it == b'\n') else { return };
                for line in rest[..end].split(|it| *it == b'\n') {
                    n_wrong += u64::from(!self.take_line(id, line));
                }
                rest.drain(..=end);
            };
            let error = match self.transport.fetch(self.model, &request, &mut take).await {
                Ok(()) => {
                    *n_garbled += n_wrong + u64::from(!self.take_line(id, &rest));
                    return Ok(());
                }
                Err(error) => error,
            };
            n_failed += 1;
            let Some(wait) = self.pause(&error, n_failed) else { return Err(error) };
            waited(wait).await;
        }
    }

    /// Hands a line of results to the request that waits for it; false when it cannot be read.
    fn take_line(&self, id: &str, line: &[u8]) -> bool {
        if line.trim_ascii().is_empty() {
            return true;
        }
        let Ok((key, result)) = (self.protocol.read_line)(line) else { return false };
        let Some(key) = EffectKey::parse(&key) else { return true };
        let model = {
            let state = self.batches.lock();
            if !state.expects(self.token, key) {
                return true;
            }
            state.waiting.get(&key).map(|it| Arc::clone(&it.model))
        };
        if let Some(model) = model {
            let got = self.read_item(&model, id, result);
            self.batches.lock().give(self.token, key, got);
        }
        true
    }

    fn read_item(&self, model: &Model, id: &str, result: ItemResult<'_>) -> Got {
        let Kind::Http(http) = &model.kind else { return Got::Again };
        let in_batch = |failed: Failed| {
            let message = http.secrets.scrubbed(format!("{} (batch `{id}`)", failed.message));
            Got::Failed(Failed { message, ..failed })
        };
        match result {
            ItemResult::Response { status, request_id, body } => {
                let header = |name: &str| request_id.as_deref().filter(|_| name == "x-request-id");
                let received = Received { status, header: &header, body, at_ms: (self.transport.options.now_ms)() };
                match http.codec.decode(&model.endpoint, &received) {
                    Ok(mut reply) => {
                        http.secrets.scrub_reply(&mut reply);
                        reply.served.batch = Some(id.to_owned());
                        Got::Reply(Box::new(reply))
                    }
                    Err(failure) => in_batch(Failed::of(failure, self.host())),
                }
            }
            ItemResult::Error(body) => match error_in(body) {
                Some(failure) => in_batch(Failed::of(failure, self.host())),
                None => in_batch(self.garbled("an error without a message")),
            },
            ItemResult::None(lacking) => Got::Failed(self.lacking(id, lacking, 0)),
        }
    }

    /// Gives every request of the batch that still waits the same result. With `is_over` the batch is not looked at again.
    fn end(&self, got: &dyn Fn() -> Got, is_over: bool) {
        let mut state = self.batches.lock();
        for key in state.keys(self.token) {
            if !state.expects(self.token, key) {
                continue;
            }
            if is_over {
                state.give(self.token, key, got());
            } else {
                state.put(key, got());
            }
        }
        if let Some(batch) = state.batches.get_mut(self.token) {
            batch.stage = if is_over { Stage::Ended } else { Stage::Known };
            if batch.record.id.is_none() && is_over {
                self.batches.ledger.remove(self.token);
                state.batches.remove(self.token);
            }
        }
    }

    /// Makes the next batches half as large, and one at a time; false when this one cannot be smaller.
    fn halve(&self) -> bool {
        let mut state = self.batches.lock();
        let State { batches, queues, .. } = &mut *state;
        let Some(batch) = batches.get(self.token) else { return false };
        let n_requests = batch.record.keys.len();
        let queue = batch.queue.as_ref().and_then(|it| queues.get_mut(it));
        let Some(queue) = queue.filter(|_| n_requests > 1) else { return false };
        queue.most_requests = queue.most_requests.min(n_requests / 2);
        queue.is_alone = true;
        true
    }

    async fn fetched(&self, request: &WireRequest) -> Result<Vec<u8>, Failed> {
        let mut reply = Vec::new();
        self.transport.fetch(self.model, request, &mut |piece| reply.extend_from_slice(piece)).await?;
        Ok(reply)
    }

    /// How long to wait after a request about the batch failed; `None` when another one is useless.
    fn pause(&self, error: &Failed, n_failed: u32) -> Option<Duration> {
        let options = &self.transport.options;
        if error.is_final || !may_be_repeated(error.kind) || n_failed >= MOST_ATTEMPTS {
            return None;
        }
        match error.retry_after {
            Some(wait) => Some(wait).filter(|it| *it <= options.max_pause),
            None => {
                let count = self.transport.n_waits.fetch_add(1, Ordering::Relaxed);
                Some(options.backoff.wait(n_failed, backoff::random(options.seed, count)))
            }
        }
    }

    fn lacking(&self, id: &str, lacking: Lacking, n_garbled: u64) -> Failed {
        let host = self.host();
        let (kind, message) = match lacking {
            Lacking::Expired => {
                (FaultKind::Timeout, format!("the batch `{id}` of {host} expired before this request was processed"))
            }
            Lacking::Cancelled => (
                FaultKind::Cancelled,
                format!("the batch `{id}` of {host} was cancelled before this request was processed"),
            ),
            Lacking::Lost => {
                let lines = match n_garbled {
                    0 => String::new(),
                    1 => "; a line of its results cannot be read".to_owned(),
                    n => format!("; {n} lines of its results cannot be read"),
                };
                (FaultKind::Cut, format!("the batch `{id}` of {host} ended without a result for this request{lines}"))
            }
        };
        Failed { may_cost: lacking == Lacking::Lost, ..Failed::new(kind, message) }
    }

    /// The batch may have ended well, and is collected by a later run.
    fn uncollected(&self, id: &str, error: &Failed) -> Failed {
        let message = format!("the batch `{id}` could not be collected: {}; the next run tries again", error.message);
        Failed { message, is_final: true, may_cost: true, ..repeated(error) }
    }

    fn garbled(&self, message: &str) -> Failed {
        Failed::new(FaultKind::Garbled, format!("invalid reply from {} about a batch: {message}", self.host()))
    }

    fn host(&self) -> &str {
        self.model.host().unwrap_or_default()
    }
}

enum Submitted {
    File(String),
    Batch(String),
}

fn submission<'s>(record: &'s Record, requests: &'s [u8], file: &'s str) -> Submission<'s> {
    Submission { token: &record.token, path: &record.path, n_requests: record.keys.len(), requests, file }
}

/// The same failure for another request.
fn repeated(error: &Failed) -> Failed {
    Failed {
        kind: error.kind,
        class: error.class,
        message: error.message.clone(),
        // It was waited for already.
        retry_after: None,
        is_final: error.is_final,
        may_cost: error.may_cost,
    }
}

/// No time is not even the shortest sleep.
async fn waited(wait: Duration) {
    if wait.is_zero() {
        tokio::task::yield_now().await;
    } else {
        tokio::time::sleep(wait).await;
    }
}
