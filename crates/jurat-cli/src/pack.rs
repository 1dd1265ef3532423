//! `jurat pack`: a run made to hold everything it needs.

use std::io::{self, Write};

use clap::Args;
use jurat::{Packed, Run};
use jurat_format::value::Val;
use jurat_report::{bytes, counted, visible_line};

use crate::exit::Exit;
use crate::failure::{Failure, exit};
use crate::format::{Format, FormatOption};
use crate::run_name::run_file;

/// Copies all rows of a run into its run file, so that it needs no other file
///
/// A run file refers to rows that passed by file and row number. After this it holds all rows and can be moved, sent and archived. Rows are compared
/// with those that the run read; when a file has changed, nothing is copied.
#[derive(Args)]
pub(crate) struct Pack {
    /// The run: a file, the beginning of its name, or `latest`
    run: String,
    #[command(flatten)]
    format: FormatOption,
}

impl Pack {
    pub(crate) fn run(&self) -> Exit {
        exit(self.pack())
    }

    fn pack(&self) -> Result<Exit, Failure> {
        let file = run_file(&self.run)?;
        let Packed { rows, bytes: n_bytes } = Run::pack(&file)?;
        let file = file.display().to_string();
        let mut out = io::stdout().lock();
        match self.format.get() {
            Format::Json => {
                let file = Val::from(file.as_str());
                let members =
                    [("version", Val::I(1)), ("file", file), ("rows", rows.into()), ("bytes", n_bytes.into())];
                writeln!(out, "{}", Val::Map(members.into_iter().collect()).to_json())?;
            }
            Format::Text => {
                let copied = match rows {
                    0 => "nothing was left to copy".to_owned(),
                    _ => format!("{} copied, {}", counted(rows, "row"), bytes(n_bytes)),
                };
                writeln!(out, "{copied}: {} needs no other file", visible_line(&file))?;
            }
        }
        Ok(Exit::Good)
    }
}
