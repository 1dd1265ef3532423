//! `cargo xtask dist`: everything that a release publishes, in `target/dist-VERSION`.
//!
//! The wheel of the Python package, an archive with the command, a bill of materials and the checksums of all three. They
//! are built from one version, the one that `Cargo.toml` has, and against the C library of the oldest Linux that the wheel
//! promises. `cargo xtask dist test` installs them by the lines of the README.

mod archive;
mod bill;
mod lines;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use chores::chore::{Arguments, Chore, Failure};
use chores::{program, python};
use serde_json::Value;

pub(crate) const CHORE: Chore = Chore {
    name: "dist",
    arguments: "[test]",
    about: "builds what a release publishes, into `target/dist-VERSION`: the wheel, an archive with the command, an SBOM, checksums; takes 10 minutes or more\n\
            test   checks what is there: checksums, versions, and the install lines of the README in an empty folder",
    run,
};

fn run(mut arguments: Arguments) -> Result<(), Failure> {
    let word = arguments.word();
    arguments.finish()?;
    let release = Release::read()?;
    match word.as_deref() {
        None => release.build(),
        Some("test") => release.test(),
        Some(word) => Err(Failure::Usage(format!("`{word}` means nothing here"))),
    }
}

/// What is released, and where its files are.
struct Release {
    version: String,
    folder: PathBuf,
    metadata: Value,
}

impl Release {
    fn read() -> Result<Release, Failure> {
        let metadata = metadata()?;
        let version = version(&metadata).ok_or_else(|| Failure::new("cargo does not know the package `jurat-cli`"))?;
        let folder = program::target_directory().join(format!("dist-{version}"));
        Ok(Release { version, folder, metadata })
    }

    fn build(&self) -> Result<(), Failure> {
        self.clear()?;
        self.take(&python::published(None)?)?;
        archive::write(&python::command()?, &self.version, &self.folder)?;
        self.write("jurat", "cdx.json", &bill::of(&self.metadata, &checksums()?)?)?;
        self.sum()?;
        for file in self.files()? {
            println!("{}", file.display());
        }
        Ok(())
    }

    /// An older file would be published with the new ones.
    fn clear(&self) -> Result<(), Failure> {
        if self.folder.exists() {
            fs::remove_dir_all(&self.folder).map_err(|error| cannot("empty", &self.folder, &error))?;
        }
        fs::create_dir_all(&self.folder).map_err(|error| cannot("make", &self.folder, &error))
    }

    fn take(&self, file: &Path) -> Result<(), Failure> {
        let to = self.folder.join(file.file_name().unwrap_or_default());
        fs::copy(file, &to).map(drop).map_err(|error| cannot("write", &to, &error))
    }

    fn write(&self, name: &str, ending: &str, text: &str) -> Result<(), Failure> {
        let to = self.folder.join(format!("{name}-{}.{ending}", self.version));
        fs::write(&to, text).map_err(|error| cannot("write", &to, &error))
    }

    fn sum(&self) -> Result<(), Failure> {
        let mut sha256sum = Command::new("sha256sum");
        let names = self.files()?.into_iter().filter_map(|it| it.file_name().map(ToOwned::to_owned));
        let sums = program::output(sha256sum.arg("--").args(names).current_dir(&self.folder))?;
        let to = self.folder.join(SUMS);
        fs::write(&to, sums).map_err(|error| cannot("write", &to, &error))
    }

    /// What is in the folder, in the order of names.
    fn files(&self) -> Result<Vec<PathBuf>, Failure> {
        let files = fs::read_dir(&self.folder).map_err(|error| cannot("read", &self.folder, &error))?;
        let mut files: Vec<PathBuf> = files.filter_map(Result::ok).map(|it| it.path()).collect();
        files.sort();
        Ok(files)
    }

    fn test(&self) -> Result<(), Failure> {
        program::run(Command::new("sha256sum").args(["--check", "--strict", SUMS]).current_dir(&self.folder))?;
        lines::follow(&self.folder, &self.version)
    }
}

const SUMS: &str = "SHA256SUMS";

fn cannot(what: &str, path: &Path, error: &io::Error) -> Failure {
    Failure::new(format!("cannot {what} {}: {error}", path.display()))
}

/// What cargo knows of the packages that this platform is built from.
fn metadata() -> Result<Value, Failure> {
    let mut cargo = program::cargo();
    cargo.args(["metadata", "--locked", "--format-version", "1", "--filter-platform", python::TRIPLE]);
    let text = program::output(&mut cargo)?;
    serde_json::from_str(&text).map_err(|error| Failure::new(format!("cargo wrote no JSON: {error}")))
}

fn version(metadata: &Value) -> Option<String> {
    let packages = metadata["packages"].as_array()?;
    let command = packages.iter().find(|it| it["name"] == "jurat-cli")?;
    command["version"].as_str().map(str::to_owned)
}

/// The lock file, which has the checksum of each crate.
fn checksums() -> Result<String, Failure> {
    let lock = program::root().join("Cargo.lock");
    fs::read_to_string(&lock).map_err(|error| cannot("read", &lock, &error))
}
