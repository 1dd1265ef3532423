//! Giving up everything that is not needed.
//!
//! The order matters: what is given up first must not be needed for the next. Each step either is done, or says why not; whether the worker continues without it was
//! decided by the process that started it.

use std::path::{Path, PathBuf};

use crate::orders::Orders;
use crate::worker::Channel;
use crate::{InForce, Layer};

#[cfg(not(target_os = "linux"))]
pub(super) use elsewhere::give_up;
#[cfg(not(target_os = "linux"))]
pub(crate) use elsewhere::missing_layers;
#[cfg(target_os = "linux")]
pub(super) use linux::give_up;
#[cfg(target_os = "linux")]
pub(crate) use linux::missing_layers;

/// What is still needed of the file system.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'p> {
    /// What the worker is going to become.
    pub(super) executable: Option<&'p Path>,
    pub(super) readable: &'p [PathBuf],
}

/// Why something was not given up.
fn missing(layer: Layer, error: impl std::fmt::Display) -> String {
    format!("`{layer}` is not in force: {error}")
}

#[cfg(target_os = "linux")]
mod linux {
    use super::{Channel, InForce, Layer, Orders, Place, missing};

    use std::error::Error;
    use std::io;
    use std::os::fd::AsRawFd as _;
    use std::path::Path;

    use landlock::{
        ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, PathBeneath, PathFd, Ruleset,
        RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetError, RulesetStatus, Scope,
    };
    use rustix::process::{Resource, Rlimit};
    use rustix::thread::{CapabilitySet, CapabilitySets};

    use crate::worker::calls;
    use crate::worker::exec_once::Watcher;
    use crate::worker::parent;

    type Step = Result<(), Box<dyn Error>>;

    /// Gives up everything but a place.
    pub(crate) fn give_up(channel: &Channel, orders: &Orders, place: &Place<'_>) -> Result<InForce, Vec<String>> {
        let mut in_force = InForce::default();
        let wants = |layer| orders.layers.contains(&layer);
        in_force.layers.extend(
            [Layer::Environment, Layer::Names, Layer::Threads, Layer::OneSource].into_iter().filter(|it| wants(*it)),
        );
        if let Err(error) = parent::end_with(orders.parent) {
            return Err(vec![format!("the worker cannot be tied to who started it: {error}")]);
        }
        // Before memory is limited to what the interpreter may have: this program may need more.
        let mut watcher = place.executable.filter(|_| wants(Layer::Seccomp)).map(|_| Watcher::start());
        let steps: [(Layer, &mut dyn FnMut() -> Step); 5] = [
            (Layer::Descriptors, &mut || {
                Ok(calls::close_others([channel.requests.as_raw_fd(), channel.replies.as_raw_fd()])?)
            }),
            (Layer::Privileges, &mut drop_privileges),
            (Layer::Limits, &mut || {
                Ok(limit(orders.memory + if place.executable.is_some() { 0 } else { OWN_MEMORY })?)
            }),
            (Layer::Landlock, &mut || landlock(place)),
            (Layer::Seccomp, &mut || calls::filter(watcher.take().transpose()?, orders.isolation)),
        ];
        for (layer, step) in steps {
            if !wants(layer) {
                continue;
            }
            match step() {
                Ok(()) => drop(in_force.layers.insert(layer)),
                Err(error) => in_force.missing.push(missing(layer, error)),
            }
        }
        if !in_force.missing.is_empty() && !orders.is_unsafe {
            return Err(in_force.missing);
        }
        Ok(in_force)
    }

    /// The required layers that this kernel lacks, one sentence each. The kernel is asked; nothing is given up.
    pub(crate) fn missing_layers() -> Vec<String> {
        let landlock = rules().err().map(|error| missing(Layer::Landlock, error));
        let seccomp = calls::filters_are_supported().err().map(|error| missing(Layer::Seccomp, error));
        landlock.into_iter().chain(seccomp).collect()
    }

    /// Root retains the right to read what others own: an interpreter may belong to another user, and Landlock decides which files can be read at all.
    fn drop_privileges() -> Step {
        rustix::thread::set_no_new_privs(true)?;
        let retained = rustix::thread::capabilities(None)?.permitted & CapabilitySet::DAC_READ_SEARCH;
        let sets = CapabilitySets { effective: retained, permitted: retained, inheritable: CapabilitySet::empty() };
        Ok(rustix::thread::set_capabilities(None, sets)?)
    }

    /// Seconds of processor time after which a worker ends whatever it does. The pool puts workers aside long before.
    const PROCESSOR_TIME: u64 = 3600;

    /// What this program maps before it interprets anything.
    const OWN_MEMORY: u64 = 512 << 20;

    fn limit(memory: u64) -> io::Result<()> {
        let limits = [
            (Resource::As, memory),
            (Resource::Cpu, PROCESSOR_TIME),
            (Resource::Fsize, 0),
            (Resource::Core, 0),
            (Resource::Nofile, 64),
            (Resource::Memlock, 0),
            (Resource::Msgqueue, 0),
        ];
        for (resource, limit) in limits {
            // The parent of jurat may have set a lower one, which cannot be raised.
            let limit = rustix::process::getrlimit(resource).maximum.map_or(limit, |it| it.min(limit));
            rustix::process::setrlimit(resource, Rlimit { current: Some(limit), maximum: Some(limit) })?;
        }
        Ok(())
    }

    /// Rules that allow nothing. What the oldest kernel with Landlock can do is required; newer kernels add protections to those of the list of calls.
    fn rules() -> Result<RulesetCreated, RulesetError> {
        Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(AccessFs::from_all(ABI::V1))?
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessFs::from_all(ABI::V5))?
            .handle_access(AccessNet::from_all(ABI::V4))?
            .scope(Scope::AbstractUnixSocket | Scope::Signal)?
            .create()
    }

    fn landlock(place: &Place<'_>) -> Step {
        let read = AccessFs::ReadFile | AccessFs::ReadDir | AccessFs::Execute;
        let mut rules = rules()?;
        for path in place.readable.iter().map(AsRef::<Path>::as_ref).chain(place.executable) {
            // What is not there cannot be read either.
            let Ok(descriptor) = PathFd::new(path) else { continue };
            let access = if path.is_dir() { read } else { AccessFs::ReadFile | AccessFs::Execute };
            rules = rules.add_rule(PathBeneath::new(descriptor, access))?;
        }
        match rules.restrict_self()?.ruleset {
            RulesetStatus::NotEnforced => Err("this kernel has it not, or it is not enabled".into()),
            _ => Ok(()),
        }
    }
}

/// Other systems have none of it.
#[cfg(not(target_os = "linux"))]
mod elsewhere {
    use super::{Channel, InForce, Layer, Orders, Place, missing};

    pub(crate) fn give_up(_: &Channel, orders: &Orders, _: &Place<'_>) -> Result<InForce, Vec<String>> {
        let missing = missing_layers();
        if !orders.is_unsafe {
            return Err(missing);
        }
        let own = [Layer::Environment, Layer::Names, Layer::OneSource];
        let layers = own.into_iter().filter(|it| orders.layers.contains(it)).collect();
        Ok(InForce { layers, missing })
    }

    /// The required layers that this system lacks, one sentence each.
    pub(crate) fn missing_layers() -> Vec<String> {
        Layer::REQUIRED.map(|it| missing(it, "only Linux has it")).to_vec()
    }
}
