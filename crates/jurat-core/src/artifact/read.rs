//! Reading a run artifact: known members, right types, and a sentence for everything else. It never stops at the first problem.

use std::fmt;

use jurat_format::problem::nearest;
use jurat_format::value::{Map, Val, Value, shown_within};

use super::{
    Event, Happening, Identity, OutputArtifact, Provider, RunArtifact, RunFault, RunRequest, RunStatus, RunUsage,
    SCHEMA_VERSION, Timing, Tokens,
};

/// Something that is wrong with an artifact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArtifactProblem {
    /// Where: `trace[3].role`; empty for the whole.
    pub at: String,
    pub reason: String,
}

impl fmt::Display for ArtifactProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.at.is_empty() {
            true => f.write_str(&self.reason),
            false => write!(f, "`{}` {}", self.at, self.reason),
        }
    }
}

/// Problems in one sentence; of many the first few.
pub fn listed(problems: &[ArtifactProblem]) -> String {
    const MOST: usize = 5;
    let mut text = problems.iter().take(MOST).map(ToString::to_string).collect::<Vec<_>>().join("; ");
    if problems.len() > MOST {
        text.push_str(&format!("; and {} more", problems.len() - MOST));
    }
    text
}

impl RunArtifact {
    /// Reads an artifact, or returns everything that is wrong with it.
    ///
    /// ```
    /// use jurat_core::artifact::{RunArtifact, RunStatus};
    /// use jurat_format::value::parse_json;
    ///
    /// let text = r#"{
    ///     "identity": {"schema_version": 1, "run_id": "r1", "case_id": "c", "suite_id": "s", "run_profile_id": "p", "runner_type": "command"},
    ///     "status": "success",
    ///     "request": {"requested_model": "vendor/model"},
    ///     "trace": [{"sequence": 0, "event_type": "final_output", "content": "done"}]
    /// }"#;
    /// let artifact = RunArtifact::read(&parse_json(text)?.value).expect("nothing is wrong with it");
    /// assert_eq!(artifact.status, RunStatus::Success);
    /// assert_eq!(RunArtifact::read(&artifact.to_value()).as_ref(), Ok(&artifact));
    ///
    /// let wrong = RunArtifact::read(&parse_json(&text.replace("success", "fine"))?.value).unwrap_err();
    /// assert_eq!(wrong[0].to_string(), "`status` must be `success`, `failed`, `timed_out`, `invalid`, `provider_error` or `refused`, not `fine`");
    /// # Ok::<(), jurat_format::value::JsonError>(())
    /// ```
    pub fn read(value: &Val<'_>) -> Result<RunArtifact, Vec<ArtifactProblem>> {
        let mut reader = Reader::default();
        let artifact = reader.artifact(value);
        match artifact {
            Some(artifact) if reader.problems.is_empty() => Ok(artifact),
            _ => Err(reader.problems),
        }
    }
}

/// What evidence adds to an artifact; an evidence document that is read back has these beside the blocks.
const DERIVED: [&str; 5] = ["input", "context", "final_response", "tool_calls", "workspace"];

#[derive(Default)]
struct Reader {
    problems: Vec<ArtifactProblem>,
}

/// The members of one object, and where it stands.
struct Members<'m, 'v> {
    map: &'m Map<'v>,
    at: String,
}

impl<'m, 'v> Members<'m, 'v> {
    /// A member that is there and says something.
    fn get(&self, key: &str) -> Option<&'m Val<'v>> {
        self.map.get(key).filter(|it| !matches!(it, Val::Null))
    }

    fn place(&self, key: &str) -> String {
        joined(&self.at, key)
    }

    fn any(&self, key: &str) -> Value {
        self.map.get(key).map_or(Val::Null, |it| it.clone().into_owned())
    }
}

fn joined(at: &str, key: &str) -> String {
    if at.is_empty() { key.to_owned() } else { format!("{at}.{key}") }
}

impl Reader {
    fn wrong(&mut self, at: impl Into<String>, reason: impl Into<String>) {
        self.problems.push(ArtifactProblem { at: at.into(), reason: reason.into() });
    }

    fn must_be(&mut self, at: impl Into<String>, needs: &str, found: &Val<'_>) {
        self.wrong(at, format!("must be {needs}, not {}", shown_within(found, 40)));
    }

    /// The members of an object that has only these.
    fn members<'m, 'v>(&mut self, at: &str, value: &'m Val<'v>, known: &[&str]) -> Option<Members<'m, 'v>> {
        let Val::Map(map) = value else {
            self.must_be(at, "an object", value);
            return None;
        };
        for key in map.keys().filter(|key| !known.contains(key)) {
            let near = nearest(key, known.iter().copied()).map(|it| format!("; did you mean `{it}`?"));
            self.wrong(joined(at, key), format!("is no part of a run artifact{}", near.unwrap_or_default()));
        }
        Some(Members { map, at: at.to_owned() })
    }

    /// A block that may be left out.
    fn block<'m, 'v>(&mut self, parent: &Members<'m, 'v>, key: &str, known: &[&str]) -> Option<Members<'m, 'v>> {
        parent.get(key).and_then(|it| self.members(&parent.place(key), it, known))
    }

    fn text(&mut self, members: &Members<'_, '_>, key: &str) -> Option<String> {
        match members.get(key)? {
            Val::Str(text) => Some(text.clone().into_owned()),
            other => {
                self.must_be(members.place(key), "text", other);
                None
            }
        }
    }

    fn required(&mut self, members: &Members<'_, '_>, key: &str) -> Option<String> {
        if members.get(key).is_none() {
            self.wrong(members.place(key), "is missing");
        }
        self.text(members, key)
    }

    fn id(&mut self, members: &Members<'_, '_>, key: &str, is_id: fn(&str) -> bool) -> Option<String> {
        let text = self.required(members, key)?;
        if !is_id(&text) {
            let needs = "a name of lower-case letters, digits, `_` and `-`";
            self.must_be(members.place(key), needs, &Val::from(text.as_str()));
        }
        Some(text)
    }

    fn count(&mut self, members: &Members<'_, '_>, key: &str) -> Option<u64> {
        match members.get(key)? {
            Val::I(number) if *number >= 0 => u64::try_from(*number).ok(),
            Val::U(number) => Some(*number),
            other => {
                self.must_be(members.place(key), "a whole number of at least 0", other);
                None
            }
        }
    }

    fn amount(&mut self, members: &Members<'_, '_>, key: &str) -> Option<f64> {
        let value = members.get(key)?;
        let amount = value.as_f64().filter(|it| *it >= 0.0 && it.is_finite());
        if amount.is_none() {
            self.must_be(members.place(key), "a number of at least 0", value);
        }
        amount
    }

    fn boolean(&mut self, members: &Members<'_, '_>, key: &str) -> Option<bool> {
        match members.get(key)? {
            Val::Bool(value) => Some(*value),
            other => {
                self.must_be(members.place(key), "`true` or `false`", other);
                None
            }
        }
    }

    /// An object with any members.
    fn open(&mut self, members: &Members<'_, '_>, key: &str) -> Option<Value> {
        let value = members.get(key)?;
        if value.as_map().is_none() {
            self.must_be(members.place(key), "an object", value);
            return None;
        }
        Some(value.clone().into_owned())
    }

    fn items<'m, 'v>(&mut self, members: &Members<'m, 'v>, key: &str) -> &'m [Val<'v>] {
        match members.get(key) {
            None => &[],
            Some(Val::List(items)) => items,
            Some(other) => {
                self.must_be(members.place(key), "a list", other);
                &[]
            }
        }
    }

    fn artifact(&mut self, value: &Val<'_>) -> Option<RunArtifact> {
        const BLOCKS: [&str; 10] = [
            "identity",
            "status",
            "timing",
            "request",
            "provider",
            "usage",
            "trace",
            "output_artifacts",
            "error",
            "runner_metadata",
        ];
        let known: Vec<&str> = BLOCKS.into_iter().chain(DERIVED).collect();
        let whole = self.members("", value, &known)?;
        let identity = self.identity(&whole);
        let status = self.status(&whole);
        let timing = self.timing(&whole);
        let request = self.request(&whole);
        let provider = self.provider(&whole);
        let usage = self.usage(&whole);
        let trace = self.trace(&whole);
        let output_artifacts = self.output_artifacts(&whole, "output_artifacts");
        let error = self.error(&whole);
        let runner_metadata = self.open(&whole, "runner_metadata").unwrap_or_else(|| Val::Map(Map::default()));
        self.openclaw(&whole);
        match (status, whole.get("error").is_some()) {
            (Some(RunStatus::Success), true) => self.wrong("error", "must be absent when `status` is `success`"),
            (Some(RunStatus::Success) | None, _) | (_, true) => {}
            (Some(status), false) => {
                self.wrong("error", format!("must say why when `status` is `{}`", status.name()));
            }
        }
        Some(RunArtifact {
            identity: identity?,
            status: status?,
            timing,
            request: request?,
            provider,
            usage,
            trace,
            output_artifacts,
            error,
            runner_metadata,
        })
    }

    /// A block that must be there.
    fn needed<'m, 'v>(&mut self, whole: &Members<'m, 'v>, key: &str, known: &[&str]) -> Option<Members<'m, 'v>> {
        if whole.get(key).is_none() {
            self.wrong(whole.place(key), "is missing");
        }
        self.block(whole, key, known)
    }

    fn identity(&mut self, whole: &Members<'_, '_>) -> Option<Identity> {
        let known = ["schema_version", "run_id", "case_id", "suite_id", "run_profile_id", "runner_type"];
        let block = self.needed(whole, "identity", &known)?;
        match block.get("schema_version") {
            None => {}
            Some(Val::I(version)) if *version == i64::from(SCHEMA_VERSION) => {}
            Some(other) => self.must_be(block.place("schema_version"), "1", other),
        }
        let run_id = self.id(&block, "run_id", is_run_id);
        let [case_id, suite_id, run_profile_id, runner_type] =
            ["case_id", "suite_id", "run_profile_id", "runner_type"].map(|it| self.id(&block, it, is_identifier));
        Some(Identity {
            run_id: run_id?,
            case_id: case_id?,
            suite_id: suite_id?,
            run_profile_id: run_profile_id?,
            runner_type: runner_type?,
        })
    }

    fn status(&mut self, whole: &Members<'_, '_>) -> Option<RunStatus> {
        let name = self.required(whole, "status")?;
        let status = RunStatus::named(&name);
        if status.is_none() {
            let names = jurat_format::problem::listed(RunStatus::NAMED.iter().map(|(name, _)| *name));
            self.must_be("status", &names, &Val::from(name.as_str()));
        }
        status
    }

    fn timing(&mut self, whole: &Members<'_, '_>) -> Timing {
        let known = ["queued_at", "started_at", "completed_at", "duration_seconds"];
        let Some(block) = self.block(whole, "timing", &known) else { return Timing::default() };
        let names = ["queued_at", "started_at", "completed_at"];
        let dates = names.map(|it| self.date(&block, it));
        for (earlier, later) in [(0, 1), (1, 2)] {
            if let (Some((_, first)), Some((_, second))) = (&dates[earlier], &dates[later])
                && second < first
            {
                let reason = format!("must not be before `{}`", names[earlier]);
                self.wrong(block.place(names[later]), reason);
            }
        }
        let [queued_at, started_at, completed_at] = dates.map(|it| it.map(|(text, _)| text));
        Timing { queued_at, started_at, completed_at, duration_seconds: self.amount(&block, "duration_seconds") }
    }

    /// A date as it is written, and when that is; one without a zone is taken for universal time.
    fn date(&mut self, members: &Members<'_, '_>, key: &str) -> Option<(String, jiff::Timestamp)> {
        let text = self.text(members, key)?;
        let at = text.parse::<jiff::Timestamp>().ok().or_else(|| {
            let civil = text.parse::<jiff::civil::DateTime>().ok()?;
            civil.to_zoned(jiff::tz::TimeZone::UTC).ok().map(|it| it.timestamp())
        });
        if at.is_none() {
            self.must_be(members.place(key), "a date such as `2026-01-31T12:00:00Z`", &Val::from(text.as_str()));
        }
        at.map(|at| (text, at))
    }

    fn request(&mut self, whole: &Members<'_, '_>) -> Option<RunRequest> {
        let known = ["requested_model", "gateway", "execution_parameters", "metadata"];
        let block = self.needed(whole, "request", &known)?;
        let requested_model = self.required(&block, "requested_model");
        self.parameters(&block);
        Some(RunRequest {
            gateway: self.text(&block, "gateway"),
            execution_parameters: self.open(&block, "execution_parameters").unwrap_or_else(|| Val::Map(Map::default())),
            metadata: self.open(&block, "metadata").unwrap_or_else(|| Val::Map(Map::default())),
            requested_model: requested_model?,
        })
    }

    fn parameters(&mut self, request: &Members<'_, '_>) {
        let known =
            ["temperature", "top_p", "max_tokens", "seed", "max_turns", "timeout_seconds", "retries", "tool_choice"];
        let Some(block) = self.block(request, "execution_parameters", &known) else { return };
        for key in ["temperature", "top_p"] {
            if let Some(value) = block.get(key).filter(|it| it.as_f64().is_none()) {
                self.must_be(block.place(key), "a number", value);
            }
        }
        for (key, least) in [("max_tokens", 1), ("max_turns", 1), ("retries", 0), ("seed", i64::MIN)] {
            match block.get(key) {
                None | Some(Val::U(_)) => {}
                Some(Val::I(number)) if *number >= least => {}
                Some(other) if least == i64::MIN => self.must_be(block.place(key), "a whole number", other),
                Some(other) => {
                    self.must_be(block.place(key), &format!("a whole number of at least {least}"), other);
                }
            }
        }
        if let Some(value) = block.get("timeout_seconds").filter(|it| it.as_f64().is_none_or(|it| it <= 0.0)) {
            self.must_be(block.place("timeout_seconds"), "a number above 0", value);
        }
        if let Some(value) = block.get("tool_choice").filter(|it| !matches!(it, Val::Str(_) | Val::Map(_))) {
            self.must_be(block.place("tool_choice"), "text or an object", value);
        }
    }

    fn provider(&mut self, whole: &Members<'_, '_>) -> Provider {
        let known = [
            "gateway",
            "provider_name",
            "provider_model_id",
            "request_id",
            "response_id",
            "finish_reason",
            "native_finish_reason",
            "metadata",
        ];
        let Some(block) = self.block(whole, "provider", &known) else { return Provider::default() };
        let mut text = |key: &str| self.text(&block, key);
        Provider {
            gateway: text("gateway"),
            provider_name: text("provider_name"),
            provider_model_id: text("provider_model_id"),
            request_id: text("request_id"),
            response_id: text("response_id"),
            finish_reason: text("finish_reason"),
            native_finish_reason: text("native_finish_reason"),
            metadata: self.open(&block, "metadata"),
        }
    }

    fn usage(&mut self, whole: &Members<'_, '_>) -> RunUsage {
        let known = ["normalized", "cost_usd", "raw_provider_usage"];
        let Some(block) = self.block(whole, "usage", &known) else { return RunUsage::default() };
        let normalized = self.block(&block, "normalized", &Tokens::NAMES).map_or_else(Tokens::default, |it| {
            let [input, output, total, reasoning, cached_input, cache_write] =
                Tokens::NAMES.map(|name| self.count(&it, name));
            Tokens { input, output, total, reasoning, cached_input, cache_write }
        });
        RunUsage {
            normalized,
            cost_usd: self.amount(&block, "cost_usd"),
            raw_provider_usage: block.get("raw_provider_usage").map(|it| it.clone().into_owned()),
        }
    }

    fn trace(&mut self, whole: &Members<'_, '_>) -> Vec<Event> {
        let items = self.items(whole, "trace");
        items.iter().enumerate().filter_map(|(ix, item)| self.event(ix, item)).collect()
    }

    fn event(&mut self, ix: usize, item: &Val<'_>) -> Option<Event> {
        const KINDS: [(&str, &[&str]); 5] = [
            ("message", &["role", "content", "name"]),
            ("tool_call", &["call_id", "tool_name", "raw_arguments", "parsed_arguments"]),
            ("tool_result", &["call_id", "status", "output"]),
            ("runner", &["name", "detail"]),
            ("final_output", &["content"]),
        ];
        let at = format!("trace[{ix}]");
        let kind = item.get("event_type").and_then(Val::as_str);
        let Some((kind, own)) = KINDS.iter().find(|(name, _)| Some(*name) == kind) else {
            let names = jurat_format::problem::listed(KINDS.iter().map(|(name, _)| *name));
            match item.get("event_type") {
                Some(found) => self.must_be(joined(&at, "event_type"), &names, found),
                None => self.wrong(joined(&at, "event_type"), format!("is missing: it is {names}")),
            }
            return None;
        };
        let known: Vec<&str> =
            ["event_type", "sequence", "timestamp", "metadata"].iter().chain(*own).copied().collect();
        let event = self.members(&at, item, &known)?;
        match event.get("sequence") {
            Some(Val::I(number)) if usize::try_from(*number) == Ok(ix) => {}
            Some(other) => self.must_be(event.place("sequence"), &format!("{ix}, its place in the trace"), other),
            None => self.wrong(event.place("sequence"), format!("is missing: it is {ix}, its place in the trace")),
        }
        let what = match *kind {
            "message" => self.message(&event),
            "tool_call" => self.tool_call(&event),
            "tool_result" => self.tool_result(&event),
            "runner" => Some(Happening::Runner { name: self.required(&event, "name")?, detail: event.any("detail") }),
            _ => Some(Happening::FinalOutput { content: self.text(&event, "content") }),
        };
        let timestamp = self.date(&event, "timestamp").map(|(text, _)| text);
        let metadata = self.open(&event, "metadata");
        Some(Event { timestamp, metadata, what: what? })
    }

    fn message(&mut self, event: &Members<'_, '_>) -> Option<Happening> {
        const ROLES: [&str; 4] = ["system", "user", "assistant", "tool"];
        let role = self.required(event, "role")?;
        if !ROLES.contains(&role.as_str()) {
            let names = jurat_format::problem::listed(ROLES);
            self.must_be(event.place("role"), &names, &Val::from(role.as_str()));
        }
        Some(Happening::Message { role, content: event.any("content"), name: self.text(event, "name") })
    }

    fn tool_call(&mut self, event: &Members<'_, '_>) -> Option<Happening> {
        let parsed_arguments = self.open(event, "parsed_arguments");
        Some(Happening::ToolCall {
            call_id: self.text(event, "call_id"),
            raw_arguments: event.any("raw_arguments"),
            parsed_arguments,
            tool_name: self.required(event, "tool_name")?,
        })
    }

    fn tool_result(&mut self, event: &Members<'_, '_>) -> Option<Happening> {
        let is_error = match event.get("status") {
            None => None,
            Some(Val::Str(status)) if status == "success" => Some(false),
            Some(Val::Str(status)) if status == "error" => Some(true),
            Some(other) => {
                self.must_be(event.place("status"), "`success`, `error` or null", other);
                None
            }
        };
        Some(Happening::ToolResult { call_id: self.text(event, "call_id"), is_error, output: event.any("output") })
    }

    fn output_artifacts(&mut self, members: &Members<'_, '_>, key: &str) -> Vec<OutputArtifact> {
        let items = self.items(members, key);
        let at = members.place(key);
        items.iter().enumerate().filter_map(|(ix, item)| self.output_artifact(&format!("{at}[{ix}]"), item)).collect()
    }

    fn output_artifact(&mut self, at: &str, item: &Val<'_>) -> Option<OutputArtifact> {
        let known = ["artifact_id", "artifact_type", "uri", "media_type", "byte_size", "sha256", "metadata"];
        let block = self.members(at, item, &known)?;
        let [id, kind] = ["artifact_id", "artifact_type"].map(|it| self.id(&block, it, is_identifier));
        let uri = self.required(&block, "uri");
        Some(OutputArtifact {
            media_type: self.text(&block, "media_type"),
            byte_size: self.count(&block, "byte_size"),
            sha256: self.text(&block, "sha256"),
            metadata: self.open(&block, "metadata"),
            artifact_id: id?,
            artifact_type: kind?,
            uri: uri?,
        })
    }

    fn error(&mut self, whole: &Members<'_, '_>) -> Option<RunFault> {
        let known = ["code", "message", "error_type", "retryable", "provider_code", "metadata"];
        let block = self.block(whole, "error", &known)?;
        let (code, message) = (self.required(&block, "code"), self.required(&block, "message"));
        Some(RunFault {
            error_type: self.text(&block, "error_type"),
            retryable: self.boolean(&block, "retryable"),
            provider_code: self.text(&block, "provider_code"),
            metadata: self.open(&block, "metadata"),
            code: code?,
            message: message?,
        })
    }

    /// The evidence block of a run of `openclaw`: wherever it refers to a file, it must do so as `output_artifacts` does.
    fn openclaw(&mut self, whole: &Members<'_, '_>) {
        let Some(metadata) = whole.get("runner_metadata").filter(|it| it.as_map().is_some()) else { return };
        let Some(block) = metadata.get("openclaw").filter(|it| !matches!(it, Val::Null)) else { return };
        let Val::Map(map) = block else {
            self.must_be("runner_metadata.openclaw", "an object", block);
            return;
        };
        for (key, value) in map.iter().filter(|(key, _)| *key != "metadata") {
            let at = format!("runner_metadata.openclaw.{key}");
            match value {
                Val::Map(_) => {
                    self.output_artifact(&at, value);
                }
                Val::List(items) => {
                    for (ix, item) in items.iter().enumerate() {
                        self.output_artifact(&format!("{at}[{ix}]"), item);
                    }
                }
                _ => {}
            }
        }
    }
}

/// Whether a text is a name as artifacts have them: a lower-case letter or a digit, then also `_` and `-`.
pub(crate) fn is_identifier(text: &str) -> bool {
    let is_first = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit();
    let mut bytes = text.bytes();
    bytes.next().is_some_and(is_first) && bytes.all(|it| is_first(it) || matches!(it, b'_' | b'-'))
}

/// Runs may be called by more: letters of both cases, `.` and `:` too.
fn is_run_id(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|it| it.is_ascii_alphanumeric())
        && bytes.all(|it| it.is_ascii_alphanumeric() || matches!(it, b'.' | b'_' | b':' | b'-'))
}
