//! The tables of a calibration.

use jurat_core::calibration::{Calibration, Estimate, SlotFigures};
use jurat_core::statistics::Interval;

use super::sentence::percent;
use crate::table::{Cell, Column, Table};
use crate::words::{NONE, grouped, interval, rate};

/// What people said, row by row, against what the judge said.
pub(super) fn matrix(calibration: &Calibration) -> Table {
    let figures = &calibration.figures;
    let labels = figures.scale.labels();
    let mut columns = vec![Column::text("people \\ judge")];
    columns.extend(labels.iter().map(|it| Column::number((*it).to_owned())));
    let mut table = Table::new(columns);
    for (label, row) in labels.iter().zip(&figures.matrix) {
        let mut cells = vec![Cell::text(label)];
        cells.extend(row.iter().map(|it| Cell::from(grouped(*it as u64))));
        table.push(cells);
    }
    table
}

/// `0.62 – 0.94`
fn coefficient(interval: Option<Interval>) -> String {
    interval.map_or_else(String::new, |it| format!("{:.2} – {:.2}", it.low, it.high))
}

/// Every figure with its interval.
pub(super) fn figures(calibration: &Calibration) -> Table {
    let own = &calibration.figures;
    let mut table = Table::new(vec![
        Column::text("figure"),
        Column::number("value"),
        Column::number(format!("{} interval", percent(calibration.confidence))),
    ]);
    let mut share = |name: &str, it: Option<Estimate>| {
        if let Some(it) = it {
            table.push([Cell::text(name), Cell::from(rate(it.value)), Cell::from(interval(it.interval))]);
        }
    };
    share("agreement", own.agreement);
    share("sensitivity", own.sensitivity);
    share("specificity", own.specificity);
    let mut number = |name: &str, it: Option<Estimate>| {
        if let Some(it) = it {
            let value = it.value.map_or_else(|| NONE.to_owned(), |it| format!("{it:.2}"));
            table.push([Cell::text(name), Cell::from(value), Cell::from(coefficient(it.interval))]);
        }
    };
    number("κ", own.kappa);
    number("κ, weighted", own.weighted_kappa);
    number("AC1", own.ac1);
    number("α, people", own.alpha.people);
    number("α, with the judge", Some(own.alpha.with_judge));
    number("judge − people", own.difference);
    table
}

/// Precision, recall and F1 of each label.
pub(super) fn by_label(calibration: &Calibration) -> Table {
    let mut table = Table::new(vec![
        Column::text("label"),
        Column::number("precision"),
        Column::number("interval"),
        Column::number("recall"),
        Column::number("interval"),
        Column::number("F1"),
        Column::number("interval"),
    ]);
    for own in &calibration.figures.by_label {
        let pair = |it: &Estimate| [Cell::from(rate(it.value)), Cell::from(interval(it.interval))];
        let [precision, recall, f1] = [&own.precision, &own.recall, &own.f1].map(pair);
        table.push([vec![Cell::text(&own.label)], precision.to_vec(), recall.to_vec(), f1.to_vec()].concat());
    }
    table
}

/// How far annotators agree with the majority of the others.
pub(super) fn annotators(calibration: &Calibration) -> Table {
    let mut table = Table::new(vec![
        Column::text("annotator"),
        Column::number("labels"),
        Column::number("agrees with the others"),
        Column::number("interval"),
    ]);
    for own in &calibration.figures.annotators {
        table.push([
            Cell::text(&own.annotator),
            Cell::from(own.labels),
            Cell::from(rate(own.agreement.value)),
            Cell::from(interval(own.agreement.interval)),
        ]);
    }
    table
}

/// Each two annotators, and each two judges of a panel.
pub(super) fn pairs(calibration: &Calibration) -> Table {
    let mut table = Table::new(vec![
        Column::text("of"),
        Column::text("and"),
        Column::number("cases"),
        Column::number("agreement"),
        Column::number("κ"),
        Column::number("interval"),
    ]);
    let kappa = |it: &Estimate| Cell::from(it.value.map_or_else(|| NONE.to_owned(), |it| format!("{it:.2}")));
    for own in &calibration.figures.annotator_pairs {
        table.push([
            Cell::text(&own.one),
            Cell::text(&own.other),
            Cell::from(own.cases),
            Cell::from(rate(own.agreement.value)),
            kappa(&own.kappa),
            Cell::from(coefficient(own.kappa.interval)),
        ]);
    }
    for own in calibration.slots.iter().flat_map(|it| &it.pairs) {
        table.push([
            Cell::text(&own.one),
            Cell::text(&own.other),
            Cell::from(own.cases),
            Cell::default(),
            kappa(&own.kappa),
            Cell::from(coefficient(own.kappa.interval)),
        ]);
    }
    table
}

/// What changed when something changed that should not matter.
pub(super) fn probes(calibration: &Calibration) -> Table {
    let mut table = Table::new(vec![
        Column::text("probe"),
        Column::number("cases"),
        Column::number("flipped"),
        Column::number("interval"),
        Column::number("pass rate"),
        Column::number("interval"),
        Column::number("would show"),
        Column::word("says"),
    ]);
    let points = |it: f64| format!("{}{:.1}", if it < 0.0 { "−" } else { "+" }, it.abs() * 100.0);
    for own in &calibration.probes {
        let ends = own.interval.map_or_else(String::new, |it| format!("{} – {}", points(it.low), points(it.high)));
        table.push([
            Cell::text(own.kind.name()),
            Cell::from(own.cases),
            Cell::from(rate(own.flipped.value)),
            Cell::from(interval(own.flipped.interval)),
            Cell::from(own.difference.map_or_else(String::new, points)),
            Cell::from(ends),
            Cell::from(own.mde.map_or_else(String::new, |it| format!("{:.1} points", it * 100.0))),
            Cell::from(moved(&own.word).to_owned()),
        ]);
    }
    table
}

/// What a probe did to the pass rate.
fn moved(word: &str) -> &'static str {
    match word {
        "better" => "passes more",
        "worse" => "passes fewer",
        _ => "not shown",
    }
}

/// Judges that were asked about the same.
pub(super) fn alike(figures: &SlotFigures) -> String {
    let alpha = figures.alpha.value.map_or_else(|| NONE.to_owned(), |it| format!("{it:.2}"));
    format!("{} of {} cases, α {alpha}", rate(figures.equal.value), grouped(figures.cases))
}

/// The cases on which judge and people disagree.
pub(super) fn disagreements(calibration: &Calibration, most: usize) -> (Table, usize) {
    let own: Vec<_> = calibration.cases.iter().filter(|it| it.people.is_some() && !it.is_agreed()).collect();
    let mut table = Table::new(vec![Column::text("disagree on"), Column::text("people"), Column::text("judge")]);
    for case in own.iter().take(most) {
        let people = case.people.as_deref().unwrap_or_default();
        table.push([Cell::text(&case.case), Cell::text(people), Cell::text(&case.judge)]);
    }
    (table, own.len().saturating_sub(most))
}
