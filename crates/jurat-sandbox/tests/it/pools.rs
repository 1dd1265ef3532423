//! What the tests ask of a pool, in words.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;
use std::sync::LazyLock;
use std::time::Duration;

use jurat_sandbox::{
    Arguments, CodeRunner as _, Failure, Isolation, Language, Layer, Pool, PoolOptions, Prepared, Program, Return,
    Source,
};

/// A pool with every protection, for all tests.
pub(crate) static POOL: LazyLock<Pool> = LazyLock::new(|| pool(&[]));

/// The interpreter itself, in case `python3` is a script that looks for one.
pub(crate) static PYTHON: LazyLock<PathBuf> = LazyLock::new(|| {
    let output = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output();
    let output = output.expect("tests need `python3`");
    String::from_utf8(output.stdout).expect("it is a path").trim().into()
});

/// A pool without some protections.
pub(crate) fn pool(without: &[Layer]) -> Pool {
    let program = Program { path: env!("CARGO_BIN_EXE_jurat-worker").into(), arguments: Vec::new() };
    let without: BTreeSet<Layer> = without.iter().copied().collect();
    let is_unsafe = !without.is_empty();
    Pool::new(PoolOptions { n_workers: 2, is_unsafe, without, ..PoolOptions::of(program) })
}

/// A source with a deadline that tests can wait for.
pub(crate) fn source(language: Language, isolation: Isolation, text: &str) -> Source {
    let mut source = Source::new(language, text);
    source.isolation = isolation;
    source.python = Some(PYTHON.clone());
    source.limits.deadline = Duration::from_secs(20);
    source
}

/// Calls a source once for each of the arguments.
#[track_caller]
pub(crate) fn results(pool: &Pool, source: Source, arguments: &[&str]) -> Vec<Result<Return, Failure>> {
    let prepared = match pool.prepare(source).wait() {
        Ok(prepared) => prepared,
        Err(refused) => panic!("refused: {refused}"),
    };
    call(pool, &prepared, arguments)
}

pub(crate) fn call(pool: &Pool, prepared: &Prepared, arguments: &[&str]) -> Vec<Result<Return, Failure>> {
    let arguments = arguments.iter().map(|it| Arguments::from_json(*it).expect("arguments are JSON objects"));
    pool.call(prepared, arguments.collect()).wait()
}

/// What came of a call, in words.
pub(crate) fn shown(result: &Result<Return, Failure>) -> String {
    match result {
        Ok(Return { value, stdout, stderr }) => {
            let said =
                |name: &str, text: &str| if text.is_empty() { String::new() } else { format!(" {name} {text:?}") };
            format!("{value}{}{}", said("stdout", &stdout.text), said("stderr", &stderr.text))
        }
        Err(failure) => format!("error: {failure}"),
    }
}
