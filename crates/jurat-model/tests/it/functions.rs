//! Functions that are asked like models.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use jurat_core::effect::{Finish, ModelRequest, Usage};
use jurat_core::model::ModelSettings;
use jurat_model::codec::Reply;
use jurat_model::provider::describe;
use jurat_model::{Answering, Asker, Function, Model, Transport, TransportOptions};

use crate::asking::{NoFiles, ask, options, question, run, run_paused, shown};

/// Repeats the caller and the question, after a while.
struct Echo {
    wait: Duration,
    open: AtomicUsize,
    most_open: AtomicUsize,
}

impl Echo {
    fn after(wait: Duration) -> Arc<Echo> {
        Arc::new(Echo { wait, open: AtomicUsize::new(0), most_open: AtomicUsize::new(0) })
    }
}

impl Function for Echo {
    fn answer<'a>(&'a self, asker: Asker<'a>, request: &'a ModelRequest) -> Answering<'a> {
        Box::pin(async move {
            let n_open = self.open.fetch_add(1, Ordering::SeqCst) + 1;
            self.most_open.fetch_max(n_open, Ordering::SeqCst);
            tokio::time::sleep(self.wait).await;
            self.open.fetch_sub(1, Ordering::SeqCst);
            let asked = request.messages.last().map_or("", |it| it.text());
            match asked {
                "what?" => Err("it is not known".to_owned()),
                _ => Ok(Reply {
                    text: format!("{} of {} asks {asked}", asker.task, asker.case),
                    tool_calls: Vec::new(),
                    finish: Finish::Stop,
                    usage: Some(Usage { input: 3, output: 5, ..Usage::default() }),
                    ..Reply::default()
                }),
            }
        })
    }
}

fn model(function: &Arc<Echo>) -> Model {
    let resolved = describe("call/echo", &ModelSettings::default(), &|_| None).expect("a function needs no key");
    Model::call(resolved, Arc::clone(function) as Arc<dyn Function>)
}

#[test]
fn a_function_answers_once_and_an_error_is_a_fault() {
    let (function, transport) = (Echo::after(Duration::ZERO), Transport::new(options()));
    let model = model(&function);
    assert_eq!((model.is_local(), model.is_sequential()), (true, false));
    run(async {
        assert_eq!(shown(&ask(&transport, &model, &question("why")).await), "stop: t1 of c1 asks why after 1");
        assert_eq!(shown(&ask(&transport, &model, &question("what?")).await), "no_answer after 1: it is not known");
    });
}

#[test]
fn a_function_has_limits_like_any_model() {
    let (function, transport) = (Echo::after(Duration::from_secs(1)), Transport::new(options()));
    let model = model(&function);
    run_paused(async {
        let questions: Vec<ModelRequest> = (0..40).map(|it| question(&it.to_string())).collect();
        let mut asked = tokio::task::JoinSet::new();
        let (transport, model) = (Arc::new(transport), Arc::new(model));
        for question in questions {
            let (transport, model) = (Arc::clone(&transport), Arc::clone(&model));
            asked.spawn(async move { shown(&ask(&transport, &model, &question).await) });
        }
        assert_eq!(asked.join_all().await.len(), 40);
    });
    assert_eq!(function.most_open.load(Ordering::SeqCst), 8);
}

#[test]
fn a_function_that_takes_too_long_is_given_up() {
    let function = Echo::after(Duration::from_secs(60));
    let transport = Transport::new(TransportOptions { request_timeout: Duration::from_secs(1), ..options() });
    let outcome = run_paused(ask(&transport, &model(&function), &question("why")));
    assert!(shown(&outcome).starts_with("timeout after "), "{}", shown(&outcome));
}

#[test]
fn a_function_that_is_not_supplied_is_an_error() {
    let resolved = describe("call/echo", &ModelSettings::default(), &|_| None).expect("a function needs no key");
    let error = Model::open(resolved, Path::new(""), &NoFiles, &|_| None).expect_err("it is not supplied");
    let shown = error.to_string();
    assert!(shown.starts_with("`call/echo` is a function of the program that runs the suite"), "{shown}");
}
