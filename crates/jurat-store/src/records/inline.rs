//! The rows of the definition itself.

use std::ops::ControlFlow;

use jurat_format::value::{Spanned, Val, Value};

use super::RowsFault;
use super::chunk::{Delivery, write_rows};

pub(super) fn read(rows: &[Spanned<Value>], delivery: &mut Delivery<'_>) -> Result<ControlFlow<()>, RowsFault> {
    let mut rows = (1..).zip(rows);
    write_rows(delivery, |json| {
        let Some((number, row)) = rows.next() else { return Ok(None) };
        if let Some(without_json) = not_json(&row.value) {
            return Err(RowsFault::NotJson { row: number, number: without_json.to_string() });
        }
        json.extend_from_slice(row.value.to_json().as_bytes());
        Ok(Some((number, number)))
    })
}

/// A number that YAML has and JSON has not.
fn not_json(value: &Value) -> Option<&Value> {
    match value {
        Val::F(number) if !number.is_finite() => Some(value),
        Val::List(items) => items.iter().find_map(not_json),
        Val::Map(map) => map.iter().find_map(|(_, it)| not_json(it)),
        _ => None,
    }
}
