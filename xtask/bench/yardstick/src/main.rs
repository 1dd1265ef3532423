//! What whole runs are measured with: records, a floor, an endpoint, a load and a meter.
//!
//! `cargo xtask bench run` builds this program in release, runs it beside `jurat` and draws conclusions; the program itself
//! only works and prints JSON. It is a program of its own rather than a part of `xtask`, because it is built in release and
//! needs sockets and an asynchronous runtime, which no other chore should wait for. Its forms:
//!
//! ```text
//! yardstick records DIRECTORY SHAPE ROWS PERCENT    writes rows of a shape, so many percent failing, and their suite
//! yardstick questions DIRECTORY ROWS ADDRESS        writes rows for a judge that listens at the address, and their suite
//! yardstick floor SHAPE RECORDS VERDICTS            judges a file of rows by hand: what no engine can beat
//! yardstick columns SHAPE RECORDS COLUMNS           judges the same by hand, and writes the verdicts as plain columns
//! yardstick contrast COLUMNS COLUMNS                joins two files of columns: what no comparison can beat
//! yardstick endpoint MICROSECONDS                   answers chat completions after so long, until standard input ends
//! yardstick load ADDRESS CALLS CONCURRENCY          asks an endpoint so often: what no client can beat
//! yardstick meter OUTPUT ERRORS PROGRAM [WORD...]   runs a program, its output into two files, and says what it cost
//! yardstick nothing                                 starts and ends
//! ```

mod contrast;
mod endpoint;
mod floor;
mod http;
mod load;
mod meter;
mod questions;
mod records;
mod table;

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use records::{SHAPES, Shape};

/// What a form prints when it is done.
type Said = Result<serde_json::Value, Box<dyn Error>>;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match said(&words) {
        Ok(said) => {
            if !said.is_null() {
                println!("{said}");
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn said(words: &[&str]) -> Said {
    match words {
        ["records", directory, shape, rows, percent] => {
            records::write(Path::new(directory), named(shape)?, rows.parse()?, percent.parse()?)
        }
        ["table", from, to] => table::write(Path::new(from), Path::new(to)),
        ["questions", directory, rows, address] => {
            questions::write(Path::new(directory), rows.parse()?, address.parse()?)
        }
        ["floor", shape, records, verdicts] => floor::judge(named(shape)?, Path::new(records), Path::new(verdicts)),
        ["columns", shape, records, columns] => contrast::write(named(shape)?, Path::new(records), Path::new(columns)),
        ["contrast", base, new] => contrast::compare(Path::new(base), Path::new(new)),
        ["endpoint", microseconds] => endpoint::serve(Duration::from_micros(microseconds.parse()?)),
        ["load", address, calls, concurrency] => load::ask(address.parse()?, calls.parse()?, concurrency.parse()?),
        ["meter", output, errors, program @ ..] => meter::run(Path::new(output), Path::new(errors), program),
        ["nothing"] => Ok(serde_json::Value::Null),
        _ => Err("the forms of this program are in its `main.rs`; people run `cargo xtask bench run`".into()),
    }
}

fn named(shape: &str) -> Result<&'static Shape, String> {
    let known = SHAPES.iter().find(|it| it.name == shape);
    known.ok_or_else(|| {
        let names: Vec<&str> = SHAPES.iter().map(|it| it.name).collect();
        format!("there is no shape `{shape}`; there are {}", names.join(", "))
    })
}
