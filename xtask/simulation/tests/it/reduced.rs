//! What the chore finds with 20,000 draws, found with a few hundred: wide bars that a broken method still misses.

use std::fs;
use std::path::Path;

use simulation::page;
use simulation::table::{Scale, Share, Table};
use simulation::{STUDIES, tables};

const REDUCED: Scale = Scale { draws: 200, most_cases: 50 };

fn with(share: &str, table: &Table) -> Vec<Share> {
    let at = table.study.counted.iter().position(|it| *it == share).expect("the study counts it");
    table.rows.iter().filter_map(|it| it.shares[at]).collect()
}

#[test]
fn methods_keep_their_bars_and_those_of_others_do_not() {
    let tables = tables(REDUCED);
    let misses: Vec<String> = tables.iter().flat_map(Table::misses).collect();
    assert!(misses.is_empty(), "{}", misses.join("\n"));
    // The same draws and bars find what is wrong with other methods, so they would find it in ours.
    for (title, share) in [
        ("One pass rate", "held: Wald"),
        ("Two runs of the same cases", "held: Wald"),
        ("Two runs of the same cases", "held: t"),
        ("Cases that were run several times", "shown: all independent"),
        ("Cases that share a document or a customer", "shown: all independent"),
        ("Gates at their bound", "passed: as observed"),
        ("Pass rates of judges that err", "held: as judged"),
        ("Stopping early: why the order matters", "passed: order of the file"),
        ("Stopping early: why the order matters", "passed: order of arrival"),
    ] {
        let table = tables.iter().find(|it| it.study.title == title).expect("there is such a study");
        assert!(with(share, table).iter().any(|it| it.falls_short(REDUCED.draws)), "{title}: {share}");
    }
}

#[test]
fn draws_depend_on_their_seeds_alone() {
    let few = Scale { draws: 5, most_cases: 20 };
    for study in STUDIES {
        assert_eq!(study.table(few).rows, study.table(few).rows, "{}", study.title);
    }
}

/// The figures of the page are compared by the chore; here, that it has those of every setting.
#[test]
fn the_page_has_a_row_for_every_setting() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(page::PATH);
    let text = fs::read_to_string(path).expect("the page is there");
    for table in tables(Scale { draws: 0, ..Scale::FULL }) {
        let section = text.split("### ").find(|it| it.starts_with(table.study.title)).expect("the page has each study");
        assert!(section.contains(table.study.about), "{}: the page says something else", table.study.title);
        let n_rows = section.lines().filter(|it| it.starts_with('|')).count();
        assert_eq!(n_rows, table.rows.len() + 2, "{}: run `cargo xtask bench statistics --write`", table.study.title);
        for row in &table.rows {
            let beginning = page::beginning(row);
            assert!(section.lines().any(|it| it.starts_with(&beginning)), "{}: no row {beginning}", table.study.title);
        }
    }
}
