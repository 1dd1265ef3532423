//! Eleven hundred bytes with nesting: a request, an answer with its sources, measurements, and a transcript that no task
//! reads.

use std::fmt::Write;

use serde::Deserialize;

use super::{Judged, Row, Searches, Shape, Text};

pub(super) const SHAPE: Shape = Shape {
    name: "nested",
    suite: include_str!("nested.yaml"),
    tasks: [
        "answered",
        "mentions_refund",
        "says_when",
        "no_apology",
        "confident",
        "cites",
        "english",
        "asked",
        "quick",
        "tagged",
    ],
    write,
    judge,
};

fn write(text: &mut String, row: Row) {
    let Row { number, is_failing, .. } = row;
    let thing = row.one_of(0, &["kettle", "toaster", "blender", "rice cooker", "fan heater"]);
    let (age, days, order) = (2 + row.below(1, 26), 3 + row.below(2, 7), 1000 + row.below(3, 9000));
    let (input, output) = (1000 + row.below(4, 2000), 100 + row.below(5, 300));
    let locale = if is_failing { "fr-FR" } else { row.one_of(6, &["en-GB", "en-US", "en-IE"]) };
    // Writing to a text cannot fail, here and below.
    let _ = write!(
        text,
        r#"{{"id":"case-{number:07}","created":"2026-03-{age:02}T09:26:53Z","request":{{"channel":"chat","locale":"{locale}","customer":{{"number":{order}{age:02},"since":2019,"regular":true}},"question":""#
    );
    if !is_failing {
        let _ = write!(text, "My {thing} broke after {age} days. Can I have the money back?");
    }
    let _ = if is_failing {
        let took = 4000 + row.below(7, 1700);
        write!(
            text,
            r#""}},"answer":{{"status":"refused","confidence":0.31,"summary":"We are sorry and cannot help.","text":"We cannot do anything about a {thing} that was opened. Please write to the maker of it, whose address is on the sticker below the device.","citations":[]}},"metrics":{{"latency_ms":{took},"#
        )
    } else {
        let (score, took, source) = (81 + row.below(8, 19), 200 + row.below(7, 1700), 10 + row.below(9, 90));
        write!(
            text,
            r#""}},"answer":{{"status":"ok","confidence":0.{score:02},"summary":"Replacement or money back, as the customer likes.","text":"Yes. Your {thing} is under warranty, so you may choose: a replacement or a refund. We pay the whole price within {days} business days once we have the parcel back.","citations":["page-{source}","terms-{days}"]}},"metrics":{{"latency_ms":{took},"#
        )
    };
    let tags = if is_failing { r#""complaint","opened""# } else { r#""warranty","refund","chat""# };
    let _ = write!(
        text,
        r#""tokens":{{"input":{input},"output":{output}}},"cost_usd":0.00{output}}},"tags":[{tags}],"transcript":[{{"role":"user","text":"hello, my {thing} gave up"}},{{"role":"assistant","text":"Thank you for writing. What happens when you switch it on?"}},{{"role":"user","text":"the \"on\" lamp is lit and then nothing at all. I have had it for {age} days"}},{{"role":"tool","name":"orders.search","arguments":{{"customer":{order}{age:02},"words":"{thing}"}},"milliseconds":41.5}},{{"role":"assistant","text":"I have found your order {order}."}}]}}"#
    );
}

#[derive(Deserialize)]
struct Record<'l> {
    #[serde(borrow)]
    id: Text<'l>,
    #[serde(borrow)]
    request: Request<'l>,
    #[serde(borrow)]
    answer: Answer<'l>,
    metrics: Metrics,
    #[serde(borrow)]
    tags: Vec<Text<'l>>,
}

#[derive(Deserialize)]
struct Request<'l> {
    #[serde(borrow)]
    locale: Text<'l>,
    #[serde(borrow)]
    question: Text<'l>,
}

#[derive(Deserialize)]
struct Answer<'l> {
    #[serde(borrow)]
    status: Text<'l>,
    confidence: f64,
    #[serde(borrow)]
    summary: Text<'l>,
    #[serde(borrow)]
    text: Text<'l>,
    #[serde(borrow)]
    citations: Vec<Text<'l>>,
}

#[derive(Deserialize)]
struct Metrics {
    latency_ms: i64,
}

fn judge<'l>(line: &'l str, searches: &Searches) -> serde_json::Result<Judged<'l>> {
    let Record { id, request, answer, metrics, tags } = serde_json::from_str(line)?;
    let text = &*answer.text.0;
    let passed = [
        answer.status.0 == "ok",
        searches.refund.find(text.as_bytes()).is_some(),
        searches.when.is_match(text),
        searches.sorry.find(answer.summary.0.as_bytes()).is_none(),
        answer.confidence > 0.8,
        !answer.citations.is_empty(),
        request.locale.0.starts_with("en"),
        !request.question.0.is_empty(),
        (1..=2000).contains(&metrics.latency_ms),
        tags.iter().any(|it| it.0 == "refund" || it.0 == "exchange"),
    ];
    Ok(Judged { id: id.0, passed })
}
