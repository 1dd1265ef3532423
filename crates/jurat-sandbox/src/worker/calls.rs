//! The system calls that are left.
//!
//! A list of what is allowed, not of what is forbidden: a call that a future kernel adds is forbidden. Where a call can do harm with some arguments,
//! only harmless arguments are on the list. Numbers of another architecture end the process. Everything else fails as if it were not permitted,
//! which interpreters report in words.

use std::collections::BTreeMap;
use std::error::Error;
use std::io;
use std::os::fd::RawFd;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen as Width, SeccompCmpOp as Is, SeccompCondition as Condition,
    SeccompFilter, SeccompRule, TargetArch,
};

use crate::Isolation;
use crate::worker::exec_once::Watcher;

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Allows this thread only what is on the list. What becomes another program may do so once.
pub(super) fn filter(watcher: Option<Watcher>, isolation: Isolation) -> Result<(), Box<dyn Error>> {
    rustix::thread::set_no_new_privs(true)?;
    let becomes_another = watcher.is_some();
    if let Some(watcher) = watcher {
        watcher.allow()?;
    }
    // The C library tries newer calls first and falls back only when they are not implemented.
    let newer = NEWER.iter().map(|it| (*it, Vec::new())).collect();
    let not_implemented = SeccompAction::Errno(u32::try_from(libc::ENOSYS)?);
    seccompiler::apply_filter(&program(newer, SeccompAction::Allow, not_implemented)?)?;
    let list = if becomes_another { interpreter(isolation)? } else { built_in(isolation)? };
    seccompiler::apply_filter(&program(list, not_permitted(), SeccompAction::Allow)?)?;
    Ok(())
}

/// What a copy of a process gives up on top: making copies, filters of its own, and signals. The list of its original allows signals to the original.
pub(crate) fn copy_filter() -> Result<BpfProgram, Box<dyn Error>> {
    let mut forbidden = Rules::new();
    for number in [libc::SYS_wait4, libc::SYS_prctl, libc::SYS_seccomp, libc::SYS_tgkill] {
        forbidden.insert(number, Vec::new());
    }
    #[cfg(target_arch = "x86_64")]
    for number in [libc::SYS_fork, libc::SYS_vfork] {
        forbidden.insert(number, Vec::new());
    }
    let is_no_thread = Condition::new(0, Width::Qword, Is::MaskedEq(THREAD), 0)?;
    forbidden.insert(libc::SYS_clone, vec![SeccompRule::new(vec![is_no_thread])?]);
    program(forbidden, SeccompAction::Allow, not_permitted())
}

/// Whether this kernel has filters of system calls, as far as it says so without installing one.
#[allow(unsafe_code)]
pub(super) fn filters_are_supported() -> io::Result<()> {
    let action = libc::SECCOMP_RET_ERRNO;
    // SAFETY: the kernel reads one number through the pointer, which is valid for the call, and changes nothing.
    let result =
        unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_GET_ACTION_AVAIL, 0, std::ptr::from_ref(&action)) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Closes every descriptor but the standard ones and those of a channel.
pub(super) fn close_others(mut channel: [RawFd; 2]) -> io::Result<()> {
    channel.sort_unstable();
    let [first, second] = channel;
    close(3, first - 1)?;
    close(first + 1, second - 1)?;
    close(second + 1, RawFd::MAX)
}

#[allow(unsafe_code)]
fn close(first: RawFd, last: RawFd) -> io::Result<()> {
    if first > last {
        return Ok(());
    }
    // SAFETY: nothing in this process owns a descriptor of these numbers: it has opened none but its channel, which the caller leaves out.
    let result = unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

pub(crate) fn program(
    rules: Rules,
    otherwise: SeccompAction,
    matching: SeccompAction,
) -> Result<BpfProgram, Box<dyn Error>> {
    let architecture = TargetArch::try_from(std::env::consts::ARCH)?;
    Ok(SeccompFilter::new(rules, otherwise, matching, architecture)?.try_into()?)
}

fn not_permitted() -> SeccompAction {
    SeccompAction::Errno(libc::EPERM.unsigned_abs())
}

const NEWER: &[i64] = &[libc::SYS_clone3, libc::SYS_openat2, libc::SYS_faccessat2, libc::SYS_rseq];

/// `CLONE_THREAD`.
const THREAD: u64 = 0x0001_0000;

/// What a new thread is made with by C libraries, and a flag that one of them still sets.
const NEW_THREAD: u64 = 0x003d_0f00;
const DETACHED: u64 = 0x0040_0000;

/// Memory, time, threads of its own, and what was opened before.
const BASE: &[i64] = &[
    libc::SYS_brk,
    libc::SYS_clock_getres,
    libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep,
    libc::SYS_close,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_futex,
    libc::SYS_getpid,
    libc::SYS_getrandom,
    libc::SYS_getrusage,
    libc::SYS_gettid,
    libc::SYS_gettimeofday,
    libc::SYS_madvise,
    libc::SYS_mmap,
    libc::SYS_mprotect,
    libc::SYS_mremap,
    libc::SYS_munmap,
    libc::SYS_nanosleep,
    libc::SYS_read,
    libc::SYS_restart_syscall,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_yield,
    libc::SYS_sigaltstack,
    libc::SYS_write,
    libc::SYS_writev,
    // The filters above answer these; here they must not be in the way.
    libc::SYS_clone3,
    libc::SYS_openat2,
    libc::SYS_faccessat2,
    libc::SYS_rseq,
];

/// What an interpreter needs besides, to start, to load modules, and to wait for itself.
const INTERPRETER: &[i64] = &[
    libc::SYS_dup,
    libc::SYS_epoll_create1,
    libc::SYS_epoll_ctl,
    libc::SYS_epoll_pwait,
    libc::SYS_eventfd2,
    libc::SYS_execve,
    libc::SYS_faccessat,
    libc::SYS_fstat,
    libc::SYS_getcwd,
    libc::SYS_getdents64,
    libc::SYS_getegid,
    libc::SYS_geteuid,
    libc::SYS_getgid,
    libc::SYS_getppid,
    libc::SYS_getuid,
    libc::SYS_lseek,
    libc::SYS_membarrier,
    libc::SYS_newfstatat,
    libc::SYS_pipe2,
    libc::SYS_ppoll,
    libc::SYS_pread64,
    libc::SYS_pselect6,
    libc::SYS_readlinkat,
    libc::SYS_readv,
    libc::SYS_recvfrom,
    libc::SYS_set_robust_list,
    libc::SYS_set_tid_address,
    libc::SYS_statx,
    libc::SYS_sysinfo,
    libc::SYS_times,
    libc::SYS_uname,
];

/// The older spellings that only this architecture has.
#[cfg(target_arch = "x86_64")]
const OLDER: &[i64] = &[
    libc::SYS_access,
    libc::SYS_arch_prctl,
    libc::SYS_epoll_wait,
    libc::SYS_lstat,
    libc::SYS_pipe,
    libc::SYS_poll,
    libc::SYS_readlink,
    libc::SYS_select,
    libc::SYS_stat,
    libc::SYS_time,
];
#[cfg(not(target_arch = "x86_64"))]
const OLDER: &[i64] = &[];

/// The list of a worker that runs the code itself.
fn built_in(isolation: Isolation) -> Result<Rules, Box<dyn Error>> {
    let mut rules: Rules = BASE.iter().map(|it| (*it, Vec::new())).collect();
    rules.insert(libc::SYS_tgkill, own_process()?);
    if isolation == Isolation::Fork {
        allow_copies(&mut rules)?;
    }
    Ok(rules)
}

/// The list of a worker that becomes an interpreter.
fn interpreter(isolation: Isolation) -> Result<Rules, Box<dyn Error>> {
    let mut rules: Rules = [BASE, INTERPRETER, OLDER].concat().into_iter().map(|it| (it, Vec::new())).collect();
    let one = |argument, width, is, value| -> Result<Vec<SeccompRule>, Box<dyn Error>> {
        Ok(vec![SeccompRule::new(vec![Condition::new(argument, width, is, value)?])?])
    };
    rules.insert(libc::SYS_tgkill, own_process()?);
    // Only to read: no flag that writes, creates, cuts off or appends.
    let writing = u64::try_from(libc::O_ACCMODE | libc::O_CREAT | libc::O_TRUNC | libc::O_APPEND)?;
    rules.insert(libc::SYS_openat, one(2, Width::Dword, Is::MaskedEq(writing), 0)?);
    #[cfg(target_arch = "x86_64")]
    rules.insert(libc::SYS_open, one(1, Width::Dword, Is::MaskedEq(writing), 0)?);
    // Threads, not processes, and no namespaces.
    rules.insert(libc::SYS_clone, one(0, Width::Qword, Is::MaskedEq(!DETACHED), NEW_THREAD)?);
    // Limits are asked for, not set.
    rules.insert(libc::SYS_prlimit64, one(2, Width::Qword, Is::Eq, 0)?);
    // A pair of connected streams, with which event loops wake themselves; a datagram socket could send to any address.
    let stream = u64::try_from(libc::SOCK_STREAM)?;
    rules.insert(
        libc::SYS_socketpair,
        vec![SeccompRule::new(vec![
            Condition::new(0, Width::Dword, Is::Eq, u64::try_from(libc::AF_UNIX)?)?,
            Condition::new(1, Width::Dword, Is::MaskedEq(0xf), stream)?,
        ])?],
    );
    rules.insert(libc::SYS_sendto, one(4, Width::Qword, Is::Eq, 0)?);
    let requests = [libc::TCGETS, libc::FIONBIO, libc::FIOCLEX, libc::FIONREAD, libc::TIOCGWINSZ];
    let mut harmless = Vec::new();
    for request in requests {
        harmless.extend(one(1, Width::Dword, Is::Eq, u64::from(u32::try_from(request)?))?);
    }
    rules.insert(libc::SYS_ioctl, harmless);
    let mut harmless = Vec::new();
    for request in [libc::F_GETFD, libc::F_SETFD, libc::F_GETFL, libc::F_SETFL, libc::F_DUPFD, libc::F_DUPFD_CLOEXEC] {
        harmless.extend(one(1, Width::Dword, Is::Eq, u64::try_from(request)?)?);
    }
    rules.insert(libc::SYS_fcntl, harmless);
    // Names of threads and of memory.
    let mut harmless = one(0, Width::Dword, Is::Eq, u64::try_from(libc::PR_SET_NAME)?)?;
    harmless.extend(one(0, Width::Dword, Is::Eq, u64::try_from(libc::PR_SET_VMA)?)?);
    rules.insert(libc::SYS_prctl, harmless);
    if isolation == Isolation::Fork {
        allow_copies(&mut rules)?;
    }
    Ok(rules)
}

/// Signals to threads of its own process, which is how a program aborts. The process id stays the same after `execve`.
fn own_process() -> Result<Vec<SeccompRule>, Box<dyn Error>> {
    let own = u64::from(std::process::id());
    Ok(vec![SeccompRule::new(vec![Condition::new(0, Width::Dword, Is::Eq, own)?])?])
}

/// A process that makes copies of itself makes them with plain `fork`, waits for them, and each copy puts a filter on itself first thing.
fn allow_copies(rules: &mut Rules) -> Result<(), Box<dyn Error>> {
    let signal = u64::try_from(libc::SIGCHLD)?;
    let settings = u64::try_from(libc::CLONE_CHILD_CLEARTID | libc::CLONE_CHILD_SETTID)?;
    let copy = SeccompRule::new(vec![Condition::new(0, Width::Qword, Is::MaskedEq(!settings), signal)?])?;
    rules.entry(libc::SYS_clone).or_default().push(copy);
    #[cfg(target_arch = "x86_64")]
    rules.insert(libc::SYS_fork, Vec::new());
    rules.insert(libc::SYS_wait4, Vec::new());
    rules.insert(libc::SYS_getppid, Vec::new());
    rules.insert(libc::SYS_set_robust_list, Vec::new());
    rules.insert(libc::SYS_pipe2, Vec::new());
    let options = rules.entry(libc::SYS_prctl).or_default();
    for option in [libc::PR_SET_SECCOMP, libc::PR_SET_PDEATHSIG, libc::PR_SET_NO_NEW_PRIVS] {
        options.push(SeccompRule::new(vec![Condition::new(0, Width::Dword, Is::Eq, u64::try_from(option)?)?])?);
    }
    rules.insert(libc::SYS_seccomp, Vec::new());
    Ok(())
}
