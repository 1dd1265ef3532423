//! What a jail costs: a program that does nothing, in one and without one, in turn.
//!
//! `starts [ROUNDS [WORKER ARGUMENT …]]` writes a line of JSON for each round, in milliseconds: `jail` for the whole of a run, `unshare` for the command of that name making the
//! same namespaces around the same program, `bare` for the program alone. Only their ratios within a round mean something. As in a run of many agents, all jails but the first
//! find a worker that waits.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use jurat_sandbox::Program as Worker;
use jurat_sandbox::jail::{Exit, Isolation, Program, Sandbox, StopFlag, run};

const NOTHING: &str = "/bin/true";

fn main() {
    // Cargo has a word of its own.
    let mut words = std::env::args().skip(1).filter(|it| it != "--bench");
    let n_rounds = words.next().map_or(20, |it| it.parse().expect("the number of rounds is a number"));
    let worker = match words.next() {
        Some(path) => Worker { path: path.into(), arguments: words.collect() },
        None => Worker { path: env!("CARGO_BIN_EXE_jurat-worker").into(), arguments: Vec::new() },
    };
    let folder = std::env::temp_dir().join(format!("jurat-starts-{}", std::process::id()));
    let folders = ["workspace", "home", "tmp"].map(|it| folder.join(it));
    folders.iter().for_each(|it| std::fs::create_dir_all(it).expect("folders can be made"));
    let [workspace, home, tmp] = folders;
    let sandbox = Sandbox::new(worker, Isolation::Namespaces, workspace, home, tmp);
    for _ in 0..n_rounds {
        let (jail, unshare, bare) = (timed(|| jailed(&sandbox)), timed(unshared), timed(|| started(NOTHING, &[])));
        println!(r#"{{"jail": {jail:.3}, "unshare": {unshare:.3}, "bare": {bare:.3}}}"#);
    }
    std::fs::remove_dir_all(folder).expect("folders can be removed");
}

fn jailed(sandbox: &Sandbox) {
    let program = Program { argv: vec![NOTHING.into()], work_dir: sandbox.seen().workspace, ..Program::default() };
    let ended = run(&program, sandbox, &mut |_: &[u8]| (), &mut |_: &[u8]| (), &StopFlag::new());
    assert_eq!(ended.expect("it can be run").exit, Exit::Code(0));
}

fn unshared() {
    started("unshare", &["-Urpmn", NOTHING]);
}

fn started(program: &str, words: &[&str]) {
    let mut command = Command::new(program);
    let status = command.args(words).stdin(Stdio::null()).stdout(Stdio::null()).status();
    assert!(status.is_ok_and(|it| it.success()), "`{program}` does not work");
}

fn timed(work: impl FnOnce()) -> f64 {
    // What the one before left to be done, a worker for the next jail for example, is not this one's cost.
    std::thread::sleep(Duration::from_millis(30));
    let begun = Instant::now();
    work();
    begun.elapsed().as_secs_f64() * 1e3
}
