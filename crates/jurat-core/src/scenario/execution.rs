//! What happened in a scenario, and the evidence that it makes.

use std::borrow::Cow;
use std::collections::BTreeMap;

use jurat_compare::Fault;
use jurat_format::choices;
use jurat_format::value::{Map, Val, Value};

use super::route::Tested;
use super::state::verified;
use super::{Criterion, State, Target, TurnFailure};
use crate::effect::Usage;
use crate::template::Verified;
use crate::tool::ToolUse;
use crate::verdict::StopReason;

/// The result of a scenario.
#[derive(Debug, Clone)]
pub enum End {
    /// It was run to an end.
    Execution(Box<Execution>),
    /// Something stopped it before.
    NotRun(StopReason),
}

/// What happened in a scenario.
#[derive(Debug, Clone)]
pub struct Execution {
    /// The name of the scenario.
    pub scenario_id: String,
    pub status: Status,
    /// The nodes, in the order they were visited.
    pub path: Vec<String>,
    pub history: Vec<TurnRecord>,
    /// What was known in the end.
    pub final_state: State,
    /// The results of criteria, by name; `false` for those that could not be decided.
    pub outcome_results: Map<'static>,
    /// Why criteria could not be decided, by name.
    pub outcome_errors: Map<'static>,
    /// The node and the failure that ended it.
    pub terminal_failure: Option<(String, TurnFailure)>,
    /// Which repetition it is, counted from 0.
    pub replicate: u32,
    /// Why the next node could not be found, when that ended it.
    pub unclear: Option<Fault>,
}

choices! {
    /// How a scenario ended.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Status {
        /// It ended by itself.
        Completed = "completed",
        /// It took as many turns as it may.
        LimitReached = "limit_reached",
        /// It took as long as it may.
        Timeout = "timeout",
        /// A turn failed in another way than by its content.
        Error = "error",
    }
}

/// What happened in a turn.
#[derive(Debug, Clone, Default)]
pub struct TurnRecord {
    pub node_id: String,
    /// Its question, as the node has it.
    pub question_text: String,
    /// The question as it was sent, when that differs.
    pub sent: Option<String>,
    pub raw_response: Option<String>,
    /// What was read from it.
    pub parsed: Map<'static>,
    /// Whether it was right, and why; `None` when the scenario does not say what would be right.
    pub verified: Option<Verified>,
    /// What traits it was rated with.
    pub rubric: Map<'static>,
    /// Why traits could not be rated.
    pub rubric_errors: Vec<(String, String)>,
    pub failure: Option<TurnFailure>,
    pub usage: Option<Usage>,
    pub cost_usd: Option<f64>,
    pub tool_uses: Vec<ToolUse>,
    /// Why the state was not updated.
    pub update_error: Option<String>,
    /// The edges that were tested after it.
    pub tested: Vec<Tested>,
    /// The edge that was taken, by its place among all edges.
    pub taken: Option<usize>,
    pub went_to: Option<Target>,
}

impl Execution {
    /// Decides the criteria in the order of their registration; `by_code` has the results of code, by place. One that cannot be decided is
    /// `false` among the results, as it always was, and has its reason beside them. Of several with one name the last counts.
    pub(super) fn decide(&mut self, outcomes: &[Criterion], mut by_code: BTreeMap<u32, Result<Value, String>>) {
        let evidence = self.to_value();
        let mut decided: Vec<(&str, Result<Value, String>)> = Vec::with_capacity(outcomes.len());
        for (ix, criterion) in (0..).zip(outcomes) {
            let result = match &criterion.check {
                Some(check) => check.evaluate(&evidence).map_err(|it| it.to_string()),
                None => match by_code.remove(&ix) {
                    Some(result) => result,
                    None => continue,
                },
            };
            match decided.iter_mut().find(|(name, _)| *name == criterion.name) {
                Some((_, earlier)) => *earlier = result,
                None => decided.push((&criterion.name, result)),
            }
        }
        for (name, result) in decided {
            let name: Cow<'static, str> = name.to_owned().into();
            let value = result.unwrap_or_else(|reason| {
                self.outcome_errors.insert(name.clone(), Val::Str(reason.into()));
                Val::Bool(false)
            });
            self.outcome_results.insert(name, value);
        }
    }

    /// The evidence: the members of the row, where there is one, and what happened. What happened hides members of the same names.
    pub fn to_value(&self) -> Value {
        let failure = |(node, failure): &(String, TurnFailure)| {
            let mut value = Map::default();
            value.insert("node_id".into(), Val::Str(node.clone().into()));
            if let Val::Map(members) = failure.to_value() {
                for (key, it) in members.iter() {
                    value.insert(key.to_owned().into(), it.clone());
                }
            }
            Val::Map(value)
        };
        let mut members: Map<'static> = match self.final_state.row.as_deref() {
            Some(Val::Map(row)) => row.clone(),
            _ => Map::with_capacity(10),
        };
        let mut put = |key: &'static str, value: Value| {
            members.insert(key.into(), value);
        };
        put("scenario_id", Val::Str(self.scenario_id.clone().into()));
        put("status", Val::from(self.status.name()));
        put("path", self.path.iter().map(|it| Val::Str(it.clone().into())).collect());
        put("turn_count", Val::I(self.history.len() as i64));
        put("history", self.history.iter().map(TurnRecord::to_value).collect());
        put("final_state", self.final_state.to_value());
        put("outcome_results", Val::Map(self.outcome_results.clone()));
        if !self.outcome_errors.is_empty() {
            put("outcome_errors", Val::Map(self.outcome_errors.clone()));
        }
        put("terminal_failure", self.terminal_failure.as_ref().map_or(Val::Null, failure));
        put("replicate", Val::I(i64::from(self.replicate) + 1));
        if let Some(row) = &self.final_state.row {
            put("row", (**row).clone());
        }
        Val::Map(members)
    }
}

impl TurnRecord {
    pub(super) fn verify_result(&self) -> Option<bool> {
        self.verified.as_ref().and_then(Verified::verify_result)
    }

    /// The turn as evidence has it. What there is not is absent, but for the names that paths of criteria may have.
    pub fn to_value(&self) -> Value {
        let mut members: Map<'static> = Map::with_capacity(12);
        let mut put = |key: &'static str, value: Value| {
            members.insert(key.into(), value);
        };
        let text = |it: &str| Val::Str(it.to_owned().into());
        put("node_id", text(&self.node_id));
        put("question_text", text(&self.question_text));
        if let Some(sent) = &self.sent {
            put("sent", text(sent));
        }
        put("raw_response", self.raw_response.as_deref().map_or(Val::Null, text));
        put("parsed", Val::Map(self.parsed.clone()));
        put("verify_result", verified(self.verify_result()));
        if let Some(Val::Map(judged)) = self.verified.as_ref().map(Verified::to_value) {
            for (name, key) in [("score", "granular"), ("judged_by", "judged_by"), ("fields", "fields")] {
                let value = judged.get(key).filter(|it| !matches!(it, Val::Null));
                if let Some(value) = value {
                    put(name, value.clone());
                }
            }
        }
        put("rubric", Val::Map(self.rubric.clone()));
        if !self.rubric_errors.is_empty() {
            let errors = self.rubric_errors.iter().map(|(name, reason)| (name.clone(), text(reason)));
            put("rubric_errors", Val::Map(errors.collect::<Map<'_>>()));
        }
        if let Some(failure) = &self.failure {
            put("failure", failure.to_value());
        }
        if let Some(usage) = &self.usage {
            let members = [
                ("input_tokens", Val::from(usage.input)),
                ("output_tokens", Val::from(usage.output)),
                ("total_tokens", Val::from(usage.total())),
            ];
            put("usage", Val::Map(members.into_iter().collect::<Map<'_>>()).into_owned());
        }
        if let Some(cost) = self.cost_usd {
            put("cost_usd", Val::F(cost));
        }
        if !self.tool_uses.is_empty() {
            put("tool_calls", self.tool_uses.iter().map(called).collect());
        }
        if let Some(reason) = &self.update_error {
            put("update_error", text(reason));
        }
        if self.taken.is_some() || !self.tested.is_empty() {
            put("route", self.route());
        }
        Val::Map(members)
    }

    /// Where the conversation went on, and why.
    fn route(&self) -> Value {
        let mut members: Map<'static> = Map::default();
        if let Some(edge) = self.taken {
            members.insert("edge".into(), Val::I(edge as i64));
        }
        if let Some(to) = &self.went_to {
            members.insert("to".into(), Val::Str(to.name().to_owned().into()));
        }
        let tested = |it: &Tested| {
            let saw = it.saw.iter().map(|(path, value)| (path.clone(), value.clone()));
            let mut members: Map<'static> = Map::default();
            members.insert("edge".into(), Val::I(it.edge as i64));
            match &it.held {
                Ok(held) => members.insert("held".into(), Val::Bool(*held)),
                Err(reason) => members.insert("error".into(), Val::Str(reason.clone().into())),
            };
            members.insert("saw".into(), Val::Map(saw.collect::<Map<'_>>()));
            Val::Map(members)
        };
        if !self.tested.is_empty() {
            members.insert("tested".into(), self.tested.iter().map(tested).collect());
        }
        Val::Map(members)
    }
}

/// A call of a tool as evidence has it.
fn called(tool_use: &ToolUse) -> Value {
    let ToolUse { id: _, server, tool, arguments, output, is_error } = tool_use;
    let mut members: Map<'static> = Map::default();
    if let Some(server) = server {
        members.insert("server".into(), Val::Str(server.clone().into()));
    }
    members.insert("tool".into(), Val::Str(tool.clone().into()));
    members.insert("arguments".into(), arguments.clone());
    if let Some(output) = output {
        members.insert("output".into(), Val::Str(output.clone().into()));
    }
    if *is_error {
        members.insert("is_error".into(), Val::Bool(true));
    }
    Val::Map(members)
}
