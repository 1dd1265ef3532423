//! The examples of the repository, run from Rust, and the recording that lies beside one of them.

use std::fs;
use std::path::{Path, PathBuf};

use jurat::{CaseVerdict, Conclusion, Format, Run, RunOptions, Suite};
use jurat_core::effect::wire::{outcome_json, read_outcome, read_request, request_json};
use jurat_core::effect::{Answer, EndpointKey, Message, ModelRequest, Outcome, Usage};
use jurat_engine::EffectLine;
use jurat_model::price::cost;
use jurat_model::provider::describe;
use serde_json::value::RawValue;
use tempfile::TempDir;

fn example(file: &str) -> PathBuf {
    let root =
        Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the crate lies two levels below the root");
    root.join("examples").join(file)
}

fn appliances(options: impl Fn(RunOptions) -> RunOptions) -> Run {
    let directory = TempDir::new().expect("the system has a place for temporary files");
    let suite = Suite::load(example("appliances/suite.yaml")).expect("the example is a suite");
    assert!(suite.warnings().is_empty(), "{}", suite.warnings());
    suite.run(options(RunOptions::in_directory(directory.path()))).expect("the example runs")
}

fn scripted() -> Run {
    let script = format!("script/{}", example("appliances/replies.jsonl").display());
    appliances(|it| it.model("judge", script.as_str()))
}

/// What a run came to, without what its answers took.
fn verdicts(run: &Run) -> Vec<String> {
    let told = |case: jurat::Case| {
        let tasks: Vec<String> =
            case.tasks().map(|it| format!("{}={} {}", it.id(), it.verdict().name(), it.message())).collect();
        format!("{} {}: {}", case.id(), case.verdict().name(), tasks.join("; "))
    };
    run.cases().map(|it| told(it.expect("the case can be read"))).collect()
}

/// The recording of `appliances` is made from its script: the same answers, as if the model that the suite names had given them. Times are
/// not known, and a token is four bytes.
#[test]
fn the_recording_of_appliances_is_what_its_replies_say() {
    let mut lines = Vec::new();
    scripted().export(Format::Effects, &mut lines).expect("effects can be exported");
    let lines = String::from_utf8(lines).expect("effects are text");
    let made: String = lines.lines().map(|it| as_if_asked("gemini/gemini-2.5-flash-lite", it) + "\n").collect();
    let file = example("appliances/effects.jsonl");
    if std::env::var_os("JURAT_BLESS").is_some_and(|it| it == "1") {
        fs::write(&file, &made).expect("the recording can be written");
    }
    let recorded = fs::read_to_string(&file).unwrap_or_default();
    assert!(made == recorded, "the recording is stale: JURAT_BLESS=1 cargo test -p jurat, then read the diff");
}

fn as_if_asked(model: &str, line: &str) -> String {
    let mut line: EffectLine = serde_json::from_str(line).expect("a line is an effect");
    let (_, request) = read_request(line.request.get()).expect("a request can be read back");
    let Ok(Outcome::Answer(answer)) = read_outcome(line.outcome.get()) else { panic!("the script answers everything") };
    let model = describe(model, &[], &|_| None).expect("the provider is known");
    let price = model.price.expect("the model has a list price");
    let usage = Usage { input: tokens(said(&request)), output: tokens(answer.text.len()), ..Usage::default() };
    let answer = Answer {
        usage: Some(usage),
        cost_usd: Some(cost(&usage, &price)),
        at_ms: 1_794_700_800_000,
        ..Answer::new(answer.text)
    };
    let raw = |text: String| RawValue::from_string(text).expect("what is stored is JSON");
    line.key = EndpointKey::new(&model.endpoint).of(&request).to_string();
    line.request = raw(request_json(&model.endpoint, &request));
    line.outcome = raw(outcome_json(&Outcome::Answer(Box::new(answer))));
    serde_json::to_string(&line).expect("a line can be written")
}

fn said(request: &ModelRequest) -> usize {
    request.messages.iter().map(Message::text).map(str::len).sum()
}

fn tokens(n_bytes: usize) -> u64 {
    n_bytes.div_ceil(4) as u64
}

#[test]
fn appliances_can_be_replayed_without_a_key() {
    let replayed = appliances(|it| it.replay(example("appliances/effects.jsonl")));
    assert_eq!(verdicts(&replayed), verdicts(&scripted()));
    assert_eq!(replayed.conclusion(), Conclusion::Passed, "{:?}", replayed.missed());
    assert_eq!(replayed.answers(), (12, 12));
    let failed: Vec<String> = replayed
        .cases()
        .map(|it| it.expect("the case can be read"))
        .filter(|it| it.verdict() == CaseVerdict::Failed)
        .map(|it| format!("{}: {}", it.id(), it.failures().map(|it| it.id()).collect::<Vec<_>>().join(", ")))
        .collect();
    assert_eq!(
        failed,
        [
            "oven-smoke: kitchen_expert, kitchen_accuracy",
            "heater-drip: names_a_safety_note",
            "grill-balcony: outdoor_durability",
            "mower-lost: answer_parses",
        ]
    );
}

#[test]
fn every_example_runs_and_is_good_enough() {
    for name in ["capitals", "invoices", "extraction"] {
        let directory = TempDir::new().expect("the system has a place for temporary files");
        let suite = Suite::load(example(name).join("suite.yaml")).unwrap_or_else(|error| panic!("{name}: {error}"));
        let run = suite.run(RunOptions::in_directory(directory.path())).expect("the example runs");
        let expected = if name == "extraction" { Conclusion::Failed } else { Conclusion::Passed };
        assert_eq!(run.conclusion(), expected, "{name}\n{}", run.table().expect("a run can be drawn"));
    }
}
