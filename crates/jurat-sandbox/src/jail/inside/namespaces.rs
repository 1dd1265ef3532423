//! Leaving the machine's namespaces.

use std::fs;
use std::io;

use rustix::process::Pid;
use rustix::thread::UnshareFlags;

use super::Broken;
use crate::jail::orders::Enter;

/// The user that the program runs as. Some agents refuse to work for root, and this number is that of the first user on most systems.
pub(super) const ID: u32 = 1000;

/// Enters new namespaces. What is started from here on is in the new namespace of processes; this process itself is not.
pub(super) fn enter(what: &Enter) -> Result<(), Broken> {
    let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    let mut flags = UnshareFlags::NEWUSER | UnshareFlags::NEWNS;
    let optional = [
        (what.processes, UnshareFlags::NEWPID),
        (what.ipc, UnshareFlags::NEWIPC | UnshareFlags::NEWUTS),
        (what.network, UnshareFlags::NEWNET),
    ];
    for (is_wanted, flag) in optional {
        flags |= if is_wanted { flag } else { UnshareFlags::empty() };
    }
    leave(flags).map_err(Broken::at("namespaces cannot be made"))?;
    let map = |file: &str, text: String| fs::write(format!("/proc/self/{file}"), text);
    map("setgroups", "deny".to_owned())
        .and_then(|()| map("uid_map", format!("{ID} {user} 1\n")))
        .and_then(|()| map("gid_map", format!("{ID} {group} 1\n")))
        .map_err(Broken::at("the user cannot be known in a namespace"))
}

#[allow(unsafe_code)]
pub(super) fn leave(flags: UnshareFlags) -> io::Result<()> {
    // SAFETY: the table of descriptors is not among what is left, and this process has one thread.
    Ok(unsafe { rustix::thread::unshare_unsafe(flags) }?)
}

/// Copies this process. Returns the copy's id to the original, and nothing to the copy.
#[allow(unsafe_code)]
pub(super) fn copy() -> io::Result<Option<Pid>> {
    // SAFETY: a worker has one thread, so the copy has everything that the original has and no lock is held by a thread that was not copied.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        id => Ok(Pid::from_raw(id)),
    }
}
