//! What comes of a call.

use std::time::Duration;

/// What a call gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Return {
    /// The value as tagged JSON, see [`crate::tags`].
    pub value: String,
    /// What it wrote to standard output.
    pub stdout: Output,
    /// What it wrote to standard error, and what anything below the language wrote to either.
    pub stderr: Output,
}

/// What was printed; only its end when it was long.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Output {
    /// The text. What was not UTF-8 is replaced.
    pub text: String,
    /// How many bytes before it were dropped.
    pub n_dropped: u64,
}

/// Why a call gave nothing. It says nothing about the calls beside it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The code raised or threw.
    #[error("{kind}{}{}", after_colon(.message), at_line(.line))]
    Raised {
        /// The class of what was raised.
        kind: String,
        message: String,
        /// The line of the author's source that raised it or called what did, from 1.
        line: Option<u32>,
        /// What it wrote to standard output before.
        stdout: Output,
        /// What it wrote to standard error before.
        stderr: Output,
    },
    /// What it returned cannot be written down.
    #[error("the returned value cannot be stored: {why}")]
    NotStored {
        why: String,
        /// What the call wrote to standard output.
        stdout: Output,
        /// What it wrote to standard error.
        stderr: Output,
    },
    /// It took longer than it may.
    #[error("took longer than {} and was stopped", shown_duration(*.0))]
    Deadline(Duration),
    /// The process ended.
    #[error("its process ended before it returned: {how}{}", shown_stderr(.stderr))]
    Died {
        how: String,
        /// What the process last wrote to standard error.
        stderr: Output,
    },
    /// What the process answered is no answer to what was asked: the code tampered with its process.
    #[error("its process answered something else than was asked ({0}), and was stopped")]
    Garbled(String),
    /// No process could be started.
    #[error("{0}")]
    NotStarted(String),
    /// No caller waits for it any more.
    #[error("was given up")]
    GivenUp,
}

fn after_colon(message: &str) -> String {
    if message.is_empty() { String::new() } else { format!(": {message}") }
}

fn at_line(line: &Option<u32>) -> String {
    line.map_or_else(String::new, |it| format!(" (line {it})"))
}

/// Durations as people write them.
fn shown_duration(duration: Duration) -> String {
    let millis = duration.as_millis();
    if millis.is_multiple_of(1000) { format!("{} s", millis / 1000) } else { format!("{millis} ms") }
}

/// The last line of it, which is where interpreters say what happened.
fn shown_stderr(stderr: &Output) -> String {
    let last = stderr.text.lines().rev().find(|it| !it.trim().is_empty());
    last.map_or_else(String::new, |it| format!("; it last wrote `{}`", it.chars().take(200).collect::<String>()))
}
