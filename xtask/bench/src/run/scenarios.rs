//! Conversations: what a turn costs, whether it costs more late in a conversation, and many conversations at once.
//!
//! Many conversations are one scenario that is repeated: reading ten thousand scenarios would measure the reading of YAML. Costs are slopes between
//! two sizes, so that starting and ending are not in them. Everything is stored, as always.

use std::path::PathBuf;
use std::time::Duration;

use super::figure::{Figure, Reference, Target, Unit, grouped};
use super::judges::counted;
use super::scratch::write;
use super::{Kit, Lines};
use crate::rounds::{least, median, ratio, spread};
use chores::chore::Failure;

/// The most microseconds of CPU that a turn may take.
const MOST_US: f64 = 100.0;

/// The most time, as a multiple of the bare load's.
const MOST_TIME: f64 = 1.05;

/// How many turns a conversation has where their cost is measured.
const TURNS: u64 = 6;

/// Conversations of these lengths, each twice the one before, say how the cost grows.
const LENGTHS: [u64; 3] = [75, 150, 300];

/// How many of each length: the cost of one drowns in noise.
const LONG_CONVERSATIONS: u64 = 20;

/// Many at once, as short as this, with an endpoint that takes its time.
const MANY: u64 = 200;
const SHORT: u64 = 3;
const AT_ONCE: u64 = 100;
const LATENCY: Duration = Duration::from_millis(100);

pub(super) fn measure(kit: &Kit, lines: &mut Lines) {
    for (name, has_parser) in [("a turn", false), ("a turn with a parser", true)] {
        let name = format!("scenarios: CPU of {name}");
        lines.add(&name, turns(kit, has_parser, &name));
    }
    lines.add("scenarios: growth with the length", lengths(kit));
    lines.add("scenarios: many at once", many(kit));
}

fn turns(kit: &Kit, has_parser: bool, name: &str) -> Result<Vec<Figure>, Failure> {
    let (sizes, n_rounds): ([u64; 2], usize) = if kit.is_quick { ([100, 1_000], 3) } else { ([1_000, 10_000], 3) };
    let directory = scripted(kit, TURNS, has_parser)?;
    let mut cpu_us = [Vec::new(), Vec::new()];
    for round in 1..=n_rounds {
        eprintln!("{name}: round {round} of {n_rounds}");
        for (size, costs) in sizes.iter().zip(&mut cpu_us) {
            costs.push(kit.jurat.converse(&kit.yardstick, &directory, *size, AT_ONCE)?.cost.cpu_us());
        }
    }
    let n_turns = (sizes[1] - sizes[0]) * TURNS;
    let per_turn = (least(&cpu_us[1]) - least(&cpu_us[0])) / n_turns as f64;
    let note = format!("from {} to {} conversations of {TURNS} turns", grouped(sizes[0]), grouped(sizes[1]));
    let figure = Figure::new(name, per_turn, Unit::Microseconds).note(note);
    // The target is about turns that ask one model.
    Ok(vec![if has_parser { figure } else { figure.target(Target::AtMost(MOST_US)) }])
}

/// What a turn costs in the second half of a long conversation, beside the first.
fn lengths(kit: &Kit) -> Result<Vec<Figure>, Failure> {
    let n_rounds = if kit.is_quick { 3 } else { 5 };
    let directories = LENGTHS.map(|it| scripted(kit, it, false));
    let mut cpu_us = [Vec::new(), Vec::new(), Vec::new()];
    for round in 1..=n_rounds {
        eprintln!("scenarios: growth with the length: round {round} of {n_rounds}");
        for (directory, costs) in directories.iter().zip(&mut cpu_us) {
            let directory = directory.as_ref().map_err(|it| Failure::new(it.message()))?;
            costs.push(kit.jurat.converse(&kit.yardstick, directory, LONG_CONVERSATIONS, AT_ONCE)?.cost.cpu_us());
        }
    }
    let [short, middle, long] = &cpu_us;
    let slope =
        |from: &[f64], to: &[f64], n_turns: u64| (least(to) - least(from)) / (n_turns * LONG_CONVERSATIONS) as f64;
    let early = slope(short, middle, LENGTHS[1] - LENGTHS[0]);
    let late = slope(middle, long, LENGTHS[2] - LENGTHS[1]);
    let reference =
        Reference { name: "turns 76 to 150".to_owned(), value: early, ratio: late / early, noise: Some(spread(short)) };
    Ok(vec![
        Figure::new("scenarios: CPU of a turn from the 151st to the 300th", late, Unit::Microseconds)
            .reference(reference)
            .note("each request has the whole conversation, and writing it is in the figure"),
    ])
}

fn many(kit: &Kit) -> Result<Vec<Figure>, Failure> {
    let n_rounds = 5;
    let endpoint = kit.yardstick.endpoint(LATENCY)?;
    let model = format!("{{ model: openai/yardstick, base_url: 'http://{}/v1' }}", endpoint.address());
    let directory = kit.scratch.directory("conversations")?;
    write(&directory.join("suite.yaml"), suite(SHORT, &model, None))?;
    let pair = |conversations: u64, at_once: u64| -> Result<(Duration, Duration), Failure> {
        let n_calls = conversations * SHORT;
        endpoint.reset()?;
        let load = kit.yardstick.load(&directory, &endpoint, n_calls, at_once)?;
        counted(&endpoint, n_calls, "the bare load")?;
        endpoint.reset()?;
        let run = kit.jurat.converse(&kit.yardstick, &directory, conversations, AT_ONCE)?;
        counted(&endpoint, n_calls, "`jurat run`")?;
        Ok((run.cost.wall, load.wall))
    };
    // What a run takes besides its calls is what one conversation takes besides its own.
    let mut startup = Duration::MAX;
    for _ in 0..n_rounds {
        let (ours, bare) = pair(1, 1)?;
        startup = startup.min(ours.saturating_sub(bare));
    }
    let (mut ours, mut bare) = (Vec::new(), Vec::new());
    for round in 1..=n_rounds {
        eprintln!("scenarios: many at once: round {round} of {n_rounds}");
        let (run, load) = pair(MANY, AT_ONCE)?;
        ours.push(run.saturating_sub(startup).as_secs_f64());
        bare.push(load.as_secs_f64());
    }
    let reference = Reference {
        name: "bare load".to_owned(),
        value: median(bare.clone()),
        ratio: ratio(&ours, &bare),
        noise: Some(spread(&bare)),
    };
    let name = format!("scenarios: {MANY} of {SHORT} turns, {AT_ONCE} at once: time net of start-up");
    let note =
        format!("start-up: {:.0} ms, what one conversation takes besides its calls", startup.as_secs_f64() * 1e3);
    Ok(vec![
        Figure::new(name, median(ours), Unit::Seconds).target(Target::Ratio(MOST_TIME)).reference(reference).note(note),
    ])
}

/// A directory with a conversation of so many turns whose models are scripts.
fn scripted(kit: &Kit, n_turns: u64, has_parser: bool) -> Result<PathBuf, Failure> {
    let name = format!("conversation-{n_turns}{}", if has_parser { "-parsed" } else { "" });
    let directory = kit.scratch.directory(&name)?;
    let parser = has_parser.then_some("script/parser.jsonl");
    write(&directory.join("suite.yaml"), suite(n_turns, "script/subject.jsonl", parser))?;
    write(&directory.join("subject.jsonl"), "{\"reply\": \"It is right: rain.\", \"times\": \"*\"}\n")?;
    write(&directory.join("parser.jsonl"), "{\"reply\": {\"weather\": \"rain\"}, \"times\": \"*\"}\n")?;
    Ok(directory)
}

/// A node that leads back to itself until the turns are over, with something to verify, to route by and to conclude.
fn suite(n_turns: u64, subject: &str, parser: Option<&str>) -> String {
    let parser_model = parser.map_or(String::new(), |it| format!("\n  parser: {it}"));
    let field = match parser {
        Some(_) => "weather: { type: string, description: The weather., ground_truth: rain }",
        None => "right: { verify_with: { type: TraceContains, substring: right } }",
    };
    format!(
        "\
suite: conversations
models:
  subject: {subject}{parser_model}
scenarios:
  weather:
    system: You talk about the weather.
    turn_limit: {n_turns}
    entry: ask
    nodes:
      ask:
        question: What is the weather like?
        template: {{ {field} }}
    edges:
      - {{ from: ask, to: ask, when: [{{ verify_result: true }}, {{ field: turn, verify_with: {{ type: NumericRange, max: {most} }} }}] }}
      - ask -> __end__
    outcomes:
      steady: {{ all_turns: {{ verify_result: true }} }}
      complete: {{ turn_count_eq: {n_turns} }}
",
        most = n_turns - 1,
    )
}
