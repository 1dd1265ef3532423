//! Batches of OpenAI: requests are the lines of a file that is uploaded, results are the lines of two others, one for responses and one for errors.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use super::protocol::{Item, ItemResult, Lacking, NamedResult, Protocol, Status, Submission, get, read};
use crate::codec::WireRequest;

pub(super) static PROTOCOL: Protocol = Protocol {
    most_requests: 50_000,
    most_bytes: 200_000_000,
    add,
    upload: Some(upload),
    create,
    status: |id| get(format!("/batches/{id}")),
    read_status,
    read_line,
    list: || get("/batches?limit=100".to_owned()),
    find,
};

/// What separates the parts of an upload. The lines of a batch are JSON, in which a line break is written as `\n`, so none of them can begin with it.
const BOUNDARY: &str = "jurat-batch-5b1f9a64c0d24e7f";
const CONTENT_TYPE: &str = "multipart/form-data; boundary=jurat-batch-5b1f9a64c0d24e7f";

/// The member of `metadata` that holds the name of a batch.
const TOKEN: &str = "jurat";

/// The code of a batch that was refused because others of the account wait.
const TOO_MUCH: &str = "token_limit_exceeded";

fn add(requests: &mut Vec<u8>, item: &Item<'_>) {
    let url = url(item.path);
    let head = format!(r#"{{"custom_id":"{}","method":"POST","url":"{url}","body":"#, item.key);
    requests.extend_from_slice(head.as_bytes());
    requests.extend_from_slice(item.body);
    requests.extend_from_slice(b"}\n");
}

/// Batches name the interface by its path at OpenAI, whatever the address of a gateway is.
fn url(path: &str) -> String {
    format!("/v1{path}")
}

fn upload(requests: &[u8]) -> WireRequest {
    let purpose = format!("--{BOUNDARY}\r\ncontent-disposition: form-data; name=\"purpose\"\r\n\r\nbatch\r\n");
    let file = format!(
        "--{BOUNDARY}\r\ncontent-disposition: form-data; name=\"file\"; filename=\"requests.jsonl\"\r\ncontent-type: \
         application/jsonl\r\n\r\n"
    );
    let end = format!("\r\n--{BOUNDARY}--\r\n");
    let body = [purpose.as_bytes(), file.as_bytes(), requests, end.as_bytes()].concat();
    WireRequest { method: "POST", path: "/files".to_owned(), content_type: Some(CONTENT_TYPE), body }
}

fn create(submission: &Submission<'_>) -> WireRequest {
    let body = json!({
        "input_file_id": submission.file,
        "endpoint": url(submission.path),
        "completion_window": "24h",
        "metadata": { TOKEN: submission.token },
    });
    WireRequest::post("/batches".to_owned(), body.to_string().into_bytes())
}

#[derive(Deserialize)]
struct Batch {
    id: String,
    status: String,
    errors: Option<Errors>,
    output_file_id: Option<String>,
    error_file_id: Option<String>,
    request_counts: Option<Counts>,
    metadata: Option<BTreeMap<String, serde_json::Value>>,
}

#[derive(Deserialize)]
struct Errors {
    data: Option<Vec<BatchError>>,
}

#[derive(Deserialize)]
struct BatchError {
    code: Option<String>,
    message: Option<String>,
    line: Option<u64>,
}

#[derive(Deserialize)]
struct Counts {
    completed: u64,
    failed: u64,
}

fn read_status(body: &[u8]) -> Result<Status, String> {
    let batch: Batch = read(body)?;
    let lacking = match batch.status.as_str() {
        "completed" => Lacking::Lost,
        "expired" => Lacking::Expired,
        "cancelled" => Lacking::Cancelled,
        "failed" => return Ok(refused(batch.errors)),
        "validating" | "in_progress" | "finalizing" | "cancelling" => {
            let n_done = batch.request_counts.map_or(0, |it| it.completed + it.failed);
            return Ok(Status::InProgress { n_done });
        }
        other => return Err(format!("it has the status `{other}`, which this version does not know")),
    };
    let files = [batch.output_file_id, batch.error_file_id].into_iter().flatten().filter(|it| !it.is_empty());
    Ok(Status::Ended { results: files.map(|it| format!("/files/{it}/content")).collect(), lacking })
}

/// How many errors of a batch are shown.
const MOST_ERRORS: usize = 3;

fn refused(errors: Option<Errors>) -> Status {
    let errors = errors.and_then(|it| it.data).unwrap_or_default();
    let is_too_much = errors.iter().any(|it| it.code.as_deref() == Some(TOO_MUCH));
    let words = |it: &BatchError| {
        let message = it.message.as_deref().or(it.code.as_deref()).unwrap_or("no reason is given");
        it.line.map_or_else(|| message.to_owned(), |line| format!("line {line}: {message}"))
    };
    let mut shown: Vec<String> = errors.iter().take(MOST_ERRORS).map(words).collect();
    if errors.len() > MOST_ERRORS {
        shown.push(format!("{} more", errors.len() - MOST_ERRORS));
    }
    let message = if shown.is_empty() { "no reason is given".to_owned() } else { shown.join("; ") };
    Status::Refused { message, is_too_much }
}

#[derive(Deserialize)]
struct Line<'l> {
    custom_id: String,
    #[serde(borrow)]
    response: Option<Response<'l>>,
    error: Option<LineError>,
}

#[derive(Deserialize)]
struct Response<'l> {
    status_code: u16,
    request_id: Option<String>,
    #[serde(borrow)]
    body: &'l RawValue,
}

#[derive(Deserialize)]
struct LineError {
    code: Option<String>,
}

fn read_line(line: &[u8]) -> Result<NamedResult<'_>, String> {
    let Line { custom_id, response, error } = read(line)?;
    let result = match (response, error.and_then(|it| it.code).as_deref()) {
        (Some(Response { status_code: status, request_id, body }), _) => {
            ItemResult::Response { status, request_id, body: body.get().as_bytes() }
        }
        (None, Some("batch_expired")) => ItemResult::None(Lacking::Expired),
        (None, Some("batch_cancelled")) => ItemResult::None(Lacking::Cancelled),
        // The line has its error where an envelope has it.
        (None, _) => ItemResult::Error(line),
    };
    Ok((custom_id, result))
}

fn find(body: &[u8], submission: &Submission<'_>) -> Result<Vec<String>, String> {
    #[derive(Deserialize)]
    struct List {
        data: Vec<Batch>,
    }
    let list: List = read(body)?;
    let is_same = |it: &Batch| {
        let token = it.metadata.as_ref().and_then(|it| it.get(TOKEN)?.as_str());
        token == Some(submission.token)
    };
    Ok(list.data.into_iter().filter(is_same).map(|it| it.id).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn status(body: &str, expected: Status) {
        assert_eq!(read_status(body.as_bytes()), Ok(expected), "{body}");
    }

    #[test]
    fn requests_are_lines_of_a_file() {
        let mut requests = Vec::new();
        add(&mut requests, &Item { key: "k1", path: "/chat/completions", body: br#"{"model":"m"}"# });
        add(&mut requests, &Item { key: "k2", path: "/chat/completions", body: b"{}" });
        let lines = concat!(
            r#"{"custom_id":"k1","method":"POST","url":"/v1/chat/completions","body":{"model":"m"}}"#,
            "\n",
            r#"{"custom_id":"k2","method":"POST","url":"/v1/chat/completions","body":{}}"#,
            "\n"
        );
        assert_eq!(String::from_utf8_lossy(&requests), lines);
        let uploaded = upload(&requests);
        assert!(uploaded.content_type.is_some_and(|it| it.ends_with(BOUNDARY)));
        assert!(String::from_utf8_lossy(&uploaded.body).contains(&format!("\r\n\r\n{lines}\r\n--{BOUNDARY}--\r\n")));
    }

    #[test]
    fn a_status_says_where_the_results_are_or_why_there_are_none() {
        status(r#"{"id":"b","status":"validating"}"#, Status::InProgress { n_done: 0 });
        status(
            r#"{"id":"b","status":"in_progress","request_counts":{"total":9,"completed":3,"failed":1}}"#,
            Status::InProgress { n_done: 4 },
        );
        let results = vec!["/files/f1/content".to_owned(), "/files/f2/content".to_owned()];
        status(
            r#"{"id":"b","status":"completed","output_file_id":"f1","error_file_id":"f2"}"#,
            Status::Ended { results, lacking: Lacking::Lost },
        );
        status(r#"{"id":"b","status":"expired"}"#, Status::Ended { results: vec![], lacking: Lacking::Expired });
        status(
            r#"{"id":"b","status":"failed","errors":{"data":[{"code":"token_limit_exceeded","message":"Enqueued token limit reached"}]}}"#,
            Status::Refused { message: "Enqueued token limit reached".to_owned(), is_too_much: true },
        );
        status(
            r#"{"id":"b","status":"failed","errors":{"data":[{"code":"invalid_json_line","message":"not JSON","line":7}]}}"#,
            Status::Refused { message: "line 7: not JSON".to_owned(), is_too_much: false },
        );
        assert!(read_status(br#"{"id":"b","status":"paused"}"#).is_err());
        assert!(read_status(b"<html>").is_err());
    }

    #[test]
    fn a_line_has_a_response_an_error_or_neither() {
        let line = br#"{"id":"r","custom_id":"k","response":{"status_code":200,"request_id":"q","body":{"a":1.0}},"error":null}"#;
        let body = br#"{"a":1.0}"#.as_slice();
        let response = ItemResult::Response { status: 200, request_id: Some("q".to_owned()), body };
        assert_eq!(read_line(line), Ok(("k".to_owned(), response)));
        let expired = br#"{"custom_id":"k","response":null,"error":{"code":"batch_expired","message":"late"}}"#;
        assert_eq!(read_line(expired), Ok(("k".to_owned(), ItemResult::None(Lacking::Expired))));
        let error = br#"{"custom_id":"k","response":null,"error":{"code":"server_error","message":"oops"}}"#;
        assert_eq!(read_line(error), Ok(("k".to_owned(), ItemResult::Error(error))));
        assert!(read_line(br#"{"custom_id":"k","respo"#).is_err());
    }

    #[test]
    fn a_batch_is_found_by_its_name() {
        let list = br#"{"data":[{"id":"b1","status":"completed","metadata":null},{"id":"b2","status":"validating","metadata":{"jurat":"t"}}]}"#;
        let of = |token| Submission { token, path: "", n_requests: 1, requests: b"", file: "" };
        assert_eq!(find(list, &of("t")), Ok(vec!["b2".to_owned()]));
        assert_eq!(find(list, &of("u")), Ok(vec![]));
    }
}
