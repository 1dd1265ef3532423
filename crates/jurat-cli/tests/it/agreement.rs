//! `check` and `run` agree: what `check` accepts gets past its start, and what `run` refuses before its first case was reported.
//!
//! Every suite of the repository goes through both, and so does every mutant of the examples. No key is set, so nothing that asks a model over the network
//! starts, and both have to say so.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::command::{Ended, Folder, ended, root};
use crate::mutation::{examples, mutants};

/// A suite in a folder of its own.
struct Sample {
    what: String,
    folder: Folder,
    suite: String,
}

impl Sample {
    /// What the two verbs disagree about.
    fn disagreement(&self) -> Option<String> {
        let checked = self.ended(&["check"]);
        // A note says what is missing on this machine.
        let is_accepted = checked.code == Some(0) && !checked.stdout.contains("\n  note: ");
        // No case has the tag: a run that starts ends at once, and only what it refuses before its first case is compared.
        let ran = self.ended(&["run", "--tag", "no-case-has-this-tag"]);
        let has_started = ran.code != Some(2);
        (is_accepted != has_started).then(|| {
            let Ended { code, stdout, stderr } = checked;
            format!("{}\ncheck: {code:?}\n{stdout}{stderr}\nrun: {:?}\n{}", self.what, ran.code, ran.stderr)
        })
    }

    fn ended(&self, arguments: &[&str]) -> Ended {
        let mut command = self.folder.command();
        command.args(arguments).arg(&self.suite).stdin(Stdio::null());
        for variable in ["ANTHROPIC_API_KEY", "OPENROUTER_API_KEY"] {
            command.env_remove(variable);
        }
        ended(&mut command)
    }
}

/// Looks at all of them, on as many threads as there are processors.
#[track_caller]
fn agree(samples: &[Sample]) {
    let (next, wrong, took) = (AtomicUsize::new(0), Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    let look = || {
        while let Some(sample) = samples.get(next.fetch_add(1, Ordering::Relaxed)) {
            let started = Instant::now();
            let disagreement = sample.disagreement();
            wrong.lock().expect("no test panics here").extend(disagreement);
            took.lock().expect("no test panics here").push((started.elapsed(), sample.what.as_str()));
        }
    };
    std::thread::scope(|scope| {
        let n_threads = std::thread::available_parallelism().map_or(1, usize::from);
        (0..n_threads).for_each(|_| drop(scope.spawn(look)));
    });
    print_slowest(took.into_inner().expect("no test panics here"));
    let wrong = wrong.into_inner().expect("no test panics here");
    assert!(wrong.is_empty(), "{} of {} disagree:\n\n{}", wrong.len(), samples.len(), wrong.join("\n\n"));
}

fn print_slowest(mut took: Vec<(Duration, &str)>) {
    took.sort_by_key(|it| std::cmp::Reverse(it.0));
    for (time, what) in took.iter().take(5) {
        println!("{:6.2} s  {what}", time.as_secs_f64());
    }
}

/// A copy of a folder with everything below it.
fn copied(from: &Path) -> Folder {
    let mut folder = Folder::empty();
    let mut open = vec![from.to_owned()];
    while let Some(directory) = open.pop() {
        for path in fs::read_dir(&directory).expect("it can be listed").map(|it| it.expect("it can be listed").path()) {
            if path.is_dir() {
                open.push(path);
                continue;
            }
            let name = path.strip_prefix(from).ok().and_then(Path::to_str).expect("names are text");
            let content = fs::read(&path).expect("files can be read");
            folder = match name.strip_suffix(".size") {
                Some(name) => {
                    let size = String::from_utf8_lossy(&content).trim().parse();
                    folder.and_sparse(name, size.expect("a `.size` file holds a number"))
                }
                None => folder.and(name, content),
            };
        }
    }
    folder
}

/// The suites of a part of the repository.
fn suites(place: &str) -> Vec<Sample> {
    let (mut samples, mut open) = (Vec::new(), vec![root().join(place)]);
    while let Some(directory) = open.pop() {
        let found = ["suite.yaml", "suite.json"].into_iter().find(|it| directory.join(it).exists());
        if let Some(suite) = found {
            let what = directory.display().to_string();
            samples.push(Sample { what, folder: copied(&directory), suite: suite.to_owned() });
            continue;
        }
        let entries =
            fs::read_dir(&directory).expect("it can be listed").map(|it| it.expect("it can be listed").path());
        open.extend(entries.filter(|it| it.is_dir()));
    }
    samples
}

#[test]
fn every_suite_of_the_repository() {
    let mut samples: Vec<Sample> = ["examples", "tests/cases", "tests/problems"].into_iter().flat_map(suites).collect();
    // Its row 122 lies beyond what is sampled.
    samples.retain(|it| !it.what.ends_with("/a-row-that-is-not-json"));
    assert!(samples.len() > 250, "only {} suites", samples.len());
    agree(&samples);
}

#[test]
fn every_suite_of_the_documentation() {
    let mut samples = Vec::new();
    for page in ["guides", "concepts"].into_iter().flat_map(pages) {
        let text = fs::read_to_string(&page).expect("pages are text");
        let blocks = text.split("```").skip(1).step_by(2).filter_map(|it| it.split_once('\n'));
        let files: Vec<(&str, &str)> = blocks
            .filter_map(|(info, text)| Some((info.split(' ').find_map(|it| it.strip_prefix("file="))?, text)))
            .collect();
        let definitions = files.iter().filter(|(name, text)| name.ends_with(".yaml") && text.contains("suite:"));
        for (name, _) in definitions {
            let folder = files.iter().fold(Folder::empty(), |folder, (name, text)| folder.and(name, text));
            samples.push(Sample { what: format!("{} {name}", page.display()), folder, suite: (*name).to_owned() });
        }
    }
    assert!(samples.len() > 5, "only {} suites", samples.len());
    agree(&samples);
}

fn pages(place: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join("docs").join(place)).expect("there are pages");
    entries.map(|it| it.expect("pages can be listed").path()).collect()
}

#[test]
fn every_mutant_of_the_examples() {
    let mut samples = Vec::new();
    for example in examples() {
        let (text, directory) =
            (fs::read_to_string(&example).expect("it is text"), example.parent().expect("a folder"));
        // Every third: they differ little from their neighbours, and each takes two processes.
        for mutant in mutants(&text).into_iter().step_by(3) {
            let what = format!("{}: {}", example.display(), mutant.what);
            let folder = copied(directory).and("suite.yaml", &mutant.text);
            samples.push(Sample { what, folder, suite: "suite.yaml".to_owned() });
        }
    }
    assert!(samples.len() > 100, "only {} mutants", samples.len());
    agree(&samples);
}
