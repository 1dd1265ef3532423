//! Runs a plan over its cases.
//!
//! Rows are read in order by one thread. Cases without requests are judged by others, a chunk of rows at a time; cases that ask are futures on
//! the calling thread. Every outcome is committed before its case sees it, and everything that is concluded goes into the run's
//! file, from which reports are made. Memory holds a few chunks and the cases that are open, however many rows there are.
//!
//! * [`Examined`]: a definition and what is wrong with it;
//! * [`launch`]: a definition run; [`run`]: a job run; [`Job`] says what, [`Mode`] where outcomes come from;
//! * [`Perform`]: what performs requests; [`Models`]: the models of a suite; [`Functions`]: those of them that are part of the program;
//! * [`Recording`]: outcomes of an earlier run, for replay;
//! * [`Budget`], [`Stop`]: what a run may spend, and how it is stopped; [`allowance`]: what one process of many may spend;
//! * [`forecast`]: what a run would do; [`Progress`]: how far one has come;
//! * [`batches`]: batches of Arrow judged without a run;
//! * [`shards`]: a run cut into parts that processes share, and merged again;
//! * [`view`]: a run, read back; [`contrast`]: runs compared with each other; [`calibration`]: its judges compared with people.

mod agents;
pub mod allowance;
mod attachments;
pub mod batches;
mod breaker;
mod budget;
pub mod calibration;
mod case_label;
mod case_source;
mod case_store;
mod clock;
pub mod contrast;
mod definition;
mod drive;
mod effect_lane;
mod effects;
mod error;
mod evaluators;
mod examined;
mod forecast;
mod host_function;
mod judge_definition;
mod latencies;
mod launch;
mod models;
mod options;
mod perform;
mod progress;
mod record_lane;
mod recording;
mod requirements;
mod rerun;
mod roles;
mod row_lines;
mod row_order;
mod rows;
mod run;
mod scenario_graph;
mod scripts;
pub mod shards;
pub mod sharing;
mod slice;
mod stop;
mod stopping;
mod tally;
mod task_report;
mod unseen;
mod variants;
pub mod view;

pub use attachments::Attachments;
pub use budget::{Admitted, Amount, Budget, BudgetLimits};
pub use case_label::CaseLabel;
pub use definition::{documents, suite_hash};
pub use error::RunError;
pub use evaluators::EvaluatorError;
pub use examined::Examined;
pub use forecast::{Asking, forecast, outline};
pub use host_function::HostFunctions;
pub use jurat_core::verdict::Conclusion;
pub use launch::{Beginning, Begun, Definition, LaunchError, Launched, World, launch};
pub use models::{Functions, ModelError, Models};
pub use options::{Argument, GivenModel, OPTIONS, RunOption, RunOptions, Setting};
pub use perform::{ActionContext, Activity, Call, CheckEnvironment, LocalFuture, Perform, Performer};
pub use progress::{Progress, RunProgress, Watched};
pub use recording::{BadLine, EffectLine, EffectLines, Recorded, Recording, RecordingError, open_recording};
pub use requirements::{Conditions, Resources, missing};
pub use rerun::{Rerun, RerunError, RerunOf};
pub use roles::{RoleModel, Roles};
pub use row_lines::digest_of_rows;
pub use rows::{REFUSED, Selection};
pub use run::{Job, Mode, Ran, Target, now_ms, run};
pub use stop::Stop;
pub use stopping::StopError;
pub use variants::Subject;
