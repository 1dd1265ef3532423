//! What people say about cases: labels, as sheets and logs have them.
//!
//! A *sheet* is CSV or JSON lines that someone filled in: an annotator labels a case once. A *log* is JSON lines with a moment (`at`) each, as
//! the viewer writes it: an annotator may change a label or take it back, and the last line counts. One file may hold both. Reading order:
//!
//! * [`Label`]: one line, with whatever other members it has;
//! * [`read_labels`]: the lines of a file, with their places, and what is wrong with them; [`load_labels`]: of several files;
//! * [`standing`]: the labels that count;
//! * [`Label::to_json_line`] and [`write_sheet`]: the same the other way.

mod csv;
mod line;
mod load;
mod read;
mod sheet;
mod standing;

pub use line::{JudgeSaid, Label, LabelKey, State};
pub use load::{LabelFiles, load_labels};
pub use read::read_labels;
pub use sheet::{SheetRow, write_sheet};
pub use standing::{Standing, standing};
