//! What performs requests. The only asynchronous trait: everything around it decides what to ask and what to do with the outcome.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use jurat_core::check::{Base, Files as _, Look};
use jurat_core::effect::{Attempt, EffectKey, Endpoint, Outcome, PerformerKey, Request};
use jurat_core::scenario::Callable;
use jurat_core::verdict::StopReason;
use jurat_format::value::{Val, Value};
use jurat_host::HostFiles;
use jurat_model::{Toolbox, Turn};

use crate::attachments::Attachments;
use crate::{Progress, Stop};

/// A request that is performed, and everything that its performer gets with it.
#[derive(Clone, Copy)]
pub struct Call<'c> {
    pub request: &'c Request,
    /// What its outcome is stored under; `None` for a request that belongs to another one, and must not wait in a batch.
    pub key: Option<EffectKey>,
    /// Outcomes from before this time do not stand for it.
    pub not_before_ms: Option<u64>,
    /// The id of the case that asks.
    pub case: &'c str,
    /// The id of the task that asks; empty when the case asks its subject, or in a turn.
    pub task: &'c str,
    /// The turn of a scenario that asks.
    pub turn: Option<Turn<'c>>,
    /// The least number is first; among equals, the call that came first.
    pub priority: u64,
    /// How many requests it may take.
    pub max_requests: u32,
    /// Whether it may still begin. What is sent before the run is stopped is finished, what waits by then is not sent.
    pub stop: &'c Stop,
    /// To be called when it is sent; until then it waits for others.
    pub sent: &'c (dyn Fn() + Sync),
    /// To be called when a request failed that may be made again, while it waits for that.
    pub failed: &'c (dyn Fn(&Attempt) + Sync),
    pub context: &'c ActionContext<'c>,
}

/// What an action gets beside its request.
#[derive(Debug, Default)]
pub struct ActionContext<'a> {
    /// The code, when it is a call and the code is there.
    pub callable: Option<&'a Callable>,
    /// The servers of the case, where it has its own.
    pub tools: Option<&'a Toolbox>,
    /// When a check acts.
    pub check: Option<CheckEnvironment<'a>>,
    /// The files of the case, for requests that send some.
    pub attachments: Option<Attachments<'a>>,
    pub timeout: Duration,
}

/// A future on one thread.
pub type LocalFuture<'f, T> = Pin<Box<dyn Future<Output = T> + 'f>>;

/// Models, tools, code and agents: whatever performs requests.
pub trait Perform {
    /// What performs a request; `None` when no model is configured for its role.
    fn performer(&self, request: &Request) -> Option<Performer<'_>>;

    /// Performs a request. Dropping the future gives up, and releases whatever it held.
    fn perform<'p>(&'p self, call: Call<'p>) -> LocalFuture<'p, Outcome>;

    /// Servers of its own for one case, where cases must not share them.
    fn own_tools(&self) -> Option<Toolbox>;

    /// Whether answers depend on the order of requests, so that cases have to be run one after the other.
    fn is_sequential(&self) -> bool;

    /// Why a request was not made, when a budget was used up or nothing more is leased.
    fn exhausted(&self) -> Option<StopReason> {
        None
    }

    /// How many cases should be open at a time, where that does not follow from the concurrency.
    fn most_open(&self) -> Option<usize> {
        None
    }

    /// What it does beside performing requests, such as collecting batches. It is polled after the cases, and never ends.
    fn attend<'p>(&'p self, _: &'p Activity, _: &'p Progress) -> LocalFuture<'p, ()> {
        Box::pin(std::future::pending())
    }

    /// All outcomes are on disk.
    fn finish(&self) {}
}

/// What the open cases of a run are doing, as far as it decides whether more requests can come.
#[derive(Debug, Default)]
pub struct Activity {
    /// Whether no further case can be opened before one is done.
    pub(crate) is_full: Cell<bool>,
    pub(crate) n_open: Cell<usize>,
    /// Outcomes that are looked for, waited for or being written.
    pub(crate) n_outcomes: Cell<usize>,
    /// Of them, those that wait for another case that asks the same.
    pub(crate) n_joined: Cell<usize>,
}

impl Activity {
    /// Whether every open case waits, given how many requests wait to be sent or answered: no other request can come before one of them is answered.
    pub fn is_idle(&self, n_waiting: usize) -> bool {
        // A case that was opened and not polled yet looks for no outcome.
        let have_begun = self.n_outcomes.get() >= self.n_open.get();
        self.is_full.get() && have_begun && self.n_outcomes.get() <= n_waiting + self.n_joined.get()
    }

    /// An outcome that is in progress until the guard is dropped.
    pub(crate) fn outcome(&self) -> impl Drop + '_ {
        struct InProgress<'a>(&'a Cell<usize>);
        impl Drop for InProgress<'_> {
            fn drop(&mut self) {
                self.0.update(|it| it - 1);
            }
        }
        self.n_outcomes.update(|it| it + 1);
        InProgress(&self.n_outcomes)
    }
}

/// What performs a request.
#[derive(Debug, Clone)]
pub struct Performer<'p> {
    /// Its share of the keys of requests.
    pub key: PerformerKey<'p>,
    /// The endpoint of the model that is asked: by the request itself, or by the agent that it runs.
    pub endpoint: Option<&'p Arc<Endpoint>>,
    /// Whether other cases and runs may use its results; see [`Request::reuse`].
    pub is_shared: bool,
    /// Whether its key means the same to a whole team, so that the journal that they share has its answers.
    pub is_for_team: bool,
    /// Whether its results depend on what it was asked before in the same conversation: an interrupted one is begun again.
    pub is_stateful: bool,
}

impl Performer<'_> {
    /// Anything but a model.
    pub fn of_actions(digest: Value, is_shared: bool) -> Performer<'static> {
        Performer {
            key: PerformerKey::Digest(digest),
            endpoint: None,
            is_shared,
            is_for_team: false,
            is_stateful: false,
        }
    }
}

/// What a check sees beside its request.
#[derive(Debug)]
pub struct CheckEnvironment<'a> {
    pub host_files: HostFiles,
    /// The file that the check is defined in.
    pub source: PathBuf,
    /// The evidence of its case.
    pub evidence: &'a Val<'a>,
    /// What was seen for its case before.
    pub memory: &'a Memory,
}

/// What was seen for a case so far. Checks that look at the same look once, which is quicker, and see the same.
#[derive(Debug, Default)]
pub struct Memory(RefCell<Vec<Remembered>>);

#[derive(Debug)]
struct Remembered {
    look: Look,
    /// Where the path of the look begins.
    base: PathBuf,
    seen: Value,
}

impl Memory {
    /// What is at a path, or was when a check looked there first.
    pub fn look(&self, host_files: &HostFiles, look: &Look) -> Value {
        let base = match look.base {
            Base::Definition => &host_files.definition,
            Base::Run => &host_files.run,
        };
        let is_same = |it: &&Remembered| it.look == *look && it.base == *base;
        if let Some(known) = self.0.borrow().iter().find(is_same) {
            return known.seen.clone();
        }
        let seen = host_files.look(look).to_value();
        self.0.borrow_mut().push(Remembered { look: look.clone(), base: base.clone(), seen: seen.clone() });
        seen
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use jurat_core::check::Wants;

    use super::*;

    #[test]
    fn checks_of_one_case_see_the_same() {
        let folder = tempfile::tempdir().expect("there is room for files");
        let other = tempfile::tempdir().expect("there is room for files");
        let at = |run: &Path| HostFiles { definition: folder.path().to_owned(), run: run.to_owned() };
        let look = |wants: Wants| Look { path: "report.md".to_owned(), base: Base::Run, wants };
        let memory = Memory::default();
        let nothing = memory.look(&at(folder.path()), &look(Wants::Kind));
        for folder in [&folder, &other] {
            std::fs::write(folder.path().join("report.md"), "late").expect("files can be written");
        }
        assert_eq!(memory.look(&at(folder.path()), &look(Wants::Kind)), nothing);
        // Who wants more, or looks elsewhere, looks.
        assert_ne!(memory.look(&at(folder.path()), &look(Wants::Text(10))), nothing);
        assert_ne!(memory.look(&at(other.path()), &look(Wants::Kind)), nothing);
    }
}
