//! A sheet to fill in.

use super::Label;
use super::csv::push;

/// A line of a sheet: what is to be labelled, and what there is to look at.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SheetRow {
    pub label: Label,
    /// What was asked and what was answered, as text.
    pub input: String,
    pub output: String,
}

const COLUMNS: [&str; 14] = [
    "case",
    "prompt",
    "subject",
    "replicate",
    "task",
    "input",
    "output",
    "label",
    "score",
    "annotator",
    "note",
    "stratum",
    "weight",
    "evidence",
];

/// Writes a sheet as CSV. Columns that are empty in every row are left out, except `label`, `annotator` and `note`, which people fill in.
///
/// ```
/// use jurat_core::label::{Label, SheetRow, write_sheet};
///
/// let row = SheetRow { label: Label { case: "r3".into(), ..Label::default() }, output: "Hello, you".into(), ..SheetRow::default() };
/// assert_eq!(write_sheet(&[row], false), "case,output,label,annotator,note\nr3,\"Hello, you\",,,\n");
/// ```
pub fn write_sheet(rows: &[SheetRow], is_scored: bool) -> String {
    let filled = if is_scored { "score" } else { "label" };
    let is_there = |column: &&str| {
        matches!(*column, "case" | "annotator" | "note")
            || *column == filled
            || rows.iter().any(|it| !cell(it, column).is_empty())
    };
    let columns: Vec<&str> = COLUMNS.into_iter().filter(is_there).collect();
    let mut text = columns.join(",") + "\n";
    for row in rows {
        for (ix, column) in columns.iter().enumerate() {
            if ix > 0 {
                text.push(',');
            }
            push(&mut text, &cell(row, column));
        }
        text.push('\n');
    }
    text
}

fn cell(row: &SheetRow, column: &str) -> String {
    let label = &row.label;
    let text = |it: &Option<String>| it.clone().unwrap_or_default();
    let number = |it: Option<f64>| it.map(|it| it.to_string()).unwrap_or_default();
    match column {
        "case" => label.case.clone(),
        "prompt" => text(&label.prompt),
        "subject" => text(&label.subject),
        "replicate" => label.replicate.map(|it| it.to_string()).unwrap_or_default(),
        "task" => text(&label.task),
        "input" => row.input.clone(),
        "output" => row.output.clone(),
        "label" => text(&label.label),
        "score" => number(label.score),
        "annotator" => text(&label.annotator),
        "note" => text(&label.note),
        "stratum" => text(&label.stratum),
        "weight" => number(label.weight),
        "evidence" => text(&label.evidence),
        _ => String::new(),
    }
}
