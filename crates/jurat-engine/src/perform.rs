//! Who makes requests. The only asynchronous trait: everything around it decides what to ask and what to do with the outcome.

use std::cell::RefCell;
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use std::time::Duration;

use jurat_core::check::{Base, Files as _, Look};
use jurat_core::effect::{Deed, EffectKey, Endpoint, EndpointKey, ModelRequest, Outcome, deed_key};
use jurat_core::scenario::Callable;
use jurat_format::value::{Val, Value};
use jurat_host::Sight;
use jurat_model::{Toolbox, Turn};

use crate::Stop;

/// A question on its way to a model.
#[derive(Clone, Copy)]
pub struct Question<'q> {
    /// The id of the case that asks.
    pub case: &'q str,
    /// The id of the task that asks; empty when the case asks its subject, or in a turn.
    pub task: &'q str,
    /// The turn of a scenario that asks.
    pub turn: Option<Turn<'q>>,
    /// Who goes first, the least number; among equals, who came first.
    pub priority: u64,
    /// What is asked, and of whom.
    pub request: &'q ModelRequest,
    /// How many requests it may take.
    pub max_requests: u32,
    /// Whether it may still be asked. What is sent before the run is stopped is finished, what waits by then is not sent.
    pub stop: &'q Stop,
    /// To be called when it is sent; until then it waits for others.
    pub sent: &'q (dyn Fn() + Sync),
}

/// A future on one thread.
pub type LocalFuture<'f, T> = Pin<Box<dyn Future<Output = T> + 'f>>;

/// Those who can be asked.
pub trait Perform {
    fn asked(&self, role: &str) -> Option<Asked<'_>>;

    /// Asks. Dropping the future gives up, and gives back whatever it held.
    fn perform<'p>(&'p self, question: Question<'p>) -> LocalFuture<'p, Outcome>;

    fn doer(&self, deed: &Deed) -> Doer;

    /// Has a deed done. Dropping the future gives up.
    fn act<'p>(&'p self, act: Act<'p>) -> LocalFuture<'p, Outcome>;

    /// Servers of its own for one case, where cases must not share them.
    fn own_tools(&self) -> Option<Toolbox>;

    /// Whether answers depend on the order of questions, so that cases have to come one after the other.
    fn is_sequential(&self) -> bool;

    /// Whether something was not asked because a budget was used up.
    fn is_budget_exhausted(&self) -> bool {
        false
    }
}

/// Who plays a role.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'m> {
    pub endpoint: &'m Arc<Endpoint>,
    pub key: &'m EndpointKey,
    /// Whether its answers may cost money, so that they are kept for other runs and equal questions share one answer.
    pub is_paid: bool,
}

impl Asked<'_> {
    /// The key of a request to it.
    pub fn key_of(&self, request: &ModelRequest) -> EffectKey {
        self.key.of(request)
    }
}

/// Who does a deed.
#[derive(Debug, Clone, PartialEq)]
pub struct Doer {
    /// What it is known by in keys.
    pub digest: Value,
    /// Whether what it comes to stands for other cases and runs, too.
    pub is_reusable: bool,
}

impl Doer {
    /// The key of a deed that it does.
    pub fn key_of(&self, deed: &Deed) -> EffectKey {
        deed_key(&self.digest, deed)
    }
}

/// A deed on its way.
#[derive(Debug, Clone, Copy)]
pub struct Act<'a> {
    /// What is to be done.
    pub deed: &'a Deed,
    /// The code, when it is a call and the code is there.
    pub callable: Option<&'a Callable>,
    /// The servers of the case, where it has its own.
    pub tools: Option<&'a Toolbox>,
    /// What is around it, when a check has it done.
    pub surroundings: Option<&'a Surroundings<'a>>,
    /// How long it may take.
    pub patience: Duration,
    /// Whether it may still begin. What has begun is finished, what waits by then is not.
    pub stop: &'a Stop,
}

/// What is around a check.
#[derive(Debug)]
pub struct Surroundings<'a> {
    pub sight: Sight,
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
    /// What is at a path, or was when somebody looked there.
    pub fn look(&self, sight: &Sight, look: &Look) -> Value {
        let base = match look.base {
            Base::Definition => &sight.definition,
            Base::Run => &sight.run,
        };
        let is_same = |it: &&Remembered| it.look == *look && it.base == *base;
        if let Some(known) = self.0.borrow().iter().find(is_same) {
            return known.seen.clone();
        }
        let seen = sight.look(look).to_value();
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
        let at = |run: &Path| Sight { definition: folder.path().to_owned(), run: run.to_owned() };
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
