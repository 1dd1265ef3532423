//! Disks that are full, directories that may not be written, files that were cut short: a clear error, and nothing else is harmed.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;
use std::sync::OnceLock;

use jurat_testkit::{Endpoint, Reply, Script};

use crate::project::{Ended, Project, RESULTS, ended, timeless};
use crate::store::Snapshot;
use crate::suites::{ASKED, JUDGED, rows};

const ROWS: usize = 40;
const OPTIONS: &[&str] = &["-j", "4", "--quiet"];

/// A shell with mounts of its own, which are gone when it ends; `None` where the system has no such thing.
fn shell_with_mounts() -> Option<&'static [&'static str]> {
    static SHELL: OnceLock<Option<&'static [&'static str]>> = OnceLock::new();
    const WAYS: [&[&str]; 2] = [&["--mount"], &["--user", "--map-root-user", "--mount"]];
    *SHELL.get_or_init(|| {
        let works = |way: &&&[&str]| {
            let folder = tempfile::TempDir::new().expect("the system has a place for temporary files");
            let mount = "mount -t tmpfs -o size=64k none . && mount -o remount,ro .";
            let tried =
                Command::new("unshare").args(**way).args(["sh", "-c", mount]).current_dir(folder.path()).output();
            tried.is_ok_and(|it| it.status.success())
        };
        let way = WAYS.iter().find(works).copied();
        if way.is_none() {
            println!("skipped: this system allows no mounts, so no disk can be filled and no directory made read-only");
        }
        way
    })
}

/// Runs a script in the folder of a project; `$JURAT` is the command.
fn in_shell(way: &[&str], project: &Project, script: &str) -> Ended {
    let inner = project.command(&["run"]);
    let mut command = Command::new("unshare");
    command.args(way).args(["sh", "-c", script]).current_dir(project.path());
    command.env("JURAT", inner.get_program());
    command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
    ended(&mut command)
}

/// Answers of some length, so that a disk is soon full.
fn script() -> Script {
    Script::answering(|request| match request.model.as_str() {
        "subject" => Reply::text(format!("answer to {} {}", request.prompt, "and so on ".repeat(100))),
        _ => Reply::fitting(),
    })
}

/// The project with one run that is complete.
fn project_with_a_run(endpoint: &Endpoint) -> (Project, Ended) {
    let project = Project::new(ASKED, &rows(ROWS), &endpoint.url());
    let script = "records: rows.jsonl\nsuite: plain\ntasks: [{ id: n, field_path: n, operator: greater_than, expected_value: 0 }]\n";
    project.write("plain.yaml", script);
    let ran = project.jurat(&["run", "plain.yaml"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let run = project.only_run();
    fs::rename(&run, run.with_file_name("2000-01-01T00-00-00_plain_aaaa.jurat")).expect("runs can be renamed");
    let shown = project.jurat(SHOW_PLAIN);
    assert_eq!(shown.code, Some(0), "{}", shown.stderr);
    (project, shown)
}

const SHOW_PLAIN: &[&str] = &["show", "2000", "--tasks"];

#[test]
fn a_full_disk_loses_nothing_that_was_written() {
    let Some(way) = shell_with_mounts() else { return };
    let reference = {
        let endpoint = Endpoint::start(script());
        timeless(&Project::new(ASKED, &rows(ROWS), &endpoint.url()).results(OPTIONS).stdout)
    };
    let (mut n_in_the_middle, mut n_complete) = (0, 0);
    // From nothing at all to enough.
    for kib in [0, 8, 40, 80, 120, 240, 320, 400, 440, 480, 520, 560, 600, 680, 900, 1500, 20_000] {
        let endpoint = Endpoint::start(script());
        let (project, shown) = project_with_a_run(&endpoint);
        let ended = in_shell(
            way,
            &project,
            &format!(
                "mv .jurat before && mkdir .jurat && used=$(du -s -k before | cut -f1)
                 mount -t tmpfs -o size=$((used + 16 + {kib}))k,mode=700 none .jurat && cp -a before/. .jurat/ && rm -r before
                 $JURAT run suite.yaml {}; code=$?
                 cp -a .jurat after; exit $code",
                OPTIONS.join(" ")
            ),
        );
        fs::remove_dir(project.path().join(".jurat")).expect("only the mount was there");
        fs::rename(project.path().join("after"), project.path().join(".jurat")).expect("folders can be renamed");
        let what = format!("{kib} KiB: {}", ended.stderr);
        if ended.code == Some(1) {
            n_complete += 1;
        } else {
            assert_eq!(ended.code, Some(2), "{what}");
            assert!(ended.stderr.starts_with("error: no space left on the device to write `"), "{what}");
            assert_eq!(ended.stderr.lines().count(), 1, "{what}");
        }
        assert_eq!(project.jurat(SHOW_PLAIN).stdout, shown.stdout, "{what}");
        let latest = project.jurat(&["show"]);
        assert_eq!((latest.code, latest.stderr.as_str()), (Some(0), ""), "{what}");

        // With room the same command resumes, and asks nothing whose answer is there.
        let journal = Snapshot::of(&project.journal());
        journal.iter().for_each(Snapshot::assert_whole);
        let stored = journal.map(|it| it.answered()).unwrap_or_default();
        n_in_the_middle += u32::from(!stored.is_empty() && stored.len() < 2 * ROWS);
        endpoint.reset();
        let again = project.results(OPTIONS);
        assert_eq!((again.code, timeless(&again.stdout)), (Some(1), reference.clone()), "{what} {}", again.stderr);
        assert_eq!(endpoint.stats().requests as usize, 2 * ROWS - stored.len(), "{what}");
        for run in project.runs().iter().filter_map(|it| Snapshot::of(it)) {
            run.assert_whole();
        }
    }
    assert!(n_in_the_middle >= 3 && n_complete >= 1, "{n_in_the_middle} {n_complete}");
}

#[test]
fn a_directory_that_may_not_be_written() {
    let Some(way) = shell_with_mounts() else { return };
    let endpoint = Endpoint::start(script());
    let (project, shown) = project_with_a_run(&endpoint);
    let read_only = "mount --bind .jurat .jurat && mount -o remount,ro,bind .jurat &&";
    let ran = in_shell(way, &project, &format!("{read_only} $JURAT run suite.yaml"));
    assert_eq!(ran.code, Some(2), "{}", ran.stdout);
    assert!(ran.stderr.contains(".jurat") && ran.stderr.contains("writable"), "{}", ran.stderr);
    assert_eq!(endpoint.stats().requests, 0, "no request is made whose answer cannot be stored");
    // What is there can be read where nothing can be written.
    let shown_there = in_shell(way, &project, &format!("{read_only} $JURAT {}", SHOW_PLAIN.join(" ")));
    assert_eq!((shown_there.code, shown_there.stdout), (Some(0), shown.stdout), "{}", shown_there.stderr);

    // The same where there is no project yet.
    fs::remove_dir_all(project.path().join(".jurat")).expect("folders can be removed");
    let ran = in_shell(
        way,
        &project,
        "mount --bind . . && mount -o remount,ro,bind . && cd \"$PWD\" && $JURAT run suite.yaml",
    );
    assert_eq!(ran.code, Some(2), "{}", ran.stdout);
    assert!(ran.stderr.contains(".jurat` cannot be used"), "{}", ran.stderr);
}

#[test]
fn a_run_that_was_cut_short() {
    let endpoint = Endpoint::start(script());
    let (project, shown) = project_with_a_run(&endpoint);
    let ran = project.run(&[]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let run = project.runs().pop().expect("there are runs");
    let whole = fs::read(&run).expect("a run is a file");
    let mut said = BTreeSet::new();
    for length in
        [0, 1, 15, 16, 100, 1000, 8191, 8192, 8193, 20_000, whole.len() / 2, whole.len() - 8192, whole.len() - 1]
    {
        fs::write(&run, &whole[..length]).expect("files can be written");
        let name = run.to_str().expect("a name");
        for arguments in [
            &["show", name][..],
            &["show", name, "--json"],
            &["explain", "r1", "tone", "--run", name],
            &["export", name, "--to", "jsonl"],
            &["run", "suite.yaml", "--replay", name],
        ] {
            let ended = project.jurat(arguments);
            let what = format!("{length} bytes, {arguments:?}: {}{}", ended.stdout, ended.stderr);
            assert_eq!(ended.code, Some(2), "{what}");
            assert_eq!(ended.stdout, "", "{what}");
            let message =
                ended.stderr.strip_prefix(&format!("error: `{name}` is ")).unwrap_or_else(|| panic!("{what}"));
            said.insert(message.split(':').next().unwrap_or_default().trim().to_owned());
        }
        assert_eq!(fs::read(&run).expect("a run is a file").len(), length, "reading changes nothing");
        assert_eq!(project.jurat(SHOW_PLAIN).stdout, shown.stdout);
        let listed = project.jurat(&["show", "--list"]);
        assert_eq!(listed.code, Some(0), "{}", listed.stderr);
        assert!(listed.stdout.contains(" plain "), "{}", listed.stdout);
    }
    assert_eq!(said.into_iter().collect::<Vec<_>>(), ["damaged", "not a run of jurat"]);

    // The next run is not held up, and has its answers from the journal.
    endpoint.reset();
    let again = project.run(&[]);
    assert_eq!((again.code, endpoint.stats().requests), (Some(1), 0), "{}", again.stderr);
}

#[test]
fn a_journal_that_was_cut_short() {
    let endpoint = Endpoint::start(script());
    let (project, shown) = project_with_a_run(&endpoint);
    assert_eq!(project.run(&[]).code, Some(1));
    let complete = project.runs().pop().expect("there are runs");
    let whole = fs::read(project.journal()).expect("a journal is a file");
    for length in [1, 100, 8192, whole.len() / 2, whole.len() - 1] {
        fs::write(project.journal(), &whole[..length]).expect("files can be written");
        endpoint.reset();
        let ended = project.jurat(&["journal"]);
        let what = format!("{length} bytes: {}{}", ended.stdout, ended.stderr);
        assert_eq!(ended.code, Some(2), "{what}");
        assert!(ended.stderr.starts_with(&format!("error: `{}` is ", project.journal().display())), "{what}");
        assert_eq!(fs::read(project.journal()).expect("it is still there").len(), length, "looking changes nothing");
        // A run sets it aside, and has what it asks from nowhere else.
        let ran = project.run(&["--fresh"]);
        assert_eq!(ran.code, Some(1), "{}", ran.stderr);
        assert!(ran.stderr.contains("the journal was damaged and is set aside as `"), "{}", ran.stderr);
        // Runs do not need it.
        assert_eq!(project.jurat(SHOW_PLAIN).stdout, shown.stdout);
        let name = complete.to_str().expect("a name");
        assert_eq!(project.jurat(&[&["run", "suite.yaml", "--replay", name], RESULTS].concat()).code, Some(1));
    }
    fs::remove_file(project.journal()).expect("files can be removed");
    assert_eq!(project.run(&[]).code, Some(1), "without one a new one is made");
}

/// A run whose rows are gone says so.
#[test]
fn rows_that_changed_since() {
    let endpoint = Endpoint::start(script());
    let project = Project::new(JUDGED, &rows(3), &endpoint.url());
    assert_eq!(project.run(&[]).code, Some(1));
    let explain = |case: &str| project.jurat(&["explain", case, "tone"]);
    let of_row: Vec<Ended> = (1..=3).map(|it| explain(&format!("r{it}"))).collect();
    assert!(of_row.iter().all(|it| it.code == Some(0)));
    project.write("rows.jsonl", &rows(3).replace("answer", "ANSWER"));
    // Rows that did not pass were copied; the others are only in their file.
    let changed: Vec<Ended> = (1..=3).map(|it| explain(&format!("r{it}"))).collect();
    let is_reported = |it: &Ended| it.stderr.contains("`rows.jsonl` changed since this run");
    assert!(changed.iter().all(|it| it.code == Some(0) || is_reported(it)), "{changed:?}");
    assert!(changed.iter().any(is_reported), "{changed:?}");
}
