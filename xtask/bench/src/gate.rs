//! `cargo xtask bench gate`: no work may need more instructions than is recorded.
//!
//! What counts depend on besides our code, and what is done about it:
//!
//! * The compiler, valgrind, and what the processor offers: `memchr` and the C library choose their code by it, and
//!   valgrind shows them the processor it runs on. The file says where it was counted, and a count from elsewhere gets a
//!   wider margin.
//! * Where things lie. Hash seeds are random, so maps are dropped in another order each time and the allocator places
//!   later things differently; comparing two texts costs 8 instructions more when one of them lies near the end of a
//!   page, and a growing list is sometimes moved and sometimes not. That is up to 2 % of a cheap comparison and of reading
//!   a whole tree, and 0.1 % of a projection. What seems to have grown is counted again, and the least counts.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use super::{Bench, Work};
use chores::chore::Failure;
use chores::program;

/// How many percent more are let pass when the count was made in the same place.
const MARGIN: f64 = 5.0;

/// How many percent more are let pass when compiler, valgrind or processor differ.
const MARGIN_ELSEWHERE: f64 = 15.0;

/// So many instructions more are never a finding: a few texts that come to lie near the end of a page cost that much, and
/// they are a tenth of a cheap comparison. What costs more than a record is read with is found all the same.
const FEW: f64 = 40.0;

/// How often a work is counted before its least count is believed.
const TRIES: usize = 3;

const ACCEPT: &str = "if it is meant: `cargo xtask bench gate --accept`, and say in the commit what it buys";

/// What the file holds: where was counted, and what.
#[derive(Debug, PartialEq)]
struct Counts {
    place: Place,
    instructions: BTreeMap<String, f64>,
}

/// What counts depend on besides our code.
#[derive(Debug, Clone, PartialEq)]
struct Place {
    rustc: String,
    valgrind: String,
    processor: String,
}

/// Compares with the file.
pub(crate) fn gate() -> Result<(), Failure> {
    let file = file();
    let text = fs::read_to_string(&file)
        .map_err(|error| Failure::new(format!("cannot read {}: {error}; {ACCEPT}", file.display())))?;
    let recorded = Counts::read(&text)
        .ok_or_else(|| Failure::new(format!("{} is not what this chore writes; {ACCEPT}", file.display())))?;
    let (bench, works) = prepared()?;
    let mut counted = Counts { place: Place::here()?, instructions: BTreeMap::new() };
    let passed = Passed::of(&bench, &text, &counted.place)?;
    if passed.is_recorded() {
        eprintln!("neither the program nor what is recorded has changed since it was counted");
        return Ok(());
    }
    counted.add(&bench, &works)?;
    for _ in 1..TRIES {
        let grown: Vec<Work> = works.iter().filter(|it| has_grown(&recorded, &counted, &it.name)).cloned().collect();
        counted.add(&bench, &grown)?;
    }
    let Verdict { notes, findings } = judge(&recorded, &counted);
    notes.iter().for_each(|it| eprintln!("note: {it}"));
    if findings.is_empty() {
        eprintln!("{} works need no more instructions than is recorded", counted.instructions.len());
        passed.record();
        return Ok(());
    }
    Err(Failure::new(format!("{}\n{ACCEPT}", findings.join("\n"))))
}

/// A count that passed, by everything that it depends on. The same program, counted in the same place, need not be counted
/// again.
struct Passed {
    hash: String,
    file: PathBuf,
}

impl Passed {
    fn of(bench: &Bench, recorded: &str, place: &Place) -> Result<Passed, Failure> {
        let program =
            fs::read(&bench.0).map_err(|error| Failure::new(format!("cannot read {}: {error}", bench.0.display())))?;
        let mut hasher = blake3::Hasher::new();
        for part in [&program[..], recorded.as_bytes(), format!("{place:?}").as_bytes()] {
            hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
        }
        let file = program::target_directory().join("instructions-passed");
        Ok(Passed { hash: hasher.finalize().to_string(), file })
    }

    fn is_recorded(&self) -> bool {
        fs::read_to_string(&self.file).is_ok_and(|it| it == self.hash)
    }

    /// If it cannot be written, the next run counts again.
    fn record(&self) {
        let _ = fs::write(&self.file, &self.hash);
    }
}

/// Replaces the file.
pub(super) fn accept() -> Result<(), Failure> {
    let (bench, works) = prepared()?;
    let mut counted = Counts { place: Place::here()?, instructions: BTreeMap::new() };
    for _ in 0..TRIES {
        counted.add(&bench, &works)?;
    }
    let file = file();
    fs::write(&file, counted.write())
        .map_err(|error| Failure::new(format!("cannot write {}: {error}", file.display())))?;
    eprintln!("wrote {}", file.display());
    Ok(())
}

/// The program, and the works that are ours to keep cheap: the others only serve as a measure.
fn prepared() -> Result<(Bench, Vec<Work>), Failure> {
    program::ensure("valgrind")?;
    let bench = Bench::build()?;
    let mut works = bench.works()?;
    works.retain(|it| !matches!(&*it.name, "typed_serde" | "serde_json_value"));
    Ok((bench, works))
}

fn file() -> PathBuf {
    program::root().join("crates/jurat-core/benches/instructions.json")
}

struct Verdict {
    notes: Vec<String>,
    findings: Vec<String>,
}

fn judge(recorded: &Counts, counted: &Counts) -> Verdict {
    let mut notes = recorded.place.differences(&counted.place);
    let margin = margin(recorded, counted);
    if !notes.is_empty() {
        notes.push(format!("counts from elsewhere may be {margin} % higher instead of {MARGIN} %"));
    }
    let mut findings = Vec::new();
    for (name, now) in &counted.instructions {
        let Some(before) = recorded.instructions.get(name) else {
            findings.push(format!("`{name}` is not recorded"));
            continue;
        };
        let percent = (now / before - 1.0) * 100.0;
        let change = format!("`{name}` needs {now:.0} instructions, {percent:+.1} % from {before:.0}");
        if has_grown(recorded, counted, name) {
            findings.push(change);
        } else if percent < -margin && before - now > FEW {
            notes.push(format!("{change}; record it: `cargo xtask bench gate --accept`"));
        }
    }
    let gone = recorded.instructions.keys().filter(|it| !counted.instructions.contains_key(*it));
    findings.extend(gone.map(|it| format!("`{it}` is recorded and no longer counted")));
    Verdict { notes, findings }
}

fn has_grown(recorded: &Counts, counted: &Counts, name: &str) -> bool {
    let (before, now) = (recorded.instructions.get(name), counted.instructions.get(name));
    let growth = |(before, now): (&f64, &f64)| now - before > (before * margin(recorded, counted) / 100.0).max(FEW);
    before.zip(now).is_some_and(growth)
}

/// How many percent more are let pass.
fn margin(recorded: &Counts, counted: &Counts) -> f64 {
    if recorded.place == counted.place { MARGIN } else { MARGIN_ELSEWHERE }
}

impl Counts {
    /// Counts these works; what was counted before keeps the least.
    fn add(&mut self, bench: &Bench, works: &[Work]) -> Result<(), Failure> {
        for (work, count) in works.iter().zip(bench.instructions(works)?) {
            let least = self.instructions.entry(work.name.clone()).or_insert(count);
            *least = least.min(count);
        }
        Ok(())
    }

    fn read(text: &str) -> Option<Counts> {
        let file: Value = serde_json::from_str(text).ok()?;
        let part = |key: &str| file[key].as_str().map(str::to_owned);
        let place = Place { rustc: part("rustc")?, valgrind: part("valgrind")?, processor: part("processor")? };
        let works = file["instructions"].as_object()?.iter();
        let instructions: Option<_> = works.map(|(name, count)| Some((name.clone(), count.as_f64()?))).collect();
        Some(Counts { place, instructions: instructions? })
    }

    fn write(&self) -> String {
        let Place { rustc, valgrind, processor } = &self.place;
        let rounded = |(name, count): (&String, &f64)| (name.clone(), json!(count.round() as u64));
        let instructions: serde_json::Map<String, Value> = self.instructions.iter().map(rounded).collect();
        let file = json!({
            "instructions": instructions,
            "processor": processor,
            "rustc": rustc,
            "valgrind": valgrind,
        });
        format!("{file:#}\n")
    }
}

impl Place {
    fn here() -> Result<Place, Failure> {
        let said = |program: &str| {
            let said = program::output(Command::new(program).arg("--version").current_dir(program::root()))?;
            Ok::<_, Failure>(said.trim().to_owned())
        };
        Ok(Place { rustc: said("rustc")?, valgrind: said("valgrind")?, processor: processor() })
    }

    fn differences(&self, here: &Place) -> Vec<String> {
        let parts = [(&self.rustc, &here.rustc), (&self.valgrind, &here.valgrind), (&self.processor, &here.processor)];
        let different = parts.iter().filter(|(there, here)| there != here);
        different.map(|(there, here)| format!("recorded with {there}, counted with {here}")).collect()
    }
}

/// The architecture, and the instruction set that searching code looks for.
fn processor() -> String {
    let about = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let has_avx2 = about.split_ascii_whitespace().any(|it| it == "avx2");
    format!("{}{}", std::env::consts::ARCH, if has_avx2 { " with avx2" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(rustc: &str, instructions: &[(&str, f64)]) -> Counts {
        let place = Place { rustc: rustc.into(), valgrind: "valgrind-3".into(), processor: "x86_64".into() };
        Counts { place, instructions: instructions.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect() }
    }

    #[track_caller]
    fn judged(recorded: &Counts, counted: &Counts, notes: &[&str], findings: &[&str]) {
        let verdict = judge(recorded, counted);
        let owned = |texts: &[&str]| texts.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        assert_eq!((verdict.notes, verdict.findings), (owned(notes), owned(findings)));
    }

    #[test]
    fn a_count_that_passed_is_known_by_all_that_it_depends_on() {
        let directory = std::env::temp_dir().join(format!("xtask-bench-{}", std::process::id()));
        fs::create_dir_all(&directory).expect("there is room");
        let bench = Bench(directory.join("program"));
        let hash = |program: &str, recorded: &str, rustc: &str| {
            fs::write(&bench.0, program).expect("there is room");
            Passed::of(&bench, recorded, &counts(rustc, &[]).place).expect("it can be read").hash
        };
        let known = hash("program", "{}", "rustc 1");
        assert_eq!(known, hash("program", "{}", "rustc 1"));
        for other in
            [hash("program 2", "{}", "rustc 1"), hash("program", "[]", "rustc 1"), hash("program", "{}", "rustc 2")]
        {
            assert_ne!(known, other);
        }
        fs::remove_dir_all(&directory).expect("it can be removed");
    }

    #[test]
    fn more_is_a_finding_and_less_is_a_note() {
        let recorded = counts("rustc 1", &[("equals", 400.0), ("projection", 10000.0), ("tree", 20000.0)]);
        judged(
            &recorded,
            &counts("rustc 1", &[("equals", 439.0), ("projection", 10510.0), ("tree", 18900.0)]),
            &["`tree` needs 18900 instructions, -5.5 % from 20000; record it: `cargo xtask bench gate --accept`"],
            &["`projection` needs 10510 instructions, +5.1 % from 10000"],
        );
    }

    #[test]
    fn elsewhere_the_margin_is_wider() {
        judged(
            &counts("rustc 1", &[("projection", 1000.0), ("tree", 1000.0)]),
            &counts("rustc 2", &[("projection", 1140.0), ("tree", 1160.0)]),
            &["recorded with rustc 1, counted with rustc 2", "counts from elsewhere may be 15 % higher instead of 5 %"],
            &["`tree` needs 1160 instructions, +16.0 % from 1000"],
        );
    }

    #[test]
    fn a_work_that_only_one_side_knows_is_a_finding() {
        judged(
            &counts("rustc 1", &[("old", 10.0)]),
            &counts("rustc 1", &[("new", 10.0)]),
            &[],
            &["`new` is not recorded", "`old` is recorded and no longer counted"],
        );
    }

    #[test]
    fn what_is_written_is_read_back() {
        let counts = counts("rustc 1", &[("equals", 100.0), ("projection", 1000.0)]);
        assert_eq!(Counts::read(&counts.write()), Some(counts));
    }
}
