//! The reference page names everything that the data formats hold.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use jurat_core::report::plan::PlanReport;
use jurat_format::value::{Val, parse_json};
use jurat_report::Scope;

use crate::documents::document;
use crate::{explanations, lists, plans, sample, scenarios};

fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/reports.md");
    fs::read_to_string(path).expect("the page is there")
}

/// The part of the page under a heading.
fn section<'p>(page: &'p str, heading: &str) -> &'p str {
    let start = page.find(&format!("\n## {heading}\n")).expect("the heading is there") + 1;
    let rest = &page[start..];
    rest[3..].find("\n## ").map_or(rest, |end| &rest[..end + 3])
}

/// Every name in backticks.
fn named(text: &str) -> BTreeSet<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// Members that hold other people's values.
const OTHERS: [&str; 10] =
    ["expected", "actual", "value", "parsed", "schema", "spread", "arguments", "state", "final_state", "came_to"];

/// Every key of a value, at any depth, except those of other people's values.
fn keys<'v>(value: &'v Val<'_>, found: &mut BTreeSet<&'v str>) {
    match value {
        Val::List(items) => items.iter().for_each(|it| keys(it, found)),
        Val::Map(map) => {
            for (key, item) in map.iter() {
                found.insert(key);
                if !OTHERS.contains(&key) {
                    keys(item, found);
                }
            }
        }
        _ => {}
    }
}

#[track_caller]
fn names_every_key(headings: &[&str], json: &str) {
    let page = page();
    let named: BTreeSet<&str> = headings.iter().flat_map(|it| named(section(&page, it))).collect();
    let value = parse_json(json).expect("it is JSON").value;
    let mut found = BTreeSet::new();
    keys(&value, &mut found);
    assert!(found.len() > 10, "{found:?}");
    let missing: Vec<&&str> = found.difference(&named).collect();
    assert!(missing.is_empty(), "{headings:?} of the page do not name {missing:?}");
}

#[test]
fn the_page_names_every_member_of_documents() {
    let (run, cases) = (sample::run(), sample::cases());
    names_every_key(&["JSON"], &document("json", &run, &cases, Scope::Everything));
    let (matrix, cases) = sample::matrix();
    names_every_key(&["JSON"], &document("json", &matrix, &cases, Scope::Everything));
    let run = scenarios::run();
    names_every_key(&["JSON", "Scenarios"], &document("json", &run, &cases, Scope::Everything));
}

#[test]
fn the_page_names_every_column_in_order() {
    let page = page();
    let section = section(&page, "JSON lines, CSV and Parquet");
    let csv = document("csv", &sample::run(), &[], Scope::Everything);
    let columns: Vec<&str> = csv.trim_end().split(',').collect();
    let first_cells =
        section.lines().filter_map(|it| it.strip_prefix("| `")).map(|it| it.split(" | ").next().unwrap_or(it));
    let listed: Vec<String> =
        first_cells.flat_map(|it| it.split(", ").map(|name| name.trim_matches('`').to_owned())).collect();
    assert_eq!(listed, columns);
}

#[test]
fn the_page_names_every_member_of_plans() {
    names_every_key(&["Plans"], &plans::rendered("json", &plans::appliances()));
    names_every_key(&["Plans"], &plans::rendered("json", &plans::probes()));
    let plan = PlanReport { scenarios: vec![scenarios::tutor()], ..plans::probes() };
    names_every_key(&["Plans", "Scenarios"], &plans::rendered("json", &plan));
}

#[test]
fn the_page_names_every_member_of_explanations() {
    names_every_key(&["Explanations"], &explanations::json(&explanations::panel()));
    names_every_key(&["Explanations"], &scenarios::transcript_json());
}

#[test]
fn the_page_names_every_member_of_lists() {
    names_every_key(&["Lists"], &format!("[{}, {}]", lists::runs_json(), lists::journal_json()));
}
