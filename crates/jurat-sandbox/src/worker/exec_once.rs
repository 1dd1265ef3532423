//! Becoming another program once, and never again.
//!
//! The filter of system calls has to be in force before an interpreter starts, else the interpreter would have to be trusted to put it in
//! force. But starting one takes `execve`, which the author's code must not have. A filter cannot count. So it asks: a process that calls `execve` waits
//! for the word of a listener, which is a thread of the worker that says yes to the first call. Becoming another program ends that thread and closes the
//! listener, because it is closed on exec; without a listener the kernel answers "not implemented" to every later call. Nothing remains that could be
//! persuaded to say yes again.

use std::io;
use std::os::fd::RawFd;
use std::sync::mpsc;

use seccompiler::sock_filter;

/// The thread that says yes once.
#[derive(Debug)]
pub(super) struct Watcher(mpsc::Sender<RawFd>);

impl Watcher {
    /// Starts it. It must not be under the filters that the other thread is going to put in force, so it comes first.
    pub(super) fn start() -> io::Result<Watcher> {
        let (sender, receiver) = mpsc::channel();
        std::thread::Builder::new().name("exec-once".to_owned()).stack_size(64 << 10).spawn(move || {
            if let Ok(listener) = receiver.recv() {
                // When it cannot say yes, `execve` fails, and that is reported.
                say_yes(listener).unwrap_or_default();
            }
        })?;
        Ok(Watcher(sender))
    }

    /// Lets this thread become another program once. Filters that are put in force afterwards must allow `execve`.
    pub(super) fn allow(self) -> io::Result<()> {
        let listener = listen(&mut asking())?;
        self.0.send(listener).map_err(|_| io::Error::other("the watcher has ended"))
    }
}

/// Asks about `execve` and allows everything else; the list of calls comes on top of it.
fn asking() -> [sock_filter; 4] {
    let number = u32::try_from(libc::SYS_execve).expect("numbers of system calls are small");
    let instruction =
        |code: u32, jt, jf, k| sock_filter { code: u16::try_from(code).expect("codes have 16 bits"), jt, jf, k };
    [
        // The number of the call is the first word of what a filter sees. The list checks the architecture.
        instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        instruction(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, 1, number),
        instruction(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_USER_NOTIF),
        instruction(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ]
}

/// Puts a filter in force for this thread and returns the descriptor of its listener.
#[allow(unsafe_code)]
fn listen(program: &mut [sock_filter]) -> io::Result<RawFd> {
    let length = u16::try_from(program.len()).expect("the program is short");
    let program = libc::sock_fprog { len: length, filter: program.as_mut_ptr().cast() };
    // SAFETY: the kernel reads the program, which outlives the call, and `sock_filter` has the layout of the C type. It changes nothing of ours.
    let result = unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            libc::SECCOMP_FILTER_FLAG_NEW_LISTENER,
            std::ptr::from_ref(&program),
        )
    };
    RawFd::try_from(result).ok().filter(|it| *it >= 0).ok_or_else(io::Error::last_os_error)
}

/// Waits for one call and lets it continue.
#[allow(unsafe_code)]
fn say_yes(listener: RawFd) -> io::Result<()> {
    // SAFETY: both are plain numbers, for which zero is a value; the kernel insists on zeroes in what it fills in.
    let (mut asked, mut answer): (libc::seccomp_notif, libc::seccomp_notif_resp) = unsafe { std::mem::zeroed() };
    // SAFETY: the descriptor is a listener, and the kernel fills in a value of exactly this type, which lives as long as the call.
    if unsafe { libc::ioctl(listener, libc::SECCOMP_IOCTL_NOTIF_RECV, std::ptr::from_mut(&mut asked)) } < 0 {
        return Err(io::Error::last_os_error());
    }
    answer.id = asked.id;
    answer.flags = u32::try_from(libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE).expect("flags have 32 bits");
    // SAFETY: as above; the kernel reads the value.
    if unsafe { libc::ioctl(listener, libc::SECCOMP_IOCTL_NOTIF_SEND, std::ptr::from_mut(&mut answer)) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}
