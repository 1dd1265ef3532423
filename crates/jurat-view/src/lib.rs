//! The viewer: the runs of a project as pages in a browser.
//!
//! Pages are rendered here, in Rust, and read without script; what script adds is comfort. Everything that models, authors and data say is escaped, and no page
//! asks another host for anything.
//!
//! * [`route`]: every address, read and printed in one place.
//! * [`library`]: which runs are shown, and which one a name means.
//! * [`changes`]: which changed cases of a comparison are listed.
//! * [`labels`]: what people said, from a file of the project, and one more line for it.
//! * [`answer`]: what a request is answered with: it reads what a page needs and renders it.
//! * [`page`]: one file a page, from data to markup: pure, so that pages are tested as text; [`part`]: what pages share.
//! * [`serve`]: sockets, who may ask, threads that read runs.
//! * [`mod@file`]: a run as one file that needs no server.
//! * [`assets`]: the style sheet and the scripts, under names that change with their content.

mod answer;
mod assets;
mod changes;
pub mod file;
mod labels;
mod library;
mod page;
mod part;
mod percent;
pub mod route;
mod serve;

pub use library::Library;
pub use serve::{DEFAULT_PORT, Options, ServeError, Server};
