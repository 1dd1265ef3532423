//! Writes what the core found, for people and for programs.
//!
//! This crate turns values into text. It finds nothing out, reads no file, and does not ask whether there is a terminal: the caller says which
//! [`Style`] to use. What there is to say is data of [`jurat_core::report`]. Reading order:
//!
//! * [`write_problems`] and [`write_summary`]: what is wrong with a definition, for people.
//! * [`problems_json`]: the same for editors; its shape is in [`wire`].
//! * [`explanation`] writes why a task ended as it did; [`plan`] what will run; [`scenario`] graphs of conversations; [`runs`] the runs of a project;
//!   [`journal`] what a journal holds.
//! * A [`CaseWriter`] takes in a run case by case and writes it: [`TerminalWriter`], [`JsonWriter`], [`JsonLinesWriter`], [`CsvWriter`],
//!   [`JunitWriter`], [`MarkdownWriter`].
//! * [`calibration`]: how far a judge can be trusted; [`comparison`]: runs compared with each other; [`gate`]: whether one may pass; [`repetition`]: what repeating cases showed.
//! * [`columns`]: what formats with a row for each task of each case have in common.
//! * [`Progress`]: how far a run has come.
//! * [`pretty_json`]: a value for people who read JSON.
//! * [`counted`], [`rate`], [`money`], [`duration`] and others: numbers in words; [`to_the_second`]: a moment.
//! * [`visible`] and [`visible_line`]: other people's text, made unable to move the reader's cursor.

pub mod calibration;
pub mod columns;
pub mod comparison;
pub mod explanation;
pub mod gate;
pub mod journal;
pub mod plan;
pub mod power;
pub mod repetition;
pub mod runs;
pub mod scenario;

mod case_writer;
mod corrected;
mod csv;
mod json;
mod json_lines;
mod junit;
mod markdown;
mod progress;
mod stopping;
mod terminal;

mod pretty_json;
mod problem_json;
mod problem_text;
pub mod wire;

mod excerpt;
mod instant;
mod json_text;
mod layout;
mod lines;
mod order;
mod style;
mod svg;
mod table;
mod visible;
mod words;
mod wrap;
mod xml;

pub use case_writer::{CaseWriter, Scope};
pub use csv::CsvWriter;
pub use instant::{instant, to_the_second};
pub use json::JsonWriter;
pub use json_lines::JsonLinesWriter;
pub use junit::JunitWriter;
pub use markdown::{MOST_MARKDOWN_CASES, MarkdownWriter};
pub use pretty_json::{pretty_json, pretty_json_until};
pub use problem_json::problems_json;
pub use problem_text::{MAX_PROBLEMS, write_problems, write_summary};
pub use progress::{BatchCounts, PassRate, Progress};
pub use style::Style;
pub use terminal::{MOST_CASES, MOST_FAILURES, TerminalOptions, TerminalWriter};
pub use visible::{visible, visible_line};
pub use words::{bytes, cost, counted, duration, grouped, interval, money, rate, score, short_cost, span};
