//! The graphs along which conversations go, and what a run says about all conversations along one of them.

use crate::scenario::Status;

/// The graph of a scenario.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ScenarioGraph {
    pub name: String,
    /// What its author says about it.
    pub description: Option<String>,
    /// How many turns it may take.
    pub turn_limit: u32,
    /// How many calls of models one conversation takes at most, those of judges included.
    pub max_calls: u64,
    /// The nodes, in the order they were written.
    pub nodes: Vec<GraphNode>,
    /// The node it starts with.
    pub entry: usize,
    /// The edges, in the order they were written.
    pub edges: Vec<GraphEdge>,
}

/// A node of a graph.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GraphNode {
    pub id: String,
    pub question: String,
    /// What its author says about it.
    pub description: Option<String>,
    pub subjects: Vec<String>,
    /// The model that reads and rates answers, when there is one.
    pub parser: Option<String>,
    /// The servers whose tools may be used.
    pub tools: Vec<String>,
    /// The tools of them that may not: a server, or `server/tool`.
    pub tools_removed: Vec<String>,
    /// How often a run visited it; `None` when this is about no run.
    pub visits: Option<u64>,
}

/// An edge of a graph.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GraphEdge {
    pub from: usize,
    /// The node it goes to; `None` when the conversation ends.
    pub to: Option<usize>,
    /// When it is taken, in words; `None` for the way that is left when no other is.
    pub when: Option<String>,
    /// What the next turn receives of those before it, when it is not simply the conversation.
    pub handover: Option<String>,
    /// How often a run took it; `None` when this is about no run.
    pub taken: Option<u64>,
    /// The turns of one conversation after which it was taken, from 1; empty in a graph of all conversations.
    pub turns: Vec<u32>,
}

impl ScenarioGraph {
    /// The name of where an edge goes, as definitions have it.
    pub fn target(&self, to: Option<usize>) -> &str {
        to.map_or(crate::scenario::END, |ix| self.node_id(ix))
    }

    /// The id of a node.
    pub fn node_id(&self, ix: usize) -> &str {
        self.nodes.get(ix).map_or("", |it| it.id.as_str())
    }

    /// The edges that leave a node.
    pub fn edges_of(&self, node: usize) -> impl Iterator<Item = &GraphEdge> {
        self.edges.iter().filter(move |it| it.from == node)
    }
}

/// All conversations along one graph.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ScenarioTotal {
    /// The graph, with how often each node and edge was taken.
    pub graph: ScenarioGraph,
    /// Whether outcomes or tasks say what to conclude; without, nothing is counted.
    pub is_concluded: bool,
    pub statuses: StatusCounts,
    pub turns: TurnCounts,
    /// Its outcomes, in the order they were written.
    pub outcomes: Vec<OutcomeTotal>,
}

/// How many conversations ended how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StatusCounts {
    /// They reached an end of the graph.
    pub completed: u64,
    /// They took as many turns as they may.
    pub limit_reached: u64,
    /// They took as long as they may.
    pub timeout: u64,
    /// A turn failed in another way than by its content.
    pub error: u64,
    /// They were not held: something stopped the run before.
    pub not_run: u64,
}

/// The turns of some conversations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TurnCounts {
    /// How many conversations there are.
    pub conversations: u64,
    /// How many turns they took together.
    pub total: u64,
    /// The turns of the shortest.
    pub least: u64,
    /// The turns of the longest.
    pub most: u64,
    /// How many answers were compared with what would be right.
    pub judged: u64,
    /// How many of those were right.
    pub verified: u64,
}

/// One outcome over all conversations.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OutcomeTotal {
    pub name: String,
    /// How often it was true.
    pub held: u64,
    /// How often it was false.
    pub failed: u64,
    /// How often it was a value that is neither, such as a number.
    pub measured: u64,
    /// How often it could not be decided.
    pub error: u64,
}

/// Something that no conversation of a run exercised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unexercised {
    /// A node that was never asked.
    Node(String),
    /// An edge that was never taken.
    Edge {
        from: String,
        /// Where it goes, as definitions have it.
        to: String,
        /// When it is taken, in words.
        when: Option<String>,
    },
    /// An outcome that was never true.
    NeverTrue(String),
    /// An outcome that was never false.
    NeverFalse(String),
    /// An outcome that was never decided.
    NeverDecided(String),
}

impl StatusCounts {
    /// Counts one more; `None` for one that was not held.
    pub fn add(&mut self, status: Option<Status>) {
        *match status {
            Some(Status::Completed) => &mut self.completed,
            Some(Status::LimitReached) => &mut self.limit_reached,
            Some(Status::Timeout) => &mut self.timeout,
            Some(Status::Error) => &mut self.error,
            None => &mut self.not_run,
        } += 1;
    }

    pub fn total(&self) -> u64 {
        self.each().into_iter().map(|(_, n)| n).sum()
    }

    /// Every status with how many ended so, in the order in which they are listed.
    pub fn each(&self) -> [(&'static str, u64); 5] {
        [
            ("completed", self.completed),
            ("limit_reached", self.limit_reached),
            ("timeout", self.timeout),
            ("error", self.error),
            ("not_run", self.not_run),
        ]
    }
}

impl TurnCounts {
    /// Counts a conversation of this number of turns.
    pub fn add(&mut self, n_turns: u64) {
        self.least = if self.conversations == 0 { n_turns } else { self.least.min(n_turns) };
        self.most = self.most.max(n_turns);
        self.conversations += 1;
        self.total += n_turns;
    }

    /// How many turns a conversation took.
    pub fn mean(&self) -> Option<f64> {
        (self.conversations > 0).then(|| self.total as f64 / self.conversations as f64)
    }
}

impl ScenarioTotal {
    /// What no conversation exercised: nodes, edges and outcomes, in the order they were written.
    pub fn unexercised(&self) -> Vec<Unexercised> {
        let nodes =
            self.graph.nodes.iter().filter(|it| it.visits == Some(0)).map(|it| Unexercised::Node(it.id.clone()));
        let edges = self.graph.edges.iter().filter(|it| it.taken == Some(0)).map(|it| Unexercised::Edge {
            from: self.graph.node_id(it.from).to_owned(),
            to: self.graph.target(it.to).to_owned(),
            when: it.when.clone(),
        });
        nodes.chain(edges).chain(self.outcomes.iter().filter_map(OutcomeTotal::unexercised)).collect()
    }
}

impl OutcomeTotal {
    fn unexercised(&self) -> Option<Unexercised> {
        let name = self.name.clone();
        match (self.held, self.failed) {
            // A number is neither true nor false.
            _ if self.measured > 0 => None,
            (0, 0) => Some(Unexercised::NeverDecided(name)),
            (0, _) => Some(Unexercised::NeverTrue(name)),
            (_, 0) => Some(Unexercised::NeverFalse(name)),
            _ => None,
        }
    }
}
