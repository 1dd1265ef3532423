//! Cells that stand under each other.
//!
//! A column that is empty in every row is left out. When the
//! width of the window is known, long columns are cut, the longest first, until the table fits. When that is not enough, columns that a
//! reader can spare are left out, and a line under the table names them: a table whose lines are broken cannot be read at all.

use std::borrow::Cow;
use std::io::{self, Write};

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::Style;
use crate::style::Meaning;
use crate::wrap::one_line;

/// Rows under a header.
pub(crate) struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
}

/// A column of a table.
pub(crate) struct Column {
    name: Cow<'static, str>,
    is_right: bool,
    /// How far it may be cut so that the table fits.
    least: Option<usize>,
    /// Whether a reader can spare it in a narrow window.
    is_spare: bool,
}

impl Column {
    /// Words, which may be cut.
    pub(crate) fn text(name: impl Into<Cow<'static, str>>) -> Column {
        Column { name: name.into(), is_right: false, least: Some(LEAST), is_spare: false }
    }

    /// What there is to say beyond numbers, which is of no use when little of it is left.
    pub(crate) fn message(name: impl Into<Cow<'static, str>>) -> Column {
        Column { least: Some(LEAST_OF_MESSAGES), ..Column::text(name) }
    }

    /// A word of ours, which is never cut.
    pub(crate) fn word(name: impl Into<Cow<'static, str>>) -> Column {
        Column { least: None, ..Column::text(name) }
    }

    pub(crate) fn number(name: impl Into<Cow<'static, str>>) -> Column {
        Column { is_right: true, ..Column::word(name) }
    }

    /// The same, left out where the window is too narrow.
    pub(crate) fn spare(self) -> Column {
        Column { is_spare: true, ..self }
    }
}

/// A place in a table.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Cell {
    text: String,
    meaning: Option<Meaning>,
}

/// How much of a text is shown before it is cut; a message says what to do, so it gets more.
pub(crate) const ROOM: usize = 60;
pub(crate) const ROOM_FOR_MESSAGES: usize = 400;

impl Cell {
    /// Other people's text, on one line.
    pub(crate) fn text(text: &str) -> Cell {
        Cell::cut(text, ROOM)
    }

    /// The same, where more of it matters.
    pub(crate) fn message(text: &str) -> Cell {
        Cell::cut(text, ROOM_FOR_MESSAGES)
    }

    fn cut(text: &str, room: usize) -> Cell {
        Cell::from(one_line(text, room + 1))
    }

    /// Marks it, when it means that.
    pub(crate) fn meaning(self, meaning: Meaning, is_meant: bool) -> Cell {
        Cell { meaning: is_meant.then_some(meaning), ..self }
    }
}

/// Our own words, which need no care.
impl From<String> for Cell {
    fn from(text: String) -> Cell {
        Cell { text, meaning: None }
    }
}

impl From<u64> for Cell {
    fn from(number: u64) -> Cell {
        Cell::from(number.to_string())
    }
}

/// The text in this number of columns, cut where it is longer.
pub(crate) fn shortened(text: &str, room: usize) -> String {
    if text.width() <= room {
        return text.to_owned();
    }
    let mut left = room.saturating_sub(1);
    let fits = |it: &char| {
        let width = it.width().unwrap_or(0);
        let fits = width <= left;
        left = if fits { left - width } else { 0 };
        fits
    };
    text.chars().take_while(fits).chain(['…']).collect()
}

/// Columns stand this far apart.
const GAP: usize = 2;

/// No column is cut to less than this.
const LEAST: usize = 8;
const LEAST_OF_MESSAGES: usize = 24;

impl Table {
    pub(crate) fn new(columns: Vec<Column>) -> Table {
        Table { columns, rows: Vec::new() }
    }

    /// Adds a row with a cell for each column.
    pub(crate) fn push(&mut self, row: impl IntoIterator<Item = Cell>) {
        let row: Vec<Cell> = row.into_iter().collect();
        debug_assert_eq!(row.len(), self.columns.len(), "a row has a cell for each column");
        self.rows.push(row);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// How many rows there are.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Writes the header and the rows, in a window of this width when there is one.
    pub(crate) fn write(&self, out: &mut dyn Write, style: Style, window: Option<usize>) -> io::Result<()> {
        let mut shown: Vec<usize> = (0..self.columns.len()).filter(|it| self.is_shown(*it)).collect();
        let spared = self.spare(&mut shown, window);
        let widths = self.widths(&shown, window);
        let header: Vec<Cell> = self
            .columns
            .iter()
            .map(|it| Cell::from(it.name.clone().into_owned()).meaning(Meaning::Name, true))
            .collect();
        for row in std::iter::once(&header).chain(&self.rows) {
            let mut line = String::new();
            for (column, width) in shown.iter().zip(&widths) {
                let cell = &row[*column];
                let text = shortened(&cell.text, *width);
                let padding = " ".repeat(width.saturating_sub(text.width()));
                let shown = cell.meaning.map_or_else(|| text.clone(), |it| style.meant(it, &text));
                let is_right = self.columns[*column].is_right;
                line += &if is_right { format!("{padding}{shown}") } else { format!("{shown}{padding}") };
                line += &" ".repeat(GAP);
            }
            writeln!(out, "{}", line.trim_end())?;
        }
        if spared.is_empty() {
            return Ok(());
        }
        writeln!(out, "hidden columns (the window is too narrow): {}", spared.join(", "))
    }

    fn is_shown(&self, column: usize) -> bool {
        self.rows.is_empty() || self.rows.iter().any(|it| !it[column].text.is_empty())
    }

    /// Takes away what can be spared, from the left, until the rest can be cut to the window; names what it took.
    fn spare(&self, shown: &mut Vec<usize>, window: Option<usize>) -> Vec<&str> {
        let mut spared = Vec::new();
        while let Some(window) = window {
            let least: usize = shown.iter().map(|it| self.least_width(*it)).sum();
            let spare = shown.iter().position(|it| self.columns[*it].is_spare);
            match spare.filter(|_| least + GAP * shown.len().saturating_sub(1) > window) {
                Some(at) => spared.push(&*self.columns[shown.remove(at)].name),
                None => break,
            }
        }
        spared
    }

    /// How wide each of these columns is.
    fn widths(&self, shown: &[usize], window: Option<usize>) -> Vec<usize> {
        let mut widths: Vec<usize> = shown.iter().map(|it| self.width(*it)).collect();
        let Some(window) = window else { return widths };
        let room = window.saturating_sub(GAP * widths.len().saturating_sub(1));
        while widths.iter().sum::<usize>() > room {
            let elastic = (0..widths.len()).filter(|ix| widths[*ix] > self.least_width(shown[*ix]));
            let Some(longest) = elastic.max_by_key(|ix| widths[*ix]) else { break };
            widths[longest] -= 1;
        }
        widths
    }

    /// How wide a column is when nothing of it is cut.
    fn width(&self, column: usize) -> usize {
        let cells = self.rows.iter().map(|it| it[column].text.width());
        cells.max().unwrap_or(0).max(self.columns[column].name.width())
    }

    fn least_width(&self, column: usize) -> usize {
        let Column { least, name, .. } = &self.columns[column];
        let width = self.width(column);
        least.map_or(width, |it| it.max(name.width()).min(width))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn rendered(table: &Table, window: Option<usize>, expected: &str) {
        let mut text = Vec::new();
        table.write(&mut text, Style::Plain, window).unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), expected);
    }

    fn table() -> Table {
        let mut table = Table::new(vec![
            Column::text("name"),
            Column::word("unused"),
            Column::number("n").spare(),
            Column::text("empty"),
            Column::text("message"),
        ]);
        for (name, n, message) in [("日本語の名前です", 5, "a message that goes on"), ("b", 12, "short")] {
            table.push([Cell::text(name), Cell::default(), Cell::from(n), Cell::default(), Cell::message(message)]);
        }
        table
    }

    #[test]
    fn columns_that_say_nothing_are_left_out() {
        rendered(
            &table(),
            None,
            "name               n  message\n日本語の名前です   5  a message that goes on\nb                 12  short\n",
        );
    }

    #[test]
    fn the_longest_column_gives_way_first() {
        rendered(
            &table(),
            Some(37),
            "name               n  message\n日本語の名前です   5  a message that…\nb                 12  short\n",
        );
        // Half of a wide character cannot be shown.
        rendered(&table(), Some(24), "name        n  message\n日本語の…   5  a messag…\nb          12  short\n");
    }

    #[test]
    fn what_can_be_spared_is_named() {
        let left_out = "hidden columns (the window is too narrow): n\n";
        let cut = format!("name        message\n日本語の…   a messag…\nb           short\n{left_out}");
        rendered(&table(), Some(21), &cut);
        let least = format!("name      message\n日本語…   a messa…\nb         short\n{left_out}");
        rendered(&table(), Some(1), &least);
    }
}
