//! The cases that ended otherwise, with what was answered before and now.

use std::io::{self, Write};

use jurat_core::contrast::{Change, ChangeSide, Contrast, Direction};

use super::ComparisonOptions;
use super::difference;
use super::numbers::p_phrase;
use crate::Style;
use crate::style::Meaning;
use crate::table::{Cell, Column, Table, shortened};
use crate::visible::visible_line;
use crate::words::{counted, grouped};

/// How many lines of a difference are shown, and how much of each.
const DIFF_LINES: usize = 6;
const ROOM: usize = 160;

/// Writes the cases that ended otherwise in one direction.
pub(super) fn write(
    out: &mut dyn Write,
    contrast: &Contrast,
    direction: Direction,
    options: ComparisonOptions,
    run: &str,
    (style, window): (Style, Option<usize>),
) -> io::Result<()> {
    let own: Vec<&Change> = contrast.changes.iter().filter(|it| it.direction() == direction).collect();
    let Some(first) = own.first() else { return Ok(()) };
    let title = match direction {
        Direction::Regression => "worse in NEW",
        Direction::Fix => "better in NEW",
    };
    let n = contrast.n_changes.of(direction);
    writeln!(out, "\n{} ({})", style.meant(Meaning::Name, title), grouped(n))?;
    let mut table = Table::new(vec![
        Column::text("case"),
        Column::text("variant"),
        Column::word("mark"),
        Column::text("tasks"),
        Column::word("verdict"),
        Column::message("why"),
    ]);
    for change in own.iter().take(options.most_cases) {
        table.push([
            Cell::text(&change.id),
            Cell::text(&variant(change)),
            Cell::from(marks(change)),
            Cell::text(&change.tasks.join(", ")),
            Cell::from(format!("{} → {}", verdict(&change.base), verdict(&change.new))),
            Cell::message(if direction == Direction::Regression {
                change.new.message()
            } else {
                change.base.message()
            }),
        ]);
    }
    table.write(out, style, window)?;
    let rest = n - own.len().min(options.most_cases) as u64;
    if rest > 0 {
        writeln!(out, "… and {}; `--all` lists them", counted(rest, "more case"))?;
    }
    for change in own.iter().take(options.most_cases) {
        write_difference(out, change, style)?;
    }
    // The task of a scenario has the scenario before its name, which the case says already.
    let task = first.tasks.first().and_then(|it| it.rsplit('.').next());
    let task = task.map_or_else(String::new, |it| format!(" {it}"));
    writeln!(out, "explain one: `jurat explain {}{task} --run {run}`", visible_line(&quoted(&first.id)))
}

/// An argument of a command, as a shell takes it.
fn quoted(text: &str) -> String {
    let is_plain = |it: char| it.is_alphanumeric() || matches!(it, '-' | '_' | '.' | ':' | '/');
    if text.chars().all(is_plain) { text.to_owned() } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

/// The prompt and the subject of a changed case.
pub fn variant(change: &Change) -> String {
    let parts: Vec<&str> = [&change.prompt, &change.subject].into_iter().flatten().map(String::as_str).collect();
    parts.join(" ")
}

/// What distinguishes a change.
pub fn marks(change: &Change) -> String {
    let mut marks = Vec::new();
    for (is_meant, word) in [
        (change.is_critical, "critical"),
        (change.is_likely, "likely"),
        (change.is_flaky_in_base, "flaky in BASE"),
        (change.same_answer == Some(true), "same answer"),
    ] {
        if is_meant {
            marks.push(word.to_owned());
        }
    }
    marks.extend(change.p.map(p_phrase));
    marks.join(", ")
}

/// `passed`, or `2/3` for repeated units.
pub fn verdict(side: &ChangeSide) -> String {
    if side.judged > 1 { format!("{}/{}", side.passed, side.judged) } else { side.word.to_owned() }
}

/// What was answered before and now, where that is known and differs.
fn write_difference(out: &mut dyn Write, change: &Change, style: Style) -> io::Result<()> {
    let Some((was, now)) = change.base.response().zip(change.new.response()) else { return Ok(()) };
    let (lines, hidden) = difference::lines(was, now, DIFF_LINES);
    if lines.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n  {}", visible_line(&change.id))?;
    for line in lines {
        let meaning = if line.sign == '-' { Meaning::Bad } else { Meaning::Good };
        let text = format!("{} {}", line.sign, shortened(&visible_line(&line.text), ROOM));
        writeln!(out, "  {}", style.meant(meaning, &text))?;
    }
    if hidden > 0 {
        writeln!(out, "  … and {}", counted(hidden as u64, "more line"))?;
    }
    Ok(())
}
