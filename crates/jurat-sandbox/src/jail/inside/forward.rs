//! Ports of a jail's loopback that lead to sockets of the machine.
//!
//! One thread passes on all of it, because threads count among the program's processes and a program that takes them all must not be able to stop it.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::{Pid, PidfdFlags, WaitOptions};

/// How many connections there are at a time. More wait to be accepted.
const CONNECTIONS: usize = 256;

/// How much is under way in each direction.
const BUFFER: usize = 64 << 10;

/// All ports of a jail.
#[derive(Debug, Default)]
pub(super) struct Forwards {
    ports: Vec<(TcpListener, PathBuf)>,
    /// What the paths above stand for.
    _sockets: Vec<OwnedFd>,
    connections: Vec<Connection>,
}

impl Forwards {
    /// Listens on ports that lead to sockets.
    pub(super) fn listen(sockets: Vec<(u16, OwnedFd)>) -> io::Result<Forwards> {
        let mut forwards = Forwards::default();
        for (port, socket) in sockets {
            // The socket has no name here; its descriptor does.
            forwards.add(port, PathBuf::from(format!("/proc/self/fd/{}", socket.as_raw_fd())))?;
            forwards._sockets.push(socket);
        }
        Ok(forwards)
    }

    fn add(&mut self, port: u16, socket: PathBuf) -> io::Result<()> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        listener.set_nonblocking(true)?;
        self.ports.push((listener, socket));
        Ok(())
    }

    pub(super) fn interests(&self) -> impl Iterator<Item = PollFd<'_>> {
        let is_open = self.connections.len() < CONNECTIONS;
        let ports = self.ports.iter().filter(move |_| is_open).map(|(it, _)| PollFd::new(it, PollFlags::IN));
        ports.chain(self.connections.iter().flat_map(Connection::interests))
    }

    /// Accepts connections, and passes on what has come.
    pub(super) fn pass_on(&mut self) {
        for (listener, socket) in &self.ports {
            while self.connections.len() < CONNECTIONS
                && let Ok((client, _)) = listener.accept()
            {
                // A client that cannot be connected sees its connection close.
                self.connections.extend(Connection::new(client, socket).ok());
            }
        }
        self.connections.retain_mut(Connection::pass_on);
    }
}

/// A connection and the one that it is passed on to.
#[derive(Debug)]
struct Connection {
    client: TcpStream,
    server: UnixStream,
    up: Buffer,
    down: Buffer,
}

impl Connection {
    fn new(client: TcpStream, socket: &Path) -> io::Result<Connection> {
        let server = UnixStream::connect(socket)?;
        client.set_nonblocking(true)?;
        client.set_nodelay(true)?;
        server.set_nonblocking(true)?;
        Ok(Connection { client, server, up: Buffer::default(), down: Buffer::default() })
    }

    fn interests(&self) -> impl Iterator<Item = PollFd<'_>> {
        let flags = |reads: &Buffer, writes: &Buffer| {
            let mut flags = PollFlags::empty();
            flags |= if reads.wants_more() { PollFlags::IN } else { PollFlags::empty() };
            flags | if writes.is_empty() { PollFlags::empty() } else { PollFlags::OUT }
        };
        let client = (flags(&self.up, &self.down), PollFd::new(&self.client, flags(&self.up, &self.down)));
        let server = (flags(&self.down, &self.up), PollFd::new(&self.server, flags(&self.down, &self.up)));
        // A side that nothing is wanted of would wake us for ever once it is closed.
        [client, server].into_iter().filter(|(it, _)| !it.is_empty()).map(|(_, it)| it)
    }

    /// Whether there is more to come.
    fn pass_on(&mut self) -> bool {
        let up = self.up.pass_on(&mut self.client, &mut self.server, |it| it.shutdown(Shutdown::Write));
        let down = self.down.pass_on(&mut self.server, &mut self.client, |it| it.shutdown(Shutdown::Write));
        match (up, down) {
            (Ok(()), Ok(())) => !(self.up.is_over && self.down.is_over),
            _ => false,
        }
    }
}

/// What is under way in one direction.
#[derive(Debug, Default)]
struct Buffer {
    bytes: Vec<u8>,
    is_read: bool,
    is_over: bool,
}

impl Buffer {
    fn wants_more(&self) -> bool {
        !self.is_read && self.bytes.len() < BUFFER
    }

    fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    fn pass_on<T: Write>(
        &mut self,
        from: &mut impl Read,
        to: &mut T,
        close: impl FnOnce(&T) -> io::Result<()>,
    ) -> io::Result<()> {
        let would_block =
            |error: &io::Error| matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted);
        if self.wants_more() {
            let mut chunk = [0; BUFFER];
            match from.read(&mut chunk) {
                Ok(0) => self.is_read = true,
                Ok(n) => self.bytes.extend_from_slice(&chunk[..n]),
                Err(error) if would_block(&error) => {}
                Err(error) => return Err(error),
            }
        }
        while !self.bytes.is_empty() {
            match to.write(&self.bytes) {
                Ok(n) => drop(self.bytes.drain(..n)),
                Err(error) if would_block(&error) => break,
                Err(error) => return Err(error),
            }
        }
        if self.is_read && self.bytes.is_empty() && !self.is_over {
            self.is_over = true;
            // The other side may be gone already, and then it knows.
            close(to).unwrap_or_default();
        }
        Ok(())
    }
}

/// Stands between a program and sockets, in a container: `PORT=SOCKET … -- PROGRAM ARGUMENT …`. Ends with the program's status.
pub(crate) fn stand_between(mut words: impl Iterator<Item = OsString>) -> u8 {
    let mut forwards = Forwards::default();
    for word in words.by_ref().take_while(|it| it != "--") {
        let Some((port, socket)) = word.to_str().and_then(|it| it.split_once('=')) else { return 125 };
        let Ok(port) = port.parse() else { return 125 };
        if let Err(error) = forwards.add(port, PathBuf::from(socket)) {
            eprintln!("jurat: port {port}: {error}");
            return 125;
        }
    }
    let Some(program) = words.next() else { return 125 };
    let mut command = Command::new(&program);
    let child = match command.args(words).process_group(0).spawn() {
        Ok(child) => child,
        Err(error) => {
            eprintln!("jurat: `{}`: {error}", program.to_string_lossy());
            return 127;
        }
    };
    let id = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let Some((id, pidfd)) = id.and_then(|it| Some((it, rustix::process::pidfd_open(it, PidfdFlags::empty()).ok()?)))
    else {
        return 125;
    };
    loop {
        let mut fds: Vec<_> = [PollFd::new(&pidfd, PollFlags::IN)].into_iter().chain(forwards.interests()).collect();
        let long = Duration::from_secs(10);
        let long = Timespec { tv_sec: i64::try_from(long.as_secs()).unwrap_or(10), tv_nsec: 0 };
        rustix::event::poll(&mut fds, Some(&long)).map(drop).unwrap_or_default();
        forwards.pass_on();
        if let Ok(Some((_, status))) = rustix::process::waitpid(Some(id), WaitOptions::NOHANG) {
            let code = status.exit_status().or(status.terminating_signal().map(|it| 128 + it)).unwrap_or(125);
            return u8::try_from(code).unwrap_or(125);
        }
    }
}
