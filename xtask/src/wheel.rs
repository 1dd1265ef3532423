//! `cargo xtask wheel`: the Python package as it is published.

use chores::chore::{Arguments, Chore, Failure};
use chores::python;

pub(crate) const CHORE: Chore = Chore {
    name: "wheel",
    arguments: "[test]",
    about: "builds the wheel of the Python package as it is published, into `target/wheels`; takes several minutes\n\
            test   builds it without optimisation, installs it and runs its tests instead",
    run,
};

fn run(mut arguments: Arguments) -> Result<(), Failure> {
    let word = arguments.word();
    arguments.finish()?;
    match word.as_deref() {
        None => {
            println!("{}", python::published()?.display());
            Ok(())
        }
        Some("test") => python::test(),
        Some(word) => Err(Failure::Usage(format!("`{word}` means nothing here"))),
    }
}
