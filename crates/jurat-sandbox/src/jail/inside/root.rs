//! The file system of a jail.
//!
//! Everything that is going to be seen is taken hold of first. Then there is an empty file system in memory, into which it is put, and which becomes the root. The
//! machine's own root is let go of, so there is no way back to it, and the new root cannot be written.

use std::ffi::{CStr, CString, OsStr, OsString};
use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags};
use rustix::mount::{MountFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, UnmountFlags};

use super::guard::is_root_outside;
use super::namespaces::ID;
use super::others::Shown;
use super::{Broken, target};
use crate::jail::orders::{Enter, Orders};
use crate::jail::{Limit, Mechanism, Protection};

/// What was made besides the file system.
#[derive(Debug, Default)]
pub(super) struct Made {
    /// Sockets of the machine, by the ports that lead to them.
    pub(super) sockets: Vec<(u16, OwnedFd)>,
    /// Limits that are in force.
    pub(super) enforced: Vec<(Limit, Mechanism)>,
}

/// Begins to build it, with what does not depend on the program. Of the system's folders some are mounted already.
pub(super) fn begin(what: &Enter, shown: Vec<Shown>) -> Result<(), Broken> {
    // What is mounted from here on is of no concern to the machine.
    let change = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    rustix::mount::mount_change("/", change).map_err(|it| Broken::at("mounts cannot be made private")(it.into()))?;
    if what.ipc {
        rustix::system::sethostname(b"jurat").map_err(|it| Broken::at("the host name cannot be set")(it.into()))?;
    }
    if what.network {
        loopback().map_err(Broken::at("the loopback cannot be brought up"))?;
    }
    if what.files {
        let system = system_parts(what, shown).map_err(Broken::at("the system's programs cannot be shown"))?;
        ground().map_err(Broken::at("there is no root"))?;
        lay_out(&system).map_err(Broken::at("the root cannot be filled"))?;
    }
    Ok(())
}

/// Builds the rest and goes there.
pub(super) fn build(orders: &Orders) -> Result<Made, Broken> {
    let mut made = Made::default();
    for (port, socket) in &orders.forwards {
        let opened = rustix::fs::openat(CWD, socket, OFlags::PATH | OFlags::CLOEXEC, Mode::empty());
        let opened = opened.map_err(|it| Broken::Folder { path: socket.clone(), error: it.into() })?;
        made.sockets.push((*port, opened));
    }
    if orders.has(Protection::Files) {
        pivot(orders, &mut made)?;
    }
    Ok(made)
}

/// An empty root in memory, and going there. Any folder will do to put it on, if nothing that is going to be shown is below it.
fn ground() -> io::Result<()> {
    let candidates = ["/sys", "/mnt", "/media", "/srv"];
    let ground = candidates.into_iter().find(|it| Path::new(it).is_dir());
    let ground = ground.ok_or_else(|| io::Error::other("there is no `/sys` to put it on"))?;
    let empty = MountFlags::NOSUID | MountFlags::NODEV;
    rustix::mount::mount("tmpfs", ground, "tmpfs", empty, c"mode=0755,size=16m,nr_inodes=4096")?;
    Ok(rustix::process::chdir(ground)?)
}

/// Programs and libraries, wherever distributions have them.
pub(super) const SYSTEM: [&str; 10] =
    ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store", "/run/current-system"];

/// What programs need to find their libraries, certificates and time zones. Nothing of it is a secret.
const SETTINGS: [&str; 22] = [
    "alternatives",
    "bash.bashrc",
    "ca-certificates",
    "ca-certificates.conf",
    "crypto-policies",
    "fonts",
    "gai.conf",
    "host.conf",
    "inputrc",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "magic",
    "mime.types",
    "nsswitch.conf",
    "pki",
    "protocols",
    "services",
    "ssl",
    "terminfo",
    "timezone",
];

const DEVICES: [&str; 5] = ["null", "zero", "full", "random", "urandom"];

/// The parts of `/proc` that concern the machine and that root outside can write.
const KERNEL: [&str; 12] = [
    "sys",
    "sysrq-trigger",
    "irq",
    "bus",
    "fs",
    "asound",
    "acpi",
    "driver",
    "dynamic_debug",
    "mtrr",
    "pressure",
    "scsi",
];

/// What of `/proc` shows more of the machine than a program needs.
const HIDDEN: [&str; 6] = ["kcore", "keys", "kmsg", "latency_stats", "sched_debug", "timer_list"];

/// Something that is going to be seen.
struct Part {
    tree: OwnedFd,
    target: PathBuf,
    is_folder: bool,
}

fn pivot(orders: &Orders, made: &mut Made) -> Result<(), Broken> {
    show_parts(orders)?;
    processes(orders, made)?;
    let is_there = || -> rustix::io::Result<()> {
        rustix::process::pivot_root(".", ".")?;
        // The old root lies on the new one.
        rustix::mount::unmount(".", UnmountFlags::DETACH)?;
        rustix::process::chdir("/")
    };
    is_there().map_err(|it| Broken::at("the root cannot be changed")(it.into()))?;
    let root = rustix::fs::openat(CWD, "/", OFlags::PATH | OFlags::CLOEXEC, Mode::empty());
    root.map_err(io::Error::from)
        .and_then(|it| Attributes { is_recursive: false, ..Attributes::READ_ONLY }.set(it.as_fd()))
        .map_err(Broken::at("the root cannot be closed"))
}

/// Shows the folders of the program and what it may read. What lies below a folder that an earlier program could write comes last, and no link in its path is followed:
/// the machine's own root is still there for a link to lead to.
fn show_parts(orders: &Orders) -> Result<(), Broken> {
    let mut writable = Vec::new();
    for (here, there) in &orders.writable {
        writable.push(folder_part(here, there, Attributes::WRITABLE)?);
    }
    let mut outer = Vec::new();
    let mut inner = Vec::new();
    for path in &orders.read_only {
        if !is_usable(Path::new(path)) {
            let error = io::Error::from_raw_os_error(libc::EINVAL);
            return Err(Broken::Folder { path: path.clone(), error });
        }
        let part = folder_part(path, path, Attributes::READ_ONLY)?;
        match writable.iter().find(|it| part.target.starts_with(&it.target)) {
            Some(above) => inner.push((part, above.target.clone())),
            None => outer.push(part),
        }
    }
    let failed = |part: &Part, error| Broken::Folder { path: part.target.clone().into_os_string(), error };
    for part in outer.iter().chain(&writable) {
        part.put().map_err(|error| failed(part, error))?;
    }
    for (part, above) in &inner {
        part.put_below(above).map_err(|error| failed(part, error))?;
    }
    Ok(())
}

/// Whether a path can be shown as it is.
fn is_usable(path: &Path) -> bool {
    let is_plain = path.components().all(|it| !matches!(it, Component::ParentDir | Component::CurDir));
    let is_of_kernel = ["/proc", "/sys", "/dev"].iter().any(|it| path.starts_with(it));
    path.is_absolute() && path != Path::new("/") && is_plain && !is_of_kernel
}

/// The system's programs and settings.
#[derive(Default)]
struct System {
    parts: Vec<Part>,
    devices: Vec<Part>,
    /// Where they point, and where they are.
    links: Vec<(PathBuf, PathBuf)>,
    /// Small files, as they are now. To copy one costs less than to mount it.
    copies: Vec<(PathBuf, Vec<u8>)>,
    /// Settings that only root may read, and whether each is a folder. If jurat is root outside, the program could read them, too.
    private: Vec<(PathBuf, bool)>,
}

/// The largest file that is copied.
const SMALL: u64 = 256 << 10;

/// Links as links, folders as they are.
fn system_parts(what: &Enter, shown: Vec<Shown>) -> io::Result<System> {
    let devices = DEVICES.iter().map(|it| device(it)).collect::<io::Result<_>>()?;
    let mut system = System { devices, ..System::default() };
    let is_shown: Vec<PathBuf> = shown.iter().map(|(path, _)| path.clone()).collect();
    let parts = shown.into_iter().map(|(target, tree)| Part { tree, target, is_folder: true });
    system.parts.extend(parts);
    // Host names are looked up only where a resolver can be reached.
    let resolver = (!what.network).then_some("resolv.conf");
    let settings = SETTINGS.into_iter().chain(resolver).map(|it| Path::new("/etc").join(it));
    let others = SYSTEM.iter().map(PathBuf::from).filter(|it| !is_shown.contains(it));
    for path in others.chain(settings) {
        let Ok(found) = path.symlink_metadata() else { continue };
        if found.is_symlink() && !path.ends_with("resolv.conf") {
            system.links.push((fs::read_link(&path)?, path));
        } else if found.is_dir() || found.len() > SMALL {
            system.parts.push(Part::of(path.as_os_str(), path.as_os_str(), Attributes::READ_ONLY)?);
            if path.starts_with("/etc") && is_root_outside() {
                system.private.extend(private_in(&path));
            }
        } else if found.mode() & 0o004 == 0 {
            continue;
        } else if let Ok(bytes) = fs::read(&path) {
            system.copies.push((path, bytes));
        }
    }
    Ok(system)
}

/// What other users may not read, from a folder downwards.
fn private_in(folder: &Path) -> Vec<(PathBuf, bool)> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let Ok(metadata) = entry.metadata() else { continue };
            let needed = if metadata.is_dir() { 0o005 } else { 0o004 };
            if metadata.is_symlink() {
                continue;
            } else if metadata.mode() & needed != needed {
                found.push((entry.path(), metadata.is_dir()));
            } else if metadata.is_dir() {
                open.push(entry.path());
            }
        }
    }
    found
}

/// Puts something empty on what must not be read.
fn hide(path: &Path, is_folder: bool) -> io::Result<()> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
    let empty = rustix::mount::open_tree(CWD, if is_folder { "root" } else { "dev/null" }, flags)?;
    Attributes { is_recursive: false, ..Attributes::READ_ONLY }.set(empty.as_fd())?;
    Ok(rustix::mount::move_mount(&empty, c"", CWD, path, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?)
}

fn folder_part(here: &OsStr, there: &OsStr, attributes: Attributes) -> Result<Part, Broken> {
    Part::of(here, there, attributes).map_err(|error| Broken::Folder { path: here.to_owned(), error })
}

fn device(name: &str) -> io::Result<Part> {
    let path = OsString::from(format!("/dev/{name}"));
    Part::of(&path, &path, Attributes::DEVICE)
}

impl Part {
    fn of(here: &OsStr, there: &OsStr, attributes: Attributes) -> io::Result<Part> {
        let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_RECURSIVE;
        let tree = rustix::mount::open_tree(CWD, here, flags)?;
        attributes.set(tree.as_fd())?;
        let is_folder = Path::new(here).is_dir();
        Ok(Part { tree, target: PathBuf::from(there), is_folder })
    }

    /// Puts it below the new root, which is where we are and where no program could write yet.
    fn put(&self) -> io::Result<()> {
        let root = rustix::fs::openat(CWD, ".", OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        self.mount_on(&target::of_system(&root, &below(&self.target), self.is_folder)?)
    }

    /// Puts it below a folder that a program could write.
    fn put_below(&self, above: &Path) -> io::Result<()> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let folder = rustix::fs::openat(CWD, below(above), flags, Mode::empty())?;
        let rest = self.target.strip_prefix(above).unwrap_or(Path::new(""));
        self.mount_on(&target::of_program(folder, rest, self.is_folder)?)
    }

    fn mount_on(&self, target: &OwnedFd) -> io::Result<()> {
        let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
        Ok(rustix::mount::move_mount(&self.tree, c"", target, c"", flags)?)
    }
}

fn below(path: &Path) -> PathBuf {
    path.strip_prefix("/").unwrap_or(path).to_owned()
}

fn parent(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)
}

fn lay_out(system: &System) -> io::Result<()> {
    for folder in ["dev/pts", "dev/shm", "etc", "proc", "root", "run", "var/tmp"] {
        fs::create_dir_all(folder)?;
    }
    for part in system.parts.iter().chain(&system.devices) {
        part.put()?;
    }
    for (path, is_folder) in &system.private {
        hide(&below(path), *is_folder)?;
    }
    for (path, bytes) in &system.copies {
        fs::write(below(path), bytes)?;
    }
    for (target, link) in &system.links {
        let link = below(link);
        parent(&link)?;
        std::os::unix::fs::symlink(target, link)?;
    }
    for (target, link) in [
        ("/proc/self/fd", "dev/fd"),
        ("fd/0", "dev/stdin"),
        ("fd/1", "dev/stdout"),
        ("fd/2", "dev/stderr"),
        ("pts/ptmx", "dev/ptmx"),
    ] {
        std::os::unix::fs::symlink(target, link)?;
    }
    fs::write(
        "etc/passwd",
        format!("agent:x:{ID}:{ID}:agent:/home/agent:/bin/sh\nnobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n"),
    )?;
    fs::write("etc/group", format!("agent:x:{ID}:\nnogroup:x:65534:\n"))?;
    fs::write("etc/hosts", "127.0.0.1 localhost jurat\n::1 localhost\n")?;
    fs::write("etc/hostname", "jurat\n")?;
    let closed = MountFlags::NOSUID | MountFlags::NODEV;
    rustix::mount::mount("tmpfs", "dev/shm", "tmpfs", closed, c"mode=1777,size=64m,nr_inodes=4096")?;
    // Terminals of its own; some agents run shells in them. Where there are none they do without.
    let terminals = MountFlags::NOSUID | MountFlags::NOEXEC;
    rustix::mount::mount("devpts", "dev/pts", "devpts", terminals, c"newinstance,ptmxmode=0666,mode=0620")
        .unwrap_or_default();
    Ok(())
}

/// Its own processes, and what else `/proc` has, without what changes the machine.
fn processes(orders: &Orders, made: &mut Made) -> Result<(), Broken> {
    if !orders.has(Protection::Processes) {
        let shown = Part::of(OsStr::new("/proc"), OsStr::new("/proc"), Attributes::DEVICE).and_then(|it| it.put());
        return shown.map_err(Broken::at("`/proc` cannot be shown"));
    }
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    rustix::mount::mount("proc", "proc", "proc", flags, None::<&CStr>)
        .map_err(|it| Broken::at("`/proc` cannot be mounted anew")(it.into()))?;
    // The kernel gives each namespace of processes a largest id of its own since 6.14, and there is no way around that. It has a least value, too.
    const LEAST: u64 = 301;
    if orders.has(Protection::Count)
        && orders.processes >= LEAST
        && kernel_is_since(6, 14)
        && fs::write("proc/sys/kernel/pid_max", orders.processes.to_string()).is_ok()
    {
        made.enforced.push((Limit::Processes, Mechanism::PidMax));
    }
    if !orders.has(Protection::Kernel) {
        return Ok(());
    }
    let close = || -> io::Result<()> {
        for name in KERNEL.iter().map(|it| Path::new("proc").join(it)).filter(|it| it.exists()) {
            let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
            let tree = rustix::mount::open_tree(CWD, &name, flags)?;
            Attributes { is_recursive: false, ..Attributes::READ_ONLY }.set(tree.as_fd())?;
            rustix::mount::move_mount(&tree, c"", CWD, &name, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?;
        }
        for name in HIDDEN.iter().map(|it| Path::new("proc").join(it)).filter(|it| it.exists()) {
            let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
            let tree = rustix::mount::open_tree(CWD, "dev/null", flags)?;
            rustix::mount::move_mount(&tree, c"", CWD, &name, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?;
        }
        Ok(())
    };
    close().map_err(Broken::at("`/proc` cannot be closed"))
}

/// Before that the setting is one for the whole machine, and root outside could change it.
fn kernel_is_since(major: u32, minor: u32) -> bool {
    let release = rustix::system::uname();
    let release = release.release().to_string_lossy();
    let mut numbers = release.split(|it: char| !it.is_ascii_digit()).map(str::parse::<u32>);
    let (Some(Ok(first)), Some(Ok(second))) = (numbers.next(), numbers.next()) else { return false };
    (first, second) >= (major, minor)
}

/// What a mount allows. The kernel adds them to what it forbids already.
#[derive(Clone, Copy)]
pub(super) struct Attributes {
    bits: u64,
    is_recursive: bool,
}

const RDONLY: u64 = 0x1;
const NOSUID: u64 = 0x2;
const NODEV: u64 = 0x4;
const NOEXEC: u64 = 0x8;
const IDMAP: u64 = 0x0010_0000;

impl Attributes {
    pub(super) const READ_ONLY: Attributes = Attributes { bits: RDONLY | NOSUID | NODEV, is_recursive: true };
    const WRITABLE: Attributes = Attributes { bits: NOSUID | NODEV, is_recursive: true };
    const DEVICE: Attributes = Attributes { bits: NOSUID | NOEXEC, is_recursive: true };

    fn set(self, tree: impl AsFd) -> io::Result<()> {
        self.set_with(tree, None)
    }

    /// The same, on which files belong to whom a user namespace says.
    #[allow(unsafe_code)]
    pub(super) fn set_with(self, tree: impl AsFd, owners: Option<&OwnedFd>) -> io::Result<()> {
        /// As the kernel has it.
        #[repr(C)]
        struct MountAttr {
            set: u64,
            clear: u64,
            propagation: u64,
            user_namespace: u64,
        }
        let user_namespace = owners.map_or(0, |it| u64::try_from(it.as_raw_fd()).unwrap_or(0));
        let set = self.bits | if owners.is_some() { IDMAP } else { 0 };
        let attributes = MountAttr { set, clear: 0, propagation: 0, user_namespace };
        let recursive = if self.is_recursive { libc::AT_RECURSIVE } else { 0 };
        let empty = CString::default();
        // SAFETY: the kernel reads an empty text and a value of the type and size that it is given, both of which outlive the call.
        let result = unsafe {
            libc::syscall(
                libc::SYS_mount_setattr,
                tree.as_fd().as_raw_fd(),
                empty.as_ptr(),
                libc::AT_EMPTY_PATH | recursive,
                std::ptr::from_ref(&attributes),
                size_of::<MountAttr>(),
            )
        };
        if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
}

/// Brings the loopback of a new network up.
#[allow(unsafe_code)]
fn loopback() -> io::Result<()> {
    use std::net::UdpSocket;
    // Any socket will do to speak of interfaces; an address is not needed for that.
    let socket = UdpSocket::bind("0.0.0.0:0")?;
    // SAFETY: all of it is numbers, for which zero is a value.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
        *to = libc::c_char::try_from(*from).unwrap_or_default();
    }
    request.ifr_ifru.ifru_flags = libc::c_short::try_from(libc::IFF_UP | libc::IFF_RUNNING).unwrap_or_default();
    // SAFETY: the descriptor is a socket, and the kernel reads a value of exactly this type, which outlives the call.
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, std::ptr::from_ref(&request)) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    #[test]
    fn links_of_the_system_are_absolute_or_below() {
        assert_eq!(super::below(std::path::Path::new("/usr/bin")), std::path::Path::new("usr/bin"));
    }
}
