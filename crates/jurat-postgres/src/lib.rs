//! The journal that a team shares, in a PostgreSQL server.
//!
//! * [`Address`]: where it is, read from a URL. What is shown of it has no password.
//! * [`PostgresJournal`]: the [`SharedJournal`](jurat_store::journal::SharedJournal) there. One connection, used by one thread; every request has a time limit, so that a server that is gone is
//!   noticed rather than waited for.
//!
//! What is looked up and sent when is decided by the engine, and what is not sent yet is known by the local journal.

mod address;
mod failure;
mod journal;
mod schema;
mod thread;
mod tls;

pub use address::{Address, BadAddress};
pub use journal::{PostgresJournal, Tls};
