//! Runs that stop when enough is known.

use jurat_store::Project;
use jurat_store::run::FinishState;

use super::*;
use crate::Definition;
use crate::stopping::{Wanted, watch};
use crate::stopping_record::StoppingRecord;

/// Rows of which every tenth fails, and a condition that this many rows decide long before the last.
fn suite(is_judged: bool, n_rows: usize, gates: &str) -> String {
    let said = |row: usize| if row.is_multiple_of(10) { "no" } else { "yes" };
    let tags = |row: usize| if row == 1 { ", tags: [sure]" } else { "" };
    let row = |row: usize| format!("{{ id: r{row:03}, said: {}{} }}", said(row), tags(row));
    let rows: Vec<String> = (0..n_rows).map(row).collect();
    let tasks = match is_judged {
        true => "[{ id: first, judge: { prompt: '${said}' }, operator: contains, expected_value: yes }]",
        false => "[{ id: first, field_path: said, operator: equals, expected_value: yes }]",
    };
    let models = "models: { judge: script/replies.yaml }\n";
    let rows = rows.join(", ");
    format!("records: [{rows}]\n{}tasks: {tasks}\n{gates}\n", if is_judged { models } else { "" })
}

const RATE: &str = "gates: { conditions: [{ id: rate, at_least: 0.7, expect: 0.9 }] }";

impl Bench {
    fn watch(&self, rules: &str, seed: u64) -> StopWatch {
        let definition = Definition { suite: &self.suite, sources: &self.sources, plan: &self.plan };
        let rules = rules.parse().expect("there are such rules");
        let selection = Selection::default();
        let wanted =
            Wanted { rules, is_certain: false, seed, base: None, earlier: None, variants: &[], selection: &selection };
        let project = Project::find_or_create(self.directory.path()).expect("it can be made");
        watch(definition, &wanted, &project).expect("it can be watched")
    }

    fn one_task(&self) -> RunHead {
        let mut head = self.head();
        head.tasks.truncate(1);
        head
    }

    /// A new run that asks and stops when enough is known.
    fn asked(&self, perform: &Scripted<'_>, stop: &Stop, watch: StopWatch) -> Ran {
        self.run_watched(asking(perform), Target::New(&self.path(), &self.one_task()), stop, Some(watch))
    }
}

fn sequential<'s>() -> Scripted<'s> {
    Scripted { is_sequential: true, ..Scripted::new(&|_| {}) }
}

fn record(path: &Path) -> StoppingRecord {
    let reader = RunReader::open(path).expect("the run can be read");
    StoppingRecord::of(reader.head()).expect("it was to stop early")
}

fn finish(path: &Path) -> FinishState {
    let state = RunReader::open(path).expect("the run can be read").state().expect("it has a state");
    state.finish.expect("it is over")
}

fn ids(path: &Path) -> Vec<String> {
    let reader = RunReader::open(path).expect("the run can be read");
    reader.cases(CaseIx::ALL).map(|it| it.expect("the case can be read").id).collect()
}

#[test]
fn a_run_stops_when_enough_is_known() {
    let bench = Bench::of(&suite(true, 100, RATE));
    let perform = sequential();
    let ran = bench.asked(&perform, &Stop::new(), bench.watch("decided", 7));
    assert_eq!(ran.stopped, Some(StopReason::Decided));
    let record = record(&ran.path);
    assert_eq!((record.rule.as_deref(), record.of), (Some("pass"), 100));
    assert!((10..90).contains(&record.steps), "{}", record.steps);
    // One case at a time: none was in flight when it stopped.
    assert_eq!((perform.n_asked() as u64, ids(&ran.path).len() as u64), (record.steps, record.steps));
    let FinishState { ended, resumable, .. } = finish(&ran.path);
    assert_eq!((ended, resumable), (Ended::Stopped(StopReason::Decided), false));
}

#[test]
fn rows_run_in_an_order_that_the_seed_fixes() {
    let bench = Bench::of(&suite(true, 40, RATE));
    let stored = |seed: u64, path: &str| {
        let path = bench.directory.path().join(path);
        let watch = bench.watch("decided", seed);
        let ran =
            bench.run_watched(asking(&sequential()), Target::New(&path, &bench.one_task()), &Stop::new(), Some(watch));
        ids(&ran.path)
    };
    let (one, again, other) = (stored(1, "1.jurat"), stored(1, "2.jurat"), stored(2, "3.jurat"));
    assert_eq!(one, again);
    assert_ne!(one, other);
    let first: Vec<String> = (0..one.len()).map(|row| format!("r{row:03}")).collect();
    assert_ne!(one, first, "the order of the file is not random");
}

#[test]
fn only_the_finished_prefix_decides() {
    let bench = Bench::of(&suite(true, 100, RATE));
    let stop = Stop::new();
    // All but the first are answered, which would be enough by far.
    let give_up = |number: usize| {
        if number == 60 {
            stop.drop_all(StopReason::Interrupted);
        }
    };
    let perform = Scripted { silent: Some(1), ..Scripted::new(&give_up) };
    let ran = bench.asked(&perform, &stop, bench.watch("decided", 7));
    assert_eq!(ran.stopped, Some(StopReason::Interrupted));
    let record = record(&ran.path);
    assert_eq!((record.rule, record.steps), (None, 0));
}

#[test]
fn a_run_that_was_interrupted_is_decided_as_if_it_had_not_been() {
    let whole = Bench::of(&suite(true, 100, RATE));
    let expected = record(&whole.asked(&sequential(), &Stop::new(), whole.watch("decided", 7)).path);
    for n_before in [1, 5, 11] {
        let bench = Bench::of(&suite(true, 100, RATE));
        let stop = Stop::new();
        let interrupt = |number: usize| {
            if number == n_before {
                stop.close(StopReason::Interrupted);
            }
        };
        let perform = Scripted { is_sequential: true, ..Scripted::new(&interrupt) };
        let ran = bench.asked(&perform, &stop, bench.watch("decided", 7));
        assert!(finish(&ran.path).resumable);
        let again = sequential();
        let watch = bench.watch("decided", 7);
        let ran = bench.run_watched(asking(&again), Target::Resume(&bench.path()), &Stop::new(), Some(watch));
        assert_eq!((ran.stopped, record(&ran.path)), (Some(StopReason::Decided), expected.clone()));
        assert_eq!((again.n_asked() + n_before) as u64, expected.steps, "nothing is asked twice");
    }
}

#[test]
fn a_replay_equals_its_run() {
    let bench = Bench::of(&suite(true, 100, RATE));
    // Many at a time: some cases were in flight when it stopped.
    let recorded = bench.asked(&Scripted::new(&|_| {}), &Stop::new(), bench.watch("decided", 7));
    let recording = RunReader::open(&recorded.path).expect("the run can be read");
    let path = bench.directory.path().join("replay.jurat");
    let (mode, target) = (Mode::Replay(&recording, &Roles::default()), Target::New(&path, &bench.one_task()));
    let ran = bench.run_watched(mode, target, &Stop::new(), Some(bench.watch("decided", 7).continuing()));
    assert_eq!(ran.stopped, Some(StopReason::Decided));
    assert_eq!((ids(&path), record(&path)), (ids(&recorded.path), record(&recorded.path)));
}

#[test]
fn a_decided_run_continues_when_that_is_asked_for() {
    let bench = Bench::of(&suite(true, 60, RATE));
    let first = sequential();
    let before = record(&bench.asked(&first, &Stop::new(), bench.watch("decided", 7)).path);
    let again = sequential();
    let watch = bench.watch("decided", 7).continuing();
    let ran = bench.run_watched(asking(&again), Target::Resume(&bench.path()), &Stop::new(), Some(watch));
    assert_eq!((ran.stopped, first.n_asked() + again.n_asked(), ids(&ran.path).len()), (None, 60, 60));
    let after = record(&ran.path);
    assert_eq!((after.rule, after.steps), (before.rule, before.steps), "what was decided stays");
}

#[test]
fn what_a_budget_leaves_out_ends_the_prefix() {
    let bench = Bench::of(&suite(true, 100, RATE));
    let perform = Scripted { budget: 8, is_sequential: true, ..Scripted::new(&|_| {}) };
    let ran = bench.asked(&perform, &Stop::new(), bench.watch("decided", 7));
    assert_eq!(ran.stopped, Some(StopReason::Budget));
    let record = record(&ran.path);
    assert_eq!((record.rule, record.steps), (None, 8));
}

#[test]
fn cases_without_requests_stop_in_the_same_way() {
    let asked = Bench::of(&suite(true, 400, RATE));
    let expected = record(&asked.asked(&sequential(), &Stop::new(), asked.watch("decided", 7)).path);
    let bench = Bench::of(&suite(false, 400, RATE));
    let ran = bench.asked(&Scripted::new(&|_| {}), &Stop::new(), bench.watch("decided", 7));
    assert_eq!((ran.stopped, record(&ran.path)), (Some(StopReason::Decided), expected));
    assert!(ids(&ran.path).len() < 400);
}

#[test]
fn rules_end_a_run_in_their_own_ways() {
    #[track_caller]
    fn ends(rules: &str, gates: &str, expected: Option<&str>) {
        let bench = Bench::of(&suite(false, 200, gates));
        let ran = bench.asked(&Scripted::new(&|_| {}), &Stop::new(), bench.watch(rules, 7));
        assert_eq!(record(&ran.path).rule.as_deref(), expected, "{rules} {gates}");
    }
    let at_least = |rate: f64, expect: f64| {
        format!("gates: {{ conditions: [{{ id: rate, at_least: {rate}, expect: {expect} }}] }}")
    };
    ends("decided", &at_least(0.98, 0.995), Some("hopeless"));
    ends("decided,no-hopeless", &at_least(0.98, 0.995), Some("fail"));
    ends("pass", &at_least(0.98, 0.995), None);
    ends("width=0.12", "", Some("width"));
    // A condition on each case fails with the first of them, and passes with the last.
    let with_all =
        |more: &str| format!("gates: {{ conditions: [{{ id: rate, at_least: 0.5, expect: 0.9 }}, {more}] }}");
    ends("decided", &with_all("{ id: all, all_pass: true }"), Some("certain_fail"));
    ends("decided", &with_all("{ id: all, all_pass: true, advisory: true }"), Some("pass"));
}

#[test]
fn a_condition_that_no_evidence_decides_waits_for_the_last_row() {
    let gates =
        "gates: { conditions: [{ id: rate, at_least: 0.5, expect: 0.9 }, { id: sure, tag: sure, all_pass: true }] }";
    let bench = Bench::of(&suite(true, 60, gates));
    let perform = sequential();
    let ran = bench.asked(&perform, &Stop::new(), bench.watch("decided", 7));
    assert_eq!((ran.stopped, perform.n_asked()), (None, 60));
    let record = record(&ran.path);
    assert_eq!((record.rule, record.conditions[0].rule.as_deref()), (None, Some("pass")));
}

#[test]
fn clusters_are_steps() {
    let gates = format!("{RATE}\ncluster_by: group");
    let text = suite(false, 100, &gates);
    let text = (0..100).fold(text, |text, row| {
        let (id, group) = (format!("id: r{row:03},"), row / 2);
        text.replace(&id, &format!("{id} group: g{group},"))
    });
    let bench = Bench::of(&text);
    let ran = bench.asked(&Scripted::new(&|_| {}), &Stop::new(), bench.watch("decided", 7));
    let record = record(&ran.path);
    assert_eq!((record.of, record.n_rows, record.rule.as_deref()), (50, 100, Some("pass")));
}
