//! Where runs and journal are.

use std::fs;
use std::path::Path;

use jurat_store::Project;
use jurat_store::run::{RunHead, RunWriter, WriterOptions};

/// A project with empty files for runs.
fn project(directory: &Path, runs: &[&str]) -> Project {
    let project = Project::find_or_create(directory).expect("a project");
    for run in runs {
        fs::write(project.runs_directory().join(format!("{run}.jurat")), "").expect("a file");
    }
    project
}

#[test]
fn a_project_is_found_from_below() {
    let directory = tempfile::tempdir().expect("a directory");
    let below = directory.path().join("a").join("b");
    fs::create_dir_all(&below).expect("directories");
    assert_eq!(Project::find(&below), None);
    let project = Project::find_or_create(directory.path()).expect("a project");
    assert_eq!(project.root(), directory.path().join(".jurat"));
    assert_eq!(Project::find(&below), Some(project.clone()));
    assert_eq!(Project::find_or_create(&below).expect("a project"), project, "the nearest above is taken");
    fs::create_dir(directory.path().join("a").join(".jurat")).expect("a directory");
    assert_eq!(Project::find(&below).expect("a project").root(), directory.path().join("a").join(".jurat"));
    assert_eq!(fs::read_to_string(project.root().join(".gitignore")).expect("a file"), "*\n");
}

#[cfg(unix)]
#[test]
fn a_project_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let directory = tempfile::tempdir().expect("a directory");
    let project = Project::find_or_create(directory.path()).expect("a project");
    for path in [project.root().to_owned(), project.runs_directory()] {
        assert_eq!(fs::metadata(path).expect("a directory").permissions().mode() & 0o777, 0o700);
    }
}

#[test]
fn what_is_in_the_way_is_named() {
    let directory = tempfile::tempdir().expect("a directory");
    fs::write(directory.path().join(".jurat"), "").expect("a file");
    let error = Project::find_or_create(directory.path()).expect_err("a file is in the way").to_string();
    let path = directory.path().join(".jurat");
    let expected = format!(
        "`{}` cannot be used: File exists (os error 17); make it writable, or run the command in another directory",
        path.display()
    );
    assert_eq!(error, expected);
}

#[test]
fn runs_are_named_by_time_and_suite() {
    let directory = tempfile::tempdir().expect("a directory");
    let project = project(directory.path(), &[]);
    let named = |suite, at_ms, random| project.new_run(suite, at_ms, random).id;
    let first = named("Appliance support!", 1_794_765_845_999, 7);
    assert_eq!(first.rsplit_once('_').expect("a name").0, "2026-11-15T18-04-05_appliance-support");
    assert_eq!(first.rsplit('_').next().expect("a name").len(), 4);
    assert_ne!(named("a", 0, 7), named("a", 0, 8));
    assert!(named("../…", 0, 1).starts_with("1970-01-01T00-00-00_suite_"));
    assert!(named("x", u64::MAX, 1).starts_with("9999-"));
    assert!(named(&"long ".repeat(100), 0, 1).len() < 70);
    let run = project.new_run("a", 0, 7);
    fs::write(&run.path, "").expect("a file");
    assert_ne!(project.new_run("a", 0, 7), run, "a name is used once");
}

#[test]
fn a_run_is_meant_by_whatever_leaves_no_doubt() {
    let directory = tempfile::tempdir().expect("a directory");
    let runs = ["2026-11-15T18-04-05_one_x7k2", "2026-11-15T18-04-06_two_abcd", "2026-11-16T00-00-00_two_abce"];
    let project = project(directory.path(), &runs);
    fs::write(project.runs_directory().join("2027_notes.txt"), "").expect("a file");
    let means = |name: &str| match project.run(name) {
        Ok(path) => path.file_stem().expect("a name").to_string_lossy().into_owned(),
        Err(error) => error.to_string(),
    };
    assert_eq!(means("latest"), runs[2]);
    assert_eq!(means("2026-11-16"), runs[2]);
    assert_eq!(means("x7"), runs[0]);
    assert_eq!(means(runs[1]), runs[1]);
    assert_eq!(means(&project.runs_directory().join(format!("{}.jurat", runs[0])).display().to_string()), runs[0]);
    assert_eq!(
        means("abc"),
        "`abc` could be `2026-11-15T18-04-06_two_abcd` or `2026-11-16T00-00-00_two_abce`; say more of its name"
    );
    let example = "; name a file, the beginning of a run's name such as `2026-11-16T00-00-00_two_abce`, or `latest`";
    assert_eq!(means("zzz"), format!("there is no run `zzz`{example}"));
    assert_eq!(means(""), format!("there is no run ``{example}"));
    let ids: Vec<String> = project.runs().expect("runs").into_iter().map(|it| it.id).collect();
    assert_eq!(ids, runs);
}

/// What a process leaves behind that is killed as it begins a run.
#[test]
fn the_latest_run_is_a_run() {
    let directory = tempfile::tempdir().expect("a directory");
    let project = project(directory.path(), &["2026-11-15T18-04-06_one_left"]);
    let run = project.runs_directory().join("2026-11-15T18-04-05_one_done.jurat");
    drop(RunWriter::create(&run, &RunHead::default(), WriterOptions::default()).expect("a run"));
    assert_eq!(project.run("latest").expect("a run"), run);
}

#[test]
fn a_project_without_runs_says_so() {
    let directory = tempfile::tempdir().expect("a directory");
    let project = project(directory.path(), &[]);
    let expected = "there is no run `latest`; this project has no runs yet";
    assert_eq!(project.run("latest").expect_err("no runs").to_string(), expected);
}
