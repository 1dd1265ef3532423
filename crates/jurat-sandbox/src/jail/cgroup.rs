//! Control groups, where this user may make them.
//!
//! Version 2 only. A group is made beside our own, or in it, whichever is allowed and has the controllers; on most machines that is so for users of a session
//! manager. Where it is not, limits are enforced by other means, so nothing here is an error.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Limit, Limits, Mechanism, Protection};

/// A group with a program in it. It is removed when it is dropped, with everything in it.
#[derive(Debug)]
pub(super) struct Cgroup {
    folder: PathBuf,
    limits: Vec<Limit>,
}

impl Cgroup {
    /// Makes one without limits and puts a process into it.
    pub(super) fn make(process: u32) -> Option<Cgroup> {
        let own = fs::read_to_string("/proc/self/cgroup").ok()?;
        let mounts = fs::read_to_string("/proc/self/mounts").ok()?;
        candidates(&own, &mounts).iter().find_map(|it| Cgroup::make_in(it, process))
    }

    fn make_in(parent: &Path, process: u32) -> Option<Cgroup> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let enabled = fs::read_to_string(parent.join("cgroup.subtree_control")).ok()?;
        let is_enabled = |controller: &str| enabled.split_whitespace().any(|it| it == controller);
        if !is_enabled("memory") || !is_enabled("pids") {
            return None;
        }
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = parent.join(format!("jurat-{}-{number}", std::process::id()));
        fs::create_dir(&folder).ok()?;
        // From here on it is removed whatever happens.
        let group = Cgroup { folder, limits: Vec::new() };
        group.set("cgroup.procs", process.to_string()).then_some(group)
    }

    pub(super) fn limit(&mut self, limits: &Limits, has: impl Fn(Protection) -> bool) {
        if has(Protection::Memory) && self.set("memory.max", limits.memory_bytes.to_string()) {
            // Not every kernel counts what is swapped out.
            self.set("memory.swap.max", "0".to_owned());
            // Ten processes of which the largest was ended are of no use.
            self.set("memory.oom.group", "1".to_owned());
            self.limits.push(Limit::Memory);
        }
        if has(Protection::Count) && self.set("pids.max", limits.processes.to_string()) {
            self.limits.push(Limit::Processes);
        }
    }

    fn set(&self, file: &str, value: String) -> bool {
        fs::write(self.folder.join(file), value).is_ok()
    }

    pub(super) fn enforces(&self) -> Vec<(Limit, Mechanism)> {
        self.limits.iter().map(|it| (*it, Mechanism::Cgroup)).collect()
    }

    /// Whether the kernel ended something in it for want of memory.
    pub(super) fn ran_out_of_memory(&self) -> bool {
        let events = fs::read_to_string(self.folder.join("memory.events")).unwrap_or_default();
        let count = |line: &str| line.strip_prefix("oom_kill ").and_then(|it| it.trim().parse::<u64>().ok());
        events.lines().filter_map(count).any(|it| it > 0)
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        fs::write(self.folder.join("cgroup.kill"), "1").unwrap_or_default();
        fs::remove_dir(&self.folder).unwrap_or_default();
    }
}

/// Where a group may be made: beside our own group, then in it.
fn candidates(own: &str, mounts: &str) -> Vec<PathBuf> {
    let Some(path) = own.lines().find_map(|it| it.strip_prefix("0::/")) else { return Vec::new() };
    let mut fields = mounts.lines().map(|it| it.split(' ').collect::<Vec<_>>());
    let Some(root) = fields.find(|it| it.get(2) == Some(&"cgroup2")).and_then(|it| it.get(1).copied()) else {
        return Vec::new();
    };
    let group = Path::new(root).join(path);
    let beside = group.parent().filter(|_| !path.is_empty()).map(Path::to_owned);
    beside.into_iter().chain([group]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "proc /proc proc rw 0 0\ncgroup2 /sys/fs/cgroup cgroup2 rw,nosuid 0 0\n";

    #[track_caller]
    fn looked_for(own: &str, mounts: &str, folders: &[&str]) {
        let folders: Vec<_> = folders.iter().map(PathBuf::from).collect();
        assert_eq!(candidates(own, mounts), folders);
    }

    #[test]
    fn groups_are_made_beside_our_own() {
        let of_session = "0::/user.slice/user-1000.slice/user@1000.service/app.slice/term.scope\n";
        let app = "/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/app.slice";
        looked_for(of_session, MOUNTS, &[app, &format!("{app}/term.scope")]);
        looked_for("0::/\n", MOUNTS, &["/sys/fs/cgroup/"]);
        looked_for("4:memory:/x\n0::/\n", "cgroup /sys/fs/cgroup/memory cgroup rw 0 0\n", &[]);
        looked_for("4:memory:/x\n", MOUNTS, &[]);
    }

    #[test]
    fn a_group_has_the_limits_and_is_removed() {
        let parent = tempfile::tempdir().expect("there is room for files");
        let control = parent.path().join("cgroup.subtree_control");
        fs::write(&control, "cpu pids\n").expect("files can be written");
        let limits = Limits { memory_bytes: 1000, processes: 7, ..Limits::default() };
        let make = || Cgroup::make_in(parent.path(), 42);
        assert!(make().is_none(), "there is no controller for memory");
        fs::write(&control, "cpu memory pids\n").expect("files can be written");
        let mut group = make().expect("it can be made");
        group.limit(&limits, |_| true);
        let read = |file: &str| fs::read_to_string(group.folder.join(file)).expect("it was written");
        assert_eq!(
            [read("memory.max"), read("memory.swap.max"), read("pids.max"), read("cgroup.procs")],
            ["1000", "0", "7", "42"]
        );
        assert_eq!(group.enforces(), [(Limit::Memory, Mechanism::Cgroup), (Limit::Processes, Mechanism::Cgroup)]);
        assert!(!group.ran_out_of_memory());
        fs::write(group.folder.join("memory.events"), "oom 2\noom_kill 1\n").expect("files can be written");
        assert!(group.ran_out_of_memory());
    }
}
