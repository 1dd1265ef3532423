//! A run without its texts, to compare others with: small enough to commit.

use jurat_engine::contrast::{BaselineError, ComparedSide, Selection};

use super::{Format, Holds};
use crate::Error;
use crate::contrast::error;

/// A run without its texts, for `jurat compare` and `jurat gate`.
pub static BASELINE: Format = Format {
    name: "baseline",
    extensions: &[],
    title: None,
    help: "Ids, digests, verdicts, scores and costs without texts, for `jurat compare` and `jurat gate`",
    holds: Holds::Run,
    write: |export, mut out| {
        let run = export.view();
        let selection = Selection::whole(run.head().id.clone());
        let side = ComparedSide::open(run.reader().path(), &selection).map_err(error)?;
        side.write_baseline(&mut out).map_err(|it| match it {
            BaselineError::View(error) => Error::Read(Box::new(error)),
            BaselineError::Write(error) => Error::Write(error),
        })?;
        out.flush().map_err(Error::Write)
    },
};
