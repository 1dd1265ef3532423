//! Closures of the program, where data does not say enough.

use jurat_core::scenario::{Callable, Condition, Criterion, Function, Handover, StateUpdate};
use jurat_format::value::{Map, Val};
use serde::Serialize;

use crate::Value;
use crate::value::given;

/// Why code has nothing to say. It says nothing about the subject: what needed it cannot be judged.
pub type CodeError = Box<dyn std::error::Error + Send + Sync>;

/// An edge is taken when code says so. It sees the whole state: `turn`, `current_node`, `verify_result`, `parsed`, `accumulated`, `node_visits`,
/// `node_results` and `failure`. The words say what it does, for reports and recordings.
///
/// ```
/// use jurat::scenario::{END, Question, ScenarioBuilder, when};
///
/// let mut builder = ScenarioBuilder::new("retries");
/// builder
///     .add_node("ask", Question::new("Are you there?", "Yes."))
///     .add_edge_when("ask", "ask", when("not three times yet", |state| {
///         Ok(state.at("node_visits.ask").and_then(|it| it.as_f64()).ok_or("no question was asked")? < 3.0)
///     }))
///     .add_edge("ask", END)
///     .set_entry("ask");
/// assert!(builder.validate().is_ok());
/// ```
pub fn when(
    words: impl Into<String>,
    holds: impl Fn(&Value) -> Result<bool, CodeError> + Send + Sync + 'static,
) -> Condition {
    let call = move |names: &Val<'_>| holds(&part(names, "state")).map(Val::Bool).map_err(|it| it.to_string());
    Callable::new(words, Function::new(call)).into()
}

/// The same for code that sees what was accumulated, and what was read from the last answer.
///
/// ```
/// use jurat::scenario::when_parsed;
///
/// when_parsed("it is sure now", |accumulated, parsed| Ok(parsed.at("sure") == accumulated.at("wanted")));
/// ```
pub fn when_parsed(
    words: impl Into<String>,
    holds: impl Fn(&Value, &Value) -> Result<bool, CodeError> + Send + Sync + 'static,
) -> Condition {
    let call = move |names: &Val<'_>| {
        let holds = holds(&part(names, "accumulated"), &part(names, "parsed"));
        holds.map(Val::Bool).map_err(|it| it.to_string())
    };
    Callable::new(words, Function::new(call)).into()
}

/// After a turn the accumulated state becomes what code returns, an object. It sees what was accumulated, and what was read from the answer.
///
/// ```
/// use jurat::scenario::{Node, Question, update};
/// use serde_json::json;
///
/// Node::from(Question::new("How many beds are free?", "4"))
///     .state_update(update("remember the beds", |_, parsed| Ok(json!({ "beds": parsed.at("beds") }))));
/// ```
pub fn update<T: Serialize>(
    words: impl Into<String>,
    update: impl Fn(&Value, &Value) -> Result<T, CodeError> + Send + Sync + 'static,
) -> StateUpdate {
    let call = move |names: &Val<'_>| {
        let updated = update(&part(names, "accumulated"), &part(names, "parsed")).map_err(|it| it.to_string())?;
        given(&updated)
    };
    Callable::new(words, Function::new(call)).into()
}

/// A message of a conversation, for [`hand_over`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    /// The system prompt of the subject.
    System(String),
    /// What the user asked.
    User(String),
    /// What the subject answered.
    Assistant(String),
}

impl Said {
    fn value(self) -> Val<'static> {
        let (role, content) = match self {
            Said::System(text) => ("system", text),
            Said::User(text) => ("user", text),
            Said::Assistant(text) => ("assistant", text),
        };
        Val::Map([("role", Val::from(role)), ("content", Val::from(content))].into_iter().collect::<Map<'static>>())
    }
}

/// The next model receives what code returns: the messages that come before the question. It sees the log, a list of
/// `{agent, role, content}`, and the state.
///
/// ```
/// use jurat::scenario::{Edge, Said, hand_over};
///
/// Edge::new("triage", "ward").handover(hand_over("the last answer alone", |log, _| {
///     let last = log.at("[-1].content").ok_or("nothing was said")?;
///     Ok(vec![Said::User(format!("The nurse said: {}", last.as_str().unwrap_or_default()))])
/// }));
/// ```
pub fn hand_over(
    words: impl Into<String>,
    messages: impl Fn(&Value, &Value) -> Result<Vec<Said>, CodeError> + Send + Sync + 'static,
) -> Handover {
    let call = move |names: &Val<'_>| {
        let messages = messages(&part(names, "log"), &part(names, "state")).map_err(|it| it.to_string())?;
        Ok(messages.into_iter().map(Said::value).collect())
    };
    Callable::new(words, Function::new(call)).into()
}

/// An outcome that code decides: true, false, or a number, which is measured. It sees the whole execution, as [`Execution`](super::Execution) has it.
///
/// ```
/// use jurat::scenario::{ScenarioBuilder, conclude};
///
/// let brief = conclude("brief", "the mean length of answers", |result| {
///     let turns: Vec<serde_json::Value> = result.at("history").ok_or("there was no turn")?.read()?;
///     let letters: usize = turns.iter().filter_map(|it| it["raw_response"].as_str()).map(str::len).sum();
///     Ok(letters / turns.len().max(1))
/// });
/// ScenarioBuilder::new("chat").add_outcome_criterion(brief.description("how long answers are, in letters"));
/// ```
pub fn conclude<T: Serialize>(
    name: impl Into<String>,
    words: impl Into<String>,
    decide: impl Fn(&Value) -> Result<T, CodeError> + Send + Sync + 'static,
) -> Criterion {
    let call = move |names: &Val<'_>| {
        let decided = decide(&part(names, "result")).map_err(|it| it.to_string())?;
        given(&decided)
    };
    Criterion::calling(name, Callable::new(words, Function::new(call)))
}

/// One of the values that code is given.
fn part(names: &Val<'_>, name: &str) -> Value {
    Value(names.get(name).cloned().unwrap_or(Val::Null).into_owned())
}
