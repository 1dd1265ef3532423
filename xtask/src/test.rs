//! `cargo xtask test`: everything that must hold before a change is merged, in one command.
//!
//! The steps are a list, cheapest first, and the first that fails ends the run. Continuous integration runs this very
//! command, so what passes here passes there.

use std::time::{Duration, Instant};

use crate::chore::{Arguments, Chore, Failure};
use crate::{agents, bench, fuzz, generated, program, python, servers};

pub(crate) const CHORE: Chore = Chore {
    name: "test",
    arguments: "[--quick]",
    about: "runs every check of the project and stops at the first that fails\n\
            --quick   formatting, lints and tests only",
    run,
};

/// How many of the slowest steps are named at the end.
const SLOWEST: usize = 8;

const STEPS: &[Step] = &[
    Step { name: "format", when: When::Always, work: Work::Cargo(&["fmt", "--all", "--check"], &[]) },
    Step { name: "generated files", when: When::Always, work: Work::Function(generated::check) },
    // The fuzz targets are a workspace of their own.
    Step {
        name: "format of fuzz targets",
        when: When::Always,
        work: Work::Cargo(&["fmt", "--manifest-path", "fuzz/Cargo.toml", "--check"], &[]),
    },
    Step {
        name: "lints",
        when: When::Always,
        work: Work::Cargo(&["clippy", "--locked", "--workspace", "--all-targets", "--", "-D", "warnings"], &[]),
    },
    Step {
        name: "documentation",
        when: When::Full,
        work: Work::Cargo(&["doc", "--locked", "--workspace", "--no-deps"], &[("RUSTDOCFLAGS", "-D warnings")]),
    },
    Step { name: "tests", when: When::Always, work: Work::Cargo(&["test", "--locked", "--workspace"], &[]) },
    Step { name: "python package", when: When::Full, work: Work::Function(python::test) },
    Step { name: "real models", when: When::Full, work: Work::Function(servers::real_models) },
    Step { name: "real agents", when: When::Full, work: Work::Function(agents::some) },
    Step { name: "fuzz targets", when: When::Full, work: Work::Function(fuzz::briefly) },
    Step { name: "instructions", when: When::Full, work: Work::Function(bench::gate) },
];

/// One thing to check.
struct Step {
    name: &'static str,
    when: When,
    work: Work,
}

/// Which runs a step belongs to.
#[derive(PartialEq)]
enum When {
    Always,
    /// Left out by `--quick`.
    Full,
}

enum Work {
    /// Cargo with these arguments, and these variables in its environment.
    Cargo(&'static [&'static str], &'static [(&'static str, &'static str)]),
    Function(fn() -> Result<(), Failure>),
}

fn run(mut arguments: Arguments) -> Result<(), Failure> {
    let quick = arguments.flag("--quick");
    arguments.finish()?;
    let steps: Vec<&Step> = STEPS.iter().filter(|it| it.when == When::Always || !quick).collect();
    let mut times = Vec::new();
    for (ix, step) in steps.iter().enumerate() {
        eprintln!("--- {} ({} of {})", step.name, ix + 1, steps.len());
        let start = Instant::now();
        let done = perform(&step.work);
        let time = start.elapsed();
        if let Err(failure) = done {
            let (name, seconds) = (step.name, time.as_secs_f64());
            return Err(Failure::new(format!("step `{name}` failed after {seconds:.1} s: {}", failure.message())));
        }
        eprintln!("--- {}: {:.1} s\n", step.name, time.as_secs_f64());
        times.push((step.name, time));
    }
    eprint!("{}", slowest(times));
    Ok(())
}

fn perform(work: &Work) -> Result<(), Failure> {
    match work {
        Work::Cargo(arguments, environment) => {
            program::run(program::cargo().args(*arguments).envs(environment.iter().copied()))
        }
        Work::Function(function) => function(),
    }
}

fn slowest(mut times: Vec<(&str, Duration)>) -> String {
    let total: Duration = times.iter().map(|(_, time)| *time).sum();
    let mut text = format!("all {} steps passed in {:.1} s; the slowest:\n", times.len(), total.as_secs_f64());
    times.sort_by_key(|(_, time)| std::cmp::Reverse(*time));
    for (name, time) in times.iter().take(SLOWEST) {
        text += &format!("{:>8.1} s  {name}\n", time.as_secs_f64());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_steps_come_first() {
        let times = vec![("format", Duration::from_millis(400)), ("tests", Duration::from_secs(61))];
        let text = "all 2 steps passed in 61.4 s; the slowest:\n    61.0 s  tests\n     0.4 s  format\n";
        assert_eq!(slowest(times), text);
    }
}
