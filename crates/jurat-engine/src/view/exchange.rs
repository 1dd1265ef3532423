//! What was asked in a case and what came back, under the names that its author knows.

use jurat_core::evidence::fault;
use jurat_core::plan::PlannedAsk;
use jurat_format::value::Val;

/// Members of rows that hold a question, and those that hold a response, in the order in which they are looked for.
const QUESTIONS: [&str; 8] = ["question", "prompt", "input", "user_input", "query", "instruction", "task", "request"];
pub(super) const RESPONSES: [&str; 11] = [
    "response",
    "answer",
    "output",
    "agent_response",
    "model_output",
    "actual_output",
    "final_response",
    "completion",
    "reply",
    "prediction",
    "result",
];

/// The question and the response of a case. `ask` is what was asked about a row: then both have names of their own, unless what was asked is the row.
pub(super) fn exchange(evidence: &Val<'_>, ask: Option<&PlannedAsk>) -> Vec<(String, String)> {
    let last_turn = evidence.get("history").and_then(Val::as_list).and_then(<[_]>::last);
    if let Some(turn) = last_turn.filter(|_| evidence.get("scenario_id").is_some()) {
        return members(turn, &[("question_text", "question")], &[("raw_response", "response")]);
    }
    if evidence.get("identity").is_some_and(|it| it.get("runner_type").is_some()) {
        let ended = run_ended(evidence).map(|it| ("ended".to_owned(), it));
        return members(evidence, &[], &[("final_response", "response")]).into_iter().chain(ended).collect();
    }
    let same = |name: &&'static str| (*name, *name);
    let questions: Vec<(&str, &str)> = QUESTIONS.iter().map(same).collect();
    if let Some(ask) = ask {
        let questions = if ask.sends_row() { questions } else { vec![("input", "prompt")] };
        return members(evidence, &questions, &[("output", "response")]);
    }
    let responses: Vec<(&str, &str)> = RESPONSES.iter().map(same).collect();
    let found = members(evidence, &questions, &responses);
    if found.is_empty() && !matches!(evidence, Val::Null) {
        vec![("row".to_owned(), evidence.to_string())]
    } else {
        found
    }
}

/// How the run of an agent ended and why, when it did not succeed. What makes the case an error is said by each of its tasks.
pub(super) fn run_ended(evidence: &Val<'_>) -> Option<String> {
    let message = evidence.get("error")?.get("message").and_then(Val::as_str)?;
    let status = evidence.get("status").and_then(Val::as_str)?;
    fault::of_run(evidence).is_none().then(|| format!("{status}: {message}"))
}

/// The first question and the first response that are there.
fn members(evidence: &Val<'_>, questions: &[(&str, &str)], responses: &[(&str, &str)]) -> Vec<(String, String)> {
    let first = |names: &[(&str, &str)]| {
        names.iter().find_map(|(key, name)| Some(((*name).to_owned(), text(evidence.get(key)?)?)))
    };
    first(questions).into_iter().chain(first(responses)).collect()
}

fn text(value: &Val<'_>) -> Option<String> {
    match value {
        Val::Null => None,
        Val::Str(text) => Some(text.to_string()),
        other => Some(other.to_string()),
    }
}
