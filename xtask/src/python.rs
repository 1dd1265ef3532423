//! The Python package: built as a wheel, installed into an environment of its own, tested there.
//!
//! `python/requirements.txt` lists what the tests need besides.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::chore::Failure;
use crate::installation::{PYTHON, installed, make_environment, pip, python_version, run_pip};
use crate::program;

const REQUIREMENTS: &str = "python/requirements.txt";
/// What packing a wheel for others needs.
const PACKING: &str = "python/packing.txt";

/// The oldest Linux that the published wheel runs on, by the version of its C library: RHEL 8, Debian 11, Ubuntu 20.04, Amazon Linux 2023 and all later ones.
const PLATFORM: &str = "manylinux_2_28";
/// The same version as the target of Zig writes it.
const GLIBC: &str = "2.28";
/// The platform that is built for.
pub const TRIPLE: &str = "x86_64-unknown-linux-gnu";
/// The published wheel has fewer bytes.
const MOST_BYTES: u64 = 15_000_000;

/// The wheel as it is published, for Pythons of the systems that [`PLATFORM`] names: all that have the stable interface, or the free-threaded one that is given.
pub fn published(free_threaded: Option<&str>) -> Result<PathBuf, Failure> {
    let environment = packing()?;
    let target = free_threaded.map(FreeThreaded::required).transpose()?;
    let wheel = wheel(&environment, Build::Published, target.as_ref())?;
    repack(&environment, &wheel)?;
    check_platform(&environment, &wheel)?;
    check_size(&wheel)?;
    Ok(wheel)
}

/// Makes the wheel smaller than maturin can.
fn repack(environment: &Path, wheel: &Path) -> Result<(), Failure> {
    let mut python = Command::new(environment.join("bin/python"));
    program::run(python.arg(program::root().join("xtask/repack.py")).arg(wheel))
}

/// The command as it is published, for the same systems.
pub fn command() -> Result<PathBuf, Failure> {
    let environment = packing()?;
    let mut cargo = Command::new(environment.join("bin/cargo-zigbuild"));
    let target = format!("{TRIPLE}.{GLIBC}");
    cargo.args([
        "zigbuild",
        "--locked",
        "--profile",
        Build::Published.profile(),
        // The package is selected with the command, so that both have the same features: what the wheel was built from is not compiled again.
        "--package",
        "jurat-cli",
        "--package",
        "jurat-python",
        "--bin",
        "jurat",
        "--target",
        &target,
    ]);
    cargo.current_dir(program::root()).env("PATH", program::path_with(&[environment.join("bin")])?);
    program::run(&mut cargo)?;
    Ok(program::target_directory().join(TRIPLE).join(Build::Published.profile()).join("jurat"))
}

/// Where what is published is built.
fn packing() -> Result<PathBuf, Failure> {
    environment_of("packing", &program::root().join(PACKING))
}

/// Fails if the wheel needs symbols that older systems do not have, whatever its name says.
fn check_platform(environment: &Path, wheel: &Path) -> Result<(), Failure> {
    let mut auditwheel = Command::new(environment.join("bin/auditwheel"));
    let shown = program::output(auditwheel.arg("show").arg(wheel))?;
    let found = consistent_tag(&shown)
        .ok_or_else(|| Failure::new(format!("auditwheel did not print what the wheel runs on:\n{shown}")))?;
    println!("runs on {found}");
    if glibc(&found) <= glibc(PLATFORM) {
        return Ok(());
    }
    Err(Failure::new(format!("the wheel needs {found}, and should run on {PLATFORM}:\n{shown}")))
}

/// `manylinux_2_28` of what `auditwheel show` prints.
fn consistent_tag(shown: &str) -> Option<String> {
    let (_, rest) = shown.split_once("platform tag:")?;
    let quoted = rest.split('"').nth(1)?;
    let tag = quoted.strip_suffix("_x86_64").or(quoted.strip_suffix("_aarch64")).unwrap_or(quoted);
    Some(tag.to_owned())
}

/// The version of the C library that a tag names.
fn glibc(tag: &str) -> Option<(u32, u32)> {
    let (major, minor) = tag.strip_prefix("manylinux_")?.split_once('_')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

fn check_size(wheel: &Path) -> Result<(), Failure> {
    let cannot = |error: io::Error| Failure::new(format!("cannot read {}: {error}", wheel.display()));
    let bytes = fs::metadata(wheel).map_err(cannot)?.len();
    println!("{:.1} MB", bytes as f64 / 1e6);
    if bytes < MOST_BYTES {
        return Ok(());
    }
    let most = MOST_BYTES as f64 / 1e6;
    Err(Failure::new(format!("the wheel has {:.1} MB, and should have less than {most:.0} MB", bytes as f64 / 1e6)))
}

/// Builds the package without optimisation, and runs its tests on an interpreter. They start a model endpoint, which is
/// built first.
pub fn test(python: &str) -> Result<(), Failure> {
    let environment = environment_for(python)?;
    let target = FreeThreaded::of(python)?;
    install(&environment, &wheel(&environment, Build::Tested, target.as_ref())?)?;
    tested(&environment, "python", &[])
}

/// Installs the package, as it is tested or the wheel that is given, into an [environment](environment_for_folder) of this name, where the tests of a folder run.
pub fn installed_for_folder(name: &str, folder: &str, given: Option<&Path>) -> Result<PathBuf, Failure> {
    let environment = environment_for_folder(name, folder)?;
    match given {
        Some(wheel) => install(&environment, wheel)?,
        None => install(&environment, &wheel(&environment, Build::Tested, None)?)?,
    }
    Ok(environment)
}

/// An environment of this name with what `requirements.txt` of a folder lists.
pub fn environment_for_folder(name: &str, folder: &str) -> Result<PathBuf, Failure> {
    environment_of(name, &program::root().join(folder).join("requirements.txt"))
}

/// The scripted model endpoint, built.
pub fn endpoint() -> Result<PathBuf, Failure> {
    program::built(program::cargo_as_tested().args(["--quiet", "--bin", "jurat-endpoint"]))
}

/// Runs tests with the package that is installed; they have these variables.
pub fn tested(environment: &Path, tests: &str, variables: &[(String, String)]) -> Result<(), Failure> {
    let endpoint = endpoint()?;
    let mut pytest = Command::new(environment.join("bin/python"));
    // The tests see what is installed, and not the sources here.
    pytest
        .args(["-m", "pytest", "-q", "--durations=10", tests])
        .env("PYTHONSAFEPATH", "1")
        .current_dir(program::root());
    pytest.envs(variables.iter().map(|(name, value)| (name, value)));
    program::run(pytest.env("JURAT_ENDPOINT", endpoint))
}

/// What a wheel is built for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Build {
    /// To be tested here: of what `cargo test` compiles, packed quickly.
    Tested,
    /// To be measured.
    Measured,
    /// To be published.
    Published,
}

impl Build {
    fn profile(self) -> &'static str {
        match self {
            Build::Tested => "dev",
            Build::Measured => "measured",
            Build::Published => "dist",
        }
    }

    fn options(self) -> &'static [&'static str] {
        match self {
            Build::Tested => &["--compression-method", "stored", "--features", "as-tested"],
            Build::Measured => &["--compression-method", "deflated"],
            // Zig links against the C library of the platform, whatever this machine has.
            Build::Published => {
                &["--zig", "--compatibility", PLATFORM, "--compression-method", "deflated", "--compression-level", "9"]
            }
        }
    }
}

/// An interpreter without a global lock. It has no stable interface before Python 3.15, so each version needs a module of its own.
struct FreeThreaded {
    python: String,
    /// `3.14`
    version: String,
}

/// What the tests need and cannot have there: it has no wheel for these interpreters, and building it takes a toolchain of its own.
const NOT_FREE_THREADED: &str = "polars";

impl FreeThreaded {
    /// The interpreter, if it is one.
    fn of(python: &str) -> Result<Option<FreeThreaded>, Failure> {
        const ASKED: &str = "import sys, sysconfig; print(sysconfig.get_config_var('Py_GIL_DISABLED') or 0, '%d.%d' % sys.version_info[:2])";
        program::ensure(python)?;
        let said = program::output(Command::new(python).args(["-c", ASKED]))?;
        let version = said.trim().strip_prefix("1 ");
        Ok(version.map(|it| FreeThreaded { python: python.to_owned(), version: it.to_owned() }))
    }

    fn required(python: &str) -> Result<FreeThreaded, Failure> {
        let found = FreeThreaded::of(python)?;
        found
            .ok_or_else(|| Failure::new(format!("`{python}` is not free-threaded; the wheel without a word is for it")))
    }

    /// What `PyO3` needs to know of it, in place of `pyo3.txt`.
    fn config(&self) -> String {
        let version = &self.version;
        format!(
            "implementation=CPython\nversion={version}\nshared=true\ntarget_abi=CPython-free_threaded-{version}\nsuppress_build_script_link_lines=true\n"
        )
    }

    /// Has maturin build for it: maturin looks at the interpreter itself, and cargo reads what `PyO3` needs from a file, because its configuration names `pyo3.txt`.
    fn add_to(&self, maturin: &mut Command) -> Result<(), Failure> {
        let file = program::target_directory().join(format!("pyo3-{}t.txt", self.version));
        let written = fs::write(&file, self.config());
        written.map_err(|error| Failure::new(format!("cannot write {}: {error}", file.display())))?;
        let value = format!("env.PYO3_CONFIG_FILE.value={:?}", file.display().to_string());
        maturin.args(["--config", &value, "--config", "env.PYO3_CONFIG_FILE.relative=false"]);
        maturin.args(["--no-default-features", "--interpreter", &self.python]).env_remove("PYO3_CONFIG_FILE");
        Ok(())
    }
}

/// Builds the wheel.
fn wheel(environment: &Path, build: Build, target: Option<&FreeThreaded>) -> Result<PathBuf, Failure> {
    let profile = build.profile();
    let directory = program::target_directory().join("wheels").join(profile);
    let cannot = |error: io::Error| Failure::new(format!("cannot prepare {}: {error}", directory.display()));
    // An older wheel would be taken for the new one.
    if directory.exists() {
        fs::remove_dir_all(&directory).map_err(cannot)?;
    }
    let mut maturin = Command::new(environment.join("bin/maturin"));
    maturin.args(["build", "--locked", "--profile", profile]).args(build.options()).arg("--out").arg(&directory);
    if let Some(target) = target {
        target.add_to(&mut maturin)?;
    }
    maturin.current_dir(program::root()).env("VIRTUAL_ENV", environment);
    // Zig is a package of the environment, which maturin starts with the `python3` that it finds.
    maturin.env("PATH", program::path_with(&[environment.join("bin")])?);
    program::run(&mut maturin)?;
    let built = fs::read_dir(&directory).map_err(cannot)?.filter_map(Result::ok).map(|it| it.path());
    let mut wheels = built.filter(|it| it.extension().is_some_and(|it| it == "whl"));
    wheels.next().ok_or_else(|| Failure::new(format!("maturin left no wheel in {}", directory.display())))
}

/// An environment that has the package, optimised as whole runs are measured; or the wheel that is given.
pub fn measured(given: Option<&Path>) -> Result<PathBuf, Failure> {
    measured_in(environment()?, given)
}

/// The same in an environment that is there.
pub fn measured_in(environment: PathBuf, given: Option<&Path>) -> Result<PathBuf, Failure> {
    match given {
        Some(wheel) => install(&environment, wheel)?,
        None => install(&environment, &wheel(&environment, Build::Measured, None)?)?,
    }
    Ok(environment)
}

/// Installs the wheel, in place of any other.
fn install(environment: &Path, wheel: &Path) -> Result<(), Failure> {
    let mut pip = pip(environment);
    program::output(pip.args(["--no-deps", "--force-reinstall", "--no-index"]).arg(wheel)).map(drop)
}

/// Where the tests run, with everything that they need.
pub fn environment() -> Result<PathBuf, Failure> {
    environment_for(PYTHON)
}

/// The same for an interpreter: `python3.13`, or the path of one. Each has a folder of its own.
fn environment_for(python: &str) -> Result<PathBuf, Failure> {
    let folder = if python == PYTHON { "python".to_owned() } else { folder_name(&python_version(python)?) };
    environment_with(python, &folder, &program::root().join(REQUIREMENTS))
}

/// `python-3.13.0` of what `sys.version` says, and `python-3.14.0t` of a free-threaded one.
fn folder_name(version: &str) -> String {
    let threads = if version.contains("free-threading") { "t" } else { "" };
    format!("python-{}{threads}", version.split_whitespace().next().unwrap_or("unknown"))
}

/// An environment of this name, with the packages that a file lists.
pub fn environment_of(name: &str, requirements: &Path) -> Result<PathBuf, Failure> {
    environment_with(PYTHON, name, requirements)
}

fn environment_with(python: &str, name: &str, requirements: &Path) -> Result<PathBuf, Failure> {
    let environment = program::target_directory().join(name);
    let list = fs::read_to_string(requirements);
    let list = list.map_err(|error| Failure::new(format!("cannot read {}: {error}", requirements.display())))?;
    let what = format!("what {} lists", requirements.display());
    let is_free_threaded = FreeThreaded::of(python)?.is_some();
    installed(&environment, &what, &(python_version(python)? + &list), || {
        make_environment(python, &environment)?;
        if !is_free_threaded {
            return run_pip(pip(&environment).arg("--requirement").arg(requirements));
        }
        let reduced = environment.join("requirements.txt");
        let lines = list.lines().filter(|it| !it.starts_with(NOT_FREE_THREADED)).map(|it| it.to_owned() + "\n");
        let written = fs::write(&reduced, lines.collect::<String>());
        written.map_err(|error| Failure::new(format!("cannot write {}: {error}", reduced.display())))?;
        run_pip(pip(&environment).arg("--requirement").arg(&reduced))
    })?;
    Ok(environment)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interpreter_has_a_folder_of_its_own() {
        assert_eq!(folder_name("3.13.0 (main, Oct  8 2024) [GCC 12.2.0]\n"), "python-3.13.0");
        assert_eq!(folder_name("3.14.7 free-threading build (main) [GCC 12.2.0]\n"), "python-3.14.7t");
    }

    #[test]
    fn every_package_is_pinned() {
        for file in [REQUIREMENTS, PACKING] {
            let list = fs::read_to_string(program::root().join(file)).expect("there is a list");
            let packages: Vec<&str> = list.lines().filter(|it| !it.starts_with('#')).collect();
            assert!(!packages.is_empty() && packages.iter().all(|it| it.contains("==")), "{packages:#?}");
        }
    }

    #[test]
    fn auditwheel_says_which_systems_a_wheel_runs_on() {
        let shown = "jurat-0.1.0-cp310-abi3-linux_x86_64.whl is consistent with the\nfollowing platform tag: \"manylinux_2_26_x86_64\".\n\nThe wheel…";
        let tag = consistent_tag(shown).expect("it names one");
        assert_eq!(tag, "manylinux_2_26");
        assert!(glibc(&tag) <= glibc(PLATFORM) && glibc("manylinux_2_35") > glibc(PLATFORM));
        assert_eq!(format!("manylinux_{}", GLIBC.replace('.', "_")), PLATFORM);
    }
}
