//! What is wrong with scenarios once everything is read: names that nothing has, flaws of the graph, code that is not there.

use std::collections::HashSet;

use jurat_format::codes;
use jurat_format::problem::{Code, Problem, listed_all, listed_plainly};
use jurat_format::value::{Span, Spanned, Val};

use super::Suite;
use crate::scenario::structure::{QuestionPart, Unread, flaws_besides, has_foreign_template};
use crate::scenario::text::{ScenarioText, places};
use crate::scenario::{Absence, Callable, Condition, FailureCategory, Flaw, Handover, Scenario, StateUpdate};
use crate::section::lost::Part;
use crate::template::{Template, Trait};

/// Everything that can be known about the scenarios of a suite before running them.
pub(crate) fn examine(suite: &Suite) -> Vec<Problem> {
    let mut problems = Vec::new();
    for text in &suite.scenarios {
        let Resolved { scenario, problems: found, unread } = text.resolved(suite);
        problems.extend(found);
        let flaws = flaws_besides(&scenario, &unread);
        let known = flaws.into_iter().filter(|it| text.is_certain(it));
        problems.extend(known.map(|it| text.problem(&scenario, &it)));
        problems.extend(text.without_code());
        problems.extend(text.foreign_templates(&scenario));
        problems.extend(nothing_concluded(suite, text));
    }
    problems
}

/// A scenario with everything it names in its place, as far as it is there.
struct Resolved {
    scenario: Scenario,
    problems: Vec<Problem>,
    unread: Unread,
}

impl ScenarioText {
    /// The scenario with the templates and rubrics that it names in their places, and a problem for each name that nothing has.
    pub fn resolve(&self, suite: &Suite) -> (Scenario, Vec<Problem>) {
        let Resolved { scenario, problems, .. } = self.resolved(suite);
        (scenario, problems)
    }

    fn resolved(&self, suite: &Suite) -> Resolved {
        let mut scenario = self.scenario.clone();
        let mut problems = Vec::new();
        let mut unread = Unread::default();
        for (ix, text) in self.nodes.iter().enumerate() {
            if text.is_flawed {
                unread.templates.insert(ix);
                unread.rubrics.insert(ix);
            }
            if let Some(name) = &text.template {
                match self.template(suite, name) {
                    Ok(template) => scenario.nodes[ix].template = template,
                    Err(problem) => {
                        problems.extend(problem);
                        unread.templates.insert(ix);
                    }
                }
            }
            if let Some(name) = &text.rubric {
                match rubric(suite, name) {
                    Ok(traits) => scenario.nodes[ix].rubric = Some(traits),
                    Err(problem) => {
                        problems.extend(problem);
                        unread.rubrics.insert(ix);
                    }
                }
            }
        }
        let mut is_rated = !self.lost.any(Part::Rubric);
        if let Some(name) = &self.rubric {
            match rubric(suite, name) {
                Ok(traits) => scenario.rubric = traits,
                Err(problem) => {
                    problems.extend(problem);
                    is_rated = false;
                }
            }
        }
        if !is_rated {
            unread.rubrics.extend(0..self.nodes.len());
        }
        Resolved { scenario, problems, unread }
    }

    /// The template with a name: an entry of `templates`, else the one of the node that is called so. `Ok(None)` when that node has none.
    fn template(&self, suite: &Suite, name: &Spanned<String>) -> Result<Option<Template>, Option<Problem>> {
        let mut seen = HashSet::new();
        let mut wanted = name.value.as_str();
        let places = places(self);
        loop {
            if let Some((_, template)) = suite.templates.iter().find(|(it, _)| it.value == wanted) {
                return Ok(Some(template.clone()));
            }
            let Some(ix) = places.get(wanted).copied() else {
                let may_be_there = suite.lost.has(Part::Template, wanted) || self.lost.has(Part::Node, wanted);
                let nodes = self.scenario.node_ids();
                let known: Vec<&str> = suite.templates.iter().map(|(it, _)| it.value.as_str()).chain(nodes).collect();
                return Err((!may_be_there).then(|| {
                    let message = format!("there is neither a template nor a node `{wanted}`");
                    let problem = Problem::new(&codes::UNKNOWN_TEMPLATE, message).at(name.span, "unknown template");
                    problem.did_you_mean(wanted, known).help("a template stands in the node, or under `templates`")
                }));
            };
            if !seen.insert(ix) {
                let message = format!("`{}` leads back to itself", name.value);
                let problem = Problem::new(&codes::UNKNOWN_TEMPLATE, message).at(name.span, "the template of a node");
                return Err(Some(problem.help("one of these nodes needs a template of its own")));
            }
            match &self.nodes[ix].template {
                Some(next) => wanted = &next.value,
                None if self.nodes[ix].is_flawed => return Err(None),
                None => return Ok(self.scenario.nodes[ix].template.clone()),
            }
        }
    }

    /// Whether a flaw is one whatever stands in the parts that could not be read.
    fn is_certain(&self, flaw: &Flaw) -> bool {
        let lost = &self.lost;
        let is_lost = |id: &str| lost.has(Part::Node, id);
        let edge = |ix: &usize| &self.scenario.edges[*ix];
        let is_readable = |ix: &usize| !self.edges[*ix].is_flawed;
        let has_all_nodes = !lost.any(Part::Node);
        match flaw {
            Flaw::NoEntry => !lost.any(Part::Entry),
            Flaw::UnknownEntry => !is_lost(&self.scenario.entry),
            Flaw::UnknownSource { edge: ix } => !is_lost(&edge(ix).source),
            Flaw::UnknownTarget { edge: ix } => !is_lost(edge(ix).target.name()),
            Flaw::Unreachable { .. } => !lost.any(Part::Edge) && has_all_nodes,
            Flaw::NoWayOut { .. } => {
                !lost.any(Part::Edge) && has_all_nodes && self.edges.iter().all(|it| !it.is_flawed)
            }
            Flaw::NoFallback { edges, .. } => !lost.any(Part::Edge) && edges.iter().all(is_readable),
            Flaw::SeveralFallbacks { edges, .. } => edges.iter().all(is_readable),
            Flaw::Shadowed { edge, by } => is_readable(edge) && is_readable(by),
            Flaw::UnknownField { reason: Absence::Node(id), .. } => !is_lost(id),
            // What could not be read of a node may be its `state_update`.
            Flaw::UnknownField { reason: Absence::Unset { .. }, .. } => {
                has_all_nodes && self.nodes.iter().all(|it| !it.is_flawed)
            }
            Flaw::UnknownTurnField { .. } => has_all_nodes && !lost.any(Part::Edge),
            Flaw::Impossible { edge, .. } | Flaw::UnknownCategory { edge, .. } => is_readable(edge),
            Flaw::OutcomeWithoutNode { node, exists, .. } => !is_lost(node) && (!exists || !lost.any(Part::Edge)),
            Flaw::DuplicateNode { .. }
            | Flaw::ReservedIdentity { .. }
            | Flaw::EmptyQuestion { .. }
            | Flaw::UnknownField { .. }
            | Flaw::DuplicateOutcome { .. } => true,
        }
    }

    /// A flaw as a problem at its place.
    fn problem(&self, scenario: &Scenario, flaw: &Flaw) -> Problem {
        let problem = Problem::new(code(flaw), flaw.words(scenario).to_string());
        let id = |ix: &usize| scenario.nodes[*ix].id.as_str();
        let node = |ix: &usize| self.nodes[*ix].id;
        let edge = |ix: &usize| &self.edges[*ix];
        let ids = || scenario.node_ids();
        match flaw {
            Flaw::NoEntry => {
                let problem = problem.at(self.name.span, "starts where?");
                match ids().next() {
                    Some(first) => problem.help(format!("add `entry`, for example `entry: {first}`")),
                    None => problem.help("add `nodes` and `entry`"),
                }
            }
            Flaw::UnknownEntry => {
                let problem = problem.at(self.entry.unwrap_or(self.name.span), "unknown node");
                suggested(problem, &scenario.entry, ids())
            }
            Flaw::DuplicateNode { node: ix, first } => {
                problem.at(node(ix), "again here").at(node(first), "first here").help("give one of them another id")
            }
            Flaw::ReservedIdentity { node: ix } => {
                let place = self.nodes[*ix].agent_identity.unwrap_or(node(ix));
                problem.at(place, "reserved").help("choose another name for the model that answers")
            }
            Flaw::EmptyQuestion { node: ix, part } => {
                let problem = problem.at(self.nodes[*ix].question, "in this node");
                match part {
                    QuestionPart::Text => problem.help("write what is asked"),
                    QuestionPart::RawAnswer => problem.help("write what would be right, or leave `raw_answer` out"),
                }
            }
            Flaw::UnknownSource { edge: ix } => {
                suggested(problem.at(edge(ix).source, "unknown node"), &scenario.edges[*ix].source, ids())
            }
            Flaw::UnknownTarget { edge: ix } => {
                let known = ids().chain([crate::scenario::END]);
                suggested(problem.at(edge(ix).target, "unknown node"), scenario.edges[*ix].target.name(), known)
            }
            Flaw::Unreachable { nodes } => {
                let problem = nodes.iter().fold(problem, |problem, it| problem.at(node(it), "never asked"));
                problem.help(format!("add an edge that leads here from `{}`, or take it out", scenario.entry))
            }
            Flaw::NoFallback { node: ix, edges } => {
                let problem = problem.at(node(ix), "has no edge without `when`");
                let problem =
                    edges.iter().take(3).fold(problem, |problem, it| problem.at(edge(it).span, "has a condition"));
                problem.help(format!("add one, for example `{} -> __end__`", id(ix)))
            }
            Flaw::SeveralFallbacks { edges, .. } => {
                let problem =
                    edges.iter().skip(1).take(3).fold(problem, |problem, it| problem.at(edge(it).span, "never taken"));
                let problem = edges
                    .first()
                    .into_iter()
                    .fold(problem, |problem, it| problem.at(edge(it).span, "always taken instead"));
                problem.help("give the others a condition, or take them out")
            }
            Flaw::Shadowed { edge: ix, by } => {
                let problem = problem.at(edge(ix).when.unwrap_or(edge(ix).span), "never taken");
                let problem = problem.at(edge(by).when.unwrap_or(edge(by).span), "taken instead");
                problem.help("put the narrower condition first, or take one of them out")
            }
            Flaw::NoWayOut { nodes } => {
                let problem = nodes.iter().fold(problem, |problem, it| problem.at(node(it), "never left"));
                let last = nodes.last().map_or("", id);
                problem.help(format!("add a way out, for example `{last} -> __end__`"))
            }
            Flaw::UnknownField { edge: ix, field, reason } => {
                let problem = problem.at(edge(ix).when.unwrap_or(edge(ix).span), "never there");
                absent(problem, scenario, field, reason)
            }
            Flaw::UnknownTurnField { outcome, field, reason } => {
                let outcome = &self.outcomes[*outcome];
                let problem = problem.at(outcome.check.unwrap_or(outcome.name), "always null");
                absent(problem, scenario, field, reason)
            }
            Flaw::Impossible { edge: ix, .. } => {
                let problem = problem.at(edge(ix).when.unwrap_or(edge(ix).span), "never holds");
                problem.help("change one of its parts, or write them as alternatives: `{any: [{…}, {…}]}`")
            }
            Flaw::UnknownCategory { edge: ix, category } => {
                let names = FailureCategory::NAMED.map(|(name, _)| name);
                let problem = problem.at(edge(ix).when.unwrap_or(edge(ix).span), "no failure has it");
                problem.did_you_mean(category, names).help(format!("categories are {}", listed_all(names)))
            }
            Flaw::DuplicateOutcome { outcome, first } => {
                let (again, first) = (self.outcomes[*outcome].name, self.outcomes[*first].name);
                problem.at(again, "again here").at(first, "first here").help("give one of them another name")
            }
            Flaw::OutcomeWithoutNode { outcome, node, exists } => {
                let outcome = &self.outcomes[*outcome];
                let problem = problem.at(outcome.check.unwrap_or(outcome.name), "looks at no turn");
                match exists {
                    true => problem.help("without such a turn it cannot hold"),
                    false => suggested(problem, node, ids()),
                }
            }
        }
    }

    /// Text of code without the code.
    fn without_code(&self) -> Vec<Problem> {
        let is_text = |it: &Callable| it.function.is_none();
        let mut found: Vec<(Span, &str)> = Vec::new();
        for (node, text) in self.scenario.nodes.iter().zip(&self.nodes) {
            if let Some(StateUpdate::Callable(callable)) = &node.state_update
                && is_text(callable)
            {
                found.push((text.state_update.unwrap_or(text.id), "write `state_update: {cel: …}`"));
            }
        }
        for (edge, text) in self.scenario.edges.iter().zip(&self.edges).filter(|(_, it)| !it.is_flawed) {
            if let Some(Condition::Callable(callable)) = &edge.when
                && is_text(callable)
            {
                found.push((text.when.unwrap_or(text.span), "write `when: {…}`, or `when: {cel: …}`"));
            }
        }
        for (edge, text) in self.scenario.edges.iter().zip(&self.edges) {
            if let Some(Handover::Callable(callable)) = &edge.handover
                && is_text(callable)
            {
                found.push((
                    text.handover.unwrap_or(text.span),
                    "write `handover: transcript_prepend` or another of them",
                ));
            }
        }
        for (criterion, text) in self.scenario.outcomes.iter().zip(&self.outcomes) {
            if criterion.check.is_none() && criterion.evaluate.as_ref().is_some_and(is_text) {
                found.push((text.check.unwrap_or(text.name), "write `check: {…}`, or `check: {cel: …}`"));
            }
        }
        let problem = |(span, help): (Span, &str)| {
            let message = "the text of code is not run, and the code itself is not here";
            Problem::new(&codes::NO_CODE, message)
                .at(span, "text of code")
                .help(format!("{help}, or build the scenario in a program that has the code"))
        };
        found.into_iter().map(problem).collect()
    }

    /// Templates of Karenina that cannot be read without running them.
    fn foreign_templates(&self, scenario: &Scenario) -> Vec<Problem> {
        let nodes = scenario.nodes.iter().zip(&self.nodes);
        let foreign = nodes.filter(|(node, text)| has_foreign_template(node) && !text.is_flawed);
        let problem = |(node, text): (&crate::scenario::Node, &crate::scenario::text::NodeText)| {
            let source = node.question.stored.get("answer_template").and_then(Val::as_str).unwrap_or_default();
            let reason = Template::from_python_source(source).err().unwrap_or_default();
            let message = format!("the template of the node `{}` is code, which is not run: {reason}", node.id);
            let problem = Problem::new(&codes::FOREIGN_TEMPLATE, message).at(text.question, "its `answer_template`");
            problem
                .help("write `template` with the fields that it reads; without, answers are compared with `raw_answer`")
        };
        foreign.map(problem).collect()
    }
}

/// What could be read in the place of something that is never there.
fn absent(problem: Problem, scenario: &Scenario, field: &str, reason: &Absence) -> Problem {
    match reason {
        Absence::Nowhere => {
            let roots: HashSet<&str> = ROOTS.into_iter().collect();
            let root = field.split_once('.').map_or(field, |(root, _)| root);
            let problem = if roots.contains(root) { problem } else { problem.did_you_mean(root, ROOTS) };
            problem.help(format!("a condition may look at {}", listed_all(PATHS)))
        }
        Absence::Node(id) => suggested(problem, id, scenario.node_ids()),
        Absence::Field { nodes, field, known } => {
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            let problem = problem.did_you_mean(field, known.iter().copied());
            match known.as_slice() {
                [] => problem.help(format!("give {} a template that reads it", named(nodes))),
                known => problem.help(format!("read from answers: {}", listed_plainly(known))),
            }
        }
        Absence::Unset { key, known } => {
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            let problem = problem.did_you_mean(key, known.iter().copied());
            match known.as_slice() {
                [] => problem.help(format!("set it where a node ends: `state_update: {{cel: \"{{'{key}': …}}\"}}`")),
                known => problem.help(format!("nodes set {}", listed_plainly(known))),
            }
        }
        Absence::Trait { nodes, name, known } => {
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            let problem = problem.did_you_mean(name, known.iter().copied());
            match known.as_slice() {
                [] => problem.help(format!("give {} or the scenario a rubric with it", named(nodes))),
                known => problem.help(format!("turns are rated by {}", listed_plainly(known))),
            }
        }
    }
}

fn named(nodes: &[String]) -> String {
    match nodes {
        [node] => format!("the node `{node}`"),
        _ => "one of the nodes".to_owned(),
    }
}

/// What conditions look at, as it is written.
const PATHS: [&str; 8] = [
    "verify_result",
    "turn",
    "current_node",
    "parsed.FIELD",
    "accumulated.KEY",
    "node_visits.NODE",
    "node_results.NODE…",
    "failure.category",
];

const ROOTS: [&str; 8] =
    ["verify_result", "turn", "current_node", "parsed", "accumulated", "node_visits", "node_results", "failure"];

fn code(flaw: &Flaw) -> &'static Code {
    match flaw {
        Flaw::NoEntry => &codes::NO_ENTRY,
        Flaw::UnknownEntry | Flaw::UnknownSource { .. } | Flaw::UnknownTarget { .. } => &codes::UNKNOWN_NODE,
        Flaw::DuplicateNode { .. } | Flaw::DuplicateOutcome { .. } => &codes::DUPLICATE_ID,
        Flaw::ReservedIdentity { .. } | Flaw::EmptyQuestion { .. } => &codes::WRONG_VALUE,
        Flaw::Unreachable { .. } => &codes::UNREACHABLE_NODE,
        Flaw::NoFallback { .. } => &codes::NO_FALLBACK,
        Flaw::SeveralFallbacks { .. } => &codes::SECOND_FALLBACK,
        Flaw::Shadowed { .. } => &codes::SHADOWED_EDGE,
        Flaw::NoWayOut { .. } => &codes::NO_WAY_OUT,
        Flaw::UnknownTurnField { .. } => &codes::UNKNOWN_PART,
        Flaw::UnknownField { .. } | Flaw::UnknownCategory { .. } => &codes::UNKNOWN_STATE,
        Flaw::Impossible { .. } => &codes::NEVER_TAKEN,
        Flaw::OutcomeWithoutNode { .. } => &codes::OUTCOME_WITHOUT_NODE,
    }
}

fn suggested<'n>(problem: Problem, written: &str, known: impl Iterator<Item = &'n str>) -> Problem {
    let known: Vec<&str> = known.collect();
    match jurat_format::problem::nearest(written, known.iter().copied()) {
        Some(near) => problem.help(format!("did you mean `{near}`?")),
        None => problem.help(format!("there are {}", listed_all(known))),
    }
}

fn rubric(suite: &Suite, name: &Spanned<String>) -> Result<Vec<Trait>, Option<Problem>> {
    let found = suite.rubrics.iter().find(|(it, _)| it == name);
    found.map(|(_, traits)| traits.clone()).ok_or_else(|| {
        (!suite.lost.has(Part::Rubric, &name.value)).then(|| {
            let problem = Problem::new(&codes::UNKNOWN_RUBRIC, format!("there is no rubric `{}`", name.value));
            let known = suite.rubrics.iter().map(|(it, _)| it.value.as_str());
            let problem = problem.at(name.span, "unknown rubric").did_you_mean(&name.value, known);
            problem.help("a rubric is a list of traits, here or under `rubrics`")
        })
    })
}

/// A conversation that no outcome or task judges.
fn nothing_concluded(suite: &Suite, text: &ScenarioText) -> Option<Problem> {
    let has_task = suite.tasks.iter().any(|it| it.scope.as_ref().is_none_or(|scope| *scope == text.name));
    let may_have = text.lost.any(Part::Outcome) || suite.lost.any(Part::Task);
    if !text.scenario.outcomes.is_empty() || has_task || may_have {
        return None;
    }
    let message = format!("nothing is concluded about the scenario `{}`", text.name.value);
    let problem = Problem::new(&codes::NOTHING_CONCLUDED, message).at(text.name.span, "has neither outcomes nor tasks");
    Some(problem.help("its turns are verified, and nothing is counted; add `outcomes`, for example `held: { all_turns: { verify_result: true } }`"))
}
