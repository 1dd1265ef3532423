//! Runs against a scripted performer: no process, no socket, no waiting.

mod stopping;
mod team;
mod threads;
mod unseen;

use std::cell::{Cell, RefCell};
use std::future::{pending, ready};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use jurat_core::effect::{Answer, Asker, Endpoint, EndpointKey, Outcome, PerformerKey, Request, StepSite};
use jurat_core::plan::{CaseIx, CaseSource, Plan, Samples, TaskIx};
use jurat_core::suite::{Loaded, Suite, load};
use jurat_core::verdict::StopReason;
use jurat_format::source::{Files, ReadError, Sources};
use jurat_model::Toolbox;
use jurat_store::run::{Column, Ended, RunHead, RunReader, TaskHead, Variant};
use tempfile::TempDir;

use super::{Job, Mode, Ran, Target, not_before, run};
use crate::perform::{Call, LocalFuture, Perform, Performer};
use crate::rows::Selection;
use crate::stopping::StopWatch;
use crate::tally::{Origin, Taken, Tally};
use crate::{Progress, Roles, RunError, Stop};

/// Four rows, each with two judges of which the second waits for the first.
const SUITE: &str = "
records: [{ id: a, said: yes }, { id: b, said: no }, { id: c, said: yes }, { id: d, said: maybe }]
models: { judge: script/replies.yaml }
tasks:
  - { id: first, judge: { prompt: 'first ${said}' }, operator: contains, expected_value: yes }
  - { id: second, depends_on: [first], judge: { prompt: 'second ${said} ${first}' }, operator: contains, expected_value: yes }
";

struct OneFile(String);

impl Files for OneFile {
    fn read(&self, _: &Path, _: u64) -> Result<Vec<u8>, ReadError> {
        Ok(self.0.as_bytes().to_vec())
    }
}

/// A model that says back what it was asked.
struct Scripted<'s> {
    endpoint: Arc<Endpoint>,
    key: EndpointKey,
    /// What was asked, in order.
    asked: RefCell<Vec<String>>,
    /// Called with the number of the question, from 1.
    before: &'s dyn Fn(usize),
    /// The questions that are never answered, from this number on.
    silent_from: usize,
    /// One more that is never answered.
    silent: Option<usize>,
    /// How many questions the budget allows.
    budget: usize,
    is_exhausted: Cell<bool>,
    is_sequential: bool,
    /// Whether the journal stores its answers.
    is_shared: bool,
}

impl<'s> Scripted<'s> {
    fn new(before: &'s dyn Fn(usize)) -> Scripted<'s> {
        let endpoint = Endpoint {
            codec: "scripted".to_owned(),
            codec_revision: 1,
            address: String::new(),
            model: "echo".to_owned(),
            settings: Vec::new(),
            headers: Vec::new(),
            shared: None,
        };
        Scripted {
            key: EndpointKey::new(&endpoint),
            endpoint: Arc::new(endpoint),
            asked: RefCell::default(),
            before,
            silent_from: usize::MAX,
            silent: None,
            budget: usize::MAX,
            is_exhausted: Cell::new(false),
            is_sequential: false,
            is_shared: false,
        }
    }

    fn n_asked(&self) -> usize {
        self.asked.borrow().len()
    }
}

impl Perform for Scripted<'_> {
    fn performer(&self, _: &Request) -> Option<Performer<'_>> {
        let key = PerformerKey::Endpoint(&self.key);
        let (is_shared, endpoint) = (self.is_shared, Some(&self.endpoint));
        Some(Performer { key, endpoint, is_shared, is_for_team: is_shared, is_stateful: false })
    }

    fn perform<'p>(&'p self, call: Call<'p>) -> LocalFuture<'p, Outcome> {
        let Request::Model(request) = call.request else { return Box::pin(pending()) };
        if let Some(reason) = call.stop.reason() {
            return Box::pin(ready(Outcome::NotRun(reason)));
        }
        if self.n_asked() >= self.budget {
            self.is_exhausted.set(true);
            return Box::pin(ready(Outcome::NotRun(StopReason::Budget)));
        }
        let text = request.messages.iter().last().map(|it| it.text().to_owned()).unwrap_or_default();
        self.asked.borrow_mut().push(text.clone());
        let number = self.n_asked();
        (self.before)(number);
        (call.sent)();
        if number >= self.silent_from || self.silent == Some(number) {
            return Box::pin(pending());
        }
        Box::pin(ready(Outcome::Answer(Box::new(Answer::new(text)))))
    }

    fn own_tools(&self) -> Option<Toolbox> {
        None
    }

    fn is_sequential(&self) -> bool {
        self.is_sequential
    }

    fn exhausted(&self) -> Option<StopReason> {
        self.is_exhausted.get().then_some(StopReason::Budget)
    }
}

struct Bench {
    suite: Suite,
    sources: Sources,
    plan: Plan,
    directory: TempDir,
    progress: Progress,
}

impl Bench {
    fn new() -> Bench {
        Bench::of(SUITE)
    }

    fn of(suite: &str) -> Bench {
        let Loaded { suite, sources, problems } = load(Path::new("suite.yaml"), &OneFile(suite.to_owned()));
        assert_eq!(problems, []);
        let (plan, _) = Plan::build(&suite, &Samples::default()).expect("the suite is sound");
        let directory = TempDir::new().expect("the system has a place for temporary files");
        Bench { suite, sources, plan, directory, progress: Progress::default() }
    }

    fn path(&self) -> PathBuf {
        self.directory.path().join("run.jurat")
    }

    fn head(&self) -> RunHead {
        let task = |id: &str| TaskHead {
            id: id.to_owned(),
            kind: "judge".to_owned(),
            gate: String::new(),
            stage: 1,
            path: None,
            operator: None,
            expected: None,
        };
        RunHead { id: "run".to_owned(), tasks: vec![task("first"), task("second")], ..RunHead::default() }
    }

    fn run(&self, mode: Mode<'_>, target: Target<'_>, stop: &Stop) -> Ran {
        self.run_watched(mode, target, stop, None)
    }

    fn run_watched(&self, mode: Mode<'_>, target: Target<'_>, stop: &Stop, watch: Option<StopWatch>) -> Ran {
        self.try_run(mode, target, stop, watch).expect("the run can be written")
    }

    fn try_run(
        &self,
        mode: Mode<'_>,
        target: Target<'_>,
        stop: &Stop,
        watch: Option<StopWatch>,
    ) -> Result<Ran, RunError> {
        self.try_run_on(NonZeroUsize::MIN, (mode, target), stop, watch)
    }

    fn try_run_on(
        &self,
        threads: NonZeroUsize,
        (mode, target): (Mode<'_>, Target<'_>),
        stop: &Stop,
        watch: Option<StopWatch>,
    ) -> Result<Ran, RunError> {
        let job = Job {
            plan: &self.plan,
            records: &self.suite.records,
            selection: &Selection::default(),
            home: self.directory.path().to_owned(),
            agent_files: self.directory.path().join("agents"),
            variants: Vec::new(),
            asked: Vec::new(),
            mode,
            threads,
            concurrency: 4,
            deadline: None,
            fail_fast: false,
            keep_going: false,
            keep_all: false,
            durable: false,
            watch,
            shard: None,
        };
        run(&job, target, &mut std::io::empty(), stop, &self.progress)
    }

    /// A new run that asks.
    fn ask(&self, perform: &Scripted<'_>, stop: &Stop) -> Ran {
        self.run(asking(perform), Target::New(&self.path(), &self.head()), stop)
    }
}

fn asking<'m>(perform: &'m Scripted<'_>) -> Mode<'m> {
    Mode::Ask { perform, journal: None, shared: None, fresh: false, max_age: None }
}

/// Each case with its verdict and those of its tasks.
fn verdicts(path: &Path) -> Vec<String> {
    let reader = RunReader::open(path).expect("the run can be read");
    let case = |case: jurat_store::run::StoredCase| {
        let codes = [Column::CASE, Column::from(TaskIx(0)), Column::from(TaskIx(1))];
        let codes = codes.map(|it| format!("{:?}", case.code(it)));
        format!("{}: {}", case.id, codes.join(" "))
    };
    reader.cases(CaseIx::ALL).map(|it| case(it.expect("the case can be read"))).collect()
}

const ALL: [&str; 4] =
    ["a: Passed Passed Passed", "b: Failed Failed Failed", "c: Passed Passed Passed", "d: Failed Failed Failed"];

#[test]
fn the_order_of_outcomes_changes_nothing() {
    for is_sequential in [false, true] {
        let bench = Bench::new();
        let perform = Scripted { is_sequential, ..Scripted::new(&|_| {}) };
        let ran = bench.ask(&perform, &Stop::new());
        assert_eq!((ran.stopped, perform.n_asked()), (None, 8));
        assert_eq!(verdicts(&ran.path), ALL);
        let mut asked = perform.asked.into_inner();
        if is_sequential {
            assert_eq!(asked[..2], ["first yes", "second yes first yes"]);
        }
        asked.sort();
        assert_eq!(asked[0], "first maybe");
    }
}

#[test]
fn a_run_that_was_stopped_resumes_with_what_is_missing() {
    for n_before in 1..8 {
        let bench = Bench::new();
        let stop = Stop::new();
        let interrupt = |number: usize| {
            if number == n_before {
                stop.close(StopReason::Interrupted);
            }
        };
        let perform = Scripted { is_sequential: true, ..Scripted::new(&interrupt) };
        let ran = bench.ask(&perform, &stop);
        assert_eq!((ran.stopped, perform.n_asked()), (Some(StopReason::Interrupted), n_before));

        let again = Scripted { is_sequential: true, ..Scripted::new(&|_| {}) };
        let ran = bench.run(asking(&again), Target::Resume(&bench.path()), &Stop::new());
        assert_eq!((ran.stopped, again.n_asked()), (None, 8 - n_before));
        assert_eq!(verdicts(&ran.path), ALL);
    }
}

#[test]
fn a_replay_asks_nothing() {
    let bench = Bench::new();
    let recorded = bench.ask(&Scripted::new(&|_| {}), &Stop::new());
    let recording = RunReader::open(&recorded.path).expect("the run can be read");
    let path = bench.directory.path().join("replay.jurat");
    let ran = bench.run(Mode::Replay(&recording, &Roles::default()), Target::New(&path, &bench.head()), &Stop::new());
    assert_eq!((ran.stopped, verdicts(&path)), (None, verdicts(&recorded.path)));
}

#[test]
fn what_the_budget_does_not_allow_is_not_run() {
    let bench = Bench::new();
    let perform = Scripted { budget: 3, is_sequential: true, ..Scripted::new(&|_| {}) };
    let ran = bench.ask(&perform, &Stop::new());
    assert_eq!((ran.stopped, perform.n_asked()), (Some(StopReason::Budget), 3));
    let expected =
        ["a: Passed Passed Passed", "b: NotRun Failed NotRun", "c: NotRun NotRun NotRun", "d: NotRun NotRun NotRun"];
    assert_eq!(verdicts(&ran.path), expected);
    let finish = RunReader::open(&ran.path).expect("the run can be read").state().expect("it has a state").finish;
    assert_eq!(finish.map(|it| (it.ended, it.resumable)), Some((Ended::Stopped(StopReason::Budget), true)));
}

#[test]
fn what_is_in_flight_can_be_dropped() {
    let bench = Bench::new();
    let stop = Stop::new();
    let abort = |number: usize| {
        if number == 4 {
            stop.drop_all(StopReason::Interrupted);
        }
    };
    let perform = Scripted { silent_from: 2, ..Scripted::new(&abort) };
    let ran = bench.ask(&perform, &stop);
    assert_eq!(ran.stopped, Some(StopReason::Interrupted));

    let again = Scripted::new(&|_| {});
    let ran = bench.run(asking(&again), Target::Resume(&bench.path()), &Stop::new());
    assert_eq!((ran.stopped, verdicts(&ran.path)), (None, ALL.map(str::to_owned).to_vec()));
    assert_eq!(again.n_asked(), 7, "the answer that arrived is not asked for again");
}

#[test]
fn a_run_that_goes_on_finds_what_it_was_answered() {
    let hour = Duration::from_secs(3600);
    let (now, an_hour_ago, began_long_ago) = (10_000_000, 6_400_000, 1_000);
    assert_eq!(not_before(false, None, now, now), None);
    assert_eq!(not_before(true, None, now, now), Some(now));
    assert_eq!(not_before(false, Some(hour), now, now), Some(an_hour_ago));
    assert_eq!(not_before(false, Some(hour), began_long_ago, now), Some(began_long_ago));
    assert_eq!(not_before(true, Some(hour), began_long_ago, now), Some(began_long_ago));
}

/// A judged row beside conversations of two subjects.
const BOTH: &str = "
records: [{ id: a, said: yes }]
models: { subject: [script/one.yaml, script/two.yaml], judge: script/replies.yaml }
scenarios: { talk: { entry: ask, nodes: { ask: { question: Hello? } }, outcomes: { done: { status_is: completed } } } }
tasks: [{ id: polite, on: [a], judge: { prompt: 'polite ${said}' }, operator: contains, expected_value: yes }]
";

#[test]
fn what_a_row_takes_counts_for_no_subject_of_scenarios() {
    let suite = load(Path::new("suite.yaml"), &OneFile(BOTH.to_owned())).suite;
    let (plan, _) = Plan::build(&suite, &Samples::default()).expect("the suite is sound");
    let subject = |name: &str| Variant { subject: name.to_owned(), ..Variant::default() };
    let variants = [subject("one"), subject("two")];
    let layout = plan.layout(variants.len());
    let tally = Tally::new(plan.tasks.len(), variants.len(), layout, Taken::default());
    for (source, variant) in [(CaseSource::Row(0), 0), (CaseSource::Scenario(0), 1)] {
        let site = StepSite { asker: Asker::Case, slot: 0, turn: 0 };
        tally.add(layout.case(source, variant), site, "", &Outcome::Answer(Box::new(Answer::new("yes"))), Origin::Paid);
    }
    let answers = |body: &str| serde_json::from_str::<serde_json::Value>(body).expect("it is JSON")["answers"].clone();
    let counted: Vec<_> = tally.rows(&variants).iter().map(|it| answers(&it.body)).collect();
    assert_eq!(counted, [2, 0, 1], "in all, of the first subject, of the second");
}
