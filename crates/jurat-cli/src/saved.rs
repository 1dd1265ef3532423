//! The answers of subjects as a data set: each row with what was asked and answered, one JSON object a line.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use jurat_engine::view::RunView;

/// Writes the evidence of every case that was answered.
pub(crate) fn write(view: &RunView, file: &Path) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("`{}` cannot be written: {error}", file.display());
    let mut out = BufWriter::new(File::create(file).map_err(failed)?);
    for row in view.answered_rows() {
        let row = row.map_err(|error| error.to_string())?;
        writeln!(out, "{}", row.to_json()).map_err(failed)?;
    }
    out.flush().map_err(failed)
}
