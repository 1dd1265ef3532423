//! `cargo xtask browser`: the viewer in a real browser.
//!
//! Debian's Chromium is driven by `playwright-core`, and `axe-core` looks for what keeps people out. Both come from npm in the versions of the lock file in
//! `tests/browser`, where the tests are. What they look at is made by the program that is tested.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use chores::chore::{Arguments, Chore, Failure};
use chores::installation::{installed, with_remedy};
use chores::{program, python};

pub(crate) const CHORE: Chore = Chore {
    name: "browser",
    arguments: "[--only TEXT] [--force] | --screenshots | --million PROGRAM | --peers PROGRAM",
    about: "tests the viewer in Chromium; tests that passed are not run again while nothing that they depend on has changed\n\
            --only TEXT   only tests whose names have it\n\
            --force       runs them whatever has changed\n\
            --screenshots takes the pictures of the documentation instead, into docs/images\n\
            --million PROGRAM measures pages of runs with a million cases and 100,000 calls of a judge instead, with an optimised build of the command\n\
            --peers PROGRAM measures Inspect View and promptfoo, from PyPI and npm, beside it instead",
    run,
};

fn run(mut arguments: Arguments) -> Result<(), Failure> {
    let only = arguments.text("--only")?;
    let (is_forced, takes_pictures) = (arguments.flag("--force"), arguments.flag("--screenshots"));
    let measured = arguments.text("--million")?.map(PathBuf::from);
    let compared = arguments.text("--peers")?.map(PathBuf::from);
    arguments.finish()?;
    install()?;
    let script = match (&measured, &compared, takes_pictures) {
        (Some(_), ..) => "million.mjs",
        (None, Some(_), _) => "peers.mjs",
        (None, None, true) => "screenshots.mjs",
        (None, None, false) => "main.mjs",
    };
    let built = || program::built(program::cargo_as_tested().args(["--bin", "jurat"]));
    let peers = compared.as_ref().map(|_| Peers::install()).transpose()?;
    let jurat = measured.or(compared).map_or_else(built, Ok)?;
    let mut node = Command::new("node");
    node.arg(tests().join(script)).arg("--jurat").arg(jurat);
    node.arg("--modules").arg(modules()).arg("--work").arg(directory());
    node.args(only.iter().flat_map(|it| ["--only", it])).args(is_forced.then_some("--force"));
    if let Some(Peers { inspect, promptfoo }) = peers {
        node.arg("--inspect").arg(inspect).arg("--promptfoo").arg(promptfoo);
    }
    program::run(&mut node)
}

/// Viewers of other products, installed: the environment of one, and the folder of the other.
struct Peers {
    inspect: PathBuf,
    promptfoo: PathBuf,
}

/// The release of promptfoo that is measured; that of Inspect is in the list of requirements.
const PROMPTFOO: &str = "promptfoo@0.121.20";

impl Peers {
    fn install() -> Result<Peers, Failure> {
        let inspect = python::environment_of("peers", &tests().join("peers/requirements.txt"))?;
        let promptfoo = directory().join("promptfoo");
        installed(&promptfoo, PROMPTFOO, PROMPTFOO, || {
            fs::create_dir_all(&promptfoo)
                .map_err(|error| Failure::new(format!("cannot make {}: {error}", promptfoo.display())))?;
            let mut npm = Command::new("npm");
            // Its database is compiled or fetched by a script of its package.
            npm.current_dir(&promptfoo).args(["install", "--no-audit", "--no-fund", "--loglevel=error", PROMPTFOO]);
            let remedy = "npm needs its registry, or one that its configuration names";
            with_remedy(program::output(&mut npm).map(drop), remedy)
        })?;
        Ok(Peers { inspect, promptfoo })
    }
}

/// Sees to it that the browser and what drives it are there.
pub(crate) fn install() -> Result<(), Failure> {
    program::ensure("chromium")?;
    program::ensure("npm")?;
    let folder = modules();
    let lock = read("package-lock.json")?;
    installed(&folder, "what drives the browser", &lock, || {
        fs::create_dir_all(&folder)
            .and_then(|()| fs::write(folder.join("package-lock.json"), &lock))
            .and_then(|()| fs::copy(tests().join("package.json"), folder.join("package.json")))
            .map_err(|error| Failure::new(format!("cannot write {}: {error}", folder.display())))?;
        let mut npm = Command::new("npm");
        npm.current_dir(&folder).args(["ci", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"]);
        let remedy = "npm needs its registry, or one that its configuration names";
        with_remedy(program::output(&mut npm).map(drop), remedy)
    })
}

fn read(name: &str) -> Result<String, Failure> {
    let path = tests().join(name);
    fs::read_to_string(&path).map_err(|error| Failure::new(format!("cannot read {}: {error}", path.display())))
}

fn tests() -> PathBuf {
    program::root().join(Path::new("tests/browser"))
}

fn directory() -> PathBuf {
    program::target_directory().join("browser")
}

fn modules() -> PathBuf {
    directory().join("packages")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lock_file_pins_packages_and_names_no_host() {
        let lock = read("package-lock.json").expect("there is a lock file");
        assert!(lock.contains("\"integrity\": \"sha512-") && !lock.contains("\"resolved\""), "{lock}");
        for line in read("package.json").expect("there is a list of packages").lines().filter(|it| it.contains("-core"))
        {
            assert!(lock.contains(line.trim().trim_end_matches(',')), "{line}");
        }
    }
}
