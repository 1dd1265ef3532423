//! `cargo xtask bench compare`: times and instructions, as a table with the targets.

use std::process::Command;

use super::rounds::{least, median, ratio, spread};
use super::{Bench, Work};
use chores::chore::Failure;
use chores::program;

/// The most that a simple comparison may take, its path included.
const MOST_NS: f64 = 150.0;

/// The most that reading by projection may take, as a multiple of a typed parse of the same fields.
const MOST_TYPED: f64 = 1.1;

/// The times of one work, a figure per round.
struct Timed {
    work: Work,
    /// CPU nanoseconds per repeat.
    rounds: Vec<f64>,
}

pub(super) fn compare() -> Result<(), Failure> {
    let bench = Bench::build()?;
    let printed = program::output(&mut Command::new(&bench.0))?;
    let timed: Option<Vec<Timed>> = printed.lines().map(timed).collect();
    let timed = timed.ok_or_else(|| Failure::new("the benchmark printed something that is no time"))?;
    let works: Vec<Work> = timed.iter().map(|it| it.work.clone()).collect();
    let instructions = bench.instructions(&works)?;
    print!("{}", table(&timed, &instructions));
    Ok(())
}

/// `group name ns ns ns …`
fn timed(line: &str) -> Option<Timed> {
    let mut words = line.split(' ');
    let work = Work { group: words.next()?.to_owned(), name: words.next()?.to_owned() };
    let rounds: Option<Vec<f64>> = words.map(|it| it.parse().ok()).collect();
    rounds.filter(|it| !it.is_empty()).map(|rounds| Timed { work, rounds })
}

fn table(timed: &[Timed], instructions: &[f64]) -> String {
    let mut text =
        format!("{:28} {:>10} {:>10} {:>13}\n", "CPU time per repeat", "median ns", "least ns", "instructions");
    for (it, instructions) in timed.iter().zip(instructions) {
        let (median, least) = (median(it.rounds.clone()), least(&it.rounds));
        text += &format!("{:28} {median:>10.1} {least:>10.1} {instructions:>13.0}", it.work.name);
        // Noise only adds, so a single figure is judged by its least.
        if it.work.group == "comparison" && least > MOST_NS {
            text += &format!("  more than {MOST_NS} ns");
        }
        text += "\n";
    }
    text += &summary(timed);
    text
}

fn summary(timed: &[Timed]) -> String {
    let rounds = |name: &str| timed.iter().find(|it| it.work.name == name).map(|it| &it.rounds);
    let mut text = "\n".to_owned();
    if let Some(ten) = rounds("ten_assertions") {
        let ns = least(ten) / 10.0;
        text += &format!("assertions of mixed kinds: {ns:.0} ns each, {:.1} million per CPU second\n", 1e3 / ns);
    }
    let comparisons = timed.iter().filter(|it| it.work.group == "comparison");
    let slowest = comparisons.map(|it| (least(&it.rounds), &it.work.name)).max_by(|a, b| a.0.total_cmp(&b.0));
    if let Some((ns, name)) = slowest {
        text += &format!("slowest simple comparison: {ns:.0} ns, `{name}` (target: at most {MOST_NS})\n");
    }
    if let Some(typed) = rounds("typed_serde") {
        let of = |name| rounds(name).map_or(f64::NAN, |it| ratio(it, typed));
        text += &format!("projection / typed parse:  {:.2} (target: at most {MOST_TYPED})\n", of("projection"));
        text += &format!("whole tree / typed parse:  {:.2}\n", of("whole_tree"));
        text += &format!("serde_json::Value / typed: {:.2}\n", of("serde_json_value"));
        let spread = spread(typed);
        if spread > 1.3 {
            text += &format!("the machine was noisy: the typed parse took up to {spread:.1} times its least\n");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_says_what_misses_its_target() {
        let lines = [
            "record ten_assertions 500 480 510",
            "comparison equals_text 30 31 29",
            "comparison matches 152 160 151",
            "reading projection 1100 1200 1300",
            "reading typed_serde 1000 1000 1000",
        ];
        let timed: Vec<Timed> = lines.iter().filter_map(|it| super::timed(it)).collect();
        let text = table(&timed, &[4000.0, 200.0, 900.0, 11000.0, 10000.0]);
        let expected = "\
CPU time per repeat           median ns   least ns  instructions
ten_assertions                    500.0      480.0          4000
equals_text                        30.0       29.0           200
matches                           152.0      151.0           900  more than 150 ns
projection                       1200.0     1100.0         11000
typed_serde                      1000.0     1000.0         10000

assertions of mixed kinds: 48 ns each, 20.8 million per CPU second
slowest simple comparison: 151 ns, `matches` (target: at most 150)
projection / typed parse:  1.20 (target: at most 1.1)
whole tree / typed parse:  NaN
serde_json::Value / typed: NaN
";
        assert_eq!(text, expected);
    }
}
