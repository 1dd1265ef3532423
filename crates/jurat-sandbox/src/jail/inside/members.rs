//! Who is in a jail, and what they use.

use std::collections::{HashMap, HashSet};
use std::fs;

use rustix::process::{Pid, Signal};

/// Everybody below the first process.
#[derive(Debug, Default)]
pub(super) struct Members {
    ids: Vec<i32>,
    /// Processes and threads.
    pub(super) n_tasks: u64,
    /// Memory of their own. What two share counts twice.
    pub(super) memory: u64,
}

impl Members {
    /// Looks who is there.
    pub(super) fn look() -> Members {
        let own = i32::try_from(std::process::id()).unwrap_or(1);
        let mut children: HashMap<i32, Vec<(i32, Status)>> = HashMap::new();
        for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
            let Some(id) = entry.file_name().to_str().and_then(|it| it.parse::<i32>().ok()) else { continue };
            let Ok(text) = fs::read_to_string(format!("/proc/{id}/status")) else { continue };
            let status = Status::read(&text);
            children.entry(status.parent).or_default().push((id, status));
        }
        let mut members = Members::default();
        let mut open = vec![own];
        let mut known = HashSet::from([own]);
        while let Some(parent) = open.pop() {
            for (id, status) in children.remove(&parent).unwrap_or_default() {
                if known.insert(id) {
                    open.push(id);
                    members.ids.push(id);
                    members.n_tasks += status.threads;
                    members.memory += status.memory;
                }
            }
        }
        members
    }

    /// What they use, with what several share counted once. Asking costs more.
    pub(super) fn exact_memory(&self) -> u64 {
        let shares = |line: &str| {
            let value = line.strip_prefix("Pss_Anon:").or_else(|| line.strip_prefix("Pss_Shmem:"))?;
            kilobytes(value)
        };
        let of = |id: &i32| match fs::read_to_string(format!("/proc/{id}/smaps_rollup")) {
            Ok(text) => text.lines().filter_map(shares).sum(),
            // It has ended, or is not to be looked into.
            Err(_) => fs::read_to_string(format!("/proc/{id}/status")).map_or(0, |it| Status::read(&it).memory),
        };
        self.ids.iter().map(of).sum()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Sends all of them a signal.
    pub(super) fn signal(&self, signal: Signal) {
        for id in self.ids.iter().filter_map(|it| Pid::from_raw(*it)) {
            // Those that have ended meanwhile do not need it.
            rustix::process::kill_process(id, signal).unwrap_or_default();
        }
    }
}

/// What the system says of a process.
#[derive(Debug, PartialEq, Eq)]
struct Status {
    parent: i32,
    threads: u64,
    memory: u64,
}

impl Status {
    fn read(text: &str) -> Status {
        let mut status = Status { parent: 0, threads: 1, memory: 0 };
        for (name, value) in text.lines().filter_map(|it| it.split_once(':')) {
            match name {
                "PPid" => status.parent = value.trim().parse().unwrap_or(0),
                "Threads" => status.threads = value.trim().parse().unwrap_or(1),
                "RssAnon" | "RssShmem" => status.memory += kilobytes(value).unwrap_or(0),
                _ => {}
            }
        }
        status
    }
}

fn kilobytes(value: &str) -> Option<u64> {
    value.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|it| it << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_says_who_its_parent_is_and_what_it_uses() {
        let text =
            "Name:\tPPid: 7\nPPid:\t12\nRssAnon:\t    100 kB\nRssFile:\t 5000 kB\nRssShmem:\t 28 kB\nThreads:\t3\n";
        assert_eq!(Status::read(text), Status { parent: 12, threads: 3, memory: 128 << 10 });
    }
}
