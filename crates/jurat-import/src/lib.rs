//! What other tools store, read into what jurat runs: configurations become suites, traces and logs become runs of agents, data sets
//! become rows.
//!
//! Nothing is guessed, executed or fetched. Whatever is read has an [`Entry`] in the [`Report`]: taken over exactly, taken over
//! approximately with the difference, or dropped with the reason. The same input gives the same bytes.
//!
//! This crate reads no files: a caller gives [`Input`]s, and a [`Folder`] for the files that configurations refer to. What comes back are
//! files to write. `KINDS` is the list of formats; each is one file or folder.
//!
//! A large input is a [`Source`] that is read as it is needed, and its rows go to a [`Spool`]: what is in memory are the things that are being read, and an entry
//! of the report for each.

mod deepeval;
mod document;
mod elements;
mod folder;
mod gzip;
mod identifier;
mod input;
mod inspect;
mod kind;
mod langfuse;
mod openai_evals;
mod phoenix;
mod promptfoo;
mod report;
mod secret;
mod source;
mod trace;
mod zip;

pub use folder::{Folder, NoFolder};
pub use input::Input;
pub use kind::{Contents, ImportError, Imported, KINDS, Kind, NewFile, Options, import, import_with};
pub use report::{Class, Entry, Report, Totals};
pub use source::{Reader, Rows, Source, Spool};
pub use trace::{By, Unfinished};
