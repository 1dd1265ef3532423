//! What tasks see of their cases before anything runs: the sample rows, with what asking about them adds, and what a conversation leaves.

use super::probes;
use super::shape::Shape;
use crate::evidence::scenario;
use crate::suite::{CaseKind, Selection, Suite, Task};

/// What is known of the cases of a suite.
#[derive(Debug)]
pub(super) struct Bases {
    rows: Option<Base>,
    scenarios: Option<Base>,
    /// Of a task for all of them: a path that leads somewhere in some of them is right.
    both: Option<Base>,
}

/// What tasks see of some cases.
#[derive(Debug)]
pub(super) struct Base {
    pub(super) shape: Shape,
    pub(super) of: Cases,
}

/// The cases that tasks see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cases {
    /// Rows.
    Rows,
    /// Conversations.
    Scenarios,
    /// Both.
    Both,
}

impl Bases {
    /// Of a suite with these sample rows.
    pub(super) fn of(suite: &Suite, rows: Option<Shape>) -> Bases {
        let rows = match &suite.ask {
            // What could not be read might have added anything.
            _ if suite.lost.ask => None,
            Some(ask) => Some(probes::base(rows, ask)),
            None => rows,
        };
        let scenarios = (!suite.scenarios.is_empty()).then(|| Shape::of_schema(&scenario::schema()));
        let both = rows.clone().zip(scenarios.clone()).map(|(rows, scenarios)| rows.or(scenarios));
        let base = |shape: Option<Shape>, of| shape.map(|shape| Base { shape, of });
        Bases {
            rows: base(rows, Cases::Rows),
            scenarios: base(scenarios, Cases::Scenarios),
            both: base(both, Cases::Both),
        }
    }

    /// What a task sees; `None` when that cannot be known.
    pub(super) fn of_task(&self, suite: &Suite, task: &Task) -> Option<&Base> {
        self.of_cases(cases_of(suite, task)?)
    }

    /// What is seen of all cases.
    pub(super) fn of_all(&self, suite: &Suite) -> Option<&Base> {
        self.of_cases(all_cases(suite)?)
    }

    fn of_cases(&self, cases: Cases) -> Option<&Base> {
        match cases {
            Cases::Rows => self.rows.as_ref(),
            Cases::Scenarios => self.scenarios.as_ref(),
            Cases::Both => self.both.as_ref(),
        }
    }
}

/// The cases of a suite; `None` when there may be others.
fn all_cases(suite: &Suite) -> Option<Cases> {
    // What agents leave has parts of its own, which their runners decide.
    if !suite.cases.is_empty() {
        return None;
    }
    match (suite.records.is_empty() && suite.ask.is_none(), suite.scenarios.is_empty()) {
        (_, true) => Some(Cases::Rows),
        (_, false) if suite.lost.cases => None,
        (true, false) => Some(Cases::Scenarios),
        (false, false) => Some(Cases::Both),
    }
}

/// The cases that a task is for.
fn cases_of(suite: &Suite, task: &Task) -> Option<Cases> {
    if let Some(scope) = &task.scope {
        let is_scenario = suite.scenarios.iter().any(|it| it.name.value == scope.value);
        return is_scenario.then_some(Cases::Scenarios);
    }
    let some = |n: usize, all: usize| match n {
        0 => Cases::Rows,
        n if n == all => Cases::Scenarios,
        _ => Cases::Both,
    };
    match &task.on {
        Selection::Kind(CaseKind::Records) => Some(Cases::Rows),
        Selection::Kind(CaseKind::Scenarios) => Some(Cases::Scenarios),
        Selection::Kind(CaseKind::Cases) => None,
        Selection::Ids(ids) => {
            if ids.iter().any(|id| suite.cases.iter().any(|it| it.id.value == id.value)) {
                return None;
            }
            let is_scenario = |id: &str| suite.scenarios.iter().any(|it| it.name.value == id);
            Some(some(ids.iter().filter(|it| is_scenario(&it.value)).count(), ids.len()))
        }
        Selection::Tag(tag) => {
            if suite.cases.iter().any(|it| it.tags.contains(&tag.value)) {
                return None;
            }
            let has_tag = suite.scenarios.iter().any(|it| it.scenario.tags.contains(&tag.value));
            if has_tag { all_cases(suite) } else { Some(Cases::Rows) }
        }
        Selection::All => all_cases(suite),
    }
}
