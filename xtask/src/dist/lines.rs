//! The install lines of the README, run against the files of a release.
//!
//! The lines name files as a release has them. They run in an empty folder that holds copies of these files, with an
//! environment of Python in front of `PATH`; what is installed by them must then say its version and judge an example.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use chores::chore::Failure;
use chores::installation::{PYTHON, make_environment};
use chores::program;

use super::cannot;

/// The heading that the lines stand under.
const HEADING: &str = "## Install";
const SUITE: &str = "examples/appliances/suite.yaml";
const REPLIES: &str = "examples/appliances/effects.jsonl";

/// Runs every block of the README's section, each in a folder of its own.
pub(super) fn follow(release: &Path, version: &str) -> Result<(), Failure> {
    let readme = program::root().join("README.md");
    let readme = fs::read_to_string(&readme).map_err(|error| cannot("read", &readme, &error))?;
    let blocks = blocks(&readme);
    if blocks.is_empty() {
        return Err(Failure::new(format!("the README has no block of commands under `{HEADING}`")));
    }
    for (ix, block) in blocks.iter().enumerate() {
        let folder = release.with_extension("test").join(ix.to_string());
        install(block, release, &folder)?;
        try_command(&folder, version)?;
    }
    println!("{} ways to install, each tried", blocks.len());
    Ok(())
}

/// The blocks of commands between the heading and the next one, but those that build from source.
fn blocks(readme: &str) -> Vec<&str> {
    let section = readme.split_once(HEADING).map_or("", |(_, rest)| rest);
    let section = section.split_once("\n## ").map_or(section, |(section, _)| section);
    let blocks = section.split("```sh\n").skip(1).filter_map(|it| Some(it.split_once("```")?.0));
    blocks.filter(|it| !it.contains("cargo ")).collect()
}

fn install(block: &str, release: &Path, folder: &Path) -> Result<(), Failure> {
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(|error| cannot("empty", folder, &error))?;
    }
    fs::create_dir_all(folder).map_err(|error| cannot("make", folder, &error))?;
    make_environment(PYTHON, &environment(folder))?;
    for file in fs::read_dir(release).map_err(|error| cannot("read", release, &error))?.filter_map(Result::ok) {
        let to = folder.join(file.file_name());
        fs::copy(file.path(), &to).map_err(|error| cannot("copy", &file.path(), &error))?;
    }
    println!("{block}");
    program::run(shell(folder)?.arg("-euc").arg(block).env("PIP_NO_INDEX", "1"))
}

/// What was installed says the version of the release, and judges the first example of the README.
fn try_command(folder: &Path, version: &str) -> Result<(), Failure> {
    let said = program::output(shell(folder)?.args(["-euc", "jurat --version"]))?;
    if said.trim() != format!("jurat {version}") {
        return Err(Failure::new(format!("`jurat --version` printed `{}`, and {version} is released", said.trim())));
    }
    let run = format!("jurat run \"$1/{SUITE}\" --replay \"$1/{REPLIES}\"");
    let judged = program::output(shell(folder)?.args([
        "-euc".as_ref(),
        run.as_ref(),
        OsStr::new("jurat"),
        program::root().as_os_str(),
    ]))?;
    if judged.contains("7 cases: 3 passed, 4 failed") {
        return Ok(());
    }
    Err(Failure::new(format!("the first example ended otherwise than in the README:\n{judged}")))
}

fn environment(folder: &Path) -> PathBuf {
    folder.join("environment")
}

/// A shell in the folder that finds the folder's own programs first.
fn shell(folder: &Path) -> Result<Command, Failure> {
    let mut shell = Command::new("bash");
    let path = program::path_with(&[environment(folder).join("bin"), folder.join(".local/bin")])?;
    shell.current_dir(folder).env("PATH", path).env("HOME", folder);
    Ok(shell)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_section_counts_and_nothing_that_builds() {
        let readme = "```sh\nmake\n```\n## Install\n\n```sh\npip install x\n```\nor\n```sh\ncargo install x\n```\n## Next\n```sh\nls\n```\n";
        assert_eq!(blocks(readme), ["pip install x\n"]);
    }

    #[test]
    fn the_readme_has_a_wheel_and_an_archive_to_install() {
        let readme = fs::read_to_string(program::root().join("README.md")).expect("there is a README");
        let blocks = blocks(&readme).join("");
        assert!(blocks.contains(".whl") && blocks.contains(".tar.gz"), "{blocks}");
    }
}
