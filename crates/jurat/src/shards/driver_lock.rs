//! The right to run all shards of a directory.
//!
//! On one machine it is a lock of the system, which is gone with its process. Between machines such a lock may not hold, so the file says who has it, and when that was last so: a process of another machine
//! that was silent for a minute is taken for dead only with `--take-over`.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use jurat_engine::now_ms;
use jurat_engine::shards::ShardError;
use serde::{Deserialize, Serialize};

use super::wrong;
use crate::Error;

const NAME: &str = "driver.lock";
/// How often a process says that it is there.
const BEAT: Duration = Duration::from_secs(10);
/// For how long a process is silent that may be taken for dead.
const SILENCE_MS: u64 = 60_000;

/// The right to run all shards of a directory, until it is dropped. The system drops it when the process dies.
#[derive(Debug)]
pub struct DriverLock {
    /// Ends the thread when it is dropped.
    beating: Option<(Sender<()>, JoinHandle<()>)>,
}

/// Who has a lock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Holder {
    host: String,
    process: u32,
    since_ms: u64,
    seen_ms: u64,
}

/// Claims a directory. With `take_over`, also where a process of another machine has it that was silent for a minute.
pub(super) fn lock(directory: &Path, take_over: bool) -> Result<DriverLock, Error> {
    let path = directory.join(NAME);
    let failed = |source| wrong(ShardError::Io { path: path.clone(), source });
    let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
    let mut file = file.map_err(failed)?;
    let held = held(&mut file);
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(refused(directory, held.as_ref(), "")),
        Err(TryLockError::Error(source)) => return Err(failed(source)),
    }
    let now = now_ms();
    let own = Holder { host: host(), process: std::process::id(), since_ms: now, seen_ms: now };
    if let Some(held) = held.filter(|it| it.host != own.host) {
        let is_silent = held.seen_ms.saturating_add(SILENCE_MS) < now;
        match (is_silent, take_over) {
            (true, true) => {}
            (true, false) => {
                let advice =
                    "; it was silent for more than a minute: if it is gone, `--take-over` continues in its place";
                return Err(refused(directory, Some(&held), advice));
            }
            (false, _) => return Err(refused(directory, Some(&held), "")),
        }
    }
    write(&mut file, Some(&own)).map_err(failed)?;
    let (end, ended) = channel::<()>();
    let beat = move || {
        let mut own = own;
        while ended.recv_timeout(BEAT) == Err(RecvTimeoutError::Timeout) {
            own.seen_ms = now_ms();
            // Where it cannot be written, this process looks silent, and others ask before they take its place.
            let _ = write(&mut file, Some(&own));
        }
        let _ = write(&mut file, None);
    };
    let thread = thread::Builder::new().name("jurat-lock".to_owned()).spawn(beat).map_err(failed)?;
    Ok(DriverLock { beating: Some((end, thread)) })
}

impl Drop for DriverLock {
    fn drop(&mut self) {
        if let Some((end, thread)) = self.beating.take() {
            drop(end);
            let _ = thread.join();
        }
    }
}

fn refused(directory: &Path, held: Option<&Holder>, advice: &str) -> Error {
    let who = held.map_or_else(String::new, |Holder { host, process, since_ms, .. }| {
        let since = i64::try_from(*since_ms).ok().and_then(|it| jiff::Timestamp::from_millisecond(it).ok());
        let since = since.map_or_else(String::new, |it| format!(" since {it:.0}"));
        format!(" (process {process} on {host}{since})")
    });
    Error::Usage(format!("another process{who} runs the shards of `{}`{advice}", directory.display()))
}

/// The driver that the file names; none when it is empty, or half written.
fn held(file: &mut File) -> Option<Holder> {
    let mut text = String::new();
    file.read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

fn write(file: &mut File, holder: Option<&Holder>) -> io::Result<()> {
    let text = holder.map_or_else(String::new, |it| serde_json::to_string(it).expect("texts and numbers are JSON"));
    file.rewind()?;
    file.set_len(0)?;
    file.write_all(text.as_bytes())
}

/// The name of this machine. Without one, all machines are taken for one, and the lock of the system alone decides.
fn host() -> String {
    fs::read_to_string("/proc/sys/kernel/hostname").map(|it| it.trim().to_owned()).unwrap_or_default()
}
