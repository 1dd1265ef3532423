//! A scenario compiled to run: names resolved, conditions compiled, what each answer is compared with decided.

use std::collections::HashMap;

use jurat_format::value::{Context, Map, Val, Value};

use super::state::Place;
use super::{CompiledEdge, Condition, Edge, Example, Question, Scenario, StateUpdate, ToolFilter};
use crate::application::RowPaths;
use crate::effect::{Message, Schema};
use crate::judge::ReplyForm;
use crate::prompt::Prompt;
use crate::template::{Rubric, RubricError, Template, Verified, parser, reference};

/// A scenario compiled to run.
#[derive(Debug)]
pub struct CompiledScenario {
    pub scenario: Scenario,
    /// Its nodes, in the same order.
    pub nodes: Vec<CompiledNode>,
    /// The node it starts with.
    pub entry: usize,
    /// What applications are sent of the row that it is about.
    pub row_paths: RowPaths,
    /// The places of its nodes by their ids.
    places: HashMap<String, usize>,
}

/// A node compiled to run.
#[derive(Debug)]
pub struct CompiledNode {
    pub id: String,
    pub question: Question,
    /// Who answers, where it is not the subject of the case.
    pub subject: Option<String>,
    /// Who reads and rates answers: a role, or `provider/model`.
    pub parser: String,
    /// The system message; empty for none.
    pub system: String,
    /// The system message with its placeholders, when it has some.
    pub system_prompt: Option<Prompt>,
    /// Who answers, as the log calls it, where it is not the subject's name.
    pub agent: Option<String>,
    /// The servers whose tools may be used.
    pub tools: Vec<String>,
    /// The tools that may not be used.
    pub tool_filter: ToolFilter,
    /// How the accumulated state changes.
    pub state_update: Option<StateUpdate>,
    /// The edges that leave it.
    pub edges: Vec<CompiledEdge>,
    /// The place of each among all edges of the scenario.
    pub edge_numbers: Vec<usize>,
    pub verification: Verification,
    pub rubric: Rubric,
}

/// How the answers of a node are verified.
#[derive(Debug)]
pub enum Verification {
    /// Not at all: the scenario does not say what would be right.
    Nothing,
    /// By their text, because no model is there to read them.
    ExactMatch,
    /// By a model that compares them with what would be right.
    Default,
    Template(Box<Template>),
}

/// What a turn of a node says, with everything filled in.
#[derive(Debug, Clone, Default)]
pub(super) struct Words {
    pub(super) question: String,
    /// What would be right; empty when the scenario does not say.
    pub(super) answer: String,
    pub(super) system: String,
    /// Questions and answers that are put before it.
    pub(super) examples: Vec<(String, String)>,
    /// The template of the node, where what its fields must be is found by case.
    pub(super) template: Option<Template>,
}

/// Why a scenario cannot be run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotCompiled {
    /// The entry is no node.
    #[error("the scenario `{scenario}` starts with `{entry}`, which is none of its nodes")]
    Entry { scenario: String, entry: String },
    /// Traits that make no rubric.
    #[error("the rubric of `{node}`: {error}")]
    Rubric { node: String, error: RubricError },
}

impl CompiledScenario {
    /// Compiles a scenario. `parser` is the role that reads answers where neither node nor scenario names one; `None` when there is no such model.
    pub fn new(scenario: Scenario, parser: Option<&str>) -> Result<CompiledScenario, NotCompiled> {
        let entry = scenario
            .nodes
            .iter()
            .position(|it| it.id == scenario.entry)
            .ok_or_else(|| NotCompiled::Entry { scenario: scenario.name.clone(), entry: scenario.entry.clone() })?;
        let identity = scenario.nodes[entry].agent_identity.clone();
        let mut leaving: HashMap<&str, Vec<usize>> = HashMap::new();
        for (ix, edge) in scenario.edges.iter().enumerate() {
            leaving.entry(&edge.source).or_default().push(ix);
        }
        let node = |node: &super::Node| {
            let own = leaving.get(node.id.as_str()).cloned().unwrap_or_default();
            let parser = node.models.parser.as_deref().or(scenario.models.parser.as_deref()).or(parser);
            let traits = node.rubric.as_ref().unwrap_or(&scenario.rubric).clone();
            let rubric = Rubric::new(traits).map_err(|error| NotCompiled::Rubric { node: node.id.clone(), error })?;
            Ok(CompiledNode {
                id: node.id.clone(),
                question: node.question.clone(),
                subject: node.models.subject.clone().or_else(|| scenario.models.subject.clone()),
                parser: parser.unwrap_or(PARSER).to_owned(),
                system: node.system.clone().or_else(|| scenario.system.clone()).unwrap_or_default(),
                system_prompt: match node.system {
                    Some(_) => node.system_prompt.clone(),
                    None => scenario.system_prompt.clone(),
                },
                agent: node.agent_identity.clone().or_else(|| identity.clone()),
                tools: node.tools.clone().unwrap_or_else(|| scenario.tools.clone()),
                tool_filter: node.tool_filter.clone(),
                state_update: node.state_update.clone(),
                edges: own.iter().map(|ix| CompiledEdge::new(scenario.edges[*ix].clone())).collect(),
                edge_numbers: own,
                verification: Verification::of(node, parser.is_some()),
                rubric,
            })
        };
        let nodes = scenario.nodes.iter().map(node).collect::<Result<_, NotCompiled>>()?;
        // Of nodes with one id the first counts.
        let places = scenario.nodes.iter().enumerate().rev().map(|(ix, it)| (it.id.clone(), ix)).collect();
        Ok(CompiledScenario { nodes, entry, scenario, row_paths: RowPaths::default(), places })
    }

    /// The roles that answer in it.
    pub(crate) fn subjects(&self) -> Vec<&str> {
        self.scenario.subjects().collect()
    }

    /// The place of a node.
    pub fn index(&self, id: &str) -> Option<usize> {
        self.places.get(id).copied()
    }
}

/// The role that reads answers.
pub const PARSER: &str = "parser";

impl CompiledNode {
    /// What a turn would say with nothing filled in.
    pub(super) fn written(&self) -> Words {
        let Question { text, raw_answer, examples, .. } = &self.question;
        let (question, answer) = (text.clone(), raw_answer.clone().unwrap_or_default());
        let examples = examples.iter().map(|it| (it.question.clone(), it.answer.clone())).collect();
        Words { question, answer, system: self.system.clone(), examples, template: None }
    }

    /// Whether a turn has something to fill in.
    pub(super) fn is_filled(&self) -> bool {
        let Question { prompt, answer_prompt, examples, .. } = &self.question;
        let is_template = matches!(&self.verification, Verification::Template(it) if it.is_filled());
        let is_filled = |it: &Example| it.question_prompt.is_some() || it.answer_prompt.is_some();
        is_template
            || examples.iter().any(is_filled)
            || [prompt, answer_prompt, &self.system_prompt].iter().any(|it| it.is_some())
    }

    /// What a turn says, or in words what the context cannot supply.
    pub(super) fn words(&self, context: Context<'_>) -> Result<Words, String> {
        let filled = |prompt: &Option<Prompt>, written: String| match prompt {
            Some(prompt) => prompt.bound(context),
            None => Ok(written),
        };
        let Words { question, answer, system, examples, .. } = self.written();
        let example =
            |(written, (question, answer)): (&Example, (String, String))| -> Result<(String, String), String> {
                Ok((filled(&written.question_prompt, question)?, filled(&written.answer_prompt, answer)?))
            };
        let template = match &self.verification {
            Verification::Template(template) if template.is_filled() => Some(template.filled(context)?),
            _ => None,
        };
        Ok(Words {
            question: filled(&self.question.prompt, question)?,
            answer: filled(&self.question.answer_prompt, answer)?,
            system: filled(&self.system_prompt, system)?,
            examples: self.question.examples.iter().zip(examples).map(example).collect::<Result<_, String>>()?,
            template,
        })
    }

    /// Whether a model has to read or to rate its answers.
    pub fn needs_parser(&self) -> bool {
        self.verification.needs_parser() || self.rubric.traits().iter().any(crate::template::Trait::is_asked)
    }

    /// Whether one of its edges says what becomes of a turn that failed in another way than by its content.
    pub fn routes_failures(&self) -> bool {
        self.edges.iter().any(|it| it.edge.tests_failure())
    }
}

impl Edge {
    /// Whether it looks at how a turn failed.
    pub(crate) fn tests_failure(&self) -> bool {
        let Some(condition) = &self.when else { return false };
        let is_failure = |it: &super::StatePath| matches!(it.place(), Place::Failure | Place::FailurePart(_));
        condition.fields().any(is_failure)
            || condition.expressions().iter().any(|it| it.names().iter().any(|name| name == "failure"))
            || matches!(condition, Condition::Callable(callable) if callable.source.as_deref().is_some_and(|it| it.contains("failure")))
    }
}

impl Verification {
    fn of(node: &super::Node, has_parser: bool) -> Verification {
        match (&node.template, &node.question.raw_answer) {
            (Some(template), _) => Verification::Template(Box::new(template.clone())),
            (None, None) => Verification::Nothing,
            (None, Some(_)) if has_parser => Verification::Default,
            (None, Some(_)) => Verification::ExactMatch,
        }
    }

    /// Whether a model has to read answers.
    pub fn needs_parser(&self) -> bool {
        match self {
            Verification::Nothing | Verification::ExactMatch => false,
            Verification::Default => true,
            Verification::Template(template) => template.needs_parser(),
        }
    }

    /// What the model that reads an answer is asked, if one is, and the schema of its reply.
    pub(super) fn question(&self, words: &Words, raw: &str) -> Option<(Vec<Message>, &Schema)> {
        match self {
            Verification::Default => {
                Some((reference::request(&words.question, &words.answer, raw), reference::schema()))
            }
            Verification::Template(template) if template.needs_parser() => {
                Some((parser::request(template, &words.question, raw), template.schema()))
            }
            _ => None,
        }
    }

    pub fn form(&self) -> &ReplyForm {
        match self {
            Verification::Template(template) => template.form(),
            _ => reference::form(),
        }
    }

    /// What follows from its reply: what was read, and whether it is right.
    pub(super) fn verified(
        &self,
        words: &Words,
        reply: Option<&Value>,
        raw: &str,
        node_results: &Val<'_>,
    ) -> (Map<'static>, Option<Verified>) {
        let nothing = Val::Map(Map::default());
        let reply = reply.unwrap_or(&nothing);
        match self {
            Verification::Nothing => (Map::default(), None),
            Verification::ExactMatch => (Map::default(), Some(reference::exact_match(&words.answer, raw))),
            Verification::Default => (reference::parsed(reply), Some(reference::verified(&words.answer, reply))),
            Verification::Template(template) => {
                let template = words.template.as_ref().unwrap_or(template);
                (template.parsed(reply), Some(template.verify(reply, Some(raw), node_results)))
            }
        }
    }
}
