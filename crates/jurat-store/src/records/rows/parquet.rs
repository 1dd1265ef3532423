//! Parquet: each row is written as a JSON object.

use std::fs::File;
use std::ops::ControlFlow;

use super::super::parquet::Rows;
use super::RowsFault;
use super::chunk::{Delivery, Written};

pub(super) fn read(file: File, delivery: &mut Delivery<'_>) -> Result<ControlFlow<()>, RowsFault> {
    let mut rows = Rows::open(file, delivery.limits.chunk as u64)?;
    let mut written = Written::default();
    loop {
        let n_before = written.json.len();
        let row = rows.write_next(&mut written.json).map_err(RowsFault::from).and_then(|is_row| {
            let is_long = is_row && written.json.len() - n_before > delivery.limits.row;
            let limit = delivery.limits.row;
            if is_long { Err(RowsFault::RowTooLong { row: rows.number, line: None, limit }) } else { Ok(is_row) }
        });
        let flow = match row {
            Ok(true) => written.end_row(rows.number, rows.number, delivery),
            Ok(false) => return Ok(written.flush(delivery)),
            Err(fault) => match written.flush(delivery) {
                ControlFlow::Continue(()) => return Err(fault),
                ControlFlow::Break(()) => ControlFlow::Break(()),
            },
        };
        if flow.is_break() {
            return Ok(flow);
        }
    }
}
