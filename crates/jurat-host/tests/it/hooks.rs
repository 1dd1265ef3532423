//! Hooks: what functions answer, and what becomes of those that do not.

use std::fs;
use std::time::Duration;

use jurat_core::check::{Hook, HookCode};
use jurat_host::hook::{self, Ender, HookCall};

const ARTIFACT: &str =
    r#"{"status": "success", "identity": {"run_id": "r"}, "trace": [{"event_type": "tool_call", "tool_name": "t"}]}"#;

/// What a function of this source answers; nothing where there is no Python.
fn answered(source: &str, time_limit: Duration) -> Option<String> {
    let folder = tempfile::tempdir().expect("a directory can be made");
    fs::write(folder.path().join("check.py"), source).expect("files can be written");
    let call = HookCall {
        hook: Hook { code: HookCode::Path("check.py".to_owned()), callable_name: "f".to_owned() },
        artifact: ARTIFACT.to_owned(),
        check_id: "c1".to_owned(),
        description: None,
        source: folder.path().join("suite.yaml"),
        python: "python3".into(),
        supervisor: Vec::new(),
        time_limit,
    };
    match hook::call(&call, &Ender::new()) {
        Ok(answer) => Some(answer.to_value().to_string()),
        Err(reason) if reason.contains("cannot be started") => None,
        Err(reason) => Some(format!("error: {reason}")),
    }
}

#[track_caller]
fn answers(body: &str, expected: &str) {
    let Some(got) = answered(&format!("def f(artifact, context):\n    {body}\n"), hook::TIME_LIMIT) else { return };
    assert_eq!(got, expected, "{body}");
}

#[test]
fn what_is_returned_is_read_strictly() {
    answers("return True", r#"{"passed": true}"#);
    answers("print('noise'); return False", r#"{"passed": false}"#);
    answers(
        "return {'passed': True, 'message': 'm', 'outputs': {'n': 1}}",
        r#"{"passed": true, "message": "m", "outputs": {"n": 1}}"#,
    );
    answers(
        "return 1",
        "error: the hook `f` of `check.py` failed: TypeError: the function returned int; it must return a bool or a dict with `passed`",
    );
    answers(
        "return {'passed': 1}",
        "error: the hook `f` of `check.py` failed: TypeError: `passed` in the result must be True or False",
    );
    answers(
        "return {'passed': True, 'score': 1}",
        "error: the hook `f` of `check.py` failed: TypeError: the result has unknown keys: score; it may have message, metadata, outputs, passed",
    );
    answers(
        "return None",
        "error: the hook `f` of `check.py` failed: TypeError: the function returned NoneType; it must return a bool or a dict with `passed`",
    );
}

#[test]
fn the_artifact_has_attributes() {
    answers("return artifact.status == 'success' and artifact.status.value == 'success'", r#"{"passed": true}"#);
    answers("return artifact.trace[0].tool_name == 't' and artifact.trace[0].call_id is None", r#"{"passed": true}"#);
    answers("return artifact.timing.duration_seconds is None and artifact.error is None", r#"{"passed": true}"#);
    answers("return context.check_id == 'c1'", r#"{"passed": true}"#);
    answers(
        "return artifact.colour",
        "error: the hook `f` of `check.py` failed: AttributeError: a run artifact has no `colour` there",
    );
}

#[test]
fn failures_of_a_hook_are_reported() {
    answers("raise RuntimeError('x')", "error: the hook `f` of `check.py` failed: RuntimeError: x");
    answers("raise SystemExit(3)", "error: the hook `f` of `check.py` failed: SystemExit: 3");
    answers("import os; os._exit(7)", "error: the hook `f` of `check.py` ended without an answer (exit status: 7)");
}

#[test]
fn a_hook_that_takes_too_long_is_ended_with_what_it_started() {
    let source =
        "import subprocess, time\ndef f():\n    subprocess.Popen(['sleep', '600'])\n    while True: time.sleep(1)\n";
    // The interpreter may need a while to start; the sleep would be noticed by far.
    let Some(got) = answered(source, Duration::from_secs(3)) else { return };
    assert_eq!(got, "error: the hook `f` of `check.py` took longer than 3 seconds");
}
