//! `jurat pack`: a run made to hold everything it needs.

use std::io::{self, Write};

use clap::Args;
use jurat_format::value::Val;
use jurat_report::{bytes, counted, visible_line};
use jurat_store::run::{Packed, pack};

use crate::exit::Exit;
use crate::failure::{Failure, told};
use crate::format::{Format, FormatOption};
use crate::run_name::run_file;

/// Copies the rows that a run left in their files into the run
///
/// Rows that passed stay in the file they came from, and a run only says where. After this it needs no other file: it can be moved,
/// sent and kept. Rows are compared with what the run saw; when a file has changed, nothing is copied.
#[derive(Args)]
pub(crate) struct Pack {
    /// The run: a file, the beginning of its name, or `latest`
    run: String,
    #[command(flatten)]
    format: FormatOption,
}

impl Pack {
    pub(crate) fn run(&self) -> Exit {
        told(self.pack())
    }

    fn pack(&self) -> Result<Exit, Failure> {
        let file = run_file(&self.run)?;
        let Packed { rows, bytes: n_bytes } = pack(&file)?;
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
