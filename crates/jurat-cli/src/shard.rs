//! `jurat run --shard`: one shard of a plan.

use std::io::{self, Write};
use std::path::PathBuf;

use jurat::shards::{Allowance, ShardEnd, Shards};
use jurat::{RunOptions, StopReason};
use jurat_format::value::Val;
use jurat_report::counted;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::format::Format;
use crate::interrupt::Listener;
use crate::progress::{Shown, Shows};

/// A shard by the directory of its plan and its number.
#[derive(Debug, Clone)]
pub(crate) struct ShardName {
    directory: PathBuf,
    ix: u32,
}

impl ShardName {
    pub(crate) fn parse(text: &str) -> Result<ShardName, String> {
        let parts = text.rsplit_once(':').and_then(|(directory, ix)| Some((directory, ix.parse().ok()?)));
        match parts {
            Some((directory, ix)) if !directory.is_empty() => Ok(ShardName { directory: directory.into(), ix }),
            _ => Err("write the directory of the plan and the number of the shard, for example `parts:3`".to_owned()),
        }
    }
}

/// Runs a shard. How its cases end does not change how the command ends: that is for the merged run.
pub(crate) fn run(
    name: &ShardName,
    options: RunOptions,
    allowance: Allowance,
    shows: Shows,
    format: Format,
) -> Result<Exit, Failure> {
    refuse_planned(&options)?;
    let ix = name.ix;
    let shards = Shards::open(&name.directory)?;
    let started = shards.start_with(ix, options, allowance, |note| {
        let _ = writeln!(io::stderr(), "{}", jurat_report::visible_line(&note.to_string()));
    })?;
    let Some(started) = started else { return print(format, ix, "done", &format!("shard {ix} was done before")) };
    let listener = Listener::start(started.watch());
    let shown = Shown::start(started.watch(), shows);
    let ended = started.wait();
    drop(shown);
    listener.run_is_over();
    match ended? {
        ShardEnd::Done { cases } => {
            let counts = format!("{}, {} failed, {} errors", counted(cases.total(), "case"), cases.failed, cases.error);
            print(format, ix, "done", &format!("shard {ix}: {counts}"))
        }
        ShardEnd::Stopped(reason) => {
            print(
                format,
                ix,
                reason.name(),
                &format!("shard {ix} was stopped ({}); the same command resumes it", reason.name()),
            )?;
            Ok(match reason {
                StopReason::Interrupted => Exit::Interrupted,
                StopReason::EndpointFault => Exit::Undecided,
                _ => Exit::Limited,
            })
        }
        other => Err(Failure::Reason(format!("shard {ix} ended in a way that this command does not know: {other:?}"))),
    }
}

/// Refuses options that all shards must share.
fn refuse_planned(options: &RunOptions) -> Result<(), Failure> {
    let given = [
        ("--model", !options.models.is_empty()),
        ("--filter", options.filter.is_some()),
        ("--tag", !options.tags.is_empty()),
        ("--repeat", options.repeat.is_some()),
        ("--keep", options.keep_all),
        ("--fresh", options.fresh),
        ("--max-age", options.max_age.is_some()),
        ("--unsafe-code", options.unsafe_code),
        ("--unsafe-host", options.unsafe_host),
    ];
    match given.iter().find(|it| it.1) {
        Some((name, _)) => {
            Err(Failure::Reason(format!("`{name}` is the same for all shards; give it to `jurat shards`")))
        }
        None => Ok(()),
    }
}

fn print(format: Format, ix: u32, state: &str, sentence: &str) -> Result<Exit, Failure> {
    let mut out = io::stdout().lock();
    match format {
        Format::Text => writeln!(out, "{sentence}")?,
        Format::Json => {
            let members = [("version", Val::I(1)), ("shard", u64::from(ix).into()), ("state", Val::from(state))];
            writeln!(out, "{}", Val::Map(members.into_iter().collect()).to_json())?;
        }
    }
    Ok(Exit::Good)
}
