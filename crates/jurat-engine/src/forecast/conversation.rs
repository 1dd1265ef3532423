//! How many calls a conversation makes at most.

use jurat_core::plan::{Plan, TaskIx};
use jurat_core::scenario::traversal::{MAX_RETRIES, MOST_TOOL_ROUNDS};
use jurat_core::scenario::{ReadyNode, ReadyScenario, Target};

use super::max_calls;
use crate::scenarios::with_name;

/// The most calls that a scenario makes, those of the judges that look at it included.
pub(crate) fn most_calls(plan: &Plan, ready: &ReadyScenario) -> u64 {
    let turns = u64::from(ready.scenario.turn_limit);
    let dearest = ready.nodes.iter().map(calls_of).max().unwrap_or(0);
    let of_turns = match longest(ready, ready.entry, &mut Vec::new()) {
        // No node comes twice: what the dearest way costs.
        Some((n_turns, calls)) if n_turns <= turns => calls,
        _ => turns.saturating_mul(dearest),
    };
    of_turns.saturating_add(judges(plan, ready).map(|it| max_calls(plan, it)).sum())
}

/// The judges that look at a scenario.
pub(super) fn judges<'p>(plan: &'p Plan, ready: &ReadyScenario) -> impl Iterator<Item = TaskIx> + use<'p> {
    let applies = |ix: usize| with_name(&ready.scenario, |name| plan.applies(TaskIx(ix as u32), name));
    let own: Vec<TaskIx> = (0..plan.tasks.len()).filter(|ix| applies(*ix)).map(|ix| TaskIx(ix as u32)).collect();
    own.into_iter().filter(|it| plan.tasks[it.index()].judge.is_some())
}

/// The most calls of a turn.
fn calls_of(node: &ReadyNode) -> u64 {
    let rounds = if node.tools.is_empty() { 1 } else { MOST_TOOL_ROUNDS };
    let parser = u64::from(node.verification.needs_parser());
    let ratings = node.rubric.requests("", "").len() as u64;
    u64::from(MAX_RETRIES + 1) * (u64::from(rounds) + parser + ratings)
}

/// The turns and calls of the dearest way from a node on; `None` when it may come back to itself.
fn longest(ready: &ReadyScenario, node: usize, before: &mut Vec<usize>) -> Option<(u64, u64)> {
    if before.contains(&node) {
        return None;
    }
    before.push(node);
    let mut most = (0, 0);
    for edge in &ready.nodes[node].edges {
        if let Target::Node(id) = &edge.edge.target
            && let Some(next) = ready.index(id)
        {
            let (turns, calls) = longest(ready, next, before)?;
            most = (most.0.max(turns), most.1.max(calls));
        }
    }
    before.pop();
    Some((most.0 + 1, most.1 + calls_of(&ready.nodes[node])))
}
