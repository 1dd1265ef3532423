//! Shards: a run that is cut, run in parts and merged has the results of one process.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use jurat::shards::{MergeOptions, PartSize, ShardEnd, Shards};
use jurat::{Run, RunOptions, Suite};
use jurat_store::journal::{SegmentReader, segment_files};
use jurat_testkit::{Endpoint, Script};
use regex::Regex;

use crate::command::{Ended, Folder, root};

/// A suite with everything that counts from the beginning of a run: ids by content, equal rows, groups, labels, failures, slices.
const CLAIMS: &str = "\
suite: claims
records: rows.jsonl
models: { judge: script/replies.jsonl }
group_by: [language]
cluster_by: customer
tasks:
  - { id: is_english, condition: true, field_path: language, operator: equals, expected_value: en }
  - { id: short, field_path: answer, operator: has_length_less_than, expected_value: 12 }
  - id: tone
    depends_on: [is_english]
    judge: { prompt: 'Rate ${answer}', output: { label: { enum: [polite, rude] }, score: integer } }
    field_path: label
    operator: equals
    expected_value: polite
";

const REPLIES: &str = r#"{"match": {"contains": "7"}, "reply": {"label": "rude", "score": 2}, "usage": {"input": 9, "output": 2}, "times": "*"}
{"match": {"contains": "13"}, "fault": "status:400", "times": "*"}
{"reply": {"label": "polite", "score": 5}, "usage": {"input": 8, "output": 2}, "times": "*"}
"#;

/// Rows of which every fifth is equal to another, and blank lines among them.
fn rows(n: usize) -> String {
    let row = |ix: usize| {
        let (number, language) = (if ix % 5 == 4 { 1000 } else { ix }, if ix.is_multiple_of(3) { "de" } else { "en" });
        let customer = number % 4;
        let blank = if ix.is_multiple_of(11) { "\n" } else { "" };
        let language = if number == 1000 { "en" } else { language };
        format!("{{\"answer\": \"answer {number}\", \"language\": \"{language}\", \"customer\": {customer}}}\n{blank}")
    };
    (0..n).map(row).collect()
}

fn claims(n: usize) -> Folder {
    Folder::with("suite.yaml", CLAIMS).and("rows.jsonl", rows(n)).and("replies.jsonl", REPLIES)
}

/// The run of one process.
fn whole(file: &Path, folder: &Folder, options: &dyn Fn(RunOptions) -> RunOptions) -> Run {
    let options = options(RunOptions::in_directory(folder.path()).concurrency(4.try_into().expect("not zero")));
    Suite::load(file).expect("a suite").run(options).expect("it runs")
}

/// The same run from shards that are run in a shuffled order, some of them twice.
fn merged(file: &Path, folder: &Folder, size: PartSize, options: &dyn Fn(RunOptions) -> RunOptions) -> (usize, Run) {
    let out = folder.path().join(format!("parts-{size:?}"));
    let suite = Suite::load(file).expect("a suite");
    let shards = Shards::plan(&suite, &options(RunOptions::new()), size, &out).expect("it can be cut");
    let n = shards.n() as u32;
    for ix in (0..n).rev().step_by(2).chain((0..n).rev().skip(1).step_by(2)).chain([0]) {
        let started = shards.start(ix, RunOptions::in_directory(folder.path()), |_| ()).expect("it starts");
        if let Some(started) = started {
            assert!(matches!(started.wait().expect("it ends"), ShardEnd::Done { .. }));
        }
    }
    let merged = shards.merge(&MergeOptions::default()).expect("they can be merged");
    (n as usize, Run::open(&merged.path).expect("a run"))
}

/// Everything that a run has to say that is the same whenever it is run.
fn statements(run: &Run) -> Vec<String> {
    let steady = |text: String| timeless(&text.replace(&format!("in run {}", run.id()), "in run RUN"));
    let mut statements = vec![timeless(&run.results_json().expect("results")), format!("{:?}", run.report().slices)];
    for case in run.cases() {
        let case = case.expect("a case");
        let tasks: Vec<String> = case.tasks().map(|it| it.id().to_owned()).collect();
        statements.push(format!("{} {}", case.id(), case.verdict().name()));
        statements.extend(tasks.iter().filter_map(|it| run.explain(case.id(), it).ok()).map(steady));
    }
    statements
}

/// Some text around the first difference.
fn first_difference(one: &str, other: &str) -> String {
    let at = one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count().saturating_sub(80);
    let shown = |text: &str| String::from_utf8_lossy(&text.as_bytes()[at..(at + 200).min(text.len())]).into_owned();
    format!("\n{}\n---\n{}", shown(one), shown(other))
}

/// A text without how long answers took, the one thing that differs when the same is asked again.
fn timeless(text: &str) -> String {
    let times = Regex::new(
        r#","(mean_)?latency_ms":[0-9.e-]+|latency_ms: [0-9.e-]+|[0-9.e-]+(,[0-9]*,[0-9]*,[0-9.e-]*)?,rows\.jsonl|[0-9.]+ (µs|ms|s)\b"#,
    )
    .expect("a pattern");
    times.replace_all(text, "").into_owned()
}

#[track_caller]
fn equal(file: &Path, folder: &Folder, sizes: &[PartSize], options: &dyn Fn(RunOptions) -> RunOptions) -> Vec<usize> {
    let one = whole(file, folder, options);
    let expected = statements(&one);
    let mut counts = Vec::new();
    for size in sizes {
        let (n, run) = merged(file, folder, *size, options);
        counts.push(n);
        let found = statements(&run);
        let differing = expected.iter().zip(&found).find(|(one, other)| one != other);
        let differing = differing.map_or_else(String::new, |(one, other)| first_difference(one, other));
        assert!(expected == found, "{}: {n} shards differ: {differing}", file.display());
        assert_eq!(run.answers().0, one.answers().0, "{}", file.display());
        assert_eq!(run.interval(), one.interval());
    }
    counts
}

const PARTS: [PartSize; 4] = [PartSize::Parts(1), PartSize::Parts(2), PartSize::Parts(7), PartSize::Parts(64)];

#[test]
fn merged_shards_have_the_results_of_one_process() {
    let folder = claims(90);
    let counts = equal(&folder.path().join("suite.yaml"), &folder, &PARTS, &|it| it);
    assert_eq!(counts, [1, 2, 7, 64]);
}

#[test]
fn rows_that_are_not_selected_keep_their_place() {
    let folder = claims(60);
    let file = folder.path().join("suite.yaml");
    equal(&file, &folder, &[PartSize::Parts(5)], &|it| it.filter("customer != 2"));
    equal(&file, &folder, &[PartSize::Rows(9)], &|it| it.filter("language == 'fr'"));
}

#[test]
fn tables_are_cut_between_rows_also_where_cells_have_line_feeds() {
    let suite = "\
suite: table
records: { path: rows.csv, types: { n: number } }
tasks: [{ id: small, field_path: n, operator: less_than, expected_value: 20 }]
";
    let row = |ix: usize| format!("r{ix},{ix},\"first \"\"line\"\"\nsecond, line {ix}\"\r\n");
    let table: String = (0..40).map(row).collect();
    let folder = Folder::with("suite.yaml", suite).and("rows.csv", format!("\u{feff}id,n,text\r\n{table}"));
    let file = folder.path().join("suite.yaml");
    let counts = equal(&file, &folder, &[PartSize::Rows(1), PartSize::Rows(7), PartSize::Parts(3)], &|it| it);
    assert_eq!(counts, [40, 6, 3]);
}

#[test]
fn the_examples_have_the_same_results_in_shards() {
    let example = |file: &str| root().join("examples").join(file);
    let sizes = [PartSize::Parts(5), PartSize::Parts(2)];
    for file in ["invoices/suite.yaml", "judges/suite.yaml", "capitals/suite.yaml", "checks/suite.yaml"] {
        equal(&example(file), &Folder::empty(), &sizes, &|it| it);
    }
    let script = format!("script/{}", example("appliances/replies.jsonl").display());
    equal(&example("appliances/suite.yaml"), &Folder::empty(), &sizes, &|it| it.model("judge", script.as_str()));
}

#[test]
fn scenarios_are_a_shard_in_front_of_the_rows() {
    let suite = "\
suite: both
models: { subject: script/replies.jsonl }
scenarios:
  greeting:
    entry: hello
    nodes: { hello: { question: 'Say hello' } }
    outcomes: []
records: rows.jsonl
tasks: [{ id: said, on: records, field_path: answer, operator: contains, expected_value: '1' }]
";
    let rows: String = (0..9).map(|it| format!("{{\"id\": \"r{it}\", \"answer\": \"{it}\"}}\n")).collect();
    let folder = Folder::with("suite.yaml", suite)
        .and("rows.jsonl", rows)
        .and("replies.jsonl", "{\"reply\": \"hello\", \"times\": \"*\"}\n");
    let checked = folder.jurat(&["check", "suite.yaml"]);
    assert_eq!(checked.code, Some(0), "{}", checked.stderr);
    let counts = equal(&folder.path().join("suite.yaml"), &folder, &[PartSize::Rows(4)], &|it| it);
    assert!(counts[0] > 2, "{counts:?}");
}

/// A folder whose shards are planned.
fn planned(n: usize) -> Folder {
    let folder = claims(n);
    let ended = folder.jurat(&["shards", "suite.yaml", "--rows", "10", "-o", "parts"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    folder
}

fn shard(folder: &Folder, ix: usize) -> Ended {
    folder.jurat(&["run", "--shard", &format!("parts:{ix}"), "--quiet"])
}

#[track_caller]
fn refused(ended: &Ended, words: &str) {
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.stderr.contains(words), "{}", ended.stderr);
}

fn run_all(folder: &Folder) -> usize {
    let n = Shards::open(folder.path().join("parts")).expect("a plan").n();
    for ix in 0..n {
        let ended = shard(folder, ix);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    }
    n
}

#[test]
fn a_shard_that_is_done_is_not_run_again() {
    let folder = planned(25);
    let file = folder.path().join("parts/shards/00001.jurat");
    assert!(shard(&folder, 1).stdout.starts_with("shard 1: "));
    let bytes = fs::read(&file).expect("the shard");
    // Without its script it could not be run.
    fs::remove_file(folder.path().join("replies.jsonl")).expect("it is there");
    let again = shard(&folder, 1);
    assert_eq!((again.code, again.stdout.as_str()), (Some(0), "shard 1 was done before\n"), "{}", again.stderr);
    assert!(fs::read(&file).expect("the shard") == bytes);
}

#[test]
fn what_does_not_fit_a_plan_is_refused() {
    let folder = planned(25);
    refused(&shard(&folder, 99), "there is no shard 99");
    refused(&folder.jurat(&["run", "--shard", "nowhere:0"]), "has no plan of shards");
    refused(&folder.jurat(&["run", "--shard", "parts:0", "--filter", "true"]), "give it to `jurat shards`");
    refused(&folder.jurat(&["run", "--shard", "parts:0", "--limit", "3"]), "`--limit` cannot be used with shards");
    refused(&folder.jurat(&["run", "suite.yaml", "--engine", "local:2", "--budget-calls", "3"]), "`--budget-calls`");
    let other = folder.jurat(&["shards", "suite.yaml", "--rows", "3", "-o", "parts"]);
    refused(&other, "has another plan already");
    refused(&folder.jurat(&["merge", "parts"]), "no shard was run yet");

    // The suite of the plan is its copy.
    let folder = folder.and("suite.yaml", "suite: other\n");
    assert_eq!(shard(&folder, 0).code, Some(0));
    refused(&folder.jurat(&["merge", "parts"]), "2 of 3 shards are missing: 1, 2");

    let folder = folder.and("rows.jsonl", rows(26));
    refused(&shard(&folder, 1), "`rows.jsonl` changed since the shards were planned");

    let plan = folder.path().join("parts/plan.json");
    let text = fs::read_to_string(&plan).expect("the plan");
    let version = format!("\"version\": \"{}\"", env!("CARGO_PKG_VERSION"));
    fs::write(&plan, text.replace(&version, "\"version\": \"0.0.1\"")).expect("it can be written");
    refused(&shard(&folder, 1), "planned by jurat 0.0.1");
    fs::write(&plan, text.replace("\"repeat\": null", "\"repeat\": 2")).expect("it can be written");
    refused(&shard(&folder, 1), "does not match its hash");
}

#[test]
fn merging_checks_what_is_there() {
    let folder = planned(30);
    let n = run_all(&folder);
    let parts = folder.path().join("parts/shards");
    refused(&folder.jurat(&["merge", "parts", "--expect-rows", "31"]), "have 30 rows, and 31 were expected");
    let merged = folder.jurat(&["merge", "parts", "--expect-rows", "30"]);
    assert_eq!(merged.stdout, format!("parts/run.jurat: {n} shards, 30 rows\n"), "{}", merged.stderr);
    let bytes = fs::read(folder.path().join("parts/run.jurat")).expect("a run");

    // A doubled shard changes nothing, and merging again is free.
    fs::copy(parts.join("00001.jurat"), parts.join("00001-copy.jurat")).expect("it can be copied");
    let again = folder.jurat(&["merge", "parts"]);
    assert_eq!(again.stdout, format!("already exists: parts/run.jurat: {n} shards, 30 rows\n"));
    assert!(fs::read(folder.path().join("parts/run.jurat")).expect("a run") == bytes);

    // An altered one is an error that names case and task.
    let altered = altered_shard(&folder);
    fs::rename(altered, parts.join("00001-copy.jurat")).expect("it can be copied");
    refused(&folder.jurat(&["merge", "parts"]), "two runs of shard 1 differ: task `tone` of case `");
    fs::remove_file(parts.join("00001-copy.jurat")).expect("it is there");

    // Without a shard the run says so.
    fs::remove_file(parts.join("00000.jurat")).expect("it is there");
    let partial = folder.jurat(&["merge", "parts", "--partial", "-o", "partial.jurat"]);
    assert_eq!(partial.code, Some(0), "{}", partial.stderr);
    assert!(partial.stdout.contains("1 shard missing"), "{}", partial.stdout);
    let shown = folder.jurat(&["show", "partial.jurat"]);
    let missing = format!("1 of {n} shards are missing: 0");
    assert!(shown.stdout.contains(&missing), "{}", shown.stdout);

    // The directory stands for what is there.
    let so_far = folder.jurat(&["show", "parts"]);
    let done = format!("{} of {n} shards are done; run the command again to see more\n", n - 1);
    assert!(
        so_far.stdout.contains(&missing) && so_far.stdout.ends_with("saved in parts/partial.jurat\n"),
        "{}",
        so_far.stdout
    );
    assert_eq!(so_far.stderr, done);

    // A byte that changed is found.
    let damaged = parts.join("00002.jurat");
    let mut bytes = fs::read(&damaged).expect("the shard");
    let at = bytes.windows(9).position(|it| it[0] == 0xb5 && it[1] != 0).expect("it has values with checksums");
    bytes[at + 3] ^= 1;
    fs::write(&damaged, bytes).expect("it can be written");
    let ended = folder.jurat(&["merge", "parts", "--partial"]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
}

/// The same shard of the same plan, with other answers.
fn altered_shard(folder: &Folder) -> PathBuf {
    let file = folder.path().join("parts/shards/00001.jurat");
    let [aside, altered] = ["aside.jurat", "altered.jurat"].map(|it| folder.path().join(it));
    fs::rename(&file, &aside).expect("it can be moved");
    fs::write(folder.path().join("replies.jsonl"), REPLIES.replace("polite", "rude")).expect("it can be written");
    let ended = shard(folder, 1);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    fs::rename(&file, &altered).expect("it can be moved");
    fs::rename(&aside, &file).expect("it can be moved back");
    altered
}

#[test]
fn an_id_in_two_shards_is_an_error_that_names_both_places() {
    let suite = "\
suite: ids
records: rows.jsonl
tasks: [{ id: t, field_path: id, operator: is_not_empty }]
";
    // What stands in the first hundred rows is found before that.
    let row = |ix: usize| format!("{{\"id\": \"r{}\"}}\n", if ix == 125 { 3 } else { ix });
    let folder = Folder::with("suite.yaml", suite).and("rows.jsonl", (0..140).map(row).collect::<String>());
    let planned = folder.jurat(&["shards", "suite.yaml", "--rows", "50", "-o", "parts"]);
    assert_eq!(planned.code, Some(0), "{}", planned.stderr);
    run_all(&folder);
    let merged = folder.jurat(&["merge", "parts"]);
    refused(&merged, "row 4 of `rows.jsonl` and row 126 of `rows.jsonl` have the same id, `r3`");
    assert!(!folder.path().join("parts/run.jurat").exists());
}

#[test]
fn commands_say_the_same_about_a_merged_run() {
    let folder = planned(40);
    run_all(&folder);
    assert_eq!(folder.jurat(&["merge", "parts", "-o", "merged.jurat"]).code, Some(0));
    let one = folder.jurat(&["run", "suite.yaml", "--quiet", "--results-only", "--json"]);
    let [run] = runs(&folder).try_into().expect("one run");
    let of = |run: &str, arguments: &[&str]| {
        let arguments: Vec<&str> = arguments.iter().map(|it| if *it == "RUN" { run } else { it }).collect();
        let ended = folder.jurat(&arguments);
        assert!(matches!(ended.code, Some(0 | 1)), "{arguments:?}: {}", ended.stderr);
        ended.stdout
    };
    for arguments in [
        ["show", "RUN", "--failed", "--results-only", "--json"].as_slice(),
        &["show", "RUN", "--where", "task:tone=failed", "--results-only", "--json"],
        &["explain", "rows.jsonl:8", "tone", "--run", "RUN"],
        &["export", "RUN", "--to", "csv", "--results-only"],
    ] {
        let (one, merged) = (of(&run, arguments), of("merged.jurat", arguments));
        let name = Path::new(&run).file_stem().expect("a name").to_string_lossy().into_owned();
        let steady = |text: &str| timeless(&text.replace(&name, "RUN").replace("merged", "RUN"));
        let (one, merged) = (steady(&one), steady(&merged));
        assert!(one == merged, "{arguments:?}: {}", first_difference(&one, &merged));
    }
    let compared = folder.jurat(&["compare", &run, "merged.jurat"]);
    assert_eq!(compared.code, Some(0), "{}{}", compared.stdout, compared.stderr);
    assert!(!one.stdout.is_empty());
}

/// The files of the runs of a folder.
fn runs(folder: &Folder) -> Vec<String> {
    let entries = fs::read_dir(folder.path().join(".jurat/runs")).expect("runs");
    let mut runs: Vec<String> = entries.map(|it| it.expect("an entry").path().display().to_string()).collect();
    runs.sort();
    runs
}

#[test]
fn processes_of_this_machine_give_the_output_of_one() {
    let folder = claims(50);
    let results = ["run", "suite.yaml", "--quiet", "--results-only", "--json"];
    let one = folder.jurat(&results);
    let local = folder.jurat(&[results.as_slice(), &["--engine", "local:3"]].concat());
    assert_eq!(local.code, one.code, "{}", local.stderr);
    let (expected, found) = (timeless(&one.stdout), timeless(&local.stdout));
    assert!(expected == found, "{}", first_difference(&expected, &found));
    assert_eq!(runs(&folder).len(), 2);
    assert!(
        fs::read_dir(folder.path().join(".jurat/parts")).expect("it was made").next().is_none(),
        "shards are removed"
    );

    // With a directory they stay, and the same command is free.
    let named = [results.as_slice(), &["--engine", "local:2", "--out", "parts"]].concat();
    let first = folder.jurat(&named);
    fs::remove_file(folder.path().join("replies.jsonl")).expect("it is there");
    assert_eq!(first.code, one.code, "{}", first.stderr);
    assert!(folder.path().join("parts/run.jurat").is_file());
}

#[test]
fn programs_read_progress_as_lines_of_json() {
    let folder = claims(20);
    let last = |arguments: &[&str]| -> serde_json::Value {
        let ended = folder.jurat(arguments);
        let lines: Vec<serde_json::Value> =
            ended.stderr.lines().map(|it| serde_json::from_str(it).unwrap_or_else(|_| panic!("{it}"))).collect();
        lines.last().expect("there is a last line").clone()
    };
    let run = last(&["run", "suite.yaml", "--progress", "json"]);
    assert_eq!((&run["event"], &run["done"], &run["total"]), (&"ended".into(), &20.into(), &20.into()), "{run}");
    assert_eq!((&run["in_flight"], &run["version"]), (&0.into(), &1.into()), "{run}");
    assert!(run["requests"].as_u64().is_some_and(|it| it > 0) && run["elapsed_s"].is_number(), "{run}");
    let local = last(&["run", "suite.yaml", "--engine", "local:2", "--progress", "json"]);
    assert_eq!(local["shards_done"], local["shards"], "{local}");
    assert_eq!(folder.jurat(&["shards", "suite.yaml", "--rows", "100", "-o", "parts"]).code, Some(0));
    let shard = last(&["run", "--shard", "parts:0", "--progress", "json"]);
    assert_eq!((&shard["event"], &shard["done"]), (&"ended".into(), &20.into()), "{shard}");
    refused(&folder.jurat(&["run", "suite.yaml", "--progress", "json", "--quiet"]), "cannot be used with");
}

#[test]
fn engines_of_the_python_package_are_not_in_the_program() {
    let folder = claims(3);
    let on = |engine: &str| folder.jurat(&["run", "suite.yaml", "--engine", engine, "--out", "parts"]);
    for engine in ["ray", "spark", "ray://127.0.0.1:1"] {
        let name = &engine[..engine.find(':').unwrap_or(engine.len())];
        refused(&on(engine), &format!("`pip install 'jurat[{name}]'`"));
    }
    refused(&on("slurm"), "write `local:N` for N processes");
    refused(&folder.jurat(&["run", "suite.yaml", "--coordinator", "http://127.0.0.1:1"]), "`--coordinator` is for");
}

/// Rows that are each asked about once, by an endpoint that counts.
fn asked(endpoint: &Endpoint, n: usize) -> Folder {
    let suite = "\
suite: asked
records: rows.jsonl
models: { judge: openai/judge }
tasks:
  - id: tone
    judge: { prompt: 'tone of ${answer}', output: { label: { enum: [polite, rude] } } }
    field_path: label
    operator: equals
    expected_value: polite
";
    let keys = format!("OPENAI_BASE_URL={}\nOPENAI_API_KEY=sk-of-the-project\n", endpoint.url());
    let rows: String = (0..n).map(|it| format!("{{\"id\": \"r{it}\", \"answer\": \"answer {it}\"}}\n")).collect();
    Folder::with("suite.yaml", suite).and("rows.jsonl", rows).and(".env", keys)
}

fn started(folder: &Folder, arguments: &[&str]) -> Child {
    let mut command = folder.command();
    command.args(arguments);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts")
}

/// What of a shard is left when its process is killed.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Left {
    Everything,
    /// Its segments alone: the run was written on a disk that is lost.
    Segments,
    /// Another process runs the shard at the same time.
    Copy,
}

const ROWS: usize = 24;
const IN_FLIGHT: u64 = 2;

/// Runs a shard, kills its process when the endpoint has given this many answers, and runs it again. Returns how many requests were made in all.
fn killed_after(n_answers: u64, left: Left) -> u64 {
    let endpoint = Endpoint::start(Script::new().held());
    let folder = asked(&endpoint, ROWS);
    let plan = started(&folder, &["shards", "suite.yaml", "--rows", "100", "-o", "parts"]).wait();
    assert_eq!(plan.expect("it ends").code(), Some(0));
    let run = ["run", "--shard", "parts:0", "--quiet", "-j", "2"];
    let mut first = started(&folder, &run);
    for n in 0..n_answers {
        endpoint.wait_until(|it| it.requests > n);
        endpoint.release(1);
    }
    endpoint.wait_until(|it| it.requests > n_answers);
    wait_until(|| answers_in_segments(&folder) >= n_answers);
    let copy = (left == Left::Copy).then(|| {
        let copy = started(&folder, &run);
        endpoint.wait_until(|it| it.requests > n_answers + IN_FLIGHT);
        copy
    });
    first.kill().expect("it runs");
    first.wait().expect("it ends");
    if left == Left::Segments {
        for file in fs::read_dir(folder.path().join("parts/shards")).expect("it is there") {
            fs::remove_file(file.expect("an entry").path()).expect("it can be removed");
        }
    }
    endpoint.release_all();
    let again = copy.unwrap_or_else(|| started(&folder, &run)).wait().expect("it ends");
    assert_eq!(again.code(), Some(0));
    let merged = folder.jurat(&["merge", "parts", "--expect-rows", "24"]);
    assert_eq!(merged.code, Some(0), "{}", merged.stderr);
    let run = Run::open(folder.path().join("parts/run.jurat")).expect("a run");
    assert_eq!(run.answers(), (ROWS as u64, 0), "what an earlier attempt paid for counts as paid");
    // What the shard was answered is of use to the whole project.
    let added = folder.jurat(&["journal", "add", "parts"]);
    assert!(added.stdout.starts_with(&format!("{ROWS} answers added, 0 known, from ")), "{added:?}");
    let asked_before = endpoint.stats().requests;
    let again = folder.jurat(&["run", "suite.yaml", "--quiet"]);
    assert!(matches!(again.code, Some(0 | 1)), "{again:?}");
    assert_eq!(endpoint.stats().requests, asked_before, "every answer is in the journal");
    assert!(folder.jurat(&["journal", "merge", "parts"]).stdout.starts_with("0 answers added, "));
    asked_before
}

#[track_caller]
fn paid_twice(n_answers: u64, left: Left) {
    let twice = killed_after(n_answers, left) - ROWS as u64;
    assert!(twice <= IN_FLIGHT, "killed after {n_answers} answers, {left:?}: {twice} were paid for twice");
}

/// How often each test kills; `cargo xtask scale --kills N` sets it.
fn n_trials() -> u64 {
    std::env::var("JURAT_KILL_TRIALS").ok().and_then(|it| it.parse().ok()).unwrap_or(3)
}

/// When the process is killed in each trial: spread over all answers, and the same every time.
fn points(n_rows: usize) -> impl Iterator<Item = u64> {
    (0..n_trials()).map(move |trial| 1 + (trial * 7) % (n_rows as u64 - 3))
}

#[test]
fn kill_trials_of_a_shard_pay_for_nothing_twice_but_what_was_in_flight() {
    points(ROWS).for_each(|it| paid_twice(it, Left::Everything));
}

#[test]
fn kill_trials_of_a_shard_whose_disk_is_lost_find_its_answers_in_its_segments() {
    points(ROWS).for_each(|it| paid_twice(it, Left::Segments));
}

#[test]
fn kill_trials_of_processes_of_this_machine_pay_for_nothing_twice_but_what_was_in_flight() {
    for n_answers in points(ROWS) {
        let endpoint = Endpoint::start(Script::new().held());
        let folder = asked(&endpoint, ROWS);
        let mut driver =
            started(&folder, &["run", "suite.yaml", "--engine", "local:4", "-j", "4", "--quiet", "--out", "parts"]);
        for n in 0..n_answers {
            endpoint.wait_until(|it| it.requests > n);
            endpoint.release(1);
            endpoint.wait_until(|it| it.answers > n);
        }
        endpoint.wait_until(|it| it.requests > n_answers);
        // An answer that is not written yet is as good as in flight.
        wait_until(|| answers_in_journal(&folder) >= n_answers);
        let worker = worker_of(driver.id()).expect("a worker runs");
        // It may have ended since; then nothing is paid for twice.
        let _ = rustix::process::kill_process(worker, rustix::process::Signal::KILL);
        endpoint.release_all();
        let code = driver.wait().expect("it ends").code();
        assert!(matches!(code, Some(0 | 1)), "{code:?}");
        // Each process has one request in flight.
        let twice = endpoint.stats().requests - ROWS as u64;
        assert!(twice <= 1, "killed after {n_answers} answers: {twice} were paid for twice");
        let run = Run::open(folder.path().join("parts/run.jurat")).expect("a run");
        assert_eq!(run.case_counts().total(), ROWS as u64);
    }
}

#[test]
fn a_second_process_for_a_shard_finds_the_answers_of_the_first() {
    paid_twice(12, Left::Copy);
}

/// How many answers are in the segments of a plan.
fn answers_in_segments(folder: &Folder) -> u64 {
    let files = segment_files(&folder.path().join("parts/journal/00000")).expect("a directory");
    let count = |path: &PathBuf| SegmentReader::open(path).expect("a file").map_or(0, |it| it.flatten().count() as u64);
    files.iter().map(count).sum()
}

/// How many answers are in the journal of the project.
fn answers_in_journal(folder: &Folder) -> u64 {
    let count = || -> rusqlite::Result<u64> {
        let path = folder.path().join(".jurat/journal.db");
        let connection = rusqlite::Connection::open_with_flags(path, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        connection.query_row("SELECT count(*) FROM answer", [], |row| row.get(0))
    };
    count().unwrap_or(0)
}

fn wait_until(is_so: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < Duration::from_secs(120), "the answers are not written");
        std::thread::yield_now();
    }
}

#[test]
fn a_worker_that_is_killed_is_started_again() {
    const ROWS: usize = 16;
    let endpoint = Endpoint::start(Script::new().held());
    let folder = asked(&endpoint, ROWS);
    let mut driver =
        started(&folder, &["run", "suite.yaml", "--engine", "local:2", "-j", "2", "--quiet", "--out", "parts"]);
    endpoint.wait_until(|it| it.requests >= 2);
    let worker = worker_of(driver.id()).expect("a worker runs");
    rustix::process::kill_process(worker, rustix::process::Signal::KILL).expect("it runs");
    endpoint.wait_until(|it| it.requests >= 3);
    endpoint.release_all();
    let code = driver.wait().expect("it ends").code();
    assert!(matches!(code, Some(0 | 1)), "{code:?}");
    assert!(endpoint.stats().requests <= ROWS as u64 + 2, "{}", endpoint.stats().requests);
    let run = Run::open(folder.path().join("parts/run.jurat")).expect("a run");
    assert_eq!(run.case_counts().total(), ROWS as u64);
}

#[test]
fn an_interrupted_command_is_resumed_by_the_same_command() {
    const ROWS: usize = 16;
    let endpoint = Endpoint::start(Script::new().held());
    let folder = asked(&endpoint, ROWS);
    let arguments = ["run", "suite.yaml", "--engine", "local:2", "-j", "2", "--quiet"];
    let mut driver = started(&folder, &arguments);
    endpoint.wait_until(|it| it.requests >= 2);
    let pid = rustix::process::Pid::from_child(&driver);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("it runs");
    endpoint.release_all();
    assert_eq!(driver.wait().expect("it ends").code(), Some(130));
    let again = started(&folder, &arguments).wait().expect("it ends").code();
    assert!(matches!(again, Some(0 | 1)), "{again:?}");
    assert_eq!(endpoint.stats().requests, ROWS as u64, "what was in flight was finished");
}

/// What a process of another machine writes into a directory whose shards it runs.
fn held_elsewhere(folder: &Folder, seen_ms: u64) {
    let held = format!(r#"{{"host":"elsewhere","process":17,"since_ms":0,"seen_ms":{seen_ms}}}"#);
    fs::write(folder.path().join("parts/driver.lock"), held).expect("written");
}

#[test]
fn a_directory_that_another_machine_has_is_taken_over_only_when_it_was_silent_and_only_on_request() {
    let folder = claims(12);
    let arguments = ["run", "suite.yaml", "--engine", "local:2", "--quiet", "--out", "parts"];
    let taking = [arguments.as_slice(), &["--take-over"]].concat();
    fs::create_dir(folder.path().join("parts")).expect("a directory");
    let there = "another process (process 17 on elsewhere since 1970-01-01T00:00:00Z) runs the shards of `parts`";
    held_elsewhere(&folder, u64::MAX);
    for arguments in [arguments.as_slice(), &taking] {
        let ended = folder.jurat(arguments);
        refused(&ended, there);
        assert!(!ended.stderr.contains("--take-over"), "{}", ended.stderr);
    }
    held_elsewhere(&folder, 0);
    let ended = folder.jurat(&arguments);
    assert!(ended.stderr.contains(there) && ended.stderr.contains("`--take-over` continues"), "{}", ended.stderr);
    assert!(matches!(folder.jurat(&taking).code, Some(0 | 1)));
    // It says that it is gone, so that another machine can begin at once.
    let left = fs::read_to_string(folder.path().join("parts/driver.lock")).expect("a file");
    assert_eq!(left, "");
}

/// A child of a process.
fn worker_of(parent: u32) -> Option<rustix::process::Pid> {
    let children = fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).unwrap_or_default();
    let of_threads = || {
        let threads = fs::read_dir(format!("/proc/{parent}/task")).ok()?;
        let read = |it: fs::DirEntry| fs::read_to_string(it.path().join("children")).unwrap_or_default();
        Some(threads.filter_map(|it| Some(read(it.ok()?))).collect::<String>())
    };
    let all = children + " " + &of_threads().unwrap_or_default();
    let pid = all.split_whitespace().next()?.parse().ok()?;
    rustix::process::Pid::from_raw(pid)
}
