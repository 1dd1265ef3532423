//! Excel workbooks: a sheet with a header, each further row written as a JSON object. The sheet is read whole, as its format is compressed as a whole.
//!
//! | cell | JSON |
//! |---|---|
//! | number, boolean, text | the same; whole numbers without a point |
//! | date, time | text as in ISO 8601 |
//! | empty | null |
//! | error such as `#N/A` | refused |

use std::collections::HashSet;
use std::fs::File;
use std::io::BufReader;
use std::ops::ControlFlow;

use calamine::{Data, ExcelDateTime, Range, Reader, Xlsx, XlsxError};
use jurat_core::suite::CellType;
use jurat_format::problem::listed;
use jurat_format::value::{Val, shown};

use super::chunk::{Delivery, write_rows};
use super::csv::expected;
use super::rows::Types;
use super::table::unless_damaged;
use super::{RowsFault, SampleError};

/// The most bytes of a workbook.
const MOST_BYTES: u64 = 256 << 20;

pub(super) fn read(file: File, types: Types<'_>, delivery: &mut Delivery<'_>) -> Result<ControlFlow<()>, RowsFault> {
    if file.metadata()?.len() > MOST_BYTES {
        return Err(SampleError::TooLarge { what: "a workbook", most: MOST_BYTES }.into());
    }
    let sheet = unless_damaged(|| sheet(file, types.sheet), not_readable)?;
    let first = sheet.start().map_or(0, |it| it.0);
    let mut rows = sheet.rows().enumerate().skip_while(|(_, row)| is_blank(row));
    let Some((_, header)) = rows.next() else { return Ok(ControlFlow::Continue(())) };
    let columns = columns(header, types)?;
    let mut number = 0;
    write_rows(delivery, |json| {
        let Some((ix, row)) = rows.by_ref().find(|(_, row)| !is_blank(row)) else { return Ok(None) };
        number += 1;
        let line = u64::from(first) + ix as u64 + 1;
        write_row(json, &columns, row, (number, line), types)?;
        Ok(Some((number, line)))
    })
}

fn not_readable(message: String) -> SampleError {
    SampleError::NotExcel { message }
}

/// The sheet that is named, or the only one with rows.
fn sheet(file: File, named: Option<&str>) -> Result<Range<Data>, SampleError> {
    let wrong = |error: XlsxError| not_readable(error.to_string());
    let mut book: Xlsx<_> = Xlsx::new(BufReader::new(file)).map_err(wrong)?;
    let names = book.sheet_names();
    let choices = || listed(names.iter().map(String::as_str));
    if let Some(name) = named {
        if !names.iter().any(|it| it == name) {
            return Err(not_readable(format!("it has no sheet `{name}`; it has {}", choices())));
        }
        return book.worksheet_range(name).map_err(wrong);
    }
    let mut found = None;
    for name in &names {
        let range = book.worksheet_range(name).map_err(wrong)?;
        if range.rows().all(is_blank) {
            continue;
        }
        if found.is_some() {
            let message = format!("several of its sheets have rows; say which: `sheet: {name}`, out of {}", choices());
            return Err(not_readable(message));
        }
        found = Some(range);
    }
    Ok(found.unwrap_or_default())
}

fn is_blank(row: &[Data]) -> bool {
    row.iter().all(|it| matches!(it, Data::Empty))
}

/// A column of the header.
struct Column {
    name: String,
    /// What its cells are; default: what they are in the workbook.
    cells: Option<CellType>,
}

fn columns(header: &[Data], types: Types<'_>) -> Result<Vec<Column>, RowsFault> {
    let width = header.iter().rposition(|it| !matches!(it, Data::Empty)).map_or(0, |it| it + 1);
    let names: Vec<String> = header[..width].iter().map(ToString::to_string).collect();
    let mut seen = HashSet::new();
    if let Some(column) = names.iter().find(|it| !it.is_empty() && !seen.insert(it.as_str())) {
        return Err(SampleError::RepeatedColumn { column: column.clone() }.into());
    }
    if let Some((name, _)) = types.columns.iter().find(|(it, _)| !names.contains(&it.value)) {
        types.refuse(RowsFault::NoColumn { column: name.value.clone(), columns: names.clone() })?;
    }
    let typed = |name: &String| types.columns.iter().find(|(it, _)| it.value == *name).map(|(_, it)| *it);
    Ok(names.into_iter().map(|name| Column { cells: typed(&name), name }).collect())
}

fn write_row(
    json: &mut Vec<u8>,
    columns: &[Column],
    row: &[Data],
    (number, line): (u64, u64),
    types: Types<'_>,
) -> Result<(), RowsFault> {
    if let Some(beyond) = row.iter().skip(columns.len()).find(|it| !matches!(it, Data::Empty)) {
        let message = format!(
            "row {line} of the sheet has {} beyond the last column of the header",
            shown(&Val::from(beyond.to_string()))
        );
        return Err(not_readable(message).into());
    }
    json.push(b'{');
    for (ix, column) in columns.iter().enumerate() {
        if ix > 0 {
            json.push(b',');
        }
        json.extend_from_slice(Val::from(column.name.as_str()).to_json().as_bytes());
        json.push(b':');
        let value = value(row.get(ix).unwrap_or(&Data::Empty)).map_err(|found| {
            RowsFault::from(SampleError::OddCell { row: number, column: column.name.clone(), found })
        })?;
        let value = match (column.cells, &value) {
            (Some(cells), Val::Str(text)) => match cells.read(text.trim()) {
                Some(typed) => typed,
                None => {
                    let (found, expected) = (shown(&value), expected(cells));
                    types.refuse(RowsFault::Cell {
                        row: number,
                        line,
                        column: column.name.clone(),
                        expected,
                        found,
                    })?;
                    value
                }
            },
            _ => value,
        };
        json.extend_from_slice(value.to_json().as_bytes());
    }
    json.push(b'}');
    Ok(())
}

fn value(cell: &Data) -> Result<Val<'static>, &'static str> {
    const WHOLE: f64 = 9_007_199_254_740_992.0;
    Ok(match cell {
        Data::Empty => Val::Null,
        Data::String(text) | Data::DateTimeIso(text) | Data::DurationIso(text) => Val::from(text.clone()),
        Data::Bool(value) => Val::Bool(*value),
        Data::Int(number) => Val::I(*number),
        // Workbooks store every number as a float.
        Data::Float(number) if number.fract() == 0.0 && number.abs() < WHOLE => Val::I(*number as i64),
        Data::Float(number) if number.is_finite() => Val::F(*number),
        Data::Float(_) => return Err("a number that is not finite"),
        Data::DateTime(moment) => Val::from(moment_text(moment)),
        Data::Error(_) => return Err("an error such as `#N/A`"),
    })
}

/// A date, or a date with a time; a time alone where there is no day.
fn moment_text(moment: &ExcelDateTime) -> String {
    let (year, month, day, hour, minute, second, milli) = moment.to_ymd_hms_milli();
    let time = match milli {
        0 => format!("{hour:02}:{minute:02}:{second:02}"),
        milli => format!("{hour:02}:{minute:02}:{second:02}.{milli:03}"),
    };
    let serial = moment.as_f64();
    match (serial < 1.0, serial.fract() == 0.0) {
        (true, _) => time,
        (false, true) => format!("{year:04}-{month:02}-{day:02}"),
        (false, false) => format!("{year:04}-{month:02}-{day:02}T{time}"),
    }
}
