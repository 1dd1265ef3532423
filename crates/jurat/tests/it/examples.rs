//! The examples of the repository, run from Rust, and the recording that lies beside one of them.

use std::fs;
use std::path::{Path, PathBuf};

use jurat::format::EFFECTS;
use jurat::{CaseVerdict, Conclusion, Run, RunOptions, Suite};
use jurat_core::effect::wire::{StoredRequest, outcome_json, read_outcome, request_json};
use jurat_core::effect::{Answer, EndpointKey, Message, ModelRequest, Outcome, PerformerKey, Request, Usage};
use jurat_core::model::ModelSettings;
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

/// The results of a run, without the time of its answers.
fn verdicts(run: &Run) -> Vec<String> {
    let shown = |case: jurat::Case| {
        let tasks: Vec<String> =
            case.tasks().map(|it| format!("{}={} {}", it.id(), it.verdict().name(), it.message())).collect();
        format!("{} {}: {}", case.id(), case.verdict().name(), tasks.join("; "))
    };
    run.cases().map(|it| shown(it.expect("the case can be read"))).collect()
}

/// The recording of `appliances` is made from its script: the same answers, as if the model that the suite names had given them. Times are
/// not known, and a token is four bytes.
#[test]
fn the_recording_of_appliances_is_what_its_replies_say() {
    let made = recording(&scripted(), |_| "gemini/gemini-2.5-flash-lite".to_owned());
    assert_blessed(&example("appliances/effects.jsonl"), &made);
}

/// What was asked and answered in a run of scripts, as if the models that they play had been asked.
fn recording(run: &Run, played: impl Fn(&str) -> String) -> String {
    let mut lines = Vec::new();
    run.export(&EFFECTS, &mut lines).expect("effects can be exported");
    let lines = String::from_utf8(lines).expect("effects are text");
    lines.lines().map(|it| as_if_asked(&played, it) + "\n").collect()
}

/// Compares a file with what it should be, or writes it.
#[track_caller]
fn assert_blessed(file: &Path, made: &str) {
    if std::env::var_os("JURAT_BLESS").is_some_and(|it| it == "1") {
        fs::write(file, made).expect("the file can be written");
    }
    let there = fs::read_to_string(file).unwrap_or_default();
    let file = file.display();
    assert!(
        made == there,
        "{file} is stale: JURAT_BLESS=1 cargo test -p jurat, then read the diff; it should be\n{made}"
    );
}

fn as_if_asked(played: impl Fn(&str) -> String, line: &str) -> String {
    let mut line: EffectLine = serde_json::from_str(line).expect("a line is an effect");
    let stored = StoredRequest::read(line.request.get()).expect("a request can be read back");
    let (endpoint, mut request) = stored.into_model().expect("a model was asked");
    let Ok(Outcome::Answer(answer)) = read_outcome("model", line.outcome.get()) else {
        panic!("the script answers everything")
    };
    let name = played(&endpoint.model);
    // Of several subjects, each is called by its name.
    if !line.subject.is_empty() {
        line.subject = played(&line.subject);
    }
    if request.model.name().starts_with("script/") {
        request.model = name.as_str().into();
    }
    let model = describe(&name, &ModelSettings::default(), &|_| None).expect("the provider is known");
    let price = model.price.expect("the model has a list price");
    let usage = Usage { input: tokens(said(&request)), output: tokens(answer.text.len()), ..Usage::default() };
    let answer = Answer {
        usage: Some(usage),
        cost_usd: Some(cost(&usage, &price)),
        at_ms: 1_794_700_800_000,
        ..Answer::new(answer.text)
    };
    let raw = |text: String| RawValue::from_string(text).expect("what is stored is JSON");
    line.request = raw(request_json(&model.endpoint, &request));
    let key = EndpointKey::new(&model.endpoint);
    line.key = Request::from(request).key(&PerformerKey::Endpoint(&key)).to_string();
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
        assert_eq!(run.conclusion(), expected, "{name}\n{}", run.table().expect("a run can be rendered"));
    }
}

/// The folders of `examples/scenarios`: each has a suite, what its models would say (`replies/MODEL.jsonl`), a recording that is made from that, and
/// what comes of it. A new folder is a new test; `JURAT_BLESS=1` writes what can be made.
fn scenarios() -> Vec<PathBuf> {
    let entries = fs::read_dir(example("scenarios")).expect("the folder can be listed");
    let mut folders: Vec<PathBuf> =
        entries.map(|it| it.expect("it can be listed").path()).filter(|it| it.is_dir()).collect();
    folders.sort();
    folders
}

/// Where the models of an example come from, in its suite and where scripts play them.
const PROVIDER: &str = "gemini/";
const REPLIES: &str = "script/replies/";

/// Runs an example of scenarios with scripts in place of its models.
fn played(folder: &Path, directory: &Path) -> Run {
    let mut models: Vec<(String, PathBuf)> = Vec::new();
    for file in fs::read_dir(folder.join("replies")).expect("there are replies") {
        let file = file.expect("it can be listed").path();
        models.push((file.file_stem().expect("a file has a name").to_string_lossy().into_owned(), file));
    }
    // A name may begin with another.
    models.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
    let mut suite = fs::read_to_string(folder.join("suite.yaml")).expect("there is a suite");
    fs::create_dir_all(directory.join("replies")).expect("folders can be made");
    for (name, file) in &models {
        suite = suite.replace(&format!("{PROVIDER}{name}"), &format!("{REPLIES}{name}.jsonl"));
        fs::copy(file, directory.join("replies").join(format!("{name}.jsonl"))).expect("files can be copied");
    }
    assert!(!suite.contains(PROVIDER), "{} has a model without replies:\n{suite}", folder.display());
    fs::write(directory.join("suite.yaml"), suite).expect("files can be written");
    let suite = Suite::load(directory.join("suite.yaml")).expect("the example is a suite");
    suite.run(RunOptions::in_directory(directory)).expect("the example runs")
}

/// What came of a run, for readers of the example.
fn shown(run: &Run) -> String {
    let mut text = String::new();
    for case in run.cases().map(|it| it.expect("the case can be read")) {
        let subject = case.subject().map_or(String::new(), |it| format!(" [{it}]"));
        text += &format!("{}{subject} {}\n", case.id(), case.verdict().name());
        for task in case.tasks() {
            let line = match task.actual() {
                Some(found) => format!("  {} {} {found}", task.verdict().name(), task.id()),
                None => format!("  {} {} {}", task.verdict().name(), task.id(), task.message()),
            };
            text += &format!("{}\n", line.trim_end());
        }
    }
    text
}

/// The model that a script plays.
fn model_of(script: &str) -> String {
    let name = script.strip_suffix(".jsonl").and_then(|it| it.rsplit('/').next());
    format!("{PROVIDER}{}", name.expect("it is a script"))
}

#[test]
fn scenarios_can_be_replayed_without_a_key() {
    let folders = scenarios();
    assert!(folders.len() >= 6, "{folders:?}");
    for folder in folders {
        let name = folder.display();
        let scripted = TempDir::new().expect("the system has a place for temporary files");
        let scripted = played(&folder, scripted.path());
        assert_blessed(&folder.join("effects.jsonl"), &recording(&scripted, model_of));

        let directory = TempDir::new().expect("the system has a place for temporary files");
        let suite = Suite::load(folder.join("suite.yaml")).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(suite.warnings().is_empty(), "{name}: {}", suite.warnings());
        let options = RunOptions::in_directory(directory.path()).replay(folder.join("effects.jsonl"));
        let replayed = suite.run(options).expect("the example runs");
        let (n_answers, n_reused) = replayed.answers();
        assert!(n_answers > 0 && n_answers == n_reused, "{name}: {n_reused} of {n_answers} answers are recorded");
        assert_eq!(replayed.conclusion(), Conclusion::Passed, "{name}: {:?}", replayed.missed());
        assert_eq!(verdicts(&replayed), verdicts(&scripted), "{name}");
        let shown = shown(&replayed);
        assert!(!shown.contains("\n  error "), "{name}: an example has no errors:\n{shown}");
        assert_blessed(&folder.join("verdicts.txt"), &shown);
    }
}
