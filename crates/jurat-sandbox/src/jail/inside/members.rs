//! The processes in a jail, and what they use.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::os::unix::fs::MetadataExt as _;

use rustix::process::{Pid, Signal};

/// Every process below the first one.
#[derive(Debug, Default)]
pub(crate) struct Members {
    ids: Vec<i32>,
    pub(crate) n_tasks: u64,
    /// Memory of their own. What two share counts twice.
    pub(crate) memory: u64,
}

impl Members {
    pub(crate) fn look() -> Members {
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
    pub(crate) fn exact_memory(&self) -> u64 {
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

    /// What they have written to files that no folder names any more. It is on the disk as long as a process has it open.
    pub(crate) fn unlinked_bytes(&self) -> u64 {
        let mut files = HashMap::new();
        for id in &self.ids {
            for entry in fs::read_dir(format!("/proc/{id}/fd")).into_iter().flatten().flatten() {
                let Ok(found) = fs::metadata(entry.path()) else { continue };
                if found.is_file() && found.nlink() == 0 {
                    files.insert((found.dev(), found.ino()), found.blocks() * 512);
                }
            }
        }
        files.values().sum()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Sends all of them a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        for id in self.ids.iter().filter_map(|it| Pid::from_raw(*it)) {
            // Those that have ended meanwhile do not need it.
            rustix::process::kill_process(id, signal).unwrap_or_default();
        }
    }
}

/// Memory of System V that no process has in its own account: segments that are attached nowhere, and messages that wait in queues.
pub(crate) fn detached_memory() -> u64 {
    let table = |name: &str| fs::read_to_string(format!("/proc/sysvipc/{name}")).unwrap_or_default();
    column(&table("shm"), "rss", |row| row.get("nattch") == Some(&"0")) + column(&table("msg"), "cbytes", |_| true)
}

/// Adds up a column of a table over some of its rows.
fn column(table: &str, name: &str, is_counted: impl Fn(&HashMap<&str, &str>) -> bool) -> u64 {
    let mut lines = table.lines();
    let names: Vec<&str> = lines.next().unwrap_or_default().split_whitespace().collect();
    let rows = lines.map(|it| names.iter().copied().zip(it.split_whitespace()).collect::<HashMap<_, _>>());
    rows.filter(is_counted).filter_map(|it| it.get(name)?.parse::<u64>().ok()).sum()
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

    #[test]
    fn segments_that_are_attached_nowhere_are_added_up() {
        let table = "key shmid nattch rss\n 0 1 0 4096\n 0 2 3 8192\n 0 3 0 100\n";
        assert_eq!(column(table, "rss", |row| row.get("nattch") == Some(&"0")), 4196);
        assert_eq!(column("", "rss", |_| true), 0);
    }
}
