//! How many at once, how many a minute, which request goes first, and waits that hold for all.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use jurat_core::effect::Outcome;
use jurat_model::{Asker, Model, Transport, TransportOptions, Unmetered};
use jurat_testkit::{Answer, Endpoint, Fault, Reply, Request, RetryAfter, Script};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::asking::{ask, model, named_script, options, question, run, run_paused, script, script_with, shown, until};

/// Asks this many questions at once; the priority of each is made of its number.
fn ask_all(
    transport: &Arc<Transport>,
    model: &Arc<Model>,
    n: u64,
    priority: impl Fn(u64) -> u64,
) -> JoinSet<(u64, Outcome)> {
    let mut asked = JoinSet::new();
    for number in 0..n {
        let (transport, model, priority) = (Arc::clone(transport), Arc::clone(model), priority(number));
        asked.spawn(async move {
            let asker = Asker { case: "c", task: "t", turn: None, priority };
            let outcome = transport.ask(&model, asker, &question(&format!("question {number}")), 4, &Unmetered).await;
            (number, outcome)
        });
    }
    asked
}

fn transport(concurrency: usize) -> Arc<Transport> {
    Arc::new(Transport::new(TransportOptions { concurrency, ..options() }))
}

fn on_threads<T>(future: impl Future<Output = T>) -> T {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(2).enable_all().build().expect("a runtime starts").block_on(future)
}

#[test]
fn concurrency_is_exactly_the_configured_one() {
    for concurrency in [1, 7, 64] {
        let endpoint = Endpoint::start(Script::new().held().reply(Reply::text("yes")));
        let n = 10 * concurrency as u64;
        on_threads(async {
            let mut asked = ask_all(&transport(concurrency), &Arc::new(model("openai", &endpoint.url())), n, |_| 0);
            // All places are taken before the first answer comes.
            tokio::task::block_in_place(|| endpoint.wait_until(|it| it.in_flight == concurrency as u64));
            // Then one answer at a time: each lets exactly one other request in.
            for n_answered in 1..=concurrency as u64 {
                endpoint.release(1);
                let expected = concurrency as u64 + n_answered;
                tokio::task::block_in_place(|| endpoint.wait_until(|it| it.requests == expected));
            }
            endpoint.release_all();
            while let Some(answered) = asked.join_next().await {
                assert_eq!(shown(&answered.expect("it does not panic").1), "stop: yes after 1");
            }
        });
        let stats = endpoint.stats();
        assert_eq!((stats.requests, stats.answers, stats.peak_in_flight), (n, n, concurrency as u64));
        assert_eq!((stats.connections, stats.peak_connections), (concurrency as u64, concurrency as u64));
    }
}

#[test]
fn answers_that_come_at_once_share_connections_too() {
    let endpoint = Endpoint::start(Script::new().reply(Reply::text("yes")));
    on_threads(async {
        let mut asked = ask_all(&transport(16), &Arc::new(model("openai", &endpoint.url())), 2000, |_| 0);
        while let Some(answered) = asked.join_next().await {
            assert_eq!(shown(&answered.expect("it does not panic").1), "stop: yes after 1");
        }
    });
    let stats = endpoint.stats();
    assert_eq!(stats.requests, 2000);
    assert!(stats.peak_in_flight <= 16 && stats.connections <= 16, "{stats:?}");
}

#[test]
fn streams_are_read_to_their_end_so_that_connections_serve_again() {
    let endpoint = Endpoint::start(Script::new().reply(Reply::text("a b c d")));
    run(async {
        for provider in crate::asking::PROVIDERS {
            let transport = Transport::new(TransportOptions { concurrency: 1, stream: true, ..options() });
            let model = model(provider, &endpoint.url());
            for _ in 0..12 {
                assert_eq!(
                    shown(&ask(&transport, &model, &question("q")).await),
                    "stop: a b c d after 1",
                    "{provider}"
                );
            }
        }
    });
    assert_eq!(endpoint.stats().connections, 5);
}

#[test]
fn the_oldest_case_goes_first_then_the_oldest_request() {
    let endpoint = Endpoint::start(Script::new().held().keep_requests().reply(Reply::text("yes")));
    run(async {
        let transport = transport(1);
        let model = Arc::new(model("openai", &endpoint.url()));
        let mut asked = ask_all(&transport, &model, 1, |_| 0);
        until(|| endpoint.stats().in_flight == 1).await;
        // Nine wait, from three cases of which the newest came first.
        for number in 1..10 {
            let (transport, model) = (Arc::clone(&transport), Arc::clone(&model));
            asked.spawn(async move {
                let asker = Asker { case: "c", task: "t", turn: None, priority: 3 - (number - 1) / 3 };
                let question = question(&format!("question {number}"));
                (number, transport.ask(&model, asker, &question, 1, &Unmetered).await)
            });
            // On one thread, the tasks started before are now in the queue.
            tokio::task::yield_now().await;
        }
        endpoint.release_all();
        while let Some(answered) = asked.join_next().await {
            assert_eq!(shown(&answered.expect("it does not panic").1), "stop: yes after 1");
        }
    });
    let order: Vec<String> = endpoint.requests().iter().map(|it| it.prompt.replace("question ", "")).collect();
    assert_eq!(order.join(" "), "0 7 8 9 4 5 6 1 2 3");
}

#[test]
fn a_wait_that_the_provider_asks_for_holds_for_all_requests() {
    for retry_after in [RetryAfter::Millis(400), RetryAfter::Seconds(1), RetryAfter::Date(Duration::from_secs(1))] {
        let arrivals: Arc<Mutex<Vec<std::time::Instant>>> = Arc::default();
        let noted = Arc::clone(&arrivals);
        let endpoint = Endpoint::start(Script::answering(move |request: &Request| {
            noted.lock().expect("no thread panics").push(std::time::Instant::now());
            if request.number == 1 {
                Answer::from(Fault::rate_limited(retry_after))
            } else {
                Answer::from(Reply::text("yes"))
            }
        }));
        on_threads(async {
            let now_ms = TransportOptions::default().now_ms;
            let transport = Arc::new(Transport::new(TransportOptions { concurrency: 1, now_ms, ..options() }));
            let model = Arc::new(model("openai", &endpoint.url()));
            let mut asked = ask_all(&transport, &model, 6, |_| 0);
            while let Some(answered) = asked.join_next().await {
                assert!(matches!(answered.expect("it does not panic").1, Outcome::Answer(_)));
            }
        });
        let arrivals = arrivals.lock().expect("no thread panics");
        assert_eq!(arrivals.len(), 7);
        let waited = arrivals[1] - arrivals[0];
        let least = match retry_after {
            RetryAfter::Millis(millis) => millis,
            // A date is met, however long it took to arrive.
            RetryAfter::Date(_) => 900,
            _ => 1000,
        };
        assert!(waited >= Duration::from_millis(least), "{retry_after:?}: {waited:?}");
    }
}

#[test]
fn waits_are_exact_to_the_millisecond_and_shared() {
    run_paused(async {
        let lines = concat!(
            "{\"match\": {\"contains\": \"question 0\"}, \"fault\": \"status:429\", \"retry_after\": 30, \"latency_ms\": 50}\n",
            "{\"reply\": \"yes\", \"latency_ms\": 100, \"times\": \"*\"}\n",
        );
        let started = Instant::now();
        let mut asked = ask_all(&transport(4), &Arc::new(script(lines)), 20, |_| 0);
        let mut ends = Vec::new();
        while let Some(answered) = asked.join_next().await {
            assert!(matches!(answered.expect("it does not panic").1, Outcome::Answer(_)));
            ends.push(started.elapsed().as_millis());
        }
        // Three were under way when it came; all others waited 30 seconds from then.
        assert_eq!(ends[..4], [100, 100, 100, 30_150], "{ends:?}");
        assert!(ends[19] < 31_000, "{ends:?}");
    });
}

#[test]
fn a_wait_that_is_too_long_ends_it() {
    run_paused(async {
        let model = script(r#"{"fault": "status:429", "retry_after": 3600, "times": "*"}"#);
        let outcome = ask(&transport(1), &model, &question("q")).await;
        let why = "the endpoint asks to wait 3600 s (`retry-after`) and jurat waits at most 600 s";
        let expected =
            format!("status:429 after 1: the model answered with status 429; it was not asked again, because {why}");
        assert_eq!(shown(&outcome), expected);
    });
}

#[test]
fn requests_and_tokens_a_minute_are_limited() {
    let minutes = |settings: &str, n: u64| {
        let line = r#"{"reply": "yes", "usage": {"input": 90, "output": 10}, "times": "*"}"#;
        let model = script_with(line, settings);
        run_paused(async {
            let transport = transport(4);
            let started = Instant::now();
            for number in 0..n {
                let outcome = ask(&transport, &model, &question(&format!("question {number}"))).await;
                assert!(matches!(outcome, Outcome::Answer(_)), "{outcome:?}");
            }
            started.elapsed().as_secs() / 60
        })
    };
    // The 11th has to wait for a minute, the 21st for two.
    assert_eq!([10, 11, 20, 21].map(|n| minutes(r#"{"rpm": 10}"#, n)), [0, 1, 1, 2]);
    // Each takes 100 tokens in the end, whatever was thought before: 11 are thought to be 60 and a few.
    assert_eq!([10, 11, 20, 21].map(|n| minutes(r#"{"tpm": 1000, "max_tokens": 60}"#, n)), [0, 1, 1, 2]);
    assert_eq!(minutes(r#"{"tpm": 50, "max_tokens": 60}"#, 3), 2);
    assert_eq!(minutes("{}", 100), 0);
}

#[test]
fn a_model_that_must_wait_does_not_hold_up_another() {
    run_paused(async {
        let line = r#"{"reply": "yes", "times": "*"}"#;
        let (slow, fast) = (script_with(line, r#"{"rpm": 1}"#), Arc::new(named_script("other.jsonl", line, "{}")));
        let transport = transport(4);
        let started = Instant::now();
        ask(&transport, &slow, &question("first")).await;
        let waiting = {
            let transport = Arc::clone(&transport);
            tokio::spawn(async move { ask(&transport, &slow, &question("second")).await })
        };
        tokio::task::yield_now().await;
        ask(&transport, &fast, &question("third")).await;
        assert_eq!(started.elapsed().as_secs(), 0);
        waiting.await.expect("it does not panic");
        assert_eq!(started.elapsed().as_secs(), 60);
    });
}

#[test]
fn an_aborted_request_frees_its_place() {
    let endpoint = Endpoint::start(Script::new().held().reply(Reply::text("yes")));
    run(async {
        let transport = transport(2);
        let model = Arc::new(model("openai", &endpoint.url()));
        let mut asked = ask_all(&transport, &model, 50, |it| it);
        until(|| endpoint.stats().in_flight == 2).await;
        // Two are under way and 48 wait; all of them are dropped.
        asked.shutdown().await;
        until(|| endpoint.stats().abandoned == 2).await;
        endpoint.release_all();
        let mut asked = ask_all(&transport, &model, 10, |_| 0);
        while let Some(answered) = asked.join_next().await {
            assert_eq!(shown(&answered.expect("it does not panic").1), "stop: yes after 1");
        }
    });
    let stats = endpoint.stats();
    assert_eq!((stats.requests, stats.abandoned, stats.peak_in_flight), (12, 2, 2));
}

/// Asks 100 questions of a script at ten at once, and says how many ended together each time.
fn waves(lines: &str) -> String {
    run_paused(async {
        let started = Instant::now();
        let mut asked = ask_all(&transport(10), &Arc::new(script(lines)), 100, |it| it);
        let mut waves = std::collections::BTreeMap::new();
        while asked.join_next().await.is_some() {
            *waves.entry(started.elapsed().as_millis()).or_insert(0) += 1;
        }
        waves.values().map(usize::to_string).collect::<Vec<_>>().join(" ")
    })
}

#[test]
fn too_much_is_answered_by_asking_less_at_once_and_then_slowly_more() {
    // Ten at first, of which one fails and leaves seven places; each full round of answers adds one, up to ten again.
    let one = concat!(
        "{\"match\": {\"contains\": \"question 0\"}, \"fault\": \"status:503\", \"latency_ms\": 50}\n",
        "{\"reply\": \"yes\", \"latency_ms\": 100, \"times\": \"*\"}\n",
    );
    assert_eq!(waves(one), "9 8 9 10 10 10 10 10 10 10 4");
    // Ten that fail together say the same thing once.
    let ten = one.replace("50}", "50, \"times\": 10}").replace("question 0", "question ");
    assert_eq!(waves(&ten), "7 8 9 10 10 10 10 10 10 10 6");
    // Those that fail one after the other say it again and again, and one place is left in the end.
    let all = "{\"fault\": \"timeout\", \"latency_ms\": 50, \"times\": \"*\"}";
    assert!(waves(all).ends_with("1 1 1 1 1 1 1 1 1 1"));
    // A provider that says to come back at once is not overloaded.
    let at_once = ten.replace("\"latency_ms\": 50", "\"latency_ms\": 50, \"retry_after\": 0");
    assert_eq!(waves(&at_once), "10 10 10 10 10 10 10 10 10 10");
}
