//! `jurat plan`: what a run would do, compared with what runs do.

use jurat_format::value::{Val, Value, parse_json};
use jurat_testkit::{Endpoint, Reply, Request, Script, Usage};

use crate::command::{Folder, ended};
use crate::stored::{GREETINGS, greetings, refused, said};

/// A folder with a suite and its scripts.
fn scripted(suite: impl AsRef<[u8]>, scripts: &[&str]) -> Folder {
    let reply = "{\"reply\": \"yes\"}\n";
    scripts.iter().fold(Folder::with("suite.yaml", suite), |folder, name| folder.and(name, reply))
}

/// The last lines of a plan: cases, calls, money.
fn bounds(folder: &Folder, arguments: &[&str]) -> String {
    let text = said(folder, &[&["plan"], arguments].concat());
    text.rsplit("\n\n").next().unwrap_or_default().to_owned()
}

/// A member of a plan as JSON.
fn planned(folder: &Folder, key: &str) -> Value {
    let ended = folder.jurat(&["plan", "suite.yaml", "--json"]);
    let plan = parse_json(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}")).value.into_owned();
    plan.get(key).cloned().unwrap_or(Val::Null)
}

#[test]
fn a_plan_says_what_runs_after_what() {
    assert_eq!(
        said(&greetings(), &["plan", "suite.yaml"]),
        "greetings: 4 tasks in 3 stages\n\
         \n\
         stage task kind gate after asks calls compares\n\
         1 is_english assert gate language equals `en`\n\
         1 short assert answer has_length_less_than 20\n\
         2 greets assert is_english answer contains `Hello`\n\
         3 tone judge greets script/replies.jsonl 4 label equals `polite`\n\
         \n\
         is_english (gate)\n\
         └─ greets\n\
         └─ tone\n\
         short\n\
         \n\
         3 cases from rows.jsonl\n\
         at most 8 calls of models, 4 a case\n\
         at most $0\n"
    );
}

#[test]
fn every_format_draws_the_graph() {
    let folder = greetings();
    for (format, beginning) in
        [("mermaid", "flowchart"), ("dot", "digraph"), ("svg", "<svg"), ("json", "{\"version\":1,")]
    {
        let rendered = said(&folder, &["plan", "suite.yaml", "--format", format]);
        assert!(rendered.starts_with(beginning), "{format}: {rendered}");
        for task in ["is_english", "short", "greets", "tone"] {
            assert!(rendered.contains(task), "{format} does not draw `{task}`");
        }
    }
    assert_eq!(
        said(&folder, &["plan", "suite.yaml", "--json"]),
        said(&folder, &["plan", "suite.yaml", "--format", "json"])
    );
    assert!(!folder.path().join(".jurat").exists(), "a plan writes nothing");
}

#[test]
fn cases_are_counted_as_a_run_selects_them() {
    let rows = "records: [{ id: a, n: 1, tags: [odd] }, { id: b, n: 2 }, { id: c, n: 3, tags: [odd] }]\n";
    let tasks = "tasks: [{ id: few, on: [a, b], judge: { prompt: '${n}' }, operator: exists }]\n";
    let suite = format!("suite: rows\nmodels: {{ judge: script/none.jsonl }}\n{rows}{tasks}");
    let folder = scripted(suite, &["none.jsonl"]);
    for (more, cases, calls) in [
        (vec![], "3 cases", "8 calls"),
        (vec!["--limit", "2"], "2 cases", "8 calls"),
        (vec!["--filter", "n > 1"], "2 cases", "4 calls"),
        (vec!["--tag", "odd"], "2 cases", "4 calls"),
        (vec!["--filter", "n > 9"], "0 cases", "0 calls"),
    ] {
        assert_eq!(
            bounds(&folder, &[&["suite.yaml"], more.as_slice()].concat()),
            format!("{cases} from records\nat most {calls} of models, 4 a case\nat most $0\n"),
            "{more:?}"
        );
    }
    assert_eq!(
        refused(&folder, &["plan", "suite.yaml", "--repeat", "2"]),
        "error: `--repeat` asks the subject several times, and this suite asks no subject: its answers are recorded. To ask a judge \
         several times, give it `repeat`"
    );
    assert_eq!(refused(&folder, &["plan", "suite.yaml", "--filter", "m > 1"]).split(':').next(), Some("error"));
}

#[test]
fn each_prompt_subject_repetition_and_slot_is_counted() {
    let suite = "\
suite: matrix
records: [{ id: a, q: Why? }, { id: b, q: How? }]
models: { subject: [script/one.jsonl, script/two.jsonl], one: script/x.jsonl, two: script/y.jsonl }
ask: { prompts: { brief: 'In a word: ${q}', long: 'At length: ${q}' }, max_retries: 1 }
tasks:
  - { id: good, judge: { panel: [one, two], repeat: 3, max_retries: 2, prompt: '${output}', aggregate: majority }, operator: exists }
";
    let folder = scripted(suite, &["one.jsonl", "two.jsonl", "x.jsonl", "y.jsonl"]);
    // 2 rows, 2 prompts, 2 subjects, 2 repetitions; 2 calls of the subject, 2 judges asked 3 times, each 3 requests at most.
    assert_eq!(
        bounds(&folder, &["suite.yaml", "--repeat", "2"]),
        "16 cases from records\n\
         asks script/one.jsonl, script/two.jsonl with 2 prompts, at most 2 calls a case\n\
         at most 320 calls of models, 20 a case\n\
         at most $0\n"
    );
}

/// Rows judged twice: a category, and an expert behind a gate on the category.
fn paid(endpoint: &Endpoint, settings: &str) -> Folder {
    let suite = format!(
        "\
suite: paid
records: [{{ id: a, answer: soup }}, {{ id: b, answer: tiles }}, {{ id: c, answer: salad }}]
models: {{ judge: {{ model: openai/small, base_url: '{}', api_key_env: PAID_KEY{settings} }} }}
tasks:
  - {{ id: sort, judge: {{ prompt: 'Sort: ${{answer}}', output: {{ label: {{ enum: [food, other] }} }} }}, field_path: label, operator: exists }}
  - {{ id: is_food, depends_on: [sort], condition: true, field_path: sort.label, operator: equals, expected_value: food }}
  - id: taste
    depends_on: [is_food]
    judge: {{ prompt: 'Taste: ${{answer}}', output: {{ label: {{ enum: [good, bad] }} }} }}
    field_path: label
    operator: exists
",
        endpoint.url()
    );
    Folder::with("suite.yaml", suite)
}

const PRICED: &str = ", max_tokens: 100, price: { input: 1, output: 2 }";

fn run(folder: &Folder, more: &[&str]) {
    let run = ended(folder.command().args(["run", "suite.yaml"]).args(more).env("PAID_KEY", "sk-0"));
    assert_eq!(run.code, Some(0), "{run:?}");
}

fn tokens(input: u64, output: u64) -> Usage {
    Usage { input, output, cached: 0, reasoning: 0 }
}

/// What a cook would say.
fn cook(request: &Request) -> Reply {
    let asked = &request.conversation[0].1;
    let label = match asked {
        it if it.contains("Taste") => "good",
        it if it.contains("tiles") => "other",
        _ => "food",
    };
    Reply::json(serde_json::json!({ "label": label })).usage(tokens(40, 5))
}

#[test]
fn the_journal_is_followed_as_deep_as_it_goes() {
    let endpoint = Endpoint::start(Script::answering(cook));
    let folder = paid(&endpoint, PRICED);
    let at_most = |folder: &Folder| {
        let text = bounds(folder, &["suite.yaml"]);
        text.rsplit_once("at most $").map(|(text, _)| text.to_owned()).expect("money")
    };
    let fresh = "3 cases from records\nat most 24 calls of models, 8 a case\n";
    assert_eq!(at_most(&folder), fresh);
    run(&folder, &["--limit", "1"]);
    // Both judges of the first case have answered.
    assert_eq!(at_most(&folder), format!("{fresh}the journal has 2 answers; at most 16 calls are left\n"));
    run(&folder, &[]);
    // The second case has a gate that closed, so that its expert is never asked.
    assert_eq!(
        bounds(&folder, &["suite.yaml"]),
        format!("{fresh}the journal has 5 answers; at most 0 calls are left\nat most $0\n")
    );
    assert_eq!(endpoint.stats().requests, 5);
    run(&folder, &[]);
    assert_eq!(endpoint.stats().requests, 5, "as the plan said, no model is asked");
    // Another question has no answer yet; the one it depends on has.
    let suite = std::fs::read_to_string(folder.path().join("suite.yaml")).expect("the suite");
    let folder = folder.and("suite.yaml", suite.replace("Taste:", "How good is it:"));
    assert_eq!(at_most(&folder), format!("{fresh}the journal has 3 answers; at most 8 calls are left\n"));
}

#[test]
fn requests_in_batches_are_bounded_at_half_the_price() {
    let endpoint = Endpoint::start(Script::answering(cook));
    let usd = |folder: &Folder, more: &[&str]| {
        let text = said(folder, &[&["plan", "suite.yaml", "--json"], more].concat());
        let plan: serde_json::Value = serde_json::from_str(&text).expect("a plan is JSON");
        plan["max_cost_usd"].as_f64().unwrap_or_else(|| panic!("{text}"))
    };
    let folder = paid(&endpoint, PRICED);
    let whole = usd(&folder, &[]);
    assert!(whole > 0.0 && (usd(&folder, &["--batch"]) - whole / 2.0).abs() < 1e-9, "{whole}");
    // A provider without batches is paid in full.
    let suite = std::fs::read_to_string(folder.path().join("suite.yaml")).expect("the suite");
    let folder = folder.and("suite.yaml", suite.replace("openai/small", "groq/small"));
    assert_eq!(usd(&folder, &[]), usd(&folder, &["--batch"]));
    // Writing into the provider's cache may cost more than reading, and a marked prompt may be written as a whole.
    let marked = "messages: [{ role: user, content: 'Sort: ${answer}', prompt_cache: true }]";
    let priced = ", max_tokens: 100, price: { input: 1, output: 2, cache_write: 1.25 }";
    let plain = paid(&endpoint, priced);
    let suite = std::fs::read_to_string(plain.path().join("suite.yaml")).expect("the suite");
    let cached = paid(&endpoint, priced).and("suite.yaml", suite.replace("prompt: 'Sort: ${answer}'", marked));
    assert!(usd(&cached, &[]) > usd(&plain, &[]));
}

#[test]
fn no_run_makes_more_calls_or_costs_more() {
    // Every answer is invalid at first: judges are asked again until one request is left.
    let script = Script::answering(|request: &Request| {
        let is_late = request.conversation.len() > 5;
        if is_late { cook(request) } else { Reply::text("[1, 2, 3]").usage(tokens(90, 100)) }
    });
    let endpoint = Endpoint::start(script);
    for folder in [paid(&endpoint, PRICED), asked(&endpoint)] {
        let number = |key: &str| planned(&folder, key).as_f64().unwrap_or_else(|| panic!("`{key}` is no number"));
        let (calls, usd) = (number("max_calls_left"), number("max_cost_usd"));
        endpoint.reset();
        run(&folder, &[]);
        let report = folder.jurat(&["show", "--json"]).stdout;
        let report = parse_json(&report).unwrap_or_else(|error| panic!("{error}")).value;
        let cost = report.get("results").and_then(|it| it.get("cost_usd")).and_then(Val::as_f64).expect("a cost");
        let requests = endpoint.stats().requests as f64;
        assert!(requests >= 10.0 && requests <= calls, "{requests} calls, {calls} planned");
        assert!(cost > 0.0 && cost <= usd, "${cost} spent, ${usd} planned");
        assert_eq!((number("max_calls_left"), number("max_cost_usd")), (0.0, 0.0), "now the journal has it all");
    }
}

/// A subject that is asked, and a judge of what it answers.
fn asked(endpoint: &Endpoint) -> Folder {
    let model = |name: &str| {
        format!("{{ model: openai/{name}, base_url: '{}', api_key_env: PAID_KEY{PRICED} }}", endpoint.url())
    };
    let suite = format!(
        "\
suite: asked
records: [{{ id: a, q: soup }}, {{ id: b, q: tiles }}]
models: {{ subject: {}, judge: {} }}
ask: {{ prompt: 'Sort: ${{q}}' }}
tasks:
  - {{ id: good, judge: {{ prompt: 'Sort: ${{input}} ${{output}}', output: {{ label: {{ enum: [food, other] }} }} }}, field_path: label, operator: exists }}
",
        model("small"),
        model("large")
    );
    Folder::with("suite.yaml", suite)
}

#[test]
fn what_a_bound_needs_is_named() {
    let endpoint = Endpoint::start(Script::new());
    for (settings, reasons) in [
        ("", "`openai/small` has no price; `openai/small` has no `max_tokens`"),
        (", max_tokens: 100", "`openai/small` has no price"),
        (", price: { input: 1, output: 2 }", "`openai/small` has no `max_tokens`"),
    ] {
        let folder = paid(&endpoint, settings);
        let text = bounds(&folder, &["suite.yaml"]);
        assert!(text.ends_with(&format!("\nno bound for the cost: {reasons}\n")), "{text}");
        assert_eq!(planned(&folder, "max_cost_usd"), Val::Null);
    }
    assert_eq!(endpoint.stats().requests, 0, "no model is asked, and no key is needed");
}

#[test]
fn rows_of_standard_input_are_not_counted() {
    let suite = GREETINGS.replace("rows.jsonl", "'-'");
    let folder = greetings().and("suite.yaml", suite);
    assert_eq!(
        bounds(&folder, &["suite.yaml"]),
        "cases from standard input\n\
         at most 4 calls of models a case\n\
         no bound for the cost: how many rows come on standard input is not known\n"
    );
}

#[test]
fn what_would_stop_a_run_stops_a_plan() {
    // More rows than are looked at beforehand.
    let mut rows: String =
        (0..150).map(|ix| format!("{{\"id\": \"r{ix}\", \"language\": \"en\", \"answer\": \"\"}}\n")).collect();
    rows += "{\"id\":\n";
    let folder = greetings().and("rows.jsonl", rows);
    assert_eq!(
        refused(&folder, &["plan", "suite.yaml"]),
        "error: row 151 of `rows.jsonl`: EOF while parsing a value (line 151, column 6)"
    );
    assert_eq!(
        refused(&greetings(), &["plan", "suite.yaml", "--model", "jugde=script/replies.jsonl"]),
        "error: no task uses the role `jugde`, which `--model` sets; the suite uses `judge`; did you mean `judge`?"
    );
    assert_eq!(greetings().jurat(&["plan", "none.yaml"]).code, Some(2));
}

/// A scenario whose paths part and meet again this many times.
fn diamonds(n: usize) -> String {
    let mut nodes = format!("      top{n}: {{ question: The end }}\n");
    let mut edges = format!("      - {{ from: top{n}, to: __end__ }}\n");
    for ix in 0..n {
        let below = ix + 1;
        for name in ["top", "left", "right"] {
            nodes += &format!("      {name}{ix}: {{ question: At {name}, raw_answer: x }}\n");
        }
        edges += &format!("      - {{ from: top{ix}, to: left{ix}, when: {{ verify_result: true }} }}\n");
        edges += &format!("      - {{ from: top{ix}, to: right{ix} }}\n");
        edges +=
            &format!("      - {{ from: left{ix}, to: top{below} }}\n      - {{ from: right{ix}, to: top{below} }}\n");
    }
    let outcomes = "    outcomes: { done: { status_is: completed } }\n";
    format!(
        "suite: maze\nmodels: {{ subject: script/none.jsonl }}\nscenarios:\n  maze:\n    entry: top0\n    turn_limit: 500\n    nodes:\n{nodes}    edges:\n{edges}{outcomes}"
    )
}

/// Following each way by itself would take longer than the sun shines.
#[test]
fn ways_that_part_and_meet_again_are_followed_once() {
    let folder = scripted(diamonds(60), &["none.jsonl"]);
    let plan = said(&folder, &["plan", "suite.yaml"]);
    // 60 times a top and a side, and the last top; each is asked four times at most.
    assert!(plan.contains(&format!("at most {} calls of models", (60 * 2 + 1) * 4)), "{plan}");
}
