//! The command line of a container.
//!
//! The engine does what the kernel does for namespaces; its arguments ask for the same protections. A container has no network at all unless it shares the
//! machine's. Its ports lead to sockets that are mounted into it, and the worker, which is mounted beside them, passes on between the two.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Network, Program, Protection, Sandbox};
use crate::worker;

/// Where sockets and the worker are in the container.
const OURS: &str = "/run/jurat";

/// The name of a new container, and the arguments after the name of the engine. `docker` and `podman` take the same.
pub fn arguments(program: &Program, sandbox: &Sandbox, image: &str) -> (String, Vec<OsString>) {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let name = format!("jurat-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    (name.clone(), arguments_of(program, sandbox, image, &name))
}

fn arguments_of(program: &Program, sandbox: &Sandbox, image: &str, name: &str) -> Vec<OsString> {
    let limits = &sandbox.limits;
    let seen = sandbox.seen();
    let mut words = Words(Vec::new());
    words.all(&["run", "--rm", "--interactive", "--init", "--pull", "missing", "--name", name]);
    words.all(&["--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--read-only", "--ipc", "private"]);
    words.all(&["--network", if sandbox.network == Network::Host { "host" } else { "none" }]);
    words.all(&["--user", &format!("{}:{}", rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw())]);
    if sandbox.has(Protection::Count) {
        words.all(&["--pids-limit", &limits.processes.to_string()]);
    }
    if sandbox.has(Protection::Memory) {
        let memory = limits.memory_bytes.to_string();
        words.all(&["--memory", &memory, "--memory-swap", &memory]);
    }
    if sandbox.has(Protection::FileSize) {
        words.all(&["--ulimit", &format!("fsize={}", limits.file_bytes)]);
    }
    words.all(&["--ulimit", "core=0", "--shm-size", "67108864"]);
    for (here, there) in [(&sandbox.workspace, &seen.workspace), (&sandbox.home, &seen.home), (&sandbox.tmp, &seen.tmp)]
    {
        words.mount(here, there, "");
    }
    for path in &sandbox.read_only {
        words.mount(path, path, ",readonly");
    }
    let forwards = sandbox.network.forwards();
    let mut before: Vec<OsString> = Vec::new();
    if !forwards.is_empty() {
        let ours = Path::new(OURS);
        words.mount(&sandbox.worker.path, &ours.join("worker"), ",readonly");
        before.extend([ours.join("worker").into_os_string(), worker::WORD.into(), worker::FORWARD.into()]);
        for forward in forwards {
            let socket = ours.join(format!("{}.sock", forward.port));
            words.mount(&forward.socket, &socket, "");
            before.push(format!("{}={}", forward.port, socket.display()).into());
        }
        before.push("--".into());
    }
    words.all(&["--workdir"]);
    words.0.push(program.work_dir.clone().into_os_string());
    for (variable, value) in &program.env {
        let mut assignment = variable.clone();
        assignment.push("=");
        assignment.push(value);
        words.all(&["--env"]);
        words.0.push(assignment);
    }
    let mut command = before.into_iter().chain(program.argv.iter().cloned());
    if let Some(entry) = command.next() {
        words.all(&["--entrypoint"]);
        words.0.push(entry);
    }
    words.all(&[image]);
    words.0.extend(command);
    words.0
}

struct Words(Vec<OsString>);

impl Words {
    fn all(&mut self, words: &[&str]) {
        self.0.extend(words.iter().map(|it| OsString::from(*it)));
    }

    /// A mount as fields, because paths may have colons. Quotes make commas part of a field.
    fn mount(&mut self, here: &Path, there: &Path, access: &str) {
        let mut value = OsString::from("type=bind,\"source=");
        value.push(quoted(here.as_os_str()));
        value.push("\",\"target=");
        value.push(quoted(there.as_os_str()));
        value.push("\"");
        value.push(access);
        self.all(&["--mount"]);
        self.0.push(value);
    }
}

fn quoted(text: &OsStr) -> OsString {
    use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
    let bytes = text.as_bytes().iter().flat_map(|it| if *it == b'"' { vec![b'"'; 2] } else { vec![*it] });
    OsString::from_vec(bytes.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jail::{Forward, Isolation, Limits};

    fn shown(sandbox: &Sandbox) -> String {
        let program = Program {
            argv: ["node", "agent.js", "--task", "say hi"].map(OsString::from).to_vec(),
            env: [("HOME".into(), "/home/agent".into()), ("PATH".into(), "/usr/bin:/bin".into())].into(),
            stdin: Vec::new(),
            work_dir: "/workspace".into(),
        };
        let words = arguments_of(&program, sandbox, "node:24", "jurat-1-0");
        let words: Vec<_> = words.iter().map(|it| it.to_string_lossy().into_owned()).collect();
        let user = format!("{}:{}", rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
        words.join(" ").replace(&user, "UID:GID")
    }

    fn sandbox() -> Sandbox {
        let worker = crate::Program { path: "/opt/jurat".into(), arguments: vec![worker::WORD.to_owned()] };
        let isolation = Isolation::Container { engine: "docker".into(), image: "node:24".to_owned() };
        let mut sandbox = Sandbox::new(worker, isolation, "/runs/1/work", "/runs/1/home", "/runs/1/tmp,\"odd\"");
        sandbox.limits = Limits { processes: 64, memory_bytes: 1 << 30, file_bytes: 1 << 20, ..Limits::default() };
        sandbox
    }

    const HEAD: &str = "run --rm --interactive --init --pull missing --name jurat-1-0 --cap-drop ALL --security-opt \
        no-new-privileges --read-only --ipc private --network NETWORK --user UID:GID --pids-limit 64 --memory 1073741824 \
        --memory-swap 1073741824 --ulimit fsize=1048576 --ulimit core=0 --shm-size 67108864 \
        --mount type=bind,\"source=/runs/1/work\",\"target=/workspace\" \
        --mount type=bind,\"source=/runs/1/home\",\"target=/home/agent\" \
        --mount type=bind,\"source=/runs/1/tmp,\"\"odd\"\"\",\"target=/tmp\"";
    const MIDDLE: &str = "--workdir /workspace --env HOME=/home/agent --env PATH=/usr/bin:/bin --entrypoint";

    #[test]
    fn a_container_without_a_network() {
        let head = HEAD.replace("NETWORK", "none");
        assert_eq!(shown(&sandbox()), format!("{head} {MIDDLE} node node:24 agent.js --task say hi"));
    }

    #[test]
    fn ports_lead_to_sockets_through_the_worker() {
        let mut sandbox = sandbox();
        sandbox.read_only = vec!["/opt/agent".into()];
        let forward = Forward { port: 8080, socket: "/runs/1/proxy.sock".into() };
        sandbox.network = Network::Loopback { forwards: vec![forward] };
        let head = HEAD.replace("NETWORK", "none");
        let mounts = "--mount type=bind,\"source=/opt/agent\",\"target=/opt/agent\",readonly \
            --mount type=bind,\"source=/opt/jurat\",\"target=/run/jurat/worker\",readonly \
            --mount type=bind,\"source=/runs/1/proxy.sock\",\"target=/run/jurat/8080.sock\"";
        let command =
            "/run/jurat/worker node:24 __worker forward 8080=/run/jurat/8080.sock -- node agent.js --task say hi";
        assert_eq!(shown(&sandbox), format!("{head} {mounts} {MIDDLE} {command}"));
    }

    #[test]
    fn the_network_of_the_machine_in_words() {
        let mut sandbox = sandbox();
        sandbox.network = Network::Host;
        let head = HEAD.replace("NETWORK", "host");
        assert_eq!(shown(&sandbox), format!("{head} {MIDDLE} node node:24 agent.js --task say hi"));
    }
}
