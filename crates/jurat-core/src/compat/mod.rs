//! What other products store, read into what it would be in jurat's own form. Only the readers of definitions ask for it.
//!
//! * [`karenina`]: scenarios and templates of Karenina: dumps, checkpoints, template classes;
//! * [`personal_agent_eval`]: suites, cases and profiles of personal-agent-eval.

pub mod karenina;
pub(crate) mod personal_agent_eval;
