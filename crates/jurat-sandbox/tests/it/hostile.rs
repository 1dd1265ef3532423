//! Programs that mean harm, in a sandbox.
//!
//! A program is a file in `tests/hostile/`. With all protections none of them gets what it wants, everything around stays as it was, nothing is left of it, and the process that ran it
//! continues. Then each is run again without the protections that its first line names; now it has to succeed, else it would prove nothing. What succeeds is harmless: it
//! attacks things that are there to be attacked, and has an end.
//!
//! Its head, in lines of comment:
//!
//! | key | meaning |
//! |---|---|
//! | `without` | the protections to leave out, by name; `namespaces` for the machine itself. `-`: there is nothing to leave out, or it would not be harmless |
//! | `limit` | limits to set: `time` and `grace` in seconds, `output`, `memory`, `file`, `disk` in bytes, `processes`, `files` |
//! | `ends` | the limits any of which ends it with all protections |
//! | `proof` | `damage`: something outside changed; `left`: something of it still runs. Otherwise it says `breached` |
//! | `root`, `machine` | it can only succeed for root, or on a machine |

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use jurat_sandbox::jail::{Exit, Isolation, Program, Protection, Sandbox, StopFlag, remove_folder, run};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::{Pid, PidfdFlags};

use crate::jails::{Came, Place, ran};

/// What there is to be attacked, outside of every workspace.
struct World {
    folder: tempfile::TempDir,
    victim: Child,
    n_visits: Arc<AtomicUsize>,
    names: BTreeMap<&'static str, String>,
}

impl World {
    fn new() -> World {
        let folder = tempfile::tempdir().expect("there is room for files");
        let path = |name: &str| folder.path().join(name);
        fs::write(path("secret.txt"), "canary").expect("files can be written");
        fs::write(path("target.txt"), "untouched").expect("files can be written");
        let n_visits = Arc::new(AtomicUsize::new(0));
        let tcp = TcpListener::bind("127.0.0.1:0").expect("loopback is there");
        let port = tcp.local_addr().expect("it is bound").port();
        let visits = Arc::clone(&n_visits);
        std::thread::spawn(move || {
            tcp.incoming().for_each(|_| {
                visits.fetch_add(1, Ordering::SeqCst);
            });
        });
        let name = format!("jurat-hostile-{}-{port}", std::process::id());
        let of_name = SocketAddr::from_abstract_name(&name).expect("the name is short");
        for listener in [UnixListener::bind(path("socket")), UnixListener::bind_addr(&of_name)] {
            let (listener, visits) = (listener.expect("sockets can be bound"), Arc::clone(&n_visits));
            std::thread::spawn(move || {
                listener.incoming().for_each(|_| {
                    visits.fetch_add(1, Ordering::SeqCst);
                });
            });
        }
        // Known by its command line, which every process can read that sees it at all.
        let marker = format!("3600.{:06}", std::process::id());
        let victim = Command::new("sleep").arg(&marker).spawn().expect("there is `sleep`");
        let given = ["PATH", "HOME", "TMPDIR"];
        let (variable, value) = std::env::vars()
            .find(|(name, value)| {
                !given.contains(&name.as_str()) && !value.is_empty() && !value.contains(['\n', '"', '\\'])
            })
            .expect("there is another variable");
        let names = [
            ("FOLDER", folder.path().display().to_string()),
            ("SECRET", path("secret.txt").display().to_string()),
            ("TARGET", path("target.txt").display().to_string()),
            ("SOCKET", path("socket").display().to_string()),
            ("ABSTRACT", name),
            ("PORT", port.to_string()),
            ("VICTIM", victim.id().to_string()),
            ("MARKER", marker),
            ("VARIABLE", variable),
            ("VALUE", value),
            ("IPC", fs::read_link("/proc/self/ns/ipc").expect("the system lists processes").display().to_string()),
            ("HOST", rustix::system::uname().nodename().to_string_lossy().into_owned()),
        ];
        World { folder, victim, n_visits, names: names.into() }
    }

    /// What is not as it was.
    fn damage(&mut self) -> Option<String> {
        let mut names: Vec<_> =
            fs::read_dir(self.folder.path()).expect("the folder is there").flatten().map(|it| it.file_name()).collect();
        names.sort();
        if names != ["secret.txt", "socket", "target.txt"] {
            return Some(format!("the folder has {names:?}"));
        }
        if fs::read_to_string(self.folder.path().join("target.txt")).ok().as_deref() != Some("untouched") {
            return Some("a file was changed".to_owned());
        }
        if !matches!(self.victim.try_wait(), Ok(None)) {
            return Some("a process was ended".to_owned());
        }
        let n_visits = self.n_visits.load(Ordering::SeqCst);
        (n_visits > 0).then(|| format!("it connected to a listener ({n_visits} connections)"))
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.victim.kill().unwrap_or_default();
        self.victim.wait().map(drop).unwrap_or_default();
    }
}

/// One program of the corpus.
struct Attack {
    name: String,
    text: String,
    head: BTreeMap<String, String>,
}

impl Attack {
    fn read(path: &Path) -> Attack {
        let text = fs::read_to_string(path).expect("programs are text");
        let lines = text.lines().map_while(|it| it.strip_prefix("# "));
        let head = lines.map_while(|it| it.split_once(": ")).map(|(key, value)| (key.to_owned(), value.to_owned()));
        let head = head.collect();
        let name = path.file_name().expect("programs have names").to_string_lossy().into_owned();
        Attack { name, text, head }
    }

    fn words(&self, key: &str) -> impl Iterator<Item = &str> {
        self.head.get(key).into_iter().flat_map(|it| it.split(' ')).filter(|it| *it != "-")
    }

    fn place(&self, is_isolated: bool) -> Place {
        let on_host = !is_isolated && self.words("without").any(|it| it == "namespaces");
        let mut place = Place::new(if on_host { Isolation::Host } else { Isolation::Namespaces });
        let limits = &mut place.sandbox.limits;
        limits.grace = Duration::from_secs(1);
        for (name, value) in self.words("limit").filter_map(|it| it.split_once('=')) {
            let seconds = || Duration::from_secs_f64(value.parse().expect("it is a number"));
            let number = || value.parse::<u64>().expect("it is a number");
            match name {
                "time" => limits.time = seconds(),
                "grace" => limits.grace = seconds(),
                "output" => limits.output_bytes = number(),
                "processes" => limits.processes = number(),
                "memory" => limits.memory_bytes = number(),
                "file" => limits.file_bytes = number(),
                "disk" => limits.disk_bytes = number(),
                "files" => limits.files = number(),
                _ => panic!("{}: there is no limit `{name}`", self.name),
            }
        }
        if !is_isolated {
            let words: BTreeSet<&str> = self.words("without").collect();
            place.sandbox.without = Protection::ALL.into_iter().filter(|it| words.contains(it.name())).collect();
        }
        place
    }

    fn program(&self, place: &Place, world: &World, is_isolated: bool, linger: &str) -> Program {
        let mut names: BTreeMap<&str, String> = world.names.clone();
        names.insert("LINGER", linger.to_owned());
        if self.name.ends_with(".sh") {
            names.insert("ISOLATED", u8::from(is_isolated).to_string());
            let mut program = place.shell(&self.text);
            program.env.extend(names.into_iter().map(|(name, value)| (name.into(), value.into())));
            return program;
        }
        let mut text = format!("ISOLATED = {}\n", if is_isolated { "True" } else { "False" });
        for (name, value) in names {
            let is_number = matches!(name, "PORT" | "VICTIM");
            text += &if is_number { format!("{name} = {value}\n") } else { format!("{name} = \"{value}\"\n") };
        }
        place.program(&["/usr/bin/python3", "-c", &(text + &self.text)])
    }

    fn can_be_proved(&self) -> bool {
        let is_root = rustix::process::geteuid().is_root();
        let is_machine = self.head.get("machine").is_none_or(|it| it == std::env::consts::ARCH);
        self.words("without").next().is_some() && is_machine && (is_root || !self.head.contains_key("root"))
    }
}

fn corpus() -> Vec<Attack> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hostile");
    let mut paths: Vec<_> = fs::read_dir(root).expect("the corpus is there").flatten().map(|it| it.path()).collect();
    paths.sort();
    paths.iter().map(|it| Attack::read(it)).collect()
}

/// Processes with this as their first argument.
fn lingering(word: &str) -> Vec<Pid> {
    let entries = fs::read_dir("/proc").expect("the system lists processes").flatten();
    let has = |it: &fs::DirEntry| {
        let line = fs::read_to_string(it.path().join("cmdline")).unwrap_or_default();
        line.split('\0').nth(1) == Some(word)
    };
    let id = |it: fs::DirEntry| it.file_name().to_str()?.parse().ok().and_then(Pid::from_raw);
    entries.filter(has).filter_map(id).collect()
}

/// How long what is left behind where nothing ends it stays. The fraction distinguishes runs.
fn linger(n: usize) -> String {
    format!("20.{:06}{n:03}", std::process::id())
}

struct Seen {
    came: Came,
    is_left: bool,
}

fn attacked(attack: &Attack, world: &World, is_isolated: bool, linger: &str) -> Seen {
    let place = attack.place(is_isolated);
    let came = ran(&attack.program(&place, world, is_isolated, linger), &place.sandbox);
    let is_left = !lingering(linger).is_empty();
    remove_folder(place.folder.path()).unwrap_or_else(|error| panic!("{}: cannot be removed: {error}", attack.name));
    Seen { came, is_left }
}

#[test]
fn no_attack_gets_out() {
    let mut world = World::new();
    let mut breaches = Vec::new();
    let attacks = corpus();
    for (n, attack) in attacks.iter().enumerate() {
        let begun = Instant::now();
        let Seen { came, is_left } = attacked(attack, &world, true, &linger(n));
        let name = &attack.name;
        if came.stdout.contains("breached") || is_left {
            breaches.push(format!("{name}: {}{}{is_left}", came.stdout, came.stderr));
        }
        if let Some(damage) = world.damage() {
            panic!("{name}: {damage}");
        }
        let ends: Vec<_> = attack.words("ends").map(|it| it.replace('_', " ")).collect();
        match came.ended.exit {
            Exit::Stopped(limit) => assert!(ends.iter().any(|it| it == limit.name()), "{name}: stopped by {limit}"),
            other => assert!(ends.is_empty(), "{name}: {other}; {}", came.stderr),
        }
        let slack = Duration::from_secs(120);
        assert!(begun.elapsed() < slack, "{name} took {:?}", begun.elapsed());
    }
    assert!(breaches.is_empty(), "\n{}\n", breaches.join("\n"));
    assert!(attacks.len() > 40, "the corpus has {} programs", attacks.len());
}

#[test]
fn every_attack_succeeds_without_its_protection() {
    let mut failures = Vec::new();
    for (n, attack) in corpus().into_iter().enumerate().filter(|(_, it)| it.can_be_proved()) {
        let mut world = World::new();
        let Seen { came, is_left } = attacked(&attack, &world, false, &linger(n + 500));
        let is_proved = match attack.head.get("proof").map(String::as_str) {
            Some("damage") => world.damage().is_some(),
            Some("left") => is_left,
            _ => came.stdout.contains("breached"),
        };
        if !is_proved {
            let end = came.stdout.len().min(200);
            failures.push(format!("{}: {}; {}{}", attack.name, came.ended.exit, &came.stdout[..end], came.stderr));
        }
    }
    assert!(failures.is_empty(), "these do not succeed:\n{}\n", failures.join("\n"));
}

/// Root may read what its owner closed, so this is about others.
#[test]
fn what_cannot_be_read_counts_as_well() {
    let attack = corpus().into_iter().find(|it| it.name == "folder-without-read-permission.py").expect("it is there");
    let Seen { came, .. } = attacked(&attack, &World::new(), true, &linger(970));
    assert_eq!(came.ended.exit, Exit::Stopped(jurat_sandbox::jail::Limit::Disk), "{}", came.stdout);
    crate::jails::as_an_ordinary_user("hostile::what_cannot_be_read_counts_as_well");
}

#[test]
fn output_is_passed_on_up_to_its_limit() {
    let mut place = Place::new(Isolation::Namespaces);
    place.sandbox.limits.output_bytes = 1000;
    let came = ran(&place.shell("printf '\\033[31mred\\033[0m'; exec cat /dev/zero"), &place.sandbox);
    assert_eq!(came.stdout.len() + came.stderr.len(), 1000);
    assert!(came.stdout.starts_with("\u{1b}[31mred\u{1b}[0m"), "what it says is passed on as it is");
    assert!(came.ended.stdout_bytes > 1000);
}

#[test]
fn nothing_is_left_on_the_host_either() {
    let place = Place::new(Isolation::Host);
    let linger = linger(900);
    let script =
        format!("(setsid sleep {linger} >/dev/null 2>&1 &) ; sh -c 'trap \"\" TERM; sleep {linger}' & echo started");
    let came = ran(&place.shell(&script), &place.sandbox);
    assert_eq!((came.stdout.as_str(), came.ended.exit), ("started\n", Exit::Code(0)));
    assert_eq!(lingering(&linger), []);
}

/// The variable that makes the next test a run that is going to be killed.
const KILLED: &str = "JURAT_TEST_KILLED";

/// Not a test by itself: the process that [`nothing_is_left_when_the_owner_is_killed`] kills.
#[test]
fn a_run_that_is_killed() {
    let Ok(linger) = std::env::var(KILLED) else { return };
    let (isolation, linger) = linger.split_once(' ').expect("both are there");
    let place = Place::new(if isolation == "host" { Isolation::Host } else { Isolation::Namespaces });
    let script = format!("(trap '' TERM; setsid sleep {linger} & sleep {linger}) & sleep {linger}");
    let sandbox: &Sandbox = &place.sandbox;
    run(&place.shell(&script), sandbox, &mut |_: &[u8]| (), &mut |_: &[u8]| (), &StopFlag::new())
        .map(drop)
        .unwrap_or_default();
}

#[test]
fn nothing_is_left_when_the_owner_is_killed() {
    for (n, isolation) in ["namespaces", "host"].into_iter().enumerate() {
        // Longer than the test takes: only being ended ends them.
        let linger = format!("600.{:06}{n}", std::process::id());
        let mut runner = Command::new(std::env::current_exe().expect("the test is a program"));
        runner
            .args(["--exact", "hostile::a_run_that_is_killed", "--nocapture"])
            .env(KILLED, format!("{isolation} {linger}"));
        let mut runner = runner.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it can be started");
        let begun = Instant::now();
        let there = loop {
            let there = lingering(&linger);
            if there.len() == 3 {
                break there;
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "{isolation}: it does not start");
            std::thread::yield_now();
        };
        let handles: Vec<_> = there
            .iter()
            .map(|it| rustix::process::pidfd_open(*it, PidfdFlags::empty()).expect("it is there"))
            .collect();
        runner.kill().expect("it can be killed");
        runner.wait().expect("it has ended");
        for handle in &handles {
            let timeout = Timespec { tv_sec: 60, tv_nsec: 0 };
            let n_ended = rustix::event::poll(&mut [PollFd::new(handle, PollFlags::IN)], Some(&timeout));
            assert_eq!(n_ended, Ok(1), "{isolation}: something is left");
        }
    }
}

#[test]
fn a_jail_whose_worker_is_killed_is_lost_with_everything_in_it() {
    let place = Place::new(Isolation::Namespaces);
    let linger = linger(950);
    let program = place.shell(&format!("echo there; exec sleep {linger}"));
    let mut killed = false;
    let result = run(
        &program,
        &place.sandbox,
        &mut |_: &[u8]| {
            // The worker is the parent of the first process, which is the parent of the program.
            let worker = running_with(&linger).and_then(parent).and_then(parent).expect("it runs");
            killed = rustix::process::kill_process(worker, rustix::process::Signal::KILL).is_ok();
        },
        &mut |_: &[u8]| (),
        &StopFlag::new(),
    );
    assert!(killed, "there was no worker to kill");
    let error = result.err().map(|it| it.to_string()).unwrap_or_default();
    assert!(error.starts_with("the jail ended before the program in it"), "{error}");
    assert_eq!(lingering(&linger), []);
}

/// A process with this somewhere in its command line, other than this one.
fn running_with(word: &str) -> Option<Pid> {
    let entries = fs::read_dir("/proc").expect("the system lists processes").flatten();
    let has = |it: &fs::DirEntry| fs::read_to_string(it.path().join("cmdline")).is_ok_and(|it| it.contains(word));
    let id = |it: fs::DirEntry| it.file_name().to_str()?.parse().ok().and_then(Pid::from_raw);
    entries.filter(has).find_map(id)
}

fn parent(id: Pid) -> Option<Pid> {
    let status = fs::read_to_string(format!("/proc/{}/status", id.as_raw_nonzero())).ok()?;
    let line = status.lines().find_map(|it| it.strip_prefix("PPid:"))?;
    line.trim().parse().ok().and_then(Pid::from_raw)
}
