//! What a run is given.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jurat_core::plan::Plan;
use jurat_core::suite::Records;
use jurat_store::journal::AnswerStore;
use jurat_store::run::{RunHead, Variant};

use crate::Roles;
use crate::perform::Perform;
use crate::recording::Recording;
use crate::rows::Selection;
use crate::shard::ShardJob;
use crate::sharing::Sharing;
use crate::stopping::StopWatch;
use crate::variants::Asked;

/// What is run and how.
pub struct Job<'j> {
    pub plan: &'j Plan,
    pub records: &'j [Records],
    pub selection: &'j Selection,
    /// The directory that holds `.jurat`.
    pub home: PathBuf,
    /// Where what agents leave is stored.
    pub agent_files: PathBuf,
    /// What each row is made into; empty when a row is one case.
    pub(crate) variants: Vec<Variant>,
    pub(crate) asked: Vec<Asked>,
    pub mode: Mode<'j>,
    pub threads: NonZeroUsize,
    /// How many requests may be in flight.
    pub concurrency: usize,
    pub deadline: Option<Duration>,
    /// Whether the first case that fails or cannot be judged is the last.
    pub fail_fast: bool,
    /// Whether the run is not stopped by an endpoint that fails every request.
    pub keep_going: bool,
    /// Whether rows that passed are copied, too.
    pub keep_all: bool,
    /// Whether each commit waits for the disk.
    pub durable: bool,
    /// What ends the run when enough is known; its rows run in a random order.
    pub(crate) watch: Option<StopWatch>,
    /// The part of the whole that alone is run.
    pub(crate) shard: Option<&'j ShardJob>,
}

/// Where outcomes come from.
#[derive(Clone, Copy)]
pub enum Mode<'m> {
    /// From requests, or from the journal.
    Ask {
        perform: &'m dyn Perform,
        /// Paid answers: of this project, or of the shard that is run.
        journal: Option<AnswerStore<'m>>,
        /// The journal of a team.
        shared: Option<&'m Sharing>,
        /// Whether answers from before this run are left alone.
        fresh: bool,
        /// How old an answer of the journal may be.
        max_age: Option<Duration>,
    },
    /// From a recording, where it asked the models that the definition asks now.
    Replay(&'m dyn Recording, &'m Roles),
}

/// The file of a run.
#[derive(Debug, Clone, Copy)]
pub enum Target<'t> {
    New(&'t Path, &'t RunHead),
    /// One that was killed or stopped.
    Resume(&'t Path),
}
