//! `jurat models`: what a suite configures, and whether it answers.

use jurat_testkit::{Endpoint, Reply, Script};

use crate::command::{Folder, ended};

fn suite(url: &str) -> String {
    format!(
        "suite: s\nrecords: [{{ id: a, answer: Paid. }}]\nmodels:\n  \
         judge: {{ model: openai/small, base_url: '{url}', api_key_env: JUDGE_KEY, max_tokens: 50, rpm: 60, price: {{ input: 1, output: 2, cached: 0.1 }} }}\n  \
         second: {{ model: deepseek/deepseek-chat, api_key_command: print-key }}\n  \
         canned: script/replies.jsonl\n\
         tasks:\n  - {{ id: tone, judge: {{ prompt: 'Rate ${{answer}}' }}, operator: contains, expected_value: polite }}\n"
    )
}

#[test]
fn every_model_is_listed_with_its_address_key_price_and_limits() {
    let folder = Folder::with("suite.yaml", suite("http://127.0.0.1:9/v1")).and("replies.jsonl", "");
    let listed = folder.jurat(&["models", "suite.yaml"]);
    assert_eq!(listed.code, Some(0), "{}", listed.stderr);
    let expected = "judge: openai/small\n  \
         address     http://127.0.0.1:9/v1\n  \
         key         JUDGE_KEY, not set\n  \
         structured  json_schema\n  \
         price       input $1, output $2, cached $0.1 per million tokens\n  \
         price from  `price` of the model\n  \
         limits      50 output tokens, 60 requests a minute\n  \
         problem     `openai/small` needs a key: set `JUDGE_KEY` in the environment, or in a file `.env` beside the suite, above it up to the root of the project, or in the current directory\n\n\
         second: deepseek/deepseek-chat\n  \
         address     https://api.deepseek.com/v1\n  \
         key         printed by `print-key`\n  \
         structured  json_object\n  \
         price       unknown\n\n\
         canned: script/replies.jsonl\n";
    assert_eq!(listed.stdout, expected);
}

#[test]
fn a_file_of_prices_replaces_the_built_in_ones() {
    let prices = r#"{ "date": "2026-11-01", "prices": [
        { "provider": "openai", "model": "gpt-4o", "input": 1.5, "output": 6, "cached": 0.75 },
        { "provider": "deepseek", "model": "deepseek-chat", "input": 0.25, "output": 0.5 }] }"#;
    let suite = "suite: s\nprices: prices.json\nrecords: [{ id: a, answer: Paid. }]\nmodels:\n  \
         judge: openai/gpt-4o-2024-08-06\n  second: deepseek/deepseek-chat\n  third: openai/gpt-4o-mini\n  fourth: openai/new\n\
         tasks:\n  - { id: tone, judge: { prompt: 'Rate ${answer}' }, operator: contains, expected_value: polite }\n";
    let folder = Folder::with("suite.yaml", suite).and("prices.json", prices);
    let listed = folder.jurat(&["models", "suite.yaml"]);
    assert_eq!(listed.code, Some(0), "{}", listed.stderr);
    let lines: Vec<&str> = listed.stdout.lines().filter(|it| it.starts_with("  price")).collect();
    let expected = [
        "  price       input $1.5, output $6, cached $0.75 per million tokens",
        "  price from  `prices.json`, prices of 2026-11-01",
        "  price       input $0.25, output $0.5 per million tokens",
        "  price from  `prices.json`, prices of 2026-11-01",
        "  price       input $0.15, output $0.6, cached $0.075 per million tokens",
        "  price from  built-in list prices of 2025-12-01",
        "  price       unknown",
    ];
    assert_eq!(lines, expected);
    let json = folder.jurat(&["models", "suite.yaml", "--json"]).stdout;
    assert!(json.contains(r#""price_date":"2026-11-01""#), "{json}");
    // The printed table is such a file.
    let printed = folder.jurat(&["models", "--prices"]).stdout;
    let folder = Folder::with("suite.yaml", suite).and("prices.json", printed);
    assert_eq!(folder.jurat(&["check", "suite.yaml"]).code, Some(0));
}

#[test]
fn a_ping_says_who_answered_and_fails_when_one_does_not() {
    let endpoint = Endpoint::start(Script::new().key("sk-1234567").reply(Reply::text("ok")));
    let text =
        suite(&endpoint.url()).replace("  second: { model: deepseek/deepseek-chat, api_key_command: print-key }\n", "");
    let folder = Folder::with("suite.yaml", text).and("replies.jsonl", "");
    let ping =
        |key: &str| ended(folder.command().args(["models", "suite.yaml", "--ping", "--json"]).env("JUDGE_KEY", key));
    let good = ping("sk-1234567");
    assert_eq!(good.code, Some(0), "{}", good.stderr);
    assert!(good.stdout.contains(r#""ping":{"status":"answered","latency_ms":"#), "{}", good.stdout);
    assert!(good.stdout.contains(r#""ping":{"status":"skipped"}"#), "{}", good.stdout);
    let bad = ping("sk-7654321");
    assert_eq!(bad.code, Some(2), "{}", bad.stderr);
    assert!(bad.stdout.contains(r#""status":"failed""#) && bad.stdout.contains("HTTP 401"), "{}", bad.stdout);
    assert!(!bad.stdout.contains("sk-7654321"), "{}", bad.stdout);
}
