//! Machines without a sandbox: `check` notes what `run` refuses, both before anything is run.

use std::process::Stdio;

use crate::command::{Ended, Folder, ended};

/// Becomes a program on a kernel that seems not to have a system call.
const WRAPPER: &str = r#"
import ctypes, os, sys

class Instruction(ctypes.Structure):
    _fields_ = [("code", ctypes.c_ushort), ("jt", ctypes.c_ubyte), ("jf", ctypes.c_ubyte), ("k", ctypes.c_uint)]

class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("first", ctypes.POINTER(Instruction))]

steps = [(0x20, 0, 0, 0), (0x15, 0, 1, int(sys.argv[1])), (0x06, 0, 0, 0x50000 | 38), (0x06, 0, 0, 0x7fff0000)]
program = Program(len(steps), (Instruction * len(steps))(*steps))
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, ctypes.byref(program)) == 0
os.execv(sys.argv[2], sys.argv[2:])
"#;

/// `landlock_create_ruleset`, which has the same number on every architecture.
const LANDLOCK: &str = "444";

const EVALUATOR: &str = "suite: code
records: [{ id: a, answer: Paid. }]
evaluators:
  tone: { source: 'def evaluate(answer): return 1' }
tasks: [{ id: long, evaluate: tone, field_path: score, operator: equals, expected_value: 1 }]
";

const AGENT: &str = "suite: agents
agents: { mine: { command: [sh, -c, 'echo hello'], output: text } }
cases: [{ id: greet, task: Say hello. }]
tasks: [{ id: done, check: { kind: status_is, expected: success } }]
";

/// Runs the command on a kernel without Landlock.
fn without_landlock(folder: &Folder, arguments: &[&str]) -> Ended {
    let jurat = folder.command().get_program().to_owned();
    let mut wrapped = std::process::Command::new("python3");
    wrapped.args(["-c", WRAPPER, LANDLOCK]).arg(jurat).args(arguments);
    wrapped.current_dir(folder.path()).stdin(Stdio::null());
    ended(&mut wrapped)
}

#[track_caller]
fn noted(suite: &str, message: &str) {
    let folder = Folder::with("suite.yaml", suite);
    assert_eq!(folder.jurat(&["check", "suite.yaml"]).stdout.lines().count(), 1, "this machine has a sandbox");
    for verb in ["check", "plan"] {
        let checked = without_landlock(&folder, &[verb, "suite.yaml"]);
        assert_eq!(checked.code, Some(0), "{checked:?}");
        assert!(verb == "plan" || checked.stdout.contains(&format!("  note: {message}")), "{checked:?}");
    }
    let refused = without_landlock(&folder, &["run", "suite.yaml"]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains(&format!("error[run::needs_option]: {message}")), "{}", refused.stderr);
    assert!(refused.stderr.contains("suite.yaml:"), "{}", refused.stderr);
}

#[test]
fn code_of_evaluators_needs_landlock() {
    noted(EVALUATOR, "evaluator `tone`: code of authors is not run here: `landlock` is not in force: ");
    let folder = Folder::with("suite.yaml", EVALUATOR);
    let unsafe_run = without_landlock(&folder, &["run", "suite.yaml", "--unsafe-code"]);
    assert_eq!(unsafe_run.code, Some(0), "{unsafe_run:?}");
}

#[test]
fn agents_need_landlock() {
    noted(AGENT, "agent `mine`: agents are not run here without a sandbox: Landlock is not in force");
}
