//! `jurat merge`: one run from the shards of a plan.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use jurat::shards::{MergeOptions, Merged, Shards};
use jurat_format::value::Val;
use jurat_report::{counted, visible_line};

use crate::count::count;
use crate::exit::Exit;
use crate::failure::{Failure, exit};
use crate::format::{Format, FormatOption};

/// Makes one run from shards
///
/// The results are those of one process, whatever the number of shards and the order in which they were run. All shards of the plan must be there; of a shard that was
/// run twice, both runs must be equal. Merging again changes nothing.
#[derive(Args)]
pub(crate) struct Merge {
    /// The directory of the plan
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// The file of the run [default: `run.jurat` in the directory]
    #[arg(long, short = 'o', value_name = "FILE")]
    output: Option<PathBuf>,
    /// Merge what is there; the run says that it is not complete
    #[arg(long)]
    partial: bool,
    /// Fail when the shards have another number of rows
    #[arg(long, value_name = "N", value_parser = count)]
    expect_rows: Option<u64>,
    #[command(flatten)]
    format: FormatOption,
}

impl Merge {
    pub(crate) fn run(&self) -> Exit {
        exit(self.merge())
    }

    fn merge(&self) -> Result<Exit, Failure> {
        let options =
            MergeOptions { target: self.output.clone(), partial: self.partial, expect_rows: self.expect_rows };
        let merged = Shards::open(&self.directory)?.merge(&options)?;
        let file = merged.path.display().to_string();
        let n_merged = (merged.n_shards - merged.missing.len()) as u64;
        let mut out = io::stdout().lock();
        match self.format.get() {
            Format::Json => {
                let missing: Val<'_> = merged.missing.iter().map(|it| Val::from(u64::from(*it))).collect();
                let members = [
                    ("version", Val::I(1)),
                    ("file", Val::from(file.as_str())),
                    ("shards", n_merged.into()),
                    ("missing", missing),
                    ("rows", merged.n_rows.into()),
                ];
                writeln!(out, "{}", Val::Map(members.into_iter().collect()).to_json())?;
            }
            Format::Text => writeln!(out, "{}", sentence(&merged, n_merged, &visible_line(&file)))?,
        }
        Ok(Exit::Good)
    }
}

fn sentence(merged: &Merged, n_merged: u64, file: &str) -> String {
    let (shards, rows) = (counted(n_merged, "shard"), counted(merged.n_rows, "row"));
    let lacking = match merged.missing.len() as u64 {
        0 => String::new(),
        n => format!("; {} missing", counted(n, "shard")),
    };
    let there = if merged.was_there { "already exists: " } else { "" };
    format!("{there}{file}: {shards}, {rows}{lacking}")
}
