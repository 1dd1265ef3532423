//! Deterministic checks of what agents did: every kind as a function. `docs/reference/checks.md` says exactly what passes.
//!
//! ```
//! use jurat::check::{Check, status_is, tool_call_count, tool_called};
//! use jurat::{Agent, AgentCase, RunOptions, Suite};
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
//! let suite = Suite::builder("notes")
//!     .directory(directory)
//!     .agent(Agent::recorded("earlier"))
//!     .case(AgentCase::recorded("report", "run.json"))
//!     .tasks(checks)
//!     .build()?;
//! let run = suite.run(RunOptions::in_directory(directory))?;
//! assert_eq!(run.pass_rate(), Some(1.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::ops::{Bound, RangeBounds};

pub use jurat_core::check::Which;
use jurat_format::value::Val;
use serde::Serialize;

use crate::compare::Comparison;
use crate::members::{Members, setters};
use crate::value::given;
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
    pub(crate) members: Members,
    rule: Rule,
}

/// What is checked. What a kind does not take is reported when the suite is built.
#[derive(Debug, Clone)]
pub struct Rule(Members);

/// A file or a directory: on this machine, relative to the definition, or [in the workspace](in_workspace) of the run.
#[derive(Debug, Clone)]
pub struct Place {
    key: &'static str,
    path: String,
}

/// Calls of tools: of one tool, or of any.
///
/// ```
/// use jurat::check::{Call, Check, tool_called};
/// use jurat::compare::{contains, equals};
///
/// let call = Call::of("search").argument("query", contains("refund")).argument("limit", equals(10)).status("success");
/// Check::new("searched", tool_called(call).at_most(3));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Call(Members);

/// The run said something at its end.
pub fn final_response_present() -> Rule {
    Rule::of("final_response_present")
}

/// What the run said at its end passes a comparison.
pub fn final_response(comparison: Comparison) -> Rule {
    Rule::of("final_response").and(whole(comparison))
}

/// What the run said at its end passes a comparison at a path: `@json.total` reads it as JSON.
pub fn final_response_at(path: impl Into<String>, comparison: Comparison) -> Rule {
    Rule::of("final_response").and(comparison.members(Some(path.into())))
}

/// This number of tools was called.
pub fn tool_call_count(n: u32) -> Rule {
    Rule::of("tool_call_count").with("expected", n)
}

/// Such a call was made, once at least unless [`at_least`](Rule::at_least) says otherwise.
pub fn tool_called(call: impl Into<Call>) -> Rule {
    Rule::of("tool_called").and(call.into().0)
}

/// No such call was made.
pub fn tool_not_called(call: impl Into<Call>) -> Rule {
    Rule::of("tool_not_called").and(call.into().0)
}

/// Such calls were made in this order. Others may come between, unless it is [exact](Rule::exact).
///
/// ```
/// use jurat::check::{Call, Check, tool_order};
/// use jurat::compare::equals;
///
/// Check::new("read_first", tool_order(["search", "read_file"]).exact());
/// Check::new("wrote_last", tool_order([Call::of("read_file"), Call::of("write_file").argument("path", equals("report.md"))]));
/// ```
pub fn tool_order(calls: impl IntoIterator<Item: Into<Call>>) -> Rule {
    let mut rule = Rule::of("tool_order");
    for call in calls {
        let Call(members) = call.into();
        match members.only_text("tool") {
            Some(tool) => rule.0.push("tools", tool),
            None => rule.0.push_object("tools", members),
        }
    }
    rule
}

/// What such calls gave back is as the call says: its [status](Call::status), its [output](Call::output).
pub fn tool_result(call: impl Into<Call>, which: Which) -> Rule {
    Rule::of("tool_result").and(call.into().0).with("which", which.name())
}

/// The run ended so: `success`, `failed`, `timed_out`, `invalid`, `provider_error` or `refused`.
pub fn status_is(status: impl Into<String>) -> Rule {
    Rule::of("status_is").with("expected", status.into())
}

/// The program that ran ended with this number.
pub fn exit_status(code: i32) -> Rule {
    Rule::of("exit_status").with("expected", i64::from(code))
}

/// There is a file.
pub fn file_exists(place: impl Into<Place>) -> Rule {
    Rule::of("file_exists").at(place.into())
}

/// There is something at a path.
pub fn path_exists(place: impl Into<Place>) -> Rule {
    Rule::of("path_exists").at(place.into())
}

/// A file has this text in it.
pub fn file_contains(place: impl Into<Place>, text: impl Into<String>) -> Rule {
    Rule::of("file_contains").at(place.into()).with("text", text.into())
}

/// The text of a file passes a comparison.
pub fn file_matches(place: impl Into<Place>, comparison: Comparison) -> Rule {
    Rule::of("file_matches").at(place.into()).and(whole(comparison))
}

/// The text of a file passes a comparison at a path: `@json.total` reads it as JSON.
pub fn file_matches_at(place: impl Into<Place>, path: impl Into<String>, comparison: Comparison) -> Rule {
    Rule::of("file_matches").at(place.into()).and(comparison.members(Some(path.into())))
}

/// What a file holds as JSON fits a schema: fields in short form, or a JSON Schema.
///
/// ```
/// use jurat::check::{Check, file_fits, in_workspace};
/// use serde_json::json;
///
/// Check::new("totals", file_fits(in_workspace("totals.json"), json!({ "total": "number", "orders": ["string"] })));
/// ```
pub fn file_fits(place: impl Into<Place>, schema: impl Serialize) -> Rule {
    let mut rule = Rule::of("file_matches").at(place.into());
    rule.0.given("schema", given(&schema));
    rule
}

/// The run lists an output artifact; [`artifact_type`](Rule::artifact_type), [`artifact_id`](Rule::artifact_id) and [`uri`](Rule::uri) say which.
pub fn output_artifact_present() -> Rule {
    Rule::of("output_artifact_present")
}

/// The run left this file, among those that its author declared.
pub fn workspace_file_present(relative_path: impl Into<String>) -> Rule {
    Rule::of("workspace_file_present").with("relative_path", relative_path.into())
}

/// The same for runs of OpenClaw alone; runs of others fail.
pub fn openclaw_workspace_file_present(relative_path: impl Into<String>) -> Rule {
    Rule::of("openclaw_workspace_file_present").with("relative_path", relative_path.into())
}

/// The run added, changed and removed nothing in its workspace; [`except`](Rule::except) says what may be different.
pub fn workspace_unchanged() -> Rule {
    Rule::of("workspace_unchanged")
}

/// The run cost this number of dollars: `cost_usd(..=0.05)`.
pub fn cost_usd(range: impl RangeBounds<f64>) -> Rule {
    Rule::of("cost_usd").measured(&range)
}

/// The run cost at most this number of dollars.
pub fn costs_at_most(usd: f64) -> Rule {
    cost_usd(..=usd)
}

/// The run took this number of seconds: `duration_seconds(1.0..=60.0)`.
pub fn duration_seconds(range: impl RangeBounds<f64>) -> Rule {
    Rule::of("duration_seconds").measured(&range)
}

/// The run took at most this number of seconds.
pub fn lasts_at_most(seconds: f64) -> Rule {
    duration_seconds(..=seconds)
}

/// The run took this number of tokens, input and output: `tokens(..=20_000)`.
pub fn tokens(range: impl RangeBounds<u64>) -> Rule {
    Rule::of("tokens").counted(&range)
}

/// The run took this number of tokens of one kind: `input`, `output`, `reasoning`, `cached_input` or `cache_write`.
pub fn tokens_of(kind: impl Into<String>, range: impl RangeBounds<u64>) -> Rule {
    Rule::of("tokens").with("of", kind.into()).counted(&range)
}

/// The agent spoke this number of times: `turns(..=5)`.
pub fn turns(range: impl RangeBounds<u64>) -> Rule {
    Rule::of("turns").counted(&range)
}

/// A function in a Python file decides. Suites run such code only when they say so: `security_policy.allow_local_python_hooks`.
pub fn hook(path: impl Into<String>, callable: impl Into<String>) -> Rule {
    Rule::of("hook").with("path", path.into()).with("callable_name", callable.into())
}

/// The same, of a module that Python can import.
pub fn hook_in_module(import_path: impl Into<String>, callable: impl Into<String>) -> Rule {
    Rule::of("hook").with("import_path", import_path.into()).with("callable_name", callable.into())
}

/// A path in the workspace of the run, which it cannot lead out of.
pub fn in_workspace(path: impl Into<String>) -> Place {
    Place { key: "workspace", path: path.into() }
}

/// A comparison of all that a check looks at.
fn whole(comparison: Comparison) -> Members {
    comparison.members(None).without("field_path")
}

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

    fn and(mut self, members: Members) -> Rule {
        self.0.extend(members);
        self
    }

    fn at(self, place: Place) -> Rule {
        self.with(place.key, place.path)
    }

    fn measured(self, range: &impl RangeBounds<f64>) -> Rule {
        let min = match range.start_bound() {
            Bound::Included(min) => Some(*min),
            Bound::Excluded(min) => Some(min.next_up()),
            Bound::Unbounded => None,
        };
        let max = match range.end_bound() {
            Bound::Included(max) => Some(*max),
            Bound::Excluded(max) => Some(max.next_down()),
            Bound::Unbounded => None,
        };
        self.bounded(min.map(Val::F), max.map(Val::F))
    }

    fn counted(self, range: &impl RangeBounds<u64>) -> Rule {
        let min = match range.start_bound() {
            Bound::Included(min) => Some(*min),
            Bound::Excluded(min) => Some(min.saturating_add(1)),
            Bound::Unbounded => None,
        };
        let max = match range.end_bound() {
            Bound::Included(max) => Some(*max),
            Bound::Excluded(max) => Some(max.saturating_sub(1)),
            Bound::Unbounded => None,
        };
        self.bounded(min.map(Val::from), max.map(Val::from))
    }

    fn bounded(mut self, min: Option<Val<'static>>, max: Option<Val<'static>>) -> Rule {
        for (key, bound) in [("min", min), ("max", max)] {
            if let Some(bound) = bound {
                self.0.put(key, bound);
            }
        }
        self
    }
}

setters! { Rule:
    /// The same, for a file with this text in it.
    contains(text: impl Into<String>) => 0.put("contains", text.into());

    /// The same, for a file with all of these texts in it, without regard to case and accents.
    contains_all(texts: impl IntoIterator<Item: Into<String>>) => 0.texts("contains_all", texts);

    /// The same, for a file with one of these texts in it, without regard to case and accents.
    contains_any(texts: impl IntoIterator<Item: Into<String>>) => 0.texts("contains_any", texts);

    /// The same, for calls that were made at least this number of times.
    at_least(n: u32) => 0.put("min", n);

    /// The same, for calls that were made at most this number of times.
    at_most(n: u32) => 0.put("max", n);

    /// The same, without any other calls.
    exact() => 0.put("exact", true);

    /// The same, but paths that fit one of these patterns may be different: `*`, `**`, `?`, `[…]`.
    except(patterns: impl IntoIterator<Item: Into<String>>) => 0.texts("except", patterns);

    /// The same, for an artifact of this type.
    artifact_type(name: impl Into<String>) => 0.put("artifact_type", name.into());

    /// The same, for the artifact with this id.
    artifact_id(id: impl Into<String>) => 0.put("artifact_id", id.into());

    /// The same, for an artifact with this URI.
    uri(uri: impl Into<String>) => 0.put("uri", uri.into());

    /// The same, but calls are looked for in a response of OpenAI, Anthropic or Gemini that was recorded in the row.
    in_response(path: impl Into<String>) => 0.put("response_path", path.into());
}

impl From<&str> for Place {
    fn from(path: &str) -> Place {
        Place { key: "path", path: path.to_owned() }
    }
}

impl From<String> for Place {
    fn from(path: String) -> Place {
        Place { key: "path", path }
    }
}

impl Call {
    /// Calls of a tool.
    pub fn of(tool: impl Into<String>) -> Call {
        let mut members = Members::default();
        members.put("tool", tool.into());
        Call(members)
    }

    /// Calls of any of these tools.
    pub fn of_any(tools: impl IntoIterator<Item: Into<String>>) -> Call {
        let mut members = Members::default();
        members.texts("tool", tools);
        Call(members)
    }

    /// Calls of tools of a kind, whatever an agent calls them: `shell`, `read`, `write`, `search`, `web`, `plan`, `agent`, `skill`, `mcp` or `other`.
    ///
    /// ```
    /// use jurat::check::{Call, Check, tool_not_called};
    ///
    /// Check::new("changed_nothing", tool_not_called(Call::of_kind("write")));
    /// ```
    pub fn of_kind(kind: impl Into<String>) -> Call {
        let mut members = Members::default();
        members.put("tool_kind", kind.into());
        Call(members)
    }

    /// Calls of every tool.
    pub fn of_every_tool() -> Call {
        Call::default()
    }
}

setters! { Call:
    /// Those with an argument that passes a comparison.
    argument(path: impl Into<String>, comparison: Comparison) => 0.push_object("arguments", comparison.members(Some(path.into())));

    /// Those that ended so: `success` or `error`.
    status(status: impl Into<String>) => 0.put("status", status.into());

    /// Those that gave back something that passes a comparison.
    output(comparison: Comparison) => 0.push_object("output", whole(comparison));
}

impl From<&str> for Call {
    fn from(tool: &str) -> Call {
        Call::of(tool)
    }
}

impl From<String> for Call {
    fn from(tool: String) -> Call {
        Call::of(tool)
    }
}

impl Check {
    /// A check with a name.
    pub fn new(id: impl Into<String>, rule: Rule) -> Check {
        Check { id: id.into(), members: Members::default(), rule }
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
///
/// ```
/// use jurat::check::{Check, status_is, tasks};
///
/// let text = tasks([Check::new("succeeded", status_is("success"))])?;
/// assert_eq!(text, r#"[{"id":"succeeded","check":{"kind":"status_is","expected":"success"}}]"#);
/// # Ok::<(), jurat::Error>(())
/// ```
pub fn tasks(checks: impl IntoIterator<Item = Check>) -> Result<String, Error> {
    let tasks: Result<Vec<Val<'static>>, Error> = checks.into_iter().map(|it| Task::from(it).value()).collect();
    Ok(Val::List(tasks?).to_json())
}
