//! How many calls a conversation makes at most.

use std::collections::HashMap;

use jurat_core::plan::{CaseName, Plan, TaskIx};
use jurat_core::scenario::traversal::MAX_RETRIES;
use jurat_core::scenario::{CompiledNode, CompiledScenario, Target};
use jurat_core::tool::MOST_ROUNDS;

/// The most calls that a scenario makes, those of the judges that look at it included.
pub(crate) fn most_calls(plan: &Plan, ready: &CompiledScenario) -> u64 {
    let turns = u64::from(ready.scenario.turn_limit);
    let dearest = ready.nodes.iter().map(calls_of).max().unwrap_or(0);
    let of_turns = match longest(ready) {
        // No node comes twice: what the dearest way costs.
        Some((n_turns, calls)) if n_turns <= turns => calls,
        _ => turns.saturating_mul(dearest),
    };
    of_turns.saturating_add(judges_of_scenario(plan, ready).map(|it| plan.tasks[it.index()].work.max_calls()).sum())
}

/// The judges that look at a scenario.
pub(crate) fn judges_of_scenario<'p>(
    plan: &'p Plan,
    ready: &CompiledScenario,
) -> impl Iterator<Item = TaskIx> + use<'p> {
    let name = CaseName::of_scenario(&ready.scenario);
    let asks = |it: &TaskIx| plan.tasks[it.index()].work.asks_models() && plan.applies(*it, &name);
    plan.task_ixs().filter(asks).collect::<Vec<_>>().into_iter()
}

/// The most calls of a turn.
fn calls_of(node: &CompiledNode) -> u64 {
    let rounds = if node.tools.is_empty() { 1 } else { MOST_ROUNDS };
    let parser = u64::from(node.verification.needs_parser());
    let ratings = node.rubric.requests("", "").len() as u64;
    u64::from(MAX_RETRIES + 1) * (u64::from(rounds) + parser + ratings)
}

/// What is known of the ways from a node on.
#[derive(Clone, Copy)]
enum Ways {
    Unseen,
    /// They are being followed: a path that leads here again is a cycle.
    Followed,
    /// The turns of the longest, and the calls of the dearest.
    Known(u64, u64),
}

/// The turns of the longest way from the entry on, and the calls of the dearest; `None` when a way may come back to a node.
fn longest(ready: &CompiledScenario) -> Option<(u64, u64)> {
    let places: HashMap<&str, usize> = ready.nodes.iter().enumerate().map(|(ix, it)| (it.id.as_str(), ix)).collect();
    let next = |node: usize, ix: usize| match &ready.nodes[node].edges.get(ix)?.edge.target {
        Target::Node(id) => Some(places.get(id.as_str()).copied()),
        Target::End => Some(None),
    };
    // Each node is followed once: ways that part and meet again would double with every meeting. The stack is our own, as a
    // chain of nodes may be longer than that of a thread is deep.
    let mut ways = vec![Ways::Unseen; ready.nodes.len()];
    let mut stack = vec![(ready.entry, 0, (0, 0))];
    loop {
        let (node, ix, most) = stack.last_mut()?;
        ways[*node] = Ways::Followed;
        match next(*node, *ix) {
            Some(None) => *ix += 1,
            Some(Some(target)) => match ways[target] {
                Ways::Followed => return None,
                Ways::Unseen => stack.push((target, 0, (0, 0))),
                Ways::Known(turns, calls) => {
                    *most = (most.0.max(turns), most.1.max(calls));
                    *ix += 1;
                }
            },
            None => {
                let (turns, calls) = (most.0 + 1, most.1.saturating_add(calls_of(&ready.nodes[*node])));
                ways[*node] = Ways::Known(turns, calls);
                stack.pop();
                if stack.is_empty() {
                    return Some((turns, calls));
                }
            }
        }
    }
}
