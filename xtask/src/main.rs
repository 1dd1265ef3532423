//! The project's own chores, run as `cargo xtask CHORE`.
//!
//! One file per chore:
//!
//! * [`mod@test`]: everything that must hold before a change is merged.
//! * [`conformance`]: recorded behaviour against ours.
//! * [`fuzz`]: coverage-guided fuzzing of the readers.
//! * [`generated`]: files that are made from the program.
//! * [`mod@reference`]: pages of the reference that are made from the program.
//! * [`mod@bench`]: what comparing, reading and whole runs cost.
//! * [`servers`]: real servers to test against.
//! * [`python`]: the Python package.
//! * [`agents`]: real agents to drive.
//!
//! and what they share: [`chore`] is how a chore is described, reads its arguments and fails, [`program`] runs other
//! programs and sees to it that they exist.
//!
//! Rules about the source itself (which crate may know which, what the core may not touch) are tests in `tests/it`.

mod agents;
mod bench;
mod builtin_reference;
mod check_reference;
mod chore;
mod conformance;
mod fuzz;
mod generated;
mod key_reference;
mod program;
mod python;
mod reference;
mod runner_reference;
mod servers;
mod test;

use std::process::ExitCode;

use chore::{Arguments, Chore, Failure};

const CHORES: &[Chore] = &[
    test::CHORE,
    conformance::CHORE,
    fuzz::CHORE,
    bench::CHORE,
    generated::CHORE,
    servers::CHORE,
    python::CHORE,
    agents::CHORE,
];

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let name = words.next();
    match name.as_deref() {
        Some("help" | "--help" | "-h") => {
            print!("{}", usage());
            ExitCode::SUCCESS
        }
        Some(name) => match run(name, Arguments::of(words)) {
            Ok(()) => ExitCode::SUCCESS,
            Err(Failure::Told) => ExitCode::FAILURE,
            Err(Failure::Failed(message)) => {
                eprintln!("error: {message}");
                ExitCode::FAILURE
            }
            Err(Failure::Usage(message)) => misused(&message),
        },
        None => misused("no chore was named"),
    }
}

fn run(name: &str, arguments: Arguments) -> Result<(), Failure> {
    match CHORES.iter().find(|it| it.name == name) {
        Some(chore) => (chore.run)(arguments),
        None => Err(Failure::Usage(format!("there is no chore `{name}`"))),
    }
}

fn misused(message: &str) -> ExitCode {
    eprint!("error: {message}\n\n{}", usage());
    ExitCode::from(2)
}

fn usage() -> String {
    let mut text = "usage: cargo xtask CHORE [ARGUMENTS]\n\nchores:\n".to_owned();
    for chore in CHORES {
        text += &format!("  {} {}\n", chore.name, chore.arguments);
        for line in chore.about.lines() {
            text += &format!("      {line}\n");
        }
    }
    text
}
