//! No process outlives the one that started it, whenever and however that one ends, and whatever else the machine does.
//!
//! A *warden* is this program started anew. It inherits what other processes leave behind, so a process that outlived its owner becomes a child of the warden, and
//! a warden without children has seen all of them end. What they run never ends by itself.

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use jurat_sandbox::jail::{self, StopFlag, run};
use jurat_sandbox::{Arguments, CodeRunner as _, Isolation, Language, Pool, PoolOptions, Prepared, Source, worker};
use rustix::process::{WaitOptions, set_child_subreaper};

use crate::jails::{Place, worker as program};
use crate::pools::{pool, source};

/// What makes this program a warden or an owner, and of what.
const ROLE: &str = "JURAT_TEST_ORPHANS";

/// The number of moments at which each kind of owner ends.
const MOMENTS: u32 = 25;

/// How long processes may take to end on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Code that never ends, by language and isolation.
const ENDLESS: [(&str, Language, Isolation); 4] = [
    ("python process", Language::Python, Isolation::Process),
    ("python fork", Language::Python, Isolation::Fork),
    ("javascript process", Language::JavaScript, Isolation::Process),
    ("javascript fork", Language::JavaScript, Isolation::Fork),
];

#[test]
fn a_pool_that_is_dropped_leaves_nothing() {
    for (name, ..) in ENDLESS {
        watched(&format!("drop {name}"));
    }
}

#[test]
fn code_ends_with_its_owner() {
    for (name, ..) in ENDLESS {
        watched(&format!("kill {name}"));
    }
}

#[test]
fn agents_end_with_their_owner() {
    for name in ["agent namespaces", "agent host"] {
        watched(&format!("kill {name}"));
    }
}

#[test]
fn a_container_is_removed_with_its_owner() {
    watched("contain agent");
}

#[test]
fn supervised_programs_end_with_their_owner() {
    watched("kill supervised");
}

#[test]
fn a_supervised_program_ends_with_everything_when_its_supervisor_is_asked_to() {
    watched("ask supervised");
}

/// Runs a warden.
#[track_caller]
fn watched(role: &str) {
    let ended = anew(role).output().expect("this program can be started");
    let said = [ended.stdout, ended.stderr].concat();
    assert!(ended.status.success(), "{role}: {}", String::from_utf8_lossy(&said));
}

fn anew(role: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("the test is a program"));
    command.args(["--exact", "orphans::started_anew", "--nocapture"]).env(ROLE, role);
    command
}

/// Not a test by itself: what wardens and owners are.
#[test]
fn started_anew() {
    let Ok(role) = std::env::var(ROLE) else { return };
    match role.split_once(' ') {
        Some(("drop", what)) => warden(|moment| drop_pool(what, moment)),
        Some(("kill", what)) => warden(|moment| kill_owner(what, moment)),
        Some(("ask", _)) => warden(ask_supervisor),
        Some(("contain", _)) => warden_of_containers(),
        Some(("own", what)) => own(what),
        _ => panic!("there is no role `{role}`"),
    }
}

/// Has owners end at one moment after the other, beside a load, and waits each time until nothing of them is left.
fn warden(end: impl Fn(u32)) {
    set_child_subreaper(Some(rustix::process::getpid())).expect("orphans can be inherited");
    let is_over = Arc::new(AtomicBool::new(false));
    let load: Vec<_> = (0..2)
        .map(|_| {
            let is_over = Arc::clone(&is_over);
            std::thread::spawn(move || while !is_over.load(Ordering::Relaxed) {})
        })
        .collect();
    for moment in 0..MOMENTS {
        end(moment);
        assert_childless(moment);
    }
    is_over.store(true, Ordering::Relaxed);
    load.into_iter().for_each(|it| it.join().expect("it only counts"));
}

/// An engine whose containers are files, which clients make and only `rm` removes.
const ENGINE: &str = r#"#!/bin/sh
if [ "$1" = rm ]; then exec rm "$0.$3"; fi
while [ "$1" != --name ]; do shift; done
: > "$0.$2"
while :; do :; done
"#;

fn warden_of_containers() {
    let folder = tempfile::tempdir().expect("there is room for files");
    let engine = folder.path().join("engine");
    std::fs::write(&engine, ENGINE).expect("files can be written");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&engine, mode).expect("modes can be changed");
    let n_files = || std::fs::read_dir(folder.path()).expect("it is there").count();
    warden(|moment| {
        kill_owner(&format!("container {}", engine.display()), moment);
        assert_childless(moment);
        assert_eq!(n_files(), 1, "moment {moment}: a container is left");
    });
}

fn assert_childless(moment: u32) {
    let begun = Instant::now();
    loop {
        match rustix::process::wait(WaitOptions::NOHANG) {
            Ok(Some(_)) => {}
            Err(_) => return,
            Ok(None) if begun.elapsed() < TIMEOUT => std::thread::yield_now(),
            Ok(None) => {
                let left = children();
                left.iter().for_each(|(id, _)| {
                    rustix::process::kill_process(*id, rustix::process::Signal::KILL).unwrap_or_default();
                });
                panic!("moment {moment}: these are left: {left:?}");
            }
        }
    }
}

/// Children of this process, with their command lines.
fn children() -> Vec<(rustix::process::Pid, String)> {
    let own = format!("PPid:\t{}\n", std::process::id());
    let entries = std::fs::read_dir("/proc").expect("the system lists processes").flatten().map(|it| it.path());
    let is_ours =
        |it: &std::path::PathBuf| std::fs::read_to_string(it.join("status")).is_ok_and(|it| it.contains(&own));
    let described = |it: std::path::PathBuf| {
        let id = it.file_name()?.to_str()?.parse().ok().and_then(rustix::process::Pid::from_raw)?;
        Some((id, std::fs::read_to_string(it.join("cmdline")).unwrap_or_default()))
    };
    entries.filter(is_ours).filter_map(described).collect()
}

/// Lets a moment pass: a share of how long something took before.
fn pass(moment: u32, whole: Duration) {
    let until = Instant::now() + whole * moment / MOMENTS;
    while Instant::now() < until {
        std::hint::spin_loop();
    }
}

fn endless(what: &str) -> Source {
    let (_, language, isolation) = ENDLESS.into_iter().find(|(name, ..)| *name == what).expect("it is in the list");
    let text = match language {
        Language::Python => "def evaluate():\n    while True:\n        pass\n",
        _ => "function evaluate() { for (;;); }",
    };
    let mut source = source(language, isolation, text);
    source.limits.deadline = Duration::from_secs(3600);
    source
}

fn prepared(pool: &Pool, what: &str) -> Prepared {
    pool.prepare(endless(what)).wait().expect("it is sound")
}

fn drop_pool(what: &str, moment: u32) {
    let pool = Pool::new(PoolOptions { n_workers: 3, ..PoolOptions::of(program()) });
    let begun = Instant::now();
    let prepared = prepared(&pool, what);
    let whole = begun.elapsed();
    // One that waits and one whose caller is gone.
    let arguments = || vec![Arguments::from_json("{}").expect("it is JSON")];
    let waiting = pool.call(&prepared, arguments());
    drop(pool.call(&prepared, arguments()));
    pass(moment, whole);
    drop(pool);
    drop(waiting);
}

fn kill_owner(what: &str, moment: u32) {
    let begun = Instant::now();
    let mut owner = anew(&format!("own {what}"));
    let mut owner = owner.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("this program can be started");
    // From its first instruction until it has long been at work.
    pass(moment, Duration::from_millis(600).saturating_sub(begun.elapsed()));
    owner.kill().expect("it runs");
    owner.wait().expect("it has ended");
}

/// Never returns by itself.
fn own(what: &str) {
    match what {
        "agent namespaces" => own_agent(jail::Isolation::Namespaces),
        "agent host" => own_agent(jail::Isolation::Host),
        what if what.starts_with("container ") => {
            let engine = what["container ".len()..].into();
            own_agent(jail::Isolation::Container { engine, image: "image".to_owned() });
        }
        "supervised" => drop(supervised().spawn().expect("it can be started").wait()),
        code => {
            let pool = pool(&[]);
            let prepared = prepared(&pool, code);
            pool.call(&prepared, vec![Arguments::from_json("{}").expect("it is JSON")]).wait();
        }
    }
}

fn own_agent(isolation: jail::Isolation) {
    let place = Place::new(isolation);
    let program = place.shell("(setsid sh -c 'while :; do :; done' &); while :; do :; done");
    run(&program, &place.sandbox, &mut |_: &[u8]| (), &mut |_: &[u8]| (), &StopFlag::new())
        .map(drop)
        .unwrap_or_default();
}

/// A program that leaves its group and its session, under a supervisor.
fn supervised() -> Command {
    let script = "(setsid sh -c 'while :; do :; done' &); echo there; while :; do :; done";
    let mut command = Command::new(program().path);
    command.args([worker::SUPERVISE, &std::process::id().to_string(), "/", "/bin/sh", "-c", script]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

fn ask_supervisor(moment: u32) {
    let begun = Instant::now();
    let mut supervisor = supervised().spawn().expect("it can be started");
    let id = i32::try_from(supervisor.id()).ok().and_then(rustix::process::Pid::from_raw).expect("it has an id");
    pass(moment, Duration::from_millis(200).saturating_sub(begun.elapsed()));
    rustix::process::kill_process(id, rustix::process::Signal::TERM).expect("it is there");
    supervisor.wait().expect("it has ended");
}

#[track_caller]
fn supervises(script: &str, said: &str, status: &str) {
    let mut command = Command::new(program().path);
    command.args([worker::SUPERVISE, &std::process::id().to_string(), "/usr", "/bin/sh", "-c", script]);
    let ended = command.output().expect("it can be started");
    let text = String::from_utf8_lossy(&[ended.stdout, ended.stderr].concat()).into_owned();
    assert_eq!((text.as_str(), ended.status.to_string().as_str()), (said, status));
}

#[test]
fn a_supervisor_ends_as_its_program_does() {
    supervises("pwd; exit 3", "/usr\n", "exit status: 3");
    supervises("kill -TERM $$", "", "signal: 15 (SIGTERM)");
    supervises("kill -KILL $$", "", "signal: 9 (SIGKILL)");
    let missing = Command::new(program().path)
        .args([worker::SUPERVISE, &std::process::id().to_string(), "/", "/no/such/program"])
        .output()
        .expect("it can be started");
    let said = String::from_utf8_lossy(&missing.stderr).into_owned();
    assert_eq!(said, "`/no/such/program` cannot be started: No such file or directory (os error 2)\n");
    assert_eq!(missing.status.code(), Some(127));
}
