//! The graph of a plan as boxes and arrows, independent of the format.

use std::collections::HashMap;

use jurat_core::report::gate_name;

use super::{PlanReport, PlanTask};
use crate::words::cut;

/// Boxes and arrows.
pub(super) struct Graph {
    /// In the order of stages. What is asked before anything is judged comes first.
    pub(super) blocks: Vec<Block>,
    pub(super) arrows: Vec<Arrow>,
}

/// What stands for a task, or for the question to the subject.
pub(super) struct Block {
    /// The id of the task; nothing for the question to the subject.
    pub(super) task: Option<String>,
    pub(super) name: String,
    /// What it is, in a few words.
    pub(super) about: String,
    /// What its author says about it.
    pub(super) description: Option<String>,
    pub(super) shape: Shape,
    /// Whether what follows waits for it to pass.
    pub(super) is_gate: bool,
    /// The row it stands in, from 0.
    pub(super) layer: usize,
}

/// How a box differs from others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// The subject is asked.
    Asking,
    /// A model is asked to judge.
    Judge,
    /// No model is asked.
    Other,
}

/// From what is waited for to what waits.
pub(super) struct Arrow {
    pub(super) from: usize,
    pub(super) to: usize,
    /// Whether the one waits for the other to pass.
    pub(super) is_gated: bool,
}

/// How much of a name is shown.
const ROOM: usize = 48;

impl Shape {
    pub(super) fn name(self) -> &'static str {
        match self {
            Shape::Asking => "asking",
            Shape::Judge => "judge",
            Shape::Other => "task",
        }
    }
}

impl Graph {
    pub(super) fn of(plan: &PlanReport) -> Graph {
        let mut graph = Graph { blocks: Vec::new(), arrows: Vec::new() };
        if let Some(asking) = &plan.asking {
            let name = "ask".to_owned();
            let about = cut(&asking.subjects.join(", "), ROOM);
            let (shape, is_gate) = (Shape::Asking, false);
            graph.blocks.push(Block { task: None, name, about, description: None, shape, is_gate, layer: 0 });
        }
        let n_before = graph.blocks.len();
        let mut places: HashMap<&str, usize> = HashMap::new();
        for (stage, tasks) in plan.stages.iter().enumerate() {
            for task in tasks {
                let to = graph.blocks.len();
                let mut arrows: Vec<usize> =
                    task.depends_on.iter().filter_map(|id| places.get(&**id)).copied().collect();
                arrows.sort_unstable();
                arrows.dedup();
                // What depends on nothing else waits for the answer of the subject.
                let arrows = if arrows.is_empty() { (0..n_before).collect() } else { arrows };
                let gated = |from: usize| Arrow { from, to, is_gated: graph.blocks[from].is_gate };
                graph.arrows.extend(arrows.into_iter().map(gated));
                graph.blocks.push(block(task, n_before + stage));
                places.insert(&task.id, to);
            }
        }
        graph
    }
}

fn block(task: &PlanTask, layer: usize) -> Block {
    let gate = gate_name(task.gate);
    let parts = [task.kind.as_str(), gate].into_iter().filter(|it| !it.is_empty());
    let models = (!task.models.is_empty()).then(|| format!("asks {}", task.models.join(", ")));
    let about: Vec<&str> = parts.chain(models.as_deref()).collect();
    Block {
        task: Some(task.id.clone()),
        name: cut(&task.id, ROOM),
        about: cut(&about.join(" · "), ROOM),
        description: task.description.clone(),
        is_gate: task.gate.routes(),
        shape: if task.max_calls > 0 { Shape::Judge } else { Shape::Other },
        layer,
    }
}
