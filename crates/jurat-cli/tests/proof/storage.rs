//! Storage that fails in ways of its own: journals and runs that were overwritten, directories of other users, runs that never began, clocks that went back,
//! few open files, readers that went away. Nothing is lost, nothing is removed, and the next run works.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use jurat_testkit::{Endpoint, Script};
use rusqlite::Connection;

use crate::project::{Ended, Project, RESULTS, ended, timeless};
use crate::store::Snapshot;
use crate::suites::{JUDGED, rows};

const ROWS: usize = 12;

fn project(endpoint: &Endpoint) -> Project {
    Project::new(JUDGED, &rows(ROWS), &endpoint.url())
}

/// The journals that were set aside, with what they hold.
fn set_aside(project: &Project) -> Vec<Vec<u8>> {
    let files = fs::read_dir(project.path().join(".jurat")).expect("it is there").map(|it| it.expect("it is listed"));
    let is_aside = |it: &PathBuf| {
        let name = it.file_name().and_then(|it| it.to_str()).unwrap_or_default();
        name.starts_with("journal.db-damaged-") && !name.ends_with("-wal") && !name.ends_with("-shm")
    };
    let mut paths: Vec<PathBuf> = files.map(|it| it.path()).filter(is_aside).collect();
    paths.sort();
    paths.iter().map(|it| fs::read(it).expect("files can be read")).collect()
}

#[track_caller]
fn no_panic(ended: &Ended) {
    assert!(!ended.stderr.contains("panicked") && ended.code.is_some_and(|it| it < 100), "{ended:?}");
}

#[test]
fn a_journal_that_is_no_journal_is_set_aside() {
    for content in [&b"not a database at all, but longer than a header of one would have to be, by some"[..], b"x"] {
        let endpoint = Endpoint::start(Script::new());
        let project = project(&endpoint);
        let first = project.results(&[]);
        fs::write(project.journal(), content).expect("files can be written");
        let _ = fs::remove_file(project.journal().with_extension("db-wal"));
        endpoint.reset();
        let again = project.results(&["--fresh"]);
        assert_eq!((again.code, timeless(&again.stdout)), (first.code, timeless(&first.stdout)), "{}", again.stderr);
        assert!(again.stderr.contains("the journal was damaged and is set aside as `"), "{}", again.stderr);
        assert_eq!(set_aside(&project), [content], "it stays as it was");
        // The next run has its answers from the new one, and finds nothing to say.
        endpoint.reset();
        let third = project.run(&["--quiet"]);
        assert_eq!((third.code, third.stderr.as_str(), endpoint.stats().requests), (first.code, "", 0));
    }
}

#[test]
fn a_journal_that_was_overwritten_in_places_stops_one_run_at_most() {
    let endpoint = Endpoint::start(Script::new());
    let reference = project(&endpoint).results(&[]);
    for eighth in 0..8 {
        let project = project(&endpoint);
        project.results(&[]);
        let mut bytes = fs::read(project.journal()).expect("a journal is a file");
        let at = (bytes.len() * eighth / 8).max(18);
        let end = (at + 600).min(bytes.len());
        bytes[at..end].iter_mut().for_each(|it| *it ^= 0x5a);
        fs::write(project.journal(), &bytes).expect("files can be written");
        // A suite that was changed has to look into the journal.
        project.write("suite.yaml", &JUDGED.replace("suite: ", "suite: again-"));
        let mut tries = (0..3).map(|_| project.results(&[]));
        let ended = tries.find(|it| {
            no_panic(it);
            it.code == reference.code
        });
        let ended = ended.unwrap_or_else(|| panic!("three runs failed: {:?}", project.results(&[])));
        let outcome = |it: &str| it.matches("\"passed\"").count();
        assert_eq!(outcome(&ended.stdout), outcome(&reference.stdout), "{}", ended.stderr);
    }
}

#[test]
fn two_processes_that_find_it_damaged_set_one_aside() {
    let endpoint = Endpoint::start(Script::new());
    let project = project(&endpoint);
    project.results(&[]);
    fs::write(project.journal(), "broken").expect("files can be written");
    let _ = fs::remove_file(project.journal().with_extension("db-wal"));
    let children: Vec<_> = (0..4).map(|_| project.start(&["--fresh", "--quiet"])).collect();
    for child in children {
        let ended: Ended = child.wait_with_output().expect("it ends").into();
        assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    }
    assert_eq!(set_aside(&project), [b"broken"]);
    Snapshot::of(&project.journal()).expect("there is a new one").assert_whole();
}

/// A project below a folder that has a `.jurat`.
fn below(project: &Project, mode: u32, owner: Option<u32>) -> (PathBuf, PathBuf) {
    let (theirs, ours) = (project.path().join(".jurat"), project.path().join("mine"));
    fs::create_dir_all(theirs.join("runs")).expect("folders can be made");
    fs::set_permissions(&theirs, fs::Permissions::from_mode(mode)).expect("modes can be set");
    if owner.is_some() {
        chown(&theirs, owner, None).expect("root may do this");
    }
    fs::create_dir_all(&ours).expect("folders can be made");
    for name in ["suite.yaml", "rows.jsonl"] {
        fs::copy(project.path().join(name), ours.join(name)).expect("files can be copied");
    }
    (theirs, ours)
}

#[test]
fn a_directory_that_others_may_fill_is_not_used() {
    let is_root = fs::metadata("/proc/self").is_ok_and(|it| std::os::unix::fs::MetadataExt::uid(&it) == 0);
    let endpoint = Endpoint::start(Script::new());
    let cases = [(0o777, None, "can be written by every user"), (0o700, Some(65534), "belongs to another user")];
    for (mode, owner, why) in cases.into_iter().filter(|(_, owner, _)| owner.is_none() || is_root) {
        let project = project(&endpoint);
        let (theirs, ours) = below(&project, mode, owner);
        let mut command = project.command(&["run", "suite.yaml", "--quiet"]);
        let ran = ended(command.current_dir(&ours));
        assert_eq!(ran.code, Some(1), "{}", ran.stderr);
        let said = format!("note: `{}` {why}, so it is not used; runs are stored in `", theirs.display());
        assert!(ran.stderr.starts_with(&said), "{}", ran.stderr);
        assert_eq!(fs::read_dir(theirs.join("runs")).expect("it is there").count(), 0, "nothing is left there");
        assert!(ours.join(".jurat/journal.db").exists());
        // What is in the folder itself is refused: there is no other place.
        let ran = project.run(&["--quiet"]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{}", ran.stderr);
        assert!(ran.stderr.contains(why) && ran.stderr.contains("chmod 700"), "{}", ran.stderr);
        let listed = project.jurat(&["show", "--list"]);
        assert_eq!(listed.stdout, "this project has no runs yet; `jurat run` makes one\n");
    }
}

#[test]
fn a_run_that_never_began_is_not_listed() {
    let endpoint = Endpoint::start(Script::new());
    let project = project(&endpoint);
    let ran = project.run(&["--quiet"]);
    let listed = project.jurat(&["show", "--list"]);
    let run = project.only_run();
    // What is there when a process is killed while it makes the file: nothing, or tables without a beginning.
    let runs = run.parent().expect("it lies in a folder");
    fs::write(runs.join("2999-01-01T00-00-00_x_aaaa.jurat"), "").expect("files can be written");
    let headless = runs.join("2999-01-01T00-00-01_x_bbbb.jurat");
    fs::copy(&run, &headless).expect("files can be copied");
    let connection = Connection::open(&headless).expect("it is a database");
    connection.execute("DELETE FROM meta WHERE key <> 'min_reader'", []).expect("it can be changed");
    connection.close().expect("it can be closed");
    assert_eq!(project.jurat(&["show", "--list"]).stdout, listed.stdout);
    assert_eq!(project.jurat(&["show"]).code, ran.code.map(|_| 0), "the latest is the one that ran");
    assert_eq!(project.run(&["--quiet"]).code, ran.code);
}

#[test]
fn runs_that_were_overwritten_in_places_are_damaged_or_whole() {
    let endpoint = Endpoint::start(Script::new());
    let project = project(&endpoint);
    project.run(&["--quiet"]);
    let run = project.only_run();
    let whole = fs::read(&run).expect("a run is a file");
    for step in 0..40 {
        let at = whole.len() * step / 40;
        let mut bytes = whole.clone();
        bytes[at..(at + 64).min(whole.len())].iter_mut().for_each(|it| *it = it.wrapping_add(77));
        fs::write(&run, &bytes).expect("files can be written");
        for arguments in [&["show", "--tasks"][..], &["show", "--list"], &["explain", "r1", "tone"]] {
            let ended = project.jurat(arguments);
            no_panic(&ended);
            assert!(ended.code == Some(0) || ended.stderr.starts_with("error: "), "{at} {arguments:?}: {ended:?}");
        }
    }
}

#[test]
fn a_clock_that_went_back_loses_nothing() {
    let endpoint = Endpoint::start(Script::new());
    let project = project(&endpoint);
    let first = project.results(&[]);
    // As if everything until now had happened in the year 2999.
    let run = project.only_run();
    fs::rename(&run, run.with_file_name("2999-01-01T00-00-00_later_zzzz.jurat")).expect("runs can be renamed");
    let connection = Connection::open(project.journal()).expect("it is a database");
    connection.execute("UPDATE answer SET at_ms = 32472144000000", []).expect("it can be changed");
    connection.close().expect("it can be closed");
    endpoint.reset();
    for options in [&[][..], &["--max-age", "1d"]] {
        let again = project.results(options);
        assert_eq!((again.code, timeless(&again.stdout)), (first.code, timeless(&first.stdout)), "{}", again.stderr);
        assert_eq!(endpoint.stats().requests, 0, "what was paid for is found");
    }
    assert_eq!(project.jurat(&["show", "--list"]).code, Some(0));
}

#[test]
fn few_open_files_are_enough_or_said() {
    let endpoint = Endpoint::start(Script::new());
    let project = project(&endpoint);
    let reference = project.results(&[]);
    for limit in [12, 16, 24, 64] {
        let project = Project::new(JUDGED, &rows(ROWS), &endpoint.url());
        let inner = project.command(&["run"]);
        let mut command = Command::new("sh");
        let script = format!("ulimit -n {limit}; exec \"$JURAT\" run suite.yaml -j 64 --quiet {}", RESULTS.join(" "));
        command.args(["-c", &script]).current_dir(project.path()).env("JURAT", inner.get_program());
        command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let ran = ended(&mut command);
        no_panic(&ran);
        if limit == 64 {
            assert_eq!((ran.code, timeless(&ran.stdout)), (reference.code, timeless(&reference.stdout)), "{ran:?}");
        } else {
            assert!(matches!(ran.code, Some(1..=3)), "{limit}: {ran:?}");
        }
        let again = project.results(&["--fresh"]);
        assert_eq!((again.code, timeless(&again.stdout)), (reference.code, timeless(&reference.stdout)), "{limit}");
    }
}

#[test]
fn a_reader_that_went_away_is_no_failure() {
    let endpoint = Endpoint::start(Script::new());
    let project = project(&endpoint);
    project.run(&["--quiet"]);
    for arguments in [
        &["run", "suite.yaml", "--tasks", "--fresh"][..],
        &["check", "suite.yaml"],
        &["plan", "suite.yaml"],
        &["show", "--tasks"],
        &["show", "--list"],
        &["explain", "r1", "tone"],
        &["export", "--to", "jsonl"],
        &["journal"],
    ] {
        let mut command = project.command(arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command starts");
        drop(child.stdout.take());
        let ended: Ended = child.wait_with_output().expect("it ends").into();
        assert!(!ended.stderr.contains("panicked"), "{arguments:?}: {ended:?}");
        assert!(matches!(ended.code, Some(0 | 1)), "{arguments:?}: {ended:?}");
    }
    for run in project.runs() {
        Snapshot::of(&run).expect("it is there").assert_whole();
    }
}

/// Where everything that is printed is refused, that is reported, and what was paid for is stored.
#[test]
fn output_that_cannot_be_written() {
    if !Path::new("/dev/full").exists() {
        return;
    }
    let endpoint = Endpoint::start(Script::new());
    let project = project(&endpoint);
    let full = fs::File::options().write(true).open("/dev/full").expect("it can be opened");
    let mut command = project.command(&["run", "suite.yaml", "--tasks"]);
    let ran: Ended = command.stdout(full).stderr(Stdio::piped()).output().expect("it starts").into();
    no_panic(&ran);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    endpoint.reset();
    assert_eq!((project.run(&["--quiet"]).code, endpoint.stats().requests), (Some(1), 0));
    std::io::stdout().flush().expect("tests can print");
}
