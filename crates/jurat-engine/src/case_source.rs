//! Cases before they are run: where each comes from.

use std::sync::Arc;

use jurat_compare::expression::Interrupt;
use jurat_core::agent::AgentCase;
use jurat_core::plan::Plan;
use jurat_core::scenario::Scenario;
use jurat_format::value::{Map, Val};
use jurat_store::records::RowId;
use jurat_store::run::RowPlace;

use crate::rows::Selection;
use crate::{RunError, Stop};

/// Where the evidence of a case comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CaseSource {
    /// A row that holds it.
    Row,
    /// A row about which a model is asked.
    Probe,
    /// The scenario with this index.
    Scenario(usize),
    /// The task for an agent with this index.
    Agent(usize),
}

/// A case with something to ask.
#[derive(Debug, Clone)]
pub(crate) struct OpenCase {
    pub(crate) case_ix: u64,
    pub(crate) id: RowId<'static>,
    pub(crate) place: RowPlace,
    /// The row; the cases of one row share it.
    pub(crate) text: Arc<str>,
    pub(crate) source: CaseSource,
}

/// The scenarios of a plan, and its tasks for agents. They are numbered before all rows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scenarios<'s> {
    pub(crate) plan: &'s Plan,
    /// The number that run files have for where they come from: the first behind those of rows.
    pub(crate) source: u32,
}

impl Scenarios<'_> {
    /// Those that are selected, each once.
    pub(crate) fn selected(&self, selection: &Selection, stop: &Stop) -> Result<Vec<OpenCase>, RunError> {
        let _entered = stop.evaluations().enter();
        let selected = self.all_selected(selection);
        // Which ones are selected is not known.
        if Interrupt::was_noticed() { Ok(Vec::new()) } else { selected }
    }

    fn all_selected(&self, selection: &Selection) -> Result<Vec<OpenCase>, RunError> {
        let mut selected = Vec::new();
        for (ix, ready) in self.plan.scenarios.iter().enumerate() {
            let is_room = selection.limit.is_none_or(|it| (selected.len() as u64) < it);
            if is_room && is_selected(selection, &About::scenario(&ready.scenario))? {
                selected.push(OpenCase {
                    case_ix: ix as u64,
                    id: RowId::Given(ready.scenario.name.clone().into()),
                    place: RowPlace { source: self.source, number: ix as u64 + 1, bytes: None },
                    text: Arc::from(""),
                    source: CaseSource::Scenario(ix),
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
                    source: CaseSource::Agent(ix),
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
