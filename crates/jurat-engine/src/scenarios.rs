//! Scenarios and tasks for agents on their way to being run: numbered before all rows, and only those that were selected.

use std::sync::Arc;

use jurat_core::agent::AgentCase;
use jurat_core::plan::{CaseName, Plan};
use jurat_core::scenario::Scenario;
use jurat_core::suite::CaseKind;
use jurat_format::value::{Map, Val};
use jurat_store::records::RowId;
use jurat_store::run::RowPlace;

use crate::RunError;
use crate::record_lane::OpenCase;
use crate::rows::Selection;

/// The scenarios of a plan, and its tasks for agents.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scenarios<'s> {
    pub(crate) plan: &'s Plan,
    /// The number that run files have for where they come from: the first behind those of rows.
    pub(crate) source: u32,
}

impl Scenarios<'_> {
    /// Those that are selected, each once.
    pub(crate) fn selected(&self, selection: &Selection) -> Result<Vec<OpenCase>, RunError> {
        let mut selected = Vec::new();
        for (ix, ready) in self.plan.scenarios.iter().enumerate() {
            let is_room = selection.limit.is_none_or(|it| (selected.len() as u64) < it);
            if is_room && is_selected(selection, &About::scenario(&ready.scenario))? {
                selected.push(OpenCase {
                    case_ix: ix as u64,
                    id: RowId::Given(ready.scenario.name.clone().into()),
                    place: RowPlace { source: self.source, number: ix as u64 + 1, bytes: None },
                    text: Arc::from(""),
                    scenario: Some(ix),
                    agent: None,
                });
            }
        }
        let n_scenarios = self.plan.scenarios.len();
        let source = self.source + u32::from(n_scenarios > 0);
        for (ix, case) in self.plan.cases.iter().enumerate() {
            let is_room = selection.limit.is_none_or(|it| (selected.len() as u64) < it);
            if is_room && is_selected(selection, &About::case(case))? {
                selected.push(OpenCase {
                    case_ix: (n_scenarios + ix) as u64,
                    id: RowId::Given(case.id.clone().into()),
                    place: RowPlace { source, number: ix as u64 + 1, bytes: None },
                    text: Arc::from(""),
                    scenario: None,
                    agent: Some(ix),
                });
            }
        }
        Ok(selected)
    }
}

/// What a filter sees of a case that stands in the definition.
struct About<'a> {
    kind: &'static str,
    id: &'a str,
    tags: &'a [String],
    description: &'a str,
    metadata: Vec<(&'a str, Val<'a>)>,
}

impl<'a> About<'a> {
    fn scenario(scenario: &'a Scenario) -> About<'a> {
        let metadata = scenario.metadata.iter().map(|(key, it)| (key, it.borrowed())).collect();
        let (id, description) = (scenario.name.as_str(), scenario.description.as_str());
        About { kind: "scenario", id, tags: &scenario.tags, description, metadata }
    }

    fn case(case: &'a AgentCase) -> About<'a> {
        let members = case.metadata.as_map().into_iter().flat_map(Map::iter);
        let metadata = members.map(|(key, it)| (key, it.borrowed())).collect();
        let description = case.description.as_deref().unwrap_or_default();
        About { kind: "case", id: &case.id, tags: &case.tags, description, metadata }
    }
}

fn is_selected(selection: &Selection, about: &About<'_>) -> Result<bool, RunError> {
    if !selection.tags.is_empty() && !selection.tags.iter().any(|it| about.tags.contains(it)) {
        return Ok(false);
    }
    if selection.rerun.as_ref().is_some_and(|it| !it.has_row(about.id)) {
        return Ok(false);
    }
    let Some(filter) = &selection.filter else { return Ok(true) };
    let tags: Val<'_> = about.tags.iter().map(|it| Val::from(it.as_str())).collect();
    let own = [("id", Val::from(about.id)), ("tags", tags), ("description", Val::from(about.description))];
    let members = about.metadata.iter().cloned().chain(own.clone());
    let row = Val::Map(members.collect::<Map<'_>>());
    let names = row.as_map().into_iter().flat_map(Map::iter).map(|(key, it)| (key, it.borrowed()));
    let names = Val::Map(names.chain([("row", row.borrowed())]).collect::<Map<'_>>());
    let bad = |error| RunError::Filter { row: format!("{} `{}`", about.kind, about.id), error };
    filter.holds(&names).map_err(bad)
}

/// What a scenario is known by when tasks are chosen for it.
pub(crate) fn with_name<T>(scenario: &Scenario, tell: impl FnOnce(&CaseName<'_>) -> T) -> T {
    let tags: Vec<&str> = scenario.tags.iter().map(String::as_str).collect();
    tell(&CaseName { id: &scenario.name, kind: CaseKind::Scenarios, tags: &tags })
}

/// What a task for an agent is known by when tasks are chosen for it.
pub(crate) fn with_case_name<T>(case: &AgentCase, tell: impl FnOnce(&CaseName<'_>) -> T) -> T {
    let tags: Vec<&str> = case.tags.iter().map(String::as_str).collect();
    tell(&CaseName { id: &case.id, kind: CaseKind::Cases, tags: &tags })
}
