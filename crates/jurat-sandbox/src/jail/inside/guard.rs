//! What a program gives up between being started and being itself.
//!
//! Everything is prepared by the first process; the new one only puts it in force, in an order in which nothing that was given up is needed again.

use std::error::Error;
use std::fs;
use std::io;
use std::os::fd::RawFd;

use landlock::{
    ABI, AccessFs, CompatLevel, Compatible as _, PathBeneath, PathFd, Ruleset, RulesetAttr as _, RulesetCreated,
    RulesetCreatedAttr as _, RulesetStatus, Scope,
};
use rustix::process::{Resource, Rlimit};
use rustix::thread::{CapabilitySet, CapabilitySets};
use seccompiler::BpfProgram;

use super::{Broken, calls};
use crate::jail::orders::Orders;
use crate::jail::{Limit, Mechanism, Protection};

/// What is going to be put in force.
pub(super) struct Guard {
    landlock: Option<RulesetCreated>,
    seccomp: Vec<BpfProgram>,
    rlimits: Vec<(Resource, u64)>,
    drops_privileges: bool,
    is_isolated: bool,
}

impl Guard {
    /// Prepares everything, and returns the limits that this enforces.
    pub(super) fn ready(orders: &Orders, enforced: &mut Vec<(Limit, Mechanism)>) -> Result<Guard, Broken> {
        let is_isolated = orders.is_isolated;
        let wants = |protection| is_isolated && orders.has(protection);
        let other = |error: Box<dyn Error>| io::Error::other(error.to_string());
        let landlock = if wants(Protection::Landlock) {
            Some(writable_only(orders).map_err(other).map_err(Broken::at("Landlock is not in force"))?)
        } else {
            None
        };
        let seccomp = if wants(Protection::Seccomp) {
            calls::filters().map_err(other).map_err(Broken::at("seccomp is not in force"))?
        } else {
            Vec::new()
        };
        let mut rlimits = vec![(Resource::Core, 0)];
        if orders.has(Protection::FileSize) {
            rlimits.push((Resource::Fsize, orders.file_bytes));
            enforced.push((Limit::FileSize, Mechanism::Rlimit));
        }
        // Each namespace counts for itself, so it does not matter what else the user runs. Root outside is exempt from it.
        let counts = wants(Protection::Count) && wants(Protection::Processes) && !is_root_outside();
        if counts {
            rlimits.push((Resource::Nproc, orders.processes));
        }
        if orders.has(Protection::Count) && !enforced.iter().any(|(it, _)| *it == Limit::Processes) {
            enforced.push((Limit::Processes, if counts { Mechanism::Rlimit } else { Mechanism::Polling }));
        }
        if orders.has(Protection::Memory) {
            enforced.push((Limit::Memory, Mechanism::Polling));
        }
        Ok(Guard { landlock, seccomp, rlimits, drops_privileges: wants(Protection::Privileges), is_isolated })
    }

    /// Puts everything in force for this process, which is about to become the program.
    pub(super) fn put_in_force(&mut self) -> io::Result<()> {
        rustix::process::setsid()?;
        // When memory runs out, the kernel should kill this process first. It may not be allowed to ask for that, and then another one is killed.
        fs::write("/proc/self/oom_score_adj", "1000").unwrap_or_default();
        for (resource, limit) in &self.rlimits {
            let current = rustix::process::getrlimit(*resource).maximum.map_or(*limit, |it| it.min(*limit));
            rustix::process::setrlimit(*resource, Rlimit { current: Some(current), maximum: Some(current) })?;
        }
        close_on_exec(3)?;
        if !self.is_isolated {
            return Ok(());
        }
        if self.drops_privileges {
            drop_privileges()?;
        }
        if let Some(rules) = self.landlock.take() {
            let status = rules.restrict_self().map_err(io::Error::other)?;
            if status.ruleset == RulesetStatus::NotEnforced {
                return Err(io::Error::from_raw_os_error(libc::ENOSYS));
            }
        }
        for program in &self.seccomp {
            seccompiler::apply_filter(program).map_err(io::Error::other)?;
        }
        Ok(())
    }
}

/// Whether jurat was started by root of the machine: the namespace has no other user.
pub(super) fn is_root_outside() -> bool {
    let map = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    map.split_whitespace().nth(1) == Some("0")
}

fn drop_privileges() -> io::Result<()> {
    rustix::thread::set_no_new_privs(true)?;
    for capability in CapabilitySet::all().iter() {
        // Newer kernels have more of them and older ones fewer.
        rustix::thread::remove_capability_from_bounding_set(capability).unwrap_or_default();
    }
    rustix::thread::clear_ambient_capability_set()?;
    let none = CapabilitySet::empty();
    let sets = CapabilitySets { effective: none, permitted: none, inheritable: none };
    Ok(rustix::thread::set_capabilities(None, sets)?)
}

/// Everything that can be seen may be read. Only its own folders, the devices, shared memory and what its processes have in `/proc` may be written.
fn writable_only(orders: &Orders) -> Result<RulesetCreated, Box<dyn Error>> {
    let write = AccessFs::from_write(ABI::V1);
    let newer = AccessFs::from_write(ABI::V5);
    let rules = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(write)?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(newer)?
        .scope(Scope::AbstractUnixSocket | Scope::Signal)?;
    let mut rules = rules.create()?;
    for (_, there) in &orders.writable {
        rules = rules.add_rule(PathBeneath::new(PathFd::new(there)?, write | newer))?;
    }
    let file = AccessFs::WriteFile | AccessFs::Truncate;
    let mut others = vec![("/dev/shm", write | newer), ("/dev", (file | AccessFs::IoctlDev) & (write | newer))];
    // Programs set `oom_score_adj` of their own processes, and print an error into their results where they cannot. What else of `/proc` can be
    // written is mounted read-only.
    if orders.has(Protection::Processes) && orders.has(Protection::Kernel) {
        others.push(("/proc", file & (write | newer)));
    }
    for (path, access) in others {
        rules = rules.add_rule(PathBeneath::new(PathFd::new(path)?, access))?;
    }
    Ok(rules)
}

/// Nothing that this process has open stays open in the program, but for the standard three.
#[allow(unsafe_code)]
fn close_on_exec(first: RawFd) -> io::Result<()> {
    // SAFETY: no descriptor is closed now; they are closed when this process becomes another, which then has nothing that owns them.
    let result = unsafe { libc::syscall(libc::SYS_close_range, first, RawFd::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
