//! `jurat shards`: a suite cut into parts that any number of processes run.

use std::io::{self, Write};
use std::num::NonZeroU64;
use std::path::PathBuf;

use clap::Args;
use jurat::shards::{PartSize, Shards as Planned};
use jurat_format::value::Val;
use jurat_report::{counted, visible_line};

use crate::definition::{self, ProfileOptions};
use crate::exit::Exit;
use crate::failure::print_problems;
use crate::failure::{Failure, exit};
use crate::format::{Format, FormatOption};
use crate::run_arguments::{OfShards, RunArguments};

/// Cuts a run into shards, for processes on any number of machines
///
/// Writes a plan to a directory, with copies of the suite. `jurat run --shard DIR:N` runs one shard, in any order and any number of times; `jurat merge DIR` makes
/// one run of them, whose results are those of one process. Files of JSON lines are cut at line feeds, CSV at rows, Parquet between row groups; other files are one shard each.
#[derive(Args)]
pub(crate) struct Shards {
    /// The suite
    #[arg(default_value = definition::DEFAULT, value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    profiles: ProfileOptions,
    /// Rows per shard, about
    #[arg(long, value_name = "N", default_value = "200000")]
    rows: NonZeroU64,
    /// Directory for the plan and the shards; every process must see it
    #[arg(long, short = 'o', value_name = "DIR")]
    out: PathBuf,
    #[command(flatten)]
    options: RunArguments<OfShards>,
    #[command(flatten)]
    format: FormatOption,
}

impl Shards {
    pub(crate) fn run(&self) -> Exit {
        exit(self.plan())
    }

    fn plan(&self) -> Result<Exit, Failure> {
        let checked = definition::read(&self.file, &self.profiles).ok_or(Failure::Printed)?;
        let options = self.options.options();
        let problems = checked.problems_of_run(&options);
        print_problems(&problems)?;
        if problems.has_errors() {
            return Err(Failure::Printed);
        }
        let suite = checked.into_suite()?;
        let planned = Planned::plan(&suite, &options, PartSize::Rows(self.rows.get()), self.out.clone())?;
        let out = self.out.display().to_string();
        let mut stdout = io::stdout().lock();
        match self.format.get() {
            Format::Json => {
                let members = [
                    ("version", Val::I(1)),
                    ("directory", Val::from(out.as_str())),
                    ("shards", (planned.n() as u64).into()),
                    ("plan", Val::from(planned.hash())),
                ];
                writeln!(stdout, "{}", Val::Map(members.into_iter().collect()).to_json())?;
            }
            Format::Text => {
                let (out, last) = (visible_line(&out), planned.n() - 1);
                writeln!(stdout, "{} in {out}", counted(planned.n() as u64, "shard"))?;
                writeln!(stdout, "run each:  jurat run --shard {out}:N   (N from 0 to {last})")?;
                writeln!(stdout, "then:      jurat merge {out}")?;
            }
        }
        Ok(Exit::Good)
    }
}
