//! What a run promises, shown with the built command against an endpoint that counts.
//!
//! * [`kills`]: what was paid for survives, whenever the process is killed;
//! * [`replays`]: the same bytes without a request;
//! * [`changes`]: what is asked again; [`together`]: several runs at once;
//! * [`limits`]: what bounds a run; [`spending`]: what agents spend; [`faults`]: what goes wrong while judging;
//! * [`secrets`]: what must not be visible;
//! * [`disks`]: disks that are full, directories that may not be written, files that were cut short;
//! * [`storage`]: files that were overwritten, directories of others, few open files, readers that went away;
//! * [`conversations`]: scenarios, replayed, resumed, stopped, side by side; [`tools`]: what they call; [`timeouts`]: how long they may take;
//! * [`agents`]: nothing is left of them; [`interrupts`]: what Ctrl-C does; [`concurrency`]: how much is asked at once;
//! * [`project`], [`suites`], [`random`], [`store`]: what the tests share.

mod agents;
mod changes;
mod concurrency;
mod conversations;
mod disks;
mod faults;
mod interrupts;
mod kills;
mod limits;
mod project;
mod random;
mod replays;
mod secrets;
mod spending;
mod storage;
mod store;
mod suites;
mod timeouts;
mod together;
mod tools;
