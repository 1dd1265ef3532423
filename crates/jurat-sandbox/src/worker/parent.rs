//! Ending with the process that started this one.

use std::io;

use rustix::process::{Signal, getppid, set_parent_process_death_signal};

/// Asks the kernel to kill this process when the thread that started it ends. A parent that ended before the request is found by its id: the kernel gives
/// the child of a dead process another parent.
pub(crate) fn end_with(parent: u32) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    let is_there = getppid().is_some_and(|it| u32::try_from(it.as_raw_nonzero().get()) == Ok(parent));
    if is_there { Ok(()) } else { Err(io::Error::other("the process that started it has ended")) }
}
