//! A calibration for people who look at a terminal.

use std::io::{self, Write};

use jurat_core::calibration::{Calibration, SelfPreference};

use super::{sentence, tables};
use crate::Style;
use crate::style::Meaning;
use crate::visible::visible_line;
use crate::words::{counted, rate};

/// How a calibration is written for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CalibrationOptions {
    /// How many cases are listed on which judge and people disagree.
    pub most_cases: usize,
    /// Without what a replay does not reproduce: the name of the run.
    pub results_only: bool,
}

impl Default for CalibrationOptions {
    fn default() -> CalibrationOptions {
        CalibrationOptions { most_cases: 10, results_only: false }
    }
}

/// Writes a calibration as text, in a window of this width when there is one.
pub fn write_text(
    out: &mut dyn Write,
    calibration: &Calibration,
    options: CalibrationOptions,
    style: Style,
    window: Option<usize>,
) -> io::Result<()> {
    writeln!(out, "{}", visible_line(&sentence::head(calibration)))?;
    let notes = [
        sentence::left_out(&calibration.labels),
        sentence::design(calibration).map(str::to_owned),
        sentence::too_few(calibration),
    ];
    for note in notes.into_iter().flatten() {
        writeln!(out, "{}: {}", style.meant(Meaning::Unknown, "note"), visible_line(&note))?;
    }
    writeln!(out)?;
    for sentence in sentence::headline(calibration) {
        writeln!(out, "{}", visible_line(&sentence))?;
    }
    let (disagreements, n_more) = tables::disagreements(calibration, options.most_cases);
    let parts = [
        tables::matrix(calibration),
        tables::figures(calibration),
        tables::by_label(calibration),
        tables::annotators(calibration),
        tables::pairs(calibration),
        tables::probes(calibration),
        disagreements,
    ];
    for table in parts.iter().filter(|it| !it.is_empty()) {
        writeln!(out)?;
        table.write(out, style, window)?;
    }
    if n_more > 0 {
        writeln!(out, "… and {}", counted(n_more as u64, "more case"))?;
    }
    write_rest(out, calibration, options)
}

fn write_rest(out: &mut dyn Write, calibration: &Calibration, options: CalibrationOptions) -> io::Result<()> {
    let mut lines = Vec::new();
    lines.extend(
        calibration.slots.as_ref().map(|it| format!("all replies to a case are equal in {}", tables::alike(it))),
    );
    lines.extend(
        calibration
            .repetitions
            .as_ref()
            .map(|it| format!("repetitions with the same answer get equal verdicts in {}", tables::alike(it))),
    );
    lines.extend(
        calibration
            .judge_within
            .map(|it| format!("{} of the variance between repetitions is the judge's own", rate(Some(it)))),
    );
    lines.extend(calibration.self_preference.as_ref().map(self_preference));
    lines.extend(calibration.drift.as_ref().map(|it| {
        let run = if options.results_only { "before".to_owned() } else { format!("in `{}`", it.run_id) };
        let word = match it.word.as_str() {
            "better" => "more than",
            "worse" => "less than",
            _ => "not shown to differ from",
        };
        format!(
            "agreement on {} of both calibrations: {} now, {} {run}: {word} before",
            counted(it.cases, "case"),
            rate(it.now),
            rate(it.before)
        )
    }));
    lines.extend(calibration.figures.advice.iter().map(sentence::advice));
    if !lines.is_empty() {
        writeln!(out)?;
    }
    for line in lines {
        writeln!(out, "{}", visible_line(&line))?;
    }
    Ok(())
}

fn self_preference(found: &SelfPreference) -> String {
    let own = rate(found.own.value);
    match (&found.reason, found.interval) {
        (Some(reason), _) => format!("self-preference is not tested: {reason}"),
        (None, Some(interval)) => format!(
            "of wrong answers it passes {own} of `{}` and {} of others: a difference of {:+.1} points, {:+.1} to {:+.1}",
            found.provider,
            rate(found.others.value),
            found.difference.unwrap_or_default() * 100.0,
            interval.low * 100.0,
            interval.high * 100.0
        ),
        (None, None) => "self-preference is not tested".to_owned(),
    }
}
