//! Deterministic checks: questions about a finished run that need no model to answer.
//!
//! A check reads the evidence of its case ([`crate::evidence::run`]) and, where it is about files, what was seen of them. It passes, fails with what was
//! expected and found, or cannot be decided, which is an error and never a pass. Deciding is pure: [`Check::looks`] says what to look at,
//! the engine looks, [`Check::decide`] draws the conclusion from what was seen.

mod calls;
mod decide;
mod dimension;
mod folded;
mod glob;
mod hook;
mod seen;
mod uri;
mod workspace;

pub(crate) use calls::arguments;
pub use calls::{Call, CallPattern, calls};
pub use dimension::{DIMENSIONS, DimensionScore, dimension_scores};
pub use folded::{folded, is_blank};
pub use glob::Glob;
pub use hook::{Hook, HookAnswer, HookCode, not_allowed};
pub use seen::{Base, Files, Look, MOST_SEARCHED, MOST_TEXT, Seen, SeenFile, Wants};
pub use uri::uri_path;

use std::path::{Path, PathBuf};

use jurat_compare::Assertion;
use jurat_format::choices;
use jurat_format::value::{FieldPath, Value};

use crate::artifact::RunStatus;
use crate::judge::ReplySchema;

/// A check: what it asks, and how it was written.
#[derive(Debug, Clone)]
pub struct Check {
    pub rule: Rule,
    /// The definition, as it was written.
    pub written: Value,
    /// The file that it stands in. Paths in it are relative to its directory.
    pub source: PathBuf,
}

/// Two are equal when they are written alike; where they stand makes no difference.
impl PartialEq for Check {
    fn eq(&self, other: &Self) -> bool {
        self.written == other.written
    }
}

/// What a check asks.
#[derive(Debug, Clone)]
pub enum Rule {
    /// Whether the run said something at its end.
    FinalResponsePresent,
    /// Whether what it said passes a comparison.
    FinalResponse(Assertion),
    /// Whether exactly this number of tool calls was made.
    ToolCallCount {
        expected: u64,
        /// The recorded response to look at instead of the run.
        response: Option<FieldPath>,
    },
    /// Whether a tool was called, and how often.
    ToolCalled {
        calls: CallPattern,
        min: u64,
        max: Option<u64>,
        /// The recorded response to look at instead of the run.
        response: Option<FieldPath>,
    },
    /// Whether tools were called in this order.
    ToolOrder {
        /// The calls, one after the other.
        calls: Vec<CallPattern>,
        /// Whether no other call may come before, between or after them.
        is_exact: bool,
        /// The recorded response to look at instead of the run.
        response: Option<FieldPath>,
    },
    /// Whether what tools gave back is as it should be.
    ToolResult {
        /// The calls whose results are looked at; its status and output are not.
        calls: CallPattern,
        /// What must hold of them.
        result: CallPattern,
        which: Which,
        /// The recorded response to look at instead of the run.
        response: Option<FieldPath>,
    },
    /// Whether a path is a file.
    FileExists(Place),
    /// Whether a path is anything.
    PathExists(Place),
    /// Whether a file contains a text.
    FileContains { place: Place, text: String },
    /// Whether the text of a file passes a comparison, or fits a schema.
    FileMatches { place: Place, assertion: Option<Assertion>, schema: Option<Box<ReplySchema>> },
    /// Whether the run ended so.
    StatusIs(RunStatus),
    /// Whether the program that ran ended with this number.
    ExitStatus(i64),
    /// Whether the run lists an output artifact like this.
    OutputArtifactPresent { artifact_type: Option<String>, artifact_id: Option<String>, uri: Option<String> },
    /// Whether an output artifact is this file of the workspace.
    WorkspaceFilePresent {
        /// The end of its path, `/` between names and none at the beginning.
        relative_path: String,
        content: ContentRule,
        /// The runner that the check is for; every runner when `None`.
        runner: Option<&'static str>,
    },
    /// Whether nothing in the workspace is different, but for these.
    WorkspaceUnchanged { except: Vec<Glob> },
    /// Whether a figure of the run is within bounds.
    Within { figure: Figure, min: Option<f64>, max: Option<f64> },
    /// Whatever the author's code says.
    Hook(Hook),
}

/// Where a file is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// On the host; relative to the definition.
    Host(String),
    /// In the workspace of the run, which it cannot lead out of.
    Workspace(String),
}

choices! {
    /// Of which results something must hold.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Which {
        /// Of each, and there must be one.
        Every = "every",
        /// Of one of them.
        Any = "any",
        First = "first",
        Last = "last",
    }
}

/// What a file must contain.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ContentRule {
    /// Anything.
    #[default]
    Any,
    /// This, letter by letter.
    Exactly(String),
    /// These, without regard to case and accents.
    Folded {
        all: Vec<String>,
        /// One of these, when there are any.
        any: Option<Vec<String>>,
    },
}

/// A figure of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Figure {
    CostUsd,
    /// Tokens, by their name in the artifact.
    Tokens(&'static str),
    /// How often the agent spoke.
    Turns,
    /// How long it took.
    DurationSeconds,
}

impl Check {
    /// The name of its kind, as authors write it.
    pub fn kind(&self) -> &str {
        match &self.rule {
            Rule::Hook(_) => "hook",
            _ => self.written.get("kind").and_then(jurat_format::value::Val::as_str).unwrap_or_default(),
        }
    }

    /// The directory that paths in it are relative to.
    pub fn home(&self) -> &Path {
        self.source.parent().unwrap_or(Path::new(""))
    }

    /// Whether it may have to look at files, or have code called, before it can be decided.
    pub fn may_look(&self) -> bool {
        matches!(
            self.rule,
            Rule::FileExists(_)
                | Rule::PathExists(_)
                | Rule::FileContains { .. }
                | Rule::FileMatches { .. }
                | Rule::WorkspaceFilePresent { .. }
                | Rule::FinalResponsePresent
                | Rule::Hook(_)
        )
    }

    /// What it says something about when its author does not say.
    pub fn default_dimensions(&self) -> &'static [&'static str] {
        match &self.rule {
            Rule::FinalResponsePresent | Rule::StatusIs(_) | Rule::ExitStatus(_) => &["process"],
            Rule::ToolCallCount { .. } => &["process", "efficiency"],
            Rule::ToolCalled { .. } | Rule::ToolOrder { .. } | Rule::ToolResult { .. } => &["process"],
            Rule::FileExists(_)
            | Rule::PathExists(_)
            | Rule::FileContains { .. }
            | Rule::FileMatches { .. }
            | Rule::FinalResponse(_)
            | Rule::OutputArtifactPresent { .. } => &["task"],
            Rule::Within { .. } => &["efficiency"],
            Rule::WorkspaceUnchanged { .. } => &["process"],
            Rule::WorkspaceFilePresent { .. } | Rule::Hook(_) => &[],
        }
    }
}
