//! `cargo xtask fuzz`: coverage-guided fuzzing on the stable toolchain.
//!
//! A target is one file in `fuzz/src/bin`, with a few small inputs in `fuzz/seeds/NAME`. cargo-fuzz is not used: it wants
//! a nightly compiler for its sanitizers, and safe Rust gains little from them. What finds the paths through the code is
//! coverage, and the stable compiler can be told to count it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use chores::chore::{Arguments, Chore, Failure};
use chores::program;

pub(crate) const CHORE: Chore = Chore {
    name: "fuzz",
    arguments: "[--seconds N] [--quiet] [TARGET]",
    about: "fuzzes one target, or each in turn, and stops at the first input that fails\n\
            --seconds N   how long to spend on a target; default: 60\n\
            --quiet       prints nothing of libFuzzer's unless an input fails",
    run,
};

/// What makes the compiler count which paths were taken. They reach every crate that is compiled, and so `--target` is
/// given as well: without it they would also reach build scripts, which then do not link.
const RUSTFLAGS: &str = "-Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares \
    --cfg fuzzing";

/// How a target is run.
#[derive(Clone, Copy)]
struct Effort {
    seconds: u64,
    progress: Progress,
}

/// Whether libFuzzer talks while it works. What it says about a failure is always shown.
#[derive(Clone, Copy)]
enum Progress {
    Shown,
    Hidden,
}

fn run(mut arguments: Arguments) -> Result<(), Failure> {
    let seconds = arguments.number("--seconds")?.unwrap_or(60);
    let progress = if arguments.flag("--quiet") { Progress::Hidden } else { Progress::Shown };
    let wanted = arguments.word();
    arguments.finish()?;
    let known = targets()?;
    let targets = match wanted {
        None => known,
        Some(name) if known.contains(&name) => vec![name],
        Some(name) => {
            return Err(Failure::Usage(format!("there is no fuzz target `{name}`; there is {}", known.join(", "))));
        }
    };
    fuzz(&targets, Effort { seconds, progress })
}

fn fuzz(targets: &[String], effort: Effort) -> Result<(), Failure> {
    // libFuzzer itself is compiled from its C++ source.
    program::ensure("g++")?;
    let programs = build()?;
    for name in targets {
        eprintln!("fuzzing {name} for {} s", effort.seconds);
        fuzz_one(name, &programs.join(name), effort)?;
    }
    Ok(())
}

/// The names of the targets: the programs of the fuzz crate.
fn targets() -> Result<Vec<String>, Failure> {
    let programs = program::root().join("fuzz/src/bin");
    let listed: io::Result<Vec<PathBuf>> = fs::read_dir(&programs).and_then(|it| it.map(|it| Ok(it?.path())).collect());
    let files = listed.map_err(|error| Failure::new(format!("cannot list {}: {error}", programs.display())))?;
    let sources = files.iter().filter(|it| it.extension().is_some_and(|it| it == "rs"));
    let mut names: Vec<String> = sources.filter_map(|it| Some(it.file_stem()?.to_str()?.to_owned())).collect();
    names.sort();
    Ok(names)
}

/// Compiles all targets and returns the directory that holds them.
fn build() -> Result<PathBuf, Failure> {
    let host = host()?;
    let directory = directory();
    let mut cargo = program::cargo();
    cargo
        .args(["build", "--locked", "--release", "--manifest-path", "fuzz/Cargo.toml", "--target", &host])
        .arg("--target-dir")
        .arg(&directory)
        .env("RUSTFLAGS", RUSTFLAGS)
        // It would win over RUSTFLAGS.
        .env_remove("CARGO_ENCODED_RUSTFLAGS");
    program::run(&mut cargo).map_err(|failure| {
        let remedy = "if the lock file is out of date: `cargo update --workspace --manifest-path fuzz/Cargo.toml`";
        Failure::new(format!("{}\n{remedy}", failure.message()))
    })?;
    Ok(directory.join(host).join("release"))
}

fn fuzz_one(name: &str, program: &Path, effort: Effort) -> Result<(), Failure> {
    let seeds = program::root().join("fuzz/seeds").join(name);
    if !seeds.is_dir() {
        return Err(Failure::new(format!("`{name}` has no seeds; put a few small inputs into fuzz/seeds/{name}/")));
    }
    let corpus = directory().join("corpus").join(name);
    let failing = directory().join("failing").join(name);
    prepare(&corpus, &failing)
        .map_err(|error| Failure::new(format!("cannot prepare {}: {error}", directory().display())))?;
    let mut command = Command::new(program);
    command
        .arg(format!("-max_total_time={}", effort.seconds))
        .args(["-rss_limit_mb=2048", "-max_len=4096", "-timeout=10", "-print_funcs=0"])
        .arg(format!("-exact_artifact_path={}", failing.display()))
        // libFuzzer writes what it finds into the first directory and only reads the others.
        .args([&corpus, &seeds]);
    let ended = match effort.progress {
        Progress::Shown => program::run(&mut command),
        Progress::Hidden => program::output(command.arg("-verbosity=0")).map(drop),
    };
    match ended {
        Err(failure) if failing.exists() => Err(Failure::new(format!(
            "{}\n\
             fuzz target `{name}` fails on {input}\n\
             to repeat it: {program} {input}\n\
             once it is mended, keep the input under a name that says what it shows: cp {input} fuzz/seeds/{name}/",
            failure.message(),
            input = failing.display(),
            program = program.display(),
        ))),
        ended => ended,
    }
}

/// Makes the directories. An input that failed last time joins the corpus, so that it is tried again first.
fn prepare(corpus: &Path, failing: &Path) -> io::Result<()> {
    fs::create_dir_all(corpus)?;
    if let Some(parent) = failing.parent() {
        fs::create_dir_all(parent)?;
    }
    if failing.exists() {
        fs::rename(failing, corpus.join("failed-before"))?;
    }
    Ok(())
}

/// Its own directory, because the flags differ: a shared one would be built anew at every change of command.
fn directory() -> PathBuf {
    program::target_directory().join("fuzz")
}

/// The triple of this machine, as rustc names it.
fn host() -> Result<String, Failure> {
    let about = program::output(Command::new("rustc").arg("-vV").current_dir(program::root()))?;
    let host = about.lines().find_map(|it| it.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| Failure::new("`rustc -vV` names no host"))
}
