//! What a run promises, shown with the built command against an endpoint that counts.
//!
//! * [`kills`]: what was paid for survives, whenever the process is killed;
//! * [`project`], [`suites`], [`random`], [`store`]: what the tests share.

mod kills;
mod project;
mod random;
mod store;
mod suites;
