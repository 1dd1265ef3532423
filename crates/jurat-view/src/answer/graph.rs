//! The graphs of a run: its tasks, and the conversations that were held.

use std::collections::BTreeMap;

use jurat_core::report::plan::{CostBound, PlanReport, PlanTask};
use jurat_engine::view::RunView;
use jurat_engine::view::query::{Columns, Query};
use serde_json::json;

use super::{Answer, Failure, Shown, Work};
use crate::page::graph::{self, GraphPage};
use crate::part::graph::{Followed, following};

pub(super) fn answer(work: &Work<'_>, shown: &Shown<'_>) -> Result<Answer, Failure> {
    let report = shown.view.report()?;
    let plan = plan(shown.view);
    let followed = followed(&work.shared.columns.of(shown.view)?, shown.view, &plan)?;
    let page = GraphPage { run: shown.id.to_owned(), plan, followed, report };
    Ok(Answer::of(work.form, || graph::page(&page), || data(&page)))
}

/// The tasks of a run, stage by stage, as far as a drawing needs them.
pub(super) fn plan(view: &RunView) -> PlanReport {
    let plan = view.plan();
    let mut stages: BTreeMap<usize, Vec<PlanTask>> = BTreeMap::new();
    for ((task, written), stage) in plan.tasks.iter().zip(&view.suite().tasks).zip(plan.stage_numbers()) {
        let depends_on = task.depends_on.iter().filter_map(|it| plan.tasks.get(it.index())).map(|it| it.id.clone());
        let kind = written.kind.name().to_owned();
        let max_calls = u64::from(kind == "judge");
        stages.entry(stage).or_default().push(PlanTask {
            id: task.id.clone(),
            kind,
            gate: task.gate,
            depends_on: depends_on.collect(),
            description: written.description.clone(),
            max_calls,
            ..PlanTask::default()
        });
    }
    PlanReport {
        suite: view.head().suite.clone(),
        description: None,
        sources: Vec::new(),
        cases: None,
        asking: None,
        stages: stages.into_values().collect(),
        scenarios: Vec::new(),
        calls: None,
        in_journal: None,
        calls_left: None,
        cost: CostBound::Unknown(Vec::new()),
    }
}

/// In how many cases each arrow between two tasks was followed.
pub(super) fn followed(columns: &Columns<'_>, view: &RunView, plan: &PlanReport) -> Result<Followed, Failure> {
    let mut followed = Followed::new();
    for task in plan.tasks() {
        for before in &task.depends_on {
            let query = Query::parse(&following(plan, before, &task.id), view, columns)?;
            let Ok(query) = query else { continue };
            followed.insert((before.clone(), task.id.clone()), query.candidates(view, columns)?.count());
        }
    }
    Ok(followed)
}

fn data(page: &GraphPage) -> String {
    let task = |it: &PlanTask| json!({ "id": it.id, "kind": it.kind, "depends_on": it.depends_on });
    let tasks: Vec<serde_json::Value> = page.plan.tasks().map(task).collect();
    let scenarios = page.report.scenarios.iter().map(|it| {
        let nodes = it.graph.nodes.iter().map(|it| json!({ "id": it.id, "visits": it.visits }));
        let edges = it.graph.edges.iter().map(|edge| {
            json!({ "from": it.graph.node_id(edge.from), "to": it.graph.target(edge.to), "when": edge.when, "taken": edge.taken })
        });
        json!({ "name": it.graph.name, "nodes": nodes.collect::<Vec<_>>(), "edges": edges.collect::<Vec<_>>() })
    });
    json!({ "version": 1, "run_id": page.run, "tasks": tasks, "scenarios": scenarios.collect::<Vec<_>>() }).to_string()
}
