//! Cases before they are run.

use std::sync::Arc;

use jurat_compare::expression::Interrupt;
use jurat_core::agent::AgentCase;
use jurat_core::plan::{CaseIx, CaseLayout, CaseSource, Plan};
use jurat_core::scenario::Scenario;
use jurat_format::value::{Map, Val};
use jurat_store::records::RowId;
use jurat_store::run::RowPlace;

use crate::rows::Selection;
use crate::{RunError, Stop};

/// A case with something to ask.
#[derive(Debug, Clone)]
pub(crate) struct OpenCase {
    pub(crate) case_ix: CaseIx,
    /// When it runs: its number, unless rows run in a random order.
    pub(crate) turn: u64,
    pub(crate) id: RowId<'static>,
    pub(crate) place: RowPlace,
    /// The row; the cases of one row share it.
    pub(crate) text: Arc<str>,
    pub(crate) source: CaseSource,
}

/// The cases that stand in the definition: scenarios and tasks for agents.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DefinedCases<'s> {
    pub(crate) plan: &'s Plan,
    pub(crate) layout: CaseLayout,
    /// How many sources rows come from. In run files the sections of the definition follow them.
    pub(crate) n_row_sources: u32,
}

impl DefinedCases<'_> {
    /// The first case of each source that is selected.
    pub(crate) fn selected(&self, selection: &Selection, stop: &Stop) -> Result<Vec<OpenCase>, RunError> {
        let _entered = stop.evaluations().enter();
        let selected = self.all_selected(selection);
        // Which ones are selected is not known.
        if Interrupt::was_noticed() { Ok(Vec::new()) } else { selected }
    }

    fn all_selected(&self, selection: &Selection) -> Result<Vec<OpenCase>, RunError> {
        let scenarios = self.plan.scenarios.iter().map(|it| About::scenario(&it.scenario)).enumerate();
        let scenarios = scenarios.map(|(ix, about)| (CaseSource::Scenario(ix), ix, about));
        let agents = self.plan.cases.iter().map(|it| About::case(it)).enumerate();
        let agents = agents.map(|(ix, about)| (CaseSource::Agent(ix), ix, about));
        let mut selected = Vec::new();
        for (source, ix, about) in scenarios.chain(agents) {
            let is_room = selection.limit.is_none_or(|it| (selected.len() as u64) < it);
            if is_room && is_selected(selection, &about)? {
                selected.push(self.opened(source, ix, about.id));
            }
        }
        Ok(selected)
    }

    fn opened(&self, source: CaseSource, ix: usize, id: &str) -> OpenCase {
        let is_second = matches!(source, CaseSource::Agent(_)) && !self.plan.scenarios.is_empty();
        let place = RowPlace { source: self.n_row_sources + u32::from(is_second), number: ix as u64 + 1, bytes: None };
        let (id, text) = (RowId::Given(id.to_owned().into()), Arc::from(""));
        let case_ix = self.layout.case(source, 0);
        OpenCase { case_ix, turn: case_ix.number(), id, place, text, source }
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
