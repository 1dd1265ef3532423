//! Programs in a sandbox, as a run would have them.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jurat_sandbox::jail::{
    Ended, Exit, Forward, Isolation, JailError, Limit, Mechanism, Network, Program, Protection, Sandbox, StopFlag,
    probe, run,
};

/// Folders for a program, and a sandbox around them.
pub(crate) struct Place {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) sandbox: Sandbox,
}

/// Another place for the program that is started as a worker.
const WORKER: &str = "JURAT_TEST_WORKER";

pub(crate) fn worker() -> jurat_sandbox::Program {
    let path = std::env::var_os(WORKER).unwrap_or_else(|| env!("CARGO_BIN_EXE_jurat-worker").into());
    jurat_sandbox::Program { path: path.into(), arguments: Vec::new() }
}

impl Place {
    pub(crate) fn new(isolation: Isolation) -> Place {
        let folder = tempfile::tempdir().expect("there is room for files");
        let inner = |name: &str| folder.path().join(name);
        for name in ["workspace", "home", "tmp"] {
            std::fs::create_dir(inner(name)).expect("folders can be made");
        }
        let mut sandbox = Sandbox::new(worker(), isolation, inner("workspace"), inner("home"), inner("tmp"));
        sandbox.limits.time = Duration::from_secs(60);
        Place { folder, sandbox }
    }

    pub(crate) fn workspace(&self) -> &Path {
        &self.sandbox.workspace
    }

    pub(crate) fn shell(&self, script: &str) -> Program {
        self.program(&["/bin/sh", "-c", script])
    }

    pub(crate) fn program(&self, argv: &[&str]) -> Program {
        let seen = self.sandbox.seen();
        let env: BTreeMap<OsString, OsString> = [
            ("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into()),
            ("HOME".into(), seen.home.into()),
            ("TMPDIR".into(), seen.tmp.into()),
        ]
        .into();
        Program { argv: argv.iter().map(OsString::from).collect(), env, stdin: Vec::new(), work_dir: seen.workspace }
    }
}

/// What came of a program.
pub(crate) struct Came {
    pub(crate) ended: Ended,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

pub(crate) fn try_run(program: &Program, sandbox: &Sandbox) -> Result<Came, JailError> {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let ended = run(
        program,
        sandbox,
        &mut |it: &[u8]| out.extend_from_slice(it),
        &mut |it: &[u8]| err.extend_from_slice(it),
        &StopFlag::new(),
    )?;
    let text = |it: Vec<u8>| String::from_utf8_lossy(&it).into_owned();
    Ok(Came { ended, stdout: text(out), stderr: text(err) })
}

#[track_caller]
pub(crate) fn ran(program: &Program, sandbox: &Sandbox) -> Came {
    try_run(program, sandbox).expect("it can be run")
}

#[track_caller]
fn says(isolation: Isolation, script: &str, stdout: &str) {
    let place = Place::new(isolation);
    let came = ran(&place.shell(script), &place.sandbox);
    assert_eq!((came.stdout.as_str(), came.ended.exit), (stdout, Exit::Code(0)), "{script}: {}", came.stderr);
}

/// Some programs do so before each command, and print an error into its result where they cannot.
#[test]
fn a_program_can_be_the_first_to_end_when_memory_runs_out() {
    says(
        Isolation::Namespaces,
        "echo 1000 > /proc/self/oom_score_adj && sh -c 'cat /proc/self/oom_score_adj'",
        "1000\n",
    );
    let place = Place::new(Isolation::Namespaces);
    let writes = "echo 1 > /proc/sys/vm/swappiness; echo 1 > /proc/sysrq-trigger; exit 0";
    let came = ran(&place.shell(writes), &place.sandbox);
    assert_eq!(came.stderr.lines().count(), 2, "{}", came.stderr);
}

#[test]
fn a_program_sees_its_folders_and_itself() {
    let seen = "/workspace\n/home/agent\n1000\nagent\njurat\n2\n";
    says(Isolation::Namespaces, "pwd; echo $HOME; id -u; id -un; uname -n; echo $$", seen);
    let place = Place::new(Isolation::Namespaces);
    let came = ran(&place.shell("ls /"), &place.sandbox);
    let known = [
        "bin",
        "dev",
        "etc",
        "gnu",
        "home",
        "lib",
        "lib32",
        "lib64",
        "libx32",
        "nix",
        "proc",
        "root",
        "run",
        "sbin",
        "tmp",
        "usr",
        "var",
        "workspace",
    ];
    let strange: Vec<_> = came.stdout.lines().filter(|it| !known.contains(it)).collect();
    assert!(strange.is_empty(), "{strange:?}");
    says(Isolation::Namespaces, "ls /root /home /run /var/tmp", "/home:\nagent\n\n/root:\n\n/run:\n\n/var/tmp:\n");
}

#[test]
fn what_it_writes_stays_and_what_it_reads_is_given() {
    for isolation in [Isolation::Namespaces, Isolation::Host] {
        let place = Place::new(isolation);
        std::fs::write(place.workspace().join("task.txt"), "from outside").expect("files can be written");
        let mut program = place.shell("cat > answer.txt; cat task.txt; echo words >&2; echo x > $HOME/kept; exit 7");
        program.stdin = vec![b'x'; 300_000];
        let came = ran(&program, &place.sandbox);
        assert_eq!((came.stdout.as_str(), came.stderr.as_str()), ("from outside", "words\n"));
        assert_eq!((came.ended.exit, came.ended.stdout_bytes, came.ended.stderr_bytes), (Exit::Code(7), 12, 6));
        let answer = std::fs::read(place.workspace().join("answer.txt")).expect("it was written");
        assert_eq!(answer.len(), 300_000);
        assert!(place.folder.path().join("home/kept").exists());
    }
}

#[test]
fn an_environment_is_what_was_given() {
    for isolation in [Isolation::Namespaces, Isolation::Host] {
        let place = Place::new(isolation);
        let mut program = place.program(&["/usr/bin/env"]);
        program.env = [("ONLY".into(), "this".into())].into();
        assert_eq!(ran(&program, &place.sandbox).stdout, "ONLY=this\n");
    }
}

#[test]
fn what_was_named_can_be_read_and_not_written() {
    let outside = tempfile::tempdir().expect("there is room for files");
    std::fs::write(outside.path().join("tool"), "#!/bin/sh\necho tool runs\n").expect("files can be written");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(outside.path().join("tool"), mode).expect("modes can be changed");
    let mut place = Place::new(Isolation::Namespaces);
    let tool = outside.path().join("tool").display().to_string();
    place.sandbox.read_only = vec![outside.path().to_owned()];
    let script = format!("{tool}; echo x > {tool} || echo not written");
    let came = ran(&place.shell(&script), &place.sandbox);
    assert_eq!(came.stdout, "tool runs\nnot written\n", "{}", came.stderr);
    place.sandbox.read_only = vec![PathBuf::from("/no/such/folder")];
    let error = try_run(&place.shell(":"), &place.sandbox).err().map(|it| it.to_string());
    assert_eq!(error.as_deref(), Some("`/no/such/folder` cannot be used: No such file or directory (os error 2)"));
}

/// What an earlier turn leaves where the suite's files are going to be shown, instead of what was there.
const IN_THE_WAY: [&str; 5] = [
    "ln -s VICTIM OUT",
    "mkdir OUT && ln -s VICTIM OUT/suite",
    "mkdir -p OUT/suite && ln -s VICTIM/made OUT/suite/agent.py",
    "mkdir -p OUT/suite/agent.py",
    "echo x > OUT",
];

#[test]
fn what_an_earlier_turn_left_leads_the_next_nowhere() {
    for script in IN_THE_WAY {
        let (outside, victim) =
            (tempfile::tempdir().expect("there is room"), tempfile::tempdir().expect("there is room"));
        let agent = outside.path().join("suite/agent.py");
        std::fs::create_dir(outside.path().join("suite")).expect("folders can be made");
        std::fs::write(&agent, "the agent").expect("files can be written");
        let mut place = Place::new(Isolation::Namespaces);
        place.sandbox.read_only = vec![agent.clone()];
        let words = |it: &str| {
            let it = it.replace("OUT", &outside.path().display().to_string());
            it.replace("VICTIM", &victim.path().display().to_string())
        };
        let first = ran(&place.shell(&words(&format!("mv OUT OUT.old && {script}"))), &place.sandbox);
        assert_eq!((first.ended.exit, first.stderr.as_str()), (Exit::Code(0), ""), "{script}");
        let second = ran(&place.shell(&format!("cat {}", agent.display())), &place.sandbox);
        assert_eq!(second.stdout, "the agent", "{script}: {}", second.stderr);
        assert_eq!(std::fs::read_dir(victim.path()).expect("it is there").count(), 0, "{script}");
    }
    as_an_ordinary_user("jails::what_an_earlier_turn_left_leads_the_next_nowhere");
}

/// Runs a test again as an ordinary user, where this one is root.
#[track_caller]
pub(crate) fn as_an_ordinary_user(test: &str) {
    use std::os::unix::process::CommandExt as _;
    if !rustix::process::geteuid().is_root() {
        return;
    }
    const ORDINARY_USER: u32 = 65534;
    // The program may lie where only root can go.
    let folder = tempfile::Builder::new().permissions(std::os::unix::fs::PermissionsExt::from_mode(0o755)).tempdir();
    let folder = folder.expect("there is room for files");
    let copy = folder.path().join("tests");
    std::fs::copy(std::env::current_exe().expect("the test is a program"), &copy).expect("there is room for files");
    let worker_copy = folder.path().join("worker");
    std::fs::copy(worker().path, &worker_copy).expect("there is room for files");
    let mut again = std::process::Command::new(copy);
    again.args(["--exact", test]).uid(ORDINARY_USER).gid(ORDINARY_USER).env(WORKER, worker_copy).current_dir("/");
    let ended = again.output().expect("it can be started");
    let said = String::from_utf8_lossy(&ended.stdout).into_owned() + &String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success() && said.contains("1 passed"), "as an ordinary user: {said}");
}

#[test]
fn what_cannot_be_started_is_said() {
    for isolation in [Isolation::Namespaces, Isolation::Host] {
        let place = Place::new(isolation);
        let error = try_run(&place.program(&["no-such-program"]), &place.sandbox).err().map(|it| it.to_string());
        assert_eq!(
            error.as_deref(),
            Some("`no-such-program` cannot be started: No such file or directory (os error 2)")
        );
        let mut sandbox = place.sandbox.clone();
        sandbox.home = "/no/such/home".into();
        let error = try_run(&place.shell(":"), &sandbox).err().map(|it| it.to_string());
        assert_eq!(error.as_deref(), Some("`/no/such/home` cannot be used: No such file or directory (os error 2)"));
    }
}

#[test]
fn a_port_of_its_loopback_leads_to_a_socket() {
    let mut place = Place::new(Isolation::Namespaces);
    let socket = place.folder.path().join("model.sock");
    let listener = UnixListener::bind(&socket).expect("sockets can be bound");
    let server = std::thread::spawn(move || {
        for _ in 0..2 {
            let (mut visitor, _) = listener.accept().expect("a client connects");
            let mut said = Vec::new();
            visitor.read_to_end(&mut said).expect("it speaks and ends");
            said.make_ascii_uppercase();
            visitor.write_all(&said).expect("it listens");
        }
    });
    place.sandbox.network = Network::Loopback { forwards: vec![Forward { port: 8099, socket }] };
    let script = "import socket, sys\nfor n in (5, 2_000_000):\n    s = socket.create_connection(('127.0.0.1', 8099))\n    import threading\n    \
        threading.Thread(target=lambda: (s.sendall(b'a' * n), s.shutdown(1))).start()\n    got = b''\n    while True:\n        it = s.recv(65536)\n        \
        if not it: break\n        got += it\n    print(len(got), got[:3])\n";
    let came = ran(&place.program(&["/usr/bin/python3", "-c", script]), &place.sandbox);
    assert_eq!(came.stdout, "5 b'AAA'\n2000000 b'AAA'\n", "{}", came.stderr);
    server.join().expect("it ends");
}

#[test]
fn common_programs_work() {
    let git = "git init -q . && git config user.email a@b && git config user.name a && echo x > f && git add f && git commit -qm first && git log --format=%s";
    says(Isolation::Namespaces, git, "first\n");
    says(
        Isolation::Namespaces,
        "bash -c 'cat <(echo sub) | tee >(cat >/dev/null) && f=$(mktemp) && echo $f | cut -c1-5'",
        "sub\n/tmp/\n",
    );
    let python = "/usr/bin/python3 -c 'import subprocess, threading, tempfile, multiprocessing as m, sqlite3; sqlite3.connect(\"a.db\").execute(\"create table t (x)\"); print(m.Pool(2).map(abs, [-1, 2])); print(subprocess.check_output([\"echo\", \"hi\"]))'";
    says(Isolation::Namespaces, python, "[1, 2]\nb'hi\\n'\n");
}

#[test]
fn node_works_where_it_is() {
    if !Path::new("/usr/bin/node").exists() {
        println!("there is no `node` here");
        return;
    }
    let script = "const fs = require('fs'); fs.writeFileSync('a', 'b'); const http = require('http'); const s = http.createServer((q, r) => r.end('ok')).listen(0, '127.0.0.1', async () => { const t = await (await fetch('http://127.0.0.1:' + s.address().port)).text(); console.log(t, require('os').cpus().length > 0, require('child_process').execSync('echo sh').toString().trim()); s.close(); });";
    let place = Place::new(Isolation::Namespaces);
    let came = ran(&place.program(&["/usr/bin/node", "-e", script]), &place.sandbox);
    assert_eq!(came.stdout, "ok true sh\n", "{}", came.stderr);
}

#[test]
fn a_program_can_be_interrupted() {
    for isolation in [Isolation::Namespaces, Isolation::Host] {
        let place = Place::new(isolation);
        let stop = StopFlag::new();
        let mut said = Vec::new();
        // It is interrupted once it says that it is there.
        let program = place.shell("trap 'echo asked; exit 3' TERM; echo there; while :; do sleep 0.05; done");
        let ended = run(
            &program,
            &place.sandbox,
            &mut |it: &[u8]| {
                said.extend_from_slice(it);
                stop.raise();
            },
            &mut |_: &[u8]| (),
            &stop,
        );
        assert_eq!(ended.expect("it was run").exit, Exit::Interrupted);
        assert_eq!(String::from_utf8_lossy(&said), "there\nasked\n");
    }
}

#[test]
fn an_insistent_stop_kills_without_a_signal_first() {
    for isolation in [Isolation::Namespaces, Isolation::Host] {
        let mut place = Place::new(isolation);
        // Longer than the test may take.
        place.sandbox.limits.grace = Duration::from_secs(600);
        for is_asked_before in [false, true] {
            let stop = StopFlag::new();
            let mut said = String::new();
            let program = place.shell("trap 'echo asked' TERM; echo there; while :; do sleep 0.05; done");
            let ended = run(
                &program,
                &place.sandbox,
                &mut |it: &[u8]| {
                    said.push_str(&String::from_utf8_lossy(it));
                    if is_asked_before && !said.contains("asked") { stop.raise() } else { stop.insist() }
                },
                &mut |_: &[u8]| (),
                &stop,
            );
            assert_eq!(ended.expect("it was run").exit, Exit::Interrupted);
            assert_eq!(said, if is_asked_before { "there\nasked\n" } else { "there\n" });
        }
    }
}

#[test]
fn what_enforced_each_limit_is_said() {
    let place = Place::new(Isolation::Namespaces);
    let ended = ran(&place.shell(":"), &place.sandbox).ended;
    let limits: Vec<_> = ended.enforced.iter().map(|(it, _)| *it).collect();
    let all = [Limit::Time, Limit::Output, Limit::Processes, Limit::Memory, Limit::FileSize, Limit::Disk, Limit::Files];
    assert_eq!(limits, all);
    assert!(ended.enforced.contains(&(Limit::Time, Mechanism::Clock)));
    assert_eq!(ended.protections, Protection::ALL);
    let folder = tempfile::tempdir().expect("there is room for files");
    let available = probe(worker(), folder.path()).expect("a sandbox can be started here");
    assert_eq!((available.protections, available.enforced), (ended.protections, ended.enforced));
    let host = Place::new(Isolation::Host);
    let ended = ran(&host.shell(":"), &host.sandbox).ended;
    assert!(!ended.protections.contains(&Protection::Files) && ended.protections.contains(&Protection::Time));
}

#[test]
fn a_worker_stands_between_a_program_and_sockets() {
    // As in a container; here its network is the machine's, so the port is a free one.
    let folder = tempfile::tempdir().expect("there is room for files");
    let socket = folder.path().join("model.sock");
    let listener = UnixListener::bind(&socket).expect("sockets can be bound");
    let server = std::thread::spawn(move || {
        let (mut visitor, _) = listener.accept().expect("a client connects");
        visitor.write_all(b"hello").expect("it listens");
    });
    let free = jurat_testkit::reserved_port();
    let script =
        format!("import socket\nprint(socket.create_connection(('127.0.0.1', {free})).recv(5))\nraise SystemExit(9)");
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_jurat-worker"))
        .args(["__worker", "forward", &format!("{free}={}", socket.display()), "--", "/usr/bin/python3", "-c", &script])
        .output()
        .expect("it can be started");
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stdout).as_ref()), (Some(9), "b'hello'\n"));
    server.join().expect("it ends");
}

#[test]
fn what_the_system_has_for_root_alone_is_not_read() {
    // Only root can put a file there, and only a program of root could read it.
    let Ok(private) = tempfile::Builder::new().prefix("jurat-test-").tempfile_in("/usr/local") else { return };
    std::fs::write(private.path(), "canary").expect("files can be written");
    let place = Place::new(Isolation::Namespaces);
    let script = format!("ls -d /usr/local/bin; cat {} 2>&1", private.path().display());
    let came = ran(&place.shell(&script), &place.sandbox);
    let refused = format!("/usr/local/bin\ncat: {}: Permission denied\n", private.path().display());
    assert_eq!(came.stdout, refused);
}

#[test]
fn forwards_need_a_network_of_its_own() {
    let mut place = Place::new(Isolation::Host);
    place.sandbox.network = Network::Loopback { forwards: vec![Forward { port: 1, socket: "/x".into() }] };
    let error = try_run(&place.shell(":"), &place.sandbox).err().map(|it| it.to_string());
    assert_eq!(error.as_deref(), Some("on the host there are no forwards; listen on a port of the machine instead"));
}

#[test]
fn an_engine_is_given_the_words_and_the_input() {
    // Any program can be asked like an engine; what a real one makes of the words is its own business.
    let folder = tempfile::tempdir().expect("there is room for files");
    let engine = folder.path().join("engine");
    std::fs::write(&engine, "#!/bin/sh\nfor word; do last=$word; done\necho \"$1 $last\"; cat; exit 5\n")
        .expect("files can be written");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&engine, mode).expect("modes can be changed");
    let place = Place::new(Isolation::Container { engine, image: "image".to_owned() });
    let mut program = place.program(&["agent", "task"]);
    program.stdin = vec![b'x'; 200_000];
    let came = ran(&program, &place.sandbox);
    assert_eq!((came.ended.exit, came.stdout.len()), (Exit::Code(5), "run task\n".len() + 200_000));
    assert!(came.stdout.starts_with("run task\nxxx"));
    assert!(came.ended.enforced.contains(&(Limit::Memory, Mechanism::Engine)));
}
