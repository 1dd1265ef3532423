//! `cargo xtask wheel`: the Python package as it is published.

use std::path::Path;

use chores::chore::{Arguments, Chore, Failure};
use chores::installation::PYTHON;
use chores::python;

pub(crate) const CHORE: Chore = Chore {
    name: "wheel",
    arguments: "[test [PYTHON] | for PYTHON]",
    about: "builds the wheel of the Python package as it is published, into `target/wheels`, for Linux with glibc 2.28 or later; takes several minutes\n\
            test   builds it without optimisation, installs it and runs its tests instead, on `python3` or on PYTHON:\n\
            `python3.13`, or the path of an interpreter\n\
            for    builds it for a free-threaded interpreter, which needs a wheel of its own",
    run,
};

fn run(mut arguments: Arguments) -> Result<(), Failure> {
    let word = arguments.word();
    let python = word.as_ref().and_then(|_| arguments.word());
    arguments.finish()?;
    match word.as_deref() {
        None => print(&python::published(None)?),
        Some("for") => {
            let python = python.ok_or_else(|| Failure::Usage("`for` needs an interpreter".to_owned()))?;
            print(&python::published(Some(&python))?)
        }
        Some("test") => python::test(python.as_deref().unwrap_or(PYTHON)),
        Some(word) => Err(Failure::Usage(format!("`{word}` means nothing here"))),
    }
}

fn print(wheel: &Path) -> Result<(), Failure> {
    println!("{}", wheel.display());
    Ok(())
}
