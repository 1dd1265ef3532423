//! What one process of many may spend, and how many requests it may make at a time, when budget and limits are for all of them together.
//!
//! * [`Share`]: each process has a fixed part. Nothing has to be reached, and what a process does not use is lost.
//! * A coordinator: processes lease amounts for a few seconds of work. [`Ledger`] decides, and knows neither clock nor network; [`LedgerFile`] remembers what it
//!   decided; [`Coordinator`] answers over HTTP; [`Leases`] is the other side, in each process. [`Budget`](crate::Budget) is what requests ask in either case.
//!
//! What is spent and what is leased never exceed the budget together. A lease that runs out was spent in full, as far as the coordinator knows: its process may have died with
//! requests in flight. A process that returns says what it really was.

mod coordinator;
mod file;
mod http;
mod leases;
mod ledger;
mod share;

pub use crate::budget::Grant;
pub use coordinator::{Coordinator, CoordinatorError, CoordinatorOptions, Standing};
pub use file::{LedgerFile, LedgerFileError};
pub use leases::{LeaseError, Leases};
pub use ledger::{
    CaseNumbers, Input, LeaseReply, LeaseRequest, LeaseState, Ledger, Limits, Settlement, ShardProgress, ShardReport,
};
pub use share::{BadShare, Share};
