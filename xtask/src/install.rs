//! `cargo xtask install`: what the tests need from PyPI and npm.

use chores::chore::{Arguments, Chore, Failure};
use chores::python;

use crate::{agents, browser, importers, servers};

pub(crate) const CHORE: Chore = Chore {
    name: "install",
    arguments: "",
    about: "installs what `test` needs from PyPI and npm; `test` does so by itself",
    run,
};

fn run(arguments: Arguments) -> Result<(), Failure> {
    arguments.finish()?;
    python::environment()?;
    servers::install_all()?;
    agents::install_some()?;
    browser::install()?;
    importers::install()
}
