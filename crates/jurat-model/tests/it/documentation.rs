//! `docs/reference/models.md` says what the code does.

use jurat_format::value::{Val, parse_json};
use jurat_model::price::{list_price, table_date};
use jurat_model::provider::{DEFAULT_MAX_TOKENS, table};
use jurat_model::{Backoff, TransportOptions};

const PAGE: &str = include_str!("../../../../docs/reference/models.md");

#[test]
fn the_table_of_providers_is_that_of_the_code() {
    let (start, end) = ("<!-- providers -->\n", "\n<!-- end of providers -->");
    let (before, rest) = PAGE.split_once(start).expect("the table has a beginning");
    let (found, after) = rest.split_once(end).expect("the table has an end");
    if std::env::var_os("JURAT_BLESS").is_some_and(|it| it == "1") {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/models.md");
        std::fs::write(page, format!("{before}{start}{}{end}{after}", table())).expect("it can be written");
        return;
    }
    assert_eq!(found, table(), "JURAT_BLESS=1 writes the table into docs/reference/models.md");
}

#[test]
fn the_prices_are_those_of_the_table() {
    assert!(PAGE.contains(&format!("list prices of {}", table_date())));
    let table = parse_json(include_str!("../../src/prices.json")).expect("the table is JSON").value;
    let lines = table.get("prices").and_then(Val::as_list).expect("it has prices");
    for line in lines {
        let text = |key: &str| line.get(key).and_then(Val::as_str).expect("a text");
        let price = list_price(text("provider"), text("model")).expect("it has a price");
        let cached = price.cached.expect("the table has it");
        let written = price.cache_write.map_or_else(String::new, |it| format!(" {it}"));
        let row = format!(
            "| {} | {} | {} | {cached} |{written} | {} |",
            text("provider"),
            text("model"),
            price.input,
            price.output
        );
        assert!(PAGE.lines().any(|it| it == row), "{row}");
    }
    let is_row = |it: &&str| ["| openai |", "| anthropic |", "| gemini |"].iter().any(|start| it.starts_with(start));
    assert_eq!(PAGE.lines().filter(is_row).count(), lines.len());
}

#[test]
fn the_numbers_are_those_of_the_code() {
    let TransportOptions { request_timeout, connect_timeout, max_pause, .. } = TransportOptions::default();
    assert_eq!((request_timeout.as_secs(), connect_timeout.as_secs(), max_pause.as_secs()), (5 * 60, 10, 10 * 60));
    assert!(PAGE.contains("An answer has five minutes to arrive, and a connection ten seconds."));
    assert!(PAGE.contains("A wait of more than ten minutes is a failure."));
    let Backoff { base, cap } = Backoff::default();
    assert_eq!((base.as_millis(), cap.as_secs()), (500, 30));
    assert!(PAGE.contains("up to 0.5 seconds, then up to 1, 2, 4 and so on up to 30"));
    assert!(PAGE.contains(&format!("Without it {DEFAULT_MAX_TOKENS} is sent")));
}
