//! Routing: paths into the state, conditions, edges, and whole scenarios whose turns are given.

use jurat_core::effect::{Action, Message, Outcome, Request, Returned, Slot, ToolCall};
use jurat_core::scenario::{
    Callable, CompiledEdge, CompiledScenario, Edge, End, Execution, FailureCategory, GivenTurn, Route, State,
    StatePath, StateUpdate, Traversal, TurnFailure, route,
};
use jurat_core::template::{JudgedBy, Verified};
use jurat_format::value::{Map, Val, Value};
use std::time::Duration;

use super::scenario_validation::{condition, scenario};
use super::{Answer, compared, error, fault, object, part, same, text_part};

pub(super) fn run(case: &Val<'_>) -> Result<Answer, String> {
    let input = part(case, "input")?;
    let expected = part(case, "expect")?;
    let got = match text_part(input, "op")? {
        "resolve_path" => {
            let path = StatePath::parse(text_part(input, "path")?);
            state(part(input, "state")?).find(&path).into_owned()
        }
        "state_check" => {
            let edge = object([("target", Val::from("held")), ("condition", owned(part(input, "check")?))]);
            match routed(&[edge], part(input, "state")?)? {
                Ok(route) => Val::Bool(route.is_some()),
                Err(refused) => refused,
            }
        }
        "route" => {
            let edges = part(input, "edges")?.as_list().ok_or("`edges` is not a list")?;
            match routed(edges, part(input, "state")?)? {
                Ok(Some(ix)) => {
                    object([("target", owned(part(&edges[ix], "target")?)), ("edge_index", Val::from(ix as u64))])
                }
                Ok(None) => object([("target", Val::Null), ("edge_index", Val::Null)]),
                Err(refused) => refused,
            }
        }
        "run" => {
            let got = executed(input)?;
            return Ok(compared(case, &with_plain_messages(expected), &got, same));
        }
        other => return Err(format!("there is no operation `{other}`")),
    };
    Ok(compared(case, expected, &got, same))
}

/// The edge that is taken, if one is; or the error that keeps anybody from telling.
fn routed(edges: &[Val<'_>], at: &Val<'_>) -> Result<Result<Option<usize>, Value>, String> {
    let mut ready = Vec::with_capacity(edges.len());
    for written in edges {
        let mut edge = Edge::new("", text_part(written, "target")?);
        match condition(written)? {
            Ok(condition) => edge.when = condition,
            Err(kind) => return Ok(Err(error(kind))),
        }
        ready.push(CompiledEdge::new(edge));
    }
    Ok(match route(&ready, |_| true, &state(at), &|_| None).0 {
        Route::Along(ix) => Ok(Some(ix)),
        Route::Ends => Ok(None),
        Route::Calls(_) => return Err("a condition that is code cannot be tested here".to_owned()),
        Route::Unclear { fault: kind, .. } => Err(fault(kind)),
    })
}

fn state(written: &Val<'_>) -> State {
    let text = |key: &str| written.get(key).and_then(Val::as_str).unwrap_or_default().to_owned();
    let visits = written.get("node_visits").and_then(Val::as_map);
    let visit = |(node, n): (&str, &Val<'_>)| (node.to_owned(), number(Some(n)));
    State {
        turn: number(written.get("turn")),
        current_node: text("current_node"),
        verify_result: yes_or_no(written.get("verify_result")),
        parsed: map(written.get("parsed")),
        node_visits: visits.map(|it| it.iter().map(visit).collect()).unwrap_or_default(),
        accumulated: written.get("accumulated").map_or_else(|| Val::Map(Map::default()), owned),
        node_results: map(written.get("node_results")),
        row: None,
        failure: None,
    }
}

/// A whole scenario: each turn gives what the case says, and code that updates the state does what it says.
fn executed(input: &Val<'_>) -> Result<Value, String> {
    let (mut scenario, _) = match scenario(part(input, "scenario")?)? {
        Ok(built) => built,
        Err(refused) => return Ok(refused),
    };
    scenario.turn_limit = number(input.get("turn_limit"));
    scenario.system = input.get("system_prompt").and_then(Val::as_str).map(str::to_owned);
    for node in &mut scenario.nodes {
        let own = input.get("node_system_prompts").and_then(|it| it.get(&node.id)).and_then(Val::as_str);
        node.system = own.map(str::to_owned);
        node.state_update = Some(StateUpdate::Callable(Callable::default()));
    }
    let ready = CompiledScenario::new(scenario, None).map_err(|it| it.to_string())?;
    let turns = part(input, "turns")?.as_list().ok_or("`turns` is not a list")?;
    let mut traversal = Traversal::start(&ready, "m", "m", 0);
    let mut asked: Vec<(String, Vec<Message>)> = Vec::new();
    loop {
        let steps = traversal.steps();
        let Some(step) = steps.first() else { break };
        match (Slot::numbered(step.site.slot), &step.request) {
            (Some(Slot::Subject), _) => {
                let turn = turns.get(asked.len()).ok_or("there are more turns than are given")?;
                let now = traversal.turn_input().ok_or("a subject is asked that has no input")?;
                asked.push((now.question.clone(), traversal.prior()));
                traversal.take(given(turn)?);
            }
            (Some(Slot::Update), Request::Action(action)) => {
                let turn = asked.len().checked_sub(1).and_then(|it| turns.get(it));
                let returned = updated(action, turn.and_then(|it| it.get("state_update")));
                traversal.apply(step.site, Outcome::Returned(Box::new(returned)));
            }
            _ => return Err(format!("nobody is there to do {:?}", step.request)),
        }
    }
    match traversal.end() {
        Some(End::Execution(execution)) => Ok(ended(execution, &asked)),
        _ => Err("it came to no end".to_owned()),
    }
}

fn given(turn: &Val<'_>) -> Result<GivenTurn, String> {
    let raw = turn.get("raw_response").and_then(Val::as_str);
    let trace = match turn.get("trace").and_then(Val::as_list) {
        Some(messages) => messages.iter().flat_map(plain_messages).collect(),
        None => raw.filter(|it| !it.is_empty()).map(Message::assistant).into_iter().collect(),
    };
    let has_template = !matches!(turn.get("no_template"), Some(Val::Bool(true)));
    let failure = match turn.get("failure") {
        None | Some(Val::Null) => None,
        Some(failure) => {
            let category = text_part(failure, "category")?;
            Some(TurnFailure {
                category: FailureCategory::named(category).ok_or_else(|| format!("there is no `{category}`"))?,
                stage: text_part(failure, "stage")?.to_owned(),
                reason: text_part(failure, "reason")?.to_owned(),
            })
        }
    };
    let verified = Verified {
        verify: Ok(yes_or_no(turn.get("verify_result"))),
        granular: None,
        fields: Vec::new(),
        judged_by: JudgedBy::Template,
    };
    Ok(GivenTurn {
        trace,
        raw_response: raw.map(str::to_owned),
        parsed: map(turn.get("parsed")),
        verified: has_template.then_some(verified),
        rubric: map(turn.get("rubric")),
        failure,
    })
}

/// What the code of a node makes of the accumulated state.
fn updated(action: &Action, script: Option<&Val<'_>>) -> Returned {
    let mut accumulated = match action {
        Action::Call { arguments, .. } => arguments.get("accumulated").map_or(Val::Null, owned),
        _ => Val::Null,
    };
    let fails = script.and_then(|it| it.get("raise")).is_some_and(|it| !matches!(it, Val::Null | Val::Bool(false)));
    if let (Val::Map(own), Some(Val::Map(changes))) = (&mut accumulated, script.and_then(|it| it.get("mutate"))) {
        for (key, value) in changes.iter() {
            own.insert(key.to_owned().into(), owned(value));
        }
    }
    let value = script.and_then(|it| it.get("return")).map_or(accumulated, owned);
    Returned::new(value, fails, Duration::ZERO, 0)
}

fn ended(execution: &Execution, asked: &[(String, Vec<Message>)]) -> Value {
    // The peer gives up the whole run where nobody can tell how to go on.
    if let Some(kind) = execution.unclear {
        return fault(kind);
    }
    let evidence = execution.to_value();
    let turn = |(ix, (question, prior)): (usize, &(String, Vec<Message>))| {
        let node = &execution.path[ix];
        let n_before = execution.path[..ix].iter().filter(|it| *it == node).count();
        object([
            ("node", Val::from(node.clone())),
            ("question", Val::from(question.clone())),
            ("history", prior.iter().map(written).collect()),
            ("visit_index", Val::from(n_before as u64)),
        ])
    };
    let failure = |(node, failure): &(String, TurnFailure)| {
        object([
            ("node_id", Val::from(node.clone())),
            ("category", Val::from(failure.category.name())),
            ("stage", Val::from(failure.stage.clone())),
        ])
    };
    let keys = ["status", "path", "turn_count", "outcome_results", "final_state"];
    let members = keys.into_iter().filter_map(|key| Some((key, evidence.get(key)?.clone())));
    let own = [
        ("terminal_failure", execution.terminal_failure.as_ref().map_or(Val::Null, failure)),
        ("turns", asked.iter().enumerate().map(turn).collect()),
    ];
    Val::Map(members.chain(own).collect::<Map<'static>>())
}

/// The expectation with its messages as ours are written: one for each part.
fn with_plain_messages(expected: &Val<'_>) -> Value {
    let Val::Map(mut expected) = owned(expected) else { return owned(expected) };
    let turn = |turn: &Value| {
        let Val::Map(mut turn) = turn.clone() else { return turn.clone() };
        if let Some(Val::List(history)) = turn.get("history") {
            let history = history.iter().flat_map(plain_messages).map(|it| written(&it)).collect();
            turn.insert("history".into(), history);
        }
        Val::Map(turn)
    };
    if let Some(Val::List(turns)) = expected.get("turns") {
        let turns = turns.iter().map(turn).collect();
        expected.insert("turns".into(), turns);
    }
    Val::Map(expected)
}

/// A message of the peer, which may have several parts; thoughts are not said.
fn plain_messages(message: &Val<'_>) -> Vec<Message> {
    let role = message.get("role").and_then(Val::as_str).unwrap_or_default();
    let said = |text: &str| match role {
        "system" => Message::System(text.to_owned()),
        "user" => Message::User(text.to_owned()),
        _ => Message::assistant(text),
    };
    let part = |part: &Val<'_>| {
        let text = |it: &Val<'_>, key: &str| it.get(key).and_then(Val::as_str).unwrap_or_default().to_owned();
        let is = |kind: &str| part.get("type").and_then(Val::as_str) == Some(kind);
        if let Some(text) = part.get("text").and_then(Val::as_str) {
            return Some(said(text));
        }
        if part.get("thinking").is_some() {
            return None;
        }
        let result = part.get("tool_result").or(Some(part).filter(|_| is("tool_result") || role == "tool"));
        if let Some(result) = result {
            return Some(Message::Tool {
                call_id: text(result, "tool_use_id"),
                name: String::new(),
                text: text(result, "content"),
                media: Vec::new(),
                is_error: matches!(result.get("is_error"), Some(Val::Bool(true))),
            });
        }
        let call = part.get("tool_use").filter(|it| it.as_map().is_some()).unwrap_or(part);
        let call = ToolCall {
            id: text(call, "id"),
            name: text(call, "name"),
            arguments: call.get("input").map_or(Val::Null, owned),
        };
        Some(Message::Assistant { text: String::new(), tool_calls: vec![call], reasoning: None })
    };
    match message.get("content").or_else(|| message.get("text")) {
        Some(Val::List(parts)) => parts.iter().filter_map(part).collect(),
        Some(Val::Str(text)) => vec![said(text)],
        _ => Vec::new(),
    }
}

fn written(message: &Message) -> Value {
    let part = match message {
        Message::Tool { call_id, text, is_error, .. } => object([
            ("tool_use_id", Val::from(call_id.clone())),
            ("content", Val::from(text.clone())),
            ("is_error", Val::Bool(*is_error)),
        ]),
        Message::Assistant { tool_calls, .. } if let [call] = tool_calls.as_slice() => object([
            ("id", Val::from(call.id.clone())),
            ("name", Val::from(call.name.clone())),
            ("input", call.arguments.clone()),
        ]),
        message => object([("text", Val::from(message.text().to_owned()))]),
    };
    object([("role", Val::from(message.role())), ("content", [part].into_iter().collect())])
}

fn owned(value: &Val<'_>) -> Value {
    value.clone().into_owned()
}

fn map(value: Option<&Val<'_>>) -> Map<'static> {
    match value.map(owned) {
        Some(Val::Map(map)) => map,
        _ => Map::default(),
    }
}

fn yes_or_no(value: Option<&Val<'_>>) -> Option<bool> {
    match value {
        Some(Val::Bool(value)) => Some(*value),
        _ => None,
    }
}

fn number(value: Option<&Val<'_>>) -> u32 {
    match value {
        Some(Val::I(number)) => u32::try_from(*number).unwrap_or(u32::MAX),
        _ => 0,
    }
}
