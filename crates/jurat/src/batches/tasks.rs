//! The layout with one row for each task of each case: the result columns of the formats for data.

use arrow_schema::FieldRef;
use jurat_core::report::TaskTotal;
use jurat_engine::batches::JudgedCase;
use jurat_report::columns::{result_columns, rows_of};

use super::cases::is_explained;
use super::{Judged, Keep, Place};
use crate::table::{Cells, schema};

/// The columns of some cases, as they are written.
pub(super) struct TaskColumns<'t> {
    tasks: &'t [TaskTotal],
    keep: Keep,
    places: Vec<Place>,
    cells: Vec<Cells>,
}

impl<'t> TaskColumns<'t> {
    pub(super) fn of(tasks: &'t [TaskTotal], keep: Keep) -> TaskColumns<'t> {
        TaskColumns { tasks, keep, places: Vec::new(), cells: result_columns().map(|it| Cells::of(it.kind)).collect() }
    }

    pub(super) fn fields(&self) -> Vec<FieldRef> {
        schema(result_columns()).fields().iter().cloned().collect()
    }

    pub(super) fn put(&mut self, case: &JudgedCase<'_>, place: Place) {
        let mut report = case.report();
        for task in report.tasks.iter_mut().filter(|it| !is_explained(self.keep, it.verdict)) {
            (task.expected, task.actual) = (None, None);
        }
        for row in rows_of(self.tasks, &report) {
            let row = row.expect("a plan has all tasks of its suite");
            self.places.push(place);
            self.cells.iter_mut().zip(result_columns()).for_each(|(cells, column)| cells.put(column.read(&row)));
        }
    }

    pub(super) fn finish(mut self) -> Judged {
        Judged { columns: self.cells.iter_mut().map(Cells::finish).collect(), places: self.places }
    }
}
