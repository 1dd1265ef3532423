//! Rows that no run has asked about come first.
//!
//! In a run over a million known rows a new one would wait for all that stand before it in the file. So the rows are read twice: ahead, for the cases whose first
//! requests the journal has no answer to, and then in order for all others. Only first requests count, because what follows them depends on answers. The order
//! never changes a verdict.

use std::collections::HashMap;
use std::io;
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use jurat_core::case::Case;
use jurat_core::effect::{Messages, ModelRequest, PerformerKey, Request, Role, Step};
use jurat_core::plan::{CaseIx, Plan};
use jurat_store::journal::KnownKeys;

use crate::job::{Job, Mode};
use crate::perform::Perform;
use crate::rows::{Rows, Selection};
use crate::variants::Asked;
use crate::{RunError, Stop};

/// Fewer rows are run within some milliseconds, in any order.
const MANY_ROWS: u64 = 256;

/// Reading a key takes as long as a hundredth of running a known row. For fewer rows than this part of the answers it is not worth it.
const ANSWERS_PER_ROW: u64 = 64;

/// Finds the cases that ask something new.
pub(crate) struct Unseen<'r> {
    known: KnownKeys,
    /// The models whose answers runs share.
    models: HashMap<Role, PerformerKey<'r>>,
    asked: &'r [Asked],
    opened: Mutex<CaseSet>,
}

impl<'r> Unseen<'r> {
    /// `None` where the order of the rows is right: few rows need no other, a stream can be read only once, and `--fail-fast` and performers that depend on
    /// the order of requests ask for it.
    pub(crate) fn of(job: &'r Job<'_>, rows: &Rows<'_>, stop: &Stop) -> Result<Option<Unseen<'r>>, RunError> {
        let Mode::Ask { perform, journal: Some(answers), fresh: false, .. } = job.mode else { return Ok(None) };
        let Some(journal) = answers.shared() else { return Ok(None) };
        let needs_order = perform.is_sequential() || job.fail_fast || job.watch.is_some() || job.shard.is_some();
        let models = shared_models(job.plan, &job.asked, perform);
        let is_stream = job.records.iter().any(|it| it.from.is_stream());
        if needs_order || models.is_empty() || is_stream {
            return Ok(None);
        }
        let n_answers = journal.n_answers()?;
        let many = MANY_ROWS.max(n_answers / ANSWERS_PER_ROW);
        if n_answers == 0 || !are_there(many, rows, job.selection, stop) {
            return Ok(None);
        }
        let known = journal.known_keys()?;
        Ok(Some(Unseen { known, models, asked: &job.asked, opened: Mutex::default() }))
    }

    /// What a variant asks, and whom; `None` when rows are only judged.
    pub(crate) fn asked(&self, variant: usize) -> Option<&Asked> {
        self.asked.get(variant)
    }

    /// Whether a case that has not begun asks something new.
    pub(crate) fn is_new(&self, case: &Case<'_>) -> bool {
        case.steps(&[]).iter().any(|it| self.asks_something_new(it))
    }

    fn asks_something_new(&self, step: &Step) -> bool {
        let Request::Model(request) = &step.request else { return false };
        self.models.get(&request.model).is_some_and(|key| !self.known.may_have(&step.request.key(key)))
    }

    /// Notes that a case was opened ahead of its turn.
    pub(crate) fn note(&self, case_ix: CaseIx) {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner).insert(case_ix);
    }

    /// Whether a case was opened ahead of its turn.
    pub(crate) fn is_opened(&self, case_ix: CaseIx) -> bool {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner).has(case_ix)
    }
}

/// The models that rows and judges ask and whose answers runs share, with what they add to the keys of requests.
fn shared_models<'r>(plan: &Plan, asked: &[Asked], perform: &'r dyn Perform) -> HashMap<Role, PerformerKey<'r>> {
    let judges = plan.tasks.iter().filter_map(|it| it.work.judge()).flat_map(|it| &it.models);
    let roles = judges.chain(asked.iter().map(|it| &it.model));
    let shared = roles.filter_map(|role| {
        let request = Request::Model(Box::new(ModelRequest::new(role.clone(), Messages::default())));
        let performer = perform.performer(&request).filter(|it| it.is_shared)?;
        Some((role.clone(), performer.key))
    });
    shared.collect()
}

/// Whether there are at least `many` rows. What is wrong with them is reported when they are run.
fn are_there(many: u64, rows: &Rows<'_>, selection: &Selection, stop: &Stop) -> bool {
    let mut n_rows = 0;
    let _ = rows.read(selection, 0, &mut io::empty(), stop, &mut |batch| {
        n_rows += batch.chunk.rows.len() as u64;
        if n_rows < many { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    n_rows >= many
}

/// A set of cases, a bit each.
#[derive(Debug, Default)]
struct CaseSet(Vec<u64>);

impl CaseSet {
    /// The word of a case, and its bit in that.
    fn place(case: CaseIx) -> (usize, u64) {
        (case.index() / 64, 1 << (case.index() % 64))
    }

    fn insert(&mut self, case: CaseIx) {
        let (word, bit) = CaseSet::place(case);
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= bit;
    }

    fn has(&self, case: CaseIx) -> bool {
        let (word, bit) = CaseSet::place(case);
        self.0.get(word).is_some_and(|it| it & bit != 0)
    }
}
