//! The attack corpus: programs that try to get at what is not theirs.
//!
//! A program is a file in `tests/attacks/CELL/`. Its function takes a `turn`, from 1, and a `world` of things that are there to be attacked, and returns
//! `"breached"` when it got what it wanted. Under all protections none of them does, everything around stays as it was, and the pool still serves.
//! Then each is run again without the protections that its first line names; now it has to succeed, else it would prove nothing.
//!
//! Its head, in lines of comment:
//!
//! | key | meaning |
//! |---|---|
//! | `without` | the protections to leave out: layers by name, `fork` for a process shared by calls, a limit (`deadline`, `memory`, `output`, `value`), or `process`: the program then runs in a bare interpreter that is its own host, and has to end it, to change what is around it, or to speak in its name |
//! | `without: -` | there is nothing to leave out: the program must not succeed, end the pool or change anything, and that is all |
//! | `turns` | how often it is called; one result after the other, `together` in one message |
//! | `proof` | texts, any of which in the last result means success, where it cannot say so itself |
//! | `then` | the result that matters is that of other code, called afterwards |
//! | `any` | success in any turn counts |
//! | `flood` | what matters is how much of its output is retained |
//! | `root`, `machine` | it can only succeed for root, or on a machine |

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use jurat_sandbox::{
    Arguments, CodeRunner as _, Failure, Isolation, Language, Layer, Pool, PoolOptions, Prepared, Program, Return,
    Source,
};
use serde_json::json;

use crate::pools::{PYTHON, call, pool, shown};

/// What there is to be attacked.
struct World {
    folder: tempfile::TempDir,
    victim: Child,
    described: serde_json::Value,
    n_visits: Arc<AtomicUsize>,
    datagrams: UnixDatagram,
    /// A file that processes inherit unless they close it.
    _inherited: fs::File,
}

impl World {
    fn new() -> World {
        let folder = tempfile::tempdir().expect("there is room for files");
        let path = |name: &str| folder.path().join(name);
        fs::write(path("secret.txt"), "canary").expect("files can be written");
        fs::write(path("target.txt"), "untouched").expect("files can be written");
        fs::write(path("secret_module.py"), "VALUE = 'canary'\n").expect("files can be written");
        fs::copy(some_library(), path("foreign.so")).expect("files can be written");
        let inherited = fs::File::open(path("secret.txt")).expect("the file is there");
        rustix::io::fcntl_setfd(&inherited, rustix::io::FdFlags::empty()).expect("descriptors have flags");
        let n_visits = Arc::new(AtomicUsize::new(0));
        let tcp = TcpListener::bind("127.0.0.1:0").expect("loopback is there");
        let port = tcp.local_addr().expect("it is bound").port();
        let visits = Arc::clone(&n_visits);
        std::thread::spawn(move || {
            for mut visitor in tcp.incoming().flatten() {
                visits.fetch_add(1, Ordering::SeqCst);
                visitor.set_read_timeout(Some(Duration::from_millis(500))).unwrap_or_default();
                visitor.read(&mut [0; 1000]).map(drop).unwrap_or_default();
                visitor.write_all(b"HTTP/1.0 200 OK\r\ncontent-length: 0\r\n\r\n").unwrap_or_default();
            }
        });
        let name = format!("jurat-test-{}-{port}", std::process::id());
        let of_name = SocketAddr::from_abstract_name(&name).expect("the name is short");
        let listeners = [UnixListener::bind(path("socket")), UnixListener::bind_addr(&of_name)];
        for listener in listeners {
            let (listener, visits) = (listener.expect("sockets can be bound"), Arc::clone(&n_visits));
            std::thread::spawn(move || {
                for _ in listener.incoming() {
                    visits.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        let datagrams = UnixDatagram::bind(path("datagrams")).expect("sockets can be bound");
        datagrams.set_nonblocking(true).expect("sockets can be asked without waiting");
        let mut sleep = Command::new("sleep");
        std::os::unix::process::CommandExt::process_group(&mut sleep, 0);
        let victim = sleep.arg("3600").spawn().expect("there is `sleep`");
        let described = json!({
            "folder": folder.path(), "secret": path("secret.txt"), "target": path("target.txt"), "library": path("foreign.so"),
            "socket": path("socket"), "datagrams": path("datagrams"), "abstract": name, "port": port, "victim": victim.id(),
        });
        World { folder, victim, described, n_visits, datagrams, _inherited: inherited }
    }

    /// What is not as it was.
    fn damage(&mut self) -> Option<String> {
        let mut names: Vec<_> =
            fs::read_dir(self.folder.path()).expect("the folder is there").flatten().map(|it| it.file_name()).collect();
        names.sort();
        if names != ["datagrams", "foreign.so", "secret.txt", "secret_module.py", "socket", "target.txt"] {
            return Some(format!("the folder has {names:?}"));
        }
        if fs::read_to_string(self.folder.path().join("target.txt")).ok().as_deref() != Some("untouched") {
            return Some("a file was changed".to_owned());
        }
        if !matches!(self.victim.try_wait(), Ok(None)) {
            return Some("a process was ended".to_owned());
        }
        let n_visits = self.n_visits.load(Ordering::SeqCst);
        if n_visits > 0 || self.datagrams.recv(&mut [0; 10]).is_ok() {
            return Some(format!("it connected to a listener ({n_visits} connections)"));
        }
        None
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.victim.kill().unwrap_or_default();
        self.victim.wait().map(drop).unwrap_or_default();
    }
}

/// Any library will do.
fn some_library() -> PathBuf {
    let folders = ["/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib", "/lib"];
    let found = folders.iter().map(|it| Path::new(it).join("libm.so.6")).find(|it| it.exists());
    found.expect("there is a library of mathematics")
}

/// One program of the corpus.
struct Attack {
    name: String,
    path: PathBuf,
    language: Language,
    text: String,
    head: BTreeMap<String, String>,
}

impl Attack {
    fn read(path: &Path) -> Attack {
        let text = fs::read_to_string(path).expect("programs are text");
        let lines = text.lines().map_while(|it| it.strip_prefix("# ").or_else(|| it.strip_prefix("// ")));
        let head = lines.map(|it| it.split_once(": ").expect("a head has keys and values"));
        let head = head.map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
        let language =
            if path.extension().is_some_and(|it| it == "py") { Language::Python } else { Language::TypeScript };
        let cell = path.parent().and_then(Path::file_name).expect("programs are in cells").to_string_lossy();
        let name = format!("{cell}/{}", path.file_name().expect("programs have names").to_string_lossy());
        Attack { name, path: path.to_owned(), language, text, head }
    }

    fn words(&self) -> impl Iterator<Item = &str> {
        self.head["without"].split(' ')
    }

    fn lacks(&self, word: &str) -> bool {
        self.words().any(|it| it == word)
    }

    fn layers(&self) -> BTreeSet<Layer> {
        self.words().filter_map(|word| Layer::ALL.into_iter().find(|it| it.name() == word)).collect()
    }

    fn source(&self, is_protected: bool) -> Source {
        let mut source = Source::new(self.language, &self.text);
        source.python = Some(PYTHON.clone());
        let shares = self.lacks("fork") && !is_protected;
        source.isolation = if self.lacks("fork") && !shares { Isolation::Fork } else { Isolation::Process };
        let limits = &mut source.limits;
        limits.memory = if self.lacks("memory") && !is_protected { 4 << 30 } else { 256 << 20 };
        let hurried = if self.lacks("deadline") { Duration::from_secs(1) } else { Duration::from_secs(8) };
        limits.deadline = if is_protected { hurried } else { Duration::from_secs(120) };
        if !is_protected && (self.lacks("output") || self.lacks("value")) {
            (limits.output, limits.value) = (32 << 20, 32 << 20);
        }
        source
    }

    /// Runs it, and returns what mattered.
    fn run(
        &self,
        pool: &Pool,
        other: Option<&Prepared>,
        world: &World,
        is_protected: bool,
    ) -> Vec<Result<Return, Failure>> {
        let prepared = match pool.prepare(self.source(is_protected)).wait() {
            Ok(prepared) => prepared,
            Err(refused) => return vec![Err(Failure::NotStarted(refused.to_string()))],
        };
        let n_turns = self.head.get("turns").map_or(1, |it| it.parse().expect("turns are a number"));
        let turn = |it: usize| json!({ "turn": it, "world": world.described }).to_string();
        let turns: Vec<String> = (1..=n_turns).map(turn).collect();
        let turns: Vec<&str> = turns.iter().map(String::as_str).collect();
        let mut results = if self.head.contains_key("together") {
            call(pool, &prepared, &turns)
        } else {
            turns.iter().flat_map(|it| call(pool, &prepared, &[it])).collect()
        };
        if let (Some(other), true) = (other, self.head.contains_key("then")) {
            results = call(pool, other, &["{}"]);
        }
        if !self.head.contains_key("any") {
            results.drain(..results.len() - 1);
        }
        results
    }

    fn succeeded(&self, results: &[Result<Return, Failure>]) -> bool {
        if self.head.contains_key("flood") {
            let n_retained =
                |it: &Result<Return, Failure>| it.as_ref().map_or(0, |it| it.stdout.text.len() + it.stderr.text.len());
            return results.iter().any(|it| n_retained(it) > 3 << 20);
        }
        let proofs = self.head.get("proof").map_or("\"breached\"", String::as_str);
        results.iter().map(shown).any(|it| proofs.split('|').any(|proof| it.contains(proof)))
    }

    /// Whether it succeeds where the process that runs it is the one that asks.
    fn breaks_its_host(&self) -> bool {
        let mut world = World::new();
        let n_turns = self.head.get("turns").map_or("1", String::as_str);
        let mut host = Command::new("sh");
        // What it takes of the machine is bounded all the same.
        host.args(["-c", "ulimit -v 2000000; ulimit -c 0; exec \"$0\" -B -c \"$1\" \"$2\" \"$3\" \"$4\""]);
        host.arg(&*PYTHON).args([HOST, &self.path.to_string_lossy(), &world.described.to_string(), n_turns]);
        let ended = host.output().expect("there is a shell");
        let said = String::from_utf8_lossy(&ended.stdout).into_owned();
        let is_alive = ended.status.success() && said.ends_with("the host lives\n");
        let is_forged = said.split("===RESULT_BEGIN===\n").nth(1).is_some_and(|it| it.starts_with("\"breached\""));
        !is_alive || is_forged || world.damage().is_some()
    }

    /// What came of it without its protection, unless it succeeded.
    fn fails_unprotected(&self, world: &World) -> Option<String> {
        if self.lacks("process") {
            return (!self.breaks_its_host()).then(|| format!("{}: its host lives", self.name));
        }
        // A process of its own each time: what a program that succeeds leaves behind is its success.
        let unprotected = pool(&self.layers().into_iter().collect::<Vec<_>>());
        let honest = self.head.contains_key("then").then(|| other(&unprotected));
        let results = self.run(&unprotected, honest.as_ref(), world, false);
        let came = || format!("{}: {:?}", self.name, results.iter().map(shown).collect::<Vec<_>>());
        (!self.succeeded(&results)).then(came)
    }

    /// Whether the program could succeed here.
    fn can_be_proved(&self) -> bool {
        let is_root = rustix::process::geteuid().is_root();
        let is_machine = self.head.get("machine").is_none_or(|it| it == std::env::consts::ARCH);
        let is_provable = self.head["without"] != "-";
        is_provable && is_machine && (is_root || !self.head.contains_key("root"))
    }
}

/// How evaluators are run by products that do it in their own process: what is raised is caught, and results are found between marks in what is printed.
const HOST: &str = r"
import json, sys
names = {'__name__': 'evaluator'}
exec(compile(open(sys.argv[1]).read(), sys.argv[1], 'exec'), names)
for turn in range(1, int(sys.argv[3]) + 1):
    try:
        result = names['evaluate'](turn, json.loads(sys.argv[2]))
    except Exception as error:
        result = repr(error)
    print('===RESULT_BEGIN===\n%s\n===RESULT_END===' % json.dumps(result))
print('the host lives')
";

fn corpus() -> Vec<Attack> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/attacks");
    let mut paths: Vec<PathBuf> = fs::read_dir(root)
        .expect("the corpus is there")
        .flatten()
        .flat_map(|it| fs::read_dir(it.path()).expect("cells are folders"))
        .map(|it| it.expect("cells can be read").path())
        .collect();
    paths.sort();
    paths.iter().map(|it| Attack::read(it)).collect()
}

const OTHER: &str = "import textwrap\n\n\ndef evaluate():\n    return sorted([textwrap.dedent('honest')])[0]\n";

fn other(pool: &Pool) -> Prepared {
    let mut source = Source { python: Some(PYTHON.clone()), ..Source::new(Language::Python, OTHER) };
    source.limits.deadline = Duration::from_secs(120);
    pool.prepare(source).wait().expect("it is sound")
}

fn assert_honest(pool: &Pool, other: &Prepared, after: &str) {
    assert_eq!(shown(&call(pool, other, &["{}"])[0]), "\"honest\"", "after {after}");
}

/// Memory of this process, in bytes.
fn resident() -> usize {
    let text = fs::read_to_string("/proc/self/statm").expect("the system lists processes");
    text.split(' ').nth(1).and_then(|it| it.parse::<usize>().ok()).expect("it is a number") * 4096
}

/// How many processes have a word in their command line.
fn n_processes(word: &str) -> usize {
    let entries = fs::read_dir("/proc").expect("the system lists processes").flatten();
    let line = |it: &fs::DirEntry| fs::read_to_string(it.path().join("cmdline")).unwrap_or_default();
    entries.filter(|it| line(it).contains(word)).count()
}

/// How many programs run at a time. Most of them wait: for a worker to start, or for a deadline.
const N_THREADS: usize = 3;

/// Gives each thread a world of its own and one attack after the other. Returns what the threads found.
fn on_threads<T: Send>(attacks: &[Attack], work: impl Fn(&mut dyn Iterator<Item = &Attack>) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let rest = || std::iter::from_fn(|| attacks.get(next.fetch_add(1, Ordering::Relaxed)));
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..N_THREADS).map(|_| (rest(), &work)).collect();
        let threads: Vec<_> = threads.into_iter().map(|(mut it, work)| scope.spawn(move || work(&mut it))).collect();
        threads.into_iter().map(|it| it.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    })
}

#[test]
fn no_attack_succeeds() {
    let attacks = corpus();
    let first = resident();
    let found = on_threads(&attacks, |attacks| {
        let mut world = World::new();
        let protected = pool(&[]);
        let honest = other(&protected);
        let (mut breaches, mut largest) = (Vec::new(), 0);
        for attack in attacks {
            let results = attack.run(&protected, Some(&honest), &world, true);
            if attack.succeeded(&results) {
                breaches.push(format!("{}: {:?}", attack.name, results.iter().map(shown).collect::<Vec<_>>()));
            }
            if let Some(damage) = world.damage() {
                panic!("{}: {damage}", attack.name);
            }
            assert_honest(&protected, &honest, &attack.name);
            largest = largest.max(resident());
        }
        (breaches, largest)
    });
    let breaches: Vec<&str> = found.iter().flat_map(|(it, _)| it).map(String::as_str).collect();
    assert!(breaches.is_empty(), "\n{}\n", breaches.join("\n"));
    let largest = found.iter().map(|(_, it)| *it).max().unwrap_or(0);
    assert!(largest < first + (128 << 20), "memory grew from {first} to {largest} bytes");
    println!("{} attacks, memory at most {} KiB more", attacks.len(), largest.saturating_sub(first) >> 10);
}

#[test]
fn every_attack_succeeds_without_its_protection() {
    let attacks: Vec<Attack> = corpus().into_iter().filter(Attack::can_be_proved).collect();
    let found = on_threads(&attacks, |attacks| {
        let world = World::new();
        attacks.filter_map(|it| it.fails_unprotected(&world)).collect::<Vec<String>>()
    });
    let failures: Vec<String> = found.into_iter().flatten().collect();
    assert!(failures.is_empty(), "of {} these did not succeed:\n{}\n", attacks.len(), failures.join("\n"));
}

/// What is attacked, how, and in which language: three programs where there are any.
#[test]
fn every_cell_has_three_programs() {
    let mut cells: BTreeMap<String, usize> = BTreeMap::new();
    for attack in corpus() {
        let (what, name) = attack.name.split_once('/').expect("programs are in cells");
        let (how, _) = name.split_once('-').expect("the name says how");
        let language = attack.path.extension().unwrap_or_default().to_string_lossy();
        *cells.entry(format!("{what} {how} {language}")).or_default() += 1;
    }
    let few: Vec<&str> = cells.iter().filter(|(_, n)| **n < 3).map(|(cell, _)| cell.as_str()).collect();
    assert_eq!(few, FEW, "and {cells:?}");
}

/// There are no three ways: becoming another program by the language alone, crashing by it alone, connecting through what it opens by itself, and reaching a
/// namespace by a module that is not a system call.
const FEW: [&str; 4] = ["fork-exec feature py", "namespaces library py", "native feature py", "sockets feature py"];

#[test]
fn a_pool_leaves_no_process_behind() {
    let word = format!("--test-of-{}", std::process::id());
    let program = Program { path: env!("CARGO_BIN_EXE_jurat-worker").into(), arguments: vec![word.clone()] };
    let pool = Pool::new(PoolOptions::of(program));
    for isolation in [Isolation::Process, Isolation::Fork] {
        let mut source = Source::new(Language::JavaScript, "function evaluate() { for (;;); }");
        source.isolation = isolation;
        let prepared = pool.prepare(source).wait().expect("it is sound");
        drop(pool.call(&prepared, vec![Arguments::from_json("{}").expect("it is JSON")]));
    }
    assert!(n_processes(&word) > 0);
    drop(pool);
    assert_eq!(n_processes(&word), 0);
}
