//! Pairs of runs beside what `jurat compare` writes about them. A new directory of `tests/comparisons/` is a new test.
//!
//! A directory holds `base.yaml`, `new.yaml` unless the variants of one run are compared, whatever files they name, and `arguments.txt` and `run.txt` with further
//! arguments of `compare` and of `run`. `compare.txt`, `compare.json` and `compare.md` are what it writes. Latencies differ from run to run, and are left out.
//!
//! `JURAT_BLESS=1` writes the expected texts anew.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::command::{Folder, ended, root};

/// What is written, by the name of the file that says so.
const FORMATS: [(&str, &str); 3] = [("compare.txt", "text"), ("compare.json", "json"), ("compare.md", "markdown")];

#[test]
fn every_pair_of_runs_is_compared_as_it_should() {
    let bless = std::env::var_os("JURAT_BLESS").is_some_and(|it| it == "1");
    for directory in directories() {
        let folder = with_runs(&directory);
        for (file, format) in FORMATS {
            let text = compared(&folder, format);
            let expected = fs::read_to_string(directory.join(file)).unwrap_or_default();
            if bless {
                fs::write(directory.join(file), text).expect("snapshots can be written");
            } else {
                assert_eq!(text, expected, "{file} of {}", directory.display());
            }
        }
    }
}

fn directories() -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join("tests/comparisons")).expect("the directory can be listed");
    let mut directories: Vec<PathBuf> = entries.map(|it| it.expect("it can be listed").path()).collect();
    directories.sort();
    directories
}

/// A folder with the runs `base` and `new` of a directory.
pub(crate) fn with_runs(directory: &Path) -> Folder {
    let files = fs::read_dir(directory).expect("the directory can be listed");
    let folder = files.fold(Folder::empty(), |folder, file| {
        let path = file.expect("it can be listed").path();
        let name = path.file_name().and_then(|it| it.to_str()).expect("names are text").to_owned();
        folder.and(&name, fs::read(path).expect("files can be read"))
    });
    for name in ["base", "new"] {
        run(&folder, name);
    }
    folder
}

/// Runs `NAME.yaml`, if it is there; its run is called `NAME`.
fn run(folder: &Folder, name: &str) {
    let suite = format!("{name}.yaml");
    if !folder.path().join(&suite).exists() {
        return;
    }
    let given = fs::read_to_string(folder.path().join("run.txt")).unwrap_or_default();
    let ended = ended(folder.command().args(["run", &suite, "--fresh"]).args(given.split_whitespace()));
    assert!(matches!(ended.code, Some(0 | 1 | 3)), "{ended:?}");
    let directory = folder.path().join(".jurat/runs");
    let runs = fs::read_dir(&directory).expect("there are runs").map(|it| it.expect("it can be listed").path());
    // The names of runs begin with the day.
    let is_unnamed = |it: &PathBuf| {
        it.file_name().and_then(|it| it.to_str()).is_some_and(|it| it.starts_with("20") && it.ends_with(".jurat"))
    };
    let run = runs.into_iter().find(is_unnamed).expect("a run");
    fs::rename(run, directory.join(format!("{name}.jurat"))).expect("files can be renamed");
}

fn compared(folder: &Folder, format: &str) -> String {
    let given = fs::read_to_string(folder.path().join("arguments.txt")).unwrap_or_default();
    let sides = if folder.path().join("new.yaml").exists() { vec!["base", "new"] } else { vec!["base"] };
    let mut arguments = vec!["compare"];
    arguments.extend(sides);
    arguments.extend(given.split_whitespace());
    arguments.extend(["--results-only", "--format", format]);
    let ended = folder.jurat(&arguments);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{arguments:?}");
    match format {
        "json" => without_latency(&ended.stdout),
        _ => ended.stdout.lines().filter(|it| !it.contains("latency")).map(settled).collect(),
    }
}

/// A line with its columns one space apart: their width depends on the latency.
fn settled(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ") + "\n"
}

fn without_latency(json: &str) -> String {
    let mut document: Value = serde_json::from_str(json).expect("it is JSON");
    for comparison in document["comparisons"].as_array_mut().expect("a list") {
        comparison["lines"].as_array_mut().expect("a list").retain(|it| it["about"] != "latency");
    }
    serde_json::to_string_pretty(&document).expect("it is JSON") + "\n"
}

/// Two runs of one suite over these rows, as `base` and `new`.
fn runs_of(base: (&str, &str), new: (&str, &str)) -> Folder {
    let folder = Folder::with("base.yaml", base.0).and("new.yaml", new.0);
    let folder = folder.and("base.jsonl", base.1).and("new.jsonl", new.1);
    run(&folder, "base");
    run(&folder, "new");
    folder
}

const PAID: &str = "suite: invoices\nrecords: base.jsonl\ntasks: [{ id: paid, field_path: status, operator: equals, expected_value: paid }]\n";

fn of_new(suite: &str) -> String {
    suite.replace("base.jsonl", "new.jsonl")
}

#[test]
fn runs_that_share_no_case_are_not_compared() {
    let new = of_new(PAID);
    let folder =
        runs_of((PAID, "{\"id\":\"a\",\"status\":\"paid\"}\n"), (&new, "{\"id\":\"b\",\"status\":\"open\"}\n"));
    let ended = folder.jurat(&["compare", "base", "new"]);
    assert_eq!(ended.code, Some(5));
    assert!(ended.stderr.contains("share no case"), "{}", ended.stderr);
    let ended = folder.jurat(&["compare", "base", "new", "--unpaired"]);
    assert_eq!(ended.code, Some(0));
    assert!(ended.stdout.starts_with("not paired: "), "{}", ended.stdout);
}

#[test]
fn runs_of_other_suites_are_compared_only_when_that_is_allowed() {
    let rows = "{\"id\":\"a\",\"status\":\"paid\"}\n{\"id\":\"b\",\"status\":\"open\"}\n";
    let new = of_new(PAID).replace("invoices", "bills");
    let folder = runs_of((PAID, rows), (&new, rows));
    let ended = folder.jurat(&["compare", "base", "new"]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("`invoices` and `bills`; `--allow suite`"), "{}", ended.stderr);
    let ended = folder.jurat(&["compare", "base", "new", "--allow", "suite"]);
    assert_eq!(ended.code, Some(0));
    assert!(ended.stdout.contains("note: the suites differ: `invoices` → `bills`"), "{}", ended.stdout);
    assert!(ended.stdout.contains("No case changed."), "{}", ended.stdout);
}

#[test]
fn three_sides_are_ranked() {
    let rows = |n: usize| {
        (0..40)
            .map(|it| format!("{{\"id\":\"r{it}\",\"status\":\"{}\"}}\n", if it < n { "paid" } else { "open" }))
            .collect::<String>()
    };
    let folder = runs_of((PAID, &rows(12)), (&of_new(PAID), &rows(36)))
        .and("third.yaml", PAID.replace("base.jsonl", "third.jsonl"))
        .and("third.jsonl", rows(35));
    run(&folder, "third");
    let ended = folder.jurat(&["compare", "base", "new", "third"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let expected = "ranking\n1. new  90.0 %\n1. third  87.5 %\n2. base  30.0 %\n";
    assert!(ended.stdout.contains(expected), "{}", ended.stdout);
}

#[test]
fn a_part_of_a_run_that_is_not_there_is_refused() {
    let rows = "{\"id\":\"a\",\"status\":\"paid\"}\n";
    let folder = runs_of((PAID, rows), (&of_new(PAID), rows));
    for (arguments, expected) in [
        (["compare", "base@subject=x", "new"].as_slice(), "`base@subject=x` has no such variant"),
        (&["compare", "base@model=x", "new"], "`model` is neither `prompt` nor `subject`"),
        (&["compare", "base", "--by", "subject"], "there is nothing to compare by `--by subject`"),
        (&["compare", "base", "new", "--confidence", "95"], "lies between 0 and 1"),
    ] {
        let ended = folder.jurat(arguments);
        assert_eq!(ended.code, Some(2), "{arguments:?}");
        assert!(ended.stderr.contains(expected), "{}", ended.stderr);
    }
}
