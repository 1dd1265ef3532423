//! What allocates, counted. A program of its own, because counting replaces the allocator of the whole program.
//!
//! A run of a million records does the same few things a million times. Those that need no memory must not ask for any.

use std::path::Path;

use allocation_counter::measure;
use jurat_compare::{Assertion, Judgement};
use jurat_core::outcome::{Relation, TurnFilter, Wanted, all_of, all_turns, any_turn_of, count_turns, not, status_is};
use jurat_core::plan::{Plan, Samples};
use jurat_core::suite::load;
use jurat_format::source::{Files, ReadError};
use jurat_format::value::{Context, FieldPath, Val, parse_json};

const SCENARIO: &str = include_str!("../benches/compare/scenario.json").trim_ascii_end();

const RECORD: &str = include_str!("../benches/compare/record.json").trim_ascii_end();

/// Every simple comparison, each passing on the record.
const SIMPLE: &str = include_str!("../benches/compare/simple.yaml");

const TEN: &str = include_str!("../benches/compare/ten.yaml");

#[test]
fn a_simple_comparison_that_passes_allocates_nothing() {
    let record = parse_json(RECORD).unwrap().value;
    for task in plan(SIMPLE).tasks {
        let assertion = task.then.unwrap();
        let judge = |assertion: &Assertion| assertion.judge(Context::of(&record));
        // Regular expressions and their scratch space are made on first use.
        assert_eq!(judge(&assertion), Judgement::Passed, "{}", task.id);
        let n = allocations(|| judge(&assertion));
        assert_eq!(n, 0, "{}", task.id);
    }
}

#[test]
fn a_path_that_makes_nothing_allocates_nothing() {
    let record = parse_json(RECORD).unwrap().value;
    for path in ["id", "answer.text", "transcript[-1].text", "transcript[3].arguments.customer", "[\"tags\"]"] {
        let path = FieldPath::parse(path).unwrap();
        assert_eq!(allocations(|| path.find(&record)), 0, "{path}");
    }
    let made = FieldPath::parse("transcript[*].name").unwrap();
    assert!(allocations(|| made.find(&record)) > 0, "counting does not work");
}

#[test]
fn an_outcome_that_holds_allocates_nothing() {
    let scenario = parse_json(SCENARIO).unwrap().value;
    let right = TurnFilter { verify_result: Some(true), ..TurnFilter::default() };
    let outcome = all_of([
        status_is("completed"),
        all_turns([("verify_result", true.into()), ("parsed.confidence", Wanted::at_least(0.5))]),
        any_turn_of("challenge", [("usage.total_tokens", 602.into())]),
        not(count_turns(right).within(Relation::Lt, 8)),
    ]);
    assert_eq!(outcome.evaluate(&scenario), Ok(Val::Bool(true)), "{}", outcome.trace(&scenario));
    assert_eq!(allocations(|| outcome.evaluate(&scenario)), 0);
}

/// One allocation for each object and list that is read, and none for what they hold: text is borrowed.
#[test]
fn a_projection_allocates_its_spine() {
    let footprint = plan(TEN).footprint;
    // The record, `request`, `answer`, `metrics`, `citations`, `tags`; and the stack with which `serde_json` skips what is
    // nested, which it makes once for a record.
    assert_eq!(allocations(|| footprint.read(RECORD).unwrap()), 6 + 1);
}

fn allocations<T>(work: impl FnOnce() -> T) -> u64 {
    measure(|| drop(work())).count_total
}

fn plan(text: &'static str) -> Plan {
    let loaded = load(Path::new("suite.yaml"), &One(text));
    assert!(loaded.problems.is_empty(), "{:#?}", loaded.problems);
    let plan = Plan::build(&loaded.suite, &Samples { is_partial: true, ..Samples::default() });
    plan.expect("the suite has no errors").0
}

struct One(&'static str);

impl Files for One {
    fn read(&self, _: &Path, _: u64) -> Result<Vec<u8>, ReadError> {
        Ok(self.0.as_bytes().to_vec())
    }
}
