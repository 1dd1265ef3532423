//! Recorded requests and responses, one JSON object a line, which [`RunOptions::replay`](crate::RunOptions::replay) takes.

use super::{Format, Holds};
use crate::Error;

/// Requests and responses, for replay.
pub static EFFECTS: Format = Format {
    name: "effects",
    extensions: &[],
    title: None,
    help: "What was requested and returned, for replay",
    holds: Holds::Cases,
    write: |export, mut out| {
        export.read_effects(&mut |line| writeln!(out, "{line}").map_err(Error::Write))?;
        out.flush().map_err(Error::Write)
    },
};
