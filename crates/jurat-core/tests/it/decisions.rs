//! How thresholds decide a run: thresholds as authors write them and metrics in, the conclusion and its sentence out.

use std::path::Path;

use jurat_core::suite::{Statistic, Suite, load};
use jurat_core::verdict::{CaseCounts, Conclusion, Counts, Decision, Metrics, Sample, StopReason, TaskMetrics};

use crate::InMemory;

fn suite(thresholds: &str) -> Suite {
    let text = format!(
        "suite: s\nask: {{ prompt: '${{q}}' }}\nmodels: {{ subject: a/b, judge: a/c }}\nrecords: [{{ id: r, q: x }}]\n\
         thresholds: {thresholds}\ntasks:\n  - {{ id: tone, field_path: output, operator: is_not_empty }}\n  \
         - {{ id: quality, judge: {{ prompt: 'Rate ${{output}}' }} }}\n"
    );
    let loaded = load(Path::new("s.yaml"), &InMemory(&[("s.yaml", &text)]));
    assert!(
        loaded.problems.iter().all(|it| it.severity() != jurat_format::problem::Severity::Error),
        "{text}\n{:?}",
        loaded.problems
    );
    loaded.suite
}

/// Ten cases: `tone` passed in 6 of 8 that were judged, `quality` has ten scores.
fn metrics() -> Metrics<'static> {
    let tone = Counts { passed: 6, failed: 2, errored: 2, ..Counts::default() };
    let scores = vec![(Statistic::Mean, 3.95), (Statistic::Quantile(0.1), 2.0), (Statistic::Quantile(0.5), 4.0)];
    let task = |id, counts, scores| TaskMetrics { id, scenario: None, is_counted: true, counts, scores };
    let measured = Counts { measured: 10, ..Counts::default() };
    Metrics {
        cases: CaseCounts { passed: 6, failed: 2, error: 2, ..CaseCounts::default() },
        counts: Counts { measured: 10, ..tone },
        tasks: vec![task("tone", tone, Sample::default()), task("quality", measured, Sample { n: 10, values: scores })],
        cost_usd: Some(0.5),
        n_unpriced: 0,
        latency: Sample { n: 10, values: vec![(Statistic::Quantile(0.95), 2.5)] },
        stopped: None,
        stopped_by: None,
        missing: None,
    }
}

#[track_caller]
fn decided(thresholds: &str, metrics: &Metrics<'_>, conclusion: Conclusion, sentence: &str) {
    let decision = Decision::of(&suite(thresholds).thresholds, metrics);
    assert_eq!((decision.conclusion, decision.sentence.as_str()), (conclusion, sentence), "{decision:#?}");
}

#[test]
fn each_threshold_decides() {
    use Conclusion::{Failed, Passed};
    let all = &metrics();
    let met = |it: &str| format!("{{ max_errors: 20%, {it} }}");
    let all_met = |n: u32, others: &str| {
        let errors = "2 of 10 cases ended with an error (20.0 %), at most 20 % allowed";
        format!("passed: all {n} thresholds are met: {errors}; {others}")
    };
    let rate = |what: &str| format!("pass rate {what} is 75.0 % (6 of 8), at least 75.0 % required");
    decided(&met("pass_rate: 0.75"), all, Passed, &all_met(2, &rate("over tasks")));
    decided(
        &met("pass_rate: 0.751"),
        all,
        Failed,
        "failed: pass rate over tasks is 75.0 % (6 of 8), at least 75.1 % required",
    );
    decided(
        &met("cases: 0.9"),
        all,
        Failed,
        "failed: pass rate over cases is 75.0 % (6 of 8), at least 90.0 % required",
    );
    decided(&met("tasks: { tone: 0.75 }"), all, Passed, &all_met(2, &rate("of `tone`")));
    decided(
        &met("tasks: { Tone: { pass_rate: 0.8 } }"),
        all,
        Failed,
        "failed: pass rate of `tone` is 75.0 % (6 of 8), at least 80.0 % required",
    );
    decided(
        &met("tasks: { quality: 0.5 }"),
        all,
        Failed,
        "failed: pass rate of `quality`: nothing was judged, at least 50.0 % required",
    );
    let mean = "mean score of `quality` is 3.95 (10 scores), at least 3.9 required";
    let median = "median score of `quality` is 4 (10 scores), at least 4 required";
    let both = all_met(3, &format!("{mean}; {median}"));
    decided(&met("tasks: { quality: { mean: 3.9, median: 4 } }"), all, Passed, &both);
    decided(
        &met("tasks: { quality: { mean: 4, p10: 3 } }"),
        all,
        Failed,
        "failed: mean score of `quality` is 3.95 (10 scores), at least 4 required; 1 more threshold was missed",
    );
    decided(
        &met("tasks: { quality: { mean: { at_most: 3.5 } } }"),
        all,
        Failed,
        "failed: mean score of `quality` is 3.95 (10 scores), at most 3.5 allowed",
    );
    decided(
        &met("tasks: { quality: { p99: 1 } }"),
        all,
        Failed,
        "failed: p99 score of `quality`: there is no score, at least 1 required",
    );
    decided(&met("cost_usd: 0.4, pass_rate: 0"), all, Failed, "failed: total cost is $0.50, at most $0.40 allowed");
    decided(
        &met("cost_usd: { total: 1, per_case: 0.05 }, pass_rate: 0"),
        all,
        Passed,
        &all_met(
            4,
            "pass rate over tasks is 75.0 % (6 of 8), at least 0.0 % required; total cost is $0.50, at most $1.00 allowed; and 1 more",
        ),
    );
    decided(
        &met("latency: { p95: 2s }, pass_rate: 0"),
        all,
        Failed,
        "failed: p95 latency is 2.5 s (10 cases), at most 2 s allowed",
    );
}

#[test]
fn tasks_that_failed_without_a_threshold_are_noted() {
    let noted = |thresholds: &str, metrics: &Metrics<'_>| Decision::of(&suite(thresholds).thresholds, metrics).notes;
    let mut all = metrics();
    let of_quality = "{ max_errors: 20%, tasks: { quality: { mean: 3 } } }";
    assert_eq!(noted(of_quality, &all), ["no threshold applies to `tone`, which failed in 2 of 8 cases"]);
    for covered in
        ["{}", "{ pass_rate: 0.5, tasks: { quality: { mean: 3 } } }", "{ cases: 0 }", "{ tasks: { Tone: 0 } }"]
    {
        assert_eq!(noted(covered, &all), [""; 0], "{covered}");
    }
    // Gates that only route decide nothing in any case, and what passed needs no threshold.
    all.tasks[0].is_counted = false;
    assert_eq!(noted(of_quality, &all), [""; 0]);
    let task = |id, failed| TaskMetrics {
        id,
        scenario: None,
        is_counted: true,
        counts: Counts { passed: 1, failed, ..Counts::default() },
        scores: Sample::default(),
    };
    all.tasks = ["a", "b", "c", "d", "e", "f", "g"].map(|it| task(it, 1)).into_iter().chain([task("h", 0)]).collect();
    let notes = noted(of_quality, &all);
    assert_eq!((notes.len(), notes[5].as_str()), (6, "no threshold applies to 2 more tasks, which failed"));
}

#[test]
fn weights_say_how_much_a_task_counts() {
    let mut all = metrics();
    all.tasks[1].counts = Counts { passed: 10, ..Counts::default() };
    all.cases.error = 0;
    decided(
        "{ pass_rate: 0.9, weights: { quality: 3 } }",
        &all,
        Conclusion::Passed,
        "passed: weighted pass rate over tasks is 94.7 %, at least 90.0 % required",
    );
    decided(
        "{ pass_rate: 0.9, weights: { quality: 0 } }",
        &all,
        Conclusion::Failed,
        "failed: weighted pass rate over tasks is 75.0 %, at least 90.0 % required",
    );
}

#[test]
fn errors_are_tolerated_up_to_a_share_or_a_count() {
    use Conclusion::{Passed, Undecided};
    let all = &metrics();
    decided("{ pass_rate: 0.5 }", all, Undecided, "undecided: 2 of 10 cases ended with an error");
    let rate = "pass rate over tasks is 75.0 % (6 of 8), at least 50.0 % required";
    let met = |errors: &str| {
        format!("passed: all 2 thresholds are met: 2 of 10 cases ended with an error{errors} allowed; {rate}")
    };
    decided("{ pass_rate: 0.5, max_errors: 2 }", all, Passed, &met(", at most 2"));
    decided(
        "{ pass_rate: 0.5, max_errors: 1 }",
        all,
        Undecided,
        "undecided: 2 of 10 cases ended with an error, at most 1 allowed",
    );
    decided("{ pass_rate: 0.5, max_errors: 20% }", all, Passed, &met(" (20.0 %), at most 20 %"));
    decided(
        "{ pass_rate: 0.5, max_errors: 19.9% }",
        all,
        Undecided,
        "undecided: 2 of 10 cases ended with an error (20.0 %), at most 19.9 % allowed",
    );
}

#[test]
fn a_suite_that_says_nothing_about_quality_may_fail_nothing() {
    let mut all = metrics();
    all.cases.error = 0;
    let failed = "failed: 2 of 8 counted task results failed, in 2 of 8 cases";
    decided("{}", &all, Conclusion::Failed, failed);
    decided("{ latency: { p95: 5s } }", &all, Conclusion::Failed, failed);
    all.cases = CaseCounts { passed: 6, ..CaseCounts::default() };
    all.counts.failed = 0;
    decided("{}", &all, Conclusion::Passed, "passed: 6 of 6 counted task results passed");
}

#[test]
fn a_suite_of_scores_is_judged_by_their_thresholds() {
    let mut all = metrics();
    all.counts = Counts { measured: 10, ..Counts::default() };
    all.cases = CaseCounts { measured: 10, ..CaseCounts::default() };
    decided("{}", &all, Conclusion::Nothing, "nothing was judged: no task passed or failed, and no threshold applies");
    let mean = "mean score of `quality` is 3.95 (10 scores), at least 3 required";
    decided("{ tasks: { quality: { mean: 3 } } }", &all, Conclusion::Passed, &format!("passed: {mean}"));
}

#[test]
fn what_is_not_known_decides_nothing() {
    let mut all = metrics();
    all.cases.error = 0;
    all.n_unpriced = 3;
    let unknown = "undecided: total cost is not known: 3 answers without a price, at most $1.00 allowed";
    decided("{ cost_usd: 1, pass_rate: 0 }", &all, Conclusion::Undecided, unknown);
    let known = "failed: total cost is $0.50, at most $0.10 allowed";
    decided("{ cost_usd: 0.1, pass_rate: 0 }", &all, Conclusion::Failed, known);
}

#[test]
fn what_ended_a_run_early_comes_first() {
    let stopped = |reason| Metrics { stopped: Some(reason), ..metrics() };
    let mut budget = stopped(StopReason::Budget);
    budget.cases.not_run = 5;
    decided(
        "{}",
        &budget,
        Conclusion::Limited,
        "incomplete: the rest of the budget does not cover the next request; 5 of 15 cases not run",
    );
    decided("{}", &stopped(StopReason::Deadline), Conclusion::Limited, "incomplete: the time limit was reached");
    decided(
        "{}",
        &stopped(StopReason::Interrupted),
        Conclusion::Interrupted,
        "interrupted before all cases were judged",
    );
    decided(
        "{}",
        &stopped(StopReason::FailFast),
        Conclusion::Undecided,
        "undecided: 2 of 10 cases ended with an error",
    );
    let killed = Metrics { missing: Some("the run was killed"), ..Metrics::default() };
    decided("{}", &killed, Conclusion::Limited, "incomplete: not all cases are here: the run was killed");
    let mut fail_fast = stopped(StopReason::FailFast);
    fail_fast.cases = CaseCounts { failed: 2, not_run: 5, ..CaseCounts::default() };
    decided(
        "{}",
        &fail_fast,
        Conclusion::Failed,
        "failed: 2 of 8 counted task results failed, in 2 of 7 cases; 5 of 7 cases not run, because the run stops at the first failure",
    );
    let fault = Metrics { stopped_by: Some("HTTP 401"), ..stopped(StopReason::EndpointFault) };
    decided("{ max_errors: 50% }", &fault, Conclusion::Undecided, "stopped: HTTP 401");
    decided("{ pass_rate: 1 }", &Metrics::default(), Conclusion::Nothing, "nothing was judged: no case was selected");
}

#[test]
fn numbers_that_look_alike_are_distinguished() {
    let mut all = metrics();
    all.cases.error = 0;
    all.counts = Counts { passed: 8996, failed: 1004, ..Counts::default() };
    decided(
        "{ pass_rate: 0.9 }",
        &all,
        Conclusion::Failed,
        "failed: pass rate over tasks is 89.96 % (8996 of 10000), at least 90.00 % required",
    );
}
