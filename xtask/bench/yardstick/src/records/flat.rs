//! Half a kilobyte without nesting: a question, its answer, and a few columns about them.

use std::fmt::Write;

use serde::Deserialize;

use super::{Judged, Row, Searches, Shape, Text};

pub(super) const SHAPE: Shape = Shape {
    name: "flat",
    suite: include_str!("flat.yaml"),
    tasks: [
        "answered",
        "mentions_refund",
        "says_when",
        "about_mine",
        "confident",
        "quick",
        "indoors",
        "has_page",
        "noted",
        "no_apology",
    ],
    write,
    judge,
};

fn write(text: &mut String, row: Row) {
    let Row { number, is_failing, .. } = row;
    let thing = row.one_of(0, &["kettle", "toaster", "blender", "rice cooker", "fan heater"]);
    let (age, days) = (2 + row.below(1, 26), 3 + row.below(2, 7));
    let whose = if is_failing { "Our" } else { "My" };
    let answer = if is_failing {
        format!(
            "We cannot do anything about a {thing} that was opened. Please write to the maker of it; their address is on the sticker."
        )
    } else {
        format!(
            "Yes. Your {thing} is under warranty: choose a replacement or a refund. We pay within {days} business days of its return."
        )
    };
    let closing = if is_failing { "We are sorry." } else { "Is there anything else?" };
    let note = if is_failing { r#""no""# } else { r#""customer said \"fine\" and rated the talk""# };
    let (score, took) = if is_failing { (31, 4000) } else { (81 + row.below(3, 19), 200) };
    let took = took + row.below(4, 1700);
    let status = if is_failing { "refused" } else { "ok" };
    let room = if is_failing { "garden" } else { row.one_of(5, &["kitchen", "bathroom"]) };
    let ending = if is_failing { "pdf" } else { "html" };
    let page = 100 + row.below(6, 900);
    // Writing to a text cannot fail.
    let _ = write!(
        text,
        r#"{{"id":"case-{number:07}","status":"{status}","room":"{room}","question":"{whose} {thing} broke after {age} days. Can I have the money back?","answer":"{answer}","closing":"{closing}","score":0.{score:02},"latency_ms":{took},"attempts":1,"page":"https://help.example/{page}/returns.{ending}","note":{note},"opening":"Thank you for writing. What happens when you switch it on?","asked_at":"2026-03-{age:02}T09:26:53Z"}}"#
    );
}

#[derive(Deserialize)]
struct Record<'l> {
    #[serde(borrow)]
    id: Text<'l>,
    #[serde(borrow)]
    status: Text<'l>,
    #[serde(borrow)]
    room: Text<'l>,
    #[serde(borrow)]
    question: Text<'l>,
    #[serde(borrow)]
    answer: Text<'l>,
    #[serde(borrow)]
    closing: Text<'l>,
    score: f64,
    latency_ms: i64,
    #[serde(borrow)]
    page: Text<'l>,
    #[serde(borrow)]
    note: Text<'l>,
}

fn judge<'l>(line: &'l str, searches: &Searches) -> serde_json::Result<Judged<'l>> {
    let record: Record<'l> = serde_json::from_str(line)?;
    let answer = &*record.answer.0;
    let passed = [
        record.status.0 == "ok",
        searches.refund.find(answer.as_bytes()).is_some(),
        searches.when.is_match(answer),
        record.question.0.starts_with("My "),
        record.score > 0.8,
        (1..=2000).contains(&record.latency_ms),
        ["kitchen", "bathroom"].iter().any(|it| record.room.0.contains(it)),
        record.page.0.ends_with(".html"),
        record.note.0.chars().count() > 10,
        searches.sorry.find(record.closing.0.as_bytes()).is_none(),
    ];
    Ok(Judged { id: record.id.0, passed })
}
