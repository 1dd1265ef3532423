//! Programs that jurat starts end with it, in whatever way it ends.

use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::command::Folder;

/// A program that writes its id and that of its child, ignores signals, and never ends.
const STUBBORN: &str = "\
import os, signal, sys, time
for it in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(it, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
with open(f'{sys.argv[1]}.{os.getpid()}', 'w') as file:
    file.write('there')
while True:
    time.sleep(1)
";

const JUDGE: &str = "\
suite: stubborn
models: { judge: \"exec/python3 stubborn.py judge\" }
records: [{ id: a, output: x }]
tasks: [{ id: t, judge: { prompt: \"${output}\" }, operator: equals, expected_value: yes }]
";

const TOOLS: &str = "\
suite: stubborn
tools: { server: { command: [python3, stubborn.py, tools] } }
models: { subject: script/replies.jsonl }
records: [{ id: a, q: x }]
ask: { prompt: \"${q}\", tools: [server] }
tasks: [{ id: t, field_path: output, operator: contains, expected_value: yes }]
";

const HOOK: &str = "\
suite: stubborn
security_policy: { allow_local_python_hooks: true }
records: { path: runs.jsonl, as: runs }
tasks: [{ id: t, check: { kind: hook, path: hook.py, callable_name: decide } }]
";

/// The same program as a hook.
const HOOKED: &str = "\
import runpy, sys
def decide(artifact):
    sys.argv = ['stubborn.py', 'hook']
    runpy.run_path('stubborn.py', run_name='__main__')
";

const RUN: &str = r#"{"identity": {"run_id": "r", "case_id": "c", "suite_id": "s", "run_profile_id": "p", "runner_type": "command"}, "status": "success", "request": {"requested_model": "m"}, "trace": [], "output_artifacts": []}"#;

#[test]
fn programs_end_with_jurat_when_it_is_killed() {
    for (name, suite) in [("judge", JUDGE), ("tools", TOOLS), ("hook", HOOK)] {
        let folder = Folder::with("suite.yaml", suite);
        fs::write(folder.path().join("stubborn.py"), STUBBORN).expect("files can be written");
        fs::write(folder.path().join("replies.jsonl"), "{\"reply\": \"yes\"}\n").expect("files can be written");
        fs::write(folder.path().join("hook.py"), HOOKED).expect("files can be written");
        fs::write(folder.path().join("runs.jsonl"), RUN).expect("files can be written");
        let mut command = folder.command();
        command.args(["run", "suite.yaml"]).stdout(Stdio::null()).stderr(Stdio::null());
        let mut jurat = command.spawn().expect("the command starts");
        let handles: Vec<_> = started(&folder, name).into_iter().map(handle).collect();
        jurat.kill().expect("it runs");
        jurat.wait().expect("it has ended");
        for handle in &handles {
            let timeout = Timespec { tv_sec: 60, tv_nsec: 0 };
            let n_ended = rustix::event::poll(&mut [PollFd::new(handle, PollFlags::IN)], Some(&timeout));
            assert_eq!(n_ended, Ok(1), "{name}: something is left");
        }
    }
}

/// The program and its child, once both are there.
fn started(folder: &Folder, name: &str) -> Vec<Pid> {
    let begun = Instant::now();
    loop {
        let names = fs::read_dir(folder.path()).expect("the folder is there").flatten().map(|it| it.file_name());
        let id = |it: std::ffi::OsString| it.to_str()?.strip_prefix(name)?.strip_prefix('.')?.parse().ok();
        let ids: Vec<Pid> = names.filter_map(id).filter_map(Pid::from_raw).collect();
        if ids.len() == 2 {
            return ids;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{name}: it does not start");
        std::thread::yield_now();
    }
}

fn handle(id: Pid) -> rustix::fd::OwnedFd {
    pidfd_open(id, PidfdFlags::empty()).expect("it runs")
}
