//! What the meter reserves and settles, whatever the result of a request.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jurat_core::effect::Outcome;
use jurat_core::verdict::StopReason;
use jurat_model::{Asker, Bound, Meter, Reservation, Settled, Transport, TransportOptions};
use jurat_testkit::{Endpoint, Fault, Reply, Script, Usage, When};

use crate::asking::{model_with, options, question, run, shown, until};

/// Notes everything, and allows this many requests.
struct Ledger {
    allowed: AtomicU64,
    lines: Mutex<Vec<String>>,
}

impl Ledger {
    fn allowing(n: u64) -> Ledger {
        Ledger { allowed: AtomicU64::new(n), lines: Mutex::default() }
    }

    fn note(&self, line: String) {
        self.lines.lock().expect("no thread panics").push(line);
    }

    fn lines(&self) -> String {
        self.lines.lock().expect("no thread panics").join(", ")
    }
}

impl Meter for Ledger {
    fn reserve(&self, bound: &Bound) -> Result<Option<Reservation>, StopReason> {
        let left = self.allowed.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |it| it.checked_sub(1));
        left.map_err(|_| StopReason::Budget)?;
        // What a token costs in these tests makes the bound in dollars a whole number of tokens.
        let tokens = bound.tokens().expect("output is bounded");
        assert_eq!(bound.usd(), Some((bound.input_tokens + 2 * 50) as f64));
        Ok(Some(Reservation { tokens, nano_usd: 0 }))
    }

    fn settle(&self, reserved: Reservation, settled: Settled) {
        assert!(reserved.tokens > 50);
        self.note(match settled {
            Settled::Answer { usage, cost_usd } => {
                format!("answer {} {}", usage.map_or(0, |it| it.total()), cost_usd.unwrap_or(-1.0))
            }
            Settled::Nothing => "nothing".to_owned(),
            Settled::Unknown => "unknown".to_owned(),
        });
    }
}

const SETTINGS: &str = r#""max_tokens": 50, "price": {"input": 1000000, "output": 2000000}"#;

/// Asks an endpoint one question with four requests at most; the outcome and what the meter settled.
fn asked(script: Script, allowed: u64) -> (String, String) {
    asked_within(options().request_timeout, script, allowed)
}

fn asked_within(request_timeout: Duration, script: Script, allowed: u64) -> (String, String) {
    let endpoint = Endpoint::start(script);
    let ledger = Ledger::allowing(allowed);
    let outcome = run(async {
        let model = model_with("openai/m", &format!(r#"{{"base_url": "{}", {SETTINGS}}}"#, endpoint.url()), &|_| None);
        let transport = Transport::new(TransportOptions { request_timeout, ..options() });
        transport.ask(&model, Asker { case: "c", task: "t", turn: None, priority: 0 }, &question("q"), 4, &ledger).await
    });
    (shown(&outcome), ledger.lines())
}

fn yes() -> Script {
    Script::new().reply(Reply::text("yes").usage(Usage { input: 10, output: 3, cached: 0, reasoning: 0 }))
}

fn failing(fault: Fault) -> Script {
    Script::new().fault(When::First(1), fault).reply(Reply::text("yes").usage(Usage {
        input: 10,
        output: 3,
        cached: 0,
        reasoning: 0,
    }))
}

#[test]
fn each_request_is_allowed_and_settled_once() {
    assert_eq!(asked(yes(), 9), ("stop: yes after 1".to_owned(), "answer 13 16".to_owned()));
    for (fault, shown) in [
        (Fault::status(429), "nothing"),
        (Fault::status(500), "nothing"),
        (Fault::Reset, "unknown"),
        (Fault::CutBody, "unknown"),
        (Fault::TruncatedBody, "unknown"),
    ] {
        let expected = ("stop: yes after 2".to_owned(), format!("{shown}, answer 13 16"));
        assert_eq!(asked(failing(fault.clone()), 9), expected, "{fault:?}");
    }
    let expected = ("stop: yes after 2".to_owned(), "unknown, answer 13 16".to_owned());
    assert_eq!(asked_within(Duration::from_secs(3), failing(Fault::Silence), 9), expected);
}

#[test]
fn what_is_not_allowed_is_not_asked() {
    assert_eq!(asked(yes(), 0), ("not run: budget".to_owned(), String::new()));
    let (outcome, lines) = asked(failing(Fault::status(503)), 1);
    assert!(outcome.starts_with("status:503 after 1: HTTP 503 from 127.0.0.1:"), "{outcome}");
    assert!(outcome.ends_with("; it was not asked again, because the budget of the run is used up"), "{outcome}");
    assert_eq!(lines, "nothing");
}

#[test]
fn an_aborted_request_costs_only_if_it_was_sent() {
    let endpoint = Endpoint::start(Script::new().held());
    let ledger = Arc::new(Ledger::allowing(9));
    let settings = format!(r#"{{"base_url": "{}", {SETTINGS}}}"#, endpoint.url());
    run(async {
        let transport = Arc::new(Transport::new(TransportOptions { concurrency: 1, ..options() }));
        let model = Arc::new(model_with("openai/m", &settings, &|_| None));
        let ask = |priority| {
            let (transport, model, ledger) = (Arc::clone(&transport), Arc::clone(&model), Arc::clone(&ledger));
            tokio::spawn(async move {
                transport
                    .ask(&model, Asker { case: "c", task: "t", turn: None, priority }, &question("q"), 4, &*ledger)
                    .await
            })
        };
        let under_way = ask(0);
        until(|| endpoint.stats().in_flight == 1).await;
        let waiting = ask(1);
        // On one thread, it is in the queue now.
        tokio::task::yield_now().await;
        waiting.abort();
        drop(waiting.await);
        assert_eq!(ledger.lines(), "nothing");
        under_way.abort();
        drop(under_way.await);
        assert_eq!(ledger.lines(), "nothing, unknown");
    });
}

#[test]
fn an_error_in_the_middle_of_a_stream_may_have_cost_something() {
    let endpoint = Endpoint::start(Script::new().fault(When::Always, Fault::StreamError));
    let ledger = Ledger::allowing(1);
    run(async {
        let model = model_with("openai/m", &format!(r#"{{"base_url": "{}", {SETTINGS}}}"#, endpoint.url()), &|_| None);
        let transport = Transport::new(TransportOptions { stream: true, ..options() });
        transport.ask(&model, Asker { case: "c", task: "t", turn: None, priority: 0 }, &question("q"), 1, &ledger).await
    });
    assert_eq!(ledger.lines(), "unknown");
}

/// Counts what is reserved and never lets it pass its limit.
struct Budget {
    limit: u64,
    spent: Mutex<(u64, u64)>,
}

impl Meter for Budget {
    fn reserve(&self, bound: &Bound) -> Result<Option<Reservation>, StopReason> {
        let tokens = bound.tokens().expect("output is bounded");
        let mut spent = self.spent.lock().expect("no thread panics");
        if spent.0 + tokens > self.limit {
            return Err(StopReason::Budget);
        }
        spent.0 += tokens;
        Ok(Some(Reservation { tokens, nano_usd: 0 }))
    }

    fn settle(&self, reserved: Reservation, settled: Settled) {
        let mut spent = self.spent.lock().expect("no thread panics");
        let actual = match settled {
            Settled::Answer { usage, .. } => usage.map_or(reserved.tokens, |it| it.total()),
            Settled::Nothing => 0,
            Settled::Unknown => reserved.tokens,
        };
        assert!(actual <= reserved.tokens, "the bound does not bound");
        spent.0 = spent.0 - reserved.tokens + actual;
        spent.1 += actual;
    }
}

#[test]
fn a_budget_is_never_overspent_however_many_ask_at_once() {
    let endpoint =
        Endpoint::start(Script::new().fault(When::Every(5), Fault::Reset).fault(When::Every(7), Fault::status(500)));
    let budget = Arc::new(Budget { limit: 20_000, spent: Mutex::default() });
    let settings = format!(r#"{{"base_url": "{}", {SETTINGS}}}"#, endpoint.url());
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime starts");
    let outcomes = runtime.block_on(async {
        let transport = Arc::new(Transport::new(TransportOptions { concurrency: 64, ..options() }));
        let model = Arc::new(model_with("openai/m", &settings, &|_| None));
        let mut asked = tokio::task::JoinSet::new();
        for number in 0..2000 {
            let (transport, model, budget) = (Arc::clone(&transport), Arc::clone(&model), Arc::clone(&budget));
            asked.spawn(async move {
                let asker = Asker { case: "c", task: "t", turn: None, priority: number };
                transport.ask(&model, asker, &question(&format!("{number}")), 4, &*budget).await
            });
        }
        asked.join_all().await
    });
    let (reserved, spent) = *budget.spent.lock().expect("no thread panics");
    assert_eq!(reserved, spent);
    assert!(spent <= 20_000, "{spent}");
    let n_stopped = outcomes.iter().filter(|it| matches!(it, Outcome::NotRun(StopReason::Budget))).count();
    let n_answered = outcomes.iter().filter(|it| matches!(it, Outcome::Answer(_))).count();
    assert!(n_answered > 50 && n_stopped > 50, "{n_answered} {n_stopped}");
}
