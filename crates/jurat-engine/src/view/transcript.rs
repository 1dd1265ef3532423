//! What was said in a scenario, from its evidence, and who was asked, from the run's log.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use jurat_core::case::{Asked, Case, Room};
use jurat_core::effect::{Action, Asker, Outcome, Slot, Step};
use jurat_core::evidence::scenario;
use jurat_core::judge::ReplyForm;
use jurat_core::report::explanation::{Conversation, Purpose};
use jurat_core::report::transcript::{EdgeStep, FieldStep, OutcomeStep, TestedStep, ToolStep, Transcript, Turn};
use jurat_core::scenario::{CompiledScenario, FailureCategory, TurnFailure};
use jurat_format::value::{Map, Val, Value};
use jurat_store::run::{Column, StoredCase};

use super::revisit::{ANY_SUBJECT, Happened, Recorded, case_verdict};
use super::scenarios::place;
use super::{RunView, ViewError};
use crate::RunError;
use crate::drive::{Moment, Outcomes, Until, drive_now};
use crate::scenario_graph::condition_words;

impl RunView {
    /// What was said in a case that is a scenario; `None` for a case of another kind.
    pub fn transcript(&self, case: &StoredCase) -> Result<Option<Transcript>, ViewError> {
        let Some(ready) = self.scenario(case) else { return Ok(None) };
        let happened = self.happened(case.case_ix)?;
        let evidence = self.execution(case)?.unwrap_or(Val::Null);
        self.said(case, ready, &evidence, &happened).map(Some)
    }

    pub(super) fn said(
        &self,
        case: &StoredCase,
        ready: &CompiledScenario,
        evidence: &Val<'_>,
        happened: &[Happened],
    ) -> Result<Transcript, ViewError> {
        let variant = self.variant(case.case_ix);
        let history = evidence.get("history").and_then(Val::as_list).unwrap_or_default();
        let row = evidence.get(scenario::ROW);
        let states = self.states((ready, row), variant.map_or(0, |it| it.replicate), happened)?;
        let turn = |(ix, turn): (usize, &Val<'_>)| {
            // What was known after the last turn is the end of it all, and stands there.
            let state = states.get(&(ix as u32)).filter(|_| ix + 1 < history.len()).cloned();
            self.turn(ready, ix as u32, turn, state, happened)
        };
        let failure = evidence.get("terminal_failure").and_then(|it| Some((text(it, "node_id")?, failure(it)?)));
        Ok(Transcript {
            suite: self.reader.head().suite.clone(),
            run_id: self.reader.head().id.clone(),
            case: case.id.clone(),
            subject: variant.map(|it| it.subject.clone()).filter(|it| !it.is_empty()),
            replicate: variant.filter(|_| self.is_repeated()).map(|it| it.replicate + 1),
            description: Some(ready.scenario.description.clone()).filter(|it| !it.is_empty()),
            verdict: case_verdict(case.code(Column::CASE)),
            status: text(evidence, "status"),
            turn_limit: ready.scenario.turn_limit,
            turns: history.iter().enumerate().map(turn).collect(),
            failure,
            final_state: evidence.get("final_state").map(|it| it.clone().into_owned()),
            outcomes: outcomes(ready, evidence),
        })
    }

    /// What was known after each turn, by holding the conversation once more with the answers of the log.
    fn states(
        &self,
        (ready, row): (&CompiledScenario, Option<&Val<'_>>),
        replicate: u32,
        happened: &[Happened],
    ) -> Result<BTreeMap<u32, Value>, RunError> {
        let (room, asked) = (Room::default(), Asked { replicate, ..ANY_SUBJECT });
        let turns = Turns { recorded: Recorded(happened), turn: Cell::new(0), states: RefCell::default() };
        drive_now(&mut Case::of_scenario(&self.plan, (ready, row), asked, &room), &turns, Until::Evidence)?;
        Ok(turns.states.into_inner())
    }

    fn turn(
        &self,
        ready: &CompiledScenario,
        ix: u32,
        turn: &Val<'_>,
        state: Option<Value>,
        happened: &[Happened],
    ) -> Turn {
        let node = text(turn, "node_id").unwrap_or_default();
        let own = ready.index(&node).map(|it| &ready.nodes[it]);
        let route = turn.get("route").unwrap_or(&Val::Null);
        let tested = |it: &Val<'_>| {
            let edge = it.get("edge").and_then(place);
            let number = own.zip(edge).and_then(|(own, edge)| own.edge_numbers.get(edge).copied());
            Some(TestedStep {
                edge: edge_step(ready, number?)?,
                held: match it.get("held") {
                    Some(Val::Bool(held)) => Ok(*held),
                    _ => Err(text(it, "error").unwrap_or_default()),
                },
                saw: members(it.get("saw")),
            })
        };
        Turn {
            question: text(turn, "question_text").unwrap_or_default(),
            sent: text(turn, "sent"),
            reply: text(turn, "raw_response"),
            tool_calls: items(turn, "tool_calls").iter().map(tool_step).collect(),
            parsed: turn.get("parsed").map_or_else(|| Val::Map(Map::default()), |it| it.clone().into_owned()),
            verify_result: flag(turn, "verify_result"),
            judged_by: text(turn, "judged_by"),
            score: turn.get("score").and_then(Val::as_f64),
            fields: items(turn, "fields").iter().map(field_step).collect(),
            rubric: members(turn.get("rubric")),
            rubric_errors: members(turn.get("rubric_errors"))
                .into_iter()
                .map(|(name, reason)| (name, reason.as_str().unwrap_or_default().to_owned()))
                .collect(),
            failure: turn.get("failure").and_then(failure),
            update_error: text(turn, "update_error"),
            tested: items(route, "tested").iter().filter_map(tested).collect(),
            taken: route.get("edge").and_then(place).and_then(|it| edge_step(ready, it)),
            state,
            conversations: self.of_slots(Asker::Turn(ix), happened, &|slot| match slot {
                Slot::Parser => own.map(|it| it.verification.form()),
                Slot::Rubric(ix) => own.and_then(|it| it.rubric.form(ix as usize)),
                _ => None,
            }),
            node,
        }
    }

    /// What was asked in a turn, or about a row: each slot by itself, in the order in which they come. `form` is what answers at a slot must be, where that is
    /// more than text.
    pub(super) fn of_slots<'f>(
        &self,
        asker: Asker,
        happened: &[Happened],
        form: &dyn Fn(Slot) -> Option<&'f ReplyForm>,
    ) -> Vec<Conversation> {
        let mut slots: BTreeMap<(u32, u32), Vec<&Happened>> = BTreeMap::new();
        for it in happened.iter().filter(|it| it.effect.site.asker == asker) {
            let slot = it.effect.site.slot;
            slots.entry((order(slot), slot)).or_default().push(it);
        }
        let text = ReplyForm::Text;
        let conversation = |(slot, own): (u32, Vec<&Happened>)| {
            let slot = Slot::numbered(slot)?;
            let form = form(slot).unwrap_or(&text);
            let first = own.first()?.asked().map(|(_, request)| request);
            let (messages, schema) = first.map(|it| (it.messages.into(), it.output)).unwrap_or_default();
            let schema = schema.as_deref().cloned();
            let reply = |it: &&Happened| {
                let mut reply = self.reply(it, form);
                // A turn has one model in each slot.
                reply.slot = 1;
                if let Some(action) = it.action() {
                    reply.model = action_words(&action);
                }
                if let Outcome::Returned(returned) = &it.outcome
                    && returned.is_error
                {
                    reply.problem = Some("it says that it failed".to_owned());
                }
                reply
            };
            Some(Conversation { purpose: purpose(slot), messages, schema, replies: own.iter().map(reply).collect() })
        };
        slots.into_iter().filter_map(|((_, slot), own)| conversation((slot, own))).collect()
    }
}

/// How a criterion was decided, and its result.
fn outcomes(ready: &CompiledScenario, evidence: &Val<'_>) -> Vec<OutcomeStep> {
    let member = |key: &str, name: &str| evidence.get(key).and_then(|it| it.get(name));
    let is_held = evidence.get("status").is_some();
    let outcome = |it: &jurat_core::scenario::Criterion| OutcomeStep {
        name: it.name.clone(),
        description: Some(it.description.clone()).filter(|it| !it.is_empty()),
        result: match (member("outcome_errors", &it.name), member("outcome_results", &it.name)) {
            (Some(reason), _) => Some(Err(reason.as_str().unwrap_or_default().to_owned())),
            (None, Some(value)) => Some(Ok(value.clone().into_owned())),
            (None, None) => None,
        },
        decided: it.check.as_ref().filter(|_| is_held).map(|check| check.trace(evidence)),
    };
    ready.scenario.outcomes.iter().map(outcome).collect()
}

/// Recorded outcomes, and the state after each turn that they lead to.
struct Turns<'h> {
    recorded: Recorded<'h>,
    turn: Cell<u32>,
    states: RefCell<BTreeMap<u32, Value>>,
}

impl Outcomes for Turns<'_> {
    async fn outcome(&self, moment: Moment<'_>, step: Step) -> Result<Option<Outcome>, RunError> {
        self.recorded.outcome(moment, step).await
    }

    fn prepare(&self, case: &Case<'_>) -> Result<(), RunError> {
        if let Some((turn, state)) = case.conversation()
            && turn > self.turn.get()
        {
            self.states.borrow_mut().insert(self.turn.replace(turn), state.to_value());
        }
        Ok(())
    }
}

fn edge_step(ready: &CompiledScenario, number: usize) -> Option<EdgeStep> {
    let edge = ready.scenario.edges.get(number)?;
    let when = edge.when.as_ref().map(condition_words);
    Some(EdgeStep { edge: number, when, to: edge.target.name().to_owned() })
}

/// A call of a tool, as the evidence of a turn or of a row has it.
pub(super) fn tool_step(call: &Val<'_>) -> ToolStep {
    ToolStep {
        server: text(call, "server"),
        tool: text(call, "tool").or_else(|| text(call, "name")).unwrap_or_default(),
        arguments: call.get("arguments").map_or(Val::Null, |it| it.clone().into_owned()),
        output: text(call, "output"),
        is_error: flag(call, "is_error") == Some(true),
    }
}

fn field_step(field: &Val<'_>) -> FieldStep {
    FieldStep {
        name: text(field, "name").unwrap_or_default(),
        result: flag(field, "result"),
        expected: text(field, "expected"),
        found: text(field, "found").unwrap_or_default(),
        problem: text(field, "error"),
    }
}

fn failure(value: &Val<'_>) -> Option<TurnFailure> {
    let category = FailureCategory::named(&text(value, "category")?).unwrap_or(FailureCategory::UnexpectedError);
    let part = |key: &str| text(value, key).unwrap_or_default();
    Some(TurnFailure { category, stage: part("stage"), reason: part("reason") })
}

fn items<'v, 'a>(value: &'v Val<'a>, key: &str) -> &'v [Val<'a>] {
    value.get(key).and_then(Val::as_list).unwrap_or_default()
}

fn text(value: &Val<'_>, key: &str) -> Option<String> {
    value.get(key).and_then(Val::as_str).map(str::to_owned)
}

fn flag(value: &Val<'_>, key: &str) -> Option<bool> {
    match value.get(key) {
        Some(Val::Bool(flag)) => Some(*flag),
        _ => None,
    }
}

fn members(value: Option<&Val<'_>>) -> Vec<(String, Value)> {
    let members = value.and_then(Val::as_map).into_iter().flat_map(Map::iter);
    members.map(|(key, it)| (key.to_owned(), it.clone().into_owned())).collect()
}

pub(super) fn purpose(slot: Slot) -> Purpose {
    match slot {
        Slot::Subject => Purpose::Subject,
        Slot::Tool => Purpose::Tool,
        Slot::Tools => Purpose::Tools,
        Slot::Parser => Purpose::Parser,
        Slot::Rubric(_) => Purpose::Rubric,
        Slot::Update | Slot::Handover | Slot::Edge | Slot::Outcome | Slot::Attach | Slot::Transform => Purpose::Code,
    }
}

/// The place of a slot in the course of a turn.
fn order(slot: u32) -> u32 {
    match Slot::numbered(slot) {
        Some(Slot::Tools | Slot::Attach) => 0,
        Some(Slot::Handover) => 1,
        Some(Slot::Subject) => 2,
        Some(Slot::Tool) => 3,
        Some(Slot::Parser) => 4,
        Some(Slot::Rubric(_)) => 5,
        Some(Slot::Update | Slot::Transform) => 6,
        Some(Slot::Edge) => 7,
        Some(Slot::Outcome) | None => 8,
    }
}

/// What performed an action.
fn action_words(action: &Action) -> String {
    match action {
        Action::CallTool { server, tool, .. } => format!("{server}/{tool}"),
        action => action.performer().to_owned(),
    }
}
