//! Which cases a task applies to.
//!
//! For a case that it does not apply to, a task is absent: it is neither run nor counted nor shown. So a task may only
//! depend on tasks that apply wherever it does; otherwise there would be cases in which its dependency is missing, and no
//! answer to whether it may run there. That must follow from what is written (`on`), not from the data.

use std::collections::{BTreeSet, HashSet};

use jurat_format::codes;
use jurat_format::problem::{Problem, Problems, listed_all, nearest};
use jurat_format::value::{Spanned, Val, shown};

use super::graph::Graph;
use super::{Samples, whole_suite};
use crate::agent::AgentCase;
use crate::scenario::Scenario;
use crate::section::lost::Part;
use crate::suite::{CaseKind, Selection, Suite, Task};

/// What a case is known by when tasks are chosen for it.
#[derive(Debug, Clone)]
pub struct CaseName<'c> {
    pub id: &'c str,
    /// The scenario that it is a conversation of.
    pub scenario: Option<&'c str>,
    /// What kind of case it is.
    pub kind: CaseKind,
    /// Its tags: those of its `records`, and those of its row ([`row_tags`]).
    pub tags: Vec<&'c str>,
}

impl<'c> CaseName<'c> {
    pub fn of_scenario(scenario: &'c Scenario) -> CaseName<'c> {
        let tags = scenario.tags.iter().map(String::as_str).collect();
        CaseName { id: &scenario.name, scenario: Some(&scenario.name), kind: CaseKind::Scenarios, tags }
    }

    /// The case of a row that is a conversation about it.
    #[must_use]
    pub fn in_scenario(mut self, scenario: &'c Scenario) -> CaseName<'c> {
        self.tags.extend(scenario.tags.iter().map(String::as_str));
        CaseName { scenario: Some(&scenario.name), kind: CaseKind::Scenarios, ..self }
    }

    /// A row, by its id and its tags.
    pub fn of_row(id: &'c str, tags: Vec<&'c str>) -> CaseName<'c> {
        CaseName { id, scenario: None, kind: CaseKind::Records, tags }
    }

    pub fn of_agent_case(case: &'c AgentCase) -> CaseName<'c> {
        let tags = case.tags.iter().map(String::as_str).collect();
        CaseName { id: &case.id, scenario: None, kind: CaseKind::Cases, tags }
    }
}

/// The cases that a task applies to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CaseSet {
    /// All of them.
    All,
    /// All of one kind.
    Kind(CaseKind),
    /// Those with these ids.
    Ids(BTreeSet<String>),
    /// Those with this tag.
    Tag(String),
    /// One scenario, by its name.
    Scenario(String),
    /// One task for an agent, by its id.
    Case(String),
}

impl CaseSet {
    pub(super) fn of(suite: &Suite, task: &Task) -> CaseSet {
        if let Some(scope) = &task.scope {
            let name = scope.value.clone();
            let is_case = suite.cases.iter().any(|it| it.id.value == name);
            return if is_case { CaseSet::Case(name) } else { CaseSet::Scenario(name) };
        }
        match &task.on {
            Selection::All => CaseSet::All,
            Selection::Kind(kind) => CaseSet::Kind(*kind),
            Selection::Ids(ids) => CaseSet::Ids(ids.iter().map(|it| it.value.clone()).collect()),
            Selection::Tag(tag) => CaseSet::Tag(tag.value.clone()),
        }
    }

    /// Whether a case is one of them.
    pub fn has(&self, case: &CaseName<'_>) -> bool {
        match self {
            CaseSet::All => true,
            CaseSet::Kind(kind) => *kind == case.kind,
            CaseSet::Ids(ids) => ids.contains(case.id),
            CaseSet::Tag(tag) => case.tags.contains(&tag.as_str()),
            CaseSet::Scenario(name) => case.scenario == Some(name),
            CaseSet::Case(id) => case.kind == CaseKind::Cases && id == case.id,
        }
    }

    /// Whether all cases of another set are certainly in this one, whatever the data, in a suite with or without other cases than rows.
    fn has_all_of(&self, other: &CaseSet, has_others: bool) -> bool {
        match (self, other) {
            (CaseSet::All, _) => true,
            // Without others every case is a row of `records`.
            (CaseSet::Kind(CaseKind::Records), _) if !has_others => true,
            (CaseSet::Kind(CaseKind::Cases), CaseSet::Case(_)) => true,
            (CaseSet::Kind(CaseKind::Scenarios), CaseSet::Scenario(_)) => true,
            (CaseSet::Ids(ids), CaseSet::Ids(others)) => ids.is_superset(others),
            (CaseSet::Ids(ids), CaseSet::Scenario(name) | CaseSet::Case(name)) => ids.contains(name),
            _ => self == other,
        }
    }

    fn phrase(&self) -> String {
        match self {
            CaseSet::All => "for all cases".to_owned(),
            CaseSet::Kind(CaseKind::Records) => "for rows only".to_owned(),
            CaseSet::Kind(CaseKind::Cases) => "for agent runs only".to_owned(),
            CaseSet::Kind(CaseKind::Scenarios) => "for scenarios only".to_owned(),
            CaseSet::Ids(_) => "for some ids only".to_owned(),
            CaseSet::Scenario(name) => format!("for the scenario {} only", shown(&Val::from(name.as_str()))),
            CaseSet::Case(id) => format!("for the case {} only", shown(&Val::from(id.as_str()))),
            CaseSet::Tag(tag) => format!("for cases with the tag {} only", shown(&Val::from(tag.as_str()))),
        }
    }
}

/// The tags that a row gives itself: the texts of its list `tags`, or the one text that stands there.
///
/// ```
/// use jurat_core::plan::row_tags;
/// use jurat_format::value::parse_json;
///
/// let row = parse_json(r#"{"id": 1, "tags": ["billing", "hard"]}"#)?.value;
/// assert_eq!(row_tags(&row).collect::<Vec<_>>(), ["billing", "hard"]);
/// # Ok::<(), jurat_format::value::JsonError>(())
/// ```
pub fn row_tags<'r>(row: &'r Val<'_>) -> impl Iterator<Item = &'r str> {
    let tags = row.as_map().and_then(|it| it.get(TAGS));
    let items = tags.map(|it| it.as_list().unwrap_or(std::slice::from_ref(it))).unwrap_or_default();
    items.iter().filter_map(Val::as_str)
}

/// The field of a row that holds its tags.
pub const TAGS: &str = "tags";

pub(super) fn examine(suite: &Suite, graph: &Graph, samples: &Samples, problems: &mut Problems) {
    let sets: Vec<CaseSet> = suite.tasks.iter().map(|it| CaseSet::of(suite, it)).collect();
    let has_others = suite.defines_cases();
    for (ix, task) in suite.tasks.iter().enumerate() {
        for other in graph.depends_on[ix].iter().map(|it| it.index()) {
            // What could not be read of a task may be its `on`.
            let is_known = !task.is_flawed && !suite.tasks[other].is_flawed;
            if is_known
                && problems.has_room(&codes::NARROWER_DEPENDENCY)
                && !sets[other].has_all_of(&sets[ix], has_others)
            {
                problems.push(narrower_dependency((task, &sets[ix]), (&suite.tasks[other], &sets[other])));
            }
        }
    }
    problems.extend(tag_with_comma(suite, samples));
    let tags = known_tags(suite, samples);
    let ids = known_ids(suite, samples);
    for task in &suite.tasks {
        if !problems.has_room(&codes::NO_SUCH_CASE) {
            break;
        }
        problems.extend(no_such_case(suite, task, ids.as_ref(), tags.as_ref()));
    }
}

fn narrower_dependency((task, set): (&Task, &CaseSet), (other, others): (&Task, &CaseSet)) -> Problem {
    let (id, needed) = (&task.id.value, &other.id.value);
    let message = format!("`{id}` depends on `{needed}`, which need not apply to all of its cases");
    let problem = Problem::new(&codes::NARROWER_DEPENDENCY, message)
        .at(task.id.span, set.phrase())
        .at(other.id.span, others.phrase());
    problem.help(format!("give `{id}` the same `on` as `{needed}`, or take `on` away from the latter"))
}

/// Tags that someone wrote with commas between them are one tag, which nothing selects by its parts.
fn tag_with_comma(suite: &Suite, samples: &Samples) -> Option<Problem> {
    let tag = samples.rows.iter().flat_map(|it| row_tags(it)).find(|it| it.contains(','))?;
    let message = format!("a row has the tag {}, which is one tag with a comma in it", shown(&Val::from(tag)));
    let parts: Vec<String> = tag.split(',').map(|it| Val::from(it.trim()).to_json()).collect();
    let problem = whole_suite(suite, &codes::TAG_WITH_COMMA, &message);
    Some(problem.help(format!("several tags are a list, in a cell of a CSV file too: `[{}]`", parts.join(", "))))
}

/// The tags of all sections, and of the rows that were looked at; `None` when some data could not be.
pub(super) fn known_tags<'s>(suite: &'s Suite, samples: &'s Samples) -> Option<HashSet<&'s str>> {
    if samples.is_partial || suite.lost.any(Part::Case) {
        return None;
    }
    let sections = suite.records.iter().flat_map(|it| &it.tags).map(|it| it.value.as_str());
    let scenarios = suite.scenarios.iter().flat_map(|it| &it.scenario.tags).map(String::as_str);
    let cases = suite.cases.iter().flat_map(|it| &it.tags).map(String::as_str);
    Some(sections.chain(scenarios).chain(cases).chain(samples.rows.iter().flat_map(|it| row_tags(it))).collect())
}

/// A tag that no case has.
pub(super) fn unknown_tag(tag: &Spanned<String>, tags: &HashSet<&str>) -> Option<Problem> {
    if tags.contains(tag.value.as_str()) {
        return None;
    }
    let written = shown(&Val::from(tag.value.as_str()));
    let message = format!("neither `records` nor a sample row has the tag {written}");
    let mut known: Vec<&str> = tags.iter().copied().collect();
    known.sort_unstable();
    let problem =
        Problem::new(&codes::NO_SUCH_CASE, message).at(tag.span, "unknown tag").did_you_mean(&tag.value, known);
    Some(problem.help("tags stand in `records: {path: …, tags: […]}`, or in the field `tags` of a row"))
}

/// The ids of all cases; `None` when some are not known.
fn known_ids<'s>(suite: &'s Suite, samples: &'s Samples) -> Option<BTreeSet<&'s str>> {
    if suite.lost.any(Part::Case) || (samples.ids.is_none() && !suite.records.is_empty()) {
        return None;
    }
    // A conversation about rows has their ids.
    let held_once = suite.scenarios.iter().filter(|it| !it.scenario.over_records);
    let scenarios = held_once.map(|it| it.name.value.as_str());
    let cases = suite.cases.iter().map(|it| it.id.value.as_str());
    Some(scenarios.chain(cases).chain(samples.ids.iter().flatten().map(String::as_str)).collect())
}

/// A task that applies to nothing is never counted, and its absence would go unnoticed.
fn no_such_case(
    suite: &Suite,
    task: &Task,
    known: Option<&BTreeSet<&str>>,
    tags: Option<&HashSet<&str>>,
) -> Option<Problem> {
    let code = &codes::NO_SUCH_CASE;
    let problem = match &task.on {
        Selection::Kind(CaseKind::Scenarios) if !suite.scenarios.is_empty() || suite.lost.any(Part::Case) => {
            return None;
        }
        Selection::Kind(CaseKind::Records) if suite.talks_about_rows() => {
            let message = format!("`{}` applies to no case: scenarios are held over the rows", task.id.value);
            Problem::new(code, message).at(task.id.span, "is for `records`").help("write `on: scenarios`")
        }
        Selection::Kind(CaseKind::Cases) if !suite.cases.is_empty() || suite.lost.any(Part::Case) => return None,
        Selection::Kind(kind @ (CaseKind::Cases | CaseKind::Scenarios)) => {
            let kind = if *kind == CaseKind::Cases { "cases" } else { "scenarios" };
            let message = format!("`{}` applies to no case: the suite has no `{kind}`", task.id.value);
            Problem::new(code, message).at(task.id.span, format!("is for `{kind}`")).help("rows are `records`")
        }
        Selection::Ids(ids) if ids.is_empty() && !task.is_flawed => {
            let message = format!("`{}` applies to no case: `on` names none", task.id.value);
            Problem::new(code, message).at(task.id.span, "is for nothing").help("name the ids, or leave `on` out")
        }
        Selection::Ids(ids)
            if let Some(known) = known
                && let Some(id) = ids.iter().find(|it| !known.contains(it.value.as_str())) =>
        {
            let message = format!("there is no case {}", shown(&Val::from(id.value.as_str())));
            let problem = Problem::new(code, message).at(id.span, "no case has this id");
            match nearest(&id.value, known.iter().copied()) {
                Some(near) => problem.help(format!("did you mean `{near}`?")),
                None => problem.help(format!("there are {}", listed_all(known.iter().copied()))),
            }
        }
        Selection::Tag(tag) => return tags.and_then(|it| unknown_tag(tag, it)),
        _ => return None,
    };
    Some(problem)
}
