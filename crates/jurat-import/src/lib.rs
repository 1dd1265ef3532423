//! What other tools store, read into what jurat runs: configurations become suites, traces and logs become runs of agents, data sets
//! become rows.
//!
//! Nothing is guessed, executed or fetched. Whatever is read has an [`Entry`] in the [`Report`]: taken over exactly, taken over
//! approximately with the difference, or dropped with the reason. The same input gives the same bytes.
//!
//! This crate reads no files: a caller gives [`Input`]s, and a [`Folder`] for the files that configurations refer to. What comes back are
//! files to write. `KINDS` is the list of formats; each is one file or folder.

mod deepeval;
mod document;
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
mod trace;
mod zip;

pub use folder::{Folder, NoFolder};
pub use input::Input;
pub use kind::{ImportError, Imported, KINDS, Kind, NewFile, Options, import};
pub use report::{Class, Entry, Report, Totals};
pub use trace::{By, Unfinished};
