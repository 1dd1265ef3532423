//! The rows of the definition itself.

use std::ops::ControlFlow;

use jurat_format::value::{Spanned, Val, Value};

use super::RowsFault;
use super::chunk::{Delivery, Written};

pub(super) fn read(rows: &[Spanned<Value>], delivery: &mut Delivery<'_>) -> Result<ControlFlow<()>, RowsFault> {
    let mut written = Written::default();
    for (number, row) in (1..).zip(rows) {
        if let Some(number_without_json) = not_json(&row.value) {
            let fault = RowsFault::NotJson { row: number, number: number_without_json.to_string() };
            return match written.flush(delivery) {
                ControlFlow::Break(()) => Ok(ControlFlow::Break(())),
                ControlFlow::Continue(()) => Err(fault),
            };
        }
        written.json.extend_from_slice(row.value.to_json().as_bytes());
        if written.end_row(number, number, delivery).is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(written.flush(delivery))
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
