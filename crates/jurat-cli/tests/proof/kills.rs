//! Nothing that was paid for is lost when a run is killed, and nothing is asked twice but what was in flight.
//!
//! Each trial runs a suite against an endpoint of its own, kills both without warning, starts them again, and so on until a run
//! is complete. The log of the endpoint survives and says what was asked; a copy of the journal, taken after each kill, says
//! what was stored.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::Child;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use jurat_testkit::{Endpoint, Event, LogLine, Process, Script, read_log, reserved_port};

use crate::project::{Ended, Project, RESULTS, timeless};
use crate::random::Random;
use crate::store::Snapshot;
use crate::suites::{ASKED, JUDGED, rows, talked};

const TRIALS: u64 = 200;
const WORKERS: usize = 4;
const ROWS: usize = 12;
const SCENARIOS: usize = 6;
const CONCURRENCY: u64 = 8;
const OPTIONS: &[&str] = &["-j", "8", "--quiet"];

#[test]
fn a_killed_run_resumes_without_losing_what_was_paid_for() {
    let references = [Reference::of(JUDGED), Reference::of(ASKED), Reference::of(&talked(SCENARIOS))];
    let (next, seen) = (AtomicU64::new(0), Mutex::new(Seen::default()));
    thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                while let Some(trial) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|it| *it < TRIALS) {
                    let of_trial = Trial::of(trial, &references).take();
                    seen.lock().unwrap_or_else(PoisonError::into_inner).add(&of_trial);
                }
            });
        }
    });
    let seen = seen.into_inner().unwrap_or_else(PoisonError::into_inner);
    println!("{seen:?}");
    assert!(seen.kills >= TRIALS, "{seen:?}");
    // Otherwise the trials would say nothing about the moment between an answer and its commit. How many kills hit it depends on the
    // machine: a tenth when it is idle.
    assert!(
        seen.aimed_between * 50 >= seen.aimed_kills,
        "too few kills came between an answer and its commit: {seen:?}"
    );
    assert!(seen.killed_runs_with_answers * 10 >= seen.kills, "too few kills came in the middle: {seen:?}");
    // What a kill may cost is what was in flight, and the answers since the last commit.
    assert!(seen.lost <= seen.kills * 2 * CONCURRENCY, "{seen:?}");
}

/// The results of an undisturbed run of a suite.
struct Reference {
    suite: String,
    results: String,
    /// The prompts that are asked, by the digest of their request.
    prompts: BTreeMap<u64, String>,
    took: Duration,
}

impl Reference {
    fn of(suite: &str) -> Reference {
        let script = Script::new().keep_requests().latency_between(FROM, TO, 0);
        let endpoint = Endpoint::start(script);
        let project = Project::new(suite, &rows(ROWS), &endpoint.url());
        let started = Instant::now();
        let ended = project.results(OPTIONS);
        let took = started.elapsed();
        assert_eq!(ended.code, Some(1), "{}", ended.stderr);
        let requests = endpoint.requests();
        let prompts: BTreeMap<u64, String> = requests.iter().map(|it| (it.digest(), it.prompt.clone())).collect();
        let texts: BTreeSet<&String> = prompts.values().collect();
        assert_eq!((prompts.len(), texts.len()), (requests.len(), requests.len()), "each prompt is asked once");
        assert!(requests.len() >= 2 * ROWS, "{}", requests.len());
        Reference { suite: suite.to_owned(), results: timeless(&ended.stdout), prompts, took }
    }

    fn prompt(&self, line: &LogLine) -> String {
        self.prompts.get(&line.digest).expect("a trial asks what an undisturbed run asks").clone()
    }
}

const FROM: Duration = Duration::from_millis(1);
const TO: Duration = Duration::from_millis(50);

/// What happened in all trials.
#[derive(Debug, Default)]
struct Seen {
    kills: u64,
    killed_runs_with_answers: u64,
    aimed_kills: u64,
    /// Aimed kills after an answer was sent and before it was stored.
    aimed_between: u64,
    /// Requests that were lost because of a kill.
    lost: u64,
}

impl Seen {
    fn add(&mut self, other: &Seen) {
        self.kills += other.kills;
        self.killed_runs_with_answers += other.killed_runs_with_answers;
        self.aimed_kills += other.aimed_kills;
        self.aimed_between += other.aimed_between;
        self.lost += other.lost;
    }
}

/// When a run is killed.
#[derive(Debug, Clone, Copy)]
enum Moment {
    /// So long after its start.
    After(Duration),
    /// As soon as the endpoint has sent this many answers.
    Sent(usize),
}

struct Trial<'r> {
    number: u64,
    random: Random,
    reference: &'r Reference,
    project: Project,
    port: u16,
    /// Without the journal the run's own file has to do.
    is_fresh: bool,
    /// Prompts whose answers are stored: they must not be asked again.
    stored: BTreeSet<String>,
    n_lines: usize,
    seen: Seen,
}

impl<'r> Trial<'r> {
    fn of(number: u64, references: &'r [Reference; 3]) -> Trial<'r> {
        let mut random = Random::new(number);
        let reference = &references[(number % 3) as usize];
        let port = reserved_port();
        let project = Project::new(&reference.suite, &rows(ROWS), &format!("http://127.0.0.1:{port}"));
        let is_fresh = random.below(4) == 0;
        Trial {
            number,
            random,
            reference,
            project,
            port,
            is_fresh,
            stored: BTreeSet::new(),
            n_lines: 0,
            seen: Seen::default(),
        }
    }

    fn take(mut self) -> Seen {
        for _ in 0..=self.random.below(3) {
            let moment = if self.random.below(2) == 0 {
                let most = self.reference.took.mul_f64(1.2).as_micros() as u64;
                Moment::After(Duration::from_micros(self.random.below(most)))
            } else {
                Moment::Sent(1 + self.random.below(self.reference.prompts.len() as u64 / 2) as usize)
            };
            self.kill_at(moment);
            if self.is_fresh && self.runs().iter().any(|it| it.ended().is_some()) {
                // The run was complete, so that the same command would ask everything anew.
                return self.seen;
            }
        }
        self.finish();
        self.seen
    }

    /// Runs the suite until a moment and looks at what is left.
    fn kill_at(&mut self, moment: Moment) {
        let mut endpoint = self.endpoint();
        let mut child = self.start();
        self.wait(&mut child, moment);
        let client_first = matches!(moment, Moment::Sent(_)) || self.random.below(2) == 0;
        if client_first {
            let _ = child.kill();
        }
        endpoint.kill();
        let _ = child.kill();
        child.wait().expect("a child that was killed ends");
        let lines = self.new_lines();
        let asked = self.asked(&lines);
        let before = self.stored.len();
        self.stored.append(&mut self.stored_now());
        let lost = asked.iter().filter(|it| !self.stored.contains(*it)).count() as u64;
        let sent = lines.iter().filter(|it| it.event == Event::Sent).map(|it| self.reference.prompt(it));
        let is_between = sent.into_iter().any(|it| !self.stored.contains(&it));
        let is_aimed = matches!(moment, Moment::Sent(_));
        self.seen.add(&Seen {
            kills: 1,
            killed_runs_with_answers: u64::from(
                self.stored.len() > before && self.stored.len() < self.reference.prompts.len(),
            ),
            aimed_kills: u64::from(is_aimed),
            aimed_between: u64::from(is_aimed && is_between),
            lost,
        });
    }

    /// Runs the suite to its end and compares.
    fn finish(&mut self) {
        let endpoint = self.endpoint();
        let ended: Ended = self.start().wait_with_output().expect("the command ends").into();
        drop(endpoint);
        let number = self.number;
        assert_eq!(ended.code, Some(1), "trial {number}: {}", ended.stderr);
        assert_eq!(timeless(&ended.stdout), self.reference.results, "trial {number}");
        let lines = self.new_lines();
        self.asked(&lines);
        let stored: BTreeSet<String> = self.reference.prompts.values().cloned().collect();
        assert_eq!(self.stored_now(), stored, "trial {number}");
        let journal = Snapshot::of(&self.project.journal()).expect("there is a journal");
        journal.assert_whole();
        for run in self.runs() {
            run.assert_whole();
            // A run that was killed before it had a beginning cannot be resumed.
            let is_begun = run.has_head();
            assert_eq!(run.ended().as_deref(), is_begun.then_some("done"), "trial {number}");
        }
        let begun: Vec<Snapshot> = self.runs().into_iter().filter(Snapshot::has_head).collect();
        if let [run] = &begun[..] {
            let paid = "SELECT json_extract(body, '$.live.answers') FROM summary WHERE task = 0 AND slice = ''";
            assert_eq!(run.number(paid), self.reference.prompts.len() as u64, "trial {number}: all processes paid for");
        }
    }

    fn endpoint(&self) -> Process {
        let (port, seed, log) = (self.port.to_string(), self.number.to_string(), self.log());
        let log = log.to_str().expect("temporary files have names that are text");
        Process::start(["--port", &port, "--latency", "1..50", "--seed", &seed, "--log", log])
    }

    fn start(&self) -> Child {
        let fresh: &[&str] = if self.is_fresh { &["--fresh"] } else { &[] };
        self.project.start(&[OPTIONS, RESULTS, fresh].concat())
    }

    fn wait(&self, child: &mut Child, moment: Moment) {
        match moment {
            Moment::After(time) => thread::sleep(time),
            Moment::Sent(n) => {
                let n_sent = || self.lines().iter().skip(self.n_lines).filter(|it| it.event == Event::Sent).count();
                while n_sent() < n && child.try_wait().expect("a child can be looked at").is_none() {
                    thread::sleep(Duration::from_micros(300));
                }
            }
        }
    }

    /// The prompts of requests that arrived: none of them twice, and none whose answer is stored.
    fn asked(&self, lines: &[LogLine]) -> BTreeSet<String> {
        let mut asked = BTreeSet::new();
        for line in lines.iter().filter(|it| it.event == Event::Arrived) {
            let prompt = self.reference.prompt(line);
            assert!(
                !self.stored.contains(&prompt),
                "trial {}: `{prompt}` was asked although it is stored",
                self.number
            );
            assert!(asked.insert(prompt.clone()), "trial {}: `{prompt}` was asked twice at once", self.number);
        }
        asked
    }

    /// The prompts whose answers are on disk.
    fn stored_now(&self) -> BTreeSet<String> {
        let journal = Snapshot::of(&self.project.journal());
        let mut stored = journal.map(|it| it.answered()).unwrap_or_default();
        for run in self.runs() {
            stored.append(&mut run.logged());
        }
        stored
    }

    fn runs(&self) -> Vec<Snapshot> {
        self.project.runs().iter().filter_map(|it| Snapshot::of(it)).collect()
    }

    /// The lines of the log since this was asked last.
    fn new_lines(&mut self) -> Vec<LogLine> {
        let lines = self.lines().split_off(self.n_lines);
        self.n_lines += lines.len();
        lines
    }

    fn lines(&self) -> Vec<LogLine> {
        read_log(self.log()).unwrap_or_default()
    }

    fn log(&self) -> PathBuf {
        self.project.path().join("requests.log")
    }
}
