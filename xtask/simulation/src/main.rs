//! The program behind `cargo xtask bench statistics`: simulates, holds the methods to their bars, and compares the page of the documentation with what was found.

use std::fs;
use std::process::ExitCode;

use chores::chore::{self, Arguments, Failure};
use chores::program;
use simulation::table::{Scale, Table};
use simulation::{STUDIES, page};

fn main() -> ExitCode {
    chore::only(run)
}

fn run(mut arguments: Arguments) -> Result<(), Failure> {
    let writes = arguments.flag("--write");
    let draws = arguments.number("--draws")?;
    arguments.finish()?;
    let scale = Scale { draws: draws.unwrap_or(Scale::FULL.draws), ..Scale::FULL };
    let mut tables = Vec::new();
    for study in STUDIES {
        eprintln!("--- {}", study.title);
        tables.push(study.table(scale));
    }
    print!("{}", page::sections(&tables));
    let misses: Vec<String> = tables.iter().flat_map(Table::misses).collect();
    if !misses.is_empty() {
        return Err(Failure::new(format!("{} shares miss their bars:\n{}", misses.len(), misses.join("\n"))));
    }
    if scale == Scale::FULL { compared(&tables, writes) } else { Ok(()) }
}

/// Writes the page, or says that it has other figures.
fn compared(tables: &[Table], writes: bool) -> Result<(), Failure> {
    let path = program::root().join(page::PATH);
    let is = |error| Failure::new(format!("`{}`: {error}", page::PATH));
    let old = fs::read_to_string(&path).map_err(is)?;
    let no_place = || Failure::new(format!("`{}` has no place for the tables", page::PATH));
    let new = page::with_tables(&old, tables).ok_or_else(no_place)?;
    match (old == new, writes) {
        (true, _) => Ok(()),
        (false, true) => fs::write(&path, new).map_err(is),
        (false, false) => Err(Failure::new(format!("`{}` has other figures; `--write` writes these", page::PATH))),
    }
}
