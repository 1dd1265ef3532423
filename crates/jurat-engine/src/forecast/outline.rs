//! A plan in words: stages, what each task compares, who is asked.

use jurat_core::effect::Role;
use jurat_core::plan::{PlannedTask, TaskIx};
use jurat_core::report::plan::{CostBound, PlanAsking, PlanReport, PlanTask};
use jurat_core::suite::{CaseKind, ExpectedValue, Selection, Task, TaskComparison};
use jurat_format::value::shown;
use jurat_store::records::{RowNames, sections_by_source};

use super::most_calls_of_ask;
use crate::scenario_graph::scenario_graph;
use crate::{Definition, Roles};

/// The plan without anything that depends on data.
pub(super) fn outlined(definition: Definition<'_>, roles: &Roles) -> PlanReport {
    let Definition { suite, plan, .. } = definition;
    let names = RowNames::of_all(&suite.records);
    let sources = (0..).zip(sections_by_source(&suite.records)).map(|(ix, _)| names.source(ix).replace('`', ""));
    let task = |ix: &TaskIx| planned(definition, roles, *ix);
    PlanReport {
        suite: suite.name.as_ref().map_or("suite", |it| it.value.as_str()).to_owned(),
        description: suite.description.clone(),
        sources: sources.chain(plan.case_sections().map(str::to_owned)).collect(),
        cases: None,
        // Conversations are drawn as graphs.
        asking: plan.ask.as_ref().filter(|it| it.talks().next().is_none()).map(|ask| PlanAsking {
            prompts: ask.prompts.iter().map(|(name, _)| name.clone()).collect(),
            subjects: roles.subjects.iter().map(|it| it.name.clone()).collect(),
            max_calls: most_calls_of_ask(ask),
            tools: ask.tools.clone(),
        }),
        scenarios: plan.all_scenarios().map(|it| scenario_graph(plan, it, &|role| players(roles, role))).collect(),
        stages: plan.stages.iter().map(|stage| stage.iter().map(task).collect()).collect(),
        calls: None,
        in_journal: None,
        calls_left: None,
        cost: CostBound::Unknown(Vec::new()),
    }
}

/// The models of a role, as people call them; without a role, the subjects of cases.
fn players(roles: &Roles, role: Option<&str>) -> Vec<String> {
    let Some(role) = role else { return roles.subjects.iter().map(|it| it.name.clone()).collect() };
    let model = roles.models.iter().find(|it| it.role == Role::from(role));
    vec![model.map_or_else(|| role.to_owned(), |it| it.model.name.clone())]
}

fn planned(Definition { suite, plan, .. }: Definition<'_>, roles: &Roles, ix: TaskIx) -> PlanTask {
    let (written, planned): (&Task, &PlannedTask) = (&suite.tasks[ix.index()], &plan.tasks[ix.index()]);
    let judges = planned.work.judge().into_iter().flat_map(|it| &it.models).map(Role::name);
    let name = |role: &str| {
        let model = roles.models.iter().find(|it| it.role == Role::from(role));
        model.map_or_else(|| role.to_owned(), |it| it.model.name.clone())
    };
    let checks = planned.work.sees().iter();
    let mut depends_on: Vec<String> = Vec::new();
    for id in planned.depends_on.iter().chain(checks).map(|it| &plan.tasks[it.index()].id) {
        // Checks of several cases may have one name.
        if !depends_on.contains(id) {
            depends_on.push(id.clone());
        }
    }
    PlanTask {
        id: planned.id.clone(),
        kind: written.kind.name().to_owned(),
        gate: planned.gate,
        depends_on,
        models: judges.chain(planned.work.embedder()).map(name).collect(),
        description: written.description.clone(),
        compares: written.comparison.as_ref().map(compared),
        on: written.scope.as_ref().map(|it| it.value.clone()).or_else(|| narrowed(&written.on)),
        max_calls: plan.tasks[ix.index()].work.max_calls(),
    }
}

/// ``category equals `kitchen` ``
fn compared(comparison: &TaskComparison) -> String {
    let path = comparison.path.as_ref().map(|it| it.value.to_string());
    let expected = comparison.expected.as_ref().map(|it| match &it.value {
        ExpectedValue::Literal(value) => shown(value),
        ExpectedValue::Path(path) => format!("${{{path}}}"),
        ExpectedValue::Filled(filled) => shown(&filled.written),
    });
    let operator = comparison.operator.value.entry().snake_case();
    [path, Some(operator), expected].into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// Which cases a task is for, when it is not for all.
fn narrowed(on: &Selection) -> Option<String> {
    match on {
        Selection::All | Selection::Kind(CaseKind::Records) => None,
        Selection::Kind(CaseKind::Cases) => Some("cases".to_owned()),
        Selection::Kind(CaseKind::Scenarios) => Some("scenarios".to_owned()),
        Selection::Ids(ids) => Some(ids.iter().map(|it| it.value.as_str()).collect::<Vec<_>>().join(", ")),
        Selection::Tag(tag) => Some(format!("tag: {}", tag.value)),
    }
}
