//! Agents: programs that are given a task and left to themselves with it.
//!
//! Each [`Runner`] describes one kind of agent without touching the world: how the program is started for a turn ([`Runner::launch`]), and what its
//! output says about that turn ([`Runner::read`]). The engine starts the program and collects its output. [`AgentRun::artifact`] makes the run
//! artifact of all turns, in one form for all runners.
//!
//! Nothing is guessed: an event that a reader does not know is stored as it is, as an event of the runner; a stream that breaks off is a fault in words.

mod aider;
mod aider_history;
mod aider_log;
mod anthropic_stream;
pub(crate) mod case_text;
mod claude_code;
mod codex;
mod command;
mod copilot_cli;
mod definition;
mod function;
mod gemini_cli;
mod goose;
mod launch;
mod lines;
mod mini_swe_agent;
mod openclaw;
mod opencode;
mod openhands;
mod pi;
mod pi_messages;
mod probe;
mod qwen_code;
mod recorded;
mod run;
mod runner;
pub(crate) mod text;
mod turn_report;
mod workspace;

pub use definition::{
    Agent, AgentCase, Fragments, Isolation, KEY_OUTPUT_BYTES, Limits, Network, ProbeTool, plain_relative_path,
};
pub use function::{FunctionReturn, asked_of_function, returned_by_function};
pub use launch::{ConfigFile, Launch, ModelAt, Places, ServerAt, TurnInput, Wire};
pub use probe::{Probe, ProbeStep, SHELL_SECONDS};
pub use run::{AgentRun, Ending, EndpointFault, Exchanges, Limit, Mechanism, StoredRun, TurnRun};
pub use runner::{Package, Performer, Printed, Program, Runner, SideFile, TranscriptFiles};
pub use turn_report::{Bounds, FaultSource, ReportedFault, TurnReport};
pub use workspace::{FileKind, Followed, Walked, WalkedFile, Workspace, followed};

/// Every runner, in the order of the reference.
pub static RUNNERS: &[&Runner] = &[
    &command::RUNNER,
    &function::RUNNER,
    &recorded::RUNNER,
    &probe::RUNNER,
    &openclaw::RUNNER,
    &claude_code::RUNNER,
    &codex::RUNNER,
    &gemini_cli::RUNNER,
    &qwen_code::RUNNER,
    &opencode::RUNNER,
    &copilot_cli::RUNNER,
    &goose::RUNNER,
    &openhands::RUNNER,
    &aider::RUNNER,
    &pi::RUNNER,
    &mini_swe_agent::RUNNER,
];
