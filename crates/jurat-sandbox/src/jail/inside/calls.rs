//! The system calls that programs do not have.
//!
//! Agents run shells, compilers and package managers, so this is a list of what is forbidden: what changes the machine, looks into other processes, or reaches large
//! parts of the kernel that no agent needs. Namespaces and capabilities forbid most of it already; this is a second line of defence.

use std::collections::BTreeMap;
use std::error::Error;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen as Width, SeccompCmpOp as Is, SeccompCondition as Condition,
    SeccompRule, sock_filter,
};

use crate::worker::calls::program;

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// The filters that a program runs under. All of them are asked; the strictest answer counts.
pub(super) fn filters() -> Result<Vec<BpfProgram>, Box<dyn Error>> {
    let errno = |number: i32| SeccompAction::Errno(number.unsigned_abs());
    let refused: Rules = REFUSED.iter().map(|it| (*it, Vec::new())).chain(conditional()?).chain(families()?).collect();
    // Libraries have another way when a call does not exist, and none when it is forbidden.
    let absent: Rules = ABSENT.iter().map(|it| (*it, Vec::new())).collect();
    let mut absent = program(absent, SeccompAction::Allow, errno(libc::ENOSYS))?;
    if cfg!(target_arch = "x86_64") {
        absent.splice(0..0, no_second_numbers());
    }
    // The kernel takes its time with each filter, so there are no more of them than there are answers.
    Ok(vec![program(refused, SeccompAction::Allow, errno(libc::EPERM))?, absent])
}

/// Calls that fail as not permitted.
const REFUSED: &[i64] = &[
    // Mounts and roots.
    libc::SYS_chroot,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_mount,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_name_to_handle_at,
    libc::SYS_open_by_handle_at,
    libc::SYS_open_tree,
    libc::SYS_pivot_root,
    libc::SYS_umount2,
    // Namespaces.
    libc::SYS_setns,
    libc::SYS_unshare,
    // Other processes.
    libc::SYS_kcmp,
    libc::SYS_pidfd_getfd,
    libc::SYS_process_madvise,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_ptrace,
    // Keys.
    libc::SYS_add_key,
    libc::SYS_keyctl,
    libc::SYS_request_key,
    // Programs in the kernel, and looking at it.
    libc::SYS_bpf,
    libc::SYS_delete_module,
    libc::SYS_fanotify_init,
    libc::SYS_finit_module,
    libc::SYS_init_module,
    libc::SYS_kexec_load,
    libc::SYS_lookup_dcookie,
    libc::SYS_perf_event_open,
    libc::SYS_syslog,
    libc::SYS_userfaultfd,
    // The machine.
    libc::SYS_acct,
    libc::SYS_adjtimex,
    libc::SYS_clock_adjtime,
    libc::SYS_clock_settime,
    libc::SYS_nfsservctl,
    libc::SYS_quotactl,
    libc::SYS_reboot,
    libc::SYS_setdomainname,
    libc::SYS_sethostname,
    libc::SYS_settimeofday,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_vhangup,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_kexec_file_load,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_modify_ldt,
];

/// Calls that fail as if there were none. `clone3` has its flags where no filter can see them. Files in memory that no process has mapped count against no process.
const ABSENT: &[i64] = &[
    libc::SYS_clone3,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_io_uring_setup,
    libc::SYS_memfd_create,
    libc::SYS_memfd_secret,
];

/// Flags of `clone` that make namespaces.
const NAMESPACES: u64 = 0x7e02_0080;

/// Calls that fail with some arguments.
fn conditional() -> Result<Rules, Box<dyn Error>> {
    let mut rules = Rules::new();
    let mut clone = Vec::new();
    for bit in (0..64).map(|it| 1 << it).filter(|it| NAMESPACES & it != 0) {
        clone.push(SeccompRule::new(vec![Condition::new(0, Width::Qword, Is::MaskedEq(bit), bit)?])?);
    }
    rules.insert(libc::SYS_clone, clone);
    // Writing into a terminal as if its user had.
    let mut ioctl = Vec::new();
    for request in [libc::TIOCSTI, libc::TIOCLINUX] {
        ioctl.push(SeccompRule::new(vec![Condition::new(
            1,
            Width::Dword,
            Is::Eq,
            u64::from(u32::try_from(request)?),
        )?])?);
    }
    rules.insert(libc::SYS_ioctl, ioctl);
    // Devices. Pipes and sockets are files like others.
    let kind = u64::from(libc::S_IFMT);
    let mut calls = vec![(libc::SYS_mknodat, 2)];
    #[cfg(target_arch = "x86_64")]
    calls.push((libc::SYS_mknod, 1));
    for (call, argument) in calls {
        let mut made = Vec::new();
        for device in [libc::S_IFCHR, libc::S_IFBLK] {
            made.push(SeccompRule::new(vec![Condition::new(
                argument,
                Width::Dword,
                Is::MaskedEq(kind),
                u64::from(device),
            )?])?);
        }
        rules.insert(call, made);
    }
    Ok(rules)
}

/// Sockets of other families than these: some of them lead out of every namespace, to the machine that this one runs on for example.
fn families() -> Result<Rules, Box<dyn Error>> {
    let known = [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];
    let mut others = Vec::new();
    for family in known {
        others.push(Condition::new(0, Width::Dword, Is::Ne, u64::from(family.unsigned_abs()))?);
    }
    // Of netlink only what reports addresses.
    let netlink = Condition::new(0, Width::Dword, Is::Eq, u64::from(libc::AF_NETLINK.unsigned_abs()))?;
    let not_route = Condition::new(2, Width::Dword, Is::Ne, u64::from(libc::NETLINK_ROUTE.unsigned_abs()))?;
    // What reads and writes packets below the protocols.
    let is_raw = Condition::new(1, Width::Dword, Is::MaskedEq(0xf), u64::from(libc::SOCK_RAW.unsigned_abs()))?;
    let is_not_netlink = Condition::new(0, Width::Dword, Is::Ne, u64::from(libc::AF_NETLINK.unsigned_abs()))?;
    let rules = vec![
        SeccompRule::new(others)?,
        SeccompRule::new(vec![netlink, not_route])?,
        SeccompRule::new(vec![is_raw, is_not_netlink])?,
    ];
    Ok(Rules::from([(libc::SYS_socket, rules)]))
}

/// This architecture has a second set of numbers for the same calls, which no list would know. It is put before a filter program, which continues after it.
fn no_second_numbers() -> [sock_filter; 3] {
    const SECOND: u32 = 0x4000_0000;
    let not_implemented = libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs();
    let instruction =
        |code: u32, jt, jf, k| sock_filter { code: u16::try_from(code).expect("codes have 16 bits"), jt, jf, k };
    [
        // The number of the call is the first word of what a filter sees.
        instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        instruction(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, 0, 1, SECOND),
        instruction(libc::BPF_RET | libc::BPF_K, 0, 0, not_implemented),
    ]
}
