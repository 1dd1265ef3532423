//! Reading a record: by projection, and by what somebody would write instead.

use std::borrow::Cow;
use std::hint::black_box;

use jurat_core::plan::Plan;
use jurat_format::value::parse_json;
use serde::Deserialize;

use crate::{RECORD, Work};

/// The fields that the ten assertions read, as a program written for this one suite would declare them.
#[derive(Deserialize)]
#[expect(dead_code, reason = "reading them is the work")]
struct Typed<'a> {
    #[serde(borrow)]
    id: Text<'a>,
    request: Request<'a>,
    answer: Answer<'a>,
    metrics: Metrics,
    tags: Vec<Text<'a>>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "reading them is the work")]
struct Request<'a> {
    #[serde(borrow)]
    locale: Text<'a>,
    question: Text<'a>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "reading them is the work")]
struct Answer<'a> {
    #[serde(borrow)]
    status: Text<'a>,
    confidence: f64,
    summary: Text<'a>,
    text: Text<'a>,
    citations: Vec<Text<'a>>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "reading them is the work")]
struct Metrics {
    latency_ms: i64,
}

/// A bare `Cow` inside a list would always be copied.
#[derive(Deserialize)]
#[expect(dead_code, reason = "reading it is the work")]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

pub(crate) fn works(ten: &Plan) -> Vec<Work<'_>> {
    assert!(!ten.footprint.is_all());
    vec![
        work("projection", |text| drop(black_box(ten.footprint.read(text).expect("the record is JSON")))),
        work("typed_serde", |text| drop(black_box(serde_json::from_str::<Typed<'_>>(text).expect("it fits")))),
        work("whole_tree", |text| drop(black_box(parse_json(text).expect("the record is JSON")))),
        work("serde_json_value", |text| {
            drop(black_box(serde_json::from_str::<serde_json::Value>(text).expect("the record is JSON")));
        }),
    ]
}

fn work<'f>(name: &str, read: impl Fn(&str) + 'f) -> Work<'f> {
    let run = move |n| {
        for _ in 0..n {
            read(black_box(RECORD));
        }
    };
    Work { group: "reading", name: name.to_owned(), run: Box::new(run) }
}
