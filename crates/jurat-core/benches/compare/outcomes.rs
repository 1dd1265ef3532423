//! Outcomes over a scenario of ten turns: what is concluded once a conversation is over.

use std::hint::black_box;

use jurat_core::outcome::{
    Check, Relation, TurnFilter, Wanted, all_of, all_turns, any_turn_of, count_turns, status_is,
};
use jurat_format::value::{Val, parse_json};

use crate::Work;

/// The scenario: ten turns at two nodes, all of them right.
pub(crate) const SCENARIO: &str = include_str!("scenario.json").trim_ascii_end();

/// The parts that are measured: three that hold, the turns that they look at among them.
pub(crate) fn three_parts() -> Check {
    let right = TurnFilter { verify_result: Some(true), ..TurnFilter::default() };
    all_of([
        status_is("completed"),
        all_turns([("verify_result", true.into())]),
        all_of([
            any_turn_of("challenge", [("parsed.confidence", Wanted::at_least(0.9))]),
            count_turns(right).within(Relation::Gte, 8),
        ]),
    ])
}

pub(crate) fn works<'f>(check: &'f Check, evidence: &'f Val<'f>) -> Vec<Work<'f>> {
    let run = move |n| {
        for _ in 0..n {
            let outcome = black_box(check).evaluate(black_box(evidence));
            assert_eq!(outcome, Ok(Val::Bool(true)), "{}", check.trace(evidence));
        }
    };
    vec![Work { group: "scenario", name: "outcome_of_ten_turns".to_owned(), run: Box::new(run) }]
}

/// The scenario as it is read.
pub(crate) fn evidence() -> Val<'static> {
    parse_json(SCENARIO).expect("the scenario is JSON").value
}
