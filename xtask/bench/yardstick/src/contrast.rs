//! The bare join: what comparing two runs costs a program that has their verdicts as plain columns.
//!
//! A file of columns has what a comparison needs of a run and nothing else: the key of each row with its number, in the order of the keys, then a byte for each verdict,
//! column by column. Comparing reads two of them, joins the keys, and counts for each column who passed: no intervals, no names of cases, no definitions.

use std::fs;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;

use serde_json::json;

use crate::Said;
use crate::records::{N_TASKS, Searches, Shape};

/// A key of 16 bytes and the number of its row.
const KEY: usize = 16 + 4;

/// The case as a whole, then its tasks.
const COLUMNS: usize = N_TASKS + 1;

/// Judges the rows of a file by hand, and writes their verdicts as columns.
pub(crate) fn write(shape: &Shape, records: &Path, columns: &Path) -> Said {
    let searches = Searches::new()?;
    let mut reader = BufReader::with_capacity(1 << 16, File::open(records)?);
    let mut keys: Vec<(u128, u32)> = Vec::new();
    let mut verdicts: [Vec<u8>; COLUMNS] = Default::default();
    let mut line = String::new();
    while reader.read_line(&mut line)? > 0 {
        let judged = (shape.judge)(&line, &searches)?;
        keys.push((key(judged.id.as_bytes()), u32::try_from(keys.len())?));
        verdicts[0].push(u8::from(judged.passed == [true; N_TASKS]));
        verdicts[1..].iter_mut().zip(judged.passed).for_each(|(column, passed)| column.push(u8::from(passed)));
        line.clear();
    }
    keys.sort_unstable();
    let mut writer = BufWriter::with_capacity(1 << 18, File::create(columns)?);
    for (key, row) in &keys {
        writer.write_all(&key.to_le_bytes())?;
        writer.write_all(&row.to_le_bytes())?;
    }
    for column in &verdicts {
        writer.write_all(column)?;
    }
    writer.flush()?;
    Ok(json!({ "rows": keys.len() }))
}

/// FNV-1a, of 128 bits.
fn key(id: &[u8]) -> u128 {
    id.iter().fold(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d, |hash, byte| {
        (hash ^ u128::from(*byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b)
    })
}

/// Joins two files of columns. Says how many rows both have, and how many cases one of them alone passes.
pub(crate) fn compare(base: &Path, new: &Path) -> Said {
    let (base, new) = (Columns::read(base)?, Columns::read(new)?);
    let mut shared = Vec::with_capacity(base.rows.min(new.rows));
    let (mut one, mut other) = (0, 0);
    while one < base.rows && other < new.rows {
        let ((key, row), (its_key, its_row)) = (base.key(one), new.key(other));
        if key == its_key {
            shared.push((row, its_row));
        }
        one += usize::from(key <= its_key);
        other += usize::from(its_key <= key);
    }
    let mut tables = [[0_u64; 4]; COLUMNS];
    for (column, table) in tables.iter_mut().enumerate() {
        for (row, its_row) in &shared {
            table[usize::from(base.verdict(column, *row) * 2 + new.verdict(column, *its_row))] += 1;
        }
    }
    Ok(json!({ "pairs": shared.len(), "only_new": tables[0][1], "only_base": tables[0][2] }))
}

struct Columns {
    bytes: Vec<u8>,
    rows: usize,
}

impl Columns {
    fn read(path: &Path) -> Result<Columns, std::io::Error> {
        let bytes = fs::read(path)?;
        let rows = bytes.len() / (KEY + COLUMNS);
        Ok(Columns { bytes, rows })
    }

    fn key(&self, at: usize) -> (u128, u32) {
        let bytes = &self.bytes[at * KEY..][..KEY];
        let (key, row) = bytes.split_at(16);
        let key = u128::from_le_bytes(key.try_into().expect("a key has 16 bytes"));
        (key, u32::from_le_bytes(row.try_into().expect("a number has 4 bytes")))
    }

    fn verdict(&self, column: usize, row: u32) -> u8 {
        self.bytes[self.rows * (KEY + column) + row as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::{self, SHAPES};

    #[test]
    fn two_files_of_columns_are_joined_by_their_keys() {
        let directory = tempfile::tempdir().unwrap();
        let columns = |name: &str, rows: u64, percent: u64| {
            let own = directory.path().join(name);
            records::write(&own, &SHAPES[0], rows, percent).unwrap();
            write(&SHAPES[0], &own.join("records.jsonl"), &own.join("columns")).unwrap();
            own.join("columns")
        };
        let said = compare(&columns("base", 300, 10), &columns("new", 200, 30)).unwrap();
        assert_eq!((&said["pairs"], &said["only_new"]), (&json!(200), &json!(0)));
        assert!(said["only_base"].as_u64().is_some_and(|it| (20..60).contains(&it)), "{said}");
    }
}
