//! Pages: data in, markup out. Nothing here opens a file, asks for the time or knows a socket, so that pages are compared as text.

pub(crate) mod compare;
pub(crate) mod compare_case;
pub(crate) mod error;
pub(crate) mod overview;
pub(crate) mod runs;
mod shell;

pub(crate) use shell::{Section, Shell};
