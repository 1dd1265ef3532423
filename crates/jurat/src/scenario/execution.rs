//! What happened in a scenario.

use jurat_format::value::{Map, Val};

use crate::Value;

/// What happened in a scenario; see [`Case::execution`](crate::Case::execution).
///
/// ```
/// use jurat::scenario::{END, Question, ScenarioBuilder, status_is};
/// use jurat::{Model, RunOptions, Suite};
///
/// let mut builder = ScenarioBuilder::new("greeting");
/// builder
///     .add_node("hi", Question::new("Hello?", "Hello."))
///     .add_edge("hi", END)
///     .set_entry("hi")
///     .add_outcome("ended", status_is("completed"));
/// let suite = Suite::builder("polite")
///     .model("subject", Model::function("echo", |_| "Hello."))
///     .scenario(builder.validate()?)
///     .build()?;
/// # let directory = tempfile::tempdir()?;
/// let run = suite.run(RunOptions::in_directory(directory.path()))?;
/// let case = run.cases().next().expect("a scenario is a case")?;
/// let execution = case.execution().expect("it is one");
/// assert_eq!(execution.outcome("ended").and_then(|it| it.as_bool()), Some(true));
/// for turn in execution.turns() {
///     println!("{}: {} -> {}", turn.node_id(), turn.question(), turn.response().unwrap_or("nothing"));
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Execution {
    value: Value,
    turns: Vec<Value>,
}

/// One turn of a conversation; see [`Execution`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Turn<'e>(&'e Value);

/// How a turn failed; see [`Turn::failure`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Of what kind: `content`, `timeout`, `connection`, `rate_limit` and so on, as edges test it.
    pub category: String,
    /// What was being done.
    pub stage: String,
    /// Why, in words.
    pub reason: String,
}

impl Execution {
    pub(crate) fn new(value: Val<'static>) -> Execution {
        let turns = value.get("history").and_then(Val::as_list).unwrap_or(&[]).iter().cloned().map(Value).collect();
        Execution { value: Value(value), turns }
    }

    /// The name of the scenario.
    pub fn scenario(&self) -> &str {
        text(&self.value, "scenario_id").unwrap_or_default()
    }

    /// How it ended: `completed`, `limit_reached`, `timeout` or `error`.
    pub fn status(&self) -> &str {
        text(&self.value, "status").unwrap_or_default()
    }

    /// The nodes that were visited, in order.
    pub fn path(&self) -> Vec<&str> {
        let nodes = self.value.0.get("path").and_then(Val::as_list).unwrap_or(&[]);
        nodes.iter().filter_map(Val::as_str).collect()
    }

    /// The turns, in order.
    pub fn turns(&self) -> impl ExactSizeIterator<Item = Turn<'_>> {
        self.turns.iter().map(Turn)
    }

    /// The result of an outcome: true, false, or a number. One that could not be decided is false here, and an error among the verdicts.
    pub fn outcome(&self, name: &str) -> Option<Value> {
        self.value.0.get("outcome_results")?.get(name).cloned().map(Value)
    }

    /// The results of all outcomes, in the order of their registration.
    pub fn outcomes(&self) -> Vec<(String, Value)> {
        members(&self.value, "outcome_results")
    }

    /// The outcomes that could not be decided, each with the reason.
    pub fn outcome_errors(&self) -> Vec<(String, String)> {
        let errors = members(&self.value, "outcome_errors").into_iter();
        errors.map(|(name, reason)| (name, reason.as_str().unwrap_or_default().to_owned())).collect()
    }

    /// The state after the last turn.
    pub fn final_state(&self) -> Value {
        member(&self.value, "final_state").unwrap_or(Value(Val::Null))
    }

    /// What ended it before its time.
    pub fn failure(&self) -> Option<Failure> {
        failure(self.value.0.get("terminal_failure")?)
    }

    /// All of it, as tasks see it.
    pub fn value(&self) -> &Value {
        &self.value
    }
}

impl<'e> Turn<'e> {
    /// The node that asked.
    pub fn node_id(&self) -> &'e str {
        text(self.0, "node_id").unwrap_or_default()
    }

    /// What was asked, as the node has it.
    pub fn question(&self) -> &'e str {
        text(self.0, "question_text").unwrap_or_default()
    }

    /// What was answered.
    pub fn response(&self) -> Option<&'e str> {
        text(self.0, "raw_response")
    }

    /// What was read from the answer.
    pub fn parsed(&self) -> Value {
        member(self.0, "parsed").unwrap_or(Value(Val::Null))
    }

    /// Whether it was right; nothing where no expected answer is given, or that could not be decided.
    pub fn verify_result(&self) -> Option<bool> {
        member(self.0, "verify_result")?.as_bool()
    }

    /// How much of it was right, from 0 to 1, where a template says.
    pub fn score(&self) -> Option<f64> {
        member(self.0, "score")?.as_f64()
    }

    /// What the answer was rated, by the names of traits.
    pub fn rubric(&self) -> Vec<(String, Value)> {
        members(self.0, "rubric")
    }

    /// How it failed.
    pub fn failure(&self) -> Option<Failure> {
        failure(self.0.0.get("failure")?)
    }

    /// All of it, with usage, tool calls and where the conversation went on.
    pub fn value(&self) -> &'e Value {
        self.0
    }
}

fn text<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value.0.get(key).and_then(Val::as_str)
}

fn member(value: &Value, key: &str) -> Option<Value> {
    value.0.get(key).cloned().map(Value)
}

fn members(value: &Value, key: &str) -> Vec<(String, Value)> {
    let members = value.0.get(key).and_then(Val::as_map);
    members.into_iter().flat_map(Map::iter).map(|(name, it)| (name.to_owned(), Value(it.clone()))).collect()
}

fn failure(value: &Val<'_>) -> Option<Failure> {
    let part = |key: &str| value.get(key).and_then(Val::as_str).map(str::to_owned);
    Some(Failure {
        category: part("category")?,
        stage: part("stage").unwrap_or_default(),
        reason: part("reason").unwrap_or_default(),
    })
}
