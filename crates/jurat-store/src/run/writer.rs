//! Writing a run.
//!
//! One thread owns the file. What it is handed it writes in the order it came; effects are gathered for a few milliseconds, so that many
//! share a commit, and the caller that handed one over learns when it is safe. Once writing fails, nothing more is written, and every
//! caller learns why.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::block::Block;
use super::claim::Claim;
use super::error::{DuplicateIds, FinishError, WriteError};
use super::file::RunFile;
use super::reader::{EXPECTED_CASES, PROGRESS};
use super::shard::{SHARD, ShardMark};
use super::{FinishState, RunFileError, RunHead};
use crate::effects::RecordedEffect;
use crate::journal::AnswerStore;

/// How a run is written.
#[derive(Debug, Clone, Copy, Default)]
pub struct WriterOptions<'o> {
    /// Whether each commit waits until the disk has it, so that it survives a power failure too.
    pub durable: bool,
    /// What takes effects which ask for it: the journal of the project, or the segments of a shard.
    pub journal: Option<AnswerStore<'o>>,
}

/// A run that is being written.
///
/// It can be shared between threads. Dropped without [`RunWriter::finish`], it leaves a run that [`RunWriter::resume`] resumes.
#[derive(Debug)]
pub struct RunWriter {
    path: PathBuf,
    messages: Sender<Message>,
    blocks: Arc<Permits>,
    copies: Arc<AtomicU64>,
    failure: Arc<OnceLock<WriteError>>,
    thread: Option<JoinHandle<()>>,
}

/// A row of the summary that is not counted from verdicts: cost, tokens, times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SummaryRow {
    pub column: super::Column,
    /// The slice; empty for the whole.
    pub slice: String,
    /// What it says, as JSON.
    pub body: String,
}

/// Called on the writer's thread when effects are safe, or cannot be. It must not wait for the writer, which waits for it.
pub type Done = Box<dyn FnOnce(Result<(), WriteError>) + Send>;

/// A message to the thread.
pub(super) enum Message {
    Block(Box<Block>),
    Effects(Vec<RecordedEffect>, Done),
    Copy(Box<RecordedEffect>),
    Event(u64, String),
    Summary(Vec<SummaryRow>),
    Document(super::Document),
    Fact(&'static str, String),
    Sync(SyncSender<Result<(), WriteError>>),
    Finish(FinishState, SyncSender<Result<Option<DuplicateIds>, WriteError>>),
}

impl RunWriter {
    /// Begins a run in a new file.
    pub fn create(path: &Path, head: &RunHead, options: WriterOptions<'_>) -> Result<RunWriter, RunFileError> {
        let claim = Claim::new(path)?;
        let file = RunFile::create(path, head, options)?;
        Ok(RunWriter::start(path, file, claim))
    }

    /// Resumes a run that was killed or stopped. Its effects stay; what is computed from them is computed again.
    pub fn resume(path: &Path, options: WriterOptions<'_>) -> Result<RunWriter, RunFileError> {
        let claim = Claim::new(path)?;
        let file = RunFile::resume(path, options)?;
        Ok(RunWriter::start(path, file, claim))
    }

    fn start(path: &Path, file: RunFile, claim: Claim) -> RunWriter {
        let (messages, waiting) = channel();
        let blocks = Arc::new(Permits::new(MOST_BLOCKS));
        let copies = Arc::new(AtomicU64::new(0));
        let failure = Arc::new(OnceLock::new());
        let writing = Writing {
            file: Some(file),
            claim: Some(claim),
            blocks: blocks.clone(),
            copies: copies.clone(),
            failure: failure.clone(),
            due: None,
        };
        let thread = thread::Builder::new().name("jurat-writer".to_owned()).spawn(move || writing.run(&waiting));
        // Without a thread the channel is closed, and the first message says so.
        RunWriter { path: path.to_owned(), messages, blocks, copies, failure, thread: thread.ok() }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Hands over a block. Waits while too many are not written yet.
    pub fn block(&self, block: Block) -> Result<(), WriteError> {
        self.blocks.take();
        self.send(Message::Block(Box::new(block)))
    }

    /// Hands over effects; `done` is called on the writer's thread, once they are committed. Does not wait.
    pub fn effects(&self, effects: Vec<RecordedEffect>, done: Done) {
        if let Err(unsent) = self.messages.send(Message::Effects(effects, done))
            && let Message::Effects(_, done) = unsent.0
        {
            done(Err(self.failure()));
        }
    }

    /// Hands over an effect that is safe elsewhere. The caller does not learn when it is committed, which may take a while. Does not wait; a caller that hands over many has
    /// to see to it that not [too many](RunWriter::bytes_of_copies) are waiting.
    pub fn copy(&self, effect: RecordedEffect) -> Result<(), WriteError> {
        self.copies.fetch_add(n_bytes(&effect), Ordering::Relaxed);
        self.send(Message::Copy(Box::new(effect)))
    }

    /// How many bytes the copies take that were handed over and are not written yet.
    pub fn bytes_of_copies(&self) -> u64 {
        self.copies.load(Ordering::Relaxed)
    }

    /// Writes down that something happened.
    pub fn event(&self, at_ms: u64, text: impl Into<String>) -> Result<(), WriteError> {
        self.send(Message::Event(at_ms, text.into()))
    }

    /// Writes rows of the summary, in place of what they said before.
    pub fn summary(&self, rows: Vec<SummaryRow>) -> Result<(), WriteError> {
        self.send(Message::Summary(rows))
    }

    /// Writes a document, in place of what it said before.
    pub fn document(&self, document: super::Document) -> Result<(), WriteError> {
        self.send(Message::Document(document))
    }

    /// Says how many cases the run will have, once that is known.
    pub fn expected_cases(&self, n: u64) -> Result<(), WriteError> {
        self.send(Message::Fact(EXPECTED_CASES, n.to_string()))
    }

    /// Says how far the run has come, as JSON, in place of what was said before. It is gone when the run has ended.
    pub fn progress(&self, json: String) -> Result<(), WriteError> {
        self.send(Message::Fact(PROGRESS, json))
    }

    /// Says that the run is a shard of a larger one. It is whole then.
    pub fn shard(&self, mark: &ShardMark) -> Result<(), WriteError> {
        self.send(Message::Fact(SHARD, serde_json::to_string(mark).expect("texts and numbers are JSON")))
    }

    /// Waits until everything that was handed over so far is committed.
    pub fn sync(&self) -> Result<(), WriteError> {
        let (answer, answered) = sync_channel(1);
        self.send(Message::Sync(answer))?;
        answered.recv().unwrap_or_else(|_| Err(self.failure()))
    }

    /// Ends the run: puts its ids in order, and leaves one file that can be read wherever it is.
    pub fn finish(self, state: FinishState) -> Result<(), FinishError> {
        let (answer, answered) = sync_channel(1);
        self.send(Message::Finish(state, answer))?;
        let finished = answered.recv().unwrap_or_else(|_| Err(self.failure()));
        match finished? {
            None => Ok(()),
            Some(duplicates) => Err(duplicates.into()),
        }
    }

    fn send(&self, message: Message) -> Result<(), WriteError> {
        if let Some(failure) = self.failure.get() {
            return Err(failure.clone());
        }
        self.messages.send(message).map_err(|_| self.failure())
    }

    fn failure(&self) -> WriteError {
        self.failure.get().cloned().unwrap_or(WriteError::Gone)
    }
}

impl Drop for RunWriter {
    fn drop(&mut self) {
        // The thread ends when all senders are gone, and the file is closed when it has ended.
        let (closed, _) = channel();
        drop(std::mem::replace(&mut self.messages, closed));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// How many blocks may wait to be written.
const MOST_BLOCKS: usize = 4;
/// How long effects are gathered at most, in steps.
const GATHERING: u32 = 5;
/// When nothing came for so long, what is there is committed.
const STEP: Duration = Duration::from_millis(1);
/// How long what no caller waits for may stay uncommitted, and so unseen by readers.
const OPEN: Duration = Duration::from_millis(250);
/// The same for effects that are safe in the journal. A resumed run finds them there, but does not know that it was the one that paid for them.
const OPEN_EFFECTS: Duration = Duration::from_millis(50);
/// How many effects are gathered at most.
const MOST_EFFECTS: usize = 256;

struct Writing {
    file: Option<RunFile>,
    claim: Option<Claim>,
    blocks: Arc<Permits>,
    copies: Arc<AtomicU64>,
    failure: Arc<OnceLock<WriteError>>,
    /// When what is written is committed at the latest.
    due: Option<Instant>,
}

impl Writing {
    fn run(mut self, waiting: &Receiver<Message>) {
        let mut batch = Vec::new();
        while let Some(message) = self.next(waiting) {
            batch.push(message);
            batch.extend(waiting.try_iter().take(MOST_EFFECTS));
            gather(&mut batch, waiting);
            self.write(&mut batch);
        }
        // The file first: the next process that claims the run must not find it open.
        let _ = self.commit();
        drop(self.file.take());
        drop(self.claim.take());
    }

    /// The next message. Until it comes, what was written is committed when its time is up.
    fn next(&mut self, waiting: &Receiver<Message>) -> Option<Message> {
        if let Some(due) = self.due {
            match waiting.recv_timeout(due.saturating_duration_since(Instant::now())) {
                Ok(message) => return Some(message),
                Err(RecvTimeoutError::Disconnected) => return None,
                // If it fails, the next caller gets the reason.
                Err(RecvTimeoutError::Timeout) => drop(self.commit()),
            }
        }
        waiting.recv().ok()
    }

    /// Writes a batch, then informs all callers. Blocks are made again when a run is resumed, copies are safe elsewhere, and effects may be safe in the journal: they
    /// share commits. What a caller waits for and is safe nowhere else is committed at once.
    fn write(&mut self, batch: &mut Vec<Message>) {
        let mut result = self.attempt(|file| file.write(batch));
        let has_effects = batch.iter().any(|it| matches!(it, Message::Effects(..)));
        let now = Instant::now();
        let due = now + if has_effects { OPEN_EFFECTS } else { OPEN };
        let due = *self.due.insert(self.due.map_or(due, |it| it.min(due)));
        if result.is_ok() && (batch.iter().any(|it| self.is_awaited(it)) || now >= due) {
            result = self.commit();
        }
        for message in batch.drain(..) {
            match message {
                Message::Block(_) => self.blocks.give(),
                Message::Effects(_, done) => done(result.clone()),
                Message::Sync(answer) => drop(answer.send(result.clone())),
                Message::Finish(state, answer) => drop(answer.send(result.clone().and_then(|()| self.finish(state)))),
                Message::Copy(effect) => drop(self.copies.fetch_sub(n_bytes(&effect), Ordering::Relaxed)),
                Message::Event(..) | Message::Summary(_) | Message::Document(_) | Message::Fact(..) => {}
            }
        }
    }

    fn is_awaited(&self, message: &Message) -> bool {
        let is_safe = |it: &RecordedEffect| self.file.as_ref().is_some_and(|file| file.is_safe(it));
        match message {
            Message::Effects(effects, _) => !effects.iter().all(is_safe),
            Message::Sync(_) | Message::Finish(..) => true,
            _ => false,
        }
    }

    fn commit(&mut self) -> Result<(), WriteError> {
        self.due = None;
        self.attempt(RunFile::commit)
    }

    /// Does something with the file, unless something failed before.
    fn attempt(&mut self, work: impl FnOnce(&mut RunFile) -> Result<(), RunFileError>) -> Result<(), WriteError> {
        if let Some(failure) = self.failure.get() {
            return Err(failure.clone());
        }
        let done = self.file.as_mut().ok_or(WriteError::Gone).and_then(|file| Ok(work(file)?));
        done.inspect_err(|it| drop(self.failure.set(it.clone())))
    }

    fn finish(&mut self, state: FinishState) -> Result<Option<DuplicateIds>, WriteError> {
        let finished = self.file.take().ok_or(WriteError::Gone).and_then(|file| Ok(file.finish(state)?));
        drop(self.claim.take());
        finished.inspect_err(|it| drop(self.failure.set(it.clone())))
    }
}

impl Drop for Writing {
    /// However the thread ends, no caller waits for it.
    fn drop(&mut self) {
        self.blocks.close();
    }
}

fn n_bytes(effect: &RecordedEffect) -> u64 {
    let media: usize = effect.media.iter().map(|(_, it)| it.len()).sum();
    (effect.request.len() + effect.outcome.len() + media) as u64
}

/// Waits for more effects, when there is one and no caller waits for something else.
fn gather(batch: &mut Vec<Message>, waiting: &Receiver<Message>) {
    let n_effects = |batch: &[Message]| {
        let count = |it: &Message| if let Message::Effects(effects, _) = it { effects.len() } else { 0 };
        batch.iter().map(count).sum::<usize>()
    };
    for _ in 0..GATHERING {
        let is_urgent = batch.iter().any(|it| matches!(it, Message::Sync(_) | Message::Finish(..)));
        let n = n_effects(batch);
        if n == 0 || n >= MOST_EFFECTS || is_urgent {
            return;
        }
        // Sleeping rather than receiving: a wake-up for each effect would cost more than the effect.
        thread::sleep(STEP);
        let before = batch.len();
        batch.extend(waiting.try_iter().take(MOST_EFFECTS));
        if batch.len() == before {
            return;
        }
    }
}

/// A limited number of permits; unlimited once they are closed.
#[derive(Debug)]
struct Permits {
    left: Mutex<Option<usize>>,
    returned: Condvar,
}

impl Permits {
    fn new(n: usize) -> Permits {
        Permits { left: Mutex::new(Some(n)), returned: Condvar::new() }
    }

    fn take(&self) {
        let left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let mut left = self.returned.wait_while(left, |it| *it == Some(0)).unwrap_or_else(PoisonError::into_inner);
        *left = left.map(|it| it - 1);
    }

    fn give(&self) {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        *left = left.map(|it| it + 1);
        self.returned.notify_one();
    }

    fn close(&self) {
        *self.left.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.returned.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use jurat_core::effect::{Asker, EffectKey, StepSite};
    use jurat_core::plan::CaseIx;

    use super::*;

    #[test]
    fn every_caller_learns_of_a_full_disk_and_what_was_safe_stays() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("run.jurat");
        let claim = Claim::new(&path).expect("no process writes it");
        let file = RunFile::create(&path, &RunHead::default(), WriterOptions::default()).expect("a run");
        file.limit(64);
        let writer = RunWriter::start(&path, file, claim);
        let record = |ix: u8| {
            let (done, is_done) = channel();
            let effect = RecordedEffect {
                case_ix: CaseIx::numbered(ix.into()),
                site: StepSite { asker: Asker::Case, slot: 0, turn: 0 },
                attempt: 0,
                key: EffectKey([ix; 32]),
                kind: "model".to_owned(),
                model: String::new(),
                served: None,
                at_ms: 0,
                request: String::new(),
                outcome: "answer ".repeat(200),
                reused: false,
                journal: false,
                media: Vec::new(),
            };
            writer.effects(vec![effect], Box::new(move |result| drop(done.send(result))));
            is_done.recv().expect("every caller gets a result")
        };
        let safe: Vec<u8> = (0..u8::MAX).take_while(|it| record(*it).is_ok()).collect();
        let expected = format!(
            "no space left on the device to write `{}`; free some space and run the command again; the results so far are saved",
            path.display()
        );
        assert!((1..255).contains(&safe.len()));
        assert_eq!(record(0).expect_err("nothing is written any more").to_string(), expected);
        assert_eq!(writer.sync().expect_err("nothing is written any more").to_string(), expected);
        drop(writer);
        let reader = crate::run::RunReader::open(&path).expect("a run");
        let stored = reader.effects().map(|it| it.expect("an effect").case_ix);
        assert!(stored.eq(safe.into_iter().map(|it| CaseIx::numbered(it.into()))));
    }
}
