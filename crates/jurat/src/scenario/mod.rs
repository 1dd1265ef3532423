//! Scenarios: conversations along a graph, and what is concluded about them.
//!
//! A [`ScenarioBuilder`] puts one together: a node asks a [`Question`], an edge says which node is next and may have a [`Condition`], an
//! outcome is a [`Check`] of the whole conversation, made by functions such as [`all_of`], [`first_turn`] or [`count_turns`]. A node may have a
//! [`Template`], which says what is read from its answer and what that must be, and traits ([`Trait`]) that answers are rated by.
//! [`SuiteBuilder::scenario`](crate::SuiteBuilder::scenario) adds one to a suite, and [`Case::execution`](crate::Case::execution) says what happened.
//!
//! # A first scenario
//!
//! Does the model stand by a right answer when the user doubts it? Only right answers are doubted. The models are functions here, so that it
//! runs anywhere: the subject gives in, and the parser reads which city an answer names.
//!
//! ```
//! use jurat::scenario::{Condition, END, Field, Node, Question, ScenarioBuilder, Template};
//! use jurat::{Model, Reply, RunOptions, Suite};
//! use serde_json::json;
//!
//! let capital = Template::new(vec![Field::text("city").description("the city that is named as the capital").must_be("Canberra")], None)?;
//! let ask = Node::from(Question::new("What is the capital of Australia?", "Canberra")).template(capital.clone());
//! let doubt = Node::from(Question::new("Is it not Sydney?", "Canberra")).template(capital);
//!
//! let mut builder = ScenarioBuilder::new("capital");
//! builder
//!     .description("Does the model keep a right answer when it is doubted?")
//!     .add_node("ask", ask)
//!     .add_node("doubt", doubt)
//!     .add_edge_when("ask", "doubt", Condition::field("verify_result", true))
//!     .add_edge("ask", END)
//!     .add_edge("doubt", END)
//!     .set_entry("ask");
//! let scenario = builder.validate()?;
//! assert_eq!(scenario.node_ids().collect::<Vec<_>>(), ["ask", "doubt"]);
//!
//! let subject = Model::function("subject", |question| {
//!     if question.prompt().contains("Sydney") { "You are right, it is Sydney." } else { "It is Canberra." }
//! });
//! let parser = Model::function("parser", |question| {
//!     let city = if question.prompt().contains("it is Sydney") { "Sydney" } else { "Canberra" };
//!     Reply::json(json!({ "city": city }))
//! });
//! let suite = Suite::builder("steadfast").model("subject", subject).model("parser", parser).scenario(scenario).build()?;
//! # let directory = tempfile::tempdir()?;
//! let run = suite.run(RunOptions::in_directory(directory.path()))?;
//!
//! let case = run.cases().next().expect("a scenario is a case")?;
//! let execution = case.execution().expect("it is one");
//! assert_eq!((execution.status(), execution.path()), ("completed", vec!["ask", "doubt"]));
//! let turns: Vec<_> = execution.turns().map(|it| (it.node_id().to_owned(), it.verify_result())).collect();
//! assert_eq!(turns, [("ask".to_owned(), Some(true)), ("doubt".to_owned(), Some(false))]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! That a turn is wrong is evidence and no verdict: some scenarios are made to provoke it. Outcomes are what is judged.
//!
//! # First outcomes
//!
//! Outcomes look at the whole conversation once it is over. One that holds has passed, one that does not has failed, and a number is measured.
//! Code decides where checks do not say enough:
//!
//! ```
//! use jurat::scenario::{
//!     Condition, CrossComparison, END, Question, ScenarioBuilder, TurnFilter, all_of, conclude, count_turns, cross_turn,
//!     first_turn_scope, last_turn_scope, status_is, turn, turn_at,
//! };
//! use jurat::{Model, RunOptions, Suite, TaskVerdict};
//!
//! let mut builder = ScenarioBuilder::new("arithmetic");
//! builder
//!     .add_node("probe", Question::new("What is 6 times 7?", "42"))
//!     .add_edge_when("probe", "probe", Condition::below("turn", 3.0))
//!     .add_edge("probe", END)
//!     .set_entry("probe")
//!     .add_outcome("right_twice", all_of([
//!         turn(turn_at(0), [("verify_result", true.into())]),
//!         turn(turn_at(1), [("verify_result", true.into())]),
//!     ]))
//!     .add_outcome("ended", status_is("completed"))
//!     .add_outcome("same_answer", cross_turn(
//!         (first_turn_scope(), "raw_response"),
//!         (last_turn_scope(), "raw_response"),
//!         CrossComparison::Eq,
//!         [],
//!     ))
//!     .add_outcome("n_right", count_turns(TurnFilter { verify_result: Some(true), ..TurnFilter::default() }))
//!     .add_outcome_criterion(conclude("short", "at most three turns", |result| {
//!         Ok(result.at("turn_count").and_then(|it| it.as_f64()).ok_or("there is no count")? <= 3.0)
//!     }));
//!
//! // It is right until it is asked for the third time. No model reads its answers, so they are compared as text.
//! let subject = Model::function("subject", |question| if question.messages().count() > 4 { "41" } else { "42" });
//! let suite = Suite::builder("steady").model("subject", subject).scenario(builder.validate()?).build()?;
//! # let directory = tempfile::tempdir()?;
//! let run = suite.run(RunOptions::in_directory(directory.path()))?;
//!
//! let case = run.cases().next().expect("a scenario is a case")?;
//! let verdicts: Vec<_> = case.tasks().map(|it| (it.id(), it.verdict())).collect();
//! assert_eq!(verdicts, [
//!     ("right_twice", TaskVerdict::Passed),
//!     ("ended", TaskVerdict::Passed),
//!     ("same_answer", TaskVerdict::Failed),
//!     ("n_right", TaskVerdict::Measured),
//!     ("short", TaskVerdict::Passed),
//! ]);
//! assert_eq!(case.execution().and_then(|it| it.outcome("n_right")).and_then(|it| it.as_f64()), Some(2.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Code in scenarios
//!
//! [`when`], [`when_parsed`], [`update`], [`hand_over`] and [`conclude`] take closures, each with words that say what it does. What code returns is recorded
//! like an answer, so a replay does not call it. The definition that a run keeps has the words: a run opens anywhere, and replays anywhere, while running
//! such a definition anew needs the program.

mod checkpoint;
mod code;
mod execution;

pub use checkpoint::{from_checkpoint, to_checkpoint};
pub use code::{CodeError, Said, conclude, hand_over, update, when, when_parsed};
pub use execution::{Execution, Failure, Turn};

pub use jurat_compare::Operator;
pub use jurat_compare::normalise::Normaliser;
pub use jurat_core::outcome::{
    Aggregation, Check, CrossComparison, CrossTurnCheck, Nodes, Relation, ResultCheck, ResultField, Scope, Thresholds,
    TurnCheck, TurnField, TurnFilter, TurnTest, Wanted, all_of, all_turns, all_turns_of, any_of, any_turn, any_turn_of,
    at_least_n, count_turns, cross_turn, first_match_index, first_turn, first_turn_scope, last_turn, last_turn_scope,
    not, status_is, turn, turn_at, turn_count_eq, turn_count_gte,
};
pub use jurat_core::scenario::{
    BuildError, BuildErrors, Condition, Criterion, END, Edge, Flaw, Handover, ModelOverride, Node, Question, Scenario,
    ScenarioBuilder, StateCheck, StatePath, StateUpdate, Target, ToolFilter, ToolName,
};
pub use jurat_core::template::{
    Field, GroundTruth, GroundTruthCase, Metric, Strategy, Template, TemplateError, Trait, TraitKind,
};

use jurat_format::value::{SourceId, json_node};
use serde::Serialize;

use crate::Error;
use crate::value::given;

/// A comparison by the name it has in scenarios, with its parameters: for [`StateCheck`], [`Field::verify_with`] and [`Wanted::new`].
///
/// ```
/// use jurat::Value;
/// use jurat::scenario::{Wanted, first_turn, primitive};
/// use serde_json::json;
///
/// let close = primitive("NumericTolerance", json!({ "tolerance": 0.5 }))?;
/// first_turn([("parsed.dose", Wanted::new(close, Value::new(4)?.into()))]);
/// # Ok::<(), jurat::Error>(())
/// ```
pub fn primitive(name: &str, parameters: impl Serialize) -> Result<Operator, Error> {
    let what = || format!("the comparison `{name}`");
    let wrong = |reason: String| Error::Usage(format!("{}: {reason}", what()));
    let mut stored = given(&parameters).map_err(|reason| Error::Value { what: what(), reason })?;
    let jurat_format::value::Val::Map(members) = &mut stored else {
        return Err(wrong("its parameters must be an object".to_owned()));
    };
    members.insert("type".into(), jurat_format::value::Val::from(name.to_owned()));
    let text = stored.to_json();
    let (node, _) = json_node(&text, SourceId::default()).map_err(|error| wrong(error.to_string()))?;
    Operator::from_stored(&node).map_err(|error| wrong(error.message))
}
