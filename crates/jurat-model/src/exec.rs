//! `exec/CMD`: a model that is a program.
//!
//! The program runs as long as it is needed and talks in lines of JSON. A request on its standard input:
//!
//! ```json
//! {"id": 1, "messages": [{"role": "user", "content": "Is it polite?"}], "output_schema": {"type": "object"}, "settings": {"temperature": 0}}
//! ```
//!
//! A reply on its standard output, in whatever order: `{"id": 1, "text": "yes"}`, `{"id": 1, "json": {"label": "polite"}}`,
//! `{"id": 1, "tool_calls": [{"name": "search", "arguments": {"q": "x"}}]}`, each with `usage` and `logprobs` if it likes, or `{"id": 1, "error": "what went
//! wrong"}`. What it writes to standard error is passed on. A program that ends is started again for the next request.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use jurat_core::effect::{
    Endpoint, FaultKind, Finish, Logprobs, Media, Message, ModelRequest, Part, ToolCall, ToolChoice, Usage,
};
use jurat_format::value::{Val, parse_json, shown_within};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::io::{AsyncWriteExt as _, BufReader};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;

use crate::child::{Launched, Started, Supervisor, read_line};
use crate::codec::Reply;
use crate::codec::body::{self, Json, Object};
use crate::codec::media;
use crate::provider::Local;
use crate::transport::Failed;

pub(crate) static PROVIDER: Local =
    Local { name: "exec", doc: "a program: [below](#programs)", example: "./model.sh", revision: 1, is_address: true };

/// A program that answers.
#[derive(Debug)]
pub(crate) struct Exec {
    command: Vec<String>,
    folder: PathBuf,
    running: Mutex<Option<Running>>,
}

/// A command that cannot be started.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`exec/{command}` is no command: {problem}")]
pub struct ExecError {
    pub command: String,
    /// What is wrong with it.
    pub problem: &'static str,
    /// Whether its program is not there.
    pub is_missing: bool,
}

/// A program that was started. It ends when this is dropped.
#[derive(Debug)]
struct Running {
    requests: mpsc::UnboundedSender<Vec<u8>>,
    pending: Arc<Pending>,
    n_asked: u64,
    reader: AbortHandle,
}

impl Drop for Running {
    fn drop(&mut self) {
        // The reader holds the program, which ends when that is dropped.
        self.reader.abort();
    }
}

/// The requests that wait, by the id of their reply.
#[derive(Debug, Default)]
struct Pending(Mutex<PendingState>);

#[derive(Debug, Default)]
struct PendingState {
    waiting: HashMap<u64, oneshot::Sender<Result<Reply, Failed>>>,
    /// Why no reply will come any more.
    ended: Option<(FaultKind, String)>,
}

impl Exec {
    pub(crate) fn new(command: &str, folder: &Path) -> Result<Exec, ExecError> {
        let refused = |problem, is_missing| ExecError { command: command.to_owned(), problem, is_missing };
        let words = split(command).map_err(|problem| refused(problem, false))?;
        if !words.first().is_some_and(|it| is_program(it, folder)) {
            return Err(refused("there is no such program", true));
        }
        Ok(Exec { command: words, folder: folder.to_owned(), running: Mutex::default() })
    }

    /// Asks the program once. The body lacks its id, which is given here.
    pub(crate) async fn attempt(&self, body: Bytes, supervisor: Option<&Supervisor>) -> Result<Reply, Failed> {
        let reply = self.send(&body, supervisor)?;
        reply.await.unwrap_or_else(|_| Err(Failed::new(FaultKind::Cut, "the program was stopped before it answered")))
    }

    fn send(
        &self,
        body: &[u8],
        supervisor: Option<&Supervisor>,
    ) -> Result<oneshot::Receiver<Result<Reply, Failed>>, Failed> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if running.as_ref().is_none_or(|it| it.pending.has_ended()) {
            *running = Some(self.start(supervisor)?);
        }
        let program = running.as_mut().expect("it was started");
        program.n_asked += 1;
        let reply = program.pending.wait_for(program.n_asked);
        let line = [format!("{{\"id\":{}", program.n_asked).as_bytes(), body, b"\n"].concat();
        // When its output is closed the program has ended, and the reply says why.
        program.requests.send(line).unwrap_or_default();
        Ok(reply)
    }

    fn start(&self, supervisor: Option<&Supervisor>) -> Result<Running, Failed> {
        let program = &self.command[0];
        // A path is relative to the folder, as the arguments are; a bare name is looked for as usual. Made absolute, because systems
        // differ about what a relative one means to a program that starts in another folder.
        let path = match std::path::absolute(self.folder.join(program)) {
            Ok(path) if program.contains('/') => path,
            _ => PathBuf::from(program),
        };
        let search = std::env::var_os("PATH");
        let launched =
            Launched { program: &path, arguments: &self.command[1..], folder: &self.folder, search: search.as_deref() };
        let spawned =
            launched.command(supervisor).and_then(|mut it| it.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn());
        let mut child = spawned.map_err(|error| Failed {
            is_final: true,
            ..Failed::new(FaultKind::Connect, format!("`{program}` cannot be started: {error}"))
        })?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(Failed::new(FaultKind::Connect, format!("`{program}` has no standard input or output")));
        };
        let pending = Arc::new(Pending::default());
        let (requests, lines) = mpsc::unbounded_channel();
        tokio::spawn(write(input, lines));
        let started = Started::new(child, supervisor);
        let reader = tokio::spawn(read(program.clone(), started, output, Arc::clone(&pending))).abort_handle();
        Ok(Running { requests, pending, n_asked: 0, reader })
    }
}

/// Whether there is such a program: a path is relative to the folder, a name is looked for along the search path.
fn is_program(program: &str, folder: &Path) -> bool {
    if program.contains('/') {
        return folder.join(program).is_file();
    }
    let search = std::env::var_os("PATH").unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
    std::env::split_paths(&search).any(|it| it.join(program).is_file())
}

/// Writes requests one after the other. That is done here because a caller may be dropped in the middle of a line.
async fn write(mut input: ChildStdin, mut lines: mpsc::UnboundedReceiver<Vec<u8>>) {
    while let Some(line) = lines.recv().await {
        if input.write_all(&line).await.is_err() || input.flush().await.is_err() {
            return;
        }
    }
}

/// Hands replies to the requests that wait for them, until the program ends.
async fn read(program: String, mut started: Started, output: ChildStdout, pending: Arc<Pending>) {
    let pending = EndsWhenDropped(pending);
    let pending = &pending.0;
    let mut output = BufReader::new(output);
    let mut line = Vec::new();
    loop {
        let is_open = match read_line(&mut output, &mut line).await {
            Ok(is_open) => is_open,
            Err(why) => return pending.end(FaultKind::Garbled, &format!("`{program}` {why}")),
        };
        let read = std::mem::take(&mut line);
        if !read.trim_ascii().is_empty()
            && let Err(why) = pending.take(&program, &read)
        {
            return pending.end(FaultKind::Garbled, &format!("`{program}` {why}"));
        }
        if !is_open {
            // It closed its output, so no reply can come, even if it lives on.
            let status = started.ended().await.map_or_else(String::new, |it| format!(" ({it})"));
            return pending.end(FaultKind::Cut, &format!("`{program}` ended before it answered{status}"));
        }
    }
}

/// The future that reads may be dropped at any point, and the requests that wait must not wait for ever then.
struct EndsWhenDropped(Arc<Pending>);

impl Drop for EndsWhenDropped {
    fn drop(&mut self) {
        self.0.end(FaultKind::Cut, "the program was stopped before it answered");
    }
}

impl Pending {
    fn wait_for(&self, id: u64) -> oneshot::Receiver<Result<Reply, Failed>> {
        let (sender, receiver) = oneshot::channel();
        let mut state = self.lock();
        match &state.ended {
            // A request whose receiver is gone needs no reply, here and below.
            Some((kind, why)) => drop(sender.send(Err(Failed::new(*kind, why.clone())))),
            None => drop(state.waiting.insert(id, sender)),
        }
        receiver
    }

    /// Takes in a line, or says why it is no reply.
    fn take(&self, program: &str, line: &[u8]) -> Result<(), String> {
        let reply: ReplyWire<'_> = serde_json::from_slice(line).map_err(|error| {
            let shown = shown_within(&Val::from(String::from_utf8_lossy(line.trim_ascii_end()).into_owned()), 200);
            format!("wrote a line that is no reply ({error}): {shown}; notes belong on standard error")
        })?;
        self.answer(reply.id, reply.read(program));
        Ok(())
    }

    /// A reply to a request that was given up came too late.
    fn answer(&self, id: u64, reply: Result<Reply, Failed>) {
        if let Some(sender) = self.lock().waiting.remove(&id) {
            drop(sender.send(reply));
        }
    }

    fn end(&self, kind: FaultKind, why: &str) {
        let mut state = self.lock();
        state.ended.get_or_insert_with(|| (kind, why.to_owned()));
        for (_, sender) in state.waiting.drain() {
            drop(sender.send(Err(Failed::new(kind, why))));
        }
    }

    fn has_ended(&self) -> bool {
        self.lock().ended.is_some()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, PendingState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request as a line without its beginning, which is the id.
pub(crate) fn encode(endpoint: &Endpoint, request: &ModelRequest) -> Vec<u8> {
    let written = body::write(None, |body| {
        body.list("messages", &request.messages, write_message);
        body.optional("output_schema", request.output.as_deref().map(Json));
        if !request.tools.is_empty() {
            body.list("tools", &request.tools, |body, tool| {
                body.member("name", &tool.name);
                body.optional("description", tool.description.as_deref());
                body.member("parameters", &Json(&tool.parameters));
            });
        }
        match &request.tool_choice {
            ToolChoice::Auto => {}
            ToolChoice::None => body.member("tool_choice", "none"),
            ToolChoice::Required => body.member("tool_choice", "required"),
            ToolChoice::Named(name) => body.object("tool_choice", |choice| choice.member("name", name)),
        }
        body.optional("logprobs", request.logprobs);
        let settings = endpoint.settings.iter().map(|(name, value)| (name.as_str(), Json(value)));
        body.member("settings", &settings.collect::<std::collections::BTreeMap<_, _>>());
    });
    let mut body = written.expect("nothing of the author's stands beside it");
    body[0] = b',';
    body
}

fn write_message(body: &mut Object<'_, '_>, message: &Message) {
    body.member("role", message.role());
    body.member("content", message.text());
    match message {
        Message::Assistant { tool_calls, .. } if !tool_calls.is_empty() => {
            body.list("tool_calls", tool_calls, |body, call| {
                body.member("id", &call.id);
                body.member("name", &call.name);
                body.member("arguments", &Json(&call.arguments));
            });
        }
        Message::Parts(parts) => body.list("parts", parts.iter(), write_part),
        Message::Tool { call_id, name, media, is_error, .. } => {
            body.member("call_id", call_id);
            body.member("name", name);
            body.member("is_error", is_error);
            if !media.is_empty() {
                body.list("media", media, write_media);
            }
        }
        _ => {}
    }
}

fn write_part(body: &mut Object<'_, '_>, part: &Part) {
    match part {
        Part::Text(text) => body.member("text", text),
        Part::Media(it) => write_media(body, it),
    }
}

/// Bytes as base64 with their type.
fn write_media(body: &mut Object<'_, '_>, it: &Media) {
    body.member("kind", it.kind.name());
    body.member("media_type", &it.media_type);
    body.optional("name", it.name.as_deref());
    body.member("data", &media::base64(it));
}

#[derive(Deserialize)]
struct ReplyWire<'d> {
    id: u64,
    text: Option<String>,
    #[serde(borrow)]
    json: Option<&'d RawValue>,
    #[serde(borrow, default)]
    tool_calls: Vec<CallIn<'d>>,
    #[serde(borrow)]
    logprobs: Option<&'d RawValue>,
    usage: Option<UsageWire>,
    error: Option<String>,
}

#[derive(Deserialize)]
struct CallIn<'d> {
    id: Option<String>,
    name: String,
    #[serde(borrow)]
    arguments: &'d RawValue,
}

#[derive(Deserialize)]
struct UsageWire {
    #[serde(default)]
    input: u64,
    #[serde(default)]
    output: u64,
    #[serde(default)]
    cached: u64,
    #[serde(default)]
    reasoning: u64,
    #[serde(default)]
    cache_write: u64,
}

impl ReplyWire<'_> {
    fn read(self, program: &str) -> Result<Reply, Failed> {
        if let Some(error) = self.error {
            return Err(Failed::new(FaultKind::NoAnswer, format!("`{program}` replied with the error `{error}`")));
        }
        let text = match (self.text, self.json) {
            (Some(text), None) => text,
            (None, Some(json)) => json.get().to_owned(),
            (None, None) if !self.tool_calls.is_empty() => String::new(),
            _ => {
                let message = "a reply has one of `text`, `json`, `tool_calls` and `error`";
                return Err(Failed::new(FaultKind::Garbled, message));
            }
        };
        let mut tool_calls = Vec::new();
        for (ix, call) in self.tool_calls.into_iter().enumerate() {
            let arguments =
                parse_json(call.arguments.get()).map_err(|it| Failed::new(FaultKind::Garbled, it.to_string()))?;
            let id = call.id.unwrap_or_else(|| format!("#{ix}"));
            tool_calls.push(ToolCall { id, name: call.name, arguments: arguments.value.into_owned() });
        }
        let finish = if tool_calls.is_empty() { Finish::Stop } else { Finish::ToolCalls };
        let usage = self.usage.map(|it| Usage {
            input: it.input,
            output: it.output,
            cached: it.cached,
            reasoning: it.reasoning,
            cache_write: it.cache_write,
        });
        let logprobs = self.logprobs.map(|it| logprobs(it).ok_or_else(|| Failed::new(FaultKind::Garbled, LOGPROBS)));
        Ok(Reply { text, tool_calls, logprobs: logprobs.transpose()?, finish, usage, ..Reply::default() })
    }
}

const LOGPROBS: &str = "`logprobs` of a reply is a list of objects with `token`, `logprob` and `top`";

fn logprobs(json: &RawValue) -> Option<Box<Logprobs>> {
    Logprobs::from_value(&parse_json(json.get()).ok()?.value).map(Box::new)
}

/// Words as a shell would split them: quotes preserve spaces, a backslash the next letter. Nothing is expanded.
pub(crate) fn split(command: &str) -> Result<Vec<String>, &'static str> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut letters = command.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\'' | '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match letters.next() {
                        None => return Err("a quote is never closed"),
                        Some(it) if it == letter => break,
                        Some('\\') if letter == '"' => match letters.next() {
                            Some(it @ ('"' | '\\' | '$' | '`')) => word.push(it),
                            Some(it) => word.extend(['\\', it]),
                            None => return Err("a quote is never closed"),
                        },
                        Some(it) => word.push(it),
                    }
                }
            }
            '\\' => word.get_or_insert_default().push(letters.next().ok_or("it ends with a backslash")?),
            it if it.is_whitespace() => words.extend(word.take()),
            it => word.get_or_insert_default().push(it),
        }
    }
    words.extend(word);
    if words.first().is_none_or(String::is_empty) { Err("it is empty") } else { Ok(words) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_split_as_a_shell_does() {
        for (command, words) in [
            ("python3 judge.py --x", "python3|judge.py|--x"),
            ("  a\t 'b c'  \"d \\\" \\$e \\f\" ", "a|b c|d \" $e \\f"),
            ("a b\\ c d''e \"\"", "a|b c|de|"),
            ("'./my judge' -v", "./my judge|-v"),
        ] {
            assert_eq!(split(command).unwrap().join("|"), words);
        }
        for (command, problem) in [
            ("a 'b", "a quote is never closed"),
            ("a \"b", "a quote is never closed"),
            ("a \\", "it ends with a backslash"),
            ("  ", "it is empty"),
            ("''", "it is empty"),
        ] {
            assert_eq!(split(command), Err(problem));
        }
    }
}
