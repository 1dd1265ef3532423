//! Servers that are asked for their tools, each once however often it is needed.

use std::collections::BTreeMap;

use super::{Offer, ServerTool, ToolFilter, offered, why};
use crate::effect::{Action, Asker, Outcome, Slot, Step};

/// What servers were asked, and what they have.
#[derive(Debug, Clone, Default)]
pub struct Listing {
    /// Those that are needed now.
    servers: Vec<String>,
    /// The tools of each server that said which it has.
    listed: BTreeMap<String, Vec<ServerTool>>,
    /// Those that did not say, by their places, and why.
    failed: BTreeMap<usize, String>,
}

impl Listing {
    /// Says which servers are needed now. Those that are known already are not asked again.
    pub fn need(&mut self, servers: &[String]) {
        self.servers = servers.to_vec();
        self.failed.clear();
    }

    /// The requests that may be made now.
    pub fn steps(&self, asker: Asker) -> Vec<Step> {
        let step = |(ix, server): (u32, &String)| {
            self.is_open(ix).then(|| Step::action(asker, Slot::Tools, ix, Action::ListTools { server: server.clone() }))
        };
        (0..).zip(&self.servers).filter_map(step).collect()
    }

    /// Whether the server at a place has still to say what it has.
    pub fn is_open(&self, ix: u32) -> bool {
        let ix = ix as usize;
        self.servers.get(ix).is_some_and(|it| !self.listed.contains_key(it) && !self.failed.contains_key(&ix))
    }

    /// Whether all have said what they have, or why they do not.
    pub fn is_done(&self) -> bool {
        (0..).zip(&self.servers).all(|(ix, _)| !self.is_open(ix))
    }

    /// Takes in what the server at a place said.
    pub fn apply(&mut self, ix: u32, outcome: &Outcome) {
        let Some(server) = self.servers.get(ix as usize).filter(|_| self.is_open(ix)) else { return };
        match outcome {
            Outcome::Returned(returned) if !returned.is_error => {
                self.listed.insert(server.clone(), ServerTool::listed(server, &returned.value));
            }
            outcome => {
                self.failed.insert(ix as usize, why(outcome));
            }
        }
    }

    /// Why there are no tools, when a server did not say what it has: the first in order, and not the first in time.
    pub fn failure(&self) -> Option<String> {
        let (ix, reason) = self.failed.first_key_value()?;
        Some(format!("the tools of `{}` could not be listed: {reason}", self.servers[*ix]))
    }

    /// The tools of the servers that are needed now, without those that a filter removes.
    pub fn offers(&self, filter: &ToolFilter) -> Vec<Offer> {
        offered(self.servers.iter().filter_map(|it| self.listed.get(it)).flatten(), filter)
    }
}
