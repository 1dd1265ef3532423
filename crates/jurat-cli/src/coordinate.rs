//! `jurat coordinate`: one budget and one set of limits for all processes that run the shards of a plan.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use clap::Args;
use jurat::shards::{Coordinator, Limits, Shards, Standing};
use jurat_report::counted;

use crate::count::{at_least_one, count, dollars};
use crate::exit::Exit;
use crate::failure::{Failure, exit};
use crate::interrupt;

/// Leases budget, concurrency and rates to the processes that run shards
///
/// Start it before the shards, on a machine that all of them reach, and give its address to each: `jurat run --shard DIR:N --coordinator URL`. What is spent and what is
/// leased never exceed the budget together, also when processes die. It writes down what it leases: started again, it continues. It ends when all shards are done; after Ctrl-C it
/// leases nothing more, and ends when no process has a lease.
#[derive(Args)]
pub(crate) struct Coordinate {
    /// The directory of the plan
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Spend at most this amount in US dollars
    #[arg(long, value_name = "USD", value_parser = dollars, allow_negative_numbers = true)]
    budget_usd: Option<f64>,
    /// Use at most N tokens, input and output together
    #[arg(long, value_name = "N", value_parser = count)]
    budget_tokens: Option<u64>,
    /// Make at most N requests
    #[arg(long, value_name = "N", value_parser = count)]
    budget_calls: Option<u64>,
    /// Maximum concurrent requests of all processes; lowered automatically while the provider throttles
    #[arg(long, short = 'j', value_name = "N", value_parser = at_least_one)]
    concurrency: Option<NonZeroUsize>,
    /// Maximum requests per minute of all processes
    #[arg(long, value_name = "N", value_parser = count)]
    rpm: Option<u64>,
    /// Maximum tokens per minute of all processes
    #[arg(long, value_name = "N", value_parser = count)]
    tpm: Option<u64>,
    /// Address to listen on. Another than loopback is reached by other machines: the network must be one that you trust
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7420")]
    listen: SocketAddr,
}

/// How often it looks whether all is done.
const LOOK: Duration = Duration::from_millis(200);

impl Coordinate {
    pub(crate) fn run(&self) -> Exit {
        exit(self.coordinate())
    }

    fn coordinate(&self) -> Result<Exit, Failure> {
        let shards = Shards::open(&self.directory)?;
        let limits = Limits {
            nano_usd: self.budget_usd.map(|it| (it * 1e9).floor() as u64),
            tokens: self.budget_tokens,
            calls: self.budget_calls,
            concurrency: self.concurrency.map(|it| u32::try_from(it.get()).unwrap_or(u32::MAX)),
            rpm: self.rpm,
            tpm: self.tpm,
        };
        let coordinator = Arc::new(shards.coordinate(limits, self.listen)?);
        let url = coordinator.url();
        let each = format!("run each:  jurat run --shard {}:N --coordinator {url}", self.directory.display());
        writeln!(io::stdout(), "{url}\n{each}")?;
        io::stdout().flush()?;
        let signals = Arc::new(Signals::default());
        let (heard, stopped) = (Arc::clone(&signals), Arc::clone(&coordinator));
        interrupt::on_each(move |n_before| heard.hear(n_before, &stopped));
        let ended = signals.wait_for(&coordinator);
        let Standing { n_done, n_planned, spent, .. } = coordinator.standing();
        let (calls, usd) = (counted(spent.calls, "request"), spent.nano_usd as f64 / 1e9);
        writeln!(io::stdout(), "{n_done} of {n_planned} shards done, {calls}, ${usd:.6} spent")?;
        Ok(ended)
    }
}

/// Signals that came.
#[derive(Debug, Default)]
struct Signals {
    n: AtomicU32,
    lock: Mutex<()>,
    came: Condvar,
}

impl Signals {
    fn hear(&self, n_before: u32, coordinator: &Coordinator) {
        // When that cannot be written down, the second signal ends it all the same.
        let _ = coordinator.stop();
        self.n.store(n_before + 1, Ordering::Relaxed);
        self.came.notify_all();
    }

    /// Waits until all shards are done, or until it is stopped and no process has a lease.
    fn wait_for(&self, coordinator: &Coordinator) -> Exit {
        let mut guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let Standing { n_done, n_planned, n_workers, .. } = coordinator.standing();
            if n_done == n_planned {
                return Exit::Good;
            }
            let is_idle = n_workers == 0;
            match self.n.load(Ordering::Relaxed) {
                0 => {}
                1 if !is_idle => {}
                _ => return Exit::Interrupted,
            }
            guard = self.came.wait_timeout(guard, LOOK).map_or_else(|it| it.into_inner().0, |it| it.0);
        }
    }
}
