//! The bare loop: what judging a file of rows costs a program that was written for this one suite.
//!
//! It reads line by line into typed structs, judges by hand and writes a line of verdicts for each row. It has no ids to
//! compare, no reasons to keep and no run to come back to, so no engine can be faster by much.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::json;

use crate::Said;
use crate::records::{Judged, N_TASKS, Searches, Shape};

/// Judges the rows of a file and writes their verdicts to another. Says how many rows there were and how many passed.
pub(crate) fn judge(shape: &Shape, records: &Path, verdicts: &Path) -> Said {
    let searches = Searches::new()?;
    let mut reader = BufReader::with_capacity(1 << 16, File::open(records)?);
    let mut writer = BufWriter::with_capacity(1 << 16, File::create(verdicts)?);
    let mut line = String::new();
    let (mut rows, mut passing) = (0_u64, 0_u64);
    while reader.read_line(&mut line)? > 0 {
        let judged = (shape.judge)(&line, &searches)?;
        rows += 1;
        passing += u64::from(judged.passed == [true; N_TASKS]);
        serde_json::to_writer(&mut writer, &Line { judged, tasks: &shape.tasks })?;
        writer.write_all(b"\n")?;
        line.clear();
    }
    writer.flush()?;
    Ok(json!({ "rows": rows, "passing": passing }))
}

/// The verdicts of one row as a line.
struct Line<'l> {
    judged: Judged<'l>,
    tasks: &'l [&'static str; N_TASKS],
}

impl Serialize for Line<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &self.judged.id)?;
        for (task, passed) in self.tasks.iter().zip(self.judged.passed) {
            map.serialize_entry(task, if passed { "passed" } else { "failed" })?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_names_every_verdict() {
        let judged = Judged { id: "case-7".into(), passed: std::array::from_fn(|it| it != 1) };
        let tasks = &["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
        let line = serde_json::to_string(&Line { judged, tasks }).unwrap();
        assert!(line.starts_with(r#"{"id":"case-7","a":"passed","b":"failed","c":"passed","#), "{line}");
    }
}
