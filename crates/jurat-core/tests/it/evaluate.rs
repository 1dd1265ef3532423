//! Tasks that run evaluators: what functions take, what calls return, and what their suites say.

use std::path::Path;
use std::time::Duration;

use jurat_core::case::{CaseState, Ready, ReadyRequest};
use jurat_core::effect::wire::{StoredRequest, action_json};
use jurat_core::effect::{Action, Fault, FaultKind, Outcome, PerformerKey, Request, Returned, StepSite};
use jurat_core::evaluator::python_signature;
use jurat_core::plan::{Plan, Samples, TaskIx};
use jurat_core::suite::load;
use jurat_format::value::{Val, Value, parse_json};
use proptest::prelude::*;

use crate::{InMemory, laws};

/// The parameters of `evaluate`, those with a default with `?`.
#[track_caller]
fn takes(code: &str, words: &str) {
    let shown = match python_signature(code, "evaluate") {
        Ok(Some(signature)) => {
            let mark = |is_required: bool| if is_required { "" } else { "?" };
            let named = signature.parameters.iter().map(|it| format!("{}{}", it.name, mark(it.is_required)));
            let names: Vec<String> = named.chain(signature.takes_others.then(|| "**".to_owned())).collect();
            assert_eq!(&code[signature.at.clone()], "evaluate");
            assert!(signature.parameters.iter().all(|it| code[it.at.clone()] == it.name));
            format!("{}({})", if signature.is_async { "async " } else { "" }, names.join(", "))
        }
        Ok(None) => "unknown".to_owned(),
        Err(error) => format!("{} at {:?}", error.message, &code[error.at.clone()]),
    };
    assert_eq!(shown, words, "{code}");
}

#[test]
fn parameters_are_found_without_running_anything() {
    takes("def evaluate(output, reference): pass", "(output, reference)");
    takes("async def evaluate(*, output, reference=None, **rest): ...", "async (output, reference?, **)");
    takes(
        "def evaluate(a: dict[str, int] = {'x': 1, ')': (2, 3)}, *args, b: 'list, int') -> dict[str, str]:\n pass",
        "(a?, b)",
    );
    takes("def evaluate(a=lambda x, y: (x, y), b=lambda: 1, c=[lambda z: z]):\n  pass", "(a?, b?, c?)");
    takes(
        "import re\n\n@cached(1,\n  2)\ndef evaluate(\n    output,  # the answer, or (nothing\n    reference,\n):\n    return 1\n",
        "(output, reference)",
    );
    takes("x = '''\ndef evaluate(a):\n'''\ndef evaluate(b): return x", "(b)");
    takes("def evaluate(a): pass\ndef evaluate(b): pass", "(b)");
    takes("class A:\n    def evaluate(self): pass\n", "unknown");
    takes("if True:\n    def evaluate(a): pass\n", "unknown");
    takes("from checks import evaluate", "unknown");
    takes("judge = evaluate = lambda output: output", "unknown");
    takes(
        "def judge(a): return evaluate(a)",
        "there is no function `evaluate` on the top level at \"def judge(a): return evaluate(a)\"",
    );
    takes("def evaluate[T](a: T) -> T: return a", "(a)");
    takes("def evaluate \\\n  (a): return a", "(a)");
    takes("s = f\"{d[\"x\"]} {{\" + rb'\\'' + f'{x!r:>{width}}'\ndef evaluate(a): return s", "(a)");
    takes("s = r'\\\\' + \"it's\" + 'a\\\n b'\ndef evaluate(a): return s", "(a)");
    takes("def evaluate(größe): return größe", "(größe)");
    takes("def evaluate(a\n", "`(` is never closed at \"(\"");
    takes("x = [1, 2)\ndef evaluate(a): pass", "`)` does not close `[` at \")\"");
    takes("def evaluate(a): return 'x\ny = 1", "a text that is never closed at \"'x\"");
    takes("def evaluate(a) return a", "a function without `:` behind its parameters at \"a\"");
    takes("def evaluate: pass", "a function without a list of parameters at \"evaluate\"");
    takes("def evaluate(a, a): pass", "two parameters are called `a` at \"a\"");
    takes("def evaluate(a, /): pass", "arguments are given by name, and what stands before `/` cannot be at \"a\"");
    takes("def judge(a): pass", "there is no function `evaluate` on the top level at \"def judge(a): pass\"");
    takes("", "there is no function `evaluate` on the top level at \"\"");
}

const SUITE: &str = r#"
suite: calls
records: [{ output: Paid, expected: Paid on 3 May., weight: 2 }]
evaluators:
  content-check:
    source: |
      def evaluate(output, reference, weight, metadata, limit=3):
          ...
    outputs:
      - { name: toxicity, lower_bound: 0, upper_bound: 1 }
      - { name: safety, values: [{ label: pass, score: 1 }, { label: fail, score: 0 }] }
tasks:
  - { id: safe, evaluate: content-check, field_path: safety.label, operator: equals, expected_value: pass }
  - { id: all, evaluate: content-check, with: { limit: 5, output: expected, weight: { value: heavy } } }
  - { id: after, depends_on: [all], field_path: all.toxicity.score, operator: less_than, expected_value: 0.5 }
"#;

fn plan(text: &str) -> Plan {
    let loaded = load(Path::new("suite.yaml"), &InMemory(&[("suite.yaml", text)]));
    assert!(loaded.problems.is_empty(), "{:#?}", loaded.problems);
    Plan::build(&loaded.suite, &Samples::default()).expect("the suite is sound").0
}

fn returned(json: &str, is_error: bool) -> Outcome {
    let value = parse_json(json).expect("it is JSON").value.into_owned();
    Outcome::Returned(Box::new(Returned::new(value, is_error, Duration::ZERO, 0)))
}

/// The calls that may be made now, each with its arguments.
fn calls(state: &CaseState<'_>) -> Vec<(StepSite, Value)> {
    let call = |it: Ready<'_>| match it.request {
        ReadyRequest::Action(Action::Evaluate { arguments, .. }) => Some((it.site, arguments.clone())),
        _ => None,
    };
    state.steps().filter_map(call).collect()
}

/// The verdicts of `safe`, `all` and `after` when every call has this result.
fn verdicts(outcome: &Outcome) -> Vec<String> {
    let plan = plan(SUITE);
    let row = parse_json(r#"{"output": "Paid", "expected": "Paid on 3 May.", "weight": 2}"#).expect("it is JSON").value;
    let mut state = CaseState::start(&plan, &row);
    loop {
        let site = calls(&state).first().map(|it| it.0);
        let Some(site) = site else { break };
        state.apply(site, outcome.clone());
    }
    assert!(state.is_done());
    state.verdicts().map(|it| it.expect("it is done").to_string()).collect()
}

#[test]
fn arguments_are_bound_by_name() {
    let plan = plan(SUITE);
    let row = parse_json(r#"{"output": "Paid", "expected": "Paid on 3 May.", "weight": 2}"#).expect("it is JSON").value;
    let state = CaseState::start(&plan, &row);
    let given: Vec<String> = calls(&state).iter().map(|it| it.1.to_string()).collect();
    assert_eq!(
        given,
        [
            r#"{"output": "Paid", "reference": "Paid on 3 May.", "weight": 2, "metadata": null}"#,
            r#"{"output": "Paid on 3 May.", "reference": "Paid on 3 May.", "weight": "heavy", "metadata": null, "limit": 5}"#,
        ]
    );
    let conversation = r#"{"history": [{"question_text": "a?", "raw_response": "1"}, {"question_text": "b?", "raw_response": "2"}], "weight": 0, "expected": 1}"#;
    let row = parse_json(conversation).expect("it is JSON").value;
    let state = CaseState::start(&plan, &row);
    let output = calls(&state).first().and_then(|it| it.1.get("output").cloned());
    assert_eq!(output, Some(Val::from("2")));
}

#[test]
fn an_argument_that_is_not_there_is_an_error_with_a_remedy() {
    let plan = plan(SUITE);
    let row = parse_json(r#"{"answer": "Paid"}"#).expect("it is JSON").value;
    let state = CaseState::start(&plan, &row);
    let verdicts: Vec<String> = state.verdicts().map(|it| it.expect("nothing is called").to_string()).collect();
    assert_eq!(
        verdicts[0],
        "error: the case has no `output`; say where it is under `with`, for example `with: { output: answer }`"
    );
    assert_eq!(verdicts[1], "error: `output`: the context has no `expected`; it has answer");
}

#[test]
fn what_comes_back_decides() {
    let said = |json: &str| verdicts(&returned(json, false));
    assert_eq!(said(r#"{"toxicity": 0.1, "safety": "pass"}"#), ["passed", "measured", "passed"]);
    let failed = said(r#"{"toxicity": 0.9, "safety": "fail"}"#);
    assert_eq!(
        failed,
        ["failed: expected `pass`, found `fail`", "measured", "failed: expected a number less than 0.5, found 0.9"]
    );
    // What one output rejects is no matter for a task that looks at another.
    let partly = said(r#"{"toxicity": 5, "safety": "pass"}"#);
    assert_eq!(partly[0], "passed");
    assert!(
        partly[1].starts_with(
            "error: `content-check.toxicity`: the score 5.0 is above the upper bound 1.0\nValid shapes:\n"
        ),
        "{}",
        partly[1]
    );
    assert!(partly[2].starts_with("skipped"), "{}", partly[2]);
    assert_eq!(verdicts(&returned("\"KeyError: 'x'\"", true))[0], "error: `content-check`: KeyError: 'x'");
    assert_eq!(
        said(r#"{"$py": "frob"}"#)[0],
        "error: `content-check` did not send a value: there is no value `frob` under `$py`"
    );
    let fault = Outcome::Fault(Box::new(Fault::new(FaultKind::Timeout, "no answer within 30 s", 1)));
    assert_eq!(verdicts(&fault)[0], "error: `content-check`: no answer within 30 s");
}

#[test]
fn every_output_of_a_task_is_reported() {
    let plan = plan(SUITE);
    let row = parse_json(r#"{"output": "Paid", "expected": "x", "weight": 2}"#).expect("it is JSON").value;
    let mut state = CaseState::start(&plan, &row);
    let site = calls(&state).first().map(|it| it.0).expect("it is called");
    state.apply(site, returned(r#"{"toxicity": 5, "safety": "pass", "explanation": "fine"}"#, false));
    let shown: Vec<(&str, bool)> =
        state.evaluations(TaskIx(0)).iter().map(|it| (it.name.as_str(), it.result.is_ok())).collect();
    assert_eq!(shown, [("content-check.toxicity", false), ("content-check.safety", true)]);
    let output = state.result(TaskIx(0)).and_then(|it| it.output.as_ref()).map(ToString::to_string);
    assert_eq!(output.as_deref(), Some(r#"{"safety": {"label": "pass", "score": 1.0, "explanation": "fine"}}"#));
}

#[test]
fn a_call_is_named_by_code_and_arguments_alone() {
    let action = |evaluator: &str, source: &str, arguments: &str| Action::Evaluate {
        evaluator: evaluator.to_owned(),
        source: source.to_owned(),
        arguments: parse_json(arguments).expect("it is JSON").value.into_owned(),
    };
    let key = |action: &Action| Request::from(action.clone()).key(&PerformerKey::Digest(Val::Null)).to_string();
    let call = action("a", "123", r#"{"output": 1}"#);
    let read = StoredRequest::read(&action_json(&call)).expect("it reads back");
    assert_eq!(read.into_action().as_ref(), Some(&call));
    assert_eq!(key(&call), key(&action("b", "123", r#"{"output": 1}"#)));
    assert_ne!(key(&call), key(&action("a", "124", r#"{"output": 1}"#)));
    assert_ne!(key(&call), key(&action("a", "123", r#"{"output": 1.0}"#)));
    // Keys are stored for years.
    assert_eq!(key(&call), KEY);
}

const KEY: &str = "83d0c6fed25c7e19999e859a05835b7fce3ecf0e06076bed3fdada512fde8450";

#[test]
fn evaluators_that_no_task_names_get_a_task() {
    let text = r#"
suite: written
records: [{ output: a, reference: b }]
evaluators:
  code:
    description: looks at it
    source: { file: check.ts }
    entry: judge
    limits: { timeout: 500ms, memory: 64MiB }
    deterministic: false
    isolation: fork
    python: .venv
    outputs:
      - { name: tone, description: how it sounds, type: freeform, lower_bound: 0, thresholds: [0.5], direction: MINIMIZE }
  inline: { source: "def evaluate(output):\n    return 1\n" }
  plain: { builtin: bleu }
  set: { builtin: { contains: { words: [a], mode: all } }, outputs: [{ name: v, values: [{ label: y, score: 1 }, { label: n }] }] }
tasks:
  - { id: one, evaluate: code, with: { output: a.b, x: 1, y: { value: text }, z: { value: { k: [1] } }, n: null } }
"#;
    let files = [("suite.yaml", text), ("check.ts", "export function judge({ output }) { return 1 }")];
    let read = load(Path::new("suite.yaml"), &InMemory(&files));
    assert!(read.problems.is_empty(), "{:#?}", read.problems);
    assert_eq!(
        read.suite.tasks.iter().map(|it| it.id.value.as_str()).collect::<Vec<_>>(),
        ["one", "inline", "plain", "set"]
    );
}

proptest! {
    #![proptest_config(laws())]

    /// Whatever the text, looking for a function ends, and places are within the text.
    #[test]
    fn any_text_is_looked_through(code in "[a-zé({\\[\\])}'\"\\\\\n#:,=*f ]{0,60}") {
        let code = format!("{code}\ndef evaluate(a, b=1): pass");
        match python_signature(&code, "evaluate") {
            Ok(Some(signature)) => prop_assert!(code.get(signature.at).is_some()),
            Ok(None) => {}
            Err(error) => prop_assert!(code.get(error.at.clone()).is_some(), "{error:?}"),
        }
    }

    /// Any order in which calls come back gives the same verdicts.
    #[test]
    fn the_order_of_returns_does_not_matter(backwards in any::<bool>(), score in -1.0..2.0f64) {
        let plan = plan(SUITE);
        let row = parse_json(r#"{"output": "Paid", "expected": "x", "weight": 2}"#).expect("it is JSON").value;
        let outcome = returned(&format!(r#"{{"toxicity": {score:?}, "safety": "pass"}}"#), false);
        let judged = |backwards: bool| {
            let mut state = CaseState::start(&plan, &row);
            loop {
                let mut sites: Vec<_> = calls(&state).into_iter().map(|it| it.0).collect();
                if backwards { sites.reverse(); }
                let Some(site) = sites.first() else { break };
                state.apply(*site, outcome.clone());
            }
            state.verdicts().map(|it| it.map(ToString::to_string)).collect::<Vec<_>>()
        };
        prop_assert_eq!(judged(backwards), judged(false));
    }
}
