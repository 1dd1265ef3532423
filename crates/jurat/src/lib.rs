//! jurat evaluates language models and agents: you write down what should happen, and it says **passed, failed, measured, skipped or
//! error**, and why. This crate is its face for Rust programs. The command `jurat` reads the same suites and the same runs.
//!
//! A suite has rows and tasks. A task compares a value ([`Assertion`]) or asks a model and may compare what it answers ([`Judge`]); tasks
//! depend on each other, and a task can be a gate: where it does not pass, what depends on it is skipped, and no model is asked.
//!
//! Here the answers of a support agent are judged. A model says which department a question belongs to; then a specialist of that
//! department looks at the answer, and no other model is asked. So that it runs anywhere, the model is a function of the
//! program; usually the role would have the model `"gemini/gemini-2.5-flash-lite"`:
//!
//! ```
//! use jurat::compare::{equals, greater_than_or_equal, is_not_empty};
//! use jurat::{Assertion, Judge, Model, Output, Question, Reply, RunOptions, Suite, Task};
//! use serde_json::json;
//!
//! /// A gate, a specialist behind it, and a score that must be good.
//! fn department(name: &str, expertise: &str, score: &str) -> [Task; 3] {
//!     let (gate, expert) = (format!("is_{name}"), format!("{name}_expert"));
//!     [
//!         Assertion::new(&gate, "classification.category", equals(name)).depends_on(["classification"]).gate().into(),
//!         Judge::new(&expert, "Would you let this answer go out?\n\n${user_input}\n\n${agent_response}")
//!             .system(expertise)
//!             .output(Output::new().boolean("is_suitable").text("reason").integer(score))
//!             .passes_when("is_suitable", equals(true))
//!             .depends_on([gate])
//!             .into(),
//!         Assertion::new(format!("{name}_score"), format!("{expert}.{score}"), greater_than_or_equal(7))
//!             .depends_on([expert])
//!             .into(),
//!     ]
//! }
//!
//! /// The model of the judge.
//! fn canned(question: &Question) -> Reply {
//!     let is_kitchen = question.prompt().contains("fridge");
//!     Reply::json(match question.task() {
//!         Some("classification") => {
//!             let category = if is_kitchen { "kitchen" } else { "outdoor" };
//!             json!({ "category": category, "reason": "what it is about", "confidence": 0.9 })
//!         }
//!         Some("kitchen_expert") => json!({ "is_suitable": true, "reason": "the right first steps", "accuracy": 9 }),
//!         _ => json!({ "is_suitable": true, "reason": "it says little about covers", "durability": 5 }),
//!     })
//! }
//!
//! let suite = Suite::builder("appliance-support")
//!     .record(json!({
//!         "id": "fridge",
//!         "user_input": "My fridge hums loudly since we moved it. Is that dangerous?",
//!         "agent_response": "Level its feet and leave 5 cm behind it; unplug it before you tilt it.",
//!     }))
//!     .record(json!({
//!         "id": "grill",
//!         "user_input": "Can I leave a gas grill on the balcony over winter?",
//!         "agent_response": "Yes, covered, with the bottle closed and stored outside.",
//!     }))
//!     .model("judge", Model::function("canned", canned))
//!     .task(
//!         Judge::new("classification", "Which department is this about?\n\n${user_input}\n\n${agent_response}")
//!             .output(Output::new().one_of("category", ["kitchen", "bath", "outdoor"]).text("reason").number("confidence"))
//!             .passes_when("category", is_not_empty()),
//!     )
//!     .tasks(department("kitchen", "You repair kitchen appliances for a living.", "accuracy"))
//!     .tasks(department("bath", "You are a plumber who fits bathrooms.", "installation"))
//!     .tasks(department("outdoor", "You plan gardens and terraces.", "durability"))
//!     .build()?;
//! assert_eq!(suite.stages()[1], ["is_kitchen", "is_bath", "is_outdoor"]);
//!
//! # let directory = tempfile::tempdir()?;
//! # let directory = directory.path();
//! let run = suite.run(RunOptions::in_directory(directory))?;
//! println!("{}", run.table()?);
//! let mut failures = Vec::new();
//! for case in run.cases() {
//!     let case = case?;
//!     for task in case.failures() {
//!         failures.push(format!("{}: {}: {}", case.id(), task.id(), task.message()));
//!     }
//! }
//! // A gate that is closed is no failure, and no model was asked behind it: two questions for each row.
//! assert_eq!(failures, ["grill: outdoor_score: expected a number of at least 7, found 5"]);
//! assert_eq!(run.answers(), (4, 0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Agents
//!
//! A suite can give tasks to agents and judge what they leave. `runner` says which: a program of your own (`command`), one of those that jurat
//! knows, or `recorded`, an artifact that is there already. A program that runs agents calls [`serve_as_worker`] first thing in `main`, because their sandbox
//! is set up by a process of its own.
//!
//! ```
//! use jurat::{RunOptions, Suite};
//!
//! # let directory = tempfile::tempdir()?;
//! # let directory = directory.path();
//! let artifact = r#"{
//!     "identity": {"schema_version": 1, "run_id": "r1", "case_id": "report", "suite_id": "notes", "run_profile_id": "p", "runner_type": "command"},
//!     "status": "success",
//!     "request": {"requested_model": "none"},
//!     "trace": [
//!         {"sequence": 0, "event_type": "tool_call", "call_id": "1", "tool_name": "write_file", "parsed_arguments": {"path": "report.md"}},
//!         {"sequence": 1, "event_type": "final_output", "content": "report.md is written"}
//!     ]
//! }"#;
//! std::fs::write(directory.join("report.json"), artifact)?;
//! let suite = Suite::from_yaml(
//!     "
//! suite: notes
//! agents: { earlier: { runner: recorded } }
//! cases: [{ id: report, artifact: report.json }]
//! tasks:
//!   - { id: succeeded, check: { kind: status_is, expected: success } }
//!   - { id: written, check: { kind: tool_called, tool: write_file, arguments: { path: report.md } } }
//!   - { id: said, field_path: final_response, operator: contains, expected_value: report.md }
//! ",
//!     directory,
//! )?;
//! let run = suite.run(RunOptions::in_directory(directory))?;
//! assert_eq!(run.pass_rate(), Some(1.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is where
//!
//! * [`Suite`]: built with a [`SuiteBuilder`], or [loaded](Suite::load) from the YAML that the command reads. Whatever is wrong with it is
//!   reported at once, as [`Problems`].
//! * Tasks: [`Assertion`], [`Judge`] with its [`Prompt`] and [`Output`]; [`compare`] has the comparisons. [`Ask`] is for suites whose answers are
//!   yet to be asked for.
//! * [`Evaluator`]: code that looks at a case: a closure, Python or TypeScript in a sandbox, or one that is built in. [`Evaluate`] is the task that runs it.
//! * [`Agent`], [`AgentCase`]: programs that are given tasks in a workspace; [`check`] has the checks of what they did.
//! * [`Model`]: the model of a role, which can be a function of your program. It is asked a [`Question`] and gives a [`Reply`].
//! * [`scenario`]: conversations along a graph, answer templates, rubrics and outcomes, with a first example of each.
//! * [`RunOptions`]: how a suite is run: limits, budgets, replay. [`Suite::run`] waits for the end, [`Suite::start`] gives a [`Running`].
//! * [`shards`]: a run cut into parts that processes share, and merged again.
//! * [`contrast`]: runs compared with each other; [`gate`]: whether one may pass; [`calibration`]: whether its judges can be trusted.
//! * [`import`]: configurations, traces and logs of other tools as suites, rows and runs; [`receive`]: traces as programs send them.
//! * [`batches`]: batches of Arrow judged without a run, for programs that distribute their rows; [`table`]: results as columns of Arrow.
//! * [`Run`]: what came of it: [`Case`]s with their [`TaskResult`]s, totals, tables, reports.
//!
//! # What is stored
//!
//! A run is a file in `.jurat/runs`, and paid answers are stored in `.jurat/journal.db`. So no answer is paid for twice: a run that was interrupted is resumed
//! when the suite is run again, and a task that did not change does not ask again. [`RunOptions::replay`] reproduces a run without requests.

#![warn(missing_docs)]

mod agent;
mod ask;
pub mod batches;
mod builder;
pub mod calibration;
pub mod check;
mod checked;
pub mod compare;
pub mod contrast;
mod error;
mod evaluator;
mod export;
pub mod format;
pub mod gate;
pub mod import;
mod journal;
mod members;
mod model;
mod models;
mod output;
pub mod power;
mod problems;
mod prompt;
pub mod receive;
mod rows;
mod run;
mod running;
pub mod scenario;
pub mod shards;
mod suite;
pub mod table;
mod task;
mod transform;
mod value;
mod worker;

pub use agent::{Agent, AgentCase};
pub use ask::Ask;
pub use builder::SuiteBuilder;
pub use checked::Checked;
pub use error::Error;
pub use evaluator::{Evaluator, EvaluatorOutput, Return};
pub use export::{Export, TextOptions};
pub use journal::Journal;
pub use model::{IntoReply, Model, Question, Reply};
pub use models::{ConfiguredModel, Ping, built_in_prices};
pub use output::Output;
pub use problems::{Problem, Problems};
pub use prompt::{ChatMessage, ChatPart, Prompt};
pub use rows::RowFiles;
pub use run::{Case, Run, TaskResult};
pub use running::{Note, Running, Watch};
pub use suite::Suite;
pub use task::{Assertion, Cel, Evaluate, Group, Judge, Task};
pub use transform::Transform;
pub use value::Value;
pub use worker::{run_code_with, serve_as_worker};

pub use jurat_core::effect::Usage;
pub use jurat_core::judge::Aggregate;
pub use jurat_core::model::TokenPrice;
pub use jurat_core::report::{
    CaseCounts, CorrectedTotal, Mean, OutputReport, RunEntry, SliceTotal, SubjectTotal, TaskTotal, TaskVerdict,
};
pub use jurat_core::scenario::Function;
pub use jurat_core::statistics::Interval;
pub use jurat_core::suite::{Bound, CellType as RowType, Gate};
pub use jurat_core::verdict::{CaseVerdict, Conclusion, Counts, Decision, Rule, RuleStanding, StopReason};
pub use jurat_engine::sharing::Pushed;
pub use jurat_engine::view;
pub use jurat_engine::{
    Argument, GivenModel, OPTIONS, REFUSED, RerunOf, RunOption, RunOptions, Setting, digest_of_rows,
};
pub use jurat_report::Progress;
pub use jurat_report::columns::{Column, Datum, Kind};
pub use jurat_store::Profiles;
pub use jurat_store::journal::{Added, Removed};
pub use jurat_store::run::Packed;
