//! Ten assertions over each of many records: what an assertion costs, how much memory a run holds, and whether either
//! grows with the number of records.
//!
//! Costs are slopes: the difference of two sizes, so that starting and ending are not in them.

use std::num::NonZeroUsize;
use std::thread;

use super::figure::{Figure, Reference, Target, Unit, grouped};
use super::jurat::N_TASKS;
use super::memory::{self, Peaks};
use super::yardstick::{Cost, Data};
use super::{Kit, Lines};
use crate::rounds::{least, ratio, spread};
use chores::chore::Failure;

/// The most microseconds that an assertion may take, by percent of failing rows.
const MOST_US: [(u64, f64); 2] = [(0, 0.41), (10, 0.8)];

/// The most that a record may cost in a large run, as a multiple of its cost in a small one.
const MOST_GROWTH_OF_COST: f64 = 1.15;

/// Two processors are to be worth at least 1.9.
const MOST_OF_ONE: f64 = 1.0 / 1.9;

const NOT_STORED: &str = "there was no run file: this jurat stored nothing";

pub(super) fn measure(kit: &Kit, lines: &mut Lines) {
    for shape in ["flat", "nested"] {
        for (percent, most_us) in MOST_US {
            let name = format!("{shape} records, {percent} % failing");
            lines.add(&name, costs(kit, shape, percent, most_us, &name));
        }
    }
    lines.add("growth of the cost per record", growth(kit));
    lines.add("two processors", processors(kit));
    lines.add("records from Parquet", tables(kit));
}

/// Sizes, small to large, and how many rounds.
fn sizes(kit: &Kit) -> ([u64; 2], usize) {
    if kit.is_quick { ([10_000, 100_000], 3) } else { ([10_000, 1_000_000], 5) }
}

/// One size in all rounds.
#[derive(Default)]
struct Rounds {
    rows: u64,
    cpu_us: Vec<f64>,
    peak_mb: Vec<f64>,
}

impl Rounds {
    fn of(rows: u64) -> Rounds {
        Rounds { rows, ..Rounds::default() }
    }

    fn add(&mut self, cost: &Cost) {
        self.cpu_us.push(cost.cpu_us());
        self.peak_mb.push(cost.peak_mb);
    }

    fn peaks(&self) -> Peaks<'_> {
        Peaks { n: self.rows, rounds: &self.peak_mb }
    }
}

/// Microseconds per record between two sizes. Each size has its own rounds, and noise only adds to any of them.
fn slope(small: &Rounds, large: &Rounds) -> f64 {
    (least(&large.cpu_us) - least(&small.cpu_us)) / (large.rows - small.rows) as f64
}

/// The same, round by round.
fn slopes(small: &Rounds, large: &Rounds) -> Vec<f64> {
    let differences = large.cpu_us.iter().zip(&small.cpu_us).map(|(large, small)| large - small);
    differences.map(|it| it / (large.rows - small.rows) as f64).collect()
}

fn costs(kit: &Kit, shape: &str, percent: u64, most_us: f64, name: &str) -> Result<Vec<Figure>, Failure> {
    let Kit { jurat, yardstick, .. } = kit;
    let (sizes, n_rounds) = sizes(kit);
    jurat.check(yardstick, &data(kit, shape, 1_000, percent)?)?;
    let data = [data(kit, shape, sizes[0], percent)?, data(kit, shape, sizes[1], percent)?];
    let mut floors = sizes.map(Rounds::of);
    let mut ours = sizes.map(Rounds::of);
    let mut is_stored = true;
    for round in 1..=n_rounds {
        eprintln!("{name}: round {round} of {n_rounds}");
        for (ix, data) in data.iter().enumerate() {
            floors[ix].add(&yardstick.floor(shape, data)?);
            let run = jurat.judge(yardstick, data)?;
            ours[ix].add(&run.cost);
            is_stored &= run.is_stored;
        }
    }
    let ([small, large], [floor_small, floor_large]) = (&ours, &floors);
    let reference = Reference {
        name: "bare loop".to_owned(),
        value: slope(floor_small, floor_large) / N_TASKS as f64,
        ratio: ratio(&slopes(small, large), &slopes(floor_small, floor_large)),
        noise: Some(spread(&slopes(floor_small, floor_large))),
    };
    let cost =
        Figure::new(format!("CPU per assertion: {name}"), slope(small, large) / N_TASKS as f64, Unit::Microseconds)
            .target(Target::AtMost(most_us))
            .reference(reference);
    let memory = memory::figure(name, &small.peaks(), &large.peaks());
    let noted = |it: Figure| if is_stored { it } else { it.note(NOT_STORED) };
    Ok(vec![noted(cost), noted(memory)])
}

/// What a record costs at each tenfold of their number. Small runs are repeated more often: a slope of a few milliseconds
/// drowns in noise otherwise.
fn growth(kit: &Kit) -> Result<Vec<Figure>, Failure> {
    let Kit { jurat, yardstick, .. } = kit;
    let (sizes, n_rounds): (&[u64], usize) =
        if kit.is_quick { (&[1_000, 10_000, 100_000], 3) } else { (&[1_000, 10_000, 100_000, 1_000_000], 5) };
    let data: Result<Vec<Data>, Failure> = sizes.iter().map(|rows| data(kit, "nested", *rows, 0)).collect();
    let data = data?;
    let mut ours: Vec<Rounds> = sizes.iter().map(|rows| Rounds::of(*rows)).collect();
    for round in 1..=n_rounds {
        eprintln!("growth of the cost per record: round {round} of {n_rounds}");
        for (data, ours) in data.iter().zip(&mut ours) {
            let repeats = if data.rows <= 10_000 { 4 } else { 1 };
            for _ in 0..repeats {
                ours.add(&jurat.judge(yardstick, data)?.cost);
            }
        }
    }
    Ok(grown(&ours).into_iter().collect())
}

/// The figure that compares the first tenfold with the last.
fn grown(ours: &[Rounds]) -> Option<Figure> {
    let tenfolds: Vec<(u64, f64)> = ours.windows(2).map(|it| (it[1].rows, slope(&it[0], &it[1]))).collect();
    let ((first_rows, first), (last_rows, last)) = (*tenfolds.first()?, *tenfolds.last()?);
    let each: Vec<String> = tenfolds.iter().map(|(rows, us)| format!("{us:.2} µs up to {}", grouped(*rows))).collect();
    let figure = Figure::new(format!("CPU per record: nested, up to {}", grouped(last_rows)), last, Unit::Microseconds)
        .target(Target::Ratio(MOST_GROWTH_OF_COST))
        .reference(Reference {
            name: format!("up to {}", grouped(first_rows)),
            value: first,
            ratio: last / first,
            noise: ours.get(1).map(|it| spread(&it.cpu_us)),
        })
        .note(each.join(", "));
    Some(figure)
}

/// How long a run takes on all processors, and on one alone. Rounds take turns, so that both meet the same neighbours.
fn processors(kit: &Kit) -> Result<Vec<Figure>, Failure> {
    let Kit { jurat, yardstick, .. } = kit;
    let (rows, n_rounds) = if kit.is_quick { (200_000, 3) } else { (1_000_000, 5) };
    let n = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    if n != 2 {
        return Err(Failure::new(format!("the target is for two processors, and this machine has {n}")));
    }
    let figure = |shape: &str| {
        let data = data(kit, shape, rows, 0)?;
        let (mut one, mut two) = (Vec::new(), Vec::new());
        for round in 1..=n_rounds {
            eprintln!("two processors, {shape} records: round {round} of {n_rounds}");
            one.push(jurat.judge_on_one(yardstick, &data)?.wall.as_secs_f64());
            two.push(jurat.judge(yardstick, &data)?.cost.wall.as_secs_f64());
        }
        let ratio = least(&two) / least(&one);
        let reference =
            Reference { name: "one processor".to_owned(), value: least(&one), ratio, noise: Some(spread(&one)) };
        let name = format!("two processors, {} {shape} records, least of {n_rounds}", grouped(rows));
        let note = format!("{:.2} times the throughput of one", 1.0 / ratio);
        Ok(Figure::new(name, least(&two), Unit::Seconds)
            .target(Target::Ratio(MOST_OF_ONE))
            .reference(reference)
            .note(note))
    };
    ["flat", "nested"].into_iter().map(figure).collect()
}

/// What a row of Parquet costs beside the same row as JSON.
fn tables(kit: &Kit) -> Result<Vec<Figure>, Failure> {
    let Kit { jurat, yardstick, .. } = kit;
    let (sizes, n_rounds) = sizes(kit);
    let texts = [data(kit, "flat", sizes[0], 0)?, data(kit, "flat", sizes[1], 0)?];
    let table = |data: &Data| yardstick.table(kit.scratch.directory(&format!("table-{}", data.rows))?, data);
    let tables = [table(&texts[0])?, table(&texts[1])?];
    jurat.check(yardstick, &tables[0])?;
    let (mut of_text, mut of_table) = (sizes.map(Rounds::of), sizes.map(Rounds::of));
    for round in 1..=n_rounds {
        eprintln!("records from Parquet: round {round} of {n_rounds}");
        for ix in 0..sizes.len() {
            of_text[ix].add(&jurat.judge(yardstick, &texts[ix])?.cost);
            of_table[ix].add(&jurat.judge(yardstick, &tables[ix])?.cost);
        }
    }
    let ([small, large], [text_small, text_large]) = (&of_table, &of_text);
    let reference = Reference {
        name: "JSON lines".to_owned(),
        value: slope(text_small, text_large),
        ratio: ratio(&slopes(small, large), &slopes(text_small, text_large)),
        noise: Some(spread(&slopes(text_small, text_large))),
    };
    let cost = Figure::new("CPU per record: flat, from Parquet", slope(small, large), Unit::Microseconds);
    let memory = memory::figure("flat records from Parquet", &small.peaks(), &large.peaks());
    Ok(vec![cost.reference(reference), memory])
}

fn data(kit: &Kit, shape: &str, rows: u64, percent: u64) -> Result<Data, Failure> {
    kit.yardstick.records(kit.scratch.directory(&format!("{shape}-{rows}"))?, shape, rows, percent)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounds(rows: u64, cpu_us: &[f64]) -> Rounds {
        Rounds { rows, cpu_us: cpu_us.to_vec(), peak_mb: Vec::new() }
    }

    #[test]
    fn a_slope_leaves_out_what_both_sizes_pay() {
        let (small, large) = (rounds(1_000, &[9_000.0, 5_000.0]), rounds(2_000, &[9_000.0, 14_000.0]));
        assert_eq!(slope(&small, &large), 4.0);
        assert_eq!(slopes(&small, &large), [0.0, 9.0]);
    }

    #[test]
    fn growth_compares_the_last_tenfold_with_the_first() {
        let ours = [rounds(1_000, &[6_000.0]), rounds(10_000, &[42_000.0]), rounds(100_000, &[447_000.0])];
        let figure = grown(&ours).unwrap();
        let reference = figure.reference.unwrap();
        assert_eq!((figure.reached, reference.value, reference.ratio), (4.5, 4.0, 1.125));
        assert_eq!(figure.note.as_deref(), Some("4.00 µs up to 10,000, 4.50 µs up to 100,000"));
    }
}
