//! Systems that cannot isolate code.

use jurat_sandbox::{CodeRunner as _, InForce, Language, Layer, Pool, PoolOptions, Program, Refused, Source};

use crate::pools::{POOL, PYTHON, call, shown};

/// Becomes a worker on a kernel that seems not to have a system call.
const WRAPPER: &str = r#"
import ctypes, os, sys

class Instruction(ctypes.Structure):
    _fields_ = [("code", ctypes.c_ushort), ("jt", ctypes.c_ubyte), ("jf", ctypes.c_ubyte), ("k", ctypes.c_uint)]

class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("first", ctypes.POINTER(Instruction))]

steps = [(0x20, 0, 0, 0), (0x15, 0, 1, int(sys.argv[2])), (0x06, 0, 0, 0x50000 | 38), (0x06, 0, 0, 0x7fff0000)]
program = Program(len(steps), (Instruction * len(steps))(*steps))
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, ctypes.byref(program)) == 0
os.execv(sys.argv[1], [sys.argv[1]])
"#;

const LANDLOCK: i64 = libc::SYS_landlock_create_ruleset;
const SECCOMP: i64 = libc::SYS_seccomp;

fn pool(missing: i64, is_unsafe: bool) -> Pool {
    let worker = env!("CARGO_BIN_EXE_jurat-worker").to_owned();
    let arguments = vec!["-c".to_owned(), WRAPPER.to_owned(), worker, missing.to_string()];
    Pool::new(PoolOptions { is_unsafe, ..PoolOptions::of(Program { path: PYTHON.clone(), arguments }) })
}

fn source(language: Language) -> Source {
    let text =
        if language == Language::Python { "def evaluate():\n    return 1\n" } else { "const evaluate = () => 1" };
    Source { python: Some(PYTHON.clone()), ..Source::new(language, text) }
}

#[test]
fn code_is_refused_where_it_cannot_be_held() {
    for language in [Language::Python, Language::TypeScript] {
        for (missing, name) in [(LANDLOCK, "`landlock` is not in force"), (SECCOMP, "`seccomp` is not in force")] {
            let refused = pool(missing, false).prepare(source(language)).wait().expect_err("it is refused");
            assert!(matches!(refused, Refused::Unprotected(_)), "{refused:?}");
            assert!(refused.to_string().contains(name), "{refused}");
            assert!(refused.to_string().contains("--unsafe-code"), "{refused}");
        }
    }
}

#[test]
fn code_that_is_run_all_the_same_says_what_was_missing() {
    for language in [Language::Python, Language::TypeScript] {
        for (missing, layer) in [(LANDLOCK, Layer::Landlock), (SECCOMP, Layer::Seccomp)] {
            let pool = pool(missing, true);
            let prepared = pool.prepare(source(language)).wait().expect("it was asked for");
            let InForce { layers, missing } = prepared.in_force();
            assert_eq!(Layer::ALL.into_iter().filter(|it| !layers.contains(it)).collect::<Vec<_>>(), [layer]);
            assert_eq!(missing.len(), 1, "{missing:?}");
            assert!(!prepared.in_force().is_safe());
            assert_eq!(shown(&call(&pool, &prepared, &["{}"])[0]), "1");
        }
    }
}

#[test]
fn an_interpreter_that_is_none_is_named() {
    let named = |path: &str| {
        let source = Source { python: Some(path.into()), ..source(Language::Python) };
        POOL.prepare(source).wait().expect_err("it is refused").to_string()
    };
    assert!(named("/nowhere/python3").starts_with("`/nowhere/python3` cannot be started: "));
    assert!(named("/bin/echo").contains("is no Python interpreter"));
    assert!(named("/bin/false").contains("`/bin/false` does not work"));
}

/// The parent of jurat may have limited it to less than evaluators may have.
#[test]
fn a_lower_limit_of_the_user_counts() {
    let script = format!("ulimit -v 600000; exec {}", env!("CARGO_BIN_EXE_jurat-worker"));
    let program = Program { path: "/bin/sh".into(), arguments: vec!["-c".to_owned(), script] };
    let pool = Pool::new(PoolOptions { n_workers: 1, ..PoolOptions::of(program) });
    let text = "def evaluate(n):\n    return len(bytearray(n * 1_000_000))\n";
    let mut source = Source { python: Some(PYTHON.clone()), ..Source::new(Language::Python, text) };
    source.limits.memory = 4 << 30;
    let prepared = pool.prepare(source).wait().expect("it is in force");
    let results = call(&pool, &prepared, &[r#"{"n": 10}"#, r#"{"n": 900}"#]);
    assert_eq!(shown(&results[0]), "10000000");
    assert_eq!(shown(&results[1]), "error: MemoryError (line 2)");
}
