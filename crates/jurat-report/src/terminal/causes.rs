//! Why cases could not be judged, the most frequent reason first.

use std::io::{self, Write};

use jurat_core::report::{Cause, RunReport};

use crate::Style;
use crate::style::Meaning;
use crate::words::{self, cut};
use crate::wrap::wrapped;

/// How many reasons are shown.
const MOST: usize = 10;

/// How much of a reason is shown.
const ROOM: usize = 600;

/// Writes the reasons; nothing when every case could be judged.
pub(super) fn write(out: &mut dyn Write, run: &RunReport, style: Style, width: Option<usize>) -> io::Result<()> {
    if run.causes.is_empty() {
        return Ok(());
    }
    let counts: Vec<String> =
        run.causes.iter().take(MOST).map(|it| format!("{} ×", words::grouped(it.n_cases))).collect();
    let widest = counts.iter().map(|it| it.chars().count()).max().unwrap_or(0);
    writeln!(out, "{}", style.meant(Meaning::Name, "errors"))?;
    for (cause, count) in run.causes.iter().zip(counts) {
        let left = 2 + widest + 1;
        let width = width.map(|it| it.saturating_sub(left));
        let count = style.meant(Meaning::Unknown, &format!("{count:>widest$}"));
        let mut lines = cause_lines(cause).into_iter().flat_map(|it| wrapped(&it, width));
        writeln!(out, "  {count} {}", lines.next().unwrap_or_default())?;
        lines.try_for_each(|line| writeln!(out, "{}{line}", " ".repeat(left)))?;
    }
    let n_more = run.causes.iter().skip(MOST).map(|it| it.n_cases).sum::<u64>() + run.n_other_errors;
    if n_more > 0 {
        writeln!(out, "  and {} for other reasons: jurat show --verdict error", words::counted(n_more, "case"))?;
    }
    Ok(())
}

/// What a reason says, where it was met, and what to do about it.
fn cause_lines(cause: &Cause) -> Vec<String> {
    let mut lines = vec![words::cause(cause, ROOM)];
    let place = cause_place(cause);
    lines.extend(match &cause.remedy {
        Some(remedy) => Some(format!("{place}{}", cut(remedy, ROOM))),
        None => Some(place.trim_end_matches("; ").to_owned()).filter(|it| !it.is_empty()),
    });
    lines
}

/// `` `tone` of a, b and 3 more; ``
fn cause_place(cause: &Cause) -> String {
    if cause.cases.is_empty() {
        return String::new();
    }
    let tasks: Vec<String> = cause.tasks.iter().map(|it| format!("`{}`", cut(it, 60))).collect();
    let tasks = if tasks.is_empty() { String::new() } else { format!("{} of ", tasks.join(", ")) };
    let cases: Vec<String> = cause.cases.iter().map(|it| cut(it, 60)).collect();
    let n_more = cause.n_cases.saturating_sub(cases.len() as u64);
    let more = if n_more > 0 { format!(" and {} more", words::grouped(n_more)) } else { String::new() };
    format!("in {tasks}{}{more}; ", cases.join(", "))
}
