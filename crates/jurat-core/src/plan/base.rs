//! What tasks see of their cases before anything runs: the sample rows, with what asking about them adds, what a conversation leaves, and what a run of an
//! agent leaves.

use super::probes;
use super::shape::Shape;
use crate::evidence::{run, scenario};
use crate::section::lost::Part;
use crate::suite::{CaseKind, Selection, Suite, Task};

/// What is known of the cases of a suite: for each set of kinds, by its number. Of a task for several kinds, a path that leads somewhere in some of them is
/// right.
#[derive(Debug)]
pub(super) struct Bases([Option<Base>; 8]);

/// What tasks see of some cases.
#[derive(Debug)]
pub(super) struct Base {
    pub(super) shape: Shape,
    pub(super) of: Cases,
}

/// The kinds of cases that tasks see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Cases {
    pub(super) rows: bool,
    pub(super) scenarios: bool,
    pub(super) runs: bool,
}

impl Cases {
    pub(super) const ROWS: Cases = Cases { rows: true, scenarios: false, runs: false };
    pub(super) const SCENARIOS: Cases = Cases { rows: false, scenarios: true, runs: false };
    const RUNS: Cases = Cases { rows: false, scenarios: false, runs: true };

    fn of_number(number: usize) -> Cases {
        Cases { rows: number & 1 != 0, scenarios: number & 2 != 0, runs: number & 4 != 0 }
    }

    fn number(self) -> usize {
        usize::from(self.rows) | usize::from(self.scenarios) << 1 | usize::from(self.runs) << 2
    }

    fn and(self, other: Cases) -> Cases {
        Cases::of_number(self.number() | other.number())
    }

    /// What each kind is called when it is looked into.
    pub(super) fn names(self) -> Vec<&'static str> {
        let kinds = [
            (self.rows, "a sample row"),
            (self.scenarios, "the evidence of a scenario"),
            (self.runs, "the evidence of a run"),
        ];
        kinds.into_iter().filter_map(|(is_among, name)| is_among.then_some(name)).collect()
    }
}

impl Bases {
    /// Of a suite with these sample rows.
    pub(super) fn of(suite: &Suite, rows: Option<Shape>) -> Bases {
        let rows = match &suite.ask {
            // What could not be read might have added anything.
            _ if suite.lost.any(Part::Ask) => None,
            Some(ask) => Some(probes::base(rows, suite, ask)),
            None => rows,
        };
        let talks = suite.scenarios.iter().map(|it| of_talk(it.scenario.over_records, rows.as_ref()));
        let scenarios = talks.reduce(Shape::or);
        let runs = (!suite.cases.is_empty()).then(|| Shape::of_schema(&run::schema()));
        let shape = |of: Cases| {
            let kinds = [(of.rows, &rows), (of.scenarios, &scenarios), (of.runs, &runs)];
            let known: Option<Vec<Shape>> =
                kinds.into_iter().filter(|(is_among, _)| *is_among).map(|(_, shape)| shape.clone()).collect();
            known?.into_iter().reduce(Shape::or)
        };
        Bases(std::array::from_fn(|number| {
            let of = Cases::of_number(number);
            shape(of).map(|shape| Base { shape, of })
        }))
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
        self.0[cases.number()].as_ref()
    }
}

impl Suite {
    /// Whether there are other cases than rows that hold their evidence: conversations, or tasks for agents.
    pub(super) fn defines_cases(&self) -> bool {
        !self.scenarios.is_empty() || !self.cases.is_empty()
    }

    /// Whether conversations are held about each row.
    pub(super) fn talks_about_rows(&self) -> bool {
        self.scenarios.iter().any(|it| it.scenario.over_records)
    }
}

/// What tasks see of a conversation: what it leaves and, where it is about a row, the row.
fn of_talk(is_about_row: bool, rows: Option<&Shape>) -> Shape {
    let schema = scenario::schema();
    let own = |key: &str| schema.get("properties").and_then(|it| it.get(key)).map(Shape::of_schema);
    if !is_about_row {
        return Shape::of_schema(&schema).with_member(scenario::ROW, None);
    }
    let row = rows.cloned().unwrap_or_else(Shape::any_object);
    let keys = scenario::KEYS.iter().filter(|it| **it != scenario::ROW);
    let base = keys.fold(row.clone(), |base, key| base.with_member(key, own(key)));
    base.with_member(scenario::ROW, Some(row))
}

/// The cases of a suite; `None` when there may be others.
fn all_cases(suite: &Suite) -> Option<Cases> {
    let (scenarios, runs) = (!suite.scenarios.is_empty(), !suite.cases.is_empty());
    if (scenarios || runs) && suite.lost.any(Part::Case) {
        return None;
    }
    // A suite without any has lost its rows, or gets them when it is run.
    let rows = !suite.records.is_empty() || suite.ask.is_some() || !(scenarios || runs);
    let rows = rows && !suite.talks_about_rows();
    Some(Cases { rows, scenarios, runs })
}

/// The cases that a task is for.
fn cases_of(suite: &Suite, task: &Task) -> Option<Cases> {
    let is_scenario = |id: &str| suite.scenarios.iter().any(|it| it.name.value == id);
    let is_run = |id: &str| suite.cases.iter().any(|it| it.id.value == id);
    let kind_of = |id: &str| match () {
        () if is_scenario(id) => Cases::SCENARIOS,
        () if is_run(id) => Cases::RUNS,
        () if suite.talks_about_rows() => Cases::SCENARIOS,
        () => Cases::ROWS,
    };
    if let Some(scope) = &task.scope {
        let is_known = is_scenario(&scope.value) || is_run(&scope.value);
        return is_known.then(|| kind_of(&scope.value));
    }
    match &task.on {
        Selection::Kind(CaseKind::Records) => Some(Cases::ROWS),
        Selection::Kind(CaseKind::Scenarios) => Some(Cases::SCENARIOS),
        Selection::Kind(CaseKind::Cases) => Some(Cases::RUNS),
        Selection::Ids(ids) => ids.iter().map(|it| kind_of(&it.value)).reduce(Cases::and),
        Selection::Tag(tag) => {
            let scenarios = suite.scenarios.iter().any(|it| it.scenario.tags.contains(&tag.value));
            let runs = suite.cases.iter().any(|it| it.tags.contains(&tag.value));
            let all = all_cases(suite)?;
            // A row of a conversation may have the tag, too.
            let scenarios = scenarios || suite.talks_about_rows();
            // Whether rows have the tag shows when they are read.
            Some(Cases { rows: all.rows || !(scenarios || runs), scenarios, runs })
        }
        Selection::All => all_cases(suite),
    }
}
