//! The journal that a team shares, in a real PostgreSQL server.
//!
//! `cargo xtask postgres` sees to it that there is one, and says where its programs are: `JURAT_TEST_POSTGRES`.

#[path = "../it/command.rs"]
#[allow(dead_code, reason = "it is shared with other tests")]
mod command;
#[path = "../it/console.rs"]
mod console;
mod server;
mod sharing;
#[path = "../it/stored.rs"]
#[allow(dead_code, reason = "it is shared with other tests")]
mod stored;
