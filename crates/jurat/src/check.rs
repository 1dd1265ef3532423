//! Deterministic checks of what agents did.
//!
//! ```
//! use jurat::check::{Check, status_is, tool_call_count, tool_called};
//! use jurat::{RunOptions, Suite};
//!
//! # let directory = tempfile::tempdir()?;
//! # let directory = directory.path();
//! let run = r#"{
//!     "identity": {"schema_version": 1, "run_id": "r1", "case_id": "report", "suite_id": "notes", "run_profile_id": "p", "runner_type": "command"},
//!     "status": "success",
//!     "request": {"requested_model": "none"},
//!     "trace": [
//!         {"sequence": 0, "event_type": "tool_call", "call_id": "1", "tool_name": "write_file", "parsed_arguments": {"path": "report.md"}},
//!         {"sequence": 1, "event_type": "final_output", "content": "report.md is written"}
//!     ]
//! }"#;
//! std::fs::write(directory.join("run.json"), run)?;
//! let checks = [
//!     Check::new("succeeded", status_is("success")),
//!     Check::new("one_call", tool_call_count(1)).dimensions(["efficiency"]),
//!     Check::new("wrote", tool_called("write_file")),
//! ];
//! let text = format!(
//!     "agents: {{ kept: {{ runner: recorded }} }}\ncases: [{{ id: report, artifact: run.json }}]\ntasks: {}",
//!     jurat::check::tasks(checks)?
//! );
//! let run = Suite::from_yaml(text, directory)?.run(RunOptions::in_directory(directory))?;
//! assert_eq!(run.pass_rate(), Some(1.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use jurat_core::value::Val;

use crate::members::Members;
use crate::{Error, Task};

/// A check of the run of an agent, as a task.
///
/// ```
/// use jurat::check::{Check, workspace_file_present};
///
/// Check::new("written", workspace_file_present("report.md").contains("Total")).dimensions(["task"]).required();
/// ```
#[derive(Debug, Clone)]
pub struct Check {
    id: String,
    members: Members,
    rule: Rule,
}

/// What is checked.
#[derive(Debug, Clone)]
pub struct Rule(Members);

impl Rule {
    fn of(kind: &'static str) -> Rule {
        let mut members = Members::default();
        members.put("kind", kind);
        Rule(members)
    }

    fn with(mut self, key: &'static str, value: impl Into<Val<'static>>) -> Rule {
        self.0.put(key, value);
        self
    }

    /// The same, for a file with this text in it.
    pub fn contains(self, text: impl Into<String>) -> Rule {
        self.with("contains", text.into())
    }
}

/// The run said something at its end.
pub fn final_response_present() -> Rule {
    Rule::of("final_response_present")
}

/// So many tools were called.
pub fn tool_call_count(n: u32) -> Rule {
    Rule::of("tool_call_count").with("expected", n)
}

/// The run ended so: `success`, `failed`, `timed_out`, `invalid` or `provider_error`.
pub fn status_is(status: impl Into<String>) -> Rule {
    Rule::of("status_is").with("expected", status.into())
}

/// There is a file on this machine.
pub fn file_exists(path: impl Into<String>) -> Rule {
    Rule::of("file_exists").with("path", path.into())
}

/// There is something at a path on this machine.
pub fn path_exists(path: impl Into<String>) -> Rule {
    Rule::of("path_exists").with("path", path.into())
}

/// A file on this machine has this text in it.
pub fn file_contains(path: impl Into<String>, text: impl Into<String>) -> Rule {
    Rule::of("file_contains").with("path", path.into()).with("text", text.into())
}

/// The run left this file, among those that its author declared.
pub fn workspace_file_present(relative_path: impl Into<String>) -> Rule {
    Rule::of("workspace_file_present").with("relative_path", relative_path.into())
}

/// This tool was called.
pub fn tool_called(tool: impl Into<String>) -> Rule {
    Rule::of("tool_called").with("tool", tool.into())
}

/// This tool was not called.
pub fn tool_not_called(tool: impl Into<String>) -> Rule {
    Rule::of("tool_not_called").with("tool", tool.into())
}

/// The run cost at most so many dollars.
pub fn costs_at_most(usd: f64) -> Rule {
    Rule::of("cost_usd").with("max", usd)
}

/// The run took at most so many seconds.
pub fn lasts_at_most(seconds: f64) -> Rule {
    Rule::of("duration_seconds").with("max", seconds)
}

impl Check {
    /// A check with a name.
    pub fn new(id: impl Into<String>, rule: Rule) -> Check {
        Check { id: id.into(), members: Members::default(), rule }
    }

    /// The same with the dimensions that it says something about.
    pub fn dimensions(mut self, names: impl IntoIterator<Item: Into<String>>) -> Check {
        self.members.texts("dimensions", names);
        self
    }

    /// The same, as a gate that is counted: what depends on it runs only when it passes.
    pub fn required(mut self) -> Check {
        self.members.put("required", true);
        self
    }
}

impl From<Check> for Task {
    fn from(check: Check) -> Task {
        let Check { id, mut members, rule } = check;
        members.object("check", rule.0);
        Task::of(id, members)
    }
}

/// Checks as the `tasks` of a definition that is text.
pub fn tasks(checks: impl IntoIterator<Item = Check>) -> Result<String, Error> {
    let tasks: Result<Vec<Val<'static>>, Error> = checks.into_iter().map(|it| Task::from(it).value()).collect();
    Ok(Val::List(tasks?).to_json())
}
