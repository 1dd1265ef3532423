//! Nothing is left of an agent, however jurat ends: not after Ctrl-C, not after a second one, not when jurat is killed; in a sandbox and on the machine itself. The agent
//! leaves a daemon, and both ignore signals to end.

use std::fs;
use std::process::Command;
use std::time::Instant;

use jurat_testkit::{Endpoint, Script};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open};

use crate::interrupts::{Running, STUCK};
use crate::project::{Project, ended};

/// Asks its model when its daemon is there, and waits for the answer.
const AGENT: &str = r#"
import json, os, signal, subprocess, sys, urllib.request

signal.signal(signal.SIGTERM, signal.SIG_IGN)
stubborn = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('there', flush=True); time.sleep(1e6)"
daemon = subprocess.Popen([sys.executable, "-c", stubborn, sys.argv[1]], stdout=subprocess.PIPE, start_new_session=True)
daemon.stdout.readline()
asked = json.dumps({"model": "any", "messages": [{"role": "user", "content": "Go on?"}]}).encode()
headers = {"Content-Type": "application/json", "Authorization": "Bearer " + os.environ["JURAT_API_KEY"]}
at = os.environ["JURAT_BASE_URL"] + "/v1/chat/completions"
urllib.request.urlopen(urllib.request.Request(at, asked, headers)).read()
print(json.dumps({"type": "final", "text": "done"}))
"#;

/// How jurat is made to end.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Way {
    Interrupted,
    InterruptedTwice,
    /// By a signal of a supervisor or of a terminal that is closed, while the agent waits for an answer that never comes.
    Ended(Signal),
    Killed,
}

const WAYS: [Way; 5] =
    [Way::Interrupted, Way::InterruptedTwice, Way::Ended(Signal::TERM), Way::Ended(Signal::HUP), Way::Killed];

fn suite(token: &str) -> String {
    format!(
        "suite: errands\n\
         models: {{ subject: openai/any }}\n\
         agents: {{ stubborn: {{ command: [python3, ./agent.py, {token}], model: subject }} }}\n\
         cases: [{{ id: first, task: Stay. }}, {{ id: second, task: Stay longer. }}]\n\
         tasks: [{{ id: done, check: {{ kind: status_is, expected: success }} }}]\n"
    )
}

/// The command in a folder with a place for temporary files of its own.
fn command(project: &Project, options: &[&str]) -> Command {
    let mut command = project.command(&[&["run", "suite.yaml", "-j", "1"], options].concat());
    let path = std::env::var_os("PATH").expect("there is a path");
    command.env("PATH", path).env("TMPDIR", project.path().join("tmp")).env("OPENAI_API_KEY", "sk-none");
    command
}

/// The processes that have a word among their arguments, wherever they run.
fn processes(word: &str) -> Vec<OwnedFd> {
    let entries = fs::read_dir("/proc").expect("the system lists processes").flatten();
    let ids = entries.filter_map(|it| it.file_name().to_str()?.parse::<i32>().ok());
    let has_word = |id: &i32| {
        let line = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        line.split(|it| *it == 0).any(|it| it == word.as_bytes())
    };
    let open = |id| pidfd_open(Pid::from_raw(id)?, PidfdFlags::empty()).ok();
    ids.filter(has_word).filter_map(open).collect()
}

/// Whether a process ends in time.
fn ends(process: &OwnedFd) -> bool {
    let most = Timespec { tv_sec: 60, tv_nsec: 0 };
    poll(&mut [PollFd::new(process, PollFlags::IN)], Some(&most)).is_ok_and(|n_ended| n_ended == 1)
}

fn n_entries(project: &Project, folder: &str) -> usize {
    fs::read_dir(project.path().join(folder)).map_or(0, Iterator::count)
}

#[track_caller]
fn leaves_nothing(way: Way, place: &[&str]) {
    let shown = format!("{way:?} {place:?}");
    let token = format!("proof-{}-{way:?}-{}", std::process::id(), place.len()).replace(['(', ')'], "-");
    let endpoint = Endpoint::start(Script::new().held());
    let project = Project::new(&suite(&token), "", &endpoint.url());
    project.write("agent.py", AGENT);
    fs::create_dir(project.path().join("tmp")).expect("folders can be made");
    let mut running = Running::of(&mut command(&project, place));
    endpoint.wait_until(|it| it.in_flight == 1);
    let processes_before = processes(&token);
    assert_eq!(processes_before.len(), 2, "{shown}: the agent and its daemon");
    assert_eq!(n_entries(&project, "tmp"), 1, "{shown}");
    match way {
        Way::Interrupted => {
            running.interrupt(Signal::INT);
            endpoint.release_all();
        }
        Way::InterruptedTwice => {
            running.interrupt(Signal::INT);
            running.send(Signal::INT);
        }
        Way::Ended(signal) => running.interrupt(signal),
        Way::Killed => running.send(Signal::KILL),
    }
    let since = Instant::now();
    let stopped = running.ended();
    let took = since.elapsed();
    assert_eq!(stopped.code, if way == Way::Killed { None } else { Some(130) }, "{shown}: {}", stopped.stderr);
    assert!(processes_before.iter().all(ends), "{shown}");
    assert_eq!(processes(&token).len(), 0, "{shown}");
    if way == Way::InterruptedTwice {
        println!("{shown}: the second Ctrl-C took {took:?}");
        assert!(took < STUCK, "{shown}: {took:?}");
    }
    if let Way::Ended(_) = way {
        assert!(took < STUCK, "{shown}: {took:?}");
    }
    if way != Way::Killed {
        assert_eq!(n_entries(&project, "tmp"), 0, "{shown}");
    }
    // What was done is stored, and nothing of what was not.
    assert_eq!(n_entries(&project, ".jurat/agents"), usize::from(way == Way::Interrupted), "{shown}");

    endpoint.release_all();
    let again = ended(&mut command(&project, place));
    assert_eq!(again.code, Some(0), "{shown}: {}", again.stderr);
    assert_eq!(n_entries(&project, "tmp"), 0, "{shown}: what a killed process left is swept");
    assert_eq!(n_entries(&project, ".jurat/agents"), 2, "{shown}");
    assert_eq!(processes(&token).len(), 0, "{shown}");
    project.only_run();
}

#[test]
fn nothing_is_left_in_the_sandbox() {
    for way in WAYS {
        leaves_nothing(way, &[]);
    }
}

#[test]
fn nothing_is_left_on_the_machine_itself() {
    for way in WAYS {
        leaves_nothing(way, &["--unsafe-host"]);
    }
}
