//! Message batches of Anthropic: requests are sent in one body, results are lines at an address of their own.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::protocol::{Item, ItemResult, Lacking, NamedResult, Protocol, Status, Submission, get, read};
use crate::codec::WireRequest;

pub(super) static PROTOCOL: Protocol = Protocol {
    most_requests: 100_000,
    most_bytes: 256_000_000,
    add,
    upload: None,
    create,
    status: |id| get(format!("{PATH}/{id}")),
    read_status,
    read_line,
    list: || get(format!("{PATH}?limit=100")),
    find,
};

const PATH: &str = "/v1/messages/batches";

fn add(requests: &mut Vec<u8>, item: &Item<'_>) {
    let comma = if requests.is_empty() { "" } else { "," };
    requests.extend_from_slice(format!(r#"{comma}{{"custom_id":"{}","params":"#, item.key).as_bytes());
    requests.extend_from_slice(item.body);
    requests.push(b'}');
}

fn create(submission: &Submission<'_>) -> WireRequest {
    let body = [br#"{"requests":["#.as_slice(), submission.requests, b"]}"].concat();
    WireRequest::post(PATH.to_owned(), body)
}

#[derive(Deserialize)]
struct Batch {
    id: String,
    processing_status: String,
    request_counts: Counts,
}

#[derive(Deserialize)]
struct Counts {
    processing: u64,
    succeeded: u64,
    errored: u64,
    canceled: u64,
    expired: u64,
}

impl Counts {
    fn n_done(&self) -> u64 {
        self.succeeded + self.errored + self.canceled + self.expired
    }
}

fn read_status(body: &[u8]) -> Result<Status, String> {
    let batch: Batch = read(body)?;
    match batch.processing_status.as_str() {
        "in_progress" | "canceling" => Ok(Status::InProgress { n_done: batch.request_counts.n_done() }),
        // Each request that was not processed has a line that gives the reason.
        "ended" => Ok(Status::Ended { results: vec![format!("{PATH}/{}/results", batch.id)], lacking: Lacking::Lost }),
        other => Err(format!("it has the status `{other}`, which this version does not know")),
    }
}

#[derive(Deserialize)]
struct Line<'l> {
    custom_id: String,
    #[serde(borrow)]
    result: LineResult<'l>,
}

#[derive(Deserialize)]
struct LineResult<'l> {
    #[serde(rename = "type")]
    kind: String,
    #[serde(borrow)]
    message: Option<&'l RawValue>,
    #[serde(borrow)]
    error: Option<&'l RawValue>,
}

fn read_line(line: &[u8]) -> Result<NamedResult<'_>, String> {
    let Line { custom_id, result: LineResult { kind, message, error } } = read(line)?;
    let result = match (kind.as_str(), message, error) {
        ("succeeded", Some(message), _) => {
            ItemResult::Response { status: 200, request_id: None, body: message.get().as_bytes() }
        }
        ("errored", _, Some(error)) => ItemResult::Error(error.get().as_bytes()),
        ("expired", ..) => ItemResult::None(Lacking::Expired),
        ("canceled", ..) => ItemResult::None(Lacking::Cancelled),
        (other, ..) => return Err(format!("a result of the type `{other}` is not complete, or not known")),
    };
    Ok((custom_id, result))
}

/// Batches have no place for a name. The newest one with as many requests may be the one: its results are named by keys, so a wrong one is
/// noticed, and the requests are sent again.
fn find(body: &[u8], submission: &Submission<'_>) -> Result<Vec<String>, String> {
    #[derive(Deserialize)]
    struct List {
        data: Vec<Batch>,
    }
    let list: List = read(body)?;
    let n_requests = |it: &Batch| it.request_counts.processing + it.request_counts.n_done();
    let found = list.data.into_iter().filter(|it| n_requests(it) == submission.n_requests as u64);
    Ok(found.map(|it| it.id).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(status: &str, processing: u64, succeeded: u64) -> String {
        format!(
            r#"{{"id":"b","processing_status":"{status}","request_counts":{{"processing":{processing},"succeeded":{succeeded},"errored":0,"canceled":0,"expired":0}}}}"#
        )
    }

    #[test]
    fn requests_are_sent_in_one_body() {
        let mut requests = Vec::new();
        for key in ["k1", "k2"] {
            add(&mut requests, &Item { key, path: "/v1/messages", body: br#"{"model":"m"}"# });
        }
        let submission = Submission { token: "t", path: "", n_requests: 2, requests: &requests, file: "" };
        let expected =
            r#"{"requests":[{"custom_id":"k1","params":{"model":"m"}},{"custom_id":"k2","params":{"model":"m"}}]}"#;
        assert_eq!(String::from_utf8_lossy(&create(&submission).body), expected);
    }

    #[test]
    fn a_batch_has_results_when_it_has_ended() {
        let status = |text: String| read_status(text.as_bytes());
        assert_eq!(status(batch("in_progress", 3, 2)), Ok(Status::InProgress { n_done: 2 }));
        let results = vec!["/v1/messages/batches/b/results".to_owned()];
        assert_eq!(status(batch("ended", 0, 5)), Ok(Status::Ended { results, lacking: Lacking::Lost }));
        assert!(status(batch("asleep", 0, 5)).is_err());
    }

    #[test]
    fn a_line_says_what_became_of_its_request() {
        let read = |text: &'static str| read_line(text.as_bytes()).map(|(_, it)| it);
        let body = br#"{"id":"m"}"#.as_slice();
        assert_eq!(
            read(r#"{"custom_id":"k","result":{"type":"succeeded","message":{"id":"m"}}}"#),
            Ok(ItemResult::Response { status: 200, request_id: None, body })
        );
        let error = br#"{"type":"error","error":{"type":"overloaded_error","message":"busy"}}"#.as_slice();
        assert_eq!(
            read(
                r#"{"custom_id":"k","result":{"type":"errored","error":{"type":"error","error":{"type":"overloaded_error","message":"busy"}}}}"#
            ),
            Ok(ItemResult::Error(error))
        );
        assert_eq!(read(r#"{"custom_id":"k","result":{"type":"expired"}}"#), Ok(ItemResult::None(Lacking::Expired)));
        assert_eq!(read(r#"{"custom_id":"k","result":{"type":"canceled"}}"#), Ok(ItemResult::None(Lacking::Cancelled)));
        assert!(read(r#"{"custom_id":"k","result":{"type":"succeeded"}}"#).is_err());
    }

    #[test]
    fn a_batch_is_found_by_the_number_of_its_requests() {
        let list = format!(r#"{{"data":[{},{}]}}"#, batch("ended", 0, 9), batch("in_progress", 3, 2));
        let of = |n_requests| Submission { token: "t", path: "", n_requests, requests: b"", file: "" };
        assert_eq!(find(list.as_bytes(), &of(5)), Ok(vec!["b".to_owned()]));
        assert_eq!(find(list.as_bytes(), &of(4)), Ok(vec![]));
    }
}
