//! What the journal of a project holds, as a table and as JSON.

use std::io::{self, Write};

use jurat_core::report::journal::{JournalReport, ModelAnswers};

use crate::Style;
use crate::instant::{instant, to_the_second};
use crate::json_text::{Members, write_line};
use crate::table::{Cell, Column, Table};
use crate::visible::visible_line;
use crate::words;

/// The version of the JSON shape. Members may be added without changing it.
const VERSION: u64 = 1;

/// Writes what a journal holds as a table, in a window of this width when there is one.
pub fn write_text(out: &mut dyn Write, journal: &JournalReport, style: Style, width: Option<usize>) -> io::Result<()> {
    let mut table = Table::new(vec![
        Column::text("model"),
        Column::number("answers"),
        Column::number("size"),
        Column::word("oldest"),
        Column::word("newest"),
    ]);
    for it in &journal.models {
        table.push([
            Cell::text(if it.model.is_empty() { "(no name)" } else { &it.model }),
            Cell::from(words::grouped(it.answers)),
            Cell::from(words::bytes(it.bytes)),
            Cell::from(to_the_second(it.oldest_ms)),
            Cell::from(to_the_second(it.newest_ms)),
        ]);
    }
    if !table.is_empty() {
        table.write(out, style, width)?;
        writeln!(out)?;
    }
    let answers = words::counted(journal.answers(), "answer");
    writeln!(out, "{answers}, {} in {}", words::bytes(journal.file_bytes), visible_line(&journal.file))
}

/// Writes what a journal holds as one JSON object.
pub fn write_json(out: &mut dyn Write, journal: &JournalReport) -> io::Result<()> {
    write_line(out, |members| {
        members.number("version", VERSION);
        members.text("file", &journal.file);
        members.number("file_bytes", journal.file_bytes);
        members.number("answers", journal.answers());
        members.objects("models", &journal.models, write_model);
    })
}

fn write_model(members: &mut Members<'_>, model: &ModelAnswers) {
    members.text("model", &model.model);
    members.number("answers", model.answers);
    members.number("bytes", model.bytes);
    members.text("oldest_at", &instant(model.oldest_ms));
    members.text("newest_at", &instant(model.newest_ms));
}
