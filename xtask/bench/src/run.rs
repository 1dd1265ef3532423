//! `cargo xtask bench run`: what whole runs cost, beside the least that their work could cost.
//!
//! The command `jurat` is measured from outside, as users run it: its processor time, its peak of memory, and what an
//! endpoint sees of it. Beside it, in turn and within the same minutes, run programs that do the same work with nothing
//! around it ([`yardstick`]), because on a shared machine only ratios mean something. One file for each part:
//!
//! * [`records`]: assertions over records: cost per assertion, peak of memory, and how the cost grows;
//! * [`startup`]: a run of one record;
//! * [`judges`]: calls of judges at several concurrencies;
//! * [`journal`]: a run whose answers are known but one;
//! * [`show`]: reading a large run;
//! * [`view`]: pages of large runs, and what the viewer holds in memory;
//! * [`contrast`]: two large runs compared, and a gate over two small ones;
//! * [`scenarios`]: conversations: cost per turn, how it grows with their length, and many at once;
//! * [`agents`]: what a jail around a program costs;
//! * [`checks`]: runs that were kept, judged again;
//! * [`evaluators`]: code of authors: a cold start, calls alone and among others, many rows;
//! * [`shards`]: shards merged, and one machine with several processes.
//!
//! What goes wrong in a part is a line of the report, and the others go on: a figure that is missing says why.

mod agents;
mod checks;
mod contrast;
mod evaluators;
mod figure;
mod journal;
mod judges;
mod jurat;
mod memory;
mod records;
mod scenarios;
mod scratch;
mod shards;
mod show;
mod startup;
mod view;
mod yardstick;

use std::path::{self, PathBuf};
use std::{fs, thread};

use serde_json::json;

use self::figure::{Figure, Line, table};
use self::jurat::Jurat;
use self::scratch::Scratch;
use self::yardstick::Yardstick;
use super::measured;
use chores::chore::{Arguments, Failure};

/// Everything that a part needs.
struct Kit {
    jurat: Jurat,
    yardstick: Yardstick,
    scratch: Scratch,
    is_quick: bool,
}

/// Some figures that are measured together.
struct Part {
    name: &'static str,
    measure: fn(&Kit, &mut Lines),
}

const PARTS: &[Part] = &[
    Part { name: "records", measure: records::measure },
    Part { name: "startup", measure: startup::measure },
    Part { name: "judges", measure: judges::measure },
    Part { name: "journal", measure: journal::measure },
    Part { name: "show", measure: show::measure },
    Part { name: "view", measure: view::measure },
    Part { name: "contrast", measure: contrast::measure },
    Part { name: "scenarios", measure: scenarios::measure },
    Part { name: "agents", measure: agents::measure },
    Part { name: "checks", measure: checks::measure },
    Part { name: "evaluators", measure: evaluators::measure },
    Part { name: "shards", measure: shards::measure },
];

/// The report as it grows.
#[derive(Default)]
struct Lines(Vec<Line>);

impl Lines {
    /// Takes in what was measured under a name, or why it was not.
    fn add(&mut self, name: &str, figures: Result<Vec<Figure>, Failure>) {
        match figures {
            Ok(figures) => self.0.extend(figures.into_iter().map(Line::Figure)),
            Err(failure) => {
                self.0.push(Line::NotMeasured { name: name.to_owned(), reason: failure.message().to_owned() });
            }
        }
    }
}

pub(super) fn run(mut arguments: Arguments) -> Result<(), Failure> {
    let parts = parts(&mut arguments)?;
    let (is_quick, is_json) = (arguments.flag("--quick"), arguments.flag("--json"));
    let jurat = arguments.text("--jurat")?;
    arguments.finish()?;
    let jurat = match jurat {
        // It is started from other directories.
        Some(path) => path::absolute(&path).map_err(|error| Failure::new(format!("cannot find `{path}`: {error}")))?,
        None => measured("jurat-cli")?,
    };
    let yardstick = Yardstick::build()?;
    let kit = Kit { jurat: Jurat::at(jurat)?, yardstick, scratch: Scratch::new()?, is_quick };
    let before = load_average();
    let mut lines = Lines::default();
    for part in parts {
        eprintln!("--- {}", part.name);
        (part.measure)(&kit, &mut lines);
        // Each part writes gigabytes.
        kit.scratch.empty()?;
    }
    let place = Place { jurat: kit.jurat.version.clone(), is_quick, load: [before, load_average()] };
    if is_json {
        println!("{:#}", place.to_json(&lines.0));
    } else {
        print!("{}\n{}", place.heading(), table(&lines.0));
    }
    Ok(())
}

/// The parts that were asked for; all when none was named.
fn parts(arguments: &mut Arguments) -> Result<Vec<&'static Part>, Failure> {
    let mut only = Vec::new();
    while let Some(name) = arguments.text("--only")? {
        let names = || PARTS.iter().map(|it| it.name).collect::<Vec<_>>().join(", ");
        let part = PARTS.iter().find(|it| it.name == name);
        only.push(part.ok_or_else(|| Failure::Usage(format!("there is no part `{name}`; there are {}", names())))?);
    }
    Ok(if only.is_empty() { PARTS.iter().collect() } else { only })
}

/// What figures depend on besides the program.
struct Place {
    jurat: String,
    is_quick: bool,
    /// How many programs wanted to run, on average over a minute, before and after.
    load: [Option<f64>; 2],
}

impl Place {
    fn heading(&self) -> String {
        let load = self.load.map(|it| it.map_or("unknown".to_owned(), |it| it.to_string()));
        let quick = if self.is_quick { "; small sizes, so not the figures that targets are about" } else { "" };
        format!("{} on {} processors, load {} before and {} after{quick}\n", self.jurat, processors(), load[0], load[1])
    }

    fn to_json(&self, lines: &[Line]) -> serde_json::Value {
        json!({
            "jurat": self.jurat,
            "quick": self.is_quick,
            "processors": processors(),
            "load": self.load,
            "figures": lines.iter().map(Line::to_json).collect::<Vec<_>>(),
        })
    }
}

fn processors() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

fn load_average() -> Option<f64> {
    let text = fs::read_to_string(PathBuf::from("/proc/loadavg")).ok()?;
    text.split(' ').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(line: &str) -> Result<Vec<&'static str>, Failure> {
        let mut arguments = Arguments::of(line.split_whitespace().map(str::to_owned));
        parts(&mut arguments).map(|it| it.iter().map(|it| it.name).collect())
    }

    #[test]
    fn parts_are_named_or_all() {
        assert_eq!(
            named("--quick"),
            Ok(vec![
                "records",
                "startup",
                "judges",
                "journal",
                "show",
                "view",
                "contrast",
                "scenarios",
                "agents",
                "checks",
                "evaluators",
                "shards"
            ])
        );
        assert_eq!(named("--only show --quick --only startup"), Ok(vec!["show", "startup"]));
        let unknown = "there is no part `shows`; there are records, startup, judges, journal, show, view, contrast, scenarios, agents, checks, evaluators, shards";
        assert_eq!(named("--only shows"), Err(Failure::Usage(unknown.to_owned())));
    }

    #[test]
    fn the_heading_says_where_and_how() {
        let place = Place { jurat: "jurat 0.1.0".to_owned(), is_quick: true, load: [Some(1.5), None] };
        let heading = place.heading();
        assert!(heading.starts_with("jurat 0.1.0 on "), "{heading}");
        assert!(
            heading.ends_with(
                "load 1.5 before and unknown after; small sizes, so not the figures that targets are about\n"
            ),
            "{heading}"
        );
    }
}
