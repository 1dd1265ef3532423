//! `cargo xtask bench`: what things cost, and whether they cost more than they did.
//!
//! The works of comparing and reading stand in `crates/jurat-core/benches/compare`; this chore runs them and draws
//! conclusions. Times are for people ([`compare`]): the machine is noisy, so they are CPU time, interleaved, and judged as
//! ratios within one run. What a change may not make worse is counted in instructions ([`mod@gate`]), which do not depend on
//! the neighbours. What whole runs cost ([`mod@run`]) is measured from outside, beside programs that do the least possible; what the Python package
//! costs ([`mod@peers`]) beside a peer, and what batches of Arrow cost ([`mod@scale`]) beside a run. What its statistics promise, and whether they keep it, is simulated by `xtask/simulation`.

mod compare;
mod gate;
mod peers;
mod rounds;
mod run;
mod scale;

use std::env;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use chores::chore::{self, Arguments, Failure};
use chores::program;

fn main() -> ExitCode {
    chore::only(run)
}

fn run(mut arguments: Arguments) -> Result<(), Failure> {
    let what = arguments.word();
    match what.as_deref() {
        Some("run") => run::run(arguments),
        Some("peers") => peers::peers(arguments),
        Some("scale") => scale::scale(arguments),
        Some("statistics") => simulate(arguments),
        Some("compare") => arguments.finish().and_then(|()| compare::compare()),
        Some("gate") => {
            let accept = arguments.flag("--accept");
            arguments.finish()?;
            if accept { gate::accept() } else { gate::gate() }
        }
        _ => Err(Failure::Usage("`bench` wants `compare`, `gate`, `run`, `peers`, `scale` or `statistics`".to_owned())),
    }
}

/// Simulates comparisons in a program of its own, which is optimised: it draws millions of them.
fn simulate(arguments: Arguments) -> Result<(), Failure> {
    let program = measured("xtask-simulation")?;
    program::run(Command::new(program).args(arguments.words()))
}

/// The benchmark program, compiled.
struct Bench(PathBuf);

/// One thing that the program can do.
#[derive(Debug, Clone, PartialEq)]
struct Work {
    group: String,
    name: String,
}

impl Bench {
    fn build() -> Result<Bench, Failure> {
        benchmark("jurat-core", "compare").map(Bench)
    }

    fn works(&self) -> Result<Vec<Work>, Failure> {
        let listed = program::output(Command::new(&self.0).arg("list"))?;
        let works = listed.lines().filter_map(|line| line.split_once(' '));
        Ok(works.map(|(group, name)| Work { group: group.to_owned(), name: name.to_owned() }).collect())
    }

    /// Instructions of each work, per repeat. Every run has the same set-up, so one run without repeats is subtracted
    /// from all others.
    fn instructions(&self, works: &[Work]) -> Result<Vec<f64>, Failure> {
        program::ensure("valgrind")?;
        let Some(first) = works.first() else { return Ok(Vec::new()) };
        let setup = self.count(&first.name, 0)?;
        let per_repeat = |work: &Work| {
            let n = repeats(work);
            Ok(self.count(&work.name, n)?.saturating_sub(setup) as f64 / n as f64)
        };
        works.iter().map(per_repeat).collect()
    }

    fn count(&self, name: &str, n: u64) -> Result<u64, Failure> {
        let mut valgrind = Command::new("valgrind");
        valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(&self.0);
        // Where the stack begins depends on the environment, and what copying costs depends on where things lie.
        valgrind.args(["repeat", name, &n.to_string()]).env_clear().envs(env::var_os("PATH").map(|it| ("PATH", it)));
        let (_, said) = program::both_outputs(&mut valgrind)?;
        collected(&said).ok_or_else(|| Failure::new(format!("callgrind reported no count for `{name}`: {said}")))
    }
}

/// Builds the program of a package, optimised as whole runs are measured.
fn measured(package: &str) -> Result<PathBuf, Failure> {
    program::built(program::cargo().args(["build", "--locked", "--profile", "measured", "--package", package]))
}

/// Builds a benchmark of a package.
fn benchmark(package: &str, name: &str) -> Result<PathBuf, Failure> {
    program::built(program::cargo().args(["bench", "--locked", "--no-run", "--package", package, "--bench", name]))
}

/// Enough that a few hundred instructions of set-up, more or less, do not show.
fn repeats(work: &Work) -> u64 {
    if work.group == "comparison" { 20_000 } else { 1_000 }
}

/// `==17952== Collected : 11593246`
fn collected(said: &str) -> Option<u64> {
    let count = said.lines().find_map(|line| line.split_once("Collected :"))?.1;
    count.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_say_is_understood() {
        assert_eq!(collected("==7== Events    : Ir\n==7== Collected : 11593246\n==7==\n"), Some(11_593_246));
        assert_eq!(collected("==7== cannot\n"), None);
    }
}
