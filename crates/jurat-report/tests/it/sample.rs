//! A run with one of everything: what passed, failed, was measured, was skipped, could not be judged and did not run.

use std::time::Duration;

use jurat_core::effect::Usage;
use jurat_core::report::{
    CaseReport, Cause, Disagreement, Independence, Mean, Observed, RunReport, SliceTotal, Spent, SubjectTotal,
    TaskReport, TaskTotal, TaskVerdict,
};
use jurat_core::suite::{Bound, Gate};
use jurat_core::verdict::{CaseVerdict, Conclusion, Counts, Decision, Rule, RuleStanding, StopReason};
use jurat_format::value::{Val, Value, parse_json};
use jurat_report::CaseWriter;

/// Everything that a reader's tools might obey, in a few words.
pub(crate) const HOSTILE: &str = "=cmd|'/C calc'!A0 \x1b[2J\u{202e}<script>alert(1)</script> | `x` @all\n</details> [a](http://b) \"q\", 'p' &amp; \0";

/// The run as a whole.
pub(crate) fn run() -> RunReport {
    let cases = cases();
    let mut run = RunReport {
        suite: "appliance-support".to_owned(),
        suite_hash: "b3:5f1d".to_owned(),
        description: Some("Answers of the support desk".to_owned()),
        repeat: 1,
        tasks: tasks(),
        usage: Usage { input: 12_345, output: 678, cached: 0, reasoning: 12, cache_write: 0 },
        cost_usd: Some(0.012),
        n_unpriced: 1,
        decision: decision(),
        causes: vec![cause()],
        n_other_errors: 2,
        stopped: Some(StopReason::Budget),
        observed: observed(),
        ..RunReport::default()
    };
    for case in &cases {
        run.cases.add(case.verdict);
        run.counts.merge(&case.counts);
        for task in &case.tasks {
            count(&mut run.tasks[task.task].counts, task.verdict);
        }
    }
    for (value, ix) in [(Some("de".to_owned()), 0), (None, 2)] {
        run.slices.push(SliceTotal {
            path: "language".to_owned(),
            value,
            counts: cases[ix].counts,
            independence: Independence::default(),
        });
    }
    run
}

fn decision() -> Decision {
    let sentence = "pass rate of `expert` is 50.0 % (1 of 2), at least 90.0 % required".to_owned();
    let rule = Rule {
        name: "tasks.expert.pass_rate".to_owned(),
        is_written: true,
        bound: Bound::at_least(0.9),
        found: Some(0.5),
        standing: RuleStanding::Missed,
        sentence,
    };
    let sentence = "incomplete: the budget was used up; 1 of 4 cases not run".to_owned();
    Decision { conclusion: Conclusion::Limited, sentence, rules: vec![rule], notes: Vec::new() }
}

fn cause() -> Cause {
    Cause {
        n_cases: 1,
        message: "HTTP 401 from 127.0.0.1:8080: Incorrect API key provided".to_owned(),
        role: Some("judge".to_owned()),
        key_env: Some("OPENAI_API_KEY".to_owned()),
        remedy: Some("check the key in `OPENAI_API_KEY`".to_owned()),
        tasks: vec!["is_kitchen".to_owned()],
        cases: vec!["r4".to_owned()],
    }
}

/// The same, with a matrix of prompts and subjects.
pub(crate) fn matrix() -> (RunReport, Vec<CaseReport>) {
    let variants = [("short", "openai/small"), ("short", "openai/large"), ("long", "openai/small")];
    let mut run = RunReport { suite: "matrix".to_owned(), repeat: 2, tasks: tasks(), ..RunReport::default() };
    run.tasks.truncate(1);
    let mut cases = Vec::new();
    for (prompt, subject) in variants {
        let mut total = SubjectTotal {
            prompt: Some(prompt.to_owned()),
            subject: Some(subject.to_owned()),
            counts: Counts::default(),
            independence: Independence::default(),
            cases: Default::default(),
            usage: Usage { input: 100, output: 10, ..Usage::default() },
            tasks: vec![Counts::default()],
            cost_usd: (subject == "openai/large").then_some(1.5),
            n_unpriced: if subject == "openai/large" { 2 } else { 0 },
            latency: Some(Duration::from_millis(420)),
        };
        for replicate in 1..=2 {
            let verdict = if replicate == 1 { TaskVerdict::Passed } else { TaskVerdict::Failed };
            let mut case = case("r1", vec![TaskReport::new(0, verdict)]);
            case.prompt = total.prompt.clone();
            case.subject = total.subject.clone();
            case.replicate = Some(replicate);
            total.cases.add(case.verdict);
            total.counts.merge(&case.counts);
            run.cases.add(case.verdict);
            run.counts.merge(&case.counts);
            run.tasks[0].counts.merge(&case.counts);
            total.tasks[0].merge(&case.counts);
            cases.push(case);
        }
        run.subjects.push(total);
    }
    use CaseVerdict::{Failed, Passed};
    let verdicts = vec![vec![Passed, Failed], vec![Passed, Passed], vec![Failed, Failed]];
    run.disagreements = vec![Disagreement { case: "r1".to_owned(), verdicts }];
    run.n_disagreements = 4;
    (run, cases)
}

fn observed() -> Observed {
    Observed {
        run_id: "2026-11-15T18-04-05_appliance-support_x7k2".to_owned(),
        file: ".jurat/runs/2026-11-15T18-04-05_appliance-support_x7k2.jurat".to_owned(),
        started_at_ms: 1_794_765_845_123,
        wall: Duration::from_millis(4_210),
        n_answers: 18,
        n_reused: 12,
        oldest_reused_ms: Some(1_794_765_845_123 - 3 * 86_400_000),
        reused_cost_usd: Some(0.0002),
        n_shared: 3,
        served_by: vec!["gemini-2.5-flash-lite-001".to_owned()],
        n_tool_calls: 3,
        n_reused_tool_calls: 1,
        spent: Some(Spent {
            n_responses: 6,
            usage: Usage { input: 345, output: 78, ..Usage::default() },
            cost_usd: Some(0.004),
            n_unpriced: 1,
        }),
        n_requests: 8,
        n_failed_requests: 2,
        n_truncated: 0,
        resumed: false,
        replay_of: None,
        unsafe_code: false,
        notes: vec!["code ran without a sandbox, as `--unsafe-code` asked".to_owned()],
    }
}

fn tasks() -> Vec<TaskTotal> {
    let task = |id: &str, kind: &str, gate: Gate, stage: usize, path: &str, operator: &str| TaskTotal {
        id: id.to_owned(),
        kind: kind.to_owned(),
        gate,
        stage,
        path: (!path.is_empty()).then(|| path.to_owned()),
        operator: (!operator.is_empty()).then(|| operator.to_owned()),
        ..TaskTotal::default()
    };
    let mut tasks = vec![
        task("answered", "assert", Gate::Required, 1, "answer", "is_not_empty"),
        task("is_kitchen", "assert", Gate::Condition, 1, "category", "equals"),
        task("expert", "judge", Gate::None, 2, "suitable", "equals"),
        task("tone", "judge", Gate::None, 2, "", ""),
    ];
    tasks[2].description = Some("An expert for kitchens".to_owned());
    tasks[3].score = Some(Mean { n: 2, mean: 0.75 });
    tasks[3].labels = vec![("polite".to_owned(), 2), ("rude | `x`".to_owned(), 1)];
    tasks
}

/// The cases in the order of input.
pub(crate) fn cases() -> Vec<CaseReport> {
    use TaskVerdict::{Error, Failed, Measured, NotRun, Passed, Skipped};
    let compared = |task: usize, verdict: TaskVerdict, expected: Value, actual: Value| TaskReport {
        expected: Some(expected),
        actual: Some(actual),
        ..TaskReport::new(task, verdict)
    };
    let says = |task: usize, verdict: TaskVerdict, message: &str| TaskReport {
        message: message.to_owned(),
        ..TaskReport::new(task, verdict)
    };
    let tone = TaskReport {
        actual: Some(value(r#"{"label": "polite", "score": 0.75, "n": 18446744073709551616}"#)),
        label: Some("polite".to_owned()),
        score: Some(0.75),
        explanation: Some("It says please.\nTwice.".to_owned()),
        usage: Some(Usage { input: 210, output: 14, ..Usage::default() }),
        cost_usd: Some(0.000_031),
        latency: Some(Duration::from_micros(812_500)),
        n_requests: 2,
        ..TaskReport::new(3, Measured)
    };
    let good = TaskReport { actual: Some(Val::from("Descale it.")), ..TaskReport::new(0, Passed) };
    let mut first = case(
        "r1",
        vec![
            good.clone(),
            compared(1, Passed, Val::from("kitchen"), Val::from("kitchen")),
            TaskReport { reused: true, ..compared(2, Passed, Val::Bool(true), Val::Bool(true)) },
            tone,
        ],
    );
    first.usage = Some(Usage { input: 420, output: 28, ..Usage::default() });
    first.cost_usd = Some(0.000_062);
    first.evidence = Some("b3:77aa".to_owned());
    let gated = case(
        "r2",
        vec![
            good.clone(),
            compared(1, Failed, Val::from("kitchen"), Val::from("bath")),
            says(2, Skipped, "gate `is_kitchen` failed"),
            says(3, Skipped, "gate `is_kitchen` failed"),
        ],
    );
    let failed = TaskReport {
        message: format!("expected true, found `{HOSTILE}`"),
        explanation: Some(HOSTILE.to_owned()),
        ..compared(2, Failed, Val::Bool(true), Val::from(HOSTILE))
    };
    let mut hostile = case(HOSTILE, vec![good.clone(), TaskReport::new(1, Passed), failed]);
    let question =
        "My coffee machine shows a red light and makes a noise like a tractor; which part do I have to clean first?";
    hostile.exchange = vec![("question".to_owned(), question.to_owned()), ("answer".to_owned(), HOSTILE.to_owned())];
    let errors = case(
        "r4",
        vec![
            good,
            says(1, Error, "`category` is not in the record"),
            says(2, Skipped, "`is_kitchen` could not be judged"),
            says(3, NotRun, "the budget was spent"),
        ],
    );
    vec![first, gated, hostile, errors]
}

fn case(id: &str, tasks: Vec<TaskReport>) -> CaseReport {
    let gates = self::tasks();
    let mut counts = Counts::default();
    for task in &tasks {
        let is_counted = gates[task.task].is_counted();
        if is_counted || matches!(task.verdict, TaskVerdict::Skipped | TaskVerdict::NotRun) {
            count(&mut counts, task.verdict);
        }
    }
    let has = |verdict: TaskVerdict| tasks.iter().any(|it| it.verdict == verdict);
    let verdict = match &counts {
        _ if has(TaskVerdict::Error) => CaseVerdict::Error,
        Counts { not_run: 1.., .. } => CaseVerdict::NotRun,
        Counts { failed: 1.., .. } => CaseVerdict::Failed,
        _ => CaseVerdict::Passed,
    };
    CaseReport { counts, took: Duration::from_micros(71), tasks, ..CaseReport::new(id, verdict) }
}

fn count(counts: &mut Counts, verdict: TaskVerdict) {
    let place = match verdict {
        TaskVerdict::Passed => &mut counts.passed,
        TaskVerdict::Failed => &mut counts.failed,
        TaskVerdict::Measured => &mut counts.measured,
        TaskVerdict::Skipped => &mut counts.skipped,
        TaskVerdict::Error => &mut counts.errored,
        TaskVerdict::NotRun => &mut counts.not_run,
    };
    *place += 1;
}

/// The value of a JSON text.
pub(crate) fn value(json: &str) -> Value {
    parse_json(json).expect("it is JSON").value.into_owned()
}

/// What a writer makes of cases.
pub(crate) fn written<'c>(
    cases: impl IntoIterator<Item = &'c CaseReport>,
    write: impl FnOnce(&mut Vec<u8>, &mut dyn FnMut(&mut dyn CaseWriter)),
) -> String {
    let mut cases = cases.into_iter();
    let mut out = Vec::new();
    write(&mut out, &mut |writer| {
        for case in cases.by_ref() {
            writer.case(case).expect("memory can be written");
        }
        writer.end().expect("memory can be written");
    });
    String::from_utf8(out).expect("reports are UTF-8")
}
