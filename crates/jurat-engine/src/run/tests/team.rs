//! A journal of a team that takes its time.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jurat_core::effect::{EffectKey, Role};
use jurat_core::verdict::StopReason;
use jurat_store::journal::{Journal, JournalAnswer, PaidAnswer, SharedError, SharedJournal};
use jurat_store::run::{Column, RunHead, RunReader, TaskHead, Variant};

use super::{Bench, CaseIx, Job, Mode, NonZeroUsize, Scripted, Selection, Stop, Target, run};
use crate::sharing::Sharing;
use crate::variants::Asked;

/// A journal that is reached and never answers a lookup.
struct Silent {
    /// Called when something is looked up.
    looked: Arc<dyn Fn() + Send + Sync>,
    until: Receiver<()>,
}

impl SharedJournal for Silent {
    fn id(&self) -> &str {
        "silent"
    }

    fn find(&mut self, _: &[EffectKey]) -> Result<Vec<(EffectKey, JournalAnswer)>, SharedError> {
        (self.looked)();
        let _ = self.until.recv();
        Err(SharedError::Refused("it was silent".to_owned()))
    }

    fn add(&mut self, _: &[PaidAnswer], _: Duration) -> Result<u64, SharedError> {
        Err(SharedError::Refused("it takes nothing".to_owned()))
    }
}

/// A run's connection to it, and what ends its silence when it is dropped.
fn silent(journal: &Journal, looked: impl Fn() + Send + Sync + 'static) -> (Sharing, Sender<()>) {
    let (end, until) = channel();
    let once = Mutex::new(Some(Silent { looked: Arc::new(looked), until }));
    let connect = move |_| {
        let silent = once.lock().expect("no test panics with it").take();
        let silent = silent.ok_or_else(|| SharedError::Refused("it was reached before".to_owned()))?;
        Ok(Box::new(silent) as Box<dyn SharedJournal>)
    };
    (Sharing::start(Box::new(connect), journal.path()).0, end)
}

fn asking<'m>(perform: &'m Scripted<'_>, journal: &'m Journal, shared: &'m Sharing) -> Mode<'m> {
    Mode::Ask { perform, journal: Some(journal.into()), shared: Some(shared), fresh: false, max_age: None }
}

#[test]
fn a_run_that_is_ended_does_not_wait_for_a_lookup() {
    let bench = Bench::new();
    let journal = Journal::open(&bench.directory.path().join("journal.db")).expect("a journal");
    let stop = Arc::new(Stop::new());
    let stopped = Arc::clone(&stop);
    let (sharing, end) = silent(&journal, move || stopped.drop_all(StopReason::Interrupted));
    let perform = Scripted { is_shared: true, ..Scripted::new(&|_| {}) };
    let target = Target::New(&bench.path(), &bench.head());
    let ran = bench.run(asking(&perform, &journal, &sharing), target, &stop);
    assert_eq!((ran.stopped, perform.n_asked()), (Some(StopReason::Interrupted), 0));
    drop(end);
}

/// A conversation whose turn may take less time than a lookup is waited for.
const TALK: &str = "
models: { subject: script/replies.yaml }
scenarios: { talk: { entry: ask, turn_timeout: 1500ms, nodes: { ask: { question: Hello? } }, outcomes: { done: { status_is: completed } } } }
";

#[test]
fn a_conversation_does_not_pay_for_lookups_with_its_time() {
    let bench = Bench::of(TALK);
    let journal = Journal::open(&bench.directory.path().join("journal.db")).expect("a journal");
    let (sharing, end) = silent(&journal, || {});
    let perform = Scripted { is_shared: true, ..Scripted::new(&|_| {}) };
    let head = |id: &str| TaskHead { id: id.to_owned(), kind: "outcome".to_owned(), ..TaskHead::default() };
    let tasks = bench.plan.tasks.iter().map(|it| head(&it.id)).collect();
    let head = RunHead { id: "run".to_owned(), tasks, variants: vec![Variant::default()], ..RunHead::default() };
    let job = Job {
        plan: &bench.plan,
        records: &bench.suite.records,
        selection: &Selection::default(),
        home: bench.directory.path().to_owned(),
        agent_files: bench.directory.path().join("agents"),
        variants: vec![Variant::default()],
        asked: vec![Asked { prompt: 0, model: Role::SUBJECT, name: "echo".to_owned(), replicate: 0 }],
        mode: asking(&perform, &journal, &sharing),
        threads: NonZeroUsize::MIN,
        concurrency: 4,
        deadline: None,
        fail_fast: false,
        keep_going: false,
        keep_all: false,
        durable: false,
        watch: None,
        shard: None,
    };
    let path = bench.path();
    let target = Target::New(&path, &head);
    run(&job, target, &mut std::io::empty(), &Stop::new(), &bench.progress).expect("the run can be written");
    assert_eq!(perform.n_asked(), 1, "the model is asked after a while");
    let reader = RunReader::open(&path).expect("the run can be read");
    let codes: Vec<String> = reader
        .cases(CaseIx::ALL)
        .map(|it| format!("{:?}", it.expect("the case can be read").code(Column::CASE)))
        .collect();
    assert_eq!(codes, ["Passed"]);
    drop(end);
    assert_eq!(sharing.end().n_unanswered, 1);
}
