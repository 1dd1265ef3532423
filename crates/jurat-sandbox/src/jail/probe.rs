//! Whether a sandbox can be started here, found out by starting one.

use std::fmt;
use std::path::Path;

use super::{Ended, Exit, Isolation, JailError, Limit, Mechanism, Program, Protection, Sandbox, StopFlag, run};

/// What this machine can do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Available {
    pub protections: Vec<Protection>,
    pub enforced: Vec<(Limit, Mechanism)>,
}

/// Why a sandbox cannot be started here, and what to change.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Unavailable {
    pub reason: String,
    /// What to change, in words.
    pub remedy: String,
}

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "agents are not run here without a sandbox: {}; {}", self.reason, self.remedy)
    }
}

/// Finds out by doing whether programs can be run in namespaces: one is, and does nothing. `folder` is a place for its files.
///
/// # Errors
/// When they cannot; the error names what to change.
pub fn probe(worker: crate::Program, folder: &Path) -> Result<Available, JailError> {
    let folders = ["workspace", "home", "tmp"].map(|it| folder.join(it));
    for path in &folders {
        std::fs::create_dir_all(path).map_err(|source| JailError::Folder { path: path.clone(), source })?;
    }
    let [workspace, home, tmp] = folders;
    let sandbox = Sandbox::new(worker, Isolation::Namespaces, workspace, home, tmp);
    let program = Program {
        argv: vec!["/bin/sh".into(), "-c".into(), ":".into()],
        work_dir: sandbox.seen().workspace,
        ..Program::default()
    };
    let Ended { exit, protections, enforced, .. } =
        run(&program, &sandbox, &mut |_: &[u8]| (), &mut |_: &[u8]| (), &StopFlag::new())?;
    if exit != Exit::Code(0) {
        return Err(JailError::Lost(format!("a program that does nothing {exit}")));
    }
    Ok(Available { protections, enforced })
}

/// What to change where a step failed.
#[cfg(target_os = "linux")]
pub(super) fn unavailable(step: &str, reason: &str, errno: i32) -> Unavailable {
    let setting = |path: &str| std::fs::read_to_string(path).ok().map(|it| it.trim().to_owned());
    let is_zero = |path: &str| setting(path).is_some_and(|it| it == "0");
    let is_one = |path: &str| setting(path).is_some_and(|it| it == "1");
    let change = if step.starts_with("Landlock") {
        "start a kernel of version 5.13 or later with Landlock enabled (`lsm=landlock,…` on its command line)"
    } else if step.starts_with("seccomp") {
        "start a kernel that has seccomp filters"
    } else if is_zero("/proc/sys/kernel/unprivileged_userns_clone") {
        "allow namespaces: `sysctl kernel.unprivileged_userns_clone=1`"
    } else if is_zero("/proc/sys/user/max_user_namespaces") {
        "allow namespaces: `sysctl user.max_user_namespaces=10000`"
    } else if is_one("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") {
        "AppArmor does not let programs make namespaces: `sysctl kernel.apparmor_restrict_unprivileged_userns=0`, or give jurat a profile with `userns`"
    } else if Path::new("/.dockerenv").exists() || Path::new("/run/.containerenv").exists() {
        "this is a container that may not make others: start it with `--security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined`"
    } else if errno == libc::ENOSYS {
        "start a kernel of version 5.13 or later"
    } else {
        "ask the administrator of this machine to allow user namespaces"
    };
    let remedy = format!("{change}; or run agents in a container, or without a sandbox with `--unsafe-host`");
    Unavailable { reason: format!("{step}: {reason}"), remedy }
}

/// What there is instead on other systems.
#[cfg(not(target_os = "linux"))]
pub(super) fn unavailable_here() -> Unavailable {
    Unavailable {
        reason: "only Linux has namespaces".to_owned(),
        remedy: "run agents in a container, or without a sandbox with `--unsafe-host`".to_owned(),
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_remedy_is_about_what_failed() {
        let said = unavailable("Landlock is not in force", "not supported", 0).to_string();
        let begin =
            "agents are not run here without a sandbox: Landlock is not in force: not supported; start a kernel";
        assert!(said.starts_with(begin) && said.ends_with("without a sandbox with `--unsafe-host`"), "{said}");
        let said = unavailable("`/proc` cannot be mounted anew", "no", libc::ENOSYS).to_string();
        assert!(!said.contains("Landlock"), "{said}");
    }
}
