//! What an evaluation means, as plain functions over plain values.
//!
//! This crate never touches the world: no files, network, environment, processes, threads, clock or terminal. What it
//! needs from outside is passed in; what it concludes is returned. Reading order:
//!
//! * [`tool`]: tools of servers, and models asked until they answer;
//! * [`scenario`]: conversations along a graph;
//! * [`template`]: what is read from an answer, and how it is rated;
//! * [`outcome`]: criteria over a whole scenario;
//! * [`application`]: an application of the author's own that is asked over HTTP;
//! * [`agent`]: how agents are started, and what they report;
//! * [`artifact`]: what a run of an agent leaves;
//! * [`check`]: deterministic checks of it;
//! * [`task`]: the tasks of a definition;
//! * [`suite`]: what authors write, read with positions, from the sections that the concepts declare;
//! * [`compat`]: what other products store;
//! * [`prompt`] and [`output`]: what a model is sent, and the JSON Schema of what it must answer;
//! * [`judge`]: asking a model to judge;
//! * [`evaluation`]: a judge that scores runs, dimension by dimension;
//! * [`evaluator`]: what code that judges returns, and evaluators that need no code;
//! * [`plan`]: names resolved, and everything that can be known before running;
//! * [`effect`]: what is asked of the world, and what came back;
//! * [`evidence`]: what happened in a case, as one document;
//! * [`case`]: one case from its source to its verdict;
//! * [`verdict`]: what is concluded;
//! * [`report`]: what there is to say about runs;
//! * [`label`]: what people say about cases;
//! * [`statistics`]: how certain a metric is;
//! * [`calibration`]: whether a judge can be trusted;
//! * [`contrast`]: runs compared with each other; [`gate`]: whether a change may pass;
//! * [`stopping`]: when a run knows enough to stop; [`power`]: how many rows a question needs.

pub mod agent;
pub mod application;
pub mod artifact;
mod ask;
pub mod calibration;
pub mod case;
pub mod chat;
pub mod check;
mod comparison;
pub mod compat;
pub mod contrast;
pub mod effect;
pub mod evaluation;
pub mod evaluator;
pub mod evidence;
mod filled;
mod foreign;
pub mod gate;
pub mod judge;
pub mod label;
pub mod model;
pub mod outcome;
pub mod output;
pub mod plan;
pub mod power;
pub mod prompt;
mod python_tokens;
mod records;
pub mod report;
pub mod scenario;
mod section;
pub mod statistics;
pub mod stopping;
pub mod suite;
pub mod task;
mod task_index;
pub mod template;
mod text_file;
pub mod tool;
pub mod tool_kind;
pub mod transform;
pub mod verdict;
