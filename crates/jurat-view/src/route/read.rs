//! Addresses, read.

use super::parameters::Parameters;
use super::{
    Address, BadAddress, Case, Cases, Compare, CompareCase, FEWEST_ROWS, Flaky, Form, Label, MOST_ROWS, Output, ROWS,
    Route, RunPage, Runs, Slices, Table, TableKind, Text,
};
use crate::percent::{self, JSON};

impl Address {
    /// Reads a path and its parameters, as they stand in a request.
    pub fn parse(path: &str, query: Option<&str>) -> Result<Address, BadAddress> {
        let (path, form) = match path.strip_suffix(JSON) {
            Some(path) => (path, Form::Json),
            None => (path, Form::Html),
        };
        let segments: Vec<&str> = path.strip_prefix('/').ok_or(BadAddress::Unknown)?.split('/').collect();
        let given = Parameters::parse(query.unwrap_or_default())?;
        let route = match segments.as_slice() {
            [""] => {
                Route::Runs(Runs { suite: given.text("suite"), q: given.or_empty("q"), from: given.number("from", 0)? })
            }
            ["runs", run, rest @ ..] => Route::Run { run: text(run)?, page: run_page(rest, &given)? },
            ["compare"] => {
                // The list of runs sends those that were selected. Ids begin with the time, and the oldest is the base.
                let mut selected = given.all("run");
                selected.sort_unstable();
                let mut sides = given.text("base").into_iter().chain(selected).chain(given.all("new"));
                let base = sides.next().unwrap_or_default();
                Route::Compare(Compare {
                    base,
                    new: sides.collect(),
                    q: given.or_empty("q"),
                    from: given.number("from", 0)?,
                })
            }
            ["compare", "cases", id] => {
                let (variant, base) = (given.variant()?, given.or_empty("base"));
                Route::CompareCase(CompareCase { id: text(id)?, variant, base, new: given.all("new") })
            }
            ["events"] => Route::Events,
            ["labels"] => Route::Labels,
            // Names of assets end as they like.
            ["assets", name] => {
                let ending = if form == Form::Json { JSON } else { "" };
                return Ok(Address { route: Route::Asset(format!("{name}{ending}")), form: Form::Html });
            }
            _ => return Err(BadAddress::Unknown),
        };
        Ok(Address { route, form })
    }
}

fn run_page(segments: &[&str], given: &Parameters) -> Result<RunPage, BadAddress> {
    Ok(match segments {
        [] => RunPage::Overview,
        ["cases"] => RunPage::Cases(Cases {
            q: given.or_empty("q"),
            sort: given.sort()?,
            descending: given.direction()?,
            from: given.number("from", 0)?,
            n: given.within("n", ROWS, FEWEST_ROWS..=MOST_ROWS)?,
            cols: given.list("cols"),
            scan: given.number("scan", 0)?,
        }),
        ["cases.csv"] => RunPage::Table(Table { kind: TableKind::Csv, q: given.or_empty("q") }),
        ["cases.jsonl"] => RunPage::Table(Table { kind: TableKind::JsonLines, q: given.or_empty("q") }),
        ["cases", id] => RunPage::Case(Case {
            id: text(id)?,
            variant: given.variant()?,
            task: given.text("task"),
            turn: given.optional("turn")?,
            from: given.number("from", 0)?,
            only: given.text("only"),
            look: given.look()?,
            q: given.or_empty("q"),
            sort: given.sort()?,
            descending: given.direction()?,
        }),
        ["cases", id, "text"] => {
            RunPage::Text(Text { id: text(id)?, variant: given.variant()?, part: given.or_empty("part") })
        }
        ["cases", id, "output"] => {
            let ix = given.place("ix")?.unwrap_or_default();
            RunPage::Output(Output { id: text(id)?, variant: given.variant()?, ix })
        }
        ["graph"] => RunPage::Graph,
        ["slices"] => {
            let (least, from) = (given.number("least", 0)?, given.number("from", 0)?);
            RunPage::Slices(Slices { by: given.all("by"), least, from })
        }
        ["cost"] => RunPage::Cost,
        ["flaky"] => RunPage::Flaky(Flaky { task: given.text("task"), subject: given.text("subject") }),
        ["label"] => {
            let default = Label::default();
            RunPage::Label(Label {
                task: given.text("task"),
                n: given.within("n", default.n, 1..=10_000)?,
                seed: given.number("seed", default.seed)?,
                blind: given.flag("blind")?,
                at: given.place("at")?,
                after: given.place("after")?,
            })
        }
        ["events"] => RunPage::Events,
        _ => return Err(BadAddress::Unknown),
    })
}

fn text(segment: &str) -> Result<String, BadAddress> {
    percent::of_segment(segment).ok_or(BadAddress::Unknown)
}
