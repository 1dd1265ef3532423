//! Copies of a process, one for each call.

use std::error::Error;
use std::io;

use rustix::process::{Pid, WaitOptions};

/// Copies this process. Returns nothing in the copy. It must have one thread only.
#[allow(unsafe_code)]
pub(super) fn make() -> io::Result<Option<Pid>> {
    // SAFETY: with one thread no other thread can hold a lock in the copy, so everything may be called there.
    let result = unsafe { libc::fork() };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(Pid::from_raw(result)) }
}

/// Ties this copy to the process that made it, and gives up making copies. An empty filter is none.
#[cfg(target_os = "linux")]
pub(super) fn harden(filter: &[(u16, u8, u8, u32)], parent: u32) -> Result<(), Box<dyn Error>> {
    super::parent::end_with(parent)?;
    if !filter.is_empty() {
        let instruction =
            |(code, jt, jf, k): &(u16, u8, u8, u32)| seccompiler::sock_filter { code: *code, jt: *jt, jf: *jf, k: *k };
        seccompiler::apply_filter(&filter.iter().map(instruction).collect::<Vec<_>>())?;
    }
    Ok(())
}

/// Other systems have nothing to give up.
#[cfg(not(target_os = "linux"))]
pub(super) fn harden(_: &[(u16, u8, u8, u32)], _: u32) -> Result<(), Box<dyn Error>> {
    Ok(())
}

/// Waits for a copy, and says how it ended.
pub(super) fn wait(copy: Pid) -> io::Result<String> {
    let Some((_, status)) = rustix::process::waitpid(Some(copy), WaitOptions::empty())? else {
        return Ok("of unknown cause".to_owned());
    };
    Ok(match (status.terminating_signal(), status.exit_status()) {
        (Some(signal), _) => format!("ended by signal {signal}"),
        (None, Some(status)) => format!("exited with status {status}"),
        (None, None) => "of unknown cause".to_owned(),
    })
}
