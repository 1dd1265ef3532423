//! Pages: data in, markup out. Nothing here opens a file, asks for the time or knows a socket, so that pages are compared as text.

mod agent;
pub(crate) mod asked;
pub(crate) mod case;
pub(crate) mod cases;
pub(crate) mod compare;
pub(crate) mod compare_case;
pub(crate) mod cost;
pub(crate) mod error;
mod explained;
pub(crate) mod flaky;
pub(crate) mod graph;
pub(crate) mod labelling;
pub(crate) mod live;
pub(crate) mod overview;
pub(crate) mod queue;
pub(crate) mod runs;
mod shell;
pub(crate) mod slices;
pub(crate) mod totals;
mod transcript;

pub(crate) use shell::{Section, Shell};
