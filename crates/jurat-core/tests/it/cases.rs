//! The order in which outcomes arrive never changes a verdict.

use std::path::Path;

use jurat_core::case::CaseState;
use jurat_core::effect::{Answer, Fault, FaultKind, Outcome, StepSite};
use jurat_core::plan::{Plan, Samples};
use jurat_core::suite::load;
use jurat_core::verdict::StopReason;
use jurat_format::value::{Val, parse_json};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::InMemory;

/// One task: what it depends on among the ones before it, whether it is a gate, and whether it asks judges, and how many.
#[derive(Debug, Clone)]
struct Rendered {
    depends_on: Vec<bool>,
    gate: u8,
    judges: u8,
    wanted: bool,
}

fn tasks() -> impl Strategy<Value = Vec<Rendered>> {
    let rendered = (vec(any::<bool>(), 0..8), 0_u8..6, 0_u8..4, any::<bool>());
    vec(rendered.prop_map(|(depends_on, gate, judges, wanted)| Rendered { depends_on, gate, judges, wanted }), 1..8)
}

fn plan(tasks: &[Rendered]) -> Plan {
    let mut text = "records: [{n: 1}]\ntasks:\n".to_owned();
    for (ix, task) in tasks.iter().enumerate() {
        let depends: Vec<String> = task
            .depends_on
            .iter()
            .take(ix)
            .enumerate()
            .filter(|(_, it)| **it)
            .map(|(on, _)| format!("t{on}"))
            .collect();
        text += &format!("  - id: t{ix}\n    depends_on: [{}]\n", depends.join(", "));
        text += match task.gate {
            0 => "    condition: true\n",
            1 => "    required: true\n",
            _ => "",
        };
        if task.judges > 0 {
            text += &format!(
                "    judge: {{ prompt: 'Judge ${{n}}', repeat: {}, max_retries: 1, aggregate: all }}\n",
                task.judges
            );
            text += &format!("    field_path: ok\n    operator: equals\n    expected_value: {}\n", task.wanted);
        } else {
            text += &format!(
                "    field_path: n\n    operator: equals\n    expected_value: {}\n",
                if task.wanted { 1 } else { 2 }
            );
        }
    }
    let loaded = load(Path::new("suite.yaml"), &InMemory(&[("suite.yaml", &text)]));
    assert_eq!(loaded.problems, [], "{text}");
    let samples = Samples { is_partial: true, ..Samples::default() };
    Plan::build(&loaded.suite, &samples).unwrap_or_else(|problems| panic!("{problems:?}\n{text}")).0
}

/// What the world answers depends on the request alone.
fn outcome(site: StepSite, seed: u64) -> Outcome {
    let mixed = seed
        .wrapping_add(
            u64::from(site.asker.task().map_or(0, |it| it.0)) * 1_000_003
                + u64::from(site.slot) * 10_007
                + u64::from(site.turn) * 101,
        )
        .wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let text = match (mixed >> 60) % 8 {
        0 => return Outcome::Fault(Box::new(Fault::new(FaultKind::Connect, "down", 1))),
        1 => return Outcome::NotRun(StopReason::Budget),
        2 | 3 => "no JSON",
        4 => "{\"ok\": false}",
        _ => "{\"ok\": true}",
    };
    Outcome::Answer(Box::new(Answer::new(text)))
}

/// Runs a case, each time choosing one of the open requests.
fn verdicts(plan: &Plan, base: &Val<'_>, seed: u64, mut choose: impl FnMut(usize) -> usize) -> Vec<String> {
    let mut state = CaseState::start(plan, base);
    loop {
        let open: Vec<StepSite> = state.steps().map(|it| it.site).collect();
        let Some(site) = open.get(choose(open.len().max(1)) % open.len().max(1)).copied() else { break };
        state.apply(site, outcome(site, seed));
        // An outcome that comes again changes nothing.
        state.apply(site, Outcome::NotRun(StopReason::Interrupted));
    }
    assert!(state.is_done());
    state.verdicts().map(|it| format!("{:?}", it.expect("done"))).collect()
}

proptest! {
    #![proptest_config(crate::laws())]

    #[test]
    fn any_order_gives_the_same_verdicts(tasks in tasks(), seed in any::<u64>(), choices in vec(any::<usize>(), 1..20)) {
        let plan = plan(&tasks);
        let base = parse_json("{\"n\": 1}").unwrap().value;
        let in_order = verdicts(&plan, &base, seed, |_| 0);
        let backwards = verdicts(&plan, &base, seed, |n| n - 1);
        let mut next = choices.iter().cycle();
        let shuffled = verdicts(&plan, &base, seed, |_| *next.next().unwrap_or(&0));
        prop_assert_eq!(&in_order, &backwards);
        prop_assert_eq!(&in_order, &shuffled);
    }
}
