//! Batches, as OpenAI and Anthropic take them: requests that are made together and answered later.
//!
//! Time is counted in polls: a batch is in progress for as many looks at its status as the script says, or until it is released. What goes wrong with batches is a
//! [`BatchFault`]; what goes wrong with a request in one is said by the rules of the [`Script`](crate::Script), as for any other request.

use serde_json::{Value, json};

use crate::delivery::{Delivery, Then, cut, whole};
use crate::fault::Fault;
use crate::http::Message;
use crate::reply::Reply;
use crate::request::Request;
use crate::script::{Answer, Content};

/// How batches are processed.
#[derive(Debug, Clone, Default)]
pub struct BatchScript {
    polls: u64,
    is_held: bool,
    /// How often each happens.
    faults: Vec<(u64, BatchFault)>,
}

/// One way in which a batch fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BatchFault {
    /// The submission is refused with this status, and may be repeated at once.
    Refused(u16),
    /// The batch is made, and the connection is closed before the reply.
    LostReply,
    /// It fails its validation. Anthropic refuses such a submission.
    Invalid,
    /// It fails its validation when it has more than this number of requests, because the queue of the account is full. Only OpenAI has such a failure.
    TooMuch(usize),
    /// Every other request is not processed in time.
    Expired,
    /// Every other request is not processed, because the batch was cancelled.
    Cancelled,
    /// The results lack every other request.
    Missing,
    /// The results end in the middle of their last line.
    Truncated,
    /// The connection is closed in the middle of the results, the first time they are read.
    CutResults,
    /// The provider does not know the batch any more.
    Forgotten,
}

impl BatchScript {
    /// Every batch is done when it is looked at first.
    pub fn new() -> BatchScript {
        BatchScript::default()
    }

    /// A batch is in progress for this number of looks.
    #[must_use]
    pub fn polls(self, polls: u64) -> BatchScript {
        BatchScript { polls, ..self }
    }

    /// Batches are in progress until [`Endpoint::release_batches`](crate::Endpoint::release_batches) ends them.
    #[must_use]
    pub fn held(self) -> BatchScript {
        BatchScript { is_held: true, ..self }
    }

    /// The next batches, this number of them, fail like this.
    #[must_use]
    pub fn fault(mut self, times: u64, fault: BatchFault) -> BatchScript {
        self.faults.push((times, fault));
        self
    }
}

/// What became of a request in a batch.
pub(crate) struct Answered {
    pub(crate) status: u16,
    pub(crate) body: Value,
}

/// The files and batches that an endpoint has.
#[derive(Debug, Default)]
pub(crate) struct Store {
    files: Vec<Vec<u8>>,
    batches: Vec<Batch>,
    /// How often each fault of the script happened.
    happened: Vec<u64>,
    n_polls: u64,
    is_released: bool,
}

#[derive(Debug)]
struct Batch {
    id: String,
    metadata: Value,
    /// The name of each request, and its result as a line; `None` when it was not processed.
    results: Vec<(String, Option<(u16, Value)>)>,
    n_polls: u64,
    n_reads: u64,
    fault: Option<BatchFault>,
}

impl Store {
    pub(crate) fn release(&mut self) {
        self.is_released = true;
    }

    pub(crate) fn counts(&self) -> (u64, u64) {
        (self.batches.len() as u64, self.n_polls)
    }

    /// The fault that happens now, of those that are `wanted`.
    fn fault(&mut self, script: &BatchScript, wanted: impl Fn(BatchFault) -> bool) -> Option<BatchFault> {
        self.happened.resize(script.faults.len(), 0);
        let mut faults = script.faults.iter().zip(&mut self.happened);
        let (&(_, fault), happened) = faults.find(|((times, it), happened)| **happened < *times && wanted(*it))?;
        *happened += 1;
        Some(fault)
    }
}

/// Whether this is a path of a batch interface.
pub(crate) fn is_at(path: &str) -> bool {
    let path = path.strip_prefix("/v1").unwrap_or(path);
    ["/files", "/batches", "/messages/batches"].iter().any(|it| path.starts_with(it))
}

/// Answers requests about batches.
pub(crate) struct Batching<'b> {
    pub(crate) script: &'b BatchScript,
    /// Answers one request of a batch, by its body and path.
    pub(crate) each: &'b dyn Fn(Vec<u8>, &str) -> Answered,
}

impl Batching<'_> {
    pub(crate) fn answer(&self, store: &mut Store, method: &str, path: &str, message: &Message) -> Delivery {
        let path = path.strip_prefix("/v1").unwrap_or(path);
        let parts: Vec<&str> = path.split('/').skip(1).collect();
        match (method, parts.as_slice()) {
            ("POST", ["files"]) => self.upload(store, message),
            ("GET", ["files", id, "content"]) => self.openai_results(store, id),
            ("POST", ["batches"]) => self.create_openai(store, message),
            ("GET", ["batches"]) => json(&json!({ "data": store.batches.iter().rev().map(openai).collect::<Value>() })),
            ("GET", ["batches", id]) => self.status(store, id, openai),
            ("POST", ["messages", "batches"]) => self.create_anthropic(store, message),
            ("GET", ["messages", "batches"]) => {
                json(&json!({ "data": store.batches.iter().rev().map(anthropic).collect::<Value>() }))
            }
            ("GET", ["messages", "batches", id]) => self.status(store, id, anthropic),
            ("GET", ["messages", "batches", id, "results"]) => self.anthropic_results(store, id),
            _ => error(404, "there is no such path"),
        }
    }

    fn upload(&self, store: &mut Store, message: &Message) -> Delivery {
        if let Some(BatchFault::Refused(status)) = store.fault(self.script, |it| matches!(it, BatchFault::Refused(_))) {
            return refused(status);
        }
        let Some(content) = file_of(message) else { return error(400, "`file` and `purpose` are required") };
        store.files.push(content.to_vec());
        json(&json!({ "id": format!("file-{}", store.files.len()), "object": "file", "purpose": "batch" }))
    }

    fn create_openai(&self, store: &mut Store, message: &Message) -> Delivery {
        let Ok(asked) = serde_json::from_slice::<Value>(&message.body) else { return error(400, "this is no JSON") };
        let file = asked["input_file_id"].as_str().and_then(|it| it.strip_prefix("file-")?.parse::<usize>().ok());
        let Some(file) = file.and_then(|it| store.files.get(it - 1)) else {
            return error(400, "there is no such file");
        };
        if asked["completion_window"] != "24h" {
            return error(400, "completion_window must be 24h");
        }
        let endpoint = asked["endpoint"].as_str().unwrap_or_default().to_owned();
        let lines = file.split(|it| *it == b'\n').filter(|it| !it.is_empty());
        let lines: Vec<Value> = lines.filter_map(|it| serde_json::from_slice(it).ok()).collect();
        let models: std::collections::BTreeSet<String> =
            lines.iter().map(|it| it["body"]["model"].to_string()).collect();
        if models.len() != 1 || lines.iter().any(|it| it["url"] != endpoint.as_str() || it["method"] != "POST") {
            return error(400, "a batch has one model and one endpoint");
        }
        let items = lines.iter().map(|it| (name_of(it), it["body"].to_string().into_bytes()));
        self.make(store, ("batch_", &endpoint), items.collect(), asked["metadata"].clone(), openai)
    }

    fn create_anthropic(&self, store: &mut Store, message: &Message) -> Delivery {
        if let Some(BatchFault::Refused(status)) = store.fault(self.script, |it| matches!(it, BatchFault::Refused(_))) {
            return refused(status);
        }
        if store.fault(self.script, |it| it == BatchFault::Invalid).is_some() {
            return error(400, "requests.0: the request is not valid");
        }
        let Ok(asked) = serde_json::from_slice::<Value>(&message.body) else { return error(400, "this is no JSON") };
        let Some(requests) = asked["requests"].as_array() else { return error(400, "requests: Field required") };
        let items = requests.iter().map(|it| (name_of(it), it["params"].to_string().into_bytes()));
        self.make(store, ("msgbatch_", "/v1/messages"), items.collect(), Value::Null, anthropic)
    }

    fn make(
        &self,
        store: &mut Store,
        (prefix, url): (&str, &str),
        items: Vec<(String, Vec<u8>)>,
        metadata: Value,
        shown: fn(&Batch) -> Value,
    ) -> Delivery {
        let names: std::collections::BTreeSet<&String> = items.iter().map(|(name, _)| name).collect();
        if names.len() != items.len() || names.iter().any(|it| it.is_empty() || it.len() > 64) {
            return error(400, "each `custom_id` must be unique, and have 1 to 64 characters");
        }
        let n_requests = items.len();
        let fault = store.fault(self.script, |it| match it {
            BatchFault::Refused(_) => false,
            BatchFault::TooMuch(most) => n_requests > most,
            _ => true,
        });
        let is_processed = |ix: usize| match fault {
            Some(BatchFault::Invalid | BatchFault::TooMuch(_)) => false,
            Some(BatchFault::Expired | BatchFault::Cancelled | BatchFault::Missing) => ix.is_multiple_of(2),
            _ => true,
        };
        let result = |(ix, (name, body)): (usize, (String, Vec<u8>))| {
            let answered = is_processed(ix).then(|| (self.each)(body, url));
            (name, answered.map(|it| (it.status, it.body)))
        };
        let results = items.into_iter().enumerate().map(result).collect();
        let id = format!("{prefix}{}", store.batches.len() + 1);
        let batch = Batch { id, metadata, results, n_polls: 0, n_reads: 0, fault };
        let reply = json(&shown(&batch));
        store.batches.push(batch);
        if fault == Some(BatchFault::LostReply) { Delivery::nothing(Then::Close) } else { reply }
    }

    fn status(&self, store: &mut Store, id: &str, shown: fn(&Batch) -> Value) -> Delivery {
        store.n_polls += 1;
        let is_held = self.script.is_held && !store.is_released;
        let Some(batch) = store.batches.iter_mut().find(|it| it.id == id) else { return error(404, "no such batch") };
        if batch.fault == Some(BatchFault::Forgotten) {
            return error(404, "there is no such batch");
        }
        batch.n_polls += 1;
        if batch.n_polls <= self.script.polls || is_held {
            return json(&shown(batch));
        }
        batch.n_polls = u64::MAX - 1;
        json(&shown(batch))
    }

    /// The results of a batch are in two files, which are named after it.
    fn openai_results(&self, store: &mut Store, file: &str) -> Delivery {
        let Some((id, kind)) = file.rsplit_once('.') else { return error(404, "there is no such file") };
        let Some(batch) = store.batches.iter_mut().find(|it| it.id == id) else { return error(404, "no such file") };
        let is_good = |status: u16| status < 400;
        let lines = batch.results.iter().filter_map(|(name, result)| match result {
            Some((status, body)) if is_good(*status) == (kind == "output") => {
                let response = json!({ "status_code": status, "request_id": format!("req_{name:.8}"), "body": body });
                Some(json!({ "id": "line", "custom_id": name, "response": response, "error": null }))
            }
            None if kind == "error" => {
                let code = match batch.fault? {
                    BatchFault::Expired => "batch_expired",
                    BatchFault::Cancelled => "batch_cancelled",
                    _ => return None,
                };
                let error = json!({ "code": code, "message": "this failure is part of the test" });
                Some(json!({ "id": "line", "custom_id": name, "response": null, "error": error }))
            }
            _ => None,
        });
        let lines: Vec<Value> = lines.collect();
        results(batch, lines.iter().rev())
    }

    fn anthropic_results(&self, store: &mut Store, id: &str) -> Delivery {
        let Some(batch) = store.batches.iter_mut().find(|it| it.id == id) else { return error(404, "no such batch") };
        let lines = batch.results.iter().filter_map(|(name, result)| {
            let result = match (result, batch.fault) {
                (Some((status, body)), _) if *status < 400 => json!({ "type": "succeeded", "message": body }),
                (Some((_, body)), _) => json!({ "type": "errored", "error": body }),
                (None, Some(BatchFault::Expired)) => json!({ "type": "expired" }),
                (None, Some(BatchFault::Cancelled)) => json!({ "type": "canceled" }),
                (None, _) => return None,
            };
            Some(json!({ "custom_id": name, "result": result }))
        });
        let lines: Vec<Value> = lines.collect();
        results(batch, lines.iter().rev())
    }
}

/// Results, the last request first: their order says nothing.
fn results<'v>(batch: &mut Batch, lines: impl Iterator<Item = &'v Value>) -> Delivery {
    let mut text: String = lines.map(|it| format!("{it}\n")).collect();
    batch.n_reads += 1;
    if batch.fault == Some(BatchFault::Truncated) {
        text.truncate(text.len().saturating_sub(20));
    }
    let delivery = whole(200, "application/x-jsonl", &[], text.as_bytes());
    if batch.fault == Some(BatchFault::CutResults) && batch.n_reads == 1 { cut(delivery) } else { delivery }
}

fn is_done(batch: &Batch) -> bool {
    batch.n_polls >= u64::MAX - 1
}

fn openai(batch: &Batch) -> Value {
    let (total, done) = (batch.results.len(), if is_done(batch) { batch.results.len() } else { 0 });
    let status = match batch.fault {
        _ if !is_done(batch) => "in_progress",
        Some(BatchFault::Invalid | BatchFault::TooMuch(_)) => "failed",
        Some(BatchFault::Expired) => "expired",
        Some(BatchFault::Cancelled) => "cancelled",
        _ => "completed",
    };
    let error = |code: &str, message: &str, line: Option<u64>| json!({ "object": "list", "data": [{ "code": code, "message": message, "line": line }] });
    let errors = match batch.fault {
        Some(BatchFault::Invalid) => error("invalid_json_line", "this line is not valid", Some(1)),
        Some(BatchFault::TooMuch(_)) => error("token_limit_exceeded", "Enqueued token limit reached", None),
        _ => Value::Null,
    };
    let file = |kind: &str| (is_done(batch) && status != "failed").then(|| format!("{}.{kind}", batch.id));
    json!({
        "id": batch.id, "object": "batch", "status": status, "errors": errors, "metadata": batch.metadata,
        "output_file_id": file("output"), "error_file_id": file("error"),
        "request_counts": { "total": total, "completed": done, "failed": 0 },
    })
}

fn anthropic(batch: &Batch) -> Value {
    let n = batch.results.len();
    let (processing, succeeded) = if is_done(batch) { (0, n) } else { (n, 0) };
    json!({
        "id": batch.id, "type": "message_batch", "processing_status": if is_done(batch) { "ended" } else { "in_progress" },
        "request_counts": { "processing": processing, "succeeded": succeeded, "errored": 0, "canceled": 0, "expired": 0 },
    })
}

/// What a script answers to a request in a batch.
pub(crate) fn answered(request: &Request, answer: &Answer) -> Answered {
    let format = request.wire.format();
    let failed = |status| {
        let trouble = crate::wire::Trouble { status, message: "this failure is part of the test", retry_after: None };
        Answered { status, body: (format.error)(&trouble) }
    };
    let said = |reply: &Reply| Answered { status: 200, body: (format.whole)(request, &reply.said(request)) };
    match &answer.content {
        Content::Reply(reply) => said(reply),
        Content::Fault(Fault::Status { status, .. }) => failed(*status),
        Content::Fault(Fault::Refusal) => said(&Reply::refusal("I can't help with that.")),
        Content::Fault(_) => failed(500),
        Content::Raw { status, body, .. } => {
            Answered { status: *status, body: serde_json::from_slice(body).unwrap_or(Value::Null) }
        }
    }
}

/// The file in an upload.
fn file_of(message: &Message) -> Option<&[u8]> {
    let boundary = message.header("content-type")?.split_once("boundary=")?.1;
    let text = std::str::from_utf8(&message.body).ok()?;
    let boundary = format!("--{boundary}");
    let mut parts = text.split(boundary.as_str());
    if !parts.clone().any(|it| it.contains("name=\"purpose\"") && it.contains("\r\n\r\nbatch\r\n")) {
        return None;
    }
    let file = parts.find(|it| it.contains("name=\"file\""))?;
    let (_, content) = file.split_once("\r\n\r\n")?;
    content.strip_suffix("\r\n").map(str::as_bytes)
}

fn name_of(item: &Value) -> String {
    item["custom_id"].as_str().unwrap_or_default().to_owned()
}

fn json(body: &Value) -> Delivery {
    Delivery::json(200, body, &[])
}

fn error(status: u16, message: &str) -> Delivery {
    Delivery::json(status, &json!({ "error": { "message": message } }), &[])
}

/// A refusal that may be repeated at once.
fn refused(status: u16) -> Delivery {
    let body = json!({ "error": { "message": "this failure is part of the test" } });
    Delivery::json(status, &body, &[("retry-after".to_owned(), "0".to_owned())])
}
