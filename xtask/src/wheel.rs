//! `cargo xtask wheel`: the Python package as it is published.

use chores::chore::{Arguments, Chore, Failure};
use chores::installation::PYTHON;
use chores::python;

pub(crate) const CHORE: Chore = Chore {
    name: "wheel",
    arguments: "[test [PYTHON]]",
    about: "builds the wheel of the Python package as it is published, into `target/wheels`, for Linux with glibc 2.28 or later; takes several minutes\n\
            test   builds it without optimisation, installs it and runs its tests instead, on `python3` or on PYTHON:\n\
            `python3.13`, or the path of an interpreter",
    run,
};

fn run(mut arguments: Arguments) -> Result<(), Failure> {
    let word = arguments.word();
    let python = word.as_ref().and_then(|_| arguments.word());
    arguments.finish()?;
    match word.as_deref() {
        None => {
            println!("{}", python::published()?.display());
            Ok(())
        }
        Some("test") => python::test(python.as_deref().unwrap_or(PYTHON)),
        Some(word) => Err(Failure::Usage(format!("`{word}` means nothing here"))),
    }
}
