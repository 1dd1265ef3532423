//! What keeping results costs, one piece of work at a time.
//!
//! ```text
//! store                   times every work, rounds interleaved: `group name ns ns ns …`, CPU time per unit, a line each
//! store list              names every work: `group name`, a line each
//! store repeat NAME N     does one work N times, for a counter of instructions; the set-up is the same for all
//! ```
//!
//! A unit is a record or an effect where they are written, a question where they are read. CPU time is that of the whole process, because the writer
//! is a thread of its own.

mod asking;
mod reading;
mod writing;

use std::process::ExitCode;
use std::time::Duration;

use cpu_time::ProcessTime;

/// How often every work is timed.
const ROUNDS: usize = 9;

/// Something to be measured.
struct Work<'f> {
    /// What it is compared with.
    group: &'static str,
    /// What it is called.
    name: &'static str,
    /// How many units make a round: enough that beginning and ending a run do not show.
    n: u64,
    /// Does it so many times.
    run: Box<dyn Fn(u64) + 'f>,
}

fn main() -> ExitCode {
    let directory = tempfile::tempdir().expect("a directory");
    // Cargo says `--bench` to every benchmark.
    let words: Vec<String> = std::env::args().skip(1).filter(|it| it != "--bench").collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let stock = reading::Stock::new(directory.path());
    let mut works = writing::works(directory.path());
    works.extend(asking::works(&stock));
    works.extend(reading::works(&stock));
    match words[..] {
        [] => print_times(&works),
        ["list"] => works.iter().for_each(|it| println!("{} {}", it.group, it.name)),
        ["repeat", name, n] => {
            let work = works.iter().find(|it| it.name == name);
            let (Some(work), Ok(n)) = (work, n.parse()) else {
                eprintln!("error: `repeat` wants the name of a work and a number; `list` names them");
                return ExitCode::from(2);
            };
            (work.run)(n);
        }
        _ => {
            eprintln!("error: usage: store [list | repeat NAME N]");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}

fn print_times(works: &[Work<'_>]) {
    let mut times = vec![Vec::with_capacity(ROUNDS); works.len()];
    for _ in 0..ROUNDS {
        for (work, times) in works.iter().zip(&mut times) {
            times.push(time(work).as_secs_f64() * 1e9 / work.n as f64);
        }
    }
    for (work, times) in works.iter().zip(times) {
        let times: Vec<String> = times.iter().map(|it| format!("{it:.1}")).collect();
        println!("{} {} {}", work.group, work.name, times.join(" "));
    }
}

fn time(work: &Work<'_>) -> Duration {
    let start = ProcessTime::now();
    (work.run)(work.n);
    start.elapsed()
}
