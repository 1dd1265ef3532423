//! Requests that are sent in batches: what comes back, what it costs, and what happens when something goes wrong.

use std::cell::Cell;
use std::fs;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use jurat_core::effect::{EffectKey, EndpointKey, Outcome, PerformerKey, Request};
use jurat_core::verdict::StopReason;
use jurat_model::{BatchOptions, Batches, Bound, Deferred, Meter, Model, Reservation, Settled, Transport, Unmetered};
use jurat_testkit::{BatchFault, BatchScript, Endpoint, Fault, Reply, Script, When};
use tempfile::TempDir;
use tokio::sync::Notify;

use crate::asking::{KEY, ask, model_with, options, question, run, shown};

/// The providers that have batches.
const BATCHING: [&str; 3] = ["openai", "openai-responses", "anthropic"];

/// A priced model at an endpoint.
fn model(provider: &str, endpoint: &Endpoint) -> Arc<Model> {
    let url = endpoint.url();
    let settings = format!(
        r#"{{"base_url": "{url}", "max_tokens": 100, "api_key_env": "KEY", "price": {{"input": 2, "output": 8}}}}"#
    );
    Arc::new(model_with(&format!("{provider}/m"), &settings, &|name| (name == "KEY").then(|| KEY.to_owned())))
}

/// A project with batches, a provider, and a transport.
struct Bench {
    directory: TempDir,
    endpoint: Endpoint,
    provider: &'static str,
    most_requests: usize,
}

impl Bench {
    fn new(provider: &'static str, batches: BatchScript) -> Bench {
        Bench::of(provider, Script::answering(|it| Reply::text(format!("on {}", it.prompt))).batches(batches))
    }

    fn of(provider: &'static str, script: Script) -> Bench {
        let directory = TempDir::new().expect("there is room for files");
        Bench { directory, endpoint: Endpoint::start(script.key(KEY)), provider, most_requests: 50_000 }
    }

    fn open(&self) -> Batches {
        let options = BatchOptions {
            longest_poll: Duration::ZERO,
            most_requests: self.most_requests,
            ..BatchOptions::new(self.directory.path())
        };
        Batches::open(options, 1_800_000_000_000).expect("batches can be recorded")
    }

    /// Asks all questions at once, in a process of its own.
    async fn ask(&self, questions: &[&str], meter: &dyn Meter) -> Vec<Outcome> {
        let (batches, transport, model) =
            (self.open(), Transport::new(options()), model(self.provider, &self.endpoint));
        let n_open = Cell::new(questions.len());
        let asks = questions.iter().map(async |text| {
            let request = question(text);
            let deferred = Deferred { key: key(&model, text), not_before_ms: None, request: &request, max_requests: 3 };
            let outcome = batches.ask(&transport, &model, deferred, meter).await;
            n_open.update(|it| it - 1);
            outcome
        });
        let is_idle = |n_waiting: usize| n_waiting >= n_open.get();
        let outcomes = tokio::select! {
            biased;
            outcomes = join_all(asks) => outcomes,
            () = batches.attend(&transport, &is_idle, &|_| ()) => unreachable!("it never ends"),
        };
        batches.forget_collected();
        outcomes
    }

    fn asked(&self, questions: &[&str]) -> Vec<String> {
        run(self.ask(questions, &Unmetered)).iter().map(shown).collect()
    }

    /// How many batches are recorded.
    fn n_recorded(&self) -> usize {
        fs::read_dir(self.directory.path()).expect("the directory is there").count()
    }

    fn n_batches(&self) -> u64 {
        self.endpoint.stats().batches
    }
}

fn key(model: &Model, text: &str) -> EffectKey {
    Request::from(question(text)).key(&PerformerKey::Endpoint(&EndpointKey::new(model.endpoint())))
}

#[test]
fn a_batch_answers_what_single_requests_do_for_half_the_price() {
    for provider in BATCHING {
        let bench = Bench::new(provider, BatchScript::new().polls(3));
        let single = model(provider, &bench.endpoint);
        let alone = run(async { ask(&Transport::new(options()), &single, &question("one")).await });
        let outcomes = run(bench.ask(&["one", "two", "three"], &Unmetered));
        let words: Vec<String> = outcomes.iter().map(shown).collect();
        assert_eq!(words, ["stop: on one after 1", "stop: on two after 1", "stop: on three after 1"], "{provider}");
        let (Outcome::Answer(alone), Outcome::Answer(batched)) = (&alone, &outcomes[0]) else { panic!("{words:?}") };
        assert_eq!(alone.usage, batched.usage, "{provider}");
        assert_eq!(alone.cost_usd.map(|it| it / 2.0), batched.cost_usd, "{provider}");
        assert_eq!((alone.served.batch.is_some(), batched.served.batch.is_some()), (false, true));
        assert_eq!((alone.measured_latency().is_some(), batched.measured_latency()), (true, None));
        let stats = bench.endpoint.stats();
        assert_eq!((stats.batches, stats.polls, stats.requests), (1, 4, 4), "{provider}");
        assert_eq!(bench.n_recorded(), 0, "what is collected is not recorded any more");
    }
}

#[test]
fn what_a_batch_cannot_hold_is_in_the_next() {
    for provider in BATCHING {
        let bench = Bench { most_requests: 2, ..Bench::new(provider, BatchScript::new()) };
        let asked = bench.asked(&["one", "two", "three", "four", "five"]);
        assert_eq!(asked[4], "stop: on five after 1");
        assert_eq!(bench.n_batches(), 3, "{provider}");
    }
}

/// What becomes of four requests when the first batch fails in a way, and how many batches it takes.
#[track_caller]
fn failing(fault: BatchFault, provider: &'static str, n_batches: u64, expected: [&str; 4]) {
    let bench = Bench::new(provider, BatchScript::new().fault(1, fault));
    let asked = bench.asked(&["a", "b", "c", "d"]);
    let expected = expected.map(|it| it.replace("HOST", bench.endpoint.url().trim_start_matches("http://")));
    assert_eq!(asked, expected, "{provider}, {fault:?}");
    assert_eq!((bench.n_batches(), bench.n_recorded()), (n_batches, 0), "{provider}, {fault:?}");
}

const ALL: [&str; 4] = ["stop: on a after 1", "stop: on b after 1", "stop: on c after 1", "stop: on d after 1"];
/// Every other request is sent a second time.
const HALF: [&str; 4] = ["stop: on a after 1", "stop: on b after 2", "stop: on c after 1", "stop: on d after 2"];

#[test]
fn a_failure_of_a_batch_is_repaired_or_reported() {
    for provider in BATCHING {
        failing(BatchFault::Refused(429), provider, 1, ALL);
        failing(BatchFault::Refused(500), provider, 1, ALL);
        failing(BatchFault::LostReply, provider, 1, ALL);
        failing(BatchFault::CutResults, provider, 1, ALL);
        failing(BatchFault::Forgotten, provider, 2, ALL);
        failing(BatchFault::Expired, provider, 2, HALF);
        failing(BatchFault::Missing, provider, 2, HALF);
        // Results come in another order: the last line is that of the first request.
        let truncated = ["stop: on a after 2", "stop: on b after 1", "stop: on c after 1", "stop: on d after 1"];
        failing(BatchFault::Truncated, provider, 2, truncated);
        let id = if provider == "anthropic" { "msgbatch_1" } else { "batch_1" };
        let cancelled =
            format!("cancelled after 1: the batch `{id}` of HOST was cancelled before this request was processed");
        let cancelled = ["stop: on a after 1", &cancelled, "stop: on c after 1", &cancelled];
        failing(BatchFault::Cancelled, provider, 1, cancelled);
    }
    let invalid = "status:400 after 1: the batch `batch_1` was refused by HOST: line 1: this line is not valid";
    failing(BatchFault::Invalid, "openai", 1, [invalid; 4]);
    let invalid = "status:400 after 1: HTTP 400 from HOST: requests.0: the request is not valid";
    failing(BatchFault::Invalid, "anthropic", 0, [invalid; 4]);
    // Four are too many for the account, two are not.
    failing(BatchFault::TooMuch(3), "openai", 3, ALL);
}

#[test]
fn a_request_that_fails_in_a_batch_is_sent_again_when_that_is_of_use() {
    for provider in BATCHING {
        let script = |status: u16, when| {
            let fault = Fault::Status { status, retry_after: None };
            let script = Script::answering(|it| Reply::text(format!("on {}", it.prompt)));
            script.fault_if(when, |it| it.prompt == "b", fault)
        };
        let bench = Bench::of(provider, script(500, When::First(1)));
        assert_eq!(bench.asked(&["a", "b"]), ["stop: on a after 1", "stop: on b after 2"], "{provider}");
        assert_eq!(bench.n_batches(), 2);
        let bench = Bench::of(provider, script(500, When::Always));
        let asked = bench.asked(&["a", "b"]);
        assert!(asked[1].starts_with("status:500 after 3: HTTP 500 from "), "{provider}: {}", asked[1]);
        let bench = Bench::of(provider, script(400, When::Always));
        let asked = bench.asked(&["a", "b"]);
        assert!(asked[1].starts_with("status:400 after 1: HTTP 400 from "), "{provider}: {}", asked[1]);
        assert_eq!((asked[0].as_str(), bench.n_batches()), ("stop: on a after 1", 1));
    }
}

#[test]
fn a_wrong_key_is_reported_for_every_request() {
    for provider in BATCHING {
        let bench = Bench::of(provider, Script::new());
        let bench = Bench { endpoint: Endpoint::start(Script::new().key("another")), ..bench };
        let asked = bench.asked(&["a", "b"]);
        assert!(asked.iter().all(|it| it.starts_with("status:401 after 1: HTTP 401 from ")), "{provider}: {asked:?}");
    }
}

/// A meter that closes on demand.
#[derive(Default)]
struct Closing(Notify);

impl Meter for Closing {
    fn reserve(&self, _: &Bound) -> Result<Option<Reservation>, StopReason> {
        Ok(Some(Reservation::default()))
    }

    fn closed(&self) -> Pin<Box<dyn Future<Output = StopReason> + Send + '_>> {
        Box::pin(async {
            self.0.notified().await;
            StopReason::Interrupted
        })
    }

    fn settle(&self, _: Reservation, _: Settled) {}
}

/// Asks until the batches are looked at, and stops.
fn stopped(bench: &Bench, questions: &[&str]) -> Vec<String> {
    let closing = Closing::default();
    let outcomes = run(async {
        let stop = async {
            crate::asking::until(|| bench.endpoint.stats().polls > 2).await;
            closing.0.notify_waiters();
            std::future::pending::<()>().await;
        };
        tokio::select! {
            outcomes = bench.ask(questions, &closing) => outcomes,
            () = stop => unreachable!("it never ends"),
        }
    });
    outcomes.iter().map(shown).collect()
}

#[test]
fn a_run_that_was_stopped_collects_its_batches_when_it_is_resumed() {
    for provider in BATCHING {
        let bench = Bench { most_requests: 2, ..Bench::new(provider, BatchScript::new().held()) };
        let questions = ["a", "b", "c", "d"];
        assert_eq!(stopped(&bench, &questions), ["not run: interrupted"; 4], "{provider}");
        assert_eq!((bench.n_batches(), bench.n_recorded()), (2, 2));
        bench.endpoint.release_batches();
        assert_eq!(bench.asked(&questions), ALL, "{provider}");
        assert_eq!((bench.n_batches(), bench.n_recorded()), (2, 0), "{provider}: nothing was submitted again");
    }
}

/// The only file of a directory.
fn file(directory: &Path) -> std::path::PathBuf {
    let mut files = fs::read_dir(directory).expect("the directory is there");
    files.next().expect("there is a file").expect("it can be read").path()
}

/// Leaves the record as it is when a process is killed between the submission and its reply.
fn forget_id(bench: &Bench, provider: &str) {
    let path = file(bench.directory.path());
    let record = fs::read_to_string(&path).expect("the record can be read");
    let id = if provider == "anthropic" { "\"msgbatch_1\"" } else { "\"batch_1\"" };
    assert!(record.contains(id), "{record}");
    fs::write(&path, record.replace(id, "null")).expect("the record can be written");
}

#[test]
fn a_batch_whose_submission_was_killed_is_found_at_its_provider() {
    for provider in BATCHING {
        let bench = Bench::new(provider, BatchScript::new().held());
        stopped(&bench, &["a", "b"]);
        forget_id(&bench, provider);
        bench.endpoint.release_batches();
        assert_eq!(bench.asked(&["a", "b"]), ALL[..2], "{provider}");
        assert_eq!(bench.n_batches(), 1, "{provider}");
    }
}

#[test]
fn a_batch_that_was_never_submitted_is_submitted() {
    for provider in BATCHING {
        let bench = Bench::new(provider, BatchScript::new().held());
        stopped(&bench, &["a", "b"]);
        forget_id(&bench, provider);
        let path = file(bench.directory.path());
        // Another provider has none of them.
        let script = Script::answering(|it| Reply::text(format!("on {}", it.prompt)));
        let elsewhere = Bench { endpoint: Endpoint::start(script), ..bench };
        // Its address is another, so its requests have other keys; the record is rewritten for them.
        let there = model(provider, &elsewhere.endpoint);
        let keys: Vec<String> = ["a", "b"].map(|it| format!("\"{}\"", key(&there, it))).to_vec();
        let record = fs::read_to_string(&path).expect("the record can be read");
        let (before, _) = record.split_once("\"keys\":").expect("it has keys");
        fs::write(&path, format!("{before}\"keys\":[{}]}}", keys.join(","))).expect("the record can be written");
        assert_eq!(elsewhere.asked(&["a", "b"]), ALL[..2], "{provider}");
        assert_eq!((elsewhere.n_batches(), elsewhere.n_recorded()), (1, 0), "{provider}");
    }
}

#[test]
fn an_endpoint_without_batches_says_so() {
    let script = Script::new();
    let directory = TempDir::new().expect("there is room for files");
    let endpoint = Endpoint::start(script);
    let settings = format!(r#"{{"base_url": "{}/gateway", "max_tokens": 9, "api_key_env": "KEY"}}"#, endpoint.url());
    let model = Arc::new(model_with("openai/m", &settings, &|_| Some(KEY.to_owned())));
    let batches = Batches::open(BatchOptions::new(directory.path()), 0).expect("batches can be recorded");
    let transport = Transport::new(options());
    let outcome = run(async {
        let request = question("a");
        let deferred = Deferred { key: key(&model, "a"), not_before_ms: None, request: &request, max_requests: 3 };
        tokio::select! {
            outcome = batches.ask(&transport, &model, deferred, &Unmetered) => outcome,
            () = batches.attend(&transport, &|_| true, &|_| ()) => unreachable!("it never ends"),
        }
    });
    let words = shown(&outcome);
    assert!(words.starts_with("status:404 after 1: HTTP 404 from "), "{words}");
}
