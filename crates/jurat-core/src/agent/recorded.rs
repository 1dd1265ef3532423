//! `recorded`: nothing is run, the artifact of the run is read.

use super::runner::{Performer, Runner};

pub(super) static RUNNER: Runner = Runner {
    name: "recorded",
    performer: Performer::Recorded,
    takes_turns: false,
    limits_steps: false,
    takes_servers: false,
    skills: None,
    keys: &[],
};
