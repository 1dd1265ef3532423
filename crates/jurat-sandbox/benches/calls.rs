//! What running code of authors costs: a cold start, a call alone, a call among others, and a process for each call as others do it.
//!
//! `--worker PROGRAM` says what is started as a worker, instead of one of this crate; it is told to be one by a word. A line is the language, what was measured, and
//! microseconds, with tabs between them.
//!
//! Times are of real time and only mean something on an idle machine; what is compared is measured in one run.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use jurat_sandbox::{
    Arguments, CodeRunner as _, Isolation, Language, Pool, PoolOptions, Prepared, Program, Source, worker,
};

const PYTHON: &str = "def evaluate(output, reference):\n    same = output.strip() == reference.strip()\n    return {'label': 'same' if same else 'different', 'score': 1.0 if same else 0.0}\n";
const TYPESCRIPT: &str = "export function evaluate({ output, reference }: { output: string; reference: string }) {\n  const same = output.trim() === reference.trim();\n  return { label: same ? 'same' : 'different', score: same ? 1.0 : 0.0 };\n}\n";
const ARGUMENTS: &str = r#"{"output": "  the answer is 42 ", "reference": "the answer is 42"}"#;

fn main() {
    let python = interpreter();
    for (name, language, text) in
        [("python", Language::Python, PYTHON), ("typescript", Language::TypeScript, TYPESCRIPT)]
    {
        let source = Source { python: Some(python.clone()), ..Source::new(language, text) };
        report(
            name,
            "first result, cold",
            best(5, || {
                let pool = pool();
                let prepared = prepared(&pool, &source);
                call(&pool, &prepared, 1);
            }),
        );
        for isolation in [Isolation::Process, Isolation::Fork] {
            let pool = pool();
            let prepared = prepared(&pool, &Source { isolation, ..source.clone() });
            call(&pool, &prepared, 64);
            let n_rounds = if isolation == Isolation::Process { 100 } else { 5 };
            let single = best(n_rounds, || call(&pool, &prepared, 1));
            report(name, &format!("call alone, {isolation:?}"), single);
            let many = best(n_rounds, || call(&pool, &prepared, 64));
            report(name, &format!("call of 64, {isolation:?}"), many / 64);
        }
    }
    let spawned = best(10, || {
        let mut command = Command::new(&python);
        command.args(["-I", "-c", &format!("{PYTHON}\nimport json\nprint(json.dumps(evaluate('a ', 'a')))")]);
        assert!(command.stdout(Stdio::null()).status().expect("it starts").success());
    });
    report("python", "a process for each call", spawned);
}

fn pool() -> Pool {
    let mut given = std::env::args().skip_while(|it| it != "--worker").skip(1);
    let program = match given.next() {
        Some(path) => Program { path: path.into(), arguments: vec![worker::WORD.to_owned()] },
        None => Program { path: env!("CARGO_BIN_EXE_jurat-worker").into(), arguments: Vec::new() },
    };
    Pool::new(PoolOptions { n_workers: 1, ..PoolOptions::of(program) })
}

fn prepared(pool: &Pool, source: &Source) -> Prepared {
    pool.prepare(source.clone()).wait().expect("the source is sound")
}

fn call(pool: &Pool, prepared: &Prepared, n_calls: usize) {
    let arguments = Arguments::from_json(ARGUMENTS).expect("it is an object");
    let results = pool.call(prepared, vec![arguments; n_calls]).wait();
    assert!(results.iter().all(Result::is_ok), "{:?}", results[0]);
}

/// The shortest of some rounds: others use the machine, too.
fn best(n_rounds: usize, mut round: impl FnMut()) -> Duration {
    let time = |_| {
        let begun = Instant::now();
        round();
        begun.elapsed()
    };
    (0..n_rounds).map(time).min().unwrap_or_default()
}

fn report(language: &str, what: &str, time: Duration) {
    println!("{language}\t{what}\t{:.1}", time.as_secs_f64() * 1e6);
}

/// The interpreter itself, in case `python3` is a script that looks for one.
fn interpreter() -> PathBuf {
    let output =
        Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output().expect("there is `python3`");
    String::from_utf8(output.stdout).expect("it is a path").trim().into()
}
