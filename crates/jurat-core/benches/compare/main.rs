//! What comparisons and reading cost, one piece of work at a time.
//!
//! `cargo xtask bench` runs this program and draws conclusions; the program itself only works and prints. Its forms:
//!
//! ```text
//! compare                 times every work, rounds interleaved: `group name ns ns ns …`, CPU time per unit, a line each
//! compare list            names every work: `group name`, a line each
//! compare repeat NAME N   does one work N times, for a counter of instructions; the set-up is the same for all
//! ```

mod assertions;
mod outcomes;
mod reading;

use std::process::ExitCode;
use std::time::Duration;

use cpu_time::ThreadTime;

/// The record that all but outcomes work on: 1.1 KB, nested, with a transcript that nobody reads.
const RECORD: &str = include_str!("record.json").trim_ascii_end();

/// How often every work is timed. Noise comes and goes within a second, so the rounds are many and short.
const ROUNDS: usize = 41;

/// How long one work runs in one round: a hundred times what reading the clock costs.
const ROUND: Duration = Duration::from_micros(1500);

/// Something to be measured.
struct Work<'f> {
    /// What it is compared with.
    group: &'static str,
    /// What it is called.
    name: String,
    /// Does it so many times. The loop is inside, so that a call through a pointer is not part of the figure.
    run: Box<dyn Fn(u64) + 'f>,
}

fn main() -> ExitCode {
    let ten = assertions::plan("ten.yaml", include_str!("ten.yaml"));
    let simple = assertions::plan("simple.yaml", include_str!("simple.yaml"));
    let record = jurat_format::value::parse_json(RECORD).expect("the record is JSON").value;
    let (check, scenario) = (outcomes::three_parts(), outcomes::evidence());
    let mut works = assertions::works(&ten, &simple, &record);
    works.extend(reading::works(&ten));
    works.extend(outcomes::works(&check, &scenario));
    // Whatever is made on first use is made now.
    works.iter().for_each(|work| (work.run)(3));

    // Cargo says `--bench` to every benchmark.
    let words: Vec<String> = std::env::args().skip(1).filter(|it| it != "--bench").collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
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
            eprintln!("error: usage: compare [list | repeat NAME N]");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}

fn print_times(works: &[Work<'_>]) {
    let repeats: Vec<u64> = works.iter().map(repeats).collect();
    let mut times = vec![Vec::with_capacity(ROUNDS); works.len()];
    for _ in 0..ROUNDS {
        for ((work, n), times) in works.iter().zip(&repeats).zip(&mut times) {
            times.push(time(work, *n).as_secs_f64() * 1e9 / *n as f64);
        }
    }
    for (work, times) in works.iter().zip(times) {
        let times: Vec<String> = times.iter().map(|it| format!("{it:.2}")).collect();
        println!("{} {} {}", work.group, work.name, times.join(" "));
    }
}

/// How many repeats fill a round.
fn repeats(work: &Work<'_>) -> u64 {
    let mut n = 64;
    loop {
        let taken = time(work, n);
        if taken >= ROUND / 2 {
            return (n as f64 * ROUND.as_secs_f64() / taken.as_secs_f64()).ceil() as u64;
        }
        n *= 2;
    }
}

/// CPU time rather than time: what other programs do on the machine should not count. They still do, a little, through
/// caches and clock rates, which is why there are rounds.
fn time(work: &Work<'_>, n: u64) -> Duration {
    let start = ThreadTime::now();
    (work.run)(n);
    start.elapsed()
}
