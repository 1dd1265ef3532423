//! The project's own chores, run as `cargo xtask CHORE`.
//!
//! One file per chore:
//!
//! * [`mod@test`]: everything that must hold before a change is merged.
//! * [`fuzz`]: coverage-guided fuzzing of the readers.
//! * [`servers`]: real servers to test against.
//! * [`wheel`]: the Python package.
//! * [`dist`]: what a release publishes.
//! * [`agents`]: real agents to drive.
//! * [`browser`]: the viewer in a real browser.
//! * [`scale`]: engines that distribute rows.
//! * [`postgres`]: a database server, for the journal that a team shares.
//! * [`importers`]: real tools whose files are imported.
//! * [`install`]: what tests need from PyPI and npm.
//! * [`judges`]: how far a model agrees with the labelled sets of the ready judges.
//!
//! [`packages`] lists the chores that are packages of their own: benchmarks, conformance, generated files. What all of them
//! share is the library of this package.
//!
//! Rules about the source itself (which crate may know which, what the core may not touch) are tests in `tests/it`.

mod agents;
mod browser;
mod dist;
mod fuzz;
mod importers;
mod install;
mod judges;
mod packages;
mod postgres;
mod scale;
mod servers;
mod test;
mod wheel;

use std::process::ExitCode;

use chores::chore::{self, Arguments, Chore, Failure};

const CHORES: &[Chore] = &[
    test::CHORE,
    packages::CONFORMANCE,
    fuzz::CHORE,
    packages::BENCH,
    packages::GENERATE,
    servers::CHORE,
    wheel::CHORE,
    dist::CHORE,
    agents::CHORE,
    browser::CHORE,
    judges::CHORE,
    scale::CHORE,
    postgres::CHORE,
    importers::CHORE,
    install::CHORE,
    test::programs::CHORE,
];

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let done = match words.next().as_deref() {
        Some("help" | "--help" | "-h") => {
            print!("{}", usage());
            Ok(())
        }
        Some(name) => run(name, Arguments::of(words)),
        None => Err(Failure::Usage("no chore was named".to_owned())),
    };
    chore::exit_code(done, &usage())
}

fn run(name: &str, arguments: Arguments) -> Result<(), Failure> {
    match CHORES.iter().find(|it| it.name == name) {
        Some(chore) => (chore.run)(arguments),
        None => Err(Failure::Usage(format!("there is no chore `{name}`"))),
    }
}

fn usage() -> String {
    let chores: String = CHORES.iter().map(Chore::usage).collect();
    format!("usage: cargo xtask CHORE [ARGUMENTS]\n\nchores:\n{chores}")
}
