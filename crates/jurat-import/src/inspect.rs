//! Logs of Inspect, `.eval` archives and JSON: each sample becomes the run of an agent, with its target and its recorded scores.

mod scorers;

use std::io::Read as _;

use jurat_core::artifact::{
    Identity, Provider, RunArtifact, RunFault, RunRequest, RunStatus, RunUsage, Timing, Tokens,
};
use jurat_format::value::{Val, Value, parse_json};

use crate::document::{Object, beginning, count_at, members, members_at, plain, text, text_at, texts};
use crate::identifier;
use crate::input::{Content, Input};
use crate::kind::{Import, ImportError, Kind, counted};
use crate::report::{NOT_KNOWN, Unused};
use crate::source::Source;
use crate::trace::{Conversation, from_value, media};
use crate::zip::Archive;

use scorers::{Scorer, offered};

pub(crate) static KIND: Kind = Kind {
    name: "inspect",
    help: "a log of Inspect",
    recognises: |input| match &input.content {
        Content::Zip(source) => is_log(source.as_ref()),
        Content::Json(value, _) => {
            value.get("eval").is_some() && value.get("version").is_some() && value.get("samples").is_some()
        }
        _ => false,
    },
    read,
};

fn is_log(source: &dyn Source) -> bool {
    // Of an archive that is cut off only the beginning can say what it is.
    const FIRST: [&[u8]; 3] = [b"_journal/", b"header.json", b"samples/"];
    match Archive::open(source, MAX_UNPACKED) {
        Ok(archive) => archive.names().any(|it| it == "header.json" || it == "_journal/start.json"),
        Err(_) => {
            let mut head = Vec::new();
            let read = source.open().and_then(|it| it.take(64).read_to_end(&mut head));
            read.is_ok() && head.get(30..).is_some_and(|name| FIRST.iter().any(|it| name.starts_with(it)))
        }
    }
}

/// The most bytes that the samples of a log have together. They are unpacked one by one.
const MAX_UNPACKED: u64 = 64 << 30;

/// The samples of a log, with the place of each.
type Samples<'i> = Box<dyn Iterator<Item = Result<(String, Value), ImportError>> + 'i>;

fn read(import: &mut Import<'_>) -> Result<(), ImportError> {
    let mut suite = Suite::default();
    for input in import.inputs {
        let unreadable = |why: String| ImportError::unreadable(&input.name, why);
        let (header, samples) = log(input, import)?;
        match header.get("version") {
            Some(Val::I(2)) => {}
            Some(other) => return Err(unreadable(format!("it is of version {other}; version 2 is read"))),
            None => return Err(unreadable("it has no `version`".to_owned())),
        }
        if matches!(header.get("invalidated"), Some(Val::Bool(true))) {
            return Err(unreadable("the log is marked as invalidated".to_owned()));
        }
        note_state(import, &input.name, &header);
        suite.add(import, &input.name, &header, samples)?;
    }
    suite.write(import);
    Ok(())
}

/// Says where an evaluation did not end as it should have.
fn note_state(import: &mut Import<'_>, name: &str, header: &Value) {
    let status = text_at(header, "status").filter(|it| *it != "success");
    let error = header.get("error").and_then(|it| text_at(it, "message"));
    let why = match (status, error) {
        (None, None) => return,
        (status, None) => format!("its status is `{}`", status.unwrap_or_default()),
        (status, Some(error)) => format!("its status is `{}`: {}", status.unwrap_or("error"), beginning(error)),
    };
    import.report.approximate(name, "the log", "runs", format!("{why}; samples may be missing"));
}

/// Members of a sample that are read, or say what others say as well.
const SAMPLE: [&str; 24] = [
    "id",
    "epoch",
    "input",
    "choices",
    "target",
    "messages",
    "output",
    "scores",
    "metadata",
    "store",
    "turn_count",
    "model_usage",
    "role_usage",
    "started_at",
    "completed_at",
    "total_time",
    "working_time",
    "error",
    "limit",
    "attachments",
    "uuid",
    "events",
    "events_data",
    "summary",
];

/// Kinds of events that say what messages do not.
const EVENTS: [&str; 7] = ["sandbox", "subtask", "approval", "input", "info", "logger", "compaction"];

fn note_unused(unused: &mut Unused, at: &str, sample: &Value) {
    unused.note_others(at, sample, &SAMPLE);
    let events = sample.get("events").and_then(Val::as_list).unwrap_or_default();
    for kind in EVENTS {
        if events.iter().any(|it| text_at(it, "event") == Some(kind)) {
            unused.note(at, &format!("events: {kind}"));
        }
    }
}

/// What was run, and its samples.
fn log<'i>(input: &'i Input, import: &mut Import<'_>) -> Result<(Value, Samples<'i>), ImportError> {
    let unreadable = |why: String| ImportError::unreadable(&input.name, why);
    match &input.content {
        Content::Zip(source) => {
            let mut archive = Archive::open(source.as_ref(), MAX_UNPACKED).map_err(unreadable)?;
            let header = header(&input.name, &mut archive, import).map_err(unreadable)?;
            let mut names: Vec<String> =
                archive.names().filter(|it| it.starts_with("samples/")).map(str::to_owned).collect();
            names.sort();
            let samples = names.into_iter().map(move |member| {
                let sample = json(&mut archive, &member).and_then(|it| it.ok_or("a sample is missing".to_owned()));
                let sample = sample.map_err(|why| ImportError::unreadable(&input.name, why))?;
                Ok((format!("{}: {member}", input.name), sample))
            });
            Ok((header, Box::new(samples)))
        }
        Content::Json(value, _) => {
            let samples = input.elements(&[&["samples"]]).filter_map(|it| match it {
                Ok(it) => it.ix.map(|ix| Ok((format!("{}: samples[{ix}]", input.name), it.value))),
                Err(error) => Some(Err(error)),
            });
            Ok((value.clone(), Box::new(samples)))
        }
        _ => Err(unreadable("it is neither an archive nor JSON".to_owned())),
    }
}

/// What an archive says was run.
fn header(name: &str, archive: &mut Archive<'_>, import: &mut Import<'_>) -> Result<Value, String> {
    Ok(match json(archive, "header.json")? {
        Some(header) => header,
        None => {
            let start = json(archive, "_journal/start.json")?.ok_or("it has neither `header.json` nor a journal")?;
            import.report.approximate(
                name,
                "the log",
                "runs",
                "the evaluation was interrupted: its journal is read, and samples may be missing",
            );
            start
        }
    })
}

fn json(archive: &mut Archive<'_>, name: &str) -> Result<Option<Value>, String> {
    let Some(bytes) = archive.read(name)? else { return Ok(None) };
    let text = String::from_utf8(bytes).map_err(|_| format!("`{name}` is not text in UTF-8"))?;
    let record = parse_json(&text)
        .map_err(|error| format!("`{name}`: line {}, column {}: {}", error.line, error.column, error.message))?;
    Ok(Some(record.value.into_owned()))
}

#[derive(Default)]
struct Suite {
    name: Option<String>,
    /// Names and options of scorers.
    scorers: Vec<(String, Value)>,
    ids: std::collections::HashSet<String>,
    /// Whether a sample was run more than once.
    has_epochs: bool,
    unused: Unused,
}

impl Suite {
    fn add(
        &mut self,
        import: &mut Import<'_>,
        name: &str,
        header: &Value,
        samples: Samples<'_>,
    ) -> Result<(), ImportError> {
        let eval = header.get("eval").cloned().unwrap_or(Val::Null);
        self.name.get_or_insert_with(|| text_at(&eval, "task").unwrap_or("inspect").to_owned());
        for sample in samples {
            let (at, sample) = sample?;
            let what = format!("sample `{}`", sample.get("id").map(plain).unwrap_or_default());
            match artifact(&eval, &sample) {
                Ok((artifact, _)) if !self.ids.insert(artifact.identity.run_id.clone()) => {
                    import.report.dropped(
                        &at,
                        what,
                        "a sample with its id and epoch was imported already; import logs one at a time",
                    );
                }
                Ok((artifact, n_media)) => {
                    let into = format!("run `{}`", artifact.identity.run_id);
                    match n_media {
                        0 => import.report.exact(&at, what, into),
                        n => import.report.approximate(&at, what, into, format!("{} are not in it", media(n))),
                    }
                    note_unused(&mut self.unused, &at, &sample);
                    self.has_epochs |= count_at(&sample, "epoch").is_some_and(|it| it > 1);
                    import.row(&artifact.to_value())?;
                }
                Err(why) => import.report.dropped(&at, what, why),
            }
        }
        let scorers = eval.get("scorers").and_then(Val::as_list).unwrap_or_default();
        for scorer in scorers {
            let options = scorer.get("options").cloned().unwrap_or(Val::Null);
            let Some(scorer) = text_at(scorer, "name").map(|it| (it.to_owned(), options)) else { continue };
            if !self.scorers.contains(&scorer) {
                note_scorer(import, name, &scorer);
                self.scorers.push(scorer);
            }
        }
        Ok(())
    }

    /// A suite that judges the runs: known scorers anew, and that each ended well.
    fn write(self, import: &mut Import<'_>) {
        let name = import.options.name.clone().or(self.name).unwrap_or_else(|| "inspect".to_owned());
        let mut tasks = vec![Value::from(
            Object::new()
                .with("id", text("ended_well"))
                .with("check", Object::new().with("kind", text("status_is")).with("expected", text("success"))),
        )];
        let mut evaluators = Object::new();
        let mut names = identifier::Names::default();
        for scorer in self.scorers.iter().filter_map(|(scorer, options)| offered(scorer, options).ok()) {
            let name = names.unique(scorer.name);
            if let Some(code) = scorer.code() {
                let file = format!("evaluators/{name}.py");
                evaluators.put(&name, Object::new().with("source", Object::new().with("file", text(&file))));
                import.file(file, code.to_owned());
            }
            let whole = Object::new().with("id", text(&name));
            let task = scorer.task(&name).members().fold(whole, |it, (key, value)| it.with(key, value.clone()));
            tasks.push(task.into());
        }
        let mut suite = Object::new().with("suite", text(identifier::identity(&name, "inspect")));
        suite.put("records", Object::new().with("path", text("runs.jsonl")).with("as", text("runs")));
        if self.has_epochs {
            // The epochs of a sample are no samples of their own: they say the same thing again.
            suite.put("cluster_by", text("runner_metadata.sample"));
        }
        self.unused.report(&mut import.report, "sample", NOT_KNOWN);
        if !evaluators.is_empty() {
            suite.put("evaluators", evaluators);
        }
        import.summary.push(counted(import.n_rows(), "run"));
        import.summary.push(counted(tasks.len(), "task"));
        import.suite(suite.with("tasks", Val::List(tasks)));
        import.rows_file("runs.jsonl");
    }
}

fn note_scorer(import: &mut Import<'_>, name: &str, (scorer, options): &(String, Value)) {
    let what = format!("scorer `{scorer}`");
    match offered(scorer, options) {
        Err(why) => {
            import.report.dropped(name, what, format!("{why}; its recorded value is `runner_metadata.scores`"));
        }
        Ok(Scorer { name: task, difference: None, .. }) => import.report.exact(name, what, format!("task `{task}`")),
        Ok(Scorer { name: task, difference: Some(why), .. }) => {
            import.report.approximate(name, what, format!("task `{task}`"), why);
        }
    }
}

/// The run that a sample is, and how many parts of its messages are not in it.
fn artifact(eval: &Value, sample: &Value) -> Result<(RunArtifact, usize), String> {
    let id = sample.get("id").map(plain).ok_or("it has no `id`")?;
    let epoch = count_at(sample, "epoch").unwrap_or(1);
    let sample = resolved(sample);
    let conversation = conversation(&sample);
    let output = sample.get("output").cloned().unwrap_or(Val::Null);
    let completion = text_at(&output, "completion").filter(|it| !it.trim().is_empty()).map(str::to_owned);
    let completion = completion.or_else(|| conversation.last_text.clone());
    let (status, error) = status(&sample, completion.is_some());
    let response = completion.filter(|_| status == RunStatus::Success);
    let choice = output.get("choices").and_then(Val::as_list).and_then(<[Value]>::first);
    let n_media = conversation.n_media;
    let artifact = RunArtifact {
        identity: Identity {
            run_id: identifier::run_id(&format!("{id}.{epoch}")),
            case_id: identifier::identity(&id, "sample"),
            suite_id: identifier::identity(text_at(eval, "task").unwrap_or("inspect"), "inspect"),
            run_profile_id: "inspect".to_owned(),
            runner_type: "inspect".to_owned(),
        },
        status,
        timing: timing(&sample),
        request: request(eval),
        provider: Provider {
            provider_model_id: text_at(&output, "model").map(str::to_owned),
            finish_reason: choice.and_then(|it| text_at(it, "stop_reason")).map(str::to_owned),
            ..Provider::default()
        },
        usage: usage(&sample),
        trace: conversation.finish(response),
        output_artifacts: Vec::new(),
        error,
        runner_metadata: metadata(&sample, epoch),
    };
    Ok((artifact, n_media))
}

/// A sample with the texts that `attachment://` refers to.
fn resolved(sample: &Value) -> Value {
    let attachments = sample.get("attachments").cloned().unwrap_or(Val::Null);
    let whole = members(sample);
    // Events are not used, and may be most of a log.
    let used = whole.filter(|(key, _)| !matches!(*key, "attachments" | "events" | "events_data"));
    Val::Map(used.map(|(key, it)| (key.to_owned(), with_attachments(it, &attachments))).collect())
}

fn with_attachments(value: &Value, attachments: &Value) -> Value {
    match value {
        Val::Str(it) if it.contains("attachment://") => {
            let mut parts = it.split("attachment://");
            let mut whole = parts.next().unwrap_or_default().to_owned();
            for part in parts {
                let end = part.find(|it: char| !it.is_ascii_alphanumeric()).unwrap_or(part.len());
                let (hash, rest) = part.split_at(end);
                match text_at(attachments, hash) {
                    Some(content) => whole += content,
                    None => whole += &format!("attachment://{hash}"),
                }
                whole += rest;
            }
            text(whole)
        }
        Val::List(items) => items.iter().map(|it| with_attachments(it, attachments)).collect(),
        Val::Map(map) => {
            Val::Map(map.iter().map(|(key, it)| (key.to_owned(), with_attachments(it, attachments))).collect())
        }
        other => other.clone(),
    }
}

fn conversation(sample: &Value) -> Conversation {
    let mut conversation = Conversation::default();
    for message in sample.get("messages").and_then(Val::as_list).unwrap_or_default() {
        let read = from_value(message, "user");
        match read.role.as_str() {
            "tool" => {
                let error = message.get("error").filter(|it| !matches!(it, Val::Null));
                let failed = error.and_then(|it| text_at(it, "message")).map(text);
                let output = failed.unwrap_or_else(|| text(&read.text));
                let name = text_at(message, "function").or(read.name.as_deref());
                conversation.result(read.call_id.as_deref(), name, output, Some(error.is_some()), None);
            }
            "assistant" => conversation.answer(vec![read]),
            _ => conversation.add(read),
        }
    }
    conversation
}

fn status(sample: &Value, has_response: bool) -> (RunStatus, Option<RunFault>) {
    let there = |key: &str| sample.get(key).filter(|it| !matches!(it, Val::Null));
    let fault = |status: RunStatus, message: String| {
        let code = status.name().to_owned();
        let fault = RunFault { code, message, error_type: None, retryable: None, provider_code: None, metadata: None };
        (status, Some(fault))
    };
    if let Some(error) = there("error") {
        return fault(RunStatus::Failed, text_at(error, "message").unwrap_or("the sample failed").to_owned());
    }
    if let Some(limit) = there("limit") {
        let kind = text_at(limit, "type").unwrap_or("unknown");
        let status = if matches!(kind, "time" | "working") { RunStatus::TimedOut } else { RunStatus::Failed };
        return fault(status, format!("the limit `{kind}` was reached"));
    }
    match has_response {
        true => (RunStatus::Success, None),
        false => fault(RunStatus::Invalid, "the sample has no completion".to_owned()),
    }
}

fn timing(sample: &Value) -> Timing {
    let date = |key: &str| text_at(sample, key).filter(|it| it.parse::<jiff::Timestamp>().is_ok()).map(str::to_owned);
    let duration = sample.get("total_time").and_then(Val::as_f64).filter(|it| *it >= 0.0);
    Timing {
        queued_at: None,
        started_at: date("started_at"),
        completed_at: date("completed_at"),
        duration_seconds: duration,
    }
}

fn request(eval: &Value) -> RunRequest {
    let mut metadata = Object::new();
    for key in ["task", "task_args", "packages", "created", "eval_id"] {
        metadata.put_some(key, eval.get(key).filter(|it| !matches!(it, Val::Null)).cloned());
    }
    // Of the data set not the ids of all samples, which would stand in each run again.
    let dataset: Object = members_at(eval, "dataset")
        .filter(|(key, _)| *key != "sample_ids")
        .fold(Object::new(), |all, (key, it)| all.with(key, it.clone()));
    if !dataset.is_empty() {
        metadata.put("dataset", dataset);
    }
    RunRequest {
        requested_model: text_at(eval, "model").unwrap_or("unknown").to_owned(),
        gateway: None,
        execution_parameters: Object::new().into(),
        metadata: metadata.into(),
    }
}

fn usage(sample: &Value) -> RunUsage {
    let mut sums: [Option<u64>; 6] = [None; 6];
    const NAMES: [&str; 6] = [
        "input_tokens",
        "output_tokens",
        "total_tokens",
        "reasoning_tokens",
        "input_tokens_cache_read",
        "input_tokens_cache_write",
    ];
    for (_, usage) in members_at(sample, "model_usage") {
        for (sum, name) in sums.iter_mut().zip(NAMES) {
            if let Some(tokens) = count_at(usage, name) {
                *sum = Some(sum.unwrap_or(0).saturating_add(tokens));
            }
        }
    }
    let [input, output, total, reasoning, cached_input, cache_write] = sums;
    RunUsage {
        normalized: Tokens { input, output, total, reasoning, cached_input, cache_write },
        ..RunUsage::default()
    }
}

/// What is not part of an artifact: target, choices, scores, epoch, and what the task attached.
fn metadata(sample: &Value, epoch: u64) -> Value {
    let id = sample.get("id").map(plain).unwrap_or_default();
    let mut metadata = Object::new().with("sample", text(id)).with("epoch", epoch);
    let target = match sample.get("target") {
        Some(Val::List(items)) => Some(texts(items.iter().map(plain))),
        Some(other) => Some(text(plain(other))),
        None => None,
    };
    metadata.put_some("target", target);
    for key in ["input", "choices", "metadata", "store", "turn_count"] {
        let is_there = |it: &&Value| !matches!(it, Val::Null) && it.as_map().is_none_or(|it| !it.is_empty());
        metadata.put_some(key, sample.get(key).filter(is_there).cloned());
    }
    let mut scores = Object::new();
    for (name, score) in members_at(sample, "scores") {
        let mut read = Object::new();
        for key in ["value", "answer", "explanation", "metadata"] {
            read.put_some(key, score.get(key).filter(|it| !matches!(it, Val::Null)).cloned());
        }
        scores.put(name, read);
    }
    metadata.with("scores", scores).into()
}
